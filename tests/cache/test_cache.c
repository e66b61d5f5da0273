/* The cache of compiled programs. ipt uses the entries of a folder or memory, and then compiles nothing. Damaged,
 * foreign or untrusted entries never reach the driver. Write errors go to the logger and do no harm. Processes and
 * threads share a folder. Also tests profiles and contexts without a device. */
#define _XOPEN_SOURCE 700
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#ifdef __linux__
#include <sys/mount.h>
#endif

/* ------------------------------------------------------------------------------------------------------------------ */
/* OpenCL functions that count calls */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct call_counts {
    int sources, binaries, builds;
} call_counts;

static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
static call_counts calls;
static const char *told_driver, *told_name; /* reported driver and name; NULL: the true ones */
static int told_no_compiler;
/* 1: clCreateProgramWithBinary fails. 2: a program from a binary does not build; 3: has no kernel; 4: has no memory for
 * its kernel; 5: runs only smaller work-groups; 6: does not report the size of its work-groups. */
static int refuse_binaries;
static cl_program binary_program;
static int withhold_binaries;   /* clGetProgramInfo fails */
static rlim_t binaries_then_at; /* limit of a file's bytes, once a binary was read; 0: none */

static void count_call(int *counter)
{
    pthread_mutex_lock(&calls_lock);
    ++*counter;
    pthread_mutex_unlock(&calls_lock);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static cl_int CL_API_CALL counted_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                                                  size_t *needed)
{
    const char *told = name == CL_DRIVER_VERSION ? told_driver : name == CL_DEVICE_NAME ? told_name : NULL;
    if (name == CL_DEVICE_COMPILER_AVAILABLE && told_no_compiler && value && bytes >= sizeof(cl_bool)) {
        *(cl_bool *)value = CL_FALSE;
        return CL_SUCCESS;
    }
    if (!told)
        return clGetDeviceInfo(device, name, bytes, value, needed);
    if (needed)
        *needed = strlen(told) + 1;
    if (value && bytes <= strlen(told))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, told, strlen(told) + 1);
    return CL_SUCCESS;
}

static cl_program CL_API_CALL counted_clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                                const size_t *lengths, cl_int *error)
{
    cl_program program = clCreateProgramWithSource(context, count, strings, lengths, error);
    count_call(&calls.sources);
    if (program == binary_program) /* a new program may have the address of a released one */
        binary_program = NULL;
    return program;
}

static cl_program CL_API_CALL counted_clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                                const cl_device_id *devices, const size_t *lengths,
                                                                const unsigned char **binaries, cl_int *status,
                                                                cl_int *error)
{
    count_call(&calls.binaries);
    if (refuse_binaries == 1) {
        if (status)
            *status = CL_INVALID_BINARY;
        if (error)
            *error = CL_INVALID_BINARY;
        return NULL;
    }
    return binary_program = clCreateProgramWithBinary(context, count, devices, lengths, binaries, status, error);
}

static cl_int CL_API_CALL counted_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                                                 const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                                 void *user)
{
    count_call(&calls.builds);
    if (refuse_binaries == 2 && program == binary_program)
        return CL_BUILD_PROGRAM_FAILURE;
    return clBuildProgram(program, count, devices, options, notify, user);
}

static cl_int CL_API_CALL counted_clGetProgramInfo(cl_program program, cl_program_info name, size_t bytes, void *value,
                                                   size_t *needed)
{
    cl_int error = withhold_binaries ? CL_OUT_OF_HOST_MEMORY : clGetProgramInfo(program, name, bytes, value, needed);
    if (name == CL_PROGRAM_BINARIES && binaries_then_at)
        limit_files(binaries_then_at);
    return error;
}

static cl_kernel CL_API_CALL counted_clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    if ((refuse_binaries != 3 && refuse_binaries != 4) || program != binary_program)
        return clCreateKernel(program, name, error);
    *error = refuse_binaries == 3 ? CL_INVALID_KERNEL_NAME : CL_OUT_OF_HOST_MEMORY;
    return NULL;
}

static cl_int CL_API_CALL counted_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                           cl_kernel_work_group_info name, size_t bytes, void *value,
                                                           size_t *needed)
{
    cl_program program = NULL;
    if (refuse_binaries >= 5 && !clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) &&
        program == binary_program) {
        if (refuse_binaries == 6 || name != CL_KERNEL_WORK_GROUP_SIZE || bytes < sizeof(size_t))
            return CL_OUT_OF_RESOURCES;
        *(size_t *)value = 0;
        return CL_SUCCESS;
    }
    return clGetKernelWorkGroupInfo(kernel, device, name, bytes, value, needed);
}

#include "stand_in.h"
#define STAND_IN_clGetDeviceInfo ~, counted_clGetDeviceInfo
#define STAND_IN_clCreateProgramWithSource ~, counted_clCreateProgramWithSource
#define STAND_IN_clCreateProgramWithBinary ~, counted_clCreateProgramWithBinary
#define STAND_IN_clBuildProgram ~, counted_clBuildProgram
#define STAND_IN_clGetProgramInfo ~, counted_clGetProgramInfo
#define STAND_IN_clCreateKernel ~, counted_clCreateKernel
#define STAND_IN_clGetKernelWorkGroupInfo ~, counted_clGetKernelWorkGroupInfo
#define IPT_ENTRY_POINT(name) STAND_IN_OR(STAND_IN_##name, name)

/* Number of folder listings by ipt. */
static int listings;

#ifdef _WIN32
#include <windows.h>
static HANDLE counted_listing(const wchar_t *folder, WIN32_FIND_DATAW *first)
{
    count_call(&listings);
    return FindFirstFileW(folder, first);
}
#define FindFirstFileW counted_listing
#else
static DIR *counted_listing(const char *folder)
{
    count_call(&listings);
    return opendir(folder);
}
#define opendir counted_listing
#endif

#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#ifdef _WIN32
#undef FindFirstFileW
#else
#undef opendir
#endif
#include "folders.h"
#include "process.h"
#include "test.h"

