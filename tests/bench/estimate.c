/* Compares the planner's choice with the best super-element length that a search finds, for random shapes of floats.
 * Usage: estimate [SHAPES] [SEED] [SECONDS_LIMIT]; 0: the default. GB/s count each byte twice: read and written. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "plans.h"

enum {
    LONGEST = 512,  /* super-elements, in elements */
    MOST = 160,     /* candidates of a shape: the grid and the divisors */
    FINALISTS = 3,  /* of the search: what is fast by chance is timed again, with the planner's own plan next to it */
    ROUNDS = 3,     /* of the search: the median counts */
    LAST_ROUNDS = 5 /* of the finalists */
};

typedef struct candidate {
    size_t length;
    double seconds;
} candidate;

static int compare_candidates(const void *first, const void *second)
{
    return compare_doubles(&((const candidate *)first)->seconds, &((const candidate *)second)->seconds);
}

/* The length of the plan's super-elements, by its description; 0: it has none. */
static size_t length_of(const ipt_plan *plan)
{
    const char *const shuffle = strstr(ipt_plan_describe(plan), "shuffle:");
    const char *const found = shuffle ? strstr(shuffle, "super-elements of ") : NULL;
    return found ? strtoul(found + strlen("super-elements of "), NULL, 10) : 0;
}

/* A plan of the planner's own (length 0) or with this length; NULL if it is not possible. */
static ipt_plan *make_plan(size_t rows, size_t cols, size_t length, unsigned flags)
{
    ipt_plan_desc desc = {0};
    ipt_plan *plan = NULL;
    ipt_result result;
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = sizeof(float);
    desc.flags = flags;
    desc.measure_buffer = flags & IPT_MEASURE ? buffer : NULL;
    if (length) {
        desc.sequence = IPT_SEQUENCE_TWO_PASS;
        *(rows >= cols ? &desc.tile_m : &desc.tile_n) = length;
    }
    result = ipt_plan_create(context, &desc, &plan);
    need(!result || (length && result == IPT_ERROR_UNSUPPORTED), "ipt_plan_create");
    return plan;
}

/* The lengths to try, each once. */
static size_t candidates_for(size_t longer, size_t own, candidate *candidates)
{
    size_t length, count = 0;
    for (length = 1; length <= LONGEST && length <= longer; ++length) {
        const int in_grid = length >= 4 && length % (length <= 128 ? 4 : length <= 256 ? 16 : 32) == 0;
        if ((in_grid || (length >= 4 && longer % length == 0) || length == own) && count < MOST - 1)
            candidates[count++].length = length;
    }
    if (own > LONGEST)
        candidates[count++].length = own;
    return count;
}

/* Shows one shape and puts what the planner and IPT_MEASURE lose, in percent, into losses[0] and [1]. 0: nothing to
 * search. */
