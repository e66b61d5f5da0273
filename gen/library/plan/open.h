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
    ipt__workspace_close(&plan->own);
    ipt__launches_free(&plan->context->allocator, &plan->launches);
    while (plan->kernel_count) {
        ipt__plan_kernel *const kernel = &plan->kernels[--plan->kernel_count];
        if (kernel->kernel)
            ipt__cl.clReleaseKernel(kernel->kernel);
        ipt__program_drop(plan->context, kernel->program);
    }
    ipt__release(&plan->context->allocator, plan->kernels);
    plan->kernels = NULL;
    plan->kernel_capacity = 0;
    plan->out_of_place = -1;
}
