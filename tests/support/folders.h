/* Folders of a test: made below TMPDIR, removed with their content. */
#ifndef FOLDERS_H_INCLUDED
#define FOLDERS_H_INCLUDED

#include <stddef.h>

/* Makes a folder for the subject and writes its path. Returns -1 on failure. */
int folder_make(char *path, size_t size, const char *subject);

/* Removes a file or a folder, also if it is read-only. Returns -1 if something remains, otherwise 0. */
int folder_remove(const char *path);

#endif
