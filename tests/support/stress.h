/* Transposes shapes of many classes repeatedly, with fresh data each time, while other work keeps the device busy.
 * tests/random/stress.c uses full sizes, tests/library/test_stress.c small matrices. Include ipt.h first.
 *
 * No wait here is unlimited: a waiting thread polls an event's status, and an alarm guards blocking calls. Both end the
 * program, because nothing else recovers from a driver that hangs. */
#ifndef STRESS_H_INCLUDED
#define STRESS_H_INCLUDED

#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include "checker.h"
#include "fast.h"
#include "quirks.h"

enum {
    STRESS_TIME_LIMIT = 60, /* seconds for an execution; the alarm for a whole run is twice as long */
    STRESS_HANGS = 4,       /* the exit code after a hang */
    STRESS_MOST_ROUNDS = 8,
    STRESS_JOBS = 3,
    STRESS_LOAD_DEPTH = 4,
    STRESS_GUARD = 256 /* bytes after the matrices, and before them if byte_offset is not 0 */
};

/* X(enumerator, name) */
#define STRESS_CLASS_LIST(X)                                                                                           \
    X(TALL, "tall")                                                                                                    \
    X(WIDE, "wide")                                                                                                    \
    X(PRIME_TALL, "prime sides, tall")                                                                                 \
    X(PRIME_WIDE, "prime sides, wide")                                                                                 \
    X(ODD_TALL, "odd sides, tall")                                                                                     \
    X(ODD_WIDE, "odd sides, wide")                                                                                     \
    X(SKINNY_TALL, "skinny, tall")                                                                                     \
    X(SKINNY_WIDE, "skinny, wide")                                                                                     \
    X(SMALL_TALL, "small, tall")                                                                                       \
    X(SMALL_WIDE, "small, wide")                                                                                       \
    X(SQUARE, "square")

#define STRESS_ENUMERATOR(name, text) STRESS_##name,
#define STRESS_NAME(name, text) text,
typedef enum stress_class { STRESS_CLASS_LIST(STRESS_ENUMERATOR) STRESS_CLASS_COUNT } stress_class;
static const char *const stress_class_names[] = {STRESS_CLASS_LIST(STRESS_NAME)};

/* Limits that a context assumes; 0: the default. */
typedef struct stress_limits {
    const char *name;
    size_t resident_groups, wait_polls, max_local_memory;
} stress_limits;

/* A plan and its buffer. */
typedef struct stress_job {
    ipt_plan *plan;
    ipt_plan_desc desc;
    checker_place place;
    cl_mem buffer, counters;
    size_t capacity;
    int rounds;
    int cooperative, exchanges; /* work-groups wait for one another; they exchange bands */
    int registers;              /* columns in registers */
    cl_ulong seeds[STRESS_MOST_ROUNDS];
    checker_found found[STRESS_MOST_ROUNDS];
    cl_event done;
} stress_job;

/* Load that does not use ipt: a queue with a few commands. */
typedef struct stress_load {
    cl_command_queue queue;
    cl_mem buffer;
    size_t bytes, local; /* words of the buffer; work-items of a work-group */
    cl_kernel churn;
    cl_event events[STRESS_LOAD_DEPTH];
    size_t commands;
} stress_load;

typedef struct stress {
    ipt_context *owner, *context; /* the context that made the cl_context, and the tested one */
    const char *name;             /* name of the tested context's limits */
    cl_command_queue queues[2];
    checker checker;
    stress_load load;
    stress_job jobs[STRESS_JOBS];
    uint64_t random;
    int modest; /* the device is slow, such as a CPU */
    int quiet;  /* prints no progress */
    int rounds; /* executions of each shape */
    double start, shown;
    size_t runs[STRESS_CLASS_COUNT], pairs, executions, refused;
    size_t cooperative, exchanges; /* executions whose work-groups wait for one another; with bands */
    size_t registers;              /* executions with columns in registers */
    unsigned long long wrong_items;
    size_t failures; /* runs with wrong items or errors */
    char first_failure[512];
} stress;

static double stress_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t stress_random(stress *s)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return s->random * 0x2545f4914f6cdd1du;
}

