/* A file with matrices: its header, its shape, its bytes. */
#ifndef IPT_TOOL_MATRIX_FILE_H_INCLUDED
#define IPT_TOOL_MATRIX_FILE_H_INCLUDED

#include "gen/tool/picture/netpbm.h"
#include "gen/tool/npy/npy.h"
#include "gen/tool/picture/picture.h"
#include "gen/tool/base/setup.h"
#include "gen/tool/base/shape.h"

#include <stdbool.h>
#include <stddef.h>

/* What to do with a file. */
typedef struct file_task {
    setup context;
    const char *path, *output; /* output = NULL: in place */
    bool raw;                  /* no header: matrices of this shape after `offset` bytes */
    matrix_shape shape;
    size_t offset;
    bool has_offset, force;
    bool channels_last;
    axes_list axes; /* count = 0: none */
    char order;     /* 'C' or 'F'; 0: unchanged */
    ipt_move move;
    const char *expression, *expression_type; /* NULL: none */
    size_t memory, matrix_memory;             /* matrix_memory = 0: the remainder of `memory` */
    bool resume, sync, no_journal, verbose;
    const char *beside_ranks; /* the name of an option that ranks refuse; NULL: none */
} file_task;

/* The kind of a file by its first bytes. */
typedef enum file_kind {
    FILE_RAW,    /* no header, or one of --offset bytes */
    FILE_NPY,    /* a NumPy file, or unknown content */
    FILE_NETPBM, /* PGM, PPM or PAM */
    FILE_ENCODED /* a picture whose pixels must be decoded */
} file_kind;

/* An open file and the task for it. */
typedef struct matrix_file {
    const char *path;
    int descriptor;
    size_t size;
    file_kind kind;
    picture_format format;                    /* of a picture */
    size_t data_offset;                       /* bytes before the data; 0 without a header */
    npy_span text;                            /* of the header's text, if any */
    npy_header header;                        /* the parsed header of a NumPy file */
    netpbm_header picture;                    /* the parsed header of a PGM, PPM or PAM */
    matrix_shape shape;                       /* of each matrix in the file, row-major */
    size_t batch;                             /* 0: no data */
    bool moves_axes;                          /* shape.array is the move of an array's elements */
    axes_list axes;                           /* all axes of a NumPy array */
    char *before;                             /* the bytes before the data */
    char start[NPY_MAGIC_SIZE];               /* its first bytes, which the mark replaces */
    char *after;                              /* the bytes before the data after the transposition */
    const char *expression, *expression_type; /* for elements in the file; NULL: none */
    char *wrapped;                            /* the memory of `expression`; NULL: the command line's */
} matrix_file;

/* Opens and locks the file, for reading and perhaps for writing. Refuses files that must not be rewritten. */
int file_open(matrix_file *file, bool writes);

/* Recognises an open file's kind and a picture's format. Refuses options that do not apply to this kind. */
int file_recognise(const file_task *task, matrix_file *file);

/* Reads or writes size bytes at offset. Returns 0 or an errno; -1: end of file. Thread-safe. */
int file_transfer(const matrix_file *file, void *memory, size_t offset, size_t size, bool writes);

/* The message for file_transfer's result. */
const char *file_transfer_error(int error);

/* Reads the bytes before the data. The caller frees *beginning. */
int file_read_beginning(const matrix_file *file, char **beginning);

/* Reads and checks the header of a NumPy file or of a PGM, PPM or PAM. Refuses encoded pictures. */
int file_read_header(const file_task *task, matrix_file *file);

/* Whether elements in the file move or change. */
bool file_data_moves(const file_task *task, const matrix_file *file);

/* Warns if the last axis of a NumPy file looks like a picture's channels, but will move as columns. */
void file_warn_of_channels(const file_task *task, const matrix_file *file);

/* Computes the number of matrices in a file without a header. Reads the bytes before --offset. */
int file_measure_raw(const file_task *task, matrix_file *file);

/* The move of the matrix in the file. Fortran order stores the transpose, whose rows are the array's columns. */
ipt_move file_inner_move(const file_task *task, const matrix_file *file);

/* Chooses the OpenCL C type of x in the expression. */
int file_choose_expression(const file_task *task, matrix_file *file);

/* Sets the header after the transposition, with exchanged sides if the move exchanges them. */
int file_prepare_header(const file_task *task, matrix_file *file);

/* Whether the move exchanges rows and columns. */
bool file_move_transposes(ipt_move move);

/* Writes the new header, without a mark. Returns what file_transfer returns. */
int file_write_header(const matrix_file *file);

#endif /* IPT_TOOL_MATRIX_FILE_H_INCLUDED */
