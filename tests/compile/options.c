/* Shows what a compile-time option leaves out: each call that needs it fails with a message that names the option, and
 * everything else works. tests/compile/options.sh compiles this with each option, and without. Usage: options [missing]
 * missing: no program is in the cache folder, so IPT_NO_KERNEL_SOURCE can run nothing */
#define IPT_IMPLEMENTATION
#include "ipt.h"

static int failures;

/* Counts a failure unless a call returned `expected` and its error text contains `words`. */
static void expect(const char *what, ipt_result result, ipt_result expected, const char *words)
{
    if (result == expected && (!result || strstr(ipt_context_error(NULL), words)))
        return;
    fprintf(stderr, "%s: %s: %s\n", what, ipt_result_string(result), result ? ipt_context_error(NULL) : "");
    ++failures;
}

static ipt_plan_desc shape(size_t rows, size_t cols)
{
    ipt_plan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = sizeof(unsigned);
    return desc;
}

/* Transposes a matrix by the desc and verifies each element. */
static void check_works(ipt_context *context, const ipt_plan_desc *desc)
{
    const size_t rows = desc->rows, cols = desc->cols;
    unsigned *const matrix = (unsigned *)malloc(rows * cols * sizeof *matrix);
    ipt_plan *plan = NULL;
    size_t i, wrong = 0;
    ipt_result result = matrix ? ipt_plan_create(context, desc, &plan) : IPT_ERROR_OUT_OF_MEMORY;
    for (i = 0; matrix && i < rows * cols; ++i)
        matrix[i] = (unsigned)i;
    if (!result)
        result = ipt_plan_execute_host(plan, matrix);
    expect("a transposition", result, IPT_SUCCESS, "");
    for (i = 0; !result && i < rows * cols; ++i)
        wrong += matrix[i] != i % rows * cols + i / rows;
    if (wrong) {
        fprintf(stderr, "%zu x %zu: %zu elements are wrong\n", rows, cols, wrong);
        ++failures;
    }
    ipt_plan_destroy(plan);
    free(matrix);
}

/* Creates and destroys a plan. */
static ipt_result attempt(ipt_context *context, const ipt_plan_desc *desc)
{
    ipt_plan *plan = NULL;
    const ipt_result result = ipt_plan_create(context, desc, &plan);
    ipt_plan_destroy(plan);
    return result;
}

#ifdef IPT_NO_HOST_STREAMING
static void check_option(ipt_context *context)
{
    static const char option[] = "IPT_NO_HOST_STREAMING";
    ipt_plan_desc desc = shape(3000, 1700);
    ipt_plan *plan = NULL;
    void *memory = NULL;
    desc.host = IPT_HOST_SYNCHRONOUS;
    check_works(context, &desc);
    desc.host = IPT_HOST_OVERLAPPED;
    expect("host overlapped", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, option);
    desc.host = IPT_HOST_AUTO;
    desc.max_device_memory = (size_t)1 << 22;
    expect("max_device_memory", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, option);
    desc.max_device_memory = 0;
    desc.max_host_memory = (size_t)1 << 22;
    expect("max_host_memory", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, "IPT_NO_STORAGE");
    desc.max_host_memory = 0;
    expect("several devices", ipt_plan_create_split(&context, 1, &desc, &plan), IPT_ERROR_UNSUPPORTED, option);
    expect("pinned memory", ipt_host_alloc(context, 100, &memory), IPT_SUCCESS, "");
    ipt_host_free(context, memory);
}
#elif defined(IPT_NO_STORAGE)
static void check_option(ipt_context *context)
{
    ipt_plan_desc desc = shape(300, 170);
    desc.max_host_memory = (size_t)1 << 22;
    expect("max_host_memory", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, "IPT_NO_STORAGE");
    desc = shape(3000, 1700);
    desc.max_device_memory = (size_t)1 << 23;
    check_works(context, &desc);
}
#elif defined(IPT_NO_OFFLINE)
static void check_option(ipt_context *context)
{
    static const char option[] = "IPT_NO_OFFLINE";
    ipt_context_desc desc;
    ipt_context *without = NULL;
    char text[100];
    size_t bytes;
    memset(&desc, 0, sizeof desc);
    desc.profile = "ipt profile 2\n";
    expect("a context of a profile", ipt_context_create(&desc, &without), IPT_ERROR_UNSUPPORTED, option);
    expect("a profile", ipt_context_profile(context, text, sizeof text, &bytes), IPT_ERROR_UNSUPPORTED, option);
    expect("an entry", ipt_context_entry(context, 0, NULL, NULL, 0, NULL, 0, &bytes), IPT_ERROR_UNSUPPORTED, option);
    if (ipt_context_entry_count(context) || ipt_context_entry_source(context, 0, NULL))
        expect("entries", IPT_ERROR_OPENCL, IPT_SUCCESS, "");
}
#elif defined(IPT_NO_PAPERS)
static void check_option(ipt_context *context)
{
    static const char option[] = "IPT_NO_PAPERS";
    ipt_plan_desc desc = shape(300, 170);
    desc.sequence = IPT_SEQUENCE_TWO_PASS;
    check_works(context, &desc);
    desc.sequence = IPT_SEQUENCE_3_1;
    expect("sequence 3.1", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, option);
    desc = shape(24, 20);
    desc.variant_010 = IPT_VARIANT_BS_GROUP;
    expect("variant_010", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, option);
    desc.variant_010 = IPT_VARIANT_AUTO;
    desc.to = IPT_FORMAT_ASTA;
    expect("a format", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, option);
    desc.to = IPT_FORMAT_DEFAULT;
    desc.flags = IPT_PAD;
    expect("IPT_PAD", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, option);
    desc.flags = 0;
    desc.host = IPT_HOST_STAGES;
    expect("host stages", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, option);
    desc = shape(300, 300);
    desc.sequence = IPT_SEQUENCE_SQUARE;
    check_works(context, &desc);
}
#elif defined(IPT_NO_DISK_CACHE)
static void check_option(ipt_context *context)
{
    (void)context;
    expect("an entry in a folder", ipt_cache_store("folder", "entry", 5), IPT_ERROR_UNSUPPORTED, "IPT_NO_DISK_CACHE");
}
#elif defined(IPT_NO_THREADS)
static void check_option(ipt_context *context)
{
    ipt_plan_desc desc = shape(24, 20);
    ipt_plan *plan = NULL;
    cl_event event;
    char matrix[24 * 20 * sizeof(unsigned)] = {0};
    expect("a plan", ipt_plan_create(context, &desc, &plan), IPT_SUCCESS, "");
    expect("a thread", ipt_plan_execute_host_async(plan, matrix, NULL, &event), IPT_ERROR_UNSUPPORTED,
           "IPT_NO_THREADS");
    ipt_plan_destroy(plan);
    desc = shape(3000, 1700);
    desc.host = IPT_HOST_OVERLAPPED;
    check_works(context, &desc);
}
#elif defined(IPT_NO_VIEWS)
static void check_option(ipt_context *context)
{
    ipt_plan_desc desc = shape(30, 17);
    desc.strides[0] = 100;
    expect("strides of a matrix", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, "IPT_NO_VIEWS");
    desc.rows = desc.cols = 0;
    desc.rank = 1;
    desc.shape[0] = 3;
    expect("strides of an array", attempt(context, &desc), IPT_ERROR_UNSUPPORTED, "IPT_NO_VIEWS");
    desc.strides[0] = 0;
    expect("an array", attempt(context, &desc), IPT_SUCCESS, "");
}
#else
static void check_option(ipt_context *context)
{
    ipt_plan_desc desc = shape(300, 170);
    desc.flags = IPT_MEASURE;
    check_works(context, &desc);
}
#endif

