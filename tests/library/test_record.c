/* Contract: a plan that a command buffer has recorded may be launched any number of times, beside other command buffers
 * and between other executions. */
#include "test.h"

#include <CL/cl_ext.h>
#include <stdlib.h>
#include <string.h>

enum { REPLAYS = 100, KINDS = 14 };

static clCreateCommandBufferKHR_fn create_commands;
static clFinalizeCommandBufferKHR_fn finalize;
static clReleaseCommandBufferKHR_fn release;
static clEnqueueCommandBufferKHR_fn enqueue;

static void *extension(const char *name)
{
    cl_platform_id platform;
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL), CL_SUCCESS);
    return clGetExtensionFunctionAddressForPlatform(platform, name);
}

static void need_commands(void)
{
    const struct {
        const char *name;
        void *place;
    } functions[] = {{"clCreateCommandBufferKHR", &create_commands},
                     {"clFinalizeCommandBufferKHR", &finalize},
                     {"clReleaseCommandBufferKHR", &release},
                     {"clEnqueueCommandBufferKHR", &enqueue}};
    char extensions[8192] = "";
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL),
                     CL_SUCCESS);
    if (!strstr(extensions, "cl_khr_command_buffer"))
        test_skip("the device has no cl_khr_command_buffer");
    for (size_t i = 0; i < TEST_COUNT(functions); ++i) {
        void *const found = extension(functions[i].name);
        if (!found)
            fail_msg("the device has cl_khr_command_buffer without %s", functions[i].name);
        memcpy(functions[i].place, &found, sizeof found);
    }
}

/* One of each kind of plan, of other sizes each time. */
static ipt_plan_desc desc_of(int kind)
{
    static const size_t sizes[] = {1, 2, 3, 4, 8, 12, 16};
    ipt_plan_desc desc = {.rows = test_random_between(2, 90), .cols = test_random_between(2, 90)};
    desc.elem_size = sizes[test_random_between(0, TEST_COUNT(sizes) - 1)];
    switch (kind) {
    case 0: /* a matrix, in whatever way the planner takes */
        break;
    case 1:
        desc.cols = desc.rows;
        break;
    case 2: /* skinny */
        desc.rows = test_random_between(2, 5);
        desc.cols = test_random_between(500, 3000);
        break;
    case 3:
        desc.cols = test_random_between(2, 5);
        desc.rows = test_random_between(500, 3000);
        break;
    case 4:
        desc.batch = test_random_between(2, 20);
        break;
    case 5:
        desc.move = IPT_MOVE_ROTATE_90;
        break;
    case 6:
        desc.move = IPT_MOVE_FLIP_HORIZONTAL;
        break;
    case 7: /* no workspace for bands: panels and cycles */
        desc.rows *= 3;
        desc.max_workspace = 1 << 12;
        break;
    case 8:
        desc.rows *= 4;
        desc.cols *= 5;
        break;
    case 9:
        desc.elem_size = 100;
        break;
    default:
        desc.rows = desc.cols = 0;
        desc.rank = (unsigned)test_random_between(3, 5);
        for (unsigned i = 0; i < desc.rank; ++i) {
            const unsigned j = (unsigned)test_random_between(0, i);
            desc.shape[i] = test_random_between(2, 14);
            desc.axes[i] = desc.axes[j];
            desc.axes[j] = i;
        }
    }
    return desc;
}

typedef struct recorded {
    ipt_plan_desc desc;
    ipt_plan *plan;
    size_t bytes, times;
    unsigned char *content, *expected;
    cl_mem buffer;
    cl_command_buffer_khr commands;
} recorded;

