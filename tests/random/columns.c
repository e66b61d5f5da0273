/* Random arrays of three to eight axes that move by permuted columns, against a plain loop over their indices. Elements
 * have 1 to 24 bytes. The device is reported as a GPU. Contexts assume different numbers of resident work-groups
 * and polls, so some executions end with positions that one work-group moves. With WAVES, the device is reported as
 * what it is: a CPU moves bands in waves, within a random workspace. Each plan is executed three times, and every byte
 * of the buffer is compared; the first wrong case ends the run. Usage: columns CASES [SEED] [FIRST] [WAVES]; FIRST is
 * the number of the first case, WAVES is 1 or 0. Exit code: 0 success, 1 failure, 4 hang, 77 if the device has no
 * permuted columns. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "told_gpu.h"

#define clGetDeviceInfo told_clGetDeviceInfo
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#undef clGetDeviceInfo
#include "whole.h"

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { SKIPPED = 77, HANGS = 4, TIME_LIMIT = 300 /* seconds for a case */, TRIES = 100, GUARD = 64, ROUNDS = 3 };

/* What the contexts assume. */
static const struct {
    size_t local_memory, resident, polls;
} kinds[] = {{16384, 3, 20000}, {16384, 4, 20000}, {16384, 12, 200}, {16384, 6, 5}, {16384, 8, 20}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static ipt_context *contexts[KINDS];
static cl_command_queue queue;
static char now[512]; /* the case */
static int waves;     /* see above */
static size_t moved, several, forms[2], rest_rows, rest_columns, with_expression, ranks[IPT_MAX_RANK + 1], wrong;

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

static uint64_t state;
static uint64_t random_number(void)
{
    uint64_t value = state += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}
static size_t between(size_t least, size_t most)
{
    return least + (size_t)(random_number() % (most - least + 1));
}

/* A number from `least` to `most`; small ones are as frequent as large ones. */
static size_t of_any_size(size_t least, size_t most)
{
    const double share = (double)between(0, 1000) / 1000;
    return (size_t)((double)least * pow((double)most / (double)least, share));
}

/* Draws the axes: of those in [begin, end), the first one becomes the last one, or the reverse. Others stay. */
static void draw_axes(ipt_plan_desc *desc)
{
    const unsigned begin = desc->rank > 3 && between(0, 3) == 0,
                   end = desc->rank - (desc->rank > 4 && between(0, 3) == 0), from = between(0, 1) ? begin : end - 1,
                   to = begin + end - 1 - from;
    unsigned i;
    for (i = 0; i < desc->rank; ++i)
        desc->axes[i] = i;
    for (i = end; i > begin + 1; --i) {
        const unsigned at = (unsigned)between(begin, i - 1), axis = desc->axes[i - 1];
        desc->axes[i - 1] = desc->axes[at];
        desc->axes[at] = axis;
    }
    for (i = begin; desc->axes[i] != from; ++i)
        ;
    desc->axes[i] = desc->axes[to];
    desc->axes[to] = from;
}

static void draw_expression(ipt_plan_desc *desc)
{
    static const char *const types[] = {NULL, NULL, "ushort", NULL, "uint"}; /* few, because each is a program */
    if (desc->elem_size <= 4 && types[desc->elem_size] && between(0, 3) == 0) {
        desc->expression = "x ^ 1";
        desc->expression_type = types[desc->elem_size];
    }
}

static ipt_plan_desc draw(void)
{
    ipt_plan_desc desc;
    size_t left;
    unsigned i, first;
    memset(&desc, 0, sizeof desc);
    desc.elem_size = between(1, 24);
    desc.rank = (unsigned)between(3, 8);
    desc.batch = between(0, 4) ? 0 : between(2, 4);
    left = of_any_size(4000, 300000) / desc.elem_size;
    first = (unsigned)between(0, desc.rank - 1);
    for (i = 0; i < desc.rank; ++i) { /* the last one takes what remains */
        const unsigned axis = (first + i) % desc.rank;
        const size_t most = left < 40 ? left : 40;
        desc.shape[axis] = i + 1 == desc.rank ? left : most < 2 ? 1 : of_any_size(between(1, 2), most);
        left = (left + desc.shape[axis] - 1) / desc.shape[axis];
    }
    draw_axes(&desc);
    draw_expression(&desc);
    return desc;
}

static size_t elements_of(const ipt_plan_desc *desc)
{
    size_t elements = 1;
    unsigned i;
    for (i = 0; i < desc->rank; ++i)
        elements *= desc->shape[i];
    return elements;
}

/* Permutes an array by its indices. */
static void permute(const ipt_plan_desc *desc, const unsigned char *from, unsigned char *to)
{
    const size_t size = desc->elem_size, elements = elements_of(desc);
    size_t at, apart[IPT_MAX_RANK], distance = 1, index[IPT_MAX_RANK] = {0};
    unsigned i;
    for (i = desc->rank; i-- > 0; distance *= desc->shape[i])
        apart[i] = distance;
    for (at = 0; at < elements; ++at) {
        size_t source = 0;
        for (i = 0; i < desc->rank; ++i)
            source += index[i] * apart[desc->axes[i]];
        memcpy(to + at * size, from + source * size, size);
        if (desc->expression) /* changes the lowest bit: elements are little-endian on devices that take this test */
            to[at * size] ^= 1;
        for (i = desc->rank; i-- > 0 && ++index[i] == desc->shape[desc->axes[i]];)
            index[i] = 0;
    }
}

static void describe(const ipt_plan_desc *desc, unsigned long long seed, size_t number, size_t kind, size_t offset)
{
    size_t used = (size_t)snprintf(
        now, sizeof now, "seed %llu case %zu: context %zu, elem_size %zu, batch %zu, offset %zu%s, shape", seed, number,
        kind, desc->elem_size, desc->batch, offset, desc->expression ? ", expression" : "");
    unsigned i;
    for (i = 0; i < desc->rank; ++i)
        used += (size_t)snprintf(now + used, sizeof now - used, " %zu", desc->shape[i]);
    used += (size_t)snprintf(now + used, sizeof now - used, ", axes");
    for (i = 0; i < desc->rank; ++i)
        used += (size_t)snprintf(now + used, sizeof now - used, " %u", desc->axes[i]);
}

/* Executes the plan with new data each time. Compares the whole buffer. */
static void run(ipt_context *context, ipt_plan *plan, const ipt_plan_desc *desc, size_t offset)
{
    const size_t bytes = elements_of(desc) * desc->elem_size, batch = desc->batch ? desc->batch : 1,
                 all = offset + batch * bytes + GUARD;
    unsigned char *const before = (unsigned char *)malloc(all), *const after = (unsigned char *)malloc(all),
                         *const right = (unsigned char *)malloc(all);
    cl_int error;
    const cl_mem buffer = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, all, NULL, &error);
    size_t i, m;
    int round;
    if (error || !before || !after || !right)
        fail("memory");
    for (round = 0; round < ROUNDS; ++round) {
        for (i = 0; i < all; ++i)
            before[i] = (unsigned char)(random_number() >> 32);
        memcpy(right, before, all);
        for (m = 0; m < batch; ++m)
            permute(desc, before + offset + m * bytes, right + offset + m * bytes);
        if (clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, all, before, 0, NULL, NULL) ||
            ipt_plan_execute(plan, queue, buffer, offset, 0, NULL, NULL) ||
            clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, all, after, 0, NULL, NULL))
            fail("execution");
        for (i = 0; i < all && after[i] == right[i]; ++i)
            ;
        if (i < all) {
            ++wrong;
            fprintf(stderr, "FAILED: wrong bytes: %s: execution %d, byte %zu of %zu\n%s", now, round, i, all,
                    ipt_plan_describe(plan));
            break;
        }
    }
    clReleaseMemObject(buffer);
    free(before);
    free(after);
    free(right);
}

