/* The papers' heuristics against brute force over tiles that divide the matrix, and against the planner's choice, for
 * random shapes of floats. Usage: compare_heuristics [SHAPES] [SEED] [SECONDS_LIMIT] [LOW] [HIGH]; 0: the default. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "plans.h"

#include <stdint.h>

static uint64_t random_state;

static size_t random_between(size_t low, size_t high)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return low + (size_t)((random_state * 0x2545f4914f6cdd1du >> 16) % (high - low + 1));
}

enum {
    PAIRS = 30,                              /* most pairs of divisors that brute force times per shape */
    SHAPE_SECONDS = 20,                      /* seconds after which brute force stops */
    MOST = PAIRS + IPT__HEURISTIC_COUNT + 1, /* most plans of a shape */
    DIVISORS = 2000,
    FINALISTS = 3, /* plans of brute force that are timed again, in turns with the heuristics' plans */
    ROUNDS = 3,    /* rounds of the search, of which the median counts */
    LAST_ROUNDS = 5,
    CALLS = 200 /* calls of a heuristic, to measure its time */
};

/* The method of a plan. Tile sides that its sequence ignores are 0. AUTO: the planner's choice. */
typedef struct choice {
    ipt_sequence sequence;
    size_t tile_m, tile_n;
    double seconds; /* 0: no plan */
    int last;       /* 1: the last rounds time the plan again */
    unsigned flags; /* flags of the plan: IPT_PAD or 0 */
} choice;

typedef struct score {
    size_t served, none, no_plan, with_one, padded; /* shapes */
    size_t count;                                   /* count of the ratios and shares */
    double *ratios, *shares; /* ratio to brute force's best throughput; share of the transposition's time */
} score;

static ipt_heuristic_device device;

/* Returns NULL if the planner refuses, for instance because the workspace is too small. */
static ipt_plan *make_plan(size_t rows, size_t cols, const choice *choice)
{
    ipt_plan_desc desc = {0};
    ipt_plan *plan = NULL;
    ipt_result result;
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = sizeof(float);
    desc.sequence = choice->sequence;
    desc.tile_m = choice->tile_m;
    desc.tile_n = choice->tile_n;
    desc.flags = choice->flags;
    result = ipt_plan_create(context, &desc, &plan);
    need(!result || (choice->sequence != IPT_SEQUENCE_AUTO && result == IPT_ERROR_UNSUPPORTED), "ipt_plan_create");
    return plan;
}

static void time_choice(size_t rows, size_t cols, choice *choice)
{
    ipt_plan *const plan = make_plan(rows, cols, choice);
    double times[ROUNDS];
    int executions, round;
    if (!plan)
        return;
    executions = executions_for(plan);
    for (round = 0; round < ROUNDS; ++round)
        times[round] = time_plan(plan, executions);
    choice->seconds = median(times, ROUNDS);
    ipt_plan_destroy(plan);
}

/* The index of the choice with these tiles, by algorithm 3. Adds the choice if necessary. */
static size_t choice_of(size_t rows, size_t cols, size_t tile_m, size_t tile_n, choice *choices, size_t *count)
{
    choice wanted = {IPT_SEQUENCE_AUTO, 0, 0, 0, 0, 0};
    size_t i;
    wanted.sequence = ipt_heuristic_sequence(&device, rows, cols, sizeof(float), tile_m, tile_n);
    wanted.tile_m = wanted.sequence == IPT_SEQUENCE_2_2 ? 0 : tile_m;
    wanted.tile_n = wanted.sequence == IPT_SEQUENCE_2_1 ? 0 : tile_n;
    for (i = 0; i < *count; ++i)
        if (!choices[i].flags && choices[i].sequence == wanted.sequence && choices[i].tile_m == wanted.tile_m &&
            choices[i].tile_n == wanted.tile_n)
            return i;
    choices[(*count)++] = wanted;
    return i;
}

/* Appends the choices of brute force: pairs of divisors, at least one of which divides its side into parts. If there
 * are too many, it prefers tiles that fit in local memory, and takes an even sample of these. 0: none. */
