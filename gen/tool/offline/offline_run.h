/* Runs a target's commands in a folder for temporary files, without a shell. */
#ifndef IPT_TOOL_OFFLINE_RUN_H_INCLUDED
#define IPT_TOOL_OFFLINE_RUN_H_INCLUDED

#include "offline_target.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    OFFLINE_FOLDER_SIZE = 4000,
    OFFLINE_PATH_SIZE = OFFLINE_FOLDER_SIZE + 64 /* the names in a folder are short */
};

/* The message begins with this if clang cannot use this version of libclc. */
#define OFFLINE_OTHER_LIBRARY "libclc does not go with "

/* Whether this system runs the commands. */
bool offline_supported(char *message);

/* The path of a file in a folder. */
const char *offline_path(const char *folder, const char *name, char path[OFFLINE_PATH_SIZE]);

/* Creates a folder for temporary files. */
bool offline_make_folder(char folder[OFFLINE_FOLDER_SIZE], char *message);

/* Removes a folder and all files in it. */
void offline_remove_folder(const char *folder);

/* Writes a text to a file. */
bool offline_write(const char *path, const char *text, char *message);

/* Reads a file and appends a zero. The caller frees the memory. */
bool offline_read(const char *path, unsigned char **content, size_t *bytes, char *message);

/* Runs the commands in a folder that contains k.cl. *result: the name of the last command's output file. */
bool offline_run(const offline_target *target, const char *options, const char *folder, const char **result,
                 char *message);

#endif /* IPT_TOOL_OFFLINE_RUN_H_INCLUDED */
