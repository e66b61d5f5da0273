/* Views: arrays with gaps between their elements, whose axes are permuted one element at a time. */
#ifndef IPT_NO_VIEWS
static int ipt__views_apply(const ipt__problem *problem)
{
    (void)problem;
    return 1;
}

static ipt_result ipt__views_propose(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made)
{
    ipt__stage *const stage = ipt__stage_add_view(problem, &made->layout);
    stage->as.view.windows =
        ipt__min(IPT__VIEW_WINDOWS, ipt__ceil_divide(ipt__view_flags(stage, 1), ipt__max(scope->budget, 1)));
    if (!memcmp(problem->array.strides[0], problem->array.strides[1], sizeof problem->array.strides[0]) &&
        !problem->desc.expression)
        made->layout.stage_count = 0; /* all elements stay */
    ipt__layout_finish(problem, &made->layout, scope->budget);
    made->found = made->settled = 1;
    return IPT_SUCCESS;
}
#endif
