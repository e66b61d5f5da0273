#define _POSIX_C_SOURCE 200809L /* strdup */

#include "draft.h"

#include "gen/tool/base/messages.h"
#include "gen/tool/npy/npy.h"
#include "stopped.h"
#include "gen/tool/base/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAFT_NAME_SIZE = 40, DRAFT_TRIES = 100 };

static char *volatile draft_path; /* path of the draft to remove at a stop; NULL: none */

/* Ends the process by a signal. Calls only what a signal's handler may call. */
static void draft_stop(int number)
{
    const char *path = draft_path;
    if (path != NULL) {
        system_remove(path);
    }
    system_end_by(number);
}

/* Chooses a temporary path in the folder of the final one, of the same length each time. */
static void draft_choose_path(draft *made)
{
    const char *separator = system_last_separator(made->place);
    const size_t folder = separator == NULL ? 0 : (size_t)(separator - made->place) + 1;
    memcpy(made->path, made->place, folder);
    snprintf(made->path + folder, DRAFT_NAME_SIZE, "ipt-draft-%016llx.tmp", (unsigned long long)system_random());
}

/* Refuses a file at the final path that must not be replaced, and locks it. */
static int draft_check_replaced(draft *made)
{
    system_status status;
    stopped_file found;
    char start[NPY_START_SIZE], message[JOURNAL_MESSAGE_SIZE];
    const char *why = system_why_not_replaced(made->place);
    if (!system_status_at(made->place, &status)) {
        return message_fail("%s: %s", made->name, strerror(errno));
    }
    if (!status.is_file) {
        return message_fail("%s: not a regular file", made->name);
    }
    if (!status.is_writable) {
        return message_fail("%s: read-only", made->name);
    }
    if (why != NULL) {
        return message_fail("%s: %s: write to another name", made->name, why);
    }
    made->replaced = system_open(made->place, SYSTEM_READ);
    ptrdiff_t available = made->replaced >= 0 ? system_read_at(made->replaced, start, sizeof start, 0) : -1;
    if (available < 0) {
        return message_fail("%s: %s", made->name, strerror(errno));
    }
    if (!system_lock(made->replaced, false) || !system_is_at(made->replaced, made->place)) {
        return message_fail("%s: another process is transposing it", made->name);
    }
    if (!stopped_look(made->place, made->replaced, start, (size_t)available, &found, message)) {
        return message_fail("%s: %s", made->name, message);
    }
    if (found.journal[0] != '\0') {
        return message_fail("%s: its own transposition was stopped (journal %s): finish it with 'ipt transpose "
                            "--resume', or remove both, or write to another name",
                            made->name, found.journal);
    }
    return found.header_marked || found.attribute == ATTRIBUTE_SET
               ? message_fail("%s: its own transposition was stopped, and its journal is missing: find the journal, "
                              "or remove the file, or write to another name",
                              made->name)
               : 0;
}

/* Finds the final path, and room for the temporary one. */
static int draft_find_place(draft *made)
{
    made->place = system_real_path(made->name); /* resolves links */
    if (made->place == NULL && errno != ENOENT) {
        return message_fail("%s: %s", made->name, strerror(errno));
    }
    if (made->place == NULL && system_exists(made->name)) {
        return message_fail("%s: a link to a file that does not exist", made->name);
    }
    int code = made->place != NULL ? draft_check_replaced(made) : 0;
    if (made->place == NULL) {
        made->place = strdup(made->name);
    }
    made->path = made->place == NULL ? NULL : malloc(strlen(made->place) + DRAFT_NAME_SIZE);
    return code != 0 || made->path != NULL ? code : message_fail("%s: out of memory for its path", made->name);
}

int draft_begin(const char *name, int copied, draft *made)
{
    made->name = name;
    int code = draft_find_place(made);
    if (code != 0) {
        return code;
    }
    system_catch_stops(draft_stop);
    for (int i = 0; i < DRAFT_TRIES && made->descriptor < 0; i++) {
        draft_choose_path(made);
        made->descriptor = system_open_draft(made->path, &made->named);
        if (made->descriptor < 0 && errno != EEXIST) {
            break;
        }
    }
    if (made->descriptor < 0) {
        made->named = false;
        return message_fail("%s: %s", name, strerror(errno));
    }
    draft_path = made->named ? made->path : NULL;
    made->rights = system_find_rights(made->replaced, copied);
    return 0;
}

FILE *draft_stream(const draft *made)
{
    int copy = system_duplicate(made->descriptor);
    FILE *stream = copy < 0 ? NULL : system_stream(copy, "wb");
    if (stream == NULL && copy >= 0) {
        system_close(copy);
    }
    return stream;
}

/* Gives the draft its name, if it has none. */
static bool draft_take_name(draft *made)
{
    for (int i = 0; i < DRAFT_TRIES && !made->named; i++) {
        draft_choose_path(made);
        draft_path = made->path; /* set before: a stop during the next call finds the path */
        made->named = system_name_draft(made->descriptor, made->path);
        if (!made->named && errno != EEXIST) {
            break;
        }
    }
    return made->named;
}

/* Renames a complete draft to its final path. */
static bool draft_put(draft *made)
{
    if (!draft_take_name(made)) {
        return false;
    }
    system_give_rights(made->descriptor, &made->rights);
    bool closed = system_close(made->descriptor);
    made->descriptor = -1;
    if (!SYSTEM_REPLACES_OPEN && made->replaced >= 0) {
        system_close(made->replaced);
        made->replaced = -1;
    }
    return closed && system_rename(made->path, made->place);
}

int draft_end(draft *made, bool complete, int code)
{
    if (complete && !draft_put(made)) {
        code = message_fail("%s: %s", made->name, strerror(errno));
        complete = false;
    }
    if (made->descriptor >= 0) {
        system_close(made->descriptor);
    }
    if (!complete && made->named) {
        system_remove(made->path);
    }
    draft_path = NULL;
    if (made->replaced >= 0) {
        system_close(made->replaced);
    }
    free(made->path);
    free(made->place);
    return code;
}
