/* Limits of devices: buffers smaller than a matrix, alignment of vectors, types of an extension. The tests report a
 * device with such limits, and enforce them. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, BUFFERS_MOST = 256 };

/* The simulated device: its reports and limits. 0: as on the true device. */
typedef struct told_device {
    cl_ulong allocation, global; /* largest buffer, and all buffers together, in bytes */
    int takes_more;              /* the device accepts buffers of any size, whatever it reports */
    cl_int error;                /* the error of a refused buffer */
    int gpu, unified;            /* reported as a GPU; with unified memory */
    int pins;                    /* pinned memory counts as the host's, without a limit */
    const char *extensions;
} told_device;

static const told_device *told; /* NULL: the truth */
static struct {
    cl_mem buffer;
    size_t bytes;
} buffers[BUFFERS_MOST];
static size_t held, held_most;            /* bytes of all buffers, now and at most */
static int enabled;                       /* a compiled text enables half */
static size_t largest, refused, compiled; /* bytes of the largest buffer; counts of refused buffers, of texts */

static cl_int CL_API_CALL told_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                                               size_t *needed)
{
    if (told && told->extensions && (name == CL_DEVICE_EXTENSIONS || name == CL_DEVICE_DOUBLE_FP_CONFIG)) {
        const cl_device_fp_config none = 0;
        const int text = name == CL_DEVICE_EXTENSIONS;
        const size_t all = text ? strlen(told->extensions) + 1 : sizeof none;
        if (value && bytes < all)
            return CL_INVALID_VALUE;
        if (value)
            memcpy(value, text ? (const void *)told->extensions : &none, all);
        if (needed)
            *needed = all;
        return CL_SUCCESS;
    }
    const cl_int error = clGetDeviceInfo(device, name, bytes, value, needed);
    if (error || !told || !value)
        return error;
    if (name == CL_DEVICE_MAX_MEM_ALLOC_SIZE && told->allocation)
        *(cl_ulong *)value = told->allocation;
    if (name == CL_DEVICE_GLOBAL_MEM_SIZE && told->global)
        *(cl_ulong *)value = told->global;
    if (name == CL_DEVICE_TYPE && told->gpu)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    if (name == CL_DEVICE_HOST_UNIFIED_MEMORY && (told->gpu || told->allocation))
        *(cl_bool *)value = told->unified ? CL_TRUE : CL_FALSE;
    return error;
}

static size_t entry_of(cl_mem buffer)
{
    size_t i = 0;
    while (i + 1 < BUFFERS_MOST && buffers[i].buffer != buffer)
        ++i;
    return i;
}

static cl_mem CL_API_CALL told_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                              cl_int *error)
{
    cl_mem made;
    const int counts = !told || !told->pins || !(flags & CL_MEM_ALLOC_HOST_PTR);
    if (told && !told->takes_more && counts &&
        ((told->allocation && bytes > told->allocation) || (told->global && held + bytes > told->global))) {
        ++refused;
        *error = told->error;
        return NULL;
    }
    made = clCreateBuffer(context, flags, bytes, host, error);
    if (made && counts) {
        const size_t i = entry_of(NULL);
        buffers[i].buffer = made;
        buffers[i].bytes = bytes;
        held += bytes;
        held_most = held > held_most ? held : held_most;
        largest = bytes > largest ? bytes : largest;
    }
    return made;
}

static cl_int CL_API_CALL told_clReleaseMemObject(cl_mem buffer)
{
    const size_t i = entry_of(buffer);
    if (buffers[i].buffer == buffer) {
        held -= buffers[i].bytes;
        memset(&buffers[i], 0, sizeof buffers[i]);
    }
    return clReleaseMemObject(buffer);
}

static cl_program CL_API_CALL told_clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                             const size_t *lengths, cl_int *error)
{
    ++compiled;
    if (strstr(strings[0], "#pragma OPENCL EXTENSION cl_khr_fp16 : enable"))
        enabled = 1;
    return clCreateProgramWithSource(context, count, strings, lengths, error);
}

#define clGetDeviceInfo told_clGetDeviceInfo
#define clCreateBuffer told_clCreateBuffer
#define clReleaseMemObject told_clReleaseMemObject
#define clCreateProgramWithSource told_clCreateProgramWithSource
#define IPT__BLOCK_BYTES_LEAST ((size_t)1 << 13) /* so that small matrices also go by blocks */
#define IPT__BUS_RUN_BYTES 64
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#undef clGetDeviceInfo
#undef clCreateBuffer
#undef clReleaseMemObject
#undef clCreateProgramWithSource
#include "test.h"
#include "pages.h"

