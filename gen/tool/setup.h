/* Contexts and plans as the command line wants them. */
#ifndef IPT_TOOL_SETUP_H_INCLUDED
#define IPT_TOOL_SETUP_H_INCLUDED

#include "arguments.h"
#include "ipt.h"

/* A context as the command line wants it. about: what a failure is about, NULL for nothing. On failure it is NULL. */
int setup_context(const arguments *given, const char *about, ipt_context **context);

/* What the command line says about plans. */
ipt_plan_desc setup_describe(const arguments *given);

/* A context and, on it, the plan that the command line describes. On failure both are NULL. */
int setup_plan(const arguments *given, ipt_context **context, ipt_plan **plan);

#endif /* IPT_TOOL_SETUP_H_INCLUDED */
