/* Making plans for matrices in host memory, cut or whole. */

/* Bytes of device memory that a plan for host matrices may use. whole: the device works in the host's memory, if it
 * can. */
static IPT__RARE size_t ipt__device_limit(const ipt_context *context, const ipt_plan_desc *desc, int whole)
{
    cl_ulong bytes = 0;
    if (desc->max_device_memory)
        return desc->max_device_memory;
    if ((context->shares_memory && whole) || !context->device ||
        ipt__calls(context)->clGetDeviceInfo(context->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL))
        return (size_t)-1;
    return ipt__size_of(bytes);
}

static size_t ipt__cut_limit(const ipt_plan *plan)
{
    return ipt__device_limit(plan->context, &plan->problem.desc, !plan->host->in_pieces);
}

/* Whether a batch of `span` bytes, whose plan may have a workspace of `budget` bytes, exceeds the device's memory. */
static IPT__RARE int ipt__exceeds_device(const ipt_context *context, const ipt_plan_desc *desc, size_t span,
                                         size_t budget)
{
    const size_t limit = ipt__device_limit(context, desc, 1);
    const int shared = context->shares_memory && (!desc->host || desc->host == IPT_HOST_SHARED);
    if (!desc->max_device_memory) /* other schemes may still fit a matrix of that size */
        return limit < span;
    return limit < budget || (!shared && limit - budget < span);
}

/* True if the plan cuts its matrices. Such a plan has no stages of its own. */
static int ipt__plan_is_cut(const ipt_plan *plan)
{
    const ipt__problem *const problem = &plan->problem;
    return plan->host->in_pieces ||
           ipt__exceeds_device(plan->context, &problem->desc, problem->span_bytes, ipt__problem_budget(problem));
}

/* Opens a cut plan with the largest buffers that the device can allocate. */
static IPT__RARE ipt_result ipt__cut_open_host(ipt_plan *plan, const void *unused)
{
    const size_t most = plan->problem.desc.max_device_memory, limit = most ? most : ipt__cut_limit(plan) / 4 * 3;
    char cause[IPT__CAUSE_BYTES];
    ipt_result result;
    (void)unused;
    result = ipt__cut_open_device(plan, limit);
    while (result == IPT_ERROR_OUT_OF_MEMORY && plan->refused) {
        ipt__keep_cause(cause);
        plan->cut->most = ipt__less_than(plan->context, plan->refused);
        plan->refused = 0;
        ipt__plan_empty(plan);
        result = ipt__cut_open_device(plan, limit);
        if (result == IPT_ERROR_UNSUPPORTED) /* no smaller pieces exist */
            return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%s", cause);
    }
    return result;
}

/* Opens a cut plan, and describes it. open: the function for matrices in memory or in a storage. */
static IPT__RARE ipt_result ipt__plan_cut(ipt_plan *plan, ipt__opener open, ipt__plan_maker make_piece)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    ipt_result result;
    if (ipt__has_formats(desc) || ipt__pads(desc) || desc->tile_m || desc->tile_n ||
        desc->sequence != IPT_SEQUENCE_AUTO || (desc->flags & IPT_OUT_OF_PLACE))
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "a matrix that does not fit %s is cut: forced sequences, tiles, formats, IPT_PAD and "
                         "IPT_OUT_OF_PLACE are not possible then",
                         ipt__limit_name(plan));
    if (ipt__named_places(desc))
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "a matrix that does not fit %s is cut: expression cannot name places then (i, j, b); apply it "
                         "by parts that fit",
                         ipt__limit_name(plan));
    if (plan->problem.pitched)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "a matrix that does not fit %s is cut: row_pitch and row_pitch_out have to be 0 then",
                         ipt__limit_name(plan));
    if (!desc->max_host_memory && desc->host && desc->host != IPT_HOST_OVERLAPPED)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "host is %s, which takes device memory for all of the matrix: more than the %zu bytes allowed",
                         ipt_host_string(desc->host), ipt__cut_limit(plan));
    if (!plan->context->context)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "plans that are cut need a device");
    plan->kind = &ipt__host_kind;
    plan->cut = (ipt__cut_plan *)ipt__allocate(&plan->context->allocator, sizeof *plan->cut);
    if (!plan->cut)
        return IPT_ERROR_OUT_OF_MEMORY;
    plan->cut->make_piece = make_piece;
    result = ipt__plan_fit(plan, open, NULL);
    if (!result && desc->move && !plan->cut->sizes.matrices)
        result = ipt__fail(IPT_ERROR_UNSUPPORTED, "move is %s: only transpositions of a matrix can be cut into panels",
                           ipt_move_string(desc->move));
    return result ? result : ipt__plan_describe(plan, ipt__cut_describe);
}

/* Fails for a plan whose limit of the workspace is too low. The proposed limit also suffices for the plan's parts. */
static ipt_result ipt__plan_propose_for_parts(ipt_plan *refused)
{
    const size_t enough = refused->enough;
    if (ipt__host_plan_parts(refused, IPT_HOST_OVERLAPPED) == IPT_SUCCESS)
        refused->enough = 0;
    return ipt__fail_for_parts(refused, ipt__max(enough, refused->enough));
}

/* Makes a plan for matrices on the device or in host memory. in_pieces: cut the matrix even if it would fit. */
static IPT__RARE ipt_result ipt__host_plan_make_as(ipt_context *context, const ipt_plan_desc *desc,
                                                   ipt__workspace *lent, int in_pieces, ipt_plan **plan)
{
    ipt_result result = ipt__host_plan_new(context, desc, lent, plan);
    if (result)
        return result;
    (*plan)->host->in_pieces = in_pieces;
    if (ipt__plan_is_cut(*plan)) {
        result = ipt__plan_cut(*plan, ipt__cut_open_host, ipt__plan_make);
    } else {
        result = ipt__plan_make_stages(*plan);
        if (result == IPT_ERROR_UNSUPPORTED && (*plan)->enough && desc->host == IPT_HOST_OVERLAPPED && context->context)
            result = ipt__plan_propose_for_parts(*plan);
        if (!result)
            result = ipt__plan_write_description(*plan);
    }
    if (!result && !lent) /* an owner prepares the plans whose host matrices it executes */
        result = ipt__host_prepare(*plan);
    return ipt__plan_keep(plan, result);
}

static ipt_result ipt__host_plan_make(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent,
                                      ipt_plan **plan)
{
    return ipt__host_plan_make_as(context, desc, lent, 0, plan);
}
