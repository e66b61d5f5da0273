/* The header of NumPy's .npy files, versions 1.0, 2.0 and 3.0. The promise: a header is either understood completely -
 * item size, order, shape and where the shape's last two numbers stand - or refused with a sentence; no byte beyond the
 * given ones is read and no size overflows silently, whatever the bytes are. Reads and writes no file. */
#ifndef IPT_TOOL_NPY_H_INCLUDED
#define IPT_TOOL_NPY_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum {
    NPY_START_SIZE = 12,     /* bytes that hold magic, version and header length in every version */
    NPY_MAX_TEXT = 1 << 24,  /* bytes of a header that is read */
    NPY_MAX_DIMENSIONS = 64, /* as NumPy itself */
    NPY_MESSAGE_SIZE = 200,  /* the longest sentence */
    NPY_MAGIC_SIZE = 6
};

#define NPY_MAGIC "\x93NUMPY"
#define NPY_MARK "\x93IPT->" /* in its place while the data is being moved, so that nobody reads it meanwhile */

/* A part of the header's text. */
typedef struct npy_span {
    size_t begin, length;
} npy_span;

typedef struct npy_header {
    size_t item_size;
    char kind, order; /* of the type, as NumPy's letters; a structured one's kind is '[' */
    bool fortran_order;
    size_t dimension_count;
    size_t shape[NPY_MAX_DIMENSIONS];
    npy_span digits[NPY_MAX_DIMENSIONS]; /* where the text has each number of the shape */
} npy_header;

/* Whether the first bytes of a file are the mark. */
bool npy_is_marked(const void *start, size_t available);

/* All functions below that return false put a sentence into message, NPY_MESSAGE_SIZE bytes. */

/* Finds the header's text from the first bytes of a file: NPY_START_SIZE of them, or all if there are fewer. */
bool npy_find_text(const unsigned char *start, size_t available, npy_span *text, char *message);

/* Understands the header's text. */
bool npy_parse(const char *text, size_t length, npy_header *header, char *message);

/* The type of x for an expression: the header's, or `wanted` (NULL: not given) where that does not contradict it. */
bool npy_expression_type(const npy_header *header, const char *wanted, const char **type, char *message);

/* The bytes of data that follow the header. */
bool npy_data_size(const npy_header *header, size_t *size, char *message);

/* Exchanges the last two numbers of the shape within the text, whose length stays. */
void npy_swap_last_two(char *text, const npy_header *header);

#endif /* IPT_TOOL_NPY_H_INCLUDED */
