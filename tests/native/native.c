/* Contract: the native driver does what an OpenCL device does, without OpenCL. Plans move every element to its place,
 * to the byte, on both levels of instruction sets, with 1 to 64 threads. Its queues and events keep OpenCL's promises.
 * Where a device of OpenCL exists, results are compared with its own. The program does not need OpenCL. Arguments: the
 * number of random cases, the seed, and a pattern of tests' names. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define IPT_STATIC
#define IPT_IMPLEMENTATION
#define IPT_NATIVE
#ifndef IPT_NATIVE_PLAIN                       /* whose driver has neither expressions nor ready actions */
#define IPT_NATIVE_EXPRESSIONS "expressions.h" /* by run.sh, from the rows of `expressions` */
#endif
#define IPT_OPENCL_DYNAMIC
static int native_level;
#define IPT__NATIVE_LEVEL() (native_level)
#include "ipt.h"
#pragma GCC diagnostic ignored "-Wunused-function" /* this file uses a part of views.h */
#include "views.h"
#include "draws.h"

#include <math.h>
#include <pthread.h>
#include <sys/wait.h>

enum { GUARD = 64, THREADS = 64 };

static size_t cases = 300, seed = 1;
static const ipt__driver *const calls = &ipt__native;

static void native_context(ipt_context **context, size_t threads)
{
    const ipt_context_desc desc = {.driver = IPT_DRIVER_NATIVE, .threads = threads, .cache_dir = ""};
    assert_int_equal(ipt_context_create(&desc, context), IPT_SUCCESS);
}

/* The highest level that this processor has. */
static int levels(void)
{
#if IPT__NATIVE_LEVELS > 1
    return __builtin_cpu_supports("avx2") ? 2 : 1;
#else
    return 1;
#endif
}

static cl_command_queue make_queue(ipt_context *context)
{
    cl_int error;
    const cl_command_queue queue =
        calls->clCreateCommandQueue(context->context, context->device, CL_QUEUE_PROFILING_ENABLE, &error);
    assert_int_equal(error, CL_SUCCESS);
    return queue;
}

static cl_mem make_buffer(ipt_context *context, size_t bytes, void *content)
{
    cl_int error;
    const cl_mem buffer =
        calls->clCreateBuffer(context->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, content, &error);
    assert_int_equal(error, CL_SUCCESS);
    return buffer;
}

/* Executes a plan on host memory or in a buffer, and checks every byte. */
static void check_plan(ipt_context *context, const ipt_plan_desc *desc, bool in_buffer, const char *what)
{
    size_t elements = desc->rank ? 1 : desc->rows * desc->cols, bytes;
    unsigned char *source, *memory;
    ipt_plan *plan;
    ipt_result result;
    for (unsigned i = 0; i < desc->rank; ++i)
        elements *= desc->shape[i];
    bytes = elements * desc->elem_size * desc->batch;
    source = (unsigned char *)malloc(bytes + 2 * GUARD);
    memory = (unsigned char *)malloc(bytes + 2 * GUARD);
    assert_non_null(source);
    assert_non_null(memory);
    fill(source, bytes + 2 * GUARD);
    memcpy(memory, source, bytes + 2 * GUARD);
    result = ipt_plan_create(context, desc, &plan);
    if (result == IPT_ERROR_UNSUPPORTED && desc->max_workspace) { /* too little for this shape */
        free(source);
        free(memory);
        return;
    }
    if (result)
        fail_msg("%s: %s", what, ipt_context_error(context));
    if (in_buffer) {
        const cl_command_queue queue = make_queue(context);
        const cl_mem buffer = make_buffer(context, bytes + 2 * GUARD, memory);
        cl_event event;
        assert_int_equal(ipt_plan_execute(plan, queue, buffer, GUARD, 0, NULL, &event), IPT_SUCCESS);
        assert_int_equal(calls->clWaitForEvents(1, &event), CL_SUCCESS);
        assert_int_equal(
            calls->clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes + 2 * GUARD, memory, 0, NULL, NULL),
            CL_SUCCESS);
        calls->clReleaseEvent(event);
        calls->clReleaseMemObject(buffer);
        calls->clReleaseCommandQueue(queue);
    } else if (ipt_plan_execute_host(plan, memory + GUARD))
        fail_msg("%s: %s", what, ipt_context_error(context));
    if (memcmp(memory, source, GUARD) || memcmp(memory + GUARD + bytes, source + GUARD + bytes, GUARD) ||
        wrong_elements(desc, memory + GUARD, source + GUARD, elements))
        fail_msg("%s: wrong elements, or bytes beside them\n%s", what, ipt_plan_describe(plan));
    ipt_plan_destroy(plan);
    free(source);
    free(memory);
}

