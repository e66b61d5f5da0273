/* Contract of row_pitch and row_pitch_out: every element of the result is right, and every byte at which neither the
 * source nor the result has an element keeps its value. The reference is an index formula. Cooperative bands need a
 * device that is reported as a GPU. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the source (0) and of the result (1). */
static size_t rows_of(const ipt_plan_desc *desc, int result)
{
    const int across = desc->move == IPT_MOVE_TRANSPOSE || desc->move == IPT_MOVE_ROTATE_90 ||
                       desc->move == IPT_MOVE_ROTATE_270 || desc->move == IPT_MOVE_ANTITRANSPOSE;
    return result && across ? desc->cols : desc->rows;
}
static size_t row_bytes(const ipt_plan_desc *desc, int result)
{
    return desc->rows * desc->cols / rows_of(desc, result) * desc->elem_size;
}
static size_t pitch_of(const ipt_plan_desc *desc, int result)
{
    const size_t pitch = result ? desc->row_pitch_out : desc->row_pitch;
    return pitch ? pitch : row_bytes(desc, result);
}
static size_t extent_of(const ipt_plan_desc *desc, int result)
{
    return (rows_of(desc, result) - 1) * pitch_of(desc, result) + row_bytes(desc, result);
}
static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}
static size_t stride_of(const ipt_plan_desc *desc)
{
    return desc->batch_stride ? desc->batch_stride
                              : larger(rows_of(desc, 0) * pitch_of(desc, 0), rows_of(desc, 1) * pitch_of(desc, 1));
}
static size_t span_of(const ipt_plan_desc *desc, int result)
{
    return (desc->batch ? desc->batch - 1 : 0) * stride_of(desc) + extent_of(desc, result);
}

/* The row and column in the result of the source's element at row and col. */
static void place_of(const ipt_plan_desc *desc, size_t row, size_t col, size_t *to_row, size_t *to_col)
{
    const size_t back_row = desc->rows - 1 - row, back_col = desc->cols - 1 - col;
    const int up = desc->move == IPT_MOVE_ROTATE_180 || desc->move == IPT_MOVE_FLIP_VERTICAL;
    switch (desc->move) {
    case IPT_MOVE_ROTATE_180:
    case IPT_MOVE_FLIP_HORIZONTAL:
    case IPT_MOVE_FLIP_VERTICAL:
        *to_row = up ? back_row : row;
        *to_col = desc->move == IPT_MOVE_FLIP_VERTICAL ? col : back_col;
        return;
    default:
        *to_row = desc->move == IPT_MOVE_TRANSPOSE || desc->move == IPT_MOVE_ROTATE_90 ? col : back_col;
        *to_col = desc->move == IPT_MOVE_TRANSPOSE || desc->move == IPT_MOVE_ROTATE_270 ? row : back_row;
    }
}

/* The content of memory before and after an execution. `any` marks bytes that may have any value afterwards. */
typedef struct content {
    size_t offset, size;
    unsigned char *before, *after, *any, *got;
} content;

static void express(const ipt_plan_desc *desc, unsigned char *element)
{
    uint32_t value;
    if (!desc->expression)
        return;
    if (desc->elem_size == 1) {
        *element = (unsigned char)(*element * 3 + 1);
        return;
    }
    memcpy(&value, element, sizeof value);
    value = value * 3 + 1;
    memcpy(element, &value, sizeof value);
}

/* in_place: the source's bytes may have any value afterwards. from: memory with the source; NULL: `memory` itself. */
static void expect_content(content *memory, const ipt_plan_desc *desc, const unsigned char *from, int in_place)
{
    const size_t size = desc->elem_size, batch = desc->batch ? desc->batch : 1;
    size_t matrix, row, col, to_row, to_col;
    int writes;
    memcpy(memory->after, memory->before, memory->size);
    memset(memory->any, 0, memory->size);
    for (writes = 0; writes < 2; ++writes)
        for (matrix = 0; matrix < batch; ++matrix)
            for (row = 0; row < desc->rows; ++row)
                for (col = 0; col < desc->cols; ++col) {
                    const size_t begin = memory->offset + matrix * stride_of(desc),
                                 source = begin + row * pitch_of(desc, 0) + col * size;
                    size_t target;
                    if (!writes) {
                        if (in_place)
                            memset(memory->any + source, 1, size);
                        continue;
                    }
                    place_of(desc, row, col, &to_row, &to_col);
                    target = begin + to_row * pitch_of(desc, 1) + to_col * size;
                    memcpy(memory->after + target, from + source, size);
                    express(desc, memory->after + target);
                    memset(memory->any + target, 0, size);
                }
}

