/* Plans for arrays of several axes. An array of one pass has a plan for matrices. An array of several passes has a plan
 * that owns one for each pass. */

/* Refuses fields that belong to matrices. */
static ipt_result ipt__axes_check_fields(const ipt_plan_desc *desc)
{
    const char *const name = desc->rows                               ? "rows"
                             : desc->cols                             ? "cols"
                             : desc->row_pitch                        ? "row_pitch"
                             : desc->row_pitch_out                    ? "row_pitch_out"
                             : desc->sequence                         ? "sequence"
                             : desc->tile_m                           ? "tile_m"
                             : desc->tile_n                           ? "tile_n"
                             : desc->variant_010 || desc->variant_100 ? "a kernel of the papers"
                             : desc->from || desc->to                 ? "a format"
                             : desc->move                             ? "move"
                             : desc->flags & IPT_PAD                  ? "IPT_PAD"
                                                                      : NULL;
    if (desc->rank > IPT_MAX_RANK)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "rank is %u: %d at most", desc->rank, (int)IPT_MAX_RANK);
    if (name)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "rank is %u, and %s is set: arrays have shape and axes instead, so set it to 0", desc->rank,
                         name);
    if (!desc->elem_size)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "elem_size is 0");
    return IPT_SUCCESS;
}

/* Checks shape and axes of a desc, and copies the axes of more than one element to *array. */
static ipt_result ipt__axes_take(const ipt_plan_desc *desc, ipt__array *array)
{
    unsigned places[IPT_MAX_RANK], i, j;
    size_t bytes = desc->elem_size;
    ipt_result result = ipt__axes_check_fields(desc);
    if (result)
        return result;
    memset(array, 0, sizeof *array);
    for (i = 0; i < desc->rank; ++i) {
        if (desc->axes[i] >= desc->rank)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "axes[%u] is %u: rank is %u, so the last axis is %u", i,
                             desc->axes[i], desc->rank, desc->rank - 1);
        for (j = 0; j < i; ++j)
            if (desc->axes[j] == desc->axes[i])
                return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "axes[%u] and axes[%u] are both %u: name each axis once",
                                 j, i, desc->axes[i]);
        if (!desc->shape[i])
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "shape[%u] is 0", i);
        if (!ipt__multiply(&bytes, desc->shape[i]))
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                             "shape[%u] = %zu, elem_size = %zu: the product of shape and elem_size overflows", i,
                             desc->shape[i], desc->elem_size);
    }
    array->elements = bytes / desc->elem_size;
    if (desc->batch_stride % ipt__unit_bytes(desc->elem_size))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "batch_stride = %zu is not a multiple of %zu, the largest power of two in elem_size",
                         desc->batch_stride, ipt__unit_bytes(desc->elem_size));
    if (desc->batch_stride && desc->batch_stride < bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "batch_stride = %zu is less than an array of %zu bytes",
                         desc->batch_stride, bytes);
    if (!ipt__multiply(&bytes, ipt__max(desc->batch, 1)))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "batch = %zu: the size of all arrays overflows", desc->batch);
    for (i = 0, j = 0; i < desc->rank; ++i)
        if (desc->shape[desc->axes[i]] > 1)
            places[desc->axes[i]] = j++;
    for (i = 0; i < desc->rank; ++i)
        if (desc->shape[i] > 1) {
            array->lengths[array->count] = desc->shape[i];
            array->goal[array->count++] = (unsigned char)places[i];
        }
    array->elem_size = desc->elem_size;
    return IPT_SUCCESS;
}

#ifndef IPT_NO_HOST_STREAMING
/* Splits a double pass into two passes. */
static void ipt__passes_split(ipt__pass *passes, int *count, int at)
{
    ipt__pass *const first = &passes[at], *const second = first + 1;
    memmove(second, first, (size_t)(*count - at) * sizeof *passes);
    ++*count;
    second->batch = first->batch * first->rows * first->cols;
    second->rows = first->inner_rows;
    second->cols = first->inner_cols;
    second->elem_size = first->elem_size / (first->inner_rows * first->inner_cols);
    first->inner_rows = first->inner_cols = second->inner_rows = second->inner_cols = 0;
}
#endif

