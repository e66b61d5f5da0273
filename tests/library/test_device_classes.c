/* How ipt adapts to devices with other features: older memory models, and sub-groups of either extension and several
 * sizes, some of which fail to build or to work. The test reports the device as a GPU with these features, and emulates
 * sub-groups by work-groups, which have the same size in these kernels. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The simulated device: its reports and its faults. */
typedef struct told_device {
    const char *extensions, *version; /* NULL: the truth */
    size_t sizes[4];                  /* reported size of its sub-groups */
    unsigned size;                    /* true size of its sub-groups; 0: programs with sub-groups do not build */
    int broken;       /* 1: broadcasts fail; 2: a sum omits lane 1, unless every lane has its bit in the sum */
    cl_ulong atomics; /* the reported capabilities; ~0: the true ones */
    int refuses;      /* programs with much local memory do not build */
} told_device;

static const told_device *told; /* NULL: the truth */
static cl_uint told_units;      /* compute units of a reported device; 0: the true ones */
static size_t told_most_bytes;  /* of a buffer; 0: the device's own limit */

static cl_int CL_API_CALL told_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                                               size_t *needed)
{
    static const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
    const void *answer = NULL;
    size_t answer_bytes = 0;
    if (told && name == CL_DEVICE_TYPE) {
        answer = &gpu;
        answer_bytes = sizeof gpu;
    } else if (told && name == CL_DEVICE_EXTENSIONS && told->extensions) {
        answer = told->extensions;
        answer_bytes = strlen(told->extensions) + 1;
    } else if (told && name == CL_DEVICE_VERSION && told->version) {
        answer = told->version;
        answer_bytes = strlen(told->version) + 1;
    } else if (told && told_units && name == CL_DEVICE_MAX_COMPUTE_UNITS) {
        answer = &told_units;
        answer_bytes = sizeof told_units;
    } else if (told && name == 0x4108) { /* CL_DEVICE_SUB_GROUP_SIZES_INTEL */
        answer = told->sizes;
        answer_bytes = sizeof told->sizes;
    } else if (told && told->extensions && strstr(told->extensions, "cl_amd_") && name == 0x4043) {
        answer = &told->size; /* CL_DEVICE_WAVEFRONT_WIDTH_AMD */
        answer_bytes = sizeof told->size;
    } else if (told && (name == 0x1063 || name == 0x1064) && ~told->atomics) {
        /* CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES and _FENCE_CAPABILITIES */
        answer = &told->atomics;
        answer_bytes = sizeof told->atomics;
    }
    if (!answer)
        return clGetDeviceInfo(device, name, bytes, value, needed);
    if (value && bytes < answer_bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, answer_bytes);
    if (needed)
        *needed = answer_bytes;
    return CL_SUCCESS;
}

/* Reports a platform other than PoCL: ipt does not use PoCL's sub-groups. */
static cl_int CL_API_CALL told_clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t bytes,
                                                 void *value, size_t *needed)
{
    static const char answer[] = "Told";
    if (!told || name != CL_PLATFORM_NAME)
        return clGetPlatformInfo(platform, name, bytes, value, needed);
    if (value && bytes < sizeof answer)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, sizeof answer);
    if (needed)
        *needed = sizeof answer;
    return CL_SUCCESS;
}

