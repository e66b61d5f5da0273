/* Matrices in host memory. Every scheme transposes every shape right and changes no other byte. Executions report
 * progress and can be cancelled. Every failure is reported and nothing leaks; the data is unchanged unless the result
 * is INCOMPLETE. Memory stays within the documented limit. Executions run in their own threads, on several devices and
 * from several threads. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------------ */
/* OpenCL functions that count calls and objects, and can fail */
/* ------------------------------------------------------------------------------------------------------------------ */

/* clang-format off */
#define CALL_LIST(X)                                                                                                   \
    X(clRetainDevice) X(clRetainContext) X(clRetainEvent) X(clGetCommandQueueInfo) X(clGetMemObjectInfo)               \
    X(clGetEventInfo) X(clCreateCommandQueue) X(clCreateBuffer) X(clCreateProgramWithSource) X(clBuildProgram)         \
    X(clCreateKernel) X(clSetKernelArg) X(clCreateUserEvent) X(clEnqueueMapBuffer) X(clEnqueueUnmapMemObject)          \
    X(clEnqueueNDRangeKernel) X(clEnqueueFillBuffer) X(clEnqueueCopyBuffer) X(clEnqueueWriteBuffer)                    \
    X(clEnqueueReadBuffer) X(clEnqueueWriteBufferRect) X(clEnqueueReadBufferRect) X(clEnqueueMarkerWithWaitList)       \
    X(clWaitForEvents) X(clFlush) X(clFinish)
/* clang-format on */
#define CALL_NUMBER(name) CALL_##name,
#define CALL_NAME(name) #name,
enum { CALL_LIST(CALL_NUMBER) CALL_COUNT };
static const char *const call_names[] = {CALL_LIST(CALL_NAME)};

enum { LIVE_CONTEXT, LIVE_DEVICE, LIVE_QUEUE, LIVE_PROGRAM, LIVE_KERNEL, LIVE_EVENT, LIVE_BUFFER, LIVE_COUNT };
static const char *const live_names[] = {"contexts", "devices", "queues", "programs", "kernels", "events", "buffers"};

enum { BUFFERS_MOST = 512, COMMANDS_MOST = 4096, DEVICES_MOST = 4, DEVICE_LOST = 1 };

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
/* The lock guards the following. */
static long calls[CALL_COUNT], live[LIVE_COUNT];
static struct {
    cl_mem buffer;
    size_t bytes; /* bytes of device memory; 0: host memory */
} buffers[BUFFERS_MOST];
static size_t device_bytes, device_bytes_peak,
    device_bytes_limit;                  /* bytes of buffers: current, maximum, limit (0: none) */
static int host_pointers, other_buffers; /* buffers made with CL_MEM_USE_HOST_PTR, and others */
static long calls_left = -1;             /* calls before one fails; below 0: none fails */
static int lost;                         /* all later calls fail, too */
static int failing_only;                 /* the call that may fail; -1: any */
static int failed_call;                  /* the failed call; -1: none */
static int watching;                     /* commands are recorded: a test can count those that still run */
static struct {
    cl_event event;
    int is_kernel;
} commands[COMMANDS_MOST];
static int command_count;
static cl_device_id launched_on[DEVICES_MOST]; /* devices on which kernels were launched */
static long launches[DEVICES_MOST];
/* The device's reports while a context is created; -1: the true value. */
static int told_unified = -1, told_gpu = -1;
static const char *told_version; /* reported name of the platform; NULL: the true one */
static cl_context told_context;  /* a context whose devices the platform reports */
static cl_device_id told_devices[2];

static int due(int call)
{
    int fails = 0;
    pthread_mutex_lock(&watch_lock);
    ++calls[call];
    if (calls_left >= 0 && (failing_only < 0 || failing_only == call)) {
        fails = calls_left == 0;
        if (fails && failed_call < 0)
            failed_call = call;
        if (!fails || !lost)
            --calls_left;
    }
    pthread_mutex_unlock(&watch_lock);
    return fails;
}

/* Makes call n fail, counted from 0; n below 0: none. */
static void arm(long n, int and_all_after, int only)
{
    pthread_mutex_lock(&watch_lock);
    calls_left = n;
    lost = and_all_after;
    failing_only = only;
    failed_call = n < 0 ? failed_call : -1;
    pthread_mutex_unlock(&watch_lock);
}

static void disarm(void)
{
    arm(-1, 0, -1);
}

static void change(int kind, long by)
{
    pthread_mutex_lock(&watch_lock);
    live[kind] += by;
    pthread_mutex_unlock(&watch_lock);
}

static cl_int CL_API_CALL watch_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                                                size_t *needed)
{
    cl_int error = clGetDeviceInfo(device, name, bytes, value, needed);
    if (!error && value && name == CL_DEVICE_HOST_UNIFIED_MEMORY && told_unified >= 0)
        *(cl_bool *)value = told_unified ? CL_TRUE : CL_FALSE;
    if (!error && value && name == CL_DEVICE_TYPE && told_gpu > 0)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    return error;
}

static cl_int CL_API_CALL watch_clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t bytes,
                                                  void *value, size_t *needed)
{
    if (name != CL_PLATFORM_VERSION || !told_version)
        return clGetPlatformInfo(platform, name, bytes, value, needed);
    if (value && bytes > strlen(told_version))
        strcpy(value, told_version);
    if (needed)
        *needed = strlen(told_version) + 1;
    return CL_SUCCESS;
}

/* PoCL 3.1 accepts sub-devices for a context, but then reports their parent device. */
static cl_int CL_API_CALL watch_clGetContextInfo(cl_context context, cl_context_info name, size_t bytes, void *value,
                                                 size_t *needed)
{
    if (context != told_context || name != CL_CONTEXT_DEVICES)
        return clGetContextInfo(context, name, bytes, value, needed);
    if (value && bytes >= sizeof told_devices)
        memcpy(value, told_devices, sizeof told_devices);
    if (needed)
        *needed = sizeof told_devices;
    return CL_SUCCESS;
}

