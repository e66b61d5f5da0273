/* Needs of stages and assembly of a layout. */

/* Local memory that a group of these kernels may use. */
static size_t ipt__local_budget(const ipt__limits *limits)
{
    return ipt__min(limits->local_memory, ipt__tunings[limits->cpu].tile_bytes);
}

static size_t ipt__stage_units(const ipt_plan *plan, const ipt__stage *stage)
{
    return stage->length * plan->element_units;
}

static size_t ipt__instance_units(const ipt_plan *plan, const ipt__stage *stage)
{
    return stage->rows * stage->cols * ipt__stage_units(plan, stage);
}

/* Elements of a slot on the grid of a stage. */
static size_t ipt__slot_length(const ipt__stage *stage)
{
    if (stage->kind != IPT__STAGE_WAVE && stage->kind != IPT__STAGE_PANEL)
        return stage->length;
    return stage->gapped_source ? stage->cols : stage->rows;
}

/* True if all runs of a stage begin and end at words whenever the batch begins at a word. */
static int ipt__stage_by_words(const ipt_plan *plan, const ipt__stage *stage)
{
    const size_t size = plan->desc.elem_size;
    const size_t run = ipt__slot_length(stage) * (stage->kind == IPT__STAGE_WAVE ? stage->length : 1) * size;
    if (plan->unit_bytes >= IPT__WORD_BYTES || stage->inner_rows ||
        (stage->kind != IPT__STAGE_SHUFFLE && stage->kind != IPT__STAGE_WAVE && stage->kind != IPT__STAGE_RESTORE))
        return 0;
    return run % IPT__WORD_BYTES == 0 && stage->row_stride * size % IPT__WORD_BYTES == 0 &&
           stage->origin * size % IPT__WORD_BYTES == 0 &&
           (plan->desc.batch == 1 || plan->desc.batch_stride % IPT__WORD_BYTES == 0);
}

static size_t ipt__word_flags(const ipt_plan *plan, const ipt__stage *stage)
{
    return stage->variant && plan->desc.flag_spread ? 32 / plan->desc.flag_spread : 32;
}

/* Flag bytes of one instance of a shuffle. */
static size_t ipt__flag_bytes(const ipt_plan *plan, const ipt__stage *stage)
{
    return ipt__ceil_divide(stage->rows * stage->cols, ipt__word_flags(plan, stage)) * 4 * stage->pieces;
}

/* Workspace bytes of one running instance of a stage. */
static size_t ipt__stage_need(const ipt_plan *plan, const ipt__layout *layout, const ipt__stage *stage)
{
    if (stage->kind == IPT__STAGE_WAVE)
        return ipt__instance_units(plan, stage) * plan->unit_bytes;
    if (stage->kind == IPT__STAGE_SHUFFLE && !(stage->chains && layout->cooperative))
        return ipt__flag_bytes(plan, stage);
    return 0;
}

/* Cuts super-elements into pieces that one sub-group holds. An unaligned piece touches one vector more. */
static void ipt__chains_pieces(const ipt_plan *plan, ipt__stage *stage)
{
    const size_t units = ipt__stage_units(plan, stage), most = 16 * (IPT__PIECE_VECTORS - 2) / plan->unit_bytes;
    stage->chains = 1;
    stage->pieces = ipt__ceil_divide(units, most);
    stage->piece_units = ipt__min(units, most);
    /* A run of b bytes in units of u touches at most (b + 31 - u) / 16 vectors. */
    stage->piece_vectors = ipt__round_up((stage->piece_units * plan->unit_bytes + 31 - plan->unit_bytes) / 16, 32);
}

/* Chains that a sub-group follows at once. Short pieces allow more; too many leave sub-groups idle. */
static size_t ipt__chains_at_once(const ipt_plan *plan, const ipt__stage *stage)
{
    return stage->piece_units * plan->unit_bytes <= 640 ? 4 : 2;
}

/* Cuts super-elements into pieces; a work-group can hold two. Returns 0 if an inner transposition forbids cutting. */
static int ipt__shuffle_pieces(const ipt_plan *plan, ipt__stage *stage)
{
    const ipt__limits *const limits = &plan->context->limits;
    const size_t units = ipt__stage_units(plan, stage);
    const size_t wanted = ipt__tunings[limits->cpu].piece_bytes;
    const size_t holds = (limits->local_memory - 16) / 2; /* 16: the work-group's shared word */
    const size_t piece = (stage->inner_rows ? holds : ipt__min(wanted, holds) / 16 * 16) / plan->unit_bytes;
    if (!limits->cpu && limits->group_size >= 32 && !stage->inner_rows &&
        (limits->nvidia ? 4 : 1) * 2 * 4 * 16 * (size_t)IPT__PIECE_VECTORS / 2 + 256 <= limits->local_memory) {
        ipt__chains_pieces(plan, stage);
        return 1;
    }
    if (stage->inner_rows && units > piece)
        return 0;
    stage->piece_units = ipt__min(units, piece);
    stage->pieces = ipt__ceil_divide(units, stage->piece_units);
    return 1;
}

