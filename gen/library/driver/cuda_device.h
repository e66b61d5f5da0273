/* The CUDA driver: its devices, contexts and objects. An object begins with the driver's mark and the number of its
 * references, which the lock guards. */
#ifdef IPT_CUDA

enum { IPT__CUDA_MARK = 0x69707402, IPT__CUDA_DEVICES = 16 };

typedef struct ipt__cuda_object {
    size_t mark;
    size_t references;
    struct ipt__cuda_object *next;             /* of those that end later */
    void (*end)(struct ipt__cuda_object *own); /* frees it */
} ipt__cuda_object;

/* CUDA waits for the device when it frees memory or code. While a user's event is open, that may be for ever: what is
 * released then ends with the last open event. The lock guards both. */
static struct {
    size_t open_events;
    ipt__cuda_object *first;
} ipt__cuda_later;

/* Devices are numbers; their handles are addresses in this array. */
static char ipt__cuda_handles[IPT__CUDA_DEVICES + 1];
#define IPT__CUDA_PLATFORM ((cl_platform_id)(void *)&ipt__cuda_handles[IPT__CUDA_DEVICES])

typedef struct ipt__cuda_context {
    ipt__cuda_object object;
    ipt__cu_device device;
    ipt__cu_context context;
    int primary;                  /* it is the device's primary one, which the object retains */
    struct ipt__cuda_event *idle; /* events for later commands. The lock guards the list */
} ipt__cuda_context;

/* The property of clCreateContext that names CUDA's own context. */
#define IPT__CUDA_CONTEXT ((cl_context_properties)0x49505443)

static cl_device_id ipt__cuda_handle(int device)
{
    return (cl_device_id)(void *)&ipt__cuda_handles[device];
}

/* The number of a device; -1: it is not CUDA's. */
static int ipt__cuda_number(cl_device_id device)
{
    const char *const handle = (const char *)(void *)device;
    int i;
    for (i = 0; i < IPT__CUDA_DEVICES; ++i)
        if (handle == &ipt__cuda_handles[i])
            return i;
    return -1;
}

/* Writes the device of a context, NULL: of the thread's current one. Returns the context; NULL: there is none. */
static ipt__cu_context ipt__cuda_current(ipt__cu_context context, ipt__cu_device *device)
{
    ipt__cu_context left;
    int found;
    if (!context && (ipt__cu.cuCtxGetCurrent(&context) || !context))
        return NULL;
    if (ipt__cu.cuCtxPushCurrent(context))
        return NULL;
    found = !ipt__cu.cuCtxGetDevice(device) && *device < IPT__CUDA_DEVICES;
    ipt__cu.cuCtxPopCurrent(&left);
    return found ? context : NULL;
}

static void ipt__cuda_pause(void)
{
#if defined(_WIN32)
    Sleep(1);
#else
    poll(NULL, 0, 1);
#endif
}

static void ipt__cuda_begin(ipt__cuda_object *object)
{
    object->mark = IPT__CUDA_MARK;
    object->references = 1;
}

static int ipt__cuda_owns(const void *object)
{
    return object && ((const ipt__cuda_object *)object)->mark == IPT__CUDA_MARK;
}

static void ipt__cuda_retain(void *object)
{
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    ++((ipt__cuda_object *)object)->references;
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
}

/* Drops a reference. Whether it was the last one. */
static int ipt__cuda_drop(void *object)
{
    size_t left;
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    left = --((ipt__cuda_object *)object)->references;
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
    return !left;
}

/* Ends an object without references, now or later. */
static void ipt__cuda_end(ipt__cuda_object *object, void (*end)(ipt__cuda_object *own))
{
    int later;
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    later = ipt__cuda_later.open_events != 0;
    if (later) {
        object->end = end;
        object->next = ipt__cuda_later.first;
        ipt__cuda_later.first = object;
    }
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
    if (!later)
        end(object);
}

/* Counts that a user's event is no longer open, and ends what waits for the last one. */
static void ipt__cuda_event_closes(void)
{
    ipt__cuda_object *first = NULL;
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    if (!--ipt__cuda_later.open_events) {
        first = ipt__cuda_later.first;
        ipt__cuda_later.first = NULL;
    }
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
    while (first) {
        ipt__cuda_object *const next = first->next;
        first->end(first);
        first = next;
    }
}

/* OpenCL's number of an error of CUDA. Forgets the failed call after a success. */
static cl_int ipt__cuda_error(ipt__cu_result error)
{
    if (!error)
        ipt__below.call = NULL;
    return !error                           ? CL_SUCCESS
           : error == IPT__CU_OUT_OF_MEMORY ? CL_MEM_OBJECT_ALLOCATION_FAILURE
           : error == IPT__CU_INVALID_VALUE ? CL_INVALID_VALUE
                                            : CL_OUT_OF_RESOURCES;
}

