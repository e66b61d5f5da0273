#define _POSIX_C_SOURCE 200809L

#include "output.h"

#include "draft.h"
#include "gen/tool/base/messages.h"
#include "picture_move.h"
#include "gen/tool/base/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COPY_BYTES = 1 << 20 };

/* Refuses an output that is the input, and an extension whose format does not fit the input. */
static int check_output(const file_task *task, const matrix_file *file, picture_format format)
{
    system_status in, out;
    if (system_status_of(file->descriptor, &in) && system_status_at(task->output, &out) && in.device == out.device &&
        in.number == out.number) {
        return message_fail(
            "%s: --output names the input: use another name, or no --output to change the file in place", task->output);
    }
    if (file->format != PICTURE_NONE && format == PICTURE_NONE) {
        return message_fail("%s: its extension must name a picture's format: .png, .jpg, .jpeg, .bmp, .tga, .pgm, .ppm "
                            "or .pam",
                            task->output);
    }
    size_t length = strlen(task->output);
    if (file->kind == FILE_NPY && (length < 4 || strcasecmp(task->output + length - 4, ".npy") != 0)) {
        return message_fail("%s: its extension must be .npy, as %s is read as a NumPy file", task->output, file->path);
    }
    return 0;
}

/* Copies the file to the draft, and continues with the copy. */
static int copy_file(const file_task *task, matrix_file *file, const draft *made)
{
    matrix_file copy = *file;
    char *bytes = malloc(COPY_BYTES);
    int code = bytes == NULL ? message_fail("%s: out of memory", file->path) : 0;
    copy.descriptor = system_duplicate(made->descriptor);
    if (code == 0 && copy.descriptor < 0) {
        code = message_fail("%s: %s", task->output, strerror(errno));
    }
    for (size_t done = 0; code == 0 && done < file->size;) {
        size_t count = file->size - done < COPY_BYTES ? file->size - done : COPY_BYTES;
        int error = file_transfer(file, bytes, done, count, false);
        if (error != 0) {
            code = message_fail("%s: reading failed: %s", file->path, file_transfer_error(error));
        } else if ((error = file_transfer(&copy, bytes, done, count, true)) != 0) {
            code = message_fail("%s: writing failed: %s", task->output, file_transfer_error(error));
        }
        done += count;
    }
    free(bytes);
    if (copy.descriptor >= 0) {
        system_close(file->descriptor);
        file->descriptor = copy.descriptor;
    }
    return code;
}

/* Copies the file and transposes the copy. */
static int transpose_copy(const file_task *task, stored_work *work, const draft *made, bool *data_moves)
{
    work->is_copy = true;
    int code = copy_file(task, work->file, made);
    if (code == 0) {
        code = stored_start(task, work, data_moves);
    }
    return code == 0 ? stored_finish(work) : code;
}

int output_transpose(const file_task *task, stored_work *work, bool *data_moves)
{
    matrix_file *file = work->file;
    draft made = DRAFT_NONE;
    picture_format format = picture_format_of_name(task->output);
    int code = check_output(task, file, format);
    if (code != 0) {
        return code;
    }
    code = draft_begin(task->output, file->descriptor, &made);
    if (code == 0) {
        code = file->format == PICTURE_NONE || (file->kind == FILE_NETPBM && file->format == format)
                   ? transpose_copy(task, work, &made, data_moves)
                   : picture_move(task, file, format, &made);
        work->steps += work->steps == 0; /* a picture in memory moves in one step */
    }
    return draft_end(&made, code == 0, code);
}
