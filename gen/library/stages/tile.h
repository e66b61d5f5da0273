/* TILE stages: whole instances in local memory, by kernel tile or, with many instances per work-group, pack. */

/* The units of kernel pack's table of an instance; 0 without one. */
static size_t ipt__pack_table_units(const ipt__problem *problem, size_t instance)
{
    return problem->unit_bytes < 4 && instance <= IPT__PACK_TABLE ? instance : 0;
}

/* Whether `count` instances of `instance` units, with their table, fit local_bytes of local memory in kernel pack. */
static int ipt__pack_fits(const ipt__problem *problem, size_t count, size_t instance, size_t local_bytes)
{
    const size_t vectors = count * instance * problem->unit_bytes / 16 + 2;
    const size_t table = ipt__ceil_divide(2 * ipt__pack_table_units(problem, instance), 16);
    return vectors + vectors / 8 + vectors / 64 + 1 + table <= local_bytes / 16;
}

/* Chooses the least local memory and the number of work-items of kernel pack for a TILE stage on a GPU. NVIDIA allows
 * more local memory than it reports: eight, four, two work-groups or one fill a compute unit. pack_bytes = 0 selects
 * kernel tile, also for short matrices that lie apart. */
static IPT__RARE void ipt__pack_choose(const ipt__problem *problem, ipt__stage *stage)
{
    static const size_t classes[4][2] = {{IPT__PACK_BYTES_EIGHTH, 256},
                                         {IPT__PACK_BYTES_QUARTER, 512},
                                         {IPT__CHUNK_BYTES_LARGE, 512},
                                         {IPT__PACK_BYTES_WHOLE, 1024}};
    const ipt__limits *const limits = &problem->limits;
    const size_t instance = ipt__instance_units(problem, stage),
                 bytes = stage->instances * instance * problem->unit_bytes;
    const int large = ipt__gives_more_local(limits);
    int i;
    stage->as.tile.pack_bytes = 0;
    if (limits->cpu || limits->group_size < 64 ||
        (problem->desc.batch > 1 && problem->desc.batch_stride != bytes && bytes < IPT__PACK_RUN))
        return;
    for (i = 0; i < (large ? 4 : 1) && !stage->as.tile.pack_bytes; ++i) {
        const size_t most =
            large ? classes[i][0] : ipt__min(limits->local_memory - 256, (size_t)IPT__CHUNK_BYTES) / 1024 * 1024;
        stage->as.tile.pack_group = large ? ipt__min(classes[i][1], limits->largest_group) : limits->group_size;
        if (most >= 2048 && ipt__pack_fits(problem, 1, instance, most) && !ipt__problem_refuses(problem, most))
            stage->as.tile.pack_bytes = most;
    }
}

static ipt__params ipt__pack_params(const ipt__problem *problem, const ipt__stage *stage, int apply)
{
    ipt__params params;
    memset(&params, 0, sizeof params);
    params.unit_bytes = (cl_uint)problem->unit_bytes;
    params.element_units = ipt__stage_units(problem, stage) == 1;
    params.group_size = (cl_uint)stage->as.tile.pack_group;
    params.memory_model = (cl_uint)problem->limits.memory_model;
    params.local_bytes = (cl_uint)stage->as.tile.pack_bytes;
    ipt__params_apply(&params, &problem->desc, apply);
    return params;
}

/* Whether a CPU should use a TILE stage for instances that exceed its nearest cache. It should if each core has
 * several. For squares, SWAP is as fast. */
static int ipt__tile_serves_many(const ipt__problem *problem, const ipt__stage *stage)
{
    const ipt__limits *const limits = &problem->limits;
    return limits->cpu && stage->rows != stage->cols &&
           stage->instances * problem->desc.batch >= 4 * limits->compute_units &&
           ipt__instance_units(problem, stage) * problem->unit_bytes <=
               ipt__min(limits->local_memory, (size_t)IPT__TILE_BYTES_MANY);
}

static double ipt__cost_tile(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    (void)layout;
    (void)stage;
    return ipt__tuning_of(&problem->limits)->tile * ipt__batch_bytes(problem);
}

static IPT__RARE ipt_result ipt__kernels_tile(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    if (stage->as.tile.pack_bytes)
        return ipt__plan_kernel_within(plan, IPT__KERNEL_pack, ipt__pack_params(&plan->problem, stage, stage->apply),
                                       &stage->kernels[0]);
    if (ipt__variant_of(stage)) {
        params.group_size = (cl_uint)(stage->lanes * stage->workers);
        params.bank_padding = ipt__variant_of(stage)->bank_padding;
    }
    return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_tile, params, &stage->kernels[0]);
}

/* Steps through the source of a TILE stage, in units: see pack.cl. */
typedef struct ipt__tile_steps {
    size_t rows, run; /* of the result: elements */
    cl_int origin, along, next;
} ipt__tile_steps;