static int try_shape(size_t rows, size_t cols, double losses[2])
{
    const double bytes = 2.0 * sizeof(float) * (double)rows * (double)cols;
    const size_t longer = rows > cols ? rows : cols;
    candidate candidates[MOST];
    ipt_plan *plans[2 + FINALISTS] = {NULL};
    double times[2 + FINALISTS][LAST_ROUNDS], medians[2 + FINALISTS];
    size_t tried = 0, count, best = 0, lengths[2 + FINALISTS], p, i;
    int executions, round;
    plans[0] = make_plan(rows, cols, 0, IPT_ESTIMATE);
    lengths[0] = length_of(plans[0]);
    if (!lengths[0]) {
        printf("%5lu x %-5lu  no super-elements to choose\n", (unsigned long)rows, (unsigned long)cols);
        ipt_plan_destroy(plans[0]);
        return 0;
    }
    count = candidates_for(longer, lengths[0], candidates);
    for (i = 0; i < count; ++i) {
        ipt_plan *const plan = make_plan(rows, cols, candidates[i].length, 0);
        if (!plan)
            continue;
        executions = executions_for(plan);
        for (round = 0; round < ROUNDS; ++round)
            times[0][round] = time_plan(plan, executions);
        candidates[tried].length = candidates[i].length;
        candidates[tried++].seconds = median(times[0], ROUNDS);
        ipt_plan_destroy(plan);
    }
    qsort(candidates, tried, sizeof *candidates, compare_candidates);
    plans[1] = make_plan(rows, cols, 0, IPT_MEASURE);
    lengths[1] = length_of(plans[1]);
    count = 2;
    for (i = 0; i < FINALISTS && i < tried; ++i) {
        lengths[count] = candidates[i].length;
        plans[count++] = make_plan(rows, cols, candidates[i].length, 0);
    }
    executions = executions_for(plans[0]);
    for (p = 1; p < count; ++p)
        executions_for(plans[p]);
    for (round = 0; round < LAST_ROUNDS; ++round)
        for (p = 0; p < count; ++p)
            times[p][round] = time_plan(plans[p], executions);
    for (p = 0; p < count; ++p) {
        medians[p] = median(times[p], LAST_ROUNDS);
        if (medians[p] < medians[best])
            best = p;
        ipt_plan_destroy(plans[p]);
    }
    for (p = 0; p < 2; ++p) /* plans of the same length are the same plan, whatever the clock says */
        losses[p] = lengths[p] == lengths[best] ? 0 : 100 * (1 - medians[best] / medians[p]);
    printf("%5lu x %-5lu  estimate %4lu: %7.1f GB/s  measure %4lu: %7.1f  best of %3lu %4lu: %7.1f  loss %5.1f %%, "
           "%5.1f %%\n",
           (unsigned long)rows, (unsigned long)cols, (unsigned long)lengths[0], bytes / medians[0] * 1e-9,
           (unsigned long)lengths[1], bytes / medians[1] * 1e-9, (unsigned long)tried, (unsigned long)lengths[best],
           bytes / medians[best] * 1e-9, losses[0], losses[1]);
    fflush(stdout);
    return 1;
}

int main(int count, char **arguments)
{
    const unsigned long seed = argument(count, arguments, 2, 1), seconds = argument(count, arguments, 3, 1000000);
    cl_device_type type = 0;
    double begin, *losses[2];
    char device[1024];
    size_t low, high, done = 0, shape, shapes, bytes;
    int kind;
    need(!ipt_context_create(NULL, &context), "ipt_context_create");
    need(!ipt_device_describe(ipt_context_cl_device(context), device, sizeof device), "ipt_device_describe");
    clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    low = type & CL_DEVICE_TYPE_CPU ? 200 : 1000;
    high = type & CL_DEVICE_TYPE_CPU ? 2000 : 20000;
    shapes = argument(count, arguments, 1, type & CL_DEVICE_TYPE_CPU ? 12 : 40);
    bytes = high * high * sizeof(float);
    plans_open(bytes);
    for (kind = 0; kind < 2; ++kind)
        need((losses[kind] = (double *)malloc(shapes * sizeof(double))) != NULL, "malloc");
    printf("%s%lu shapes, seed %lu; the two losses are those of IPT_ESTIMATE and of IPT_MEASURE\n", device,
           (unsigned long)shapes, seed);
    random_state = seed * 0x9e3779b97f4a7c15u | 1;
    begin = now();
    for (shape = 0; shape < shapes && now() - begin < (double)seconds; ++shape) {
        const size_t rows = random_between(low, high), cols = random_between(low, high);
        double loss[2];
        if (!try_shape(rows, cols, loss))
            continue;
        losses[0][done] = loss[0];
        losses[1][done++] = loss[1];
    }
    for (kind = 0; kind < 2 && done; ++kind) {
        const double middle = median(losses[kind], done); /* sorts them */
        printf("%s: median loss %.1f %%, 90 %% of the shapes lose at most %.1f %%, the worst %.1f %%\n",
               kind ? "IPT_MEASURE " : "IPT_ESTIMATE", middle, losses[kind][(done * 9 + 9) / 10 - 1],
               losses[kind][done - 1]);
    }
    printf("%lu shapes in %.0f s\n", (unsigned long)done, now() - begin);
    for (kind = 0; kind < 2; ++kind)
        free(losses[kind]);
    plans_close();
    return 0;
}
