/* Batch plans: an action on each of many small elements, against a plain loop. */
#include "folders.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *base;
    size_t base_bytes, parts;
} types[] = {{"uchar", "uchar", 1, 1}, {"ushort", "ushort", 2, 1},  {"uint", "uint", 4, 1},
             {"ulong", "ulong", 8, 1}, {"uint2", "uint", 4, 2},     {"ushort4", "ushort", 2, 4},
             {"uint4", "uint", 4, 4},  {"uchar16", "uchar", 1, 16}, {"ulong4", "ulong", 8, 4}};

/* A batch, and host copies of its buffers: the input and the expected content, with gaps and guards. */
typedef struct batch_case {
    ipt_batch_desc desc;
    ipt_batch_operand operands[IPT_MAX_OPERANDS];
    char names[IPT_MAX_OPERANDS][8], action[8000];
    size_t kinds[IPT_MAX_OPERANDS]; /* index in types */
    size_t offsets[IPT_MAX_OPERANDS], sizes[IPT_MAX_OPERANDS];
    unsigned char *inputs[IPT_MAX_OPERANDS], *expected[IPT_MAX_OPERANDS];
} batch_case;

static size_t type_bytes(const batch_case *tried, size_t k)
{
    return types[tried->kinds[k]].base_bytes * types[tried->kinds[k]].parts;
}

/* The byte of a component in its buffer, as IPT_LAYOUT_LIST defines it. */
static size_t place(const batch_case *tried, size_t k, size_t e, size_t q)
{
    const ipt_batch_operand *const operand = &tried->operands[k];
    const size_t components = operand->rows * operand->cols, stride = operand->stride;
    size_t at = 0;
    if (operand->layout == IPT_LAYOUT_ELEMENTS)
        at = e * (stride ? stride : components) + q;
    else if (operand->layout == IPT_LAYOUT_PLANES)
        at = q * (stride ? stride : tried->desc.count) + e;
    else
        at = e / operand->width * (stride ? stride : components * operand->width) + q * operand->width +
             e % operand->width;
    return tried->offsets[k] + at * type_bytes(tried, k);
}

static uint64_t value_at(const unsigned char *bytes, size_t size)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case 1:
        memcpy(&one, bytes, 1);
        return one;
    case 2:
        memcpy(&two, bytes, 2);
        return two;
    case 4:
        memcpy(&four, bytes, 4);
        return four;
    default:
        memcpy(&eight, bytes, 8);
        return eight;
    }
}

static void put_value(unsigned char *bytes, size_t size, uint64_t value)
{
    const uint8_t one = (uint8_t)value;
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    memcpy(bytes,
           size == 1   ? (const void *)&one
           : size == 2 ? (const void *)&two
           : size == 4 ? (const void *)&four
                       : (const void *)&value,
           size);
}

static void choose_operand(batch_case *tried, size_t k, size_t most)
{
    ipt_batch_operand *const operand = &tried->operands[k];
    size_t components, alignment;
    tried->kinds[k] = test_random_between(0, TEST_COUNT(types) - 1);
    sprintf(tried->names[k], "%c%zu", "ABxyzMNv"[k], k);
    operand->name = tried->names[k];
    operand->type = types[tried->kinds[k]].name;
    operand->rows = test_random_between(1, most);
    operand->cols = test_random_between(1, 2) == 1 ? 1 : test_random_between(1, most);
    operand->access = (ipt_access)test_random_between(1, 3);
    operand->layout = (ipt_layout)test_random_between(0, 2);
    components = operand->rows * operand->cols;
    operand->width = operand->layout == IPT_LAYOUT_BLOCKS ? test_random_between(1, 40) : 0;
    operand->stride = 0;
    if (test_random_between(0, 1))
        operand->stride =
            test_random_between(0, 20) + (operand->layout == IPT_LAYOUT_ELEMENTS ? components
                                          : operand->layout == IPT_LAYOUT_PLANES ? tried->desc.count
                                                                                 : components * operand->width);
    alignment = type_bytes(tried, k) < 16 ? 16 : type_bytes(tried, k);
    tried->offsets[k] = alignment * test_random_between(0, 5);
}

/* Writes an action. Each written component becomes the sum of its old value (if read), its place, the argument and the
 * read numbers. Then the action adds the last component, which another lane has written, to the first. */
static void write_action(batch_case *tried)
{
    char *at = tried->action;
    at += sprintf(at, "uint lanes_sum = 0;\n");
    for (size_t k = 0; k < tried->desc.operand_count; ++k) {
        const ipt_batch_operand *const w = &tried->operands[k];
        const char *const n = w->name, *const base = types[tried->kinds[k]].base;
        if (w->access == IPT_READ)
            continue;
        at += sprintf(at, "IPT_FOR_LANES(q, 0, %s_ROWS * %s_COLS) {\n", n, n);
        at += sprintf(at, "    const uint i = q / %s_COLS, j = q %% %s_COLS;\n", n, n);
        at += sprintf(at, "    ulong sum = IPT_ELEMENT * 7 + i * 3 + j + a.x * a.y;\n");
        for (size_t r = 0; r < tried->desc.operand_count; ++r)
            if (tried->operands[r].access == IPT_READ && types[tried->kinds[r]].parts == 1)
                at += sprintf(at, "    sum += %s(i %% %s_ROWS, j %% %s_COLS);\n", tried->names[r], tried->names[r],
                              tried->names[r]);
        at += sprintf(at, "    %s(i, j) %s (%s_TYPE)((%s)sum);\n}\n", n, w->access == IPT_WRITE ? "=" : "+=", n, base);
        at += sprintf(at, "IPT_BARRIER();\nif (IPT_LANE == 0)\n    %s(0, 0) += %s(%s_ROWS - 1, %s_COLS - 1);\n", n, n,
                      n, n);
        at += sprintf(at, "IPT_BARRIER();\n");
    }
}

