/* The band exchange. */

/* Whether tile_n forces bands of the shorter side. */
static int ipt__bands_of_shorter(const ipt_plan_desc *desc)
{
    return desc->sequence == IPT_SEQUENCE_EXCHANGE && !desc->tile_m && desc->tile_n;
}

/* Whether bands in waves are rows of the source. Bands of the longer side have longer runs. */
static int ipt__is_tall(const ipt__problem *problem)
{
    const ipt_plan_desc *const desc = &problem->desc;
    if (ipt__permutes_columns(problem))
        return ipt__permutes_columns(problem) == 1;
    return (desc->rows >= desc->cols) != ipt__bands_of_shorter(desc);
}

/* Units of a matrix that these bands save in the workspace: its rest rows or its rest columns. */
static size_t ipt__bands_saved(const ipt__bands *bands)
{
    return bands->saved_rows * bands->saved_distance;
}

/* Work-groups that move all bands in one launch: one for each core of a CPU, or 0 if there are too few columns.
 * Counters and unit numbers along a side have 32 bits. */
static size_t ipt__waves_workers(const ipt__problem *problem, const ipt__bands *bands)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t workers = limits->compute_units, pieces = ipt__ceil_divide(bands->cols, IPT__WAVES_COLUMNS) + workers;
    return limits->cpu && limits->memory_model == 3 && !(problem->desc.flags & IPT_NO_COOPERATIVE) &&
                   bands->cols >= workers * IPT__WAVES_COLUMNS &&
                   ipt__max(bands->rows, bands->cols) < ((size_t)1 << 31) / problem->element_units &&
                   bands->number < ((size_t)1 << 30) / pieces &&
                   problem->desc.batch < ((size_t)1 << 30) / (pieces * (bands->number + 1))
               ? workers
               : 0;
}

/* Cuts the source (tall) or the result into `number` bands of `height` rows: number <= both sides, number * height <=
 * the rows. Ranges are the widest multiples of `block` columns. */
static ipt__bands ipt__bands_of(const ipt__problem *problem, int tall, size_t number, size_t height, size_t block)
{
    ipt__bands bands;
    memset(&bands, 0, sizeof bands);
    bands.tall = tall;
    bands.rows = tall ? problem->desc.rows : problem->desc.cols;
    bands.cols = tall ? problem->desc.cols : problem->desc.rows;
    bands.number = number;
    bands.height = height;
    bands.width = bands.cols / number / block * block;
    bands.rest_rows = bands.rows - number * height;
    bands.rest_cols = bands.cols - number * bands.width;
    bands.row_units = tall ? ipt__source_row(problem) : ipt__result_row(problem);
    bands.column_units = tall ? ipt__result_row(problem) : ipt__source_row(problem);
    /* A range must lie in the memory of its band and of earlier bands. Without gaps, the larger rest is saved. */
    bands.saves_rows = problem->pitched ? bands.width * bands.column_units > height * bands.row_units
                                        : bands.rest_rows * bands.cols > bands.rest_cols * bands.rows;
    bands.from_last = bands.tall ? bands.saves_rows : !bands.saves_rows;
    bands.saves_first = bands.tall == bands.saves_rows;
    bands.saved_origin =
        bands.saves_rows ? number * height * bands.row_units : number * bands.width * bands.column_units;
    bands.saved_rows = bands.saves_rows ? bands.rest_rows : bands.rest_cols;
    bands.saved_row = (bands.saves_rows ? bands.cols : bands.rows) * problem->element_units;
    bands.saved_distance = bands.saved_row;
    bands.workers = ipt__waves_workers(problem, &bands);
    return bands;
}

/* Cuts bands into chunks for cooperative work-groups. Returns 0 if no chunk fits local memory, or if too few
 * work-groups are resident. */
