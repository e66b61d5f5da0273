/* Creation and execution of plans over ranks. */

/* ---- creation ---- */

/* ended: MPI_Finalize was called. */
static IPT__RARE void ipt__mpi_free(ipt_mpi_plan *plan, int ended)
{
    ipt_context *const context = plan->context;
    int i;
    for (i = 0; i < plan->local_count && plan->locals; ++i)
        ipt_plan_destroy(plan->locals[i].plan);
    while (plan->workspace_count) {
        ipt__workspace_close(plan->context, &plan->workspaces[--plan->workspace_count]);
        IPT_LOCK_DESTROY(&plan->workspaces[plan->workspace_count].lock);
    }
    ipt__release(&context->allocator, plan->workspaces);
    ipt__release(&context->allocator, plan->locals);
    if (plan->reads)
        ipt__calls(context)->clReleaseCommandQueue(plan->reads);
    if (plan->writes)
        ipt__calls(context)->clReleaseCommandQueue(plan->writes);
    if (plan->device_window)
        ipt__calls(context)->clReleaseMemObject(plan->device_window);
    ipt_host_free(context, plan->window);
    ipt__release(&context->allocator, plan->second);
    ipt__release(&context->allocator, plan->numbers);
    if (plan->element != MPI_DATATYPE_NULL && !ended)
        MPI_Type_free(&plan->element);
    ipt__release(&context->allocator, plan->description);
    ipt__mpi_free_shape(&context->allocator, &plan->shape);
    ipt__release(&context->allocator, plan);
    ipt_context_destroy(context);
}

IPT_API void ipt_mpi_plan_destroy(ipt_mpi_plan *plan)
{
    int ended = 0;
    if (!plan)
        return;
    MPI_Finalized(&ended);
    if (!ended)
        MPI_Comm_free(&plan->communicator);
    ipt__mpi_free(plan, ended);
}

/* Checks this rank's arguments, without communication. */
static ipt_result ipt__mpi_check(ipt_context *context, const ipt_mpi_desc *desc)
{
    if (!context->context)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the context was made from a profile: it has no device");
    if (desc->flags & ~(IPT_MPI_BUFFERED | IPT_MPI_DEVICE_AWARE))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "flags = %u has bits that no IPT_MPI_... flag has", desc->flags);
    if (desc->flags & IPT_MPI_DEVICE_AWARE && !desc->address && context->driver != IPT__DRIVER_CUDA)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "flags has IPT_MPI_DEVICE_AWARE, and address is NULL");
    if ((desc->split != NULL) != (desc->split_count != 0))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "split_count = %zu, and split is %sNULL: set both or neither",
                         desc->split_count, desc->split ? "not " : "");
#ifdef IPT_NO_HOST_STREAMING
    if (desc->split)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "split is set: ipt was compiled with IPT_NO_HOST_STREAMING");
#else
    if (desc->split)
        return ipt__split_check(desc->split, desc->split_count);
#endif
    return IPT_SUCCESS;
}

/* Whether the MPI reports that it takes addresses of CUDA. */
static int ipt__mpi_takes_cuda(void)
{
    int takes = 0;
#if defined(MPIX_GPU_SUPPORT_CUDA)
    if (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &takes))
        return 0;
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
    takes = MPIX_Query_cuda_support();
#endif
    return takes;
}

