/* Needs of stages and assembly of a layout. */

/* Local memory that a group of these kernels may use. */
static size_t ipt__local_budget(const ipt__limits *limits)
{
    return ipt__min(limits->local_memory, ipt__tunings[limits->cpu].tile_bytes);
}

static size_t ipt__stage_units(const ipt__problem *problem, const ipt__stage *stage)
{
    return stage->length * problem->element_units;
}

static size_t ipt__instance_units(const ipt__problem *problem, const ipt__stage *stage)
{
    return stage->rows * stage->cols * ipt__stage_units(problem, stage);
}

/* Elements of a slot on the grid of a stage. */
static size_t ipt__slot_length(const ipt__stage *stage)
{
    if (stage->kind != IPT__STAGE_WAVE && stage->kind != IPT__STAGE_PANEL)
        return stage->length;
    return stage->gapped_source ? stage->cols : stage->rows;
}

/* True if all runs of a stage begin and end at words whenever the batch begins at a word. */
static int ipt__stage_by_words(const ipt__problem *problem, const ipt__stage *stage)
{
    const size_t size = problem->desc.elem_size;
    const size_t run = ipt__slot_length(stage) * (stage->kind == IPT__STAGE_WAVE ? stage->length : 1) * size;
    if (problem->pitched || problem->unit_bytes >= IPT__WORD_BYTES || stage->shuffle.inner_rows ||
        (stage->kind != IPT__STAGE_SHUFFLE && stage->kind != IPT__STAGE_WAVE && stage->kind != IPT__STAGE_RESTORE))
        return 0;
    return run % IPT__WORD_BYTES == 0 && stage->row_stride * size % IPT__WORD_BYTES == 0 &&
           stage->origin * size % IPT__WORD_BYTES == 0 &&
           (problem->desc.batch == 1 || problem->desc.batch_stride % IPT__WORD_BYTES == 0);
}

static size_t ipt__word_flags(const ipt__problem *problem, const ipt__stage *stage)
{
    const size_t forced = stage->variant ? problem->desc.flag_spread : 0,
                 spread = forced ? forced : stage->shuffle.spread;
    return spread ? 32 / spread : 32;
}

/* Flag bytes of one instance of a shuffle. */
static size_t ipt__flag_bytes(const ipt__problem *problem, const ipt__stage *stage)
{
    return ipt__ceil_divide(stage->rows * stage->cols, ipt__word_flags(problem, stage)) * 4 * stage->shuffle.pieces;
}

/* Workspace bytes of a stage that other stages may use after it. */
typedef struct ipt__need {
    size_t instance; /* of each running instance */
    size_t stage;    /* in total, whatever runs at once */
} ipt__need;

static ipt__need ipt__need_nothing(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    const ipt__need need = {0, 0};
    (void)problem;
    (void)layout;
    (void)stage;
    return need;
}

static ipt__need ipt__need_wave(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    ipt__need need = ipt__need_nothing(problem, layout, stage);
    need.instance = ipt__instance_units(problem, stage) * problem->unit_bytes;
    return need;
}

/* A SPREAD stage's slab has the rows of an instance as columns. */
static ipt__need ipt__need_spread(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    return ipt__need_wave(problem, layout, stage);
}

static ipt__need ipt__need_exchange(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage)
{
    ipt__need need = ipt__need_nothing(problem, layout, stage);
    if (!stage->bands.together)
        *(stage->bands.workers ? &need.stage : &need.instance) =
            stage->bands.height * stage->bands.cols * problem->desc.elem_size;
    return need;
}

static IPT__RARE ipt__need ipt__need_shuffle(const ipt__problem *problem, const ipt__layout *layout,
                                             const ipt__stage *stage)
{
    ipt__need need = ipt__need_nothing(problem, layout, stage);
    if (!stage->shuffle.pairs && !(stage->shuffle.chains && layout->cooperative))
        need.instance = ipt__flag_bytes(problem, stage);
    return need;
}

