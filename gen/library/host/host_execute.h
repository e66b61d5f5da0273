/* Host matrices: executions. */

/* Runs on devices that work in host memory, without copies. */
static ipt_result ipt__host_run_shared(ipt__host_run *run)
{
    ipt_plan *const plan = run->plan;
    const cl_command_queue queue = plan->context->queue;
    cl_int error;
    cl_event event = NULL;
    void *mapped;
    cl_mem buffer;
    ipt_result result = ipt__buffer_make(plan->context, plan->problem.span_bytes, run->data,
                                         "the host's matrix as a buffer", &plan->refused, &buffer);
    if (result)
        return result;
    ipt__host_progress(run, 0);
    result = run->cancelled ? IPT_SUCCESS : ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, &event);
    if (!run->cancelled && (!result || result == IPT_ERROR_INCOMPLETE)) {
        const ipt_result waited = event ? ipt__wait_for(plan->context, event) : IPT_SUCCESS;
        run->written = 1;
        if (!result)
            result = waited;
        mapped = result ? NULL
                        : ipt__calls(run->plan->context)
                              ->clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, plan->problem.span_bytes, 0,
                                                   NULL, NULL, &error);
        if (!result && error)
            result = ipt__fail_opencl("clEnqueueMapBuffer", error);
        if (!result) {
            error = ipt__calls(run->plan->context)->clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL);
            if (error)
                result = ipt__fail_opencl("clEnqueueUnmapMemObject", error);
        }
        error = ipt__calls(run->plan->context)
                    ->clFinish(queue); /* even after a failure: the memory returns to the caller */
        if (!result && error)
            result = ipt__fail_opencl("clFinish", error);
        if (!result)
            ipt__host_progress(run, run->total);
        run->cancelled = 0; /* too late to cancel */
    }
    if (event)
        ipt__calls(run->plan->context)->clReleaseEvent(event);
    ipt__calls(run->plan->context)->clReleaseMemObject(buffer);
    return result;
}

/* Uploads, transposes and downloads, one after the other. */
static ipt_result ipt__host_run_synchronous(ipt__host_run *run)
{
    ipt_plan *const plan = run->plan;
    /* Whole strides: NVIDIA refuses a rectangle whose last row is cut short. */
    const size_t row = ipt__max(ipt__source_row(&plan->problem), ipt__result_row(&plan->problem)),
                 bytes = (ipt__is_view(&plan->problem) ? plan->problem.span_bytes
                                                       : plan->problem.desc.batch * plan->problem.desc.batch_stride) +
                         (plan->problem.pitched ? row * plan->problem.unit_bytes : 0);
    cl_event event = NULL;
    cl_mem buffer;
    ipt_result result = ipt__buffer_make(plan->context, bytes, NULL, "device memory", &plan->refused, &buffer);
    if (result)
        return result;
    result = ipt__transfer(plan, buffer, run->data, 0);
    if (!result)
        ipt__host_progress(run, run->total / 2);
    else if (result == IPT_ERROR_OUT_OF_MEMORY)
        plan->refused = bytes; /* some devices allocate memory only at first use */
    if (!result && !run->cancelled)
        result = ipt_plan_execute(plan, plan->context->queue, buffer, 0, 0, NULL, &event);
    if (!result && !run->cancelled)
        result = event ? ipt__wait_for(plan->context, event)
                       : ipt__fail(IPT_ERROR_OPENCL, "the execution has no event to wait for");
    else if (result == IPT_ERROR_INCOMPLETE)
        result = IPT_ERROR_OPENCL; /* the device's copy is lost, the caller's data is intact */
    if (!result && !run->cancelled) {
        run->written = 1;
        result = ipt__transfer(plan, buffer, run->data, 1);
        if (!result)
            ipt__host_progress(run, run->total - run->done);
        run->cancelled = 0; /* too late to cancel */
    }
    if (event)
        ipt__calls(run->plan->context)->clReleaseEvent(event);
    ipt__calls(run->plan->context)->clReleaseMemObject(buffer);
    return result;
}

