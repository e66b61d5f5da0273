/* Faults of OpenCL implementations that end or lock up the process. Include OpenCL and string.h before. */
#ifndef QUIRKS_H_INCLUDED
#define QUIRKS_H_INCLUDED

/* The number of executions of one kernel that may run at the same time with grids of different sizes. Before 6.0, PoCL
 * counts the users of a loaded kernel by work-group size alone. If PoCL counts an execution's end for another grid, it
 * ends the process: "found->ref_count > 0 failed". PoCL 3.1 counts each start twice: two executions are safe. */
static inline size_t device_grids_at_once(cl_device_id device)
{
    char version[256] = "";
    const char *pocl;
    cl_platform_id platform = NULL;
    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL);
    version[sizeof version - 1] = 0;
    pocl = strstr(version, "PoCL ");
    if (!pocl || pocl[5] < '1' || pocl[5] > '5' || pocl[6] != '.')
        return SIZE_MAX;
    return pocl[5] == '3' ? 2 : 1;
}

static inline int device_is_named(cl_device_id device, const char *start)
{
    char name[256] = "";
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    name[sizeof name - 1] = 0;
    return !strncmp(name, start, strlen(start));
}

/* The CUDA driver under OpenCL's names: tests/cuda/opencl.c. */
static inline int device_is_cudas(cl_device_id device)
{
    char name[256] = "";
    cl_platform_id platform = NULL;
    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    return !strncmp(name, "CUDA", sizeof name);
}

/* PoCL 3.1's driver without threads, "basic", runs a command in the thread that completes its last wait event. That
 * thread still has the event's lock and locks it again: a deadlock. */
static inline int device_cannot_wait(cl_device_id device)
{
    return device_is_named(device, "basic");
}

/* PoCL's driver without threads frees a command whose wait event failed, but leaves the command in its list of pending
 * commands: a later command that waits ends the process. PoCL 5.0 names the driver "cpu-minimal". */
static inline int device_keeps_failed(cl_device_id device)
{
    return device_is_named(device, "basic") || device_is_named(device, "cpu-minimal");
}

#endif
