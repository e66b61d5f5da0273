/* The parsed and checked command line. */
#ifndef IPT_TOOL_ARGUMENTS_H_INCLUDED
#define IPT_TOOL_ARGUMENTS_H_INCLUDED

#include "gen/tool/base/axes.h"
#include "gen/tool/bench/bench_shapes.h"
#include "ipt.h"
#include "gen/tool/base/shape.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_OPTIONS = 96, MAX_ACTIONS = 256 };

typedef struct arguments {
    const char *program;   /* argv[0] */
    const char *operand;   /* the first one; NULL: none */
    char *const *operands; /* all of them */
    size_t operand_count;
    matrix_shape shape;                            /* of the operand, or of --raw */
    const char *device;                            /* NULL: the library chooses */
    const char *cache;                             /* a folder; "": none, NULL: the library chooses */
    const char *wisdom, *profile, *output, *embed; /* paths, NULL: none */
    const char *target;                            /* NULL: the selected device */
    bool raw, verbose, help, measure, no_cooperative, pad, blas, out_of_place, write_profile, startup, startup_step;
    bool resume, sync, no_journal, channels_last, json, mpi, force;
    ipt_sequence sequence;
    ipt_variant variant_010, variant_100, variant_pad;
    ipt_format from, to;
    ipt_move move;
    axes_list axes;
    char order;                                               /* 'C' or 'F'; 0: as before */
    const char *expression, *expression_type, *argument_type; /* NULL: none */
    size_t flag_spread;
    size_t tile_m, tile_n, batch, workspace, repeat, rounds, pitch, elem_size, memory, matrix_memory, offset;
    const char *shapes, *csv, *plot; /* paths */
    bench_drawing random;
    const char *actions[MAX_ACTIONS]; /* words of --action */
    size_t action_count;
    bool seen[MAX_OPTIONS]; /* the options that were given, by their places in option_list */
} arguments;

/* The last two are optional. */
typedef enum operand_kind {
    OPERAND_NONE,
    OPERAND_FILE,
    OPERAND_SHAPE,
    OPERAND_OPTIONAL_SHAPE,
    OPERAND_SHAPES
} operand_kind;

typedef struct command {
    const char *name;
    operand_kind operand;
    const char *help;
    unsigned options;
    int (*run)(const arguments *given);
    const char *notes; /* text after the options in its help; NULL: none */
} command;

extern const char *const operand_names[]; /* of each kind */

/* Parses the words after the command's name. Moves the operands to their front. Returns 0 or the exit code. */
int arguments_read(const command *chosen, char **words, arguments *given);

/* Whether an option of that name was given. */
bool arguments_have(const arguments *given, const char *name);

#endif /* IPT_TOOL_ARGUMENTS_H_INCLUDED */
