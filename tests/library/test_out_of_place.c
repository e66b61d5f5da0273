/* Executions out of place by the kernel for GPUs, which fetches large tiles by vectors. The tests report any device as
 * a GPU, and check every byte of the result and around it. Tiles must fit the kernel's local memory. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#include "told_gpu.h"

#define clGetDeviceInfo told_clGetDeviceInfo
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#undef clGetDeviceInfo
#include "test.h"

#include <stdlib.h>

static ipt_context *make_context(size_t local_memory)
{
    ipt_context_desc desc = {0};
    ipt_context *context;
    desc.context = test_cl_context;
    desc.device = test_device;
    desc.max_local_memory = local_memory;
    told = 1;
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    told = 0;
    return context;
}

/* Whether the plan has this kernel, with tiles that are not empty and fit local memory. */
static void check_tiles(const ipt_plan *plan)
{
    const ipt__program *const program =
        plan->device->kernels[plan->device->launches.items[plan->device->out_of_place].kernel].program;
    size_t rows, cols;
    const ipt__tile_layout layout = ipt__out_of_place_tile(&plan->problem, &program->params, &rows, &cols);
    assert_int_equal(program->id, IPT__KERNEL_out_of_place);
    assert_in_range(rows, 1, plan->problem.desc.rows);
    assert_in_range(cols, 1, plan->problem.desc.cols);
    assert_in_range(ipt__tile_vectors(&layout, rows), 1, program->params.local_bytes / 16);
}

static void check_case(ipt_context *context, ipt_plan_desc desc)
{
    test_job job = {0}, result = {0};
    const size_t offset = TEST_GUARD;
    ipt_plan *plan;
    desc.flags |= IPT_OUT_OF_PLACE;
    plan = test_make_plan(context, &desc);
    check_tiles(plan);
    test_job_prepare(&job, test_cl_context, &desc, offset);
    test_job_prepare(&result, test_cl_context, &desc, offset);
    if (!test_job_upload(&job, test_queue) || !test_job_upload(&result, test_queue) ||
        ipt_plan_execute_out_of_place(plan, test_queue, job.buffer, offset, result.buffer, offset, 0, NULL, NULL))
        fail_msg("%s", ipt_context_error(NULL));
    memcpy(result.expected, result.input, result.size);
    test_reference(result.expected + offset, job.input + offset, &job.desc);
    if (!test_job_holds(&result, test_queue, result.expected) || !test_job_holds(&job, test_queue, job.input)) {
        test_print_case(&desc, offset);
        fail();
    }
    ipt_plan_destroy(plan);
    test_job_end(&job);
    test_job_end(&result);
}

static void out_of_place_on_gpus(void **state)
{
    static const struct {
        size_t rows, cols, elem_size, batch;
    } shapes[] = {{1, 1, 4, 1},     {2, 3001, 4, 1},  {3001, 2, 4, 1},  {300, 257, 1, 1}, {255, 400, 2, 1},
                  {97, 130, 3, 3},  {640, 333, 4, 1}, {333, 640, 8, 2}, {61, 59, 12, 4},  {128, 128, 16, 1},
                  {40, 50, 255, 1}, {33, 29, 256, 2}, {1000, 17, 4, 1}, {17, 1000, 4, 5}, {300, 256, 1, 2},
                  {254, 400, 2, 1}, {96, 132, 3, 3},  {62, 100, 6, 2},  {4, 600, 1, 1}};
    size_t i, j;
    (void)state;
    test_need_group_of_32();
    for (j = 0; j < 2; ++j) {
        ipt_context *const context = make_context(j ? 8192 : 0);
        for (i = 0; i < TEST_COUNT(shapes); ++i) {
            ipt_plan_desc desc = {0};
            desc.rows = shapes[i].rows;
            desc.cols = shapes[i].cols;
            desc.elem_size = shapes[i].elem_size;
            desc.batch = shapes[i].batch;
            check_case(context, desc);
        }
        ipt_context_destroy(context);
    }
}

/* Elements that do not fit the kernel for GPUs move by the general kernel. */
static void out_of_place_of_large_elements(void **state)
{
    ipt_context *const context = make_context(0);
    ipt_plan_desc desc = {0};
    ipt_plan *plan;
    (void)state;
    desc.rows = 5;
    desc.cols = 7;
    desc.elem_size = 257;
    desc.flags = IPT_OUT_OF_PLACE;
    plan = test_make_plan(context, &desc);
    assert_int_equal(plan->device->kernels[plan->device->launches.items[plan->device->out_of_place].kernel].program->id,
                     IPT__KERNEL_transpose);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
}

const struct CMUnitTest test_out_of_place[] = {
    TEST_CASE(out_of_place_on_gpus),
    TEST_CASE(out_of_place_of_large_elements),
};
const size_t test_out_of_place_count = TEST_COUNT(test_out_of_place);
