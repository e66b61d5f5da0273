/* Compares the OpenCL and the CUDA driver on one GPU, in turns: drivers [SHAPES] [SEED] [MEGABYTES], or drivers
 * SHAPE..., with a shape as 1000x777:4, 512x300:4:64 (a batch), or 20x30x40:4:2,1,0 (axes). Every result of both is
 * compared with the host's. */
#define _POSIX_C_SOURCE 200809L
#define IPT_CUDA
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include <math.h>
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* this file uses a part of plans.h */
#endif
#include "plans.h"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

enum { DRIVERS = 2, ROUNDS = 9, MOST_SHAPES = 4096 };

static const char *const kinds[] = {"floats", "doubles", "pictures", "skinny", "arrays", "batches", "named"};
enum { FLOATS, DOUBLES, PICTURES, SKINNY, ARRAYS, BATCHES, NAMED, KINDS };

typedef struct shape {
    int kind;
    ipt_plan_desc desc;
    size_t rank, lengths[IPT_MAX_RANK], axes[IPT_MAX_RANK], bytes; /* as an array */
} shape;

/* Medians in microseconds. */
typedef struct figures {
    int kind;
    size_t bytes;
    double times[DRIVERS], copy, host;
} figures;

static ipt_context *contexts[DRIVERS];
static const ipt__driver *drivers[DRIVERS];
static cl_command_queue queues[DRIVERS];
static figures all[MOST_SHAPES];
static uint64_t state = 1;

/* xorshift (Marsaglia 2003) */
static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* As many small as large ones. */
static size_t between(double low, double high)
{
    return (size_t)(low * pow(high / low, (double)draw(1000001) / 1e6));
}

static void set_matrices(shape *s, size_t batch, size_t rows, size_t cols)
{
    s->desc.rows = rows;
    s->desc.cols = cols;
    s->desc.batch = batch;
    s->rank = 3;
    s->lengths[0] = batch;
    s->lengths[1] = rows;
    s->lengths[2] = cols;
    s->axes[1] = 2;
    s->axes[2] = 1;
}

static void set_axes(shape *s)
{
    size_t i;
    s->desc.rank = (unsigned)s->rank;
    for (i = 0; i < s->rank; ++i) {
        s->desc.shape[i] = s->lengths[i];
        s->desc.axes[i] = (unsigned)s->axes[i];
    }
}

static void set_bytes(shape *s)
{
    size_t i;
    s->bytes = s->desc.elem_size;
    for (i = 0; i < s->rank; ++i)
        s->bytes *= s->lengths[i];
}

static shape random_shape(int kind)
{
    static const size_t sides[] = {64,  100,  224,  240,  299,  320,  360,  480,  512,  600,  640,  720,  768,
                                   800, 1024, 1080, 1280, 1366, 1440, 1600, 1920, 2160, 2560, 3000, 3840, 4000};
    static const size_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16};
    const size_t count = sizeof sides / sizeof *sides;
    shape s;
    size_t i;
    memset(&s, 0, sizeof s);
    s.kind = kind;
    s.desc.elem_size = kind == FLOATS                       ? 4
                       : kind == DOUBLES                    ? 8
                       : kind == PICTURES || kind == ARRAYS ? sizes[draw(sizeof sizes / sizeof *sizes)]
                                                            : (size_t)4 << draw(2);
    if (kind == PICTURES) {
        i = (size_t)draw(count);
        set_matrices(&s, 1, sides[i], sides[draw(count)]);
    } else if (kind == SKINNY) {
        const size_t thin = between(2, 64), length = between(2e4, 4e6);
        const int turned = (int)draw(2);
        set_matrices(&s, 1, turned ? length : thin, turned ? thin : length);
    } else if (kind == ARRAYS) {
        s.rank = 3 + (size_t)draw(2);
        for (i = 0; i < s.rank; ++i) {
            s.lengths[i] = between(3, s.rank == 3 ? 700 : 150);
            s.axes[i] = i;
        }
        do
            for (i = s.rank; i-- > 1;) {
                const size_t other = (size_t)draw(i + 1), axis = s.axes[i];
                s.axes[i] = s.axes[other];
                s.axes[other] = axis;
            }
        while (s.axes[0] == 0 && s.axes[1] == 1);
        set_axes(&s);
    } else if (kind == BATCHES) {
        const size_t batch = between(2, 2000), rows = between(8, 800);
        set_matrices(&s, batch, rows, between(8, 800));
    } else {
        const size_t rows = between(150, 9000);
        set_matrices(&s, 1, rows, between(150, 9000));
    }
    set_bytes(&s);
    return s;
}

