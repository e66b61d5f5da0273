/* The cache: loading and storing entries. */

/* A verified entry, in the caller's memory or read from a file. */
typedef struct ipt__entry {
    const unsigned char *data;
    size_t bytes, payload; /* payload: its offset in data */
    unsigned char *owned;  /* memory to release; NULL: the caller's */
} ipt__entry;

static int ipt__entry_embedded(const ipt_context *context, const char *key, ipt__entry *entry)
{
    size_t i;
    for (i = 0; i < context->binary_count; ++i) {
        entry->data = (const unsigned char *)context->binaries[i].data;
        entry->bytes = context->binaries[i].bytes;
        entry->owned = NULL;
        entry->payload = entry->data ? ipt__entry_open(entry->data, entry->bytes, key) : 0;
        if (entry->payload)
            return 1;
    }
    return 0;
}

/* Whether the context stores entries. */
static int ipt__has_cache(const ipt_context *context)
{
#ifdef IPT_NO_DISK_CACHE
    (void)context;
    return 0;
#else
    return context->cache_dir != NULL;
#endif
}

#ifndef IPT_NO_DISK_CACHE

static IPT__RARE int ipt__entry_on_disk(const ipt_context *context, const char *key, ipt__entry *entry)
{
    char path[IPT__PATH_BYTES], name[IPT__ENTRY_NAME];
    ipt__file file;
    const char *why;
    memset(entry, 0, sizeof *entry);
    if (!context->cache_dir)
        return 0;
    ipt__entry_name(key, strlen(key), name);
    ipt__print(path, sizeof path, "%s/%s", context->cache_dir, name);
    why = ipt__file_open(path, &file, &entry->bytes);
    if (!why) {
        why = ipt__file_check_folder(context->cache_dir);
        if (!why && entry->bytes)
            entry->owned = (unsigned char *)context->allocator.alloc(entry->bytes, context->allocator.user);
        if (entry->owned && ipt__file_read(file, entry->owned, entry->bytes))
            entry->payload = ipt__entry_open(entry->owned, entry->bytes, key);
        ipt__file_close(file);
        if (!why && !entry->payload)
            why = "it is damaged or another program's";
    }
    entry->data = entry->owned;
    if (!entry->payload) {
        ipt__release(&context->allocator, entry->owned);
        if (*why)
            ipt__log(context, "cache: %s is not used: %s", path, why);
    }
    return entry->payload != 0;
}

static IPT__RARE void ipt__entry_store(const ipt_context *context, const char *key, const unsigned char *entry,
                                       size_t bytes)
{
    char name[IPT__ENTRY_NAME];
    const char *why;
    ipt__entry_name(key, strlen(key), name);
    why = ipt__folder_store(context->cache_dir, name, entry, bytes);
    if (why)
        ipt__log(context, "cache: nothing is stored in %s: %s", context->cache_dir, why);
    else
        ipt__folder_clean(context);
}

#else

static IPT__RARE int ipt__entry_on_disk(const ipt_context *context, const char *key, ipt__entry *entry)
{
    (void)context, (void)key, (void)entry;
    return 0;
}

static IPT__RARE void ipt__entry_store(const ipt_context *context, const char *key, const unsigned char *entry,
                                       size_t bytes)
{
    (void)context, (void)key, (void)entry, (void)bytes;
}

#endif

IPT_API IPT__RARE ipt_result ipt_cache_store(const char *folder, const void *entry, size_t bytes)
{
#ifdef IPT_NO_DISK_CACHE
    (void)bytes;
    if (!folder || !entry)
        return ipt__fail_null(!folder ? "folder" : "entry");
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "folder: there is no disk cache: ipt was compiled with IPT_NO_DISK_CACHE");
#else
    const unsigned char *const data = (const unsigned char *)entry;
    char name[IPT__ENTRY_NAME];
    const char *why;
    size_t payload;
    if (!folder || !entry)
        return ipt__fail_null(!folder ? "folder" : "entry");
    if (!*folder)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "folder is empty");
    payload = ipt__entry_open(data, bytes, NULL);
    if (!payload)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "entry: its %zu bytes are damaged or not an entry of ipt's cache",
                         bytes);
    ipt__entry_name((const char *)data + IPT__ENTRY_HEAD, payload - IPT__ENTRY_HEAD, name);
    why = ipt__folder_store(folder, name, data, bytes);
    return why ? ipt__fail(IPT_ERROR_UNSUPPORTED, "folder: nothing can be stored in %s: %s", folder, why) : IPT_SUCCESS;
#endif
}

/* Writes the key of the findings: all inputs on which they depend. */
static void ipt__findings_key(const ipt_context *context, char key[IPT__KEY_BYTES])
{
    const ipt__limits *const limits = &context->limits;
    ipt__print(key, IPT__KEY_BYTES, "ipt device\nversion %d\nlimits %zu %d %zu\n%s", IPT_VERSION, limits->local_memory,
               limits->local_is_limited, limits->largest_group, context->device_text);
}

enum {
#define IPT__FINDING_BYTES(type, field, minimum, maximum) +8
    IPT__FINDINGS_BYTES = 0 IPT__FINDING_LIST(IPT__FINDING_BYTES)
};

