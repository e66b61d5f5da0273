/* Plans for views: arrays whose axes have strides. A view without gaps has the plan of its array. Views that are
 * batches of matrices with gaps have plans of these. All others move element by element: see stages/view.h. */
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

/* Leaves out the strides of an array, and that of its batch. */
static void ipt__desc_drop_strides(ipt_plan_desc *desc)
{
    memset(desc->strides, 0, sizeof desc->strides);
    memset(desc->strides_out, 0, sizeof desc->strides_out);
    desc->batch_stride = 0;
}

/* Sorts the axes by the strides of one side, the largest first. */
static void ipt__view_sort(ipt__view *view, int side)
{
    int i, at;
    for (i = 1; i < view->count; ++i) {
        const ipt__view_axis axis = view->axes[i];
        for (at = i; at > 0 && view->axes[at - 1].strides[side] < axis.strides[side]; --at)
            view->axes[at] = view->axes[at - 1];
        view->axes[at] = axis;
    }
}

/* Bytes from the first element to the last one's end. */
static size_t ipt__view_span(const ipt__view *view, int side)
{
    size_t bytes = view->elem_size;
    int i;
    for (i = 0; i < view->count; ++i)
        bytes += (view->axes[i].length - 1) * view->axes[i].strides[side];
    return bytes;
}

/* Checks one side: elements do not overlap, and all are aligned. *dense: whether they have no gaps. */
static ipt_result ipt__view_check(const ipt_plan_desc *desc, ipt__view *view, int side, int *dense)
{
    const size_t unit = ipt__unit_bytes(desc->elem_size);
    size_t bytes = view->elem_size;
    int i;
    *dense = 1;
    ipt__view_sort(view, side);
    for (i = view->count; i-- > 0;) {
        const ipt__view_axis *const axis = &view->axes[i];
        const size_t stride = axis->strides[side];
        size_t reach = axis->length - 1;
        const int overflows = !ipt__multiply(&reach, stride) || reach > (size_t)-1 - bytes;
        char name[32];
        ipt__print(name, sizeof name, axis->places[side] < desc->rank ? "%s[%u]" : "batch_stride",
                   side ? "strides_out" : "strides", axis->places[side]);
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
        *dense &= stride == bytes;
        bytes += reach;
    }
    return IPT_SUCCESS;
}

/* Appends an axis, unless it has one element. */
static void ipt__view_add(ipt__view *view, size_t length, size_t before, size_t after, const unsigned places[2])
{
    ipt__view_axis *const axis = &view->axes[view->count];
    if (length < 2)
        return;
    axis->length = length;
    axis->strides[0] = before;
    axis->strides[1] = after;
    axis->places[0] = places[0];
    axis->places[1] = places[1];
    ++view->count;
}

