/* max_workspace holds for every kind of plan: whole, by parts, cut, in a storage, padded, measured, of matrices and of
 * arrays. The reported size is the allocated size. If the limit is too small, the size in the error suffices. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------ */
/* OpenCL functions that count unreleased objects */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { HELD_MAX = 256 };

typedef struct held_buffer {
    cl_mem memory;
    size_t bytes;
    int workspace; /* a fill has covered the whole buffer: ipt fills only workspaces */
} held_buffer;

static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static held_buffer held[HELD_MAX];

static cl_mem CL_API_CALL held_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                              cl_int *error)
{
    cl_mem made = clCreateBuffer(context, flags, bytes, host, error);
    int i = 0;
    pthread_mutex_lock(&held_lock);
    while (i < HELD_MAX && held[i].memory)
        ++i;
    if (made && i < HELD_MAX)
        held[i] = (held_buffer){made, bytes, 0};
    pthread_mutex_unlock(&held_lock);
    return i < HELD_MAX ? made : NULL;
}

static cl_int CL_API_CALL held_clReleaseMemObject(cl_mem memory)
{
    int i = 0;
    pthread_mutex_lock(&held_lock);
    while (i < HELD_MAX && held[i].memory != memory)
        ++i;
    if (i < HELD_MAX)
        held[i].memory = NULL;
    pthread_mutex_unlock(&held_lock);
    return clReleaseMemObject(memory);
}

static cl_int CL_API_CALL held_clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                                                   size_t pattern_bytes, size_t offset, size_t bytes, cl_uint count,
                                                   const cl_event *events, cl_event *event)
{
    pthread_mutex_lock(&held_lock);
    for (int i = 0; i < HELD_MAX; ++i)
        if (held[i].memory == memory && !offset && bytes == held[i].bytes)
            held[i].workspace = 1;
    pthread_mutex_unlock(&held_lock);
    return clEnqueueFillBuffer(queue, memory, pattern, pattern_bytes, offset, bytes, count, events, event);
}

static size_t held_workspace(void)
{
    size_t bytes = 0;
    pthread_mutex_lock(&held_lock);
    for (int i = 0; i < HELD_MAX; ++i)
        bytes += held[i].memory && held[i].workspace ? held[i].bytes : 0;
    pthread_mutex_unlock(&held_lock);
    return bytes;
}

#include "stand_in.h"
#define STAND_IN_clCreateBuffer ~, held_clCreateBuffer
#define STAND_IN_clReleaseMemObject ~, held_clReleaseMemObject
#define STAND_IN_clEnqueueFillBuffer ~, held_clEnqueueFillBuffer
#define IPT_ENTRY_POINT(name) STAND_IN_OR(STAND_IN_##name, name)

#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "test.h"

/* ------------------------------------------------------------------------------------------------------------------ */
/* Cases */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef enum way {
    WHOLE,
    PARTS,
    STAGES,
    CUT,
    STORED,
    STORED_CUT,
    PADDED,
    BLOCKS,
    FORCED,
    MEASURED,
    APART,
    ARRAY,
    ARRAY_APART,
    ARRAY_CUT,
    ARRAY_STORED,
    ARRAY_STORED_CUT,
    WAY_COUNT
} way;

static const char *const way_names[] = {"whole",       "parts",          "stages",       "cut",
                                        "stored",      "stored and cut", "padded",       "blocks",
                                        "forced",      "measured",       "out of place", "array",
                                        "array apart", "array cut",      "array stored", "array stored, cut"};

static size_t divisor_of(size_t n)
{
    size_t divisor = test_random_between(1, n);
    while (n % divisor)
        --divisor;
    return divisor;
}

/* A random matrix, or a random array that mostly needs several passes. */
static ipt_plan_desc random_shape(int array)
{
    ipt_plan_desc desc = {.rows = test_random_between(2, 400), .cols = test_random_between(2, 400)};
    if (!array)
        return desc;
    desc.rows = desc.cols = 0;
    desc.rank = (unsigned)test_random_between(3, 5);
    for (unsigned i = 0; i < desc.rank; ++i) {
        const unsigned other = (unsigned)test_random_between(0, i);
        desc.shape[i] = test_random_between(2, desc.rank == 3 ? 60 : desc.rank == 4 ? 22 : 12);
        desc.axes[i] = desc.axes[other];
        desc.axes[other] = i;
    }
    return desc;
}

