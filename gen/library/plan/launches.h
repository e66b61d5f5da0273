/* The launches of stages that move elements through local memory, slabs or registers. */

/* Adds the launches of a plan's stage to a list, for one kind of turn and of offsets. */
typedef struct ipt__launcher {
    const ipt_plan *plan;
    ipt__launches *launches;
    size_t matrices, instances; /* of a turn */
    cl_ulong skipped;           /* units of a matrix before the stage's first instance */
    int by_units, by_words;     /* see ipt__launch */
} ipt__launcher;

/* A launch of a kernel whose first buffer is the execution's. */
static ipt__launch ipt__launch_of(const ipt__launcher *to, int kernel)
{
    ipt__launch launch;
    memset(&launch, 0, sizeof launch);
    launch.kernel = kernel;
    launch.by_units = to->by_units;
    launch.by_words = to->by_words;
    launch.matrices = to->matrices;
    launch.instances = to->instances;
    launch.given = 1;
    launch.plan_units = 1;
    return launch;
}

static const ipt__params *ipt__launch_params(const ipt__launcher *to, const ipt__launch *launch)
{
    return &to->plan->kernels[launch->kernel].program->params;
}

static cl_ulong ipt__matrix_stride(const ipt__problem *problem)
{
    return problem->desc.batch_stride / problem->unit_bytes;
}

/* Completes a launch and adds it. */
static IPT__RARE ipt_result ipt__launch_add(ipt__launcher *to, ipt__launch *launch)
{
    cl_ulong *const bases = (cl_ulong *)(void *)&launch->arguments;
    int i;
    if (launch->kernel >= 0) {
        const ipt__program *const program = to->plan->kernels[launch->kernel].program;
        const ipt__kernel_info *const info = &ipt__kernels[program->id];
        for (i = 0; i < 2; ++i)
            if (launch->given >> i & 1)
                bases[i] += to->skipped / launch->plan_units;
        ipt__complete_divisors(info, &program->params, &launch->arguments);
    }
    return ipt__launches_add(&to->plan->context->allocator, to->launches, launch);
}

/* Adds a command that sets bytes of the workspace to 0. */
static IPT__RARE ipt_result ipt__launch_clear(ipt__launcher *to, size_t offset, size_t bytes)
{
    ipt__launch launch = ipt__launch_of(to, -1);
    launch.offset = offset;
    launch.bytes = bytes;
    return ipt__launch_add(to, &launch);
}

/* Completes and adds a tiled transposition. */
static IPT__RARE ipt_result ipt__launch_transpose(ipt__launcher *to, ipt__launch *launch)
{
    ipt__transpose_arguments *const a = &launch->arguments.transpose;
    size_t side, chunk;
    ipt__transpose_tile(&to->plan->problem, a->element_units, 1, &side, &chunk);
    launch->groups = (cl_ulong)ipt__ceil_divide((size_t)a->rows, side) * ipt__ceil_divide((size_t)a->cols, side) *
                     ipt__ceil_divide(a->element_units, chunk) * a->instances_per_matrix * to->matrices;
    launch->bytes = side * (side * chunk + 1) * to->plan->problem.unit_bytes;
    a->tiles_down = (cl_uint)ipt__ceil_divide((size_t)a->rows, side); /* fits if the number of groups does */
    a->tiles_across = (cl_uint)ipt__ceil_divide((size_t)a->cols, side);
    a->chunk_units = (cl_uint)chunk;
    a->chunks = (cl_uint)ipt__ceil_divide(a->element_units, chunk);
    return ipt__launch_add(to, launch);
}

/* Completes and adds a copy of rows, by words if the offsets are aligned. The caller sets row counts, slots and
 * strides; 1 slot a row is a plain copy. */
static IPT__RARE ipt_result ipt__launch_copy(ipt__launcher *to, const ipt__stage *stage, ipt__launch *launch)
{
    ipt__copy_arguments *const a = &launch->arguments.copy;
    const ipt__params *params;
    if (!to->by_units) {
        const cl_ulong units = launch->plan_units = IPT__WORD_BYTES / to->plan->problem.unit_bytes;
        launch->kernel = stage->word_kernel;
        a->source_base /= units;
        a->target_base /= units;
        a->source_matrix_stride /= units;
        a->target_matrix_stride /= units;
        a->source_row_stride /= units;
        a->target_row_stride /= units;
        a->row_units /= units;
    }
    params = ipt__launch_params(to, launch);
    a->chunk_units = (cl_uint)ipt__min((size_t)a->row_units, params->lanes == 1 ? 4096 : 512);
    a->chunks = ipt__ceil_divide((size_t)a->row_units, a->chunk_units);
    a->lines = a->chunks * a->rows * to->matrices;
    launch->groups = ipt__ceil_divide((size_t)a->lines, params->group_size / params->lanes);
    return ipt__launch_add(to, launch);
}

