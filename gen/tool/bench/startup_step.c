/* The measured process, which startup_measure starts. */
#include "startup.h"
#include "bench_result.h"
#include "gen/tool/base/device_access.h"
#include "gen/tool/base/seconds.h"
#include "gen/tool/base/setup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STARTUP_MAX_DRAWS = 10000 };

/* The range of sides that are up to 50 % shorter or longer. */
static bench_range startup_similar(size_t side)
{
    bench_range range = {side - side / 2, side > SIZE_MAX - side / 2 ? SIZE_MAX : side + side / 2};
    return range;
}

bool startup_draw(const startup_desc *desc, bench_shape *shapes, char *message)
{
    uint64_t state = desc->seed;
    size_t count = 0;
    for (size_t draws = 0; count < STARTUP_NEW_SHAPES && draws < STARTUP_MAX_DRAWS; draws++) {
        bench_shape shape;
        size_t bytes;
        shape.rows = bench_random_within(&state, startup_similar(desc->rows));
        shape.cols = bench_random_within(&state, startup_similar(desc->cols));
        bool fresh = bench_shape_bytes(shape.rows, shape.cols, desc->elem_size, 1, &bytes) &&
                     (shape.rows != desc->rows || shape.cols != desc->cols);
        for (size_t i = 0; i < count && fresh; i++) {
            fresh = shape.rows != shapes[i].rows || shape.cols != shapes[i].cols;
        }
        if (fresh) {
            shapes[count++] = shape;
        }
    }
    return count == STARTUP_NEW_SHAPES ||
           bench_fail(message,
                      "%zux%zu is too small: it has no %d other shapes with sides up to 50 %% longer or shorter",
                      desc->rows, desc->cols, STARTUP_NEW_SHAPES);
}

/* ipt's logger: counts the programs built from source. */
static void startup_count(const char *text, void *user)
{
    if (strncmp(text, "built ", 6) == 0) {
        ++*(size_t *)user;
    }
}

/* Creates and times a plan of a shape. */
static bool startup_plan(const startup_desc *desc, ipt_context *context, bench_shape shape, ipt_plan **plan,
                         double *seconds, char *message)
{
    ipt_plan_desc plan_desc = {0};
    plan_desc.rows = shape.rows;
    plan_desc.cols = shape.cols;
    plan_desc.elem_size = desc->elem_size;
    double start = seconds_now();
    ipt_result result = ipt_plan_create(context, &plan_desc, plan);
    *seconds = seconds_now() - start;
    return result == IPT_SUCCESS ||
           bench_fail(message, "%zux%zu:%zu: %s", shape.rows, shape.cols, desc->elem_size, ipt_context_error(context));
}

/* Whether after is the transpose of before. */
static bool startup_verify(const startup_desc *desc, const unsigned char *before, const unsigned char *after,
                           char *message)
{
    for (size_t row = 0; row < desc->rows; row++) {
        for (size_t col = 0; col < desc->cols; col++) {
            if (memcmp(before + (row * desc->cols + col) * desc->elem_size,
                       after + (col * desc->rows + row) * desc->elem_size, desc->elem_size) != 0) {
                return bench_fail(message, "the result is WRONG: the element of row %zu, column %zu", row, col);
            }
        }
    }
    return true;
}

/* A matrix on device and host. */
typedef struct startup_matrix {
    device_access cl;
    cl_command_queue queue;
    cl_mem buffer;
    unsigned char *data; /* on the host: the matrix, then space for its transpose */
    size_t bytes;
} startup_matrix;

