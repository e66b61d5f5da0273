/* Contract: rotations and reflections move every element to the right place, to the byte. An expression is applied to
 * every element exactly once, whichever stages move it. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    size_t rows, cols, batch;
} shapes[] = {{1, 1, 1},     {1, 9, 1},   {9, 1, 2},    {2, 2, 1},    {3, 5, 1},     {5, 4, 700},
              {8, 8, 33},    {31, 33, 5}, {64, 64, 1},  {97, 89, 1},  {300, 211, 1}, {211, 300, 1},
              {512, 512, 1}, {1, 6, 900}, {1500, 7, 1}, {7, 1500, 3}, {128, 1, 1}};

static void moves_all(void **state)
{
    (void)state;
    for (int move = IPT_MOVE_TRANSPOSE; move < IPT__MOVE_COUNT; ++move)
        for (size_t s = 0; s < TEST_COUNT(shapes); ++s)
            for (size_t e = 0; e < TEST_ELEMENT_SIZE_COUNT; ++e) {
                ipt_plan_desc desc = {.rows = shapes[s].rows, .cols = shapes[s].cols, .batch = shapes[s].batch};
                desc.elem_size = test_element_sizes[e];
                desc.move = (ipt_move)move;
                test_transposes(e % 3 == 2 ? test_small_context : test_context, &desc);
            }
}

/* Reversed rows and reversed sequences of rows, of short and long elements. */
static void moves_flips(void **state)
{
    static const ipt_move moves[] = {IPT_MOVE_ROTATE_180, IPT_MOVE_FLIP_HORIZONTAL, IPT_MOVE_FLIP_VERTICAL};
    static const size_t long_sizes[] = {4095, 4096, 4098, 8200, 20000};
    (void)state;
    for (int i = 0; i < 150; ++i) {
        const bool is_long = i % 10 == 9;
        ipt_plan_desc desc = {.rows = test_random_between(1, is_long ? 4 : 80), .batch = test_random_between(1, 3)};
        desc.elem_size = is_long ? long_sizes[i / 10 % TEST_COUNT(long_sizes)] : test_random_between(1, 26);
        desc.cols = test_random_between(1, is_long ? 5 : test_random_between(0, 2) ? 200 : 9000 / desc.elem_size);
        desc.move = moves[i % 3];
        test_transposes(i % 2 ? test_small_context : test_context, &desc);
    }
}

/* Squares that GPUs rotate by tiles. Some sides are multiples of a tile's side, others are not. */
static void moves_squares(void **state)
{
    static const ipt_move moves[] = {IPT_MOVE_ROTATE_90, IPT_MOVE_ROTATE_270, IPT_MOVE_ANTITRANSPOSE};
    (void)state;
    for (int i = 0; i < 90; ++i) {
        const size_t side = i % 5 ? test_random_between(2, 420) : 16 * test_random_between(4, 24);
        ipt_plan_desc desc = {.rows = side, .cols = side, .batch = i % 7 ? 1 : 3};
        desc.elem_size = (size_t)4 << test_random_between(0, 2);
        desc.move = moves[i % 3];
        test_transposes(i % 4 == 3 ? test_small_context : test_context, &desc);
    }
}

/* Moves that transpose work with every sequence. */
static void moves_sequences(void **state)
{
    (void)state;
    for (int sequence = IPT_SEQUENCE_AUTO; sequence < IPT__SEQUENCE_COUNT; ++sequence)
        for (int move = IPT_MOVE_TRANSPOSE; move < IPT__MOVE_COUNT; ++move) {
            ipt_plan_desc desc = {.rows = 120, .cols = 120, .elem_size = 4, .batch = 2};
            if (move == IPT_MOVE_ROTATE_180 || move == IPT_MOVE_FLIP_HORIZONTAL || move == IPT_MOVE_FLIP_VERTICAL)
                continue;
            desc.move = (ipt_move)move;
            desc.sequence = (ipt_sequence)sequence;
            desc.tile_m = sequence == IPT_SEQUENCE_AUTO || sequence == IPT_SEQUENCE_SQUARE ? 0 : 12;
            desc.tile_n = desc.tile_m ? 10 : 0;
            test_transposes(test_context, &desc);
        }
}

