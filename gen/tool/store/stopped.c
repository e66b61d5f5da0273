#include "stopped.h"

#include "gen/tool/picture/netpbm.h"
#include "gen/tool/npy/npy.h"
#include "gen/tool/base/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#define STOPPED_ATTRIBUTE "user.ipt.journal" /* the mark's number in hexadecimal digits, and the journal's path */
#define STOPPED_TRIAL "user.ipt.trial"

enum { STOPPED_DIGITS = 16 };

uint64_t stopped_new_mark(void)
{
    return system_random() | 1;
}

#ifdef __linux__

static void stopped_read_attribute(int descriptor, stopped_file *found)
{
    char text[STOPPED_DIGITS + 1 + STOPPED_PATH_SIZE], *end;
    ssize_t length = fgetxattr(descriptor, STOPPED_ATTRIBUTE, text, sizeof text - 1);
    if (length < 0) {
        found->attribute = errno == ENODATA ? ATTRIBUTE_NONE : errno == ERANGE ? ATTRIBUTE_SET : ATTRIBUTE_UNKNOWN;
        return;
    }
    found->attribute = ATTRIBUTE_SET;
    text[length] = '\0';
    found->mark = strtoull(text, &end, 16);
    if (*end == ' ') {
        snprintf(found->noted_journal, sizeof found->noted_journal, "%s", end + 1);
        found->without_journal = end[1] == '\0';
    }
}

bool stopped_set_attribute(int descriptor, uint64_t mark, const char *journal_path)
{
    char text[STOPPED_DIGITS + 2 + STOPPED_PATH_SIZE];
    int length = snprintf(text, sizeof text, "%016llx %s", (unsigned long long)mark, journal_path);
    return fsetxattr(descriptor, STOPPED_ATTRIBUTE, text, (size_t)length, 0) == 0 ||
           fsetxattr(descriptor, STOPPED_ATTRIBUTE, text, STOPPED_DIGITS, 0) == 0; /* omits a long path */
}

bool stopped_keeps_attribute(int descriptor, const char *journal_path)
{
    char text[STOPPED_DIGITS + 2 + STOPPED_PATH_SIZE];
    int length = snprintf(text, sizeof text, "%016d %s", 0, journal_path);
    bool kept = fsetxattr(descriptor, STOPPED_TRIAL, text, (size_t)length, 0) == 0 ||
                fsetxattr(descriptor, STOPPED_TRIAL, text, STOPPED_DIGITS, 0) == 0;
    return kept && fremovexattr(descriptor, STOPPED_TRIAL) == 0;
}

bool stopped_clear_attribute(int descriptor)
{
    return fremovexattr(descriptor, STOPPED_ATTRIBUTE) == 0 || errno == ENODATA || errno == ENOTSUP;
}

#else

static void stopped_read_attribute(int descriptor, stopped_file *found)
{
    (void)descriptor;
    found->attribute = ATTRIBUTE_UNKNOWN;
}

bool stopped_set_attribute(int descriptor, uint64_t mark, const char *journal_path)
{
    (void)descriptor;
    (void)mark;
    (void)journal_path;
    return false;
}

bool stopped_keeps_attribute(int descriptor, const char *journal_path)
{
    (void)descriptor;
    (void)journal_path;
    return false;
}

bool stopped_clear_attribute(int descriptor)
{
    (void)descriptor;
    return true;
}

#endif

/* Whether a journal of any version names this inode. The device's number is ignored, because it may change; a journal
 * lies on the device of its file. A damaged journal does not count. */
