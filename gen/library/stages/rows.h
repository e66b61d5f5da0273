/* Stages that move rows: SAVE and RESTORE copy some to the workspace and back, SPREAD changes the rows' distance. */

static size_t ipt__words_restore(const ipt__stage *stage)
{
    return stage->length | stage->as.rows.origin;
}

static double ipt__cost_save(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)stage;
    return ipt__tuning_of(&problem->limits)->saved * (double)layout->saved_bytes;
}

static IPT__RARE ipt_result ipt__kernels_save(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    return ipt__stage_kernel_get(plan, stage, stage->straight ? IPT__KERNEL_copy : IPT__KERNEL_transpose, params,
                                 &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__kernels_restore(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_copy, params, &stage->kernels[0]);
}

/* Sets where the rows of a SAVE or RESTORE stage lie in the matrix, if there are gaps between them. */
static void ipt__launch_apart(const ipt__stage *stage, ipt__copy_arguments *a, size_t length, int restore)
{
    if (!stage->as.rows.apart)
        return;
    a->rows = stage->rows;
    a->source_row_stride = a->target_row_stride = a->row_units = length;
    *(restore ? &a->target_row_stride : &a->source_row_stride) = stage->as.rows.apart;
    *(restore ? &a->target_base : &a->source_base) = stage->as.rows.before;
}

/* Copies `elements` contiguous elements of each matrix, from `origin` on, to the save area or back. */
static IPT__RARE ipt_result ipt__launch_keep(ipt__launcher *to, const ipt__stage *stage, size_t elements, int restore)
{
    const ipt_plan *const plan = to->plan;
    const cl_ulong units = plan->problem.element_units, saved = plan->device->layout.saved_units;
    const cl_ulong matrix = ipt__matrix_stride(&plan->problem);
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__copy_arguments *const a = &launch.arguments.copy;
    launch.given = restore ? 2 : 1;
    *(restore ? &a->target_base : &a->source_base) = stage->as.rows.origin * units;
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
    a->source_base = stage->as.rows.origin * units;
    a->source_matrix_stride = ipt__matrix_stride(&plan->problem);
    a->target_matrix_stride = plan->device->layout.saved_units;
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
    a->target_base = stage->as.rows.origin * units;
    a->source_matrix_stride = plan->device->layout.saved_units;
    a->target_matrix_stride = ipt__matrix_stride(&plan->problem);
    a->source_row_slots = a->target_row_slots = 1;
    a->source_row_stride = a->row_units = stage->length * units;
    a->target_row_stride = stage->row_stride * units;
    a->rows = stage->rows;
    ipt__launch_apart(stage, a, stage->length * units, 1);
    return ipt__launch_copy(to, stage, &launch);
}

static IPT__RARE void ipt__describe_save(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    (void)plan;
    ipt__text_add(out, "save: %zu x %zu elements that no %s to the workspace%s\n", stage->rows, stage->cols,
                  stage->straight ? "exchange moves" : "super-element holds", stage->straight ? "" : ", transposed");
}

static IPT__RARE void ipt__describe_restore(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    (void)plan;
    ipt__text_add(out, "restore: them as %zu rows of %zu elements from the workspace\n", stage->rows, stage->length);
}

/* A SPREAD stage's slab contains an instance transposed. */
static ipt__need ipt__need_spread(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    return ipt__need_wave(problem, layout, stage);
}

/* Only one of the two transpositions applies the expression. */
static IPT__RARE ipt_result ipt__kernels_spread(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    const ipt_result result = ipt__plan_kernel_get(plan, IPT__KERNEL_transpose, params, &stage->kernels[0]);
    ipt__params_apply(&params, &plan->problem.desc, 0);
    return result ? result : ipt__plan_kernel_get(plan, IPT__KERNEL_transpose, params, &stage->kernels[1]);
}

/* Changes the distance of an instance's rows. The slab contains them as columns, so that rows of one element move as
 * fast as long rows. */
static IPT__RARE ipt_result ipt__launch_spread(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const cl_ulong units = problem->element_units, instance = ipt__instance_units(problem, stage);
    int second;
    for (second = 0; second < 2; ++second) {
        ipt__launch launch = ipt__launch_of(to, stage->kernels[second]);
        ipt__transpose_arguments *const a = &launch.arguments.transpose;
        ipt_result result;
        launch.given = second ? 2 : 1;
        launch.instance_units = stage->rows * stage->as.spread.distance[second];
        a->source_base = stage->as.spread.before[0];
        a->target_base = stage->as.spread.before[1];
        *(second ? &a->source_base : &a->target_base) = to->plan->device->layout.scratch_offset / problem->unit_bytes;
        a->source_matrix_stride = second ? instance : ipt__matrix_stride(problem);
        a->target_matrix_stride = second ? ipt__matrix_stride(problem) : instance;
        a->instances_per_matrix = 1;
        a->rows = second ? stage->cols : stage->rows;
        a->cols = second ? stage->rows : stage->cols;
        a->source_row_stride = second ? a->cols * units : stage->as.spread.distance[0];
        a->target_row_stride = second ? stage->as.spread.distance[1] : a->rows * units;
        a->element_units = (cl_uint)units;
        result = ipt__launch_transpose(to, &launch);
        if (result)
            return result;
    }
    return IPT_SUCCESS;
}

static IPT__RARE void ipt__describe_spread(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    const size_t unit = plan->problem.unit_bytes;
    ipt__text_add(out, "spread: %zu x (%zu rows of %zu bytes) from %zu to %zu bytes apart", stage->instances,
                  stage->rows, stage->cols * plan->problem.desc.elem_size, stage->as.spread.distance[0] * unit,
                  stage->as.spread.distance[1] * unit);
    ipt__describe_end(out, stage);
}
