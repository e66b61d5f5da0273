/* Devices and handles that ipt refuses, on the OpenCL stub (fake_cl.c): too old, too small, invalid; also operations
 * that a context without a device cannot do. Each message names the cause, and no object remains. */
#define _POSIX_C_SOURCE 200809L
#include "fake_cl.h"

#include <stdlib.h>
#include <string.h>

/* The reports of the device; NULL and 0: as in the OpenCL stub. */
static struct {
    const char *version;
    cl_ulong local_memory;
} told;

static cl_int told_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value, size_t *needed)
{
    const cl_int error = fake_clGetDeviceInfo(device, name, bytes, value, needed);
    if (!error && value && name == CL_DEVICE_VERSION && told.version)
        memcpy(value, told.version, strlen(told.version) + 1);
    if (!error && value && name == CL_DEVICE_LOCAL_MEM_SIZE && told.local_memory)
        memcpy(value, &told.local_memory, sizeof told.local_memory);
    return error;
}

#define fake_clGetDeviceInfo told_clGetDeviceInfo
#define IPT_ENTRY_POINT(name) fake_##name
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "test.h"

static ipt_result open_context(ipt_context **context)
{
    ipt_context_desc desc = {0};
    desc.device = fake_device_id(FAKE_GPU);
    desc.cache_dir = "";
    return ipt_context_create(&desc, context);
}

static ipt_plan_desc desc_of(size_t rows, size_t cols, size_t elem_size)
{
    ipt_plan_desc desc = {0};
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = elem_size;
    return desc;
}

static void refusals_of_devices(void **state)
{
    const long living = fake_living();
    ipt_context *context;
    (void)state;
    told.version = "OpenCL 1.1 x";
    test_expect_error(open_context(&context), IPT_ERROR_UNSUPPORTED, "OpenCL 1.1", "1.2");
    told.version = "OpenGL";
    test_expect_error(open_context(&context), IPT_ERROR_UNSUPPORTED, "OpenGL", "1.2");
    told.version = NULL;
    told.local_memory = 1023;
    test_expect_error(open_context(&context), IPT_ERROR_UNSUPPORTED, "local memory", "1023");
    told.local_memory = 1024;
    assert_int_equal(open_context(&context), IPT_SUCCESS);
    ipt_context_destroy(context);
    told.local_memory = 0;
    assert_int_equal(fake_living(), living);
}

/* A driver's error about an invalid handle becomes IPT_ERROR_INVALID_ARGUMENT with the argument's name. */
static void refusals_of_handles(void **state)
{
    static const struct {
        const char *call, *name;
        cl_int error;
    } handles[] = {
        {"clGetMemObjectInfo", "buffer", CL_INVALID_MEM_OBJECT},
        {"clGetCommandQueueInfo", "queue", CL_INVALID_COMMAND_QUEUE},
        {"clGetEventInfo", "wait_events[0]", CL_INVALID_EVENT},
    };
    const ipt_plan_desc desc = desc_of(37, 23, 4);
    const long living = fake_living();
    size_t seen[TEST_COUNT(handles)] = {0}, i;
    cl_command_queue queue;
    cl_event event;
    cl_mem buffer;
    ipt_context *context;
    ipt_plan *plan;
    cl_int error;
    long n;
    (void)state;
    fake_fail_call(1, CL_INVALID_DEVICE, 0);
    test_expect_error(open_context(&context), IPT_ERROR_INVALID_ARGUMENT, "device", NULL);
    fake_fail_call(-1, 0, 0);
    assert_int_equal(open_context(&context), IPT_SUCCESS);
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    queue = fake_clCreateCommandQueue(context->context, context->device, 0, &error);
    buffer = fake_clCreateBuffer(context->context, CL_MEM_READ_WRITE, 37 * 23 * 4, NULL, &error);
    event = fake_clCreateUserEvent(context->context, &error);
    for (i = 0; i < TEST_COUNT(handles); ++i)
        for (n = 0; n < 40; ++n) { /* an execution first queries its arguments */
            ipt_result result;
            fake_fail_call(n, handles[i].error, 0);
            result = ipt_plan_execute(plan, queue, buffer, 0, 1, &event, NULL);
            if (fake_failed_call() && !strcmp(fake_failed_call(), handles[i].call) &&
                result == IPT_ERROR_INVALID_ARGUMENT) {
                assert_non_null(strstr(ipt_context_error(NULL), handles[i].name));
                ++seen[i];
            }
            fake_fail_call(-1, 0, 0);
            fake_run();
        }
    for (i = 0; i < TEST_COUNT(handles); ++i)
        assert_true(seen[i]);
    fake_clSetUserEventStatus(event, CL_COMPLETE);
    fake_run();
    fake_clReleaseEvent(event);
    fake_clReleaseMemObject(buffer);
    fake_clReleaseCommandQueue(queue);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    assert_int_equal(fake_living(), living);
}

/* A context that is made from a profile can only plan: other calls report that there is no device. A profile's text has
 * a length limit. */
