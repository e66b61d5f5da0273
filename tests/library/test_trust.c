/* Every OpenCL call of each public function fails in turn, on the OpenCL stub (fake_cl.c), which checks more than
 * drivers do. If no command that could change the matrix was enqueued, no byte changes. Nothing leaks, and the message
 * names the call. Afterwards the plan makes the same calls as a plan that never failed. Also, every enqueued command
 * ends with an error once: possible changes of a matrix are reported. Needs no device. */
#define IPT__BLOCK_BYTES_LEAST 1
#define IPT__BUS_RUN_BYTES 1
#include "fake_world.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------------ */
/* Worlds: a context, a plan, a matrix, and an act, the function under test */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct world {
    const struct scenario *scenario;
    ipt_context *context, *second;
    ipt_plan *plan, *beside;
    int ended_badly; /* the event of an execution reported a failure */
    size_t bytes;
    void *memory; /* bytes + 64 bytes; pinned in some scenarios */
    unsigned char *data;
    cl_context cl;
    cl_command_queue queue, second_queue; /* the second one is out of order */
    cl_mem buffer, other;
} world;

typedef struct scenario {
    const char *name;
    fake_device device;
    const char *pinned; /* a part of the plan's description, if the matrix is in pinned memory */
    int split, beside;
    ipt_plan_desc desc;
    ipt_result (*act)(world *w); /* uses `plan`, if it exists */
    int makes_plan;              /* act creates a plan, which is destroyed afterwards */
    int tries;                   /* the act probes the device, and does without features that fail */
    int remembers;               /* the context remembers a failed feature */
    int no_context;              /* no context exists before the act */
} scenario;

static ipt_result act_list(world *w)
{
    cl_device_id ids[8];
    size_t count;
    (void)w;
    return ipt_device_list(ids, 8, &count);
}

static ipt_result act_describe(world *w)
{
    char text[600];
    return ipt_device_describe(fake_device_id(w->scenario->device), text, sizeof text);
}

static ipt_result make_context(world *w, ipt_context **made)
{
    return fake_make_context(w->cl, w->scenario->device, "", made);
}

static ipt_result act_context(world *w)
{
    return make_context(w, &w->context);
}

static ipt_result act_context_by_name(world *w)
{
    ipt_context_desc desc = {0};
    desc.device_name = w->scenario->device == FAKE_CPU ? "Fake CPU" : "Fake GPU";
    desc.cache_dir = "";
    return ipt_context_create(&desc, &w->context);
}

static ipt_result act_profile(world *w)
{
    char text[4000];
    size_t bytes;
    return ipt_context_profile(w->context, text, sizeof text, &bytes);
}

static ipt_result act_wisdom(world *w)
{
    char text[4000];
    size_t bytes;
    const ipt_result result = ipt_wisdom_export(w->context, text, sizeof text, &bytes);
    return result ? result : ipt_wisdom_import(w->context, text);
}

static ipt_result act_alloc(world *w)
{
    void *memory = NULL;
    const ipt_result result = ipt_host_alloc(w->context, 1000, &memory);
    assert_true(!result == !!memory);
    ipt_host_free(w->context, memory);
    return result;
}

static ipt_result make_plan(world *w, ipt_plan **plan)
{
    ipt_context *both[2] = {w->context, w->second};
    return w->scenario->split ? ipt_plan_create_split(both, 2, &w->scenario->desc, plan)
                              : ipt_plan_create(w->context, &w->scenario->desc, plan);
}

static ipt_result act_plan(world *w)
{
    return make_plan(w, &w->plan);
}

/* Waits for the event, which must exist exactly if commands were enqueued. */
static ipt_result await(world *w, ipt_result result, cl_event event)
{
    if ((result == IPT_SUCCESS || result == IPT_ERROR_INCOMPLETE) != (event != NULL))
        fail_msg("%s: %s and %s event after %s", w->scenario->name, ipt_result_string(result), event ? "an" : "no",
                 fake_failed_call());
    if (event) {
        w->ended_badly |= fake_status(event) < 0;
        fake_clReleaseEvent(event);
    }
    return result;
}

