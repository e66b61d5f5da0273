/* Running stages. */

/* The buffer of a stage, with the units before its first matrix and between matrices. */
typedef struct ipt__place {
    cl_mem buffer;
    cl_ulong base, matrix_stride;
} ipt__place;

static ipt_result ipt__run_save(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const cl_ulong units = run->plan->problem.element_units;
    ipt__transpose_arguments a;
    memset(&a, 0, sizeof a);
    a.source_base = place->base + stage->origin * units;
    a.source_matrix_stride = place->matrix_stride;
    a.target_matrix_stride = run->plan->layout.saved_elements * units;
    a.instances_per_matrix = 1;
    a.rows = stage->rows;
    a.cols = stage->cols;
    a.source_row_stride = stage->row_stride * units;
    a.target_row_stride = stage->rows * units;
    a.element_units = (cl_uint)units;
    return ipt__run_transpose(run, stage->kernels[0], place->buffer, run->plan->workspace->buffer, &a,
                              run->plan->problem.desc.batch);
}

static ipt_result ipt__run_restore(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const cl_ulong units = run->plan->problem.element_units;
    ipt__copy_arguments a;
    memset(&a, 0, sizeof a);
    a.target_base = place->base + stage->origin * units;
    a.source_matrix_stride = run->plan->layout.saved_elements * units;
    a.target_matrix_stride = place->matrix_stride;
    a.source_row_slots = a.target_row_slots = 1;
    a.source_row_stride = a.row_units = stage->length * units;
    a.target_row_stride = stage->row_stride * units;
    a.rows = stage->rows;
    return ipt__run_copy(run, stage, stage->kernels[0], run->plan->workspace->buffer, place->buffer, &a,
                         run->plan->problem.desc.batch);
}

/* Source steps of a TILE stage's elements, see pack.cl. Lengths in units. */
typedef struct ipt__tile_steps {
    size_t rows, run; /* of the result: elements */
    cl_int origin, along, next;
} ipt__tile_steps;

static ipt__tile_steps ipt__tile_steps_of(const ipt_plan *plan, const ipt__stage *stage)
{
    const cl_int units = (cl_int)ipt__stage_units(&plan->problem, stage), row = (cl_int)stage->cols * units;
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

static ipt_result ipt__run_pack(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const size_t units = ipt__stage_units(&plan->problem, stage), instance = ipt__instance_units(&plan->problem, stage);
    const int back_to_back = plan->problem.desc.batch == 1 ||
                             plan->problem.desc.batch_stride == stage->instances * instance * plan->problem.unit_bytes;
    const size_t instances = stage->instances * (back_to_back ? plan->problem.desc.batch : 1);
    const size_t matrices = back_to_back ? 1 : plan->problem.desc.batch;
    /* A few work-groups per compute unit, and whole memory lines per work-group if possible. */
    const size_t enough =
        ipt__max(1, ipt__ceil_divide(instances * matrices, 8 * ipt__max(1, plan->context->limits.compute_units)));
    const ipt__tile_steps steps = ipt__tile_steps_of(plan, stage);
    size_t pack = 1, whole = 1;
    ipt__pack_arguments a;
    while (whole < 128 && whole * instance * plan->problem.unit_bytes % 128 != 0)
        whole *= 2;
    while (pack < enough && ipt__pack_fits(&plan->problem, 2 * pack * instance, stage->tile.pack_bytes))
        pack *= 2;
    while (pack > whole && pack < enough &&
           ipt__pack_fits(&plan->problem, (pack + whole) * instance, stage->tile.pack_bytes))
        pack += whole;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.instances = instances;
    a.pack = (cl_uint)pack;
    a.packs = (cl_uint)ipt__ceil_divide(instances, pack);
    a.rows = (cl_uint)steps.rows;
    a.run_elements = (cl_uint)steps.run;
    a.origin = steps.origin;
    a.along = steps.along;
    a.next = steps.next;
    a.instance_units = (cl_uint)instance;
    a.row_units = (cl_uint)(steps.run * units);
    a.element_units = (cl_uint)units;
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL, 0, &a, (cl_ulong)a.packs * matrices);
}

