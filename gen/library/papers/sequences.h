/* Methods of the papers: forced sequences, block formats, padding. */

#ifdef IPT_NO_PAPERS

static ipt_result ipt__stage_force(const ipt__problem *problem, ipt__stage *stage)
{
    (void)problem, (void)stage;
    return IPT_SUCCESS;
}

#else

/* The sequences of Gomez-Luna et al., TPDS 2016, section 4.1. Each stage exchanges two neighbouring factors: M, m, N, n
 * stand for M', m, N', n. A sequence turns (M', m, N', n) into (N', n, M', m). A stage with a "*" also transposes its
 * super-elements, the factors after the exchanged ones. */
typedef struct ipt__sequence_text {
    ipt_sequence sequence;
    const char *stages[5];
} ipt__sequence_text;
static const ipt__sequence_text ipt__sequence_texts[] = {
    {IPT_SEQUENCE_1, {"Mm-Nn", NULL}},
    {IPT_SEQUENCE_2_1, {"m-Nn", "M-Nn", NULL}},
    {IPT_SEQUENCE_2_2, {"Mm-N", "Mm-n", NULL}},
    {IPT_SEQUENCE_3_1, {"Mm-N", "m-n", "M-n", NULL}},
    {IPT_SEQUENCE_3_2, {"m-N", "m-n", "M-Nn", NULL}},
    {IPT_SEQUENCE_3_3, {"m-N", "M-N", "Mm-n", NULL}},
    {IPT_SEQUENCE_3_4, {"m-Nn", "M-N", "M-n", NULL}},
    {IPT_SEQUENCE_4_1, {"m-N", "m-n", "M-N", "M-n", NULL}},
    {IPT_SEQUENCE_4_2, {"m-N", "M-N", "m-n", "M-n", NULL}},
    {IPT_SEQUENCE_4_3, {"m-N", "M-N*", "M-n", NULL}},
};

/* A matrix as a 4-dimensional array: the sizes of M, m, N, n, and the order in memory. */
typedef struct ipt__factors {
    size_t sizes[4];
    char order[5];
} ipt__factors;

static ipt__factors ipt__factors_of(const ipt_plan_desc *desc, size_t tile_m, size_t tile_n, const char *order)
{
    ipt__factors factors;
    factors.sizes[0] = desc->rows / tile_m;
    factors.sizes[1] = tile_m;
    factors.sizes[2] = desc->cols / tile_n;
    factors.sizes[3] = tile_n;
    memcpy(factors.order, order, 5);
    return factors;
}

/* The size of the factor at a position in memory. */
static size_t ipt__factor(const ipt__factors *factors, size_t at)
{
    const char name = factors->order[at];
    return factors->sizes[name == 'M' ? 0 : name == 'm' ? 1 : name == 'N' ? 2 : 3];
}

/* `left` factors from `begin` on change places with the next `right` factors. inner: the super-element, two factors, is
 * transposed as well. */
typedef struct ipt__exchange {
    size_t begin, left, right;
    int inner;
} ipt__exchange;

static void ipt__factors_exchange(ipt__factors *factors, const ipt__exchange *exchange)
{
    char *const order = factors->order;
    const size_t begin = exchange->begin, left = exchange->left, right = exchange->right, end = begin + left + right;
    char moved[5];
    memcpy(moved, order, 5);
    memcpy(moved + begin, order + begin + left, right);
    memcpy(moved + begin + right, order + begin, left);
    if (exchange->inner) {
        moved[end] = order[end + 1];
        moved[end + 1] = order[end];
    }
    memcpy(order, moved, 5);
}

/* The kernel of a stage in a paper's method. *lanes: work-items of a set, which section 5.2 of Gomez-Luna et al. 2016
 * matches to a tile or super-element; 0: what the kernel has. */
