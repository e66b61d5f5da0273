/* Reverses the elements of each row, the order of the rows, or both, in place, by swapping pairs of elements. Pair j of
 * line l swaps the line's element j with the element at partner + l * partner_line + j * partner_step units. Lines
 * begin line_units apart. */
#include "parts/unit.cl"
#include "parts/divide.cl"

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_INDEX_BITS)
#error "IPT_ELEMENT_UNITS and IPT_INDEX_BITS must be defined"
#endif

#if IPT_GROUP_SIZE == 1
/* Swaps `count` elements from `one` on with those from `other` on. They do not overlap. A step of 1: both ascend; -1:
 * the others descend. */
IPT_INLINE void ipt_swap_elements(__global ipt_unit *restrict one, __global ipt_unit *restrict other, ulong count,
                                  long step IPT_ARGUMENTS)
{
    const ulong units = count * element_units;
    if (step > 0)
        for (ulong k = 0; k < units; ++k) {
            const ipt_unit held = one[k];
            one[k] = other[k];
            other[k] = held;
        }
#if IPT_ELEMENT_UNITS == 1
    else
        for (ulong k = 0; k < units; ++k) {
            const ipt_unit held = one[k];
            one[k] = other[-(long)k];
            other[-(long)k] = held;
        }
#else
    else
        for (ulong k = 0; k < count; ++k)
            for (uint part = 0; part < element_units; ++part) {
                const ipt_unit held = one[k * element_units + part];
                one[k * element_units + part] = other[part - (long)k * element_units];
                other[part - (long)k * element_units] = held;
            }
#endif
}
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_flip(__global ipt_unit *matrix IPT_GIVEN_ARGUMENTS)
{
    IPT_NAME_ARGUMENTS;
    const uint m = get_group_id(0) / groups;
    const ulong first = (ulong)(get_group_id(0) - m * groups) * group_pairs, end = min(pairs, first + group_pairs);
    __global ipt_unit *origin = matrix + base + m * matrix_stride;
#if IPT_GROUP_SIZE == 1
    for (ulong pair = first; pair < end;) {
        const ulong line = pair / line_pairs, j = pair - line * line_pairs, count = min(end - pair, line_pairs - j);
        ipt_swap_elements(origin + (line * line_units + j * element_units),
                          origin + (partner + (long)line * partner_line + (long)j * partner_step), count,
                          partner_step IPT_PASSED);
        pair += count;
    }
#else
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
#endif
}
