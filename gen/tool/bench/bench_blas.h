/* OpenBLAS on the host, loaded at run time. */
#ifndef IPT_TOOL_BENCH_BLAS_H_INCLUDED
#define IPT_TOOL_BENCH_BLAS_H_INCLUDED

#include "bench_result.h"

#include <stdbool.h>

typedef struct bench_blas {
    void *library;
    void (*simatcopy)(int order, int transposition, int rows, int cols, float factor, float *matrix, int stride,
                      int new_stride);
    void (*dimatcopy)(int order, int transposition, int rows, int cols, double factor, double *matrix, int stride,
                      int new_stride);
} bench_blas;

/* Loads OpenBLAS. Close it also after a failure. */
bool bench_blas_open(bench_blas *blas, char *message);
void bench_blas_close(bench_blas *blas);

/* Transposes a batch at bytes. */
void bench_blas_transpose(const bench_blas *blas, const bench_result *shape, unsigned char *bytes);

/* Measures BLAS and memcpy on as many host matrices as the device had buffers. */
bool bench_measure_blas(const bench_blas *blas, bench_result *result, char *message);

#endif /* IPT_TOOL_BENCH_BLAS_H_INCLUDED */
