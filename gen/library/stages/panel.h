/* PANEL stages: cooperative work-groups transpose instances. Each stores a chunk in local memory. */

/* The largest short-side length in elements of a chunk with `y` along the long side; 0: none fits. */
static size_t ipt__chunk_breadth(const ipt__problem *problem, int tall, size_t y)
{
    const size_t size = problem->desc.elem_size, vectors = problem->panel.local_bytes / 16;
    const size_t slack = 16 - problem->unit_bytes; /* bytes of the first vector that a run may not use */
    size_t x = vectors / ((y * size + slack + 15) / 16 + 1);
    if (tall) {
        if (y > IPT__CHUNK_RUNS || vectors / y < 3 || (vectors / y - 1) * 16 < slack + size)
            return 0;
        x = ((vectors / y - 1) * 16 - slack) / size; /* one vector for the skew */
    }
    return ipt__min(x, IPT__CHUNK_RUNS);
}

/* Cuts a PANEL stage's panels of `length` along the long side into chunks within local memory. Returns 0 if that is
 * impossible. */
static int ipt__panel_chunks(const ipt__problem *problem, ipt__stage *stage, size_t length, size_t short_side,
                             size_t panels)
{
    ipt__chunks *const chunks = &stage->as.panel;
    const size_t size = problem->desc.elem_size, vectors = problem->panel.local_bytes / 16;
    const size_t slack = 16 - problem->unit_bytes; /* bytes of the first vector that a run may not use */
    const size_t row = short_side * size, tail = stage->tail_length ? 1 : 0, half = problem->panel.resident / 2;
    chunks->y = length;
    chunks->down = 1;
    chunks->pack = 1;
    chunks->neighbours = stage->tail_length != 0;
    chunks->narrow = (int)problem->panel.narrow;
    /* Work-groups store whole panels. A ticket group has several small ones, but each work-group should get some. */
    if (chunks->narrow) {
        const size_t panel = length * row;
        const size_t fits = chunks->tall
                                ? (vectors - vectors / 9 - 2) * 16 / panel
                                : ipt__min(IPT__CHUNK_RUNS / short_side,
                                           vectors / ((length * size + slack + 15) / 16 * short_side + short_side));
        chunks->pack = ipt__min(ipt__min(fits, panels),
                                ipt__ceil_divide(panels * problem->desc.batch, 2 * problem->panel.resident));
        chunks->x = short_side;
        chunks->across = 1;
    } else {
        /* Short edges cut many sectors: choose a tall chunk close to a square. A split along the long side must gain
         * panel_split, because its chunks share slots. */
        double best = 0;
        size_t down;
        for (down = 1; down <= (chunks->tall ? IPT__MOST_DOWN : 1) && down <= length; ++down) {
            const size_t y = chunks->tall ? ipt__round_up(ipt__ceil_divide(length, down), 8) : length;
            const size_t x = ipt__chunk_breadth(problem, chunks->tall, y);
            const double cut =
                x ? (1 / ipt__real(x) + 1 / ipt__real(y)) * (down > 1 ? ipt__tunings[0].panel_split : 1) : 0;
            if (x && (best == 0 || cut < best)) {
                best = cut;
                chunks->y = ipt__min(y, length);
                chunks->across = ipt__ceil_divide(short_side, x);
                chunks->x = ipt__min(x, ipt__round_up(ipt__ceil_divide(short_side, chunks->across), 8));
            }
        }
        if (best == 0)
            return 0;
        chunks->across = ipt__ceil_divide(short_side, chunks->x);
        chunks->down = ipt__ceil_divide(length, chunks->y);
    }
    /* The last work-group may have to move a panel alone, by whole slots: one slot must fit local memory. */
    if (!chunks->pack || (chunks->neighbours && length * size > problem->panel.local_bytes))
        return 0;
    chunks->packs = ipt__ceil_divide(panels, chunks->pack);
    chunks->ticket_groups = chunks->packs + tail;
    chunks->waits = chunks->across * chunks->down > 1 || chunks->neighbours;
    chunks->tile = ipt__lay_out_tile(problem, problem->panel.group_size, (chunks->tall ? chunks->x : length) * size,
                                     chunks->tall ? row : (chunks->neighbours ? stage->row_stride : length) * size, 1);
    chunks->blocks = 1;
    chunks->block_rows = length;
    if (!chunks->narrow && chunks->tall && chunks->waits && chunks->down == 1) {
        const size_t step = problem->panel.group_size / chunks->tile.run_lanes;
        chunks->block_rows = ipt__round_up(
            ipt__ceil_divide(length, length < IPT__BLOCKS_TALL * IPT__BLOCK_ROWS ? 1 : IPT__BLOCKS_TALL), step);
        chunks->blocks = ipt__ceil_divide(length, chunks->block_rows);
    } else if (!chunks->narrow && !chunks->tall && chunks->waits) {
        chunks->blocks = ipt__min(ipt__min(IPT__BLOCKS_WIDE, chunks->across), ipt__max(1, length / IPT__BLOCK_ROWS));
        chunks->block_rows = length / chunks->blocks;
    }
    return (chunks->across * chunks->down <= half || !chunks->waits) &&
           chunks->across * chunks->down * chunks->ticket_groups < 0x7fffffff / problem->desc.batch;
}

