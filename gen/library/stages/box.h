/* BOX stages: whole arrays by cooperative work-groups that hold a box of one each. */
#ifndef IPT_NO_BOXES

/* What follows from the axes' lengths and those of a box, in units. */
typedef struct ipt__box_geometry {
    size_t sources[IPT__KERNEL_AXES], targets[IPT__KERNEL_AXES]; /* from neighbour to neighbour, before and after */
    size_t places[IPT__KERNEL_AXES];                             /* in the box */
    size_t source_steps[IPT__KERNEL_AXES], target_steps[IPT__KERNEL_AXES];
    size_t source_run, target_run; /* contiguous units */
    size_t source_runs;
    size_t target_piece, target_pieces, target_runs; /* a run of the result is written by pieces of so many indices */
    int source_axis, target_axis;
    size_t units, held_units; /* of a box; in local memory, with gaps */
    size_t boxes;
    size_t source_together, target_together; /* units that move at once */
    int crossing;                            /* an ipt__crossing, but not ANYWHERE */
    int anywhere;                            /* units below a word move by words though runs begin anywhere */
    size_t channels, apart, last_steps;      /* see kernels.def */
} ipt__box_geometry;

/* How units of a box change places: kernel parameter `crossing`. */
typedef enum ipt__crossing {
    IPT__CROSSING_NONE,
    IPT__CROSSING_SQUARE,
    IPT__CROSSING_CHANNELS_AFTER,
    IPT__CROSSING_CHANNELS_BEFORE,
    IPT__CROSSING_ROWS_STAY,
    IPT__CROSSING_ANYWHERE
} ipt__crossing;

/* Units that move at once where all runs begin at multiples of some power of two: the lowest bit of `begins`. narrow:
 * not more than a word. */
static size_t ipt__box_together(size_t unit_bytes, size_t begins, int narrow)
{
    return !narrow && begins * unit_bytes % IPT__VECTOR_BYTES == 0                      ? IPT__VECTOR_BYTES / unit_bytes
           : unit_bytes < IPT__WORD_BYTES && begins * unit_bytes % IPT__WORD_BYTES == 0 ? IPT__WORD_BYTES / unit_bytes
                                                                                        : 1;
}

/* How units would change places if addresses allow: by blocks of words in registers. */
static ipt__crossing ipt__box_cross(const ipt__problem *problem, const ipt__box_stage *of)
{
    const int a = of->rank - 1, b = ipt__axis_at(of->goal, of->rank - 1); /* the last axes, before and after */
    const size_t word = IPT__WORD_BYTES / problem->unit_bytes;
    if (!of->crosses || (a != b && problem->unit_bytes > IPT__WORD_BYTES))
        return IPT__CROSSING_NONE;
    if (a == b)
        return IPT__CROSSING_ROWS_STAY;
    if (of->box[b] == of->lengths[b] && of->lengths[b] <= IPT__BOX_CHANNELS && of->goal[a] == of->rank - 2)
        return IPT__CROSSING_CHANNELS_AFTER;
    if (of->box[a] == of->lengths[a] && of->lengths[a] <= IPT__BOX_CHANNELS && b == of->rank - 2)
        return IPT__CROSSING_CHANNELS_BEFORE;
    return word > 1 && of->box[a] % word == 0 ? IPT__CROSSING_SQUARE : IPT__CROSSING_NONE;
}

/* Where boxes begin along an axis, as bits. */
static size_t ipt__box_begins(const ipt__box_stage *of, int axis)
{
    return of->box[axis] == of->lengths[axis] ? 0 : of->box[axis] | (of->lengths[axis] - of->box[axis]);
}

/* The source's side of a geometry, which has its last axes whole. Where channels become the last axis, its runs have
 * one axis, each step is one of all channels, and the box has the result's sequence. */
