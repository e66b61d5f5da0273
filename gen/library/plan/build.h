/* Making and destroying plans. */

/* The extension that a word of OpenCL C requires; NULL: none. A pointer to `half` requires none. */
static const char *ipt__word_needs(const char *word, size_t length, int is_type)
{
    const size_t all = length;
    while (length && word[length - 1] >= '0' && word[length - 1] <= '9')
        --length;
    if (length == 6 && !strncmp(word, "double", 6))
        return "cl_khr_fp64";
    return length == 4 && !strncmp(word, "half", 4) && (is_type || all > length) ? "cl_khr_fp16" : NULL;
}

/* Fails for types that the device lacks. Compilers report those in different ways, or not at all. */
static ipt_result ipt__check_types(const ipt_context *context, const char *name, const char *text, int is_type)
{
    while (*text) {
        const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        const char *const needs = ipt__word_needs(text, length, is_type);
        if (needs && !(needs[9] == '1' ? context->has_half : context->has_double))
            return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s has %.*s: the device lacks %s", name, (int)length, text, needs);
        text += ipt__max(length, 1);
    }
    return IPT_SUCCESS;
}

/* Copies the desc's expression and compiles it alone. So a later build failure has another cause. */
static IPT__RARE ipt_result ipt__plan_take_expression(ipt_plan *plan)
{
    char cause[IPT__CAUSE_BYTES];
    ipt__params params;
    ipt__program *program;
    ipt_result result = ipt__check_types(plan->context, "expression_type", plan->desc.expression_type, 1);
    if (!result)
        result = ipt__check_types(plan->context, "expression", plan->desc.expression, 0);
    if (result)
        return result;
    plan->expression =
        ipt__copy_expression(&plan->context->allocator, plan->desc.expression, plan->desc.expression_type,
                             &plan->desc.expression, &plan->desc.expression_type);
    if (!plan->expression)
        return IPT_ERROR_OUT_OF_MEMORY;
    params = ipt__plan_params(plan, 1, 1);
    params.apply = 1;
    ipt__params_reduce(&params, ipt__kernels[IPT__KERNEL_map].uses);
    result =
        ipt__program_get(plan->context, IPT__KERNEL_map, &params, (plan->desc.flags & IPT_CACHE_ONLY) != 0, &program);
    ipt__program_drop(plan->context, program);
    if (result == IPT_ERROR_BUILD) {
        ipt__keep_cause(cause);
        return ipt__fail(result, "expression does not compile for x of expression_type %s: %s",
                         plan->desc.expression_type, cause);
    }
    return result;
}

/* Chooses a layout and builds its kernels once, within `budget` bytes of workspace. */
static ipt_result ipt__plan_build_once(ipt_plan *plan, size_t budget)
{
    const ipt_plan_desc *const desc = &plan->desc;
    ipt_result result = ipt__layout_choose(plan, &plan->layout, budget);
    plan->enough = 0;
    if (!result && budget && plan->layout.workspace > budget) {
        plan->enough = plan->layout.minimum_workspace;
        result = ipt__fail(IPT_ERROR_UNSUPPORTED,
                           "%s allows %lu bytes, too few for %lu x %lu elements of %lu bytes: %lu would do",
                           desc->max_workspace ? "max_workspace" : "the default of max_workspace",
                           (unsigned long)budget, (unsigned long)desc->rows, (unsigned long)desc->cols,
                           (unsigned long)desc->elem_size, (unsigned long)plan->enough);
    }
    if (!result)
        result = ipt__plan_select_layout(plan, budget);
    if (!result)
        result = ipt__plan_open(plan);
    if (result)
        ipt__plan_close(plan);
    return result;
}

/* Chooses a layout and builds its kernels. Some limits show only at the attempt: local memory beyond the reported
 * size, and the largest workspace. A failed build repeats the choice. A refused workspace repeats it with a smaller
 * budget. */
static ipt_result ipt__plan_build(ipt_plan *plan)
{
    char cause[IPT__CAUSE_BYTES] = "";
    size_t budget = ipt__plan_budget(plan), least, less;
    ipt_result result;
    for (;;) {
        plan->refused = 0;
        least = ipt__least_refused(plan->context);
        result = ipt__plan_build_once(plan, budget);
        if (result == IPT_ERROR_BUILD && ipt__least_refused(plan->context) != least)
            continue;
        if (result == IPT_ERROR_UNSUPPORTED && *cause) /* no layout fits the smaller budget */
            return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%s", cause);
        less = result == IPT_ERROR_OUT_OF_MEMORY ? ipt__less_than(plan->context, plan->refused) : 0;
        if (!less || less >= budget)
            return result;
        ipt__keep_cause(cause);
        budget = less;
    }
}

static void ipt__plan_begin(ipt_plan *plan, ipt_context *context, const ipt_plan_desc *desc)
{
    IPT_LOCK_INIT(&plan->lock);
    IPT_LOCK_INIT(&plan->host_lock);
    ipt__context_retain(context);
    plan->context = context;
    plan->desc = *desc;
    plan->out_of_place_kernel = -1;
    plan->borrower = plan;
}

/* Allocates a plan and checks its desc. The plan borrows the workspace of its owner, which outlives it; NULL: no
 * owner. */
static ipt_result ipt__plan_new(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *owner, ipt_plan **plan)
{
    ipt_plan *made;
    ipt_result result;
    if (!plan)
        return ipt__fail_null("plan");
    *plan = NULL;
    if (!context)
        return ipt__fail_null("context");
    if (!desc)
        return ipt__fail_null("desc");
    made = (ipt_plan *)ipt__allocate(&context->allocator, sizeof *made);
    if (!made)
        return IPT_ERROR_OUT_OF_MEMORY;
    ipt__plan_begin(made, context, desc);
    made->owner = owner;
    result = ipt__plan_check(made);
    if (!result && desc->expression)
        result = ipt__plan_take_expression(made);
    if (result)
        ipt_plan_destroy(made);
    else
        *plan = made;
    return result;
}

