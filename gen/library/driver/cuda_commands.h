/* The CUDA driver's commands, and its table. */
#ifdef IPT_CUDA

/* A command's place: its queue, what it waits for, the event that it returns. */
typedef struct ipt__cuda_place {
    ipt__cuda_queue *queue;
    cl_uint count;
    const cl_event *wait;
    cl_event *event;
    ipt__cuda_event *made;
} ipt__cuda_place;

/* Makes the command's event and lets its stream wait. The context is current until ipt__cuda_ends. */
static ipt__cu_result ipt__cuda_begins(ipt__cuda_place *place)
{
    ipt__cuda_queue *const queue = place->queue;
    ipt__cu_result error = 0;
    cl_uint i;
    ipt__cuda_enter(queue->context);
    place->made = place->event ? ipt__cuda_event_make(queue->context, queue) : NULL;
    if (place->event && !place->made)
        return IPT__CU_OUT_OF_MEMORY;
    for (i = 0; !error && i < place->count; ++i)
        error = ipt__cuda_wait(queue, (ipt__cuda_event *)(void *)place->wait[i]);
    if (!error && place->made && queue->base)
        error = IPT__CU(cuEventCreate, (&place->made->begin, 0));
    if (!error && place->made && queue->base)
        error = IPT__CU(cuEventRecord, (place->made->begin, queue->stream));
    return error;
}

/* Ends a command. Its event is recorded later unless times are wanted. error: of the command. */
static cl_int ipt__cuda_ends(ipt__cuda_place *place, ipt__cu_result error)
{
    ipt__cuda_queue *const queue = place->queue;
    ipt__cuda_event *const made = place->made;
    if (!error && made && queue->base)
        error = ipt__cuda_record_end(made, queue->stream);
    else if (!error && made) {
        IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
        made->pending = queue;
        made->next = queue->pending;
        queue->pending = made;
        IPT_LOCK_RELEASE(&ipt__cuda_lock);
    }
    ipt__cuda_leave();
    if (error && made)
        ipt__cuda_clReleaseEvent((cl_event)(void *)made);
    else if (place->event)
        *place->event = (cl_event)(void *)made;
    return ipt__cuda_error(error);
}

#define IPT__CUDA_PLACE                                                                                                \
    {                                                                                                                  \
        (ipt__cuda_queue *)(void *)queue, count, wait, event, NULL                                                     \
    }

static cl_int CL_API_CALL ipt__cuda_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    ipt__cuda_kernel *const set = (ipt__cuda_kernel *)(void *)kernel;
    const ipt__kernel_info *const info = set->info;
    const ipt__cuda_memory *memory;
    if (index < info->memories) {
        memcpy(&memory, value, sizeof memory);
        set->memories[index] = memory ? memory->address : 0;
    } else if (info->local && index == info->memories)
        set->local_bytes = bytes;
    else if (index == info->memories + (cl_uint)info->local && bytes <= sizeof set->arguments)
        memcpy(&set->arguments, value, bytes);
    else if (bytes <= sizeof set->value)
        memcpy(set->value, value, bytes);
    else
        return CL_INVALID_ARG_SIZE;
    return CL_SUCCESS;
}

/* Whether a launch's work-groups can run at the same time. The context is current. */
static int ipt__cuda_fits(ipt__cuda_kernel *kernel, size_t groups, size_t items, size_t local_bytes)
{
    const ipt__cu_device device = ((const ipt__cuda_context *)(void *)kernel->program->context)->device;
    int each = 0;
    if (kernel->together_items != items || kernel->together_bytes != local_bytes) {
        if (ipt__cuda_attribute(device, IPT__CU_COOPERATES) &&
            ipt__cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel->function, (int)items, local_bytes))
            each = 0;
        kernel->together = (size_t)each * (size_t)ipt__cuda_attribute(device, IPT__CU_UNITS);
        kernel->together_items = items;
        kernel->together_bytes = local_bytes;
    }
    return groups <= kernel->together;
}