/* Messages contain the names of OpenCL's errors, or the number of an error that has no name. */
static void limits_names(void **state)
{
    static const struct {
        cl_int error;
        const char *text;
    } cases[] = {{CL_INVALID_BUFFER_SIZE, "clCall failed with CL_INVALID_BUFFER_SIZE (-61)"},
                 {CL_DEVICE_NOT_FOUND, "clCall failed with CL_DEVICE_NOT_FOUND (-1)"},
                 {-14, "clCall failed with CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST (-14)"},
                 {-72, "clCall failed with CL_MAX_SIZE_RESTRICTION_EXCEEDED (-72)"},
                 {-1001, "clCall failed with CL_PLATFORM_NOT_FOUND_KHR (-1001)"},
                 {-9999, "clCall failed with OpenCL error (-9999)"},
                 {-20, "clCall failed with OpenCL error (-20)"}};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        const ipt_result result = ipt__fail_opencl("clCall", cases[i].error);
        assert_string_equal(ipt_context_error(NULL), cases[i].text);
        assert_int_equal(result, i == 0 ? IPT_ERROR_OUT_OF_MEMORY : IPT_ERROR_OPENCL);
    }
    for (cl_int error = -1; error >= -72; --error) /* OpenCL leaves a gap between its two ranges */
        assert_true((error < -19 && error > -30) != (strncmp(ipt__cl_error(error), "CL_", 3) == 0));
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Allocations smaller than a matrix */
/* ------------------------------------------------------------------------------------------------------------------ */

static ipt_context *open_context(const told_device *device)
{
    ipt_context_desc desc = {0};
    ipt_context *context;
    if (told != device) { /* except for a test's second context */
        memset(buffers, 0, sizeof buffers);
        held = 0;
    }
    told = device;
    desc.context = test_cl_context;
    desc.device = test_device;
    desc.max_local_memory = test_less_local_memory((size_t)256 << 10); /* a matrix that fits needs no workspace */
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    largest = refused = 0;
    return context;
}

static void close_context(ipt_context *context)
{
    ipt_context_destroy(context);
    assert_int_equal(held, 0);
    told = NULL;
}

/* Executes a plan twice on a matrix in malloc's memory or in pinned memory, and compares. */
static void check_plan(ipt_context *context, ipt_plan *plan, const ipt_plan_desc *desc, int pinned)
{
    const size_t span = test_span(desc);
    unsigned char *input = malloc(span), *expected = malloc(span), *data = NULL;
    assert_true(input && expected);
    test_fill(input, span);
    memcpy(expected, input, span);
    test_reference(expected, input, desc);
    if (pinned)
        assert_int_equal(ipt_host_alloc(context, span, (void **)&data), IPT_SUCCESS);
    else
        data = malloc(span);
    assert_non_null(data);
    for (int i = 0; i < 2; ++i) {
        memcpy(data, input, span);
        const ipt_result result = ipt_plan_execute_host(plan, data);
        if (result || memcmp(data, expected, span) != 0) {
            test_print_case(desc, 0);
            fail_msg("host %s, %s: %s", ipt_host_string(desc->host), ipt_result_string(result),
                     result ? ipt_context_error(NULL) : "wrong");
        }
    }
    if (pinned)
        ipt_host_free(context, data);
    else
        free(data);
    free(input);
    free(expected);
}

static void check_desc(ipt_context *context, const ipt_plan_desc *desc, int pinned)
{
    ipt_plan *plan = NULL;
    const ipt_result result = ipt_plan_create(context, desc, &plan);
    if (result) {
        test_print_case(desc, 0);
        fail_msg("%s: %s", ipt_result_string(result), ipt_context_error(NULL));
    }
    check_plan(context, plan, desc, pinned);
    ipt_plan_destroy(plan);
}

static const ipt_plan_desc larger[] = {{.rows = 1900, .cols = 1103, .elem_size = 4},
                                       {.rows = 1103, .cols = 1900, .elem_size = 4},
                                       {.rows = 1300, .cols = 1300, .elem_size = 8},
                                       {.rows = 300007, .cols = 3, .elem_size = 12},
                                       {.rows = 211, .cols = 307, .elem_size = 5, .batch = 30},
                                       {.rows = 3, .cols = 90001, .elem_size = 4, .batch = 7, .batch_stride = 1100000}};

