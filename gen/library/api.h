/* The one-liner. */

IPT_API ipt_result ipt_transpose(void *data, size_t rows, size_t cols, size_t elem_size)
{
    ipt_context *context = NULL;
    ipt_plan *plan = NULL;
    ipt_plan_desc desc;
    ipt_result result;
    memset(&desc, 0, sizeof desc);
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = elem_size;
    if (!data)
        return ipt__fail_null("data");
    result = ipt_context_create(NULL, &context);
    if (!result)
        result = ipt_plan_create(context, &desc, &plan);
    if (!result)
        result = ipt_plan_execute_host(plan, data);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return result;
}