static int brute_force(size_t rows, size_t cols, choice *choices, size_t *count)
{
    static size_t of_rows[DIVISORS], of_cols[DIVISORS];
    static unsigned char m_seen[DIVISORS], n_seen[DIVISORS]; /* for sequences that ignore one of the tile's sides */
    const size_t m_count = ipt_heuristic_divisors(rows, of_rows, DIVISORS);
    const size_t n_count = ipt_heuristic_divisors(cols, of_cols, DIVISORS), local = device.local_bytes / sizeof(float);
    size_t found[2] = {0, 0}, seen = 0, wanted = 0, i, j;
    int turn;
    for (turn = 0; turn < 2; ++turn) { /* counts, then selects */
        memset(m_seen, 0, sizeof m_seen);
        memset(n_seen, 0, sizeof n_seen);
        wanted = found[1] ? found[1] : found[0];
        for (i = 0; i < m_count; ++i)
            for (j = 0; j < n_count; ++j) {
                const size_t m = of_rows[i], n = of_cols[j];
                const ipt_sequence sequence = ipt_heuristic_sequence(&device, rows, cols, sizeof(float), m, n);
                const int fits = m * n < local || sequence < IPT_SEQUENCE_3_1;
                if (((m == 1 || m == rows) && (n == 1 || n == cols)) || (sequence == IPT_SEQUENCE_2_1 && m_seen[i]) ||
                    (sequence == IPT_SEQUENCE_2_2 && n_seen[j]))
                    continue;
                m_seen[i] |= sequence == IPT_SEQUENCE_2_1;
                n_seen[j] |= sequence == IPT_SEQUENCE_2_2;
                if (turn == 0)
                    ++found[fits];
                else if (fits == (found[1] != 0)) {
                    if (wanted <= PAIRS || seen * PAIRS / wanted != (seen + 1) * PAIRS / wanted)
                        choice_of(rows, cols, m, n, choices, count);
                    ++seen;
                }
            }
    }
    return wanted != 0;
}

/* Times the few best plans again, in turns with the heuristics' and the planner's plans. */
static void time_again(size_t rows, size_t cols, choice *choices, size_t count)
{
    ipt_plan *plans[MOST] = {NULL};
    double times[MOST][LAST_ROUNDS];
    int executions[MOST], finalist, round;
    size_t i;
    for (finalist = 0; finalist < FINALISTS; ++finalist) {
        size_t best = count;
        for (i = 0; i < count; ++i)
            if (choices[i].seconds > 0 && !choices[i].last &&
                (best == count || choices[i].seconds < choices[best].seconds))
                best = i;
        if (best < count)
            choices[best].last = 1;
    }
    for (i = 0; i < count; ++i)
        if (choices[i].last && choices[i].seconds > 0) {
            plans[i] = make_plan(rows, cols, &choices[i]);
            need(plans[i] != NULL, "the second plan");
            executions[i] = executions_for(plans[i]);
        }
    for (round = 0; round < LAST_ROUNDS; ++round)
        for (i = 0; i < count; ++i)
            if (plans[i])
                times[i][round] = time_plan(plans[i], executions[i]);
    for (i = 0; i < count; ++i)
        if (plans[i]) {
            choices[i].seconds = median(times[i], LAST_ROUNDS);
            ipt_plan_destroy(plans[i]);
        }
}

static void add_ratio(score *score, double best, double seconds, double share)
{
    score->ratios[score->count] = best / seconds;
    score->shares[score->count++] = share;
}

/* Measures one shape: prints its line and updates the scores. The last score is the planner's. Returns 0 if brute force
 * has no tile. */
static int try_shape(size_t rows, size_t cols, score *scores)
{
    const double bytes = 2.0 * sizeof(float) * (double)rows * (double)cols;
    choice choices[MOST] = {{IPT_SEQUENCE_AUTO, 0, 0, 0, 1, 0}};
    size_t places[IPT__HEURISTIC_COUNT] = {0}, count = 1, best = 0, heuristics_end, i;
    double own_seconds[IPT__HEURISTIC_COUNT], begin, best_seconds;
    int h, call, any;
    printf("%5zu x %-5zu", rows, cols);
    for (h = 1; h < IPT__HEURISTIC_COUNT; ++h) {
        size_t m, n, pad_rows, pad_cols;
        ipt_result result = IPT_SUCCESS;
        begin = now();
        for (call = 0; call < CALLS; ++call)
            result =
                ipt_heuristic_tiles((ipt_heuristic)h, &device, rows, cols, sizeof(float), &m, &n, &pad_rows, &pad_cols);
        own_seconds[h] = (now() - begin) / CALLS;
        need(!result || result == IPT_ERROR_UNSUPPORTED, "ipt_heuristic_tiles");
        if (result) {
            ++scores[h].none;
            continue;
        }
        scores[h].with_one += m == 1 || n == 1;
        if (pad_rows || pad_cols) {
            ++scores[h].padded;
            places[h] = count++;
            choices[places[h]].sequence =
                ipt_heuristic_sequence(&device, rows + pad_rows, cols + pad_cols, sizeof(float), m, n);
            choices[places[h]].tile_m = m;
            choices[places[h]].tile_n = n;
            choices[places[h]].flags = IPT_PAD;
            continue;
        }
        places[h] = choice_of(rows, cols, m, n, choices, &count);
    }
    for (i = 1; i < count; ++i)
        choices[i].last = 1;
    heuristics_end = count;
    any = brute_force(rows, cols, choices, &count);
    begin = now();
    for (i = 0; i < count && (i < heuristics_end || now() - begin < SHAPE_SECONDS); ++i)
        time_choice(rows, cols, &choices[i]);
    time_again(rows, cols, choices, count);
    for (i = 1; i < count; ++i) /* brute force includes tiles of heuristics that divide the matrix */
        if (choices[i].seconds > 0 && choices[i].last && !choices[i].flags &&
            (!best || choices[i].seconds < choices[best].seconds))
            best = i;
    any = any && best;
    best_seconds = choices[best].seconds;
    if (any)
        printf("  best of %2zu: %s %4zu x %-4zu %6.1f GB/s", count - 1, ipt_sequence_string(choices[best].sequence),
               choices[best].tile_m, choices[best].tile_n, bytes / best_seconds * 1e-9);
    else
        printf("  brute force has no tile");
    printf("  %s %6.1f", ipt_sequence_string(IPT_SEQUENCE_AUTO), bytes / choices[0].seconds * 1e-9);
    ++scores[IPT__HEURISTIC_COUNT].served;
    if (any)
        add_ratio(&scores[IPT__HEURISTIC_COUNT], best_seconds, choices[0].seconds, 0);
    for (h = 1; h < IPT__HEURISTIC_COUNT; ++h) {
        const double seconds = choices[places[h]].seconds;
        if (!places[h]) {
            printf("       -");
            continue;
        }
        if (!(seconds > 0)) {
            ++scores[h].no_plan;
            printf("       ?");
            continue;
        }
        printf("  %6.1f", bytes / seconds * 1e-9);
        ++scores[h].served;
        if (any)
            add_ratio(&scores[h], best_seconds, seconds, own_seconds[h] / seconds);
    }
    printf("\n");
    fflush(stdout);
    return any;
}

