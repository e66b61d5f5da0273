/* Heuristics of the papers: see >>papers in the manual. */

#ifndef IPT_NO_PAPERS

enum {
    IPT__RANGE_LEAST = 50, /* Sung et al. 2014, section 7.4 */
    IPT__RANGE_MOST = 100,
    IPT__ALGORITHM_1_MOST = 72, /* a tile of 72 x 72 fits the local memory of a K20 */
    /* Gomez-Luna et al. 2016 do not state Min and Max of algorithm 2. Both are excluded. The longest super-element of
     * Fig. 4 serves as Max. Min = 5 then reproduces the paper's counts for random sides in 1,000..20,000: 44.7 % with m
     * or n up to 6 (here 44.6 %), and 58.5 % with m > 4, n > 6 and a tile that fits (58.7 %). */
    IPT__ALGORITHM_2_MIN = 5,
    IPT__ALGORITHM_2_MAX = 2560,
    IPT__ALGORITHM_5_LEAST = 24,
    /* Local memory holds a moving super-element and the next one. A K20's compute unit has 12,288 words for 2,048
     * work-items. It is full with up to 3 words of each super-element per work-item. */
    IPT__WORDS_PER_ITEM = 3,
    IPT__LEAST_VIRTUAL_SIMD = 8,
    IPT__LEAST_GROUP = 128, /* a work-group per super-element: the sizes in Gomez-Luna et al. 2016, Fig. 4b */
    IPT__K20_UNIT_ITEMS = 2048,
    IPT__K20_UNIT_GROUPS = 16,
    IPT__COALESCED_BYTES = 32 /* Ha et al. 2013: the bytes that a device fetches at once */
};

IPT_API const char *ipt_heuristic_string(ipt_heuristic heuristic)
{
    return ipt__name_at(IPT_HEURISTIC_LIST(IPT__NAME_ROW), (int)heuristic, IPT__HEURISTIC_COUNT);
}

/* Most sides fit 32 bits. Division then takes a fraction of the time on many CPUs. */
static int ipt__divides(size_t d, size_t n)
{
    return (cl_ulong)n >> 32 ? n % d == 0 : (cl_uint)n % (cl_uint)d == 0;
}

/* Returns the smallest divisor of n in [first, end), with first at least 1; 0 if there is none. */
static size_t ipt__divisor_between(size_t n, size_t first, size_t end)
{
    size_t d;
    for (d = first; d < end && d <= n; ++d)
        if (ipt__divides(d, n))
            return d;
    return 0;
}

static size_t ipt__divisor_up_to(size_t n, size_t most)
{
    size_t d = ipt__min(n, most);
    while (!ipt__divides(d, n))
        --d;
    return d;
}

static ipt_result ipt__tiles_by_range(size_t rows, size_t cols, size_t local, size_t *tile_m, size_t *tile_n)
{
    const size_t end = IPT__RANGE_MOST + 1;
    const size_t first_m = ipt__divisor_between(rows, IPT__RANGE_LEAST, end);
    const size_t first_n = ipt__divisor_between(cols, IPT__RANGE_LEAST, end);
    size_t m, n;
    if (!first_m || !first_n)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "%s = %zu has no divisor in %d..%d: algorithm 1 takes what there is, algorithm 5 pads",
                         first_m ? "cols" : "rows", first_m ? cols : rows, (int)IPT__RANGE_LEAST, (int)IPT__RANGE_MOST);
    for (m = first_m; m; m = ipt__divisor_between(rows, m + 1, end))
        for (n = first_n; n && m * n < local; n = ipt__divisor_between(cols, n + 1, end))
            if (m * n > *tile_m * *tile_n ||
                (m * n == *tile_m * *tile_n && ipt__min(m, n) > ipt__min(*tile_m, *tile_n))) {
                *tile_m = m;
                *tile_n = n;
            }
    if (*tile_m)
        return IPT_SUCCESS;
    return ipt__fail(IPT_ERROR_UNSUPPORTED,
                     "the smallest tile in range, %zu x %zu, is not below the %zu elements of local memory: algorithms "
                     "2 and 5 try smaller ones",
                     first_m, first_n, local);
}

/* Lists the divisors of n in [first, end), ascending; 1 alone if there are none. Returns their number. */
static IPT__RARE size_t ipt__divisors_within(size_t n, size_t first, size_t end, cl_ushort *found)
{
    size_t count = 0, d;
    for (d = first; d < end && d <= n / d; ++d)
        if (ipt__divides(d, n))
            found[count++] = (cl_ushort)d;
    while (--d > 0) /* the partners of smaller divisors begin where the loop has ended */
        if (n / d < end && n / d >= first && n / d > d && ipt__divides(d, n))
            found[count++] = (cl_ushort)(n / d);
    if (!count)
        found[count++] = 1;
    return count;
}

