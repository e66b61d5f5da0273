#include "matrix_file.h"

#include "gen/tool/base/messages.h"
#include "gen/tool/base/system.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int file_open(matrix_file *file, bool writes)
{
    system_status status, named;
    file->descriptor = system_open(file->path, SYSTEM_READ | (writes ? SYSTEM_WRITE : 0));
    if (file->descriptor < 0 || !system_status_of(file->descriptor, &status)) {
        return message_fail("%s: %s", file->path, strerror(errno));
    }
    if (!status.is_file) {
        return message_fail("%s: not a regular file", file->path);
    }
    if (writes && !status.is_writable) { /* root could write anyway */
        return message_fail("%s: read-only", file->path);
    }
    if (status.size > SIZE_MAX) {
        return message_fail("%s: its %llu bytes are too many: this machine addresses at most %zu", file->path,
                            (unsigned long long)status.size, SIZE_MAX);
    }
    if (!system_lock(file->descriptor, writes)) {
        return message_fail("%s: another process is transposing it", file->path);
    }
    if (writes && (!system_status_at(file->path, &named) || named.number != status.number ||
                   named.device != status.device)) { /* replaced between opening and locking */
        return message_fail("%s: another process has just replaced it", file->path);
    }
    file->size = (size_t)status.size;
    return 0;
}