static ipt_plan_desc random_desc(way how)
{
    const int array = how >= ARRAY;
    ipt_plan_desc desc = random_shape(array);
    const size_t kind = test_random() % 4;
    how = how == ARRAY_APART        ? APART
          : how == ARRAY_CUT        ? CUT
          : how == ARRAY_STORED     ? STORED
          : how == ARRAY_STORED_CUT ? STORED_CUT
                                    : how;
    desc.elem_size = test_element_sizes[test_random() % TEST_ELEMENT_SIZE_COUNT];
    desc.batch = test_random() % 2 ? 1 : test_random_between(2, 4);
    desc.host = how == PARTS || how == CUT ? IPT_HOST_OVERLAPPED
                : how == STAGES            ? IPT_HOST_STAGES
                                           : IPT_HOST_SYNCHRONOUS;
    desc.host_queues = how == PARTS ? test_random_between(1, 6) : 0;
    if (how == CUT || how == STORED_CUT)
        desc.max_device_memory = test_matrix_bytes(&desc) / test_random_between(1, 3) + 8000 + (size_t)array * 50000;
    if (how == STORED || how == STORED_CUT) {
        desc.max_host_memory = test_matrix_bytes(&desc) / test_random_between(1, 3) + 40000;
        desc.host = IPT_HOST_AUTO;
    }
    if (array && how != STORED)
        desc.host = IPT_HOST_AUTO;
    if (how == PADDED)
        desc.flags = IPT_PAD;
    if (how == MEASURED)
        desc.flags = IPT_MEASURE;
    if (how == APART)
        desc.flags = IPT_OUT_OF_PLACE;
    if (how == BLOCKS || how == FORCED) {
        desc.tile_m = divisor_of(desc.rows);
        desc.tile_n = divisor_of(desc.cols);
    }
    if (how == BLOCKS) {
        desc.from = (ipt_format)test_random_between(IPT_FORMAT_RM, IPT_FORMAT_CM);
        desc.to = (ipt_format)test_random_between(IPT_FORMAT_RM, IPT_FORMAT_CM);
    }
    if (how == FORCED)
        desc.sequence = (ipt_sequence)test_random_between(IPT_SEQUENCE_2_1, IPT_SEQUENCE_4_3);
    desc.max_workspace = kind == 0   ? 0
                         : kind == 1 ? test_random_between(2, 300)
                         : kind == 2 ? test_random_between(2, 5000)
                                     : test_random_between(2, 100000);
    return desc;
}

static int stored_read(void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy(memory, (const char *)user + offset, bytes);
    return 0;
}

static int stored_write(const void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy((char *)user + offset, memory, bytes);
    return 0;
}

/* Executes a plan on a matrix in host memory. */
static ipt_result execute(ipt_plan *plan, const ipt_plan_desc *desc)
{
    size_t rows, cols;
    ipt_plan_desc room = *desc;
    ipt_plan_padding(plan, &rows, &cols);
    room.rows += rows;
    room.cols += cols;
    const size_t bytes = test_span(&room);
    unsigned char *before = malloc(bytes), *data = malloc(bytes), *expected = malloc(bytes);
    assert_true(before && data && expected);
    test_fill(before, bytes);
    memcpy(data, before, bytes);
    const ipt_storage storage = {stored_read, stored_write, NULL, data, NULL, 0};
    const ipt_result result =
        desc->max_host_memory ? ipt_plan_execute_storage(plan, &storage) : ipt_plan_execute_host(plan, data);
    if (!result && !rows && !cols && !desc->from && !desc->to) {
        test_reference(expected, before, desc);
        assert_memory_equal(data, expected, test_matrix_bytes(desc));
    }
    free(before);
    free(data);
    free(expected);
    return result;
}

