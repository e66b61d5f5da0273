/* Applies the plan's expression to every element in place: an expression that names places and that no other stage
 * applies, or one that no other stage applies to each element exactly once. Elements are numbered along the axes of the
 * result, from one matrix to the next. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/places.cl"

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_map(__global ipt_unit *matrix IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    const ulong line = get_group_id(0) / g->groups, m = line / g->lines;
    const ulong first = (get_group_id(0) - line * g->groups) * g->group_units;
    const uint units = (uint)min(g->group_units, g->units - first);
    const ipt_number begin = (ipt_number)(line * g->units + first);
    __global ipt_unit *const run =
        matrix + g->base + m * g->matrix_stride + (line - m * g->lines) * g->line_stride + first;
#ifdef IPT_APPLY_RUN /* C's text: the expression is a function */
    IPT_APPLY_RUN(run, units, begin);
#else
    for (uint k = get_local_id(0); k < units; k += IPT_GROUP_SIZE)
        run[k] = ipt_apply_to(run[k], begin + k, g);
#endif
}
