#include "bench_shapes.h"

#include "bench_result.h"
#include "gen/tool/base/numbers.h"
#include "gen/tool/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BENCH_MAX_LINES = 1000000, /* limit of a file of shapes */
    BENCH_MAX_DRAWS = 1 << 26  /* draws for one shape: about a second */
};

#define BENCH_MAX_TEXT ((size_t)64 << 20) /* limit of a file of shapes in bytes */

bool bench_add_shape(bench_shapes *shapes, size_t rows, size_t cols, char *message)
{
    if (shapes->count == shapes->capacity) {
        size_t capacity = shapes->capacity * 2 + 16;
        bench_shape *items = realloc(shapes->items, capacity * sizeof *items);
        if (items == NULL) {
            return bench_fail(message, "out of memory for %zu shapes", capacity);
        }
        shapes->items = items;
        shapes->capacity = capacity;
    }
    shapes->items[shapes->count].rows = rows;
    shapes->items[shapes->count].cols = cols;
    shapes->count++;
    return true;
}

bool bench_shape_bytes(size_t rows, size_t cols, size_t elem_size, size_t batch, size_t *bytes)
{
    *bytes = rows;
    return number_multiply(bytes, cols) && number_multiply(bytes, elem_size) && number_multiply(bytes, batch);
}

#define BENCH_BLANKS " \t\r\n\f\v"

/* Reads a decimal number after blanks. Moves *text past it. */
static bool bench_read_side(const char **text, size_t *value)
{
    *text += strspn(*text, BENCH_BLANKS);
    size_t length = strspn(*text, "0123456789");
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        size_t digit = (size_t)((*text)[i] - '0');
        if (!number_multiply(value, 10) || *value > SIZE_MAX - digit) {
            return false;
        }
        *value += digit;
    }
    *text += length;
    return *value > 0;
}

/* Reads a line of a file of shapes. *empty: the line has no shape. */
static bool bench_read_line(const char *text, bench_shape *shape, bool *empty)
{
    text += strspn(text, BENCH_BLANKS);
    *empty = *text == '#' || *text == '\0';
    if (*empty) {
        return true;
    }
    if (!bench_read_side(&text, &shape->rows) || strspn(text, BENCH_BLANKS) == 0 ||
        !bench_read_side(&text, &shape->cols)) {
        return false;
    }
    size_t blanks = strspn(text, BENCH_BLANKS);
    return text[blanks] == '\0' || (text[blanks] == '#' && blanks > 0);
}

/* Adds the shapes of a text. Replaces the ends of its lines by zeros. */
static bool bench_read_text(char *text, size_t length, const char *path, size_t elem_size, bench_shapes *shapes,
                            char *message)
{
    size_t number = 0;
    for (char *line = text, *end; line < text + length; line = end + 1) {
        bench_shape shape = {0, 0};
        bool empty;
        size_t bytes;
        end = memchr(line, '\n', length - (size_t)(line - text));
        end = end == NULL ? text + length : end;
        *end = '\0';
        if (++number > BENCH_MAX_LINES) {
            return bench_fail(message, "%s: it has more than %d lines, the limit of a list of shapes", path,
                              BENCH_MAX_LINES);
        }
        if (strlen(line) != (size_t)(end - line) || !bench_read_line(line, &shape, &empty)) {
            line[strcspn(line, "\r")] = '\0';
            return bench_fail(message, "%s:%zu: '%.40s' is not a shape: needs rows and cols, both at least 1", path,
                              number, line);
        }
        if (!empty && !bench_shape_bytes(shape.rows, shape.cols, elem_size, 1, &bytes)) {
            return bench_fail(message, "%s:%zu: %zux%zu elements of %zu bytes are too large: at most %zu bytes", path,
                              number, shape.rows, shape.cols, elem_size, SIZE_MAX);
        }
        if (!empty && !bench_add_shape(shapes, shape.rows, shape.cols, message)) {
            return false;
        }
    }
    return shapes->count > 0 || bench_fail(message, "%s: it holds no shape", path);
}

