/* Plans that permute an array in a given way, whatever the cost model prefers. Include the implementation of ipt.h
 * before.
 */
#ifndef WHOLE_H_INCLUDED
#define WHOLE_H_INCLUDED

/* Makes such a plan. Stores NULL if the array has none, or the device allows none. */
static ipt_result whole_plan(ipt_context *context, const ipt_plan_desc *desc, ipt__axes_way_kind kind, ipt_plan **plan)
{
    ipt_context *const contexts[] = {context};
    const ipt__axes_means means = {&context->limits, desc, 0};
    ipt__array array, joined;
    ipt__passes passes;
    ipt__axes_way way;
    ipt_result result = ipt__axes_take(desc, &array);
    *plan = NULL;
    if (result)
        return result;
    joined = array;
    ipt__axes_join(&joined);
    ipt__axes_way_find(&means, &joined, kind, &way);
    if (!way.whole.count || (way.count > 1 && way.cost == 0))
        return IPT_SUCCESS;
    memset(&passes, 0, sizeof passes);
    passes.contexts = contexts;
    passes.desc = desc;
    passes.array = &array;
    result = ipt__whole_plan_make(passes, &way, plan);
    return result == IPT_ERROR_UNSUPPORTED ? IPT_SUCCESS : result;
}

#endif
