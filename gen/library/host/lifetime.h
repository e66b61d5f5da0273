/* Plans for matrices in host memory: beginning, description, end. */

/* Prepares a device plan for host matrices. */
static ipt_result ipt__host_plan_begin(ipt_plan *plan)
{
    plan->host = (ipt__host_plan *)ipt__allocate(&plan->context->allocator, sizeof *plan->host);
    if (!plan->host)
        return IPT_ERROR_OUT_OF_MEMORY;
    IPT_LOCK_INIT(&plan->host->lock);
    return IPT_SUCCESS;
}

#ifndef IPT_NO_HOST_STREAMING
/* The number of moves. gcd(rows - 1, cols - 1) + 1 slots of a grid are fixed points. */
static size_t ipt__moves_count(const ipt__cut *cut)
{
    size_t a, b;
    if (cut->matrices || cut->panels == 1 || cut->groups == 1)
        return 0;
    for (a = cut->panels - 1, b = cut->groups - 1; b;) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return cut->panels * cut->groups - a - 1;
}

static void ipt__cut_describe(ipt__text *out, const ipt__cut_plan *plan)
{
    const ipt__cut *const cut = &plan->sizes;
    if (cut->matrices)
        ipt__text_add(out, "  %zu matrices at a time, in chunks of %zu bytes\n", cut->matrices, cut->chunk_bytes);
    else
        ipt__text_add(out,
                      "  cut into %zu panels of %zu and %zu left over, %zu to a chunk of %zu bytes; the host shuffles "
                      "%zu blocks of %zu bytes, each %zu super-elements; %zu lines left over\n",
                      cut->panels, cut->length, cut->rest, cut->chunk_panels, cut->chunk_bytes, ipt__moves_count(cut),
                      cut->block_bytes, cut->group, cut->spare);
    if (plan->blocks.bus_bytes)
        ipt__text_add(out,
                      "  pinned: %zu panels of %zu rows, %zu blocks of %zu columns to each; the device holds up to %zu "
                      "of %zu bytes; %zu bytes cross the bus\n",
                      plan->blocks.panels, plan->blocks.length, plan->blocks.per_panel, plan->blocks.columns,
                      plan->blocks.units, plan->blocks.unit_bytes, plan->blocks.bus_bytes);
    if (plan->bus_bands.bus_bytes)
        ipt__text_add(out, "  pinned: %zu bands of %zu %s, runs of %zu bytes; %zu bytes cross the bus\n",
                      plan->bus_bands.bands.number, plan->bus_bands.bands.height,
                      plan->bus_bands.bands.tall ? "rows" : "columns", plan->bus_bands.run_bytes,
                      plan->bus_bands.bus_bytes);
}

/* Describes the plans of a share's parts or pieces, each in its own words. */
static void ipt__share_describe(ipt__text *out, const ipt_plan *plan, size_t index)
{
    static const char *const parts[] = {"a part", "the last part"}, *const pieces[] = {"each chunk", "the last chunk",
                                                                                       "the remainder", "each group"};
    const ipt__host_share *const share = &plan->host->staging.shares[index];
    const int cut = plan->host->cut != NULL;
    int i;
    for (i = 0; i < 4; ++i)
        if (share->plans[i] && cut)
            ipt__text_add(out, "  %s: %s", pieces[i], share->plans[i]->description);
        else if (share->plans[i])
            ipt__text_add(out, "  device %zu, %s: %s", index + 1, parts[i], share->plans[i]->description);
    for (i = 0; i < IPT__BLOCK_PLANS; ++i)
        if (share->block_plans[i])
            ipt__text_add(out, "  pinned: %s", share->block_plans[i]->description);
}

/* Bytes of a description that contains those of the plans which a plan consists of. */
static size_t ipt__description_bytes(const ipt_plan *plan)
{
    const ipt__host *const host = &plan->host->staging;
    size_t bytes = IPT__DESCRIPTION_BYTES, s;
    int i;
    for (s = 0; s < host->share_count; ++s)
        for (i = 0; i < 4; ++i) {
            const ipt__host_share *const share = &host->shares[s];
            bytes += share->plans[i] ? strlen(share->plans[i]->description) + 100 : 0;
            bytes += share->block_plans[i] ? strlen(share->block_plans[i]->description) + 100 : 0;
        }
    return bytes + (plan->host->pieces ? strlen(plan->host->pieces->description) : 0);
}