/* Allocates this rank's plan and copies the desc. Makes no resources. */
static ipt_result ipt__mpi_new(size_t desc_bytes, ipt_context *context, MPI_Comm communicator, const ipt_mpi_desc *desc,
                               ipt_mpi_plan **plan)
{
    ipt_mpi_desc taken;
    int ranks = 0, rank = 0, error;
    ipt_result result;
    if (!context || !desc)
        return ipt__fail_null(context ? "desc" : "context");
    result = ipt__take_desc(&taken, sizeof taken, desc, desc_bytes, "desc");
    if (!result)
        result = ipt__mpi_check(context, &taken);
    if (result)
        return result;
    error = MPI_Comm_size(communicator, &ranks);
    if (!error)
        error = MPI_Comm_rank(communicator, &rank);
    if (error)
        return ipt__fail_mpi("MPI_Comm_size", error);
    *plan = (ipt_mpi_plan *)ipt__allocate(&context->allocator, sizeof **plan);
    if (!*plan)
        return IPT_ERROR_OUT_OF_MEMORY;
    ipt__context_retain(context);
    (*plan)->context = context;
    (*plan)->communicator = communicator;
    (*plan)->desc = taken;
    if (context->driver == IPT__DRIVER_CUDA && ipt__mpi_takes_cuda())
        (*plan)->desc.flags |= IPT_MPI_DEVICE_AWARE;
    (*plan)->element = MPI_DATATYPE_NULL;
    result = ipt__mpi_take_shape(&taken, ranks, rank, &context->allocator, &(*plan)->shape);
    (*plan)->desc.row_counts = (*plan)->desc.col_counts = NULL;
    if (!result && taken.flags & IPT_MPI_BUFFERED && !ipt__mpi_counts_fit(&(*plan)->shape))
        result =
            ipt__fail(IPT_ERROR_UNSUPPORTED, "flags has IPT_MPI_BUFFERED: a block has more elements than MPI counts");
    return result;
}

/* Adds a number to a hash, which differs between most lists of numbers. */
static void ipt__mpi_hash(cl_ulong *hash, cl_ulong number)
{
    *hash = (*hash ^ number) * 1099511628211u;
}

static ipt_result ipt__mpi_agree_on_desc(const ipt_mpi_plan *plan)
{
    const ipt__mpi_shape *const shape = &plan->shape;
    const ipt_plan_desc array = ipt__mpi_array(&plan->desc);
    const cl_ulong none = 1469598103934665603u;
    cl_ulong numbers[] = {array.rank,
                          array.elem_size,
                          none, /* the axes */
                          none, /* the distributions */
                          plan->desc.flags & IPT_MPI_BUFFERED,
                          plan->desc.max_workspace};
    int i;
    for (i = 0; i < (int)array.rank; ++i) {
        ipt__mpi_hash(&numbers[2], array.shape[i]);
        ipt__mpi_hash(&numbers[2], array.axes[i]);
    }
    for (i = 0; i < shape->ranks; ++i) {
        ipt__mpi_hash(&numbers[3], ipt__mpi_start(&shape->rows, i));
        ipt__mpi_hash(&numbers[3], ipt__mpi_start(&shape->cols, i));
    }
    return ipt__mpi_agree_on(plan->communicator, numbers, (int)(sizeof numbers / sizeof *numbers),
                             "the ranks' descs differ: rows, cols, rank, shape, axes, elem_size, block, block_out, "
                             "row_counts, col_counts, flags and max_workspace have to be the same on all");
}

/* Makes the datatype and counts of IPT_MPI_BUFFERED. */
static ipt_result ipt__mpi_open_buffered(ipt_mpi_plan *plan)
{
    const size_t bytes = 4 * (size_t)plan->shape.ranks * sizeof *plan->numbers;
    int error;
    plan->numbers = (int *)ipt__allocate(&plan->context->allocator, bytes);
    if (!plan->numbers)
        return IPT_ERROR_OUT_OF_MEMORY;
    error = MPI_Type_contiguous((int)plan->shape.size, MPI_BYTE, &plan->element);
    if (!error)
        error = MPI_Type_commit(&plan->element);
    return error ? ipt__fail_mpi("MPI_Type_contiguous", error) : IPT_SUCCESS;
}

/* Makes this rank's lists and local plans. */
static ipt_result ipt__mpi_open(ipt_mpi_plan *plan)
{
    ipt__mpi_shape *const shape = &plan->shape;
    const size_t bytes = (size_t)shape->ranks * sizeof *shape->rests;
    ipt_result result = ipt__mpi_divide_memory(plan);
    if (!result) {
        shape->rests = (ipt__mpi_rest *)ipt__allocate(&plan->context->allocator, bytes);
        result = shape->rests ? IPT_SUCCESS : IPT_ERROR_OUT_OF_MEMORY;
    }
    if (!result && plan->desc.flags & IPT_MPI_BUFFERED)
        result = ipt__mpi_open_buffered(plan);
    if (result)
        return result;
    ipt__mpi_list_rests(shape);
    result = ipt__mpi_make_locals(plan);
    if (!result && ipt__mpi_is_square(shape))
        result = ipt__mpi_make_diagonal(plan);
    return result;
}

