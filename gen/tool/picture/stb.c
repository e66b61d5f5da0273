#include "stb.h"

#include "picture_check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined IPT_TOOL_NO_STB && defined __has_include
#if __has_include(<stb/stb_image.h>) && __has_include(<stb/stb_image_write.h>)
#define STB_FOUND 1
#endif
#endif

#ifdef STB_FOUND

/* The bytes that stb may still allocate for a picture: the limit stops data that inflates beyond its header's claim.
 * Allocated bytes are zero, so that no output has old content of the heap. */
static size_t stb_budget;

static void *stb_allocate(void *old, size_t size)
{
    if (size > stb_budget) {
        return NULL;
    }
    stb_budget -= size;
    return old == NULL ? calloc(1, size) : realloc(old, size);
}

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
#define STBI_MALLOC(size) stb_allocate(NULL, size)
#define STBI_REALLOC(old, size) stb_allocate(old, size)
#define STBI_FREE free
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

enum { JPEG_QUALITY = 95 };

/* stb reads a PNG palette's missing colours from uninitialised memory. Returns a copy whose palette has a colour for
 * every index: the first of (0..255, 0, 0) that is not in the palette. NULL: out of memory.
 */
static unsigned char *stb_fill_palette(const unsigned char *bytes, size_t *size, const picture_claim *claim,
                                       unsigned char *added)
{
    enum { CHUNK_HEAD = 8 };
    const size_t begin = claim->palette + CHUNK_HEAD, end = begin + 3 * claim->entries;
    const size_t more = 3 * (claim->colours - claim->entries);
    bool taken[256] = {false};
    unsigned char *const filled = malloc(*size + more);
    for (size_t i = begin; i < end; i += 3) {
        taken[bytes[i]] = taken[bytes[i]] || (bytes[i + 1] == 0 && bytes[i + 2] == 0);
    }
    for (*added = 0; taken[*added];) { /* at most 255 entries */
        ++*added;
    }
    if (filled != NULL) {
        memcpy(filled, bytes, end);
        memset(filled + end, 0, more);
        for (size_t i = 0; i < more; i += 3) {
            filled[end + i] = *added;
        }
        filled[claim->palette + 2] = (unsigned char)(3 * claim->colours >> 8);
        filled[claim->palette + 3] = (unsigned char)(3 * claim->colours);
        memcpy(filled + end + more, bytes + end, *size - end);
        *size += more;
    }
    return filled;
}

/* Whether no pixel has the colour that was added to the palette. */
static bool stb_lacks_colour(const picture *decoded, unsigned char added)
{
    const size_t size = decoded->width * decoded->height * decoded->channels;
    for (size_t i = 0; i < size; i += decoded->channels) {
        const unsigned char *const pixel = decoded->samples + i;
        if (pixel[0] == added && pixel[1] == 0 && pixel[2] == 0) {
            return false;
        }
    }
    return true;
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

/* Decodes the bytes of a checked file. */
static bool stb_load(picture_format format, const unsigned char *bytes, size_t size, const picture_claim *claim,
                     picture *decoded, char *message)
{
    int width = 0, height = 0, channels = 0;
    stb_budget = (size_t)claim->memory;
    decoded->sample_bytes = claim->sample_bytes;
    decoded->maxval = decoded->sample_bytes == 2 ? 65535 : 255;
    decoded->samples = decoded->sample_bytes == 2
                           ? (unsigned char *)stbi_load_16_from_memory(bytes, (int)size, &width, &height, &channels, 0)
                           : stbi_load_from_memory(bytes, (int)size, &width, &height, &channels, 0);
    if (decoded->samples == NULL) {
        return picture_refuse(message, "could not be decoded as %s: %s", picture_format_name(format),
                              stbi_failure_reason());
    }
    decoded->width = (size_t)width;
    decoded->height = (size_t)height;
    decoded->channels = (size_t)channels;
    if (decoded->sample_bytes == 2) {
        stb_order_samples(decoded);
    }
    return true;
}

bool stb_decode(picture_format format, const unsigned char *bytes, size_t size, size_t limit, picture *decoded,
                char *message)
{
    picture_claim claim;
    if (!picture_check(format, bytes, size, &claim, message)) {
        return false;
    }
    if (claim.memory > (double)limit) {
        return picture_refuse(message,
                              "decoding %zux%zu pixels takes up to %.0f bytes beside the file, and --memory leaves %zu",
                              claim.width, claim.height, claim.memory, limit);
    }
    if (claim.entries >= claim.colours) {
        return stb_load(format, bytes, size, &claim, decoded, message);
    }
    unsigned char added;
    unsigned char *const filled = stb_fill_palette(bytes, &size, &claim, &added);
    bool good = filled != NULL || picture_refuse(message, "out of memory for %zu bytes", size);
    good = good && stb_load(format, filled, size, &claim, decoded, message);
    free(filled);
    return good && (stb_lacks_colour(decoded, added) ||
                    picture_refuse(message, "damaged: a pixel has a colour that its palette of %zu entries lacks",
                                   claim.entries));
}

/* Writes to a stream, which records errors. */
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
    return done != 0 || picture_refuse(message, "could not be encoded as %s", picture_format_name(format));
}

#else /* without stb */

static bool stb_fail_without(picture_format format, char *message)
{
    return picture_refuse(
        message,
        "%s needs stb, and this ipt was built without it: install libstb-dev and run 'make all', or use "
        ".pgm, .ppm or .pam",
        picture_format_name(format));
}

bool stb_decode(picture_format format, const unsigned char *bytes, size_t size, size_t limit, picture *decoded,
                char *message)
{
    (void)bytes;
    (void)size;
    (void)limit;
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
