/* Executions on the device: in place, out of place, and from host memory. */

/* Fails if the plan is NULL or cannot be executed. */
static ipt_result ipt__check_plan(const ipt_plan *plan)
{
    if (!plan)
        return ipt__fail_null("plan");
    if (!plan->context->context)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "the plan's context was made from a profile: it has no device to run on");
    return IPT_SUCCESS;
}

/* Names the limit that forces the plan to cut its matrices. */
static const char *ipt__limit_name(const ipt_plan *plan)
{
    return plan->problem.desc.max_host_memory     ? "max_host_memory"
           : plan->problem.desc.max_device_memory ? "max_device_memory"
                                                  : "the device's memory";
}

/* The number of bytes that divides all offsets of a plan's batch. */
static size_t ipt__plan_unit(const ipt_plan *plan)
{
    const ipt_plan *const narrow = plan->device ? plan->device->narrow : NULL;
    return (narrow ? narrow : plan)->problem.unit_bytes;
}

/* The alignment of a host address for devices that work in host memory. GPU kernels access vectors. CPU kernels access
 * units, or words at addresses that are multiples of words. */
static size_t ipt__host_alignment(const ipt_plan *plan)
{
    return plan->context->limits.cpu ? ipt__plan_unit(plan) : (size_t)IPT__VECTOR_BYTES;
}

/* A caller's buffer with the batch from byte `offset` on, and the names of both for messages. refused: access flags
 * that the buffer must not have. */
typedef struct ipt__operand {
    const char *name, *offset_name;
    cl_mem buffer;
    size_t offset, bytes; /* bytes before the batch; bytes of the batch */
    cl_mem_flags refused;
    size_t unit, host_alignment; /* divides offset; divides the address of host memory under the buffer */
} ipt__operand;

enum { IPT__BUFFER_READ_AND_WRITTEN = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY };

/* Checks a buffer. address: see ipt__call; may be NULL. */
static ipt_result ipt__check_buffer(const ipt_context *plan_context, const ipt__operand *operand, size_t *address)
{
    const char *const name = operand->name;
    const cl_mem buffer = operand->buffer;
    const size_t offset = operand->offset;
    cl_mem_object_type type = 0;
    cl_mem_flags flags = 0;
    cl_context context = NULL;
    void *host = NULL;
    cl_int error;
    size_t bytes = 0;
    if (!buffer)
        return ipt__fail_null(name);
    error = ipt__calls(plan_context)->clGetMemObjectInfo(buffer, CL_MEM_TYPE, sizeof type, &type, NULL);
    error =
        error ? error : ipt__calls(plan_context)->clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    error = error
                ? error
                : ipt__calls(plan_context)->clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    error =
        error ? error : ipt__calls(plan_context)->clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    if (!error && (flags & CL_MEM_USE_HOST_PTR) && plan_context->shares_memory)
        error = ipt__calls(plan_context)->clGetMemObjectInfo(buffer, CL_MEM_HOST_PTR, sizeof host, &host, NULL);
    if (error && error != CL_INVALID_MEM_OBJECT)
        return ipt__fail_opencl("clGetMemObjectInfo", error);
    if (error || type != CL_MEM_OBJECT_BUFFER)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is not an OpenCL buffer", name);
    if (context != plan_context->context)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s belongs to another OpenCL context than the plan", name);
    if (flags & operand->refused)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is a %s buffer", name,
                         flags & CL_MEM_READ_ONLY ? "CL_MEM_READ_ONLY" : "CL_MEM_WRITE_ONLY");
    if (address)
        *address |= (size_t)host;
    if ((size_t)host % operand->host_alignment)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "%s was made over host memory at %p: the device works there, so a multiple of %zu is needed",
                         name, host, operand->host_alignment);
    if (offset % operand->unit)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s = %zu is not a multiple of %zu", operand->offset_name, offset,
                         operand->unit);
    if (offset > bytes || bytes - offset < operand->bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s has %zu bytes: %zu are needed from %s = %zu", name, bytes,
                         operand->bytes, operand->offset_name, offset);
    return IPT_SUCCESS;
}

/* Checks a plan's operand of `bytes` bytes. */
static ipt_result ipt__check_operand(const ipt_plan *plan, ipt__operand *operand, size_t bytes, size_t *address)
{
    operand->bytes = bytes;
    operand->unit = ipt__plan_unit(plan);
    operand->host_alignment = ipt__host_alignment(plan);
    return ipt__check_buffer(plan->context, operand, address);
}

