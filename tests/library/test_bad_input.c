/* Contract: invalid input returns an error whose message names the argument or field and its value. *context, *plan and
 * *event are then NULL. No byte of a buffer changes, nothing crashes and nothing is printed. */
#include "test.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HUGE_SIZE (~(size_t)0)

static char somewhere; /* a pointer that a failing call must set to NULL points here before */

/* ------------------------------------------------------------------------------------------------------------------ */
/* Contexts and devices */
/* ------------------------------------------------------------------------------------------------------------------ */

static void *no_memory(size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    return NULL;
}

static void no_free(void *pointer, void *user)
{
    (void)pointer;
    (void)user;
}

#define expect_no_context(desc, expected, name, value)                                                                 \
    do {                                                                                                               \
        ipt_context *made = (ipt_context *)&somewhere;                                                                 \
        ipt_result answer = ipt_context_create(desc, &made);                                                           \
        test_expect_error(answer, expected, name, value);                                                              \
        assert_null(made);                                                                                             \
    } while (0)

/* Finds two devices for one context: two devices of the platform, or two halves of one. Returns the number found. */
static cl_uint two_devices(cl_device_id devices[2], int *are_parts)
{
    cl_platform_id platform = NULL;
    cl_uint count = 0;
    *are_parts = 0;
    if (clGetDeviceInfo(test_device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS)
        return 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices, &count) == CL_SUCCESS && count >= 2)
        return 2;
    cl_uint units = 0;
    clGetDeviceInfo(test_device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    const cl_device_partition_property halves[] = {CL_DEVICE_PARTITION_BY_COUNTS, units / 2, units / 2,
                                                   CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    if (units < 2 || clCreateSubDevices(test_device, halves, 2, devices, &count) != CL_SUCCESS || count < 2)
        return 0;
    *are_parts = 1;
    return 2;
}

static void bad_input_context(void **state)
{
    (void)state;
    ipt_context *context = NULL;
    test_expect_error(ipt_context_create(NULL, NULL), IPT_ERROR_INVALID_ARGUMENT, "context", "NULL");

    ipt_context_desc desc = {.device_name = "no device of this name"};
#ifdef IPT_NO_OPENCL
    static const char naming[] = "IPT_NO_OPENCL", name[] = "this CPU";
    expect_no_context(&desc, IPT_ERROR_NO_DEVICE, naming, name);
#else
    static const char naming[] = "IPT_DEVICE", name[] = "no such device either";
    expect_no_context(&desc, IPT_ERROR_NO_DEVICE, "device_name", "no device of this name");
#endif

    desc = (ipt_context_desc){.allocator = {.alloc = no_memory}};
    expect_no_context(&desc, IPT_ERROR_INVALID_ARGUMENT, "allocator", NULL);
    desc = (ipt_context_desc){.allocator = {.free = no_free}};
    expect_no_context(&desc, IPT_ERROR_INVALID_ARGUMENT, "allocator", NULL);
    desc = (ipt_context_desc){.allocator = {.alloc = no_memory, .free = no_free}};
    expect_no_context(&desc, IPT_ERROR_OUT_OF_MEMORY, NULL, NULL);

    static const size_t too_small[] = {1, 16, 1000, 1023};
    for (size_t i = 0; i < TEST_COUNT(too_small); ++i) {
        desc = (ipt_context_desc){.max_local_memory = too_small[i]};
        expect_no_context(&desc, IPT_ERROR_INVALID_ARGUMENT, "max_local_memory", test_number(too_small[i]));
    }
    desc = (ipt_context_desc){.max_local_memory = 1024};
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    ipt_context_destroy(context);

    /* IPT_DEVICE in the environment is used only if the desc names no device. */
    char *before = test_choose_device("no such device either");
    unsigned char matrix[6] = {1, 2, 3, 4, 5, 6};
    ipt_result result = ipt_transpose(matrix, 2, 3, 1);
    test_expect_error(result, IPT_ERROR_NO_DEVICE, naming, name);
    assert_memory_equal(matrix, "\1\2\3\4\5\6", 6);
    expect_no_context(NULL, IPT_ERROR_NO_DEVICE, naming, name);
    desc = (ipt_context_desc){.device = test_device};
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    ipt_context_destroy(context);
    test_choose_again(before);
}

static void bad_input_other_devices(void **state)
{
    (void)state;
    cl_device_id devices[2];
    int are_parts = 0;
    if (two_devices(devices, &are_parts) < 2)
        test_skip("there is one device");
    cl_int error = CL_SUCCESS;
    cl_context one = clCreateContext(NULL, 1, &devices[1], NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    ipt_context_desc desc = {.context = one, .device = devices[0]};
    expect_no_context(&desc, IPT_ERROR_INVALID_ARGUMENT, "device", NULL);
    clReleaseContext(one);

    cl_context both = clCreateContext(NULL, 2, devices, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    cl_uint count = 0;
    assert_int_equal(clGetContextInfo(both, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, NULL), CL_SUCCESS);
    if (are_parts && count < 2) { /* PoCL 3.1 creates the context for the parent device instead of its parts */
        clReleaseContext(both);
        clReleaseDevice(devices[0]);
        clReleaseDevice(devices[1]);
        return;
    }
    desc = (ipt_context_desc){.context = both, .device = devices[0]};
    ipt_context *context = NULL;
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    cl_command_queue queues[2] = {test_make_queue(both, devices[0], 0), test_make_queue(both, devices[1], 0)};
    assert_true(queues[0] && queues[1]);
    ipt_plan_desc shape = {.rows = 57, .cols = 31, .elem_size = 4};
    ipt_plan *plan = test_make_plan(context, &shape);
    test_job job = {0};
    test_job_prepare(&job, both, &shape, TEST_GUARD);
    assert_true(test_job_upload(&job, queues[0]));
    cl_event event = (cl_event)(void *)&somewhere;
    ipt_result result = ipt_plan_execute(plan, queues[1], job.buffer, TEST_GUARD, 0, NULL, &event);
    test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, "queue", NULL);
    assert_null(event);
    assert_true(test_job_holds(&job, queues[0], job.input));
    assert_true(test_job_run(&job, plan, queues[0]));
    test_job_end(&job);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    for (int i = 0; i < 2; ++i) {
        clReleaseCommandQueue(queues[i]);
        if (are_parts)
            clReleaseDevice(devices[i]);
    }
    clReleaseContext(both);
}

static void bad_input_device_functions(void **state)
{
    (void)state;
    cl_device_id device = NULL;
    char text[8] = "before";
    size_t count = 77;
    test_expect_error(ipt_device_list(&device, 1, NULL), IPT_ERROR_INVALID_ARGUMENT, "count", "NULL");
    test_expect_error(ipt_device_list(NULL, 1, &count), IPT_ERROR_INVALID_ARGUMENT, "devices", "NULL");
    test_expect_error(ipt_device_describe(NULL, text, sizeof text), IPT_ERROR_INVALID_ARGUMENT, "device", "NULL");
    test_expect_error(ipt_device_describe(test_device, NULL, 5), IPT_ERROR_INVALID_ARGUMENT, "text", "NULL");
    test_expect_error(ipt_device_describe(test_device, text, 0), IPT_ERROR_INVALID_ARGUMENT, "capacity", "0");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Plans */
/* ------------------------------------------------------------------------------------------------------------------ */

#define expect_no_plan(context, desc, expected, name, value)                                                           \
    do {                                                                                                               \
        ipt_plan *made = (ipt_plan *)&somewhere;                                                                       \
        ipt_result answer = ipt_plan_create(context, desc, &made);                                                     \
        test_expect_error(answer, expected, name, value);                                                              \
        assert_null(made);                                                                                             \
    } while (0)

static void bad_input_plan(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        ipt_plan_desc desc;
    } wrong[] = {
        {"rows", "0", {.rows = 0, .cols = 20, .elem_size = 4}},
        {"cols", "0", {.rows = 30, .cols = 0, .elem_size = 4}},
        {"elem_size", "0", {.rows = 30, .cols = 20, .elem_size = 0}},
        {"flags", NULL, {.rows = 30, .cols = 20, .elem_size = 4, .flags = 0x40000000u}},
        {"flags", NULL, {.rows = 30, .cols = 20, .elem_size = 4, .flags = IPT_MEASURE | 0x80000000u}},
        /* the product overflows, by each factor */
        {"rows", NULL, {.rows = HUGE_SIZE / 2, .cols = 3, .elem_size = 1}},
        {"cols", NULL, {.rows = 2, .cols = HUGE_SIZE / 2 + 1, .elem_size = 1}},
        {"elem_size", NULL, {.rows = 3, .cols = 5, .elem_size = HUGE_SIZE / 15 + 1}},
        {"elem_size", NULL, {.rows = (size_t)1 << 31, .cols = (size_t)1 << 31, .elem_size = 4}},
        {"batch", NULL, {.rows = 30, .cols = 20, .elem_size = 4, .batch = HUGE_SIZE / 2400 + 1}},
        {"batch", NULL, {.rows = 1, .cols = 20, .elem_size = 4, .batch = HUGE_SIZE}},
        {"batch_stride", NULL, {.rows = 3, .cols = 2, .elem_size = 4, .batch = 3, .batch_stride = HUGE_SIZE - 15}},
        {"batch_stride", NULL, {.rows = 3, .cols = 2, .elem_size = 4, .batch = 2, .batch_stride = HUGE_SIZE - 15}},
        /* stride shorter than a matrix, or misaligned */
        {"batch_stride", "2396", {.rows = 30, .cols = 20, .elem_size = 4, .batch = 3, .batch_stride = 2396}},
        {"batch_stride", "16", {.rows = 3, .cols = 2, .elem_size = 3, .batch = 2, .batch_stride = 16}},
        {"batch_stride", "2402", {.rows = 30, .cols = 20, .elem_size = 4, .batch = 3, .batch_stride = 2402}},
        {"batch_stride", "49", {.rows = 2, .cols = 4, .elem_size = 6, .batch = 3, .batch_stride = 49}},
        {"batch_stride", "98", {.rows = 2, .cols = 4, .elem_size = 12, .batch = 3, .batch_stride = 98}},
        {"batch_stride", "136", {.rows = 2, .cols = 4, .elem_size = 16, .batch = 3, .batch_stride = 136}},
        {"batch_stride", "264", {.rows = 2, .cols = 4, .elem_size = 32, .batch = 3, .batch_stride = 264}},
    };
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i)
        expect_no_plan(test_context, &wrong[i].desc, IPT_ERROR_INVALID_ARGUMENT, wrong[i].name, wrong[i].value);

    ipt_plan_desc desc = {.rows = 30, .cols = 20, .elem_size = 4};
    test_expect_error(ipt_plan_create(test_context, &desc, NULL), IPT_ERROR_INVALID_ARGUMENT, "plan", "NULL");
    expect_no_plan(NULL, &desc, IPT_ERROR_INVALID_ARGUMENT, "context", "NULL");
    expect_no_plan(test_context, NULL, IPT_ERROR_INVALID_ARGUMENT, "desc", "NULL");
    desc.sequence = IPT__SEQUENCE_COUNT;
    expect_no_plan(test_context, &desc, IPT_ERROR_INVALID_ARGUMENT, "sequence", test_number(IPT__SEQUENCE_COUNT));
}

static void bad_input_measure_buffer(void **state)
{
    (void)state;
    cl_context other = clCreateContext(NULL, 1, &test_device, NULL, NULL, NULL);
    cl_mem small = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, 2399, NULL, NULL);
    cl_mem read_only = clCreateBuffer(test_cl_context, CL_MEM_READ_ONLY, 2400, NULL, NULL);
    cl_mem foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, 2400, NULL, NULL);
    assert_true(small && read_only && foreign);
    ipt_plan_desc desc = {.rows = 30, .cols = 20, .elem_size = 4, .flags = IPT_MEASURE, .measure_buffer = small};
    expect_no_plan(test_context, &desc, IPT_ERROR_INVALID_ARGUMENT, "measure_buffer", "2399");
    desc.measure_buffer = read_only;
    expect_no_plan(test_context, &desc, IPT_ERROR_INVALID_ARGUMENT, "measure_buffer", NULL);
    desc.measure_buffer = foreign;
    expect_no_plan(test_context, &desc, IPT_ERROR_INVALID_ARGUMENT, "measure_buffer", NULL);
    clReleaseMemObject(small);
    clReleaseMemObject(read_only);
    clReleaseMemObject(foreign);
    clReleaseContext(other);
}

