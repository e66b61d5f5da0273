/* Counters for tests/random/soak.c: ipt's OpenCL objects and blocks of memory, and the memory, handles and threads of
 * the process. Defines IPT_ENTRY_POINT: include this header before ipt.h's implementation. */
#ifndef SOAK_H_INCLUDED
#define SOAK_H_INCLUDED

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* X(enumerator, name). Unreleased objects: created or retained, and not released. */
#define SOAK_HELD_LIST(X)                                                                                              \
    X(CONTEXTS, "contexts")                                                                                            \
    X(QUEUES, "queues")                                                                                                \
    X(BUFFERS, "buffers")                                                                                              \
    X(DEVICE, "bytes of buffers")                                                                                      \
    X(PROGRAMS, "programs")                                                                                            \
    X(KERNELS, "kernels")                                                                                              \
    X(EVENTS, "events")                                                                                                \
    X(BLOCKS, "blocks of memory")                                                                                      \
    X(BYTES, "bytes of memory")

#define SOAK_HELD_ENUMERATOR(name, text) SOAK_##name,
#define SOAK_HELD_NAME(name, text) text,
typedef enum soak_kind { SOAK_HELD_LIST(SOAK_HELD_ENUMERATOR) SOAK_HELD_COUNT } soak_kind;
static const char *const soak_held_names[] = {SOAK_HELD_LIST(SOAK_HELD_NAME)};

static pthread_mutex_t soak_held_lock = PTHREAD_MUTEX_INITIALIZER;
static long soak_held[SOAK_HELD_COUNT];
static size_t soak_programs_made, soak_programs_compiled; /* made: compiled or loaded */

static void soak_change(soak_kind kind, long by)
{
    pthread_mutex_lock(&soak_held_lock);
    soak_held[kind] += by;
    soak_programs_made += kind == SOAK_PROGRAMS && by > 0;
    pthread_mutex_unlock(&soak_held_lock);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Counted OpenCL. soak.c itself calls these functions for events that it exchanges with ipt */
/* ------------------------------------------------------------------------------------------------------------------ */

#define SOAK_CREATES(type, kind, name, parameters, arguments)                                                          \
    static type CL_API_CALL soak_##name parameters                                                                     \
    {                                                                                                                  \
        const type made = name arguments;                                                                              \
        soak_change(kind, made != NULL);                                                                               \
        return made;                                                                                                   \
    }
SOAK_CREATES(cl_context, SOAK_CONTEXTS, clCreateContext,
             (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
              void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *error),
             (properties, count, devices, notify, user, error))
SOAK_CREATES(cl_command_queue, SOAK_QUEUES, clCreateCommandQueue,
             (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *error),
             (context, device, properties, error))
SOAK_CREATES(cl_program, SOAK_PROGRAMS, clCreateProgramWithBinary,
             (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
              const unsigned char **codes, cl_int *states, cl_int *error),
             (context, count, devices, lengths, codes, states, error))
SOAK_CREATES(cl_kernel, SOAK_KERNELS, clCreateKernel, (cl_program program, const char *name, cl_int *error),
             (program, name, error))
SOAK_CREATES(cl_event, SOAK_EVENTS, clCreateUserEvent, (cl_context context, cl_int *error), (context, error))

static cl_mem CL_API_CALL soak_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                              cl_int *error)
{
    const cl_mem made = clCreateBuffer(context, flags, bytes, host, error);
    soak_change(SOAK_BUFFERS, made != NULL);
    soak_change(SOAK_DEVICE, made && !(flags & CL_MEM_USE_HOST_PTR) ? (long)bytes : 0);
    return made;
}

/* ipt never retains buffers: a release ends them. */
static cl_int CL_API_CALL soak_clReleaseMemObject(cl_mem buffer)
{
    size_t bytes = 0;
    void *host = NULL;
    cl_int error;
    clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    clGetMemObjectInfo(buffer, CL_MEM_HOST_PTR, sizeof host, &host, NULL);
    error = clReleaseMemObject(buffer);
    soak_change(SOAK_BUFFERS, error ? 0 : -1);
    soak_change(SOAK_DEVICE, error || host ? 0 : -(long)bytes);
    return error;
}

static cl_program CL_API_CALL soak_clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                                             const size_t *lengths, cl_int *error)
{
    const cl_program made = clCreateProgramWithSource(context, count, texts, lengths, error);
    soak_change(SOAK_PROGRAMS, made != NULL);
    pthread_mutex_lock(&soak_held_lock);
    soak_programs_compiled += made != NULL;
    pthread_mutex_unlock(&soak_held_lock);
    return made;
}