static ipt_result act_execute(world *w)
{
    cl_event event = (cl_event)(void *)w; /* must be overwritten */
    const ipt_result result = ipt_plan_execute(w->plan, w->queue, w->buffer, 0, 0, NULL, &event);
    return await(w, result, event);
}

/* Executes two cooperative plans, which share queues but no workspace. Each execution waits for the previous one, and
 * the last one also for two events. */
static ipt_result act_crossed(world *w)
{
    cl_event events[2] = {NULL, NULL}, last = NULL;
    int i;
    ipt_result result = ipt_plan_execute(w->plan, w->queue, w->other, 0, 0, NULL, &events[0]);
    if (!result) {
        result = ipt_plan_execute(w->beside, w->second_queue, w->other, 0, 0, NULL, &events[1]);
        if (!result) {
            result = ipt_plan_execute(w->plan, w->second_queue, w->buffer, 0, 2, events, &last);
            await(w, result, last);
        }
    }
    for (i = 0; i < 2; ++i)
        if (events[i])
            await(w, IPT_SUCCESS, events[i]);
    return result;
}

static ipt_result act_out_of_place(world *w)
{
    cl_event event = (cl_event)(void *)w;
    const ipt_result result =
        ipt_plan_execute_out_of_place(w->plan, w->queue, w->other, 0, w->buffer, 0, 0, NULL, &event);
    return await(w, result, event);
}

static ipt_result act_host(world *w)
{
    return ipt_plan_execute_host(w->plan, w->data);
}

typedef struct ending {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int has_ended;
    ipt_result result;
    char message[300];
} ending;

static void on_finished(ipt_result result, void *user)
{
    ending *const its = user;
    pthread_mutex_lock(&its->lock);
    its->result = result;
    snprintf(its->message, sizeof its->message, "%.290s", ipt_context_error(NULL));
    its->has_ended = 1;
    pthread_cond_signal(&its->ended);
    pthread_mutex_unlock(&its->lock);
}

/* The callback receives the result. The event has the same status, unless setting the status failed. */
static ipt_result act_async(world *w)
{
    ending its = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, IPT_SUCCESS, ""};
    const ipt_host_options options = {NULL, on_finished, &its};
    cl_event event = NULL;
    ipt_result result = ipt_plan_execute_host_async(w->plan, w->data, &options, &event);
    assert_true(!result == !!event);
    if (!event)
        return result;
    pthread_mutex_lock(&its.lock);
    while (!its.has_ended)
        pthread_cond_wait(&its.ended, &its.lock);
    pthread_mutex_unlock(&its.lock);
    while (fake_references(event) > 1) /* ipt's thread releases the event at its end */
        sched_yield();
    if (fake_status(event) <= CL_COMPLETE)
        assert_int_equal(-fake_status(event), its.result);
    else
        assert_non_null(fake_failed_call());
    fake_clReleaseEvent(event);
    if (its.result) /* the failing thread's message */
        ipt__fail(its.result, "%s", its.message);
    return its.result;
}

static ipt_result act_storage(world *w)
{
    const ipt_storage storage = {fake_store_read, fake_store_write, NULL, w->data, NULL, 0};
    return ipt_plan_execute_storage(w->plan, &storage);
}

#define TWO_PASS                                                                                                       \
    {                                                                                                                  \
        .rows = 37, .cols = 23, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_m = 5,                        \
        .flags = IPT_NO_COOPERATIVE, .host = IPT_HOST_SYNCHRONOUS                                                      \
    }

/* Panels that several work-groups store in local memory, and remaining rows. */
#define TOGETHER                                                                                                       \
    {                                                                                                                  \
        .rows = 371, .cols = 230, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_m = 50,                     \
        .host = IPT_HOST_SYNCHRONOUS                                                                                   \
    }