bool bench_read_shapes(const char *path, size_t elem_size, bench_shapes *shapes, char *message)
{
    char *text, reason[TEXT_REASON_SIZE];
    size_t length;
    text_name shortened;
    const char *name = text_shorten(path, &shortened);
    if (!text_read(path, BENCH_MAX_TEXT, "a list of shapes", &text, &length, reason)) {
        return bench_fail(message, "%s: %s", name, reason);
    }
    bool good = bench_read_text(text, length, name, elem_size, shapes, message);
    free(text);
    return good;
}

uint64_t bench_random(uint64_t *state)
{
    uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

size_t bench_random_within(uint64_t *state, bench_range range)
{
    uint64_t count = (uint64_t)range.high - range.low + 1, value, excess;
    if (count == 0) { /* the range has all numbers */
        return (size_t)bench_random(state);
    }
    excess = (UINT64_MAX % count + 1) % count; /* values at the top that would bias the result */
    do {
        value = bench_random(state);
    } while (value > UINT64_MAX - excess);
    return range.low + (size_t)(value % count);
}

/* Rounds down to a multiple, but to at least one multiple. */
static size_t bench_round(size_t side, size_t multiple)
{
    return bench_larger(side - side % multiple, multiple);
}

/* Narrows a range of sides. Sides outside the result give no matrix of the wanted bytes, for any other side. The
 * distribution stays the same, and far fewer draws are rejected. false: no side is left. */
static bool bench_narrow(const bench_drawing *drawing, size_t elem_size, bench_range other, bench_range *side)
{
    size_t least = bench_round(other.low, drawing->multiple), most = bench_round(other.high, drawing->multiple);
    size_t high, all;
    if (!number_multiply(&least, elem_size)) {
        return false;
    }
    high = drawing->bytes.high / least;
    if (high < SIZE_MAX - drawing->multiple) {
        side->high = bench_smaller(side->high, high + drawing->multiple - 1); /* include sides that round down to it */
    }
    all = most;
    if (number_multiply(&all, elem_size)) {
        size_t low = drawing->bytes.low / all + (drawing->bytes.low % all != 0);
        side->low = low > drawing->multiple ? bench_larger(side->low, low) : side->low;
    }
    return side->low <= side->high;
}

bool bench_draw_shapes(const bench_drawing *drawing, size_t elem_size, bench_shapes *shapes, char *message)
{
    uint64_t state = drawing->seed;
    bench_range sides[2] = {drawing->sides[0], drawing->sides[1]};
    bool possible = bench_narrow(drawing, elem_size, drawing->sides[1], &sides[0]) &&
                    bench_narrow(drawing, elem_size, drawing->sides[0], &sides[1]);
    for (size_t i = 0; i < drawing->count; i++) {
        size_t first = 0, second = 0, bytes = 0, draws = 0;
        bool found = false;
        for (; possible && !found && draws < BENCH_MAX_DRAWS; draws++) {
            first = bench_round(bench_random_within(&state, sides[0]), drawing->multiple);
            second = drawing->square ? first : bench_round(bench_random_within(&state, sides[1]), drawing->multiple);
            found = bench_shape_bytes(first, second, elem_size, 1, &bytes) && bytes >= drawing->bytes.low &&
                    bytes <= drawing->bytes.high;
        }
        if (!found) {
            char most[40] = " or more";
            if (drawing->bytes.high != SIZE_MAX) {
                snprintf(most, sizeof most, " to %zu", drawing->bytes.high);
            }
            return bench_fail(message,
                              "no matrix with such sides and elements of %zu bytes has %zu%s bytes (%zu draws): "
                              "change --sides or --bytes",
                              elem_size, drawing->bytes.low, most, draws);
        }
        bool exchanged = bench_random(&state) >> 63 != 0;
        if (!bench_add_shape(shapes, exchanged ? second : first, exchanged ? first : second, message)) {
            return false;
        }
    }
    return true;
}
