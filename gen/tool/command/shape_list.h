/* The shapes of commands that take several. */
#ifndef IPT_TOOL_SHAPE_LIST_H_INCLUDED
#define IPT_TOOL_SHAPE_LIST_H_INCLUDED

#include "arguments.h"
#include "ipt.h"
#include "gen/tool/base/shape.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct shape_list {
    matrix_shape *items;
    size_t count;
} shape_list;

/* Refuses --elem-size beside a shape operand. Returns 0 or the exit code. */
int shape_list_check_elem_size(const arguments *given, const char *places);

/* Requires either operands or --shapes, or --action without both. Returns 0 or the exit code. */
int shape_list_check(const arguments *given, const char *name);

/* Reads the shapes, if any; the caller frees items. */
int shape_list_take(const arguments *given, shape_list *list);

/* Creates and destroys a plan of each shape; the context keeps programs and wisdom. Stops at the first failure unless
 * all_of_them. */
int shape_list_plan(const arguments *given, const shape_list *list, ipt_context *context, bool all_of_them);

#endif /* IPT_TOOL_SHAPE_LIST_H_INCLUDED */