static void expect_action(batch_case *tried, const uint32_t a[2])
{
    const size_t count = tried->desc.operand_count;
    for (size_t e = 0; e < tried->desc.count; ++e)
        for (size_t k = 0; k < count; ++k) {
            const ipt_batch_operand *const w = &tried->operands[k];
            const size_t components = w->rows * w->cols, bytes = types[tried->kinds[k]].base_bytes;
            if (w->access == IPT_READ)
                continue;
            for (size_t q = 0; q < components; ++q) {
                const size_t i = q / w->cols, j = q % w->cols;
                uint64_t sum = e * 7 + i * 3 + j + (uint64_t)(uint32_t)(a[0] * a[1]);
                for (size_t r = 0; r < count; ++r) {
                    const ipt_batch_operand *const read = &tried->operands[r];
                    if (read->access == IPT_READ && types[tried->kinds[r]].parts == 1)
                        sum += value_at(tried->inputs[r] +
                                            place(tried, r, e, i % read->rows * read->cols + j % read->cols),
                                        types[tried->kinds[r]].base_bytes);
                }
                for (size_t part = 0; part < types[tried->kinds[k]].parts; ++part) {
                    const size_t at = place(tried, k, e, q) + part * bytes;
                    put_value(tried->expected[k] + at, bytes,
                              sum + (w->access == IPT_WRITE ? 0 : value_at(tried->inputs[k] + at, bytes)));
                }
            }
            for (size_t part = 0; part < types[tried->kinds[k]].parts; ++part) {
                unsigned char *const to = tried->expected[k] + place(tried, k, e, 0) + part * bytes;
                put_value(to, bytes,
                          value_at(to, bytes) +
                              value_at(tried->expected[k] + place(tried, k, e, components - 1) + part * bytes, bytes));
            }
        }
}

/* Runs a plan on new buffers, and compares all of their bytes. */
static void run_case(batch_case *tried, ipt_batch *batch, const void *argument)
{
    ipt_batch_buffer buffers[IPT_MAX_OPERANDS];
    for (size_t k = 0; k < tried->desc.operand_count; ++k) {
        cl_int error;
        buffers[k].byte_offset = tried->offsets[k];
        buffers[k].buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, tried->sizes[k],
                                           tried->inputs[k], &error);
        assert_int_equal(error, CL_SUCCESS);
    }
    assert_int_equal(ipt_batch_execute(batch, test_queue, buffers, argument, 0, NULL, NULL), IPT_SUCCESS);
    for (size_t k = 0; k < tried->desc.operand_count; ++k) {
        unsigned char *const result = malloc(tried->sizes[k]);
        assert_non_null(result);
        assert_int_equal(
            clEnqueueReadBuffer(test_queue, buffers[k].buffer, CL_TRUE, 0, tried->sizes[k], result, 0, NULL, NULL),
            CL_SUCCESS);
        for (size_t i = 0; i < tried->sizes[k]; ++i)
            if (result[i] != tried->expected[k][i]) {
                print_error("operand %s, byte %zu of %zu is %u, not %u\n%s\n%s", tried->names[k], i, tried->sizes[k],
                            result[i], tried->expected[k][i], ipt_batch_describe(batch), tried->action);
                fail();
            }
        free(result);
        clReleaseMemObject(buffers[k].buffer);
    }
}

static int count_progress(size_t done, size_t total, void *user)
{
    size_t *const counted = user; /* calls, bytes, total */
    assert_in_range(done, counted[1] + 1, total);
    counted[0] += 1;
    counted[1] = done;
    counted[2] = total;
    return 0;
}

/* Executes a plan on host memory, and compares all bytes. Returns the number of chunks; 0: the desc's device memory is
 * too small. */
static size_t run_on_host(batch_case *tried, ipt_batch *batch, const void *argument)
{
    void *memory[IPT_MAX_OPERANDS];
    unsigned char *copies[IPT_MAX_OPERANDS];
    size_t counted[3] = {0};
    const ipt_host_options options = {.progress = count_progress, .user = counted};
    for (size_t k = 0; k < tried->desc.operand_count; ++k) {
        copies[k] = malloc(tried->sizes[k]);
        assert_non_null(copies[k]);
        memcpy(copies[k], tried->inputs[k], tried->sizes[k]);
        memory[k] = copies[k] + tried->offsets[k];
    }
    const ipt_result result = ipt_batch_execute_host(batch, memory, argument, &options);
    if (result == IPT_ERROR_UNSUPPORTED) {
        assert_true(tried->desc.max_device_memory && strstr(ipt_context_error(NULL), "max_device_memory"));
        for (size_t k = 0; k < tried->desc.operand_count; ++k)
            assert_memory_equal(copies[k], tried->inputs[k], tried->sizes[k]);
    } else if (result)
        fail_msg("%s\n%s", ipt_context_error(NULL), ipt_batch_describe(batch));
    for (size_t k = 0; k < tried->desc.operand_count; ++k) {
        for (size_t i = 0; !result && i < tried->sizes[k]; ++i)
            if (copies[k][i] != tried->expected[k][i])
                fail_msg("operand %s, byte %zu of %zu is %u, not %u, by %zu chunks\n%s", tried->names[k], i,
                         tried->sizes[k], copies[k][i], tried->expected[k][i], counted[0], ipt_batch_describe(batch));
        free(copies[k]);
    }
    if (!result)
        assert_int_equal(counted[1], counted[2]);
    return counted[0];
}

