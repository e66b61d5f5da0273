/* Measures one shape on the device. Times count only if the results on new data are right, both before and after the
 * timing. Copies and transpositions alternate on the same buffers, which together exceed every cache. */
#ifndef IPT_TOOL_BENCH_MEASURE_H_INCLUDED
#define IPT_TOOL_BENCH_MEASURE_H_INCLUDED

#include "bench_device.h"
#include "ipt.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    BENCH_MAX_BUFFERS = 64,
    BENCH_VERIFIED_BUFFERS = 8 /* transposed in succession, then checked */
};

typedef struct bench_work {
    bench_device *device;
    ipt_plan *plan;
    cl_mem buffers[BENCH_MAX_BUFFERS];
    cl_ulong seeds[BENCH_MAX_BUFFERS]; /* of the current data */
    size_t buffer_count;
    size_t rotation; /* number of buffers in rotation: all or one */
    size_t next;     /* buffer of the next execution */
    size_t bytes;
    size_t filled; /* bytes to fill, including gaps between rows */
    size_t room;   /* bytes of a buffer, with the padding of IPT_PAD */
    bool out_of_place;
} bench_work;

/* The number of matrices that together exceed every cache. */
size_t bench_wanted_buffers(const bench_device *device, size_t bytes);

/* Creates the buffers and writes to them: some devices allocate on first use. Only the first one is necessary. */
bool bench_take_buffers(bench_work *work, char *message);

/* Enqueues a transposition, or a copy. */
bool bench_enqueue(bench_work *work, bool copying, char *message);

/* Times rounds of transpositions and copies in turn, so that both see the device in the same state. Then times single
 * executions. */
bool bench_time_all(bench_work *work, bench_result *result, char *message);

/* Measures a plan's shape. The caller sets the result's shape, bytes, repeat (0: chosen here) and rounds. */
bool bench_measure(bench_device *device, ipt_plan *plan, bench_result *result, char *message);

#endif /* IPT_TOOL_BENCH_MEASURE_H_INCLUDED */
