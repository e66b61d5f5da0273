/* The kernels of a plan. */

/* Finds the plan's kernel for these parameters, or builds it. */
static ipt_result ipt__plan_kernel_get(ipt_plan *plan, ipt__kernel_id id, ipt__params params, int *index)
{
    ipt__plan_kernel *const kernel = &plan->kernels[plan->kernel_count];
    cl_int error;
    ipt_result result;
    if (!ipt__params_reduce(&params, ipt__kernels[id].uses))
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "a parameter of %s is out of range", ipt__kernels[id].name);
    for (*index = 0; *index < plan->kernel_count; ++*index)
        if (plan->kernels[*index].program->id == id &&
            ipt__params_equal(&plan->kernels[*index].program->params, &params))
            return IPT_SUCCESS;
    if (plan->kernel_count == IPT__MAX_KERNELS)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the plan would need more than %d kernels", IPT__MAX_KERNELS);
    result = ipt__program_get(plan->context, id, &params, (plan->problem.desc.flags & IPT_CACHE_ONLY) != 0,
                              &kernel->program);
    if (result)
        return result;
    kernel->kernel = NULL;
    if (plan->context->context) {
        kernel->kernel = ipt__cl.clCreateKernel(kernel->program->program, ipt__kernels[id].name, &error);
        if (error) {
            ipt__program_drop(plan->context, kernel->program);
            return ipt__fail_opencl("clCreateKernel", error);
        }
    }
    *index = plan->kernel_count++;
    return IPT_SUCCESS;
}

/* Kernel parameters for elements of element_units units, with `tiles` tiles in local memory. */
static ipt__params ipt__plan_params(const ipt__problem *problem, size_t element_units, size_t tiles)
{
    size_t side, chunk;
    ipt__params params;
    memset(&params, 0, sizeof params);
    ipt__transpose_tile(problem, element_units, tiles, &side, &chunk);
    params.unit_bytes = (cl_uint)problem->unit_bytes;
    params.element_units = element_units == 1;
    /* PoCL vectorizes loops of a work-item: one work-item per work-group moves tiles up to 1.6 times as fast. */
    params.group_size = problem->limits.cpu ? 1 : (cl_uint)problem->limits.group_size;
    params.tile = (cl_uint)side;
    params.lanes = (cl_uint)(problem->limits.cpu ? 1 : ipt__min(32, problem->limits.group_size));
    params.memory_model = (cl_uint)problem->limits.memory_model;
    params.expression = problem->desc.expression;
    params.expression_type = problem->desc.expression_type;
    return params;
}

/* The same for a kernel that takes as much local memory as may build: a refused size is recorded, and the planner then
 * chooses again. */
static ipt_result ipt__plan_kernel_within(ipt_plan *plan, ipt__kernel_id id, ipt__params params, int *index)
{
    const ipt_result result = ipt__plan_kernel_get(plan, id, params, index);
    if (result == IPT_ERROR_BUILD)
        ipt__refuse_local(plan->context, params.local_bytes);
    return result;
}

