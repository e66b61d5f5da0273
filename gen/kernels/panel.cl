/* Transposition 010!, cooperative. Work-groups transpose panels in place; each holds one chunk of a panel and waits for
 * the others.
 *
 * A tall matrix has panels of `length` rows, which are read by rows and written into slots as super-elements. A wide
 * matrix has panels of `length` columns, which are read from slots and written by rows. The remaining `tail_length`
 * rows or columns form a shorter panel, the tail; its super-elements lie in the workspace.
 *
 * A ticket group (`order` in the code) is a number of panels whose tickets are issued together. Ticket groups follow
 * the sequence in which panels may be written, because a panel's slots extend into the memory of the next panel. Tall:
 * from the last panel to the first, the tail before all. Wide: from the first panel to the last, the tail after all.
 *
 * Invariant: a work-group writes memory of the matrix only when every chunk with elements there is in local memory.
 * Those chunks belong to the same ticket group or to the one before it.
 *
 * Work-groups count finished reads by blocks, so that early work-groups need not wait until all have read everything.
 * Tall: a block is some rows of the panel. A work-group counts each block after reading its part, and waits for the
 * blocks that its slots overwrite. Wide: a block is the work-groups that read the slots which some rows of the result
 * overwrite. A work-group writes those rows when the whole block has read.
 *
 * Tickets are issued in sequence, so the lowest unfinished ticket group is always the first to be held completely. A
 * work-group therefore only waits for running work-groups. If fewer work-groups run at a time than a ticket group
 * needs, a work-group that has waited long closes the ticket counter. Ticket groups whose tickets were all issued
 * finish. The work-groups of later ones leave the matrix unchanged. The last work-group to decide transposes those
 * panels alone.
 *
 * Executions alternate between two control blocks: each clears the other one. */
#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_TALL) || !defined(IPT_NARROW) || !defined(IPT_LOCAL_BYTES) ||          \
    !defined(IPT_INDEX_BITS)
#error "IPT_ELEMENT_UNITS, IPT_TALL, IPT_NARROW, IPT_LOCAL_BYTES and IPT_INDEX_BITS must be defined"
#endif

#define IPT_RUNS 512 /* most slots and rows of a chunk */
#define IPT_CLOSED 0x80000000u
enum { IPT_TICKETS, IPT_CLOSED_AT, IPT_DEPARTED, IPT_COUNTERS = 4 }; /* words of the control block */
enum { IPT_SHARED_TICKET, IPT_SHARED_GO, IPT_SHARED_LEFT }; /* values that work-item 0 shares with its work-group */

/* Keeps this work-group resident and counts the concurrent ones, until one of them has polled `polls` times. */
void ipt_probe(volatile __global uint *control, uint polls)
{
    atomic_inc(&control[IPT_TICKETS]);
    while (ipt_poll(&control[IPT_CLOSED_AT]) == 0 && polls-- != 0)
        ;
    atomic_cmpxchg(&control[IPT_CLOSED_AT], 0u, ipt_poll(&control[IPT_TICKETS]));
}

/* The state of a waiting work-group. */
typedef struct ipt_waiter {
    volatile __global uint *control;
    uint order, chunks, polls;
} ipt_waiter;

/* Waits until `counter` reaches `count`; without a counter, until all tickets of the waiter's ticket group are issued.
 * Returns false if the last work-group must transpose the ticket group. */
bool ipt_wait(const ipt_waiter *waiter, volatile __global uint *counter, uint count)
{
    volatile __global uint *control = waiter->control;
    const uint own_end = (waiter->order + 1) * waiter->chunks;
    for (uint looks = 0;; ++looks) {
        if (counter != 0 && ipt_poll(counter) >= count)
            return true;
        if (counter != 0 && looks < waiter->polls)
            continue;
        uint tickets = ipt_poll(&control[IPT_TICKETS]);
        if (looks >= waiter->polls && tickets < own_end) { /* open, and this ticket group lacks work-groups */
            tickets = atomic_or(&control[IPT_TICKETS], IPT_CLOSED);
            if (tickets < IPT_CLOSED)
                atomic_xchg(&control[IPT_CLOSED_AT], tickets + 1);
            IPT_FENCE_DEVICE(); /* visible to the last work-group, which counts this departure */
            tickets |= IPT_CLOSED;
        }
        if (tickets >= IPT_CLOSED) {
            const uint closed_at = ipt_poll(&control[IPT_CLOSED_AT]); /* 0: not written yet */
            if (closed_at != 0 && closed_at - 1 < own_end)
                return false;
            tickets = closed_at == 0 ? 0 : closed_at - 1;
        }
        if (counter == 0 && tickets >= own_end)
            return true;
    }
}

