/* The positions whose tickets were not all issued: see exchange.cl. One work-group moves them. It exchanges single
 * units, as all runs lie in memory. */

/* Waits until the positions before `first` are done, so that nothing that the others need is still to come. */
IPT_INLINE void ipt_wait_for_others(const ipt_chunk *chunk, uint first IPT_ARGUMENTS)
{
    for (uint ticket = get_local_id(0); ticket < first * chunks; ticket += IPT_GROUP_SIZE) {
        ipt_chunk other = *chunk;
        ipt_place_chunk(&other, ticket IPT_PASSED);
        const ipt_waiter waiter = {chunk->control, other.position, chunks, polls};
        ipt_wait(&waiter, &other.reads[other.position_in_matrix], chunks);
        if (ipt_is_awaited(&other IPT_PASSED))
            ipt_wait(&waiter, &other.dones[other.position_in_matrix * chunks + other.number], 1);
    }
}

/* The place of unit `unit`, of the chunk's column i, in a row. */
IPT_INLINE uint ipt_unit_in_chunk(const ipt_chunk *chunk, uint unit, uint i IPT_ARGUMENTS)
{
    return IPT_REVERSED_COLUMNS == 0 ? unit : unit + ipt_in_chunk(chunk, i) * element_units - i * element_units;
}

/* Exchanges the units of a band with those at the places of its runs, for columns of earlier ranges (tall) or later
 * ones (wide). What leaves the band (tall) or comes to it (wide) gets its last place. */
IPT_INLINE void ipt_exchange_alone(const ipt_chunk *chunk IPT_ARGUMENTS)
{
    __global ipt_unit *band = chunk->matrix + chunk->rows_begin;
    const uint covered_units = bands * width * element_units;
    for (uint n = get_local_id(0); n < height * covered_units; n += IPT_GROUP_SIZE) {
        const uint row = n / covered_units, unit = n - row * covered_units;
        const uint x = unit / element_units, part = unit - x * element_units, d = x / width;
        __global ipt_unit *const run = chunk->matrix + ipt_own_place(chunk, x IPT_PASSED) + row * element_units + part;
        __global ipt_unit *const own =
            band + ipt_row_of_run(row, height) * chunk->row_units + ipt_unit_in_chunk(chunk, unit, x IPT_PASSED);
        if (IPT_TALL ? ipt_is_earlier(chunk, d IPT_PASSED) : ipt_is_later(chunk, d IPT_PASSED)) {
            const ipt_unit in_band = *own, in_run = *run;
            *run = IPT_TALL ? IPT_APPLIED(in_band) : in_band;
            *own = IPT_TALL ? in_run : IPT_APPLIED(in_run);
        }
    }
}

/* Where unit `at` of the band (tall) or of its range (wide) goes, from the matrix's origin; ~0: it holds nothing, or
 * lies between two rows. *apply: this is its last place. */
IPT_INLINE ulong ipt_target_alone(const ipt_chunk *chunk, uint at, bool *apply IPT_ARGUMENTS)
{
#if IPT_TALL
    const uint length = (uint)chunk->row_units;
    const uint row_in_memory = at / length, row = ipt_row_of_run(row_in_memory, height);
    const uint unit = at - row_in_memory * length, element = unit / element_units;
    const uint x = IPT_REVERSED_COLUMNS == 0 ? element : short_side - 1 - element, d = x / width;
    *apply = !ipt_is_later(chunk, d IPT_PASSED);
    return x >= bands * width ? ~0ul
                              : ipt_partner_place(chunk, x, d IPT_PASSED) - chunk->origin + row * element_units +
                                    (unit - element * element_units);
#else
    const uint line = at / (uint)column_stride, unit = at - line * (uint)column_stride;
    const uint d = (IPT_REVERSED_RUNS == 0 ? unit : (uint)IPT_COLUMN_UNITS - 1 - unit) / run_units;
    const uint in_run = unit - (uint)ipt_part_begin(d IPT_PASSED), row = in_run / element_units;
    *apply = !ipt_is_later(chunk, d IPT_PASSED);
    return d >= bands ? ~0ul
                      : chunk->rows_begin - chunk->origin + ipt_row_of_run(row, height) * chunk->row_units +
                            ipt_in_chunk(chunk, d * width + line) * element_units + (in_run - row * element_units);
#endif
}

/* Clears the flags of ipt_move_alone. */
IPT_INLINE void ipt_clear_alone(const ipt_chunk *chunk IPT_ARGUMENTS)
{
    const uint units = (uint)(IPT_TALL ? height * chunk->row_units : width * column_stride);
    for (uint w = get_local_id(0); w < (units + 31) / 32; w += IPT_GROUP_SIZE)
        chunk->workspace[alone_base + w] = 0;
}

/* Moves a band to its range (tall), or from there (wide), along chains of units that take each other's place. Each unit
 * has a flag bit. A chain ends at a place outside. */