/* Cuts super-elements into pieces that one sub-group holds. An unaligned piece touches one vector more. */
static void ipt__chains_pieces(const ipt__problem *problem, ipt__stage *stage)
{
    const size_t units = ipt__stage_units(problem, stage), most = 16 * (IPT__PIECE_VECTORS - 2) / problem->unit_bytes;
    stage->shuffle.chains = 1;
    stage->shuffle.pieces = ipt__ceil_divide(units, most);
    stage->shuffle.piece_units = ipt__min(units, most);
    /* A run of b bytes in units of u touches at most (b + 31 - u) / 16 vectors. */
    stage->shuffle.piece_vectors =
        ipt__round_up((stage->shuffle.piece_units * problem->unit_bytes + 31 - problem->unit_bytes) / 16, 32);
}

/* Chains that a sub-group follows at once. Short pieces allow more; too many leave sub-groups idle. */
static size_t ipt__chains_at_once(const ipt__problem *problem, const ipt__stage *stage)
{
    return stage->shuffle.piece_units * problem->unit_bytes <= 640 ? 4 : 2;
}

/* The units of local memory that a super-element takes which is transposed on its way: see ipt_held_at in
 * parts/inner.cl. */
static size_t ipt__held_units(size_t units, size_t lanes)
{
    return lanes > 1 ? units + units / 32 + units / 1024 : units;
}

/* Bytes of local memory with which workers transpose super-elements: two each, and the word that they share. */
static size_t ipt__inner_bytes(const ipt__problem *problem, const ipt__stage *stage)
{
    const size_t held = ipt__held_units(ipt__stage_units(problem, stage), stage->lanes);
    return stage->workers * (2 * held * problem->unit_bytes + 16);
}

/* Cuts super-elements into pieces; a work-group can hold two. */
static void ipt__shuffle_pieces(const ipt__problem *problem, ipt__stage *stage)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t units = ipt__stage_units(problem, stage);
    const size_t wanted = ipt__tunings[limits->cpu].piece_bytes;
    const size_t holds = (limits->local_memory - 16) / 2; /* 16: the work-group's shared word */
    const size_t piece = ipt__min(wanted, holds) / 16 * 16 / problem->unit_bytes;
    if (!limits->cpu && limits->group_size >= 32 &&
        (limits->nvidia ? 4 : 1) * 2 * 4 * 16 * (size_t)IPT__PIECE_VECTORS / 2 + 256 <= limits->local_memory) {
        ipt__chains_pieces(problem, stage);
        return;
    }
    stage->shuffle.piece_units = ipt__min(units, piece);
    stage->shuffle.pieces = ipt__ceil_divide(units, stage->shuffle.piece_units);
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
    stage->instances = instances;
    stage->rows = rows;
    stage->cols = cols;
    stage->length = length;
    return stage;
}

/* The units of kernel pack's table of an instance; 0 without one. */
static size_t ipt__pack_table_units(const ipt__problem *problem, size_t instance)
{
    return problem->unit_bytes < 4 && instance <= IPT__PACK_TABLE ? instance : 0;
}

/* True if kernel pack can hold `count` instances of `instance` units, and their table, in local_bytes of local memory.
 */
static int ipt__pack_fits(const ipt__problem *problem, size_t count, size_t instance, size_t local_bytes)
{
    const size_t vectors = count * instance * problem->unit_bytes / 16 + 2;
    const size_t table = ipt__ceil_divide(2 * ipt__pack_table_units(problem, instance), 16);
    return vectors + vectors / 8 + vectors / 64 + 1 + table <= local_bytes / 16;
}

/* Chooses the least local memory and the work-items of kernel pack for a TILE stage on a GPU. NVIDIA allows more than
 * it reports: one, two, four or eight of these work-groups fill a large compute unit. pack_bytes = 0 selects kernel
 * tile, also for short runs that lie far apart. */
static IPT__RARE void ipt__pack_choose(const ipt__problem *problem, ipt__stage *stage)
{
    static const size_t classes[4][2] = {{27648, 256}, {56320, 512}, {110592, 512}, {231424, 1024}};
    const ipt__limits *const limits = &problem->limits;
    const size_t instance = ipt__instance_units(problem, stage),
                 bytes = stage->instances * instance * problem->unit_bytes;
    const int large = limits->nvidia && !limits->local_is_limited;
    int i;
    stage->tile.pack_bytes = 0;
    if (limits->cpu || limits->group_size < 64 ||
        (problem->desc.batch > 1 && problem->desc.batch_stride != bytes && bytes < IPT__PACK_RUN))
        return;
    for (i = 0; i < (large ? 4 : 1) && !stage->tile.pack_bytes; ++i) {
        const size_t most =
            large ? classes[i][0] : ipt__min(limits->local_memory - 256, (size_t)IPT__PACK_BYTES) / 1024 * 1024;
        stage->tile.pack_group = large ? ipt__min(classes[i][1], limits->largest_group) : limits->group_size;
        if (most >= 2048 && ipt__pack_fits(problem, 1, instance, most) && !ipt__problem_refuses(problem, most))
            stage->tile.pack_bytes = most;
    }
}

