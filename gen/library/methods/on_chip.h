/* On chip: a matrix fits the local memory and the registers of all resident work-groups. */

static int ipt__on_chip_applies(const ipt__problem *problem)
{
    return ipt__is_free(&problem->desc);
}

/* Whether a matrix of long elements is so large that bands or a shuffle move it faster than chunks of one column, or of
 * two with registers. Rows with gaps have no shuffle. */
static int ipt__is_long_and_large(const ipt__problem *problem)
{
    return problem->desc.elem_size >= IPT__PASS_LONG && problem->matrix_bytes >= IPT__LONG_LARGE && !problem->pitched;
}

/* One PANEL stage with whole matrices in the local memory, and the registers, of all resident work-groups. Each matrix
 * is one tall panel with chunks along both sides. The matrices of a batch follow one another. Returns 0 if a matrix
 * does not fit, or moves faster otherwise. */
static IPT__RARE int ipt__layout_on_chip(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    const size_t rows = problem->desc.rows, cols = problem->desc.cols, size = problem->desc.elem_size;
    const size_t step = ipt__round_up(ipt__max(1, IPT__SECTOR_BYTES / size), ipt__problem_block(problem)),
                 units = problem->limits.compute_units, held = ipt__held_bytes(&problem->panel);
    const size_t batch = problem->desc.batch, longest = batch > 1 ? held : (size_t)IPT__CHUNK_RUN;
    const double sector = IPT__SECTOR_BYTES, fixed = batch > 1 ? ipt__real(IPT__CHUNK_FIXED) / ipt__real(size) : 0;
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
        /* Lower chunks are too many, and larger ones do not fit: few heights remain, to save the planner's time. */
        for (chunks->y = ipt__round_up(ipt__ceil_divide(rows, most_down), step);
             chunks->y < rows + step && chunks->y <= IPT__CHUNK_RUNS && chunks->x * chunks->y * size <= held;
             chunks->y += step) {
            double cost;
            chunks->down = ipt__ceil_divide(rows, chunks->y);
            /* The elements of the busiest compute unit, the sectors that runs cut, and the fixed cost of a chunk. */
            cost = ipt__real(ipt__ceil_divide(chunks->across * chunks->down * batch, units)) *
                   (ipt__real(chunks->x * chunks->y) *
                        (1 + sector / ipt__real(chunks->x * size) + sector / ipt__real(chunks->y * size)) +
                    fixed);
            if ((best_cost == 0 || cost < best_cost) && ipt__chunk_holds(problem, chunks, step)) {
                best_cost = cost;
                best = *chunks;
            }
        }
    }
    if (best_cost == 0 || best.across * best.down >= 0x7fffffff / batch)
        return 0;
    if (best.x < (problem->panel.registers ? 3 : 2) && ipt__is_long_and_large(problem))
        return 0;
    *chunks = best;
    chunks->blocks = 1;
    chunks->block_rows = rows;
    ipt__layout_finish(problem, layout, budget);
    return 1;
}

/* Gets the tall panel kernel, if the matrix fits on the chip and so takes one pass: first without chunks in registers,
 * then with them if that may suffice. */
static IPT__RARE ipt_result ipt__on_chip_seek(ipt_plan *plan, int *fits)
{
    const ipt__problem *const problem = &plan->problem;
    const ipt__move *const move = &ipt__moves[problem->desc.move];
    ipt__params params = ipt__cooperative_params(problem);
    ipt__layout layout;
    ipt_result result;
    size_t local, most;
    int held;
    if (problem->matrix_bytes > IPT__ON_CHIP_BYTES)
        return IPT_SUCCESS;
    params.tall = 1;
    params.by_words = ipt__problem_block(problem) > 1;
    params.pitched = problem->pitched != 0;
    params.reversed = ipt__reversed_param(move->reversed_cols, move->reversed_rows);
    for (held = 0; held < 2; ++held) {
        params.registers = held ? (cl_uint)problem->limits.held_vectors : 0;
        result = ipt__plan_take_panel(plan, &params);
        if (result || !plan->device->panel)
            return result;
        *fits = ipt__layout_on_chip(problem, &layout, ipt__problem_budget(problem));
        if (*fits)
            return IPT_SUCCESS;
        local = problem->panel.resident * problem->panel.local_bytes;
        most = local + problem->panel.resident * problem->limits.held_vectors * 16 * problem->limits.group_size;
        ipt__program_drop(plan->context, plan->device->panel);
        plan->device->panel = NULL;
        plan->problem.panel.resident = 0;
        if (!problem->limits.held_vectors || problem->matrix_bytes > most ||
            (problem->matrix_bytes <= local && ipt__is_long_and_large(problem)))
            break;
    }
    return IPT_SUCCESS;
}

static ipt_result ipt__on_chip_propose(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made)
{
    made->found = ipt__layout_on_chip(problem, &made->layout, scope->budget);
    made->settled = made->found && made->layout.workspace <= scope->budget;
    return IPT_SUCCESS;
}
