/* Many small matrices, as in Ha et al. 2013: the speed of each way to distribute a batch to work-items and work-groups.
 * Every result is verified element by element; a wrong one ends the program. Writes a CSV to standard output. Usage:
 *   batches transpositions MEGABYTES ROWSxCOLS ... | groups MEGABYTES | copies MEGABYTES
 * MEGABYTES is the size of the batch, or of the memory of the copies. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* this file uses a part of plans.h */
#endif
#include "plans.h"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#include "batches_kernels.h"

enum {
    ROUNDS = 5, /* the median counts */
    MOST_EXECUTIONS = 500,
    LOOP_MATRICES = 1000, /* most matrices for the baselines with one launch per matrix */
    QUEUES = 32,
    CHECK_GROUP = 64,
    COPY_MATRICES = 256, /* Ha et al. 2013, table II */
    COPY_SIDE = 128,
    COPY_GROUP = 128,
    FIXED_GROUP = 64 /* Ha et al. 2013, table I: its baselines */
};

#define ROUND_SECONDS 0.01
#define GARBAGE 0xffffffffu /* a NaN, which no result contains */

/* Enqueues one execution. turn: its number in the round. */
typedef void (*work)(void *state, size_t turn);

static size_t batch_bytes;
static cl_mem other; /* as large as the batch's buffer: target of copies */
static cl_mem errors;
static cl_kernel kernel_fill, kernel_fill_small, kernel_check;

/* ------------------------------------------------------------------------------------------------------------------ */
/* OpenCL */
/* ------------------------------------------------------------------------------------------------------------------ */

static cl_program build(const char *text, const char *options)
{
    const cl_device_id device = ipt_context_cl_device(context);
    char log[8192] = "";
    cl_int error;
    const cl_program program = clCreateProgramWithSource(ipt_context_cl_context(context), 1, &text, NULL, &error);
    need(!error, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, options, NULL, NULL)) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "the options \"%s\" do not build:\n%s\n", options, log);
        exit(1);
    }
    return program;
}

/* Builds a program and returns its kernel of this name. The kernel retains the program. */
static cl_kernel kernel_of(const char *text, const char *options, const char *name)
{
    const cl_program program = build(text, options);
    cl_int error;
    const cl_kernel kernel = clCreateKernel(program, name, &error);
    need(!error, "clCreateKernel");
    clReleaseProgram(program);
    return kernel;
}

static cl_mem memory_of(size_t bytes)
{
    cl_int error;
    const cl_mem memory = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, bytes, NULL, &error);
    need(!error, "clCreateBuffer");
    return memory;
}

static void set_number(cl_kernel kernel, cl_uint index, size_t value)
{
    const cl_uint number = (cl_uint)value;
    need(!clSetKernelArg(kernel, index, sizeof number, &number), "clSetKernelArg");
}

static void set_memory(cl_kernel kernel, cl_uint index, cl_mem memory)
{
    need(!clSetKernelArg(kernel, index, sizeof memory, &memory), "clSetKernelArg");
}

