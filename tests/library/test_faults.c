/* Behaviour when the n-th OpenCL call fails. The result is right and the message names the call. If nothing was
 * enqueued, no byte changes. Afterwards the plan works again. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <string.h>

static int calls_left = -1; /* calls before the one that fails; below 0: none fails */
static const char *failed_call;

static int enqueued, launched, flushed; /* counts of commands, of launches among them, of flushes */

static int due(const char *name)
{
    enqueued += !strncmp(name, "clEnqueue", 9);
    launched += !strcmp(name, "clEnqueueNDRangeKernel");
    if (calls_left < 0 || calls_left-- > 0)
        return 0;
    failed_call = name;
    return 1;
}

static const char *told_platform; /* the platform's reported name; NULL: the true one */

static cl_int CL_API_CALL fault_clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t bytes,
                                                  void *value, size_t *needed)
{
    if (!told_platform || name != CL_PLATFORM_NAME)
        return clGetPlatformInfo(platform, name, bytes, value, needed);
    memcpy(value, told_platform, strlen(told_platform) + 1);
    *needed = strlen(told_platform) + 1;
    return CL_SUCCESS;
}

/* A stand-in for an entry point that returns a cl_int. */
#define STAND_IN(name, parameters, arguments)                                                                          \
    static cl_int CL_API_CALL fault_##name parameters                                                                  \
    {                                                                                                                  \
        return due(#name) ? CL_INVALID_OPERATION : name arguments;                                                     \
    }

STAND_IN(clRetainDevice, (cl_device_id device), (device))
STAND_IN(clBuildProgram,
         (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
          void(CL_CALLBACK *notify)(cl_program, void *), void *user),
         (program, count, devices, options, notify, user))
STAND_IN(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t bytes, const void *value),
         (kernel, index, bytes, value))
STAND_IN(clEnqueueNDRangeKernel,
         (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
          const size_t *local, cl_uint count, const cl_event *list, cl_event *event),
         (queue, kernel, dimensions, offset, global, local, count, list, event))
STAND_IN(clEnqueueFillBuffer,
         (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes, size_t offset, size_t bytes,
          cl_uint count, const cl_event *list, cl_event *event),
         (queue, buffer, pattern, pattern_bytes, offset, bytes, count, list, event))
STAND_IN(clEnqueueCopyBuffer,
         (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t bytes,
          cl_uint count, const cl_event *list, cl_event *event),
         (queue, from, to, from_offset, to_offset, bytes, count, list, event))
STAND_IN(clEnqueueWriteBufferRect,
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
          const size_t *host_origin, const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
          const void *data, cl_uint count, const cl_event *list, cl_event *event),
         (queue, buffer, blocking, buffer_origin, host_origin, region, row, slice, host_row, host_slice, data, count,
          list, event))
STAND_IN(clEnqueueReadBufferRect,
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
          const size_t *host_origin, const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
          void *data, cl_uint count, const cl_event *list, cl_event *event),
         (queue, buffer, blocking, buffer_origin, host_origin, region, row, slice, host_row, host_slice, data, count,
          list, event))
STAND_IN(clEnqueueWriteBuffer,
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes, const void *data,
          cl_uint count, const cl_event *list, cl_event *event),
         (queue, buffer, blocking, offset, bytes, data, count, list, event))
STAND_IN(clEnqueueReadBuffer,
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes, void *data,
          cl_uint count, const cl_event *list, cl_event *event),
         (queue, buffer, blocking, offset, bytes, data, count, list, event))
STAND_IN(clEnqueueMarkerWithWaitList, (cl_command_queue queue, cl_uint count, const cl_event *list, cl_event *event),
         (queue, count, list, event))
STAND_IN(clWaitForEvents, (cl_uint count, const cl_event *list), (count, list))
STAND_IN(clFinish, (cl_command_queue queue), (queue))

