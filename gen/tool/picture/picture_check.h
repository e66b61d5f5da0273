/* Checks of encoded pictures before a decoder sees their bytes. The checks read the headers, follow the structure to
 * the end of the pixels, and allocate nothing. They refuse files with missing bytes, and files that stb_image decodes
 * wrongly or reads out of bounds. They never read other bytes than the file's. */
#ifndef IPT_TOOL_PICTURE_CHECK_H_INCLUDED
#define IPT_TOOL_PICTURE_CHECK_H_INCLUDED

#include "picture.h"

#include <stdbool.h>
#include <stddef.h>

enum { PICTURE_MOST_SIDE = 1 << 24 }; /* in pixels: stb_image's limit */

/* The sizes that the headers claim. */
typedef struct picture_claim {
    size_t width, height, channels, sample_bytes; /* channels = 0: the decoder decides between 3 and 4 */
    double memory;                                /* the most bytes that decoding allocates, the pixels included */
    size_t palette, entries;                      /* of a PNG: its PLTE chunk's position and entries; 0: none */
    size_t colours; /* of a PNG with a palette: the indices that its depth can express; 0: others */
} picture_claim;

/* Checks a file of that format. false: message (PICTURE_MESSAGE_SIZE bytes) has a sentence. */
bool picture_check(picture_format format, const unsigned char *bytes, size_t size, picture_claim *claim, char *message);

/* The part for JPEG, in jpeg_check.c. */
bool jpeg_check(const unsigned char *bytes, size_t size, picture_claim *claim, char *message);

/* PNG's checksum, the CRC-32 of ISO 3309. */
unsigned long picture_png_sum(const unsigned char *bytes, size_t count);

#endif /* IPT_TOOL_PICTURE_CHECK_H_INCLUDED */
