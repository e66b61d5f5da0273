/* Marks on a file, set before its first byte changes and removed after the last change. */
#include "stored.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/npy/npy.h"
#include "gen/tool/base/system.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int stored_mark(stored_work *work)
{
    matrix_file *file = work->file;
    const char *journal_path = work->has_journal ? work->journal.path : "";
    int error = 0;
    if ((work->marks & MARK_ATTRIBUTE) != 0 && !stopped_set_attribute(file->descriptor, work->mark, journal_path)) {
        error = errno;
    }
    if (error == 0 && (work->marks & MARK_HEADER) != 0) {
        error = file_transfer(file, NPY_MARK, 0, NPY_MAGIC_SIZE, true);
        memcpy(file->start, file->before, NPY_MAGIC_SIZE);
        memcpy(file->before, NPY_MARK, NPY_MAGIC_SIZE);
        /* The mark reaches the disk before any data, so that tools refuse the file after a power failure, too. */
        system_write_out(file->descriptor, 0, NPY_MAGIC_SIZE, true);
    }
    if (error == 0 && work->sync && !system_flush(file->descriptor)) {
        error = errno;
    }
    if (error != 0) {
        return message_fail("%s: could not mark the file: %s", file->path, file_transfer_error(error));
    }
    char message[JOURNAL_MESSAGE_SIZE];
    if (work->has_journal && !journal_note_marks(&work->journal, true, message)) {
        return message_fail("%s: its journal: %s", file->path, message);
    }
    return 0;
}

void stored_leave_as_it_was(stored_work *work)
{
    matrix_file *file = work->file;
    int error = 0;
    char message[JOURNAL_MESSAGE_SIZE];
    if (work->is_copy) {
        return;
    }
    if (work->has_journal && !journal_note_marks(&work->journal, false, message)) {
        message_fail("%s: its journal: %s", file->path, message);
    }
    /* If a stop came before the mark, there are no saved bytes to write back. */
    if ((work->marks & MARK_HEADER) != 0 && file->start[0] != '\0') {
        error = file_transfer(file, file->start, 0, NPY_MAGIC_SIZE, true);
    }
    if (error == 0 && !stopped_clear_attribute(file->descriptor)) {
        error = errno;
    }
    if (error != 0) {
        message_fail("%s: its data is unchanged, but its mark could not be removed: %s", file->path,
                     file_transfer_error(error));
        return;
    }
    message_warn("%s: the file is unchanged", file->path);
    if (work->has_journal) {
        journal_close(&work->journal, true);
        work->has_journal = false;
    }
}

int stored_finish(stored_work *work)
{
    matrix_file *file = work->file;
    char message[JOURNAL_MESSAGE_SIZE];
    if (work->has_journal && !work->journal.ended && !journal_end(&work->journal, file->descriptor, message)) {
        return message_fail("%s: its journal: %s", file->path, message);
    }
    int error = file_write_header(file);
    if (error == 0 && !stopped_clear_attribute(file->descriptor)) {
        error = errno;
    }
    if (error == 0 && work->sync && !system_flush(file->descriptor)) {
        error = errno;
    }
    if (error != 0) {
        return message_fail("%s: writing its header failed: %s%s", file->path, file_transfer_error(error),
                            work->has_journal ? ": 'ipt transpose --resume' tries again" : "");
    }
    if (work->has_journal) {
        journal_close(&work->journal, true);
        work->has_journal = false;
    }
    bool closed = system_close(file->descriptor);
    file->descriptor = -1;
    return closed ? 0 : message_fail("%s: closing it failed, and it may be damaged: %s", file->path, strerror(errno));
}
