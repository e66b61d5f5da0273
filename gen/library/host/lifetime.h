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
static ipt_result ipt__host_plan_new(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *owner, ipt_plan **plan)
{
    ipt_result result = ipt__plan_new(context, desc, owner, plan);
    if (result)
        return result;
    result = ipt__host_plan_begin(*plan);
    if (result) {
        ipt__plan_free(*plan);
        *plan = NULL;
    }
    return result;
}

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

static void ipt__cut_describe(ipt__text *out, const ipt__host_plan *plan)
{
    const ipt__cut *const cut = &plan->cut;
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

static ipt_result ipt__host_plan_describe(ipt_plan *plan)
{
    char text[IPT__DESCRIPTION_BYTES];
    ipt__text out = ipt__text_in(text, sizeof text);
    if (!plan->host->cut.chunk_bytes)
        return ipt__plan_write_description(plan);
    ipt__describe_stages(&out, plan);
    ipt__cut_describe(&out, plan->host);
    ipt__describe_memory(&out, plan, plan->layout.workspace + plan->host->workspace);
    return ipt__plan_keep_description(plan, text);
}

/* Releases a plan's resources for host matrices: parts' plans, buffers, queues. */
static IPT__RARE void ipt__host_close(ipt_plan *plan)
{
    ipt__host *const host = &plan->host->staging;
    const ipt_allocator *const allocator = &plan->context->allocator;
    size_t s;
    int i;
    for (s = 0; host->shares && s < host->share_count; ++s) {
        ipt__host_share *const share = &host->shares[s];
        for (i = 0; i < IPT__BLOCK_PLANS; ++i)
            ipt_plan_destroy(share->block_plans[i]);
        for (i = 3; i >= 0; --i) /* later plans may borrow from the first */
            ipt_plan_destroy(share->plans[i]);
        if (share->ring)
            ipt__cl.clEnqueueUnmapMemObject(share->queues[0], share->pinned, share->ring, 0, NULL, NULL);
        for (i = 0; i < share->queue_count && !share->borrows_queue; ++i)
            ipt__cl.clReleaseCommandQueue(share->queues[i]);
        if (share->pinned)
            ipt__cl.clReleaseMemObject(share->pinned);
        if (share->buffer)
            ipt__cl.clReleaseMemObject(share->buffer);
        share->queue_count = share->borrows_queue = 0;
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

IPT_API void ipt_plan_destroy(ipt_plan *plan)
{
    ipt__host_plan *host;
    if (!plan)
        return;
    while (plan->pass_count)
        ipt_plan_destroy(plan->passes[--plan->pass_count].plan);
    ipt_plan_destroy(plan->copies);
    host = plan->host;
    if (host) {
#ifndef IPT_NO_HOST_STREAMING
        ipt_plan_destroy(host->pieces);
        ipt__host_close(plan);
        while (host->split_count)
            ipt_context_destroy(host->split[--host->split_count]);
        ipt__release(&plan->context->allocator, host->split);
#endif
        IPT_LOCK_DESTROY(&host->lock);
        ipt__release(&plan->context->allocator, host);
    }
    ipt__plan_free(plan);
}

#ifndef IPT_NO_HOST_STREAMING
/* Completes a plan: writes its description, or destroys the plan after a failure. */
static ipt_result ipt__host_plan_end(ipt_plan **plan, ipt_result result)
{
    if (!result)
        result = ipt__host_plan_describe(*plan);
    if (result) {
        ipt_plan_destroy(*plan);
        *plan = NULL;
    }
    return result;
}
#endif

IPT_API size_t ipt_plan_workspace(const ipt_plan *plan)
{
    size_t bytes, of_passes = 0;
    int pass;
#ifndef IPT_NO_HOST_STREAMING
    int i;
#endif
    if (!plan)
        return 0;
    for (pass = 0; plan->passes_cut && pass < plan->pass_count; ++pass)
        of_passes += ipt_plan_workspace(plan->passes[pass].plan);
    if (of_passes)
        return of_passes;
    IPT_LOCK_ACQUIRE(&plan->workspace->lock); /* a first execution of a host matrix adds to it */
    bytes = plan->pass_count ? plan->own.bytes : plan->layout.workspace + (plan->host ? plan->host->workspace : 0);
    IPT_LOCK_RELEASE(&plan->workspace->lock);
#ifndef IPT_NO_HOST_STREAMING
    for (i = 0; plan->host && plan->host->cut.chunk_bytes && i < 4; ++i) { /* the plans of the pieces have no pieces */
        const ipt_plan *const piece = plan->host->staging.shares[0].plans[i];
        bytes += piece ? ipt_plan_workspace(piece) - piece->layout.workspace : 0;
    }
#endif
    return bytes;
}