/* Counts plans that save rest rows or rest columns in the workspace. */
static void count_rests(const ipt_plan *plan)
{
    const ipt__layout *const layout = &plan->passes->list[0].plan->device->layout;
    int i;
    for (i = 0; i < layout->stage_count; ++i)
        if (layout->stages[i].kind == IPT__STAGE_EXCHANGE && layout->saved_elements)
            ++*(layout->stages[i].as.bands.saves_rows ? &rest_rows : &rest_columns);
}

/* Draws arrays until one of them has permuted columns, and runs it. Returns 0 if none has. */
static int try_case(unsigned long long seed, size_t number)
{
    int i;
    state = (seed << 32) ^ (number * 0x2545f4914f6cdd1du);
    for (i = 0; i < TRIES; ++i) {
        ipt_plan_desc desc = draw();
        /* Waves depend on polls alone, and each context compiles its programs. */
        const size_t kind = waves ? 3 * between(0, 1) : between(0, KINDS - 1),
                     offset = 16 * between(0, 2) * desc.elem_size;
        ipt_plan *plan;
        const char *text;
        if (waves) /* so that an array has several bands */
            desc.max_workspace = 2000 + elements_of(&desc) * desc.elem_size / between(1, 40);
        describe(&desc, seed, number, kind, offset);
        if (whole_plan(contexts[kind], &desc, IPT__WAY_COLUMNS, &plan))
            fail("plan");
        if (!plan)
            continue;
        text = ipt_plan_describe(plan);
        if (!strstr(text, " permuted"))
            fail(text);
        several += strstr(text, ": 1 bands") == NULL;
        ++forms[strstr(text, "columns permuted") == NULL];
        count_rests(plan);
        with_expression += desc.expression != NULL;
        ++ranks[desc.rank];
        run(contexts[kind], plan, &desc, offset);
        ipt_plan_destroy(plan);
        ++moved;
        return 1;
    }
    return 0;
}