static ipt_variant ipt__method_variant(const ipt__problem *problem, const ipt__stage *stage, int single, size_t *lanes)
{
    static const ipt_variant tiles[] = {IPT_VARIANT_BS_VIRTUAL_8, IPT_VARIANT_BS_VIRTUAL_16, IPT_VARIANT_BS_SIMD,
                                        IPT_VARIANT_BS_GROUP},
                             runs[] = {IPT_VARIANT_PTTWAC_100_VIRTUAL_8_REGISTERS,
                                       IPT_VARIANT_PTTWAC_100_VIRTUAL_16_REGISTERS,
                                       IPT_VARIANT_PTTWAC_100_SIMD_REGISTERS, IPT_VARIANT_PTTWAC_100_GROUP_REGISTERS};
    const size_t unit = problem->unit_bytes;
    const size_t bytes = unit * (single ? ipt__instance_units(problem, stage) : ipt__stage_units(problem, stage));
    const ipt_heuristic_device device = ipt__heuristic_device_of(&problem->limits);
    const size_t set = ipt_heuristic_group_size(&device, bytes), simd = device.simd_width;
    const int size = set <= 8 ? 0 : set <= 16 ? 1 : set <= simd ? 2 : 3;
    *lanes = 0;
    if (single && bytes > problem->limits.local_memory)
        return IPT_VARIANT_PTTWAC_010_REMAPPED;
    if (problem->desc.method == IPT_METHOD_PPOPP_2014)
        return single                                         ? IPT_VARIANT_BS_GROUP
               : stage->length % simd && simd % stage->length ? IPT_VARIANT_PTTWAC_100_SIMD
                                                              : IPT_VARIANT_PTTWAC_100_SIMD_REGISTERS;
    if (size == 2 || (!single && size == 3))
        *lanes = set;
    return single ? tiles[size] : runs[size];
}

/* Plans a shuffle by the stage's variant: the workers of a work-group, and the pieces of super-elements. */
static ipt_result ipt__force_shuffle(const ipt__problem *problem, ipt__stage *stage)
{
    const ipt__limits *const limits = &problem->limits;
    const ipt__variant *const variant = stage->variant;
    const size_t units = ipt__stage_units(problem, stage), simd = ipt__simd_width(limits);
    size_t holds;
    ipt__stage_become(stage, IPT__STAGE_SHUFFLE);
    stage->as.shuffle.spread = 1;
    if (limits->memory_model == 2 && variant->lanes && limits->largest_group >= 128)
        stage->workers = 128 / stage->lanes;
    else if (variant->lanes && simd <= limits->group_size) /* virtual units share a SIMD unit */
        stage->workers = simd / stage->lanes;
    for (;; stage->workers /= 2) { /* fewer workers if each must hold more */
        holds = (limits->local_memory - 16 * stage->workers) / (2 * stage->workers) / 16 * 16 / problem->unit_bytes;
        if (stage->inner_rows && stage->lanes > 1)
            holds = holds * 1024 / 1057; /* with gaps: see ipt__held_units */
        if (!stage->inner_rows || holds >= units || stage->workers == 1)
            break;
    }
    stage->as.shuffle.piece_units = ipt__min(units, variant->registers ? stage->lanes * variant->registers : holds);
    if (stage->inner_rows && (variant->registers || stage->as.shuffle.piece_units < units))
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "%s cannot transpose super-elements of %zu bytes inside: sequence 4.3 needs them whole in "
                         "local memory, as pttwac-100-group has them if two fit; use 4.1 or 4.2",
                         variant->name, units * problem->unit_bytes);
    stage->as.shuffle.pieces = ipt__ceil_divide(units, stage->as.shuffle.piece_units);
    return IPT_SUCCESS;
}

