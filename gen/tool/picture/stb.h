/* Encoded pictures (PNG, JPEG, BMP, TGA) through stb_image and stb_image_write. A build without these headers refuses
 * such pictures with a sentence. */
#ifndef IPT_TOOL_STB_H_INCLUDED
#define IPT_TOOL_STB_H_INCLUDED

#include "picture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The functions return false with a sentence in message, PICTURE_MESSAGE_SIZE bytes. */

/* Checks and decodes a picture of that format from the bytes of its file, with at most `limit` additional bytes. The
 * caller frees decoded->samples, also after a failure. */
bool stb_decode(picture_format format, const unsigned char *bytes, size_t size, size_t limit, picture *decoded,
                char *message);

/* Writes a picture that picture_fits in that format to a stream. */
bool stb_encode(picture_format format, const picture *wanted, FILE *stream, char *message);

#endif /* IPT_TOOL_STB_H_INCLUDED */
