/* The arithmetic of ipt against plain / and %: division by constants at its boundaries, slot addresses beyond 2^32,
 * cycles, divisors and overflow. Also the planner's invariants for layouts. Needs no device. */
#define _POSIX_C_SOURCE 200809L
#define IPT_STATIC /* the private functions, in a copy of this file's own */
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "test.h"

/* ------------------------------------------------------------------------------------------------------------------ */
/* The kernels' own arithmetic, compiled as C with slot numbers of 32 and of 64 bits                                  */
/* ------------------------------------------------------------------------------------------------------------------ */

static cl_ulong high_product(cl_ulong a, cl_ulong b)
{
    const cl_ulong a_low = a & 0xffffffffu, a_high = a >> 32, b_low = b & 0xffffffffu, b_high = b >> 32;
    const cl_ulong middle = a_high * b_low + ((a_low * b_low) >> 32), cross = a_low * b_high + (middle & 0xffffffffu);
    return a_high * b_high + (middle >> 32) + (cross >> 32);
}

#define uint cl_uint
#define ulong cl_ulong
#define mul_hi(a, b)                                                                                                   \
    (sizeof(a) == 4 ? (uint)((ulong)(uint)(a) * (uint)(b) >> 32) : high_product((ulong)(a), (ulong)(b)))
#define IPT_FUNCTION static inline
#define IPT_INDEX_BITS 32
#define ipt_index index_of_32
#define ipt_divide32 divide32
#define ipt_divide64 divide64_of_32
#define ipt_divide_index divide_index_of_32
#define ipt_slot_address slot_address_32
#define ipt_slot_target slot_target_32
#include "gen/kernels/parts/divide.cl"
#include "gen/kernels/parts/slots.cl"
#undef IPT_INDEX_BITS
#undef IPT_DIVISOR
#undef IPT_ELEMENT_OF
#undef ipt_index
#undef ipt_divide32
#undef ipt_divide64
#undef ipt_divide_index
#undef ipt_slot_address
#undef ipt_slot_target

#define IPT_INDEX_BITS 64
#define ipt_index index_of_64
#define ipt_divide32 divide32_of_64
#define ipt_divide64 divide64
#define ipt_divide_index divide_index_of_64
#define ipt_slot_address slot_address_64
#define ipt_slot_target slot_target_64
#include "gen/kernels/parts/divide.cl"
#include "gen/kernels/parts/slots.cl"

static const cl_ulong divisors[] = {1,
                                    2,
                                    3,
                                    5,
                                    7,
                                    10,
                                    31,
                                    32,
                                    33,
                                    641,
                                    1000,
                                    4095,
                                    4096,
                                    4097,
                                    65535,
                                    65537,
                                    1000003,
                                    (1u << 30) - 1,
                                    1u << 30,
                                    (1u << 30) + 1,
                                    2147483629u,
                                    (1u << 31) - 1,
                                    1u << 31,
                                    (1ull << 32) - 1,
                                    1ull << 32,
                                    (1ull << 32) + 1,
                                    1000000000039ull,
                                    (1ull << 62) - 1,
                                    1ull << 62,
                                    (1ull << 62) + 1,
                                    (1ull << 63) - 25,
                                    (1ull << 63) - 1,
                                    1ull << 63};

static void check_division32(cl_uint d, cl_uint n)
{
    cl_uint magic, shift;
    ipt__divider32(d, &magic, &shift);
    if (divide32(n, d, magic, shift) != n / d) {
        print_error("%u / %u\n", (unsigned)n, (unsigned)d);
        fail();
    }
}

static void check_division64(cl_ulong d, cl_ulong n)
{
    cl_ulong magic;
    cl_uint shift;
    ipt__divider(d, 64, &magic, &shift);
    if (divide64(n, d, magic, shift) != n / d) {
        print_error("%llu / %llu\n", (unsigned long long)n, (unsigned long long)d);
        fail();
    }
}