static const scenario scenarios[] = {
    {.name = "ipt_device_list", .act = act_list, .no_context = 1},
    {.name = "ipt_device_describe", .act = act_describe, .no_context = 1},
    {.name = "ipt_context_create", .act = act_context, .no_context = 1},
    {.name = "ipt_context_create, GPU", .device = FAKE_GPU, .act = act_context, .no_context = 1},
    {.name = "ipt_context_create, by name", .device = FAKE_GPU, .act = act_context_by_name, .no_context = 1},
    {.name = "ipt_context_profile", .act = act_profile},
    {.name = "ipt_wisdom_export, import", .act = act_wisdom},
    {.name = "ipt_host_alloc", .act = act_alloc},
    {.name = "ipt_plan_create", .act = act_plan, .makes_plan = 1, .desc = TWO_PASS},
    {.name = "ipt_plan_create, GPU",
     .device = FAKE_GPU,
     .act = act_plan,
     .makes_plan = 1,
     .tries = 1,
     .desc = {.rows = 370, .cols = 230, .elem_size = 4}},
    {.name = "ipt_plan_create, measured",
     .device = FAKE_GPU,
     .act = act_plan,
     .makes_plan = 1,
     .tries = 1,
     .desc = {.rows = 37, .cols = 23, .elem_size = 4, .flags = IPT_MEASURE | IPT_NO_COOPERATIVE}},
    {.name = "ipt_plan_create, padded",
     .act = act_plan,
     .makes_plan = 1,
     .desc = {.rows = 37, .cols = 23, .elem_size = 4, .flags = IPT_PAD, .sequence = IPT_SEQUENCE_3_1}},
    {.name = "ipt_plan_create_split",
     .split = 1,
     .act = act_plan,
     .makes_plan = 1,
     .desc = {.rows = 37, .cols = 23, .elem_size = 4, .host = IPT_HOST_OVERLAPPED}},
    {.name = "ipt_plan_create, cut",
     .act = act_plan,
     .makes_plan = 1,
     .desc = {.rows = 530, .cols = 37, .elem_size = 4, .max_device_memory = 40000, .host = IPT_HOST_OVERLAPPED}},
    {.name = "ipt_plan_execute", .act = act_execute, .desc = TWO_PASS},
    {.name = "ipt_plan_execute, GPU",
     .device = FAKE_GPU,
     .act = act_execute,
     .desc = {.rows = 370, .cols = 230, .elem_size = 4, .flags = IPT_NO_COOPERATIVE}},
    {.name = "ipt_context_profile, together", .device = FAKE_TOGETHER, .act = act_profile, .tries = 1},
    {.name = "ipt_plan_create, together",
     .device = FAKE_TOGETHER,
     .act = act_plan,
     .makes_plan = 1,
     .tries = 1,
     .remembers = 1,
     .desc = TOGETHER},
    {.name = "ipt_plan_execute, together, tall", .device = FAKE_TOGETHER, .act = act_execute, .desc = TOGETHER},
    {.name = "ipt_plan_execute, together, wide",
     .device = FAKE_TOGETHER,
     .act = act_execute,
     .desc = {.rows = 230, .cols = 371, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_n = 50}},
    {.name = "ipt_plan_execute, together, batch",
     .device = FAKE_TOGETHER,
     .act = act_execute,
     .desc = {.rows = 371, .cols = 230, .elem_size = 4, .batch = 3, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_m = 50}},
    {.name = "ipt_plan_execute, together, one pass",
     .device = FAKE_TOGETHER,
     .act = act_execute,
     .desc = {.rows = 370, .cols = 230, .elem_size = 4}},
    {.name = "ipt_plan_execute, together, crossed",
     .device = FAKE_TOGETHER,
     .beside = 1,
     .act = act_crossed,
     .desc = TOGETHER},
    {.name = "ipt_plan_execute_host, together", .device = FAKE_TOGETHER, .act = act_host, .desc = TOGETHER},
    {.name = "ipt_plan_execute, batch", .act = act_execute, .desc = {.rows = 7, .cols = 5, .elem_size = 3, .batch = 9}},
    {.name = "ipt_plan_execute, square",
     .act = act_execute,
     .desc = {.rows = 64, .cols = 64, .elem_size = 8, .sequence = IPT_SEQUENCE_SQUARE}},
    {.name = "ipt_plan_execute_out_of_place",
     .act = act_out_of_place,
     .desc = {.rows = 37, .cols = 23, .elem_size = 4, .flags = IPT_OUT_OF_PLACE}},
    {.name = "ipt_plan_execute_host, synchronous", .act = act_host, .desc = TWO_PASS},
    {.name = "ipt_plan_execute_host, overlapped",
     .device = FAKE_GPU,
     .act = act_host,
     .desc = {.rows = 90,
              .cols = 23,
              .elem_size = 4,
              .flags = IPT_NO_COOPERATIVE,
              .host = IPT_HOST_OVERLAPPED,
              .host_queues = 3}},
    {.name = "ipt_plan_execute_host, overlapped batch",
     .act = act_host,
     .desc = {.rows = 9, .cols = 23, .elem_size = 4, .batch = 7, .host = IPT_HOST_OVERLAPPED, .host_queues = 3}},
    {.name = "ipt_plan_execute_host, by stages",
     .act = act_host,
     .desc = {.rows = 60,
              .cols = 84,
              .elem_size = 4,
              .sequence = IPT_SEQUENCE_3_1,
              .tile_m = 6,
              .tile_n = 7,
              .flags = IPT_NO_COOPERATIVE,
              .host = IPT_HOST_STAGES,
              .host_queues = 3}},
    {.name = "ipt_plan_execute_host, shared",
     .device = FAKE_UNIFIED,
     .act = act_host,
     .desc = {.rows = 37, .cols = 23, .elem_size = 4, .host = IPT_HOST_SHARED}},
    {.name = "ipt_plan_execute_host, split",
     .split = 1,
     .act = act_host,
     .desc = {.rows = 90, .cols = 23, .elem_size = 4, .host = IPT_HOST_OVERLAPPED}},
    {.name = "ipt_plan_execute_host, cut",
     .act = act_host,
     .desc = {.rows = 530, .cols = 37, .elem_size = 4, .max_device_memory = 40000, .host = IPT_HOST_OVERLAPPED}},
    {.name = "ipt_plan_execute_host, pinned blocks",
     .device = FAKE_GPU,
     .pinned = " columns to each",
     .act = act_host,
     .desc = {.rows = 20,
              .cols = 21,
              .elem_size = 2560,
              .max_device_memory = 330000,
              .flags = IPT_NO_COOPERATIVE,
              .host = IPT_HOST_OVERLAPPED}},
    {.name = "ipt_plan_execute_host, pinned bands",
     .device = FAKE_GPU,
     .pinned = " bands of ",
     .act = act_host,
     .desc = {.rows = 89,
              .cols = 70,
              .elem_size = 64,
              .max_device_memory = 170000,
              .flags = IPT_NO_COOPERATIVE,
              .host = IPT_HOST_OVERLAPPED}},
    {.name = "ipt_plan_execute_host_async", .act = act_async, .desc = TWO_PASS},
    {.name = "ipt_plan_execute_storage",
     .act = act_storage,
     .desc = {.rows = 530, .cols = 37, .elem_size = 4, .max_host_memory = 50000}},
};