static void check_random(void (*draw)(ipt_plan_desc *), const char *name)
{
    for (native_level = 0; native_level < levels(); ++native_level)
        for (size_t i = 0; i < cases; ++i) {
            static const size_t threads[] = {1, 2, 3, 7, 64};
            ipt_context *context;
            ipt_plan_desc desc;
            char what[200];
            views_state = seed * 1000003 + i;
            draw(&desc);
            snprintf(what, sizeof what, "%s %zu of seed %zu, level %d", name, i, seed, native_level);
            native_context(&context, threads[i % (sizeof threads / sizeof *threads)]);
            check_plan(context, &desc, i % 2, what);
            ipt_context_destroy(context);
        }
    native_level = levels() - 1;
}

static void native_matrices(void **state)
{
    (void)state;
    check_random(draw_matrix, "matrix");
}

static void native_arrays(void **state)
{
    (void)state;
    check_random(draw_array, "array");
}

/* The result of a plan on host memory, which the caller frees; NULL: such a plan is refused. */
static unsigned char *result_of(ipt_context *context, const ipt_plan_desc *desc, const unsigned char *source,
                                size_t bytes)
{
    unsigned char *const memory = (unsigned char *)malloc(bytes);
    ipt_plan *plan;
    const ipt_result result = ipt_plan_create(context, desc, &plan);
    assert_non_null(memory);
    memcpy(memory, source, bytes);
    if (result == IPT_ERROR_UNSUPPORTED) {
        free(memory);
        return NULL;
    }
    if (result || ipt_plan_execute_host(plan, memory))
        fail_msg("%s", ipt_context_error(context));
    ipt_plan_destroy(plan);
    return memory;
}

/* OpenCL's device and the native driver compute equal bytes, or both refuse. An eighth of the cases: OpenCL compiles.
 */
static void native_as_opencl(void **state)
{
    const ipt_context_desc of_opencl = {.driver = IPT_DRIVER_OPENCL};
    ipt_context *native, *opencl;
    (void)state;
    if (ipt_context_create(&of_opencl, &opencl)) {
        fprintf(stderr, "no device of OpenCL\n");
        skip();
    }
    native_context(&native, 0);
    for (size_t i = 0; i < cases / 8; ++i) {
        ipt_plan_desc desc;
        size_t bytes;
        unsigned char *source, *results[2];
        views_state = seed * 1000003 + i;
        (i % 2 ? draw_array : draw_matrix)(&desc);
        bytes = desc.elem_size * desc.batch * (desc.rank ? 1 : desc.rows * desc.cols);
        for (unsigned axis = 0; axis < desc.rank; ++axis)
            bytes *= desc.shape[axis];
        source = (unsigned char *)malloc(bytes);
        assert_non_null(source);
        fill(source, bytes);
        results[0] = result_of(native, &desc, source, bytes);
        results[1] = result_of(opencl, &desc, source, bytes);
        if ((!desc.max_workspace && !results[0] != !results[1]) ||
            (results[0] && results[1] && memcmp(results[0], results[1], bytes)))
            fail_msg("case %zu of seed %zu: the results differ", i, seed);
        free(source);
        free(results[0]);
        free(results[1]);
    }
    ipt_context_destroy(native);
    ipt_context_destroy(opencl);
}

/* Elements with gaps, and between them bytes that stay. */
static void native_views(void **state)
{
    ipt_context *context;
    (void)state;
    native_context(&context, 0);
    for (size_t i = 0; i < cases; ++i) {
        const size_t rows = views_between(1, 60), cols = views_between(1, 60), elem_size = draw_elem_size();
        const size_t step = elem_size * views_between(1, 3), out = elem_size * views_between(1, 3);
        ipt_plan_desc desc = {.rank = 2, .shape = {rows, cols}, .axes = {1, 0}, .elem_size = elem_size};
        size_t bytes, wrong = 0;
        unsigned char *source, *memory;
        ipt_plan *plan;
        desc.strides[1] = step;
        desc.strides[0] = step * cols + elem_size * views_between(0, 3);
        desc.strides_out[1] = out;
        desc.strides_out[0] = out * rows + elem_size * views_between(0, 3);
        bytes = ipt__max(desc.strides[0] * rows, desc.strides_out[0] * cols) + elem_size;
        source = (unsigned char *)malloc(bytes);
        memory = (unsigned char *)malloc(bytes);
        fill(source, bytes);
        memcpy(memory, source, bytes);
        assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
        assert_int_equal(ipt_plan_execute_host(plan, memory), IPT_SUCCESS);
        for (size_t r = 0; r < cols; ++r)
            for (size_t c = 0; c < rows; ++c)
                wrong += memcmp(memory + r * desc.strides_out[0] + c * out, source + c * desc.strides[0] + r * step,
                                elem_size) != 0;
        assert_int_equal(wrong, 0);
        ipt_plan_destroy(plan);
        free(source);
        free(memory);
    }
    ipt_context_destroy(context);
}

