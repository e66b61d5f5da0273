/* Creation and destruction of contexts. */

static void ipt__pinned_free(ipt_context *context, ipt__pinned *pinned)
{
    ipt__calls(context)->clEnqueueUnmapMemObject(context->queue, pinned->buffer, pinned->memory, 0, NULL, NULL);
    ipt__calls(context)->clFinish(context->queue);
    ipt__calls(context)->clReleaseMemObject(pinned->buffer);
    ipt__release(&context->allocator, pinned);
}

static void ipt__program_free(const ipt_context *context, ipt__program *program)
{
    if (program->program)
        ipt__calls(context)->clReleaseProgram(program->program);
    ipt__release(&context->allocator, program->source);
    ipt__release(&context->allocator, program->texts);
    ipt__release(&context->allocator, program);
}

static void ipt__wisdom_free(const ipt_context *context, ipt__wisdom *wisdom)
{
    while (wisdom) {
        ipt__wisdom *const next = wisdom->next;
        ipt__release(&context->allocator, wisdom);
        wisdom = next;
    }
}

static IPT__RARE void ipt__context_free(ipt_context *context)
{
    const ipt_allocator allocator = context->allocator;
    while (context->pinned) {
        ipt__pinned *const pinned = context->pinned;
        context->pinned = pinned->next;
        ipt__pinned_free(context, pinned);
    }
    while (context->programs) {
        ipt__program *const program = context->programs;
        context->programs = program->next;
        ipt__program_free(context, program);
    }
    ipt__wisdom_free(context, context->wisdom);
    ipt__release(&allocator, context->cache_dir);
    if (context->cooperative_last)
        ipt__calls(context)->clReleaseEvent(context->cooperative_last);
    if (context->queue)
        ipt__calls(context)->clReleaseCommandQueue(context->queue);
    if (context->context)
        ipt__calls(context)->clReleaseContext(context->context);
    if (context->device)
        ipt__calls(context)->clReleaseDevice(context->device);
    IPT_LOCK_DESTROY(&context->queue_lock);
    IPT_LOCK_DESTROY(&context->cooperative_lock);
    IPT_LOCK_DESTROY(&context->probe_lock);
    IPT_LOCK_DESTROY(&context->lock);
    IPT_LOCK_DESTROY(&context->build_lock);
    ipt__release(&allocator, context);
}

