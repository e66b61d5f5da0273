/* Copies rows between two slot grids: slabs to and from the slots of a panel, and the saved remainder to its gaps.
 * IPT_LANES work-items share a row; on CPUs, one work-item per row is fastest. Source and target do not overlap. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/slots.cl"

#if !defined(IPT_LANES)
#error "IPT_LANES must be defined"
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_copy(__global ipt_unit *source, __global ipt_unit *target IPT_GIVEN_ARGUMENTS)
{
    IPT_NAME_ARGUMENTS;
    const ulong line = (ulong)get_group_id(0) * (IPT_GROUP_SIZE / IPT_LANES) + get_local_id(0) / IPT_LANES;
    const uint lane = get_local_id(0) % IPT_LANES;
    const ulong all_row = ipt_divide64(line, chunks_magic, chunks_shift);
    const ulong start = (line - all_row * chunks) * chunk_units;
    const ulong m = ipt_divide64(all_row, rows_magic, rows_shift);
    const ulong row = all_row - m * rows;

    __global ipt_unit *read = source + source_base + m * source_matrix_stride + start +
                              ipt_slot_address(source_first + row, source_row_slots, source_row_slots_magic,
                                               source_row_slots_shift, source_row_stride, row_units);
    __global ipt_unit *write = target + target_base + m * target_matrix_stride + start +
                               ipt_slot_address(target_first + row, target_row_slots, target_row_slots_magic,
                                                target_row_slots_shift, target_row_stride, row_units);
    const uint units = line < lines ? (uint)min((ulong)chunk_units, row_units - start) : 0;
    for (uint k = lane; k < units; k += IPT_LANES)
        write[k] = read[k];
}