/* Places the rows of a SAVE or RESTORE stage in the matrix, if they have gaps: from its buffer's base on. */
static void ipt__launch_apart(const ipt__stage *stage, ipt__copy_arguments *a, size_t length, int restore)
{
    if (!stage->units_apart)
        return;
    a->rows = stage->rows;
    a->source_row_stride = a->target_row_stride = a->row_units = length;
    *(restore ? &a->target_row_stride : &a->source_row_stride) = stage->units_apart;
    *(restore ? &a->target_base : &a->source_base) = stage->units_before;
}

/* Copies `elements` contiguous elements of each matrix, from `origin` on, to the save area or back. */
static IPT__RARE ipt_result ipt__launch_keep(ipt__launcher *to, const ipt__stage *stage, size_t elements, int restore)
{
    const ipt_plan *const plan = to->plan;
    const cl_ulong units = plan->problem.element_units, saved = plan->layout.saved_units;
    const cl_ulong matrix = ipt__matrix_stride(&plan->problem);
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__copy_arguments *const a = &launch.arguments.copy;
    launch.given = restore ? 2 : 1;
    *(restore ? &a->target_base : &a->source_base) = stage->origin * units;
    a->source_matrix_stride = restore ? saved : matrix;
    a->target_matrix_stride = restore ? matrix : saved;
    a->source_row_slots = a->target_row_slots = 1;
    a->source_row_stride = a->target_row_stride = a->row_units = elements * units;
    a->rows = 1;
    ipt__launch_apart(stage, a, elements * units, restore);
    return ipt__launch_copy(to, stage, &launch);
}

