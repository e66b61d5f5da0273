/* Choosing a layout. */

/* The workspace limit in bytes; 0: the minimum. */
static size_t ipt__problem_budget(const ipt__problem *problem)
{
    if (problem->desc.max_workspace)
        return problem->desc.max_workspace == 1 ? 0 : problem->desc.max_workspace;
    return ipt__max((size_t)1 << 20, problem->matrix_bytes * problem->desc.batch / 100);
}

/* The better of the two-pass layouts with super-elements of `length` elements. */
static IPT__RARE void ipt__layout_of_length(const ipt__problem *problem, ipt__layout *layout, size_t length,
                                            size_t budget)
{
    ipt__layout other;
    ipt__layout_two_pass(problem, layout, length, budget);
    if (ipt__layout_cooperative(problem, &other, length)) {
        ipt__layout_finish(problem, &other, budget);
        if (ipt__layout_better(&other, layout, budget))
            *layout = other;
    }
    layout->length = length;
}

/* The best two-pass layout with super-elements above `above` and up to `most` bytes. */
static IPT__RARE void ipt__layout_best_two_pass(const ipt__problem *problem, ipt__layout *best, size_t budget,
                                                size_t above, size_t most)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const size_t long_side = ipt__max(desc->rows, desc->cols);
    const size_t last = ipt__min(long_side, ipt__max(1, most / desc->elem_size));
    ipt__layout candidate;
    size_t length = ipt__min(last, above / desc->elem_size + 1);
    ipt__layout_of_length(problem, best, length, budget);
    while (++length <= last) {
        ipt__layout_of_length(problem, &candidate, length, budget);
        if (ipt__layout_better(&candidate, best, budget))
            *best = candidate;
    }
}

/* The layouts that IPT_MEASURE compares: two passes by the length of their super-elements, up to 128, 256 ...
 * IPT__SUPER_BYTES bytes, then exchanges by that of their runs. */
enum { IPT__CANDIDATE_CLASSES = 5, IPT__CANDIDATES = 2 * IPT__CANDIDATE_CLASSES };

/* Returns 0 if there is no such layout. */
static int ipt__layout_candidate(const ipt__problem *problem, ipt__layout *layout, size_t budget, int candidate)
{
    const int exchange = candidate >= IPT__CANDIDATE_CLASSES, class_ = candidate % IPT__CANDIDATE_CLASSES;
    const size_t most = (size_t)128 << class_, above = class_ ? most / 2 : 0;
    if (problem->desc.sequence == (exchange ? IPT_SEQUENCE_TWO_PASS : IPT_SEQUENCE_EXCHANGE))
        return 0;
    if (exchange)
        return ipt__layout_best_bands(problem, layout, budget, above, most);
    if (problem->pitched)
        return 0;
    ipt__layout_best_two_pass(problem, layout, budget, above, most);
    return 1;
}

/* Appends a stage that holds whole matrices in local memory, if they fit. straight: it does not transpose. */
static void ipt__stage_add_small(const ipt__problem *problem, ipt__layout *layout, int straight)
{
    ipt__stage *stage;
    if (problem->matrix_bytes > ipt__local_budget(&problem->limits))
        return; /* ipt__layout_add_epilogue adds the FLIP stage */
    stage = ipt__stage_add(layout, IPT__STAGE_TILE, 1, problem->desc.rows, problem->desc.cols, 1);
    stage->straight = straight;
    ipt__pack_choose(problem, stage);
}

/* Replaces the layout by an exchange if that is better. */
static IPT__RARE void ipt__layout_try_bands(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    ipt__layout bands;
    if (ipt__layout_best_bands(problem, &bands, budget, 0, ~(size_t)0) && ipt__layout_better(&bands, layout, budget))
        *layout = bands;
}

/* Appends stages that change the distance of `rows` rows of `cols` elements from `from` to `to` units. Slabs of whole
 * rows move in the sequence in which no slab overwrites another. */
