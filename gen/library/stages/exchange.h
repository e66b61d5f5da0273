/* EXCHANGE stages: transpose a matrix by bands, in waves or by cooperative work-groups. */

static ipt__need ipt__need_exchange(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    ipt__need need = ipt__need_nothing(problem, layout, stage);
    if (!stage->as.bands.together)
        *(stage->as.bands.workers ? &need.stage : &need.instance) =
            stage->as.bands.height * stage->as.bands.cols * problem->desc.elem_size;
    return need;
}

/* Cooperative bands: one word for each position, one for each chunk, and one flag bit for each unit of a band or range,
 * for a single work-group that moves the band. One launch of waves: counters, each in its own cache line. */
static ipt__control ipt__bands_control(const ipt__problem *problem, const ipt__bands *bands)
{
    ipt__control control = {0, 0, 0};
    if (bands->together) {
        control.words = IPT__CONTROL_WORDS + problem->desc.batch * bands->positions * (1 + bands->chunks);
        control.alone =
            ipt__ceil_divide(bands->tall ? bands->height * bands->row_units : bands->width * bands->column_units, 32);
    } else if (bands->workers)
        control.words = 16 * (1 + bands->workers);
    return control;
}

static ipt__control ipt__control_exchange(const ipt__problem *problem, const ipt__stage *stage)
{
    return ipt__bands_control(problem, &stage->as.bands);
}

/* The columns of a block in cooperative bands; 1 if their runs are not whole words. */
static size_t ipt__bands_block(const ipt__problem *problem, int tall, size_t height)
{
    const size_t columns = ipt__problem_block(problem);
    return tall && height % columns == 0 ? columns : 1;
}

/* The part of cooperative bands' cost factor for columns that move one by one. */
static double ipt__columns_factor(const ipt__problem *problem, const ipt__bands *bands)
{
    const ipt__tuning *const model = &ipt__tunings[0];
    const size_t size = problem->desc.elem_size, unit = problem->unit_bytes;
    /* 32 work-items move `turn` units of a run at a time. The first access begins at a multiple of `line` bytes. Both
     * must match IPT_STEPS and IPT_MEMORY_UNITS in parts/runs_held.cl. Runs begin at multiples of the lowest bit of
     * `begins`. */
    const size_t turn = 32 * (unit <= 4 ? (size_t)IPT__RUN_STEPS : 32 / unit),
                 line = ipt__min(IPT__LINE_BYTES, 32 * unit),
                 begins = bands->height * size | bands->column_units * unit,
                 before = (line - ipt__min(line, begins & (~begins + 1))) / unit;
    const size_t turns = ipt__ceil_divide(bands->height * problem->element_units + before, turn);
    const int gapped = bands->height * size % IPT__SECTOR_BYTES || bands->column_units * unit % IPT__SECTOR_BYTES;
    return (bands->tall ? model->together_piece : model->wide_piece) / ipt__real(bands->chunk_width * size) +
           model->together_run / ipt__real(bands->height * size) * (1 + model->together_turn * (ipt__real(turns) - 1)) +
           (gapped ? model->together_gapped : 0);
}

/* The part of cooperative bands' cost factor for columns that move by blocks of words. Runs cut the more sectors, the
 * smaller the largest power of two is that divides their begins. In the last turn of a run some work-items have no
 * word: see ipt_move_block in parts/words.cl. */
static double ipt__words_factor(const ipt__problem *problem, const ipt__bands *bands)
{
    const ipt__tuning *const model = &ipt__tunings[0];
    const size_t run = bands->height * problem->desc.elem_size, units = problem->element_units,
                 begins = run | bands->column_units * problem->unit_bytes,
                 turn = units == 1 ? IPT__WORDS_TURN : IPT__WORDS_TURN_3;
    const double aligned = ipt__real(ipt__min(IPT__SECTOR_BYTES, begins & (~begins + 1)));
    return model->blocks_piece * ipt__real(units) / ipt__real(bands->chunk_width * problem->desc.elem_size) +
           model->blocks_run / ipt__real(run) + model->together_gapped * (1 - aligned / ipt__real(IPT__SECTOR_BYTES)) +
           model->blocks_turn * (ipt__real(ipt__round_up(run, turn)) / ipt__real(run) - 1);
}

