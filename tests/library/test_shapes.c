/* Contract: every shape is transposed right, byte for byte, and no byte outside the matrices changes. The tests run all
 * small shapes through the planner's choice and through the two passes, then random, large, square and odd ones. */
#include "test.h"

#define SMALL 34 /* largest side of the small shapes */

static const size_t super_elements[] = {2, 3, 5, 8};

static size_t longer(size_t a, size_t b)
{
    return a > b ? a : b;
}

static ipt_plan_desc two_passes(size_t rows, size_t cols, size_t elem_size, size_t batch, size_t super_element)
{
    ipt_plan_desc desc = {.rows = rows, .cols = cols, .elem_size = elem_size, .batch = batch};
    desc.sequence = IPT_SEQUENCE_TWO_PASS;
    desc.flags = IPT_NO_COOPERATIVE;
    *(rows >= cols ? &desc.tile_m : &desc.tile_n) = super_element;
    return desc;
}

static void shapes_small(void **state)
{
    (void)state;
    for (size_t e = 0; e < TEST_ELEMENT_SIZE_COUNT; ++e)
        for (size_t rows = 1; rows <= SMALL; ++rows)
            for (size_t cols = 1; cols <= SMALL; ++cols)
                for (size_t batch = 1; batch <= 3; batch += 2) {
                    ipt_plan_desc desc = {.rows = rows, .cols = cols, .elem_size = test_element_sizes[e]};
                    desc.batch = batch;
                    test_transposes(test_context, &desc);
                }
}

/* All small shapes for elements of 1, 4 and 12 bytes; a random tenth of the shapes for other sizes. */
static void shapes_small_two_pass(void **state)
{
    (void)state;
    for (size_t e = 0; e < TEST_ELEMENT_SIZE_COUNT; ++e)
        for (size_t rows = 1; rows <= SMALL; ++rows)
            for (size_t cols = 1; cols <= SMALL; ++cols)
                for (size_t s = 0; s < TEST_COUNT(super_elements); ++s) {
                    size_t elem_size = test_element_sizes[e];
                    if (elem_size != 1 && elem_size != 4 && elem_size != 12 && test_random_between(0, 9))
                        continue;
                    ipt_plan_desc desc =
                        two_passes(rows, cols, elem_size, test_random_between(0, 1) ? 1 : 3, super_elements[s]);
                    if (super_elements[s] <= longer(rows, cols)) {
                        test_transposes(test_context, &desc);
                        continue;
                    }
                    ipt_plan *plan = (ipt_plan *)&desc;
                    ipt_result result = ipt_plan_create(test_context, &desc, &plan);
                    if ((result != IPT_ERROR_INVALID_ARGUMENT && result != IPT_ERROR_UNSUPPORTED) || plan) {
                        test_print_case(&desc, 0);
                        print_error("super-element longer than the matrix: %s\n", ipt_result_string(result));
                        fail();
                    }
                }
}

/* Runs a random eighth of the cases of both tests above, in this context and within max_workspace. */
static void sample_small(ipt_context *context, size_t max_workspace)
{
    size_t forced = 0, unsupported = 0;
    for (size_t e = 0; e < TEST_ELEMENT_SIZE_COUNT; ++e)
        for (size_t rows = 1; rows <= SMALL; ++rows)
            for (size_t cols = 1; cols <= SMALL; ++cols) {
                if (test_random_between(0, 7))
                    continue;
                ipt_plan_desc desc = {.rows = rows, .cols = cols, .elem_size = test_element_sizes[e]};
                desc.batch = test_random_between(0, 3);
                desc.max_workspace = max_workspace;
                test_transposes(context, &desc);
                size_t super_element = super_elements[test_random_between(0, TEST_COUNT(super_elements) - 1)];
                if (super_element > longer(rows, cols))
                    continue;
                desc = two_passes(rows, cols, desc.elem_size, desc.batch, super_element);
                desc.max_workspace = max_workspace;
                ++forced;
                ipt_result result = test_try(context, &desc);
                if (result == IPT_SUCCESS)
                    continue;
                ++unsupported;
                /* Two passes may need more than the limit. The message must then name the limit. */
                test_expect_error(result, IPT_ERROR_UNSUPPORTED, "max_workspace", NULL);
            }
    if (!max_workspace)
        assert_int_equal(unsupported, 0);
    assert_in_range(unsupported, 0, forced - 1);
}

static void shapes_small_with_little_local_memory(void **state)
{
    (void)state;
    sample_small(test_small_context, 0);
}

static void shapes_small_with_little_workspace(void **state)
{
    (void)state;
    sample_small(test_context, 1);
}

static void shapes_small_with_little_of_both(void **state)
{
    (void)state;
    sample_small(test_small_context, 1);
}

/* A side up to limit: any number, a prime, a power of two or its neighbour. */
static size_t random_side(size_t limit)
{
    static const size_t primes[] = {2, 3, 7, 13, 31, 61, 127, 131, 251, 257, 509, 521, 641, 683, 691, 701};
    size_t side = 0;
    switch (test_random_between(0, 3)) {
    case 0:
        side = primes[test_random_between(0, TEST_COUNT(primes) - 1)];
        break;
    case 1:
        side = ((size_t)1 << test_random_between(1, 9)) + test_random_between(0, 2) - 1;
        break;
    default:
        side = test_random_between(1, limit);
    }
    return side < limit ? side : limit;
}