/* A stand-in for an entry point that returns an object and an error. */
#define STAND_IN_OBJECT(type, name, parameters, arguments)                                                             \
    static type CL_API_CALL fault_##name parameters                                                                    \
    {                                                                                                                  \
        if (!due(#name))                                                                                               \
            return name arguments;                                                                                     \
        *error = CL_INVALID_OPERATION;                                                                                 \
        return NULL;                                                                                                   \
    }

STAND_IN_OBJECT(cl_context, clCreateContext,
                (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                 void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *error),
                (properties, count, devices, notify, user, error))
STAND_IN_OBJECT(cl_command_queue, clCreateCommandQueue,
                (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *error),
                (context, device, properties, error))
STAND_IN_OBJECT(cl_mem, clCreateBuffer,
                (cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *error),
                (context, flags, bytes, host, error))
STAND_IN_OBJECT(cl_program, clCreateProgramWithSource,
                (cl_context context, cl_uint count, const char **strings, const size_t *lengths, cl_int *error),
                (context, count, strings, lengths, error))
STAND_IN_OBJECT(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *error),
                (program, name, error))

static cl_int CL_API_CALL fault_clFlush(cl_command_queue queue)
{
    ++flushed;
    return clFlush(queue);
}

/* Calls that query, release or flush pass through. */
#define fault_clGetPlatformIDs clGetPlatformIDs
#define fault_clGetDeviceIDs clGetDeviceIDs
#define fault_clGetDeviceInfo clGetDeviceInfo
#define fault_clReleaseDevice clReleaseDevice
#define fault_clRetainContext clRetainContext
#define fault_clReleaseContext clReleaseContext
#define fault_clGetContextInfo clGetContextInfo
#define fault_clReleaseCommandQueue clReleaseCommandQueue
#define fault_clGetCommandQueueInfo clGetCommandQueueInfo
#define fault_clReleaseMemObject clReleaseMemObject
#define fault_clGetMemObjectInfo clGetMemObjectInfo
#define fault_clGetProgramBuildInfo clGetProgramBuildInfo
#define fault_clGetProgramInfo clGetProgramInfo
#define fault_clCreateProgramWithBinary clCreateProgramWithBinary /* caches have tests of their own */
#define fault_clGetExtensionFunctionAddressForPlatform clGetExtensionFunctionAddressForPlatform
#define fault_clReleaseProgram clReleaseProgram
#define fault_clReleaseKernel clReleaseKernel
#define fault_clGetKernelWorkGroupInfo clGetKernelWorkGroupInfo
#define fault_clGetEventInfo clGetEventInfo
#define fault_clGetEventProfilingInfo clGetEventProfilingInfo
#define fault_clRetainEvent clRetainEvent
#define fault_clReleaseEvent clReleaseEvent
#define fault_clEnqueueMapBuffer clEnqueueMapBuffer
#define fault_clEnqueueUnmapMemObject clEnqueueUnmapMemObject
#define fault_clCreateUserEvent clCreateUserEvent
#define fault_clSetUserEventStatus clSetUserEventStatus

#define IPT_ENTRY_POINT(name) fault_##name
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "test.h"

enum { ROWS = 37, COLS = 23, BYTES = ROWS * COLS * 4, NEVER = 1000 };

static void fill(unsigned char *data)
{
    int i;
    for (i = 0; i < BYTES; ++i)
        data[i] = (unsigned char)(i * 7 + i / 256);
}

/* 1: data is as filled; 2: data is the transpose; 0: neither. */
static int state_of(const unsigned char *data)
{
    unsigned char before[BYTES], after[BYTES];
    int row, col;
    fill(before);
    for (row = 0; row < ROWS; ++row)
        for (col = 0; col < COLS; ++col)
            memcpy(after + (col * ROWS + row) * 4, before + (row * COLS + col) * 4, 4);
    return !memcmp(data, before, BYTES) ? 1 : !memcmp(data, after, BYTES) ? 2 : 0;
}

/* A plan with every kind of stage: a remainder, panels in waves, a shuffle. Its expression changes nothing. */
static ipt_plan_desc described(void)
{
    static const cl_uint nothing = 0;
    ipt_plan_desc desc = {0};
    desc.expression = "x ^ a";
    desc.expression_type = "uint";
    desc.expression_argument = &nothing;
    desc.rows = ROWS;
    desc.cols = COLS;
    desc.elem_size = 4;
    desc.sequence = IPT_SEQUENCE_TWO_PASS;
    desc.tile_m = 5;
    desc.flags = IPT_NO_COOPERATIVE;  /* the search for cooperative kernels tolerates failures */
    desc.host = IPT_HOST_SYNCHRONOUS; /* other values have tests of their own */
    return desc;
}

static ipt_context *open_context(void)
{
    ipt_context *context = NULL;
    calls_left = -1;
    assert_int_equal(ipt_context_create(NULL, &context), IPT_SUCCESS);
    return context;
}

static ipt_plan *open_plan(ipt_context *context)
{
    const ipt_plan_desc desc = described();
    ipt_plan *plan = NULL;
    calls_left = -1;
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    return plan;
}

static void expect_named(ipt_result result, ipt_result expected)
{
    if (result != expected || !strstr(ipt_context_error(NULL), failed_call)) {
        print_error("%s failed: %s: %s\n", failed_call, ipt_result_string(result), ipt_context_error(NULL));
        fail();
    }
}

static void faults_context_create(void **state)
{
    int n;
    (void)state;
    for (n = 0; n < NEVER; ++n) {
        ipt_context *context = NULL;
        ipt_result result;
        calls_left = n;
        result = ipt_context_create(NULL, &context);
        if (calls_left >= 0) {
            assert_int_equal(result, IPT_SUCCESS);
            ipt_context_destroy(context);
            break;
        }
        expect_named(result, IPT_ERROR_OPENCL);
        assert_null(context);
    }
    assert_in_range(n, 3, NEVER - 1);
}

static void faults_plan_create(void **state)
{
    ipt_context *context = open_context();
    const ipt_plan_desc desc = described();
    int n, builds = 0;
    (void)state;
    for (n = 0; n < NEVER; ++n) {
        ipt_plan *plan = NULL;
        ipt_result result;
        calls_left = n;
        result = ipt_plan_create(context, &desc, &plan);
        if (calls_left >= 0) {
            assert_int_equal(result, IPT_SUCCESS);
            ipt_plan_destroy(plan);
            break;
        }
        builds += result == IPT_ERROR_BUILD;
        expect_named(result, !strcmp(failed_call, "clBuildProgram")   ? IPT_ERROR_BUILD
                             : !strcmp(failed_call, "clCreateBuffer") ? IPT_ERROR_OUT_OF_MEMORY
                                                                      : IPT_ERROR_OPENCL);
        assert_null(plan);
    }
    assert_in_range(n, 5, NEVER - 1);
    assert_true(builds > 0);
    calls_left = -1;
    ipt_context_destroy(context);
}

static void faults_execute(void **state)
{
    ipt_context *context = open_context();
    ipt_plan *plan = open_plan(context);
    unsigned char data[BYTES];
    cl_int error;
    cl_mem buffer = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, BYTES, NULL, &error);
    cl_command_queue queue =
        clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context), 0, &error);
    int n, arguments = 0, launches = 0;
    (void)state;
    for (n = 0; n < NEVER; ++n) {
        cl_event event = (cl_event)&n; /* must be overwritten */
        ipt_result result;
        calls_left = -1;
        fill(data);
        assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, BYTES, data, 0, NULL, NULL), 0);
        calls_left = n;
        result = ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, &event);
        arguments += result && !strcmp(failed_call, "clSetKernelArg");
        launches += result && !strcmp(failed_call, "clEnqueueNDRangeKernel");
        if (result && result != IPT_ERROR_INCOMPLETE) {
            expect_named(result, IPT_ERROR_OPENCL);
            assert_null(event);
            assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, data, 0, NULL, NULL), 0);
            assert_int_equal(state_of(data), 1);
            continue;
        }
        assert_non_null(event);
        assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
        clReleaseEvent(event);
        if (result) {
            expect_named(result, IPT_ERROR_INCOMPLETE);
        } else {
            assert_true(calls_left >= 0);
            assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, data, 0, NULL, NULL), 0);
            assert_int_equal(state_of(data), 2); /* the plan works after all failures */
            break;
        }
    }
    /* Every call before the last one has failed once. The number of launches depends on the device: at least one. A
     * launch has at least two arguments, a buffer and a struct. */
    assert_true(launches >= 1 && arguments >= launches + 1 && n < NEVER);
    calls_left = -1;
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
}