/* The number of stages in the description of a plan with this move and this expression. *flips: whether one stage only
 * reverses rows, or their sequence. */
static size_t count_stages(ipt_context *context, ipt_plan_desc desc, ipt_move move, const char *expression, bool *flips)
{
    desc.elem_size = 4;
    desc.move = move;
    desc.expression = expression;
    desc.expression_type = expression ? "float" : NULL;
    ipt_plan *plan = test_make_plan(context, &desc);
    size_t count = 0;
    for (const char *line = ipt_plan_describe(plan); (line = strstr(line, "\n  ")); ++line)
        count += line[3] >= '1' && line[3] <= '9' && line[4] == '.';
    *flips = strstr(ipt_plan_describe(plan), ". flip: ") != NULL;
    assert_false(*flips && strstr(ipt_plan_describe(plan), ". exchange: "));
    ipt_plan_destroy(plan);
    return count;
}

/* The number of passes is as in the manual. A rotation needs no more passes than the transposition for small matrices
 * of a batch and for exchanges, and one more for other large matrices. An expression needs one more if no other pass
 * can apply it. Moves that do not transpose need one pass in all. */
static void moves_passes(void **state)
{
    const ipt_plan_desc small = {.rows = 8, .cols = 5, .batch = 900}, large = {.rows = 1500, .cols = 1301},
                        cycles = {.rows = 40, .cols = 30, .sequence = IPT_SEQUENCE_1};
    ipt_context *const context =
        test_make_context((size_t)256 << 10); /* matrices that fit a work-group are not large */
    cl_device_type type = 0;
    bool flips;
    (void)state;
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_TYPE, sizeof type, &type, NULL), CL_SUCCESS);
    for (int move = IPT_MOVE_TRANSPOSE; move < IPT__MOVE_COUNT; ++move) {
        const int straight =
            move == IPT_MOVE_ROTATE_180 || move == IPT_MOVE_FLIP_HORIZONTAL || move == IPT_MOVE_FLIP_VERTICAL;
        assert_int_equal(count_stages(context, small, (ipt_move)move, NULL, &flips), 1);
        assert_int_equal(count_stages(context, small, (ipt_move)move, "x * x", &flips), 1);
        const size_t plain = count_stages(context, large, (ipt_move)move, NULL, &flips);
        if (straight)
            assert_int_equal(plain, 1);
        else if (move == IPT_MOVE_TRANSPOSE || (type & CL_DEVICE_TYPE_CPU))
            assert_false(flips);
        assert_int_equal(count_stages(context, large, (ipt_move)move, "x * x", &flips), straight ? 2 : plain);
    }
    assert_int_equal(count_stages(context, cycles, IPT_MOVE_TRANSPOSE, "x * x", &flips),
                     count_stages(context, cycles, IPT_MOVE_TRANSPOSE, NULL, &flips) + 1);
    ipt_context_destroy(context);
}

/* Moves matrices of about `bytes` bytes, alone or in batches. Each matrix fits the context's local memory. Returns the
 * number of moves in one pass; *batches: the number of batches among them. */