/* The desc of one pass over the batch of arrays, without the expression. A double pass converts between block formats.
 * *repeats: executions of the pass. A batch with gaps needs one for each array. */
static IPT__RARE ipt_plan_desc ipt__pass_desc(const ipt_plan_desc *desc, const ipt__array *array, const ipt__pass *pass,
                                              size_t *repeats)
{
    const size_t bytes = array->elements * array->elem_size;
    ipt_plan_desc made = *desc;
    made.rank = 0;
    made.rows = pass->rows;
    made.cols = pass->cols;
    made.elem_size = pass->elem_size;
    if (IPT__PAPERS && pass->inner_rows) {
        made.rows *= pass->inner_rows;
        made.cols *= pass->inner_cols;
        made.elem_size /= pass->inner_rows * pass->inner_cols;
        made.tile_m = pass->inner_rows;
        made.tile_n = pass->inner_cols;
        made.from = IPT_FORMAT_RRRB;
        made.to = IPT_FORMAT_CCRB;
    }
    *repeats = 1;
    if (pass->batch == 1 && made.batch > 1) /* one matrix an array: batch_stride is the arrays' own */
        return made;
    made.batch_stride = 0;
    made.batch = pass->batch;
    if (!desc->batch_stride || desc->batch_stride == bytes)
        made.batch = pass->batch * ipt__max(desc->batch, 1);
    else
        *repeats = ipt__max(desc->batch, 1);
    return made;
}

/* A pass that moves nothing: the elements are one row. It applies an expression, and copies out of place. */
static ipt__pass ipt__pass_of_row(const ipt__array *array)
{
    ipt__pass pass;
    pass.batch = pass.rows = 1;
    pass.cols = array->elements;
    pass.elem_size = array->elem_size;
    pass.inner_rows = pass.inner_cols = 0;
    return pass;
}

/* Begins the first line of a description. */
static IPT__RARE void ipt__axes_describe(ipt__text *out, const ipt_plan_desc *desc)
{
    unsigned i;
    ipt__text_add(out, "array of ");
    for (i = 0; i < desc->rank; ++i)
        ipt__text_add(out, "%s%zu", i ? " x " : "", desc->shape[i]);
    ipt__text_add(out, " elements of %zu bytes, axes ", desc->elem_size);
    for (i = 0; i < desc->rank; ++i)
        ipt__text_add(out, "%s%u", i ? "," : "", desc->axes[i]);
}

/* Ends it, and describes gaps. */
static IPT__RARE void ipt__axes_describe_passes(ipt__text *out, const ipt_plan_desc *desc, int passes)
{
    unsigned i;
    ipt__text_add(out, ", %d %s\n", passes, passes == 1 ? "pass" : "passes");
    for (i = 0; IPT__VIEWS && ipt__has_strides(desc) && i < 2 * desc->rank; ++i)
        ipt__text_add(out, "%s%zu%s",
                      i % desc->rank ? ","
                      : i            ? "; after: "
                                     : "  strides before: ",
                      i < desc->rank ? desc->strides[i] : desc->strides_out[i - desc->rank],
                      i + 1 == 2 * desc->rank ? "\n" : "");
}

enum { IPT__PASS_LINE_BYTES = 160 }; /* at most, for the number of a pass and the line of its narrow plan */

/* Adds the line about a narrow plan to a description. */
static void ipt__narrow_describe(ipt__text *out, const ipt_plan *plan)
{
    const ipt_plan *const narrow = plan->device ? plan->device->narrow : NULL;
    const int stages = narrow ? narrow->device->layout.stage_count : 0;
    if (narrow)
        ipt__text_add(out, "  at places that are no multiples of %zu: in units of %zu bytes, %d %s\n",
                      plan->problem.unit_bytes, narrow->problem.unit_bytes, stages, stages == 1 ? "stage" : "stages");
}