static IPT__RARE ipt_result ipt__launch_save(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt_plan *const plan = to->plan;
    const cl_ulong units = plan->problem.element_units;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__transpose_arguments *const a = &launch.arguments.transpose;
    if (stage->straight)
        return ipt__launch_keep(to, stage, stage->cols, 0);
    a->source_base = stage->origin * units;
    a->source_matrix_stride = ipt__matrix_stride(&plan->problem);
    a->target_matrix_stride = plan->layout.saved_units;
    a->instances_per_matrix = 1;
    a->rows = stage->rows;
    a->cols = stage->cols;
    a->source_row_stride = stage->row_stride * units;
    a->target_row_stride = stage->rows * units;
    a->element_units = (cl_uint)units;
    return ipt__launch_transpose(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_restore(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt_plan *const plan = to->plan;
    const cl_ulong units = plan->problem.element_units;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__copy_arguments *const a = &launch.arguments.copy;
    launch.given = 2;
    a->target_base = stage->origin * units;
    a->source_matrix_stride = plan->layout.saved_units;
    a->target_matrix_stride = ipt__matrix_stride(&plan->problem);
    a->source_row_slots = a->target_row_slots = 1;
    a->source_row_stride = a->row_units = stage->length * units;
    a->target_row_stride = stage->row_stride * units;
    a->rows = stage->rows;
    ipt__launch_apart(stage, a, stage->length * units, 1);
    return ipt__launch_copy(to, stage, &launch);
}

/* Source steps of a TILE stage's elements, see pack.cl. Lengths in units. */
typedef struct ipt__tile_steps {
    size_t rows, run; /* of the result: elements */
    cl_int origin, along, next;
} ipt__tile_steps;

static ipt__tile_steps ipt__tile_steps_of(const ipt__problem *problem, const ipt__stage *stage)
{
    const cl_int units = (cl_int)ipt__stage_units(problem, stage), row = (cl_int)stage->cols * units;
    ipt__tile_steps steps;
    steps.rows = stage->tile.straight ? stage->rows : stage->cols;
    steps.run = stage->tile.straight ? stage->cols : stage->rows;
    steps.along = stage->tile.straight ? units : row;
    steps.next = stage->tile.straight ? row : units;
    steps.origin = 0;
    if (stage->reversed_cols) {
        steps.origin += (cl_int)(steps.run - 1) * steps.along;
        steps.along = -steps.along;
    }
    if (stage->reversed_rows) {
        steps.origin += (cl_int)(steps.rows - 1) * steps.next;
        steps.next = -steps.next;
    }
    return steps;
}

/* The instances that a work-group of kernel pack handles: a few work-groups per compute unit, and whole memory lines
 * per work-group if possible. */
static IPT__RARE size_t ipt__pack_instances(const ipt__problem *problem, const ipt__stage *stage, size_t instances)
{
    const size_t instance = ipt__instance_units(problem, stage);
    const size_t enough = ipt__max(1, ipt__ceil_divide(instances, 8 * ipt__max(1, problem->limits.compute_units)));
    size_t pack = 1, whole = 1;
    while (whole < 128 && whole * instance * problem->unit_bytes % 128 != 0)
        whole *= 2;
    while (pack < enough && ipt__pack_fits(problem, 2 * pack, instance, stage->tile.pack_bytes))
        pack *= 2;
    while (pack > whole && pack < enough && ipt__pack_fits(problem, pack + whole, instance, stage->tile.pack_bytes))
        pack += whole;
    return pack;
}

static IPT__RARE ipt_result ipt__launch_pack(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const size_t units = ipt__stage_units(problem, stage), instance = ipt__instance_units(problem, stage);
    const int back_to_back =
        to->matrices == 1 || problem->desc.batch_stride == stage->instances * instance * problem->unit_bytes;
    const size_t instances = stage->instances * (back_to_back ? to->matrices : 1);
    const size_t matrices = back_to_back ? 1 : to->matrices;
    const size_t pack = ipt__pack_instances(problem, stage, instances * matrices);
    const ipt__tile_steps steps = ipt__tile_steps_of(problem, stage);
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__pack_arguments *const a = &launch.arguments.pack;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->instances = instances;
    a->pack = (cl_uint)pack;
    a->packs = (cl_uint)ipt__ceil_divide(instances, pack);
    a->rows = (cl_uint)steps.rows;
    a->run_elements = (cl_uint)steps.run;
    a->origin = steps.origin;
    a->along = steps.along;
    a->next = steps.next;
    a->table_units = (cl_uint)ipt__pack_table_units(problem, instance);
    a->instance_units = (cl_uint)instance;
    a->row_units = (cl_uint)(steps.run * units);
    a->element_units = (cl_uint)units;
    launch.groups = (cl_ulong)a->packs * matrices;
    return ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_tile(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__limits *const limits = &problem->limits;
    const size_t units = ipt__stage_units(problem, stage), instance = ipt__instance_units(problem, stage);
    const size_t padding = stage->variant ? stage->variant->bank_padding : 0; /* one unit for every 32 */
    const size_t local_units =
        (stage->variant ? limits->local_memory : ipt__local_budget(limits)) / problem->unit_bytes;
    const size_t holds = (padding ? local_units * 32 / 33 : local_units) / instance;
    /* Give each work-item a few units, but keep enough work-groups for small matrices. */
    const size_t wanted = ipt__max(1, 8 * limits->group_size / instance);
    const ipt__tile_steps steps = ipt__tile_steps_of(problem, stage);
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__tile_arguments *const a = &launch.arguments.tile;
    if (stage->tile.pack_bytes)
        return ipt__launch_pack(to, stage);
    a->matrix_stride = ipt__matrix_stride(problem);
    a->instances = (cl_ulong)stage->instances * to->matrices;
    a->instances_per_matrix = stage->instances;
    a->pack = (cl_uint)ipt__max(1, ipt__min(holds, stage->variant ? stage->workers : wanted));
    a->instance_units = (cl_uint)instance;
    a->lanes = stage->variant ? (cl_uint)stage->lanes : 1;
    a->interleaved = stage->variant ? stage->variant->interleaved : 0;
    while (!stage->variant && a->lanes < a->instance_units && a->lanes < ipt__launch_params(to, &launch)->group_size)
        a->lanes *= 2;
    a->origin = steps.origin;
    a->along = steps.along;
    a->next = steps.next;
    a->column_units = (cl_uint)(steps.run * units);
    a->element_units = (cl_uint)units;
    launch.bytes = (a->pack * instance + (padding ? a->pack * instance / 32 : 0)) * problem->unit_bytes;
    launch.groups = ipt__ceil_divide((size_t)a->instances, a->pack);
    return ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_swap(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const size_t units = ipt__stage_units(problem, stage), side = stage->swap.side;
    size_t side_of_two, chunk = 1;
    cl_ulong parts, groups; /* per matrix; in total */
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__swap_arguments *const a = &launch.arguments.swap;
    if (side <= IPT__SMALL_TILE)
        ipt__transpose_tile(problem, units, 2, &side_of_two, &chunk);
    a->tile_vectors = (cl_uint)ipt__tile_vectors(&stage->swap.tile, side);
    a->pitch = (cl_uint)stage->swap.tile.pitch;
    a->skew = (cl_uint)stage->swap.tile.skew;
    a->run_lanes = (cl_uint)stage->swap.tile.run_lanes;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->instance_stride = problem->pitched ? ipt__extent_units(problem) : ipt__instance_units(problem, stage);
    a->instances_per_matrix = (cl_uint)stage->instances;
    a->side = stage->rows;
    a->row_stride = problem->pitched ? ipt__source_row(problem) : stage->cols * units;
    a->tiles = (cl_uint)ipt__ceil_divide(stage->rows, side);
    a->element_units = (cl_uint)units;
    a->chunk_units = (cl_uint)chunk;
    a->chunks = (cl_uint)ipt__ceil_divide(units, chunk);
    parts = (cl_ulong)a->tiles * (a->tiles + 1) / 2 * a->chunks;
    if (stage->swap.places == 4) { /* the tiles of a quarter */
        a->tiles = (cl_uint)ipt__ceil_divide(stage->rows - stage->rows / 2, side);
        parts = (cl_ulong)a->tiles * ipt__ceil_divide(stage->rows / 2, side);
    }
    groups = parts * stage->instances * to->matrices;
    a->turns = a->group_step = a->turn_step = 1;
    if (stage->variant) {
        const int by_block = (int)stage->variant->interleaved;
        if (groups >> 32)
            return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s serves fewer than 2^32 pairs of tiles in all",
                             stage->variant->name);
        a->turns = (cl_uint)(by_block ? groups / parts : parts);
        groups /= a->turns;
        a->group_step = by_block ? 1 : a->turns;
        a->turn_step = by_block ? (cl_uint)groups : 1;
    }
    launch.groups = groups;
    return ipt__launch_add(to, &launch);
}

/* Elements, or pairs of elements, per work-group in kernels that hold no elements. */
static size_t ipt__group_run(const ipt__limits *limits)
{
    return ipt__tunings[limits->cpu].run * (limits->cpu ? 1 : limits->group_size);
}

/* Cuts the lines of a flip into pieces, and returns the number of work-groups of a matrix. A piece is what run_lanes
 * work-items hold, 16 bytes each, less what lies before it in its first word. Single work-items, as on CPUs, hold
 * none. */
static cl_ulong ipt__flip_cut(const ipt__limits *limits, ipt__flip_arguments *a, size_t unit, size_t group_size)
{
    const size_t vector_units = IPT__VECTOR_BYTES / unit, before = ipt__max(1, IPT__WORD_BYTES / unit) - 1,
                 most = group_size * vector_units - before, element = a->element_units, pairs = (size_t)a->line_pairs,
                 lines = ipt__ceil_divide((size_t)a->pairs, pairs);
    size_t lanes = ipt__min(IPT__FLIP_LANES, group_size), each = ipt__max(1, most / element), pieces;
    a->run_lanes = a->parts = 1;
    if (group_size == 1) {
        a->group_pairs = ipt__group_run(limits);
        return ipt__ceil_divide((size_t)a->pairs, (size_t)a->group_pairs);
    }
    each = each < 16 ? each : each / 16 * 16; /* pieces begin as lines do */
    each = ipt__min(each, ipt__round_up(ipt__ceil_divide(pairs, ipt__ceil_divide(pairs, each)), 16)); /* alike */
    pieces = ipt__ceil_divide(pairs, each);
    a->part_units = (cl_uint)ipt__min(most, each * element);
    a->parts = (cl_uint)ipt__ceil_divide(element, most);
    while (lanes < group_size && lanes * vector_units < ipt__min(a->part_units, pairs * element) + before)
        lanes *= 2;
    a->run_lanes = (cl_uint)lanes;
    a->group_pairs = each;
    return (cl_ulong)pieces * a->parts * ipt__ceil_divide(lines, group_size / lanes);
}

static IPT__RARE ipt_result ipt__launch_flip(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    /* Unsigned: a matrix may have more than 2^63 units. Kernels add what is below 0 modulo 2^64. */
    const cl_ulong units = problem->element_units, row = ipt__result_row(problem), rows = stage->rows,
                   last = (stage->cols - 1) * units;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__flip_arguments *const a = &launch.arguments.flip;
    cl_ulong groups;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->pairs = ipt__flip_pairs(stage);
    a->element_units = (cl_uint)units;
    a->line_units = row;
    if (stage->reversed_rows && stage->reversed_cols && !problem->pitched) { /* the whole matrix is one long row */
        a->line_pairs = a->pairs;
        a->partner = (cl_long)(rows * row - units);
        a->partner_step = (cl_long)(0 - units);
    } else if (stage->reversed_rows && stage->reversed_cols) { /* the middle row's line ends in the middle */
        a->line_pairs = stage->cols;
        a->partner = (cl_long)((rows - 1) * row + last);
        a->partner_line = (cl_long)(0 - row);
        a->partner_step = (cl_long)(0 - units);
    } else if (stage->reversed_cols) {
        a->line_pairs = stage->cols / 2;
        a->partner = (cl_long)last;
        a->partner_line = (cl_long)row;
        a->partner_step = (cl_long)(0 - units);
    } else {
        a->line_pairs = stage->cols;
        a->partner = (cl_long)((rows - 1) * row);
        a->partner_line = (cl_long)(0 - row);
        a->partner_step = (cl_long)units;
    }
    groups = ipt__flip_cut(&problem->limits, a, problem->unit_bytes, ipt__launch_params(to, &launch)->group_size);
    a->groups = (cl_uint)groups; /* fits if the number of all does */
    launch.groups = groups * to->matrices;
    return ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_map(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const size_t units = ipt__instance_units(problem, stage);
    const int back_to_back = !problem->pitched && problem->desc.batch_stride == units * problem->unit_bytes;
    const size_t lines = !problem->pitched                           ? 1
                         : ipt__moves[problem->desc.move].transposed ? problem->desc.cols
                                                                     : problem->desc.rows;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__map_arguments *const a = &launch.arguments.map;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->line_stride = ipt__result_row(problem);
    a->lines = lines; /* of a matrix; one line if the batch or the matrix is one sequence */
    a->units = units / lines * (back_to_back ? to->matrices : 1);
    a->group_units = ipt__group_run(&problem->limits);
    a->groups = (cl_uint)ipt__ceil_divide((size_t)a->units, (size_t)a->group_units);
    launch.groups = (cl_ulong)a->groups * lines * (back_to_back ? 1 : to->matrices);
    return ipt__launch_add(to, &launch);
}

/* Transposes instances through slabs of the workspace. The first launch transposes if the target lies on the grid, else
 * the second does. The end of the first launch is the barrier. */
static IPT__RARE ipt_result ipt__launch_wave(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const cl_ulong units = ipt__stage_units(problem, stage), instance = ipt__instance_units(problem, stage);
    const cl_ulong slabs = to->plan->layout.scratch_offset / problem->unit_bytes;
    const size_t rows = stage->gapped_source ? stage->rows : stage->cols;
    const size_t length = stage->gapped_source ? stage->cols : stage->rows;
    ipt__launch transpose = ipt__launch_of(to, stage->kernels[0]), copy = ipt__launch_of(to, stage->kernels[1]);
    ipt__transpose_arguments *const t = &transpose.arguments.transpose;
    ipt__copy_arguments *const c = &copy.arguments.copy;
    ipt_result result;
    transpose.instance_units = instance;
    t->source_instance_stride = t->target_instance_stride = instance;
    t->instances_per_matrix = (cl_uint)to->instances;
    t->rows = stage->rows;
    t->cols = stage->cols;
    t->source_row_stride = stage->cols * units;
    t->target_row_stride = stage->rows * units;
    t->element_units = (cl_uint)units;
    copy.instance_slots = rows;
    c->rows = (cl_ulong)rows * to->instances;
    c->row_units = length * units;
    if (stage->gapped_source) {
        transpose.given = 2;
        c->source_matrix_stride = t->target_matrix_stride = ipt__matrix_stride(problem);
        c->target_matrix_stride = t->source_matrix_stride = instance * to->instances;
        c->target_base = t->source_base = slabs;
        c->source_row_slots = stage->row_slots;
        c->source_row_stride = stage->row_stride * units;
        c->target_row_slots = 1;
        c->target_row_stride = c->row_units;
        result = ipt__launch_copy(to, stage, &copy);
        return result ? result : ipt__launch_transpose(to, &transpose);
    }
    copy.given = 2;
    t->source_matrix_stride = c->target_matrix_stride = ipt__matrix_stride(problem);
    t->target_matrix_stride = c->source_matrix_stride = instance * to->instances;
    t->target_base = c->source_base = slabs;
    c->source_row_slots = 1;
    c->source_row_stride = c->row_units;
    c->target_row_slots = stage->row_slots ? stage->row_slots : 1;
    c->target_row_stride = stage->row_slots ? stage->row_stride * units : c->row_units;
    result = ipt__launch_transpose(to, &transpose);
    return result ? result : ipt__launch_copy(to, stage, &copy);
}

static IPT__RARE ipt_result ipt__launch_panel(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__layout *const layout = &to->plan->layout;
    const ipt__chunks *const chunks = &stage->panel;
    const cl_ulong units = problem->element_units;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__panel_arguments *const a = &launch.arguments.panel;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->matrix_units = (problem->desc.rows - 1) * ipt__source_row(problem) + problem->desc.cols * units;
    a->saved_stride = layout->saved_units;
    a->row_slots = stage->row_slots;
    a->row_stride = problem->pitched ? ipt__result_row(problem) : stage->row_stride * units;
    a->row_distance = problem->pitched ? (cl_uint)ipt__source_row(problem)
                                       : (cl_uint)((chunks->tall ? stage->cols : stage->rows) * units);
    a->control_base = layout->saved_bytes / 4;
    a->clear_base = a->control_base + ipt__round_up(layout->control_words * 4, 256) / 4;
    a->clear_words = (cl_uint)layout->control_words;
    a->flags_base = layout->flags_offset / 4;
    a->alone_base = layout->alone_offset / 4;
    a->waits = chunks->waits;
    a->neighbours = chunks->neighbours;
    a->tickets = (cl_uint)(chunks->across * chunks->down * chunks->ticket_groups * to->matrices);
    a->flag_words = (cl_uint)((layout->alone_offset - layout->flags_offset) / 4);
    a->flag_words_each = (cl_uint)ipt__ceil_divide(a->flag_words, a->tickets);
    a->ticket_groups = (cl_uint)chunks->ticket_groups;
    a->packs = (cl_uint)chunks->packs;
    a->pack = (cl_uint)chunks->pack;
    a->panels = (cl_uint)stage->instances;
    a->length = (cl_uint)(chunks->tall ? stage->rows : stage->cols);
    a->tail_length = (cl_uint)stage->tail_length;
    a->short_side = (cl_uint)(chunks->tall ? stage->cols : stage->rows);
    a->chunk_x = (cl_uint)chunks->x;
    a->chunk_y = (cl_uint)chunks->y;
    a->local_x = (cl_uint)(chunks->held_row ? chunks->local_x : chunks->x);
    a->held_row = (cl_uint)ipt__max(1, chunks->held_row);
    a->across = (cl_uint)chunks->across;
    a->chunks = (cl_uint)(chunks->across * chunks->down);
    a->blocks = (cl_uint)chunks->blocks;
    a->block_rows = (cl_uint)chunks->block_rows;
    a->pitch = (cl_uint)chunks->tile.pitch;
    a->skew = (cl_uint)chunks->tile.skew;
    a->run_lanes = (cl_uint)chunks->tile.run_lanes;
    a->polls = problem->limits.wait_polls;
    a->element_units = (cl_uint)units;
    if (chunks->waits)
        IPT__LAUNCH_WAITS(launch, panel);
    launch.groups = a->tickets;
    return ipt__launch_add(to, &launch);
}
