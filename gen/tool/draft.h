/* An output file: written under a temporary name in its folder, renamed when complete. */
#ifndef IPT_TOOL_DRAFT_H_INCLUDED
#define IPT_TOOL_DRAFT_H_INCLUDED

#include <stdbool.h>

typedef struct draft {
    const char *name;   /* as given on the command line */
    char *place, *path; /* final path; temporary path */
} draft;

/* Chooses the paths. Creates and removes the temporary file, so that errors show before the work begins. */
int draft_begin(const char *name, draft *made);

/* Renames a complete file, removes an incomplete one. Returns code, or the exit code of a failed rename. */
int draft_end(draft *made, bool complete, int code);

#endif /* IPT_TOOL_DRAFT_H_INCLUDED */
