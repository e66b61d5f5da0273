/* Host matrices: by parts and by stages. */

/* Waits until all commands of a run have ended, even after a failure. */
static IPT__RARE void ipt__host_finish(const ipt__host *host)
{
    size_t s, i;
    for (s = 0; s < host->share_count; ++s)
        for (i = 0; i < (size_t)host->shares[s].queue_count; ++i)
            ipt__calls(host->shares[s].context)->clFinish(host->shares[s].queues[i]);
    for (i = 0; i < host->part_count; ++i) {
        ipt__host_forget(host->parts[i].share, &host->parts[i].uploaded);
        ipt__host_forget(host->parts[i].share, &host->parts[i].transposed);
        ipt__host_forget(host->parts[i].share, &host->parts[i].downloaded);
    }
    for (i = 0; i < host->command_count; ++i)
        ipt__host_forget(host->shares, &host->commands[i].event);
}

/* Waits for a transfer of a part and reports progress. */
static ipt_result ipt__host_await(ipt__host_run *run, ipt__host_part *part, int download)
{
    const ipt_result result = ipt__wait_for(part->share->context, download ? part->downloaded : part->uploaded);
    if (!result)
        ipt__host_progress(run, ipt__area_bytes(&part->up));
    return result;
}

/* Uploads a part and transposes it. */
static ipt_result ipt__host_begin(ipt__host_run *run, ipt__host_part *part)
{
    ipt_result result = ipt__host_move(run, part, 0, 0, NULL, &part->uploaded);
    if (!result)
        result = ipt_plan_execute(part->plan, part->queue, part->share->buffer, part->device, 1, &part->uploaded,
                                  &part->transposed);
    /* The host's matrix is intact. INVALID_ARGUMENT would blame the caller: report a failed upload. */
    return result == IPT_ERROR_INCOMPLETE || result == IPT_ERROR_INVALID_ARGUMENT ? IPT_ERROR_OPENCL : result;
}

/* Runs the parts of one matrix: all uploads precede the first download. A few transfers are enqueued ahead. */
static ipt_result ipt__host_run_blocks(ipt__host_run *run, ipt__host *host)
{
    ipt_result result = IPT_SUCCESS;
    size_t i, awaited = 0, begun = 0;
    for (i = 0; i < host->part_count && !result && !run->cancelled; ++i) {
        result = ipt__host_begin(run, &host->parts[i]);
        for (; !result && !run->cancelled && awaited + IPT__HOST_AHEAD <= i; ++awaited)
            result = ipt__host_await(run, &host->parts[awaited], 0);
    }
    for (; awaited < host->part_count && !result && !run->cancelled; ++awaited)
        result = ipt__host_await(run, &host->parts[awaited], 0);
    for (i = 0; i < host->part_count && !result && !run->cancelled; ++i)
        result = ipt__wait_for(host->parts[i].share->context, host->parts[i].transposed);
    for (i = 0; i < host->part_count && !result && !run->cancelled; ++i) {
        for (; begun < ipt__min(host->part_count, i + IPT__HOST_AHEAD) && !result; ++begun) {
            run->written = 1;
            result = ipt__host_move(run, &host->parts[begun], 1, 0, NULL, &host->parts[begun].downloaded);
        }
        if (!result)
            result = ipt__host_await(run, &host->parts[i], 1);
        if (begun == host->part_count)
            run->cancelled = 0; /* too late to cancel */
    }
    return result;
}

/* Fails if an event has failed: some implementations wait forever for such an event. */
static ipt_result ipt__host_unfailed(const ipt_context *context, cl_event event)
{
    cl_int status = CL_COMPLETE;
    const cl_int error =
        ipt__calls(context)->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    if (error)
        return ipt__fail_opencl("clGetEventInfo", error);
    return status < 0 ? ipt__fail_opencl("a transfer or a transposition that was to be waited for", status)
                      : IPT_SUCCESS;
}