/* A limit one byte below the smallest plan's workspace is refused. The message names a limit that suffices. */
static void bad_input_workspace(void **state)
{
    (void)state;
    static const ipt_plan_desc shapes[] = {
        {.rows = 701, .cols = 499, .elem_size = 4},
        {.rows = 499, .cols = 701, .elem_size = 12},
        {.rows = 600, .cols = 400, .elem_size = 8, .sequence = IPT_SEQUENCE_3_1, .tile_m = 20, .tile_n = 40},
        {.rows = 997, .cols = 601, .elem_size = 1, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_m = 64},
    };
    int refused = 0;
    for (size_t i = 0; i < TEST_COUNT(shapes); ++i) {
        ipt_plan_desc desc = shapes[i];
        ipt_plan *plan = NULL;
        desc.max_workspace = 1;
        size_t least = 1;
        if (ipt_plan_create(test_small_context, &desc, &plan) == IPT_SUCCESS) {
            least = ipt_plan_workspace(plan);
            ipt_plan_destroy(plan);
            if (least < 3)
                continue; /* a limit below this is 0 or 1, which have other meanings */
            desc.max_workspace = least;
            ipt_plan_destroy(test_make_plan(test_small_context, &desc));
            desc.max_workspace = least - 1;
        }
        expect_no_plan(test_small_context, &desc, IPT_ERROR_UNSUPPORTED, "max_workspace",
                       test_number(desc.max_workspace));
        ++refused;
        char message[4096];
        int works = 0;
        snprintf(message, sizeof message, "%s", ipt_context_error(test_small_context));
        for (char *next = message; *next && !works;) {
            if (!isdigit((unsigned char)*next)) {
                ++next;
                continue;
            }
            size_t limit = strtoull(next, &next, 10);
            if (limit <= desc.max_workspace)
                continue;
            ipt_plan_desc enough = desc;
            enough.max_workspace = limit;
            works = ipt_plan_create(test_small_context, &enough, &plan) == IPT_SUCCESS;
            if (works) {
                assert_in_range(ipt_plan_workspace(plan), 0, limit);
                ipt_plan_destroy(plan);
            }
        }
        if (!works) {
            print_error("no number in this message works: %s\n", message);
            fail();
        }
    }
    assert_true(refused > 0);
}