static void launch(cl_kernel kernel, size_t groups, size_t group)
{
    const size_t items = groups * group;
    need(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

static void fill_garbage(cl_mem memory, size_t bytes)
{
    const cl_uint garbage = GARBAGE;
    need(!clEnqueueFillBuffer(queue, memory, &garbage, sizeof garbage, 0, bytes, 0, NULL, NULL), "clEnqueueFillBuffer");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Contents and proofs */
/* ------------------------------------------------------------------------------------------------------------------ */

static void fill(cl_kernel kernel, cl_mem memory, size_t first, size_t words)
{
    set_memory(kernel, 0, memory);
    set_number(kernel, 1, first);
    set_number(kernel, 2, words);
    launch(kernel, (words + CHECK_GROUP - 1) / CHECK_GROUP, CHECK_GROUP);
}

/* Counts the misplaced words after the transposition of the first `moved` matrices. */
static cl_uint count_misplaced(cl_mem memory, size_t words, size_t rows, size_t cols, size_t moved)
{
    const cl_uint none = 0;
    cl_uint count = 1;
    need(!clEnqueueFillBuffer(queue, errors, &none, sizeof none, 0, sizeof none, 0, NULL, NULL), "clEnqueueFillBuffer");
    set_memory(kernel_check, 0, memory);
    set_number(kernel_check, 1, 0);
    set_number(kernel_check, 2, words);
    set_number(kernel_check, 3, rows);
    set_number(kernel_check, 4, cols);
    set_number(kernel_check, 5, moved);
    set_memory(kernel_check, 6, errors);
    launch(kernel_check, (words + CHECK_GROUP - 1) / CHECK_GROUP, CHECK_GROUP);
    need(!clEnqueueReadBuffer(queue, errors, CL_TRUE, 0, sizeof count, &count, 0, NULL, NULL), "clEnqueueReadBuffer");
    return count;
}

static void prove(const char *what, cl_mem memory, size_t words, size_t rows, size_t cols, size_t moved)
{
    const cl_uint wrong = count_misplaced(memory, words, rows, cols, moved);
    if (!wrong)
        return;
    fprintf(stderr, "%s, %zu x %zu: %u of %zu elements are wrong\n", what, rows, cols, wrong, words);
    exit(1);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Times */
/* ------------------------------------------------------------------------------------------------------------------ */

static double time_round(work work, void *state, size_t executions)
{
    double begin;
    size_t turn;
    need(!clFinish(queue), "clFinish");
    begin = now();
    for (turn = 0; turn < executions; ++turn)
        work(state, turn);
    need(!clFinish(queue), "clFinish");
    return (now() - begin) / (double)executions;
}

/* Seconds of an execution, among several back to back: the median of the rounds. Slow work gets fewer rounds. */
static double seconds_of(work work, void *state)
{
    const double once = (time_round(work, state, 1), time_round(work, state, 1));
    const double fitting = ROUND_SECONDS / (once > 1e-9 ? once : 1e-9);
    const size_t executions = fitting < 1 ? 1 : fitting > MOST_EXECUTIONS ? MOST_EXECUTIONS : (size_t)fitting;
    const size_t rounds = once > 10 * ROUND_SECONDS ? 1 : once > 2 * ROUND_SECONDS ? 3 : ROUNDS;
    double times[ROUNDS];
    size_t round;
    for (round = 0; round < rounds; ++round)
        times[round] = time_round(work, state, executions);
    return median(times, rounds);
}

/* Gigabytes per second. bytes: read and written together. */
static double speed(double bytes, double seconds)
{
    return bytes / seconds * 1e-9;
}

static void copy_once(void *bytes, size_t turn)
{
    (void)turn;
    need(!clEnqueueCopyBuffer(queue, buffer, other, 0, 0, *(const size_t *)bytes, 0, NULL, NULL),
         "clEnqueueCopyBuffer");
}

static double copy_speed(size_t bytes)
{
    return speed(2.0 * (double)bytes, seconds_of(copy_once, &bytes));
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* transpositions: ipt's choice, the paper's models, and a launch for each matrix */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The names of the kernels for a batch. Some versions of ipt do not have all of them. */
static const char *const model_names[] = {
    "bs-item",      "bs-interleaved-simd", "bs-interleaved-16", "bs-interleaved-8",
    "bs-virtual-8", "bs-virtual-16",       "bs-simd",           "bs-group"};
enum { MODELS = sizeof model_names / sizeof *model_names };

typedef struct shape {
    size_t rows, cols, batch, words; /* words of the batch */
    double copy;                     /* speed of a copy */
} shape;

/* The variant of a name; AUTO if unknown. */
static ipt_variant variant_of(const char *name)
{
    int variant;
    for (variant = 1; strcmp(ipt_variant_string((ipt_variant)variant), "unknown") != 0; ++variant)
        if (!strcmp(ipt_variant_string((ipt_variant)variant), name))
            return (ipt_variant)variant;
    return IPT_VARIANT_AUTO;
}

/* Creates a plan; NULL if the kernel does not support the device or the shape. Sequence 2.1 with panels as long as the
 * matrix has one stage of single elements, for this kernel. */
static ipt_plan *plan_of(const shape *shape, size_t batch, ipt_variant variant)
{
    ipt_plan_desc desc = {0};
    ipt_plan *plan = NULL;
    ipt_result result;
    desc.rows = shape->rows;
    desc.cols = shape->cols;
    desc.elem_size = sizeof(float);
    desc.batch = batch;
    desc.variant_010 = variant;
    if (variant != IPT_VARIANT_AUTO) {
        desc.sequence = IPT_SEQUENCE_2_1;
        desc.tile_m = shape->rows;
    }
    result = ipt_plan_create(context, &desc, &plan);
    if (result == IPT_ERROR_UNSUPPORTED && variant != IPT_VARIANT_AUTO) {
        fprintf(stderr, "%s, %zu x %zu: left out: %s\n", ipt_variant_string(variant), shape->rows, shape->cols,
                ipt_context_error(NULL));
        return NULL;
    }
    need(!result, "ipt_plan_create");
    return plan;
}

static void execute_plan(void *state, size_t turn)
{
    (void)turn;
    need(!ipt_plan_execute((ipt_plan *)state, queue, buffer, 0, 0, NULL, NULL), "ipt_plan_execute");
}

/* Checks one execution on fresh data. */
static void prove_plan(const char *name, ipt_plan *plan, const shape *shape)
{
    fill(kernel_fill, buffer, 0, shape->words);
    execute_plan(plan, 0);
    prove(name, buffer, shape->words, shape->rows, shape->cols, shape->batch);
}

/* Prints a line. seconds: the time for `matrices` matrices. */
static void print_transposition(const char *name, const shape *shape, size_t matrices, double seconds)
{
    const double gbps = speed(2.0 * sizeof(float) * (double)(shape->rows * shape->cols * matrices), seconds);
    printf("%s,%zu,%zu,%zu,%zu,%.9f,%.3f,%.3f,%.5f,%zu\n", name, shape->rows, shape->cols, shape->batch, matrices,
           seconds, gbps, shape->copy, gbps / shape->copy, shape->words);
    fflush(stdout);
}

static void measure_model(const char *name, ipt_variant variant, const shape *shape)
{
    ipt_plan *const plan = plan_of(shape, shape->batch, variant);
    double seconds;
    if (!plan)
        return;
    prove_plan(name, plan, shape);
    seconds = seconds_of(execute_plan, plan);
    prove_plan(name, plan, shape);
    print_transposition(name, shape, shape->batch, seconds);
    ipt_plan_destroy(plan);
}

/* Seconds for one launch per matrix, on several queues in turn. Each queue has its own plan, because executions of one
 * plan wait for one another. */
static double loop_seconds(ipt_plan **plans, cl_command_queue *queues, size_t lanes, const shape *shape,
                           size_t matrices)
{
    const size_t bytes = shape->rows * shape->cols * sizeof(float);
    double begin;
    size_t i;
    need(!clFinish(queue), "clFinish");
    begin = now();
    for (i = 0; i < matrices; ++i)
        need(!ipt_plan_execute(plans[i % lanes], queues[i % lanes], buffer, i * bytes, 0, NULL, NULL),
             "ipt_plan_execute");
    for (i = 0; i < lanes; ++i)
        need(!clFinish(queues[i]), "clFinish");
    return now() - begin;
}

/* Measures the baseline. Matrices beyond the launched ones must stay unchanged. */
static void measure_loop(const char *name, size_t lanes, const shape *shape)
{
    const size_t matrices = shape->batch < LOOP_MATRICES ? shape->batch : LOOP_MATRICES;
    ipt_plan *plans[QUEUES];
    cl_command_queue queues[QUEUES];
    double times[ROUNDS];
    cl_int error;
    size_t i;
    for (i = 0; i < lanes; ++i) {
        plans[i] = plan_of(shape, 1, IPT_VARIANT_AUTO);
        queues[i] = clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context), 0, &error);
        need(!error, "clCreateCommandQueue");
    }
    for (i = 0; i < ROUNDS; ++i) {
        fill(kernel_fill, buffer, 0, shape->words);
        times[i] = loop_seconds(plans, queues, lanes, shape, matrices);
        prove(name, buffer, shape->words, shape->rows, shape->cols, matrices);
    }
    print_transposition(name, shape, matrices, median(times, ROUNDS));
    for (i = 0; i < lanes; ++i) {
        ipt_plan_destroy(plans[i]);
        clReleaseCommandQueue(queues[i]);
    }
}

static void measure_shape(shape *shape)
{
    size_t i;
    shape->batch = batch_bytes / (shape->rows * shape->cols * sizeof(float));
    need(shape->batch > 0, "a matrix larger than the batch");
    shape->words = shape->batch * shape->rows * shape->cols;
    fill(kernel_fill, buffer, 0, shape->words);
    need(shape->rows == 1 || shape->cols == 1 ||
             count_misplaced(buffer, shape->words, shape->rows, shape->cols, shape->batch) > 0,
         "the check, which sees nothing wrong before anything has been moved,");
    shape->copy = copy_speed(shape->words * sizeof(float));
    measure_model("ipt", IPT_VARIANT_AUTO, shape);
    for (i = 0; i < MODELS; ++i)
        if (variant_of(model_names[i]) != IPT_VARIANT_AUTO)
            measure_model(model_names[i], variant_of(model_names[i]), shape);
    measure_loop("loop", 1, shape);
    measure_loop("queues", QUEUES, shape);
}

static void measure_transpositions(int count, char **shapes)
{
    int i;
    for (i = 0; i < MODELS; ++i)
        if (variant_of(model_names[i]) == IPT_VARIANT_AUTO)
            fprintf(stderr, "%s: not there\n", model_names[i]);
    printf("model,rows,cols,batch,matrices,seconds,gbps,copy_gbps,ratio,verified\n");
    for (i = 0; i < count; ++i) {
        size_t rows = 0, cols = 0;
        shape shape = {0, 0, 0, 0, 0};
        need(sscanf(shapes[i], "%zux%zu", &rows, &cols) == 2 && rows && cols, "reading ROWSxCOLS");
        shape.rows = rows;
        shape.cols = cols;
        measure_shape(&shape);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Work-groups on a compute unit, which OpenCL does not report */
/* ------------------------------------------------------------------------------------------------------------------ */

/* For each compute capability: work-items, work-groups and local memory of a multiprocessor, and the overhead of local
 * memory per work-group. */
static const struct unit {
    cl_uint version;
    size_t items, groups, local_bytes, reserved_bytes;
} units[] = {{50, 2048, 32, 64 << 10, 0},     {52, 2048, 32, 96 << 10, 0},      {60, 2048, 32, 64 << 10, 0},
             {61, 2048, 32, 96 << 10, 0},     {70, 2048, 32, 96 << 10, 0},      {75, 1024, 16, 64 << 10, 0},
             {80, 2048, 32, 164 << 10, 1024}, {86, 1536, 16, 100 << 10, 1024},  {89, 1536, 24, 100 << 10, 1024},
             {90, 2048, 32, 228 << 10, 1024}, {100, 2048, 32, 228 << 10, 1024}, {120, 1536, 24, 100 << 10, 1024}};

/* *reserved: the overhead of local memory per work-group, in bytes. */
static ipt_heuristic_device describe_device(size_t *reserved)
{
    const cl_device_info capability_major = 0x4000, capability_minor = 0x4001; /* cl_nv_device_attribute_query */
    const cl_device_id id = ipt_context_cl_device(context);
    ipt_heuristic_device device = {0, 0, 0, 0, 0};
    cl_ulong local = 0;
    cl_uint major = 0, minor = 0;
    size_t i;
    clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof device.max_group, &device.max_group, NULL);
    device.local_bytes = (size_t)local;
    device.simd_width = 32;
    *reserved = 0;
    if (clGetDeviceInfo(id, capability_major, sizeof major, &major, NULL) ||
        clGetDeviceInfo(id, capability_minor, sizeof minor, &minor, NULL))
        return device;
    for (i = 0; i < sizeof units / sizeof *units; ++i)
        if (units[i].version == 10 * major + minor) {
            device.unit_items = units[i].items;
            device.unit_groups = units[i].groups;
            device.local_bytes = units[i].local_bytes;
            *reserved = units[i].reserved_bytes;
        }
    return device;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* products: y = A x of every matrix, by one work-group each */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct products {
    size_t side, batch;
    cl_mem vectors, results;
    float *expected, *got; /* on the host */
} products;

typedef struct product_work {
    cl_kernel kernel;
    size_t groups, group;
} product_work;

/* The value that kernel_fill_small writes to place k. */
static float small_number(cl_uint k)
{
    k ^= k >> 16;
    k *= 0x7feb352du;
    k ^= k >> 15;
    k *= 0x846ca68bu;
    return (float)((k ^ k >> 16) % 17) - 8;
}

static void execute_product(void *state, size_t turn)
{
    const product_work *const product = (const product_work *)state;
    (void)turn;
    launch(product->kernel, product->groups, product->group);
}

static size_t vector_bytes(const products *of)
{
    return of->batch * of->side * sizeof(float);
}

/* The least bytes of a product: A, x and y once. */
static double product_bytes(const products *of)
{
    return (double)sizeof(float) * (double)of->batch * (double)of->side * (double)(of->side + 2);
}

/* Where the vectors begin: after the matrices. */
static size_t vectors_first(const products *of)
{
    return of->batch * of->side * of->side;
}

static void fill_products(const products *of)
{
    fill(kernel_fill_small, buffer, 0, vectors_first(of));
    fill(kernel_fill_small, of->vectors, vectors_first(of), of->batch * of->side);
}

static void expect_products(const products *of)
{
    const size_t side = of->side;
    float vector[1024];
    size_t matrix, row, k;
    for (matrix = 0; matrix < of->batch; ++matrix) {
        for (k = 0; k < side; ++k)
            vector[k] = small_number((cl_uint)(vectors_first(of) + matrix * side + k));
        for (row = 0; row < side; ++row) {
            float sum = 0;
            for (k = 0; k < side; ++k)
                sum += small_number((cl_uint)((matrix * side + row) * side + k)) * vector[k];
            of->expected[matrix * side + row] = sum;
        }
    }
}

static void prove_products(const products *of, size_t group)
{
    size_t i, wrong = 0;
    need(!clEnqueueReadBuffer(queue, of->results, CL_TRUE, 0, vector_bytes(of), of->got, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    for (i = 0; i < of->batch * of->side; ++i)
        wrong += !(of->expected[i] == of->got[i]);
    if (!wrong)
        return;
    fprintf(stderr, "products by work-groups of %zu, %zu x %zu: %zu of %zu results are wrong\n", group, of->side,
            of->side, wrong, of->batch * of->side);
    exit(1);
}

/* Seconds to compute all products once. */
static double product_seconds(const products *of, size_t group)
{
    product_work product;
    char options[100];
    double seconds;
    snprintf(options, sizeof options, "-DSIDE=%zu -DGROUP=%zu -DBLOCK=%d", of->side, group, BATCHES_BLOCK);
    product.kernel = kernel_of(batches_text_product, options, "product_group");
    product.group = group;
    product.groups = of->batch;
    set_memory(product.kernel, 0, buffer);
    set_memory(product.kernel, 1, of->vectors);
    set_memory(product.kernel, 2, of->results);
    fill_garbage(of->results, vector_bytes(of));
    execute_product(&product, 0);
    prove_products(of, group);
    fill_garbage(of->results, vector_bytes(of));
    seconds = seconds_of(execute_product, &product);
    prove_products(of, group);
    clReleaseKernel(product.kernel);
    return seconds;
}

static void products_open(products *of, size_t side)
{
    need(side > 0 && side <= 1024, "reading SIDE");
    memset(of, 0, sizeof *of);
    of->side = side;
    of->batch = batch_bytes / (side * side * sizeof(float));
    need(of->batch > 0, "a batch of too few matrices");
    of->vectors = memory_of(vector_bytes(of));
    of->results = memory_of(vector_bytes(of));
    of->expected = (float *)malloc(vector_bytes(of));
    of->got = (float *)malloc(vector_bytes(of));
    need(of->expected && of->got, "malloc");
}

static void products_close(products *of)
{
    clReleaseMemObject(of->vectors);
    clReleaseMemObject(of->results);
    free(of->expected);
    free(of->got);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* groups: the smallest work-group that keeps the device busy, and others */
/* ------------------------------------------------------------------------------------------------------------------ */

static const size_t group_sizes[] = {32, 64, 96, 128, 160, 192, 224, 256, 384, 512, 768, 1024};
enum { GROUP_SIZES = sizeof group_sizes / sizeof *group_sizes };

static int is_listed(size_t group)
{
    size_t i;
    for (i = 0; i < GROUP_SIZES; ++i)
        if (group_sizes[i] == group)
            return 1;
    return 0;
}

/* Seconds to transpose all matrices, each by a work-group of its own. */
static double transposition_seconds(size_t side, size_t batch, size_t group)
{
    const size_t words = batch * side * side;
    product_work turning;
    char options[100];
    double seconds;
    int time;
    snprintf(options, sizeof options, "-DSIDE=%zu -DGROUP=%zu", side, group);
    turning.kernel = kernel_of(batches_text_transpose, options, "transpose_group");
    turning.groups = batch;
    turning.group = group;
    set_memory(turning.kernel, 0, buffer);
    seconds = seconds_of(execute_product, &turning);
    for (time = 0; time < 2; ++time) { /* twice: a race may fail only sometimes */
        fill(kernel_fill, buffer, 0, words);
        execute_product(&turning, 0);
        prove("transpose_group", buffer, words, side, side, batch);
    }
    clReleaseKernel(turning.kernel);
    return seconds;
}

/* The largest work-group among those with the highest occupancy, as Thrust chooses it. */
static size_t largest_group(const ipt_heuristic_device *device, size_t local_bytes)
{
    size_t best = 0, i;
    for (i = 0; i < GROUP_SIZES; ++i)
        if (group_sizes[i] <= device->max_group &&
            (!best || ipt_heuristic_occupancy(device, group_sizes[i], local_bytes) >=
                          ipt_heuristic_occupancy(device, best, local_bytes)))
            best = group_sizes[i];
    return best;
}

/* Measures work-groups that transpose matrices or, if `of` is not NULL, multiply them by vectors. */
static void measure_groups_of(const char *name, size_t side, products *of)
{
    size_t reserved, group;
    const ipt_heuristic_device device = describe_device(&reserved);
    const size_t local_bytes = (side * (side | 1) + (of ? side : 0)) * sizeof(float) + reserved;
    const size_t smallest = ipt_heuristic_smallest_group(&device, local_bytes, 0, 1),
                 largest = largest_group(&device, local_bytes);
    const size_t batch = of ? of->batch : batch_bytes / (side * side * sizeof(float));
    const double copy = copy_speed(batch * side * side * sizeof(float));
    for (group = 32; group <= device.max_group; group += 32) {
        double seconds, gbps;
        if (!is_listed(group) && group != smallest)
            continue;
        seconds = of ? product_seconds(of, group) : transposition_seconds(side, batch, group);
        gbps = speed(of ? product_bytes(of) : 2.0 * sizeof(float) * (double)(batch * side * side), seconds);
        printf("%s,%zu,%zu,%.3f,%.3f,%.3f,%.3f,%.5f,%d,%d,%d,%zu\n", name, group, local_bytes,
               ipt_heuristic_occupancy(&device, group, local_bytes), seconds * 1e6, gbps, copy, gbps / copy,
               group == smallest, group == FIXED_GROUP, group == largest, (batch * side * (of ? 1 : side)));
        fflush(stdout);
    }
}

static void measure_groups(void)
{
    products of;
    printf("kernel,group,local_bytes,occupancy,microseconds,gbps,copy_gbps,ratio,smallest,fixed,largest,verified\n");
    measure_groups_of("transpose 32x32", 32, NULL);
    measure_groups_of("transpose 64x64", 64, NULL);
    products_open(&of, 32);
    fill_products(&of);
    expect_products(&of);
    measure_groups_of("product 32x32", 32, &of);
    products_close(&of);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* copies: one work-item to an element, work-groups of several shapes */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct copy_work {
    cl_kernel kernel;
    size_t x, y, sets; /* one launch copies all sets: one set is too short to measure */
} copy_work;

static void execute_copy(void *state, size_t turn)
{
    const copy_work *const copy = (const copy_work *)state;
    const size_t local[3] = {copy->x, copy->y, 1}, global[3] = {COPY_SIDE, COPY_SIDE, copy->sets * COPY_MATRICES};
    (void)turn;
    need(!clEnqueueNDRangeKernel(queue, copy->kernel, 3, NULL, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

/* Checks one copy, into memory with other content. */
static void prove_copy(copy_work *copy, size_t words)
{
    fill(kernel_fill, buffer, 0, words);
    fill_garbage(other, words * sizeof(cl_uint));
    execute_copy(copy, 0);
    prove("copy_2d", other, words, COPY_SIDE, COPY_SIDE, 0);
}

static void measure_copies_of(const char *element, size_t bytes, const char *options)
{
    const size_t set = bytes * COPY_SIDE * COPY_SIDE * COPY_MATRICES, sets = batch_bytes / set, words = sets * set / 4;
    copy_work copy;
    double gbps_copy;
    need(sets > 0, "memory for so many matrices");
    copy.sets = sets;
    copy.kernel = kernel_of(batches_text_copy, options, "copy_2d");
    set_memory(copy.kernel, 0, buffer);
    set_memory(copy.kernel, 1, other);
    gbps_copy = copy_speed(sets * set);
    for (copy.x = 1; copy.x <= 32; copy.x *= 2) {
        double seconds, gbps;
        copy.y = COPY_GROUP / copy.x;
        prove_copy(&copy, words);
        seconds = seconds_of(execute_copy, &copy) / (double)sets;
        prove_copy(&copy, words);
        gbps = speed(2.0 * (double)set, seconds);
        printf("%s,%zu,%zu,%.3f,%.3f,%.3f,%.5f,%zu\n", element, copy.x, copy.y, seconds * 1e6, gbps, gbps_copy,
               gbps / gbps_copy, sets * set / bytes);
        fflush(stdout);
    }
    clReleaseKernel(copy.kernel);
}

static void measure_copies(void)
{
    cl_device_fp_config doubles = 0;
    printf("element,x,y,microseconds,gbps,copy_gbps,ratio,verified\n");
    measure_copies_of("float", sizeof(cl_float), "-DNUMBER=float");
    clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
    if (doubles)
        measure_copies_of("double", sizeof(cl_double), "-DNUMBER=double -DNEEDS_DOUBLE");
    else
        fprintf(stderr, "double: not there\n");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Main */
/* ------------------------------------------------------------------------------------------------------------------ */

static void batches_open(void)
{
    need(!ipt_context_create(NULL, &context), "ipt_context_create");
    plans_open(batch_bytes);
    other = memory_of(batch_bytes);
    errors = memory_of(sizeof(cl_uint));
    fill_garbage(other, batch_bytes);
    kernel_fill = kernel_of(batches_text_check, "", "fill");
    kernel_fill_small = kernel_of(batches_text_check, "", "fill_small");
    kernel_check = kernel_of(batches_text_check, "", "check");
}

static void batches_close(void)
{
    clReleaseKernel(kernel_fill);
    clReleaseKernel(kernel_fill_small);
    clReleaseKernel(kernel_check);
    clReleaseMemObject(errors);
    clReleaseMemObject(other);
    plans_close();
}

int main(int count, char **arguments)
{
    const char *const command = count > 1 ? arguments[1] : "";
    const size_t megabytes = count > 2 ? (size_t)strtoull(arguments[2], NULL, 0) : 0;
    if (megabytes == 0 || megabytes > 4096) {
        fprintf(stderr,
                "usage: batches transpositions MEGABYTES ROWSxCOLS ... | groups MEGABYTES | copies MEGABYTES\n");
        return 2;
    }
    batch_bytes = (size_t)megabytes << 20;
    batches_open();
    if (!strcmp(command, "transpositions"))
        measure_transpositions(count - 3, arguments + 3);
    else if (!strcmp(command, "groups"))
        measure_groups();
    else if (!strcmp(command, "copies"))
        measure_copies();
    else
        need(0, "reading the command");
    batches_close();
    return 0;
}