static call_counts calls_since(call_counts before)
{
    call_counts since;
    pthread_mutex_lock(&calls_lock);
    since.sources = calls.sources - before.sources;
    since.binaries = calls.binaries - before.binaries;
    since.builds = calls.builds - before.builds;
    pthread_mutex_unlock(&calls_lock);
    return since;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Files and folders */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { PATH_SIZE = 1024, FILES_MAX = 128 };

static char root[PATH_SIZE / 4]; /* the folder of a test; the teardown removes it */
static rlim_t file_limit;        /* the limit before the tests */

typedef struct path_node {
    struct path_node *next;
    char path[PATH_SIZE];
} path_node;

static path_node *joined; /* paths of the current test */

/* A path built from its parts; valid until the test ends. */
static const char *join(const char *folder, const char *name)
{
    path_node *node = malloc(sizeof *node);
    assert_non_null(node);
    node->next = joined;
    joined = node;
    if ((size_t)snprintf(node->path, PATH_SIZE, "%s/%s", folder, name) >= PATH_SIZE)
        fail_msg("too long a path: %s/%s", folder, name);
    return node->path;
}

static const char *in_root(const char *name)
{
    return join(root, name);
}

typedef struct file_names {
    char name[FILES_MAX][256];
    size_t count;
} file_names;

/* The files of a folder; none if the folder is missing. */
static file_names list_folder(const char *folder)
{
    file_names found = {{{0}}, 0};
    DIR *list = opendir(folder);
    struct dirent *entry;
    while (list && (entry = readdir(list)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
            assert_true(found.count < FILES_MAX && strlen(entry->d_name) < sizeof found.name[0]);
            strcpy(found.name[found.count++], entry->d_name);
        }
    if (list)
        closedir(list);
    return found;
}

/* The environment variables that tests change. */
static const char *const variables[] = {"IPT_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"};
static char *variables_before[TEST_COUNT(variables)];

static int make_root(void **state)
{
    struct rlimit limit;
    size_t i;
    for (i = 0; i < TEST_COUNT(variables); ++i)
        variables_before[i] = getenv(variables[i]) ? strdup(getenv(variables[i])) : NULL;
    getrlimit(RLIMIT_FSIZE, &limit);
    file_limit = limit.rlim_cur;
    return folder_make(root, sizeof root, "cache") ? -1 : test_start(state);
}

static int remove_root(void **state)
{
    size_t i;
    (void)state;
    told_driver = told_name = NULL;
    told_no_compiler = refuse_binaries = withhold_binaries = 0;
    binaries_then_at = 0;
    limit_files(file_limit);
    alarm(0);
    for (i = 0; i < TEST_COUNT(variables); ++i) {
        if (variables_before[i])
            setenv(variables[i], variables_before[i], 1);
        else
            unsetenv(variables[i]);
        free(variables_before[i]);
    }
    folder_remove(root);
    while (joined) {
        path_node *next = joined->next;
        free(joined);
        joined = next;
    }
    return 0;
}

#define CACHE_CASE(function) cmocka_unit_test_setup_teardown(function, make_root, remove_root)

typedef struct content {
    unsigned char *bytes;
    size_t size;
} content;

static content make_content(size_t size)
{
    content made = {malloc(size + 1), size};
    assert_non_null(made.bytes);
    return made;
}

static content copy_content(content from)
{
    content copy = make_content(from.size);
    memcpy(copy.bytes, from.bytes, from.size);
    return copy;
}

static content read_content(const char *path)
{
    struct stat status;
    content read = {NULL, 0};
    FILE *stream = fopen(path, "rb");
    if (!stream || fstat(fileno(stream), &status))
        fail_msg("%s cannot be read: %s", path, strerror(errno));
    read = make_content((size_t)status.st_size);
    assert_int_equal(fread(read.bytes, 1, read.size, stream), read.size);
    fclose(stream);
    return read;
}

/* Writes a file, and replaces whatever the path names. */
static void write_content(const char *path, const void *bytes, size_t size)
{
    int file;
    folder_remove(path);
    file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    assert_int_equal(close(file), 0);
}

static void set_time(const char *path, time_t when)
{
    struct utimbuf times;
    times.actime = times.modtime = when;
    assert_int_equal(utime(path, &times), 0);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The layout of a cache file */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { AT_VERSION = 8, AT_KEY_BYTES = 12, AT_PAYLOAD_BYTES = 16, AT_CHECKSUM = 24, AT_KEY = 56 };

/* SHA-256 of FIPS 180-4, with its constants computed from their definition: the fractional parts of the roots of the
 * first primes. */
static uint32_t root_bits(unsigned prime, int cube)
{
    /* The largest x with x^2 <= p * 2^64 or x^3 <= p * 2^96 holds 32 bits of the fraction; by bisection, with long
     * multiplication in 32-bit digits. */
    uint64_t low = 0, high = (uint64_t)1 << 40;
    while (high - low > 1) {
        const uint64_t x = low + (high - low) / 2;
        uint64_t digits[5] = {x & 0xffffffff, x >> 32, 0, 0, 0}, carry;
        int power, i, above;
        for (power = 1; power < (cube ? 3 : 2); ++power) {
            uint64_t product[5] = {0, 0, 0, 0, 0};
            for (i = 0; i < 5; ++i) {
                int j;
                for (j = 0, carry = 0; j < 2 && i + j < 5; ++j) {
                    const uint64_t digit = j ? x >> 32 : x & 0xffffffff;
                    carry += product[i + j] + digits[i] * digit;
                    product[i + j] = carry & 0xffffffff;
                    carry >>= 32;
                }
                if (i + 2 < 5)
                    product[i + 2] += carry;
            }
            memcpy(digits, product, sizeof digits);
        }
        above = cube ? digits[4] || digits[3] >= prime : digits[4] || digits[3] || digits[2] >= prime;
        if (above) /* x is never the exact root: roots of primes are irrational */
            high = x;
        else
            low = x;
    }
    return (uint32_t)low;
}

static uint32_t turned(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void sha256(const unsigned char *bytes, size_t size, unsigned char digest[32])
{
    static uint32_t constants[64], start[8];
    uint32_t state[8];
    const size_t padded = (size + 9 + 63) / 64 * 64;
    unsigned char *text = calloc(1, padded);
    size_t block;
    int i;
    assert_non_null(text);
    if (!start[0]) {
        unsigned prime, divisor;
        int count = 0;
        for (prime = 2; count < 64; ++prime) {
            for (divisor = 2; prime % divisor; ++divisor)
                ;
            if (divisor < prime)
                continue;
            if (count < 8)
                start[count] = root_bits(prime, 0);
            constants[count++] = root_bits(prime, 1);
        }
    }
    memcpy(text, bytes, size);
    text[size] = 0x80;
    for (i = 0; i < 8; ++i)
        text[padded - 1 - (size_t)i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    memcpy(state, start, sizeof state);
    for (block = 0; block < padded; block += 64) {
        uint32_t w[64], v[8];
        for (i = 0; i < 16; ++i) {
            const unsigned char *word = text + block + 4 * i;
            w[i] = (uint32_t)word[0] << 24 | (uint32_t)word[1] << 16 | (uint32_t)word[2] << 8 | word[3];
        }
        for (; i < 64; ++i)
            w[i] = w[i - 16] + w[i - 7] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) +
                   (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
        memcpy(v, state, sizeof v);
        for (i = 0; i < 64; ++i) {
            const uint32_t one = v[7] + (turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25)) +
                                 ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
            const uint32_t two = (turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22)) +
                                 ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof *v);
            v[4] += one;
            v[0] = one + two;
        }
        for (i = 0; i < 8; ++i)
            state[i] += v[i];
    }
    for (i = 0; i < 32; ++i)
        digest[i] = (unsigned char)(state[i / 4] >> (24 - i % 4 * 8));
    free(text);
}

static uint64_t number_at(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    while (count-- > 0)
        value = value << 8 | bytes[count];
    return value;
}

static void set_number_at(unsigned char *bytes, int count, uint64_t value)
{
    int i;
    for (i = 0; i < count; ++i)
        bytes[i] = (unsigned char)(value >> 8 * i);
}

static void checksum_of(content file, unsigned char digest[32])
{
    content covered = make_content(file.size - 32);
    memcpy(covered.bytes, file.bytes, AT_CHECKSUM);
    memcpy(covered.bytes + AT_CHECKSUM, file.bytes + AT_KEY, file.size - AT_KEY);
    sha256(covered.bytes, covered.size, digest);
    free(covered.bytes);
}

/* Corrects the checksum. */
static void seal(content file)
{
    checksum_of(file, file.bytes + AT_CHECKSUM);
}

/* Returns the error of a cache file, or NULL. */
static const char *fault_of(content file)
{
    unsigned char digest[32];
    uint64_t key_bytes, payload_bytes;
    if (file.size < AT_KEY || memcmp(file.bytes, "iptcache", 8))
        return "no header";
    key_bytes = number_at(file.bytes + AT_KEY_BYTES, 4);
    payload_bytes = number_at(file.bytes + AT_PAYLOAD_BYTES, 8);
    if (!key_bytes || key_bytes > file.size - AT_KEY || payload_bytes != file.size - AT_KEY - key_bytes)
        return "wrong lengths";
    checksum_of(file, digest);
    return memcmp(digest, file.bytes + AT_CHECKSUM, 32) ? "wrong checksum" : NULL;
}

static int same_key(content one, content two)
{
    const size_t bytes = (size_t)number_at(one.bytes + AT_KEY_BYTES, 4);
    return bytes == number_at(two.bytes + AT_KEY_BYTES, 4) && !memcmp(one.bytes + AT_KEY, two.bytes + AT_KEY, bytes);
}

static int is_entry_name(const char *name)
{
    return strlen(name) > 4 && !strcmp(name + strlen(name) - 4, ".ipt");
}

/* Fails unless a folder contains only complete cache files with different keys that only the owner can access. Returns
 * their number. */
static size_t expect_whole_folder(const char *folder)
{
    const file_names files = list_folder(folder);
    content contents[FILES_MAX];
    struct stat status;
    size_t i, j;
    for (i = 0; i < files.count; ++i) {
        const char *path = join(folder, files.name[i]);
        assert_int_equal(lstat(path, &status), 0);
        if (!is_entry_name(files.name[i]) || !S_ISREG(status.st_mode) || (status.st_mode & 07777) != 0600)
            fail_msg("%s is left, mode %o", path, (unsigned)status.st_mode);
        contents[i] = read_content(path);
        if (fault_of(contents[i]))
            fail_msg("%s: %s", path, fault_of(contents[i]));
        for (j = 0; j < i; ++j)
            if (same_key(contents[i], contents[j]))
                fail_msg("%s and %s have one key", files.name[i], files.name[j]);
    }
    for (i = 0; i < files.count; ++i)
        free(contents[i].bytes);
    return files.count;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Contexts and plans */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Counts the messages about the cache, and copies the last one. */
typedef struct listener {
    int heard;
    char last[512];
} listener;

static void hear(const char *message, void *user)
{
    listener *to = user;
    if (strstr(message, "cache")) {
        ++to->heard;
        snprintf(to->last, sizeof to->last, "%s", message);
    }
}

static ipt_context_desc described_context(const char *folder)
{
    ipt_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.context = test_cl_context;
    desc.device = test_device;
    desc.cache_dir = folder;
    return desc;
}

static ipt_context *open_described(const ipt_context_desc *desc)
{
    ipt_context *context = NULL;
    if (ipt_context_create(desc, &context))
        fail_msg("ipt_context_create: %s", ipt_context_error(NULL));
    return context;
}

static ipt_context *open_context(const char *folder)
{
    const ipt_context_desc desc = described_context(folder);
    return open_described(&desc);
}

static ipt_context *open_listening(const char *folder, listener *to)
{
    ipt_context_desc desc = described_context(folder);
    memset(to, 0, sizeof *to);
    desc.logger.log = hear;
    desc.logger.user = to;
    return open_described(&desc);
}

/* A matrix that fits the local memory of every device: one program for each element size. */
static ipt_plan_desc small_plan(size_t elem_size)
{
    ipt_plan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.rows = 24;
    desc.cols = 20;
    desc.elem_size = elem_size;
    desc.flags = IPT_NO_COOPERATIVE;
    return desc;
}

/* A plan with several programs: for a remainder, panels in waves and a shuffle. */
static ipt_plan_desc large_plan(void)
{
    ipt_plan_desc desc = small_plan(4);
    desc.rows = 37;
    desc.cols = 23;
    desc.sequence = IPT_SEQUENCE_TWO_PASS;
    desc.tile_m = 5;
    return desc;
}

static ipt_plan_desc cached_only(ipt_plan_desc desc)
{
    desc.flags |= IPT_CACHE_ONLY;
    return desc;
}

static ipt_plan *open_plan(ipt_context *context, ipt_plan_desc desc)
{
    ipt_plan *plan = NULL;
    if (ipt_plan_create(context, &desc, &plan)) {
        test_print_case(&desc, 0);
        fail_msg("ipt_plan_create: %s", ipt_context_error(NULL));
    }
    assert_non_null(plan);
    return plan;
}

#define EXPECT_ERROR(result, expected, part) test_expect_parts(result, expected, part, NULL)

/* Expects a cache miss for the desc; the driver receives neither a source nor a binary. */
static void expect_miss(int line, ipt_context *context, ipt_plan_desc desc, const char *part)
{
    const call_counts before = calls;
    ipt_plan *plan = (ipt_plan *)&desc;
    desc = cached_only(desc);
    const ipt_result result = ipt_plan_create(context, &desc, &plan);
    if (!expect_parts(result, IPT_ERROR_CACHE_MISS, ipt_context_error(NULL), part, NULL))
        fail_msg("line %d: no miss", line);
    if (plan || calls_since(before).sources || calls_since(before).binaries)
        fail_msg("line %d: a miss, but %d sources and %d binaries", line, calls_since(before).sources,
                 calls_since(before).binaries);
}
#define EXPECT_MISS(context, desc, part) expect_miss(__LINE__, context, desc, part)

static void finish_and_compare(cl_mem buffer, const unsigned char *expected, size_t bytes)
{
    unsigned char *result = malloc(bytes);
    assert_non_null(result);
    assert_int_equal(clEnqueueReadBuffer(test_queue, buffer, CL_TRUE, 0, bytes, result, 0, NULL, NULL), CL_SUCCESS);
    assert_memory_equal(result, expected, bytes);
    free(result);
}

/* Runs a plan, in place or not, and compares with the plain reference. */
static void expect_right(ipt_plan *plan, ipt_plan_desc desc, int out_of_place)
{
    const size_t bytes = test_matrix_bytes(&desc);
    unsigned char *input = malloc(bytes), *expected = malloc(bytes);
    cl_mem source, destination;
    cl_int error = CL_SUCCESS;
    ipt_result result;
    assert_true(input && expected);
    test_fill(input, bytes);
    test_reference(expected, input, &desc);
    source = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, input, &error);
    assert_int_equal(error, CL_SUCCESS);
    destination = out_of_place ? clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, bytes, NULL, &error) : NULL;
    assert_int_equal(error, CL_SUCCESS);
    result = out_of_place ? ipt_plan_execute_out_of_place(plan, test_queue, source, 0, destination, 0, 0, NULL, NULL)
                          : ipt_plan_execute(plan, test_queue, source, 0, 0, NULL, NULL);
    EXPECT_ERROR(result, IPT_SUCCESS, NULL);
    finish_and_compare(out_of_place ? destination : source, expected, bytes);
    if (destination)
        clReleaseMemObject(destination);
    clReleaseMemObject(source);
    free(input);
    free(expected);
}

static void expect_works(ipt_context *context, ipt_plan_desc desc)
{
    ipt_plan *plan = open_plan(context, desc);
    expect_right(plan, desc, 0);
    ipt_plan_destroy(plan);
}

/* Creates and executes the plan in a new context on the folder. Returns the counts of OpenCL calls. */
static call_counts use_folder(const char *folder, ipt_plan_desc desc)
{
    const call_counts before = calls;
    ipt_context *context = open_context(folder);
    expect_works(context, desc);
    ipt_context_destroy(context);
    return calls_since(before);
}

static content export_entry(ipt_context *context, size_t index)
{
    size_t bytes = 0, again = 0;
    content entry;
    EXPECT_ERROR(ipt_context_entry(context, index, NULL, NULL, 0, NULL, 0, &bytes), IPT_SUCCESS, NULL);
    assert_true(bytes > AT_KEY);
    entry = make_content(bytes);
    EXPECT_ERROR(ipt_context_entry(context, index, NULL, NULL, 0, entry.bytes, bytes, &again), IPT_SUCCESS, NULL);
    assert_true(again <= bytes); /* a driver may report a larger program than it returns */
    entry.size = again;
    if (fault_of(entry))
        fail_msg("entry %zu: %s", index, fault_of(entry));
    return entry;
}

static size_t count_programs(const ipt_context *context)
{
    size_t i, programs = 0;
    for (i = 0; i < ipt_context_entry_count(context); ++i)
        programs += ipt_context_entry_source(context, i, NULL) != NULL;
    return programs;
}

/* The path of a context's index-th program in a folder. */
static const char *path_of_program(ipt_context *context, size_t index, const char *folder)
{
    const file_names files = list_folder(folder);
    const char *found = NULL;
    content entry;
    size_t i, at = 0;
    for (i = 0; i < ipt_context_entry_count(context); ++i)
        if (ipt_context_entry_source(context, i, NULL) && at++ == index)
            break;
    entry = export_entry(context, i);
    for (i = 0; i < files.count && !found; ++i) {
        content file = read_content(join(folder, files.name[i]));
        if (!fault_of(file) && same_key(file, entry))
            found = join(folder, files.name[i]);
        free(file.bytes);
    }
    free(entry.bytes);
    if (!found)
        fail_msg("%s has no file of the program", folder);
    return found;
}

/* Fills a folder with desc's programs, by a new context. Returns the path of the first program. */
static void fill_folder(const char *folder, ipt_plan_desc desc, char *path)
{
    ipt_context *context = open_context(folder);
    expect_works(context, desc);
    snprintf(path, PATH_SIZE, "%s", path_of_program(context, 0, folder));
    ipt_context_destroy(context);
}

/* The name of a source's kernel, without "ipt_k_". */
static const char *kernel_of(const char *source)
{
    static char name[64];
    const char *found = strstr(source, "__kernel");
    found = found ? strstr(found, "ipt_k_") : NULL;
    assert_non_null(found);
    found += strlen("ipt_k_");
    snprintf(name, sizeof name, "%.*s", (int)strspn(found, "abcdefghijklmnopqrstuvwxyz_0123456789"), found);
    return name;
}

static void device_name(char *name, size_t bytes)
{
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_NAME, bytes, name, NULL), CL_SUCCESS);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* A folder is filled and used */
/* ------------------------------------------------------------------------------------------------------------------ */

static void cache_checksum_of_this_test(void **state)
{
    static const unsigned char abc[] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
                                        0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
                                        0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    unsigned char digest[32];
    (void)state;
    sha256((const unsigned char *)"abc", 3, digest);
    assert_memory_equal(digest, abc, 32);
}

