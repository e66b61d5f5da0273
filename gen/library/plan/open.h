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

/* Gets the cooperative kernel with these parameters for the plan, if the device has one. */
static ipt_result ipt__plan_take_cooperative(ipt_plan *plan, ipt__kernel_id id, const ipt__params *params,
                                             ipt__program **program, ipt__cooperative_kernel *kernel)
{
    const int cache_only = (plan->problem.desc.flags & IPT_CACHE_ONLY) != 0;
    const ipt_result result = ipt__cooperative_get(plan->context, id, *params, cache_only, program, &kernel->resident);
    if (result || !*program) {
        kernel->resident = 0;
        return result;
    }
    kernel->local_bytes = (*program)->params.local_bytes;
    kernel->group_size = (*program)->params.group_size;
    kernel->tall = (int)params->tall;
    kernel->narrow = (int)params->narrow;
    kernel->by_words = (int)params->by_words;
    kernel->registers = params->registers;
    return IPT_SUCCESS;
}

static ipt_result ipt__plan_take_panel(ipt_plan *plan, const ipt__params *params)
{
    return ipt__plan_take_cooperative(plan, IPT__KERNEL_panel, params, &plan->panel, &plan->problem.panel);
}

/* Parameters of the cooperative kernels for a plan. */
static ipt__params ipt__cooperative_params(const ipt__problem *problem)
{
    ipt__params params = ipt__plan_params(problem, problem->element_units);
    ipt__params_apply(&params, &problem->desc, problem->desc.expression != NULL);
    params.index_bits = 32;
    params.tall = problem->desc.rows >= problem->desc.cols;
    return params;
}

/* Whether cooperative bands are rows of the source. That is faster for wide matrices, too, if a band can have enough
 * rows. An H200 took 0.344 ms instead of 0.437 for 4926 x 19883 floats, 5.46 instead of 5.71 for 20000 x 60000, but
 * 5.21 instead of 4.75 for 16384 x 65536. tile_m and tile_n force a side. */
static cl_uint ipt__exchange_is_tall(const ipt__problem *problem)
{
    const ipt_plan_desc *const desc = &problem->desc;
    return ipt__is_tall(problem) || (!desc->tile_m && !desc->tile_n &&
                                     desc->cols * desc->elem_size <= IPT__BANDS_ROW * problem->limits.compute_units);
}

/* Whether the device has cooperative kernels, and the desc a matrix for them. */
static int ipt__plan_may_cooperate(const ipt__problem *problem)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const ipt__limits *const limits = &problem->limits;
    if (!limits->cooperative || limits->group_size < 64 || (desc->flags & IPT_NO_COOPERATIVE) || desc->rows == 1 ||
        desc->cols == 1 || desc->from || desc->to || (desc->flags & IPT_PAD) || !ipt__moves[desc->move].transposed)
        return 0;
    return desc->sequence != IPT_SEQUENCE_AUTO ||
           (!ipt__problem_swaps(problem) && !ipt__swap_places(problem) &&
            (problem->pitched || problem->matrix_bytes > ipt__local_budget(limits))); /* tiles have no gaps */
}

/* Finds the panel kernel for a matrix that fits on the chip: that takes one pass, with the tall kernel. First without
 * registers, then with them if that can be enough. */
static IPT__RARE ipt_result ipt__plan_find_on_chip(ipt_plan *plan, int *fits)
{
    const ipt__problem *const problem = &plan->problem;
    const ipt__move *const move = &ipt__moves[problem->desc.move];
    ipt__params params = ipt__cooperative_params(problem);
    ipt__layout layout;
    ipt_result result;
    size_t most;
    int held;
    *fits = 0;
    if (problem->desc.sequence != IPT_SEQUENCE_AUTO || ipt__super_length(&problem->desc) ||
        problem->matrix_bytes > IPT__ON_CHIP_BYTES)
        return IPT_SUCCESS;
    params.tall = 1;
    params.by_words = ipt__problem_block(problem) > 1;
    params.pitched = problem->pitched != 0;
    params.reversed = ipt__reversed_param(move->reversed_cols, move->reversed_rows);
    for (held = 0; held < 2; ++held) {
        params.registers = held ? (cl_uint)problem->limits.held_vectors : 0;
        result = ipt__plan_take_panel(plan, &params);
        if (result || !plan->panel)
            return result;
        *fits = ipt__layout_on_chip(problem, &layout, ipt__problem_budget(problem));
        if (*fits)
            return IPT_SUCCESS;
        most = problem->panel.resident *
               (problem->panel.local_bytes + problem->limits.held_vectors * 16 * problem->limits.group_size);
        ipt__program_drop(plan->context, plan->panel);
        plan->panel = NULL;
        plan->problem.panel.resident = 0;
        if (!problem->limits.held_vectors || problem->matrix_bytes > most)
            break;
    }
    return IPT_SUCCESS;
}

