/* The native driver: programs, commands and events, with OpenCL's promises. A command runs within the call that
 * enqueues it, unless it has to wait for an event; then it runs within the call that ends the event. */
#ifdef IPT_NATIVE

/* Programs are there: see ipt__native_program_of. */
static cl_program CL_API_CALL ipt__native_clCreateProgramWithSource(cl_context context, cl_uint count,
                                                                    const char **texts, const size_t *lengths,
                                                                    cl_int *error)
{
    (void)context;
    (void)count;
    (void)texts;
    (void)lengths;
    return (cl_program)ipt__native_made(NULL, CL_COMPILER_NOT_AVAILABLE, error);
}

static cl_program CL_API_CALL ipt__native_clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                                    const cl_device_id *devices, const size_t *lengths,
                                                                    const unsigned char **binaries, cl_int *statuses,
                                                                    cl_int *error)
{
    (void)context;
    (void)count;
    (void)devices;
    (void)lengths;
    (void)binaries;
    (void)statuses;
    return (cl_program)ipt__native_made(NULL, CL_INVALID_BINARY, error);
}

static cl_int CL_API_CALL ipt__native_clGetProgramInfo(cl_program program, cl_program_info name, size_t capacity,
                                                       void *value, size_t *size)
{
    (void)program;
    (void)name;
    (void)capacity;
    (void)value;
    (void)size;
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL ipt__native_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                                                     const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                                     void *user)
{
    (void)program;
    (void)count;
    (void)devices;
    (void)options;
    (void)notify;
    (void)user;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                                            cl_program_build_info name, size_t capacity, void *value,
                                                            size_t *size)
{
    (void)program;
    (void)device;
    (void)name;
    (void)capacity;
    (void)value;
    (void)size;
    return CL_INVALID_VALUE;
}

/* The driver's program for a kernel and params: a kernel object without arguments, which its kernels copy. NULL: the
 * driver has none, or there was no memory (*error). */
static cl_program ipt__native_program_of(ipt__kernel_id id, const ipt__params *params, cl_int *error)
{
    ipt__native_apply *const apply = params->apply ? ipt__native_expression_of(params) : NULL;
    const ipt__native_program *const found = params->apply && !apply ? NULL : ipt__native_find(id, params);
    const int has = found || (params->native && params->native->run);
    ipt__native_kernel *const made = has ? (ipt__native_kernel *)calloc(1, sizeof *made) : NULL;
    *error = !has ? CL_INVALID_KERNEL_NAME : made ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!made)
        return NULL;
    if (params->native)
        made->batch = *params->native;
    made->program = found;
    made->id = id;
    while (1u << made->unit < params->unit_bytes)
        ++made->unit;
    made->tile = params->tile;
    made->tall = params->tall;
    made->axes = params->axes;
    made->apply = apply;
    made->places = params->places;
    return (cl_program)(void *)made;
}

static cl_int CL_API_CALL ipt__native_clReleaseProgram(cl_program program)
{
    free(program);
    return CL_SUCCESS;
}

static cl_kernel CL_API_CALL ipt__native_clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    ipt__native_kernel *const made = (ipt__native_kernel *)malloc(sizeof *made);
    (void)name;
    if (made)
        *made = *(const ipt__native_kernel *)(void *)program;
    return (cl_kernel)ipt__native_made(made, CL_OUT_OF_HOST_MEMORY, error);
}

