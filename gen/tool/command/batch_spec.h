/* A batch plan as the command line gives it, by --action: a word that names a ready action, or a file with operands and
 * an action of the user's own. The word is
 *   ACTION:TYPE:SIZES[:WORD ...]   such as gemm:float:4x6x4:1000000:transpose-a
 * SIZES are the action's letters in IPT_ACTION_LIST, in the sequence in which they first appear there: mxkxn for gemm.
 * A WORD is one of
 *   a number              elements; 1 if none is given. Programs do not depend on it
 *   MODEL                 of IPT_MODEL_LIST
 *   uusci-2013            the field method
 *   lanes=N, group=N      the fields lanes and group_size of ipt_batch_desc
 *   LAYOUT                of all operands: elements, planes or blocks/WIDTH
 *   NAME=LAYOUT           of one of them
 *   transpose-a, transpose-b, conjugate-a, conjugate-b, upper, unit   options of the action
 *   scaled                a has alpha and beta, and the result is also read
 *
 * A file has a line for each fact, in any sequence; the texts come last. Blank lines, and lines that begin with #, are
 * comments.
 *   operand NAME TYPE ROWSxCOLS ACCESS [LAYOUT] [stride=N]   ACCESS: read, write or read-write
 *   count N, model MODEL, method uusci-2013, lanes N, group N, argument TYPE
 *   ready ACTION          an action of ipt's, for these operands
 *   options OPTION ...    of that action, as above
 *   functions             alone: the lines from the next one to the line `action` are the functions
 *   action                alone: the lines from the next one to the file's end are the action */
#ifndef IPT_TOOL_BATCH_SPEC_H_INCLUDED
#define IPT_TOOL_BATCH_SPEC_H_INCLUDED

#include "ipt.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    BATCH_MESSAGE_SIZE = 600, /* of the longest sentence */
    BATCH_LETTERS = 4         /* the most letters of a ready action, and a zero */
};

/* Must not be copied: desc points into the struct. */
typedef struct batch_spec {
    const char *word; /* the command line's word */
    bool is_file;
    size_t functions_line, action_line; /* lines of the file at which these texts begin; 0: none */
    unsigned keywords;                  /* a bit for each keyword that the file has */
    ipt_batch_desc desc;
    ipt_batch_operand operands[IPT_MAX_OPERANDS];
    char argument_type[16]; /* of `scaled` */
    char *text;             /* the word or the file, cut into pieces */
} batch_spec;

/* The letters of a ready action's sizes, in their sequence. */
void batch_spec_letters(ipt_action action, char letters[BATCH_LETTERS]);

/* Reads a word, or the file of that name. The caller calls batch_spec_free in any case. false: message, of
 * BATCH_MESSAGE_SIZE bytes, is a sentence that begins with the word or with FILE:LINE. */
bool batch_spec_read(const char *word, batch_spec *spec, char *message);

void batch_spec_free(batch_spec *spec);

#endif /* IPT_TOOL_BATCH_SPEC_H_INCLUDED */