static void ipt__layout_add_spread(const ipt__problem *problem, ipt__layout *layout, const size_t shape[2],
                                   const size_t distances[2], size_t budget)
{
    const size_t rows = shape[0], cols = shape[1], row = cols * problem->desc.elem_size;
    const size_t most =
        ipt__min(budget ? budget : (size_t)IPT__SPREAD_BYTES, ipt__tunings[problem->limits.cpu].slab_bytes);
    const size_t slabs = ipt__ceil_divide(rows, ipt__max(1, most / row)), height = ipt__ceil_divide(rows, slabs);
    const size_t number = rows / height, rest = rows % height;
    const int up = distances[1] > distances[0]; /* the last rows first */
    int i, side;
    for (i = 0; i < 2; ++i) {
        const int is_rest = i != up;
        ipt__stage *stage;
        if (is_rest && !rest)
            continue;
        stage = ipt__stage_add(layout, IPT__STAGE_SPREAD, is_rest ? 1 : number, is_rest ? rest : height, cols, 1);
        stage->last_first = up;
        for (side = 0; side < 2; ++side) {
            stage->as.spread.distance[side] = distances[side];
            stage->as.spread.before[side] = is_rest ? number * height * distances[side] : 0;
        }
    }
}

/* Chooses the stages for rows with gaps. */
static ipt_result ipt__layout_choose_pitched(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const int transposed = ipt__moves[desc->move].transposed;
    const size_t from = ipt__source_row(problem), to = ipt__result_row(problem);
    ipt_result result;
    ipt__layout chip;
    int on_chip;
    if (!transposed || desc->rows == 1 || desc->cols == 1) {
        /* A transposed vector is a row on one side, and on the other one single elements on rows of their own. */
        const size_t shape[2] = {transposed ? desc->rows * desc->cols : desc->rows, transposed ? 1 : desc->cols};
        const size_t distances[2] = {transposed && desc->rows == 1 ? problem->element_units : from,
                                     transposed && desc->cols == 1 ? problem->element_units : to};
        if (distances[0] != distances[1])
            ipt__layout_add_spread(problem, layout, shape, distances, budget);
        ipt__layout_finish(problem, layout, budget);
        return IPT_SUCCESS;
    }
    if (desc->rows == desc->cols && from == to && desc->sequence != IPT_SEQUENCE_EXCHANGE) {
        ipt__stage_add(layout, IPT__STAGE_SWAP, 1, desc->rows, desc->cols, 1);
        ipt__layout_finish(problem, layout, budget);
        if (ipt__problem_swaps(problem) || ipt__layout_reverses(layout) >= 0 || desc->sequence != IPT_SEQUENCE_AUTO)
            return IPT_SUCCESS;
        if (ipt__layout_on_chip(problem, &chip, budget) && chip.workspace <= budget)
            *layout = chip;
        else
            ipt__layout_try_bands(problem, layout, budget);
        return IPT_SUCCESS;
    }
    on_chip = desc->sequence == IPT_SEQUENCE_AUTO && ipt__layout_on_chip(problem, &chip, budget);
    if (on_chip && chip.workspace <= budget) {
        *layout = chip;
        return IPT_SUCCESS;
    }
    result = ipt__layout_exchange_forced(problem, layout, budget);
    if (!result && on_chip && ipt__layout_better(&chip, layout, budget)) /* neither fits, and this one holds less */
        *layout = chip;
    return result;
}

/* True if the model is sure that no two passes are faster than these bands. */
static int ipt__bands_are_best(const ipt__problem *problem, const ipt__layout *bands, size_t budget)
{
    return bands->workspace <= budget && bands->cost < IPT__TWO_PASSES * ipt__batch_bytes(problem);
}

/* Two passes are a search of up to 2048 lengths, so bands that are better than any of them come first. */
static IPT__RARE void ipt__layout_bands_or_two_pass(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    ipt__layout bands;
    const int found = ipt__layout_best_bands(problem, &bands, budget, 0, ~(size_t)0);
    if (found && ipt__bands_are_best(problem, &bands, budget)) {
        *layout = bands;
        return;
    }
    ipt__layout_best_two_pass(problem, layout, budget, 0, IPT__SUPER_BYTES);
    if (found && ipt__layout_better(&bands, layout, budget))
        *layout = bands;
}

