/* Creation of batch plans, with or without measurement. */

enum { IPT__BATCH_RUNS = 3 }; /* executions of a model; the first may include the kernel's compilation */

/* The data of a measurement: the caller's buffers, and copies of the operands that the action changes. */
typedef struct ipt__batch_trial {
    ipt_batch *batch;
    const ipt_batch_buffer *buffers;
    cl_mem originals[IPT_MAX_OPERANDS];
    cl_ulong argument[IPT__BATCH_ARGUMENT_BYTES / 8]; /* zeros */
} ipt__batch_trial;

/* Copies the operands with IPT_READ_WRITE from the caller's buffers, or back, and waits. */
static ipt_result ipt__batch_copy_originals(ipt__batch_trial *trial, int back)
{
    const ipt_batch *const batch = trial->batch;
    cl_int finished;
    size_t i, unused;
    for (i = 0; i < batch->problem.operand_count; ++i) {
        const ipt__batch_operand *const operand = &batch->problem.operands[i];
        const size_t bytes = operand->span * operand->type_bytes, offset = trial->buffers[i].byte_offset;
        const cl_mem its = trial->buffers[i].buffer;
        cl_int error;
        if (operand->given.access != IPT_READ_WRITE)
            continue;
        if (!trial->originals[i]) {
            const ipt_result result = ipt__buffer_make(
                batch->context, bytes, NULL, "a temporary operand for IPT_MEASURE", &unused, &trial->originals[i]);
            if (result)
                return result;
        }
        error = ipt__calls(trial->batch->context)
                    ->clEnqueueCopyBuffer(batch->context->queue, back ? trial->originals[i] : its,
                                          back ? its : trial->originals[i], back ? 0 : offset, back ? offset : 0, bytes,
                                          0, NULL, NULL);
        if (error)
            return ipt__fail_opencl("clEnqueueCopyBuffer", error);
    }
    IPT_LOCK_ACQUIRE(&batch->context->queue_lock);
    finished = ipt__calls(trial->batch->context)->clFinish(batch->context->queue);
    IPT_LOCK_RELEASE(&batch->context->queue_lock);
    return finished ? ipt__fail_opencl("clFinish", finished) : IPT_SUCCESS;
}

/* Measures the batch's choice on the original operands. Nanoseconds of the device's clock; 0: unavailable. */
static IPT__RARE ipt_result ipt__batch_time(ipt__batch_trial *trial, cl_ulong *nanoseconds)
{
    ipt_batch *const batch = trial->batch;
    const ipt__batch_launch launch =
        ipt__batch_launch_of(batch, trial->buffers, batch->argument_bytes ? trial->argument : NULL);
    ipt_result result = IPT_SUCCESS;
    int run;
    *nanoseconds = 0;
    for (run = 0; run < IPT__BATCH_RUNS && !result; ++run) {
        cl_ulong begin = 0, end = 0;
        cl_event event = NULL;
        result = ipt__batch_copy_originals(trial, 1);
        result = result ? result : ipt__batch_enqueue(batch, batch->context->queue, &launch, 0, NULL, &event);
        IPT_LOCK_ACQUIRE(&batch->context->queue_lock);
        result = result ? result : ipt__wait_for(trial->batch->context, event);
        IPT_LOCK_RELEASE(&batch->context->queue_lock);
        if (!result &&
            !ipt__calls(trial->batch->context)
                 ->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL) &&
            !ipt__calls(trial->batch->context)
                 ->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) &&
            end > begin && (!*nanoseconds || end - begin < *nanoseconds))
            *nanoseconds = end - begin;
        if (event)
            ipt__calls(trial->batch->context)->clReleaseEvent(event);
    }
    return result;
}

