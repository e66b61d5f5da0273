/* Host matrices: schemes; parts, their plans and buffers. */

/* Whether the plan's matrices can go in parts. */
static int ipt__host_may_part(const ipt_plan *plan)
{
#ifdef IPT_NO_HOST_STREAMING
    (void)plan;
    return 0;
#else
    const ipt_plan_desc *const desc = &plan->problem.desc;
    return !ipt__has_formats(desc) && !desc->move && !ipt__pads(desc) && !desc->tile_m && !desc->tile_n &&
           !plan->problem.pitched && desc->sequence == IPT_SEQUENCE_AUTO && !plan->passes && !ipt__named_places(desc);
#endif
}

/* Whether the plan's device works in host memory at an address. */
static int ipt__host_shares(const ipt_plan *plan, size_t address)
{
    return plan->context->shares_memory && !plan->split && address % ipt__host_alignment(plan) == 0;
}

/* The scheme for an address: the desc's, else the fastest possible one. */
static ipt_host ipt__host_scheme(const ipt_plan *plan, size_t address)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    if (plan->split || plan->cut)
        return IPT_HOST_OVERLAPPED;
    if (desc->host)
        return desc->host;
    if (ipt__host_shares(plan, address))
        return IPT_HOST_SHARED;
    return ipt__host_may_part(plan) && plan->problem.matrix_bytes * desc->batch >= 4 * (size_t)IPT__HOST_PART_BYTES
               ? IPT_HOST_OVERLAPPED
               : IPT_HOST_SYNCHRONOUS;
}

/* Chooses how the host matrix moves, or fails if the desc's scheme is impossible. */
static IPT__RARE ipt_result ipt__host_choose(const ipt_plan *plan, const char *data, ipt_host *scheme)
{
    *scheme = ipt__host_scheme(plan, (size_t)data);
    if (*scheme == IPT_HOST_SHARED && !ipt__host_shares(plan, (size_t)data))
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "host is shared: the device does not work in the host's memory, or the address of data is not "
                         "a multiple of %zu",
                         ipt__host_alignment(plan));
    if (*scheme == IPT_HOST_OVERLAPPED && !ipt__host_may_part(plan) && !plan->cut)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "host is overlapped: plans with a forced sequence, tiles, formats, moves, "
                         "row_pitch, IPT_PAD, several passes or places in the expression are not cut into parts");
    return IPT_SUCCESS;
}

/* Allocates pinned->bytes of memory that the device accesses, and maps it. Returns the call that failed; NULL: none. */
static const char *ipt__pinned_make(const ipt_context *context, cl_command_queue queue, ipt__pinned *pinned,
                                    cl_int *error)
{
    const size_t bytes = pinned->bytes;
    pinned->buffer = ipt__calls(context)->clCreateBuffer(context->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                                         bytes, NULL, error);
    if (*error) {
        pinned->buffer = NULL;
        return "clCreateBuffer";
    }
    pinned->memory = (char *)ipt__calls(context)->clEnqueueMapBuffer(
        queue, pinned->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, error);
    if (!*error)
        return NULL;
    ipt__calls(context)->clReleaseMemObject(pinned->buffer);
    pinned->buffer = NULL;
    return "clEnqueueMapBuffer";
}

#ifndef IPT_NO_HOST_STREAMING
/* The length of a part along the longer side, or in matrices of a batch. *count: the number of parts. */
static size_t ipt__host_cut(const ipt_plan *plan, size_t devices, size_t *count)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    const size_t all = desc->batch > 1 ? desc->batch : ipt__max(desc->rows, desc->cols);
    const size_t bytes = plan->problem.matrix_bytes * desc->batch;
    size_t parts = desc->host_queues, length;
    if (!parts) {
        parts = ipt__min(IPT__HOST_PARTS * devices, ipt__max(1, bytes / IPT__HOST_PART_BYTES));
        if (desc->batch == 1)
            parts = ipt__min(parts, ipt__max(1, all * desc->elem_size / IPT__HOST_RUN_BYTES));
        parts = ipt__max(parts, devices);
    }
    parts = ipt__min(ipt__min(parts, all), IPT__HOST_PARTS_MOST);
    length = ipt__ceil_divide(all, parts);
    if (desc->batch == 1 && length > 512) /* rows of a part begin on memory lines if the matrix does */
        length = ipt__round_up(length, 64);
    *count = ipt__ceil_divide(all, length);
    return length;
}

