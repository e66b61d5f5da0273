/* Contract: plans also transpose host memory, and out of place in device memory. ipt returns all memory to the user's
 * allocator, and reports its failures as errors. The logger gets messages about builds only. */
#include "meter.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* Desc i of all element sizes and a few shapes, some as batches with gaps. */
static ipt_plan_desc shape_number(size_t i)
{
    static const size_t sides[][2] = {{1, 9}, {9, 1}, {5, 7}, {40, 40}, {127, 61}, {31, 200}, {263, 257}};
    static const size_t element_sizes[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 100, 1000};
    ipt_plan_desc desc = {.elem_size = element_sizes[i % TEST_COUNT(element_sizes)]};
    desc.rows = sides[i % TEST_COUNT(sides)][0];
    desc.cols = sides[i % TEST_COUNT(sides)][1];
    if (desc.elem_size > 32 && desc.rows * desc.cols > 10000)
        desc.rows = 23;
    desc.batch = i % 3 + 1;
    if (i % 2)
        desc.batch_stride = test_matrix_bytes(&desc) + i % 5 * test_alignment(desc.elem_size);
    return desc;
}
#define SHAPE_NUMBERS 91 /* each of 7 pairs of sides with each of 13 element sizes */

static void host_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPE_NUMBERS; ++i) {
        ipt_plan_desc desc = shape_number(i);
        size_t place = TEST_GUARD + i % 4; /* mostly unaligned */
        size_t size = place + test_span(&desc) + TEST_GUARD;
        unsigned char *data = malloc(size), *expected = malloc(size);
        assert_true(data && expected);
        test_fill(data, size);
        memcpy(expected, data, size);
        test_reference(expected + place, data + place, &desc);
        ipt_plan *plan = test_make_plan(test_context, &desc);
        if (ipt_plan_execute_host(plan, data + place) != IPT_SUCCESS || memcmp(data, expected, size) != 0) {
            test_print_case(&desc, place);
            print_error("wrong, or an error: %s\n", ipt_context_error(NULL));
            fail();
        }
        ipt_plan_destroy(plan);
        free(expected);
        free(data);
    }
}

static void host_one_line(void **state)
{
    (void)state;
    static const ipt_plan_desc shapes[] = {{.rows = 317, .cols = 123, .elem_size = 4},
                                           {.rows = 3, .cols = 50, .elem_size = 3},
                                           {.rows = 60, .cols = 60, .elem_size = 16}};
    for (size_t i = 0; i < TEST_COUNT(shapes); ++i) {
        size_t size = test_span(&shapes[i]);
        unsigned char *data = malloc(size), *expected = malloc(size);
        assert_true(data && expected);
        test_fill(data, size);
        test_reference(expected, data, &shapes[i]);
        assert_int_equal(ipt_transpose(data, shapes[i].rows, shapes[i].cols, shapes[i].elem_size), IPT_SUCCESS);
        assert_memory_equal(data, expected, size);
        free(expected);
        free(data);
    }
}

/* Executes a plan out of place, into another buffer or (same) another part of the buffer. */
static void out_of_place(const ipt_plan_desc *desc, size_t source_offset, size_t destination_offset, int same)
{
    test_job source = {0}, destination = {0};
    test_job_prepare(&source, test_cl_context, desc, source_offset);
    size_t to = same ? source_offset + test_span(desc) + destination_offset : destination_offset;
    test_job_prepare(&destination, test_cl_context, desc, to);
    if (same) /* the source precedes the result in one buffer */
        memcpy(destination.input, source.input, source_offset + test_span(desc));
    memcpy(destination.expected, destination.input, destination.size);
    test_reference(destination.expected + to, source.input + source_offset, desc);

    ipt_plan *plan = test_make_plan(test_context, desc);
    cl_event event = NULL;
    assert_true(test_job_upload(&source, test_queue) && test_job_upload(&destination, test_queue));
    cl_mem from = same ? destination.buffer : source.buffer;
    if (ipt_plan_execute_out_of_place(plan, test_queue, from, source_offset, destination.buffer, to, 0, NULL, &event) !=
        IPT_SUCCESS) {
        test_print_case(desc, source_offset);
        print_error("ipt_plan_execute_out_of_place: %s\n", ipt_context_error(NULL));
        fail();
    }
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    assert_true(test_job_holds(&destination, test_queue, destination.expected));
    assert_true(test_job_holds(&source, test_queue, source.input));
    ipt_plan_destroy(plan);
    test_job_end(&source);
    test_job_end(&destination);
}