/* Transposes a rows x cols grid in place by one work-group, along cycles of single units as in shuffle.cl. Each unit
 * has one flag bit. */
void ipt_transpose_alone(__global ipt_unit *grid, volatile __global uint *flags, uint rows, uint cols,
                         uint element_units)
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
            const uint element = at / element_units;
            at = (element % cols * rows + element / cols) * element_units + part;
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

#if IPT_TALL && IPT_NARROW
/* Writes a column of a narrow chunk as a run of `units` units at target[begin], by a line of work-items. The column
 * begins at unit `from`. The chunk's rows of row_units are contiguous; a vector is skipped after every eight. */
void ipt_store_column(__local ipt_unit *tile, uint from, uint row_units, __global ipt_unit *target, ulong begin,
                      uint units, uint element_units, uint element_units_magic, uint element_units_shift)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES, before = (uint)begin % IPT_SECTOR_UNITS;
    __global ipt_unit *sectors = target + (begin - before) + lane;
#define IPT_SKIP(at) ((at) + (at) / (8 * IPT_QUANTUM_UNITS) * IPT_QUANTUM_UNITS)
#if IPT_ELEMENT_UNITS == 1 && IPT_UNIT_BYTES >= 4
    /* From one iteration to the next, a line advances by a multiple of eight vectors. */
    const uint i = lane - before, step = IPT_SKIP(IPT_LINE_LANES * row_units);
    uint at = IPT_SKIP(from + (i + IPT_LINE_LANES) * row_units) - step, done = 0;
    while (done < units + before) {
        if (done != 0) {
#pragma unroll 4
            for (; done + IPT_LINE_LANES <= units; done += IPT_LINE_LANES, at += step)
                ipt_store(&sectors[done], IPT_APPLIED(tile[at]));
        }
        if (i + done < units)
            ipt_store(&sectors[done], IPT_APPLIED(tile[at]));
        done += IPT_LINE_LANES;
        at += step;
    }
#else
    for (uint k = lane; k < units + before; k += IPT_LINE_LANES) {
        const uint i = k - before;
        if (i < units) {
            IPT_ELEMENT_OF(i, element, part);
            const uint at = from + element * row_units + part;
            ipt_store(&sectors[k - lane], IPT_APPLIED(tile[IPT_SKIP(at)]));
        }
    }
#endif
}
#elif IPT_TALL
#if IPT_ELEMENT_UNITS == 1
/* The two functions below write the first `runs` columns of a tile, each as a run of `units` units: column r to
 * target[begins[r]]. ipt_fetch_rows has fetched the tile from `rows_begin`, rows row_units apart. A line of work-items
 * writes one column in a loop of few instructions. Four columns at a time overlap more but took a fifth more of an
 * H200's time for the pass. From one iteration to the next, a line advances by whole vectors. */

/* For runs that all begin at sector boundaries. */
void ipt_store_whole_slots(__local ipt_unit *tile, __local uint *begins, __global ipt_unit *target, uint runs,
                           uint units, uint pitch, uint skew, uint rows_begin, uint row_units)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES;
    const uint step = ipt_tile_row(IPT_LINE_LANES, pitch, skew) * IPT_QUANTUM_UNITS;
    const uint first = ipt_tile_row(lane, pitch, skew) * IPT_QUANTUM_UNITS +
                       ((rows_begin + lane * row_units) & (IPT_QUANTUM_UNITS - 1));
    for (uint run = get_local_id(0) / IPT_LINE_LANES; run < runs; run += IPT_LINES) {
        __global ipt_unit *to = target + begins[run] + lane;
        uint at = first + run, done = 0;
#pragma unroll 4
        for (; done + IPT_LINE_LANES <= units; done += IPT_LINE_LANES, at += step)
            ipt_store(&to[done], IPT_APPLIED(tile[at]));
        if (lane + done < units)
            ipt_store(&to[done], IPT_APPLIED(tile[at]));
    }
}

