/* Expressions that name the place of an element in the result: i0, i1 and so on, i, j and b. The reference computes
 * each element of the result from its place alone. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 8 };
static const uint32_t weights[MOST_AXES] = {31, 1009, 7, 127, 8191, 3, 61, 257};

static const char *type_of(size_t size)
{
    return size == 1 ? "uchar" : size == 2 ? "ushort" : size == 4 ? "uint" : size == 8 ? "ulong" : "uint4";
}

/* "x + (T)(b * 5 + i0 * 31 + ...)", or only the last axis. Valid until the next call. */
static const char *expression_of(const ipt_plan_desc *desc, int last_only)
{
    static char text[200];
    const unsigned axes = desc->rank ? desc->rank : 2;
    size_t length =
        (size_t)snprintf(text, sizeof text, "x + (%s)(%s", desc->elem_size == 16 ? "uint" : type_of(desc->elem_size),
                         last_only ? "0" : "b * 5");
    for (unsigned axis = last_only ? axes - 1 : 0; axis < axes; ++axis)
        if (desc->rank)
            length +=
                (size_t)snprintf(text + length, sizeof text - length, " + i%u * %u", axis, (unsigned)weights[axis]);
        else
            length += (size_t)snprintf(text + length, sizeof text - length, " + %c * %u", axis ? 'j' : 'i',
                                       (unsigned)weights[axis]);
    snprintf(text + length, sizeof text - length, ")");
    return text;
}

static void add(unsigned char *element, size_t size, uint32_t number)
{
    for (size_t at = 0; at < size; at += size < 16 ? size : 4) {
        uint64_t value = 0; /* devices of these tests are little-endian */
        const size_t bytes = size < 16 ? size : 4;
        memcpy(&value, element + at, bytes);
        value += number;
        memcpy(element + at, &value, bytes);
    }
}

/* Both forms of a batch in bytes: lengths and steps along the axes of the result. */
typedef struct form {
    unsigned axes;
    size_t batch, stride, span, lengths[MOST_AXES], steps[MOST_AXES];
    ptrdiff_t from[MOST_AXES], origin; /* the steps through the source, and its element for place 0 */
} form;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static form form_of_array(const ipt_plan_desc *desc)
{
    form is = {.axes = desc->rank};
    size_t step = desc->elem_size, steps[MOST_AXES];
    for (unsigned axis = is.axes; axis-- > 0; step *= desc->shape[axis])
        steps[axis] = step;
    is.stride = is.span = step;
    step = desc->elem_size;
    for (unsigned axis = is.axes; axis-- > 0; step *= is.lengths[axis]) {
        is.lengths[axis] = desc->shape[desc->axes[axis]];
        is.steps[axis] = step;
        is.from[axis] = (ptrdiff_t)steps[desc->axes[axis]];
    }
    return is;
}

static form form_of_matrix(const ipt_plan_desc *desc)
{
    /* Of each move: whether it transposes, and whether the source's rows and columns are read backwards. */
    static const int moves[][3] = {[IPT_MOVE_TRANSPOSE] = {1, 0, 0},       [IPT_MOVE_ROTATE_90] = {1, 1, 0},
                                   [IPT_MOVE_ROTATE_180] = {0, 1, 1},      [IPT_MOVE_ROTATE_270] = {1, 0, 1},
                                   [IPT_MOVE_FLIP_HORIZONTAL] = {0, 0, 1}, [IPT_MOVE_FLIP_VERTICAL] = {0, 1, 0},
                                   [IPT_MOVE_ANTITRANSPOSE] = {1, 1, 1}};
    const int *const move = moves[desc->move];
    const size_t sides[2] = {desc->rows, desc->cols}, size = desc->elem_size;
    const size_t pitch = desc->row_pitch ? desc->row_pitch : desc->cols * size;
    const ptrdiff_t steps[2] = {(ptrdiff_t)pitch, (ptrdiff_t)size};
    form is = {.axes = 2};
    for (int side = 0; side < 2; ++side) {
        const int axis = move[0] ? 1 - side : side; /* of the result */
        is.lengths[axis] = sides[side];
        is.from[axis] = move[1 + side] ? -steps[side] : steps[side];
        is.origin += move[1 + side] ? steps[side] * (ptrdiff_t)(sides[side] - 1) : 0;
    }
    is.steps[1] = size;
    is.steps[0] = desc->row_pitch_out ? desc->row_pitch_out : is.lengths[1] * size;
    is.stride = larger(desc->rows * pitch, is.lengths[0] * is.steps[0]);
    is.span =
        larger((desc->rows - 1) * pitch + desc->cols * size, (is.lengths[0] - 1) * is.steps[0] + is.lengths[1] * size);
    return is;
}