/* Selects the paper's kernel that the desc names for a stage, or reports why the kernel cannot serve. */
static ipt_result ipt__stage_force(const ipt__problem *problem, ipt__stage *stage)
{
    const ipt__limits *const limits = &problem->limits;
    const int single = stage->length == 1 && !stage->inner_rows && problem->desc.sequence != IPT_SEQUENCE_1;
    size_t lanes = 0;
    const ipt_variant wanted = problem->desc.method ? ipt__method_variant(problem, stage, single, &lanes)
                               : single             ? problem->desc.variant_010
                                                    : problem->desc.variant_100;
    const ipt__variant *const variant = &ipt__variants[wanted];
    const size_t units = ipt__stage_units(problem, stage), instance = ipt__instance_units(problem, stage),
                 simd = ipt__simd_width(limits);
    size_t holds, flags, group = limits->group_size;
    if (wanted == IPT_VARIANT_AUTO)
        return IPT_SUCCESS;
    stage->variant = variant;
    stage->workers = 1;
    if (variant->registers == 1)
        lanes = units;
    if (lanes > simd || variant->registers == 1)
        group = limits->largest_group;
    stage->lanes = lanes                  ? lanes
                   : variant->lanes == 32 ? simd
                   : variant->lanes       ? ipt__min(variant->lanes, simd)
                                          : group;
    if (stage->lanes > group)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "%s needs work-groups of %zu work-items: the device has %zu; narrower units or p-ipt-item do "
                         "without",
                         variant->name, stage->lanes, group);
    switch (variant->family) {
    case IPT__FAMILY_SWAP:
        break;
    case IPT__FAMILY_BS:
        ipt__stage_become(stage, IPT__STAGE_TILE);
        stage->workers = group / stage->lanes;
        holds = limits->local_memory / problem->unit_bytes;
        if (instance + (variant->bank_padding ? instance / 32 : 0) > holds)
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "%s needs a whole tile of %zu x %zu elements in %zu bytes of local memory: smaller tile_m "
                             "and tile_n, or pttwac-010, which has only flags there",
                             variant->name, stage->rows, stage->cols, limits->local_memory);
        break;
    case IPT__FAMILY_PTTWAC_010:
        ipt__stage_become(stage, IPT__STAGE_PTTWAC_010);
        flags = ipt__ceil_divide(instance, ipt__word_flags(problem, stage, 0));
        flags += variant->flag_layout == 1 ? flags / 32 : 0;
        if (instance >= (size_t)1 << 31 || 4 * flags > limits->local_memory)
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "%s needs %zu words of flags for a tile of %zu x %zu elements in %zu bytes of local "
                             "memory: a smaller tile or flag_spread, or p-ipt, which has no flags",
                             variant->name, flags, stage->rows, stage->cols, limits->local_memory);
        break;
    case IPT__FAMILY_PTTWAC_100:
        return ipt__force_shuffle(problem, stage);
    default: /* P-IPT */
        ipt__stage_become(stage, IPT__STAGE_P_IPT);
        stage->workers = group / stage->lanes;
        if (stage->inner_rows)
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "%s cannot transpose within super-elements, as sequence 4.3 requires: use 4.1 or 4.2",
                             variant->name);
        break;
    }
    return IPT_SUCCESS;
}

/* Plans a shuffle that also transposes its super-elements. Returns 0 if local memory cannot hold two of them. */
static int ipt__shuffle_inner(const ipt__problem *problem, ipt__stage *stage, size_t rows, size_t cols)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t units = ipt__stage_units(problem, stage), bytes = units * problem->unit_bytes;
    const int warps =
        limits->memory_model == 2 || stage->rows == stage->cols; /* workers need no barrier of their own */
    stage->inner_rows = rows;
    stage->inner_cols = cols;
    stage->as.shuffle.pairs = stage->rows == stage->cols && !limits->cpu; /* CPUs are faster without pairs */
    stage->as.shuffle.piece_units = units;
    stage->as.shuffle.pieces = stage->workers = stage->lanes = 1;
    if (!limits->cpu) {
        stage->lanes = ipt__min(32, limits->group_size);
        while (stage->lanes < limits->group_size && stage->lanes * 16 <= units)
            stage->lanes *= 2;
        stage->workers =
            warps && stage->lanes <= 32 ? ipt__max(1, ipt__min(128, limits->group_size) / stage->lanes) : 1;
        for (stage->as.shuffle.spread = 1; stage->as.shuffle.spread < 16 && stage->as.shuffle.spread * 50 <= bytes;)
            stage->as.shuffle.spread *= 2;
        while (stage->workers > 1 && ipt__inner_bytes(problem, stage) > limits->local_memory)
            stage->workers /= 2;
    }
    return ipt__inner_bytes(problem, stage) <= limits->local_memory;
}

