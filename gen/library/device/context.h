/* The context: state shared by all plans of a device. */

/* A program, built unless the context has no device. Its context owns it. */
typedef struct ipt__program {
    struct ipt__program *next;
    size_t references; /* number of plans that use it; ipt_context_trim releases programs without any */
    ipt__kernel_id id;
    ipt__params params;
    cl_program program;
    cl_int refusal;      /* why the device refused the last cached one; 0: it refused none */
    char *source;        /* the text; NULL: not made yet. See ipt__program_source */
    char hash[65];       /* of the text's head, which has the hashes of its parts */
    const char *options; /* build options */
    char *texts;         /* owns the strings of params; NULL: none */
    /* Measured by running the program. 0: not yet, or none. Guarded by probe_lock. */
    size_t resident; /* panel: number of work-groups that run at the same time */
    int counts;      /* number of measurements of `resident` */
    size_t lanes;    /* chains: work-items in one of the device's sub-groups; 1: sub-groups compute wrong results */
} ipt__program;

/* The measured choice for one shape: the length of the super-elements of a two-pass plan, or the number and height of
 * an exchange's bands. The other fields are all inputs of the choice. X(field) in the order of a line of wisdom text.
 */
#define IPT__WISDOM_LIST(X)                                                                                            \
    X(rows)                                                                                                            \
    X(cols)                                                                                                            \
    X(elem_size)                                                                                                       \
    X(batch) X(batch_stride) X(workspace) X(no_cooperative) X(expression) X(sequence) X(bands) X(height) X(length)
typedef struct ipt__wisdom {
    struct ipt__wisdom *next;
#define IPT__WISDOM_FIELD(field) size_t field;
    IPT__WISDOM_LIST(IPT__WISDOM_FIELD)
    size_t row_pitch, row_pitch_out; /* at the end of lines about rows with gaps */
    char action[33];                 /* hash of a batch plan's action; "": the entry is about matrices */
    size_t model, lanes, group_size; /* of a batch plan: the choice */
} ipt__wisdom;

/* Memory of ipt_host_alloc. */
typedef struct ipt__pinned {
    struct ipt__pinned *next;
    cl_mem buffer;
    char *memory;
    size_t bytes;
} ipt__pinned;

enum {
    IPT__DEVICE_BYTES = 1536, /* of device_text */
    IPT__KEY_BYTES = 4096
};

struct ipt_context {
    IPT_LOCK_TYPE build_lock; /* locked while a program is built, so that no two plans build it; before lock */
    IPT_LOCK_TYPE lock;       /* guards references, programs, wisdom and pinned memory */
    size_t references;        /* of the caller, and one per plan */
    ipt__program *programs;
    ipt__wisdom *wisdom;
    ipt__pinned *pinned;
    ipt__driver_id driver;
    cl_context context; /* NULL: a context for planning only */
    cl_device_id device;
    cl_command_queue queue;   /* in-order; writes workspaces first, times plans, serves host matrices */
    IPT_LOCK_TYPE queue_lock; /* locked while a new plan waits for its commands in queue; after all other locks */
    ipt__limits limits;
    ipt_allocator allocator;
    ipt_logger logger;
    int compiler;        /* the device has a compiler */
    int shares_memory;   /* the device shares the host's memory */
    size_t allocation;   /* largest buffer in bytes that the device promises to accept; 0: unknown. Some accept more */
    int finishes_late;   /* the device finishes compiling a program at its first launch */
    int forgets_failure; /* commands start although a failed event has ended a command that they wait for */
    int mixes_grids;     /* two executions of a kernel at once, with grids of different sizes, end the process */
    int takes_bitcode;   /* the device accepts LLVM bitcode for spir64 */
    int has_half;        /* the compiler supports half; 1 without a device */
    int has_double;
    unsigned capability; /* compute capability of an NVIDIA device, 80 for 8.0; 0: another device */
    cl_program(CL_API_CALL *from_spirv)(cl_context, const void *, size_t, cl_int *); /* NULL: unavailable */
    char device_text[IPT__DEVICE_BYTES]; /* lines that distinguish devices, for keys */
    const ipt_binary *binaries;
    size_t binary_count;
    char *cache_dir; /* NULL: no disk cache */
    size_t cache_limit;
    IPT_LOCK_TYPE probe_lock; /* locked during a measurement: two at once would count wrong */
    ipt__findings found;      /* guarded by probe_lock */
    int chunk_is_guess; /* found.chunk_bytes comes from a failed launch, so the cache does not store it. Guarded by
                           probe_lock */
    IPT_LOCK_TYPE cooperative_lock; /* guards cooperative_last */
    cl_event cooperative_last;      /* of the last cooperative launch, on which the next one waits */
};