/* The workspace limit of the desc. */
static size_t allowed(const ipt_plan_desc *desc)
{
    const size_t percent = test_matrix_bytes(desc) * desc->batch / 100;
    return desc->max_workspace > 1 ? desc->max_workspace : percent > (size_t)1 << 20 ? percent : (size_t)1 << 20;
}

static int too_much(const ipt_plan *plan, const ipt_plan_desc *desc, const char *how, const char *when, size_t before)
{
    const size_t reported = ipt_plan_workspace(plan), taken = held_workspace() - before;
    if (reported <= allowed(desc) && taken <= reported)
        return 0;
    print_error("%s, %s: %zu bytes allowed, %zu reported, %zu taken\n", how, when, allowed(desc), reported, taken);
    test_print_case(desc, 0);
    return 1;
}

/* Makes and executes a plan. Returns the limit that an error proposes, or 0. *bad counts violations. */
static size_t try_desc(ipt_context *context, const ipt_plan_desc *desc, const char *how, size_t *bad, int *done)
{
    const size_t before = held_workspace();
    ipt_plan *plan = NULL;
    ipt_result result = ipt_plan_create(context, desc, &plan);
    size_t enough = 0;
    if (!result) {
        *bad += (size_t)too_much(plan, desc, how, "made", before);
        result = execute(plan, desc);
        *bad += (size_t)too_much(plan, desc, how, "executed", before);
    }
    *done = !result;
    if (result == IPT_ERROR_UNSUPPORTED && strstr(ipt_context_error(NULL), "max_workspace")) {
        const char *text = strstr(ipt_context_error(NULL), " would do");
        while (text && text[-1] >= '0' && text[-1] <= '9')
            --text;
        enough = text ? (size_t)strtoull(text, NULL, 10) : 0;
        *bad += !enough;
        if (!enough)
            print_error("%s: no number in: %s\n", how, ipt_context_error(NULL));
    }
    ipt_plan_destroy(plan);
    assert_int_equal(held_workspace(), before);
    return enough;
}

static void workspace_random(void **state)
{
    (void)state;
    test_need_buffers((size_t)32 << 20);
    size_t bad = 0, executed[WAY_COUNT] = {0}, refused[WAY_COUNT] = {0};
    ipt_context *contexts[2];
    for (int i = 0; i < 2; ++i) { /* the second one has little local memory */
        ipt_context_desc desc = {.context = test_cl_context, .device = test_device};
        desc.max_local_memory = i ? 1024 : 0;
        assert_int_equal(ipt_context_create(&desc, &contexts[i]), IPT_SUCCESS);
    }
    for (size_t i = 0; i < 50 * WAY_COUNT; ++i) {
        const way how = (way)(i % WAY_COUNT);
        ipt_context *context = contexts[test_random() % 4 > 0];
        ipt_plan_desc desc = random_desc(how);
        int done;
        const size_t enough = try_desc(context, &desc, way_names[how], &bad, &done);
        executed[how] += (size_t)done;
        if (!enough)
            continue;
        ++refused[how];
        desc.max_workspace = enough;
        if (try_desc(context, &desc, way_names[how], &bad, &done)) {
            print_error("%s: what was proposed does not do: %s\n", way_names[how], ipt_context_error(NULL));
            test_print_case(&desc, 0);
            ++bad;
        }
    }
    for (int how = 0; how < WAY_COUNT; ++how)
        print_message("%-14s %2zu executed, %2zu refused for another limit\n", way_names[how], executed[how],
                      refused[how]);
    ipt_context_destroy(contexts[0]);
    ipt_context_destroy(contexts[1]);
    assert_int_equal(bad, 0);
    for (int how = 0; how < WAY_COUNT; ++how)
        assert_true(executed[how] > 3);
    assert_true(refused[WHOLE] && refused[PARTS] && refused[STORED] && refused[ARRAY]);
}

