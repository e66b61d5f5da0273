/* Plans for views: arrays whose axes have strides. A view without gaps has the plan of its array. Views that are
 * batches of matrices with gaps have plans of these. All others move element by element: see stages/view.h. If runs of
 * elements can be transposed first, or last, within the array, these elements are runs. */
#ifndef IPT_NO_VIEWS
/* An axis. Sides: 0 is the source, 1 the result. */
typedef struct ipt__view_axis {
    size_t length, strides[2]; /* bytes from index to index */
    unsigned places[2];        /* in the desc's strides; rank: the batch's */
} ipt__view_axis;

/* Axes of more than one element, in any sequence. Where the elements lie does not depend on it. */
typedef struct ipt__view {
    int count;
    size_t elem_size;
    ipt__view_axis axes[IPT_MAX_RANK + 2];
} ipt__view;

/* Sorts the axes by the strides of one side, the largest first. */
static IPT__RARE void ipt__view_sort(ipt__view *view, int side)
{
    int i, at;
    for (i = 1; i < view->count; ++i) {
        const ipt__view_axis axis = view->axes[i];
        for (at = i; at > 0 && view->axes[at - 1].strides[side] < axis.strides[side]; --at)
            view->axes[at] = view->axes[at - 1];
        view->axes[at] = axis;
    }
}

/* Checks one side: elements do not overlap, and all are aligned. *dense: whether they have no gaps, but those between
 * arrays. */
static IPT__RARE ipt_result ipt__view_check(const ipt_plan_desc *desc, ipt__view *view, int side, int *dense)
{
    const size_t unit = ipt__unit_bytes(desc->elem_size);
    size_t bytes = view->elem_size;
    int i;
    ipt__view_sort(view, side);
    for (i = view->count; i-- > 0;) {
        const ipt__view_axis *const axis = &view->axes[i];
        const size_t stride = axis->strides[side];
        const int of_batch = axis->places[side] == desc->rank;
        size_t reach = axis->length - 1;
        const int overflows = !ipt__multiply(&reach, stride) || reach > (size_t)-1 - bytes;
        char name[32];
        ipt__print(name, sizeof name, of_batch ? "batch_stride" : "%s[%u]", side ? "strides_out" : "strides",
                   axis->places[side]);
        if (stride < bytes)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                             "%s = %zu is less than %zu, the bytes that one index of that axis spans: elements overlap",
                             name, stride, bytes);
        if (stride % unit)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                             "%s = %zu is not a multiple of %zu, the largest power of two in elem_size", name, stride,
                             unit);
        if (overflows)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s = %zu: the size of %zu such steps overflows", name, stride,
                             axis->length - 1);
        *dense &= of_batch ? i == 0 : stride == bytes;
        bytes += reach;
    }
    return IPT_SUCCESS;
}

/* Appends an axis, unless it has one element. */
static IPT__RARE void ipt__view_add(ipt__view *view, size_t length, size_t before, size_t after,
                                    const unsigned places[2])
{
    const ipt__view_axis axis = {length, {before, after}, {places[0], places[1]}};
    if (length > 1)
        view->axes[view->count++] = axis;
}

/* Refuses fields that a desc with strides may not have. */
static IPT__RARE ipt_result ipt__view_check_fields(const ipt_plan_desc *desc, size_t split)
{
    const char *const dense_only = split                               ? "a plan for several contexts"
                                   : ipt__named_places(desc)           ? "an expression that names places"
                                   : desc->max_device_memory           ? "max_device_memory"
                                   : desc->max_host_memory             ? "max_host_memory"
                                   : desc->host == IPT_HOST_OVERLAPPED ? "host is overlapped, which"
                                   : desc->host == IPT_HOST_STAGES     ? "host is stages, which"
                                                                       : NULL;
    unsigned i;
    if (dense_only)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "strides: %s needs an array without strides", dense_only);
    for (i = desc->rank; i < IPT_MAX_RANK; ++i)
        if (desc->strides[i] || desc->strides_out[i])
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s[%u] is %zu, but rank is %u",
                             desc->strides[i] ? "strides" : "strides_out", i,
                             desc->strides[i] ? desc->strides[i] : desc->strides_out[i], desc->rank);
    return IPT_SUCCESS;
}