/* Gives a new plan its stages. */
static ipt_result ipt__plan_make_stages(ipt_plan *plan)
{
    ipt_result result = ipt__plan_find_panel(plan);
    if (!result)
        result = ipt__plan_build(plan);
    if (!result && (plan->desc.flags & IPT_OUT_OF_PLACE))
        result = ipt__check_out_of_place(plan);
    if (!result && (plan->desc.flags & IPT_OUT_OF_PLACE))
        result = ipt__out_of_place_get(plan);
    return result;
}

/* Completes a plan: writes its description, or destroys the plan after a failure. */
static ipt_result ipt__plan_end(ipt_plan **plan, ipt_result result)
{
    if (!result) {
        ipt__plan_write_description(*plan);
    } else {
        ipt_plan_destroy(*plan);
        *plan = NULL;
    }
    return result;
}

/* Makes a plan for matrices on the device. */
static ipt_result ipt__plan_make(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *owner, ipt_plan **plan)
{
    const ipt_result result = ipt__plan_new(context, desc, owner, plan);
    return result ? result : ipt__plan_end(plan, ipt__plan_make_stages(*plan));
}

IPT_API size_t ipt_plan_workspace(const ipt_plan *plan)
{
    size_t bytes;
#ifndef IPT_NO_HOST_STREAMING
    int i;
#endif
    if (!plan)
        return 0;
    IPT_LOCK_ACQUIRE(&((ipt_plan *)plan)->lock); /* a first execution of a host matrix adds to it */
    bytes = plan->layout.workspace + plan->host_workspace;
    IPT_LOCK_RELEASE(&((ipt_plan *)plan)->lock);
#ifndef IPT_NO_HOST_STREAMING
    for (i = 0; plan->cut.chunk_bytes && i < 4; ++i) { /* the plans of the pieces have no pieces */
        const ipt_plan *const piece = plan->host.shares[0].plans[i];
        bytes += piece ? ipt_plan_workspace(piece) - piece->layout.workspace : 0;
    }
#endif
    return bytes;
}

IPT_API void ipt_plan_padding(const ipt_plan *plan, size_t *rows, size_t *cols)
{
    if (rows)
        *rows = plan ? plan->pad_rows : 0;
    if (cols)
        *cols = plan ? plan->pad_cols : 0;
}

IPT_API const char *ipt_plan_describe(const ipt_plan *plan)
{
    return plan ? plan->description : "";
}

IPT_API const char *ipt_plan_source(const ipt_plan *plan, size_t index)
{
    const char *source = NULL;
    if (!plan)
        return NULL;
    IPT_LOCK_ACQUIRE(&((ipt_plan *)plan)->lock); /* a first out-of-place execution adds a kernel */
#ifndef IPT_NO_KERNEL_SOURCE
    if (index < (size_t)plan->kernel_count)
        source = plan->kernels[index].program->source;
#else
    (void)index;
#endif
    IPT_LOCK_RELEASE(&((ipt_plan *)plan)->lock);
    return source;
}

#ifndef IPT_NO_HOST_STREAMING
/* Releases a plan's resources for host matrices: parts' plans, buffers, queues. */
static void ipt__host_close(ipt_plan *plan)
{
    ipt__host *const host = &plan->host;
    const ipt_allocator *const allocator = &plan->context->allocator;
    size_t s;
    int i;
    for (s = 0; host->shares && s < host->share_count; ++s) {
        ipt__host_share *const share = &host->shares[s];
        for (i = 0; i < IPT__BLOCK_PLANS; ++i)
            ipt_plan_destroy(share->block_plans[i]);
        for (i = 3; i >= 0; --i) /* later plans may borrow from the first */
            ipt_plan_destroy(share->plans[i]);
        if (share->slots)
            ipt__cl.clEnqueueUnmapMemObject(share->queues[0], share->pinned, share->slots, 0, NULL, NULL);
        for (i = 0; i < share->queue_count; ++i)
            ipt__cl.clReleaseCommandQueue(share->queues[i]);
        if (share->pinned)
            ipt__cl.clReleaseMemObject(share->pinned);
        if (share->buffer)
            ipt__cl.clReleaseMemObject(share->buffer);
        share->queue_count = 0;
    }
    ipt__release(allocator, host->shares);
    ipt__release(allocator, host->parts);
    ipt__release(allocator, host->commands);
    ipt__release(allocator, host->scratch);
    memset(host, 0, sizeof *host);
}
#endif

IPT_API void ipt_plan_destroy(ipt_plan *plan)
{
    ipt_context *context;
    ipt_allocator allocator;
    if (!plan)
        return;
    context = plan->context;
    allocator = context->allocator;
#ifndef IPT_NO_HOST_STREAMING
    ipt_plan_destroy(plan->pieces);
    ipt__host_close(plan);
    while (plan->split_count)
        ipt_context_destroy(plan->split[--plan->split_count]);
    ipt__release(&allocator, plan->split);
#endif
    ipt__plan_close(plan);
    ipt__program_drop(context, plan->panel);
    IPT_LOCK_DESTROY(&plan->host_lock);
    IPT_LOCK_DESTROY(&plan->lock);
    ipt__release(&allocator, plan->expression);
    ipt__release(&allocator, plan);
    ipt_context_destroy(context);
}
