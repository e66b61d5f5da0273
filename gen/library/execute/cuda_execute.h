/* Executions on memory and streams of CUDA. */

#ifdef IPT_CUDA

enum {
    IPT__CUDA_ALIGNMENT = 256, /* of allocations, and of the memory's begin */
    IPT__CUDA_ADDRESSES = 8    /* of an execution: IPT_MAX_OPERANDS is no more */
};

/* The caller's stream and memory as the driver's objects, for one execution. All addresses are in one memory, so that
 * overlap shows. */
typedef struct ipt__cuda_call {
    ipt__cuda_queue queue;
    ipt__cuda_memory memory;
    size_t offsets[IPT__CUDA_ADDRESSES]; /* of the addresses in the memory */
} ipt__cuda_call;

static ipt_result ipt__cuda_call_begin(const ipt_context *context, const unsigned long long *addresses, size_t count,
                                       void *stream, ipt__cuda_call *call)
{
    ipt__cu_address first = ~(ipt__cu_address)0;
    ipt__cu_result error;
    size_t i;
    if (context->driver != IPT__DRIVER_CUDA)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the plan's context is not of IPT_DRIVER_CUDA");
    for (i = 0; i < count; ++i)
        if (addresses[i] < first)
            first = addresses[i];
    if (!first)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "an address is 0");
    memset(call, 0, sizeof *call);
    ipt__cuda_begin(&call->memory.object);
    call->memory.context = context->context;
    call->memory.flags = CL_MEM_READ_WRITE;
    call->memory.address = first - first % IPT__CUDA_ALIGNMENT;
    call->memory.bytes = SIZE_MAX;
    for (i = 0; i < count; ++i)
        call->offsets[i] = (size_t)(addresses[i] - call->memory.address);
    ipt__cuda_begin(&call->queue.object);
    call->queue.context = context->context;
    call->queue.stream = stream;
    ipt__cuda_enter(context->context);
    error = IPT__CU(cuStreamIsCapturing, (stream, &call->queue.captured));
    if (!error && call->queue.captured)
        call->queue.id = ~0ull; /* CUDA names no stream that a graph captures, and no other stream waits for it */
    else if (!error)
        error = IPT__CU(cuStreamGetId, (stream, &call->queue.id));
    ipt__cuda_leave();
    return error ? ipt__fail_opencl("cuStreamGetId", ipt__cuda_error(error)) : IPT_SUCCESS;
}

/* Ends an execution: events outlive the caller's stream here. */
static void ipt__cuda_call_end(ipt__cuda_call *call)
{
    ipt__cuda_enter(call->queue.context);
    ipt__cuda_record_all(&call->queue);
    ipt__cuda_leave();
}

static ipt_result ipt__cuda_check_address(const char *name, unsigned long long address, size_t unit)
{
    if (address % unit)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is 0x%llx: a multiple of %zu is needed", name, address, unit);
    return IPT_SUCCESS;
}

/* Executes a plan from addresses[0] to addresses[1], equal in place. */
static ipt_result ipt__cuda_execute(ipt_plan *plan, const unsigned long long addresses[2], void *stream,
                                    int out_of_place)
{
    const cl_mem_flags none = 0;
    ipt__cuda_call cuda;
    ipt__operand from = {"source", "source", NULL, 0, 0, none, 0, 0},
                 to = {"destination", "destination", NULL, 0, 0, none, 0, 0};
    ipt__call call;
    ipt_result result = ipt__check_takes_buffers(plan);
    if (!result && out_of_place)
        result = ipt__check_out_of_place(plan);
    if (!result)
        result = ipt__cuda_call_begin(plan->context, addresses, 2, stream, &cuda);
    if (!result)
        result = ipt__cuda_check_address(out_of_place ? "source" : "address", addresses[0], ipt__plan_unit(plan));
    if (!result)
        result = ipt__cuda_check_address("destination", addresses[1], ipt__plan_unit(plan));
    if (result)
        return result;
    memset(&call, 0, sizeof call);
    call.queue = (cl_command_queue)(void *)&cuda.queue;
    call.captured = cuda.queue.captured;
    call.source = call.target = (cl_mem)(void *)&cuda.memory;
    call.source_offset = from.offset = cuda.offsets[0];
    call.target_offset = to.offset = cuda.offsets[1];
    from.buffer = to.buffer = call.target;
    from.bytes = ipt__source_span(&plan->problem);
    to.bytes = ipt__result_span(&plan->problem);
    if (out_of_place)
        result = ipt__check_apart(plan->context, &from, &to);
    if (!result)
        result = plan->kind->enqueue(plan, &call, out_of_place, NULL);
    ipt__cuda_call_end(&cuda);
    return result;
}

IPT_API ipt_result ipt_plan_execute_cuda(ipt_plan *plan, unsigned long long address, void *stream)
{
    unsigned long long addresses[2];
    addresses[0] = addresses[1] = address;
    return ipt__cuda_execute(plan, addresses, stream, 0);
}

IPT_API ipt_result ipt_plan_execute_cuda_out_of_place(ipt_plan *plan, unsigned long long source,
                                                      unsigned long long destination, void *stream)
{
    unsigned long long addresses[2];
    addresses[0] = source;
    addresses[1] = destination;
    return ipt__cuda_execute(plan, addresses, stream, 1);
}

#ifndef IPT_NO_BATCH
IPT_API ipt_result ipt_batch_execute_cuda_with(ipt_batch *batch, const unsigned long long *addresses,
                                               const void *argument, void *stream)
{
    ipt_batch_buffer buffers[IPT_MAX_OPERANDS];
    ipt__cuda_call cuda;
    ipt__batch_launch launch;
    size_t i;
    ipt_result result;
    if (!batch || !addresses)
        return ipt__fail_null(batch ? "addresses" : "batch");
    result = ipt__batch_check_run(batch, argument);
    if (!result)
        result = ipt__cuda_call_begin(batch->context, addresses, batch->problem.operand_count, stream, &cuda);
    if (result)
        return result;
    memset(buffers, 0, sizeof buffers);
    for (i = 0; i < batch->problem.operand_count; ++i) {
        buffers[i].buffer = (cl_mem)(void *)&cuda.memory;
        buffers[i].byte_offset = cuda.offsets[i];
    }
    result = ipt__batch_check_buffers(batch, buffers);
    launch = ipt__batch_launch_of(batch, buffers, argument);
    if (!result)
        result = ipt__batch_enqueue(batch, (cl_command_queue)(void *)&cuda.queue, &launch, 0, NULL, NULL);
    ipt__cuda_call_end(&cuda);
    return result;
}
#endif

#else

static ipt_result ipt__no_cuda(void)
{
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "ipt was compiled without CUDA: define IPT_CUDA");
}

IPT_API ipt_result ipt_plan_execute_cuda(ipt_plan *plan, unsigned long long address, void *stream)
{
    (void)plan;
    (void)address;
    (void)stream;
    return ipt__no_cuda();
}

IPT_API ipt_result ipt_plan_execute_cuda_out_of_place(ipt_plan *plan, unsigned long long source,
                                                      unsigned long long destination, void *stream)
{
    (void)plan;
    (void)source;
    (void)destination;
    (void)stream;
    return ipt__no_cuda();
}

#ifndef IPT_NO_BATCH
IPT_API ipt_result ipt_batch_execute_cuda_with(ipt_batch *batch, const unsigned long long *addresses,
                                               const void *argument, void *stream)
{
    (void)batch;
    (void)addresses;
    (void)argument;
    (void)stream;
    return ipt__no_cuda();
}
#endif

#endif
