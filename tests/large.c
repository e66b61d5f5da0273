/* Matrices of more than 2^32 elements or bytes, filled and verified element by element on the device. Needs a GPU with
 * about 16 GB. Usage: large [SMALLER], which divides every side by SMALLER to try the program itself. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include <time.h>

/* Element k of the matrix holds bytes of a hash of k, so that no two places look alike. */
static const char *const text =
    "ulong value_of(ulong k) { k *= 0x9e3779b97f4a7c15UL; k ^= k >> 29; k *= 0xbf58476d1ce4e5b9UL; return k ^ k >> 32; "
    "}\n"
    "__kernel void fill(__global TYPE *matrix, ulong elements)\n"
    "{\n"
    "    for (ulong k = get_global_id(0); k < elements; k += get_global_size(0))\n"
    "        matrix[k] = (TYPE)value_of(k);\n"
    "}\n"
    "__kernel void check(__global TYPE *matrix, ulong rows, ulong cols, __global uint *wrong)\n"
    "{\n"
    "    for (ulong k = get_global_id(0); k < rows * cols; k += get_global_size(0))\n"
    "        if (matrix[k] != (TYPE)value_of(k % rows * cols + k / rows))\n"
    "            atomic_inc(wrong);\n"
    "}\n";

static cl_command_queue queue;

static void need(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s failed: %s\n", what, ipt_context_error(NULL));
        exit(1);
    }
}

static cl_program build(ipt_context *context, const char *options)
{
    cl_int error;
    cl_program program =
        clCreateProgramWithSource(ipt_context_cl_context(context), 1, (const char **)&text, NULL, &error);
    need(!error && !clBuildProgram(program, 0, NULL, options, NULL, NULL), "the checker's build");
    return program;
}

static void launch(cl_kernel kernel)
{
    const size_t global = 1 << 18;
    need(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL) && !clFinish(queue), "a launch");
}

int main(int count, char **arguments)
{
    static const struct {
        size_t rows, cols, elem_size;
        ipt_sequence sequence;
        size_t tile;
        size_t max_workspace;
    } cases[] = {
        {100003, 85903, 1, IPT_SEQUENCE_AUTO, 0, 0},                   /* 8.6 GB of bytes, both sides prime */
        {85903, 100003, 1, IPT_SEQUENCE_AUTO, 0, 0},                   /* the same, wide */
        {100003, 85903, 1, IPT_SEQUENCE_TWO_PASS, 2, (size_t)1 << 30}, /* 4.3 * 10^9 slots: 64-bit slot numbers */
        {60013, 54767, 4, IPT_SEQUENCE_AUTO, 0, 0},                    /* 13 GB of floats */
        {54767, 60013, 4, IPT_SEQUENCE_AUTO, 0, 0},                    /* the same, wide */
        {60013, 54767, 4, IPT_SEQUENCE_1, 0, (size_t)1 << 30},         /* 3.3 * 10^9 slots of one element */
        {56000, 56000, 4, IPT_SEQUENCE_AUTO, 0, 0},                    /* square */
        {4295000011u, 2, 1, IPT_SEQUENCE_AUTO, 0, 0},                  /* a side beyond 2^32 */
        {2, 4295000011u, 1, IPT_SEQUENCE_AUTO, 0, 0},
    };
    const size_t smaller = count > 1 ? (size_t)atol(arguments[1]) : 1;
    ipt_context *context;
    cl_program programs[2];
    cl_int error;
    int failures = 0;
    size_t i;
    need(!ipt_context_create(NULL, &context), "ipt_context_create");
    queue = clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context), 0, &error);
    programs[0] = build(context, "-DTYPE=uchar");
    programs[1] = build(context, "-DTYPE=uint");
    for (i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ipt_plan_desc desc = {0};
        ipt_plan *plan;
        struct timespec begin, end;
        cl_uint wrong = 0;
        cl_ulong rows, cols, elements;
        cl_program program = programs[cases[i].elem_size == 4];
        cl_kernel fill = clCreateKernel(program, "fill", &error), check = clCreateKernel(program, "check", &error);
        cl_mem buffer, counter;
        desc.rows = cases[i].rows < 1000 ? cases[i].rows : cases[i].rows / smaller;
        desc.cols = cases[i].cols < 1000 ? cases[i].cols : cases[i].cols / smaller;
        desc.elem_size = cases[i].elem_size;
        desc.sequence = cases[i].sequence;
        desc.tile_m = desc.tile_n = cases[i].tile;
        desc.max_workspace = cases[i].max_workspace;
        rows = desc.rows;
        cols = desc.cols;
        elements = rows * cols;
        buffer = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, (size_t)elements * desc.elem_size,
                                NULL, &error);
        need(!error, "clCreateBuffer");
        counter = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                 sizeof wrong, &wrong, &error);
        need(!error, "clCreateBuffer");
        clSetKernelArg(fill, 0, sizeof buffer, &buffer);
        clSetKernelArg(fill, 1, sizeof elements, &elements);
        clSetKernelArg(check, 0, sizeof buffer, &buffer);
        clSetKernelArg(check, 1, sizeof rows, &rows);
        clSetKernelArg(check, 2, sizeof cols, &cols);
        clSetKernelArg(check, 3, sizeof counter, &counter);
        launch(fill);
        need(!ipt_plan_create(context, &desc, &plan), "ipt_plan_create");
        clock_gettime(CLOCK_MONOTONIC, &begin);
        need(!ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, NULL) && !clFinish(queue), "ipt_plan_execute");
        clock_gettime(CLOCK_MONOTONIC, &end);
        launch(check);
        clEnqueueReadBuffer(queue, counter, CL_TRUE, 0, sizeof wrong, &wrong, 0, NULL, NULL);
        printf("%s: %u elements wrong, %.3f s\n%s", wrong ? "FAILED" : "passed", (unsigned)wrong,
               (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9,
               ipt_plan_describe(plan));
        fflush(stdout);
        failures += wrong != 0;
        ipt_plan_destroy(plan);
        clReleaseMemObject(buffer);
        clReleaseMemObject(counter);
        clReleaseKernel(fill);
        clReleaseKernel(check);
    }
    clReleaseProgram(programs[0]);
    clReleaseProgram(programs[1]);
    clReleaseCommandQueue(queue);
    ipt_context_destroy(context);
    printf("%d passed, %d failed\n", (int)(sizeof cases / sizeof *cases) - failures, failures);
    return failures != 0;
}
