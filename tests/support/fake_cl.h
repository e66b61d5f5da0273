/* An OpenCL stub for tests: every entry point of ipt's list as fake_NAME. It counts contexts, queues, buffers, programs
 * and events. Transfers copy data; kernels only mark their buffers. It checks what drivers do not: that objects are
 * alive and of the right kind and context, ranges, arguments, wait lists and reference counts. An error ends the
 * program with a message. Any call can be made to fail, and any command to end with an error. It is thread-safe. */
#ifndef FAKE_CL_H_INCLUDED
#define FAKE_CL_H_INCLUDED

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

/* clang-format off */
#define FAKE_ENTRY_POINT_LIST(X)                                                                                       \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetExtensionFunctionAddressForPlatform) X(clGetDeviceIDs)             \
    X(clGetDeviceInfo) X(clRetainDevice) X(clReleaseDevice) X(clCreateContext) X(clRetainContext)                      \
    X(clReleaseContext) X(clGetContextInfo) X(clCreateCommandQueue) X(clReleaseCommandQueue)                           \
    X(clGetCommandQueueInfo) X(clCreateBuffer) X(clReleaseMemObject) X(clGetMemObjectInfo)                             \
    X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clGetProgramInfo) X(clBuildProgram)                    \
    X(clGetProgramBuildInfo) X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel)                                  \
    X(clGetKernelWorkGroupInfo) X(clSetKernelArg)                                                                     \
    X(clEnqueueNDRangeKernel) X(clEnqueueFillBuffer) X(clEnqueueCopyBuffer) X(clEnqueueWriteBuffer)                    \
    X(clEnqueueReadBuffer) X(clEnqueueWriteBufferRect) X(clEnqueueReadBufferRect) X(clEnqueueMapBuffer)                \
    X(clEnqueueUnmapMemObject) X(clCreateUserEvent) X(clSetUserEventStatus) X(clEnqueueMarkerWithWaitList)             \
    X(clWaitForEvents) X(clGetEventInfo) X(clGetEventProfilingInfo) X(clRetainEvent) X(clReleaseEvent) X(clFlush)      \
    X(clFinish)
/* clang-format on */
#define FAKE_DECLARE(name) extern __typeof__(name) fake_##name;
FAKE_ENTRY_POINT_LIST(FAKE_DECLARE)
#undef FAKE_DECLARE

typedef enum fake_device {
    FAKE_CPU,
    FAKE_GPU,
    FAKE_UNIFIED,  /* a GPU in the host's memory */
    FAKE_TOGETHER, /* a GPU that reports how many of its work-groups run at a time, and has sub-groups */
    FAKE_DEVICE_COUNT
} fake_device;

typedef enum fake_kind {
    FAKE_CONTEXT,
    FAKE_QUEUE,
    FAKE_BUFFER,
    FAKE_PROGRAM,
    FAKE_KERNEL,
    FAKE_EVENT,
    FAKE_KIND_COUNT
} fake_kind;

cl_device_id fake_device_id(fake_device device);

/* Lazy: commands run when a call waits for them. Otherwise they run at once. */
void fake_be_lazy(int lazy);

/* Runs all commands that can run. Never fails. */
void fake_run(void);

/* Sets the memory that every device reports from now on, and the largest buffer that it reports and accepts. */
void fake_tell_memory(cl_ulong global, cl_ulong allocation);

/* The n-th call from now on fails with the error, and on request all later ones; n below 0: none fails. */
void fake_fail_call(long n, cl_int error, int all_after);
const char *fake_failed_call(void); /* the first call that has failed since; NULL: none */

/* The n-th command enqueued from now on ends with the status, below 0, and writes garbage. Dependent commands also end
 * with an error. n below 0: none fails. */
void fake_fail_command(long n, cl_int status);
const char *fake_failed_command(void); /* the call that enqueued the failed command; NULL: it has not ended */

/* An event's status and its references. These calls never fail. */
cl_int fake_status(cl_event event);
long fake_references(cl_event event);

/* From now on, programs have the code `made`, of `size` bytes, and a program's code is judged before it is used:
 * CL_SUCCESS: it has kernels of any name; CL_BUILD_PROGRAM_FAILURE: it does not build; else the error of its creation.
 */
void fake_judge_codes(const void *made, size_t size, cl_int (*judge)(const unsigned char *code, size_t size));

/* The number of objects that are not released. */
long fake_living(void);

/* Frees the memory of objects that are no longer alive, which is kept to detect their use. */
void fake_forget(void);

/* The number of commands that have written to a buffer, including kernels with it as argument. */
long fake_writes(cl_mem buffer);

/* A hash of the calls, kernels, sizes and arguments of all commands since fake_record. */
void fake_record(void);
unsigned long fake_recorded(void);

#endif
