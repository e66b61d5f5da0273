/* An OpenCL stub for tests, with every entry point that ipt uses as fake_NAME. The stub counts objects. Transfers copy
 * data; kernels only mark their buffers. The stub checks more than drivers do: that objects are alive and of the right
 * kind and context, ranges, arguments, wait lists and reference counts. An error ends the program with a message. Tests
 * can make any call fail, and any command end with an error. The stub is thread-safe. */
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
    FAKE_TOGETHER, /* a GPU with cooperative work-groups and sub-groups */
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

/* Lazy: commands run only when a call waits for them. Otherwise commands run at once. */
void fake_be_lazy(int lazy);

/* Runs all commands that can run. Never fails. */
void fake_run(void);

/* Sets the memory that every device reports from now on, and the largest buffer that it reports and accepts. */
void fake_tell_memory(cl_ulong global, cl_ulong allocation);

/* Makes call n from now on fail with the error, and with all_after all later calls; n below 0: no call. */
void fake_fail_call(long n, cl_int error, int all_after);
const char *fake_failed_call(void); /* the first call that has failed; NULL: none */

/* Makes the n-th command enqueued from now on end with the status, below 0, and write garbage. Dependent commands also
 * end with an error. n below 0: no command. */
void fake_fail_command(long n, cl_int status);
const char *fake_failed_command(void); /* the call that enqueued the failed command; NULL: the command has not ended */

/* An event's status and its references. These calls never fail. */
cl_int fake_status(cl_event event);
long fake_references(cl_event event);

/* From now on, programs have the code `made`, of `size` bytes. `judge` decides about a binary's code. CL_SUCCESS: it
 * has kernels of any name; CL_BUILD_PROGRAM_FAILURE: it does not build; else creating its program fails.
 */
void fake_judge_codes(const void *made, size_t size, cl_int (*judge)(const unsigned char *code, size_t size));

/* The number of objects that are not released. */
long fake_living(void);

/* Frees the memory of released objects. Until then, the stub detects their use. */
void fake_forget(void);

/* The number of commands that have written to a buffer. Kernels count as writing to all their buffers. */
long fake_writes(cl_mem buffer);

/* A hash of the calls, kernels, sizes and arguments of all commands since fake_record. */
void fake_record(void);
unsigned long fake_recorded(void);

#endif