static shape named_shape(const char *name)
{
    shape s;
    char *end;
    const char *p = name;
    memset(&s, 0, sizeof s);
    s.kind = NAMED;
    for (;; p = end + 1) {
        need(s.rank < IPT_MAX_RANK, "an array of so many dimensions");
        s.lengths[s.rank++] = (size_t)strtoull(p, &end, 10);
        if (*end != 'x')
            break;
    }
    need(*end == ':', "a shape such as 1000x777:4");
    s.desc.elem_size = (size_t)strtoull(end + 1, &end, 10);
    if (*end == ':' && strchr(end, ',')) {
        size_t i;
        for (i = 0; i < s.rank && *end; ++i)
            s.axes[i] = (size_t)strtoull(end + 1, &end, 10);
        set_axes(&s);
    } else {
        need(s.rank == 2, "axes for an array");
        set_matrices(&s, *end == ':' ? (size_t)strtoull(end + 1, NULL, 10) : 1, s.lengths[0], s.lengths[1]);
    }
    set_bytes(&s);
    return s;
}

static void print_name(const shape *s)
{
    char name[200];
    int length = 0;
    size_t i;
    for (i = s->desc.rank ? 0 : 1; i < s->rank; ++i)
        length += sprintf(name + length, "%s%zu", length ? "x" : "", s->lengths[i]);
    length += sprintf(name + length, ":%zu", s->desc.elem_size);
    if (!s->desc.rank && s->desc.batch > 1)
        length += sprintf(name + length, ":%zu", s->desc.batch);
    for (i = 0; s->desc.rank && i < s->rank; ++i)
        length += sprintf(name + length, "%c%zu", i ? ',' : ':', s->axes[i]);
    printf("%-26s", name);
}

/* Whether `after` is `before` with its axes exchanged. */
static int is_moved(const shape *s, const unsigned char *before, const unsigned char *after)
{
    size_t strides[IPT_MAX_RANK], place[IPT_MAX_RANK] = {0}, from = 0, to, i;
    const size_t size = s->desc.elem_size;
    strides[s->rank - 1] = size;
    for (i = s->rank - 1; i-- > 0;)
        strides[i] = strides[i + 1] * s->lengths[i + 1];
    for (to = 0; to < s->bytes; to += size) {
        if (memcmp(after + to, before + from, size))
            return 0;
        for (i = s->rank; i-- > 0;) {
            from += strides[s->axes[i]];
            if (++place[i] < s->lengths[s->axes[i]])
                break;
            from -= strides[s->axes[i]] * place[i];
            place[i] = 0;
        }
    }
    return 1;
}