static ipt_result ipt__host_plan_describe(ipt_plan *plan)
{
    const ipt__host *const host = &plan->host->staging;
    const ipt_allocator *const allocator = &plan->context->allocator;
    ipt_result result;
    size_t capacity, s;
    char *text;
    ipt__text out;
    if (!host->shares && !plan->host->pieces)
        return ipt__plan_write_description(plan);
    capacity = ipt__description_bytes(plan);
    text = (char *)ipt__allocate(allocator, capacity);
    if (!text)
        return IPT_ERROR_OUT_OF_MEMORY;
    out = ipt__text_in(text, capacity);
    if (plan->host->pieces) {
        ipt__describe_matrices(&out, plan, 1, "device");
        ipt__text_add(&out, " of %zu, because the matrix is too large for it\n%s", plan->host->split_count,
                      plan->host->pieces->description);
    } else if (plan->host->cut) {
        ipt__describe_matrices(&out, plan, plan->host->cut->sizes.chunks, "chunk");
        ipt__text_add(&out, "\n");
        ipt__cut_describe(&out, plan->host->cut);
    } else {
        ipt__describe_matrices(&out, plan, host->part_count, "part");
        ipt__text_add(&out, " on %zu %s\n", host->share_count, host->share_count == 1 ? "device" : "devices");
    }
    for (s = 0; s < host->share_count; ++s)
        ipt__share_describe(&out, plan, s);
    if (!ipt__plan_borrows(plan))
        ipt__describe_memory(&out, plan, ipt_plan_workspace(plan));
    result = ipt__plan_keep_description(plan, text);
    ipt__release(allocator, text);
    return result;
}

/* Releases the buffers and queues for host matrices. */
static IPT__RARE void ipt__host_give_back(ipt__host *host)
{
    size_t s;
    int i;
    for (s = 0; host->shares && s < host->share_count; ++s) {
        ipt__host_share *const share = &host->shares[s];
        if (share->ring)
            ipt__cl.clEnqueueUnmapMemObject(share->queues[0], share->pinned, share->ring, 0, NULL, NULL);
        for (i = 0; i < share->queue_count && !share->borrows_queue; ++i)
            ipt__cl.clReleaseCommandQueue(share->queues[i]);
        if (share->pinned)
            ipt__cl.clReleaseMemObject(share->pinned);
        if (share->buffer)
            ipt__cl.clReleaseMemObject(share->buffer);
        share->pinned = share->buffer = NULL;
        share->ring = NULL;
        share->queue_count = share->borrows_queue = 0;
    }
}

/* Releases a plan's resources for host matrices: those, and the plans of parts. */
static IPT__RARE void ipt__host_close(ipt_plan *plan)
{
    ipt__host *const host = &plan->host->staging;
    const ipt_allocator *const allocator = &plan->context->allocator;
    size_t s;
    int i;
    ipt__host_give_back(host);
    for (s = 0; host->shares && s < host->share_count; ++s) {
        for (i = 0; i < IPT__BLOCK_PLANS; ++i)
            ipt_plan_destroy(host->shares[s].block_plans[i]);
        for (i = 0; i < 4; ++i)
            ipt_plan_destroy(host->shares[s].plans[i]);
    }
    while (host->stages.launches && host->stages.count)
        ipt__launches_free(allocator, &host->stages.launches[--host->stages.count]);
    ipt__release(allocator, host->stages.launches);
    ipt__release(allocator, host->shares);
    ipt__release(allocator, host->parts);
    ipt__release(allocator, host->commands);
    ipt__release(allocator, host->scratch);
    memset(host, 0, sizeof *host);
}

#endif

/* Destroys the plans that a plan consists of, and releases the workspaces that it lends them. */
static IPT__RARE void ipt__plan_empty(ipt_plan *plan)
{
    size_t i;
    if (plan->passes) {
        while (plan->passes->count)
            ipt_plan_destroy(plan->passes->list[--plan->passes->count].plan);
        ipt_plan_destroy(plan->passes->copies);
        plan->passes->copies = NULL;
    }
    ipt_plan_destroy(plan->narrow);
    plan->narrow = NULL;
#ifndef IPT_NO_HOST_STREAMING
    if (plan->host) {
        ipt_plan_destroy(plan->host->pieces);
        plan->host->pieces = NULL;
        ipt__host_close(plan);
        if (plan->host->cut) {
            memset(&plan->host->cut->blocks, 0, sizeof plan->host->cut->blocks);
            memset(&plan->host->cut->bus_bands, 0, sizeof plan->host->cut->bus_bands);
        }
    }
#endif
    ipt__workspace_close(&plan->own);
    for (i = 0; plan->divided && i < plan->devices; ++i)
        ipt__workspace_close(&plan->divided[i]);
}

