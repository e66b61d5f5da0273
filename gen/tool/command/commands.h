/* The commands. Each takes its command line and returns the exit code. */
#ifndef IPT_TOOL_COMMANDS_H_INCLUDED
#define IPT_TOOL_COMMANDS_H_INCLUDED

#include "arguments.h"

int command_devices(const arguments *given);
int command_transpose(const arguments *given);
int command_plan(const arguments *given);
int command_source(const arguments *given);
int command_precompile(const arguments *given);
int command_tune(const arguments *given);
int command_bench(const arguments *given);

#endif /* IPT_TOOL_COMMANDS_H_INCLUDED */