static void ipt__box_measure_source(const ipt__problem *problem, const ipt__box_stage *of, ipt__box_geometry *is)
{
    size_t begins = problem->desc.batch > 1 ? ipt__matrix_stride(problem) : 0, distance = 1, place = 1, step = 1;
    const int mixes = is->crossing == IPT__CROSSING_CHANNELS_AFTER, last = of->rank - 1;
    const int channels = mixes ? ipt__axis_at(of->goal, last) : -1;
    const size_t word = IPT__WORD_BYTES / problem->unit_bytes;
    int i;
    for (i = last; i > 0 && of->box[i] == of->lengths[i] && !mixes && !of->splits; --i)
        ;
    is->source_axis = i;
    for (i = last; i >= 0; --i) {
        is->sources[i] = distance;
        begins |= distance * (ipt__box_begins(of, i) | (i < is->source_axis && of->box[i] > 1));
        distance *= of->lengths[i];
    }
    for (is->source_run = 1, i = is->source_axis; i < of->rank; ++i)
        is->source_run *= of->box[i];
    is->source_together = ipt__box_together(problem->unit_bytes, begins | is->source_run, of->source_narrow);
    if (mixes) {
        is->places[channels] = 1;
        place = of->box[channels];
    }
    for (i = last; i >= 0; --i) {
        if (i == channels)
            continue;
        if (is->anywhere && i < is->source_axis)
            place += (is->sources[i] - place) % ipt__max(word, is->source_together);
        is->places[i] = place;
        place *= of->box[i];
        if (i == is->source_axis) {
            place += is->anywhere ? of->gap * word + 2 * (word - 1) : of->gap * is->source_together;
        } else if (i < is->source_axis) {
            is->source_steps[i] = step;
            step *= of->box[i];
        }
    }
    is->source_runs = step;
    is->held_units = place;
}

/* The result's side. Where channels move, or the last axis stays, its runs have one axis beside them. */
static void ipt__box_measure_target(const ipt__problem *problem, const ipt__box_stage *of, ipt__box_geometry *is)
{
    size_t begins = problem->desc.batch > 1 ? ipt__matrix_stride(problem) : 0, distance = 1, step = 1;
    const size_t at_once = IPT__VECTOR_BYTES / problem->unit_bytes, word = IPT__WORD_BYTES / problem->unit_bytes;
    const int last = of->rank - 1, square = is->crossing == IPT__CROSSING_SQUARE;
    int i;
    is->target_axis = -1;
    is->last_steps = square ? of->box[last] / word : is->crossing == IPT__CROSSING_CHANNELS_BEFORE ? 1 : of->box[last];
    for (i = last; i >= 0; --i) {
        const int axis = ipt__axis_at(of->goal, i);
        const size_t box = of->box[axis];
        const int ends = i == 0 || box != of->lengths[axis] || (square && ipt__axis_at(of->goal, i - 1) == last) ||
                         (is->crossing == IPT__CROSSING_CHANNELS_AFTER && axis == last) ||
                         is->crossing >= IPT__CROSSING_CHANNELS_BEFORE;
        is->targets[axis] = distance;
        begins |= distance * (ipt__box_begins(of, axis) | (is->target_axis >= 0 && box > 1));
        if (is->target_axis < 0 && ends) {
            is->target_axis = axis;
            is->target_piece = ipt__min(box, ipt__max(1, IPT__BOX_RUN / distance));
            if (is->target_piece < box && is->target_piece >= at_once)
                is->target_piece -= is->target_piece % at_once;
            is->target_pieces = ipt__ceil_divide(box, is->target_piece);
            is->target_run = is->target_piece * distance;
            begins |= is->target_run;
            if (is->target_pieces > 1)
                begins |= (is->target_piece | (box - is->target_piece)) * distance;
            is->target_steps[axis] = square ? is->last_steps : 1;
            step = is->target_steps[axis] * is->target_pieces;
        } else if (is->target_axis >= 0 && axis == last && is->crossing) {
            is->target_steps[axis] = square ? 1 : step;
        } else if (is->target_axis >= 0) {
            is->target_steps[axis] = step;
            step *= box;
        }
        distance *= of->lengths[axis];
    }
    is->target_runs = step;
    is->target_together = ipt__box_together(problem->unit_bytes, begins, of->target_narrow || square);
    is->apart =
        is->crossing == IPT__CROSSING_CHANNELS_AFTER ? is->sources[ipt__axis_at(of->goal, last)] : is->targets[last];
}

/* Whether blocks of a geometry begin at multiples of what moves at once. */
static int ipt__box_crosses(const ipt__problem *problem, const ipt__box_stage *of, const ipt__box_geometry *is)
{
    const size_t word = IPT__WORD_BYTES / problem->unit_bytes, after = is->target_together,
                 before = is->source_together;
    const int last = of->rank - 1, mixes = is->crossing == IPT__CROSSING_CHANNELS_AFTER;
    const int separates = is->crossing == IPT__CROSSING_CHANNELS_BEFORE;
    const int channels = mixes ? ipt__axis_at(of->goal, last) : last;
    size_t begins = 0, piece = is->target_piece;
    int i;
    if (problem->unit_bytes <= IPT__WORD_BYTES && (after < word || (mixes && before < word)))
        return 0;
    for (i = 0; i < last; ++i)
        if (i != channels && !(separates && i == last - 1) && of->box[i] > 1)
            begins |= is->places[i];
    if (is->crossing == IPT__CROSSING_SQUARE)
        return is->target_axis != last && begins % word == 0;
    if (is->target_pieces > 1)
        piece |= of->box[is->target_axis] - is->target_piece;
    begins |= mixes ? piece * is->channels : piece;
    return begins % after == 0 && (!mixes || begins % before == 0);
}

