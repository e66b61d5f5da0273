/* SHUFFLE stages: move super-elements along cycles with one flag bit per slot, by chains of sub-groups, or in pairs. */

/* Flag bytes of one instance of a shuffle. */
static size_t ipt__flag_bytes(const ipt__problem *problem, const ipt__stage *stage)
{
    return ipt__ceil_divide(stage->rows * stage->cols, ipt__word_flags(problem, stage, stage->as.shuffle.spread)) * 4 *
           stage->as.shuffle.pieces;
}

static IPT__RARE ipt__need ipt__need_shuffle(const ipt__problem *problem, const ipt__layout *layout,
                                             const ipt__stage *stage)
{
    ipt__need need = ipt__need_nothing(problem, layout, stage);
    if (!stage->as.shuffle.pairs && !(stage->as.shuffle.chains && layout->cooperative))
        need.instance = ipt__flag_bytes(problem, stage);
    return need;
}

static ipt__control ipt__control_shuffle(const ipt__problem *problem, const ipt__stage *stage)
{
    ipt__control control = ipt__control_nothing(problem, stage);
    if (stage->as.shuffle.chains)
        control.flags = ipt__flag_bytes(problem, stage) / 4 * problem->desc.batch;
    return control;
}

static size_t ipt__words_shuffle(const ipt__stage *stage)
{
    return ipt__turns_inner(stage) ? 0 : stage->length;
}

/* Cuts super-elements into pieces of which a sub-group can store one. An unaligned piece touches one vector more. */
static void ipt__chains_pieces(const ipt__problem *problem, ipt__stage *stage)
{
    const size_t units = ipt__stage_units(problem, stage), most = 16 * (IPT__PIECE_VECTORS - 2) / problem->unit_bytes;
    stage->as.shuffle.chains = 1;
    stage->as.shuffle.pieces = ipt__ceil_divide(units, most);
    stage->as.shuffle.piece_units = ipt__min(units, most);
    /* A run of b bytes in units of u touches at most (b + 31 - u) / 16 vectors. */
    stage->as.shuffle.piece_vectors =
        ipt__round_up((stage->as.shuffle.piece_units * problem->unit_bytes + 31 - problem->unit_bytes) / 16, 32);
}

/* Chains that a sub-group follows at the same time. Short pieces allow more chains; too many leave sub-groups idle. */
static size_t ipt__chains_at_once(const ipt__problem *problem, const ipt__stage *stage)
{
    return stage->as.shuffle.piece_units * problem->unit_bytes <= IPT__CHAINS_PIECE ? 4 : 2;
}

/* The units of local memory for a super-element that is transposed: see ipt_held_at in parts/inner.cl. */
static size_t ipt__held_units(size_t units, size_t lanes)
{
    return lanes > 1 ? units + units / 32 + units / 1024 : units;
}

/* Bytes of local memory for workers that transpose super-elements: each stores two, and a shared word. */
static size_t ipt__inner_bytes(const ipt__problem *problem, const ipt__stage *stage)
{
    const size_t held = ipt__held_units(ipt__stage_units(problem, stage), stage->lanes);
    return stage->workers * (2 * held * problem->unit_bytes + 16);
}

/* Cuts super-elements into pieces of which a work-group can store two. */
static void ipt__shuffle_pieces(const ipt__problem *problem, ipt__stage *stage)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t units = ipt__stage_units(problem, stage);
    const size_t wanted = ipt__tuning_of(limits)->piece_bytes;
    const size_t holds = (limits->local_memory - 16) / 2; /* 16: the work-group's shared word */
    const size_t piece = ipt__min(wanted, holds) / 16 * 16 / problem->unit_bytes;
    if (!limits->cpu && limits->group_size >= 32 &&
        (limits->nvidia ? 4 : 1) * 2 * 4 * 16 * (size_t)IPT__PIECE_VECTORS / 2 + 256 <= limits->local_memory) {
        ipt__chains_pieces(problem, stage);
        return;
    }
    stage->as.shuffle.piece_units = ipt__min(units, piece);
    stage->as.shuffle.pieces = ipt__ceil_divide(units, stage->as.shuffle.piece_units);
}

/* Whether the super-elements of a square change places in pairs. Units below a word gain nothing on GPUs. */
static int ipt__takes_pairs(const ipt__problem *problem, const ipt__grids *grids)
{
    return grids->rows == grids->cols && (problem->limits.cpu || problem->unit_bytes >= IPT__WORD_BYTES) &&
           grids->length * problem->desc.elem_size >= ipt__tuning_of(&problem->limits)->pairs_bytes;
}

