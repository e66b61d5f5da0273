/* Device profiles: writing. */

#ifdef IPT_NO_OFFLINE

IPT_API IPT__RARE ipt_result ipt_context_profile(ipt_context *context, char *text, size_t capacity, size_t *bytes)
{
    (void)context, (void)text, (void)capacity, (void)bytes;
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "ipt was compiled with IPT_NO_OFFLINE: it writes no profile");
}

#else

/* Measures the resident work-groups of a cooperative kernel. */
static ipt_result ipt__profile_resident(ipt_context *context, ipt__kernel_id id, ipt__params params, size_t *resident)
{
    ipt__program *program = NULL;
    ipt_result result;
    if (id == IPT__KERNEL_exchange)
        params.groups_at_once = ipt__exchange_groups(&params);
    result = ipt__cooperative_get(context, id, params, 0, &program, resident);
    ipt__program_drop(context, program);
    return result;
}

/* Measures what later plans may need: residency, the panels' local memory, the largest packs, sub-groups. Refuses
 * sub-groups that chains cannot use. */
static ipt_result ipt__profile_measure(ipt_context *context, ipt__limits *measured, int *refused)
{
    static const size_t large[] = {IPT__PACK_BYTES_WHOLE, IPT__SWAP_BYTES, IPT__CHUNK_BYTES_LARGE,
                                   IPT__PACK_BYTES_QUARTER};
    const ipt__limits *const limits = &context->limits;
    const int cooperative = limits->cooperative && limits->group_size >= 64;
    ipt__program *program = NULL;
    ipt__params params;
    ipt_result result = IPT_SUCCESS;
    int i;
    memset(&params, 0, sizeof params);
    params.unit_bytes = 4;
    params.element_units = params.tall = 1;
    params.index_bits = 32;
    params.group_size = (cl_uint)limits->group_size;
    params.memory_model = (cl_uint)limits->memory_model;
    if (cooperative)
        result = ipt__profile_resident(context, IPT__KERNEL_panel, params, &measured->resident_groups);
    params.local_bytes = IPT__BAND_CHUNK_BYTES;
    for (i = 0; i < 2 && !result && cooperative && limits->memory_model; ++i) {
        params.unit_bytes = i ? 8 : 4;
        result = ipt__profile_resident(context, IPT__KERNEL_exchange, params,
                                       i ? &measured->resident_others : &measured->resident_bands);
    }
    params.unit_bytes = 4;
    for (i = 0; i < 4 && !result && ipt__gives_more_local(limits); ++i) {
        params.local_bytes = (cl_uint)large[i];
        if (ipt__local_refused(context, large[i]) || !ipt__params_reduce(&params, ipt__kernels[IPT__KERNEL_pack].uses))
            continue;
        result = ipt__program_get(context, IPT__KERNEL_pack, &params, 0, &program);
        if (!result)
            ipt__program_drop(context, program);
        if (result == IPT_ERROR_BUILD) {
            ipt__refuse_local(context, large[i]);
            result = IPT_SUCCESS;
        }
    }
    memset(&params, 0, sizeof params);
    params.unit_bytes = 4;
    params.index_bits = 32;
    params.memory_model = (cl_uint)limits->memory_model;
    params.piece_vectors = 32;
    params.chains = 1;
    if (!result && !limits->cpu && limits->group_size >= 32)
        result = ipt__sub_groups_get(context, &params, 0);
    measured->lanes = limits->sub_group >= 2 && params.sub_group && limits->lanes <= 32 ? params.lanes : limits->lanes;
    *refused = limits->sub_group >= 2 && !params.sub_group;
    return result;
}

IPT_API IPT__RARE ipt_result ipt_context_profile(ipt_context *context, char *text, size_t capacity, size_t *bytes)
{
    ipt__text out = {text, capacity, 0};
    ipt__limits limits;
    ipt__findings found;
    size_t values[IPT__FACT_COUNT];
    int refused = 0, i;
    ipt_result result = IPT_SUCCESS;
    if (!context || (!text && capacity))
        return ipt__fail_null(context ? "text" : "context");
    limits = context->limits;
    if (context->context)
        result = ipt__profile_measure(context, &limits, &refused);
    if (result)
        return result;
    IPT_LOCK_ACQUIRE(&context->probe_lock);
    found = context->found;
    if (context->chunk_is_guess)
        found.chunk_bytes = 0;
    IPT_LOCK_RELEASE(&context->probe_lock);
    found.sub_groups_refused |= refused;
    i = 0;
#define IPT__GIVE_LIMIT(type, field, minimum, maximum) values[i++] = (size_t)limits.field;
#define IPT__GIVE_FINDING(type, field, minimum, maximum) values[i++] = (size_t)found.field;
    IPT__LIMIT_LIST(IPT__GIVE_LIMIT)
    IPT__FINDING_LIST(IPT__GIVE_FINDING)
    ipt__text_add(&out, "%s\n%s", IPT__PROFILE_TITLE, context->device_text);
    for (i = 0; i < IPT__FACT_COUNT; ++i)
        ipt__text_add(&out, "%s %zu\n", ipt__facts[i].name, values[i]);
    ipt__text_add(&out, "end\n");
    return ipt__text_export(&out, bytes);
}

#endif
