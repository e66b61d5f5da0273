/* Contract of sequence exchange: results are right for every shape and number of bands, in waves, in waves of one
 * launch, and by cooperative work-groups, whether these finish or leave work to others. Cooperative bands need a GPU
 * whose memory model has release and acquire: the tests report such a device. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 26 /* sides from 1 to this */

static size_t longer(const ipt_plan_desc *desc)
{
    return desc->rows > desc->cols ? desc->rows : desc->cols;
}
static size_t shorter(const ipt_plan_desc *desc)
{
    return desc->rows < desc->cols ? desc->rows : desc->cols;
}

static ipt_plan_desc exchange(size_t rows, size_t cols, size_t elem_size, size_t batch)
{
    ipt_plan_desc desc = {.rows = rows, .cols = cols, .elem_size = elem_size, .batch = batch};
    desc.sequence = IPT_SEQUENCE_EXCHANGE;
    desc.max_workspace = (size_t)1 << 24;
    return desc;
}

/* A random height of bands of the longer side. */
static size_t any_height(const ipt_plan_desc *desc)
{
    return test_random_between((longer(desc) + shorter(desc) - 1) / shorter(desc), longer(desc));
}

/* Bands of a random height, of either side. Work-groups can store low bands in local memory. */
static void any_bands(ipt_plan_desc *desc)
{
    if (test_random_between(0, 2))
        desc->tile_m = any_height(desc);
    else
        desc->tile_n = test_random_between(1, test_random_between(0, 3) && shorter(desc) > 16 ? 16 : shorter(desc));
}

/* A transposition, or one with reversed rows, a reversed sequence of rows, or both. */
static ipt_move any_move(void)
{
    static const ipt_move moves[] = {IPT_MOVE_TRANSPOSE, IPT_MOVE_ROTATE_90, IPT_MOVE_ROTATE_270,
                                     IPT_MOVE_ANTITRANSPOSE};
    return moves[test_random_between(0, TEST_COUNT(moves) - 1)];
}

/* All small shapes, each by the planner's bands and by bands of all heights of both sides. */
static void exchange_small(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= SMALL; ++rows)
        for (size_t cols = 1; cols <= SMALL; ++cols) {
            const size_t elem_size = test_element_sizes[test_random_between(0, TEST_ELEMENT_SIZE_COUNT - 1)];
            ipt_plan_desc desc = exchange(rows, cols, elem_size, 1 + (rows + cols) % 3);
            desc.flags = IPT_NO_COOPERATIVE;
            desc.move = any_move();
            test_transposes(test_context, &desc);
            size_t least = (longer(&desc) + shorter(&desc) - 1) / shorter(&desc);
            for (desc.tile_m = least; desc.tile_m <= longer(&desc); ++desc.tile_m)
                test_transposes(test_context, &desc);
            desc.tile_m = 0;
            for (desc.tile_n = 1; desc.tile_n <= shorter(&desc); ++desc.tile_n)
                test_transposes(test_context, &desc);
        }
}

static ipt_plan_desc random_exchange(size_t most)
{
    size_t side[2] = {test_random_between(2, most), test_random_between(2, test_random_between(0, 1) ? most : 40)};
    int turned = (int)test_random_between(0, 1);
    ipt_plan_desc desc = exchange(side[turned], side[!turned], 4, test_random_between(0, 3) ? 1 : 3);
    desc.elem_size = test_element_sizes[test_random_between(0, TEST_ELEMENT_SIZE_COUNT - 1)];
    if (test_random_between(0, 1))
        any_bands(&desc);
    if (test_random_between(0, 2) == 0)
        desc.batch_stride = test_matrix_bytes(&desc) + 3 * test_alignment(desc.elem_size);
    desc.move = any_move();
    return desc;
}

static void exchange_random(void **state)
{
    (void)state;
    for (int i = 0; i < 120; ++i) {
        ipt_plan_desc desc = random_exchange(400);
        desc.flags = IPT_NO_COOPERATIVE;
        desc.max_workspace = test_random_between(0, 2) ? desc.max_workspace : 1;
        test_transposes(i % 4 ? test_context : test_small_context, &desc);
    }
}

