/* The measured device, with kernels that fill matrices and verify results. Without a compiler the host does both, in
 * the device's memory. */
#ifndef IPT_TOOL_BENCH_DEVICE_H_INCLUDED
#define IPT_TOOL_BENCH_DEVICE_H_INCLUDED

#include "bench_result.h"
#include "gen/tool/base/device_access.h"
#include "ipt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The source of these kernels. An element consists of items of the checker's type, which stay together. Item k of the
 * batch is a hash of k and the seed, so that misplaced items are detected. */
extern const char *const bench_checker;

typedef struct bench_device {
    ipt_context *context; /* owned by the caller */
    device_access cl;
    cl_command_queue queue;
    cl_program program;
    cl_kernel fill, check; /* NULL without a compiler */
    cl_mem counter;
    size_t item_size;
    uint64_t seed;         /* of the data; differs for every matrix */
    cl_ulong memory, cold; /* bytes; cold: more than any cache's */
    char name[256];
} bench_device;

/* Zero *device before. Close the device also after a failure. */
bool bench_device_open(bench_device *device, ipt_context *context, size_t elem_size, char *message);

/* Releases a device that bench_device_open has opened, completely or in part. */
void bench_device_close(bench_device *device);

/* Launches one of the two kernels with the set arguments, for count items or elements. */
cl_int bench_launch(const bench_device *device, cl_kernel kernel, size_t count);

/* Enqueues or writes new data for a matrix. *seed: the seed of this data. */
bool bench_fill(bench_device *device, cl_mem matrix, size_t bytes, cl_ulong *seed, char *message);

/* Counts the elements that differ from the transpose of the seed's data. */
bool bench_count_wrong(const bench_device *device, cl_mem matrix, const bench_result *shape, cl_ulong seed,
                       cl_uint *wrong, char *message);

#endif /* IPT_TOOL_BENCH_DEVICE_H_INCLUDED */
