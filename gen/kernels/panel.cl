/* Transposition 010!, cooperative. Work-groups transpose panels in place. Each stores one chunk of a panel in local
 * memory and waits for the others.
 *
 * A tall matrix has panels of `length` rows, which are read by rows and written into slots as super-elements. A wide
 * matrix has panels of `length` columns, which are read from slots and written by rows. The remaining `tail_length`
 * rows or columns form a shorter panel, the tail; its super-elements lie in the workspace.
 *
 * A ticket group is a number of panels whose tickets are issued together. Ticket groups follow the sequence in which
 * panels may be written, because a panel's slots extend into the memory of the next panel. Tall: from the last panel to
 * the first, the tail before all. Wide: from the first panel to the last, the tail after all.
 *
 * Invariant: a work-group writes memory of the matrix only when every chunk with elements there is in local memory.
 * Those chunks belong to the same ticket group or to the one before it.
 *
 * Work-groups count finished reads by blocks, so that early work-groups need not wait for all reads. Tall: a block is
 * some rows of the panel. A work-group counts each block after reading its part, and waits for the blocks that its
 * slots overwrite. Wide: a block is the set of work-groups whose slots a certain set of result rows overwrites. A
 * work-group writes these rows when the whole block has read.
 *
 * Tickets are issued in sequence, so the lowest unfinished ticket group is always the first to have all its
 * work-groups. A work-group therefore only waits for running work-groups. If fewer work-groups run at a time than a
 * ticket group needs, a work-group that has waited long closes the ticket counter. Ticket groups whose tickets were all
 * issued finish. The work-groups of later ticket groups leave the matrix unchanged. The last work-group to depart
 * transposes these panels alone.
 *
 * If a matrix is one panel, a chunk may exceed local memory. Work-items store the chunk's last columns in registers,
 * IPT_REGISTERS vectors each, until its first columns have been written.
 *
 * A matrix that is one panel may rotate on the way. Reversed runs: a chunk's rows begin with the last one. Reversed
 * columns: slot i has column short_side - 1 - i.
 *
 * Executions alternate between two control blocks: each execution clears the block of the next one. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/slots.cl"
#include "parts/sync.cl"
#include "parts/vectors.cl"
#include "parts/rows.cl"
#include "parts/tickets.cl"
#include "parts/columns.cl"
#include "parts/grid_alone.cl"
#include "parts/runs_held.cl"
#include "parts/words.cl"
#include "parts/panel_chunks.cl"

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_TALL) || !defined(IPT_NARROW) || !defined(IPT_LOCAL_BYTES) ||          \
    !defined(IPT_INDEX_BITS)
#error "IPT_ELEMENT_UNITS, IPT_TALL, IPT_NARROW, IPT_LOCAL_BYTES and IPT_INDEX_BITS must be defined"
#endif

/* Counts a finished read. Registers need release semantics: a load that is still under way must not see what another
 * work-group writes afterwards. */
#if IPT_REGISTERS
#define IPT_COUNT_READ(word) ipt_signal(word)
#else
#define IPT_COUNT_READ(word) ipt_count_read(word)
#endif

/* Waits until the work-group has read its chunk, and counts the blocks that have arrived: all blocks in turn (tall), or
 * the block of this work-group (wide). Returns whether the work-group is still active. */
IPT_INLINE bool ipt_count_blocks(const ipt_chunk *chunk, volatile __global uint *counters, bool active, uint own_ticket,
                                 const ipt_given *g)
{
    const uint id = get_local_id(0);
    const uint signals = IPT_TALL ? g->blocks : 1,
               own_block = IPT_TALL ? 0 : chunk->x_first * g->blocks / g->short_side;
#if IPT_MEMORY_MODEL == 2
    for (uint b = 0; b < signals; ++b) {
        ipt_fetch_wait_but(signals - 1 - b);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        active = active && own_ticket < IPT_CLOSED;
        /* Signals rotate among the lines, so that a signal does not delay the other lines at the next barrier. */
        if (g->waits && active && id == b * IPT_LINE_LANES % IPT_GROUP_SIZE)
            IPT_COUNT_READ(&counters[own_block + b]);
    }
#else
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    active = active && own_ticket < IPT_CLOSED;
    if (g->waits && active && id == 0)
        for (uint b = 0; b < signals; ++b)
            IPT_COUNT_READ(&counters[own_block + b]);
#endif
    if (id == 0 && !active)
        chunk->shared[IPT_SHARED_GO] = 0;
    return active;
}

