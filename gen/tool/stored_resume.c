/* Work that was stopped: whether there is any, whose it is, and the rest of it. */
#include "stored.h"
#include "messages.h"
#include "setup.h"

#include <stdlib.h>
#include <string.h>

/* Tells that no journal is found for --resume, or for a file that has a mark. */
static int fail_without_journal(const stored_work *work, bool marked)
{
    const stopped_file *found = &work->stopped;
    const char *path = work->file->path;
    const char *attributed =
        marked && !found->header_marked ? ". If its content has been replaced since, copy it: a copy has no mark" : "";
    if (marked && found->without_journal) {
        return message_fail("%s: it is half transposed, and lost: it was stopped without a journal%s", path,
                            attributed);
    }
    if (marked) {
        return message_fail(
            "%s: it is half transposed, and no journal of it is found, neither %s nor another one beside it. "
            "Move the journal there, or go on with the original if this is a copy%s",
            path, found->noted_journal[0] != '\0' ? found->noted_journal : found->own_journal, attributed);
    }
    if (found->attribute == ATTRIBUTE_NONE || found->has_header) {
        return message_fail("%s: there is no journal of it, and it has no mark of a transposition that was stopped",
                            path);
    }
    return message_fail(
        "%s: there is no journal of it, neither %s nor another one beside it. This file system keeps no marks, "
        "so that it is unknown whether the file is half transposed",
        path, found->own_journal);
}

/* Tells that something else lies where the journal would. */
static int fail_with_other(const stored_work *work)
{
    const stopped_file *found = &work->stopped;
    const char *path = work->file->path;
    char message[JOURNAL_MESSAGE_SIZE];
    journal other;
    if (!journal_open(&other, found->own_journal, false, message)) {
        return message_fail("%s: the place of its journal is taken: %s: remove it", path, message);
    }
    const char *name = other.head->job.file;
    int code =
        message_fail("%s: %s is the journal of another file%s%s, which was moved away or replaced. Go on with that one "
                     "by 'ipt transpose --resume', or remove the journal if that one is gone",
                     path, found->own_journal, *name != '\0' ? ", once " : "", name);
    journal_close(&other, false);
    return code;
}

/* Tells that a journal is older than its file. */
static int fail_stale(const stored_work *work, const char *place)
{
    return message_fail(
        "%s: it has no mark of the transposition that %s tells of: that one has ended, or the file has been "
        "replaced. Remove the journal if you know that the file is whole",
        work->file->path, place);
}

/* Tells what a file's journal says, to those who did not ask for --resume. */
static int fail_with_journal(const stored_work *work)
{
    const char *path = work->file->path, *place = work->stopped.journal, *dashes = stored_before_name(path);
    char message[JOURNAL_MESSAGE_SIZE];
    journal left;
    if (!journal_open(&left, place, false, message)) {
        return message_fail("%s: its transposition was stopped in the middle, but %s", path, message);
    }
    left_state state = stopped_judge(&work->stopped, &left);
    journal_close(&left, false);
    switch (state) {
    case LEFT_NOT_BEGUN:
        return message_fail("%s: its transposition was stopped before it changed anything, as %s tells: 'ipt transpose "
                            "--resume %s%s' goes on with it, or remove the journal",
                            path, place, dashes, path);
    case LEFT_ENDED:
        return message_fail("%s: its transposition has ended, but %s is left: 'ipt transpose --resume %s%s' removes it",
                            path, place, dashes, path);
    case LEFT_STALE:
        return fail_stale(work, place);
    default:
        return message_fail(
            "%s: its transposition was stopped in the middle, as %s tells: 'ipt transpose --resume %s%s' goes "
            "on with it",
            path, place, dashes, path);
    }
}

/* Whether each byte of the header is one of before, after and, at its beginning, the mark. */
static bool header_fits(const matrix_file *file, const journal *opened)
{
    for (size_t i = 0; i < file->data_offset; i++) {
        unsigned char byte = (unsigned char)file->before[i];
        bool mark = i < NPY_MAGIC_SIZE && byte == (unsigned char)NPY_MARK[i];
        if (!mark && byte != opened->before[i] && byte != opened->after[i]) {
            return false;
        }
    }
    return true;
}