/* Numbers next to multiples of d below `limit`. */
static void check_division_at_boundaries(cl_ulong d, cl_ulong limit, int bits)
{
    const cl_ulong last = (limit - 1) / d, quotients[] = {0, 1, 2, 3, last / 3, last / 2, last - (last > 0), last};
    size_t i;
    int offset;
    for (i = 0; i < TEST_COUNT(quotients); ++i)
        for (offset = -2; offset <= 2; ++offset) {
            const cl_ulong n = quotients[i] * d + (cl_ulong)(cl_long)offset;
            if (n < limit && bits == 32)
                check_division32((cl_uint)d, (cl_uint)n);
            else if (n < limit)
                check_division64(d, n);
        }
    if (bits == 32)
        check_division32((cl_uint)d, (cl_uint)(limit - 1));
    else
        check_division64(d, limit - 1);
}

static void maths_division_by_constants(void **state)
{
    cl_ulong d;
    size_t i;
    (void)state;
    for (i = 0; i < TEST_COUNT(divisors); ++i) {
        if (divisors[i] < 1ull << 31)
            check_division_at_boundaries(divisors[i], 1ull << 31, 32);
        check_division_at_boundaries(divisors[i], 1ull << 63, 64);
    }
    for (d = 1; d <= 5000; ++d) {
        check_division_at_boundaries(d, 1ull << 31, 32);
        check_division_at_boundaries(d, 1ull << 63, 64);
    }
    for (i = 0; i < 20000; ++i) {
        const cl_ulong wide = test_random() >> (test_random() % 63);
        d = wide % ((1ull << 63) - 1) + 1;
        check_division_at_boundaries(d, 1ull << 63, 64);
        check_division_at_boundaries(wide % ((1ull << 31) - 1) + 1, 1ull << 31, 32);
    }
}

static void check_slot(cl_ulong t, cl_ulong rows, cl_ulong cols, cl_ulong row_slots, cl_ulong row_stride,
                       cl_ulong units)
{
    const cl_ulong address = t / row_slots * row_stride + t % row_slots * units, target = t % cols * rows + t / cols;
    cl_ulong cols_magic, slots_magic;
    cl_uint cols_shift, slots_shift;
    ipt__divider(cols, 64, &cols_magic, &cols_shift);
    ipt__divider(row_slots, 64, &slots_magic, &slots_shift);
    assert_true(slot_address_64(t, row_slots, slots_magic, slots_shift, row_stride, units) == address);
    assert_true(slot_target_64(t, rows, cols, cols_magic, cols_shift) == target);
    if (rows * cols < 1ull << 31) {
        ipt__divider(cols, 32, &cols_magic, &cols_shift);
        ipt__divider(row_slots, 32, &slots_magic, &slots_shift);
        assert_true(slot_address_32((cl_uint)t, row_slots, slots_magic, slots_shift, row_stride, units) == address);
        assert_true(slot_target_32((cl_uint)t, rows, cols, cols_magic, cols_shift) == target);
    }
}

/* Slots of matrices that no test machine holds: up to 2^62 units. */
static void maths_slot_addresses_beyond_32_bits(void **state)
{
    static const struct {
        cl_ulong rows, cols, units, gap;
    } grids[] = {{200, 20011, 250, 11},       {65536, 131072, 1, 0},         {3, 2147483647, 2, 1},
                 {46340, 46341, 1024, 1023},  {1ull << 31, 2, 64, 63},       {1u << 20, 1u << 20, 1u << 20, 5},
                 {5, 858993459, 100000, 999}, {2147483646 / 2, 2, 255, 254}, {12345677, 98765437, 1000, 1}};
    size_t i, k;
    (void)state;
    for (i = 0; i < TEST_COUNT(grids); ++i) {
        const cl_ulong rows = grids[i].rows, cols = grids[i].cols, slots = rows * cols;
        for (k = 0; k < 200; ++k) {
            const cl_ulong t = k < 3 ? k : k < 6 ? slots - 1 - (k - 3) : test_random() % slots;
            check_slot(t, rows, cols, rows, rows * grids[i].units + grids[i].gap, grids[i].units);
            check_slot(t, rows, cols, cols, cols * grids[i].units + grids[i].gap, grids[i].units);
            check_slot(t, rows, cols, 1, grids[i].units, grids[i].units);
        }
    }
}