/* The operations of a context's driver. */
static const ipt__driver *ipt__calls(const ipt_context *context)
{
    return ipt__driver_of(context->driver);
}

static void *ipt__default_alloc(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void ipt__default_free(void *pointer, void *user)
{
    (void)user;
    free(pointer);
}

/* Returns zeroed memory, or NULL with the error text set. */
static void *ipt__allocate(const ipt_allocator *allocator, size_t bytes)
{
    /* calloc: the system's zero pages take memory only once they are written. */
    const int own = allocator->alloc == ipt__default_alloc;
    void *const memory = own ? calloc(1, bytes) : allocator->alloc(bytes, allocator->user);
    if (memory && !own)
        memset(memory, 0, bytes);
    if (!memory)
        ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "could not allocate %zu bytes of host memory", bytes);
    return memory;
}

/* Releases memory. NULL is fine: the caller's free need not accept it. */
static void ipt__release(const ipt_allocator *allocator, void *memory)
{
    if (memory)
        (allocator->free)(memory, allocator->user);
}

IPT__PRINTF(2, 3) static IPT__RARE void ipt__log(const ipt_context *context, const char *format, ...)
{
    char message[512];
    va_list arguments;
    if (!context->logger.log)
        return;
    va_start(arguments, format);
    IPT__VSNPRINTF(message, sizeof message, format, arguments);
    va_end(arguments);
    (context->logger.log)(message, context->logger.user);
}

/* Lists the candidate devices for a context: those of the caller's cl_context, else all. */
static ipt_result ipt__devices_of(ipt__driver_id driver, cl_context context, cl_device_id *devices, size_t capacity,
                                  size_t *count)
{
    size_t bytes = 0;
    cl_int error;
    if (!context) {
        const ipt_result result = ipt__opencl_list(devices, capacity, count);
        *count = ipt__min(*count, capacity);
        return result;
    }
    error = ipt__driver_of(driver)->clGetContextInfo(context, CL_CONTEXT_DEVICES, capacity * sizeof *devices, devices,
                                                     &bytes);
    *count = bytes / sizeof *devices;
    return error ? ipt__fail_opencl("clGetContextInfo", error) : IPT_SUCCESS;
}

/* Whether a name of a device is a driver's. */
static int ipt__is_driver_name(const char *name, const char *driver)
{
    return name && strlen(name) == strlen(driver) && ipt__contains(driver, name);
}

/* The environment's name of a device. NULL: there is none, or it names another driver than the desc does. */
static const char *ipt__environment_device(const ipt_context_desc *desc, char *room, size_t bytes)
{
#define IPT__DRIVER_NAME(id, name) name,
    static const char *const drivers[] = {IPT_DRIVER_LIST(IPT__DRIVER_NAME)};
#undef IPT__DRIVER_NAME
    const char *const name = ipt__environment("IPT_DEVICE", room, bytes);
    char driver[16];
    size_t i;
    ipt__print(driver, sizeof driver, "%.*s", name ? (int)strcspn(name, ":") : 0, name ? name : ""); /* of cuda:1 */
    for (i = IPT_DRIVER_AUTO + 1; desc->driver != IPT_DRIVER_AUTO && i < IPT__DRIVER_COUNT; ++i)
        if (i != (size_t)desc->driver && ipt__is_driver_name(driver, drivers[i]))
            return NULL;
    return name;
}

