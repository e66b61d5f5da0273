/* Making plans, and plans that run stages on their device. */

/* Fails for types that the device lacks. Compilers report such types in different ways, or not at all. text may be
 * NULL.
 */
static ipt_result ipt__check_types(const ipt_context *context, const char *name, const char *text)
{
    const unsigned half = IPT__NEEDS_HALF, doubled = IPT__NEEDS_DOUBLE,
                   missing = (context->has_half ? 0 : half) | (context->has_double ? 0 : doubled);
    const char *first = text;
    size_t length = 0;
    if (!text || !(ipt__text_needs(text, missing, &first, &length) & missing))
        return IPT_SUCCESS;
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s has %.*s: the device lacks %s", name, (int)length, first,
                     ipt__word_needs(first, length) & doubled ? "cl_khr_fp64" : "cl_khr_fp16");
}

/* Copies the desc's expression and its argument. */
static ipt_result ipt__plan_copy_expression(ipt_plan *plan)
{
    ipt_plan_desc *const desc = &plan->problem.desc;
    ipt__params params;
    memset(&params, 0, sizeof params);
    ipt__params_apply(&params, desc, 1);
    plan->expression = ipt__copy_texts(&plan->context->allocator, &params);
    if (!plan->expression)
        return IPT_ERROR_OUT_OF_MEMORY;
    desc->expression = params.expression;
    desc->expression_type = params.expression_type;
    if (desc->expression_argument) {
        memcpy(plan->argument, desc->expression_argument, ipt__type_bytes(params.argument_type));
        desc->expression_argument = plan->argument;
        desc->expression_argument_type = params.argument_type;
    }
    return IPT_SUCCESS;
}

/* Copies the desc's expression and compiles it alone. So a later build failure has another cause. */
static IPT__RARE ipt_result ipt__plan_take_expression(ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    char cause[IPT__CAUSE_BYTES];
    ipt__params params;
    ipt__program *program;
    ipt_result result = ipt__check_types(plan->context, "expression_type", desc->expression_type);
    if (!result)
        result = ipt__check_types(plan->context, "expression_argument_type", desc->expression_argument_type);
    if (!result)
        result = ipt__check_types(plan->context, "expression", desc->expression);
    if (!result)
        result = ipt__plan_copy_expression(plan);
    if (result)
        return result;
    params = ipt__plan_params(&plan->problem, 1);
    ipt__params_apply(&params, desc, 1);
    params.index_bits = ipt__numbers_are_short(&plan->problem) ? 32 : 64; /* as in the stage */
    if (!ipt__params_reduce(&params, ipt__kernels[IPT__KERNEL_map].uses))
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "a parameter of ipt_k_map is out of range");
    result = ipt__program_get(plan->context, IPT__KERNEL_map, &params, (desc->flags & IPT_CACHE_ONLY) != 0, &program);
    ipt__program_drop(plan->context, program);
    if (result == IPT_ERROR_BUILD) {
        ipt__keep_cause(cause);
        return ipt__fail(result, "expression does not compile for x of expression_type %s%s%s: %s",
                         desc->expression_type, desc->expression_argument ? " and a of expression_argument_type " : "",
                         desc->expression_argument ? desc->expression_argument_type : "", cause);
    }
    return result;
}

static ipt_result ipt__fail_budget(const ipt__problem *problem, size_t budget, size_t enough)
{
    const ipt_plan_desc *const desc = &problem->desc;
    ipt__fail(IPT_ERROR_UNSUPPORTED, "%s allows %zu bytes, too few for %zu x %zu elements of %zu bytes",
              desc->max_workspace ? "max_workspace" : "the default of max_workspace", budget, desc->rows, desc->cols,
              desc->elem_size);
    return ipt__advise(offsetof(ipt_plan_desc, max_workspace), enough);
}

/* Chooses a layout and builds its kernels once, within `budget` bytes of workspace. If the limit of a
 * borrowed workspace is too low, the plan has no kernels: plan->enough reports the sufficient limit to the owner, which
 * raises the limit or fails. */
