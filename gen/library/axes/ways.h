/* The ways in which arrays move by one pass or two. With two passes, boxes permute all axes but one, and the other pass
 * transposes. Then only the arrays without that axis need to fit the local memory of all work-groups. */

#ifndef IPT_NO_BOXES
typedef enum ipt__axes_way_kind {
    IPT__WAY_BOXES,
    IPT__WAY_COLUMNS,     /* as a matrix with permuted columns */
    IPT__WAY_BOXES_FIRST, /* then a transposition */
    IPT__WAY_BOXES_LAST,
    IPT__WAYS
} ipt__axes_way_kind;

typedef struct ipt__axes_way {
    ipt__array whole;    /* what pass `at` permutes */
    ipt__pass passes[3]; /* the last one may apply an expression */
    int count, at;
    double cost; /* as of passes; 0: impossible */
} ipt__axes_way;

/* Takes a joined array as two passes. boxes_first: the boxes leave out the array's first axis, which the second pass
 * brings to its place; else the first pass brings the result's first axis to its place, and the boxes leave it out. A
 * first axis that stays makes a batch. Returns the cost; 0: the arrays do not fit. */
static double ipt__boxes_and_matrix(const ipt__axes_means *means, const ipt__array *joined, int boxes_first,
                                    ipt__array *whole, ipt__pass passes[2])
{
    const int first = !joined->goal[0], outer = boxes_first ? first : ipt__axis_at(joined->goal, first);
    const size_t batch = first ? joined->lengths[0] : 1;
    ipt__pass *const matrix = &passes[boxes_first];
    ipt__array inner;
    double cost;
    int i;
    memset(&inner, 0, sizeof inner);
    memset(matrix, 0, sizeof *matrix);
    inner.elements = joined->elements;
    inner.elem_size = matrix->elem_size = joined->elem_size;
    inner.lengths[0] = batch * joined->lengths[outer];
    inner.count = 1;
    matrix->batch = batch;
    matrix->rows = matrix->cols = 1;
    *(boxes_first ? &matrix->rows : &matrix->cols) = joined->lengths[outer];
    for (i = first; i < joined->count; ++i) {
        const int behind = boxes_first ? joined->goal[i] > joined->goal[outer] : i > outer;
        if (i == outer)
            continue;
        *(behind ? &matrix->elem_size : boxes_first ? &matrix->cols : &matrix->rows) *= joined->lengths[i];
        inner.lengths[inner.count] = joined->lengths[i];
        inner.goal[inner.count++] =
            (unsigned char)(joined->goal[i] + 1 - first - (joined->goal[i] > joined->goal[outer]));
    }
    ipt__axes_join(&inner);
    cost = ipt__whole_boxes(means, &inner, whole, &passes[!boxes_first]);
    return cost > 0 ? cost + ipt__axes_cost(means->limits, means->memory, matrix) : 0;
}

/* Takes a joined array in a way. */
static void ipt__axes_way_find(const ipt__axes_means *given, const ipt__array *joined, ipt__axes_way_kind kind,
                               ipt__axes_way *way)
{
    ipt__axes_means own = *given;
    const ipt__axes_means *const means = &own;
    memset(way, 0, sizeof *way);
    way->count = kind == IPT__WAY_BOXES || kind == IPT__WAY_COLUMNS ? 1 : 2;
    way->at = kind == IPT__WAY_BOXES_LAST;
    if (!own.desc->max_host_memory)
        own.memory /= (size_t)way->count; /* passes divide the device's memory */
    if (joined->count < 2)
        return;
    way->cost = kind == IPT__WAY_BOXES     ? ipt__whole_boxes(means, joined, &way->whole, way->passes)
                : kind == IPT__WAY_COLUMNS ? ipt__whole_columns(means, joined, &way->whole, way->passes)
                                           : ipt__boxes_and_matrix(means, joined, !way->at, &way->whole, way->passes);
    if (way->whole.count > IPT__KERNEL_AXES)
        way->cost = 0;
}
#endif