/* Replaces the choice by the fastest candidate. */
static IPT__RARE ipt_result ipt__batch_measure_models(ipt__batch_trial *trial, const ipt_batch_desc *desc)
{
    ipt_batch *const batch = trial->batch;
    ipt__batch_choice best = batch->choice;
    cl_ulong least = 0;
    ipt_result result = ipt__batch_copy_originals(trial, 0);
    char why[160];
    size_t i;
    for (i = 0; i < IPT__BATCH_CANDIDATES && !result; ++i) {
        cl_ulong time = 0;
        if (!ipt__batch_candidate(&batch->problem, desc, i, &batch->choice, why))
            continue;
        result = ipt__batch_build(batch, desc);
        result = result ? result : ipt__batch_time(trial, &time);
        ipt__batch_drop(batch);
        if (result == IPT_ERROR_CACHE_MISS) /* with IPT_CACHE_ONLY only candidates with cached programs compete */
            result = IPT_SUCCESS;
        if (!result && time && (!least || time < least)) {
            least = time;
            best = batch->choice;
        }
    }
    ipt__batch_set_choice(batch, &best);
    return result ? result : ipt__batch_copy_originals(trial, 1);
}

/* Checks the buffers of IPT_MEASURE, and selects the fastest candidate. */
static IPT__RARE ipt_result ipt__batch_select_fastest(ipt_batch *batch, const ipt_batch_desc *desc)
{
    ipt__batch_trial trial;
    ipt_result result;
    size_t i;
    memset(&trial, 0, sizeof trial);
    trial.batch = batch;
    trial.buffers = desc->measure_buffers;
    if (!desc->measure_buffers)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "measure_buffers is NULL: IPT_MEASURE needs operands such as executions will have");
    result = ipt__batch_check_buffers(batch, desc->measure_buffers);
    if (result)
        return result;
    result = ipt__batch_measure_models(&trial, desc);
    for (i = 0; i < IPT_MAX_OPERANDS; ++i)
        if (trial.originals[i])
            ipt__calls(batch->context)->clReleaseMemObject(trial.originals[i]);
    return result;
}

/* Follows wisdom if the context has any, otherwise IPT_MEASURE. */
static IPT__RARE ipt_result ipt__batch_select_known(ipt_batch *batch, const ipt_batch_desc *desc)
{
    const int measures = (desc->flags & IPT_MEASURE) != 0;
    ipt_result result =
        measures && !batch->context->context
            ? ipt__fail(IPT_ERROR_UNSUPPORTED, "flags has IPT_MEASURE, and the context has no device to measure on")
            : IPT_SUCCESS;
#ifdef IPT_NO_WISDOM
    return measures && !result ? ipt__batch_select_fastest(batch, desc) : result;
#else
    ipt__wisdom wisdom;
    if (!result)
        result = ipt__batch_wisdom_of(batch, desc, &wisdom);
    if (result || ipt__batch_apply_wisdom(batch, &wisdom) || !measures)
        return result;
    result = ipt__batch_select_fastest(batch, desc);
    if (!result)
        ipt__batch_keep_wisdom(batch, &wisdom);
    return result;
#endif
}

IPT_API ipt_result ipt_batch_create_sized(size_t desc_bytes, ipt_context *context, const ipt_batch_desc *desc,
                                          ipt_batch **batch)
{
    ipt_batch_desc taken;
    ipt_batch *made;
    ipt_result result;
    if (!batch)
        return ipt__fail_null("batch");
    *batch = NULL;
    if (!context || !desc)
        return ipt__fail_null(context ? "desc" : "context");
    result = ipt__take_desc(&taken, sizeof taken, desc, desc_bytes, "desc");
    if (result)
        return result;
    made = (ipt_batch *)ipt__allocate(&context->allocator, sizeof *made);
    if (!made)
        return IPT_ERROR_OUT_OF_MEMORY;
    ipt__context_retain(context);
    made->context = context;
    IPT_LOCK_INIT(&made->lock);
    result = ipt__batch_take(made, &taken);
    result = result ? result : ipt__batch_select(made, &taken);
    if (!result && !taken.model && !taken.method)
        result = ipt__batch_select_known(made, &taken);
    result = result ? result : ipt__batch_build(made, &taken);
    if (result) {
        ipt_batch_destroy(made);
        return result;
    }
    ipt__batch_write_description(made);
    *batch = made;
    return IPT_SUCCESS;
}