/* Launches a kernel. together: all its work-groups run at the same time. */
static cl_int ipt__cuda_launch(ipt__cuda_place *place, cl_kernel kernel, size_t size, size_t group_size, int together)
{
    ipt__cuda_kernel *const launched = (ipt__cuda_kernel *)(void *)kernel;
    const unsigned groups = (unsigned)(size / group_size), items = (unsigned)group_size;
    ipt__cuda_head head;
    void *parameters[10];
    unsigned local_bytes;
    cl_uint i;
    ipt__cu_result error;
    memcpy(&head, launched->program->code, sizeof head);
    local_bytes = (unsigned)(head.local_bytes + launched->local_bytes);
    if (together) {
        int fits;
        ipt__cuda_enter(launched->program->context);
        fits = ipt__cuda_fits(launched, groups, items, local_bytes);
        ipt__cuda_leave();
        if (!fits)
            return CL_INVALID_GLOBAL_WORK_SIZE;
    }
    error = ipt__cuda_begins(place);
    for (i = 0; i < launched->info->memories; ++i)
        parameters[i] = &launched->memories[i];
    parameters[i] = &launched->arguments;
    parameters[i + 1] = launched->value;
    if (!error && together)
        error = IPT__CU(cuLaunchCooperativeKernel,
                        (launched->function, groups, 1, 1, items, 1, 1, local_bytes, place->queue->stream, parameters));
    else if (!error)
        error = IPT__CU(cuLaunchKernel, (launched->function, groups, 1, 1, items, 1, 1, local_bytes,
                                         place->queue->stream, parameters, NULL));
    return ipt__cuda_ends(place, error);
}

static cl_int CL_API_CALL ipt__cuda_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint rank,
                                                           const size_t *offset, const size_t *size,
                                                           const size_t *group_size, cl_uint count,
                                                           const cl_event *wait, cl_event *event)
{
    ipt__cuda_place place = IPT__CUDA_PLACE;
    (void)rank;
    (void)offset;
    return ipt__cuda_launch(&place, kernel, *size, *group_size, 0);
}

static cl_int CL_API_CALL ipt__cuda_launch_together(cl_command_queue queue, cl_kernel kernel, cl_uint rank,
                                                    const size_t *offset, const size_t *size, const size_t *group_size,
                                                    cl_uint count, const cl_event *wait, cl_event *event)
{
    ipt__cuda_place place = IPT__CUDA_PLACE;
    (void)rank;
    (void)offset;
    return ipt__cuda_launch(&place, kernel, *size, *group_size, 1);
}

static ipt__cu_address ipt__cuda_address(cl_mem memory, size_t offset)
{
    return ((const ipt__cuda_memory *)(void *)memory)->address + offset;
}

static cl_int CL_API_CALL ipt__cuda_clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                                                        size_t pattern_bytes, size_t offset, size_t bytes,
                                                        cl_uint count, const cl_event *wait, cl_event *event)
{
    ipt__cuda_place place = IPT__CUDA_PLACE;
    const ipt__cu_address to = ipt__cuda_address(memory, offset);
    cl_uint word = 0;
    ipt__cu_result error = ipt__cuda_begins(&place);
    memcpy(&word, pattern, ipt__min(pattern_bytes, sizeof word));
    if (!error)
        error = pattern_bytes == 1   ? IPT__CU(cuMemsetD8Async, (to, (unsigned char)word, bytes, place.queue->stream))
                : pattern_bytes == 4 ? IPT__CU(cuMemsetD32Async, (to, word, bytes / 4, place.queue->stream))
                                     : IPT__CU_INVALID_VALUE;
    return ipt__cuda_ends(&place, error);
}

static cl_int CL_API_CALL ipt__cuda_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                                        size_t from_offset, size_t to_offset, size_t bytes,
                                                        cl_uint count, const cl_event *wait, cl_event *event)
{
    ipt__cuda_place place = IPT__CUDA_PLACE;
    ipt__cu_result error = ipt__cuda_begins(&place);
    if (!error)
        error = IPT__CU(cuMemcpyDtoDAsync, (ipt__cuda_address(to, to_offset), ipt__cuda_address(from, from_offset),
                                            bytes, place.queue->stream));
    return ipt__cuda_ends(&place, error);
}

