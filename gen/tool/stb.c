#include "stb.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined IPT_TOOL_NO_STB && defined __has_include
#if __has_include(<stb/stb_image.h>) && __has_include(<stb/stb_image_write.h>)
#define STB_FOUND 1
#endif
#endif

static bool stb_fail(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, PICTURE_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

#ifdef STB_FOUND

/* Only stb's own code is compiled without warnings. gcc reports unused functions at the end of the file. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_NO_STDIO
#define STBI_FAILURE_USERMSG
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

enum { JPEG_QUALITY = 95 };

/* The bytes of a file as stb reads them. stb takes missing bytes as zeros: `ended` records that bytes were missing. */
typedef struct stb_source {
    const unsigned char *bytes;
    size_t size, position;
    bool ended;
} stb_source;

static int stb_read(void *user, char *data, int size)
{
    stb_source *source = user;
    size_t rest = source->size - source->position, count = (size_t)size < rest ? (size_t)size : rest;
    source->ended |= count == 0;
    memcpy(data, source->bytes + source->position, count);
    source->position += count;
    return (int)count;
}

/* stb never skips backwards. */
static void stb_skip(void *user, int count)
{
    stb_source *source = user;
    size_t rest = source->size - source->position;
    source->ended |= (size_t)count > rest;
    source->position += (size_t)count < rest ? (size_t)count : rest;
}

static int stb_is_at_end(void *user)
{
    const stb_source *source = user;
    return source->position == source->size;
}

static uint32_t stb_big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* PNG's checksum, the CRC-32 of ISO 3309. */
static uint32_t stb_png_sum(const unsigned char *bytes, size_t count)
{
    uint32_t table[256], sum = 0xffffffffu;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) {
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 0xff];
    }
    return ~sum;
}

/* Checks the chunks of a PNG, whose checksums stb ignores. Refuses animations, of which stb reads one picture. */
static bool stb_check_png(const unsigned char *bytes, size_t size, char *message)
{
    enum { SIGNATURE = 8, LENGTH = 4, TYPE = 4, SUM = 4 };
    for (size_t at = SIGNATURE; size - at >= LENGTH + TYPE + SUM;) {
        size_t length = stb_big_endian(bytes + at);
        const unsigned char *type = bytes + at + LENGTH;
        if (length > size - at - (LENGTH + TYPE + SUM)) {
            break;
        }
        if (stb_big_endian(type + TYPE + length) != stb_png_sum(type, TYPE + length)) {
            return stb_fail(message, "damaged: the checksum of its PNG chunk at byte %zu is wrong", at);
        }
        if (memcmp(type, "acTL", TYPE) == 0) {
            return stb_fail(message, "an animation of several pictures: only single pictures are supported");
        }
        if (memcmp(type, "IEND", TYPE) == 0) {
            return true;
        }
        at += LENGTH + TYPE + length + SUM;
    }
    return stb_fail(message, "truncated: it ends before its last PNG chunk");
}

/* Stores samples of 16 bits in big-endian order. */
static void stb_order_samples(picture *decoded)
{
    size_t count = decoded->width * decoded->height * decoded->channels;
    for (size_t i = 0; i < count; i++) {
        uint16_t sample;
        memcpy(&sample, decoded->samples + 2 * i, 2);
        decoded->samples[2 * i] = (unsigned char)(sample >> 8);
        decoded->samples[2 * i + 1] = (unsigned char)sample;
    }
}

bool stb_decode(picture_format format, const unsigned char *bytes, size_t size, picture *decoded, char *message)
{
    const stbi_io_callbacks calls = {stb_read, stb_skip, stb_is_at_end};
    stb_source probed = {bytes, size, 0, false}, source = probed;
    int width = 0, height = 0, channels = 0;
    if (format == PICTURE_PNG && !stb_check_png(bytes, size, message)) {
        return false;
    }
    decoded->sample_bytes = format == PICTURE_PNG && stbi_is_16_bit_from_callbacks(&calls, &probed) ? 2 : 1;
    decoded->maxval = decoded->sample_bytes == 2 ? 65535 : 255;
    decoded->samples =
        decoded->sample_bytes == 2
            ? (unsigned char *)stbi_load_16_from_callbacks(&calls, &source, &width, &height, &channels, 0)
            : stbi_load_from_callbacks(&calls, &source, &width, &height, &channels, 0);
    if (source.ended) {
        return stb_fail(message, "truncated: its %s data ends too early", picture_format_name(format));
    }
    if (decoded->samples == NULL) {
        return stb_fail(message, "could not be decoded as %s: %s", picture_format_name(format), stbi_failure_reason());
    }
    decoded->width = (size_t)width;
    decoded->height = (size_t)height;
    decoded->channels = (size_t)channels;
    if (decoded->sample_bytes == 2) {
        stb_order_samples(decoded);
    }
    return true;
}

/* Errors stay in the stream. */
static void stb_write(void *user, void *data, int size)
{
    fwrite(data, 1, (size_t)size, user);
}

bool stb_encode(picture_format format, const picture *wanted, FILE *stream, char *message)
{
    int width = (int)wanted->width, height = (int)wanted->height, channels = (int)wanted->channels, done = 0;
    const unsigned char *samples = wanted->samples;
    switch (format) {
    case PICTURE_PNG:
        done = stbi_write_png_to_func(stb_write, stream, width, height, channels, samples, width * channels);
        break;
    case PICTURE_JPEG:
        done = stbi_write_jpg_to_func(stb_write, stream, width, height, channels, samples, JPEG_QUALITY);
        break;
    case PICTURE_BMP:
        done = stbi_write_bmp_to_func(stb_write, stream, width, height, channels, samples);
        break;
    case PICTURE_TGA:
        done = stbi_write_tga_to_func(stb_write, stream, width, height, channels, samples);
        break;
    default:
        break;
    }
    return done != 0 || stb_fail(message, "could not be encoded as %s", picture_format_name(format));
}

#else /* without stb */

static bool stb_fail_without(picture_format format, char *message)
{
    return stb_fail(message,
                    "%s needs stb, and this ipt was built without it: install libstb-dev and run 'make all', or use "
                    ".pgm, .ppm or .pam",
                    picture_format_name(format));
}

bool stb_decode(picture_format format, const unsigned char *bytes, size_t size, picture *decoded, char *message)
{
    (void)bytes;
    (void)size;
    (void)decoded;
    return stb_fail_without(format, message);
}

bool stb_encode(picture_format format, const picture *wanted, FILE *stream, char *message)
{
    (void)wanted;
    (void)stream;
    return stb_fail_without(format, message);
}

#endif
