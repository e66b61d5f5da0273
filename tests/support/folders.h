/* Folders of a test: made below TMPDIR, removed with all that they hold. */
#ifndef FOLDERS_H_INCLUDED
#define FOLDERS_H_INCLUDED

#include <stddef.h>

/* Makes a folder for the subject and writes its path; -1 if there is none. */
int folder_make(char *path, size_t size, const char *subject);

/* Removes a file or a folder, sealed ones too; -1 if something remains. It is no error if there is none. */
int folder_remove(const char *path);

#endif
