/* Plans that consist of plans of passes, parts or pieces: beginning, description, limit of the workspace. */

#ifndef IPT_NO_HOST_STREAMING
static const ipt__plan_kind ipt__host_kind = {0, NULL, NULL};
#endif

/* Prepares a plan for host matrices. */
static ipt_result ipt__host_plan_begin(ipt_plan *plan)
{
    plan->host = (ipt__host_plan *)ipt__allocate(&plan->context->allocator, sizeof *plan->host);
    if (!plan->host)
        return IPT_ERROR_OUT_OF_MEMORY;
    IPT_LOCK_INIT(&plan->host->lock);
    return IPT_SUCCESS;
}

#ifndef IPT_NO_HOST_STREAMING
/* The number of moves. gcd(rows - 1, cols - 1) + 1 slots of a grid are fixed points. */
static size_t ipt__moves_count(const ipt__cut *cut)
{
    size_t a, b;
    if (cut->matrices || cut->panels == 1 || cut->groups == 1)
        return 0;
    for (a = cut->panels - 1, b = cut->groups - 1; b;) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return cut->panels * cut->groups - a - 1;
}

/* Adds the descriptions of a share's plans. */
static void ipt__share_describe(ipt__text *out, const ipt_plan *plan, size_t index)
{
    static const char *const parts[] = {"a part", "the last part"}, *const pieces[] = {"each chunk", "the last chunk",
                                                                                       "the remainder", "each group"};
    const ipt__host_share *const share = &plan->host->staging.shares[index];
    const int cut = plan->cut != NULL;
    int i;
    for (i = 0; i < 4; ++i)
        if (share->plans[i] && cut)
            ipt__text_add(out, "  %s: %s", pieces[i], share->plans[i]->description);
        else if (share->plans[i])
            ipt__text_add(out, "  device %zu, %s: %s", index + 1, parts[i], share->plans[i]->description);
    for (i = 0; i < IPT__BLOCK_PLANS; ++i)
        if (share->block_plans[i])
            ipt__text_add(out, "  pinned: %s", share->block_plans[i]->description);
}

/* Adds the last lines of a description: the plans of parts or pieces, and their workspace. */
static void ipt__describe_shares(ipt__text *out, const ipt_plan *plan)
{
    size_t s;
    for (s = 0; s < plan->host->staging.share_count; ++s)
        ipt__share_describe(out, plan, s);
    if (!ipt__plan_borrows(plan))
        ipt__describe_memory(out, plan, ipt_plan_workspace(plan));
}

static void ipt__cut_describe(ipt__text *out, const ipt_plan *of)
{
    const ipt__cut_plan *const plan = of->cut;
    const ipt__cut *const cut = &plan->sizes;
    ipt__describe_matrices(out, of, cut->chunks, "chunk");
    ipt__text_add(out, "\n");
    if (cut->matrices)
        ipt__text_add(out, "  %zu matrices at a time, in chunks of %zu bytes\n", cut->matrices, cut->chunk_bytes);
    else
        ipt__text_add(out,
                      "  cut into %zu panels of %zu and %zu left over, %zu to a chunk of %zu bytes; the host shuffles "
                      "%zu blocks of %zu bytes, each %zu super-elements; %zu lines left over\n",
                      cut->panels, cut->length, cut->rest, cut->chunk_panels, cut->chunk_bytes, ipt__moves_count(cut),
                      cut->block_bytes, cut->group, cut->spare);
    if (plan->blocks.bus_bytes)
        ipt__text_add(out,
                      "  pinned: %zu panels of %zu rows, %zu blocks of %zu columns to each; the device holds up to %zu "
                      "of %zu bytes; %zu bytes cross the bus\n",
                      plan->blocks.panels, plan->blocks.length, plan->blocks.per_panel, plan->blocks.columns,
                      plan->blocks.units, plan->blocks.unit_bytes, plan->blocks.bus_bytes);
    if (plan->bus_bands.bus_bytes)
        ipt__text_add(out, "  pinned: %zu bands of %zu %s, runs of %zu bytes; %zu bytes cross the bus\n",
                      plan->bus_bands.bands.number, plan->bus_bands.bands.height,
                      plan->bus_bands.bands.tall ? "rows" : "columns", plan->bus_bands.run_bytes,
                      plan->bus_bands.bus_bytes);
    ipt__describe_shares(out, of);
}

static ipt_result ipt__host_plan_new(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent,
                                     ipt_plan **plan)
{
    const ipt_result result = ipt__plan_new(context, desc, lent, plan);
    return result ? result : ipt__plan_keep(plan, ipt__host_plan_begin(*plan));
}
#endif

/* Fails because a plan's passes, parts or pieces need more than `limit` bytes of workspace. enough: bytes per device
 * that suffice; 0: unknown. */
static ipt_result ipt__fail_workspace(const ipt_plan *plan, size_t limit, size_t enough)
{
    ipt__fail(IPT_ERROR_UNSUPPORTED,
              "max_workspace allows %zu bytes, too few for the %s of %zu x %zu elements of %zu bytes", limit,
              plan->passes  ? "passes"
              : plan->split ? "parts"
                            : "pieces",
              plan->problem.desc.rows, plan->problem.desc.cols, plan->problem.desc.elem_size);
    return enough ? ipt__advise(offsetof(ipt_plan_desc, max_workspace), enough * ipt__plan_devices(plan))
                  : IPT_ERROR_UNSUPPORTED;
}

/* Makes a plan's plans of passes, parts or pieces. what: input of the function. */
typedef ipt_result (*ipt__opener)(ipt_plan *plan, const void *what);

/* Makes a plan's plans by `open` within the limit of its workspaces. If the limit is too low, tries higher limits
 * before an error proposes one, because a limit may change how a matrix is cut. The plan keeps the higher limit if the
 * desc has none, and the default allows it. */
static IPT__RARE ipt_result ipt__plan_fit(ipt_plan *plan, ipt__opener open, const void *what)
{
    enum { TRIES = 16 };
    const int left = !plan->problem.desc.max_workspace;
    const size_t budget = ipt__problem_budget(&plan->problem);
    size_t limit = 0, i;
    int tries;
    ipt_result result = open(plan, what);
    for (tries = 0; tries < TRIES && !result && plan->enough && !ipt__plan_borrows(plan); ++tries) {
        limit = plan->enough;
        ipt__plan_empty(plan);
        plan->enough = 0;
        plan->problem.desc.max_workspace = plan->own.limit = limit;
        for (i = 0; plan->split && i < plan->split->count; ++i)
            plan->split->workspaces[i].limit = limit;
        result = open(plan, what);
    }
    if (!tries || (left && !plan->enough && (result || limit * ipt__plan_devices(plan) <= budget)))
        return result;
    return ipt__fail_workspace(plan, budget, result || plan->enough ? 0 : limit);
}