/* ------------------------------------------------------------------------------------------------------------------ */

static void fill(const world *w)
{
    size_t i;
    for (i = 0; i < w->bytes; ++i)
        w->data[i] = (unsigned char)(i * 7 + i / 256);
}

/* Whether no byte of the matrix has changed. The stub's kernels do not move bytes: only transfers can change them. */
static int is_filled(const world *w)
{
    size_t i;
    for (i = 0; i < w->bytes; ++i)
        if (w->data[i] != (unsigned char)(i * 7 + i / 256))
            return 0;
    return 1;
}

static world open_world(const scenario *s)
{
    world w = {.scenario = s};
    fake_fail_call(-1, 0, 0);
    w.cl = fake_make_cl(s->device);
    if (!s->no_context) {
        assert_int_equal(make_context(&w, &w.context), IPT_SUCCESS);
        if (s->split)
            assert_int_equal(make_context(&w, &w.second), IPT_SUCCESS);
    }
    if (!s->desc.rows)
        return w;
    if (!s->makes_plan)
        assert_int_equal(make_plan(&w, &w.plan), IPT_SUCCESS);
    assert_true(!s->pinned || strstr(ipt_plan_describe(w.plan), s->pinned));
    if (s->beside)
        assert_int_equal(make_plan(&w, &w.beside), IPT_SUCCESS);
    w.bytes = s->desc.rows * s->desc.cols * s->desc.elem_size * (s->desc.batch ? s->desc.batch : 1);
    if (s->pinned)
        assert_int_equal(ipt_host_alloc(w.context, w.bytes, &w.memory), IPT_SUCCESS);
    else
        w.memory = malloc(w.bytes);
    w.data = w.memory;
    assert_non_null(w.data);
    fill(&w);
    w.queue = fake_make_queue(w.cl, s->device, 0);
    w.second_queue = fake_make_queue(w.cl, s->device, 1);
    w.buffer = fake_make_buffer(w.cl, CL_MEM_READ_WRITE, w.bytes);
    w.other = fake_make_buffer(w.cl, CL_MEM_READ_WRITE, w.bytes);
    return w;
}

