/* The helpers of test.h, and the only implementation of ipt.h in the test program. */
#define IPT__BLOCK_BYTES_LEAST 1
#define IPT__BUS_RUN_BYTES 1
#define IPT_IMPLEMENTATION
#include "test.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quirks.h"
#include "whole.h"

#ifdef IPT_NO_OPENCL
#define NATIVE_CL_DEFINE(result, name, parameters) result(*const name) parameters = ipt__native_##name;
IPT_ENTRY_POINT_LIST(NATIVE_CL_DEFINE)

cl_int clRetainCommandQueue(cl_command_queue queue)
{
    ipt__native_retain(queue);
    return CL_SUCCESS;
}

cl_mem clCreateSubBuffer(cl_mem whole, cl_mem_flags flags, cl_uint type, const void *region, cl_int *error)
{
    (void)whole;
    (void)flags;
    (void)type;
    (void)region;
    *error = CL_INVALID_OPERATION;
    return NULL;
}

cl_int clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties, cl_uint capacity,
                          cl_device_id *devices, cl_uint *count)
{
    (void)device;
    (void)properties;
    (void)capacity;
    (void)devices;
    *count = 0;
    return CL_INVALID_VALUE;
}
#endif

#ifdef IPT_NO_OPENCL
const bool test_compiles = false;
#else
const bool test_compiles = true;
#endif

ipt_context *test_context, *test_small_context;
cl_context test_cl_context;
cl_device_id test_device;
cl_command_queue test_queue;

const size_t test_element_sizes[TEST_ELEMENT_SIZE_COUNT] = {1, 2, 3, 4, 8, 12, 16};

static uint64_t seed = 20140215, generator;
static test_job shared_job;

/* ------------------------------------------------------------------------------------------------------------------ */

char *test_choose_device(const char *name)
{
    char *before = getenv("IPT_DEVICE") ? strdup(getenv("IPT_DEVICE")) : NULL;
    if (name)
        setenv("IPT_DEVICE", name, 1);
    else
        unsetenv("IPT_DEVICE");
    return before;
}

void test_choose_again(char *before)
{
    free(test_choose_device(before));
    free(before);
}

/* When Khronos' loader reads OCL_ICD_FILENAMES, it cuts the variable at the first ':'. Programs that the tests start
 * need the whole list. */
static int create_context(void)
{
    char *const list = getenv("OCL_ICD_FILENAMES") ? strdup(getenv("OCL_ICD_FILENAMES")) : NULL;
    const ipt_result result = ipt_context_create(NULL, &test_context);
    if (list)
        setenv("OCL_ICD_FILENAMES", list, 1);
    free(list);
    return result == IPT_SUCCESS;
}

int test_group_setup(void **state)
{
    (void)state;
    if (getenv("IPT_TEST_SEED"))
        seed = strtoull(getenv("IPT_TEST_SEED"), NULL, 0);
    /* Tests share no cache files, unless the caller keeps some; cache tests set their own folder. */
    setenv("IPT_CACHE_DIR", getenv("IPT_TEST_CACHE_DIR") ? getenv("IPT_TEST_CACHE_DIR") : "none", 1);
    if (getenv("IPT_TEST_WITHOUT_DEVICE"))
        return 0;
    if (!create_context()) {
        print_error("no context: %s\n", ipt_context_error(NULL));
        return -1;
    }
    test_cl_context = ipt_context_cl_context(test_context);
    test_device = ipt_context_cl_device(test_context);
    ipt_context_desc desc = {0};
    desc.context = test_cl_context;
    desc.device = test_device;
    desc.max_local_memory = 1024;
    if (ipt_context_create(&desc, &test_small_context) != IPT_SUCCESS) {
        print_error("no context with little local memory: %s\n", ipt_context_error(NULL));
        return -1;
    }
    test_queue = test_make_queue(test_cl_context, test_device, 0);
    return test_queue ? 0 : -1;
}

int test_group_teardown(void **state)
{
    (void)state;
    test_job_end(&shared_job);
    if (test_queue)
        clReleaseCommandQueue(test_queue);
    ipt_context_destroy(test_small_context);
    ipt_context_destroy(test_context);
    return 0;
}

size_t test_less_local_memory(size_t bytes)
{
    cl_ulong reported = 0;
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof reported, &reported, NULL),
                     CL_SUCCESS);
    return reported > bytes ? bytes : 0;
}