static void try_together(size_t resident, size_t polls, int count)
{
    ipt_context *context = test_make_waiting_context(8192, resident, polls);
    size_t together = 0;
    ipt_plan_desc probe = exchange(200, 100, 4, 1); /* bands of one chunk, without remainders */
    probe.tile_m = 2;
    if (!test_waits_together(context, &probe)) {
        ipt_context_destroy(context);
        test_skip("the device has no cooperative bands");
    }
    for (int i = 0; i < count; ++i) {
        ipt_plan_desc desc = random_exchange(300);
        if (i % 2 == 0) { /* whole words: columns move by blocks */
            static const size_t sizes[] = {1, 2, 3, 6};
            desc.elem_size = sizes[test_random_between(0, 3)];
            desc.rows = (desc.rows + 3) / 4 * 4;
            desc.cols = (desc.cols + 3) / 4 * 4;
            desc.tile_m = i % 4 ? (any_height(&desc) + 3) / 4 * 4 : 0;
            desc.tile_n = 0;
            desc.batch_stride = 0;
        }
        together += test_waits_together(context, &desc);
        test_transposes(context, &desc);
    }
    assert_in_range(together, (size_t)count / 20, (size_t)count);
    ipt_context_destroy(context);
}

/* On CPUs all waves are one launch. `polls`: 1 makes work-groups leave while others still work. */
static void try_shared(size_t polls, int count)
{
    ipt_context *context = test_make_waiting_context(0, 0, polls);
    cl_uint units = 0;
    clGetDeviceInfo(test_device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    const size_t least = 32 * (size_t)units;
    int shared = 0;
    for (int i = 0; i < count && least <= 1024; ++i) {
        ipt_plan_desc desc = random_exchange(2);
        const size_t sides[2] = {test_random_between(least, least + 200), test_random_between(least, 2 * least + 300)};
        desc.rows = sides[i % 2];
        desc.cols = sides[(i + 1) % 2];
        desc.batch_stride = 0;
        desc.tile_m = desc.tile_n = 0;
        if (i % 3)
            any_bands(&desc);
        ipt_plan *plan = test_make_plan(context, &desc);
        shared += strstr(ipt_plan_describe(plan), "in one launch") != NULL;
        ipt_plan_destroy(plan);
        if (i == 1 && !shared)
            break;
        test_transposes(context, &desc);
    }
    ipt_context_destroy(context);
    if (!shared)
        test_skip("the device has no waves in one launch");
    assert_int_equal(shared, count);
}

static void exchange_shared(void **state)
{
    (void)state;
    try_shared(0, 60);
}

static void exchange_shared_left(void **state)
{
    (void)state;
    try_shared(1, 60);
}

/* Bands of one chunk need no work-groups at the same time. */
static void exchange_together(void **state)
{
    (void)state;
    try_together(2, 0, 60);
}

static void exchange_gives_up(void **state)
{
    (void)state;
    for (size_t resident = 4; resident <= 64; resident *= 4)
        try_together(resident, 50 * resident, 40);
}

/* The expression applies once to each element, on every path through the exchange. */
static void exchange_expressions(void **state)
{
    (void)state;
    for (int i = 0; i < 40; ++i) {
        ipt_plan_desc desc = random_exchange(120);
        desc.elem_size = 4;
        desc.batch_stride = 0;
        desc.move = IPT_MOVE_TRANSPOSE;
        desc.expression = "x * 3 + 1";
        desc.expression_type = "uint";
        desc.flags = i % 2 ? IPT_NO_COOPERATIVE : 0;
        size_t count = desc.rows * desc.cols * desc.batch, each = desc.rows * desc.cols;
        uint32_t *before = malloc(count * 4), *after = malloc(count * 4);
        assert_true(before && after);
        test_fill(before, count * 4);
        memcpy(after, before, count * 4);
        ipt_plan *plan = test_make_plan(test_context, &desc);
        assert_int_equal(ipt_plan_execute_host(plan, after), IPT_SUCCESS);
        for (size_t k = 0; k < count; ++k) {
            size_t at = k % each, to = k - at + at % desc.cols * desc.rows + at / desc.cols;
            if (after[to] != before[k] * 3 + 1) {
                test_print_case(&desc, 0);
                fail_msg("element %zu is %u instead of %u: %s", k, after[to], before[k] * 3 + 1,
                         ipt_plan_describe(plan));
            }
        }
        ipt_plan_destroy(plan);
        free(before);
        free(after);
    }
}

/* The workspace of the planner's waves stays within max_workspace. A limit of 1 selects the smallest workspace. */
static void exchange_workspace(void **state)
{
    (void)state;
    for (int i = 0; i < 60; ++i) {
        ipt_plan_desc desc = random_exchange(400);
        desc.tile_m = desc.tile_n = 0;
        desc.max_workspace = 1;
        ipt_plan *plan = test_make_plan(test_context, &desc);
        size_t least = ipt_plan_workspace(plan);
        ipt_plan_destroy(plan);
        desc.max_workspace = least + test_random_between(1, 4096);
        plan = NULL;
        ipt_result result = ipt_plan_create(test_context, &desc, &plan);
        if (result || ipt_plan_workspace(plan) > desc.max_workspace) {
            test_print_case(&desc, 0);
            fail_msg("%zu bytes allowed, %zu are possible, %zu taken: %s", desc.max_workspace, least,
                     ipt_plan_workspace(plan), result ? ipt_context_error(test_context) : "");
        }
        ipt_plan_destroy(plan);
    }
}

static void exchange_refusals(void **state)
{
    (void)state;
    ipt_plan_desc desc = exchange(100, 20, 4, 1);
    ipt_plan *plan = NULL;
    for (int i = 0; i < 2; ++i) {
        desc.tile_m = i ? 101 : 4;
        test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "tile_m",
                          "5 to 100");
        assert_null(plan);
    }
    desc.tile_m = 0;
    desc.tile_n = 21;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "tile_n", "1 to 20");
    desc.tile_n = 0;
    desc.max_workspace = 16;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_UNSUPPORTED, "max_workspace", NULL);
    assert_null(plan);
}

