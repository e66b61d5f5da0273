/* Plans with permuted columns, whatever the cost model prefers. Include the implementation of ipt.h before. */
#ifndef COLUMNS_H_INCLUDED
#define COLUMNS_H_INCLUDED

/* Makes a plan with permuted columns. Stores NULL if the array has none, or the device allows none. */
static ipt_result columns_plan(ipt_context *context, const ipt_plan_desc *desc, ipt_plan **plan)
{
    ipt_context *const contexts[] = {context};
    ipt__array array, joined, columns;
    ipt__passes passes;
    ipt__pass pass;
    ipt_result result = ipt__axes_take(desc, &array);
    *plan = NULL;
    if (result)
        return result;
    joined = array;
    ipt__axes_join(&joined);
    if (joined.count < 3)
        return IPT_SUCCESS;
    ipt__whole_columns(&context->limits, desc, &joined, &columns, &pass);
    if (!columns.count)
        return IPT_SUCCESS;
    memset(&passes, 0, sizeof passes);
    passes.contexts = contexts;
    passes.desc = desc;
    passes.array = &array;
    result = ipt__whole_plan_make(passes, &columns, &pass, plan);
    return result == IPT_ERROR_UNSUPPORTED ? IPT_SUCCESS : result;
}

#endif
