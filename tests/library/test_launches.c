/* Contract: creating a plan fixes all its launches. Each turn of each stage has launches for offsets that are aligned
 * to words, and for other offsets. Each launch belongs to a turn, and its divisors are complete. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A simulated GPU with cooperative panels. */
static const char gpu[] =
    "ipt profile 2\ndevice GPU\nvendor none\ndriver none\nplatform none\nbits %d\ncpu 0\ncooperative 1\n"
    "nvidia 0\nmemory_model 1\nsub_group 1\nlanes 32\nstandard 12\ngroup_size 256\nlargest_group 1024\n"
    "local_memory 48128\ncompute_units 16\nresident_groups 32\nresident_bands 32\nresident_others 32\nwait_polls "
    "1048576\nlocal_is_limited 0\n"
    "chunk_bytes 0\nrefused_bytes 0\nsub_groups_refused 0\nend\n";

static ipt_context *make_context(const char *profile)
{
    ipt_context_desc desc = {.cache_dir = "", .profile = profile};
    ipt_context *context = NULL;
    if (!profile) {
        desc.context = test_cl_context;
        desc.device = test_device;
    }
    if (ipt_context_create(&desc, &context))
        fail_msg("%s", ipt_context_error(NULL));
    return context;
}

/* Counts of the tested plans' properties, to ensure that the tests cover each property. */
typedef struct seen {
    size_t plans, turns, rests, words;
    size_t kinds[IPT__STAGE_COUNT];
} seen;

/* Counts the kernels of a turn, and marks its launches. */
static int count_kernels(const ipt_plan *plan, const ipt__turns *turns, size_t matrices, size_t instances, int words,
                         char *used)
{
    int kernels = 0;
    for (int at = turns->first; at < turns->end; ++at) {
        const ipt__launch *const launch = &plan->device->launches.items[at];
        if (launch->matrices == matrices && launch->instances == instances &&
            (words ? launch->by_words : launch->by_units)) {
            kernels += launch->kernel >= 0;
            used[at] = 1;
        }
    }
    return kernels;
}

static void check_stage(const ipt_plan *plan, int index, char *used, seen *all)
{
    const ipt__stage *const stage = &plan->device->layout.stages[index];
    const ipt__turns *const turns = &plan->device->launches.stages[index];
    ++all->kinds[stage->kind];
    all->words += stage->by_words != 0;
    assert_int_equal(turns->matrices, plan->problem.desc.batch);
    assert_int_equal(turns->instances, stage->instances);
    for (size_t matrix = 0; matrix < turns->matrices; matrix += turns->matrices_at_once)
        for (size_t first = 0; first < turns->instances; first += turns->instances_at_once) {
            const size_t matrices = ipt__min(turns->matrices_at_once, turns->matrices - matrix),
                         instances = ipt__min(turns->instances_at_once, turns->instances - first);
            ++all->turns;
            all->rests += matrices < turns->matrices_at_once || instances < turns->instances_at_once;
            for (int words = 0; words < 2; ++words)
                assert_int_equal(count_kernels(plan, turns, matrices, instances, words, used),
                                 stage->kind == IPT__STAGE_WAVE ||
                                         (stage->kind == IPT__STAGE_EXCHANGE && !stage->as.bands.together &&
                                          !stage->as.bands.workers)
                                     ? 2
                                     : 1);
        }
}

static void check_plan(ipt_context *context, const ipt_plan_desc *desc, seen *all)
{
    ipt_plan *plan = NULL;
    if (ipt_plan_create(context, desc, &plan)) /* the workspace may be too small */
        return;
    const ipt__launches *const launches = &plan->device->launches;
    char *const used = calloc((size_t)launches->count + 1, 1);
    assert_non_null(used);
    ++all->plans;
    assert_int_equal(launches->stage_count, plan->device->layout.stage_count);
    for (int i = 0; i < launches->stage_count; ++i)
        check_stage(plan, i, used, all);
    for (int i = 0; i < launches->count; ++i) {
        const ipt__launch *const launch = &launches->items[i];
        assert_true(used[i]);
        if (launch->kernel < 0)
            continue;
        const ipt__program *const program = plan->device->kernels[launch->kernel].program;
        ipt__arguments again = launch->arguments;
        assert_in_range(launch->groups, 1, 0x7fffffff);
        ipt__complete_divisors(&ipt__kernels[program->id], &program->params, &again);
        assert_memory_equal(&again, &launch->arguments, sizeof again);
    }
    free(used);
    ipt_plan_destroy(plan);
}