#ifndef IPT_NO_WISDOM
/* A measured plan of an array retains only the workspace of the fastest candidates, as a plan by wisdom. */
static void workspace_measured(void **state)
{
    const ipt_context_desc context_desc = {.context = test_cl_context, .device = test_device, .max_local_memory = 1024};
    ipt_context *context;
    size_t several = 0;
    (void)state;
    test_need_buffers((size_t)32 << 20);
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    for (int i = 0; i < 40; ++i) {
        ipt_plan_desc desc = random_shape(1);
        desc.elem_size = 4;
        desc.flags = IPT_MEASURE;
        ipt_plan *plan = test_make_plan(context, &desc);
        const size_t measured = ipt_plan_workspace(plan);
        several += strstr(ipt_plan_describe(plan), "\n2. ") != NULL;
        ipt_plan_destroy(plan);
        desc.flags = 0;
        plan = test_make_plan(context, &desc);
        if (ipt_plan_workspace(plan) != measured)
            fail_msg("%zu bytes measured: %s", measured, ipt_plan_describe(plan));
        ipt_plan_destroy(plan);
    }
    assert_true(several > 3);
    ipt_context_destroy(context);
}
#endif

/* The planner makes no parts that would exceed the limit, unless the desc requests them. */
static void workspace_unasked_parts(void **state)
{
    (void)state;
    test_need_buffers((size_t)32 << 20);
    ipt_context_desc context_desc = {.context = test_cl_context, .device = test_device, .max_local_memory = 1024};
    ipt_context *context;
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    size_t refused = 0;
    for (int i = 0; i < 24; ++i) {
        ipt_plan_desc desc = {.rows = test_random_between(150, 600), .elem_size = 32, .max_workspace = 1};
        desc.cols = ((size_t)5 << 20) / desc.elem_size / desc.rows;
        ipt_plan *plan = test_make_plan(context, &desc);
        unsigned char *memory = malloc(test_span(&desc) + 64), *expected = malloc(test_span(&desc));
        desc.max_workspace = ipt_plan_workspace(plan) > 1 ? ipt_plan_workspace(plan) : 2;
        ipt_plan_destroy(plan);
        const size_t before = held_workspace();
        plan = test_make_plan(context, &desc);
        assert_true(memory && expected);
        for (int again = 0; again < 2; ++again) {
            test_fill(memory, test_span(&desc) + 1);
            test_reference(expected, memory + 1, &desc); /* an address at which no device can work */
            assert_int_equal(ipt_plan_execute_host(plan, memory + 1), IPT_SUCCESS);
            assert_memory_equal(memory + 1, expected, test_span(&desc));
            assert_int_equal(too_much(plan, &desc, "unasked parts", "executed", before), 0);
        }
        refused += plan->host->parts_refused != 0;
        free(memory);
        free(expected);
        ipt_plan_destroy(plan);
    }
    print_message("%zu of 24 plans did without parts\n", refused);
    ipt_context_destroy(context);
}

/* The limits hold for several contexts, with matrices and arrays. */
static void workspace_split(void **state)
{
    ipt_context *contexts[3];
    size_t bad = 0, refused = 0, made = 0;
    (void)state;
    const size_t most = test_kernels_at_once(3);
    for (size_t i = 0; i < most; ++i) {
        const ipt_context_desc desc = {.context = test_cl_context, .device = test_device, .max_local_memory = 1024};
        assert_int_equal(ipt_context_create(&desc, &contexts[i]), IPT_SUCCESS);
    }
    for (int i = 0; i < 40; ++i) {
        ipt_plan_desc desc = random_desc(i % 2 ? ARRAY : PARTS);
        for (int turn = 0; turn < 2; ++turn) {
            const size_t before = held_workspace();
            ipt_plan *plan;
            const ipt_result result = ipt_plan_create_split(contexts, 1 + (size_t)i % most, &desc, &plan);
            if (!result) {
                bad += (size_t)too_much(plan, &desc, "split", "made", before);
                assert_int_equal(execute(plan, &desc), IPT_SUCCESS);
                bad += (size_t)too_much(plan, &desc, "split", "executed", before);
                ipt_plan_destroy(plan);
                ++made;
                break;
            }
            assert_int_equal(result, IPT_ERROR_UNSUPPORTED);
            assert_non_null(strstr(ipt_context_error(NULL), "max_workspace"));
            assert_int_equal(turn, 0); /* the proposed limit was refused */
            const char *text = strstr(ipt_context_error(NULL), " would do");
            while (text && text[-1] >= '0' && text[-1] <= '9')
                --text;
            assert_non_null(text);
            desc.max_workspace = (size_t)strtoull(text, NULL, 10);
            ++refused;
        }
    }
    for (size_t i = 0; i < most; ++i)
        ipt_context_destroy(contexts[i]);
    print_message("%zu split plans, %zu limits refused\n", made, refused);
    assert_int_equal(bad, 0);
    assert_true(made > 20);
}