/* Plans a shuffle in pairs. */
static void ipt__shuffle_pairs(const ipt__problem *problem, ipt__stage *stage)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t units = ipt__stage_units(problem, stage), group = ipt__min(128, limits->group_size);
    ipt__stage_become(stage, IPT__STAGE_SHUFFLE);
    stage->as.shuffle.pairs = 1;
    stage->lanes = stage->workers = 1;
    if (!limits->cpu) {
        while (stage->lanes < group && stage->lanes * 4 < units)
            stage->lanes *= 2;
        stage->workers = group / stage->lanes;
    }
    stage->as.shuffle.piece_units = ipt__min(units, IPT__PAIRS_PIECE / problem->unit_bytes);
    stage->as.shuffle.pieces = ipt__ceil_divide(units, stage->as.shuffle.piece_units);
}

static double ipt__chains_factor(const ipt__problem *problem, const ipt__stage *stage)
{
    const ipt__tuning *const model = &ipt__tunings[0];
    const size_t size = problem->desc.elem_size, slot = stage->length * size,
                 stride = stage->row_slots ? stage->row_stride * size : slot;
    const double bytes = ipt__real(stage->as.shuffle.piece_units) * ipt__real(problem->unit_bytes);
    const double idle = 1 - bytes / (ipt__real(IPT__VECTOR_BYTES) * ipt__real(stage->as.shuffle.piece_vectors));
    const double cut = slot % IPT__LINE_BYTES || stride % IPT__LINE_BYTES ? model->cut + model->cut_step / bytes : 0;
    return model->chains + model->chains_step / bytes + cut + model->idle * idle;
}

static IPT__RARE double ipt__cost_shuffle(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    const double length = ipt__real(stage->length) * ipt__real(problem->desc.elem_size);
    const ipt__tuning *const model = ipt__tuning_of(&problem->limits);
    double factor = stage->as.shuffle.pairs   ? ipt__turns_inner(stage) ? model->pairs_inner : model->pairs
                    : ipt__turns_inner(stage) ? model->shuffle_inner
                                              : 1 + model->shuffle_overhead / length;
    if (stage->as.shuffle.chains) {
        factor = ipt__chains_factor(problem, stage);
        if (layout->cooperative)
            return factor * ipt__batch_bytes(problem);
    }
    return ipt__slot_factor(problem, stage, factor, !stage->as.shuffle.chains) * ipt__batch_bytes(problem);
}

/* Gets kernel chains. The kernel uses sub-groups if the device's sub-groups passed the check. */
static IPT__RARE ipt_result ipt__kernels_chains(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    const int cache_only = (plan->problem.desc.flags & IPT_CACHE_ONLY) != 0;
    ipt_result result;
    params.piece_vectors = (cl_uint)stage->as.shuffle.piece_vectors;
    params.chains = (cl_uint)ipt__chains_at_once(&plan->problem, stage);
    result = ipt__sub_groups_get(plan->context, &params, cache_only);
    if (!result)
        result = ipt__plan_kernel_get(plan, IPT__KERNEL_chains, params, &stage->kernels[0]);
    if (result || !stage->by_words)
        return result;
    params.unit_bytes = IPT__WORD_BYTES;
    result = ipt__sub_groups_get(plan->context, &params, cache_only);
    return result ? result : ipt__plan_kernel_get(plan, IPT__KERNEL_chains, params, &stage->word_kernel);
}

static IPT__RARE ipt_result ipt__kernels_shuffle(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.flag_spread = (cl_uint)(32 / ipt__word_flags(&plan->problem, stage, stage->as.shuffle.spread));
    params.group_size = params.lanes; /* one work-group per chain */
    if (stage->lanes) {
        params.lanes = (cl_uint)stage->lanes;
        params.group_size = (cl_uint)(stage->lanes * stage->workers);
    }
    if (ipt__variant_of(stage))
        params.registers = ipt__variant_of(stage)->registers;
    params.index_bits = ipt__index_bits(&plan->problem.limits, stage->rows * stage->cols);
    params.inner = ipt__turns_inner(stage);
    if (stage->as.shuffle.pairs)
        return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_pairs, params, &stage->kernels[0]);
    if (stage->as.shuffle.chains)
        return ipt__kernels_chains(plan, stage, params);
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_shuffle, params, &stage->kernels[0]);
}