static void content_make(content *memory, size_t offset, size_t span)
{
    memory->offset = offset;
    memory->size = offset + span + TEST_GUARD;
    memory->before = malloc(memory->size);
    memory->after = malloc(memory->size);
    memory->any = malloc(memory->size);
    memory->got = malloc(memory->size);
    assert_true(memory->before && memory->after && memory->any && memory->got);
    test_fill(memory->before, memory->size);
}

static void content_free(content *memory)
{
    free(memory->before);
    free(memory->after);
    free(memory->any);
    free(memory->got);
}

/* Checks every byte, also those between the rows. */
static void check_content(const content *memory, const ipt_plan_desc *desc, const ipt_plan *plan, const char *how)
{
    size_t wrong = 0, first = 0, i;
    for (i = memory->size; i-- > 0;)
        if (!memory->any[i] && memory->got[i] != memory->after[i]) {
            ++wrong;
            first = i;
        }
    if (!wrong)
        return;
    test_print_case(desc, memory->offset);
    fail_msg("%s: %zu wrong bytes, the first at %td: %02x instead of %02x (before: %02x)\n%s", how, wrong,
             (ptrdiff_t)first - (ptrdiff_t)memory->offset, memory->got[first], memory->after[first],
             memory->before[first], ipt_plan_describe(plan));
}

static cl_mem make_buffer(const content *memory, size_t bytes)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    if (error != CL_SUCCESS)
        test_skip("the device has too little memory for the test's buffers");
    assert_int_equal(clEnqueueWriteBuffer(test_queue, buffer, CL_TRUE, 0, bytes, memory->before, 0, NULL, NULL), 0);
    return buffer;
}

/* A buffer whose last byte is the batch's last one. */
static void check_in_place(ipt_plan *plan, const ipt_plan_desc *desc, size_t offset)
{
    content memory;
    cl_mem buffer;
    content_make(&memory, offset, larger(span_of(desc, 0), span_of(desc, 1)));
    memory.size -= TEST_GUARD;
    expect_content(&memory, desc, memory.before, 1);
    buffer = make_buffer(&memory, memory.size);
    if (ipt_plan_execute(plan, test_queue, buffer, offset, 0, NULL, NULL)) {
        test_print_case(desc, offset);
        fail_msg("%s", ipt_context_error(NULL));
    }
    assert_int_equal(clEnqueueReadBuffer(test_queue, buffer, CL_TRUE, 0, memory.size, memory.got, 0, NULL, NULL), 0);
    check_content(&memory, desc, plan, "in place");
    clReleaseMemObject(buffer);
    content_free(&memory);
}

static void check_out_of_place(ipt_plan *plan, const ipt_plan_desc *desc, size_t offset)
{
    content source, target;
    cl_mem from, to;
    content_make(&source, offset, span_of(desc, 0));
    content_make(&target, offset, span_of(desc, 1));
    source.size -= TEST_GUARD;
    target.size -= TEST_GUARD;
    expect_content(&target, desc, source.before, 0);
    from = make_buffer(&source, source.size);
    to = make_buffer(&target, target.size);
    if (ipt_plan_execute_out_of_place(plan, test_queue, from, offset, to, offset, 0, NULL, NULL)) {
        test_print_case(desc, offset);
        fail_msg("%s", ipt_context_error(NULL));
    }
    assert_int_equal(clEnqueueReadBuffer(test_queue, to, CL_TRUE, 0, target.size, target.got, 0, NULL, NULL), 0);
    check_content(&target, desc, plan, "out of place");
    assert_int_equal(clEnqueueReadBuffer(test_queue, from, CL_TRUE, 0, source.size, source.got, 0, NULL, NULL), 0);
    assert_memory_equal(source.got, source.before, source.size);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    content_free(&source);
    content_free(&target);
}