static ipt_result ipt__plan_build_once(ipt_plan *plan, size_t budget)
{
    ipt_result result;
    plan->problem.refused_bytes = ipt__least_refused(plan->context);
    result = ipt__layout_choose(&plan->problem, &plan->device->layout, budget);
    plan->enough = 0;
    if (!result && budget && plan->device->layout.workspace > budget) {
        plan->enough = plan->device->layout.minimum_workspace;
        if (ipt__plan_borrows(plan) && budget == ipt__problem_budget(&plan->problem))
            return IPT_SUCCESS;
        result = ipt__fail_budget(&plan->problem, budget, plan->enough);
    }
    if (!result)
        result = ipt__plan_select_layout(plan, budget);
    if (!result)
        result = ipt__plan_open(plan);
    if (result)
        ipt__plan_close(plan);
    return result;
}

/* Chooses a layout and builds its kernels. Some limits are known only after an attempt: local memory beyond the
 * reported size, and the largest workspace. A failed build repeats the choice. A refused workspace repeats it with a
 * smaller budget. */
static IPT__RARE ipt_result ipt__plan_build(ipt_plan *plan)
{
    char cause[IPT__CAUSE_BYTES] = "";
    size_t budget = ipt__problem_budget(&plan->problem), least, less;
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

#ifndef IPT_NO_KERNEL_SOURCE
#define IPT__PLAN_SOURCE(source) source

/* Returns the source of kernel *index of a plan, or of its narrow plan, or NULL. If the plan has
 * fewer kernels, their number is subtracted from *index. */
static const char *ipt__device_plan_source(const ipt_plan *plan, size_t *index)
{
    const ipt__device_plan *const device = plan->device;
    const char *source = NULL;
    IPT_LOCK_ACQUIRE(&plan->workspace->lock); /* a first out-of-place execution adds a kernel */
    if (*index < (size_t)device->kernel_count)
        source = ipt__program_source(plan->context, device->kernels[*index].program);
    else
        *index -= (size_t)device->kernel_count;
    IPT_LOCK_RELEASE(&plan->workspace->lock);
    return source || !device->narrow ? source : ipt__device_plan_source(device->narrow, index);
}
#else
#define IPT__PLAN_SOURCE(source) NULL
#endif

static const ipt__plan_kind ipt__device_kind = {0, ipt__device_enqueue, IPT__PLAN_SOURCE(ipt__device_plan_source)};

/* Allocates a plan and checks its desc. lent: the workspace of a plan that outlives this plan. Its limit also
 * applies. NULL: the plan has its own workspace. */
static IPT__RARE ipt_result ipt__plan_new(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent,
                                          ipt_plan **plan)
{
    ipt_plan *const made = *plan = (ipt_plan *)ipt__allocate(&context->allocator, sizeof *made);
    size_t *limit;
    ipt_result result;
    if (!made)
        return IPT_ERROR_OUT_OF_MEMORY;
    made->kind = &ipt__device_kind; /* the makers of other kinds replace it */
    ipt__workspace_begin(&made->own, 1);
    made->own.borrower = made;
    made->workspace = &made->own;
    ipt__context_retain(context);
    made->context = context;
    result =
        ipt__problem_fill(&context->limits, desc, lent ? lent->unit_most : (size_t)IPT__VECTOR_BYTES, &made->problem);
    limit = &made->problem.desc.max_workspace;
    if (lent) {
        made->workspace = lent;
        *limit = *limit > 1 && (lent->limit == 1 || *limit < lent->limit) ? *limit : lent->limit;
    } else if (!result)
        made->own.limit = ipt__max(ipt__problem_budget(&made->problem), 1);
    if (!result && desc->expression)
        result = ipt__plan_take_expression(made);
    return ipt__plan_keep(plan, result);
}

static ipt_result ipt__plan_make_layout(ipt_plan *plan)
{
    const ipt_result result = ipt__plan_seek_kernels(plan);
    return result ? result : ipt__plan_build(plan);
}

#ifndef IPT_NO_BOXES
/* Makes matrices move by boxes, where these take less time and fit. Fails if another method may serve them. */
static IPT__RARE ipt_result ipt__plan_make_boxes(ipt_plan *plan)
{
    ipt_result result = IPT_ERROR_UNSUPPORTED;
    if (ipt__boxes_take_matrices(&plan->problem)) {
        result = ipt__plan_make_layout(plan);
        if (!result && plan->enough) /* other methods may do with the borrowed workspace */
            result = IPT_ERROR_UNSUPPORTED;
        if (result) {
            ipt__program_drop(plan->context, plan->device->panel);
            plan->device->panel = NULL;
            plan->problem.panel.resident = 0;
            memset(&plan->problem.array, 0, sizeof plan->problem.array);
        }
    }
    return result;
}
#endif

/* Adds stages to a new plan. */
static ipt_result ipt__plan_make_stages(ipt_plan *plan)
{
    ipt_result result;
    plan->device = (ipt__device_plan *)ipt__allocate(&plan->context->allocator, sizeof *plan->device);
    if (!plan->device)
        return IPT_ERROR_OUT_OF_MEMORY;
    plan->device->out_of_place = -1;
    plan->device->dirty = ipt__plan_borrows(plan); /* a destroyed plan may have had this one's address */
#ifndef IPT_NO_BOXES
    result = ipt__plan_make_boxes(plan);
    if (result == IPT_ERROR_UNSUPPORTED || result == IPT_ERROR_CACHE_MISS || result == IPT_ERROR_BUILD ||
        result == IPT_ERROR_OUT_OF_MEMORY) /* other methods need less workspace */
#endif
        result = ipt__plan_make_layout(plan);
    if (!result && (plan->problem.desc.flags & IPT_OUT_OF_PLACE))
        result = ipt__check_out_of_place(plan);
    if (!result && (plan->problem.desc.flags & IPT_OUT_OF_PLACE))
        result = ipt__out_of_place_get(plan);
    return result;
}

/* Makes a plan on the device for arrays, or for matrices: see ipt__problem. */
static ipt_result ipt__array_plan_make(ipt_context *context, const ipt_plan_desc *desc, const ipt__array *array,
                                       ipt__workspace *lent, ipt_plan **plan)
{
    ipt_result result = ipt__plan_new(context, desc, lent, plan);
    if (result)
        return result;
    (*plan)->problem.array = *array;
    result = ipt__plan_make_stages(*plan);
    return ipt__plan_keep(plan, result ? result : ipt__plan_write_description(*plan));
}

static ipt_result ipt__plan_make(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent, ipt_plan **plan)
{
    ipt__array none;
    memset(&none, 0, sizeof none);
    return ipt__array_plan_make(context, desc, &none, lent, plan);
}

IPT_API size_t ipt_plan_workspace(const ipt_plan *plan)
{
    size_t bytes = 0, i;
    for (i = 0; plan && i < ipt__plan_devices(plan); ++i) {
        IPT_LOCK_ACQUIRE(&plan->workspace[i].lock); /* a first execution of a host matrix may need more */
        bytes += plan->workspace[i].bytes;
        IPT_LOCK_RELEASE(&plan->workspace[i].lock);
    }
    return bytes;
}

IPT_API void ipt_plan_padding(const ipt_plan *plan, size_t *rows, size_t *cols)
{
    if (rows)
        *rows = plan ? plan->problem.pad_rows : 0;
    if (cols)
        *cols = plan ? plan->problem.pad_cols : 0;
}

IPT_API const char *ipt_plan_describe(const ipt_plan *plan)
{
    return plan ? plan->description : "";
}

IPT_API const char *ipt_plan_source(const ipt_plan *plan, size_t index)
{
    return plan && plan->kind->source ? plan->kind->source(plan, &index) : NULL;
}
