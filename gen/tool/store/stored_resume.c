/* Finds, checks and resumes a stopped transposition. */
#include "stored.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/base/setup.h"

#include <stdlib.h>
#include <string.h>

/* Reports that no journal exists for --resume, or for a marked file. */
static int fail_without_journal(const stored_work *work, bool marked)
{
    const stopped_file *found = &work->stopped;
    const char *path = work->file->path;
    const char *attributed = marked && !found->header_marked
                                 ? ". If you have replaced its content since, copy the file: a copy has no mark"
                                 : "";
    if (marked && found->without_journal) {
        return message_fail("%s: half transposed and lost: its transposition was stopped without a journal%s", path,
                            attributed);
    }
    if (marked) {
        return message_fail(
            "%s: half transposed, and its journal is missing, neither %s nor another one in the file's folder. "
            "Move the journal there, or resume the original if this file is a copy%s",
            path, found->noted_journal[0] != '\0' ? found->noted_journal : found->own_journal, attributed);
    }
    if (found->attribute == ATTRIBUTE_NONE || found->has_header) {
        return message_fail("%s: nothing to resume: the file has no journal, and no mark of a stopped transposition",
                            path);
    }
    return message_fail(
        "%s: nothing to resume: the file has no journal, neither %s nor another one in its folder. The file may be "
        "half transposed: this file system keeps no marks",
        path, found->own_journal);
}

/* Reports that another file occupies the path of the journal. */
static int fail_with_other(const stored_work *work)
{
    const stopped_file *found = &work->stopped;
    const char *path = work->file->path;
    char message[JOURNAL_MESSAGE_SIZE];
    journal other;
    if (!journal_open(&other, found->own_journal, false, message)) {
        return message_fail("%s: another file occupies the path of its journal: %s. Rename or remove it", path,
                            message);
    }
    const char *name = other.head->job.file;
    int code =
        message_fail("%s: %s is the journal of another file%s%s, which was moved away or replaced. Resume that file "
                     "with 'ipt transpose --resume', or remove the journal if that file no longer exists",
                     path, found->own_journal, *name != '\0' ? ", formerly " : "", name);
    journal_close(&other, false);
    return code;
}

/* Reports that a journal is older than its file. */
static int fail_stale(const stored_work *work, const char *place)
{
    return message_fail(
        "%s: it has no mark of the transposition in %s: the transposition has ended, or the file was replaced. "
        "Remove the journal if the file is whole",
        work->file->path, place);
}

/* Whether each byte of the header equals the old header's, the new header's or the mark's byte. */
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

/* Checks that an open journal belongs to this file, and reads the file's header. */
static int check_journal(stored_work *work, const char *place)
{
    matrix_file *file = work->file;
    const journal_job *job = &work->journal.head->job;
    file->data_offset = (size_t)job->data_offset;
    if (job->ipt_version != IPT_VERSION) {
        return message_fail("%s: ipt %d.%d.%d wrote %s: resume with that version", file->path,
                            (int)(job->ipt_version / 10000), (int)(job->ipt_version / 100 % 100),
                            (int)(job->ipt_version % 100), place);
    }
    if (job->host_memory > SIZE_MAX) {
        return message_fail("%s: a program of 64 bits wrote %s: resume with such a program", file->path, place);
    }
    if (work->stopped.journal[0] == '\0' || job->data_offset > job->file_size) {
        return message_fail("%s: %s is the journal of another file%s%s: resume that file, not a copy", file->path,
                            place, job->file[0] != '\0' ? ", formerly " : "", job->file);
    }
    if (file->size < job->file_size) {
        return message_fail("%s: it had %llu bytes when its transposition stopped (journal %s) and has %zu: a part of "
                            "it is lost, and no resumption can finish it",
                            file->path, (unsigned long long)job->file_size, place, file->size);
    }
    if (file->size > job->file_size) {
        return message_fail("%s: it had %llu bytes when its transposition stopped (journal %s) and has %zu. If bytes "
                            "were only added to its end, remove them (truncate -s %llu), then resume it",
                            file->path, (unsigned long long)job->file_size, place, file->size,
                            (unsigned long long)job->file_size);
    }
    int code = file_read_beginning(file, &file->before);
    if (code == 0 && (job->marks & MARK_HEADER) != 0) {
        if (file->data_offset < NPY_MAGIC_SIZE) {
            return message_fail("%s: %s is damaged: its header is too short for a mark", file->path, place);
        }
        memcpy(file->start, work->journal.before, NPY_MAGIC_SIZE);
    }
    if (code == 0 && !header_fits(file, &work->journal)) {
        code = message_fail("%s: %s is the journal of another file: the headers differ", file->path, place);
    }
    if (code == 0 && stopped_judge(&work->stopped, &work->journal) == LEFT_STALE) {
        code = fail_stale(work, place);
    }
    return code != 0 || work->journal.ended ? code : stored_sample_check(work, place);
}

/* Reports the stopped transposition in a file's journal, without --resume. Advises to resume only if a resumption would
 * begin. */
