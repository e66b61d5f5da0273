/* The batch plans of commands, from --action. */
#ifndef IPT_TOOL_BATCH_LIST_H_INCLUDED
#define IPT_TOOL_BATCH_LIST_H_INCLUDED

#include "arguments.h"
#include "batch_spec.h"
#include "ipt.h"

#include <stddef.h>

typedef struct batch_list {
    batch_spec *items;
    const char **sources; /* of the items' programs, owned by the context; set by batch_list_plan */
    size_t count;
} batch_list;

/* Reads all of them; the caller calls batch_list_free in any case. Returns 0 or the exit code. */
int batch_list_take(const arguments *given, batch_list *list);

void batch_list_free(batch_list *list);

/* Creates the plan of one. *batch is NULL on failure. Returns 0 or the exit code. */
int batch_list_create(const batch_spec *spec, ipt_context *context, ipt_batch **batch);

/* Creates and destroys a plan of each; the context keeps their programs. Returns 0 or the exit code. */
int batch_list_plan(const arguments *given, batch_list *list, ipt_context *context);

/* Writes what a message about a program's source begins with: the item's word, and the lines of a file in which its
 * texts begin. Empty for programs of others. */
void batch_list_about(const batch_list *list, const char *source, char text[BATCH_MESSAGE_SIZE]);

#endif /* IPT_TOOL_BATCH_LIST_H_INCLUDED */