static cl_mem CL_API_CALL told_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                              cl_int *error)
{
    if (!told_most_bytes || bytes <= told_most_bytes)
        return clCreateBuffer(context, flags, bytes, host, error);
    if (error)
        *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

static const char made_sub_groups[] =
    "#define get_sub_group_local_id() ((uint)get_local_id(0))\n"
    "#define get_sub_group_size() ((uint)MADE_SIZE)\n"
    "#define get_num_sub_groups() ((uint)(get_local_size(0) / MADE_SIZE))\n"
    "#define sub_group_barrier(fences) barrier(fences)\n"
    "#define sub_group_broadcast(value, lane) made_broadcast(exchange, value, lane)\n"
    "#define sub_group_reduce_add(value) made_sum(exchange, value)\n"
    "uint made_broadcast(__local uint *values, uint value, uint lane)\n"
    "{\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    values[get_local_id(0)] = value;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    return MADE_BROKEN == 1 ? value : values[lane];\n"
    "}\n"
    "uint made_sum(__local uint *values, uint value)\n"
    "{\n"
    "    uint sum = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    values[get_local_id(0)] = value;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint i = 0; i < get_local_size(0); ++i)\n"
    "        sum += values[i];\n"
    "    return MADE_BROKEN == 2 && sum != ~0u >> (32 - MADE_SIZE) ? sum & ~2u : sum;\n"
    "}\n";

/* The side of a program's tile. */
static size_t told_tile(const char *text)
{
    static const char name[] = "#define IPT_TILE ";
    const char *const at = strstr(text, name);
    return at ? (size_t)strtoull(at + sizeof name - 1, NULL, 10) : 0;
}

/* If the source uses sub-groups and the device reports some, passes the compiler a source that emulates them by
 * work-groups. */
static cl_program CL_API_CALL told_clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                             const size_t *lengths, cl_int *error)
{
    static const char mark[] = "__local uint *exchange = 0;", values[] = "__local uint exchange[32];";
    const int asked =
        strstr(strings[0], "#define IPT_SUB_GROUP 2\n") || strstr(strings[0], "#define IPT_SUB_GROUP 3\n");
    const char *const at = strstr(strings[0], mark);
    const size_t capacity = strlen(strings[0]) + sizeof made_sub_groups + sizeof values + 100;
    char *text, *pragma;
    const char *handed;
    cl_program program;
    if (told && told->refuses &&
        ((strstr(strings[0], "ipt_k_swap(") && told_tile(strings[0]) > 32) ||
         strstr(strings[0], "ipt_k_out_of_place(") || strstr(strings[0], "ipt_k_pack("))) {
        handed = "#error too much local memory";
        return clCreateProgramWithSource(context, 1, &handed, NULL, error);
    }
    if (told && !told->size && asked) { /* fail to build: the true device may have sub-groups */
        handed = "#error no sub-groups";
        return clCreateProgramWithSource(context, 1, &handed, NULL, error);
    }
    if (!told || !asked || !at || count != 1)
        return clCreateProgramWithSource(context, count, strings, lengths, error);
    text = (char *)malloc(capacity);
    snprintf(text, capacity, "#define MADE_SIZE %u\n#define MADE_BROKEN %d\n%s%.*s%s%s", told->size, told->broken,
             made_sub_groups, (int)(at - strings[0]), strings[0], values, at + sizeof mark - 1);
    for (pragma = text; (pragma = strstr(pragma, "#pragma OPENCL EXTENSION")) != NULL;)
        memcpy(pragma, "//", 2); /* the compiler lacks sub-groups */
    handed = text;
    program = clCreateProgramWithSource(context, 1, &handed, NULL, error);
    free(text);
    return program;
}

#define clGetDeviceInfo told_clGetDeviceInfo
#define clGetPlatformInfo told_clGetPlatformInfo
#define clCreateProgramWithSource told_clCreateProgramWithSource
#define clCreateBuffer told_clCreateBuffer
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#undef clGetDeviceInfo
#undef clGetPlatformInfo
#undef clCreateProgramWithSource
#undef clCreateBuffer
#include "test.h"

/* Whether the source of one of the plan's programs of this kernel contains the text. */
static int source_says(const ipt_plan *plan, const char *kernel, const char *what)
{
    size_t i;
    const char *source;
    for (i = 0; (source = ipt_plan_source(plan, i)) != NULL; ++i)
        if (strstr(source, kernel) && strstr(source, what))
            return 1;
    return 0;
}

/* Transposes some shapes by chains on the simulated device. Checks results and programs twice: of plans that build
 * programs, and of plans that must find these programs. */