static void check_host(ipt_plan *plan, const ipt_plan_desc *desc, size_t offset)
{
    content memory;
    content_make(&memory, offset, larger(span_of(desc, 0), span_of(desc, 1)));
    expect_content(&memory, desc, memory.before, 1);
    memcpy(memory.got, memory.before, memory.size);
    if (ipt_plan_execute_host(plan, memory.got + offset)) {
        test_print_case(desc, offset);
        fail_msg("%s", ipt_context_error(NULL));
    }
    check_content(&memory, desc, plan, "host");
    content_free(&memory);
}

/* In place. One case in three also goes out of place and through host memory. */
static void check(ipt_context *context, const ipt_plan_desc *desc)
{
    const size_t unit = test_alignment(desc->elem_size), offset = unit * test_random_between(0, 40);
    ipt_plan *plan = test_make_plan(context, desc);
    check_in_place(plan, desc, offset);
    if (test_random_between(0, 2) == 0) {
        if (desc->move == IPT_MOVE_TRANSPOSE)
            check_out_of_place(plan, desc, offset);
        check_host(plan, desc, TEST_GUARD + test_random_between(0, 16));
    }
    ipt_plan_destroy(plan);
}

/* A pitch without gaps, rounded up to a power of two, with gaps of an odd number of units, or with large gaps. */
static size_t any_pitch(size_t row, size_t unit)
{
    static const size_t multiples[] = {4, 64, 256};
    const size_t multiple = larger(multiples[test_random_between(0, 2)], unit);
    switch (test_random_between(0, 4)) {
    case 0:
        return test_random_between(0, 1) ? 0 : row;
    case 1:
    case 2:
        return (row + multiple - 1) / multiple * multiple;
    case 3:
        return row + unit * (2 * test_random_between(0, 8) + 1);
    default:
        return row * test_random_between(1, 4) + unit * test_random_between(0, 300);
    }
}

static void give_pitches(ipt_plan_desc *desc)
{
    const size_t unit = test_alignment(desc->elem_size);
    desc->row_pitch = any_pitch(row_bytes(desc, 0), unit);
    desc->row_pitch_out = any_pitch(row_bytes(desc, 1), unit);
    if (test_random_between(0, 3) == 0 && row_bytes(desc, 0) == row_bytes(desc, 1))
        desc->row_pitch_out = desc->row_pitch;
    if (test_random_between(0, 2) == 0)
        desc->batch_stride = (larger(extent_of(desc, 0), extent_of(desc, 1)) + unit - 1) / unit * unit +
                             unit * test_random_between(0, 9);
}

static ipt_plan_desc any_desc(size_t most)
{
    static const size_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
    ipt_plan_desc desc = {0};
    desc.rows = test_random_between(1, test_random_between(0, 2) ? most : 12);
    desc.cols = test_random_between(0, 5) ? test_random_between(1, test_random_between(0, 2) ? most : 12) : desc.rows;
    desc.elem_size = sizes[test_random_between(0, TEST_COUNT(sizes) - 1)];
    desc.batch = test_random_between(0, 2) ? 1 : test_random_between(2, 4);
    desc.move = (ipt_move)test_random_between(0, IPT__MOVE_COUNT - 1);
    return desc;
}

/* A workspace that suffices for every shape. */
static void give_workspace(ipt_plan_desc *desc)
{
    desc->max_workspace = test_random_between(0, 2) ? (size_t)1 << 24 : 1;
}

/* All small shapes by each move. */
static void pitch_small(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 9; ++rows)
        for (size_t cols = 1; cols <= 9; ++cols)
            for (int move = 0; move < IPT__MOVE_COUNT; ++move) {
                ipt_plan_desc desc = any_desc(1);
                desc.rows = rows;
                desc.cols = cols;
                desc.move = (ipt_move)move;
                give_pitches(&desc);
                give_workspace(&desc);
                check(test_context, &desc);
            }
}

