/* Opening plans: kernels and workspace of a layout. */

/* Builds the kernels and allocates the workspace of the plan's layout. */
static IPT__RARE ipt_result ipt__plan_open(ipt_plan *plan)
{
    ipt_result result = IPT_SUCCESS;
    int i;
    ipt__layout_add_epilogue(plan, &plan->layout);
    for (i = 0; i < plan->layout.stage_count && !result; ++i)
        result = ipt__stage_kernels(plan, &plan->layout.stages[i]);
    return result ? result : ipt__plan_take_workspace(plan);
}

/* Releases the resources of ipt__plan_open. OpenCL keeps them alive for running executions. */
static void ipt__plan_close(ipt_plan *plan)
{
    if (plan->last)
        ipt__cl.clReleaseEvent(plan->last);
    plan->last = NULL;
    if (plan->workspace && !plan->owner)
        ipt__cl.clReleaseMemObject(plan->workspace);
    plan->workspace = NULL;
    while (plan->kernel_count) {
        ipt__plan_kernel *const kernel = &plan->kernels[--plan->kernel_count];
        if (kernel->kernel)
            ipt__cl.clReleaseKernel(kernel->kernel);
        ipt__program_drop(plan->context, kernel->program);
    }
    plan->out_of_place_kernel = -1;
}

/* The workspace limit in bytes; 0: the minimum. */
static size_t ipt__plan_budget(const ipt_plan *plan)
{
    if (plan->desc.max_workspace)
        return plan->desc.max_workspace == 1 ? 0 : plan->desc.max_workspace;
    return ipt__max((size_t)1 << 20, plan->matrix_bytes * plan->desc.batch / 100);
}

/* Finds the cooperative panel kernel and its resident groups, if the plan may use it. */
static ipt_result ipt__plan_find_panel(ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const ipt__limits *const limits = &plan->context->limits;
    const int cache_only = (desc->flags & IPT_CACHE_ONLY) != 0;
    ipt__params params;
    ipt_result result;
    if (!limits->cooperative || limits->group_size < 64 || (desc->flags & IPT_NO_COOPERATIVE) || desc->rows == 1 ||
        desc->cols == 1 || desc->from || desc->to || (desc->flags & IPT_PAD) || !ipt__moves[desc->move].transposed ||
        (desc->sequence != IPT_SEQUENCE_AUTO && desc->sequence != IPT_SEQUENCE_TWO_PASS))
        return IPT_SUCCESS;
    if (desc->sequence == IPT_SEQUENCE_AUTO &&
        (desc->rows == desc->cols || plan->matrix_bytes <= ipt__local_budget(limits)))
        return IPT_SUCCESS;
    params = ipt__plan_params(plan, plan->element_units, 1);
    params.apply = desc->expression != NULL;
    params.index_bits = 32;
    /* A matrix that fits on the chip takes one pass, with the tall kernel. */
    if (desc->sequence == IPT_SEQUENCE_AUTO && desc->batch == 1 && plan->matrix_bytes <= IPT__ON_CHIP_BYTES) {
        ipt__layout layout;
        params.tall = 1;
        result = ipt__panel_get(plan->context, params, cache_only, &plan->panel, &plan->resident);
        if (result || !plan->panel || ipt__layout_on_chip(plan, &layout))
            return result;
        ipt__program_drop(plan->context, plan->panel);
    }
    params.tall = desc->rows >= desc->cols;
    params.narrow = ipt__min(desc->rows, desc->cols) * desc->elem_size <= IPT__NARROW_BYTES &&
                    ipt__min(desc->rows, desc->cols) <= limits->group_size; /* a turn handles whole rows */
    return ipt__panel_get(plan->context, params, cache_only, &plan->panel, &plan->resident);
}