static cl_int CL_API_CALL ipt__native_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                               cl_kernel_work_group_info name, size_t capacity,
                                                               void *value, size_t *size)
{
    const size_t largest = 1;
    (void)kernel;
    (void)device;
    return name == CL_KERNEL_WORK_GROUP_SIZE ? ipt__native_answer(&largest, sizeof largest, capacity, value, size)
                                             : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL ipt__native_clReleaseKernel(cl_kernel kernel)
{
    free(kernel);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    ipt__native_kernel *const set = (ipt__native_kernel *)(void *)kernel;
    const ipt__kernel_info *const info = &ipt__kernels[set->id];
    if (index < info->memories && index < IPT__NATIVE_MEMORIES)
        memcpy(&set->memories[index], value, sizeof set->memories[index]);
    else if (info->local && index == info->memories)
        set->local_bytes = bytes;
    else if (index == info->memories + (cl_uint)info->local && bytes <= sizeof set->arguments)
        memcpy(&set->arguments, value, bytes);
    else if (bytes <= sizeof set->value)
        memcpy(set->value, value, bytes);
    else
        return CL_INVALID_ARG_SIZE;
    return set->local_bytes <= IPT__NATIVE_LOCAL_BYTES ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

static cl_int CL_API_CALL ipt__native_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint rank,
                                                             const size_t *offset, const size_t *size,
                                                             const size_t *group_size, cl_uint count,
                                                             const cl_event *wait, cl_event *event)
{
    const ipt__native_place place = {queue, count, wait, event, 0};
    ipt__native_command *const command = ipt__native_command_make(count);
    (void)rank;
    (void)offset;
    (void)group_size;
    if (command) {
        command->kernel = *(const ipt__native_kernel *)(void *)kernel;
        memcpy(command->memories, command->kernel.memories, sizeof command->memories);
        command->groups = (cl_uint)(command->kernel.batch.run ? ipt__min(*size, (size_t)IPT__NATIVE_PARTS) : *size);
        command->run = ipt__native_do_kernel;
    }
    return ipt__native_enqueue(&place, command);
}

static cl_int CL_API_CALL ipt__native_clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                                                          size_t pattern_bytes, size_t offset, size_t bytes,
                                                          cl_uint count, const cl_event *wait, cl_event *event)
{
    const ipt__native_place place = {queue, count, wait, event, 0};
    ipt__native_command *const command = ipt__native_command_make(count);
    if (pattern_bytes > sizeof command->pattern) {
        free(command);
        return CL_INVALID_VALUE;
    }
    if (command) {
        command->memories[0] = (ipt__native_memory *)(void *)memory;
        command->copy.to = command->memories[0]->data + offset;
        command->copy.region[0] = bytes;
        command->pattern_bytes = pattern_bytes;
        memcpy(&command->pattern, pattern, pattern_bytes);
        command->run = ipt__native_do_fill;
    }
    return ipt__native_enqueue(&place, command);
}

/* Enqueues a copy between memories, or between a memory and the host. */
static cl_int ipt__native_copies(const ipt__native_place *place, const ipt__native_copy *copy, cl_mem first,
                                 cl_mem second)
{
    ipt__native_command *const command = ipt__native_command_make(place->count);
    if (command) {
        command->memories[0] = (ipt__native_memory *)(void *)first;
        command->memories[1] = (ipt__native_memory *)(void *)second;
        command->copy = *copy;
        command->run = ipt__native_do_copy;
    }
    return ipt__native_enqueue(place, command);
}

static char *ipt__native_data(cl_mem memory, size_t offset)
{
    return ((ipt__native_memory *)(void *)memory)->data + offset;
}

/* A copy of one row. */
static ipt__native_copy ipt__native_row(void *to, const void *from, size_t bytes)
{
    ipt__native_copy copy;
    memset(&copy, 0, sizeof copy);
    copy.to = (char *)to;
    copy.from = (const char *)from;
    copy.region[0] = bytes;
    copy.region[1] = copy.region[2] = 1;
    return copy;
}

static cl_int CL_API_CALL ipt__native_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                                          size_t from_offset, size_t to_offset, size_t bytes,
                                                          cl_uint count, const cl_event *wait, cl_event *event)
{
    const ipt__native_place place = {queue, count, wait, event, 0};
    const ipt__native_copy copy =
        ipt__native_row(ipt__native_data(to, to_offset), ipt__native_data(from, from_offset), bytes);
    return ipt__native_copies(&place, &copy, from, to);
}

