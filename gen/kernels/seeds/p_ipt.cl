/* P-IPT (Sung et al. 2014, section 4): one worker, a work-item or a work-group, moves a whole cycle of
 * super-elements. There are no flags. A worker walks the cycle of each of its slots, and moves the cycle if that slot
 * has the smallest number in it. Cycles are disjoint, so workers need no synchronisation. */
#include "../parts/unit.cl"
#include "../parts/divide.cl"
#include "../parts/slots.cl"

#if !defined(IPT_INDEX_BITS) || !defined(IPT_LANES)
#error "IPT_INDEX_BITS and IPT_LANES must be defined"
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_p_ipt(__global ipt_unit *matrix IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    const uint lane = get_local_id(0) % IPT_LANES;
    const ulong everyone = (ulong)get_num_groups(0) * (IPT_GROUP_SIZE / IPT_LANES);
    for (ulong n = (ulong)get_group_id(0) * (IPT_GROUP_SIZE / IPT_LANES) + get_local_id(0) / IPT_LANES;
         n < g->total_slots; n += everyone) {
        const ulong instance = n / g->grid_slots, m = instance / g->instances_per_matrix;
        const ipt_index start = (ipt_index)(n - instance * g->grid_slots);
        __global ipt_unit *grid =
            matrix + g->base + m * g->matrix_stride + (instance - m * g->instances_per_matrix) * g->instance_stride;
        ipt_index slot = start;
        do
            slot = ipt_slot_target(slot, g->rows, IPT_DIVISOR(g->cols));
        while (slot > start);
        if (slot < start || ipt_slot_target(start, g->rows, IPT_DIVISOR(g->cols)) == start)
            continue;
        /* Each work-item moves its own units and does not wait for the others. */
        for (ulong k = lane; k < g->super_units; k += IPT_LANES) {
            ipt_unit held = grid[start * g->super_units + k];
            do {
                slot = ipt_slot_target(slot, g->rows, IPT_DIVISOR(g->cols));
                const ipt_unit next = grid[slot * g->super_units + k];
                grid[slot * g->super_units + k] = held;
                held = next;
            } while (slot != start);
        }
    }
}