/* A host matrix in parts has no bands, because bands depend on one another. */
static void exchange_not_in_parts(void **state)
{
    static unsigned char matrix[433 * 61 * 3];
    ipt_plan_desc desc = {.rows = 433, .cols = 61, .elem_size = 3, .max_workspace = 17313, .host = IPT_HOST_STAGES};
    unsigned char before[sizeof matrix];
    ipt_plan *plan;
    (void)state;
    desc.flags = IPT_NO_COOPERATIVE;
    plan = test_make_plan(test_context, &desc);
    test_fill(matrix, sizeof matrix);
    memcpy(before, matrix, sizeof matrix);
    if (strstr(ipt_plan_describe(plan), "exchange: ")) {
        test_expect_parts(ipt_plan_execute_host(plan, matrix), IPT_ERROR_UNSUPPORTED, "host is stages",
                          "cannot be cut");
        assert_memory_equal(matrix, before, sizeof matrix);
    }
    ipt_plan_destroy(plan);
}

/* A simulated large GPU. */
static const char large_gpu[] =
    "ipt profile 2\ndevice GPU\nvendor none\ndriver none\nplatform none\nbits %d\ncpu 0\ncooperative 1\n"
    "nvidia 2\nmemory_model 2\nsub_group 1\nlanes 32\nstandard 30\ngroup_size 256\nlargest_group 1024\n"
    "local_memory 49152\ncompute_units 132\nresident_groups 264\nresident_bands 660\nresident_others "
    "528\nwait_polls 1048576\nlocal_is_limited 0\n"
    "chunk_bytes 110592\nrefused_bytes 0\nsub_groups_refused 0\nend\n";

static ipt_context *make_large_gpu(void)
{
    char profile[sizeof large_gpu + 8];
    ipt_context_desc desc = {.cache_dir = "", .profile = profile};
    ipt_context *context = NULL;
#ifdef IPT_NO_OFFLINE
    test_skip("ipt was compiled without profiles");
#endif
    snprintf(profile, sizeof profile, large_gpu, (int)sizeof(void *) * 8);
    if (ipt_context_create(&desc, &context))
        fail_msg("%s", ipt_context_error(NULL));
    return context;
}