static cl_int CL_API_CALL ipt__cuda_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                                         size_t offset, size_t bytes, const void *host, cl_uint count,
                                                         const cl_event *wait, cl_event *event)
{
    ipt__cuda_place place = IPT__CUDA_PLACE;
    ipt__cu_result error = ipt__cuda_begins(&place);
    if (!error)
        error = IPT__CU(cuMemcpyHtoDAsync, (ipt__cuda_address(memory, offset), host, bytes, place.queue->stream));
    if (!error && blocks)
        error = IPT__CU(cuStreamSynchronize, (place.queue->stream));
    return ipt__cuda_ends(&place, error);
}

static cl_int CL_API_CALL ipt__cuda_clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                                        size_t offset, size_t bytes, void *host, cl_uint count,
                                                        const cl_event *wait, cl_event *event)
{
    ipt__cuda_place place = IPT__CUDA_PLACE;
    ipt__cu_result error = ipt__cuda_begins(&place);
    if (!error)
        error = IPT__CU(cuMemcpyDtoHAsync, (host, ipt__cuda_address(memory, offset), bytes, place.queue->stream));
    if (!error && blocks)
        error = IPT__CU(cuStreamSynchronize, (place.queue->stream));
    return ipt__cuda_ends(&place, error);
}

/* A box of bytes in a memory, and in the host's: region[0] bytes of region[1] rows of region[2] slices. */
typedef struct ipt__cuda_box {
    ipt__cu_address device;
    char *host;
    size_t region[3], device_pitch[2], host_pitch[2];
    int writes;
} ipt__cuda_box;

/* Completes the pitches of one side, of which 0 means without gaps, and returns where the side begins. */
static size_t ipt__cuda_pitches(size_t pitch[2], const size_t origin[3], const size_t region[3])
{
    pitch[0] = pitch[0] ? pitch[0] : region[0];
    pitch[1] = pitch[1] ? pitch[1] : region[1] * pitch[0];
    return origin[2] * pitch[1] + origin[1] * pitch[0] + origin[0];
}

static cl_int ipt__cuda_copies(ipt__cuda_place *place, const ipt__cuda_box *box, cl_bool blocks)
{
    ipt__cu_result error = ipt__cuda_begins(place);
    size_t slice;
    for (slice = 0; !error && slice < box->region[2]; ++slice) {
        ipt__cu_copy copy;
        char *const host = box->host + slice * box->host_pitch[1];
        const ipt__cu_address device = box->device + slice * box->device_pitch[1];
        memset(&copy, 0, sizeof copy);
        copy.from_type = box->writes ? IPT__CU_HOST : IPT__CU_DEVICE;
        copy.to_type = box->writes ? IPT__CU_DEVICE : IPT__CU_HOST;
        copy.from_host = host;
        copy.to_host = host;
        copy.from = copy.to = device;
        copy.from_pitch = box->writes ? box->host_pitch[0] : box->device_pitch[0];
        copy.to_pitch = box->writes ? box->device_pitch[0] : box->host_pitch[0];
        copy.bytes = box->region[0];
        copy.rows = box->region[1];
        error = IPT__CU(cuMemcpy2DAsync, (&copy, place->queue->stream));
    }
    if (!error && blocks)
        error = IPT__CU(cuStreamSynchronize, (place->queue->stream));
    return ipt__cuda_ends(place, error);
}

static cl_int CL_API_CALL ipt__cuda_clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                                             const size_t *origin, const size_t *host_origin,
                                                             const size_t *region, size_t row, size_t slice,
                                                             size_t host_row, size_t host_slice, const void *host,
                                                             cl_uint count, const cl_event *wait, cl_event *event)
{
    ipt__cuda_place place = IPT__CUDA_PLACE;
    ipt__cuda_box box = {0, NULL, {0, 0, 0}, {0, 0}, {0, 0}, 1};
    memcpy(box.region, region, sizeof box.region);
    box.device_pitch[0] = row;
    box.device_pitch[1] = slice;
    box.host_pitch[0] = host_row;
    box.host_pitch[1] = host_slice;
    box.device = ipt__cuda_address(memory, ipt__cuda_pitches(box.device_pitch, origin, region));
    box.host = (char *)(size_t)host + ipt__cuda_pitches(box.host_pitch, host_origin, region);
    return ipt__cuda_copies(&place, &box, blocks);
}