#if IPT_NARROW
/* One work-group stores a whole narrow ticket group. It always finishes, because the ticket groups before have their
 * work-groups, too. So it writes the memory of its own ticket group at once. Only writes beyond this memory wait until
 * the previous ticket group has been read. */

#if IPT_TALL
/* Writes the columns that end in the memory of the own ticket group or, late, those that end beyond this memory. */
IPT_INLINE void ipt_store_narrow(const ipt_chunk *chunk, bool go, bool before_too, uint late, const ipt_given *g)
{
    const uint runs = go ? chunk->x * chunk->count : 0, units = chunk->y * g->element_units;
    const uint own_units = chunk->y * chunk->count * (uint)chunk->row_units;
    for (uint run = get_local_id(0) / IPT_LINE_LANES; run < runs; run += IPT_LINES) {
        const uint p = g->pack > 1 ? run / chunk->x : 0;
        const ulong begin = ipt_slot_begin(chunk, run, g);
        if ((before_too && begin + units > chunk->rows_begin + own_units ? 1 : 0) == late)
            ipt_store_column((__local ipt_unit *)chunk->vectors,
                             ((uint)chunk->rows_begin & (IPT_VECTOR_UNITS - 1)) +
                                 p * chunk->y * (uint)chunk->row_units + (run - p * chunk->x) * g->element_units,
                             (uint)chunk->row_units, ipt_slots_of(chunk), begin, units, IPT_DIVISOR(g->element_units),
                             g);
    }
}
#else
/* Writes the rows beyond the memory of the previous ticket group or, late, the rows in this memory. */
IPT_INLINE void ipt_store_narrow(const ipt_chunk *chunk, bool go, bool before_too, uint late, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    const uint id = get_local_id(0), x = chunk->x, y = chunk->y, count = chunk->count;
    const uint own_units = y * count * (uint)chunk->row_units;
    const ulong before_end = before_too
                                 ? chunk->origin + g->length * g->element_units +
                                       ipt_slot_address(chunk->panel * g->short_side - 1, IPT_DIVISOR(g->row_slots),
                                                        g->row_stride, g->length * g->element_units)
                                 : 0;
    const uint reach = before_end > chunk->rows_begin ? (uint)min(before_end - chunk->rows_begin, (ulong)own_units) : 0;
    const uint first = late != 0 ? 0 : reach, units = !go ? 0 : late != 0 ? reach : own_units - reach;
    const uint sector = (uint)(chunk->rows_begin + first) % IPT_SECTOR_UNITS;
    __global ipt_unit *target = chunk->matrix + chunk->rows_begin + first - sector;
#if IPT_ELEMENT_UNITS == 1
    /* Whole rows per iteration keep each work-item in its column, and keep sectors whole where possible. */
    const uint all_rows = IPT_GROUP_SIZE / g->short_side;
    const uint turn_rows = all_rows < IPT_SECTOR_UNITS ? all_rows : all_rows - all_rows % IPT_SECTOR_UNITS;
    const uint turn = turn_rows * g->short_side, ahead = first + turn + id - sector;
    const uint row_ahead = ipt_divide32(ahead, IPT_DIVISOR(g->short_side));
    const uint column = ahead - row_ahead * g->short_side;
    int row = (int)(row_ahead - turn_rows); /* in panel p; negative only where nothing is written */
    uint p = 0, begin = chunk->starts[column];
    for (uint at = id; id < turn && at < units + sector; at += turn, row += (int)turn_rows) {
        for (; row >= (int)y && p + 1 < count; row -= (int)y)
            begin = chunk->starts[++p * x + column];
        if (at - sector < units)
            ipt_store(&target[at], ipt_apply(tile[begin + (uint)row], g));
    }
#else
    for (uint at = id; at < units + sector; at += IPT_GROUP_SIZE)
        if (at - sector < units) {
            const uint i = first + at - sector;
            IPT_ELEMENT_OF(i, g->element_units, element, part);
            const uint row = ipt_divide32(element, IPT_DIVISOR(g->short_side));
            const uint p = g->pack > 1 ? ipt_divide32(row, IPT_DIVISOR(g->length)) : 0;
            const uint begin = chunk->starts[p * x + element - row * g->short_side];
            ipt_store(&target[at], ipt_apply(tile[begin + (row - p * y) * g->element_units + part], g));
        }
#endif
}
#endif