static int ipt__bands_cut(const ipt__problem *problem, ipt__bands *bands)
{
    const ipt__cooperative_kernel *const kernel = &problem->exchange;
    const size_t size = problem->desc.elem_size, run = bands->height * size;
    const size_t block = ipt__bands_block(problem, bands->tall, bands->height);
    /* Permuted columns have two tables behind the tile: of their numbers, and of deferred ones (tall) or begins. */
    const size_t table = ipt__permutes_columns(problem) ? 8 : 0, longest = table ? IPT__COLUMNS : IPT__CHUNK_RUNS;
    size_t vectors = kernel->local_bytes / 16, most, covered, rest;
    bands->together = 1;
    bands->workers = 0;
    bands->saved_distance = bands->saves_rows ? bands->row_units : bands->column_units;
    bands->positions = bands->number + (bands->rest_rows != 0) + (ipt__bands_saved(bands) != 0);
    /* A row of a tall chunk, or a run of a wide one, needs up to two vectors more than its bytes. */
    if (bands->tall)
        most = bands->height > IPT__CHUNK_RUNS || vectors / bands->height < 4 ? 0
               : table ? (vectors - 1 - 3 * bands->height) * 16 / (run + table)
                       : ((vectors - 1 - bands->height) / bands->height - 2) * 16 / size;
    else
        most = table ? (vectors - 1) * 16 / (run + 48 + table) : (vectors - 1) / (run / 16 + 3);
    if (most && block > 1) /* tiles of blocks skip a vector only after every 2 or 4 rows */
        most = ((vectors - 1 - bands->height / 2) / bands->height * 16 + problem->unit_bytes - 16) / size;
    most = ipt__min(most, longest) / block * block;
    /* A shuffle is faster than a wide chunk of very few runs: notebook.md, Methods. */
    if (!bands->tall && most < IPT__CHUNK_RUNS_LEAST)
        return 0;
    if (!most || !bands->width || bands->rest_rows > IPT__CHUNK_RUNS ||
        (bands->tall ? bands->rest_rows > bands->height : bands->rest_rows * size > run))
        return 0;
    covered = table ? bands->cols : bands->number * bands->width; /* rest columns may lie in all chunks */
    bands->rest_chunks = ipt__ceil_divide(covered, most);
    most = bands->chunk_width =
        ipt__round_up(ipt__ceil_divide(covered, bands->rest_chunks), block); /* all chunks have the same tile layout */
    bands->rest_chunks = ipt__ceil_divide(covered, most);
    rest = table ? 0 : ipt__ceil_divide(bands->rest_cols, most);
    bands->rest_width = rest ? ipt__round_up(ipt__ceil_divide(bands->rest_cols, rest), block) : 1;
    bands->chunks = bands->rest_chunks + rest;
    if (table)
        bands->rest_chunks = 0;
    vectors -= ipt__ceil_divide(bands->chunk_width * table, 16);
    bands->tile =
        ipt__lay_out_tile(problem, kernel->group_size, (bands->tall ? most : bands->height) * size,
                          (bands->tall ? bands->row_units : bands->column_units) * problem->unit_bytes, block);
    return bands->chunks <= (table && bands->tall ? kernel->resident * 2 / 3 : kernel->resident / 2) &&
           ipt__tile_vectors(&bands->tile, bands->tall ? bands->height : most) <= vectors &&
           bands->chunks * bands->positions * problem->desc.batch < (size_t)1 << 30 &&
           bands->cols * problem->element_units < (size_t)1 << 31 && run < (size_t)1 << 31 &&
           bands->row_units < ((size_t)1 << 31) / bands->height &&
           bands->column_units < ((size_t)1 << 31) / bands->width;
}

/* Sets where the rest that a stage saves or restores lies in the matrix. Without gaps, the rest is one row. */
static void ipt__stage_place_saved(const ipt__problem *problem, ipt__stage *stage, const ipt__bands *bands)
{
    stage->as.rows.origin = bands->saved_origin / problem->element_units;
    if (!problem->pitched)
        return;
    stage->as.rows.before = bands->saved_origin;
    stage->as.rows.apart = bands->saves_rows ? bands->row_units : bands->column_units;
}

