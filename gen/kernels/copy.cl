/* Copies rows between two slot grids: slabs to and from the slots of a panel, and the saved remainder to its gaps.
 * IPT_LANES work-items share a row; on CPUs, one work-item per row is fastest. Source and target do not overlap. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/single.cl"
#include "parts/slots.cl"
#include "parts/pieces.cl"

#if !defined(IPT_LANES)
#error "IPT_LANES must be defined"
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_copy(__global ipt_unit *source, __global ipt_unit *target IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    const ulong line = (ulong)get_group_id(0) * (IPT_GROUP_SIZE / IPT_LANES) + get_local_id(0) / IPT_LANES;
    const uint lane = get_local_id(0) % IPT_LANES;
    const ulong all_row = ipt_divide64(line, IPT_DIVISOR(g->chunks));
    const ulong start = (line - all_row * g->chunks) * g->chunk_units;
    const ulong m = ipt_divide64(all_row, IPT_DIVISOR(g->rows));
    const ulong row = all_row - m * g->rows;

    __global ipt_unit *read =
        source + g->source_base + m * g->source_matrix_stride + start +
        ipt_slot_address(g->source_first + row, IPT_DIVISOR(g->source_row_slots), g->source_row_stride, g->row_units);
    __global ipt_unit *write =
        target + g->target_base + m * g->target_matrix_stride + start +
        ipt_slot_address(g->target_first + row, IPT_DIVISOR(g->target_row_slots), g->target_row_stride, g->row_units);
    const uint units = line < g->lines ? (uint)min((ulong)g->chunk_units, g->row_units - start) : 0;
#if IPT_GROUP_SIZE == 1
    ipt_copy_run(write, read, lane, units);
#else
    for (uint k = lane; k < units; k += IPT_LANES)
        write[k] = read[k];
#endif
}
