#define _POSIX_C_SOURCE 200809L /* strdup */

#include "draft.h"

#include "messages.h"
#include "system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int draft_begin(const char *name, draft *made)
{
    system_status status;
    made->name = name;
    made->place = system_real_path(name); /* resolves links */
    if (made->place == NULL) {
        made->place = strdup(name);
    }
    size_t capacity = strlen(name) + (made->place != NULL ? strlen(made->place) : 0) + 40;
    made->path = malloc(capacity);
    if (made->place == NULL || made->path == NULL) {
        return message_fail("%s: out of memory for its path", name);
    }
    snprintf(made->path, capacity, "%s.%ld.tmp", made->place, system_process());
    if (system_status_at(made->place, &status) && !status.is_file) {
        return message_fail("%s: not a regular file", name);
    }
    int descriptor = system_open(made->path, SYSTEM_WRITE | SYSTEM_CREATE | SYSTEM_NEW | SYSTEM_PRIVATE);
    if (descriptor < 0) {
        return message_fail("%s: %s", name, strerror(errno));
    }
    system_close(descriptor);
    system_remove(made->path);
    return 0;
}

int draft_end(draft *made, bool complete, int code)
{
    if (complete && !system_rename(made->path, made->place)) {
        code = message_fail("%s: %s", made->name, strerror(errno));
        complete = false;
    }
    if (!complete && made->path != NULL) {
        system_remove(made->path);
    }
    free(made->path);
    free(made->place);
    return code;
}
