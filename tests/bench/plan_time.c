/* Measures the host's time to create a plan for a new shape whose programs are already built, and to execute a small
 * matrix. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include <time.h>

enum { SHAPES = 400, EXECUTIONS = 600, PAUSE = 100 };

static int built;

static void count_builds(const char *message, void *user)
{
    (void)user;
    built += strncmp(message, "built", 5) == 0;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void need(int is, const char *what)
{
    if (!is) {
        fprintf(stderr, "%s failed: %s\n", what, ipt_context_error(NULL));
        exit(1);
    }
}

/* A kernel without work and a plan, with their arguments. */
typedef struct pair {
    cl_command_queue queue;
    cl_mem buffer;
    cl_kernel empty;
    ipt_plan *plan;
} pair;

/* Enqueues the plan's execution, or the kernel without work, with an event, and flushes. */
static cl_event enqueue(const pair *both, int executes, cl_event gate)
{
    const size_t one = 1;
    cl_event event = NULL;
    if (executes) {
        need(!ipt_plan_execute(both->plan, both->queue, both->buffer, 0, gate != NULL, gate ? &gate : NULL, &event),
             "ipt_plan_execute");
    } else {
        need(!clEnqueueNDRangeKernel(both->queue, both->empty, 1, NULL, &one, &one, gate != NULL, gate ? &gate : NULL,
                                     &event),
             "clEnqueueNDRangeKernel");
        clFlush(both->queue);
    }
    return event;
}

/* Times both in turn, each a while after the other has completed. gated: both wait for an event that completes later,
 * so that no other thread wakes up meanwhile. */
static void time_executions(ipt_context *context, const pair *both, int gated)
{
    static double times[2][EXECUTIONS];
    int i, executes;
    for (i = -20; i < EXECUTIONS; ++i)
        for (executes = 0; executes < 2; ++executes) {
            cl_event gate = gated ? clCreateUserEvent(ipt_context_cl_context(context), NULL) : NULL, event;
            double begin = microseconds(), end;
            while (microseconds() < begin + PAUSE)
                ;
            begin = microseconds();
            event = enqueue(both, executes, gate);
            end = microseconds();
            if (gate)
                clSetUserEventStatus(gate, CL_COMPLETE);
            need(!clWaitForEvents(1, &event), "clWaitForEvents");
            clReleaseEvent(event);
            if (gate)
                clReleaseEvent(gate);
            if (i >= 0)
                times[executes][i] = end - begin;
        }
    for (executes = 0; executes < 2; ++executes)
        qsort(times[executes], EXECUTIONS, sizeof **times, compare);
    printf("%s: ipt_plan_execute %.2f, a kernel without work %.2f\n", gated ? "behind an event " : "on a free queue ",
           times[1][EXECUTIONS / 2], times[0][EXECUTIONS / 2]);
}

/* The host's median times of an execution, and of a kernel without work. */
static void time_small(ipt_context *context)
{
    const char *text = "__kernel void empty(__global int *buffer) {}";
    const cl_context cl = ipt_context_cl_context(context);
    const cl_device_id device = ipt_context_cl_device(context);
    const size_t sides[][2] = {{100, 77}, {1000, 777}};
    pair both = {NULL, NULL, NULL, NULL};
    cl_program program;
    size_t s;
    both.queue = clCreateCommandQueue(cl, device, 0, NULL);
    program = clCreateProgramWithSource(cl, 1, &text, NULL, NULL);
    need(both.queue && program && !clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    both.empty = clCreateKernel(program, "empty", NULL);
    for (s = 0; s < sizeof sides / sizeof *sides; ++s) {
        ipt_plan_desc desc = {0};
        desc.rows = sides[s][0];
        desc.cols = sides[s][1];
        desc.elem_size = 4;
        both.buffer = clCreateBuffer(cl, CL_MEM_READ_WRITE, desc.rows * desc.cols * 4, NULL, NULL);
        need(both.buffer && !clSetKernelArg(both.empty, 0, sizeof both.buffer, &both.buffer), "clSetKernelArg");
        need(!ipt_plan_create(context, &desc, &both.plan), "ipt_plan_create");
        printf("The host's time for %zu x %zu floats, microseconds, medians of %d\n", desc.rows, desc.cols,
               (int)EXECUTIONS);
        time_executions(context, &both, 0);
        time_executions(context, &both, 1);
        ipt_plan_destroy(both.plan);
        clReleaseMemObject(both.buffer);
    }
    clReleaseKernel(both.empty);
    clReleaseProgram(program);
    clReleaseCommandQueue(both.queue);
}

int main(void)
{
    static const size_t elem_sizes[] = {1, 4, 8, 16, 12};
    ipt_context_desc context_desc = {0};
    ipt_context *context;
    char device[1024];
    size_t s;
    context_desc.logger.log = count_builds;
    if (ipt_context_create(&context_desc, &context) ||
        ipt_device_describe(ipt_context_cl_device(context), device, sizeof device)) {
        fprintf(stderr, "%s\n", ipt_context_error(NULL));
        return 1;
    }
    printf("ipt_plan_create and ipt_plan_destroy for %d new shapes each, microseconds, on %s", SHAPES, device);
    for (s = 0; s < sizeof elem_sizes / sizeof *elem_sizes; ++s) {
        double times[SHAPES];
        int i, before = 0;
        for (i = -20; i < SHAPES; ++i) { /* the first shapes build the programs */
            double begin;
            ipt_plan_desc desc = {0};
            ipt_plan *plan;
            desc.rows = 1000 + (size_t)(i + 20) * 7;
            desc.cols = 3000 - (size_t)(i + 20) * 5;
            desc.elem_size = elem_sizes[s];
            if (i == 0)
                before = built;
            begin = microseconds();
            if (ipt_plan_create(context, &desc, &plan)) {
                fprintf(stderr, "%s\n", ipt_context_error(NULL));
                return 1;
            }
            ipt_plan_destroy(plan);
            if (i >= 0)
                times[i] = microseconds() - begin;
        }
        qsort(times, SHAPES, sizeof *times, compare);
        printf("%3zu bytes: median %.0f, 90 %% below %.0f, slowest %.0f; programs built meanwhile: %d\n", elem_sizes[s],
               times[SHAPES / 2], times[SHAPES * 9 / 10], times[SHAPES - 1], built - before);
    }
    time_small(context);
    ipt_context_destroy(context);
    return 0;
}