static ipt_result ipt__run_tile(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const size_t units = ipt__stage_units(&plan->problem, stage), instance = ipt__instance_units(&plan->problem, stage);
    const size_t padding = stage->variant ? stage->variant->bank_padding : 0; /* one unit for every 32 */
    const size_t local_units =
        (stage->variant ? plan->context->limits.local_memory : ipt__local_budget(&plan->context->limits)) /
        plan->problem.unit_bytes;
    const size_t holds = (padding ? local_units * 32 / 33 : local_units) / instance;
    /* Give each work-item a few units, but keep enough work-groups for small matrices. */
    const size_t wanted = ipt__max(1, 8 * plan->context->limits.group_size / instance);
    const ipt__tile_steps steps = ipt__tile_steps_of(plan, stage);
    ipt__tile_arguments a;
    if (stage->tile.pack_bytes)
        return ipt__run_pack(run, stage, place);
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.instances = (cl_ulong)stage->instances * plan->problem.desc.batch;
    a.instances_per_matrix = stage->instances;
    a.pack = (cl_uint)ipt__max(1, ipt__min(holds, stage->variant ? stage->workers : wanted));
    a.instance_units = (cl_uint)instance;
    a.lanes = stage->variant ? (cl_uint)stage->lanes : 1;
    a.interleaved = stage->variant ? stage->variant->interleaved : 0;
    while (!stage->variant && a.lanes < a.instance_units &&
           a.lanes < plan->kernels[stage->kernels[0]].program->params.group_size)
        a.lanes *= 2;
    a.origin = steps.origin;
    a.along = steps.along;
    a.next = steps.next;
    a.column_units = (cl_uint)(steps.run * units);
    a.element_units = (cl_uint)units;
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL,
                           (a.pack * instance + (padding ? a.pack * instance / 32 : 0)) * plan->problem.unit_bytes, &a,
                           ipt__ceil_divide((size_t)a.instances, a.pack));
}

static ipt_result ipt__run_swap(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const size_t units = ipt__stage_units(&plan->problem, stage);
    const size_t side = stage->swap.side;
    size_t small, chunk = 1;
    cl_ulong parts, groups; /* per matrix; in total */
    ipt__swap_arguments a;
    memset(&a, 0, sizeof a);
    if (side <= 32)
        ipt__transpose_tile(&plan->problem, units, 2, &small, &chunk);
    a.tile_vectors = (cl_uint)ipt__tile_vectors(&stage->swap.tile, side);
    a.pitch = (cl_uint)stage->swap.tile.pitch;
    a.skew = (cl_uint)stage->swap.tile.skew;
    a.run_lanes = (cl_uint)stage->swap.tile.run_lanes;
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.instance_stride = ipt__instance_units(&plan->problem, stage);
    a.instances_per_matrix = (cl_uint)stage->instances;
    a.side = stage->rows;
    a.row_stride = stage->cols * units;
    a.tiles = (cl_uint)ipt__ceil_divide(stage->rows, side);
    a.element_units = (cl_uint)units;
    a.chunk_units = (cl_uint)chunk;
    a.chunks = (cl_uint)ipt__ceil_divide(units, chunk);
    parts = (cl_ulong)a.tiles * (a.tiles + 1) / 2 * a.chunks;
    groups = parts * stage->instances * plan->problem.desc.batch;
    a.turns = a.group_step = a.turn_step = 1;
    if (stage->variant) {
        const int by_block = (int)stage->variant->interleaved;
        if (groups >> 32)
            return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s serves fewer than 2^32 pairs of tiles in all",
                             stage->variant->name);
        a.turns = (cl_uint)(by_block ? groups / parts : parts);
        groups /= a.turns;
        a.group_step = by_block ? 1 : a.turns;
        a.turn_step = by_block ? (cl_uint)groups : 1;
    }
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL, 0, &a, groups);
}

/* Elements, or pairs of elements, per work-group in kernels that hold no elements. */
static size_t ipt__group_run(const ipt__limits *limits)
{
    return ipt__tunings[limits->cpu].run * (limits->cpu ? 1 : limits->group_size);
}

static ipt_result ipt__run_flip(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const cl_long units = (cl_long)plan->problem.element_units, row = (cl_long)stage->cols * units;
    ipt__flip_arguments a;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.pairs = ipt__flip_pairs(stage);
    a.element_units = (cl_uint)units;
    a.line_units = (cl_ulong)row;
    if (stage->reversed_rows && stage->reversed_cols) { /* the whole matrix is one long row */
        a.line_pairs = a.pairs;
        a.partner = (cl_long)stage->rows * row - units;
        a.partner_step = -units;
    } else if (stage->reversed_cols) {
        a.line_pairs = stage->cols / 2;
        a.partner = row - units;
        a.partner_line = row;
        a.partner_step = -units;
    } else {
        a.line_pairs = stage->cols;
        a.partner = (cl_long)(stage->rows - 1) * row;
        a.partner_line = -row;
        a.partner_step = units;
    }
    a.group_pairs = ipt__group_run(&plan->context->limits);
    a.groups = (cl_uint)ipt__ceil_divide((size_t)a.pairs, (size_t)a.group_pairs);
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL, 0, &a,
                           (cl_ulong)a.groups * plan->problem.desc.batch);
}