/* Allocates the memory for messages, whose size all ranks have agreed on. */
static ipt_result ipt__mpi_open_messages(ipt_mpi_plan *plan)
{
    const ipt_result result = ipt__mpi_take_window(plan);
    if (!(plan->desc.flags & IPT_MPI_BUFFERED) && ipt__mpi_is_square(&plan->shape))
        plan->patch_side = ipt__mpi_patch_side(&plan->shape);
    return result ? result : ipt__mpi_write_description(plan);
}

IPT_API ipt_result ipt_mpi_plan_create_sized(size_t desc_bytes, ipt_context *context, MPI_Comm communicator,
                                             const ipt_mpi_desc *desc, ipt_mpi_plan **plan)
{
    ipt_mpi_plan *made = NULL;
    MPI_Comm own;
    int begun = 0, ended = 0, error;
    ipt_result result;
    if (plan)
        *plan = NULL;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (!begun || ended || communicator == MPI_COMM_NULL)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s",
                         !begun  ? "MPI_Init has to come before plans over ranks"
                         : ended ? "MPI_Finalize has ended MPI"
                                 : "communicator is MPI_COMM_NULL");
    error = MPI_Comm_dup(communicator, &own);
    if (error)
        return ipt__fail_mpi("MPI_Comm_dup", error);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    result = plan ? ipt__mpi_new(desc_bytes, context, own, desc, &made) : ipt__fail_null("plan");
    result = ipt__mpi_agree(own, result);
    if (!result)
        result = ipt__mpi_agree_on_desc(made);
    if (!result)
        result = ipt__mpi_agree(own, ipt__drop_advice(ipt__mpi_open(made)));
    if (!result)
        result = ipt__mpi_size_messages(made);
    if (!result)
        result = ipt__mpi_agree(own, ipt__mpi_open_messages(made));
    if (!result) {
        *plan = made;
        return IPT_SUCCESS;
    }
    if (made)
        ipt__mpi_free(made, 0);
    MPI_Comm_free(&own);
    return result;
}
/* ---- local steps ---- */

static int ipt__mpi_progressed(size_t done, size_t total, void *user)
{
    ipt__mpi_run *const run = (ipt__mpi_run *)user;
    const size_t reached = run->base + (size_t)((double)run->part * (double)done / (double)total);
    if (reached > run->done)
        ipt__mpi_progress(run, reached - run->done);
    return 0; /* a cancellation waits for the next agreement, so that this step can be undone */
}

/* Runs one local step on the block. */
static ipt_result ipt__mpi_run_local(ipt__mpi_run *run, const ipt__mpi_local *local, const ipt_mpi_buffer *buffer)
{
    ipt_host_options options = {NULL, NULL, NULL};
    cl_event event = NULL;
    ipt_result result;
    if (!local->plan)
        return IPT_SUCCESS;
    if (!buffer) {
        options.progress = run->options->progress ? ipt__mpi_progressed : NULL;
        options.user = run;
        return ipt_plan_execute_host_with(local->plan, run->place.host + local->at, &options);
    }
    result = ipt_plan_execute(local->plan, buffer->queue, buffer->buffer, buffer->byte_offset + local->at,
                              buffer->num_wait_events, buffer->wait_events, &event);
    if (event) {
        const ipt_result waited = ipt__wait_for(run->plan->context, event);
        if (waited && !result)
            result = ipt__fail_incomplete("a command on the device that moves this rank's part failed");
        ipt__calls(run->plan->context)->clReleaseEvent(event);
    }
    return result;
}

