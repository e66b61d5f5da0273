/* The native driver: this CPU as a device, its contexts, queues and memory. */
#ifdef IPT_NATIVE

#define IPT__NATIVE_VERSION "ipt"

/* Handles of the one platform and device. */
static char ipt__native_handles[2];
#define IPT__NATIVE_PLATFORM ((cl_platform_id)(void *)&ipt__native_handles[0])
#define IPT__NATIVE_DEVICE ((cl_device_id)(void *)&ipt__native_handles[1])

/* Answers a question about an object. */
static cl_int ipt__native_answer(const void *answer, size_t bytes, size_t capacity, void *value, size_t *size)
{
    if (value && capacity < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, bytes);
    if (size)
        *size = bytes;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clGetPlatformIDs(cl_uint capacity, cl_platform_id *platforms, cl_uint *count)
{
    if (platforms && capacity)
        *platforms = IPT__NATIVE_PLATFORM;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t capacity,
                                                        void *value, size_t *size)
{
    const char *const text = name == CL_PLATFORM_VERSION ? "OpenCL 2.0 ipt" : "ipt";
    (void)platform;
    return ipt__native_answer(text, strlen(text) + 1, capacity, value, size);
}

static void *CL_API_CALL ipt__native_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    (void)platform;
    (void)name;
    return NULL;
}

