/* Threads, on the OpenCL stub (fake_cl.c). Several threads share a context, a plan, a cache folder and wisdom; each has
 * its own messages. tests/analysis/sanitize.sh runs these tests with a sanitizer for data races. By themselves, they
 * detect wrong results, leaks and deadlocks. */
#include "fake_world.h"
#include "folders.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 12, SECONDS_MOST = 120 };

/* Several of these shapes need the same programs, so that threads build a program at the same time. */
static const ipt_plan_desc shapes[] = {
    {.rows = 371, .cols = 130, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_m = 50},
    {.rows = 130, .cols = 371, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_n = 50},
    {.rows = 64, .cols = 64, .elem_size = 4},
    {.rows = 9, .cols = 23, .elem_size = 3, .batch = 5},
    {.rows = 371, .cols = 230, .elem_size = 4},
    {.rows = 90, .cols = 23, .elem_size = 4, .flags = IPT_NO_COOPERATIVE, .sequence = IPT_SEQUENCE_TWO_PASS},
};

/* The data that all threads of a test share, and the data of one thread. */
typedef struct common {
    fake_device device;
    cl_context cl;
    ipt_context *context;
    ipt_plan *plan;
    const char *folder;
    cl_command_queue queue; /* all threads use it */
    pthread_barrier_t begin;
} common;

typedef struct job {
    common *all;
    int number, line; /* the thread's number; the first failed check's line */
    void (*work)(struct job *job);
} job;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition) && !job->line)                                                                                \
            job->line = __LINE__;                                                                                      \
    } while (0)

static void *job_main(void *argument)
{
    job *const job = argument;
    pthread_barrier_wait(&job->all->begin);
    job->work(job);
    return NULL;
}

/* Runs `work` in all threads, with a shared context and perhaps a shared plan. */
static void together(common *all, void (*work)(job *))
{
    pthread_t threads[THREADS];
    job jobs[THREADS];
    int i;
    alarm(SECONDS_MOST);
    pthread_barrier_init(&all->begin, NULL, THREADS);
    for (i = 0; i < THREADS; ++i) {
        const job one = {all, i, 0, work};
        jobs[i] = one;
        assert_int_equal(pthread_create(&threads[i], NULL, job_main, &jobs[i]), 0);
    }
    for (i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all->begin);
    alarm(0);
    for (i = 0; i < THREADS; ++i)
        if (jobs[i].line)
            fail_msg("thread %d: the check in line %d has failed", i, jobs[i].line);
}

/* desc: the plan that all threads share; NULL: no plan. */
static common open_common(fake_device device, const char *folder, const ipt_plan_desc *desc)
{
    common all;
    memset(&all, 0, sizeof all);
    all.device = device;
    all.folder = folder;
    all.cl = fake_make_cl(device);
    all.queue = fake_make_queue(all.cl, device, 1);
    assert_int_equal(fake_make_context(all.cl, device, folder, &all.context), IPT_SUCCESS);
    if (desc)
        assert_int_equal(ipt_plan_create(all.context, desc, &all.plan), IPT_SUCCESS);
    return all;
}

static void close_common(common *all, long objects)
{
    ipt_plan_destroy(all->plan);
    ipt_context_destroy(all->context);
    fake_clReleaseCommandQueue(all->queue);
    fake_clReleaseContext(all->cl);
    assert_int_equal(fake_living(), objects);
}

/* Fails with a message that contains this thread's number, and reads the message after other threads have failed. */
static void fail_as_self(job *job, ipt_context *context)
{
    const size_t odd = 1000003 + 2 * (size_t)job->number;
    const ipt_plan_desc desc = {.rows = 1000, .cols = 1000, .elem_size = 2, .batch = 2, .batch_stride = odd};
    ipt_plan *plan = NULL;
    char value[24];
    snprintf(value, sizeof value, "%zu", odd);
    CHECK(ipt_plan_create(context, &desc, &plan) == IPT_ERROR_INVALID_ARGUMENT);
    CHECK(!plan);
    sched_yield();
    CHECK(test_mentions(ipt_context_error(context), value));
}

