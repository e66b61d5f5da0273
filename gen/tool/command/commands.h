/* The commands. */
#ifndef IPT_TOOL_COMMANDS_H_INCLUDED
#define IPT_TOOL_COMMANDS_H_INCLUDED

#include "command_line.h"

/* X(name), in the sequence of the help. command_NAME.c defines the command. */
#define COMMAND_LIST(X) X(devices) X(transpose) X(plan) X(source) X(precompile) X(tune) X(bench)

#define COMMAND_DECLARE(name) extern const command command_##name;
COMMAND_LIST(COMMAND_DECLARE)
#undef COMMAND_DECLARE

#endif /* IPT_TOOL_COMMANDS_H_INCLUDED */