static IPT__RARE ipt_result ipt__choose_device(ipt__driver_id driver, const ipt_context_desc *desc,
                                               cl_device_id *device)
{
    cl_device_id devices[256];
    size_t count = 0, i;
    char room[256];
    const char *name = desc->device_name, *source = "device_name";
    ipt__questions failed = ipt__questions_to(driver, NULL);
    ipt_result result;
    *device = desc->device;
    if (desc->device && !desc->context)
        return IPT_SUCCESS;
    result = ipt__devices_of(driver, desc->context, devices, sizeof devices / sizeof *devices, &count);
    if (result)
        return result;
    if (desc->device) {
        for (i = 0; i < count; ++i)
            if (devices[i] == desc->device)
                return IPT_SUCCESS;
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "device is not one of the given context's %zu devices", count);
    }
    if (!name) {
        name = ipt__environment_device(desc, room, sizeof room);
        source = "the environment's IPT_DEVICE";
    }
    if (ipt__is_driver_name(name, "opencl"))
        name = NULL;
    for (i = 0; i < count; ++i) {
        ipt__questions asked = ipt__questions_to(driver, devices[i]);
        const int fits = !name || !*name || ipt__device_has_name(&asked, name);
        const int gpu = fits && (ipt__device_type(&asked) & CL_DEVICE_TYPE_GPU);
        ipt__note_answer(&failed, asked.call, asked.error);
        if (fits && (!*device || gpu))
            *device = devices[i];
        if (gpu)
            break;
    }
    if (failed.call) { /* a failed query may hide the device that would have been chosen */
        *device = NULL;
        return ipt__fail_unanswered(&failed);
    }
    if (*device)
        return IPT_SUCCESS;
    return ipt__fail(IPT_ERROR_NO_DEVICE, "%s = \"%s\": no name of an OpenCL device or platform contains it", source,
                     name ? name : "");
}

#ifdef IPT_CUDA
/* Whether a name is "cuda", or "cuda:1" with the number of a device, which goes to *number; else -1 does. */
static int ipt__is_cuda(const char *name, int *number)
{
    char driver[5] = "";
    *number = -1;
    if (!name || strlen(name) < 4)
        return 0;
    memcpy(driver, name, 4);
    if (name[4] == ':' && name[5] >= '0' && name[5] <= '9' && strlen(name) < 9)
        *number = atoi(name + 5);
    return ipt__is_driver_name(driver, "cuda") && (!name[4] || *number >= 0);
}

/* Takes the device of the desc's context, the named one, that of the thread's current context, or the first. */
static IPT__RARE ipt_result ipt__choose_cuda(const ipt_context_desc *desc, const char *name, cl_device_id *device)
{
    const ipt_result result = ipt__cuda_open();
    ipt__cu_device current;
    int number, i;
    const int any = ipt__is_cuda(name, &number) || !name;
    *device = NULL;
    if (!result && desc->device && ipt__cuda_number(desc->device) < 0)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "driver is IPT_DRIVER_CUDA, and device is another driver's");
    if (!result && desc->context)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "driver is IPT_DRIVER_CUDA, and context is another driver's: set cuda_context");
    if (!result && desc->device)
        *device = desc->device;
    if (!result && any && number < 0 && ipt__cuda_current(desc->cuda_context, &current))
        number = current;
    for (i = 0; !result && i < ipt__cu.device_count && i < IPT__CUDA_DEVICES && !*device; ++i) {
        ipt__questions asked = ipt__questions_to(IPT__DRIVER_CUDA, ipt__cuda_handle(i));
        if (any ? number < 0 || number == i : ipt__device_has_name(&asked, name))
            *device = ipt__cuda_handle(i);
    }
    return result || *device ? result : ipt__fail(IPT_ERROR_NO_DEVICE, "no CUDA device has this name: %.200s", name);
}
#endif