/* A matrix that fits the device's memory, but exceeds its largest buffer, moves in pieces. */
static void limits_pieces(void **state)
{
    (void)state;
    test_need_buffers((size_t)32 << 20);
    static const told_device devices[] = {{4 * MIB, 64 * MIB, 0, CL_INVALID_BUFFER_SIZE, 1, 0, 0, NULL},
                                          {4 * MIB, 64 * MIB, 0, CL_MEM_OBJECT_ALLOCATION_FAILURE, 0, 0, 0, NULL},
                                          {3 * MIB, 16 * MIB, 0, CL_OUT_OF_RESOURCES, 1, 1, 0, NULL},
                                          {4 * MIB, 64 * MIB, 0, CL_OUT_OF_HOST_MEMORY, 0, 1, 0, NULL}};
    for (size_t d = 0; d < TEST_COUNT(devices); ++d) {
        ipt_context *const context = open_context(&devices[d]);
        for (size_t i = 0; i < TEST_COUNT(larger); ++i) {
            ipt_plan_desc desc = larger[i];
            desc.host = (d + i) % 2 ? IPT_HOST_OVERLAPPED : IPT_HOST_AUTO;
            refused = 0;
            check_desc(context, &desc, 0);
            assert_true(refused > 0); /* one buffer was tried first */
            assert_in_range(largest, 1, devices[d].allocation);
        }
        close_context(context);
    }
}

/* A device that accepts larger buffers than it reports gets the whole matrix. */
static void limits_more_than_told(void **state)
{
    (void)state;
    test_need_buffers((size_t)32 << 20);
    static const told_device device = {4 * MIB, 64 * MIB, 1, CL_INVALID_BUFFER_SIZE, 0, 0, 0, NULL};
    ipt_context *const context = open_context(&device);
    check_desc(context, &larger[0], 0);
    assert_true(largest >= test_span(&larger[0]));
    close_context(context);
}

/* If the desc forces parameters, the planner does not replace them. The message names the limit and what to do. */
static void limits_forced(void **state)
{
    static const told_device device = {4 * MIB, 64 * MIB, 0, CL_INVALID_BUFFER_SIZE, 0, 0, 0, NULL};
    static const ipt_host forced[] = {IPT_HOST_SYNCHRONOUS, IPT_HOST_STAGES};
    ipt_context *const context = open_context(&device);
    unsigned char *const data = calloc(1, test_span(&larger[0])), *const same = calloc(1, test_span(&larger[0]));
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(forced); ++i) {
        ipt_plan_desc desc = larger[0];
        ipt_plan *plan;
        desc.host = forced[i];
        if (forced[i] == IPT_HOST_STAGES) {
            desc.cols = 1000;
            desc.sequence = IPT_SEQUENCE_3_1;
            desc.tile_m = 19;
            desc.tile_n = 10;
            desc.flags = IPT_NO_COOPERATIVE;
        }
        assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
        const ipt_result result = ipt_plan_execute_host(plan, data);
        test_expect_parts(result, IPT_ERROR_OUT_OF_MEMORY, "CL_INVALID_BUFFER_SIZE", "4194304");
        test_expect_parts(result, IPT_ERROR_OUT_OF_MEMORY, "host", ipt_host_string(forced[i]));
        assert_memory_equal(data, same, test_span(&desc));
        ipt_plan_destroy(plan);
    }
    free(data);
    free(same);
    close_context(context);
}

/* Plans that are cut from the start, for max_device_memory, the device's memory or a storage. */
static void limits_cut(void **state)
{
    (void)state;
    test_need_buffers((size_t)32 << 20);
    static const told_device wide = {2 * MIB, 64 * MIB, 0, CL_INVALID_BUFFER_SIZE, 0, 0, 1, NULL},
                             little = {2 * MIB, 6 * MIB, 0, CL_INVALID_BUFFER_SIZE, 1, 0, 0, NULL};
    ipt_context *context = open_context(&wide);
    for (size_t i = 0; i < TEST_COUNT(larger); ++i) {
        ipt_plan_desc desc = larger[i];
        desc.max_device_memory = test_span(&desc) / 4 * 3;
        check_desc(context, &desc, i % 2);
        assert_in_range(largest, 1, 2 * MIB);
    }
    assert_true(refused > 0);
    close_context(context);
    context = open_context(&little);
    for (size_t i = 0; i < TEST_COUNT(larger); ++i) {
        check_desc(context, &larger[i], 0);
        assert_in_range(largest, 1, 2 * MIB);
    }
    close_context(context);
}

