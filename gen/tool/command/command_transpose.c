/* ipt transpose */
#include "commands.h"
#include "options.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/store/output.h"
#include "gen/tool/store/ranks.h"
#include "gen/tool/base/seconds.h"
#include "gen/tool/store/stored.h"
#include "gen/tool/base/system.h"

#include <stdio.h>
#include <stdlib.h>

/* Starts or resumes the transposition of an open file, up to the last byte written. */
static int transpose_open_file(const file_task *task, stored_work *work, bool *data_moves)
{
    int code = stored_look_at_marks(task, work);
    if (code == 0 && !task->resume) {
        code = file_recognise(task, work->file);
    }
    if (code != 0) {
        return code;
    }
    if (task->output != NULL) {
        return output_transpose(task, work, data_moves);
    }
    code = task->resume ? stored_resume(task, work) : stored_start(task, work, data_moves);
    return code == 0 ? stored_finish(work) : code;
}

/* Transposes a file and reports it. */
static int transpose_file(const file_task *task, stored_work *work)
{
    matrix_file *file = work->file;
    double start = seconds_now();
    bool data_moves = true;
    int code = file_open(file, task->output == NULL);
    if (code == 0) {
        code = transpose_open_file(task, work, &data_moves);
    }
    if (code == 0 && task->verbose) {
        if (data_moves && file->moves_axes) {
            message_print(
                stdout,
                "%s: %zu x (array of %u axes that move, elements of %zu bytes) permuted in %.3f seconds, %zu %s",
                file->path, file->batch, file->shape.array.rank, file->shape.elem_size, seconds_now() - start,
                work->steps - work->first_step, work->steps - work->first_step == 1 ? "step" : "steps");
        } else if (data_moves) {
            message_print(stdout, "%s: %zu x (%zux%zu elements of %zu bytes) transposed in %.3f seconds, %zu %s",
                          file->path, file->batch, file->shape.rows, file->shape.cols, file->shape.elem_size,
                          seconds_now() - start, work->steps - work->first_step,
                          work->steps - work->first_step == 1 ? "step" : "steps");
        } else {
            message_print(stdout, "%s: transposed in %.3f seconds, without moving data", file->path,
                          seconds_now() - start);
        }
    }
    return code;
}

/* Refuses options that contradict each other. Returns 0 or the exit code. */
static int check_options(const arguments *given)
{
    static const char *const known[] = {"--raw",           "--memory",     "--matrix-memory", "--no-journal",
                                        "--move",          "--expression", "--type",          "--offset",
                                        "--channels-last", "--axes",       "--order",         "--force"};
    for (size_t i = 0; given->resume && i < sizeof known / sizeof known[0]; i++) {
        if (options_have(given, known[i])) {
            return message_usage_error("--resume does not go with %s, which the journal sets", known[i]);
        }
    }
    if (given->output != NULL && given->output[0] == '\0') {
        return message_usage_error("--output takes the name of a file, not ''");
    }
    if (given->output != NULL && (given->resume || given->sync || given->no_journal)) {
        return message_usage_error("--output does not go with %s: it leaves the input unchanged and keeps no journal",
                                   given->resume ? "--resume"
                                   : given->sync ? "--sync"
                                                 : "--no-journal");
    }
    if (options_have(given, "--offset") && !given->raw) {
        return message_usage_error("--offset needs --raw, whose matrices begin there");
    }
    if (given->force && !given->raw) {
        return message_usage_error(
            "--force needs --raw, which it makes take a NumPy file or a picture with its header");
    }
    if (given->channels_last && (given->raw || given->expression != NULL)) {
        return message_usage_error("--channels-last does not go with %s: %s", given->raw ? "--raw" : "--expression",
                                   given->raw ? "give the bytes of a whole pixel in ROWSxCOLS:BYTES"
                                              : "it computes single numbers, not pixels");
    }
    const bool permutes = given->axes.count > 0 || given->order != 0;
    const char *other = given->channels_last ? "--channels-last" : options_have(given, "--move") ? "--move" : NULL;
    if (permutes && other != NULL) {
        return message_usage_error("%s does not go with %s: --axes names every axis", other,
                                   given->axes.count > 0 ? "--axes" : "--order");
    }
    if (given->order != 0 && given->raw) {
        return message_usage_error("--order is for .npy files, whose header keeps it: use --axes with --raw");
    }
    if (given->raw && given->shape.array.rank > 0 && given->axes.count == 0) {
        return message_usage_error("--raw with %u lengths needs --axes, such as --axes 2,0,1", given->shape.array.rank);
    }
    return given->no_journal && given->sync
               ? message_usage_error("--sync does not go with --no-journal: it flushes the journal")
               : 0;
}

static int transpose(const file_task *task)
{
    matrix_file file = {0};
    stored_work work = {0};
    file.path = task->path;
    file.descriptor = -1;
    work.file = &file;
    work.sync = task->sync;
    work.journal.descriptor = -1;
    int code = transpose_file(task, &work);
    if (work.has_journal) {
        journal_close(&work.journal, false);
    }
    free(file.before);
    free(file.after);
    free(file.wrapped);
    if (file.descriptor >= 0) {
        system_close(file.descriptor); /* after a failure, ignores errors */
    }
    return code;
}

/* The name of a given option that ranks refuse, or NULL. */
static const char *option_beside_ranks(const arguments *given)
{
    static const char *const others[] = {"--output", "-o", "--move", "--type", "--expression", "--matrix-memory"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (options_have(given, others[i])) {
            return others[i];
        }
    }
    return NULL;
}

static int run_transpose(const arguments *given)
{
    file_task task = {0};
    task.context = arguments_setup(given);
    task.path = given->operand;
    task.output = given->output;
    task.raw = given->raw;
    task.shape = given->shape;
    task.offset = given->offset;
    task.has_offset = options_have(given, "--offset");
    task.force = given->force;
    task.channels_last = given->channels_last;
    task.axes = given->axes;
    task.order = given->order;
    task.move = given->move;
    task.expression = given->expression;
    task.expression_type = given->expression_type;
    task.memory = given->memory;
    task.matrix_memory = given->matrix_memory;
    task.resume = given->resume;
    task.sync = given->sync;
    task.no_journal = given->no_journal;
    task.verbose = given->verbose;
    task.beside_ranks = option_beside_ranks(given);
    const int code = check_options(given);
    return code != 0 ? code : given->mpi ? ranks_transpose(&task) : transpose(&task);
}

const command command_transpose = {
    "transpose",
    OPERAND_FILE,
    "transpose the matrices of a NumPy file (.npy), or a picture, in place",
    FOR_ALL | FOR_TRANSPOSE | FOR_MOVES,
    run_transpose,
    "FILE is a NumPy file or a picture. An array of more than two axes exchanges its last two; Python's "
    "ipt.transpose_(x) reverses all axes, as --axes can. PGM, PPM and PAM pictures change in place. PNG, JPEG, BMP and "
    "TGA pictures "
    "need -o FILE, whose extension names the format: .png .jpg .bmp .tga .pgm .ppm .pam.\n"
    "--raw takes NumPy's names of types, too, such as 300x200:float32.\n\n"
    "The file may be larger than memory. During the work its journal, FILE" JOURNAL_SUFFIX ", lies beside it and "
    "has at most --memory bytes. After Ctrl-C or a kill, and with --sync after a power failure, "
    "'ipt transpose --resume FILE' continues from the last step. More --memory means larger steps."};
