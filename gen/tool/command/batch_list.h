/* The batch plans of commands, from --action. */
#ifndef IPT_TOOL_BATCH_LIST_H_INCLUDED
#define IPT_TOOL_BATCH_LIST_H_INCLUDED

#include "arguments.h"
#include "batch_spec.h"
#include "ipt.h"

#include <stdbool.h>
#include <stddef.h>

/* The help of --action. */
#define BATCH_NOTES                                                                                                    \
    "--action ACTION:TYPE:SIZES[:WORD ...] is a batch of a ready action, such as posv:double:6x1:100000 or "           \
    "gemm:float:4x6x4:transpose-a:planes. A WORD is the number of elements, a model, uusci-2013, lanes=N, group=N, "   \
    "an option, or the layout of all operands or of one (A=planes). With scaled, a has alpha and beta.\n"              \
    "--action FILE is an action of your own. Its lines: operand NAME TYPE ROWSxCOLS read|write|read-write [LAYOUT] "   \
    "[stride=N]; count N; model NAME; method uusci-2013; lanes N; group N; argument TYPE; functions, and the lines "   \
    "of OpenCL C; last "                                                                                               \
    "action, and its lines."

typedef struct batch_list {
    const char *const *words; /* of --action */
    size_t word_count;
    batch_spec *items;
    const char **sources; /* of the items' programs, the context owns them; batch_list_plan sets them */
    size_t count;
} batch_list;

/* The list for a command line, without items. */
batch_list batch_list_of(const arguments *given);

/* Reads the words into items; the caller calls batch_list_free in any case. Returns 0 or the exit code. */
int batch_list_read(batch_list *list);

void batch_list_free(batch_list *list);

/* Creates the plan of one item. *batch is NULL on failure. Returns 0 or the exit code. */
int batch_list_create(const batch_spec *spec, ipt_context *context, ipt_batch **batch);

/* Creates and destroys a plan for each item; the context retains the programs. verbose: reports each. Returns 0 or the
 * exit code. */
int batch_list_plan(batch_list *list, ipt_context *context, bool verbose);

/* Writes the beginning of a message about a program's source: the item's word and, for a file, the lines in which its
 * texts begin. Empty if the program belongs to no item. */
void batch_list_about(const batch_list *list, const char *source, char text[BATCH_MESSAGE_SIZE]);

#endif /* IPT_TOOL_BATCH_LIST_H_INCLUDED */