/* No block exceeds the device's largest buffer. */
static void limits_blocks(void **state)
{
    (void)state;
    test_need_buffers((size_t)32 << 20);
    static const told_device device = {12 * MIB, 64 * MIB, 0, CL_INVALID_BUFFER_SIZE, 0, 0, 1, NULL};
    static const ipt_plan_desc desc = {.rows = 3300, .cols = 3300, .elem_size = 4, .max_device_memory = 32 * MIB};
    ipt_context *const context = open_context(&device);
    ipt_plan *plan;
    if (ipt_plan_create(context, &desc, &plan))
        fail_msg("%s", ipt_context_error(NULL));
    assert_true(plan->cut->blocks.bus_bytes && refused);
    check_plan(context, plan, &desc, 1);
    assert_in_range(largest, 1, 12 * MIB);
    ipt_plan_destroy(plan);
    close_context(context);
}

static int store_read(void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy(memory, (unsigned char *)user + offset, bytes);
    return 0;
}

static int store_write(const void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy((unsigned char *)user + offset, memory, bytes);
    return 0;
}

static void limits_storage(void **state)
{
    static const told_device device = {MIB / 2, 64 * MIB, 0, CL_INVALID_BUFFER_SIZE, 1, 0, 0, NULL};
    ipt_context *const context = open_context(&device);
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(larger); ++i) {
        ipt_plan_desc desc = larger[i];
        ipt_plan *plan;
        ipt_storage storage = {0};
        const size_t span = test_span(&desc);
        unsigned char *const input = malloc(span), *const expected = malloc(span);
        test_fill(input, span);
        memcpy(expected, input, span);
        test_reference(expected, input, &desc);
        desc.max_host_memory = 7 * MIB;
        assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
        storage.read = store_read;
        storage.write = store_write;
        storage.user = input;
        const ipt_result result = ipt_plan_execute_storage(plan, &storage);
        if (result)
            fail_msg("%s", ipt_context_error(NULL));
        assert_memory_equal(input, expected, span);
        assert_true(refused > 0);
        assert_in_range(largest, 1, MIB / 2);
        ipt_plan_destroy(plan);
        free(input);
        free(expected);
    }
    close_context(context);
}

