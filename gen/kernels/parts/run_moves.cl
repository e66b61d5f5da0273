/* Moves runs of a band: see runs.cl and waves.cl. */
#if !defined(IPT_LANES) || !defined(IPT_TALL)
#error "IPT_LANES and IPT_TALL must be defined"
#endif

#if defined(IPT_AXES) && IPT_AXES
#define IPT_WALKS 1 /* columns may be permuted */
#ifdef IPT_AS_C
#define IPT_PERMUTES (g->call.axes != 0)
#else
#define IPT_PERMUTES 1
#endif
#else
#define IPT_WALKS 0
#endif

/* The functions below move `units` units by IPT_LANES work-items. Their runs do not overlap. A single work-item has
 * ipt_copy_run from parts/pieces.cl. */

#if IPT_GROUP_SIZE == 1
/* first to second, held to first. */
IPT_INLINE void ipt_pass_run(__global ipt_unit *restrict second, __global ipt_unit *restrict first,
                             __global const ipt_unit *restrict held, uint lane, ulong units)
{
    ulong k = 0;
    if (units >= IPT_PIECE_UNITS) {
        const ulong last = units - IPT_PIECE_UNITS;
        const uint8 passed_last = IPT_LOAD_AT_ANY(ipt_piece, first + last);
        for (; k < last; k += IPT_PIECE_UNITS) {
            const uint8 passed = IPT_LOAD_AT_ANY(ipt_piece, first + k);
            ipt_copy_piece(first + k, held + k);
            IPT_STORE_AT_ANY(ipt_piece, second + k, passed);
        }
        ipt_copy_piece(first + last, held + last);
        IPT_STORE_AT_ANY(ipt_piece, second + last, passed_last);
        return;
    }
    for (; k < units; ++k) {
        const ipt_unit passed = first[k];
        first[k] = held[k];
        second[k] = passed;
    }
}
#else
IPT_INLINE void ipt_copy_run(__global ipt_unit *restrict to, __global const ipt_unit *restrict from, uint lane,
                             ulong units)
{
    for (ulong k = lane; k < units; k += IPT_LANES)
        to[k] = from[k];
}

/* first to second, held to first. */
IPT_INLINE void ipt_pass_run(__global ipt_unit *restrict second, __global ipt_unit *restrict first,
                             __global const ipt_unit *restrict held, uint lane, ulong units)
{
    for (ulong k = lane; k < units; k += IPT_LANES) {
        const ipt_unit passed = first[k];
        first[k] = held[k];
        second[k] = passed;
    }
}
#endif

/* Unit of a column at which band d's part begins; d = bands: the rest rows' part. */
IPT_INLINE ulong ipt_part_begin(uint d, const ipt_given *g)
{
    return g->reversed_runs == 0
               ? d * g->run_units
               : g->column_units - d * g->run_units - (d < g->bands ? g->run_units : g->rest_rows * g->element_units);
}

/* The place of column x in a row. */
IPT_INLINE uint ipt_in_row(uint x, const ipt_given *g)
{
    return g->reversed_columns == 0 ? x : g->short_side - 1 - x;
}

/* Moves the rest rows' elements of one column between `rows`, where they are rest_row_stride apart, and `gap`, their
 * part of the column. */
IPT_INLINE void ipt_move_gap(__global ipt_unit *rows, __global ipt_unit *gap, uint lane, const ipt_given *g)
{
    for (uint k = lane; k < g->rest_rows * g->element_units; k += IPT_LANES) {
        const uint element = IPT_ELEMENT_UNITS == 1 ? k : k / g->element_units, part = k - element * g->element_units;
        const uint row = g->reversed_runs == 0 ? element : g->rest_rows - 1 - element;
        __global ipt_unit *const at = rows + row * g->rest_row_stride + part;
        if (IPT_TALL)
            gap[k] = ipt_apply(*at, g);
        else
            *at = ipt_apply(gap[k], g);
    }
}