static size_t move_on_chip(size_t resident, size_t polls, size_t bytes, int count, size_t *batches)
{
    static const size_t sizes[] = {1, 2, 3, 4, 8, 12, 16};
    ipt_context *context = test_make_waiting_context(16384, resident, polls);
    size_t on_chip = 0;
    for (int i = 0; i < count; ++i) {
        ipt_plan_desc desc = {.elem_size = sizes[test_random_between(0, TEST_COUNT(sizes) - 1)]};
        const size_t elements = bytes / desc.elem_size;
        desc.rows = test_random_between(20, 150);
        desc.cols = elements / desc.rows;
        if (i % 6 == 0)
            for (desc.rows = 1; desc.rows * desc.rows < elements; desc.cols = ++desc.rows)
                ;
        desc.move = (ipt_move)test_random_between(0, IPT__MOVE_COUNT - 1);
        desc.max_workspace = 1 << 20;
        desc.batch = i % 3 == 0 ? test_random_between(2, 5) : 1;
        ipt_plan *plan = test_make_plan(context, &desc);
        const bool is_on_chip = strstr(ipt_plan_describe(plan), "1. panels together: 1 x ") != NULL;
        assert_false(is_on_chip && strstr(ipt_plan_describe(plan), "2. "));
        ipt_plan_destroy(plan);
        on_chip += is_on_chip;
        *batches += is_on_chip && desc.batch > 1;
        test_transposes(context, &desc);
    }
    ipt_context_destroy(context);
    return on_chip;
}

/* A matrix in the local memory of some work-groups moves in one pass. Either all run at the same time (on most devices,
 * two do), or the last one moves everything. The matrices of a batch follow one another. */
static void moves_on_chip(void **state)
{
    (void)state;
    size_t batches = 0;
    const size_t two = move_on_chip(2, 20000, 18000, 60, &batches), more = move_on_chip(6, 200, 30000, 60, &batches);
    if (!two && !more)
        test_skip("the device has no cooperative panels");
    assert_in_range(two, 10, 60);
    assert_in_range(more, 10, 60);
    assert_in_range(batches, 4, 40);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Applies the expression on the host. Applying it twice differs from applying it once or not at all. */
static void apply_here(unsigned char *data, size_t count, const char *type)
{
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(type, "uchar") == 0) {
            data[i] = (unsigned char)(data[i] * 3u + 1u);
        } else if (strcmp(type, "ushort") == 0) {
            uint16_t x;
            memcpy(&x, data + 2 * i, 2);
            x = (uint16_t)(x * 3u + 1u);
            memcpy(data + 2 * i, &x, 2);
        } else if (strcmp(type, "uint") == 0 || strcmp(type, "uint4") == 0) {
            for (size_t k = 0, parts = type[4] ? 4 : 1; k < parts; ++k) {
                uint32_t x;
                memcpy(&x, data + 4 * (i * parts + k), 4);
                x = x * 3u + 1u;
                memcpy(data + 4 * (i * parts + k), &x, 4);
            }
        } else {
            uint64_t x;
            memcpy(&x, data + 8 * i, 8);
            x = x * 3u + 1u;
            memcpy(data + 8 * i, &x, 8);
        }
    }
}

static const struct {
    const char *type, *expression;
    const char *with_argument; /* the same function, as an expression with the argument 1 */
    const char *argument_type;
    size_t bytes;
} expressions[] = {{"uchar", "x * 3 + 1", "x * 3 + a", NULL, 1},
                   {"ushort", "x * 3 + 1", "x * 3 + a", "ulong", 2},
                   {"uint", "x * 3 + 1", "x * 3 + a", "uint", 4},
                   {"ulong", "x * 3 + 1", "x * 3 + a", NULL, 8},
                   {"uint4", "x * 3u + 1u", "x * 3u + a", "uint", 16}};

/* argument: NULL, or the argument 1. */
static void try_expression(test_job *job, const ipt_plan_desc *shape, size_t which, const uint64_t *argument)
{
    ipt_plan_desc desc = *shape;
    const size_t batch = desc.batch ? desc.batch : 1;
    desc.elem_size = expressions[which].bytes;
    desc.expression = expressions[which].expression;
    desc.expression_type = expressions[which].type;
    if (argument) {
        desc.expression = expressions[which].with_argument;
        desc.expression_argument = argument;
        desc.expression_argument_type = expressions[which].argument_type;
    }
    ipt_plan *plan = test_make_plan(test_context, &desc);
    test_job_prepare(job, test_cl_context, &desc, TEST_GUARD);
    for (size_t m = 0; m < batch; ++m)
        apply_here(job->expected + TEST_GUARD + m * test_stride(&desc), desc.rows * desc.cols, desc.expression_type);
    assert_true(test_job_run(job, plan, test_queue));
    ipt_plan_destroy(plan);
}

