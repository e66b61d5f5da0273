/* CUDA's driver API and NVRTC, loaded at run time. The declarations are ipt's own, by NVIDIA's documentation: programs
 * need no header of CUDA. */
#ifdef IPT_CUDA

typedef int ipt__cu_result; /* 0: success */
typedef unsigned long long ipt__cu_address;
typedef void *ipt__cu_context, *ipt__cu_stream, *ipt__cu_event, *ipt__cu_module, *ipt__cu_function;
typedef int ipt__cu_device;

enum {
    IPT__CU_INVALID_VALUE = 1,
    IPT__CU_OUT_OF_MEMORY = 2,
    IPT__CU_OUT_OF_RESOURCES = 701,
    /* CUdevice_attribute */
    IPT__CU_UNITS = 16,
    IPT__CU_MAJOR = 75,
    IPT__CU_MINOR = 76,
    IPT__CU_COOPERATES = 95,
    IPT__CU_LOCAL_BYTES = 97, /* most shared memory of a block, on request */
    /* CUfunction_attribute */
    IPT__CU_FUNCTION_SHARED = 1,
    IPT__CU_FUNCTION_DYNAMIC = 8,
    /* flags */
    IPT__CU_NON_BLOCKING = 1,
    IPT__CU_NO_TIMING = 2,
    IPT__CU_MAPPED = 3, /* portable, with an address on the device */
    IPT__CU_WAIT_GEQ = 0,
    IPT__CU_RELAXED = 2, /* CUstreamCaptureMode */
    /* CUmemorytype */
    IPT__CU_HOST = 1,
    IPT__CU_DEVICE = 2
};

/* CUDA_MEMCPY2D */
typedef struct ipt__cu_copy {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    ipt__cu_address from;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    int to_type;
    void *to_host;
    ipt__cu_address to;
    void *to_array;
    size_t to_pitch, bytes, rows;
} ipt__cu_copy;

