/* The headers of Netpbm's pictures: PGM (P5), PPM (P6) and PAM (P7). The parser returns the sides, channels, maxval and
 * the position of the sides' digits, or refuses the header with a sentence. It never reads other bytes, and detects
 * every overflow of a size. It accesses no file. */
#ifndef IPT_TOOL_NETPBM_H_INCLUDED
#define IPT_TOOL_NETPBM_H_INCLUDED

#include "gen/tool/npy/npy.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    NETPBM_MAX_HEADER = 1 << 16, /* limit of a header with its comments, in bytes */
    NETPBM_MAX_MAXVAL = 65535,
    NETPBM_MAX_DIGITS = 20, /* digits of a number, including leading zeros */
    NETPBM_TEXT_SIZE = 200  /* of the longest header that netpbm_print writes */
};

typedef struct netpbm_header {
    char type;            /* '5': PGM, '6': PPM, '7': PAM */
    size_t width, height; /* in pixels */
    size_t channels;      /* samples of a pixel, stored together */
    size_t maxval;        /* of a sample: 1 to NETPBM_MAX_MAXVAL */
    size_t sample_bytes;  /* 1, or 2 (big-endian) from maxval = 256 up */
    bool has_other_type;  /* a PAM's TUPLTYPE names other channels than grey or RGB, perhaps with alpha: CMYK, say */
    npy_span sides[2];    /* the digits of the width and of the height in the header */
    size_t data_offset;   /* bytes of the header */
} netpbm_header;

/* Whether a file begins as one of Netpbm's pictures, P1 to P7. start: the first bytes of the file. */
bool netpbm_begins(const void *start, size_t available);

/* Parses a header. text: the first NETPBM_MAX_HEADER bytes of a file, or all of a shorter file. false: message
 * (NPY_MESSAGE_SIZE bytes) has a sentence. */
bool netpbm_parse(const char *text, size_t length, netpbm_header *header, char *message);

/* The size of the pixels in bytes. false: it overflows, and message has a sentence. */
bool netpbm_data_size(const netpbm_header *header, size_t *size, char *message);

/* Exchanges width and height in the header's text. The text's length stays the same. */
void netpbm_swap_sides(char *text, const netpbm_header *header);

/* Writes a header with this type, sides, channels and maxval into text (NETPBM_TEXT_SIZE). Returns its length. */
size_t netpbm_print(char *text, const netpbm_header *header);

#endif /* IPT_TOOL_NETPBM_H_INCLUDED */