static void try_expressions(const uint64_t *argument)
{
    test_job job = {.size = 0};
    for (size_t which = 0; which < TEST_COUNT(expressions); ++which)
        for (size_t s = 0; s < TEST_COUNT(shapes); ++s) {
            ipt_plan_desc desc = {.rows = shapes[s].rows, .cols = shapes[s].cols, .batch = shapes[s].batch};
            desc.move = (ipt_move)((s + which) % IPT__MOVE_COUNT);
            desc.batch_stride = which % 2 ? (desc.rows * desc.cols + 3) * expressions[which].bytes : 0;
            try_expression(&job, &desc, which, argument);
        }
    /* Rotated squares: the middle element does not move, but the expression applies to it. */
    for (size_t which = 0; which < TEST_COUNT(expressions); ++which)
        for (int move = IPT_MOVE_TRANSPOSE; move < IPT__MOVE_COUNT; ++move) {
            const size_t side = which % 2 ? 161 : 128;
            const ipt_plan_desc desc = {.rows = side, .cols = side, .move = (ipt_move)move};
            try_expression(&job, &desc, which, argument);
        }
    /* Every sequence. */
    for (int sequence = IPT_SEQUENCE_1; sequence < IPT__SEQUENCE_COUNT; ++sequence) {
        ipt_plan_desc desc = {.rows = 120, .cols = 120, .tile_m = 12, .tile_n = 10};
        desc.sequence = (ipt_sequence)sequence;
        if (sequence == IPT_SEQUENCE_SQUARE)
            desc.tile_m = desc.tile_n = 0;
        try_expression(&job, &desc, 2, argument);
    }
    test_job_end(&job);
}

static void moves_expressions(void **state)
{
    (void)state;
    try_expressions(NULL);
}

/* The values of the expression from an argument. */
static void moves_expression_arguments(void **state)
{
    static const uint64_t one = 1;
    (void)state;
    try_expressions(&one);
}

/* Arguments of all sizes, of other types than x, at any address, in and out of place. The plan copies them. */
static void moves_argument_types(void **state)
{
    static const struct {
        const char *type, *expression, *argument_type;
        size_t bytes;
        unsigned char value[16], before[16], after[16];
    } cases[] = {
        {"uchar", "x + a", NULL, 1, {7}, {250}, {1}},
        {"uchar", "convert_uchar_sat(convert_float(x) * a)", "float", 1, {0, 0, 0, 0x40}, {100}, {200}}, /* 2.0 */
        {"ushort", "x + a.y", "ushort2", 2, {9, 9, 1, 2}, {1, 1}, {2, 3}},
        {"uchar4", "x.wzyx ^ a", NULL, 4, {1, 2, 4, 8}, {0, 16, 32, 48}, {49, 34, 20, 8}},
        {"float2",
         "x * a",
         "float",
         8,
         {0, 0, 0, 0xc0},
         {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40},
         {0, 0, 0, 0xc0, 0, 0, 0x80, 0xc0}},
        {"ulong", "x + a", "char", 8, {0xff}, {1, 1}, {0, 1}}, /* -1 */
        {"uint4",
         "x + a",
         NULL,
         16,
         {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4},
         {5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5},
         {6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9}},
        {"uint", "a.sf + x", "uchar16", 4, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, {1}, {17}},
    };
    enum { ROWS = 37, COLS = 23 };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        unsigned char value[17], data[2][ROWS * COLS * 16], result[ROWS * COLS * 16];
        char type[16] = "";
        const size_t bytes = cases[i].bytes, all = bytes * ROWS * COLS;
        ipt_plan_desc desc = {.rows = ROWS, .cols = COLS, .elem_size = bytes, .expression = cases[i].expression};
        cl_int error;
        memcpy(value + 1, cases[i].value, 16);
        desc.expression_type = cases[i].type;
        desc.expression_argument = value + 1;
        if (cases[i].argument_type) {
            strcpy(type, cases[i].argument_type);
            desc.expression_argument_type = type;
        }
        ipt_plan *plan = test_make_plan(test_context, &desc);
        memset(value, 0x55, sizeof value);
        memset(type, '?', sizeof type);
        for (size_t k = 0; k < ROWS * COLS; ++k) {
            memcpy(data[0] + k * bytes, cases[i].before, bytes);
            memcpy(data[1] + k * bytes, cases[i].after, bytes);
        }
        cl_mem from = clCreateBuffer(test_cl_context, CL_MEM_COPY_HOST_PTR, all, data[0], &error);
        assert_int_equal(error, CL_SUCCESS);
        cl_mem to = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, all, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(ipt_plan_execute_out_of_place(plan, test_queue, from, 0, to, 0, 0, NULL, NULL), IPT_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(test_queue, to, CL_TRUE, 0, all, result, 0, NULL, NULL), CL_SUCCESS);
        assert_memory_equal(result, data[1], all);
        assert_int_equal(ipt_plan_execute_host(plan, data[0]), IPT_SUCCESS);
        assert_memory_equal(data[0], data[1], all);
        clReleaseMemObject(from);
        clReleaseMemObject(to);
        ipt_plan_destroy(plan);
    }
}

