/* Two passes over super-elements. */

/* The two-pass method with super-elements of `length` elements. Tall: transpose panels of `length` rows, then shuffle
 * super-elements. Wide: the same in reverse. The remainder of the long side is saved first and restored last. From the
 * first pass on, slots lie in the rows of the result (wide: of the source). */
static void ipt__layout_two_pass(const ipt__problem *problem, ipt__layout *layout, size_t length, size_t budget)
{
    const size_t rows = problem->desc.rows, cols = problem->desc.cols;
    const int tall = rows >= cols;
    const size_t long_side = tall ? rows : cols, short_side = tall ? cols : rows;
    const size_t panels = long_side / length, left = long_side % length, first_left = panels * length;
    ipt__stage *stage;
    ipt__layout_begin(layout);
    if (left) {
        layout->saved_elements = left * short_side;
        stage = ipt__stage_add(layout, IPT__STAGE_SAVE, 1, tall ? left : rows, tall ? cols : left, 1);
        stage->as.rows.origin = tall ? first_left * cols : first_left;
        stage->row_stride = cols;
    }
    if (tall) {
        if (!left)
            ipt__stage_add_dense(problem, layout, budget, ipt__grids_of(panels, length, cols, 1));
        else {
            stage = ipt__stage_add(layout, IPT__STAGE_WAVE, panels, length, cols, 1);
            stage->row_slots = panels;
            stage->row_stride = rows;
        }
    }
    if (panels > 1 && short_side > 1) {
        stage = tall ? ipt__stage_add(layout, IPT__STAGE_SHUFFLE, 1, panels, cols, length)
                     : ipt__stage_add(layout, IPT__STAGE_SHUFFLE, 1, rows, panels, length);
        ipt__shuffle_pieces(problem, stage);
        if (left) {
            stage->row_slots = panels;
            stage->row_stride = long_side;
        }
    }
    if (!tall) {
        if (!left)
            ipt__stage_add_dense(problem, layout, budget, ipt__grids_of(panels, rows, length, 1));
        else {
            stage = ipt__stage_add(layout, IPT__STAGE_WAVE, panels, rows, length, 1);
            stage->row_slots = panels;
            stage->row_stride = cols;
            stage->gapped_source = 1;
            stage->last_first = 0;
        }
    }
    if (left) {
        stage = tall ? ipt__stage_add(layout, IPT__STAGE_RESTORE, 1, cols, 1, left)
                     : ipt__stage_add(layout, IPT__STAGE_RESTORE, 1, left, 1, rows);
        stage->as.rows.origin = tall ? first_left : first_left * rows;
        stage->row_stride = rows;
    }
    ipt__layout_finish(problem, layout, budget);
}

/* The two-pass method with a PANEL stage and a shuffle. The PANEL stage saves (tall) or restores (wide) the remainder,
 * the shuffle does the opposite. Returns 0 if local memory cannot hold the panels. */
static int ipt__layout_cooperative(const ipt__problem *problem, ipt__layout *layout, size_t length)
{
    const size_t rows = problem->desc.rows, cols = problem->desc.cols;
    const int tall = rows >= cols;
    const size_t long_side = tall ? rows : cols, short_side = tall ? cols : rows;
    const size_t panels = long_side / length, left = long_side % length;
    ipt__stage *stage;
    int turn;
    ipt__layout_begin(layout);
    if (!problem->panel.resident || (int)problem->panel.tall != tall || panels < 2 || short_side < 2 ||
        (panels + 1) * short_side >= (size_t)1 << 31 || length * short_side * problem->element_units >= (size_t)1 << 31)
        return 0;
    layout->saved_elements = left * short_side;
    for (turn = 0; turn < 2; ++turn) {
        const int is_panel = tall == (turn == 0);
        stage = is_panel
                    ? ipt__stage_add(layout, IPT__STAGE_PANEL, panels, tall ? length : rows, tall ? cols : length, 1)
                    : ipt__stage_add(layout, IPT__STAGE_SHUFFLE, 1, tall ? panels : rows, tall ? cols : panels, length);
        stage->tail_length = left;
        stage->row_slots = panels;
        stage->row_stride = long_side;
        if (is_panel) {
            stage->as.panel.tall = stage->last_first = tall;
            stage->gapped_source = !tall;
            if (!ipt__panel_chunks(problem, stage, length, short_side, panels))
                return 0;
        } else {
            stage->as.shuffle.gap_restore = tall;
            ipt__shuffle_pieces(problem, stage);
            if (!stage->as.shuffle.chains) /* shuffle.cl moves no gaps */
                return 0;
        }
    }
    return 1;
}

static int ipt__two_pass_applies(const ipt__problem *problem)
{
    const ipt_sequence sequence = problem->desc.sequence;
    return !problem->pitched && (sequence == IPT_SEQUENCE_TWO_PASS || sequence == IPT_SEQUENCE_AUTO);
}

static IPT__RARE ipt_result ipt__two_pass_seek(ipt_plan *plan, int *done)
{
    const ipt__problem *const problem = &plan->problem;
    const size_t shorter = ipt__min(problem->desc.rows, problem->desc.cols);
    ipt__params params = ipt__cooperative_params(problem);
    (void)done;
    params.narrow = shorter * problem->desc.elem_size <= IPT__NARROW_BYTES &&
                    shorter <= problem->limits.group_size; /* an iteration stores whole rows */
    return ipt__plan_take_panel(plan, &params);
}

/* The better of the two-pass layouts with super-elements of `length` elements. */
static IPT__RARE void ipt__layout_of_length(const ipt__problem *problem, ipt__layout *layout, size_t length,
                                            size_t budget)
{
    ipt__layout other;
    ipt__layout_two_pass(problem, layout, length, budget);
    if (ipt__layout_cooperative(problem, &other, length)) {
        ipt__layout_finish(problem, &other, budget);
        if (ipt__layout_better(&other, layout, budget))
            *layout = other;
    }
    layout->length = length;
}

/* The best two-pass layout with super-elements above `above` and up to `most` bytes. */
static IPT__RARE void ipt__layout_best_two_pass(const ipt__problem *problem, ipt__layout *best, size_t budget,
                                                size_t above, size_t most)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const size_t long_side = ipt__max(desc->rows, desc->cols);
    const size_t last = ipt__min(long_side, ipt__max(1, most / desc->elem_size));
    ipt__layout candidate;
    size_t length = ipt__min(last, above / desc->elem_size + 1);
    ipt__layout_of_length(problem, best, length, budget);
    while (++length <= last) {
        ipt__layout_of_length(problem, &candidate, length, budget);
        if (ipt__layout_better(&candidate, best, budget))
            *best = candidate;
    }
}

static ipt_result ipt__two_pass_propose(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made)
{
    const size_t length = ipt__super_length(&problem->desc);
    made->found = scope->most != ipt__any_length.most || !ipt__whole_is_local(problem);
    if (!made->found)
        return IPT_SUCCESS;
    if (length)
        ipt__layout_of_length(problem, &made->layout, length, scope->budget);
    else
        ipt__layout_best_two_pass(problem, &made->layout, scope->budget, scope->above,
                                  ipt__min(scope->most, IPT__SUPER_BYTES));
    return IPT_SUCCESS;
}