static void cache_files_as_documented(void **state)
{
    const char *folder = in_root("a/b/c");
    const mode_t mask = umask(0);
    ipt_context *context = open_context(folder);
    ipt_plan_desc desc = large_plan();
    ipt_plan *plan = open_plan(context, desc);
    struct stat status;
    size_t programs, i;
    (void)state;
    umask(mask);
    expect_right(plan, desc, 0);
    for (i = 0; i < 3; ++i) {
        static const char *const folders[] = {"a", "a/b", "a/b/c"};
        assert_int_equal(stat(in_root(folders[i]), &status), 0);
        assert_int_equal(status.st_mode & 07777, 0700);
    }
    programs = count_programs(context);
    assert_true(programs > 1 && programs == ipt_context_entry_count(context) - 1);
    assert_true(expect_whole_folder(folder) >= programs);
    for (i = 0; i < programs; ++i) {
        const char *path = path_of_program(context, i, folder), *other;
        size_t j;
        assert_non_null(path);
        for (j = 0; j < i; ++j) {
            other = path_of_program(context, j, folder);
            assert_string_not_equal(path, other);
        }
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    assert_in_range(expect_whole_folder(folder), programs, programs + 1);
}

static void cache_second_context(void **state)
{
    const char *folder = in_root("folder");
    call_counts made;
    size_t files;
    (void)state;
    made = use_folder(folder, large_plan());
    assert_true(made.sources > 1 && made.binaries == 0);
    files = expect_whole_folder(folder);
    assert_true(files >= (size_t)made.sources);
    made = use_folder(folder, large_plan());
    assert_int_equal(made.sources, 0);
    assert_true(made.binaries > 1);
    made = use_folder(folder, cached_only(large_plan()));
    assert_int_equal(made.sources, 0);
    assert_int_equal(expect_whole_folder(folder), files);
    assert_int_equal(use_folder(folder, small_plan(4)).sources, 1); /* compiles the missing program */
    assert_int_equal(use_folder(folder, small_plan(4)).sources, 0);
    assert_int_equal(use_folder(folder, cached_only(large_plan())).sources, 0);
    assert_true(use_folder("", large_plan()).sources > 1);
}

/* Another expression needs another program. */
static void cache_expressions(void **state)
{
    const char *folder = in_root("folder");
    ipt_plan_desc plain = small_plan(4), one = plain, two = plain;
    ipt_context *context;
    (void)state;
    one.expression = "x";
    two.expression = "(x)";
    one.expression_type = two.expression_type = "uint";
    assert_int_equal(use_folder(folder, plain).sources, 1);
    context = open_context(folder);
    EXPECT_MISS(context, one, NULL);
    expect_works(context, one);
    EXPECT_MISS(context, two, NULL);
    ipt_context_destroy(context);
    assert_int_equal(use_folder(folder, cached_only(one)).sources, 0);
    assert_true(use_folder(folder, two).sources > 0);
    assert_int_equal(use_folder(folder, cached_only(plain)).sources, 0);
    /* Keys contain an argument's type, but not its value. */
    const uint32_t values[2] = {0, 16};
    one.expression = "x | a";
    one.expression_argument = &values[0];
    assert_true(use_folder(folder, one).sources > 0);
    assert_int_equal(use_folder(folder, cached_only(one)).sources, 0);
    two = one;
    two.expression_argument_type = "uchar";
    assert_true(use_folder(folder, two).sources > 0);
    context = open_context(folder);
    one.expression_argument = &values[1];
    ipt_plan_destroy(open_plan(context, cached_only(one)));
    one.expression_argument = NULL;
    EXPECT_MISS(context, one, NULL);
    ipt_context_destroy(context);
}

static void cache_miss_names_kernel_and_device(void **state)
{
    char kernel[64], device[256];
    ipt_context *context = open_context("");
    ipt_plan *plan = open_plan(context, small_plan(4));
    (void)state;
    snprintf(kernel, sizeof kernel, "%s", kernel_of(ipt_plan_source(plan, 0)));
    device_name(device, sizeof device);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    context = open_context(in_root("folder"));
    EXPECT_MISS(context, small_plan(4), kernel);
    EXPECT_MISS(context, small_plan(4), device);
    ipt_context_destroy(context);
}

static void cache_environment(void **state)
{
    const char *one = in_root("one"), *two = in_root("two");
    (void)state;
    setenv("IPT_CACHE_DIR", one, 1);
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 1);
    assert_true(expect_whole_folder(one) > 0);
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 0);
    assert_int_equal(use_folder("", small_plan(4)).sources, 1); /* the desc has priority */
    assert_int_equal(use_folder(two, small_plan(4)).sources, 1);
    assert_true(expect_whole_folder(two) > 0);
    setenv("IPT_CACHE_DIR", "", 1);
    if (getenv("IPT_CACHE_DIR")) /* Windows has no empty environment variables */
        assert_int_equal(use_folder(NULL, small_plan(4)).sources, 1);
    setenv("IPT_CACHE_DIR", "none", 1);
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 1);
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 1);
    assert_int_equal(use_folder(two, small_plan(4)).sources, 0);
    assert_int_equal(list_folder(root).count, 2);
}

/* A user's name may have any characters. */
#define OTHER_LETTERS "J\303\274rgen \316\251\342\230\203"

static void cache_other_letters(void **state)
{
    const char *folder = in_root(OTHER_LETTERS);
    (void)state;
    assert_int_equal(use_folder(folder, small_plan(4)).sources, 1);
    assert_true(expect_whole_folder(folder) > 0);
    assert_int_equal(use_folder(folder, small_plan(4)).sources, 0);
    setenv("IPT_CACHE_DIR", folder, 1);
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 0);
}

/* The default folder: neither the desc nor IPT_CACHE_DIR names one. */
static void cache_user_folder(void **state)
{
    (void)state;
#if !defined(__APPLE__) && !defined(_WIN32)
    unsetenv("IPT_CACHE_DIR");
    setenv("XDG_CACHE_HOME", in_root("xdg"), 1);
    setenv("HOME", in_root("home"), 1);
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 1);
    assert_true(expect_whole_folder(in_root("xdg/ipt")) > 0);
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 0);
    unsetenv("XDG_CACHE_HOME");
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 1);
    assert_true(expect_whole_folder(in_root("home/.cache/ipt")) > 0);
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 0);
    unsetenv("HOME"); /* now there is no default folder */
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 1);
    assert_int_equal(list_folder(root).count, 2);
#elif defined(_WIN32)
    unsetenv("IPT_CACHE_DIR");
    setenv("LOCALAPPDATA", in_root(OTHER_LETTERS), 1);
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 1);
    assert_true(expect_whole_folder(in_root(OTHER_LETTERS "/ipt")) > 0);
    assert_int_equal(use_folder(NULL, small_plan(4)).sources, 0);
#else
    test_skip("the folders are those of POSIX systems");
#endif
}

static void cache_out_of_place(void **state)
{
    const char *folder = in_root("folder");
    ipt_plan_desc desc = small_plan(4);
    int flagged;
    (void)state;
    desc.flags |= IPT_OUT_OF_PLACE;
    assert_true(use_folder(folder, desc).sources > 0);
    for (flagged = 1; flagged >= 0; --flagged) {
        ipt_context *context = open_context(folder);
        ipt_plan *plan;
        call_counts before = calls;
        desc.flags = cached_only(small_plan(4)).flags | (flagged ? IPT_OUT_OF_PLACE : 0);
        plan = open_plan(context, desc);
        assert_int_equal(calls_since(before).sources, 0);
        before = calls;
        expect_right(plan, desc, 1);
        assert_int_equal(calls_since(before).sources, 0);
        if (flagged)
            assert_true(calls_since(before).binaries == 0 && calls_since(before).builds == 0);
        expect_right(plan, desc, 0);
        ipt_plan_destroy(plan);
        ipt_context_destroy(context);
    }
}

static void cache_out_of_place_is_asked_for_early(void **state)
{
    ipt_context *context = open_context("");
    ipt_plan_desc desc = small_plan(4);
    ipt_plan *plan;
    call_counts before;
    (void)state;
    desc.flags |= IPT_OUT_OF_PLACE;
    plan = open_plan(context, desc);
    before = calls;
    expect_right(plan, desc, 1);
    assert_int_equal(calls_since(before).sources, 0);
    assert_int_equal(calls_since(before).builds, 0);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
}

static void cache_trim(void **state)
{
    ipt_context *context = open_context("");
    ipt_plan *kept = open_plan(context, small_plan(4)), *dropped = open_plan(context, large_plan());
    const size_t both = count_programs(context);
    call_counts before = calls;
    size_t left;
    (void)state;
    ipt_context_trim(NULL);
    ipt_context_trim(context);
    assert_int_equal(count_programs(context), both);
    ipt_plan_destroy(dropped);
    assert_int_equal(count_programs(context), both); /* the context keeps both for later plans */
    ipt_context_trim(context);
    left = count_programs(context);
    assert_true(left > 0 && left < both);
    expect_right(kept, small_plan(4), 0);
    expect_works(context, cached_only(small_plan(4)));
    assert_int_equal(calls_since(before).sources, 0);
    EXPECT_MISS(context, large_plan(), NULL);
    expect_works(context, large_plan());
    ipt_plan_destroy(kept);
    ipt_context_trim(context);
    assert_int_equal(count_programs(context), 0);
    EXPECT_MISS(context, small_plan(4), NULL);
    expect_works(context, small_plan(4));
    ipt_context_destroy(context);
    assert_int_equal(ipt_context_entry_count(NULL), 0);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Damage */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A new context on the folder does not find the small plan's program, and passes no entry to the driver. */
static void expect_folder_misses(const char *folder, const char *what, size_t where)
{
    ipt_context *context = open_context(folder);
    const ipt_plan_desc desc = cached_only(small_plan(4));
    const call_counts before = calls;
    ipt_plan *plan = NULL;
    const ipt_result result = ipt_plan_create(context, &desc, &plan);
    const call_counts made = calls_since(before);
    if (result != IPT_ERROR_CACHE_MISS || plan || made.sources || made.binaries)
        fail_msg("%s at %zu: %s, %d sources, %d binaries", what, where, ipt_result_string(result), made.sources,
                 made.binaries);
    ipt_context_destroy(context);
}

static int descending(const void *one, const void *two)
{
    const size_t a = *(const size_t *)one, b = *(const size_t *)two;
    return a < b ? 1 : a > b ? -1 : 0;
}

static void cache_truncated(void **state)
{
    const char *folder = in_root("folder");
    char path[PATH_SIZE];
    static size_t lengths[8192];
    size_t count = 0, i;
    content good;
    (void)state;
    fill_folder(folder, small_plan(4), path);
    good = read_content(path);
    if (good.size <= TEST_COUNT(lengths))
        for (; count < good.size; ++count)
            lengths[count] = count;
    else { /* every byte of the header, of the key and of the next bytes, and the last bytes */
        for (; count < 2048; ++count)
            lengths[count] = count;
        for (; count < 2548; ++count)
            lengths[count] = test_random_between(2048, good.size - 1);
        for (i = 1; i <= 64; ++i)
            lengths[count++] = good.size - i;
    }
    qsort(lengths, count, sizeof *lengths, descending);
    for (i = 0; i < count; ++i) {
        assert_int_equal(truncate(path, (off_t)lengths[i]), 0);
        expect_folder_misses(folder, "cut", lengths[i]);
    }
    write_content(path, good.bytes, good.size);
    assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);
    free(good.bytes);
}

/* Flips bits of one byte of a file, or restores the byte. Closes the file, because on Windows the cache does not read a
 * file that is open for writing. */
static void flip(const char *path, content good, size_t at, int pattern)
{
    const unsigned char byte = (unsigned char)(good.bytes[at] ^ pattern);
    const int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, &byte, 1, (off_t)at), 1);
    close(file);
}

static void cache_flipped(void **state)
{
    const char *folder = in_root("folder");
    char path[PATH_SIZE];
    content good;
    size_t payload, i;
    (void)state;
    fill_folder(folder, small_plan(4), path);
    good = read_content(path);
    payload = AT_KEY + (size_t)number_at(good.bytes + AT_KEY_BYTES, 4);
    assert_true(payload < good.size);
    for (i = 0; i < 2 * payload + 1000; ++i) {
        const size_t at = i < 2 * payload ? i / 2 : test_random_between(payload, good.size - 1);
        flip(path, good, at, i >= 2 * payload ? 1 << i % 8 : i % 2 ? 1 : 0xff);
        expect_folder_misses(folder, "flipped", at);
        flip(path, good, at, 0);
        if (i % 200 == 0) /* without the flip, the entry is used */
            assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);
    }
    assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);
    free(good.bytes);
}

