/* BS: transposition 010! in local memory. A work-group holds `pack` whole instances and writes them back transposed. */
#include "parts/unit.cl"
#include "parts/divide.cl"

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_BANK_PADDING)
#error "IPT_ELEMENT_UNITS and IPT_BANK_PADDING must be defined"
#endif

/* The place of unit k in local memory. Without padding, a column of a tile whose rows have a multiple of 32 units lies
 * in one bank. */
#if IPT_BANK_PADDING
#define IPT_PLACE(k) ((k) + (k) / 32)
#else
#define IPT_PLACE(k) (k)
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_tile(__global ipt_unit *matrix, __local ipt_unit *tile IPT_GIVEN_ARGUMENTS)
{
    IPT_NAME_ARGUMENTS;
    const ulong first = (ulong)get_group_id(0) * pack;
    const ulong left = instances - first;
    const uint count = left < pack ? (uint)left : pack;
    const uint id = get_local_id(0), lines = IPT_GROUP_SIZE / lanes;
    const uint lane = interleaved ? id / lines : id & (lanes - 1), line = interleaved ? id & (lines - 1) : id / lanes;

    for (uint packed = line; packed < count; packed += lines) {
        const ulong instance = first + packed;
        const ulong m = ipt_divide64(instance, instances_per_matrix_magic, instances_per_matrix_shift);
        const ulong begin = base + m * matrix_stride + (instance - m * instances_per_matrix) * instance_units;
        for (uint k = lane; k < instance_units; k += lanes)
            tile[IPT_PLACE(packed * instance_units + k)] = matrix[begin + k];
    }

#if IPT_GROUP_SIZE > 1 /* PoCL 3.1's compiler fails on a barrier before such loops */
    barrier(CLK_LOCAL_MEM_FENCE);
#endif

    for (uint packed = line; packed < count; packed += lines) {
        const ulong instance = first + packed;
        const ulong m = ipt_divide64(instance, instances_per_matrix_magic, instances_per_matrix_shift);
        const ulong begin = base + m * matrix_stride + (instance - m * instances_per_matrix) * instance_units;
#if IPT_GROUP_SIZE == 1
        /* A single work-item follows the rows of the result and needs no division. */
        const uint parts = IPT_ELEMENT_UNITS == 1 ? 1 : element_units, run = column_units / parts;
        ulong to = begin;
        for (uint col = 0; to < begin + instance_units; ++col)
            for (uint element = 0; element < run; ++element) {
                const uint from = packed * instance_units + (uint)(origin + (int)element * along + (int)col * next);
                for (uint part = 0; part < parts; ++part)
                    matrix[to++] = IPT_APPLIED(tile[IPT_PLACE(from + part)]);
            }
#else
        for (uint k = lane; k < instance_units; k += lanes) {
            const uint col = ipt_divide32(k, column_units_magic, column_units_shift);
            const uint within = k - col * column_units;
#if IPT_ELEMENT_UNITS == 1
            const uint from = (uint)(origin + (int)within * along + (int)col * next);
#else
            const uint row = ipt_divide32(within, element_units_magic, element_units_shift);
            const uint from = (uint)(origin + (int)row * along + (int)col * next) + (within - row * element_units);
#endif
            matrix[begin + k] = IPT_APPLIED(tile[IPT_PLACE(packed * instance_units + from)]);
        }
#endif
    }
}