/* Takes the axes of a desc, the batch's last. *dense: an array without gaps, with or without gaps between arrays. */
static ipt_result ipt__view_take(const ipt_plan_desc *desc, size_t split, ipt__view *view, ipt__array *array,
                                 int *dense)
{
    const size_t *const given[2] = {desc->strides, desc->strides_out};
    const unsigned batch_places[2] = {desc->rank, desc->rank};
    size_t strides[2][IPT_MAX_RANK], batch_stride = 0;
    unsigned places[IPT_MAX_RANK][2], i, side;
    int dense_sides[2];
    ipt_plan_desc plain = *desc;
    ipt_result result;
    const char *const dense_only = split                               ? "a plan for several contexts"
                                   : ipt__named_places(desc)           ? "an expression that names places"
                                   : desc->max_device_memory           ? "max_device_memory"
                                   : desc->max_host_memory             ? "max_host_memory"
                                   : desc->host == IPT_HOST_OVERLAPPED ? "host is overlapped, which"
                                   : desc->host == IPT_HOST_STAGES     ? "host is stages, which"
                                                                       : NULL;
    if (dense_only)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "strides: %s needs an array without gaps", dense_only);
    for (i = desc->rank; i < IPT_MAX_RANK; ++i)
        if (desc->strides[i] || desc->strides_out[i])
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s[%u] is %zu, but rank is %u",
                             desc->strides[i] ? "strides" : "strides_out", i,
                             desc->strides[i] ? desc->strides[i] : desc->strides_out[i], desc->rank);
    ipt__desc_drop_strides(&plain);
    result = ipt__axes_take(&plain, array);
    if (result)
        return result;
    for (side = 0; side < 2; ++side) {
        size_t bytes = desc->elem_size, any = 0;
        for (i = 0; i < desc->rank; ++i)
            any |= given[side][i];
        for (i = desc->rank; i-- > 0;) {
            const unsigned axis = side ? desc->axes[i] : i;
            places[axis][side] = i;
            strides[side][axis] = any ? given[side][i] : bytes;
            bytes *= desc->shape[axis];
        }
    }
    view->count = 0;
    view->elem_size = desc->elem_size;
    for (i = 0; i < desc->rank; ++i)
        ipt__view_add(view, desc->shape[i], strides[0][i], strides[1][i], places[i]);
    for (side = 0; side < 2 && !result; ++side) {
        result = ipt__view_check(desc, view, (int)side, &dense_sides[side]);
        for (i = 0; i < (unsigned)view->count && !result; ++i) {
            size_t bytes = view->axes[i].length;
            batch_stride =
                ipt__max(batch_stride, ipt__multiply(&bytes, view->axes[i].strides[side]) ? bytes : (size_t)-1);
        }
    }
    *dense = !result && dense_sides[0] && dense_sides[1] && (!desc->batch_stride || desc->batch_stride >= batch_stride);
    if (result || *dense)
        return result;
    if (desc->batch_stride)
        batch_stride = desc->batch_stride;
    ipt__view_add(view, desc->batch, batch_stride, batch_stride, batch_places);
    for (side = 0; side < 2 && !result; ++side)
        result = ipt__view_check(desc, view, (int)side, &dense_sides[side]);
    return result;
}

/* Changes a desc with strides of an array without gaps to that of the array. */
static void ipt__view_dense(ipt__view *view, ipt_plan_desc *desc)
{
    const size_t batch_stride = desc->batch_stride;
    int i;
    ipt__desc_drop_strides(desc);
    desc->batch_stride = batch_stride;
    desc->rank = (unsigned)ipt__max((size_t)view->count, 1);
    desc->shape[0] = 1;
    desc->axes[0] = 0;
    ipt__view_sort(view, 1);
    for (i = 0; i < view->count; ++i)
        view->axes[i].places[1] = (unsigned)i;
    ipt__view_sort(view, 0);
    for (i = 0; i < view->count; ++i) {
        desc->shape[i] = view->axes[i].length;
        desc->axes[view->axes[i].places[1]] = (unsigned)i;
    }
}

/* Removes an axis. */
static ipt__view_axis ipt__view_remove(ipt__view *view, int at)
{
    const ipt__view_axis axis = view->axes[at];
    memmove(&view->axes[at], &view->axes[at + 1], (size_t)(--view->count - at) * sizeof axis);
    return axis;
}

/* Joins neighbours, and last axes without gaps with the element. Sorts the axes by the source's strides. */
static void ipt__view_join(ipt__view *view, int keeps_element)
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
static ipt__view_axis ipt__view_take_batch(ipt__view *view, int outermost)
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
        reach = ipt__max(inside[0], inside[1]);
        if (axis->strides[0] == axis->strides[1] && reach <= axis->strides[0] &&
            (!steps || (!outermost && (axis->length - 1) * axis->strides[0] + reach <= steps)))
            return ipt__view_remove(view, at);
    }
    return none;
}

/* The only pass over an array with gaps. */
typedef struct ipt__view_pass {
    ipt_plan_desc desc;
    ipt__array array;      /* count 0: a batch of matrices with gaps */
    size_t unit;           /* most bytes of a unit */
    size_t repeats, apart; /* see ipt__pass_plan */
} ipt__view_pass;

enum { IPT__VIEW_REPEATS = 4096 }; /* most executions of a plan of matrices */

/* Takes sorted axes as batches of a matrix with gaps. Returns 0 if they are none. */
static int ipt__view_matrix(ipt__view view, ipt__view_pass *pass)
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