static ipt_result ipt__check_queue(const ipt_context *plan_context, cl_command_queue queue, cl_uint num_wait_events,
                                   const cl_event *wait_events)
{
    cl_context context = NULL;
    cl_device_id device = NULL;
    cl_int status = CL_COMPLETE, error;
    cl_uint i;
    if (!queue)
        return ipt__fail_null("queue");
    error = ipt__calls(plan_context)->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    error = error
                ? error
                : ipt__calls(plan_context)->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    if (error && error != CL_INVALID_COMMAND_QUEUE)
        return ipt__fail_opencl("clGetCommandQueueInfo", error);
    if (error)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "queue is not an OpenCL command queue");
    if (context != plan_context->context)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "queue belongs to another OpenCL context than the plan");
    if (device != plan_context->device)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "queue belongs to another device than the plan");
    if (!num_wait_events != !wait_events)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "num_wait_events is %u but wait_events is %s",
                         (unsigned)num_wait_events, wait_events ? "not NULL" : "NULL");
    for (i = 0; i < num_wait_events; ++i) {
        if (!wait_events[i])
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "wait_events[%u] is NULL", (unsigned)i);
        error =
            ipt__calls(plan_context)->clGetEventInfo(wait_events[i], CL_EVENT_CONTEXT, sizeof context, &context, NULL);
        error = error ? error
                      : ipt__calls(plan_context)
                            ->clGetEventInfo(wait_events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                             NULL);
        if (error && error != CL_INVALID_EVENT)
            return ipt__fail_opencl("clGetEventInfo", error);
        if (error)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "wait_events[%u] is not an OpenCL event", (unsigned)i);
        if (context != plan_context->context)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                             "wait_events[%u] belongs to another OpenCL context than the plan", (unsigned)i);
        if (status < 0) /* some implementations wait forever for a failed event */
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "wait_events[%u] has failed with %s (%d)", (unsigned)i,
                             ipt__cl_error(status), (int)status);
    }
    return IPT_SUCCESS;
}

/* Makes a run wait for the previous execution that used the workspace. Releases that execution's event if it has
 * completed or failed. Also sets run->holds. The caller has locked the workspace. The run may wait for `events`; the
 * caller releases events[0]. */
static ipt_result ipt__run_after_last(ipt__run *run, cl_event events[2])
{
    ipt__workspace *const workspace = run->plan->workspace;
    cl_int status = CL_COMPLETE, error;
    events[0] = NULL;
    events[1] = workspace->last;
    if (workspace->bytes < run->plan->device->layout.workspace)
        return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "the plan's workspace has %zu of %zu bytes: it could not grow",
                         workspace->bytes, run->plan->device->layout.workspace);
    if (workspace->borrower != run->plan) { /* another plan's counters and flags lie at other offsets */
        run->plan->device->dirty = 1;
        workspace->borrower = run->plan;
    }
    if (run->wait_count && run->plan->context->forgets_failure) {
        cl_command_queue_properties properties = 0;
        error = ipt__calls(run->plan->context)
                    ->clGetCommandQueueInfo(run->queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
        if (error)
            return ipt__fail_opencl("clGetCommandQueueInfo", error);
        run->holds = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    }
    /* A graph's commands cannot wait for those outside, which the caller orders. */
    workspace->captured |= run->captured;
    run->plan->device->dirty |= workspace->captured; /* a graph may have run since */
    if (!workspace->last || run->captured)
        return IPT_SUCCESS;
    if (!ipt__calls(run->plan->context)
             ->clGetEventInfo(workspace->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) &&
        status <= CL_COMPLETE) {
        run->plan->device->dirty |= status < 0;
        ipt__calls(run->plan->context)->clReleaseEvent(workspace->last);
        workspace->last = NULL;
        return IPT_SUCCESS;
    }
    run->plan->device->dirty |=
        run->holds; /* that execution may still fail, and this run's commands would start nevertheless */
    if (!run->wait_count) {
        run->wait_count = 1;
        run->wait = events + 1;
        return IPT_SUCCESS;
    }
    error = ipt__calls(run->plan->context)
                ->clEnqueueMarkerWithWaitList(run->queue, run->holds ? 1 : run->wait_count,
                                              run->holds ? events + 1 : run->wait, &events[0]);
    if (error)
        return ipt__fail_opencl("clEnqueueMarkerWithWaitList", error);
    if (!run->holds) {
        run->wait_count = 2;
        run->wait = events;
    }
    return IPT_SUCCESS;
}

