/* MAP stages: apply the expression to every element in place. */

/* Sets the parameters that only this kernel has. */
static void ipt__map_params(const ipt__problem *problem, ipt__params *params)
{
    const ipt_plan_desc *const desc = &problem->desc;
    size_t lengths[IPT_MAX_RANK];
    params->axes = ipt__named_places(desc) ? ipt__result_lengths(desc, lengths) : 0;
    params->index_bits = problem->matrix_bytes / desc->elem_size < 0x80000000u / desc->batch ? 32 : 64;
}

static IPT__RARE ipt_result ipt__kernels_map(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    ipt__map_params(&plan->problem, &params);
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
    cl_ulong *const divisors = &a->length0; /* of three numbers each */
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
    ipt__text_add(out, "map: every element where it lies%s",
                  ipt__named_places(&plan->problem.desc) ? ", by its place" : "");
    ipt__describe_end(out, stage);
}