/* A launch of the kernel that moves units, or of the variant that moves words. */
static IPT__RARE ipt__launch ipt__launch_by_words(const ipt__launcher *to, const ipt__stage *stage)
{
    ipt__launch launch = ipt__launch_of(to, to->by_units ? stage->kernels[0] : stage->word_kernel);
    if (!to->by_units)
        launch.plan_units = IPT__WORD_BYTES / to->plan->problem.unit_bytes;
    return launch;
}

static IPT__RARE ipt_result ipt__launch_chains(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__layout *const layout = &to->plan->device->layout;
    ipt__launch launch = ipt__launch_by_words(to, stage);
    const size_t scale = launch.plan_units;
    const ipt__params *const params = ipt__launch_params(to, &launch);
    const size_t element_units = problem->element_units, units = stage->length * element_units;
    const size_t sub_groups = params->group_size / params->lanes;
    size_t most, runs;
    ipt_result result = IPT_SUCCESS;
    ipt__chains_arguments *const a = &launch.arguments.chains;
    a->instance_stride = stage->rows * stage->cols * units / scale;
    a->matrix_stride = ipt__matrix_stride(problem) / scale;
    a->matrix_units = (problem->matrix_bytes / problem->unit_bytes - to->skipped) / scale;
    a->instances_per_matrix = to->instances;
    a->flags_base = (layout->cooperative ? layout->flags_offset : layout->scratch_offset) / 4;
    a->grid_slots = (cl_ulong)stage->rows * stage->cols;
    a->words = ipt__ceil_divide((size_t)a->grid_slots, 32);
    a->pieces = stage->as.shuffle.pieces;
    a->piece_units = (cl_uint)(stage->as.shuffle.piece_units / scale);
    a->total_words = a->words * a->pieces * to->instances * to->matrices;
    a->rows = stage->rows;
    a->cols = stage->cols;
    a->row_slots = stage->row_slots ? stage->row_slots : 1;
    a->row_stride = (stage->row_slots ? stage->row_stride * element_units : units) / scale;
    a->super_units = units / scale;
    if (stage->tail_length) {
        a->gap_rows_each = ipt__min(problem->desc.rows, problem->desc.cols);
        a->gap_rows = a->gap_rows_each * to->matrices;
        a->gap_begin = stage->row_slots * units / scale;
        a->gap_units = (cl_uint)(stage->tail_length * element_units / scale);
        a->gap_restore = (cl_uint)stage->as.shuffle.gap_restore;
        a->saved_stride = layout->saved_units / scale;
    }
    /* As many sub-groups as the device runs at the same time, if there are enough flag words. */
    most = problem->limits.compute_units *
           ipt__min(48, ipt__max(8, IPT__UNIT_LOCAL / (32 * stage->as.shuffle.piece_vectors * params->chains)));
    a->words_each = ipt__ceil_divide((size_t)a->total_words, most);
    runs = ipt__ceil_divide((size_t)a->total_words, (size_t)a->words_each);
    for (a->parts = 1; a->parts < 8 && 2 * a->parts * runs <= most;)
        a->parts *= 2;
    launch.instance_units = a->instance_stride;
    launch.groups = ipt__ceil_divide(runs * a->parts, sub_groups);
    if (!layout->cooperative) /* otherwise the PANEL stage clears the flags */
        result = ipt__launch_clear(to, layout->scratch_offset, (size_t)a->total_words * 4);
    return result ? result : ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_pairs(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__limits *const limits = &problem->limits;
    const size_t most = ipt__min((size_t)1 << 24, limits->compute_units * ipt__tuning_of(limits)->pairs_groups);
    ipt__launch launch = ipt__launch_by_words(to, stage);
    const size_t scale = launch.plan_units;
    ipt__pairs_arguments *const a = &launch.arguments.pairs;
    a->instance_stride = ipt__instance_units(problem, stage) / scale;
    a->matrix_stride = ipt__matrix_stride(problem) / scale;
    a->instances_per_matrix = to->instances;
    a->side = stage->rows;
    a->width = stage->rows | 1;
    a->pairs = a->side * (a->side + 1) / 2;
    a->total_pairs = a->pairs * to->instances * to->matrices;
    a->pieces = stage->as.shuffle.pieces;
    a->super_units = ipt__stage_units(problem, stage) / scale;
    a->piece_units = (cl_uint)(stage->as.shuffle.piece_units / scale);
    a->inner_rows = (cl_uint)stage->inner_rows;
    a->inner_cols = (cl_uint)stage->inner_cols;
    a->element_units = (cl_uint)problem->element_units;
    launch.groups = ipt__ceil_divide((size_t)(a->total_pairs * a->pieces), stage->workers);
    a->turns = (cl_uint)ipt__ceil_divide(launch.groups, most);
    launch.groups = ipt__ceil_divide(launch.groups, a->turns);
    launch.bytes = ipt__turns_inner(stage) ? ipt__inner_bytes(problem, stage) : 16;
    return ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_shuffle(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__limits *const limits = &problem->limits;
    const size_t units = ipt__stage_units(problem, stage), grid_slots = stage->rows * stage->cols;
    const size_t scratch = to->plan->device->layout.scratch_offset;
    ipt__launch launch = ipt__launch_by_words(to, stage);
    const size_t scale = launch.plan_units;
    ipt__shuffle_arguments *const a = &launch.arguments.shuffle;
    ipt_result result;
    if (stage->as.shuffle.chains)
        return ipt__launch_chains(to, stage);
    if (stage->as.shuffle.pairs)
        return ipt__launch_pairs(to, stage);
    a->instance_stride = launch.instance_units = ipt__instance_units(problem, stage) / scale;
    a->matrix_stride = ipt__matrix_stride(problem) / scale;
    a->instances_per_matrix = to->instances;
    a->flags_base = scratch / 4;
    a->words = ipt__ceil_divide(grid_slots, ipt__word_flags(problem, stage, stage->as.shuffle.spread));
    a->total_words = a->words * stage->as.shuffle.pieces * to->instances * to->matrices;
    a->grid_slots = grid_slots;
    a->rows = stage->rows;
    a->cols = stage->cols;
    a->row_slots = stage->row_slots ? stage->row_slots : 1;
    a->row_stride = (stage->row_slots ? stage->row_stride * problem->element_units : units) / scale;
    a->super_units = units / scale;
    a->pieces = stage->as.shuffle.pieces;
    a->piece_units = (cl_uint)(stage->as.shuffle.piece_units / scale);
    a->inner_rows = (cl_uint)stage->inner_rows;
    a->inner_cols = (cl_uint)stage->inner_cols;
    a->element_units = (cl_uint)problem->element_units;
    /* Each work-group strides over the flag words and starts a chain at each clear bit. A few groups per compute unit
     * saturate its memory. */
    launch.groups = ipt__min((size_t)a->total_words, limits->compute_units * ipt__tuning_of(limits)->shuffle_groups);
    launch.bytes = 2 * stage->as.shuffle.piece_units * problem->unit_bytes;
    if (ipt__turns_inner(stage)) {
        launch.groups = ipt__min(ipt__ceil_divide((size_t)a->total_words, stage->workers),
                                 limits->compute_units * ipt__tuning_of(limits)->inner_groups);
        launch.bytes = ipt__inner_bytes(problem, stage);
    }
    if (ipt__variant_of(stage)) {
        launch.groups = ipt__persistent_groups(problem, stage->lanes * stage->workers,
                                               ipt__ceil_divide((size_t)a->total_words, stage->workers));
        launch.bytes = ipt__variant_of(stage)->registers ? 16
                       : ipt__turns_inner(stage)         ? launch.bytes
                                                         : stage->workers * launch.bytes;
    }
    result = ipt__launch_clear(to, scratch, (size_t)a->total_words * 4);
    return result ? result : ipt__launch_add(to, &launch);
}

static IPT__RARE void ipt__describe_shuffle(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__text_add(out, "shuffle: %zu x (%zu x %zu super-elements of %zu elements, %zu bytes)", stage->instances,
                  stage->rows, stage->cols, stage->length, ipt__super_bytes(plan, stage));
    if (ipt__turns_inner(stage))
        ipt__text_add(out, ", each transposed as %zu x %zu", stage->inner_rows, stage->inner_cols);
    if (stage->as.shuffle.pairs)
        ipt__text_add(out, ", in pairs");
    if (stage->as.shuffle.pieces > 1)
        ipt__text_add(out, ", in %zu pieces", stage->as.shuffle.pieces);
    if (stage->as.shuffle.chains) {
        const ipt__params *const params = &plan->device->kernels[stage->kernels[0]].program->params;
        ipt__text_add(out, ", %u chains to each of %s of %u work-items", (unsigned)params->chains,
                      params->sub_group ? "sub-groups" : "work-groups", (unsigned)params->lanes);
    }
    if (stage->instances_at_once < stage->instances)
        ipt__text_add(out, ", %zu at once", stage->instances_at_once);
    ipt__describe_end(out, stage);
}
