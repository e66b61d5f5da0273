/* Random arrays of 2 to 6 axes with strides: sub-arrays of larger arrays, axes in any sequence, interleaved batches.
 * Each is permuted in place, out of place and in host memory. Every byte of memory is compared with an index formula,
 * those between the elements, too. Contexts report the device as what it is, as a GPU, and as one with little local
 * memory. Usage: views CASES [SEED] [FIRST]; FIRST is the number of the first case. Exit code: 0 success, 1 failure, 4
 * hang. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "told_gpu.h"

#define clGetDeviceInfo told_clGetDeviceInfo
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#undef clGetDeviceInfo
#include "views.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { HANGS = 4, TIME_LIMIT = 300 /* seconds for a case */, GUARD = 64, KINDS = 3 };

static ipt_context *contexts[KINDS];
static cl_command_queue queue;
static char now[1024]; /* the case */
static size_t wrong, matrices, elements, cut, windows, dense, repeated, pairs, expressions, plans[KINDS];

static void fail(const char *what)
{
    fprintf(stderr, "FAILED: %s: %s: %s\n", now, what, ipt_context_error(NULL));
    exit(EXIT_FAILURE);
}

static void hangs(int number)
{
    (void)number;
    if (write(STDERR_FILENO, "HANGS: ", 7) < 0 || write(STDERR_FILENO, now, strlen(now)) < 0)
        _exit(HANGS);
    _exit(HANGS);
}

static unsigned char *memory(size_t bytes)
{
    unsigned char *const made = (unsigned char *)malloc(bytes);
    if (!made)
        fail("memory");
    return made;
}

static void check(const char *how, const ipt_plan *plan, const unsigned char *got, const unsigned char *after,
                  const unsigned char *any, size_t bytes)
{
    const size_t at = views_differ(got, after, any, bytes);
    if (at == bytes)
        return;
    ++wrong;
    fprintf(stderr, "FAILED: wrong bytes: %s: %s, byte %zu of %zu\n%s", now, how, at, bytes, ipt_plan_describe(plan));
}

/* Executes a plan: way 0 in place, 1 out of place, 2 in host memory. */
static void run(ipt_context *context, ipt_plan *plan, const ipt_plan_desc *desc, size_t offset, int way)
{
    static const char *const ways[] = {"in place", "out of place", "host"};
    const size_t spans[2] = {views_span(desc, 0), views_span(desc, 1)},
                 all = offset + (spans[0] > spans[1] ? spans[0] : spans[1]) + (way == 2 ? GUARD : 0);
    unsigned char *const before = memory(all), *const after = memory(all), *const any = memory(all),
                         *const got = memory(all), *const other = memory(all);
    const cl_context cl = ipt_context_cl_context(context);
    cl_int error = 0, failed;
    cl_mem from, to;
    size_t i;
    for (i = 0; i < all; ++i) {
        before[i] = (unsigned char)views_between(0, 255);
        other[i] = way == 1 ? (unsigned char)views_between(0, 255) : before[i];
    }
    memcpy(after, other, all);
    memset(any, 0, all);
    views_expect(desc, offset, before, way != 1, after, any);
    if (way == 2) {
        memcpy(got, before, all);
        if (ipt_plan_execute_host(plan, got + offset))
            fail("host execution");
    } else {
        from = clCreateBuffer(cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, all, before, &error);
        to = way == 1 ? clCreateBuffer(cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, all, other, &failed) : from;
        if (error || !to)
            fail("buffers");
        if (way == 1 ? ipt_plan_execute_out_of_place(plan, queue, from, offset, to, offset, 0, NULL, NULL)
                     : ipt_plan_execute(plan, queue, from, offset, 0, NULL, NULL))
            fail("execution");
        if (clEnqueueReadBuffer(queue, to, CL_TRUE, 0, all, got, 0, NULL, NULL))
            fail("read");
        if (way == 1) {
            memset(any, 0, all);
            check(ways[1], plan, got, after, any, all);
            if (clEnqueueReadBuffer(queue, from, CL_TRUE, 0, all, got, 0, NULL, NULL))
                fail("read");
            memcpy(after, before, all);
            clReleaseMemObject(to);
        }
        clReleaseMemObject(from);
    }
    check(ways[way], plan, got, after, any, all);
    free(before);
    free(after);
    free(any);
    free(got);
    free(other);
}

