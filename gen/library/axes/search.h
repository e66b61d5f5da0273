/* Arrays of several axes: the list of passes that permutes them. A pass exchanges two neighbouring groups of axes. The
 * axes before the groups form a batch, the axes after them an element. So a pass is a batch of transpositions. Three
 * axes need at most 2 passes, four and five 3, six and seven 4, eight 5 (found by counting all permutations).
 *
 * A double pass also transposes each element, whose axes begin with two more groups. With double passes, four axes need
 * at most 2 passes, if the elements fit local memory. */

enum { IPT__AXES_FREE = 5 }; /* arrays of up to 5 axes are cut anywhere; one pass more than the fewest is also tried */
enum { IPT__AXES_KEPT = 8 }; /* more axes: as many lists of each length are extended */

typedef struct ipt__axes_search {
    const ipt__limits *limits;
    size_t memory; /* bytes through which arrays go in pieces, see ipt__pieces_memory; 0: they are on the device */
    int doubles;   /* double passes are possible */
    const ipt__array *array;
    int most; /* passes */
    ipt__pass passes[IPT__MOST_PASSES], best[IPT__MOST_PASSES];
    int best_count;   /* -1: none yet */
    double best_cost; /* bytes that a copy would move in the same time */
} ipt__axes_search;

/* The cost of a pass through memory: the bytes that are read and written. Matrices that fit memory are read and written
 * once, others twice. If memory is too small for a panel's rows, no plan is possible. */
static double ipt__pass_cost_stored(size_t memory, const ipt__pass *pass)
{
    const double instance = ipt__real(pass->rows) * ipt__real(pass->cols) * ipt__real(pass->elem_size);
    const double panels =
        ipt__real(ipt__max(pass->elem_size, IPT__CUT_RUN_BYTES)) * ipt__real(ipt__min(pass->rows, pass->cols));
    return instance * ipt__real(pass->batch) *
           (ipt__real(IPT__STORED_ROOM) * instance <= (double)memory ? 1
            : ipt__real(IPT__STORED_ROOM) * panels <= (double)memory ? 2
                                                                     : IPT__STORED_NEVER);
}

/* Whether the axis at `right` follows the one at `left` in the result. Both ends of the sequence count as axes. */
static int ipt__axes_follow(const unsigned char *order, int count, int left, int right)
{
    return (left >= 0 ? order[left] : -1) + 1 == (right < count ? order[right] : count);
}

/* Whether the axes at `at` - 1 and `at` are not neighbours in the result. */
static int ipt__axes_break(const unsigned char *order, int count, int at)
{
    return !ipt__axes_follow(order, count, at - 1, at);
}

/* The number of breaks in a sequence. A pass removes at most three, a double pass five. */
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

/* A sequence of axes, and their lengths. */
typedef struct ipt__axes_order {
    unsigned char goal[IPT_MAX_RANK];
    size_t lengths[IPT_MAX_RANK];
} ipt__axes_order;

/* Axes [begin, middle) and [middle, end) change places. */
static void ipt__axes_exchange(ipt__axes_order *order, int begin, int middle, int end)
{
    const ipt__axes_order before = *order;
    const size_t first = (size_t)(middle - begin), second = (size_t)(end - middle);
    memcpy(order->goal + begin, before.goal + middle, second);
    memcpy(order->goal + begin + second, before.goal + begin, first);
    memcpy(order->lengths + begin, before.lengths + middle, second * sizeof *before.lengths);
    memcpy(order->lengths + begin + second, before.lengths + begin, first * sizeof *before.lengths);
}

/* Where a pass cuts the axes: [begin, middle) and [middle, end) change places. A double pass also exchanges
 * [end, inner_middle) and [inner_middle, inner_end); else both are `end`. */
typedef struct ipt__axes_cuts {
    int begin, middle, end, inner_middle, inner_end;
} ipt__axes_cuts;

/* Advances to the next cuts of an inner exchange. Returns 0 if no cuts are left. */
static int ipt__axes_next_inner(ipt__axes_cuts *cuts, int count)
{
    if (cuts->inner_end == count || cuts->inner_middle == cuts->end)
        cuts->inner_end = ++cuts->inner_middle;
    return ++cuts->inner_end <= count;
}

static ipt__pass ipt__axes_pass(const ipt__axes_search *search, const ipt__axes_order *order,
                                const ipt__axes_cuts *cuts)
{
    const int twice = cuts->inner_end > cuts->end;
    ipt__pass pass;
    pass.batch = ipt__axes_product(order->lengths, 0, cuts->begin);
    pass.rows = ipt__axes_product(order->lengths, cuts->begin, cuts->middle);
    pass.cols = ipt__axes_product(order->lengths, cuts->middle, cuts->end);
    pass.elem_size = ipt__axes_product(order->lengths, cuts->end, search->array->count) * search->array->elem_size;
    pass.inner_rows = twice ? ipt__axes_product(order->lengths, cuts->end, cuts->inner_middle) : 0;
    pass.inner_cols = twice ? ipt__axes_product(order->lengths, cuts->inner_middle, cuts->inner_end) : 0;
    return pass;
}