static form form_of(const ipt_plan_desc *desc)
{
    form is = desc->rank ? form_of_array(desc) : form_of_matrix(desc);
    is.batch = desc->batch ? desc->batch : 1;
    is.stride = desc->batch_stride ? desc->batch_stride : is.stride;
    is.span += (is.batch - 1) * is.stride;
    return is;
}

/* Writes the expected batch to `after`. any marks the bytes of the source, which may have any value outside the result.
 */
static void expect(const form *is, size_t size, int last_only, const unsigned char *before, unsigned char *after,
                   unsigned char *any)
{
    size_t elements = 1;
    for (unsigned axis = 0; axis < is->axes; ++axis)
        elements *= is->lengths[axis];
    for (int writes = 0; writes < 2; ++writes)
        for (size_t number = 0; number < is->batch * elements; ++number) {
            size_t rest = number % elements;
            const size_t b = number / elements;
            unsigned char *to = after + b * is->stride;
            ptrdiff_t from = (ptrdiff_t)(b * is->stride) + is->origin;
            uint32_t sum = last_only ? 0 : (uint32_t)b * 5;
            for (unsigned axis = is->axes; axis-- > 0; rest /= is->lengths[axis]) {
                const size_t place = rest % is->lengths[axis];
                to += place * is->steps[axis];
                from += (ptrdiff_t)place * is->from[axis];
                sum += last_only && axis + 1 < is->axes ? 0 : (uint32_t)place * weights[axis];
            }
            if (!writes) {
                memset(any + from, 1, size);
                continue;
            }
            memcpy(to, before + from, size);
            add(to, size, sum);
            memset(any + (to - after), 0, size);
        }
}

typedef enum place { IN_PLACE, OUT_OF_PLACE, IN_HOST_MEMORY } place;

static ipt_result execute(ipt_plan *plan, place where, unsigned char *memory, unsigned char *target, size_t offset,
                          size_t bytes)
{
    unsigned char *const result = where == OUT_OF_PLACE ? target : memory;
    cl_mem buffers[2];
    ipt_result code;
    if (where == IN_HOST_MEMORY)
        return ipt_plan_execute_host(plan, memory + offset);
    for (int i = 0; i < 2; ++i) {
        cl_int error;
        buffers[i] = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
                                    i ? target : memory, &error);
        if (error != CL_SUCCESS)
            test_skip("the device has too little memory for the test's buffers");
    }
    code = where == OUT_OF_PLACE
               ? ipt_plan_execute_out_of_place(plan, test_queue, buffers[0], offset, buffers[1], offset, 0, NULL, NULL)
               : ipt_plan_execute(plan, test_queue, buffers[0], offset, 0, NULL, NULL);
    assert_int_equal(
        clEnqueueReadBuffer(test_queue, buffers[where == OUT_OF_PLACE], CL_TRUE, 0, bytes, result, 0, NULL, NULL),
        CL_SUCCESS);
    clReleaseMemObject(buffers[0]);
    clReleaseMemObject(buffers[1]);
    return code;
}