/* The map of slots is a permutation, and its cycles close. Its fixed points are the k with k * rows = k mod (rows *
 * cols - 1): their number is gcd(rows - 1, cols - 1) + 1. */
static void maths_cycles(void **state)
{
    cl_ulong rows, cols, t;
    (void)state;
    for (rows = 2; rows <= 20; ++rows)
        for (cols = 2; cols <= 20; ++cols) {
            unsigned char seen[400] = {0};
            cl_ulong magic, a = rows - 1, b = cols - 1, fixed = 0, visited = 0;
            cl_uint shift;
            ipt__divider(cols, 32, &magic, &shift);
            while (b) {
                const cl_ulong rest = a % b;
                a = b;
                b = rest;
            }
            for (t = 0; t < rows * cols; ++t) {
                cl_uint at = (cl_uint)t, steps = 0;
                fixed += slot_target_32(at, rows, cols, magic, shift) == at;
                while (!seen[at]) {
                    seen[at] = 1;
                    ++steps;
                    at = slot_target_32(at, rows, cols, magic, shift);
                    assert_true(at < rows * cols);
                }
                assert_true(steps == 0 || at == t);
                visited += steps;
            }
            assert_true(visited == rows * cols);
            assert_true(fixed == a + 1);
        }
}

static void maths_sizes(void **state)
{
    size_t n, product;
    (void)state;
    product = (size_t)-1 / 3;
    assert_true(ipt__multiply(&product, 3));
    product = (size_t)-1 / 3 + 1;
    assert_false(ipt__multiply(&product, 3));
    assert_true(product == (size_t)-1 / 3 + 1);
    product = (size_t)-1;
    assert_true(ipt__multiply(&product, 1) && ipt__multiply(&product, 0) && product == 0);
    product = 0;
    assert_true(ipt__multiply(&product, (size_t)-1));
    for (n = 1; n <= 300; ++n) {
        const size_t unit = ipt__unit_bytes(n);
        assert_true(n % unit == 0 && unit <= 16 && (unit & (unit - 1)) == 0);
        assert_true(unit == 16 || n % (2 * unit) != 0);
    }
    assert_true(ipt__ceil_divide(0, 7) == 0 && ipt__ceil_divide(7, 7) == 1 && ipt__ceil_divide(8, 7) == 2);
    assert_true(ipt__ceil_divide((size_t)-1, 2) == (size_t)-1 / 2 + 1);
}

