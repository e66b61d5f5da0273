/* A program for a target without a compiler and without a file system. It has only the header that `ipt precompile
 * --embed` wrote. An OpenCL stub plays the target: it reports no compiler, and ends the program if it must
 * compile. tests/compile/embedded.sh makes the header and runs this program. */
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

static int transposes(ipt_context *context, size_t rows, size_t cols, unsigned flags, ipt_result expected)
{
    ipt_plan_desc desc;
    ipt_plan *plan = NULL;
    unsigned *matrix = (unsigned *)malloc(rows * cols * sizeof *matrix);
    size_t i;
    int good;
    ipt_result result;
    memset(&desc, 0, sizeof desc);
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = sizeof *matrix;
    desc.flags = flags;
    for (i = 0; matrix && i < rows * cols; ++i)
        matrix[i] = (unsigned)i;
    result = ipt_plan_create(context, &desc, &plan);
    if (!result && matrix)
        result = ipt_plan_execute_host(plan, matrix);
    good = matrix && result == expected;
    for (i = 0; good && !result && i < rows * cols; ++i)
        good = matrix[i] == i % rows * cols + i / rows;
    if (!good)
        fprintf(stderr, "%zu x %zu: %s\n", rows, cols,
                result != expected ? ipt_context_error(context) : "wrong elements");
    ipt_plan_destroy(plan);
    free(matrix);
    return good;
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
    /* The shapes that were precompiled; another one of their classes; and one that needs what is not there. */
    good = transposes(context, 1000, 777, IPT_CACHE_ONLY, IPT_SUCCESS) &&
           transposes(context, 24, 20, IPT_CACHE_ONLY, IPT_SUCCESS) &&
           transposes(context, 1234, 4321, IPT_CACHE_ONLY, IPT_SUCCESS) &&
           transposes(context, 1000, 777, 0, IPT_SUCCESS) && /* no compiler, so nothing is compiled in any case */
           transposes(context, 512, 512, 0, IPT_ERROR_CACHE_MISS);
    ipt_context_destroy(context);
    if (good)
        printf("embedded: %zu entries, no compiler, no file system: all right\n", embedded_kernels_count);
    return !good;
}
