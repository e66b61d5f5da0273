/* Running shuffles and lists of stages. */

/* Enough persistent work-groups to keep the device busy. */
static size_t ipt__persistent_groups(const ipt_plan *plan, size_t group_size, size_t wanted)
{
    return ipt__max(1, ipt__min(wanted, plan->context->limits.compute_units * ipt__max(1, 2048 / group_size)));
}

static ipt_result ipt__run_shuffle(ipt__run *run, const ipt__stage *stage, const ipt__place *place, size_t first,
                                   size_t count, size_t matrices)
{
    const ipt_plan *const plan = run->plan;
    const ipt__limits *const limits = &plan->context->limits;
    const size_t word_units = IPT__WORD_BYTES / plan->problem.unit_bytes;
    const int words = stage->by_words && !run->unaligned && place->base % word_units == 0;
    const int kernel = words ? stage->word_kernel : stage->kernels[0];
    const size_t scale = words ? word_units : 1; /* the plan's units in one of the kernel's units */
    const size_t units = ipt__stage_units(&plan->problem, stage), slots = stage->rows * stage->cols;
    ipt__shuffle_arguments a;
    ipt_result result;
    memset(&a, 0, sizeof a);
    a.instance_stride = ipt__instance_units(&plan->problem, stage) / scale;
    a.base = place->base / scale + first * a.instance_stride;
    a.matrix_stride = place->matrix_stride / scale;
    a.instances_per_matrix = count;
    a.flags_base = plan->layout.scratch_offset / 4;
    a.words = ipt__ceil_divide(slots, ipt__word_flags(&plan->problem, stage));
    a.total_words = a.words * stage->shuffle.pieces * count * matrices;
    a.slots = slots;
    a.rows = stage->rows;
    a.cols = stage->cols;
    a.row_slots = stage->row_slots ? stage->row_slots : 1;
    a.row_stride = (stage->row_slots ? stage->row_stride * plan->problem.element_units : units) / scale;
    a.super_units = units / scale;
    a.pieces = stage->shuffle.pieces;
    a.piece_units = (cl_uint)(stage->shuffle.piece_units / scale);
    a.inner_rows = (cl_uint)stage->shuffle.inner_rows;
    a.inner_cols = (cl_uint)stage->shuffle.inner_cols;
    a.element_units = (cl_uint)plan->problem.element_units;
    result = ipt__run_clear(run, plan->layout.scratch_offset, (size_t)a.total_words * 4);
    if (result)
        return result;
    /* Each work-group strides over the flag words and starts a chain at each clear bit. A few groups per compute unit
     * saturate its memory. */
    if (stage->variant)
        return ipt__run_kernel(
            run, kernel, place->buffer, plan->workspace->buffer,
            stage->variant->registers ? 16 : stage->workers * 2 * stage->shuffle.piece_units * plan->problem.unit_bytes,
            &a,
            ipt__persistent_groups(plan, stage->lanes * stage->workers,
                                   ipt__ceil_divide((size_t)a.total_words, stage->workers)));
    return ipt__run_kernel(run, kernel, place->buffer, plan->workspace->buffer,
                           2 * stage->shuffle.piece_units * plan->problem.unit_bytes, &a,
                           ipt__min((size_t)a.total_words, limits->compute_units * (limits->cpu ? 4 : 32)));
}

#ifndef IPT_NO_PAPERS
static ipt_result ipt__run_pttwac_010(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    ipt__pttwac_010_arguments a;
    size_t words;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.instances = (cl_ulong)stage->instances * plan->problem.desc.batch;
    a.instances_per_matrix = stage->instances;
    a.instance_units = (cl_uint)ipt__instance_units(&plan->problem, stage);
    a.rows = (cl_uint)stage->rows;
    a.cols = (cl_uint)stage->cols;
    a.element_units = (cl_uint)plan->problem.element_units;
    words = ipt__ceil_divide(a.instance_units, ipt__word_flags(&plan->problem, stage));
    a.flag_words = (cl_uint)words;
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL,
                           4 * (words + (stage->variant->flag_layout == 1 ? words / 32 : 0)), &a,
                           ipt__persistent_groups(plan, plan->context->limits.group_size, (size_t)a.instances));
}