static bool stopped_is_journal_of(const char *path, const stopped_file *file)
{
    struct {
        char magic[16];
        uint64_t head_bytes, inode, device, mark;
    } start;
    system_status status;
    int descriptor = system_open(path, SYSTEM_READ | SYSTEM_NO_LINK);
    bool good = descriptor >= 0 && system_status_of(descriptor, &status) && status.is_file &&
                system_read_at(descriptor, &start, sizeof start, 0) == (ptrdiff_t)sizeof start &&
                memcmp(start.magic, JOURNAL_MAGIC, JOURNAL_MAGIC_ANY) == 0;
    if (good && start.inode != file->inode) { /* perhaps written in the other byte order */
        start.inode = journal_reverse(start.inode);
        start.device = journal_reverse(start.device);
        start.mark = journal_reverse(start.mark);
    }
    good = good && start.inode == file->inode;
    if (good) {
        bool current = memcmp(start.magic, JOURNAL_MAGIC, sizeof start.magic) == 0;
        good = status.device == file->device || (current && start.device == file->device);
        good = good && (!current || file->attribute != ATTRIBUTE_SET || start.mark == file->mark);
    }
    if (descriptor >= 0) {
        system_close(descriptor);
    }
    return good;
}

static bool stopped_try(const char *path, stopped_file *file)
{
    if (*path == '\0' || !stopped_is_journal_of(path, file)) {
        return false;
    }
    snprintf(file->journal, sizeof file->journal, "%s", path);
    return true;
}

/* Searches the folder of a path for the file's journal. */
static bool stopped_look_beside(const char *path, stopped_file *file)
{
    char folder[STOPPED_PATH_SIZE], candidate[2 * STOPPED_PATH_SIZE];
    const char *slash = system_last_separator(path);
    snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1, slash == NULL ? "." : path);
    system_folder *stream = system_folder_open(folder);
    bool found = false;
    for (const char *name; stream != NULL && !found && (name = system_folder_next(stream)) != NULL;) {
        size_t length = strlen(name), suffix = strlen(JOURNAL_SUFFIX);
        if (length >= suffix && strcmp(name + length - suffix, JOURNAL_SUFFIX) == 0) {
            snprintf(candidate, sizeof candidate, "%s/%s", folder, name);
            found = strlen(candidate) < sizeof file->journal && stopped_try(candidate, file);
        }
    }
    if (stream != NULL) {
        system_folder_close(stream);
    }
    return found;
}

bool stopped_look(const char *path, int descriptor, const void *start, size_t available, stopped_file *found,
                  char *message)
{
    system_status status;
    memset(found, 0, sizeof *found);
    if (!system_status_of(descriptor, &status)) {
        return journal_fail(message, "%s", strerror(errno));
    }
    char *real = system_real_path(path);
    snprintf(found->real_path, sizeof found->real_path, "%s", real != NULL ? real : path); /* NULL: removed file */
    free(real);
    if (!journal_name(found->own_journal, sizeof found->own_journal, found->real_path, message)) {
        return false;
    }
    found->inode = status.number;
    found->device = status.device;
    found->header_marked = npy_is_marked(start, available);
    found->has_header = found->header_marked || netpbm_begins(start, available) ||
                        (available >= NPY_MAGIC_SIZE && memcmp(start, NPY_MAGIC, NPY_MAGIC_SIZE) == 0);
    stopped_read_attribute(descriptor, found);
    if (!stopped_try(found->noted_journal, found) && !stopped_try(found->own_journal, found) &&
        !stopped_look_beside(found->real_path, found)) {
        stopped_look_beside(path, found); /* the path may be a link */
    }
    found->other = found->journal[0] == '\0' && system_exists(found->own_journal);
    return true;
}

left_state stopped_judge(const stopped_file *file, const journal *opened)
{
    uint64_t marks = opened->head->job.marks;
    bool unmarked = (marks & MARK_HEADER) != 0 ? !file->header_marked
                                               : (marks & MARK_ATTRIBUTE) != 0 && file->attribute == ATTRIBUTE_NONE;
    bool began = opened->marked || opened->ready > 0;
    return opened->ended ? LEFT_ENDED : !unmarked ? LEFT_STOPPED : began ? LEFT_STALE : LEFT_NOT_BEGUN;
}
