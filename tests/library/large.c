/* Transposes matrices of more than 2^32 elements or bytes. Kernels fill and verify every element. Needs a GPU with
 * about 16 GB. Usage: large [SMALLER], which divides every side by SMALLER to test the program itself. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include <time.h>
#include "checker.h"

static cl_command_queue queue;

/* Fills a matrix on the device, runs the plan, counts wrong items on the device. */
static cl_uint wrong_items(checker *checker, ipt_plan *plan, const ipt_plan_desc *desc, double *seconds)
{
    const cl_ulong seed = 0;
    checker_found found = checker_found_nothing;
    checker_place place;
    struct timespec begin, end;
    cl_mem buffer, counter;
    cl_int error;
    place.rows = desc->rows;
    place.cols = desc->cols;
    place.elem_size = desc->elem_size;
    place.batch = 1;
    place.offset = 0;
    place.stride = place.bytes = desc->rows * desc->cols * desc->elem_size;
    buffer = clCreateBuffer(checker->context, CL_MEM_READ_WRITE, place.bytes, NULL, &error);
    checker_need(!error, "clCreateBuffer");
    counter = clCreateBuffer(checker->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof found, &found, &error);
    checker_need(!error, "clCreateBuffer");
    checker_launch(checker, 0, queue, buffer, &place, seed, NULL, 0);
    checker_need(!clFinish(queue), "clFinish");
    clock_gettime(CLOCK_MONOTONIC, &begin);
    checker_need(!ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, NULL) && !clFinish(queue), "ipt_plan_execute");
    clock_gettime(CLOCK_MONOTONIC, &end);
    *seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    checker_launch(checker, 1, queue, buffer, &place, seed, counter, 0);
    checker_need(!clEnqueueReadBuffer(queue, counter, CL_TRUE, 0, sizeof found, &found, 0, NULL, NULL),
                 "clEnqueueReadBuffer");
    clReleaseMemObject(buffer);
    clReleaseMemObject(counter);
    return found.wrong;
}

int main(int count, char **arguments)
{
    static const struct {
        size_t rows, cols, elem_size;
        ipt_sequence sequence;
        size_t tile;
        size_t max_workspace;
    } cases[] = {
        {100003, 85903, 1, IPT_SEQUENCE_AUTO, 0, 0}, /* 8.6 GB in elements of one byte, both sides prime */
        {85903, 100003, 1, IPT_SEQUENCE_AUTO, 0, 0}, /* the same, wide */
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
    checker checker = {0};
    cl_int error;
    int failures = 0;
    size_t i;
    checker_need(!ipt_context_create(NULL, &context), "ipt_context_create");
    queue = clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context), 0, &error);
    checker_need(!error, "clCreateCommandQueue");
    checker.context = ipt_context_cl_context(context);
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
        checker_need(!ipt_plan_create(context, &desc, &plan), "ipt_plan_create");
        wrong = wrong_items(&checker, plan, &desc, &seconds);
        printf("%s: %u elements wrong, %.3f s\n%s", wrong ? "FAILED" : "passed", (unsigned)wrong, seconds,
               ipt_plan_describe(plan));
        fflush(stdout);
        failures += wrong != 0;
        ipt_plan_destroy(plan);
    }
    checker_end(&checker);
    clReleaseCommandQueue(queue);
    ipt_context_destroy(context);
    printf("%d passed, %d failed\n", (int)(sizeof cases / sizeof *cases) - failures, failures);
    return failures != 0;
}
