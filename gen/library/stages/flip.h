/* FLIP stages: reverse the sequence of rows, or each row, or both. */

/* Pairs of elements that a FLIP stage exchanges per matrix. */
static size_t ipt__flip_pairs(const ipt__stage *stage)
{
    if (!stage->reversed_cols)
        return stage->rows / 2 * stage->cols;
    return stage->reversed_rows ? stage->rows * stage->cols / 2 : stage->rows * (stage->cols / 2);
}

static IPT__RARE ipt_result ipt__kernels_flip(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    const size_t vectors = 2 * (IPT__FLIP_LANES + 3) * IPT__VECTOR_BYTES; /* of local memory, for IPT__FLIP_LANES */
    params.group_size = ipt__min(params.group_size, IPT__FLIP_GROUP);
    while (params.group_size > IPT__FLIP_LANES &&
           params.group_size / IPT__FLIP_LANES * vectors > plan->problem.limits.local_memory)
        params.group_size /= 2;
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_flip, params, &stage->kernels[0]);
}

/* Cuts the lines of a flip into pieces, and returns the number of work-groups of a matrix. run_lanes work-items store a
 * piece: 16 bytes each, minus the units of its first word that precede it. Work-groups of one work-item store no
 * pieces. */
static cl_ulong ipt__flip_cut(const ipt__limits *limits, ipt__flip_arguments *a, size_t unit, size_t group_size)
{
    const size_t vector_units = IPT__VECTOR_BYTES / unit, before = ipt__max(1, IPT__WORD_BYTES / unit) - 1,
                 most = group_size * vector_units - before, element = a->element_units, pairs = (size_t)a->line_pairs,
                 lines = ipt__ceil_divide((size_t)a->pairs, pairs);
    size_t lanes = ipt__min(IPT__FLIP_LANES, group_size), each = ipt__max(1, most / element), pieces;
    a->run_lanes = a->parts = 1;
    if (group_size == 1) {
        a->group_pairs = ipt__group_run(limits);
        return ipt__ceil_divide((size_t)a->pairs, (size_t)a->group_pairs);
    }
    each = each < 16 ? each : each / 16 * 16; /* keeps the alignment of lines */
    each = ipt__min(each, ipt__round_up(ipt__ceil_divide(pairs, ipt__ceil_divide(pairs, each)), 16)); /* equal */
    pieces = ipt__ceil_divide(pairs, each);
    a->part_units = (cl_uint)ipt__min(most, each * element);
    a->parts = (cl_uint)ipt__ceil_divide(element, most);
    while (lanes < group_size && lanes * vector_units < ipt__min(a->part_units, pairs * element) + before)
        lanes *= 2;
    a->run_lanes = (cl_uint)lanes;
    a->group_pairs = each;
    return (cl_ulong)pieces * a->parts * ipt__ceil_divide(lines, group_size / lanes);
}

static IPT__RARE ipt_result ipt__launch_flip(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    /* Unsigned: a matrix may have more than 2^63 units. Kernels add negative distances modulo 2^64. */
    const cl_ulong units = problem->element_units, row = ipt__result_row(problem), rows = stage->rows,
                   last = (stage->cols - 1) * units;
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__flip_arguments *const a = &launch.arguments.flip;
    cl_ulong groups;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->pairs = ipt__flip_pairs(stage);
    a->element_units = (cl_uint)units;
    a->line_units = row;
    if (stage->reversed_rows && stage->reversed_cols && !problem->pitched) { /* the whole matrix is one long row */
        a->line_pairs = a->pairs;
        a->partner = (cl_long)(rows * row - units);
        a->partner_step = (cl_long)(0 - units);
    } else if (stage->reversed_rows && stage->reversed_cols) { /* the middle row's line ends in the middle */
        a->line_pairs = stage->cols;
        a->partner = (cl_long)((rows - 1) * row + last);
        a->partner_line = (cl_long)(0 - row);
        a->partner_step = (cl_long)(0 - units);
    } else if (stage->reversed_cols) {
        a->line_pairs = stage->cols / 2;
        a->partner = (cl_long)last;
        a->partner_line = (cl_long)row;
        a->partner_step = (cl_long)(0 - units);
    } else {
        a->line_pairs = stage->cols;
        a->partner = (cl_long)((rows - 1) * row);
        a->partner_line = (cl_long)(0 - row);
        a->partner_step = (cl_long)units;
    }
    groups = ipt__flip_cut(&problem->limits, a, problem->unit_bytes, ipt__launch_params(to, &launch)->group_size);
    a->groups = (cl_uint)groups; /* fits if the total does */
    launch.groups = groups * to->matrices;
    return ipt__launch_add(to, &launch);
}

static IPT__RARE void ipt__describe_flip(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    (void)plan;
    ipt__text_add(out, "flip: %zu x %zu elements, %s reversed", stage->rows, stage->cols,
                  !stage->reversed_cols   ? "the sequence of rows"
                  : !stage->reversed_rows ? "each row"
                                          : "all");
    ipt__describe_end(out, stage);
}