static ipt__tile_steps ipt__tile_steps_of(const ipt__problem *problem, const ipt__stage *stage)
{
    const cl_int units = (cl_int)ipt__stage_units(problem, stage), row = (cl_int)stage->cols * units;
    ipt__tile_steps steps;
    steps.rows = stage->straight ? stage->rows : stage->cols;
    steps.run = stage->straight ? stage->cols : stage->rows;
    steps.along = stage->straight ? units : row;
    steps.next = stage->straight ? row : units;
    steps.origin = 0;
    if (stage->reversed_cols) {
        steps.origin += (cl_int)(steps.run - 1) * steps.along;
        steps.along = -steps.along;
    }
    if (stage->reversed_rows) {
        steps.origin += (cl_int)(steps.rows - 1) * steps.next;
        steps.next = -steps.next;
    }
    return steps;
}

/* The instances that a work-group of kernel pack handles: a few work-groups per compute unit, and whole memory lines
 * per work-group if possible. */
static IPT__RARE size_t ipt__pack_instances(const ipt__problem *problem, const ipt__stage *stage, size_t instances)
{
    const size_t instance = ipt__instance_units(problem, stage);
    const size_t enough = ipt__max(1, ipt__ceil_divide(instances, 8 * ipt__max(1, problem->limits.compute_units)));
    size_t pack = 1, whole = 1;
    while (whole < 128 && whole * instance * problem->unit_bytes % 128 != 0)
        whole *= 2;
    while (pack < enough && ipt__pack_fits(problem, 2 * pack, instance, stage->as.tile.pack_bytes))
        pack *= 2;
    while (pack > whole && pack < enough && ipt__pack_fits(problem, pack + whole, instance, stage->as.tile.pack_bytes))
        pack += whole;
    return pack;
}

static IPT__RARE ipt_result ipt__launch_pack(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const size_t units = ipt__stage_units(problem, stage), instance = ipt__instance_units(problem, stage);
    const int back_to_back =
        to->matrices == 1 || problem->desc.batch_stride == stage->instances * instance * problem->unit_bytes;
    const size_t instances = stage->instances * (back_to_back ? to->matrices : 1);
    const size_t matrices = back_to_back ? 1 : to->matrices;
    const size_t pack = ipt__pack_instances(problem, stage, instances * matrices);
    const ipt__tile_steps steps = ipt__tile_steps_of(problem, stage);
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__pack_arguments *const a = &launch.arguments.pack;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->instances = instances;
    a->pack = (cl_uint)pack;
    a->packs = (cl_uint)ipt__ceil_divide(instances, pack);
    a->rows = (cl_uint)steps.rows;
    a->run_elements = (cl_uint)steps.run;
    a->origin = steps.origin;
    a->along = steps.along;
    a->next = steps.next;
    a->table_units = (cl_uint)ipt__pack_table_units(problem, instance);
    a->instance_units = (cl_uint)instance;
    a->row_units = (cl_uint)(steps.run * units);
    a->element_units = (cl_uint)units;
    launch.groups = (cl_ulong)a->packs * matrices;
    return ipt__launch_add(to, &launch);
}

static IPT__RARE ipt_result ipt__launch_tile(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const ipt__limits *const limits = &problem->limits;
    const size_t units = ipt__stage_units(problem, stage), instance = ipt__instance_units(problem, stage);
    const size_t padding =
        ipt__variant_of(stage) ? ipt__variant_of(stage)->bank_padding : 0; /* one unit after every 32 */
    const size_t local_units =
        (ipt__variant_of(stage) ? limits->local_memory : ipt__local_budget(limits)) / problem->unit_bytes;
    const size_t holds = (padding ? local_units * 32 / 33 : local_units) / instance;
    /* Give each work-item a few units, but keep enough work-groups for small matrices. */
    const size_t wanted = ipt__max(1, 8 * limits->group_size / instance);
    const ipt__tile_steps steps = ipt__tile_steps_of(problem, stage);
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__tile_arguments *const a = &launch.arguments.tile;
    if (stage->as.tile.pack_bytes)
        return ipt__launch_pack(to, stage);
    a->matrix_stride = ipt__matrix_stride(problem);
    a->instances = (cl_ulong)stage->instances * to->matrices;
    a->instances_per_matrix = stage->instances;
    a->pack = (cl_uint)ipt__max(1, ipt__min(holds, ipt__variant_of(stage) ? stage->workers : wanted));
    a->instance_units = (cl_uint)instance;
    a->lanes = ipt__variant_of(stage) ? (cl_uint)stage->lanes : 1;
    a->interleaved = ipt__variant_of(stage) ? ipt__variant_of(stage)->interleaved : 0;
    while (!ipt__variant_of(stage) && a->lanes < a->instance_units &&
           a->lanes < ipt__launch_params(to, &launch)->group_size)
        a->lanes *= 2;
    a->origin = steps.origin;
    a->along = steps.along;
    a->next = steps.next;
    a->column_units = (cl_uint)(steps.run * units);
    a->element_units = (cl_uint)units;
    launch.bytes = (a->pack * instance + (padding ? a->pack * instance / 32 : 0)) * problem->unit_bytes;
    launch.groups = ipt__ceil_divide((size_t)a->instances, a->pack);
    return ipt__launch_add(to, &launch);
}

static IPT__RARE void ipt__describe_tile(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__describe_grid(out, plan, stage, "tile");
    ipt__text_add(out, ", whole in local memory");
    if (stage->as.tile.pack_bytes)
        ipt__text_add(out, ", as many to a work-group as fit %zu bytes", stage->as.tile.pack_bytes);
    ipt__describe_move(out, plan, stage);
    ipt__describe_end(out, stage);
}
