/* Layouts: two passes, cooperative, on chip. */

/* The two-pass method with super-elements of `length` elements. Tall: transpose panels of `length` rows, then shuffle
 * super-elements. Wide: the mirror of it. The remainder of the long side is saved first and restored last. Meanwhile
 * the slots lie from the start on the grid of the result's (wide: the source's) rows. */
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

/* The desc's length of super-elements; 0: the planner chooses. */
static size_t ipt__super_length(const ipt_plan_desc *desc)
{
    return desc->rows >= desc->cols ? desc->tile_m : desc->tile_n;
}

/* One PANEL stage with whole matrices in the local memory, and the registers, of all resident work-groups. Each matrix
 * is one tall panel with chunks along both sides. Those of a batch follow one another. Returns 0 if a matrix does
 * not fit. */
static IPT__RARE int ipt__layout_on_chip(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    const size_t rows = problem->desc.rows, cols = problem->desc.cols, size = problem->desc.elem_size;
    const size_t step = ipt__round_up(ipt__max(1, IPT__SECTOR_BYTES / size), ipt__problem_block(problem)),
                 units = problem->limits.compute_units, held = ipt__held_bytes(&problem->panel);
    const size_t batch = problem->desc.batch, longest = batch > 1 ? held : (size_t)IPT__CHUNK_RUN;
    const double sector = IPT__SECTOR_BYTES, fixed = batch > 1 ? (double)IPT__CHUNK_FIXED / (double)size : 0;
    size_t most_down;
    ipt__stage *stage;
    ipt__chunks *chunks, best;
    double best_cost = 0;
    ipt__layout_begin(layout);
    memset(&best, 0, sizeof best);
    if (!problem->panel.resident || !problem->panel.tall || problem->panel.narrow ||
        (rows - 1) * ipt__source_row(problem) + cols * problem->element_units >= (size_t)1 << 31 ||
        ipt__result_row(problem) * cols >= (size_t)1 << 31 || problem->matrix_bytes / problem->panel.resident > held ||
        (batch > 1 && ipt__min(rows, cols) * size < IPT__CHUNK_THIN))
        return 0;
    stage = ipt__stage_add(layout, IPT__STAGE_PANEL, 1, rows, cols, 1);
    stage->row_slots = 1;
    stage->row_stride = rows;
    chunks = &stage->as.panel;
    chunks->tall = chunks->waits = 1;
    chunks->pack = chunks->packs = chunks->ticket_groups = 1;
    for (chunks->x = step; chunks->x < cols + step && chunks->x * size <= longest && chunks->x <= IPT__CHUNK_RUNS;
         chunks->x += step) {
        chunks->across = ipt__ceil_divide(cols, chunks->x);
        most_down = problem->panel.resident / chunks->across;
        if (!most_down)
            continue;
        /* Shorter chunks are too many, and more bytes fit nowhere: few heights remain, which saves the planner's time.
         */
        for (chunks->y = ipt__round_up(ipt__ceil_divide(rows, most_down), step);
             chunks->y < rows + step && chunks->y <= IPT__CHUNK_RUNS && chunks->x * chunks->y * size <= held;
             chunks->y += step) {
            double cost;
            chunks->down = ipt__ceil_divide(rows, chunks->y);
            /* The busiest compute unit's elements, the cut sectors of runs, and what a chunk costs by itself. */
            cost = (double)ipt__ceil_divide(chunks->across * chunks->down * batch, units) *
                   ((double)(chunks->x * chunks->y) *
                        (1 + sector / (double)(chunks->x * size) + sector / (double)(chunks->y * size)) +
                    fixed);
            if ((best_cost == 0 || cost < best_cost) && ipt__chunk_holds(problem, chunks, step)) {
                best_cost = cost;
                best = *chunks;
            }
        }
    }
    if (best_cost == 0 || best.across * best.down >= 0x7fffffff / batch)
        return 0;
    *chunks = best;
    chunks->blocks = 1;
    chunks->block_rows = rows;
    ipt__layout_finish(problem, layout, budget);
    return 1;
}
