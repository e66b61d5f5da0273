#include "picture_move.h"

#include "gen/tool/picture/exif.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/base/setup.h"
#include "gen/tool/picture/stb.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads size bytes at offset into new memory, which the caller frees. */
static int read_bytes(const matrix_file *file, size_t offset, size_t size, unsigned char **bytes)
{
    *bytes = malloc(size + 1);
    if (*bytes == NULL) {
        return message_fail("%s: out of memory for %zu bytes", file->path, size);
    }
    int error = file_transfer(file, *bytes, offset, size, false);
    return error == 0 ? 0 : message_fail("%s: reading failed: %s", file->path, file_transfer_error(error));
}

/* Refuses a file whose bytes exceed --memory, before they are read. Returns 0 or the exit code. */
static int check_memory(const file_task *task, const matrix_file *file)
{
    return file->size <= task->memory ? 0
                                      : message_fail("%s: its %zu bytes must be in memory, and --memory allows %zu",
                                                     file->path, file->size, task->memory);
}

static int read_encoded(const file_task *task, const matrix_file *file, picture *its)
{
    char message[PICTURE_MESSAGE_SIZE];
    unsigned char *bytes = NULL;
    if (file->size > INT_MAX) { /* stb's own limit */
        return message_fail("%s: its %zu bytes are too many for %s: at most %d", file->path, file->size,
                            picture_format_name(file->format), INT_MAX);
    }
    int code = check_memory(task, file);
    if (code == 0) {
        code = read_bytes(file, 0, file->size, &bytes);
    }
    if (code == 0 && !stb_decode(file->format, bytes, file->size, task->memory - file->size, its, message)) {
        code = message_fail("%s: %s", file->path, message);
    }
    if (code == 0 && file->format == PICTURE_JPEG && exif_orientation(bytes, file->size) != EXIF_UPRIGHT) {
        message_warn("%s: warning: viewers turn this picture by its EXIF orientation, %u. The output has the pixels as "
                     "stored, moved, without EXIF data",
                     file->path, exif_orientation(bytes, file->size));
    }
    free(bytes);
    return code;
}

static int read_netpbm(const file_task *task, matrix_file *file, picture *its)
{
    int code = file_read_header(task, file);
    if (code == 0) {
        code = check_memory(task, file);
    }
    if (code != 0) {
        return code;
    }
    its->width = file->picture.width;
    its->height = file->picture.height;
    its->channels = file->picture.channels;
    its->sample_bytes = file->picture.sample_bytes;
    its->maxval = file->picture.maxval;
    its->has_other_type = file->picture.has_other_type;
    return read_bytes(file, file->data_offset, file->size - file->data_offset, &its->samples);
}

/* Moves the pixels on the device. */
static int move_pixels(const file_task *task, matrix_file *file, picture *its)
{
    ipt_context *context;
    ipt_plan *plan = NULL;
    ipt_plan_desc desc = {0};
    file->shape.rows = its->height;
    file->shape.cols = its->width;
    file->shape.elem_size = its->channels * its->sample_bytes;
    file->batch = 1;
    setup_shape(&desc, &file->shape);
    desc.batch = file->batch;
    desc.move = task->move;
    int code = setup_context(&task->context, file->path, &context);
    if (code == 0 && (ipt_plan_create(context, &desc, &plan) != IPT_SUCCESS ||
                      ipt_plan_execute_host(plan, its->samples) != IPT_SUCCESS)) {
        code = message_fail_ipt(file->path);
    }
    if (file_move_transposes(task->move)) {
        its->width = file->shape.rows;
        its->height = file->shape.cols;
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return code;
}

static bool write_netpbm(picture_format format, const picture *its, FILE *stream)
{
    char text[NETPBM_TEXT_SIZE];
    netpbm_header header = {0};
    header.type = format == PICTURE_PGM ? '5' : format == PICTURE_PPM ? '6' : '7';
    header.width = its->width;
    header.height = its->height;
    header.channels = its->channels;
    header.maxval = its->maxval;
    size_t length = netpbm_print(text, &header), size = its->width * its->height * its->channels * its->sample_bytes;
    return fwrite(text, 1, length, stream) == length && fwrite(its->samples, 1, size, stream) == size;
}

/* Writes the picture to the draft. */
static int write_picture(const file_task *task, const picture *its, picture_format format, const draft *made)
{
    char message[PICTURE_MESSAGE_SIZE] = "";
    FILE *stream = draft_stream(made);
    if (stream == NULL) {
        return message_fail("%s: %s", task->output, strerror(errno));
    }
    bool is_netpbm = format == PICTURE_PGM || format == PICTURE_PPM || format == PICTURE_PAM;
    bool good = is_netpbm ? write_netpbm(format, its, stream) : stb_encode(format, its, stream, message);
    bool failed = ferror(stream) != 0;
    int closed = fclose(stream);
    if (!good && message[0] != '\0') {
        return message_fail("%s: %s", task->output, message);
    }
    return good && !failed && closed == 0 ? 0 : message_fail("%s: writing failed: %s", task->output, strerror(errno));
}

int picture_move(const file_task *task, matrix_file *file, picture_format format, const draft *made)
{
    char message[PICTURE_MESSAGE_SIZE];
    picture its = {0};
    int code = file->kind == FILE_ENCODED ? read_encoded(task, file, &its) : read_netpbm(task, file, &its);
    if (code == 0 && !picture_fits(&its, format, message)) {
        code = message_fail("%s: %s", task->output, message);
    }
    if (code == 0) {
        code = move_pixels(task, file, &its);
    }
    if (code == 0) {
        code = write_picture(task, &its, format, made);
    }
    free(its.samples);
    return code;
}
