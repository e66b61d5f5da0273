/* Matrices on the chip whose last columns work-items store in registers, as on NVIDIA's GPUs. The tests report any
 * device as a GPU whose work-items store some vectors. The tests compare every byte of the result and the bytes around
 * it. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#include "told_gpu.h"

#define clGetDeviceInfo told_clGetDeviceInfo
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#undef clGetDeviceInfo
#include "test.h"

/* Moves random matrices of about `bytes` bytes. The device reports `resident` concurrent work-groups. Each work-item
 * stores `held` vectors. The matrices need `programs` classes of programs. Returns the number of matrices with columns
 * in registers. */
static size_t move(size_t resident, size_t polls, size_t bytes, size_t held, int count, int programs)
{
    static const size_t sizes[] = {4, 1, 3, 12};
    static const ipt_move moves[] = {IPT_MOVE_TRANSPOSE, IPT_MOVE_ROTATE_90, IPT_MOVE_ANTITRANSPOSE};
    ipt_context_desc with = {0};
    ipt_context *context = NULL;
    size_t in_registers = 0;
    int i;
    with.context = test_cl_context;
    with.device = test_device;
    with.max_local_memory = test_less_local_memory(16384);
    with.resident_groups = resident;
    with.wait_polls = polls;
    told = 1;
    if (ipt_context_create(&with, &context))
        fail_msg("%s", ipt_context_error(NULL));
    told = 0;
    context->limits.held_vectors = held;
    for (i = 0; i < count; ++i) {
        ipt_plan_desc desc = {0};
        ipt_plan *plan;
        desc.elem_size = sizes[i % programs % (int)TEST_COUNT(sizes)];
        desc.rows = test_random_between(20, 150);
        desc.cols = bytes / desc.elem_size / desc.rows;
        if (i / (int)TEST_COUNT(sizes) % 2) { /* whole words, which blocks move */
            desc.rows = desc.rows / 4 * 4;
            desc.cols = desc.cols / 4 * 4;
        }
        desc.move = moves[i % programs % (int)TEST_COUNT(moves)];
        desc.max_workspace = 1 << 20;
        plan = test_make_plan(context, &desc);
        in_registers += strstr(ipt_plan_describe(plan), "columns of a chunk in registers") != NULL;
        ipt_plan_destroy(plan);
        test_transposes(context, &desc);
    }
    ipt_context_destroy(context);
    return in_registers;
}

/* Uses two work-groups, which run at the same time on most devices, and six, of which the last may move everything. */
static void hold(int count, int programs)
{
    size_t two, six;
    test_need_group_of_32();
    two = move(2, 20000, 30000, 18, count, programs);
    six = move(6, 200, 90000, 18, count, programs);
    if (!two && !six)
        test_skip("the device has no cooperative panels");
    if (programs == 1) { /* too few matrices to demand 20 of each */
        assert_in_range(two + six, 2, 2 * (size_t)count);
        return;
    }
    assert_in_range(two, 20, (size_t)count);
    assert_in_range(six, 20, (size_t)count);
}

static void registers_hold_columns(void **state)
{
    (void)state;
    hold(48, 12);
}

static void registers_of_one_program(void **state)
{
    (void)state;
    hold(5, 1);
}

const struct CMUnitTest test_registers[] = {
    TEST_CASE(registers_of_one_program),
    TEST_CASE(registers_hold_columns),
};
const size_t test_registers_count = TEST_COUNT(test_registers);
