/* Describing plans. */

enum { IPT__DESCRIPTION_BYTES = 2048 };

static size_t ipt__super_bytes(const ipt_plan *plan, const ipt__stage *stage)
{
    return stage->length * plan->problem.desc.elem_size;
}

/* "NAME: INSTANCES x (ROWS x COLS of N bytes)" */
static IPT__RARE void ipt__describe_grid(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage,
                                         const char *name)
{
    ipt__text_add(out, "%s: %zu x (%zu x %zu of %zu bytes)", name, stage->instances, stage->rows, stage->cols,
                  ipt__super_bytes(plan, stage));
}

/* Ends the line of a stage with what every kind may have. */
static IPT__RARE void ipt__describe_end(ipt__text *out, const ipt__stage *stage)
{
    if (stage->variant)
        ipt__text_add(out, ", by %s", stage->variant->name);
    if (stage->apply)
        ipt__text_add(out, ", each element as the expression says");
    if (stage->row_slots && stage->row_stride != stage->row_slots * ipt__slot_length(stage))
        ipt__text_add(out, ", slots on rows of %zu elements with a gap of %zu", stage->row_stride,
                      stage->row_stride - stage->row_slots * ipt__slot_length(stage));
    ipt__text_add(out, "\n");
}

static IPT__RARE void ipt__describe_save(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    (void)plan;
    ipt__text_add(out, "save: %zu x %zu elements that no %s to the workspace%s\n", stage->rows, stage->cols,
                  stage->straight ? "exchange moves" : "super-element holds", stage->straight ? "" : ", transposed");
}

static IPT__RARE void ipt__describe_restore(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    (void)plan;
    ipt__text_add(out, "restore: them as %zu rows of %zu elements from the workspace\n", stage->rows, stage->length);
}

/* The move, if the stage makes it. */
static void ipt__describe_move(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    if (stage->reversed_rows || stage->reversed_cols)
        ipt__text_add(out, ", %s", ipt_move_string(plan->problem.desc.move));
}

static IPT__RARE void ipt__describe_tile(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__describe_grid(out, plan, stage, "tile");
    ipt__text_add(out, ", whole in local memory");
    if (stage->tile.pack_bytes)
        ipt__text_add(out, ", as many to a work-group as fit %zu bytes", stage->tile.pack_bytes);
    ipt__describe_move(out, plan, stage);
    ipt__describe_end(out, stage);
}

static IPT__RARE void ipt__describe_swap(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__describe_grid(out, plan, stage, "swap");
    ipt__text_add(out, ", %s of tiles through local memory", stage->swap.places == 4 ? "fours" : "pairs");
    ipt__describe_move(out, plan, stage);
    ipt__describe_end(out, stage);
}

static IPT__RARE void ipt__describe_spread(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    const size_t unit = plan->problem.unit_bytes;
    ipt__text_add(out, "spread: %zu x (%zu rows of %zu bytes) from %zu to %zu bytes apart", stage->instances,
                  stage->rows, stage->cols * plan->problem.desc.elem_size, stage->spread[0] * unit,
                  stage->spread[1] * unit);
    ipt__describe_end(out, stage);
}

static IPT__RARE void ipt__describe_wave(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__describe_grid(out, plan, stage, "panels in waves");
    ipt__text_add(out, ", %zu panels of %zu matrices at once", stage->instances_at_once, stage->matrices_at_once);
    ipt__describe_end(out, stage);
}

