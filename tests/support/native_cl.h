/* OpenCL for tests of programs without OpenCL (IPT_NO_OPENCL): the native driver's operations under OpenCL's names, and
 * the names and numbers of the OpenCL 1.2 specification that only tests use. */
#ifndef NATIVE_CL_H_INCLUDED
#define NATIVE_CL_H_INCLUDED

#ifndef IPT_ENTRY_POINT_LIST
#include "gen/library/driver/operations.h"
#endif
#define NATIVE_CL_DECLARE(result, name, parameters) extern result(*const name) parameters;
IPT_ENTRY_POINT_LIST(NATIVE_CL_DECLARE)

typedef cl_ulong cl_device_fp_config;
typedef intptr_t cl_device_partition_property;
typedef struct cl_buffer_region {
    size_t origin, size;
} cl_buffer_region;

cl_int clRetainCommandQueue(cl_command_queue queue);

/* The driver has neither of them. */
cl_mem clCreateSubBuffer(cl_mem whole, cl_mem_flags flags, cl_uint type, const void *region, cl_int *error);
cl_int clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties, cl_uint capacity,
                          cl_device_id *devices, cl_uint *count);

#define CL_SUBMITTED 2
#define CL_QUEUED 3
#define CL_DEVICE_NOT_AVAILABLE (-2)
#define CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST (-14)
#define CL_INVALID_OPERATION (-59)
#define CL_DEVICE_MEM_BASE_ADDR_ALIGN 0x1019
#define CL_DEVICE_SINGLE_FP_CONFIG 0x101B
#define CL_DEVICE_DOUBLE_FP_CONFIG 0x1032
#define CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE 0x101D
#define CL_DEVICE_QUEUE_PROPERTIES 0x102A
#define CL_CONTEXT_NUM_DEVICES 0x1083
#define CL_PROFILING_COMMAND_QUEUED 0x1280
#define CL_PROFILING_COMMAND_SUBMIT 0x1281
#define CL_FP_DENORM 1
#define CL_BUFFER_CREATE_TYPE_REGION 0x1220
#define CL_DEVICE_PARTITION_BY_COUNTS 0x1087
#define CL_DEVICE_PARTITION_BY_COUNTS_LIST_END 0

#endif