static void begin(recorded *made, ipt_context *context, int kind)
{
    cl_int error;
    made->desc = desc_of(kind);
    made->plan = test_make_plan(context, &made->desc);
    made->bytes = test_span(&made->desc);
    made->times = 0;
    made->content = malloc(made->bytes);
    made->expected = malloc(made->bytes);
    if (!made->content || !made->expected)
        fail_msg("no memory for %zu bytes", made->bytes);
    test_fill(made->content, made->bytes);
    made->buffer =
        clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, made->bytes, made->content, &error);
    assert_int_equal(error, CL_SUCCESS);
    made->commands = create_commands(1, &test_queue, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    if (ipt_plan_record(made->plan, made->commands, test_queue, made->buffer, 0))
        fail_msg("%s", ipt_context_error(context));
    assert_int_equal(finalize(made->commands), CL_SUCCESS);
}

static void end(recorded *made)
{
    unsigned char *const result = malloc(made->bytes);
    if (!result)
        fail_msg("no memory for %zu bytes", made->bytes);
    assert_int_equal(clEnqueueReadBuffer(test_queue, made->buffer, CL_TRUE, 0, made->bytes, result, 0, NULL, NULL),
                     CL_SUCCESS);
    for (size_t i = 0; i < made->times; ++i) {
        test_reference(made->expected, made->content, &made->desc);
        memcpy(made->content, made->expected, made->bytes);
    }
    if (memcmp(result, made->content, made->bytes)) {
        test_print_case(&made->desc, 0);
        fail_msg("wrong after %zu executions:\n%s", made->times, ipt_plan_describe(made->plan));
    }
    assert_int_equal(release(made->commands), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(made->buffer), CL_SUCCESS);
    ipt_plan_destroy(made->plan);
    free(made->content);
    free(made->expected);
    free(result);
}

/* Two command buffers take turns, and each plan executes between. */
static void replay(ipt_context *context, int kind)
{
    recorded two[2];
    for (int s = 0; s < 2; ++s)
        begin(&two[s], context, s ? (int)test_random_between(0, KINDS - 1) : kind);
    for (int time = 0; time < REPLAYS; ++time) {
        for (int s = 0; s < 2; ++s) {
            assert_int_equal(enqueue(0, NULL, two[s].commands, 0, NULL, NULL), CL_SUCCESS);
            ++two[s].times;
            if (time % 20 == 7) {
                if (ipt_plan_execute(two[s].plan, test_queue, two[s].buffer, 0, 0, NULL, NULL))
                    fail_msg("%s", ipt_context_error(context));
                ++two[s].times;
            }
        }
        assert_int_equal(clFinish(test_queue), CL_SUCCESS); /* a command buffer is launched again when it has ended */
    }
    for (int s = 0; s < 2; ++s)
        end(&two[s]);
}

static void record_replays(void **state)
{
    (void)state;
    need_commands();
    for (int kind = 0; kind < KINDS; ++kind)
        replay(test_random_between(0, 2) ? test_context : test_small_context, kind);
}

static void record_refusals(void **state)
{
    const ipt_plan_desc desc = {.rows = 20, .cols = 30, .elem_size = 4};
    cl_int error;
    cl_mem buffer;
    cl_command_buffer_khr commands;
    ipt_plan *plan;
    (void)state;
    need_commands();
    plan = test_make_plan(test_context, &desc);
    buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, 2400, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    commands = create_commands(1, &test_queue, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(ipt_plan_record(plan, NULL, test_queue, buffer, 0), IPT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(ipt_context_error(test_context), "command_buffer is NULL");
    assert_int_equal(ipt_plan_record(NULL, commands, test_queue, buffer, 0), IPT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(ipt_plan_record(plan, commands, NULL, buffer, 0), IPT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(ipt_plan_record(plan, commands, test_queue, buffer, 4), IPT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(finalize(commands), CL_SUCCESS); /* it takes no more commands */
    assert_int_equal(ipt_plan_record(plan, commands, test_queue, buffer, 0), IPT_ERROR_OPENCL);
    assert_int_equal(release(commands), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(buffer), CL_SUCCESS);
    ipt_plan_destroy(plan);
}

const struct CMUnitTest test_record[] = {TEST_CASE(record_replays), TEST_CASE(record_refusals)};
const size_t test_record_count = TEST_COUNT(test_record);