/* Executes the plan, and compares every byte. */
static void check_plan(ipt_plan *plan, const ipt_plan_desc *desc, int last_only, place where)
{
    const form is = form_of(desc);
    const size_t size = desc->elem_size, offset = 16 * size, bytes = offset + is.span + TEST_GUARD;
    unsigned char *const before = malloc(bytes), *const after = malloc(bytes), *const got = malloc(bytes),
                         *const any = calloc(1, bytes);
    assert_true(before && after && got && any);
    test_fill(before, bytes);
    test_fill(got, bytes);
    memcpy(after, where == OUT_OF_PLACE ? got : before, bytes);
    expect(&is, size, last_only, before + offset, after + offset, any + offset);
    if (where == OUT_OF_PLACE)
        memset(any, 0, bytes);
    else
        memcpy(got, before, bytes);
    if (execute(plan, where, where == OUT_OF_PLACE ? before : got, got, offset, bytes)) {
        test_print_case(desc, offset);
        fail_msg("%s", ipt_context_error(NULL));
    }
    for (size_t i = 0; i < bytes; ++i)
        if (!any[i] && got[i] != after[i]) {
            test_print_case(desc, offset);
            fail_msg("%s: byte %zu is %02x instead of %02x\n%s",
                     where == IN_PLACE       ? "in place"
                     : where == OUT_OF_PLACE ? "out of place"
                                             : "host",
                     i, got[i], after[i], ipt_plan_describe(plan));
        }
    free(before);
    free(after);
    free(got);
    free(any);
}

static void check(ipt_context *context, ipt_plan_desc *desc, int last_only)
{
    ipt_plan *plan;
    desc->expression = expression_of(desc, last_only);
    desc->expression_type = type_of(desc->elem_size);
    plan = test_make_plan(context, desc);
    assert_non_null(strstr(ipt_plan_describe(plan), ", by its place"));
    check_plan(plan, desc, last_only, IN_PLACE);
    check_plan(plan, desc, last_only, IN_HOST_MEMORY);
    if (!desc->move)
        check_plan(plan, desc, last_only, OUT_OF_PLACE);
    ipt_plan_destroy(plan);
}

/* Random matrices: all moves, elements, batches and pitches. */
static void places_of_matrices(void **state)
{
    static const size_t sides[] = {1, 2, 3, 4, 7, 16, 33, 64, 100, 257};
    (void)state;
    for (int i = 0; i < 160; ++i) {
        ipt_plan_desc desc = {0};
        size_t row[2], pitch[2];
        desc.rows = test_random_between(0, 1) ? sides[test_random_between(0, 9)] : test_random_between(1, 300);
        desc.cols = test_random_between(0, 4) == 0   ? desc.rows
                    : test_random_between(0, 1) == 0 ? sides[test_random_between(0, 9)]
                                                     : test_random_between(1, 300);
        desc.elem_size = (size_t)1 << test_random_between(0, 4);
        desc.batch = test_random_between(0, 3);
        desc.move = i % 2 ? (ipt_move)test_random_between(0, 6) : IPT_MOVE_TRANSPOSE;
        row[0] = desc.cols * desc.elem_size;
        row[1] = (form_of(&desc).lengths[1]) * desc.elem_size;
        for (int side = 0; side < 2; ++side)
            pitch[side] = row[side] + desc.elem_size * test_random_between(1, 9);
        if (i % 3 == 0) {
            desc.row_pitch = pitch[0];
            desc.row_pitch_out = test_random_between(0, 1) ? pitch[1] : row[1];
            desc.max_workspace = (size_t)8 << 20;
        }
        if (test_random_between(0, 2) == 0)
            desc.batch_stride = form_of(&desc).stride + desc.elem_size * test_random_between(0, 50);
        check(i % 4 == 3 && !desc.row_pitch ? test_small_context : test_context, &desc, i % 5 == 0);
    }
}

