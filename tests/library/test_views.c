/* Contract of strides and strides_out: every element of the result is right, and every byte at which neither the source
 * nor the result has an element keeps its value. The reference is an index formula: tests/support/views.h. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "views.h"

typedef enum way { IN_PLACE, OUT_OF_PLACE, HOST } way;

/* Executes a plan, and compares all bytes of a buffer that ends with the last element. */
static void execute(ipt_plan *plan, const ipt_plan_desc *desc, size_t offset, way how)
{
    const size_t spans[2] = {views_span(desc, 0), views_span(desc, 1)},
                 all = offset + (spans[0] > spans[1] ? spans[0] : spans[1]);
    unsigned char *const bytes = malloc(5 * all), *const before = bytes, *const after = before + all,
                         *const any = after + all, *const got = any + all, *const target = got + all;
    char text[1024];
    cl_int error = 0, failed = 0;
    cl_mem from, to;
    size_t at;
    assert_non_null(bytes);
    test_fill(before, all);
    test_fill(target, all);
    memcpy(after, how == OUT_OF_PLACE ? target : before, all);
    memset(any, 0, all);
    views_expect(desc, offset, before, how != OUT_OF_PLACE, after, any);
    if (how == OUT_OF_PLACE)
        memset(any, 0, all);
    memcpy(got, before, all);
    from = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, all, before, &error);
    to = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, all, target, &failed);
    assert_true(!error && !failed);
    if (how == HOST       ? ipt_plan_execute_host(plan, got + offset)
        : how == IN_PLACE ? ipt_plan_execute(plan, test_queue, from, offset, 0, NULL, NULL)
                          : ipt_plan_execute_out_of_place(plan, test_queue, from, offset, to, offset, 0, NULL, NULL))
        fail_msg("%s", ipt_context_error(NULL));
    if (how != HOST)
        assert_int_equal(
            clEnqueueReadBuffer(test_queue, how == IN_PLACE ? from : to, CL_TRUE, 0, all, got, 0, NULL, NULL), 0);
    at = views_differ(got, after, any, all);
    views_print(desc, text, sizeof text);
    if (at < all)
        fail_msg("%s: byte %zu of %zu is %d, not %d (before: %d), offset %zu, way %d\n%s", text, at, all, got[at],
                 after[at], before[at], offset, (int)how, ipt_plan_describe(plan));
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    free(bytes);
}

static void check(ipt_context *context, const ipt_plan_desc *desc, const char *part)
{
    ipt_plan *const plan = test_make_plan(context, desc);
    if (part && !strstr(ipt_plan_describe(plan), part))
        fail_msg("no '%s' in: %s", part, ipt_plan_describe(plan));
    execute(plan, desc, desc->elem_size * test_random_between(0, 9), IN_PLACE);
    execute(plan, desc, desc->elem_size * test_random_between(0, 9), OUT_OF_PLACE);
    execute(plan, desc, 16, HOST);
    execute(plan, desc, test_random_between(0, 9), HOST);
    ipt_plan_destroy(plan);
}

static ipt_plan_desc desc_of(size_t elem_size, unsigned rank, const size_t *shape, const unsigned *axes,
                             const size_t *strides, const size_t *strides_out)
{
    ipt_plan_desc desc = {0};
    desc.elem_size = elem_size;
    desc.rank = rank;
    memcpy(desc.shape, shape, rank * sizeof *shape);
    memcpy(desc.axes, axes, rank * sizeof *axes);
    if (strides)
        memcpy(desc.strides, strides, rank * sizeof *strides);
    if (strides_out)
        memcpy(desc.strides_out, strides_out, rank * sizeof *strides_out);
    return desc;
}

/* Any views that do not overlap themselves. */
static void views_random(void **state)
{
    (void)state;
    views_state = test_random();
    for (int i = 0; i < 40;) {
        ipt_plan_desc desc = views_draw(2000);
        if (!views_are_apart(&desc, 0) || !views_are_apart(&desc, 1))
            continue;
        desc.elem_size == 4 && i % 2 && test_compiles
            ? (void)(desc.expression = "x + (uchar4)1", desc.expression_type = "uchar4")
            : (void)0;
        desc.max_workspace = (size_t)1 << 20;
        check(i++ % 4 ? test_context : test_small_context, &desc, NULL);
    }
}

