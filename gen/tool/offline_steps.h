/* The commands from OpenCL C to a target's code. */
#ifndef IPT_TOOL_OFFLINE_STEPS_H_INCLUDED
#define IPT_TOOL_OFFLINE_STEPS_H_INCLUDED

#include "offline_target.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    OFFLINE_STEPS = 4, /* the most programs that a target needs */
    OFFLINE_WORDS = 32 /* in the longest command, NULL included */
};

/* A command. Its files have no folder: it runs in theirs. */
typedef struct offline_step {
    const char *words[OFFLINE_WORDS]; /* up to NULL */
    size_t count;
    char program[32];    /* the first word */
    char package[32];    /* that has the program */
    const char *library; /* a file that it reads beside its input; NULL: none */
    char processor[48];  /* for a word that contains the processor */
} offline_step;

/* The commands from k.cl to the result, whose file's name is returned. reduce: with the pass that reduces the strength
 * of loops. */
const char *offline_steps(const offline_target *target, const char *options, bool reduce,
                          offline_step steps[OFFLINE_STEPS]);

/* The commands as a person would type them, one on a line, into text of capacity bytes. */
void offline_commands(const offline_target *target, const char *options, char *text, size_t capacity);

#endif /* IPT_TOOL_OFFLINE_STEPS_H_INCLUDED */
