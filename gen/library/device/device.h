/* Devices: limits and names. */

enum {
    IPT__CACHE_LIMIT = 1 << 28, /* bytes */
    IPT__WAIT_POLLS = 1 << 20,  /* about a second */
    IPT__PROBE_POLLS = 1 << 12, /* some milliseconds */
    IPT__COUNTS = 4,            /* attempts to count resident work-groups, while the result looks too low */
    IPT__FINISH_BYTES = 65536,  /* buffer of launches without work */
    IPT__NO_CHUNKS = 1,         /* value of chunk_bytes: no chunk works */
    IPT__CONTROL_WORDS = 4      /* before the counters; as in panel.cl */
};

/* The facts about a device that the planner needs, in the order of a profile's lines. X(type, field, minimum,
 * maximum) */
#define IPT__LIMIT_LIST(X)                                                                                             \
    X(int, cpu, 0, 1)             /* the device type has the CPU bit: one work-item per chain */                       \
    X(int, cooperative, 0, 1)     /* work-groups may wait for one another: GPU bit without CPU bit */                  \
    X(int, nvidia, 0, 2)          /* inline PTX works; 2: of compute capability 8.0; 0: it does not */                 \
    X(int, memory_model, 0, 3)    /* value of the kernel parameter: the best that the device supports */               \
    X(int, sub_group, 0, 3)       /* kind of sub-groups: 1 NVIDIA's, 2 cl_khr_subgroups, 3 Intel's; 0: none */         \
    X(size_t, lanes, 0, 1024)     /* expected work-items in a sub-group, before a program has run; AMD's: 64 or 32 */  \
    X(int, standard, 12, 30)      /* version of OpenCL C for programs that need 2.0: 20 or 30; 12: it has none */      \
    X(size_t, group_size, 1, 256) /* a power of two, of work-items in a work-group: 256 if the device takes it */      \
    X(size_t, largest_group, 1, 1 << 20)   /* largest work-group that the device accepts */                            \
    X(size_t, local_memory, 1024, 1 << 30) /* bytes that a work-group may use, reported or limited by the desc */      \
    X(size_t, compute_units, 1, 1 << 20)                                                                               \
    X(size_t, resident_groups, 0,                                                                                      \
      1 << 24)                            /* of panels: from the desc, or measured for the profile; 0: not measured */ \
    X(size_t, resident_bands, 0, 1 << 24) /* of the band exchange of 4-byte elements, likewise */                      \
    X(size_t, resident_others, 0, 1 << 24) /* of the band exchange of other elements */                                \
    X(cl_uint, wait_polls, 1, 0x7fffffff)                                                                              \
    X(int, local_is_limited, 0, 1) /* the desc limits local memory: do not search for more */

typedef struct ipt__limits {
#define IPT__LIMIT_FIELD(type, field, minimum, maximum) type field;
    IPT__LIMIT_LIST(IPT__LIMIT_FIELD)
    size_t held_vectors;  /* vectors of a panel that a work-item stores in registers: follows from nvidia */
    int compiles_nothing; /* the driver has programs of its own */
} ipt__limits;

/* The tuning constants of the device: a CPU's or a GPU's. */
static const ipt__tuning *ipt__tuning_of(const ipt__limits *limits)
{
    return &ipt__tunings[limits->cpu];
}

/* NVIDIA reports 48 KiB of local memory: the limit of a kernel's argument. An array in the kernel may have more. */
static int ipt__gives_more_local(const ipt__limits *limits)
{
    return limits->nvidia && !limits->local_is_limited;
}

/* The local memory of a chunk to try, the largest first; 0: none. */
static void ipt__chunk_tries(const ipt__limits *limits, size_t tries[2])
{
    const int large = ipt__gives_more_local(limits) && limits->largest_group >= IPT__CHUNK_GROUP_LARGE;
    tries[0] = large ? IPT__CHUNK_BYTES_LARGE : 0;
    tries[1] = limits->local_memory < 8192 ? 0 : ipt__min(limits->local_memory - 4352, IPT__CHUNK_BYTES) / 1024 * 1024;
}

/* Only NVIDIA's GPUs of compute capability 8.0 or later are known to have the registers. */
static size_t ipt__held_vectors(const ipt__limits *limits)
{
    return limits->nvidia == 2 ? (size_t)IPT__HELD_VECTORS : 0;
}

/* The facts about a device that only running programs show. Profiles and caches store them. X(type, field, minimum,
 * maximum) */
#define IPT__FINDING_LIST(X)                                                                                           \
    X(size_t, chunk_bytes, 0, 1 << 20)   /* local memory of a panel's chunk; 0: unknown, IPT__NO_CHUNKS: none */       \
    X(size_t, refused_bytes, 0, 1 << 20) /* smallest local memory with which a build failed; 0: none */                \
    X(int, sub_groups_refused, 0, 1)     /* a program that uses the device's sub-groups failed to build */

