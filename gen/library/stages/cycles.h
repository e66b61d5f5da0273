/* Kinds of stages that only the papers have. */

#ifndef IPT_NO_PAPERS

static IPT__RARE ipt_result ipt__kernels_pttwac_010(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.group_size = (cl_uint)stage->lanes;
    params.flag_spread = plan->problem.desc.flag_spread ? (cl_uint)plan->problem.desc.flag_spread : 1;
    params.flag_layout = stage->variant->flag_layout;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_pttwac_010, params, &stage->kernels[0]);
}

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
    a->flag_words = (cl_uint)ipt__ceil_divide(a->instance_units, ipt__word_flags(problem, stage, 0));
    launch.bytes = 4 * (size_t)(a->flag_words + (stage->variant->flag_layout == 1 ? a->flag_words / 32 : 0));
    launch.groups = ipt__persistent_groups(problem, problem->limits.group_size, (size_t)a->instances);
    return ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__kernels_p_ipt(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.group_size = (cl_uint)(stage->lanes * stage->workers);
    params.lanes = (cl_uint)stage->lanes;
    params.index_bits = ipt__index_bits(&plan->problem.limits, stage->rows * stage->cols);
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_p_ipt, params, &stage->kernels[0]);
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

static IPT__RARE void ipt__describe_cycles(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__describe_grid(out, plan, stage, "cycles");
    ipt__text_add(out, ", where they lie");
    ipt__describe_end(out, stage);
}

/* Chunks that the pad kernel moves per matrix, and its workspace for all matrices. */
static size_t ipt__pad_chunks(const ipt__problem *problem, const ipt__stage *stage)
{
    return ipt__ceil_divide(stage->rows * ipt__stage_units(problem, stage), IPT__PAD_HELD * problem->limits.group_size);
}
static size_t ipt__pad_bytes(const ipt__problem *problem, const ipt__stage *stage)
{
    return 4 * (1 + ipt__pad_chunks(problem, stage) * problem->desc.batch);
}

static ipt__need ipt__need_pad(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    ipt__need need = ipt__need_nothing(problem, layout, stage);
    need.stage = ipt__pad_bytes(problem, stage);
    return need;
}

static IPT__RARE ipt_result ipt__kernels_pad(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.group_size = (cl_uint)plan->problem.limits.group_size;
    params.chained = plan->problem.desc.variant_pad == IPT_VARIANT_PAD_CHAINED;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_pad, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__launch_pad(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const size_t scratch = to->plan->device->layout.scratch_offset;
    const ipt_result result = ipt__launch_clear(to, scratch, ipt__pad_bytes(problem, stage));
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__pad_arguments *const a = &launch.arguments.pad;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->rows = stage->rows;
    a->row_units = ipt__stage_units(problem, stage);
    a->source_stride = stage->as.pad_stride * problem->element_units;
    a->target_stride = stage->row_stride * problem->element_units;
    a->chunks = ipt__pad_chunks(problem, stage);
    a->control_base = scratch / 4;
    launch.groups = a->chunks * to->matrices;
    return result ? result : ipt__launch_add(to, &launch);
}

static IPT__RARE void ipt__describe_pad(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    (void)plan;
    ipt__text_add(out, "pad: %zu rows of %zu elements from %zu to %zu elements apart\n", stage->rows, stage->length,
                  stage->as.pad_stride, stage->row_stride);
}

#endif
