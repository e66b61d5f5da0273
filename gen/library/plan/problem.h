/* The planner's input. */

/* A cooperative kernel that a plan may use: of panels, or of bands. */
typedef struct ipt__cooperative_kernel {
    size_t resident; /* concurrent work-groups; 0: the plan may not use it */
    size_t local_bytes, group_size;
    size_t registers; /* vectors that a work-item holds in them */
    int tall, narrow, by_words;
} ipt__cooperative_kernel;

enum { IPT__KERNEL_AXES = 8 }; /* of boxes and permuted columns, at most: their kernels have arguments for each */

/* The axes of more than one element, in their sequence in memory: of an array, of a matrix, or of its columns. */
typedef struct ipt__array {
    int count;
    size_t lengths[IPT_MAX_RANK];
    unsigned char goal[IPT_MAX_RANK]; /* for each axis its place in the result */
    size_t elem_size, elements;
    int columns; /* 1: the columns of the source, which become rows of the result, are permuted, too; 2: the rows of the
                    source, which become columns; 0: the axes are those of the whole array */
    size_t strides[2][IPT_MAX_RANK]; /* bytes from index to index, before and after; 0: the array has no gaps */
} ipt__array;

/* The axis at a place of the result. */
static int ipt__axis_at(const unsigned char *goal, int place)
{
    int i;
    for (i = 0; goal[i] != place; ++i)
        ;
    return i;
}

/* What the planner decides from. ipt__problem_fill, then ipt__plan_seek_kernels fill it before the first decision. No
 * decision changes it. After a compiler refused local memory, another attempt begins with the new refused_bytes, and
 * after boxes failed for a matrix, another one without `array`. */
typedef struct ipt__problem {
    ipt_plan_desc desc;              /* checked; batch, batch_stride and padding completed */
    ipt__limits limits;              /* of the device */
    size_t refused_bytes;            /* smallest local memory that failed to build; 0: none */
    size_t matrix_bytes, span_bytes; /* of one matrix's elements; from the first byte of the batch to its last */
    size_t unit_bytes, element_units;
    int pitched;                     /* the rows of the source or of the result have gaps. If so: */
    size_t source_row, result_row;   /* units from row to row */
    size_t source_span, result_span; /* bytes, as span_bytes, of each form alone */
    size_t extent_bytes;             /* of one matrix from its first element to its last, in the longer form */
    size_t pad_rows, pad_cols;       /* included in desc.rows and desc.cols */
    ipt__cooperative_kernel panel, exchange;
    ipt__array array; /* permuted by boxes: the desc has its elements as one row, and the panel kernel is that of boxes.
                         With `columns`: the axes of these. A matrix that boxes move: its two axes. count 0: a matrix
                         that moves otherwise */
} ipt__problem;

/* Whether a problem is of an array with gaps. */
static int ipt__is_view(const ipt__problem *problem)
{
    return IPT__VIEWS && problem->array.strides[0][0];
}

/* What a problem moves. */
enum { IPT__MOVES_MATRICES = 1, IPT__MOVES_ARRAYS = 2, IPT__MOVES_COLUMNS = 4, IPT__MOVES_VIEWS = 8 };

static int ipt__problem_moves(const ipt__problem *problem)
{
    if (ipt__is_view(problem))
        return IPT__MOVES_VIEWS;
    if (!IPT__BOXES || !problem->array.count)
        return IPT__MOVES_MATRICES;
    return problem->array.columns ? IPT__MOVES_COLUMNS : IPT__MOVES_ARRAYS;
}

/* See ipt__array. */
static int ipt__permutes_columns(const ipt__problem *problem)
{
    return IPT__BOXES ? problem->array.columns : 0;
}

/* Leaves the expression to another plan. */
static void ipt__desc_drop_expression(ipt_plan_desc *desc)
{
    desc->expression = desc->expression_type = desc->expression_argument_type = NULL;
    desc->expression_argument = NULL;
}

#ifndef IPT_NO_PAPERS
/* The work-items of a SIMD unit: a sub-group of the device; 32 on CPUs, and where none is known. */
static size_t ipt__simd_width(const ipt__limits *limits)
{
    const size_t lanes = limits->lanes;
    return !limits->cpu && (lanes == 8 || lanes == 16 || lanes == 64) ? lanes : 32;
}

/* The device as the papers' heuristics see it. */
static ipt_heuristic_device ipt__heuristic_device_of(const ipt__limits *limits)
{
    ipt_heuristic_device device;
    memset(&device, 0, sizeof device);
    device.local_bytes = limits->local_memory;
    device.max_group = limits->largest_group;
    device.simd_width = ipt__simd_width(limits);
    return device;
}
#endif

/* Whether a checked desc names formats; IPT_PAD; forced kernels. */
static int ipt__has_formats(const ipt_plan_desc *desc)
{
    return IPT__PAPERS && (desc->from || desc->to);
}
static int ipt__pads(const ipt_plan_desc *desc)
{
    return IPT__PAPERS && (desc->flags & IPT_PAD);
}
static int ipt__forces_kernels(const ipt_plan_desc *desc)
{
    return IPT__PAPERS && (desc->method || desc->variant_010 || desc->variant_100);
}

/* The places in the result that the expression names, as bits: 1 for b, 2 for i0, 4 for i1 and so on. */
static unsigned ipt__named_places(const ipt_plan_desc *desc)
{
    return desc->expression ? ipt__text_needs(desc->expression, 0, NULL, NULL) / IPT__NEEDS_BATCH : 0;
}

