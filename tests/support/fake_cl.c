#define _POSIX_C_SOURCE 200809L
#include "fake_cl.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------ */
/* Objects                                                                                                            */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { TABLE_ROWS = 1 << 14 };
enum { FAKE_WAITED_IN_VAIN = -14 }; /* CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST */
enum { FAKE_TOGETHER_GROUPS = 16, FAKE_TOGETHER_LANES = 32 };
enum { FAKE_ALIVE = 0x600d0b1e, FAKE_DEAD = 0x0ddead00, ARGUMENTS_MOST = 64, WAITS_MOST = 16 };

/* The beginning of every object. The stub frees no object, so that it can detect a use after release. */
typedef struct fake_object {
    struct fake_object *next; /* in the same row of the table */
    unsigned alive;
    fake_kind kind;
    long references; /* references of the user and of other objects */
    struct fake_object *context;
} fake_object;

typedef struct fake_buffer {
    fake_object object;
    unsigned char *bytes;
    size_t size;
    cl_mem_flags flags;
    int owns, maps;
    long writes;
} fake_buffer;

typedef struct fake_program {
    fake_object object;
    char *text;
    size_t length;
    int is_binary, built;
    cl_int judgement; /* the result of judge_code */
} fake_program;

typedef struct fake_argument {
    size_t bytes;
    unsigned char value[1024];
} fake_argument;

typedef struct fake_kernel {
    fake_object object;
    fake_program *program;
    char name[64];
    fake_argument arguments[ARGUMENTS_MOST];
    unsigned argument_count;
} fake_kernel;

typedef struct fake_queue {
    fake_object object;
    fake_device device;
    cl_command_queue_properties properties;
} fake_queue;

typedef struct fake_event {
    fake_object object;
    cl_int status;
    fake_queue *queue; /* NULL: a user event */
    int answered;      /* user events: the status was set, or a call tried to */
    cl_ulong time;
} fake_event;

/* A command that has not run yet. */
typedef struct fake_command {
    struct fake_command *next;
    fake_queue *queue;
    fake_event *event;
    fake_event *waits[WAITS_MOST];
    cl_uint wait_count;
    fake_buffer *buffers[ARGUMENTS_MOST]; /* the buffers that the command writes */
    unsigned buffer_count;
    /* A transfer, or a fill: rows of bytes. */
    unsigned char *to;
    const unsigned char *from;
    size_t row_bytes, rows, to_pitch, from_pitch, pattern_bytes;
    unsigned char pattern[16];
    const char *call;
    cl_int ends_with; /* below 0: the command fails with this status */
} fake_command;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* The lock guards the following. */
static long living[FAKE_KIND_COUNT];
static fake_object *all[TABLE_ROWS]; /* released ones included */
static fake_command *pending, **pending_end = &pending;
static int lazy, failing_all;
static long calls_left = -1;
static cl_int failing_error;
static const char *failed;
static long commands_left = -1;
static cl_int failing_status;
static const char *failed_command;
static unsigned long record;
static cl_ulong clock_now = 1000;
static cl_ulong told_global = (cl_ulong)1 << 34, told_allocation = (cl_ulong)1 << 32;

static const char *const kind_names[] = {"context", "queue", "buffer", "program", "kernel", "event"};
static int devices[FAKE_DEVICE_COUNT]; /* the address of an entry is the device's handle */
static int platform;
static const void *made_code; /* NULL: the code of a program is a mark and the program's text */
static size_t made_code_size;
static cl_int (*judge_code)(const unsigned char *code, size_t size);

static void wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "fake OpenCL: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    abort();
}

static size_t row_of(const fake_object *object)
{
    return ((size_t)object >> 4) % TABLE_ROWS;
}

static void *make(fake_kind kind, size_t bytes, fake_object *context)
{
    fake_object *const made = calloc(1, bytes);
    if (!made)
        wrong("out of memory");
    made->alive = FAKE_ALIVE;
    made->kind = kind;
    made->references = 1;
    made->context = context;
    if (context)
        ++context->references;
    made->next = all[row_of(made)];
    all[row_of(made)] = made;
    ++living[kind];
    return made;
}

/* Checks an object that is an argument of a call. */
static void *check(const void *pointer, fake_kind kind, const char *call)
{
    fake_object *const object = (fake_object *)pointer;
    if (!object)
        wrong("%s: the %s is NULL", call, kind_names[kind]);
    if (object->alive != FAKE_ALIVE)
        wrong("%s: the %s %s", call, kind_names[kind],
              object->alive == FAKE_DEAD ? "has been released" : "is no object at all");
    if (object->kind != kind)
        wrong("%s: a %s is no %s", call, kind_names[object->kind], kind_names[kind]);
    return object;
}

static void release(fake_object *object)
{
    if (--object->references)
        return;
    object->alive = FAKE_DEAD;
    --living[object->kind];
    if (object->kind == FAKE_BUFFER) {
        fake_buffer *const buffer = (fake_buffer *)object;
        if (buffer->maps)
            wrong("a buffer is released that is mapped");
        if (buffer->owns)
            free(buffer->bytes);
        buffer->bytes = NULL;
    } else if (object->kind == FAKE_PROGRAM) {
        free(((fake_program *)object)->text);
        ((fake_program *)object)->text = NULL;
    } else if (object->kind == FAKE_KERNEL)
        release(&((fake_kernel *)object)->program->object);
    else if (object->kind == FAKE_EVENT && ((fake_event *)object)->queue)
        release(&((fake_event *)object)->queue->object);
    else if (object->kind == FAKE_EVENT && !((fake_event *)object)->answered)
        wrong("a user event is released whose status nobody has set"); /* some drivers hang */
    if (object->context)
        release(object->context);
    /* The object's few bytes stay allocated, to detect a use after release. */
}

/* Adds bytes to a hash that depends on their order. */
static void note(const void *bytes, size_t count)
{
    size_t i;
    for (i = 0; i < count; ++i)
        record = (record ^ ((const unsigned char *)bytes)[i]) * (unsigned long)1099511628211ull;
}

