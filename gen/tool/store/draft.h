/* An output file. The tool writes it without a name in its folder, or under a random name if the system has no unnamed
 * files, and renames the complete file. After an error, a signal or a kill, the old file remains. */
#ifndef IPT_TOOL_DRAFT_H_INCLUDED
#define IPT_TOOL_DRAFT_H_INCLUDED

#include "gen/tool/base/system.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct draft {
    const char *name;     /* the command line's name */
    char *place, *path;   /* final path; temporary path */
    int descriptor;       /* of the draft, for reading and writing */
    int replaced;         /* the file at the final path, locked against transpositions in place; -1: none */
    bool named;           /* the draft has its temporary path */
    system_rights rights; /* of the complete file */
} draft;

#define DRAFT_NONE                                                                                                     \
    {                                                                                                                  \
        NULL, NULL, NULL, -1, -1, false,                                                                               \
        {                                                                                                              \
            0, 0, 0, false                                                                                             \
        }                                                                                                              \
    }

/* Opens the draft. Refuses to replace some files at the final path, before the work begins. copied: the open file whose
 * rights a new file gets, or -1. `made` must be DRAFT_NONE. The caller calls draft_end, whatever the result. */
int draft_begin(const char *name, int copied, draft *made);

/* A stream that writes to the draft. Closing the stream leaves the draft open. NULL: failed. */
FILE *draft_stream(const draft *made);

/* Closes the draft. Renames a complete draft to the final path, removes an incomplete one. Returns code, or the exit
 * code of a failure. */
int draft_end(draft *made, bool complete, int code);

#endif /* IPT_TOOL_DRAFT_H_INCLUDED */
