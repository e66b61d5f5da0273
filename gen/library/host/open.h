/* Host matrices: parts, their plans and buffers. */

#ifndef IPT_NO_HOST_STREAMING
/* The length of a part along the longer side, or in matrices of a batch. count: number of parts. */
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

/* Sets the areas of part `index` in the host's matrix before and after the transposition. */
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

/* Refuses a plan with a limit that its parts accept, too. */
static ipt_result ipt__fail_for_parts(const ipt_plan *plan, size_t enough)
{
    ipt__fail(IPT_ERROR_UNSUPPORTED, "max_workspace allows %zu bytes, too few for a plan and the parts of host",
              ipt__problem_budget(&plan->problem));
    return ipt__advise(offsetof(ipt_plan_desc, max_workspace), enough);
}

/* Makes a queue for a share. Where kernels must not run at once, the host matrices of a context use its queue. */
static ipt_result ipt__share_add_queue(ipt__host_share *share, cl_command_queue *queue)
{
    ipt_context *const context = share->context;
    cl_int error;
    if (context->mixes_grids) {
        *queue = context->queue;
        share->queue_count = share->borrows_queue = 1;
        return IPT_SUCCESS;
    }
    *queue = ipt__cl.clCreateCommandQueue(context->context, context->device, 0, &error);
    if (error)
        return ipt__fail_opencl("clCreateCommandQueue", error);
    ++share->queue_count;
    return IPT_SUCCESS;
}

/* Makes parts, plans, buffers and queues, and keeps them for later executions. scheme: OVERLAPPED or STAGES. */
static IPT__RARE ipt_result ipt__host_open(ipt_plan *plan, ipt_host scheme)
{
    ipt__host *const host = &plan->host->staging;
    const ipt_allocator *const allocator = &plan->context->allocator;
    const int whole = scheme == IPT_HOST_STAGES;
    const size_t devices = plan->host->split_count ? plan->host->split_count : 1;
    const size_t all = plan->problem.desc.batch > 1 ? plan->problem.desc.batch
                                                    : ipt__max(plan->problem.desc.rows, plan->problem.desc.cols);
    size_t length, i, s, bytes = 0;
    ipt_result result = IPT_SUCCESS;
    if (host->shares)
        return IPT_SUCCESS; /* a cut plan was opened when it was made */
    plan->enough = 0;
    length = ipt__host_cut(plan, devices, &host->part_count);
    host->share_count = ipt__min(devices, host->part_count);
    host->shares = (ipt__host_share *)ipt__allocate(allocator, host->share_count * sizeof *host->shares);
    host->parts = (ipt__host_part *)ipt__allocate(allocator, host->part_count * sizeof *host->parts);
    if (!host->shares || !host->parts)
        result = IPT_ERROR_OUT_OF_MEMORY;
    for (s = 0; s < host->share_count && !result; ++s) {
        ipt__host_share *const share = &host->shares[s];
        const size_t begin = host->part_count * s / host->share_count,
                     end = host->part_count * (s + 1) / host->share_count;
        bytes = 0;
        share->context = plan->host->split_count ? plan->host->split[s] : plan->context;
        for (i = begin; i < end && !result; ++i) {
            ipt__host_part *const part = &host->parts[i];
            const size_t its_length = ipt__min(length, all - i * length);
            ipt_plan **const its_plan = &share->plans[its_length != length];
            cl_command_queue *const queue = &share->queues[share->queue_count];
            ipt__host_place(plan, part, i * length, its_length);
            if (!whole && !*its_plan)
                result = ipt__host_part_plan(plan, s, its_length, its_plan);
            part->share = share;
            part->plan = *its_plan;
            part->device = bytes;
            bytes += ipt__area_bytes(&part->up);
            if (result)
                break;
            result = ipt__share_add_queue(share, queue);
            part->queue = *queue;
        }
        if (!result)
            result = ipt__buffer_make(share->context, bytes, NULL, "device memory", &plan->refused, &share->buffer);
    }
#ifndef IPT_NO_PAPERS
    if (!result && whole)
        result = ipt__host_launch_parts(plan, host);
#endif
    if (!result && plan->enough && !plan->host->split_count) /* a split plan's are made when it is */
        result = ipt__fail_for_parts(plan, plan->enough);
    if (result)
        ipt__host_close(plan);
    return result;
}

/* Allocates pinned staging memory on devices that gain by it. If that fails, the driver transfers pageable matrices
 * directly. */
static void ipt__host_take_slots(ipt__host *host)
{
#ifndef IPT_NO_THREADS
    const size_t bytes = (size_t)IPT__HOST_THREADS * IPT__HOST_SLOTS * IPT__HOST_SLOT_BYTES;
    size_t s;
    for (s = 0; s < host->share_count; ++s) {
        ipt__host_share *const share = &host->shares[s];
        cl_int error;
        if (share->pinned || share->context->limits.cpu)
            continue;
        share->pinned = ipt__cl.clCreateBuffer(share->context->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                               bytes, NULL, &error);
        if (error) {
            share->pinned = NULL;
            continue;
        }
        share->ring = (char *)ipt__cl.clEnqueueMapBuffer(share->queues[0], share->pinned, CL_TRUE,
                                                         CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error);
        if (error) {
            ipt__cl.clReleaseMemObject(share->pinned);
            share->pinned = NULL;
            share->ring = NULL;
        }
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
    pinned->buffer =
        ipt__cl.clCreateBuffer(context->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);
    call = "clCreateBuffer";
    if (!error) {
        call = "clEnqueueMapBuffer";
        pinned->memory = (char *)ipt__cl.clEnqueueMapBuffer(
            context->queue, pinned->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error);
        if (error)
            ipt__cl.clReleaseMemObject(pinned->buffer);
    }
    if (error) {
        ipt__release(&context->allocator, pinned);
        return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%zu bytes of pinned memory: %s failed with %s (%d)", bytes, call,
                         ipt__cl_error(error), (int)error);
    }
    pinned->bytes = bytes;
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
/* True if the whole matrix lies in memory from ipt_host_alloc. */
static int ipt__host_is_pinned(ipt_context *context, const char *data, size_t bytes)
{
    const ipt__pinned *next;
    int found = 0;
    IPT_LOCK_ACQUIRE(&context->lock);
    for (next = context->pinned; next; next = next->next)
        found |= data >= next->memory && (size_t)(data - next->memory) <= next->bytes &&
                 bytes <= next->bytes - (size_t)(data - next->memory);
    IPT_LOCK_RELEASE(&context->lock);
    return found;
}
#endif