/* Writes the chunk. Returns the result of ipt_depart. */
IPT_INLINE uint ipt_write_chunk(const ipt_chunk *chunk, volatile __global uint *counters, bool active, bool *go,
                                const ipt_given *g)
{
    const ipt_waiter waiter = {chunk->control, chunk->ticket_group, g->chunks, g->polls};
    const bool before_too = g->neighbours && chunk->group_in_matrix != 0;
    uint departed = 0;
    for (uint late = 0; late < 2; ++late) {
        if (late != 0) {
            if (get_local_id(0) == 0 && before_too && active)
                ipt_wait(&waiter, counters - g->blocks, g->chunks);
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            departed = ipt_depart(chunk->control, true, g);
        }
        ipt_store_narrow(chunk, active, before_too, late, g);
    }
    *go = active;
    return departed;
}
#else
/* The blocks of its own ticket group that a work-group overwrites, and whether it overwrites the
 * previous ticket group. */
typedef struct ipt_overwritten {
    uint first_block, end_block;
    bool before_too;
} ipt_overwritten;

/* Waits until the chunk may be written (tall), or the rows of block `phase` (wide). One work-item waits for each block
 * of this ticket group and of the previous one. If there are several phases, another work-item waits until all tickets
 * are issued, because the last work-group cannot take over a ticket group that is partly written. */
