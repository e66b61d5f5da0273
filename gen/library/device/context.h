/* The context: what all plans of a device share. */

/* One program, built unless the context has no device. Belongs to its context. */
typedef struct ipt__program {
    struct ipt__program *next;
    size_t references; /* of plans; ipt_context_trim releases what has none */
    ipt__kernel_id id;
    ipt__params params;
    cl_program program;
    char *source;
    char hash[65];       /* of source */
    const char *options; /* for the compiler */
    char *expression;    /* what params points to; NULL: nothing */
    /* Found out by running the program, 0: not yet or none. Guarded by probe_lock. */
    size_t resident; /* panel: work-groups that run at the same time */
    int counts;      /* how often they were counted */
    size_t lanes;    /* chains: work-items of one of the device's sub-groups; 1: they do not do what they should */
} ipt__program;

/* What a measurement has found for one shape, and the fields of its line in a text of wisdom: the length of the
 * super-elements of a two-pass plan, by all that the choice depends on. */
#define IPT__WISDOM_LIST(X)                                                                                            \
    X(rows) X(cols) X(elem_size) X(batch) X(batch_stride) X(workspace) X(no_cooperative) X(expression) X(length)
typedef struct ipt__wisdom {
    struct ipt__wisdom *next;
#define IPT__WISDOM_FIELD(field) size_t field;
    IPT__WISDOM_LIST(IPT__WISDOM_FIELD)
} ipt__wisdom;

/* Memory of ipt_host_alloc's. */
typedef struct ipt__pinned {
    struct ipt__pinned *next;
    cl_mem buffer;
    char *memory;
    size_t bytes;
} ipt__pinned;

enum {
    IPT__DEVICE_BYTES = 1536, /* of the lines that name a device */
    IPT__KEY_BYTES = 4096
};

struct ipt_context {
    IPT_LOCK_TYPE build_lock; /* held while a program is made, so that no two plans build the same; taken before lock */
    IPT_LOCK_TYPE lock;       /* guards references, programs, wisdom and pinned memory */
    size_t references;        /* the caller's and one for each plan */
    ipt__program *programs;
    ipt__wisdom *wisdom;
    ipt__pinned *pinned;
    cl_context context; /* NULL: the context is for planning only */
    cl_device_id device;
    cl_command_queue queue; /* in-order, for touching workspaces, measuring and host matrices */
    ipt__limits limits;
    ipt_allocator allocator;
    ipt_logger logger;
    int compiler;        /* the device has one */
    int shares_memory;   /* with the host */
    size_t allocation;   /* bytes of a buffer that the device promises to take; 0: unknown. Some take more */
    int finishes_late;   /* programs are finished by their first launch */
    int forgets_failure; /* commands begin though one that they wait for has been ended by a failed event */
    int takes_bitcode;   /* LLVM's, for spir64 */
    int has_half;        /* the compiler takes the type; 1 without a device, too */
    int has_double;
    unsigned capability; /* of an NVIDIA device, 80 for 8.0; 0: of none */
    cl_program(CL_API_CALL *from_spirv)(cl_context, const void *, size_t, cl_int *); /* NULL: none */
    char device_text[IPT__DEVICE_BYTES]; /* lines that tell it from others, for keys */
    const ipt_binary *binaries;
    size_t binary_count;
    char *cache_dir; /* NULL: no disk cache */
    size_t cache_limit;
    IPT_LOCK_TYPE probe_lock; /* held while a kernel class is tried on the device: two at once would count wrong */
    ipt__findings found;      /* guarded by probe_lock */
    int chunk_is_guess; /* found.chunk_bytes comes of a launch that failed: not for other contexts. The same lock */
    IPT_LOCK_TYPE cooperative_lock; /* guards cooperative_last */
    cl_event cooperative_last; /* of the last launch whose work-groups wait for one another: the next waits for it */
};

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

/* Zeroed memory, or NULL with the error text set. */
static void *ipt__allocate(const ipt_allocator *allocator, size_t bytes)
{
    /* What calloc has zeroed by the system takes room only where it is used. */
    const int own = allocator->alloc == ipt__default_alloc;
    void *const memory = own ? calloc(1, bytes) : allocator->alloc(bytes, allocator->user);
    if (memory && !own)
        memset(memory, 0, bytes);
    if (!memory)
        ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%lu bytes of host memory are not to be had", (unsigned long)bytes);
    return memory;
}

