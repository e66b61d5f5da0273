/* A shared library for LD_PRELOAD that makes any OpenCL report another device, and enforces the reported limits: a
 * program that exceeds them fails as on such a device. IPT_TOLD in the environment has the limits, separated by blanks;
 * other values stay the true ones:
 *   local=16K     local memory. A kernel that needs more does not build, or with refuses=launch cannot be launched.
 *   static=227K   the limit of a kernel's local memory, where more than the reported size runs (NVIDIA)
 *   groups=64     work-items of a work-group
 *   units=4       compute units
 *   alloc=4M      bytes of a buffer
 *   global=64M    bytes of all existing buffers
 *   align=4096    bits, of the origins of sub-buffers
 *   host=16       bytes, of the addresses of CL_MEM_USE_HOST_PTR: others are refused, where true devices copy or crash
 *   type=gpu      or cpu, accelerator
 *   unified=0     whether the device shares the host's memory
 *   version=1.2   of OpenCL and OpenCL C: later queries, functions and -cl-std fail
 *   extensions=   names with commas, or none: without cl_khr_fp64 a program with doubles does not build
 *   order=in      no out-of-order queues
 *
 * A size above the true one is reported as the true one. */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct told_values {
    cl_ulong local, most_local, alloc, global;
    size_t groups, host;
    cl_uint units, align, version; /* version: 12 is 1.2 */
    cl_device_type type;
    int has_unified, refuses_launch, in_order;
    cl_bool unified;
    char extensions[1024]; /* a blank before and after each name; "": the true ones */
} told_values;

/* A program that the simulated device's compiler refuses, although the true one may accept it. */
typedef struct told_program {
    cl_program program;
    char log[200];
    struct told_program *next;
} told_program;

static told_values told;
static told_program *told_programs;
static cl_ulong told_living; /* bytes */
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t told_once = PTHREAD_ONCE_INIT;

/* ------------------------------------------------------------------------------------------------------------------ */

static void told_die(const char *what)
{
    fprintf(stderr, "told: %s\n", what);
    exit(2);
}

static cl_ulong told_size(const char *text)
{
    char *end;
    cl_ulong value = strtoull(text, &end, 10);
    if (*end == 'K' || *end == 'M' || *end == 'G')
        value <<= *end == 'K' ? 10 : *end == 'M' ? 20 : 30, ++end;
    if (end == text || *end)
        told_die("a size in IPT_TOLD is no number with K, M or G");
    return value;
}

static void told_read_extensions(const char *text)
{
    size_t i;
    if (strlen(text) > sizeof told.extensions - 3)
        told_die("IPT_TOLD names too many extensions");
    snprintf(told.extensions, sizeof told.extensions, " %s ", strcmp(text, "none") ? text : "");
    for (i = 0; told.extensions[i]; ++i)
        if (told.extensions[i] == ',')
            told.extensions[i] = ' ';
}

static void told_read_value(const char *name, const char *value)
{
    if (!strcmp(name, "local"))
        told.local = told_size(value);
    else if (!strcmp(name, "static"))
        told.most_local = told_size(value);
    else if (!strcmp(name, "alloc"))
        told.alloc = told_size(value);
    else if (!strcmp(name, "global"))
        told.global = told_size(value);
    else if (!strcmp(name, "groups"))
        told.groups = (size_t)told_size(value);
    else if (!strcmp(name, "host"))
        told.host = (size_t)told_size(value);
    else if (!strcmp(name, "units"))
        told.units = (cl_uint)told_size(value);
    else if (!strcmp(name, "align"))
        told.align = (cl_uint)told_size(value);
    else if (!strcmp(name, "version") && strlen(value) == 3 && value[1] == '.')
        told.version = (cl_uint)((value[0] - '0') * 10 + value[2] - '0');
    else if (!strcmp(name, "type"))
        told.type = !strcmp(value, "gpu")   ? CL_DEVICE_TYPE_GPU
                    : !strcmp(value, "cpu") ? CL_DEVICE_TYPE_CPU
                                            : CL_DEVICE_TYPE_ACCELERATOR;
    else if (!strcmp(name, "unified")) {
        told.has_unified = 1;
        told.unified = *value != '0';
    } else if (!strcmp(name, "refuses"))
        told.refuses_launch = !strcmp(value, "launch");
    else if (!strcmp(name, "order"))
        told.in_order = !strcmp(value, "in");
    else if (!strcmp(name, "extensions"))
        told_read_extensions(value);
    else
        told_die("IPT_TOLD has a name that is none of local static groups units alloc global align host type unified "
                 "version extensions order refuses");
}