/* Fails unless the description of the plan has the text. */
static void expect_plan(ipt_context *context, const ipt_plan_desc *desc, const char *text)
{
    ipt_plan *plan = NULL;
    if (ipt_plan_create(context, desc, &plan))
        fail_msg("%s", ipt_context_error(NULL));
    if (!strstr(ipt_plan_describe(plan), text))
        fail_msg("not %s: %s", text, ipt_plan_describe(plan));
    ipt_plan_destroy(plan);
}

/* Cooperative bands serve matrices of short elements that are slightly larger than the chip's memory. */
static void exchange_instead_of_the_chip(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{3517, 8665}, {5685, 6181},  {8749, 4392},
                                       {7188, 7663}, {3001, 16001}, {9001, 5401}};
    ipt_context *const context = make_large_gpu();
    for (size_t s = 0; s < TEST_COUNT(shapes); ++s) {
        const ipt_plan_desc desc = {.rows = shapes[s][0], .cols = shapes[s][1], .elem_size = 1};
        const int on_chip = desc.rows * desc.cols < 40000000; /* three of the cases */
        expect_plan(context, &desc, on_chip ? " columns of a chunk in registers" : "1. exchange: ");
        if (!on_chip)
            expect_plan(context, &desc, " work-groups together");
    }
    ipt_context_destroy(context);
}

/* Narrow tall matrices take bands of up to 512 rows, unless so many bands take longer than two passes. */
static void exchange_of_narrow_matrices(void **state)
{
    static const struct {
        size_t rows, cols, elem_size;
        const char *how;
    } matrices[] = {{100000, 400, 4, "exchange: 200 bands of 500 rows"},
                    {84855, 1042, 2, "exchange: 208 bands of 407 rows"},
                    {52547, 430, 4, "exchange: 143 bands of 367 rows"},
                    {68020, 256, 4, "2. shuffle: "}};
    ipt_context *const context = make_large_gpu();
    (void)state;
    for (size_t m = 0; m < TEST_COUNT(matrices); ++m) {
        const ipt_plan_desc desc = {
            .rows = matrices[m].rows, .cols = matrices[m].cols, .elem_size = matrices[m].elem_size};
        expect_plan(context, &desc, matrices[m].how);
    }
    ipt_context_destroy(context);
}

/* Boxes serve arrays that the local memory of all work-groups holds: 28 MB of four work-groups on each of 132 compute
 * units, though the profile counts two panels on each. Larger arrays take bands, if runs are long, or two passes. */
static void exchange_or_boxes(void **state)
{
    static const struct {
        size_t elem_size, shape[3];
        const char *how;
    } arrays[] = {
        {4, {100, 240, 250}, "boxes together: 480 of 100 x 1 x 125"},
        {1, {100, 961, 251}, ", in words cut at the ends of runs"},
        {4, {100, 340, 250}, "rows permuted"},
        {4, {120, 1500, 150}, "2 passes"},
        {4, {300, 400, 500}, "exchange: 250 bands of 480 rows"},
        {4, {1000, 100, 300}, "runs of 500 bytes, 0 and 0 left over, each by 406 work-groups together, columns"},
        {8, {300, 100, 1000}, "work-groups together, rows permuted"}};
    ipt_context *const context = make_large_gpu();
    (void)state;
    for (size_t a = 0; a < TEST_COUNT(arrays); ++a) {
        ipt_plan_desc desc = {.elem_size = arrays[a].elem_size, .rank = 3, .axes = {2, 1, 0}};
        memcpy(desc.shape, arrays[a].shape, sizeof arrays[a].shape);
        expect_plan(context, &desc, arrays[a].how);
    }
    ipt_context_destroy(context);
}

/* The chip holds two arrays of a batch, or all of its work-groups hold one: a part of the next array would only wait.
 */
