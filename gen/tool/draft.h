/* A file that is written beside its place, and moved there once it is complete. */
#ifndef IPT_TOOL_DRAFT_H_INCLUDED
#define IPT_TOOL_DRAFT_H_INCLUDED

#include <stdbool.h>

typedef struct draft {
    const char *name;   /* as it was given */
    char *place, *path; /* where it belongs, and where it is written */
} draft;

/* Names it, and proves that a file can be made there before the work for its content begins. */
int draft_begin(const char *name, draft *made);

/* Moves it to its place, or removes it if it is not complete. Returns the exit code: that one, unless this failed. */
int draft_end(draft *made, bool complete, int code);

#endif /* IPT_TOOL_DRAFT_H_INCLUDED */
