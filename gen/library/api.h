/* Public functions that choose the kind of plan, and the one-line transposition. */

IPT_API ipt_result ipt_plan_create_sized(size_t desc_bytes, ipt_context *context, const ipt_plan_desc *desc,
                                         ipt_plan **plan)
{
    ipt_plan_desc taken;
    ipt_result result;
    if (!plan)
        return ipt__fail_null("plan");
    *plan = NULL;
    if (!context || !desc)
        return ipt__fail_null(context ? "desc" : "context");
    result = ipt__take_desc(&taken, sizeof taken, desc, desc_bytes, "desc");
    if (result)
        return result;
    return taken.rank ? ipt__axes_plan_make(&context, 0, &taken, plan)
                      : ipt__any_plan_make(context, &taken, NULL, plan);
}

IPT_API IPT__RARE ipt_result ipt_plan_create_split_sized(size_t desc_bytes, ipt_context *const *contexts, size_t count,
                                                         const ipt_plan_desc *desc, ipt_plan **plan)
{
    ipt_plan_desc taken;
    ipt_result result;
    if (!plan)
        return ipt__fail_null("plan");
    *plan = NULL;
    if (!contexts || !desc)
        return ipt__fail_null(contexts ? "desc" : "contexts");
    result = ipt__take_desc(&taken, sizeof taken, desc, desc_bytes, "desc");
    if (result)
        return result;
#ifndef IPT_NO_HOST_STREAMING
    result = ipt__split_check(contexts, count);
    if (result)
        return result;
    return taken.rank ? ipt__axes_plan_make(contexts, count, &taken, plan)
                      : ipt__split_plan_make(contexts, count, &taken, NULL, plan);
#else
    (void)count;
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "ipt was compiled with IPT_NO_HOST_STREAMING: a plan has one device");
#endif
}

/* The functions themselves, behind the macros of their names. */
IPT_API ipt_result(ipt_plan_create)(ipt_context *context, const ipt_plan_desc *desc, ipt_plan **plan)
{
    return ipt_plan_create_sized(sizeof *desc, context, desc, plan);
}
IPT_API IPT__RARE ipt_result(ipt_plan_create_split)(ipt_context *const *contexts, size_t count,
                                                    const ipt_plan_desc *desc, ipt_plan **plan)
{
    return ipt_plan_create_split_sized(sizeof *desc, contexts, count, desc, plan);
}

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