static void faults_execute_host(void **state)
{
    ipt_context *context = open_context();
    ipt_plan *plan = open_plan(context);
    unsigned char data[BYTES];
    int n, reads = 0, launches = 0;
    (void)state;
    for (n = 0; n < NEVER; ++n) {
        ipt_result result;
        fill(data);
        calls_left = n;
        result = ipt_plan_execute_host(plan, data);
        if (!result)
            break;
        reads += !strcmp(failed_call, "clEnqueueReadBuffer");
        launches += !strcmp(failed_call, "clEnqueueNDRangeKernel");
        expect_named(result, !strcmp(failed_call, "clCreateBuffer")        ? IPT_ERROR_OUT_OF_MEMORY
                             : !strcmp(failed_call, "clEnqueueReadBuffer") ? IPT_ERROR_INCOMPLETE
                                                                           : IPT_ERROR_OPENCL);
        assert_int_equal(state_of(data), 1);
    }
    assert_true(reads >= 1 && launches >= 1 && n < NEVER && calls_left >= 0);
    assert_int_equal(state_of(data), 2);
    calls_left = -1;
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
}

/* An execution of a matrix that fits local memory is one launch and one flush, also while the previous execution may
 * still run. */
static void faults_none_one_command(void **state)
{
    static const size_t shapes[][3] = {{37, 23, 1}, {20, 30, 7}, {16, 16, 1}};
    ipt_context *context = open_context();
    const cl_context cl = ipt_context_cl_context(context);
    cl_int error;
    cl_mem buffer = clCreateBuffer(cl, CL_MEM_READ_WRITE, 1 << 16, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(cl, ipt_context_cl_device(context), 0, &error);
    (void)state;
    for (size_t s = 0; s < TEST_COUNT(shapes); ++s) {
        ipt_plan_desc desc = {.rows = shapes[s][0], .cols = shapes[s][1], .batch = shapes[s][2], .elem_size = 4};
        ipt_plan *plan = NULL;
        assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
        assert_int_equal(ipt_plan_workspace(plan), 0);
        enqueued = launched = flushed = 0;
        for (int i = 1; i <= 20; ++i) {
            cl_event event = NULL;
            assert_int_equal(ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, i % 2 ? &event : NULL), IPT_SUCCESS);
            assert_int_equal(launched, i);
            assert_int_equal(enqueued, i);
            assert_int_equal(flushed, i);
            if (event)
                clReleaseEvent(event);
        }
        assert_int_equal(clFinish(queue), CL_SUCCESS);
        ipt_plan_destroy(plan);
    }
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    ipt_context_destroy(context);
}

/* A platform that is known to compute wrong results on CPUs: its CPU devices are refused, its GPU devices are not. */
static void faults_wrong_device(void **state)
{
    ipt__questions asked = ipt__questions_to(IPT__DRIVER_OPENCL, test_device);
    const int cpu = (ipt__device_type(&asked) & CL_DEVICE_TYPE_CPU) != 0;
    ipt_context_desc desc = {0};
    ipt_context *context = NULL;
    ipt_result result;
    (void)state;
    calls_left = -1;
    desc.device = test_device;
    told_platform = "rusticl";
    result = ipt_context_create(&desc, &context);
    told_platform = NULL;
    assert_int_equal(result, cpu ? IPT_ERROR_UNSUPPORTED : IPT_SUCCESS);
    assert_true(cpu ? strstr(ipt_context_error(NULL), "rusticl") != NULL : context != NULL);
    ipt_context_destroy(context);
}

const struct CMUnitTest test_faults[] = {
    TEST_CASE(faults_context_create), TEST_CASE(faults_plan_create),  TEST_CASE(faults_execute),
    TEST_CASE(faults_execute_host),   TEST_CASE(faults_wrong_device), TEST_CASE(faults_none_one_command),
};
const size_t test_faults_count = TEST_COUNT(test_faults);