/* Executes a plan on a buffer of the caller, and compares. */
static void check_execution(ipt_plan *plan, const ipt_plan_desc *desc)
{
    const size_t span = test_span(desc);
    unsigned char *const input = malloc(span), *const expected = malloc(span);
    cl_int error;
    const cl_mem buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, span, NULL, &error);
    assert_true(input && expected && !error);
    test_fill(input, span);
    memcpy(expected, input, span);
    test_reference(expected, input, desc);
    assert_int_equal(clEnqueueWriteBuffer(test_queue, buffer, CL_TRUE, 0, span, input, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(ipt_plan_execute(plan, test_queue, buffer, 0, 0, NULL, NULL), IPT_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(test_queue, buffer, CL_TRUE, 0, span, input, 0, NULL, NULL), CL_SUCCESS);
    assert_memory_equal(input, expected, span);
    clReleaseMemObject(buffer);
    free(input);
    free(expected);
}

/* If a plan's workspace exceeds the largest allocation, the planner chooses a smaller workspace. */
static void limits_workspace(void **state)
{
    (void)state;
    test_need_buffers((size_t)32 << 20);
    static const told_device device = {MIB, 64 * MIB, 0, CL_INVALID_BUFFER_SIZE, 0, 0, 0, NULL},
                             bare = {4096, 64 * MIB, 0, CL_INVALID_BUFFER_SIZE, 0, 0, 0, NULL};
    ipt_plan_desc desc = {.rows = 3001, .cols = 1009, .elem_size = 4, .max_workspace = 32 * MIB, .batch = 3};
    desc.flags = IPT_NO_COOPERATIVE; /* kernels that wait need little workspace */
    ipt_context *context = open_context(&device);
    ipt_plan *plan;
    if (ipt_plan_create(context, &desc, &plan))
        fail_msg("%s", ipt_context_error(NULL));
    assert_in_range(ipt_plan_workspace(plan), 1, MIB);
    assert_true(refused > 0);
    check_execution(plan, &desc);
    ipt_plan_destroy(plan);
    close_context(context);
    context = open_context(&bare);
    test_expect_parts(ipt_plan_create(context, &desc, &plan), IPT_ERROR_OUT_OF_MEMORY, "CL_INVALID_BUFFER_SIZE",
                      "4096");
    assert_null(plan);
    close_context(context);
}

/* Plans for several devices. */
static void limits_split(void **state)
{
    static const told_device device = {2 * MIB, 64 * MIB, 0, CL_INVALID_BUFFER_SIZE, 0, 0, 0, NULL};
    ipt_context *const contexts[2] = {open_context(&device), open_context(&device)};
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        ipt_plan *plan = NULL;
        const ipt_result result = ipt_plan_create_split(contexts, 2, &larger[i * 4], &plan);
        if (result)
            fail_msg("%s", ipt_context_error(NULL));
        check_plan(contexts[0], plan, &larger[i * 4], 0);
        assert_true(refused > 0);
        assert_in_range(largest, 1, 2 * MIB);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(contexts[1]);
    close_context(contexts[0]);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Addresses */
/* ------------------------------------------------------------------------------------------------------------------ */

static const ipt_plan_desc anywhere[] = {
    {.rows = 301, .cols = 77, .elem_size = 4},   {.rows = 64, .cols = 640, .elem_size = 4},
    {.rows = 700, .cols = 611, .elem_size = 1},  {.rows = 611, .cols = 700, .elem_size = 2},
    {.rows = 320, .cols = 320, .elem_size = 4},  {.rows = 3000, .cols = 17, .elem_size = 8},
    {.rows = 17, .cols = 3000, .elem_size = 16}, {.rows = 7, .cols = 9, .elem_size = 4, .batch = 300}};

/* Host matrices at any address, with unified and with separate memory, on CPUs and GPUs. */
static void limits_any_address(void **state)
{
    static const told_device devices[] = {{0, 0, 0, 0, 1, 1, 0, NULL}, {0, 0, 0, 0, 1, 0, 0, NULL}, {0}};
    static const size_t places[] = {0, 1, 2, 4, 8, 12, 16, 68};
    (void)state;
    for (size_t d = 0; d < TEST_COUNT(devices); ++d) {
        ipt_context *const context = open_context(&devices[d]);
        for (size_t i = 0; i < TEST_COUNT(anywhere); ++i) {
            const ipt_plan_desc *const desc = &anywhere[i];
            const size_t span = test_span(desc);
            unsigned char *const input = malloc(span), *const expected = malloc(span),
                                 *const memory = page_memory(span + 128);
            ipt_plan *plan;
            test_fill(input, span);
            memcpy(expected, input, span);
            test_reference(expected, input, desc);
            assert_int_equal(ipt_plan_create(context, desc, &plan), IPT_SUCCESS);
            for (size_t p = 0; p < TEST_COUNT(places); ++p) {
                memset(memory, 0x5a, span + 128);
                memcpy(memory + places[p], input, span);
                const ipt_result result = ipt_plan_execute_host(plan, memory + places[p]);
                if (result || memcmp(memory + places[p], expected, span) != 0 || memory[places[p] + span] != 0x5a)
                    fail_msg("device %zu, shape %zu at %zu: %s", d, i, places[p], ipt_context_error(NULL));
            }
            ipt_plan_destroy(plan);
            page_free(memory);
            free(input);
            free(expected);
        }
        close_context(context);
    }
}

/* max_device_memory also limits a matrix at an address at which the device cannot work. */
static void limits_address_and_memory(void **state)
{
    static const told_device device = {0, 0, 0, 0, 1, 1, 0, NULL};
    static const ipt_plan_desc desc = {.rows = 1000, .cols = 500, .elem_size = 4, .max_device_memory = 1500000};
    ipt_context *const context = open_context(&device);
    unsigned char *const input = malloc(2000000), *const expected = malloc(2000000),
                         *const memory = page_memory(2000000 + 16);
    ipt_plan *plan;
    (void)state;
    test_fill(input, 2000000);
    test_reference(expected, input, &desc);
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    for (size_t place = 0; place <= 16; place += 4) {
        memcpy(memory + place, input, 2000000);
        held_most = largest = 0;
        if (ipt_plan_execute_host(plan, memory + place))
            fail_msg("at %zu: %s", place, ipt_context_error(NULL));
        assert_memory_equal(memory + place, expected, 2000000);
        /* If the matrix is a buffer, it counts towards the limit. Once an address has required pieces, the plan retains
         * them. */
        assert_in_range(held_most, place < 8 || place % 16 == 0, place % 16 ? 1500000 : 3500000);
    }
    ipt_plan_destroy(plan);
    page_free(memory);
    free(input);
    free(expected);
    close_context(context);
}

/* A matrix that cannot be cut, at an address at which the device cannot work: CPUs move bytes at any address. */
static void limits_address_of_uncut(void **state)
{
    static const ipt_plan_desc descs[] = {
        {.rows = 300, .cols = 450, .elem_size = 4, .move = IPT_MOVE_ROTATE_90},
        {.rows = 301, .cols = 203, .elem_size = 16, .move = IPT_MOVE_ROTATE_180},
        {.rows = 97, .cols = 450, .elem_size = 12, .batch = 2, .sequence = IPT_SEQUENCE_TWO_PASS},
        {.rows = 512, .cols = 130, .elem_size = 8, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_m = 64},
        {.rows = 1000, .cols = 131, .elem_size = 4, .move = IPT_MOVE_FLIP_VERTICAL},
        {.rows = 200, .cols = 200, .elem_size = 2, .batch = 3, .move = IPT_MOVE_ANTITRANSPOSE},
    };
    cl_bool unified = CL_FALSE;
    cl_device_type type = 0;
    (void)state;
    clGetDeviceInfo(test_device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    clGetDeviceInfo(test_device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (!unified || !(type & CL_DEVICE_TYPE_CPU))
        test_skip("the device is no CPU that works in the host's memory");
    for (size_t i = 0; i < TEST_COUNT(descs); ++i) {
        ipt_plan_desc desc = descs[i];
        const size_t span = test_span(&desc);
        unsigned char *const input = malloc(span), *const expected = malloc(span),
                             *const memory = page_memory(span + 32);
        desc.max_device_memory = ((size_t)1 << 20) + 10000; /* enough for the workspace, too little for the matrix */
        if (desc.max_device_memory - ((size_t)1 << 20) >= span)
            fail_msg("case %zu is too small for its limit", i);
        ipt_plan *const plan = test_make_plan(test_context, &desc);
        test_fill(input, span);
        for (size_t place = 0; place < 8; ++place) {
            memset(memory, 0x5a, span + 32);
            memcpy(memory + place, input, span);
            if (ipt_plan_execute_host(plan, memory + place))
                fail_msg("case %zu at %zu: %s", i, place, ipt_context_error(NULL));
            if (!place) /* other tests verify these */
                memcpy(expected, memory, span);
            assert_memory_equal(memory + place, expected, span);
            assert_true(memory[place + span] == 0x5a && (!place || memory[place - 1] == 0x5a));
        }
        ipt_plan_destroy(plan);
        page_free(memory);
        free(input);
        free(expected);
    }
}

/* The caller's buffer over unaligned host memory works, or is refused: the message names an alignment that suffices. */
static void limits_any_buffer(void **state)
{
    static const told_device devices[] = {{0, 0, 0, 0, 1, 1, 0, NULL}, {0}};
    static const size_t places[] = {0, 1, 2, 4, 8, 16};
    size_t ran = 0, turned_away = 0;
    (void)state;
    cl_bool unified = CL_FALSE;
    clGetDeviceInfo(test_device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    if (!unified && getenv("IPT_TOLD")) /* separate memory is only reported: kernels receive host addresses */
        test_skip("the device is reported not to work in the host's memory");
    for (size_t d = 0; d < TEST_COUNT(devices); ++d) {
        ipt_context *const context = open_context(&devices[d]);
        for (size_t i = 0; i < TEST_COUNT(anywhere); ++i) {
            const ipt_plan_desc *const desc = &anywhere[i];
            const size_t span = test_span(desc);
            unsigned char *const input = malloc(span), *const expected = malloc(span),
                                 *const memory = page_memory(span + 128);
            ipt_plan *plan;
            test_fill(input, span);
            memcpy(expected, input, span);
            test_reference(expected, input, desc);
            assert_int_equal(ipt_plan_create(context, desc, &plan), IPT_SUCCESS);
            for (size_t p = 0; p < TEST_COUNT(places); ++p) {
                cl_int error;
                memcpy(memory + places[p], input, span);
                const cl_mem buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, span,
                                                     memory + places[p], &error);
                if (error) /* this OpenCL itself refuses such an address */
                    continue;
                const ipt_result result = ipt_plan_execute(plan, test_queue, buffer, 0, 0, NULL, NULL);
                assert_int_equal(
                    clEnqueueReadBuffer(test_queue, buffer, CL_TRUE, 0, span, memory + places[p], 0, NULL, NULL),
                    CL_SUCCESS);
                if (result)
                    test_expect_parts(result, IPT_ERROR_INVALID_ARGUMENT, "buffer", "multiple of");
                assert_memory_equal(memory + places[p], result ? input : expected, span);
                assert_true(places[p] % 16 != 0 || !result);
                ran += !result;
                turned_away += result != IPT_SUCCESS;
                clReleaseMemObject(buffer);
            }
            ipt_plan_destroy(plan);
            page_free(memory);
            free(input);
            free(expected);
        }
        close_context(context);
    }
    print_message("%zu buffers worked, %zu were refused\n", ran, turned_away);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Types of an extension, and limits that are not set */
/* ------------------------------------------------------------------------------------------------------------------ */

static void limits_types(void **state)
{
    static const told_device device = {0, 0, 0, 0, 1, 0, 0, "cl_khr_fp640 cl_khr_byte_addressable_store"};
    static const struct {
        const char *type, *expression, *extension;
        size_t bytes;
    } cases[] = {{"half", "x", "cl_khr_fp16", 2},
                 {"half8", "x", "cl_khr_fp16", 16},
                 {"double", "x + 1", "cl_khr_fp64", 8},
                 {"double2", "x", "cl_khr_fp64", 16},
                 {"float", "(float)sin((double)x)", "cl_khr_fp64", 4},
                 {"uchar8", "convert_uchar8(convert_int8(x))+as_uchar8((double)1)", "cl_khr_fp64", 8},
                 {"uint", "as_uint((half2)(0))", "cl_khr_fp16", 4},
                 {"float", "convert_float(convert_double(x))", "cl_khr_fp64", 4},
                 {"float2", "convert_float2_rtz(convert_double2(x) * 2)", "cl_khr_fp64", 8},
                 {"ulong", "as_ulong(as_double(x) + 1)", "cl_khr_fp64", 8},
                 {"uint4", "as_uint4(as_double2(x))", "cl_khr_fp64", 16},
                 {"float", "x * convert_double_rte(3)", "cl_khr_fp64", 4},
                 {"float", "x * M_PI", "cl_khr_fp64", 4},
                 {"float", "x + convert_double(as_half(x))", "convert_double: the device lacks cl_khr_fp64", 4},
                 {"float", "x + (half)convert_double(x)", "half: the device lacks cl_khr_fp16", 4},
                 {"float", "x * M_PI_2", "cl_khr_fp64", 4},
                 {"float", "x + DBL_EPSILON", "cl_khr_fp64", 4},
                 {"ushort", "as_ushort((half)x)", "cl_khr_fp16", 2},
                 {"ushort", "as_ushort(as_half(x) + 1)", "cl_khr_fp16", 2},
                 {"ushort4", "as_ushort4(-as_half4(x))", "cl_khr_fp16", 8},
                 {"float", "convert_float(convert_half_rte(x))", "cl_khr_fp16", 4},
                 {"float4", "convert_float4(convert_half4(x))", "cl_khr_fp16", 16},
                 {"float", "x * 1.5h", "cl_khr_fp16", 4},
                 {"float", "x * M_PI_H + HALF_MAX", "cl_khr_fp16", 4},
                 {"float", "x + doubled", NULL, 4},
                 {"float", "half_sqrt(x) + M_PI_F + M_E_F + FLT_MAX + 0x1fh1", NULL, 4},
                 {"ushort", "x + as_halfway + convert_doubled + HALF", NULL, 2},
                 {"ushort", "x + vload_half(0, (__private half *)&x)", NULL, 2},
                 {"ushort", "x + sizeof(half)", NULL, 2}};
    ipt_context *const context = open_context(&device);
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        ipt_plan_desc desc = {.rows = 5, .cols = 7, .elem_size = cases[i].bytes};
        ipt_plan *plan;
        desc.expression = cases[i].expression;
        desc.expression_type = cases[i].type;
        compiled = 0;
        const ipt_result result = ipt_plan_create(context, &desc, &plan);
        assert_true((compiled == 0) ==
                    (cases[i].extension != NULL)); /* types that need no extension depend on the compiler */
        if (cases[i].extension)
            test_expect_parts(result, IPT_ERROR_UNSUPPORTED, cases[i].extension, "the device lacks");
        ipt_plan_destroy(plan);
    }
    /* The type of the expression's argument. */
    static const char *const types[][2] = {
        {"half", "cl_khr_fp16"}, {"half2", "cl_khr_fp16"}, {"double", "cl_khr_fp64"}, {"double2", "cl_khr_fp64"}};
    for (size_t i = 0; i < TEST_COUNT(types); ++i) {
        ipt_plan_desc desc = {.rows = 5, .cols = 7, .elem_size = 4, .expression = "x", .expression_type = "uint"};
        ipt_plan *plan;
        desc.expression_argument = "1234567890123456";
        desc.expression_argument_type = types[i][0];
        test_expect_parts(ipt_plan_create(context, &desc, &plan), IPT_ERROR_UNSUPPORTED, types[i][1],
                          "expression_argument_type");
    }
    close_context(context);
}

/* Compilers refuse half without its pragma. Texts without half have no pragma. */
static void limits_half_is_enabled(void **state)
{
    static const told_device device = {0, 0, 0, 0, 1, 0, 0, "cl_khr_fp16 cl_khr_byte_addressable_store"};
    static const char *const cases[][3] = {{"half", "x", NULL},
                                           {"ushort", "as_ushort(as_half(x))", NULL},
                                           {"ushort", "x", "half"},
                                           {"ushort", "x + sizeof(half)", NULL},
                                           {"ushort", "x", "float"}};
    ipt_context *const context = open_context(&device);
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        ipt_plan_desc desc = {.rows = 5, .cols = 7, .elem_size = 2, .expression = cases[i][1]};
        ipt_plan *plan;
        desc.expression_type = cases[i][0];
        desc.expression_argument = cases[i][2] ? "1234567890123456" : NULL;
        desc.expression_argument_type = cases[i][2];
        enabled = 0;
        /* The true device may lack half. */
        if (ipt_plan_create(context, &desc, &plan))
            assert_non_null(strstr(ipt_context_error(NULL), "does not compile"));
        assert_int_equal(enabled, i < 3);
        ipt_plan_destroy(plan);
    }
    close_context(context);
}

/* No message mentions a limit that does not exist or is not set. */
static void limits_untold(void **state)
{
    static const told_device little = {0, 4 * MIB, 1, 0, 1, 0, 0, NULL}, unified = {0, 0, 0, 0, 1, 1, 0, NULL};
    ipt_plan_desc desc = {.rows = 1900, .cols = 1103, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS};
    ipt_context *context = open_context(&little);
    ipt_plan *plan;
    cl_int error;
    (void)state;
    test_expect_parts(ipt_plan_create(context, &desc, &plan), IPT_ERROR_UNSUPPORTED, "the device's memory", "sequence");
    assert_null(strstr(ipt_context_error(NULL), "max_"));
    desc.sequence = IPT_SEQUENCE_AUTO;
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    cl_mem buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, 1900 * 1103 * 4, NULL, &error);
    test_expect_parts(ipt_plan_execute(plan, test_queue, buffer, 0, 0, NULL, NULL), IPT_ERROR_UNSUPPORTED,
                      "the device's memory", "host matrices");
    assert_null(strstr(ipt_context_error(NULL), "max_"));
    clReleaseMemObject(buffer);
    ipt_plan_destroy(plan);
    desc.rows = sizeof(size_t) > 4 ? 1500000 : 32000;
    desc.cols = desc.rows + 1;
    test_expect_parts(ipt_plan_create(context, &desc, &plan), IPT_ERROR_UNSUPPORTED, "device memory", "which takes");
    assert_null(strstr(ipt_context_error(NULL), "max_"));
    close_context(context);
    context = open_context(&unified);
    desc = (ipt_plan_desc){.rows = 1000, .cols = 77, .elem_size = 4, .max_host_memory = 100000, .tile_m = 5};
    test_expect_parts(ipt_plan_create(context, &desc, &plan), IPT_ERROR_UNSUPPORTED, "max_host_memory", "tiles");
    assert_null(strstr(ipt_context_error(NULL), test_number(SIZE_MAX)));
    close_context(context);
}

const struct CMUnitTest test_limits[] = {
    TEST_CASE(limits_names),
    TEST_CASE(limits_any_address),
    TEST_CASE(limits_any_buffer),
    TEST_CASE(limits_address_and_memory),
    TEST_CASE(limits_address_of_uncut),
    TEST_CASE(limits_types),
    TEST_CASE(limits_half_is_enabled),
    TEST_CASE(limits_untold),
    TEST_CASE(limits_pieces),
    TEST_CASE(limits_more_than_told),
    TEST_CASE(limits_forced),
    TEST_CASE(limits_cut),
    TEST_CASE(limits_blocks),
    TEST_CASE(limits_storage),
    TEST_CASE(limits_workspace),
    TEST_CASE(limits_split),
};
const size_t test_limits_count = TEST_COUNT(test_limits);