/* Runs the local steps after the exchange. */
static ipt_result ipt__mpi_run_after(ipt__mpi_run *run, const ipt_mpi_buffer *buffer)
{
    const ipt_mpi_plan *const plan = run->plan;
    ipt_result result = IPT_SUCCESS;
    int i;
    if (run->square)
        return ipt__mpi_run_local(run, &plan->locals[IPT__MPI_DIAGONAL], NULL);
    for (i = IPT__MPI_AFTER; i < plan->local_count && !result; ++i)
        result = ipt__mpi_run_local(run, &plan->locals[i], buffer);
    return result;
}

/* ---- execution ---- */

/* Exchanges through the second block. A block on the device passes through `staging` as a whole. */
static void ipt__mpi_run_buffered(ipt__mpi_run *run, char *staging)
{
    const ipt__mpi_shape *const shape = &run->plan->shape;
    const size_t before = ipt__mpi_block_bytes(shape, shape->rank, 0),
                 after = ipt__mpi_block_bytes(shape, shape->rank, 1);
    if (run->place.buffer && before)
        ipt__mpi_transfer(run, 1, 0, before, staging, NULL);
    ipt__mpi_exchange_buffered(run, staging);
    if (run->place.buffer && after)
        ipt__mpi_transfer(run, 0, 0, after, staging, NULL);
}

/* Undoes the first local step if it succeeded on this rank. Returns the result of all ranks. own: this rank's result of
 * that step. agreed: all ranks' result of that step. */
static ipt_result ipt__mpi_undo(ipt__mpi_run *run, ipt_result own, ipt_result agreed, const ipt_mpi_buffer *buffer)
{
    static const ipt_host_options none = {NULL, NULL, NULL};
    char cause[IPT__CAUSE_BYTES];
    ipt_result result = own == IPT_ERROR_INCOMPLETE ? own : IPT_SUCCESS;
    ipt__keep_cause(cause);
    run->options = &none;
    if (!run->square && (!own || own == IPT_ERROR_CANCELLED))
        result = ipt__mpi_run_local(run, &run->plan->locals[IPT__MPI_UNDO], buffer);
    if (result)
        result = ipt__fail_incomplete("a rank's first local step could not be undone, so its block is undefined");
    result = ipt__mpi_agree(run->plan->communicator, result);
    return result ? result : ipt__fail(agreed, "%s", cause);
}

/* Exchanges the pieces. staging: see ipt__mpi_run_buffered. Returns the result of all ranks. */
static ipt_result ipt__mpi_run_exchange(ipt__mpi_run *run, char *staging)
{
    ipt_mpi_plan *const plan = run->plan;
    if (plan->desc.flags & IPT_MPI_BUFFERED)
        ipt__mpi_run_buffered(run, staging);
    else if (run->square)
        ipt__mpi_exchange_square(run);
    else
        ipt__mpi_exchange(run);
    if (run->cancelled && !run->result)
        ipt__mpi_note(run, ipt__fail(IPT_ERROR_CANCELLED, "progress requested an end"));
    if (run->result) {
        ipt__fail(run->result, "%s", run->cause);
        run->result = ipt__fail_incomplete("failed during the exchange, so all blocks are undefined");
    }
    return ipt__mpi_agree(plan->communicator, run->result);
}

/* Executes on all ranks. result: of this rank's checks. */
static ipt_result ipt__mpi_run_all(ipt__mpi_run *run, ipt_result result, const ipt_mpi_buffer *buffer, char *staging)
{
    ipt_mpi_plan *const plan = run->plan;
    const ipt__mpi_shape *const shape = &plan->shape;
    const cl_ulong kind = buffer != NULL;
    ipt_result own = IPT_SUCCESS;
    result = ipt__mpi_agree(plan->communicator, result);
    if (!result)
        result = ipt__mpi_agree_on(plan->communicator, &kind, 1,
                                   "some ranks execute on host memory, others on the "
                                   "device: all ranks call the same function");
    if (result)
        return result;
    run->square = !buffer && plan->patch_side;
    run->part = ipt__mpi_block_bytes(shape, shape->rank, 0);
    run->total = run->part + ipt__mpi_message_bytes(shape) + ipt__mpi_block_bytes(shape, shape->rank, 1);
    if (!run->square)
        own = ipt__mpi_run_local(run, &plan->locals[IPT__MPI_BEFORE], buffer);
    if (!own) {
        ipt__mpi_progress(run, run->part - run->done);
        if (run->cancelled)
            own =
                ipt__fail(IPT_ERROR_CANCELLED, "progress requested an end before the exchange: all data is unchanged");
    }
    result = ipt__mpi_agree(plan->communicator, own);
    if (result)
        return ipt__mpi_undo(run, own, result, buffer);
    result = ipt__mpi_run_exchange(run, staging);
    if (result)
        return result;
    run->base = run->done;
    run->part = run->total - run->base;
    own = ipt__mpi_run_after(run, buffer);
    if (own)
        own = ipt__fail_incomplete("it happened after the exchange, so all blocks are undefined");
    else if (run->total > run->done)
        ipt__mpi_progress(run, run->total - run->done); /* too late to cancel */
    return ipt__mpi_agree(plan->communicator, own);
}