static void pitch_random(void **state)
{
    (void)state;
    for (int i = 0; i < 300; ++i) {
        ipt_plan_desc desc = any_desc(i % 10 ? 120 : 400);
        give_pitches(&desc);
        give_workspace(&desc);
        if (i % 3 == 0)
            desc.flags = IPT_NO_COOPERATIVE;
        check(i % 4 ? test_context : test_small_context, &desc);
    }
}

/* Expressions apply once to each element, and to no byte between the rows. */
static void pitch_expressions(void **state)
{
    static const cl_uint three = 3;
    (void)state;
    for (int i = 0; i < 80; ++i) {
        ipt_plan_desc desc = any_desc(60);
        desc.elem_size = i % 2 ? 4 : 1;
        desc.expression_type = i % 2 ? "uint" : "uchar";
        desc.expression = i % 4 < 2 ? "x * 3 + 1" : "x * a + 1";
        if (i % 4 >= 2) {
            desc.expression_argument = &three;
            desc.expression_argument_type = "uint";
        }
        give_pitches(&desc);
        give_workspace(&desc);
        check(test_context, &desc);
    }
}

static size_t shorter(const ipt_plan_desc *desc)
{
    return desc->rows < desc->cols ? desc->rows : desc->cols;
}

/* An exchange of bands that the desc forces: tall or wide, with both geometries, and all rests. */
static ipt_plan_desc any_exchange(size_t most)
{
    static const ipt_move moves[] = {IPT_MOVE_TRANSPOSE, IPT_MOVE_ROTATE_90, IPT_MOVE_ROTATE_270,
                                     IPT_MOVE_ANTITRANSPOSE};
    ipt_plan_desc desc = any_desc(most);
    size_t longer;
    desc.rows = larger(desc.rows, 2);
    desc.cols = larger(desc.cols, 2);
    desc.move = moves[test_random_between(0, 3)];
    desc.sequence = IPT_SEQUENCE_EXCHANGE;
    desc.max_workspace = (size_t)1 << 24;
    longer = larger(desc.rows, desc.cols);
    if (test_random_between(0, 3))
        desc.tile_m = test_random_between((longer + shorter(&desc) - 1) / shorter(&desc), longer);
    give_pitches(&desc);
    return desc;
}

static void pitch_exchange(void **state)
{
    (void)state;
    for (int i = 0; i < 300; ++i) {
        ipt_plan_desc desc = any_exchange(i % 2 ? 30 : 150);
        desc.flags = IPT_NO_COOPERATIVE;
        check(i % 4 ? test_context : test_small_context, &desc);
    }
}

/* Bands whose memory is as long as their ranges' memory, one unit longer or one unit shorter, with and without rest
 * rows and rest columns. */
static void check_geometries(ipt_context *context, unsigned flags)
{
    static const ipt_move moves[] = {IPT_MOVE_TRANSPOSE, IPT_MOVE_ROTATE_90, IPT_MOVE_ROTATE_270,
                                     IPT_MOVE_ANTITRANSPOSE};
    for (int i = 0; i < 96; ++i) {
        const size_t number = 3 + (size_t)i % 3, height = 8, width = 4, rest_rows = i & 1 ? 3 : 0,
                     rest_cols = i & 2 ? 2 : 0, rows = number * height + rest_rows, cols = number * width + rest_cols;
        const int wide = i >> 2 & 1, shift = i / 8 % 3 - 1;
        ipt_plan_desc desc = {.rows = wide ? cols : rows, .cols = wide ? rows : cols};
        size_t band, range;
        desc.elem_size = i % 5 ? 4 : 3;
        desc.batch = i % 4 ? 1 : 2;
        desc.move = moves[i / 24];
        desc.sequence = IPT_SEQUENCE_EXCHANGE;
        desc.tile_m = height;
        desc.max_workspace = (size_t)1 << 24;
        desc.flags = flags;
        /* width * range equals height * band, or nearly. Rest rows require more than one band. */
        band = cols * desc.elem_size + 2 * rows * desc.elem_size;
        band = band / 8 * 8;
        range = band * height / width;
        if (shift < 0)
            range -= test_alignment(desc.elem_size);
        if (shift > 0)
            range += test_alignment(desc.elem_size);
        desc.row_pitch = wide ? range : band;
        desc.row_pitch_out = wide ? band : range;
        check(context, &desc);
    }
}

