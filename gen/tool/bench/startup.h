/* Measures the start of processes. Every number comes from a new process, with the caches in the state of its row. The
 * first execution's result is verified. All folders are temporary and removed at the end, also after a failure or
 * Ctrl-C. */
#ifndef IPT_TOOL_STARTUP_H_INCLUDED
#define IPT_TOOL_STARTUP_H_INCLUDED

#include "bench_shapes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { STARTUP_NEW_SHAPES = 50 };

#define STARTUP_MARK "ipt-startup " /* begins the line that a step prints */

typedef struct startup_desc {
    const char *program; /* argv[0], used if /proc/self/exe is missing */
    const char *device;  /* NULL: the library chooses */
    size_t rows, cols, elem_size, seed, rounds;
} startup_desc;

/* The quantities of a step. X(enumerator, name in CSV, heading, factor, decimals) */
#define STARTUP_QUANTITY_LIST(X)                                                                                       \
    X(STARTUP_CONTEXT, "context_seconds", "context ms", 1e3, 2)                                                        \
    X(STARTUP_PLAN, "plan_seconds", "plan ms", 1e3, 2)                                                                 \
    X(STARTUP_EXECUTION, "execution_seconds", "first run ms", 1e3, 2)                                                  \
    X(STARTUP_NEW, "new_plan_seconds", "new shape ms", 1e3, 3)                                                         \
    X(STARTUP_WORST, "new_plan_worst_seconds", "worst ms", 1e3, 3)                                                     \
    X(STARTUP_COMPILED, "compiled", "compiled", 1, 0)                                                                  \
    X(STARTUP_COMPILED_NEW, "compiled_for_new", "for new", 1, 0)                                                       \
    X(STARTUP_NONE, "new_without_compiling", "none", 1, 0)

#define STARTUP_ENUMERATOR(enumerator, name, heading, factor, decimals) enumerator,
typedef enum startup_quantity { STARTUP_QUANTITY_LIST(STARTUP_ENUMERATOR) STARTUP_QUANTITIES } startup_quantity;
#undef STARTUP_ENUMERATOR

typedef struct startup_values {
    double of[STARTUP_QUANTITIES];
} startup_values;

/* All functions below that return false put a sentence into message, BENCH_MESSAGE_SIZE bytes. */

/* Draws STARTUP_NEW_SHAPES different shapes with similar sides. */
bool startup_draw(const startup_desc *desc, bench_shape *shapes, char *message);

/* The hidden option --startup-step: measures this process and prints a line for its parent. */
bool startup_step(const startup_desc *desc, const char *cache_dir, FILE *stream, char *message);

/* Measures, and prints the table to stream and its rows to csv, which may be NULL. */
bool startup_measure(const startup_desc *desc, FILE *stream, FILE *csv, char *message);

#endif /* IPT_TOOL_STARTUP_H_INCLUDED */
