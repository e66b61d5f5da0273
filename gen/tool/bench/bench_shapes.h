/* Shapes to measure, from a file or drawn at random. A seed draws the same shapes on every machine. */
#ifndef IPT_TOOL_BENCH_SHAPES_H_INCLUDED
#define IPT_TOOL_BENCH_SHAPES_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bench_shape {
    size_t rows, cols;
} bench_shape;

/* A growing list of shapes; the caller frees items. */
typedef struct bench_shapes {
    bench_shape *items;
    size_t count, capacity;
} bench_shapes;

/* A range that includes both ends. */
typedef struct bench_range {
    size_t low, high;
} bench_range;

/* The parameters of random shapes. */
typedef struct bench_drawing {
    size_t count, seed, multiple;
    bench_range sides[2], bytes;
    bool square;
} bench_drawing;

/* The bytes of a batch of matrices. false: they overflow size_t. */
bool bench_shape_bytes(size_t rows, size_t cols, size_t elem_size, size_t batch, size_t *bytes);

/* Splitmix64: integers only, so that all machines draw the same numbers. */
uint64_t bench_random(uint64_t *state);

/* A uniformly distributed number of the range. */
size_t bench_random_within(uint64_t *state, bench_range range);

/* All functions below that return false put a sentence into message, BENCH_MESSAGE_SIZE bytes. */

/* Adds a shape. */
bool bench_add_shape(bench_shapes *shapes, size_t rows, size_t cols, char *message);

/* Adds the shapes of a file: lines of rows and cols, with comments after #. */
bool bench_read_shapes(const char *path, size_t elem_size, bench_shapes *shapes, char *message);

/* Adds random shapes. */
bool bench_draw_shapes(const bench_drawing *drawing, size_t elem_size, bench_shapes *shapes, char *message);

#endif /* IPT_TOOL_BENCH_SHAPES_H_INCLUDED */
