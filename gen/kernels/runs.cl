/* Moves the runs of one band of the band exchange, without waits: see ipt__bands. The launch before reads the band into
 * a slab (tall), or the launch after writes it from there (wide). Run x of the band is `height` elements of column x of
 * the band layout. Columns of the slot layout lie column_stride apart; band d's part of column x begins at d * height.
 *
 * Column x = d * width + i of band s has its partner, column s * width + i of band d. Tall: if band d comes later, the
 * run is parked at the partner's place. If band d came earlier, the partner is parked at the run's place: the two
 * change places. Wide: the same moves, reversed.
 *
 * Reversed runs (rotations) are stored backwards, in columns whose parts have the opposite sequence: the transposition
 * reads or writes the band's rows from the last one on. Reversed columns: column x is element short_side - 1 - x of a
 * row.
 *
 * Invariant: a work-item stores to a place only after this work-item or an earlier launch has loaded it. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/single.cl"
#include "parts/pieces.cl"
#include "parts/run_moves.cl"

#if !defined(IPT_LANES) || !defined(IPT_TALL) || !defined(IPT_ELEMENT_UNITS)
#error "IPT_LANES, IPT_TALL and IPT_ELEMENT_UNITS must be defined"
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_runs(__global ipt_unit *matrices, __global ipt_unit *workspace IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    const uint lane = get_local_id(0) % IPT_LANES, line = get_local_id(0) / IPT_LANES;
    const uint all_blocks = ipt_divide32(get_group_id(0), IPT_DIVISOR(g->chunks));
    const uint chunk = get_group_id(0) - all_blocks * g->chunks;
    const uint m = ipt_divide32(all_blocks, IPT_DIVISOR(g->blocks)), block = all_blocks - m * g->blocks;
    __global ipt_unit *const matrix = matrices + g->base + m * g->matrix_stride;
    __global ipt_unit *const saved = workspace + g->saved_base + m * g->saved_stride;
    __global ipt_unit *const slab = workspace + g->slab_base + m * g->slab_stride + chunk * g->chunk_units;
    const ulong units = min(g->chunk_units, g->run_units - chunk * g->chunk_units), start = chunk * g->chunk_units;
    ipt_move_runs(matrix, saved, slab, g->instance, block * g->block_runs + line,
                  min(g->short_side, (block + 1) * g->block_runs), lane, start, units, g);
}
