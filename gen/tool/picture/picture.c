#include "picture.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SHORT_SIDE = 65535 }; /* of JPEG and TGA, which store sides in 16 bits */

#define MAX_ENCODED_BYTES ((size_t)1 << 29) /* stb_image_write computes sizes in int */

bool picture_refuse(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, PICTURE_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

const char *picture_format_name(picture_format format)
{
    static const char *const names[] = {
#define PICTURE_NAME(enumerator, name, extensions, encoded) name,
        PICTURE_FORMAT_LIST(PICTURE_NAME)
#undef PICTURE_NAME
    };
    return names[format];
}

/* Whether a list such as ".jpg.jpeg" has the extension. */
static bool picture_lists(const char *extensions, const char *extension)
{
    size_t length = strlen(extension);
    while ((extensions = strstr(extensions, extension)) != NULL) {
        if (extensions[length] == '\0' || extensions[length] == '.') {
            return true;
        }
        extensions += length;
    }
    return false;
}

picture_format picture_format_of_name(const char *path)
{
    static const char *const extensions[] = {
#define PICTURE_EXTENSIONS(enumerator, name, extensions, encoded) extensions,
        PICTURE_FORMAT_LIST(PICTURE_EXTENSIONS)
#undef PICTURE_EXTENSIONS
    };
    char extension[8] = "";
    const char *dot = strrchr(path, '.');
    if (dot == NULL || strchr(dot, '/') != NULL || dot[1] == '\0' || strlen(dot) >= sizeof extension) {
        return PICTURE_NONE;
    }
    for (size_t i = 0; dot[i] != '\0'; i++) {
        extension[i] = (char)tolower((unsigned char)dot[i]);
    }
    for (size_t i = 1; i < PICTURE_FORMAT_COUNT; i++) {
        if (picture_lists(extensions[i], extension)) {
            return (picture_format)i;
        }
    }
    return PICTURE_NONE;
}

picture_format picture_format_of_start(const void *start, size_t available, const char *path)
{
    static const struct {
        picture_format format;
        size_t length;
        const char *magic;
    } magics[] = {{PICTURE_PNG, 8, "\x89PNG\r\n\x1a\n"}, {PICTURE_JPEG, 3, "\xff\xd8\xff"}, {PICTURE_BMP, 2, "BM"}};
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        if (available >= magics[i].length && memcmp(start, magics[i].magic, magics[i].length) == 0) {
            return magics[i].format;
        }
    }
    bool is_tga = picture_format_of_name(path) == PICTURE_TGA && (available < 6 || memcmp(start, "\x93NUMPY", 6) != 0);
    return is_tga ? PICTURE_TGA : PICTURE_NONE;
}

bool picture_fits(const picture *wanted, picture_format format, char *message)
{
    const char *name = picture_format_name(format);
    size_t channels = wanted->channels;
    if (format == PICTURE_PAM) {
        return true;
    }
    if (wanted->has_other_type) {
        return picture_refuse(message, "channels are neither grey nor RGB by TUPLTYPE, and those of %s are: use .pam",
                              name);
    }
    if (format == PICTURE_PGM || format == PICTURE_PPM) {
        size_t most = format == PICTURE_PGM ? 1 : 3;
        return channels == most || picture_refuse(message, "pixels have %zu channels, and those of %s have %zu: use %s",
                                                  channels, name, most,
                                                  channels == 1   ? ".pgm"
                                                  : channels == 3 ? ".ppm"
                                                                  : ".pam");
    }
    if (wanted->sample_bytes > 1) {
        return picture_refuse(message, "samples have 16 bits, and %s is written with 8: use .pgm, .ppm or .pam", name);
    }
    if (wanted->maxval != 255) {
        return picture_refuse(message, "maxval = %zu: %s needs 255: use .pgm, .ppm or .pam", wanted->maxval, name);
    }
    if (channels > 4) {
        return picture_refuse(message, "pixels have %zu channels, and those of %s have at most 4: use .pam", channels,
                              name);
    }
    if ((format == PICTURE_JPEG && channels % 2 == 0) || (format == PICTURE_BMP && channels == 2)) {
        return picture_refuse(message, "%s would lose the alpha channel: use .png, .tga or .pam", name);
    }
    if ((format == PICTURE_JPEG || format == PICTURE_TGA) &&
        (wanted->width > MAX_SHORT_SIDE || wanted->height > MAX_SHORT_SIDE)) {
        return picture_refuse(message, "%zux%zu pixels are too many for %s: sides are at most %d: use .png or .pam",
                              wanted->width, wanted->height, name, MAX_SHORT_SIDE);
    }
    size_t row = wanted->width < MAX_ENCODED_BYTES ? wanted->width * (channels < 3 ? 3 : channels) + 4 : SIZE_MAX;
    return row <= MAX_ENCODED_BYTES / wanted->height ||
           picture_refuse(message, "%zux%zu pixels are too many for %s, which is written up to %zu bytes: use .pam",
                          wanted->width, wanted->height, name, MAX_ENCODED_BYTES);
}
