/* Functions for all kinds of stages: sizes, tiles in local memory, kernels, launches and words. */

/* Bytes of local memory that a work-group of a TILE stage may use. */
static size_t ipt__local_budget(const ipt__limits *limits)
{
    return ipt__min(limits->local_memory, ipt__tuning_of(limits)->tile_bytes);
}

static size_t ipt__stage_units(const ipt__problem *problem, const ipt__stage *stage)
{
    return stage->length * problem->element_units;
}

static size_t ipt__instance_units(const ipt__problem *problem, const ipt__stage *stage)
{
    return stage->rows * stage->cols * ipt__stage_units(problem, stage);
}

/* Elements of a slot: of a super-element or, for stages that move lines, of a line. */
static size_t ipt__slot_length(const ipt__stage *stage)
{
    if (!ipt__stage_traits[stage->kind].lines)
        return stage->length;
    return stage->gapped_source ? stage->cols : stage->rows;
}

/* Flags in a word of 32 bits, if 32 flags are spread over `spread` words; 0: not spread. For kernels of the papers, the
 * desc may set the spread. */
static size_t ipt__word_flags(const ipt__problem *problem, const ipt__stage *stage, size_t spread)
{
    if (ipt__variant_of(stage) && problem->desc.flag_spread)
        spread = problem->desc.flag_spread;
    return spread ? 32 / spread : 32;
}

/* Workspace bytes of a stage that other stages may use after it. */
typedef struct ipt__need {
    size_t instance; /* for each instance that moves at the same time */
    size_t stage;    /* for the stage, whatever the number of these instances */
} ipt__need;

static ipt__need ipt__need_nothing(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    const ipt__need need = {0, 0};
    (void)problem;
    (void)layout;
    (void)stage;
    return need;
}

/* Workspace of a stage whose work-groups wait for one another, or of a shuffle in one layout with such a stage. */
typedef struct ipt__control {
    size_t words; /* of a control block; 0: no work-group waits */
    size_t alone; /* flag words for the single work-group that takes over unfinished work */
    size_t flags; /* flag words of chains */
} ipt__control;

static ipt__control ipt__control_nothing(const ipt__problem *problem, const ipt__stage *stage)
{
    const ipt__control control = {0, 0, 0};
    (void)problem;
    (void)stage;
    return control;
}

/* Whether a stage of a layout can reverse rows, or their sequence, while it transposes. */
static int ipt__reverses_never(const ipt__layout *layout, const ipt__stage *stage)
{
    (void)layout;
    (void)stage;
    return 0;
}

static int ipt__reverses_always(const ipt__layout *layout, const ipt__stage *stage)
{
    (void)layout;
    (void)stage;
    return 1;
}

static int ipt__reverses_alone(const ipt__layout *layout, const ipt__stage *stage)
{
    return layout->stage_count == 1 && stage->instances == 1;
}

/* A stage's run length in elements, or the bitwise or of several, to test for whole words; 0: moves no words. */
static size_t ipt__words_never(const ipt__stage *stage)
{
    (void)stage;
    return 0;
}

/* An empty layout. Stages are cleared when they are added: the planner begins thousands of layouts. */
static void ipt__layout_begin(ipt__layout *layout)
{
    memset(layout, 0, offsetof(ipt__layout, stages));
}

static ipt__stage *ipt__stage_add(ipt__layout *layout, ipt__stage_kind kind, size_t instances, size_t rows, size_t cols,
                                  size_t length)
{
    ipt__stage *const stage = &layout->stages[layout->stage_count++];
    memset(stage, 0, sizeof *stage);
    stage->kind = kind;
    stage->last_first = 1;
    stage->instances = instances;
    stage->rows = rows;
    stage->cols = cols;
    stage->length = length;
    return stage;
}

/* Changes the kind of a stage. */
static void ipt__stage_become(ipt__stage *stage, ipt__stage_kind kind)
{
    stage->kind = kind;
    memset(&stage->as, 0, sizeof stage->as);
}

/* Columns of a block that moves by words (parts/words.cl), if all rows of source and result are whole words; else 1:
 * columns move one by one. */
static size_t ipt__problem_block(const ipt__problem *problem)
{
    const size_t columns = IPT__WORD_BYTES / problem->unit_bytes;
    return columns > 1 && !ipt__permutes_columns(problem) &&
                   (problem->element_units == 1 || problem->element_units == 3) &&
                   (problem->desc.rows | problem->desc.cols | ipt__source_row(problem) | ipt__result_row(problem)) %
                           columns ==
                       0
               ? columns
               : 1;
}

/* Chooses pitch and skew of a tile with rows of `run` bytes, `stride` bytes apart in memory, so that transposed reads
 * hit different banks. All rows that a work-item fetches must begin at the same byte of a vector. group: the number of
 * work-items. block: columns of a block that moves by words, or 1. */
