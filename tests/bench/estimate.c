/* Compares the planner's choice with the best plan of a search: two passes with all lengths of super-elements, and
 * exchanges with bands of either side and all heights. Usage: estimate [SHAPES] [SEED] [SECONDS_LIMIT] [ELEM_SIZE]
 * [FILE]; 0: the default. FILE has shapes, rows and cols in each line; without it, shapes are random. GB/s count bytes
 * read and bytes written. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include "gen/tool/bench/bench_result.h"
#include "gen/tool/bench/bench_shapes.h"
#include "plans.h"

enum {
    LONGEST = 2560, /* longest super-element, or run of a band, in bytes */
    STEP = 16,      /* bytes between candidates, up to NEAR; beyond NEAR 8 * STEP */
    NEAR = 768,
    MOST = 192,     /* most candidates of a shape */
    FINALISTS = 3,  /* candidates that are timed again, in turns with the planner's plan */
    ROUNDS = 3,     /* rounds of the search: the median counts */
    LAST_ROUNDS = 5 /* of the finalists */
};

static size_t elem_size;

/* A method and its length: of super-elements, or the height of bands, in elements. AUTO: the planner's choice. */
typedef struct candidate {
    ipt_sequence sequence;
    int of_shorter; /* bands are cut from the shorter side */
    size_t length;
    double seconds;
} candidate;

static int compare_candidates(const void *first, const void *second)
{
    return compare_doubles(&((const candidate *)first)->seconds, &((const candidate *)second)->seconds);
}

/* The plan of a candidate; NULL if it is not possible. */
static ipt_plan *make_plan(size_t rows, size_t cols, const candidate *of, unsigned flags)
{
    ipt_plan_desc desc = {0};
    ipt_plan *plan = NULL;
    ipt_result result;
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = elem_size;
    desc.flags = flags;
    desc.measure_buffer = flags & IPT_MEASURE ? buffer : NULL;
    desc.sequence = of->sequence;
    if (of->sequence == IPT_SEQUENCE_EXCHANGE)
        *(of->of_shorter ? &desc.tile_n : &desc.tile_m) = of->length;
    else
        *(rows >= cols ? &desc.tile_m : &desc.tile_n) = of->length;
    result = ipt_plan_create(context, &desc, &plan);
    need(!result || (of->sequence != IPT_SEQUENCE_AUTO &&
                     (result == IPT_ERROR_UNSUPPORTED || result == IPT_ERROR_INVALID_ARGUMENT)),
         "ipt_plan_create");
    return plan;
}

/* The lengths to try with each method. */
static size_t candidates_for(size_t longer, candidate *candidates)
{
    static const candidate methods[] = {
        {IPT_SEQUENCE_TWO_PASS, 0, 0, 0}, {IPT_SEQUENCE_EXCHANGE, 0, 0, 0}, {IPT_SEQUENCE_EXCHANGE, 1, 0, 0}};
    size_t bytes, last = 0, count = 0, method;
    for (bytes = STEP; bytes <= LONGEST && bytes / elem_size <= longer; bytes += bytes < NEAR ? STEP : 8 * STEP) {
        const size_t length = bytes / elem_size;
        if (length == last || !length || count + sizeof methods / sizeof *methods > MOST)
            continue;
        last = length;
        for (method = 0; method < sizeof methods / sizeof *methods; ++method) {
            candidates[count] = methods[method];
            candidates[count++].length = length;
        }
    }
    return count;
}

/* Shows a plan's speed and its stages. */
static void show_plan(const char *what, const ipt_plan *plan, double gigabytes)
{
    const char *line = strchr(ipt_plan_describe(plan), '\n');
    printf("  %-8s %7.1f GB/s ", what, gigabytes);
    for (; line && line[1] == ' ' && line[3] >= '1' && line[3] <= '9' && line[4] == '.'; line = strchr(line + 1, '\n'))
        printf(" %.*s", (int)strcspn(line + 3, "\n"), line + 3);
    printf("\n");
}

/* Whether two plans have the same stages. Their first lines, with the sequence, differ. */
static int same_stages(const ipt_plan *first, const ipt_plan *second)
{
    return !strcmp(strchr(ipt_plan_describe(first), '\n'), strchr(ipt_plan_describe(second), '\n'));
}

