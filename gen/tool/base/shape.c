#include "shape.h"

#include "numbers.h"

#include <string.h>

/* Finds a type by its name. For some types OpenCL C has no type. */
static bool shape_find_type(const char *name, matrix_shape *shape)
{
    static const struct {
        const char *name, *opencl_type;
        size_t bytes;
    } types[] = {{"int8", "char", 1},     {"uint8", "uchar", 1},   {"int16", "short", 2},    {"uint16", "ushort", 2},
                 {"int32", "int", 4},     {"uint32", "uint", 4},   {"int64", "long", 8},     {"uint64", "ulong", 8},
                 {"float16", "half", 2},  {"float32", "float", 4}, {"float64", "double", 8}, {"complex64", NULL, 8},
                 {"complex128", NULL, 16}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, name) == 0) {
            shape->elem_size = types[i].bytes;
            shape->opencl_type = types[i].opencl_type;
            return true;
        }
    }
    return false;
}

bool shape_read(const char *text, matrix_shape *shape)
{
    return shape_read_array(text, shape) && shape->array.rank == 0;
}

bool shape_read_array(const char *text, matrix_shape *shape)
{
    axes_move array = {0};
    const char *colon = strchr(text, ':');
    while (colon != NULL && text <= colon) {
        const bool more = memchr(text, 'x', (size_t)(colon - text)) != NULL;
        if (array.rank == IPT_MAX_RANK || !number_read(&text, more ? "x" : ":", &array.lengths[array.rank]) ||
            array.lengths[array.rank] == 0) {
            return false;
        }
        array.axes[array.rank] = array.rank;
        array.rank++;
    }
    shape->opencl_type = NULL;
    shape->rows = array.lengths[0];
    shape->cols = array.lengths[1];
    if (array.rank == 2) {
        array.rank = 0;
    }
    shape->array = array;
    return array.rank != 1 && shape->rows > 0 &&
           (shape_find_type(text, shape) || number_read(&text, "", &shape->elem_size)) && shape->elem_size > 0;
}

bool shape_permute(matrix_shape *shape, const axes_list *list, char *message)
{
    axes_list whole = *list;
    axes_move *const array = &shape->array;
    if (array->rank == 0) {
        array->rank = 2;
        array->lengths[0] = shape->rows;
        array->lengths[1] = shape->cols;
    }
    if (!axes_check(&whole, array->rank, message)) {
        return false;
    }
    memcpy(array->axes, whole.axes, array->rank * sizeof *array->axes);
    return true;
}

bool shape_bytes(const matrix_shape *shape, size_t count, size_t *bytes)
{
    const size_t sides[2] = {shape->rows, shape->cols};
    const unsigned rank = shape->array.rank;
    *bytes = shape->elem_size;
    for (unsigned i = 0; i < (rank > 0 ? rank : 2); i++) {
        if (!number_multiply(bytes, rank > 0 ? shape->array.lengths[i] : sides[i])) {
            return false;
        }
    }
    return number_multiply(bytes, count);
}
