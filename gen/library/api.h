/* Public functions that choose the kind of plan, and the one-line transposition. */

/* Makes a plan of any kind. split: the contexts that share the work; 0: one context does it. */
static ipt_result ipt__plan_make_any(ipt_context *const *contexts, size_t split, const ipt_plan_desc *desc,
                                     ipt_plan **plan)
{
#ifndef IPT_NO_VIEWS
    if (ipt__has_strides(desc))
        return ipt__view_plan_make(contexts, split, desc, plan);
#endif
    if (desc->rank)
        return ipt__array_plan_make_any(contexts, split, desc, plan);
#ifndef IPT_NO_HOST_STREAMING
    if (split)
        return ipt__split_plan_make(contexts, split, desc, NULL, plan);
#endif
    return ipt__any_plan_make(contexts[0], desc, NULL, plan);
}

/* Adds to a refusal's text the limits of `tried`, with which a plan was made. */
static ipt_result ipt__fail_with_limits(const char *cause, const ipt_plan_desc *desc, const ipt_plan_desc *tried)
{
    static const struct {
        size_t field;
        char name[20];
    } limits[] = {{offsetof(ipt_plan_desc, max_workspace), "max_workspace"},
                  {offsetof(ipt_plan_desc, max_device_memory), "max_device_memory"},
                  {offsetof(ipt_plan_desc, max_host_memory), "max_host_memory"}};
    char text[200] = "";
    ipt__text out = ipt__text_in(text, sizeof text);
    size_t i, changed = 0, enough = 0;
    for (i = 0; i < sizeof limits / sizeof *limits; ++i) {
        const size_t value = *(const size_t *)(const void *)((const char *)tried + limits[i].field);
        if (value == *(const size_t *)(const void *)((const char *)desc + limits[i].field))
            continue;
        ipt__text_add(&out, "%s%s = %zu", changed++ ? " and " : "", limits[i].name, value);
        enough = value;
    }
    ipt__fail(IPT_ERROR_UNSUPPORTED, "%s: %s would do", cause, text);
    ipt__advised.begin = strlen(cause);
    ipt__advised.enough = enough;
    return IPT_ERROR_UNSUPPORTED;
}

/* Makes a plan, or fails with limits that suffice. A plan is tried with the limits before the message names them: a
 * pass of an array, or a piece of a matrix, reports only its own needs. */
static ipt_result ipt__plan_make_or_advise(ipt_context *const *contexts, size_t split, const ipt_plan_desc *desc,
                                           ipt_plan **plan)
{
    enum { TRIES = 40 };
    ipt_plan_desc tried = *desc;
    ipt_plan *trial = NULL;
    char cause[IPT__CAUSE_BYTES], why[IPT__CAUSE_BYTES];
    ipt_result result = ipt__plan_make_any(contexts, split, desc, plan);
    size_t *limit;
    int i;
    if (result != IPT_ERROR_UNSUPPORTED || !ipt__advised.enough)
        return result;
    ipt__keep_cause(cause);
    cause[ipt__min(ipt__advised.begin, sizeof cause - 1)] = 0;
    tried.flags &= ~IPT_MEASURE;
    for (i = 0; i < TRIES && result == IPT_ERROR_UNSUPPORTED && ipt__advised.enough; ++i) {
        limit = (size_t *)(void *)((char *)&tried + ipt__advised.limit);
        *limit = ipt__max(ipt__advised.enough, *limit + (i ? *limit / 4 : 0)); /* enough may be the need of one part */
        result = ipt__plan_make_any(contexts, split, &tried, &trial);
    }
    ipt_plan_destroy(trial);
    if (!result)
        return ipt__fail_with_limits(cause, desc, &tried);
    ipt__keep_cause(why);
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s; more does not help: %s", cause, why);
}

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
    return ipt__plan_make_or_advise(&context, 0, &taken, plan);
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
    return result ? result : ipt__plan_make_or_advise(contexts, count, &taken, plan);
#else
    (void)count;
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "ipt was compiled with IPT_NO_HOST_STREAMING: a plan has one device");
#endif
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
