/* Arrays of several axes: the list of passes that permutes them. A pass exchanges two neighbouring groups of axes. What
 * lies before them is a batch, what follows them an element. So a pass is a batch of transpositions. Three axes
 * need at most 2 passes, four and five 3, six and seven 4, eight 5 (counted over all permutations). */

enum { IPT__AXES_FREE = 5 }; /* so few axes may be cut anywhere, and have one pass more than the fewest */

/* A batch of matrices, without gaps. */
typedef struct ipt__pass {
    size_t batch, rows, cols, elem_size; /* elem_size: bytes */
} ipt__pass;

/* The axes of more than one element, in their sequence in memory. */
typedef struct ipt__array {
    int count;
    size_t lengths[IPT_MAX_RANK];
    unsigned char goal[IPT_MAX_RANK]; /* of each axis: its place in the result */
    size_t elem_size, elements;
} ipt__array;

typedef struct ipt__axes_search {
    const ipt__limits *limits;
    size_t host_memory; /* of a storage; 0: not in one */
    const ipt__array *array;
    int most; /* passes */
    ipt__pass passes[IPT__MOST_PASSES], best[IPT__MOST_PASSES];
    int best_count;   /* -1: none yet */
    double best_cost; /* bytes that a copy would move in the same time */
} ipt__axes_search;

/* Shares of the copy's speed, as an H200 moved arrays of 25 MB to 1.3 GB. Whole instances in local memory: 0.92 (4096
 * of 56 x 56 floats). Instances of long elements: 0.75 (700 x 800 of 2400 bytes, 64 of 3 x 224 of 448). Instances with
 * a short side: 0.38 (64 of 3 x 50176 floats). One large instance 0.58, one on the chip 0.72 (192 x 50176 floats),
 * several 0.52 (192 of 1024 x 64 floats). */
static double ipt__pass_cost(const ipt__limits *limits, const ipt__pass *pass)
{
    const size_t instance = pass->rows * pass->cols * pass->elem_size;
    const double bytes = (double)instance * (double)pass->batch;
    if (instance <= ipt__local_budget(limits))
        return bytes / 0.92;
    if (pass->elem_size >= 256)
        return bytes / 0.75;
    if (ipt__min(pass->rows, pass->cols) * pass->elem_size < 128)
        return bytes / 0.38;
    if (pass->batch > 1)
        return bytes / 0.52;
    return bytes / (instance <= IPT__ON_CHIP_BYTES ? 0.72 : 0.58);
}

/* In a storage only its bytes count. Matrices of which some fit memory are read and written once, others twice. Panels
 * need memory for rows of elements: without it, no plan is made. */
static double ipt__pass_cost_stored(size_t host_memory, const ipt__pass *pass)
{
    const double instance = (double)pass->rows * (double)pass->cols * (double)pass->elem_size;
    const double panels = (double)ipt__max(pass->elem_size, 64) * (double)ipt__min(pass->rows, pass->cols);
    return instance * (double)pass->batch *
           (5 * instance <= (double)host_memory ? 1
            : 5 * panels <= (double)host_memory ? 2
                                                : 1000);
}

/* Whether places `at` - 1 and `at` of a sequence do not follow each other in the result. Both ends count. */
static int ipt__axes_break(const unsigned char *order, int count, int at)
{
    const int before = at ? order[at - 1] : -1, after = at < count ? order[at] : count;
    return before + 1 != after;
}

/* Breaks of a sequence. A pass joins at most three. */
static int ipt__axes_breaks(const unsigned char *order, int count)
{
    int at, breaks = 0;
    for (at = 0; at <= count; ++at)
        breaks += ipt__axes_break(order, count, at);
    return breaks;
}

/* The product of lengths [first, end) of a sequence. */
static size_t ipt__axes_product(const size_t *lengths, int first, int end)
{
    size_t product = 1;
    for (; first < end; ++first)
        product *= lengths[first];
    return product;
}