static size_t stress_between(stress *s, size_t low, size_t high) /* both included */
{
    return low + (size_t)((stress_random(s) >> 16) % (high - low + 1));
}

static void stress_describe(const stress *s, const stress_job *job, char *text, size_t capacity)
{
    snprintf(text, capacity,
             "%s: rows %zu cols %zu elem_size %zu batch %zu batch_stride %zu byte_offset %zu flags %u max_workspace "
             "%zu sequence %s tile %zu",
             s->name, job->desc.rows, job->desc.cols, job->desc.elem_size, job->desc.batch, job->desc.batch_stride,
             job->place.offset, job->desc.flags, job->desc.max_workspace, ipt_sequence_string(job->desc.sequence),
             job->desc.tile_m);
}

/* Prints a failure, records the first one, and continues. */
static void stress_fail(stress *s, const stress_job *job, const char *what)
{
    char text[512];
    stress_describe(s, job, text, sizeof text);
    if (s->failures++ < 10)
        fprintf(stderr, "FAILED: %s: %s\n%s", what, text, ipt_plan_describe(job->plan));
    if (!*s->first_failure)
        snprintf(s->first_failure, sizeof s->first_failure, "%.150s: %.350s", what, text);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void stress_alarm(int signal_number)
{
    static const char text[] = "stress: a call to ipt or OpenCL has not returned within the time limit\n";
    const ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)signal_number;
    (void)ignored;
    _exit(STRESS_HANGS);
}

/* Returns 1 if the event has completed. */
static int stress_complete(cl_event event)
{
    cl_int status = CL_QUEUED;
    checker_need(!clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) && status >= 0,
                 "a command");
    return status == CL_COMPLETE;
}

static const char *const stress_load_text =
    "__kernel void churn(__global uint *data, uint rounds, __local uint *shared)\n"
    "{\n"
    "    const uint id = get_local_id(0), size = get_local_size(0);\n"
    "    uint x = data[get_global_id(0)];\n"
    "    shared[id] = x;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint r = 0; r < rounds; ++r)\n"
    "        x = (x * 1664525u + 1013904223u) ^ shared[(id + r) % size];\n"
    "    data[get_global_id(0)] = x;\n"
    "}\n";

static void stress_load_start(stress_load *load, cl_context context, cl_device_id device, int modest)
{
    cl_int error;
    cl_program program;
    memset(load, 0, sizeof *load);
    load->bytes = modest ? (size_t)256 << 10 : (size_t)32 << 20;
    load->queue = clCreateCommandQueue(context, device, 0, &error);
    checker_need(!error, "clCreateCommandQueue");
    load->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, load->bytes, NULL, &error);
    checker_need(!error, "clCreateBuffer");
    checker_need(!clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof load->local, &load->local, NULL),
                 "clGetDeviceInfo");
    load->local = load->local < 64 ? load->local : 64;
    program = clCreateProgramWithSource(context, 1, (const char **)&stress_load_text, NULL, &error);
    checker_need(!error && !clBuildProgram(program, 0, NULL, "", NULL, NULL), "the load's build");
    load->churn = clCreateKernel(program, "churn", &error);
    checker_need(!error, "clCreateKernel");
    clReleaseProgram(program);
}

/* Replaces each completed command by a new one: a copy, a short launch that fills the device, or a long launch of a few
 * work-groups with much local memory, which leaves less for other kernels. */
static void stress_load_feed(stress_load *load, int modest)
{
    int i, added = 0;
    for (i = 0; i < STRESS_LOAD_DEPTH; ++i) {
        const unsigned kind = (unsigned)(load->commands % 3);
        const size_t local = load->local, few = modest ? 2 * local : 64 * local;
        const size_t global = kind == 1 ? load->bytes / 16 : few;
        const cl_uint rounds = kind == 1 ? 16 : modest ? 1000 : 20000;
        cl_int error;
        if (load->events[i]) {
            if (!stress_complete(load->events[i]))
                continue;
            clReleaseEvent(load->events[i]);
            load->events[i] = NULL;
        }
        if (kind == 0)
            error = clEnqueueCopyBuffer(load->queue, load->buffer, load->buffer, 0, load->bytes / 2, load->bytes / 2, 0,
                                        NULL, &load->events[i]);
        else {
            clSetKernelArg(load->churn, 0, sizeof load->buffer, &load->buffer);
            clSetKernelArg(load->churn, 1, sizeof rounds, &rounds);
            clSetKernelArg(load->churn, 2, kind == 1 ? local * sizeof(cl_uint) : (size_t)16 << 10, NULL);
            error =
                clEnqueueNDRangeKernel(load->queue, load->churn, 1, NULL, &global, &local, 0, NULL, &load->events[i]);
        }
        checker_need(!error, "a launch of the load");
        ++load->commands;
        added = 1;
    }
    if (added)
        clFlush(load->queue);
}