static void exchange_or_boxes_of_batches(void **state)
{
    static const ipt_plan_desc batches[] = {
        {.rank = 6, .shape = {10, 7, 25, 13, 41, 13}, .axes = {0, 3, 2, 5, 4, 1}, .elem_size = 4},
        {.rank = 4, .shape = {16, 119, 71, 224}, .axes = {0, 3, 2, 1}, .elem_size = 8}};
    static const char *const how[] = {"boxes together: 175 of ", "boxes together: 426 of "};
    ipt_context *const context = make_large_gpu();
    (void)state;
    for (size_t b = 0; b < TEST_COUNT(batches); ++b)
        expect_plan(context, &batches[b], how[b]);
    ipt_context_destroy(context);
}

/* Pictures of bytes that a compute unit holds take boxes, unless it holds eight: no other work-group would load and
 * store while one moves its picture. */
static void exchange_or_boxes_of_pictures(void **state)
{
    static const ipt_plan_desc pictures[] = {
        {.rank = 4, .shape = {64, 3, 224, 224}, .axes = {0, 2, 3, 1}, .elem_size = 1},
        {.rank = 4, .shape = {64, 224, 224, 3}, .axes = {0, 3, 1, 2}, .elem_size = 1},
        {.rank = 4, .shape = {64, 3, 192, 192}, .axes = {0, 2, 3, 1}, .elem_size = 2},
        {.rank = 4, .shape = {64, 3, 64, 64}, .axes = {0, 2, 3, 1}, .elem_size = 1}};
    static const char *const how[] = {"boxes", "boxes", "boxes", "whole in local memory"};
    ipt_context *const context = make_large_gpu();
    (void)state;
    for (size_t p = 0; p < TEST_COUNT(pictures); ++p)
        expect_plan(context, &pictures[p], how[p]);
    ipt_context_destroy(context);
}

/* Matrices of a desc's rows and columns take boxes as arrays do: thin ones, and those of short or long elements. */
static void exchange_or_boxes_of_matrices(void **state)
{
    static const ipt_plan_desc matrices[] = {{.rows = 3, .cols = 50176, .batch = 64, .elem_size = 1},
                                             {.rows = 50176, .cols = 3, .batch = 64, .elem_size = 1},
                                             {.rows = 1000000, .cols = 3, .elem_size = 4},
                                             {.rows = 361, .cols = 38, .elem_size = 1628},
                                             {.rows = 3000, .cols = 2000, .elem_size = 4},
                                             {.rows = 1024, .cols = 1024, .elem_size = 4},
                                             {.rows = 3, .cols = 50176, .row_pitch = 50180, .elem_size = 1},
                                             {.rows = 3, .cols = 50176, .flags = IPT_NO_COOPERATIVE, .elem_size = 1}};
    static const char *const how[] = {"boxes", "boxes", "boxes", "boxes", "panels", "swap", "panels", "whole"};
    ipt_context *const context = make_large_gpu();
    (void)state;
    for (size_t m = 0; m < TEST_COUNT(matrices); ++m)
        expect_plan(context, &matrices[m], how[m]);
    ipt_context_destroy(context);
}

const struct CMUnitTest test_exchange[] = {TEST_CASE(exchange_small),
                                           TEST_CASE(exchange_random),
                                           TEST_CASE(exchange_together),
                                           TEST_CASE(exchange_gives_up),
                                           TEST_CASE(exchange_shared),
                                           TEST_CASE(exchange_shared_left),
                                           TEST_CASE(exchange_expressions),
                                           TEST_CASE(exchange_workspace),
                                           TEST_CASE(exchange_refusals),
                                           TEST_CASE(exchange_not_in_parts),
                                           TEST_CASE(exchange_instead_of_the_chip),
                                           TEST_CASE(exchange_of_narrow_matrices),
                                           TEST_CASE(exchange_or_boxes),
                                           TEST_CASE(exchange_or_boxes_of_batches),
                                           TEST_CASE(exchange_or_boxes_of_pictures),
                                           TEST_CASE(exchange_or_boxes_of_matrices)};
const size_t test_exchange_count = TEST_COUNT(test_exchange);
