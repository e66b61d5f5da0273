/* Making and destroying plans. */

/* Builds a plan's kernels and takes its workspace, for the layout that it has. */
static ipt_result ipt__plan_open(ipt_plan *plan)
{
    ipt_result result = IPT_SUCCESS;
    int i;
    ipt__layout_dress(plan, &plan->layout);
    for (i = 0; i < plan->layout.stage_count && !result; ++i)
        result = ipt__stage_kernels(plan, &plan->layout.stages[i]);
    return result ? result : ipt__plan_take_workspace(plan);
}

/* Gives back what ipt__plan_open took. Executions that are under way keep what they need. */
static void ipt__plan_close(ipt_plan *plan)
{
    if (plan->last)
        ipt__cl.clReleaseEvent(plan->last);
    plan->last = NULL;
    if (plan->workspace && !plan->lender)
        ipt__cl.clReleaseMemObject(plan->workspace);
    plan->workspace = NULL;
    while (plan->kernel_count) {
        ipt__plan_kernel *const kernel = &plan->kernels[--plan->kernel_count];
        if (kernel->kernel)
            ipt__cl.clReleaseKernel(kernel->kernel);
        ipt__program_drop(plan->context, kernel->program);
    }
    plan->out_of_place_kernel = -1;
}

/* Bytes of workspace that the desc allows; 0: as little as possible. */
static size_t ipt__plan_budget(const ipt_plan *plan)
{
    if (plan->desc.max_workspace)
        return plan->desc.max_workspace == 1 ? 0 : plan->desc.max_workspace;
    return ipt__max((size_t)1 << 20, plan->matrix_bytes * plan->desc.batch / 100);
}

/* Finds out whether and how the device runs the cooperative panel kernel, if the plan may have a use for it. */
static ipt_result ipt__plan_find_panel(ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const ipt__limits *const limits = &plan->context->limits;
    const int cache_only = (desc->flags & IPT_CACHE_ONLY) != 0;
    ipt__params params;
    ipt_result result;
    if (!limits->cooperative || limits->group_size < 64 || (desc->flags & IPT_NO_COOPERATIVE) || desc->rows == 1 ||
        desc->cols == 1 || desc->from || desc->to || (desc->flags & IPT_PAD) || !ipt__moves[desc->move].transposed ||
        (desc->sequence != IPT_SEQUENCE_AUTO && desc->sequence != IPT_SEQUENCE_TWO_PASS))
        return IPT_SUCCESS;
    if (desc->sequence == IPT_SEQUENCE_AUTO &&
        (desc->rows == desc->cols || plan->matrix_bytes <= ipt__local_budget(limits)))
        return IPT_SUCCESS;
    params = ipt__plan_params(plan, plan->element_units, 1);
    params.apply = desc->expression != NULL;
    params.index_bits = 32;
    /* One pass, if the matrix fits on the chip; it takes the tall kernel. */
    if (desc->sequence == IPT_SEQUENCE_AUTO && desc->batch == 1 && plan->matrix_bytes <= IPT__ON_CHIP_BYTES) {
        ipt__layout layout;
        params.tall = 1;
        result = ipt__panel_get(plan->context, params, cache_only, &plan->panel, &plan->resident);
        if (result || !plan->panel || ipt__layout_on_chip(plan, &layout))
            return result;
        ipt__program_drop(plan->context, plan->panel);
    }
    params.tall = desc->rows >= desc->cols;
    params.narrow = ipt__min(desc->rows, desc->cols) * desc->elem_size <= IPT__NARROW_BYTES &&
                    ipt__min(desc->rows, desc->cols) <= limits->group_size; /* a turn takes whole rows */
    return ipt__panel_get(plan->context, params, cache_only, &plan->panel, &plan->resident);
}

static ipt_result ipt__plan_settle(ipt_plan *plan, size_t budget);
static ipt_result ipt__out_of_place_get(ipt_plan *plan);
static void ipt__host_close(ipt_plan *plan);
static ipt_result ipt__host_open(ipt_plan *plan, ipt_host scheme);
static int ipt__plan_is_cut(const ipt_plan *plan);
static ipt_result ipt__plan_cut(ipt_plan *plan);

/* The extension that a word of OpenCL C needs; NULL: none. `half` alone may point to memory without one. */
static const char *ipt__word_needs(const char *word, size_t length, int is_type)
{
    const size_t all = length;
    while (length && word[length - 1] >= '0' && word[length - 1] <= '9')
        --length;
    if (length == 6 && !strncmp(word, "double", 6))
        return "cl_khr_fp64";
    return length == 4 && !strncmp(word, "half", 4) && (is_type || all > length) ? "cl_khr_fp16" : NULL;
}

/* Fails for types that the device lacks: what its compiler says to them differs, and may be nothing. */
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

/* Copies the desc's expression, and builds it alone: what does not build later is not its fault. */
static ipt_result ipt__plan_take_expression(ipt_plan *plan)
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

/* Makes the choice once, within `budget` bytes of workspace. */
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
        result = ipt__plan_settle(plan, budget);
    if (!result)
        result = ipt__plan_open(plan);
    if (result)
        ipt__plan_close(plan);
    return result;
}