/* The breaks that a pass removes if it cuts only at breaks, else -1. */
static int ipt__axes_joins(const unsigned char *order, const ipt__axes_cuts *cuts, int count)
{
    if (!ipt__axes_break(order, count, cuts->begin) || !ipt__axes_break(order, count, cuts->middle) ||
        !ipt__axes_break(order, count, cuts->end))
        return -1;
    return ipt__axes_follow(order, count, cuts->begin - 1, cuts->middle) +
           ipt__axes_follow(order, count, cuts->end - 1, cuts->begin) +
           ipt__axes_follow(order, count, cuts->middle - 1, cuts->end);
}

/* Whether a pass may be a double one. */
static int ipt__axes_doubles(const ipt__axes_search *search, const ipt__pass *pass)
{
    return IPT__PAPERS && search->doubles && pass->elem_size <= IPT__DOUBLE_ELEMENT &&
           2 * ipt__held_units(pass->elem_size, 2) + 16 <= search->limits->local_memory;
}

/* The cost of a pass on the device, or through `memory` bytes. */
static double ipt__axes_cost(const ipt__limits *limits, size_t memory, const ipt__pass *pass)
{
    return memory ? ipt__pass_cost_stored(memory, pass) : ipt__pass_cost(limits, pass);
}

/* Searches for the cheapest list of passes that starts with this sequence. */
static void ipt__axes_search_from(ipt__axes_search *search, const ipt__axes_order *order, int depth, double cost)
{
    const int count = search->array->count, joins = search->doubles ? 5 : 3;
    const int breaks = ipt__axes_breaks(order->goal, count), least = (breaks + joins - 1) / joins;
    const double bytes = ipt__real(search->array->elements) * ipt__real(search->array->elem_size);
    ipt__axes_cuts cuts;
    if ((search->best_count >= 0 && cost + least * bytes >= search->best_cost) || depth + least > search->most)
        return;
    if (!breaks) {
        search->best_count = depth;
        search->best_cost = cost;
        memcpy(search->best, search->passes, sizeof search->best);
        return;
    }
    for (cuts.begin = 0; cuts.begin < count; ++cuts.begin)
        for (cuts.middle = cuts.begin + 1; cuts.middle < count; ++cuts.middle)
            for (cuts.end = cuts.middle + 1; cuts.end <= count; ++cuts.end) {
                ipt__pass *const pass = &search->passes[depth];
                ipt__axes_order exchanged = *order;
                ipt__axes_exchange(&exchanged, cuts.begin, cuts.middle, cuts.end);
                cuts.inner_middle = cuts.inner_end = cuts.end;
                do {
                    ipt__axes_order next = exchanged;
                    *pass = ipt__axes_pass(search, order, &cuts);
                    ipt__axes_exchange(&next, cuts.end, cuts.inner_middle, cuts.inner_end);
                    ipt__axes_search_from(search, &next, depth + 1,
                                          cost + ipt__axes_cost(search->limits, search->memory, pass));
                } while (ipt__axes_doubles(search, pass) && ipt__axes_next_inner(&cuts, count));
            }
}

/* A list of passes, and the sequence of axes after them. */
typedef struct ipt__axes_list {
    ipt__axes_order order;
    double cost, least; /* least: with the fewest passes that the sequence can still need */
    ipt__pass passes[IPT__MOST_PASSES];
} ipt__axes_list;

/* The best lists of one length, the best one first. */
typedef struct ipt__axes_lists {
    int count;
    ipt__axes_list items[IPT__AXES_KEPT];
} ipt__axes_lists;

/* The fewest passes that can sort a sequence (Bafna and Pevzner 1998). Each place leads to that of the axis which
 * should follow the axis before the place. A pass adds at most two cycles of odd length. Only a sorted sequence has a
 * cycle for each place. */
static int ipt__axes_least(const unsigned char *order, int count)
{
    int place[IPT_MAX_RANK + 1], at, first, odd = 0;
    unsigned seen = 0;
    for (at = 0; at < count; ++at)
        place[order[at]] = at;
    place[count] = count;
    for (first = 0; first <= count; ++first) {
        int length = 0;
        for (at = first; !(seen >> at & 1); at = place[at ? order[at - 1] + 1 : 0], ++length)
            seen |= 1u << at;
        odd += length & 1;
    }
    return (count + 1 - odd) / 2;
}

