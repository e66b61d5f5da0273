/* What is measured of one shape, and sentences about what could not be. */
#ifndef IPT_TOOL_BENCH_RESULT_H_INCLUDED
#define IPT_TOOL_BENCH_RESULT_H_INCLUDED

#include "ipt.h"

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_MESSAGE_SIZE = 1000 /* the longest sentence */ };

/* Of one shape. Times are those of one call; 0: not measured. */
typedef struct bench_result {
    size_t rows, cols, elem_size, batch;
    size_t bytes; /* of the batch */
    double seconds, latency, copy_seconds, blas_seconds, memcpy_seconds;
    size_t workspace, stages, buffers, repeat, rounds;
    bool out_of_place, verified;
    char note[BENCH_MESSAGE_SIZE]; /* why something was not measured; "" */
} bench_result;

/* Puts a sentence into message, BENCH_MESSAGE_SIZE bytes, and returns false. */
bool bench_fail(char *message, const char *format, ...);

/* Whether an OpenCL call succeeded. */
bool bench_opencl(cl_int status, const char *call, char *message);

/* The smaller one of two numbers, the larger one. */
size_t bench_smaller(size_t first, size_t second);
size_t bench_larger(size_t first, size_t second);

/* The value below which part of them lie, between two of them in proportion; sorts them. There is at least one. */
double bench_quantile(double *values, size_t count, double part);

/* Read and written bytes in a second, in units of 10^9. */
double bench_speed(const bench_result *result, double seconds);

/* How many times as fast the first one is. */
double bench_ratio(double seconds, double other_seconds);

/* The workspace in percent of the matrices. */
double bench_workspace_percent(const bench_result *result);

#endif /* IPT_TOOL_BENCH_RESULT_H_INCLUDED */
