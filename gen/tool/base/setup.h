/* Contexts and plans from the command line. */
#ifndef IPT_TOOL_SETUP_H_INCLUDED
#define IPT_TOOL_SETUP_H_INCLUDED

#include "gen/tool/command/arguments.h"
#include "ipt.h"

/* Creates the context of a command line. about: subject of an error message, or NULL. *context is NULL on failure. */
int setup_context(const arguments *given, const char *about, ipt_context **context);

/* The plan description of a command line. */
ipt_plan_desc setup_describe(const arguments *given);

/* Creates the context and the plan of a command line. Both are NULL on failure. */
int setup_plan(const arguments *given, ipt_context **context, ipt_plan **plan);

#endif /* IPT_TOOL_SETUP_H_INCLUDED */
