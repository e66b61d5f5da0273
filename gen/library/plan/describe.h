/* Describing plans. */

static void ipt__panel_describe(ipt__text *out, const ipt__stage *stage, unsigned long bytes)
{
    const ipt__chunks *const chunks = &stage->chunks;
    ipt__text_add(out, "panels together: %lu x (%lu x %lu of %lu bytes), ", (unsigned long)stage->instances,
                  (unsigned long)stage->rows, (unsigned long)stage->cols, bytes);
    if (chunks->across * chunks->down > 1)
        ipt__text_add(out, "each held by %lu work-groups", (unsigned long)(chunks->across * chunks->down));
    else
        ipt__text_add(out, "%lu held by each work-group", (unsigned long)chunks->pack);
    ipt__text_add(out, " (chunks of %lu x %lu)", (unsigned long)(chunks->tall ? chunks->y : chunks->x),
                  (unsigned long)(chunks->tall ? chunks->x : chunks->y));
    if (stage->tail_length)
        ipt__text_add(out, ", %lu %s %s", (unsigned long)stage->tail_length, chunks->tall ? "rows" : "columns",
                      chunks->tall ? "to the workspace first" : "from the workspace last");
}

static IPT__RARE void ipt__stage_describe(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    const unsigned long rows = (unsigned long)stage->rows, cols = (unsigned long)stage->cols,
                        length = (unsigned long)stage->length, bytes = length * (unsigned long)plan->desc.elem_size,
                        instances = (unsigned long)stage->instances, at_once = (unsigned long)stage->instances_at_once;
    switch (stage->kind) {
    case IPT__STAGE_SAVE:
        ipt__text_add(out, "save: %lu x %lu elements that no super-element holds to the workspace, transposed\n", rows,
                      cols);
        return;
    case IPT__STAGE_PANEL:
        ipt__panel_describe(out, stage, bytes);
        break;
    case IPT__STAGE_RESTORE:
        ipt__text_add(out, "restore: them as %lu rows of %lu elements from the workspace\n", rows, length);
        return;
    case IPT__STAGE_TILE:
        ipt__text_add(out, "tile: %lu x (%lu x %lu of %lu bytes), whole in local memory", instances, rows, cols, bytes);
        if (stage->pack_bytes)
            ipt__text_add(out, ", as many to a work-group as fit %lu bytes", (unsigned long)stage->pack_bytes);
        if (stage->reversed_rows || stage->reversed_cols)
            ipt__text_add(out, ", %s", ipt_move_string(plan->desc.move));
        break;
#ifdef IPT_NO_PAPERS
    case IPT__STAGE_PTTWAC_010: /* no plan has these stages */
    case IPT__STAGE_P_IPT:
    case IPT__STAGE_PAD:
        break;
#else
    case IPT__STAGE_PTTWAC_010:
    case IPT__STAGE_P_IPT:
        ipt__text_add(out, "cycles: %lu x (%lu x %lu of %lu bytes), where they lie", instances, rows, cols, bytes);
        break;
    case IPT__STAGE_PAD:
        ipt__text_add(out, "pad: %lu rows of %lu elements from %lu to %lu elements apart\n", rows, length,
                      (unsigned long)stage->origin, (unsigned long)stage->row_stride);
        return;
#endif
    case IPT__STAGE_FLIP:
        ipt__text_add(out, "flip: %lu x %lu elements, %s reversed", rows, cols,
                      !stage->reversed_cols   ? "the sequence of rows"
                      : !stage->reversed_rows ? "each row"
                                              : "all");
        break;
    case IPT__STAGE_MAP:
        ipt__text_add(out, "map: every element where it lies");
        break;
    case IPT__STAGE_SWAP:
        ipt__text_add(out, "swap: %lu x (%lu x %lu of %lu bytes), pairs of tiles through local memory", instances, rows,
                      cols, bytes);
        break;
    case IPT__STAGE_WAVE:
        ipt__text_add(out, "panels in waves: %lu x (%lu x %lu of %lu bytes), %lu panels of %lu matrices at once",
                      instances, rows, cols, bytes, at_once, (unsigned long)stage->matrices_at_once);
        break;
    case IPT__STAGE_SHUFFLE:
        ipt__text_add(out, "shuffle: %lu x (%lu x %lu super-elements of %lu elements, %lu bytes)", instances, rows,
                      cols, length, bytes);
        if (stage->inner_rows)
            ipt__text_add(out, ", each transposed as %lu x %lu", (unsigned long)stage->inner_rows,
                          (unsigned long)stage->inner_cols);
        if (stage->pieces > 1)
            ipt__text_add(out, ", in %lu pieces", (unsigned long)stage->pieces);
        if (stage->chains) {
            const ipt__params *const params = &plan->kernels[stage->kernels[0]].program->params;
            ipt__text_add(out, ", %u chains to each of %s of %u work-items", (unsigned)params->chains,
                          params->sub_group ? "sub-groups" : "work-groups", (unsigned)params->lanes);
        }
        if (at_once < instances)
            ipt__text_add(out, ", %lu at once", at_once);
        break;
    }
    if (stage->variant)
        ipt__text_add(out, ", by %s", stage->variant->name);
    if (stage->apply)
        ipt__text_add(out, ", each element as the expression says");
    if (stage->row_slots && stage->row_stride != stage->row_slots * ipt__slot_length(stage))
        ipt__text_add(out, ", slots on rows of %lu elements with a gap of %lu", (unsigned long)stage->row_stride,
                      (unsigned long)(stage->row_stride - stage->row_slots * ipt__slot_length(stage)));
    ipt__text_add(out, "\n");
}