/* Takes the axes of a checked desc, the batch's last. *dense: see ipt__view_check. */
static IPT__RARE ipt_result ipt__view_take(const ipt_plan_desc *desc, ipt__view *view, int *dense)
{
    const size_t *const given[2] = {desc->strides, desc->strides_out};
    size_t strides[2][IPT_MAX_RANK], most = desc->elem_size;
    unsigned places[IPT_MAX_RANK + 1][2], i, side;
    ipt_result result;
    for (side = 0; side < 2; ++side) {
        size_t bytes = desc->elem_size, any = 0;
        for (i = 0; i < desc->rank; ++i)
            any |= given[side][i];
        for (i = desc->rank; i-- > 0;) {
            const unsigned axis = side ? desc->axes[i] : i;
            size_t reach = desc->shape[axis];
            places[axis][side] = i;
            strides[side][axis] = any ? given[side][i] : bytes;
            bytes *= desc->shape[axis];
            if (reach > 1)
                most = ipt__max(most, ipt__multiply(&reach, strides[side][axis]) ? reach : (size_t)-1);
        }
        places[desc->rank][side] = desc->rank;
    }
    if (desc->batch_stride)
        most = desc->batch_stride;
    view->count = 0;
    view->elem_size = desc->elem_size;
    for (i = 0; i < desc->rank; ++i)
        ipt__view_add(view, desc->shape[i], strides[0][i], strides[1][i], places[i]);
    ipt__view_add(view, desc->batch, most, most, places[desc->rank]);
    *dense = 1;
    result = ipt__view_check(desc, view, 0, dense);
    return result ? result : ipt__view_check(desc, view, 1, dense);
}

/* Removes an axis. */
static IPT__RARE ipt__view_axis ipt__view_remove(ipt__view *view, int at)
{
    const ipt__view_axis axis = view->axes[at];
    memmove(&view->axes[at], &view->axes[at + 1], (size_t)(--view->count - at) * sizeof axis);
    return axis;
}

/* The array of axes that it sorts by the source's strides. */
static IPT__RARE ipt__array ipt__view_array(ipt__view *view)
{
    ipt__array array;
    int i, later;
    ipt__view_sort(view, 0);
    memset(&array, 0, sizeof array);
    array.count = view->count;
    array.elem_size = view->elem_size;
    array.elements = 1;
    for (i = 0; i < view->count; ++i) {
        array.lengths[i] = view->axes[i].length;
        array.strides[0][i] = view->axes[i].strides[0];
        array.strides[1][i] = view->axes[i].strides[1];
        for (later = 0; later < view->count; ++later)
            array.goal[i] = (unsigned char)(array.goal[i] + (view->axes[later].strides[1] > view->axes[i].strides[1]));
        array.elements *= array.lengths[i];
    }
    return array;
}

/* Changes a desc with strides of an array without gaps to that of the array. */
static IPT__RARE void ipt__view_dense(ipt__view *view, ipt_plan_desc *desc)
{
    ipt__array array;
    int i;
    if (desc->batch < 2)
        desc->batch_stride = 0;
    else
        ipt__view_remove(view, 0);
    array = ipt__view_array(view);
    memset(desc->strides, 0, sizeof desc->strides);
    memset(desc->strides_out, 0, sizeof desc->strides_out);
    desc->rank = (unsigned)ipt__max((size_t)array.count, 1);
    desc->shape[0] = 1;
    desc->axes[0] = 0;
    for (i = 0; i < array.count; ++i) {
        desc->shape[i] = array.lengths[i];
        desc->axes[array.goal[i]] = (unsigned)i;
    }
}