/* Runs parts that do not wait for one another: matrices of a batch, or chunks of a cut matrix. */
static ipt_result ipt__host_run_batch(ipt__host_run *run, ipt__host *host)
{
    const size_t ahead = 2;
    ipt_result result = IPT_SUCCESS;
    size_t i, awaited = 0;
    for (i = 0; i < host->part_count + ahead && !result && !run->cancelled; ++i) {
        if (i < host->part_count)
            result = ipt__host_begin(run, &host->parts[i]);
        if (!result && i > 0 && i <= host->part_count) {
            /* A part of a cut matrix is downloaded to the place from which the previous part was uploaded. */
            const cl_event wait[2] = {host->parts[i - 1].transposed, i > 1 ? host->parts[i - 2].uploaded : NULL};
            result = ipt__host_unfailed(host->parts[i - 1].share->context, host->parts[i - 1].transposed);
            if (result)
                break;
            run->written = 1;
            result = ipt__host_move(run, &host->parts[i - 1], 1, i > 1 ? 2 : 1, wait, &host->parts[i - 1].downloaded);
        }
        for (; !result && !run->cancelled && awaited + ahead <= i; ++awaited) {
            result = ipt__host_await(run, &host->parts[awaited], 0);
            if (!result)
                result = ipt__host_await(run, &host->parts[awaited], 1);
            if (i >= host->part_count && run->done == run->total)
                run->cancelled = 0; /* too late to cancel */
        }
    }
    return result;
}

/* ---- stages by parts: Sung et al., PPoPP 2014, section 6 ---- */

#ifndef IPT_NO_PAPERS

/* The smallest instance count of stages [first, end), which divides the other counts. 0 if the stages cannot be cut. */
static size_t ipt__host_grain(const ipt_plan *plan, int first, int end)
{
    size_t grain = 0;
    int i;
    for (i = first; i < end; ++i) {
        const ipt__stage *const stage = &plan->device->layout.stages[i];
        if (!ipt__stage_traits[stage->kind].in_parts || stage->row_slots)
            return 0;
        if (!grain || stage->instances < grain)
            grain = stage->instances;
    }
    for (i = first; i < end; ++i)
        if (plan->device->layout.stages[i].instances % grain)
            return 0;
    return grain;
}

/* Divides a plan's stages and its matrix into parts. Fails if the stages cannot be cut. */
static ipt_result ipt__host_divide(const ipt_plan *plan, size_t part_count, ipt__host_stages *parts)
{
    const int stages = plan->device ? plan->device->layout.stage_count : 0;
    int whole = 0, later;
    while (whole < stages && plan->device->layout.stages[whole].instances > 1)
        ++whole;
    later = whole + 1 < stages;
    parts->whole = whole;
    parts->before = ipt__host_grain(plan, 0, whole);
    parts->after = ipt__host_grain(plan, whole + 1, stages);
    if (plan->problem.desc.batch > 1 || whole == stages || plan->device->layout.cooperative ||
        (whole && !parts->before) || (later && !parts->after))
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "host is %s: the plan's stages cannot be cut into parts; sequences 3.1 to 4.2 with tiles that "
                         "divide can",
                         ipt_host_string(IPT_HOST_STAGES));
    parts->before = whole ? parts->before : plan->problem.desc.rows;
    parts->after = later ? parts->after : plan->problem.desc.cols;
    parts->ups = ipt__min(parts->before, part_count);
    parts->downs = ipt__min(parts->after, part_count);
    return IPT_SUCCESS;
}

/* Adds the launches of stages [range[0], range[1]). Each stage's instances form `grain` groups of equal size. The
 * launches move groups [begin, stop). */
static IPT__RARE ipt_result ipt__host_launch(const ipt_plan *plan, const int *range, size_t grain, size_t begin,
                                             size_t stop, ipt__launches *launches)
{
    ipt_result result = IPT_SUCCESS;
    int i;
    for (i = range[0]; i < range[1] && !result; ++i) {
        ipt__stage stage = plan->device->layout.stages[i];
        const size_t each = stage.instances / grain;
        stage.instances = (stop - begin) * each;
        result = ipt__stage_launch(plan, &stage, begin * each * ipt__instance_units(&plan->problem, &stage), launches);
    }
    return result;
}

