/* Commands, and the parser of their words. */
#ifndef IPT_TOOL_COMMAND_LINE_H_INCLUDED
#define IPT_TOOL_COMMAND_LINE_H_INCLUDED

#include "arguments.h"

#include <stdbool.h>

/* Operands of the last two kinds are optional. */
typedef enum operand_kind {
    OPERAND_NONE,
    OPERAND_FILE,
    OPERAND_SHAPE,
    OPERAND_OPTIONAL_SHAPE,
    OPERAND_SHAPES
} operand_kind;

typedef struct command {
    const char *name;
    operand_kind operand;
    const char *help;
    unsigned options;
    int (*run)(const arguments *given); /* returns the exit code */
    const char *notes;                  /* text after the options in its help; NULL: none */
} command;

extern const char *const operand_names[]; /* of each kind */

/* Parses the words after the command's name. Moves the operands to their front. Returns 0 or the exit code. */
int command_line_read(const command *chosen, char **words, arguments *given);

/* Reads the words after the command's name and runs it. *help: they only request help. Returns the exit code. */
int command_line_run(const command *chosen, const char *program, char **words, bool *help);

#endif /* IPT_TOOL_COMMAND_LINE_H_INCLUDED */
