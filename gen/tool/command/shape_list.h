/* The shapes of commands that take several. */
#ifndef IPT_TOOL_SHAPE_LIST_H_INCLUDED
#define IPT_TOOL_SHAPE_LIST_H_INCLUDED

#include "arguments.h"
#include "ipt.h"
#include "gen/tool/base/shape.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct shape_list {
    char *const *operands; /* words for shapes */
    size_t operand_count;
    const char *file; /* its path; NULL: operands */
    size_t elem_size; /* for the shapes of a file */
    axes_list axes;   /* for all shapes; count = 0: matrices */
    matrix_shape *items;
    size_t count;
} shape_list;

/* Refuses --elem-size if an operand is a shape. Returns 0 or the exit code. */
int shape_list_check_elem_size(const arguments *given, const char *places);

/* Requires either operands or --shapes, or --action without both. Returns 0 or the exit code. */
int shape_list_check(const arguments *given, const char *name);

/* The list for a command line, without items. */
shape_list shape_list_of(const arguments *given);

/* Reads the shapes, if any; the caller frees items. Returns 0 or the exit code. */
int shape_list_read(shape_list *list);

/* Creates and destroys a plan for each shape, with desc's other fields; the context retains programs and wisdom.
 * verbose: reports each. Stops at the first failure unless all_of_them. Returns 0 or the exit code. */
int shape_list_plan(const shape_list *list, ipt_plan_desc desc, ipt_context *context, bool verbose, bool all_of_them);

#endif /* IPT_TOOL_SHAPE_LIST_H_INCLUDED */
