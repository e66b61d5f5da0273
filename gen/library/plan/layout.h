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
    if (stage->as.tile.pack_bytes ||
        ipt__instance_units(problem, stage) * problem->unit_bytes <= ipt__local_budget(&problem->limits))
        return;
    if (ipt__tile_serves_many(problem, stage))
        return;
    if (ipt__takes_pairs(problem, &grids)) {
        ipt__shuffle_pairs(problem, stage);
        return;
    }
    if (grids.rows == grids.cols) {
        ipt__stage_become(stage, IPT__STAGE_SWAP);
        return;
    }
    wave = ipt__need_wave(problem, layout, stage).instance;
    ipt__stage_become(stage, IPT__STAGE_SHUFFLE);
    ipt__shuffle_pieces(problem, stage);
    shuffle = ipt__need_shuffle(problem, layout, stage).instance;
    /* Short super-elements make shuffles slow. */
    if (grids.length * problem->desc.elem_size < 64 ? wave <= budget || wave <= shuffle
                                                    : shuffle > budget && wave < shuffle)
        ipt__stage_become(stage, IPT__STAGE_WAVE);
}

/* Sets the offsets of the workspace's parts. */
static void ipt__layout_place(const ipt__problem *problem, ipt__layout *layout)
{
    size_t offset = layout->saved_bytes, flags = 0, alone = 0;
    int i;
    for (i = 0; i < layout->stage_count; ++i) {
        const ipt__stage *const stage = &layout->stages[i];
        const ipt__control control = ipt__stage_kinds[stage->kind].control(problem, stage);
        if (control.words) {
            layout->cooperative = 1;
            layout->control_words = control.words;
        }
        flags = ipt__max(flags, control.flags);
        alone = ipt__max(alone, control.alone);
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
    for (i = 0; i < layout->stage_count; ++i)
        if (ipt__stage_kinds[layout->stages[i].kind].reverses(layout, &layout->stages[i]))
            return i;
    return -1;
}

/* Chooses how many instances of a stage run at once. Returns the number of launches. */
static double ipt__stage_share(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage, size_t budget,
                               size_t need)
{
    const size_t batch = problem->desc.batch, slabs = ipt__tuning_of(&problem->limits)->slab_bytes;
    size_t at_once = 1;
    if (!need) {
        stage->matrices_at_once = batch;
        stage->instances_at_once = stage->instances;
        return 1;
    }
    if (budget > layout->scratch_offset)
        at_once = ipt__max(1, (budget - layout->scratch_offset) / need);
    if (ipt__stage_traits[stage->kind].slabs)
        at_once = ipt__min(at_once, ipt__max(1, slabs / need));
    stage->matrices_at_once = ipt__min(batch, at_once);
    stage->instances_at_once =
        ipt__stage_traits[stage->kind].in_turn ? 1 : ipt__min(stage->instances, at_once / stage->matrices_at_once);
    return 2.0 * ipt__real(ipt__ceil_divide(batch, stage->matrices_at_once)) *
           ipt__real(ipt__ceil_divide(stage->instances, stage->instances_at_once));
}

/* True if all runs of a stage begin and end at words whenever the batch begins at a word. */
static int ipt__stage_by_words(const ipt__problem *problem, const ipt__stage *stage)
{
    const size_t size = problem->desc.elem_size, run = ipt__stage_kinds[stage->kind].words(stage) * size;
    return run && !problem->pitched && problem->unit_bytes < IPT__WORD_BYTES && run % IPT__WORD_BYTES == 0 &&
           stage->row_stride * size % IPT__WORD_BYTES == 0 &&
           (problem->desc.batch == 1 || problem->desc.batch_stride % IPT__WORD_BYTES == 0);
}

/* Chooses the number of concurrent instances of each stage within `budget` bytes of workspace (0: the minimum). Sets
 * workspace and cost. */
static IPT__RARE void ipt__layout_finish(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    const ipt__tuning *const model = ipt__tuning_of(&problem->limits);
    size_t largest = 0, smallest = 0;
    int i;
    if (!layout->saved_units)
        layout->saved_units = layout->saved_elements * problem->element_units;
    layout->saved_bytes = ipt__round_up(problem->desc.batch * layout->saved_units * problem->unit_bytes, 256);
    ipt__layout_place(problem, layout);
    layout->cost = 0;
    for (i = 0; i < layout->stage_count; ++i) {
        ipt__stage *const stage = &layout->stages[i];
        const ipt__need need = ipt__stage_kinds[stage->kind].need(problem, layout, stage);
        const double launches = ipt__stage_share(problem, layout, stage, budget, need.instance);
        largest =
            ipt__max(largest, ipt__max(need.stage, stage->matrices_at_once * stage->instances_at_once * need.instance));
        smallest = ipt__max(smallest, ipt__max(need.stage, need.instance));
        stage->by_words = ipt__stage_by_words(problem, stage);
        layout->cost += ipt__stage_kinds[stage->kind].cost(problem, layout, stage) + launches * model->launch;
    }
    if (ipt__problem_rotates(problem) && ipt__layout_reverses(layout) < 0) /* a FLIP stage comes after the choice */
        layout->cost += model->flip * ipt__batch_bytes(problem) + model->launch;
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

/* Adds epilogue stages for the plan's move and expression. The first stage that handles every element exactly once
 * applies the expression. If it names places, only a last stage can that knows them. If there is none, a MAP stage is
 * added. The SAVE stage applies it to the elements that WAVE skips. */
static void ipt__layout_add_epilogue(const ipt__problem *problem, ipt__layout *layout)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const ipt__move *const move = &ipt__moves[desc->move];
    const int reverses = ipt__layout_reverses(layout), anywhere = ipt__applies_anywhere(problem);
    int i, by, can;
    if (layout->has_epilogue)
        return;
    layout->has_epilogue = 1;
    if (reverses >= 0) {
        layout->stages[reverses].reversed_rows = move->reversed_rows;
        layout->stages[reverses].reversed_cols = move->reversed_cols;
    } else if (move->reversed_rows || move->reversed_cols) {
        ipt__stage *const flip = ipt__stage_add(layout, IPT__STAGE_FLIP, 1, move->transposed ? desc->cols : desc->rows,
                                                move->transposed ? desc->rows : desc->cols, 1);
        flip->reversed_rows = move->reversed_rows;
        flip->reversed_cols = move->reversed_cols;
        if (!ipt__flip_pairs(flip))
            --layout->stage_count;
    }
    if (!desc->expression)
        return;
    can = anywhere ? 1 : IPT__BOXES && desc->rows == 1 && ipt__numbers_are_short(problem) ? 4 : 0;
    for (by = anywhere || !layout->stage_count ? 0 : layout->stage_count - 1;
         by < layout->stage_count && !(ipt__stage_traits[layout->stages[by].kind].applies & can); ++by)
        ;
    if (by == layout->stage_count)
        ipt__stage_add(layout, IPT__STAGE_MAP, 1, desc->rows, desc->cols, 1);
    layout->stages[by].apply = ipt__named_places(desc) ? 2 : 1;
    for (i = 0; i < layout->stage_count; ++i)
        if (anywhere && ipt__stage_traits[layout->stages[i].kind].applies & 2 && !layout->stages[i].straight)
            layout->stages[i].apply = 1;
}