#ifndef IPT_NO_HOST_STREAMING
/* Executes a plan. The caller has locked host->lock of the plan, or of the plan that owns it. */
static ipt_result ipt__host_run_scheme(ipt__host_run *run, ipt_host scheme)
{
    ipt_plan *const plan = run->plan;
    ipt__host *const host = &plan->host->staging;
    ipt_result result = IPT_SUCCESS;
    if (scheme != IPT_HOST_OVERLAPPED && scheme != IPT_HOST_STAGES)
        return scheme == IPT_HOST_SHARED ? ipt__host_run_shared(run) : ipt__host_run_synchronous(run);
    if (!host->shares && !plan->host->parts_refused) /* the first address at which the device cannot work */
        result = ipt__host_add_parts(plan, scheme);
    if (!result && plan->host->parts_refused)
        return ipt__host_run_synchronous(run);
    if (!result)
        result = ipt__host_take(plan);
    if (!result && !run->pinned && plan->problem.span_bytes >= IPT__HOST_STAGED_BYTES)
        ipt__host_take_slots(host);
    if (!result)
        result = plan->cut ? ipt__cut_run(run)
#ifndef IPT_NO_PAPERS
                 : scheme == IPT_HOST_STAGES ? ipt__host_run_stages(run, host)
#endif
                 : plan->problem.desc.batch > 1 ? ipt__host_run_batch(run, host)
                                                : ipt__host_run_blocks(run, host);
    ipt__host_finish(host);
    return result;
}

/* Makes a plan that executes for this one: in pieces, or in units of bytes, which CPUs access at any address. */
static ipt_result ipt__host_make_other(ipt_plan *plan, const ipt_plan_desc *desc, int in_pieces)
{
    ipt__workspace *const workspace = plan->workspace;
    ipt_plan **const other = &plan->host->pieces;
    ipt_result result;
    workspace->unit_most = in_pieces ? IPT__VECTOR_BYTES : 1;
    result = ipt__host_plan_make_as(plan->context, desc, workspace, in_pieces, other);
    workspace->unit_most = IPT__VECTOR_BYTES;
    if (!result && (*other)->enough) {
        result = ipt__fail_workspace(*other, workspace->limit, 0);
        ipt_plan_destroy(*other);
        *other = NULL;
    }
    return result;
}

/* Makes another plan for a host matrix after the device refused memory for the whole matrix. */
static ipt_result ipt__host_make_pieces(ipt_plan *plan)
{
    ipt_plan_desc desc = plan->problem.desc;
    char cause[IPT__CAUSE_BYTES], why[IPT__CAUSE_BYTES];
    ipt_result result;
    ipt__keep_cause(cause);
    if (plan->passes)
        return plan->refused ? ipt__fail(IPT_ERROR_OUT_OF_MEMORY,
                                         "%s; arrays go in pieces with host overlapped and max_device_memory = %zu",
                                         cause, ipt__less_than(plan->context, plan->refused))
                             : ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%s; arrays do not go in pieces there", cause);
    if (desc.host && desc.host != IPT_HOST_OVERLAPPED)
        return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%s; host is %s: auto and overlapped take matrices in pieces", cause,
                         ipt_host_string(desc.host));
    ipt__host_give_back(&plan->host->staging);
    desc.host = IPT_HOST_AUTO;
    desc.host_queues = 0;
    desc.flags &= ~IPT_MEASURE;
    desc.measure_buffer = NULL;
    result = ipt__host_make_other(plan, &desc, 1);
    if (!result)
        return IPT_SUCCESS;
    ipt__keep_cause(why);
    if (plan->context->shares_memory && plan->context->limits.cpu && !desc.expression &&
        !ipt__host_make_other(plan, &desc, 0))
        return IPT_SUCCESS;
    return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%s; it cannot go in pieces: %s", cause, why);
}