static cl_int CL_API_CALL ipt__cuda_clEnqueueReadBufferRect(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                                            const size_t *origin, const size_t *host_origin,
                                                            const size_t *region, size_t row, size_t slice,
                                                            size_t host_row, size_t host_slice, void *host,
                                                            cl_uint count, const cl_event *wait, cl_event *event)
{
    ipt__cuda_place place = IPT__CUDA_PLACE;
    ipt__cuda_box box = {0, NULL, {0, 0, 0}, {0, 0}, {0, 0}, 0};
    memcpy(box.region, region, sizeof box.region);
    box.device_pitch[0] = row;
    box.device_pitch[1] = slice;
    box.host_pitch[0] = host_row;
    box.host_pitch[1] = host_slice;
    box.device = ipt__cuda_address(memory, ipt__cuda_pitches(box.device_pitch, origin, region));
    box.host = (char *)host + ipt__cuda_pitches(box.host_pitch, host_origin, region);
    return ipt__cuda_copies(&place, &box, blocks);
}

/* Enqueues a command that does nothing. */
static cl_int CL_API_CALL ipt__cuda_clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count,
                                                                const cl_event *wait, cl_event *event)
{
    ipt__cuda_place place = IPT__CUDA_PLACE;
    return ipt__cuda_ends(&place, ipt__cuda_begins(&place));
}

static void *CL_API_CALL ipt__cuda_clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                                      cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                                                      const cl_event *wait, cl_event *event, cl_int *error)
{
    ipt__cuda_place place = IPT__CUDA_PLACE;
    char *const host = (char *)((const ipt__cuda_memory *)(void *)memory)->host;
    ipt__cu_result failure = host ? ipt__cuda_begins(&place) : IPT__CU_INVALID_VALUE;
    cl_int result;
    (void)flags;
    (void)bytes;
    if (!host)
        return ipt__cuda_made(NULL, CL_INVALID_VALUE, error);
    if (!failure && blocks)
        failure = IPT__CU(cuStreamSynchronize, (place.queue->stream));
    result = ipt__cuda_ends(&place, failure);
    return ipt__cuda_made(result ? NULL : host + offset, result, error);
}

static cl_int CL_API_CALL ipt__cuda_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *mapped,
                                                            cl_uint count, const cl_event *wait, cl_event *event)
{
    (void)memory;
    (void)mapped;
    return ipt__cuda_clEnqueueMarkerWithWaitList(queue, count, wait, event);
}

static cl_event CL_API_CALL ipt__cuda_clCreateUserEvent(cl_context context, cl_int *error)
{
    ipt__cuda_event *const made = ipt__cuda_event_make(context, NULL);
    void *word = NULL;
    ipt__cu_result failure;
    if (!made)
        return (cl_event)ipt__cuda_made(NULL, CL_OUT_OF_HOST_MEMORY, error);
    ipt__cuda_enter(context);
    failure = IPT__CU(cuMemHostAlloc, (&word, sizeof(cl_uint), IPT__CU_MAPPED));
    ipt__cuda_leave();
    if (failure) {
        ipt__cuda_clReleaseEvent((cl_event)(void *)made);
        return (cl_event)ipt__cuda_made(NULL, ipt__cuda_error(failure), error);
    }
    made->word = (volatile cl_uint *)word;
    *made->word = 0;
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    ++ipt__cuda_later.open_events;
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
    made->status = 2; /* CL_SUBMITTED */
    return (cl_event)ipt__cuda_made(made, CL_SUCCESS, error);
}

/* CUDA's streams cannot fail for one command: commands that wait for a failed event run. */
static cl_int CL_API_CALL ipt__cuda_clSetUserEventStatus(cl_event event, cl_int status)
{
    ipt__cuda_event *const set = (ipt__cuda_event *)(void *)event;
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    set->status = status;
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
    *set->word = 1;
    ipt__cuda_event_closes();
    return CL_SUCCESS;
}

