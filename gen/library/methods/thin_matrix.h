/* Thin: on a CPU, a core moves matrices of 2 to 4 rows or columns. */
#ifndef IPT_NO_BOXES

/* Whether one work-group moves a whole matrix as a single tile: its core's cache holds it. */
static int ipt__thin_is_whole(const ipt__problem *problem)
{
    return problem->matrix_bytes + IPT__THIN_MOST <=
           ipt__min(problem->limits.local_memory, (size_t)IPT__TILE_BYTES_MANY);
}

/* The length of tiles, which divides the longer side; 0: none is suitable. Local memory also has a flag for each run.
 */
static size_t ipt__thin_tile(const ipt__problem *problem)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t longer = ipt__max(problem->desc.rows, problem->desc.cols);
    const size_t shorter = ipt__min(problem->desc.rows, problem->desc.cols), row = shorter * problem->unit_bytes;
    size_t length = ipt__thin_is_whole(problem) ? longer : ipt__local_budget(limits) / row;
    while (length && (longer % length || length * row + longer / length * shorter > limits->local_memory))
        --length;
    return length == longer || length * problem->unit_bytes >= IPT__THIN_RUN ? length : 0;
}

/* Work-groups that share a matrix: several if whole matrices would leave cores idle. */
static size_t ipt__thin_parts(const ipt__problem *problem)
{
    const size_t units = problem->limits.compute_units, batch = problem->desc.batch;
    return ipt__thin_is_whole(problem) || batch * 4 >= ipt__round_up(batch, units) * 3 ? 1 : units;
}

static int ipt__thin_applies(const ipt__problem *problem)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const size_t shorter = ipt__min(desc->rows, desc->cols);
    return problem->limits.cpu && ipt__is_free(desc) && ipt__moves[desc->move].transposed && !problem->pitched &&
           !ipt__pads(desc) && !ipt__forces_kernels(desc) && problem->element_units == 1 && shorter > 1 &&
           shorter <= IPT__THIN_MOST && desc->rows != desc->cols && desc->batch < (size_t)1 << 30 &&
           ipt__thin_tile(problem) != 0;
}

static ipt_result ipt__thin_propose(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made)
{
    ipt__stage *const stage =
        ipt__stage_add(&made->layout, IPT__STAGE_THIN, 1, problem->desc.rows, problem->desc.cols, 1);
    stage->as.thin.parts = ipt__thin_parts(problem);
    stage->as.thin.tile_length = ipt__thin_tile(problem);
    made->found = made->settled = 1;
    ipt__layout_finish(problem, &made->layout, scope->budget);
    return IPT_SUCCESS;
}
#endif
