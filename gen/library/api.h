/* Public functions that choose the kind of plan, and the one-line transposition. */

IPT_API ipt_result ipt_plan_create(ipt_context *context, const ipt_plan_desc *desc, ipt_plan **plan)
{
    return desc && desc->rank ? ipt__axes_plan_make(context, desc, plan)
                              : ipt__any_plan_make(context, desc, NULL, plan);
}

#ifdef IPT_NO_HOST_STREAMING

IPT_API IPT__RARE ipt_result ipt_plan_create_split(ipt_context *const *contexts, size_t count,
                                                   const ipt_plan_desc *desc, ipt_plan **plan)
{
    (void)contexts, (void)count, (void)desc;
    if (!plan)
        return ipt__fail_null("plan");
    *plan = NULL;
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "ipt was compiled with IPT_NO_HOST_STREAMING: a plan has one device");
}

#else

IPT_API IPT__RARE ipt_result ipt_plan_create_split(ipt_context *const *contexts, size_t count,
                                                   const ipt_plan_desc *desc, ipt_plan **plan)
{
    ipt_plan *made;
    ipt_result result;
    size_t i;
    if (!plan)
        return ipt__fail_null("plan");
    *plan = NULL;
    if (!contexts || !desc)
        return ipt__fail_null(contexts ? "desc" : "contexts");
    if (!count)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "count is 0");
    if (desc->rank)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "rank is %u: plans for several contexts take matrices", desc->rank);
    for (i = 0; i < count; ++i) {
        if (!contexts[i])
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "contexts[%lu] is NULL", (unsigned long)i);
        if (!contexts[i]->context || contexts[i]->context != contexts[0]->context)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                             "contexts[%lu] has another OpenCL context than contexts[0], or none", (unsigned long)i);
    }
    result = ipt__host_plan_new(contexts[0], desc, NULL, &made);
    if (result)
        return result;
    made->host->split = (ipt_context **)ipt__allocate(&contexts[0]->allocator, count * sizeof *made->host->split);
    if (!made->host->split)
        result = IPT_ERROR_OUT_OF_MEMORY;
    for (i = 0; i < count && !result; ++i) {
        made->host->split[i] = contexts[i];
        ipt__context_retain(contexts[i]);
        ++made->host->split_count;
    }
    if (!result && (desc->max_device_memory || desc->max_host_memory))
        result = ipt__fail(IPT_ERROR_UNSUPPORTED, "%s is %lu: plans for several contexts are not cut",
                           desc->max_device_memory ? "max_device_memory" : "max_host_memory",
                           (unsigned long)(desc->max_device_memory ? desc->max_device_memory : desc->max_host_memory));
    if (!result && desc->host != IPT_HOST_AUTO && desc->host != IPT_HOST_OVERLAPPED)
        result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "host is %s: plans for several contexts are overlapped",
                           ipt_host_string(desc->host));
    if (!result) {
        ipt_host scheme;
        result = ipt__host_choose(made, NULL, &scheme);
    }
    if (!result)
        result = ipt__host_open(made, IPT_HOST_OVERLAPPED);
    if (result == IPT_ERROR_OUT_OF_MEMORY && made->refused)
        result = ipt__host_make_pieces(made); /* in pieces through the first device */
    result = ipt__host_plan_end(&made, result);
    *plan = made;
    return result;
}

#endif

IPT_API ipt_result ipt_transpose(void *data, size_t rows, size_t cols, size_t elem_size)
{
    ipt_context *context = NULL;
    ipt_plan *plan = NULL;
    ipt_plan_desc desc;
    ipt_result result;
    memset(&desc, 0, sizeof desc);
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = elem_size;
    if (!data)
        return ipt__fail_null("data");
    result = ipt_context_create(NULL, &context);
    if (!result)
        result = ipt_plan_create(context, &desc, &plan);
    if (!result)
        result = ipt_plan_execute_host(plan, data);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return result;
}
