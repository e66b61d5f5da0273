/* BOX stages: whole arrays by cooperative work-groups that hold a box of one each. */

/* What follows from the axes' lengths and those of a box, in units. */
typedef struct ipt__box_geometry {
    size_t sources[IPT_MAX_RANK], targets[IPT_MAX_RANK]; /* from neighbour to neighbour, before and after */
    size_t places[IPT_MAX_RANK];                         /* in the box */
    size_t source_steps[IPT_MAX_RANK], target_steps[IPT_MAX_RANK];
    size_t source_run, target_run; /* contiguous units */
    size_t source_runs;
    size_t target_piece, target_pieces, target_runs; /* a run of the result is written by pieces of so many indices */
    int source_axis, target_axis;
    size_t units, held_units; /* of a box; in local memory, with gaps */
    size_t boxes;
    size_t source_together, target_together; /* units that move at once */
} ipt__box_geometry;

/* The axis at a place of the result. */
static int ipt__box_axis_at(const ipt__box_stage *of, int place)
{
    int i;
    for (i = 0; of->goal[i] != place; ++i)
        ;
    return i;
}

/* Units that move at once where all runs begin at multiples of some power of two: the lowest bit of `step`. */
static size_t ipt__box_together(size_t unit_bytes, size_t step)
{
    return step * unit_bytes % IPT__VECTOR_BYTES == 0                                    ? IPT__VECTOR_BYTES / unit_bytes
           : unit_bytes < IPT__WORD_BYTES && step * unit_bytes % IPT__WORD_BYTES == 0 ? IPT__WORD_BYTES / unit_bytes
                                                                                         : 1;
}

/* Rows of local memory lie an odd number of units apart, so that a column's units are in different banks. */
static void ipt__box_measure(const ipt__problem *problem, const ipt__box_stage *of, ipt__box_geometry *is)
{
    size_t source = 1, target = 1, place = 1, step, apart;
    int i, j;
    memset(is, 0, sizeof *is);
    is->units = is->boxes = 1;
    for (i = 0; i < of->rank; ++i) {
        is->units *= of->box[i];
        is->boxes *= ipt__ceil_divide(of->lengths[i], of->box[i]);
    }
    for (i = of->rank - 1; i > 0 && of->box[i] == of->lengths[i]; --i)
        ;
    is->source_axis = i;
    for (j = of->rank - 1; j > 0 && of->box[ipt__box_axis_at(of, j)] == of->lengths[ipt__box_axis_at(of, j)]; --j)
        ;
    is->target_axis = ipt__box_axis_at(of, j);
    for (i = of->rank - 1, apart = problem->desc.batch > 1 ? ipt__matrix_stride(problem) : 0; i >= 0; --i) {
        if (of->box[i] != of->lengths[i])
            apart |= of->box[i] * source;
        if (i < is->source_axis && of->box[i] > 1)
            apart |= source;
        source *= of->lengths[i];
    }
    is->source_together = ipt__box_together(problem->unit_bytes, apart);
    for (i = of->rank - 1, source = step = 1; i >= 0; --i) {
        is->sources[i] = source;
        source *= of->lengths[i];
        is->places[i] = place;
        place *= of->box[i];
        if (i == is->source_axis) {
            is->source_run = place;
            place = (ipt__ceil_divide(place, is->source_together) | 1) * is->source_together;
        } else if (i < is->source_axis) {
            is->source_steps[i] = step;
            step *= of->box[i];
        }
    }
    is->held_units = place;
    is->source_runs = is->units / is->source_run;
    is->target_run = step = 1;
    apart = problem->desc.batch > 1 ? ipt__matrix_stride(problem) : 0;
    for (i = of->rank - 1; i >= 0; --i) {
        const int axis = ipt__box_axis_at(of, i);
        is->targets[axis] = target;
        if (of->box[axis] != of->lengths[axis])
            apart |= of->box[axis] * target;
        if (i < j && of->box[axis] > 1)
            apart |= target;
        target *= of->lengths[axis];
        if (i >= j)
            is->target_run *= of->box[axis];
        if (i == j) {
            is->target_piece = ipt__min(of->box[axis], ipt__max(1, IPT__BOX_RUN / is->targets[axis]));
            is->target_pieces = ipt__ceil_divide(of->box[axis], is->target_piece);
            if (is->target_pieces > 1)
                apart |= is->target_piece * is->targets[axis];
        }
        if (i <= j) {
            is->target_steps[axis] = step;
            step *= i == j ? is->target_pieces : of->box[axis];
        }
    }
    is->target_runs = step;
    is->target_together = ipt__box_together(problem->unit_bytes, apart);
}

/* Words of local memory before the tables, and those of the tables. */
static size_t ipt__box_data_words(const ipt__problem *problem, const ipt__box_geometry *is)
{
    return ipt__round_up(is->held_units * problem->unit_bytes, IPT__VECTOR_BYTES) / 4;
}
static size_t ipt__box_table_words(const ipt__box_geometry *is)
{
    return 2 * is->source_runs + 3 * is->target_runs + is->target_piece * is->targets[is->target_axis];
}