/* Stand-ins count their calls, and the objects that are created, retained and released. A call fails when it is due. */
#define STAND_IN(name, parameters, arguments)                                                                          \
    static cl_int CL_API_CALL watch_##name parameters                                                                  \
    {                                                                                                                  \
        return due(CALL_##name) ? CL_OUT_OF_RESOURCES : name arguments;                                                \
    }
#define STAND_IN_RETAIN(kind, name, type)                                                                              \
    static cl_int CL_API_CALL watch_##name(type object)                                                                \
    {                                                                                                                  \
        cl_int error = due(CALL_##name) ? CL_OUT_OF_RESOURCES : name(object);                                          \
        change(kind, !error);                                                                                          \
        return error;                                                                                                  \
    }
#define STAND_IN_RELEASE(kind, name, type)                                                                             \
    static cl_int CL_API_CALL watch_##name(type object)                                                                \
    {                                                                                                                  \
        change(kind, -1);                                                                                              \
        return name(object);                                                                                           \
    }
#define STAND_IN_OBJECT(type, kind, name, parameters, arguments)                                                       \
    static type CL_API_CALL watch_##name parameters                                                                    \
    {                                                                                                                  \
        type made = NULL;                                                                                              \
        *error = CL_OUT_OF_RESOURCES;                                                                                  \
        if (!due(CALL_##name))                                                                                         \
            made = name arguments;                                                                                     \
        change(kind, made != NULL);                                                                                    \
        return made;                                                                                                   \
    }

STAND_IN_RETAIN(LIVE_DEVICE, clRetainDevice, cl_device_id)
STAND_IN_RETAIN(LIVE_CONTEXT, clRetainContext, cl_context)
STAND_IN_RETAIN(LIVE_EVENT, clRetainEvent, cl_event)
STAND_IN_RELEASE(LIVE_DEVICE, clReleaseDevice, cl_device_id)
STAND_IN_RELEASE(LIVE_CONTEXT, clReleaseContext, cl_context)
STAND_IN_RELEASE(LIVE_EVENT, clReleaseEvent, cl_event)
STAND_IN_RELEASE(LIVE_QUEUE, clReleaseCommandQueue, cl_command_queue)
STAND_IN_RELEASE(LIVE_PROGRAM, clReleaseProgram, cl_program)
STAND_IN_RELEASE(LIVE_KERNEL, clReleaseKernel, cl_kernel)
STAND_IN(clGetCommandQueueInfo,
         (cl_command_queue queue, cl_command_queue_info name, size_t bytes, void *value, size_t *needed),
         (queue, name, bytes, value, needed))
STAND_IN(clGetMemObjectInfo, (cl_mem buffer, cl_mem_info name, size_t bytes, void *value, size_t *needed),
         (buffer, name, bytes, value, needed))
STAND_IN(clGetEventInfo, (cl_event event, cl_event_info name, size_t bytes, void *value, size_t *needed),
         (event, name, bytes, value, needed))
STAND_IN(clBuildProgram,
         (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
          void(CL_CALLBACK *notify)(cl_program, void *), void *user),
         (program, count, devices, options, notify, user))
STAND_IN(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t bytes, const void *value),
         (kernel, index, bytes, value))
STAND_IN(clFlush, (cl_command_queue queue), (queue))
STAND_IN_OBJECT(cl_command_queue, LIVE_QUEUE, clCreateCommandQueue,
                (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *error),
                (context, device, properties, error))
STAND_IN_OBJECT(cl_program, LIVE_PROGRAM, clCreateProgramWithSource,
                (cl_context context, cl_uint count, const char **strings, const size_t *lengths, cl_int *error),
                (context, count, strings, lengths, error))
STAND_IN_OBJECT(cl_kernel, LIVE_KERNEL, clCreateKernel, (cl_program program, const char *name, cl_int *error),
                (program, name, error))
STAND_IN_OBJECT(cl_event, LIVE_EVENT, clCreateUserEvent, (cl_context context, cl_int *error), (context, error))

/* The entry of a buffer, or a free one for NULL. */
static size_t buffer_entry(cl_mem buffer)
{
    size_t i = 0;
    while (i + 1 < BUFFERS_MOST && buffers[i].buffer != buffer)
        ++i;
    return i;
}

static cl_mem CL_API_CALL watch_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                               cl_int *error)
{
    const size_t counted = flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_USE_HOST_PTR) ? 0 : bytes;
    cl_mem buffer = NULL;
    const int fails = due(CALL_clCreateBuffer);
    pthread_mutex_lock(&watch_lock);
    *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (!fails && (!device_bytes_limit || device_bytes + counted <= device_bytes_limit))
        buffer = clCreateBuffer(context, flags, bytes, host, error);
    if (buffer) {
        const size_t i = buffer_entry(NULL);
        buffers[i].buffer = buffer;
        buffers[i].bytes = counted;
        device_bytes += counted;
        device_bytes_peak = device_bytes > device_bytes_peak ? device_bytes : device_bytes_peak;
        ++*(flags & CL_MEM_USE_HOST_PTR ? &host_pointers : &other_buffers);
        ++live[LIVE_BUFFER];
    }
    pthread_mutex_unlock(&watch_lock);
    return buffer;
}

static cl_int CL_API_CALL watch_clReleaseMemObject(cl_mem buffer)
{
    pthread_mutex_lock(&watch_lock);
    const size_t i = buffer_entry(buffer);
    device_bytes -= buffers[i].bytes;
    memset(&buffers[i], 0, sizeof buffers[i]);
    --live[LIVE_BUFFER];
    pthread_mutex_unlock(&watch_lock);
    return clReleaseMemObject(buffer);
}

/* A wait ends only after its commands have ended, even if it fails because the device is lost. */
static cl_int CL_API_CALL watch_clWaitForEvents(cl_uint count, const cl_event *list)
{
    const int fails = due(CALL_clWaitForEvents);
    const cl_int error = fails && !lost ? CL_SUCCESS : clWaitForEvents(count, list);
    return fails ? CL_OUT_OF_RESOURCES : error;
}

static cl_int CL_API_CALL watch_clFinish(cl_command_queue queue)
{
    const int fails = due(CALL_clFinish);
    const cl_int error = clFinish(queue);
    return fails ? CL_OUT_OF_RESOURCES : error;
}

/* Records an enqueued command and its event. asked: ipt requested the event. Without a requested event, the command
 * must not use host memory after the call returns: it fills the workspace, or has blocked. The event of a blocking
 * write may complete later, because Intel's runtime copies the data first. */
static void note_command(cl_command_queue queue, cl_event event, int asked, int is_kernel)
{
    cl_device_id device = NULL;
    int i = 0;
    clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    pthread_mutex_lock(&watch_lock);
    live[LIVE_EVENT] += asked;
    while (i + 1 < DEVICES_MOST && launched_on[i] && launched_on[i] != device)
        ++i;
    launched_on[i] = device;
    launches[i] += is_kernel;
    if (watching && event && command_count < COMMANDS_MOST) {
        clRetainEvent(event);
        commands[command_count].event = event;
        commands[command_count++].is_kernel = is_kernel;
    }
    pthread_mutex_unlock(&watch_lock);
}

#define WAITING cl_uint count, const cl_event *list, cl_event *event
#define STAND_IN_COMMAND(name, is_kernel, is_apart, parameters, arguments)                                             \
    static cl_int CL_API_CALL watch_##name parameters                                                                  \
    {                                                                                                                  \
        const int asked = event != NULL;                                                                               \
        cl_event own = NULL;                                                                                           \
        cl_int error = CL_OUT_OF_RESOURCES;                                                                            \
        if (due(CALL_##name))                                                                                          \
            return error;                                                                                              \
        if (!asked && watching)                                                                                        \
            event = &own;                                                                                              \
        error = name arguments;                                                                                        \
        if (!error)                                                                                                    \
            note_command(queue, event && !(is_apart) ? *event : NULL, asked, is_kernel);                               \
        if (own)                                                                                                       \
            clReleaseEvent(own);                                                                                       \
        return error;                                                                                                  \
    }
#define STAND_IN_TRANSFER(name, pointer)                                                                               \
    STAND_IN_COMMAND(                                                                                                  \
        name, 0, blocking,                                                                                             \
        (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes, pointer data, WAITING), \
        (queue, buffer, blocking, offset, bytes, data, count, list, event))                                            \
    STAND_IN_COMMAND(name##Rect, 0, blocking,                                                                          \
                     (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin,                   \
                      const size_t *host_origin, const size_t *region, size_t row, size_t slice, size_t host_row,      \
                      size_t host_slice, pointer data, WAITING),                                                       \
                     (queue, buffer, blocking, origin, host_origin, region, row, slice, host_row, host_slice, data,    \
                      count, list, event))

STAND_IN_TRANSFER(clEnqueueWriteBuffer, const void *)
STAND_IN_TRANSFER(clEnqueueReadBuffer, void *)
STAND_IN_COMMAND(clEnqueueNDRangeKernel, 1, 0,
                 (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                  const size_t *global, const size_t *local, WAITING),
                 (queue, kernel, dimensions, offset, global, local, count, list, event))
STAND_IN_COMMAND(clEnqueueFillBuffer, 0, 1,
                 (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes, size_t offset,
                  size_t bytes, WAITING),
                 (queue, buffer, pattern, pattern_bytes, offset, bytes, count, list, event))
STAND_IN_COMMAND(clEnqueueCopyBuffer, 0, 0,
                 (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t bytes,
                  WAITING),
                 (queue, from, to, from_offset, to_offset, bytes, count, list, event))
STAND_IN_COMMAND(clEnqueueMarkerWithWaitList, 0, 0, (cl_command_queue queue, WAITING), (queue, count, list, event))
STAND_IN_COMMAND(clEnqueueUnmapMemObject, 0, 0, (cl_command_queue queue, cl_mem buffer, void *mapped, WAITING),
                 (queue, buffer, mapped, count, list, event))

static void *CL_API_CALL watch_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                  cl_map_flags flags, size_t offset, size_t bytes, WAITING,
                                                  cl_int *error)
{
    void *mapped = NULL;
    *error = CL_OUT_OF_RESOURCES;
    if (!due(CALL_clEnqueueMapBuffer))
        mapped = clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, count, list, event, error);
    change(LIVE_EVENT, !*error && event);
    return mapped;
}

/* All other functions are OpenCL's own. */
#define watch_clGetPlatformIDs clGetPlatformIDs
#define watch_clGetExtensionFunctionAddressForPlatform clGetExtensionFunctionAddressForPlatform
#define watch_clGetDeviceIDs clGetDeviceIDs
#define watch_clCreateContext clCreateContext
#define watch_clCreateProgramWithBinary clCreateProgramWithBinary
#define watch_clGetProgramInfo clGetProgramInfo
#define watch_clGetProgramBuildInfo clGetProgramBuildInfo
#define watch_clGetKernelWorkGroupInfo clGetKernelWorkGroupInfo
#define watch_clSetUserEventStatus clSetUserEventStatus
#define watch_clGetEventProfilingInfo clGetEventProfilingInfo
#define IPT_ENTRY_POINT(name) watch_##name

#define IPT_STATIC
#define IPT__BLOCK_BYTES_LEAST 1
#define IPT__BUS_RUN_BYTES 1
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "meter.h"
#include "test.h"

/* ------------------------------------------------------------------------------------------------------------------ */
/* Contexts, plans and matrices */
/* ------------------------------------------------------------------------------------------------------------------ */

static ipt_context *open_in(cl_context cl, cl_device_id device, ipt_allocator allocator)
{
    ipt_context_desc desc = {.context = cl, .device = device, .cache_dir = "", .allocator = allocator};
    ipt_context *context = NULL;
    if (ipt_context_create(&desc, &context))
        print_error("no context: %s\n", ipt_context_error(NULL));
    assert_non_null(context);
    return context;
}

/* A context whose device reports unified memory (UNIFIED), separate memory, or that it is a GPU. */
enum { SEPARATE, UNIFIED, GPU_LIKE };
static ipt_context *open_context(int kind)
{
    told_unified = kind == UNIFIED;
    told_gpu = kind == GPU_LIKE;
    ipt_context *context = open_in(test_cl_context, test_device, (ipt_allocator){0});
    told_unified = told_gpu = -1;
    return context;
}

static int complain(const ipt_plan_desc *desc, const char *what)
{
    test_print_case(desc, 0);
    print_error("host %s, host_queues %zu: %s; ipt says: %s\n", ipt_host_string(desc->host), desc->host_queues, what,
                ipt_context_error(NULL));
    return 0;
}

/* Creates a plan for one context or (split) several. Fails the test if there is none. */
static ipt_plan *make_plan(ipt_context *const *contexts, size_t split, const ipt_plan_desc *desc)
{
    ipt_plan *plan = NULL;
    if (split ? ipt_plan_create_split(contexts, split, desc, &plan) : ipt_plan_create(contexts[0], desc, &plan))
        complain(desc, "no plan");
    assert_non_null(plan);
    return plan;
}

/* A batch in host memory with guard bytes around it. */
typedef struct piece {
    ipt_plan_desc desc;
    ipt_context *pinned_by; /* NULL: from malloc */
    unsigned char *raw, *data, *before, *after;
    size_t size, place;
} piece;

static piece take(const ipt_plan_desc *desc, ipt_context *pinned_by, size_t guard)
{
    piece p = {.desc = *desc, .pinned_by = pinned_by, .place = guard, .size = test_span(desc) + 2 * guard};
    void *memory = NULL;
    if (pinned_by)
        assert_int_equal(ipt_host_alloc(pinned_by, p.size, &memory), IPT_SUCCESS);
    p.raw = pinned_by ? memory : malloc(p.size);
    p.before = malloc(p.size);
    p.after = malloc(p.size);
    assert_true(p.raw && p.before && p.after);
    p.data = p.raw + guard;
    test_fill(p.before, p.size);
    memcpy(p.raw, p.before, p.size);
    memcpy(p.after, p.before, p.size);
    test_reference(p.after + guard, p.before + guard, desc);
    for (size_t i = 0; desc->expression && i < (desc->batch ? desc->batch : 1); ++i) /* the expression is ~x */
        for (size_t j = 0; j < test_matrix_bytes(desc); ++j)
            p.after[guard + i * test_stride(desc) + j] ^= 0xFF;
    return p;
}

static int is_before(const piece *p)
{
    return memcmp(p->raw, p->before, p->size) == 0;
}

static int is_after(const piece *p)
{
    return memcmp(p->raw, p->after, p->size) == 0;
}

static void again(piece *p)
{
    memcpy(p->raw, p->before, p->size);
}

static void give_back(piece *p)
{
    if (p->pinned_by)
        ipt_host_free(p->pinned_by, p->raw);
    else
        free(p->raw);
    free(p->before);
    free(p->after);
}

/* A storage in memory. */
static int stored_read(void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy(memory, (char *)user + offset, bytes);
    return 0;
}

static int stored_write(const void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy((char *)user + offset, memory, bytes);
    return 0;
}

/* Executes a plan, for host matrices or for storages. */
static ipt_result execute(ipt_plan *plan, const ipt_plan_desc *desc, void *data)
{
    const ipt_storage storage = {stored_read, stored_write, NULL, data, NULL, 0};
    return desc->max_host_memory ? ipt_plan_execute_storage(plan, &storage) : ipt_plan_execute_host(plan, data);
}

/* Executes a plan on the first content of a piece. Returns 0 after printing an error. Any thread may call this. */
static int executes(ipt_plan *plan, piece *p)
{
    again(p);
    if (execute(plan, &p->desc, p->data) == IPT_SUCCESS && is_after(p))
        return 1;
    print_error("%s memory at %zu, plan %s\n", p->pinned_by ? "pinned" : "malloc's", p->place, ipt_plan_describe(plan));
    return complain(&p->desc, is_before(p) ? "nothing has happened" : "wrong or an error");
}

/* ---- the environment of a test ---- */

static int end_test(void **state)
{
    (void)state;
    disarm();
    watching = 0;
    device_bytes_limit = 0;
    told_context = NULL;
    alarm(0);
    return 0;
}

static int begin_test(void **state)
{
    end_test(state);
    alarm(300); /* ends a test that hangs */
    return test_start(state);
}

#define HOSTM_CASE(function) cmocka_unit_test_setup_teardown(function, begin_test, end_test)

typedef struct living {
    long count[LIVE_COUNT];
} living;

static living living_now(void)
{
    living now;
    pthread_mutex_lock(&watch_lock);
    memcpy(now.count, live, sizeof now.count);
    pthread_mutex_unlock(&watch_lock);
    return now;
}

/* Checks that all objects created or retained since `before` are released. Waits for threads that are about to end. */
static void expect_no_leak(living before)
{
    for (int tries = 0;; ++tries) {
        const struct timespec ms = {0, 1000000};
        living now = living_now();
        if (memcmp(&now, &before, sizeof now) == 0)
            return;
        for (int i = 0; tries > 2000 && i < LIVE_COUNT; ++i)
            if (now.count[i] != before.count[i])
                print_error("%ld %s more than before\n", now.count[i] - before.count[i], live_names[i]);
        assert_true(tries <= 2000);
        nanosleep(&ms, NULL);
    }
}

/* Clears the record of commands. Returns how many of them still access host memory. kernels_too: kernels work in it. */
static int commands_under_way(int kernels_too)
{
    int under_way = 0;
    pthread_mutex_lock(&watch_lock);
    for (int i = 0; i < command_count; ++i) {
        cl_int status = CL_COMPLETE;
        clGetEventInfo(commands[i].event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        under_way += status > CL_COMPLETE && (!commands[i].is_kernel || kernels_too);
    }
    for (; command_count; --command_count) {
        clWaitForEvents(1, &commands[command_count - 1].event);
        clReleaseEvent(commands[command_count - 1].event);
    }
    pthread_mutex_unlock(&watch_lock);
    return under_way;
}

/* ---- the cases of many tests: every scheme, batches, a plan for two contexts ---- */

static ipt_plan_desc staged_desc(ipt_sequence sequence, size_t rows, size_t cols, size_t tile_m, size_t tile_n)
{
    ipt_plan_desc desc = {.rows = rows, .cols = cols, .elem_size = 4, .tile_m = tile_m, .tile_n = tile_n};
    desc.sequence = sequence;
    desc.flags = IPT_NO_COOPERATIVE;
    desc.host = IPT_HOST_STAGES;
    desc.host_queues = 4;
    return desc;
}

static ipt_plan_desc small_desc(ipt_host host, int batched)
{
    ipt_plan_desc desc = {.rows = 37, .cols = 230, .elem_size = 4, .flags = IPT_NO_COOPERATIVE, .host = host};
    desc.host_queues = 3;
    if (batched) {
        desc.rows = 40;
        desc.cols = 23;
        desc.batch = 11;
        desc.batch_stride = 3700;
        desc.host_queues = 6;
    }
    return desc;
}

static ipt_plan_desc cut_desc(size_t rows, size_t cols, size_t batch)
{
    ipt_plan_desc desc = {.rows = rows, .cols = cols, .elem_size = 4, .batch = batch, .flags = IPT_NO_COOPERATIVE};
    desc.host = IPT_HOST_OVERLAPPED;
    desc.max_device_memory = 40000;
    return desc;
}

/* Blocks of 2 x 2 elements; device memory for a quarter of the blocks. */
static ipt_plan_desc blocks_desc(void)
{
    ipt_plan_desc desc = cut_desc(20, 21, 1);
    desc.elem_size = 2560;
    desc.max_device_memory = 330000;
    return desc;
}

/* Bands of 12 rows, with remainders on both sides. */
static ipt_plan_desc bands_desc(void)
{
    ipt_plan_desc desc = cut_desc(89, 70, 1);
    desc.elem_size = 64;
    desc.max_device_memory = 170000;
    return desc;
}

enum { BY_BLOCKS = 1, BY_BANDS };

typedef struct scene {
    const char *name;
    ipt_plan_desc desc;
    int kind;    /* of the contexts */
    int pinned;  /* data is in pinned memory, and is transferred BY_BLOCKS or BY_BANDS */
    long sparse; /* test a failure of every (1 + n / sparse)-th call; 0: of every call */
    size_t split;
    living before;
    ipt_context *contexts[2];
    ipt_plan *plan;
    piece p;
} scene;

enum { SCENE_COUNT = 16, HOST_SCENE_COUNT = 14 }; /* the last ones are storages */

static scene scene_number(size_t i)
{
    scene all[SCENE_COUNT] = {{.name = "synchronous", .desc = small_desc(IPT_HOST_SYNCHRONOUS, 0)},
                              {.name = "synchronous, batch", .desc = small_desc(IPT_HOST_SYNCHRONOUS, 1)},
                              {.name = "overlapped", .desc = small_desc(IPT_HOST_OVERLAPPED, 0)},
                              {.name = "overlapped, tall", .desc = small_desc(IPT_HOST_OVERLAPPED, 0)},
                              {.name = "overlapped, batch", .desc = small_desc(IPT_HOST_OVERLAPPED, 1)},
                              {.name = "stages, 3.1", .desc = staged_desc(IPT_SEQUENCE_3_1, 60, 84, 6, 7)},
                              {.name = "stages, 4.1", .desc = staged_desc(IPT_SEQUENCE_4_1, 60, 84, 6, 7)},
                              {.name = "shared", .desc = small_desc(IPT_HOST_SHARED, 0), .kind = UNIFIED},
                              {.name = "split", .desc = small_desc(IPT_HOST_OVERLAPPED, 0), .split = 2},
                              {.name = "cut, wide", .desc = cut_desc(37, 530, 1)},
                              {.name = "cut, tall", .desc = cut_desc(531, 35, 1)},
                              {.name = "cut, batch", .desc = cut_desc(23, 40, 11)},
                              {.name = "cut, blocks", .desc = blocks_desc(), .pinned = BY_BLOCKS, .sparse = 20},
                              {.name = "cut, bands", .desc = bands_desc(), .pinned = BY_BANDS, .sparse = 20},
                              {.name = "stored, tall", .desc = cut_desc(531, 35, 1)},
                              {.name = "stored, batch", .desc = cut_desc(23, 40, 11)}};
    for (size_t stored = HOST_SCENE_COUNT; stored < SCENE_COUNT; ++stored) {
        all[stored].desc.max_host_memory = stored + 1 == SCENE_COUNT ? 24000 : 50000;
        all[stored].desc.max_device_memory = 0;
        all[stored].desc.host = IPT_HOST_AUTO;
    }
    all[3].desc.rows = 333;
    all[3].desc.host_queues = 7;
    return all[i];
}

/* Makes contexts, data, and a plan. Executes it once, so that all programs are built. */
static scene set_up(size_t i, ipt_allocator allocator)
{
    scene s = scene_number(i);
    s.before = living_now();
    told_unified = s.kind == UNIFIED;
    for (int c = 0; c < 2; ++c)
        s.contexts[c] = open_in(test_cl_context, test_device, allocator);
    told_unified = -1;
    s.plan = make_plan(s.contexts, s.split, &s.desc);
    s.p = take(&s.desc, s.pinned ? s.contexts[0] : NULL, TEST_GUARD);
    assert_true(!s.pinned ||
                strstr(ipt_plan_describe(s.plan), s.pinned == BY_BANDS ? " bands of " : " columns to each"));
    assert_true(executes(s.plan, &s.p));
    again(&s.p);
    return s;
}

static void take_down(scene *s)
{
    give_back(&s->p);
    ipt_context_destroy(s->contexts[0]);
    ipt_plan_destroy(s->plan);
    ipt_context_destroy(s->contexts[1]);
    expect_no_leak(s->before);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Results */
/* ------------------------------------------------------------------------------------------------------------------ */

static const size_t sizes[] = {1, 3, 4, 8, 12, 16}, queue_counts[] = {0, 1, 2, 3, 7, 64};

/* Executes a plan twice, in aligned and unaligned memory of all kinds. Data that is not aligned to the elements is
 * refused if the device must work in place. */
static void in_all_memory(ipt_context *context, const ipt_plan_desc *desc)
{
    ipt_plan *plan = make_plan(&context, 0, desc);
    const size_t alignment = test_alignment(desc->elem_size);
    const size_t works_at = context->limits.cpu ? alignment : 16; /* kernels for GPUs access vectors */
    const size_t guards[] = {TEST_GUARD, TEST_GUARD + 1, TEST_GUARD + alignment, 0};
    for (size_t i = 0; i < TEST_COUNT(guards); ++i) {
        piece p = take(desc, i > 1 ? context : NULL, guards[i]);
        if (desc->host == IPT_HOST_SHARED && (uintptr_t)p.data % works_at)
            assert_true(ipt_plan_execute_host(plan, p.data) == IPT_ERROR_UNSUPPORTED && is_before(&p));
        else
            assert_true(executes(plan, &p) && (i || executes(plan, &p)));
        give_back(&p);
    }
    ipt_plan_destroy(plan);
}

static void hostm_schemes(void **state)
{
    (void)state;
    test_need_buffers((size_t)16 << 20);
    static const size_t shapes[][2] = {{1000, 37}, {37, 1000}, {211, 307}, {23, 40}, {40, 13},
                                       {128, 128}, {1, 777},   {777, 1},   {1, 1},   {3, 100001}};
    static const size_t batches[] = {1, 5, 50, 5};
    size_t turn = 0;
    for (int kind = SEPARATE; kind <= UNIFIED; ++kind) {
        ipt_context *context = open_context(kind);
        for (ipt_host host = IPT_HOST_AUTO; host <= IPT_HOST_SHARED; ++host)
            for (size_t s = 0; s < TEST_COUNT(shapes); ++s)
                for (size_t e = 0; e < TEST_COUNT(sizes); ++e, ++turn) {
                    ipt_plan_desc desc = {.rows = shapes[s][0], .cols = shapes[s][1], .elem_size = sizes[e]};
                    if (host == IPT_HOST_STAGES || (host == IPT_HOST_SHARED && kind == SEPARATE) ||
                        (s + 1 == TEST_COUNT(shapes) && (e + (size_t)host) % 3))
                        continue;
                    desc.host = host;
                    desc.host_queues = queue_counts[turn / 4 % TEST_COUNT(queue_counts)];
                    desc.batch = batches[turn % 4];
                    while (desc.batch > 1 && desc.batch * test_matrix_bytes(&desc) > 500000)
                        desc.batch = desc.batch == 50 ? 5 : desc.batch - 1;
                    if (turn % 4 > 1)
                        desc.batch_stride = test_matrix_bytes(&desc) + (1 + e) * test_alignment(desc.elem_size);
                    in_all_memory(context, &desc);
                }
        ipt_context_destroy(context);
    }
}

/* Each part has its own queue. Parts share a queue if executions of a kernel must not run at the same time. The parts
 * here have equal sizes, so they may run at the same time with every OpenCL. */
static void hostm_queues(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        int shared;
    } told[] = {{"OpenCL 3.0 PoCL 6.0  Linux", 0}, {"OpenCL 3.0 PoCL 10.0  Linux", 0},
                {"OpenCL 3.0 PoCL 5.0  Linux", 1}, {"OpenCL 3.0 PoCL 3.1+debian  Linux", 1},
                {"OpenCL 2.0 pocl 1.8  Linux", 1}, {"OpenCL 3.0 another 3.1", 0}};
    static const ipt_plan_desc descs[] = {
        {.rows = 600, .cols = 5, .elem_size = 4, .host = IPT_HOST_OVERLAPPED, .host_queues = 4},
        {.rows = 60, .cols = 7, .elem_size = 8, .batch = 8, .host = IPT_HOST_OVERLAPPED, .host_queues = 4}};
    for (size_t i = 0; i < TEST_COUNT(told); ++i)
        for (size_t k = 0; k < TEST_COUNT(descs); ++k) {
            told_version = told[i].version;
            ipt_context *context = open_context(SEPARATE);
            told_version = NULL;
            const long before = living_now().count[LIVE_QUEUE];
            ipt_plan *plan = test_make_plan(context, &descs[k]);
            piece p = take(&descs[k], NULL, TEST_GUARD);
            assert_true(executes(plan, &p));
            assert_int_equal(living_now().count[LIVE_QUEUE] - before, told[i].shared ? 0 : 4);
            give_back(&p);
            ipt_plan_destroy(plan);
            ipt_context_destroy(context);
        }
}

/* Every number of parts for small matrices and batches: parts of one row, a shorter last one, fewer than requested. */
static void hostm_parts(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{65, 3}, {3, 65}, {64, 64}, {2, 2}, {1, 9}, {600, 5}};
    ipt_context *context = open_context(SEPARATE);
    for (size_t s = 0; s < TEST_COUNT(shapes); ++s)
        for (size_t queues = 0; queues <= 64; queues += queues < 10 ? 1 : 9)
            for (size_t batch = 1; batch <= 9; batch += 8) {
                ipt_plan_desc desc = {.rows = shapes[s][0], .cols = shapes[s][1], .elem_size = 4, .batch = batch};
                desc.host = IPT_HOST_OVERLAPPED;
                desc.host_queues = queues;
                in_all_memory(context, &desc);
            }
    ipt_context_destroy(context);
}

static const ipt_sequence staged_sequences[] = {IPT_SEQUENCE_3_1, IPT_SEQUENCE_3_2, IPT_SEQUENCE_4_1, IPT_SEQUENCE_2_1};

static void hostm_stages(void **state)
{
    (void)state;
    static const size_t tilings[][4] = {{60, 84, 6, 7},  {240, 90, 12, 15}, {90, 240, 15, 12},
                                        {64, 64, 8, 16}, {22, 26, 11, 13},  {96, 1024, 32, 16}};
    ipt_context *context = open_context(SEPARATE);
    size_t turn = 0;
    for (size_t q = 0; q < TEST_COUNT(staged_sequences); ++q)
        for (size_t t = 0; t < TEST_COUNT(tilings); ++t)
            for (size_t e = 0; e < TEST_COUNT(sizes); ++e, ++turn) {
                const size_t *const of = tilings[t];
                ipt_plan_desc desc = staged_desc(staged_sequences[q], of[0], of[1], of[2], of[3]);
                desc.elem_size = sizes[e];
                desc.host_queues = queue_counts[turn % TEST_COUNT(queue_counts)];
                if (turn % 3 == 0 || sizes[e] == 4)
                    in_all_memory(context, &desc);
            }
    ipt_context_destroy(context);
}

static void hostm_expressions(void **state)
{
    (void)state;
    static const char *const types[] = {"uchar", "uint", "ulong", "uint4"};
    static const uint64_t every_bit[2] = {~(uint64_t)0, ~(uint64_t)0};
    static const size_t type_sizes[] = {1, 4, 8, 16}, shapes[][2] = {{130, 31}, {31, 130}, {1, 50}, {48, 48}};
    ipt_context *contexts[2] = {open_context(SEPARATE), open_context(UNIFIED)};
    for (ipt_host host = IPT_HOST_AUTO; host <= IPT_HOST_SHARED; ++host)
        for (size_t t = 0; t < TEST_COUNT(types); ++t)
            for (size_t s = 0; s < TEST_COUNT(shapes); ++s) {
                ipt_plan_desc desc = {.rows = shapes[s][0], .cols = shapes[s][1], .batch = 1 + s % 2 * 4};
                if (host == IPT_HOST_STAGES)
                    desc = staged_desc(staged_sequences[s], 60, 84, 6, 7);
                desc.elem_size = type_sizes[t];
                desc.expression = s % 2 ? "x ^ a" : "~x";
                desc.expression_argument = s % 2 ? every_bit : NULL;
                desc.expression_type = types[t];
                desc.host = host;
                desc.host_queues = 3;
                in_all_memory(contexts[host == IPT_HOST_SHARED], &desc);
            }
    ipt_context_destroy(contexts[1]);
    ipt_context_destroy(contexts[0]);
}

/* Copies pageable memory through pinned memory, as for a GPU. Also without pinned memory, and with failing calls. */
static void hostm_through_pinned(void **state)
{
    (void)state;
    test_need_buffers((size_t)24 << 20);
    ipt_plan_desc descs[] = {small_desc(IPT_HOST_OVERLAPPED, 0), small_desc(IPT_HOST_OVERLAPPED, 1),
                             staged_desc(IPT_SEQUENCE_3_1, 1200, 1800, 24, 40)};
    descs[0].rows = 1100;
    descs[0].cols = 2003;
    descs[1].rows = 601;
    descs[1].cols = 600;
    descs[1].batch_stride = 600 * 601 * 4 + 60;
    living before = living_now();
    ipt_context *context = open_context(GPU_LIKE);
    for (size_t i = 0; i < TEST_COUNT(descs); ++i) {
        ipt_plan *plan = make_plan(&context, 0, &descs[i]);
        piece p = take(&descs[i], NULL, TEST_GUARD + 1);
        const long maps = calls[CALL_clEnqueueMapBuffer];
        arm(0, DEVICE_LOST, CALL_clEnqueueMapBuffer);
        assert_true(executes(plan, &p));
        assert_true(calls[CALL_clEnqueueMapBuffer] > maps);
        disarm();
        assert_true(executes(plan, &p));
        for (long n = 1; i == 0; n += 1 + n / 8) {
            again(&p);
            arm(n, n % 2, -1);
            const ipt_result result = ipt_plan_execute_host(plan, p.data);
            disarm();
            if (failed_call < 0)
                break;
            if (result == IPT_SUCCESS ? !is_after(&p) : result != IPT_ERROR_INCOMPLETE && !is_before(&p)) {
                complain(&descs[i], ipt_result_string(result));
                fail_msg("call %ld: %s", n, call_names[failed_call]);
            }
        }
        assert_true(executes(plan, &p));
        give_back(&p);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
    expect_no_leak(before);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Bad input */
/* ------------------------------------------------------------------------------------------------------------------ */

#define INVALID IPT_ERROR_INVALID_ARGUMENT

/* Creates a plan and executes it on new data. Checks that the data is the result or unchanged. Returns the first
 * failure. */
static ipt_result attempt(ipt_context *context, const ipt_plan_desc *desc)
{
    ipt_plan *plan = NULL;
    piece p = take(desc, NULL, TEST_GUARD);
    ipt_result result = ipt_plan_create(context, desc, &plan);
    assert_int_equal(result == IPT_SUCCESS, plan != NULL);
    if (!result)
        result = ipt_plan_execute_host(plan, p.data);
    ipt_plan_destroy(plan);
    assert_true(result ? is_before(&p) : is_after(&p));
    give_back(&p);
    return result;
}

static void hostm_bad_descs(void **state)
{
    (void)state;
    ipt_context *context = open_context(SEPARATE);
    ipt_plan_desc desc = small_desc((ipt_host)17, 0);
    test_expect_error(attempt(context, &desc), INVALID, "host", "17");
    desc.host = (ipt_host)-1;
    test_expect_error(attempt(context, &desc), INVALID, "host", NULL);
    assert_string_equal(ipt_host_string((ipt_host)17), "unknown");
    assert_string_equal(ipt_host_string((ipt_host)-1), "unknown");
    assert_string_equal(ipt_host_string(IPT_HOST_SHARED), "shared");
    desc = small_desc(IPT_HOST_AUTO, 0);
    desc.host_queues = 65;
    test_expect_error(attempt(context, &desc), INVALID, "host_queues", "65");
    desc = small_desc(IPT_HOST_SHARED, 0);
    test_expect_error(attempt(context, &desc), IPT_ERROR_UNSUPPORTED, "shared", NULL);

    const ipt_plan_desc uncut[] = {{.sequence = IPT_SEQUENCE_TWO_PASS},
                                   {.sequence = IPT_SEQUENCE_1},
                                   {.sequence = IPT_SEQUENCE_3_1, .tile_m = 6, .tile_n = 10},
                                   {.move = IPT_MOVE_ROTATE_90},
                                   {.move = IPT_MOVE_FLIP_VERTICAL},
                                   {.to = IPT_FORMAT_CCRB, .tile_m = 1, .tile_n = 10},
                                   {.flags = IPT_PAD}};
    const ipt_plan_desc unstaged[] = {{.sequence = IPT_SEQUENCE_1},
                                      {.sequence = IPT_SEQUENCE_TWO_PASS},
                                      {.sequence = IPT_SEQUENCE_TWO_PASS, .tile_n = 7},
                                      {.move = IPT_MOVE_ROTATE_180},
                                      {.sequence = IPT_SEQUENCE_3_1, .tile_m = 6, .tile_n = 10, .batch = 4}};
    int refused = 0;
    for (size_t i = 0; i < TEST_COUNT(uncut) + TEST_COUNT(unstaged); ++i) {
        const int stages = i >= TEST_COUNT(uncut);
        desc = stages ? unstaged[i - TEST_COUNT(uncut)] : uncut[i];
        desc.rows = 36;
        desc.cols = 230;
        desc.elem_size = 4;
        desc.flags |= stages ? IPT_NO_COOPERATIVE : 0;
        desc.host = stages ? IPT_HOST_STAGES : IPT_HOST_OVERLAPPED;
        const ipt_result result = attempt(context, &desc);
        if (!stages || result) /* a plan with one stage for the whole matrix is accepted */
            test_expect_error(result, IPT_ERROR_UNSUPPORTED, stages ? "stages" : "overlapped", NULL);
        refused += stages && result;
    }
    assert_true(refused > 1);
    ipt_context_destroy(context);
}

static void hostm_bad_arguments(void **state)
{
    (void)state;
    scene s = set_up(2, (ipt_allocator){0});
    ipt_context *const context = s.contexts[0], *const other = s.contexts[1];
    const ipt_host_options nothing = {NULL, NULL, NULL};
    cl_event event = (cl_event)&s;
    void *memory = &s;
    int local = 0;
    test_expect_error(ipt_plan_execute_host(NULL, s.p.data), INVALID, "plan", NULL);
    test_expect_error(ipt_plan_execute_host(s.plan, NULL), INVALID, "data", NULL);
    test_expect_error(ipt_plan_execute_host_with(NULL, s.p.data, &nothing), INVALID, "plan", NULL);
    test_expect_error(ipt_plan_execute_host_with(s.plan, NULL, NULL), INVALID, "data", NULL);
    test_expect_error(ipt_plan_execute_host_async(NULL, s.p.data, NULL, NULL), INVALID, "plan", NULL);
    test_expect_error(ipt_plan_execute_host_async(s.plan, NULL, NULL, &event), INVALID, "data", NULL);
    assert_null(event);
    assert_true(is_before(&s.p));
    assert_int_equal(ipt_plan_execute_host_with(s.plan, s.p.data, &nothing), IPT_SUCCESS);
    assert_true(is_after(&s.p));

    test_expect_error(ipt_host_alloc(NULL, 5, &memory), INVALID, "context", NULL);
    test_expect_error(ipt_host_alloc(context, 5, NULL), INVALID, "memory", NULL);
    test_expect_error(ipt_host_alloc(context, 0, &memory), INVALID, "bytes", "0");
    assert_null(memory);
    memory = &s;
    const size_t huge = (size_t)-1 / 4 * 3;
    test_expect_error(ipt_host_alloc(context, huge, &memory), IPT_ERROR_OUT_OF_MEMORY, test_number(huge), NULL);
    assert_null(memory);
    living before = living_now();
    for (long n = 0; n < 2; ++n) {
        arm(n, 0, -1);
        test_expect_error(ipt_host_alloc(context, 100, &memory), IPT_ERROR_OUT_OF_MEMORY, "100", NULL);
        assert_null(memory);
    }
    ipt_host_free(context, NULL);
    ipt_host_free(NULL, NULL);
    ipt_host_free(NULL, &local);
    ipt_host_free(context, &local);
    ipt_host_free(context, s.p.data);
    assert_int_equal(ipt_host_alloc(context, 1000, &memory), IPT_SUCCESS);
    ipt_host_free(other, memory); /* not this context's memory */
    ipt_host_free(context, (char *)memory + 1);
    memset(memory, 2, 1000);
    ipt_host_free(context, memory);
    ipt_host_free(context, memory); /* already freed */
    expect_no_leak(before);
    assert_int_equal(ipt_host_alloc(context, 1000, &memory), IPT_SUCCESS); /* the context's end frees it */

    ipt_context *pair[2] = {context, NULL};
    ipt_plan *none = (ipt_plan *)&s;
    test_expect_error(ipt_plan_create_split(NULL, 2, &s.desc, &none), INVALID, "contexts", NULL);
    assert_null(none);
    test_expect_error(ipt_plan_create_split(pair, 0, &s.desc, &none), INVALID, "count", "0");
    test_expect_error(ipt_plan_create_split(pair, 2, &s.desc, &none), INVALID, "contexts", "1");
    test_expect_error(ipt_plan_create_split(pair, 1, NULL, &none), INVALID, "desc", NULL);
    test_expect_error(ipt_plan_create_split(pair, 1, &s.desc, NULL), INVALID, "plan", NULL);
    pair[1] = other;
    ipt_plan_desc wrong = small_desc(IPT_HOST_SYNCHRONOUS, 0);
    test_expect_error(ipt_plan_create_split(pair, 2, &wrong, &none), INVALID, "host", "synchronous");
    wrong = small_desc(IPT_HOST_AUTO, 0);
    wrong.sequence = IPT_SEQUENCE_1;
    test_expect_error(ipt_plan_create_split(pair, 2, &wrong, &none), IPT_ERROR_UNSUPPORTED, "overlapped", NULL);
    wrong.rows = 0;
    test_expect_error(ipt_plan_create_split(pair, 2, &wrong, &none), INVALID, "rows", "0");
    assert_null(none);
    take_down(&s);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Progress and faults */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct told_progress {
    size_t calls, cancel_at, last, total; /* cancel_at: the call that cancels */
    int wrong;
} told_progress;

static int on_progress(size_t done, size_t total, void *user)
{
    told_progress *told = user;
    told->wrong |= done < told->last || done > total || (told->calls && total != told->total);
    told->last = done;
    told->total = total;
    return told->calls++ == told->cancel_at;
}

/* Commands that may have written to the host's memory. */
static long writes(const scene *s)
{
    return s->desc.host == IPT_HOST_SHARED ? calls[CALL_clEnqueueNDRangeKernel]
                                           : calls[CALL_clEnqueueReadBuffer] + calls[CALL_clEnqueueReadBufferRect];
}

static void hostm_progress(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_SCENE_COUNT; ++i) {
        scene s = set_up(i, (ipt_allocator){0});
        size_t k = 0, cancelled = 0;
        for (int ended = 0; !ended; ++k) {
            told_progress told = {.cancel_at = k};
            const ipt_host_options options = {on_progress, NULL, &told};
            const long before = writes(&s);
            again(&s.p);
            const ipt_result result = ipt_plan_execute_host_with(s.plan, s.p.data, &options);
            const size_t bytes = test_matrix_bytes(&s.desc) * (s.desc.batch ? s.desc.batch : 1);
            /* The host also shuffles a cut matrix. A read saves the remainder in separate memory. */
            const int cut = s.desc.max_device_memory != 0;
            int good = !told.wrong && told.total >= 2 * bytes && told.total <= (cut ? 3 : 2) * bytes;
            if (result == IPT_SUCCESS)
                good &= is_after(&s.p) && told.last == told.total;
            else if (result == IPT_ERROR_CANCELLED)
                good &= is_before(&s.p) && (cut || writes(&s) == before) && told.calls > k;
            else
                good &= result == IPT_ERROR_INCOMPLETE && (cut || writes(&s) > before) && told.calls > k;
            good &= result == IPT_SUCCESS || test_mentions(ipt_context_error(NULL), "cancelled");
            if (!good) {
                complain(&s.desc, ipt_result_string(result));
                fail_msg("%s, cancelled at call %zu of %zu: done %zu of %zu, as before %d, wrong %d", s.name, k,
                         told.calls, told.last, told.total, is_before(&s.p), told.wrong);
            }
            assert_true(executes(s.plan, &s.p)); /* the plan works as before */
            cancelled += result == IPT_ERROR_CANCELLED;
            ended = told.calls <= k; /* no call cancelled */
        }
        assert_true(k > 2 && (cancelled || s.desc.batch > 1));
        take_down(&s);
    }
}

/* Calls whose failure may have no effect: ipt has an alternative, or already has the result. */
static int forgivable(int call)
{
    return call == CALL_clFlush || call == CALL_clFinish || call == CALL_clEnqueueUnmapMemObject ||
           call == CALL_clRetainEvent || call == CALL_clGetEventInfo;
}

/* Calls that fail if a device lacks memory: ipt retries with less. */
static int is_refusal(int call)
{
    return call == CALL_clCreateBuffer || call == CALL_clEnqueueFillBuffer || call == CALL_clWaitForEvents ||
           call == CALL_clEnqueueWriteBuffer || call == CALL_clEnqueueWriteBufferRect;
}

/* Makes the n-th call fail, for each n up to the number of calls. kept_plan: in an execution; otherwise in the creation
 * and execution of a plan. */
static void with_faults(int all_after, int kept_plan)
{
    int bad = 0;
    for (size_t i = 0; i < SCENE_COUNT; ++i) {
        scene s = set_up(i, (ipt_allocator){0});
        living usual = living_now();
        int incomplete = 0, untouched = 0;
        for (long n = 0;; n += s.sparse ? 1 + n / s.sparse : 1) {
            ipt_plan *plan = kept_plan ? s.plan : NULL;
            ipt_result result = IPT_SUCCESS;
            again(&s.p);
            watching = 1;
            arm(n, all_after, -1);
            if (!kept_plan)
                result = s.split ? ipt_plan_create_split(s.contexts, s.split, &s.desc, &plan)
                                 : ipt_plan_create(s.contexts[0], &s.desc, &plan);
            if (!result)
                result = execute(plan, &s.desc, s.p.data);
            disarm();
            const int busy = commands_under_way(s.desc.host == IPT_HOST_SHARED), failed = failed_call;
            watching = 0;
            int good = !busy && (result == IPT_SUCCESS || ipt_context_error(NULL)[0]);
            if (result == IPT_SUCCESS)
                good &= is_after(&s.p) && (failed < 0 || forgivable(failed) || (!all_after && is_refusal(failed)));
            else
                good &= failed >= 0 && (result == IPT_ERROR_INCOMPLETE || is_before(&s.p));
            if (!good) {
                complain(&s.desc, ipt_result_string(result));
                print_error("%s: call %ld (%s) failed%s: %s, %d commands still under way\n", s.name, n,
                            failed < 0 ? "none" : call_names[failed], all_after ? ", and all after it" : "",
                            is_before(&s.p)  ? "unchanged"
                            : is_after(&s.p) ? "the result"
                                             : "neither",
                            busy);
                assert_true(++bad < 10); /* later errors rarely add information */
            }
            incomplete += result == IPT_ERROR_INCOMPLETE;
            untouched += result && result != IPT_ERROR_INCOMPLETE;
            assert_true(!plan || executes(plan, &s.p)); /* the plan works as before */
            if (!kept_plan) {
                ipt_plan_destroy(plan);
                if (!result && failed >= 0 && is_refusal(failed)) /* the context retains the other plan's programs */
                    usual.count[LIVE_PROGRAM] = living_now().count[LIVE_PROGRAM];
                expect_no_leak(usual);
            }
            if (failed < 0)
                break;
            assert_true(n < 5000);
        }
        assert_true(untouched > 5 && incomplete > 0);
        take_down(&s);
    }
    assert_int_equal(bad, 0);
}

static void hostm_faults(void **state)
{
    (void)state;
    with_faults(0, 0);
    with_faults(0, 1);
}

static void hostm_device_lost(void **state)
{
    (void)state;
    with_faults(DEVICE_LOST, 0);
    with_faults(DEVICE_LOST, 1);
}

/* Building the programs of a plan, or of its parts' plans, fails. */
static void hostm_faults_of_builds(void **state)
{
    (void)state;
    static const int failing[] = {CALL_clBuildProgram, CALL_clCreateProgramWithSource, CALL_clCreateKernel};
    const ipt_plan_desc desc = {.rows = 3, .cols = 1500, .elem_size = 4, .host = IPT_HOST_OVERLAPPED};
    for (size_t f = 0; f < TEST_COUNT(failing); ++f) {
        ipt_result result = IPT_ERROR_OPENCL;
        for (long n = 0; result; ++n) {
            living before = living_now();
            ipt_context *context = open_context(SEPARATE);
            ipt_plan *plan = NULL;
            piece p = take(&desc, NULL, 0);
            arm(n, 0, failing[f]);
            result = ipt_plan_create(context, &desc, &plan);
            disarm();
            /* A GPU's plan can do without a program that needs much local memory. */
            assert_true((result == IPT_SUCCESS) == (failed_call < 0) || (!result && !context->limits.cpu));
            assert_int_equal(result == IPT_SUCCESS, plan != NULL);
            if (result)
                plan = make_plan(&context, 0, &desc);
            assert_true(executes(plan, &p));
            give_back(&p);
            ipt_plan_destroy(plan);
            ipt_context_destroy(context);
            expect_no_leak(before);
        }
    }
}

/* Builds of programs for a plan, in a context of its own. */
static long builds_of(const ipt_plan_desc *desc)
{
    ipt_context *context = open_context(SEPARATE);
    const long before = calls[CALL_clBuildProgram];
    ipt_plan_destroy(make_plan(&context, 0, desc));
    ipt_context_destroy(context);
    return calls[CALL_clBuildProgram] - before;
}

/* If the programs of its parts cannot be built, a plan with a free choice has no parts. Drivers build in different
 * sequences, so each build fails once. */
static void hostm_faults_of_parts(void **state)
{
    (void)state;
    test_need_buffers((size_t)16 << 20);
    ipt_plan_desc desc = {.rows = 3, .cols = 500000, .elem_size = 4, .host = IPT_HOST_SYNCHRONOUS};
    ipt_context *context;
    ipt_plan *plan;
    long builds, alone, without = 0;
    alone = builds_of(&desc);
    desc.host = IPT_HOST_AUTO;
    builds = builds_of(&desc);
    if (builds == alone)
        test_skip("parts need no programs of their own here");
    for (long n = 0; n < builds; ++n) {
        context = open_context(SEPARATE);
        plan = NULL;
        arm(n, DEVICE_LOST, CALL_clBuildProgram);
        const ipt_result result = ipt_plan_create(context, &desc, &plan);
        disarm();
        assert_true(failed_call == CALL_clBuildProgram);
        assert_int_equal(result == IPT_SUCCESS, plan != NULL);
        if (!result) {
            piece p = take(&desc, NULL, TEST_GUARD);
            assert_true(executes(plan, &p) && executes(plan, &p));
            give_back(&p);
            ++without;
        }
        ipt_plan_destroy(plan);
        ipt_context_destroy(context);
    }
    assert_true(without > 0);
}

/* Calls that only creating a plan needs. Each stage has its own kernel. */
static long planning_calls(void)
{
    return calls[CALL_clCreateProgramWithSource] + calls[CALL_clBuildProgram] + calls[CALL_clCreateKernel];
}

/* Executes a new plan twice. Neither execution plans, compiles or allocates host memory, except for a storage's steps.
 * first: the first one may, because the device cannot work at its address. */
static void plans_nothing(const scene *s, size_t guard, int first)
{
    meter count = METER;
    ipt_context *contexts[2];
    told_unified = s->kind == UNIFIED;
    for (int c = 0; c < 2; ++c)
        contexts[c] = open_in(test_cl_context, test_device, meter_allocator(&count));
    told_unified = -1;
    ipt_plan *plan = make_plan(contexts, s->split, &s->desc);
    piece p = take(&s->desc, s->pinned ? contexts[0] : NULL, guard);
    for (int time = 0; time < 2; ++time) {
        const long planned = planning_calls(), allocated = count.calls;
        again(&p);
        assert_int_equal(execute(plan, &s->desc, p.data), IPT_SUCCESS);
        assert_true(is_after(&p));
        if (first && !time)
            continue;
        if (planning_calls() != planned)
            fail_msg("%s: execution %d planned: %ld calls", s->name, time + 1, planning_calls() - planned);
        if (!s->desc.max_host_memory && count.calls != allocated)
            fail_msg("%s: execution %d allocated %ld times", s->name, time + 1, count.calls - allocated);
    }
    give_back(&p);
    ipt_plan_destroy(plan);
    for (int c = 0; c < 2; ++c)
        ipt_context_destroy(contexts[c]);
    assert_int_equal(count.living, 0);
}

static void hostm_plans_nothing(void **state)
{
    (void)state;
    test_need_buffers((size_t)32 << 20);
    for (size_t i = 0; i < SCENE_COUNT; ++i) {
        const scene s = scene_number(i);
        plans_nothing(&s, TEST_GUARD, 0);
    }
    const scene whole[] = {
        {.name = "auto", .desc = {.rows = 1100, .cols = 1003, .elem_size = 4}},
        {.name = "auto, batch", .desc = {.rows = 300, .cols = 203, .elem_size = 4, .batch = 19}},
        {.name = "auto, rotated", .desc = {.rows = 1100, .cols = 1003, .elem_size = 4, .move = IPT_MOVE_ROTATE_90}},
        {.name = "auto, axes", .desc = {.rank = 3, .shape = {30, 41, 999}, .axes = {2, 1, 0}, .elem_size = 4}},
        {.name = "split, auto", .desc = {.rows = 1100, .cols = 1003, .elem_size = 4}, .split = 2},
        {.name = "split, axes",
         .desc = {.rank = 3, .shape = {30, 41, 99}, .axes = {2, 1, 0}, .elem_size = 4},
         .split = 2},
        {.name = "cut, axes",
         .desc = {.rank = 3, .shape = {30, 41, 99}, .axes = {2, 1, 0}, .elem_size = 4, .max_device_memory = 90000}},
        {.name = "cut, whole passes",
         .desc = {.rank = 3, .shape = {3, 601, 999}, .axes = {2, 0, 1}, .elem_size = 4, .max_device_memory = 7500000}},
        {.name = "stored, axes",
         .desc = {.rank = 3, .shape = {30, 41, 99}, .axes = {2, 1, 0}, .elem_size = 4, .max_host_memory = 120000}},
        {.name = "stored, large chunks",
         .desc = {.rows = 3000, .cols = 2001, .elem_size = 4, .max_host_memory = 40 << 20}}};
    for (size_t i = 0; i < TEST_COUNT(whole); ++i)
        for (int kind = SEPARATE; kind <= UNIFIED; ++kind) {
            scene s = whole[i];
            s.kind = kind;
            plans_nothing(&s, TEST_GUARD, 0);
        }
    /* At an unaligned address the first execution makes further plans: for parts, or for pieces within a limit. */
    const scene odd[] = {{.name = "odd address, small", .desc = small_desc(IPT_HOST_AUTO, 0), .kind = UNIFIED},
                         {.name = "odd address", .desc = whole[0].desc, .kind = UNIFIED},
                         {.name = "odd address, limit", .desc = whole[0].desc, .kind = UNIFIED}};
    for (size_t i = 0; i < TEST_COUNT(odd); ++i) {
        scene s = odd[i];
        s.desc.max_device_memory = i == 2 ? 3500000 : 0;
        plans_nothing(&s, TEST_GUARD + 1, i > 0);
    }
}

/* A synchronous plan needs no plans for parts. An automatic plan needs them if host matrices move in parts. */
static void hostm_synchronous_plans_less(void **state)
{
    (void)state;
    long planned[2];
    for (int i = 0; i < 2; ++i) {
        ipt_context *context = open_context(SEPARATE);
        const ipt_plan_desc desc = {
            .rows = 2000, .cols = 1003, .elem_size = 4, .host = i ? IPT_HOST_SYNCHRONOUS : IPT_HOST_AUTO};
        const long before = planning_calls();
        ipt_plan *plan = make_plan(&context, 0, &desc);
        planned[i] = planning_calls() - before;
        ipt_plan_destroy(plan);
        ipt_context_destroy(context);
    }
    if (planned[0] <= planned[1])
        fail_msg("auto planned with %ld calls, synchronous with %ld", planned[0], planned[1]);
}

static void hostm_allocator(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCENE_COUNT; ++i) {
        meter count = METER;
        scene s = set_up(i, meter_allocator(&count));
        const long usual = count.living;
        int reached = 1;
        for (long n = 1; reached; ++n) {
            ipt_plan *plan = NULL;
            void *memory = NULL;
            again(&s.p);
            count.fail_at = count.calls + n;
            ipt_result result = s.split ? ipt_plan_create_split(s.contexts, s.split, &s.desc, &plan)
                                        : ipt_plan_create(s.contexts[0], &s.desc, &plan);
            if (!result)
                result = execute(plan, &s.desc, s.p.data);
            if (!result)
                result = ipt_host_alloc(s.contexts[0], 100, &memory);
            reached = count.calls >= count.fail_at;
            count.fail_at = 0;
            assert_int_equal(result, reached ? IPT_ERROR_OUT_OF_MEMORY : IPT_SUCCESS);
            assert_true(is_before(&s.p) || (plan && is_after(&s.p)));
            assert_true(!plan || executes(plan, &s.p));
            ipt_host_free(s.contexts[0], memory);
            ipt_plan_destroy(plan);
            assert_int_equal(count.living, usual);
        }
        take_down(&s);
        assert_int_equal(count.living, 0);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Memory */
/* ------------------------------------------------------------------------------------------------------------------ */

static void hostm_device_memory(void **state)
{
    (void)state;
    test_need_buffers((size_t)48 << 20);
    static const size_t shapes[][2] = {{2003, 1100}, {1100, 2003}, {3, 700001}, {700001, 3}, {1500, 1500}};
    ipt_context *context = open_context(SEPARATE);
    for (size_t s = 0; s < TEST_COUNT(shapes); ++s)
        for (size_t i = 0; i < 3; ++i) {
            ipt_plan_desc desc = {.rows = shapes[s][0], .cols = shapes[s][1], .elem_size = 4};
            desc.host = i == 1 ? IPT_HOST_SYNCHRONOUS : IPT_HOST_OVERLAPPED;
            desc.host_queues = i == 2 ? 64 : 0;
            if (i == 2) {
                desc.rows = desc.rows / 10 + 2;
                desc.batch = 20;
                desc.batch_stride = test_matrix_bytes(&desc) + 400;
            }
            const size_t bytes = test_span(&desc), least = bytes - desc.batch * 400, before = device_bytes;
            const size_t more = (bytes > 100u << 20 ? bytes / 100 : 1u << 20) + (desc.batch ? 400 : 0);
            device_bytes_peak = before;
            assert_int_equal(attempt(context, &desc), IPT_SUCCESS);
            if (device_bytes_peak - before > bytes + more) {
                complain(&desc, "too much device memory");
                fail_msg("%zu bytes more than the matrices", device_bytes_peak - before - bytes);
            }
            assert_int_equal(device_bytes, before);
            /* With less memory, a plan transposes in pieces, or fails with IPT_HOST_SYNCHRONOUS. With `least` bytes it
             * works. */
            device_bytes_limit = before + least - 1;
            assert_int_equal(attempt(context, &desc),
                             desc.host == IPT_HOST_SYNCHRONOUS ? IPT_ERROR_OUT_OF_MEMORY : IPT_SUCCESS);
            device_bytes_limit = before + bytes + more;
            assert_int_equal(attempt(context, &desc), IPT_SUCCESS);
            device_bytes_limit = 0;
        }
    ipt_context_destroy(context);
}

/* A number of /proc/self/status in bytes; 0 if it is missing. */
static size_t status_of(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    size_t found = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            found = (size_t)strtoull(line + strlen(name), NULL, 10) * 1024;
    if (file)
        fclose(file);
    return found;
}

static void hostm_shared_takes_no_memory(void **state)
{
    (void)state;
    test_need_buffers((size_t)260 << 20);
    const ipt_plan_desc desc = {.rows = 8200, .cols = 7900, .elem_size = 4, .host = IPT_HOST_SHARED};
    const size_t count = desc.rows * desc.cols, bytes = count * 4;
    const size_t left = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    cl_bool unified = CL_FALSE;
    clGetDeviceInfo(test_device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    if (!unified)
        test_skip("the device does not share the host's memory");
    if (left < 3 * bytes)
        test_skip("the host has less than 800 MB of free memory");
    cl_uint *data = malloc(bytes);
    assert_non_null(data);
    ipt_context *context = open_context(UNIFIED);
    ipt_plan *plan = make_plan(&context, 0, &desc);
    for (int i = 0; i < 2; ++i) { /* the first turn compiles */
        for (size_t k = 0; k < count; ++k)
            data[k] = (cl_uint)k;
        FILE *file = fopen("/proc/self/clear_refs", "w"); /* resets VmHWM */
        int can_tell = file && fputs("5", file) >= 0;
        can_tell &= file && fclose(file) == 0;
        const int pointers = host_pointers, others = other_buffers;
        const size_t before = status_of("VmRSS:");
        assert_int_equal(ipt_plan_execute_host(plan, data), IPT_SUCCESS);
        const size_t most = status_of("VmHWM:");
        assert_true(host_pointers == pointers + 1 && other_buffers == others);
        if (i && can_tell && before && most > before + bytes / 100)
            fail_msg("%zu bytes more were resident, for a matrix of %zu", most - before, bytes);
        size_t wrong = 0;
        for (size_t col = 0, k = 0; col < desc.cols; ++col)
            for (size_t row = 0; row < desc.rows; ++row, ++k)
                wrong += data[k] != (cl_uint)(row * desc.cols + col);
        assert_int_equal(wrong, 0);
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    free(data);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Executions in threads of their own */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct follower {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int open, cancel; /* open: progress continues */
    int waiting, finished;
    ipt_result result;
    char words[256];
} follower;

#define FOLLOWER                                                                                                       \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER                                         \
    }

static void set(follower *f, int *flag, int value)
{
    pthread_mutex_lock(&f->lock);
    *flag = value;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static int await(follower *f, const int *flag)
{
    pthread_mutex_lock(&f->lock);
    while (!*flag)
        pthread_cond_wait(&f->changed, &f->lock);
    const int value = *flag;
    pthread_mutex_unlock(&f->lock);
    return value;
}

static int wait_for_gate(size_t done, size_t total, void *user)
{
    follower *f = user;
    (void)done, (void)total;
    set(f, &f->waiting, 1);
    await(f, &f->open);
    return f->cancel;
}

static void on_finished(ipt_result result, void *user)
{
    follower *f = user;
    f->result = result;
    snprintf(f->words, sizeof f->words, "%.255s", ipt_context_error(NULL));
    set(f, &f->finished, f->finished + 1);
}

static cl_int status_of_event(cl_event event)
{
    cl_int status = 1;
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), 0);
    return status;
}

static void hostm_async(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_SCENE_COUNT; ++i)
        for (int cancel = 0; cancel < 2; ++cancel) {
            scene s = set_up(i, (ipt_allocator){0});
            follower f = FOLLOWER;
            const ipt_host_options options = {wait_for_gate, on_finished, &f};
            cl_event event = NULL;
            assert_int_equal(ipt_plan_execute_host_async(s.plan, s.p.data, &options, &event), IPT_SUCCESS);
            await(&f, &f.waiting); /* the call has returned, the progress callback has not */
            assert_true(event && status_of_event(event) > CL_COMPLETE && !f.finished);
            f.cancel = cancel;
            set(&f, &f.open, 1);
            await(&f, &f.finished);
            const int waited = clWaitForEvents(1, &event) == CL_SUCCESS, status = status_of_event(event);
            assert_int_equal(await(&f, &f.finished), 1);
            assert_int_equal(status, -(cl_int)f.result);
            assert_true(waited ||
                        f.result != IPT_SUCCESS); /* NVIDIA's driver returns success after waiting for a failed event */
            if (f.result == IPT_SUCCESS)
                assert_true(is_after(&s.p));
            else
                assert_true(cancel && test_mentions(f.words, "cancelled") &&
                            (f.result == IPT_ERROR_INCOMPLETE || (f.result == IPT_ERROR_CANCELLED && is_before(&s.p))));
            clReleaseEvent(event);
            change(LIVE_EVENT, -1); /* the event that ipt has made for the caller */
            /* Only the call's result reports a failure before the start. */
            static const int failing[] = {CALL_clCreateUserEvent, CALL_clRetainEvent};
            again(&s.p);
            for (size_t k = 0; k < TEST_COUNT(failing); ++k) {
                arm(0, 0, failing[k]);
                assert_int_not_equal(ipt_plan_execute_host_async(s.plan, s.p.data, &options, &event), IPT_SUCCESS);
                disarm();
                assert_true(!event && f.finished == 1 && is_before(&s.p));
            }
            /* Without an event. */
            f.cancel = f.finished = 0;
            assert_int_equal(ipt_plan_execute_host_async(s.plan, s.p.data, &options, NULL), IPT_SUCCESS);
            await(&f, &f.finished);
            assert_true(f.result == IPT_SUCCESS && is_after(&s.p));
            take_down(&s);
        }
}

/* Several concurrent executions of one plan and of different plans. Destroys the plans as soon as all have ended. */
static void hostm_async_at_once(void **state)
{
    (void)state;
    test_need_waiting_commands();
    enum { EACH = 3 };
    for (int round = 0; round < 3; ++round) {
        living before = living_now();
        ipt_context *context = open_context(SEPARATE);
        ipt_plan *plans[HOST_SCENE_COUNT] = {NULL};
        piece p[HOST_SCENE_COUNT * EACH];
        cl_event events[HOST_SCENE_COUNT * EACH];
        cl_uint count = 0;
        for (size_t i = 0; i < HOST_SCENE_COUNT; ++i) {
            scene s = scene_number(i);
            if (s.kind != SEPARATE)
                continue;
            plans[i] = make_plan(&context, s.split ? 1 : 0, &s.desc);
            for (int j = 0; j < EACH; ++j, ++count) {
                p[count] = take(&s.desc, NULL, TEST_GUARD);
                assert_int_equal(ipt_plan_execute_host_async(plans[i], p[count].data, NULL, &events[count]), 0);
            }
        }
        assert_int_equal(clWaitForEvents(count, events), CL_SUCCESS);
        for (size_t i = 0; i < HOST_SCENE_COUNT; ++i)
            ipt_plan_destroy(plans[i]);
        ipt_context_destroy(context);
        for (cl_uint i = 0; i < count; ++i) {
            assert_true(is_after(&p[i]));
            give_back(&p[i]);
            watch_clReleaseEvent(events[i]);
        }
        expect_no_leak(before); /* the threads have released their events: the next test counts events */
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Several devices, several threads */
/* ------------------------------------------------------------------------------------------------------------------ */

static void split_all(ipt_context **contexts, size_t count)
{
    static const uint32_t every_bit = ~(uint32_t)0;
    static const ipt_plan_desc descs[] = {
        {.rows = 900, .cols = 411, .elem_size = 4},
        {.rows = 411, .cols = 900, .elem_size = 3},
        {.rows = 3, .cols = 10007, .elem_size = 8, .host = IPT_HOST_OVERLAPPED, .host_queues = 5},
        {.rows = 64, .cols = 64, .elem_size = 4, .host_queues = 2},
        {.rows = 90, .cols = 41, .elem_size = 4, .batch = 7, .batch_stride = 90 * 41 * 4 + 12},
        {.rows = 90, .cols = 41, .elem_size = 4, .batch = 2, .expression = "~x", .expression_type = "uint"},
        {.rows = 91,
         .cols = 40,
         .elem_size = 4,
         .expression = "x ^ a",
         .expression_type = "uint",
         .expression_argument = &every_bit},
        {.rows = 200, .cols = 300, .elem_size = 4, .host_queues = 1}, /* more contexts than parts */
        {.rows = 1, .cols = 1000, .elem_size = 4},
        {.rows = 2, .cols = 1, .elem_size = 4},
        {.rows = 1, .cols = 1, .elem_size = 4}};
    for (size_t i = 0; i < TEST_COUNT(descs); ++i) {
        ipt_plan *plan = make_plan(contexts, count, &descs[i]);
        piece p = take(&descs[i], i % 2 ? contexts[0] : NULL, TEST_GUARD + i % 3);
        assert_true(ipt_plan_describe(plan)[0] && executes(plan, &p) && executes(plan, &p));
        give_back(&p);
        ipt_plan_destroy(plan);
    }
}

static void hostm_split_of_one_device(void **state)
{
    (void)state;
    const size_t most = test_kernels_at_once(5);
    living before = living_now();
    ipt_context *contexts[5];
    for (size_t i = 0; i < most; ++i)
        contexts[i] = open_context(i % 2 ? UNIFIED : SEPARATE);
    split_all(contexts, 1);
    if (most > 3)
        split_all(contexts, 3);
    split_all(contexts, most);
    for (size_t i = 0; i < most; ++i)
        ipt_context_destroy(contexts[i]);
    expect_no_leak(before);
}

static void hostm_split(void **state)
{
    (void)state;
    const size_t most = test_kernels_at_once(4);
    static const cl_device_partition_property parts[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_id devices[256] = {NULL};
    cl_uint found = 0;
    cl_int error = CL_SUCCESS;
    if (clCreateSubDevices(test_device, parts, 256, devices, &found) || found < 2)
        test_skip("the device has no parts that are devices");
    cl_context cl = clCreateContext(NULL, 2, devices, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    told_context = cl;
    memcpy(told_devices, devices, sizeof told_devices);
    living before = living_now();
    ipt_context *contexts[4], *alien = open_context(SEPARATE);
    for (size_t i = 0; i < 4; ++i)
        contexts[i] = open_in(cl, devices[i % 2], (ipt_allocator){0});
    split_all(contexts, 2);
    if (most == 4)
        split_all(contexts, 4);

    const ipt_plan_desc desc = {.rows = 900, .cols = 411, .elem_size = 4};
    ipt_plan *plan = make_plan(contexts, 2, &desc), *none = plan;
    piece p = take(&desc, NULL, 0);
    ipt_context *pair[2] = {contexts[0], alien};
    test_expect_error(ipt_plan_create_split(pair, 2, &desc, &none), INVALID, "contexts", "1");
    assert_null(none);
    cl_command_queue queue = clCreateCommandQueue(cl, devices[0], 0, &error);
    cl_mem one = clCreateBuffer(cl, CL_MEM_READ_WRITE, p.size, NULL, &error),
           two = clCreateBuffer(cl, CL_MEM_READ_WRITE, p.size, NULL, &error);
    cl_event event = (cl_event)&p;
    assert_true(queue && one && two);
    test_expect_error(ipt_plan_execute(plan, queue, one, 0, 0, NULL, &event), IPT_ERROR_UNSUPPORTED, "contexts", NULL);
    assert_null(event);
    test_expect_error(ipt_plan_execute_out_of_place(plan, queue, one, 0, two, 0, 0, NULL, NULL), IPT_ERROR_UNSUPPORTED,
                      "contexts", NULL);
    clReleaseMemObject(two);
    clReleaseMemObject(one);
    clReleaseCommandQueue(queue);
    /* Destroys the contexts before the plan. The plan still uses both devices. */
    for (size_t i = 0; i < 4; ++i)
        ipt_context_destroy(contexts[i]);
    memset(launched_on, 0, sizeof launched_on);
    memset(launches, 0, sizeof launches);
    assert_true(executes(plan, &p));
    assert_true(launches[0] && launches[1] && !launched_on[2]);
    assert_true((launched_on[0] == devices[0] && launched_on[1] == devices[1]) ||
                (launched_on[0] == devices[1] && launched_on[1] == devices[0]));
    ipt_plan_destroy(plan);
    ipt_context_destroy(alien);
    give_back(&p);
    expect_no_leak(before);
    clReleaseContext(cl);
    for (cl_uint i = 0; i < found; ++i)
        clReleaseDevice(devices[i]);
}

typedef struct worker {
    ipt_context *context;
    ipt_plan *plan;         /* shared by all workers */
    cl_command_queue queue; /* NULL: the plan cannot be executed on the device alone */
    cl_mem buffer;
    piece of_plan, own;
    int good;
} worker;

/* Executes the plan on a device buffer. It shares the workspace for host matrices. */
static int executes_on_device(worker *w)
{
    piece *const p = &w->of_plan;
    const size_t bytes = p->size - 2 * p->place;
    again(p);
    return !clEnqueueWriteBuffer(w->queue, w->buffer, CL_TRUE, 0, bytes, p->data, 0, NULL, NULL) &&
           !ipt_plan_execute(w->plan, w->queue, w->buffer, 0, 0, NULL, NULL) &&
           !clEnqueueReadBuffer(w->queue, w->buffer, CL_TRUE, 0, bytes, p->data, 0, NULL, NULL) && is_after(p);
}

static void *work(void *argument)
{
    worker *w = argument;
    w->good = 1;
    for (int i = 0; i < 6 && w->good; ++i) {
        void *memory = NULL;
        ipt_plan *plan = NULL;
        w->good = !ipt_plan_create(w->context, &w->own.desc, &plan) && executes(w->plan, &w->of_plan) &&
                  executes(plan, &w->own) && !ipt_host_alloc(w->context, 5000, &memory) &&
                  (!w->queue || executes_on_device(w));
        ipt_host_free(w->context, memory);
        ipt_plan_destroy(plan);
    }
    return NULL;
}

static void hostm_threads(void **state)
{
    (void)state;
    test_need_waiting_commands();
    enum { THREADS = 4 };
    const size_t count = test_kernels_at_once(THREADS); /* the threads' queues execute one kernel */
    for (size_t i = 0; i < SCENE_COUNT; ++i) {
        scene s = set_up(i, (ipt_allocator){0});
        worker workers[THREADS];
        pthread_t threads[THREADS];
        for (size_t t = 0; t < count; ++t) {
            ipt_plan_desc own = scene_number((i + t) % SCENE_COUNT).desc;
            own.host = own.host == IPT_HOST_SHARED ? IPT_HOST_AUTO : own.host;
            workers[t] = (worker){.context = s.contexts[0], .plan = s.plan};
            workers[t].of_plan = take(&s.desc, NULL, TEST_GUARD);
            workers[t].own = take(&own, t % 2 ? s.contexts[0] : NULL, 4);
            if (!s.split && !s.desc.max_device_memory && !s.desc.max_host_memory) {
                workers[t].queue = test_make_queue(test_cl_context, test_device, 0);
                workers[t].buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, s.p.size, NULL, NULL);
                assert_true(workers[t].queue && workers[t].buffer);
            }
        }
        for (size_t t = 0; t < count; ++t)
            assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
        for (size_t t = 0; t < count; ++t)
            pthread_join(threads[t], NULL);
        for (size_t t = 0; t < count; ++t) {
            assert_true(workers[t].good);
            if (workers[t].queue) {
                clReleaseMemObject(workers[t].buffer);
                clReleaseCommandQueue(workers[t].queue);
            }
            give_back(&workers[t].own);
            give_back(&workers[t].of_plan);
        }
        take_down(&s);
    }
}

const struct CMUnitTest test_host_matrices[] = {
    HOSTM_CASE(hostm_schemes),
    HOSTM_CASE(hostm_queues),
    HOSTM_CASE(hostm_parts),
    HOSTM_CASE(hostm_stages),
    HOSTM_CASE(hostm_expressions),
    HOSTM_CASE(hostm_through_pinned),
    HOSTM_CASE(hostm_bad_descs),
    HOSTM_CASE(hostm_bad_arguments),
    HOSTM_CASE(hostm_progress),
    HOSTM_CASE(hostm_faults),
    HOSTM_CASE(hostm_device_lost),
    HOSTM_CASE(hostm_faults_of_builds),
    HOSTM_CASE(hostm_allocator),
    HOSTM_CASE(hostm_device_memory),
    HOSTM_CASE(hostm_shared_takes_no_memory),
    HOSTM_CASE(hostm_async),
    HOSTM_CASE(hostm_async_at_once),
    HOSTM_CASE(hostm_split_of_one_device),
    HOSTM_CASE(hostm_split),
    HOSTM_CASE(hostm_threads),
    HOSTM_CASE(hostm_faults_of_parts),
    HOSTM_CASE(hostm_plans_nothing),
    HOSTM_CASE(hostm_synchronous_plans_less),
};
const size_t test_host_matrices_count = TEST_COUNT(test_host_matrices);
