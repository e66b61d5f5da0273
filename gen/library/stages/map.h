/* MAP stages: apply the expression to every element in place. */

static IPT__RARE ipt_result ipt__kernels_map(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.index_bits = ipt__numbers_are_short(&plan->problem) ? 32 : 64;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_map, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__launch_map(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const size_t units = ipt__instance_units(problem, stage);
    const int back_to_back = !problem->pitched && problem->desc.batch_stride == units * problem->unit_bytes;
    size_t lengths[IPT_MAX_RANK];
    unsigned axes = ipt__result_lengths(&problem->desc, lengths);
    const size_t lines = problem->pitched ? lengths[0] : 1;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__map_arguments *const a = &launch.arguments.map;
    cl_ulong *const divisors = &a->result0; /* of three numbers each */
    a->matrix_stride = ipt__matrix_stride(problem);
    a->line_stride = ipt__result_row(problem);
    a->lines = lines; /* of a matrix; one line if the batch or the matrix is one sequence */
    a->units = units / lines * (back_to_back ? to->matrices : 1);
    a->group_units = ipt__group_run(&problem->limits);
    a->groups = (cl_uint)ipt__ceil_divide((size_t)a->units, (size_t)a->group_units);
    while (axes--)
        divisors[3 * axes] = lengths[axes];
    launch.groups = (cl_ulong)a->groups * lines * (back_to_back ? 1 : to->matrices);
    return ipt__launch_add(to, &launch);
}

static IPT__RARE void ipt__describe_map(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    (void)plan;
    ipt__text_add(out, "map: every element where it lies");
    ipt__describe_end(out, stage);
}