static void told_read(void)
{
    char text[2048], *rest = text, *word;
    const char *const given = getenv("IPT_TOLD");
    if (!given)
        return;
    if (strlen(given) >= sizeof text)
        told_die("IPT_TOLD is too long");
    strcpy(text, given);
    while ((word = strsep(&rest, " "))) {
        char *const value = strchr(word, '=');
        if (!*word)
            continue;
        if (!value)
            told_die("a word of IPT_TOLD has no '='");
        *value = 0;
        told_read_value(word, value + 1);
    }
    if (!told.most_local)
        told.most_local = told.local;
}

static void *told_find(const char *name)
{
    void *const found = dlsym(RTLD_NEXT, name);
    if (!found)
        told_die("no OpenCL library follows this one");
    pthread_once(&told_once, told_read);
    return found;
}

/* Finds the true function as true_NAME. */
#define TOLD_TRUE(name)                                                                                                \
    static __typeof__(&name) true_##name;                                                                              \
    if (!true_##name) {                                                                                                \
        void *const found = told_find(#name);                                                                          \
        memcpy(&true_##name, &found, sizeof found);                                                                    \
    }

/* ------------------------------------------------------------------------------------------------------------------ */

static cl_int told_answer(const void *answer, size_t answer_bytes, size_t bytes, void *value, size_t *needed)
{
    if (value && bytes < answer_bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, answer_bytes);
    if (needed)
        *needed = answer_bytes;
    return CL_SUCCESS;
}

static int told_has_extension(const char *name, size_t length)
{
    const char *at = told.extensions;
    if (!*at)
        return 1;
    while ((at = strstr(at, " ")) && *++at)
        if (!strncmp(at, name, length) && at[length] == ' ')
            return 1;
    return 0;
}

static cl_int told_answer_ulong(cl_ulong answer, size_t bytes, void *value, size_t *needed)
{
    return told_answer(&answer, sizeof answer, bytes, value, needed);
}

static cl_int told_answer_uint(cl_uint answer, size_t bytes, void *value, size_t *needed)
{
    return told_answer(&answer, sizeof answer, bytes, value, needed);
}

/* Returns a text such as "OpenCL 3.0 name" with the reported version. */
static cl_int told_answer_version(const char *truth, size_t bytes, void *value, size_t *needed)
{
    char text[512];
    const int c = !strncmp(truth, "OpenCL C ", 9);
    const char *const name = strchr(truth + (c ? 9 : 7), ' ');
    snprintf(text, sizeof text, "OpenCL %s%u.%u%s", c ? "C " : "", told.version / 10, told.version % 10,
             name ? name : " ");
    return told_answer(text, strlen(text) + 1, bytes, value, needed);
}

static cl_ulong told_least(cl_ulong a, cl_ulong b)
{
    return a < b ? a : b;
}

/* Queries whose reported number may not exceed the true one. */
static cl_int told_limit(cl_device_info name, const void *truth, size_t bytes, void *value, size_t *needed, int *is)
{
    cl_ulong number = 0;
    *is = 1;
    if (name == CL_DEVICE_MAX_WORK_GROUP_SIZE && told.groups) {
        size_t groups = told.groups;
        memcpy(&groups, truth, sizeof groups);
        groups = groups < told.groups ? groups : told.groups;
        return told_answer(&groups, sizeof groups, bytes, value, needed);
    }
    memcpy(&number, truth, sizeof number);
    if (name == CL_DEVICE_LOCAL_MEM_SIZE && told.local)
        return told_answer_ulong(told_least(number, told.local), bytes, value, needed);
    if (name == CL_DEVICE_MAX_MEM_ALLOC_SIZE && told.alloc)
        return told_answer_ulong(told_least(number, told.alloc), bytes, value, needed);
    if (name == CL_DEVICE_GLOBAL_MEM_SIZE && told.global)
        return told_answer_ulong(told_least(number, told.global), bytes, value, needed);
    if (name == CL_DEVICE_QUEUE_PROPERTIES && told.in_order)
        return told_answer_ulong(number & ~(cl_ulong)CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, bytes, value, needed);
    *is = 0;
    return CL_SUCCESS;
}

/* Answers a query with one value for each dimension. */
static cl_int told_answer_items(const void *truth, size_t truth_bytes, size_t bytes, void *value, size_t *needed)
{
    size_t items[16], i;
    if (truth_bytes > sizeof items)
        return CL_OUT_OF_RESOURCES;
    memcpy(items, truth, truth_bytes);
    for (i = 0; i < truth_bytes / sizeof *items; ++i)
        items[i] = items[i] < told.groups ? items[i] : told.groups;
    return told_answer(items, truth_bytes, bytes, value, needed);
}

/* Answers that do not depend on the true device. */
static cl_int told_word(cl_device_info name, size_t bytes, void *value, size_t *needed, int *is)
{
    *is = 1;
    if (name == CL_DEVICE_TYPE && told.type)
        return told_answer_ulong(told.type, bytes, value, needed);
    if (name == CL_DEVICE_MAX_COMPUTE_UNITS && told.units)
        return told_answer_uint(told.units, bytes, value, needed);
    if (name == CL_DEVICE_MEM_BASE_ADDR_ALIGN && told.align)
        return told_answer_uint(told.align, bytes, value, needed);
    if (name == CL_DEVICE_HOST_UNIFIED_MEMORY && told.has_unified)
        return told_answer_uint(told.unified, bytes, value, needed);
    if (name == CL_DEVICE_DOUBLE_FP_CONFIG && !told_has_extension("cl_khr_fp64", 11))
        return told_answer_ulong(0, bytes, value, needed);
    if (name == CL_DEVICE_EXTENSIONS && *told.extensions) {
        const size_t length = strlen(told.extensions);
        char text[sizeof told.extensions] = "";
        if (length > 2)
            memcpy(text, told.extensions + 1, length - 2);
        return told_answer(text, strlen(text) + 1, bytes, value, needed);
    }
    /* Queries of later OpenCL versions. */
    if (told.version && told.version < 20 && name > 0x104B && name < 0x1100)
        return CL_INVALID_VALUE;
    *is = 0;
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value, size_t *needed)
{
    char truth[16384] = "";
    size_t truth_bytes = 0;
    int is;
    cl_int error;
    TOLD_TRUE(clGetDeviceInfo)
    error = true_clGetDeviceInfo(device, name, 0, NULL, &truth_bytes);
    if (error == CL_INVALID_DEVICE || (!error && truth_bytes > sizeof truth))
        return true_clGetDeviceInfo(device, name, bytes, value, needed);
    error = told_word(name, bytes, value, needed, &is);
    if (is)
        return error;
    error = true_clGetDeviceInfo(device, name, sizeof truth, truth, &truth_bytes);
    if (error)
        return error;
    error = told_limit(name, truth, bytes, value, needed, &is);
    if (is)
        return error;
    if (name == CL_DEVICE_MAX_WORK_ITEM_SIZES && told.groups)
        return told_answer_items(truth, truth_bytes, bytes, value, needed);
    if ((name == CL_DEVICE_VERSION || name == CL_DEVICE_OPENCL_C_VERSION) && told.version)
        return told_answer_version(truth, bytes, value, needed);
    return told_answer(truth, truth_bytes, bytes, value, needed);
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t bytes, void *value,
                                     size_t *needed)
{
    char truth[512] = "";
    TOLD_TRUE(clGetPlatformInfo)
    if (name != CL_PLATFORM_VERSION || !told.version ||
        true_clGetPlatformInfo(platform, name, sizeof truth, truth, NULL))
        return true_clGetPlatformInfo(platform, name, bytes, value, needed);
    return told_answer_version(truth, bytes, value, needed);
}

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id *devices,
                                  cl_uint *found)
{
    TOLD_TRUE(clGetDeviceIDs)
    if (!told.type || type == CL_DEVICE_TYPE_ALL || type == CL_DEVICE_TYPE_DEFAULT)
        return true_clGetDeviceIDs(platform, type, count, devices, found);
    if (type & told.type)
        return true_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices, found);
    if (found)
        *found = 0;
    return CL_DEVICE_NOT_FOUND;
}