IPT_API void ipt_plan_destroy(ipt_plan *plan)
{
    ipt__host_plan *host;
    if (!plan)
        return;
    ipt__plan_empty(plan);
    host = plan->host;
    if (host) {
#ifndef IPT_NO_HOST_STREAMING
        while (host->split_count)
            ipt_context_destroy(host->split[--host->split_count]);
        ipt__release(&plan->context->allocator, host->split);
        ipt__release(&plan->context->allocator, host->cut);
#endif
        IPT_LOCK_DESTROY(&host->lock);
        ipt__release(&plan->context->allocator, host);
    }
    ipt__plan_free(plan);
}

/* Keeps a new plan, or destroys it after a failure. */
static ipt_result ipt__plan_keep(ipt_plan **plan, ipt_result result)
{
    if (result) {
        ipt_plan_destroy(*plan);
        *plan = NULL;
    }
    return result;
}

#ifndef IPT_NO_HOST_STREAMING
static ipt_result ipt__host_plan_new(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent,
                                     ipt_plan **plan)
{
    const ipt_result result = ipt__plan_new(context, desc, lent, plan);
    return result ? result : ipt__plan_keep(plan, ipt__host_plan_begin(*plan));
}

/* Completes a plan: writes its description, or destroys the plan after a failure. */
static ipt_result ipt__host_plan_end(ipt_plan **plan, ipt_result result)
{
    return ipt__plan_keep(plan, result ? result : ipt__host_plan_describe(*plan));
}
#endif

/* Fails because the plans that a plan consists of need more than `limit` bytes. What they share has to hold `enough` on
 * each device; 0: unknown. */
static ipt_result ipt__fail_workspace(const ipt_plan *plan, size_t limit, size_t enough)
{
    ipt__fail(IPT_ERROR_UNSUPPORTED,
              "max_workspace allows %zu bytes, too few for the %s of %zu x %zu elements of %zu bytes", limit,
              plan->host->split_count       ? "parts"
              : plan->problem.desc.rows > 1 ? "pieces"
                                            : "passes",
              plan->problem.desc.rows, plan->problem.desc.cols, plan->problem.desc.elem_size);
    return enough ? ipt__advise(offsetof(ipt_plan_desc, max_workspace), enough * plan->devices) : IPT_ERROR_UNSUPPORTED;
}

/* Makes the plans that a plan consists of; what: of their maker. */
typedef ipt_result (*ipt__opener)(ipt_plan *plan, const void *what);

/* Makes the plans that a plan consists of within its workspaces' limit. The limit may change how a matrix is cut: so a
 * higher one is tried before an error names it. It serves if the desc leaves it to the plan. */
static IPT__RARE ipt_result ipt__plan_fit(ipt_plan *plan, ipt__opener open, const void *what)
{
    enum { TRIES = 16 };
    const int left = !plan->problem.desc.max_workspace;
    const size_t budget = ipt__problem_budget(&plan->problem);
    size_t limit = 0, i;
    int tries;
    ipt_result result = open(plan, what);
    for (tries = 0; tries < TRIES && !result && plan->enough && !ipt__plan_borrows(plan); ++tries) {
        limit = plan->enough;
        ipt__plan_empty(plan);
        plan->enough = 0;
        plan->problem.desc.max_workspace = plan->own.limit = limit;
        for (i = 0; plan->divided && i < plan->devices; ++i)
            plan->divided[i].limit = limit;
        result = open(plan, what);
    }
    if (!tries || (left && !plan->enough && (result || limit * plan->devices <= budget)))
        return result;
    return ipt__fail_workspace(plan, budget, result || plan->enough ? 0 : limit);
}

IPT_API size_t ipt_plan_workspace(const ipt_plan *plan)
{
    size_t bytes = 0, i;
    for (i = 0; plan && i < plan->devices; ++i) {
        IPT_LOCK_ACQUIRE(&plan->workspace[i].lock); /* a first execution of a host matrix may need more */
        bytes += plan->workspace[i].bytes;
        IPT_LOCK_RELEASE(&plan->workspace[i].lock);
    }
    return bytes;
}