static void close_world(world *w)
{
    fake_fail_call(-1, 0, 0);
    fake_fail_command(-1, 0);
    ipt_plan_destroy(w->plan);
    ipt_plan_destroy(w->beside);
    if (w->scenario->pinned)
        ipt_host_free(w->context, w->memory);
    else
        free(w->memory);
    if (w->scenario->desc.rows) {
        fake_clReleaseMemObject(w->buffer);
        fake_clReleaseMemObject(w->other);
        fake_clReleaseCommandQueue(w->queue);
        fake_clReleaseCommandQueue(w->second_queue);
    }
    ipt_context_destroy(w->second);
    ipt_context_destroy(w->context);
    fake_clReleaseContext(w->cl);
}

/* Destroys the objects that the act created. */
static void undo(world *w)
{
    if (w->scenario->makes_plan) {
        ipt_plan_destroy(w->plan);
        w->plan = NULL;
    }
    if (w->scenario->no_context) {
        ipt_context_destroy(w->context);
        w->context = NULL;
    }
}

/* An act has four usual lists of commands: each of two cooperative plans alternates between two sets of counters. */
enum { USUAL_COUNT = 4 };

/* A hash of an act's commands, in its `times`-th repetition in a new world. */
static unsigned long calls_of(const scenario *s, int times, int beside)
{
    unsigned long number = 0;
    world w = open_world(s);
    if (beside)
        assert_int_equal(ipt_plan_execute(w.plan, w.queue, w.other, 0, 0, NULL, NULL), IPT_SUCCESS);
    for (; times; --times) {
        fake_record();
        assert_int_equal(s->act(&w), IPT_SUCCESS);
        number = fake_recorded();
        undo(&w);
    }
    close_world(&w);
    return number;
}

static void find_usual(const scenario *s, unsigned long *usual)
{
    for (int i = 0; i < USUAL_COUNT; ++i)
        usual[i] = calls_of(s, 3 + i % 2, s->beside && i / 2);
}

static int is_usual(unsigned long number, const unsigned long *usual)
{
    int found = 0;
    for (int i = 0; i < USUAL_COUNT; ++i)
        found |= number == usual[i];
    return found;
}

