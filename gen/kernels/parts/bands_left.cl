/* One work-group moves the positions whose tickets were not all issued: see exchange.cl. It exchanges single units in
 * global memory. */

/* Waits until the positions before `first` are done: later positions depend on their reads and parked runs. */
IPT_INLINE void ipt_wait_for_others(const ipt_chunk *chunk, uint first, const ipt_given *g)
{
    for (uint ticket = get_local_id(0); ticket < first * g->chunks; ticket += IPT_GROUP_SIZE) {
        ipt_chunk other = *chunk;
        ipt_place_chunk(&other, ticket, g);
        const ipt_waiter waiter = {chunk->control, other.position, g->chunks, g->polls};
        ipt_wait(&waiter, &other.reads[other.position_in_matrix], g->chunks);
        if (ipt_is_awaited(&other, g))
            ipt_wait(&waiter, &other.dones[other.position_in_matrix * g->chunks + other.number], 1);
    }
}

/* The place of unit `unit`, of the chunk's column i, in a row. */
IPT_INLINE uint ipt_unit_in_chunk(const ipt_chunk *chunk, uint unit, uint i, const ipt_given *g)
{
    return IPT_REVERSED_COLUMNS == 0 ? unit : unit + ipt_in_chunk(chunk, i) * g->element_units - i * g->element_units;
}

/* Exchanges the units of a band with those at the places of its runs, for columns of earlier ranges (tall) or later
 * ones (wide). The units that leave the band (tall) or enter it (wide) reach their last places. */
IPT_INLINE void ipt_exchange_alone(const ipt_chunk *chunk, const ipt_given *g)
{
    __global ipt_unit *band = chunk->matrix + chunk->rows_begin;
    const uint units = chunk->x * g->element_units;
    for (uint n = get_local_id(0); n < g->height * units; n += IPT_GROUP_SIZE) {
        const uint row = n / units, unit = n - row * units;
        const uint x = unit / g->element_units, part = unit - x * g->element_units, column = ipt_column_of(x, g),
                   d = column / g->width;
        __global ipt_unit *const run = chunk->matrix + ipt_own_place(chunk, column, g) + row * g->element_units + part;
        __global ipt_unit *const own =
            band + ipt_row_of_run(row, g->height) * chunk->row_units + ipt_unit_in_chunk(chunk, unit, x, g);
        if (IPT_TALL ? ipt_is_earlier(chunk, d, g) : ipt_is_later(chunk, d, g)) {
            const ipt_unit in_band = *own, in_run = *run;
            *run = IPT_TALL ? ipt_apply(in_band, g) : in_band;
            *own = IPT_TALL ? in_run : ipt_apply(in_run, g);
        }
    }
}

/* The target of unit `at` of the band (tall) or of its range (wide), from the matrix's origin. ~0: the unit belongs to
 * the rest or to a gap between rows. *apply: the target is the unit's last place. */
IPT_INLINE ulong ipt_target_alone(const ipt_chunk *chunk, uint at, bool *apply, const ipt_given *g)
{
#if IPT_TALL
    const uint length = (uint)chunk->row_units;
    const uint row_in_memory = at / length, row = ipt_row_of_run(row_in_memory, g->height);
    const uint unit = at - row_in_memory * length, element = unit / g->element_units;
    const uint column = ipt_column_of(IPT_REVERSED_COLUMNS == 0 ? element : g->short_side - 1 - element, g),
               d = column / g->width;
    *apply = !ipt_is_later(chunk, d, g);
    return column >= g->bands * g->width ? ~0ul
                                         : ipt_partner_place(chunk, column, d, g) - chunk->origin +
                                               row * g->element_units + (unit - element * g->element_units);
#else
    const uint line = at / (uint)g->column_stride, unit = at - line * (uint)g->column_stride;
    const uint d = (IPT_REVERSED_RUNS == 0 ? unit : (uint)IPT_COLUMN_UNITS(g) - 1 - unit) / g->run_units;
    const uint in_run = unit - (uint)ipt_part_begin(d, g), row = in_run / g->element_units;
#if IPT_AXES
    const uint x = ipt_place_before(d * g->width + line, g);
#else
    const uint x = ipt_in_chunk(chunk, d * g->width + line);
#endif
    *apply = !ipt_is_later(chunk, d, g);
    return d >= g->bands ? ~0ul
                         : chunk->rows_begin - chunk->origin + ipt_row_of_run(row, g->height) * chunk->row_units +
                               x * g->element_units + (in_run - row * g->element_units);
#endif
}

/* Clears the flags of ipt_move_alone. */
IPT_INLINE void ipt_clear_alone(const ipt_chunk *chunk, const ipt_given *g)
{
    const uint units = (uint)(IPT_TALL ? g->height * chunk->row_units : g->width * g->column_stride);
    for (uint w = get_local_id(0); w < (units + 31) / 32; w += IPT_GROUP_SIZE)
        chunk->workspace[g->alone_base + w] = 0;
}

/* Moves a band to its range (tall) or from there (wide), along chains in which each unit moves to the place of the
 * next. Each unit has a flag bit. A chain ends outside the band (tall) or the range (wide). */