static size_t bytes_of(const ipt_plan_desc *desc)
{
    return desc->rows * desc->cols * desc->elem_size * (desc->batch ? desc->batch : 1);
}

/* Executes a plan that threads may share, in memory of this thread: on its own queue and on a shared queue, in place,
 * out of place (the first call builds a program) and in host memory. */
static void execute(job *job, ipt_plan *plan, const ipt_plan_desc *desc)
{
    const size_t bytes = bytes_of(desc);
    const cl_context cl = job->all->cl;
    const cl_command_queue queue = fake_make_queue(cl, job->all->device, job->number % 2);
    const cl_mem buffer = fake_make_buffer(cl, CL_MEM_READ_WRITE, bytes);
    const cl_mem other = fake_make_buffer(cl, CL_MEM_READ_WRITE, bytes);
    unsigned char *const data = calloc(1, bytes);
    cl_event events[3] = {NULL, NULL, NULL};
    int i;
    CHECK(data && ipt_plan_execute_host(plan, data) == IPT_SUCCESS);
    CHECK(ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, &events[0]) == IPT_SUCCESS);
    CHECK(ipt_plan_execute(plan, job->all->queue, buffer, 0, 1, &events[0], &events[1]) == IPT_SUCCESS);
    CHECK(ipt_plan_execute_out_of_place(plan, queue, buffer, 0, other, 0, 1, &events[1], &events[2]) == IPT_SUCCESS);
    CHECK(strlen(ipt_plan_describe(plan)) > 0);
    CHECK(ipt_plan_source(plan, 0) != NULL);
    CHECK(ipt_plan_workspace(plan) < (size_t)1 << 24);
    for (i = 0; i < 3; ++i)
        if (events[i]) {
            CHECK(fake_clWaitForEvents(1, &events[i]) == CL_SUCCESS);
            fake_clReleaseEvent(events[i]);
        }
    free(data);
    fake_clReleaseMemObject(other);
    fake_clReleaseMemObject(buffer);
    fake_clReleaseCommandQueue(queue);
}

static void use_context(job *job)
{
    int round;
    for (round = 0; round < ROUNDS; ++round) {
        const ipt_plan_desc *const desc = &shapes[(size_t)(job->number + round) % TEST_COUNT(shapes)];
        ipt_plan *plan = NULL;
        CHECK(ipt_plan_create(job->all->context, desc, &plan) == IPT_SUCCESS);
        if (!plan)
            return;
        execute(job, plan, desc);
        fail_as_self(job, job->all->context);
        ipt_plan_destroy(plan);
        if (round % 4 == job->number % 4)
            ipt_context_trim(job->all->context);
    }
}

/* Runs `work` on eager devices, which run commands at once, and lazy ones, which run them when a thread waits. */
static void on_all_devices(void (*work)(job *), const ipt_plan_desc *desc)
{
    static const fake_device devices[] = {FAKE_CPU, FAKE_TOGETHER, FAKE_GPU};
    size_t i;
    for (i = 0; i < 2 * TEST_COUNT(devices); ++i) {
        const long objects = fake_living();
        common all = open_common(devices[i / 2], "", desc);
        fake_be_lazy(i % 2);
        together(&all, work);
        fake_be_lazy(0);
        close_common(&all, objects);
    }
}

static void threads_share_a_context(void **state)
{
    (void)state;
    on_all_devices(use_context, NULL);
}

static void use_plan(job *job)
{
    int round;
    for (round = 0; round < ROUNDS; ++round) {
        execute(job, job->all->plan, &shapes[0]);
        fail_as_self(job, job->all->context);
    }
}

static void threads_share_a_plan(void **state)
{
    (void)state;
    on_all_devices(use_plan, &shapes[0]);
}

/* Each thread has a plan with cooperative work-groups. The launches of all threads follow one another: each launch
 * waits for the last one, of any thread. */
