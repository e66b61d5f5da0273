/* OpenCL's functions. */

/* Every OpenCL function that ipt calls. X(result, name, parameters). ipt calls them only as ipt__cl.name(...). */
#define IPT_ENTRY_POINT_LIST(X)                                                                                        \
    X(cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                                                \
    X(cl_int, clGetPlatformInfo, (cl_platform_id, cl_platform_info, size_t, void *, size_t *))                         \
    X(void *, clGetExtensionFunctionAddressForPlatform, (cl_platform_id, const char *))                                \
    X(cl_int, clGetDeviceIDs, (cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *))                    \
    X(cl_int, clGetDeviceInfo, (cl_device_id, cl_device_info, size_t, void *, size_t *))                               \
    X(cl_int, clRetainDevice, (cl_device_id))                                                                          \
    X(cl_int, clReleaseDevice, (cl_device_id))                                                                         \
    X(cl_context, clCreateContext,                                                                                     \
      (const cl_context_properties *, cl_uint, const cl_device_id *,                                                   \
       void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *))                             \
    X(cl_int, clRetainContext, (cl_context))                                                                           \
    X(cl_int, clReleaseContext, (cl_context))                                                                          \
    X(cl_int, clGetContextInfo, (cl_context, cl_context_info, size_t, void *, size_t *))                               \
    X(cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_command_queue_properties, cl_int *))       \
    X(cl_int, clReleaseCommandQueue, (cl_command_queue))                                                               \
    X(cl_int, clGetCommandQueueInfo, (cl_command_queue, cl_command_queue_info, size_t, void *, size_t *))              \
    X(cl_mem, clCreateBuffer, (cl_context, cl_mem_flags, size_t, void *, cl_int *))                                    \
    X(cl_int, clReleaseMemObject, (cl_mem))                                                                            \
    X(cl_int, clGetMemObjectInfo, (cl_mem, cl_mem_info, size_t, void *, size_t *))                                     \
    X(cl_program, clCreateProgramWithSource, (cl_context, cl_uint, const char **, const size_t *, cl_int *))           \
    X(cl_program, clCreateProgramWithBinary,                                                                           \
      (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *))         \
    X(cl_int, clGetProgramInfo, (cl_program, cl_program_info, size_t, void *, size_t *))                               \
    X(cl_int, clBuildProgram,                                                                                          \
      (cl_program, cl_uint, const cl_device_id *, const char *, void(CL_CALLBACK *)(cl_program, void *), void *))      \
    X(cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *))      \
    X(cl_int, clReleaseProgram, (cl_program))                                                                          \
    X(cl_kernel, clCreateKernel, (cl_program, const char *, cl_int *))                                                 \
    X(cl_int, clGetKernelWorkGroupInfo,                                                                                \
      (cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void *, size_t *))                                  \
    X(cl_int, clReleaseKernel, (cl_kernel))                                                                            \
    X(cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                                              \
    X(cl_int, clEnqueueNDRangeKernel,                                                                                  \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,                  \
       const cl_event *, cl_event *))                                                                                  \
    X(cl_int, clEnqueueFillBuffer,                                                                                     \
      (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))         \
    X(cl_int, clEnqueueCopyBuffer,                                                                                     \
      (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))               \
    X(cl_int, clEnqueueWriteBuffer,                                                                                    \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *, cl_event *))        \
    X(cl_int, clEnqueueReadBuffer,                                                                                     \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *))              \
    X(cl_int, clEnqueueWriteBufferRect,                                                                                \
      (cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t,      \
       size_t, const void *, cl_uint, const cl_event *, cl_event *))                                                   \
    X(cl_int, clEnqueueReadBufferRect,                                                                                 \
      (cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t,      \
       size_t, void *, cl_uint, const cl_event *, cl_event *))                                                         \
    X(void *, clEnqueueMapBuffer,                                                                                      \
      (cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event *, cl_event *,         \
       cl_int *))                                                                                                      \
    X(cl_int, clEnqueueUnmapMemObject, (cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *))      \
    X(cl_event, clCreateUserEvent, (cl_context, cl_int *))                                                             \
    X(cl_int, clSetUserEventStatus, (cl_event, cl_int))                                                                \
    X(cl_int, clEnqueueMarkerWithWaitList, (cl_command_queue, cl_uint, const cl_event *, cl_event *))                  \
    X(cl_int, clWaitForEvents, (cl_uint, const cl_event *))                                                            \
    X(cl_int, clGetEventInfo, (cl_event, cl_event_info, size_t, void *, size_t *))                                     \
    X(cl_int, clGetEventProfilingInfo, (cl_event, cl_profiling_info, size_t, void *, size_t *))                        \
    X(cl_int, clRetainEvent, (cl_event))                                                                               \
    X(cl_int, clReleaseEvent, (cl_event))                                                                              \
    X(cl_int, clFlush, (cl_command_queue))                                                                             \
    X(cl_int, clFinish, (cl_command_queue))

