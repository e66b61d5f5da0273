/* SWAP stages: transpose square instances by pairs of tiles, or rotate them by fours of tiles. */

/* Lays out the tiles of a SWAP stage. Returns the bytes of local memory for the tiles and the starts of their rows. */
static size_t ipt__swap_local_bytes(const ipt__problem *problem, ipt__swap_stage *swap, size_t stride)
{
    swap->tile = ipt__lay_out_tile(problem, swap->group_size, swap->side * problem->unit_bytes, stride, 1);
    swap->local_bytes = swap->places * 16 * (swap->side * (swap->tile.pitch + 1) + 1);
    return swap->local_bytes + swap->places * 4 * swap->side;
}

/* Lays out the tiles of a SWAP stage. Returns whether they fit local memory. */
static int ipt__swap_fits(const ipt__problem *problem, ipt__swap_stage *swap, size_t stride)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t most = ipt__gives_more_local(limits) ? (size_t)IPT__SWAP_BYTES : limits->local_memory;
    return ipt__swap_local_bytes(problem, swap, stride) <= most && !ipt__problem_refuses(problem, swap->local_bytes);
}

/* Chooses tiles of a square that are fetched by vectors, for GPUs and elements of one unit. Rows that cut memory
 * sectors get larger tiles. The largest tiles allow two work-groups per compute unit, and need enough pairs for all of
 * them. Returns 0 if they do not fit local memory. */
static int ipt__swap_tile_large(const ipt__problem *problem, size_t length, size_t places, ipt__swap_stage *swap)
{
    /* [two tiles, four][units of 4, 8, 16 bytes][rows of whole sectors, others] */
    static const size_t sides[2][3][2] = {{{64, 112}, {64, 96}, {48, 48}}, {{64, 80}, {48, 64}, {40, 40}}};
    const ipt__limits *const limits = &problem->limits;
    const size_t unit = problem->unit_bytes, per_side = length / IPT__SWAP_SIDE_LARGE;
    const size_t row = ipt__source_row(problem); /* a pitched matrix is one instance */
    const size_t stride = problem->pitched ? row * unit : length * unit;
    const int cut = stride % 256 != 0;
    if (limits->cpu || limits->group_size < 64 || unit < 4)
        return 0;
    swap->places = places;
    swap->group_size = limits->group_size;
    swap->side = sides[places == 4][unit == 4 ? 0 : unit == 8 ? 1 : 2][cut];
    if (places == 2 && unit == 4 && cut && limits->largest_group >= IPT__CHUNK_GROUP_LARGE &&
        per_side * per_side / 2 >= IPT__SWAP_PAIRS * limits->compute_units) {
        swap->side = IPT__SWAP_SIDE_LARGE;
        swap->group_size = IPT__CHUNK_GROUP_LARGE;
    }
    /* Small squares have too few fours of such tiles: choose smaller tiles, and more work-items if possible. */
    if (places == 4 && length / 2 / swap->side * (length / 2 / swap->side) < limits->compute_units) {
        size_t across;
        swap->side = ipt__min(swap->side, IPT__SWAP_SIDE_TURNED);
        across = ipt__ceil_divide(length, 2 * swap->side);
        if (limits->largest_group >= IPT__CHUNK_GROUP_LARGE &&
            across * across * problem->desc.batch <= limits->compute_units)
            swap->group_size = IPT__CHUNK_GROUP_LARGE;
    }
    /* Rotations need small tiles if local memory is short. */
    if (ipt__problem_rotates(problem) && !ipt__swap_fits(problem, swap, stride))
        swap->side = IPT__SWAP_SIDE_LEAST;
    return ipt__swap_fits(problem, swap, stride);
}

/* The number of tiles that change places if a SWAP stage rotates a whole square in one pass; 0 if none can. */
static size_t ipt__swap_places(const ipt__problem *problem)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const ipt__move *const move = &ipt__moves[desc->move];
    const size_t places = move->reversed_rows != move->reversed_cols ? 4 : 2;
    ipt__swap_stage swap;
    return desc->rows == desc->cols && problem->element_units == 1 && ipt__problem_rotates(problem) &&
                   ipt__source_row(problem) == ipt__result_row(problem) &&
                   ipt__swap_tile_large(problem, desc->rows, places, &swap)
               ? places
               : 0;
}

/* Chooses a SWAP stage's tile side, local memory, and work-items per tile pair. CPUs, the papers' kernels and elements
 * of several units get small tiles. alone: the layout's only stage. */