/* X(function, its symbol, parameters) */
#define IPT__CU_LIST(X)                                                                                                \
    X(cuInit, "cuInit", (unsigned))                                                                                    \
    X(cuDriverGetVersion, "cuDriverGetVersion", (int *))                                                               \
    X(cuGetErrorString, "cuGetErrorString", (ipt__cu_result, const char **))                                           \
    X(cuDeviceGetCount, "cuDeviceGetCount", (int *))                                                                   \
    X(cuDeviceGet, "cuDeviceGet", (ipt__cu_device *, int))                                                             \
    X(cuDeviceGetName, "cuDeviceGetName", (char *, int, ipt__cu_device))                                               \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, ipt__cu_device))                                      \
    X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, ipt__cu_device))                                             \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (ipt__cu_context *, ipt__cu_device))                       \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (ipt__cu_device))                                     \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (ipt__cu_context))                                                      \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (ipt__cu_context *))                                                      \
    X(cuCtxGetCurrent, "cuCtxGetCurrent", (ipt__cu_context *))                                                         \
    X(cuCtxGetDevice, "cuCtxGetDevice", (ipt__cu_device *))                                                            \
    X(cuPointerGetAttribute, "cuPointerGetAttribute", (void *, int, ipt__cu_address))                                  \
    X(cuCtxSynchronize, "cuCtxSynchronize", (void))                                                                    \
    X(cuMemAlloc, "cuMemAlloc_v2", (ipt__cu_address *, size_t))                                                        \
    X(cuMemFree, "cuMemFree_v2", (ipt__cu_address))                                                                    \
    X(cuMemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                                   \
    X(cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2", (ipt__cu_address *, void *, unsigned))                \
    X(cuMemHostRegister, "cuMemHostRegister_v2", (void *, size_t, unsigned))                                           \
    X(cuMemHostUnregister, "cuMemHostUnregister", (void *))                                                            \
    X(cuMemFreeHost, "cuMemFreeHost", (void *))                                                                        \
    X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (ipt__cu_address, const void *, size_t, ipt__cu_stream))              \
    X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, ipt__cu_address, size_t, ipt__cu_stream))                    \
    X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (ipt__cu_address, ipt__cu_address, size_t, ipt__cu_stream))           \
    X(cuMemcpy2DAsync, "cuMemcpy2DAsync_v2", (const ipt__cu_copy *, ipt__cu_stream))                                   \
    X(cuMemsetD8Async, "cuMemsetD8Async", (ipt__cu_address, unsigned char, size_t, ipt__cu_stream))                    \
    X(cuMemsetD32Async, "cuMemsetD32Async", (ipt__cu_address, unsigned, size_t, ipt__cu_stream))                       \
    X(cuStreamCreate, "cuStreamCreate", (ipt__cu_stream *, unsigned))                                                  \
    X(cuStreamDestroy, "cuStreamDestroy_v2", (ipt__cu_stream))                                                         \
    X(cuStreamSynchronize, "cuStreamSynchronize", (ipt__cu_stream))                                                    \
    X(cuStreamGetId, "cuStreamGetId", (ipt__cu_stream, unsigned long long *))                                          \
    X(cuStreamIsCapturing, "cuStreamIsCapturing", (ipt__cu_stream, int *))                                             \
    X(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *))                                 \
    X(cuStreamWaitEvent, "cuStreamWaitEvent", (ipt__cu_stream, ipt__cu_event, unsigned))                               \
    X(cuStreamWaitValue32, "cuStreamWaitValue32_v2", (ipt__cu_stream, ipt__cu_address, cl_uint, unsigned))             \
    X(cuEventCreate, "cuEventCreate", (ipt__cu_event *, unsigned))                                                     \
    X(cuEventDestroy, "cuEventDestroy_v2", (ipt__cu_event))                                                            \
    X(cuEventRecord, "cuEventRecord", (ipt__cu_event, ipt__cu_stream))                                                 \
    X(cuEventQuery, "cuEventQuery", (ipt__cu_event))                                                                   \
    X(cuEventSynchronize, "cuEventSynchronize", (ipt__cu_event))                                                       \
    X(cuEventElapsedTime, "cuEventElapsedTime", (float *, ipt__cu_event, ipt__cu_event))                               \
    X(cuModuleLoadData, "cuModuleLoadData", (ipt__cu_module *, const void *))                                          \
    X(cuModuleUnload, "cuModuleUnload", (ipt__cu_module))                                                              \
    X(cuModuleGetFunction, "cuModuleGetFunction", (ipt__cu_function *, ipt__cu_module, const char *))                  \
    X(cuFuncGetAttribute, "cuFuncGetAttribute", (int *, int, ipt__cu_function))                                        \
    X(cuFuncSetAttribute, "cuFuncSetAttribute", (ipt__cu_function, int, int))                                          \
    X(cuLaunchKernel, "cuLaunchKernel",                                                                                \
      (ipt__cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, ipt__cu_stream,         \
       void **, void **))                                                                                              \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                      \
      (int *, ipt__cu_function, int, size_t))                                                                          \
    X(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel",                                                          \
      (ipt__cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, ipt__cu_stream,         \
       void **))
#define IPT__NVRTC_LIST(X)                                                                                             \
    X(nvrtcVersion, "nvrtcVersion", (int *, int *))                                                                    \
    X(nvrtcCreateProgram, "nvrtcCreateProgram",                                                                        \
      (void **, const char *, const char *, int, const char *const *, const char *const *))                            \
    X(nvrtcCompileProgram, "nvrtcCompileProgram", (void *, int, const char *const *))                                  \
    X(nvrtcDestroyProgram, "nvrtcDestroyProgram", (void **))                                                           \
    X(nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize", (void *, size_t *))                                            \
    X(nvrtcGetProgramLog, "nvrtcGetProgramLog", (void *, char *))                                                      \
    X(nvrtcGetCUBINSize, "nvrtcGetCUBINSize", (void *, size_t *))                                                      \
    X(nvrtcGetCUBIN, "nvrtcGetCUBIN", (void *, char *))

/* Written once, under the lock. compiles: NVRTC is there. */
typedef struct ipt__cuda_api {
#define IPT__CU_FIELD(name, symbol, parameters) ipt__cu_result(*name) parameters;
    IPT__CU_LIST(IPT__CU_FIELD) IPT__NVRTC_LIST(IPT__CU_FIELD) int opened, compiles, device_count;
} ipt__cuda_api;
static ipt__cuda_api ipt__cu;
static IPT_LOCK_TYPE ipt__cuda_lock = IPT_LOCK_STATIC;

/* Keeps a failed call for the message of ipt__fail_opencl. Returns the call's result. */
static ipt__cu_result ipt__cuda_did(const char *call, ipt__cu_result error)
{
    if (error) {
        ipt__below.call = call;
        ipt__below.number = error;
        if (ipt__cu.cuGetErrorString(error, &ipt__below.sentence))
            ipt__below.sentence = "unknown error";
    }
    return error;
}

/* Calls CUDA: IPT__CU(cuMemFree, (address)). */
#define IPT__CU(name, arguments) ipt__cuda_did(#name, ipt__cu.name arguments)

/* The first of some libraries that the system has, or that the environment's variable names. */
static void *ipt__cuda_library(const char *variable, const char *const *names)
{
    char room[1024];
    const char *const named = IPT__ENVIRONMENT_IS_OWN ? ipt__environment(variable, room, sizeof room) : NULL;
    void *library = NULL;
    if (named && *named)
        return ipt__library_open_named(named);
    for (; !library && *names; ++names)
        library = ipt__library_open_named(*names);
    return library;
}

/* Loads NVRTC on the first call. The caller has the lock. */
static void ipt__nvrtc_open(void)
{
#if defined(_WIN32)
    static const char *const compilers[] = {"nvrtc64_130_0.dll", "nvrtc64_120_0.dll", NULL};
#else
    static const char *const compilers[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};
#endif
    void *const library = ipt__cu.compiles ? NULL : ipt__cuda_library("IPT_NVRTC_LIBRARY", compilers);
    int found = library != NULL;
#define IPT__NVRTC_FIND(name, symbol, parameters)                                                                      \
    found = found && ipt__library_find(library, symbol, &ipt__cu.name, sizeof ipt__cu.name);
    IPT__NVRTC_LIST(IPT__NVRTC_FIND)
    ipt__cu.compiles |= found;
}

/* Loads CUDA on the first call. Without NVRTC, only stored programs run. */
static ipt_result ipt__cuda_open(void)
{
#if defined(_WIN32)
    static const char *const drivers[] = {"nvcuda.dll", NULL};
#else
    static const char *const drivers[] = {"libcuda.so.1", "libcuda.so", NULL};
#endif
    ipt_result result = IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    if (!ipt__cu.opened) {
        void *library = ipt__cuda_library("IPT_CUDA_LIBRARY", drivers);
        ipt__cu_result error = 0;
        if (!library)
            result = ipt__fail(IPT_ERROR_NO_DEVICE, "there is no CUDA driver: %s cannot be loaded", *drivers);
#define IPT__CU_FIND(name, symbol, parameters)                                                                         \
    if (!result && !ipt__library_find(library, symbol, &ipt__cu.name, sizeof ipt__cu.name))                            \
        result = ipt__fail(IPT_ERROR_NO_DEVICE, "the CUDA driver has no %s: it is older than CUDA 12", symbol);
        IPT__CU_LIST(IPT__CU_FIND)
        if (!result &&
            ((error = ipt__cu.cuInit(0)) != 0 || (error = ipt__cu.cuDeviceGetCount(&ipt__cu.device_count)) != 0))
            result = ipt__fail(IPT_ERROR_NO_DEVICE, "the CUDA driver does not start: error %d of cuInit", error);
        if (!result)
            ipt__nvrtc_open();
        ipt__cu.opened = !result;
    }
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
    return result;
}

#endif