IPT_INLINE void ipt_move_alone(const ipt_chunk *chunk, const ipt_given *g)
{
    volatile __global uint *flags = chunk->workspace + g->alone_base;
    const uint units = (uint)(IPT_TALL ? g->height * chunk->row_units : g->width * g->column_stride);
    __global ipt_unit *matrix = chunk->matrix + chunk->origin;
    const ulong first = !IPT_TALL                   ? chunk->band * (g->width * g->column_stride)
                        : IPT_REVERSED_COLUMNS != 0 ? (ulong)chunk->band * g->height * chunk->row_units
                                                    : chunk->rows_begin - chunk->origin;
    for (uint start = get_local_id(0); start < units; start += IPT_GROUP_SIZE) {
        bool apply;
        uint at = start;
        ulong to = ipt_target_alone(chunk, at, &apply, g);
        if (to == ~0ul)
            continue; /* the gap that follows the last row may lie outside the buffer */
        ipt_unit held = matrix[first + at];
        IPT_FENCE_DEVICE();
        bool going = (atomic_or(&flags[at / 32], 1u << at % 32) >> at % 32 & 1u) == 0;
        while (going) {
            const ipt_unit unit = apply ? ipt_apply(held, g) : held;
            const ulong next = to - first; /* at least `units` if outside */
            at = (uint)next;
            going = next < units && (to = ipt_target_alone(chunk, at, &apply, g)) != ~0ul;
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

/* Moves the chunk's rest columns, or rest rows, between their places in both layouts, which do not overlap. IPT_AXES:
 * the chunk has all columns, and the rest ones of them move if `rest`, else the others. */
IPT_INLINE void ipt_copy_alone(const ipt_chunk *chunk, bool rest, const ipt_given *g)
{
    __global ipt_unit *rows = ipt_rows_of(chunk, g) + chunk->rows_begin;
    __global ipt_unit *columns = ipt_columns_of(chunk, rest ? g->short_side : 0, g);
    const uint units = chunk->x * g->element_units;
    for (uint n = get_local_id(0); n < chunk->y * units; n += IPT_GROUP_SIZE) {
        const uint row = n / units, unit = n - row * units, i = unit / g->element_units, column = ipt_column_of(i, g);
        if (IPT_PERMUTED && ipt_is_rest(chunk, column, g) != rest)
            continue;
        __global ipt_unit *const run =
            columns + ipt_own_place(chunk, column, g) + row * g->element_units + (unit - i * g->element_units);
        __global ipt_unit *const own =
            rows + ipt_row_of_run(row, chunk->y) * chunk->row_units + ipt_unit_in_chunk(chunk, unit, i, g);
        if (IPT_TALL)
            *run = ipt_apply(*own, g);
        else
            *own = ipt_apply(*run, g);
    }
}

/* Orders the steps of the work-group. */
IPT_INLINE void ipt_order_alone(void)
{
    IPT_FENCE_DEVICE();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* Moves a position by one work-group. Barriers are unconditional: compilers duplicate code around conditional ones. */
IPT_INLINE void ipt_finish_alone(ipt_chunk *chunk, uint position, const ipt_given *g)
{
    ipt_chunk rest = *chunk;
    ipt_place_chunk(chunk, position * g->chunks, g);
    chunk->x = IPT_PERMUTED ? g->short_side : g->bands * g->width;
    ipt_place_chunk(&rest, position * g->chunks + (IPT_PERMUTED ? 0 : min(g->rest_chunks, g->chunks - 1)), g);
    rest.x = IPT_PERMUTED && g->short_side > g->bands * g->width ? g->short_side : g->short_side - g->bands * g->width;
    if (IPT_REVERSED_COLUMNS != 0) {
        ipt_place_rows(chunk, g);
        ipt_place_rows(&rest, g);
    }
    const bool is_band = chunk->band < g->bands;
    if (chunk->band == g->bands)
        ipt_copy_alone(chunk, false, g);
    else if (!is_band)
        ipt_copy_rest(chunk, 0, g->saved_units, g);
#if IPT_TALL
    else
        ipt_exchange_alone(chunk, g);
    ipt_order_alone();
    if (chunk->band <= g->bands && rest.x != 0)
        ipt_copy_alone(&rest, true, g);
    if (is_band)
        ipt_clear_alone(chunk, g);
    ipt_order_alone();
    if (is_band)
        ipt_move_alone(chunk, g);
#else
    else
        ipt_clear_alone(chunk, g);
    ipt_order_alone();
    if (is_band)
        ipt_move_alone(chunk, g);
    ipt_order_alone();
    if (is_band)
        ipt_exchange_alone(chunk, g);
    ipt_order_alone();
    if (chunk->band <= g->bands && rest.x != 0)
        ipt_copy_alone(&rest, true, g);
#endif
    ipt_order_alone();
}

/* Moves the positions whose tickets were not all issued, unless another work-group does. */
IPT_INLINE void ipt_finish_left(ipt_chunk *chunk, const ipt_given *g)
{
    const uint all = g->tickets / g->chunks;
    if (get_local_id(0) == 0)
        chunk->shared[IPT_SHARED_LEFT] = atomic_cmpxchg(&chunk->control[IPT_DEPARTED], 0u, 1u) == 0
                                             ? (ipt_poll(&chunk->control[IPT_CLOSED_AT]) - 1) / g->chunks
                                             : all;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint first = chunk->shared[IPT_SHARED_LEFT];
    if (first < all)
        ipt_wait_for_others(chunk, first, g);
    ipt_order_alone();
    for (uint position = first; position < all; ++position)
        ipt_finish_alone(chunk, position, g);
}