static void print_scores(score *scores, size_t shapes)
{
    int h;
    printf("%-14s%10s%10s%14s%10s%10s%16s%16s\n", "", "serves", "no tile", "needs padding", "refused", "m or n 1",
           "median of best", "its own time");
    for (h = 1; h <= IPT__HEURISTIC_COUNT; ++h) {
        score *const score = &scores[h];
        const int own = h == IPT__HEURISTIC_COUNT;
        printf("%-14s%5zu/%-4zu%10zu%14zu%10zu%10zu",
               own ? ipt_sequence_string(IPT_SEQUENCE_AUTO) : ipt_heuristic_string((ipt_heuristic)h), score->served,
               shapes, score->none, score->padded, score->no_plan, score->with_one);
        if (!score->count)
            printf("%16s%16s\n", "-", "-");
        else if (own)
            printf("%14.1f %%%16s\n", 100 * median(score->ratios, score->count), "-");
        else
            printf("%14.1f %%%14.3f %%\n", 100 * median(score->ratios, score->count),
                   100 * median(score->shares, score->count));
    }
}

/* The device's parameters of the heuristics. Heuristics that choose tiles ignore the size of SIMD units. */
static void describe_device(cl_device_id id)
{
    cl_ulong local = 0;
    clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof device.max_group, &device.max_group, NULL);
    device.local_bytes = (size_t)local;
    device.simd_width = 32;
}

int main(int count, char **arguments)
{
    const size_t shapes = argument(count, arguments, 1, 100), low = argument(count, arguments, 4, 500),
                 high = argument(count, arguments, 5, 3000),
                 bytes = (high + 32) * (high + 32) * sizeof(float); /* room for padding */
    const size_t seed = argument(count, arguments, 2, 1), seconds = argument(count, arguments, 3, 1000000);
    score scores[IPT__HEURISTIC_COUNT + 1];
    char text[1024];
    double begin;
    size_t shape, without = 0;
    int h;
    if (low > high) {
        fprintf(stderr, "sides from %zu to %zu: there are none\n", low, high);
        return 2;
    }
    need(!ipt_context_create(NULL, &context), "ipt_context_create");
    need(!ipt_device_describe(ipt_context_cl_device(context), text, sizeof text), "ipt_device_describe");
    describe_device(ipt_context_cl_device(context));
    plans_open(bytes);
    memset(scores, 0, sizeof scores);
    for (h = 1; h <= IPT__HEURISTIC_COUNT; ++h) {
        scores[h].ratios = (double *)malloc(shapes * sizeof(double));
        scores[h].shares = (double *)malloc(shapes * sizeof(double));
        need(scores[h].ratios && scores[h].shares, "malloc");
    }
    printf("%s%zu shapes of floats, sides %zu to %zu, seed %zu; GB/s count each byte twice: brute force's best, the "
           "planner's own",
           text, shapes, low, high, seed);
    for (h = 1; h < IPT__HEURISTIC_COUNT; ++h)
        printf(", %s", ipt_heuristic_string((ipt_heuristic)h));
    printf(" (-: no tile, ?: refused)\n");
    random_state = seed * 0x9e3779b97f4a7c15u | 1;
    begin = now();
    for (shape = 0; shape < shapes && now() - begin < (double)seconds; ++shape) {
        const size_t rows = random_between(low, high), cols = random_between(low, high);
        without += !try_shape(rows, cols, scores);
    }
    print_scores(scores, shape);
    printf("%zu shapes in %.0f s; brute force had no tile for %zu, which count in the first columns only\n", shape,
           now() - begin, without);
    for (h = 1; h <= IPT__HEURISTIC_COUNT; ++h) {
        free(scores[h].ratios);
        free(scores[h].shares);
    }
    plans_close();
    return 0;
}