int file_transfer(const matrix_file *file, void *memory, size_t offset, size_t size, bool writes)
{
    for (size_t done = 0; done < size;) {
        char *next = (char *)memory + done;
        ptrdiff_t moved = writes ? system_write_at(file->descriptor, next, size - done, offset + done)
                                 : system_read_at(file->descriptor, next, size - done, offset + done);
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

/* The number of the shape's dimensions without the channels. */
static size_t matrix_dimensions(const file_task *task, const matrix_file *file)
{
    return file->header.dimension_count - (task->channels_last ? 1 : 0);
}

/* Derives the matrices in the file from the header's shape. With --channels-last the last dimension is a part of the
 * element. */
static void shape_from_header(const file_task *task, matrix_file *file)
{
    const npy_header *header = &file->header;
    size_t count = matrix_dimensions(task, file);
    size_t channels = task->channels_last ? header->shape[count] : 1;
    size_t others = 1; /* the product of the dimensions before the rows; cannot overflow if there is data */
    for (size_t i = 0; i + 2 < count; i++) {
        others *= header->shape[i];
    }
    file->shape.rows = header->shape[count - 2];
    file->shape.cols = header->shape[count - 1];
    file->shape.elem_size = header->item_size * channels;
    file->batch = others;
    if (header->fortran_order) {
        /* The data is in C order of the reversed shape; the channels and the two dimensions to exchange come first. */
        file->shape.rows = header->shape[count - 1];
        file->shape.cols = header->shape[count - 2];
        file->shape.elem_size = header->item_size * others;
        file->batch = channels;
    }
}

/* Whether the options permute axes. */
static bool permutes(const file_task *task)
{
    return task->axes.count > 0 || task->order != 0;
}

/* Finds the move of an array's elements in memory. shape: of the array. */
static int find_array_move(const file_task *task, matrix_file *file, const size_t *shape, size_t count)
{
    char message[AXES_MESSAGE_SIZE];
    const bool before = file->kind == FILE_NPY && file->header.fortran_order;
    file->axes = task->axes;
    file->moves_axes = true;
    if (!axes_check(&file->axes, count, message)) {
        return message_fail("%s: %s", file->path, message);
    }
    if (!axes_find_move(&file->axes, shape, before, task->order == 0 ? before : task->order == 'F',
                        &file->shape.array)) {
        return message_fail("%s: its axes do not stay together: more than %d groups move", file->path, IPT_MAX_RANK);
    }
    if (file->shape.array.rank == 0) { /* one element */
        file->shape.array.rank = 1;
        file->shape.array.lengths[0] = 1;
    }
    return 0;
}

/* The format of a file by its first bytes, or a TGA by its name; NULL: unknown. */
static const char *known_format(const char *start, size_t available, const char *path)
{
    static const struct {
        const char *magic, *name;
        size_t length;
    } others[] = {{NPY_MAGIC, "a NumPy file", NPY_MAGIC_SIZE},
                  {"PK\3\4", "an .npz or another ZIP file", 4},
                  {"\x89HDF\r\n\x1a\n", "an HDF5 file", 8},
                  {"GIF8", "a GIF picture", 4},
                  {"II*", "a TIFF picture", 4}, /* and a zero */
                  {"MM\0*", "a TIFF picture", 4},
                  {"8BPS", "a PSD picture", 4}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (available >= others[i].length && memcmp(start, others[i].magic, others[i].length) == 0) {
            return others[i].name;
        }
    }
    if (netpbm_begins(start, available)) {
        return "a PGM, PPM or PAM picture";
    }
    switch (picture_format_of_start(start, available, path)) {
    case PICTURE_PNG:
        return "a PNG picture";
    case PICTURE_JPEG:
        return "a JPEG picture";
    case PICTURE_TGA:
        return "a TGA picture, by its name";
    case PICTURE_BMP: /* the magic has only two bytes, so also check that the upper bytes of the header's size are 0 */
        return available >= 18 && start[14] != 0 && start[15] == 0 && start[16] == 0 && start[17] == 0 ? "a BMP picture"
                                                                                                       : NULL;
    default:
        return NULL;
    }
}

int file_recognise(const file_task *task, matrix_file *file)
{
    enum { START = 32 };
    char start[START];
    size_t available = file->size < sizeof start ? file->size : sizeof start;
    int error = file_transfer(file, start, 0, available, false);
    if (error != 0) {
        return message_fail("%s: reading failed: %s", file->path, file_transfer_error(error));
    }
    file->format = PICTURE_NONE;
    if (task->raw && !task->force && !task->has_offset) {
        const char *const known = known_format(start, available, file->path);
        if (known != NULL) {
            return message_fail("%s: it begins as %s, whose header would move with the data: leave out --raw, name the "
                                "data's begin with --offset, or use --force",
                                file->path, known);
        }
    }
    if (task->raw) {
        file->kind = FILE_RAW;
    } else if (netpbm_begins(start, available)) {
        file->kind = FILE_NETPBM;
        file->format = start[1] == '5' ? PICTURE_PGM : start[1] == '6' ? PICTURE_PPM : PICTURE_PAM;
    } else {
        file->format = picture_format_of_start(start, available, file->path);
        file->kind = file->format == PICTURE_NONE ? FILE_NPY : FILE_ENCODED;
    }
    if (file->kind == FILE_NPY && (available < NPY_MAGIC_SIZE || memcmp(start, NPY_MAGIC, NPY_MAGIC_SIZE) != 0)) {
        return message_fail("%s: neither a NumPy file nor a picture: it does not begin with the magic bytes of one. "
                            "--raw ROWSxCOLS:BYTES takes any file",
                            file->path);
    }
    if (file->format != PICTURE_NONE && task->expression != NULL) {
        return message_fail("%s: --expression takes NumPy files and --raw, not pictures", file->path);
    }
    if (file->format != PICTURE_NONE && permutes(task)) {
        return message_fail("%s: --axes and --order take NumPy files and --raw, not pictures: use --move", file->path);
    }
    if (file->format != PICTURE_NONE && task->channels_last) {
        return message_fail("%s: --channels-last is for NumPy files: a picture's channels always move together",
                            file->path);
    }
    return 0;
}

/* Checks the size of the data that follows the header. size: by the header. */
static int check_data_size(const matrix_file *file, size_t size)
{
    size_t found = file->size - file->data_offset;
    if (found == size) {
        return 0;
    }
    if (file->kind == FILE_NETPBM && found > size) {
        return message_fail("%s: too long: %zu bytes follow the header; its sides and maxval say %zu. Several pictures "
                            "in a file are not supported: split it",
                            file->path, found, size);
    }
    return message_fail("%s: %s: %zu bytes follow the header; its %s say %zu", file->path,
                        found < size ? "truncated" : "too long", found,
                        file->kind == FILE_NETPBM ? "sides and maxval" : "shape and type", size);
}

/* Reads and checks the header of a PGM, PPM or PAM. */
static int read_netpbm_header(matrix_file *file)
{
    char message[NPY_MESSAGE_SIZE];
    size_t size;
    file->data_offset = file->size < NETPBM_MAX_HEADER ? file->size : NETPBM_MAX_HEADER;
    int code = file_read_beginning(file, &file->before);
    if (code != 0) {
        return code;
    }
    if (!netpbm_parse(file->before, file->data_offset, &file->picture, message) ||
        !netpbm_data_size(&file->picture, &size, message)) {
        return message_fail("%s: %s", file->path, message);
    }
    file->data_offset = file->picture.data_offset;
    file->shape.rows = file->picture.height;
    file->shape.cols = file->picture.width;
    file->shape.elem_size = file->picture.channels * file->picture.sample_bytes;
    file->batch = 1;
    return check_data_size(file, size);
}

/* Reads and checks the header of a NumPy file. */
static int read_npy_header(const file_task *task, matrix_file *file)
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
    if (!permutes(task) && file->header.dimension_count < (task->channels_last ? 3 : 2)) {
        return message_fail("%s: its shape needs at least %s, not %zu", file->path,
                            task->channels_last ? "three dimensions for --channels-last" : "two dimensions",
                            file->header.dimension_count);
    }
    code = check_data_size(file, data_size);
    if (code == 0 && permutes(task)) {
        file->shape.elem_size = file->header.item_size;
        file->batch = data_size > 0;
        return find_array_move(task, file, file->header.shape, file->header.dimension_count);
    }
    if (code == 0 && data_size > 0) {
        shape_from_header(task, file);
    }
    return code;
}

int file_read_header(const file_task *task, matrix_file *file)
{
    if (file->kind == FILE_ENCODED) {
        return message_fail("%s: %s pictures do not change in place: add -o FILE, such as -o turned.png", file->path,
                            picture_format_name(file->format));
    }
    return file->kind == FILE_NETPBM ? read_netpbm_header(file) : read_npy_header(task, file);
}

bool file_data_moves(const file_task *task, const matrix_file *file)
{
    const bool matrix_moves = (file->shape.rows > 1 && file->shape.cols > 1) || task->move != IPT_MOVE_TRANSPOSE;
    return file->batch > 0 &&
           (task->expression != NULL || (file->moves_axes ? file->shape.array.rank > 1 : matrix_moves));
}

void file_warn_of_channels(const file_task *task, const matrix_file *file)
{
    enum { MOST_CHANNELS = 4 };
    const npy_header *header = &file->header;
    size_t count = header->dimension_count;
    if (file->kind == FILE_NPY && !task->channels_last && !file->moves_axes && count >= 3 &&
        header->shape[count - 1] <= MOST_CHANNELS && header->shape[count - 2] > header->shape[count - 1]) {
        message_warn("%s: warning: the last axis, of %zu, moves as columns. If it holds the channels of pixels, undo "
                     "this move and use --channels-last",
                     file->path, header->shape[count - 1]);
    }
}

int file_measure_raw(const file_task *task, matrix_file *file)
{
    size_t bytes = 0, size = file->size > task->offset ? file->size - task->offset : 0;
    file->shape = task->shape;
    (void)shape_bytes(&file->shape, 1, &bytes); /* checked with the command line */
    if (file->shape.array.rank > 0 && (size == 0 || size % bytes != 0)) {
        return message_fail("%s: its %zu bytes%s are not a multiple of an array of %zu bytes", file->path, size,
                            task->offset == 0 ? "" : " from --offset on", bytes);
    }
    if (size == 0 || size % bytes != 0) {
        return message_fail("%s: its %zu bytes%s are not a multiple of a matrix of %zux%zu elements of %zu bytes",
                            file->path, size, task->offset == 0 ? "" : " from --offset on", file->shape.rows,
                            file->shape.cols, file->shape.elem_size);
    }
    file->batch = size / bytes;
    file->data_offset = task->offset;
    if (permutes(task)) {
        size_t lengths[IPT_MAX_RANK] = {file->shape.rows, file->shape.cols};
        const unsigned rank = file->shape.array.rank;
        if (rank > 0) {
            memcpy(lengths, file->shape.array.lengths, sizeof lengths);
        }
        int code = find_array_move(task, file, lengths, rank > 0 ? rank : 2);
        if (code != 0) {
            return code;
        }
    }
    return file_read_beginning(file, &file->before);
}

ipt_move file_inner_move(const file_task *task, const matrix_file *file)
{
    if (file->kind == FILE_NPY && file->header.fortran_order) {
        switch (task->move) {
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
    return task->move;
}

int file_choose_expression(const file_task *task, matrix_file *file)
{
    char message[NPY_MESSAGE_SIZE];
    const npy_header *header = &file->header;
    file->expression = task->expression;
    file->expression_type = task->expression_type;
    if (file->kind == FILE_RAW || task->expression == NULL) {
        return 0;
    }
    if (!npy_expression_type(header, task->expression_type, &file->expression_type, message)) {
        return message_fail("%s: %s", file->path, message);
    }
    if (file->batch > 0 && file->shape.elem_size != header->item_size) { /* super-elements of several array elements */
        return message_fail(
            "%s: --expression takes at most two dimensions in Fortran order, and the file has %zu: store it in "
            "C order (numpy.ascontiguousarray)",
            file->path, header->dimension_count);
    }
    if (header->kind == 'b' || header->kind == '?') { /* the result must be 0 or 1 again */
        size_t capacity = strlen(task->expression) + sizeof "(() != 0)";
        file->wrapped = malloc(capacity);
        if (file->wrapped == NULL) {
            return message_fail("%s: out of memory", file->path);
        }
        snprintf(file->wrapped, capacity, "((%s) != 0)", task->expression);
        file->expression = file->wrapped;
    }
    return 0;
}

bool file_move_transposes(ipt_move move)
{
    return move == IPT_MOVE_TRANSPOSE || move == IPT_MOVE_ROTATE_90 || move == IPT_MOVE_ROTATE_270 ||
           move == IPT_MOVE_ANTITRANSPOSE;
}

int file_prepare_header(const file_task *task, matrix_file *file)
{
    file->after = malloc(file->data_offset + 1);
    if (file->after == NULL) {
        return message_fail("%s: out of memory", file->path);
    }
    if (file->data_offset > 0) {
        memcpy(file->after, file->before, file->data_offset);
    }
    if (file->kind == FILE_NPY && file->moves_axes) {
        char *const text = file->after + file->text.begin;
        const bool changes = task->order != 0 && (task->order == 'F') != file->header.fortran_order;
        if (changes && !npy_change_order(text, file->text.length, &file->header)) {
            return message_fail("%s: its header has no space for the other order: save it with NumPy again",
                                file->path);
        }
        /* The new word may be longer, so the shape has to be found again. */
        npy_header now = file->header;
        char message[NPY_MESSAGE_SIZE];
        if (!npy_parse(text, file->text.length, &now, message)) {
            return message_fail("%s: %s", file->path, message);
        }
        npy_permute_dimensions(text, &now, file->axes.axes);
    } else if (file->kind == FILE_NPY && file_move_transposes(task->move)) {
        npy_swap_dimensions(file->after + file->text.begin, &file->header, matrix_dimensions(task, file) - 2);
    } else if (file->kind == FILE_NETPBM && file_move_transposes(task->move)) {
        netpbm_swap_sides(file->after, &file->picture);
    }
    return 0;
}

int file_write_header(const matrix_file *file)
{
    size_t begin = 0, end = file->data_offset; /* write only the differing part: a few digits, and the mark */
    while (begin < end && file->before[begin] == file->after[begin]) {
        begin++;
    }
    while (begin < end && file->before[end - 1] == file->after[end - 1]) {
        end--;
    }
    return file_transfer(file, file->after + begin, begin, end - begin, true);
}