/* Finds the kernel of cooperative bands. Parked data is read in the launch that wrote it: OpenCL C 1.2 does not promise
 * that. */
static IPT__RARE ipt_result ipt__plan_find_exchange(ipt_plan *plan)
{
    ipt__params params = ipt__cooperative_params(&plan->problem);
    const ipt_plan_desc *const desc = &plan->problem.desc;
    const ipt__move *const move = &ipt__moves[desc->move];
    params.tall = ipt__exchange_is_tall(&plan->problem);
    params.reversed = params.tall ? ipt__reversed_param(move->reversed_cols, move->reversed_rows)
                                  : ipt__reversed_param(move->reversed_rows, move->reversed_cols);
    params.by_words = params.tall && ipt__problem_block(&plan->problem) > 1;
    params.pitched = plan->problem.pitched != 0;
    params.groups_at_once = ipt__exchange_groups(&params);
    if (!plan->problem.limits.memory_model ||
        (desc->sequence != IPT_SEQUENCE_EXCHANGE && (desc->sequence != IPT_SEQUENCE_AUTO || ipt__super_length(desc))))
        return IPT_SUCCESS;
    return ipt__plan_take_cooperative(plan, IPT__KERNEL_exchange, &params, &plan->exchange, &plan->problem.exchange);
}

/* Whether the model is sure that two passes cannot be faster, so that their programs need not be built. Measurements,
 * earlier ones too, may choose otherwise. */
static IPT__RARE int ipt__exchange_is_best(const ipt_plan *plan)
{
    const ipt__problem *const problem = &plan->problem;
    const size_t budget = ipt__problem_budget(problem);
    ipt__layout layout;
    return problem->exchange.resident && !(problem->desc.flags & IPT_MEASURE) && !plan->context->wisdom &&
           ipt__layout_best_bands(problem, &layout, budget, 0, ~(size_t)0) &&
           ipt__bands_are_best(problem, &layout, budget);
}

static IPT__RARE ipt_result ipt__plan_find_panel(ipt_plan *plan)
{
    const ipt__problem *const problem = &plan->problem;
    const size_t shorter = ipt__min(problem->desc.rows, problem->desc.cols);
    ipt__params params = ipt__cooperative_params(problem);
    if (problem->desc.sequence != IPT_SEQUENCE_AUTO && problem->desc.sequence != IPT_SEQUENCE_TWO_PASS)
        return IPT_SUCCESS;
    params.narrow = shorter * problem->desc.elem_size <= IPT__NARROW_BYTES &&
                    shorter <= problem->limits.group_size; /* a turn handles whole rows */
    return ipt__plan_take_panel(plan, &params);
}

/* Finds the cooperative kernels that the plan may choose from, and their resident groups. */
static IPT__RARE ipt_result ipt__plan_find_cooperative(ipt_plan *plan)
{
    int done;
    ipt_result result;
    plan->problem.refused_bytes = ipt__least_refused(plan->context); /* tiles that turn squares may be too large */
    if (!ipt__plan_may_cooperate(&plan->problem))
        return IPT_SUCCESS;
    result = ipt__plan_find_on_chip(plan, &done);
    if (result || done)
        return result;
    result = ipt__plan_find_exchange(plan);
    return result || plan->problem.pitched || ipt__exchange_is_best(plan) ? result : ipt__plan_find_panel(plan);
}
