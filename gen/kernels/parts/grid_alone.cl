/* One work-group transposes a grid alone. */

#define IPT_WINDOWS 16         /* parts of a large grid: each uses the flags anew */
#define IPT_WINDOW_UNITS 4096u /* least units of a window */

/* A grid of rows x cols elements and its transpose, in the same memory. Lengths are in units. */
typedef struct ipt_grid {
    uint rows, cols, element_units;
    uint row_units, column_units; /* from row to row, and from row to row of the transpose */
} ipt_grid;

IPT_INLINE bool ipt_has_unit(uint at, uint row_units, uint rows, uint row_end)
{
    return at / row_units < rows && at % row_units < row_end;
}

/* Where the unit at `at` goes. */
IPT_INLINE uint ipt_target_of(const ipt_grid *grid, uint at)
{
    const uint row = at / grid->row_units, unit = at % grid->row_units, col = unit / grid->element_units;
    return (IPT_REVERSED_COLUMNS == 0 ? col : grid->cols - 1 - col) * grid->column_units +
           (IPT_REVERSED_RUNS == 0 ? row : grid->rows - 1 - row) * grid->element_units + unit % grid->element_units;
}

/* Where the unit comes from that goes to `at`. */
IPT_INLINE uint ipt_source_of(const ipt_grid *grid, uint at)
{
    const uint line = at / grid->column_units, unit = at % grid->column_units, in_line = unit / grid->element_units;
    return (IPT_REVERSED_RUNS == 0 ? in_line : grid->rows - 1 - in_line) * grid->row_units +
           (IPT_REVERSED_COLUMNS == 0 ? line : grid->cols - 1 - line) * grid->element_units +
           unit % grid->element_units;
}

/* Whether the unit at `start` has not moved with the windows before `first`. It has moved if these windows contain a
 * unit that precedes it in its chain. */
IPT_FUNCTION bool ipt_is_unmoved(const ipt_grid *grid, uint start, uint first)
{
    uint at = start;
    do {
        if (first == 0 || !ipt_has_unit(at, grid->column_units, grid->cols, grid->rows * grid->element_units))
            return true;
        at = ipt_source_of(grid, at);
    } while (at >= first && at != start);
    return at == start;
}

/* Transposes a grid in place by one work-group, along chains in which each unit moves to the place of the next. A chain
 * is a cycle or ends at a gap. Each unit of the current window has a flag bit. A chain moves in pieces, from one unit
 * of the window to the next; other units belong to one piece only. Chains that touch earlier windows have moved.
 * ipt_is_unmoved soon finds that, as earlier windows are a large part of the grid. */
IPT_INLINE void ipt_transpose_alone(__global ipt_unit *memory, volatile __global uint *flags, ipt_grid grid,
                                    const ipt_given *g)
{
    const uint row_end = grid.cols * grid.element_units, units = (grid.rows - 1) * grid.row_units + row_end;
    const uint window = max((units / IPT_WINDOWS + 32) / 32 * 32, IPT_WINDOW_UNITS);
    for (uint first = 0; first < units; first += window) {
        const uint count = min(units - first, window);
        for (uint w = get_local_id(0); w < (count + 31) / 32; w += IPT_GROUP_SIZE)
            flags[w] = 0;
        IPT_FENCE_DEVICE();
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint start = get_local_id(0); start < count; start += IPT_GROUP_SIZE) {
            uint at = first + start;
            if (at % grid.row_units >= row_end || !ipt_is_unmoved(&grid, at, first))
                continue;
            ipt_unit held = memory[at];
            IPT_FENCE_DEVICE();
            bool going = (atomic_or(&flags[start / 32], 1u << start % 32) >> start % 32 & 1u) == 0;
            while (going) {
                ipt_unit next = (ipt_unit)0;
                at = ipt_target_of(&grid, at);
                going = at >= first && ipt_has_unit(at, grid.row_units, grid.rows, row_end);
                if (going) {
                    const uint in_window = at - first;
                    next = memory[at];
                    if (in_window < count) {
                        IPT_FENCE_DEVICE();
                        going = (atomic_or(&flags[in_window / 32], 1u << in_window % 32) >> in_window % 32 & 1u) == 0;
                        IPT_FENCE_DEVICE();
                    }
                }
                memory[at] = ipt_apply(held, g);
                held = next;
            }
        }
        IPT_FENCE_DEVICE();
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