static void refusals_without_device(void **state)
{
    static char text[8000], longer[8000 + 4 * 480];
    const char *from_here = text;
    size_t length = 0, i;
    ipt_plan_desc desc = desc_of(530, 37, 4);
    ipt_context_desc from = {0};
    ipt_context *context;
    ipt_plan *plan;
    void *memory;
    (void)state;
    assert_int_equal(open_context(&context), IPT_SUCCESS);
    assert_int_equal(ipt_context_profile(context, text, sizeof text, NULL), IPT_SUCCESS);
    ipt_context_destroy(context);
    from.profile = text;
    assert_int_equal(ipt_context_create(&from, &context), IPT_SUCCESS);
    test_expect_error(ipt_host_alloc(context, 100, &memory), IPT_ERROR_UNSUPPORTED, "profile", NULL);
    assert_null(memory);
    desc.flags = IPT_MEASURE;
    test_expect_error(ipt_plan_create(context, &desc, &plan), IPT_ERROR_UNSUPPORTED, "IPT_MEASURE", NULL);
    assert_null(plan);
    desc.flags = 0;
    desc.max_device_memory = 40000;
    test_expect_error(ipt_plan_create(context, &desc, &plan), IPT_ERROR_UNSUPPORTED, "device", NULL);
    assert_null(plan);
    ipt_context_destroy(context);
    strcpy(longer, text); /* a number out of its range: the message contains the range */
    memcpy(strstr(longer, "\nsub_group ") + 11, "9", 1);
    from.profile = longer;
    test_expect_error(ipt_context_create(&from, &context), IPT_ERROR_INVALID_ARGUMENT, "sub_group 9",
                      "sub_group and a number from 0 to 3");
    strcpy(longer, text); /* no power of two */
    char *const size = strstr(longer, "\ngroup_size ") + 12;
    memmove(size + 2, size + strcspn(size, "\n"), strlen(size + strcspn(size, "\n")) + 1);
    memcpy(size, "48", 2);
    test_expect_error(ipt_context_create(&from, &context), IPT_ERROR_INVALID_ARGUMENT, "group_size 48",
                      "group_size and a power of two from 1 to 256");
    for (i = 0; i < 4; ++i) { /* 480 more letters in each of four lines: legal for one line, too long for all */
        static const char *const titles[] = {"device ", "vendor ", "driver ", "platform "};
        const char *const rest = strstr(text, titles[i]) + strlen(titles[i]);
        memcpy(longer + length, from_here, (size_t)(rest - from_here));
        length += (size_t)(rest - from_here);
        memset(longer + length, 'x', 480);
        length += 480;
        from_here = rest;
    }
    strcpy(longer + length, from_here);
    from.profile = longer;
    test_expect_error(ipt_context_create(&from, &context), IPT_ERROR_INVALID_ARGUMENT, "profile", "shorter");
    assert_null(context);
}

static char logged[300];

static void keep_message(const char *message, void *user)
{
    (void)user;
    strncpy(logged, message, sizeof logged - 1);
}

/* A cache folder with a name that is too long for a path: ipt caches nothing, logs the reason, and works otherwise. */
static void refusals_of_long_folder(void **state)
{
    static char folder[20000];
    ipt_context_desc desc = {0};
    ipt_context *context;
    (void)state;
    memset(folder, 'x', sizeof folder - 1);
    folder[0] = '/';
    desc.device = fake_device_id(FAKE_GPU);
    desc.cache_dir = folder;
    desc.logger.log = keep_message;
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    assert_non_null(strstr(logged, "too long"));
    assert_null(context->cache_dir);
    ipt_context_destroy(context);
}

/* Elements of more units than a kernel can count; cache entries of 0 bytes. */
static void refusals_of_sizes(void **state)
{
    const ipt_plan_desc small = desc_of(37, 23, 4), large = desc_of(2, 1, (size_t)((uint64_t)3 << 40 | 1));
    ipt_context *context;
    ipt_plan *plan;
    size_t bytes = 1;
    (void)state;
    assert_int_equal(open_context(&context), IPT_SUCCESS);
    if (sizeof(size_t) > 4)
        test_expect_error(ipt_plan_create(context, &large, &plan), IPT_ERROR_UNSUPPORTED, "elem_size",
                          test_number(large.elem_size));
    assert_int_equal(ipt_plan_create(context, &small, &plan), IPT_SUCCESS);
    test_expect_error(ipt_context_entry(context, 0, "spirv", "", 0, NULL, 0, &bytes), IPT_ERROR_INVALID_ARGUMENT,
                      "code_bytes", "0");
    assert_int_equal(bytes, 0);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
}

const struct CMUnitTest test_refusals[] = {
    TEST_CASE(refusals_of_devices),     TEST_CASE(refusals_of_handles), TEST_CASE(refusals_without_device),
    TEST_CASE(refusals_of_long_folder), TEST_CASE(refusals_of_sizes),
};
const size_t test_refusals_count = TEST_COUNT(test_refusals);
