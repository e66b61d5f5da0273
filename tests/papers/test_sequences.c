/* Contract: a forced sequence gives the right result with every tile that divides the matrix, or fails with the reason.
 * Sequences 3.3 to 4.3 may be unsupported as a whole, with a message about it. */
#include "test.h"

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

const struct CMUnitTest test_sequences[] = {
    TEST_CASE(sequences_forced),
    TEST_CASE(sequences_forced_with_little_local_memory),
    TEST_CASE(sequences_without_tiles),
    TEST_CASE(sequences_errors),
};
const size_t test_sequences_count = TEST_COUNT(test_sequences);