ipt_context *test_make_context(size_t local_memory)
{
    return test_make_waiting_context(local_memory, 0, 0);
}

ipt_context *test_make_waiting_context(size_t local_memory, size_t resident, size_t polls)
{
    const ipt_context_desc desc = {.context = test_cl_context,
                                   .device = test_device,
                                   .max_local_memory = test_less_local_memory(local_memory),
                                   .resident_groups = resident,
                                   .wait_polls = polls};
    ipt_context *context = NULL;
    if (ipt_context_create(&desc, &context) != IPT_SUCCESS)
        fail_msg("no context: %s", ipt_context_error(NULL));
    return context;
}

ipt_plan *test_make_boxes(ipt_context *context, const ipt_plan_desc *desc)
{
    ipt_plan *plan = NULL;
    const ipt_result result = whole_plan(context, desc, IPT__WAY_BOXES, &plan);
    if (!result && !plan && (!context->limits.cooperative || context->found.chunk_bytes < (size_t)26 << 10))
        return NULL;
    if (!plan || !strstr(ipt_plan_describe(plan), "boxes together"))
        fail_msg("%s: %s", ipt_context_error(NULL), ipt_plan_describe(plan));
    return plan;
}

ipt_plan *test_make_two_passes(ipt_context *context, const ipt_plan_desc *desc, bool boxes_first)
{
    ipt_plan *plan = NULL;
    if (whole_plan(context, desc, boxes_first ? IPT__WAY_BOXES_FIRST : IPT__WAY_BOXES_LAST, &plan))
        fail_msg("%s", ipt_context_error(NULL));
    return plan;
}

bool test_waits_together(ipt_context *context, const ipt_plan_desc *desc)
{
    ipt_plan *plan = test_make_plan(context, desc);
    const bool together = strstr(ipt_plan_describe(plan), " together") != NULL;
    ipt_plan_destroy(plan);
    return together;
}

cl_command_queue test_make_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties)
{
    cl_command_queue_properties able = 0;
#ifdef IPT_NO_OPENCL /* the driver does not say so, and has all */
    cl_int error = CL_SUCCESS;
    able = ~able;
#else
    cl_int error = clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof able, &able, NULL);
#endif
    if (error != CL_SUCCESS || (properties & ~able))
        return NULL;
    return clCreateCommandQueue(context, device, properties, &error);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Reasons beyond these are printed, but counted together. */
static struct {
    char reason[200];
    int count;
} skips[32];

void test_skip_because(const char *reason)
{
    size_t i = 0;
    while (i + 1 < TEST_COUNT(skips) && skips[i].count && strncmp(skips[i].reason, reason, sizeof skips[i].reason - 1))
        ++i;
    snprintf(skips[i].reason, sizeof skips[i].reason, "%s", reason);
    ++skips[i].count;
    print_message("[  REASON  ] %s\n", reason);
}

void test_skips_print(void)
{
    const char *const record = getenv("IPT_TEST_SKIPPED"); /* tests/skipped.sh counts its lines */
    FILE *const file = record ? fopen(record, "a") : NULL;
    for (size_t i = 0; i < TEST_COUNT(skips) && skips[i].count; ++i) {
        print_message("[  REASON  ] %d skipped: %s\n", skips[i].count, skips[i].reason);
        if (file)
            fprintf(file, "%d\t%s\n", skips[i].count, skips[i].reason);
    }
    if (file)
        fclose(file);
}

int test_start(void **state)
{
    (void)state;
    generator = seed * 0x9E3779B97F4A7C15u + 1;
    if (!generator) /* xorshift never leaves 0 */
        generator = 1;
    return 0;
}

uint64_t test_random(void)
{
    generator ^= generator << 13;
    generator ^= generator >> 7;
    generator ^= generator << 17;
    return generator * 0x2545F4914F6CDD1Du;
}

size_t test_random_between(size_t low, size_t high)
{
    return low + (size_t)((test_random() >> 16) % (high - low + 1));
}