static ipt__stage *ipt__stage_add(ipt__layout *layout, ipt__stage_kind kind, size_t instances, size_t rows, size_t cols,
                                  size_t length)
{
    ipt__stage *const stage = &layout->stages[layout->stage_count++];
    memset(stage, 0, sizeof *stage);
    stage->kind = kind;
    stage->instances = instances;
    stage->rows = rows;
    stage->cols = cols;
    stage->length = length;
    return stage;
}

/* True if kernel pack can hold `units` units in local_bytes of local memory. */
static int ipt__pack_fits(const ipt_plan *plan, size_t units, size_t local_bytes)
{
    const size_t vectors = units * plan->unit_bytes / 16 + 2;
    return vectors + vectors / 8 + vectors / 64 + 1 <= local_bytes / 16;
}

/* Chooses the least local memory and the work-items of kernel pack for a TILE stage on a GPU. NVIDIA allows more than
 * it reports: one, two, four or eight of these work-groups fill a large compute unit. pack_bytes = 0 selects kernel
 * tile, also for short runs that lie far apart. */
static void ipt__pack_choose(const ipt_plan *plan, ipt__stage *stage)
{
    static const size_t classes[4][2] = {{27648, 256}, {56320, 512}, {110592, 512}, {231424, 1024}};
    const ipt__limits *const limits = &plan->context->limits;
    const size_t instance = ipt__instance_units(plan, stage), bytes = stage->instances * instance * plan->unit_bytes;
    const int large = limits->nvidia && !limits->local_is_limited;
    int i;
    stage->pack_bytes = 0;
    if (limits->cpu || limits->group_size < 64 ||
        (plan->desc.batch > 1 && plan->desc.batch_stride != bytes && bytes < IPT__PACK_RUN))
        return;
    for (i = 0; i < (large ? 4 : 1) && !stage->pack_bytes; ++i) {
        const size_t most =
            large ? classes[i][0] : ipt__min(limits->local_memory - 256, (size_t)IPT__PACK_BYTES) / 1024 * 1024;
        stage->pack_group = large ? ipt__min(classes[i][1], limits->largest_group) : limits->group_size;
        if (most >= 2048 && ipt__pack_fits(plan, instance, most) && !ipt__local_refused(plan->context, most))
            stage->pack_bytes = most;
    }
}

static ipt__params ipt__pack_params(const ipt_plan *plan, const ipt__stage *stage, int apply)
{
    ipt__params params;
    memset(&params, 0, sizeof params);
    params.unit_bytes = (cl_uint)plan->unit_bytes;
    params.element_units = ipt__stage_units(plan, stage) == 1;
    params.group_size = (cl_uint)stage->pack_group;
    params.memory_model = (cl_uint)plan->context->limits.memory_model;
    params.local_bytes = (cl_uint)stage->pack_bytes;
    params.apply = (cl_uint)apply;
    params.expression = plan->desc.expression;
    params.expression_type = plan->desc.expression_type;
    return params;
}

/* True if a CPU should hold instances larger than its nearest cache. That pays if each core has some (200 x 170 floats
 * on PoCL: 0.73 of a copy, in waves 0.47). For squares, SWAP is as fast. */
static int ipt__tile_serves_many(const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__limits *const limits = &plan->context->limits;
    return limits->cpu && stage->rows != stage->cols &&
           stage->instances * plan->desc.batch >= 4 * limits->compute_units &&
           ipt__instance_units(plan, stage) * plan->unit_bytes <=
               ipt__min(limits->local_memory, (size_t)IPT__TILE_BYTES_MANY);
}

/* Appends a stage on a dense grid with the best kernel for `budget` bytes of workspace. If none fits, the kernel with
 * the least workspace serves. A grid with one row or one column needs no stage. */