static void fill_case(batch_case *tried)
{
    for (size_t k = 0; k < tried->desc.operand_count; ++k) {
        const ipt_batch_operand *const operand = &tried->operands[k];
        size_t last = 0;
        for (size_t q = 0; q<operand->rows * operand->cols; q += operand->rows * operand->cols> 1
                               ? operand->rows * operand->cols - 1
                               : 1)
            for (size_t e = 0; e < tried->desc.count; ++e)
                last = place(tried, k, e, q) > last ? place(tried, k, e, q) : last;
        tried->sizes[k] = last + type_bytes(tried, k) + test_random_between(0, 3);
        tried->inputs[k] = malloc(tried->sizes[k]);
        tried->expected[k] = malloc(tried->sizes[k]);
        assert_true(tried->inputs[k] && tried->expected[k]);
        test_fill(tried->inputs[k], tried->sizes[k]);
        memcpy(tried->expected[k], tried->inputs[k], tried->sizes[k]);
    }
}

static void end_case(batch_case *tried)
{
    for (size_t k = 0; k < tried->desc.operand_count; ++k) {
        free(tried->inputs[k]);
        free(tried->expected[k]);
    }
}

/* The most elements of a batch that the device can allocate, with operands of up to most x most components of 32 bytes,
 * and gaps. */
static size_t most_elements(size_t most)
{
    cl_ulong bytes = 0;
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof bytes, &bytes, NULL),
                     CL_SUCCESS);
    return bytes / (64 * most * most) < 300 ? (size_t)(bytes / (64 * most * most)) : 300;
}

/* Tries `count` random batches of elements with sides up to `most`, in the models that the device can run, in buffers
 * and in host memory. */
static void try_random(size_t count, size_t most)
{
    static const uint32_t a[2] = {3, 1000001};
    const size_t elements = most_elements(most);
    size_t ran = 0, in_chunks = 0;
    for (size_t c = 0; ran < count && c < 8 * count; ++c) {
        batch_case tried = {.desc = {.count = test_random_between(1, elements), .argument_type = "uint2"}};
        tried.desc.operands = tried.operands;
        tried.desc.operand_count = test_random_between(1, 4);
        tried.desc.action = tried.action;
        for (size_t k = 0; k < tried.desc.operand_count; ++k)
            choose_operand(&tried, k, most);
        tried.desc.model = (ipt_model)(c % IPT__MODEL_COUNT);
        if (tried.desc.model == IPT_MODEL_GROUP || tried.desc.model == IPT_MODEL_INTERLEAVED)
            tried.desc.lanes = (size_t)1 << test_random_between(1, 3);
        if (test_random_between(0, 3) == 0)
            tried.desc.group_size = (size_t)16 << test_random_between(0, 2);
        if (test_random_between(0, 7))
            tried.desc.max_device_memory = test_random_between(1, 10) * most * most * 32;
        write_action(&tried);
        ipt_batch *batch = NULL;
        const ipt_result result = ipt_batch_create(test_context, &tried.desc, &batch);
        if (result == IPT_ERROR_UNSUPPORTED) {
            assert_int_not_equal(tried.desc.model, IPT_MODEL_AUTO);
            continue;
        }
        if (result)
            fail_msg("%s\n%s", ipt_context_error(NULL), tried.action);
        fill_case(&tried);
        expect_action(&tried, a);
        run_case(&tried, batch, a);
        in_chunks += run_on_host(&tried, batch, a) > 1;
        end_case(&tried);
        ipt_batch_destroy(batch);
        ++ran;
    }
    assert_int_equal(ran, count);
    assert_in_range(in_chunks, count / 6, count);
}

/* Each word of an argument of the maximum size reaches the action. */
static void batch_long_argument(void **state)
{
    const cl_int argument[8] = {1, -2, 3, -4, 5, -6, 7, 1 << 30};
    const ipt_batch_operand operands[] = {{.name = "x", .type = "int8", .access = IPT_WRITE}};
    const ipt_batch_desc desc = {.count = 3,
                                 .operands = operands,
                                 .operand_count = 1,
                                 .action = "x(0, 0) = a + (int8)((int)IPT_ELEMENT);",
                                 .argument_type = "int8"};
    cl_int results[3][8] = {{0}};
    void *const memory[] = {results};
    ipt_batch *batch = NULL;
    (void)state;
    assert_int_equal(ipt_batch_create(test_context, &desc, &batch), IPT_SUCCESS);
    assert_int_equal(ipt_batch_execute_host(batch, memory, argument, NULL), IPT_SUCCESS);
    for (int e = 0; e < 3; ++e)
        for (int i = 0; i < 8; ++i)
            assert_int_equal(results[e][i], argument[i] + e);
    ipt_batch_destroy(batch);
}

static void batch_random(void **state)
{
    (void)state;
    try_random(48, 5);
}

static void batch_random_larger(void **state)
{
    (void)state;
    try_random(24, 30);
}

