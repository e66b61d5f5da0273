/* Compiled programs of plans, in the format of cache files. */
#ifndef IPT_TOOL_PROGRAMS_H_INCLUDED
#define IPT_TOOL_PROGRAMS_H_INCLUDED

#include "batch_list.h"
#include "ipt.h"
#include "gen/tool/offline/offline_target.h"
#include "shape_list.h"
#include "gen/tool/base/setup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One cache entry: a program, or the measured facts about the device. */
typedef struct program_entry {
    unsigned char *bytes;
    size_t size;
    const char *source; /* the context owns it; NULL: not a program */
} program_entry;

/* What to compile, and where to store the programs. */
typedef struct precompile_task {
    setup context;
    ipt_plan_desc desc;                  /* for every shape, without its sides */
    const char *target, *output, *embed; /* NULL: none */
    bool verbose;
} precompile_task;

typedef struct precompiled {
    ipt_context *context;
    shape_list shapes;
    batch_list batches;
    offline_target target; /* only with --target */
    program_entry *entries;
    size_t count, programs, size;
} precompiled;

/* Writes the programs as a C header. */
void programs_write_header(FILE *stream, const precompile_task *task, const precompiled *work);

#endif /* IPT_TOOL_PROGRAMS_H_INCLUDED */