/* Each damage causes a miss: the driver never sees the file, and a good file replaces it. */
static void cache_damaged_is_replaced(void **state)
{
    const char *folder = in_root("folder"), *others = in_root("others");
    char path[PATH_SIZE], path_of_other[PATH_SIZE];
    content good, other;
    size_t key_bytes, i;
    (void)state;
    fill_folder(folder, small_plan(4), path);
    fill_folder(others, small_plan(8), path_of_other);
    good = read_content(path);
    other = read_content(path_of_other);
    key_bytes = (size_t)number_at(good.bytes + AT_KEY_BYTES, 4);
    for (i = 0; i < 20; ++i) {
        content bad = make_content(good.size + 4096), now;
        unsigned char *bytes = bad.bytes;
        call_counts made;
        bad.size = good.size;
        memcpy(bytes, good.bytes, good.size);
        memset(bytes + good.size, 0, 4096);
        switch (i) {
        case 0:
            bad.size = 0;
            break;
        case 1:
            bad.size = 20;
            break;
        case 2:
            bad.size = AT_KEY;
            break;
        case 3:
            bad.size = AT_KEY + key_bytes; /* no payload */
            break;
        case 4:
            bad.size = good.size - 1;
            break;
        case 5:
            bytes[0] ^= 0x20;
            break;
        case 6:
            bytes[AT_CHECKSUM + 31] ^= 1;
            break;
        case 7:
            bytes[AT_KEY] ^= 1;
            break;
        case 8:
            bytes[good.size - 1] ^= 0x80;
            break;
        case 9:
            bad.size = good.size + 1;
            break;
        case 10:
            bad.size = good.size + 4096;
            break;
        case 11: /* a complete entry of a later format, with a right checksum */
            set_number_at(bytes + AT_VERSION, 4, number_at(bytes + AT_VERSION, 4) + 1);
            seal(bad);
            break;
        case 12:
            set_number_at(bytes + AT_VERSION, 4, 0);
            seal(bad);
            break;
        case 13: /* wrong lengths, with a right checksum */
            set_number_at(bytes + AT_KEY_BYTES, 4, 0xffffffff);
            seal(bad);
            break;
        case 14:
            set_number_at(bytes + AT_PAYLOAD_BYTES, 8, ~(uint64_t)0);
            seal(bad);
            break;
        case 15: /* lengths whose sum wraps around to the file's size */
            set_number_at(bytes + AT_KEY_BYTES, 4, 0x80000000);
            set_number_at(bytes + AT_PAYLOAD_BYTES, 8, good.size - AT_KEY - (uint64_t)0x80000000);
            seal(bad);
            break;
        case 16: /* the key includes a byte of the payload */
            set_number_at(bytes + AT_KEY_BYTES, 4, key_bytes + 1);
            set_number_at(bytes + AT_PAYLOAD_BYTES, 8, good.size - AT_KEY - key_bytes - 1);
            seal(bad);
            break;
        case 17: /* another key, with a right checksum */
            bytes[AT_KEY + key_bytes / 2] ^= 1;
            seal(bad);
            break;
        case 18: /* no key */
            set_number_at(bytes + AT_KEY_BYTES, 4, 0);
            set_number_at(bytes + AT_PAYLOAD_BYTES, 8, good.size - AT_KEY);
            seal(bad);
            break;
        default: /* another program's file, renamed */
            free(bytes);
            bad = copy_content(other);
        }
        write_content(path, bad.bytes, bad.size);
        expect_folder_misses(folder, "damage", i);
        made = use_folder(folder, small_plan(4));
        if (made.sources != 1 || made.binaries)
            fail_msg("damage %zu: %d sources, %d binaries", i, made.sources, made.binaries);
        now = read_content(path);
        if (fault_of(now) || !same_key(now, good))
            fail_msg("damage %zu is left: %s", i, fault_of(now) ? fault_of(now) : "another key");
        expect_whole_folder(folder);
        assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);
        free(now.bytes);
        free(bad.bytes);
    }
    free(good.bytes);
    free(other.bytes);
}

/* A folder, link or pipe is at the path of a cache file. */
static void cache_not_a_file(void **state)
{
    const char *folder = in_root("folder"), *aside = in_root("aside");
    enum {
        DIRECTORY,
        FULL_DIRECTORY,
        LINK_TO_GOOD,
        LINK_TO_NOTHING,
        LINK_TO_ITSELF,
        LINK_TO_FIFO,
        LINK_TO_ZEROS,
        FIFO,
        CASES
    };
    char path[PATH_SIZE];
    content good;
    int i;
    (void)state;
    fill_folder(folder, small_plan(4), path);
    good = read_content(path);
    write_content(aside, good.bytes, good.size);
    assert_int_equal(mkfifo(in_root("fifo"), 0600), 0);
    alarm(120); /* ends a test that hangs */
    for (i = 0; i < CASES; ++i) {
        const file_names before = list_folder(folder);
        call_counts made;
        int sound = 1;
        folder_remove(path);
        switch (i) {
        case DIRECTORY:
        case FULL_DIRECTORY:
            sound &= !mkdir(path, 0700);
            if (i == FULL_DIRECTORY)
                write_content(join(path, "file"), "x", 1);
            break;
        case LINK_TO_GOOD:
            sound &= !symlink(aside, path);
            break;
        case LINK_TO_NOTHING:
            sound &= !symlink(in_root("nothing"), path);
            break;
        case LINK_TO_ITSELF:
            sound &= !symlink(path, path);
            break;
        case LINK_TO_FIFO:
            sound &= !symlink(in_root("fifo"), path);
            break;
        case LINK_TO_ZEROS:
            sound &= !symlink("/dev/zero", path);
            break;
        default:
            sound &= !mkfifo(path, 0600);
        }
        assert_true(sound);
        if (i != LINK_TO_GOOD)
            expect_folder_misses(folder, "no file", (size_t)i);
        made = use_folder(folder, small_plan(4));
        if (i != LINK_TO_GOOD && (made.sources != 1 || made.binaries))
            fail_msg("case %d: %d sources, %d binaries", i, made.sources, made.binaries);
        assert_int_equal(list_folder(folder).count, before.count); /* no temporary file remains */
        if (i != DIRECTORY && i != FULL_DIRECTORY) {
            assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);
        }
    }
    alarm(0);
    assert_int_equal(access(in_root("nothing"), F_OK), -1); /* links are not followed when writing */
    free(good.bytes);
}

static void cache_not_trusted(void **state)
{
    const char *folder = in_root("folder");
    char path[PATH_SIZE];
    struct stat status;
    file_names before;
    ipt_context *context;
    content good;
    size_t i;
    (void)state;
    fill_folder(folder, small_plan(4), path);
    good = read_content(path);

    /* A file that other users can write is not used; a good file replaces it. */
    assert_int_equal(chmod(path, 0666), 0);
    expect_folder_misses(folder, "mode", 0666);
    assert_int_equal(use_folder(folder, small_plan(4)).sources, 1);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);

    /* An unreadable file. Root can read any file. */
    if (geteuid() != 0) {
        assert_int_equal(chmod(path, 0200), 0);
        expect_folder_misses(folder, "mode", 0200);
        assert_int_equal(use_folder(folder, small_plan(4)).sources, 1);
        expect_whole_folder(folder);
    }

    /* A folder that other users can write is neither read nor written. */
    write_content(path, good.bytes, good.size);
    before = list_folder(folder);
    assert_int_equal(chmod(folder, 0777), 0);
    expect_folder_misses(folder, "folder's mode", 0777);
    context = open_context(folder);
    expect_works(context, small_plan(4));
    expect_works(context, small_plan(8));
    ipt_context_destroy(context);
    assert_int_equal(list_folder(folder).count, before.count);
    for (i = 0; i < before.count; ++i)
        assert_int_equal(access(join(folder, before.name[i]), F_OK), 0);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);
    free(good.bytes);
}

/* Different drivers and devices have separate programs in one folder. */
static void cache_other_driver(void **state)
{
    const char *folder = in_root("folder");
    char name[256], driver[256];
    size_t files;
    call_counts made;
    (void)state;
    device_name(name, sizeof name - 2);
    strcat(name, "X");
    assert_int_equal(clGetDeviceInfo(test_device, CL_DRIVER_VERSION, sizeof driver - 2, driver, NULL), CL_SUCCESS);
    strcat(driver, "1");
    assert_int_equal(use_folder(folder, small_plan(4)).sources, 1);
    files = expect_whole_folder(folder);

    told_driver = driver;
    expect_folder_misses(folder, "driver", 0);
    made = use_folder(folder, small_plan(4));
    assert_true(made.sources == 1 && made.binaries == 0);
    assert_int_equal(expect_whole_folder(folder), 2 * files);
    assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);

    told_driver = NULL;
    told_name = name;
    expect_folder_misses(folder, "name", 0);
    assert_int_equal(use_folder(folder, small_plan(4)).sources, 1);
    assert_int_equal(expect_whole_folder(folder), 3 * files);

    told_name = NULL;
    assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);
    assert_int_equal(expect_whole_folder(folder), 3 * files);
}

/* A driver that refuses its own binary, or accepts the binary and then cannot run its kernel. */
static void cache_refused_by_driver(void **state)
{
    static const char *const reasons[] = {"CL_INVALID_BINARY",     "CL_BUILD_PROGRAM_FAILURE", "CL_INVALID_KERNEL_NAME",
                                          "CL_OUT_OF_HOST_MEMORY", "CL_INVALID_WORK_GROUP_",   "CL_OUT_OF_RESOURCES"};
    const char *folder = in_root("folder");
    char name[256];
    (void)state;
    device_name(name, sizeof name);
    assert_int_equal(use_folder(folder, small_plan(4)).sources, 1);
    for (refuse_binaries = 1; refuse_binaries <= 6; ++refuse_binaries) {
        ipt_context *context = open_context(folder);
        const ipt_plan_desc desc = cached_only(small_plan(4));
        ipt_plan *plan = NULL;
        call_counts before = calls;
        if (refuse_binaries == 5 && strstr(name, "NVIDIA")) /* this driver reports too small work-groups */
            continue;
        test_expect_parts(ipt_plan_create(context, &desc, &plan), IPT_ERROR_CACHE_MISS,
                          "IPT_CACHE_ONLY: nothing is compiled, and the device refuses the cached program with",
                          reasons[refuse_binaries - 1]);
        assert_null(plan);
        assert_int_equal(calls_since(before).sources, 0);
        assert_int_equal(calls_since(before).binaries, 1);
        expect_works(context, small_plan(4));
        assert_int_equal(calls_since(before).sources, 1);
        ipt_context_destroy(context);
    }
    refuse_binaries = 0;
    expect_whole_folder(folder);
    assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);
}

/* An entry with the key of one program and the code of another. */
static content graft(content key, content code)
{
    const size_t key_end = AT_KEY + (size_t)number_at(key.bytes + AT_KEY_BYTES, 4),
                 code_at = AT_KEY + (size_t)number_at(code.bytes + AT_KEY_BYTES, 4);
    content grafted = make_content(key_end + code.size - code_at);
    memcpy(grafted.bytes, key.bytes, key_end);
    memcpy(grafted.bytes + key_end, code.bytes + code_at, code.size - code_at);
    set_number_at(grafted.bytes + AT_PAYLOAD_BYTES, 8, code.size - code_at);
    seal(grafted);
    assert_null(fault_of(grafted));
    return grafted;
}

/* Creates the plan of a batch that adds 1 to integers. With its result, also executes it. */
static ipt_result use_batch(ipt_context *context, unsigned flags)
{
    static const ipt_batch_operand operand = {.name = "n", .type = "int", .access = IPT_READ_WRITE};
    const ipt_batch_desc desc = {
        .count = 5, .operands = &operand, .operand_count = 1, .action = "n(0, 0) += 1;", .flags = flags};
    cl_int numbers[5] = {3, 1, 4, 1, 5};
    void *memory = numbers;
    ipt_batch *batch = NULL;
    const ipt_result result = ipt_batch_create(context, &desc, &batch);
    assert_true(!result == (batch != NULL));
    if (!batch)
        return result;
    EXPECT_ERROR(ipt_batch_execute_host(batch, &memory, NULL, NULL), IPT_SUCCESS, NULL);
    assert_true(numbers[0] == 4 && numbers[1] == 2 && numbers[2] == 5 && numbers[3] == 2 && numbers[4] == 6);
    ipt_batch_destroy(batch);
    return result;
}