/* True if the plan would exceed max_device_memory because the device cannot work in this host memory. */
static int ipt__host_exceeds(const ipt_plan *plan, ipt_host scheme)
{
    const size_t limit = plan->problem.desc.max_device_memory, budget = ipt__problem_budget(&plan->problem);
    return limit && scheme != IPT_HOST_SHARED && !plan->problem.desc.host && !plan->cut &&
           (limit < budget || limit - budget < plan->problem.span_bytes);
}
/* True if the device will refuse the whole matrix again. Memory that other programs took may be free next time. */
static int ipt__host_is_refused(const ipt_plan *plan)
{
    return plan->context->allocation && plan->problem.span_bytes > plan->context->allocation;
}

/* Executes a matrix whole or in parts. host->pieces executes it instead if the plan would exceed max_device_memory for
 * this address, or if the device refuses memory. */
static ipt_result ipt__host_run_any(ipt__host_run *run, ipt_host scheme)
{
    ipt_plan *const plan = run->plan;
    const int exceeds = ipt__host_exceeds(plan, scheme);
    int other = exceeds || (plan->host->pieces && ipt__host_is_refused(plan));
    ipt_result result = IPT_SUCCESS;
    if (!other) {
        result = ipt__host_run_scheme(run, scheme);
        other = result == IPT_ERROR_OUT_OF_MEMORY && plan->refused && !run->written && !plan->cut;
    } else if (!plan->host->pieces)
        ipt__fail(IPT_ERROR_OUT_OF_MEMORY,
                  "max_device_memory is %zu, and the device cannot work on data at %p: a multiple of 16 would do",
                  plan->problem.desc.max_device_memory, (void *)run->data);
    if (!other)
        return result;
    result = plan->host->pieces ? IPT_SUCCESS : ipt__host_make_pieces(plan);
    if (result)
        return result;
    run->plan = plan->host->pieces;
    result = ipt__host_run_scheme(run, run->plan->host->in_pieces ? IPT_HOST_OVERLAPPED : IPT_HOST_SHARED);
    if (!exceeds && !ipt__host_is_refused(plan)) {
        ipt_plan_destroy(plan->host->pieces);
        plan->host->pieces = NULL;
    }
    return result;
}
#else
/* Executes a plan whose matrix goes whole. The caller has locked host->lock. */
static ipt_result ipt__host_run_any(ipt__host_run *run, ipt_host scheme)
{
    return scheme == IPT_HOST_SHARED ? ipt__host_run_shared(run) : ipt__host_run_synchronous(run);
}
#endif

/* Executes a plan that moves host matrices in one pass. */
static ipt_result ipt__host_execute(ipt_plan *plan, void *data, const ipt_host_options *options)
{
    static const ipt_host_options none = {NULL, NULL, NULL};
    ipt__host_run run;
    ipt_host scheme;
    ipt_result result = ipt__host_choose(plan, (const char *)data, &scheme);
    if (result || (plan->device && !plan->device->layout.stage_count) || ipt__nothing_moves(plan))
        return result;
    memset(&run, 0, sizeof run);
    run.plan = plan;
    run.data = (char *)data;
    run.options = options ? options : &none;
    run.total = 2 * plan->problem.matrix_bytes * plan->problem.desc.batch;
    IPT_LOCK_ACQUIRE(&plan->host->lock);
    plan->refused = 0;
#ifndef IPT_NO_HOST_STREAMING
    run.pinned = ipt__host_is_pinned(plan->context, run.data, plan->problem.span_bytes);
#endif
    result = ipt__host_run_any(&run, scheme);
    IPT_LOCK_RELEASE(&plan->host->lock);
    if (result && run.written)
        return ipt__fail_incomplete(
            "it happened after the first byte was written, so part of data may hold the result");
    if (!result && run.cancelled)
        return run.written ? ipt__fail(IPT_ERROR_INCOMPLETE, "cancelled after the first byte was written: part of data "
                                                             "holds the result")
                           : ipt__fail(IPT_ERROR_CANCELLED, "cancelled before a byte was written: data is unchanged");
    return result;
}