static ipt_result ipt__run_map(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const size_t units = ipt__instance_units(&plan->problem, stage);
    const int back_to_back =
        plan->problem.desc.batch_stride == units * plan->problem.unit_bytes; /* the batch is one sequence */
    ipt__map_arguments a;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.units = units * (back_to_back ? plan->problem.desc.batch : 1);
    a.group_units = ipt__group_run(&plan->context->limits);
    a.groups = (cl_uint)ipt__ceil_divide((size_t)a.units, (size_t)a.group_units);
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL, 0, &a,
                           (cl_ulong)a.groups * (back_to_back ? 1 : plan->problem.desc.batch));
}

/* Transposes `count` instances from `first` on, of `matrices` matrices, through slabs. The first launch transposes if
 * the target lies on the grid, else the second does. The end of the first launch is the barrier. */
static ipt_result ipt__run_wave(ipt__run *run, const ipt__stage *stage, const ipt__place *place, size_t first,
                                size_t count, size_t matrices)
{
    const ipt_plan *const plan = run->plan;
    const cl_ulong units = ipt__stage_units(&plan->problem, stage),
                   instance = ipt__instance_units(&plan->problem, stage);
    const cl_ulong slabs = plan->layout.scratch_offset / plan->problem.unit_bytes;
    const size_t rows = stage->gapped_source ? stage->rows : stage->cols;
    const size_t length = stage->gapped_source ? stage->cols : stage->rows;
    ipt__transpose_arguments t;
    ipt__copy_arguments c;
    ipt_result result;
    memset(&t, 0, sizeof t);
    memset(&c, 0, sizeof c);
    t.source_instance_stride = t.target_instance_stride = instance;
    t.instances_per_matrix = (cl_uint)count;
    t.rows = stage->rows;
    t.cols = stage->cols;
    t.source_row_stride = stage->cols * units;
    t.target_row_stride = stage->rows * units;
    t.element_units = (cl_uint)units;
    c.rows = (cl_ulong)rows * count;
    c.row_units = length * units;
    if (stage->gapped_source) {
        c.source_base = place->base;
        c.source_matrix_stride = place->matrix_stride;
        c.source_first = (cl_ulong)first * rows;
        c.source_row_slots = stage->row_slots;
        c.source_row_stride = stage->row_stride * units;
        c.target_base = slabs;
        c.target_matrix_stride = instance * count;
        c.target_row_slots = 1;
        c.target_row_stride = c.row_units;
        t.source_base = slabs;
        t.source_matrix_stride = instance * count;
        t.target_base = place->base + first * instance;
        t.target_matrix_stride = place->matrix_stride;
        result = ipt__run_copy(run, stage, stage->kernels[1], place->buffer, plan->workspace->buffer, &c, matrices);
        return result
                   ? result
                   : ipt__run_transpose(run, stage->kernels[0], plan->workspace->buffer, place->buffer, &t, matrices);
    }
    t.source_base = place->base + first * instance;
    t.source_matrix_stride = place->matrix_stride;
    t.target_base = slabs;
    t.target_matrix_stride = instance * count;
    c.source_base = slabs;
    c.source_matrix_stride = instance * count;
    c.source_row_slots = 1;
    c.source_row_stride = c.row_units;
    c.target_base = place->base;
    c.target_matrix_stride = place->matrix_stride;
    c.target_first = (cl_ulong)first * rows;
    c.target_row_slots = stage->row_slots ? stage->row_slots : 1;
    c.target_row_stride = stage->row_slots ? stage->row_stride * units : c.row_units;
    result = ipt__run_transpose(run, stage->kernels[0], place->buffer, plan->workspace->buffer, &t, matrices);
    return result ? result
                  : ipt__run_copy(run, stage, stage->kernels[1], plan->workspace->buffer, place->buffer, &c, matrices);
}