static int stop_at_once(size_t done, size_t total, void *user)
{
    (void)done, (void)total, (void)user;
    return 1;
}

/* A batch in host memory, in several chunks: a cancelled, a refused and a complete execution. */
static void batch_host(void **state)
{
    enum { COUNT = 100000 };
    const ipt_batch_operand operand = {.name = "A", .type = "uint", .access = IPT_READ_WRITE};
    ipt_batch_desc desc = {.count = COUNT,
                           .operands = &operand,
                           .operand_count = 1,
                           .action = "A(0, 0) += (uint)IPT_ELEMENT;",
                           .max_device_memory = 12288};
    const ipt_host_options options = {.progress = stop_at_once};
    uint32_t *const numbers = calloc(COUNT, sizeof *numbers);
    void *memory[1] = {numbers}, *none[1] = {NULL};
    ipt_batch *batch;
    size_t changed = 0;
    (void)state;
    assert_non_null(numbers);
    assert_int_equal(ipt_batch_create(test_context, &desc, &batch), IPT_SUCCESS);
    assert_int_equal(ipt_batch_execute_host(batch, memory, NULL, NULL), IPT_SUCCESS);
    for (uint32_t i = 0; i < COUNT; ++i)
        assert_int_equal(numbers[i], i);
    assert_int_equal(ipt_batch_execute_host(batch, memory, NULL, &options), IPT_ERROR_INCOMPLETE);
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_true(numbers[i] == i || numbers[i] == 2 * i);
        changed += i && numbers[i] != i;
    }
    assert_in_range(changed, 1, COUNT / 2);
    assert_int_equal(ipt_batch_execute_host(batch, none, NULL, NULL), IPT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(ipt_batch_execute_host(batch, NULL, NULL, NULL), IPT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(ipt_batch_execute_host(NULL, memory, NULL, NULL), IPT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(ipt_batch_execute_host(batch, memory, "", NULL), IPT_ERROR_INVALID_ARGUMENT);
    ipt_batch_destroy(batch);
    desc.max_device_memory = 3;
    assert_int_equal(ipt_batch_create(test_context, &desc, &batch), IPT_SUCCESS);
    assert_int_equal(ipt_batch_execute_host(batch, memory, NULL, NULL), IPT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(ipt_context_error(NULL), "max_device_memory = 3"));
    ipt_batch_destroy(batch);
    free(numbers);
}

/* A measured plan computes the same results. Measuring does not change operands that are only read. */
static void batch_measured(void **state)
{
    enum { COUNT = 500, SIDE = 9 };
    static float before[COUNT * SIDE * SIDE], after[COUNT * SIDE * SIDE];
    static int info[COUNT];
    const ipt_batch_operand operands[] = {
        {.name = "A", .type = "float", .rows = SIDE, .cols = SIDE, .access = IPT_READ_WRITE},
        {.name = "info", .type = "int", .access = IPT_WRITE}};
    ipt_batch_desc desc = {
        .count = COUNT, .operands = operands, .operand_count = 2, .ready = IPT_ACTION_POTRF, .flags = IPT_MEASURE};
    ipt_batch_buffer buffers[2];
    ipt_batch *batch;
    (void)state;
    for (size_t e = 0; e < COUNT; ++e)
        for (size_t i = 0; i < SIDE * SIDE; ++i)
            before[e * SIDE * SIDE + i] = i % (SIDE + 1) ? 1 : 2 * SIDE;
    test_expect_parts(ipt_batch_create(test_context, &desc, &batch), IPT_ERROR_INVALID_ARGUMENT,
                      "measure_buffers is NULL", "IPT_MEASURE");
    buffers[0] =
        (ipt_batch_buffer){clCreateBuffer(test_cl_context, CL_MEM_COPY_HOST_PTR, sizeof before, before, NULL), 0};
    buffers[1] = (ipt_batch_buffer){clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, sizeof info, NULL, NULL), 0};
    desc.measure_buffers = buffers;
    if (ipt_batch_create(test_context, &desc, &batch))
        fail_msg("%s", ipt_context_error(NULL));
    assert_int_equal(clEnqueueReadBuffer(test_queue, buffers[0].buffer, CL_TRUE, 0, sizeof after, after, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_memory_equal(after, before, sizeof after);
    assert_int_equal(ipt_batch_execute(batch, test_queue, buffers, NULL, 0, NULL, NULL), IPT_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(test_queue, buffers[0].buffer, CL_TRUE, 0, sizeof after, after, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(test_queue, buffers[1].buffer, CL_TRUE, 0, sizeof info, info, 0, NULL, NULL),
                     CL_SUCCESS);
    for (size_t e = 0; e < COUNT; ++e) {
        assert_int_equal(info[e], 0);
        assert_memory_equal(&after[e * SIDE * SIDE], after, SIDE * SIDE * sizeof *after);
    }
    assert_true(after[0] > 4.2426f && after[0] < 4.2427f); /* the root of 18 */
    ipt_batch_destroy(batch);
    for (size_t k = 0; k < TEST_COUNT(buffers); ++k)
        clReleaseMemObject(buffers[k].buffer);
}

/* The wisdom of a context. The caller frees the text. */
static char *wisdom_of(ipt_context *context)
{
    size_t bytes = 0;
    char *text;
    assert_int_equal(ipt_wisdom_export(context, NULL, 0, &bytes), IPT_ERROR_INVALID_ARGUMENT);
    text = malloc(bytes);
    assert_non_null(text);
    assert_int_equal(ipt_wisdom_export(context, text, bytes, NULL), IPT_SUCCESS);
    return text;
}

/* Later contexts use the choice of IPT_MEASURE from wisdom, except for another number of elements. Wisdom has priority
 * over the planner's model. Invalid lines are refused. */
static void batch_wisdom(void **state)
{
    enum { COUNT = 300, SIDE = 8 };
    const ipt_batch_operand operands[] = {{.name = "A", .type = "float", .rows = SIDE, .access = IPT_READ},
                                          {.name = "B", .type = "float", .rows = SIDE, .access = IPT_WRITE}};
    const ipt_batch_desc plain = {.count = COUNT,
                                  .operands = operands,
                                  .operand_count = 2,
                                  .action = "IPT_FOR_LANES(i, 0, A_ROWS) B(i, 0) = 2 * A(i, 0);"};
    const ipt_context_desc shared = {.context = test_cl_context, .device = test_device};
    static const char *const wrong[] = {"model=0 lanes=2 group_size=64",
                                        "model=8 lanes=2 group_size=64",
                                        "model=4 lanes=3 group_size=64",
                                        "model=4 lanes=2 group_size=48",
                                        "model=4 lanes=64 group_size=32",
                                        "model=4 lanes=2 group_size=64 x",
                                        "model=4 lanes=2"};
    ipt_batch_desc desc = plain;
    ipt_batch_buffer buffers[2];
    ipt_context *context;
    ipt_batch *batch;
    char *text, *line, edited[4096];
    (void)state;
    for (size_t k = 0; k < TEST_COUNT(buffers); ++k) {
        const float zero = 0;
        buffers[k] = (ipt_batch_buffer){
            clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, COUNT * SIDE * sizeof(float), NULL, NULL), 0};
        assert_int_equal(clEnqueueFillBuffer(test_queue, buffers[k].buffer, &zero, sizeof zero, 0,
                                             COUNT * SIDE * sizeof(float), 0, NULL, NULL),
                         CL_SUCCESS);
    }
    assert_int_equal(clFinish(test_queue), CL_SUCCESS);
    assert_int_equal(ipt_context_create(&shared, &context), IPT_SUCCESS);
    desc.flags = IPT_MEASURE;
    desc.measure_buffers = buffers;
    if (ipt_batch_create(context, &desc, &batch))
        fail_msg("%s", ipt_context_error(NULL));
    ipt_batch_destroy(batch);
    text = wisdom_of(context);
    line = strstr(text, "model=");
    assert_non_null(strstr(text, "\nbatch action="));
    assert_non_null(strstr(text, " elements=300 "));
    assert_non_null(line);
    ipt_context_destroy(context);

    /* the exported line with another choice */
    assert_int_equal(ipt_context_create(&shared, &context), IPT_SUCCESS);
    snprintf(edited, sizeof edited, "%.*smodel=4 lanes=4 group_size=16\nend 1\n", (int)(line - text), text);
    if (ipt_wisdom_import(context, edited))
        fail_msg("%s", ipt_context_error(NULL));
    char *const again = wisdom_of(context);
    assert_string_equal(again, edited);
    free(again);
    if (ipt_batch_create(context, &plain, &batch))
        fail_msg("%s", ipt_context_error(NULL));
    assert_non_null(strstr(ipt_batch_describe(batch), "model group: 4 work-items to an element, work-groups of 16"));
    assert_int_equal(ipt_batch_execute(batch, test_queue, buffers, NULL, 0, NULL, NULL), IPT_SUCCESS);
    ipt_batch_destroy(batch);
    desc = plain;
    desc.count = COUNT - 1;
    if (ipt_batch_create(context, &desc, &batch))
        fail_msg("%s", ipt_context_error(NULL));
    assert_null(strstr(ipt_batch_describe(batch), "work-groups of 16"));
    ipt_batch_destroy(batch);
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        snprintf(edited, sizeof edited, "%.*s%s\nend 1\n", (int)(line - text), text, wrong[i]);
        test_expect_parts(ipt_wisdom_import(context, edited), IPT_ERROR_INVALID_ARGUMENT, "line 4", "not understood");
    }
    ipt_context_destroy(context);
    free(text);
    assert_int_equal(clFinish(test_queue), CL_SUCCESS);
    for (size_t k = 0; k < TEST_COUNT(buffers); ++k)
        clReleaseMemObject(buffers[k].buffer);
}

/* All lanes receive the sum over the lanes, in each model. */
static void batch_sums(void **state)
{
    enum { COUNT = 77, ROWS = 37 };
    static const char action[] = "uint sum = 0;\n"
                                 "IPT_FOR_LANES(i, 0, x_ROWS)\n"
                                 "    sum += x(i, 0) * y(i, 0);\n"
                                 "sum = IPT_SUM(x_TYPE, sum);\n"
                                 "IPT_FOR_LANES(i, 0, r_ROWS)\n"
                                 "    r(i, 0) = sum + i;\n";
    const ipt_batch_operand operands[] = {
        {.name = "x", .type = "uint", .rows = ROWS, .access = IPT_READ},
        {.name = "y", .type = "uint", .rows = ROWS, .access = IPT_READ, .layout = IPT_LAYOUT_PLANES},
        {.name = "r", .type = "uint", .rows = 5, .access = IPT_WRITE}};
    static uint32_t x[COUNT * ROWS], y[COUNT * ROWS], r[COUNT * 5];
    ipt_batch_buffer buffers[3];
    (void)state;
    test_fill((unsigned char *)x, sizeof x);
    test_fill((unsigned char *)y, sizeof y);
    buffers[0] = (ipt_batch_buffer){clCreateBuffer(test_cl_context, CL_MEM_COPY_HOST_PTR, sizeof x, x, NULL), 0};
    buffers[1] = (ipt_batch_buffer){clCreateBuffer(test_cl_context, CL_MEM_COPY_HOST_PTR, sizeof y, y, NULL), 0};
    buffers[2] = (ipt_batch_buffer){clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, sizeof r, NULL, NULL), 0};
    for (int model = 0; model < IPT__MODEL_COUNT; ++model) {
        const ipt_batch_desc desc = {.count = COUNT,
                                     .operands = operands,
                                     .operand_count = TEST_COUNT(operands),
                                     .action = action,
                                     .model = (ipt_model)model};
        ipt_batch *batch;
        const ipt_result result = ipt_batch_create(test_context, &desc, &batch);
        if (result == IPT_ERROR_UNSUPPORTED && model)
            continue;
        if (result)
            fail_msg("%s", ipt_context_error(NULL));
        memset(r, 0, sizeof r);
        assert_int_equal(ipt_batch_execute(batch, test_queue, buffers, NULL, 0, NULL, NULL), IPT_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(test_queue, buffers[2].buffer, CL_TRUE, 0, sizeof r, r, 0, NULL, NULL),
                         CL_SUCCESS);
        for (size_t e = 0; e < COUNT; ++e) {
            uint32_t sum = 0;
            for (size_t i = 0; i < ROWS; ++i)
                sum += x[e * ROWS + i] * y[i * COUNT + e];
            for (uint32_t i = 0; i < 5; ++i)
                if (r[e * 5 + i] != sum + i)
                    fail_msg("element %zu: %u, not %u\n%s", e, r[e * 5 + i], sum + i, ipt_batch_describe(batch));
        }
        ipt_batch_destroy(batch);
    }
    for (size_t k = 0; k < TEST_COUNT(buffers); ++k)
        clReleaseMemObject(buffers[k].buffer);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Bad input */
/* ------------------------------------------------------------------------------------------------------------------ */

static void batch_bad_descs(void **state)
{
    const ipt_batch_operand good = {.name = "A", .type = "uint", .rows = 3, .cols = 3, .access = IPT_READ_WRITE};
    const ipt_batch_desc plain = {.count = 10, .operands = &good, .operand_count = 1, .action = "A(0, 0) = 1;"};
    ipt_batch *batch;
    (void)state;
#define EXPECT_DESC(expected, part, other, ...)                                                                        \
    do {                                                                                                               \
        ipt_batch_desc desc = plain;                                                                                   \
        __VA_ARGS__;                                                                                                   \
        batch = (ipt_batch *)&desc;                                                                                    \
        test_expect_parts(ipt_batch_create(test_context, &desc, &batch), expected, part, other);                       \
        assert_null(batch);                                                                                            \
    } while (0)
#define EXPECT_OPERAND(part, other, ...)                                                                               \
    do {                                                                                                               \
        ipt_batch_operand operand = good;                                                                              \
        __VA_ARGS__;                                                                                                   \
        EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, part, other, desc.operands = &operand);                                \
    } while (0)
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "count is 0", NULL, desc.count = 0);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "action is NULL", NULL, desc.action = NULL);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "operands is NULL", NULL, desc.operands = NULL);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "operand_count is 9", "1 to 8", desc.operand_count = 9);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "model is 99", NULL, desc.model = (ipt_model)99);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "flags is 4", "IPT_MEASURE", desc.flags = IPT_NO_COOPERATIVE);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "measure_buffers is NULL", NULL, desc.flags = IPT_MEASURE);
    EXPECT_DESC(IPT_ERROR_UNSUPPORTED, "model group is not possible", "neither IPT_FOR_LANES nor IPT_LANE",
                desc.model = IPT_MODEL_GROUP);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "group_size is 48", "power of two", desc.group_size = 48);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "lanes is 4", "none", desc.lanes = 4);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "lanes is 3", NULL, desc.lanes = 3; desc.model = IPT_MODEL_GROUP);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "group_size is 2", "lanes = 4", desc.lanes = 4; desc.group_size = 2;
                desc.model = IPT_MODEL_GROUP);
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "argument_type is \"double8\"", "at most 32 bytes",
                desc.argument_type = "double8");
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "action has a comment without its end", NULL,
                desc.action = "A(0, 0) = 1; /* open");
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "action has a comment without its end", NULL,
                desc.action = "A(0, 0) = 1; // closed\n /\\\n* open");
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "action has a backslash at its end", NULL,
                desc.action = "A(0, 0) = 1; // it takes what follows \\");
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "take for a backslash", NULL, desc.action = "A(0, 0) = 1; // ?\?/");
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "action has '}' before its '{'", NULL,
                desc.action = "A(0, 0) = 1; } void other() {");
    EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "functions has a comment without its end", NULL,
                desc.functions = "/* open");
    EXPECT_DESC(IPT_ERROR_BUILD, "does not compile", NULL, desc.action = "if (1) { A(0, 0) = 1;");
    EXPECT_OPERAND("operands[0].name is NULL", NULL, operand.name = NULL);
    EXPECT_OPERAND("operands[0].type is NULL", NULL, operand.type = NULL);
    EXPECT_OPERAND("\"2x\"", "identifier", operand.name = "2x");
    EXPECT_OPERAND("\"float3\"", "vector of 2, 4, 8", operand.type = "float3");
    EXPECT_OPERAND("access of operand A is 0", NULL, operand.access = (ipt_access)0);
    EXPECT_OPERAND("layout of operand A is 7", NULL, operand.layout = (ipt_layout)7);
    EXPECT_OPERAND("width of operand A is 0", "needs one", operand.layout = IPT_LAYOUT_BLOCKS);
    EXPECT_OPERAND("width of operand A is 4", "has no one", operand.width = 4);
    EXPECT_OPERAND("stride of operand A is 8", "at least 9", operand.stride = 8);
    EXPECT_OPERAND("stride of operand A is 9", "at least 10", operand.stride = 9; operand.layout = IPT_LAYOUT_PLANES);
    EXPECT_OPERAND("operand A has", "too many", operand.rows = (size_t)-1);
    EXPECT_OPERAND("operand A has", "too many", operand.stride = (size_t)-1 / 2);
    {
        const ipt_batch_operand twice[] = {good, good};
        EXPECT_DESC(IPT_ERROR_INVALID_ARGUMENT, "operands 0 and 1 are both named A", NULL, desc.operands = twice;
                    desc.operand_count = 2);
    }
    {
        ipt_batch_operand large = good;
        large.type = "float16"; /* 64 MB: more than any local memory */
        large.rows = large.cols = 1000;
        EXPECT_DESC(IPT_ERROR_UNSUPPORTED, "model item", "local memory", desc.operands = &large;
                    desc.model = IPT_MODEL_ITEM);
        EXPECT_DESC(IPT_ERROR_UNSUPPORTED, "model registers", NULL, desc.operands = &large;
                    desc.model = IPT_MODEL_REGISTERS);
    }
    { /* braces from macros, which ipt does not see, and braces within comments and literals */
        ipt_batch_desc desc = plain;
        desc.functions = "#define OPEN {\n#define CLOSE }\n#define LAST(x) /* \\\n } */ \\\n x\n";
        desc.action = "if (1) OPEN A(0, 0) = LAST('}'); CLOSE // it's }\n /* } */ /* /* */ A(0, 1) = '\"' - '\\\\'; //";
        test_expect_parts(ipt_batch_create(test_context, &desc, &batch), IPT_SUCCESS, NULL, NULL);
        ipt_batch_destroy(batch);
        desc.functions = "/* } */ uint of(uint x) { return x + '}'; } // } it's\n";
        desc.action = "A(0, 0) = of(\n1); ";
        test_expect_parts(ipt_batch_create(test_context, &desc, &batch), IPT_SUCCESS, NULL, NULL);
        ipt_batch_destroy(batch);
    }
    test_expect_error(ipt_batch_create(NULL, &plain, &batch), IPT_ERROR_INVALID_ARGUMENT, "context", NULL);
    test_expect_error(ipt_batch_create(test_context, NULL, &batch), IPT_ERROR_INVALID_ARGUMENT, "desc", NULL);
    test_expect_error(ipt_batch_create(test_context, &plain, NULL), IPT_ERROR_INVALID_ARGUMENT, "batch", NULL);
    assert_string_equal(ipt_batch_describe(NULL), "");
    assert_null(ipt_batch_source(NULL));
    ipt_batch_destroy(NULL);
    assert_string_equal(ipt_model_string((ipt_model)99), "unknown");
    assert_string_equal(ipt_layout_string(IPT_LAYOUT_PLANES), "planes");
}