/* Plans of many shapes and devices' sizes find all their programs. Nothing is executed. */
static void native_programs(void **state)
{
    ipt_context *context;
    (void)state;
    native_context(&context, 8);
    for (size_t i = 0; i < 10 * cases; ++i) {
        ipt_plan_desc desc;
        ipt_plan *plan;
        ipt_result result;
        views_state = seed + 7 * i;
        (i % 2 ? draw_matrix : draw_array)(&desc);
        if (i % 2) {
            desc.rows *= views_between(1, 40);
            desc.batch = 1;
        }
        result = ipt_plan_create(context, &desc, &plan);
        if (result && strstr(ipt_context_error(context), "program"))
            fail_msg("case %zu: %s", i, ipt_context_error(context));
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
}

static cl_int status_of(cl_event event)
{
    cl_int status = 99;
    assert_int_equal(calls->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
                     CL_SUCCESS);
    return status;
}

/* An execution starts after the events that it waits for, and later ones of its queue after it. A failed event ends it
 * before it changes data. */
static void native_events(void **state)
{
    const ipt_plan_desc desc = {.rows = 300, .cols = 700, .elem_size = 4, .batch = 1};
    const size_t bytes = 300 * 700 * 4;
    unsigned char *const source = (unsigned char *)malloc(bytes), *const memory = (unsigned char *)malloc(bytes);
    ipt_context *context;
    ipt_plan *plan;
    (void)state;
    fill(source, bytes);
    native_context(&context, 0);
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    for (int fails = 0; fails < 2; ++fails) {
        const cl_command_queue queue = make_queue(context);
        const cl_mem buffer = make_buffer(context, bytes, source);
        cl_event gate, moved, read;
        cl_int error;
        gate = calls->clCreateUserEvent(context->context, &error);
        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(ipt_plan_execute(plan, queue, buffer, 0, 1, &gate, &moved), IPT_SUCCESS);
        assert_int_equal(calls->clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, bytes, memory, 0, NULL, &read),
                         CL_SUCCESS);
        assert_true(status_of(moved) > CL_COMPLETE);
        assert_true(status_of(read) > CL_COMPLETE);
        assert_int_equal(calls->clSetUserEventStatus(gate, fails ? -5 : CL_COMPLETE), CL_SUCCESS);
        assert_int_equal(calls->clFinish(queue), CL_SUCCESS);
        assert_true(fails ? status_of(moved) < 0 : status_of(moved) == CL_COMPLETE);
        assert_int_equal(status_of(read), CL_COMPLETE);
        assert_int_equal(wrong_elements(&desc, memory, source, 300 * 700) == 0, !fails);
        assert_int_equal(memcmp(memory, source, bytes) == 0, fails);
        calls->clReleaseEvent(gate);
        calls->clReleaseEvent(moved);
        calls->clReleaseEvent(read);
        calls->clReleaseMemObject(buffer);
        calls->clReleaseCommandQueue(queue);
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    free(source);
    free(memory);
}

static ipt_context *shared_context;
static void *use(void *number)
{
    const size_t mine = (size_t)(uintptr_t)number;
    const ipt_plan_desc desc = {.rows = 20 + 31 * mine, .cols = 333, .elem_size = 1 + mine % 8, .batch = 1};
    const size_t elements = desc.rows * desc.cols, bytes = elements * desc.elem_size;
    unsigned char *const source = (unsigned char *)malloc(bytes), *const memory = (unsigned char *)malloc(bytes);
    size_t wrong = 0;
    ipt_plan *plan;
    for (size_t i = 0; i < bytes; ++i)
        source[i] = (unsigned char)(i * 2654435761u >> 11);
    if (ipt_plan_create(shared_context, &desc, &plan))
        wrong = 1;
    for (int round = 0; round < 5 && !wrong; ++round) {
        memcpy(memory, source, bytes);
        wrong = ipt_plan_execute_host(plan, memory) || wrong_elements(&desc, memory, source, elements);
    }
    ipt_plan_destroy(plan);
    free(source);
    free(memory);
    return (void *)(uintptr_t)wrong;
}

/* Threads of a user share a context. */
static void native_users(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    native_context(&shared_context, 4);
    for (uintptr_t i = 0; i < THREADS; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, use, (void *)i), 0);
    for (int i = 0; i < THREADS; ++i) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    ipt_context_destroy(shared_context);
}

