/* Whole: one stage moves each matrix through the local memory of work-groups, or by pairs. */

/* Whether a matrix is square and its rows have gaps of one length: its tiles can change places. */
static int ipt__is_square_with_gaps(const ipt__problem *problem)
{
    return problem->pitched && problem->desc.rows == problem->desc.cols &&
           ipt__source_row(problem) == ipt__result_row(problem);
}

static int ipt__whole_applies(const ipt__problem *problem)
{
    const ipt_sequence sequence = problem->desc.sequence;
    return sequence == IPT_SEQUENCE_SQUARE ||
           (sequence == IPT_SEQUENCE_AUTO && (!problem->pitched || ipt__is_square_with_gaps(problem)));
}

/* Appends the stage that the desc names, or the best one for whole matrices. */
static ipt_result ipt__layout_add_whole(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const int swap = problem->pitched || desc->sequence == IPT_SEQUENCE_SQUARE;
    if (!swap && !ipt__forces_kernels(desc)) {
        ipt__stage_add_dense(problem, layout, budget, ipt__grids_of(1, desc->rows, desc->cols, 1));
        return IPT_SUCCESS;
    }
    return ipt__stage_force(
        problem, ipt__stage_add(layout, swap ? IPT__STAGE_SWAP : IPT__STAGE_TILE, 1, desc->rows, desc->cols, 1));
}

/* Whether each matrix moves through local memory once. */
static int ipt__layout_is_local(const ipt__layout *layout)
{
    return layout->stage_count && ipt__stage_traits[layout->stages[0].kind].local;
}

/* Whether the planner has a stage that moves whole matrices through local memory: then it tries no two passes. */
static int ipt__whole_is_local(const ipt__problem *problem)
{
    ipt__layout layout;
    ipt__layout_begin(&layout);
    return ipt__is_free(&problem->desc) && !ipt__layout_add_whole(problem, &layout, 0) && ipt__layout_is_local(&layout);
}

static ipt_result ipt__whole_propose(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const ipt__grids grids = ipt__grids_of(1, desc->rows, desc->cols, 1);
    const ipt_result result = ipt__layout_add_whole(problem, &made->layout, scope->budget);
    const int forced = desc->sequence == IPT_SEQUENCE_SQUARE || ipt__forces_kernels(desc);
    ipt__layout_finish(problem, &made->layout, scope->budget);
    made->settled =
        forced || (!problem->pitched && ipt__takes_pairs(problem, &grids) && desc->move == IPT_MOVE_TRANSPOSE &&
                   !desc->expression && made->layout.workspace <= scope->budget);
    made->found = made->settled || ipt__layout_is_local(&made->layout);
    if (made->found &&
        (ipt__super_length(desc) || ipt__problem_swaps(problem) || ipt__layout_reverses(&made->layout) >= 0))
        made->settled = 1;
    return result;
}