static ipt__params ipt__pack_params(const ipt__problem *problem, const ipt__stage *stage, int apply)
{
    ipt__params params;
    memset(&params, 0, sizeof params);
    params.unit_bytes = (cl_uint)problem->unit_bytes;
    params.element_units = ipt__stage_units(problem, stage) == 1;
    params.group_size = (cl_uint)stage->tile.pack_group;
    params.memory_model = (cl_uint)problem->limits.memory_model;
    params.local_bytes = (cl_uint)stage->tile.pack_bytes;
    ipt__params_apply(&params, &problem->desc, apply);
    return params;
}

/* True if a CPU should hold instances larger than its nearest cache. That pays if each core has some (200 x 170 floats
 * on PoCL: 0.73 of a copy, in waves 0.47). For squares, SWAP is as fast. */
static int ipt__tile_serves_many(const ipt__problem *problem, const ipt__stage *stage)
{
    const ipt__limits *const limits = &problem->limits;
    return limits->cpu && stage->rows != stage->cols &&
           stage->instances * problem->desc.batch >= 4 * limits->compute_units &&
           ipt__instance_units(problem, stage) * problem->unit_bytes <=
               ipt__min(limits->local_memory, (size_t)IPT__TILE_BYTES_MANY);
}

/* Whether the super-elements of a square change places in pairs. An H200 moved 224 x 224 of 768 bytes at 0.93 of the
 * copy so and at 0.57 by bands, 2000 x 2000 of 128 bytes at 0.71 and 0.62, 3000 x 3000 of 96 bytes at 0.56 and 0.59.
 * Units below a word gain nothing there. */
static int ipt__takes_pairs(const ipt__problem *problem, const ipt__grids *grids)
{
    const int cpu = problem->limits.cpu;
    return grids->rows == grids->cols && (cpu || problem->unit_bytes >= IPT__WORD_BYTES) &&
           grids->length * problem->desc.elem_size >= (cpu ? IPT__PAIRS_BYTES_CPU : IPT__PAIRS_BYTES_GPU);
}

/* Plans a shuffle in pairs. */
static void ipt__shuffle_pairs(const ipt__problem *problem, ipt__stage *stage)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t units = ipt__stage_units(problem, stage), group = ipt__min(128, limits->group_size);
    stage->kind = IPT__STAGE_SHUFFLE;
    stage->shuffle.pairs = 1;
    stage->lanes = stage->workers = 1;
    if (!limits->cpu) {
        while (stage->lanes < group && stage->lanes * 4 < units)
            stage->lanes *= 2;
        stage->workers = group / stage->lanes;
    }
    stage->shuffle.piece_units = ipt__min(units, IPT__PAIRS_PIECE / problem->unit_bytes);
    stage->shuffle.pieces = ipt__ceil_divide(units, stage->shuffle.piece_units);
}

/* Appends a stage on a dense grid with the best kernel for `budget` bytes of workspace. If none fits, the kernel with
 * the least workspace serves. A grid with one row or one column needs no stage. */