/* The cost of bands without their launches. Short runs cost more, as in shuffles. */
static double ipt__bands_cost(const ipt__problem *problem, const ipt__bands *bands)
{
    const ipt__tuning *const model = ipt__tuning_of(&problem->limits);
    const double run = ipt__real(bands->height) * ipt__real(problem->desc.elem_size);
    if (bands->together) {
        const size_t columns = ipt__bands_block(problem, bands->tall, bands->height);
        const double fill = ipt__real(bands->chunks) / ipt__real(problem->exchange.resident);
        const double ranges = ipt__real(bands->chunk_width) / ipt__real(bands->width);
        double factor = model->together +
                        (columns > 1 ? ipt__words_factor(problem, bands) : ipt__columns_factor(problem, bands)) +
                        (fill > model->together_free ? model->together_fill * (fill - model->together_free) : 0) +
                        (bands->tall && ranges > 1 ? model->together_ranges * (ranges - 1) : 0);
        if (columns == 1 && ipt__problem_block(problem) > 1)
            factor *= model->blocks_refused;
        return factor * ipt__batch_bytes(problem);
    }
    return (bands->workers
                ? model->shared + model->shared_step / run
                : model->bands + (problem->element_units == 1 ? 0 : model->bands_units) + model->bands_step / run) *
           ipt__batch_bytes(problem);
}

/* The cost beside other methods. Among bands, short rows of chunks and columns of many ranges cost more than they take
 * in narrow tall matrices. Beside other methods, tall bands cost the time of each band, or what their runs cost. */
static IPT__RARE double ipt__cost_exchange(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    ipt__bands bands = stage->as.bands;
    const double cost = ipt__bands_cost(problem, &bands),
                 each = ipt__tunings[0].together_band * ipt__real(bands.number * problem->desc.batch);
    (void)layout;
    if (!bands.together || !bands.tall || ipt__bands_block(problem, 1, bands.height) > 1)
        return cost;
    bands.width = bands.chunk_width = IPT__CHUNK_RUNS;
    return ipt__min(cost, ipt__max(each, ipt__bands_cost(problem, &bands)));
}

/* The axes that a program of waves has: programs for few numbers of axes, because PoCL compiles each for seconds. */
static cl_uint ipt__walk_axes(const ipt__array *array)
{
    return array->count <= 2 ? (cl_uint)array->count : array->count <= 4 ? 4 : IPT__KERNEL_AXES;
}

static IPT__RARE ipt_result ipt__kernels_exchange(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    ipt_result result;
    params.tall = (cl_uint)stage->as.bands.tall;
    if (stage->as.bands.together) {
        params.reversed = ipt__reversed_param(ipt__reversed_runs(stage), ipt__reversed_columns(stage));
        params.local_bytes = (cl_uint)plan->problem.exchange.local_bytes;
        params.group_size = (cl_uint)plan->problem.exchange.group_size;
        params.by_words = (cl_uint)plan->problem.exchange.by_words;
        params.pitched = plan->problem.pitched != 0;
        params.axes = (cl_uint)plan->problem.array.count;
        params.groups_at_once = ipt__exchange_groups(&params);
        return ipt__plan_kernel_get(plan, IPT__KERNEL_exchange, params, &stage->kernels[0]);
    }
    if (stage->as.bands.workers) {
        params.axes = ipt__permutes_columns(&plan->problem) ? ipt__walk_axes(&plan->problem.array) : 0;
        return ipt__plan_kernel_get(plan, IPT__KERNEL_waves, params, &stage->kernels[0]);
    }
    result = ipt__plan_kernel_get(plan, IPT__KERNEL_transpose, params, &stage->kernels[0]);
    return result ? result : ipt__plan_kernel_get(plan, IPT__KERNEL_runs, params, &stage->kernels[1]);
}

/* The most bands between parking and reading of a run that should stay in the cache. A run with a lag of l bands is
 * parked for l steps. So with IPT__KEPT_BYTES of cache, the longest lag is a share of sqrt(2 * IPT__KEPT_BYTES / bytes)
 * of all bands. */