/* After fork, a child uses its parent's context and its own. */
static void native_fork(void **state)
{
    int status;
    pid_t child;
    (void)state;
    native_context(&shared_context, 4);
    assert_null(use((void *)50));
    child = fork();
    if (!child) {
        void *wrong = use((void *)51);
        ipt_context_destroy(shared_context);
        native_context(&shared_context, 3);
        wrong = wrong ? wrong : use((void *)52);
        ipt_context_destroy(shared_context);
        _exit(wrong != NULL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_null(use((void *)53));
    ipt_context_destroy(shared_context);
}

/* Without OpenCL, this CPU is the device. */
static void native_choice(void **state)
{
    ipt_context_desc desc = {.cache_dir = ""};
    ipt_context *context;
    (void)state;
    unsetenv("IPT_DEVICE");
    setenv("IPT_OPENCL_LIBRARY", "/nowhere/libOpenCL.so", 1);
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    assert_int_equal(context->driver, IPT__DRIVER_NATIVE);
    ipt_context_destroy(context);
    desc.driver = IPT_DRIVER_OPENCL;
    assert_int_equal(ipt_context_create(&desc, &context), IPT_ERROR_NO_DEVICE);
    desc.driver = IPT_DRIVER_AUTO;
    desc.device_name = "Native";
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    assert_int_equal(context->driver, IPT__DRIVER_NATIVE);
    ipt_context_destroy(context);
    desc.device_name = "no such device";
    assert_int_equal(ipt_context_create(&desc, &context), IPT_ERROR_NO_DEVICE);
    desc.driver = IPT_DRIVER_NATIVE;
    desc.device_name = NULL;
    desc.device = (cl_device_id)(void *)&desc;
    assert_int_equal(ipt_context_create(&desc, &context), IPT_ERROR_INVALID_ARGUMENT);
    desc.device = NULL;
    desc.context = (cl_context)(void *)&desc;
    assert_int_equal(ipt_context_create(&desc, &context), IPT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(ipt_context_error(NULL), "context is another driver's"));
    unsetenv("IPT_OPENCL_LIBRARY");
}

/* No handle of this driver reaches OpenCL, and none of OpenCL this driver. */
static void native_handles(void **state)
{
    const ipt_plan_desc desc = {.rows = 30, .cols = 70, .elem_size = 4};
    void *foreign[4] = {foreign};
    ipt_context *context;
    ipt_plan *plan;
    (void)state;
    native_context(&context, 0);
    assert_null(ipt_context_cl_context(context));
    assert_null(ipt_context_cl_device(context));
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    assert_int_equal(
        ipt_plan_execute(plan, (cl_command_queue)(void *)foreign, (cl_mem)(void *)foreign, 0, 0, NULL, NULL),
        IPT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(ipt_plan_execute(plan, context->queue, (cl_mem)(void *)foreign, 0, 0, NULL, NULL),
                     IPT_ERROR_INVALID_ARGUMENT);
    assert_ptr_equal(foreign[0], foreign);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
}

/* An expression in plain C: computes an element anew. places: of the element in the result; b of its matrix. */
typedef void compute(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b);

static void compute_scaled(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    float x, a;
    (void)places;
    (void)b;
    memcpy(&x, element, sizeof x);
    memcpy(&a, argument, sizeof a);
    x *= a;
    memcpy(element, &x, sizeof x);
}

static void compute_placed(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    float x;
    (void)argument;
    memcpy(&x, element, sizeof x);
    x = x + (float)(b * 5) + (float)(places[0] * 31) + (float)(places[1] * 1009);
    memcpy(element, &x, sizeof x);
}

static void compute_bright(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    float a;
    (void)places;
    (void)b;
    memcpy(&a, argument, sizeof a);
    for (int k = 0; k < 4; ++k) {
        const float bright = rintf((float)element[k] * a);
        element[k] = (unsigned char)(bright > 255 ? 255 : bright > 0 ? bright : 0);
    }
}

static void compute_swapped(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    const unsigned char first = element[0];
    (void)argument;
    (void)places;
    (void)b;
    element[0] = element[2];
    element[2] = first;
}

static void compute_reversed(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    (void)argument;
    (void)places;
    (void)b;
    for (int k = 0; k < 4; ++k) {
        const unsigned char byte = element[k];
        element[k] = element[7 - k];
        element[7 - k] = byte;
    }
}

static void compute_rooted(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    double x, a;
    (void)places;
    (void)b;
    memcpy(&x, element, sizeof x);
    memcpy(&a, argument, sizeof a);
    x = sqrt(fabs(x)) + a;
    memcpy(element, &x, sizeof x);
}

static void compute_clamped(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    uint16_t x;
    int32_t a;
    (void)places;
    (void)b;
    memcpy(&x, element, sizeof x);
    memcpy(&a, argument, sizeof a);
    a = x - a % 100000;
    x = (uint16_t)(a < 10 ? 10 : a > 60000 ? 60000 : a);
    memcpy(element, &x, sizeof x);
}

static void compute_mixed(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    uint32_t x[4], a[4];
    (void)places;
    (void)b;
    memcpy(x, element, sizeof x);
    memcpy(a, argument, sizeof a);
    for (int k = 0; k < 4; ++k)
        x[k] ^= a[k] + 7;
    memcpy(element, x, sizeof x);
}

static void compute_numbered(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    uint64_t x;
    memcpy(&x, element, sizeof x);
    x += (uint64_t)places[1] * 3 + (uint64_t)(b << 3) * *argument;
    memcpy(element, &x, sizeof x);
}

static void compute_negative(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    (void)argument;
    (void)places;
    (void)b;
    if (*element < 128)
        *element = (unsigned char)(256 - *element);
}

static void compute_lesser(unsigned char *element, const unsigned char *argument, const size_t *places, size_t b)
{
    uint32_t x;
    float y, a;
    (void)places;
    (void)b;
    memcpy(&x, element, sizeof x);
    memcpy(&a, argument, sizeof a);
    x &= 0x7fffffff;
    memcpy(&y, &x, sizeof y);
    y = fminf(y, a);
    memcpy(element, &y, sizeof y);
}

static const struct {
    const char *type, *argument_type, *text;
    compute *compute;
} expressions[] = {
    {"float", "float", "x * a", compute_scaled},
    {"float", "", "x + b * 5 + i * 31 + j * 1009", compute_placed},
    {"uchar4", "float", "convert_uchar4_sat_rte(convert_float4(x) * (float4)(a))", compute_bright},
    {"uchar4", "", "(uchar4)(x.z, x.s1, x.x, x.w)", compute_swapped},
    {"uchar8", "", "x.s76543210", compute_reversed},
    {"double", "double", "sqrt(fabs(x)) + a", compute_rooted},
    {"ushort", "int", "clamp(x - a % 100000, 10, 60000)", compute_clamped},
    {"uint4", "uint4", "x ^ (a + (uint4)(7)) /* 7, 7, 7, 7 */", compute_mixed},
    {"ulong", "uchar", "x + (ulong)i1 * 3 + (ulong)(b << 3) * a", compute_numbered},
    {"char", "", "x < 0 ? x : (char)-x", compute_negative},
    {"uint", "float", "as_uint(fmin(as_float(x & 0x7fffffff), a))", compute_lesser},
};

static void set_expression(ipt_plan_desc *desc, size_t number, unsigned char argument[16])
{
    const float factor = (float)views_between(1, 99) / 16;
    const double summand = factor;
    fill(argument, 16);
    desc->expression = expressions[number].text;
    desc->expression_type = expressions[number].type;
    desc->elem_size = ipt__type_bytes(desc->expression_type);
    if (*expressions[number].argument_type) {
        desc->expression_argument_type = expressions[number].argument_type;
        desc->expression_argument = argument;
        if (!strcmp(desc->expression_argument_type, "float"))
            memcpy(argument, &factor, sizeof factor);
        if (!strcmp(desc->expression_argument_type, "double"))
            memcpy(argument, &summand, sizeof summand);
    }
}

/* Elements without their value. */
static size_t wrong_values(const ipt_plan_desc *desc, size_t number, const unsigned char *result,
                           const unsigned char *source, size_t elements)
{
    size_t wrong = 0, places[IPT_MAX_RANK];
    for (size_t m = 0; m < desc->batch; ++m)
        for (size_t at = 0; at < elements; ++at) {
            const size_t cols = ipt__moves[desc->move].transposed ? desc->rows : desc->cols;
            size_t rest = at, from = desc->rank ? array_source_of(desc, at) : source_of(desc, at);
            unsigned char element[16];
            for (unsigned i = desc->rank; i-- > 0; rest /= desc->shape[desc->axes[i]])
                places[i] = rest % desc->shape[desc->axes[i]];
            if (!desc->rank) {
                places[0] = at / cols;
                places[1] = at % cols;
            }
            memcpy(element, source + (m * elements + from) * desc->elem_size, desc->elem_size);
            expressions[number].compute(element, (const unsigned char *)desc->expression_argument, places, m);
            wrong += memcmp(result + (m * elements + at) * desc->elem_size, element, desc->elem_size) != 0;
        }
    return wrong;
}

enum { IN_BUFFER, OUT_OF_PLACE, IN_MEMORY, UNALIGNED, CUT, WAYS };

/* Executes a plan with an expression in one of these ways. memory: the source, then the result. */
static void execute(ipt_context *context, ipt_plan *plan, int way, unsigned char *memory, size_t bytes)
{
    const size_t offset = way == UNALIGNED;
    const cl_command_queue queue = make_queue(context);
    const cl_mem buffer = make_buffer(context, bytes, memory), other = make_buffer(context, bytes, memory);
    const cl_mem result = way == OUT_OF_PLACE ? other : buffer;
    ipt_result done;
    if (way == IN_BUFFER)
        done = ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, NULL);
    else if (way == OUT_OF_PLACE)
        done = ipt_plan_execute_out_of_place(plan, queue, buffer, 0, other, 0, 0, NULL, NULL);
    else {
        memmove(memory + offset, memory, bytes);
        done = ipt_plan_execute_host(plan, memory + offset);
        memmove(memory, memory + offset, bytes);
    }
    if (done)
        fail_msg("way %d: %s", way, ipt_context_error(context));
    if (way == IN_BUFFER || way == OUT_OF_PLACE)
        assert_int_equal(calls->clEnqueueReadBuffer(queue, result, CL_TRUE, 0, bytes, memory, 0, NULL, NULL),
                         CL_SUCCESS);
    calls->clReleaseMemObject(buffer);
    calls->clReleaseMemObject(other);
    calls->clReleaseCommandQueue(queue);
}

/* Expressions that were compiled with this program compute what plain C does: matrices and arrays, in all ways. */
static void native_expressions(void **state)
{
    enum { EXPRESSIONS = sizeof expressions / sizeof expressions[0] };
    size_t executed[WAYS] = {0};
    ipt_context *context;
    (void)state;
    native_context(&context, 3);
    for (size_t i = 0; i < 2 * cases + EXPRESSIONS; ++i) {
        const size_t number = i % EXPRESSIONS;
        const int way = (int)(i / EXPRESSIONS % WAYS);
        unsigned char argument[16], *source, *memory;
        ipt_plan_desc desc;
        ipt_plan *plan;
        size_t elements, bytes;
        ipt_result result;
        views_state = seed * 1000003 + i;
        (views_between(0, 1) ? draw_array : draw_matrix)(&desc);
        desc.batch = views_between(1, 3);
        desc.max_workspace = 0;
        if (way == OUT_OF_PLACE)
            desc.move = IPT_MOVE_TRANSPOSE;
        set_expression(&desc, number, argument);
        elements = desc.rank ? 1 : desc.rows * desc.cols;
        for (unsigned axis = 0; axis < desc.rank; ++axis)
            elements *= desc.shape[axis];
        bytes = elements * desc.batch * desc.elem_size;
        desc.max_device_memory = way == CUT ? bytes / 2 + 40000 : 0;
        source = (unsigned char *)malloc(bytes);
        memory = (unsigned char *)malloc(bytes + 1);
        fill(source, bytes);
        memcpy(memory, source, bytes);
        result = ipt_plan_create(context, &desc, &plan);
        if (result && !(way == CUT && result == IPT_ERROR_UNSUPPORTED))
            fail_msg("case %zu of seed %zu: %s", i, seed, ipt_context_error(context));
        if (!result) {
            execute(context, plan, way, memory, bytes);
            if (wrong_values(&desc, number, memory, source, elements))
                fail_msg("case %zu of seed %zu, way %d: wrong values of '%s'\n%s", i, seed, way, desc.expression,
                         ipt_plan_describe(plan));
            ++executed[way];
        }
        ipt_plan_destroy(plan);
        free(source);
        free(memory);
    }
    for (int way = 0; way < WAYS; ++way)
        assert_true(executed[way] > 0);
    ipt_context_destroy(context);
}

/* Expressions in arrays with gaps: the bytes between elements stay. */
static void native_expressions_in_views(void **state)
{
    ipt_context *context;
    (void)state;
    native_context(&context, 0);
    for (size_t i = 0; i < cases; ++i) {
        const size_t number = 2 * (i % 4); /* expressions without places */
        unsigned char argument[16], *source, *memory, *expected;
        size_t lengths[3], bytes, out[3];
        ipt_plan_desc desc = {.rank = 3, .axes = {2, 1, 0}};
        ipt_plan *plan;
        views_state = seed * 1000003 + i;
        set_expression(&desc, number, argument);
        if (i % 2) {
            desc.axes[0] = 1;
            desc.axes[1] = 2;
        }
        for (int axis = 0; axis < 3; ++axis)
            desc.shape[axis] = lengths[axis] = views_between(1, 24);
        desc.strides[2] = desc.strides_out[2] = desc.elem_size;
        for (int axis = 2; axis-- > 0;) {
            desc.strides[axis] = desc.strides[axis + 1] * lengths[axis + 1] + desc.elem_size * views_between(0, 2);
            desc.strides_out[axis] = desc.strides_out[axis + 1] * lengths[desc.axes[axis + 1]] +
                                     desc.elem_size * views_between(i % 4 == 0, 2);
        }
        for (int axis = 0; axis < 3; ++axis)
            out[desc.axes[axis]] = desc.strides_out[axis];
        bytes = ipt__max(desc.strides[0] * lengths[0], desc.strides_out[0] * lengths[desc.axes[0]]) + desc.elem_size;
        source = (unsigned char *)malloc(bytes);
        memory = (unsigned char *)malloc(bytes);
        expected = (unsigned char *)malloc(bytes);
        fill(source, bytes);
        memcpy(memory, source, bytes);
        memcpy(expected, source, bytes);
        if (ipt_plan_create(context, &desc, &plan) || ipt_plan_execute_host(plan, memory))
            fail_msg("case %zu of seed %zu: %s", i, seed, ipt_context_error(context));
        for (int writes = 0; writes < 2; ++writes) /* bytes that only the source has may have any value */
            for (size_t at = 0; at < lengths[0] * lengths[1] * lengths[2]; ++at) {
                const size_t x = at / lengths[2] / lengths[1], y = at / lengths[2] % lengths[1], z = at % lengths[2];
                const size_t from = x * desc.strides[0] + y * desc.strides[1] + z * desc.strides[2];
                const size_t to = x * out[0] + y * out[1] + z * out[2];
                if (writes) {
                    memcpy(expected + to, source + from, desc.elem_size);
                    expressions[number].compute(expected + to, argument, NULL, 0);
                } else
                    memcpy(expected + from, memory + from, desc.elem_size);
            }
        if (memcmp(memory, expected, bytes))
            fail_msg("case %zu of seed %zu: wrong values of '%s'\n%s", i, seed, desc.expression,
                     ipt_plan_describe(plan));
        ipt_plan_destroy(plan);
        free(source);
        free(memory);
        free(expected);
    }
    ipt_context_destroy(context);
}

/* What needs a compiler is refused, with the way out. */
static void native_refusals(void **state)
{
    const ipt_plan_desc desc = {
        .rows = 30, .cols = 70, .elem_size = 4, .expression = "x + 1", .expression_type = "uint"};
    ipt_context *context;
    ipt_plan *plan;
    (void)state;
    native_context(&context, 0);
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(ipt_context_error(context),
                           "use an OpenCL device, or `ipt precompile --native FILE.h --type "
                           "uint --expression 'x + 1'`"));
    assert_null(plan);
    ipt_context_destroy(context);
}

/* A product C = 2 A B + 3 C of whole numbers, so that floats are exact. */
typedef struct product {
    ipt_batch_desc desc;
    ipt_batch_operand operands[3];
    float *data[3], *wanted;
    size_t bytes;
} product;

/* The place of component (i, j) of an operand in element e. */
static size_t product_place(const product *its, size_t k, size_t e, size_t i, size_t j)
{
    const ipt_batch_operand *const operand = &its->operands[k];
    const size_t q = i * operand->cols + j, all = operand->rows * operand->cols;
    return operand->layout == IPT_LAYOUT_ELEMENTS ? e * all + q
           : operand->layout == IPT_LAYOUT_PLANES
               ? q * its->desc.count + e
               : e / operand->width * all * operand->width + q * operand->width + e % operand->width;
}

static void product_draw(product *its)
{
    const size_t m = views_between(1, 6), inner = views_between(1, 6), n = views_between(1, 6);
    const size_t rows[] = {m, inner, m}, cols[] = {inner, n, n};
    memset(its, 0, sizeof *its);
    its->desc = (ipt_batch_desc){.count = views_between(1, 3000), .operands = its->operands, .operand_count = 3};
    its->desc.ready = IPT_ACTION_GEMM;
    its->desc.argument_type = "float2";
    its->bytes = (its->desc.count + 40) * 36 * sizeof(float);
    its->desc.max_device_memory = views_between(0, 1) ? its->bytes : 0;
    for (size_t k = 0; k < 3; ++k) {
        static const char *const names[] = {"A", "B", "C"};
        its->operands[k] = (ipt_batch_operand){.name = names[k],
                                               .type = "float",
                                               .rows = rows[k],
                                               .cols = cols[k],
                                               .access = k < 2 ? IPT_READ : IPT_READ_WRITE,
                                               .layout = (ipt_layout)views_between(0, 2)};
        its->operands[k].width = its->operands[k].layout == IPT_LAYOUT_BLOCKS ? views_between(1, 40) : 0;
        its->data[k] = malloc(its->bytes);
        for (size_t i = 0; i < its->bytes / sizeof(float); ++i)
            its->data[k][i] = (float)views_between(0, 20) - 10;
    }
    its->wanted = malloc(its->bytes);
    memcpy(its->wanted, its->data[2], its->bytes);
    for (size_t e = 0; e < its->desc.count; ++e)
        for (size_t at = 0; at < m * n; ++at) {
            float sum = 3 * its->data[2][product_place(its, 2, e, at / n, at % n)];
            for (size_t k = 0; k < inner; ++k)
                sum += 2 * its->data[0][product_place(its, 0, e, at / n, k)] *
                       its->data[1][product_place(its, 1, e, k, at % n)];
            its->wanted[product_place(its, 2, e, at / n, at % n)] = sum;
        }
}

/* Executes a batch in buffers, after its plan has gone, and compares C. */
static void product_in_buffers(ipt_context *context, product *its)
{
    static const float factors[] = {2, 3};
    ipt_batch_buffer buffers[3];
    ipt_batch *batch;
    cl_int error;
    const cl_event wait = calls->clCreateUserEvent(context->context, &error);
    assert_int_equal(ipt_batch_create(context, &its->desc, &batch), IPT_SUCCESS);
    for (size_t k = 0; k < 3; ++k)
        buffers[k] = (ipt_batch_buffer){
            calls->clCreateBuffer(context->context, CL_MEM_COPY_HOST_PTR, its->bytes, its->data[k], &error), 0};
    assert_int_equal(ipt_batch_execute(batch, context->queue, buffers, factors, 1, &wait, NULL), IPT_SUCCESS);
    ipt_batch_destroy(batch);
    ipt_context_trim(context);
    assert_int_equal(calls->clSetUserEventStatus(wait, CL_COMPLETE), CL_SUCCESS);
    calls->clReleaseEvent(wait);
    float *const result = malloc(its->bytes);
    assert_int_equal(
        calls->clEnqueueReadBuffer(context->queue, buffers[2].buffer, CL_TRUE, 0, its->bytes, result, 0, NULL, NULL),
        CL_SUCCESS);
    assert_memory_equal(result, its->wanted, its->bytes);
    free(result);
    for (size_t k = 0; k < 3; ++k)
        calls->clReleaseMemObject(buffers[k].buffer);
}

/* Ready actions in buffers and in host memory, whole and in chunks, with 1 to 8 threads. */
static void native_batches(void **state)
{
    static const float factors[] = {2, 3};
    (void)state;
    views_state = seed;
    for (size_t i = 0; i < cases / 6 + 1; ++i) {
        ipt_context *context;
        ipt_batch *batch;
        product its;
        native_context(&context, views_between(1, 8));
        product_draw(&its);
        product_in_buffers(context, &its);
        assert_int_equal(ipt_batch_create(context, &its.desc, &batch), IPT_SUCCESS);
        void *const memory[] = {its.data[0], its.data[1], its.data[2]};
        if (ipt_batch_execute_host(batch, memory, factors, NULL))
            assert_true(its.desc.max_device_memory && strstr(ipt_context_error(NULL), "max_device_memory"));
        else
            assert_memory_equal(its.data[2], its.wanted, its.bytes);
        ipt_batch_destroy(batch);
        ipt_context_destroy(context);
        for (size_t k = 0; k < 3; ++k)
            free(its.data[k]);
        free(its.wanted);
    }
}

/* Actions of the caller's own, and models that use local memory, are refused with the way out. */
static void native_batch_refusals(void **state)
{
    ipt_context *context;
    ipt_batch *batch;
    product its;
    (void)state;
    native_context(&context, 0);
    product_draw(&its);
    its.desc.model = IPT_MODEL_ITEM;
    assert_int_equal(ipt_batch_create(context, &its.desc, &batch), IPT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(ipt_context_error(context), "model memory"));
    its.desc.model = IPT_MODEL_MEMORY;
    its.desc.ready = IPT_ACTION_NONE;
    its.desc.action = "C(0, 0) = A(0, 0);";
    assert_int_equal(ipt_batch_create(context, &its.desc, &batch), IPT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(ipt_context_error(context), "OpenCL device"));
    assert_null(batch);
    ipt_context_destroy(context);
    for (size_t k = 0; k < 3; ++k)
        free(its.data[k]);
    free(its.wanted);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_matrices),    cmocka_unit_test(native_arrays),
        cmocka_unit_test(native_views),       cmocka_unit_test(native_programs),
        cmocka_unit_test(native_events),      cmocka_unit_test(native_users),
        cmocka_unit_test(native_fork),        cmocka_unit_test(native_choice),
        cmocka_unit_test(native_refusals),    cmocka_unit_test(native_handles),
#ifndef IPT_NATIVE_PLAIN
        cmocka_unit_test(native_batches),     cmocka_unit_test(native_batch_refusals),
        cmocka_unit_test(native_expressions), cmocka_unit_test(native_expressions_in_views),
#endif
        cmocka_unit_test(native_as_opencl)};
    cases = count > 1 ? (size_t)strtoull(arguments[1], NULL, 10) : cases;
    seed = count > 2 ? (size_t)strtoull(arguments[2], NULL, 10) : seed;
    if (count > 3)
        cmocka_set_test_filter(arguments[3]);
    native_level = levels() - 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