static void check_chains(const told_device *device, unsigned sub_group, unsigned lanes, size_t count)
{
    static const size_t shapes[][5] = {/* rows, cols, bytes of an element, batch, elements of a super-element */
                                       {611, 37, 4, 1, 170},
                                       {37, 690, 4, 2, 170},
                                       {1024, 17, 2, 1, 344},
                                       {17, 2000, 1, 2, 677}};
    ipt_context *context;
    ipt_context_desc context_desc = {0};
    char text[64];
    size_t i, pass;
    told = device;
    context_desc.context = test_cl_context;
    context_desc.device = test_device;
    context_desc.max_local_memory = 9216; /* enough for chains; panels would need more work-groups than run at a time */
    context_desc.resident_groups = 1;
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    for (pass = 0; pass < 2; ++pass)
        for (i = 0; i < count; ++i) {
            ipt_plan_desc desc = {0};
            ipt_plan *plan;
            unsigned char *data, *expected;
            size_t bytes;
            desc.rows = shapes[i][0];
            desc.cols = shapes[i][1];
            desc.elem_size = shapes[i][2];
            desc.batch = shapes[i][3];
            desc.sequence = IPT_SEQUENCE_TWO_PASS;
            desc.tile_m = desc.tile_n = shapes[i][4];
            desc.max_workspace = (size_t)1 << 24;
            desc.flags = pass ? IPT_CACHE_ONLY : 0;
            assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
            snprintf(text, sizeof text, "#define IPT_SUB_GROUP %u\n", sub_group);
            assert_true(source_says(plan, "ipt_k_chains(", text));
            snprintf(text, sizeof text, "#define IPT_LANES %u\n", lanes);
            assert_true(source_says(plan, "ipt_k_chains(", text));
            snprintf(text, sizeof text, "%s of %u", sub_group ? "sub-groups" : "work-groups", lanes);
            assert_non_null(strstr(ipt_plan_describe(plan), text));
            bytes = test_matrix_bytes(&desc) * desc.batch;
            data = (unsigned char *)malloc(bytes);
            expected = (unsigned char *)malloc(bytes);
            test_fill(data, bytes);
            desc.batch_stride = test_matrix_bytes(&desc);
            test_reference(expected, data, &desc);
            assert_int_equal(ipt_plan_execute_host(plan, data), IPT_SUCCESS);
            assert_memory_equal(data, expected, bytes);
            ipt_plan_destroy(plan);
            free(data);
            free(expected);
        }
    ipt_context_destroy(context);
    told = NULL;
}

static const char khr[] = "cl_khr_fp64 cl_khr_subgroups",
                  intel[] = "cl_intel_subgroups cl_intel_required_subgroup_size", intel_any[] = "cl_intel_subgroups";

static void device_classes_sub_groups(void **state)
{
    static const told_device khr_32 = {khr, NULL, {0}, 32, 0, ~(cl_ulong)0, 0},
                             khr_16 = {khr, NULL, {0}, 16, 0, ~(cl_ulong)0, 0},
                             intel_16 = {intel, NULL, {8, 16}, 16, 0, ~(cl_ulong)0, 0},
                             intel_8 = {intel_any, NULL, {8, 16}, 8, 0, ~(cl_ulong)0, 0};
    (void)state;
    test_need_own_kernels();
    test_need_group_of_32();
    if (test_version() >= 20) { /* cl_khr_subgroups needs OpenCL 2.0 */
        check_chains(&khr_32, 2, 32, 4);
        check_chains(&khr_16, 2, 16, 1);
    }
    check_chains(&intel_16, 3, 16, 1);
    check_chains(&intel_8, 3, 8, 1);
}

/* ipt uses work-groups instead of sub-groups that are missing, too large or wrong. */
static void device_classes_no_sub_groups(void **state)
{
    static const told_device none = {"cl_khr_fp64", NULL, {0}, 0, 0, ~(cl_ulong)0, 0},
                             other = {"cl_khr_subgroups_and_more", NULL, {0}, 32, 0, ~(cl_ulong)0, 0},
                             refused = {khr, NULL, {0}, 0, 0, ~(cl_ulong)0, 0},
                             intel_refused = {intel, NULL, {8, 16, 32}, 0, 0, ~(cl_ulong)0, 0},
                             old = {khr, "OpenCL 1.2 told", {0}, 32, 0, ~(cl_ulong)0, 0},
                             large = {khr, NULL, {0}, 64, 0, ~(cl_ulong)0, 0},
                             broken = {khr, NULL, {0}, 32, 1, ~(cl_ulong)0, 0},
                             intel_broken = {intel, NULL, {8, 16}, 16, 1, ~(cl_ulong)0, 0},
                             khr_loses_votes = {khr, NULL, {0}, 32, 2, ~(cl_ulong)0, 0},
                             intel_loses_votes = {intel, NULL, {8, 16}, 8, 2, ~(cl_ulong)0, 0};
    (void)state;
    test_need_group_of_32();
    check_chains(&none, 0, 32, 1);
    check_chains(&other, 0, 32, 1);
    check_chains(&refused, 0, 32, 1);
    check_chains(&intel_refused, 0, 32, 1);
    check_chains(&old, 0, 32, 1);
    check_chains(&large, 0, 32, 1);
    check_chains(&broken, 0, 32, 1);
    check_chains(&intel_broken, 0, 32, 1);
    check_chains(&khr_loses_votes, 0, 32, 1);
    check_chains(&intel_loses_votes, 0, 32, 1);
}