/* Keeps a list if it is among the best ones. Of lists that lead to one sequence, the best one stays. */
static void ipt__axes_keep(ipt__axes_lists *lists, const ipt__axes_list *list)
{
    int i = 0;
    while (i < lists->count && memcmp(lists->items[i].order.goal, list->order.goal, sizeof list->order.goal) != 0)
        ++i;
    if (i == lists->count && i < IPT__AXES_KEPT)
        ++lists->count;
    else if (lists->items[i -= i == IPT__AXES_KEPT].least <= list->least)
        return;
    for (; i > 0 && lists->items[i - 1].least > list->least; --i)
        lists->items[i] = lists->items[i - 1];
    lists->items[i] = *list;
}

/* Extends a list of `depth` passes by passes that cut only at breaks. A pass can always remove a break: it moves the
 * first axis that is not at its place there, with the axes that follow it. The last pass removes three. So IPT_MAX_RANK
 * - 1 passes suffice, and a list may take a pass that removes none while the others remain enough. */
static void ipt__axes_extend(const ipt__axes_search *search, const ipt__axes_list *from, int depth,
                             ipt__axes_lists *lists)
{
    const int count = search->array->count, breaks = ipt__axes_breaks(from->order.goal, count);
    const double bytes = ipt__real(search->array->elements) * ipt__real(search->array->elem_size);
    ipt__axes_list next = *from;
    ipt__axes_cuts cuts;
    for (cuts.begin = 0; cuts.begin < count; ++cuts.begin)
        for (cuts.middle = cuts.begin + 1; cuts.middle < count; ++cuts.middle)
            for (cuts.end = cuts.middle + 1; cuts.end <= count; ++cuts.end) {
                const int removed = ipt__axes_joins(from->order.goal, &cuts, count);
                if (removed < 0 || depth + breaks - removed > IPT__MOST_PASSES + 1)
                    continue;
                next.order = from->order;
                ipt__axes_exchange(&next.order, cuts.begin, cuts.middle, cuts.end);
                cuts.inner_middle = cuts.inner_end = cuts.end;
                next.passes[depth] = ipt__axes_pass(search, &from->order, &cuts);
                next.cost = from->cost + ipt__axes_cost(search->limits, search->memory, &next.passes[depth]);
                next.least = next.cost + bytes * ipt__axes_least(next.order.goal, count);
                ipt__axes_keep(lists, &next);
            }
}

/* Searches among a few lists of each length, and takes the first one that sorts the axes. */
static void ipt__axes_search_few(ipt__axes_search *search, const ipt__axes_order *order)
{
    ipt__axes_lists lists[2];
    int depth, i;
    memset(lists, 0, sizeof lists);
    lists[0].count = 1;
    lists[0].items[0].order = *order;
    for (depth = 0; search->best_count < 0; ++depth) {
        const ipt__axes_lists *const from = &lists[depth % 2];
        ipt__axes_lists *const to = &lists[(depth + 1) % 2];
        for (i = 0; i < from->count && search->best_count < 0; ++i)
            if (!ipt__axes_breaks(from->items[i].order.goal, search->array->count)) {
                search->best_count = depth;
                search->best_cost = from->items[i].cost;
                memcpy(search->best, from->items[i].passes, sizeof search->best);
            }
        to->count = 0;
        for (i = 0; i < from->count && search->best_count < 0; ++i)
            ipt__axes_extend(search, &from->items[i], depth, to);
    }
}

/* Joins axes that are neighbours both in the source and in the result. */
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

/* Writes the cheapest list of passes. Returns their number; 0: nothing moves. memory: see ipt__axes_search. doubles:
 * double passes are possible. Up to IPT__AXES_FREE axes are not joined: two passes over neighbouring axes can take less
 * time than one pass over the joined axis. */
static IPT__RARE int ipt__axes_find_passes(const ipt__limits *limits, size_t memory, int doubles, ipt__array *array,
                                           ipt__pass passes[IPT__MOST_PASSES], double *cost)
{
    ipt__axes_search search;
    ipt__axes_order order;
    if (array->count > IPT__AXES_FREE)
        ipt__axes_join(array);
    memset(&search, 0, sizeof search);
    search.limits = limits;
    search.memory = memory;
    search.doubles = doubles && array->count <= IPT__AXES_FREE;
    search.array = array;
    search.best_count = -1;
    memcpy(order.goal, array->goal, sizeof order.goal);
    memcpy(order.lengths, array->lengths, sizeof order.lengths);
    if (array->count > IPT__AXES_FREE)
        ipt__axes_search_few(&search, &order);
    for (search.most = 0; search.best_count < 0 && search.most < IPT__MOST_PASSES; ++search.most)
        ipt__axes_search_from(&search, &order, 0, 0);
    if (search.best_count > 0 && array->count <= IPT__AXES_FREE) /* again, with one pass more */
        ipt__axes_search_from(&search, &order, 0, 0);
    memcpy(passes, search.best, sizeof search.best);
    *cost = search.best_cost;
    return search.best_count;
}