/* Finds the cheapest list from a sequence on. lengths: of its axes. */
static void ipt__axes_search_from(ipt__axes_search *search, const unsigned char *order, const size_t *lengths,
                                  int depth, double cost)
{
    const int count = search->array->count, any = count <= IPT__AXES_FREE;
    const int breaks = ipt__axes_breaks(order, count), least = (breaks + 2) / 3;
    const double bytes = (double)search->array->elements * (double)search->array->elem_size;
    int i, j, k;
    if ((search->best_count >= 0 && cost + least * bytes >= search->best_cost) || depth + least > search->most)
        return;
    if (!breaks) {
        search->best_count = depth;
        search->best_cost = cost;
        memcpy(search->best, search->passes, sizeof search->best);
        return;
    }
    for (i = 0; i < count; ++i)
        for (j = i + 1; j < count; ++j)
            for (k = j + 1; k <= count; ++k) {
                ipt__pass *const pass = &search->passes[depth];
                unsigned char next[IPT_MAX_RANK];
                size_t next_lengths[IPT_MAX_RANK];
                if (!any && (!ipt__axes_break(order, count, i) || !ipt__axes_break(order, count, j) ||
                             !ipt__axes_break(order, count, k)))
                    continue;
                memcpy(next, order, sizeof next);
                memcpy(next_lengths, lengths, sizeof next_lengths);
                memcpy(next + i, order + j, (size_t)(k - j));
                memcpy(next + i + (k - j), order + i, (size_t)(j - i));
                if (!any && ipt__axes_breaks(next, count) >= breaks)
                    continue;
                memcpy(next_lengths + i, lengths + j, (size_t)(k - j) * sizeof *lengths);
                memcpy(next_lengths + i + (k - j), lengths + i, (size_t)(j - i) * sizeof *lengths);
                pass->batch = ipt__axes_product(lengths, 0, i);
                pass->rows = ipt__axes_product(lengths, i, j);
                pass->cols = ipt__axes_product(lengths, j, k);
                pass->elem_size = ipt__axes_product(lengths, k, count) * search->array->elem_size;
                ipt__axes_search_from(search, next, next_lengths, depth + 1,
                                      cost + (search->host_memory ? ipt__pass_cost_stored(search->host_memory, pass)
                                                                  : ipt__pass_cost(search->limits, pass)));
            }
}

/* Joins axes that stay together. */
static void ipt__axes_join(ipt__array *array)
{
    int at = 1, i;
    while (at < array->count) {
        const int place = array->goal[at];
        if (array->goal[at - 1] + 1 != place) {
            ++at;
            continue;
        }
        array->lengths[at - 1] *= array->lengths[at];
        --array->count;
        for (i = at; i < array->count; ++i) {
            array->lengths[i] = array->lengths[i + 1];
            array->goal[i] = array->goal[i + 1];
        }
        for (i = 0; i < array->count; ++i)
            array->goal[i] = (unsigned char)(array->goal[i] - (array->goal[i] >= place));
    }
}

/* Returns the number of passes, in their sequence; 0: nothing moves. host_memory: that of a storage, or 0. Few axes are
 * not joined first: two passes of axes that stay together can take less time than one of both. */
static IPT__RARE int ipt__axes_find_passes(const ipt__limits *limits, size_t host_memory, ipt__array *array,
                                           ipt__pass passes[IPT__MOST_PASSES])
{
    ipt__axes_search search;
    if (array->count > IPT__AXES_FREE)
        ipt__axes_join(array);
    memset(&search, 0, sizeof search);
    search.limits = limits;
    search.host_memory = host_memory;
    search.array = array;
    search.best_count = -1;
    for (search.most = 0; search.best_count < 0 && search.most < IPT__MOST_PASSES; ++search.most)
        ipt__axes_search_from(&search, array->goal, array->lengths, 0, 0);
    if (search.best_count > 0 && array->count <= IPT__AXES_FREE) /* most is one more now */
        ipt__axes_search_from(&search, array->goal, array->lengths, 0, 0);
    memcpy(passes, search.best, sizeof search.best);
    return search.best_count;
}
