/* The CUDA driver under OpenCL's names, so that tests that call OpenCL run on it unchanged: its operations, and what
 * such tests call beside them. Linked in place of OpenCL's library. */
#define IPT_STATIC
#define IPT_CUDA
#define IPT_OPENCL_DYNAMIC
#define IPT_IMPLEMENTATION
#include "ipt.h"

/* Tests ask more about a device than the library does. */
static cl_int CL_API_CALL ipt__tests_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t capacity,
                                                     void *value, size_t *size)
{
    const cl_command_queue_properties able = CL_QUEUE_PROFILING_ENABLE;
    const cl_device_fp_config floats = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA;
    return name == CL_DEVICE_QUEUE_PROPERTIES ? ipt__cuda_answer(&able, sizeof able, capacity, value, size)
           : name == CL_DEVICE_SINGLE_FP_CONFIG || name == CL_DEVICE_DOUBLE_FP_CONFIG
               ? ipt__cuda_answer(&floats, sizeof floats, capacity, value, size)
               : ipt__cuda_clGetDeviceInfo(device, name, capacity, value, size);
}

/* The first call of every test. compute-sanitizer has to begin before CUDA does, so a constructor would be too early.
 */
static cl_int CL_API_CALL ipt__tests_clGetPlatformIDs(cl_uint capacity, cl_platform_id *platforms, cl_uint *count)
{
    if (ipt__cuda_open()) {
        fprintf(stderr, "%s\n", ipt_context_error(NULL));
        return CL_DEVICE_NOT_FOUND;
    }
    return ipt__cuda_clGetPlatformIDs(capacity, platforms, count);
}
#define ipt__cuda_clGetDeviceInfo ipt__tests_clGetDeviceInfo
#define ipt__cuda_clGetPlatformIDs ipt__tests_clGetPlatformIDs

#define TEXT(token) #token
#define TEXT_OF(token) TEXT(token)
#define EXPORT(result, name, parameters)                                                                               \
    extern result CL_API_CALL name parameters __attribute__((alias(TEXT_OF(ipt__cuda_##name))));
IPT_ENTRY_POINT_LIST(EXPORT)

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue)
{
    ipt__cuda_retain(queue);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clRetainMemObject(cl_mem memory)
{
    ipt__cuda_retain(memory);
    return CL_SUCCESS;
}

/* There are no parts of buffers and of devices: tests skip what needs them, by name. */
cl_mem CL_API_CALL clCreateSubBuffer(cl_mem memory, cl_mem_flags flags, cl_buffer_create_type type, const void *part,
                                     cl_int *error)
{
    (void)memory;
    (void)flags;
    (void)type;
    (void)part;
    return (cl_mem)ipt__cuda_made(NULL, CL_INVALID_VALUE, error);
}

cl_int CL_API_CALL clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties,
                                      cl_uint capacity, cl_device_id *devices, cl_uint *count)
{
    (void)device;
    (void)properties;
    (void)capacity;
    (void)devices;
    (void)count;
    return CL_INVALID_VALUE;
}

cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem memory, void(CL_CALLBACK *notify)(cl_mem, void *),
                                                    void *user)
{
    (void)memory;
    (void)notify;
    (void)user;
    return CL_INVALID_VALUE;
}

cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t capacity, void *value, size_t *size)
{
    const ipt__cuda_kernel *const asked = (const ipt__cuda_kernel *)(void *)kernel;
    return name == CL_KERNEL_PROGRAM ? ipt__cuda_answer(&asked->program, sizeof asked->program, capacity, value, size)
           : name == CL_KERNEL_FUNCTION_NAME
               ? ipt__cuda_answer(asked->info->name, strlen(asked->info->name) + 1, capacity, value, size)
               : CL_INVALID_VALUE;
}

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint capacity, cl_kernel *kernels, cl_uint *count)
{
    (void)program;
    (void)capacity;
    (void)kernels;
    (void)count;
    return CL_INVALID_VALUE;
}
