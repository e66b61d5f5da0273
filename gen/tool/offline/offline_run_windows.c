/* Windows: the functions that start clang fail with a sentence. */
#include "offline_run.h"

#include <stdio.h>

bool offline_supported(char *message)
{
    return offline_fail(message, "--target starts other programs, which this tool does on POSIX systems alone");
}

const char *offline_path(const char *folder, const char *name, char path[OFFLINE_PATH_SIZE])
{
    snprintf(path, OFFLINE_PATH_SIZE, "%s/%s", folder, name);
    return path;
}

bool offline_make_folder(char folder[OFFLINE_FOLDER_SIZE], char *message)
{
    folder[0] = '\0';
    return offline_supported(message);
}

void offline_remove_folder(const char *folder)
{
    (void)folder;
}

bool offline_write(const char *path, const char *text, char *message)
{
    (void)path;
    (void)text;
    return offline_supported(message);
}

bool offline_read(const char *path, unsigned char **content, size_t *bytes, char *message)
{
    (void)path;
    *content = NULL;
    *bytes = 0;
    return offline_supported(message);
}

bool offline_run(const offline_target *target, const char *options, const char *folder, const char **result,
                 char *message)
{
    (void)target;
    (void)options;
    (void)folder;
    *result = NULL;
    return offline_supported(message);
}
