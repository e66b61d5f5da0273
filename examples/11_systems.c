/* Finite elements: 100,000 systems of six equations, each symmetric and positive definite, solved in place by one
 * kernel. A matrix becomes its Cholesky factor, a right side becomes the solution, and info names those that failed. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 100000, N = 6 };

static float matrices[COUNT][N][N], sides[COUNT][N];
static int info[COUNT];

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed: %s\n", what, ipt_context_error(NULL));
    exit(EXIT_FAILURE);
}

static float entry(size_t e, size_t i, size_t j)
{
    return i == j ? (float)(N + 1 + e % 7) : 1.f / (float)(1 + i + j);
}

static cl_mem make_buffer(cl_context context, size_t bytes, void *data)
{
    cl_int error;
    const cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, data, &error);
    check(!error, "clCreateBuffer");
    return buffer;
}

int main(void)
{
    const ipt_batch_operand operands[] = {
        {.name = "A", .type = "float", .rows = N, .cols = N, .access = IPT_READ_WRITE},
        {.name = "B", .type = "float", .rows = N, .access = IPT_READ_WRITE},
        {.name = "info", .type = "int", .access = IPT_WRITE}};
    const ipt_batch_desc desc = {.count = COUNT, .operands = operands, .operand_count = 3, .ready = IPT_ACTION_POSV};
    ipt_context *context;
    ipt_batch *batch;
    for (size_t e = 0; e < COUNT; ++e)
        for (size_t i = 0; i < N; ++i)
            for (size_t j = 0; j < N; ++j) {
                matrices[e][i][j] = entry(e, i, j);
                sides[e][i] += entry(e, i, j) * (float)(j + 1); /* the solution is 1, 2 ... 6 */
            }

    const ipt_context_desc of_opencl = {.driver = IPT_DRIVER_OPENCL}; /* whose buffers this program makes */
    check(ipt_context_create(&of_opencl, &context) == IPT_SUCCESS, "ipt_context_create");
    check(ipt_batch_create(context, &desc, &batch) == IPT_SUCCESS, "ipt_batch_create");
    const cl_context cl = ipt_context_cl_context(context);
    const cl_command_queue queue = clCreateCommandQueue(cl, ipt_context_cl_device(context), 0, NULL);
    const ipt_batch_buffer buffers[] = {{make_buffer(cl, sizeof matrices, matrices), 0},
                                        {make_buffer(cl, sizeof sides, sides), 0},
                                        {make_buffer(cl, sizeof info, info), 0}};
    check(ipt_batch_execute(batch, queue, buffers, NULL, 0, NULL, NULL) == IPT_SUCCESS, "ipt_batch_execute");
    check(!clEnqueueReadBuffer(queue, buffers[1].buffer, CL_TRUE, 0, sizeof sides, sides, 0, NULL, NULL), "read");
    check(!clEnqueueReadBuffer(queue, buffers[2].buffer, CL_TRUE, 0, sizeof info, info, 0, NULL, NULL), "read");

    size_t wrong = 0;
    for (size_t e = 0; e < COUNT; ++e)
        for (size_t i = 0; i < N; ++i)
            wrong += info[e] || !(fabsf(sides[e][i] - (float)(i + 1)) < 1e-4f);
    printf("%d systems of %d equations, %zu unknowns wrong\n%s", COUNT, N, wrong, ipt_batch_describe(batch));
    ipt_batch_destroy(batch);
    ipt_context_destroy(context);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