/* Appends the stage of an exchange, and updates the order. */
static IPT__RARE ipt_result ipt__layout_exchange(const ipt__problem *problem, ipt__layout *layout, size_t budget,
                                                 ipt__factors *factors, const ipt__exchange *exchange)
{
    const size_t begin = exchange->begin, middle = begin + exchange->left, end = middle + exchange->right;
    const int before = layout->stage_count;
    ipt__grids grids = ipt__grids_of(1, 1, 1, 1);
    size_t i;
    for (i = 0; i < 4; ++i) {
        size_t *const sides[] = {&grids.instances, &grids.rows, &grids.cols, &grids.length};
        *sides[(i >= begin) + (i >= middle) + (i >= end)] *= ipt__factor(factors, i);
    }
    if (exchange->inner) {
        /* The super-element is transposed even if the grid stays as it is. */
        ipt__stage *const stage =
            ipt__stage_add(layout, IPT__STAGE_SHUFFLE, grids.instances, grids.rows, grids.cols, grids.length);
        if (!ipt__shuffle_inner(problem, stage, ipt__factor(factors, end), ipt__factor(factors, end + 1)) &&
            problem->desc.variant_100 == IPT_VARIANT_AUTO)
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "tile_m = %zu and tile_n = %zu: sequence 4.3 needs two such tiles in %zu bytes of local "
                             "memory; use 4.1, 4.2 or smaller tiles",
                             stage->inner_rows, stage->inner_cols, problem->limits.local_memory);
    } else if (problem->desc.sequence == IPT_SEQUENCE_1) {
        if (grids.rows > 1 && grids.cols > 1)
            ipt__shuffle_pieces(problem, ipt__stage_add(layout, IPT__STAGE_SHUFFLE, grids.instances, grids.rows,
                                                        grids.cols, grids.length));
    } else {
        ipt__stage_add_dense(problem, layout, budget, grids);
    }
    ipt__factors_exchange(factors, exchange);
    return layout->stage_count > before ? ipt__stage_force(problem, &layout->stages[before]) : IPT_SUCCESS;
}

/* Appends the stage of a text in ipt__sequence_texts. */
static ipt_result ipt__layout_text(const ipt__problem *problem, ipt__layout *layout, size_t budget,
                                   ipt__factors *factors, const char *text)
{
    const char *const dash = strchr(text, '-');
    ipt__exchange exchange;
    exchange.begin = (size_t)(strchr(factors->order, text[0]) - factors->order);
    exchange.left = (size_t)(dash - text);
    exchange.right = strcspn(dash + 1, "*");
    exchange.inner = dash[1 + exchange.right] == '*';
    return ipt__layout_exchange(problem, layout, budget, factors, &exchange);
}

/* The tile along one side for a forced sequence: the caller's, which must divide the side, or a divisor. */
static ipt_result ipt__tile_side(const char *name, size_t tile, const char *side_name, size_t side, size_t *chosen)
{
    *chosen = tile;
    if (tile && side % tile)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s = %zu does not divide %s = %zu", name, tile, side_name, side);
    if (!tile)
        *chosen = ipt__divisor_near(side, IPT__DIVISOR_WANTED);
    if (!*chosen)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "%s is 0 and %s = %zu has no divisor to choose: name %s, or use IPT_SEQUENCE_TWO_PASS", name,
                         side_name, side, name);
    return IPT_SUCCESS;
}

static ipt_result ipt__layout_sequence(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    const ipt_plan_desc *const desc = &problem->desc;
    size_t tile_m = 1, tile_n = 1;
    ipt__factors factors;
    ipt_result result = IPT_SUCCESS;
    size_t s = 0;
    int i;
    ipt__layout_begin(layout);
    if (desc->sequence != IPT_SEQUENCE_1 && desc->sequence != IPT_SEQUENCE_2_2)
        result = ipt__tile_side("tile_m", desc->tile_m, "rows", desc->rows, &tile_m);
    if (!result && desc->sequence != IPT_SEQUENCE_1 && desc->sequence != IPT_SEQUENCE_2_1)
        result = ipt__tile_side("tile_n", desc->tile_n, "cols", desc->cols, &tile_n);
    if (result)
        return result;
    factors = ipt__factors_of(desc, tile_m, tile_n, "MmNn");
    while (ipt__sequence_texts[s].sequence != desc->sequence)
        ++s;
    for (i = 0; !result && ipt__sequence_texts[s].stages[i]; ++i)
        result = ipt__layout_text(problem, layout, budget, &factors, ipt__sequence_texts[s].stages[i]);
    ipt__layout_finish(problem, layout, budget);
    return result;
}

/* A search for the best sequence of exchanges. */
typedef struct ipt__search {
    const ipt__problem *problem;
    size_t budget;
    const char *to; /* the order that is wanted */
    ipt__layout *best;
    int found;
} ipt__search;