static ipt_result ipt__run_clear(ipt__run *run, size_t offset, size_t bytes)
{
    const cl_uint zero = 0;
    cl_event event = NULL;
    const cl_int error = ipt__cl.clEnqueueFillBuffer(run->queue, run->plan->workspace->buffer, &zero, sizeof zero,
                                                     offset, bytes, run->wait_count, run->wait, &event);
    return ipt__run_took(run, "clEnqueueFillBuffer", error, event);
}

/* True if the queue itself orders later commands after `event`. */
static int ipt__queue_follows(cl_command_queue queue, cl_event event)
{
    cl_command_queue of_event = NULL;
    cl_command_queue_properties properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    return !ipt__cl.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof of_event, &of_event, NULL) &&
           of_event == queue &&
           !ipt__cl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) &&
           !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/* Enqueues a cooperative kernel after the context's previous one. Two such kernels on one device could deadlock: each
 * might hold compute units that the other needs. */
static ipt_result ipt__run_cooperative(ipt__run *run, int kernel, cl_mem buffer, void *arguments, cl_ulong groups)
{
    ipt_context *const context = run->plan->context;
    cl_event both[2] = {NULL, NULL};
    cl_int status = CL_COMPLETE;
    ipt_result result = IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&context->cooperative_lock);
    if (context->cooperative_last &&
        (ipt__cl.clGetEventInfo(context->cooperative_last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                NULL) ||
         status <= CL_COMPLETE)) {
        ipt__cl.clReleaseEvent(context->cooperative_last);
        context->cooperative_last = NULL;
    }
    if (context->cooperative_last && !ipt__queue_follows(run->queue, context->cooperative_last)) {
        if (run->wait_count > 1) {
            cl_event marker = NULL;
            const cl_int error = ipt__cl.clEnqueueMarkerWithWaitList(run->queue, run->wait_count, run->wait, &marker);
            result = ipt__run_took(run, "clEnqueueMarkerWithWaitList", error, marker);
        }
        both[0] = context->cooperative_last;
        if (run->wait_count)
            both[1] = run->wait[0];
        run->wait = both;
        ++run->wait_count;
    }
    if (!result)
        result = ipt__run_kernel(run, kernel, buffer, run->plan->workspace->buffer, 0, arguments, groups);
    if (!result) {
        if (context->cooperative_last)
            ipt__cl.clReleaseEvent(context->cooperative_last);
        context->cooperative_last = run->previous;
        if (ipt__cl.clRetainEvent(run->previous)) { /* later launches cannot wait for this event: wait here */
            ipt__cl.clWaitForEvents(1, &run->previous);
            context->cooperative_last = NULL;
        }
    }
    IPT_LOCK_RELEASE(&context->cooperative_lock);
    return result;
}

static ipt_result ipt__run_panel(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    ipt_plan *const plan = run->plan;
    const ipt__layout *const layout = &plan->layout;
    const ipt__chunks *const chunks = &stage->panel;
    const cl_ulong units = plan->problem.element_units;
    const size_t control_stride = ipt__round_up(layout->control_words * 4, 256) / 4;
    ipt_result result;
    ipt__panel_arguments a;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.matrix_units = (cl_ulong)plan->problem.desc.rows * plan->problem.desc.cols * units;
    a.saved_stride = layout->saved_elements * units;
    a.row_slots = stage->row_slots;
    a.row_stride = stage->row_stride * units;
    a.control_base = layout->saved_bytes / 4 + (size_t)plan->turn * control_stride;
    a.clear_base = layout->saved_bytes / 4 + (size_t)!plan->turn * control_stride;
    a.clear_words = (cl_uint)layout->control_words;
    a.flags_base = layout->flags_offset / 4;
    a.alone_base = layout->alone_offset / 4;
    a.waits = chunks->waits;
    a.neighbours = chunks->neighbours;
    a.tickets = (cl_uint)(chunks->across * chunks->down * chunks->ticket_groups * plan->problem.desc.batch);
    a.flag_words = (cl_uint)((layout->alone_offset - layout->flags_offset) / 4);
    a.flag_words_each = (cl_uint)ipt__ceil_divide(a.flag_words, a.tickets);
    a.ticket_groups = (cl_uint)chunks->ticket_groups;
    a.packs = (cl_uint)chunks->packs;
    a.pack = (cl_uint)chunks->pack;
    a.panels = (cl_uint)stage->instances;
    a.length = (cl_uint)(chunks->tall ? stage->rows : stage->cols);
    a.tail_length = (cl_uint)stage->tail_length;
    a.short_side = (cl_uint)(chunks->tall ? stage->cols : stage->rows);
    a.chunk_x = (cl_uint)chunks->x;
    a.chunk_y = (cl_uint)chunks->y;
    a.across = (cl_uint)chunks->across;
    a.chunks = (cl_uint)(chunks->across * chunks->down);
    a.blocks = (cl_uint)chunks->blocks;
    a.block_rows = (cl_uint)chunks->block_rows;
    a.pitch = (cl_uint)chunks->tile.pitch;
    a.skew = (cl_uint)chunks->tile.skew;
    a.run_lanes = (cl_uint)chunks->tile.run_lanes;
    a.polls = plan->context->limits.wait_polls;
    a.element_units = (cl_uint)units;
    if (!chunks->waits)
        return ipt__run_kernel(run, stage->kernels[0], place->buffer, plan->workspace->buffer, 0, &a, a.tickets);
    result = ipt__run_cooperative(run, stage->kernels[0], place->buffer, &a, a.tickets);
    if (!result)
        plan->turn = !plan->turn;
    return result;
}

