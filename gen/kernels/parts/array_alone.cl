/* Permutes an array in place by one work-group. */

#define IPT_WINDOWS 16         /* parts of a large array that share the flags */
#define IPT_WINDOW_UNITS 4096u /* of a part, at least */

/* Whether the unit at `start` has not moved with the windows before `first`. */
IPT_INLINE bool ipt_is_unmoved(uint start, uint first, const ipt_given *g)
{
    uint at = start;
    do
        at = first == 0 ? start : ipt_place_before(at, g);
    while (at >= first && at != start);
    return at == start;
}

/* Permutes an array in place by one work-group, as ipt_transpose_alone does a grid. number: units of all results before
 * it. */
IPT_INLINE void ipt_permute_alone(__global ipt_unit *array, uint number, volatile __global uint *flags,
                                  const ipt_given *g)
{
    const uint units = g->array_units, window = max((units / IPT_WINDOWS + 32) / 32 * 32, IPT_WINDOW_UNITS);
    for (uint first = 0; first < units; first += window) {
        const uint count = min(units - first, window);
        for (uint w = get_local_id(0); w < (count + 31) / 32; w += IPT_GROUP_SIZE)
            flags[w] = 0;
        IPT_FENCE_DEVICE();
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint start = get_local_id(0); start < count; start += IPT_GROUP_SIZE) {
            uint at = first + start;
            if (!ipt_is_unmoved(at, first, g))
                continue;
            ipt_unit held = array[at];
            IPT_FENCE_DEVICE();
            bool going = (atomic_or(&flags[start / 32], 1u << start % 32) >> start % 32 & 1u) == 0;
            while (going) {
                at = ipt_place_after(at, g);
                const ipt_unit next = array[at];
                const uint in_window = at - first;
                if (in_window < count) {
                    IPT_FENCE_DEVICE();
                    going = (atomic_or(&flags[in_window / 32], 1u << in_window % 32) >> in_window % 32 & 1u) == 0;
                    IPT_FENCE_DEVICE();
                }
                array[at] = ipt_apply_to(held, number + at, g);
                held = next;
            }
        }
        IPT_FENCE_DEVICE();
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
