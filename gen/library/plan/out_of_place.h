/* Transposition into a second buffer. */

/* The out-of-place tile for GPUs, in elements. Rows of about 384 bytes cut few memory sectors. Local memory limits the
 * number of rows. Matrices with few rows get longer ones. */
static IPT__RARE ipt__tile_layout ipt__out_of_place_tile(const ipt__problem *problem, const ipt__params *params,
                                                         size_t *tile_rows, size_t *tile_cols)
{
    const size_t size = problem->desc.elem_size, vectors = params->local_bytes / 16;
    const size_t most_rows = ipt__min(problem->desc.rows, IPT__CHUNK_RUNS),
                 block = params->by_words ? ipt__problem_block(problem) : 1;
    size_t wanted = ipt__max(384 / size, 8);
    ipt__tile_layout layout;
    if (problem->desc.rows < 256) /* a row takes up to 2 vectors more than its bytes */
        wanted =
            ipt__max(wanted, (vectors / problem->desc.rows > 2 ? vectors / problem->desc.rows - 2 : 0) * 16 / size);
    *tile_cols = ipt__min(problem->desc.cols, ipt__round_up(wanted, block));
    for (;; *tile_cols = ipt__round_up((*tile_cols + 1) / 2, block)) {
        layout = ipt__lay_out_tile(problem, params->group_size, *tile_cols * size,
                                   ipt__source_row(problem) * problem->unit_bytes, block);
        *tile_rows = most_rows;
        while (*tile_rows > 1 && ipt__tile_vectors(&layout, *tile_rows) > vectors)
            *tile_rows -= *tile_rows > 8 ? 8 - (8 - *tile_rows % 8) % 8 : 1;
        if (ipt__tile_vectors(&layout, *tile_rows) <= vectors || *tile_cols <= block)
            return layout;
    }
}

/* Builds the out-of-place kernel. GPUs fetch large tiles by vectors, with as much local memory as builds. CPUs, and
 * elements that do not fit, use the plain tiled kernel. */
static IPT__RARE ipt_result ipt__out_of_place_build(ipt_plan *plan, int *kernel)
{
    const ipt__limits *const limits = &plan->context->limits;
    size_t tries[2];
    ipt__params plain = ipt__plan_params(&plan->problem, plan->problem.element_units);
    int i;
    ipt__params_apply(&plain, &plan->problem.desc, ipt__applies_anywhere(&plan->problem));
    ipt__chunk_tries(limits, tries);
    for (i = 0; i < 2 && !limits->cpu && limits->group_size >= 64 && plan->problem.desc.elem_size <= 256; ++i) {
        ipt__params params = plain;
        ipt_result result;
        if (!tries[i] || ipt__local_refused(plan->context, tries[i]))
            continue;
        /* Elements above a word are faster by units: notebook.md, Methods. */
        params.by_words = ipt__problem_block(&plan->problem) > 1 && plan->problem.desc.elem_size < IPT__WORD_BYTES;
        params.local_bytes = (cl_uint)tries[i];
        if (tries[i] == IPT__CHUNK_BYTES_LARGE)
            params.group_size = IPT__CHUNK_GROUP_LARGE;
        result = ipt__plan_kernel_get(plan, IPT__KERNEL_out_of_place, params, kernel);
        if (result != IPT_ERROR_BUILD)
            return result;
        ipt__refuse_local(plan->context, tries[i]);
    }
    return ipt__plan_kernel_get(plan, IPT__KERNEL_transpose, plain, kernel);
}

/* The tiled kernel, for CPUs and elements that do not fit local memory. */
static IPT__RARE ipt_result ipt__launch_out_of_place_plain(ipt__launcher *to, int kernel)
{
    const ipt__problem *const problem = &to->plan->problem;
    const cl_ulong units = problem->element_units;
    ipt__launch launch = ipt__launch_of(to, kernel);
    ipt__transpose_arguments *const a = &launch.arguments.transpose;
    launch.given = 3;
    a->source_matrix_stride = a->target_matrix_stride = ipt__matrix_stride(problem);
    a->instances_per_matrix = 1;
    a->rows = problem->desc.rows;
    a->cols = problem->desc.cols;
    a->source_row_stride = ipt__source_row(problem);
    a->target_row_stride = ipt__result_row(problem);
    a->element_units = (cl_uint)units;
    return ipt__launch_transpose(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_out_of_place(ipt__launcher *to, int kernel)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt_plan_desc *const desc = &problem->desc;
    const cl_ulong units = problem->element_units;
    ipt__launch launch = ipt__launch_of(to, kernel);
    ipt__out_of_place_arguments *const a = &launch.arguments.out_of_place;
    size_t tile_rows, tile_cols;
    const ipt__tile_layout layout =
        ipt__out_of_place_tile(problem, ipt__launch_params(to, &launch), &tile_rows, &tile_cols);
    const cl_ulong tiles_down = ipt__ceil_divide(desc->rows, tile_rows),
                   tiles = tiles_down * ipt__ceil_divide(desc->cols, tile_cols);
    launch.given = 3;
    launch.groups = tiles * desc->batch;
    a->source_matrix_stride = a->target_matrix_stride = ipt__matrix_stride(problem);
    a->matrix_units = (desc->rows - 1) * ipt__source_row(problem) + desc->cols * units;
    a->source_row_stride = ipt__source_row(problem);
    a->target_row_stride = ipt__result_row(problem);
    a->rows = desc->rows;
    a->cols = desc->cols;
    a->tile_rows = (cl_uint)tile_rows;
    a->tile_cols = (cl_uint)tile_cols;
    a->tiles = (cl_uint)tiles; /* fits if the number of groups does */
    a->tiles_down = (cl_uint)tiles_down;
    a->pitch = (cl_uint)layout.pitch;
    a->skew = (cl_uint)layout.skew;
    a->run_lanes = (cl_uint)layout.run_lanes;
    a->element_units = (cl_uint)units;
    return ipt__launch_add(to, &launch);
}

#ifndef IPT_NO_VIEWS
static IPT__RARE ipt_result ipt__launch_view_out_of_place(ipt__launcher *to, ipt_plan *plan)
{
    ipt__layout layout;
    ipt__stage *stage;
    ipt_result result;
    ipt__layout_begin(&layout);
    stage = ipt__stage_add_view(&plan->problem, &layout);
    stage->apply = plan->problem.desc.expression != NULL;
    result = ipt__stage_get_kernels(plan, stage);
    return result ? result : ipt__launch_elements(to, stage, 3, 0, stage->cols);
}
#endif

/* Adds the launch out of place to a plan that has none. */
static IPT__RARE ipt_result ipt__out_of_place_get(ipt_plan *plan)
{
    ipt__launcher to;
    int kernel;
    ipt_result result;
    memset(&to, 0, sizeof to);
    to.plan = plan;
    to.launches = &plan->device->launches;
    to.matrices = plan->problem.desc.batch;
    to.instances = to.by_units = to.by_words = 1;
#ifndef IPT_NO_VIEWS
    if (ipt__is_view(&plan->problem))
        result = ipt__launch_view_out_of_place(&to, plan);
    else
#endif
    {
        result = ipt__out_of_place_build(plan, &kernel);
        if (!result)
            result = plan->device->kernels[kernel].program->id == IPT__KERNEL_transpose
                         ? ipt__launch_out_of_place_plain(&to, kernel)
                         : ipt__launch_out_of_place(&to, kernel);
    }
    if (!result)
        plan->device->out_of_place = plan->device->launches.count - 1;
    return result;
}
