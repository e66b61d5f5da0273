/* Opening plans: kernels, launches and workspace of a layout. */

/* Builds the kernels of the plan's layout, fixes its launches and allocates its workspace. */
static IPT__RARE ipt_result ipt__plan_open(ipt_plan *plan)
{
    ipt_result result = IPT_SUCCESS;
    int i;
    ipt__layout_add_epilogue(&plan->problem, &plan->device->layout);
    for (i = 0; i < plan->device->layout.stage_count && !result; ++i)
        result = ipt__stage_get_kernels(plan, &plan->device->layout.stages[i]);
    for (i = 0; i < plan->device->layout.stage_count && !result; ++i)
        result = ipt__stage_launch(plan, &plan->device->layout.stages[i], 0, &plan->device->launches);
    return result ? result : ipt__plan_take_workspace(plan);
}

/* Releases the resources of ipt__plan_open. OpenCL keeps them alive for running executions. */
static IPT__RARE void ipt__plan_close(ipt_plan *plan)
{
    ipt__workspace_close(plan->context, &plan->own);
    ipt__launches_free(&plan->context->allocator, &plan->device->launches);
    while (plan->device->kernel_count) {
        ipt__plan_kernel *const kernel = &plan->device->kernels[--plan->device->kernel_count];
        if (kernel->kernel)
            ipt__calls(plan->context)->clReleaseKernel(kernel->kernel);
        ipt__program_drop(plan->context, kernel->program);
    }
    ipt__release(&plan->context->allocator, plan->device->kernels);
    plan->device->kernels = NULL;
    plan->device->kernel_capacity = 0;
    plan->device->out_of_place = -1;
}
