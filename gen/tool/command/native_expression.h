/* Expressions for the native driver, as C for the program that includes ipt.h. */
#ifndef IPT_TOOL_NATIVE_EXPRESSION_H_INCLUDED
#define IPT_TOOL_NATIVE_EXPRESSION_H_INCLUDED

#include "arguments.h"

/* Refuses options that do not go with --native. Returns 0 or the exit code. */
int native_expression_check(const arguments *given);

/* Writes the file of --native. Returns 0 or the exit code. */
int native_expression_write(const arguments *given);

#endif /* IPT_TOOL_NATIVE_EXPRESSION_H_INCLUDED */
