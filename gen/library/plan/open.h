/* Opening plans: kernels, launches and workspace of a layout. */

/* Builds the kernels of the plan's layout, fixes its launches and allocates its workspace. */
static IPT__RARE ipt_result ipt__plan_open(ipt_plan *plan)
{
    ipt_result result = IPT_SUCCESS;
    int i;
    ipt__layout_add_epilogue(&plan->problem, &plan->layout);
    for (i = 0; i < plan->layout.stage_count && !result; ++i)
        result = ipt__stage_get_kernels(plan, &plan->layout.stages[i]);
    for (i = 0; i < plan->layout.stage_count && !result; ++i)
        result = ipt__stage_launch(plan, &plan->layout.stages[i], 0, &plan->launches);
    return result ? result : ipt__plan_take_workspace(plan);
}

/* Releases the resources of ipt__plan_open. OpenCL keeps them alive for running executions. */
static IPT__RARE void ipt__plan_close(ipt_plan *plan)
{
    if (plan->own.last)
        ipt__cl.clReleaseEvent(plan->own.last);
    plan->own.last = NULL;
    if (plan->own.buffer)
        ipt__cl.clReleaseMemObject(plan->own.buffer);
    plan->own.buffer = NULL;
    plan->own.bytes = 0;
    ipt__launches_free(&plan->context->allocator, &plan->launches);
    while (plan->kernel_count) {
        ipt__plan_kernel *const kernel = &plan->kernels[--plan->kernel_count];
        if (kernel->kernel)
            ipt__cl.clReleaseKernel(kernel->kernel);
        ipt__program_drop(plan->context, kernel->program);
    }
    plan->out_of_place = -1;
}

/* Gets the cooperative panel kernel with these parameters for the plan, if the device has one. */
static ipt_result ipt__plan_take_panel(ipt_plan *plan, const ipt__params *params)
{
    ipt__panel_kernel *const panel = &plan->problem.panel;
    const int cache_only = (plan->problem.desc.flags & IPT_CACHE_ONLY) != 0;
    const ipt_result result = ipt__panel_get(plan->context, *params, cache_only, &plan->panel, &panel->resident);
    if (result || !plan->panel) {
        panel->resident = 0;
        return result;
    }
    panel->local_bytes = plan->panel->params.local_bytes;
    panel->group_size = plan->panel->params.group_size;
    panel->tall = (int)params->tall;
    panel->narrow = (int)params->narrow;
    return IPT_SUCCESS;
}

/* Finds the cooperative panel kernel and its resident groups, if the plan may use it. */
static IPT__RARE ipt_result ipt__plan_find_panel(ipt_plan *plan)
{
    const ipt__problem *const problem = &plan->problem;
    const ipt_plan_desc *const desc = &problem->desc;
    const ipt__limits *const limits = &problem->limits;
    const size_t shorter = ipt__min(desc->rows, desc->cols);
    ipt__params params;
    if (!limits->cooperative || limits->group_size < 64 || (desc->flags & IPT_NO_COOPERATIVE) || shorter == 1 ||
        desc->from || desc->to || (desc->flags & IPT_PAD) || !ipt__moves[desc->move].transposed ||
        (desc->sequence != IPT_SEQUENCE_AUTO && desc->sequence != IPT_SEQUENCE_TWO_PASS))
        return IPT_SUCCESS;
    if (desc->sequence == IPT_SEQUENCE_AUTO &&
        (desc->rows == desc->cols || problem->matrix_bytes <= ipt__local_budget(limits)))
        return IPT_SUCCESS;
    params = ipt__plan_params(problem, problem->element_units, 1);
    params.apply = desc->expression != NULL;
    params.index_bits = 32;
    /* A matrix that fits on the chip takes one pass, with the tall kernel. */
    if (desc->sequence == IPT_SEQUENCE_AUTO && desc->batch == 1 && problem->matrix_bytes <= IPT__ON_CHIP_BYTES) {
        ipt__layout layout;
        ipt_result result;
        params.tall = 1;
        result = ipt__plan_take_panel(plan, &params);
        if (result || !plan->panel || ipt__layout_on_chip(problem, &layout))
            return result;
        ipt__program_drop(plan->context, plan->panel);
    }
    params.tall = desc->rows >= desc->cols;
    params.narrow =
        shorter * desc->elem_size <= IPT__NARROW_BYTES && shorter <= limits->group_size; /* a turn handles whole rows */
    return ipt__plan_take_panel(plan, &params);
}