static ipt__tile_layout ipt__lay_out_tile(const ipt__problem *problem, size_t group, size_t run, size_t stride,
                                          size_t block)
{
    ipt__tile_layout layout;
    layout.pitch = (run + 31 - problem->unit_bytes) / 16;
    layout.skew = 31;
    if (16 % problem->desc.elem_size == 0 && stride % 16 != 0) { /* rows begin at every offset in a vector in turn */
        layout.skew = 0;
        while ((stride << layout.skew) % 16 != 0)
            ++layout.skew;
    } else if (layout.pitch % 2 == 0)
        layout.skew = 0;
    /* Neighbouring work-items read words of rows that are `block` rows apart. */
    if (block > 1 && (problem->element_units > 1 || stride % (8 * problem->unit_bytes) == 0))
        layout.skew = block == 4 ? 2 : 1;
    layout.run_lanes = 32;
    while (layout.run_lanes > 4 &&
           (layout.run_lanes >= 2 * layout.pitch || group / layout.run_lanes * stride % 16 != 0 ||
            (layout.skew < 31 && group / layout.run_lanes % ((size_t)1 << layout.skew))))
        layout.run_lanes /= 2;
    return layout;
}

/* Vectors of local memory for `rows` rows. */
static size_t ipt__tile_vectors(const ipt__tile_layout *layout, size_t rows)
{
    return rows * layout->pitch + (layout->skew > 30 ? 0 : rows >> layout->skew) + 1;
}

/* The side of a tile, and the units of an element that move at a time, if local memory stores `tiles` tiles. */
static void ipt__transpose_tile(const ipt__problem *problem, size_t element_units, size_t tiles, size_t *side,
                                size_t *chunk)
{
    const size_t limit = ipt__min(problem->limits.local_memory, IPT__TRANSPOSE_BYTES);
    *side = 32;
    *chunk = ipt__min(element_units, 16);
    while (tiles * *side * (*side * *chunk + 1) * problem->unit_bytes > limit) {
        if (*side > 4 || *chunk == 1)
            *side /= 2;
        else
            *chunk /= 2;
    }
}

static double ipt__batch_bytes(const ipt__problem *problem)
{
    return ipt__real(problem->matrix_bytes) * ipt__real(problem->desc.batch);
}

/* For stages that the planner never compares: forced stages, and stages added after the choice. */
static double ipt__cost_nothing(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)problem;
    (void)layout;
    (void)stage;
    return 0;
}

/* Multiplies `factor` for units that cannot move by words, and for gapped slots that cut memory sectors. */
static double ipt__slot_factor(const ipt__problem *problem, const ipt__stage *stage, double factor, int gapped)
{
    const ipt__tuning *const model = ipt__tuning_of(&problem->limits);
    const size_t size = problem->desc.elem_size;
    if (problem->unit_bytes < IPT__WORD_BYTES && !stage->by_words)
        factor *= 1 + model->narrow * ipt__real(IPT__WORD_BYTES / problem->unit_bytes - 1);
    if (gapped && (ipt__slot_length(stage) * size % IPT__SECTOR_BYTES || stage->row_stride * size % IPT__SECTOR_BYTES))
        factor *= model->gapped;
    return factor;
}

/* Makes room for one more kernel. */
static ipt_result ipt__plan_kernel_room(ipt_plan *plan)
{
    const ipt_allocator *const allocator = &plan->context->allocator;
    const int capacity = plan->device->kernel_capacity ? 2 * plan->device->kernel_capacity : 2;
    ipt__plan_kernel *kernels;
    if (plan->device->kernel_count < plan->device->kernel_capacity)
        return IPT_SUCCESS;
    kernels = (ipt__plan_kernel *)ipt__allocate(allocator, (size_t)capacity * sizeof *kernels);
    if (!kernels)
        return IPT_ERROR_OUT_OF_MEMORY;
    if (plan->device->kernel_count)
        memcpy(kernels, plan->device->kernels, (size_t)plan->device->kernel_count * sizeof *kernels);
    ipt__release(allocator, plan->device->kernels);
    plan->device->kernels = kernels;
    plan->device->kernel_capacity = capacity;
    return IPT_SUCCESS;
}