/* Sets a part's areas in the host's matrix before and after the transposition. The part begins at `first`, in lines of
 * the longer side or in matrices. */
static void ipt__host_place(const ipt_plan *plan, ipt__host_part *part, size_t first, size_t length)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    const size_t size = desc->elem_size;
    if (desc->batch > 1)
        part->up = part->down =
            ipt__area_of(first * desc->batch_stride, length, plan->problem.matrix_bytes, desc->batch_stride);
    else if (desc->rows >= desc->cols) {
        part->up = ipt__area_of(first * desc->cols * size, 1, length * desc->cols * size, 0);
        part->down = ipt__area_of(first * size, desc->cols, length * size, desc->rows * size);
    } else {
        part->up = ipt__area_of(first * size, desc->rows, length * size, desc->cols * size);
        part->down = ipt__area_of(first * desc->rows * size, 1, length * desc->rows * size, 0);
    }
}

/* Makes a plan for a share's parts of `length`. All parts of a device use one workspace. */
static ipt_result ipt__host_part_plan(ipt_plan *plan, size_t share, size_t length, ipt_plan **made)
{
    ipt_plan_desc desc = plan->problem.desc;
    ipt_result result;
    if (desc.batch > 1)
        desc.batch = length;
    else
        *(desc.rows >= desc.cols ? &desc.rows : &desc.cols) = length;
    desc.batch_stride = 0;
    desc.flags &= ~(IPT_MEASURE | IPT_OUT_OF_PLACE);
    desc.measure_buffer = NULL;
    desc.host = IPT_HOST_SYNCHRONOUS;
    result = ipt__plan_make(plan->host->staging.shares[share].context, &desc, plan->workspace + share, made);
    if (!result)
        plan->enough = ipt__max(plan->enough, (*made)->enough);
    return result;
}

/* Fails, and proposes a limit that suffices for the plan and for its parts. */
static ipt_result ipt__fail_for_parts(const ipt_plan *plan, size_t enough)
{
    ipt__fail(IPT_ERROR_UNSUPPORTED, "max_workspace allows %zu bytes, too few for a plan and the parts of host",
              ipt__problem_budget(&plan->problem));
    return ipt__advise(offsetof(ipt_plan_desc, max_workspace), enough);
}

/* Makes the queue of a share. Where executions of a kernel must not overlap, the share borrows the context's queue. */
static ipt_result ipt__share_add_queue(ipt__host_share *share, cl_command_queue *queue)
{
    ipt_context *const context = share->context;
    cl_int error;
    if (context->mixes_grids) {
        *queue = context->queue;
        share->queue_count = share->borrows_queue = 1;
        return IPT_SUCCESS;
    }
    *queue = ipt__calls(context)->clCreateCommandQueue(context->context, context->device, 0, &error);
    if (error)
        return ipt__fail_opencl("clCreateCommandQueue", error);
    ++share->queue_count;
    return IPT_SUCCESS;
}

/* The parts of a share: [*begin, *end). */
static void ipt__share_parts(const ipt__host *host, size_t share, size_t *begin, size_t *end)
{
    *begin = host->part_count * share / host->share_count;
    *end = host->part_count * (share + 1) / host->share_count;
}

/* Plans the parts of a share. All parts but the last are `length` long. by_stages: the plan's own stages move them. */
static ipt_result ipt__share_plan(ipt_plan *plan, size_t index, size_t length, int by_stages)
{
    ipt__host *const host = &plan->host->staging;
    ipt__host_share *const share = &host->shares[index];
    const ipt_plan_desc *const desc = &plan->problem.desc;
    const size_t all = desc->batch > 1 ? desc->batch : ipt__max(desc->rows, desc->cols);
    size_t i, end;
    ipt_result result = IPT_SUCCESS;
    share->context = plan->split ? plan->split->contexts[index] : plan->context;
    for (ipt__share_parts(host, index, &i, &end); i < end && !result; ++i) {
        ipt__host_part *const part = &host->parts[i];
        const size_t its_length = ipt__min(length, all - i * length);
        ipt_plan **const its_plan = &share->plans[its_length != length];
        ipt__host_place(plan, part, i * length, its_length);
        if (!by_stages && !*its_plan)
            result = ipt__host_part_plan(plan, index, its_length, its_plan);
        part->share = share;
        part->plan = *its_plan;
        part->device = share->bytes;
        share->bytes += ipt__area_bytes(&part->up);
    }
    return result;
}

