/* Tiles that are fetched by vectors and written by rows of the transpose. */

/* For rotations. Bit 0: runs are stored backwards. Bit 1: the sequence of columns is reversed. IPT_REVERSED is a
 * constant, because an argument makes bands much slower. */
#ifndef IPT_REVERSED
#define IPT_REVERSED 0
#endif
#define IPT_REVERSED_RUNS (IPT_REVERSED & 1)
#define IPT_REVERSED_COLUMNS (IPT_REVERSED >> 1)

/* The vector at which row i of a tile begins in local memory. Rows lie `pitch` vectors apart; one more vector follows
 * every 2^skew rows. */
IPT_FUNCTION uint ipt_tile_row(uint i, uint pitch, uint skew)
{
    return i * pitch + (i >> skew);
}

/* Fetches a work-item's vectors of a row: number `lane` of those from `vector` on, and every lanes-th one after it,
 * below `end`. inside: all of them lie in [low, high), and need no checks, which take more instructions than the
 * fetches. */
IPT_INLINE void ipt_fetch_row(__local uint4 *to, __global ipt_unit *memory, ulong vector, uint lane, uint lanes,
                              uint end, bool inside, ulong low, ulong high)
{
    if (inside) {
        __global uint4 *from = (__global uint4 *)memory + vector;
        for (uint q = lane; q < end; q += lanes)
            ipt_fetch_inside(to + q, from + q);
    } else {
        for (uint q = lane; q < end; q += lanes)
            ipt_fetch(to + q, memory, vector + q, low, high);
    }
}

/* Fetches a tile into local memory in `blocks` blocks of block_rows rows. The tile has `rows` rows of `units` units;
 * the first begins at `begin`, and rows lie row_units apart. run_lanes work-items share a row. The host chooses
 * run_lanes so that all rows of one work-item begin at the same offset in a vector. It chooses block_rows so that all
 * work-items have the same number of rows in a block. backwards: row_units is negative. Units outside [low, high) are
 * not read. */
IPT_FUNCTION void ipt_fetch_rows(__local uint4 *vectors, __global ipt_unit *matrix, ulong begin, ulong row_units,
                                 bool backwards, uint rows, uint units, uint blocks, uint block_rows, uint run_lanes,
                                 uint pitch, uint skew, ulong low, ulong high)
{
    const uint lane = get_local_id(0) & (run_lanes - 1), step = IPT_GROUP_SIZE / run_lanes;
    const uint first = get_local_id(0) / run_lanes;
    const ulong own = begin + first * row_units;
    const uint shift = (uint)own & (IPT_VECTOR_UNITS - 1);
    const uint end = (shift + units + IPT_VECTOR_UNITS - 1) / IPT_VECTOR_UNITS;
    const uint to_step = ipt_tile_row(step, pitch, skew);
    const ulong from_step = backwards ? -(step * -row_units / IPT_VECTOR_UNITS) /* exact */
                                      : step * row_units / IPT_VECTOR_UNITS;
    const ulong last = begin + rows * row_units - row_units, lowest = backwards ? last : begin,
                highest = backwards ? begin : last;
    const bool inside =
        lowest - (lowest & (IPT_VECTOR_UNITS - 1)) >= low && highest + units + IPT_VECTOR_UNITS - 1 <= high;
    /* Instruction issue limits the exchange: rows of one vector for each work-item have a loop without anything else.
     */
    const bool single = inside && end <= run_lanes;
    ulong vector = own / IPT_VECTOR_UNITS;
    __global uint4 *from = (__global uint4 *)matrix + (vector + lane);
    uint to = ipt_tile_row(first, pitch, skew), i = single && lane >= end ? rows : first;
    for (uint block = 1; block <= blocks; ++block) {
        const uint block_end = min(rows, block * block_rows);
        if (single) {
            for (; i < block_end; i += step) {
                ipt_fetch_inside(vectors + (to + lane), from);
                from += from_step;
                to += to_step;
            }
        } else {
            for (; i < block_end; i += step) {
                ipt_fetch_row(vectors + to, matrix, vector, lane, run_lanes, end, inside, low, high);
                vector += from_step;
                to += to_step;
            }
        }
        ipt_fetch_close_block();
    }
}

/* Computes starts[i] for a tile of ipt_fetch_rows: the unit of local memory at which row i begins. */
IPT_FUNCTION void ipt_mark_rows(__local uint *starts, ulong begin, ulong row_units, uint rows, uint pitch, uint skew)
{
    for (uint i = get_local_id(0); i < rows; i += IPT_GROUP_SIZE)
        starts[i] = ipt_tile_row(i, pitch, skew) * IPT_VECTOR_UNITS +
                    (((uint)begin + i * (uint)row_units) & (IPT_VECTOR_UNITS - 1));
}

