/* Plans that permute an array in one pass, whatever the cost model prefers. Include the implementation of ipt.h before.
 */
#ifndef WHOLE_H_INCLUDED
#define WHOLE_H_INCLUDED

/* ipt__whole_boxes or ipt__whole_columns. */
typedef double whole_way(const ipt__limits *limits, const ipt_plan_desc *desc, const ipt__array *joined,
                         ipt__array *whole, ipt__pass *pass);

/* Makes such a plan. Stores NULL if the array has none, or the device allows none. */
static ipt_result whole_plan(ipt_context *context, const ipt_plan_desc *desc, whole_way *way, ipt_plan **plan)
{
    ipt_context *const contexts[] = {context};
    ipt__array array, joined, whole;
    ipt__passes passes;
    ipt__pass list[2];
    ipt_result result = ipt__axes_take(desc, &array);
    *plan = NULL;
    if (result)
        return result;
    joined = array;
    ipt__axes_join(&joined);
    if (joined.count < 2)
        return IPT_SUCCESS;
    memset(&whole, 0, sizeof whole);
    way(&context->limits, desc, &joined, &whole, &list[0]);
    if (!whole.count)
        return IPT_SUCCESS;
    memset(&passes, 0, sizeof passes);
    passes.contexts = contexts;
    passes.desc = desc;
    passes.array = &array;
    result = ipt__whole_plan_make(passes, &whole, list, plan);
    return result == IPT_ERROR_UNSUPPORTED ? IPT_SUCCESS : result;
}

#endif