/* Writes the findings as an entry of IPT__ENTRY_HEAD + strlen(key) + IPT__FINDINGS_BYTES bytes. Returns its size. */
static size_t ipt__findings_entry(const ipt_context *context, const char *key, unsigned char *entry)
{
    unsigned char *at = entry + IPT__ENTRY_HEAD + strlen(key);
    ipt__findings found = context->found;
    if (context->chunk_is_guess)
        found.chunk_bytes = 0;
#define IPT__FINDING_PUT(type, field, minimum, maximum)                                                                \
    ipt__put(at, (cl_ulong)found.field, 8);                                                                            \
    at += 8;
    IPT__FINDING_LIST(IPT__FINDING_PUT)
    ipt__entry_seal(entry, key, IPT__FINDINGS_BYTES);
    return (size_t)(at - entry);
}

static IPT__RARE void ipt__findings_load(ipt_context *context)
{
    char key[IPT__KEY_BYTES];
    ipt__entry entry;
    ipt__findings_key(context, key);
    if (!ipt__entry_embedded(context, key, &entry) && !ipt__entry_on_disk(context, key, &entry))
        return;
    if (entry.bytes - entry.payload == IPT__FINDINGS_BYTES) {
        const unsigned char *at = entry.data + entry.payload;
#define IPT__FINDING_GET(type, field, minimum, maximum)                                                                \
    context->found.field = (type)ipt__min(ipt__size_of(ipt__get(at, 8)), maximum);                                     \
    at += 8;
        IPT__FINDING_LIST(IPT__FINDING_GET)
    }
    ipt__release(&context->allocator, entry.owned);
}

/* The caller has locked probe_lock. */
static void ipt__findings_store(const ipt_context *context)
{
    char key[IPT__KEY_BYTES];
    unsigned char entry[(size_t)IPT__ENTRY_HEAD + IPT__KEY_BYTES + IPT__FINDINGS_BYTES];
    if (!ipt__has_cache(context) || !context->context)
        return;
    ipt__findings_key(context, key);
    ipt__entry_store(context, key, entry, ipt__findings_entry(context, key, entry));
}

/* Queries which code besides OpenCL C the device accepts, and the lines that distinguish it from other devices. */
static ipt_result ipt__read_code(ipt_context *context, cl_device_id device)
{
    static const cl_uint names[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DRIVER_VERSION, CL_PLATFORM_VERSION};
    static const char titles[][12] = {"device", "vendor", "driver", "platform"};
    ipt__text out = {context->device_text, sizeof context->device_text, 0};
    char extensions[4096], text[256], pocl[] = "pocl 1.";
    cl_bool compiler, unified;
    cl_ulong allocation;
    cl_uint major = 0, minor = 0, bits;
    ipt__questions asked = ipt__questions_to(context->driver, device), curious = asked;
    int i;
    char *at;
    for (i = 0; i < 4; ++i) {
        ipt__ask_text(&asked, i == 3, names[i], text, sizeof text);
        for (at = text; *at; ++at)
            *at = (unsigned char)*at < 32 ? ' ' : *at;
        ipt__text_add(&out, "%s %s\n", titles[i], text);
    }
    ipt__ask(&asked, CL_DEVICE_ADDRESS_BITS, &bits, sizeof bits);
    ipt__text_add(&out, "bits %u\n", (unsigned)bits);
    /* PoCL before 6.0 counts a kernel's users by the size of its grid. Two launches at a time with different sizes end
     * the process. */
    for (; pocl[5] < '6'; ++pocl[5])
        context->mixes_grids |= ipt__contains(text, pocl);
    ipt__ask(&asked, CL_DEVICE_COMPILER_AVAILABLE, &compiler, sizeof compiler);
    context->compiler = compiler != 0;
    ipt__ask(&asked, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof unified);
    context->shares_memory = unified != 0;
    ipt__ask(&asked, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &allocation, sizeof allocation);
    context->allocation = ipt__size_of(allocation);
    context->finishes_late = context->limits.cpu && ipt__platform_has_name(&asked, "portable computing language");
    context->forgets_failure = context->limits.cpu && ipt__platform_has_name(&asked, "intel(r) opencl");
    ipt__ask_text(&asked, 0, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions - 1);
    if (asked.call)
        return ipt__fail_unanswered(&asked);
    strcat(extensions, " ");
    context->takes_bitcode = ipt__contains(extensions, "cl_khr_spir ");
    context->has_half = ipt__contains(extensions, "cl_khr_fp16 ");
    context->has_double = ipt__contains(extensions, "cl_khr_fp64 ");
    /* CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV and _MINOR_NV */
    if ((context->limits.nvidia || context->driver == IPT__DRIVER_CUDA) &&
        !ipt__calls(context)->clGetDeviceInfo(device, 0x4000, sizeof major, &major, NULL) &&
        !ipt__calls(context)->clGetDeviceInfo(device, 0x4001, sizeof minor, &minor, NULL))
        context->capability = major * 10 + minor;
    ipt__ask_text(&curious, 0, 0x105B, text, sizeof text); /* CL_DEVICE_IL_VERSION: older devices lack it */
    if (ipt__contains(text, "SPIR-V")) {
        const cl_platform_id platform = ipt__ask_platform(&curious);
        void *found =
            ipt__calls(context)->clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithILKHR");
        if (!found)
            found = ipt__calls(context)->clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithIL");
        memcpy(&context->from_spirv, &found, sizeof found);
    }
    return IPT_SUCCESS;
}