/* The compiler's log has line numbers of the user's text. NVIDIA's compiler numbers the lines of the whole program, so
 * the message says where the action begins. */
static void expect_line(const char *text, size_t line)
{
    const char *const message = ipt_context_error(NULL), *const begin = strstr(message, "its line 1 is line ");
    char named[40], of_nvrtc[40], counted[40];
    assert_non_null(begin);
    snprintf(named, sizeof named, "%s:%zu", text, line);
    snprintf(of_nvrtc, sizeof of_nvrtc, "%s(%zu)", text, line);
    snprintf(counted, sizeof counted, ":%zu:", (size_t)strtoul(begin + 19, NULL, 10) + line - 1);
    if (!strstr(message, named) && !strstr(message, of_nvrtc) && !strstr(message, counted))
        fail_msg("neither \"%s\" nor \"%s\" in: %s", named, counted, message);
}

static void batch_build_log(void **state)
{
    const ipt_batch_operand operand = {.name = "A", .type = "uint", .rows = 3, .access = IPT_READ};
    ipt_batch_desc desc = {.count = 10,
                           .operands = &operand,
                           .operand_count = 1,
                           .action = "uint x = 0;\n"
                                     "\n"
                                     "x += misspelt;\n"};
    ipt_batch *batch;
    (void)state;
    test_expect_parts(ipt_batch_create(test_context, &desc, &batch), IPT_ERROR_BUILD, "misspelt", "its line 1 is line");
    expect_line("action", 3);
    desc.action = "\nA(0, 0) = 1;\n"; /* an operand that is only read */
    test_expect_parts(ipt_batch_create(test_context, &desc, &batch), IPT_ERROR_BUILD, "does not compile", NULL);
    expect_line("action", 2);
    desc.action = ";";
    desc.functions = "\n\n\nuint f(nothing x);\n";
    test_expect_parts(ipt_batch_create(test_context, &desc, &batch), IPT_ERROR_BUILD, "nothing", NULL);
}