static int fail_with_journal(stored_work *work)
{
    const char *path = work->file->path, *place = work->stopped.journal, *dashes = stored_before_name(path);
    char message[JOURNAL_MESSAGE_SIZE];
    if (!journal_open(&work->journal, place, false, message)) {
        return message_fail("%s: its transposition was stopped, and its journal is unusable: %s", path, message);
    }
    const journal *left = &work->journal;
    const bool has_no_result = left->head->job.host_memory == STORED_RESULT && left->ready < left->head->job.steps;
    const left_state state = stopped_judge(&work->stopped, left);
    int code = check_journal(work, place);
    journal_close(&work->journal, false);
    if (code != 0) {
        return code;
    }
    if (state == LEFT_ENDED) {
        return message_fail(
            "%s: its transposition has ended, but its journal remains (%s): 'ipt transpose --resume %s%s' removes it",
            path, place, dashes, path);
    }
    if (has_no_result) {
        return message_fail("%s: its transposition was stopped before it changed any data (journal %s): 'ipt transpose "
                            "--resume %s%s' removes the journal, then start again",
                            path, place, dashes, path);
    }
    if (state == LEFT_NOT_BEGUN) {
        return message_fail("%s: its transposition was stopped before it changed anything (journal %s): 'ipt transpose "
                            "--resume %s%s' continues it, or remove the journal",
                            path, place, dashes, path);
    }
    return message_fail("%s: its transposition was stopped in the middle (journal %s): 'ipt transpose --resume %s%s' "
                        "continues it",
                        path, place, dashes, path);
}

/* Checks all pieces of an open journal that the remaining steps need. */
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

/* Executes the remaining steps of an open journal. */
static int resume_steps(const file_task *task, stored_work *work, const char *place)
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
    int code = setup_context(&task->context, file->path, &context);
    if (code == 0 && ipt_plan_create(context, &work->desc, &work->plan) != IPT_SUCCESS) {
        code = message_fail_ipt(file->path);
    }
    if (code == 0 && (ipt_plan_storage_memory(work->plan) != job->memory_bytes ||
                      ipt_plan_storage_steps(work->plan) != job->steps)) {
        code = message_fail("%s: another version of ipt wrote %s: resume with that version", file->path, place);
    }
    if (code == 0) {
        code = check_pieces(work);
    }
    if (code == 0) {
        code = stored_sample_take(work);
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

/* Finishes a file whose journal has the whole result, by copying the result. An incomplete result was not used yet. */
static int resume_result(stored_work *work)
{
    const matrix_file *file = work->file;
    const journal *its = &work->journal;
    char message[JOURNAL_MESSAGE_SIZE];
    if (its->ready < its->head->job.steps) {
        stored_leave_as_it_was(work);
        return message_fail("%s: its transposition was stopped before it changed any data: start it again", file->path);
    }
    for (uint64_t step = 0; step < its->ready; step++) {
        if (!journal_check_piece(its, step, message)) {
            return message_fail("%s: %s", file->path, message);
        }
    }
    int error = file_transfer(file, its->memory, file->data_offset, (size_t)its->head->job.memory_bytes, true);
    return error == 0 ? 0 : message_fail("%s: writing failed: %s", file->path, file_transfer_error(error));
}

int stored_resume(const file_task *task, stored_work *work)
{
    matrix_file *file = work->file;
    const stopped_file *found = &work->stopped;
    char message[JOURNAL_MESSAGE_SIZE];
    const char *place = found->journal[0] != '\0' ? found->journal : found->own_journal;
    if (found->journal[0] == '\0' && journal_clear_unfinished(found->own_journal)) {
        return message_fail("%s: its transposition was stopped before it changed anything: start it again", file->path);
    }
    if (found->journal[0] == '\0' && !found->other) {
        return fail_without_journal(work, found->header_marked || found->attribute == ATTRIBUTE_SET);
    }
    if (!journal_open(&work->journal, place, task->sync, message)) {
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
    file->moves_axes = job->rank > 0;
    file->shape.array.rank = work->desc.rank = (unsigned)job->rank;
    for (unsigned i = 0; i < IPT_MAX_RANK; i++) {
        file->shape.array.lengths[i] = work->desc.shape[i] = (size_t)job->lengths[i];
        file->shape.array.axes[i] = work->desc.axes[i] = (unsigned)job->axes[i];
    }
    file->shape.elem_size = work->desc.elem_size = (size_t)job->elem_size;
    file->batch = work->desc.batch = (size_t)job->batch;
    return work->journal.ended                 ? 0
           : job->host_memory == STORED_RESULT ? resume_result(work)
                                               : resume_steps(task, work, place);
}

int stored_look_at_marks(const file_task *task, stored_work *work)
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
    if (task->resume) {
        return 0;
    }
    if (found->other && journal_clear_unfinished(found->own_journal)) {
        found->other = false;
    }
    bool marked = task->raw ? found->attribute == ATTRIBUTE_SET : found->header_marked;
    return found->journal[0] != '\0' ? fail_with_journal(work)
           : marked                  ? fail_without_journal(work, true)
           : found->other            ? fail_with_other(work)
                                     : 0;
}
