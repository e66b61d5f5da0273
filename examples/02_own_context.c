/* A program with its own OpenCL objects: ipt works on the program's context, queue and buffer, and joins the program's
 * chain of events. The host waits once, at the very end. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed: %s\n", what, ipt_context_error(NULL));
    exit(EXIT_FAILURE);
}

/* ipt selects a device of OpenCL: it reads the environment's IPT_DEVICE and prefers a GPU. */
static cl_device_id choose_device(void)
{
    ipt_context *chooser;
    const ipt_context_desc desc = {.driver = IPT_DRIVER_OPENCL};
    check(ipt_context_create(&desc, &chooser) == IPT_SUCCESS, "choosing a device");
    cl_device_id device = ipt_context_cl_device(chooser);
    check(clRetainDevice(device) == CL_SUCCESS, "clRetainDevice"); /* keep it beyond the chooser */
    ipt_context_destroy(chooser);
    return device;
}

int main(void)
{
    enum { ROWS = 500, COLS = 1300 };
    static unsigned matrix[ROWS * COLS];
    for (unsigned i = 0; i < ROWS * COLS; ++i)
        matrix[i] = i;
    cl_int error;
    cl_device_id device = choose_device();
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error == CL_SUCCESS, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error == CL_SUCCESS, "clCreateCommandQueue");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof matrix, NULL, &error);
    check(error == CL_SUCCESS, "clCreateBuffer");

    ipt_context_desc context_desc = {0};
    context_desc.context = context;
    context_desc.device = device;
    ipt_context *ipt;
    check(ipt_context_create(&context_desc, &ipt) == IPT_SUCCESS, "ipt_context_create");
    ipt_plan_desc plan_desc = {0};
    plan_desc.rows = ROWS;
    plan_desc.cols = COLS;
    plan_desc.elem_size = sizeof matrix[0];
    ipt_plan *plan;
    check(ipt_plan_create(ipt, &plan_desc, &plan) == IPT_SUCCESS, "ipt_plan_create");

    /* Only the last call blocks. The plan waits for the upload's event, the download for the plan's. */
    cl_event uploaded, transposed;
    error = clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof matrix, matrix, 0, NULL, &uploaded);
    check(error == CL_SUCCESS, "clEnqueueWriteBuffer");
    check(ipt_plan_execute(plan, queue, buffer, 0, 1, &uploaded, &transposed) == IPT_SUCCESS, "ipt_plan_execute");
    error = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof matrix, matrix, 1, &transposed, NULL);
    check(error == CL_SUCCESS, "clEnqueueReadBuffer");

    size_t wrong = 0;
    for (unsigned i = 0; i < ROWS * COLS; ++i)
        wrong += matrix[i % COLS * ROWS + i / COLS] != i;
    printf("%d x %d on the program's own queue: %zu elements wrong\n", ROWS, COLS, wrong);

    /* ipt retains the objects that it uses, so any order works. */
    error = clReleaseEvent(uploaded) | clReleaseEvent(transposed) | clReleaseMemObject(buffer);
    error |= clReleaseCommandQueue(queue) | clReleaseContext(context) | clReleaseDevice(device);
    check(error == CL_SUCCESS, "releasing");
    ipt_plan_destroy(plan);
    ipt_context_destroy(ipt);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
