/* A file with matrices: its header, its shape, its bytes. */
#ifndef IPT_TOOL_MATRIX_FILE_H_INCLUDED
#define IPT_TOOL_MATRIX_FILE_H_INCLUDED

#include "arguments.h"
#include "npy.h"
#include "shape.h"

#include <stdbool.h>
#include <stddef.h>

/* An open file and the task for it. */
typedef struct matrix_file {
    const char *path;
    int descriptor;
    size_t size;
    size_t data_offset;                       /* bytes before the data; 0 without a header */
    npy_span text;                            /* of the header's text, if any */
    npy_header header;                        /* the parsed header */
    matrix_shape shape;                       /* of each matrix as stored in the file, row-major */
    size_t batch;                             /* 0: no data */
    char *before;                             /* the bytes before the data now */
    char *after;                              /* the same after the transposition */
    const char *expression, *expression_type; /* for elements as stored; NULL: none */
    char *wrapped;                            /* owns expression, unless the command line does */
} matrix_file;

/* Opens and locks the file for reading and writing. Refuses files that must not be rewritten. */
int file_open(matrix_file *file);

/* Reads or writes size bytes at offset. Returns 0 or an errno; -1: end of file. Thread-safe. */
int file_transfer(const matrix_file *file, void *memory, size_t offset, size_t size, bool writes);

/* The message for file_transfer's result. */
const char *file_transfer_error(int error);

/* Reads the bytes before the data. The caller frees *beginning. */
int file_read_beginning(const matrix_file *file, char **beginning);

/* Reads and checks the header. */
int file_read_header(matrix_file *file);

/* Computes the number of matrices in a file without a header. */
int file_measure_raw(const arguments *given, matrix_file *file);

/* The move of the matrix as stored. Fortran order stores the transpose, whose rows are the array's columns. */
ipt_move file_inner_move(const arguments *given, const matrix_file *file);

/* Chooses the OpenCL C type of x in the expression. */
int file_choose_expression(const arguments *given, matrix_file *file);

/* Writes the new header, without a mark. Returns what file_transfer returns. */
int file_write_header(const matrix_file *file);

#endif /* IPT_TOOL_MATRIX_FILE_H_INCLUDED */