/* Messages print sizes above 4 GiB in full, also where unsigned long has 32 bits. */
static void bad_input_large_sizes(void **state)
{
    (void)state;
    if (HUGE_SIZE >> 31 >> 1 == 0)
        test_skip("sizes have 32 bits");
    const size_t gib = (size_t)1 << 30;
    static const char *const texts[][2] = {{"batch_stride = 5368709120", "matrix of 68719476736 bytes"},
                                           {"row_pitch = 5368709121", "multiple of 4"},
                                           {"tile_m = 8589934592", "rows = 30"}};
    const ipt_plan_desc descs[] = {
        {.rows = gib, .cols = 16, .elem_size = 4, .batch = 2, .batch_stride = 5 * gib},
        {.rows = 3, .cols = 20, .elem_size = 4, .row_pitch = 5 * gib + 1, .row_pitch_out = 12},
        {.rows = 30, .cols = 20, .elem_size = 1, .sequence = IPT_SEQUENCE_3_1, .tile_m = 8 * gib, .tile_n = 1}};
    for (size_t i = 0; i < TEST_COUNT(descs); ++i) {
        ipt_plan *plan = (ipt_plan *)&somewhere;
        const ipt_result result = ipt_plan_create(test_context, &descs[i], &plan);
        assert_null(plan);
        assert_true(expect_parts(result, IPT_ERROR_INVALID_ARGUMENT, ipt_context_error(test_context), texts[i][0],
                                 texts[i][1]));
    }
    /* Devices with separate memory cut this large matrix, and refuse it before they check the tiles. */
    const ipt_plan_desc larger = {
        .rows = 12 * gib + 1, .cols = 20, .elem_size = 1, .sequence = IPT_SEQUENCE_3_1, .tile_m = 8 * gib, .tile_n = 1};
    cl_device_type type = 0;
    ipt_plan *plan;
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_TYPE, sizeof type, &type, NULL), CL_SUCCESS);
    if (type & CL_DEVICE_TYPE_CPU)
        test_expect_parts(ipt_plan_create(test_context, &larger, &plan), IPT_ERROR_INVALID_ARGUMENT,
                          "tile_m = 8589934592", "rows = 12884901889");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Executions */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Every wrong argument of an execution. Two matrices of 2400 bytes, 2432 bytes apart. */