static void batch_bad_executions(void **state)
{
    const ipt_batch_operand operands[] = {{.name = "A", .type = "uint", .rows = 4, .access = IPT_READ},
                                          {.name = "B", .type = "ushort", .rows = 3, .access = IPT_WRITE}};
    const ipt_batch_desc desc = {.count = 10, .operands = operands, .operand_count = 2, .action = "B(0, 0) = A(0, 0);"};
    const cl_mem large = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, 1024, NULL, NULL),
                 exact = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, 160, NULL, NULL),
                 fixed = clCreateBuffer(test_cl_context, CL_MEM_READ_ONLY, 1024, NULL, NULL);
    ipt_batch *batch;
    cl_event event = (cl_event)&batch;
    (void)state;
    assert_int_equal(ipt_batch_create(test_context, &desc, &batch), IPT_SUCCESS);
#define EXPECT_RUN(part, other, ...)                                                                                   \
    do {                                                                                                               \
        ipt_batch_buffer buffers[2] = {{exact, 0}, {large, 0}};                                                        \
        const void *argument = NULL;                                                                                   \
        __VA_ARGS__;                                                                                                   \
        test_expect_parts(ipt_batch_execute(batch, test_queue, buffers, argument, 0, NULL, &event),                    \
                          IPT_ERROR_INVALID_ARGUMENT, part, other);                                                    \
        assert_null(event);                                                                                            \
    } while (0)
    EXPECT_RUN("A is NULL", NULL, buffers[0].buffer = NULL);
    EXPECT_RUN("A has 160 bytes", "byte_offset = 16", buffers[0].byte_offset = 16);
    EXPECT_RUN("byte_offset = 8", "multiple of 16", buffers[0] = (ipt_batch_buffer){large, 8});
    EXPECT_RUN("byte_offset = 3", "multiple of 2", buffers[1].byte_offset = 3);
    EXPECT_RUN("B is a CL_MEM_READ_ONLY buffer", NULL, buffers[1].buffer = fixed);
    EXPECT_RUN("operands A and B overlap", NULL, buffers[0].buffer = large; buffers[1].byte_offset = 158);
    EXPECT_RUN("argument is not NULL", NULL, argument = &batch);
    test_expect_error(ipt_batch_execute(batch, test_queue, NULL, NULL, 0, NULL, NULL), IPT_ERROR_INVALID_ARGUMENT,
                      "buffers", NULL);
    test_expect_error(ipt_batch_execute(NULL, test_queue, NULL, NULL, 0, NULL, NULL), IPT_ERROR_INVALID_ARGUMENT,
                      "batch", NULL);
    {
        const ipt_batch_buffer buffers[2] = {{large, 0}, {large, 160}}; /* neighbours do not overlap */
        test_expect_error(ipt_batch_execute(batch, NULL, buffers, NULL, 0, NULL, NULL), IPT_ERROR_INVALID_ARGUMENT,
                          "queue", NULL);
        assert_int_equal(ipt_batch_execute(batch, test_queue, buffers, NULL, 0, NULL, &event), IPT_SUCCESS);
        assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
        clReleaseEvent(event);
    }
    ipt_batch_destroy(batch);
    clReleaseMemObject(large);
    clReleaseMemObject(exact);
    clReleaseMemObject(fixed);
}