/* Measures one shape. Writes the losses of the planner and of IPT_MEASURE in percent to losses[0] and [1]. */
static void try_shape(size_t rows, size_t cols, double losses[2])
{
    static const candidate own = {IPT_SEQUENCE_AUTO, 0, 0, 0};
    const double bytes = 2.0 * (double)elem_size * (double)rows * (double)cols;
    candidate candidates[MOST];
    ipt_plan *plans[2 + FINALISTS] = {NULL};
    double times[2 + FINALISTS][LAST_ROUNDS], medians[2 + FINALISTS];
    const size_t count = candidates_for(rows > cols ? rows : cols, candidates);
    size_t tried = 0, finalists = 2, best = 0, p, i;
    int executions, round;
    for (i = 0; i < count; ++i) {
        ipt_plan *const plan = make_plan(rows, cols, &candidates[i], 0);
        if (!plan)
            continue;
        executions = executions_for(plan);
        for (round = 0; round < ROUNDS; ++round)
            times[0][round] = time_plan(plan, executions);
        candidates[tried] = candidates[i];
        candidates[tried++].seconds = median(times[0], ROUNDS);
        ipt_plan_destroy(plan);
    }
    qsort(candidates, tried, sizeof *candidates, compare_candidates);
    plans[0] = make_plan(rows, cols, &own, IPT_ESTIMATE);
    plans[1] = make_plan(rows, cols, &own, IPT_MEASURE);
    for (i = 0; i < FINALISTS && i < tried; ++i)
        plans[finalists++] = make_plan(rows, cols, &candidates[i], 0);
    executions = executions_for(plans[0]);
    for (p = 1; p < finalists; ++p)
        executions_for(plans[p]);
    for (round = 0; round < LAST_ROUNDS; ++round)
        for (p = 0; p < finalists; ++p)
            times[p][round] = time_plan(plans[p], executions);
    for (p = 0; p < finalists; ++p) {
        medians[p] = median(times[p], LAST_ROUNDS);
        if (medians[p] < medians[best])
            best = p;
    }
    for (p = 0; p < 2; ++p) /* plans with equal stages count as equal, whatever their times */
        losses[p] = same_stages(plans[p], plans[best]) ? 0 : 100 * (1 - medians[best] / medians[p]);
    printf("%5zu x %-5zu  loss %5.1f %%, %5.1f %%\n", rows, cols, losses[0], losses[1]);
    show_plan("estimate", plans[0], bytes / medians[0] * 1e-9);
    if (losses[1] != losses[0])
        show_plan("measure", plans[1], bytes / medians[1] * 1e-9);
    if (losses[0] > 0)
        show_plan("best", plans[best], bytes / medians[best] * 1e-9);
    fflush(stdout);
    for (p = 0; p < finalists; ++p)
        ipt_plan_destroy(plans[p]);
}

/* Reads the shapes of a file, or draws them. */
static void take_shapes(const char *file, size_t count, size_t seed, int is_cpu, bench_shapes *shapes)
{
    char message[BENCH_MESSAGE_SIZE];
    const bench_range sides = {is_cpu ? 200 : 1000, is_cpu ? 2000 : 20000};
    const bench_drawing drawing = {
        .count = count, .seed = seed, .multiple = 1, .sides = {sides, sides}, .bytes = {0, SIZE_MAX}};
    if (!(file ? bench_read_shapes(file, elem_size, shapes, message)
               : bench_draw_shapes(&drawing, elem_size, shapes, message))) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
}

int main(int count, char **arguments)
{
    const size_t seed = argument(count, arguments, 2, 1), seconds = argument(count, arguments, 3, 1000000);
    bench_shapes shapes = {0};
    cl_device_type type = 0;
    double begin, *losses[2];
    char device[1024];
    size_t done, shape, bytes = 0;
    int kind;
    elem_size = argument(count, arguments, 4, sizeof(float));
    need(!ipt_context_create(NULL, &context), "ipt_context_create");
    need(!ipt_device_describe(ipt_context_cl_device(context), device, sizeof device), "ipt_device_describe");
    clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    take_shapes(count > 5 ? arguments[5] : NULL, argument(count, arguments, 1, type & CL_DEVICE_TYPE_CPU ? 12 : 40),
                seed, (type & CL_DEVICE_TYPE_CPU) != 0, &shapes);
    for (shape = 0; shape < shapes.count; ++shape) {
        const size_t needed = shapes.items[shape].rows * shapes.items[shape].cols * elem_size;
        bytes = bytes > needed ? bytes : needed;
    }
    plans_open(bytes);
    for (kind = 0; kind < 2; ++kind)
        need((losses[kind] = (double *)malloc(shapes.count * sizeof(double))) != NULL, "malloc");
    printf("%s%zu shapes, elements of %zu bytes; the two losses are those of IPT_ESTIMATE and of IPT_MEASURE\n", device,
           shapes.count, elem_size);
    begin = now();
    for (done = 0; done < shapes.count && now() - begin < (double)seconds; ++done) {
        double loss[2];
        try_shape(shapes.items[done].rows, shapes.items[done].cols, loss);
        losses[0][done] = loss[0];
        losses[1][done] = loss[1];
    }
    for (kind = 0; kind < 2 && done; ++kind) {
        const double middle = median(losses[kind], done); /* also sorts the losses */
        printf("%s: median loss %.1f %%, 90 %% of the shapes lose at most %.1f %%, the worst %.1f %%\n",
               kind ? "IPT_MEASURE " : "IPT_ESTIMATE", middle, losses[kind][(done * 9 + 9) / 10 - 1],
               losses[kind][done - 1]);
    }
    printf("%zu shapes in %.0f s\n", done, now() - begin);
    for (kind = 0; kind < 2; ++kind)
        free(losses[kind]);
    free(shapes.items);
    plans_close();
    return 0;
}