static void ipt__box_measure_as(const ipt__problem *problem, const ipt__box_stage *of, ipt__crossing crossing,
                                ipt__box_geometry *is)
{
    int i;
    memset(is, 0, sizeof *is);
    is->anywhere = crossing == IPT__CROSSING_ANYWHERE;
    is->crossing = is->anywhere ? IPT__CROSSING_NONE : (int)crossing;
    is->units = is->boxes = is->channels = 1;
    for (i = 0; i < of->rank; ++i) {
        is->units *= of->box[i];
        is->boxes *= ipt__ceil_divide(of->lengths[i], of->box[i]);
    }
    if (crossing == IPT__CROSSING_CHANNELS_AFTER)
        is->channels = of->lengths[ipt__axis_at(of->goal, of->rank - 1)];
    if (crossing == IPT__CROSSING_CHANNELS_BEFORE)
        is->channels = of->lengths[of->rank - 1];
    ipt__box_measure_source(problem, of, is);
    ipt__box_measure_target(problem, of, is);
}
/* Words of local memory before the tables, and those of the tables. */
static size_t ipt__box_data_words(const ipt__problem *problem, const ipt__box_geometry *is)
{
    return ipt__round_up(is->held_units * problem->unit_bytes, IPT__VECTOR_BYTES) / 4;
}
static size_t ipt__box_table_words(const ipt__box_geometry *is)
{
    return 2 * is->source_runs + 2 * is->target_runs + is->target_run;
}
static int ipt__box_fits(const ipt__problem *problem, const ipt__box_geometry *is)
{
    return (ipt__box_data_words(problem, is) + ipt__box_table_words(is)) * 4 <= problem->panel.local_bytes &&
           is->boxes <= problem->panel.resident;
}

static void ipt__box_measure(const ipt__problem *problem, const ipt__box_stage *of, ipt__box_geometry *is)
{
    ipt__box_measure_as(problem, of, ipt__box_cross(problem, of), is);
    if (is->crossing && !ipt__box_crosses(problem, of, is))
        ipt__box_measure_as(problem, of, IPT__CROSSING_NONE, is);
    if (is->crossing == IPT__CROSSING_SQUARE && is->source_together == 1 && problem->unit_bytes < IPT__WORD_BYTES)
        ipt__box_measure_as(problem, of, IPT__CROSSING_NONE, is);
    if (of->crosses && !is->crossing && problem->unit_bytes < IPT__WORD_BYTES &&
        ipt__min(is->source_together, is->target_together) == 1) {
        ipt__box_geometry anywhere;
        ipt__box_measure_as(problem, of, IPT__CROSSING_ANYWHERE, &anywhere);
        if (ipt__box_fits(problem, &anywhere))
            *is = anywhere;
    }
}

/* The place in the box of a unit of a run of the result, or of the first run of a block. */
static size_t ipt__box_place(const ipt__box_stage *of, const ipt__box_geometry *is, size_t run, size_t unit)
{
    size_t place = 0;
    int i;
    for (i = 0; i < of->rank; ++i) {
        const size_t step = is->target_steps[i] ? run / is->target_steps[i] : 0;
        if (i == is->target_axis)
            place += (step % is->target_pieces * is->target_piece + unit / is->targets[i]) % of->box[i] * is->places[i];
        else if (!is->target_steps[i])
            place += unit / is->targets[i] % of->box[i] * is->places[i];
        else if (i == of->rank - 1)
            place += step % is->last_steps * (of->box[i] / is->last_steps);
        else
            place += step % of->box[i] * is->places[i];
    }
    return place;
}

/* The units that move at once: of runs that begin anywhere a word. */
static size_t ipt__box_moves(const ipt__problem *problem, const ipt__box_geometry *is, size_t together)
{
    return is->anywhere && together == 1 ? IPT__WORD_BYTES / problem->unit_bytes : together;
}

/* The unit of the box that a work-item reads as the i-th one of its first turn. */
static size_t ipt__box_reads(const ipt__box_stage *of, const ipt__box_geometry *is, size_t together, size_t lane,
                             size_t i)
{
    const size_t each = ipt__max(1, is->target_run / together);
    const size_t low = is->last_steps & (0 - is->last_steps);
    const size_t runs = is->crossing == IPT__CROSSING_SQUARE ? ipt__min(together, low) : 1, step = lane / runs;
    return ipt__box_place(of, is, (step / each * runs + lane % runs) % is->target_runs, step % each * together + i);
}

