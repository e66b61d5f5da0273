/* Contract: a forced sequence gives the right result with every tile that divides the matrix, or fails with the reason.
 * Sequences 3.3 to 4.3 may be unsupported as a whole, with a message about it. */
#include "test.h"
#include <stdio.h>
#include <string.h>

static int needs_tile_m(ipt_sequence sequence)
{
    return sequence == IPT_SEQUENCE_2_1 || sequence >= IPT_SEQUENCE_3_1;
}

static int needs_tile_n(ipt_sequence sequence)
{
    return sequence >= IPT_SEQUENCE_2_2;
}

static int may_be_unsupported(ipt_sequence sequence)
{
    return sequence >= IPT_SEQUENCE_3_3 && sequence <= IPT_SEQUENCE_4_3;
}

static void try_tiles(ipt_context *context, ipt_sequence sequence, size_t rows, size_t cols, size_t tile_m,
                      size_t tile_n)
{
    static const size_t element_sizes[] = {1, 4, 12, 16};
    for (size_t e = 0; e < TEST_COUNT(element_sizes); ++e) {
        ipt_plan_desc desc = {.rows = rows, .cols = cols, .elem_size = element_sizes[e]};
        desc.batch = test_random_between(0, 1) ? 1 : 3;
        desc.sequence = sequence;
        desc.tile_m = tile_m;
        desc.tile_n = tile_n;
        if (!may_be_unsupported(sequence)) {
            test_transposes(context, &desc);
            continue;
        }
        ipt_result result = test_try(context, &desc);
        if (result != IPT_SUCCESS)
            test_expect_error(result, IPT_ERROR_UNSUPPORTED, ipt_sequence_string(sequence), NULL);
    }
}

/* Tries all tiles of a sequence with one side, or about twelve random pairs of a sequence with two sides. */
static void try_shape(ipt_context *context, ipt_sequence sequence, size_t rows, size_t cols)
{
    size_t pairs = 0;
    for (size_t m = 1; m <= rows; ++m)
        for (size_t n = 1; n <= cols; ++n)
            pairs += rows % m == 0 && cols % n == 0;
    for (size_t m = 1; m <= (needs_tile_m(sequence) ? rows : 1); ++m)
        for (size_t n = 1; n <= (needs_tile_n(sequence) ? cols : 1); ++n) {
            if (rows % m || cols % n)
                continue;
            if (needs_tile_m(sequence) && needs_tile_n(sequence) && test_random_between(1, pairs) > 12)
                continue;
            try_tiles(context, sequence, rows, cols, needs_tile_m(sequence) ? m : 0, needs_tile_n(sequence) ? n : 0);
        }
}

static void try_shapes(ipt_context *context)
{
    static const size_t shapes[][2] = {{24, 36},   {36, 24},   {30, 42},   {64, 48},  {96, 60}, {35, 77}, {120, 250},
                                       {250, 120}, {300, 420}, {384, 256}, {360, 84}, {7, 11},  {60, 60}};
    for (ipt_sequence sequence = IPT_SEQUENCE_1; sequence <= IPT_SEQUENCE_4_3; ++sequence)
        for (size_t s = 0; s < TEST_COUNT(shapes); ++s)
            try_shape(context, sequence, shapes[s][0], shapes[s][1]);
}

static void sequences_forced(void **state)
{
    (void)state;
    try_shapes(test_context);
}

static void sequences_forced_with_little_local_memory(void **state)
{
    (void)state;
    try_shapes(test_small_context);
}

/* ipt chooses tile sides of 0. A shape with prime sides may have no tile. */
static void sequences_without_tiles(void **state)
{
    (void)state;
    static const struct {
        size_t rows, cols;
        int has_tiles;
    } shapes[] = {{120, 250, 1}, {240, 96, 1}, {37, 41, 0}, {37, 40, 0}, {101, 103, 0}, {1, 30, 0}, {30, 1, 0}};
    for (ipt_sequence sequence = IPT_SEQUENCE_1; sequence <= IPT_SEQUENCE_TWO_PASS; ++sequence)
        for (size_t s = 0; s < TEST_COUNT(shapes); ++s) {
            ipt_plan_desc desc = {.rows = shapes[s].rows, .cols = shapes[s].cols, .elem_size = 4, .batch = 2};
            desc.sequence = sequence;
            ipt_result result = test_try(test_context, &desc);
            if (result == IPT_SUCCESS)
                continue;
            test_expect_error(result, IPT_ERROR_UNSUPPORTED, NULL, NULL);
            if (sequence == IPT_SEQUENCE_1 || sequence == IPT_SEQUENCE_TWO_PASS ||
                (shapes[s].has_tiles && !may_be_unsupported(sequence))) {
                test_print_case(&desc, 0);
                print_error("%s\n", ipt_context_error(NULL));
                fail();
            }
        }
}

