/* VIEW stages: permute an array with gaps by cycles and chains of elements, with one flag bit per piece of an element.
 */
#ifndef IPT_NO_VIEWS
enum { IPT__VIEW_WINDOWS = 16, IPT__VIEW_GROUP = 4096 }; /* most windows; units of a work-group */

/* Appends a stage. Elements are cut into pieces that fit the registers of a worker: a work-item, or on GPUs a
 * work-group for long ones. */
static IPT__RARE ipt__stage *ipt__stage_add_view(const ipt__problem *problem, ipt__layout *layout)
{
    ipt__stage *const stage = ipt__stage_add(layout, IPT__STAGE_VIEW, 1, 1, problem->array.elements, 1);
    const ipt__limits *const limits = &problem->limits;
    const size_t units = problem->element_units, most = limits->cpu ? 32 : 8;
    size_t registers = 1;
    stage->lanes = limits->cpu || units <= most ? 1 : ipt__min(32, limits->group_size);
    while (registers < most && registers * stage->lanes < units)
        registers *= 2;
    stage->as.view.piece_units = registers * stage->lanes;
    stage->as.view.pieces = ipt__ceil_divide(units, stage->as.view.piece_units);
    return stage;
}

/* Flag bytes for one of `windows` windows. */
static IPT__RARE size_t ipt__view_flags(const ipt__stage *stage, size_t windows)
{
    return ipt__ceil_divide(ipt__ceil_divide(stage->cols, windows) * stage->as.view.pieces, 32) * 4;
}

static IPT__RARE ipt__need ipt__need_view(const ipt__problem *problem, const ipt__layout *layout,
                                          const ipt__stage *stage)
{
    ipt__need need = ipt__need_nothing(problem, layout, stage);
    need.stage = ipt__view_flags(stage, stage->as.view.windows);
    return need;
}

/* Bytes of an array with gaps from its first element to the last one's end, before or after. */
static IPT__RARE size_t ipt__view_span(const ipt__array *array, int side)
{
    size_t bytes = array->elem_size;
    int i;
    for (i = 0; i < array->count; ++i)
        bytes += (array->lengths[i] - 1) * array->strides[side][i];
    return bytes;
}

static IPT__RARE ipt_result ipt__kernels_view(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    const ipt__limits *const limits = &plan->problem.limits;
    const ipt__array *const array = &plan->problem.array;
    const size_t units = ipt__max(ipt__view_span(array, 0), ipt__view_span(array, 1)) / plan->problem.unit_bytes;
    params.lanes = (cl_uint)stage->lanes;
    params.group_size = limits->cpu || stage->lanes > 1 ? params.lanes : (cl_uint)ipt__min(256, limits->group_size);
    params.registers = (cl_uint)(stage->as.view.piece_units / stage->lanes);
    params.index_bits = ipt__index_bits(limits, units);
    params.axes = (cl_uint)array->count;
    return ipt__plan_kernel_get(plan, IPT__KERNEL_views, params, &stage->kernels[0]);
}

enum { IPT__VIEW_AXIS_NUMBERS = 7, IPT__VIEW_LATER_NUMBERS = 6 }; /* of an axis in the arguments, 3 for a divisor */

/* Writes the axes to a kernel's arguments, in the sequence of the source's places and of the result's. */
static void ipt__view_axes(const ipt__problem *problem, ipt__views_arguments *a)
{
    const ipt__array *const array = &problem->array;
    const size_t unit = problem->unit_bytes;
    cl_ulong weight = 1;
    int i;
    for (i = array->count; i < IPT__KERNEL_AXES; ++i) { /* a program may have more axes: these have one element */
        cl_ulong *const axis = &a->extent0 + i * IPT__VIEW_AXIS_NUMBERS, *const later = &a->later_extent0 +
                                                                                        i * IPT__VIEW_LATER_NUMBERS;
        axis[0] = axis[3] = later[0] = later[4] = 1;
    }
    for (i = array->count; i-- > 0; weight *= array->lengths[i]) {
        cl_ulong *const axis = &a->extent0 + i * IPT__VIEW_AXIS_NUMBERS, *const later =
                                                                             &a->later_extent0 +
                                                                             array->goal[i] * IPT__VIEW_LATER_NUMBERS;
        axis[0] = later[0] = array->lengths[i];
        axis[3] = later[4] = array->strides[0][i] / unit;
        axis[6] = later[1] = array->strides[1][i] / unit;
        later[5] = weight;
    }
}

/* Adds the launch for elements [first, first + count). given: the buffers, see ipt__launch. */
static IPT__RARE ipt_result ipt__launch_elements(ipt__launcher *to, const ipt__stage *stage, unsigned given,
                                                 size_t first, size_t count)
{
    const ipt__problem *const problem = &to->plan->problem;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__views_arguments *const a = &launch.arguments.views;
    launch.given = given;
    a->flags_base = to->plan->device->layout.scratch_offset / 4;
    a->first = first;
    a->count = count;
    a->total = (cl_ulong)count * stage->as.view.pieces;
    a->element_units = problem->element_units;
    a->piece_units = (cl_uint)stage->as.view.piece_units;
    a->group_pieces = ipt__max(1, IPT__VIEW_GROUP / a->piece_units);
    a->apart = given == 3;
    launch.groups = ipt__ceil_divide((size_t)a->total, (size_t)a->group_pieces);
    ipt__view_axes(problem, a);
    return ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_view(ipt__launcher *to, const ipt__stage *stage)
{
    const size_t offset = to->plan->device->layout.scratch_offset,
                 window = ipt__ceil_divide(stage->cols, stage->as.view.windows);
    ipt_result result = IPT_SUCCESS;
    size_t first;
    for (first = 0; first < stage->cols && !result; first += window) {
        result = ipt__launch_clear(to, offset, ipt__view_flags(stage, stage->as.view.windows));
        if (!result)
            result = ipt__launch_elements(to, stage, 1, first, ipt__min(window, stage->cols - first));
    }
    return result;
}

static IPT__RARE void ipt__describe_view(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__array *const array = &plan->problem.array;
    int i;
    ipt__text_add(out, "view: ");
    for (i = 0; i < array->count; ++i)
        ipt__text_add(out, "%s%zu", i ? " x " : "", array->lengths[i]);
    ipt__text_add(out, " elements of %zu bytes", plan->problem.desc.elem_size);
    if (stage->as.view.pieces > 1)
        ipt__text_add(out, ", in %zu pieces", stage->as.view.pieces);
    if (stage->as.view.windows > 1)
        ipt__text_add(out, ", in %zu windows", stage->as.view.windows);
    ipt__describe_end(out, stage);
}
#endif