/* Joins neighbours, and last axes without gaps with the element. Sorts the axes by the source's strides. */
static IPT__RARE void ipt__view_join(ipt__view *view, int keeps_element)
{
    int i;
    ipt__view_sort(view, 0);
    for (i = view->count - 1; i > 0; --i) {
        const ipt__view_axis *const outer = &view->axes[i - 1], *const inner = &view->axes[i];
        const size_t length = outer->length;
        if (outer->strides[0] != inner->length * inner->strides[0] ||
            outer->strides[1] != inner->length * inner->strides[1])
            continue;
        ipt__view_remove(view, i - 1);
        view->axes[i - 1].length *= length;
    }
    i = view->count - 1;
    if (!keeps_element && i >= 0 && view->axes[i].strides[0] == view->elem_size &&
        view->axes[i].strides[1] == view->elem_size)
        view->elem_size *= ipt__view_remove(view, i).length;
}

static size_t ipt__divisor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Removes the first axis that stays and makes a batch of views whose memory is disjoint; none: one of length 1. The
 * other axes lie within a stride of that axis, or step over all of it. outermost: none of them may step over it. */
static IPT__RARE ipt__view_axis ipt__view_take_batch(ipt__view *view, int outermost)
{
    static const ipt__view_axis none = {1, {0, 0}, {0, 0}};
    int at, i;
    for (at = 0; at < view->count; ++at) {
        const ipt__view_axis *const axis = &view->axes[at];
        size_t inside[2] = {view->elem_size, view->elem_size}, steps = 0, reach;
        for (i = 0; i < 2 * view->count; ++i)
            if (view->axes[i / 2].strides[i % 2] < axis->strides[i % 2])
                inside[i % 2] += (view->axes[i / 2].length - 1) * view->axes[i / 2].strides[i % 2];
            else if (i / 2 != at)
                steps = ipt__divisor(view->axes[i / 2].strides[i % 2], steps);
        reach = (axis->length - 1) * axis->strides[0] + ipt__max(inside[0], inside[1]);
        if (axis->strides[0] == axis->strides[1] && (!steps || (!outermost && reach <= steps)))
            return ipt__view_remove(view, at);
    }
    return none;
}

/* A pass over an array with gaps. */
typedef struct ipt__view_pass {
    ipt_plan_desc desc;
    ipt__array array;      /* count 0: a batch of matrices with gaps */
    size_t unit;           /* most bytes of a unit */
    size_t repeats, apart; /* see ipt__pass_plan */
} ipt__view_pass;

/* The passes of a plan. */
typedef struct ipt__view_passes {
    ipt__view_pass list[2], direct; /* direct: out of place, if there are two */
    int count;
} ipt__view_passes;

enum { IPT__VIEW_REPEATS = 4096 }; /* most executions of a plan of matrices */

/* Takes sorted axes as batches of a matrix with gaps. Returns 0 if they are none. */
static IPT__RARE int ipt__view_matrix(ipt__view view, ipt__view_pass *pass)
{
    ipt_plan_desc *const desc = &pass->desc;
    ipt__view_axis batch = ipt__view_take_batch(&view, 1), repeats = ipt__view_take_batch(&view, 1);
    const ipt__view_axis outer = batch, *const row = &view.axes[0], *col;
    int rows_end, cols_end;
    if (repeats.length > outer.length) {
        batch = repeats;
        repeats = outer;
    }
    if (repeats.length == 1)
        repeats = ipt__view_take_batch(&view, 0);
    if (view.count < 1 || view.count > 2 || repeats.length > IPT__VIEW_REPEATS)
        return 0;
    col = &view.axes[view.count - 1];
    rows_end = row->strides[1] == view.elem_size; /* rows become columns without gaps between their elements */
    cols_end = col->strides[0] == view.elem_size;
    if (view.count == 2 ? !rows_end || !cols_end : !rows_end && !cols_end)
        return 0;
    desc->rows = view.count == 2 || rows_end ? row->length : 1;
    desc->cols = view.count == 2 || !rows_end ? col->length : 1;
    desc->row_pitch = desc->rows > 1 ? row->strides[0] : 0;
    desc->row_pitch_out = desc->cols > 1 ? col->strides[1] : 0;
    desc->elem_size = view.elem_size;
    desc->batch = batch.length;
    desc->batch_stride = batch.strides[0];
    pass->unit = ipt__unit_bytes(desc->row_pitch | desc->row_pitch_out | batch.strides[0] | repeats.strides[0]);
    pass->repeats = repeats.length;
    pass->apart = repeats.strides[0];
    return 1;
}

