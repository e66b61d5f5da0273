/* Thin matrices on a CPU: IPT_CHANNELS columns (tall) or rows become as many rows or columns. A work-group, of one
 * work-item, moves tiles through local memory, which lies in its core's nearest cache. If a matrix has several tiles,
 * their runs of tile_length elements also change places, by the cycles of the permutation. A core moves a whole matrix,
 * so its next cache has the runs. Or `parts` work-groups share a matrix: then tiles and runs take a launch each, and a
 * work-group moves a part of each run. */
#include "parts/unit.cl"

#if !defined(IPT_TALL) || !defined(IPT_CHANNELS) || IPT_GROUP_SIZE != 1
#error "IPT_TALL and IPT_CHANNELS must be defined, and IPT_GROUP_SIZE must be 1"
#endif

/* PoCL vectorizes loops with counters of 64 bits whose turn moves a constant number of neighbours. */

IPT_INLINE void ipt_load_units(__local ipt_unit *restrict to, __global const ipt_unit *restrict from, ulong units)
{
    for (ulong k = 0; k < units; ++k)
        to[k] = from[k];
}

IPT_INLINE void ipt_store_units(__global ipt_unit *restrict to, __local const ipt_unit *restrict from, ulong units)
{
    for (ulong k = 0; k < units; ++k)
        to[k] = from[k];
}

IPT_INLINE void ipt_move_units(__global ipt_unit *restrict to, __global const ipt_unit *restrict from, ulong units)
{
    for (ulong k = 0; k < units; ++k)
        to[k] = from[k];
}

/* Stores a tile transposed: its long side has `length` elements. */
IPT_INLINE void ipt_store_thin(__global ipt_unit *restrict to, __local const ipt_unit *restrict from, ulong length,
                               const ipt_given *g)
{
    if (IPT_TALL)
        for (ulong k = 0; k < length; ++k) {
#pragma unroll
            for (uint i = 0; i < IPT_CHANNELS; ++i)
                to[i * length + k] = ipt_apply(from[k * IPT_CHANNELS + i], g);
        }
    else
        for (ulong k = 0; k < length; ++k) {
#pragma unroll
            for (uint i = 0; i < IPT_CHANNELS; ++i)
                to[k * IPT_CHANNELS + i] = ipt_apply(from[i * length + k], g);
        }
}

/* Moves units [first, end) of all runs. A run's place in the result takes the run that belongs there. */
IPT_INLINE void ipt_move_cycles(__global ipt_unit *matrix, __local ipt_unit *held, __local uchar *moved, ulong first,
                                ulong end, const ipt_given *g)
{
    const uint rows = IPT_TALL ? g->tiles : IPT_CHANNELS, cols = IPT_TALL ? IPT_CHANNELS : g->tiles;
    const ulong units = end - first, length = g->tile_length;
    for (uint run = 0; run < rows * cols; ++run)
        moved[run] = 0;
    for (uint run = 0; run < rows * cols; ++run) {
        uint place = run, from = run % rows * cols + run / rows;
        if (moved[run] || from == run)
            continue;
        ipt_load_units(held, matrix + run * length + first, units);
        for (; from != run; from = place % rows * cols + place / rows) {
            ipt_move_units(matrix + place * length + first, matrix + from * length + first, units);
            moved[place] = 1;
            place = from;
        }
        ipt_store_units(matrix + place * length + first, held, units);
        moved[place] = 1;
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void ipt_k_thin(__global ipt_unit *matrices,
                                                                        __local ipt_unit *tile IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    const uint part = get_group_id(0) % g->parts, group = get_group_id(0) / g->parts;
    const ulong units = IPT_CHANNELS * g->tile_length;
    const uint first_tile = (uint)((ulong)g->tiles * part / g->parts),
               end_tile = (uint)((ulong)g->tiles * (part + 1) / g->parts);
    for (uint m = group * g->each; m < min(g->matrices, (group + 1) * g->each); ++m) {
        __global ipt_unit *const matrix = matrices + g->base + m * g->matrix_stride;
        for (uint step = 0; step < 2; ++step)
            if (step == IPT_TALL && g->moves_runs != 0)
                ipt_move_cycles(matrix, tile, (__local uchar *)(tile + units), g->tile_length * part / g->parts,
                                g->tile_length * (part + 1) / g->parts, g);
            else if (step != IPT_TALL && g->moves_tiles != 0)
                for (uint t = first_tile; t < end_tile; ++t) {
                    ipt_load_units(tile, matrix + t * units, units);
                    ipt_store_thin(matrix + t * units, tile, g->tile_length, g);
                }
    }
}