/* The stages of a band exchange. */
static void ipt__layout_bands(const ipt__problem *problem, ipt__layout *layout, const ipt__bands *bands, size_t budget)
{
    const size_t rows = bands->saved_rows, length = bands->saves_rows ? bands->cols : bands->rows;
    const size_t saved = rows * length;
    const int alone = saved && !bands->together; /* cooperative bands save and restore by themselves */
    ipt__stage *stage;
    ipt__layout_begin(layout);
    layout->bands = bands->number;
    layout->height = bands->height;
    layout->saved_elements = saved;
    layout->saved_units = ipt__bands_saved(bands);
    if (alone && bands->saves_first) {
        stage = ipt__stage_add(layout, IPT__STAGE_SAVE, 1, problem->pitched ? rows : 1,
                               problem->pitched ? length : saved, 1);
        ipt__stage_place_saved(problem, stage, bands);
        stage->straight = 1;
    }
    stage = ipt__stage_add(layout, IPT__STAGE_EXCHANGE, bands->number, problem->desc.rows, problem->desc.cols, 1);
    stage->as.bands = *bands;
    stage->last_first = bands->from_last;
    if (alone && !bands->saves_first) {
        stage = ipt__stage_add(layout, IPT__STAGE_RESTORE, 1, problem->pitched ? rows : 1, 1,
                               problem->pitched ? length : saved);
        ipt__stage_place_saved(problem, stage, bands);
        stage->row_stride = saved;
    }
    ipt__layout_finish(problem, layout, budget);
}

/* Returns the height of `number` bands to try after `height`, 0 after the last; 0 begins. The first height leaves the
 * fewest rest rows. Runs of the other heights are whole vectors, sectors or lines of memory. */
static size_t ipt__bands_next_height(const ipt__problem *problem, int tall, size_t number, size_t height)
{
    const size_t size = problem->desc.elem_size, most = (tall ? problem->desc.rows : problem->desc.cols) / number;
    size_t step;
    if (!height)
        return most;
    for (step = 2; step * size <= IPT__LINE_BYTES; step *= 2)
        if (most / step * step < height)
            return most / step * step;
    return 0;
}

/* The cost of bands within `budget` bytes of workspace; 0: they do not fit. */
static double ipt__bands_price(const ipt__problem *problem, const ipt__bands *bands, size_t budget)
{
    const ipt__tuning *const model = ipt__tuning_of(&problem->limits);
    const ipt__control control = ipt__bands_control(problem, bands);
    const size_t saved = ipt__round_up(ipt__bands_saved(bands) * problem->unit_bytes * problem->desc.batch, 256),
                 fixed = saved + 2 * ipt__round_up(control.words * 4, 256) + ipt__round_up(control.alone * 4, 256),
                 slab = bands->together ? 0 : bands->height * bands->cols * problem->desc.elem_size;
    size_t launches = 1;
    if (fixed > budget || slab > budget - fixed ||
        (ipt__permutes_columns(problem) && !bands->together && !bands->workers))
        return 0;
    if (!bands->together && !bands->workers)
        launches = 2 * bands->number * ipt__ceil_divide(problem->desc.batch, (budget - fixed) / slab);
    return ipt__bands_cost(problem, bands) + model->saved * ipt__real(saved) + model->launch * ipt__real(launches);
}

/* The best band exchange within `budget` bytes of workspace, with runs above run[0] and up to run[1] bytes. Returns 0
 * if there is none. */
static IPT__RARE int ipt__bands_choose(const ipt__problem *problem, ipt__bands *best, int together, size_t least,
                                       size_t budget, const size_t run[2])
{
    const size_t size = problem->desc.elem_size;
    const size_t most = ipt__min(problem->desc.rows, problem->desc.cols);
    const int tall = together ? problem->exchange.tall : ipt__is_tall(problem);
    const size_t longest = tall ? problem->desc.rows : problem->desc.cols;
    const double most_saved = (double)budget / ipt__real(size * problem->desc.batch); /* elements */
    double best_cost = 0;
    size_t number, height, fitted = 0;
    least = ipt__max(least, longest / ipt__max(1, ipt__min(longest, run[1] / size)));
    for (number = least; number <= most && number - least < IPT__BANDS_TRIES && fitted < 2 * least + 32; ++number) {
        int fits = 0;
        /* For most numbers the rest is too large, at any height. */
        if (!problem->pitched && ipt__real(most % number) * ipt__real(longest) > most_saved)
            continue;
        for (height = ipt__bands_next_height(problem, tall, number, 0); height;
             height = ipt__bands_next_height(problem, tall, number, height)) {
            ipt__bands bands;
            double cost = 0;
            if (height * size <= run[0] || height * size > run[1])
                continue;
            bands =
                ipt__bands_of(problem, tall, number, height, together ? ipt__bands_block(problem, tall, height) : 1);
            if (ipt__real(ipt__bands_saved(&bands)) <= most_saved * ipt__real(problem->element_units) &&
                (!together || ipt__bands_cut(problem, &bands)))
                cost = ipt__bands_price(problem, &bands, budget);
            fits |= cost > 0;
            if (cost > 0 && (best_cost == 0 || cost < best_cost)) {
                best_cost = cost;
                *best = bands;
            }
        }
        fitted += (size_t)fits;
    }
    return best_cost > 0;
}