/* Calls whose failure may have no effect: ipt has an alternative, needs no answer, or already has the result. */
static int forgivable(const char *call)
{
    static const char *const names[] = {"clFlush",
                                        "clFinish",
                                        "clGetEventInfo",
                                        "clEnqueueUnmapMemObject",
                                        "clGetDeviceInfo",
                                        "clGetPlatformInfo",
                                        "clGetDeviceIDs",
                                        "clRetainEvent",
                                        "clGetEventProfilingInfo",
                                        "clGetProgramBuildInfo",
                                        "clSetUserEventStatus"};
    size_t i;
    for (i = 0; i < TEST_COUNT(names); ++i)
        if (strcmp(call, names[i]) == 0)
            return 1;
    return 0;
}

/* Whether ipt retries with less memory after this error of this call. */
static int is_refusal(const char *call, cl_int error)
{
    return (error == CL_OUT_OF_RESOURCES || error == CL_OUT_OF_HOST_MEMORY ||
            error == CL_MEM_OBJECT_ALLOCATION_FAILURE) &&
           (!strcmp(call, "clCreateBuffer") || !strcmp(call, "clEnqueueFillBuffer") ||
            !strcmp(call, "clEnqueueWriteBuffer") || !strcmp(call, "clWaitForEvents"));
}

/* Prints an error and continues, up to 60 errors. */
static int bad;
#define COMPLAIN(...) (print_error(__VA_ARGS__), print_error("\n"), assert_true(++bad < 60))

typedef struct tally {
    long failed, forgiven, by_event, incomplete, untouched;
} tally;

/* The kind of failure. */
typedef enum failure { ONE_CALL, ALL_CALLS, ONE_COMMAND } failure;

static void begin_failure(failure how, long n, cl_int error)
{
    if (how == ONE_COMMAND)
        fake_fail_command(n, error);
    else
        fake_fail_call(n, error, how == ALL_CALLS);
}

static void end_failure(void)
{
    fake_fail_call(-1, 0, 0);
    fake_fail_command(-1, 0);
}

/* Whether a call may fail in a scenario. Between two plans, a queue whose properties cannot be queried counts as out of
 * order. */
static int forgivable_in(const scenario *s, const char *call)
{
    return forgivable(call) || (s->beside && strcmp(call, "clGetCommandQueueInfo") == 0);
}

/* Checks the result of an act after a failed call. */
static void check_failure(const world *w, failure how, cl_int error, long n, const char *failed, ipt_result result,
                          long writes, tally *count)
{
    const scenario *const s = w->scenario;
    const char *const what = how == ONE_COMMAND ? "command" : "call", *const text = ipt_context_error(NULL);
    ++count->failed;
    if (result == IPT_SUCCESS) {
        if (w->ended_badly)
            ++count->by_event;
        else
            ++count->forgiven;
        if (!forgivable_in(s, failed) && !s->tries && !w->ended_badly &&
            (how == ALL_CALLS || !is_refusal(failed, error)))
            COMPLAIN("%s: %s %ld, %s, failed, and the result is a success", s->name, what, n, failed);
        return;
    }
    /* If several calls fail, the message names one of them. For a failed command, the message names the waiting
     * call. */
    if (how == ONE_CALL ? !strstr(text, failed) : !strstr(text, "failed with CL_"))
        COMPLAIN("%s: %s %ld, %s, failed: the message is '%s'", s->name, what, n, failed, text);
    if (result == IPT_ERROR_INCOMPLETE)
        ++count->incomplete;
    else {
        ++count->untouched;
        if (s->desc.rows && (!is_filled(w) || fake_writes(w->buffer) != writes))
            COMPLAIN("%s: %s %ld, %s, failed: %s, and the matrix has changed", s->name, what, n, failed,
                     ipt_result_string(result));
    }
    assert_true(!s->makes_plan || !w->plan);
    assert_true(!s->no_context || !w->context);
}