/* The steps that a line of work-items takes on average to read from local memory, whose words lie in as many banks. */
static double ipt__box_conflicts(const ipt__problem *problem, const ipt__box_stage *of, const ipt__box_geometry *is)
{
    enum { LANES = 32 };
    const size_t together = ipt__box_moves(problem, is, is->target_together);
    size_t steps = 0, i, lane;
    if (is->crossing > IPT__CROSSING_SQUARE) /* vectors of all channels lie together */
        return is->channels % 4 == 0 ? 2 : is->channels % 2 == 0 ? 1 : 0;
    for (i = 0; i < together; ++i) {
        size_t words[LANES], counts[LANES] = {0}, most = 1, other;
        for (lane = 0; lane < LANES; ++lane) {
            words[lane] = ipt__box_reads(of, is, together, lane, i) * problem->unit_bytes / IPT__WORD_BYTES;
            for (other = 0; other < lane && words[other] != words[lane]; ++other)
                ;
            if (other == lane)
                most = ipt__max(most, ++counts[words[lane] % LANES]);
        }
        steps += most;
    }
    return ipt__real(steps) / ipt__real(together);
}

/* The steps of a compute unit for a line of words. */
static double ipt__box_steps(const ipt__problem *problem, const ipt__box_stage *of, const ipt__box_geometry *is)
{
    const double unit = ipt__real(problem->unit_bytes) / (double)IPT__WORD_BYTES, issue = (double)IPT__BOX_ISSUE;
    const double lists = 8 * ipt__real(is->source_runs + is->target_runs + is->target_run);
    return issue / (unit * ipt__real(ipt__box_moves(problem, is, is->source_together))) +
           issue / (unit * ipt__real(ipt__box_moves(problem, is, is->target_together))) +
           (1 + ipt__box_conflicts(problem, of, is)) / (unit < 1 && !is->crossing ? unit : 1) +
           0.01 * ipt__real(of->gap) + lists / (ipt__real(is->units) * unit);
}

/* Chooses how units move and the gaps between rows of the box. */
static void ipt__box_tune(const ipt__problem *problem, ipt__box_stage *of)
{
    enum { NARROW_BEFORE = 1, NARROW_AFTER = 2, CROSSES = 4, SPLITS = 8, GAP = 16 };
    ipt__box_stage its = *of;
    double least = 0;
    unsigned way;
    for (way = 0; way < 8 * GAP; ++way) {
        ipt__box_geometry is;
        double steps;
        its.source_narrow = (way & NARROW_BEFORE) != 0;
        its.target_narrow = (way & NARROW_AFTER) != 0;
        its.crosses = (way & CROSSES) != 0;
        its.splits = (way & SPLITS) != 0;
        its.gap = way / GAP;
        ipt__box_measure(problem, &its, &is);
        steps = ipt__box_steps(problem, &its, &is);
        if (ipt__box_fits(problem, &is) && (least == 0 || steps < least)) {
            least = steps;
            *of = its;
        }
    }
}

static ipt__control ipt__control_box(const ipt__problem *problem, const ipt__stage *stage)
{
    ipt__control control = ipt__control_nothing(problem, stage);
    ipt__box_geometry is;
    ipt__box_measure(problem, &stage->as.box, &is);
    control.words = is.boxes > 1 ? (1 + problem->desc.batch) * (IPT__LINE_BYTES / 4) : (size_t)IPT__CONTROL_WORDS;
    control.alone = ipt__max(ipt__extent_units(problem) / IPT__WINDOWS, (size_t)IPT__WINDOW_UNITS) / 32 + 1;
    return control;
}

/* Whether runs of an array's short units are whole words, or channels: before and after, its last axis is. */
static int ipt__boxes_by_words(const ipt__array *array, size_t unit_bytes)
{
    const size_t word = IPT__WORD_BYTES / unit_bytes, units = array->elem_size / unit_bytes;
    int i, by_words = 1;
    for (i = 0; i < array->count; ++i)
        if (i == array->count - 1 || array->goal[i] == array->count - 1)
            by_words &= array->lengths[i] * units <= IPT__BOX_CHANNELS || array->lengths[i] * units % word == 0;
    return by_words;
}

/* The share of a copy's speed that a batch of arrays reaches by boxes. Small boxes are read in less time than they
 * wait. */