static void wait_for_one_another(job *job)
{
    enum { LAUNCHES = 200 };
    const ipt_plan_desc *const desc = &shapes[0];
    const cl_mem buffer = fake_make_buffer(job->all->cl, CL_MEM_READ_WRITE, bytes_of(desc));
    const cl_command_queue queue = fake_make_queue(job->all->cl, job->all->device, job->number % 2);
    ipt_plan *plan = NULL;
    int i;
    CHECK(ipt_plan_create(job->all->context, desc, &plan) == IPT_SUCCESS);
    for (i = 0; plan && i < LAUNCHES; ++i)
        CHECK(ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, NULL) == IPT_SUCCESS);
    ipt_plan_destroy(plan);
    fake_clReleaseCommandQueue(queue);
    fake_clReleaseMemObject(buffer);
}

static void threads_launch_together(void **state)
{
    int lazy;
    (void)state;
    for (lazy = 0; lazy < 2; ++lazy) {
        const long objects = fake_living();
        common all = open_common(FAKE_TOGETHER, "", NULL);
        fake_be_lazy(lazy);
        together(&all, wait_for_one_another);
        fake_be_lazy(0);
        close_common(&all, objects);
    }
}

/* Plans retain their context: one thread destroys the context while others still use and destroy plans. */
static void outlive_context(job *job)
{
    const ipt_plan_desc *const desc = &shapes[(size_t)job->number % TEST_COUNT(shapes)];
    ipt_plan *plan = NULL;
    CHECK(ipt_plan_create(job->all->context, desc, &plan) == IPT_SUCCESS);
    pthread_barrier_wait(&job->all->begin);
    if (!job->number)
        ipt_context_destroy(job->all->context);
    if (plan)
        execute(job, plan, desc);
    ipt_plan_destroy(plan);
}

