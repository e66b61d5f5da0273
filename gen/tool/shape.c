#include "shape.h"

#include "bench_shapes.h"
#include "numbers.h"

bool shape_read(const char *text, matrix_shape *shape)
{
    return number_read(&text, "x", &shape->rows) && number_read(&text, ":", &shape->cols) &&
           number_read(&text, "", &shape->elem_size) && shape->rows > 0 && shape->cols > 0 && shape->elem_size > 0;
}

bool shape_bytes(const matrix_shape *shape, size_t count, size_t *bytes)
{
    return bench_shape_bytes(shape->rows, shape->cols, shape->elem_size, count, bytes);
}
