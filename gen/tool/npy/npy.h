/* The header of NumPy's .npy files, versions 1.0, 2.0 and 3.0. The parser returns item size, order, shape and the
 * position of the shape's numbers, or refuses the header with a sentence. It never reads other bytes, and detects every
 * overflow of a size. It accesses no file. */
#ifndef IPT_TOOL_NPY_H_INCLUDED
#define IPT_TOOL_NPY_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum {
    NPY_START_SIZE = 12,     /* bytes of magic, version and header length in every version */
    NPY_MAX_TEXT = 1 << 24,  /* limit of a header, in bytes */
    NPY_MAX_DIMENSIONS = 64, /* NumPy's own limit */
    NPY_MAX_DIGITS = 20,     /* of a size_t */
    NPY_MESSAGE_SIZE = 200,  /* of the longest sentence */
    NPY_MAGIC_SIZE = 6
};

#define NPY_MAGIC "\x93NUMPY"
#define NPY_MARK "\x93IPT->" /* replaces the magic during the work, so that no tool reads the file */

/* A part of the header's text. */
typedef struct npy_span {
    size_t begin, length;
} npy_span;

typedef struct npy_header {
    size_t item_size;
    char kind, order; /* of the type, in NumPy's letters; kind '[': structured */
    bool fortran_order;
    size_t dimension_count;
    size_t shape[NPY_MAX_DIMENSIONS];
    npy_span digits[NPY_MAX_DIMENSIONS]; /* the text of each number of the shape */
    npy_span order_text;                 /* True or False */
} npy_header;

/* Whether a file begins with the mark. */
bool npy_is_marked(const void *start, size_t available);

/* The functions below that return false put a sentence into message, of NPY_MESSAGE_SIZE bytes. */

/* Locates the header's text. start: the first NPY_START_SIZE bytes of a file, or all of a shorter file. */
bool npy_find_text(const unsigned char *start, size_t available, npy_span *text, char *message);

/* Parses the header's text. */
bool npy_parse(const char *text, size_t length, npy_header *header, char *message);

/* The type of x in an expression: the header's, or `wanted` (NULL: none) if the header allows it. */
bool npy_expression_type(const npy_header *header, const char *wanted, const char **type, char *message);

/* The size of the data after the header. */
bool npy_data_size(const npy_header *header, size_t *size, char *message);

/* Exchanges two parts of a text, of at most NPY_MAX_DIGITS bytes each. `first` ends before `second` begins. The text's
 * length stays the same. */
void npy_exchange(char *text, npy_span first, npy_span second);

/* Exchanges the numbers of the shape's dimensions `first` and `first` + 1 in the text, whose length stays the same. */
void npy_swap_dimensions(char *text, const npy_header *header, size_t first);

/* Writes the shape's numbers in another sequence: number i becomes that of dimension axes[i]. The text's length stays
 * the same. */
void npy_permute_dimensions(char *text, const npy_header *header, const unsigned *axes);

/* Writes the other order into the text, whose length stays. false: the text has no space for the longer word. */
bool npy_change_order(char *text, size_t length, const npy_header *header);

#endif /* IPT_TOOL_NPY_H_INCLUDED */