/* Random arrays of up to 8 axes, batches with and without gaps. */
static void places_of_arrays(void **state)
{
    (void)state;
    for (int i = 0; i < 60; ++i) {
        ipt_plan_desc desc = {.rank = (unsigned)(i % 6 == 5 ? test_random_between(6, 8) : (size_t)i % 6 + 1)};
        const size_t most = desc.rank < 3 ? 200 : desc.rank == 3 ? 50 : desc.rank == 4 ? 16 : desc.rank == 5 ? 8 : 4;
        for (unsigned axis = 0; axis < desc.rank; ++axis) {
            const size_t other = test_random_between(0, axis);
            desc.shape[axis] = test_random_between(1, most);
            desc.axes[axis] = desc.axes[other];
            desc.axes[other] = axis;
        }
        desc.elem_size = i % 7 < 2 ? (size_t)1 << test_random_between(0, 4) : 4;
        desc.batch = test_random_between(0, 3);
        if (i % 3 == 0)
            desc.batch_stride = form_of(&desc).stride + desc.elem_size * test_random_between(0, 50);
        check(test_context, &desc, i % 5 == 0);
    }
}

/* An array whose axes stay has a single pass, which applies the expression. */
static void places_of_staying_axes(void **state)
{
    ipt_plan_desc desc = {.rank = 2, .elem_size = 4, .shape = {4, 5}, .axes = {0, 1}, .batch = 3};
    ipt_plan *plan;
    (void)state;
    check(test_context, &desc, 0);
    plan = test_make_plan(test_context, &desc);
    assert_non_null(strstr(ipt_plan_describe(plan), "1 pass"));
    ipt_plan_destroy(plan);
}

/* Arrays that boxes permute at once, in all ways in which units of a box move: the boxes apply the expression. A batch
 * with gaps whose first axis stays takes a pass of its own. Every second array has work-groups that wait in vain, of
 * which one moves it alone. */