IPT_INLINE void ipt_wait_for_blocks(const ipt_chunk *chunk, volatile __global uint *counters,
                                    const ipt_overwritten *over, bool active, uint phase, const ipt_given *g)
{
    const uint phases = IPT_TALL ? 1 : g->blocks;
    const ipt_waiter waiter = {chunk->control, chunk->ticket_group, g->chunks, g->polls};
    const uint own = over->first_block < over->end_block ? over->end_block - over->first_block : 0;
    const uint others = over->before_too && phase == 0 ? g->blocks : 0;
    const uint all = !g->waits || !active ? 0 : own + others + (phases > 1 && phase == 0 ? 1 : 0);
    for (uint w = get_local_id(0); w < all; w += IPT_GROUP_SIZE) {
        const uint block = w < own ? over->first_block + w : w - own;
#if IPT_TALL
        const uint needed = g->chunks;
#else
        const uint all_x = g->blocks * g->chunk_x; /* chunk j is in block j * all_x / short_side */
        const uint needed =
            ((block + 1) * g->short_side + all_x - 1) / all_x - (block * g->short_side + all_x - 1) / all_x;
#endif
        if (!ipt_wait(&waiter,
                      w >= own + others ? 0
                      : w < own ? counters + block
                                : counters - g->blocks + block,
                      needed))
            chunk->shared[IPT_SHARED_GO] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

#if IPT_TALL
/* Waits until the chunk may be written. Returns the result of ipt_depart. */
IPT_INLINE uint ipt_write_chunk(const ipt_chunk *chunk, volatile __global uint *counters, bool active, bool *go,
                                const ipt_given *g)
{
    __local uint *begins = (__local uint *)chunk->begins;
    ipt_overwritten over = {0, 0, g->neighbours && chunk->group_in_matrix != 0};
    if (!chunk->tail && active) {
        const uint row_units = (uint)(IPT_REVERSED_RUNS == 0 ? chunk->row_units : -chunk->row_units);
        const uint block_units = g->block_rows * row_units, panel_units = g->length * row_units;
        const uint first = (uint)(chunk->slots_begin - (chunk->origin + (ulong)chunk->panel * panel_units));
        const uint end = first + begins[chunk->slots_count - 1] + chunk->y * g->element_units;
        over.first_block = (first + begins[0]) / block_units;
        if (IPT_PITCHED)
            over.first_block = min(over.first_block, g->blocks - 1); /* slots may follow all rows */
        over.end_block = min(g->blocks, (end - 1) / block_units + 1);
        over.before_too = over.before_too && end > panel_units;
    }
    ipt_wait_for_blocks(chunk, counters, &over, active, 0, g);
    *go = chunk->shared[IPT_SHARED_GO] != 0;
    return ipt_depart(chunk->control, true, g);
}

/* Writes the chunk, if this work-group may (go). */
IPT_INLINE void ipt_store_chunk(const ipt_chunk *chunk, bool go, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    __global ipt_unit *target = ipt_slots_of(chunk) + chunk->slots_begin;
    const uint runs = go && chunk->y != 0 ? chunk->x : 0, units = chunk->y * g->element_units;
#if IPT_BY_WORDS
    const ipt_block_tile blocks_of = {
        tile, (uint)chunk->rows_begin, (uint)chunk->row_units, g->pitch, g->skew, g->element_units, chunk->y, false};
    const ulong apart = chunk->tail ? g->tail_length * g->element_units : g->row_slots == 1 ? g->row_stride : 1;
    const uint first = runs != 0 ? chunk->begins[0].x : 0;
    if (ipt_has_blocks(&blocks_of, apart | first)) {
        for (uint run = get_local_id(0) / IPT_LINE_LANES * IPT_WORD_UNITS; run < runs;
             run += IPT_WORD_UNITS * IPT_LINES)
            ipt_move_block(&blocks_of, run, target + first + (IPT_REVERSED_COLUMNS == 0 ? run : runs - 1 - run) * apart,
                           IPT_REVERSED_COLUMNS == 0 ? (long)apart : -(long)apart, false, true, ipt_policy_drop(), g);
        return;
    }
#endif
#if IPT_ELEMENT_UNITS == 1
    const ulong slots_apart = (runs != 0 ? chunk->begins[0].x : 0) | (chunk->tail ? g->tail_length
                                                                      : g->row_slots == 1 ? g->row_stride
                                                                                          : g->row_stride | g->length);
    if ((slots_apart & (IPT_SECTOR_UNITS - 1)) != 0)
        ipt_store_cut_slots(tile, (__local uint *)chunk->begins, target, runs, units, g->pitch, g->skew,
                            (uint)chunk->rows_begin, (uint)chunk->row_units, g);
    else
        ipt_store_whole_slots(tile, (__local uint *)chunk->begins, target, runs, units, g->pitch, g->skew,
                              (uint)chunk->rows_begin, (uint)chunk->row_units, g);
#else
    for (uint run = get_local_id(0) / IPT_LINE_LANES * 4; run < runs; run += 4 * IPT_LINES)
        ipt_store_slots(tile, chunk->starts, target, chunk->begins[run / 4],
                        IPT_REVERSED_COLUMNS == 0 ? run : runs - 1 - run, IPT_REVERSED_COLUMNS == 0 ? 1 : -1,
                        runs - run, units, IPT_DIVISOR(g->element_units), g);
#endif
}
#else
/* Writes the chunk, block by block. Returns the result of ipt_depart. */
IPT_INLINE uint ipt_write_chunk(const ipt_chunk *chunk, volatile __global uint *counters, bool active, bool *go,
                                const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    uint departed = 0;
    for (uint phase = 0; phase < g->blocks; ++phase) {
        const bool last = phase + 1 == g->blocks;
        const ipt_overwritten over = {phase, chunk->tail ? phase : phase + 1,
                                      g->neighbours && chunk->group_in_matrix != 0};
        ipt_wait_for_blocks(chunk, counters, &over, active, phase, g);
        *go = chunk->shared[IPT_SHARED_GO] != 0;
        if (last)
            departed = ipt_depart(chunk->control, last, g);
        const uint written = phase * g->block_rows, end = last ? chunk->y : min(chunk->y, written + g->block_rows);
        if (*go && written < end)
            ipt_store_rows(tile + written * g->element_units, chunk->starts, chunk->matrix,
                           chunk->rows_begin + written * chunk->row_units, chunk->row_units, end - written,
                           chunk->x * g->element_units, false, IPT_DIVISOR(g->element_units), g);
    }
    return departed;
}
#endif
#endif

/* Clears the other pass's flags and the next execution's control block. No work-group of this execution reads them. */
IPT_INLINE void ipt_clear_words(__global uint *workspace, uint ticket, const ipt_given *g)
{
    const uint id = get_local_id(0), number = ticket * IPT_GROUP_SIZE + id;
    if (g->waits && g->probe_polls == 0 && number < g->clear_words)
        workspace[g->clear_base + number] = 0;
    for (uint w = ticket * g->flag_words_each + id; w < min(g->flag_words, (ticket + 1) * g->flag_words_each);
         w += IPT_GROUP_SIZE)
        workspace[g->flags_base + w] = 0;
}

/* Shares the first ticket group that the last work-group must transpose alone. */
IPT_INLINE void ipt_find_left(const ipt_chunk *chunk, uint departed, bool all_done, const ipt_given *g)
{
    const bool last = departed == g->tickets && !all_done;
    uint left = g->tickets / g->chunks;
    if (last)
        IPT_FENCE_DEVICE(); /* the others' accesses precede their departures */
    if (last && ipt_poll(&chunk->control[IPT_TICKETS]) >= IPT_CLOSED)
        left = (ipt_poll(&chunk->control[IPT_CLOSED_AT]) - 1) / g->chunks;
    chunk->shared[IPT_SHARED_LEFT] = left;
}

/* Moves the tail of matrix m alone: from its rows or columns to the workspace (tall), or back (wide). */
IPT_INLINE void ipt_move_tail(const ipt_chunk *chunk, uint m, const ipt_given *g)
{
    const uint row_units = g->short_side * g->element_units;
    __global ipt_unit *rows = chunk->matrix + g->base + m * g->matrix_stride + (ulong)g->panels * g->length * row_units;
    __global ipt_unit *saved = (__global ipt_unit *)chunk->workspace + g->saved_base + m * g->saved_stride;
    for (uint i = get_local_id(0); i < g->tail_length * row_units; i += IPT_GROUP_SIZE) {
        const uint element = i / g->element_units, part = i % g->element_units;
        const uint to = (element % g->short_side * g->tail_length + element / g->short_side) * g->element_units + part;
        if (IPT_TALL)
            saved[to] = ipt_apply(rows[i], g);
        else
            rows[i] = ipt_apply(saved[to], g);
    }
}

/* Moves panel p of the matrix at `origin` alone, from its own memory to its slots (tall) or back (wide), in the
 * sequence that overwrites nothing unread. */
IPT_INLINE void ipt_move_panel(const ipt_chunk *chunk, ulong origin, uint p, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    __global ipt_unit *matrix = chunk->matrix;
    const uint id = get_local_id(0), slot_units = g->length * g->element_units;
    const uint at_once = IPT_LOCAL_BYTES / IPT_UNIT_BYTES / slot_units;
    const uint pieces = g->neighbours ? (g->short_side + at_once - 1) / at_once : 0;
    __global ipt_unit *grid = matrix + origin + (ulong)p * (g->short_side * slot_units);
    for (uint b = 0; b < pieces; ++b) {
        const uint piece = (IPT_TALL ? pieces - 1 - b : b) * at_once;
        const uint units = min(at_once, g->short_side - piece) * slot_units;
        for (uint i = id; i < units; i += IPT_GROUP_SIZE)
            tile[i] = IPT_TALL ? grid[piece * slot_units + i]
                               : matrix[origin + i % slot_units +
                                        ipt_slot_address(p * g->short_side + piece + i / slot_units,
                                                         IPT_DIVISOR(g->row_slots), g->row_stride, slot_units)];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint i = id; i < units; i += IPT_GROUP_SIZE)
            if (IPT_TALL)
                matrix[origin + i % slot_units +
                       ipt_slot_address(p * g->short_side + piece + i / slot_units, IPT_DIVISOR(g->row_slots),
                                        g->row_stride, slot_units)] = tile[i];
            else
                grid[piece * slot_units + i] = tile[i];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}

/* Transposes ticket group `left` alone. */
IPT_INLINE void ipt_finish_alone(const ipt_chunk *chunk, uint left, const ipt_given *g)
{
    const uint m = left / g->ticket_groups,
               k = IPT_TALL ? g->ticket_groups - 1 - (left - m * g->ticket_groups) : left - m * g->ticket_groups;
    const ulong origin = g->base + m * g->matrix_stride;
    if (k == g->packs) {
        ipt_move_tail(chunk, m, g);
        return;
    }
    const uint end = min((k + 1) * g->pack, g->panels);
    for (uint n = 0; n < end - k * g->pack; ++n) {
        const uint p = IPT_TALL ? end - 1 - n : k * g->pack + n;
        __global ipt_unit *grid = chunk->matrix + origin + (ulong)p * (g->short_side * g->length * g->element_units);
        const ipt_grid in_memory = {IPT_TALL ? g->length : g->short_side, IPT_TALL ? g->short_side : g->length,
                                    g->element_units, IPT_TALL ? IPT_ROW_STRIDE(g) : g->length * g->element_units,
                                    !IPT_TALL                               ? g->short_side * g->element_units
                                    : g->panels == 1 && g->tail_length == 0 ? (uint)g->row_stride
                                                                            : g->length * g->element_units};
        if (IPT_TALL)
            ipt_transpose_alone(grid, chunk->workspace + g->alone_base, in_memory, g);
        ipt_move_panel(chunk, origin, p, g);
        if (!IPT_TALL)
            ipt_transpose_alone(grid, chunk->workspace + g->alone_base, in_memory, g);
    }
}

/* CUDA's compiler does not know how much memory a launch gives, so it assumes three work-groups of a compute unit, and
 * spills registers. There are two. */
#ifdef IPT_AS_CUDA
#undef IPT_CUDA_GROUPS
#define IPT_CUDA_GROUPS , 2
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_panel(__global ipt_unit *matrix, __global uint *workspace IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_LOCAL_LARGE(uint4, vectors, IPT_LOCAL_BYTES / 16);
#if !IPT_TALL || (!IPT_NARROW && IPT_ELEMENT_UNITS == 0)
    IPT_LOCAL_ARRAY uint starts[IPT_RUNS];
#else
    __local uint *starts = 0;
#endif
#if !IPT_TALL || !IPT_NARROW
    IPT_LOCAL_ARRAY uint4 begins[IPT_RUNS / 4];
#else
    __local uint4 *begins = 0;
#endif
    IPT_LOCAL_ARRAY uint shared[3];
    const uint id = get_local_id(0);
    volatile __global uint *control = workspace + g->control_base;

    /* With a single ticket group, the assignment of chunks does not matter. Work-groups use their group number and do
     * not wait for the ticket, which only shows whether the counter is open. */
    const bool single = g->waits && g->probe_polls == 0 && g->tickets == g->chunks && g->blocks == 1;
    uint own_ticket = 0;
    if (id == 0)
        own_ticket = ipt_take_ticket(control, shared, single, g);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint ticket = shared[IPT_SHARED_TICKET] & ~IPT_CLOSED;
    bool active = shared[IPT_SHARED_TICKET] < IPT_CLOSED, go = false;

    ipt_chunk chunk = {.matrix = matrix,
                       .workspace = workspace,
                       .control = control,
                       .vectors = vectors,
                       .starts = starts,
                       .begins = begins,
                       .shared = shared};
    ipt_place_chunk(&chunk, ticket, g);
#if IPT_REGISTERS
    IPT_LOCAL_ARRAY uint4 cut[1];
    uint4 held[IPT_REGISTERS];
    ipt_take_first(&chunk, g);
    ipt_fetch_chunk(&chunk, active, g);
    ipt_chunk last = chunk; /* columns */
    ipt_take_last(&last, g);
    ipt_hold_chunk(&last, held, cut, active, g);
#else
    ipt_fetch_chunk(&chunk, active, g);
#endif
    volatile __global uint *counters = &control[IPT_COUNTERS + chunk.ticket_group * g->blocks];
    active = ipt_count_blocks(&chunk, counters, active, own_ticket, g);
    const uint departed = ipt_write_chunk(&chunk, counters, active, &go, g);
    ipt_clear_words(workspace, ticket, g);
#if IPT_TALL && !IPT_NARROW
    ipt_store_chunk(&chunk, go, g);
#endif
#if IPT_REGISTERS
    barrier(CLK_LOCAL_MEM_FENCE);
    ipt_take_last(&chunk, g);
    ipt_release_chunk(&chunk, held, cut, go, g);
    ipt_store_chunk(&chunk, go, g);
#endif

    if (id == 0)
        ipt_find_left(&chunk, departed, single && go, g);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    /* The last work-group transposes the remaining ticket groups alone. All others have departed, and write earlier
     * ticket groups only. */
    for (uint left = shared[IPT_SHARED_LEFT]; left < g->tickets / g->chunks; ++left)
        ipt_finish_alone(&chunk, left, g);
}