static void host_out_of_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPE_NUMBERS; ++i) {
        ipt_plan_desc desc = shape_number(i);
        size_t alignment = test_alignment(desc.elem_size);
        out_of_place(&desc, i % 7 * alignment, TEST_GUARD + i % 3 * alignment, i % 4 == 3);
    }
    for (int i = 0; i < 60; ++i) {
        ipt_plan_desc desc = {.rows = test_random_between(1, 400), .cols = test_random_between(1, 400)};
        desc.elem_size = test_element_sizes[test_random_between(0, TEST_ELEMENT_SIZE_COUNT - 1)];
        out_of_place(&desc, 0, TEST_GUARD, i % 2);
    }
}

/* Only events order the commands of these executions. An open wait event delays the commands. */
static void host_out_of_place_events(void **state)
{
    (void)state;
    test_need_waiting_commands();
    cl_command_queue queue = test_make_queue(test_cl_context, test_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!queue)
        test_skip("the device has no out-of-order queues");
    ipt_plan_desc desc = {.rows = 300, .cols = 211, .elem_size = 4};
    test_job source = {0}, destination = {0};
    test_job_prepare(&source, test_cl_context, &desc, 0);
    test_job_prepare(&destination, test_cl_context, &desc, 0);
    memcpy(destination.expected, destination.input, destination.size);
    test_reference(destination.expected, source.input, &desc);
    ipt_plan *plan = test_make_plan(test_context, &desc);
    assert_true(test_job_upload(&destination, queue));
    cl_event gate = clCreateUserEvent(test_cl_context, NULL), written = NULL, done = NULL, read = NULL;
    assert_int_equal(
        clEnqueueWriteBuffer(queue, source.buffer, CL_FALSE, 0, source.size, source.input, 1, &gate, &written),
        CL_SUCCESS);
    assert_int_equal(
        ipt_plan_execute_out_of_place(plan, queue, source.buffer, 0, destination.buffer, 0, 1, &written, &done),
        IPT_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, destination.buffer, CL_FALSE, 0, destination.size, destination.result,
                                         1, &done, &read),
                     CL_SUCCESS);
    cl_int status = CL_COMPLETE;
    assert_int_equal(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), CL_SUCCESS);
    assert_true(status > CL_COMPLETE);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &read), CL_SUCCESS);
    assert_memory_equal(destination.result, destination.expected, destination.size);
    clReleaseEvent(gate);
    clReleaseEvent(written);
    clReleaseEvent(done);
    clReleaseEvent(read);
    ipt_plan_destroy(plan);
    test_job_end(&source);
    test_job_end(&destination);
    clReleaseCommandQueue(queue);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Creates a context, uses it and destroys it. Returns the first failure; without one, checks the data. */
