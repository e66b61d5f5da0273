/* Reverses the elements of each row, the order of the rows, or both, in place, by swapping pairs of elements. Pair j of
 * line l swaps the line's element j with the element at partner + l * partner_line + j * partner_step units. Lines
 * begin line_units apart. */
#include "parts/unit.cl"
#include "parts/divide.cl"

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_INDEX_BITS)
#error "IPT_ELEMENT_UNITS and IPT_INDEX_BITS must be defined"
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_flip(__global ipt_unit *matrix IPT_ARGUMENTS)
{
    const uint m = get_group_id(0) / groups;
    const ulong first = (ulong)(get_group_id(0) - m * groups) * group_pairs, end = min(pairs, first + group_pairs);
    __global ipt_unit *origin = matrix + base + m * matrix_stride;
    for (ulong pair = first + get_local_id(0); pair < end; pair += IPT_GROUP_SIZE) {
        const ulong line = IPT_DIVIDE((ipt_index)pair, line_pairs_magic, line_pairs_shift),
                    j = pair - line * line_pairs;
        __global ipt_unit *one = origin + line * line_units + j * element_units;
        __global ipt_unit *other = origin + (partner + (long)line * partner_line + (long)j * partner_step);
#if IPT_ELEMENT_UNITS == 1
        const ipt_unit held = *one;
        *one = *other;
        *other = held;
#else
        for (uint part = 0; part < element_units; ++part) {
            const ipt_unit held = one[part];
            one[part] = other[part];
            other[part] = held;
        }
#endif
    }
}