#ifdef IPT_NATIVE
/* Whether the native driver's device does the work where OpenCL has no GPU and no accelerator, or none of that name. */
static int ipt__native_stands_in(const char *name, ipt_result result, cl_device_id found)
{
    ipt__questions asked = ipt__questions_to(IPT__DRIVER_OPENCL, found);
    if (!name || !*name)
        return result || ipt__device_type(&asked) == CL_DEVICE_TYPE_CPU;
    asked = ipt__questions_to(IPT__DRIVER_NATIVE, IPT__NATIVE_DEVICE);
    return result && ipt__device_has_name(&asked, name);
}

/* Whether a desc names the native driver, its device or its context. name: a device's, NULL without one. */
static int ipt__is_native(const ipt_context_desc *desc, const char *name)
{
#ifdef IPT_NO_OPENCL
    if (desc->driver == IPT_DRIVER_AUTO && desc->context)
        return 1;
#endif
    return desc->driver == IPT_DRIVER_NATIVE ||
           (desc->driver == IPT_DRIVER_AUTO &&
            (desc->device == IPT__NATIVE_DEVICE || ipt__is_driver_name(name, "native")));
}

/* Chooses OpenCL or the native driver, and a device. name: a device's; NULL without one. */
static IPT__RARE ipt_result ipt__choose_general(const ipt_context_desc *desc, const char *name, ipt__driver_id *driver,
                                                cl_device_id *device)
{
    const int given = desc->context || desc->device;
    ipt_result result;
    *driver = IPT__DRIVER_NATIVE;
    *device = IPT__NATIVE_DEVICE;
    if (ipt__is_native(desc, name))
        return (!desc->device || desc->device == IPT__NATIVE_DEVICE) &&
                       (!desc->context || ipt__native_owns(desc->context))
                   ? IPT_SUCCESS
                   : ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "driver is IPT_DRIVER_NATIVE, and %s is another driver's",
                               desc->context ? "context" : "device");
    *driver = IPT__DRIVER_OPENCL;
    *device = NULL;
    result = ipt__opencl_open();
    if (!result)
        result = ipt__choose_device(*driver, desc, device);
    if (desc->driver != IPT_DRIVER_AUTO || given || !ipt__native_stands_in(name, result, *device))
        return result;
    *driver = IPT__DRIVER_NATIVE;
    *device = IPT__NATIVE_DEVICE;
    return IPT_SUCCESS;
}
#else
static IPT__RARE ipt_result ipt__choose_general(const ipt_context_desc *desc, const char *name, ipt__driver_id *driver,
                                                cl_device_id *device)
{
    ipt_result result;
    (void)name;
    *driver = IPT__DRIVER_OPENCL;
    if (desc->driver == IPT_DRIVER_NATIVE)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "driver is IPT_DRIVER_NATIVE, and ipt was compiled without it: "
                                                "define IPT_NATIVE, and not IPT_NO_NATIVE");
    result = ipt__opencl_open();
    return result ? result : ipt__choose_device(*driver, desc, device);
}
#endif

#ifdef IPT_CUDA
/* Whether a desc leaves the choice open, and OpenCL has neither GPU nor accelerator. */
static int ipt__cuda_stands_in(const ipt_context_desc *desc, const char *name, ipt_result result, ipt__driver_id driver,
                               cl_device_id found)
{
    ipt__questions asked = ipt__questions_to(driver, found);
    return desc->driver == IPT_DRIVER_AUTO && !desc->context && !desc->device && !(name && *name) &&
           (result || ipt__device_type(&asked) == CL_DEVICE_TYPE_CPU);
}
#endif