static void pitch_geometries(void **state)
{
    (void)state;
    check_geometries(test_context, IPT_NO_COOPERATIVE);
}

static void try_together(size_t resident, size_t polls, int count)
{
    ipt_context *context = test_make_waiting_context(8192, resident, polls);
    ipt_plan_desc probe = {.rows = 200, .cols = 100, .elem_size = 4, .tile_m = 2};
    size_t together = 0;
    probe.sequence = IPT_SEQUENCE_EXCHANGE;
    probe.max_workspace = (size_t)1 << 24;
    probe.row_pitch = 512;
    if (!test_waits_together(context, &probe)) {
        ipt_context_destroy(context);
        test_skip("the device has no cooperative bands");
    }
    for (int i = 0; i < count; ++i) {
        ipt_plan_desc desc = any_exchange(120);
        together += test_waits_together(context, &desc);
        check(context, &desc);
    }
    assert_in_range(together, (size_t)count / 20, (size_t)count);
    check_geometries(context, 0);
    ipt_context_destroy(context);
}

static void pitch_together(void **state)
{
    (void)state;
    try_together(2, 0, 100);
}

static void pitch_gives_up(void **state)
{
    (void)state;
    for (size_t resident = 4; resident <= 64; resident *= 4)
        try_together(resident, 50 * resident, 60);
}

/* Moves matrices of about `bytes` bytes, alone or in batches. Each matrix fits the context's local memory. Returns the
 * number of moves in one pass; *batches: the number of batches among them. */
static size_t move_on_chip(size_t resident, size_t polls, size_t bytes, int count, size_t *batches)
{
    static const ipt_move moves[] = {IPT_MOVE_TRANSPOSE, IPT_MOVE_ROTATE_90, IPT_MOVE_ROTATE_270,
                                     IPT_MOVE_ANTITRANSPOSE};
    ipt_context *context = test_make_waiting_context(16384, resident, polls);
    size_t on_chip = 0;
    for (int i = 0; i < count; ++i) {
        ipt_plan_desc desc = any_desc(1);
        ipt_plan *plan;
        desc.batch = i % 5 < 2 ? test_random_between(2, 4) : 1;
        desc.move = moves[i % 4];
        desc.rows = test_random_between(20, 100);
        desc.cols = bytes / desc.elem_size / desc.rows;
        desc.max_workspace = (size_t)1 << 20;
        give_pitches(&desc);
        if (i % 3 == 0) { /* rows and runs that are whole words */
            desc.rows = (desc.rows + 3) / 4 * 4;
            desc.cols = (desc.cols + 3) / 4 * 4;
            desc.row_pitch = row_bytes(&desc, 0) + 16 * test_random_between(0, 4);
            desc.row_pitch_out = row_bytes(&desc, 1) + 16 * test_random_between(0, 4);
            desc.batch_stride = 0;
        }
        plan = test_make_plan(context, &desc);
        const int is_on_chip = strstr(ipt_plan_describe(plan), "1. panels together: 1 x ") != NULL;
        on_chip += (size_t)is_on_chip;
        *batches += is_on_chip && desc.batch > 1;
        ipt_plan_destroy(plan);
        check(context, &desc);
    }
    ipt_context_destroy(context);
    return on_chip;
}

/* A matrix on the chip: its work-groups run at the same time, or the last one moves all. */
static void pitch_on_chip(void **state)
{
    size_t batches = 0;
    const size_t two = move_on_chip(2, 20000, 16000, 60, &batches), more = move_on_chip(6, 200, 26000, 60, &batches);
    (void)state;
    if (!two && !more)
        test_skip("the device has no cooperative panels");
    assert_in_range(two, 8, 60);
    assert_in_range(more, 8, 60);
    assert_in_range(batches, 4, 48);
}