static cl_uint ipt__bands_kept(const ipt__problem *problem, const ipt__bands *bands)
{
    const double most = 2.0 * ipt__real(IPT__KEPT_BYTES) * ipt__real(bands->number) * ipt__real(bands->number);
    cl_uint kept = 0;
    while (kept < bands->number &&
           (ipt__real(kept) + 1) * (ipt__real(kept) + 1) * ipt__real(problem->matrix_bytes) <= most)
        ++kept;
    return kept;
}

/* The axes of permuted columns: their numbers in the band layout and in the slot layout. */
static void ipt__launch_columns(const ipt__problem *problem, int tall, ipt__exchange_arguments *a)
{
    const ipt__array *const array = &problem->array;
    size_t source = 1, target = 1;
    int i;
    for (i = array->count - 1; i >= 0; --i) {
        cl_uint *const axis = &a->length0 + 3 * i;
        axis[0] = (cl_uint)array->lengths[i];
        axis[tall ? 1 : 2] = (cl_uint)source;
        source *= array->lengths[i];
    }
    for (i = array->count - 1; i >= 0; --i) {
        const int axis = ipt__axis_at(array->goal, i);
        (&a->length0 + 3 * axis)[tall ? 2 : 1] = (cl_uint)target;
        target *= array->lengths[axis];
    }
}

/* One launch for all bands, by work-groups that wait for one another. */
static IPT__RARE ipt_result ipt__launch_together(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__layout *const layout = &to->plan->device->layout;
    const ipt__bands *const bands = &stage->as.bands;
    const cl_ulong units = problem->element_units;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__exchange_arguments *const a = &launch.arguments.exchange;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->matrix_units = ipt__extent_units(problem);
    a->saved_stride = layout->saved_units;
    a->row_stride = (cl_uint)bands->row_units;
    a->column_stride = bands->column_units;
    a->column_units = bands->rows * units;
    a->control_base = layout->saved_bytes / 4;
    a->clear_base = a->control_base + ipt__round_up(layout->control_words * 4, 256) / 4;
    a->alone_base = layout->alone_offset / 4;
    a->clear_words = (cl_uint)layout->control_words;
    a->saved_units = layout->saved_units;
    a->saved_row = problem->pitched ? bands->saved_row : layout->saved_units;
    a->saved_distance = problem->pitched ? bands->saved_distance : layout->saved_units;
    a->saved_origin = bands->saved_origin;
    a->saves_first = (cl_uint)(layout->saved_units && bands->saves_first);
    a->first_band = (cl_uint)(a->saves_first + (!bands->tall && bands->rest_rows));
    a->done_begin = (cl_uint)(IPT__CONTROL_WORDS + bands->positions * to->matrices);
    a->waits = 1;
    a->tickets = (cl_uint)(bands->positions * bands->chunks * to->matrices);
    a->clear_words_each = (cl_uint)ipt__ceil_divide(a->clear_words, a->tickets);
    a->positions = (cl_uint)bands->positions;
    a->chunks = (cl_uint)bands->chunks;
    a->rest_chunks = (cl_uint)bands->rest_chunks;
    a->rest_width = (cl_uint)bands->rest_width;
    a->bands = (cl_uint)bands->number;
    a->from_last = (cl_uint)bands->from_last;
    a->saves_rows = (cl_uint)bands->saves_rows;
    a->height = (cl_uint)bands->height;
    a->run_units = (cl_uint)(bands->height * units);
    a->width = (cl_uint)bands->width;
    a->chunk_width = (cl_uint)bands->chunk_width;
    a->rest_rows = (cl_uint)bands->rest_rows;
    a->short_side = (cl_uint)bands->cols;
    a->kept = ipt__bands_kept(problem, bands);
    a->pitch = (cl_uint)bands->tile.pitch;
    a->skew = (cl_uint)bands->tile.skew;
    a->run_lanes = (cl_uint)bands->tile.run_lanes;
    a->polls = problem->limits.wait_polls;
    a->element_units = (cl_uint)units;
    ipt__launch_columns(problem, bands->tall, a);
    IPT__LAUNCH_WAITS(launch, exchange);
    launch.groups = a->tickets;
    return ipt__launch_add(to, &launch);
}