/* alloc and free come as a pair: an embedder's free may not take NULL. */
static void ipt__release(const ipt_allocator *allocator, void *memory)
{
    if (memory)
        allocator->free(memory, allocator->user);
}

IPT__PRINTF(2, 3) static void ipt__log(const ipt_context *context, const char *format, ...)
{
    char message[512];
    va_list arguments;
    if (!context->logger.log)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    context->logger.log(message, context->logger.user);
}

/* The devices that a context may be made on: those of the caller's cl_context, else all. */
static ipt_result ipt__devices_of(cl_context context, cl_device_id *devices, size_t capacity, size_t *count)
{
    size_t bytes = 0;
    cl_int error;
    if (!context) {
        const ipt_result result = ipt_device_list(devices, capacity, count);
        *count = ipt__min(*count, capacity);
        return result;
    }
    error = ipt__cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, capacity * sizeof *devices, devices, &bytes);
    *count = bytes / sizeof *devices;
    return error ? ipt__fail_opencl("clGetContextInfo", error) : IPT_SUCCESS;
}

static ipt_result ipt__choose_device(const ipt_context_desc *desc, cl_device_id *device)
{
    cl_device_id devices[256];
    size_t count = 0, i;
    const char *name = desc->device_name, *source = "device_name";
    ipt__questions failed = ipt__questions_to(NULL);
    ipt_result result;
    *device = desc->device;
    if (desc->device && !desc->context)
        return IPT_SUCCESS;
    result = ipt__devices_of(desc->context, devices, sizeof devices / sizeof *devices, &count);
    if (result)
        return result;
    if (desc->device) {
        for (i = 0; i < count; ++i)
            if (devices[i] == desc->device)
                return IPT_SUCCESS;
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "device is not one of the given context's %lu devices",
                         (unsigned long)count);
    }
    if (!name) {
        name = getenv("IPT_DEVICE");
        source = "the environment's IPT_DEVICE";
    }
    for (i = 0; i < count; ++i) {
        ipt__questions asked = ipt__questions_to(devices[i]);
        const int fits = !name || !*name || ipt__device_has_name(&asked, name);
        const int gpu = fits && (ipt__device_type(&asked) & CL_DEVICE_TYPE_GPU);
        ipt__note_answer(&failed, asked.call, asked.error);
        if (fits && (!*device || gpu))
            *device = devices[i];
        if (gpu)
            break;
    }
    if (failed.call) { /* what was not told could have made another choice */
        *device = NULL;
        return ipt__fail_unanswered(&failed);
    }
    if (*device)
        return IPT_SUCCESS;
    return ipt__fail(IPT_ERROR_NO_DEVICE, "no device or platform has the name \"%s\" that %s asks for",
                     name ? name : "", source);
}

/* How work-groups and work-items of the device can work together. */
static void ipt__read_model(cl_device_id device, const char *extensions, unsigned version, ipt__limits *limits)
{
    cl_ulong atomics = 0, fences = 0; /* each a cl_bitfield */
    size_t sizes[16] = {0};           /* of sub-groups */
    size_t i;
    limits->standard = version >= 30 ? 30 : version >= 20 ? 20 : 12;
    limits->lanes = 32;
    if (limits->nvidia) {
        limits->memory_model = limits->nvidia;
        limits->sub_group = 1;
        return;
    }
    /* OpenCL 2 has all orders and scopes; 3.0 tells (CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES and _FENCE_CAPABILITIES)
     * whether it has acquire and release (2) and the scope of the device (32). */
    if (version >= 20 && (version < 30 || (!ipt__cl.clGetDeviceInfo(device, 0x1063, sizeof atomics, &atomics, NULL) &&
                                           !ipt__cl.clGetDeviceInfo(device, 0x1064, sizeof fences, &fences, NULL) &&
                                           (atomics & fences & 34) == 34)))
        limits->memory_model = 3;
    if (ipt__contains(extensions, "cl_intel_subgroups ")) {
        limits->sub_group = 3;
        /* CL_DEVICE_SUB_GROUP_SIZES_INTEL */
        if (ipt__contains(extensions, "cl_intel_required_subgroup_size") &&
            !ipt__cl.clGetDeviceInfo(device, 0x4108, sizeof sizes, sizes, NULL))
            for (limits->lanes = 0, i = 0; i < sizeof sizes / sizeof *sizes; ++i)
                if (sizes[i] <= 32)
                    limits->lanes = ipt__max(limits->lanes, sizes[i]);
    } else if (ipt__contains(extensions, "cl_khr_subgroups ") && version >= 20)
        limits->sub_group = 2;
}

