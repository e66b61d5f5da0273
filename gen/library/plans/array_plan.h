/* Plans for arrays of several axes: the choice between ways and passes. */

#if !defined IPT_NO_HOST_STREAMING && !defined IPT_NO_BOXES
/* Bytes of memory through which arrays go in pieces: a storage's, or that of a device which they exceed. 0: they do
 * not. Pieces have no stages. */
static IPT__RARE size_t ipt__pieces_memory(const ipt_context *context, const ipt_plan_desc *desc,
                                           const ipt__array *array)
{
    const size_t bytes = array->elements * array->elem_size, batch = ipt__max(desc->batch, 1);
    const size_t span = (batch - 1) * ipt__max(desc->batch_stride, bytes) + bytes;
    if (desc->max_host_memory)
        return desc->max_host_memory;
    return desc->host != IPT_HOST_STAGES &&
                   ipt__exceeds_device(context, desc, span, ipt__desc_budget(desc, bytes * batch))
               ? ipt__device_limit(context, desc, 1)
               : 0;
}
#else
static IPT__RARE size_t ipt__pieces_memory(const ipt_context *context, const ipt_plan_desc *desc,
                                           const ipt__array *array)
{
    (void)context, (void)array;
    return desc->max_host_memory;
}
#endif

#ifndef IPT_NO_BOXES
/* Makes a plan that permutes arrays in a way. */
static IPT__RARE ipt_result ipt__whole_plan_make(ipt__passes passes, ipt__axes_way *way, ipt_plan **plan)
{
    passes.whole = &way->whole;
    passes.whole_at = way->at;
    passes.list = way->passes;
    passes.count = way->count;
    ipt__passes_apply(&passes);
    return ipt__passes_plan_make(&passes, plan);
}

/* Makes a plan that permutes the arrays in one of these ways, if one takes less time than passes of that cost. */
static IPT__RARE ipt_result ipt__ways_plan_make(ipt__passes passes, size_t memory, double cost, ipt_plan **plan)
{
    const ipt__axes_means means = {&passes.contexts[0]->limits, passes.desc, memory};
    ipt__array joined = *passes.array;
    int tried = 0, i;
    ipt__axes_join(&joined);
    for (;;) {
        ipt__axes_way best, way;
        ipt_result result;
        int number = -1;
        best.cost = cost;
        for (i = 0; i < IPT__WAYS; ++i) {
            ipt__axes_way_find(&means, &joined, (ipt__axes_way_kind)i, &way);
            if (!(tried >> i & 1) && way.cost > 0 && way.cost < best.cost) {
                best = way;
                number = i;
            }
        }
        if (number < 0)
            return IPT_ERROR_UNSUPPORTED;
        result = ipt__whole_plan_make(passes, &best, plan);
        if (result != IPT_ERROR_UNSUPPORTED && result != IPT_ERROR_CACHE_MISS && result != IPT_ERROR_BUILD &&
            !(memory && result == IPT_ERROR_OUT_OF_MEMORY)) /* smaller pieces may fit the largest buffer */
            return result;
        tried |= 1 << number;
    }
}
#endif

/* Makes a plan of listed passes. */
static IPT__RARE ipt_result ipt__list_plan_make(ipt__passes *passes, ipt_plan **plan)
{
    const ipt_plan_desc *const desc = passes->desc;
    ipt_plan_desc one;
    size_t repeats;
    ipt_result result;
    if (!passes->count)
        passes->list[passes->count++] = ipt__pass_of_row(passes->array);
    ipt__passes_apply(passes);
    one = ipt__pass_desc(desc, passes->array, &passes->list[0], &repeats);
    if (passes->count > 1 || repeats > 1 || passes->list[0].inner_rows || passes->split || ipt__named_places(desc) ||
        one.batch_stride % ipt__unit_bytes(one.elem_size))
        return ipt__passes_plan_make(passes, plan);
    result = ipt__any_plan_make(passes->contexts[0], &one, passes->lent, plan);
    if (!result)
        result = ipt__plan_add_narrow(*plan, &one, ipt__unit_bytes(desc->elem_size));
    if (!result)
        result = ipt__axes_write_description(*plan, desc);
    return ipt__plan_keep(plan, result);
}

/* Makes a plan for arrays: desc->rank is not 0. split: number of contexts that share the work, which ipt__split_check
 * has accepted; 0: one context does all. lent, make_piece: see ipt__passes. */
static IPT__RARE ipt_result ipt__axes_plan_make(ipt_context *const *contexts, size_t split, const ipt_plan_desc *desc,
                                                ipt__workspace *lent, ipt__plan_maker make_piece, ipt_plan **plan)
{
    ipt_context *const context = contexts[0];
    ipt__array array;
    ipt__pass list[IPT__MOST_PASSES + 1];
    ipt__passes passes;
    const int doubles = IPT__PAPERS && !desc->host && !desc->max_device_memory && !desc->max_host_memory &&
                        !(desc->flags & IPT_OUT_OF_PLACE);
    double cost;
    size_t memory;
    ipt_result result = ipt__axes_take(desc, &array);
    if (result)
        return result;
    memory = split ? desc->max_host_memory : ipt__pieces_memory(context, desc, &array);
    passes.lent = lent;
    passes.make_piece = make_piece;
    passes.contexts = contexts;
    passes.split = split;
    passes.desc = desc;
    passes.array = &array;
    passes.list = list;
    passes.whole = NULL;
    passes.count = ipt__axes_find_passes(&context->limits, memory, doubles, &array, list, &cost);
#ifndef IPT_NO_BOXES
    if (passes.count && !split && (memory || ipt__moves_at_once(&context->limits, desc))) {
        result = ipt__ways_plan_make(passes, memory, cost, plan);
        if (result != IPT_ERROR_UNSUPPORTED)
            return result;
    }
#endif
    result = ipt__list_plan_make(&passes, plan);
    if (result != IPT_ERROR_UNSUPPORTED || !memory || desc->max_host_memory)
        return result;
    /* Passes divide the device's memory. Others may fit. */
    passes.count = ipt__axes_find_passes(&context->limits, 0, doubles, &array, list, &cost);
    return ipt__list_plan_make(&passes, plan);
}

#if !defined IPT_NO_HOST_STREAMING && !defined IPT_NO_BOXES
/* Makes a plan for pieces: of arrays, or of super-elements. */
static IPT__RARE ipt_result ipt__array_piece_make(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent,
                                                  ipt_plan **plan)
{
    const ipt_result result = desc->rank ? ipt__axes_plan_make(&context, 0, desc, lent, ipt__array_piece_make, plan)
                                         : ipt__host_plan_make(context, desc, lent, plan);
    return result ? result : ipt__plan_keep(plan, ipt__host_prepare(*plan));
}
#else
#define ipt__array_piece_make NULL /* arrays do not go in pieces */
#endif

/* Makes a plan for a caller's arrays: see ipt__axes_plan_make. */
static ipt_result ipt__array_plan_make_any(ipt_context *const *contexts, size_t split, const ipt_plan_desc *desc,
                                           ipt_plan **plan)
{
    return ipt__axes_plan_make(contexts, split, desc, NULL, ipt__array_piece_make, plan);
}
