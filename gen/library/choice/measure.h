/* Measuring candidate layouts. */

/* The execution time in nanoseconds, from the device's profiling clock; 0 if the device has no such clock. */
static ipt_result ipt__plan_time(ipt_plan *plan, cl_mem buffer, cl_ulong *nanoseconds)
{
    const cl_command_queue queue = plan->context->queue;
    cl_ulong begin = 0, end = 0;
    cl_event before = NULL, after = NULL;
    cl_int error = ipt__calls(plan->context)->clEnqueueMarkerWithWaitList(queue, 0, NULL, &before);
    ipt_result result = error ? ipt__fail_opencl("clEnqueueMarkerWithWaitList", error)
                              : ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, &after);
    if (!result)
        result = ipt__wait_for(plan->context, after);
    if (!result &&
        (ipt__calls(plan->context)
             ->clGetEventProfilingInfo(before, CL_PROFILING_COMMAND_END, sizeof begin, &begin, NULL) ||
         ipt__calls(plan->context)->clGetEventProfilingInfo(after, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) ||
         end < begin))
        begin = end = 0;
    *nanoseconds = end - begin;
    if (before)
        ipt__calls(plan->context)->clReleaseEvent(before);
    if (after)
        ipt__calls(plan->context)->clReleaseEvent(after);
    return result;
}

/* Whether the plan takes two passes or an exchange, and the desc leaves their sizes open. */
static int ipt__plan_has_choice(const ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    return (plan->device->layout.length || plan->device->layout.bands) && !plan->problem.array.count && !desc->tile_m &&
           !desc->tile_n &&
           (desc->sequence == IPT_SEQUENCE_AUTO || desc->sequence == IPT_SEQUENCE_TWO_PASS ||
            desc->sequence == IPT_SEQUENCE_EXCHANGE);
}

/* Measures a candidate for a plan's layout. *time: nanoseconds, 0 if the device has no such clock. */
static ipt_result ipt__measure_layout(ipt_plan *plan, const ipt__layout *candidate, cl_mem buffer, cl_ulong *time)
{
    cl_ulong once = 0;
    int repeat;
    ipt_result result;
    *time = 0;
    plan->device->layout = *candidate;
    result = ipt__plan_open(plan);
    for (repeat = 0; repeat < 3 && !result; ++repeat) { /* the first launch may include the kernel's compilation */
        result = ipt__plan_time(plan, buffer, &once);
        *time = repeat == 0 || once < *time ? once : *time;
    }
    ipt__plan_close(plan);
    return result;
}

/* Selects the layout of two passes or of an exchange. Wisdom has precedence over the cost model. With IPT_MEASURE and
 * without wisdom, the fastest candidate wins. Other layouts have no alternatives. */
static ipt_result ipt__plan_select_layout(ipt_plan *plan, size_t budget)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    const int measure = (desc->flags & IPT_MEASURE) != 0;
    ipt__layout best = plan->device->layout;
    cl_ulong best_time = 0;
    const ipt__operand given = {"measure_buffer",         "its offset",
                                desc->measure_buffer,     0,
                                plan->problem.span_bytes, IPT__BUFFER_READ_AND_WRITTEN,
                                plan->problem.unit_bytes, ipt__host_alignment(plan)};
    ipt__workspace *const chosen = plan->workspace;
    const size_t limit = budget ? budget : plan->device->layout.workspace;
    ipt__proposal made;
    cl_mem buffer = measure ? desc->measure_buffer : NULL;
    size_t unused;
    int i, class_;
    ipt_result result = IPT_SUCCESS;
    if (measure && !plan->context->context)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "flags has IPT_MEASURE, and the context has no device to measure on");
    if (buffer)
        result = ipt__check_buffer(plan->context, &given, NULL);
    if (result || !ipt__plan_has_choice(plan))
        return result;
#ifndef IPT_NO_WISDOM
    if (ipt__wisdom_apply(plan, budget))
        return result;
#endif
    if (!measure)
        return result;
    if (!buffer)
        result = ipt__buffer_make(plan->context, plan->problem.span_bytes, NULL, "a temporary matrix for IPT_MEASURE",
                                  &unused, &buffer);
    if (result)
        return result;
    plan->workspace = &plan->own; /* a shared workspace would stay as large as the largest candidate needs */
    for (i = 0; i < IPT__METHODS && !result; ++i)
        for (class_ = 0; class_ < ipt__methods[i].classes && !result; ++class_) {
            const size_t most = (size_t)128 << class_;
            const ipt__scope scope = {budget, class_ ? most / 2 : 0, most};
            cl_ulong time = 0;
            result = ipt__method_propose(&ipt__methods[i], &plan->problem, &scope, &made);
            if (!result && made.found && made.layout.workspace <= limit)
                result = ipt__measure_layout(plan, &made.layout, buffer, &time);
            if (result || !time)
                continue;
            ipt__log(plan->context, "measured %s of %zu bytes at most: %.3f ms", ipt__methods[i].name, most,
                     (double)time / 1e6);
            if (!best_time || time < best_time) {
                best_time = time;
                best = plan->device->layout;
            }
        }
    if (!desc->measure_buffer)
        ipt__calls(plan->context)->clReleaseMemObject(buffer);
    plan->workspace = chosen;
    plan->device->layout = best;
#ifndef IPT_NO_WISDOM
    if (best_time) {
        ipt__wisdom learnt = ipt__wisdom_of(plan, budget);
        learnt.length = best.length;
        learnt.bands = best.bands;
        learnt.height = best.height;
        ipt__wisdom_add(plan->context, &learnt); /* out of memory: the result is not recorded */
    }
#endif
    return result;
}