static void note_text(const char *text)
{
    note(text, strlen(text));
}

static void note_number(size_t number)
{
    note(&number, sizeof number);
}

/* Whether this call fails. */
static int due(const char *name)
{
    const int now = calls_left == 0;
    if (calls_left > 0)
        --calls_left;
    if (!now)
        return 0;
    if (!failing_all)
        calls_left = -1;
    if (!failed)
        failed = name;
    return 1;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Commands                                                                                                           */
/* ------------------------------------------------------------------------------------------------------------------ */

static void finish_event(fake_event *event, cl_int status)
{
    event->status = status;
    event->time = clock_now += 100;
    pthread_cond_broadcast(&changed);
}

/* 1: the command may run; 0: not yet; below 0: a wait event has failed. */
static int may_run(const fake_command *command)
{
    cl_uint i;
    const fake_command *before;
    for (before = pending; before != command; before = before->next)
        if (before->queue == command->queue && !(command->queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
            return 0;
    for (i = 0; i < command->wait_count; ++i) {
        if (command->waits[i]->status < 0)
            return -1;
        if (command->waits[i]->status != CL_COMPLETE)
            return 0;
    }
    return 1;
}

/* Runs a command after its wait list. good: no wait event has failed. A command that itself fails writes garbage. */
static void run(fake_command *command, int good)
{
    size_t row, i;
    const int spoils = command->ends_with < 0;
    for (row = 0; good && row < command->rows; ++row) {
        unsigned char *const to = command->to + row * command->to_pitch;
        if (spoils)
            memset(to, 0xe5, command->row_bytes);
        else if (command->pattern_bytes)
            for (i = 0; i < command->row_bytes; ++i)
                to[i] = command->pattern[i % command->pattern_bytes];
        else
            memmove(to, command->from + row * command->from_pitch, command->row_bytes);
    }
    for (i = 0; good && i < command->buffer_count; ++i)
        ++command->buffers[i]->writes;
    if (good && spoils)
        failed_command = command->call;
    finish_event(command->event, !good ? FAKE_WAITED_IN_VAIN : spoils ? command->ends_with : CL_COMPLETE);
}

/* Runs the commands that may run, until this event has ended; NULL: all of them. */
static void run_pending(const fake_event *wanted)
{
    int again = 1;
    while (again) {
        fake_command **at = &pending;
        for (again = 0; *at && !again;) {
            fake_command *const command = *at;
            const int may = may_run(command);
            unsigned i;
            if (!may) {
                at = &command->next;
                continue;
            }
            again = 1;
            *at = command->next;
            if (!*at)
                pending_end = at;
            run(command, may > 0);
            for (i = 0; i < command->wait_count; ++i)
                release(&command->waits[i]->object);
            for (i = 0; i < command->buffer_count; ++i)
                release(&command->buffers[i]->object);
            release(&command->event->object);
            release(&command->queue->object);
            free(command);
        }
        if (wanted && (wanted->status <= CL_COMPLETE))
            return;
    }
}

static fake_command *command_for(fake_queue *queue, cl_uint count, const cl_event *list, const char *call)
{
    fake_command *const made = calloc(1, sizeof *made);
    cl_uint i;
    if (!made)
        wrong("out of memory");
    if (!count != !list)
        wrong("%s: %u events in a wait list at %p", call, count, (const void *)list);
    if (count > WAITS_MOST)
        wrong("%s: %u events are more than this OpenCL takes", call, count);
    for (i = 0; i < count; ++i) {
        made->waits[i] = check(list[i], FAKE_EVENT, call);
        if (made->waits[i]->object.context != queue->object.context)
            wrong("%s: an event of another context", call);
        ++made->waits[i]->object.references;
    }
    made->wait_count = count;
    made->queue = queue;
    ++queue->object.references;
    note_text(call);
    made->call = call;
    return made;
}

static void writes_to(fake_command *command, fake_buffer *buffer)
{
    ++buffer->object.references;
    command->buffers[command->buffer_count++] = buffer;
}

/* Enqueues a complete command. */
static cl_int enqueue(fake_command *command, cl_bool blocking, cl_event *event)
{
    cl_int status;
    fake_event *const its = make(FAKE_EVENT, sizeof *its, command->queue->object.context);
    its->status = CL_QUEUED;
    its->queue = command->queue;
    ++command->queue->object.references;
    command->event = its;
    ++its->object.references;
    command->next = NULL;
    if (commands_left == 0)
        command->ends_with = failing_status;
    if (commands_left >= 0)
        --commands_left;
    *pending_end = command;
    pending_end = &command->next;
    if (!lazy || blocking)
        run_pending(NULL);
    while (blocking && its->status > CL_COMPLETE) {
        pthread_cond_wait(&changed, &lock);
        run_pending(NULL);
    }
    status = blocking && its->status < 0 ? its->status : CL_SUCCESS;
    if (event)
        *event = (cl_event)its;
    else
        release(&its->object);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The functions for tests                                                                                            */
/* ------------------------------------------------------------------------------------------------------------------ */

cl_device_id fake_device_id(fake_device device)
{
    return (cl_device_id)(void *)&devices[device];
}

void fake_be_lazy(int wanted)
{
    pthread_mutex_lock(&lock);
    lazy = wanted;
    run_pending(NULL);
    pthread_mutex_unlock(&lock);
}

void fake_run(void)
{
    pthread_mutex_lock(&lock);
    run_pending(NULL);
    pthread_mutex_unlock(&lock);
}

void fake_tell_memory(cl_ulong global, cl_ulong allocation)
{
    pthread_mutex_lock(&lock);
    told_global = global;
    told_allocation = allocation;
    pthread_mutex_unlock(&lock);
}

void fake_fail_call(long n, cl_int error, int all_after)
{
    pthread_mutex_lock(&lock);
    calls_left = n;
    failing_error = error;
    failing_all = all_after;
    failed = NULL;
    pthread_mutex_unlock(&lock);
}

const char *fake_failed_call(void)
{
    const char *name;
    pthread_mutex_lock(&lock);
    name = failed;
    pthread_mutex_unlock(&lock);
    return name;
}

void fake_fail_command(long n, cl_int status)
{
    pthread_mutex_lock(&lock);
    commands_left = n;
    failing_status = status;
    failed_command = NULL;
    pthread_mutex_unlock(&lock);
}

const char *fake_failed_command(void)
{
    const char *name;
    pthread_mutex_lock(&lock);
    run_pending(NULL);
    name = failed_command;
    pthread_mutex_unlock(&lock);
    return name;
}

cl_int fake_status(cl_event event)
{
    cl_int status;
    pthread_mutex_lock(&lock);
    run_pending(NULL);
    status = ((fake_event *)check(event, FAKE_EVENT, "fake_status"))->status;
    pthread_mutex_unlock(&lock);
    return status;
}

long fake_references(cl_event event)
{
    long count;
    pthread_mutex_lock(&lock);
    count = ((fake_event *)check(event, FAKE_EVENT, "fake_references"))->object.references;
    pthread_mutex_unlock(&lock);
    return count;
}

long fake_living(void)
{
    long count = 0;
    int kind;
    pthread_mutex_lock(&lock);
    run_pending(NULL);
    for (kind = 0; kind < FAKE_KIND_COUNT; ++kind)
        count += living[kind];
    pthread_mutex_unlock(&lock);
    return count;
}

void fake_judge_codes(const void *made, size_t size, cl_int (*judge)(const unsigned char *code, size_t size))
{
    pthread_mutex_lock(&lock);
    made_code = made;
    made_code_size = size;
    judge_code = judge;
    pthread_mutex_unlock(&lock);
}

void fake_forget(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < TABLE_ROWS; ++i)
        for (fake_object **place = &all[i]; *place;) {
            fake_object *const object = *place;
            if (object->alive == FAKE_ALIVE)
                place = &object->next;
            else {
                *place = object->next;
                free(object);
            }
        }
    pthread_mutex_unlock(&lock);
}

long fake_writes(cl_mem buffer)
{
    long writes;
    pthread_mutex_lock(&lock);
    run_pending(NULL);
    writes = ((fake_buffer *)check(buffer, FAKE_BUFFER, "fake_writes"))->writes;
    pthread_mutex_unlock(&lock);
    return writes;
}

void fake_record(void)
{
    pthread_mutex_lock(&lock);
    record = (unsigned long)14695981039346656037ull;
    pthread_mutex_unlock(&lock);
}

unsigned long fake_recorded(void)
{
    unsigned long now;
    pthread_mutex_lock(&lock);
    now = record;
    pthread_mutex_unlock(&lock);
    return now;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Platforms and devices                                                                                              */
/* ------------------------------------------------------------------------------------------------------------------ */

static cl_int end(cl_int error)
{
    pthread_mutex_unlock(&lock);
    return error;
}

#define BEGIN(name)                                                                                                    \
    pthread_mutex_lock(&lock);                                                                                         \
    if (due(#name))                                                                                                    \
        return end(failing_error);

#define BEGIN_OBJECT(name)                                                                                             \
    pthread_mutex_lock(&lock);                                                                                         \
    if (due(#name)) {                                                                                                  \
        *error = failing_error;                                                                                        \
        pthread_mutex_unlock(&lock);                                                                                   \
        return NULL;                                                                                                   \
    }

/* Returns the answer to a query. */
static cl_int give(const void *answer, size_t answer_bytes, size_t capacity, void *value, size_t *bytes)
{
    if (value && capacity < answer_bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, answer_bytes);
    if (bytes)
        *bytes = answer_bytes;
    return CL_SUCCESS;
}

#define GIVE(type, answer)                                                                                             \
    do {                                                                                                               \
        const type given = (answer);                                                                                   \
        return end(give(&given, sizeof given, capacity, value, bytes));                                                \
    } while (0)
#define GIVE_TEXT(text) return end(give(text, strlen(text) + 1, capacity, value, bytes))

cl_int fake_clGetPlatformIDs(cl_uint capacity, cl_platform_id *platforms, cl_uint *count)
{
    BEGIN(clGetPlatformIDs)
    if (platforms && capacity)
        platforms[0] = (cl_platform_id)(void *)&platform;
    if (count)
        *count = 1;
    return end(CL_SUCCESS);
}

cl_int fake_clGetPlatformInfo(cl_platform_id id, cl_platform_info question, size_t capacity, void *value, size_t *bytes)
{
    BEGIN(clGetPlatformInfo)
    if ((void *)id != &platform)
        wrong("clGetPlatformInfo: no platform");
    if (question == CL_PLATFORM_VERSION)
        GIVE_TEXT("OpenCL 1.2 fake");
    GIVE_TEXT("Fake");
}

void *fake_clGetExtensionFunctionAddressForPlatform(cl_platform_id id, const char *name)
{
    (void)id;
    (void)name;
    return NULL;
}

cl_int fake_clGetDeviceIDs(cl_platform_id id, cl_device_type type, cl_uint capacity, cl_device_id *ids, cl_uint *count)
{
    cl_uint i, found = 0;
    BEGIN(clGetDeviceIDs)
    (void)id;
    for (i = 0; i < FAKE_DEVICE_COUNT; ++i)
        if (type & (i == FAKE_CPU ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU)) {
            if (ids && found < capacity)
                ids[found] = fake_device_id((fake_device)i);
            ++found;
        }
    if (count)
        *count = found;
    return end(found ? CL_SUCCESS : CL_DEVICE_NOT_FOUND);
}

static fake_device device_of(cl_device_id id, const char *call)
{
    const ptrdiff_t which = (int *)(void *)id - devices;
    if (which < 0 || which >= FAKE_DEVICE_COUNT)
        wrong("%s: no device", call);
    return (fake_device)which;
}

cl_int fake_clGetDeviceInfo(cl_device_id id, cl_device_info question, size_t capacity, void *value, size_t *bytes)
{
    static const char *const names[] = {"Fake CPU", "Fake GPU", "Fake GPU in the host's memory",
                                        "Fake GPU with work-groups that run together"};
    BEGIN(clGetDeviceInfo)
    const fake_device device = device_of(id, "clGetDeviceInfo");
    switch (question) {
    case CL_DEVICE_TYPE:
        GIVE(cl_device_type, device == FAKE_CPU ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU);
    case CL_DEVICE_NAME:
        GIVE_TEXT(names[device]);
    case CL_DEVICE_VENDOR:
        GIVE_TEXT("Nobody");
    case CL_DEVICE_VERSION:
        GIVE_TEXT("OpenCL 1.2 fake");
    case CL_DRIVER_VERSION:
        GIVE_TEXT("1.0");
    case CL_DEVICE_EXTENSIONS:
        GIVE_TEXT(device == FAKE_TOGETHER ? "cl_khr_byte_addressable_store cl_intel_subgroups"
                                          : "cl_khr_byte_addressable_store");
    case CL_DEVICE_PLATFORM:
        GIVE(cl_platform_id, (cl_platform_id)(void *)&platform);
    case CL_DEVICE_ADDRESS_BITS:
        GIVE(cl_uint, 64);
    case CL_DEVICE_COMPILER_AVAILABLE:
        GIVE(cl_bool, CL_TRUE);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        GIVE(cl_bool, device == FAKE_CPU || device == FAKE_UNIFIED);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        GIVE(cl_uint, device == FAKE_CPU ? 2 : 8);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        GIVE(size_t, device == FAKE_CPU ? 4096 : 1024);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        GIVE(cl_ulong, 48 << 10);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        GIVE(cl_ulong, told_global);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        GIVE(cl_ulong, told_allocation);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        GIVE(cl_uint, 1024);
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
        GIVE(cl_uint, 64);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        GIVE(cl_ulong, 1 << 20);
    default:
        return end(CL_INVALID_VALUE);
    }
}

cl_int fake_clRetainDevice(cl_device_id id)
{
    BEGIN(clRetainDevice)
    device_of(id, "clRetainDevice");
    return end(CL_SUCCESS);
}

cl_int fake_clReleaseDevice(cl_device_id id)
{
    pthread_mutex_lock(&lock);
    device_of(id, "clReleaseDevice");
    return end(CL_SUCCESS);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Contexts, queues, buffers                                                                                          */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A context works with all devices. Queries return the devices that it was created with. */
typedef struct fake_context {
    fake_object object;
    cl_device_id ids[FAKE_DEVICE_COUNT];
    cl_uint count;
} fake_context;

cl_context fake_clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *ids,
                                void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                                cl_int *error)
{
    fake_context *made;
    cl_uint i;
    BEGIN_OBJECT(clCreateContext)
    (void)properties;
    (void)notify;
    (void)user;
    if (!count || count > FAKE_DEVICE_COUNT || !ids)
        wrong("clCreateContext: %u devices", count);
    made = make(FAKE_CONTEXT, sizeof *made, NULL);
    made->count = count;
    for (i = 0; i < count; ++i) {
        device_of(ids[i], "clCreateContext");
        made->ids[i] = ids[i];
    }
    *error = end(CL_SUCCESS);
    return (cl_context)made;
}

/* Retains and releases for every kind of object that has them. */
#define RETAIN(name, type, wanted)                                                                                     \
    cl_int fake_##name(type pointer)                                                                                   \
    {                                                                                                                  \
        BEGIN(name)                                                                                                    \
        ++((fake_object *)check(pointer, wanted, #name))->references;                                                  \
        return end(CL_SUCCESS);                                                                                        \
    }
#define RELEASE(name, type, wanted)                                                                                    \
    cl_int fake_##name(type pointer)                                                                                   \
    {                                                                                                                  \
        pthread_mutex_lock(&lock);                                                                                     \
        release(check(pointer, wanted, #name));                                                                        \
        return end(CL_SUCCESS);                                                                                        \
    }
RETAIN(clRetainContext, cl_context, FAKE_CONTEXT)
RETAIN(clRetainEvent, cl_event, FAKE_EVENT)
RELEASE(clReleaseContext, cl_context, FAKE_CONTEXT)
RELEASE(clReleaseCommandQueue, cl_command_queue, FAKE_QUEUE)
RELEASE(clReleaseMemObject, cl_mem, FAKE_BUFFER)
RELEASE(clReleaseProgram, cl_program, FAKE_PROGRAM)
RELEASE(clReleaseKernel, cl_kernel, FAKE_KERNEL)
RELEASE(clReleaseEvent, cl_event, FAKE_EVENT)

cl_int fake_clGetContextInfo(cl_context context, cl_context_info question, size_t capacity, void *value, size_t *bytes)
{
    BEGIN(clGetContextInfo)
    const fake_context *const its = check(context, FAKE_CONTEXT, "clGetContextInfo");
    if (question == CL_CONTEXT_NUM_DEVICES)
        GIVE(cl_uint, its->count);
    if (question == CL_CONTEXT_DEVICES)
        return end(give(its->ids, its->count * sizeof *its->ids, capacity, value, bytes));
    return end(CL_INVALID_VALUE);
}

cl_command_queue fake_clCreateCommandQueue(cl_context context, cl_device_id id, cl_command_queue_properties properties,
                                           cl_int *error)
{
    fake_queue *made;
    BEGIN_OBJECT(clCreateCommandQueue)
    made = make(FAKE_QUEUE, sizeof *made, check(context, FAKE_CONTEXT, "clCreateCommandQueue"));
    made->device = device_of(id, "clCreateCommandQueue");
    made->properties = properties;
    *error = end(CL_SUCCESS);
    return (cl_command_queue)made;
}

cl_int fake_clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info question, size_t capacity, void *value,
                                  size_t *bytes)
{
    BEGIN(clGetCommandQueueInfo)
    const fake_queue *const its = check(queue, FAKE_QUEUE, "clGetCommandQueueInfo");
    if (question == CL_QUEUE_CONTEXT)
        GIVE(cl_context, (cl_context)its->object.context);
    if (question == CL_QUEUE_DEVICE)
        GIVE(cl_device_id, fake_device_id(its->device));
    if (question == CL_QUEUE_PROPERTIES)
        GIVE(cl_command_queue_properties, its->properties);
    return end(CL_INVALID_VALUE);
}

cl_mem fake_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *error)
{
    fake_buffer *made;
    BEGIN_OBJECT(clCreateBuffer)
    if (bytes > told_allocation) {
        *error = end(CL_INVALID_BUFFER_SIZE);
        return NULL;
    }
    if (!bytes || (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) ? !host : !!host))
        wrong("clCreateBuffer: %zu bytes, flags %lx, host pointer %p", bytes, (unsigned long)flags, host);
    made = make(FAKE_BUFFER, sizeof *made, check(context, FAKE_CONTEXT, "clCreateBuffer"));
    made->size = bytes;
    made->flags = flags;
    made->owns = !(flags & CL_MEM_USE_HOST_PTR);
    made->bytes = made->owns ? calloc(1, bytes) : host;
    if (made->owns && (flags & CL_MEM_COPY_HOST_PTR) && made->bytes)
        memcpy(made->bytes, host, bytes);
    *error = CL_SUCCESS;
    if (!made->bytes) {
        release(&made->object);
        made = NULL;
        *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    pthread_mutex_unlock(&lock);
    return (cl_mem)made;
}

cl_int fake_clGetMemObjectInfo(cl_mem buffer, cl_mem_info question, size_t capacity, void *value, size_t *bytes)
{
    BEGIN(clGetMemObjectInfo)
    const fake_buffer *const its = check(buffer, FAKE_BUFFER, "clGetMemObjectInfo");
    switch (question) {
    case CL_MEM_TYPE:
        GIVE(cl_mem_object_type, CL_MEM_OBJECT_BUFFER);
    case CL_MEM_CONTEXT:
        GIVE(cl_context, (cl_context)its->object.context);
    case CL_MEM_SIZE:
        GIVE(size_t, its->size);
    case CL_MEM_FLAGS:
        GIVE(cl_mem_flags, its->flags);
    case CL_MEM_HOST_PTR:
        GIVE(void *, its->owns ? NULL : its->bytes);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        GIVE(cl_mem, NULL);
    case CL_MEM_OFFSET:
        GIVE(size_t, 0);
    default:
        return end(CL_INVALID_VALUE);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Programs and kernels                                                                                               */
/* ------------------------------------------------------------------------------------------------------------------ */

static const char binary_mark[] = "fake binary of: ";

cl_program fake_clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                          cl_int *error)
{
    fake_program *made;
    cl_uint i;
    BEGIN_OBJECT(clCreateProgramWithSource)
    made = make(FAKE_PROGRAM, sizeof *made, check(context, FAKE_CONTEXT, "clCreateProgramWithSource"));
    for (i = 0; i < count; ++i) {
        const size_t length = lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
        made->text = realloc(made->text, made->length + length + 1);
        if (!made->text)
            wrong("out of memory");
        memcpy(made->text + made->length, texts[i], length);
        made->length += length;
        made->text[made->length] = 0;
    }
    *error = end(CL_SUCCESS);
    return (cl_program)made;
}

cl_program fake_clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *ids,
                                          const size_t *lengths, const unsigned char **binaries, cl_int *statuses,
                                          cl_int *error)
{
    const size_t mark = sizeof binary_mark - 1;
    fake_program *made;
    BEGIN_OBJECT(clCreateProgramWithBinary)
    if (count != 1)
        wrong("clCreateProgramWithBinary: %u devices", count);
    device_of(ids[0], "clCreateProgramWithBinary");
    check(context, FAKE_CONTEXT, "clCreateProgramWithBinary");
    const cl_int judgement = judge_code ? judge_code(binaries[0], lengths[0])
                             : lengths[0] < mark || memcmp(binaries[0], binary_mark, mark) ? CL_INVALID_BINARY
                                                                                           : CL_SUCCESS;
    if (judgement != CL_SUCCESS && judgement != CL_BUILD_PROGRAM_FAILURE) {
        if (statuses)
            statuses[0] = judgement;
        *error = end(judgement);
        return NULL;
    }
    made = make(FAKE_PROGRAM, sizeof *made, (fake_object *)context);
    made->judgement = judgement;
    if (!judge_code) {
        made->length = lengths[0] - mark;
        made->text = calloc(1, made->length + 1);
        memcpy(made->text, binaries[0] + mark, made->length);
    }
    made->is_binary = 1;
    if (statuses)
        statuses[0] = CL_SUCCESS;
    *error = end(CL_SUCCESS);
    return (cl_program)made;
}

cl_int fake_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *ids, const char *options,
                           void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    BEGIN(clBuildProgram)
    (void)count;
    (void)ids;
    (void)user;
    if (notify)
        wrong("clBuildProgram: this OpenCL does not call back");
    (void)options;
    fake_program *const its = check(program, FAKE_PROGRAM, "clBuildProgram");
    its->built = its->judgement == CL_SUCCESS;
    return end(its->judgement);
}

cl_int fake_clGetProgramInfo(cl_program program, cl_program_info question, size_t capacity, void *value, size_t *bytes)
{
    const size_t mark = sizeof binary_mark - 1;
    BEGIN(clGetProgramInfo)
    const fake_program *const its = check(program, FAKE_PROGRAM, "clGetProgramInfo");
    if (question == CL_PROGRAM_NUM_DEVICES)
        GIVE(cl_uint, 1);
    if (question == CL_PROGRAM_DEVICES)
        return end(give(((fake_context *)its->object.context)->ids, sizeof(cl_device_id), capacity, value, bytes));
    if (question == CL_PROGRAM_BINARY_SIZES)
        GIVE(size_t, made_code ? made_code_size : mark + its->length);
    if (question == CL_PROGRAM_BINARIES) {
        unsigned char *const to = *(unsigned char **)value;
        if (made_code) {
            memcpy(to, made_code, made_code_size);
            return end(CL_SUCCESS);
        }
        memcpy(to, binary_mark, mark);
        memcpy(to + mark, its->text, its->length);
        return end(CL_SUCCESS);
    }
    return end(CL_INVALID_VALUE);
}

cl_int fake_clGetProgramBuildInfo(cl_program program, cl_device_id id, cl_program_build_info question, size_t capacity,
                                  void *value, size_t *bytes)
{
    BEGIN(clGetProgramBuildInfo)
    check(program, FAKE_PROGRAM, "clGetProgramBuildInfo");
    device_of(id, "clGetProgramBuildInfo");
    if (question == CL_PROGRAM_BUILD_LOG)
        GIVE_TEXT("a log");
    return end(CL_INVALID_VALUE);
}

cl_kernel fake_clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    fake_program *its;
    fake_kernel *made;
    BEGIN_OBJECT(clCreateKernel)
    its = check(program, FAKE_PROGRAM, "clCreateKernel");
    if (!its->built)
        wrong("clCreateKernel: the program is not built");
    if ((its->text && !strstr(its->text, name)) || strlen(name) >= sizeof made->name)
        wrong("clCreateKernel: the program has no %s", name);
    made = make(FAKE_KERNEL, sizeof *made, its->object.context);
    made->program = its;
    ++its->object.references;
    memcpy(made->name, name, strlen(name) + 1);
    *error = end(CL_SUCCESS);
    return (cl_kernel)made;
}

cl_int fake_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id id, cl_kernel_work_group_info question,
                                     size_t capacity, void *value, size_t *bytes)
{
    BEGIN(clGetKernelWorkGroupInfo)
    check(kernel, FAKE_KERNEL, "clGetKernelWorkGroupInfo");
    if (question == CL_KERNEL_WORK_GROUP_SIZE)
        GIVE(size_t, device_of(id, "clGetKernelWorkGroupInfo") == FAKE_CPU ? 4096 : 1024);
    return end(CL_INVALID_VALUE);
}

cl_int fake_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    BEGIN(clSetKernelArg)
    fake_kernel *const its = check(kernel, FAKE_KERNEL, "clSetKernelArg");
    fake_argument *const argument = &its->arguments[index];
    if (index >= ARGUMENTS_MOST || !bytes || bytes > (value ? sizeof argument->value : (size_t)48 << 10))
        wrong("clSetKernelArg: argument %u of %zu bytes", index, bytes);
    argument->bytes = bytes;
    memset(argument->value, 0, sizeof argument->value);
    if (value)
        memcpy(argument->value, value, bytes);
    if (index >= its->argument_count)
        its->argument_count = index + 1;
    return end(CL_SUCCESS);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Commands                                                                                                           */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The buffer of an argument, alive or not; NULL: the argument is no buffer. */
static fake_buffer *buffer_in(const fake_argument *argument)
{
    fake_object *wanted, *next;
    if (argument->bytes != sizeof wanted)
        return NULL;
    memcpy(&wanted, argument->value, sizeof wanted);
    next = all[row_of(wanted)];
    while (next && next != wanted)
        next = next->next;
    return next && next->kind == FAKE_BUFFER ? (fake_buffer *)next : NULL;
}

/* A kernel with one buffer as both arguments probes the device: it counts resident work-groups or checks sub-groups.
 * FAKE_TOGETHER answers such kernels. */
static void answer(fake_command *command, const fake_kernel *kernel, size_t items)
{
    cl_uint words[2] = {0, 0};
    fake_buffer *const buffer = command->buffers[0];
    if (command->queue->device != FAKE_TOGETHER || command->buffer_count != 2 || buffer != command->buffers[1])
        return;
    if (strcmp(kernel->name, "ipt_k_panel") == 0)
        words[1] = FAKE_TOGETHER_GROUPS;
    else if (strcmp(kernel->name, "ipt_k_chains") == 0) {
        words[0] = FAKE_TOGETHER_LANES;
        words[1] = (cl_uint)items;
    } else
        return;
    memcpy(command->pattern, words, sizeof words);
    command->pattern_bytes = command->row_bytes = sizeof words;
    command->to = buffer->bytes;
    command->rows = 1;
}

cl_int fake_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                   const size_t *global, const size_t *local, cl_uint count, const cl_event *list,
                                   cl_event *event)
{
    fake_command *command;
    unsigned i;
    BEGIN(clEnqueueNDRangeKernel)
    const fake_kernel *const its = check(kernel, FAKE_KERNEL, "clEnqueueNDRangeKernel");
    fake_queue *const where = check(queue, FAKE_QUEUE, "clEnqueueNDRangeKernel");
    const size_t most = where->device == FAKE_CPU ? 4096 : 1024;
    size_t items = 1;
    if (dimensions < 1 || dimensions > 3 || !global)
        wrong("clEnqueueNDRangeKernel: %u dimensions", dimensions);
    if (its->object.context != where->object.context)
        wrong("clEnqueueNDRangeKernel: the kernel is of another context");
    command = command_for(where, count, list, "clEnqueueNDRangeKernel");
    note_text(its->name);
    for (i = 0; i < dimensions; ++i) {
        if (!global[i] || (local && (!local[i] || global[i] % local[i])))
            wrong("%s: %zu work-items in work-groups of %zu", its->name, global[i], local ? local[i] : 0);
        items *= local ? local[i] : 1;
        note_number(global[i]);
        note_number(local ? local[i] : 0);
        note_number(offset ? offset[i] : 0);
    }
    if (items > most)
        wrong("%s: work-groups of %zu work-items", its->name, items);
    for (i = 0; i < its->argument_count; ++i) {
        fake_buffer *const buffer = buffer_in(&its->arguments[i]);
        if (!its->arguments[i].bytes)
            wrong("%s: argument %u is not set", its->name, i);
        if (buffer) {
            check(buffer, FAKE_BUFFER, its->name);
            if (buffer->object.context != where->object.context)
                wrong("%s: a buffer of another context", its->name);
            writes_to(command, buffer);
        } else
            note(its->arguments[i].value, sizeof its->arguments[i].value);
    }
    answer(command, its, global[0]);
    return end(enqueue(command, CL_FALSE, event));
}

static unsigned char *range(fake_buffer *buffer, size_t offset, size_t bytes, const char *call)
{
    if (!bytes || offset > buffer->size || bytes > buffer->size - offset)
        wrong("%s: %zu bytes at %zu of a buffer of %zu", call, bytes, offset, buffer->size);
    note_number(offset);
    note_number(bytes);
    return buffer->bytes + offset;
}

cl_int fake_clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,
                                size_t offset, size_t bytes, cl_uint count, const cl_event *list, cl_event *event)
{
    fake_command *command;
    BEGIN(clEnqueueFillBuffer)
    fake_buffer *const its = check(buffer, FAKE_BUFFER, "clEnqueueFillBuffer");
    command = command_for(check(queue, FAKE_QUEUE, "clEnqueueFillBuffer"), count, list, "clEnqueueFillBuffer");
    if (!pattern_bytes || pattern_bytes > sizeof command->pattern || offset % pattern_bytes || bytes % pattern_bytes)
        wrong("clEnqueueFillBuffer: %zu bytes of %zu at %zu", bytes, pattern_bytes, offset);
    command->to = range(its, offset, bytes, "clEnqueueFillBuffer");
    memcpy(command->pattern, pattern, pattern_bytes);
    command->pattern_bytes = pattern_bytes;
    command->rows = 1;
    command->row_bytes = bytes;
    writes_to(command, its);
    return end(enqueue(command, CL_FALSE, event));
}

cl_int fake_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                                size_t bytes, cl_uint count, const cl_event *list, cl_event *event)
{
    fake_command *command;
    BEGIN(clEnqueueCopyBuffer)
    fake_buffer *const source = check(from, FAKE_BUFFER, "clEnqueueCopyBuffer");
    fake_buffer *const target = check(to, FAKE_BUFFER, "clEnqueueCopyBuffer");
    command = command_for(check(queue, FAKE_QUEUE, "clEnqueueCopyBuffer"), count, list, "clEnqueueCopyBuffer");
    if (source == target && from_offset < to_offset + bytes && to_offset < from_offset + bytes)
        wrong("clEnqueueCopyBuffer: %zu bytes at %zu and %zu overlap", bytes, from_offset, to_offset);
    command->from = range(source, from_offset, bytes, "clEnqueueCopyBuffer");
    command->to = range(target, to_offset, bytes, "clEnqueueCopyBuffer");
    command->rows = 1;
    command->row_bytes = bytes;
    writes_to(command, target);
    return end(enqueue(command, CL_FALSE, event));
}

cl_int fake_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                                 const void *data, cl_uint count, const cl_event *list, cl_event *event)
{
    fake_command *command;
    BEGIN(clEnqueueWriteBuffer)
    fake_buffer *const its = check(buffer, FAKE_BUFFER, "clEnqueueWriteBuffer");
    command = command_for(check(queue, FAKE_QUEUE, "clEnqueueWriteBuffer"), count, list, "clEnqueueWriteBuffer");
    command->to = range(its, offset, bytes, "clEnqueueWriteBuffer");
    command->from = data;
    command->rows = 1;
    command->row_bytes = bytes;
    writes_to(command, its);
    return end(enqueue(command, blocking, event));
}

cl_int fake_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                                void *data, cl_uint count, const cl_event *list, cl_event *event)
{
    fake_command *command;
    BEGIN(clEnqueueReadBuffer)
    fake_buffer *const its = check(buffer, FAKE_BUFFER, "clEnqueueReadBuffer");
    command = command_for(check(queue, FAKE_QUEUE, "clEnqueueReadBuffer"), count, list, "clEnqueueReadBuffer");
    command->from = range(its, offset, bytes, "clEnqueueReadBuffer");
    command->to = data;
    command->rows = 1;
    command->row_bytes = bytes;
    return end(enqueue(command, blocking, event));
}

/* Copies a rectangle of two dimensions between a buffer and host memory. */
static cl_int rectangle(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin,
                        const size_t *host_origin, const size_t *region, size_t pitch, size_t host_pitch,
                        unsigned char *data, int download, cl_uint count, const cl_event *list, cl_event *event,
                        const char *call)
{
    fake_buffer *const its = check(buffer, FAKE_BUFFER, call);
    fake_command *const command = command_for(check(queue, FAKE_QUEUE, call), count, list, call);
    const size_t device_pitch = pitch ? pitch : region[0], its_pitch = host_pitch ? host_pitch : region[0];
    const size_t begin = origin[1] * device_pitch + origin[0];
    unsigned char *device, *const host = data + host_origin[1] * its_pitch + host_origin[0];
    if (region[2] != 1 || origin[2] || host_origin[2] || device_pitch < region[0] || its_pitch < region[0] ||
        !region[1])
        wrong("%s: %zu x %zu x %zu bytes, pitches %zu and %zu", call, region[0], region[1], region[2], device_pitch,
              its_pitch);
    device = range(its, begin, (region[1] - 1) * device_pitch + region[0], call);
    note_number(its_pitch);
    command->rows = region[1];
    command->row_bytes = region[0];
    command->to = download ? host : device;
    command->to_pitch = download ? its_pitch : device_pitch;
    command->from = download ? device : host;
    command->from_pitch = download ? device_pitch : its_pitch;
    if (!download)
        writes_to(command, its);
    return enqueue(command, blocking, event);
}

cl_int fake_clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin,
                                     const size_t *host_origin, const size_t *region, size_t row, size_t slice,
                                     size_t host_row, size_t host_slice, const void *data, cl_uint count,
                                     const cl_event *list, cl_event *event)
{
    BEGIN(clEnqueueWriteBufferRect)
    (void)slice;
    (void)host_slice;
    return end(rectangle(queue, buffer, blocking, origin, host_origin, region, row, host_row, (unsigned char *)data, 0,
                         count, list, event, "clEnqueueWriteBufferRect"));
}