/* Plans the parts of host matrices. scheme: OVERLAPPED or STAGES. */
static IPT__RARE ipt_result ipt__host_plan_parts(ipt_plan *plan, ipt_host scheme)
{
    ipt__host *const host = &plan->host->staging;
    const ipt_allocator *const allocator = &plan->context->allocator;
    const size_t devices = ipt__plan_devices(plan);
    size_t length, s;
    ipt_result result = IPT_SUCCESS;
    plan->enough = 0;
    length = ipt__host_cut(plan, devices, &host->part_count);
    host->share_count = ipt__min(devices, host->part_count);
    host->shares = (ipt__host_share *)ipt__allocate(allocator, host->share_count * sizeof *host->shares);
    host->parts = (ipt__host_part *)ipt__allocate(allocator, host->part_count * sizeof *host->parts);
    if (!host->shares || !host->parts)
        result = IPT_ERROR_OUT_OF_MEMORY;
    for (s = 0; s < host->share_count && !result; ++s)
        result = ipt__share_plan(plan, s, length, scheme == IPT_HOST_STAGES);
#ifndef IPT_NO_PAPERS
    if (!result && scheme == IPT_HOST_STAGES)
        result = ipt__host_launch_parts(plan, host);
#endif
    if (!result && plan->enough && !plan->split) /* ipt__plan_fit raises a split plan's limit */
        result = ipt__fail_for_parts(plan, plan->enough);
    if (result)
        ipt__host_close(plan);
    return result;
}

/* Plans the parts for one device. A plan whose host is auto works without parts if they need a larger workspace, or
 * programs that cannot be built. */
static ipt_result ipt__host_add_parts(ipt_plan *plan, ipt_host scheme)
{
    const ipt_result result = ipt__host_plan_parts(plan, scheme);
    if (plan->problem.desc.host ||
        (result != IPT_ERROR_UNSUPPORTED && result != IPT_ERROR_CACHE_MISS && result != IPT_ERROR_BUILD))
        return result;
    plan->host->parts_refused = 1;
    plan->enough = 0;
    return IPT_SUCCESS;
}

/* Plans the parts of host matrices, except for addresses at which the device itself works. The first execution
 * allocates their memory. */
static ipt_result ipt__host_prepare(ipt_plan *plan)
{
    const ipt_host scheme = ipt__host_scheme(plan, 0);
    ipt_result result;
    if (!plan->context->context || plan->enough || plan->host->staging.shares || !plan->device ||
        !plan->device->layout.stage_count || ipt__nothing_moves(plan) ||
        !(scheme == IPT_HOST_STAGES || (scheme == IPT_HOST_OVERLAPPED && ipt__host_may_part(plan))))
        return IPT_SUCCESS;
    plan->workspace->later = 1;
    result = ipt__host_add_parts(plan, scheme);
    plan->workspace->later = 0;
    if (result == IPT_ERROR_UNSUPPORTED && (plan->enough ? ipt__plan_borrows(plan) : scheme == IPT_HOST_STAGES))
        return IPT_SUCCESS; /* the workspace's owner fails, or the execution reports why the stages have no parts */
    return result;
}

