/* Boxes: the local memory of all resident work-groups holds an array, whose axes are permuted in one pass. */
#ifndef IPT_NO_BOXES

static int ipt__boxes_apply(const ipt__problem *problem)
{
    return problem->limits.cooperative;
}

/* Whether boxes move matrices in less time than other methods. If so, the problem's array has the matrix' two axes. */
static int ipt__boxes_take_matrices(ipt__problem *problem)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const ipt__pass pass = {desc->batch, desc->rows, desc->cols, desc->elem_size, 0, 0};
    ipt__array array;
    if (problem->array.count)
        return desc->rows > 1 && !problem->array.columns;
    if (!problem->limits.cooperative || problem->limits.cpu ||
        (desc->flags & (IPT_NO_COOPERATIVE | IPT_OUT_OF_PLACE)) || desc->max_workspace == 1 ||
        desc->host == IPT_HOST_STAGES || desc->move != IPT_MOVE_TRANSPOSE || !ipt__is_free(desc) ||
        ipt__is_vector(desc) || ipt__has_formats(desc) || ipt__pads(desc) || ipt__forces_kernels(desc) ||
        problem->pitched || ipt__problem_swaps(problem) || problem->matrix_bytes > IPT__ON_CHIP_BYTES)
        return 0;
    memset(&array, 0, sizeof array);
    array.count = 2;
    array.lengths[0] = desc->rows;
    array.lengths[1] = desc->cols;
    array.goal[0] = 1;
    array.elem_size = desc->elem_size;
    array.elements = desc->rows * desc->cols;
    if (ipt__batch_bytes(problem) / ipt__boxes_speed(&problem->limits, &array, desc->batch) >=
        ipt__pass_cost(&problem->limits, &pass))
        return 0;
    problem->array = array;
    return 1;
}

/* The axes in units: those of an element are a part of the last axis, or an axis of their own. */
static int ipt__boxes_rank(const ipt__problem *problem)
{
    const int last = problem->array.count - 1;
    return problem->array.count + (problem->element_units > 1 && problem->array.goal[last] != last);
}

static IPT__RARE ipt_result ipt__boxes_seek(ipt_plan *plan, int *done)
{
    ipt__params params = ipt__cooperative_params(&plan->problem);
    if (plan->problem.desc.rows == 1) /* also by places; a matrix' places need a stage that also works out of place */
        ipt__params_apply(&params, &plan->problem.desc, plan->problem.desc.expression != NULL);
    (void)done;
    params.groups_at_once = IPT__BOX_GROUPS;
    params.local_bytes = IPT__BOX_BYTES;
    params.group_size = IPT__BOX_GROUP;
    params.axes = (cl_uint)ipt__boxes_rank(&plan->problem);
    params.channels = 1;
    if (params.axes > IPT__KERNEL_AXES)
        return IPT_SUCCESS;
    return ipt__plan_take_cooperative(plan, IPT__KERNEL_box, &params, &plan->device->panel, &plan->problem.panel);
}

static void ipt__boxes_begin(const ipt__problem *problem, ipt__box_stage *of)
{
    const ipt__array *const array = &problem->array;
    const int last = array->count - 1;
    int i;
    of->rank = ipt__boxes_rank(problem);
    for (i = 0; i < array->count; ++i) {
        of->lengths[i] = (cl_uint)array->lengths[i];
        of->goal[i] = array->goal[i];
    }
    if (of->rank == array->count)
        of->lengths[last] *= (cl_uint)problem->element_units;
    else {
        of->lengths[last + 1] = (cl_uint)problem->element_units;
        of->goal[last + 1] = (unsigned char)(last + 1);
    }
}

/* The share of the work that is even. Of a few boxes, one compute unit has the most; many come in turns, the last of
 * which need not fill the chip. Of a batch, whole arrays share the chip best. Where it holds one array and a part of
 * the next, that part only waits. */
static double ipt__boxes_even(const ipt__problem *problem, size_t boxes)
{
    const size_t resident = problem->panel.resident, all = boxes * problem->desc.batch;
    const size_t turn = all > resident ? resident : ipt__max(1, resident / IPT__BOX_GROUPS);
    const double held = problem->desc.batch == 1 || resident % boxes == 0 ? 1
                        : resident / boxes == 1                           ? ipt__real(boxes) / ipt__real(resident)
                                                                          : 1 - 1 / (double)IPT__BOX_SPLIT;
    return held * ipt__real(all) / ipt__real(ipt__ceil_divide(all, turn) * turn);
}

/* The share of the time in which enough bytes are on the way. Work-groups load short units by few bytes at a time. */
static double ipt__box_flight(const ipt__problem *problem, const ipt__box_geometry *is)
{
    const size_t units = ipt__max(1, problem->panel.resident / IPT__BOX_GROUPS), all = is->boxes * problem->desc.batch;
    const size_t together =
        ipt__min(ipt__box_moves(problem, is, is->source_together), ipt__box_moves(problem, is, is->target_together));
    const double bytes = ipt__real(IPT__BOX_GROUP * together * problem->unit_bytes) *
                         ipt__real(ipt__min(all, problem->panel.resident)) / ipt__real(units);
    return problem->unit_bytes < IPT__WORD_BYTES ? bytes / (bytes + (double)IPT__BOX_FLIGHT) : 1;
}