/* The band exchange with the least workspace. */
static ipt__bands ipt__bands_smallest(const ipt__problem *problem)
{
    const size_t shorter = ipt__min(problem->desc.rows, problem->desc.cols),
                 longer = ipt__max(problem->desc.rows, problem->desc.cols), units = problem->element_units;
    ipt__bands best = ipt__bands_of(problem, ipt__is_tall(problem), 1, longer, 1);
    size_t number;
    /* Skip some of the large numbers: their bands differ little. */
    for (number = 2; number <= shorter; number += 1 + number / IPT__BANDS_TRIES) {
        const ipt__bands bands = ipt__bands_of(problem, best.tall, number, longer / number, 1);
        if (bands.height * shorter * units + ipt__bands_saved(&bands) * problem->desc.batch <
            best.height * shorter * units + ipt__bands_saved(&best) * problem->desc.batch)
            best = bands;
    }
    return best;
}

/* The best band exchange, in waves or by cooperative work-groups, with runs above `above` and up to `run` bytes.
 * Returns 0 if none fits the budget. */
static IPT__RARE int ipt__layout_best_bands(const ipt__problem *problem, ipt__layout *best, size_t budget, size_t above,
                                            size_t run)
{
    const ipt__cooperative_kernel *const kernel = &problem->exchange;
    const size_t slabs = ipt__ceil_divide(problem->matrix_bytes, ipt__max(1, budget));
    const size_t on_chip = problem->matrix_bytes / ipt__max(1, kernel->local_bytes * (kernel->resident / 2));
    const size_t runs[2] = {above, run};
    ipt__layout layout;
    ipt__bands bands;
    const int together = kernel->resident && ipt__bands_choose(problem, &bands, 1, ipt__max(1, on_chip), budget, runs);
    if (together) {
        ipt__layout_bands(problem, best, &bands, budget);
        /* No waves cost less: their search would double the planner's time. */
        if (best->workspace <= budget &&
            best->cost <= ipt__tuning_of(&problem->limits)->bands * ipt__batch_bytes(problem))
            return 1;
    }
    if (!ipt__bands_choose(problem, &bands, 0, ipt__max(1, slabs), budget, runs))
        return together;
    ipt__layout_bands(problem, &layout, &bands, budget);
    if (!together || ipt__layout_better(&layout, best, budget))
        *best = layout;
    return 1;
}

/* The layout with these bands: by cooperative work-groups if possible, else in waves. */
static void ipt__layout_of_bands(const ipt__problem *problem, ipt__layout *layout, size_t number, size_t height,
                                 size_t budget)
{
    const ipt__cooperative_kernel *const kernel = &problem->exchange;
    ipt__bands bands;
    int fits = kernel->resident && number * height <= (kernel->tall ? problem->desc.rows : problem->desc.cols);
    if (fits) {
        bands = ipt__bands_of(problem, kernel->tall, number, height, ipt__bands_block(problem, kernel->tall, height));
        fits = ipt__bands_cut(problem, &bands) && (!budget || ipt__bands_price(problem, &bands, budget) > 0);
    }
    if (!fits)
        bands = ipt__bands_of(problem, ipt__is_tall(problem), number, height, 1);
    ipt__layout_bands(problem, layout, &bands, budget);
}

static int ipt__exchange_applies(const ipt__problem *problem)
{
    return problem->desc.sequence == IPT_SEQUENCE_EXCHANGE || ipt__is_free(&problem->desc);
}

/* Whether cooperative bands are rows of the source. Such bands are faster for wide matrices, too, if a band can have
 * enough rows: notebook.md, Methods. tile_m and tile_n force a side. */