static void ipt__stage_add_dense(const ipt__problem *problem, ipt__layout *layout, size_t budget, ipt__grids grids)
{
    ipt__stage *stage;
    size_t wave, shuffle;
    if (grids.rows == 1 || grids.cols == 1)
        return;
    stage = ipt__stage_add(layout, IPT__STAGE_TILE, grids.instances, grids.rows, grids.cols, grids.length);
    ipt__pack_choose(problem, stage);
    if (stage->tile.pack_bytes ||
        ipt__instance_units(problem, stage) * problem->unit_bytes <= ipt__local_budget(&problem->limits))
        return;
    if (ipt__tile_serves_many(problem, stage))
        return;
    if (ipt__takes_pairs(problem, &grids)) {
        ipt__shuffle_pairs(problem, stage);
        return;
    }
    if (grids.rows == grids.cols) {
        stage->kind = IPT__STAGE_SWAP;
        return;
    }
    stage->kind = IPT__STAGE_WAVE;
    wave = ipt__need_wave(problem, layout, stage).instance;
    stage->kind = IPT__STAGE_SHUFFLE;
    ipt__shuffle_pieces(problem, stage);
    shuffle = ipt__need_shuffle(problem, layout, stage).instance;
    /* Short super-elements make shuffles slow. */
    if (grids.length * problem->desc.elem_size < 64 ? wave <= budget || wave <= shuffle
                                                    : shuffle > budget && wave < shuffle)
        stage->kind = IPT__STAGE_WAVE;
    if (stage->kind == IPT__STAGE_WAVE)
        memset(&stage->shuffle, 0, sizeof stage->shuffle);
}

/* Columns of a block that moves by words, as in parts/words.cl, if the rows of source and result are whole words; else
 * 1: columns move alone. */
static size_t ipt__problem_block(const ipt__problem *problem)
{
    const size_t columns = IPT__WORD_BYTES / problem->unit_bytes;
    return columns > 1 && (problem->element_units == 1 || problem->element_units == 3) &&
                   (problem->desc.rows | problem->desc.cols | ipt__source_row(problem) | ipt__result_row(problem)) %
                           columns ==
                       0
               ? columns
               : 1;
}

/* Chooses pitch and skew of a tile with rows of `run` bytes, `stride` bytes apart in memory. Transposed reads should
 * hit different banks. Rows that a work-item fetches in sequence must begin at the same byte of a vector. group:
 * work-items of the group. block: columns of a block that moves by words, or 1. */
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
    /* Work-items read words of different rows, as many apart as a block has columns. */
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

/* The side of a tiled transposition's tile. Local memory holds `tiles` of them. */
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

/* Lays out such tiles, and returns the bytes of local memory for all of them and for the starts of their rows. */
static size_t ipt__swap_local_bytes(const ipt__problem *problem, ipt__swap_stage *swap, size_t stride)
{
    swap->tile = ipt__lay_out_tile(problem, swap->group_size, swap->side * problem->unit_bytes, stride, 1);
    swap->local_bytes = swap->places * 16 * (swap->side * (swap->tile.pitch + 1) + 1);
    return swap->local_bytes + swap->places * 4 * swap->side;
}

/* Whether such tiles fit local memory. Lays them out. */
static int ipt__swap_fits(const ipt__problem *problem, ipt__swap_stage *swap, size_t stride)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t most = limits->nvidia && !limits->local_is_limited ? (size_t)IPT__SWAP_BYTES : limits->local_memory;
    return ipt__swap_local_bytes(problem, swap, stride) <= most && !ipt__problem_refuses(problem, swap->local_bytes);
}

/* Chooses tiles of a square that are fetched by vectors, for GPUs and elements of one unit. Rows that cut memory
 * sectors get larger tiles. The largest tiles allow two work-groups per compute unit and need enough pairs for each. An
 * H200 reaches 0.78 to 0.81 of a copy for 14000 x 14000 floats. Returns 0 if they do not fit local memory. */
static int ipt__swap_tile_large(const ipt__problem *problem, size_t length, size_t places, ipt__swap_stage *swap)
{
    static const size_t sides[2][3][2] = {{{64, 112}, {64, 96}, {48, 48}},
                                          {{64, 80}, {48, 64}, {40, 40}}}; /* of two tiles, of four; by unit: 4, 8, 16
                                                                              bytes; cut sectors: no, yes */
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
    if (places == 2 && unit == 4 && cut && limits->largest_group >= IPT__SWAP_GROUP_LARGE &&
        per_side * per_side / 2 >= 28 * limits->compute_units) {
        swap->side = IPT__SWAP_SIDE_LARGE;
        swap->group_size = IPT__SWAP_GROUP_LARGE;
    }
    /* Four tiles are too few for small squares: more of them, with more work-items each. */
    if (places == 4 && length / 2 / swap->side * (length / 2 / swap->side) < limits->compute_units) {
        size_t across;
        swap->side = ipt__min(swap->side, IPT__SWAP_SIDE_TURNED);
        across = ipt__ceil_divide(length, 2 * swap->side);
        if (limits->largest_group >= IPT__SWAP_GROUP_LARGE &&
            across * across * problem->desc.batch <= limits->compute_units)
            swap->group_size = IPT__SWAP_GROUP_LARGE;
    }
    /* Turns by tiles need small ones where local memory is short. */
    if (ipt__problem_rotates(problem) && !ipt__swap_fits(problem, swap, stride))
        swap->side = IPT__SWAP_SIDE_LEAST;
    return ipt__swap_fits(problem, swap, stride);
}