static void ipt__swap_tile(const ipt__problem *problem, ipt__stage *stage, int alone)
{
    const size_t units = ipt__stage_units(problem, stage), places = alone ? ipt__swap_places(problem) : 0;
    size_t chunk;
    stage->as.swap.turns = places && !ipt__variant_of(stage);
    if (!ipt__variant_of(stage) && units == 1 &&
        ipt__swap_tile_large(problem, stage->cols, places ? places : 2, &stage->as.swap))
        return;
    stage->as.swap.places = 2;
    stage->as.swap.group_size = problem->limits.group_size;
    ipt__transpose_tile(problem, units, 2, &stage->as.swap.side, &chunk);
    stage->as.swap.local_bytes =
        ipt__round_up(2 * stage->as.swap.side * (stage->as.swap.side * chunk + 1) * problem->unit_bytes, 1024);
}

static int ipt__reverses_swap(const ipt__layout *layout, const ipt__stage *stage)
{
    return ipt__reverses_alone(layout, stage) && stage->as.swap.turns;
}

static IPT__RARE double ipt__cost_swap(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage)
{
    const ipt__tuning *const model = ipt__tuning_of(&problem->limits);
    const int alone = layout->stage_count == 1 && stage->instances == 1;
    ipt__swap_tile(problem, stage, alone);
    return (ipt__problem_swaps(problem) || stage->as.swap.turns ? model->swap : model->swap_units) *
           ipt__batch_bytes(problem);
}

static IPT__RARE ipt_result ipt__kernels_swap(ipt_plan *plan, ipt__stage *stage, ipt__params params)
{
    params.tile = (cl_uint)stage->as.swap.side;
    params.local_bytes = (cl_uint)stage->as.swap.local_bytes;
    if (stage->as.swap.side <= IPT__SMALL_TILE)
        return ipt__stage_kernel_get(plan, stage, IPT__KERNEL_swap, params, &stage->kernels[0]);
    params.group_size = (cl_uint)stage->as.swap.group_size;
    params.reversed = ipt__reversed_param(stage->reversed_cols, stage->reversed_rows);
    return ipt__plan_kernel_within(plan, IPT__KERNEL_swap, params, &stage->kernels[0]);
}

static IPT__RARE ipt_result ipt__launch_swap(ipt__launcher *to, const ipt__stage *stage)
{
    const ipt__problem *const problem = &to->plan->problem;
    const size_t units = ipt__stage_units(problem, stage), side = stage->as.swap.side;
    size_t side_of_two, chunk = 1;
    cl_ulong parts, groups; /* per matrix; in total */
    ipt__launch launch = ipt__launch_of(to, stage->kernels[0]);
    ipt__swap_arguments *const a = &launch.arguments.swap;
    if (side <= IPT__SMALL_TILE)
        ipt__transpose_tile(problem, units, 2, &side_of_two, &chunk);
    a->tile_vectors = (cl_uint)ipt__tile_vectors(&stage->as.swap.tile, side);
    a->pitch = (cl_uint)stage->as.swap.tile.pitch;
    a->skew = (cl_uint)stage->as.swap.tile.skew;
    a->run_lanes = (cl_uint)stage->as.swap.tile.run_lanes;
    a->matrix_stride = ipt__matrix_stride(problem);
    a->instance_stride = problem->pitched ? ipt__extent_units(problem) : ipt__instance_units(problem, stage);
    a->instances_per_matrix = (cl_uint)stage->instances;
    a->side = stage->rows;
    a->row_stride = problem->pitched ? ipt__source_row(problem) : stage->cols * units;
    a->tiles = (cl_uint)ipt__ceil_divide(stage->rows, side);
    a->element_units = (cl_uint)units;
    a->chunk_units = (cl_uint)chunk;
    a->chunks = (cl_uint)ipt__ceil_divide(units, chunk);
    parts = (cl_ulong)a->tiles * (a->tiles + 1) / 2 * a->chunks;
    if (stage->as.swap.places == 4) { /* the tiles of a quarter */
        a->tiles = (cl_uint)ipt__ceil_divide(stage->rows - stage->rows / 2, side);
        parts = (cl_ulong)a->tiles * ipt__ceil_divide(stage->rows / 2, side);
    }
    groups = parts * stage->instances * to->matrices;
    a->turns = a->group_step = a->turn_step = 1;
    if (ipt__variant_of(stage)) {
        const int by_block = (int)ipt__variant_of(stage)->interleaved;
        if (groups >> 32)
            return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s serves fewer than 2^32 pairs of tiles in all",
                             ipt__variant_of(stage)->name);
        a->turns = (cl_uint)(by_block ? groups / parts : parts);
        groups /= a->turns;
        a->group_step = by_block ? 1 : a->turns;
        a->turn_step = by_block ? (cl_uint)groups : 1;
    }
    launch.groups = groups;
    return ipt__launch_add(to, &launch);
}

static IPT__RARE void ipt__describe_swap(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    ipt__describe_grid(out, plan, stage, "swap");
    ipt__text_add(out, ", %s of tiles through local memory", stage->as.swap.places == 4 ? "fours" : "pairs");
    ipt__describe_move(out, plan, stage);
    ipt__describe_end(out, stage);
}