/* Finds the plan's kernel for these parameters, or builds it. */
static ipt_result ipt__plan_kernel_get(ipt_plan *plan, ipt__kernel_id id, ipt__params params, int *index)
{
    ipt__plan_kernel *kernel;
    cl_int error;
    ipt_result result;
    if (!ipt__params_reduce(&params, ipt__kernels[id].uses))
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "a parameter of %s is out of range", ipt__kernels[id].name);
    for (*index = 0; *index < plan->device->kernel_count; ++*index)
        if (plan->device->kernels[*index].program->id == id &&
            ipt__params_equal(&plan->device->kernels[*index].program->params, &params))
            return IPT_SUCCESS;
    result = ipt__plan_kernel_room(plan);
    if (result)
        return result;
    kernel = &plan->device->kernels[plan->device->kernel_count];
    result = ipt__program_get(plan->context, id, &params, (plan->problem.desc.flags & IPT_CACHE_ONLY) != 0,
                              &kernel->program);
    if (result)
        return result;
    kernel->kernel = NULL;
    kernel->is_set = 0;
    if (plan->context->context) {
        kernel->kernel =
            ipt__calls(plan->context)->clCreateKernel(kernel->program->program, ipt__kernels[id].name, &error);
        if (error) {
            ipt__program_drop(plan->context, kernel->program);
            return ipt__fail_opencl("clCreateKernel", error);
        }
    }
    *index = plan->device->kernel_count++;
    return IPT_SUCCESS;
}

/* Kernel parameters for elements of element_units units. */
static ipt__params ipt__plan_params(const ipt__problem *problem, size_t element_units)
{
    size_t side, chunk;
    ipt__params params;
    memset(&params, 0, sizeof params);
    ipt__transpose_tile(problem, element_units, 1, &side, &chunk);
    params.unit_bytes = (cl_uint)problem->unit_bytes;
    params.element_units = element_units == 1;
    /* PoCL vectorizes loops of a work-item: one work-item per work-group moves tiles up to 1.6 times as fast. */
    params.group_size = problem->limits.cpu ? 1 : (cl_uint)problem->limits.group_size;
    params.tile = (cl_uint)side;
    params.lanes = (cl_uint)(problem->limits.cpu ? 1 : ipt__min(32, problem->limits.group_size));
    params.memory_model = (cl_uint)problem->limits.memory_model;
    return params;
}

/* Builds a kernel that may use too much local memory. If the build fails, records the size: the planner then chooses
 * again. */
static ipt_result ipt__plan_kernel_within(ipt_plan *plan, ipt__kernel_id id, ipt__params params, int *index)
{
    const ipt_result result = ipt__plan_kernel_get(plan, id, params, index);
    if (result == IPT_ERROR_BUILD)
        ipt__refuse_local(plan->context, params.local_bytes);
    return result;
}

/* Gets the stage's last kernel, and the variant of it that moves words. */
static ipt_result ipt__stage_kernel_get(ipt_plan *plan, ipt__stage *stage, ipt__kernel_id id, ipt__params params,
                                        int *index)
{
    ipt_result result = ipt__plan_kernel_get(plan, id, params, index);
    if (result || !stage->by_words)
        return result;
    params.unit_bytes = IPT__WORD_BYTES;
    return ipt__plan_kernel_get(plan, id, params, &stage->word_kernel);
}

/* The state while a stage's launches are added to a list, for one size of turn and one alignment of offsets. */
typedef struct ipt__launcher {
    const ipt_plan *plan;
    ipt__launches *launches;
    size_t matrices, instances; /* in a turn */
    cl_ulong skipped;           /* units of a matrix before the stage's first instance */
    int by_units, by_words;     /* see ipt__launch */
} ipt__launcher;

/* A launch of a kernel whose first argument is the buffer of the execution. */
static ipt__launch ipt__launch_of(const ipt__launcher *to, int kernel)
{
    ipt__launch launch;
    memset(&launch, 0, sizeof launch);
    launch.kernel = kernel;
    launch.by_units = to->by_units;
    launch.by_words = to->by_words;
    launch.matrices = to->matrices;
    launch.instances = to->instances;
    launch.given = 1;
    launch.plan_units = 1;
    return launch;
}

static const ipt__params *ipt__launch_params(const ipt__launcher *to, const ipt__launch *launch)
{
    return &to->plan->device->kernels[launch->kernel].program->params;
}

static cl_ulong ipt__matrix_stride(const ipt__problem *problem)
{
    return problem->desc.batch_stride / problem->unit_bytes;
}

/* Completes a launch and adds it. */
static IPT__RARE ipt_result ipt__launch_add(ipt__launcher *to, ipt__launch *launch)
{
    cl_ulong *const bases = (cl_ulong *)(void *)&launch->arguments;
    int i;
    if (launch->kernel >= 0) {
        const ipt__program *const program = to->plan->device->kernels[launch->kernel].program;
        const ipt__kernel_info *const info = &ipt__kernels[program->id];
        for (i = 0; i < 2; ++i)
            if (launch->given >> i & 1)
                bases[i] += to->skipped / launch->plan_units;
        ipt__complete_divisors(info, &program->params, &launch->arguments);
    }
    return ipt__launches_add(&to->plan->context->allocator, to->launches, launch);
}