/* Tiles that change places where swapped tiles turn a whole square in one pass; 0 if they cannot. */
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
    stage->swap.turns = places && !stage->variant;
    if (!stage->variant && units == 1 && ipt__swap_tile_large(problem, stage->cols, places ? places : 2, &stage->swap))
        return;
    stage->swap.places = 2;
    stage->swap.group_size = problem->limits.group_size;
    ipt__transpose_tile(problem, units, 2, &stage->swap.side, &chunk);
    stage->swap.local_bytes =
        ipt__round_up(2 * stage->swap.side * (stage->swap.side * chunk + 1) * problem->unit_bytes, 1024);
}

/* The same for cooperative bands: 1 if their runs are no whole words. */
static size_t ipt__bands_block(const ipt__problem *problem, int tall, size_t height)
{
    const size_t columns = ipt__problem_block(problem);
    return tall && height % columns == 0 ? columns : 1;
}

/* Words of a control block for cooperative bands. */
static size_t ipt__bands_control_words(const ipt__problem *problem, const ipt__bands *bands)
{
    return IPT__CONTROL_WORDS + problem->desc.batch * bands->positions * (1 + bands->chunks);
}

/* The same for bands in one launch of waves: counters, each in a cache line. */
static size_t ipt__waves_control_words(const ipt__bands *bands)
{
    return 16 * (1 + bands->workers);
}

/* Words of the flags with which a single work-group moves a band: one bit for each unit of a band or of a range. */
static size_t ipt__bands_alone_words(const ipt__bands *bands)
{
    return ipt__ceil_divide(bands->tall ? bands->height * bands->row_units : bands->width * bands->column_units, 32);
}

/* Sets the offsets of the workspace's parts. */
static void ipt__layout_place(const ipt__problem *problem, ipt__layout *layout)
{
    size_t offset = layout->saved_bytes, flags = 0, alone = 0;
    int i;
    for (i = 0; i < layout->stage_count; ++i) {
        const ipt__stage *const stage = &layout->stages[i];
        if (stage->kind == IPT__STAGE_PANEL) {
            layout->cooperative = 1;
            layout->control_words =
                IPT__CONTROL_WORDS + stage->panel.ticket_groups * stage->panel.blocks * problem->desc.batch;
            const size_t units = ipt__max(ipt__instance_units(problem, stage),
                                          problem->pitched ? stage->rows * ipt__source_row(problem) : 0);
            alone = ipt__max(units / IPT__WINDOWS, (size_t)IPT__WINDOW_UNITS) / 32 + 1;
        } else if (stage->kind == IPT__STAGE_EXCHANGE && stage->bands.together) {
            layout->cooperative = 1;
            layout->control_words = ipt__bands_control_words(problem, &stage->bands);
            alone = ipt__bands_alone_words(&stage->bands);
        } else if (stage->kind == IPT__STAGE_EXCHANGE && stage->bands.workers) {
            layout->cooperative = 1;
            layout->control_words = ipt__waves_control_words(&stage->bands);
        } else if (stage->shuffle.chains) {
            flags = ipt__flag_bytes(problem, stage) / 4 * problem->desc.batch;
        }
    }
    if (layout->cooperative) {
        layout->flags_offset = offset += 2 * ipt__round_up(layout->control_words * 4, 256);
        layout->alone_offset = offset += ipt__round_up(flags * 4, 256);
        offset += ipt__round_up(alone * 4, 256);
    }
    layout->scratch_offset = offset;
}
