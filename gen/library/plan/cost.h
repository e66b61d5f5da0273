/* Needs and costs of stages. */

/* The cost model's factor for GPU kernels: constants from IPT__TUNING_LIST, lengths in bytes. */
static double ipt__panel_factor(const ipt__problem *problem, const ipt__stage *stage)
{
    const ipt__tuning *const model = &ipt__tunings[0];
    const ipt__chunks *const chunks = &stage->panel;
    const double size = (double)problem->desc.elem_size, length = (double)ipt__slot_length(stage);
    const double panel = (double)ipt__instance_units(problem, stage) * (double)problem->unit_bytes;
    const double unread = 1 - 0.8 * (double)stage->tail_length / length;
    if (!chunks->waits || chunks->narrow)
        return model->panel + model->narrow_step / (length * size) - (chunks->waits ? 0 : model->no_wait);
    return model->panel +
           (chunks->tall ? model->tall_cut : model->wide_cut) * (1 / (double)chunks->x + 1 / (double)chunks->y) / size +
           model->panel_wait * panel * unread;
}

static double ipt__chains_factor(const ipt__problem *problem, const ipt__stage *stage)
{
    const ipt__tuning *const model = &ipt__tunings[0];
    const size_t size = problem->desc.elem_size, slot = stage->length * size,
                 stride = stage->row_slots ? stage->row_stride * size : slot;
    const double bytes = (double)stage->shuffle.piece_units * (double)problem->unit_bytes;
    const double idle = 1 - bytes / (16.0 * (double)stage->shuffle.piece_vectors);
    const double cut = slot % 128 || stride % 128 ? model->cut + model->cut_step / bytes : 0;
    return model->chains + model->chains_step / bytes + cut + model->idle * idle;
}

#ifndef IPT_NO_PAPERS
/* Chunks that the pad kernel moves per matrix, and its workspace for all matrices. */
static size_t ipt__pad_chunks(const ipt__problem *problem, const ipt__stage *stage)
{
    return ipt__ceil_divide(stage->rows * ipt__stage_units(problem, stage), IPT__PAD_HELD * problem->limits.group_size);
}
static size_t ipt__pad_bytes(const ipt__problem *problem, const ipt__stage *stage)
{
    return 4 * (1 + ipt__pad_chunks(problem, stage) * problem->desc.batch);
}

static ipt__need ipt__need_pad(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    ipt__need need = ipt__need_nothing(problem, layout, stage);
    need.stage = ipt__pad_bytes(problem, stage);
    return need;
}
#endif

/* The costs of stages: bytes that a copy would move in the same time, without launches. */

static double ipt__batch_bytes(const ipt__problem *problem)
{
    return (double)problem->matrix_bytes * (double)problem->desc.batch;
}

/* Stages that are forced, or added after the choice, are never compared. */
static double ipt__cost_nothing(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)problem;
    (void)layout;
    (void)stage;
    return 0;
}

/* Short rows far apart: twice the traffic of a copy. */
static double ipt__cost_save(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)problem;
    (void)stage;
    return 2.0 * (double)layout->saved_bytes;
}

static double ipt__cost_tile(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)layout;
    (void)stage;
    return ipt__tunings[problem->limits.cpu].tile * ipt__batch_bytes(problem);
}

static IPT__RARE double ipt__cost_swap(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    const int alone = layout->stage_count == 1 && stage->instances == 1;
    ipt__swap_tile(problem, stage, alone);
    return (ipt__problem_swaps(problem) || stage->swap.turns ? ipt__tunings[problem->limits.cpu].swap
                                                             : ipt__tunings[problem->limits.cpu].swap_units) *
           ipt__batch_bytes(problem);
}

/* A factor for units that cannot move by words, and for slots that cut memory sectors. */
static double ipt__slot_factor(const ipt__problem *problem, const ipt__stage *stage, double factor)
{
    const ipt__tuning *const model = &ipt__tunings[problem->limits.cpu];
    const size_t size = problem->desc.elem_size;
    if (problem->unit_bytes < IPT__WORD_BYTES && !stage->by_words)
        factor *= 1 + model->narrow * (double)(IPT__WORD_BYTES / problem->unit_bytes - 1);
    if (!stage->shuffle.chains && (stage->kind == IPT__STAGE_SHUFFLE || stage->row_slots) &&
        (ipt__slot_length(stage) * size % 32 || stage->row_stride * size % 32))
        factor *= model->gapped;
    return factor;
}

