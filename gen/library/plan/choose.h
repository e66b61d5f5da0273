/* Choosing a layout. */

static int ipt__method_serves(const ipt__method *method, const ipt__problem *problem)
{
    return method->moves & ipt__problem_moves(problem) && method->applies(problem);
}

/* Gets the cooperative kernels that the methods may choose from, and their resident groups. */
static IPT__RARE ipt_result ipt__plan_seek_kernels(ipt_plan *plan)
{
    ipt_result result = IPT_SUCCESS;
    int i, done = 0;
    plan->problem.refused_bytes = ipt__least_refused(plan->context); /* tiles that turn squares may be too large */
    if (!ipt__plan_may_cooperate(&plan->problem))
        return IPT_SUCCESS;
    for (i = 0; i < IPT__METHODS && !result && !done; ++i)
        if (ipt__methods[i].seek && ipt__method_serves(&ipt__methods[i], &plan->problem))
            result = ipt__methods[i].seek(plan, &done);
    return result;
}

/* Refuses a sequence, and sizes of its parts, that the matrix does not have. */
static ipt_result ipt__check_sequence(const ipt_plan_desc *desc)
{
    const int tall = desc->rows >= desc->cols, of_shorter = ipt__bands_of_shorter(desc);
    const size_t length = ipt__super_length(desc), longer = tall ? desc->rows : desc->cols,
                 shorter = tall ? desc->cols : desc->rows;
    const size_t height = of_shorter ? desc->tile_n : desc->tile_m, side = of_shorter ? shorter : longer,
                 other = of_shorter ? longer : shorter;
    if (desc->sequence == IPT_SEQUENCE_SQUARE && desc->rows != desc->cols)
        return ipt__fail(
            IPT_ERROR_INVALID_ARGUMENT,
            "sequence is square, but rows = %zu and cols = %zu differ: IPT_SEQUENCE_TWO_PASS serves every shape",
            desc->rows, desc->cols);
    if ((desc->sequence == IPT_SEQUENCE_TWO_PASS || desc->sequence == IPT_SEQUENCE_AUTO) && length > longer)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s = %zu is longer than %s = %zu", tall ? "tile_m" : "tile_n",
                         length, tall ? "rows" : "cols", longer);
    if (desc->sequence == IPT_SEQUENCE_EXCHANGE && (height > side || (height && side / height > other)))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "%s = %zu: sequence exchange cuts the %s side of %zu x %zu elements into bands of %zu to %zu",
                         of_shorter ? "tile_n" : "tile_m", height, of_shorter ? "shorter" : "longer", desc->rows,
                         desc->cols, ipt__ceil_divide(side, other), side);
    return IPT_SUCCESS;
}

/* What a method answers. */
static ipt_result ipt__method_propose(const ipt__method *method, const ipt__problem *problem, const ipt__scope *scope,
                                      ipt__proposal *made)
{
    made->found = made->settled = 0;
    ipt__layout_begin(&made->layout);
    return ipt__method_serves(method, problem) ? method->propose(problem, scope, made) : IPT_SUCCESS;
}

/* Chooses the stages: the best that a method proposes. budget: bytes of workspace, 0 for the minimum. */
static ipt_result ipt__layout_choose(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    const ipt_plan_desc *const desc = &problem->desc;
    ipt__scope scope = ipt__any_length;
    ipt__proposal made;
    ipt_result result = IPT_SUCCESS;
    int i, found = 0;
    scope.budget = budget;
    made.settled = 0;
    if (ipt__moves[desc->move].transposed && !ipt__has_formats(desc))
        result = ipt__check_sequence(desc);
    for (i = 0; i < IPT__METHODS && !result && !made.settled; ++i) {
        result = ipt__method_propose(&ipt__methods[i], problem, &scope, &made);
        if (!result && made.found && (!found || ipt__layout_better(&made.layout, layout, budget)))
            *layout = made.layout;
        found |= made.found;
    }
    if (!result && IPT__BOXES && problem->array.count && !found)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "no %s of the array fit the device",
                         ipt__permutes_columns(problem) ? "bands" : "boxes");
#ifndef IPT_NO_PAPERS
    if (!result)
        ipt__layout_add_padding(problem, layout, budget);
#endif
    return result;
}