static void ipt__stage_add_dense(const ipt_plan *plan, ipt__layout *layout, size_t budget, size_t instances,
                                 size_t rows, size_t cols, size_t length)
{
    ipt__stage *stage;
    size_t wave, shuffle;
    if (rows == 1 || cols == 1)
        return;
    stage = ipt__stage_add(layout, IPT__STAGE_TILE, instances, rows, cols, length);
    ipt__pack_choose(plan, stage);
    if (stage->pack_bytes ||
        ipt__instance_units(plan, stage) * plan->unit_bytes <= ipt__local_budget(&plan->context->limits))
        return;
    if (ipt__tile_serves_many(plan, stage))
        return;
    if (rows == cols) {
        stage->kind = IPT__STAGE_SWAP;
        return;
    }
    stage->kind = IPT__STAGE_WAVE;
    wave = ipt__stage_need(plan, layout, stage);
    stage->kind = IPT__STAGE_SHUFFLE;
    ipt__shuffle_pieces(plan, stage);
    shuffle = ipt__stage_need(plan, layout, stage);
    /* Short super-elements make shuffles slow. */
    if (length * plan->desc.elem_size < 64 ? wave <= budget || wave <= shuffle : shuffle > budget && wave < shuffle)
        stage->kind = IPT__STAGE_WAVE;
}

/* Chooses pitch and skew of a tile with rows of `run` bytes, `stride` bytes apart in memory. Transposed reads should
 * hit different banks. Rows that a work-item fetches in sequence must begin at the same byte of a vector. group:
 * work-items of the group. */
static ipt__tile_layout ipt__lay_out_tile(const ipt_plan *plan, size_t group, size_t run, size_t stride)
{
    ipt__tile_layout layout;
    layout.pitch = (run + 31 - plan->unit_bytes) / 16;
    layout.skew = 31;
    if (16 % plan->desc.elem_size == 0 && stride % 16 != 0) { /* rows begin at every offset in a vector in turn */
        layout.skew = 0;
        while ((stride << layout.skew) % 16 != 0)
            ++layout.skew;
    } else if (layout.pitch % 2 == 0)
        layout.skew = 0;
    layout.run_lanes = 32;
    while (layout.run_lanes > 4 &&
           (layout.run_lanes >= 2 * layout.pitch || group / layout.run_lanes * stride % 16 != 0))
        layout.run_lanes /= 2;
    return layout;
}

/* Vectors of local memory for `rows` rows. */
static size_t ipt__tile_vectors(const ipt__tile_layout *layout, size_t rows)
{
    return rows * layout->pitch + (layout->skew > 30 ? 0 : rows >> layout->skew) + 1;
}

/* Sets the offsets of the workspace's parts. */
static void ipt__layout_place(const ipt_plan *plan, ipt__layout *layout)
{
    size_t offset = layout->saved_bytes, flags = 0, alone = 0;
    int i;
    for (i = 0; i < layout->stage_count; ++i) {
        const ipt__stage *const stage = &layout->stages[i];
        if (stage->kind == IPT__STAGE_PANEL) {
            layout->cooperative = 1;
            layout->control_words =
                IPT__CONTROL_WORDS + stage->chunks.ticket_groups * stage->chunks.blocks * plan->desc.batch;
            alone = ipt__ceil_divide(ipt__instance_units(plan, stage), 32);
        } else if (stage->chains) {
            flags = ipt__flag_bytes(plan, stage) / 4 * plan->desc.batch;
        }
    }
    if (layout->cooperative) {
        layout->flags_offset = offset += 2 * ipt__round_up(layout->control_words * 4, 256);
        layout->alone_offset = offset += ipt__round_up(flags * 4, 256);
        offset += ipt__round_up(alone * 4, 256);
    }
    layout->scratch_offset = offset;
}

/* The cost model's factor for GPU kernels: constants from IPT__TUNING_LIST, lengths in bytes. */
static double ipt__panel_factor(const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__tuning *const model = &ipt__tunings[0];
    const ipt__chunks *const chunks = &stage->chunks;
    const double size = (double)plan->desc.elem_size, length = (double)ipt__slot_length(stage);
    const double panel = (double)ipt__instance_units(plan, stage) * (double)plan->unit_bytes;
    const double unread = 1 - 0.8 * (double)stage->tail_length / length;
    if (!chunks->waits || chunks->narrow)
        return model->panel + model->narrow_step / (length * size) - (chunks->waits ? 0 : model->no_wait);
    return model->panel +
           (chunks->tall ? model->tall_cut : model->wide_cut) * (1 / (double)chunks->x + 1 / (double)chunks->y) / size +
           model->panel_wait * panel * unread;
}

static double ipt__chains_factor(const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__tuning *const model = &ipt__tunings[0];
    const size_t size = plan->desc.elem_size, slot = stage->length * size,
                 stride = stage->row_slots ? stage->row_stride * size : slot;
    const double bytes = (double)stage->piece_units * (double)plan->unit_bytes;
    const double idle = 1 - bytes / (16.0 * (double)stage->piece_vectors);
    const double cut = slot % 128 || stride % 128 ? model->cut + model->cut_step / bytes : 0;
    return model->chains + model->chains_step / bytes + cut + model->idle * idle;
}