/* Checks this rank's block on the device, and waits for the caller's events. */
static ipt_result ipt__mpi_take_buffer(ipt__mpi_run *run, const ipt_mpi_buffer *buffer)
{
    const ipt_mpi_plan *const plan = run->plan;
    cl_uint i;
    cl_int error;
    ipt_result result = IPT_SUCCESS;
    if (!buffer || !buffer->queue || !buffer->buffer)
        return ipt__fail_null(!buffer ? "buffer" : buffer->queue ? "buffer->buffer" : "buffer->queue");
    if (buffer->byte_offset % 16)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "byte_offset = %zu: must be a multiple of 16",
                         buffer->byte_offset);
    if (buffer->num_wait_events && !buffer->wait_events)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "num_wait_events is %u, and wait_events is NULL",
                         buffer->num_wait_events);
    if (plan->desc.split_count)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "split is set: plans for several devices take host memory only");
    for (i = 0; i < buffer->num_wait_events && !result; ++i)
        result = ipt__wait_for(run->plan->context, buffer->wait_events[i]);
    if (result)
        return result;
    error = ipt__calls(run->plan->context)->clFinish(buffer->queue);
    if (error)
        return ipt__fail_opencl("clFinish", error);
    run->place.buffer = buffer->buffer;
    run->place.offset = buffer->byte_offset;
    if (plan->desc.flags & IPT_MPI_DEVICE_AWARE) {
        char *const address = ipt__mpi_address(plan, buffer->buffer);
        if (!address)
            return ipt__fail(IPT_ERROR_UNSUPPORTED, "desc.address returned NULL for buffer");
        run->place.address = address + buffer->byte_offset;
    }
    return IPT_SUCCESS;
}

/* Executes on the device. result: of the caller's checks. */
static ipt_result ipt__mpi_execute_device(ipt_mpi_plan *plan, const ipt_mpi_buffer *buffer,
                                          const ipt_host_options *options, ipt_result result)
{
    static const ipt_host_options none = {NULL, NULL, NULL};
    ipt__mpi_run run;
    char *staging = NULL;
    memset(&run, 0, sizeof run);
    run.plan = plan;
    run.options = options ? options : &none;
    if (!result)
        result = ipt__mpi_take_buffer(&run, buffer);
    if (!result && plan->desc.flags & IPT_MPI_BUFFERED) {
        staging = (char *)ipt__allocate(&plan->context->allocator, ipt__mpi_share_bytes(&plan->shape) + 1);
        result = staging ? IPT_SUCCESS : IPT_ERROR_OUT_OF_MEMORY;
    }
    result = ipt__mpi_run_all(&run, result, buffer, staging);
    ipt__release(&plan->context->allocator, staging);
    return result;
}

IPT_API ipt_result ipt_mpi_plan_execute(ipt_mpi_plan *plan, const ipt_mpi_buffer *buffer,
                                        const ipt_host_options *options)
{
    return plan ? ipt__mpi_execute_device(plan, buffer, options, IPT_SUCCESS) : ipt__fail_null("plan");
}