static ipt_result ipt__read_limits(const ipt_context_desc *desc, cl_device_id device, ipt__limits *limits)
{
    cl_ulong local;
    cl_uint units;
    char extensions[4096], version[64];
    size_t group;
    unsigned major = 0, minor = 0;
    ipt__questions asked = ipt__questions_to(device);
    const cl_device_type type = ipt__device_type(&asked);
    const int rusticl = (type & CL_DEVICE_TYPE_CPU) && ipt__platform_has_name(&asked, "rusticl");
    const int pocl = ipt__platform_has_name(&asked, "portable computing language");
    ipt__ask(&asked, CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof local);
    ipt__ask(&asked, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    ipt__ask(&asked, CL_DEVICE_MAX_WORK_GROUP_SIZE, &group, sizeof group);
    ipt__ask_text(&asked, NULL, CL_DEVICE_VERSION, version, sizeof version);
    ipt__ask_text(&asked, NULL, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions - 1);
    if (asked.call)
        return ipt__fail_unanswered(&asked);
    if (sscanf(version, "OpenCL %u.%u", &major, &minor) != 2 || major * 10 + minor < 12)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the device offers %s: OpenCL 1.2 is needed", version);
    if (rusticl)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "rusticl's llvmpipe (seen: Mesa 22.3.6) computes wrong results in "
                                                "work-groups of one work-item and in long loops: use PoCL");
    strcat(extensions, " "); /* a name ends where the next begins */
    limits->cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    limits->cooperative = (type & CL_DEVICE_TYPE_GPU) && !limits->cpu;
    limits->resident_groups = ipt__min(desc->resident_groups, (size_t)1 << 24); /* as in a profile */
    limits->wait_polls = desc->wait_polls ? (cl_uint)ipt__min(desc->wait_polls, 0x7fffffff) : (cl_uint)IPT__WAIT_POLLS;
    limits->local_is_limited = desc->max_local_memory != 0;
    if (ipt__contains(extensions, "cl_nv_")) {
        cl_uint major = 0; /* CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV */
        limits->nvidia = !ipt__cl.clGetDeviceInfo(device, 0x4000, sizeof major, &major, NULL) && major >= 8 ? 2 : 1;
    }
    ipt__read_model(device, extensions, major * 10 + minor, limits);
    if (pocl && limits->sub_group >= 2) /* made of work-groups there, and wrong (seen: 5.0, 6.0) */
        limits->sub_group = 0;
    limits->compute_units = ipt__max(units, 1);
    limits->largest_group = ipt__max(group, 1);
    limits->group_size = 1;
    while (limits->group_size < 256 && limits->group_size * 2 <= group)
        limits->group_size *= 2;
    /* Some implementations keep a little for themselves: NVIDIA's launches fail from 48 KiB on, which it reports. */
    limits->local_memory = ipt__size_of(local > 16384 ? local - 1024 : local);
    if (desc->max_local_memory)
        limits->local_memory = ipt__min(limits->local_memory, desc->max_local_memory);
    if (limits->local_memory < 1024)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the device has %lu bytes of local memory: 1024 are needed",
                         (unsigned long)local);
    /* More is of no use, and not in a profile. */
    limits->local_memory = ipt__min(limits->local_memory, (size_t)1 << 30);
    limits->largest_group = ipt__min(limits->largest_group, (size_t)1 << 20);
    limits->compute_units = ipt__min(limits->compute_units, (size_t)1 << 20);
    return IPT_SUCCESS;
}
