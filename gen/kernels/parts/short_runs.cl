/* Permuted columns whose runs have IPT_LINE_LANES units at most: a line of work-items moves several at once. Otherwise
 * most of its work-items would have no unit, and few accesses would overlap. */
#if IPT_AXES
/* Work-items that share a run: a power of two. */
IPT_INLINE uint ipt_short_lanes(uint units)
{
    uint lanes = IPT_LINE_LANES;
    while (lanes / 2 >= units)
        lanes /= 2;
    return lanes;
}

#if IPT_TALL
/* The place of unit k of column i in the tile. */
IPT_INLINE uint ipt_short_place(const ipt_chunk *chunk, uint i, uint k, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
#if IPT_ELEMENT_UNITS == 1
    return IPT_PLACE(tile, ipt_tile_row(k, g->pitch, g->skew) * IPT_VECTOR_UNITS +
                               (((uint)chunk->rows_begin + k * (uint)chunk->row_units) & (IPT_VECTOR_UNITS - 1)) + i);
#else
    IPT_ELEMENT_OF(k, g->element_units, element, part);
    return IPT_PLACE(tile, chunk->starts[element] + i * g->element_units + part);
#endif
}

/* As ipt_exchange_columns. */
IPT_INLINE void ipt_exchange_short(const ipt_chunk *chunk, bool deferred, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    const uint units = chunk->y * g->element_units, lanes = ipt_short_lanes(units), k = get_local_id(0) % lanes;
    const ipt_policy drop = ipt_policy_drop();
    for (uint first = get_local_id(0) / lanes; first < chunk->x; first += IPT_STEPS * (IPT_GROUP_SIZE / lanes)) {
        ipt_unit parked[IPT_STEPS], own[IPT_STEPS];
        __global ipt_unit *runs[IPT_STEPS];
        bool is[IPT_STEPS];
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u) {
            const uint i = min(first + u * (IPT_GROUP_SIZE / lanes), chunk->x - 1), column = ipt_column_at(chunk, i);
            is[u] = first + u * (IPT_GROUP_SIZE / lanes) == i && k < units && ipt_is_deferred(chunk, i) == deferred &&
                    ipt_is_earlier(chunk, ipt_range_of(chunk, column, g), g);
            runs[u] = chunk->matrix + ipt_own_place(chunk, column, g) + k;
            ipt_load_if(&parked[u], runs[u], is[u]);
        }
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u) {
            const uint place = ipt_short_place(chunk, first + u * (IPT_GROUP_SIZE / lanes), k, g);
            ipt_read_if(&own[u], tile, place, is[u]);
            ipt_write_if(tile, place, parked[u], is[u]);
        }
        ipt_line_order();
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u)
            ipt_store_if(runs[u], ipt_apply(own[u], g), is[u], drop);
    }
}

/* As ipt_store_columns. */
IPT_INLINE void ipt_store_short(const ipt_chunk *chunk, bool deferred, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    const uint units = chunk->y * g->element_units, lanes = ipt_short_lanes(units), k = get_local_id(0) % lanes;
    const ipt_policy keep = ipt_policy_keep(), drop = ipt_policy_drop();
    for (uint first = get_local_id(0) / lanes; first < chunk->x; first += IPT_STEPS * (IPT_GROUP_SIZE / lanes)) {
        ipt_unit held[IPT_STEPS];
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u) {
            const uint i = first + u * (IPT_GROUP_SIZE / lanes);
            ipt_read_if(&held[u], tile, ipt_short_place(chunk, i, k, g), i < chunk->x && k < units);
        }
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u) {
            const uint i = min(first + u * (IPT_GROUP_SIZE / lanes), chunk->x - 1), column = ipt_column_at(chunk, i);
            const uint d = ipt_range_of(chunk, column, g);
            const bool parks = ipt_is_later(chunk, d, g);
            ipt_store_if(ipt_columns_of(chunk, column, g) + ipt_partner_place(chunk, column, d, g) + k,
                         parks ? held[u] : ipt_apply(held[u], g),
                         first + u * (IPT_GROUP_SIZE / lanes) == i && k < units &&
                             ipt_is_deferred(chunk, i) == deferred,
                         parks && abs_diff(d, chunk->band) <= g->kept ? keep : drop);
        }
    }
}
#else
/* Parks the partners of columns of later ranges. */
IPT_INLINE void ipt_park_short(const ipt_chunk *chunk, const ipt_given *g)
{
    const uint units = chunk->y * g->element_units, lanes = ipt_short_lanes(units), k = get_local_id(0) % lanes;
    const ipt_policy keep = ipt_policy_keep(), drop = ipt_policy_drop();
    for (uint first = get_local_id(0) / lanes; first < chunk->x; first += IPT_STEPS * (IPT_GROUP_SIZE / lanes)) {
        ipt_unit parked[IPT_STEPS];
        __global ipt_unit *runs[IPT_STEPS];
        bool is[IPT_STEPS], stays[IPT_STEPS];
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u) {
            const uint i = min(first + u * (IPT_GROUP_SIZE / lanes), chunk->x - 1), column = ipt_column_at(chunk, i);
            const uint d = ipt_range_of(chunk, column, g);
            is[u] = first + u * (IPT_GROUP_SIZE / lanes) == i && k < units && ipt_is_later(chunk, d, g);
            stays[u] = abs_diff(d, chunk->band) <= g->kept;
            runs[u] = chunk->matrix + ipt_own_place(chunk, column, g) + k;
            ipt_load_if(&parked[u], chunk->matrix + ipt_partner_place(chunk, column, d, g) + k, is[u]);
        }
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u)
            ipt_store_if(runs[u], parked[u], is[u], stays[u] ? keep : drop);
    }
}
#endif
#endif