static ipt_result ipt__run_chains(ipt__run *run, const ipt__stage *stage, const ipt__place *place, size_t first,
                                  size_t count, size_t matrices)
{
    const ipt_plan *const plan = run->plan;
    const ipt__layout *const layout = &plan->layout;
    const size_t word_units = IPT__WORD_BYTES / plan->problem.unit_bytes;
    const int words = stage->by_words && !run->unaligned && place->base % word_units == 0;
    const size_t scale = words ? word_units : 1; /* the plan's units in one of the kernel's units */
    const int kernel = words ? stage->word_kernel : stage->kernels[0];
    const ipt__params *const params = &plan->kernels[kernel].program->params;
    const size_t element_units = plan->problem.element_units, units = stage->length * element_units;
    const size_t sub_groups = params->group_size / params->lanes;
    size_t most, runs;
    ipt__chains_arguments a;
    memset(&a, 0, sizeof a);
    a.instance_stride = stage->rows * stage->cols * units / scale;
    a.base = place->base / scale + first * a.instance_stride;
    a.matrix_stride = place->matrix_stride / scale;
    a.matrix_units = (plan->problem.matrix_bytes / plan->problem.unit_bytes - run->skipped) / scale -
                     first * (size_t)a.instance_stride;
    a.instances_per_matrix = count;
    a.flags_base = (layout->cooperative ? layout->flags_offset : layout->scratch_offset) / 4;
    a.slots = (cl_ulong)stage->rows * stage->cols;
    a.words = ipt__ceil_divide((size_t)a.slots, 32);
    a.pieces = stage->shuffle.pieces;
    a.piece_units = (cl_uint)(stage->shuffle.piece_units / scale);
    a.total_words = a.words * a.pieces * count * matrices;
    a.rows = stage->rows;
    a.cols = stage->cols;
    a.row_slots = stage->row_slots ? stage->row_slots : 1;
    a.row_stride = (stage->row_slots ? stage->row_stride * element_units : units) / scale;
    a.super_units = units / scale;
    if (stage->tail_length) {
        a.gap_rows_each = ipt__min(plan->problem.desc.rows, plan->problem.desc.cols);
        a.gap_rows = a.gap_rows_each * matrices;
        a.gap_begin = stage->row_slots * units / scale;
        a.gap_units = (cl_uint)(stage->tail_length * element_units / scale);
        a.gap_restore = (cl_uint)stage->shuffle.gap_restore;
        a.saved_stride = layout->saved_elements * element_units / scale;
    }
    if (!layout->cooperative) {
        const ipt_result result = ipt__run_clear(run, layout->scratch_offset, (size_t)a.total_words * 4);
        if (result)
            return result;
    }
    /* One sub-group for each that the device runs at once, limited by the number of start slots. */
    most = plan->context->limits.compute_units *
           ipt__min(48, ipt__max(8, IPT__UNIT_BYTES / (32 * stage->shuffle.piece_vectors * params->chains)));
    a.words_each = ipt__ceil_divide((size_t)a.total_words, most);
    runs = ipt__ceil_divide((size_t)a.total_words, (size_t)a.words_each);
    for (a.parts = 1; a.parts < 8 && 2 * a.parts * runs <= most;)
        a.parts *= 2;
    return ipt__run_kernel(run, kernel, place->buffer, plan->workspace->buffer, 0, &a,
                           ipt__ceil_divide(runs * a.parts, sub_groups));
}