#define SOAK_HOLDS(type, kind, name, by)                                                                               \
    static cl_int CL_API_CALL soak_##name(type object)                                                                 \
    {                                                                                                                  \
        const cl_int error = name(object);                                                                             \
        soak_change(kind, error ? 0 : by);                                                                             \
        return error;                                                                                                  \
    }
SOAK_HOLDS(cl_context, SOAK_CONTEXTS, clRetainContext, 1)
SOAK_HOLDS(cl_context, SOAK_CONTEXTS, clReleaseContext, -1)
SOAK_HOLDS(cl_command_queue, SOAK_QUEUES, clReleaseCommandQueue, -1)
SOAK_HOLDS(cl_program, SOAK_PROGRAMS, clReleaseProgram, -1)
SOAK_HOLDS(cl_kernel, SOAK_KERNELS, clReleaseKernel, -1)
SOAK_HOLDS(cl_event, SOAK_EVENTS, clRetainEvent, 1)
SOAK_HOLDS(cl_event, SOAK_EVENTS, clReleaseEvent, -1)

#define SOAK_WAITING cl_uint count, const cl_event *list, cl_event *event
#define SOAK_ENQUEUES(name, parameters, arguments)                                                                     \
    static cl_int CL_API_CALL soak_##name parameters                                                                   \
    {                                                                                                                  \
        const cl_int error = name arguments;                                                                           \
        soak_change(SOAK_EVENTS, !error && event);                                                                     \
        return error;                                                                                                  \
    }
SOAK_ENQUEUES(clEnqueueNDRangeKernel,
              (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
               const size_t *local, SOAK_WAITING),
              (queue, kernel, dimensions, offset, global, local, count, list, event))
SOAK_ENQUEUES(clEnqueueFillBuffer,
              (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes, size_t offset,
               size_t bytes, SOAK_WAITING),
              (queue, buffer, pattern, pattern_bytes, offset, bytes, count, list, event))
SOAK_ENQUEUES(clEnqueueCopyBuffer,
              (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t bytes,
               SOAK_WAITING),
              (queue, from, to, from_offset, to_offset, bytes, count, list, event))
SOAK_ENQUEUES(clEnqueueMarkerWithWaitList, (cl_command_queue queue, SOAK_WAITING), (queue, count, list, event))
SOAK_ENQUEUES(clEnqueueUnmapMemObject, (cl_command_queue queue, cl_mem buffer, void *mapped, SOAK_WAITING),
              (queue, buffer, mapped, count, list, event))

#define SOAK_TRANSFERS(name, pointer)                                                                                  \
    SOAK_ENQUEUES(name,                                                                                                \
                  (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes, pointer data, \
                   SOAK_WAITING),                                                                                      \
                  (queue, buffer, blocking, offset, bytes, data, count, list, event))                                  \
    SOAK_ENQUEUES(name##Rect,                                                                                          \
                  (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,               \
                   const size_t *host_origin, const size_t *region, size_t row, size_t slice, size_t host_row,         \
                   size_t host_slice, pointer data, SOAK_WAITING),                                                     \
                  (queue, buffer, blocking, buffer_origin, host_origin, region, row, slice, host_row, host_slice,      \
                   data, count, list, event))
SOAK_TRANSFERS(clEnqueueWriteBuffer, const void *)
SOAK_TRANSFERS(clEnqueueReadBuffer, void *)

static void *CL_API_CALL soak_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                 cl_map_flags flags, size_t offset, size_t bytes, SOAK_WAITING,
                                                 cl_int *error)
{
    void *const mapped = clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, count, list, event, error);
    soak_change(SOAK_EVENTS, !*error && event);
    return mapped;
}