static void shapes_random(void **state)
{
    (void)state;
    static const size_t rare_element_sizes[] = {5, 6, 24, 32, 100, 1000};
    for (int i = 0; i < 600; ++i) {
        ipt_plan_desc desc = {0};
        size_t limit = 700;
        desc.elem_size = test_element_sizes[test_random_between(0, TEST_ELEMENT_SIZE_COUNT - 1)];
        if (i % 6 == 0) {
            desc.elem_size = rare_element_sizes[(size_t)i / 6 % TEST_COUNT(rare_element_sizes)];
            limit = desc.elem_size < 100 ? 300 : 70;
        }
        desc.rows = random_side(limit);
        desc.cols = random_side(limit);
        desc.batch = test_random_between(0, 3);
        test_transposes(i % 4 == 1 ? test_small_context : test_context, &desc);
    }
}

static void shapes_skinny(void **state)
{
    (void)state;
    for (int i = 0; i < 60; ++i) {
        ipt_plan_desc desc = {0};
        size_t narrow = test_random_between(2, 5), length = test_random_between(100, 40000);
        desc.rows = i % 2 ? narrow : length;
        desc.cols = i % 2 ? length : narrow;
        desc.elem_size = test_element_sizes[test_random_between(0, TEST_ELEMENT_SIZE_COUNT - 1)];
        desc.batch = test_random_between(0, 2);
        test_transposes(i % 5 == 1 ? test_small_context : test_context, &desc);
    }
}

static void shapes_large(void **state)
{
    (void)state;
    static const ipt_plan_desc large[] = {
        {.rows = 3000, .cols = 2500, .elem_size = 4}, {.rows = 2500, .cols = 3000, .elem_size = 1},
        {.rows = 2999, .cols = 2477, .elem_size = 4}, {.rows = 1201, .cols = 2903, .elem_size = 3},
        {.rows = 2047, .cols = 2049, .elem_size = 8}, {.rows = 2048, .cols = 2048, .elem_size = 4},
        {.rows = 640, .cols = 3000, .elem_size = 16}, {.rows = 1531, .cols = 611, .elem_size = 12, .batch = 2},
    };
    for (size_t i = 0; i < TEST_COUNT(large); ++i)
        test_transposes(test_context, &large[i]);
    test_transposes(test_small_context, &large[2]);
}

static void shapes_square(void **state)
{
    (void)state;
    static const struct {
        size_t first, last;
    } ranges[] = {{1, 70}, {120, 136}, {253, 259}, {509, 515}};
    for (size_t e = 0; e < TEST_ELEMENT_SIZE_COUNT; ++e)
        for (size_t r = 0; r < TEST_COUNT(ranges); ++r)
            for (size_t side = ranges[r].first; side <= ranges[r].last; ++side) {
                ipt_plan_desc desc = {.rows = side, .cols = side, .elem_size = test_element_sizes[e]};
                desc.batch = side < 200 && test_random_between(0, 1) ? 3 : 1;
                test_transposes(test_context, &desc);
                desc.sequence = IPT_SEQUENCE_SQUARE;
                test_transposes(test_context, &desc);
                if (side % 9 == 0)
                    test_transposes(test_small_context, &desc);
            }
}

static void shapes_huge_elements(void **state)
{
    (void)state;
    static const size_t sizes[] = {5000, 70000}, sides[][2] = {{3, 5}, {5, 3}, {4, 4}, {1, 6}, {13, 7}, {2, 31}};
    for (size_t e = 0; e < TEST_COUNT(sizes); ++e)
        for (size_t s = 0; s < TEST_COUNT(sides); ++s) {
            ipt_plan_desc desc = {.rows = sides[s][0], .cols = sides[s][1], .elem_size = sizes[e], .batch = 2};
            test_transposes(test_context, &desc);
            test_transposes(test_small_context, &desc);
            desc.max_workspace = 1;
            test_transposes(test_context, &desc);
        }
}

/* Squares whose elements change places in pairs: all units, one piece and several pieces, all remainders of a
 * work-group's pairs. */
static void shapes_square_long_elements(void **state)
{
    static const size_t sizes[] = {128, 132, 200, 388, 400, 774, 1000, 1037, 2048, 4104, 65536, 70004, 200016};
    size_t pairs = 0;
    (void)state;
    for (size_t i = 0; i < 5 * TEST_COUNT(sizes); ++i) {
        const size_t size = sizes[i % TEST_COUNT(sizes)];
        const size_t side = test_random_between(2, size > 60000 ? 9 : size > 4000 ? 25 : 70);
        ipt_plan_desc desc = {.rows = side, .cols = side, .elem_size = size, .batch = i % 4 == 3 ? 2 : 1};
        ipt_plan *plan;
        if (desc.batch > 1 && i % 8 == 7)
            desc.batch_stride = side * side * size + 16 * test_random_between(1, 9);
        plan = test_make_plan(i % 6 == 5 ? test_small_context : test_context, &desc);
        pairs += test_mentions(ipt_plan_describe(plan), "in pairs");
        ipt_plan_destroy(plan);
        test_transposes(i % 6 == 5 ? test_small_context : test_context, &desc);
    }
    assert_true(pairs > 0);
}

const struct CMUnitTest test_shapes[] = {
    TEST_CASE(shapes_small),
    TEST_CASE(shapes_small_two_pass),
    TEST_CASE(shapes_small_with_little_local_memory),
    TEST_CASE(shapes_small_with_little_workspace),
    TEST_CASE(shapes_small_with_little_of_both),
    TEST_CASE(shapes_random),
    TEST_CASE(shapes_skinny),
    TEST_CASE(shapes_large),
    TEST_CASE(shapes_square),
    TEST_CASE(shapes_square_long_elements),
    TEST_CASE(shapes_huge_elements),
};
const size_t test_shapes_count = TEST_COUNT(test_shapes);