static void sequences_errors(void **state)
{
    (void)state;
    static const struct {
        ipt_sequence sequence;
        size_t tile_m, tile_n;
        const char *field, *value;
    } wrong[] = {
        {IPT_SEQUENCE_2_1, 5, 0, "tile_m", "5"},           {IPT_SEQUENCE_2_1, 48, 0, "tile_m", "48"},
        {IPT_SEQUENCE_2_2, 0, 7, "tile_n", "7"},           {IPT_SEQUENCE_2_2, 0, 72, "tile_n", "72"},
        {IPT_SEQUENCE_3_1, 5, 6, "tile_m", "5"},           {IPT_SEQUENCE_3_1, 6, 7, "tile_n", "7"},
        {IPT_SEQUENCE_3_2, 9, 12, "tile_m", "9"},          {IPT_SEQUENCE_3_2, 12, 10, "tile_n", "10"},
        {IPT_SEQUENCE_3_3, 5, 6, "tile_m", "5"},           {IPT_SEQUENCE_3_4, 6, 7, "tile_n", "7"},
        {IPT_SEQUENCE_4_1, 5, 6, "tile_m", "5"},           {IPT_SEQUENCE_4_2, 6, 7, "tile_n", "7"},
        {IPT_SEQUENCE_4_3, 5, 6, "tile_m", "5"},           {IPT_SEQUENCE_2_1, (size_t)-1, 0, "tile_m", NULL},
        {IPT_SEQUENCE_2_2, 0, (size_t)-1, "tile_n", NULL},
    };
    ipt_plan_desc desc = {.rows = 24, .cols = 36, .elem_size = 4};
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        ipt_plan *plan = (ipt_plan *)&desc;
        desc.sequence = wrong[i].sequence;
        desc.tile_m = wrong[i].tile_m;
        desc.tile_n = wrong[i].tile_n;
        ipt_result result = ipt_plan_create(test_context, &desc, &plan);
        assert_null(plan);
        if (may_be_unsupported(desc.sequence) && result == IPT_ERROR_UNSUPPORTED)
            test_expect_error(result, result, ipt_sequence_string(desc.sequence), NULL);
        else
            test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, wrong[i].field, wrong[i].value);
    }

    static const size_t rectangles[][2] = {{24, 36}, {36, 24}, {1, 2}, {500, 499}};
    for (size_t i = 0; i < TEST_COUNT(rectangles); ++i) {
        ipt_plan_desc rectangle = {.rows = rectangles[i][0], .cols = rectangles[i][1], .elem_size = 4};
        ipt_plan *plan = (ipt_plan *)&desc;
        rectangle.sequence = IPT_SEQUENCE_SQUARE;
        ipt_result result = ipt_plan_create(test_context, &rectangle, &plan);
        assert_null(plan);
        test_expect_error(result, result == IPT_ERROR_UNSUPPORTED ? IPT_ERROR_UNSUPPORTED : IPT_ERROR_INVALID_ARGUMENT,
                          "square", test_number(rectangle.rows));
    }

    static const int no_sequences[] = {IPT__SEQUENCE_COUNT, IPT__SEQUENCE_COUNT + 1, 1000, -1};
    for (size_t i = 0; i < TEST_COUNT(no_sequences); ++i) {
        ipt_plan_desc unknown = {.rows = 24, .cols = 24, .elem_size = 4};
        ipt_plan *plan = (ipt_plan *)&desc;
        unknown.sequence = (ipt_sequence)no_sequences[i];
        ipt_result result = ipt_plan_create(test_context, &unknown, &plan);
        assert_null(plan);
        test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, "sequence",
                          no_sequences[i] < 0 ? NULL : test_number((size_t)no_sequences[i]));
    }
}