/* Chooses a driver and its device: OpenCL's GPU or accelerator first, then CUDA's GPU, then this CPU. */
static IPT__RARE ipt_result ipt__choose_driver(const ipt_context_desc *desc, ipt__driver_id *driver,
                                               cl_device_id *device)
{
    char room[256];
    const char *const name = desc->device_name || desc->context || desc->device
                                 ? desc->device_name
                                 : ipt__environment_device(desc, room, sizeof room);
#ifdef IPT_CUDA
    cl_device_id gpu;
    ipt_result result;
    int number;
    *driver = IPT__DRIVER_CUDA;
    if (desc->driver == IPT_DRIVER_CUDA || ipt__cuda_number(desc->device) >= 0 ||
        (desc->driver == IPT_DRIVER_AUTO && ipt__is_cuda(name, &number)))
        return ipt__choose_cuda(desc, name, device);
    result = ipt__choose_general(desc, name, driver, device);
    if (!ipt__cuda_stands_in(desc, name, result, *driver, *device))
        return result;
    if (ipt__choose_cuda(desc, NULL, &gpu)) /* the sentence is OpenCL's, not CUDA's */
        return result ? ipt__choose_general(desc, name, driver, device) : result;
    *driver = IPT__DRIVER_CUDA;
    *device = gpu;
    return IPT_SUCCESS;
#else
    if (desc->driver == IPT_DRIVER_CUDA)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "driver is IPT_DRIVER_CUDA, and ipt was compiled without it: define IPT_CUDA");
    return ipt__choose_general(desc, name, driver, device);
#endif
}

/* Reads the memory model and the sub-groups of a device. */
static void ipt__read_model(const ipt__questions *asked, const char *extensions, unsigned version, ipt__limits *limits)
{
    const ipt__driver *const driver = ipt__driver_of(asked->driver);
    const cl_device_id device = asked->device;
    cl_ulong atomics = 0, fences = 0; /* each a cl_bitfield */
    size_t sizes[16] = {0};           /* of sub-groups */
    size_t i;
    limits->standard = version >= 30 ? 30 : version >= 20 ? 20 : 12;
    cl_uint wavefront = 0; /* CL_DEVICE_WAVEFRONT_WIDTH_AMD */
    limits->lanes = 32;
    if (ipt__contains(extensions, "cl_amd_device_attribute_query") &&
        !driver->clGetDeviceInfo(device, 0x4043, sizeof wavefront, &wavefront, NULL) &&
        (wavefront == 32 || wavefront == 64))
        limits->lanes = wavefront;
    if (limits->nvidia) {
        limits->memory_model = limits->nvidia;
        limits->sub_group = 1;
        return;
    }
    /* OpenCL 2 has all orders and scopes. OpenCL 3.0 reports them as CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES and
     * CL_DEVICE_ATOMIC_FENCE_CAPABILITIES: acquire and release (2), and the scope of the device (32). */
    if (version >= 20 && (version < 30 || (!driver->clGetDeviceInfo(device, 0x1063, sizeof atomics, &atomics, NULL) &&
                                           !driver->clGetDeviceInfo(device, 0x1064, sizeof fences, &fences, NULL) &&
                                           (atomics & fences & 34) == 34)))
        limits->memory_model = 3;
    if (ipt__contains(extensions, "cl_intel_subgroups ")) {
        limits->sub_group = 3;
        /* CL_DEVICE_SUB_GROUP_SIZES_INTEL */
        if (ipt__contains(extensions, "cl_intel_required_subgroup_size") &&
            !driver->clGetDeviceInfo(device, 0x4108, sizeof sizes, sizes, NULL))
            for (limits->lanes = 0, i = 0; i < sizeof sizes / sizeof *sizes; ++i)
                if (sizes[i] <= 32)
                    limits->lanes = ipt__max(limits->lanes, sizes[i]);
    } else if (ipt__contains(extensions, "cl_khr_subgroups ") && version >= 20)
        limits->sub_group = 2;
}