/* Ends every execution: enqueues a marker if the run has no command, and stores and returns the last event. */
static ipt_result ipt__run_finish(ipt__run *run, ipt_result result, cl_event *event)
{
    ipt_plan *const plan = run->plan;
    ipt__workspace *const workspace = plan->workspace;
    cl_event marker = NULL;
    if (!result && !run->commands && !run->recorder) {
        const cl_int error = ipt__calls(run->plan->context)
                                 ->clEnqueueMarkerWithWaitList(run->queue, run->wait_count, run->wait, &marker);
        result = ipt__run_took(run, "clEnqueueMarkerWithWaitList", error, marker);
    }
    if (result && !run->commands)
        return result;
    if (result) {
        plan->device->dirty = 1;
        result = ipt__fail_incomplete("some commands were enqueued, so the content is undefined");
    }
    if (run->captured) {
        if (event)
            *event = run->previous;
        else if (run->previous)
            ipt__calls(run->plan->context)->clReleaseEvent(run->previous);
        return result;
    }
    if (workspace->last)
        ipt__calls(run->plan->context)->clReleaseEvent(workspace->last);
    workspace->last = run->previous;
    if (event) {
        *event = run->previous;
        if (ipt__calls(run->plan->context)
                ->clRetainEvent(run->previous)) { /* only one of the two can own the event: wait for it here */
            ipt__calls(run->plan->context)->clWaitForEvents(1, &run->previous);
            workspace->last = NULL;
        }
    }
    /* Commands of another queue may wait for this run's commands, so flush. The event reports a later failure. */
    ipt__calls(run->plan->context)->clFlush(run->queue);
    return result;
}

/* Enqueues launches of a plan in place. The caller has checked all arguments. *event as in ipt_plan_execute. */
static ipt_result ipt__plan_enqueue(ipt_plan *plan, const ipt__call *call, const ipt__launches *launches,
                                    cl_event *event)
{
    cl_event joined[2] = {NULL, NULL};
    ipt__run run = ipt__run_begin(plan, call, 0);
    ipt_result result;
    IPT_LOCK_ACQUIRE(&plan->workspace->lock);
    result = ipt__run_after_last(&run, joined);
    if (!result)
        result = ipt__run_finish(&run, ipt__run_launches(&run, launches), event);
    IPT_LOCK_RELEASE(&plan->workspace->lock);
    if (joined[0])
        ipt__calls(plan->context)->clReleaseEvent(joined[0]);
    return result;
}

/* Enqueues a plan's launch out of place. The caller has checked all arguments. */
static ipt_result ipt__plan_enqueue_out_of_place(ipt_plan *plan, const ipt__call *call, cl_event *event)
{
    const ipt__turn none = {0, 0, 0};
    const ipt__launches *const launches = &plan->device->launches;
    ipt__run run = ipt__run_begin(plan, call, 1);
    ipt_result result = IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&plan->workspace->lock);
    if (plan->device->out_of_place < 0)
        result = ipt__out_of_place_get(plan);
    if (!result) {
        result = ipt__run_launch(&run, &launches->items[plan->device->out_of_place], none);
        run.buffers[0] = run.buffers[1];
        run.bases[0] = run.bases[1];
        if (!result && plan->problem.desc.expression &&
            !ipt__applies_anywhere(&plan->problem)) /* the MAP stage, in the target */
            result = ipt__run_stage(&run, launches, &launches->stages[launches->stage_count - 1]);
        if (result && run.commands)
            result = ipt__fail_incomplete("some commands were enqueued, so the destination's content is undefined");
        /* These kernels use no workspace, so they do not replace the plan's last event. */
        if (!result)
            ipt__calls(plan->context)->clFlush(call->queue);
    }
    IPT_LOCK_RELEASE(&plan->workspace->lock);
    if (event)
        *event = run.previous;
    else if (run.previous)
        ipt__calls(plan->context)->clReleaseEvent(run.previous);
    return result;
}

/* Enqueues an execution of a plan. Its narrow plan serves places that are no multiples of the plan's units. */
static ipt_result ipt__device_enqueue(ipt_plan *plan, const ipt__call *call, int out_of_place, cl_event *event)
{
    const size_t places = call->address | call->target_offset | (out_of_place ? call->source_offset : 0);
    if (plan->device->narrow && places % plan->problem.unit_bytes)
        plan = plan->device->narrow;
    return out_of_place ? ipt__plan_enqueue_out_of_place(plan, call, event)
                        : ipt__plan_enqueue(plan, call, &plan->device->launches, event);
}

/* Fails if the plan takes no buffers. */
static ipt_result ipt__check_takes_buffers(const ipt_plan *plan)
{
    const ipt_result result = ipt__check_plan(plan);
    if (result || plan->kind->enqueue)
        return result;
    if (plan->split)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the plan is for several contexts: it takes host matrices only");
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "the plan is for matrices larger than %s: it takes %s only",
                     ipt__limit_name(plan), plan->problem.desc.max_host_memory ? "storages" : "host matrices");
}

