/* Programs that tests start. */
#ifndef PROCESS_H_INCLUDED
#define PROCESS_H_INCLUDED

#include <stddef.h>
#include <sys/types.h>

/* The path of the command-line tool: IPT_TOOL in the environment, else the tool that make builds. */
const char *process_tool(void);

/* The environment and streams of a started program. */
typedef struct process_setup {
    int output, errors; /* descriptors for standard output and standard error; -1: discard */
    unsigned closed;    /* a bit for each standard stream to close */
    size_t file_bytes;  /* largest file that it may write; 0: no limit */
} process_setup;

/* Starts the program words[0]; the words after it, up to NULL, are its arguments. A signal ends the process after 120
 * seconds. Fails the test if the process cannot start. */
pid_t process_start(const char *const *words, const process_setup *setup);

#endif
