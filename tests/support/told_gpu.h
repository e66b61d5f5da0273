/* For tests that include ipt's implementation: while `told` is set, ipt sees the device as a GPU. Include this header
 * before the implementation, which then calls told_clGetDeviceInfo. */
#ifndef TOLD_GPU_H_INCLUDED
#define TOLD_GPU_H_INCLUDED

#include <CL/cl.h>
#include <string.h>

static int told; /* 1: report a GPU */

static cl_int CL_API_CALL told_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                                               size_t *needed)
{
    static const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
    const cl_int error = clGetDeviceInfo(device, name, bytes, value, needed);
    if (!error && told && name == CL_DEVICE_TYPE && value)
        memcpy(value, &gpu, sizeof gpu);
    return error;
}

#endif