static void ipt__tiles_by_use(const ipt_heuristic_device *device, size_t rows, size_t cols, size_t local,
                              size_t *tile_m, size_t *tile_n)
{
    const size_t first = IPT__ALGORITHM_2_MIN + 1, end = IPT__ALGORITHM_2_MAX;
    const size_t most = device->unit_groups ? device->unit_groups : (size_t)IPT__K20_UNIT_GROUPS;
    cl_ushort of_rows[IPT__ALGORITHM_2_MAX], of_cols[IPT__ALGORITHM_2_MAX];
    const size_t m_count = ipt__divisors_within(rows, first, end, of_rows);
    const size_t n_count = ipt__divisors_within(cols, first, end, of_cols);
    size_t best = 0, i, j;
    /* The result if no tile fits. */
    *tile_m = of_rows[0];
    *tile_n = of_cols[0];
    for (i = 0; i < m_count; ++i)
        for (j = 0; j < n_count && (size_t)of_rows[i] * of_cols[j] < local; ++j) {
            const size_t tile = (size_t)of_rows[i] * of_cols[j], use = ipt__min(most, local / tile) * tile;
            if (use > best) {
                best = use;
                *tile_m = of_rows[i];
                *tile_n = of_cols[j];
            }
        }
}

static ipt_result ipt__tiles_by_padding(size_t rows, size_t cols, size_t local, size_t tiles[2], size_t pads[2])
{
    const size_t sides[2] = {rows, cols}, least = IPT__ALGORITHM_5_LEAST;
    size_t below = 0, bit; /* the largest number whose square is below `local` */
    int i;
    if (local <= least * least)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "local memory holds %zu elements: algorithm 5 needs more than %zu, algorithms 1 and 2 need "
                         "less",
                         local, least * least);
    for (bit = (size_t)1 << (4 * sizeof bit - 1); bit; bit /= 2)
        if ((below + bit) * (below + bit) < local)
            below += bit;
    for (i = 0; i < 2; ++i) {
        /* The tile takes all of a short side. Any tile of the long side then fits beside it. */
        if (sides[i] <= below) {
            tiles[i] = sides[i];
            continue;
        }
        /* Terminates: a multiple of `least` follows within least - 1 steps. */
        while ((tiles[i] = ipt__divisor_between(sides[i] + pads[i], least, below + 1)) == 0)
            if (sides[i] + ++pads[i] == 0)
                return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s = %zu cannot be padded: algorithms 1 and 2 do not pad",
                                 i ? "cols" : "rows", sides[i]);
    }
    return IPT_SUCCESS;
}

IPT_API ipt_result ipt_heuristic_tiles(ipt_heuristic heuristic, const ipt_heuristic_device *device, size_t rows,
                                       size_t cols, size_t elem_size, size_t *tile_m, size_t *tile_n, size_t *pad_rows,
                                       size_t *pad_cols)
{
    const struct {
        const char *name;
        size_t *result;
    } results[] = {{"tile_m", tile_m}, {"tile_n", tile_n}, {"pad_rows", pad_rows}, {"pad_cols", pad_cols}};
    size_t local, tiles[2] = {0, 0}, pads[2] = {0, 0};
    ipt_result result = IPT_SUCCESS;
    int i;
    for (i = 0; i < 4; ++i)
        if (results[i].result)
            *results[i].result = 0;
    for (i = 0; i < 4; ++i)
        if (!results[i].result)
            return ipt__fail_null(results[i].name);
    if (!device)
        return ipt__fail_null("device");
    if (!device->local_bytes || !rows || !cols || !elem_size)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is 0",
                         !device->local_bytes ? "device->local_bytes"
                         : !rows              ? "rows"
                         : !cols              ? "cols"
                                              : "elem_size");
    local = device->local_bytes / elem_size;
    switch (heuristic) {
    case IPT_HEURISTIC_SEED_000_RANGE:
        result = ipt__tiles_by_range(rows, cols, local, &tiles[0], &tiles[1]);
        break;
    case IPT_HEURISTIC_ALGORITHM_1:
        tiles[0] = ipt__divisor_up_to(rows, IPT__ALGORITHM_1_MOST);
        tiles[1] = ipt__divisor_up_to(cols, IPT__ALGORITHM_1_MOST);
        break;
    case IPT_HEURISTIC_ALGORITHM_2:
        ipt__tiles_by_use(device, rows, cols, local, &tiles[0], &tiles[1]);
        break;
    case IPT_HEURISTIC_ALGORITHM_5:
        result = ipt__tiles_by_padding(rows, cols, local, tiles, pads);
        break;
    default:
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "heuristic is %d: 1 to %d choose tiles", (int)heuristic,
                         (int)IPT__HEURISTIC_COUNT - 1);
    }
    if (result)
        return result;
    *tile_m = tiles[0];
    *tile_n = tiles[1];
    *pad_rows = pads[0];
    *pad_cols = pads[1];
    return IPT_SUCCESS;
}

