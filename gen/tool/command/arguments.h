/* The parsed command line, and the commands that share options. */
#ifndef IPT_TOOL_ARGUMENTS_H_INCLUDED
#define IPT_TOOL_ARGUMENTS_H_INCLUDED

#include "gen/tool/base/axes.h"
#include "gen/tool/bench/bench_shapes.h"
#include "ipt.h"
#include "gen/tool/base/setup.h"
#include "gen/tool/base/shape.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_OPTIONS = 96, MAX_ACTIONS = 256 };

/* Groups of commands, one bit each. An option lists the groups that have it. */
enum {
    FOR_ALL = 1,
    FOR_TRANSPOSE = 2,
    FOR_PLANS = 4,
    FOR_BENCH = 8,
    FOR_FORMATS = 16,
    FOR_MOVES = 32,
    FOR_DEVICES = 64,
    FOR_SOURCES = 128, /* commands that work from a device profile alone */
    FOR_PRECOMPILE = 256,
    FOR_TUNE = 512,
    FOR_JSON = 1024
};

typedef struct arguments {
    const char *program;   /* argv[0] */
    const char *operand;   /* the first operand; NULL: none */
    char *const *operands; /* all of them */
    size_t operand_count;
    matrix_shape shape;                                     /* of the operand, or of --raw */
    const char *device;                                     /* NULL: the library chooses */
    const char *cache;                                      /* a folder; "": none, NULL: the library chooses */
    const char *wisdom, *profile, *output, *embed, *native; /* paths, NULL: none */
    const char *target;                                     /* NULL: the selected device */
    bool raw, verbose, help, measure, no_cooperative, pad, blas, out_of_place, write_profile, startup, startup_step;
    bool resume, sync, no_journal, channels_last, json, mpi, force;
    ipt_sequence sequence;
    ipt_heuristic heuristic;
    ipt_method method;
    ipt_variant variant_010, variant_100, variant_pad;
    ipt_format from, to;
    ipt_move move;
    axes_list axes;
    char order;                                               /* 'C' or 'F'; 0: unchanged */
    const char *expression, *expression_type, *argument_type; /* NULL: none */
    size_t flag_spread;
    size_t tile_m, tile_n, batch, workspace, repeat, rounds, pitch, elem_size, memory, matrix_memory, offset;
    const char *shapes, *csv, *plot; /* paths */
    bench_drawing random;
    const char *actions[MAX_ACTIONS]; /* words of --action */
    size_t action_count;
    bool seen[MAX_OPTIONS]; /* the present options, by their index in option_list */
} arguments;

/* The context's setup and the plan's desc from the options. The desc has rows, cols and axes if the operand is a
 * shape. */
setup arguments_setup(const arguments *given);
ipt_plan_desc arguments_describe(const arguments *given);

#endif /* IPT_TOOL_ARGUMENTS_H_INCLUDED */
