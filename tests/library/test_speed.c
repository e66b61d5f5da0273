/* The model of speed: estimates are positive and do not fall with more bytes, for every kind of stage, pass, transfer
 * and batch on every class of devices, for random parameters. Needs no device. gen/embed.c refuses numbers that no part
 * reads. */
#define _POSIX_C_SOURCE 200809L
#define IPT_STATIC /* the private functions, in a copy of this file's own */
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "test.h"

#include <stdint.h>

enum { CPU, GPU, GPU_COOPERATIVE, NVIDIA, DEVICE_COUNT };

static ipt__limits limits_of(int device)
{
    ipt__limits limits = {0};
    limits.cpu = device == CPU;
    limits.cooperative = device >= GPU_COOPERATIVE;
    limits.nvidia = device == NVIDIA ? 2 : 0;
    limits.memory_model = device == GPU ? 0 : device == CPU ? 3 : 2;
    limits.group_size = 256;
    limits.largest_group = device == NVIDIA ? 1024 : 256;
    limits.local_memory = device == CPU ? 1 << 20 : device == NVIDIA ? 48128 : 32768;
    limits.compute_units = device == CPU ? test_random_between(1, 16) : test_random_between(8, 140);
    return limits;
}

/* A number of any order of magnitude up to 2^bits. */
static size_t any_order(size_t bits)
{
    const size_t most = (size_t)1 << test_random_between(1, bits);
    return test_random_between(most / 2, most);
}

static void speed_numbers(void **state)
{
    (void)state;
#define CHECK_TUNING(unit, name, gpu, cpu, where, meaning)                                                             \
    assert_true((double)ipt__tunings[0].name >= 0 && (double)ipt__tunings[1].name >= 0);                               \
    assert_true(ipt__tunings[0].name > 0 || ipt__tunings[1].name > 0);
    IPT__TUNING_LIST(CHECK_TUNING)
#define CHECK_CONSTANT(name, value, where, meaning) assert_true(name > 0);
    IPT__CONSTANT_LIST(CHECK_CONSTANT)
}

#ifndef IPT_NO_BOXES
/* Draws an array that fits local memory, and reverses its axes. The desc gets one row. */
static void draw_array(ipt_plan_desc *desc, ipt__array *array)
{
    int i;
    array->count = 3;
    array->elements = 1;
    array->elem_size = desc->elem_size = (size_t)1 << test_random_between(0, 4);
    for (i = 0; i < array->count; ++i) {
        array->lengths[i] = test_random_between(2, 16);
        array->goal[i] = (unsigned char)(array->count - 1 - i);
        array->elements *= array->lengths[i];
    }
    desc->rows = 1;
    desc->cols = array->elements;
    desc->sequence = IPT_SEQUENCE_AUTO;
    desc->move = IPT_MOVE_TRANSPOSE;
}
#endif

/* Draws a transposition, with cooperative kernels if the device has them. */
static void draw_problem(ipt__problem *problem, int device)
{
    static const size_t sizes[] = {1, 2, 3, 4, 4, 4, 8, 12, 16, 24, 100};
    static const ipt_sequence sequences[] = {IPT_SEQUENCE_AUTO, IPT_SEQUENCE_TWO_PASS, IPT_SEQUENCE_EXCHANGE};
    const ipt__limits limits = limits_of(device);
    const int turns = test_random() % 4 == 0;
    ipt_plan_desc desc = {0};
    ipt__array array = {0};
    do {
        desc.rows = any_order(14);
        desc.cols = test_random() % 4 ? any_order(14) : desc.rows;
        desc.elem_size = sizes[test_random_between(0, TEST_COUNT(sizes) - 1)];
        desc.batch = test_random() % 2 ? 1 : any_order(8);
    } while ((double)desc.rows * (double)desc.cols * (double)desc.elem_size * (double)desc.batch >
             (double)(SIZE_MAX / 4));
    desc.sequence = sequences[test_random_between(0, TEST_COUNT(sequences) - 1)];
    desc.move = turns ? IPT_MOVE_ROTATE_90 : IPT_MOVE_TRANSPOSE;
#ifndef IPT_NO_BOXES
    if (limits.cooperative && test_random() % 8 == 0)
        draw_array(&desc, &array);
#endif
    assert_int_equal(ipt__problem_fill(&limits, &desc, IPT__VECTOR_BYTES, problem), IPT_SUCCESS);
    problem->array = array;
    if (!limits.cooperative)
        return;
    problem->panel.local_bytes = device == NVIDIA ? IPT__CHUNK_BYTES_LARGE : 28672;
    problem->panel.group_size = device == NVIDIA ? IPT__CHUNK_GROUP_LARGE : limits.group_size;
    problem->panel.resident = 2 * limits.compute_units;
    problem->panel.tall = desc.rows >= desc.cols;
    problem->panel.narrow = ipt__min(desc.rows, desc.cols) * desc.elem_size <= IPT__NARROW_BYTES;
    problem->exchange = problem->panel;
    problem->exchange.local_bytes = device == NVIDIA ? IPT__BAND_CHUNK_BYTES : 28672;
    problem->exchange.group_size = limits.group_size;
    problem->exchange.resident = 4 * limits.compute_units;
}