/* The tiles and the sequence that a paper chooses, by its heuristics: 0 if it has none. */
static int published(ipt_method method, const ipt_plan_desc *desc, size_t local_bytes, size_t tile[2], size_t pad[2],
                     ipt_sequence *sequence)
{
    const ipt_heuristic_device device = {.local_bytes = local_bytes, .max_group = 256, .simd_width = 32};
    const ipt_heuristic heuristic = method == IPT_METHOD_PPOPP_2014  ? IPT_HEURISTIC_SEED_000_RANGE
                                    : method == IPT_METHOD_TPDS_2016 ? IPT_HEURISTIC_ALGORITHM_2
                                                                     : IPT_HEURISTIC_ALGORITHM_5;
    if (ipt_heuristic_tiles(heuristic, &device, desc->rows, desc->cols, desc->elem_size, &tile[0], &tile[1], &pad[0],
                            &pad[1]))
        return 0;
    *sequence = method == IPT_METHOD_PPOPP_2014
                    ? IPT_SEQUENCE_3_1
                    : ipt_heuristic_sequence(&device, desc->rows + pad[0], desc->cols + pad[1], desc->elem_size,
                                             tile[0], tile[1]);
    return 1;
}

/* The kernel of a super-element of the given bytes in a method of 2016. */
static const char *kernel_of(size_t bytes)
{
    return bytes <= 23 * 4   ? "by pttwac-100-virtual-8-registers"
           : bytes <= 47 * 4 ? "by pttwac-100-virtual-16-registers"
           : bytes <= 95 * 4 ? "by pttwac-100-simd-registers"
                             : "by pttwac-100-group-registers";
}

/* Methods take the papers' tiles, sequences and kernels, and move every element right. */
static void sequences_methods(void **state)
{
    (void)state;
    test_need_compiler();
    if (test_group_limit() < 256)
        test_skip("work-groups have fewer than 256 work-items");
    static const size_t shapes[][3] = {{720, 180, 4},  {180, 720, 4}, {600, 500, 8},  {619, 661, 4}, {211, 223, 4},
                                       {101, 103, 16}, {400, 350, 2}, {1000, 60, 12}, {64, 4096, 4}, {37, 41, 4},
                                       {512, 512, 8},  {1, 100, 4},   {5400, 64, 1}};
    const size_t local_bytes = 16384;
    ipt_context *context = test_make_context(local_bytes);
    size_t served = 0;
    for (int method = IPT_METHOD_PPOPP_2014; method <= IPT_METHOD_TPDS_2016_PADDED; ++method)
        for (size_t s = 0; s < TEST_COUNT(shapes); ++s) {
            ipt_plan_desc desc = {.rows = shapes[s][0], .cols = shapes[s][1], .elem_size = shapes[s][2]};
            size_t tile[2], pad[2];
            ipt_sequence sequence = IPT_SEQUENCE_AUTO;
            const int has = published((ipt_method)method, &desc, local_bytes, tile, pad, &sequence);
            char words[64];
            ipt_plan *plan;
            if (has && (pad[0] || pad[1])) /* seeds_padding_by_method has the buffers for it */
                continue;
            desc.method = (ipt_method)method;
            const ipt_result result = test_try(context, &desc);
            if (!has) {
                test_expect_error(result, IPT_ERROR_UNSUPPORTED, NULL, NULL);
                continue;
            }
            if (result && tile[0] * tile[1] / 8 > local_bytes) { /* not even the flags of a tile fit */
                test_expect_error(result, IPT_ERROR_UNSUPPORTED, "pttwac-010-remapped", NULL);
                continue;
            }
            if (result)
                fail_msg("%s, %zu x %zu of %zu bytes: %s", ipt_method_string(desc.method), desc.rows, desc.cols,
                         desc.elem_size, ipt_context_error(NULL));
            assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
            snprintf(words, sizeof words, "sequence %s,", ipt_sequence_string(sequence));
            if (!strstr(ipt_plan_describe(plan), words))
                fail_msg("%s: no %s in: %s", ipt_method_string(desc.method), words, ipt_plan_describe(plan));
            ipt_plan_destroy(plan);
            ++served;
        }
    assert_true(served >= 20);
    ipt_context_destroy(context);
}