/* The arguments of a band's steps that kernels `runs` and `waves` have in common. */
static IPT__RARE ipt__runs_arguments ipt__bands_arguments(const ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__bands *const bands = &stage->as.bands;
    const cl_ulong units = problem->element_units;
    ipt__runs_arguments arguments, *const a = &arguments;
    memset(a, 0, sizeof *a);
    a->slab_base = to->plan->device->layout.scratch_offset / problem->unit_bytes;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->saved_stride = to->plan->device->layout.saved_units;
    a->column_stride = bands->column_units;
    a->column_units = bands->rows * units;
    a->saved_column_stride = bands->rows * units;
    a->rest_begin = bands->number * bands->height * bands->row_units;
    a->rest_row_stride = bands->saves_rows ? bands->cols * units : bands->row_units;
    a->run_units = bands->height * units;
    a->bands = (cl_uint)bands->number;
    a->from_last = (cl_uint)bands->from_last;
    a->saves_rows = (cl_uint)bands->saves_rows;
    a->width = (cl_uint)bands->width;
    a->height = (cl_uint)bands->height;
    a->rest_rows = (cl_uint)bands->rest_rows;
    a->short_side = (cl_uint)bands->cols;
    a->reversed_runs = (cl_uint)ipt__reversed_runs(stage);
    a->reversed_columns = (cl_uint)ipt__reversed_columns(stage);
    a->element_units = (cl_uint)units;
    return arguments;
}

/* The axes of permuted columns, in the sequence of the band layout from its last one on; then axes of one element. */
static void ipt__launch_walk(const ipt__array *array, int tall, ipt__waves_arguments *a)
{
    int place, i;
    for (place = 0; place < IPT__KERNEL_AXES; ++place) {
        const int last = array->count - 1 - place, axis = tall || last < 0 ? last : ipt__axis_at(array->goal, last);
        cl_uint *const length = &a->length0 + 2 * place, *const step = length + 1;
        *length = last < 0 ? 1 : (cl_uint)array->lengths[axis];
        *step = 1;
        for (i = 0; last >= 0 && i < array->count; ++i)
            if (tall ? array->goal[i] > array->goal[axis] : i > axis)
                *step *= (cl_uint)array->lengths[i];
    }
}

/* One launch for all bands of all matrices, by work-groups that share each step. Stripes are whole tiles. */
static IPT__RARE ipt_result ipt__launch_waves(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__layout *const layout = &to->plan->device->layout;
    const ipt__bands *const bands = &stage->as.bands;
    const size_t tile = IPT__WAVES_COLUMNS, run = bands->height * problem->desc.elem_size;
    const ipt__runs_arguments shared = ipt__bands_arguments(to, stage);
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__waves_arguments *const a = &launch.arguments.waves;
#define IPT__COPY_FIELD(type, name) a->name = shared.name;
#define IPT__COPY_DIVISOR(bits, name) a->name = shared.name;
    IPT_BANDS_ARGUMENTS(IPT__COPY_FIELD, IPT__COPY_DIVISOR)
    a->row_units = bands->row_units;
    a->control_base = layout->saved_bytes / 4;
    a->clear_base = a->control_base + ipt__round_up(layout->control_words * 4, 256) / 4;
    a->clear_words = (cl_uint)layout->control_words;
    a->batch = (cl_uint)to->matrices;
    a->stripes = (cl_uint)bands->workers;
    a->stripe_columns = (cl_uint)ipt__round_up(ipt__ceil_divide(bands->cols, bands->workers), tile);
    a->piece_columns =
        (cl_uint)ipt__min(a->stripe_columns, ipt__max(tile, ipt__tunings[1].waves_piece / run / tile * tile));
    a->pieces = (cl_uint)ipt__ceil_divide(a->stripe_columns, a->piece_columns);
    a->polls = problem->limits.wait_polls;
    if (ipt__permutes_columns(problem))
        ipt__launch_walk(&problem->array, bands->tall, a);
    IPT__LAUNCH_WAITS(launch, waves);
    launch.groups = bands->workers;
    return ipt__launch_add(to, &launch);
}

