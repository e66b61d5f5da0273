/* The waits of the band exchange: see exchange.cl. */

/* Waits until all tickets of the chunk's position are issued: before that, the chunk may store nothing. Like all waits
 * here, this one clears shared[IPT_SHARED_GO] if the work-group must stop. The last work-item polls here, because the
 * first ones poll in ipt_await_parked. */
IPT_INLINE void ipt_await_tickets(const ipt_chunk *chunk, bool active, const ipt_given *g)
{
    const ipt_waiter waiter = {chunk->control, chunk->position, g->chunks, g->polls};
    if (active && get_local_id(0) == IPT_GROUP_SIZE - 1 && !ipt_wait(&waiter, 0, 0))
        chunk->shared[IPT_SHARED_GO] = 0;
}

#if IPT_AXES
/* The mark of the chunk that parks the partner of column i; 0: none does. */
IPT_INLINE volatile __global uint *ipt_parked_mark(const ipt_chunk *chunk, uint i, const ipt_given *g)
{
    const uint column = ipt_column_at(chunk, i), d = ipt_range_of(chunk, column, g);
    if (!ipt_is_earlier(chunk, d, g))
        return 0;
    const uint partner = ipt_place_before(chunk->band * g->width + (column - d * g->width), g);
    return &chunk->dones[ipt_position_of(d, g) * g->chunks + ipt_divide32(partner, IPT_DIVISOR(g->chunk_width))];
}

/* Defers columns whose partners are not parked yet. */
IPT_INLINE void ipt_defer_columns(const ipt_chunk *chunk, bool active, const ipt_given *g)
{
    for (uint i = get_local_id(0); active && i < chunk->x; i += IPT_GROUP_SIZE) {
        volatile __global uint *const mark = ipt_parked_mark(chunk, i, g);
        if (mark != 0 && ipt_poll(mark) == 0) {
            chunk->columns[i] |= IPT_DEFERRED;
            chunk->deferred[atomic_inc(&chunk->shared[IPT_SHARED_DEFERRED])] = i;
        }
    }
}

/* Waits until the partners of deferred columns (tall), or of all (wide), are parked. */
IPT_INLINE void ipt_await_parked(const ipt_chunk *chunk, bool active, const ipt_given *g)
{
    const ipt_waiter waiter = {chunk->control, chunk->position, g->chunks, g->polls};
    const uint all = IPT_TALL ? chunk->shared[IPT_SHARED_DEFERRED] : chunk->x;
    for (uint n = get_local_id(0); active && n < all; n += IPT_GROUP_SIZE) {
        volatile __global uint *const mark = ipt_parked_mark(chunk, IPT_TALL ? chunk->deferred[n] : n, g);
        if (mark != 0 && !ipt_wait(&waiter, mark, 1))
            chunk->shared[IPT_SHARED_GO] = 0;
    }
}
#else
/* Waits until the earlier chunks that contain partners of this chunk's columns are done. */
IPT_INLINE void ipt_await_parked(const ipt_chunk *chunk, bool active, const ipt_given *g)
{
    const ipt_waiter waiter = {chunk->control, chunk->position, g->chunks, g->polls};
    const uint first = ipt_range_of(chunk, 0, g), last = ipt_range_of(chunk, chunk->x - 1, g);
    if (active && !chunk->rest_columns && chunk->band < g->bands) {
        for (uint d = first + get_local_id(0); d <= last; d += IPT_GROUP_SIZE) {
            /* The partners of the chunk's columns in range d: columns of band d, in chunks [partner, end). */
            const uint begin = chunk->band * g->width + max(d * g->width, chunk->x_first) - d * g->width,
                       end = chunk->band * g->width + min((d + 1) * g->width, chunk->x_first + chunk->x) - d * g->width;
            uint partner = ipt_divide32(begin, IPT_DIVISOR(g->chunk_width));
            for (; ipt_is_earlier(chunk, d, g) && partner * g->chunk_width < end; ++partner)
                if (!ipt_wait(&waiter, &chunk->dones[ipt_position_of(d, g) * g->chunks + partner], 1))
                    chunk->shared[IPT_SHARED_GO] = 0;
        }
    }
}
#endif

/* Waits until the chunk may be read. A chunk that reads the saved rest waits until all of the rest is saved. A chunk
 * that saves a part of the rest stores, so it waits for tickets. */