#ifndef IPT_NO_PAPERS
/* Transposes shapes by the papers' kernels for SIMD units of `width` work-items, and for parts of one. */
static void check_simd(const told_device *device, unsigned width)
{
    static const struct {
        ipt_variant variant_010, variant_100;
        unsigned lanes; /* of 100!; 0: the width */
    } cases[] = {{IPT_VARIANT_BS_SIMD, IPT_VARIANT_PTTWAC_100_SIMD, 0},
                 {IPT_VARIANT_BS_SIMD_PADDED, IPT_VARIANT_PTTWAC_100_SIMD_REGISTERS, 0},
                 {IPT_VARIANT_BS_VIRTUAL_16, IPT_VARIANT_PTTWAC_100_VIRTUAL_16, 16},
                 {IPT_VARIANT_BS_VIRTUAL_8, IPT_VARIANT_PTTWAC_100_VIRTUAL_8, 8},
                 {IPT_VARIANT_BS_GROUP, IPT_VARIANT_PTTWAC_100_VIRTUAL_16_REGISTERS, 16},
                 {IPT_VARIANT_BS_GROUP, IPT_VARIANT_PTTWAC_100_VIRTUAL_8_REGISTERS, 8}};
    static const size_t shapes[][6] = {/* rows, cols, bytes of an element, tile_m, tile_n, batch */
                                       {120, 90, 4, 12, 10, 1}, {77, 1000, 4, 7, 125, 2}, {510, 64, 8, 17, 8, 1},
                                       {36, 44, 1, 4, 11, 3},   {33, 50, 4, 11, 5, 1},    {600, 600, 2, 20, 30, 1}};
    static const ipt_sequence sequences[] = {IPT_SEQUENCE_3_1, IPT_SEQUENCE_4_1, IPT_SEQUENCE_4_3};
    ipt_context_desc context_desc = {.context = test_cl_context, .device = test_device, .resident_groups = 1};
    ipt_context *context;
    size_t served = 0;
    told = device;
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    for (size_t i = 0; i < TEST_COUNT(cases) * TEST_COUNT(shapes); ++i) {
        const ipt_sequence sequence = sequences[i % TEST_COUNT(sequences)];
        const size_t *const shape = shapes[i % TEST_COUNT(shapes)], c = i / TEST_COUNT(shapes);
        const ipt_plan_desc desc = {.rows = shape[0],
                                    .cols = shape[1],
                                    .elem_size = shape[2],
                                    .tile_m = shape[3],
                                    .tile_n = shape[4],
                                    .batch = shape[5],
                                    .sequence = sequence,
                                    .variant_010 =
                                        sequence == IPT_SEQUENCE_4_3 ? IPT_VARIANT_AUTO : cases[c].variant_010,
                                    .variant_100 = cases[c].variant_100};
        char text[2][64];
        ipt_plan *plan;
        const ipt_result result = ipt_plan_create(context, &desc, &plan);
        if (result) { /* registers cannot turn super-elements */
            assert_int_equal(result, IPT_ERROR_UNSUPPORTED);
            continue;
        }
        snprintf(text[0], sizeof text[0], "#define IPT_LANES %u\n", cases[c].lanes ? cases[c].lanes : width);
        snprintf(text[1], sizeof text[1], "#define IPT_GROUP_SIZE %u\n", width);
        assert_true(source_says(plan, "ipt_k_shuffle(", text[0]));
        assert_true(source_says(plan, "ipt_k_shuffle(", text[1]));
        ipt_plan_destroy(plan);
        test_transposes(context, &desc);
        ++served;
    }
    assert_true(served >= 28);
    ipt_context_destroy(context);
    told = NULL;
}