/* The share of a copy's speed that a box reaches; 0: it does not fit. */
static double ipt__box_share(const ipt__problem *problem, const ipt__box_stage *of)
{
    const double size = ipt__real(problem->unit_bytes), lost = (double)IPT__BOX_LOST;
    ipt__box_geometry is;
    double before, after, bytes;
    int single;
    ipt__box_measure(problem, of, &is);
    if (!ipt__box_fits(problem, &is))
        return 0;
    single = !is.anywhere && ipt__min(is.source_together, is.target_together) == 1;
    before = ipt__real(is.source_run) * size;
    after = ipt__real(is.target_run) * size;
    bytes = ipt__real(is.units) * size;
    return ipt__real(ipt__extent_units(problem)) / (ipt__real(is.boxes) * ipt__real(is.units)) /
           ((before + lost) / before + (after + lost) / after) * bytes / (bytes + (double)IPT__BOX_WAIT) *
           ipt__boxes_even(problem, is.boxes) * (problem->unit_bytes < IPT__WORD_BYTES && !is.crossing ? 0.7 : 1) *
           (problem->unit_bytes < IPT__WORD_BYTES && single ? 0.3 : 1) * ipt__box_flight(problem, &is) /
           (1 + (1 / ipt__real(is.source_together) + 1 / ipt__real(is.target_together)) / (double)IPT__BOX_NARROW);
}

/* The share with a gap after each run of the source if those fit, else without. */
static double ipt__box_share_best(const ipt__problem *problem, ipt__box_stage *of)
{
    double share;
    of->gap = 1;
    share = ipt__box_share(problem, of);
    if (share > 0)
        return share;
    of->gap = 0;
    return ipt__box_share(problem, of);
}

/* Lengths of an axis that are tried: its parts, from the whole down. Where they can, the boxes of a batch keep all
 * compute units even, or whole arrays fill the chip. */
static size_t ipt__box_next_parts(const ipt__problem *problem, size_t parts)
{
    const size_t resident = problem->panel.resident, units = ipt__max(1, resident / IPT__BOX_GROUPS);
    const size_t next = parts < 6 ? parts + 1 : parts + parts / 3, batch = problem->desc.batch;
    const size_t even = ipt__ceil_divide(next * batch / units * units, batch), tried = even > parts ? even : next;
    size_t whole = parts + 1;
    if (batch == 1 || parts >= resident)
        return tried;
    while (whole < tried && resident % whole)
        ++whole;
    return whole;
}

/* The length of a part: a multiple of a vector if the axis is one. */
static size_t ipt__box_part(const ipt__problem *problem, size_t length, size_t parts)
{
    const size_t part = ipt__ceil_divide(length, parts), at_once = IPT__VECTOR_BYTES / problem->unit_bytes;
    return length % at_once || part < at_once ? part : ipt__round_up(part, at_once);
}

/* Boxes have the last axes of the source and of the result whole, and parts of the axis before them. */
static void ipt__boxes_search(const ipt__problem *problem, ipt__box_stage *best)
{
    ipt__box_stage all = *best;
    const size_t most = problem->panel.local_bytes / problem->unit_bytes;
    double best_share = 0;
    int s, t, i;
    best->rank = 0;
    all.crosses = 1;
    for (s = all.rank - 1; s >= 0; --s)
        for (t = all.rank - 1; t >= 0; --t) {
            size_t source_parts, target_parts;
            const int axis = ipt__axis_at(all.goal, t);
            for (source_parts = 1; source_parts <= all.lengths[s];
                 source_parts = ipt__box_next_parts(problem, source_parts))
                for (target_parts = 1; target_parts <= all.lengths[axis];
                     target_parts = ipt__box_next_parts(problem, target_parts)) {
                    ipt__box_stage box = all;
                    size_t units = 1, boxes = 1;
                    double share;
                    for (i = 0; i < all.rank; ++i) {
                        const int whole = i > s || all.goal[i] > t;
                        size_t length = whole ? all.lengths[i] : 1;
                        if (i == s)
                            length = ipt__max(length, ipt__box_part(problem, all.lengths[i], source_parts));
                        if (i == axis)
                            length = ipt__max(length, ipt__box_part(problem, all.lengths[i], target_parts));
                        box.box[i] = (cl_uint)length;
                        units = units > most ? units : units * length;
                        boxes *= ipt__ceil_divide(all.lengths[i], length);
                    }
                    share = units > most || boxes > problem->panel.resident ? 0 : ipt__box_share_best(problem, &box);
                    if (share > best_share) {
                        best_share = share;
                        *best = box;
                    }
                }
        }
}

static ipt_result ipt__boxes_propose(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made)
{
    ipt__stage *const stage = ipt__stage_add(&made->layout, IPT__STAGE_BOX, 1, 1, problem->array.elements, 1);
    ipt__box_stage *const box = &stage->as.box;
    memset(box, 0, sizeof *box);
    if (problem->panel.resident && ipt__extent_units(problem) < (size_t)1 << 31) {
        ipt__boxes_begin(problem, box);
        ipt__boxes_search(problem, box);
    }
    if (!box->rank)
        return IPT_SUCCESS;
    ipt__box_tune(problem, box);
    made->found = made->settled = 1;
    ipt__layout_finish(problem, &made->layout, scope->budget);
    return IPT_SUCCESS;
}
#endif