/* After a failure the plan works as before. */
static void act_again(world *w, long n, const char *failed, const unsigned long *usual)
{
    const scenario *const s = w->scenario;
    for (int turn = 0; turn < 2; ++turn) { /* the first execution may have to clean up */
        w->ended_badly = 0;
        fake_record();
        if (s->act(w) != IPT_SUCCESS)
            COMPLAIN("%s: after %ld, %s, had failed: %s", s->name, n, failed, ipt_context_error(NULL));
        if (w->ended_badly)
            COMPLAIN("%s: after %ld, %s, had failed, another execution ends with an error", s->name, n, failed);
        undo(w);
    }
    if (!s->remembers && !is_usual(fake_recorded(), usual))
        COMPLAIN("%s: after %ld, %s, had failed, other commands are enqueued than without that", s->name, n, failed);
}

/* Runs an act whose n-th call or command fails. Returns 0 if the act has fewer calls or commands. */
static int act_with_failure(const scenario *s, failure how, long n, cl_int error, const unsigned long *usual,
                            tally *count)
{
    const long before = fake_living();
    world w = open_world(s);
    const long writes = s->desc.rows ? fake_writes(w.buffer) : 0;
    const char *failed;
    ipt_result result;
    begin_failure(how, n, error);
    result = s->act(&w);
    failed = how == ONE_COMMAND ? fake_failed_command() : fake_failed_call();
    end_failure();
    if (!failed) {
        assert_int_equal(result, IPT_SUCCESS);
        assert_false(w.ended_badly);
        undo(&w);
        close_world(&w);
        return 0;
    }
    check_failure(&w, how, error, n, failed, result, writes, count);
    undo(&w);
    act_again(&w, n, failed, usual);
    close_world(&w);
    if (fake_living() != before)
        COMPLAIN("%s: %ld, %s, failed: %ld objects leak", s->name, n, failed, fake_living() - before);
    return 1;
}

static const cl_int errors[] = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE,
                                CL_INVALID_VALUE, CL_DEVICE_NOT_AVAILABLE};

/* An alarm ends a hang: a scenario takes seconds. */
enum { SCENARIO_SECONDS = 120 };

static void each_fails(failure how)
{
    const char *const what = how == ONE_COMMAND ? "commands" : "calls";
    /* For slow tools: only every stride-th call fails. */
    const long stride = getenv("IPT_TEST_STRIDE") ? strtol(getenv("IPT_TEST_STRIDE"), NULL, 10) : 1;
    tally all = {0, 0, 0, 0, 0};
    assert_true(stride > 0);
    bad = 0;
    for (size_t s = 0; s < TEST_COUNT(scenarios); ++s) {
        tally count = {0, 0, 0, 0, 0};
        alarm(SCENARIO_SECONDS);
        for (int lazy = 0; lazy < 2; ++lazy) {
            long n = 0;
            unsigned long usual[USUAL_COUNT];
            fake_be_lazy(lazy);
            find_usual(&scenarios[s], usual);
            while (act_with_failure(&scenarios[s], how, n, errors[n % (long)TEST_COUNT(errors)], usual, &count))
                n += (1 + n / 40) * stride;
        }
        fake_be_lazy(0);
        alarm(0);
        print_message(
            "%-40s %5ld %s failed: %ld forgiven, %ld reported by the event, %ld with an unchanged matrix, %ld "
            "incomplete\n",
            scenarios[s].name, count.failed, what, count.forgiven, count.by_event, count.untouched, count.incomplete);
        all.failed += count.failed;
    }
    print_message("%ld %s failed\n", all.failed, what);
    assert_int_equal(bad, 0);
}

static void trust_each_call_fails(void **state)
{
    (void)state;
    each_fails(ONE_CALL);
}

static void trust_all_calls_fail_from_one_on(void **state)
{
    (void)state;
    each_fails(ALL_CALLS);
}

static void trust_each_command_fails(void **state)
{
    (void)state;
    each_fails(ONE_COMMAND);
}

const struct CMUnitTest test_trust[] = {TEST_CASE(trust_each_call_fails), TEST_CASE(trust_all_calls_fail_from_one_on),
                                        TEST_CASE(trust_each_command_fails)};
const size_t test_trust_count = TEST_COUNT(test_trust);
