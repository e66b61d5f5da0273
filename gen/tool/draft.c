#define _GNU_SOURCE /* realpath */

#include "draft.h"

#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int draft_begin(const char *name, draft *made)
{
    struct stat status;
    made->name = name;
    made->place = realpath(name, NULL); /* resolves links */
    if (made->place == NULL) {
        made->place = strdup(name);
    }
    size_t capacity = strlen(name) + (made->place != NULL ? strlen(made->place) : 0) + 40;
    made->path = malloc(capacity);
    if (made->place == NULL || made->path == NULL) {
        return message_fail("%s: out of memory for its path", name);
    }
    snprintf(made->path, capacity, "%s.%ld.tmp", made->place, (long)getpid());
    if (stat(made->place, &status) == 0 && !S_ISREG(status.st_mode)) {
        return message_fail("%s: not a regular file", name);
    }
    int descriptor = open(made->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        return message_fail("%s: %s", name, strerror(errno));
    }
    close(descriptor);
    unlink(made->path);
    return 0;
}

int draft_end(draft *made, bool complete, int code)
{
    if (complete && rename(made->path, made->place) != 0) {
        code = message_fail("%s: %s", made->name, strerror(errno));
        complete = false;
    }
    if (!complete && made->path != NULL) {
        unlink(made->path);
    }
    free(made->path);
    free(made->place);
    return code;
}
