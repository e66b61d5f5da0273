/* A program for a target without a compiler and without a file system. It uses only the header that `ipt precompile
 * --embed` wrote. An OpenCL stub simulates the target: the stub reports no compiler, and ends the program on a request
 * to compile. tests/compile/embedded.sh makes the header and runs this program. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_program no_source(cl_context context, cl_uint count, const char **strings, const size_t *lengths,
                            cl_int *error)
{
    (void)context, (void)count, (void)strings, (void)lengths, (void)error;
    fprintf(stderr, "a program was to be compiled from its source\n");
    exit(1);
}

static cl_int no_compiler(cl_device_id device, cl_device_info name, size_t bytes, void *value, size_t *needed)
{
    const cl_bool none = CL_FALSE;
    const cl_int error = clGetDeviceInfo(device, name, bytes, value, needed);
    if (!error && name == CL_DEVICE_COMPILER_AVAILABLE && value)
        memcpy(value, &none, sizeof none);
    return error;
}

#include "embedded_entry_points.h"
#define embedded_clCreateProgramWithSource no_source
#define embedded_clGetDeviceInfo no_compiler
#define IPT_ENTRY_POINT(name) embedded_##name
#define IPT_STATIC
#define IPT_NO_DISK_CACHE
#define IPT_IMPLEMENTATION
#include "embedded_kernels.h" /* includes ipt.h */
#include "transposes.h"

/* The user's action: y += a * x / 3, x in planes. */
static int computes(ipt_context *context)
{
    static float x[3][100], y[100][3];
    void *memory[2];
    const float a = 6;
    ipt_batch_desc desc = embedded_kernels_batch_0;
    ipt_batch *batch = NULL;
    ipt_result result;
    size_t e, i;
    int good = 1;
    memory[0] = x;
    memory[1] = y;
    desc.count = 100;
    desc.flags = IPT_CACHE_ONLY;
    for (e = 0; e < 100; ++e)
        for (i = 0; i < 3; ++i) {
            x[i][e] = (float)(3 * (e + i));
            y[e][i] = (float)i;
        }
    result = ipt_batch_create(context, &desc, &batch);
    if (!result)
        result = ipt_batch_execute_host(batch, memory, &a, NULL);
    for (e = 0; e < 100; ++e)
        for (i = 0; i < 3; ++i)
            good = good && y[e][i] == (float)(i + 6 * (e + i));
    if (result || !good)
        fprintf(stderr, "the action: %s\n", result ? ipt_context_error(context) : "wrong results");
    ipt_batch_destroy(batch);
    return !result && good;
}

/* C = 2 A B - C with A, B and C of ones. */
static int multiplies(ipt_context *context)
{
    float A[2 * 3], B[3 * 4], C[2 * 4], a[2];
    void *memory[3];
    ipt_batch_desc desc = embedded_kernels_batch_1;
    ipt_batch *batch = NULL;
    ipt_result result;
    size_t i;
    int good = 1;
    memory[0] = A;
    memory[1] = B;
    memory[2] = C;
    a[0] = 2;
    a[1] = -1;
    for (i = 0; i < 12; ++i)
        A[i % 6] = B[i] = C[i % 8] = 1;
    desc.flags = IPT_CACHE_ONLY;
    result = ipt_batch_create(context, &desc, &batch);
    if (!result)
        result = ipt_batch_execute_host(batch, memory, a, NULL);
    for (i = 0; i < 8; ++i)
        good = good && C[i] == 5;
    if (result || !good)
        fprintf(stderr, "gemm: %s\n", result ? ipt_context_error(context) : "wrong results");
    ipt_batch_destroy(batch);
    return !result && good;
}

int main(void)
{
    ipt_context_desc desc;
    ipt_context *context;
    int good;
    memset(&desc, 0, sizeof desc);
    desc.binaries = embedded_kernels;
    desc.binary_count = embedded_kernels_count;
    if (ipt_context_create(&desc, &context)) {
        fprintf(stderr, "%s\n", ipt_context_error(NULL));
        return 1;
    }
    /* The precompiled shapes, another shape of their classes, and a shape whose program is missing. */
    good = transposes(context, 1000, 777, IPT_CACHE_ONLY, IPT_SUCCESS) &&
           transposes(context, 24, 20, IPT_CACHE_ONLY, IPT_SUCCESS) &&
           transposes(context, 1234, 4321, IPT_CACHE_ONLY, IPT_SUCCESS) &&
           transposes(context, 1000, 777, 0, IPT_SUCCESS) && /* without a compiler, nothing is compiled */
           transposes(context, 512, 512, 0, IPT_ERROR_CACHE_MISS) && computes(context) && multiplies(context);
    ipt_context_destroy(context);
    if (good)
        printf("embedded: %d entries, no compiler, no file system: all right\n", (int)embedded_kernels_count);
    return !good;
}