/* Tries all sequences of at most `most` more stages. Keeps the best layout. */
static void ipt__layout_search(ipt__search *search, const ipt__layout *so_far, const ipt__factors *factors, int most)
{
    ipt__exchange exchange;
    if (!strcmp(factors->order, search->to)) {
        ipt__layout layout = *so_far;
        ipt__layout_finish(search->problem, &layout, search->budget);
        if (!search->found || ipt__layout_better(&layout, search->best, search->budget))
            *search->best = layout;
        search->found = 1;
        return;
    }
    for (exchange.begin = 0; exchange.begin < 3 && most; ++exchange.begin)
        for (exchange.left = 1; exchange.begin + exchange.left < 4; ++exchange.left)
            for (exchange.right = 1; exchange.begin + exchange.left + exchange.right <= 4; ++exchange.right)
                for (exchange.inner = 0; exchange.inner <= (exchange.begin + exchange.left + exchange.right == 2);
                     ++exchange.inner) {
                    ipt__layout layout = *so_far;
                    ipt__factors next = *factors;
                    if (!ipt__layout_exchange(search->problem, &layout, search->budget, &next, &exchange))
                        ipt__layout_search(search, &layout, &next, most - 1);
                }
}

/* Converts between block formats in the cheapest way. Three exchanges reach any order of four factors. */
static ipt_result ipt__layout_convert(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    static const char *const orders[] = {
#define IPT__FORMAT_FACTORS(name, text, factors) factors,
        IPT_FORMAT_LIST(IPT__FORMAT_FACTORS)};
    const ipt_plan_desc *const desc = &problem->desc;
    const ipt__factors factors =
        ipt__factors_of(desc, desc->tile_m, desc->tile_n, orders[desc->from ? desc->from : IPT_FORMAT_RM]);
    ipt__layout empty;
    ipt__search search;
    memset(&empty, 0, sizeof empty);
    memset(&search, 0, sizeof search);
    search.problem = problem;
    search.budget = budget;
    search.to = orders[desc->to ? desc->to : IPT_FORMAT_CM];
    search.best = layout;
    ipt__layout_search(&search, &empty, &factors, 3);
    return search.found ? IPT_SUCCESS
                        : IPT_ERROR_UNSUPPORTED; /* a forced kernel refused every sequence: the last error text stays */
}

static int ipt__sequence_applies(const ipt__problem *problem)
{
    const ipt_sequence sequence = problem->desc.sequence;
    return sequence != IPT_SEQUENCE_AUTO && sequence != IPT_SEQUENCE_SQUARE && sequence != IPT_SEQUENCE_EXCHANGE &&
           sequence != IPT_SEQUENCE_TWO_PASS;
}

static ipt_result ipt__sequence_propose(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made)
{
    made->found = made->settled = 1;
    return ipt__layout_sequence(problem, &made->layout, scope->budget);
}

static int ipt__formats_apply(const ipt__problem *problem)
{
    return problem->desc.from || problem->desc.to;
}

static ipt_result ipt__formats_propose(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made)
{
    made->found = made->settled = 1;
    return ipt__layout_convert(problem, &made->layout, scope->budget);
}

/* Appends a stage that changes the row stride of `rows` rows of `length` elements. */
static void ipt__stage_add_pad(ipt__layout *layout, size_t rows, size_t length, size_t from, size_t to)
{
    ipt__stage *const stage = ipt__stage_add(layout, IPT__STAGE_PAD, 1, rows, 1, length);
    stage->as.pad_stride = from;
    stage->row_stride = to;
}

/* Adds the padding stages of IPT_PAD before and after a layout's stages. */
static void ipt__layout_add_padding(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    const size_t rows = problem->desc.rows - problem->pad_rows, cols = problem->desc.cols - problem->pad_cols;
    const ipt__layout moves = *layout;
    int i;
    if (!problem->pad_rows && !problem->pad_cols)
        return;
    ipt__layout_begin(layout);
    if (problem->pad_cols && rows > 1)
        ipt__stage_add_pad(layout, rows, cols, cols, problem->desc.cols);
    for (i = 0; i < moves.stage_count; ++i)
        layout->stages[layout->stage_count++] = moves.stages[i];
    if (problem->pad_rows && cols > 1)
        ipt__stage_add_pad(layout, cols, rows, problem->desc.rows, rows);
    ipt__layout_finish(problem, layout, budget);
}

#endif