/* The array of sorted axes. */
static ipt__array ipt__view_array(const ipt__view *view)
{
    ipt__array array;
    int i, later;
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

/* Takes sorted axes as an array that moves element by element. Elements are cut if they could overlap others in part:
 * then no multiple of their size is the distance of any two. */
static ipt_result ipt__view_elements(ipt__view view, ipt__view_pass *pass)
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
    if (view.count > IPT__KERNEL_AXES)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "strides and strides_out have %d axes that cannot be joined: %d at most are possible",
                         view.count, (int)IPT__KERNEL_AXES);
    pass->array = ipt__view_array(&view);
    pass->desc.rows = pass->desc.batch = pass->repeats = 1;
    pass->desc.cols = pass->array.elements;
    pass->desc.elem_size = view.elem_size;
    return IPT_SUCCESS;
}

/* Takes an array with gaps, and the bytes from its first element to its last, before and after. */
static void ipt__problem_take_view(ipt__problem *problem, const ipt__array *array, const size_t spans[2])
{
    int i;
    problem->array = *array;
    problem->pitched = 1;
    problem->source_span = spans[0];
    problem->result_span = spans[1];
    problem->span_bytes = ipt__max(spans[0], spans[1]);
    for (i = 0; i < 2 * array->count; ++i) /* the longest row of a transfer */
        problem->source_row = ipt__max(problem->source_row, array->strides[i % 2][i / 2] / problem->unit_bytes);
}

/* Makes the plan of the pass, see ipt__passes_make. what: an ipt__view_pass. */
static ipt_result ipt__view_make(ipt_plan *plan, const void *what)
{
    const ipt__view_pass *const pass = (const ipt__view_pass *)what;
    ipt__pass_plan *const made = plan->passes->list;
    ipt_result result;
    made->repeats = pass->repeats;
    made->apart = pass->apart;
    plan->workspace->unit_most = pass->unit;
    result = ipt__array_plan_make(plan->context, &pass->desc, &pass->array, plan->workspace, &made->plan);
    plan->workspace->unit_most = IPT__VECTOR_BYTES;
    if (result)
        return result;
    plan->passes->count = 1;
    result = ipt__plan_add_narrow(made->plan, &pass->desc, plan->problem.unit_bytes);
    plan->enough = ipt__max(plan->enough, made->plan->enough);
    return result;
}

/* Makes a plan for a desc with strides. */
static IPT__RARE ipt_result ipt__view_plan_make(ipt_context *const *contexts, size_t split, const ipt_plan_desc *desc,
                                                ipt_plan **plan)
{
    ipt__view view;
    ipt__view_pass pass;
    ipt__array array;
    ipt_plan_desc whole;
    size_t spans[2];
    int dense = 0;
    ipt_result result = ipt__view_take(desc, split, &view, &array, &dense);
    if (result)
        return result;
    memset(&pass, 0, sizeof pass);
    pass.desc = *desc;
    if (dense) {
        ipt__view_dense(&view, &pass.desc);
        return ipt__axes_plan_make(contexts, split, &pass.desc, plan);
    }
    spans[0] = ipt__view_span(&view, 0);
    spans[1] = ipt__view_span(&view, 1);
    ipt__view_join(&view, desc->expression != NULL);
    ipt__desc_drop_strides(&pass.desc);
    pass.desc.rank = 0;
    pass.desc.rows = 1;
    pass.desc.cols = array.elements;
    whole = pass.desc; /* bytes of the arrays */
    ipt__desc_drop_expression(&whole);
    pass.desc.max_workspace = 0; /* the plan's workspace has a limit already */
    array = ipt__view_array(&view);
    if (view.count > IPT__KERNEL_AXES || !ipt__view_matrix(view, &pass))
        result = ipt__view_elements(view, &pass);
    if (!result)
        result = ipt__plan_new(contexts[0], &whole, NULL, plan);
    if (result)
        return result;
    ipt__problem_take_view(&(*plan)->problem, &array, spans);
    result = ipt__passes_new(*plan);
    if (!result)
        result = ipt__plan_fit(*plan, ipt__view_make, &pass);
    if (!result)
        result = ipt__axes_write_description(*plan, desc);
    return ipt__plan_keep(plan, result);
}
#endif