static double ipt__boxes_speed(const ipt__limits *limits, const ipt__array *array, size_t batch)
{
    const ipt__tuning *const model = ipt__tuning_of(limits);
    const size_t unit_bytes = ipt__unit_bytes(array->elem_size);
    const double bytes = ipt__real(array->elements) * ipt__real(array->elem_size);
    return (unit_bytes >= IPT__WORD_BYTES            ? model->pass_boxes
            : ipt__boxes_by_words(array, unit_bytes) ? model->pass_boxes_short
                                                     : model->pass_boxes_cut) *
           (batch > 1 ? bytes / (bytes + (double)IPT__BOX_WAIT) : 1);
}

static IPT__RARE double ipt__cost_box(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)layout, (void)stage;
    return ipt__batch_bytes(problem) / ipt__boxes_speed(&problem->limits, &problem->array, problem->desc.batch);
}

static IPT__RARE ipt_result ipt__kernels_box(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    ipt__box_geometry is;
    params.local_bytes = (cl_uint)plan->problem.panel.local_bytes;
    params.group_size = (cl_uint)plan->problem.panel.group_size;
    params.groups_at_once = IPT__BOX_GROUPS;
    params.axes = (cl_uint)stage->as.box.rank;
    ipt__box_measure(&plan->problem, &stage->as.box, &is);
    params.crossing = is.anywhere ? (cl_uint)IPT__CROSSING_ANYWHERE : (cl_uint)is.crossing;
    params.channels = (cl_uint)is.channels;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_box, params, &stage->kernels[0]);
}

/* The number of times that `together` units of a run move: a run that begins anywhere has parts of words at its ends.
 */
static size_t ipt__box_each(const ipt__problem *problem, const ipt__box_geometry *is, size_t run, size_t together)
{
    const size_t word = IPT__WORD_BYTES / problem->unit_bytes;
    return is->anywhere && together == 1 ? ipt__ceil_divide(run + word - 1, word) : run / together;
}

enum { IPT__BOX_AXIS_WORDS = 18 }; /* of an axis in the arguments, with those of its four divisors */

static IPT__RARE ipt_result ipt__launch_box(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__layout *const layout = &to->plan->device->layout;
    const ipt__box_stage *const of = &stage->as.box;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__box_arguments *const a = &launch.arguments.box;
    ipt__box_geometry is;
    cl_uint *axis = &a->length0;
    size_t lengths[IPT_MAX_RANK];
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
    a->source_run = (cl_uint)is.source_run;
    a->target_run = (cl_uint)is.target_run;
    a->source_together = (cl_uint)is.source_together;
    a->target_together = (cl_uint)is.target_together;
    a->source_each = (cl_uint)ipt__box_each(problem, &is, is.source_run, is.source_together);
    a->target_each = (cl_uint)ipt__box_each(problem, &is, is.target_run, is.target_together);
    a->last_steps = (cl_uint)is.last_steps;
    a->apart = (cl_uint)is.apart;
    a->source_runs = (cl_uint)is.source_runs;
    a->target_runs = (cl_uint)is.target_runs;
    a->target_axis = (cl_uint)is.target_axis;
    a->target_piece = (cl_uint)is.target_piece;
    a->target_pieces = (cl_uint)is.target_pieces;
    a->tables = (cl_uint)ipt__box_data_words(problem, &is);
    for (i = 0; i < of->rank; ++i, axis += IPT__BOX_AXIS_WORDS) {
        axis[0] = of->lengths[i];
        axis[1] = of->box[i];
        axis[4] = (cl_uint)ipt__ceil_divide(of->lengths[i], of->box[i]);
        axis[7] = (cl_uint)is.sources[i];
        axis[8] = (cl_uint)is.targets[i];
        axis[11] = (cl_uint)is.places[i];
        axis[12] = (cl_uint)is.source_steps[i];
        axis[15] = (cl_uint)is.target_steps[i];
        a->source_outer |= is.source_steps[i] ? 1u << i : 0;
        a->target_outer |= is.target_steps[i] ? 1u << i : 0;
    }
    for (i = (int)ipt__result_lengths(&problem->desc, lengths) - 1; i >= 0 && stage->apply > 1; --i)
        (&a->result0)[3 * i] = (cl_uint)lengths[i]; /* of three numbers each */
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
    ipt__text_add(out, " units of %zu bytes, runs of %zu before and %zu after, by %zu and %zu%s",
                  plan->problem.unit_bytes, is.source_run, is.target_run, is.source_together, is.target_together,
                  is.crossing == IPT__CROSSING_SQUARE      ? ", in square blocks"
                  : is.crossing == IPT__CROSSING_ROWS_STAY ? ""
                  : is.anywhere                            ? ", in words cut at the ends of runs"
                  : is.crossing                            ? ", in blocks of all channels"
                                                           : "");
    ipt__describe_end(out, stage);
}
#endif