cl_int fake_clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin,
                                    const size_t *host_origin, const size_t *region, size_t row, size_t slice,
                                    size_t host_row, size_t host_slice, void *data, cl_uint count, const cl_event *list,
                                    cl_event *event)
{
    BEGIN(clEnqueueReadBufferRect)
    (void)slice;
    (void)host_slice;
    return end(rectangle(queue, buffer, blocking, origin, host_origin, region, row, host_row, data, 1, count, list,
                         event, "clEnqueueReadBufferRect"));
}

void *fake_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                              size_t offset, size_t bytes, cl_uint count, const cl_event *list, cl_event *event,
                              cl_int *error)
{
    fake_buffer *its;
    fake_command *command;
    unsigned char *mapped;
    BEGIN_OBJECT(clEnqueueMapBuffer)
    (void)flags;
    its = check(buffer, FAKE_BUFFER, "clEnqueueMapBuffer");
    command = command_for(check(queue, FAKE_QUEUE, "clEnqueueMapBuffer"), count, list, "clEnqueueMapBuffer");
    mapped = range(its, offset, bytes, "clEnqueueMapBuffer");
    ++its->maps;
    *error = enqueue(command, blocking, event);
    if (*error)
        --its->maps;
    return end(0) ? NULL : *error ? NULL : mapped;
}