/* Of the thread: calls of ipt__cuda_enter without ipt__cuda_leave, those that failed, and the mode before the first. */
static IPT__THREAD_LOCAL struct {
    int depth, failed, mode;
} ipt__cuda_inside;

/* Makes a context the thread's current one, until ipt__cuda_leave. Meanwhile no call breaks the capture of a stream
 * that the call does not use: CUDA otherwise forbids even cuEventQuery while any thread captures. */
static void ipt__cuda_enter(cl_context context)
{
    if (!ipt__cuda_inside.depth++) {
        ipt__cuda_inside.mode = IPT__CU_RELAXED;
        ipt__cu.cuThreadExchangeStreamCaptureMode(&ipt__cuda_inside.mode);
    }
    if (ipt__cu.cuCtxPushCurrent(((const ipt__cuda_context *)(void *)context)->context))
        ++ipt__cuda_inside.failed; /* the program destroyed CUDA's context: nothing may be popped */
}

static void ipt__cuda_leave(void)
{
    ipt__cu_context left;
    if (ipt__cuda_inside.failed)
        --ipt__cuda_inside.failed;
    else
        ipt__cu.cuCtxPopCurrent(&left);
    if (!--ipt__cuda_inside.depth)
        ipt__cu.cuThreadExchangeStreamCaptureMode(&ipt__cuda_inside.mode);
}

static cl_int ipt__cuda_answer(const void *answer, size_t bytes, size_t capacity, void *value, size_t *size)
{
    if (value && capacity < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, bytes);
    if (size)
        *size = bytes;
    return CL_SUCCESS;
}

/* Passes a result, an object or NULL, to a caller, and the error if the caller wants it. */
static void *ipt__cuda_made(void *made, cl_int failure, cl_int *error)
{
    if (error)
        *error = made ? CL_SUCCESS : failure;
    return made;
}

static cl_int CL_API_CALL ipt__cuda_clGetPlatformIDs(cl_uint capacity, cl_platform_id *platforms, cl_uint *count)
{
    if (platforms && capacity)
        *platforms = IPT__CUDA_PLATFORM;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__cuda_clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t capacity,
                                                      void *value, size_t *size)
{
    const char *const text = name == CL_PLATFORM_VERSION ? "OpenCL 3.0 CUDA" : "CUDA";
    (void)platform;
    return ipt__cuda_answer(text, strlen(text) + 1, capacity, value, size);
}

static void *CL_API_CALL ipt__cuda_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    (void)platform;
    (void)name;
    return NULL;
}

