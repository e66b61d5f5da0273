/* The launches of stages that follow cycles, and of lists of stages. */

/* Enough persistent work-groups to keep the device busy. */
static IPT__RARE size_t ipt__persistent_groups(const ipt__problem *problem, size_t group_size, size_t wanted)
{
    return ipt__max(1, ipt__min(wanted, problem->limits.compute_units * ipt__max(1, 2048 / group_size)));
}

/* A launch of a kernel that moves units, or of its variant for words. */
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
    const ipt__layout *const layout = &to->plan->layout;
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
    a->pieces = stage->shuffle.pieces;
    a->piece_units = (cl_uint)(stage->shuffle.piece_units / scale);
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
        a->gap_restore = (cl_uint)stage->shuffle.gap_restore;
        a->saved_stride = layout->saved_units / scale;
    }
    /* One sub-group for each that the device runs at once, limited by the number of start slots. */
    most = problem->limits.compute_units *
           ipt__min(48, ipt__max(8, IPT__UNIT_BYTES / (32 * stage->shuffle.piece_vectors * params->chains)));
    a->words_each = ipt__ceil_divide((size_t)a->total_words, most);
    runs = ipt__ceil_divide((size_t)a->total_words, (size_t)a->words_each);
    for (a->parts = 1; a->parts < 8 && 2 * a->parts * runs <= most;)
        a->parts *= 2;
    launch.instance_units = a->instance_stride;
    launch.groups = ipt__ceil_divide(runs * a->parts, sub_groups);
    if (!layout->cooperative) /* else the panels clear the flags */
        result = ipt__launch_clear(to, layout->scratch_offset, (size_t)a->total_words * 4);
    return result ? result : ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_pairs(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const size_t most = problem->limits.cpu ? problem->limits.compute_units * 16 : (size_t)1 << 24;
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
    a->pieces = stage->shuffle.pieces;
    a->super_units = ipt__stage_units(problem, stage) / scale;
    a->piece_units = (cl_uint)(stage->shuffle.piece_units / scale);
    a->inner_rows = (cl_uint)stage->shuffle.inner_rows;
    a->inner_cols = (cl_uint)stage->shuffle.inner_cols;
    a->element_units = (cl_uint)problem->element_units;
    launch.groups = ipt__ceil_divide((size_t)(a->total_pairs * a->pieces), stage->workers);
    a->turns = (cl_uint)ipt__ceil_divide(launch.groups, most);
    launch.groups = ipt__ceil_divide(launch.groups, a->turns);
    launch.bytes = stage->shuffle.inner_rows ? ipt__inner_bytes(problem, stage) : 16;
    return ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_shuffle(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__limits *const limits = &problem->limits;
    const size_t units = ipt__stage_units(problem, stage), grid_slots = stage->rows * stage->cols;
    const size_t scratch = to->plan->layout.scratch_offset;
    ipt__launch launch = ipt__launch_by_words(to, stage);
    const size_t scale = launch.plan_units;
    ipt__shuffle_arguments *const a = &launch.arguments.shuffle;
    ipt_result result;
    if (stage->shuffle.chains)
        return ipt__launch_chains(to, stage);
    if (stage->shuffle.pairs)
        return ipt__launch_pairs(to, stage);
    a->instance_stride = launch.instance_units = ipt__instance_units(problem, stage) / scale;
    a->matrix_stride = ipt__matrix_stride(problem) / scale;
    a->instances_per_matrix = to->instances;
    a->flags_base = scratch / 4;
    a->words = ipt__ceil_divide(grid_slots, ipt__word_flags(problem, stage));
    a->total_words = a->words * stage->shuffle.pieces * to->instances * to->matrices;
    a->grid_slots = grid_slots;
    a->rows = stage->rows;
    a->cols = stage->cols;
    a->row_slots = stage->row_slots ? stage->row_slots : 1;
    a->row_stride = (stage->row_slots ? stage->row_stride * problem->element_units : units) / scale;
    a->super_units = units / scale;
    a->pieces = stage->shuffle.pieces;
    a->piece_units = (cl_uint)(stage->shuffle.piece_units / scale);
    a->inner_rows = (cl_uint)stage->shuffle.inner_rows;
    a->inner_cols = (cl_uint)stage->shuffle.inner_cols;
    a->element_units = (cl_uint)problem->element_units;
    /* Each work-group strides over the flag words and starts a chain at each clear bit. A few groups per compute unit
     * saturate its memory. */
    launch.groups = ipt__min((size_t)a->total_words, limits->compute_units * (limits->cpu ? 4 : 32));
    launch.bytes = 2 * stage->shuffle.piece_units * problem->unit_bytes;
    if (stage->shuffle.inner_rows) {
        launch.groups = ipt__min(ipt__ceil_divide((size_t)a->total_words, stage->workers),
                                 limits->compute_units * (limits->cpu ? 4 : 64));
        launch.bytes = ipt__inner_bytes(problem, stage);
    }
    if (stage->variant) {
        launch.groups = ipt__persistent_groups(problem, stage->lanes * stage->workers,
                                               ipt__ceil_divide((size_t)a->total_words, stage->workers));
        launch.bytes = stage->variant->registers   ? 16
                       : stage->shuffle.inner_rows ? launch.bytes
                                                   : stage->workers * launch.bytes;
    }
    result = ipt__launch_clear(to, scratch, (size_t)a->total_words * 4);
    return result ? result : ipt__launch_add(to, &launch);
}

#ifndef IPT_NO_PAPERS
static IPT__RARE ipt_result ipt__launch_pttwac_010(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__pttwac_010_arguments *const a = &launch.arguments.pttwac_010;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->instances = (cl_ulong)stage->instances * to->matrices;
    a->instances_per_matrix = stage->instances;
    a->instance_units = (cl_uint)ipt__instance_units(problem, stage);
    a->rows = (cl_uint)stage->rows;
    a->cols = (cl_uint)stage->cols;
    a->element_units = (cl_uint)problem->element_units;
    a->flag_words = (cl_uint)ipt__ceil_divide(a->instance_units, ipt__word_flags(problem, stage));
    launch.bytes = 4 * (size_t)(a->flag_words + (stage->variant->flag_layout == 1 ? a->flag_words / 32 : 0));
    launch.groups = ipt__persistent_groups(problem, problem->limits.group_size, (size_t)a->instances);
    return ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_p_ipt(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    const ipt__params *const params = ipt__launch_params(to, &launch);
    ipt__p_ipt_arguments *const a = &launch.arguments.p_ipt;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->instance_stride = ipt__instance_units(problem, stage);
    a->instances_per_matrix = stage->instances;
    a->grid_slots = (cl_ulong)stage->rows * stage->cols;
    a->total_slots = a->grid_slots * stage->instances * to->matrices;
    a->rows = stage->rows;
    a->cols = stage->cols;
    a->super_units = ipt__stage_units(problem, stage);
    launch.groups = ipt__persistent_groups(
        problem, params->group_size, ipt__ceil_divide((size_t)a->total_slots, params->group_size / params->lanes));
    return ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_pad(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const size_t scratch = to->plan->layout.scratch_offset;
    const ipt_result result = ipt__launch_clear(to, scratch, ipt__pad_bytes(problem, stage));
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__pad_arguments *const a = &launch.arguments.pad;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->rows = stage->rows;
    a->row_units = ipt__stage_units(problem, stage);
    a->source_stride = stage->origin * problem->element_units;
    a->target_stride = stage->row_stride * problem->element_units;
    a->chunks = ipt__pad_chunks(problem, stage);
    a->control_base = scratch / 4;
    launch.groups = a->chunks * to->matrices;
    return result ? result : ipt__launch_add(to, &launch);
}
#endif

static ipt_result (*const ipt__stage_launchers[])(ipt__launcher *to, const ipt__stage *stage) = {
#define IPT__STAGE_LAUNCHER(kind, need, cost, kernels, describe, launch) ipt__launch_##launch,
    IPT__STAGE_LIST(IPT__STAGE_LAUNCHER, IPT__IF_PAPERS(IPT__STAGE_LAUNCHER, IPT__NO_FUNCTION))};

/* Adds the launches of one kind of turn, for all offsets. */
static IPT__RARE ipt_result ipt__turn_launch(ipt__launcher *to, const ipt__stage *stage)
{
    const int words = stage->by_words && to->skipped % (IPT__WORD_BYTES / to->plan->problem.unit_bytes) == 0;
    ipt_result result;
    to->by_units = 1;
    to->by_words = !words;
    result = ipt__stage_launchers[stage->kind](to, stage);
    if (result || !words)
        return result;
    to->by_units = 0;
    to->by_words = 1;
    return ipt__stage_launchers[stage->kind](to, stage);
}

/* Adds a stage and its launches. The instances share workspace, so that they may move some at a time. Gapped targets
 * run from the last instance to the first, gapped sources from the first to the last. Either order reads a panel before
 * overwriting it. skipped: units of a matrix before the stage's first instance. */
static IPT__RARE ipt_result ipt__stage_launch(const ipt_plan *plan, const ipt__stage *stage, cl_ulong skipped,
                                              ipt__launches *launches)
{
    ipt__turns *const turns = &launches->stages[launches->stage_count++];
    const size_t batch = plan->problem.desc.batch;
    size_t matrices[2], instances[2];
    int i, j;
    ipt_result result = IPT_SUCCESS;
    turns->first = launches->count;
    turns->matrices = batch;
    turns->matrices_at_once = stage->matrices_at_once ? stage->matrices_at_once : batch;
    turns->instances = stage->instances;
    turns->instances_at_once =
        ipt__min(stage->instances, stage->instances_at_once ? stage->instances_at_once : stage->instances);
    turns->matrix_stride = ipt__matrix_stride(&plan->problem);
    turns->backwards = stage->kind == IPT__STAGE_EXCHANGE ? stage->bands.from_last
                       : stage->kind == IPT__STAGE_SPREAD ? stage->spread[1] > stage->spread[0]
                                                          : !stage->gapped_source;
    matrices[0] = turns->matrices_at_once;
    matrices[1] = batch % turns->matrices_at_once;
    instances[0] = turns->instances_at_once;
    instances[1] = stage->instances % turns->instances_at_once;
    for (i = 0; i < 2 && matrices[i]; ++i)
        for (j = 0; j < 2 && instances[j] && !result; ++j) {
            ipt__launcher to;
            memset(&to, 0, sizeof to);
            to.plan = plan;
            to.launches = launches;
            to.matrices = matrices[i];
            to.instances = instances[j];
            to.skipped = skipped;
            result = ipt__turn_launch(&to, stage);
        }
    turns->end = launches->count;
    return result;
}