#ifndef IPT_NO_BATCH
/* Solves 50 systems of two equations by a ready-made action. Builds without streaming must refuse. */
static void check_batch(ipt_context *context)
{
    ipt_batch_operand operands[3];
    ipt_batch_desc desc;
    ipt_batch *batch = NULL;
    float a[50 * 4], b[50 * 2];
    int info[50], e, wrong = 0;
    void *const memory[3] = {a, b, info};
    ipt_result result;
    memset(operands, 0, sizeof operands);
    memset(&desc, 0, sizeof desc);
    operands[0].name = "A";
    operands[1].name = "B";
    operands[2].name = "info";
    operands[0].type = operands[1].type = "float";
    operands[2].type = "int";
    operands[0].rows = operands[0].cols = operands[1].rows = 2;
    operands[0].access = operands[1].access = IPT_READ_WRITE;
    operands[2].access = IPT_WRITE;
    desc.count = 50;
    desc.operands = operands;
    desc.operand_count = 3;
    desc.ready = IPT_ACTION_POSV;
    for (e = 0; e < 50; ++e) {
        a[4 * e] = a[4 * e + 3] = 4;
        a[4 * e + 1] = a[4 * e + 2] = 0;
        b[2 * e] = b[2 * e + 1] = (float)(4 * e);
        info[e] = 1;
    }
    expect("a batch", ipt_batch_create(context, &desc, &batch), IPT_SUCCESS, "");
    result = ipt_batch_execute_host(batch, memory, NULL, NULL);
#ifdef IPT_NO_HOST_STREAMING
    expect("a batch in host memory", result, IPT_ERROR_UNSUPPORTED, "IPT_NO_HOST_STREAMING");
#else
    expect("a batch in host memory", result, IPT_SUCCESS, "");
    for (e = 0; e < 50; ++e)
        wrong += info[e] || b[2 * e] != (float)e || b[2 * e + 1] != (float)e;
#endif
    if (wrong) {
        fprintf(stderr, "a batch: %d systems are wrong\n", wrong);
        ++failures;
    }
    ipt_batch_destroy(batch);
}
#endif

/* Without kernel text, each program comes from the cache folder that the build without options has filled. */
static void check_missing(ipt_context *context)
{
    const ipt_plan_desc desc = shape(300, 170);
    expect("a program that is not in the cache", attempt(context, &desc), IPT_ERROR_CACHE_MISS, "IPT_NO_KERNEL_SOURCE");
}

int main(int count, char **arguments)
{
    static const size_t shapes[][2] = {{300, 170}, {170, 300}, {24, 20}, {300, 300}, {3000, 1700}, {1, 9}};
    ipt_context *context = NULL;
    size_t i;
    expect("a context", ipt_context_create(NULL, &context), IPT_SUCCESS, "");
    if (failures)
        return 1;
    if (count > 1 && !strcmp(arguments[1], "missing")) {
        check_missing(context);
    } else {
        for (i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
            const ipt_plan_desc desc = shape(shapes[i][0], shapes[i][1]);
            check_works(context, &desc);
        }
        check_option(context);
#ifndef IPT_NO_BATCH
        check_batch(context);
#endif
    }
    ipt_context_destroy(context);
    return failures != 0;
}