void test_fill(void *bytes, size_t count)
{
    unsigned char *next = bytes;
    while (count) {
        uint64_t value = test_random();
        size_t step = count < sizeof value ? count : sizeof value;
        memcpy(next, &value, step);
        next += step;
        count -= step;
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

size_t test_alignment(size_t elem_size)
{
    size_t alignment = 1;
    while (alignment < 16 && elem_size % (2 * alignment) == 0)
        alignment *= 2;
    return alignment;
}

size_t test_elements(const ipt_plan_desc *desc)
{
    size_t elements = desc->rank ? 1 : desc->rows * desc->cols;
    for (unsigned i = 0; i < desc->rank; ++i)
        elements *= desc->shape[i];
    return elements;
}

size_t test_matrix_bytes(const ipt_plan_desc *desc)
{
    return test_elements(desc) * desc->elem_size;
}

size_t test_stride(const ipt_plan_desc *desc)
{
    return desc->batch_stride ? desc->batch_stride : test_matrix_bytes(desc);
}

size_t test_span(const ipt_plan_desc *desc)
{
    return (desc->batch ? desc->batch - 1 : 0) * test_stride(desc) + test_matrix_bytes(desc);
}

/* The place of the input's element at row and col in the result, in elements. */
static size_t place_in_result(const ipt_plan_desc *desc, size_t row, size_t col)
{
    const size_t rows = desc->rows, cols = desc->cols;
    switch (desc->move) {
    case IPT_MOVE_ROTATE_90: /* the first row becomes the last column */
        return col * rows + (rows - 1 - row);
    case IPT_MOVE_ROTATE_180:
        return (rows - 1 - row) * cols + (cols - 1 - col);
    case IPT_MOVE_ROTATE_270: /* the first row becomes the first column, from bottom to top */
        return (cols - 1 - col) * rows + row;
    case IPT_MOVE_FLIP_HORIZONTAL: /* left and right change sides */
        return row * cols + (cols - 1 - col);
    case IPT_MOVE_FLIP_VERTICAL:
        return (rows - 1 - row) * cols + col;
    case IPT_MOVE_ANTITRANSPOSE: /* mirrors at the other diagonal */
        return (cols - 1 - col) * rows + (rows - 1 - row);
    default:
        return col * rows + row;
    }
}

/* The index in the source of element `index` of an array's result. */
static size_t place_in_array(const ipt_plan_desc *desc, size_t index)
{
    size_t place[IPT_MAX_RANK], source = 0;
    for (unsigned i = desc->rank; i-- > 0;) {
        place[desc->axes[i]] = index % desc->shape[desc->axes[i]];
        index /= desc->shape[desc->axes[i]];
    }
    for (unsigned i = 0; i < desc->rank; ++i)
        source = source * desc->shape[i] + place[i];
    return source;
}

void test_reference(unsigned char *output, const unsigned char *input, const ipt_plan_desc *desc)
{
    for (size_t matrix = 0; matrix < (desc->batch ? desc->batch : 1); ++matrix) {
        const unsigned char *next = input + matrix * test_stride(desc);
        for (size_t i = 0; desc->rank && i < test_elements(desc); ++i)
            memcpy(output + matrix * test_stride(desc) + i * desc->elem_size,
                   next + place_in_array(desc, i) * desc->elem_size, desc->elem_size);
        for (size_t row = 0; row < desc->rows; ++row)
            for (size_t col = 0; col < desc->cols; ++col, next += desc->elem_size)
                memcpy(output + matrix * test_stride(desc) + place_in_result(desc, row, col) * desc->elem_size, next,
                       desc->elem_size);
    }
}

void test_print_case(const ipt_plan_desc *desc, size_t byte_offset)
{
    print_error(
        "IPT_TEST_SEED=%llu: rows %zu cols %zu elem_size %zu batch %zu batch_stride %zu byte_offset %zu flags %u "
        "max_workspace %zu sequence %s tile_m %zu tile_n %zu move %s expression %s row_pitch %zu row_pitch_out %zu\n",
        (unsigned long long)seed, desc->rows, desc->cols, desc->elem_size, desc->batch, desc->batch_stride, byte_offset,
        desc->flags, desc->max_workspace, ipt_sequence_string(desc->sequence), desc->tile_m, desc->tile_n,
        ipt_move_string(desc->move), desc->expression ? desc->expression : "none", desc->row_pitch,
        desc->row_pitch_out);
    for (unsigned i = 0; i < desc->rank; ++i)
        print_error("%s%zu", i ? " x " : "shape ", desc->shape[i]);
    for (unsigned i = 0; i < desc->rank; ++i)
        print_error("%s%u%s", i ? "," : ", axes ", desc->axes[i], i + 1 < desc->rank ? "" : "\n");
}

/* ------------------------------------------------------------------------------------------------------------------ */

static cl_ulong device_number(cl_device_info name)
{
    cl_ulong value = 0;
    size_t group = 0;
    if (name == CL_DEVICE_MAX_WORK_GROUP_SIZE) {
        assert_int_equal(clGetDeviceInfo(test_device, name, sizeof group, &group, NULL), CL_SUCCESS);
        return group;
    }
    assert_int_equal(clGetDeviceInfo(test_device, name, sizeof value, &value, NULL), CL_SUCCESS);
    return value;
}

size_t test_local_memory(void)
{
    const cl_ulong bytes = device_number(CL_DEVICE_LOCAL_MEM_SIZE);
    return bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

size_t test_group_limit(void)
{
    return (size_t)device_number(CL_DEVICE_MAX_WORK_GROUP_SIZE);
}

void test_need_buffers(size_t bytes)
{
    cl_ulong once = 0, all = 0;
    clGetDeviceInfo(test_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof once, &once, NULL);
    clGetDeviceInfo(test_device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL);
    if (once < bytes || all < 2 * (cl_ulong)bytes)
        test_skip("the device has too little memory for the test's buffers");
}

size_t test_kernels_at_once(size_t most)
{
    const size_t count = device_grids_at_once(test_device);
    if (count < 2)
        test_skip("a kernel that runs twice at once ends the process");
    return count < most ? count : most;
}

void test_need_waiting_commands(void)
{
    if (device_cannot_wait(test_device))
        test_skip("a command that waits for an open event locks this OpenCL up");
}

void test_need_failed_events(void)
{
    if (device_keeps_failed(test_device))
        test_skip("a command whose wait event failed ends this OpenCL");
    if (device_is_cudas(test_device))
        test_skip("a stream of CUDA does not fail alone");
}

void test_need_own_kernels(void)
{
    if (device_is_cudas(test_device))
        test_skip("the CUDA driver runs ipt's kernels as they are");
}

cl_uint test_sub_buffer_bits(void)
{
    cl_uint bits = 0;
#ifdef IPT_NO_OPENCL
    test_skip("the driver has no sub-buffers");
#endif
    if (device_is_cudas(test_device))
        test_skip("CUDA has no sub-buffers");
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL), CL_SUCCESS);
    return bits;
}

void test_skip_uncompiled(ipt_result result)
{
    if (result == IPT_ERROR_UNSUPPORTED && !test_compiles && strstr(ipt_context_error(NULL), "compiles nothing"))
        test_need_compiler();
}

unsigned test_version(void)
{
    char text[256];
    unsigned major = 0, minor = 0;
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_VERSION, sizeof text, text, NULL), CL_SUCCESS);
    assert_int_equal(sscanf(text, "OpenCL %u.%u", &major, &minor), 2);
    return major * 10 + minor;
}

