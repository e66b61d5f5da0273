/* Assembly of a layout. */

/* Appends a stage on a dense grid with the best kernel for `budget` bytes of workspace. If none fits, the kernel with
 * the least workspace serves. A grid with one row or one column needs no stage. */
static void ipt__stage_add_dense(const ipt__problem *problem, ipt__layout *layout, size_t budget, ipt__grids grids)
{
    ipt__stage *stage;
    size_t wave, shuffle;
    if (grids.rows == 1 || grids.cols == 1)
        return;
    stage = ipt__stage_add(layout, IPT__STAGE_TILE, grids.instances, grids.rows, grids.cols, grids.length);
    ipt__pack_choose(problem, stage);
    if (stage->tile.pack_bytes ||
        ipt__instance_units(problem, stage) * problem->unit_bytes <= ipt__local_budget(&problem->limits))
        return;
    if (ipt__tile_serves_many(problem, stage))
        return;
    if (ipt__takes_pairs(problem, &grids)) {
        ipt__shuffle_pairs(problem, stage);
        return;
    }
    if (grids.rows == grids.cols) {
        stage->kind = IPT__STAGE_SWAP;
        return;
    }
    stage->kind = IPT__STAGE_WAVE;
    wave = ipt__need_wave(problem, layout, stage).instance;
    stage->kind = IPT__STAGE_SHUFFLE;
    ipt__shuffle_pieces(problem, stage);
    shuffle = ipt__need_shuffle(problem, layout, stage).instance;
    /* Short super-elements make shuffles slow. */
    if (grids.length * problem->desc.elem_size < 64 ? wave <= budget || wave <= shuffle
                                                    : shuffle > budget && wave < shuffle)
        stage->kind = IPT__STAGE_WAVE;
    if (stage->kind == IPT__STAGE_WAVE)
        memset(&stage->shuffle, 0, sizeof stage->shuffle);
}

/* Sets the offsets of the workspace's parts. */
static void ipt__layout_place(const ipt__problem *problem, ipt__layout *layout)
{
    size_t offset = layout->saved_bytes, flags = 0, alone = 0;
    int i;
    for (i = 0; i < layout->stage_count; ++i) {
        const ipt__stage *const stage = &layout->stages[i];
        if (stage->kind == IPT__STAGE_PANEL) {
            layout->cooperative = 1;
            layout->control_words =
                IPT__CONTROL_WORDS + stage->panel.ticket_groups * stage->panel.blocks * problem->desc.batch;
            const size_t units = ipt__max(ipt__instance_units(problem, stage),
                                          problem->pitched ? stage->rows * ipt__source_row(problem) : 0);
            alone = ipt__max(units / IPT__WINDOWS, (size_t)IPT__WINDOW_UNITS) / 32 + 1;
        } else if (stage->kind == IPT__STAGE_EXCHANGE && stage->bands.together) {
            layout->cooperative = 1;
            layout->control_words = ipt__bands_control_words(problem, &stage->bands);
            alone = ipt__bands_alone_words(&stage->bands);
        } else if (stage->kind == IPT__STAGE_EXCHANGE && stage->bands.workers) {
            layout->cooperative = 1;
            layout->control_words = ipt__waves_control_words(&stage->bands);
        } else if (stage->shuffle.chains) {
            flags = ipt__flag_bytes(problem, stage) / 4 * problem->desc.batch;
        }
    }
    if (layout->cooperative) {
        layout->flags_offset = offset += 2 * ipt__round_up(layout->control_words * 4, 256);
        layout->alone_offset = offset += ipt__round_up(flags * 4, 256);
        offset += ipt__round_up(alone * 4, 256);
    }
    layout->scratch_offset = offset;
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

/* True if layout a is better: first by the budget (0: by the least workspace), then by cost. */
static int ipt__layout_better(const ipt__layout *a, const ipt__layout *b, size_t budget)
{
    const int a_fits = a->workspace <= budget, b_fits = b->workspace <= budget;
    if (!a_fits && !b_fits && a->minimum_workspace != b->minimum_workspace)
        return a->minimum_workspace < b->minimum_workspace;
    return a_fits != b_fits ? a_fits : a->cost < b->cost;
}
