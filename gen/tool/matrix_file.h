/* A file with matrices: its header, its shape, its bytes. */
#ifndef IPT_TOOL_MATRIX_FILE_H_INCLUDED
#define IPT_TOOL_MATRIX_FILE_H_INCLUDED

#include "arguments.h"
#include "npy.h"
#include "shape.h"

#include <stdbool.h>
#include <stddef.h>

/* An open file and what is to be done to it. */
typedef struct matrix_file {
    const char *path;
    int descriptor;
    size_t size;
    size_t data_offset;                       /* where the data begins; 0 without a header */
    npy_span text;                            /* the header's text, if there is one */
    npy_header header;                        /* the same, understood */
    matrix_shape shape;                       /* of each matrix as it lies in the file, row-major */
    size_t batch;                             /* 0: no data */
    char *before;                             /* the file up to the data, as it is */
    char *after;                              /* and as it will be */
    const char *expression, *expression_type; /* for the elements as they are; NULL: none */
    char *wrapped;                            /* what expression points to, if it is not the command line's */
} matrix_file;

/* Opens for reading and writing, and checks that the file is one that may be rewritten, by nobody else meanwhile. */
int file_open(matrix_file *file);

/* Reads or writes size bytes that stand offset bytes into the file. Returns 0, or an error number; -1: the file has
 * ended. For any thread. */
int file_transfer(const matrix_file *file, void *memory, size_t offset, size_t size, bool writes);

/* What file_transfer's number means. */
const char *file_transfer_error(int error);

/* The beginning of the file, up to the data, which the caller frees. */
int file_read_beginning(const matrix_file *file, char **beginning);

/* Reads and checks the header. */
int file_read_header(matrix_file *file);

/* Finds out how many matrices a file without a header holds. */
int file_measure_raw(const arguments *given, matrix_file *file);

/* The move of the matrix as it lies in the file: in Fortran order that is the transpose of what is meant, whose rows
 * are columns. */
ipt_move file_inner_move(const arguments *given, const matrix_file *file);

/* Finds out what an expression gets for its x. */
int file_choose_expression(const arguments *given, matrix_file *file);

/* Puts the new header, without a mark, in its place. Returns 0 or an error number, as file_transfer. */
int file_write_header(const matrix_file *file);

#endif /* IPT_TOOL_MATRIX_FILE_H_INCLUDED */
