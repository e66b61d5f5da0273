/* Plans whose host matrices go through several contexts at once. */

/* Checks the contexts of such a plan. */
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

/* Refuses fields that such plans do not have. */
static ipt_result ipt__split_check_fields(const ipt_plan_desc *desc)
{
    if (desc->max_device_memory || desc->max_host_memory)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s is %zu: plans for several contexts are not cut",
                         desc->max_device_memory ? "max_device_memory" : "max_host_memory",
                         desc->max_device_memory ? desc->max_device_memory : desc->max_host_memory);
    if (desc->host != IPT_HOST_AUTO && desc->host != IPT_HOST_OVERLAPPED)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "host is %s: plans for several contexts are overlapped",
                         ipt_host_string(desc->host));
    return IPT_SUCCESS;
}

/* Gives a plan a workspace on each of several devices. They divide what the plan may take. */
static ipt_result ipt__plan_divide(ipt_plan *plan, size_t devices)
{
    const size_t limit = plan->own.limit;
    size_t i;
    plan->devices = devices;
    if (ipt__plan_borrows(plan))
        return IPT_SUCCESS;
    plan->divided = (ipt__workspace *)ipt__allocate(&plan->context->allocator, devices * sizeof *plan->divided);
    if (!plan->divided)
        return IPT_ERROR_OUT_OF_MEMORY;
    for (i = 0; i < devices; ++i)
        ipt__workspace_begin(&plan->divided[i], limit == 1 ? 1 : ipt__max(limit / devices, 2));
    plan->workspace = plan->divided;
    return IPT_SUCCESS;
}

static ipt_result ipt__split_open(ipt_plan *plan, const void *unused)
{
    const ipt_result result = ipt__host_plan_parts(plan, IPT_HOST_OVERLAPPED);
    (void)unused;
    return result ? result : ipt__host_take(plan);
}

/* Makes a plan for matrices of contexts that ipt__split_check has accepted. lent: a workspace for each of them, see
 * ipt__plan_new. */
static IPT__RARE ipt_result ipt__split_plan_make(ipt_context *const *contexts, size_t count, const ipt_plan_desc *desc,
                                                 ipt__workspace *lent, ipt_plan **plan)
{
    ipt_plan *made;
    ipt_host scheme;
    size_t i;
    ipt_result result = ipt__host_plan_new(contexts[0], desc, lent, &made);
    if (result)
        return result;
    result = ipt__plan_divide(made, count);
    made->host->split = (ipt_context **)ipt__allocate(&contexts[0]->allocator, count * sizeof *made->host->split);
    if (!result && !made->host->split)
        result = IPT_ERROR_OUT_OF_MEMORY;
    for (i = 0; i < count && !result; ++i) {
        made->host->split[i] = contexts[i];
        ipt__context_retain(contexts[i]);
        ++made->host->split_count;
    }
    if (!result)
        result = ipt__split_check_fields(desc);
    if (!result)
        result = ipt__host_choose(made, NULL, &scheme);
    if (!result)
        result = ipt__plan_fit(made, ipt__split_open, NULL);
    if (result == IPT_ERROR_OUT_OF_MEMORY && made->refused)
        result = ipt__host_make_pieces(made); /* in pieces through the first device */
    result = ipt__host_plan_end(&made, result);
    *plan = made;
    return result;
}