static ipt_result ipt__run_p_ipt(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const ipt__params *const params = &plan->kernels[stage->kernels[0]].program->params;
    ipt__p_ipt_arguments a;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.instance_stride = ipt__instance_units(&plan->problem, stage);
    a.instances_per_matrix = stage->instances;
    a.slots = (cl_ulong)stage->rows * stage->cols;
    a.total_slots = a.slots * stage->instances * plan->problem.desc.batch;
    a.rows = stage->rows;
    a.cols = stage->cols;
    a.super_units = ipt__stage_units(&plan->problem, stage);
    return ipt__run_kernel(
        run, stage->kernels[0], place->buffer, NULL, 0, &a,
        ipt__persistent_groups(plan, params->group_size,
                               ipt__ceil_divide((size_t)a.total_slots, params->group_size / params->lanes)));
}

static ipt_result ipt__run_pad(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const size_t offset = plan->layout.scratch_offset;
    ipt__pad_arguments a;
    ipt_result result = ipt__run_clear(run, offset, ipt__pad_bytes(&plan->problem, stage));
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.rows = stage->rows;
    a.row_units = ipt__stage_units(&plan->problem, stage);
    a.source_stride = stage->origin * plan->problem.element_units;
    a.target_stride = stage->row_stride * plan->problem.element_units;
    a.chunks = ipt__pad_chunks(&plan->problem, stage);
    a.control_base = offset / 4;
    return result ? result
                  : ipt__run_kernel(run, stage->kernels[0], place->buffer, plan->workspace->buffer, 0, &a,
                                    a.chunks * plan->problem.desc.batch);
}
#endif

/* Runs a stage whose instances share workspace, some at a time. Gapped targets run from the last instance to the first,
 * gapped sources from the first to the last. Either order reads a panel before overwriting it. */
static ipt_result ipt__run_in_turns(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const size_t turns = ipt__ceil_divide(stage->instances, stage->instances_at_once);
    size_t matrix, turn;
    ipt_result result = IPT_SUCCESS;
    for (matrix = 0; matrix < run->plan->problem.desc.batch; matrix += stage->matrices_at_once)
        for (turn = 0; turn < turns; ++turn) {
            const size_t matrices = ipt__min(stage->matrices_at_once, run->plan->problem.desc.batch - matrix);
            const size_t first = (stage->gapped_source ? turn : turns - 1 - turn) * stage->instances_at_once;
            const size_t count = ipt__min(stage->instances_at_once, stage->instances - first);
            ipt__place part = *place;
            part.base += matrix * place->matrix_stride;
            result = stage->kind == IPT__STAGE_WAVE ? ipt__run_wave(run, stage, &part, first, count, matrices)
                     : stage->shuffle.chains        ? ipt__run_chains(run, stage, &part, first, count, matrices)
                                                    : ipt__run_shuffle(run, stage, &part, first, count, matrices);
            if (result)
                return result;
        }
    return result;
}

static ipt_result (*const ipt__stage_runs[])(ipt__run *run, const ipt__stage *stage, const ipt__place *place) = {
#define IPT__STAGE_RUN(kind, need, cost, kernels, describe, run) ipt__run_##run,
    IPT__STAGE_LIST(IPT__STAGE_RUN, IPT__IF_PAPERS(IPT__STAGE_RUN, IPT__NO_FUNCTION))};

static ipt_result ipt__run_stages(ipt__run *run, const ipt__place *place)
{
    ipt_plan *const plan = run->plan;
    ipt_result result = IPT_SUCCESS;
    int i;
    if (plan->dirty && plan->layout.cooperative)
        result = ipt__run_clear(run, plan->layout.saved_bytes, plan->layout.scratch_offset - plan->layout.saved_bytes);
    if (!result)
        plan->dirty = 0;
    for (i = 0; i < plan->layout.stage_count && !result; ++i)
        result = ipt__stage_runs[plan->layout.stages[i].kind](run, &plan->layout.stages[i], place);
    return result;
}