#ifndef IPT_NO_HOST_STREAMING
/* The progress of an array's passes. */
typedef struct ipt__pass_progress {
    const ipt_host_options *options; /* the caller's */
    size_t before, passes;           /* executions of passes: the number of ended ones, and of all */
    size_t bytes;                    /* reported for each execution. Passes differ in their bytes over the bus */
    int cancelled;                   /* by the callback: no later pass begins */
} ipt__pass_progress;

static int ipt__pass_progressed(size_t done, size_t total, void *user)
{
    ipt__pass_progress *const of = (ipt__pass_progress *)user;
    const size_t part = (size_t)((double)of->bytes * (double)done / (double)total);
    if (of->options->progress(of->before * of->bytes + part, of->passes * of->bytes, of->options->user))
        of->cancelled = 1;
    return of->cancelled;
}

/* Fails, before the first pass changes data, if the desc's host is impossible for a later one. */
static ipt_result ipt__host_check_passes(const ipt_plan *plan, const char *data)
{
    ipt_result result = IPT_SUCCESS;
    size_t r;
    int i;
    for (i = 0; i < plan->passes->count; ++i)
        for (r = 0; r < plan->passes->list[i].repeats && !result; ++r) {
            ipt_plan *const pass = plan->passes->list[i].plan;
            ipt_host scheme;
            result = ipt__host_choose(pass, data + r * plan->problem.desc.batch_stride, &scheme);
            IPT_LOCK_ACQUIRE(&pass->host->lock);
            if (!result && scheme == IPT_HOST_STAGES && !pass->host->staging.shares && !ipt__nothing_moves(pass) &&
                pass->device && pass->device->layout.stage_count)
                result = ipt__host_add_parts(pass, scheme);
            IPT_LOCK_RELEASE(&pass->host->lock);
        }
    return result;
}

/* Executes the passes of an array that exceeds the device. Each pass moves the array through host memory. */
static IPT__RARE ipt_result ipt__host_execute_passes(ipt_plan *plan, void *data, const ipt_host_options *options)
{
    ipt_host_options each = {NULL, NULL, NULL};
    ipt__pass_progress progress = {NULL, 0, 0, 0, 0};
    ipt_result result = ipt__host_check_passes(plan, (const char *)data);
    size_t r;
    int i;
    for (i = 0; i < plan->passes->count; ++i)
        progress.passes += plan->passes->list[i].repeats;
    if (options && options->progress) {
        progress.options = options;
        progress.bytes = 2 * plan->problem.matrix_bytes * plan->problem.desc.batch;
        each.progress = ipt__pass_progressed;
        each.user = &progress;
    }
    for (i = 0; i < plan->passes->count && !result; ++i)
        for (r = 0; r < plan->passes->list[i].repeats && !result; ++r) {
            result = ipt__host_execute(plan->passes->list[i].plan, (char *)data + r * plan->problem.desc.batch_stride,
                                       &each);
            if (result && result != IPT_ERROR_INCOMPLETE && progress.before)
                result = ipt__fail_incomplete("an earlier pass has changed data");
            ++progress.before;
            if (!result && progress.cancelled && progress.before < progress.passes)
                result = ipt__fail(IPT_ERROR_INCOMPLETE, "cancelled between two passes: data holds neither array");
        }
    return result;
}
#endif

/* Executes a checked plan of any kind. */
static ipt_result ipt__host_execute_as(ipt_plan *plan, void *data, const ipt_host_options *options)
{
#ifndef IPT_NO_HOST_STREAMING
    if (plan->kind->by_passes)
        return ipt__host_execute_passes(plan, data, options);
#endif
    return ipt__host_execute(plan, data, options);
}