/* A pitch without gaps equals no pitch. */
static void pitch_without_gaps(void **state)
{
    (void)state;
    for (int i = 0; i < 30; ++i) {
        ipt_plan_desc desc = any_desc(60), dense;
        ipt_plan *plan, *same;
        desc.elem_size = 4;
        dense = desc;
        desc.row_pitch = row_bytes(&desc, 0);
        desc.row_pitch_out = row_bytes(&desc, 1);
        plan = test_make_plan(test_context, &desc);
        same = test_make_plan(test_context, &dense);
        assert_string_equal(ipt_plan_describe(plan), ipt_plan_describe(same));
        ipt_plan_destroy(plan);
        ipt_plan_destroy(same);
    }
}

/* Measured plans are right. Their wisdom applies to these pitches only. */
static void pitch_measured(void **state)
{
    static const char text[] = " row_pitch=1024 row_pitch_out=1204\n";
    ipt_plan_desc desc = {.rows = 300, .cols = 200, .elem_size = 4, .row_pitch = 1024, .row_pitch_out = 1204};
    ipt_context *measured = test_make_context(0), *told = test_make_context(0);
    char wisdom[4096], again[4096], *line;
    ipt_plan *plan;
    (void)state;
    desc.flags = IPT_MEASURE | IPT_NO_COOPERATIVE; /* for a matrix on the chip there is nothing to measure */
    check(measured, &desc);
    assert_int_equal(ipt_wisdom_export(measured, wisdom, sizeof wisdom, NULL), IPT_SUCCESS);
    line = strstr(wisdom, text);
    assert_non_null(line);
    assert_int_equal(ipt_wisdom_import(told, wisdom), IPT_SUCCESS);
    assert_int_equal(ipt_wisdom_export(told, again, sizeof again, NULL), IPT_SUCCESS);
    assert_string_equal(wisdom, again);
    desc.flags = IPT_NO_COOPERATIVE;
    check(told, &desc);
    desc.row_pitch = desc.row_pitch_out = 0; /* plans with other pitches do not use the wisdom */
    plan = test_make_plan(told, &desc);
    ipt_plan_destroy(plan);
    memcpy(line, " row_pitch=1024 row_pitch_out=0000\n", sizeof text - 1);
    test_expect_parts(ipt_wisdom_import(told, wisdom), IPT_ERROR_INVALID_ARGUMENT, "wisdom, line", "not understood");
    ipt_context_destroy(measured);
    ipt_context_destroy(told);
}