static ipt_result ipt__read_limits(ipt__driver_id driver, const ipt_context_desc *desc, cl_device_id device,
                                   ipt__limits *limits)
{
    cl_ulong local;
    cl_uint units;
    char extensions[4096], version[64];
    size_t group;
    unsigned major = 0, minor = 0;
    ipt__questions asked = ipt__questions_to(driver, device);
    const cl_device_type type = ipt__device_type(&asked);
    const int rusticl = (type & CL_DEVICE_TYPE_CPU) && ipt__platform_has_name(&asked, "rusticl");
    const int pocl = ipt__platform_has_name(&asked, "portable computing language");
    ipt__ask(&asked, CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof local);
    ipt__ask(&asked, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    if (driver == IPT__DRIVER_NATIVE && desc->threads)
        units = (cl_uint)ipt__min(desc->threads, IPT__MOST_THREADS);
    ipt__ask(&asked, CL_DEVICE_MAX_WORK_GROUP_SIZE, &group, sizeof group);
    ipt__ask_text(&asked, 0, CL_DEVICE_VERSION, version, sizeof version);
    ipt__ask_text(&asked, 0, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions - 1);
    if (asked.call)
        return ipt__fail_unanswered(&asked);
    if (sscanf(version, "OpenCL %u.%u", &major, &minor) != 2 || major * 10 + minor < 12)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the device offers %s: OpenCL 1.2 is needed", version);
    if (rusticl)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "rusticl's llvmpipe (seen: Mesa 22.3.6) computes wrong results in "
                                                "work-groups of one work-item and in long loops: use PoCL");
    strcat(extensions, " "); /* ends the last name, for ipt__contains("name ") */
    limits->cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    limits->cooperative = (type & CL_DEVICE_TYPE_GPU) && !limits->cpu;
    limits->resident_groups = ipt__min(desc->resident_groups, (size_t)1 << 24); /* limit of a profile */
    limits->resident_bands = limits->resident_others = limits->resident_groups;
    limits->wait_polls = desc->wait_polls ? (cl_uint)ipt__min(desc->wait_polls, 0x7fffffff) : (cl_uint)IPT__WAIT_POLLS;
    limits->local_is_limited = desc->max_local_memory != 0;
    if (ipt__contains(extensions, "cl_nv_")) {
        cl_uint major = 0; /* CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV */
        limits->nvidia =
            !ipt__driver_of(driver)->clGetDeviceInfo(device, 0x4000, sizeof major, &major, NULL) && major >= 8 ? 2 : 1;
    }
    limits->held_vectors = ipt__held_vectors(limits);
    limits->compiles_nothing = ipt__driver_of(driver)->program_of != NULL;
    ipt__read_model(&asked, extensions, major * 10 + minor, limits);
    if (pocl && limits->sub_group >= 2) /* PoCL emulates sub-groups by work-groups, with wrong results (5.0, 6.0) */
        limits->sub_group = 0;
    limits->compute_units = ipt__max(units, 1);
    limits->largest_group = ipt__max(group, 1);
    limits->group_size = 1;
    while (limits->group_size < 256 && limits->group_size * 2 <= group)
        limits->group_size *= 2;
    /* Some implementations reserve a part. NVIDIA reports 48 KiB, but launches with that much fail. */
    limits->local_memory = ipt__size_of(local > 16384 ? local - 1024 : local);
    if (desc->max_local_memory)
        limits->local_memory = ipt__min(limits->local_memory, desc->max_local_memory);
    if (limits->local_memory < 1024)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the device has %zu bytes of local memory: 1024 are needed",
                         (size_t)local);
    /* The largest values of a profile. Plans for larger ones would be the same. */
    limits->local_memory = ipt__min(limits->local_memory, (size_t)1 << 30);
    limits->largest_group = ipt__min(limits->largest_group, (size_t)1 << 20);
    limits->compute_units = ipt__min(limits->compute_units, (size_t)1 << 20);
    return IPT_SUCCESS;
}
