/* Each rank reads its rows, the ranks move them in memory, and each writes its rows of the result. Before the
 * first byte of the file changes, the journal holds the whole result: one process finishes a stopped file by copying
 * it. */
#include "ranks.h"
#include "gen/tool/base/messages.h"

#ifndef IPT_MPI

int ranks_transpose(const file_task *task)
{
    return message_fail("%s: --mpi needs a build with MPI: 'make mpi' builds build/mpi/ipt", task->path);
}

#else

#include "gen/tool/base/seconds.h"
#include "gen/tool/base/setup.h"
#include "stored.h"
#include "gen/tool/base/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_SIGNAL = 128 };

/* The task that rank 0 sends to the other ranks. */
typedef struct ranks_task {
    size_t data_offset, bytes; /* bytes: of the data */
    matrix_shape shape;
    size_t journal_offset;       /* of the result in the journal */
    uint64_t file, journal_file; /* numbers that identify both files, because names may change */
    bool data_moves;
    char journal[4096]; /* its path; "": none */
} ranks_task;

/* This rank's part of the work. */
typedef struct ranks_part {
    int rank, count;
    stored_work *work; /* complete on rank 0; on other ranks only the file's path and descriptor */
    ranks_task task;
    ipt_context *context;
    ipt_mpi_plan *plan;
    ipt_mpi_share share;
    char *block;
} ranks_part;