/* For runs that begin anywhere: all sectors but the first and the last are written whole. */
void ipt_store_cut_slots(__local ipt_unit *tile, __local uint *begins, __global ipt_unit *target, uint runs, uint units,
                         uint pitch, uint skew, uint rows_begin, uint row_units)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES;
    const uint step = ipt_tile_row(IPT_LINE_LANES, pitch, skew) * IPT_QUANTUM_UNITS;
    for (uint run = get_local_id(0) / IPT_LINE_LANES; run < runs; run += IPT_LINES) {
        const uint begin = begins[run], before = begin % IPT_SECTOR_UNITS, i = lane - before;
        __global ipt_unit *to = target + (begin - before) + lane;
        uint at = ipt_tile_row(i + IPT_LINE_LANES, pitch, skew) * IPT_QUANTUM_UNITS - step +
                  ((rows_begin + i * row_units) & (IPT_QUANTUM_UNITS - 1)) + run;
        if (i < units)
            ipt_store(&to[0], IPT_APPLIED(tile[at]));
        at += step;
        uint done = IPT_LINE_LANES;
#pragma unroll 4
        for (; done + IPT_LINE_LANES <= units; done += IPT_LINE_LANES, at += step)
            ipt_store(&to[done], IPT_APPLIED(tile[at]));
        for (; done < units + before; done += IPT_LINE_LANES, at += step)
            if (i + done < units)
                ipt_store(&to[done], IPT_APPLIED(tile[at]));
    }
}
#else
/* Writes the first `count` of four columns of a tile as runs of `units` units, by a line of work-items. Run u goes to
 * target[begins[u]]. It is the column of elements that begins at unit from + u of each row. */
void ipt_store_slots(__local ipt_unit *tile, __local uint *starts, __global ipt_unit *target, uint4 begins, uint from,
                     uint count, uint units, uint element_units, uint element_units_magic, uint element_units_shift)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES;
    const uint offsets[4] = {begins.x, begins.y, begins.z, begins.w};
    __global ipt_unit *sectors[4];
    uint i[4], runs[4]; /* next unit; units of the run, 0 for an absent run */
    uint longest = 0;
