/* Plans for matrices in host memory, and others that consist of plans: beginning, description, end. */

static const ipt__plan_kind ipt__host_kind = {"host matrices", 0, 0, NULL, NULL};

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
}

/* Describes the plans of a share's parts or pieces, each in its own words. */
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

/* Bytes of a description that contains those of the plans which a plan consists of. */
static size_t ipt__description_bytes(const ipt_plan *plan)
{
    const ipt__host *const host = &plan->host->staging;
    size_t bytes = IPT__DESCRIPTION_BYTES, s;
    int i;
    for (s = 0; s < host->share_count; ++s)
        for (i = 0; i < 4; ++i) {
            const ipt__host_share *const share = &host->shares[s];
            bytes += share->plans[i] ? strlen(share->plans[i]->description) + 100 : 0;
            bytes += share->block_plans[i] ? strlen(share->block_plans[i]->description) + 100 : 0;
        }
    return bytes + (plan->host->pieces ? strlen(plan->host->pieces->description) : 0);
}

/* Writes the first lines of a description. */
typedef void (*ipt__describer)(ipt__text *out, const ipt_plan *plan);

/* Writes the description of a plan that consists of plans. */
static ipt_result ipt__parts_describe(ipt_plan *plan, ipt__describer describe)
{
    const ipt__host *const host = &plan->host->staging;
    const ipt_allocator *const allocator = &plan->context->allocator;
    ipt_result result;
    size_t capacity, s;
    char *text;
    ipt__text out;
    if (plan->enough)
        return ipt__plan_keep_description(plan, "");
    capacity = ipt__description_bytes(plan);
    text = (char *)ipt__allocate(allocator, capacity);
    if (!text)
        return IPT_ERROR_OUT_OF_MEMORY;
    out = ipt__text_in(text, capacity);
    describe(&out, plan);
    for (s = 0; s < host->share_count; ++s)
        ipt__share_describe(&out, plan, s);
    if (!ipt__plan_borrows(plan))
        ipt__describe_memory(&out, plan, ipt_plan_workspace(plan));
    result = ipt__plan_keep_description(plan, text);
    ipt__release(allocator, text);
    return result;
}
#endif

#ifndef IPT_NO_HOST_STREAMING
static ipt_result ipt__host_plan_new(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent,
                                     ipt_plan **plan)
{
    const ipt_result result = ipt__plan_new(context, desc, lent, plan);
    return result ? result : ipt__plan_keep(plan, ipt__host_plan_begin(*plan));
}

#endif

/* Fails because the plans that a plan consists of need more than `limit` bytes. What they share has to hold `enough` on
 * each device; 0: unknown. */
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

/* Makes the plans that a plan consists of; what: of their maker. */
typedef ipt_result (*ipt__opener)(ipt_plan *plan, const void *what);

/* Makes the plans that a plan consists of within its workspaces' limit. The limit may change how a matrix is cut: so a
 * higher one is tried before an error names it. It serves if the desc leaves it to the plan. */
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