static void maths_divisors(void **state)
{
    size_t n, d, wanted;
    (void)state;
    for (n = 1; n <= 1200; ++n)
        for (wanted = 1; wanted <= 256; wanted *= 4) {
            double best = 1e9;
            const size_t found = ipt__divisor_near(n, wanted);
            for (d = 2; d <= n / 2; ++d)
                if (n % d == 0) {
                    const double ratio = d > wanted ? (double)d / (double)wanted : (double)wanted / (double)d;
                    best = ratio < best ? ratio : best;
                }
            if (best == 1e9) {
                assert_true(found == 0);
            } else {
                assert_true(found >= 2 && found <= n / 2 && n % found == 0);
                const double ratio = found > wanted ? (double)found / (double)wanted : (double)wanted / (double)found;
                assert_true(ratio < best * (1 + 1e-12)); /* some machines compute with higher precision */
            }
        }
    /* The largest numbers with a factor up to 2^20, without a long search. */
    if (sizeof n == 8) {
        n = (size_t)-1 / 2 + 1;                                                                    /* 2^63 */
        assert_true(ipt__divisor_near(n, 64) == 64 && ipt__divisor_near(n / 2 * 2 - 25, 64) == 0); /* a prime */
        n = ((size_t)1 << 20) - 3;                                                                 /* a prime */
        assert_true(ipt__divisor_near(n * n, 64) == n && ipt__divisor_near((n + 10) * (n + 10), 64) == 0);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Layouts, for devices that exist only as limits                                                                     */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A CPU, a GPU, and a GPU with cooperative panels. */
enum { DEVICE_CPU, DEVICE_GPU, DEVICE_COOPERATIVE, DEVICE_COUNT };

static void make_problem(ipt__problem *problem, int device, size_t local_memory, size_t rows, size_t cols,
                         size_t elem_size)
{
    ipt__limits limits = {0};
    ipt_plan_desc desc = {0};
    limits.cpu = device == DEVICE_CPU;
    limits.group_size = 256;
    limits.local_memory = local_memory;
    limits.compute_units = 100;
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = elem_size;
    assert_int_equal(ipt__problem_fill(&limits, &desc, IPT__VECTOR_BYTES, problem), IPT_SUCCESS);
    problem->panel.local_bytes = 110592;
    problem->panel.group_size = 512;
    problem->panel.resident = device == DEVICE_COOPERATIVE ? 264 : 0;
    problem->panel.tall = rows >= cols;
    problem->panel.narrow = (rows < cols ? rows : cols) * elem_size <= IPT__NARROW_BYTES;
}

/* Checks the assumptions of panel.cl: chunks cover their panels and fit local memory, all rows of a work-item begin at
 * one offset in a vector, the work-groups of a ticket group run at the same time, and all counts fit 32 bits. */
static void check_chunks(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    const ipt__chunks *const chunks = &stage->as.panel;
    const size_t size = problem->desc.elem_size, vectors = problem->panel.local_bytes / 16;
    const size_t length = chunks->tall ? stage->rows : stage->cols, side = chunks->tall ? stage->cols : stage->rows;
    const size_t panels = stage->instances, groups = chunks->across * chunks->down;
    const size_t runs = (chunks->tall ? chunks->y : chunks->x) * chunks->pack;
    assert_true(chunks->across * chunks->x >= side && (chunks->across - 1) * chunks->x < side);
    assert_true(chunks->down * chunks->y >= length && (chunks->down - 1) * chunks->y < length);
    assert_true(chunks->packs * chunks->pack >= panels && (chunks->packs - 1) * chunks->pack < panels);
    assert_true(chunks->ticket_groups == chunks->packs + (stage->tail_length != 0));
    assert_true(chunks->pack == 1 || (chunks->narrow && groups == 1));
    assert_true(chunks->neighbours == (stage->tail_length != 0) &&
                (chunks->waits || (groups == 1 && !chunks->neighbours)));
    assert_true(!chunks->waits || groups <= problem->panel.resident / (panels > 1 ? 2 : 1));
    /* Every row of a tall panel is in a counted block. A wide panel has at least the rows of its blocks. */
    assert_true(chunks->blocks >= 1 && chunks->blocks <= 4 && chunks->block_rows >= 1);
    if (chunks->tall)
        assert_true(chunks->blocks * chunks->block_rows >= length &&
                    (chunks->blocks - 1) * chunks->block_rows < length);
    else
        assert_true(chunks->blocks * chunks->block_rows <= length && chunks->blocks <= chunks->across);
    if (chunks->tall && chunks->blocks > 1)
        assert_true(chunks->down == 1 &&
                    chunks->block_rows % (problem->panel.group_size / chunks->tile.run_lanes) == 0);
    assert_true(groups * chunks->ticket_groups * problem->desc.batch < 1u << 31);
    assert_true(panels * length + stage->tail_length == (chunks->tall ? problem->desc.rows : problem->desc.cols));
    assert_true(layout->saved_elements == stage->tail_length * side);
    if (chunks->tall && chunks->narrow) {
        const size_t fetched = (chunks->pack * length * side * size + 30) / 16;
        assert_true(fetched + fetched / 8 <= vectors);
    } else {
        const size_t run = (chunks->tall ? chunks->x : length) * size, stride = (chunks->tall ? side : length) * size;
        assert_true(runs <= IPT__CHUNK_RUNS && chunks->x * chunks->pack <= IPT__CHUNK_RUNS);
        assert_true(chunks->tile.pitch * 16 >= run + 16 - problem->unit_bytes);
        assert_true((runs - 1) * chunks->tile.pitch + ((runs - 1) >> chunks->tile.skew) + chunks->tile.pitch <=
                    vectors);
        assert_true(!chunks->tall || problem->panel.group_size / chunks->tile.run_lanes * stride % 16 == 0);
    }
}

/* Checks a layout: the stages cover the matrix, and no stage takes more than the workspace. */
static void check_layout(const ipt__problem *problem, const ipt__layout *layout)
{
    const size_t elements = problem->desc.rows * problem->desc.cols;
    int i;
    for (i = 0; i < layout->stage_count; ++i) {
        const ipt__stage *const stage = &layout->stages[i];
        if (stage->kind == IPT__STAGE_SAVE || stage->kind == IPT__STAGE_RESTORE) {
            assert_true(stage->rows * stage->cols * stage->length == layout->saved_elements);
            continue;
        }
        assert_true(stage->instances * stage->rows * stage->cols * stage->length + layout->saved_elements == elements);
        assert_true(stage->matrices_at_once >= 1 && stage->matrices_at_once <= problem->desc.batch);
        assert_true(stage->instances_at_once >= 1 && stage->instances_at_once <= stage->instances);
        assert_true(layout->scratch_offset + stage->matrices_at_once * stage->instances_at_once *
                                                 ipt__stage_kinds[stage->kind].need(problem, layout, stage).instance <=
                    layout->workspace);
        if (stage->kind == IPT__STAGE_PANEL)
            check_chunks(problem, layout, stage);
        if (stage->row_slots) {
            /* The last slot ends inside the matrix. */
            const size_t length = ipt__slot_length(stage);
            const size_t slots = stage->instances * stage->rows * stage->cols * stage->length / length;
            assert_true((slots - 1) / stage->row_slots * stage->row_stride + (slots - 1) % stage->row_slots * length +
                            length <=
                        elements);
        }
    }
    assert_true(layout->minimum_workspace <= layout->workspace);
}

static void maths_choice_of_super_element(void **state)
{
    /* 8 GB of bytes, 12 GB of floats and 32 TB of 16-byte elements among them: the arithmetic must be right there. */
    static const uint64_t shapes[][3] = {
        {1000, 777, 4},        {1009, 1013, 4},        {14906, 5388, 4},    {5, 678646, 4},      {1741930, 22, 8},
        {100003, 85903, 1},    {54773, 54767, 4},      {2, 4294967311u, 1}, {4294967311u, 2, 1}, {6203, 6607, 8},
        {50021, 40009, 4},     {1447153, 1447169, 16}, {10239, 10243, 1},   {101, 103, 100},     {333, 335, 70000},
        {3000000019u, 4, 100}, {16384, 65536, 4},      {15, 5624282, 3},    {7, 11, 1},          {719, 727, 12}};
    size_t i, length;
    int device, cooperative = 0;
    (void)state;
    for (i = 0; i < TEST_COUNT(shapes); ++i)
        for (device = 0; device < DEVICE_COUNT; ++device) {
            ipt__problem problem;
            ipt__layout layout, other;
            size_t budget, long_side, least = (size_t)-1;
            if (shapes[i][0] > SIZE_MAX / shapes[i][2] / shapes[i][1])
                continue;
            make_problem(&problem, device, 32768, (size_t)shapes[i][0], (size_t)shapes[i][1], (size_t)shapes[i][2]);
            problem.desc.sequence = IPT_SEQUENCE_TWO_PASS;
            budget = ipt__problem_budget(&problem);
            assert_true(budget == (problem.matrix_bytes / 100 > 1u << 20 ? problem.matrix_bytes / 100 : 1u << 20));
            long_side = shapes[i][0] > shapes[i][1] ? shapes[i][0] : shapes[i][1];

            /* The default budget always allows a layout. The chosen layout costs no more than any other that fits. */
            assert_int_equal(ipt__layout_choose(&problem, &layout, budget), IPT_SUCCESS);
            check_layout(&problem, &layout);
            assert_true(layout.workspace <= budget);
            for (length = 1; length <= long_side && length * shapes[i][2] <= IPT__SUPER_BYTES; ++length) {
                ipt__layout_of_length(&problem, &other, length, budget);
                check_layout(&problem, &other);
                assert_true(other.workspace > budget || layout.cost <= other.cost);
                cooperative += other.cooperative;
                ipt__layout_of_length(&problem, &other, length, 0);
                assert_true(other.workspace == other.minimum_workspace);
                least = other.workspace < least ? other.workspace : least;
            }
            /* A limit of 1 gives the smallest workspace, and a budget of that size suffices. */
            assert_int_equal(ipt__layout_choose(&problem, &layout, 0), IPT_SUCCESS);
            check_layout(&problem, &layout);
            if (shapes[i][2] <= IPT__SUPER_BYTES)
                assert_true(layout.workspace == least);
            assert_int_equal(ipt__layout_choose(&problem, &other, layout.workspace), IPT_SUCCESS);
            assert_true(other.workspace <= layout.workspace);
        }
    assert_true(cooperative > 1000);
}

/* Makes a problem of one row the reversal of an array's three axes. gaps: of one with gaps after each element. */
static void make_array(ipt__problem *problem, size_t elem_size, int gaps)
{
    ipt__array array = {3, {0}, {2, 1, 0}, elem_size, 1, 0, {{0}, {0}}};
    int i;
    for (i = 0; i < array.count; ++i)
        array.elements *= array.lengths[i] = gaps ? 9 : test_random_between(2, 16);
    for (i = 0; gaps && i < 2 * array.count; ++i)
        array.strides[i % 2][i / 2] = (size_t)64 << 8 * (i % 2 ? i / 2 : 2 - i / 2);
    make_problem(problem, DEVICE_COOPERATIVE, 32768, 1, array.elements, elem_size);
    problem->limits.cooperative = 1;
    problem->array = array;
}

/* No applicable method proposes a better layout than the chosen one. Each method is the best for some problem. */
static void maths_methods_propose_the_best(void **state)
{
    int won[IPT__METHODS] = {0};
    int i, m;
    (void)state;
    for (i = 0; i < 6000; ++i) {
        const size_t limit = i % 3 ? 40 : 3000, elem_size = test_element_sizes[i % TEST_ELEMENT_SIZE_COUNT];
        static const ipt_sequence sequences[] = {IPT_SEQUENCE_AUTO, IPT_SEQUENCE_AUTO, IPT_SEQUENCE_EXCHANGE,
                                                 IPT_SEQUENCE_TWO_PASS, IPT_SEQUENCE_1};
        ipt__scope scope = ipt__any_length;
        ipt__problem problem;
        ipt__layout layout;
        size_t rows = test_random_between(1, limit), cols = i % 4 ? test_random_between(1, limit) : rows;
        int best = -1;
        make_problem(&problem, i % DEVICE_COUNT, i % 2 ? 32768 : 2048, rows, cols, elem_size);
        problem.desc.sequence = sequences[test_random_between(0, TEST_COUNT(sequences) - 1)];
        problem.desc.move = i % 5 ? IPT_MOVE_TRANSPOSE : IPT_MOVE_ROTATE_180;
#ifndef IPT_NO_BOXES
        if (i % 17 == 0)
            make_array(&problem, elem_size, 0);
#endif
        if (i % 170 == 1)
            make_array(&problem, elem_size, 1);
        problem.desc.batch = 1 + (size_t)i % 2;
        problem.desc.batch_stride = problem.matrix_bytes;
        if (i % 11 == 0 && !problem.array.count && problem.desc.sequence == IPT_SEQUENCE_AUTO &&
            problem.desc.move == IPT_MOVE_TRANSPOSE) {
            problem.desc.from = IPT_FORMAT_RM; /* ipt__problem_fill sets this, too */
            problem.desc.to = IPT_FORMAT_CM;
            problem.desc.tile_m = problem.desc.tile_n = 1;
        }
        scope.budget = i % 13 ? ipt__problem_budget(&problem) : 0;
        assert_int_equal(ipt__layout_choose(&problem, &layout, scope.budget), IPT_SUCCESS);
        for (m = 0; m < IPT__METHODS; ++m) {
            ipt__proposal made;
            assert_int_equal(ipt__method_propose(&ipt__methods[m], &problem, &scope, &made), IPT_SUCCESS);
            if (!made.found)
                continue;
            assert_false(ipt__layout_better(&made.layout, &layout, scope.budget));
            if (best < 0 && !ipt__layout_better(&layout, &made.layout, scope.budget))
                best = m;
            if (made.settled)
                break;
        }
        assert_true(best >= 0);
        ++won[best];
    }
    for (m = 0; m < IPT__METHODS; ++m)
        if (!won[m])
            fail_msg("no problem takes the method '%s'", ipt__methods[m].name);
}

/* In a gapped pass with any remainder, panel p's slots overlap only panels that are read before p is written. */
static void maths_gapped_panels_overlap_only_neighbours(void **state)
{
    size_t rows, cols, m, p, j;
    (void)state;
    for (rows = 2; rows <= 24; ++rows)
        for (cols = 1; cols <= rows; ++cols)
            for (m = 1; m <= rows; ++m) {
                const size_t panels = rows / m;
                for (p = 0; p < panels; ++p)
                    for (j = 0; j < cols; ++j) {
                        const size_t t = p * cols + j, begin = t / panels * rows + t % panels * m;
                        assert_true(begin >= p * m * cols);
                        assert_true(p + 1 == panels || begin + m <= (p + 2) * m * cols);
                        assert_true(begin + m <= rows * cols);
                    }
            }
}

/* An unpacked text has the recorded hash, which includes a kernel's arguments. Without memory, it is only counted. */
static void check_text(const ipt__part *part, const char *arguments)
{
    char head[100], hash[17];
    unsigned long long sum = 14695981039346656037ull;
    ipt__text text = {NULL, 0, 0};
    const char *at;
    ipt__part_print(&text, part);
    text.capacity = text.length + 1;
    text.text = malloc(text.capacity);
    assert_non_null(text.text);
    text.length = 0;
    ipt__part_print(&text, part);
    assert_int_equal(text.length + 1, text.capacity);
    assert_int_equal(strlen(text.text), text.length);
    snprintf(head, sizeof head, "#line 1 \"%s\"\n", part->file);
    assert_memory_equal(text.text, head, strlen(head));
    for (at = arguments; *at; ++at)
        if (*at != ' ')
            sum = (sum ^ (unsigned char)*at) * 1099511628211ull;
    for (at = text.text + strlen(head); *at; ++at)
        sum = (sum ^ (unsigned char)*at) * 1099511628211ull;
    snprintf(hash, sizeof hash, "%016llx", sum);
    assert_string_equal(hash, part->hash);
    free(text.text);
}

static void maths_packed_texts(void **state)
{
    int i;
    (void)state;
    for (i = 0; i < IPT__PART_COUNT; ++i)
        check_text(&ipt__parts[i], "");
    for (i = 0; i < IPT__KERNEL_COUNT; ++i)
        check_text(&ipt__kernels[i].own, ipt__kernels[i].arguments);
    for (i = 0; i < IPT__ACTION_TEXT_COUNT; ++i)
        check_text(&ipt__action_texts[i], "");
}

const struct CMUnitTest test_maths[] = {
    TEST_CASE(maths_division_by_constants),
    TEST_CASE(maths_slot_addresses_beyond_32_bits),
    TEST_CASE(maths_cycles),
    TEST_CASE(maths_sizes),
    TEST_CASE(maths_divisors),
    TEST_CASE(maths_choice_of_super_element),
    TEST_CASE(maths_methods_propose_the_best),
    TEST_CASE(maths_gapped_panels_overlap_only_neighbours),
    TEST_CASE(maths_packed_texts),
};
const size_t test_maths_count = TEST_COUNT(test_maths);