/* Writes the description: of the array, then of each pass. */
static IPT__RARE ipt_result ipt__axes_write_description(ipt_plan *plan, const ipt_plan_desc *desc)
{
    const ipt_allocator *const allocator = &plan->context->allocator;
    const int passes = plan->passes ? plan->passes->count : 0;
    size_t capacity = IPT__DESCRIPTION_BYTES;
    char *text, *former = plan->description;
    ipt__text out;
    ipt_result result;
    int i;
    for (i = 0; i < passes; ++i)
        capacity += strlen(plan->passes->list[i].plan->description) + IPT__PASS_LINE_BYTES;
    text = (char *)ipt__allocate(allocator, capacity + (former ? strlen(former) : 0));
    if (!text)
        return IPT_ERROR_OUT_OF_MEMORY;
    out = ipt__text_in(text, capacity + (former ? strlen(former) : 0));
    ipt__axes_describe(&out, desc);
    ipt__axes_describe_passes(&out, desc, plan->passes ? passes : 1);
    if (former)
        ipt__text_add(&out, "%s", former);
    ipt__narrow_describe(&out, plan);
    for (i = 0; i < passes; ++i) {
        ipt__text_add(&out, "%d. %s", i + 1, plan->passes->list[i].plan->description);
        ipt__narrow_describe(&out, plan->passes->list[i].plan);
    }
    if (plan->passes) /* the passes share the workspace */
        ipt__describe_memory(&out, plan, ipt_plan_workspace(plan));
    result = ipt__plan_keep_description(plan, text);
    ipt__release(allocator, text);
    ipt__release(allocator, former);
    return result;
}

/* Makes a plan for matrices on the device or in host memory. lent: see ipt__plan_new. */
static ipt_result ipt__matrix_plan_make(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent,
                                        ipt_plan **plan)
{
#ifndef IPT_NO_HOST_STREAMING
    return ipt__host_plan_make(context, desc, lent, plan);
#else
    const ipt_result result = ipt__plan_make(context, desc, lent, plan);
    return result ? result : ipt__plan_keep(plan, ipt__host_plan_begin(*plan));
#endif
}

/* Makes the narrow plan of a plan whose units exceed `unit` bytes. Its units have `unit` bytes, or more if an element
 * that a pass moves would have 2^32 units. */
static ipt_result ipt__plan_add_narrow(ipt_plan *plan, const ipt_plan_desc *desc, size_t unit)
{
    ipt__workspace *const workspace = plan->workspace;
    const size_t most = workspace->unit_most;
    ipt_plan *narrow;
    ipt_plan_desc its = *desc;
    ipt_result result;
    while (desc->elem_size / unit > (cl_uint)-1)
        unit *= 2;
    if (plan->problem.unit_bytes <= unit || desc->max_host_memory || !plan->device)
        return IPT_SUCCESS;
    its.flags &= ~IPT_MEASURE;
    workspace->unit_most = unit;
    result = ipt__array_plan_make(plan->context, &its, &plan->problem.array, workspace, &narrow);
    plan->device->narrow = narrow;
    workspace->unit_most = most;
    if (!result && narrow->enough && !ipt__plan_borrows(plan))
        return ipt__fail_budget(&plan->problem, ipt__problem_budget(&plan->problem), narrow->enough);
    if (!result)
        plan->enough = ipt__max(plan->enough, narrow->enough);
    return result;
}

/* Makes a plan for matrices on the device, in host memory or in a storage. lent: see ipt__plan_new. */
static ipt_result ipt__any_plan_make(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent,
                                     ipt_plan **plan)
{
    if (desc && desc->max_host_memory)
#ifndef IPT_NO_STORAGE
        return ipt__storage_plan_make(context, desc, lent, plan);
#else
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "max_host_memory is %zu: ipt was compiled with IPT_NO_STORAGE",
                         desc->max_host_memory);
#endif
    return ipt__matrix_plan_make(context, desc, lent, plan);
}

/* Makes the plan of one pass, for several contexts (split > 0) or for the plan's context. */
static ipt_result ipt__pass_plan_make(ipt_plan *plan, ipt_context *const *contexts, size_t split,
                                      const ipt_plan_desc *desc, ipt_plan **made)
{
    ipt_result result;
#ifndef IPT_NO_HOST_STREAMING
    if (split)
        return ipt__split_plan_make(contexts, split, desc, plan->workspace, made);
#else
    (void)contexts, (void)split;
#endif
    result = ipt__any_plan_make(plan->context, desc, plan->workspace, made);
#ifndef IPT_NO_HOST_STREAMING
    if (!result && plan->kind->by_passes)
        result = ipt__plan_keep(made, ipt__host_prepare(*made));
#endif
    return result;
}