/* Allocates the memory and makes the queues of a plan's parts. The plan keeps both. */
static IPT__RARE ipt_result ipt__host_take(ipt_plan *plan)
{
    ipt__host *const host = &plan->host->staging;
    size_t s, i, begin, end;
    ipt_result result = IPT_SUCCESS;
    for (s = 0; s < host->share_count && !result; ++s) {
        ipt__host_share *const share = &host->shares[s];
        if (share->buffer)
            continue;
        ipt__share_parts(host, s, &begin, &end);
        for (i = 0; i < 2 && !result; ++i)
            if (share->plans[i] && (result = ipt__plan_take_workspace(share->plans[i])) != IPT_SUCCESS)
                plan->refused = share->plans[i]->refused;
        for (i = begin; i < end && !result; ++i) {
            cl_command_queue *const queue = &share->queues[share->queue_count];
            result = ipt__share_add_queue(share, queue);
            host->parts[i].queue = *queue;
        }
        if (!result)
            result =
                ipt__buffer_make(share->context, share->bytes, NULL, "device memory", &plan->refused, &share->buffer);
    }
    if (result)
        ipt__host_give_back(host);
    return result;
}

/* Allocates pinned staging memory on GPUs. If the allocation fails, the driver transfers pageable matrices directly. */
static void ipt__host_take_slots(ipt__host *host)
{
#ifndef IPT_NO_THREADS
    size_t s;
    for (s = 0; s < host->share_count; ++s) {
        ipt__host_share *const share = &host->shares[s];
        cl_int error;
        if (share->ring.buffer || share->context->limits.cpu)
            continue;
        share->ring.bytes = (size_t)IPT__HOST_THREADS * IPT__HOST_SLOTS * IPT__HOST_SLOT_BYTES;
        ipt__pinned_make(share->context, share->queues[0], &share->ring, &error);
    }
#else
    (void)host;
#endif
}
#endif

/* ---- pinned memory ---- */

IPT_API ipt_result ipt_host_alloc(ipt_context *context, size_t bytes, void **memory)
{
    ipt__pinned *pinned;
    const char *call;
    cl_int error;
    if (!context || !memory)
        return ipt__fail_null(context ? "memory" : "context");
    *memory = NULL;
    if (!bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "bytes is 0");
    if (!context->context)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the context was made from a profile: it has no device");
    pinned = (ipt__pinned *)ipt__allocate(&context->allocator, sizeof *pinned);
    if (!pinned)
        return IPT_ERROR_OUT_OF_MEMORY;
    pinned->bytes = bytes;
    call = ipt__pinned_make(context, context->queue, pinned, &error);
    if (call) {
        ipt__release(&context->allocator, pinned);
        return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%zu bytes of pinned memory: %s failed with %s (%d)", bytes, call,
                         ipt__cl_error(error), (int)error);
    }
    IPT_LOCK_ACQUIRE(&context->lock);
    pinned->next = context->pinned;
    context->pinned = pinned;
    IPT_LOCK_RELEASE(&context->lock);
    *memory = pinned->memory;
    return IPT_SUCCESS;
}

IPT_API void ipt_host_free(ipt_context *context, void *memory)
{
    ipt__pinned **at, *found = NULL;
    if (!context || !memory)
        return;
    IPT_LOCK_ACQUIRE(&context->lock);
    for (at = &context->pinned; *at && (*at)->memory != (char *)memory; at = &(*at)->next)
        ;
    if (*at) {
        found = *at;
        *at = found->next;
    }
    IPT_LOCK_RELEASE(&context->lock);
    if (found)
        ipt__pinned_free(context, found);
}

#ifndef IPT_NO_HOST_STREAMING
/* True if the whole matrix lies in memory from ipt_host_alloc, or in any pinned memory of CUDA. */
static int ipt__host_is_pinned(ipt_context *context, const char *data, size_t bytes)
{
    const ipt__pinned *next;
    int found = 0;
    IPT_LOCK_ACQUIRE(&context->lock);
    for (next = context->pinned; next; next = next->next)
        found |= data >= next->memory && (size_t)(data - next->memory) <= next->bytes &&
                 bytes <= next->bytes - (size_t)(data - next->memory);
    IPT_LOCK_RELEASE(&context->lock);
#ifdef IPT_CUDA
    if (!found && context->driver == IPT__DRIVER_CUDA) {
        ipt__cuda_enter(context->context);
        found = ipt__cuda_pinned(data, bytes);
        ipt__cuda_leave();
    }
#endif
    return found;
}
#endif