/* Chooses a layout and builds what it needs. Whether a program builds with more local memory than the device reports,
 * and how much workspace the device takes, only trying can tell: the choice is made again where one does not build, and
 * with less workspace where some was refused. */
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
        if (result == IPT_ERROR_UNSUPPORTED && *cause) /* no layout does with so little */
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
    plan->user = plan;
}

static ipt_result ipt__fail_for_parts(size_t budget, size_t enough)
{
    return ipt__fail(IPT_ERROR_UNSUPPORTED,
                     "max_workspace allows %lu bytes, too few for a plan and its parts, which host asks for: %lu "
                     "would do",
                     (unsigned long)budget, (unsigned long)enough);
}

static ipt_result ipt__plan_make(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *lender, ipt_plan **plan);

/* Refuses a plan by a limit that does for its parts, too, which would else be refused at its first execution. Returns
 * the error, whose text it may replace. */
static ipt_result ipt__plan_propose_for_parts(const ipt_plan *refused, ipt_result error)
{
    ipt_plan_desc desc = refused->desc;
    char cause[IPT__CAUSE_BYTES];
    ipt_plan *trial;
    size_t enough = 0;
    ipt__keep_cause(cause);
    desc.host = IPT_HOST_AUTO;
    desc.max_workspace = refused->enough;
    if (!ipt__plan_make(refused->context, &desc, NULL, &trial)) {
        enough = ipt__host_open(trial, IPT_HOST_OVERLAPPED) ? trial->enough : 0;
        ipt_plan_destroy(trial);
    }
    return enough > refused->enough ? ipt__fail_for_parts(ipt__plan_budget(refused), enough)
                                    : ipt__fail(error, "%s", cause);
}

static ipt_result ipt__check_out_of_place(const ipt_plan *plan)
{
    if (plan->desc.from || plan->desc.to || plan->desc.move || (plan->desc.flags & IPT_PAD))
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "plans for formats, for moves other than transpose or with IPT_PAD only work in place");
    return IPT_SUCCESS;
}

/* Makes a plan that borrows the workspace of another one, which outlives it; NULL: of none. in_pieces: see ipt_plan. */
static ipt_result ipt__plan_make_as(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *lender, int in_pieces,
                                    ipt_plan **plan)
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
    made->lender = lender;
    made->in_pieces = in_pieces;
    result = ipt__plan_check(made);
    if (!result && desc->expression)
        result = ipt__plan_take_expression(made);
    if (!result && ipt__plan_is_cut(made))
        result = ipt__plan_cut(made);
    else if (!result) {
        result = ipt__plan_find_panel(made);
        if (!result)
            result = ipt__plan_build(made);
        if (result == IPT_ERROR_UNSUPPORTED && made->enough && desc->host == IPT_HOST_OVERLAPPED)
            result = ipt__plan_propose_for_parts(made, result);
    }
    if (!result && (desc->flags & IPT_OUT_OF_PLACE))
        result = ipt__check_out_of_place(made);
    if (!result && (desc->flags & IPT_OUT_OF_PLACE))
        result = ipt__out_of_place_get(made);
    if (result) {
        ipt_plan_destroy(made);
        return result;
    }
    ipt__plan_write_description(made);
    *plan = made;
    return IPT_SUCCESS;
}

static ipt_result ipt__plan_make(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *lender, ipt_plan **plan)
{
    return ipt__plan_make_as(context, desc, lender, 0, plan);
}

IPT_API ipt_result ipt_plan_create(ipt_context *context, const ipt_plan_desc *desc, ipt_plan **plan)
{
    return ipt__plan_make(context, desc, NULL, plan);
}

IPT_API size_t ipt_plan_workspace(const ipt_plan *plan)
{
    size_t bytes;
    int i;
    if (!plan)
        return 0;
    IPT_LOCK_ACQUIRE(&((ipt_plan *)plan)->lock); /* a first execution of a host matrix adds to it */
    bytes = plan->layout.workspace + plan->host_workspace;
    IPT_LOCK_RELEASE(&((ipt_plan *)plan)->lock);
    for (i = 0; plan->cut.chunk_bytes && i < 4; ++i) { /* the pieces' plans have no pieces of their own */
        const ipt_plan *const piece = plan->host.shares[0].plans[i];
        bytes += piece ? ipt_plan_workspace(piece) - piece->layout.workspace : 0;
    }
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
    IPT_LOCK_ACQUIRE(&((ipt_plan *)plan)->lock); /* a first execution out of place adds a kernel */
    if (index < (size_t)plan->kernel_count)
        source = plan->kernels[index].program->source;
    IPT_LOCK_RELEASE(&((ipt_plan *)plan)->lock);
    return source;
}

IPT_API void ipt_plan_destroy(ipt_plan *plan)
{
    ipt_context *context;
    ipt_allocator allocator;
    if (!plan)
        return;
    context = plan->context;
    allocator = context->allocator;
    ipt_plan_destroy(plan->pieces);
    ipt__host_close(plan);
    while (plan->split_count)
        ipt_context_destroy(plan->split[--plan->split_count]);
    ipt__release(&allocator, plan->split);
    ipt__plan_close(plan);
    ipt__program_drop(context, plan->panel);
    IPT_LOCK_DESTROY(&plan->host_lock);
    IPT_LOCK_DESTROY(&plan->lock);
    ipt__release(&allocator, plan->expression);
    ipt__release(&allocator, plan);
    ipt_context_destroy(context);
}