/* Makes the plan that copies the arrays out of place. */
static ipt_result ipt__passes_make_copies(ipt_plan *plan, const ipt_plan_desc *desc, const ipt__array *array)
{
    const ipt__pass row = ipt__pass_of_row(array);
    size_t once;
    ipt_plan_desc its = ipt__pass_desc(desc, array, &row, &once);
    ipt__desc_drop_expression(&its);
    return ipt__any_plan_make(plan->context, &its, plan->workspace, &plan->passes->copies);
}

/* The input of the plans of an array's passes. split: number of contexts; 0: one context does all. */
typedef struct ipt__passes {
    ipt__workspace *lent;       /* see ipt__plan_new */
    ipt__plan_maker make_piece; /* of arrays that go in pieces; NULL: none do */
    ipt_context *const *contexts;
    size_t split;
    const ipt_plan_desc *desc;
    const ipt__array *array;
    ipt__pass *list;
    int count, applies;      /* applies: the pass of the expression, or -1 */
    const ipt__array *whole; /* joined: pass `whole_at` permutes it; NULL: all passes exchange axes */
    int whole_at;
} ipt__passes;

/* Whether the last pass writes whole results by boxes, which know places, and all of them at once. */
static int ipt__passes_end_in_boxes(const ipt__passes *passes)
{
    const int last = passes->count - 1;
    size_t repeats = 0;
    if (IPT__BOXES && passes->whole && passes->whole_at == last && !passes->whole->columns)
        ipt__pass_desc(passes->desc, passes->array, &passes->list[last], &repeats);
    return repeats == 1;
}

/* Chooses the pass that applies the expression: one that moves single elements. If it names places, these are the boxes
 * of the last one, or a pass that moves nothing. Appends a pass if there is none. */
static IPT__RARE void ipt__passes_apply(ipt__passes *passes)
{
    const ipt__pass *const list = passes->list;
    const int named = ipt__named_places(passes->desc) != 0,
              boxes = named && ipt__passes_end_in_boxes(passes) ? passes->count - 1 : -1;
    int i = 0;
    passes->applies = -1;
    if (!passes->desc->expression)
        return;
    while (i < passes->count && (list[i].elem_size != passes->array->elem_size ||
                                 (named && i != boxes && list[i].cols != passes->array->elements)))
        ++i;
    if (i == passes->count)
        passes->list[passes->count++] = ipt__pass_of_row(passes->array);
    passes->applies = i;
}

/* The desc of pass `at`. */
static IPT__RARE ipt_plan_desc ipt__passes_desc(const ipt_plan *plan, const ipt__passes *passes, int at,
                                                size_t *repeats)
{
    const ipt_plan_desc *const desc = passes->desc;
    ipt_plan_desc its = ipt__pass_desc(desc, passes->array, &passes->list[at], repeats);
    its.max_workspace = 0; /* the plan's workspace has a limit already */
    if (at != passes->applies)
        ipt__desc_drop_expression(&its);
    else if (ipt__named_places(desc))
        its.rank = desc->rank; /* see ipt__result_lengths */
    if (its.max_host_memory)
        its.max_host_memory -= ipt__min(IPT__CUT_MARK_BYTES, its.max_host_memory - 1);
    if (at) /* later passes work in place */
        its.flags &= ~IPT_OUT_OF_PLACE;
#ifndef IPT_NO_HOST_STREAMING
    if (plan->kind->by_passes && !passes->split &&
        (desc->max_device_memory || !desc->max_host_memory)) { /* the passes' plans divide the device memory */
        its.max_device_memory =
            (desc->max_device_memory ? desc->max_device_memory : ipt__cut_limit(plan) / 4 * 3) / (size_t)passes->count;
        ipt__cut_workspace(plan, its.max_device_memory);
    }
#else
    (void)plan;
#endif
    return its;
}

/* Fits a pass to gaps between arrays that its units do not divide. A pass over host memory runs array by array. Other
 * passes take shorter units. Returns the limit of a unit in bytes. */