static ipt__control ipt__control_box(const ipt__problem *problem, const ipt__stage *stage)
{
    ipt__control control = ipt__control_nothing(problem, stage);
    control.words = IPT__CONTROL_WORDS + problem->desc.batch;
    control.alone = ipt__max(ipt__extent_units(problem) / IPT__WINDOWS, (size_t)IPT__WINDOW_UNITS) / 32 + 1;
    return control;
}

static IPT__RARE double ipt__cost_box(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)layout, (void)stage;
    return ipt__batch_bytes(problem) / ipt__tuning_of(&problem->limits)->pass_boxes;
}

static IPT__RARE ipt_result ipt__kernels_box(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.local_bytes = (cl_uint)plan->problem.panel.local_bytes;
    params.group_size = (cl_uint)plan->problem.panel.group_size;
    params.groups_at_once = IPT__BOX_GROUPS;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_box, params, &stage->kernels[0]);
}

/* The work-items that share a run, so that a work-group takes fewest steps: a power of two. They move whole lines of
 * memory at a time. size: bytes that one of them moves; units: of that size in a run. */
static size_t ipt__box_lanes(size_t group_size, size_t size, size_t runs, size_t units)
{
    size_t lanes, best = 1, least = 0;
    for (lanes = 1; lanes <= group_size; lanes *= 2) {
        const size_t steps = ipt__ceil_divide(runs, group_size / lanes) * ipt__ceil_divide(units, lanes);
        if (!least || steps <= least || lanes / 2 * size < IPT__LINE_BYTES) {
            least = steps;
            best = lanes;
        }
    }
    return best;
}

static IPT__RARE ipt_result ipt__launch_box(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__layout *const layout = &to->plan->device->layout;
    const ipt__box_stage *const of = &stage->as.box;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__box_arguments *const a = &launch.arguments.box;
    ipt__box_geometry is;
    cl_uint *axis = &a->length0;
    int i;
    ipt__box_measure(problem, of, &is);
    a->matrix_stride = ipt__matrix_stride(problem);
    a->control_base = layout->saved_bytes / 4;
    a->clear_base = a->control_base + ipt__round_up(layout->control_words * 4, 256) / 4;
    a->alone_base = layout->alone_offset / 4;
    a->clear_words = (cl_uint)layout->control_words;
    a->waits = is.boxes > 1;
    a->chunks = (cl_uint)is.boxes;
    a->tickets = (cl_uint)(is.boxes * to->matrices);
    a->array_units = (cl_uint)ipt__extent_units(problem);
    a->polls = problem->limits.wait_polls;
    a->rank = (cl_uint)of->rank;
    a->source_lanes =
        (cl_uint)ipt__box_lanes(problem->panel.group_size, is.source_together * problem->unit_bytes, is.source_runs,
                                ipt__ceil_divide(is.source_run, is.source_together));
    a->target_lanes =
        (cl_uint)ipt__box_lanes(problem->panel.group_size, is.target_together * problem->unit_bytes, is.target_runs,
                                ipt__ceil_divide(is.target_piece * is.targets[is.target_axis], is.target_together));
    a->source_together = (cl_uint)is.source_together;
    a->target_together = (cl_uint)is.target_together;
    a->target_run = (cl_uint)(is.target_piece * is.targets[is.target_axis]);
    a->source_runs = (cl_uint)is.source_runs;
    a->target_runs = (cl_uint)is.target_runs;
    a->source_axis = (cl_uint)is.source_axis;
    a->target_axis = (cl_uint)is.target_axis;
    a->target_piece = (cl_uint)is.target_piece;
    a->target_pieces = (cl_uint)is.target_pieces;
    a->tables = (cl_uint)ipt__box_data_words(problem, &is);
    for (i = 0; i < of->rank; ++i, axis += 8) {
        axis[0] = of->lengths[i];
        axis[1] = of->box[i];
        axis[2] = (cl_uint)ipt__ceil_divide(of->lengths[i], of->box[i]);
        axis[3] = (cl_uint)is.sources[i];
        axis[4] = (cl_uint)is.targets[i];
        axis[5] = (cl_uint)is.places[i];
        axis[6] = (cl_uint)is.source_steps[i];
        axis[7] = (cl_uint)is.target_steps[i];
    }
    if (a->waits)
        IPT__LAUNCH_WAITS(launch, box);
    launch.groups = a->tickets;
    return ipt__launch_add(to, &launch);
}

static IPT__RARE void ipt__describe_box(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__box_stage *const of = &stage->as.box;
    ipt__box_geometry is;
    int i;
    ipt__box_measure(&plan->problem, of, &is);
    ipt__text_add(out, "boxes together: %zu of ", is.boxes);
    for (i = 0; i < of->rank; ++i)
        ipt__text_add(out, "%s%u", i ? " x " : "", of->box[i]);
    ipt__text_add(out, " units of %zu bytes, runs of %zu before and %zu after", plan->problem.unit_bytes, is.source_run,
                  is.target_run);
    ipt__describe_end(out, stage);
}
