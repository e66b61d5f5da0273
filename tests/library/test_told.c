/* Tests the reporting library (tests/support/told.c): features that it does not report must not work. Runs only if the
 * library is loaded. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_told(const char *name)
{
    const char *const told = getenv("IPT_TOLD");
    return told && strstr(told, name);
}

/* Returns NULL if the device cannot build the text. */
static cl_kernel make_kernel(const char *text)
{
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = NULL;
    cl_program program = clCreateProgramWithSource(test_cl_context, 1, &text, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    if (clBuildProgram(program, 1, &test_device, "", NULL, NULL) == CL_SUCCESS) {
        kernel = clCreateKernel(program, "k", &error);
        assert_int_equal(error, CL_SUCCESS);
    }
    clReleaseProgram(program);
    return kernel;
}

static cl_int launch(cl_kernel kernel, size_t items)
{
    const cl_int error = clEnqueueNDRangeKernel(test_queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL);
    assert_int_equal(clFinish(test_queue), CL_SUCCESS);
    return error;
}

static void told_groups(void **state)
{
    (void)state;
    if (!is_told("groups="))
        test_skip("no work-group size is set");
    cl_kernel kernel = make_kernel("__kernel void k(void) {}");
    assert_non_null(kernel);
    assert_int_equal(launch(kernel, test_group_limit()), CL_SUCCESS);
    assert_int_not_equal(launch(kernel, test_group_limit() + 1), CL_SUCCESS);
    clReleaseKernel(kernel);
}

static cl_ulong reported_local_memory(cl_kernel kernel)
{
    cl_ulong bytes = 0;
    clGetKernelWorkGroupInfo(kernel, test_device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    return bytes;
}

static void told_local_memory(void **state)
{
    (void)state;
    if (!is_told("local=") || is_told("static="))
        test_skip("no local memory is set");
    const size_t bytes = test_local_memory();
    char text[200];
    cl_kernel kernel = make_kernel("__kernel void k(__local uint *words) { words[0] = 1; }");
    assert_non_null(kernel);
    assert_int_equal(clSetKernelArg(kernel, 0, bytes / 2, NULL), CL_SUCCESS);
    assert_int_equal(launch(kernel, 1), CL_SUCCESS);
    assert_true(clSetKernelArg(kernel, 0, bytes + 4, NULL) != CL_SUCCESS || launch(kernel, 1) != CL_SUCCESS);
    clReleaseKernel(kernel);
    snprintf(text, sizeof text,
             "__kernel void k(__global uint *out) { __local uint words[%zu]; words[get_global_id(0)] = 1; "
             "barrier(CLK_LOCAL_MEM_FENCE); out[0] = words[out[1]]; }",
             bytes / 4 + 1);
    kernel = make_kernel(text);
    if (kernel && !reported_local_memory(kernel)) /* if the library reports this capability */
        test_skip("this OpenCL does not report the local memory of kernels");
    if (is_told("refuses=launch")) {
        cl_mem out = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, 8, NULL, NULL);
        assert_true(kernel && out);
        assert_int_equal(clSetKernelArg(kernel, 0, sizeof out, &out), CL_SUCCESS);
        assert_int_equal(launch(kernel, 1), CL_OUT_OF_RESOURCES);
        clReleaseMemObject(out);
        clReleaseKernel(kernel);
    } else
        assert_null(kernel);
}

/* Allocates buffers of the largest size until the memory is full, and again after their release. */
static void told_memory(void **state)
{
    (void)state;
    if (!is_told("alloc="))
        test_skip("no size of buffers is set");
    cl_ulong most = 0, all = 0;
    cl_int error = CL_SUCCESS;
    cl_mem buffers[64];
    clGetDeviceInfo(test_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    clGetDeviceInfo(test_device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL);
    assert_null(clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, (size_t)most + 1, NULL, &error));
    assert_int_equal(error, CL_INVALID_BUFFER_SIZE);
    if (!is_told("global="))
        return;
    for (int pass = 0; pass < 2; ++pass) {
        size_t count = 0;
        while (count < TEST_COUNT(buffers) &&
               (buffers[count] = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, (size_t)most, NULL, &error)))
            ++count;
        assert_int_equal(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
        assert_true(count > 0 && count <= all / most);
        while (count)
            clReleaseMemObject(buffers[--count]);
    }
}

static void told_extensions(void **state)
{
    (void)state;
    if (!is_told("extensions="))
        test_skip("no extensions are set");
    cl_kernel kernel = make_kernel("__kernel void k(__global float *x) { x[0] += 1; }");
    assert_non_null(kernel);
    clReleaseKernel(kernel);
    char names[4096] = "";
    clGetDeviceInfo(test_device, CL_DEVICE_EXTENSIONS, sizeof names, names, NULL);
    if (strstr(names, "cl_khr_fp64"))
        return;
    assert_null(make_kernel("__kernel void k(__global float *x) { x[0] = (float)((double)x[0] * 3); }"));
    assert_null(make_kernel("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n__kernel void k(void) {}"));
    kernel = make_kernel("#ifdef cl_khr_fp64\n#error doubles\n#endif\n__kernel void k(void) {}");
    assert_non_null(kernel);
    clReleaseKernel(kernel);
}

const struct CMUnitTest test_told[] = {
    TEST_CASE(told_groups),
    TEST_CASE(told_local_memory),
    TEST_CASE(told_memory),
    TEST_CASE(told_extensions),
};
const size_t test_told_count = TEST_COUNT(test_told);
