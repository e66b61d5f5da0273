/* MAP stages: apply the expression to every element in place. */

/* Sets the parameters that only this kernel has. Without axes, the elements of the batch are one sequence. */
static void ipt__map_params(const ipt__problem *problem, ipt__params *params)
{
    const ipt_plan_desc *const desc = &problem->desc;
    size_t lengths[IPT_MAX_RANK];
    const int needed = ipt__named_places(desc) || problem->pitched || desc->batch_stride != problem->matrix_bytes;
    params->axes = needed ? ipt__result_lengths(desc, lengths) : 0;
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
    size_t lengths[IPT_MAX_RANK];
    unsigned axes = ipt__result_lengths(&problem->desc, lengths);
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__map_arguments *const a = &launch.arguments.map;
    cl_ulong *const divisors = &a->length0; /* of three numbers each */
    a->elements = (cl_ulong)stage->rows * stage->cols * to->matrices;
    a->group_elements = ipt__group_run(&problem->limits);
    a->matrix_gap = ipt__matrix_stride(problem) - stage->rows * stage->cols;
    a->line_gap = problem->pitched ? ipt__result_row(problem) - lengths[1] : 0;
    while (axes--)
        divisors[3 * axes] = lengths[axes];
    launch.groups = ipt__ceil_divide((size_t)a->elements, (size_t)a->group_elements);
    return ipt__launch_add(to, &launch);
}

static IPT__RARE void ipt__describe_map(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__text_add(out, "map: every element where it lies%s",
                  ipt__named_places(&plan->problem.desc) ? ", by its place" : "");
    ipt__describe_end(out, stage);
}
