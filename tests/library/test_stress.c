/* A small version of tests/random/stress.c: all classes of shapes on a busy device, two queues at once. The contexts
 * assume more or fewer concurrent work-groups than there are. The kernels for GPUs run here on any device. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <string.h>

static cl_device_type told_type; /* the reported type of the device; 0: the true one */

static cl_int CL_API_CALL told_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                                               size_t *needed)
{
    const cl_int error = clGetDeviceInfo(device, name, bytes, value, needed);
    if (!error && name == CL_DEVICE_TYPE && value && told_type)
        memcpy(value, &told_type, sizeof told_type);
    return error;
}

#define clGetDeviceInfo told_clGetDeviceInfo
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#undef clGetDeviceInfo
#include "test.h"

#define CHECKER_STOP() (alarm(0), fail()) /* a remaining alarm would end later tests */
#include "stress.h"

/* Tries each context with all classes of shapes and with two queues. Returns how many executions were cooperative. */
static size_t try_contexts(const stress_limits *limits, size_t count, size_t runs, size_t bytes)
{
    const double never = 1e300;
    stress run;
    stress_start(&run, test_random());
    run.quiet = 1;
    run.rounds = 2;
    for (size_t i = 0; i < count; ++i) {
        stress_use(&run, &limits[i]);
        stress_runs(&run, runs, bytes, never);
        stress_pairs(&run, 1 + runs / 10, bytes, never);
    }
    stress_end(&run);
    if (run.failures)
        print_error("%zu failures, %llu wrong items; the first one: %s\n", run.failures, run.wrong_items,
                    run.first_failure);
    assert_int_equal(run.failures, 0);
    return run.cooperative;
}

static void stress_device_kernels(void **state)
{
    static const stress_limits limits[] = {
        {"default limits", 0, 0, 0},
        {"too many groups, one look", 1000000, 1, 4096},
        {"one group", 1, 0, 4096},
    };
    (void)state;
    test_need_own_kernels();
    try_contexts(limits, TEST_COUNT(limits), 2 * STRESS_CLASS_COUNT, 600000);
}

/* If work-groups run one after the other, no later one can end the wait of an earlier one. All must give up, and the
 * last one transposes the remaining panels. The test limits local memory: otherwise one work-group can store these
 * small panels. */
static void stress_gpu_kernels(void **state)
{
    static const stress_limits limits[] = {
        {"too many groups, one look", 1000000, 1, 8192},
        {"too many groups, 20 looks", 1000000, 20, 20000},
        {"too many groups, 50 looks", 1000000, 50, 16384},
        {"one group", 1, 0, 4096},
        {"two groups", 2, 20, 4096},
        {"default limits, little local memory", 0, 0, 1024},
    };
    (void)state;
    test_need_own_kernels();
    test_need_group_of_32();
    told_type = CL_DEVICE_TYPE_GPU;
    assert_true(try_contexts(limits, TEST_COUNT(limits), 2 * STRESS_CLASS_COUNT, 300000) > 20);
    told_type = 0;
}

/* Panels that one work-group stores: only such panels take the usual path where work-groups run one after the other.
 * Rows begin at the start of a vector or within one, slots at the start of a sector or within one. Super-elements are
 * longer or shorter than a line of work-items. */
static void stress_held_panels(void **state)
{
    static const stress_limits limits = {"panels of one group", 2, 20, 40000};
    static const size_t elem_sizes[] = {4, 8, 1, 12}, lengths[] = {17, 40, 67};
    stress run;
    size_t e, l, tall, shape, panels = 0;
    /* The longest panel has 67 columns, and the kernel needs up to 7 KiB for other data. */
    const size_t local = test_local_memory(), width = local > 26 << 10 ? 280 : local > 7168 ? (local - 7168) / 67 : 0;
    (void)state;
    test_need_own_kernels();
    test_need_group_of_32();
    if (width < 100)
        test_skip("the device has less than 14 KiB of local memory");
    told_type = CL_DEVICE_TYPE_GPU;
    stress_start(&run, test_random());
    run.quiet = 1;
    run.rounds = 1;
    stress_use(&run, &limits);
    for (e = 0; e < TEST_COUNT(elem_sizes); ++e)
        for (l = 0; l < TEST_COUNT(lengths); ++l)
            for (tall = 0; tall < 2; ++tall)
                for (shape = 0; shape < 8; ++shape) {
                    const size_t short_side = width / elem_sizes[e] + (shape & 3), left = shape & 4 ? 5 : 0;
                    const size_t long_side = 5 * lengths[l] + left;
                    stress_job *const job = &run.jobs[0];
                    ipt_plan_desc desc = {0};
                    desc.rows = tall ? long_side : short_side;
                    desc.cols = tall ? short_side : long_side;
                    desc.elem_size = elem_sizes[e];
                    desc.batch = 1 + shape / 7;
                    desc.sequence = IPT_SEQUENCE_TWO_PASS;
                    desc.tile_m = desc.tile_n = lengths[l];
                    desc.max_workspace = (size_t)1 << 24;
                    alarm(2 * STRESS_TIME_LIMIT);
                    assert_true(stress_job_begin(&run, job, &desc, NULL));
                    panels += strstr(ipt_plan_describe(job->plan), "panels together") != NULL;
                    stress_load_feed(&run.load, run.modest);
                    stress_job_enqueue(&run, job, run.queues[0]);
                    stress_job_end(&run, job);
                    ipt_plan_destroy(job->plan);
                    job->plan = NULL;
                }
    stress_end(&run);
    if (run.failures)
        print_error("%zu failures; the first one: %s\n", run.failures, run.first_failure);
    assert_int_equal(run.failures, 0);
    assert_true(panels > 100);
    told_type = 0;
}

/* With IPT_NO_COOPERATIVE, plans use no cooperative kernels on a device that has them. */
static void stress_no_cooperative(void **state)
{
    ipt_context_desc context_desc = {0};
    ipt_plan_desc desc = {0};
    ipt_context *context;
    ipt_plan *plan;
    (void)state;
    test_need_group_of_32();
    told_type = CL_DEVICE_TYPE_GPU;
    context_desc.resident_groups = 1000;
    context_desc.max_local_memory = 16384;
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    desc.rows = 400;
    desc.cols = 300;
    desc.elem_size = 4;
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    assert_non_null(strstr(ipt_plan_describe(plan), " together")); /* boxes or panels */
    ipt_plan_destroy(plan);
    desc.flags = IPT_NO_COOPERATIVE;
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    assert_null(strstr(ipt_plan_describe(plan), " together"));
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    told_type = 0;
}

const struct CMUnitTest test_stress[] = {
    TEST_CASE(stress_device_kernels),
    TEST_CASE(stress_gpu_kernels),
    TEST_CASE(stress_held_panels),
    TEST_CASE(stress_no_cooperative),
};
const size_t test_stress_count = TEST_COUNT(test_stress);