/* A device may refuse a buffer above its reported limit, or above a quarter of its memory if other buffers exist. */
static int may_refuse(size_t bytes)
{
    return bytes > device_number(CL_DEVICE_MAX_MEM_ALLOC_SIZE) || bytes > device_number(CL_DEVICE_GLOBAL_MEM_SIZE) / 4;
}

void test_job_prepare(test_job *job, cl_context context, const ipt_plan_desc *desc, size_t byte_offset)
{
    job->desc = *desc;
    job->byte_offset = byte_offset;
    job->size = byte_offset + test_span(desc) + TEST_GUARD;
    if (job->capacity < job->size) {
        /* Grows an existing buffer by an eighth more than needed, so that loops create few buffers. */
        size_t capacity = job->capacity ? job->size + job->size / 8 : job->size;
        cl_int error = CL_SUCCESS;
        test_job_end(job);
        job->desc = *desc;
        job->byte_offset = byte_offset;
        job->size = byte_offset + test_span(desc) + TEST_GUARD;
        job->capacity = capacity;
        job->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, capacity, NULL, &error);
        if (error != CL_SUCCESS && capacity > job->size) {
            job->capacity = capacity = job->size;
            job->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, capacity, NULL, &error);
        }
        if (error != CL_SUCCESS && may_refuse(capacity)) {
            memset(job, 0, sizeof *job);
            test_skip("the device has too little memory for the test's buffers");
        }
        job->input = malloc(capacity);
        job->expected = malloc(capacity);
        job->result = malloc(capacity);
        assert_int_equal(error, CL_SUCCESS);
        assert_true(job->input && job->expected && job->result);
    }
    test_fill(job->input, job->size);
    memcpy(job->expected, job->input, job->size);
    test_reference(job->expected + byte_offset, job->input + byte_offset, desc);
}