#define SPAN 4832

typedef struct objects {
    cl_context other_context;
    cl_command_queue other_queue;
    cl_mem exact, short_by_one, read_only, write_only, foreign;
    cl_event event, foreign_event, failed_event, no_event;
    ipt_plan *plan;
} objects;

static const ipt_plan_desc shape = {.rows = 30, .cols = 20, .elem_size = 4, .batch = 2, .batch_stride = 2432};

static objects make_objects(void)
{
    objects made = {0};
    made.other_context = clCreateContext(NULL, 1, &test_device, NULL, NULL, NULL);
    made.other_queue = test_make_queue(made.other_context, test_device, 0);
    made.exact = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, SPAN, NULL, NULL);
    made.short_by_one = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, SPAN - 1, NULL, NULL);
    made.read_only = clCreateBuffer(test_cl_context, CL_MEM_READ_ONLY, SPAN, NULL, NULL);
    made.write_only = clCreateBuffer(test_cl_context, CL_MEM_WRITE_ONLY, SPAN, NULL, NULL);
    made.foreign = clCreateBuffer(made.other_context, CL_MEM_READ_WRITE, SPAN, NULL, NULL);
    made.event = clCreateUserEvent(test_cl_context, NULL);
    made.foreign_event = clCreateUserEvent(made.other_context, NULL);
    made.failed_event = clCreateUserEvent(test_cl_context, NULL);
    assert_true(made.other_queue && made.exact && made.short_by_one && made.read_only && made.write_only &&
                made.foreign && made.event && made.foreign_event && made.failed_event);
    assert_int_equal(clSetUserEventStatus(made.event, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(made.foreign_event, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(made.failed_event, -77), CL_SUCCESS);
    made.plan = test_make_plan(test_context, &shape);
    assert_int_equal(test_span(&shape), SPAN);
    return made;
}

static void release_objects(objects *made)
{
    ipt_plan_destroy(made->plan);
    clReleaseEvent(made->foreign_event);
    clReleaseEvent(made->failed_event);
    clReleaseEvent(made->event);
    clReleaseMemObject(made->foreign);
    clReleaseMemObject(made->write_only);
    clReleaseMemObject(made->read_only);
    clReleaseMemObject(made->short_by_one);
    clReleaseMemObject(made->exact);
    clReleaseCommandQueue(made->other_queue);
    clReleaseContext(made->other_context);
}

static unsigned char before[SPAN], after[SPAN];

static size_t size_of(cl_mem buffer)
{
    size_t size = 0;
    assert_int_equal(clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL), CL_SUCCESS);
    return size;
}

static void write_before(cl_command_queue queue, cl_mem buffer)
{
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, size_of(buffer), before, 0, NULL, NULL),
                     CL_SUCCESS);
}

static void expect_before(cl_command_queue queue, cl_mem buffer)
{
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size_of(buffer), after, 0, NULL, NULL), CL_SUCCESS);
    assert_memory_equal(before, after, size_of(buffer));
}