static ipt_result ipt__stage_kernels(ipt_plan *plan, ipt__stage *stage)
{
    ipt__params params = ipt__plan_params(&plan->problem, ipt__stage_units(&plan->problem, stage),
                                          stage->kind == IPT__STAGE_SWAP ? 2 : 1);
    const int cache_only = (plan->problem.desc.flags & IPT_CACHE_ONLY) != 0;
    ipt__kernel_id id = IPT__KERNEL_transpose;
    int *index = &stage->kernels[0];
    ipt_result result = IPT_SUCCESS;
    params.apply = (cl_uint)stage->apply;
    switch (stage->kind) {
    case IPT__STAGE_SAVE:
        break;
    case IPT__STAGE_FLIP:
        id = IPT__KERNEL_flip;
        params.index_bits = ipt__flip_pairs(stage) < (size_t)1 << 31 ? 32 : 64;
        break;
    case IPT__STAGE_MAP:
        id = IPT__KERNEL_map;
        break;
    case IPT__STAGE_TILE:
        if (stage->pack_bytes)
            return ipt__plan_kernel_within(plan, IPT__KERNEL_pack,
                                           ipt__pack_params(&plan->problem, stage, stage->apply), index);
        id = IPT__KERNEL_tile;
        if (stage->variant) {
            params.group_size = (cl_uint)(stage->lanes * stage->workers);
            params.bank_padding = stage->variant->bank_padding;
        }
        break;
#ifndef IPT_NO_PAPERS
    case IPT__STAGE_PTTWAC_010:
        id = IPT__KERNEL_pttwac_010;
        params.group_size = (cl_uint)stage->lanes;
        params.flag_spread = plan->problem.desc.flag_spread ? (cl_uint)plan->problem.desc.flag_spread : 1;
        params.flag_layout = stage->variant->flag_layout;
        break;
    case IPT__STAGE_P_IPT:
        id = IPT__KERNEL_p_ipt;
        params.group_size = (cl_uint)(stage->lanes * stage->workers);
        params.lanes = (cl_uint)stage->lanes;
        params.index_bits = stage->rows * stage->cols < (size_t)1 << 31 ? 32 : 64;
        break;
    case IPT__STAGE_PAD:
        id = IPT__KERNEL_pad;
        params.group_size = (cl_uint)plan->context->limits.group_size;
        params.chained = plan->problem.desc.variant_pad == IPT_VARIANT_PAD_CHAINED;
        break;
#else
    case IPT__STAGE_PTTWAC_010: /* no plan has these stages */
    case IPT__STAGE_P_IPT:
    case IPT__STAGE_PAD:
        break;
#endif
    case IPT__STAGE_SWAP:
        id = IPT__KERNEL_swap;
        params.tile = (cl_uint)stage->tile_side;
        params.local_bytes = (cl_uint)stage->tile_bytes;
        if (stage->tile_side > 32) {
            params.group_size = (cl_uint)stage->tile_group;
            return ipt__plan_kernel_within(plan, id, params, index);
        }
        break;
    case IPT__STAGE_WAVE:
        result = ipt__plan_kernel_get(plan, id, params, index++);
        id = IPT__KERNEL_copy;
        break;
    case IPT__STAGE_RESTORE:
        id = IPT__KERNEL_copy;
        break;
    case IPT__STAGE_PANEL:
        id = IPT__KERNEL_panel;
        params.index_bits = 32;
        params.tall = (cl_uint)stage->chunks.tall;
        params.narrow = (cl_uint)stage->chunks.narrow;
        params.local_bytes = (cl_uint)plan->problem.panel.local_bytes;
        params.group_size = (cl_uint)plan->problem.panel.group_size;
        break;
    case IPT__STAGE_SHUFFLE:
        id = stage->chains ? IPT__KERNEL_chains : IPT__KERNEL_shuffle;
        if (stage->inner_rows) /* long super-elements, much computation per unit */
            while (!plan->context->limits.cpu && params.lanes < plan->context->limits.group_size &&
                   params.lanes * 8 <= stage->piece_units)
                params.lanes *= 2;
        params.group_size = params.lanes; /* one work-group per chain */
        params.flag_spread = 1;
        if (stage->variant) {
            params.lanes = (cl_uint)stage->lanes;
            params.group_size = (cl_uint)(stage->lanes * stage->workers);
            params.registers = stage->variant->registers;
            params.flag_spread = plan->problem.desc.flag_spread ? (cl_uint)plan->problem.desc.flag_spread : 1;
        }
        if (stage->chains) {
            params.piece_quanta = (cl_uint)stage->piece_vectors;
            params.chains = (cl_uint)ipt__chains_at_once(&plan->problem, stage);
        }
        params.index_bits = stage->rows * stage->cols < (size_t)1 << 31 ? 32 : 64;
        params.inner = stage->inner_rows != 0;
        if (stage->chains)
            result = ipt__sub_groups_get(plan->context, &params, cache_only);
        break;
    }
    if (!result)
        result = ipt__plan_kernel_get(plan, id, params, index);
    if (!result && stage->by_words) {
        params.unit_bytes = IPT__WORD_BYTES;
        if (stage->chains)
            result = ipt__sub_groups_get(plan->context, &params, cache_only);
        if (!result)
            result = ipt__plan_kernel_get(plan, id, params, &stage->word_kernel);
    }
    return result;
}