static cl_uint ipt__exchange_is_tall(const ipt__problem *problem)
{
    const ipt_plan_desc *const desc = &problem->desc;
    return ipt__is_tall(problem) || (!ipt__permutes_columns(problem) && !desc->tile_m && !desc->tile_n &&
                                     desc->cols * desc->elem_size <= IPT__BANDS_ROW * problem->limits.compute_units);
}

/* Whether, by the model, two passes cannot be faster than these bands. */
static int ipt__bands_are_best(const ipt__problem *problem, const ipt__layout *bands, size_t budget)
{
    return bands->workspace <= budget &&
           bands->cost < ipt__tuning_of(&problem->limits)->two_passes * ipt__batch_bytes(problem);
}

/* Whether, by the model, two passes cannot be faster than the best bands: their programs need not be built. Not if
 * measurements, new or stored, may decide otherwise. */
static IPT__RARE int ipt__exchange_is_best(const ipt_plan *plan)
{
    const ipt__problem *const problem = &plan->problem;
    const size_t budget = ipt__problem_budget(problem);
    ipt__layout layout;
    return problem->exchange.resident && !(problem->desc.flags & IPT_MEASURE) && !plan->context->wisdom &&
           ipt__layout_best_bands(problem, &layout, budget, 0, ~(size_t)0) &&
           ipt__bands_are_best(problem, &layout, budget);
}

/* Gets the kernel of cooperative bands. A launch reads parked data that the same launch has written: OpenCL C 1.2 does
 * not support this. */
static IPT__RARE ipt_result ipt__exchange_seek(ipt_plan *plan, int *done)
{
    ipt__params params = ipt__cooperative_params(&plan->problem);
    const ipt__move *const move = &ipt__moves[plan->problem.desc.move];
    ipt_result result = IPT_SUCCESS;
    int i;
    params.tall = ipt__exchange_is_tall(&plan->problem);
    params.reversed = params.tall ? ipt__reversed_param(move->reversed_cols, move->reversed_rows)
                                  : ipt__reversed_param(move->reversed_rows, move->reversed_cols);
    params.by_words = params.tall && ipt__problem_block(&plan->problem) > 1;
    params.pitched = plan->problem.pitched != 0;
    params.axes = (cl_uint)plan->problem.array.count;
    params.groups_at_once = ipt__exchange_groups(&params);
    if (!plan->problem.limits.memory_model)
        return IPT_SUCCESS;
    for (i = params.groups_at_once >= IPT__BAND_GROUPS || !ipt__gives_more_local(&plan->problem.limits);
         i < 2 && !plan->device->exchange && (!result || result == IPT_ERROR_CACHE_MISS); ++i) {
        params.local_bytes = i ? (cl_uint)IPT__BAND_CHUNK_BYTES : (cl_uint)IPT__BAND_CHUNK_BYTES_LARGE;
        result = ipt__plan_take_cooperative(plan, IPT__KERNEL_exchange, &params, &plan->device->exchange,
                                            &plan->problem.exchange);
    }
    *done = !result && !ipt__permutes_columns(&plan->problem) && ipt__exchange_is_best(plan);
    return result;
}

/* The bands of tile_m or tile_n, else the best ones. Rows with gaps have no other method: if no bands fit the budget,
 * the method proposes those with the least workspace. */
static ipt_result ipt__exchange_propose(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const int forced = desc->sequence == IPT_SEQUENCE_EXCHANGE, of_shorter = ipt__bands_of_shorter(desc);
    const size_t height = of_shorter ? desc->tile_n : desc->tile_m;
    const size_t side = of_shorter ? ipt__min(desc->rows, desc->cols) : ipt__max(desc->rows, desc->cols);
    if (forced && height) {
        ipt__layout_of_bands(problem, &made->layout, side / height, height, scope->budget);
        made->found = 1;
        return IPT_SUCCESS;
    }
    made->found = ipt__layout_best_bands(problem, &made->layout, scope->budget, scope->above, scope->most);
    made->settled = made->found && ipt__bands_are_best(problem, &made->layout, scope->budget);
    if (!made->found && scope->most == ipt__any_length.most &&
        (forced || (problem->pitched && !ipt__is_square_with_gaps(problem)))) {
        const ipt__bands bands = ipt__bands_smallest(problem);
        ipt__layout_bands(problem, &made->layout, &bands, scope->budget);
        made->found = 1;
    }
    return IPT_SUCCESS;
}