/* If the workspace is too small, the error names a size that suffices. */
static void pitch_workspace(void **state)
{
    (void)state;
    for (int i = 0; i < 40; ++i) {
        ipt_plan_desc desc = any_exchange(100);
        ipt_plan *plan = test_make_plan(test_context, &desc);
        const char *would;
        ipt_plan_destroy(plan);
        plan = NULL;
        desc.tile_m = 0;
        desc.max_workspace = 2;
        test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_UNSUPPORTED, "max_workspace", "2");
        would = strstr(ipt_context_error(NULL), "bytes: max_workspace = ");
        assert_non_null(would);
        desc.max_workspace = (size_t)strtoull(strchr(would, '=') + 1, NULL, 10);
        plan = test_make_plan(test_context, &desc);
        ipt_plan_destroy(plan);
        check(test_context, &desc);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

static ipt_plan_desc good_desc(void)
{
    ipt_plan_desc desc = {.rows = 30, .cols = 20, .elem_size = 4, .row_pitch = 96, .row_pitch_out = 160};
    return desc;
}

static void expect_bad(const ipt_plan_desc *desc, ipt_result result, const char *name, const char *value)
{
    ipt_plan *plan = NULL;
    test_expect_parts(ipt_plan_create(test_context, desc, &plan), result, name, value);
    assert_null(plan);
}

static void pitch_bad_values(void **state)
{
    ipt_plan_desc desc = good_desc();
    (void)state;
    desc.row_pitch = 79;
    expect_bad(&desc, IPT_ERROR_INVALID_ARGUMENT, "row_pitch = 79", "80 bytes");
    desc.row_pitch = 82;
    expect_bad(&desc, IPT_ERROR_INVALID_ARGUMENT, "row_pitch = 82", "multiple of 4");
    desc = good_desc();
    desc.row_pitch_out = 119;
    expect_bad(&desc, IPT_ERROR_INVALID_ARGUMENT, "row_pitch_out = 119", "120 bytes");
    desc.row_pitch_out = 121;
    expect_bad(&desc, IPT_ERROR_INVALID_ARGUMENT, "row_pitch_out = 121", "multiple of 4");
    desc.row_pitch_out = SIZE_MAX / 8 / 4 * 4;
    expect_bad(&desc, IPT_ERROR_INVALID_ARGUMENT, "row_pitch_out", "overflows");
    desc = good_desc();
    desc.move = IPT_MOVE_ROTATE_180; /* the move does not transpose */
    desc.row_pitch_out = 76;
    expect_bad(&desc, IPT_ERROR_INVALID_ARGUMENT, "row_pitch_out = 76", "80 bytes");
    desc = good_desc();
    desc.batch = 2;
    desc.batch_stride = 19 * 160 + 120 - 4; /* the result is longer than the source */
    expect_bad(&desc, IPT_ERROR_INVALID_ARGUMENT, "batch_stride = 3156", "3160");
    desc.row_pitch_out = 0;
    desc.batch_stride = 29 * 96 + 80 - 4;
    expect_bad(&desc, IPT_ERROR_INVALID_ARGUMENT, "batch_stride = 2860", "2864");
    desc.elem_size = 3;
    desc.row_pitch = 61;
    desc.batch_stride = 0;
    check(test_context, &desc); /* a pitch that is no multiple of an element */
}

static void pitch_unsupported(void **state)
{
    ipt_plan_desc desc = good_desc();
    (void)state;
    desc.sequence = IPT_SEQUENCE_TWO_PASS;
    expect_bad(&desc, IPT_ERROR_UNSUPPORTED, "row_pitch is 96", "sequences");
    desc.sequence = IPT_SEQUENCE_AUTO;
    desc.tile_m = 5;
    expect_bad(&desc, IPT_ERROR_UNSUPPORTED, "row_pitch is 96", "tile_m");
    desc = good_desc();
    desc.cols = 30;
    desc.sequence = IPT_SEQUENCE_SQUARE;
    desc.row_pitch = 160;
    desc.row_pitch_out = 164;
    expect_bad(&desc, IPT_ERROR_UNSUPPORTED, "row_pitch_out is 164", "square");
    desc.row_pitch_out = 160;
    check(test_context, &desc);
    desc.cols = 29;
    expect_bad(&desc, IPT_ERROR_INVALID_ARGUMENT, "square", "29");
#ifndef IPT_NO_HOST_STREAMING
    desc = good_desc();
    desc.host = IPT_HOST_OVERLAPPED;
    expect_bad(&desc, IPT_ERROR_UNSUPPORTED, "row_pitch is 96", "in parts");
    desc.host = IPT_HOST_AUTO;
    {
        ipt_context *contexts[2];
        ipt_plan *plan = NULL;
        contexts[0] = contexts[1] = test_context;
        test_expect_parts(ipt_plan_create_split(contexts, 2, &desc, &plan), IPT_ERROR_UNSUPPORTED, "row_pitch",
                          "not cut into parts");
        assert_null(plan);
    }
    desc.host = IPT_HOST_SYNCHRONOUS;
    check(test_context, &desc);
    desc.max_device_memory = 2000;
    expect_bad(&desc, IPT_ERROR_UNSUPPORTED, "max_device_memory", "row_pitch");
#endif
#ifndef IPT_NO_STORAGE
    desc = good_desc();
    desc.max_host_memory = 100000;
    expect_bad(&desc, IPT_ERROR_UNSUPPORTED, "row_pitch is 96", "storages");
#endif
#ifndef IPT_NO_PAPERS
    desc = good_desc();
    desc.flags = IPT_PAD;
    expect_bad(&desc, IPT_ERROR_UNSUPPORTED, "row_pitch is 96", "IPT_PAD");
    desc = good_desc();
    desc.from = IPT_FORMAT_RM;
    desc.to = IPT_FORMAT_RRRB;
    desc.tile_m = desc.tile_n = 5;
    expect_bad(&desc, IPT_ERROR_UNSUPPORTED, "row_pitch is 96", "formats");
    desc = good_desc();
    desc.sequence = IPT_SEQUENCE_3_1;
    expect_bad(&desc, IPT_ERROR_UNSUPPORTED, "row_pitch is 96", "sequences");
#endif
}

/* A buffer must have room for source and result: one byte less is refused. Out of place, each has room for one. */
static void pitch_small_buffers(void **state)
{
    static const size_t spans[2] = {29 * 96 + 80, 19 * 160 + 120};
    const ipt_plan_desc desc = good_desc();
    ipt_plan *plan = test_make_plan(test_context, &desc);
    cl_mem buffers[2];
    cl_int error;
    (void)state;
    for (int shorted = 0; shorted < 2; ++shorted) {
        for (int i = 0; i < 2; ++i) {
            buffers[i] =
                clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, spans[i] + 8 - (i == shorted), NULL, &error);
            assert_int_equal(error, CL_SUCCESS);
        }
        test_expect_parts(ipt_plan_execute_out_of_place(plan, test_queue, buffers[0], 8, buffers[1], 8, 0, NULL, NULL),
                          IPT_ERROR_INVALID_ARGUMENT, shorted ? "destination" : "source", test_number(spans[shorted]));
        test_expect_parts(ipt_plan_execute(plan, test_queue, buffers[shorted], 8, 0, NULL, NULL),
                          IPT_ERROR_INVALID_ARGUMENT, "buffer", test_number(spans[1]));
        for (int i = 0; i < 2; ++i)
            clReleaseMemObject(buffers[i]);
    }
    ipt_plan_destroy(plan);
}