/* Fixes the launches of all parts: IPT_HOST_STAGES. */
static ipt_result ipt__host_launch_parts(const ipt_plan *plan, ipt__host *host)
{
    ipt__host_stages *const parts = &host->stages;
    int up[2] = {0, 0}, middle[2], down[2];
    size_t i;
    ipt_result result = ipt__host_divide(plan, host->part_count, parts);
    if (result)
        return result;
    up[1] = middle[0] = parts->whole;
    middle[1] = down[0] = parts->whole + 1;
    down[1] = plan->device->layout.stage_count;
    parts->count = parts->ups + 1 + parts->downs;
    parts->launches = (ipt__launches *)ipt__allocate(&plan->context->allocator, parts->count * sizeof *parts->launches);
    if (!parts->launches)
        return IPT_ERROR_OUT_OF_MEMORY;
    for (i = 0; i < parts->ups && !result; ++i)
        result = ipt__host_launch(plan, up, parts->before, parts->before * i / parts->ups,
                                  parts->before * (i + 1) / parts->ups, &parts->launches[i]);
    if (!result)
        result = ipt__host_launch(plan, middle, 1, 0, 1, &parts->launches[parts->ups]);
    for (i = 0; i < parts->downs && !result; ++i)
        result = ipt__host_launch(plan, down, parts->after, parts->after * i / parts->downs,
                                  parts->after * (i + 1) / parts->downs, &parts->launches[parts->ups + 1 + i]);
    return result;
}

/* Enqueues the launches of a part. */
static IPT__RARE ipt_result ipt__host_enqueue(ipt_plan *plan, cl_command_queue queue, cl_mem buffer,
                                              const ipt__launches *launches, const cl_event *wait, cl_event *event)
{
    const ipt__call call = {queue, buffer, buffer, 0, 0, 0, wait != NULL, wait, 0, NULL};
    const ipt_result result = ipt__plan_enqueue(plan, &call, launches, event);
    return result == IPT_ERROR_INCOMPLETE ? IPT_ERROR_OPENCL : result; /* the host's matrix is intact */
}

/* Runs the stages before the whole-matrix stage part by part after each upload. The later stages run before the
 * download of their part. */
static ipt_result ipt__host_run_stages(ipt__host_run *run, ipt__host *host)
{
    ipt_plan *const plan = run->plan;
    ipt__host_share *const share = &host->shares[0];
    const ipt__host_stages *const parts = &host->stages;
    const ipt__launches *const launches = parts->launches;
    const size_t ups = parts->ups, downs = parts->downs, before = parts->before, after = parts->after;
    size_t i, awaited;
    cl_event middle = NULL;
    ipt_result result = IPT_SUCCESS;
    for (i = 0; i < ups && !result; ++i) {
        ipt__host_part *const part = &host->parts[i];
        const size_t begin = before * i / ups, stop = before * (i + 1) / ups;
        part->device = plan->problem.matrix_bytes / before * begin;
        part->up = ipt__area_of(part->device, 1, plan->problem.matrix_bytes / before * (stop - begin), 0);
        result = ipt__host_move(run, part, 0, 0, NULL, &part->uploaded);
        if (!result && launches[i].count)
            result =
                ipt__host_enqueue(plan, part->queue, share->buffer, &launches[i], &part->uploaded, &part->transposed);
    }
    for (awaited = 0; awaited < ups && !result && !run->cancelled; ++awaited)
        result = ipt__host_await(run, &host->parts[awaited], 0);
    /* The workspace's last event orders all launches, but does not report that an earlier one failed. */
    for (awaited = 0; awaited < ups && launches[awaited].count && !result && !run->cancelled; ++awaited)
        result = ipt__wait_for(share->context, host->parts[awaited].transposed);
    if (!result && !run->cancelled)
        result = ipt__host_enqueue(plan, share->queues[0], share->buffer, &launches[ups], NULL, &middle);
    if (!result && !run->cancelled) /* the host's matrix is unchanged until here */
        result = ipt__wait_for(share->context, middle);
    for (i = 0; i < downs && !result && !run->cancelled; ++i) {
        ipt__host_part *const part = &host->parts[i];
        const size_t begin = after * i / downs, stop = after * (i + 1) / downs;
        ipt__host_forget(share, &part->transposed);
        part->device = plan->problem.matrix_bytes / after * begin;
        part->up = part->down = ipt__area_of(part->device, 1, plan->problem.matrix_bytes / after * (stop - begin), 0);
        if (launches[ups + 1 + i].count)
            result =
                ipt__host_enqueue(plan, part->queue, share->buffer, &launches[ups + 1 + i], &middle, &part->transposed);
        if (result)
            break;
        run->written = 1;
        result = ipt__host_move(run, part, 1, 1, part->transposed ? &part->transposed : &middle, &part->downloaded);
    }
    for (awaited = 0; awaited < downs && i == downs && !result; ++awaited) {
        result = ipt__host_await(run, &host->parts[awaited], 1);
        run->cancelled = 0; /* too late to cancel */
    }
    ipt__host_finish(host);
    ipt__host_forget(share, &middle);
    return result;
}

#endif
