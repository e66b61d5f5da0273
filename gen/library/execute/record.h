/* Command buffers of cl_khr_command_buffer, which take launches instead of a queue. */

enum {
    IPT__EXTENSIONS_WITH_VERSION = 0x1060, /* CL_DEVICE_EXTENSIONS_WITH_VERSION of OpenCL 3.0 */
    IPT__RECORD_PROPERTIES = 0x9005,       /* the extension's version 0.9.5: every command takes properties */
    IPT__MOST_EXTENSIONS = 256
};

/* What clCommandNDRangeKernelKHR and clCommandFillBufferKHR take: a command buffer is a void pointer here, which
 * headers of OpenCL 1.2 know, too. */
typedef cl_int(CL_API_CALL *ipt__record_kernel_call)(void *, cl_command_queue, const void *, cl_kernel, cl_uint,
                                                     const size_t *, const size_t *, const size_t *, cl_uint,
                                                     const cl_uint *, cl_uint *, void **);
typedef cl_int(CL_API_CALL *ipt__record_fill_call)(void *, cl_command_queue, cl_mem, const void *, size_t, size_t,
                                                   size_t, cl_uint, const cl_uint *, cl_uint *, void **);
typedef cl_int(CL_API_CALL *ipt__record_fill_with_call)(void *, cl_command_queue, const void *, cl_mem, const void *,
                                                        size_t, size_t, size_t, cl_uint, const cl_uint *, cl_uint *,
                                                        void **);

/* A command buffer that records an execution. Each command follows the previous one. */
typedef struct ipt__recorder {
    void *commands;
    ipt__record_kernel_call kernel;
    ipt__record_fill_call fill;           /* one of the two is NULL */
    ipt__record_fill_with_call fill_with; /* since version 0.9.5 */
    cl_uint count, point;                 /* 1 and the last command's sync point; 0 before the first */
} ipt__recorder;

/* Finds the extension's functions, unless the device lacks it. */
static ipt_result ipt__recorder_begin(const ipt_context *context, void *commands, ipt__recorder *recorder)
{
    struct {
        cl_uint version;
        char name[64];
    } extensions[IPT__MOST_EXTENSIONS];
    const ipt__driver *const calls = ipt__calls(context);
    cl_platform_id platform = NULL;
    cl_uint version = 0;
    size_t bytes = 0, i;
    void *fill = NULL, *kernel = NULL;
    memset(recorder, 0, sizeof *recorder);
    recorder->commands = commands;
    if (!calls->clGetDeviceInfo(context->device, IPT__EXTENSIONS_WITH_VERSION, sizeof extensions, extensions, &bytes))
        for (i = 0; i < bytes / sizeof *extensions; ++i)
            if (!strcmp(extensions[i].name, "cl_khr_command_buffer"))
                version = extensions[i].version;
    if (version && !calls->clGetDeviceInfo(context->device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL)) {
        kernel = calls->clGetExtensionFunctionAddressForPlatform(platform, "clCommandNDRangeKernelKHR");
        fill = calls->clGetExtensionFunctionAddressForPlatform(platform, "clCommandFillBufferKHR");
    }
    if (!kernel || !fill)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the device records nothing: it has no cl_khr_command_buffer");
    memcpy(&recorder->kernel, &kernel, sizeof kernel);
    if (version < IPT__RECORD_PROPERTIES)
        memcpy(&recorder->fill, &fill, sizeof fill);
    else
        memcpy(&recorder->fill_with, &fill, sizeof fill);
    return IPT_SUCCESS;
}

static cl_int ipt__record_fill(ipt__recorder *recorder, cl_mem buffer, size_t offset, size_t bytes)
{
    const cl_uint zero = 0, before = recorder->point;
    const cl_int error =
        recorder->fill ? recorder->fill(recorder->commands, NULL, buffer, &zero, sizeof zero, offset, bytes,
                                        recorder->count, recorder->count ? &before : NULL, &recorder->point, NULL)
                       : recorder->fill_with(recorder->commands, NULL, NULL, buffer, &zero, sizeof zero, offset, bytes,
                                             recorder->count, recorder->count ? &before : NULL, &recorder->point, NULL);
    recorder->count = 1;
    return error;
}

static cl_int ipt__record_kernel(ipt__recorder *recorder, cl_kernel kernel, size_t size, size_t group_size)
{
    const cl_uint before = recorder->point;
    const cl_int error = recorder->kernel(recorder->commands, NULL, NULL, kernel, 1, NULL, &size, &group_size,
                                          recorder->count, recorder->count ? &before : NULL, &recorder->point, NULL);
    recorder->count = 1;
    return error;
}