void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    TOLD_TRUE(clGetExtensionFunctionAddressForPlatform)
    if (!strcmp(name, "clCreateProgramWithILKHR") && !told_has_extension("cl_khr_il_program", 17))
        return NULL;
    return true_clGetExtensionFunctionAddressForPlatform(platform, name);
}

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties, cl_int *error)
{
    TOLD_TRUE(clCreateCommandQueue)
    if (!told.in_order || !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        return true_clCreateCommandQueue(context, device, properties, error);
    if (error)
        *error = CL_INVALID_QUEUE_PROPERTIES;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void CL_CALLBACK told_forget(cl_mem buffer, void *bytes)
{
    (void)buffer;
    pthread_mutex_lock(&told_lock);
    told_living -= *(cl_ulong *)bytes;
    pthread_mutex_unlock(&told_lock);
    free(bytes);
}

/* Counts the bytes as allocated, if memory suffices. */
static int told_take(cl_ulong bytes)
{
    int fits;
    pthread_mutex_lock(&told_lock);
    fits = !told.global || (bytes <= told.global && told_living <= told.global - bytes);
    told_living += fits ? bytes : 0;
    pthread_mutex_unlock(&told_lock);
    return fits;
}

static cl_mem told_refuse(cl_int why, cl_int *error)
{
    if (error)
        *error = why;
    return NULL;
}

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *error)
{
    cl_mem buffer;
    cl_ulong *taken;
    TOLD_TRUE(clCreateBuffer)
    if (told.alloc && bytes > told.alloc)
        return told_refuse(CL_INVALID_BUFFER_SIZE, error);
    if (told.host && (flags & CL_MEM_USE_HOST_PTR) && (size_t)host % told.host)
        return told_refuse(CL_INVALID_HOST_PTR, error);
    taken = (cl_ulong *)malloc(sizeof *taken);
    if (!taken)
        return told_refuse(CL_OUT_OF_HOST_MEMORY, error);
    *taken = bytes;
    if (!told_take(bytes)) {
        free(taken);
        return told_refuse(CL_MEM_OBJECT_ALLOCATION_FAILURE, error);
    }
    buffer = true_clCreateBuffer(context, flags, bytes, host, error);
    if (!buffer || clSetMemObjectDestructorCallback(buffer, told_forget, taken))
        told_forget(NULL, taken);
    return buffer;
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void *info,
                                     cl_int *error)
{
    TOLD_TRUE(clCreateSubBuffer)
    if (told.align && type == CL_BUFFER_CREATE_TYPE_REGION && info &&
        ((const cl_buffer_region *)info)->origin % (told.align > 8 ? told.align / 8 : 1))
        return told_refuse(CL_MISALIGNED_SUB_BUFFER_OFFSET, error);
    return true_clCreateSubBuffer(buffer, flags, type, info, error);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Returns the program's entry, and creates it if necessary. */
static told_program *told_program_entry(cl_program program)
{
    told_program *entry = told_programs;
    while (entry && entry->program != program)
        entry = entry->next;
    if (!entry) {
        entry = (told_program *)calloc(1, sizeof *entry);
        if (!entry)
            told_die("no memory");
        entry->program = program;
        entry->next = told_programs;
        told_programs = entry;
    }
    return entry;
}

/* Records why the simulated compiler refuses the program; "": it accepts. */
static void told_set_log(cl_program program, const char *log)
{
    pthread_mutex_lock(&told_lock);
    snprintf(told_program_entry(program)->log, sizeof told_programs->log, "%s", log);
    pthread_mutex_unlock(&told_lock);
}

static void told_get_log(cl_program program, char *log, size_t bytes)
{
    const told_program *entry;
    pthread_mutex_lock(&told_lock);
    for (entry = told_programs; entry && entry->program != program;)
        entry = entry->next;
    snprintf(log, bytes, "%s", entry ? entry->log : "");
    pthread_mutex_unlock(&told_lock);
}

static void told_append(char **text, const char *more, size_t length)
{
    memcpy(*text, more, length);
    *text += length;
    **text = 0;
}

/* Undefines the macros of extensions that the simulated device does not have. */
static void told_undefine(char **text)
{
    static const char *const names[] = {
        "cl_khr_fp64",      "cl_khr_fp16",       "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics",
        "cl_khr_subgroups", "cl_intel_subgroups"};
    static const char *const doubles[] = {"double", "double2", "double3", "double4", "double8", "double16"};
    char line[100];
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; ++i)
        if (!told_has_extension(names[i], strlen(names[i])))
            told_append(text, line, (size_t)snprintf(line, sizeof line, "#undef %s\n", names[i]));
    if (!told_has_extension("cl_khr_fp64", 11))
        for (i = 0; i < sizeof doubles / sizeof *doubles; ++i)
            told_append(text, line,
                        (size_t)snprintf(line, sizeof line, "#define %s this_device_has_no_double\n", doubles[i]));
    told_append(text, "#line 1\n", 8);
}

/* Turns a pragma for a missing extension into an error, as compilers without the extension do. */
static void told_refuse_pragmas(char *text)
{
    static const char pragma[] = "#pragma OPENCL EXTENSION ", refusal[] = "#error not offered here: ";
    while ((text = strstr(text, pragma))) {
        const char *const name = text + sizeof pragma - 1;
        if (!told_has_extension(name, strcspn(name, " :\n")))
            memcpy(text, refusal, sizeof refusal - 1);
        ++text;
    }
}

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                 const size_t *lengths, cl_int *error)
{
    size_t bytes = 4096;
    cl_uint i;
    char *text, *at;
    const char *handed;
    cl_program program;
    TOLD_TRUE(clCreateProgramWithSource)
    if (!count || !strings || !*told.extensions)
        program = true_clCreateProgramWithSource(context, count, strings, lengths, error);
    else {
        for (i = 0; i < count; ++i)
            bytes += lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
        handed = at = text = (char *)malloc(bytes);
        if (!text)
            told_die("no memory");
        told_undefine(&at);
        for (i = 0; i < count; ++i)
            told_append(&at, strings[i], lengths && lengths[i] ? lengths[i] : strlen(strings[i]));
        told_refuse_pragmas(text);
        program = true_clCreateProgramWithSource(context, 1, &handed, NULL, error);
        free(text);
    }
    if (program)
        told_set_log(program, "");
    return program;
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                                 const size_t *lengths, const unsigned char **binaries,
                                                 cl_int *statuses, cl_int *error)
{
    cl_program program;
    TOLD_TRUE(clCreateProgramWithBinary)
    program = true_clCreateProgramWithBinary(context, count, devices, lengths, binaries, statuses, error);
    if (program)
        told_set_log(program, "");
    return program;
}