static IPT__RARE double ipt__cost_wave(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)layout;
    return ipt__slot_factor(problem, stage, ipt__tunings[problem->limits.cpu].wave) * ipt__batch_bytes(problem);
}

static IPT__RARE double ipt__cost_panel(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)layout;
    return ipt__panel_factor(problem, stage) * ipt__batch_bytes(problem);
}

static IPT__RARE double ipt__cost_shuffle(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    const double length = (double)stage->length * (double)problem->desc.elem_size;
    const ipt__tuning *const model = &ipt__tunings[problem->limits.cpu];
    double factor = stage->shuffle.pairs        ? stage->shuffle.inner_rows ? model->pairs_inner : model->pairs
                    : stage->shuffle.inner_rows ? model->shuffle_inner
                                                : 1 + model->shuffle_overhead / length;
    if (stage->shuffle.chains) {
        factor = ipt__chains_factor(problem, stage);
        if (layout->cooperative)
            return factor * ipt__batch_bytes(problem);
    }
    return ipt__slot_factor(problem, stage, factor) * ipt__batch_bytes(problem);
}

/* The part of cooperative bands' factor that depends on how columns move, one by one. */
static double ipt__columns_factor(const ipt__problem *problem, const ipt__bands *bands)
{
    const ipt__tuning *const model = &ipt__tunings[0];
    const size_t size = problem->desc.elem_size, unit = problem->unit_bytes;
    /* A line of 32 work-items moves so many units of a run in one turn, from lines of memory on: IPT_STEPS and
     * IPT_MEMORY_UNITS in parts/runs_held.cl. Runs begin at multiples of the lowest bit of `begins`. */
    const size_t turn = 32 * (unit <= 4 ? 6 : 32 / unit), line = ipt__min(128, 32 * unit),
                 begins = bands->height * size | bands->column_units * unit,
                 before = (line - ipt__min(line, begins & (~begins + 1))) / unit;
    const size_t turns = ipt__ceil_divide(bands->height * problem->element_units + before, turn);
    const int gapped = bands->height * size % 32 || bands->column_units * unit % 32;
    return model->together_piece / (double)(bands->chunk_width * size) +
           model->together_run / (double)(bands->height * size) * (0.5 + 0.5 * (double)turns) +
           (gapped ? model->together_gapped : 0);
}

/* The same for blocks of columns that move by words. Runs begin at words, whatever sectors they cut: the more, the
 * smaller the power of two is that divides their begins. In the last turn of a run some work-items have no word: see
 * ipt_move_block in parts/words.cl. */
static double ipt__words_factor(const ipt__problem *problem, const ipt__bands *bands)
{
    const ipt__tuning *const model = &ipt__tunings[0];
    const size_t run = bands->height * problem->desc.elem_size, units = problem->element_units,
                 begins = run | bands->column_units * problem->unit_bytes, turn = units == 1 ? 256 : 384;
    const double aligned = (double)ipt__min(32, begins & (~begins + 1));
    return model->blocks_piece * (double)units / (double)(bands->chunk_width * problem->desc.elem_size) +
           model->blocks_run / (double)run + model->together_gapped * (1 - aligned / 32) +
           model->blocks_turn * ((double)ipt__round_up(run, turn) / (double)run - 1);
}

/* Bands, without their launches. Short runs cost more, as in shuffles. */
static double ipt__bands_cost(const ipt__problem *problem, const ipt__bands *bands)
{
    const ipt__tuning *const model = &ipt__tunings[problem->limits.cpu];
    if (bands->together) {
        const size_t columns = ipt__bands_block(problem, bands->tall, bands->height);
        const double fill = (double)bands->chunks / (double)problem->exchange.resident;
        const double ranges = (double)bands->chunk_width / (double)bands->width;
        double factor = model->together +
                        (columns > 1 ? ipt__words_factor(problem, bands) : ipt__columns_factor(problem, bands)) +
                        (fill > 0.35 ? model->together_fill * (fill - 0.35) : 0) +
                        (ranges > 1 ? model->together_ranges * (ranges - 1) : 0);
        if (columns == 1 && ipt__problem_block(problem) > 1)
            factor *= model->blocks_refused;
        return factor * ipt__batch_bytes(problem);
    }
    return ((bands->workers                ? model->shared
             : problem->element_units == 1 ? model->bands
                                           : model->bands + model->bands_units) +
            (bands->workers ? model->shared_step : model->bands_step) /
                ((double)bands->height * (double)problem->desc.elem_size)) *
           ipt__batch_bytes(problem);
}