static void measure(const shape *s, figures *found)
{
    unsigned char *const before = malloc(s->bytes), *const after = malloc(s->bytes);
    const int executions = s->bytes > 400000000 ? 3 : s->bytes > 40000000 ? 10 : s->bytes > 4000000 ? 20 : 50;
    double times[DRIVERS][ROUNDS], copies[ROUNDS], hosts[ROUNDS];
    ipt_plan *plans[DRIVERS];
    cl_mem memory[DRIVERS], other;
    cl_int error;
    size_t i;
    int d, round;
    need(before && after, "malloc");
    for (i = 0; i < s->bytes; ++i)
        before[i] = (unsigned char)draw(256);
    other = drivers[1]->clCreateBuffer(contexts[1]->context, CL_MEM_READ_WRITE, s->bytes, NULL, &error);
    need(!error, "the copy's memory");
    for (d = 0; d < DRIVERS; ++d) {
        need(!ipt_plan_create(contexts[d], &s->desc, &plans[d]), "ipt_plan_create");
        memory[d] = drivers[d]->clCreateBuffer(contexts[d]->context, CL_MEM_READ_WRITE, s->bytes, NULL, &error);
        need(!error &&
                 !drivers[d]->clEnqueueWriteBuffer(queues[d], memory[d], CL_TRUE, 0, s->bytes, before, 0, NULL, NULL) &&
                 !ipt_plan_execute(plans[d], queues[d], memory[d], 0, 0, NULL, NULL) &&
                 !drivers[d]->clEnqueueReadBuffer(queues[d], memory[d], CL_TRUE, 0, s->bytes, after, 0, NULL, NULL),
             "an execution");
        if (!is_moved(s, before, after)) {
            print_name(s);
            printf(" is wrong with %s\n", d ? "CUDA" : "OpenCL");
            exit(1);
        }
    }
    for (round = 0; round < ROUNDS; ++round)
        for (d = 0; d < DRIVERS + 1; ++d) {
            const int copies_only = d == DRIVERS, by = copies_only ? 1 : d;
            double begin, enqueued, end;
            need(!drivers[by]->clFinish(queues[by]), "clFinish");
            begin = now();
            for (i = 0; i < (size_t)executions; ++i)
                need(copies_only
                         ? !drivers[1]->clEnqueueCopyBuffer(queues[1], memory[1], other, 0, 0, s->bytes, 0, NULL, NULL)
                         : !ipt_plan_execute(plans[d], queues[d], memory[d], 0, 0, NULL, NULL),
                     "an execution");
            enqueued = now();
            need(!drivers[by]->clFinish(queues[by]), "clFinish");
            end = now();
            *(copies_only ? &copies[round] : &times[d][round]) = 1e6 * (end - begin) / executions;
            if (d == 1)
                hosts[round] = 1e6 * (enqueued - begin) / executions;
        }
    for (d = 0; d < DRIVERS; ++d) {
        found->times[d] = median(times[d], ROUNDS);
        ipt_plan_destroy(plans[d]);
        drivers[d]->clReleaseMemObject(memory[d]);
    }
    drivers[1]->clReleaseMemObject(other);
    found->copy = median(copies, ROUNDS);
    found->host = hosts[0];
    for (round = 1; round < ROUNDS; ++round) /* a full queue blocks the host: the least time is its own */
        found->host = hosts[round] < found->host ? hosts[round] : found->host;
    found->kind = s->kind;
    found->bytes = s->bytes;
    free(before);
    free(after);
}

/* Quotients of the kind's shapes, or of all shapes or small pictures. */
static void print_summary(const char *name, size_t count, int kind, size_t most_bytes)
{
    static double quotients[MOST_SHAPES];
    size_t i, n = 0, slower = 0;
    for (i = 0; i < count; ++i)
        if ((kind == KINDS || all[i].kind == kind) && all[i].bytes <= most_bytes)
            quotients[n++] = all[i].times[1] / all[i].times[0];
    if (!n)
        return;
    qsort(quotients, n, sizeof *quotients, compare_doubles);
    for (i = 0; i < n; ++i)
        slower += quotients[i] > 1.02;
    printf("%-15s %4zu shapes: CUDA's time to OpenCL's %.3f to %.3f, median %.3f; above 1.02: %zu\n", name, n,
           quotients[0], quotients[n - 1], quotients[n / 2], slower);
}

static double time_to_plan(ipt_context *context, const shape *s)
{
    ipt_plan *plan;
    double begin = now();
    need(!ipt_plan_create(context, &s->desc, &plan), "ipt_plan_create");
    begin = 1e6 * (now() - begin);
    ipt_plan_destroy(plan);
    return begin;
}