/* Detects kernels that the simulated device could not have built. */
static void told_check_kernels(cl_program program, cl_device_id device)
{
    cl_kernel kernels[64];
    cl_uint count = 0, i;
    char log[200];
    if (clCreateKernelsInProgram(program, 64, kernels, &count))
        return;
    for (i = 0; i < count; ++i) {
        size_t required[3] = {0, 0, 0};
        cl_ulong local = 0;
        clGetKernelWorkGroupInfo(kernels[i], device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required,
                                 NULL);
        clGetKernelWorkGroupInfo(kernels[i], device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
        if (told.groups && required[0] * required[1] * required[2] > told.groups) {
            snprintf(log, sizeof log, "reqd_work_group_size of more than %zu", told.groups);
            told_set_log(program, log);
        }
        if (told.most_local && !told.refuses_launch && local > told.most_local) {
            snprintf(log, sizeof log, "the kernel needs %zu bytes of local memory: at most %zu", (size_t)local,
                     (size_t)told.most_local);
            told_set_log(program, log);
        }
        clReleaseKernel(kernels[i]);
    }
}

static cl_device_id told_first_device(cl_program program)
{
    cl_device_id devices[16] = {NULL};
    if (clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices, NULL))
        return NULL;
    return devices[0];
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                  void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    const char *standard = options ? strstr(options, "-cl-std=CL") : NULL;
    char log[200];
    cl_int error;
    TOLD_TRUE(clBuildProgram)
    told_set_log(program, "");
    if (told.version && standard && standard[10] && standard[11] == '.' &&
        (cl_uint)((standard[10] - '0') * 10 + standard[12] - '0') > told.version) {
        told_set_log(program, "no such -cl-std");
        return CL_INVALID_BUILD_OPTIONS;
    }
    error = true_clBuildProgram(program, count, devices, options, NULL, NULL);
    if (!error)
        told_check_kernels(program, count ? devices[0] : told_first_device(program));
    told_get_log(program, log, sizeof log);
    if (*log)
        error = CL_BUILD_PROGRAM_FAILURE;
    if (notify)
        notify(program, user);
    return error;
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name,
                                         size_t bytes, void *value, size_t *needed)
{
    static const cl_build_status failed = CL_BUILD_ERROR;
    char log[200];
    TOLD_TRUE(clGetProgramBuildInfo)
    told_get_log(program, log, sizeof log);
    if (*log && name == CL_PROGRAM_BUILD_STATUS)
        return told_answer(&failed, sizeof failed, bytes, value, needed);
    if (*log && name == CL_PROGRAM_BUILD_LOG)
        return told_answer(log, strlen(log) + 1, bytes, value, needed);
    return true_clGetProgramBuildInfo(program, device, name, bytes, value, needed);
}