int test_job_upload(test_job *job, cl_command_queue queue)
{
    cl_int error = clEnqueueWriteBuffer(queue, job->buffer, CL_TRUE, 0, job->size, job->input, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        return 1;
    test_print_case(&job->desc, job->byte_offset);
    print_error("clEnqueueWriteBuffer: %d\n", error);
    return 0;
}

int test_job_holds(test_job *job, cl_command_queue queue, const unsigned char *content)
{
    cl_int error = clEnqueueReadBuffer(queue, job->buffer, CL_TRUE, 0, job->size, job->result, 0, NULL, NULL);
    if (error == CL_SUCCESS && memcmp(job->result, content, job->size) == 0)
        return 1;
    test_print_case(&job->desc, job->byte_offset);
    if (error != CL_SUCCESS) {
        print_error("clEnqueueReadBuffer: %d\n", error);
        return 0;
    }
    size_t first = 0, wrong = 0;
    for (size_t i = job->size; i-- > 0;)
        if (job->result[i] != content[i]) {
            first = i;
            ++wrong;
        }
    print_error("%zu wrong bytes, the first at %zd of the batch's %zu: expected %02x, got %02x\n", wrong,
                (ptrdiff_t)(first - job->byte_offset), test_span(&job->desc), content[first], job->result[first]);
    return 0;
}

int test_job_run(test_job *job, ipt_plan *plan, cl_command_queue queue)
{
    if (!test_job_upload(job, queue))
        return 0;
    if (ipt_plan_execute(plan, queue, job->buffer, job->byte_offset, 0, NULL, NULL) != IPT_SUCCESS) {
        test_print_case(&job->desc, job->byte_offset);
        print_error("ipt_plan_execute: %s\n", ipt_context_error(NULL));
        return 0;
    }
    if (test_job_holds(job, queue, job->expected))
        return 1;
    print_error("%s\n", ipt_plan_describe(plan));
    return 0;
}

void test_job_end(test_job *job)
{
    if (job->buffer)
        clReleaseMemObject(job->buffer);
    free(job->input);
    free(job->expected);
    free(job->result);
    memset(job, 0, sizeof *job);
}

ipt_plan *test_make_plan(ipt_context *context, const ipt_plan_desc *desc)
{
    ipt_plan *plan = NULL;
    const ipt_result result = ipt_plan_create(context, desc, &plan);
    test_skip_uncompiled(result);
    if (result != IPT_SUCCESS) {
        test_print_case(desc, 0);
        print_error("ipt_plan_create: %s\n", ipt_context_error(context));
        fail();
    }
    assert_non_null(plan);
    return plan;
}

ipt_result test_try(ipt_context *context, const ipt_plan_desc *shape)
{
    ipt_plan_desc desc = *shape;
    ipt_plan *plan = NULL;
    size_t alignment = test_alignment(desc.elem_size);
    if (desc.batch > 1 && !desc.batch_stride && test_random_between(0, 1))
        desc.batch_stride =
            (test_matrix_bytes(&desc) / alignment + test_random_between(0, 20)) * alignment; /* 0: no gaps */
    size_t byte_offset = TEST_GUARD + test_random_between(0, 20) * alignment;
    ipt_result result = ipt_plan_create(context, &desc, &plan);
    if (result != IPT_SUCCESS) {
        assert_null(plan);
        return result;
    }
    test_job_prepare(&shared_job, ipt_context_cl_context(context), &desc, byte_offset);
    if (!test_job_run(&shared_job, plan, test_queue))
        fail();
    ipt_plan_destroy(plan);
    return IPT_SUCCESS;
}

void test_transposes(ipt_context *context, const ipt_plan_desc *desc)
{
    const ipt_result result = test_try(context, desc);
    if (result == IPT_SUCCESS)
        return;
    test_skip_uncompiled(result);
    test_print_case(desc, 0);
    print_error("ipt_plan_create: %s\n", ipt_context_error(context));
    fail();
}

/* ------------------------------------------------------------------------------------------------------------------ */

const char *test_number(size_t value)
{
    static char texts[8][24];
    static size_t next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%zu", value);
    return text;
}
