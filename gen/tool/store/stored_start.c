/* The start of the work: a plan within --memory, the journal, the marks. */
#include "stored.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/npy/npy.h"
#include "gen/tool/base/setup.h"
#include "gen/tool/base/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_MEMORY ((size_t)1 << 16) /* the least memory for the matrix */
#define ENOUGH_MEMORY ((size_t)64 << 20)
#define SPARE_MEMORY ((size_t)16 << 20)   /* allowance for programs, threads and other later allocations */
#define PINNED_MEMORY ((size_t)200 << 20) /* pinned transfer buffers of three plans, on GPUs */

/* Creates the plan. Its limit is --memory minus the memory of the program and OpenCL before the plan: the memory of
 * OpenCL's compiler, which only uncached programs need, must not change the plan. Tests set the limit by
 * --matrix-memory. */
static int make_stored_plan(const file_task *task, ipt_context *context, stored_work *work)
{
    const size_t spare = SPARE_MEMORY + (setup_is_cpu(context) ? 0 : PINNED_MEMORY);
    const size_t taken = system_resident_bytes() + spare;
    if (task->matrix_memory == 0 && task->memory <= taken + LEAST_MEMORY) {
        return message_fail("%s: --memory allows %zu bytes, of which OpenCL and the program take %zu: try %zu",
                            work->file->path, task->memory, taken, taken + ENOUGH_MEMORY);
    }
    work->desc.max_host_memory = task->matrix_memory != 0 ? task->matrix_memory : task->memory - taken;
    return ipt_plan_create(context, &work->desc, &work->plan) == IPT_SUCCESS ? 0 : message_fail_ipt(work->file->path);
}

journal_job stored_describe(const stored_work *work)
{
    journal_job job = {0};
    const ipt_plan_desc *desc = &work->desc;
    job.inode = work->stopped.inode;
    job.device = work->stopped.device;
    job.mark = work->mark;
    job.marks = work->marks;
    if (strlen(work->stopped.real_path) < sizeof job.file) {
        snprintf(job.file, sizeof job.file, "%s", work->stopped.real_path);
    }
    job.file_size = work->file->size;
    job.data_offset = work->file->data_offset;
    job.rows = desc->rows;
    job.cols = desc->cols;
    job.rank = desc->rank;
    for (unsigned i = 0; i < desc->rank; i++) {
        job.lengths[i] = desc->shape[i];
        job.axes[i] = desc->axes[i];
    }
    job.elem_size = desc->elem_size;
    job.batch = desc->batch;
    job.move = (uint64_t)desc->move;
    job.ipt_version = IPT_VERSION;
    if (desc->expression != NULL) {
        snprintf(job.expression, sizeof job.expression, "%s", desc->expression);
        snprintf(job.expression_type, sizeof job.expression_type, "%s", desc->expression_type);
    }
    return job;
}

/* Creates the journal. It must exist before the file has its marks. */
static int begin_journal(stored_work *work)
{
    const matrix_file *file = work->file;
    char message[JOURNAL_MESSAGE_SIZE];
    journal_job job = stored_describe(work);
    job.host_memory = work->desc.max_host_memory;
    job.memory_bytes = ipt_plan_storage_memory(work->plan);
    job.steps = ipt_plan_storage_steps(work->plan);
    if (work->desc.expression != NULL && (strcmp(job.expression, work->desc.expression) != 0 ||
                                          strcmp(job.expression_type, work->desc.expression_type) != 0)) {
        return message_fail(
            "%s: --expression or --type is too long for the journal: at most %d bytes, or use --no-journal", file->path,
            JOURNAL_TEXT_SIZE - 1);
    }
    const void *const headers[] = {file->before, file->after};
    stored_catch_stops();
    if (!journal_create(&work->journal, work->stopped.own_journal, &job, headers, work->sync, message)) {
        return message_fail("%s: %s", file->path, message);
    }
    int code = stored_sample_take(work);
    work->has_journal = code == 0;
    if (code != 0) {
        journal_close(&work->journal, true);
    }
    return code;
}

/* Transposes the data of a file whose header has been read. */
static int begin_work(const file_task *task, stored_work *work)
{
    matrix_file *file = work->file;
    ipt_context *context;
    setup_shape(&work->desc, &file->shape);
    setup_expression(&work->desc, file->expression, file->expression_type);
    work->desc.batch = file->batch;
    work->desc.move = file_inner_move(task, file);
    work->mark = stopped_new_mark();
    int code = setup_context(&task->context, file->path, &context);
    if (code == 0) {
        code = make_stored_plan(task, context, work);
    }
    if (code == 0) {
        work->marks = (file->kind == FILE_RAW ? 0 : MARK_HEADER) |
                      (stopped_keeps_attribute(file->descriptor, work->stopped.own_journal) ? MARK_ATTRIBUTE : 0);
    }
    if (work->is_copy) {
        work->marks = 0; /* a stop removes the copy */
    }
    if (code == 0 && !task->no_journal && !work->is_copy) {
        code = begin_journal(work);
    }
    if (code == 0) {
        code = stored_mark(work);
        if (code != 0) {
            stored_leave_as_it_was(work);
        }
    }
    if (code == 0) {
        code = stored_do_steps(work);
    }
    ipt_plan_destroy(work->plan);
    ipt_context_destroy(context);
    return code;
}

int stored_start(const file_task *task, stored_work *work, bool *data_moves)
{
    matrix_file *file = work->file;
    int code = file->kind == FILE_RAW ? file_measure_raw(task, file) : file_read_header(task, file);
    if (code == 0) {
        code = file_choose_expression(task, file);
    }
    if (code == 0) {
        code = file_prepare_header(task, file);
    }
    if (code != 0) {
        return code;
    }
    file_warn_of_channels(task, file);
    *data_moves = file_data_moves(task, file);
    return *data_moves ? begin_work(task, work) : 0;
}
