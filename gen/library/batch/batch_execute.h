/* Executions of batch plans. */

/* An operand's buffer in the form that ipt__check_buffers takes. */
static ipt__operand ipt__batch_buffer_of(const ipt__batch_operand *operand, const ipt_batch_buffer *buffer)
{
    ipt__operand checked;
    memset(&checked, 0, sizeof checked);
    checked.name = operand->given.name;
    checked.offset_name = "byte_offset";
    checked.buffer = buffer->buffer;
    checked.offset = buffer->byte_offset;
    checked.bytes = operand->span * operand->type_bytes;
    checked.refused = operand->given.access == IPT_READ    ? CL_MEM_WRITE_ONLY
                      : operand->given.access == IPT_WRITE ? CL_MEM_READ_ONLY
                                                           : (cl_mem_flags)IPT__BUFFER_READ_AND_WRITTEN;
    checked.unit = checked.host_alignment = operand->load_parts > 1 ? 16 : operand->type_bytes;
    return checked;
}

static ipt_result ipt__batch_check_buffers(const ipt_batch *batch, const ipt_batch_buffer *buffers)
{
    cl_mem memory[IPT_MAX_OPERANDS];
    size_t begin[IPT_MAX_OPERANDS], bytes[IPT_MAX_OPERANDS], i, j;
    for (i = 0; i < batch->problem.operand_count; ++i) {
        const ipt__batch_operand *const operand = &batch->problem.operands[i];
        const ipt__operand checked = ipt__batch_buffer_of(operand, &buffers[i]);
        ipt_result result = ipt__check_buffer(batch->context, &checked, NULL);
        bytes[i] = checked.bytes;
        if (!result)
            result = ipt__memory_range(batch->context, checked.buffer, checked.offset, &memory[i], &begin[i]);
        if (result)
            return result;
        for (j = 0; j < i; ++j)
            if (((operand->given.access | batch->problem.operands[j].given.access) & IPT_WRITE) &&
                memory[i] == memory[j] && begin[i] < begin[j] + bytes[j] && begin[j] < begin[i] + bytes[i])
                return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                                 "operands %s and %s overlap in memory, and the action writes to one of them",
                                 batch->problem.operands[j].given.name, operand->given.name);
    }
    return IPT_SUCCESS;
}

/* One kernel over elements [first, first + count) of the batch. Element `first` is the first in the buffers. */
typedef struct ipt__batch_launch {
    size_t first, count;
    const ipt_batch_buffer *buffers;
    size_t strides[IPT_MAX_OPERANDS];
    const void *argument;
} ipt__batch_launch;

/* The launch of a whole batch. */
static ipt__batch_launch ipt__batch_launch_of(const ipt_batch *batch, const ipt_batch_buffer *buffers,
                                              const void *argument)
{
    ipt__batch_launch launch;
    size_t i;
    launch.first = 0;
    launch.count = batch->problem.count;
    launch.buffers = buffers;
    launch.argument = argument;
    for (i = 0; i < batch->problem.operand_count; ++i)
        launch.strides[i] = batch->problem.operands[i].given.stride;
    return launch;
}

/* Sets the kernel's arguments. The caller has locked the batch. */
static cl_int ipt__batch_set(ipt_batch *batch, const ipt__batch_launch *launch)
{
    ipt__elements_arguments arguments;
    cl_ulong bases[IPT_MAX_OPERANDS] = {0}, strides[IPT_MAX_OPERANDS] = {0};
    cl_int error = CL_SUCCESS;
    cl_uint i;
    memset(&arguments, 0, sizeof arguments);
    if (launch->argument)
        memcpy((char *)&arguments + offsetof(ipt__elements_arguments, argument0), launch->argument,
               batch->argument_bytes);
    arguments.count = launch->count;
    arguments.before = launch->first;
    for (i = 0; i < IPT_MAX_OPERANDS && !error; ++i) {
        const int is_given = i < batch->problem.operand_count;
        const cl_mem memory = launch->buffers[is_given ? i : 0].buffer;
        if (is_given) {
            bases[i] = launch->buffers[i].byte_offset / batch->problem.operands[i].type_bytes;
            strides[i] = launch->strides[i];
        }
        error = ipt__calls(batch->context)->clSetKernelArg(batch->kernel, i, sizeof memory, &memory);
    }
    memcpy((char *)&arguments + offsetof(ipt__elements_arguments, base0), bases, sizeof bases);
    memcpy((char *)&arguments + offsetof(ipt__elements_arguments, stride0), strides, sizeof strides);
    return error ? error
                 : ipt__calls(batch->context)
                       ->clSetKernelArg(batch->kernel, IPT_MAX_OPERANDS, sizeof arguments, &arguments);
}

static ipt_result ipt__batch_enqueue(ipt_batch *batch, cl_command_queue queue, const ipt__batch_launch *launch,
                                     cl_uint num_wait_events, const cl_event *wait_events, cl_event *event)
{
    const size_t local_size = batch->choice.group_size,
                 global_size = ipt__ceil_divide(launch->count, local_size / batch->choice.lanes) * local_size;
    cl_int error;
    IPT_LOCK_ACQUIRE(&batch->lock);
    error = ipt__batch_set(batch, launch);
    if (!error)
        error = ipt__calls(batch->context)
                    ->clEnqueueNDRangeKernel(queue, batch->kernel, 1, NULL, &global_size, &local_size, num_wait_events,
                                             wait_events, event);
    IPT_LOCK_RELEASE(&batch->lock);
    if (error)
        return ipt__fail_opencl("clEnqueueNDRangeKernel", error);
    ipt__calls(batch->context)->clFlush(queue); /* the event reports a later failure */
    return IPT_SUCCESS;
}

/* Fails unless the plan can execute with this argument. */
static ipt_result ipt__batch_check_run(const ipt_batch *batch, const void *argument)
{
    const size_t groups = ipt__ceil_divide(batch->problem.count, batch->choice.group_size / batch->choice.lanes);
    if (!batch->context->context)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "the plan's context was made from a profile: it has no device to run on");
    if (!argument != !batch->argument_bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "argument is %s, and the desc has %s argument_type",
                         argument ? "not NULL" : "NULL", batch->argument_bytes ? "an" : "no");
    if (groups > 0x7fffffff)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the batch would take %zu work-groups: 2147483647 are possible",
                         groups);
    return IPT_SUCCESS;
}

IPT_API ipt_result ipt_batch_execute(ipt_batch *batch, cl_command_queue queue, const ipt_batch_buffer *buffers,
                                     const void *argument, cl_uint num_wait_events, const cl_event *wait_events,
                                     cl_event *event)
{
    ipt__batch_launch launch;
    ipt_result result;
    if (event)
        *event = NULL;
    if (!batch || !buffers)
        return ipt__fail_null(batch ? "buffers" : "batch");
    result = ipt__batch_check_run(batch, argument);
    result = result ? result : ipt__check_queue(batch->context, queue, num_wait_events, wait_events);
    result = result ? result : ipt__batch_check_buffers(batch, buffers);
    if (result)
        return result;
    launch = ipt__batch_launch_of(batch, buffers, argument);
    return ipt__batch_enqueue(batch, queue, &launch, num_wait_events, wait_events, event);
}
