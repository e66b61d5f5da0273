/* Applies the plan's expression to every element in place: an expression that names places, or one that no other stage
 * applies to each element exactly once. Elements are numbered along the axes of the result, from one matrix to the
 * next. IPT_AXES is 0 if no place is named. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#ifndef IPT_EXPRESSION_AT
#define IPT_EXPRESSION_AT IPT_EXPRESSION
#endif

/* ipt_apply with the names of places: b of the matrix or array, i0 to i7 along the axes of the result, i and j. */
IPT_INLINE ipt_unit ipt_apply_at(ipt_unit unit, const ipt_given *g, long b, long i0, long i1, long i2, long i3, long i4,
                                 long i5, long i6, long i7)
{
#if defined(IPT_APPLY) && IPT_APPLY
#if IPT_APPLY == 2
    const IPT_EXPRESSION_ARGUMENT_TYPE a = g->expression_argument;
#endif
    const IPT_EXPRESSION_TYPE x = IPT_AS(IPT_EXPRESSION_TYPE)(unit);
#define i i0
#define j i1
    const IPT_EXPRESSION_TYPE result = IPT_EXPRESSION_AT;
#undef i
#undef j
    return IPT_AS_UNIT(result);
#else
    return unit;
#endif
}

/* Splits `rest` into the place along axis k and the number of lines before it. Axes from IPT_AXES on have no places. */
#define IPT_SPLIT(k, rest, lines)                                                                                      \
    const ipt_index lines = IPT_AXES > k ? ipt_divide_index(rest, IPT_DIVISOR(g->length##k)) : rest;                   \
    const long i##k = IPT_AXES > k ? (long)(rest - lines * (ipt_index)g->length##k) : 0

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_map(__global ipt_unit *matrix IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    const ulong line = get_group_id(0) / g->groups, m = line / g->lines;
    const ulong first = (get_group_id(0) - line * g->groups) * g->group_units;
    const uint units = (uint)min(g->group_units, g->units - first);
    const ipt_index begin = (ipt_index)(line * g->units + first);
    __global ipt_unit *const run =
        matrix + g->base + m * g->matrix_stride + (line - m * g->lines) * g->line_stride + first;
    for (uint k = get_local_id(0); k < units; k += IPT_GROUP_SIZE) {
        const ipt_index number = begin + k;
        IPT_SPLIT(7, number, lines7);
        IPT_SPLIT(6, lines7, lines6);
        IPT_SPLIT(5, lines6, lines5);
        IPT_SPLIT(4, lines5, lines4);
        IPT_SPLIT(3, lines4, lines3);
        IPT_SPLIT(2, lines3, lines2);
        IPT_SPLIT(1, lines2, lines1);
        IPT_SPLIT(0, lines1, b);
        run[k] = ipt_apply_at(run[k], g, (long)b, i0, i1, i2, i3, i4, i5, i6, i7);
    }
}