/* Takes sorted axes as an array that moves element by element. Elements are cut if they could overlap others in part:
 * then no multiple of their size is the distance of any two. */
static IPT__RARE void ipt__view_elements(ipt__view view, ipt__view_pass *pass)
{
    static const unsigned nowhere[2] = {0, 0};
    const size_t whole = view.elem_size;
    size_t apart = 0;
    int i;
    for (i = 0; i < 2 * view.count; ++i)
        apart = ipt__divisor(view.axes[i / 2].strides[i % 2], apart);
    pass->unit = ipt__unit_bytes(apart);
    if (apart < whole) {
        view.elem_size = ipt__divisor(apart, whole);
        ipt__view_add(&view, whole / view.elem_size, view.elem_size, view.elem_size, nowhere);
    }
    pass->array.count = view.count;
    if (view.count <= IPT__KERNEL_AXES)
        pass->array = ipt__view_array(&view);
    pass->desc.rows = pass->desc.batch = pass->repeats = 1;
    pass->desc.cols = pass->array.elements;
    pass->desc.elem_size = view.elem_size;
}

/* Makes the pass of a view. desc: of an array without strides. applies: whether the pass applies the expression. */
static IPT__RARE ipt__view_pass ipt__view_pass_of(ipt__view view, const ipt_plan_desc *desc, int applies)
{
    ipt__view_pass pass;
    memset(&pass, 0, sizeof pass);
    pass.desc = *desc;
    if (!applies)
        ipt__desc_drop_expression(&pass.desc);
    ipt__view_join(&view, pass.desc.expression != NULL);
    if (!ipt__view_matrix(view, &pass))
        ipt__view_elements(view, &pass);
    return pass;
}

enum { IPT__VIEW_GAIN = 4 }; /* two passes move elements of so many times the size, or more */

/* Finds two passes for a view that moves element by element: in one of them, runs of the other side's last axis are
 * transposed within the memory of `side`. The other pass moves the runs. Axes inside the runs' axis have no gaps. */
static IPT__RARE int ipt__view_split(const ipt__view *view, const ipt_plan_desc *desc, int side,
                                     ipt__view_passes *passes)
{
    ipt__view halves[2];
    size_t bytes = view->elem_size;
    int i, run;
    for (run = 0; run < view->count && view->axes[run].strides[!side] != view->elem_size; ++run)
        ;
    for (i = 0; run < view->count && i < view->count; ++i)
        if (view->axes[i].strides[side] < view->axes[run].strides[side])
            bytes *= view->axes[i].length;
    if (run == view->count || bytes == view->elem_size || bytes != view->axes[run].strides[side])
        return 0;
    halves[0] = halves[1] = *view;
    for (i = 0; i < view->count; ++i) {
        const size_t stride = view->axes[i].strides[side];
        halves[0].axes[i].strides[1] = halves[1].axes[i].strides[0] = i == run         ? view->elem_size
                                                                      : stride < bytes ? stride * view->axes[run].length
                                                                                       : stride;
    }
    for (i = 0; i < 2; ++i) {
        passes->list[i] = ipt__view_pass_of(halves[i], desc, i == side);
        passes->list[i].desc.flags &= ~IPT_OUT_OF_PLACE;
    }
    return !passes->list[side].array.count && passes->list[!side].array.count <= IPT__KERNEL_AXES &&
           passes->list[!side].desc.elem_size / IPT__VIEW_GAIN >= passes->direct.desc.elem_size;
}

/* Finds the passes of a view. */
static IPT__RARE ipt_result ipt__view_find(const ipt__view *view, const ipt_plan_desc *desc, ipt__view_passes *passes)
{
    passes->count = 1;
    passes->direct = ipt__view_pass_of(*view, desc, 1);
    if (passes->direct.array.count &&
        (ipt__view_split(view, desc, 0, passes) || ipt__view_split(view, desc, 1, passes)))
        passes->count = 2;
    else
        passes->list[0] = passes->direct;
    if (passes->direct.array.count > IPT__KERNEL_AXES)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "strides and strides_out have %d axes that cannot be joined: %d at most are possible",
                         passes->direct.array.count, (int)IPT__KERNEL_AXES);
    return IPT_SUCCESS;
}