static cl_int CL_API_CALL ipt__cuda_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint capacity,
                                                   cl_device_id *devices, cl_uint *count)
{
    const int all = ipt__cu.device_count < IPT__CUDA_DEVICES ? ipt__cu.device_count : IPT__CUDA_DEVICES;
    int i;
    (void)platform;
    (void)type;
    for (i = 0; devices && i < all && i < (int)capacity; ++i)
        devices[i] = ipt__cuda_handle(i);
    if (count)
        *count = (cl_uint)all;
    return all ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

static int ipt__cuda_attribute(ipt__cu_device device, int attribute)
{
    int value = 0;
    ipt__cu.cuDeviceGetAttribute(&value, attribute, device);
    return value;
}

/* The number that answers a question about a device, and its bytes; 0: the question has none. */
static size_t ipt__cuda_question(ipt__cu_device device, cl_device_info name, cl_ulong *number)
{
    size_t total = 0;
    switch (name) {
    case CL_DEVICE_TYPE:
        *number = CL_DEVICE_TYPE_GPU;
        return sizeof(cl_device_type);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        *number = (cl_ulong)ipt__cuda_attribute(device, IPT__CU_UNITS);
        return sizeof(cl_uint);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        *number = 1024;
        return sizeof(size_t);
    case CL_DEVICE_ADDRESS_BITS:
        *number = 64;
        return sizeof(cl_uint);
    case CL_DEVICE_LOCAL_MEM_SIZE: /* as NVIDIA's OpenCL: ipt finds out that arrays may have more */
        *number = 49152;
        return sizeof(cl_ulong);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        ipt__cu.cuDeviceTotalMem(&total, device);
        *number = total;
        return sizeof(cl_ulong);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        *number = 0;
        return sizeof(cl_bool);
    case CL_DEVICE_COMPILER_AVAILABLE:
        *number = (cl_ulong)ipt__cu.compiles;
        return sizeof(cl_bool);
    case 0x1063: /* CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES: acquire and release, the scope of the device */
    case 0x1064: /* CL_DEVICE_ATOMIC_FENCE_CAPABILITIES */
        *number = 34;
        return sizeof(cl_ulong);
    case 0x4000: /* CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV */
    case 0x4001: /* CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV */
        *number = (cl_ulong)ipt__cuda_attribute(device, name == 0x4000 ? IPT__CU_MAJOR : IPT__CU_MINOR);
        return sizeof(cl_uint);
    default:
        return 0;
    }
}

static cl_int CL_API_CALL ipt__cuda_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t capacity,
                                                    void *value, size_t *size)
{
    const ipt__cu_device number = ipt__cuda_number(device);
    const cl_platform_id platform = IPT__CUDA_PLATFORM;
    char text[256] = "";
    int version = 0, major = 0, minor = 0;
    cl_ulong answer = 0;
    const size_t bytes = ipt__cuda_question(number, name, &answer);
    const cl_uint as_uint = (cl_uint)answer;
    if (bytes)
        return ipt__cuda_answer(bytes == sizeof answer ? (const void *)&answer : (const void *)&as_uint, bytes,
                                capacity, value, size);
    switch (name) {
    case CL_DEVICE_PLATFORM:
        return ipt__cuda_answer(&platform, sizeof platform, capacity, value, size);
    case CL_DEVICE_NAME:
        ipt__cu.cuDeviceGetName(text, sizeof text, number);
        break;
    case CL_DEVICE_VENDOR:
        strcpy(text, "NVIDIA Corporation");
        break;
    case CL_DEVICE_VERSION:
        strcpy(text, "OpenCL 3.0 CUDA");
        break;
    case CL_DRIVER_VERSION: /* of the driver and the compiler: the cache's keys have it */
        ipt__cu.cuDriverGetVersion(&version);
        if (ipt__cu.compiles)
            ipt__cu.nvrtcVersion(&major, &minor);
        ipt__print(text, sizeof text, "CUDA %d, NVRTC %d.%d", version, major, minor);
        break;
    case CL_DEVICE_EXTENSIONS:
        strcpy(text, "cl_khr_fp64 cl_khr_fp16");
        if (ipt__cuda_attribute(number, IPT__CU_MAJOR) >= 5) /* the texts' PTX; CUDA 12 knows no older devices */
            strcat(text, " cl_nv_device_attribute_query");
        break;
    default:
        return CL_INVALID_VALUE;
    }
    return ipt__cuda_answer(text, strlen(text) + 1, capacity, value, size);
}

static cl_int CL_API_CALL ipt__cuda_clRetainDevice(cl_device_id device)
{
    return ipt__cuda_number(device) < 0 ? CL_INVALID_DEVICE : CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__cuda_clReleaseDevice(cl_device_id device)
{
    return ipt__cuda_number(device) < 0 ? CL_INVALID_DEVICE : CL_SUCCESS;
}

static cl_context CL_API_CALL ipt__cuda_clCreateContext(
    const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *error)
{
    ipt__cuda_context *const made = (ipt__cuda_context *)calloc(1, sizeof *made);
    ipt__cu_context given = NULL;
    ipt__cu_result failure;
    (void)count;
    (void)notify;
    (void)user;
    if (!made)
        return (cl_context)ipt__cuda_made(NULL, CL_OUT_OF_HOST_MEMORY, error);
    if (properties && *properties == IPT__CUDA_CONTEXT)
        memcpy(&given, properties + 1, sizeof given);
    ipt__cuda_begin(&made->object);
    made->device = ipt__cuda_number(*devices);
    failure = IPT__CU(cuDevicePrimaryCtxRetain, (&made->context, made->device));
    made->primary = !given || given == made->context;
    if (!failure && !made->primary) {
        failure = IPT__CU(cuDevicePrimaryCtxRelease, (made->device));
        made->context = given;
    }
    if (failure) {
        free(made);
        return (cl_context)ipt__cuda_made(NULL, ipt__cuda_error(failure), error);
    }
    return (cl_context)ipt__cuda_made(made, CL_SUCCESS, error);
}

static cl_int CL_API_CALL ipt__cuda_clRetainContext(cl_context context)
{
    ipt__cuda_retain(context);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__cuda_clGetContextInfo(cl_context context, cl_context_info name, size_t capacity,
                                                     void *value, size_t *size)
{
    const cl_device_id device = ipt__cuda_handle(((const ipt__cuda_context *)(void *)context)->device);
    return name == CL_CONTEXT_DEVICES ? ipt__cuda_answer(&device, sizeof device, capacity, value, size)
                                      : CL_INVALID_VALUE;
}

#endif