static seen check_plans(ipt_context *context)
{
    static const size_t shapes[][2] = {{1, 77}, {16, 5}, {97, 97}, {350, 210}, {37, 1201}, {3001, 50}, {701, 703}};
    static const size_t sizes[] = {1, 2, 4, 12}, batches[] = {1, 5}, workspaces[] = {0, 700, 20000};
    static const ipt_sequence sequences[] = {IPT_SEQUENCE_AUTO, IPT_SEQUENCE_TWO_PASS, IPT_SEQUENCE_3_1,
                                             IPT_SEQUENCE_EXCHANGE};
    seen all = {0};
    for (size_t i = 0; i < TEST_COUNT(shapes); ++i)
        for (size_t j = 0; j < TEST_COUNT(sizes); ++j)
            for (size_t k = 0; k < TEST_COUNT(batches) * TEST_COUNT(workspaces) * TEST_COUNT(sequences); ++k) {
                ipt_plan_desc desc = {.rows = shapes[i][0], .cols = shapes[i][1], .elem_size = sizes[j]};
                desc.batch = batches[k % 2];
                desc.max_workspace = workspaces[k / 2 % 3];
                desc.sequence = sequences[k / 6];
                desc.flags = k % 4 < 2 ? 0 : IPT_NO_COOPERATIVE;
                check_plan(context, &desc, &all);
            }
    return all;
}

static void launches_cover_every_turn(void **state)
{
    (void)state;
    char profile[sizeof gpu + 8];
    snprintf(profile, sizeof profile, gpu, (int)sizeof(void *) * 8);
    ipt_context *const context = make_context(profile);
    const seen all = check_plans(context);
    assert_true(all.plans > 100 && all.turns > 300 && all.rests > 4 && all.words > 10);
    assert_true(all.kinds[IPT__STAGE_SAVE] && all.kinds[IPT__STAGE_RESTORE] && all.kinds[IPT__STAGE_TILE] &&
                all.kinds[IPT__STAGE_SWAP] && all.kinds[IPT__STAGE_WAVE] && all.kinds[IPT__STAGE_PANEL] &&
                all.kinds[IPT__STAGE_SHUFFLE] && all.kinds[IPT__STAGE_EXCHANGE]);
    ipt_context_destroy(context);
}

static void launches_on_the_device(void **state)
{
    (void)state;
    ipt_context *const context = make_context(NULL);
    const seen all = check_plans(context);
    assert_true(all.plans > 100);
    ipt_context_destroy(context);
}