static void bad_input_execute(void **state)
{
    (void)state;
    objects o = make_objects();
    cl_event mixed[2] = {o.event, NULL};
    const struct {
        ipt_plan *plan;
        cl_command_queue queue;
        cl_mem buffer;
        size_t byte_offset;
        cl_uint count;
        const cl_event *events;
        const char *name, *value;
    } wrong[] = {
        {NULL, test_queue, o.exact, 0, 0, NULL, "plan", "NULL"},
        {o.plan, NULL, o.exact, 0, 0, NULL, "queue", "NULL"},
        {o.plan, o.other_queue, o.exact, 0, 0, NULL, "queue", NULL},
        {o.plan, test_queue, NULL, 0, 0, NULL, "buffer", "NULL"},
        {o.plan, test_queue, o.foreign, 0, 0, NULL, "buffer", NULL},
        {o.plan, test_queue, o.read_only, 0, 0, NULL, "buffer", "CL_MEM_READ_ONLY"},
        {o.plan, test_queue, o.write_only, 0, 0, NULL, "buffer", "CL_MEM_WRITE_ONLY"},
        {o.plan, test_queue, o.short_by_one, 0, 0, NULL, "buffer", test_number(SPAN - 1)},
        {o.plan, test_queue, o.exact, 1, 0, NULL, "byte_offset", "1"},
        {o.plan, test_queue, o.exact, 2, 0, NULL, "byte_offset", "2"},
        {o.plan, test_queue, o.exact, 4, 0, NULL, "byte_offset", "4"},
        {o.plan, test_queue, o.exact, SPAN, 0, NULL, "byte_offset", test_number(SPAN)},
        {o.plan, test_queue, o.exact, 1000000, 0, NULL, "byte_offset", "1000000"},
        {o.plan, test_queue, o.exact, HUGE_SIZE - 15, 0, NULL, "byte_offset", test_number(HUGE_SIZE - 15)},
        {o.plan, test_queue, o.exact, HUGE_SIZE - SPAN + 1, 0, NULL, "byte_offset", test_number(HUGE_SIZE - SPAN + 1)},
        {o.plan, test_queue, o.exact, 0, 1, NULL, "wait_events", "NULL"},
        {o.plan, test_queue, o.exact, 0, 0, mixed, "num_wait_events", "0"},
        {o.plan, test_queue, o.exact, 0, 1, &o.no_event, "wait_events", "NULL"},
        {o.plan, test_queue, o.exact, 0, 2, mixed, "wait_events", "NULL"},
        {o.plan, test_queue, o.exact, 0, 1, &o.foreign_event, "wait_events", NULL},
        {o.plan, test_queue, o.exact, 0, 1, &o.failed_event, "wait_events", "77"},
    };
    test_fill(before, sizeof before);
    write_before(test_queue, o.exact);
    write_before(test_queue, o.short_by_one);
    write_before(o.other_queue, o.foreign);
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        cl_event event = (cl_event)(void *)&somewhere;
        ipt_result result = ipt_plan_execute(wrong[i].plan, wrong[i].queue, wrong[i].buffer, wrong[i].byte_offset,
                                             wrong[i].count, wrong[i].events, &event);
        test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, wrong[i].name, wrong[i].value);
        assert_null(event);
    }
    expect_before(test_queue, o.exact);
    expect_before(test_queue, o.short_by_one);
    expect_before(o.other_queue, o.foreign);
    assert_int_equal(ipt_plan_execute(o.plan, test_queue, o.exact, 0, 1, &o.event, NULL), IPT_SUCCESS);
    assert_int_equal(clFinish(test_queue), CL_SUCCESS);
    release_objects(&o);
}

static void bad_input_out_of_place(void **state)
{
    (void)state;
    objects o = make_objects();
    cl_mem big = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, 2 * SPAN, NULL, NULL);
    cl_mem second = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, SPAN, NULL, NULL);
    cl_event mixed[2] = {o.event, NULL};
    assert_true(big && second);
    const struct {
        ipt_plan *plan;
        cl_command_queue queue;
        cl_mem source;
        size_t source_offset;
        cl_mem destination;
        size_t destination_offset;
        cl_uint count;
        const cl_event *events;
        const char *name, *value;
    } wrong[] = {
        {NULL, test_queue, o.exact, 0, second, 0, 0, NULL, "plan", "NULL"},
        {o.plan, NULL, o.exact, 0, second, 0, 0, NULL, "queue", "NULL"},
        {o.plan, o.other_queue, o.exact, 0, second, 0, 0, NULL, "queue", NULL},
        {o.plan, test_queue, NULL, 0, second, 0, 0, NULL, "source", "NULL"},
        {o.plan, test_queue, o.exact, 0, NULL, 0, 0, NULL, "destination", "NULL"},
        {o.plan, test_queue, o.foreign, 0, second, 0, 0, NULL, "source", NULL},
        {o.plan, test_queue, o.exact, 0, o.foreign, 0, 0, NULL, "destination", NULL},
        {o.plan, test_queue, o.write_only, 0, second, 0, 0, NULL, "source", "CL_MEM_WRITE_ONLY"},
        {o.plan, test_queue, o.exact, 0, o.read_only, 0, 0, NULL, "destination", "CL_MEM_READ_ONLY"},
        {o.plan, test_queue, o.short_by_one, 0, second, 0, 0, NULL, "source", test_number(SPAN - 1)},
        {o.plan, test_queue, o.exact, 0, o.short_by_one, 0, 0, NULL, "destination", test_number(SPAN - 1)},
        {o.plan, test_queue, o.exact, 2, second, 0, 0, NULL, "source_offset", "2"},
        {o.plan, test_queue, o.exact, 0, second, 2, 0, NULL, "destination_offset", "2"},
        {o.plan, test_queue, o.exact, SPAN, second, 0, 0, NULL, "source_offset", test_number(SPAN)},
        {o.plan, test_queue, o.exact, 0, second, SPAN, 0, NULL, "destination_offset", test_number(SPAN)},
        {o.plan, test_queue, o.exact, HUGE_SIZE - 15, second, 0, 0, NULL, "source_offset", NULL},
        {o.plan, test_queue, o.exact, 0, second, HUGE_SIZE - 15, 0, NULL, "destination_offset", NULL},
        {o.plan, test_queue, o.exact, 0, o.exact, 0, 0, NULL, "destination", NULL},
        {o.plan, test_queue, big, 0, big, SPAN - 4, 0, NULL, "destination", NULL},
        {o.plan, test_queue, big, SPAN - 4, big, 0, 0, NULL, "destination", NULL},
        {o.plan, test_queue, o.exact, 0, second, 0, 1, NULL, "wait_events", "NULL"},
        {o.plan, test_queue, o.exact, 0, second, 0, 0, mixed, "num_wait_events", "0"},
        {o.plan, test_queue, o.exact, 0, second, 0, 2, mixed, "wait_events", "NULL"},
        {o.plan, test_queue, o.exact, 0, second, 0, 1, &o.foreign_event, "wait_events", NULL},
    };
    test_fill(before, sizeof before);
    cl_mem kept[] = {o.exact, second, o.short_by_one};
    for (size_t i = 0; i < TEST_COUNT(kept); ++i)
        write_before(test_queue, kept[i]);
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        cl_event event = (cl_event)(void *)&somewhere;
        ipt_result result = ipt_plan_execute_out_of_place(
            wrong[i].plan, wrong[i].queue, wrong[i].source, wrong[i].source_offset, wrong[i].destination,
            wrong[i].destination_offset, wrong[i].count, wrong[i].events, &event);
        test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, wrong[i].name, wrong[i].value);
        assert_null(event);
    }
    for (size_t i = 0; i < TEST_COUNT(kept); ++i)
        expect_before(test_queue, kept[i]);
    /* Neighbours in memory do not overlap. */
    assert_int_equal(ipt_plan_execute_out_of_place(o.plan, test_queue, big, 0, big, SPAN, 0, NULL, NULL), IPT_SUCCESS);
    assert_int_equal(ipt_plan_execute_out_of_place(o.plan, test_queue, big, SPAN, big, 0, 0, NULL, NULL), IPT_SUCCESS);
    assert_int_equal(clFinish(test_queue), CL_SUCCESS);
    clReleaseMemObject(second);
    clReleaseMemObject(big);
    release_objects(&o);
}