/* The largest of the ranks' exit codes; 0 if all are 0. */
static int agree(int code)
{
    int worst = code;
    MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

/* Agrees on the exit code and on a request to stop, which ends the work only before the file changes. */
static int agree_to_stop(int code)
{
    return agree(code == 0 && stored_stop_signal() != 0 ? EXIT_SIGNAL + stored_stop_signal() : code);
}

/* Opens a file that rank 0 has opened, and checks that it has the same number. */
static int open_same(const ranks_part *part, const char *path, uint64_t number, unsigned how, int *descriptor)
{
    system_status status;
    *descriptor = system_open(path, SYSTEM_READ | SYSTEM_WRITE | how);
    if (*descriptor < 0 || !system_status_of(*descriptor, &status)) {
        return message_fail("%s: rank %d: %s", path, part->rank, strerror(errno));
    }
    return status.number == number ? 0 : message_fail("%s: rank %d finds another file there", path, part->rank);
}

/* Refuses options that only one process supports. */
static int check_options(const file_task *task)
{
    if (task->beside_ranks != NULL) {
        return message_usage_error("--mpi does not go with %s: ranks move one matrix or array", task->beside_ranks);
    }
    return task->resume ? message_usage_error("--resume does not go with --mpi: one process finishes the file") : 0;
}

/* Rank 0: opens the file, and reads the task for the other ranks. */
static int read_task(const file_task *task, ranks_part *part)
{
    stored_work *const work = part->work;
    matrix_file *const file = work->file;
    int code = check_options(task);
    code = code == 0 ? file_open(file, true) : code;
    code = code == 0 ? stored_look_at_marks(task, work) : code;
    code = code == 0 ? file_recognise(task, file) : code;
    code = code != 0 ? code : file->kind == FILE_RAW ? file_measure_raw(task, file) : file_read_header(task, file);
    code = code == 0 ? file_prepare_header(task, file) : code;
    if (code == 0 && file->batch > 1) {
        code = message_fail("%s: --mpi moves one matrix or array, and the file has %zu: --axes moves several as one",
                            file->path, file->batch);
    }
    part->task.file = work->stopped.inode;
    part->task.data_offset = file->data_offset;
    part->task.bytes = file->size - file->data_offset;
    part->task.shape = file->shape;
    part->task.shape.opencl_type = NULL; /* of this process */
    part->task.data_moves = code == 0 && file_data_moves(task, file);
    return code;
}

/* The desc of the ranks' plan. */
static ipt_mpi_desc describe(const ranks_task *task)
{
    ipt_plan_desc whole = {0};
    ipt_mpi_desc desc = {0};
    setup_shape(&whole, &task->shape);
    desc.rows = whole.rows;
    desc.cols = whole.cols;
    desc.elem_size = whole.elem_size;
    desc.rank = whole.rank;
    memcpy(desc.shape, whole.shape, sizeof desc.shape);
    memcpy(desc.axes, whole.axes, sizeof desc.axes);
    return desc;
}

/* Bytes of a row in the file, before or after. */
static size_t row_bytes(const ranks_task *task, bool after)
{
    const axes_move *const array = &task->shape.array;
    return task->bytes / (array->rank > 0 ? array->lengths[after ? array->axes[0] : 0]
                          : after         ? task->shape.cols
                                          : task->shape.rows);
}

/* Makes the plan, within --memory. */
static int make_plan(const file_task *task, ranks_part *part)
{
    const ipt_mpi_desc desc = describe(&part->task);
    int code = setup_context(&task->context, part->work->file->path, &part->context);
    if (code == 0 && ipt_mpi_share_of(&desc, part->count, part->rank, &part->share) != IPT_SUCCESS) {
        code = message_fail_ipt(part->work->file->path);
    }
    if (agree(code) != 0) {
        return 1;
    }
    const size_t needed = system_resident_bytes() + part->share.bytes; /* before compiling, as in stored_start.c */
    if (ipt_mpi_plan_create(part->context, MPI_COMM_WORLD, &desc, &part->plan) != IPT_SUCCESS) {
        return part->rank == 0 ? message_fail_ipt(part->work->file->path) : 1;
    }
    if (needed > task->memory) {
        code =
            message_fail("%s: rank %d needs %zu bytes, of which its rows take %zu, and --memory allows %zu: use more "
                         "ranks or more memory",
                         part->work->file->path, part->rank, needed, part->share.bytes, task->memory);
    }
    if (code == 0 && part->share.bytes > 0) {
        part->block = malloc(part->share.bytes);
        code =
            part->block != NULL ? 0 : message_fail("%s: out of memory for rank %d", part->work->file->path, part->rank);
    }
    return agree(code);
}

/* Rank 0: creates the journal, whose memory has room for the result. */
static int begin_journal(const file_task *task, ranks_part *part)
{
    stored_work *const work = part->work;
    const matrix_file *const file = work->file;
    const void *const headers[] = {file->before, file->after};
    char message[JOURNAL_MESSAGE_SIZE];
    journal_job job = {0};
    system_status status;
    int code = 0;
    work->mark = stopped_new_mark();
    work->marks = (file->kind == FILE_RAW ? 0 : MARK_HEADER) |
                  (stopped_keeps_attribute(file->descriptor, work->stopped.own_journal) ? MARK_ATTRIBUTE : 0);
    if (task->no_journal) {
        return 0;
    }
    setup_shape(&work->desc, &part->task.shape);
    job = stored_describe(work);
    job.batch = 1;
    job.host_memory = STORED_RESULT;
    job.memory_bytes = part->task.bytes;
    job.steps = (uint64_t)part->count;
    if (!journal_create(&work->journal, work->stopped.own_journal, &job, headers, work->sync, message)) {
        return message_fail("%s: %s", file->path, message);
    }
    code = stored_sample_take(work);
    if (code != 0 || !system_status_of(work->journal.descriptor, &status)) {
        journal_close(&work->journal, true);
        return 1;
    }
    work->has_journal = true;
    part->task.journal_file = status.number;
    part->task.journal_offset = (size_t)(work->journal.memory - work->journal.mapped);
    snprintf(part->task.journal, sizeof part->task.journal, "%s", work->journal.path);
    return 0;
}

/* Writes this rank's rows of the result to a file. */
static int write_result(const ranks_part *part, int descriptor, const char *path, size_t offset, bool sync)
{
    matrix_file to = {0};
    to.descriptor = descriptor;
    const size_t row = row_bytes(&part->task, true);
    const int error =
        file_transfer(&to, part->block, offset + part->share.first_row_out * row, part->share.rows_out * row, true);
    if (error != 0) {
        return message_fail("%s: rank %d: writing failed: %s", path, part->rank, file_transfer_error(error));
    }
    return sync && !system_flush(descriptor)
               ? message_fail("%s: rank %d: writing failed: %s", path, part->rank, strerror(errno))
               : 0;
}

/* Writes the result to the journal, and completes the journal. */
static int fill_journal(ranks_part *part)
{
    char message[JOURNAL_MESSAGE_SIZE];
    stored_work *const work = part->work;
    int code = 0;
    if (part->task.journal[0] != '\0') {
        int descriptor;
        code = open_same(part, part->task.journal, part->task.journal_file, SYSTEM_NO_LINK, &descriptor);
        if (code == 0) {
            code = write_result(part, descriptor, part->task.journal, part->task.journal_offset, work->sync);
        }
        if (descriptor >= 0) {
            system_close(descriptor);
        }
    }
    code = agree_to_stop(code);
    if (code != 0 || part->rank != 0) {
        return agree(code);
    }
    code = stored_mark(work);
    for (int i = 0; i < part->count && code == 0 && work->has_journal; i++) {
        const ipt_mpi_desc desc = describe(&part->task);
        const size_t row = row_bytes(&part->task, true);
        ipt_mpi_share share;
        ipt_mpi_share_of(&desc, part->count, i, &share);
        if (!journal_note(&work->journal, work->file->descriptor, (uint64_t)i,
                          work->journal.memory + share.first_row_out * row, share.rows_out * row, message)) {
            code = message_fail("%s: its journal: %s", work->file->path, message);
        }
    }
    return agree(code);
}

/* Reads, moves and writes. *begun: the file has changed. */
static int move_data(const file_task *task, ranks_part *part, bool *begun)
{
    stored_work *const work = part->work;
    const size_t row = row_bytes(&part->task, false);
    int code = make_plan(task, part);
    if (code != 0) {
        return code;
    }
    code = part->rank == 0 ? begin_journal(task, part) : 0;
    MPI_Bcast(&part->task, (int)sizeof part->task, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (code == 0) {
        const int error = file_transfer(work->file, part->block, part->task.data_offset + part->share.first_row * row,
                                        part->share.rows * row, false);
        code = error == 0 ? 0
                          : message_fail("%s: rank %d: reading failed: %s", work->file->path, part->rank,
                                         file_transfer_error(error));
    }
    code = agree_to_stop(code);
    if (code == 0 && ipt_mpi_plan_execute_host(part->plan, part->block, NULL) != IPT_SUCCESS) {
        code = part->rank == 0 ? message_fail_ipt(work->file->path) : 1;
    }
    code = code == 0 ? fill_journal(part) : code;
    if (code != 0) {
        return code;
    }
    *begun = true;
    return agree(write_result(part, work->file->descriptor, work->file->path, part->task.data_offset, work->sync));
}

/* Rank 0: reports how the work has ended, and ends it. */
static int finish(ranks_part *part, int code, bool begun)
{
    stored_work *const work = part->work;
    const char *const path = work->file->path;
    if (code == 0) {
        return stored_finish(work);
    }
    if (!begun && work->has_journal) {
        stored_leave_as_it_was(work);
    } else if (begun && work->has_journal) {
        message_fail("%s: 'ipt transpose --resume %s%s' finishes it", path, stored_before_name(path), path);
    } else if (begun) {
        message_fail("%s: the file is lost: only a part of it is written", path);
    }
    return code;
}

static void release(ranks_part *part)
{
    stored_work *const work = part->work;
    ipt_mpi_plan_destroy(part->plan);
    ipt_context_destroy(part->context);
    free(part->block);
    if (work->has_journal) {
        journal_close(&work->journal, false);
    }
    free(work->file->before);
    free(work->file->after);
    if (work->file->descriptor >= 0) {
        system_close(work->file->descriptor);
    }
}

int ranks_transpose(const file_task *task)
{
    matrix_file file = {0};
    stored_work work = {0};
    ranks_part part = {0};
    bool begun = false;
    const double start = seconds_now();
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &part.count);
    file.path = task->path;
    file.descriptor = -1;
    work.file = &file;
    work.sync = task->sync;
    work.journal.descriptor = -1;
    part.work = &work;
    stored_catch_stops();
    int code = part.rank == 0 ? read_task(task, &part) : 0;
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&part.task, (int)sizeof part.task, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (code == 0 && part.rank != 0) { /* rank 0 has locked the file */
        code = open_same(&part, file.path, part.task.file, 0, &file.descriptor);
    }
    code = agree(code);
    if (code == 0 && part.task.data_moves) {
        code = move_data(task, &part, &begun);
    }
    if (part.rank == 0 && file.descriptor >= 0) {
        code = finish(&part, code, begun);
    }
    if (part.rank == 0 && code == 0 && task->verbose) {
        message_print(stdout, "%s: %zu bytes moved by %d ranks in %.3f seconds", file.path, part.task.bytes, part.count,
                      seconds_now() - start);
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    release(&part);
    MPI_Finalize();
    return code;
}

#endif
