/* The papers' heuristics against plain transcriptions of their text, against the numbers in the papers, and on invalid
 * input. Needs no device. */
#include "test.h"

#include <string.h>

/* The devices of the papers: local memory, largest work-group, SIMD unit, work-items and work-groups of a unit. */
static const ipt_heuristic_device k20 = {49152, 1024, 32, 0, 0}, fermi = {49152, 1024, 32, 1536, 8},
                                  hawaii = {32768, 256, 64, 0, 0}, cpu = {1u << 20, 4096, 1, 0, 0};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}
static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

typedef struct chosen {
    size_t m, n, pad_rows, pad_cols;
} chosen;

static ipt_result choose(ipt_heuristic heuristic, const ipt_heuristic_device *device, size_t rows, size_t cols,
                         size_t elem_size, chosen *tiles)
{
    return ipt_heuristic_tiles(heuristic, device, rows, cols, elem_size, &tiles->m, &tiles->n, &tiles->pad_rows,
                               &tiles->pad_cols);
}

static void check_tiles(ipt_heuristic heuristic, const ipt_heuristic_device *device, size_t rows, size_t cols,
                        size_t elem_size, size_t m, size_t n, size_t pad_rows, size_t pad_cols)
{
    chosen tiles;
    const ipt_result result = choose(heuristic, device, rows, cols, elem_size, &tiles);
    if (!result && tiles.m == m && tiles.n == n && tiles.pad_rows == pad_rows && tiles.pad_cols == pad_cols)
        return;
    print_error("%s, (%zu + %zu) x (%zu + %zu), %zu bytes: %s, %zu x %zu instead of %zu x %zu\n",
                ipt_heuristic_string(heuristic), rows, tiles.pad_rows, cols, tiles.pad_cols, elem_size,
                ipt_result_string(result), tiles.m, tiles.n, m, n);
    fail();
}