/* The status of an event. waits: until it has ended. A question that fails is no end: who then waits has the error. */
static cl_int ipt__cuda_status(ipt__cuda_event *event, int waits)
{
    cl_int status;
    ipt__cu_result error;
    if (!event->stream) {
        while (waits && !*event->word)
            ipt__cuda_pause();
        IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
        status = event->status;
        IPT_LOCK_RELEASE(&ipt__cuda_lock);
        return status;
    }
    ipt__cuda_enter(event->context);
    error = ipt__cuda_record(event);
    if (!error && event->recorded)
        error = waits ? IPT__CU(cuEventSynchronize, (event->end)) : ipt__cu.cuEventQuery(event->end);
    ipt__cuda_leave();
    return !error ? CL_COMPLETE : waits ? ipt__cuda_error(error) : 1 /* CL_RUNNING */;
}

static cl_int CL_API_CALL ipt__cuda_clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int failed = CL_SUCCESS;
    cl_uint i;
    for (i = 0; i < count; ++i)
        if (ipt__cuda_status((ipt__cuda_event *)(void *)events[i], 1) < 0)
            failed = -14; /* CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST */
    return failed;
}

static cl_int CL_API_CALL ipt__cuda_clGetEventInfo(cl_event event, cl_event_info name, size_t capacity, void *value,
                                                   size_t *size)
{
    ipt__cuda_event *const asked = (ipt__cuda_event *)(void *)event;
    cl_command_queue queue;
    cl_int status;
    if (!ipt__cuda_owns(event))
        return CL_INVALID_EVENT;
    queue = (cl_command_queue)(void *)asked->queue;
    if (name == CL_EVENT_COMMAND_EXECUTION_STATUS) {
        status = ipt__cuda_status(asked, 0);
        return ipt__cuda_answer(&status, sizeof status, capacity, value, size);
    }
    return name == CL_EVENT_CONTEXT ? ipt__cuda_answer(&asked->context, sizeof asked->context, capacity, value, size)
           : name == CL_EVENT_COMMAND_QUEUE ? ipt__cuda_answer(&queue, sizeof queue, capacity, value, size)
                                            : CL_INVALID_VALUE;
}

/* Times are nanoseconds since the queue began. */
static cl_int CL_API_CALL ipt__cuda_clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t capacity,
                                                            void *value, size_t *size)
{
    const ipt__cuda_event *const asked = (const ipt__cuda_event *)(void *)event;
    float since = 0;
    cl_ulong time;
    ipt__cu_result error;
    if (!asked->begin || !asked->recorded)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    ipt__cuda_enter(asked->context);
    error = IPT__CU(cuEventElapsedTime,
                    (&since, asked->queue->base, name == CL_PROFILING_COMMAND_END ? asked->end : asked->begin));
    ipt__cuda_leave();
    time = (cl_ulong)((double)since * 1e6);
    return error ? CL_PROFILING_INFO_NOT_AVAILABLE : ipt__cuda_answer(&time, sizeof time, capacity, value, size);
}

static cl_int CL_API_CALL ipt__cuda_clRetainEvent(cl_event event)
{
    ipt__cuda_retain(event);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__cuda_clFlush(cl_command_queue queue)
{
    ipt__cuda_queue *const flushed = (ipt__cuda_queue *)(void *)queue;
    ipt__cu_result error;
    ipt__cuda_enter(flushed->context);
    error = ipt__cuda_record_all(flushed);
    ipt__cuda_leave();
    return ipt__cuda_error(error);
}

static cl_int CL_API_CALL ipt__cuda_clFinish(cl_command_queue queue)
{
    const ipt__cuda_queue *const asked = (const ipt__cuda_queue *)(void *)queue;
    ipt__cu_result error;
    ipt__cuda_enter(asked->context);
    error = IPT__CU(cuStreamSynchronize, (asked->stream));
    ipt__cuda_leave();
    return ipt__cuda_error(error);
}

#define IPT__CUDA_ADDRESS(result, name, parameters) ipt__cuda_##name,
static const ipt__driver ipt__cuda = {NULL, ipt__cuda_launch_together, IPT_ENTRY_POINT_LIST(IPT__CUDA_ADDRESS)};

#endif