/* True if a matrix has the same bytes before and after. */
static int ipt__nothing_moves(const ipt_plan *plan)
{
    return !plan->desc.move && !plan->desc.expression && !plan->desc.from && !plan->desc.to &&
           (plan->desc.rows == 1 || plan->desc.cols == 1);
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

static void ipt__cut_describe(ipt__text *out, const ipt_plan *plan)
{
    const ipt__cut *const cut = &plan->cut;
    if (cut->matrices)
        ipt__text_add(out, "  %lu matrices at a time, in chunks of %lu bytes\n", (unsigned long)cut->matrices,
                      (unsigned long)cut->chunk_bytes);
    else
        ipt__text_add(out,
                      "  cut into %lu panels of %lu and %lu left over, %lu to a chunk of %lu bytes; the host shuffles "
                      "%lu blocks of %lu bytes, each %lu super-elements; %lu lines left over\n",
                      (unsigned long)cut->panels, (unsigned long)cut->length, (unsigned long)cut->rest,
                      (unsigned long)cut->chunk_panels, (unsigned long)cut->chunk_bytes,
                      (unsigned long)ipt__moves_count(cut), (unsigned long)cut->block_bytes, (unsigned long)cut->group,
                      (unsigned long)cut->spare);
    if (plan->blocks.bus_bytes)
        ipt__text_add(out,
                      "  pinned: %lu panels of %lu rows, %lu blocks of %lu columns to each; the device holds up to %lu "
                      "of %lu bytes; %lu bytes cross the bus\n",
                      (unsigned long)plan->blocks.panels, (unsigned long)plan->blocks.length,
                      (unsigned long)plan->blocks.per_panel, (unsigned long)plan->blocks.columns,
                      (unsigned long)plan->blocks.units, (unsigned long)plan->blocks.unit_bytes,
                      (unsigned long)plan->blocks.bus_bytes);
}
#endif

static IPT__RARE void ipt__plan_write_description(ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->desc;
    ipt__text out = {NULL, sizeof plan->description, 0};
    size_t workspace;
    int i;
    out.text = plan->description;
    ipt__text_add(&out, "%lu x %lu elements of %lu bytes, %lu %s, %s%ssequence %s, in place: %d %s\n",
                  (unsigned long)desc->rows, (unsigned long)desc->cols, (unsigned long)desc->elem_size,
                  (unsigned long)desc->batch, desc->batch == 1 ? "matrix" : "matrices",
                  desc->move ? ipt_move_string(desc->move) : "", desc->move ? ", " : "",
                  ipt_sequence_string(desc->sequence), plan->layout.stage_count,
                  plan->layout.stage_count == 1 ? "stage" : "stages");
    for (i = 0; i < plan->layout.stage_count; ++i) {
        ipt__text_add(&out, "  %d. ", i + 1);
        ipt__stage_describe(&out, plan, &plan->layout.stages[i]);
    }
#ifndef IPT_NO_HOST_STREAMING
    if (plan->cut.chunk_bytes)
        ipt__cut_describe(&out, plan);
#endif
    if (!plan->cut.chunk_bytes && !plan->layout.stage_count)
        ipt__text_add(&out, "  nothing to move: one row or one column reads the same either way\n");
    for (i = 0; i < plan->kernel_count; ++i) {
        const ipt__program *const program = plan->kernels[i].program;
        ipt__text_add(&out, "  kernel %s: ", ipt__kernels[program->id].name);
        ipt__params_print(&out, &program->params, ipt__kernels[program->id].uses);
        ipt__text_add(&out, "\n");
    }
    workspace = plan->layout.workspace + (plan->cut.chunk_bytes ? plan->host_workspace : 0);
    ipt__text_add(&out, "  workspace: %lu bytes (%.2f %% of the matrices)\n", (unsigned long)workspace,
                  100.0 * (double)workspace / ((double)plan->matrix_bytes * (double)desc->batch));
}