/* Regions of pictures whose sides change places are matrices with gaps, at the speed of these. */
static void views_of_matrices(void **state)
{
    static const size_t region[] = {37, 29, 3}, pitches[] = {300, 3, 1}, wide[] = {400, 3, 1};
    static const size_t planes[] = {3, 20, 31}, apart[] = {2000, 90, 2}, back[] = {2000, 64, 2};
    static const size_t turns[] = {20, 7, 30}, within[] = {900, 128, 4};
    static const unsigned across[] = {1, 0, 2}, each[] = {0, 2, 1}, ends[] = {2, 1, 0};
    ipt_plan_desc desc = desc_of(1, 3, region, across, pitches, wide);
    (void)state;
    check(test_context, &desc, "37 x 29 elements of 3 bytes, 1 matrix,");
    desc.batch = 3;
    check(test_context, &desc, "37 x 29 elements of 3 bytes, 3 matrices,");
    desc = desc_of(2, 3, planes, each, apart, back);
    check(test_context, &desc, "20 x 31 elements of 2 bytes, 3 matrices,");
    desc.batch = 5;
    desc.batch_stride = 9000;
    check(test_context, &desc, "20 x 31 elements of 2 bytes, 5 matrices,");
    desc = desc_of(4, 3, turns, ends, within, within);
    check(test_context, &desc, "20 x 30 elements of 4 bytes, 1 matrix,");
}

/* Pictures whose rows have gaps, from pixels to planes and back: runs are transposed within their rows, then moved. */
static void views_of_pictures(void **state)
{
    static const size_t pixels[] = {37, 64, 3}, planes[] = {3, 37, 64};
    static const size_t of_pixels[] = {224, 3, 1}, of_planes[] = {2976, 80, 1};
    static const size_t cut_pixels[] = {20, 100, 3, 4}, of_cut_pixels[] = {1216, 12, 4, 1};
    static const size_t of_cut_planes[] = {6080, 304, 3, 1};
    static const unsigned to_planes[] = {2, 0, 1}, to_pixels[] = {1, 2, 0}, to_cut_planes[] = {3, 0, 1, 2};
    ipt_plan_desc desc = desc_of(1, 3, pixels, to_planes, of_pixels, of_planes);
    (void)state;
    check(test_context, &desc, "37 x 3 x 4 elements of 16 bytes");
    desc.batch = 4;
    check(test_context, &desc, "64 x 3 elements of 1 bytes, 37 matrices,");
    desc = desc_of(1, 4, cut_pixels, to_cut_planes, of_cut_pixels, of_cut_planes);
    check(test_context, &desc, "300 x 4 elements of 1 bytes, 20 matrices,"); /* joined axes are a run */
    desc = desc_of(1, 3, planes, to_pixels, of_planes, of_pixels);
    check(test_context, &desc, "3 x 64 elements of 1 bytes, 37 matrices,");
    desc.expression = "x + (uchar)1";
    desc.expression_type = "uchar";
    desc.max_workspace = 100;
    check(test_small_context, &desc, "2 passes");
}

/* Strides without gaps make the plan of the array, whatever the sequence of its axes. */
static void views_without_gaps(void **state)
{
    static const size_t shape[] = {5, 6, 7}, dense[] = {168, 28, 4}, columns[] = {4, 20, 120}, turned[] = {7, 6, 5};
    static const unsigned axes[] = {2, 0, 1}, same[] = {0, 1, 2}, reversed[] = {2, 1, 0};
    ipt_plan_desc desc = desc_of(4, 3, shape, axes, dense, NULL), plain = desc_of(4, 3, shape, axes, NULL, NULL);
    ipt_plan *plan = test_make_plan(test_context, &desc), *other = test_make_plan(test_context, &plain);
    (void)state;
    assert_string_equal(ipt_plan_describe(plan), ipt_plan_describe(other));
    ipt_plan_destroy(plan);
    ipt_plan_destroy(other);
    desc = desc_of(4, 3, shape, same, columns, NULL); /* Fortran's sequence to C's */
    plain = desc_of(4, 3, turned, reversed, NULL, NULL);
    plan = test_make_plan(test_context, &desc);
    other = test_make_plan(test_context, &plain);
    assert_string_equal(ipt_plan_describe(plan), ipt_plan_describe(other));
    ipt_plan_destroy(plan);
    ipt_plan_destroy(other);
    check(test_context, &desc, NULL);
}

/* Axes that stay move nothing. */
static void views_that_stay(void **state)
{
    static const size_t shape[] = {5, 6, 7}, gaps[] = {400, 60, 8};
    static const unsigned axes[] = {0, 1, 2};
    ipt_plan_desc desc = desc_of(4, 3, shape, axes, gaps, gaps);
    (void)state;
    check(test_context, &desc, "in place: 0 stages");
    desc.expression = "x + (uchar4)1";
    desc.expression_type = "uchar4";
    check(test_context, &desc, "as the expression says");
}