IPT_INLINE void ipt_move_alone(const ipt_chunk *chunk IPT_ARGUMENTS)
{
    volatile __global uint *flags = chunk->workspace + alone_base;
    const uint units = (uint)(IPT_TALL ? height * chunk->row_units : width * column_stride);
    __global ipt_unit *matrix = chunk->matrix + chunk->origin;
    const ulong first = !IPT_TALL                   ? chunk->band * (width * column_stride)
                        : IPT_REVERSED_COLUMNS != 0 ? (ulong)chunk->band * height * chunk->row_units
                                                    : chunk->rows_begin - chunk->origin;
    for (uint start = get_local_id(0); start < units; start += IPT_GROUP_SIZE) {
        bool apply;
        uint at = start;
        ulong to = ipt_target_alone(chunk, at, &apply IPT_PASSED);
        if (to == ~0ul)
            continue; /* the gap that follows the last row may lie outside the buffer */
        ipt_unit held = matrix[first + at];
        IPT_FENCE_DEVICE();
        bool going = (atomic_or(&flags[at / 32], 1u << at % 32) >> at % 32 & 1u) == 0;
        while (going) {
            const ipt_unit unit = apply ? IPT_APPLIED(held) : held;
            const ulong next = to - first; /* at least `units` outside */
            at = (uint)next;
            going = next < units && (to = ipt_target_alone(chunk, at, &apply IPT_PASSED)) != ~0ul;
            if (going) {
                held = matrix[first + at];
                IPT_FENCE_DEVICE();
                going = (atomic_or(&flags[at / 32], 1u << at % 32) >> at % 32 & 1u) == 0;
                IPT_FENCE_DEVICE();
            }
            matrix[first + next] = unit;
        }
    }
}

/* Moves the chunk's rest columns, or rest rows, between their places in both layouts, which do not overlap. */
IPT_INLINE void ipt_copy_alone(const ipt_chunk *chunk IPT_ARGUMENTS)
{
    __global ipt_unit *rows = ipt_rows_of(chunk IPT_PASSED) + chunk->rows_begin;
    __global ipt_unit *columns = ipt_columns_of(chunk IPT_PASSED);
    const uint units = chunk->x * element_units;
    for (uint n = get_local_id(0); n < chunk->y * units; n += IPT_GROUP_SIZE) {
        const uint row = n / units, unit = n - row * units, i = unit / element_units;
        __global ipt_unit *const run =
            columns + ipt_own_place(chunk, i IPT_PASSED) + row * element_units + (unit - i * element_units);
        __global ipt_unit *const own =
            rows + ipt_row_of_run(row, chunk->y) * chunk->row_units + ipt_unit_in_chunk(chunk, unit, i IPT_PASSED);
        if (IPT_TALL)
            *run = IPT_APPLIED(*own);
        else
            *own = IPT_APPLIED(*run);
    }
}

/* Orders the steps of the work-group. */
IPT_INLINE void ipt_order_alone(void)
{
    IPT_FENCE_DEVICE();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* Moves a position alone. Barriers depend on nothing: compilers repeat code for barriers that do. */
IPT_INLINE void ipt_finish_alone(ipt_chunk *chunk, uint position IPT_ARGUMENTS)
{
    ipt_chunk rest = *chunk;
    ipt_place_chunk(chunk, position * chunks IPT_PASSED);
    chunk->x = bands * width;
    ipt_place_chunk(&rest, position * chunks + min(rest_chunks, chunks - 1) IPT_PASSED);
    rest.x = short_side - bands * width;
    if (IPT_REVERSED_COLUMNS != 0) {
        ipt_place_rows(chunk IPT_PASSED);
        ipt_place_rows(&rest IPT_PASSED);
    }
    const bool is_band = chunk->band < bands;
    if (chunk->band == bands)
        ipt_copy_alone(chunk IPT_PASSED);
    else if (!is_band)
        ipt_copy_rest(chunk, 0, saved_units IPT_PASSED);
#if IPT_TALL
    else
        ipt_exchange_alone(chunk IPT_PASSED);
    ipt_order_alone();
    if (chunk->band <= bands && rest.x != 0)
        ipt_copy_alone(&rest IPT_PASSED);
    if (is_band)
        ipt_clear_alone(chunk IPT_PASSED);
    ipt_order_alone();
    if (is_band)
        ipt_move_alone(chunk IPT_PASSED);
#else
    else
        ipt_clear_alone(chunk IPT_PASSED);
    ipt_order_alone();
    if (is_band)
        ipt_move_alone(chunk IPT_PASSED);
    ipt_order_alone();
    if (is_band)
        ipt_exchange_alone(chunk IPT_PASSED);
    ipt_order_alone();
    if (chunk->band <= bands && rest.x != 0)
        ipt_copy_alone(&rest IPT_PASSED);
#endif
    ipt_order_alone();
}

/* Moves the positions that were left, if no other work-group does. */
IPT_INLINE void ipt_finish_left(ipt_chunk *chunk IPT_ARGUMENTS)
{
    const uint all = tickets / chunks;
    if (get_local_id(0) == 0)
        chunk->shared[IPT_SHARED_LEFT] = atomic_cmpxchg(&chunk->control[IPT_DEPARTED], 0u, 1u) == 0
                                             ? (ipt_poll(&chunk->control[IPT_CLOSED_AT]) - 1) / chunks
                                             : all;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint first = chunk->shared[IPT_SHARED_LEFT];
    if (first < all)
        ipt_wait_for_others(chunk, first IPT_PASSED);
    ipt_order_alone();
    for (uint position = first; position < all; ++position)
        ipt_finish_alone(chunk, position IPT_PASSED);
}