static cl_int CL_API_CALL ipt__native_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint capacity,
                                                     cl_device_id *devices, cl_uint *count)
{
    (void)platform;
    (void)type;
    if (devices && capacity)
        *devices = IPT__NATIVE_DEVICE;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

/* Bytes of this machine's memory. */
static cl_ulong ipt__native_total(void)
{
#if defined(_WIN32)
    MEMORYSTATUSEX status;
    status.dwLength = sizeof status;
    return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : (cl_ulong)1 << 30;
#elif defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (cl_ulong)pages * (cl_ulong)bytes : (cl_ulong)1 << 30;
#else
    return (cl_ulong)1 << 30;
#endif
}

/* The number that answers a question about the device, and its bytes; 0: the question has none. */
static size_t ipt__native_number(cl_device_info name, cl_ulong *number)
{
    switch (name) {
    case CL_DEVICE_TYPE:
        *number = CL_DEVICE_TYPE_CPU;
        return sizeof(cl_device_type);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        *number = ipt__native_threads();
        return sizeof(cl_uint);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        *number = 1;
        return sizeof(size_t);
    case CL_DEVICE_ADDRESS_BITS:
        *number = 8 * sizeof(size_t);
        return sizeof(cl_uint);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        *number = IPT__NATIVE_LOCAL_BYTES;
        return sizeof(cl_ulong);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        *number = ipt__min(ipt__native_total(), (cl_ulong)((size_t)-1 / 2));
        return sizeof(cl_ulong);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        *number = 1;
        return sizeof(cl_bool);
    case CL_DEVICE_COMPILER_AVAILABLE:
        *number = 0;
        return sizeof(cl_bool);
    default:
        return 0;
    }
}

static cl_int CL_API_CALL ipt__native_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t capacity,
                                                      void *value, size_t *size)
{
    const cl_platform_id platform = IPT__NATIVE_PLATFORM;
    cl_ulong number = 0;
    const size_t bytes = ipt__native_number(name, &number);
    const cl_uint as_uint = (cl_uint)number;
    const size_t as_size = (size_t)number;
    const char *text = NULL;
    (void)device;
    if (bytes)
        return ipt__native_answer(bytes == sizeof number    ? (const void *)&number
                                  : bytes == sizeof as_uint ? (const void *)&as_uint
                                                            : (const void *)&as_size,
                                  bytes, capacity, value, size);
    if (name == CL_DEVICE_PLATFORM)
        return ipt__native_answer(&platform, sizeof platform, capacity, value, size);
    text = name == CL_DEVICE_NAME         ? "native: this CPU"
           : name == CL_DEVICE_VENDOR     ? "ipt"
           : name == CL_DEVICE_VERSION    ? "OpenCL 2.0 ipt"
           : name == CL_DRIVER_VERSION    ? IPT__NATIVE_VERSION
           : name == CL_DEVICE_EXTENSIONS ? "cl_khr_fp64"
                                          : NULL;
    return text ? ipt__native_answer(text, strlen(text) + 1, capacity, value, size) : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL ipt__native_clRetainDevice(cl_device_id device)
{
    (void)device;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clReleaseDevice(cl_device_id device)
{
    (void)device;
    return CL_SUCCESS;
}

/* Passes a result, an object or NULL, to a caller, and the error if the caller wants it. */
static void *ipt__native_made(void *made, cl_int failure, cl_int *error)
{
    if (error)
        *error = made ? CL_SUCCESS : failure;
    return made;
}

/* properties: IPT__NATIVE_CONTEXT_THREADS and the number of threads of a launch, or NULL. */
enum { IPT__NATIVE_CONTEXT_THREADS = 1 };
static cl_context CL_API_CALL ipt__native_clCreateContext(
    const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *error)
{
    ipt__native_context *const made = (ipt__native_context *)calloc(1, sizeof *made);
    (void)count;
    (void)devices;
    (void)notify;
    (void)user;
#ifdef IPT__NATIVE_NEEDS_SSE2
    if (made && !__builtin_cpu_supports("sse2")) {
        free(made);
        return (cl_context)ipt__native_made(NULL, -2, error); /* CL_DEVICE_NOT_AVAILABLE */
    }
#endif
    if (made) {
        ipt__native_begin(&made->object);
        made->threads = properties ? (unsigned)properties[1] : ipt__native_threads();
        ipt__pool_use(1);
    }
    return (cl_context)ipt__native_made(made, CL_OUT_OF_HOST_MEMORY, error);
}

static cl_int CL_API_CALL ipt__native_clRetainContext(cl_context context)
{
    ipt__native_retain(context);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clReleaseContext(cl_context context)
{
    int last;
    ipt__native_lock();
    last = ((ipt__native_object *)(void *)context)->references == 1;
    ipt__native_drop(context);
    ipt__native_unlock();
    if (last)
        ipt__pool_use(-1);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clGetContextInfo(cl_context context, cl_context_info name, size_t capacity,
                                                       void *value, size_t *size)
{
    const cl_device_id device = IPT__NATIVE_DEVICE;
    (void)context;
    return name == CL_CONTEXT_DEVICES ? ipt__native_answer(&device, sizeof device, capacity, value, size)
                                      : CL_INVALID_VALUE;
}

static cl_command_queue CL_API_CALL ipt__native_clCreateCommandQueue(cl_context context, cl_device_id device,
                                                                     cl_command_queue_properties properties,
                                                                     cl_int *error)
{
    ipt__native_queue *const made = (ipt__native_queue *)calloc(1, sizeof *made);
    (void)device;
    if (made) {
        ipt__native_begin(&made->object);
        made->context = context;
        made->properties = properties;
    }
    return (cl_command_queue)ipt__native_made(made, CL_OUT_OF_HOST_MEMORY, error);
}

static cl_int CL_API_CALL ipt__native_clReleaseCommandQueue(cl_command_queue queue)
{
    ipt__native_lock();
    ipt__native_drop(queue);
    ipt__native_unlock();
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name,
                                                            size_t capacity, void *value, size_t *size)
{
    const ipt__native_queue *const asked = (const ipt__native_queue *)(void *)queue;
    const cl_device_id device = IPT__NATIVE_DEVICE;
    if (!ipt__native_owns(queue))
        return CL_INVALID_COMMAND_QUEUE;
    return name == CL_QUEUE_CONTEXT  ? ipt__native_answer(&asked->context, sizeof asked->context, capacity, value, size)
           : name == CL_QUEUE_DEVICE ? ipt__native_answer(&device, sizeof device, capacity, value, size)
           : name == CL_QUEUE_PROPERTIES
               ? ipt__native_answer(&asked->properties, sizeof asked->properties, capacity, value, size)
               : CL_INVALID_VALUE;
}

static cl_mem CL_API_CALL ipt__native_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                                     cl_int *error)
{
    ipt__native_memory *const made = (ipt__native_memory *)calloc(1, sizeof *made);
    const int uses = (flags & CL_MEM_USE_HOST_PTR) != 0;
    if (made && !uses)
        made->owned = bytes < (size_t)-1 - IPT__NATIVE_ALIGNMENT ? (char *)malloc(bytes + IPT__NATIVE_ALIGNMENT) : NULL;
    if (!made || (!uses && !made->owned)) {
        free(made);
        return (cl_mem)ipt__native_made(NULL, CL_MEM_OBJECT_ALLOCATION_FAILURE, error);
    }
    ipt__native_begin(&made->object);
    made->context = context;
    made->flags = flags;
    made->bytes = bytes;
    made->host = uses ? host : NULL;
    made->data =
        uses ? (char *)host : made->owned + (IPT__NATIVE_ALIGNMENT - (size_t)made->owned % IPT__NATIVE_ALIGNMENT);
    if (flags & CL_MEM_COPY_HOST_PTR)
        memcpy(made->data, host, bytes);
    return (cl_mem)ipt__native_made(made, CL_SUCCESS, error);
}

static cl_int CL_API_CALL ipt__native_clReleaseMemObject(cl_mem memory)
{
    ipt__native_lock();
    ipt__native_drop_memory((ipt__native_memory *)(void *)memory);
    ipt__native_unlock();
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clGetMemObjectInfo(cl_mem memory, cl_mem_info name, size_t capacity, void *value,
                                                         size_t *size)
{
    const ipt__native_memory *const asked = (const ipt__native_memory *)(void *)memory;
    const cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
    const cl_mem parent = NULL;
    const size_t offset = 0;
    if (!ipt__native_owns(memory))
        return CL_INVALID_MEM_OBJECT;
    switch (name) {
    case CL_MEM_TYPE:
        return ipt__native_answer(&type, sizeof type, capacity, value, size);
    case CL_MEM_FLAGS:
        return ipt__native_answer(&asked->flags, sizeof asked->flags, capacity, value, size);
    case CL_MEM_SIZE:
        return ipt__native_answer(&asked->bytes, sizeof asked->bytes, capacity, value, size);
    case CL_MEM_HOST_PTR:
        return ipt__native_answer(&asked->host, sizeof asked->host, capacity, value, size);
    case CL_MEM_CONTEXT:
        return ipt__native_answer(&asked->context, sizeof asked->context, capacity, value, size);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return ipt__native_answer(&parent, sizeof parent, capacity, value, size);
    case CL_MEM_OFFSET:
        return ipt__native_answer(&offset, sizeof offset, capacity, value, size);
    default:
        return CL_INVALID_VALUE;
    }
}

#endif