static cl_int CL_API_CALL ipt__native_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                                           size_t offset, size_t bytes, const void *host, cl_uint count,
                                                           const cl_event *wait, cl_event *event)
{
    const ipt__native_place place = {queue, count, wait, event, blocks != CL_FALSE};
    const ipt__native_copy copy = ipt__native_row(ipt__native_data(memory, offset), host, bytes);
    return ipt__native_copies(&place, &copy, memory, NULL);
}

static cl_int CL_API_CALL ipt__native_clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                                          size_t offset, size_t bytes, void *host, cl_uint count,
                                                          const cl_event *wait, cl_event *event)
{
    const ipt__native_place place = {queue, count, wait, event, blocks != CL_FALSE};
    const ipt__native_copy copy = ipt__native_row(host, ipt__native_data(memory, offset), bytes);
    return ipt__native_copies(&place, &copy, memory, NULL);
}

/* Completes the pitches of one side, of which 0 means without gaps, and returns where the side begins. */
static size_t ipt__native_pitches(size_t pitch[2], const size_t origin[3], const size_t region[3])
{
    pitch[0] = pitch[0] ? pitch[0] : region[0];
    pitch[1] = pitch[1] ? pitch[1] : region[1] * pitch[0];
    return origin[2] * pitch[1] + origin[1] * pitch[0] + origin[0];
}

static cl_int CL_API_CALL ipt__native_clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                                               const size_t *origin, const size_t *host_origin,
                                                               const size_t *region, size_t row, size_t slice,
                                                               size_t host_row, size_t host_slice, const void *host,
                                                               cl_uint count, const cl_event *wait, cl_event *event)
{
    const ipt__native_place place = {queue, count, wait, event, blocks != CL_FALSE};
    size_t to[2] = {row, slice}, from[2] = {host_row, host_slice};
    const size_t to_begin = ipt__native_pitches(to, origin, region),
                 from_begin = ipt__native_pitches(from, host_origin, region);
    ipt__native_copy copy = ipt__native_row(ipt__native_data(memory, to_begin), (const char *)host + from_begin, 0);
    memcpy(copy.region, region, sizeof copy.region);
    memcpy(copy.to_pitch, to, sizeof to);
    memcpy(copy.from_pitch, from, sizeof from);
    return ipt__native_copies(&place, &copy, memory, NULL);
}

static cl_int CL_API_CALL ipt__native_clEnqueueReadBufferRect(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                                              const size_t *origin, const size_t *host_origin,
                                                              const size_t *region, size_t row, size_t slice,
                                                              size_t host_row, size_t host_slice, void *host,
                                                              cl_uint count, const cl_event *wait, cl_event *event)
{
    const ipt__native_place place = {queue, count, wait, event, blocks != CL_FALSE};
    size_t from[2] = {row, slice}, to[2] = {host_row, host_slice};
    const size_t from_begin = ipt__native_pitches(from, origin, region),
                 to_begin = ipt__native_pitches(to, host_origin, region);
    ipt__native_copy copy = ipt__native_row((char *)host + to_begin, ipt__native_data(memory, from_begin), 0);
    memcpy(copy.region, region, sizeof copy.region);
    memcpy(copy.to_pitch, to, sizeof to);
    memcpy(copy.from_pitch, from, sizeof from);
    return ipt__native_copies(&place, &copy, memory, NULL);
}

/* Enqueues a command that does nothing. */
static cl_int ipt__native_marks(const ipt__native_place *place, cl_mem memory)
{
    ipt__native_command *const command = ipt__native_command_make(place->count);
    if (command) {
        command->memories[0] = (ipt__native_memory *)(void *)memory;
        command->run = ipt__native_do_nothing;
    }
    return ipt__native_enqueue(place, command);
}

static void *CL_API_CALL ipt__native_clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                                        cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                                                        const cl_event *wait, cl_event *event, cl_int *error)
{
    const ipt__native_place place = {queue, count, wait, event, blocks != CL_FALSE};
    cl_int failure;
    (void)flags;
    (void)bytes;
    failure = ipt__native_marks(&place, memory);
    return ipt__native_made(failure ? NULL : ipt__native_data(memory, offset), failure, error);
}

