/* Applies the plan's expression to every element in place. A plan uses this stage if no other stage handles each
 * element exactly once. */
#include "parts/unit.cl"

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_map(__global ipt_unit *matrix IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    const ulong line = get_group_id(0) / g->groups, m = line / g->lines;
    const ulong first = (get_group_id(0) - line * g->groups) * g->group_units,
                end = min(g->units, first + g->group_units);
    __global ipt_unit *origin = matrix + g->base + m * g->matrix_stride + (line - m * g->lines) * g->line_stride;
    for (ulong i = first + get_local_id(0); i < end; i += IPT_GROUP_SIZE)
        origin[i] = ipt_apply(origin[i], g);
}
