/* A matrix on the command line: ROWSxCOLS:BYTES or ROWSxCOLS:TYPE; or an array of more axes. */
#ifndef IPT_TOOL_SHAPE_H_INCLUDED
#define IPT_TOOL_SHAPE_H_INCLUDED

#include "axes.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct matrix_shape {
    size_t rows, cols, elem_size;
    const char *opencl_type; /* of an element, if its type is named; NULL: none */
    axes_move array;         /* rank 0: a matrix of rows and cols */
} matrix_shape;

/* Parses ROWSxCOLS:BYTES, or ROWSxCOLS:TYPE with NumPy's name of a type, such as float32. false: malformed, or a number
 * is 0. */
bool shape_read(const char *text, matrix_shape *shape);

/* Parses a shape of two lengths or more, up to IPT_MAX_RANK. The array's axes stay in their sequence. */
bool shape_read_array(const char *text, matrix_shape *shape);

/* Permutes the array's axes by a list. A matrix has two axes. On failure puts a sentence into message, of
 * AXES_MESSAGE_SIZE bytes. */
bool shape_permute(matrix_shape *shape, const axes_list *list, char *message);

/* The bytes of `count` matrices of this shape. false: they overflow size_t. */
bool shape_bytes(const matrix_shape *shape, size_t count, size_t *bytes);

#endif /* IPT_TOOL_SHAPE_H_INCLUDED */