static IPT__RARE void ipt__describe_panel(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__chunks *const chunks = &stage->panel;
    ipt__describe_grid(out, plan, stage, "panels together");
    if (chunks->across * chunks->down > 1)
        ipt__text_add(out, ", each held by %zu work-groups", chunks->across * chunks->down);
    else
        ipt__text_add(out, ", %zu held by each work-group", chunks->pack);
    ipt__text_add(out, " (chunks of %zu x %zu)", chunks->tall ? chunks->y : chunks->x,
                  chunks->tall ? chunks->x : chunks->y);
    if (chunks->held_row)
        ipt__text_add(out, ", %zu columns of a chunk in registers", chunks->x - chunks->local_x);
    if (stage->tail_length)
        ipt__text_add(out, ", %zu %s %s", stage->tail_length, chunks->tall ? "rows" : "columns",
                      chunks->tall ? "to the workspace first" : "from the workspace last");
    ipt__describe_move(out, plan, stage);
    ipt__describe_end(out, stage);
}

static IPT__RARE void ipt__describe_shuffle(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__text_add(out, "shuffle: %zu x (%zu x %zu super-elements of %zu elements, %zu bytes)", stage->instances,
                  stage->rows, stage->cols, stage->length, ipt__super_bytes(plan, stage));
    if (stage->shuffle.inner_rows)
        ipt__text_add(out, ", each transposed as %zu x %zu", stage->shuffle.inner_rows, stage->shuffle.inner_cols);
    if (stage->shuffle.pairs)
        ipt__text_add(out, ", in pairs");
    if (stage->shuffle.pieces > 1)
        ipt__text_add(out, ", in %zu pieces", stage->shuffle.pieces);
    if (stage->shuffle.chains) {
        const ipt__params *const params = &plan->kernels[stage->kernels[0]].program->params;
        ipt__text_add(out, ", %u chains to each of %s of %u work-items", (unsigned)params->chains,
                      params->sub_group ? "sub-groups" : "work-groups", (unsigned)params->lanes);
    }
    if (stage->instances_at_once < stage->instances)
        ipt__text_add(out, ", %zu at once", stage->instances_at_once);
    ipt__describe_end(out, stage);
}

static IPT__RARE void ipt__describe_exchange(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__bands *const bands = &stage->bands;
    ipt__text_add(out, "exchange: %zu bands of %zu %s, ranges of %zu %s, runs of %zu bytes, %zu and %zu left over",
                  bands->number, bands->height, bands->tall ? "rows" : "columns", bands->width,
                  bands->tall ? "columns" : "rows", bands->height * plan->problem.desc.elem_size, bands->rest_rows,
                  bands->rest_cols);
    if (bands->together)
        ipt__text_add(out, ", each by %zu work-groups together", bands->chunks);
    if (bands->workers)
        ipt__text_add(out, ", all by %zu work-groups in one launch", bands->workers);
    ipt__describe_move(out, plan, stage);
    ipt__describe_end(out, stage);
}

static IPT__RARE void ipt__describe_flip(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    (void)plan;
    ipt__text_add(out, "flip: %zu x %zu elements, %s reversed", stage->rows, stage->cols,
                  !stage->reversed_cols   ? "the sequence of rows"
                  : !stage->reversed_rows ? "each row"
                                          : "all");
    ipt__describe_end(out, stage);
}

static IPT__RARE void ipt__describe_map(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    (void)plan;
    ipt__text_add(out, "map: every element where it lies");
    ipt__describe_end(out, stage);
}

#ifndef IPT_NO_PAPERS
static IPT__RARE void ipt__describe_cycles(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__describe_grid(out, plan, stage, "cycles");
    ipt__text_add(out, ", where they lie");
    ipt__describe_end(out, stage);
}

static IPT__RARE void ipt__describe_pad(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    (void)plan;
    ipt__text_add(out, "pad: %zu rows of %zu elements from %zu to %zu elements apart\n", stage->rows, stage->length,
                  stage->origin, stage->row_stride);
}
#endif

static void (*const ipt__stage_describers[])(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage) = {
#define IPT__STAGE_DESCRIBER(kind, need, cost, kernels, describe, launch) ipt__describe_##describe,
    IPT__STAGE_LIST(IPT__STAGE_DESCRIBER, IPT__IF_PAPERS(IPT__STAGE_DESCRIBER, IPT__NO_FUNCTION))};

