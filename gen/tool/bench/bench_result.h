/* The measurements of one shape, and error messages. */
#ifndef IPT_TOOL_BENCH_RESULT_H_INCLUDED
#define IPT_TOOL_BENCH_RESULT_H_INCLUDED

#include "ipt.h"

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_MESSAGE_SIZE = 1000 /* of the longest sentence */ };

/* The result of one shape. Times are of one call; 0: not measured. */
typedef struct bench_result {
    size_t rows, cols, elem_size, batch;
    size_t bytes;            /* of the batch */
    size_t pitch, pitch_out; /* distance of rows in bytes, in the source and in the result; 0: no gaps */
    double seconds, latency, copy_seconds, blas_seconds, memcpy_seconds;
    size_t workspace, stages, buffers, repeat, rounds;
    ipt_move move;
    bool out_of_place, verified;
    char note[BENCH_MESSAGE_SIZE]; /* reason for a missing measurement; "": none */
} bench_result;

/* The distances of rows and of matrices, in bytes. after: of the result. */
size_t bench_pitch(const bench_result *result, bool after);
size_t bench_stride(const bench_result *result);

/* Puts a sentence into message, BENCH_MESSAGE_SIZE bytes, and returns false. */
bool bench_fail(char *message, const char *format, ...);

/* Whether an OpenCL call succeeded. */
bool bench_opencl(cl_int status, const char *call, char *message);

/* The smaller and the larger of two numbers. */
size_t bench_smaller(size_t first, size_t second);
size_t bench_larger(size_t first, size_t second);

/* The quantile `part` of at least one value, interpolated. Sorts the values. */
double bench_quantile(double *values, size_t count, double part);

/* Bytes read and written per second, in units of 10^9. */
double bench_speed(const bench_result *result, double seconds);

/* The speed of the first time relative to the other. */
double bench_ratio(double seconds, double other_seconds);

/* The workspace in percent of the matrices. */
double bench_workspace_percent(const bench_result *result);

#endif /* IPT_TOOL_BENCH_RESULT_H_INCLUDED */