/* A plan and a batch whose cached programs build, but have no kernel, compile the programs again. */
static void expect_other_kernels(ipt_context *context)
{
    static const char refused[] = "IPT_CACHE_ONLY: nothing is compiled, and the device refuses the cached program with";
    const ipt_plan_desc only = cached_only(small_plan(4));
    const call_counts before = calls;
    ipt_plan *plan = NULL;
    test_expect_parts(ipt_plan_create(context, &only, &plan), IPT_ERROR_CACHE_MISS, refused, NULL);
    assert_null(plan);
    test_expect_parts(use_batch(context, IPT_CACHE_ONLY), IPT_ERROR_CACHE_MISS, refused, "kernel ipt_k_elements");
    assert_true(calls_since(before).sources == 0 && calls_since(before).binaries == 2);
    expect_works(context, small_plan(4));
    EXPECT_ERROR(use_batch(context, 0), IPT_SUCCESS, NULL);
    assert_int_equal(calls_since(before).sources, 2);
    ipt_context_destroy(context);
}

static void cache_of_another_kernel(void **state)
{
    const char *folder = in_root("folder");
    char paths[2][PATH_SIZE];
    content good[2], bad[2];
    ipt_binary binaries[2];
    ipt_context *context = open_context(folder);
    ipt_context_desc desc = described_context("");
    call_counts before;
    size_t i;
    (void)state;
    expect_works(context, small_plan(4));
    EXPECT_ERROR(use_batch(context, 0), IPT_SUCCESS, NULL);
    assert_int_equal(count_programs(context), 2);
    for (i = 0; i < 2; ++i) {
        snprintf(paths[i], PATH_SIZE, "%s", path_of_program(context, i, folder));
        good[i] = read_content(paths[i]);
    }
    ipt_context_destroy(context);
    for (i = 0; i < 2; ++i) {
        bad[i] = graft(good[i], good[1 - i]);
        write_content(paths[i], bad[i].bytes, bad[i].size);
        binaries[i].data = bad[i].bytes;
        binaries[i].bytes = bad[i].size;
    }
    expect_other_kernels(open_context(folder));
    before = calls; /* the folder now has the right programs */
    context = open_context(folder);
    expect_works(context, cached_only(small_plan(4)));
    EXPECT_ERROR(use_batch(context, IPT_CACHE_ONLY), IPT_SUCCESS, NULL);
    assert_int_equal(calls_since(before).sources, 0);
    ipt_context_destroy(context);

    desc.binaries = binaries;
    desc.binary_count = 2;
    expect_other_kernels(open_described(&desc));
    desc.cache_dir = folder; /* compiled programs replace the binaries */
    context = open_described(&desc);
    before = calls;
    expect_works(context, cached_only(small_plan(4)));
    EXPECT_ERROR(use_batch(context, IPT_CACHE_ONLY), IPT_SUCCESS, NULL);
    assert_int_equal(calls_since(before).sources, 0);
    ipt_context_destroy(context);
    for (i = 0; i < 2; ++i) {
        free(good[i].bytes);
        free(bad[i].bytes);
    }
}