/* True if a matrix has the same bytes before and after. */
static int ipt__nothing_moves(const ipt_plan *plan)
{
    return !plan->pass_count && !plan->problem.desc.move && !plan->problem.desc.expression &&
           !plan->problem.desc.from && !plan->problem.desc.to && !plan->problem.pitched &&
           (plan->problem.desc.rows == 1 || plan->problem.desc.cols == 1);
}

/* The description's first words: the matrices, and the number of what moves them. */
static IPT__RARE void ipt__describe_matrices(ipt__text *out, const ipt_plan *plan, size_t number, const char *unit)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    ipt__text_add(out, "%zu x %zu elements of %zu bytes, %zu %s, %s%ssequence %s, in place: %zu %s%s", desc->rows,
                  desc->cols, desc->elem_size, desc->batch, desc->batch == 1 ? "matrix" : "matrices",
                  desc->move ? ipt_move_string(desc->move) : "", desc->move ? ", " : "",
                  ipt_sequence_string(desc->sequence), number, unit, number == 1 ? "" : "s");
}

/* The description's first lines: the matrices and the stages. */
static IPT__RARE void ipt__describe_stages(ipt__text *out, const ipt_plan *plan)
{
    int i;
    ipt__describe_matrices(out, plan, (size_t)plan->layout.stage_count, "stage");
    ipt__text_add(out, "\n");
    if (plan->problem.pitched)
        ipt__text_add(out, "  rows %zu bytes apart before, %zu after\n",
                      plan->problem.source_row * plan->problem.unit_bytes,
                      plan->problem.result_row * plan->problem.unit_bytes);
    for (i = 0; i < plan->layout.stage_count; ++i) {
        ipt__text_add(out, "  %d. ", i + 1);
        ipt__stage_describers[plan->layout.stages[i].kind](out, plan, &plan->layout.stages[i]);
    }
}

/* The last lines: the kernels and `workspace` bytes. */
static IPT__RARE void ipt__describe_memory(ipt__text *out, const ipt_plan *plan, size_t workspace)
{
    int i;
    for (i = 0; i < plan->kernel_count; ++i) {
        const ipt__program *const program = plan->kernels[i].program;
        ipt__text_add(out, "  kernel %s: ", ipt__kernels[program->id].name);
        ipt__params_describe(out, &program->params, ipt__kernels[program->id].uses);
        ipt__text_add(out, "\n");
    }
    ipt__text_add(out, "  workspace: %zu bytes (%.2f %% of the matrices)\n", workspace,
                  100.0 * (double)workspace / ((double)plan->problem.matrix_bytes * (double)plan->problem.desc.batch));
}

static ipt__text ipt__text_in(char *buffer, size_t capacity)
{
    ipt__text out = {NULL, 0, 0};
    out.text = buffer;
    out.capacity = capacity;
    return out;
}

/* Keeps a copy of the text. */
static ipt_result ipt__plan_keep_description(ipt_plan *plan, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    plan->description = (char *)ipt__allocate(&plan->context->allocator, bytes);
    if (!plan->description)
        return IPT_ERROR_OUT_OF_MEMORY;
    memcpy(plan->description, text, bytes);
    return IPT_SUCCESS;
}

/* Writes the description. A plan that lacks workspace has no kernels: its owner is refused. */
static ipt_result ipt__plan_write_description(ipt_plan *plan)
{
    char text[IPT__DESCRIPTION_BYTES];
    ipt__text out = ipt__text_in(text, sizeof text);
    if (plan->enough)
        return ipt__plan_keep_description(plan, "");
    ipt__describe_stages(&out, plan);
    if (!plan->layout.stage_count)
        ipt__text_add(&out, "  nothing to move: one row or one column reads the same either way\n");
    ipt__describe_memory(&out, plan, plan->layout.workspace);
    return ipt__plan_keep_description(plan, text);
}