static ipt_result metered_life(meter *count, long *calls_before_execute, long *calls_after_execute)
{
    static const ipt_plan_desc desc = {.rows = 67, .cols = 143, .elem_size = 4, .batch = 2};
    ipt_context_desc context_desc = {.context = test_cl_context, .device = test_device};
    context_desc.allocator = meter_allocator(count);
    ipt_context *context = (ipt_context *)&context_desc;
    ipt_plan *plan = (ipt_plan *)&context_desc;
    test_job job = {0};
    test_job_prepare(&job, test_cl_context, &desc, TEST_GUARD);
    assert_true(test_job_upload(&job, test_queue));

    ipt_result result = ipt_context_create(&context_desc, &context);
    if (result != IPT_SUCCESS) {
        assert_null(context);
        test_job_end(&job);
        return result;
    }
    result = ipt_plan_create(context, &desc, &plan);
    if (result != IPT_SUCCESS)
        assert_null(plan);
    *calls_before_execute = count->calls;
    if (result == IPT_SUCCESS)
        result = ipt_plan_execute(plan, test_queue, job.buffer, TEST_GUARD, 0, NULL, NULL);
    *calls_after_execute = count->calls;
    if (result == IPT_SUCCESS)
        assert_true(test_job_holds(&job, test_queue, job.expected));
    if (result == IPT_SUCCESS) {
        memcpy(job.result, job.input, job.size);
        result = ipt_plan_execute_host(plan, job.result + TEST_GUARD);
        assert_memory_equal(job.result, result == IPT_SUCCESS ? job.expected : job.input, job.size);
    }
    if (result == IPT_SUCCESS) {
        test_job other = {0};
        cl_event event = NULL;
        test_job_prepare(&other, test_cl_context, &desc, TEST_GUARD);
        result = ipt_plan_execute_out_of_place(plan, test_queue, job.buffer, TEST_GUARD, other.buffer, TEST_GUARD, 0,
                                               NULL, &event);
        assert_int_equal(result == IPT_SUCCESS, event != NULL);
        if (event)
            clReleaseEvent(event);
        assert_int_equal(clFinish(test_queue), CL_SUCCESS);
        test_job_end(&other);
    }
    ipt_context_destroy(context);
    ipt_plan_destroy(plan);
    test_job_end(&job);
    return result;
}

static void host_allocator(void **state)
{
    (void)state;
    long before = 0, after = 0, fail_at = 1;
    for (;; ++fail_at) {
        meter count = METER;
        count.fail_at = fail_at;
        ipt_result result = metered_life(&count, &before, &after);
        if (count.living)
            print_error("%ld pieces not freed after failure %ld\n", count.living, fail_at);
        assert_int_equal(count.living, 0);
        if (count.calls < fail_at) { /* no allocation failed */
            assert_int_equal(result, IPT_SUCCESS);
            assert_int_equal(before, after); /* ipt_plan_execute allocates no memory */
            break;
        }
        if (result != IPT_ERROR_OUT_OF_MEMORY)
            print_error("failure %ld: %s: %s\n", fail_at, ipt_result_string(result), ipt_context_error(NULL));
        test_expect_error(result, IPT_ERROR_OUT_OF_MEMORY, NULL, NULL);
        assert_true(fail_at < 10000);
    }
    assert_true(fail_at > 2); /* ipt called the allocator */
}

/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct heard {
    int messages, built;
} heard;

static void listen(const char *message, void *user)
{
    heard *count = user;
    ++count->messages;
    count->built += strncmp(message, "built", 5) == 0;
}

static void host_logger(void **state)
{
    (void)state;
    test_need_compiler();
    heard count = {0};
    ipt_context_desc context_desc = {.context = test_cl_context, .device = test_device, .logger = {listen, &count}};
    context_desc.resident_groups = 64; /* otherwise a plan on a busy GPU counts again, and logs the count */
    ipt_plan_desc desc = {.rows = 67, .cols = 143, .elem_size = 4}, wrong = {.rows = 1};
    ipt_context *context = NULL;
    ipt_plan *none = NULL;
    test_job job = {0};
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    assert_int_equal(count.messages, 0);
    ipt_plan *plan = test_make_plan(context, &desc);
    assert_true(count.built > 0);
    heard first = count;
    test_job_prepare(&job, test_cl_context, &desc, TEST_GUARD);
    for (int i = 0; i < 3; ++i)
        assert_true(test_job_run(&job, plan, test_queue));
    assert_int_equal(ipt_plan_create(context, &wrong, &none), IPT_ERROR_INVALID_ARGUMENT);
    ipt_plan_destroy(test_make_plan(context, &desc));
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    assert_int_equal(count.messages, first.messages);
    test_job_end(&job);
}

const struct CMUnitTest test_host[] = {
    TEST_CASE(host_memory),       TEST_CASE(host_one_line),
    TEST_CASE(host_out_of_place), TEST_CASE(host_out_of_place_events),
    TEST_CASE(host_allocator),    TEST_CASE(host_logger),
};
const size_t test_host_count = TEST_COUNT(test_host);
