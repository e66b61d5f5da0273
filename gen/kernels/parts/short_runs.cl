/* Permuted columns whose runs have IPT_SHORT_UNITS units at most. Work-items share a run, a unit each, and move units
 * of IPT_SHORT_STEPS columns at once. A line of work-items with a run of its own would have work-items without a unit,
 * and fewer accesses would overlap. */
#define IPT_SHORT_UNITS IPT_LINE_LANES
#define IPT_SHORT_STEPS (IPT_UNIT_BYTES <= 4 ? 4u : 16u / IPT_UNIT_BYTES)
#if IPT_AXES
/* Work-items that share a run: a power of two. */
IPT_INLINE uint ipt_short_lanes(uint units)
{
    uint lanes = IPT_LINE_LANES;
    while (lanes / 2 >= units)
        lanes /= 2;
    return lanes;
}

/* The n-th column of the chunk, or of the deferred ones. */
IPT_INLINE uint ipt_short_at(const ipt_chunk *chunk, uint n, bool deferred)
{
    return deferred ? chunk->deferred[n] : n;
}

#if IPT_TALL
/* The place of unit k of column 0 in the tile. */
IPT_INLINE uint ipt_short_place(const ipt_chunk *chunk, uint k, const ipt_given *g)
{
#if IPT_ELEMENT_UNITS == 1
    return IPT_PLACE((__local ipt_unit *)chunk->vectors,
                     ipt_tile_row(k, g->pitch, g->skew) * IPT_VECTOR_UNITS +
                         (((uint)chunk->rows_begin + k * (uint)chunk->row_units) & (IPT_VECTOR_UNITS - 1)));
#else
    IPT_ELEMENT_OF(k, g->element_units, element, part);
    return IPT_PLACE((__local ipt_unit *)chunk->vectors, chunk->starts[element] + part);
#endif
}

/* As ipt_exchange_columns. */
IPT_INLINE void ipt_exchange_short(const ipt_chunk *chunk, bool deferred, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    const uint units = chunk->y * g->element_units, lanes = ipt_short_lanes(units), k = get_local_id(0) % lanes,
               apart = IPT_GROUP_SIZE / lanes, all = deferred ? chunk->shared[IPT_SHARED_DEFERRED] : chunk->x;
    const uint place = ipt_short_place(chunk, min(k, units - 1), g), each = g->element_units * IPT_PLACES_EACH;
    const ipt_policy drop = ipt_policy_drop();
    /* Equal turns for all work-items: ipt_line_order stops those of a line for one another. */
    for (uint turn = 0; turn < all; turn += IPT_SHORT_STEPS * apart) {
        const uint first = turn + get_local_id(0) / lanes;
        ipt_unit parked[IPT_SHORT_STEPS], own[IPT_SHORT_STEPS];
        __global ipt_unit *runs[IPT_SHORT_STEPS];
        bool is[IPT_SHORT_STEPS];
#pragma unroll
        for (uint u = 0; u < IPT_SHORT_STEPS; ++u) {
            const uint n = first + u * apart, i = ipt_short_at(chunk, min(n, all - 1), deferred);
            const uint column = ipt_column_at(chunk, i);
            is[u] = n < all && k < units && ipt_is_deferred(chunk, i) == deferred &&
                    ipt_is_earlier(chunk, ipt_range_of(chunk, column, g), g);
            runs[u] = chunk->matrix + ipt_own_place(chunk, column, g) + k;
            ipt_load_if(&parked[u], runs[u], is[u]);
        }
#pragma unroll
        for (uint u = 0; u < IPT_SHORT_STEPS; ++u) {
            const uint at = place + ipt_short_at(chunk, min(first + u * apart, all - 1), deferred) * each;
            ipt_read_if(&own[u], tile, at, is[u]);
            ipt_write_if(tile, at, parked[u], is[u]);
        }
        ipt_line_order();
#pragma unroll
        for (uint u = 0; u < IPT_SHORT_STEPS; ++u)
            ipt_store_if(runs[u], ipt_apply(own[u], g), is[u], drop);
    }
}

/* As ipt_store_columns. */
IPT_INLINE void ipt_store_short(const ipt_chunk *chunk, bool deferred, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    const uint units = chunk->y * g->element_units, lanes = ipt_short_lanes(units), k = get_local_id(0) % lanes,
               apart = IPT_GROUP_SIZE / lanes, all = deferred ? chunk->shared[IPT_SHARED_DEFERRED] : chunk->x;
    const uint place = ipt_short_place(chunk, min(k, units - 1), g), each = g->element_units * IPT_PLACES_EACH;
    const ipt_policy keep = ipt_policy_keep(), drop = ipt_policy_drop();
    for (uint first = get_local_id(0) / lanes; first < all; first += IPT_SHORT_STEPS * apart) {
        ipt_unit held[IPT_SHORT_STEPS];
#pragma unroll
        for (uint u = 0; u < IPT_SHORT_STEPS; ++u) {
            const uint n = first + u * apart, i = ipt_short_at(chunk, min(n, all - 1), deferred);
            ipt_read_if(&held[u], tile, place + i * each, n < all && k < units);
        }
#pragma unroll
        for (uint u = 0; u < IPT_SHORT_STEPS; ++u) {
            const uint n = first + u * apart, i = ipt_short_at(chunk, min(n, all - 1), deferred);
            const uint column = ipt_column_at(chunk, i), d = ipt_range_of(chunk, column, g);
            const bool parks = ipt_is_later(chunk, d, g);
            ipt_store_if(ipt_columns_of(chunk, column, g) + ipt_partner_place(chunk, column, d, g) + k,
                         parks ? held[u] : ipt_apply(held[u], g),
                         n < all && k < units && ipt_is_deferred(chunk, i) == deferred,
                         parks && abs_diff(d, chunk->band) <= g->kept ? keep : drop);
        }
    }
}
#else
/* As ipt_park_columns. */
IPT_INLINE void ipt_park_short(const ipt_chunk *chunk, const ipt_given *g)
{
    const uint units = chunk->y * g->element_units, lanes = ipt_short_lanes(units), k = get_local_id(0) % lanes,
               apart = IPT_GROUP_SIZE / lanes;
    const ipt_policy keep = ipt_policy_keep(), drop = ipt_policy_drop();
    for (uint first = get_local_id(0) / lanes; first < chunk->x; first += IPT_SHORT_STEPS * apart) {
        ipt_unit parked[IPT_SHORT_STEPS];
        __global ipt_unit *runs[IPT_SHORT_STEPS];
        bool is[IPT_SHORT_STEPS], stays[IPT_SHORT_STEPS];
#pragma unroll
        for (uint u = 0; u < IPT_SHORT_STEPS; ++u) {
            const uint n = first + u * apart, column = ipt_column_at(chunk, min(n, chunk->x - 1));
            const uint d = ipt_range_of(chunk, column, g);
            is[u] = n < chunk->x && k < units && ipt_is_later(chunk, d, g);
            stays[u] = abs_diff(d, chunk->band) <= g->kept;
            runs[u] = chunk->matrix + ipt_own_place(chunk, column, g) + k;
            ipt_load_if(&parked[u], chunk->matrix + ipt_partner_place(chunk, column, d, g) + k, is[u]);
        }
#pragma unroll
        for (uint u = 0; u < IPT_SHORT_STEPS; ++u)
            ipt_store_if(runs[u], parked[u], is[u], stays[u] ? keep : drop);
    }
}
#endif
#endif
