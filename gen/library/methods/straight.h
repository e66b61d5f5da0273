/* Straight: no transposition. Rows may change their distance. */

static int ipt__straight_applies(const ipt__problem *problem)
{
    const ipt_plan_desc *const desc = &problem->desc;
    return !ipt__moves[desc->move].transposed ||
           (ipt__is_vector(desc) &&
            (desc->sequence == IPT_SEQUENCE_AUTO || desc->sequence == IPT_SEQUENCE_SQUARE ||
             desc->sequence == IPT_SEQUENCE_EXCHANGE || desc->sequence == IPT_SEQUENCE_TWO_PASS));
}

/* Appends a stage that moves whole matrices through local memory, if they fit. straight: without transposition. */
static void ipt__stage_add_small(const ipt__problem *problem, ipt__layout *layout, int straight)
{
    ipt__stage *stage;
    if (problem->matrix_bytes > ipt__local_budget(&problem->limits))
        return; /* ipt__layout_add_epilogue adds the FLIP stage */
    stage = ipt__stage_add(layout, IPT__STAGE_TILE, 1, problem->desc.rows, problem->desc.cols, 1);
    stage->straight = straight;
    ipt__pack_choose(problem, stage);
}

/* Appends stages that change the distance of `rows` rows of `cols` elements from `from` to `to` units. Slabs of whole
 * rows move in the sequence in which no slab overwrites another. */
static void ipt__layout_add_spread(const ipt__problem *problem, ipt__layout *layout, const size_t shape[2],
                                   const size_t distances[2], size_t budget)
{
    const size_t rows = shape[0], cols = shape[1], row = cols * problem->desc.elem_size;
    const size_t most =
        ipt__min(budget ? budget : (size_t)IPT__SPREAD_BYTES, ipt__tuning_of(&problem->limits)->slab_bytes);
    const size_t slabs = ipt__ceil_divide(rows, ipt__max(1, most / row)), height = ipt__ceil_divide(rows, slabs);
    const size_t number = rows / height, rest = rows % height;
    const int up = distances[1] > distances[0]; /* move the last rows first */
    int i, side;
    for (i = 0; i < 2; ++i) {
        const int is_rest = i != up;
        ipt__stage *stage;
        if (is_rest && !rest)
            continue;
        stage = ipt__stage_add(layout, IPT__STAGE_SPREAD, is_rest ? 1 : number, is_rest ? rest : height, cols, 1);
        stage->last_first = up;
        for (side = 0; side < 2; ++side) {
            stage->as.spread.distance[side] = distances[side];
            stage->as.spread.before[side] = is_rest ? number * height * distances[side] : 0;
        }
    }
}

static ipt_result ipt__straight_propose(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const int transposed = ipt__moves[desc->move].transposed;
    if (problem->pitched) {
        /* A transposed vector is one row on one side, and a column of one-element rows on the other side. */
        const size_t shape[2] = {transposed ? desc->rows * desc->cols : desc->rows, transposed ? 1 : desc->cols};
        const size_t distances[2] = {transposed && desc->rows == 1 ? problem->element_units : ipt__source_row(problem),
                                     transposed && desc->cols == 1 ? problem->element_units : ipt__result_row(problem)};
        if (distances[0] != distances[1])
            ipt__layout_add_spread(problem, &made->layout, shape, distances, scope->budget);
    } else if (desc->batch > 1 &&
               (!transposed || (desc->sequence == IPT_SEQUENCE_AUTO && desc->move != IPT_MOVE_TRANSPOSE)))
        ipt__stage_add_small(problem, &made->layout, !transposed);
    ipt__layout_finish(problem, &made->layout, scope->budget);
    made->found = made->settled = 1;
    return IPT_SUCCESS;
}