/* What a method chooses by itself, nothing else names. */
static void sequences_methods_alone(void **state)
{
    (void)state;
    const ipt_plan_desc whole = {.rows = 600, .cols = 500, .elem_size = 4, .method = IPT_METHOD_TPDS_2016};
    ipt_plan *plan;
    for (int field = 0; field < 10; ++field) {
        static const char *const names[] = {"sequence",    "tile_m",      "tile_n", "variant_010", "variant_100",
                                            "variant_pad", "flag_spread", "from",   "flags",       "move"};
        ipt_plan_desc desc = whole;
        switch (field) {
        case 0:
            desc.sequence = IPT_SEQUENCE_3_1;
            break;
        case 1:
            desc.tile_m = 50;
            break;
        case 2:
            desc.tile_n = 50;
            break;
        case 3:
            desc.variant_010 = IPT_VARIANT_BS_SIMD;
            break;
        case 4:
            desc.variant_100 = IPT_VARIANT_PTTWAC_100_SIMD;
            break;
        case 5:
            desc.variant_pad = IPT_VARIANT_PAD_CHAINED;
            break;
        case 6:
            desc.flag_spread = 2;
            break;
        case 7:
            desc.from = IPT_FORMAT_CM;
            break;
        case 8:
            desc.flags = IPT_PAD;
            break;
        default:
            desc.move = IPT_MOVE_ROTATE_90;
            break;
        }
        test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, names[field], NULL);
        assert_null(plan);
    }
    ipt_plan_desc of_batches = whole;
    of_batches.method = IPT_METHOD_UUSCI_2013;
    test_expect_error(ipt_plan_create(test_context, &of_batches, &plan), IPT_ERROR_INVALID_ARGUMENT, "method",
                      "ipt_batch_desc");
    for (int i = 0; i < 2; ++i) {
        ipt_plan_desc desc = whole;
        desc.method = (ipt_method)(i ? IPT__METHOD_COUNT : -1);
        test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "method", NULL);
        assert_string_equal(ipt_method_string(desc.method), "unknown");
    }
    assert_string_equal(ipt_method_string(IPT_METHOD_TPDS_2016_PADDED), "tpds-2016-padded");
}

/* Super-elements of every length get the set of work-items of section 5.2. */
static void sequences_methods_sets(void **state)
{
    (void)state;
    test_need_compiler();
    if (test_group_limit() < 256)
        test_skip("work-groups have fewer than 256 work-items");
    static const size_t sides[] = {7, 23, 29, 47, 53, 89, 97, 127, 251};
    ipt_context *context = test_make_context(16384);
    size_t with_groups = 0;
    for (size_t i = 0; i < TEST_COUNT(sides); ++i) {
        ipt_plan_desc desc = {.rows = sides[i], .cols = 7 * 11 * 13, .elem_size = 4, .method = IPT_METHOD_TPDS_2016};
        ipt_plan *plan;
        test_transposes(context, &desc);
        assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
        const char *const at = strstr(ipt_plan_describe(plan), " super-elements of ");
        unsigned long elements = 0;
        if (at && sscanf(at, " super-elements of %lu", &elements) == 1 && !strstr(at, kernel_of(4 * elements)))
            fail_msg("%lu elements, no %s in: %s", elements, kernel_of(4 * elements), ipt_plan_describe(plan));
        if (elements > 95 && elements < 384 && !strstr(at, "group_size=128 lanes=128"))
            fail_msg("%lu elements, not 128 work-items: %s", elements, ipt_plan_describe(plan));
        with_groups += elements > 95 && elements < 384;
        ipt_plan_destroy(plan);
    }
    assert_true(with_groups > 0);
    ipt_context_destroy(context);
}

