/* Arrays whose last axis of 2 to 4 elements becomes another one, or the reverse, and batches of such matrices. On a CPU
 * a core moves each of them. Contexts with little local memory cut small arrays into many tiles. */
#include "test.h"

#include <stdio.h>
#include <string.h>

/* Plans by their kind: whole matrices, tiles, tiles of matrices that work-groups share, and others. */
typedef struct counts {
    int whole, tiles, shared, others;
} counts;

static void count(counts *all, const ipt_plan *plan, size_t longer)
{
    const char *const at = strstr(ipt_plan_describe(plan), ". thin: ");
    char whole[40];
    snprintf(whole, sizeof whole, ", tiles of %zu\n", longer);
    if (!at)
        ++all->others;
    else if (strstr(at, " work-groups"))
        ++all->shared;
    else if (strstr(at, whole))
        ++all->whole;
    else
        ++all->tiles;
}

/* Compares every byte of the result, and the bytes around it, with the reference. */
static void check(ipt_context *context, const ipt_plan_desc *desc, counts *all, size_t longer)
{
    ipt_plan *const plan = test_make_plan(context, desc);
    test_job job = {0};
    size_t i;
    int right;
    count(all, plan, longer);
    test_job_prepare(&job, test_cl_context, desc,
                     TEST_GUARD + test_alignment(desc->elem_size) * test_random_between(0, 5));
    for (i = 0; desc->expression && i < test_elements(desc) * (desc->batch ? desc->batch : 1); ++i) {
        unsigned char *const at = job.expected + job.byte_offset + i * desc->elem_size;
        uint32_t value;
        memcpy(&value, at, sizeof value);
        value = value * 3 + 1;
        memcpy(at, &value, sizeof value);
    }
    right = test_job_upload(&job, test_queue) && test_job_run(&job, plan, test_queue) &&
            test_job_holds(&job, test_queue, job.expected);
    if (!right) {
        test_print_case(desc, job.byte_offset);
        print_error("%s", ipt_plan_describe(plan));
    }
    test_job_end(&job);
    assert_true(right);
    ipt_plan_destroy(plan);
}

/* A random array of `rank` axes: `channels` move from before the last axes to their end, or back. */
static ipt_plan_desc random_array(size_t channels, size_t pixels, size_t *longer)
{
    ipt_plan_desc desc = {0};
    const int last = (int)test_random_between(0, 1); /* channels come last in the source */
    const unsigned before = (unsigned)test_random_between(0, 1), after = (unsigned)test_random_between(1, 3);
    const unsigned from = last ? before + after : before, to = last ? before : before + after;
    unsigned i, at = 0;
    desc.rank = before + after + 1;
    *longer = 1;
    for (i = 0; i < desc.rank; ++i) {
        const int is_image = i >= before && i != from;
        desc.shape[i] = i == from ? channels : !is_image ? test_random_between(1, 6) : test_random_between(2, 20);
        if (i == (last ? desc.rank - 2 : desc.rank - 1)) /* makes up the pixels */
            desc.shape[i] = test_random_between(0, 2) ? 64 * (pixels / *longer / 64 + 1) : pixels / *longer + 1;
        *longer *= is_image ? desc.shape[i] : 1;
    }
    for (i = 0; i < desc.rank; ++i) {
        at += at == from;
        desc.axes[i] = i == to ? from : at++;
    }
    return desc;
}

static void move(size_t local_memory, size_t most_pixels, int arrays, counts *all)
{
    static const size_t sizes[] = {4, 1, 2, 8, 16, 4, 1, 3, 12};
    ipt_context *const context = local_memory ? test_make_context(local_memory) : test_context;
    int i;
    for (i = 0; i < arrays; ++i) {
        size_t longer;
        ipt_plan_desc desc =
            random_array(test_random_between(2, i % 8 ? 4 : 5), test_random_between(1, most_pixels), &longer);
        desc.elem_size = sizes[i % (int)TEST_COUNT(sizes)];
        if (test_random_between(0, 2) == 0)
            desc.batch = test_random_between(2, 5);
        if (desc.elem_size == 4 && test_random_between(0, 1)) {
            desc.expression = test_compiles ? "x * 3 + 1" : NULL;
            desc.expression_type = test_compiles ? "uint" : NULL;
        } else if (test_random_between(0, 2) == 0)
            desc.batch_stride = test_matrix_bytes(&desc) + test_alignment(desc.elem_size) * test_random_between(0, 80);
        check(context, &desc, all, longer);
    }
    if (local_memory)
        ipt_context_destroy(context);
}

/* Devices other than CPUs move these arrays otherwise. */
static void thin_random(void **state)
{
    counts all = {0};
    (void)state;
    move(4096, 20000, 60, &all);
    move(0, 4000, 30, &all);
    move(0, 200000, 12, &all);
    print_message("whole %d, tiles %d, shared %d, others %d\n", all.whole, all.tiles, all.shared, all.others);
    if (!(all.whole + all.tiles + all.shared))
        test_skip("the device moves no thin matrices by cores");
    assert_in_range(all.whole, 15, 100);
    assert_in_range(all.tiles, 5, 100);
}

/* Sides around the limits: of a tile, of a run, of a matrix that is one tile, and of local memory. */
static void thin_limits(void **state)
{
    static const struct {
        size_t rows, cols, elem_size, batch;
    } matrices[] = {{3, 87381, 1, 4},   {3, 87382, 1, 4},  {65535, 4, 1, 4},  {65536, 4, 1, 4}, {3, 87384, 1, 1},
                    {2, 32768, 4, 3},   {2, 32769, 4, 3},  {131072, 2, 1, 2}, {3, 65537, 4, 2}, {4, 65536, 4, 1},
                    {262144, 3, 4, 1},  {3, 262144, 2, 3}, {2, 262144, 8, 2}, {49, 3, 4, 3000}, {3, 49, 1, 5000},
                    {2, 3, 1, 100000},  {3, 2, 4, 10000},  {4, 3, 2, 777},    {4, 5, 8, 1001},  {5, 4, 8, 1001},
                    {3, 1000003, 1, 2}, {1 << 20, 4, 1, 2}};
    counts all = {0};
    size_t i;
    (void)state;
    for (i = 0; i < TEST_COUNT(matrices); ++i) {
        ipt_plan_desc desc = {0};
        desc.rows = matrices[i].rows;
        desc.cols = matrices[i].cols;
        desc.elem_size = matrices[i].elem_size;
        desc.batch = matrices[i].batch;
        check(test_context, &desc, &all, desc.rows > desc.cols ? desc.rows : desc.cols);
    }
    print_message("whole %d, tiles %d, shared %d, others %d\n", all.whole, all.tiles, all.shared, all.others);
}

const struct CMUnitTest test_thin[] = {TEST_CASE(thin_random), TEST_CASE(thin_limits)};
const size_t test_thin_count = TEST_COUNT(test_thin);