/* Adds a command that sets bytes of the workspace to 0. */
static IPT__RARE ipt_result ipt__launch_clear(ipt__launcher *to, size_t offset, size_t bytes)
{
    ipt__launch launch = ipt__launch_of(to, -1);
    launch.offset = offset;
    launch.bytes = bytes;
    return ipt__launch_add(to, &launch);
}

/* Completes and adds a tiled transposition. */
static IPT__RARE ipt_result ipt__launch_transpose(ipt__launcher *to, ipt__launch *launch)
{
    ipt__transpose_arguments *const a = &launch->arguments.transpose;
    size_t side, chunk;
    ipt__transpose_tile(&to->plan->problem, a->element_units, 1, &side, &chunk);
    launch->groups = (cl_ulong)ipt__ceil_divide((size_t)a->rows, side) * ipt__ceil_divide((size_t)a->cols, side) *
                     ipt__ceil_divide(a->element_units, chunk) * a->instances_per_matrix * to->matrices;
    launch->bytes = side * (side * chunk + 1) * to->plan->problem.unit_bytes;
    a->tiles_down = (cl_uint)ipt__ceil_divide((size_t)a->rows, side); /* fits if the number of groups does */
    a->tiles_across = (cl_uint)ipt__ceil_divide((size_t)a->cols, side);
    a->chunk_units = (cl_uint)chunk;
    a->chunks = (cl_uint)ipt__ceil_divide(a->element_units, chunk);
    return ipt__launch_add(to, launch);
}

/* Completes and adds a copy of rows, by words unless to->by_units. The caller sets row counts, slots and strides. One
 * slot in each row makes a plain copy. */
static IPT__RARE ipt_result ipt__launch_copy(ipt__launcher *to, const ipt__stage *stage, ipt__launch *launch)
{
    ipt__copy_arguments *const a = &launch->arguments.copy;
    const ipt__params *params;
    if (!to->by_units) {
        const cl_ulong units = launch->plan_units = IPT__WORD_BYTES / to->plan->problem.unit_bytes;
        launch->kernel = stage->word_kernel;
        a->source_base /= units;
        a->target_base /= units;
        a->source_matrix_stride /= units;
        a->target_matrix_stride /= units;
        a->source_row_stride /= units;
        a->target_row_stride /= units;
        a->row_units /= units;
    }
    params = ipt__launch_params(to, launch);
    a->chunk_units = (cl_uint)ipt__min((size_t)a->row_units, params->lanes == 1 ? 4096 : 512);
    a->chunks = ipt__ceil_divide((size_t)a->row_units, a->chunk_units);
    a->lines = a->chunks * a->rows * to->matrices;
    launch->groups = ipt__ceil_divide((size_t)a->lines, params->group_size / params->lanes);
    return ipt__launch_add(to, launch);
}

/* Elements, or pairs of elements, per work-group in kernels that do not use local memory. */
static size_t ipt__group_run(const ipt__limits *limits)
{
    return ipt__tuning_of(limits)->run * (limits->cpu ? 1 : limits->group_size);
}

/* Enough persistent work-groups to keep the device busy. */
static IPT__RARE size_t ipt__persistent_groups(const ipt__problem *problem, size_t group_size, size_t wanted)
{
    return ipt__max(1, ipt__min(wanted, problem->limits.compute_units * ipt__max(1, IPT__UNIT_ITEMS / group_size)));
}

static size_t ipt__super_bytes(const ipt_plan *plan, const ipt__stage *stage)
{
    return stage->length * plan->problem.desc.elem_size;
}

/* "NAME: INSTANCES x (ROWS x COLS of N bytes)" */
static IPT__RARE void ipt__describe_grid(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage,
                                         const char *name)
{
    ipt__text_add(out, "%s: %zu x (%zu x %zu of %zu bytes)", name, stage->instances, stage->rows, stage->cols,
                  ipt__super_bytes(plan, stage));
}

/* Ends the line of a stage with the properties that any kind may have. */
static IPT__RARE void ipt__describe_end(ipt__text *out, const ipt__stage *stage)
{
    if (ipt__variant_of(stage))
        ipt__text_add(out, ", by %s", ipt__variant_of(stage)->name);
    if (stage->apply)
        ipt__text_add(out, ", each element as the expression says%s", stage->apply > 1 ? ", by its place" : "");
    if (stage->row_slots && stage->row_stride != stage->row_slots * ipt__slot_length(stage))
        ipt__text_add(out, ", slots on rows of %zu elements with a gap of %zu", stage->row_stride,
                      stage->row_stride - stage->row_slots * ipt__slot_length(stage));
    ipt__text_add(out, "\n");
}

/* The name of the move, if the stage reverses rows or columns. */
static void ipt__describe_move(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    if (stage->reversed_rows || stage->reversed_cols)
        ipt__text_add(out, ", %s", ipt_move_string(plan->problem.desc.move));
}