static void heuristics_names(void **state)
{
    (void)state;
    assert_string_equal(ipt_heuristic_string(IPT_HEURISTIC_SEED_000_RANGE), "range-50-100");
    assert_string_equal(ipt_heuristic_string(IPT_HEURISTIC_ALGORITHM_5), "algorithm-5");
    assert_string_equal(ipt_heuristic_string(IPT__HEURISTIC_COUNT), "unknown");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Tiles                                                                                                              */
/* ------------------------------------------------------------------------------------------------------------------ */

/* All divisors between `first` and `last`, both included. */
static size_t divisors_in(size_t side, size_t first, size_t last, size_t *divisors)
{
    size_t count = 0, d;
    for (d = first; d <= last; ++d)
        if (side % d == 0)
            divisors[count++] = d;
    return count;
}

static void heuristics_range(void **state)
{
    size_t i, failures = 0;
    chosen tiles;
    (void)state;
    check_tiles(IPT_HEURISTIC_SEED_000_RANGE, &k20, 7200, 1800, 4, 100, 100, 0, 0);
    for (i = 0; i < 2000; ++i) {
        const size_t rows = test_random_between(50, 3000), cols = test_random_between(50, 3000);
        const size_t elem_size = test_random_between(1, 16), local = k20.local_bytes / elem_size;
        size_t of_rows[51], of_cols[51], best = 0, j, k;
        const size_t m_count = divisors_in(rows, 50, 100, of_rows), n_count = divisors_in(cols, 50, 100, of_cols);
        for (j = 0; j < m_count; ++j)
            for (k = 0; k < n_count; ++k)
                if (of_rows[j] * of_cols[k] < local)
                    best = larger(best, of_rows[j] * of_cols[k]);
        if (best) {
            assert_int_equal(choose(IPT_HEURISTIC_SEED_000_RANGE, &k20, rows, cols, elem_size, &tiles), IPT_SUCCESS);
            assert_true(tiles.m * tiles.n == best && rows % tiles.m == 0 && cols % tiles.n == 0);
            assert_true(tiles.m >= 50 && tiles.m <= 100 && tiles.n >= 50 && tiles.n <= 100);
            assert_true(!tiles.pad_rows && !tiles.pad_cols);
        } else {
            test_expect_error(choose(IPT_HEURISTIC_SEED_000_RANGE, &k20, rows, cols, elem_size, &tiles),
                              IPT_ERROR_UNSUPPORTED, NULL, NULL);
            assert_true(!tiles.m && !tiles.n);
            ++failures;
        }
    }
    assert_true(failures > 0 && failures < 2000);
    /* The products 60 * 96, 64 * 90 and 72 * 80 are equal: the squarest pair wins. */
    check_tiles(IPT_HEURISTIC_SEED_000_RANGE, &(ipt_heuristic_device){5761 * 4, 1024, 32, 0, 0}, 5760, 5760, 4, 72, 80,
                0, 0);
    test_expect_error(choose(IPT_HEURISTIC_SEED_000_RANGE, &k20, 6203, 6600, 4, &tiles), IPT_ERROR_UNSUPPORTED, "rows",
                      "6203");
    test_expect_error(choose(IPT_HEURISTIC_SEED_000_RANGE, &k20, 6600, 6607, 4, &tiles), IPT_ERROR_UNSUPPORTED, "cols",
                      "6607");
    test_expect_error(choose(IPT_HEURISTIC_SEED_000_RANGE, &k20, 5000, 5000, 4096, &tiles), IPT_ERROR_UNSUPPORTED,
                      "50 x 50", "12");
}

static void heuristics_algorithm_1(void **state)
{
    size_t n, d, largest;
    chosen tiles;
    (void)state;
    check_tiles(IPT_HEURISTIC_ALGORITHM_1, &k20, 7200, 1800, 4, 72, 72, 0, 0);
    check_tiles(IPT_HEURISTIC_ALGORITHM_1, &k20, 5100, 2500, 4, 68, 50, 0, 0);
    check_tiles(IPT_HEURISTIC_ALGORITHM_1, &k20, 6203, 6607, 8, 1, 1, 0, 0);
    check_tiles(IPT_HEURISTIC_ALGORITHM_1, &k20, 71, 73, 8, 71, 1, 0, 0);
    check_tiles(IPT_HEURISTIC_ALGORITHM_1, &k20, 1, 144, 1u << 20, 1, 72, 0, 0);
    for (n = 1; n <= 3000; ++n) {
        largest = 1;
        for (d = 1; d <= 72; ++d)
            if (n % d == 0)
                largest = d;
        check_tiles(IPT_HEURISTIC_ALGORITHM_1, &k20, n, 3001 - n, 4, largest,
                    (choose(IPT_HEURISTIC_ALGORITHM_1, &k20, 3001 - n, n, 4, &tiles), tiles.m), 0, 0);
    }
}

/* A transcription of algorithm 2, with the same bounds. */
static chosen plain_algorithm_2(size_t rows, size_t cols, size_t local, size_t groups_at_most)
{
    static size_t eligible_m[2560], eligible_n[2560];
    size_t k = divisors_in(rows, 6, smaller(rows, 2559), eligible_m), i, j, most_groups = 0;
    size_t l = divisors_in(cols, 6, smaller(cols, 2559), eligible_n);
    chosen tiles = {1, 1, 0, 0};
    if (!k)
        eligible_m[k++] = 1;
    if (!l)
        eligible_n[l++] = 1;
    for (i = 0; i < k; ++i)
        for (j = 0; j < l; ++j)
            if (eligible_m[i] * eligible_n[j] < local) {
                size_t groups = local / (eligible_m[i] * eligible_n[j]);
                groups = groups < groups_at_most ? groups : groups_at_most;
                if (groups * eligible_m[i] * eligible_n[j] > tiles.m * tiles.n * most_groups) {
                    tiles.m = eligible_m[i];
                    tiles.n = eligible_n[j];
                    most_groups = groups;
                }
            }
    if (!most_groups) {
        tiles.m = eligible_m[0];
        tiles.n = eligible_n[0];
    }
    return tiles;
}

static void heuristics_algorithm_2(void **state)
{
    size_t i, small = 0, good = 0;
    (void)state;
    check_tiles(IPT_HEURISTIC_ALGORITHM_2, &k20, 6203, 6607, 4, 1, 1, 0, 0); /* Gomez-Luna et al. 2016, section 6.2 */
    check_tiles(IPT_HEURISTIC_ALGORITHM_2, &k20, 1, 1, 1, 1, 1, 0, 0);
    check_tiles(IPT_HEURISTIC_ALGORITHM_2, &k20, 7, 7, 1u << 20, 7, 7, 0, 0);
    check_tiles(IPT_HEURISTIC_ALGORITHM_2, &k20, 2557, 2539, 4, 2557, 2539, 0, 0); /* primes below the bound */
    for (i = 0; i < 1000; ++i) {
        const size_t rows = test_random_between(1, 20000), cols = test_random_between(1, 20000);
        const size_t elem_size = test_random_between(1, 40);
        const chosen at_16 = plain_algorithm_2(rows, cols, 49152 / elem_size, 16);
        const chosen at_8 = plain_algorithm_2(rows, cols, 49152 / elem_size, 8);
        check_tiles(IPT_HEURISTIC_ALGORITHM_2, &k20, rows, cols, elem_size, at_16.m, at_16.n, 0, 0);
        check_tiles(IPT_HEURISTIC_ALGORITHM_2, &fermi, rows, cols, elem_size, at_8.m, at_8.n, 0, 0);
    }
    /* The counts of Gomez-Luna et al. 2016: 2,235 of 5,000 shapes have m or n up to 6; 2,926 have a tile that fits,
     * with one side above 4 and the other, which transposition 100! moves, above 6. */
    for (i = 0; i < 5000; ++i) {
        chosen tiles;
        assert_int_equal(choose(IPT_HEURISTIC_ALGORITHM_2, &k20, test_random_between(1000, 19999),
                                test_random_between(1000, 19999), 4, &tiles),
                         IPT_SUCCESS);
        small += tiles.m <= 6 || tiles.n <= 6;
        good += smaller(tiles.m, tiles.n) > 4 && larger(tiles.m, tiles.n) > 6 && tiles.m * tiles.n < 12288;
    }
    assert_in_range(small, 2235 - 150, 2235 + 150);
    assert_in_range(good, 2926 - 150, 2926 + 150);
}

/* The smallest divisor of side in 24..root that side + pad has, for the smallest pad. */
static size_t plain_algorithm_5(size_t side, size_t root, size_t *pad)
{
    size_t d;
    for (*pad = 0;; ++*pad)
        for (d = 24; d <= root; ++d)
            if ((side + *pad) % d == 0)
                return d;
}

static void heuristics_algorithm_5(void **state)
{
    static const size_t sizes[] = {4, 8}, roots[] = {110, 78}; /* 12,288 and 6,144 words */
    const ipt_heuristic_device least = {577 * 4, 1024, 32, 0, 0}, less = {576 * 4, 1024, 32, 0, 0};
    size_t i, n, pad, other_pad, most_pad = 0;
    chosen tiles;
    (void)state;
    check_tiles(IPT_HEURISTIC_ALGORITHM_5, &k20, 6203, 6607, 4, 33, 28, 1, 1);
    for (i = 0; i < 2; ++i)
        for (n = 1000; n <= 20000; ++n) {
            const size_t cols = 21000 - n, m = plain_algorithm_5(n, roots[i], &pad);
            const size_t tile_n = plain_algorithm_5(cols, roots[i], &other_pad);
            check_tiles(IPT_HEURISTIC_ALGORITHM_5, &k20, n, cols, sizes[i], m, tile_n, pad, other_pad);
            most_pad = larger(most_pad, pad);
        }
    assert_true(most_pad ==
                8); /* Gomez-Luna et al. 2016, section 7.2: "the maximum number of extra rows and/or columns" */
    /* Skinny matrices: only the long side is padded, and two stages suffice. */
    for (i = 0; i < 2000; ++i) {
        const size_t long_side = test_random_between(10000, 10000000), short_side = test_random_between(2, 32);
        const size_t tile = plain_algorithm_5(long_side, 110, &pad);
        check_tiles(IPT_HEURISTIC_ALGORITHM_5, &k20, long_side, short_side, 4, tile, short_side, pad, 0);
        assert_int_equal(ipt_heuristic_sequence(&k20, long_side + pad, short_side, 4, tile, short_side),
                         IPT_SEQUENCE_2_1);
        check_tiles(IPT_HEURISTIC_ALGORITHM_5, &k20, short_side, long_side, 4, short_side, tile, 0, pad);
        assert_int_equal(ipt_heuristic_sequence(&k20, short_side, long_side + pad, 4, short_side, tile),
                         IPT_SEQUENCE_2_2);
    }
    check_tiles(IPT_HEURISTIC_ALGORITHM_5, &k20, 109, 110, 4, 109, 110, 0, 0); /* the whole matrix is a tile */
    check_tiles(IPT_HEURISTIC_ALGORITHM_5, &k20, 110, 111, 4, 110, 37, 0, 0);
    check_tiles(IPT_HEURISTIC_ALGORITHM_5, &least, 1001, 25, 4, 24, 24, 7, 23);
    check_tiles(IPT_HEURISTIC_ALGORITHM_5, &least, (size_t)-1 - 15, 24, 4, 24, 24, 0, 0);
    test_expect_error(choose(IPT_HEURISTIC_ALGORITHM_5, &less, 1001, 25, 4, &tiles), IPT_ERROR_UNSUPPORTED, NULL,
                      "576");
    test_expect_error(choose(IPT_HEURISTIC_ALGORITHM_5, &least, (size_t)-1, 25, 4, &tiles), IPT_ERROR_UNSUPPORTED,
                      "rows", test_number((size_t)-1));
    assert_true(!tiles.m && !tiles.n && !tiles.pad_rows && !tiles.pad_cols);
}

static void heuristics_sides_of_any_size(void **state)
{
    static const size_t sides[] = {1, 2, 23, 2147483647, 1u << 31, 4294967291u, 2095133040, (size_t)4294967311u};
    size_t i, j;
    int h;
    (void)state;
    for (h = 1; h < IPT__HEURISTIC_COUNT; ++h)
        for (i = 0; i < TEST_COUNT(sides); ++i)
            for (j = 0; j < TEST_COUNT(sides); ++j) {
                const ipt_heuristic_device *const devices[] = {&k20, &hawaii, &cpu};
                chosen tiles;
                size_t d;
                for (d = 0; d < 3; ++d) {
                    const ipt_result result = choose((ipt_heuristic)h, devices[d], sides[i], sides[j], 4, &tiles);
                    assert_true(h == IPT_HEURISTIC_SEED_000_RANGE || !result);
                    if (result)
                        continue;
                    assert_true((sides[i] + tiles.pad_rows) % tiles.m == 0 &&
                                (sides[j] + tiles.pad_cols) % tiles.n == 0);
                    assert_true(h == IPT_HEURISTIC_ALGORITHM_5 || (!tiles.pad_rows && !tiles.pad_cols));
                    assert_true(tiles.pad_rows < 24 && tiles.pad_cols < 24);
                }
            }
}

static void heuristics_bad_input(void **state)
{
    const ipt_heuristic_device none = {0, 1024, 32, 0, 0};
    int h;
    (void)state;
    for (h = 1; h < IPT__HEURISTIC_COUNT; ++h) {
        const ipt_heuristic heuristic = (ipt_heuristic)h;
        chosen tiles = {9, 9, 9, 9};
        test_expect_error(choose(heuristic, NULL, 5000, 5000, 4, &tiles), IPT_ERROR_INVALID_ARGUMENT, "device", NULL);
        assert_true(!tiles.m && !tiles.n && !tiles.pad_rows && !tiles.pad_cols);
        test_expect_error(choose(heuristic, &none, 5000, 5000, 4, &tiles), IPT_ERROR_INVALID_ARGUMENT, "local_bytes",
                          "0");
        test_expect_error(choose(heuristic, &k20, 0, 5000, 4, &tiles), IPT_ERROR_INVALID_ARGUMENT, "rows", "0");
        test_expect_error(choose(heuristic, &k20, 5000, 0, 4, &tiles), IPT_ERROR_INVALID_ARGUMENT, "cols", "0");
        test_expect_error(choose(heuristic, &k20, 5000, 5000, 0, &tiles), IPT_ERROR_INVALID_ARGUMENT, "elem_size", "0");
        test_expect_error(
            ipt_heuristic_tiles(heuristic, &k20, 5000, 5000, 4, NULL, &tiles.n, &tiles.pad_rows, &tiles.pad_cols),
            IPT_ERROR_INVALID_ARGUMENT, "tile_m", NULL);
        test_expect_error(
            ipt_heuristic_tiles(heuristic, &k20, 5000, 5000, 4, &tiles.m, NULL, &tiles.pad_rows, &tiles.pad_cols),
            IPT_ERROR_INVALID_ARGUMENT, "tile_n", NULL);
        test_expect_error(
            ipt_heuristic_tiles(heuristic, &k20, 5000, 5000, 4, &tiles.m, &tiles.n, NULL, &tiles.pad_cols),
            IPT_ERROR_INVALID_ARGUMENT, "pad_rows", NULL);
        tiles.m = 9;
        test_expect_error(
            ipt_heuristic_tiles(heuristic, &k20, 5000, 5000, 4, &tiles.m, &tiles.n, &tiles.pad_rows, NULL),
            IPT_ERROR_INVALID_ARGUMENT, "pad_cols", NULL);
        assert_true(!tiles.m);
    }
    {
        chosen tiles;
        test_expect_error(choose(IPT__HEURISTIC_COUNT, &k20, 5000, 5000, 4, &tiles), IPT_ERROR_INVALID_ARGUMENT,
                          "heuristic", "4");
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Sequences, throughput, work-groups, divisors                                                                       */
/* ------------------------------------------------------------------------------------------------------------------ */

static void heuristics_sequence(void **state)
{
    const size_t huge = (size_t)-1;
    (void)state;
    /* 12,288 words: 2.1 if m * N is below, else 2.2 if M * n is below, else m < n decides. */
    assert_int_equal(ipt_heuristic_sequence(&k20, 100000, 100, 4, 122, 50), IPT_SEQUENCE_2_1);
    assert_int_equal(ipt_heuristic_sequence(&k20, 100000, 96, 4, 128, 50), IPT_SEQUENCE_3_2); /* 12,288 is too much */
    assert_int_equal(ipt_heuristic_sequence(&k20, 100, 100000, 4, 50, 122), IPT_SEQUENCE_2_2);
    assert_int_equal(ipt_heuristic_sequence(&k20, 96, 100000, 4, 50, 128), IPT_SEQUENCE_3_1);
    assert_int_equal(ipt_heuristic_sequence(&k20, 100, 100, 4, 50, 50), IPT_SEQUENCE_2_1);
    assert_int_equal(ipt_heuristic_sequence(&k20, 7200, 1800, 4, 72, 60), IPT_SEQUENCE_3_2);
    assert_int_equal(ipt_heuristic_sequence(&k20, 7200, 1800, 4, 60, 72), IPT_SEQUENCE_3_1);
    assert_int_equal(ipt_heuristic_sequence(&k20, 7200, 1800, 4, 60, 60), IPT_SEQUENCE_3_2);
    assert_int_equal(ipt_heuristic_sequence(&k20, 7200, 1800, 8, 4, 72), IPT_SEQUENCE_3_1); /* 7,200 of 6,144 words */
    assert_int_equal(ipt_heuristic_sequence(&k20, 7200, 1800, 4, 4, 72), IPT_SEQUENCE_2_1);
    assert_int_equal(ipt_heuristic_sequence(&k20, huge, huge, 1, huge, huge), IPT_SEQUENCE_3_2);
    assert_int_equal(ipt_heuristic_sequence(&k20, 2, 2, huge, 1, 2), IPT_SEQUENCE_3_1);
    assert_int_equal(ipt_heuristic_sequence(NULL, 2, 2, 4, 1, 1), IPT_SEQUENCE_AUTO);
    assert_int_equal(ipt_heuristic_sequence(&k20, 0, 2, 4, 1, 1), IPT_SEQUENCE_AUTO);
    assert_int_equal(ipt_heuristic_sequence(&k20, 2, 2, 4, 1, 0), IPT_SEQUENCE_AUTO);
}

static void heuristics_throughput(void **state)
{
    static const double peak[] = {208, 208, 208}, stages[] = {60, 120, 40}, stuck[] = {60, 0, 40};
    (void)state;
    assert_int_equal((int)(100 * ipt_heuristic_throughput(peak, 3)),
                     6933); /* Gomez-Luna et al. 2016, section 6.1: 69.33 */
    assert_int_equal((int)(1000 * ipt_heuristic_throughput(stages, 3) + 0.5), 20000);
    assert_int_equal((int)(1000 * ipt_heuristic_throughput(stages, 1) + 0.5), 60000);
    assert_true(ipt_heuristic_throughput(stuck, 3) == 0);
    assert_true(ipt_heuristic_throughput(stages, 0) == 0 && ipt_heuristic_throughput(NULL, 3) == 0);
}

static void heuristics_group_size(void **state)
{
    static const struct {
        const ipt_heuristic_device *device;
        size_t words, items;
    } cases[] = {{&k20, 1, 8},         {&k20, 23, 8},      {&k20, 24, 16},     {&k20, 47, 16},      {&k20, 48, 32},
                 {&k20, 95, 32},       {&k20, 96, 128},    {&k20, 383, 128},   {&k20, 384, 256},    {&k20, 767, 256},
                 {&k20, 768, 512},     {&k20, 1536, 1024}, {&k20, 2560, 1024}, {&k20, 9999, 1024},  {&hawaii, 23, 8},
                 {&hawaii, 95, 32},    {&hawaii, 96, 64},  {&hawaii, 191, 64}, {&hawaii, 192, 128}, {&hawaii, 384, 256},
                 {&hawaii, 9999, 256}, {&cpu, 2, 1},       {&cpu, 3, 128},     {&cpu, 99999, 4096}};
    const ipt_heuristic_device tiny = {49152, 16, 32, 0, 0}, huge = {49152, (size_t)-1, 32, 0, 0};
    size_t i;
    (void)state;
    for (i = 0; i < TEST_COUNT(cases); ++i) {
        assert_int_equal(ipt_heuristic_group_size(cases[i].device, 4 * cases[i].words), cases[i].items);
        assert_int_equal(ipt_heuristic_group_size(cases[i].device, 4 * cases[i].words - 3), cases[i].items);
    }
    assert_int_equal(ipt_heuristic_group_size(&tiny, 4 * 9999), 16); /* at most the device's limit */
    assert_true(ipt_heuristic_group_size(&huge, (size_t)-1) >= (size_t)-1 / 16);
    assert_int_equal(ipt_heuristic_group_size(&k20, 0), 0);
    assert_int_equal(ipt_heuristic_group_size(NULL, 4), 0);
}

static void heuristics_smallest_group(void **state)
{
    const ipt_heuristic_device invalid = {49152, 1024, 0, 0, 0};
    size_t group;
    (void)state;
    /* Ha et al. 2013, table I: 192 is the smallest work-group that keeps a Fermi GPU busy. */
    assert_int_equal(ipt_heuristic_smallest_group(&fermi, 0, 0, 1), 192);
    assert_int_equal(ipt_heuristic_smallest_group(&fermi, 0, 0, 0.5), 96);
    assert_int_equal(ipt_heuristic_smallest_group(&fermi, 0, 0, 0), 32);
    assert_true(ipt_heuristic_occupancy(&fermi, 768, 0) == 1 && ipt_heuristic_occupancy(&fermi, 512, 0) == 1);
    assert_true(ipt_heuristic_occupancy(&fermi, 1024, 0) < 0.7 && ipt_heuristic_occupancy(&fermi, 1025, 0) == 0);
    assert_int_equal(ipt_heuristic_smallest_group(&k20, 0, 0, 1), 128);
    /* Two work-groups of 24 KiB: only large ones fill the compute unit. With one byte more, one work-group fits. */
    assert_int_equal(ipt_heuristic_smallest_group(&k20, 24576, 0, 1), 1024);
    assert_int_equal(ipt_heuristic_smallest_group(&k20, 24577, 0, 1), 1024);
    assert_true(ipt_heuristic_occupancy(&k20, 1024, 24577) == 0.5);
    /* 32 bytes for each work-item: 1,536 of 2,048 work-items fit. */
    assert_int_equal(ipt_heuristic_smallest_group(&k20, 0, 32, 1), 96);
    assert_true(ipt_heuristic_occupancy(&k20, 96, 96 * 32) == 0.75);
    assert_int_equal(ipt_heuristic_smallest_group(&k20, 49153, 0, 0), 0);
    assert_int_equal(ipt_heuristic_smallest_group(&k20, 0, (size_t)-1, 0), 0);
    assert_int_equal(ipt_heuristic_smallest_group(&k20, 0, 0, 1.5), 0);
    assert_int_equal(ipt_heuristic_smallest_group(&invalid, 0, 0, 1), 0);
    assert_int_equal(ipt_heuristic_smallest_group(NULL, 0, 0, 1), 0);
    assert_true(ipt_heuristic_occupancy(NULL, 32, 0) == 0 && ipt_heuristic_occupancy(&k20, 0, 0) == 0);
    for (group = 32; group <= 1024; group += 32) {
        const size_t found = ipt_heuristic_smallest_group(&k20, group * 8, 4, 0.6);
        assert_true(found % 32 == 0 && ipt_heuristic_occupancy(&k20, found, group * 8 + found * 4) >= 0.6);
        assert_true(found == 32 || ipt_heuristic_occupancy(&k20, found - 32, group * 8 + (found - 32) * 4) < 0.6);
    }
}

static void heuristics_group_shape(void **state)
{
    static const size_t cases[][4] = {{64, 4, 8, 8},  {128, 4, 16, 8},   {256, 4, 16, 16}, {192, 4, 16, 12},
                                      {32, 8, 8, 4},  {16, 8, 4, 4},     {32, 4, 8, 4},    {64, 1, 32, 2},
                                      {32, 64, 8, 4}, {96, 3, 32, 3},    {96, 12, 8, 12},  {7, 4, 7, 1},
                                      {1, 4, 1, 1},   {1024, 2, 32, 32}, {0, 4, 0, 0},     {64, 0, 0, 0}};
    size_t i, x, y;
    (void)state;
    for (i = 0; i < TEST_COUNT(cases); ++i) {
        ipt_heuristic_group_shape(cases[i][0], cases[i][1], &x, &y);
        if (x != cases[i][2] || y != cases[i][3]) {
            print_error("%zu work-items, %zu bytes: %zu x %zu\n", cases[i][0], cases[i][1], x, y);
            fail();
        }
    }
}

static void heuristics_by_block(void **state)
{
    (void)state;
    assert_true(!ipt_heuristic_by_block(1000, 10) && ipt_heuristic_by_block(10, 1000));
    assert_true(!ipt_heuristic_by_block(10, 10)); /* usually the paper's method per element is better */
}

static void heuristics_divisors(void **state)
{
    static const struct {
        uint64_t side;
        size_t count;
    } counts[] = {{1, 1},           {2147483647, 2},      {1u << 31, 32},   {2095133040, 1600}, {3491888400u, 1920},
                  {4294967291u, 2}, {65521u * 65521u, 3}, {4294967296u, 33}};
    static size_t divisors[2000], again[2000];
    size_t side, i, d;
    (void)state;
    for (side = 1; side <= 2000; ++side) {
        size_t capacity;
        const size_t count = ipt_heuristic_divisors(side, divisors, TEST_COUNT(divisors));
        for (d = 1, i = 0; d <= side; ++d)
            if (side % d == 0)
                assert_true(i < count && divisors[i++] == d);
        assert_true(i == count);
        for (capacity = 0; capacity <= count; ++capacity) {
            memset(again, 0, sizeof again);
            assert_true(ipt_heuristic_divisors(side, capacity ? again : NULL, capacity) == count);
            for (i = 0; i < capacity && again[i]; ++i)
                assert_true(again[i] == divisors[i]);
            assert_true(i == capacity && again[capacity] == 0);
        }
    }
    for (i = 0; i < TEST_COUNT(counts); ++i) {
        if (counts[i].side > SIZE_MAX)
            continue;
        const size_t count = ipt_heuristic_divisors((size_t)counts[i].side, divisors, TEST_COUNT(divisors));
        assert_int_equal(count, counts[i].count);
        for (d = 0; d < count; ++d)
            assert_true(counts[i].side % divisors[d] == 0 && (d == 0 || divisors[d - 1] < divisors[d]));
    }
    assert_int_equal(ipt_heuristic_divisors(0, divisors, TEST_COUNT(divisors)), 0);
}

const struct CMUnitTest test_heuristics[] = {
    TEST_CASE(heuristics_names),       TEST_CASE(heuristics_range),          TEST_CASE(heuristics_algorithm_1),
    TEST_CASE(heuristics_algorithm_2), TEST_CASE(heuristics_algorithm_5),    TEST_CASE(heuristics_sides_of_any_size),
    TEST_CASE(heuristics_bad_input),   TEST_CASE(heuristics_sequence),       TEST_CASE(heuristics_throughput),
    TEST_CASE(heuristics_group_size),  TEST_CASE(heuristics_smallest_group), TEST_CASE(heuristics_group_shape),
    TEST_CASE(heuristics_by_block),    TEST_CASE(heuristics_divisors),
};
const size_t test_heuristics_count = TEST_COUNT(test_heuristics);