/* Whether two sub-buffers, or a sub-buffer and its buffer, overlap depends on their offsets in the buffer. */
static void bad_input_overlapping_sub_buffers(void **state)
{
    (void)state;
    const cl_uint bits = test_sub_buffer_bits();
    size_t unit = bits / 8 < 128 ? 128 : bits / 8; /* PoCL needs 128, whatever the reporting library told.c says */
    ipt_plan_desc desc = {.rows = 2 * unit, .cols = 3, .elem_size = 1};
    size_t span = test_span(&desc);
    cl_mem whole = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, 3 * span, NULL, NULL);
    const cl_buffer_region regions[] = {{0, span}, {span - unit, span}, {span, span}};
    cl_mem parts[3];
    for (int i = 0; i < 3; ++i)
        parts[i] = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &regions[i], NULL);
    assert_true(whole && parts[0] && parts[1] && parts[2]);
    ipt_plan *plan = test_make_plan(test_context, &desc);
    const struct {
        cl_mem source;
        size_t source_offset;
        cl_mem destination;
        size_t destination_offset;
        int overlaps;
    } pairs[] = {{parts[0], 0, parts[1], 0, 1},     {parts[1], 0, parts[0], 0, 1},    {parts[2], 0, parts[1], 0, 1},
                 {parts[0], 0, whole, span - 1, 1}, {whole, 1, parts[0], 0, 1},       {parts[0], 0, parts[0], 0, 1},
                 {parts[0], 0, parts[2], 0, 0},     {parts[0], 0, whole, span, 0},    {whole, 0, parts[2], 0, 0},
                 {parts[2], 0, whole, 2 * span, 0}, {whole, 2 * span, parts[1], 0, 0}};
    for (size_t i = 0; i < TEST_COUNT(pairs); ++i) {
        cl_event event = (cl_event)(void *)&somewhere;
        ipt_result result =
            ipt_plan_execute_out_of_place(plan, test_queue, pairs[i].source, pairs[i].source_offset,
                                          pairs[i].destination, pairs[i].destination_offset, 0, NULL, &event);
        if (!pairs[i].overlaps) {
            assert_int_equal(result, IPT_SUCCESS);
            clReleaseEvent(event);
            continue;
        }
        test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, "destination", NULL);
        assert_null(event);
    }
    assert_int_equal(clFinish(test_queue), CL_SUCCESS);
    ipt_plan_destroy(plan);
    for (int i = 0; i < 3; ++i)
        clReleaseMemObject(parts[i]);
    clReleaseMemObject(whole);
}

static void bad_input_host(void **state)
{
    (void)state;
    ipt_plan *plan = test_make_plan(test_context, &shape);
    unsigned char matrix[6] = {1, 2, 3, 4, 5, 6};
    test_expect_error(ipt_plan_execute_host(NULL, matrix), IPT_ERROR_INVALID_ARGUMENT, "plan", "NULL");
    test_expect_error(ipt_plan_execute_host(plan, NULL), IPT_ERROR_INVALID_ARGUMENT, "data", "NULL");
    test_expect_error(ipt_transpose(NULL, 2, 3, 1), IPT_ERROR_INVALID_ARGUMENT, "data", "NULL");
    test_expect_error(ipt_transpose(matrix, 0, 3, 1), IPT_ERROR_INVALID_ARGUMENT, "rows", "0");
    test_expect_error(ipt_transpose(matrix, 2, 0, 1), IPT_ERROR_INVALID_ARGUMENT, "cols", "0");
    test_expect_error(ipt_transpose(matrix, 2, 3, 0), IPT_ERROR_INVALID_ARGUMENT, "elem_size", "0");
    test_expect_error(ipt_transpose(matrix, HUGE_SIZE, 3, 1), IPT_ERROR_INVALID_ARGUMENT, "rows", NULL);
    assert_memory_equal(matrix, "\1\2\3\4\5\6", 6);
    ipt_plan_destroy(plan);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Each thread has its own error text, empty at first. A success does not change it. */
static void *fail_in_thread(void *context)
{
    ipt_plan_desc desc = {.rows = 4, .cols = 4};
    ipt_plan *plan = NULL;
    return (void *)(uintptr_t)(*ipt_context_error(context) == 0 && *ipt_context_error(NULL) == 0 &&
                               ipt_plan_create(context, &desc, &plan) == IPT_ERROR_INVALID_ARGUMENT &&
                               test_mentions(ipt_context_error(context), "elem_size"));
}

static void bad_input_message_of_the_thread(void **state)
{
    (void)state;
    ipt_plan_desc desc = {.cols = 4, .elem_size = 4};
    pthread_t thread;
    void *good = NULL;
    expect_no_plan(test_context, &desc, IPT_ERROR_INVALID_ARGUMENT, "rows", "0");
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, test_context), 0);
    assert_int_equal(pthread_join(thread, &good), 0);
    assert_non_null(good);
    desc.rows = 4;
    ipt_plan_destroy(test_make_plan(test_context, &desc));
    assert_true(test_mentions(ipt_context_error(test_context), "rows"));
    assert_true(test_mentions(ipt_context_error(NULL), "rows"));
}