static cl_int CL_API_CALL ipt__native_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *mapped,
                                                              cl_uint count, const cl_event *wait, cl_event *event)
{
    const ipt__native_place place = {queue, count, wait, event, 0};
    (void)mapped;
    return ipt__native_marks(&place, memory);
}

static cl_event CL_API_CALL ipt__native_clCreateUserEvent(cl_context context, cl_int *error)
{
    ipt__native_event *const made = ipt__native_event_make(context, NULL);
    return (cl_event)ipt__native_made(made, CL_OUT_OF_HOST_MEMORY, error);
}

static cl_int CL_API_CALL ipt__native_clSetUserEventStatus(cl_event event, cl_int status)
{
    ipt__native_command *ready;
    ipt__native_lock();
    ready = ipt__native_end((ipt__native_event *)(void *)event, status, NULL);
    ipt__native_unlock();
    ipt__native_work_off(ready);
    return CL_SUCCESS;
}

/* Without a wait list, a marker waits for the queue's earlier commands: those of an in-order queue. */
static cl_int CL_API_CALL ipt__native_clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count,
                                                                  const cl_event *wait, cl_event *event)
{
    const ipt__native_place place = {queue, count, wait, event, 0};
    return ipt__native_marks(&place, NULL);
}

static cl_int CL_API_CALL ipt__native_clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int failed = CL_SUCCESS;
    cl_uint i;
    for (i = 0; i < count; ++i)
        if (ipt__native_wait((ipt__native_event *)(void *)events[i]) < 0)
            failed = IPT__NATIVE_FAILED_BEFORE;
    return failed;
}

static cl_int CL_API_CALL ipt__native_clGetEventInfo(cl_event event, cl_event_info name, size_t capacity, void *value,
                                                     size_t *size)
{
    const ipt__native_event *const asked = (const ipt__native_event *)(void *)event;
    const cl_command_queue queue = (cl_command_queue)(void *)asked->queue;
    cl_int status;
    if (!ipt__native_owns(event))
        return CL_INVALID_EVENT;
    ipt__native_lock();
    status = asked->status;
    ipt__native_unlock();
    return name == CL_EVENT_COMMAND_EXECUTION_STATUS ? ipt__native_answer(&status, sizeof status, capacity, value, size)
           : name == CL_EVENT_CONTEXT
               ? ipt__native_answer(&asked->context, sizeof asked->context, capacity, value, size)
           : name == CL_EVENT_COMMAND_QUEUE ? ipt__native_answer(&queue, sizeof queue, capacity, value, size)
                                            : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL ipt__native_clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t capacity,
                                                              void *value, size_t *size)
{
    const ipt__native_event *const asked = (const ipt__native_event *)(void *)event;
    const cl_ulong time = name == CL_PROFILING_COMMAND_END ? asked->end : asked->begin;
    return ipt__native_wait((ipt__native_event *)(void *)event) == CL_COMPLETE
               ? ipt__native_answer(&time, sizeof time, capacity, value, size)
               : CL_PROFILING_INFO_NOT_AVAILABLE;
}

static cl_int CL_API_CALL ipt__native_clRetainEvent(cl_event event)
{
    ipt__native_retain(event);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clReleaseEvent(cl_event event)
{
    ipt__native_lock();
    ipt__native_drop(event);
    ipt__native_unlock();
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clFlush(cl_command_queue queue)
{
    (void)queue;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__native_clFinish(cl_command_queue queue)
{
    const ipt__native_queue *const asked = (const ipt__native_queue *)(void *)queue;
    ipt__native_lock();
    while (asked->commands)
        IPT__POOL_WAIT(&ipt__native_state.changed, &ipt__native_state.lock);
    ipt__native_unlock();
    return CL_SUCCESS;
}

#define IPT__NATIVE_ADDRESS(result, name, parameters) ipt__native_##name,
static const ipt__driver ipt__native = {ipt__native_program_of, NULL, IPT_ENTRY_POINT_LIST(IPT__NATIVE_ADDRESS)};

#endif
