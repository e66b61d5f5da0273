/* Arrays that move in one pass, whatever their permutation: by boxes, or as a matrix with permuted columns. */

#ifndef IPT_NO_BOXES
/* Whether the device may permute whole arrays: work-groups wait for one another. */
static int ipt__moves_at_once(const ipt__limits *limits, const ipt_plan_desc *desc)
{
    return (limits->cpu ? limits->memory_model == 3 : limits->cooperative) && !desc->max_device_memory &&
           !desc->max_host_memory && !(desc->flags & (IPT_OUT_OF_PLACE | IPT_NO_COOPERATIVE));
}

/* What the costs of ways depend on. */
typedef struct ipt__axes_means {
    const ipt__limits *limits;
    const ipt_plan_desc *desc;
    size_t memory; /* bytes through which arrays go in pieces, see ipt__pieces_memory; 0: they are on the device */
} ipt__axes_means;

/* The cost of a pass that takes arrays whole, or by panels of permuted columns, through memory: see
 * ipt__pass_cost_stored. 0: neither fits. columns: elements of a panel's row; 0: the arrays have no permuted columns.
 * Short super-elements take a further pass over a storage. Runs that are too short for the bus take longer than two
 * passes; a band's runs are twice as long as a panel's. */
static IPT__RARE double ipt__whole_cost_stored(const ipt__axes_means *means, const ipt__pass *pass, size_t columns)
{
    const ipt_plan_desc *const desc = means->desc;
    const double bytes = ipt__real(pass->rows) * ipt__real(pass->cols) * ipt__real(pass->elem_size),
                 run = (double)means->memory / ipt__real(IPT__STORED_ROOM) / ipt__real(ipt__max(columns, 1));
    const size_t arrays = pass->batch * ipt__max(desc->batch, 1), most = IPT__CUT_SLOTS,
                 chunks = desc->max_host_memory ? ipt__min(arrays, most) : most,
                 least = desc->max_host_memory ? IPT__CUT_RUN_BYTES : IPT__BUS_RUN_BYTES / 2;
    const int times = ipt__real(chunks) * bytes <= (double)means->memory              ? 1
                      : !columns || run < ipt__real(ipt__max(pass->elem_size, least)) ? 0
                      : desc->max_host_memory && run < (double)IPT__CUT_STORED_WANTED ? 3
                                                                                      : 2;
    return bytes * ipt__real(pass->batch) * times;
}

/* The length of a first axis that stays; 1: it moves. */
static size_t ipt__array_batch(const ipt__array *array)
{
    return array->goal[0] ? 1 : array->lengths[0];
}

/* Takes a joined array as one that moves at once: by boxes on the device. A first axis that stays makes a batch.
 * Returns the cost; 0: it does not. */
static IPT__RARE double ipt__whole_boxes(const ipt__axes_means *means, const ipt__array *joined, ipt__array *whole,
                                         ipt__pass *pass)
{
    const ipt__limits *const limits = means->limits;
    const size_t batch = ipt__array_batch(joined);
    int i;
    *whole = *joined;
    memset(pass, 0, sizeof *pass);
    if (batch > 1) {
        whole->elements /= batch;
        --whole->count;
        for (i = 0; i < whole->count; ++i) {
            whole->lengths[i] = joined->lengths[i + 1];
            whole->goal[i] = (unsigned char)(joined->goal[i + 1] - 1);
        }
    }
    pass->batch = batch;
    pass->rows = 1;
    pass->cols = whole->elements;
    pass->elem_size = joined->elem_size;
    if (means->memory)
        return ipt__whole_cost_stored(means, pass, 0);
    return !limits->cpu && joined->count > 1 && whole->elements * joined->elem_size <= IPT__ON_CHIP_BYTES
               ? ipt__real(joined->elements) * ipt__real(joined->elem_size) / ipt__boxes_speed(limits, whole, batch)
               : 0;
}