/* A later context loads the program from the cache. A different action or size needs a different program. */
static void batch_cached(void **state)
{
    const ipt_batch_operand operand = {.name = "A", .type = "uint", .rows = 3, .access = IPT_READ_WRITE};
    ipt_batch_desc desc = {.count = 10, .operands = &operand, .operand_count = 1, .action = "A(0, 0) += 1;"};
    ipt_context_desc other = {.context = test_cl_context, .device = test_device};
    char folder[512];
    ipt_context *context;
    ipt_batch *batch;
    (void)state;
    assert_int_equal(folder_make(folder, sizeof folder, "batch"), 0);
    other.cache_dir = folder;
    for (int again = 0; again < 2; ++again) {
        assert_int_equal(ipt_context_create(&other, &context), IPT_SUCCESS);
        desc.flags = again ? IPT_CACHE_ONLY : 0;
        if (ipt_batch_create(context, &desc, &batch))
            fail_msg("%s", ipt_context_error(NULL));
        ipt_batch_destroy(batch);
        if (again) {
            desc.action = "A(0, 0) += 2;";
            assert_int_equal(ipt_batch_create(context, &desc, &batch), IPT_ERROR_CACHE_MISS);
        }
        ipt_context_destroy(context);
    }
    assert_int_equal(folder_remove(folder), 0);
}

const struct CMUnitTest test_batch[] = {
    TEST_CASE(batch_long_argument), TEST_CASE(batch_random),    TEST_CASE(batch_random_larger),
    TEST_CASE(batch_host),          TEST_CASE(batch_measured),  TEST_CASE(batch_sums),
    TEST_CASE(batch_bad_descs),     TEST_CASE(batch_build_log), TEST_CASE(batch_bad_executions),
    TEST_CASE(batch_cached),        TEST_CASE(batch_wisdom),
};
const size_t test_batch_count = TEST_COUNT(test_batch);