/* Checks the costs of a layout's stages, and marks their kinds as seen. */
static void check_costs(const ipt__problem *problem, const ipt__layout *layout, unsigned char *seen)
{
    int i;
    for (i = 0; i < layout->stage_count; ++i) {
        ipt__stage stage = layout->stages[i];
        double (*const cost)(const ipt__problem *, const ipt__layout *, ipt__stage *) =
            ipt__stage_kinds[stage.kind].cost;
        if (cost == ipt__cost_nothing)
            continue;
        seen[stage.kind] = 1;
        if (!(cost(problem, layout, &stage) > 0)) {
            print_error("%zu x %zu of %zu bytes, stage kind %d: %g\n", problem->desc.rows, problem->desc.cols,
                        problem->desc.elem_size, (int)stage.kind, cost(problem, layout, &stage));
            fail();
        }
    }
    assert_true(!layout->stage_count || layout->cost > 0);
}

static void speed_stages(void **state)
{
    unsigned char seen[DEVICE_COUNT][IPT__STAGE_COUNT] = {{0}};
    int device, round, kind;
    (void)state;
    for (device = 0; device < DEVICE_COUNT; ++device)
        for (round = 0; round < 1500; ++round) {
            ipt__problem problem;
            ipt__layout layout, more;
            size_t budget;
            int i;
            draw_problem(&problem, device);
            budget = ipt__problem_budget(&problem);
            assert_int_equal(ipt__layout_choose(&problem, &layout, budget), IPT_SUCCESS);
            check_costs(&problem, &layout, seen[device]);
            /* Costs for twice as many matrices, with the same stages and workspace. */
            more = layout;
            problem.desc.batch *= 2;
            ipt__layout_finish(&problem, &more, budget);
            check_costs(&problem, &more, seen[device]);
            assert_true(more.cost >= layout.cost);
            for (i = 0; i < more.stage_count; ++i) {
                const ipt__stage_functions *const functions = &ipt__stage_kinds[more.stages[i].kind];
                const double twice = functions->cost(&problem, &more, &more.stages[i]);
                double once;
                problem.desc.batch /= 2;
                once = functions->cost(&problem, &layout, &layout.stages[i]);
                problem.desc.batch *= 2;
                /* The memory for saved rows is rounded up. */
                assert_true(functions->cost == ipt__cost_nothing || functions->cost == ipt__cost_save ? twice >= once
                                                                                                      : twice > once);
            }
        }
    /* Every kind that a class may choose was seen. GPUs with panels use them instead of waves, and have boxes. */
    for (device = 0; device < DEVICE_COUNT; ++device)
        for (kind = 0; kind < IPT__STAGE_COUNT; ++kind)
            if (ipt__stage_kinds[kind].cost && ipt__stage_kinds[kind].cost != ipt__cost_nothing &&
                ((ipt__stage_kinds[kind].cost != ipt__cost_panel && ipt__stage_kinds[kind].cost != ipt__cost_box) ||
                 device >= GPU_COOPERATIVE) &&
                (ipt__stage_kinds[kind].cost != ipt__cost_wave || device < GPU_COOPERATIVE) && !seen[device][kind]) {
                print_error("device %d has no stage of kind %d\n", device, kind);
                fail();
            }
}

static void speed_passes(void **state)
{
    int device, round;
    (void)state;
    for (device = 0; device < DEVICE_COUNT; ++device)
        for (round = 0; round < 5000; ++round) {
            const ipt__limits limits = limits_of(device);
            ipt__pass pass = {1, any_order(12), any_order(12), any_order(10), 0, 0};
            const size_t memory = any_order(30);
            double before = 0, stored = 0;
            if (test_random() % 4 == 0)
                pass.inner_rows = pass.inner_cols = 2;
            for (; pass.batch <= 4096; pass.batch *= 2) {
                const double cost = ipt__pass_cost(&limits, &pass), with_storage = ipt__pass_cost_stored(memory, &pass);
                assert_true(cost > 0 && cost >= before && with_storage > 0 && with_storage >= stored);
                /* No pass is faster than a copy. */
                assert_true(cost >=
                            (double)pass.batch * (double)pass.rows * (double)pass.cols * (double)pass.elem_size);
                before = cost;
                stored = with_storage;
            }
        }
}