static size_t ipt__pass_fit_gaps(const ipt_plan *plan, ipt_plan_desc *desc, size_t *repeats)
{
    const size_t most = ipt__unit_bytes(desc->batch_stride);
    if (plan->kind->by_passes && ipt__unit_bytes(desc->elem_size) > most) {
        *repeats = desc->batch;
        desc->batch = 1;
        desc->batch_stride = 0;
        return IPT__VECTOR_BYTES;
    }
    return most;
}

#if !defined IPT_NO_HOST_STREAMING && !defined IPT_NO_BOXES
/* Makes a plan that takes arrays through memory whole, or by panels of permuted columns. */
static IPT__RARE ipt_result ipt__cut_array_make(ipt_context *context, const ipt_plan_desc *desc,
                                                const ipt__passes *passes, ipt__workspace *lent, ipt_plan **plan)
{
    ipt__opener open = ipt__cut_open_host;
    ipt_result result;
#ifndef IPT_NO_STORAGE
    open = desc->max_host_memory ? ipt__cut_open_storage : open;
#else
    if (desc->max_host_memory)
        return ipt__any_plan_make(context, desc, lent, plan); /* which refuses it */
#endif
    result = ipt__host_plan_new(context, desc, lent, plan);
    if (result)
        return result;
    (*plan)->problem.array = *passes->whole;
    return ipt__plan_keep(plan, ipt__plan_cut(*plan, open, passes->make_piece));
}
#endif

/* Makes the plan of the pass that permutes passes->whole. */
static ipt_result ipt__whole_pass_make(ipt_plan *plan, const ipt__passes *passes, const ipt_plan_desc *desc,
                                       ipt_plan **made)
{
#if !defined IPT_NO_HOST_STREAMING && !defined IPT_NO_BOXES
    if (plan->kind->by_passes)
        return ipt__cut_array_make(plan->context, desc, passes, plan->workspace, made);
#endif
    return ipt__array_plan_make(plan->context, desc, passes->whole, plan->workspace, made);
}

/* Makes the plans of the passes, which share the plan's workspace. what: an ipt__passes. */
static IPT__RARE ipt_result ipt__passes_make(ipt_plan *plan, const void *what)
{
    const ipt__passes *const passes = (const ipt__passes *)what;
    ipt_result result = IPT_SUCCESS;
    int i;
    for (i = 0; i < passes->count; ++i) {
        ipt__pass_plan *const made = &plan->passes->list[i];
        ipt_plan_desc its = ipt__passes_desc(plan, passes, i, &made->repeats);
        const size_t unit = ipt__pass_fit_gaps(plan, &its, &made->repeats);
        made->apart = plan->problem.desc.batch_stride;
        plan->workspace->unit_most = unit;
        result = passes->whole && i == passes->whole_at
                     ? ipt__whole_pass_make(plan, passes, &its, &made->plan)
                     : ipt__pass_plan_make(plan, passes->contexts, passes->split, &its, &made->plan);
        plan->workspace->unit_most = IPT__VECTOR_BYTES;
        if (result)
            return result;
        ++plan->passes->count;
        if (!plan->kind->by_passes)
            result = ipt__plan_add_narrow(made->plan, &its, plan->problem.unit_bytes);
        if (result)
            return result;
        plan->enough = ipt__max(plan->enough, made->plan->enough);
    }
    if (!plan->kind->by_passes && (passes->list[0].inner_rows || passes->whole))
        result = ipt__passes_make_copies(plan, passes->desc, passes->array);
    if (!result && plan->passes->copies)
        plan->enough = ipt__max(plan->enough, plan->passes->copies->enough);
    return result;
}

/* Enqueues a pass after *last. *last becomes the pass' event. */
static ipt_result ipt__pass_enqueue(ipt_plan *pass, ipt__call *call, int out_of_place, cl_event *last)
{
    cl_event next = NULL;
    const ipt_result result = ipt__device_enqueue(pass, call, out_of_place, &next);
    if (!next)
        return result;
    if (*last)
        ipt__calls(pass->context)->clReleaseEvent(*last);
    *last = next;
    call->wait_count = 1;
    call->wait = last;
    return result;
}

/* Enqueues the passes one after the other. Out of place, the first one or a copy writes to the target, and later passes
 * work there. */