#if IPT_GROUP_SIZE == 1
#define IPT_RUNS_AHEAD 8 /* from a run that is moved to one that is prefetched */
/* Prefetches the runs that column x reads. Tall: runs are parked where the band was just read: no prefetch. */
IPT_INLINE void ipt_prefetch_column(__global const ipt_unit *matrix, uint band, uint x, ulong start, ulong units,
                                    const ipt_given *g)
{
    const uint d = ipt_divide32(x, IPT_DIVISOR(g->width));
    const bool later = g->from_last != 0 ? d < band : d > band;
    if (IPT_TALL ? !later && d != band : later || d == band)
        ipt_prefetch_run(matrix + x * g->column_stride + (ipt_part_begin(band, g) + start), units);
    if (!IPT_TALL && d != band)
        ipt_prefetch_run(
            matrix + (band * g->width + (x - d * g->width)) * g->column_stride + (ipt_part_begin(d, g) + start), units);
}
#endif

/* Moves units `start` to `start + units` of the band's runs `first` to `end` by IPT_LANES work-items, every
 * IPT_GROUP_SIZE / IPT_LANES-th run. x: a run's place in the band layout, as in the slab. slab: the address of unit
 * `start` of the slab's first run. */
IPT_INLINE void ipt_move_runs(__global ipt_unit *matrix, __global ipt_unit *saved, __global ipt_unit *slab, uint band,
                              uint first, uint end, uint lane, ulong start, ulong units, const ipt_given *g)
{
    const ulong own_begin = ipt_part_begin(band, g) + start;
    const uint covered = g->bands * g->width, first_band = g->from_last != 0 ? g->bands - 1 : 0;
#if IPT_WALKS
    ipt_walk at, ahead;
    if (IPT_PERMUTES) {
        ipt_walk_from(&at, first, g);
        ipt_walk_from(&ahead, first + IPT_RUNS_AHEAD, g);
    }
#endif
    __global ipt_unit *const rest_rows_at = g->saves_rows != 0 ? saved : matrix + g->rest_begin;
    for (uint x = first; x < end; x += IPT_GROUP_SIZE / IPT_LANES) {
        uint y = x;
#if IPT_GROUP_SIZE == 1
        uint next = x + IPT_RUNS_AHEAD;
#endif
#if IPT_WALKS
        if (IPT_PERMUTES) {
            y = at.column;
            next = ahead.column;
            ipt_walk_on(&at, g);
            ipt_walk_on(&ahead, g);
        }
#endif
        const bool rest = y >= covered;
        const uint d = rest ? band : ipt_divide32(y, IPT_DIVISOR(g->width));
#if IPT_GROUP_SIZE == 1
        if (next < covered)
            ipt_prefetch_column(matrix, band, next, start, units, g);
#endif
        __global ipt_unit *const column =
            rest && g->saves_rows == 0 ? saved + (y - covered) * g->saved_column_stride : matrix + y * g->column_stride;
        __global ipt_unit *const own = column + own_begin;
        __global ipt_unit *const held = slab + ipt_in_row(x, g) * g->run_units;
        __global ipt_unit *const partner =
            matrix + (band * g->width + (y - d * g->width)) * g->column_stride + ipt_part_begin(d, g) + start;
        const bool later = g->from_last != 0 ? d < band : d > band;
        if (IPT_TALL) {
            if (d == band)
                ipt_copy_run(own, held, lane, units);
            else if (later)
                ipt_copy_run(partner, held, lane, units);
            else
                ipt_pass_run(partner, own, held, lane, units);
        } else {
            if (d == band)
                ipt_copy_run(held, own, lane, units);
            else if (later) {
                ipt_copy_run(held, own, lane, units);
                ipt_copy_run(own, partner, lane, units);
            } else
                ipt_copy_run(held, partner, lane, units);
        }
        if (start == 0 && d == band && (!rest || band == first_band))
            ipt_move_gap(rest_rows_at + ipt_in_row(x, g) * g->element_units, column + ipt_part_begin(g->bands, g), lane,
                         g);
    }
}