static void open_contexts(void)
{
    ipt_context_desc desc;
    cl_int error;
    int i;
    memset(&desc, 0, sizeof desc);
    told = !waves;
    for (i = 0; i < KINDS; ++i) {
        desc.max_local_memory = kinds[i].local_memory;
        desc.resident_groups = kinds[i].resident;
        desc.wait_polls = kinds[i].polls;
        if (ipt_context_create(&desc, &contexts[i]))
            fail("ipt_context_create");
        desc.context = ipt_context_cl_context(contexts[0]);
        desc.device = ipt_context_cl_device(contexts[0]);
    }
    queue = clCreateCommandQueue(ipt_context_cl_context(contexts[0]), ipt_context_cl_device(contexts[0]), 0, &error);
    if (error)
        fail("clCreateCommandQueue");
}

static void show(double seconds)
{
    unsigned i;
    printf("columns: %.0f s: %zu arrays, %zu in several bands, %zu by columns, %zu by rows, %zu save rest rows, "
           "%zu rest columns, %zu with an expression; of rank",
           seconds, moved, several, forms[0], forms[1], rest_rows, rest_columns, with_expression);
    for (i = 3; i <= IPT_MAX_RANK; ++i)
        printf(" %u: %zu", i, ranks[i]);
    printf("; %zu wrong\n", wrong);
    fflush(stdout);
}

int main(int count, char **arguments)
{
    const size_t cases = count > 1 ? strtoull(arguments[1], NULL, 10) : 200,
                 first = count > 3 ? strtoull(arguments[3], NULL, 10) : 0;
    const unsigned long long seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    const time_t start = time(NULL);
    time_t shown = start;
    size_t number;
    int i;
    waves = count > 4 && atoi(arguments[4]);
    signal(SIGALRM, hangs);
    open_contexts();
    for (number = first; number < first + cases && !wrong; ++number) {
        alarm(TIME_LIMIT);
        if (!try_case(seed, number) && number == first) {
            printf("columns: the device has no permuted columns\n");
            return SKIPPED;
        }
        if (time(NULL) - shown >= 20) {
            shown = time(NULL);
            show((double)(shown - start));
        }
    }
    show((double)(time(NULL) - start));
    for (i = 0; i < KINDS; ++i)
        ipt_context_destroy(contexts[i]);
    clReleaseCommandQueue(queue);
    /* Fewer kinds of arrays would be a test of something else. */
    if (!wrong && cases >= 100 &&
        (moved < cases / 2 || several < cases / 4 || forms[0] < cases / 8 || forms[1] < cases / 8 || !rest_rows ||
         !rest_columns)) {
        printf("columns: too few arrays of a kind\n");
        return EXIT_FAILURE;
    }
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
