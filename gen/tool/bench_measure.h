/* Measuring one shape on the device. The promise: a shape's times count only if its results were right, on data that
 * was fresh, before the timing and after it; copies are timed in turns with transpositions on the same buffers, of
 * which there are as many as no cache holds. */
#ifndef IPT_TOOL_BENCH_MEASURE_H_INCLUDED
#define IPT_TOOL_BENCH_MEASURE_H_INCLUDED

#include "bench_device.h"
#include "ipt.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    BENCH_MAX_BUFFERS = 64,
    BENCH_VERIFIED_BUFFERS = 8 /* that are transposed one right after the other and then checked */
};

typedef struct bench_work {
    bench_device *device;
    ipt_plan *plan;
    cl_mem buffers[BENCH_MAX_BUFFERS];
    cl_ulong seeds[BENCH_MAX_BUFFERS]; /* of what was filled in last */
    size_t buffer_count;
    size_t rotation; /* how many of them are transposed in turn: all, or the first one */
    size_t next;     /* whose turn it is */
    size_t bytes;
    size_t room; /* of a buffer, bytes: what IPT_PAD adds, too */
    bool out_of_place;
} bench_work;

/* How many matrices hold more than any cache would keep from one turn to the next. */
size_t bench_wanted_buffers(const bench_device *device, size_t bytes);

/* Makes the buffers and writes to them, because some devices take their memory then. Only the first one must be. */
bool bench_take_buffers(bench_work *work, char *message);

/* Enqueues a transposition, or a copy. */
bool bench_enqueue(bench_work *work, bool copying, char *message);

/* The rounds of transpositions and of copies in turn, so that both see the device in the same state, and the single
 * executions. */
bool bench_time_all(bench_work *work, bench_result *result, char *message);

/* Measures a plan's shape. The result's shape, bytes, repeat (0: chosen) and rounds are set. */
bool bench_measure(bench_device *device, ipt_plan *plan, bench_result *result, char *message);

#endif /* IPT_TOOL_BENCH_MEASURE_H_INCLUDED */