/* The functions below write transposed runs. A line of work-items writes four runs at a time, so that their accesses
 * overlap. Stores begin at sector boundaries wherever the run begins: whole sectors are written twice as fast as split
 * ones. Instruction issue limits these loops, so they compute invariants once. */

/* Reads four units of one aligned vector. With units of 4 bytes this is one access. If all rows begin at one offset in
 * a vector, it has a fourth of the bank conflicts of four accesses. */
IPT_FUNCTION void ipt_read_four(ipt_unit *values, __local ipt_unit *from)
{
#if IPT_UNIT_BYTES == 4
    const uint4 four = *(__local uint4 *)from;
    values[0] = IPT_COMPONENT(four, 0);
    values[1] = IPT_COMPONENT(four, 1);
    values[2] = IPT_COMPONENT(four, 2);
    values[3] = IPT_COMPONENT(four, 3);
#else
#pragma unroll 4
    for (uint u = 0; u < 4; ++u)
        values[u] = from[u];
#endif
}

/* Writes the first `count` of four runs of `units` units to `target`. The first run begins at `begin`; runs lie
 * run_stride units apart. run_stride is a multiple of a sector, so all four runs begin at the same offset in a sector.
 * Unit k of run u is at tile[starts[element of k] + from + u * from_step + part of k]. `together`: units k of the four
 * runs form an aligned vector. */
IPT_INLINE void ipt_store_four(__local ipt_unit *tile, __local uint *starts, __global ipt_unit *target, ulong begin,
                               ulong run_stride, uint count, uint units, uint from, uint from_step, bool together,
                               uint element_units, uint element_units_magic, uint element_units_shift,
                               const ipt_given *g)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES, before = (uint)begin % IPT_SECTOR_UNITS;
    __global ipt_unit *sectors[4];
#pragma unroll 4
    for (uint u = 0; u < 4; ++u)
        sectors[u] = target + (begin - before) + u * run_stride;
    for (uint at = lane; at - lane < units + before; at += IPT_LINE_LANES) {
        /* No branch, so that reads do not wait for each other: units beyond the run are read and dropped. */
        const uint i = at - before, inside = min(i, units - 1);
        IPT_ELEMENT_OF(inside, element_units, element, part);
        __local ipt_unit *units_of = tile + (starts[element] + part + from);
        ipt_unit values[4];
        if (together) {
            ipt_read_four(values, units_of);
        } else {
#pragma unroll 4
            for (uint u = 0; u < 4; ++u)
                values[u] = units_of[u < count ? u * from_step : 0];
        }
        if (i < units) {
#pragma unroll 4
            for (uint u = 0; u < 4; ++u)
                if (u < count)
                    ipt_store(&sectors[u][at], ipt_apply(values[u], g));
        }
    }
}

/* Writes all `runs` runs of a work-group's tile to `target`. The first run begins at `begin`; runs lie row_units apart.
 * aligned: every row of the tile begins at a vector. */
IPT_INLINE void ipt_store_rows(__local ipt_unit *tile, __local uint *starts, __global ipt_unit *target, ulong begin,
                               ulong row_units, uint runs, uint units, bool aligned, uint element_units,
                               uint element_units_magic, uint element_units_shift, const ipt_given *g)
{
    /* The distance of rows that begin at the same offset in a sector. */
    const uint apart = row_units % IPT_SECTOR_UNITS == 0 ? 1 : IPT_SECTOR_UNITS;
    for (uint line = get_local_id(0) / IPT_LINE_LANES;; line += IPT_LINES) {
        const uint run =
            apart == 1 ? 4 * line : line / IPT_SECTOR_UNITS * (4 * IPT_SECTOR_UNITS) + line % IPT_SECTOR_UNITS;
        if (run >= runs)
            break;
        const ulong first = begin + run * row_units;
        const uint from = run * element_units;
        if (aligned && apart == 1 && run + 4 <= runs)
            ipt_store_four(tile, starts, target, first, row_units, 4, units, from, 1, true, 1, 0, 0, g);
        else if (run + 3 * apart < runs)
            ipt_store_four(tile, starts, target, first, apart * row_units, 4, units, from, apart * element_units, false,
                           IPT_DIVISOR(element_units), g);
        else
            ipt_store_four(tile, starts, target, first, apart * row_units, (runs - run + apart - 1) / apart, units,
                           from, apart * element_units, false, IPT_DIVISOR(element_units), g);
    }
}
