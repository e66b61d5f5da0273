/* WAVE stages: move instances through slabs of the workspace, some instances at a time. */

static ipt__need ipt__need_wave(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    ipt__need need = ipt__need_nothing(problem, layout, stage);
    need.instance = ipt__instance_units(problem, stage) * problem->unit_bytes;
    return need;
}

static size_t ipt__words_wave(const ipt__stage *stage)
{
    return ipt__slot_length(stage) * stage->length;
}

static IPT__RARE double ipt__cost_wave(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)layout;
    return ipt__slot_factor(problem, stage, ipt__tuning_of(&problem->limits)->wave, stage->row_slots != 0) *
           ipt__batch_bytes(problem);
}

static IPT__RARE ipt_result ipt__kernels_wave(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    const ipt_result result = ipt__plan_kernel_get(plan, IPT__KERNEL_transpose, params, &stage->kernels[0]);
    return result ? result : ipt__stage_kernel_get(plan, stage, IPT__KERNEL_copy, params, &stage->kernels[1]);
}

/* Transposes instances through slabs of the workspace. If the source has gaps, the second launch transposes, else the
 * first. The end of the first launch is the barrier. */
static IPT__RARE ipt_result ipt__launch_wave(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const cl_ulong units = ipt__stage_units(problem, stage), instance = ipt__instance_units(problem, stage);
    const cl_ulong slabs = to->plan->device->layout.scratch_offset / problem->unit_bytes;
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

static IPT__RARE void ipt__describe_wave(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__describe_grid(out, plan, stage, "panels in waves");
    ipt__text_add(out, ", %zu panels of %zu matrices at once", stage->instances_at_once, stage->matrices_at_once);
    ipt__describe_end(out, stage);
}