/* Retains or creates a context's OpenCL objects. */
static ipt_result ipt__context_open(ipt_context *context, const ipt_context_desc *desc, cl_device_id device)
{
    cl_int error = ipt__calls(context)->clRetainDevice(device);
    if (error)
        return ipt__fail_opencl("clRetainDevice", error);
    context->device = device;
    if (desc->context) {
        error = ipt__calls(context)->clRetainContext(desc->context);
        if (error)
            return ipt__fail_opencl("clRetainContext", error);
        context->context = desc->context;
    } else {
        cl_context_properties drivers[3] = {0, 0, 0};
        const cl_context_properties *const properties = context->driver == IPT__DRIVER_OPENCL ? NULL : drivers;
#ifdef IPT_NATIVE
        if (context->driver == IPT__DRIVER_NATIVE) {
            drivers[0] = IPT__NATIVE_CONTEXT_THREADS;
            drivers[1] = (cl_context_properties)context->limits.compute_units;
        }
#endif
#ifdef IPT_CUDA
        ipt__cu_device number = 0;
        if (context->driver == IPT__DRIVER_CUDA) {
            ipt__cu_context const current = ipt__cuda_current(desc->cuda_context, &number);
            drivers[0] = IPT__CUDA_CONTEXT;
            if (ipt__cuda_handle(number) == device)
                memcpy(drivers + 1, &current, sizeof current);
        }
#endif
        context->context = ipt__calls(context)->clCreateContext(properties, 1, &device, NULL, NULL, &error);
        if (error)
            return ipt__fail_opencl("clCreateContext", error);
    }
    context->queue = ipt__calls(context)->clCreateCommandQueue(
        context->context, device, (cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE, &error);
    if (error)
        return ipt__fail_opencl("clCreateCommandQueue", error);
    return ipt__read_code(context, device);
}

/* Sets the sources of compiled programs, and loads the facts already measured about the device. */
static ipt_result ipt__context_take_cache(ipt_context *context, const ipt_context_desc *desc)
{
#ifndef IPT_NO_DISK_CACHE
    char folder[IPT__PATH_BYTES];
    const char *wanted = desc->cache_dir ? desc->cache_dir : ipt__environment("IPT_CACHE_DIR", folder, sizeof folder);
    if (!desc->cache_dir && wanted && !strcmp(wanted, "none"))
        wanted = ""; /* Windows cannot set empty variables */
    if (!desc->cache_dir && !IPT__ENVIRONMENT_IS_OWN)
        wanted = ""; /* setuid: the environment is another user's */
    if (!wanted) {
        ipt__folder_default(folder, sizeof folder);
        wanted = folder;
    }
    if (strlen(wanted) >= sizeof folder - IPT__PATH_REST) {
        ipt__log(context, "cache: the name of the folder is too long, nothing is kept on disk");
        wanted = "";
    }
    if (*wanted && context->context) {
        context->cache_dir = (char *)ipt__allocate(&context->allocator, strlen(wanted) + 1);
        if (!context->cache_dir)
            return IPT_ERROR_OUT_OF_MEMORY;
        strcpy(context->cache_dir, wanted);
    }
#endif
    context->cache_limit = desc->cache_limit ? desc->cache_limit : (size_t)IPT__CACHE_LIMIT;
    context->binaries = desc->binaries;
    context->binary_count = desc->binary_count;
    if (context->context)
        ipt__findings_load(context);
    return IPT_SUCCESS;
}

IPT_API IPT__RARE ipt_result ipt_context_create_sized(size_t desc_bytes, const ipt_context_desc *desc,
                                                      ipt_context **context)
{
    ipt_context_desc wanted;
    ipt__limits limits;
    ipt__driver_id driver = IPT__DRIVER_OPENCL;
    cl_device_id device = NULL;
    ipt_context *made;
    ipt_result result;
    if (!context)
        return ipt__fail_null("context");
    *context = NULL;
    memset(&wanted, 0, sizeof wanted);
    memset(&limits, 0, sizeof limits);
    result = desc ? ipt__take_desc(&wanted, sizeof wanted, desc, desc_bytes, "desc") : IPT_SUCCESS;
    if (result)
        return result;
    if (!wanted.allocator.alloc != !wanted.allocator.free)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "allocator.%s is NULL: set alloc and free both or neither",
                         wanted.allocator.alloc ? "free" : "alloc");
    if (wanted.max_local_memory && wanted.max_local_memory < 1024)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "max_local_memory is %zu bytes: at least 1024 are needed",
                         wanted.max_local_memory);
    if (!wanted.allocator.alloc) {
        wanted.allocator.alloc = ipt__default_alloc;
        wanted.allocator.free = ipt__default_free;
    }
    if (wanted.binary_count && !wanted.binaries)
        return ipt__fail_null("binaries");
    if (wanted.profile) {
        if (wanted.context || wanted.device || wanted.device_name)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "profile and %s: a profile replaces the device",
                             wanted.context  ? "context"
                             : wanted.device ? "device"
                                             : "device_name");
    } else {
        result = ipt__choose_driver(&wanted, &driver, &device);
        if (!result)
            result = ipt__read_limits(driver, &wanted, device, &limits);
        if (result)
            return result;
    }

    made = (ipt_context *)ipt__allocate(&wanted.allocator, sizeof *made);
    if (!made)
        return IPT_ERROR_OUT_OF_MEMORY;
    IPT_LOCK_INIT(&made->build_lock);
    IPT_LOCK_INIT(&made->lock);
    IPT_LOCK_INIT(&made->probe_lock);
    IPT_LOCK_INIT(&made->cooperative_lock);
    IPT_LOCK_INIT(&made->queue_lock);
    made->references = 1;
    made->driver = driver;
    made->limits = limits;
    made->allocator = wanted.allocator;
    made->logger = wanted.logger;
    result =
        wanted.profile ? ipt__context_from_profile(made, wanted.profile) : ipt__context_open(made, &wanted, device);
    if (!result)
        result = ipt__context_take_cache(made, &wanted);
    if (result)
        ipt__context_free(made);
    else
        *context = made;
    return result;
}

/* Whether a program may see a context's handles: none of another driver reaches OpenCL. */
static int ipt__shows_handles(const ipt_context *context)
{
#ifdef IPT_NO_OPENCL
    return context != NULL;
#else
    return context && context->driver == IPT__DRIVER_OPENCL;
#endif
}

IPT_API cl_context ipt_context_cl_context(const ipt_context *context)
{
    return ipt__shows_handles(context) ? context->context : NULL;
}

IPT_API cl_device_id ipt_context_cl_device(const ipt_context *context)
{
    return ipt__shows_handles(context) ? context->device : NULL;
}

static void ipt__context_retain(ipt_context *context)
{
    IPT_LOCK_ACQUIRE(&context->lock);
    ++context->references;
    IPT_LOCK_RELEASE(&context->lock);
}

IPT_API void ipt_context_destroy(ipt_context *context)
{
    size_t left;
    if (!context)
        return;
    IPT_LOCK_ACQUIRE(&context->lock);
    left = --context->references;
    IPT_LOCK_RELEASE(&context->lock);
    if (!left)
        ipt__context_free(context);
}
