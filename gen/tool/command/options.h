/* The options: their names, values, help and ranges. */
#ifndef IPT_TOOL_OPTIONS_H_INCLUDED
#define IPT_TOOL_OPTIONS_H_INCLUDED

#include "arguments.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum option_kind {
    OPTION_TEXT,      /* a const char * */
    OPTION_NUMBER,    /* a size_t */
    OPTION_BYTES,     /* a size_t, with an optional suffix K, M or G */
    OPTION_SEQUENCE,  /* an ipt_sequence */
    OPTION_HEURISTIC, /* an ipt_heuristic */
    OPTION_METHOD,    /* an ipt_method */
    OPTION_VARIANT,   /* an ipt_variant */
    OPTION_FORMAT,    /* an ipt_format */
    OPTION_MOVE,      /* an ipt_move */
    OPTION_AXES,      /* an axes_list */
    OPTION_ORDER,     /* a char: C or F */
    OPTION_RANGE,     /* a bench_range */
    OPTION_RANGES,    /* two ranges; the second one defaults to the first */
    OPTION_RAW,       /* sets raw and shape */
    OPTION_ACTION,    /* adds to actions */
    OPTION_SWITCH     /* a bool, without a value */
} option_kind;

/* Options of different commands may share a name and nothing else. */
typedef struct option {
    const char *name, *value, *help; /* help = NULL: hidden */
    option_kind kind;
    unsigned commands;
    size_t offset; /* of the field in struct arguments */
    size_t least, most;
} option;

extern const option option_list[];
extern const size_t option_count; /* at most MAX_OPTIONS of arguments.h */

/* Whether an option of this name is present. */
bool options_have(const arguments *given, const char *name);

/* Prints a line of help: an option or a command in the left column, wrapped text in the right one. */
void options_show_line(const char *left, const char *help);

/* Prints the help of the options of these commands. */
void options_show(unsigned shown);

#endif /* IPT_TOOL_OPTIONS_H_INCLUDED */