typedef struct ipt__entry_points {
#define IPT__ENTRY_POINT_FIELD(result, name, parameters) result(CL_API_CALL *name) parameters;
    IPT_ENTRY_POINT_LIST(IPT__ENTRY_POINT_FIELD)
} ipt__entry_points;

#ifdef IPT_OPENCL_DYNAMIC

/* Written once, under ipt__load_lock. Besides the threads' error texts, this is the only state outside contexts. */
static ipt__entry_points ipt__cl;
static IPT_LOCK_TYPE ipt__load_lock = IPT_LOCK_STATIC;
static int ipt__loaded;

/* The names of OpenCL's library, the most usual first. Android's vendors have folders and names of their own. */
static const char *const ipt__libraries[] = {
#if defined(_WIN32)
    "OpenCL.dll"
#elif defined(__APPLE__)
    "/System/Library/Frameworks/OpenCL.framework/OpenCL"
#elif defined(__ANDROID__)
#define IPT__ANDROID_LIBRARIES(folder)                                                                                 \
    "/vendor/" folder "/libOpenCL.so", "/system/vendor/" folder "/libOpenCL.so", "/system/" folder "/libOpenCL.so",    \
        "/vendor/" folder "/egl/libGLES_mali.so", "/system/vendor/" folder "/egl/libGLES_mali.so",                     \
        "/vendor/" folder "/libPVROCL.so"
    "libOpenCL.so", "libOpenCL-pixel.so", IPT__ANDROID_LIBRARIES("lib64"), IPT__ANDROID_LIBRARIES("lib")
#else
    "libOpenCL.so.1", "libOpenCL.so"
#endif
};

static void *ipt__library_open_named(const char *name)
{
#if defined(_WIN32)
    wchar_t wide[IPT__WIDE_PATH];
    return ipt__path_widen(name, wide) ? (void *)LoadLibraryW(wide) : NULL;
#else
    return dlopen(name, RTLD_NOW);
#endif
}

/* Opens the library that the environment's IPT_OPENCL_LIBRARY names, else the first that the system has. On failure
 * *library is NULL. */
static ipt_result ipt__library_open(void **library)
{
    char room[1024];
    const char *const named =
        IPT__ENVIRONMENT_IS_OWN ? ipt__environment("IPT_OPENCL_LIBRARY", room, sizeof room) : NULL;
    size_t i;
    *library = named && *named ? ipt__library_open_named(named) : NULL;
    if (named && *named)
        return *library ? IPT_SUCCESS
                        : ipt__fail(IPT_ERROR_NO_DEVICE,
                                    "the environment's IPT_OPENCL_LIBRARY is %.400s, which cannot be loaded", named);
    for (i = 0; !*library && i < sizeof ipt__libraries / sizeof *ipt__libraries; ++i)
        *library = ipt__library_open_named(ipt__libraries[i]);
    return *library ? IPT_SUCCESS
                    : ipt__fail(IPT_ERROR_NO_DEVICE,
                                "no OpenCL library is installed: install an OpenCL loader and a driver, or name the "
                                "library in the environment's IPT_OPENCL_LIBRARY");
}

/* Writes the address of a function to `pointer`. Returns 0 if the library lacks the function. */
static int ipt__library_find(void *library, const char *name, void *pointer, size_t pointer_bytes)
{
#if defined(_WIN32)
    const FARPROC found = GetProcAddress((HMODULE)library, name);
#else
    void *const found = dlsym(library, name);
#endif
    memcpy(pointer, &found, pointer_bytes); /* C cannot cast an object's pointer to a function's pointer */
    return found != NULL;
}

static void ipt__library_close(void *library)
{
#if defined(_WIN32)
    FreeLibrary((HMODULE)library);
#else
    dlclose(library);
#endif
}

static ipt_result ipt__load(void)
{
    ipt_result result = IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&ipt__load_lock);
    if (!ipt__loaded) {
        void *library;
        result = ipt__library_open(&library);
#define IPT__ENTRY_POINT_FIND(unused_result, name, parameters)                                                         \
    if (!result && !ipt__library_find(library, #name, &ipt__cl.name, sizeof ipt__cl.name))                             \
        result = ipt__fail(IPT_ERROR_NO_DEVICE, "the OpenCL library has no %s: it is older than 1.2", #name);
        IPT_ENTRY_POINT_LIST(IPT__ENTRY_POINT_FIND)
        ipt__loaded = !result;
        if (library && result)
            ipt__library_close(library);
    }
    IPT_LOCK_RELEASE(&ipt__load_lock);
    return result;
}

#else

/* Tests may define IPT_ENTRY_POINT(name) as a replacement for an OpenCL function. */
#ifndef IPT_ENTRY_POINT
#define IPT_ENTRY_POINT(name) name
#endif
#define IPT__ENTRY_POINT_ADDRESS(result, name, parameters) IPT_ENTRY_POINT(name),
static const ipt__entry_points ipt__cl = {IPT_ENTRY_POINT_LIST(IPT__ENTRY_POINT_ADDRESS)};

static ipt_result ipt__load(void)
{
    return IPT_SUCCESS;
}

#endif