/* Checks that an open journal is this file's, and reads the file's header. */
static int check_journal(stored_work *work, const char *place)
{
    matrix_file *file = work->file;
    const journal_job *job = &work->journal.head->job;
    file->data_offset = (size_t)job->data_offset;
    if (job->ipt_version != IPT_VERSION) {
        return message_fail("%s: %s is of ipt %d.%d.%d, which has to go on itself", file->path, place,
                            (int)(job->ipt_version / 10000), (int)(job->ipt_version / 100 % 100),
                            (int)(job->ipt_version % 100));
    }
    if (work->stopped.journal[0] == '\0' || job->file_size != file->size || file->data_offset > file->size) {
        return message_fail("%s: %s is the journal of another file%s%s: a copy cannot go on in its place", file->path,
                            place, job->file[0] != '\0' ? ", once " : "", job->file);
    }
    int code = file_read_beginning(file, &file->before);
    if (code == 0 && !header_fits(file, &work->journal)) {
        code = message_fail("%s: %s is the journal of another file, with another header", file->path, place);
    }
    if (code == 0 && stopped_judge(&work->stopped, &work->journal) == LEFT_STALE) {
        code = fail_stale(work, place);
    }
    return code;
}

/* Checks everything in an open journal that is needed to go on. */
static int check_pieces(const stored_work *work)
{
    const journal *its = &work->journal;
    char message[JOURNAL_MESSAGE_SIZE];
    for (size_t step = 0; step < its->ready; step++) {
        if (ipt_plan_storage_needs(work->plan, step, (size_t)its->ready) && !journal_check_piece(its, step, message)) {
            return message_fail("%s: %s", work->file->path, message);
        }
    }
    return 0;
}

/* Does the rest of the steps that an open journal tells of. */
static int resume_steps(const arguments *given, stored_work *work, const char *place)
{
    const matrix_file *file = work->file;
    const journal_job *job = &work->journal.head->job;
    ipt_context *context = NULL;
    work->desc.max_host_memory = (size_t)job->host_memory;
    work->desc.move = (ipt_move)job->move;
    if (job->expression[0] != '\0') {
        work->desc.expression = job->expression;
        work->desc.expression_type = job->expression_type;
    }
    int code = setup_context(given, file->path, &context);
    if (code == 0 && ipt_plan_create(context, &work->desc, &work->plan) != IPT_SUCCESS) {
        code = message_fail_ipt(file->path);
    }
    if (code == 0 && (ipt_plan_storage_memory(work->plan) != job->memory_bytes ||
                      ipt_plan_storage_steps(work->plan) != job->steps)) {
        code = message_fail("%s: %s is of another version of ipt, which has to go on itself", file->path, place);
    }
    if (code == 0) {
        code = check_pieces(work);
    }
    if (code == 0 && stopped_judge(&work->stopped, &work->journal) == LEFT_NOT_BEGUN) {
        code = stored_mark(work);
    }
    if (code == 0) {
        code = stored_do_steps(work);
    }
    ipt_plan_destroy(work->plan);
    ipt_context_destroy(context);
    return code;
}

int stored_resume(const arguments *given, stored_work *work)
{
    matrix_file *file = work->file;
    const stopped_file *found = &work->stopped;
    char message[JOURNAL_MESSAGE_SIZE];
    const char *place = found->journal[0] != '\0' ? found->journal : found->own_journal;
    if (found->journal[0] == '\0' && !found->other) {
        return fail_without_journal(work, found->header_marked || found->attribute == ATTRIBUTE_SET);
    }
    if (!journal_open(&work->journal, place, given->sync, message)) {
        return message_fail("%s: %s", file->path, message);
    }
    const journal_job *job = &work->journal.head->job;
    work->has_journal = true;
    work->mark = job->mark;
    work->marks = job->marks;
    int code = check_journal(work, place);
    if (code != 0) {
        return code;
    }
    file->after = malloc(file->data_offset + 1);
    if (file->after == NULL) {
        return message_fail("%s: out of memory", file->path);
    }
    memcpy(file->after, work->journal.after, file->data_offset);
    file->shape.rows = work->desc.rows = (size_t)job->rows;
    file->shape.cols = work->desc.cols = (size_t)job->cols;
    file->shape.elem_size = work->desc.elem_size = (size_t)job->elem_size;
    file->batch = work->desc.batch = (size_t)job->batch;
    return work->journal.ended ? 0 : resume_steps(given, work, place);
}

int stored_look_at_marks(const arguments *given, stored_work *work)
{
    matrix_file *file = work->file;
    stopped_file *found = &work->stopped;
    char start[NPY_START_SIZE], message[JOURNAL_MESSAGE_SIZE];
    size_t available = file->size < sizeof start ? file->size : sizeof start;
    int error = file_transfer(file, start, 0, available, false);
    if (error != 0) {
        return message_fail("%s: reading failed: %s", file->path, file_transfer_error(error));
    }
    if (!stopped_look(file->path, file->descriptor, start, available, found, message)) {
        return message_fail("%s: %s", file->path, message);
    }
    if (given->resume) {
        return 0;
    }
    bool marked = given->raw ? found->attribute == ATTRIBUTE_SET : found->header_marked;
    return found->journal[0] != '\0' ? fail_with_journal(work)
           : marked                  ? fail_without_journal(work, true)
           : found->other            ? fail_with_other(work)
                                     : 0;
}