/* Failing calls write nothing to standard output and standard error. */
static void bad_input_prints_nothing(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    fflush(stderr);
    int saved[2] = {dup(1), dup(2)};
    int redirected = dup2(fileno(file), 1) == 1 && dup2(fileno(file), 2) == 2;

    ipt_context_desc desc = {.context = test_cl_context, .device = test_device};
    ipt_context *context = NULL, *none = NULL;
    ipt_plan *plan = NULL, *no_plan = NULL;
    ipt_plan_desc good = {.rows = 230, .cols = 57, .elem_size = 4, .flags = IPT_MEASURE}, bad = {.rows = 3, .cols = 4};
    unsigned char *data = calloc(230 * 57, 4);
    int succeeded = data && ipt_context_create(&desc, &context) == IPT_SUCCESS &&
                    ipt_plan_create(context, &good, &plan) == IPT_SUCCESS &&
                    ipt_plan_execute_host(plan, data) == IPT_SUCCESS;
    desc.max_local_memory = 3;
    int failed = ipt_context_create(&desc, &none) != IPT_SUCCESS &&
                 ipt_plan_create(context, &bad, &no_plan) != IPT_SUCCESS &&
                 ipt_plan_execute(plan, NULL, NULL, 0, 0, NULL, NULL) != IPT_SUCCESS &&
                 ipt_plan_execute_host(NULL, data) != IPT_SUCCESS;
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    free(data);

    fflush(stdout);
    fflush(stderr);
    dup2(saved[0], 1);
    dup2(saved[1], 2);
    close(saved[0]);
    close(saved[1]);
    assert_true(redirected && succeeded && failed);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(ftell(file), 0);
    fclose(file);
}

/* Descs of other versions. Fields that a shorter desc lacks count as zero. Additional fields of a longer desc must be
 * zero. Descs end without padding: initialisers need not clear padding, where a later version may have fields.
 */
static void bad_input_desc_sizes(void **state)
{
    struct {
        ipt_plan_desc desc;
        unsigned char further[64];
    } longer;
    struct {
        ipt_context_desc desc;
        unsigned char further[64];
    } context_longer;
    ipt_context *context = NULL;
    ipt_plan *plan = NULL;
    (void)state;
    assert_int_equal(sizeof(ipt_plan_desc), offsetof(ipt_plan_desc, method) + sizeof longer.desc.method);
    assert_int_equal(sizeof(ipt_context_desc),
                     offsetof(ipt_context_desc, cuda_context) + sizeof context_longer.desc.cuda_context);
    memset(&longer, 0, sizeof longer);
    longer.desc.rows = 20, longer.desc.cols = 30, longer.desc.elem_size = 4;
    assert_int_equal(ipt_plan_create_sized(sizeof longer, test_context, &longer.desc, &plan), IPT_SUCCESS);
    ipt_plan_destroy(plan);
    longer.further[63] = 1;
    test_expect_error(ipt_plan_create_sized(sizeof longer, test_context, &longer.desc, &plan), IPT_ERROR_UNSUPPORTED,
                      "fields", "link");
    assert_null(plan);
    test_expect_error(ipt_plan_create_split_sized(sizeof longer, &test_context, 1, &longer.desc, &plan),
                      IPT_ERROR_UNSUPPORTED, NULL, NULL);
    memset(longer.desc.shape, 0xff, sizeof longer.desc.shape); /* after the fields of the program's desc */
    longer.desc.rank = 77;
    assert_int_equal(ipt_plan_create_sized(offsetof(ipt_plan_desc, rank), test_context, &longer.desc, &plan),
                     IPT_SUCCESS);
    ipt_plan_destroy(plan);
    longer.desc.rank = 0;
    assert_int_equal(ipt_plan_create(test_context, &longer.desc, &plan), IPT_SUCCESS);
    ipt_plan_destroy(plan);
    memset(&context_longer, 0, sizeof context_longer);
    context_longer.desc.context = test_cl_context;
    context_longer.desc.device = test_device;
    context_longer.further[0] = 1;
    test_expect_error(ipt_context_create_sized(sizeof context_longer, &context_longer.desc, &context),
                      IPT_ERROR_UNSUPPORTED, "fields", "link");
    assert_null(context);
}

static int storage_copies(void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy(memory, (char *)user + offset, bytes);
    return 0;
}

static int storage_takes(const void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy((char *)user + offset, memory, bytes);
    return 0;
}