/* Reads a band into a slab and moves its runs (tall), or gathers them in the slab and writes the band (wide). */
static IPT__RARE ipt_result ipt__launch_exchange(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__limits *const limits = &problem->limits;
    const ipt__bands *const bands = &stage->as.bands;
    const cl_ulong units = problem->element_units, band = (cl_ulong)bands->height * bands->cols * units;
    const cl_ulong slabs = to->plan->device->layout.scratch_offset / problem->unit_bytes;
    const size_t group_bytes = ipt__tuning_of(limits)->move_bytes;
    ipt__launch transpose = ipt__launch_of(to, stage->kernels[0]), move = ipt__launch_of(to, stage->kernels[1]);
    ipt__transpose_arguments *const t = &transpose.arguments.transpose;
    ipt__runs_arguments *const a = &move.arguments.runs;
    ipt_result result;
    if (bands->together)
        return ipt__launch_together(to, stage);
    if (bands->workers)
        return ipt__launch_waves(to, stage);
    transpose.given = bands->tall ? 1 : 2;
    transpose.instance_units = (cl_ulong)bands->height * bands->row_units;
    *(bands->tall ? &t->target_base : &t->source_base) = slabs;
    t->source_matrix_stride = bands->tall ? ipt__matrix_stride(problem) : band;
    t->target_matrix_stride = bands->tall ? band : ipt__matrix_stride(problem);
    t->instances_per_matrix = 1;
    t->rows = bands->tall ? bands->height : bands->cols;
    t->cols = bands->tall ? bands->cols : bands->height;
    t->source_row_stride = t->cols * units;
    t->target_row_stride = t->rows * units;
    *(bands->tall ? &t->source_row_stride : &t->target_row_stride) = bands->row_units;
    t->element_units = (cl_uint)units;
    if (ipt__reversed_runs(stage)) { /* begin with the band's last row */
        cl_ulong *const begin = bands->tall ? &t->source_base : &t->target_base, *const stride =
                                                                                     bands->tall
                                                                                         ? &t->source_row_stride
                                                                                         : &t->target_row_stride;
        *begin += (cl_ulong)(bands->height - 1) * *stride;
        *stride = 0 - *stride;
    }
    *a = ipt__bands_arguments(to, stage);
    a->slab_stride = band;
    a->chunk_units = ipt__min((size_t)a->run_units, group_bytes / problem->unit_bytes);
    a->chunks = (cl_uint)ipt__ceil_divide((size_t)a->run_units, (size_t)a->chunk_units);
    a->block_runs = (cl_uint)ipt__max(1, group_bytes / ((size_t)a->chunk_units * problem->unit_bytes));
    a->blocks = (cl_uint)ipt__ceil_divide(bands->cols, a->block_runs);
    move.groups = (cl_ulong)a->chunks * a->blocks * to->matrices;
    if (!bands->tall) {
        result = ipt__launch_add(to, &move);
        return result ? result : ipt__launch_transpose(to, &transpose);
    }
    result = ipt__launch_transpose(to, &transpose);
    return result ? result : ipt__launch_add(to, &move);
}

static IPT__RARE void ipt__describe_exchange(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__bands *const bands = &stage->as.bands;
    ipt__text_add(out, "exchange: %zu bands of %zu %s, ranges of %zu %s, runs of %zu bytes, %zu and %zu left over",
                  bands->number, bands->height, bands->tall ? "rows" : "columns", bands->width,
                  bands->tall ? "columns" : "rows", bands->height * plan->problem.desc.elem_size, bands->rest_rows,
                  bands->rest_cols);
    if (bands->together)
        ipt__text_add(out, ", each by %zu work-groups together", bands->chunks);
    if (bands->workers)
        ipt__text_add(out, ", all by %zu work-groups in one launch", bands->workers);
    if (ipt__permutes_columns(&plan->problem))
        ipt__text_add(out, ", %s permuted", bands->tall ? "columns" : "rows");
    ipt__describe_move(out, plan, stage);
    ipt__describe_end(out, stage);
}