/* Whether any stage may apply the expression on the way. A device that compiles nothing has programs of MAP and VIEW
 * stages for it. */
static int ipt__applies_anywhere(const ipt__problem *problem)
{
    return problem->desc.expression && !ipt__named_places(&problem->desc) &&
           (!problem->limits.compiles_nothing || ipt__is_view(problem));
}

/* Writes the lengths of the result's axes, and returns their number. Internal descs that have a rank are of the pass
 * over an array that applies an expression by place. */
static unsigned ipt__result_lengths(const ipt_plan_desc *desc, size_t lengths[IPT_MAX_RANK])
{
    const int transposed = ipt__moves[desc->move].transposed;
    unsigned axis;
    for (axis = 0; axis < desc->rank; ++axis)
        lengths[axis] = desc->shape[desc->axes[axis]];
    if (desc->rank)
        return desc->rank;
    lengths[0] = transposed ? desc->cols : desc->rows;
    lengths[1] = transposed ? desc->rows : desc->cols;
    return 2;
}

/* Sets the parameters of a program that applies the plan's expression to each element, if `applies`. */
static void ipt__params_apply(ipt__params *params, const ipt_plan_desc *desc, int applies)
{
    size_t lengths[IPT_MAX_RANK];
    params->places = applies && ipt__named_places(desc) ? ipt__result_lengths(desc, lengths) : 0;
    params->apply = !applies ? 0 : desc->expression_argument ? 2 : 1;
    params->expression = desc->expression;
    params->expression_type = desc->expression_type;
    params->argument_type = desc->expression_argument ? desc->expression_argument_type : NULL;
}

static int ipt__has_strides(const ipt_plan_desc *desc)
{
    int i;
    for (i = 0; i < IPT_MAX_RANK && !desc->strides[i] && !desc->strides_out[i]; ++i)
        ;
    return i < IPT_MAX_RANK;
}

/* Whether the move is a transposition that also reverses rows, or their sequence. */
static int ipt__problem_rotates(const ipt__problem *problem)
{
    const ipt__move *const move = &ipt__moves[problem->desc.move];
    return move->transposed && (move->reversed_rows || move->reversed_cols);
}

/* Units from row to row of the source and of the result. */
static size_t ipt__source_row(const ipt__problem *problem)
{
    return problem->pitched ? problem->source_row : problem->desc.cols * problem->element_units;
}
static size_t ipt__result_row(const ipt__problem *problem)
{
    if (problem->pitched)
        return problem->result_row;
    return (ipt__moves[problem->desc.move].transposed ? problem->desc.rows : problem->desc.cols) *
           problem->element_units;
}

/* Bytes of the batch from its first element to its last: in the source, in the result, in the longer form. */
static size_t ipt__source_span(const ipt__problem *problem)
{
    return problem->pitched ? problem->source_span : problem->span_bytes;
}
static size_t ipt__result_span(const ipt__problem *problem)
{
    return problem->pitched ? problem->result_span : problem->span_bytes;
}

/* Units of one matrix from its first element to its last, in the longer form. */
static size_t ipt__extent_units(const ipt__problem *problem)
{
    return (problem->pitched ? problem->extent_bytes : problem->matrix_bytes) / problem->unit_bytes;
}

/* Whether 31 bits number the elements of all matrices, and the device divides 32 bits faster than 64: see
 * ipt__index_bits. */
static int ipt__numbers_are_short(const ipt__problem *problem)
{
    return !problem->limits.cpu && problem->matrix_bytes / problem->desc.elem_size < 0x80000000u / problem->desc.batch;
}

/* The width of numbers up to `most`. CPUs divide 64 bits as fast as 32, so they need no programs for both. */
static cl_uint ipt__index_bits(const ipt__limits *limits, size_t most)
{
    return !limits->cpu && most < (size_t)1 << 31 ? 32 : 64;
}

/* Whether a square matrix takes the swap kernel at once. GPUs move elements of several units, and larger matrices of
 * short units, faster on the chip or by bands. CPUs move elements of several units faster by bands: notebook.md,
 * Squares. */
static int ipt__problem_swaps(const ipt__problem *problem)
{
    return problem->desc.rows == problem->desc.cols && !ipt__problem_rotates(problem) &&
           ipt__source_row(problem) == ipt__result_row(problem) && problem->element_units == 1 &&
           (problem->limits.cpu || problem->unit_bytes >= 4 || problem->matrix_bytes <= IPT__SWAP_SHORT_BYTES);
}

static int ipt__problem_refuses(const ipt__problem *problem, size_t local_bytes)
{
    return problem->refused_bytes && local_bytes >= problem->refused_bytes;
}

/* The workspace limit in bytes, for so many bytes of matrices; 0: the minimum. */
static size_t ipt__desc_budget(const ipt_plan_desc *desc, size_t bytes)
{
    if (desc->max_workspace)
        return desc->max_workspace == 1 ? 0 : desc->max_workspace;
    return ipt__max((size_t)1 << 20, bytes / 100);
}
static size_t ipt__problem_budget(const ipt__problem *problem)
{
    return ipt__desc_budget(&problem->desc, problem->matrix_bytes * problem->desc.batch);
}

/* The desc's length of super-elements; 0: the planner chooses. */
static size_t ipt__super_length(const ipt_plan_desc *desc)
{
    return desc->rows >= desc->cols ? desc->tile_m : desc->tile_n;
}