/* A named heuristic gives the plan that its tiles and algorithm 3 give. */
static void sequences_heuristics(void **state)
{
    (void)state;
    test_need_compiler();
    static const size_t shapes[][3] = {{720, 180, 4}, {180, 720, 4}, {600, 500, 8}, {101, 103, 16},
                                       {5400, 64, 1}, {400, 350, 2}, {1, 100, 4}};
    const ipt_heuristic_device device = {.local_bytes = 16384, .max_group = 1024, .simd_width = 32};
    ipt_context *context = test_make_context(device.local_bytes);
    size_t served = 0;
    for (int h = IPT_HEURISTIC_NONE + 1; h < IPT_HEURISTIC_ALGORITHM_5; ++h)
        for (size_t s = 0; s < TEST_COUNT(shapes); ++s) {
            const ipt_plan_desc named = {
                .rows = shapes[s][0], .cols = shapes[s][1], .elem_size = shapes[s][2], .heuristic = (ipt_heuristic)h};
            ipt_plan_desc given = named;
            ipt_plan *plans[2];
            size_t pads[2];
            given.heuristic = IPT_HEURISTIC_NONE;
            if (ipt_heuristic_tiles(named.heuristic, &device, given.rows, given.cols, given.elem_size, &given.tile_m,
                                    &given.tile_n, &pads[0], &pads[1])) {
                test_expect_error(ipt_plan_create(context, &named, plans), IPT_ERROR_UNSUPPORTED, "heuristic", NULL);
                continue;
            }
            given.sequence =
                ipt_heuristic_sequence(&device, given.rows, given.cols, given.elem_size, given.tile_m, given.tile_n);
            if (ipt_plan_create(context, &given, &plans[0])) { /* tiles of 1 x 1, say */
                test_expect_error(ipt_plan_create(context, &named, plans), IPT_ERROR_UNSUPPORTED, NULL, NULL);
                continue;
            }
            assert_int_equal(ipt_plan_create(context, &named, &plans[1]), IPT_SUCCESS);
            assert_string_equal(ipt_plan_describe(plans[0]), ipt_plan_describe(plans[1]));
            ipt_plan_destroy(plans[0]);
            ipt_plan_destroy(plans[1]);
            assert_int_equal(test_try(context, &named), IPT_SUCCESS);
            ++served;
        }
    assert_true(served >= 12);
    ipt_context_destroy(context);
}

static void sequences_heuristics_alone(void **state)
{
    (void)state;
    test_need_compiler();
    static const struct {
        ipt_plan_desc desc;
        const char *word;
    } wrong[] = {{{.heuristic = IPT_HEURISTIC_ALGORITHM_1, .tile_m = 50}, "tile_m"},
                 {{.heuristic = IPT_HEURISTIC_ALGORITHM_2, .tile_n = 50}, "tile_n"},
                 {{.heuristic = IPT_HEURISTIC_ALGORITHM_5}, "IPT_PAD"},
                 {{.heuristic = IPT_HEURISTIC_ALGORITHM_1, .flags = IPT_PAD}, "algorithm-5"},
                 {{.heuristic = IPT__HEURISTIC_COUNT}, "unknown"},
                 {{.heuristic = (ipt_heuristic)-1}, "unknown"},
                 {{.heuristic = IPT_HEURISTIC_ALGORITHM_1, .method = IPT_METHOD_TPDS_2016}, "set heuristic to 0"}};
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        ipt_plan_desc desc = wrong[i].desc;
        ipt_plan *plan;
        desc.rows = 600;
        desc.cols = 500;
        desc.elem_size = 4;
        test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "heuristic",
                          wrong[i].word);
        assert_null(plan);
    }
    const ipt_plan_desc padded = {
        .rows = 619, .cols = 661, .elem_size = 4, .heuristic = IPT_HEURISTIC_ALGORITHM_5, .flags = IPT_PAD};
    ipt_plan *plan;
    size_t rows, cols;
    assert_int_equal(ipt_plan_create(test_context, &padded, &plan), IPT_SUCCESS);
    ipt_plan_padding(plan, &rows, &cols);
    assert_true(rows && cols);
    ipt_plan_destroy(plan);
}

const struct CMUnitTest test_sequences[] = {
    TEST_CASE(sequences_heuristics),
    TEST_CASE(sequences_heuristics_alone),
    TEST_CASE(sequences_methods),
    TEST_CASE(sequences_methods_alone),
    TEST_CASE(sequences_methods_sets),
    TEST_CASE(sequences_forced),
    TEST_CASE(sequences_forced_with_little_local_memory),
    TEST_CASE(sequences_without_tiles),
    TEST_CASE(sequences_errors),
};
const size_t test_sequences_count = TEST_COUNT(test_sequences);