/* SIMD units of AMD's and Intel's GPUs, and of others. */
static void device_classes_simd(void **state)
{
    static const told_device amd_64 = {"cl_amd_device_attribute_query", NULL, {0}, 64, 0, ~(cl_ulong)0, 0},
                             amd_32 = {"cl_amd_device_attribute_query", NULL, {0}, 32, 0, ~(cl_ulong)0, 0},
                             intel_16 = {intel, NULL, {8, 16}, 0, 0, ~(cl_ulong)0, 0},
                             other = {"cl_khr_fp64", NULL, {0}, 0, 0, ~(cl_ulong)0, 0};
    (void)state;
    test_need_own_kernels();
    test_need_group_of_32();
    check_simd(&amd_64, 64);
    check_simd(&amd_32, 32);
    check_simd(&intel_16, 16);
    check_simd(&other, 32);
}
#endif

/* Programs use the memory model of OpenCL 2.0 exactly if the device has it. */
static void device_classes_memory_model(void **state)
{
    static const struct {
        told_device device;
        int model;
    } cases[] = {
        {{"", "OpenCL 1.2 told", {0}, 0, 0, ~(cl_ulong)0, 0}, 0},    {{"", "OpenCL 3.0 told", {0}, 0, 0, 0, 0}, 0},
        {{"", "OpenCL 3.0 told", {0}, 0, 0, 1 | 2 | 16, 0}, 0},  /* no scope of the device */
        {{"", "OpenCL 3.0 told", {0}, 0, 0, 1 | 16 | 32, 0}, 0}, /* no acquire and release */
        {{"", "OpenCL 3.0 told", {0}, 0, 0, 1 | 2 | 16 | 32, 0}, 3}, {{"", "OpenCL 2.1 told", {0}, 0, 0, 0, 0}, 3},
    };
    size_t i;
    cl_device_type type = 0;
    (void)state;
    clGetDeviceInfo(test_device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (!(type & CL_DEVICE_TYPE_CPU)) /* the other properties must be PoCL's */
        test_skip("the device is no CPU");
    for (i = 0; i < TEST_COUNT(cases); ++i) {
        ipt_context_desc desc = {0};
        ipt_context *context;
        desc.context = test_cl_context;
        desc.device = test_device;
        told = &cases[i].device;
        assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
        told = NULL;
        assert_int_equal(context->limits.memory_model, cases[i].model);
        ipt_context_destroy(context);
    }
}

/* If a kernel's local memory is too large to build, plans choose smaller kernels, also plans that must not compile. */
static void device_classes_refused_memory(void **state)
{
    static const told_device device = {"", NULL, {0}, 0, 0, ~(cl_ulong)0, 1};
    ipt_context_desc context_desc = {0};
    ipt_context *context;
    test_job job = {.size = 0};
    int pass;
    (void)state;
    context_desc.context = test_cl_context;
    context_desc.device = test_device;
    told = &device;
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    for (pass = 0; pass < 2; ++pass) {
        ipt_plan_desc desc = {0};
        ipt_plan *plan;
        cl_int error;
        cl_mem other;
        desc.rows = desc.cols = 700;
        desc.elem_size = 4;
        desc.sequence = IPT_SEQUENCE_SQUARE;
        desc.flags = pass ? IPT_CACHE_ONLY : 0;
        assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
        assert_true(source_says(plan, "ipt_k_swap(", "#define IPT_TILE 32\n"));
        test_job_prepare(&job, test_cl_context, &desc, 0);
        assert_true(test_job_run(&job, plan, test_queue));

        other = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, job.size, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        assert_true(test_job_upload(&job, test_queue));
        assert_int_equal(ipt_plan_execute_out_of_place(plan, test_queue, job.buffer, 0, other, 0, 0, NULL, NULL),
                         IPT_SUCCESS);
        assert_true(source_says(plan, "ipt_k_transpose(", "IPT_TILE"));
        assert_int_equal(
            clEnqueueReadBuffer(test_queue, other, CL_TRUE, 0, test_matrix_bytes(&desc), job.result, 0, NULL, NULL),
            CL_SUCCESS);
        assert_memory_equal(job.result, job.expected, test_matrix_bytes(&desc));
        clReleaseMemObject(other);
        ipt_plan_destroy(plan);
    }
    test_job_end(&job);
    ipt_context_destroy(context);
    told = NULL;
}

/* Batches of small matrices, on a GPU and on a GPU that refuses kernel pack: with and without gaps, all kinds of
 * elements, odd offsets, transposed and rotated. The kernel has a table for up to 2048 units of 1 or 2 bytes. */
static void device_classes_small_matrices(void **state)
{
    static const told_device devices[2] = {{"", NULL, {0}, 0, 0, ~(cl_ulong)0, 0},
                                           {"", NULL, {0}, 0, 0, ~(cl_ulong)0, 1}};
    static const size_t sides[][2] = {{2, 2}, {3, 5}, {8, 8}, {32, 32}, {17, 29}, {1, 40}, {32, 64}, {64, 48}},
                        sizes[] = {1, 2, 3, 4, 8, 12, 16, 20}, batches[] = {1, 3, 1000};
    size_t refused, side, size, batch, gap;
    (void)state;
    test_need_group_of_32();
    for (refused = 0; refused < 2; ++refused) {
        ipt_context_desc context_desc = {0};
        ipt_context *context;
        context_desc.context = test_cl_context;
        context_desc.device = test_device;
        context_desc.max_local_memory = (size_t)48 << 10; /* as a GPU's */
        told = &devices[refused];
        assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
        for (side = 0; side < sizeof sides / sizeof *sides; ++side)
            for (size = 0; size < sizeof sizes / sizeof *sizes; ++size)
                for (batch = 0; batch < 3; ++batch)
                    for (gap = 0; gap < 2; ++gap) {
                        ipt_plan_desc desc = {0};
                        ipt_plan *plan;
                        test_job job = {.size = 0};
                        desc.rows = sides[side][0];
                        desc.cols = sides[side][1];
                        desc.elem_size = sizes[size];
                        desc.move = (side + size + batch) % 3 == 0 ? IPT_MOVE_ROTATE_90 : IPT_MOVE_TRANSPOSE;
                        desc.batch = batches[batch];
                        desc.batch_stride = gap ? (desc.rows * desc.cols + 1) * desc.elem_size : 0;
                        if (ipt_plan_create(context, &desc, &plan) != IPT_SUCCESS) {
                            test_print_case(&desc, 0);
                            print_error("ipt_plan_create: %s\n", ipt_context_error(context));
                            fail();
                        }
                        if (desc.rows > 1 && desc.rows * desc.cols * desc.elem_size < 4096)
                            assert_int_equal(source_says(plan, "ipt_k_pack(", "IPT_LOCAL_BYTES"),
                                             !refused && (!gap || desc.batch == 1));
                        test_job_prepare(&job, test_cl_context, &desc, 3 * desc.elem_size);
                        assert_true(test_job_run(&job, plan, test_queue));
                        test_job_end(&job);
                        ipt_plan_destroy(plan);
                    }
        ipt_context_destroy(context);
    }
    told = NULL;
}

static void hear_count(const char *message, void *user)
{
    *(int *)user += strstr(message, "run at the same time") != NULL;
}

/* If fewer work-groups run at a time than there are compute units, ipt counts them again, but not for every plan. */
static void device_classes_counts(void **state)
{
    static const told_device device = {"", NULL, {0}, 0, 0, ~(cl_ulong)0, 0};
    ipt_context_desc context_desc = {0};
    ipt_context *context;
    int counts = 0, i;
    (void)state;
    test_need_group_of_32();
    context_desc.context = test_cl_context;
    context_desc.device = test_device;
    context_desc.max_local_memory = (size_t)48 << 10;
    context_desc.logger.log = hear_count;
    context_desc.logger.user = &counts;
    told = &device;
    told_units = 64;
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    for (i = 0; i < 12; ++i) {
        ipt_plan_desc desc = {0};
        ipt_plan *plan;
        desc.rows = 300 + (size_t)i;
        desc.cols = 200;
        desc.elem_size = 4;
        assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
    told = NULL;
    told_units = 0;
    assert_in_range(counts, 1, 4 * 2); /* for the two programs that these shapes may need */
}

/* Records which of the named kernels apply the plan's expression. Returns whether one of them also moves elements: the
 * expression then needs no pass of its own. */
static int note_appliers(const ipt_plan *plan, const char *const *names, size_t count, int *noted)
{
    static const char applies[] = "#define IPT_APPLY 1\n";
    int moves = 0;
    size_t i;
    for (i = 0; i < count; ++i)
        if (source_says(plan, names[i], applies))
            noted[i] = moves = 1;
    return moves && !source_says(plan, "ipt_k_map(", applies);
}

/* Rotations and expressions with a GPU's kernels: packs, large tiles, cooperative panels, narrow panels, boxes, and
 * panels that one work-group leaves to another. The size of local memory decides which kernels a shape uses. */
static void device_classes_moves(void **state)
{
    static const told_device device = {"", NULL, {0}, 0, 0, ~(cl_ulong)0, 0};
    static const struct {
        size_t rows, cols, batch;
    } shapes[] = {{5, 7, 40}, {700, 700, 1}, {900, 400, 1}, {401, 907, 1}, {60013, 5, 1}, {7, 45013, 1}, {307, 2, 1}};
    static const char *const kernels[] = {"ipt_k_pack(", "ipt_k_swap(", "ipt_k_panel(", "ipt_k_box("};
    int noted[4] = {0, 0, 0, 0};
    ipt_context_desc context_desc = {0};
    ipt_context *context;
    test_job job = {.size = 0};
    size_t s, move, i;
    (void)state;
    test_need_group_of_32();
    context_desc.context = test_cl_context;
    context_desc.device = test_device;
    context_desc.max_local_memory = (size_t)48 << 10; /* the size on a GPU: the tiles to swap do not fit a work-group */
    context_desc.resident_groups = 100000;            /* panels are tried whatever other work runs */
    told = &device;
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    for (s = 0; s < sizeof shapes / sizeof *shapes; ++s)
        for (move = 0; move < IPT__MOVE_COUNT; ++move) {
            ipt_plan_desc desc = {0};
            ipt_plan *plan;
            desc.rows = shapes[s].rows;
            desc.cols = shapes[s].cols;
            desc.batch = shapes[s].batch;
            desc.elem_size = 4;
            desc.move = (ipt_move)move;
            desc.expression = "x * 3 + 1";
            desc.expression_type = "uint";
            assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
            if (ipt__moves[move].transposed && !note_appliers(plan, kernels, TEST_COUNT(kernels), noted))
                fail_msg("no kernel that moves applies the expression:\n%s", ipt_plan_describe(plan));
            test_job_prepare(&job, test_cl_context, &desc, 64);
            for (i = 0; i < desc.rows * desc.cols * desc.batch; ++i) {
                cl_uint x;
                memcpy(&x, job.expected + 64 + 4 * i, 4);
                x = x * 3 + 1;
                memcpy(job.expected + 64 + 4 * i, &x, 4);
            }
            assert_true(test_job_run(&job, plan, test_queue));
            ipt_plan_destroy(plan);
        }
    for (i = 0; i < TEST_COUNT(kernels); ++i)
        if (!noted[i])
            fail_msg("%s has applied no expression", kernels[i]);
    test_job_end(&job);
    ipt_context_destroy(context);
    told = NULL;
}

/* Thin matrices by boxes, where the result of an element depends on its place: in place, and out of place. */
static void device_classes_thin_places(void **state)
{
    static const told_device device = {"", NULL, {0}, 0, 0, ~(cl_ulong)0, 0};
    static const struct {
        size_t rows, cols, batch;
    } shapes[] = {{3, 9000, 1}, {9000, 2, 6}, {60013, 5, 1}};
    const ipt_context_desc context_desc = {.context = test_cl_context,
                                           .device = test_device,
                                           .max_local_memory = (size_t)48 << 10,
                                           .resident_groups = 100000};
    ipt_context *context;
    (void)state;
    test_need_group_of_32();
    told = &device;
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    for (size_t s = 0; s < TEST_COUNT(shapes); ++s) {
        const size_t rows = shapes[s].rows, cols = shapes[s].cols, count = rows * cols * shapes[s].batch;
        const ipt_plan_desc desc = {.rows = rows,
                                    .cols = cols,
                                    .batch = shapes[s].batch,
                                    .elem_size = 4,
                                    .expression = "x + 3 * (uint)i0 + 5 * (uint)i1 + 7 * (uint)b",
                                    .expression_type = "uint"};
        cl_uint *const source = (cl_uint *)malloc(count * 4), *const result = (cl_uint *)malloc(count * 4);
        cl_mem buffers[2];
        ipt_plan *plan;
        assert_true(source && result);
        for (size_t i = 0; i < count; ++i)
            source[i] = (cl_uint)i * 2654435761u;
        for (int b = 0; b < 2; ++b)
            buffers[b] = clCreateBuffer(test_cl_context, CL_MEM_COPY_HOST_PTR, count * 4, source, NULL);
        assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
        assert_non_null(strstr(ipt_plan_describe(plan), "boxes together"));
        for (int way = 1; way >= 0; --way) {
            size_t wrong = 0;
            assert_int_equal(
                way ? ipt_plan_execute_out_of_place(plan, test_queue, buffers[0], 0, buffers[1], 0, 0, NULL, NULL)
                    : ipt_plan_execute(plan, test_queue, buffers[0], 0, 0, NULL, NULL),
                IPT_SUCCESS);
            assert_int_equal(
                clEnqueueReadBuffer(test_queue, buffers[way], CL_TRUE, 0, count * 4, result, 0, NULL, NULL),
                CL_SUCCESS);
            for (size_t i = 0; i < count; ++i) {
                const size_t m = i / (rows * cols), x = i / rows % cols, y = i % rows;
                wrong += result[i] != (cl_uint)(source[m * rows * cols + y * cols + x] + 3 * x + 5 * y + 7 * m);
            }
            assert_int_equal(wrong, 0);
        }
        ipt_plan_destroy(plan);
        clReleaseMemObject(buffers[0]);
        clReleaseMemObject(buffers[1]);
        free(source);
        free(result);
    }
    ipt_context_destroy(context);
    told = NULL;
}

/* Where the device refuses the workspace of boxes, a thin matrix moves otherwise. */
static void device_classes_thin_workspace(void **state)
{
    static const told_device device = {"", NULL, {0}, 0, 0, ~(cl_ulong)0, 0};
    const ipt_context_desc context_desc = {.context = test_cl_context,
                                           .device = test_device,
                                           .max_local_memory = (size_t)48 << 10,
                                           .resident_groups = 100000};
    ipt_plan_desc desc = {.rows = 3, .cols = 9000, .elem_size = 4};
    ipt_context *context;
    ipt_plan *plan;
    (void)state;
    test_need_group_of_32();
    told = &device;
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    told_most_bytes = 64;
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    assert_null(strstr(ipt_plan_describe(plan), "boxes together"));
    ipt_plan_destroy(plan);
    told_most_bytes = 0;
    desc.host = IPT_HOST_STAGES; /* boxes have no parts */
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    assert_null(strstr(ipt_plan_describe(plan), "boxes together"));
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    told = NULL;
}

const struct CMUnitTest test_device_classes[] = {
    TEST_CASE(device_classes_sub_groups),     TEST_CASE(device_classes_no_sub_groups),
    TEST_CASE(device_classes_simd),           TEST_CASE(device_classes_memory_model),
    TEST_CASE(device_classes_refused_memory), TEST_CASE(device_classes_counts),
    TEST_CASE(device_classes_small_matrices), TEST_CASE(device_classes_moves),
    TEST_CASE(device_classes_thin_places),    TEST_CASE(device_classes_thin_workspace),
};
const size_t test_device_classes_count = TEST_COUNT(test_device_classes);