static ipt_result ipt__passes_enqueue(ipt_plan *plan, const ipt__call *call, int out_of_place, cl_event *event)
{
    ipt__call each = *call;
    cl_event last = NULL;
    ipt_result result = IPT_SUCCESS;
    size_t r;
    int i;
    const int done = IPT__VIEWS && out_of_place && plan->passes->copies_permute;
    if (out_of_place && plan->passes->copies)
        result = ipt__pass_enqueue(plan->passes->copies, &each, 1, &last);
    for (i = 0; i < plan->passes->count && !result && !done; ++i)
        for (r = 0; r < plan->passes->list[i].repeats && !result; ++r) {
            each.source_offset = call->source_offset + r * plan->passes->list[i].apart;
            each.target_offset = call->target_offset + r * plan->passes->list[i].apart;
            result = ipt__pass_enqueue(plan->passes->list[i].plan, &each, out_of_place && !i && !plan->passes->copies,
                                       &last);
        }
    if (result && result != IPT_ERROR_INCOMPLETE && (last || (call->recorder && call->recorder->count)))
        result = ipt__fail_incomplete("some passes were enqueued, so the content is undefined");
    if (event)
        *event = last;
    else if (last)
        ipt__calls(plan->context)->clReleaseEvent(last);
    return result;
}

#ifndef IPT_NO_KERNEL_SOURCE
static const char *ipt__passes_source(const ipt_plan *plan, size_t *index)
{
    const char *source = NULL;
    int i;
    for (i = 0; i < plan->passes->count && !source; ++i)
        if (plan->passes->list[i].plan->device)
            source = ipt__device_plan_source(plan->passes->list[i].plan, index);
    return source || !plan->passes->copies ? source : ipt__device_plan_source(plan->passes->copies, index);
}
#endif

static const ipt__plan_kind ipt__passes_kind = {0, ipt__passes_enqueue, IPT__PLAN_SOURCE(ipt__passes_source)};
#ifndef IPT_NO_HOST_STREAMING
static const ipt__plan_kind ipt__host_passes_kind = {1, NULL, IPT__PLAN_SOURCE(ipt__passes_source)};
#endif

/* Gives a new plan an empty list of passes. */
static ipt_result ipt__passes_new(ipt_plan *plan)
{
    const ipt_result result = ipt__host_plan_begin(plan);
    plan->kind = &ipt__passes_kind;
    plan->passes = (ipt__passes_plan *)ipt__allocate(&plan->context->allocator, sizeof *plan->passes);
    return result || plan->passes ? result : IPT_ERROR_OUT_OF_MEMORY;
}

/* Prepares a new plan for its passes. */
static IPT__RARE ipt_result ipt__passes_begin(ipt_plan *plan, ipt__passes *passes)
{
    ipt_result result = ipt__passes_new(plan);
#ifndef IPT_NO_HOST_STREAMING
    int i;
#endif
    if (result)
        return result;
#ifndef IPT_NO_HOST_STREAMING
    if (passes->split || passes->desc->max_host_memory || ipt__plan_is_cut(plan))
        plan->kind = &ipt__host_passes_kind;
    /* Double passes convert formats, which are not cut. */
    for (i = 0; plan->kind->by_passes && i < passes->count; ++i)
        if (passes->list[i].inner_rows) {
            ipt__passes_split(passes->list, &passes->count, i);
            passes->applies += passes->applies > i;
        }
    if (passes->split)
        result = ipt__plan_divide(plan, passes->contexts, passes->split);
#else
    (void)passes;
#endif
    return result;
}

/* Makes a plan of several passes. */
static IPT__RARE ipt_result ipt__passes_plan_make(ipt__passes *passes, ipt_plan **plan)
{
    const ipt__pass row = ipt__pass_of_row(passes->array);
    size_t once;
    ipt_plan_desc whole = ipt__pass_desc(passes->desc, passes->array, &row, &once); /* bytes and gaps of the arrays */
    ipt_result result;
    ipt__desc_drop_expression(&whole);
    result = ipt__plan_new(passes->contexts[0], &whole, passes->lent, plan);
    if (result)
        return result;
    result = ipt__passes_begin(*plan, passes);
    if (!result)
        result = ipt__plan_fit(*plan, ipt__passes_make, passes);
    if (!result)
        result = ipt__axes_write_description(*plan, passes->desc);
    return ipt__plan_keep(plan, result);
}
