/* Programs that tests start. */
#ifndef PROCESS_H_INCLUDED
#define PROCESS_H_INCLUDED

#include <stddef.h>
#include <sys/types.h>

/* The path of the command-line tool: IPT_TOOL in the environment, else the one that make builds. */
const char *process_tool(void);

/* The environment and streams of a started program. */
typedef struct process_setup {
    int output, errors; /* descriptors for its standard output and its messages; -1: they are discarded */
    unsigned closed;    /* a bit for each standard stream to close */
    size_t file_bytes;  /* largest file that it may write; 0: no limit */
} process_setup;

/* Starts words[0] with the words after it, up to NULL. A signal ends it after 120 seconds. Fails the test if there is
 * no process. */
pid_t process_start(const char *const *words, const process_setup *setup);

#endif