/* Bytes that a work-group of the kernel can store in local memory and registers. */
static size_t ipt__held_bytes(const ipt__cooperative_kernel *kernel)
{
    return kernel->local_bytes + kernel->registers * kernel->group_size * 16;
}

/* Divides a chunk's `x` columns of `y` rows between local memory and registers. Returns 0 if the chunk does not fit. */
static int ipt__chunk_holds(const ipt__problem *problem, ipt__chunks *chunks, size_t step)
{
    const ipt__cooperative_kernel *const kernel = &problem->panel;
    const size_t size = problem->desc.elem_size, vectors = kernel->local_bytes / 16;
    const size_t fits = vectors / chunks->y > 2 ? (vectors / chunks->y - 2) * 16 / size / step * step : 0;
    size_t x = ipt__min(chunks->x, fits + step);
    for (; x; x -= ipt__min(x, step)) {
        chunks->tile = ipt__lay_out_tile(problem, kernel->group_size, x * size,
                                         ipt__source_row(problem) * problem->unit_bytes, ipt__problem_block(problem));
        if (ipt__tile_vectors(&chunks->tile, chunks->y) <= vectors)
            break;
    }
    chunks->local_x = x;
    chunks->held_row = x < chunks->x ? ((chunks->x - x) * size + 31 - problem->unit_bytes) / 16 : 0;
    return x && chunks->held_row <= chunks->tile.pitch &&
           chunks->held_row * chunks->y <= kernel->registers * kernel->group_size;
}

static ipt__control ipt__control_panel(const ipt__problem *problem, const ipt__stage *stage)
{
    const ipt__chunks *const chunks = &stage->as.panel;
    const size_t units =
        ipt__max(ipt__instance_units(problem, stage), problem->pitched ? stage->rows * ipt__source_row(problem) : 0);
    ipt__control control = ipt__control_nothing(problem, stage);
    control.words = IPT__CONTROL_WORDS + chunks->ticket_groups * chunks->blocks * problem->desc.batch;
    control.alone = ipt__max(units / IPT__WINDOWS, (size_t)IPT__WINDOW_UNITS) / 32 + 1;
    return control;
}

/* The second term counts sectors that the edges of a chunk cut, the third one waits between work-groups. */
static IPT__RARE double ipt__cost_panel(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    const ipt__tuning *const model = &ipt__tunings[0];
    const ipt__chunks *const chunks = &stage->as.panel;
    const double size = ipt__real(problem->desc.elem_size), length = ipt__real(ipt__slot_length(stage));
    const double panel = ipt__real(ipt__instance_units(problem, stage)) * ipt__real(problem->unit_bytes);
    const double unread = 1 - model->panel_unread * ipt__real(stage->tail_length) / length;
    const double factor =
        !chunks->waits || chunks->narrow
            ? model->panel + model->narrow_step / (length * size) - (chunks->waits ? 0 : model->no_wait)
            : model->panel +
                  (chunks->tall ? model->tall_cut : model->wide_cut) *
                      (1 / ipt__real(chunks->x) + 1 / ipt__real(chunks->y)) / size +
                  model->panel_wait * panel * unread;
    (void)layout;
    return factor * ipt__batch_bytes(problem);
}

static IPT__RARE ipt_result ipt__kernels_panel(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.index_bits = 32;
    params.tall = (cl_uint)stage->as.panel.tall;
    params.narrow = (cl_uint)stage->as.panel.narrow;
    params.reversed = ipt__reversed_param(stage->reversed_cols, stage->reversed_rows);
    params.local_bytes = (cl_uint)plan->problem.panel.local_bytes;
    params.group_size = (cl_uint)plan->problem.panel.group_size;
    params.by_words = (cl_uint)plan->problem.panel.by_words;
    params.registers = (cl_uint)plan->problem.panel.registers;
    params.pitched = plan->problem.pitched != 0;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_panel, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__launch_panel(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__layout *const layout = &to->plan->device->layout;
    const ipt__chunks *const chunks = &stage->as.panel;
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

static IPT__RARE void ipt__describe_panel(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__chunks *const chunks = &stage->as.panel;
    ipt__describe_grid(out, plan, stage, "panels together");
    if (chunks->across * chunks->down > 1)
        ipt__text_add(out, ", each held by %zu work-groups", chunks->across * chunks->down);
    else
        ipt__text_add(out, ", %zu held by each work-group", chunks->pack);
    ipt__text_add(out, " (chunks of %zu x %zu)", chunks->tall ? chunks->y : chunks->x,
                  chunks->tall ? chunks->x : chunks->y);
    if (chunks->held_row)
        ipt__text_add(out, ", %zu columns of a chunk in registers", chunks->x - chunks->local_x);
    if (stage->tail_length)
        ipt__text_add(out, ", %zu %s %s", stage->tail_length, chunks->tall ? "rows" : "columns",
                      chunks->tall ? "to the workspace first" : "from the workspace last");
    ipt__describe_move(out, plan, stage);
    ipt__describe_end(out, stage);
}
