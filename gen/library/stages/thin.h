/* THIN stages: matrices of 2 to 4 rows or columns on a CPU, in tiles that its nearest cache holds. */
#ifndef IPT_NO_BOXES

static IPT__RARE ipt_result ipt__kernels_thin(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.tall = stage->rows > stage->cols;
    params.channels = (cl_uint)ipt__min(stage->rows, stage->cols);
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_thin, params, &stage->kernels[0]);
}

/* If a matrix has several tiles and is shared by work-groups, runs and tiles take a launch each. */
static IPT__RARE ipt_result ipt__launch_thin(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const size_t side = ipt__min(stage->rows, stage->cols), tall = stage->rows > stage->cols;
    const size_t few = IPT__TILE_BYTES_MANY / 8 / problem->matrix_bytes;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__thin_arguments *const a = &launch.arguments.thin;
    size_t step;
    ipt_result result = IPT_SUCCESS;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->matrices = (cl_uint)to->matrices;
    a->tile_length = stage->as.thin.tile_length;
    a->tiles = (cl_uint)(ipt__max(stage->rows, stage->cols) / stage->as.thin.tile_length);
    a->parts = (cl_uint)stage->as.thin.parts;
    a->each = (cl_uint)ipt__max(1, ipt__min(few, to->matrices / (4 * problem->limits.compute_units)));
    launch.bytes = side * stage->as.thin.tile_length * problem->unit_bytes + side * a->tiles;
    launch.groups = ipt__ceil_divide(to->matrices, a->each) * a->parts;
    for (step = 0; step < (a->parts > 1 ? 2 : 1) && !result; ++step) {
        a->moves_runs = a->tiles > 1 && (a->parts == 1 || step == tall);
        a->moves_tiles = a->parts == 1 || step != tall;
        result = ipt__launch_add(to, &launch);
    }
    return result;
}

static IPT__RARE void ipt__describe_thin(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__describe_grid(out, plan, stage, "thin");
    ipt__text_add(out, ", tiles of %zu", stage->as.thin.tile_length);
    if (stage->as.thin.parts > 1)
        ipt__text_add(out, ", each matrix by %zu work-groups", stage->as.thin.parts);
    ipt__describe_end(out, stage);
}
#endif
