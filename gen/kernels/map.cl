/* Applies the plan's expression to every element in place. A plan uses this stage if no other stage handles each
 * element exactly once. */
#include "parts/unit.cl"

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_map(__global ipt_unit *matrix IPT_GIVEN_ARGUMENTS)
{
    IPT_NAME_ARGUMENTS;
    const ulong line = get_group_id(0) / groups, m = line / lines;
    const ulong first = (get_group_id(0) - line * groups) * group_units, end = min(units, first + group_units);
    __global ipt_unit *origin = matrix + base + m * matrix_stride + (line - m * lines) * line_stride;
    for (ulong i = first + get_local_id(0); i < end; i += IPT_GROUP_SIZE)
        origin[i] = IPT_APPLIED(origin[i]);
}