/* Chunks that the pad kernel moves per matrix, and its workspace for all matrices. */
static size_t ipt__pad_chunks(const ipt_plan *plan, const ipt__stage *stage)
{
    return ipt__ceil_divide(stage->rows * ipt__stage_units(plan, stage),
                            IPT__PAD_HELD * plan->context->limits.group_size);
}
static size_t ipt__pad_bytes(const ipt_plan *plan, const ipt__stage *stage)
{
    return 4 * (1 + ipt__pad_chunks(plan, stage) * plan->desc.batch);
}

/* Chooses the number of concurrent instances of each stage within `budget` bytes of workspace (0: the minimum). Sets
 * workspace and cost. */
static void ipt__layout_finish(const ipt_plan *plan, ipt__layout *layout, size_t budget)
{
    const ipt__limits *const limits = &plan->context->limits;
    const ipt__tuning *const model = &ipt__tunings[limits->cpu];
    const size_t batch = plan->desc.batch, slabs = model->slab_bytes;
    const double bytes = (double)plan->matrix_bytes * (double)batch;
    size_t largest = 0, smallest = 0;
    int i;
    layout->saved_bytes = ipt__round_up(batch * layout->saved_elements * plan->desc.elem_size, 256);
    ipt__layout_place(plan, layout);
    layout->cost = 0;
    for (i = 0; i < layout->stage_count; ++i) {
        ipt__stage *const stage = &layout->stages[i];
        const size_t need = ipt__stage_need(plan, layout, stage);
        size_t at_once = 1;
        double factor = 0, launches = 1;
        if (!need) {
            stage->matrices_at_once = batch;
            stage->instances_at_once = stage->instances;
        } else {
            if (budget > layout->scratch_offset)
                at_once = ipt__max(1, (budget - layout->scratch_offset) / need);
            if (stage->kind == IPT__STAGE_WAVE)
                at_once = ipt__min(at_once, ipt__max(1, slabs / need));
            stage->matrices_at_once = ipt__min(batch, at_once);
            stage->instances_at_once = ipt__min(stage->instances, at_once / stage->matrices_at_once);
            largest = ipt__max(largest, stage->matrices_at_once * stage->instances_at_once * need);
            smallest = ipt__max(smallest, need);
            launches = 2.0 * (double)ipt__ceil_divide(batch, stage->matrices_at_once) *
                       (double)ipt__ceil_divide(stage->instances, stage->instances_at_once);
        }
        switch (stage->kind) {
        case IPT__STAGE_SAVE:
        case IPT__STAGE_RESTORE: /* short rows far apart: twice the traffic of a copy */
            layout->cost += 2.0 * (double)layout->saved_bytes;
            break;
        case IPT__STAGE_PANEL:
            factor = ipt__panel_factor(plan, stage);
            break;
        case IPT__STAGE_TILE:
            factor = model->tile;
            break;
        case IPT__STAGE_FLIP: /* added after the choice */
        case IPT__STAGE_MAP:
            break;
        case IPT__STAGE_PAD:
            largest = ipt__max(largest, ipt__pad_bytes(plan, stage));
            smallest = ipt__max(smallest, ipt__pad_bytes(plan, stage));
            break;
        case IPT__STAGE_PTTWAC_010: /* forced: never compared */
        case IPT__STAGE_P_IPT:
            break;
        case IPT__STAGE_SWAP:
            factor = model->swap;
            break;
        case IPT__STAGE_WAVE:
            factor = model->wave;
            break;
        case IPT__STAGE_SHUFFLE:
            factor = 1 + model->shuffle_overhead / ((double)stage->length * (double)plan->desc.elem_size);
            if (stage->chains)
                factor = ipt__chains_factor(plan, stage);
            break;
        }
        stage->by_words = ipt__stage_by_words(plan, stage);
        if (plan->unit_bytes < IPT__WORD_BYTES && need && !stage->by_words)
            factor *= 1 + model->narrow * (double)(IPT__WORD_BYTES / plan->unit_bytes - 1);
        if (!stage->chains && stage->kind != IPT__STAGE_PANEL &&
            (stage->kind == IPT__STAGE_SHUFFLE || stage->row_slots))
            if (ipt__slot_length(stage) * plan->desc.elem_size % 32 || stage->row_stride * plan->desc.elem_size % 32)
                factor *= model->gapped;
        layout->cost += factor * bytes + launches * model->launch;
    }
    layout->workspace = layout->scratch_offset + largest;
    layout->minimum_workspace = layout->scratch_offset + smallest;
}