#ifndef IPT_NO_HOST_STREAMING
static void speed_transfers(void **state)
{
    int device, round;
    (void)state;
    for (device = 0; device < DEVICE_COUNT; ++device)
        for (round = 0; round < 5000; ++round) {
            const size_t blocks_bytes = any_order(20), run = any_order(16), number = test_random_between(2, 100);
            double blocks_before = 0, bands_before = 0;
            size_t times;
            for (times = 1; times <= 64; times *= 2) {
                ipt__problem problem;
                ipt__blocks blocks;
                ipt__bus_bands bands;
                double blocks_time, bands_time;
                memset(&problem, 0, sizeof problem);
                memset(&blocks, 0, sizeof blocks);
                memset(&bands, 0, sizeof bands);
                problem.limits = limits_of(device);
                problem.matrix_bytes = times * blocks_bytes;
                blocks.bus_bytes = 2 * problem.matrix_bytes;
                bands.bands.number = number;
                bands.run_bytes = run;
                blocks_time = ipt__blocks_time(&problem, &blocks);
                bands_time = ipt__bus_bands_time(&problem, &bands);
                assert_true(blocks_time > blocks_before && bands_time > bands_before);
                bands.run_bytes = 2 * run; /* longer runs cross the bus faster */
                assert_true(ipt__bus_bands_time(&problem, &bands) <= bands_time);
                blocks_before = blocks_time;
                bands_before = bands_time;
            }
        }
}
#endif

#ifndef IPT_NO_BATCH
static void draw_batch(ipt__batch_problem *problem, int device)
{
    size_t i;
    memset(problem, 0, sizeof *problem);
    problem->limits = limits_of(device);
    problem->ready = (ipt_action)test_random_between(0, IPT__ACTION_COUNT - 1);
    problem->m = test_random_between(1, 64);
    problem->n = test_random_between(1, 64);
    problem->k = test_random_between(1, 64);
    problem->alignment = 16;
    problem->shares = 1;
    problem->loops = test_random() % 2;
    problem->barriers = (int)test_random_between(0, 3);
    problem->operand_count = test_random_between(1, 3);
    for (i = 0; i < problem->operand_count; ++i) {
        ipt__batch_operand *const operand = &problem->operands[i];
        operand->given.rows = test_random_between(1, 64);
        operand->given.cols = test_random_between(1, 64);
        operand->given.layout = (ipt_layout)test_random_between(0, IPT__LAYOUT_COUNT - 1);
        operand->type_bytes = (size_t)4 << test_random_between(0, 2);
        operand->components = operand->given.rows * operand->given.cols;
        operand->given.stride = operand->components;
        problem->element_bytes += operand->components * operand->type_bytes;
        if (operand->given.layout == IPT_LAYOUT_ELEMENTS)
            problem->far_bytes += operand->components * operand->type_bytes;
    }
}

static void speed_batches(void **state)
{
    unsigned char seen[IPT__MODEL_COUNT] = {0};
    int device, round;
    (void)state;
    for (device = 0; device < DEVICE_COUNT; ++device)
        for (round = 0; round < 2000; ++round) {
            ipt__batch_problem problem;
            const ipt_batch_desc desc = {0};
            size_t candidate;
            draw_batch(&problem, device);
            for (candidate = 0; candidate < IPT__BATCH_CANDIDATES; ++candidate) {
                ipt__batch_choice choice;
                char why[160];
                double before = 0;
                if (!ipt__batch_candidate(&problem, &desc, candidate, &choice, why))
                    continue;
                seen[choice.model] = 1;
                for (problem.count = 1; problem.count < 10000000; problem.count *= 3) {
                    const double cost = ipt__batch_cost(&problem, &choice);
                    /* In registers, products cost nothing beyond the transfer. */
                    assert_true(choice.model == IPT_MODEL_REGISTERS ? cost >= 0 : cost > 0);
                    assert_true(cost >= before);
                    before = cost;
                }
            }
        }
    for (round = IPT_MODEL_AUTO + 1; round < IPT__MODEL_COUNT; ++round)
        assert_true(seen[round]);
}
#endif

const struct CMUnitTest test_speed[] = {
    TEST_CASE(speed_numbers),   TEST_CASE(speed_stages), TEST_CASE(speed_passes),
#ifndef IPT_NO_HOST_STREAMING
    TEST_CASE(speed_transfers),
#endif
#ifndef IPT_NO_BATCH
    TEST_CASE(speed_batches),
#endif
};
const size_t test_speed_count = TEST_COUNT(test_speed);
