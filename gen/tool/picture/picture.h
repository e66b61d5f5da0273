/* A picture in memory: read from a file of any supported format, moved on the device, written to another file. */
#ifndef IPT_TOOL_PICTURE_H_INCLUDED
#define IPT_TOOL_PICTURE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum { PICTURE_MESSAGE_SIZE = 200 };

/* The formats. X(enumerator, name for messages, file extensions, whether stb encodes it) */
#define PICTURE_FORMAT_LIST(X)                                                                                         \
    X(PICTURE_NONE, "unknown", "", 0)                                                                                  \
    X(PICTURE_PGM, "PGM", ".pgm", 0)                                                                                   \
    X(PICTURE_PPM, "PPM", ".ppm", 0)                                                                                   \
    X(PICTURE_PAM, "PAM", ".pam", 0)                                                                                   \
    X(PICTURE_PNG, "PNG", ".png", 1)                                                                                   \
    X(PICTURE_JPEG, "JPEG", ".jpg.jpeg", 1)                                                                            \
    X(PICTURE_BMP, "BMP", ".bmp", 1)                                                                                   \
    X(PICTURE_TGA, "TGA", ".tga", 1)

#define PICTURE_ENUMERATOR(name, text, extensions, encoded) name,
typedef enum picture_format { PICTURE_FORMAT_LIST(PICTURE_ENUMERATOR) PICTURE_FORMAT_COUNT } picture_format;
#undef PICTURE_ENUMERATOR

typedef struct picture {
    size_t width, height;   /* in pixels */
    size_t channels;        /* samples of a pixel, stored together */
    size_t sample_bytes;    /* 1, or 2 in big-endian order */
    size_t maxval;          /* of a sample */
    bool has_other_type;    /* channels that are neither grey nor RGB, such as CMYK */
    unsigned char *samples; /* width * height * channels * sample_bytes bytes; freed with free */
} picture;

/* The name for messages. Never NULL. */
const char *picture_format_name(picture_format format);

/* The format by a path's extension, in any case. PICTURE_NONE: another extension, or none. */
picture_format picture_format_of_name(const char *path);

/* The encoded format by a file's first bytes. TGA has no magic bytes: its extension decides. PICTURE_NONE: another
 * file. */
picture_format picture_format_of_start(const void *start, size_t available, const char *path);

/* Whether a file of this format can store every sample of the picture unchanged, except for JPEG's losses. false:
 * message (PICTURE_MESSAGE_SIZE bytes) has a sentence. */
bool picture_fits(const picture *wanted, picture_format format, char *message);

/* Writes a sentence into message, PICTURE_MESSAGE_SIZE bytes. Returns false. */
bool picture_refuse(char *message, const char *format, ...);

#endif /* IPT_TOOL_PICTURE_H_INCLUDED */