/* Transposes once, in a buffer that was written before. */
static bool startup_execute(const startup_desc *desc, ipt_plan *plan, const startup_matrix *matrix, double *seconds,
                            char *message)
{
    unsigned char *data = matrix->data;
    const size_t bytes = matrix->bytes;
    cl_int status =
        matrix->cl.clEnqueueWriteBuffer(matrix->queue, matrix->buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
    if (!bench_opencl(status, "clEnqueueWriteBuffer", message)) {
        return false;
    }
    double start = seconds_now();
    if (ipt_plan_execute(plan, matrix->queue, matrix->buffer, 0, 0, NULL, NULL) != IPT_SUCCESS) {
        return bench_fail(message, "%s", ipt_context_error(NULL));
    }
    status = matrix->cl.clFinish(matrix->queue);
    *seconds = seconds_now() - start;
    if (!bench_opencl(status, "clFinish", message)) {
        return false;
    }
    status =
        matrix->cl.clEnqueueReadBuffer(matrix->queue, matrix->buffer, CL_TRUE, 0, bytes, data + bytes, 0, NULL, NULL);
    return bench_opencl(status, "clEnqueueReadBuffer", message) && startup_verify(desc, data, data + bytes, message);
}

/* Allocates a matrix and transposes it once. */
static bool startup_execute_once(const startup_desc *desc, ipt_context *context, ipt_plan *plan, double *seconds,
                                 char *message)
{
    startup_matrix matrix = {0};
    uint64_t state = desc->seed;
    if (bench_shape_bytes(desc->rows, desc->cols, desc->elem_size, 1, &matrix.bytes) && matrix.bytes <= SIZE_MAX / 2) {
        matrix.data = malloc(2 * matrix.bytes);
    }
    if (matrix.data == NULL) {
        return bench_fail(message, "out of memory for a matrix of %zu bytes and its transpose", matrix.bytes);
    }
    for (size_t i = 0; i < matrix.bytes; i++) {
        matrix.data[i] = (unsigned char)bench_random(&state);
    }
    cl_int status;
    const device_access *const cl = &matrix.cl;
    matrix.cl = device_access_of(context);
    matrix.queue = cl->clCreateCommandQueue(cl->context, cl->id, 0, &status);
    bool good = bench_opencl(status, "clCreateCommandQueue", message);
    if (good) {
        matrix.buffer = cl->clCreateBuffer(cl->context, CL_MEM_READ_WRITE, matrix.bytes, NULL, &status);
        good = bench_opencl(status, "clCreateBuffer for the matrix", message) &&
               startup_execute(desc, plan, &matrix, seconds, message);
    }
    if (matrix.buffer != NULL) {
        cl->clReleaseMemObject(matrix.buffer);
    }
    if (matrix.queue != NULL) {
        cl->clReleaseCommandQueue(matrix.queue);
    }
    free(matrix.data);
    return good;
}

/* Measures all quantities of a context. *built: number of programs that its logger has counted. */
static bool startup_measure_plans(const startup_desc *desc, ipt_context *context, const size_t *built,
                                  startup_values *values, char *message)
{
    bench_shape shape = {desc->rows, desc->cols}, others[STARTUP_NEW_SHAPES];
    double seconds[STARTUP_NEW_SHAPES];
    ipt_plan *plan;
    bool good = startup_draw(desc, others, message) &&
                startup_plan(desc, context, shape, &plan, &values->of[STARTUP_PLAN], message);
    if (!good) {
        return false;
    }
    values->of[STARTUP_COMPILED] = (double)*built;
    good = startup_execute_once(desc, context, plan, &values->of[STARTUP_EXECUTION], message);
    ipt_plan_destroy(plan);
    for (size_t i = 0; i < STARTUP_NEW_SHAPES && good; i++) {
        size_t before = *built;
        good = startup_plan(desc, context, others[i], &plan, &seconds[i], message);
        values->of[STARTUP_COMPILED_NEW] += (double)(*built - before);
        values->of[STARTUP_NONE] += *built == before;
        ipt_plan_destroy(plan);
    }
    if (good) {
        values->of[STARTUP_NEW] = bench_quantile(seconds, STARTUP_NEW_SHAPES, 0.5);
        values->of[STARTUP_WORST] = bench_quantile(seconds, STARTUP_NEW_SHAPES, 1);
    }
    return good;
}

bool startup_step(const startup_desc *desc, const char *cache_dir, FILE *stream, char *message)
{
    startup_values values = {{0}};
    size_t built = 0;
    ipt_context_desc context_desc = {0};
    context_desc.device_name = desc->device;
    context_desc.driver = IPT_DRIVER_OPENCL;
    context_desc.cache_dir = cache_dir;
    context_desc.logger.log = startup_count;
    context_desc.logger.user = &built;
    ipt_context *context;
    double start = seconds_now();
    ipt_result result = ipt_context_create(&context_desc, &context);
    values.of[STARTUP_CONTEXT] = seconds_now() - start;
    if (result != IPT_SUCCESS) {
        return bench_fail(message, "%s", ipt_context_error(NULL));
    }
    bool good = startup_measure_plans(desc, context, &built, &values, message);
    if (good) {
        char name[256] = "unknown";
        setup_device_name(context, name, sizeof name);
        fputs(STARTUP_MARK, stream);
        for (size_t i = 0; i < STARTUP_QUANTITIES; i++) {
            fprintf(stream, "%.9g ", values.of[i]);
        }
        fprintf(stream, "%s\n", name);
    }
    ipt_context_destroy(context);
    return good;
}
