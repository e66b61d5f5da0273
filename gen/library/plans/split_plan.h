/* Plans whose host matrices go through several contexts at once. */

/* Checks the contexts of a plan for several contexts. */
static ipt_result ipt__split_check(ipt_context *const *contexts, size_t count)
{
    size_t i;
    if (!count)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "count is 0");
    for (i = 0; i < count; ++i) {
        if (!contexts[i])
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "contexts[%zu] is NULL", i);
        if (!contexts[i]->context || contexts[i]->context != contexts[0]->context)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                             "contexts[%zu] has another OpenCL context than contexts[0], or none", i);
    }
    return IPT_SUCCESS;
}

/* Refuses fields of the desc that plans for several contexts do not support. */
static ipt_result ipt__split_check_fields(const ipt_plan_desc *desc)
{
    if (desc->max_device_memory || desc->max_host_memory)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s is %zu: plans for several contexts are not cut",
                         desc->max_device_memory ? "max_device_memory" : "max_host_memory",
                         desc->max_device_memory ? desc->max_device_memory : desc->max_host_memory);
    if (ipt__named_places(desc))
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "expression names places (i, j, b): use a plan for one context");
    if (desc->host != IPT_HOST_AUTO && desc->host != IPT_HOST_OVERLAPPED)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "host is %s: plans for several contexts are overlapped",
                         ipt_host_string(desc->host));
    return IPT_SUCCESS;
}

/* Adds contexts to a plan, and a workspace on each device. The workspaces divide the plan's limit. */
static ipt_result ipt__plan_divide(ipt_plan *plan, ipt_context *const *contexts, size_t count)
{
    const ipt_allocator *const allocator = &plan->context->allocator;
    const int borrows = ipt__plan_borrows(plan);
    const size_t limit = plan->own.limit;
    ipt__split_plan *const split = (ipt__split_plan *)ipt__allocate(allocator, sizeof *split);
    plan->split = split;
    if (!split)
        return IPT_ERROR_OUT_OF_MEMORY;
    split->contexts = (ipt_context **)ipt__allocate(allocator, count * sizeof *split->contexts);
    if (split->contexts && !borrows)
        split->workspaces = (ipt__workspace *)ipt__allocate(allocator, count * sizeof *split->workspaces);
    if (!split->contexts || (!borrows && !split->workspaces))
        return IPT_ERROR_OUT_OF_MEMORY;
    for (; split->count < count; ++split->count) {
        split->contexts[split->count] = contexts[split->count];
        ipt__context_retain(contexts[split->count]);
        if (!borrows)
            ipt__workspace_begin(&split->workspaces[split->count], limit == 1 ? 1 : ipt__max(limit / count, 2));
    }
    if (!borrows)
        plan->workspace = split->workspaces;
    return IPT_SUCCESS;
}

static void ipt__split_describe(ipt__text *out, const ipt_plan *plan)
{
    const ipt__host *const host = &plan->host->staging;
    if (plan->host->pieces) {
        ipt__describe_matrices(out, plan, 1, "device");
        ipt__text_add(out, " of %zu, because the matrix is too large for it\n%s", plan->split->count,
                      plan->host->pieces->description);
    } else {
        ipt__describe_matrices(out, plan, host->part_count, "part");
        ipt__text_add(out, " on %zu %s\n", host->share_count, host->share_count == 1 ? "device" : "devices");
    }
    ipt__describe_shares(out, plan);
}

static ipt_result ipt__split_open(ipt_plan *plan, const void *unused)
{
    const ipt_result result = ipt__host_plan_parts(plan, IPT_HOST_OVERLAPPED);
    (void)unused;
    return result ? result : ipt__host_take(plan);
}

/* Makes a plan for matrices of contexts that ipt__split_check has accepted. lent: a workspace for each context, see
 * ipt__plan_new. */
static IPT__RARE ipt_result ipt__split_plan_make(ipt_context *const *contexts, size_t count, const ipt_plan_desc *desc,
                                                 ipt__workspace *lent, ipt_plan **plan)
{
    ipt_plan *made;
    ipt_host scheme;
    ipt_result result = ipt__host_plan_new(contexts[0], desc, lent, &made);
    if (result)
        return result;
    made->kind = &ipt__host_kind;
    result = ipt__plan_divide(made, contexts, count);
    if (!result)
        result = ipt__split_check_fields(desc);
    if (!result)
        result = ipt__host_choose(made, NULL, &scheme);
    if (!result)
        result = ipt__plan_fit(made, ipt__split_open, NULL);
    if (result == IPT_ERROR_OUT_OF_MEMORY && made->refused)
        result = ipt__host_make_pieces(made); /* in pieces through the first device */
    if (!result)
        result = ipt__plan_describe(made, ipt__split_describe);
    *plan = made;
    return ipt__plan_keep(plan, result);
}
