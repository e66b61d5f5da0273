/* The commands from OpenCL C to a target's code. */
#ifndef IPT_TOOL_OFFLINE_STEPS_H_INCLUDED
#define IPT_TOOL_OFFLINE_STEPS_H_INCLUDED

#include "offline_target.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    OFFLINE_STEPS = 4, /* the most programs that a target needs */
    OFFLINE_WORDS = 32 /* words of the longest command, with its final NULL */
};

/* A command. It runs in the folder of its files. */
typedef struct offline_step {
    const char *words[OFFLINE_WORDS]; /* ends with NULL */
    size_t count;
    char program[32];    /* the first word */
    char package[32];    /* the program's package */
    const char *library; /* a second input file; NULL: none */
    char processor[48];  /* storage of the word that names the processor */
} offline_step;

/* The commands from k.cl to the result. Returns the result's file name. reduce: with the pass for loop strength
 * reduction. */
const char *offline_steps(const offline_target *target, const char *options, bool reduce,
                          offline_step steps[OFFLINE_STEPS]);

/* Writes the commands, quoted for a shell, one per line, into text of capacity bytes. */
void offline_commands(const offline_target *target, const char *options, char *text, size_t capacity);

#endif /* IPT_TOOL_OFFLINE_STEPS_H_INCLUDED */