IPT_INLINE void ipt_wait_to_read(const ipt_chunk *chunk, bool active, const ipt_given *g)
{
    const ipt_waiter waiter = {chunk->control, chunk->position, g->chunks, g->polls};
    const bool reads = g->saves_first != 0 && chunk->band <= g->bands &&
                       (IPT_TALL ? chunk->band == g->bands : ipt_may_have_rest(chunk));
    if (reads && active && get_local_id(0) == 0 && !ipt_wait(&waiter, &chunk->reads[0], g->chunks))
        chunk->shared[IPT_SHARED_GO] = 0;
    if (g->saves_first != 0 && chunk->band > g->bands)
        ipt_await_tickets(chunk, active, g);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* Waits until the rest in the workspace is complete, and no chunk will read the rest's place in the matrix. Tall: all
 * chunks of rest columns are done, so all positions have read. Wide: all positions have read, and the rest rows are
 * done. */
IPT_INLINE void ipt_wait_for_rest(const ipt_chunk *chunk, const ipt_given *g)
{
    const ipt_waiter waiter = {chunk->control, chunk->position, g->chunks, g->polls};
    const uint each = g->chunks - g->rest_chunks, before = g->positions - 1;
    const uint all = g->saves_first != 0 ? 0 : IPT_TALL ? each * (before - g->first_band) : before + g->chunks;
    for (uint w = get_local_id(0); w < all; w += IPT_GROUP_SIZE) {
        volatile __global uint *word;
        if (IPT_TALL)
            word = &chunk->dones[(g->first_band + w / each) * g->chunks + g->rest_chunks + w % each];
        else
            word = w < before ? &chunk->reads[w] : &chunk->dones[(g->first_band - 1) * g->chunks + w - before];
        if (!ipt_wait(&waiter, word, !IPT_TALL && w < before ? g->chunks : 1))
            chunk->shared[IPT_SHARED_GO] = 0;
    }
}

/* Waits until all positions have read whose memory this chunk, of a band or of the rest rows, will overwrite. */
IPT_INLINE void ipt_wait_for_reads(const ipt_chunk *chunk, const ipt_given *g)
{
    const ipt_waiter waiter = {chunk->control, chunk->position, g->chunks, g->polls};
    const ulong band_units = (ulong)g->height * chunk->row_units, range_units = g->width * g->column_stride;
    const ulong from = IPT_TALL ? range_units : band_units, in = IPT_TALL ? band_units : range_units;
    const bool rest = chunk->band == g->bands;
    const uint first = !rest          ? chunk->band
                       : IPT_PERMUTED ? 0
                                      : ipt_range_of(chunk, 0, g),
               last = !rest          ? chunk->band
                      : IPT_PERMUTED ? g->bands - 1
                                     : ipt_range_of(chunk, chunk->x - 1, g);
    /* Ranges and bands have almost the same length: a few steps replace a division, which needs many registers. */
    uint low = first, high = last;
    while (low * in > first * from)
        --low;
    while ((low + 1) * in <= first * from)
        ++low;
    while (high * in >= (last + 1) * from)
        --high;
    while (high + 1 < g->bands && (high + 1) * in < (last + 1) * from)
        ++high;
    /* The rest columns of a tall matrix and the rest rows of a wide one overwrite nothing that another chunk reads.
     * Bands that lie in memory of the saved rest overwrite no range (low > high). */
    const uint others = (IPT_TALL ? chunk->rest_columns : rest) || low > high ? 0 : high + 1 - low;
    /* Its own position, the saved rest and, wide, the rest rows. */
    const uint own = 1 + (IPT_TALL ? g->saves_first : g->first_band);
    for (uint w = get_local_id(0); w < own + others; w += IPT_GROUP_SIZE) {
        const uint position = w == 0 ? chunk->position_in_matrix : w < own ? w - 1 : ipt_position_of(low + w - own, g);
        if (!ipt_wait(&waiter, &chunk->reads[position], g->chunks))
            chunk->shared[IPT_SHARED_GO] = 0;
    }
}

/* Waits until the chunk may be written. */
IPT_INLINE void ipt_wait_to_write(const ipt_chunk *chunk, bool active, const ipt_given *g)
{
    if (active && chunk->band > g->bands)
        ipt_wait_for_rest(chunk, g);
    else if (active)
        ipt_wait_for_reads(chunk, g);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