/* Makes a plan of a pass with the plan's workspace. */
static IPT__RARE ipt_result ipt__view_make_pass(ipt_plan *plan, const ipt__view_pass *pass, ipt_plan **made)
{
    ipt_result result;
    plan->workspace->unit_most = pass->unit;
    result = ipt__array_plan_make(plan->context, &pass->desc, &pass->array, plan->workspace, made);
    plan->workspace->unit_most = IPT__VECTOR_BYTES;
    if (result)
        return result;
    result = ipt__plan_add_narrow(*made, &pass->desc, plan->problem.unit_bytes);
    plan->enough = ipt__max(plan->enough, (*made)->enough);
    return result;
}

/* Makes the plans of the passes, see ipt__passes_make. what: an ipt__view_passes. */
static IPT__RARE ipt_result ipt__view_make(ipt_plan *plan, const void *what)
{
    const ipt__view_passes *const passes = (const ipt__view_passes *)what;
    ipt__passes_plan *const list = plan->passes;
    ipt_result result = IPT_SUCCESS;
    while (list->count < passes->count && !result) {
        ipt__pass_plan *const made = &list->list[list->count];
        made->repeats = passes->list[list->count].repeats;
        made->apart = passes->list[list->count].apart;
        result = ipt__view_make_pass(plan, &passes->list[list->count], &made->plan);
        list->count += made->plan != NULL;
    }
    list->copies_permute = list->count > 1;
    return !result && list->count > 1 ? ipt__view_make_pass(plan, &passes->direct, &list->copies) : result;
}

/* Takes an array with gaps for transfers. */
static IPT__RARE void ipt__problem_take_view(ipt__problem *problem, const ipt__array *array)
{
    int i;
    problem->array = *array;
    problem->pitched = 1;
    problem->source_span = ipt__view_span(array, 0);
    problem->result_span = ipt__view_span(array, 1);
    problem->span_bytes = ipt__max(problem->source_span, problem->result_span);
    for (i = 0; i < 2 * array->count; ++i) /* the longest row of a transfer */
        problem->source_row = ipt__max(problem->source_row, array->strides[i % 2][i / 2] / problem->unit_bytes);
}

/* Makes a plan for a desc with strides. */
static IPT__RARE ipt_result ipt__view_plan_make(ipt_context *const *contexts, size_t split, const ipt_plan_desc *desc,
                                                ipt_plan **plan)
{
    ipt__view view;
    ipt__view_passes passes;
    ipt__array array;
    ipt_plan_desc its = *desc;
    int dense;
    ipt_result result = ipt__view_check_fields(desc, split);
    its.batch_stride = 0; /* that of views may be shorter than an array */
    if (!result)
        result = ipt__axes_take(&its, &array);
    if (!result)
        result = ipt__view_take(desc, &view, &dense);
    if (result)
        return result;
    if (dense) {
        its.batch_stride = desc->batch_stride;
        ipt__view_dense(&view, &its);
        return ipt__array_plan_make_any(contexts, split, &its, plan);
    }
    memset(its.strides, 0, sizeof its.strides);
    memset(its.strides_out, 0, sizeof its.strides_out);
    its.rank = 0;
    its.rows = 1;
    its.cols = array.elements;
    its.max_workspace = 0; /* the plan's workspace has a limit already */
    ipt__view_join(&view, 1);
    result = ipt__view_find(&view, &its, &passes);
    if (result)
        return result;
    its.max_workspace = desc->max_workspace;
    ipt__view_join(&view, desc->expression != NULL);
    ipt__desc_drop_expression(&its);
    result = ipt__plan_new(contexts[0], &its, NULL, plan);
    if (result)
        return result;
    array = ipt__view_array(&view);
    ipt__problem_take_view(&(*plan)->problem, &array);
    result = ipt__passes_new(*plan);
    if (!result)
        result = ipt__plan_fit(*plan, ipt__view_make, &passes);
    if (!result)
        result = ipt__axes_write_description(*plan, desc);
    return ipt__plan_keep(plan, result);
}
#endif