/* Waits for an event, and keeps the load running meanwhile. */
static void stress_wait(stress *s, cl_event event, const stress_job *job)
{
    const struct timespec pause = {0, 50000};
    const double begin = stress_now();
    while (!stress_complete(event)) {
        if (job)
            stress_load_feed(&s->load, s->modest);
        if (stress_now() - begin > STRESS_TIME_LIMIT) {
            char text[512] = "the load";
            if (job)
                stress_describe(s, job, text, sizeof text);
            fprintf(stderr, "HANGS: no end after %d s: %s\n%s", STRESS_TIME_LIMIT, text,
                    job ? ipt_plan_describe(job->plan) : "");
            fflush(NULL);
            _exit(STRESS_HANGS);
        }
        nanosleep(&pause, NULL);
    }
}

static void stress_load_end(stress *s)
{
    int i;
    for (i = 0; i < STRESS_LOAD_DEPTH; ++i)
        if (s->load.events[i]) {
            stress_wait(s, s->load.events[i], NULL);
            clReleaseEvent(s->load.events[i]);
        }
    clReleaseKernel(s->load.churn);
    clReleaseMemObject(s->load.buffer);
    clReleaseCommandQueue(s->load.queue);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void stress_start(stress *s, uint64_t seed)
{
    cl_device_id device;
    cl_int error;
    int i;
    memset(s, 0, sizeof *s);
    s->start = s->shown = stress_now();
    s->random = seed ? seed : 1; /* xorshift never leaves 0 */
    s->rounds = 4;
    s->name = "default context";
    signal(SIGALRM, stress_alarm);
    alarm(2 * STRESS_TIME_LIMIT);
    checker_need(!ipt_context_create(NULL, &s->owner), "ipt_context_create");
    s->checker.context = ipt_context_cl_context(s->owner);
    device = ipt_context_cl_device(s->owner);
    s->modest = !device_is_fast(s->checker.context, device);
    for (i = 0; i < 2; ++i) {
        if (i && device_grids_at_once(device) < 2) {
            s->queues[i] = s->queues[0];
            error = clRetainCommandQueue(s->queues[i]);
        } else {
            s->queues[i] = clCreateCommandQueue(s->checker.context, device, 0, &error);
        }
        checker_need(!error, "clCreateCommandQueue");
    }
    stress_load_start(&s->load, s->checker.context, device, s->modest);
}

/* Later runs use a new context with these limits, and the same OpenCL context. */
static void stress_use(stress *s, const stress_limits *limits)
{
    ipt_context_desc desc = {0};
    alarm(2 * STRESS_TIME_LIMIT);
    desc.context = s->checker.context;
    desc.device = ipt_context_cl_device(s->owner);
    desc.max_local_memory = limits->max_local_memory;
    desc.resident_groups = limits->resident_groups;
    desc.wait_polls = limits->wait_polls;
    ipt_context_destroy(s->context);
    s->name = limits->name;
    checker_need(!ipt_context_create(&desc, &s->context), "ipt_context_create");
}

static void stress_end(stress *s)
{
    int i;
    alarm(2 * STRESS_TIME_LIMIT);
    stress_load_end(s);
    for (i = 0; i < STRESS_JOBS; ++i)
        if (s->jobs[i].buffer) {
            clReleaseMemObject(s->jobs[i].buffer);
            clReleaseMemObject(s->jobs[i].counters);
        }
    checker_end(&s->checker);
    for (i = 0; i < 2; ++i)
        clReleaseCommandQueue(s->queues[i]);
    ipt_context_destroy(s->context);
    ipt_context_destroy(s->owner);
    alarm(0);
    signal(SIGALRM, SIG_DFL);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static size_t stress_root(size_t value)
{
    size_t root = 0, bit = (size_t)1 << (4 * sizeof(size_t) - 1);
    for (; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= value)
            root |= bit;
    return root;
}

static size_t stress_prime(size_t most) /* the largest prime up to `most`; at least 2 */
{
    for (; most > 3; --most) {
        size_t factor = 2;
        while (factor * factor <= most && most % factor)
            ++factor;
        if (factor * factor > most)
            return most;
    }
    return most < 2 ? 2 : most;
}

/* A random shape of the class; the whole batch takes about `bytes` at most. */
static void stress_shape(stress *s, stress_class class, size_t bytes, ipt_plan_desc *desc)
{
    static const size_t elem_sizes[] = {4, 8, 4, 8, 4, 8, 4, 8, 4, 8, 4, 8, 1, 2, 3, 12, 16, 4};
    const int wide = class == STRESS_WIDE || class == STRESS_PRIME_WIDE || class == STRESS_ODD_WIDE ||
                     class == STRESS_SKINNY_WIDE || class == STRESS_SMALL_WIDE;
    size_t elements, root, narrow, lengthy;
    memset(desc, 0, sizeof *desc);
    desc->elem_size = elem_sizes[stress_between(s, 0, sizeof elem_sizes / sizeof *elem_sizes - 1)];
    desc->batch = stress_between(s, 0, 4) ? 1 : stress_between(s, 2, 5);
    if (class == STRESS_SMALL_TALL || class == STRESS_SMALL_WIDE) /* 4 to 48 MB if the limit is 400 MB */
        bytes = stress_between(s, bytes / 100, bytes / 100 * 12);
    else
        bytes = stress_between(s, bytes / 4, bytes);
    elements = bytes / desc->batch / desc->elem_size + 16;
    root = stress_root(elements);
    narrow = stress_between(s, root / 4 + 1, root * 15 / 16 + 2);
    if (class == STRESS_SQUARE)
        narrow = root;
    if (class == STRESS_SKINNY_TALL || class == STRESS_SKINNY_WIDE)
        narrow = stress_between(s, 2, 40);
    lengthy = class == STRESS_SQUARE ? root : elements / narrow + 1;
    if (class == STRESS_PRIME_TALL || class == STRESS_PRIME_WIDE) {
        narrow = stress_prime(narrow);
        lengthy = stress_prime(lengthy);
    }
    if (class == STRESS_ODD_TALL || class == STRESS_ODD_WIDE) {
        narrow |= 1;
        lengthy |= 1;
    }
    if (desc->elem_size < 4 && stress_between(s, 0, 1)) { /* blocks of words */
        narrow = narrow / 4 * 4 + 4;
        lengthy = lengthy / 4 * 4 + 4;
    }
    desc->rows = wide ? narrow : lengthy;
    desc->cols = wide ? lengthy : narrow;
}

/* Creates a plan for the job, unless it shares `plan`, and a buffer with guards. Returns 0 if there is no plan. */
static int stress_job_begin(stress *s, stress_job *job, const ipt_plan_desc *shape, ipt_plan *plan)
{
    const size_t matrix = shape->rows * shape->cols * shape->elem_size;
    size_t unit = 1;
    int i;
    cl_int error;
    job->desc = *shape;
    while (unit < 16 && job->desc.elem_size % (2 * unit) == 0)
        unit *= 2;
    if (!plan && job->desc.batch > 1 && stress_between(s, 0, 1))
        job->desc.batch_stride = matrix + unit * stress_between(s, 1, 300);
    job->place.rows = job->desc.rows;
    job->place.cols = job->desc.cols;
    job->place.elem_size = job->desc.elem_size;
    job->place.batch = job->desc.batch;
    job->place.stride = job->desc.batch_stride ? job->desc.batch_stride : matrix;
    job->place.offset = stress_between(s, 0, 1) ? unit * stress_between(s, 1, 300) : 0;
    job->place.bytes = job->place.offset + (job->place.batch - 1) * job->place.stride + matrix + STRESS_GUARD;
    job->plan = plan;
    if (!plan && ipt_plan_create(s->context, &job->desc, &job->plan)) {
        /* A forced sequence may not fit; the planner's own choice always fits. */
        if (job->desc.sequence != IPT_SEQUENCE_AUTO)
            ++s->refused;
        else
            stress_fail(s, job, ipt_context_error(NULL));
        return 0;
    }
    job->cooperative = strstr(ipt_plan_describe(job->plan), "together") != NULL;
    job->exchanges = job->cooperative && strstr(ipt_plan_describe(job->plan), "exchange: ");
    job->registers = strstr(ipt_plan_describe(job->plan), "in registers") != NULL;
    if (job->capacity < job->place.bytes) {
        if (job->buffer)
            clReleaseMemObject(job->buffer);
        job->capacity = job->place.bytes;
        job->buffer = clCreateBuffer(s->checker.context, CL_MEM_READ_WRITE, job->capacity, NULL, &error);
        checker_need(!error, "clCreateBuffer");
    }
    if (!job->counters) {
        job->counters = clCreateBuffer(s->checker.context, CL_MEM_READ_WRITE, sizeof job->found, NULL, &error);
        checker_need(!error, "clCreateBuffer");
    }
    job->rounds = s->rounds;
    for (i = 0; i < job->rounds; ++i) {
        job->seeds[i] = stress_random(s);
        job->found[i] = checker_found_nothing;
    }
    return 1;
}

/* Enqueues all rounds of a job: fill, transpose, check. Commands wait for one another; the host does not wait. */
static void stress_job_enqueue(stress *s, stress_job *job, cl_command_queue queue)
{
    const size_t bytes = (size_t)job->rounds * sizeof *job->found;
    int i;
    checker_need(!clEnqueueWriteBuffer(queue, job->counters, CL_FALSE, 0, bytes, job->found, 0, NULL, NULL),
                 "clEnqueueWriteBuffer");
    for (i = 0; i < job->rounds; ++i) {
        checker_launch(&s->checker, 0, queue, job->buffer, &job->place, job->seeds[i], NULL, 0);
        if (ipt_plan_execute(job->plan, queue, job->buffer, job->place.offset, 0, NULL, NULL))
            stress_fail(s, job, ipt_context_error(NULL));
        checker_launch(&s->checker, 1, queue, job->buffer, &job->place, job->seeds[i], job->counters, (cl_uint)i);
        ++s->executions;
        s->cooperative += job->cooperative;
        s->exchanges += job->exchanges;
        s->registers += job->registers;
    }
    checker_need(!clEnqueueReadBuffer(queue, job->counters, CL_FALSE, 0, bytes, job->found, 0, NULL, &job->done),
                 "clEnqueueReadBuffer");
    clFlush(queue);
}

/* Waits for a job and reports its errors. */
static void stress_job_end(stress *s, stress_job *job)
{
    const checker_place *const place = &job->place;
    const size_t item = (size_t)1 << checker_item_log(place), matrix = place->rows * place->cols * place->elem_size;
    int i;
    stress_wait(s, job->done, job);
    clReleaseEvent(job->done);
    for (i = 0; i < job->rounds; ++i) {
        const checker_found found = job->found[i];
        const size_t at = found.first * item;
        const size_t in = at < place->offset ? matrix : (at - place->offset) % place->stride;
        char what[200];
        if (!found.wrong)
            continue;
        s->wrong_items += found.wrong;
        if (in < matrix && (at - place->offset) / place->stride < place->batch)
            snprintf(what, sizeof what,
                     "round %d: %u wrong items, the first at byte %zu: matrix %zu, row %zu, column %zu", i, found.wrong,
                     at, (at - place->offset) / place->stride, in / place->elem_size / place->rows,
                     in / place->elem_size % place->rows);
        else
            snprintf(what, sizeof what, "round %d: %u wrong items, the first at byte %zu: outside the matrices", i,
                     found.wrong, at);
        stress_fail(s, job, what);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void stress_progress(stress *s)
{
    size_t runs = 0;
    int i;
    if (s->quiet || stress_now() - s->shown < 5)
        return;
    s->shown = stress_now();
    for (i = 0; i < STRESS_CLASS_COUNT; ++i)
        runs += s->runs[i];
    printf("%6.0f s: %zu runs, %zu pairs, %zu executions, %zu failures (%s)\n", s->shown - s->start, runs, s->pairs,
           s->executions, s->failures, s->name);
    fflush(stdout);
}

/* Runs shapes of all classes in turn, one at a time, no longer than until `until`. */
static void stress_runs(stress *s, size_t runs, size_t bytes, double until)
{
    stress_job *const job = &s->jobs[0];
    size_t i;
    for (i = 0; i < runs && stress_now() < until; ++i) {
        const stress_class class = (stress_class)(i % STRESS_CLASS_COUNT);
        ipt_plan_desc desc;
        alarm(2 * STRESS_TIME_LIMIT);
        stress_shape(s, class, bytes, &desc);
        if (class != STRESS_SQUARE && stress_between(s, 0, 4) == 0) { /* short super-elements: many chains meet */
            const size_t most = desc.rows > desc.cols ? desc.rows : desc.cols;
            desc.sequence = IPT_SEQUENCE_TWO_PASS;
            desc.tile_m = desc.tile_n = stress_between(s, 1, most < 50 ? most : 50);
            desc.max_workspace = (size_t)1 << 30;
        } else if (class != STRESS_SQUARE && stress_between(s, 0, 3) == 0) { /* bands of any height */
            const size_t most = desc.rows > desc.cols ? desc.rows : desc.cols,
                         least = most / (desc.rows < desc.cols ? desc.rows : desc.cols) + 1;
            desc.sequence = IPT_SEQUENCE_EXCHANGE;
            desc.tile_m = least < 400 ? stress_between(s, least, 400 < most ? 400 : most) : 0;
            desc.max_workspace = (size_t)1 << 30;
        } else if (stress_between(s, 0, 7) == 0)
            desc.flags = IPT_NO_COOPERATIVE;
        if (stress_job_begin(s, job, &desc, NULL)) {
            stress_load_feed(&s->load, s->modest);
            stress_job_enqueue(s, job, s->queues[i % 2]);
            stress_job_end(s, job);
        }
        ++s->runs[class];
        ipt_plan_destroy(job->plan);
        job->plan = NULL;
        stress_progress(s);
    }
}

/* Runs a tall and a wide matrix on two queues at the same time, and the tall matrix's plan for another matrix on the
 * second queue. */
static void stress_pairs(stress *s, size_t pairs, size_t bytes, double until)
{
    size_t i;
    for (i = 0; i < pairs && stress_now() < until; ++i) {
        stress_job *const jobs = s->jobs;
        ipt_plan_desc tall, wide;
        int ready;
        alarm(2 * STRESS_TIME_LIMIT);
        stress_shape(s, i % 2 ? STRESS_TALL : STRESS_PRIME_TALL, bytes, &tall);
        stress_shape(s, i % 4 < 2 ? STRESS_WIDE : STRESS_PRIME_WIDE, bytes, &wide);
        ready = stress_job_begin(s, &jobs[0], &tall, NULL) && stress_job_begin(s, &jobs[1], &wide, NULL);
        if (ready) {
            stress_job_begin(s, &jobs[2], &jobs[0].desc, jobs[0].plan);
            stress_job_enqueue(s, &jobs[0], s->queues[0]);
            stress_job_enqueue(s, &jobs[1], s->queues[1]);
            stress_job_enqueue(s, &jobs[2], s->queues[1]);
            stress_job_end(s, &jobs[0]);
            stress_job_end(s, &jobs[1]);
            stress_job_end(s, &jobs[2]);
        }
        ++s->pairs;
        ipt_plan_destroy(jobs[0].plan);
        ipt_plan_destroy(jobs[1].plan);
        jobs[0].plan = jobs[1].plan = jobs[2].plan = NULL;
        stress_progress(s);
    }
}

#endif /* STRESS_H_INCLUDED */
