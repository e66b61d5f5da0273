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
    kernel->is_set = 0;
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

/* The stage's last kernel, and its variant for words. */
static ipt_result ipt__stage_kernel_get(ipt_plan *plan, ipt__stage *stage, ipt__kernel_id id, ipt__params params,
                                        int *index)
{
    ipt_result result = ipt__plan_kernel_get(plan, id, params, index);
    if (result || !stage->by_words)
        return result;
    params.unit_bytes = IPT__WORD_BYTES;
    return ipt__plan_kernel_get(plan, id, params, &stage->word_kernel);
}

static IPT__RARE ipt_result ipt__kernels_save(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    return ipt__stage_kernel_get(plan, stage, stage->straight ? IPT__KERNEL_copy : IPT__KERNEL_transpose, params,
                                 &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__kernels_restore(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_copy, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__kernels_wave(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    const ipt_result result = ipt__plan_kernel_get(plan, IPT__KERNEL_transpose, params, &stage->kernels[0]);
    return result ? result : ipt__stage_kernel_get(plan, stage, IPT__KERNEL_copy, params, &stage->kernels[1]);
}

static IPT__RARE ipt_result ipt__kernels_exchange(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    ipt_result result;
    params.tall = (cl_uint)stage->bands.tall;
    if (stage->bands.together) {
        params.reversed = ipt__reversed_param(ipt__reversed_runs(stage), ipt__reversed_columns(stage));
        params.local_bytes = (cl_uint)plan->problem.exchange.local_bytes;
        params.group_size = (cl_uint)plan->problem.exchange.group_size;
        params.by_words = (cl_uint)plan->problem.exchange.by_words;
        params.pitched = plan->problem.pitched != 0;
        params.groups_at_once = ipt__exchange_groups(&params);
        return ipt__plan_kernel_get(plan, IPT__KERNEL_exchange, params, &stage->kernels[0]);
    }
    if (stage->bands.workers)
        return ipt__plan_kernel_get(plan, IPT__KERNEL_waves, params, &stage->kernels[0]);
    result = ipt__plan_kernel_get(plan, IPT__KERNEL_transpose, params, &stage->kernels[0]);
    return result ? result : ipt__plan_kernel_get(plan, IPT__KERNEL_runs, params, &stage->kernels[1]);
}

static IPT__RARE ipt_result ipt__kernels_flip(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    const size_t vectors = 2 * (IPT__FLIP_LANES + 3) * IPT__VECTOR_BYTES; /* of local memory, for IPT__FLIP_LANES */
    params.group_size = ipt__min(params.group_size, IPT__FLIP_GROUP);
    while (params.group_size > IPT__FLIP_LANES &&
           params.group_size / IPT__FLIP_LANES * vectors > plan->problem.limits.local_memory)
        params.group_size /= 2;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_flip, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__kernels_map(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_map, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__kernels_tile(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    if (stage->tile.pack_bytes)
        return ipt__plan_kernel_within(plan, IPT__KERNEL_pack, ipt__pack_params(&plan->problem, stage, stage->apply),
                                       &stage->kernels[0]);
    if (stage->variant) {
        params.group_size = (cl_uint)(stage->lanes * stage->workers);
        params.bank_padding = stage->variant->bank_padding;
    }
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_tile, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__kernels_swap(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.tile = (cl_uint)stage->swap.side;
    params.local_bytes = (cl_uint)stage->swap.local_bytes;
    if (stage->swap.side <= IPT__SMALL_TILE)
        return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_swap, params, &stage->kernels[0]);
    params.group_size = (cl_uint)stage->swap.group_size;
    params.reversed = ipt__reversed_param(stage->reversed_cols, stage->reversed_rows);
    return ipt__plan_kernel_within(plan, IPT__KERNEL_swap, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__kernels_panel(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.index_bits = 32;
    params.tall = (cl_uint)stage->panel.tall;
    params.narrow = (cl_uint)stage->panel.narrow;
    params.reversed = ipt__reversed_param(stage->reversed_cols, stage->reversed_rows);
    params.local_bytes = (cl_uint)plan->problem.panel.local_bytes;
    params.group_size = (cl_uint)plan->problem.panel.group_size;
    params.by_words = (cl_uint)plan->problem.panel.by_words;
    params.registers = (cl_uint)plan->problem.panel.registers;
    params.pitched = plan->problem.pitched != 0;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_panel, params, &stage->kernels[0]);
}

/* Kernel chains, of sub-groups if the device's can be trusted. */
static IPT__RARE ipt_result ipt__kernels_chains(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    const int cache_only = (plan->problem.desc.flags & IPT_CACHE_ONLY) != 0;
    ipt_result result;
    params.piece_vectors = (cl_uint)stage->shuffle.piece_vectors;
    params.chains = (cl_uint)ipt__chains_at_once(&plan->problem, stage);
    result = ipt__sub_groups_get(plan->context, &params, cache_only);
    if (!result)
        result = ipt__plan_kernel_get(plan, IPT__KERNEL_chains, params, &stage->kernels[0]);
    if (result || !stage->by_words)
        return result;
    params.unit_bytes = IPT__WORD_BYTES;
    result = ipt__sub_groups_get(plan->context, &params, cache_only);
    return result ? result : ipt__plan_kernel_get(plan, IPT__KERNEL_chains, params, &stage->word_kernel);
}

static IPT__RARE ipt_result ipt__kernels_shuffle(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.flag_spread = (cl_uint)(32 / ipt__word_flags(&plan->problem, stage));
    params.group_size = params.lanes; /* one work-group per chain */
    if (stage->lanes) {
        params.lanes = (cl_uint)stage->lanes;
        params.group_size = (cl_uint)(stage->lanes * stage->workers);
    }
    if (stage->variant)
        params.registers = stage->variant->registers;
    params.index_bits = stage->rows * stage->cols < (size_t)1 << 31 ? 32 : 64;
    params.inner = stage->shuffle.inner_rows != 0;
    if (stage->shuffle.pairs)
        return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_pairs, params, &stage->kernels[0]);
    if (stage->shuffle.chains)
        return ipt__kernels_chains(plan, stage, params);
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_shuffle, params, &stage->kernels[0]);
}

/* The expression belongs to one of both transpositions. */
static IPT__RARE ipt_result ipt__kernels_spread(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    const ipt_result result = ipt__plan_kernel_get(plan, IPT__KERNEL_transpose, params, &stage->kernels[0]);
    ipt__params_apply(&params, &plan->problem.desc, 0);
    return result ? result : ipt__plan_kernel_get(plan, IPT__KERNEL_transpose, params, &stage->kernels[1]);
}

#ifndef IPT_NO_PAPERS
static IPT__RARE ipt_result ipt__kernels_pttwac_010(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.group_size = (cl_uint)stage->lanes;
    params.flag_spread = plan->problem.desc.flag_spread ? (cl_uint)plan->problem.desc.flag_spread : 1;
    params.flag_layout = stage->variant->flag_layout;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_pttwac_010, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__kernels_p_ipt(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.group_size = (cl_uint)(stage->lanes * stage->workers);
    params.lanes = (cl_uint)stage->lanes;
    params.index_bits = stage->rows * stage->cols < (size_t)1 << 31 ? 32 : 64;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_p_ipt, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__kernels_pad(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.group_size = (cl_uint)plan->problem.limits.group_size;
    params.chained = plan->problem.desc.variant_pad == IPT_VARIANT_PAD_CHAINED;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_pad, params, &stage->kernels[0]);
}
#endif

static ipt_result (*const ipt__stage_kernels[])(ipt_plan *plan, ipt__stage *stage, ipt__params params) = {
#define IPT__STAGE_KERNELS(kind, need, cost, kernels, describe, launch) ipt__kernels_##kernels,
    IPT__STAGE_LIST(IPT__STAGE_KERNELS, IPT__IF_PAPERS(IPT__STAGE_KERNELS, IPT__NO_FUNCTION))};

/* Gets all kernels of a stage. */
static ipt_result ipt__stage_get_kernels(ipt_plan *plan, ipt__stage *stage)
{
    const size_t tiles = stage->kind == IPT__STAGE_SWAP ? 2 : 1;
    ipt__params params = ipt__plan_params(&plan->problem, ipt__stage_units(&plan->problem, stage), tiles);
    ipt__params_apply(&params, &plan->problem.desc, stage->apply);
    return ipt__stage_kernels[stage->kind](plan, stage, params);
}