typedef struct ipt__findings {
    IPT__FINDING_LIST(IPT__LIMIT_FIELD)
} ipt__findings;

/* A device to query, and the first query that failed. */
typedef struct ipt__questions {
    ipt__driver_id driver;
    cl_device_id device;
    const char *call; /* NULL: none failed */
    cl_int error;
} ipt__questions;

static ipt__questions ipt__questions_to(ipt__driver_id driver, cl_device_id device)
{
    ipt__questions asked = {IPT__DRIVER_OPENCL, NULL, NULL, CL_SUCCESS};
    asked.driver = driver;
    asked.device = device;
    return asked;
}

static void ipt__note_answer(ipt__questions *asked, const char *call, cl_int error)
{
    if (error && !asked->call) {
        asked->call = call;
        asked->error = error;
    }
}

/* Queries a value. Sets it to zero on failure. */
static void ipt__ask(ipt__questions *asked, cl_uint name, void *value, size_t bytes)
{
    const cl_int error = ipt__driver_of(asked->driver)->clGetDeviceInfo(asked->device, name, bytes, value, NULL);
    if (error)
        memset(value, 0, bytes);
    ipt__note_answer(asked, "clGetDeviceInfo", error);
}

static cl_platform_id ipt__ask_platform(ipt__questions *asked)
{
    cl_platform_id platform = NULL;
    ipt__ask(asked, CL_DEVICE_PLATFORM, &platform, sizeof platform);
    return platform;
}

/* Queries a text of the device, or of its platform, cut to fit; "" if that fails. */
static void ipt__ask_text(ipt__questions *asked, int of_platform, cl_uint name, char *text, size_t capacity)
{
    char long_text[4096];
    size_t bytes = 0;
    const cl_platform_id platform = of_platform ? ipt__ask_platform(asked) : NULL;
    cl_int error = CL_SUCCESS;
    if (platform)
        error =
            ipt__driver_of(asked->driver)->clGetPlatformInfo(platform, name, sizeof long_text - 1, long_text, &bytes);
    else if (!of_platform)
        error = ipt__driver_of(asked->driver)
                    ->clGetDeviceInfo(asked->device, name, sizeof long_text - 1, long_text, &bytes);
    if (error)
        bytes = 0;
    bytes = ipt__min(bytes, sizeof long_text - 1);
    long_text[bytes] = 0;
    bytes = ipt__min(strlen(long_text), capacity - 1);
    memcpy(text, long_text, bytes);
    text[bytes] = 0;
    ipt__note_answer(asked, of_platform ? "clGetPlatformInfo" : "clGetDeviceInfo", error);
}

static ipt_result ipt__fail_unanswered(const ipt__questions *asked)
{
    return asked->error == CL_INVALID_DEVICE
               ? ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "device is not a valid OpenCL device: %s failed", asked->call)
               : ipt__fail_opencl(asked->call, asked->error);
}

/* Returns whether text contains part, ignoring case. */
static int ipt__contains(const char *text, const char *part)
{
    for (;; ++text) {
        size_t i = 0;
        while (part[i] && (text[i] | (text[i] >= 'A' && text[i] <= 'Z' ? 32 : 0)) ==
                              (part[i] | (part[i] >= 'A' && part[i] <= 'Z' ? 32 : 0)))
            ++i;
        if (!part[i])
            return 1;
        if (!*text)
            return 0;
    }
}

static int ipt__platform_has_name(ipt__questions *asked, const char *name)
{
    char text[512];
    ipt__ask_text(asked, 1, CL_PLATFORM_NAME, text, sizeof text);
    return ipt__contains(text, name);
}

static int ipt__device_has_name(ipt__questions *asked, const char *name)
{
    char text[512];
    ipt__ask_text(asked, 0, CL_DEVICE_NAME, text, sizeof text);
    return ipt__contains(text, name) || ipt__platform_has_name(asked, name);
}

static cl_device_type ipt__device_type(ipt__questions *asked)
{
    cl_device_type type;
    ipt__ask(asked, CL_DEVICE_TYPE, &type, sizeof type);
    return type;
}