static void places_of_boxes(void **state)
{
    static const struct {
        size_t elem_size, shape[4];
        unsigned rank, axes[4];
    } arrays[] = {
        {4, {3, 32, 15}, 3, {0, 2, 1}},  {4, {40, 32, 15}, 3, {2, 1, 0}},      {2, {40, 32, 15}, 3, {2, 1, 0}},
        {1, {3, 3, 9008}, 3, {0, 2, 1}}, {1, {3, 9008, 3}, 3, {0, 2, 1}},      {2, {5, 5000, 2}, 3, {0, 2, 1}},
        {4, {2, 3, 4004}, 3, {0, 2, 1}}, {4, {2, 44, 91, 3}, 4, {0, 3, 1, 2}}, {1, {2, 36, 20, 32}, 4, {0, 3, 2, 1}},
        {2, {6, 50, 64}, 3, {1, 0, 2}},  {1, {31, 77, 13}, 3, {2, 1, 0}},      {1, {9, 33, 7, 9}, 4, {3, 1, 2, 0}},
        {8, {12, 30, 20}, 3, {2, 1, 0}},
    };
    ipt_context *const contexts[2] = {test_make_waiting_context(32768, 4, 0), test_make_waiting_context(32768, 4, 100)};
    int boxes = 0;
    (void)state;
    for (size_t i = 0; i < 2 * TEST_COUNT(arrays); ++i) {
        const size_t at = i / 2, gaps = i % 2;
        ipt_plan_desc desc = {.elem_size = arrays[at].elem_size, .rank = arrays[at].rank};
        ipt_plan *plan;
        bool on_the_way;
        memcpy(desc.shape, arrays[at].shape, sizeof arrays[at].shape);
        memcpy(desc.axes, arrays[at].axes, sizeof arrays[at].axes);
        desc.batch = gaps + i % 3;
        if (gaps)
            desc.batch_stride = form_of(&desc).stride + 5 * desc.elem_size;
        desc.expression = expression_of(&desc, 0);
        desc.expression_type = type_of(desc.elem_size);
        plan = test_make_boxes(contexts[at % 2], &desc);
        if (!plan)
            continue;
        ++boxes;
        on_the_way = !gaps || desc.batch == 1 || desc.axes[0] != 0;
        if ((strstr(ipt_plan_describe(plan), "map:") == NULL) != on_the_way)
            fail_msg("%s", ipt_plan_describe(plan));
        check_plan(plan, &desc, 0, IN_PLACE);
        check_plan(plan, &desc, 0, IN_HOST_MEMORY);
        check_plan(plan, &desc, 0, OUT_OF_PLACE);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(contexts[0]);
    ipt_context_destroy(contexts[1]);
    if (!boxes)
        test_skip("the device has no boxes");
}

/* Two passes, the second one by boxes, which apply the expression; or the first one, which cannot. */
static void places_of_two_passes(void **state)
{
    ipt_context *const context = test_make_waiting_context(32768, 4, 0);
    int found = 0;
    (void)state;
    for (int i = 0; i < 8; ++i) {
        const bool boxes_first = i % 2;
        ipt_plan_desc desc = {.rank = 4,
                              .elem_size = (size_t)1 << i % 4,
                              .shape = {test_random_between(3, 9), test_random_between(20, 30), 17, 14},
                              .axes = {3, 1, 2, 0}};
        ipt_plan *plan;
        desc.batch = (size_t)i / 3;
        if (i > 5)
            desc.batch_stride = form_of(&desc).stride + 3 * desc.elem_size;
        desc.expression = expression_of(&desc, 0);
        desc.expression_type = type_of(desc.elem_size);
        plan = test_make_two_passes(context, &desc, boxes_first);
        if (!plan)
            continue;
        ++found;
        if ((strstr(ipt_plan_describe(plan), "map:") == NULL) != (!boxes_first && i < 6))
            fail_msg("%s", ipt_plan_describe(plan));
        check_plan(plan, &desc, 0, IN_PLACE);
        check_plan(plan, &desc, 0, OUT_OF_PLACE);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
    if (!found)
        test_skip("the device has no boxes");
}

/* Only names of places take the stage that knows places: words of their own that are no members. A context without a
 * device compiles nothing, so the texts may be of any version of OpenCL C. */
static void places_by_name(void **state)
{
    static const struct {
        const char *expression;
        int by_place;
    } cases[] = {{"x + 0xb", 0},
                 {"x /* i */ + 1", 0},
                 {"x + (uint)'i'", 0},
                 {"x + sizeof(\"b i0 j\")", 0},
                 {"as_char4(x).b", 0},
                 {"x . b + 1", 0},
                 {"x + xi + i_ + ib", 0},
                 {"x.xyzw + bi", 0},
                 {"x + i01 + i100b", 0},
                 {"x + a", 0},
                 {"x*i", 1},
                 {"(x>j)", 1},
                 {"x.b + b", 1},
                 {"i1 ? x : 0", 1},
                 {"i0+x", 1},
                 {"x /* */+/* */j", 1}};
    static char profile[4096];
    ipt_context_desc told = {.profile = profile};
    ipt_context *context = NULL;
    (void)state;
#ifdef IPT_NO_OFFLINE
    test_skip("ipt was compiled without profiles");
#endif
    assert_int_equal(ipt_context_profile(test_context, profile, sizeof profile, NULL), IPT_SUCCESS);
    assert_int_equal(ipt_context_create(&told, &context), IPT_SUCCESS);
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        const ipt_plan_desc desc = {
            .rows = 5, .cols = 9, .elem_size = 4, .expression = cases[i].expression, .expression_type = "uint"};
        ipt_plan *const plan = test_make_plan(context, &desc);
        if (!strstr(ipt_plan_describe(plan), ", by its place") != !cases[i].by_place)
            fail_msg("%s: %s", desc.expression, ipt_plan_describe(plan));
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
}

/* What cannot know places refuses their names. */
static void places_refused(void **state)
{
    static const struct {
        ipt_plan_desc desc;
        ipt_result result;
        const char *words;
    } cases[] = {
        {{.rows = 5, .cols = 9, .expression = "x + i2"}, IPT_ERROR_INVALID_ARGUMENT, "i0 to i1 exist"},
        {{.rank = 3, .shape = {5, 6, 7}, .axes = {2, 1, 0}, .expression = "x + i3"},
         IPT_ERROR_INVALID_ARGUMENT,
         "i0 to i2 exist"},
        {{.rows = 5, .cols = 9, .expression = "x + i10"}, IPT_ERROR_INVALID_ARGUMENT, "i0 to i1 exist"},
        {{.rows = 5, .cols = 9, .expression = "x + i4294967296"}, IPT_ERROR_INVALID_ARGUMENT, "i0 to i1 exist"},
        {{.rank = 1, .shape = {5}, .axes = {0}, .expression = "x + j"}, IPT_ERROR_INVALID_ARGUMENT, "i0 to i0 exist"},
        {{.rank = 9, .shape = {2, 2, 2, 2, 2, 2, 2, 2, 2}, .axes = {8, 7, 6, 5, 4, 3, 2, 1, 0}, .expression = "x + i0"},
         IPT_ERROR_UNSUPPORTED,
         "more than 8 axes"},
#ifndef IPT_NO_PAPERS
        {{.rows = 8, .cols = 8, .from = IPT_FORMAT_RM, .to = IPT_FORMAT_CM, .expression = "x + i"},
         IPT_ERROR_UNSUPPORTED,
         "formats"},
        {{.rows = 8, .cols = 8, .flags = IPT_PAD, .expression = "x + i"}, IPT_ERROR_UNSUPPORTED, "IPT_PAD"},
#endif
#ifndef IPT_NO_HOST_STREAMING
        {{.rows = 3000, .cols = 3000, .max_device_memory = 4 << 20, .host = IPT_HOST_OVERLAPPED, .expression = "x + b"},
         IPT_ERROR_UNSUPPORTED,
         "is cut"},
#endif
#ifndef IPT_NO_STORAGE
        {{.rows = 300, .cols = 300, .max_host_memory = 1 << 20, .expression = "x + b"},
         IPT_ERROR_UNSUPPORTED,
         "is cut"},
#endif
    };
    (void)state;
    test_need_compiler();
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        ipt_plan_desc desc = cases[i].desc;
        ipt_plan *plan = NULL;
        desc.elem_size = 4;
        desc.expression_type = "uint";
        if (ipt_plan_create(test_context, &desc, &plan) != cases[i].result ||
            !strstr(ipt_context_error(NULL), cases[i].words))
            fail_msg("%s: %s", desc.expression, plan ? ipt_plan_describe(plan) : ipt_context_error(NULL));
    }
#ifndef IPT_NO_HOST_STREAMING
    {
        static uint32_t matrix[300 * 300];
        ipt_plan_desc desc = {
            .rows = 300, .cols = 300, .elem_size = 4, .expression = "x + b", .expression_type = "uint"};
        ipt_plan *plan = NULL;
        assert_int_equal(ipt_plan_create_split(&test_context, 1, &desc, &plan), IPT_ERROR_UNSUPPORTED);
        assert_non_null(strstr(ipt_context_error(NULL), "one context"));
        desc.host = IPT_HOST_OVERLAPPED;
        plan = test_make_plan(test_context, &desc);
        assert_int_equal(ipt_plan_execute_host(plan, matrix), IPT_ERROR_UNSUPPORTED);
        assert_non_null(strstr(ipt_context_error(NULL), "places in the expression"));
        ipt_plan_destroy(plan);
    }
#endif
}

const struct CMUnitTest test_places[] = {TEST_CASE(places_of_matrices),     TEST_CASE(places_of_arrays),
                                         TEST_CASE(places_of_staying_axes), TEST_CASE(places_of_boxes),
                                         TEST_CASE(places_of_two_passes),   TEST_CASE(places_by_name),
                                         TEST_CASE(places_refused)};
const size_t test_places_count = TEST_COUNT(test_places);