/* ------------------------------------------------------------------------------------------------------------------ */

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    char log[200];
    TOLD_TRUE(clCreateKernel)
    told_get_log(program, log, sizeof log);
    if (!*log)
        return true_clCreateKernel(program, name, error);
    if (error)
        *error = CL_INVALID_PROGRAM_EXECUTABLE;
    return NULL;
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name,
                                            size_t bytes, void *value, size_t *needed)
{
    size_t size = 0;
    cl_int error;
    TOLD_TRUE(clGetKernelWorkGroupInfo)
    if (name != CL_KERNEL_WORK_GROUP_SIZE || !told.groups)
        return true_clGetKernelWorkGroupInfo(kernel, device, name, bytes, value, needed);
    error = true_clGetKernelWorkGroupInfo(kernel, device, name, sizeof size, &size, NULL);
    if (error)
        return error;
    size = size < told.groups ? size : told.groups;
    return told_answer(&size, sizeof size, bytes, value, needed);
}

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    TOLD_TRUE(clSetKernelArg)
    if (!value && told.most_local && bytes > told.most_local) /* some drivers leave this out of the kernel's size */
        return CL_OUT_OF_RESOURCES;
    return true_clSetKernelArg(kernel, index, bytes, value);
}

/* Returns the simulated device's error for a launch. The true device has not received the launch yet. */
static cl_int told_check_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *global,
                                const size_t *local)
{
    size_t items = 1;
    cl_uint i;
    cl_ulong bytes = 0;
    cl_device_id device = NULL;
    for (i = 0; i < dimensions && local; ++i) {
        items *= local[i];
        if (told.groups && local[i] > told.groups)
            return CL_INVALID_WORK_ITEM_SIZE;
        if (told.version && told.version < 20 && global && local[i] && global[i] % local[i])
            return CL_INVALID_WORK_GROUP_SIZE;
    }
    if (told.groups && items > told.groups)
        return CL_INVALID_WORK_GROUP_SIZE;
    if (told.most_local && !clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) &&
        !clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL) &&
        bytes > told.most_local)
        return CL_OUT_OF_RESOURCES;
    return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                          const size_t *offset, const size_t *global, const size_t *local,
                                          cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    size_t chosen[3] = {1, 1, 1};
    cl_int error;
    TOLD_TRUE(clEnqueueNDRangeKernel)
    error = told_check_launch(queue, kernel, dimensions, global, local);
    if (error)
        return error;
    if (!local && told.groups && global && dimensions >= 1 && dimensions <= 3) { /* the driver chooses the size */
        for (chosen[0] = told.groups; chosen[0] > 1 && global[0] % chosen[0];)
            --chosen[0];
        local = chosen;
    }
    return true_clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, wait_count, waits, event);
}
