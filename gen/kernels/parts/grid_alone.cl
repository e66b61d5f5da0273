/* One work-group transposes a grid alone. */

/* Transposes a rows x cols grid in place by one work-group, along cycles of single units as in shuffle.cl. Each unit
 * has one flag bit. */
void ipt_transpose_alone(__global ipt_unit *grid, volatile __global uint *flags, uint rows, uint cols,
                         uint element_units IPT_APPLY_PARAMETER)
{
    const uint units = rows * cols * element_units;
    for (uint w = get_local_id(0); w < (units + 31) / 32; w += IPT_GROUP_SIZE)
        flags[w] = 0;
    IPT_FENCE_DEVICE();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint start = get_local_id(0); start < units; start += IPT_GROUP_SIZE) {
        const uint part = start % element_units;
        uint at = start;
        ipt_unit held = grid[at];
        IPT_FENCE_DEVICE();
        bool going = (atomic_or(&flags[at / 32], 1u << at % 32) >> at % 32 & 1u) == 0;
        while (going) {
            const uint element = at / element_units, row = element / cols, col = element % cols;
            at = ((IPT_REVERSED_COLUMNS == 0 ? col : cols - 1 - col) * rows +
                  (IPT_REVERSED_RUNS == 0 ? row : rows - 1 - row)) *
                     element_units +
                 part;
            const ipt_unit next = grid[at];
            IPT_FENCE_DEVICE();
            going = (atomic_or(&flags[at / 32], 1u << at % 32) >> at % 32 & 1u) == 0;
            IPT_FENCE_DEVICE();
            grid[at] = IPT_APPLIED(held);
            held = next;
        }
    }
    IPT_FENCE_DEVICE();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
