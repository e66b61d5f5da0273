/* One work-group transposes a grid alone. */

#define IPT_WINDOWS 16 /* parts of the grid that share the flags */

/* Where the element at `at` goes. */
IPT_INLINE uint ipt_crossed(uint at, uint rows, uint cols)
{
    const uint row = at / cols, col = at % cols;
    return (IPT_REVERSED_COLUMNS == 0 ? col : cols - 1 - col) * rows + (IPT_REVERSED_RUNS == 0 ? row : rows - 1 - row);
}

/* Whether the cycle of element `start` has no element before `first`. */
bool ipt_is_new_cycle(uint start, uint first, uint rows, uint cols)
{
    uint at = start;
    if (first == 0)
        return true;
    do
        at = ipt_crossed(at, rows, cols);
    while (at >= first && at != start);
    return at == start;
}

/* Transposes a rows x cols grid in place by one work-group, along cycles as in shuffle.cl. The elements of a window
 * have one flag bit each. A cycle moves in the first window that has an element of it, in pieces from one element of
 * the window to the next. So later windows follow a cycle until they know: a few steps, as earlier windows are a large
 * part of the grid. The units of elements move one after the other. */
void ipt_transpose_alone(__global ipt_unit *grid, volatile __global uint *flags, uint rows, uint cols,
                         uint element_units IPT_APPLY_PARAMETER)
{
    const uint elements = rows * cols, window = (elements / IPT_WINDOWS + 32) / 32 * 32;
    for (uint n = 0; n < element_units * ((elements + window - 1) / window); ++n) {
        const uint part = n % element_units, first = n / element_units * window, end = min(elements - first, window);
        for (uint w = get_local_id(0); w < (end + 31) / 32; w += IPT_GROUP_SIZE)
            flags[w] = 0;
        IPT_FENCE_DEVICE();
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint start = get_local_id(0); start < end; start += IPT_GROUP_SIZE) {
            uint at = first + start;
            if (!ipt_is_new_cycle(at, first, rows, cols))
                continue;
            ipt_unit held = grid[at * element_units + part];
            IPT_FENCE_DEVICE();
            bool going = (atomic_or(&flags[start / 32], 1u << start % 32) >> start % 32 & 1u) == 0;
            while (going) {
                at = ipt_crossed(at, rows, cols);
                const ipt_unit next = grid[at * element_units + part];
                const uint in_window = at - first;
                if (in_window < end) {
                    IPT_FENCE_DEVICE();
                    going = (atomic_or(&flags[in_window / 32], 1u << in_window % 32) >> in_window % 32 & 1u) == 0;
                    IPT_FENCE_DEVICE();
                }
                grid[at * element_units + part] = IPT_APPLIED(held);
                held = next;
            }
        }
        IPT_FENCE_DEVICE();
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
