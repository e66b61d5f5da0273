/* Transposes square grids of super-elements, and each super-element on the way if IPT_INNER is 1. A worker of IPT_LANES
 * work-items swaps two super-elements, so workers neither claim slots nor wait for one another. Super-elements on the
 * diagonal are their own partners. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/single.cl"
#include "parts/inner.cl"
#include "parts/pieces.cl"

#if !defined(IPT_LANES) || !defined(IPT_INNER)
#error "IPT_LANES and IPT_INNER must be defined"
#endif

#define IPT_LANE ((uint)get_local_id(0) % IPT_LANES)
#define IPT_WORKER ((uint)get_local_id(0) / IPT_LANES)
#define IPT_WORKERS (IPT_GROUP_SIZE / IPT_LANES)
#define IPT_GAPS (IPT_LANES > 1)
#define IPT_LOADS 8 /* loads in flight per work-item */

#if IPT_INNER
/* Loads a super-element into local memory. */
IPT_INLINE void ipt_hold(__local ipt_unit *held, __global const ipt_unit *from, uint units)
{
    for (uint first = IPT_LANE; first < units; first += IPT_LOADS * IPT_LANES) {
        ipt_unit coming[IPT_LOADS];
#pragma unroll
        for (uint r = 0; r < IPT_LOADS; ++r)
            if (first + r * IPT_LANES < units)
                coming[r] = from[first + r * IPT_LANES];
#pragma unroll
        for (uint r = 0; r < IPT_LOADS; ++r)
            if (first + r * IPT_LANES < units)
                held[ipt_held_at(first + r * IPT_LANES, IPT_GAPS)] = coming[r];
    }
}
#else
/* Swaps two runs. */
IPT_INLINE void ipt_swap(__global ipt_unit *one, __global ipt_unit *other, uint units)
{
#if IPT_GROUP_SIZE == 1
    ipt_swap_run(one, other, units);
#else
    for (uint first = IPT_LANE; first < units; first += IPT_LOADS / 2 * IPT_LANES) {
        ipt_unit a[IPT_LOADS / 2], b[IPT_LOADS / 2];
#pragma unroll
        for (uint r = 0; r < IPT_LOADS / 2; ++r)
            if (first + r * IPT_LANES < units) {
                a[r] = one[first + r * IPT_LANES];
                b[r] = other[first + r * IPT_LANES];
            }
#pragma unroll
        for (uint r = 0; r < IPT_LOADS / 2; ++r)
            if (first + r * IPT_LANES < units) {
                other[first + r * IPT_LANES] = a[r];
                one[first + r * IPT_LANES] = b[r];
            }
    }
#endif
}
#endif

/* Corresponding pieces of a pair of super-elements: their offsets from the begin of the matrices. */
typedef struct ipt_pair {
    ulong one, other;
    uint units; /* of this piece; 0: no pair is left */
} ipt_pair;

/* The super-elements on and above the diagonal are folded into a rectangle of `width` columns: its row y has those of
 * grid row y and of the grid row that completes it, as the tiles in swap.cl. */
IPT_INLINE void ipt_find_pair(ipt_pair *pair, ulong number, const ipt_given *g)
{
    const ulong all = ipt_divide64(number, IPT_DIVISOR(g->pieces)), piece = number - all * g->pieces;
    const ulong grid = ipt_divide64(all, IPT_DIVISOR(g->pairs)), in_grid = all - grid * g->pairs;
    const ulong m = ipt_divide64(grid, IPT_DIVISOR(g->instances_per_matrix));
    const ulong y = ipt_divide64(in_grid, IPT_DIVISOR(g->width)), x = in_grid - y * g->width;
    const ulong even = 1 - (g->side & 1);
    const bool direct = x >= y + even;
    const ulong upper = direct ? y : g->side - even - y, right = direct ? x - even : g->side - 1 - x;
    const ulong origin = g->base + m * g->matrix_stride + (grid - m * g->instances_per_matrix) * g->instance_stride +
                         piece * g->piece_units;
    pair->one = origin + (upper * g->side + right) * g->super_units;
    pair->other = origin + (right * g->side + upper) * g->super_units;
    pair->units = all < g->total_pairs ? (uint)min((ulong)g->piece_units, g->super_units - piece * g->piece_units) : 0;
}

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_pairs(__global ipt_unit *matrix IPT_LOCAL_PARAMETER(ipt_unit, all_held) IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_NAME_LOCAL(ipt_unit, all_held)
#if IPT_INNER
    const uint room = ipt_held_at(g->piece_units, IPT_GAPS);
    __local ipt_unit *one = all_held + IPT_WORKER * 2 * room, *other = one + room;
    ipt_inner inner;
    ipt_find_inner(&inner, IPT_LANE, g->inner_rows, g->inner_cols, g->element_units);
#endif
    for (uint turn = 0; turn < g->turns; ++turn) {
        ipt_pair pair;
        ipt_find_pair(&pair, (get_group_id(0) * (ulong)g->turns + turn) * IPT_WORKERS + IPT_WORKER, g);
#if IPT_INNER
        if (pair.units != 0) {
            ipt_hold(one, matrix + pair.one, pair.units);
            ipt_hold(other, matrix + pair.other, pair.units);
        }
#if IPT_LANES > 1
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
        if (pair.units != 0) {
            ipt_store_inner(matrix + pair.other, one, IPT_LANE, &inner, IPT_GAPS);
            if (pair.one != pair.other)
                ipt_store_inner(matrix + pair.one, other, IPT_LANE, &inner, IPT_GAPS);
        }
#if IPT_LANES > 1
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
#else
        if (pair.one != pair.other)
            ipt_swap(matrix + pair.one, matrix + pair.other, pair.units);
#endif
    }
}