/* Arrays with runs of 2^32 bytes and more: the planner chooses units so long that the number of units fits 32 bits. */
static void launches_of_long_runs(void **state)
{
    static const struct {
        unsigned long long run;
        size_t elem_size;
        const char *text;
    } runs[] = {
        {(unsigned long long)1 << 31, 1, "no multiples of 16: in units of 1 bytes"},
        {(unsigned long long)1 << 32, 1, "no multiples of 16: in units of 2 bytes"},
        {(unsigned long long)1 << 32, 4, "no multiples of 16: in units of 8 bytes"},
        {(unsigned long long)1 << 35, 1, NULL}, /* in units of 16 bytes only */
    };
    (void)state;
    if (sizeof(size_t) < 8)
        test_skip("runs of 2^32 bytes");
    char profile[sizeof gpu + 8];
    snprintf(profile, sizeof profile, gpu, (int)sizeof(void *) * 8);
    ipt_context *const context = make_context(profile);
    for (size_t i = 0; i < TEST_COUNT(runs); ++i) {
        const ipt_plan_desc desc = {
            .elem_size = runs[i].elem_size, .rank = 3, .shape = {2, 3, (size_t)runs[i].run}, .axes = {1, 0, 2}};
        ipt_plan *const plan = test_make_plan(context, &desc);
        if (runs[i].text)
            assert_true(test_mentions(ipt_plan_describe(plan), runs[i].text));
        else
            assert_false(test_mentions(ipt_plan_describe(plan), "no multiples of"));
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
}

/* Flips of a matrix beyond 2^63 units, too large for a device: pairs are right modulo 2^64, no sum overflows. */
static void launches_of_huge_flips(void **state)
{
    static const size_t sides[][2] = {{~(size_t)0 / 3, 3}, {3, ~(size_t)0 / 3}, {~(size_t)0, 1}, {1, ~(size_t)0}};
    static const ipt_move moves[] = {IPT_MOVE_ROTATE_180, IPT_MOVE_FLIP_HORIZONTAL, IPT_MOVE_FLIP_VERTICAL};
    char profile[sizeof gpu + 8];
    size_t flips = 0;
    (void)state;
    snprintf(profile, sizeof profile, gpu, (int)sizeof(void *) * 8);
    ipt_context *const context = make_context(profile);
    for (size_t s = 0; s < TEST_COUNT(sides); ++s)
        for (size_t m = 0; m < TEST_COUNT(moves); ++m) {
            ipt_plan_desc desc = {.rows = sides[s][0], .cols = sides[s][1], .elem_size = 1, .move = moves[m]};
            ipt_plan *plan = NULL;
            if (ipt_plan_create(context, &desc, &plan)) {
                assert_true(strlen(ipt_context_error(NULL)) > 20);
                continue;
            }
            for (int i = 0; i < plan->device->launches.count; ++i) {
                const ipt__launch *const launch = &plan->device->launches.items[i];
                const ipt__flip_arguments *const a = &launch->arguments.flip;
                if (launch->kernel < 0 || plan->device->kernels[launch->kernel].program->id != IPT__KERNEL_flip)
                    continue;
                ++flips;
                const cl_ulong down = moves[m] == IPT_MOVE_FLIP_HORIZONTAL ? 0 : desc.rows - 1,
                               across = moves[m] == IPT_MOVE_FLIP_VERTICAL ? 0 : desc.cols - 1;
                assert_true((cl_ulong)a->partner == down * desc.cols + across);
                assert_true(a->partner_step == (moves[m] == IPT_MOVE_FLIP_VERTICAL ? 1 : -1));
            }
            ipt_plan_destroy(plan);
        }
    ipt_context_destroy(context);
    assert_true(flips >= 4);
}

/* Transposes a batch of matrices. The elements of double passes are matrices, which are transposed, too. */
static void apply_pass(const ipt__pass *pass, size_t elem_size, unsigned short *numbers, unsigned short *scratch)
{
    const size_t element = pass->elem_size / elem_size;
    const size_t inner_rows = pass->inner_rows ? pass->inner_rows : 1,
                 inner_cols = pass->inner_rows ? pass->inner_cols : 1;
    const size_t rest = element / (inner_rows * inner_cols), count = pass->batch * pass->rows * pass->cols * element;
    size_t i;
    for (i = 0; i < count; ++i) {
        const size_t r = i % rest, k = i / rest, ic = k % inner_cols, ir = k / inner_cols % inner_rows;
        const size_t slot = i / element, col = slot % pass->cols, row = slot / pass->cols % pass->rows,
                     b = slot / (pass->cols * pass->rows);
        scratch[((b * pass->cols + col) * pass->rows + row) * element + (ic * inner_rows + ir) * rest + r] = numbers[i];
    }
    memcpy(numbers, scratch, count * sizeof *numbers);
}

/* Compares the place of each element after the passes with an index formula. Returns the number of double passes. */
static size_t check_list(const ipt__limits *limits, const ipt__array *array, size_t *passes)
{
    enum { MOST = 1 << IPT_MAX_RANK };
    static unsigned short numbers[MOST], scratch[MOST];
    ipt__array joined = *array;
    ipt__pass list[IPT__MOST_PASSES];
    size_t doubles = 0, i;
    double cost;
    int p, at;
    const int count = ipt__axes_find_passes(limits, 0, 1, &joined, list, &cost);
    assert_true(array->elements <= MOST && count >= 0);
    for (i = 0; i < array->elements; ++i)
        numbers[i] = (unsigned short)i;
    for (p = 0; p < count; ++p) {
        doubles += list[p].inner_rows != 0;
        assert_true(!list[p].inner_rows || 2 * list[p].elem_size <= limits->local_memory);
        apply_pass(&list[p], array->elem_size, numbers, scratch);
    }
    for (i = 0; i < array->elements; ++i) { /* i: an element's index in the source; to: in the result */
        size_t index[IPT_MAX_RANK], left = i, to = 0, place;
        for (at = array->count; at-- > 0; left /= array->lengths[at])
            index[at] = left % array->lengths[at];
        for (place = 0; (int)place < array->count; ++place)
            for (at = 0; at < array->count; ++at)
                if (array->goal[at] == place)
                    to = to * array->lengths[at] + index[at];
        if (numbers[to] != i)
            fail_msg("element %zu of %d axes, %d passes, is not at %zu", i, array->count, count, to);
    }
    *passes += (size_t)count;
    return doubles;
}

/* The lists of passes are right for all permutations of up to five axes, and for some of more axes, among them the
 * reversal. Some lists have double passes. */
static void axes_lists(void **state)
{
    static const size_t lengths[] = {5, 3, 7, 2, 4};
    ipt_context *const context = make_context(NULL);
    size_t doubles = 0, passes = 0, local, index, total, turn;
    int count, at, drawn;
    (void)state;
    for (turn = 0, local = 64; local <= 65536; local *= 1 + turn++ % 2) {
        ipt__limits limits = context->limits;
        limits.cpu = turn % 2; /* on CPUs the model prefers double passes */
        limits.local_memory = local;
        for (count = 0, total = 1; count <= IPT_MAX_RANK; total *= (size_t)++count)
            for (drawn = 0; drawn < (count <= 5 ? (int)total : count <= 8 ? 20 : 2); ++drawn) {
                ipt__array array = {0};
                unsigned char left[IPT_MAX_RANK];
                index = count <= 5 ? (size_t)drawn : (size_t)test_random();
                array.count = count;
                array.elem_size = 4;
                array.elements = 1;
                for (at = 0; at < count; ++at) {
                    left[at] = (unsigned char)at;
                    array.lengths[at] = count <= 5 ? lengths[(at + drawn) % 5] : count > 8 || (at + drawn) % 3 ? 2 : 3;
                    array.elements *= array.lengths[at];
                }
                for (at = 0; at < count; ++at) {
                    const size_t pick = count > 8 && !drawn ? (size_t)(count - 1 - at) : index % (size_t)(count - at);
                    index /= (size_t)(count - at);
                    array.goal[at] = left[pick];
                    memmove(left + pick, left + pick + 1, (size_t)(count - at) - pick - 1);
                }
                doubles += check_list(&limits, &array, &passes);
            }
    }
    ipt_context_destroy(context);
    if (doubles <= 20 || passes <= 500)
        fail_msg("%zu double passes of %zu", doubles, passes);
}

const struct CMUnitTest test_launches[] = {
    TEST_CASE(launches_cover_every_turn),
    TEST_CASE(launches_on_the_device),
    TEST_CASE(launches_of_long_runs),
    TEST_CASE(launches_of_huge_flips),
    TEST_CASE(axes_lists),
};
const size_t test_launches_count = TEST_COUNT(test_launches);