IPT_API ipt_result ipt_plan_execute(ipt_plan *plan, cl_command_queue queue, cl_mem buffer, size_t byte_offset,
                                    cl_uint num_wait_events, const cl_event *wait_events, cl_event *event)
{
    ipt__operand operand = {"buffer", "byte_offset", buffer, byte_offset, 0, IPT__BUFFER_READ_AND_WRITTEN, 0, 0};
    ipt__call call = {queue, buffer, buffer, byte_offset, byte_offset, 0, num_wait_events, wait_events, 0, NULL};
    ipt_result result;
    if (event)
        *event = NULL;
    result = ipt__check_takes_buffers(plan);
    if (!result)
        result = ipt__check_queue(plan->context, queue, num_wait_events, wait_events);
    if (!result)
        result = ipt__check_operand(plan, &operand, plan->problem.span_bytes, &call.address);
    return result ? result : plan->kind->enqueue(plan, &call, 0, event);
}

IPT_API ipt_result ipt_plan_record(ipt_plan *plan, void *command_buffer, cl_command_queue queue, cl_mem buffer,
                                   size_t byte_offset)
{
    ipt__operand operand = {"buffer", "byte_offset", buffer, byte_offset, 0, IPT__BUFFER_READ_AND_WRITTEN, 0, 0};
    ipt__recorder recorder;
    ipt__call call = {queue, buffer, buffer, byte_offset, byte_offset, 0, 0, NULL, 1, &recorder};
    ipt_result result = command_buffer ? ipt__check_takes_buffers(plan) : ipt__fail_null("command_buffer");
    if (!result)
        result = ipt__check_queue(plan->context, queue, 0, NULL);
    if (!result)
        result = ipt__check_operand(plan, &operand, plan->problem.span_bytes, &call.address);
    if (!result)
        result = ipt__recorder_begin(plan->context, command_buffer, &recorder);
    return result ? result : plan->kind->enqueue(plan, &call, 0, NULL);
}

/* The byte where a buffer's batch begins in its memory object, or in the parent of a sub-buffer. */
static ipt_result ipt__memory_range(const ipt_context *context, cl_mem buffer, size_t offset, cl_mem *memory,
                                    size_t *begin)
{
    size_t origin = 0;
    cl_mem parent = NULL;
    cl_int error =
        ipt__calls(context)->clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
    if (!error && parent)
        error = ipt__calls(context)->clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof origin, &origin, NULL);
    *memory = parent ? parent : buffer;
    *begin = offset + origin;
    return error ? ipt__fail_opencl("clGetMemObjectInfo", error) : IPT_SUCCESS;
}

static ipt_result ipt__check_apart(const ipt_context *context, const ipt__operand *from, const ipt__operand *to)
{
    cl_mem source_memory, destination_memory;
    size_t source_begin, destination_begin;
    ipt_result result = ipt__memory_range(context, from->buffer, from->offset, &source_memory, &source_begin);
    if (!result)
        result = ipt__memory_range(context, to->buffer, to->offset, &destination_memory, &destination_begin);
    if (result)
        return result;
    if (source_memory == destination_memory && source_begin < destination_begin + to->bytes &&
        destination_begin < source_begin + from->bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "destination_offset = %zu: the destination overlaps the source at source_offset = %zu",
                         to->offset, from->offset);
    return IPT_SUCCESS;
}

IPT_API ipt_result ipt_plan_execute_out_of_place(ipt_plan *plan, cl_command_queue queue, cl_mem source,
                                                 size_t source_offset, cl_mem destination, size_t destination_offset,
                                                 cl_uint num_wait_events, const cl_event *wait_events, cl_event *event)
{
    ipt__operand from = {"source", "source_offset", source, source_offset, 0, CL_MEM_WRITE_ONLY, 0, 0},
                 to = {"destination", "destination_offset", destination, destination_offset, 0, CL_MEM_READ_ONLY, 0, 0};
    ipt__call call = {queue,           source,      destination, source_offset, destination_offset, 0,
                      num_wait_events, wait_events, 0,           NULL};
    ipt_result result;
    if (event)
        *event = NULL;
    result = ipt__check_takes_buffers(plan);
    if (!result)
        result = ipt__check_out_of_place(plan);
    if (!result)
        result = ipt__check_queue(plan->context, queue, num_wait_events, wait_events);
    if (!result)
        result = ipt__check_operand(plan, &from, ipt__source_span(&plan->problem), &call.address);
    if (!result)
        result = ipt__check_operand(plan, &to, ipt__result_span(&plan->problem), &call.address);
    if (!result)
        result = ipt__check_apart(plan->context, &from, &to);
    return result ? result : plan->kind->enqueue(plan, &call, 1, event);
}
