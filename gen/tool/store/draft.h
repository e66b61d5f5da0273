/* An output file: written without a name in its folder, or under a random one where the system has no files without
 * names, and put in place when complete. Another error, a signal or a kill leaves the file that was there before. */
#ifndef IPT_TOOL_DRAFT_H_INCLUDED
#define IPT_TOOL_DRAFT_H_INCLUDED

#include "gen/tool/base/system.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct draft {
    const char *name;     /* as given on the command line */
    char *place, *path;   /* final path; temporary path */
    int descriptor;       /* of the draft, for reading and writing */
    int replaced;         /* of the file at the final path, locked against transpositions in place; -1: none */
    bool named;           /* the draft has its temporary path */
    system_rights rights; /* for the complete file */
} draft;

#define DRAFT_NONE                                                                                                     \
    {                                                                                                                  \
        NULL, NULL, NULL, -1, -1, false,                                                                               \
        {                                                                                                              \
            0, 0, 0, false                                                                                             \
        }                                                                                                              \
    }

/* Opens the draft. Refuses a file there that must not be replaced, before the work begins. copied: the open file whose
 * rights a new file gets, or -1. `made` is DRAFT_NONE before. On every result
 * the caller calls draft_end. */
int draft_begin(const char *name, int copied, draft *made);

/* A stream that writes to the draft. Closing it leaves the draft open. NULL: failed. */
FILE *draft_stream(const draft *made);

/* Closes the draft. Puts a complete one in place, removes an incomplete one. Returns code, or the exit code of a
 * failure. */
int draft_end(draft *made, bool complete, int code);

#endif /* IPT_TOOL_DRAFT_H_INCLUDED */