IPT_API ipt_sequence ipt_heuristic_sequence(const ipt_heuristic_device *device, size_t rows, size_t cols,
                                            size_t elem_size, size_t tile_m, size_t tile_n)
{
    size_t local;
    if (!device || !device->local_bytes || !rows || !cols || !elem_size || !tile_m || !tile_n)
        return IPT_SEQUENCE_AUTO;
    local = device->local_bytes / elem_size;
    /* a * b < local, where a * b may overflow, is a <= (local - 1) / b. */
    if (local && tile_m <= (local - 1) / cols)
        return IPT_SEQUENCE_2_1;
    if (local && tile_n <= (local - 1) / rows)
        return IPT_SEQUENCE_2_2;
    return tile_m < tile_n ? IPT_SEQUENCE_3_1 : IPT_SEQUENCE_3_2;
}

IPT_API double ipt_heuristic_throughput(const double *stage_throughputs, size_t count)
{
    double time = 0; /* time of a unit of data */
    size_t i;
    if (!stage_throughputs)
        return 0;
    for (i = 0; i < count; ++i) {
        if (!(stage_throughputs[i] > 0)) /* also for NaN */
            return 0;
        time += 1 / stage_throughputs[i];
    }
    return time > 0 ? 1 / time : 0;
}

IPT_API size_t ipt_heuristic_group_size(const ipt_heuristic_device *device, size_t super_element_bytes)
{
    size_t share, items, set;
    if (!device || !device->max_group || !device->simd_width || !super_element_bytes)
        return 0;
    share = ipt__ceil_divide(super_element_bytes, 4) / IPT__WORDS_PER_ITEM; /* a set needs more work-items than this */
    set = ipt__min(device->simd_width, device->max_group);
    for (items = IPT__LEAST_VIRTUAL_SIMD; items < set; items *= 2)
        if (share < items)
            return items;
    for (items = IPT__LEAST_GROUP; items <= device->max_group && share >= set; items *= 2)
        set = ipt__max(set, items);
    return set;
}

IPT_API double ipt_heuristic_occupancy(const ipt_heuristic_device *device, size_t group_size, size_t local_bytes)
{
    size_t items, groups;
    if (!device || !group_size || group_size > device->max_group)
        return 0;
    items = device->unit_items ? device->unit_items : (size_t)IPT__K20_UNIT_ITEMS;
    groups = device->unit_groups ? device->unit_groups : (size_t)IPT__K20_UNIT_GROUPS;
    groups = ipt__min(groups, items / group_size);
    if (local_bytes)
        groups = ipt__min(groups, device->local_bytes / local_bytes);
    return (double)(groups * group_size) / (double)items;
}

IPT_API size_t ipt_heuristic_smallest_group(const ipt_heuristic_device *device, size_t group_bytes, size_t item_bytes,
                                            double occupancy)
{
    size_t best = 0, group;
    double most = 0;
    if (!device || !device->simd_width || !(occupancy >= 0 && occupancy <= 1))
        return 0;
    for (group = device->simd_width; group <= device->max_group; group += device->simd_width) {
        double reached;
        if (group_bytes > device->local_bytes ||
            (item_bytes && group > (device->local_bytes - group_bytes) / item_bytes))
            break;
        reached = ipt_heuristic_occupancy(device, group, group_bytes + group * item_bytes);
        if (reached > most) {
            most = reached;
            best = group;
        }
        if ((reached > 0 && reached >= occupancy) || group > device->max_group - device->simd_width)
            break;
    }
    return best;
}

IPT_API void ipt_heuristic_group_shape(size_t group_size, size_t elem_size, size_t *x, size_t *y)
{
    size_t step, d;
    if (!x || !y)
        return;
    *x = elem_size ? group_size : 0;
    *y = *x != 0;
    if (!*x)
        return;
    /* The smallest number of elements whose bytes are a multiple of IPT__COALESCED_BYTES. The power of two in elem_size
     * decides. */
    step = IPT__COALESCED_BYTES / ipt__min(IPT__COALESCED_BYTES, elem_size & (~elem_size + 1));
    for (d = 1; d <= group_size / d; ++d)
        if (group_size % d == 0) {
            const size_t other = group_size / d;
            if (other % step && d % step)
                continue;
            *x = other % step ? d : other;
            *y = other % step ? other : d;
        }
}

IPT_API int ipt_heuristic_by_block(size_t batch, size_t blocks_per_matrix)
{
    return blocks_per_matrix > batch;
}

IPT_API size_t ipt_heuristic_divisors(size_t side, size_t *divisors, size_t capacity)
{
    const size_t step = side % 2 ? 2 : 1; /* odd numbers have odd divisors only */
    size_t found = 0, count, d, i;
    int square = 0;
    if (!side)
        return 0;
    for (d = 1; !((cl_ulong)d >> 32) && (cl_ulong)d * d <= side; d += step)
        if (ipt__divides(d, side)) {
            if (found < capacity)
                divisors[found] = d;
            ++found;
            square = side / d == d;
        }
    /* The others are side / d, from the largest d down. The root of a square is in the list already. */
    count = 2 * found - (size_t)square;
    if (found <= capacity)
        for (i = found; i < count && i < capacity; ++i)
            divisors[i] = side / divisors[count - 1 - i];
    return count;
}

#endif