/* One stage that moves whole matrices, by the desc's kernel. */
static ipt_result ipt__layout_one_stage(const ipt__problem *problem, ipt__layout *layout, ipt__stage_kind kind,
                                        size_t budget)
{
    const ipt_result result =
        ipt__stage_force(problem, ipt__stage_add(layout, kind, 1, problem->desc.rows, problem->desc.cols, 1));
    ipt__layout_finish(problem, layout, budget);
    return result;
}

/* Chooses a stage that moves whole matrices, on the chip if it can. Returns 0 if two passes or bands are better.
 * *on_chip: `chip` needs more workspace than `budget`. */
static int ipt__layout_choose_whole(const ipt__problem *problem, ipt__layout *layout, size_t budget, ipt__layout *chip,
                                    int *on_chip)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const ipt__grids grids = ipt__grids_of(1, desc->rows, desc->cols, 1);
    const size_t length = ipt__super_length(desc);
    int whole;
    if (desc->rows == 1 || desc->cols == 1) {
        if (desc->batch > 1 && desc->move != IPT_MOVE_TRANSPOSE)
            ipt__stage_add_small(problem, layout, 0);
        ipt__layout_finish(problem, layout, budget);
        return 1;
    }
    ipt__stage_add_dense(problem, layout, budget, grids);
    ipt__layout_finish(problem, layout, budget);
    if (ipt__takes_pairs(problem, &grids) && desc->move == IPT_MOVE_TRANSPOSE && !desc->expression &&
        layout->workspace <= budget)
        return 1;
    whole = layout->stage_count && ipt__stage_traits[layout->stages[0].kind].local;
    if (whole && (length || ipt__problem_swaps(problem) || ipt__layout_reverses(layout) >= 0))
        return 1;
    *on_chip = !length && ipt__layout_on_chip(problem, chip, budget);
    if (*on_chip && chip->workspace <= budget)
        *layout = *chip;
    else if (whole)
        ipt__layout_try_bands(problem, layout, budget);
    else
        return 0;
    return 1;
}

/* Chooses the transposing stages. budget: bytes of workspace, 0 for the minimum. */
static ipt_result ipt__layout_choose_moves(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const int tall = desc->rows >= desc->cols;
    const size_t length = ipt__super_length(desc), long_side = tall ? desc->rows : desc->cols;
    ipt__layout chip;
    int on_chip = 0;
    ipt__layout_begin(layout);
    if (problem->pitched && (desc->sequence != IPT_SEQUENCE_SQUARE || desc->rows == desc->cols))
        return ipt__layout_choose_pitched(problem, layout, budget);
    if (!ipt__moves[desc->move].transposed) {
        if (desc->batch > 1)
            ipt__stage_add_small(problem, layout, 1);
        ipt__layout_finish(problem, layout, budget);
        return IPT_SUCCESS;
    }
    if (desc->sequence == IPT_SEQUENCE_SQUARE && desc->rows != desc->cols)
        return ipt__fail(
            IPT_ERROR_INVALID_ARGUMENT,
            "sequence is square, but rows = %zu and cols = %zu differ: IPT_SEQUENCE_TWO_PASS serves every shape",
            desc->rows, desc->cols);
    if ((desc->sequence == IPT_SEQUENCE_TWO_PASS || desc->sequence == IPT_SEQUENCE_AUTO) && length > long_side)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s = %zu is longer than %s = %zu", tall ? "tile_m" : "tile_n",
                         length, tall ? "rows" : "cols", long_side);
    switch (desc->sequence) {
    case IPT_SEQUENCE_AUTO:
#ifndef IPT_NO_PAPERS
        if (desc->variant_010 && desc->rows > 1 && desc->cols > 1)
            return ipt__layout_one_stage(problem, layout, IPT__STAGE_TILE, budget);
#endif
        if (ipt__layout_choose_whole(problem, layout, budget, &chip, &on_chip))
            return IPT_SUCCESS;
        break;
    case IPT_SEQUENCE_SQUARE:
        if (desc->rows > 1)
            return ipt__layout_one_stage(problem, layout, IPT__STAGE_SWAP, budget);
        ipt__layout_finish(problem, layout, budget);
        return IPT_SUCCESS;
    case IPT_SEQUENCE_EXCHANGE:
        return ipt__layout_exchange_forced(problem, layout, budget);
    case IPT_SEQUENCE_TWO_PASS:
        break;
    default:
#ifndef IPT_NO_PAPERS
        return ipt__layout_sequence(problem, layout, budget);
#else
        break;
#endif
    }
    if (length)
        ipt__layout_of_length(problem, layout, length, budget);
    else if (desc->sequence == IPT_SEQUENCE_AUTO)
        ipt__layout_bands_or_two_pass(problem, layout, budget);
    else
        ipt__layout_best_two_pass(problem, layout, budget, 0, IPT__SUPER_BYTES);
    if (on_chip && ipt__layout_better(&chip, layout, budget)) /* neither fits, and this one holds less */
        *layout = chip;
    return IPT_SUCCESS;
}

