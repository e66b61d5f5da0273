#define _POSIX_C_SOURCE 200809L
#include "folders.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLDERS_PATH_SIZE = 4096 };

int folder_make(char *path, size_t size, const char *subject)
{
    const char *const parent = getenv("TMPDIR");
    const int length = snprintf(path, size, "%s/ipt_%s_XXXXXX", parent && *parent ? parent : "/tmp", subject);
    return length > 0 && (size_t)length < size && mkdtemp(path) ? 0 : -1;
}

int folder_remove(const char *path)
{
    struct stat status;
    if (lstat(path, &status))
        return 0;
    if (S_ISDIR(status.st_mode)) {
        DIR *list;
        struct dirent *entry;
        chmod(path, 0700);
        list = opendir(path);
        while (list && (entry = readdir(list)))
            if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
                char below[FOLDERS_PATH_SIZE];
                if ((size_t)snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < sizeof below)
                    folder_remove(below);
            }
        if (list)
            closedir(list);
    }
    return remove(path);
}
