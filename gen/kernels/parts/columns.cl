/* Columns of a tall panel's chunk, written as slots. */

#if IPT_TALL && IPT_NARROW
/* Writes a column of a narrow chunk as a run of `units` units at target[begin], by a line of work-items. The column
 * begins at unit `from`. The chunk's rows of row_units are contiguous; a vector is skipped after every eight. */
IPT_INLINE void ipt_store_column(__local ipt_unit *tile, uint from, uint row_units, __global ipt_unit *target,
                                 ulong begin, uint units, uint element_units, uint element_units_magic,
                                 uint element_units_shift, const ipt_given *g)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES, before = (uint)begin % IPT_SECTOR_UNITS;
    __global ipt_unit *sectors = target + (begin - before) + lane;
#define IPT_SKIP(at) ((at) + (at) / (8 * IPT_VECTOR_UNITS) * IPT_VECTOR_UNITS)
#if IPT_ELEMENT_UNITS == 1 && IPT_UNIT_BYTES >= 4
    /* From one iteration to the next, a line advances by a multiple of eight vectors. */
    const uint i = lane - before, step = IPT_SKIP(IPT_LINE_LANES * row_units);
    uint at = IPT_SKIP(from + (i + IPT_LINE_LANES) * row_units) - step, done = 0;
    while (done < units + before) {
        if (done != 0) {
#pragma unroll 4
            for (; done + IPT_LINE_LANES <= units; done += IPT_LINE_LANES, at += step)
                ipt_store(&sectors[done], ipt_apply(tile[at], g));
        }
        if (i + done < units)
            ipt_store(&sectors[done], ipt_apply(tile[at], g));
        done += IPT_LINE_LANES;
        at += step;
    }
#else
    for (uint k = lane; k < units + before; k += IPT_LINE_LANES) {
        const uint i = k - before;
        if (i < units) {
            IPT_ELEMENT_OF(i, element_units, element, part);
            const uint at = from + element * row_units + part;
            ipt_store(&sectors[k - lane], ipt_apply(tile[IPT_SKIP(at)], g));
        }
    }
#endif
}
#elif IPT_TALL
#if IPT_ELEMENT_UNITS == 1
/* The two functions below write the first `runs` columns of a tile, each as a run of `units` units: column r to
 * target[begins[r]], reversed columns to target[begins[runs - 1 - r]]. ipt_fetch_rows has fetched the tile from
 * `rows_begin`, rows row_units apart. A line of work-items writes one column in a loop of few instructions. Four
 * columns at a time overlap more but take longer. From one iteration to the next,
 * a line advances by whole vectors. */

/* For runs that all begin at sector boundaries. */
IPT_INLINE void ipt_store_whole_slots(__local ipt_unit *tile, __local uint *begins, __global ipt_unit *target,
                                      uint runs, uint units, uint pitch, uint skew, uint rows_begin, uint row_units,
                                      const ipt_given *g)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES;
    const uint step = ipt_tile_row(IPT_LINE_LANES, pitch, skew) * IPT_VECTOR_UNITS;
    const uint first =
        ipt_tile_row(lane, pitch, skew) * IPT_VECTOR_UNITS + ((rows_begin + lane * row_units) & (IPT_VECTOR_UNITS - 1));
    for (uint run = get_local_id(0) / IPT_LINE_LANES; run < runs; run += IPT_LINES) {
        __global ipt_unit *to = target + begins[run] + lane;
        uint at = first + (IPT_REVERSED_COLUMNS == 0 ? run : runs - 1 - run), done = 0;
#pragma unroll 4
        for (; done + IPT_LINE_LANES <= units; done += IPT_LINE_LANES, at += step)
            ipt_store(&to[done], ipt_apply(tile[at], g));
        if (lane + done < units)
            ipt_store(&to[done], ipt_apply(tile[at], g));
    }
}

/* For runs that begin anywhere: all sectors but the first and the last are written whole. */
IPT_INLINE void ipt_store_cut_slots(__local ipt_unit *tile, __local uint *begins, __global ipt_unit *target, uint runs,
                                    uint units, uint pitch, uint skew, uint rows_begin, uint row_units,
                                    const ipt_given *g)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES;
    const uint step = ipt_tile_row(IPT_LINE_LANES, pitch, skew) * IPT_VECTOR_UNITS;
    for (uint run = get_local_id(0) / IPT_LINE_LANES; run < runs; run += IPT_LINES) {
        const uint begin = begins[run], before = begin % IPT_SECTOR_UNITS, i = lane - before;
        __global ipt_unit *to = target + (begin - before) + lane;
        uint at = ipt_tile_row(i + IPT_LINE_LANES, pitch, skew) * IPT_VECTOR_UNITS - step +
                  ((rows_begin + i * row_units) & (IPT_VECTOR_UNITS - 1)) +
                  (IPT_REVERSED_COLUMNS == 0 ? run : runs - 1 - run);
        if (i < units)
            ipt_store(&to[0], ipt_apply(tile[at], g));
        at += step;
        uint done = IPT_LINE_LANES;
#pragma unroll 4
        for (; done + IPT_LINE_LANES <= units; done += IPT_LINE_LANES, at += step)
            ipt_store(&to[done], ipt_apply(tile[at], g));
        for (; done < units + before; done += IPT_LINE_LANES, at += step)
            if (i + done < units)
                ipt_store(&to[done], ipt_apply(tile[at], g));
    }
}
#else
/* Writes the first `count` of four columns of a tile as runs of `units` units, by a line of work-items. Run u consists
 * of element from + u * step of each row; it goes to target[begins[u]]. */
IPT_INLINE void ipt_store_slots(__local ipt_unit *tile, __local uint *starts, __global ipt_unit *target, uint4 begins,
                                uint from, int step, uint count, uint units, uint element_units,
                                uint element_units_magic, uint element_units_shift, const ipt_given *g)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES;
    const uint offsets[4] = {begins.x, begins.y, begins.z, begins.w};
    __global ipt_unit *sectors[4];
    uint i[4], runs[4]; /* next unit; units of the run, 0 for an absent run */
    uint longest = 0;
#pragma unroll 4
    for (uint u = 0; u < 4; ++u) {
        const uint before = offsets[u] % IPT_SECTOR_UNITS;
        runs[u] = u < count ? units : 0;
        i[u] = lane - before;
        longest = max(longest, runs[u] + before);
        sectors[u] = target + (u < count ? offsets[u] - before : 0) + lane;
    }
    for (uint done = 0; done < longest; done += IPT_LINE_LANES) {
        ipt_unit values[4];
#pragma unroll 4
        for (uint u = 0; u < 4; ++u) {
            const uint inside = min(i[u] + done, units - 1);
            IPT_ELEMENT_OF(inside, element_units, element, part);
            values[u] = tile[starts[element] + (from + (uint)step * min(u, count - 1)) * element_units + part];
        }
#pragma unroll 4
        for (uint u = 0; u < 4; ++u)
            if (i[u] + done < runs[u])
                ipt_store(&sectors[u][done], ipt_apply(values[u], g));
    }
}
#endif
#endif
