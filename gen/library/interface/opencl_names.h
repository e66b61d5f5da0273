/* The names of OpenCL that ipt uses, for programs without OpenCL (IPT_NO_OPENCL), and for those that load it at run
 * time on systems without its header. Handles are opaque. The numbers are those of the Khronos Group's OpenCL 1.2
 * specification. */
#if defined(IPT_NO_OPENCL)
#define IPT__OWN_NAMES
#elif defined(IPT_OPENCL_DYNAMIC) && defined(__has_include)
#if defined(__APPLE__)
#if !__has_include(<OpenCL/cl.h>)
#define IPT__OWN_NAMES
#endif
#elif !__has_include(<CL/cl.h>)
#define IPT__OWN_NAMES
#endif
#endif
#ifdef IPT__OWN_NAMES
#if defined(IPT_NO_OPENCL) && defined(IPT_NO_NATIVE)
#error "IPT_NO_OPENCL and IPT_NO_NATIVE leave no device"
#endif
#include <stdint.h>
#define CL_VERSION_1_2 1
#ifdef _WIN32
#define CL_API_CALL __stdcall
#define CL_CALLBACK __stdcall
#else
#define CL_API_CALL
#define CL_CALLBACK
#endif
typedef uint8_t cl_uchar;
typedef uint16_t cl_ushort;
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef int64_t cl_long;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool, cl_platform_info, cl_device_info, cl_context_info, cl_command_queue_info, cl_mem_info,
    cl_mem_object_type, cl_program_info, cl_program_build_info, cl_kernel_work_group_info, cl_event_info,
    cl_profiling_info;
typedef cl_ulong cl_device_type, cl_command_queue_properties, cl_mem_flags, cl_map_flags;
typedef intptr_t cl_context_properties;
typedef struct ipt_cl_platform_id *cl_platform_id;
typedef struct ipt_cl_device_id *cl_device_id;
typedef struct ipt_cl_context *cl_context;
typedef struct ipt_cl_command_queue *cl_command_queue;
typedef struct ipt_cl_mem *cl_mem;
typedef struct ipt_cl_program *cl_program;
typedef struct ipt_cl_kernel *cl_kernel;
typedef struct ipt_cl_event *cl_event;
#define CL_FALSE 0
#define CL_TRUE 1
#define CL_SUCCESS 0
#define CL_DEVICE_NOT_FOUND (-1)
#define CL_COMPILER_NOT_AVAILABLE (-3)
#define CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)
#define CL_OUT_OF_RESOURCES (-5)
#define CL_OUT_OF_HOST_MEMORY (-6)
#define CL_PROFILING_INFO_NOT_AVAILABLE (-7)
#define CL_INVALID_VALUE (-30)
#define CL_INVALID_DEVICE (-33)
#define CL_INVALID_COMMAND_QUEUE (-36)
#define CL_INVALID_HOST_PTR (-37)
#define CL_INVALID_MEM_OBJECT (-38)
#define CL_INVALID_BINARY (-42)
#define CL_INVALID_KERNEL_NAME (-46)
#define CL_INVALID_ARG_SIZE (-51)
#define CL_INVALID_WORK_GROUP_SIZE (-54)
#define CL_INVALID_EVENT (-58)
#define CL_INVALID_BUFFER_SIZE (-61)
#define CL_INVALID_GLOBAL_WORK_SIZE (-63)
#define CL_COMPLETE 0
#define CL_PLATFORM_VERSION 0x0901
#define CL_PLATFORM_NAME 0x0902
#define CL_DEVICE_TYPE_CPU 2
#define CL_DEVICE_TYPE_GPU 4
#define CL_DEVICE_TYPE 0x1000
#define CL_DEVICE_MAX_COMPUTE_UNITS 0x1002
#define CL_DEVICE_MAX_WORK_GROUP_SIZE 0x1004
#define CL_DEVICE_ADDRESS_BITS 0x100D
#define CL_DEVICE_MAX_MEM_ALLOC_SIZE 0x1010
#define CL_DEVICE_GLOBAL_MEM_SIZE 0x101F
#define CL_DEVICE_LOCAL_MEM_SIZE 0x1023
#define CL_DEVICE_COMPILER_AVAILABLE 0x1028
#define CL_DEVICE_NAME 0x102B
#define CL_DEVICE_VENDOR 0x102C
#define CL_DRIVER_VERSION 0x102D
#define CL_DEVICE_VERSION 0x102F
#define CL_DEVICE_EXTENSIONS 0x1030
#define CL_DEVICE_PLATFORM 0x1031
#define CL_DEVICE_HOST_UNIFIED_MEMORY 0x1035
#define CL_CONTEXT_DEVICES 0x1081
#define CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE 1
#define CL_QUEUE_PROFILING_ENABLE 2
#define CL_QUEUE_CONTEXT 0x1090
#define CL_QUEUE_DEVICE 0x1091
#define CL_QUEUE_PROPERTIES 0x1093
#define CL_MEM_READ_WRITE 1
#define CL_MEM_WRITE_ONLY 2
#define CL_MEM_READ_ONLY 4
#define CL_MEM_USE_HOST_PTR 8
#define CL_MEM_ALLOC_HOST_PTR 16
#define CL_MEM_COPY_HOST_PTR 32
#define CL_MEM_OBJECT_BUFFER 0x10F0
#define CL_MEM_TYPE 0x1100
#define CL_MEM_FLAGS 0x1101
#define CL_MEM_SIZE 0x1102
#define CL_MEM_HOST_PTR 0x1103
#define CL_MEM_CONTEXT 0x1106
#define CL_MEM_ASSOCIATED_MEMOBJECT 0x1107
#define CL_MEM_OFFSET 0x1108
#define CL_MAP_READ 1
#define CL_MAP_WRITE 2
#define CL_PROGRAM_DEVICES 0x1163
#define CL_PROGRAM_BINARY_SIZES 0x1165
#define CL_PROGRAM_BINARIES 0x1166
#define CL_PROGRAM_BUILD_LOG 0x1183
#define CL_KERNEL_WORK_GROUP_SIZE 0x11B0
#define CL_EVENT_COMMAND_QUEUE 0x11D0
#define CL_EVENT_COMMAND_EXECUTION_STATUS 0x11D3
#define CL_EVENT_CONTEXT 0x11D4
#define CL_PROFILING_COMMAND_START 0x1282
#define CL_PROFILING_COMMAND_END 0x1283
#define CL_DEVICE_TYPE_ALL 0xFFFFFFFFu
#endif