/* The bits of a half as a bfloat16: the nearest one, the even one of two. */
static uint16_t brain_of_half(uint16_t half)
{
    const int exponent = half >> 10 & 31, mantissa = half & 1023;
    const float above = exponent ? ldexpf((float)(mantissa + 1024), exponent - 25) : ldexpf((float)mantissa, -24);
    uint32_t bits;
    memcpy(&bits, &above, sizeof bits);
    if (exponent == 31)
        return (uint16_t)((half & 0x8000) | (mantissa ? 0x7fff : 0x7f80));
    return (uint16_t)((half & 0x8000) | (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Expressions whose result has another type of the same size, for every 16 bits and for as many larger elements. */
static void moves_conversions(void **state)
{
    static const struct {
        const char *type, *expression;
        size_t bytes;
    } cases[] = {
        {"uchar2", "x.yx", 2},
        {"uchar4", "x.wzyx", 4},
        {"uchar8", "x.s76543210", 8},
        {"uchar16", "x.sfedcba9876543210", 16},
        {"int", "as_int(convert_float(x))", 4},
        {"ushort",
         "(x & 0x7fff) > 0x7c00 ? x | 0x7fff : (as_uint(vload_half(0, (const half *)&x)) + 0x7fff + "
         "(as_uint(vload_half(0, (const half *)&x)) >> 16 & 1)) >> 16",
         2},
    };
    enum { SIDE = 256, ALL = SIDE * SIDE };
    static unsigned char data[ALL * 16], expected[ALL * 16];
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        const size_t bytes = cases[i].bytes;
        const ipt_plan_desc desc = {.rows = SIDE,
                                    .cols = SIDE,
                                    .elem_size = bytes,
                                    .expression = cases[i].expression,
                                    .expression_type = cases[i].type};
        ipt_plan *const plan = test_make_plan(test_context, &desc);
        test_fill(data, ALL * bytes);
        for (size_t k = 0; k < ALL; ++k) {
            const uint16_t number = (uint16_t)k;
            unsigned char *const from = data + k * bytes, *const to = expected + (k % SIDE * SIDE + k / SIDE) * bytes;
            memcpy(from, &number, sizeof number);
            for (size_t b = 0; b < bytes; ++b)
                to[b] = from[bytes - 1 - b];
            if (!strcmp(cases[i].type, "int")) {
                int32_t before;
                float after;
                memcpy(&before, from, sizeof before);
                after = (float)before;
                memcpy(to, &after, sizeof after);
            } else if (!strcmp(cases[i].type, "ushort")) {
                const uint16_t after = brain_of_half(number);
                memcpy(to, &after, sizeof after);
            }
        }
        if (ipt_plan_execute_host(plan, data))
            fail_msg("%s", ipt_context_error(NULL));
        if (memcmp(data, expected, ALL * bytes) != 0)
            fail_msg("%s", cases[i].expression);
        ipt_plan_destroy(plan);
    }
}

/* Floats, in place and out of place, and two expressions for one shape. */
static void moves_expression_floats(void **state)
{
    enum { ROWS = 150, COLS = 70 };
    static float data[ROWS * COLS], result[ROWS * COLS];
    static const char *const texts[2] = {"x * x", "x < 0 ? 0 : x"};
    (void)state;
    for (size_t t = 0; t < 2; ++t) {
        char text[40], type[] = "float";
        ipt_plan_desc desc = {.rows = ROWS, .cols = COLS, .elem_size = 4, .expression = text, .expression_type = type};
        cl_int error;
        strcpy(text, texts[t]);
        ipt_plan *plan = test_make_plan(test_context, &desc);
        memset(text, '?', 3); /* the plan has its own copy */
        type[0] = '?';
        for (size_t i = 0; i < ROWS * COLS; ++i)
            data[i] = (float)i - 4000;
        cl_mem from = clCreateBuffer(test_cl_context, CL_MEM_COPY_HOST_PTR, sizeof data, data, &error);
        assert_int_equal(error, CL_SUCCESS);
        cl_mem to = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, sizeof data, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(ipt_plan_execute_out_of_place(plan, test_queue, from, 0, to, 0, 0, NULL, NULL), IPT_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(test_queue, to, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL),
                         CL_SUCCESS);
        for (int pass = 0; pass < 2; ++pass) {
            for (size_t row = 0; row < ROWS; ++row)
                for (size_t col = 0; col < COLS; ++col) {
                    const float x = (float)(row * COLS + col) - 4000;
                    const volatile float expected = t ? (x < 0 ? 0 : x) : x * x; /* rounded to float */
                    if (result[col * ROWS + row] != expected)
                        fail_msg("%.9g became %.9g", (double)x, (double)result[col * ROWS + row]);
                }
            assert_int_equal(ipt_plan_execute_host(plan, data), IPT_SUCCESS);
            memcpy(result, data, sizeof data);
        }
        clReleaseMemObject(from);
        clReleaseMemObject(to);
        ipt_plan_destroy(plan);
    }
}

#define WITH_ARGUMENT(type)                                                                                            \
    {                                                                                                                  \
        .elem_size = 4, .expression = "x", .expression_type = "float", .expression_argument = "1234567890123456",      \
        .expression_argument_type = type                                                                               \
    }

#define OF_FLOATS(text)                                                                                                \
    {                                                                                                                  \
        .elem_size = 4, .expression = text, .expression_type = "float"                                                 \
    }

/* Expressions with comments, literals and brackets keep their meaning within the program's text. */
static void moves_expression_texts(void **state)
{
    enum { ROWS = 5, COLS = 7 };
    static const char *const same[] = {/* all of them: 2 * x + 42 */
                                       "x * 2 /* twice */ + 42",
                                       "/* // */ x * 2 + 42",
                                       "x * 2 + 42 /* */",
                                       "x * 2 /* a /* comment */ + 42 /**/",
                                       "x*2+/***/42",
                                       "x\t* 2 + 42 /* # \\ double half ) \xc3\xa4 */",
                                       "x * 2 + '*'",
                                       "x * 2 + '*' /* '/' */",
                                       "x * 2 + '*' + '\\0' + ('\\'' - '\\'' + '\\\\' - '\\\\') /* \" */",
                                       "x * 2 + '*' + ('/' - '/') * '\"' + ('#' - '#') + ('(' - '(') + (')' - ')')",
                                       "x * 2, x * 2 + 42",
                                       "x > 1000 ? 0 : x * 2 + 42",
                                       "x * 2 + 42 + 0 * (int)sizeof(\"*/ // /* ) #\")"};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(same); ++i)
        for (int argument = 0; argument < 2; ++argument) {
            cl_int data[ROWS * COLS];
            const cl_int a = 5;
            ipt_plan_desc desc = {.rows = ROWS, .cols = COLS, .elem_size = 4, .expression_type = "int"};
            desc.expression = same[i];
            desc.expression_argument = argument ? &a : NULL;
            for (int k = 0; k < ROWS * COLS; ++k)
                data[k] = k;
            ipt_plan *plan = test_make_plan(test_context, &desc);
            assert_int_equal(ipt_plan_execute_host(plan, data), IPT_SUCCESS);
            for (int k = 0; k < ROWS * COLS; ++k)
                if (data[k % COLS * ROWS + k / COLS] != 2 * k + 42)
                    fail_msg("%s: %d became %d", same[i], k, (int)data[k % COLS * ROWS + k / COLS]);
            assert_true(strstr(ipt_plan_describe(plan), same[i]) != NULL);
            ipt_plan_destroy(plan);
        }
}

static void moves_bad_input(void **state)
{
    static const struct {
        ipt_plan_desc desc;
        const char *name, *value;
    } wrong[] = {
        {{.elem_size = 4, .move = (ipt_move)-1}, "move", "-1"},
        {{.elem_size = 4, .move = IPT__MOVE_COUNT}, "move", NULL},
        {{.elem_size = 4, .move = IPT_MOVE_ROTATE_90, .flags = IPT_PAD}, "move", "IPT_PAD"},
        {{.elem_size = 4, .move = IPT_MOVE_ROTATE_90, .to = IPT_FORMAT_CCRB, .tile_m = 2, .tile_n = 2},
         "move",
         "formats"},
        {{.elem_size = 4, .move = IPT_MOVE_ROTATE_180, .sequence = IPT_SEQUENCE_TWO_PASS}, "move", "rotate-180"},
        {{.elem_size = 4, .move = IPT_MOVE_FLIP_VERTICAL, .tile_m = 2}, "move", "flip-vertical"},
        {{.elem_size = 4, .expression = "x"}, "expression_type", "NULL"},
        {{.elem_size = 4, .expression_type = "float"}, "expression", "NULL"},
        {{.elem_size = 3, .expression = "x", .expression_type = "uchar"}, "elem_size", "3"},
        {{.elem_size = 24, .expression = "x", .expression_type = "float"}, "elem_size", "24"},
        {{.elem_size = 4, .expression = "", .expression_type = "float"}, "expression", NULL},
        {{.elem_size = 4, .expression = "x +\n1", .expression_type = "float"}, "expression", NULL},
        {OF_FLOATS("x\v"), "expression", "control characters"},
        {OF_FLOATS("x\x1b[2J"), "expression", "control characters"},
        {OF_FLOATS("x // twice"), "expression", "'//'"},
        {OF_FLOATS("x /* open"), "expression", "comment without its end"},
        {OF_FLOATS("x /*/ open"), "expression", "comment without its end"},
        {OF_FLOATS("'\"' + x /* '*' / open"), "expression", "comment without its end"},
        {OF_FLOATS("x /* closed */ * 2 /*"), "expression", "comment without its end"},
        {OF_FLOATS("x \\"), "expression", "backslash"},
        {OF_FLOATS("x + ?\?/"), "expression", "backslash"},
        {OF_FLOATS("x # y"), "expression", "'#'"},
        {OF_FLOATS("#define x"), "expression", "'#'"},
        {OF_FLOATS("x) + (1"), "expression", "')' before its '('"},
        {OF_FLOATS("x); return (unit"), "expression", "')' before its '('"},
        {OF_FLOATS("x /* ( */ ) + (1"), "expression", "')' before its '('"},
        {{.elem_size = 4, .expression = "x", .expression_type = ""}, "expression_type", NULL},
        {{.elem_size = 4, .expression = "x", .expression_type = "float x"}, "expression_type", NULL},
        {{.elem_size = 16, .expression = "x", .expression_type = "float3"}, "expression_type", "float3"},
        {{.elem_size = 4, .expression = "x", .expression_type = "4float"}, "expression_type", "4float"},
        {{.elem_size = 4, .expression_argument = "1234567890123456"}, "expression", "NULL"},
        {{.elem_size = 4, .expression = "x", .expression_type = "float", .expression_argument_type = "float"},
         "expression_argument",
         "NULL"},
        {WITH_ARGUMENT("float8"), "expression_argument_type", "float8"},
        {WITH_ARGUMENT("float3"), "expression_argument_type", "float3"},
        {WITH_ARGUMENT("float16"), "expression_argument_type", "float16"},
        {WITH_ARGUMENT("float5"), "expression_argument_type", "float5"},
        {WITH_ARGUMENT("floa"), "expression_argument_type", "'floa'"},
        {WITH_ARGUMENT("size_t"), "expression_argument_type", "size_t"},
        {WITH_ARGUMENT("float *"), "expression_argument_type", "float *"},
        {WITH_ARGUMENT(""), "expression_argument_type", NULL},
    };
    (void)state;
    test_need_compiler();
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        ipt_plan_desc desc = wrong[i].desc;
        ipt_plan *plan = (ipt_plan *)&desc;
        desc.rows = 8;
        desc.cols = 6;
        const ipt_result result = ipt_plan_create(test_context, &desc, &plan);
        assert_null(plan);
        test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, wrong[i].name, wrong[i].value);
    }
    /* If the device's compiler refuses an expression, the message quotes the compiler. Other plans are unaffected. */
    static const char *const broken[][2] = {
        {"x + undeclared_name", "float"}, {"x + a", "float"}, {"x", "double"}, {"x", "nonsense"}, {"(x", "float"}};
    for (size_t i = 0; i < TEST_COUNT(broken); ++i) {
        ipt_plan_desc desc = {.rows = 8, .cols = 6, .elem_size = 4, .batch = 9};
        ipt_plan *plan = NULL;
        desc.expression = broken[i][0];
        desc.expression_type = broken[i][1];
        const ipt_result result = ipt_plan_create(test_context, &desc, &plan);
        if (result != IPT_ERROR_UNSUPPORTED || strcmp(broken[i][1], "double")) /* no doubles */
            test_expect_error(result, IPT_ERROR_BUILD, "expression does not compile", "map.cl");
        assert_null(plan);
        desc.expression = desc.expression_type = NULL;
        test_transposes(test_context, &desc);
    }
    assert_string_equal(ipt_move_string(IPT_MOVE_ROTATE_90), "rotate-90");
    assert_string_equal(ipt_move_string(IPT__MOVE_COUNT), "unknown");
    assert_string_equal(ipt_move_string((ipt_move)-1), "unknown");
    /* Moves other than the transposition work only in place. */
    ipt_plan_desc desc = {.rows = 8, .cols = 6, .elem_size = 4, .move = IPT_MOVE_ROTATE_90};
    ipt_plan *plan = test_make_plan(test_context, &desc);
    test_expect_error(ipt_plan_execute_out_of_place(plan, test_queue, NULL, 0, NULL, 0, 0, NULL, NULL),
                      IPT_ERROR_UNSUPPORTED, "moves", NULL);
    ipt_plan_destroy(plan);
}

const struct CMUnitTest test_moves[] = {
    TEST_CASE(moves_all),
    TEST_CASE(moves_flips),
    TEST_CASE(moves_squares),
    TEST_CASE(moves_sequences),
    TEST_CASE(moves_expression_texts),
    TEST_CASE(moves_passes),
    TEST_CASE(moves_on_chip),
    TEST_CASE(moves_expressions),
    TEST_CASE(moves_expression_arguments),
    TEST_CASE(moves_argument_types),
    TEST_CASE(moves_conversions),
    TEST_CASE(moves_expression_floats),
    TEST_CASE(moves_bad_input),
};
const size_t test_moves_count = TEST_COUNT(test_moves);