static int progress_counts(size_t done, size_t total, void *user)
{
    ++*(int *)user;
    return done > total;
}

/* Structs of executions in other versions. */
static void bad_input_options_sizes(void **state)
{
    struct {
        ipt_host_options options;
        unsigned char further[64];
    } longer;
    struct {
        ipt_storage storage;
        unsigned char further[64];
    } stored;
    static unsigned int data[20 * 30], before[20 * 30];
    ipt_plan_desc desc = {0};
    ipt_plan *plan = NULL, *storage_plan = NULL;
    cl_event event = NULL;
    int calls = 0;
    (void)state;
    assert_int_equal(sizeof(ipt_host_options), offsetof(ipt_host_options, user) + sizeof(void *));
    assert_int_equal(sizeof(ipt_storage), offsetof(ipt_storage, resume) + sizeof(size_t));
    for (unsigned int i = 0; i < 20 * 30; ++i)
        before[i] = data[i] = i;
    desc.rows = 20, desc.cols = 30, desc.elem_size = 4;
    assert_int_equal(ipt_plan_create(test_context, &desc, &plan), IPT_SUCCESS);
    desc.max_host_memory = (size_t)1 << 20;
    assert_int_equal(ipt_plan_create(test_context, &desc, &storage_plan), IPT_SUCCESS);

    memset(&longer, 0, sizeof longer);
    longer.options.progress = progress_counts;
    longer.options.user = &calls;
    assert_int_equal(ipt_plan_execute_host_with_sized(sizeof longer, plan, data, &longer.options), IPT_SUCCESS);
    assert_int_equal(data[1], 30);
    calls = 0;
    memcpy(data, before, sizeof data);
    longer.further[63] = 1;
    test_expect_error(ipt_plan_execute_host_with_sized(sizeof longer, plan, data, &longer.options),
                      IPT_ERROR_UNSUPPORTED, "options has fields", "link");
    test_expect_error(ipt_plan_execute_host_async_sized(sizeof longer, plan, data, &longer.options, &event),
                      IPT_ERROR_UNSUPPORTED, "options has fields", "link");
    assert_null(event);
    assert_memory_equal(data, before, sizeof data);
    assert_int_equal(calls, 0);
    /* The options of a program for an earlier version may lack `user`: the library must not read this field. */
    longer.options.progress = NULL;
    longer.options.finished = NULL;
    longer.options.user = (void *)(uintptr_t)77;
    assert_int_equal(ipt_plan_execute_host_with_sized(offsetof(ipt_host_options, user), plan, data, &longer.options),
                     IPT_SUCCESS);
    memcpy(data, before, sizeof data);
    assert_int_equal(ipt_plan_execute_host_with_sized(sizeof longer, plan, data, NULL), IPT_SUCCESS); /* NULL */
    memcpy(data, before, sizeof data);
    assert_int_equal(ipt_plan_execute_host_with(plan, data, &longer.options), IPT_SUCCESS);
    assert_int_equal(ipt_plan_execute_host_async(plan, data, &longer.options, &event), IPT_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    clReleaseEvent(event);

    memcpy(data, before, sizeof data);
    memset(&stored, 0, sizeof stored);
    stored.storage.read = storage_copies;
    stored.storage.write = storage_takes;
    stored.storage.user = data;
    stored.further[0] = 1;
    test_expect_error(ipt_plan_execute_storage_sized(sizeof stored, storage_plan, &stored.storage),
                      IPT_ERROR_UNSUPPORTED, "storage has fields", "link");
    assert_memory_equal(data, before, sizeof data);
    stored.further[0] = 0;
    assert_int_equal(ipt_plan_execute_storage_sized(sizeof stored, storage_plan, &stored.storage), IPT_SUCCESS);
    assert_int_equal(data[1], 30);
    memcpy(data, before, sizeof data);
    stored.storage.resume = 99; /* ignored: a shorter struct does not have this field */
    assert_int_equal(ipt_plan_execute_storage_sized(offsetof(ipt_storage, resume), storage_plan, &stored.storage),
                     IPT_SUCCESS);
    assert_int_equal(data[1], 30);
    test_expect_error(ipt_plan_execute_storage(storage_plan, &stored.storage), IPT_ERROR_INVALID_ARGUMENT, "resume",
                      NULL);
    test_expect_error(ipt_plan_execute_storage_sized(0, storage_plan, &stored.storage), IPT_ERROR_INVALID_ARGUMENT,
                      "storage->read is NULL", NULL);
    ipt_plan_destroy(plan);
    ipt_plan_destroy(storage_plan);
}

const struct CMUnitTest test_bad_input[] = {
    TEST_CASE(bad_input_options_sizes),
    TEST_CASE(bad_input_desc_sizes),
    TEST_CASE(bad_input_context),
    TEST_CASE(bad_input_other_devices),
    TEST_CASE(bad_input_device_functions),
    TEST_CASE(bad_input_plan),
    TEST_CASE(bad_input_measure_buffer),
    TEST_CASE(bad_input_workspace),
    TEST_CASE(bad_input_execute),
    TEST_CASE(bad_input_out_of_place),
    TEST_CASE(bad_input_overlapping_sub_buffers),
    TEST_CASE(bad_input_host),
    TEST_CASE(bad_input_message_of_the_thread),
    TEST_CASE(bad_input_prints_nothing),
    TEST_CASE(bad_input_large_sizes),
};
const size_t test_bad_input_count = TEST_COUNT(test_bad_input);
