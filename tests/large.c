/* Matrices of more than 2^32 elements or bytes, filled and verified element by element on the device. Needs a GPU with
 * about 16 GB. Usage: large [SMALLER], which divides every side by SMALLER to try the program itself; large 1 SECONDS
 * for random shapes instead. */
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
    "__kernel void check(__global TYPE *matrix, ulong rows, ulong cols, ulong items, __global uint *wrong)\n"
    "{\n"
    "    for (ulong k = get_global_id(0); k < rows * cols * items; k += get_global_size(0)) {\n"
    "        const ulong e = k / items;\n"
    "        if (matrix[k] != (TYPE)value_of((e % rows * cols + e / rows) * items + k % items))\n"
    "            atomic_inc(wrong);\n"
    "    }\n"
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

/* Fills a matrix on the device, runs the plan, counts wrong elements on the device. */
static cl_uint wrong_elements(ipt_context *context, const cl_program programs[2], const ipt_plan_desc *desc,
                              int repeats, ipt_plan **plan, double *seconds)
{
    /* An element is as many items of the checker's type as divide it; items of one element stay together. */
    const size_t item = desc->elem_size % 4 ? 1 : 4;
    const cl_ulong rows = desc->rows, cols = desc->cols, items = desc->elem_size / item, all = rows * cols * items;
    const cl_program program = programs[item == 4];
    cl_int error;
    cl_kernel fill = clCreateKernel(program, "fill", &error), check = clCreateKernel(program, "check", &error);
    cl_mem buffer, counter;
    cl_uint wrong = 0;
    buffer = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, (size_t)all * item, NULL, &error);
    need(!error, "clCreateBuffer");
    counter = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof wrong,
                             &wrong, &error);
    need(!error, "clCreateBuffer");
    clSetKernelArg(fill, 0, sizeof buffer, &buffer);
    clSetKernelArg(fill, 1, sizeof all, &all);
    clSetKernelArg(check, 0, sizeof buffer, &buffer);
    clSetKernelArg(check, 1, sizeof rows, &rows);
    clSetKernelArg(check, 2, sizeof cols, &cols);
    clSetKernelArg(check, 3, sizeof items, &items);
    clSetKernelArg(check, 4, sizeof counter, &counter);
    need(!ipt_plan_create(context, desc, plan), "ipt_plan_create");
    while (repeats--) {
        struct timespec begin, end;
        launch(fill);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        need(!ipt_plan_execute(*plan, queue, buffer, 0, 0, NULL, NULL) && !clFinish(queue), "ipt_plan_execute");
        clock_gettime(CLOCK_MONOTONIC, &end);
        *seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
        launch(check);
    }
    clEnqueueReadBuffer(queue, counter, CL_TRUE, 0, sizeof wrong, &wrong, 0, NULL, NULL);
    clReleaseMemObject(buffer);
    clReleaseMemObject(counter);
    clReleaseKernel(fill);
    clReleaseKernel(check);
    return wrong;
}

/* Random shapes for `seconds`, each several times: an order of memory accesses that is too weak shows now and then
 * only. */
static int stress(ipt_context *context, const cl_program programs[2], int seconds)
{
    static const size_t elem_sizes[] = {4, 8, 4, 16, 12, 4, 8, 1};
    const time_t end = time(NULL) + seconds;
    unsigned long long random = 88172645463325252ull;
    int runs = 0, failures = 0;
    while (time(NULL) < end) {
        ipt_plan_desc desc = {0};
        ipt_plan *plan;
        double last;
        cl_uint wrong;
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        desc.elem_size = elem_sizes[runs / 4 % 8];
        desc.rows = 2 + random % (runs % 3 ? 9000 : 60);
        desc.cols = 2 + (random >> 20) % (runs % 3 ? 9000 : 400000);
        if (runs % 4 == 1) { /* short super-elements: many chains meet */
            desc.sequence = IPT_SEQUENCE_TWO_PASS;
            desc.tile_m = desc.tile_n = 1 + (random >> 40) % (desc.rows > desc.cols ? desc.rows : desc.cols) % 50;
            desc.max_workspace = (size_t)1 << 30;
        }
        wrong = wrong_elements(context, programs, &desc, 8, &plan, &last);
        if (wrong) {
            printf("FAILED: %u elements wrong\n%s", (unsigned)wrong, ipt_plan_describe(plan));
            ++failures;
        }
        ipt_plan_destroy(plan);
        ++runs;
    }
    printf("stress, 8 times each: %d passed, %d failed\n", runs - failures, failures);
    return failures != 0;
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
    if (count > 2)
        return stress(context, programs, atoi(arguments[2]));
    for (i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ipt_plan_desc desc = {0};
        ipt_plan *plan;
        double seconds;
        cl_uint wrong;
        desc.rows = cases[i].rows < 1000 ? cases[i].rows : cases[i].rows / smaller;
        desc.cols = cases[i].cols < 1000 ? cases[i].cols : cases[i].cols / smaller;
        desc.elem_size = cases[i].elem_size;
        desc.sequence = cases[i].sequence;
        desc.tile_m = desc.tile_n = cases[i].tile;
        desc.max_workspace = cases[i].max_workspace;
        wrong = wrong_elements(context, programs, &desc, 1, &plan, &seconds);
        printf("%s: %u elements wrong, %.3f s\n%s", wrong ? "FAILED" : "passed", (unsigned)wrong, seconds,
               ipt_plan_describe(plan));
        fflush(stdout);
        failures += wrong != 0;
        ipt_plan_destroy(plan);
    }
    clReleaseProgram(programs[0]);
    clReleaseProgram(programs[1]);
    clReleaseCommandQueue(queue);
    ipt_context_destroy(context);
    printf("%d passed, %d failed\n", (int)(sizeof cases / sizeof *cases) - failures, failures);
    return failures != 0;
}