/* Lists OpenCL's devices: see ipt_device_list. */
static IPT__RARE ipt_result ipt__opencl_list(cl_device_id *devices, size_t capacity, size_t *count)
{
    const ipt__driver *const driver = ipt__driver_of(IPT__DRIVER_OPENCL);
    cl_platform_id platforms[64];
    cl_uint platform_count = 0, i;
    cl_int error, failed = CL_SUCCESS;
    const ipt_result result = ipt__opencl_open();
    *count = 0;
    if (result)
        return result;
    error = driver->clGetPlatformIDs(64, platforms, &platform_count);
    if (error == -1001) /* CL_PLATFORM_NOT_FOUND_KHR: the loader found no platform */
        platform_count = 0;
    else if (error)
        return ipt__fail_opencl("clGetPlatformIDs", error);
    for (i = 0; i < platform_count && i < 64; ++i) {
        cl_device_id found[64];
        cl_uint found_count = 0, k;
        error = driver->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 64, found, &found_count);
        if (error) { /* other platforms may still have devices */
            failed = error == CL_DEVICE_NOT_FOUND ? failed : error;
            continue;
        }
        for (k = 0; k < found_count && k < 64; ++k, ++*count)
            if (*count < capacity)
                devices[*count] = found[k];
    }
    if (!*count && failed)
        return ipt__fail_opencl("clGetDeviceIDs", failed);
    return *count ? IPT_SUCCESS : ipt__fail(IPT_ERROR_NO_DEVICE, "no OpenCL platform of this machine has a device");
}

IPT_API IPT__RARE ipt_result ipt_device_list(cl_device_id *devices, size_t capacity, size_t *count)
{
    ipt_result result;
#ifdef IPT_CUDA
    const int cuda = !ipt__cuda_open(); /* first: if there is no device at all, the sentence is OpenCL's */
#endif
    if (!count)
        return ipt__fail_null("count");
    *count = 0;
    if (!devices && capacity)
        return ipt__fail_null("devices");
    result = ipt__opencl_list(devices, capacity, count);
#ifdef IPT_CUDA
    if (cuda) {
        int i;
        for (i = 0; i < ipt__cu.device_count && i < IPT__CUDA_DEVICES; ++i, ++*count)
            if (*count < capacity)
                devices[*count] = ipt__cuda_handle(i);
    }
#endif
#ifdef IPT_NATIVE
    if (*count < capacity)
        devices[*count] = IPT__NATIVE_DEVICE;
    ++*count;
#endif
    return *count ? IPT_SUCCESS : result;
}

/* The driver of a device. */
static ipt__driver_id ipt__driver_of_device(cl_device_id device)
{
#ifdef IPT_NATIVE
    if (device == IPT__NATIVE_DEVICE)
        return IPT__DRIVER_NATIVE;
#endif
#ifdef IPT_CUDA
    if (ipt__cuda_number(device) >= 0)
        return IPT__DRIVER_CUDA;
#endif
    (void)device;
    return IPT__DRIVER_OPENCL;
}

IPT_API IPT__RARE ipt_result ipt_device_describe(cl_device_id device, char *text, size_t capacity)
{
    char name[256], vendor[256], version[256], release[256], platform_name[256];
    cl_ulong global, local;
    cl_uint units;
    size_t group;
    cl_device_type type;
    ipt__questions asked;
    ipt__text out = {text, capacity, 0};
    ipt_result result;
    if (!text)
        return ipt__fail_null("text");
    if (!capacity)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "capacity is 0");
    *text = 0;
    if (!device)
        return ipt__fail_null("device");
    result = ipt__driver_of_device(device) == IPT__DRIVER_OPENCL ? ipt__opencl_open() : IPT_SUCCESS;
    if (result)
        return result;
    asked = ipt__questions_to(ipt__driver_of_device(device), device);
    ipt__ask_text(&asked, 0, CL_DEVICE_NAME, name, sizeof name);
    ipt__ask_text(&asked, 0, CL_DEVICE_VENDOR, vendor, sizeof vendor);
    ipt__ask_text(&asked, 0, CL_DEVICE_VERSION, version, sizeof version);
    ipt__ask_text(&asked, 0, CL_DRIVER_VERSION, release, sizeof release);
    ipt__ask_text(&asked, 1, CL_PLATFORM_NAME, platform_name, sizeof platform_name);
    type = ipt__device_type(&asked);
    ipt__ask(&asked, CL_DEVICE_GLOBAL_MEM_SIZE, &global, sizeof global);
    ipt__ask(&asked, CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof local);
    ipt__ask(&asked, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    ipt__ask(&asked, CL_DEVICE_MAX_WORK_GROUP_SIZE, &group, sizeof group);
    if (asked.call)
        return ipt__fail_unanswered(&asked);
    ipt__text_add(&out, "%s\n", name);
    ipt__text_add(&out, "  %s of %s, platform %s\n",
                  type & CL_DEVICE_TYPE_CPU   ? "CPU"
                  : type & CL_DEVICE_TYPE_GPU ? "GPU"
                                              : "accelerator",
                  vendor, platform_name);
    ipt__text_add(&out, "  %s, driver %s\n", version, release);
    ipt__text_add(
        &out, "  %zu MiB of memory, %zu KiB of local memory, %u compute units, work-groups of up to %zu work-items\n",
        (size_t)(global >> 20), (size_t)(local >> 10), (unsigned)units, group);
    return IPT_SUCCESS;
}
