#define _GNU_SOURCE /* flock */

#include "matrix_file.h"

#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int file_open(matrix_file *file)
{
    file->descriptor = open(file->path, O_RDWR | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: do not wait for a pipe */
    struct stat status;
    if (file->descriptor < 0 || fstat(file->descriptor, &status) != 0) {
        return message_fail("%s: %s", file->path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return message_fail("%s: not a regular file", file->path);
    }
    if ((status.st_mode & 0222) == 0) { /* root could write to it nevertheless */
        return message_fail("%s: read-only", file->path);
    }
    if ((uintmax_t)status.st_size > SIZE_MAX) {
        return message_fail("%s: its %ju bytes are too many: this machine addresses at most %zu", file->path,
                            (uintmax_t)status.st_size, SIZE_MAX);
    }
    if (flock(file->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return message_fail("%s: another process is transposing it", file->path);
    }
    file->size = (size_t)status.st_size;
    return 0;
}

int file_transfer(const matrix_file *file, void *memory, size_t offset, size_t size, bool writes)
{
    for (size_t done = 0; done < size;) {
        char *next = (char *)memory + done;
        ssize_t moved = writes ? pwrite(file->descriptor, next, size - done, (off_t)(offset + done))
                               : pread(file->descriptor, next, size - done, (off_t)(offset + done));
        if (moved < 0 && errno == EINTR) {
            continue;
        }
        if (moved <= 0) {
            return moved < 0 ? errno : -1;
        }
        done += (size_t)moved;
    }
    return 0;
}

const char *file_transfer_error(int error)
{
    return error == -1 ? "the file became shorter" : strerror(error);
}

int file_read_beginning(const matrix_file *file, char **beginning)
{
    *beginning = malloc(file->data_offset + 1);
    if (*beginning == NULL) {
        return message_fail("%s: out of memory for a header of %zu bytes", file->path, file->data_offset);
    }
    int error = file_transfer(file, *beginning, 0, file->data_offset, false);
    return error == 0 ? 0 : message_fail("%s: reading failed: %s", file->path, file_transfer_error(error));
}

/* Derives the matrices in the file from the header's shape. */
static void shape_from_header(matrix_file *file)
{
    const npy_header *header = &file->header;
    size_t count = header->dimension_count;
    size_t others = 1; /* the product of all dimensions but the last two; cannot overflow if there is data */
    for (size_t i = 0; i + 2 < count; i++) {
        others *= header->shape[i];
    }
    file->shape.rows = header->shape[count - 2];
    file->shape.cols = header->shape[count - 1];
    file->shape.elem_size = header->item_size;
    file->batch = others;
    if (header->fortran_order) {
        /* The data is in C order of the reversed shape; the two dimensions to exchange come first. */
        file->shape.rows = header->shape[count - 1];
        file->shape.cols = header->shape[count - 2];
        file->shape.elem_size = header->item_size * others;
        file->batch = 1;
    }
}

int file_read_header(matrix_file *file)
{
    char start[NPY_START_SIZE];
    size_t available = file->size < sizeof start ? file->size : sizeof start;
    int error = file_transfer(file, start, 0, available, false);
    if (error != 0) {
        return message_fail("%s: reading failed: %s", file->path, file_transfer_error(error));
    }
    char message[NPY_MESSAGE_SIZE];
    if (!npy_find_text((const unsigned char *)start, available, &file->text, message)) {
        return message_fail("%s: %s", file->path, message);
    }
    if (file->text.length > file->size - file->text.begin) {
        return message_fail("%s: truncated: its header is longer than the file", file->path);
    }
    if (file->text.length > NPY_MAX_TEXT) {
        return message_fail("%s: its header has %zu bytes: at most %d are supported", file->path, file->text.length,
                            NPY_MAX_TEXT);
    }
    file->data_offset = file->text.begin + file->text.length;
    int code = file_read_beginning(file, &file->before);
    if (code != 0) {
        return code;
    }
    size_t data_size;
    if (!npy_parse(file->before + file->text.begin, file->text.length, &file->header, message) ||
        !npy_data_size(&file->header, &data_size, message)) {
        return message_fail("%s: %s", file->path, message);
    }
    if (file->header.dimension_count < 2) {
        return message_fail("%s: its shape needs at least two dimensions, not %zu", file->path,
                            file->header.dimension_count);
    }
    size_t found = file->size - file->data_offset;
    if (found != data_size) {
        return message_fail("%s: %s: %zu bytes follow the header; its shape and type say %zu", file->path,
                            found < data_size ? "truncated" : "too long", found, data_size);
    }
    if (data_size > 0) {
        shape_from_header(file);
    }
    return 0;
}

int file_measure_raw(const arguments *given, matrix_file *file)
{
    size_t bytes = 0;
    file->shape = given->shape;
    (void)shape_bytes(&file->shape, 1, &bytes); /* checked with the command line */
    if (file->size == 0 || file->size % bytes != 0) {
        return message_fail("%s: its %zu bytes are not a multiple of a matrix of %zux%zu elements of %zu bytes",
                            file->path, file->size, file->shape.rows, file->shape.cols, file->shape.elem_size);
    }
    file->batch = file->size / bytes;
    return 0;
}

ipt_move file_inner_move(const arguments *given, const matrix_file *file)
{
    if (!given->raw && file->header.fortran_order) {
        switch (given->move) {
        case IPT_MOVE_ROTATE_90:
            return IPT_MOVE_ROTATE_270;
        case IPT_MOVE_ROTATE_270:
            return IPT_MOVE_ROTATE_90;
        case IPT_MOVE_FLIP_HORIZONTAL:
            return IPT_MOVE_FLIP_VERTICAL;
        case IPT_MOVE_FLIP_VERTICAL:
            return IPT_MOVE_FLIP_HORIZONTAL;
        default:
            break;
        }
    }
    return given->move;
}

int file_choose_expression(const arguments *given, matrix_file *file)
{
    char message[NPY_MESSAGE_SIZE];
    const npy_header *header = &file->header;
    file->expression = given->expression;
    file->expression_type = given->expression_type;
    if (given->raw || given->expression == NULL) {
        return 0;
    }
    if (!npy_expression_type(header, given->expression_type, &file->expression_type, message)) {
        return message_fail("%s: %s", file->path, message);
    }
    if (file->batch > 0 && file->shape.elem_size != header->item_size) { /* super-elements of several array elements */
        return message_fail(
            "%s: --expression takes at most two dimensions in Fortran order, and the file has %zu: store it in "
            "C order (numpy.ascontiguousarray)",
            file->path, header->dimension_count);
    }
    if (header->kind == 'b' || header->kind == '?') { /* the result must be 0 or 1 again */
        size_t capacity = strlen(given->expression) + sizeof "(() != 0)";
        file->wrapped = malloc(capacity);
        if (file->wrapped == NULL) {
            return message_fail("%s: out of memory", file->path);
        }
        snprintf(file->wrapped, capacity, "((%s) != 0)", given->expression);
        file->expression = file->wrapped;
    }
    return 0;
}

int file_write_header(const matrix_file *file)
{
    size_t begin = 0, end = file->data_offset; /* the part that differs: a few digits, and the mark */
    while (begin < end && file->before[begin] == file->after[begin]) {
        begin++;
    }
    while (begin < end && file->before[end - 1] == file->after[end - 1]) {
        end--;
    }
    return file_transfer(file, file->after + begin, begin, end - begin, true);
}