/* A device without a compiler uses binaries only. */
static void cache_without_compiler(void **state)
{
    const char *folder = in_root("folder");
    const ipt_plan_desc other = small_plan(8);
    ipt_plan *plan = NULL;
    ipt_context *context;
    call_counts before;
    ipt_result result;
    (void)state;
    assert_int_equal(use_folder(folder, small_plan(4)).sources, 1);
    told_no_compiler = 1;
    before = calls;
    context = open_context(folder);
    expect_works(context, small_plan(4));
    result = ipt_plan_create(context, &other, &plan);
    assert_true(result == IPT_ERROR_CACHE_MISS || result == IPT_ERROR_UNSUPPORTED || result == IPT_ERROR_BUILD);
    assert_true(strstr(ipt_context_error(NULL), "compiler") != NULL && !plan);
    assert_int_equal(calls_since(before).sources, 0);
    ipt_context_destroy(context);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Failures of writing */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Plans work if the folder cannot be written, and the logger receives a message. */
static void expect_unwritten(const char *folder, size_t elem_size)
{
    listener to;
    ipt_context *context = open_listening(folder, &to);
    expect_works(context, small_plan(elem_size));
    if (!to.heard)
        fail_msg("nothing was said of %s", folder);
    ipt_context_destroy(context);
}

static void cache_unwritable(void **state)
{
    ipt_context *context;
    content entry;
    (void)state;
    context = open_context("");
    expect_works(context, small_plan(4));
    entry = export_entry(context, 0);
    ipt_context_destroy(context);

    write_content(in_root("file"), "x", 1);
    expect_unwritten(in_root("file/folder"), 4);
    expect_unwritten(in_root("file"), 4);
    EXPECT_ERROR(ipt_cache_store(in_root("file/folder"), entry.bytes, entry.size), IPT_ERROR_UNSUPPORTED, "file");
    EXPECT_ERROR(ipt_cache_store(in_root("file"), entry.bytes, entry.size), IPT_ERROR_UNSUPPORTED, "file");
    expect_unwritten("/proc/ipt/cache", 4);

    if (geteuid() != 0) {
        assert_int_equal(mkdir(in_root("sealed"), 0500), 0);
        expect_unwritten(in_root("sealed"), 4);
        expect_unwritten(in_root("sealed/folder"), 4);
        EXPECT_ERROR(ipt_cache_store(in_root("sealed"), entry.bytes, entry.size), IPT_ERROR_UNSUPPORTED, NULL);
        assert_int_equal(list_folder(in_root("sealed")).count, 0);
    }

    /* The driver does not return the binary. */
    withhold_binaries = 1;
    expect_unwritten(in_root("withheld"), 4);
    withhold_binaries = 0;
    expect_whole_folder(in_root("withheld"));
    free(entry.bytes);
}

/* The disk is full: a small file system if mounting is allowed, and a limit of the process' file size. */
static void cache_disk_full(void **state)
{
    static const rlim_t limits[] = {1, 30, 100, 4096};
    const char *folder = in_root("folder"), *store = in_root("store");
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    content entry;
    ipt_context *context = open_context("");
    size_t i;
    (void)state;
    expect_works(context, small_plan(4)); /* PoCL has written its own files before */
    entry = export_entry(context, 0);
    ipt_context_destroy(context);
    assert_true(entry.size > 4096);
    for (i = 0; i < TEST_COUNT(limits); ++i) {
        listener to;
        ipt_result result;
        const ipt_plan_desc desc = small_plan(4);
        ipt_plan *plan = NULL;
        context = open_listening(folder, &to);
        binaries_then_at = limits[i];
        result = ipt_plan_create(context, &desc, &plan);
        binaries_then_at = 0;
        limit_files(file_limit);
        EXPECT_ERROR(result, IPT_SUCCESS, NULL);
        expect_right(plan, desc, 0);
        ipt_plan_destroy(plan);
        ipt_context_destroy(context);
        assert_true(to.heard > 0);
        expect_whole_folder(folder);
        expect_folder_misses(folder, "full", i);

        limit_files(limits[i]);
        result = ipt_cache_store(store, entry.bytes, entry.size);
        limit_files(file_limit);
        EXPECT_ERROR(result, IPT_ERROR_UNSUPPORTED, NULL);
        assert_int_equal(list_folder(store).count, 0);
    }
    signal(SIGXFSZ, before);
#ifdef __linux__
    folder = in_root("mount");
    assert_int_equal(mkdir(folder, 0700), 0);
    if (!mount("tmpfs", folder, "tmpfs", 0, "size=4k,mode=0700")) {
        const char *part = join(folder, "folder");
        listener to;
        ipt_result result;
        file_names left;
        context = open_listening(part, &to);
        expect_works(context, small_plan(4));
        ipt_context_destroy(context);
        result = ipt_cache_store(part, entry.bytes, entry.size);
        left = list_folder(part);
        for (i = 0; i < left.count; ++i)
            if (!is_entry_name(left.name[i]))
                break;
        umount(folder);
        assert_true(to.heard > 0);
        assert_int_equal(i, left.count);
        EXPECT_ERROR(result, IPT_ERROR_UNSUPPORTED, NULL);
    }
#endif
    free(entry.bytes);
}

/* The folder vanishes between two plans of a context. */
static void cache_folder_vanishes(void **state)
{
    const char *folder = in_root("folder");
    listener to;
    ipt_context *context = open_listening(folder, &to);
    (void)state;
    expect_works(context, small_plan(4));
    assert_true(expect_whole_folder(folder) > 0);
    folder_remove(folder);
    to.heard = 0;
    expect_works(context, small_plan(8));
    ipt_context_destroy(context);
    if (list_folder(folder).count) /* ipt may have created the folder again */
        assert_int_equal(use_folder(folder, cached_only(small_plan(8))).sources, 0);
    else
        assert_true(to.heard > 0);
    expect_whole_folder(folder);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The size limit, and files of processes that died */
/* ------------------------------------------------------------------------------------------------------------------ */

static size_t bytes_of(const char *folder)
{
    const file_names files = list_folder(folder);
    struct stat status;
    size_t bytes = 0, i;
    for (i = 0; i < files.count; ++i)
        if (!stat(join(folder, files.name[i]), &status))
            bytes += (size_t)status.st_size;
    return bytes;
}

static void cache_limit(void **state)
{
    static const size_t sizes[] = {8, 2, 16, 4}; /* oldest first */
    const char *folder = in_root("folder"), *last = in_root("last");
    char paths[4][PATH_SIZE];
    struct stat status;
    ipt_context_desc desc;
    ipt_context *context;
    const time_t now = time(NULL);
    size_t i, oldest;
    (void)state;
    for (i = 0; i < 3; ++i)
        fill_folder(folder, small_plan(sizes[i]), paths[i]);
    for (i = 0; i < 3; ++i)
        set_time(paths[i], now - 1000 * (3 - (time_t)i));
    fill_folder(last, small_plan(sizes[3]), paths[3]);
    assert_int_equal(stat(paths[3], &status), 0);
    snprintf(paths[3], PATH_SIZE, "%s", join(folder, strrchr(paths[3], '/') + 1));

    /* One file exceeds the limit. */
    desc = described_context(folder);
    desc.cache_limit = bytes_of(folder) + (size_t)status.st_size / 2;
    context = open_described(&desc);
    expect_works(context, small_plan(sizes[3]));
    ipt_context_destroy(context);
    assert_true(bytes_of(folder) <= desc.cache_limit);
    for (i = 0; i < 4; ++i)
        if (access(paths[i], F_OK) != (i ? 0 : -1))
            fail_msg("file %zu of 4 is %s", i, i ? "gone" : "left");

    /* A limit that keeps two of the old entries, then one that keeps none. */
    for (oldest = 2; oldest <= 4; oldest += 2) {
        size_t room = 0;
        for (i = oldest; i < 4; ++i)
            if (!stat(paths[i], &status))
                room += (size_t)status.st_size;
        desc.cache_limit = room + 1000;
        context = open_described(&desc);
        expect_works(context, small_plan(oldest == 2 ? 1 : 12)); /* a new program, which need not fit */
        ipt_context_destroy(context);
        if (bytes_of(folder) > desc.cache_limit)
            fail_msg("%zu bytes, the limit is %zu", bytes_of(folder), desc.cache_limit);
        for (i = 0; i < 2; ++i)
            assert_int_equal(access(paths[i], F_OK), -1);
    }
    expect_whole_folder(folder);
}

#define SOME_HASH "0123456789abcdef0123456789abcdef"

/* Makes a file that is two hours old. */
static void make_old(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    if (bytes > strlen(text))
        assert_int_equal(truncate(path, (off_t)bytes), 0);
    set_time(path, time(NULL) - 7200);
}

/* ipt counts and removes only files of its own. */
static void cache_foreign_files(void **state)
{
    static const char *const foreign[] = {
        "scan.ipt",
        "0123456789abcdef0123456789abcde.ipt",  /* one digit too few */
        SOME_HASH "0.ipt",                      /* one digit too many */
        "0123456789ABCDEF0123456789ABCDEF.ipt", /* not a name that ipt writes */
        "0123456789abcdef0123456789abcdeg.ipt", /* not a digit */
        "x" SOME_HASH ".ipt",
        SOME_HASH ".ipt.txt",
        SOME_HASH ".ipt", /* not an entry */
        "notes.ipt.tmp",
        SOME_HASH ".ipt.tmp",
        "12-" SOME_HASH ".ipt.tmp",
        "12-x-" SOME_HASH ".ipt.tmp",
        "12-0-" SOME_HASH "0.ipt.tmp",
        "1b-0-" SOME_HASH ".ipt.tmp", /* a name that ipt writes, with foreign content */
        "-0-" SOME_HASH ".ipt.tmp",
    };
    static const char *const unfinished[] = {"1a2b-0-" SOME_HASH ".ipt.tmp", "ffffffff-3e7-" SOME_HASH ".ipt.tmp",
                                             "1-1-" SOME_HASH ".ipt.tmp"};
    static const char *const begun[] = {"iptcache and more", "ipt", ""};
    const char *folder = in_root("folder"), *target = in_root("target");
    const char *link = join(folder, "ffffffffffffffffffffffffffffffff.ipt");
    char path[PATH_SIZE], second[PATH_SIZE];
    ipt_context_desc desc = described_context(folder);
    ipt_context *context;
    struct stat status;
    size_t i, ours;
    (void)state;
    fill_folder(folder, small_plan(8), path);
    ours = bytes_of(folder);
    make_old(target, "somebody's", 1000);
    assert_int_equal(symlink(target, link), 0);
    for (i = 0; i < TEST_COUNT(foreign); ++i)
        make_old(join(folder, foreign[i]), "somebody's work", 10 * ours);
    for (i = 0; i < TEST_COUNT(unfinished); ++i)
        make_old(join(folder, unfinished[i]), begun[i], 0);

    /* A limit for two entries, if foreign files do not count. */
    desc.cache_limit = 4 * ours;
    context = open_described(&desc);
    expect_works(context, small_plan(2));
    ipt_context_destroy(context);
    assert_int_equal(access(path, F_OK), 0);
    for (i = 0; i < TEST_COUNT(unfinished); ++i)
        assert_int_equal(access(join(folder, unfinished[i]), F_OK), -1);

    /* A limit for no entry. */
    set_time(path, time(NULL) - 9000);
    desc.cache_limit = 1;
    context = open_described(&desc);
    expect_works(context, small_plan(4));
    ipt_context_destroy(context);
    assert_int_equal(access(path, F_OK), -1);
    fill_folder(folder, small_plan(8), second);
    for (i = 0; i < TEST_COUNT(foreign); ++i)
        if (stat(join(folder, foreign[i]), &status) || (size_t)status.st_size != 10 * ours)
            fail_msg("%s is gone", foreign[i]);
    assert_int_equal(lstat(link, &status), 0);
    assert_int_equal(access(target, F_OK), 0);
}

/* Storing a file lists the folder once, whatever the number of files. */
static void cache_many_files(void **state)
{
    enum { MANY = 5000 };
    const char *folder = in_root("folder");
    ipt_context_desc desc = described_context(folder);
    ipt_context *context;
    struct timespec begin, end;
    size_t left = 0;
    int before;
    DIR *list;
    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    for (int i = 0; i < MANY; ++i) {
        char name[64], path[PATH_SIZE];
        snprintf(name, sizeof name, "%032x.ipt", i);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        make_old(path, "iptcache", 100);
    }
    desc.cache_limit = 1000;
    context = open_described(&desc);
    before = listings;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    expect_works(context, small_plan(8));
    clock_gettime(CLOCK_MONOTONIC, &end);
    ipt_context_destroy(context);
    print_message("%d files: %.3f seconds, listed %d times\n", MANY,
                  (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec),
                  listings - before);
    list = opendir(folder);
    assert_non_null(list);
    while (readdir(list))
        ++left;
    closedir(list);
    assert_in_range(left, 2, 14);
    assert_in_range(listings - before, 1, 10);
}

/* Leaves the file of a process that died while it wrote an entry into folder. Returns the file's name, or "". */
static void die_while_writing(const char *folder, content entry, char *name)
{
    file_names before = list_folder(folder), after;
    size_t i, j;
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGXFSZ, SIG_DFL);
        limit_files(1000);
        ipt_cache_store(folder, entry.bytes, entry.size);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    *name = 0;
    after = list_folder(folder);
    for (i = 0; i < after.count; ++i) {
        for (j = 0; j < before.count && strcmp(after.name[i], before.name[j]); ++j)
            ;
        if (j == before.count) {
            assert_false(is_entry_name(after.name[i]));
            snprintf(name, PATH_SIZE, "%s", join(folder, after.name[i]));
        }
    }
}

/* Temporary files of writers that died long ago are removed. Recent ones stay. ipt uses neither. */
static void cache_stale_temporaries(void **state)
{
    const char *folder = in_root("folder");
    char path[PATH_SIZE], stale[PATH_SIZE], fresh[PATH_SIZE];
    content entry;
    (void)state;
    fill_folder(in_root("other"), small_plan(4), path);
    entry = read_content(path);
    assert_true(entry.size > 1000);
    assert_int_equal(use_folder(folder, small_plan(8)).sources, 1);
    die_while_writing(folder, entry, stale);
    if (!*stale) /* no file remains */
        test_skip("a killed writer left no file");
    set_time(stale, time(NULL) - 366 * 24 * 3600);
    die_while_writing(folder, entry, fresh);
    assert_string_not_equal(stale, fresh);
    assert_int_equal(access(fresh, F_OK), 0);
    expect_folder_misses(folder, "half a file", 0);
    assert_int_equal(use_folder(folder, small_plan(4)).sources, 1);
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(fresh, F_OK), 0);
    assert_int_equal(use_folder(folder, cached_only(small_plan(4))).sources, 0);
    free(entry.bytes);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Processes and threads */
/* ------------------------------------------------------------------------------------------------------------------ */

static pid_t start_tool(void)
{
    const char *const words[] = {process_tool(), "plan", "37x23:4",          "--sequence", "two-pass",
                                 "--tile-m",     "5",    "--no-cooperative", NULL};
    const process_setup setup = {.output = -1, .errors = STDERR_FILENO};
    return process_start(words, &setup);
}

static void cache_processes(void **state)
{
    static const int counts[] = {2, 10};
    size_t alone, i;
    (void)state;
    use_folder(in_root("alone"), large_plan());
    alone = expect_whole_folder(in_root("alone"));
    for (i = 0; i < TEST_COUNT(counts); ++i) {
        const char *folder = in_root(i ? "ten" : "two");
        pid_t children[10];
        int j, status;
        setenv("IPT_CACHE_DIR", folder, 1);
        for (j = 0; j < counts[i]; ++j)
            children[j] = start_tool();
        for (j = 0; j < counts[i]; ++j) {
            assert_int_equal(waitpid(children[j], &status, 0), children[j]);
            if (status)
                fail_msg("process %d of %d: status %#x", j, counts[i], (unsigned)status);
        }
        setenv("IPT_CACHE_DIR", "none", 1);
        assert_int_equal(expect_whole_folder(folder), alone);
        assert_int_equal(use_folder(folder, cached_only(large_plan())).sources, 0);
    }
}

static void wait_nanoseconds(uint64_t nanoseconds)
{
    struct timespec time;
    time.tv_sec = (time_t)(nanoseconds / 1000000000);
    time.tv_nsec = (long)(nanoseconds % 1000000000);
    nanosleep(&time, NULL);
}

static uint64_t clock_nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Checks that every file with a program's name is complete. Returns the number of other files. */
static size_t count_leftovers(const char *folder)
{
    const file_names files = list_folder(folder);
    size_t i, leftovers = 0;
    for (i = 0; i < files.count; ++i) {
        content file;
        if (!is_entry_name(files.name[i])) {
            ++leftovers;
            continue;
        }
        file = read_content(join(folder, files.name[i]));
        if (fault_of(file))
            fail_msg("%s is not whole: %s", files.name[i], fault_of(file));
        free(file.bytes);
    }
    return leftovers;
}

static void cache_killed_while_storing(void **state)
{
    static const size_t sizes[] = {4, 8, 16};
    content entries[3];
    size_t stored = 0, i;
    (void)state;
    for (i = 0; i < 3; ++i) {
        char path[PATH_SIZE];
        fill_folder(in_root("good"), small_plan(sizes[i]), path);
        entries[i] = read_content(path);
    }
    for (i = 0; i < 20; ++i) {
        char folder[PATH_SIZE];
        const uint64_t wait = 2000000 + test_random() % 60000000;
        pid_t child;
        size_t j;
        int status;
        snprintf(folder, sizeof folder, "%s/killed%zu", root, i);
        assert_int_equal(mkdir(folder, 0700), 0);
        child = fork();
        assert_true(child >= 0);
        if (!child)
            for (j = 0;; ++j) { /* each entry twice: as a new file, and over the existing one */
                char fresh[PATH_SIZE + 32];
                snprintf(fresh, sizeof fresh, "%s/%zu", folder, j / 6);
                if (ipt_cache_store(fresh, entries[j % 3].bytes, entries[j % 3].size))
                    _exit(1);
                if (j / 6 + 1 == FILES_MAX)
                    j = 0;
            }
        wait_nanoseconds(wait);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        for (j = 0; j < FILES_MAX; ++j) {
            const char *path;
            char number[32];
            snprintf(number, sizeof number, "%zu", j);
            path = join(folder, number);
            if (access(path, F_OK))
                break;
            ++stored;
            count_leftovers(path);
            if (i < 3 && j == 0) {
                ipt_context *context = open_context(path);
                expect_works(context, small_plan(4));
                expect_works(context, small_plan(8));
                ipt_context_destroy(context);
                assert_int_equal(use_folder(path, cached_only(small_plan(4))).sources, 0);
            }
        }
        folder_remove(folder);
    }
    assert_true(stored >= 10);
    for (i = 0; i < 3; ++i)
        free(entries[i].bytes);
}

static void cache_killed_while_planning(void **state)
{
    const char *folder = in_root("folder");
    uint64_t whole_run;
    int i, status;
    (void)state;
    setenv("IPT_CACHE_DIR", in_root("unharmed"), 1);
    whole_run = clock_nanoseconds();
    assert_int_equal(waitpid(start_tool(), &status, 0) > 0 && status == 0, 1);
    whole_run = clock_nanoseconds() - whole_run;
    setenv("IPT_CACHE_DIR", folder, 1);
    for (i = 1; i <= 8; ++i) {
        const pid_t child = start_tool();
        wait_nanoseconds(whole_run * (uint64_t)i / 9);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        count_leftovers(folder);
    }
    setenv("IPT_CACHE_DIR", "none", 1);
    use_folder(folder, large_plan());
    assert_int_equal(use_folder(folder, cached_only(large_plan())).sources, 0);
}

enum { THREADS = 8 };

typedef struct thread_work {
    ipt_context *context;
    pthread_barrier_t *start;
    ipt_plan *plans[3];
    ipt_result results[3];
} thread_work;

static ipt_plan_desc plan_of_threads(int i)
{
    return i == 0 ? small_plan(4) : i == 1 ? large_plan() : small_plan(8);
}

static void *make_plans(void *user)
{
    thread_work *work = user;
    int i;
    pthread_barrier_wait(work->start);
    for (i = 0; i < 3; ++i) {
        const ipt_plan_desc desc = plan_of_threads(i);
        work->results[i] = ipt_plan_create(work->context, &desc, &work->plans[i]);
    }
    return NULL;
}

static void cache_threads(void **state)
{
    const char *folder = in_root("folder");
    ipt_context *context = open_context(folder);
    thread_work work[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    call_counts before = calls;
    size_t programs;
    int i, j;
    (void)state;
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    memset(work, 0, sizeof work);
    for (i = 0; i < THREADS; ++i) {
        work[i].context = context;
        work[i].start = &start;
        assert_int_equal(pthread_create(&threads[i], NULL, make_plans, &work[i]), 0);
    }
    for (i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    programs = count_programs(context);
    assert_int_equal(calls_since(before).sources, programs);
    assert_int_equal(calls_since(before).builds, programs);
    assert_true(programs > 3);
    for (i = 0; i < THREADS; ++i)
        for (j = 0; j < 3; ++j) {
            assert_int_equal(work[i].results[j], IPT_SUCCESS);
            expect_right(work[i].plans[j], plan_of_threads(j), 0);
            ipt_plan_destroy(work[i].plans[j]);
        }
    ipt_context_destroy(context);
    assert_in_range(expect_whole_folder(folder), programs, programs + 1);

    /* Run the threads again, on a folder that contains the programs. */
    before = calls;
    context = open_context(folder);
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (i = 0; i < THREADS; ++i) {
        work[i].context = context;
        assert_int_equal(pthread_create(&threads[i], NULL, make_plans, &work[i]), 0);
    }
    for (i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    assert_int_equal(calls_since(before).sources, 0);
    assert_int_equal(calls_since(before).binaries, programs);
    for (i = 0; i < THREADS; ++i)
        for (j = 0; j < 3; ++j) {
            assert_int_equal(work[i].results[j], IPT_SUCCESS);
            if (i == 0)
                expect_right(work[i].plans[j], plan_of_threads(j), 0);
            ipt_plan_destroy(work[i].plans[j]);
        }
    ipt_context_destroy(context);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Entries and binaries in memory */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct entry_set {
    content entries[16];
    char kernels[16][64]; /* "": this entry is not a program */
    size_t count;
} entry_set;

/* All entries of a new context, after it has created the plan. */
static entry_set export_all(ipt_plan_desc desc)
{
    entry_set set;
    ipt_context *context = open_context("");
    size_t i;
    memset(&set, 0, sizeof set);
    expect_works(context, desc);
    set.count = ipt_context_entry_count(context);
    assert_in_range(set.count, 2, 16);
    for (i = 0; i < set.count; ++i) {
        const char *options = NULL, *source = ipt_context_entry_source(context, i, &options);
        set.entries[i] = export_entry(context, i);
        assert_true(!source == (i + 1 == set.count)); /* the last entry is not a program */
        if (source) {
            assert_non_null(options);
            snprintf(set.kernels[i], sizeof set.kernels[i], "%s", kernel_of(source));
        }
    }
    assert_null(ipt_context_entry_source(context, set.count, NULL));
    assert_null(ipt_context_entry_source(context, ~(size_t)0, NULL));
    ipt_context_destroy(context);
    return set;
}

static void free_entries(entry_set *set)
{
    size_t i;
    for (i = 0; i < set->count; ++i)
        free(set->entries[i].bytes);
}

/* A context without a folder that has all entries except number `without`; ~0: all entries. */
static ipt_context *open_on_entries(const entry_set *set, size_t without, ipt_binary *binaries)
{
    ipt_context_desc desc = described_context("");
    size_t i;
    for (i = 0; i < set->count; ++i)
        if (i != without) {
            binaries[desc.binary_count].data = set->entries[i].bytes;
            binaries[desc.binary_count++].bytes = set->entries[i].size;
        }
    desc.binaries = binaries;
    return open_described(&desc);
}

static void cache_binaries(void **state)
{
    entry_set set = export_all(large_plan());
    ipt_binary binaries[17];
    ipt_context_desc desc;
    ipt_context *context;
    call_counts before = calls;
    unsigned char *shifted;
    size_t i;
    (void)state;
    context = open_on_entries(&set, ~(size_t)0, binaries);
    expect_works(context, cached_only(large_plan()));
    assert_int_equal(calls_since(before).sources, 0);
    EXPECT_MISS(context, small_plan(4), NULL);
    expect_works(context, small_plan(4)); /* the missing program is compiled */
    ipt_context_destroy(context);
    for (i = 0; i + 1 < set.count; ++i) {
        const ipt_plan_desc only = cached_only(large_plan());
        ipt_plan *plan = NULL;
        context = open_on_entries(&set, i, binaries);
        before = calls;
        EXPECT_ERROR(ipt_plan_create(context, &only, &plan), IPT_ERROR_CACHE_MISS, set.kernels[i]);
        assert_null(plan);
        assert_int_equal(calls_since(before).sources, 0);
        expect_works(context, large_plan());
        assert_int_equal(calls_since(before).sources, 1);
        ipt_context_destroy(context);
    }

    /* The entries at odd addresses, in another order, and each twice. */
    for (i = 0; i < set.count; ++i) {
        shifted = malloc(set.entries[i].size + 1);
        assert_non_null(shifted);
        memcpy(shifted + 1, set.entries[i].bytes, set.entries[i].size);
        binaries[set.count - 1 - i].data = shifted + 1;
        binaries[set.count - 1 - i].bytes = set.entries[i].size;
    }
    binaries[set.count] = binaries[0];
    desc = described_context("");
    desc.binaries = binaries;
    desc.binary_count = set.count + 1;
    before = calls;
    context = open_described(&desc);
    expect_works(context, cached_only(large_plan()));
    assert_int_equal(calls_since(before).sources, 0);
    ipt_context_destroy(context);
    for (i = 0; i < set.count; ++i)
        free((unsigned char *)binaries[i].data - 1);

    /* Binaries in memory have priority over the folder, which has the missing entries. */
    use_folder(in_root("folder"), small_plan(4));
    for (i = 0; i < set.count; ++i) {
        binaries[i].data = set.entries[i].bytes;
        binaries[i].bytes = set.entries[i].size;
    }
    desc.cache_dir = in_root("folder");
    desc.binary_count = set.count;
    before = calls;
    context = open_described(&desc);
    expect_works(context, cached_only(large_plan()));
    expect_works(context, cached_only(small_plan(4)));
    assert_int_equal(calls_since(before).sources, 0);
    ipt_context_destroy(context);

    desc.binaries = NULL;
    context = (ipt_context *)&desc;
    EXPECT_ERROR(ipt_context_create(&desc, &context), IPT_ERROR_INVALID_ARGUMENT, "binaries");
    assert_null(context);
    free_entries(&set);
}

/* A damaged entry in memory is a miss, or an error of the context. The driver never receives it. */
static void cache_binaries_damaged(void **state)
{
    entry_set set = export_all(small_plan(4));
    const content good = set.entries[0];
    const size_t payload = AT_KEY + (size_t)number_at(good.bytes + AT_KEY_BYTES, 4);
    ipt_binary binary;
    ipt_context_desc desc = described_context("");
    ipt_context *context;
    size_t i;
    (void)state;
    desc.binaries = &binary;
    desc.binary_count = 1;
    for (i = 0; i < 400; ++i) {
        content bad = copy_content(good);
        if (i < 100)
            bad.bytes[i < 60 ? i : test_random_between(60, payload - 1)] ^= i % 2 ? 1 : 0xff;
        else if (i < 200)
            bad.bytes[test_random_between(payload, good.size - 1)] ^= (unsigned char)(1 << i % 8);
        else { /* in memory of exactly this size: valgrind detects reads beyond the end */
            free(bad.bytes);
            bad.size = i < 300 ? i - 200 : test_random_between(0, good.size - 1);
            bad.bytes = malloc(bad.size ? bad.size : 1);
            assert_non_null(bad.bytes);
            memcpy(bad.bytes, good.bytes, bad.size);
        }
        binary.data = bad.bytes;
        binary.bytes = bad.size;
        context = open_described(&desc);
        EXPECT_MISS(context, small_plan(4), NULL);
        if (i % 50 == 0)
            expect_works(context, small_plan(4));
        ipt_context_destroy(context);
        free(bad.bytes);
    }
    binary.data = good.bytes;
    binary.bytes = good.size;
    context = open_described(&desc);
    expect_works(context, cached_only(small_plan(4)));
    ipt_context_destroy(context);
    free_entries(&set);
}

static void cache_entry_arguments(void **state)
{
    ipt_context *context = open_context("");
    static unsigned char place[16];
    size_t bytes = 0, told = 0, count, i;
    unsigned char *room;
    (void)state;
    expect_works(context, small_plan(4));
    count = ipt_context_entry_count(context);
    EXPECT_ERROR(ipt_context_entry(context, 0, NULL, NULL, 0, NULL, 0, &bytes), IPT_SUCCESS, NULL);
    room = calloc(1, bytes + 1);
    assert_non_null(room);
    for (i = 0; i < 3; ++i) {
        const size_t capacity = i == 0 ? 1 : i == 1 ? bytes / 2 : bytes - 1;
        told = 0;
        memset(room, 0xa5, bytes + 1);
        EXPECT_ERROR(ipt_context_entry(context, 0, NULL, NULL, 0, room, capacity, &told), IPT_ERROR_INVALID_ARGUMENT,
                     "capacity");
        assert_true(told > capacity && told <= bytes);
        assert_int_equal(room[capacity], 0xa5);
    }
    EXPECT_ERROR(ipt_context_entry(context, 0, NULL, NULL, 0, room, bytes, &told), IPT_SUCCESS, NULL);
    assert_int_equal(room[bytes], 0xa5);
    EXPECT_ERROR(ipt_context_entry(context, count, NULL, NULL, 0, NULL, 0, &bytes), IPT_ERROR_INVALID_ARGUMENT,
                 "index");
    EXPECT_ERROR(ipt_context_entry(NULL, 0, NULL, NULL, 0, NULL, 0, &bytes), IPT_ERROR_INVALID_ARGUMENT, "context");
    EXPECT_ERROR(ipt_context_entry(context, 0, "none such", place, sizeof place, NULL, 0, &bytes),
                 IPT_ERROR_INVALID_ARGUMENT, "target");
    EXPECT_ERROR(ipt_context_entry(context, 0, "spirv", NULL, 0, NULL, 0, &bytes), IPT_ERROR_INVALID_ARGUMENT, "code");
    EXPECT_ERROR(ipt_context_entry(context, 0, NULL, place, sizeof place, NULL, 0, &bytes), IPT_ERROR_INVALID_ARGUMENT,
                 "target");
    free(room);
    ipt_context_destroy(context);
}

static void cache_store(void **state)
{
    entry_set set = export_all(large_plan());
    const content entry = set.entries[0];
    const char *folder = in_root("x/y");
    struct stat status;
    file_names files;
    content stored;
    size_t i;
    (void)state;
    EXPECT_ERROR(ipt_cache_store(NULL, entry.bytes, entry.size), IPT_ERROR_INVALID_ARGUMENT, "folder");
    EXPECT_ERROR(ipt_cache_store("", entry.bytes, entry.size), IPT_ERROR_INVALID_ARGUMENT, "folder");
    EXPECT_ERROR(ipt_cache_store(folder, NULL, entry.size), IPT_ERROR_INVALID_ARGUMENT, "entry");
    EXPECT_ERROR(ipt_cache_store(folder, entry.bytes, 0), IPT_ERROR_INVALID_ARGUMENT, NULL);
    for (i = 0; i < 300; ++i) {
        content bad = copy_content(entry);
        if (i < 100)
            bad.size = i < 60 ? i : test_random_between(60, entry.size - 1);
        else
            bad.bytes[i < 200 ? i - 100 : test_random_between(100, entry.size - 1)] ^= (unsigned char)(1 << i % 8);
        EXPECT_ERROR(ipt_cache_store(folder, bad.bytes, bad.size), IPT_ERROR_INVALID_ARGUMENT, NULL);
        free(bad.bytes);
    }
    assert_int_equal(list_folder(folder).count, 0);
    EXPECT_ERROR(ipt_cache_store(folder, entry.bytes, entry.size), IPT_SUCCESS, NULL);
    for (i = 0; i < 2; ++i) {
        assert_int_equal(stat(in_root(i ? "x/y" : "x"), &status), 0);
        assert_int_equal(status.st_mode & 07777, 0700);
    }
    files = list_folder(folder);
    assert_int_equal(files.count, 1);
    stored = read_content(join(folder, files.name[0]));
    assert_int_equal(stored.size, entry.size);
    assert_memory_equal(stored.bytes, entry.bytes, entry.size);
    free(stored.bytes);
    write_content(join(folder, files.name[0]), "damaged", 7);
    for (i = 0; i < set.count; ++i)
        EXPECT_ERROR(ipt_cache_store(folder, set.entries[i].bytes, set.entries[i].size), IPT_SUCCESS, NULL);
    assert_int_equal(expect_whole_folder(folder), set.count);
    assert_int_equal(use_folder(folder, cached_only(large_plan())).sources, 0);
    assert_int_equal(expect_whole_folder(folder), set.count); /* contexts use these file names */

    /* A folder that other users can write. */
    assert_int_equal(chmod(folder, 0777), 0);
    EXPECT_ERROR(ipt_cache_store(folder, entry.bytes, entry.size), IPT_ERROR_UNSUPPORTED, NULL);
    free_entries(&set);
}

/* ipt_cache_entry packs another compiler's code for an absent target unchanged. */
static void cache_entry_for_another_target(void **state)
{
    static const char code[] = "not really code";
    static const char *const targets[] = {"ptx:sm_20", "bitcode", "spirv", "amdgcn:gfx000"};
    ipt_context *context = open_context("");
    ipt_binary binaries[TEST_COUNT(targets)];
    content own, entries[TEST_COUNT(targets)];
    ipt_context_desc desc = described_context("");
    size_t i, j;
    (void)state;
    expect_works(context, small_plan(4));
    own = export_entry(context, 0);
    for (i = 0; i < TEST_COUNT(targets); ++i) {
        size_t bytes = 0;
        EXPECT_ERROR(ipt_context_entry(context, 0, targets[i], code, sizeof code, NULL, 0, &bytes), IPT_SUCCESS, NULL);
        entries[i] = make_content(bytes);
        EXPECT_ERROR(ipt_context_entry(context, 0, targets[i], code, sizeof code, entries[i].bytes, bytes, &bytes),
                     IPT_SUCCESS, NULL);
        assert_int_equal(bytes, entries[i].size);
        assert_null(fault_of(entries[i]));
        assert_true(number_at(entries[i].bytes + AT_PAYLOAD_BYTES, 8) >= sizeof code);
        assert_memory_equal(entries[i].bytes + bytes - sizeof code, code, sizeof code);
        assert_false(same_key(entries[i], own));
        for (j = 0; j < i; ++j)
            assert_false(same_key(entries[i], entries[j]));
        EXPECT_ERROR(ipt_cache_store(in_root("folder"), entries[i].bytes, bytes), IPT_SUCCESS, NULL);
        binaries[i].data = entries[i].bytes;
        binaries[i].bytes = bytes;
    }
    ipt_context_destroy(context);
    assert_int_equal(expect_whole_folder(in_root("folder")), TEST_COUNT(targets));
    /* Only NVIDIA's driver may receive the program for ptx:sm_20. PoCL accepts bitcode, so the bitcode is left out. */
    binaries[1] = binaries[3];
    desc.binaries = binaries;
    desc.binary_count = 3;
    context = open_described(&desc);
    expect_works(context, small_plan(4));
    ipt_context_destroy(context);
    for (i = 0; i < TEST_COUNT(targets); ++i)
        free(entries[i].bytes);
    free(own.bytes);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Profiles */
/* ------------------------------------------------------------------------------------------------------------------ */

static char *profile_of(ipt_context *context)
{
    size_t bytes = 0, again = 0;
    char *text, few[8];
    memset(few, '#', sizeof few);
    EXPECT_ERROR(ipt_context_profile(context, few, sizeof few - 1, &bytes), IPT_ERROR_INVALID_ARGUMENT, "capacity");
    assert_true(bytes > sizeof few && few[sizeof few - 1] == '#');
    text = malloc(bytes + 1);
    assert_non_null(text);
    text[bytes] = '#';
    EXPECT_ERROR(ipt_context_profile(context, text, bytes - 1, NULL), IPT_ERROR_INVALID_ARGUMENT, "capacity");
    EXPECT_ERROR(ipt_context_profile(context, text, bytes, &again), IPT_SUCCESS, NULL);
    assert_int_equal(again, bytes);
    assert_int_equal(strlen(text) + 1, bytes);
    assert_int_equal(text[bytes], '#');
    return text;
}

static ipt_result try_profile(const char *text, ipt_context **context)
{
    ipt_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.cache_dir = "";
    desc.profile = text;
    return ipt_context_create(&desc, context);
}

static ipt_context *open_profile(const char *text)
{
    ipt_context *context = NULL;
    EXPECT_ERROR(try_profile(text, &context), IPT_SUCCESS, NULL);
    assert_non_null(context);
    return context;
}

static void cache_profile_makes_the_same_plans(void **state)
{
    static const size_t elem_sizes[] = {4, 8, 3};
    ipt_context_desc given = described_context("");
    ipt_context *real, *planning;
    char *text, *again;
    int i;
    (void)state;
    given.resident_groups = 8; /* counts vary if the device has other work */
    real = open_described(&given);
    text = profile_of(real);
    planning = open_profile(text);
    assert_null(ipt_context_cl_device(planning));
    assert_null(ipt_context_cl_context(planning));
    for (i = 0; i < 24; ++i) {
        ipt_plan_desc desc = small_plan(elem_sizes[i % 3]);
        const size_t limit = i % 4 == 0 ? 60 : 1200;
        call_counts before;
        ipt_plan *one, *two;
        const char *source;
        size_t s;
        desc.rows = test_random_between(2, limit);
        desc.cols = i % 5 == 0 ? desc.rows : test_random_between(2, limit);
        desc.batch = i % 6 == 0 ? test_random_between(2, 5) : 1;
        desc.flags = i % 2 ? IPT_NO_COOPERATIVE : 0;
        desc.max_workspace = i % 7 == 0 ? 1 : 0;
        one = open_plan(real, desc);
        before = calls;
        two = open_plan(planning, desc);
        assert_true(calls_since(before).sources == 0 && calls_since(before).binaries == 0);
        assert_string_equal(ipt_plan_describe(one), ipt_plan_describe(two));
        assert_int_equal(ipt_plan_workspace(one), ipt_plan_workspace(two));
        for (s = 0; (source = ipt_plan_source(one, s)); ++s)
            assert_string_equal(source, ipt_plan_source(two, s));
        assert_null(ipt_plan_source(two, s));
        ipt_plan_destroy(two);
        ipt_plan_destroy(one);
    }
    again = profile_of(planning);
    assert_string_equal(again, text);
    free(again);
    free(text);
    ipt_context_destroy(planning);
    ipt_context_destroy(real);
}

/* Plans without a device cannot be executed. Their programs have sources, but no code. */
static void cache_profile_executes_nothing(void **state)
{
    ipt_context *real = open_context(""), *planning;
    char *text = profile_of(real);
    ipt_plan_desc desc = small_plan(4);
    static unsigned char data[24 * 20 * 4], before[24 * 20 * 4];
    ipt_plan *plan;
    cl_mem buffer;
    cl_int error;
    size_t bytes = 0;
    cl_event event = (cl_event)(void *)&bytes;
    (void)state;
    planning = open_profile(text);
    ipt_context_destroy(real);
    plan = open_plan(planning, desc);
    test_fill(data, sizeof data);
    memcpy(before, data, sizeof data);
    buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, 2 * sizeof data, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    EXPECT_ERROR(ipt_plan_execute(plan, test_queue, buffer, 0, 0, NULL, &event), IPT_ERROR_UNSUPPORTED, NULL);
    assert_null(event);
    EXPECT_ERROR(ipt_plan_execute_out_of_place(plan, test_queue, buffer, 0, buffer, sizeof data, 0, NULL, NULL),
                 IPT_ERROR_UNSUPPORTED, NULL);
    EXPECT_ERROR(ipt_plan_execute_host(plan, data), IPT_ERROR_UNSUPPORTED, NULL);
    assert_memory_equal(data, before, sizeof data);
    clReleaseMemObject(buffer);

    assert_int_equal(ipt_context_entry_count(planning), 2); /* the last entry describes the device of the profile */
    assert_string_equal(ipt_context_entry_source(planning, 0, NULL), ipt_plan_source(plan, 0));
    EXPECT_ERROR(ipt_context_entry(planning, 0, NULL, NULL, 0, NULL, 0, &bytes), IPT_ERROR_UNSUPPORTED, NULL);
    EXPECT_ERROR(ipt_context_entry(planning, 1, NULL, NULL, 0, NULL, 0, &bytes), IPT_SUCCESS, NULL);
    EXPECT_ERROR(ipt_context_entry(planning, 2, NULL, NULL, 0, NULL, 0, &bytes), IPT_ERROR_INVALID_ARGUMENT, "index");
    EXPECT_ERROR(ipt_context_entry(planning, 0, "spirv", "code", 4, NULL, 0, &bytes), IPT_SUCCESS, NULL);
    ipt_plan_destroy(plan);
    ipt_context_trim(planning);
    assert_int_equal(ipt_context_entry_count(planning), 1);
    EXPECT_ERROR(ipt_context_entry(planning, 0, NULL, NULL, 0, NULL, 0, &bytes), IPT_SUCCESS, NULL);
    ipt_context_destroy(planning);
    free(text);
}

enum { LINE_REMOVED, LINE_DOUBLED, LINE_UNKNOWN, NUMBER_A_WORD, NUMBER_NEGATIVE, NUMBER_HUGE, EDITS };

/* Returns a copy of text with its index-th line changed. NULL if the line is missing or the change does not apply. */
static char *edited(const char *text, size_t index, int edit)
{
    static const char *const in_place_of_number[] = {"", "", "", "word", "-1", "99999999999999999999999"};
    const char *line = text, *end, *digits;
    char *out = malloc(2 * strlen(text) + 100);
    assert_non_null(out);
    while (index-- && line)
        line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    if (!line || !*line) {
        free(out);
        return NULL;
    }
    end = line + strcspn(line, "\n") + 1;
    digits = line + strcspn(line, "0123456789");
    if (edit == LINE_REMOVED)
        sprintf(out, "%.*s%s", (int)(line - text), text, end);
    else if (edit == LINE_DOUBLED)
        sprintf(out, "%.*s%s", (int)(end - text), text, line);
    else if (edit == LINE_UNKNOWN)
        sprintf(out, "%.*sunknown 1\n%s", (int)(line - text), text, line);
    else if (digits < end)
        sprintf(out, "%.*s%s%s", (int)(digits - text), text, in_place_of_number[edit],
                digits + strspn(digits, "0123456789"));
    else {
        free(out);
        return NULL;
    }
    return out;
}

static int starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* Whether the line may contain any text. */
static int is_free_text(const char *text, size_t index)
{
    while (index--)
        text = strchr(text, '\n') + 1;
    return starts_with(text, "device ") || starts_with(text, "vendor ") || starts_with(text, "driver ") ||
           starts_with(text, "platform ");
}

static void cache_profile_damaged(void **state)
{
    ipt_context *context = open_context("");
    char *text = profile_of(context), *bad;
    const size_t length = strlen(text);
    size_t index, cut;
    int edit, edits = 0;
    ipt_context_desc desc = described_context("");
    (void)state;
    ipt_context_destroy(context);
    ipt_context_destroy(open_profile(text));
    for (index = 0;; ++index) {
        if (!(bad = edited(text, index, LINE_REMOVED)))
            break;
        free(bad);
        for (edit = 0; edit < EDITS; ++edit) {
            char where[32];
            if ((edit >= NUMBER_A_WORD && is_free_text(text, index)) || !(bad = edited(text, index, edit)))
                continue;
            /* The error reports the number of the wrong line. */
            snprintf(where, sizeof where, "line %zu", index + 1 + (edit == LINE_DOUBLED));
            context = (ipt_context *)&desc;
            if (try_profile(bad, &context) != IPT_ERROR_INVALID_ARGUMENT || context ||
                !test_mentions(ipt_context_error(NULL), where))
                fail_msg("line %zu, edit %d: %s\n%s", index + 1, edit, ipt_context_error(NULL), bad);
            ++edits;
            free(bad);
        }
    }
    assert_true(index > 5 && (size_t)edits > 4 * index);
    bad = malloc(length + 200);
    assert_non_null(bad);
    for (cut = 0; cut + 1 < length; ++cut) { /* a text without the last newline is valid */
        memcpy(bad, text, cut);
        bad[cut] = 0;
        EXPECT_ERROR(try_profile(bad, &context), IPT_ERROR_INVALID_ARGUMENT, "line");
    }
    sprintf(bad, "%smore\n", text);
    EXPECT_ERROR(try_profile(bad, &context), IPT_ERROR_INVALID_ARGUMENT, "line");

    /* A desc with a profile must not have a device. */
    desc.profile = text;
    EXPECT_ERROR(ipt_context_create(&desc, &context), IPT_ERROR_INVALID_ARGUMENT, "profile");
    EXPECT_ERROR(ipt_context_profile(NULL, bad, length, NULL), IPT_ERROR_INVALID_ARGUMENT, "context");
    free(bad);
    free(text);
}

const struct CMUnitTest test_cache[] = {
    CACHE_CASE(cache_checksum_of_this_test),
    CACHE_CASE(cache_files_as_documented),
    CACHE_CASE(cache_second_context),
    CACHE_CASE(cache_expressions),
    CACHE_CASE(cache_miss_names_kernel_and_device),
    CACHE_CASE(cache_environment),
    CACHE_CASE(cache_other_letters),
    CACHE_CASE(cache_user_folder),
    CACHE_CASE(cache_out_of_place),
    CACHE_CASE(cache_out_of_place_is_asked_for_early),
    CACHE_CASE(cache_trim),
    CACHE_CASE(cache_truncated),
    CACHE_CASE(cache_flipped),
    CACHE_CASE(cache_damaged_is_replaced),
    CACHE_CASE(cache_not_a_file),
    CACHE_CASE(cache_not_trusted),
    CACHE_CASE(cache_other_driver),
    CACHE_CASE(cache_refused_by_driver),
    CACHE_CASE(cache_of_another_kernel),
    CACHE_CASE(cache_without_compiler),
    CACHE_CASE(cache_unwritable),
    CACHE_CASE(cache_disk_full),
    CACHE_CASE(cache_folder_vanishes),
    CACHE_CASE(cache_limit),
    CACHE_CASE(cache_foreign_files),
    CACHE_CASE(cache_many_files),
    CACHE_CASE(cache_stale_temporaries),
    CACHE_CASE(cache_processes),
    CACHE_CASE(cache_killed_while_storing),
    CACHE_CASE(cache_killed_while_planning),
    CACHE_CASE(cache_threads),
    CACHE_CASE(cache_binaries),
    CACHE_CASE(cache_binaries_damaged),
    CACHE_CASE(cache_entry_arguments),
    CACHE_CASE(cache_store),
    CACHE_CASE(cache_entry_for_another_target),
    CACHE_CASE(cache_profile_makes_the_same_plans),
    CACHE_CASE(cache_profile_executes_nothing),
    CACHE_CASE(cache_profile_damaged),
};
const size_t test_cache_count = TEST_COUNT(test_cache);