/* The other functions create no object. Retained devices need no count: a platform's devices are never released. */
#define soak_clGetPlatformIDs clGetPlatformIDs
#define soak_clGetPlatformInfo clGetPlatformInfo
#define soak_clGetExtensionFunctionAddressForPlatform clGetExtensionFunctionAddressForPlatform
#define soak_clGetDeviceIDs clGetDeviceIDs
#define soak_clGetDeviceInfo clGetDeviceInfo
#define soak_clRetainDevice clRetainDevice
#define soak_clReleaseDevice clReleaseDevice
#define soak_clGetContextInfo clGetContextInfo
#define soak_clGetCommandQueueInfo clGetCommandQueueInfo
#define soak_clGetMemObjectInfo clGetMemObjectInfo
#define soak_clGetProgramInfo clGetProgramInfo
#define soak_clBuildProgram clBuildProgram
#define soak_clGetProgramBuildInfo clGetProgramBuildInfo
#define soak_clGetKernelWorkGroupInfo clGetKernelWorkGroupInfo
#define soak_clSetKernelArg clSetKernelArg
#define soak_clSetUserEventStatus clSetUserEventStatus
#define soak_clWaitForEvents clWaitForEvents
#define soak_clGetEventInfo clGetEventInfo
#define soak_clGetEventProfilingInfo clGetEventProfilingInfo
#define soak_clFlush clFlush
#define soak_clFinish clFinish
#define IPT_ENTRY_POINT(name) soak_##name

/* ------------------------------------------------------------------------------------------------------------------ */
/* Counted memory, for ipt_context_desc.allocator: each block has its size before it */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { SOAK_HEAD = 32 };

static void *soak_take(size_t bytes, void *user)
{
    char *const block = (char *)malloc(bytes + SOAK_HEAD);
    (void)user;
    if (!block)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    soak_change(SOAK_BLOCKS, 1);
    soak_change(SOAK_BYTES, (long)bytes);
    return block + SOAK_HEAD;
}

static void soak_give(void *pointer, void *user)
{
    char *const block = (char *)pointer - SOAK_HEAD;
    size_t bytes;
    (void)user;
    if (!pointer)
        return;
    memcpy(&bytes, block, sizeof bytes);
    soak_change(SOAK_BLOCKS, -1);
    soak_change(SOAK_BYTES, -(long)bytes);
    free(block);
}

/* Waits up to five seconds until all objects are released: ipt's threads complete an event before they release the
 * event and their plan. */
static void soak_settle(void)
{
    const struct timespec pause = {0, 1000000};
    int turn, kind, left = 1;
    for (turn = 0; turn < 5000 && left; ++turn) {
        left = 0;
        pthread_mutex_lock(&soak_held_lock);
        for (kind = 0; kind < SOAK_HELD_COUNT; ++kind)
            left |= soak_held[kind] != 0;
        pthread_mutex_unlock(&soak_held_lock);
        if (left)
            nanosleep(&pause, NULL);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The process */
/* ------------------------------------------------------------------------------------------------------------------ */

/* X(enumerator, name, unit). heap: bytes of malloc that are not freed. */
#define SOAK_FIGURE_LIST(X)                                                                                            \
    X(RESIDENT, "resident memory", "KB")                                                                               \
    X(HEAP, "heap", "KB")                                                                                              \
    X(HANDLES, "open files", "")                                                                                       \
    X(THREADS, "threads", "")

#define SOAK_FIGURE_ENUMERATOR(name, text, unit) SOAK_##name,
typedef enum soak_figure { SOAK_FIGURE_LIST(SOAK_FIGURE_ENUMERATOR) SOAK_FIGURE_COUNT } soak_figure;

static void soak_keep_heap_tidy(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD,
            128 << 10); /* a fixed threshold does not grow: free() returns large blocks to the system */
#endif
}

static long soak_heap(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#if __GLIBC_PREREQ(2, 33)
    {
        const struct mallinfo2 info = mallinfo2();
        return (long)((info.uordblks + info.hblkhd) / 1024);
    }
#endif
#endif
    return 0;
}

static long soak_handles(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    long count = -3; /* not counted: ".", ".." and the open folder */
    if (!folder)
        return 0;
    while (readdir(folder))
        ++count;
    closedir(folder);
    return count;
}

static void soak_look(long figures[SOAK_FIGURE_COUNT])
{
    char line[256];
    FILE *status;
    memset(figures, 0, SOAK_FIGURE_COUNT * sizeof *figures);
    figures[SOAK_HEAP] = soak_heap();
    figures[SOAK_HANDLES] = soak_handles();
    status = fopen("/proc/self/status", "r");
    if (!status)
        return;
    while (fgets(line, sizeof line, status)) {
        sscanf(line, "VmRSS: %ld", &figures[SOAK_RESIDENT]);
        sscanf(line, "Threads: %ld", &figures[SOAK_THREADS]);
    }
    fclose(status);
}

#endif /* SOAK_H_INCLUDED */
