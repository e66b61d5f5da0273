/* Arrays whose first axis becomes the last one, or the reverse: matrices with permuted columns, moved by cooperative
 * bands, or in waves. The tests report any device as a GPU, but for waves. They make such plans whatever the cost model
 * prefers, and compare every byte of the result and the bytes around it. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#include "told_gpu.h"

#define clGetDeviceInfo told_clGetDeviceInfo
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#undef clGetDeviceInfo
#include "whole.h"
#include "test.h"

/* Makes a plan with permuted columns. Returns NULL if the array, or the device, has none. */
static ipt_plan *make_plan(ipt_context *context, const ipt_plan_desc *desc)
{
    ipt_plan *plan;
    if (whole_plan(context, desc, IPT__WAY_COLUMNS, &plan))
        fail_msg("%s", ipt_context_error(context));
    if (plan)
        assert_non_null(strstr(ipt_plan_describe(plan), " permuted"));
    return plan;
}

static void check(ipt_plan *plan, const ipt_plan_desc *desc)
{
    test_job job = {0};
    int right;
    test_job_prepare(&job, test_cl_context, desc, test_alignment(desc->elem_size) * test_random_between(0, 3));
    right = test_job_upload(&job, test_queue) && test_job_run(&job, plan, test_queue) &&
            test_job_holds(&job, test_queue, job.expected);
    if (!right) {
        test_print_case(desc, job.byte_offset);
        print_error("%s", ipt_plan_describe(plan));
    }
    test_job_end(&job);
    assert_true(right);
}

/* A random array of 3 to 5 axes of about `bytes` bytes, whose first axis becomes the last one, or the reverse. */
static ipt_plan_desc random_array(size_t elem_size, size_t bytes)
{
    ipt_plan_desc desc = {0};
    size_t left = bytes / elem_size;
    unsigned i, at, first;
    desc.elem_size = elem_size;
    desc.rank = (unsigned)test_random_between(3, 5);
    for (i = 0; i < desc.rank; ++i) {
        desc.shape[i] = i + 1 == desc.rank ? left : test_random_between(2, 9);
        desc.shape[i] = desc.shape[i] ? desc.shape[i] : 1;
        left /= desc.shape[i];
        desc.axes[i] = i;
    }
    for (i = desc.rank; i > 1; --i) { /* any permutation */
        at = (unsigned)test_random_between(0, i - 1);
        first = desc.axes[i - 1];
        desc.axes[i - 1] = desc.axes[at];
        desc.axes[at] = first;
    }
    first = test_random_between(0, 1) ? 0 : desc.rank - 1; /* which changes places with the axis at the other end */
    for (i = 0; desc.axes[i] != first; ++i)
        ;
    at = first ? 0 : desc.rank - 1;
    desc.axes[i] = desc.axes[at];
    desc.axes[at] = first;
    if (test_random_between(0, 2) == 0)
        desc.batch = test_random_between(2, 3);
    return desc;
}

/* Moves random arrays. A device that is told to be a GPU reports `resident` work-groups; another one has a workspace
 * for a part of the array. Counts arrays with several bands in several. */
static size_t move(int is_told, size_t resident, size_t polls, size_t bytes, int count, size_t *several)
{
    static const size_t sizes[] = {4, 12, 2, 16, 1, 8};
    ipt_context_desc with = {0};
    ipt_context *context = NULL;
    size_t moved = 0;
    int i;
    with.context = test_cl_context;
    with.device = test_device;
    with.max_local_memory = test_less_local_memory(16384);
    with.resident_groups = resident;
    with.wait_polls = polls;
    told = is_told;
    if (ipt_context_create(&with, &context))
        fail_msg("%s", ipt_context_error(NULL));
    told = 0;
    for (i = 0; i < count; ++i) {
        ipt_plan_desc desc = random_array(sizes[i % (int)TEST_COUNT(sizes)], bytes);
        ipt_plan *plan;
        desc.max_workspace = is_told ? 0 : 2000 + bytes / test_random_between(2, 20);
        plan = make_plan(context, &desc);
        if (!plan)
            continue;
        ++moved;
        *several += strstr(ipt_plan_describe(plan), ": 1 bands") == NULL;
        check(plan, &desc);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
    return moved;
}

/* Two work-groups run at the same time on most devices. */
static void columns_together(void **state)
{
    size_t several = 0, moved;
    (void)state;
    test_need_group_of_32();
    moved = move(1, 3, 20000, 40000, 60, &several);
    if (!moved)
        test_skip("the device has no cooperative bands");
    assert_in_range(moved, 15, 60);
    assert_in_range(several, 5, 60);
}

/* The device reports more work-groups than run at the same time: the last one moves what is left. */
static void columns_left(void **state)
{
    size_t several = 0, moved;
    (void)state;
    test_need_group_of_32();
    moved = move(1, 12, 200, 120000, 60, &several);
    if (!moved)
        test_skip("the device has no cooperative bands");
    assert_in_range(moved, 15, 60);
    assert_in_range(several, 5, 60);
}

/* A CPU moves all bands in one launch, whose work-groups may leave before the others. */
static void columns_in_waves(void **state)
{
    size_t several = 0, moved;
    (void)state;
    moved = move(0, 0, 20000, 200000, 90, &several) + move(0, 0, 5, 200000, 90, &several);
    if (!moved)
        test_skip("the device moves no columns in waves");
    assert_in_range(moved, 30, 180);
    assert_in_range(several, 20, 180);
}

const struct CMUnitTest test_columns[] = {TEST_CASE(columns_together), TEST_CASE(columns_left),
                                          TEST_CASE(columns_in_waves)};
const size_t test_columns_count = TEST_COUNT(test_columns);