IPT_API ipt_result ipt_mpi_plan_execute_cuda(ipt_mpi_plan *plan, unsigned long long address, void *stream,
                                             const ipt_host_options *options)
{
    ipt_mpi_buffer buffer;
    ipt_result result;
#ifdef IPT_CUDA
    ipt__cuda_call cuda;
#endif
    if (!plan)
        return ipt__fail_null("plan");
    memset(&buffer, 0, sizeof buffer);
#ifdef IPT_CUDA
    if (!address && !ipt__mpi_share_bytes(&plan->shape))
        address = IPT__CUDA_ALIGNMENT; /* which no command uses */
    result = ipt__cuda_check_address("address", address, 16);
    if (!result)
        result = ipt__cuda_call_begin(plan->context, &address, 1, stream, &cuda);
    if (!result && cuda.queue.captured)
        result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "a graph captures stream: it cannot hold messages");
    if (result)
        return ipt__mpi_execute_device(plan, &buffer, options, result);
    buffer.queue = (cl_command_queue)(void *)&cuda.queue;
    buffer.buffer = (cl_mem)(void *)&cuda.memory;
    buffer.byte_offset = cuda.offsets[0];
    ipt__cuda_enter(plan->context->context); /* some MPIs take addresses of the current context only */
    result = ipt__mpi_execute_device(plan, &buffer, options, IPT_SUCCESS);
    ipt__cuda_leave();
    ipt__cuda_call_end(&cuda);
    return result;
#else
    (void)address;
    (void)stream;
    result = ipt__no_cuda();
    return ipt__mpi_execute_device(plan, &buffer, options, result);
#endif
}

/* Executes on host memory. result: of the caller's checks. */
static ipt_result ipt__mpi_execute_host(ipt_mpi_plan *plan, void *data, const ipt_host_options *options,
                                        ipt_result result)
{
    ipt__mpi_run run;
    memset(&run, 0, sizeof run);
    run.plan = plan;
    run.place.host = (char *)data;
    run.options = options;
    if (!result && !data && ipt__mpi_share_bytes(&plan->shape))
        result = ipt__fail_null("data");
    return ipt__mpi_run_all(&run, result, NULL, run.place.host);
}

IPT_API ipt_result ipt_mpi_plan_execute_host_sized(size_t options_bytes, ipt_mpi_plan *plan, void *data,
                                                   const ipt_host_options *options)
{
    ipt_host_options taken;
    if (!plan)
        return ipt__fail_null("plan");
    return ipt__mpi_execute_host(plan, data, &taken, ipt__host_take_options(&taken, options, options_bytes));
}

#ifndef IPT_NO_THREADS
static ipt_result ipt__mpi_job_execute(void *plan, void *data, const ipt_host_options *options)
{
    return ipt__mpi_execute_host((ipt_mpi_plan *)plan, data, options, IPT_SUCCESS);
}

/* Fails unless MPI was initialised for threads. */
static ipt_result ipt__mpi_check_threads(void)
{
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level >= MPI_THREAD_SERIALIZED
               ? IPT_SUCCESS
               : ipt__fail(IPT_ERROR_UNSUPPORTED, "MPI was initialised for one thread: use MPI_Init_thread with "
                                                  "MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE");
}

#endif

IPT_API ipt_result ipt_mpi_plan_execute_host_async_sized(size_t options_bytes, ipt_mpi_plan *plan, void *data,
                                                         const ipt_host_options *options, cl_event *event)
{
#ifdef IPT_NO_THREADS
    (void)options_bytes, (void)plan, (void)data, (void)options;
    if (event)
        *event = NULL;
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "ipt was compiled with IPT_NO_THREADS");
#else
    ipt__host_job job;
    ipt_result result;
    memset(&job, 0, sizeof job);
    job.execute = ipt__mpi_job_execute;
    job.plan = plan;
    job.data = data;
    if (event)
        *event = NULL;
    if (!plan)
        return ipt__fail_null("plan");
    result = ipt__host_take_options(&job.options, options, options_bytes);
    if (!result)
        result = ipt__mpi_check_threads();
    if (!result)
        result = ipt__host_job_start(plan->context, &job, event);
    /* The other ranks have begun. Report the failure to them, so that they do not wait for ever. */
    return result ? ipt__mpi_execute_host(plan, data, &job.options, result) : IPT_SUCCESS;
#endif
}
