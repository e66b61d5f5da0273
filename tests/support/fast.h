/* Whether a device is fast enough for tests that are sized for a large GPU. A device that reports a GPU may be a CPU.
 * Include OpenCL before. */
#ifndef FAST_H_INCLUDED
#define FAST_H_INCLUDED

#include <time.h>

/* Copies 128 MiB four times; true if one copy takes less than a millisecond. CPUs' caches are smaller than 128 MiB, and
 * no CPU copies 134 GB/s by one thread. */
static int device_is_fast(cl_context context, cl_device_id device)
{
    const size_t bytes = (size_t)128 << 20;
    double least = 1;
    int i;
    cl_int error = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_mem buffer = error ? NULL : clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * bytes, NULL, &error);
    for (i = 0; i < 4 && !error; ++i) {
        struct timespec begin, end;
        double seconds;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        error = clEnqueueCopyBuffer(queue, buffer, buffer, 0, bytes, bytes, 0, NULL, NULL);
        if (!error)
            error = clFinish(queue);
        clock_gettime(CLOCK_MONOTONIC, &end);
        seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
        least = seconds < least ? seconds : least;
    }
    if (buffer)
        clReleaseMemObject(buffer);
    if (queue)
        clReleaseCommandQueue(queue);
    return !error && least < 0.001;
}

#endif