static void try_case(unsigned long long seed, size_t number)
{
    ipt_plan_desc desc;
    ipt_plan *plan;
    const char *text;
    size_t kind, offset;
    do {
        views_state = (seed << 32) ^ (number * 0x2545f4914f6cdd1du) ^ views_state;
        desc = views_draw(number % 16 ? 3000 : 100000);
    } while (!views_are_apart(&desc, 0) || !views_are_apart(&desc, 1));
    kind = views_between(0, KINDS - 1);
    offset = desc.elem_size * views_between(0, 20);
    if (desc.elem_size == 1 || desc.elem_size == 4)
        if (views_between(0, 2) == 0) {
            desc.expression = desc.elem_size == 1 ? "x + 1" : "x + (uchar4)1";
            desc.expression_type = desc.elem_size == 1 ? "uchar" : "uchar4";
        }
    desc.max_workspace = views_between(0, 2) == 0 ? views_between(1, 600) : 0;
    views_print(&desc, now, sizeof now);
    snprintf(now + strlen(now), sizeof now - strlen(now), ", offset %zu, context %zu, seed %llu case %zu", offset, kind,
             seed, number);
    if (ipt_plan_create(contexts[kind], &desc, &plan)) {
        if (!desc.max_workspace || !strstr(ipt_context_error(NULL), "would do"))
            fail("plan");
        desc.max_workspace = 0;
        if (ipt_plan_create(contexts[kind], &desc, &plan)) { /* thin matrices need more than the default */
            const char *const at = strstr(ipt_context_error(NULL), "max_workspace = ");
            if (!at)
                fail("plan");
            desc.max_workspace = strtoull(at + 16, NULL, 10);
            if (ipt_plan_create(contexts[kind], &desc, &plan))
                fail("plan");
        }
    }
    ++plans[kind];
    text = ipt_plan_describe(plan);
    expressions += desc.expression != NULL;
    if (plan->passes && plan->passes->count > 1)
        ++pairs;
    else if (!plan->passes || !plan->passes->list[0].plan->problem.array.strides[0][0])
        ++*(plan->problem.array.strides[0][0] ? &matrices : &dense);
    else
        ++elements;
    repeated += plan->passes && plan->passes->list[0].repeats > 1;
    windows += strstr(text, " windows") != NULL;
    cut += plan->passes && plan->passes->list[0].plan->problem.array.strides[0][0] &&
           plan->passes->list[0].plan->problem.desc.elem_size % desc.elem_size;
    run(contexts[kind], plan, &desc, offset, 0);
    if (number % 2)
        run(contexts[kind], plan, &desc, offset, 1);
    if (number % 3 == 0)
        run(contexts[kind], plan, &desc, views_between(0, 2) ? offset : 16, 2);
    if (number % 5 == 0)
        run(contexts[kind], plan, &desc, offset + 16, 0);
    ipt_plan_destroy(plan);
}

static void open_contexts(void)
{
    ipt_context_desc desc;
    cl_int error;
    int i;
    memset(&desc, 0, sizeof desc);
    for (i = 0; i < KINDS; ++i) {
        told = i > 0;
        desc.max_local_memory = i == 2 ? 4096 : 0;
        if (ipt_context_create(&desc, &contexts[i]))
            fail("ipt_context_create");
        desc.context = ipt_context_cl_context(contexts[0]);
        desc.device = ipt_context_cl_device(contexts[0]);
    }
    told = 0;
    queue = clCreateCommandQueue(desc.context, desc.device, 0, &error);
    if (error)
        fail("clCreateCommandQueue");
}

int main(int count, char **arguments)
{
    const size_t cases = count > 1 ? strtoull(arguments[1], NULL, 10) : 300,
                 first = count > 3 ? strtoull(arguments[3], NULL, 10) : 0;
    const unsigned long long seed = count > 2 ? strtoull(arguments[2], NULL, 10) : (unsigned long long)time(NULL);
    size_t i;
    int k;
    signal(SIGALRM, hangs);
    open_contexts();
    for (i = first; i < first + cases && !wrong; ++i) {
        alarm(TIME_LIMIT);
        views_state = 0;
        try_case(seed, i);
    }
    printf("%zu cases, seed %llu: %zu without gaps, %zu of matrices (%zu repeated), %zu in two passes, %zu by elements "
           "(%zu cut, %zu in "
           "windows), %zu with an expression; contexts",
           i - first, seed, dense, matrices, repeated, pairs, elements, cut, windows, expressions);
    for (k = 0; k < KINDS; ++k) {
        printf(" %zu", plans[k]);
        ipt_context_destroy(contexts[k]);
    }
    printf("; %zu wrong\n", wrong);
    clReleaseCommandQueue(queue);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
