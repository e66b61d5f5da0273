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
    result = ipt__program_get(plan->context, id, &params, (plan->desc.flags & IPT_CACHE_ONLY) != 0, &kernel->program);
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

/* Chooses a SWAP stage's tile side, local memory, and work-items per tile pair. GPUs fetch large tiles by vectors.
 * Rows that cut memory sectors get larger tiles. The largest tiles allow two work-groups per compute unit and need
 * enough pairs for each. An H200 reaches 0.78 to 0.81 of a copy for 14000 x 14000 floats. CPUs and elements of
 * several units get small tiles. refused: large tiles failed to build. */
static void ipt__swap_tile(const ipt_plan *plan, ipt__stage *stage, int refused)
{
    static const size_t sides[3][2] = {
        {64, 112}, {64, 96}, {48, 48}}; /* by unit: 4, 8, 16 bytes; cut sectors: no, yes */
    const ipt__limits *const limits = &plan->context->limits;
    const size_t unit = plan->unit_bytes, per_side = stage->cols / IPT__SWAP_SIDE_LARGE,
                 most = limits->nvidia && !limits->local_is_limited ? (size_t)IPT__SWAP_BYTES : limits->local_memory;
    const int cut = stage->cols * unit % 256 != 0;
    size_t chunk;
    stage->tile_group = limits->group_size;
    if (!refused && !limits->cpu && limits->group_size >= 64 && unit >= 4 && ipt__stage_units(plan, stage) == 1) {
        stage->tile_side = sides[unit == 4 ? 0 : unit == 8 ? 1 : 2][cut];
        if (unit == 4 && cut && limits->largest_group >= IPT__SWAP_GROUP_LARGE &&
            per_side * per_side / 2 >= 28 * limits->compute_units) {
            stage->tile_side = IPT__SWAP_SIDE_LARGE;
            stage->tile_group = IPT__SWAP_GROUP_LARGE;
        }
        stage->tile = ipt__lay_out_tile(plan, stage->tile_group, stage->tile_side * unit, stage->cols * unit);
        stage->tile_bytes = 2 * 16 * (stage->tile_side * (stage->tile.pitch + 1) + 1);
        if (stage->tile_bytes + 2 * 4 * stage->tile_side <= most)
            return;
        stage->tile_group = limits->group_size;
    }
    ipt__transpose_tile(plan, ipt__stage_units(plan, stage), 2, &stage->tile_side, &chunk);
    stage->tile_bytes = ipt__round_up(2 * stage->tile_side * (stage->tile_side * chunk + 1) * unit, 1024);
}

/* Kernel parameters for elements of element_units units, with `tiles` tiles in local memory. */
static ipt__params ipt__plan_params(const ipt_plan *plan, size_t element_units, size_t tiles)
{
    size_t side, chunk;
    ipt__params params;
    memset(&params, 0, sizeof params);
    ipt__transpose_tile(plan, element_units, tiles, &side, &chunk);
    params.unit_bytes = (cl_uint)plan->unit_bytes;
    params.element_units = element_units == 1;
    /* PoCL vectorizes loops of a work-item: one work-item per work-group moves tiles up to 1.6 times as fast. */
    params.group_size = plan->context->limits.cpu ? 1 : (cl_uint)plan->context->limits.group_size;
    params.tile = (cl_uint)side;
    params.lanes = (cl_uint)(plan->context->limits.cpu ? 1 : ipt__min(32, plan->context->limits.group_size));
    params.memory_model = (cl_uint)plan->context->limits.memory_model;
    params.expression = plan->desc.expression;
    params.expression_type = plan->desc.expression_type;
    return params;
}

static IPT__RARE ipt_result ipt__stage_kernels(ipt_plan *plan, ipt__stage *stage)
{
    ipt__params params = ipt__plan_params(plan, ipt__stage_units(plan, stage), stage->kind == IPT__STAGE_SWAP ? 2 : 1);
    const int cache_only = (plan->desc.flags & IPT_CACHE_ONLY) != 0;
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
        while (stage->pack_bytes) {
            result = ipt__plan_kernel_get(plan, IPT__KERNEL_pack, ipt__pack_params(plan, stage, stage->apply), index);
            if (result != IPT_ERROR_BUILD)
                return result;
            ipt__refuse_local(plan->context, stage->pack_bytes);
            ipt__pack_choose(plan, stage);
            if (!stage->pack_bytes &&
                ipt__instance_units(plan, stage) * plan->unit_bytes > ipt__local_budget(&plan->context->limits))
                return result; /* kernel tile cannot hold it either: choose another layout */
            result = IPT_SUCCESS;
        }
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
        params.flag_spread = plan->desc.flag_spread ? (cl_uint)plan->desc.flag_spread : 1;
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
        params.chained = plan->desc.variant_pad == IPT_VARIANT_PAD_CHAINED;
        break;
#else
    case IPT__STAGE_PTTWAC_010: /* no plan has these stages */
    case IPT__STAGE_P_IPT:
    case IPT__STAGE_PAD:
        break;
#endif
    case IPT__STAGE_SWAP:
        id = IPT__KERNEL_swap;
        ipt__swap_tile(plan, stage, stage->variant != NULL);
        params.tile = (cl_uint)stage->tile_side;
        params.local_bytes = (cl_uint)stage->tile_bytes;
        if (stage->tile_side > 32) {
            params.group_size = (cl_uint)stage->tile_group;
            if (!ipt__local_refused(plan->context, stage->tile_bytes)) {
                result = ipt__plan_kernel_get(plan, id, params, index);
                if (result != IPT_ERROR_BUILD)
                    return result;
                result = IPT_SUCCESS;
                ipt__refuse_local(plan->context, stage->tile_bytes);
            }
            ipt__swap_tile(plan, stage, 1);
            params.group_size = (cl_uint)stage->tile_group;
            params.tile = (cl_uint)stage->tile_side;
            params.local_bytes = (cl_uint)stage->tile_bytes;
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
        params.local_bytes = plan->panel->params.local_bytes;
        params.group_size = plan->panel->params.group_size;
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
            params.flag_spread = plan->desc.flag_spread ? (cl_uint)plan->desc.flag_spread : 1;
        }
        if (stage->chains) {
            params.piece_quanta = (cl_uint)stage->piece_vectors;
            params.chains = (cl_uint)ipt__chains_at_once(plan, stage);
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