/* The cost of a matrix with permuted columns on a CPU: by waves, whose slab fills the workspace. */
static double ipt__columns_cost_waves(const ipt__limits *limits, const ipt_plan_desc *desc, const ipt__array *columns,
                                      const ipt__pass *pass)
{
    const ipt__tuning *const model = ipt__tuning_of(limits);
    const size_t bytes = pass->rows * pass->cols * pass->elem_size,
                 budget = ipt__desc_budget(desc, bytes * pass->batch * ipt__max(desc->batch, 1));
    const size_t bands = ipt__ceil_divide(bytes, ipt__max(1, budget)), run = bytes / columns->elements / bands;
    const double step = bands == 1 ? model->shared_step : model->columns_step; /* caches hold a single band */
    return run ? (model->shared + step / ipt__real(run)) * ipt__real(bytes) * ipt__real(pass->batch) : 0;
}

/* The cost of a matrix with permuted columns. Bands fill two thirds of the local memory of all work-groups. */
static double ipt__columns_cost(const ipt__limits *limits, const ipt__array *columns, const ipt__pass *pass)
{
    const ipt__tuning *const model = ipt__tuning_of(limits);
    const size_t row = columns->elements * pass->elem_size, bytes = pass->rows * pass->cols * pass->elem_size;
    const size_t bands =
        ipt__ceil_divide(bytes, limits->compute_units * IPT__BAND_CHUNK_BYTES * IPT__BAND_GROUPS / 3 * 2);
    const size_t unit = ipt__unit_bytes(pass->elem_size);
    const double run = ipt__real(bytes / row / bands * pass->elem_size);
    const double share = (columns->columns == 1 ? model->pass_columns : model->pass_rows) * run /
                         (run + (double)IPT__PASS_COLUMNS_LOST) *
                         (unit < IPT__WORD_BYTES                                       ? ipt__real(unit) / 4
                          : pass->elem_size > unit && pass->elem_size < IPT__PASS_LONG ? model->pass_columns_units
                                                                                       : 1);
    return run >= (double)IPT__PASS_COLUMNS_LOST ? ipt__real(bytes) * ipt__real(pass->batch) / share : 0;
}

/* Takes a joined array as a matrix with permuted columns: its first axis becomes the last one, or its last one the
 * first one. Axes before and after these stay. Returns the cost; 0: there is no such axis, or runs are too short. */
static IPT__RARE double ipt__whole_columns(const ipt__axes_means *means, const ipt__array *joined, ipt__array *columns,
                                           ipt__pass *pass)
{
    const ipt__limits *const limits = means->limits;
    const int first = !joined->goal[0], last = joined->count - 1;
    const int end = joined->goal[last] == last ? last : last + 1; /* of the axes that move */
    const size_t before = joined->lengths[first], after = joined->lengths[end - 1];
    const int tall = joined->goal[first] == end - 1, wide = joined->goal[end - 1] == first;
    const int takes_first = tall && (!wide || 2 * before >= after); /* columns of the source are the faster way */
    int i;
    memset(columns, 0, sizeof *columns);
    memset(pass, 0, sizeof *pass);
    if (end - first < 3 || (!tall && !wide) || (!limits->memory_model && !means->memory) ||
        (means->desc->expression && end == last))
        return 0;
    columns->columns = takes_first ? 1 : 2;
    columns->elem_size = pass->elem_size = joined->elem_size * (end == last ? joined->lengths[last] : 1);
    columns->elements = 1;
    for (i = takes_first ? first + 1 : first; i < (takes_first ? end : end - 1); ++i) {
        columns->lengths[columns->count] = joined->lengths[i];
        columns->goal[columns->count++] = (unsigned char)(joined->goal[i] - first - !takes_first);
        columns->elements *= joined->lengths[i];
    }
    pass->batch = first ? joined->lengths[0] : 1;
    pass->rows = takes_first ? before : columns->elements;
    pass->cols = takes_first ? columns->elements : after;
    if (means->memory)
        return ipt__whole_cost_stored(means, pass, columns->elements);
    return limits->cpu ? ipt__columns_cost_waves(limits, means->desc, columns, pass)
                       : ipt__columns_cost(limits, columns, pass);
}
#endif