static IPT__RARE double ipt__cost_exchange(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)layout;
    return ipt__bands_cost(problem, &stage->bands);
}

/* The stage of a layout that reverses rows, or their sequence, while it transposes; -1: that takes a pass of its own.
 */
static int ipt__layout_reverses(const ipt__layout *layout)
{
    int i;
    for (i = 0; i < layout->stage_count; ++i) {
        const ipt__stage *const stage = &layout->stages[i];
        const int alone = layout->stage_count == 1 && stage->instances == 1;
        if (stage->kind == IPT__STAGE_EXCHANGE ||
            (alone && (stage->kind == IPT__STAGE_TILE || stage->kind == IPT__STAGE_PANEL ||
                       (stage->kind == IPT__STAGE_SWAP && stage->swap.turns))))
            return i;
    }
    return -1;
}

/* The FLIP stage that rotations may need. */
static double ipt__flip_cost(const ipt__problem *problem, const ipt__layout *layout)
{
    const ipt__tuning *const model = &ipt__tunings[problem->limits.cpu];
    return ipt__problem_rotates(problem) && ipt__layout_reverses(layout) < 0
               ? model->flip * ipt__batch_bytes(problem) + model->launch
               : 0;
}

static const struct {
    ipt__need (*need)(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage);
    double (*cost)(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage);
} ipt__stage_planners[] = {
#define IPT__STAGE_PLANNER(kind, need, cost, kernels, describe, launch) {ipt__need_##need, ipt__cost_##cost},
    IPT__STAGE_LIST(IPT__STAGE_PLANNER, IPT__IF_PAPERS(IPT__STAGE_PLANNER, IPT__NO_STAGE_PLANNER))};

/* Chooses how many instances of a stage run at once. Returns the number of launches. */
static double ipt__stage_share(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage, size_t budget,
                               size_t need)
{
    const size_t batch = problem->desc.batch, slabs = ipt__tunings[problem->limits.cpu].slab_bytes;
    size_t at_once = 1;
    if (!need) {
        stage->matrices_at_once = batch;
        stage->instances_at_once = stage->instances;
        return 1;
    }
    if (budget > layout->scratch_offset)
        at_once = ipt__max(1, (budget - layout->scratch_offset) / need);
    if (stage->kind == IPT__STAGE_WAVE || stage->kind == IPT__STAGE_SPREAD)
        at_once = ipt__min(at_once, ipt__max(1, slabs / need));
    stage->matrices_at_once = ipt__min(batch, at_once);
    stage->instances_at_once = stage->kind == IPT__STAGE_EXCHANGE || stage->kind == IPT__STAGE_SPREAD
                                   ? 1
                                   : ipt__min(stage->instances, at_once / stage->matrices_at_once);
    return 2.0 * (double)ipt__ceil_divide(batch, stage->matrices_at_once) *
           (double)ipt__ceil_divide(stage->instances, stage->instances_at_once);
}

/* Chooses the number of concurrent instances of each stage within `budget` bytes of workspace (0: the minimum). Sets
 * workspace and cost. */
static IPT__RARE void ipt__layout_finish(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    size_t largest = 0, smallest = 0;
    int i;
    if (!layout->saved_units)
        layout->saved_units = layout->saved_elements * problem->element_units;
    layout->saved_bytes = ipt__round_up(problem->desc.batch * layout->saved_units * problem->unit_bytes, 256);
    ipt__layout_place(problem, layout);
    layout->cost = 0;
    for (i = 0; i < layout->stage_count; ++i) {
        ipt__stage *const stage = &layout->stages[i];
        const ipt__need need = ipt__stage_planners[stage->kind].need(problem, layout, stage);
        const double launches = ipt__stage_share(problem, layout, stage, budget, need.instance);
        largest =
            ipt__max(largest, ipt__max(need.stage, stage->matrices_at_once * stage->instances_at_once * need.instance));
        smallest = ipt__max(smallest, ipt__max(need.stage, need.instance));
        stage->by_words = ipt__stage_by_words(problem, stage);
        layout->cost += ipt__stage_planners[stage->kind].cost(problem, layout, stage) +
                        launches * ipt__tunings[problem->limits.cpu].launch;
    }
    layout->cost += ipt__flip_cost(problem, layout); /* the stages are chosen whole */
    layout->workspace = layout->scratch_offset + largest;
    layout->minimum_workspace = layout->scratch_offset + smallest;
}