/* In a new context, programs come from the disk, or are compiled. */
static double time_to_load(const shape *s)
{
    ipt_context_desc desc = {0};
    ipt_context *context;
    double found;
    desc.driver = IPT_DRIVER_CUDA;
    need(!ipt_context_create(&desc, &context), "ipt_context_create");
    found = time_to_plan(context, s);
    ipt_context_destroy(context);
    return found;
}

/* Sorts. */
static void print_times(const char *what, double *times, size_t count)
{
    qsort(times, count, sizeof *times, compare_doubles);
    printf("%s: median %.1f, most %.1f\n", what, times[count / 2], times[count - 1]);
}

int main(int count, char **arguments)
{
    static double plan_times[MOST_SHAPES], load_times[MOST_SHAPES], hosts[MOST_SHAPES];
    const int named = count > 1 && strchr(arguments[1], ':');
    const size_t shapes = named ? (size_t)count - 1 : count > 1 ? (size_t)strtoull(arguments[1], NULL, 10) : 60;
    const size_t most = (count > 3 && !named ? (size_t)strtoull(arguments[3], NULL, 10) : 256) << 20;
    size_t i;
    int d;
    char text[1024];
    need(shapes && shapes <= MOST_SHAPES, "that many shapes");
    if (count > 2 && !named)
        state = 2 * strtoull(arguments[2], NULL, 10) + 1;
    for (i = 0; i < 20; ++i)
        draw(2);
    for (d = 0; d < DRIVERS; ++d) {
        ipt_context_desc desc = {0};
        cl_int error;
        desc.driver = d ? IPT_DRIVER_CUDA : IPT_DRIVER_OPENCL;
        need(!ipt_context_create(&desc, &contexts[d]), "ipt_context_create");
        drivers[d] = ipt__driver_of(contexts[d]->driver);
        queues[d] = drivers[d]->clCreateCommandQueue(contexts[d]->context, contexts[d]->device, 0, &error);
        need(!error && !ipt_device_describe(contexts[d]->device, text, sizeof text), "the device");
        printf("%s: %s", d ? "CUDA" : "OpenCL", text);
    }
    printf("%-26s %9s %9s %9s %7s %9s %7s %9s\n", "microseconds", "OpenCL", "CUDA", "quotient", "host's", "a copy",
           "a plan", "programs");
    for (i = 0; i < shapes; ++i) {
        shape s;
        if (named)
            s = named_shape(arguments[i + 1]);
        else
            do
                s = random_shape((int)i % NAMED);
            while (s.bytes > most);
        measure(&s, &all[i]);
        plan_times[i] = time_to_plan(contexts[1], &s);
        load_times[i] = time_to_load(&s);
        hosts[i] = all[i].host;
        print_name(&s);
        printf(" %9.1f %9.1f %9.3f %7.1f %9.1f %7.0f %9.0f\n", all[i].times[0], all[i].times[1],
               all[i].times[1] / all[i].times[0], all[i].host, all[i].copy, plan_times[i], load_times[i]);
        fflush(stdout);
    }
    for (d = 0; d < KINDS; ++d)
        print_summary(kinds[d], shapes, d, (size_t)-1);
    print_summary("small pictures", shapes, PICTURES, 1 << 20);
    print_summary("all", shapes, KINDS, (size_t)-1);
    print_times("the host's time of an execution", hosts, shapes);
    print_times("a plan whose programs the context has", plan_times, shapes);
    print_times("a plan whose programs the cache on the disk has", load_times, shapes);
    printf("%zu shapes, every result of both drivers is right\n", shapes);
    for (d = 0; d < DRIVERS; ++d) {
        drivers[d]->clReleaseCommandQueue(queues[d]);
        ipt_context_destroy(contexts[d]);
    }
    return 0;
}