#pragma unroll 4
    for (uint u = 0; u < 4; ++u) {
        const uint before = offsets[u] % IPT_SECTOR_UNITS;
        runs[u] = u < count ? units : 0;
        i[u] = lane - before;
        longest = max(longest, runs[u] + before);
        sectors[u] = target + (u < count ? offsets[u] - before : 0) + lane;
    }
    for (uint done = 0; done < longest; done += IPT_LINE_LANES) {
        ipt_unit values[4];
#pragma unroll 4
        for (uint u = 0; u < 4; ++u) {
            const uint inside = min(i[u] + done, units - 1);
            IPT_ELEMENT_OF(inside, element, part);
            values[u] = tile[starts[element] + (from + min(u, count - 1)) * element_units + part];
        }
#pragma unroll 4
        for (uint u = 0; u < 4; ++u)
            if (i[u] + done < runs[u])
                ipt_store(&sectors[u][done], IPT_APPLIED(values[u]));
    }
}
#endif
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_panel(__global ipt_unit *matrix, __global uint *workspace IPT_ARGUMENTS)
{
    __local uint4 quanta[IPT_LOCAL_BYTES / 16];
#if !IPT_TALL || (!IPT_NARROW && IPT_ELEMENT_UNITS == 0)
    __local uint starts[IPT_RUNS]; /* unit of the tile at which each row begins */
#endif
#if !IPT_TALL || !IPT_NARROW
    __local uint4 begins[IPT_RUNS / 4]; /* offset of each of this chunk's slots from slots_begin */
#endif
    __local uint shared[3];
    __local ipt_unit *tile = (__local ipt_unit *)quanta;
    volatile __global uint *control = workspace + control_base;
    const uint id = get_local_id(0);

    /* With a single ticket group, the assignment of chunks does not matter. Work-groups use their own number and do not
     * wait for the ticket, which only says whether the counter is open. */
    const uint chunks = across * down;
    const bool single = waits && probe_polls == 0 && tickets == chunks && blocks == 1;
    uint own_ticket = 0;
    if (id == 0) {
        if (probe_polls != 0)
            ipt_probe(control, probe_polls);
        own_ticket = probe_polls != 0 ? IPT_CLOSED : waits ? atomic_inc(&control[IPT_TICKETS]) : get_group_id(0);
        shared[IPT_SHARED_TICKET] = single ? (uint)get_group_id(0) : own_ticket;
        shared[IPT_SHARED_GO] = single ? 1 : own_ticket < IPT_CLOSED;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint ticket = shared[IPT_SHARED_TICKET] & ~IPT_CLOSED;
    bool active = shared[IPT_SHARED_TICKET] < IPT_CLOSED;

    /* This chunk: x elements along the short side from x_first, y along the long side from y_first. */
    const uint order = ipt_divide32(ticket, chunks_magic, chunks_shift), chunk = ticket - order * chunks;
    const uint m = ipt_divide32(order, orders_magic, orders_shift), order_in_matrix = order - m * orders;
    const uint k = IPT_TALL ? orders - 1 - order_in_matrix : order_in_matrix;
    const bool tail = k == packs;
    const uint panel = tail ? panels : k * pack, count = tail ? 1 : min(pack, panels - panel);
    const uint y_length = tail ? tail_length : length;
    const uint chunk_row = ipt_divide32(chunk, across_magic, across_shift);
    const uint x_first = (chunk - chunk_row * across) * chunk_x, x = min(chunk_x, short_side - x_first);
    const uint y_first = chunk_row * chunk_y;
    const uint y = y_first < y_length ? min(chunk_y, y_length - y_first) : 0; /* 0 is possible in a tail */

    const ulong origin = base + m * matrix_stride;
    __global ipt_unit *slots = tail ? (__global ipt_unit *)workspace : matrix;
    const ulong rows_begin =
        origin + ((ulong)panel * length + y_first) * short_side * element_units + x_first * element_units;
    const ulong row_units = (ulong)short_side * element_units;
    const ulong saved_begin = saved_base + m * saved_stride + (ulong)x_first * tail_length * element_units;
    const uint first_slot = panel * short_side + x_first;
#define IPT_SLOT_BEGIN(i)                                                                                              \
    (y_first * element_units + (tail                                                                                   \
                                    ? saved_begin + (ulong)(i) * (tail_length * element_units)                         \
                                    : origin + ipt_slot_address(first_slot + (i), row_slots, row_slots_magic,          \
                                                                row_slots_shift, row_stride, length * element_units)))
#if !IPT_TALL || !IPT_NARROW
    const uint slots_count = active ? x * count : 0;
    const ulong slots_begin = IPT_SLOT_BEGIN(0) / IPT_SECTOR_UNITS * IPT_SECTOR_UNITS;
    for (uint i = id; i < slots_count; i += IPT_GROUP_SIZE)
        ((__local uint *)begins)[i] = (uint)(IPT_SLOT_BEGIN(i) - slots_begin);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif

#if IPT_TALL && IPT_NARROW
    /* Whole rows are contiguous: one run. */
    const uint fetch_end =
        active ? ((rows_begin & (IPT_QUANTUM_UNITS - 1)) + y * count * (uint)row_units + IPT_QUANTUM_UNITS - 1) /
                     IPT_QUANTUM_UNITS
               : 0;
    for (uint q = id; q < fetch_end; q += IPT_GROUP_SIZE)
        ipt_fetch(quanta + q + q / 8, matrix, rows_begin / IPT_QUANTUM_UNITS + q, origin, origin + matrix_units);
#elif IPT_TALL
    ipt_fetch_rows(quanta, matrix, rows_begin, row_units, active ? y : 0, x * element_units, blocks,
                   blocks == 1 ? y : block_rows, run_lanes, pitch, skew, origin, origin + matrix_units);
#if IPT_ELEMENT_UNITS == 0
    ipt_mark_rows(starts, rows_begin, row_units, y, pitch, skew);
#endif
#else
    const uint slot_units = y * element_units, step = IPT_GROUP_SIZE / run_lanes;
    const ulong low = tail ? 0 : origin, high = tail ? ~0ul : origin + matrix_units;
    const ulong last = slots_begin + (slots_count != 0 ? ((__local uint *)begins)[slots_count - 1] : 0);
    const bool inside = slots_begin >= low && last + slot_units + IPT_QUANTUM_UNITS - 1 <= high;
    for (uint i = id / run_lanes; i < slots_count; i += step) {
        const uint begin = ((__local uint *)begins)[i], shift = begin & (IPT_QUANTUM_UNITS - 1);
        const uint to = ipt_tile_row(i, pitch, skew);
        const uint end = (shift + slot_units + IPT_QUANTUM_UNITS - 1) / IPT_QUANTUM_UNITS;
        __global uint4 *from = (__global uint4 *)(slots + slots_begin + (begin - shift));
        if ((id & (run_lanes - 1)) == 0)
            starts[i] = to * IPT_QUANTUM_UNITS + shift;
        for (uint q = id & (run_lanes - 1); q < end; q += run_lanes)
            if (inside)
                ipt_fetch_inside(quanta + to + q, from + q);
            else
                ipt_fetch(quanta + to + q, slots, (slots_begin + begin) / IPT_QUANTUM_UNITS + q, low, high);
    }
#endif

    /* Count the arrived blocks: all blocks in turn (tall), or the block of this work-group (wide). */
    volatile __global uint *counters = &control[IPT_COUNTERS + order * blocks];
    const uint signals = IPT_TALL ? blocks : 1, own_block = IPT_TALL ? 0 : x_first * blocks / short_side;
#if IPT_MEMORY_MODEL == 2
    for (uint b = 0; b < signals; ++b) {
        ipt_fetch_wait_but(signals - 1 - b);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        active = active && own_ticket < IPT_CLOSED;
        /* Different lines signal, so that a signal does not delay the other lines at the next barrier. */
        if (waits && active && id == b * IPT_LINE_LANES % IPT_GROUP_SIZE)
            ipt_count_read(&counters[own_block + b]);
    }
#else
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    active = active && own_ticket < IPT_CLOSED;
    if (waits && active && id == 0)
        for (uint b = 0; b < signals; ++b)
            ipt_count_read(&counters[own_block + b]);
#endif
    if (id == 0 && !active)
        shared[IPT_SHARED_GO] = 0;

    const ipt_waiter waiter = {control, order, chunks, polls};
    bool before_too = neighbours && order_in_matrix != 0;
    uint departed = 0;
#if IPT_NARROW
    /* One work-group holds a narrow ticket group alone. It never gives it up, because the ticket groups before it
     * are held, too. So it writes the memory of its own ticket group at once. Only writes beyond it wait until the
     * previous ticket group has been read. On an H200 narrow panels then take 0.87 of the time. */
    const bool go = active;
    const uint order_units = y * count * (uint)row_units;
#if !IPT_TALL
    const ulong before_end = before_too ? origin + length * element_units +
                                              ipt_slot_address(panel * short_side - 1, row_slots, row_slots_magic,
                                                               row_slots_shift, row_stride, length * element_units)
                                        : 0;
    const uint reach = before_end > rows_begin ? (uint)min(before_end - rows_begin, (ulong)order_units) : 0;
#endif
    for (uint late = 0; late < 2; ++late) {
        if (late != 0) {
            if (id == 0 && before_too && active)
                ipt_wait(&waiter, counters - blocks, chunks);
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (id == 0 && waits && probe_polls == 0)
                departed = atomic_inc(&control[IPT_DEPARTED]) + 1;
        }
#if IPT_TALL
        const uint runs = go ? x * count : 0, units = y * element_units;
        for (uint run = id / IPT_LINE_LANES; run < runs; run += IPT_LINES) {
            const uint p = pack > 1 ? run / x : 0;
            const ulong begin = IPT_SLOT_BEGIN(run);
            if ((before_too && begin + units > rows_begin + order_units ? 1 : 0) == late)
                ipt_store_column(tile,
                                 ((uint)rows_begin & (IPT_QUANTUM_UNITS - 1)) + p * y * (uint)row_units +
                                     (run - p * x) * element_units,
                                 (uint)row_units, slots, begin, units, element_units, element_units_magic,
                                 element_units_shift);
        }
#else
        const uint first = late != 0 ? 0 : reach, units = !go ? 0 : late != 0 ? reach : order_units - reach;
        const uint sector = (uint)(rows_begin + first) % IPT_SECTOR_UNITS;
        __global ipt_unit *target = matrix + rows_begin + first - sector;
#if IPT_ELEMENT_UNITS == 1
        /* Whole rows per iteration keep each work-item in its column, and keep sectors whole where possible. */
        const uint all_rows = IPT_GROUP_SIZE / short_side;
        const uint turn_rows = all_rows < IPT_SECTOR_UNITS ? all_rows : all_rows - all_rows % IPT_SECTOR_UNITS;
        const uint turn = turn_rows * short_side, ahead = first + turn + id - sector;
        const uint row_ahead = ipt_divide32(ahead, short_side_magic, short_side_shift);
        const uint column = ahead - row_ahead * short_side;
        int row = (int)(row_ahead - turn_rows); /* in panel p; negative only where nothing is written */
        uint p = 0, begin = starts[column];
        for (uint at = id; id < turn && at < units + sector; at += turn, row += (int)turn_rows) {
            for (; row >= (int)y && p + 1 < count; row -= (int)y)
                begin = starts[++p * x + column];
            if (at - sector < units)
                ipt_store(&target[at], IPT_APPLIED(tile[begin + (uint)row]));
        }
#else
        for (uint at = id; at < units + sector; at += IPT_GROUP_SIZE) {
            if (at - sector < units) {
                const uint i = first + at - sector;
                IPT_ELEMENT_OF(i, element, part);
                const uint row = ipt_divide32(element, short_side_magic, short_side_shift);
                const uint p = pack > 1 ? ipt_divide32(row, length_magic, length_shift) : 0;
                ipt_store(&target[at],
                          IPT_APPLIED(
                              tile[starts[p * x + element - row * short_side] + (row - p * y) * element_units + part]));
            }
        }
#endif
#endif
    }
#else
    /* The blocks of its own ticket group that this work-group overwrites, and whether it overwrites the previous ticket
     * group. */
    uint first_block = 0, end_block = 0;
#if IPT_TALL
    if (!tail && active) {
        const uint block_units = block_rows * (uint)row_units, panel_units = length * (uint)row_units;
        const uint first = (uint)(slots_begin - (origin + (ulong)panel * panel_units));
        const uint end = first + ((__local uint *)begins)[slots_count - 1] + y * element_units;
        first_block = (first + ((__local uint *)begins)[0]) / block_units;
        end_block = min(blocks, (end - 1) / block_units + 1);
        before_too = before_too && end > panel_units;
    }
#endif
    const uint phases = IPT_TALL ? 1 : blocks;
    bool go = false;
    for (uint phase = 0; phase < phases; ++phase) {
#if !IPT_TALL
        first_block = phase;
        end_block = tail ? phase : phase + 1;
#endif
        /* One work-item waits for each: blocks of this ticket group and blocks of the previous one. If there are
         * several phases, one more waits until all tickets are issued, because the last work-group cannot take over a
         * ticket group that is partly written. */
        const uint own = first_block < end_block ? end_block - first_block : 0;
        const uint others = before_too && phase == 0 ? blocks : 0;
        const uint all = !waits || !active ? 0 : own + others + (phases > 1 && phase == 0 ? 1 : 0);
        for (uint w = id; w < all; w += IPT_GROUP_SIZE) {
            const uint block = w < own ? first_block + w : w - own;
#if IPT_TALL
            const uint needed = chunks;
#else
            const uint all_x = blocks * chunk_x; /* chunk j is in block j * all_x / short_side */
            const uint needed =
                ((block + 1) * short_side + all_x - 1) / all_x - (block * short_side + all_x - 1) / all_x;
#endif
            if (!ipt_wait(&waiter,
                          w >= own + others ? 0
                          : w < own         ? counters + block
                                            : counters - blocks + block,
                          needed))
                shared[IPT_SHARED_GO] = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        go = shared[IPT_SHARED_GO] != 0;
        /* This work-group has decided and polls no more counters. The result is needed only at the end. */
        if (id == 0 && waits && probe_polls == 0 && phase + 1 == phases)
            departed = atomic_inc(&control[IPT_DEPARTED]) + 1;
#if !IPT_TALL
        const uint written = phase * block_rows, end = phase + 1 == phases ? y : min(y, written + block_rows);
        if (go && written < end)
            ipt_store_rows(tile + written * element_units, starts, matrix, rows_begin + written * row_units, row_units,
                           end - written, x * element_units, false, element_units, element_units_magic,
                           element_units_shift);
#endif
    }
#endif

    /* Clear the other pass's flags and the next execution's control block. No work-group of this execution reads
     * them. */
    const uint number = ticket * IPT_GROUP_SIZE + id;
    if (waits && probe_polls == 0 && number < clear_words)
        workspace[clear_base + number] = 0;
    for (uint w = ticket * flag_words_each + id; w < min(flag_words, (ticket + 1) * flag_words_each);
         w += IPT_GROUP_SIZE)
        workspace[flags_base + w] = 0;

#if IPT_TALL && !IPT_NARROW
    const uint runs = go && y != 0 ? x : 0, units = y * element_units;
#if IPT_ELEMENT_UNITS == 1
    const ulong slots_apart = (runs != 0 ? begins[0].x : 0) | (tail             ? tail_length
                                                               : row_slots == 1 ? row_stride
                                                                                : row_stride | length);
    if ((slots_apart & (IPT_SECTOR_UNITS - 1)) != 0)
        ipt_store_cut_slots(tile, (__local uint *)begins, slots + slots_begin, runs, units, pitch, skew,
                            (uint)rows_begin, (uint)row_units);
    else
        ipt_store_whole_slots(tile, (__local uint *)begins, slots + slots_begin, runs, units, pitch, skew,
                              (uint)rows_begin, (uint)row_units);
#else
    for (uint run = id / IPT_LINE_LANES * 4; run < runs; run += 4 * IPT_LINES)
        ipt_store_slots(tile, starts, slots + slots_begin, begins[run / 4], run, runs - run, units, element_units,
                        element_units_magic, element_units_shift);
#endif
#endif

    const uint all_orders = tickets / chunks;
    if (id == 0) {
        const bool last = departed == tickets;
        uint left = all_orders;
        if (last && !(single && go))
            IPT_FENCE_DEVICE(); /* after the others' accesses before their departure */
        if (last && !(single && go) && ipt_poll(&control[IPT_TICKETS]) >= IPT_CLOSED)
            left = (ipt_poll(&control[IPT_CLOSED_AT]) - 1) / chunks;
        shared[IPT_SHARED_LEFT] = left;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    /* The last work-group transposes the remaining ticket groups alone. All others have decided, and write earlier
     * ticket groups only. */
    for (uint left = shared[IPT_SHARED_LEFT]; left < all_orders; ++left) {
        const uint left_m = left / orders;
        const uint left_k = IPT_TALL ? orders - 1 - (left - left_m * orders) : left - left_m * orders;
        const ulong left_origin = base + left_m * matrix_stride;
        if (left_k == packs) {
            __global ipt_unit *rows = matrix + left_origin + (ulong)panels * length * row_units;
            __global ipt_unit *saved = (__global ipt_unit *)workspace + saved_base + left_m * saved_stride;
            for (uint i = id; i < tail_length * (uint)row_units; i += IPT_GROUP_SIZE) {
                const uint element = i / element_units, part = i % element_units;
                const uint to = (element % short_side * tail_length + element / short_side) * element_units + part;
                if (IPT_TALL)
                    saved[to] = IPT_APPLIED(rows[i]);
                else
                    rows[i] = IPT_APPLIED(saved[to]);
            }
        } else {
            const uint end = min((left_k + 1) * pack, panels), all = short_side * length * element_units;
            const uint slot_units = length * element_units, at_once = IPT_LOCAL_BYTES / IPT_UNIT_BYTES / slot_units;
            for (uint n = 0; n < end - left_k * pack; ++n) {
                const uint p = IPT_TALL ? end - 1 - n : left_k * pack + n;
                __global ipt_unit *grid = matrix + left_origin + (ulong)p * all;
                if (IPT_TALL)
                    ipt_transpose_alone(grid, workspace + alone_base, length, short_side, element_units);
                /* Move between the panel's memory and its slots, in the direction that overwrites nothing unread. */
                const uint pieces = neighbours ? (short_side + at_once - 1) / at_once : 0;
                for (uint b = 0; b < pieces; ++b) {
                    const uint piece = (IPT_TALL ? pieces - 1 - b : b) * at_once;
                    const uint units = min(at_once, short_side - piece) * slot_units;
                    for (uint i = id; i < units; i += IPT_GROUP_SIZE)
                        tile[i] =
                            IPT_TALL
                                ? grid[piece * slot_units + i]
                                : matrix[left_origin + i % slot_units +
                                         ipt_slot_address(p * short_side + piece + i / slot_units, row_slots,
                                                          row_slots_magic, row_slots_shift, row_stride, slot_units)];
                    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
                    for (uint i = id; i < units; i += IPT_GROUP_SIZE)
                        if (IPT_TALL)
                            matrix[left_origin + i % slot_units +
                                   ipt_slot_address(p * short_side + piece + i / slot_units, row_slots, row_slots_magic,
                                                    row_slots_shift, row_stride, slot_units)] = tile[i];
                        else
                            grid[piece * slot_units + i] = tile[i];
                    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
                }
                if (!IPT_TALL)
                    ipt_transpose_alone(grid, workspace + alone_base, short_side, length, element_units);
            }
        }
    }
}