cl_int fake_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void *mapped, cl_uint count,
                                    const cl_event *list, cl_event *event)
{
    fake_buffer *its;
    int mapped_now;
    pthread_mutex_lock(&lock);
    its = check(buffer, FAKE_BUFFER, "clEnqueueUnmapMemObject");
    mapped_now = its->maps--; /* the memory counts as unmapped even if the call fails */
    if (due("clEnqueueUnmapMemObject"))
        return end(failing_error);
    if (!mapped_now || (unsigned char *)mapped < its->bytes || (unsigned char *)mapped >= its->bytes + its->size)
        wrong("clEnqueueUnmapMemObject: not mapped, or not there");
    return end(enqueue(
        command_for(check(queue, FAKE_QUEUE, "clEnqueueUnmapMemObject"), count, list, "clEnqueueUnmapMemObject"),
        CL_FALSE, event));
}

cl_int fake_clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *list, cl_event *event)
{
    BEGIN(clEnqueueMarkerWithWaitList)
    return end(enqueue(command_for(check(queue, FAKE_QUEUE, "clEnqueueMarkerWithWaitList"), count, list,
                                   "clEnqueueMarkerWithWaitList"),
                       CL_FALSE, event));
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Events                                                                                                             */
/* ------------------------------------------------------------------------------------------------------------------ */

cl_event fake_clCreateUserEvent(cl_context context, cl_int *error)
{
    fake_event *made;
    BEGIN_OBJECT(clCreateUserEvent)
    made = make(FAKE_EVENT, sizeof *made, check(context, FAKE_CONTEXT, "clCreateUserEvent"));
    made->status = CL_SUBMITTED;
    *error = end(CL_SUCCESS);
    return (cl_event)made;
}

cl_int fake_clSetUserEventStatus(cl_event event, cl_int status)
{
    fake_event *its;
    pthread_mutex_lock(&lock);
    its = check(event, FAKE_EVENT, "clSetUserEventStatus");
    its->answered = 1;
    if (due("clSetUserEventStatus"))
        return end(failing_error);
    if (its->queue || its->status <= CL_COMPLETE || status > CL_COMPLETE)
        wrong("clSetUserEventStatus: %d, for an event that is %d", status, its->status);
    finish_event(its, status);
    run_pending(NULL);
    return end(CL_SUCCESS);
}

cl_int fake_clWaitForEvents(cl_uint count, const cl_event *list)
{
    cl_uint i;
    cl_int error = CL_SUCCESS;
    int fails;
    pthread_mutex_lock(&lock);
    fails = due("clWaitForEvents");
    if (!count || !list)
        wrong("clWaitForEvents: %u events at %p", count, (const void *)list);
    for (i = 0; i < count; ++i) {
        fake_event *const its = check(list[i], FAKE_EVENT, "clWaitForEvents");
        run_pending(its);
        while (its->status > CL_COMPLETE) {
            pthread_cond_wait(&changed, &lock);
            run_pending(its);
        }
        if (its->status < 0)
            error = FAKE_WAITED_IN_VAIN;
    }
    return end(fails ? failing_error : error);
}

cl_int fake_clGetEventInfo(cl_event event, cl_event_info question, size_t capacity, void *value, size_t *bytes)
{
    BEGIN(clGetEventInfo)
    const fake_event *const its = check(event, FAKE_EVENT, "clGetEventInfo");
    if (question == CL_EVENT_COMMAND_EXECUTION_STATUS)
        GIVE(cl_int, its->status);
    if (question == CL_EVENT_CONTEXT)
        GIVE(cl_context, (cl_context)its->object.context);
    if (question == CL_EVENT_COMMAND_QUEUE)
        GIVE(cl_command_queue, (cl_command_queue)its->queue);
    return end(CL_INVALID_VALUE);
}

cl_int fake_clGetEventProfilingInfo(cl_event event, cl_profiling_info question, size_t capacity, void *value,
                                    size_t *bytes)
{
    BEGIN(clGetEventProfilingInfo)
    const fake_event *const its = check(event, FAKE_EVENT, "clGetEventProfilingInfo");
    if (!its->queue || !(its->queue->properties & CL_QUEUE_PROFILING_ENABLE) || its->status != CL_COMPLETE)
        return end(CL_PROFILING_INFO_NOT_AVAILABLE);
    GIVE(cl_ulong, question == CL_PROFILING_COMMAND_END ? its->time : its->time - 50);
}

cl_int fake_clFlush(cl_command_queue queue)
{
    BEGIN(clFlush)
    check(queue, FAKE_QUEUE, "clFlush");
    return end(CL_SUCCESS);
}

cl_int fake_clFinish(cl_command_queue queue)
{
    int fails, busy = 1;
    pthread_mutex_lock(&lock);
    fails = due("clFinish");
    check(queue, FAKE_QUEUE, "clFinish");
    while (busy) {
        const fake_command *command;
        run_pending(NULL);
        for (busy = 0, command = pending; command; command = command->next)
            busy |= (cl_command_queue)command->queue == queue;
        if (busy)
            pthread_cond_wait(&changed, &lock);
    }
    return end(fails ? failing_error : CL_SUCCESS);
}
