/* The end of plans of all kinds. */

#ifndef IPT_NO_HOST_STREAMING
/* Releases the buffers and queues for host matrices. */
static IPT__RARE void ipt__host_give_back(ipt__host *host)
{
    size_t s;
    int i;
    for (s = 0; host->shares && s < host->share_count; ++s) {
        ipt__host_share *const share = &host->shares[s];
        if (share->ring.buffer)
            ipt__calls(share->context)
                ->clEnqueueUnmapMemObject(share->queues[0], share->ring.buffer, share->ring.memory, 0, NULL, NULL);
        for (i = 0; i < share->queue_count && !share->borrows_queue; ++i)
            ipt__calls(share->context)->clReleaseCommandQueue(share->queues[i]);
        if (share->ring.buffer)
            ipt__calls(share->context)->clReleaseMemObject(share->ring.buffer);
        if (share->buffer)
            ipt__calls(share->context)->clReleaseMemObject(share->buffer);
        share->ring.buffer = share->buffer = NULL;
        share->queue_count = share->borrows_queue = 0;
    }
}

/* Releases a plan's resources for host matrices: buffers, queues, lists, and the plans of parts. */
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

/* Releases the contexts and the workspaces of a plan for several contexts. */
static IPT__RARE void ipt__split_close(ipt_plan *plan)
{
    const ipt_allocator *const allocator = &plan->context->allocator;
    ipt__split_plan *const split = plan->split;
    while (split->count) {
        ipt_context_destroy(split->contexts[--split->count]);
        if (split->workspaces)
            IPT_LOCK_DESTROY(&split->workspaces[split->count].lock);
    }
    ipt__release(allocator, split->contexts);
    ipt__release(allocator, split->workspaces);
    ipt__release(allocator, split);
}
#endif

/* Destroys a plan's plans of passes, parts and pieces, and releases the workspaces that they share. */
static IPT__RARE void ipt__plan_empty(ipt_plan *plan)
{
    size_t i;
    if (plan->passes) {
        while (plan->passes->count)
            ipt_plan_destroy(plan->passes->list[--plan->passes->count].plan);
        ipt_plan_destroy(plan->passes->copies);
        plan->passes->copies = NULL;
    }
#ifndef IPT_NO_HOST_STREAMING
    if (plan->host) {
        ipt_plan_destroy(plan->host->pieces);
        plan->host->pieces = NULL;
        ipt__host_close(plan);
    }
#endif
    ipt__workspace_close(plan->context, &plan->own);
    for (i = 0; plan->split && plan->split->workspaces && i < plan->split->count; ++i)
        ipt__workspace_close(plan->context, &plan->split->workspaces[i]);
}

/* Releases the part of a plan that runs stages. */
static IPT__RARE void ipt__device_plan_close(ipt_plan *plan)
{
    ipt_plan_destroy(plan->device->narrow);
    ipt__program_drop(plan->context, plan->device->panel);
    ipt__program_drop(plan->context, plan->device->exchange);
    ipt__plan_close(plan);
    ipt__release(&plan->context->allocator, plan->device);
}

IPT_API void ipt_plan_destroy(ipt_plan *plan)
{
    ipt_context *context;
    ipt_allocator allocator;
    if (!plan)
        return;
    context = plan->context;
    allocator = context->allocator;
    ipt__plan_empty(plan);
    if (plan->device)
        ipt__device_plan_close(plan);
    if (plan->host)
        IPT_LOCK_DESTROY(&plan->host->lock);
#ifndef IPT_NO_HOST_STREAMING
    if (plan->split)
        ipt__split_close(plan);
#endif
    IPT_LOCK_DESTROY(&plan->own.lock);
    ipt__release(&allocator, plan->passes);
    ipt__release(&allocator, plan->cut);
    ipt__release(&allocator, plan->host);
    ipt__release(&allocator, plan->expression);
    ipt__release(&allocator, plan->description);
    ipt__release(&allocator, plan);
    ipt_context_destroy(context);
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