/* Bytes of all unreleased buffers. */
static size_t held_bytes(void)
{
    size_t bytes = 0;
    pthread_mutex_lock(&held_lock);
    for (int i = 0; i < HELD_MAX; ++i)
        bytes += held[i].memory ? held[i].bytes : 0;
    pthread_mutex_unlock(&held_lock);
    return bytes;
}

static int note_held(size_t done, size_t total, void *user)
{
    size_t *const most = user;
    (void)done, (void)total;
    *most = held_bytes() > *most ? held_bytes() : *most;
    return 0;
}

/* Batches in host memory: max_device_memory limits all chunks in flight, with blocks of any widths. */
static void workspace_of_batches(void **state)
{
    static const char *const names[] = {"A", "B", "C"};
    const ipt_context_desc made = {.context = test_cl_context, .device = test_device};
    ipt_context *context;
    (void)state;
    assert_int_equal(ipt_context_create(&made, &context), IPT_SUCCESS);
    for (int i = 0; i < 30; ++i) {
        ipt_batch_operand operands[3];
        ipt_batch_desc desc = {.count = test_random_between(1, 300), .operands = operands, .max_device_memory = 1};
        void *memory[3];
        size_t most = 0, before;
        const ipt_host_options options = {.progress = note_held, .user = &most};
        ipt_batch *batch;
        desc.operand_count = test_random_between(1, 3);
        desc.action = "A(0, 0) += 1;";
        for (size_t k = 0; k < desc.operand_count; ++k) {
            operands[k] = (ipt_batch_operand){.name = names[k], .type = "uint", .access = IPT_READ_WRITE};
            operands[k].layout = IPT_LAYOUT_BLOCKS;
            operands[k].width = test_random_between(1, 40);
            operands[k].rows = test_random_between(1, 4);
            memory[k] = calloc((desc.count + operands[k].width) * operands[k].rows, sizeof(cl_uint));
            assert_non_null(memory[k]);
        }
        assert_int_equal(ipt_batch_create(context, &desc, &batch), IPT_SUCCESS);
        assert_int_equal(ipt_batch_execute_host(batch, memory, NULL, NULL), IPT_ERROR_UNSUPPORTED);
        ipt_batch_destroy(batch);
        const char *text = strstr(ipt_context_error(NULL), " would do");
        while (text && text[-1] >= '0' && text[-1] <= '9')
            --text;
        assert_non_null(text);
        desc.max_device_memory = (size_t)strtoull(text, NULL, 10) * test_random_between(1, 2);
        assert_int_equal(ipt_batch_create(context, &desc, &batch), IPT_SUCCESS);
        before = held_bytes();
        assert_int_equal(ipt_batch_execute_host(batch, memory, NULL, &options), IPT_SUCCESS);
        assert_in_range(most, before + 1, before + desc.max_device_memory);
        ipt_batch_destroy(batch);
        for (size_t k = 0; k < desc.operand_count; ++k)
            free(memory[k]);
    }
    ipt_context_destroy(context);
}

const struct CMUnitTest test_workspace[] = {
    TEST_CASE(workspace_random),
#ifndef IPT_NO_WISDOM
    TEST_CASE(workspace_measured),
#endif
    TEST_CASE(workspace_unasked_parts), TEST_CASE(workspace_split), TEST_CASE(workspace_of_batches),
};
const size_t test_workspace_count = TEST_COUNT(test_workspace);
