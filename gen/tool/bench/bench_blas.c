#include "bench_blas.h"

#include "bench_shapes.h"
#include "gen/tool/base/numbers.h"
#include "gen/tool/base/seconds.h"
#include "gen/tool/base/system.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BENCH_HOST_BYTES ((size_t)64 << 20) /* moved in a round, if a matrix is smaller */

enum { BENCH_BLAS_ROW_MAJOR = 101, BENCH_BLAS_TRANSPOSED = 112 };

bool bench_blas_open(bench_blas *blas, char *message)
{
    blas->library = system_library_open("openblas");
    if (blas->library == NULL) {
        return bench_fail(message, "--blas needs OpenBLAS (Debian: libopenblas0): %s", system_library_error());
    }
    /* memcpy: C has no cast from an object pointer to a function pointer. */
    void *found = system_library_find(blas->library, "cblas_simatcopy");
    memcpy(&blas->simatcopy, &found, sizeof found);
    found = system_library_find(blas->library, "cblas_dimatcopy");
    memcpy(&blas->dimatcopy, &found, sizeof found);
    if (blas->simatcopy == NULL || blas->dimatcopy == NULL) {
        return bench_fail(message, "libopenblas lacks cblas_simatcopy or cblas_dimatcopy: install a newer one");
    }
    return true;
}

void bench_blas_close(bench_blas *blas)
{
    if (blas->library != NULL) {
        system_library_close(blas->library);
    }
}

void bench_blas_transpose(const bench_blas *blas, const bench_result *shape, unsigned char *bytes)
{
    int rows = (int)shape->rows, cols = (int)shape->cols;
    for (size_t i = 0; i < shape->batch; i++, bytes += shape->bytes / shape->batch) {
        if (shape->elem_size == sizeof(float)) {
            blas->simatcopy(BENCH_BLAS_ROW_MAJOR, BENCH_BLAS_TRANSPOSED, rows, cols, 1, (float *)(void *)bytes, cols,
                            rows);
        } else {
            blas->dimatcopy(BENCH_BLAS_ROW_MAJOR, BENCH_BLAS_TRANSPOSED, rows, cols, 1, (double *)(void *)bytes, cols,
                            rows);
        }
    }
}

/* The element at a place. An integer, because BLAS may multiply elements by one. */
static double bench_host_value(size_t place, size_t elem_size)
{
    uint64_t state = place;
    return (double)(bench_random(&state) >> (elem_size == sizeof(float) ? 64 - 24 : 64 - 53));
}

static void bench_host_fill(const bench_result *shape, unsigned char *bytes)
{
    for (size_t i = 0; i < shape->bytes / shape->elem_size; i++) {
        double value = bench_host_value(i, shape->elem_size);
        if (shape->elem_size == sizeof(float)) {
            ((float *)(void *)bytes)[i] = (float)value;
        } else {
            ((double *)(void *)bytes)[i] = value;
        }
    }
}

static size_t bench_host_count_wrong(const bench_result *shape, const unsigned char *bytes)
{
    size_t wrong = 0, place = 0, elements = shape->rows * shape->cols;
    for (size_t first = 0; first < elements * shape->batch; first += elements) {
        for (size_t col = 0; col < shape->cols; col++) {
            for (size_t row = 0; row < shape->rows; row++, place++) {
                double value = shape->elem_size == sizeof(float) ? ((const float *)(const void *)bytes)[place]
                                                                 : ((const double *)(const void *)bytes)[place];
                wrong += value != bench_host_value(first + row * shape->cols + col, shape->elem_size);
            }
        }
    }
    return wrong;
}

/* The mean time of a call of BLAS, or of memcpy, over count matrices in rotation. */
static double bench_host_time(const bench_blas *blas, const bench_result *shape, unsigned char *matrices, size_t count,
                              size_t repeat, size_t *next)
{
    double start = seconds_now();
    for (size_t i = 0; i < repeat; i++, ++*next) {
        unsigned char *matrix = matrices + *next % count * shape->bytes;
        if (blas != NULL) {
            bench_blas_transpose(blas, shape, matrix);
        } else {
            memcpy(matrices + (*next + count / 2) % count * shape->bytes, matrix, shape->bytes);
        }
    }
    return (seconds_now() - start) / (double)repeat;
}

/* Whether BLAS can be called; if not, the result's note has the reason. OpenBLAS allocates a second matrix, and ends
 * the process if that fails. For a tall matrix, version 0.3.21 and others allocate rows x rows elements. */
static bool bench_blas_possible(bench_result *result)
{
    size_t side = bench_larger(result->rows, result->cols), bytes = 0;
    if (side > INT_MAX) {
        return bench_fail(result->note, "BLAS not measured: it takes sides of at most %d, not %zu", INT_MAX, side);
    }
    void *memory = bench_shape_bytes(result->rows, side, result->elem_size, 1, &bytes) ? malloc(bytes) : NULL;
    free(memory);
    return memory != NULL ||
           bench_fail(result->note, "BLAS not measured: could not allocate the %zu bytes that it may need", bytes);
}

bool bench_measure_blas(const bench_blas *blas, bench_result *result, char *message)
{
    size_t count = bench_larger(result->buffers, 2), repeat = BENCH_HOST_BYTES / result->bytes, bytes = result->bytes;
    size_t blas_next = 1, memcpy_next = 0;
    repeat = bench_larger(bench_smaller(repeat, result->repeat), 1);
    if (!bench_blas_possible(result)) {
        return true;
    }
    unsigned char *matrices = number_multiply(&bytes, count) ? malloc(bytes) : NULL;
    double *seconds = calloc(result->rounds * 2, sizeof *seconds);
    size_t wrong = 0;
    if (matrices == NULL || seconds == NULL) {
        bench_fail(result->note, "BLAS not measured: could not allocate %zu times %zu bytes", count, result->bytes);
    } else {
        for (size_t i = 0; i < count; i++) {
            bench_host_fill(result, matrices + i * result->bytes);
        }
        bench_blas_transpose(blas, result, matrices);
        wrong = bench_host_count_wrong(result, matrices);
        for (size_t i = 0; i < result->rounds; i++) {
            seconds[i] = bench_host_time(blas, result, matrices, count, repeat, &blas_next);
            seconds[result->rounds + i] = bench_host_time(NULL, result, matrices, count, repeat, &memcpy_next);
        }
        result->blas_seconds = bench_quantile(seconds, result->rounds, 0.5);
        result->memcpy_seconds = bench_quantile(seconds + result->rounds, result->rounds, 0.5);
    }
    free(seconds);
    free(matrices);
    return wrong == 0 || bench_fail(message, "the result of BLAS is WRONG: %zu elements differ", wrong);
}