#ifdef IPT_NO_PAPERS

static ipt_result ipt__layout_choose(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    return ipt__layout_choose_moves(problem, layout, budget);
}

#else

/* Appends a stage that changes the row stride of `rows` rows of `length` elements. */
static void ipt__stage_add_pad(ipt__layout *layout, size_t rows, size_t length, size_t from, size_t to)
{
    ipt__stage *const stage = ipt__stage_add(layout, IPT__STAGE_PAD, 1, rows, 1, length);
    stage->as.pad_stride = from;
    stage->row_stride = to;
}

/* Chooses all stages, including the padding stages of IPT_PAD. */
static ipt_result ipt__layout_choose(const ipt__problem *problem, ipt__layout *layout, size_t budget)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const size_t rows = desc->rows - problem->pad_rows, cols = desc->cols - problem->pad_cols;
    ipt__layout moves;
    ipt_result result;
    int i;
    if (desc->from || desc->to)
        return ipt__layout_convert(problem, layout, budget);
    result = ipt__layout_choose_moves(problem, layout, budget);
    if (result || (!problem->pad_rows && !problem->pad_cols))
        return result;
    moves = *layout;
    ipt__layout_begin(layout);
    if (problem->pad_cols && rows > 1)
        ipt__stage_add_pad(layout, rows, cols, cols, desc->cols);
    for (i = 0; i < moves.stage_count; ++i)
        layout->stages[layout->stage_count++] = moves.stages[i];
    if (problem->pad_rows && cols > 1)
        ipt__stage_add_pad(layout, cols, rows, desc->rows, rows);
    ipt__layout_finish(problem, layout, budget);
    return IPT_SUCCESS;
}

#endif

/* Adds epilogue stages for the plan's move and expression. The first stage that handles every element exactly once
 * applies the expression. If there is none, a MAP stage is added. The SAVE stage applies it to the elements that WAVE
 * skips. */
static void ipt__layout_add_epilogue(const ipt__problem *problem, ipt__layout *layout)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const ipt__move *const move = &ipt__moves[desc->move];
    const int reverses = ipt__layout_reverses(layout);
    int i, by;
    if (layout->has_epilogue)
        return;
    layout->has_epilogue = 1;
    if (reverses >= 0) {
        layout->stages[reverses].reversed_rows = move->reversed_rows;
        layout->stages[reverses].reversed_cols = move->reversed_cols;
    } else if (move->reversed_rows || move->reversed_cols) {
        ipt__stage *const flip = ipt__stage_add(layout, IPT__STAGE_FLIP, 1, move->transposed ? desc->cols : desc->rows,
                                                move->transposed ? desc->rows : desc->cols, 1);
        flip->reversed_rows = move->reversed_rows;
        flip->reversed_cols = move->reversed_cols;
        if (!ipt__flip_pairs(flip))
            --layout->stage_count;
    }
    if (!desc->expression)
        return;
    for (by = 0; by < layout->stage_count && !(ipt__stage_traits[layout->stages[by].kind].applies & 1); ++by)
        ;
    if (by == layout->stage_count)
        ipt__stage_add(layout, IPT__STAGE_MAP, 1, desc->rows, desc->cols, 1);
    layout->stages[by].apply = 1;
    for (i = 0; i < layout->stage_count; ++i)
        if (ipt__stage_traits[layout->stages[i].kind].applies & 2 && !layout->stages[i].straight)
            layout->stages[i].apply = 1;
}
