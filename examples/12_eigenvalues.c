/* An action of your own: the eigenvalues of symmetric 3 x 3 matrices by the trigonometric formula (Smith 1961). The
 * matrices lie as planes, one for each component, as a simulation keeps its stress tensors. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 10000 };

static const char action[] =
    "const float p1 = A(0, 1) * A(0, 1) + A(0, 2) * A(0, 2) + A(1, 2) * A(1, 2);\n"
    "const float q = (A(0, 0) + A(1, 1) + A(2, 2)) / 3;\n"
    "const float x = A(0, 0) - q, y = A(1, 1) - q, z = A(2, 2) - q;\n"
    "const float p = sqrt((x * x + y * y + z * z + 2 * p1) / 6);\n"
    "const float det = x * (y * z - A(1, 2) * A(1, 2)) - A(0, 1) * (A(0, 1) * z - A(1, 2) * A(0, 2))\n"
    "                + A(0, 2) * (A(0, 1) * A(1, 2) - y * A(0, 2));\n"
    "const float phi = p > 0 ? acos(clamp(det / (2 * p * p * p), -1.f, 1.f)) / 3 : 0;\n"
    "values(0, 0) = q + 2 * p * cos(phi);\n"
    "values(2, 0) = q + 2 * p * cos(phi + 2.0943951f);\n"
    "values(1, 0) = 3 * q - values(0, 0) - values(2, 0);\n";

static float matrices[3][3][COUNT], values[COUNT][3];

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed: %s\n", what, ipt_context_error(NULL));
    exit(EXIT_FAILURE);
}

int main(void)
{
    const ipt_batch_operand operands[] = {
        {.name = "A", .type = "float", .rows = 3, .cols = 3, .access = IPT_READ, .layout = IPT_LAYOUT_PLANES},
        {.name = "values", .type = "float", .rows = 3, .access = IPT_WRITE}};
    const ipt_batch_desc desc = {.count = COUNT, .operands = operands, .operand_count = 2, .action = action};
    ipt_context *context;
    ipt_batch *batch;
    for (size_t e = 0; e < COUNT; ++e) /* the diagonal 4, 2, 1, rotated about the third axis */
        for (int i = 0; i < 2; ++i) {
            const double t = (double)e / 1000, c = (1 - t * t) / (1 + t * t), s = 2 * t / (1 + t * t);
            matrices[i][i][e] = (float)(i ? 4 * s * s + 2 * c * c : 4 * c * c + 2 * s * s);
            matrices[i][1 - i][e] = (float)(2 * s * c);
            matrices[2][2][e] = 1;
        }

    const ipt_context_desc of_opencl = {.driver = IPT_DRIVER_OPENCL}; /* it compiles actions */
    check(ipt_context_create(&of_opencl, &context) == IPT_SUCCESS, "ipt_context_create");
    check(ipt_batch_create(context, &desc, &batch) == IPT_SUCCESS, "ipt_batch_create");
    const cl_context cl = ipt_context_cl_context(context);
    const cl_command_queue queue = clCreateCommandQueue(cl, ipt_context_cl_device(context), 0, NULL);
    const ipt_batch_buffer buffers[] = {
        {clCreateBuffer(cl, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof matrices, matrices, NULL), 0},
        {clCreateBuffer(cl, CL_MEM_WRITE_ONLY, sizeof values, NULL, NULL), 0}};
    check(ipt_batch_execute(batch, queue, buffers, NULL, 0, NULL, NULL) == IPT_SUCCESS, "ipt_batch_execute");
    check(!clEnqueueReadBuffer(queue, buffers[1].buffer, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL), "read");

    size_t wrong = 0;
    for (size_t e = 0; e < COUNT; ++e)
        wrong +=
            !(fabsf(values[e][0] - 4) < 1e-4f && fabsf(values[e][1] - 2) < 1e-4f && fabsf(values[e][2] - 1) < 1e-4f);
    printf("%d matrices, eigenvalues of %zu wrong\n%s", COUNT, wrong, ipt_batch_describe(batch));
    ipt_batch_destroy(batch);
    ipt_context_destroy(context);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