/* The last byte of a buffer's source may be followed by the result's first one. */
static void pitch_overlaps(void **state)
{
    static const size_t spans[2] = {29 * 96 + 80, 19 * 160 + 120};
    const ipt_plan_desc desc = good_desc();
    ipt_plan *plan = test_make_plan(test_context, &desc);
    cl_int error;
    cl_mem buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, spans[0] + spans[1], NULL, &error);
    (void)state;
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(ipt_plan_execute_out_of_place(plan, test_queue, buffer, 0, buffer, spans[0], 0, NULL, NULL),
                     IPT_SUCCESS);
    assert_int_equal(ipt_plan_execute_out_of_place(plan, test_queue, buffer, spans[1], buffer, 0, 0, NULL, NULL),
                     IPT_SUCCESS);
    test_expect_parts(ipt_plan_execute_out_of_place(plan, test_queue, buffer, 0, buffer, spans[0] - 4, 0, NULL, NULL),
                      IPT_ERROR_INVALID_ARGUMENT, "destination_offset", "overlaps");
    assert_int_equal(clFinish(test_queue), CL_SUCCESS);
    clReleaseMemObject(buffer);
    ipt_plan_destroy(plan);
}

/* The description has both pitches. */
static void pitch_described(void **state)
{
    const ipt_plan_desc desc = good_desc();
    ipt_plan *plan = test_make_plan(test_context, &desc);
    (void)state;
    assert_non_null(strstr(ipt_plan_describe(plan), "rows 96 bytes apart before, 160 after"));
    ipt_plan_destroy(plan);
}

const struct CMUnitTest test_pitch[] = {
    TEST_CASE(pitch_small),         TEST_CASE(pitch_random),       TEST_CASE(pitch_expressions),
    TEST_CASE(pitch_exchange),      TEST_CASE(pitch_geometries),   TEST_CASE(pitch_together),
    TEST_CASE(pitch_gives_up),      TEST_CASE(pitch_without_gaps), TEST_CASE(pitch_measured),
    TEST_CASE(pitch_workspace),     TEST_CASE(pitch_bad_values),   TEST_CASE(pitch_unsupported),
    TEST_CASE(pitch_small_buffers), TEST_CASE(pitch_overlaps),     TEST_CASE(pitch_described),
    TEST_CASE(pitch_on_chip)};
const size_t test_pitch_count = TEST_COUNT(test_pitch);
