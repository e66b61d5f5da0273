/* The device that is measured, with kernels that fill matrices and verify results. */
#ifndef IPT_TOOL_BENCH_DEVICE_H_INCLUDED
#define IPT_TOOL_BENCH_DEVICE_H_INCLUDED

#include "bench_result.h"
#include "ipt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An element is as many items of the checker's type as divide it; items of one element stay together. Item k of the
 * batch holds bytes of a hash of k and the seed, so that no two places look alike. */
extern const char *const bench_checker;

typedef struct bench_device {
    ipt_context *context; /* the caller's */
    cl_command_queue queue;
    cl_program program;
    cl_kernel fill, check;
    cl_mem counter;
    size_t item_size;
    uint64_t seed;         /* of the data, new for every matrix */
    cl_ulong memory, cold; /* bytes; cold: that no cache keeps */
    char name[256];
} bench_device;

/* Zero the device before; close it also after a failure. */
bool bench_device_open(bench_device *device, ipt_context *context, size_t elem_size, char *message);

/* Releases what bench_device_open has made, all of it or a part. */
void bench_device_close(bench_device *device);

/* Launches one of the two kernels, whose arguments are set, for count items or elements. */
cl_int bench_launch(const bench_device *device, cl_kernel kernel, size_t count);

/* Enqueues fresh data for a matrix; *seed tells which. */
bool bench_fill(bench_device *device, cl_mem matrix, size_t bytes, cl_ulong *seed, char *message);

/* Counts the elements that are not where the transposition of the data of that seed has them. */
bool bench_count_wrong(const bench_device *device, cl_mem matrix, const bench_result *shape, cl_ulong seed,
                       cl_uint *wrong, char *message);

#endif /* IPT_TOOL_BENCH_DEVICE_H_INCLUDED */