/* Less workspace than a flag for each element takes: several windows. */
static void views_in_windows(void **state)
{
    static const size_t shape[] = {23, 19, 31}, before[] = {3000, 140, 4}, after[] = {3200, 100, 4};
    static const unsigned axes[] = {1, 2, 0};
    ipt_plan_desc desc = desc_of(4, 3, shape, axes, before, after);
    (void)state;
    check(test_context, &desc, "view: 23 x 19 x 31 elements");
    desc.max_workspace = 500;
    check(test_context, &desc, ", in 4 windows");
    desc.max_workspace = 1;
    check(test_context, &desc, ", in 16 windows");
}

static void refused(const ipt_plan_desc *desc, ipt_result expected, const char *part)
{
    ipt_plan *plan = NULL;
    const ipt_result result = ipt_plan_create(test_context, desc, &plan);
    if (result != expected || !strstr(ipt_context_error(NULL), part))
        fail_msg("%d, '%s' instead of %d, '%s'", (int)result, ipt_context_error(NULL), (int)expected, part);
    assert_null(plan);
}

static void views_refusals(void **state)
{
    static const size_t shape[] = {5, 6, 7}, good[] = {400, 60, 8};
    static const unsigned axes[] = {2, 0, 1};
    const ipt_plan_desc base = desc_of(4, 3, shape, axes, good, NULL);
    ipt_plan_desc desc = base;
    (void)state;
    desc.strides[1] = 51;
    refused(&desc, IPT_ERROR_INVALID_ARGUMENT, "strides[1] = 51 is less than 52");
    desc.strides[1] = 54;
    refused(&desc, IPT_ERROR_INVALID_ARGUMENT, "strides[1] = 54 is not a multiple of 4");
    desc.strides[1] = 0;
    refused(&desc, IPT_ERROR_INVALID_ARGUMENT, "strides[1] = 0 is less than");
    desc.strides[1] = (size_t)-16;
    refused(&desc, IPT_ERROR_INVALID_ARGUMENT, "strides[1] = ");
    desc = base;
    desc.strides_out[0] = 7;
    refused(&desc, IPT_ERROR_INVALID_ARGUMENT, "strides_out[");
    desc = base;
    desc.strides[3] = 8;
    refused(&desc, IPT_ERROR_INVALID_ARGUMENT, "strides[3] is 8, but rank is 3");
    desc = base;
    desc.batch = 2;
    desc.batch_stride = 8;
    refused(&desc, IPT_ERROR_INVALID_ARGUMENT, "elements overlap");
    desc.batch_stride = 2002;
    refused(&desc, IPT_ERROR_INVALID_ARGUMENT, "batch_stride = 2002 is not a multiple of 4");
    desc = base;
    desc.row_pitch = 100;
    refused(&desc, IPT_ERROR_INVALID_ARGUMENT, "row_pitch");
    desc = base;
    desc.rank = 0;
    desc.rows = desc.cols = 3;
    refused(&desc, IPT_ERROR_INVALID_ARGUMENT, "strides[0] is 400, but rank is 0");
    desc = base;
    desc.max_device_memory = 1 << 20;
    refused(&desc, IPT_ERROR_UNSUPPORTED, "strides: max_device_memory");
    desc = base;
    desc.max_host_memory = 1 << 20;
    refused(&desc, IPT_ERROR_UNSUPPORTED, "strides: max_host_memory");
    desc = base;
    desc.host = IPT_HOST_OVERLAPPED;
    refused(&desc, IPT_ERROR_UNSUPPORTED, "strides: host is overlapped");
    desc = base;
    desc.rank = 9;
    for (unsigned i = 0; i < 9; ++i) { /* each stride leaves a gap, so no axes can be joined */
        desc.shape[i] = 2;
        desc.axes[i] = i;
        desc.strides[i] = (size_t)4 << 2 * (9 - i);
    }
    refused(&desc, IPT_ERROR_UNSUPPORTED, "9 axes that cannot be joined: 8 at most");
}

const struct CMUnitTest test_views[] = {TEST_CASE(views_random),      TEST_CASE(views_of_matrices),
                                        TEST_CASE(views_of_pictures), TEST_CASE(views_without_gaps),
                                        TEST_CASE(views_that_stay),   TEST_CASE(views_in_windows),
                                        TEST_CASE(views_refusals)};
const size_t test_views_count = TEST_COUNT(test_views);