static void threads_outlive_the_context(void **state)
{
    int round;
    (void)state;
    for (round = 0; round < ROUNDS; ++round) {
        const long objects = fake_living();
        common all = open_common(round % 2 ? FAKE_TOGETHER : FAKE_CPU, "", NULL);
        together(&all, outlive_context);
        all.context = NULL;
        close_common(&all, objects);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Uses wisdom, cache entries, pinned memory and the profile of a context. A trim frees the texts of entries, so no
 * thread trims here. */
static void use_what_is_kept(job *job)
{
    ipt_context *const context = job->all->context;
    char text[40000];
    size_t bytes = 0, i;
    int round;
    for (round = 0; round < ROUNDS; ++round) {
        ipt_plan_desc desc = shapes[(size_t)(job->number + round) % TEST_COUNT(shapes)];
        unsigned char *entry;
        void *memory = NULL;
        ipt_plan *plan = NULL;
        desc.flags |= IPT_MEASURE;
        desc.rows += (size_t)round;
        desc.sequence = IPT_SEQUENCE_AUTO;
        desc.tile_m = desc.tile_n = 0;
        CHECK(ipt_plan_create(context, &desc, &plan) == IPT_SUCCESS);
        CHECK(ipt_wisdom_export(context, text, sizeof text, &bytes) == IPT_SUCCESS);
        CHECK(ipt_wisdom_import(context, text) == IPT_SUCCESS);
        CHECK(ipt_host_alloc(context, bytes_of(&desc), &memory) == IPT_SUCCESS);
        CHECK(plan && memory && ipt_plan_execute_host(plan, memory) == IPT_SUCCESS);
        for (i = 0; i < ipt_context_entry_count(context); ++i) {
            const char *const source = ipt_context_entry_source(context, i, NULL);
            CHECK(!source || strlen(source) > 0);
            if (ipt_context_entry(context, i, NULL, NULL, 0, NULL, 0, &bytes) || !(entry = malloc(bytes)))
                continue;
            /* Another thread may have added entries. */
            ipt_context_entry(context, i, NULL, NULL, 0, entry, bytes, &bytes);
            free(entry);
        }
        CHECK(ipt_context_profile(context, text, sizeof text, NULL) == IPT_SUCCESS);
        ipt_host_free(context, memory);
        ipt_plan_destroy(plan);
        fail_as_self(job, context);
    }
}

static void threads_use_what_is_kept(void **state)
{
    static const fake_device devices[] = {FAKE_CPU, FAKE_TOGETHER};
    size_t i;
    (void)state;
    for (i = 0; i < TEST_COUNT(devices); ++i) {
        const long objects = fake_living();
        common all = open_common(devices[i], "", NULL);
        together(&all, use_what_is_kept);
        close_common(&all, objects);
    }
}

/* A shared context and each thread's own context use one cache folder. Some have a limit that its size exceeds. */
static void use_folder(job *job)
{
    ipt_context_desc desc = {0};
    int round;
    desc.context = job->all->cl;
    desc.device = fake_device_id(job->all->device);
    desc.cache_dir = job->all->folder;
    desc.cache_limit = job->number % 2 ? 0 : 100000;
    for (round = 0; round < ROUNDS / 2; ++round) {
        ipt_context *own = NULL;
        size_t i;
        CHECK(ipt_context_create(&desc, &own) == IPT_SUCCESS);
        for (i = 0; own && i < TEST_COUNT(shapes); ++i) {
            const ipt_plan_desc *const its = &shapes[(i + (size_t)job->number) % TEST_COUNT(shapes)];
            ipt_plan *plan = NULL;
            CHECK(ipt_plan_create(i % 2 ? job->all->context : own, its, &plan) == IPT_SUCCESS);
            if (plan)
                execute(job, plan, its);
            ipt_plan_destroy(plan);
        }
        ipt_context_destroy(own);
        ipt_context_trim(job->all->context);
    }
}

static void threads_share_a_cache_folder(void **state)
{
    char folder[256];
    const long objects = fake_living();
    (void)state;
    assert_int_equal(folder_make(folder, sizeof folder, "threads"), 0);
    common all = open_common(FAKE_TOGETHER, folder, NULL);
    together(&all, use_folder);
    close_common(&all, objects);
    assert_int_equal(folder_remove(folder), 0);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* The end of an asynchronous execution, by ipt's own thread, of a plan that all callers share. */
typedef struct ending {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int count, bad;
} ending;

static void on_finished(ipt_result result, void *user)
{
    ending *const its = user;
    pthread_mutex_lock(&its->lock);
    ++its->count;
    its->bad += result != IPT_SUCCESS;
    pthread_cond_signal(&its->ended);
    pthread_mutex_unlock(&its->lock);
}

static void use_async(job *job)
{
    enum { AT_ONCE = 4 };
    ending its = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
    const ipt_host_options options = {NULL, on_finished, &its};
    const size_t bytes = bytes_of(&shapes[0]);
    unsigned char *const data = calloc(AT_ONCE, bytes);
    cl_event events[AT_ONCE] = {NULL};
    int i;
    for (i = 0; data && i < AT_ONCE; ++i)
        CHECK(ipt_plan_execute_host_async(job->all->plan, data + (size_t)i * bytes, &options, &events[i]) ==
              IPT_SUCCESS);
    pthread_mutex_lock(&its.lock);
    while (data && !job->line && its.count < AT_ONCE)
        pthread_cond_wait(&its.ended, &its.lock);
    pthread_mutex_unlock(&its.lock);
    CHECK(its.count == AT_ONCE && !its.bad);
    for (i = 0; i < AT_ONCE; ++i)
        if (events[i]) {
            CHECK(fake_clWaitForEvents(1, &events[i]) == CL_SUCCESS);
            while (fake_references(events[i]) > 1) /* ipt's thread releases the event at its end */
                sched_yield();
            fake_clReleaseEvent(events[i]);
        }
    free(data);
}

static void threads_execute_for_others(void **state)
{
    (void)state;
    on_all_devices(use_async, &shapes[0]);
}

/* Executions of stored and cut matrices start threads of their own. */
static void use_storage(job *job)
{
    const ipt_plan_desc desc = {.rows = 530, .cols = 37, .elem_size = 4, .max_host_memory = 50000};
    const ipt_plan_desc cut = {
        .rows = 530, .cols = 37, .elem_size = 4, .max_device_memory = 40000, .host = IPT_HOST_OVERLAPPED};
    unsigned char *const data = calloc(desc.rows * desc.cols, desc.elem_size);
    const ipt_storage storage = {fake_store_read, fake_store_write, NULL, data, NULL, 0};
    ipt_plan *plan = NULL;
    CHECK(ipt_plan_create(job->all->context, &desc, &plan) == IPT_SUCCESS);
    CHECK(data && plan && ipt_plan_execute_storage(plan, &storage) == IPT_SUCCESS);
    ipt_plan_destroy(plan);
    CHECK(ipt_plan_create(job->all->context, &cut, &plan) == IPT_SUCCESS);
    CHECK(data && plan && ipt_plan_execute_host(plan, data) == IPT_SUCCESS);
    ipt_plan_destroy(plan);
    free(data);
}

static void threads_cut_matrices(void **state)
{
    (void)state;
    on_all_devices(use_storage, NULL);
}

/* A build that ends only after another thread has destroyed a plan. */
typedef struct build {
    ipt_context *context;
    ipt_result result;
    sem_t begun, destroyed;
    int waits, in_vain;
} build;

static void hold_the_build(const char *message, void *user)
{
    build *const its = user;
    struct timespec until;
    if (!its->waits || strncmp(message, "built ", 6))
        return;
    its->waits = 0;
    sem_post(&its->begun);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    its->in_vain = sem_timedwait(&its->destroyed, &until) != 0;
}

static void *build_another(void *user)
{
    build *const its = user;
    const ipt_plan_desc desc = {.rows = 64, .cols = 64, .elem_size = 8, .sequence = IPT_SEQUENCE_SQUARE};
    ipt_plan *plan;
    its->result = ipt_plan_create(its->context, &desc, &plan);
    ipt_plan_destroy(plan);
    return NULL;
}

/* Destroying a plan does not wait for a compiler that another thread has started. */
static void threads_destroy_while_building(void **state)
{
    build its = {.waits = 0};
    const ipt_context_desc context_desc = {
        .device = fake_device_id(FAKE_CPU), .cache_dir = "", .logger = {hold_the_build, &its}};
    const ipt_plan_desc desc = {.rows = 50, .cols = 30, .elem_size = 4};
    ipt_plan *plan;
    pthread_t thread;
    (void)state;
    assert_true(!sem_init(&its.begun, 0, 0) && !sem_init(&its.destroyed, 0, 0));
    assert_int_equal(ipt_context_create(&context_desc, &its.context), IPT_SUCCESS);
    assert_int_equal(ipt_plan_create(its.context, &desc, &plan), IPT_SUCCESS);
    its.waits = 1;
    assert_int_equal(pthread_create(&thread, NULL, build_another, &its), 0);
    sem_wait(&its.begun);
    ipt_plan_destroy(plan);
    ipt_context_trim(its.context);
    sem_post(&its.destroyed);
    pthread_join(thread, NULL);
    assert_int_equal(its.result, IPT_SUCCESS);
    assert_false(its.in_vain);
    ipt_context_destroy(its.context);
    sem_destroy(&its.begun);
    sem_destroy(&its.destroyed);
}

const struct CMUnitTest test_threads[] = {
    TEST_CASE(threads_share_a_context),        TEST_CASE(threads_share_a_plan),
    TEST_CASE(threads_launch_together),        TEST_CASE(threads_outlive_the_context),
    TEST_CASE(threads_use_what_is_kept),       TEST_CASE(threads_share_a_cache_folder),
    TEST_CASE(threads_execute_for_others),     TEST_CASE(threads_cut_matrices),
    TEST_CASE(threads_destroy_while_building),
};
const size_t test_threads_count = TEST_COUNT(test_threads);
