/* For benchmarks that compare plans: one device, one queue, one buffer for all matrices, and wall-clock times of plans.
 * Include ipt.h first. */
#ifndef BENCH_PLANS_H_INCLUDED
#define BENCH_PLANS_H_INCLUDED

#include <time.h>

static ipt_context *context;
static cl_command_queue queue;
static cl_mem buffer;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed; the last error of ipt: %s\n", what, ipt_context_error(NULL));
    exit(1);
}

static int compare_doubles(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Seconds for one of several executions back to back. */
static double time_plan(ipt_plan *plan, int executions)
{
    double begin;
    int i;
    need(!clFinish(queue), "clFinish");
    begin = now();
    for (i = 0; i < executions; ++i)
        need(!ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, NULL), "ipt_plan_execute");
    need(!clFinish(queue), "clFinish");
    return (now() - begin) / executions;
}

/* The number of executions in a round of about 20 ms. Also warms up the plan. */
static int executions_for(ipt_plan *plan)
{
    const double once = (time_plan(plan, 1), time_plan(plan, 1));
    return once > 0.01 ? 2 : once < 0.0005 ? 40 : (int)(0.02 / once);
}

static size_t argument(int count, char **arguments, int index, size_t otherwise)
{
    const size_t value = count > index ? (size_t)strtoull(arguments[index], NULL, 0) : 0;
    return value ? value : otherwise;
}

/* Creates the context, and a buffer of `bytes` bytes. */
static void plans_open(size_t bytes)
{
    const cl_uint pattern = 0x3f8ccccd; /* 1.1 as a float: devices compress zeros */
    cl_int error;
    queue = clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context), 0, &error);
    need(!error, "clCreateCommandQueue");
    buffer = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, bytes, NULL, &error);
    need(!error && !clEnqueueFillBuffer(queue, buffer, &pattern, sizeof pattern, 0, bytes, 0, NULL, NULL),
         "the buffer");
}

static void plans_close(void)
{
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    ipt_context_destroy(context);
}

#endif /* BENCH_PLANS_H_INCLUDED */
