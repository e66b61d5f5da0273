/* Transposition 010! in local memory. A work-group loads `pack` whole instances and writes them back transposed. */
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
ipt_k_tile(__global ipt_unit *matrix IPT_LOCAL_PARAMETER(ipt_unit, tile) IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_NAME_LOCAL(ipt_unit, tile)
    const ulong first = (ulong)get_group_id(0) * g->pack;
    const ulong left = g->instances - first;
    const uint count = left < g->pack ? (uint)left : g->pack;
    const uint id = get_local_id(0), lines = IPT_GROUP_SIZE / g->lanes;
    const uint lane = g->interleaved ? id / lines : id & (g->lanes - 1),
               line = g->interleaved ? id & (lines - 1) : id / g->lanes;

    for (uint packed = line; packed < count; packed += lines) {
        const ulong instance = first + packed;
        const ulong m = ipt_divide64(instance, IPT_DIVISOR(g->instances_per_matrix));
        const ulong begin =
            g->base + m * g->matrix_stride + (instance - m * g->instances_per_matrix) * g->instance_units;
        for (uint k = lane; k < g->instance_units; k += g->lanes)
            tile[IPT_PLACE(packed * g->instance_units + k)] = matrix[begin + k];
    }

#if IPT_GROUP_SIZE > 1 /* PoCL 3.1's compiler fails on a barrier before the loops below */
    barrier(CLK_LOCAL_MEM_FENCE);
#endif

    for (uint packed = line; packed < count; packed += lines) {
        const ulong instance = first + packed;
        const ulong m = ipt_divide64(instance, IPT_DIVISOR(g->instances_per_matrix));
        const ulong begin =
            g->base + m * g->matrix_stride + (instance - m * g->instances_per_matrix) * g->instance_units;
#if IPT_GROUP_SIZE == 1
        /* A single work-item follows the rows of the result and needs no division. */
        const uint parts = IPT_ELEMENT_UNITS == 1 ? 1 : g->element_units, run = g->column_units / parts;
        ulong to = begin;
        for (uint col = 0; to < begin + g->instance_units; ++col)
            for (uint element = 0; element < run; ++element) {
                const uint from =
                    packed * g->instance_units + (uint)(g->origin + (int)element * g->along + (int)col * g->next);
                for (uint part = 0; part < parts; ++part)
                    matrix[to++] = ipt_apply(tile[IPT_PLACE(from + part)], g);
            }
#else
        for (uint k = lane; k < g->instance_units; k += g->lanes) {
            const uint col = ipt_divide32(k, IPT_DIVISOR(g->column_units));
            const uint within = k - col * g->column_units;
#if IPT_ELEMENT_UNITS == 1
            const uint from = (uint)(g->origin + (int)within * g->along + (int)col * g->next);
#else
            const uint row = ipt_divide32(within, IPT_DIVISOR(g->element_units));
            const uint from =
                (uint)(g->origin + (int)row * g->along + (int)col * g->next) + (within - row * g->element_units);
#endif
            matrix[begin + k] = ipt_apply(tile[IPT_PLACE(packed * g->instance_units + from)], g);
        }
#endif
    }
}
