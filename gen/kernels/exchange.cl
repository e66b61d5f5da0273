/* The band exchange by cooperative work-groups: see ipt__bands for the method. A work-group stores one chunk, some
 * columns of a band, in local memory, and waits for others.
 *
 * A position is a band, the rest rows, or the rest in the workspace. Positions follow the sequence of the bands. The
 * rest rows follow the bands (tall) or precede them (wide). The first position saves the rest, or the last one restores
 * it. A chunk consists of columns of the ranges, or of rest columns.
 *
 * A tall matrix: a work-group reads rows of a band. If a column's partner is parked, at the place of the column's run,
 * the two change places: the run goes there, and the partner into local memory. Then the whole chunk goes to the range
 * of its band. A wide matrix: a work-group reads runs from their own places, or from the places where they are parked.
 * If a run's partner comes later, the work-group parks the partner at the run's place. Then it writes rows of the
 * band.
 *
 * Invariant: a work-group writes memory of the matrix only when all units there are in local memory, or have moved.
 * - `reads` counts the chunks of a position that have been read. A chunk is written when all positions have been read
 *   whose memory it overwrites: its own, and those that share memory with its range (tall) or its band (wide).
 * - `dones` marks chunks whose parked runs are written. A work-group waits for this mark before it reads a parked
 *   run. A wide chunk parks runs before it reads parked ones, so that no band waits for a waiting band.
 *
 * Rotations: reversed runs are stored backwards, and the parts of a column have the opposite sequence. So a run begins
 * with the chunk's last row. With reversed columns, column x is element short_side - 1 - x of a row in the band
 * layout.
 *
 * Tickets are issued in sequence. A work-group stores nothing before all tickets of its position are issued: then every
 * work-group that it waits for runs, or has ended. If a work-group has waited long for tickets, it closes the ticket
 * counter. Positions whose tickets were all issued finish. Then one of the stopped work-groups moves the other
 * positions, after the earlier ones have read and parked.
 *
 * IPT_AXES: the columns are permuted, too (see parts/band_chunks.cl). A band is complete in local memory before its
 * range is written, so the sequence of its columns is free. Partners of neighbouring columns are no neighbours, and
 * rest columns may lie in every chunk. Each chunk has partners in the band before it: it would wait for all of that
 * band. So a tall chunk, too, parks runs before it waits for parked ones: it exchanges those that are parked already,
 * writes its columns, and defers the others.
 *
 * IPT_BY_WORDS: columns move by blocks of words if the chunk allows it (see parts/words.cl), otherwise one by one.
 *
 * Executions alternate between two control blocks: each execution clears the block of the next one. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/sync.cl"
#include "parts/vectors.cl"
#include "parts/rows.cl"
#include "parts/tickets.cl"
#include "parts/axes.cl"
#include "parts/runs_held.cl"
#include "parts/words.cl"
#include "parts/band_chunks.cl"
#include "parts/band_waits.cl"
#include "parts/bands_left.cl"
#include "parts/short_runs.cl"

#define IPT_RUNS 512 /* most rows or columns of a chunk in local memory */

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_TALL) || !defined(IPT_LOCAL_BYTES)
#error "IPT_ELEMENT_UNITS, IPT_TALL and IPT_LOCAL_BYTES must be defined"
#endif

#if IPT_TALL
/* A column in the tile. If an element is one unit, a work-item's units are a constant distance apart. Otherwise
 * `starts` points to the start of the run's first row, and `place` is the offset in a row. */
typedef struct ipt_column {
    uint place; /* of the work-item's first unit in this turn, if an element is one unit */
    __local uint *starts;
} ipt_column;

/* The distance from a work-item's unit to its next one: 32 rows are whole vectors. */
#define IPT_LINE_STEP(g)                                                                                               \
    (ipt_tile_row(IPT_LINE_LANES, (g)->pitch, (g)->skew) * (16u / IPT_UNIT_BYTES * IPT_PLACES_EACH))
#define IPT_COLUMN_STEP(g) (IPT_REVERSED_RUNS == 0 ? IPT_LINE_STEP(g) : -IPT_LINE_STEP(g))

IPT_INLINE void ipt_find_column(ipt_column *column, const ipt_chunk *chunk, uint i, uint first, const ipt_given *g)
{
#if IPT_ELEMENT_UNITS == 1
    /* `first` may be negative, and so may be its row. */
    const uint row = ipt_row_of_run(first, chunk->y);
    column->place =
        IPT_PLACE((__local ipt_unit *)chunk->vectors,
                  ipt_tile_row(row + IPT_LINE_LANES, g->pitch, g->skew) * IPT_VECTOR_UNITS +
                      (((uint)chunk->rows_begin + row * (uint)chunk->row_units) & (IPT_VECTOR_UNITS - 1)) + i) -
        IPT_LINE_STEP(g);
#else
    column->starts = chunk->starts + ipt_row_of_run(0, chunk->y);
    column->place = i * g->element_units;
#endif
}

/* Where the work-item's unit `step` of this turn is. */
IPT_INLINE uint ipt_column_place(const ipt_chunk *chunk, const ipt_column *column, const ipt_run *run, uint step,
                                 const ipt_given *g)
{
#if IPT_ELEMENT_UNITS == 1
    return column->place + step * IPT_COLUMN_STEP(g);
#else
    const uint k = min(run->first + step * IPT_LINE_LANES, run->units - 1);
    IPT_ELEMENT_OF(k, g->element_units, element, part);
    return IPT_PLACE((__local ipt_unit *)chunk->vectors,
                     column->starts[IPT_REVERSED_RUNS == 0 ? (int)element : -(int)element] + column->place + part);
#endif
}

IPT_INLINE void ipt_next_column_turn(ipt_column *column, const ipt_given *g)
{
#if IPT_ELEMENT_UNITS == 1
    column->place += IPT_STEPS * IPT_COLUMN_STEP(g);
#endif
}

/* Fetches the chunk by rows. */
IPT_INLINE void ipt_fetch_chunk(const ipt_chunk *chunk, bool active, const ipt_given *g)
{
    const bool saved = chunk->band == g->bands && g->saves_rows != 0;
    ipt_fetch_rows(chunk->vectors, ipt_rows_of(chunk, g), chunk->rows_begin, chunk->row_units, false,
                   active ? chunk->y : 0, chunk->x * g->element_units, 1, chunk->y, g->run_lanes, g->pitch, g->skew,
                   saved ? chunk->saved : chunk->origin,
                   saved ? chunk->saved + g->rest_rows * chunk->row_units : chunk->origin + g->matrix_units);
#if IPT_ELEMENT_UNITS == 0
    ipt_mark_rows(chunk->starts, chunk->rows_begin, chunk->row_units, chunk->y, g->pitch, g->skew);
#endif
}

/* Loads a turn of a parked run. */
IPT_INLINE void ipt_load_parked(ipt_unit *parked, const ipt_run *run)
{
#pragma unroll
    for (uint u = 0; u < IPT_STEPS; ++u)
        ipt_load_if(&parked[u], run->line + u * IPT_LINE_LANES, ipt_in_run(run, u));
}

/* Exchanges the runs of columns i, i + IPT_LINES, ... below `end`, of earlier ranges, for their partners. The next turn
 * is loaded before this one is stored, so that loads wait for memory together. */
IPT_INLINE void ipt_exchange_from(const ipt_chunk *chunk, uint i, uint end, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    const ipt_policy drop = ipt_policy_drop();
    const uint units = chunk->y * g->element_units;
    ipt_unit parked[IPT_STEPS], next[IPT_STEPS], own[IPT_STEPS];
    ipt_run run;
    uint at = 0;
    if (i < end) {
        ipt_find_run(&run, chunk->matrix, ipt_own_place(chunk, ipt_column_at(chunk, i), g), units);
        ipt_load_parked(parked, &run);
    }
    while (i < end) {
        const ipt_run turn = run;
        ipt_column column;
        ipt_find_column(&column, chunk, ipt_in_chunk(chunk, i), turn.first, g);
        at += IPT_TURN_UNITS;
        if (at < run.turns_units) {
            ipt_next_turn(&run);
        } else {
            at = 0;
            i += IPT_LINES;
            if (i < end)
                ipt_find_run(&run, chunk->matrix, ipt_own_place(chunk, ipt_column_at(chunk, i), g), units);
        }
        if (i < end)
            ipt_load_parked(next, &run);
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u) {
            const uint place = ipt_column_place(chunk, &column, &turn, u, g);
            ipt_read_if(&own[u], tile, place, ipt_in_run(&turn, u));
            ipt_write_if(tile, place, parked[u], ipt_in_run(&turn, u));
        }
        ipt_line_order();
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u)
            ipt_store_if(turn.line + u * IPT_LINE_LANES, ipt_apply(own[u], g), ipt_in_run(&turn, u), drop);
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u)
            parked[u] = next[u];
    }
}

/* Writes column i to the range of its band. The last store of a run applies the expression. */
IPT_INLINE void ipt_store_column(const ipt_chunk *chunk, __global ipt_unit *columns, uint i, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    const ipt_policy keep = ipt_policy_keep(), drop = ipt_policy_drop();
    const uint number = ipt_column_at(chunk, i), d = ipt_range_of(chunk, number, g);
    const bool parks = ipt_parks(chunk, i, d, g);
    const ipt_policy policy = parks && abs_diff(d, chunk->band) <= g->kept ? keep : drop;
    ipt_run run;
    ipt_column column;
    ipt_find_run(&run, columns, ipt_partner_place(chunk, number, d, g), chunk->y * g->element_units);
    ipt_find_column(&column, chunk, ipt_in_chunk(chunk, i), run.first, g);
    for (uint at = 0; at < run.turns_units; at += IPT_TURN_UNITS) {
        ipt_unit held[IPT_STEPS];
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u)
            ipt_read_if(&held[u], tile, ipt_column_place(chunk, &column, &run, u, g), ipt_in_run(&run, u));
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u)
            ipt_store_if(run.line + u * IPT_LINE_LANES, parks ? held[u] : ipt_apply(held[u], g), ipt_in_run(&run, u),
                         policy);
        ipt_next_turn(&run);
        ipt_next_column_turn(&column, g);
    }
}

#if IPT_BY_WORDS
/* Exchanges or writes columns [first, end) by blocks. Returns false if the chunk does not allow blocks. */
IPT_INLINE bool ipt_move_blocks(const ipt_chunk *chunk, __global ipt_unit *memory, uint first, uint end, bool exchanges,
                                const ipt_given *g)
{
    const ipt_block_tile tile = {(__local ipt_unit *)chunk->vectors,
                                 (uint)chunk->rows_begin,
                                 (uint)chunk->row_units,
                                 g->pitch,
                                 g->skew,
                                 g->element_units,
                                 chunk->y,
                                 IPT_REVERSED_RUNS != 0};
    const long apart = IPT_REVERSED_COLUMNS == 0 ? (long)g->column_stride : -(long)g->column_stride;
    if (!ipt_has_blocks(&tile, g->column_stride | g->run_units | chunk->own_begin))
        return false;
    for (uint block = first + get_local_id(0) / IPT_LINE_LANES * IPT_WORD_UNITS; block < end;
         block += IPT_LINES * IPT_WORD_UNITS) {
        const uint i = IPT_REVERSED_COLUMNS == 0 ? block : block + IPT_WORD_UNITS - 1; /* comes first in the tile */
        const uint d = ipt_range_of(chunk, i, g);
        const bool parks = !exchanges && i >= chunk->parks_first && i < chunk->parks_end;
        ipt_move_block(&tile, ipt_in_chunk(chunk, i),
                       memory + (exchanges ? ipt_own_place(chunk, i, g) : ipt_partner_place(chunk, i, d, g)), apart,
                       exchanges, !parks,
                       parks && abs_diff(d, chunk->band) <= g->kept ? ipt_policy_keep() : ipt_policy_drop(), g);
    }
    return true;
}
#endif

/* Exchanges the runs of columns of earlier ranges for their partners: of the deferred columns, or of the others. */
IPT_INLINE void ipt_exchange_columns(const ipt_chunk *chunk, bool deferred, const ipt_given *g)
{
#if IPT_BY_WORDS
    if (ipt_move_blocks(chunk, chunk->matrix, chunk->takes_first, chunk->takes_end, true, g))
        return;
#endif
#if IPT_AXES
    if (chunk->y * g->element_units <= IPT_SHORT_UNITS) {
        ipt_exchange_short(chunk, deferred, g);
        return;
    }
    const uint all = deferred ? chunk->shared[IPT_SHARED_DEFERRED] : chunk->x;
    for (uint n = get_local_id(0) / IPT_LINE_LANES; n < all; n += IPT_LINES) {
        const uint i = deferred ? chunk->deferred[n] : n;
        if (deferred == ipt_is_deferred(chunk, i) &&
            ipt_is_earlier(chunk, ipt_range_of(chunk, ipt_column_at(chunk, i), g), g))
            ipt_exchange_from(chunk, i, i + 1, g);
    }
#else
    ipt_exchange_from(chunk, chunk->takes_first + get_local_id(0) / IPT_LINE_LANES, chunk->takes_end, g);
#endif
}

/* Writes the chunk's columns: the deferred ones, or the others. */
IPT_INLINE void ipt_store_columns(const ipt_chunk *chunk, bool go, bool deferred, const ipt_given *g)
{
#if !IPT_AXES
    __global ipt_unit *columns = ipt_columns_of(chunk, 0, g);
#endif
#if IPT_BY_WORDS
    if (ipt_move_blocks(chunk, columns, 0, go ? chunk->x : 0, false, g))
        return;
#endif
#if IPT_AXES
    if (chunk->y * g->element_units <= IPT_SHORT_UNITS) {
        if (go)
            ipt_store_short(chunk, deferred, g);
        return;
    }
    const uint all = deferred ? chunk->shared[IPT_SHARED_DEFERRED] : chunk->x;
    for (uint n = get_local_id(0) / IPT_LINE_LANES; go && n < all; n += IPT_LINES) {
        const uint i = deferred ? chunk->deferred[n] : n;
        if (deferred == ipt_is_deferred(chunk, i))
            ipt_store_column(chunk, ipt_columns_of(chunk, ipt_column_at(chunk, i), g), i, g);
    }
#else
    for (uint i = get_local_id(0) / IPT_LINE_LANES; go && i < chunk->x; i += IPT_LINES)
        ipt_store_column(chunk, columns, i, g);
#endif
}

#if IPT_AXES
/* After the chunk has parked its runs: lets others read these, then exchanges and writes the deferred columns. */
IPT_INLINE void ipt_write_deferred(const ipt_chunk *chunk, bool go, const ipt_given *g)
{
    const bool exchanges = go && chunk->band < g->bands;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0 && go && ipt_is_awaited(chunk, g))
        ipt_signal(&chunk->dones[chunk->position_in_matrix * g->chunks + chunk->number]);
    ipt_await_parked(chunk, exchanges, g);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (exchanges)
        ipt_exchange_columns(chunk, true, g);
    barrier(CLK_LOCAL_MEM_FENCE);
    ipt_store_columns(chunk, exchanges, true, g);
}
#endif
#else
/* Memory that has columns: from `low` to `high`. */
typedef struct ipt_columns {
    __global ipt_unit *memory;
    ulong low, high;
} ipt_columns;

IPT_INLINE void ipt_find_columns(ipt_columns *columns, const ipt_chunk *chunk, uint column, const ipt_given *g)
{
    const bool saved = ipt_is_rest(chunk, column, g) && g->saves_rows == 0;
    columns->memory = ipt_columns_of(chunk, column, g);
    columns->low = saved ? chunk->saved : chunk->origin;
    columns->high = saved ? chunk->saved + (g->short_side - g->bands * g->width) * g->column_stride
                          : chunk->origin + g->matrix_units;
}

/* Fetches runs of columns: the runs that another band has parked, or all others. */
IPT_INLINE void ipt_fetch_columns(const ipt_chunk *chunk, bool parked, bool active, const ipt_given *g)
{
    ipt_columns columns;
    ipt_find_columns(&columns, chunk, 0, g);
    const uint lane = get_local_id(0) & (g->run_lanes - 1), units = chunk->y * g->element_units;
    for (uint i = get_local_id(0) / g->run_lanes; active && i < chunk->x; i += IPT_GROUP_SIZE / g->run_lanes) {
        const uint column = ipt_column_at(chunk, i), d = ipt_range_of(chunk, column, g);
        if (ipt_is_earlier(chunk, d, g) != parked)
            continue;
        if (IPT_PERMUTED)
            ipt_find_columns(&columns, chunk, column, g);
        const ulong begin = parked ? ipt_partner_place(chunk, column, d, g) : ipt_own_place(chunk, column, g);
        const uint shift = (uint)begin & (IPT_VECTOR_UNITS - 1), to = ipt_tile_row(i, g->pitch, g->skew);
        if (lane == 0)
            chunk->starts[i] = to * IPT_VECTOR_UNITS + shift;
        ipt_fetch_row(chunk->vectors + to, columns.memory, begin / IPT_VECTOR_UNITS, lane, g->run_lanes,
                      (shift + units + IPT_VECTOR_UNITS - 1) / IPT_VECTOR_UNITS,
                      begin - shift >= columns.low && begin + units + IPT_VECTOR_UNITS - 1 <= columns.high, columns.low,
                      columns.high);
    }
}

/* Parks the partners of columns of later ranges at the places of their runs, which are in local memory. */
IPT_INLINE void ipt_park_columns(const ipt_chunk *chunk, const ipt_given *g)
{
    const uint units = chunk->y * g->element_units;
    const ipt_policy keep = ipt_policy_keep(), drop = ipt_policy_drop();
#if IPT_AXES
    if (units <= IPT_SHORT_UNITS) {
        ipt_park_short(chunk, g);
        return;
    }
#endif
    const uint first = IPT_PERMUTED ? 0 : chunk->parks_first, end = IPT_PERMUTED ? chunk->x : chunk->parks_end;
    for (uint i = first + get_local_id(0) / IPT_LINE_LANES; i < end; i += IPT_LINES) {
        const uint column = ipt_column_at(chunk, i), d = ipt_range_of(chunk, column, g);
        const ipt_policy policy = abs_diff(d, chunk->band) <= g->kept ? keep : drop;
        ipt_run run;
        if (IPT_PERMUTED && !ipt_is_later(chunk, d, g))
            continue;
        ipt_find_run(&run, chunk->matrix, ipt_own_place(chunk, column, g), units);
        __global ipt_unit *partner = chunk->matrix + ipt_partner_place(chunk, column, d, g) + (int)run.first;
        for (uint at = 0; at < run.turns_units; at += IPT_TURN_UNITS) {
            ipt_unit parked[IPT_STEPS];
#pragma unroll
            for (uint u = 0; u < IPT_STEPS; ++u)
                ipt_load_if(&parked[u], partner + u * IPT_LINE_LANES, ipt_in_run(&run, u));
#pragma unroll
            for (uint u = 0; u < IPT_STEPS; ++u)
                ipt_store_if(run.line + u * IPT_LINE_LANES, parked[u], ipt_in_run(&run, u), policy);
            ipt_next_turn(&run);
            partner += IPT_TURN_UNITS;
        }
    }
}

/* Writes the chunk's rows. A line of work-items writes four rows that begin at the same offset in a sector. */
IPT_INLINE void ipt_store_band(const ipt_chunk *chunk, bool go, const ipt_given *g)
{
    __local ipt_unit *tile = (__local ipt_unit *)chunk->vectors;
    __global ipt_unit *rows = ipt_rows_of(chunk, g);
    const uint units = chunk->x * g->element_units, lane = get_local_id(0) % IPT_LINE_LANES;
    const uint apart = chunk->row_units % IPT_SECTOR_UNITS == 0 ? 1 : IPT_SECTOR_UNITS;
    const ulong step = apart * chunk->row_units;
    const ipt_policy drop = ipt_policy_drop();
    for (uint line = get_local_id(0) / IPT_LINE_LANES; go; line += IPT_LINES) {
        const uint row = line / apart * (4 * apart) + line % apart;
        if (row >= chunk->y)
            break;
        const ulong begin = chunk->rows_begin + row * chunk->row_units;
        const uint before = (uint)begin % IPT_SECTOR_UNITS, last = min((chunk->y - 1 - row) / apart, 3u);
        __global ipt_unit *to = rows + (begin - before) + lane;
        for (uint at = 0; at < units + before; at += IPT_LINE_LANES, to += IPT_LINE_LANES) {
            const uint k = at + lane - before, inside = min(k, units - 1);
            IPT_ELEMENT_OF(inside, g->element_units, element, part);
            __local ipt_unit *from = tile + (chunk->starts[ipt_in_chunk(chunk, element)] + part +
                                             ipt_row_of_run(row, chunk->y) * g->element_units);
            ipt_unit held[4];
#pragma unroll
            for (uint u = 0; u < 4; ++u) {
                const uint on = min(u, last) * apart * g->element_units;
                held[u] = IPT_REVERSED_RUNS == 0 ? from[on] : from[-(int)on];
            }
            ipt_line_order();
#pragma unroll
            for (uint u = 0; u < 4; ++u)
                ipt_store_if(to + u * step, ipt_apply(held[u], g), k < units && u <= last, drop);
        }
    }
}
#endif

/* Reads the chunk, and exchanges or parks partners. Counts the read. Returns whether the work-group stays active. */
IPT_INLINE bool ipt_take_chunk(const ipt_chunk *chunk, bool active, const ipt_given *g)
{
    const uint id = get_local_id(0);
    const bool copies = chunk->band > g->bands;
    ipt_wait_to_read(chunk, active, g);
    active = chunk->shared[IPT_SHARED_GO] != 0;
    if (active && copies && g->saves_first != 0)
        ipt_copy_rest_part(chunk, g);
#if IPT_TALL
    ipt_fetch_chunk(chunk, active && !copies, g);
    ipt_fetch_wait();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (id == 0 && active && copies)
        ipt_signal(&chunk->reads[chunk->position_in_matrix]);
    else if (id == 0 && active)
        ipt_count_read(&chunk->reads[chunk->position_in_matrix]);
    ipt_await_tickets(chunk, active, g);
#if IPT_AXES
    ipt_defer_columns(chunk, active && !copies, g);
#else
    ipt_await_parked(chunk, active, g);
#endif
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    active = chunk->shared[IPT_SHARED_GO] != 0;
    if (active && !copies)
        ipt_exchange_columns(chunk, false, g);
    barrier(CLK_LOCAL_MEM_FENCE); /* the decision has been read */
#else
    ipt_fetch_columns(chunk, false, active && !copies, g);
    ipt_fetch_wait();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* the arrival, and shared[IPT_SHARED_GO] has been read */
    ipt_await_tickets(chunk, active, g);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    active = chunk->shared[IPT_SHARED_GO] != 0;
    if (active && !copies)
        ipt_park_columns(chunk, g);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (id == 0 && active && (IPT_PERMUTED ? chunk->band < g->bands : chunk->parks_first < chunk->parks_end))
        ipt_signal(&chunk->dones[chunk->position_in_matrix * g->chunks + chunk->number]);
    ipt_await_parked(chunk, active, g);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    active = chunk->shared[IPT_SHARED_GO] != 0;
    ipt_fetch_columns(chunk, true, active && !copies, g);
    ipt_fetch_wait();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (id == 0 && active && copies)
        ipt_signal(&chunk->reads[chunk->position_in_matrix]);
    else if (id == 0 && active)
        ipt_count_read(&chunk->reads[chunk->position_in_matrix]);
#endif
    return active;
}

/* Within the 64 registers of four work-groups, CUDA's compiler spills some and repeats loads of arguments in loops.
 * Within the 48 of five it stores what a warp shares in uniform registers, and needs fewer. Tall matrices with axes are
 * the exception. */
#if defined(IPT_AS_CUDA) && IPT_GROUPS_AT_ONCE == 4 && !(IPT_AXES && IPT_TALL)
#undef IPT_CUDA_GROUPS
#define IPT_CUDA_GROUPS , 5
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_exchange(__global ipt_unit *matrix, __global uint *workspace IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_LOCAL_LARGE(uint4, vectors, IPT_LOCAL_BYTES / 16);
#if IPT_AXES /* at the end of the chunk's memory */
    __local uint *columns = (__local uint *)vectors + (IPT_LOCAL_BYTES / 4 - g->chunk_width);
    __local uint *deferred = columns - g->chunk_width;
#else
    __local uint *columns = 0, *deferred = 0;
#endif
#if IPT_AXES && !IPT_TALL
    __local uint *starts = deferred;
#elif !IPT_TALL || IPT_ELEMENT_UNITS == 0
    IPT_LOCAL_ARRAY uint starts[IPT_RUNS];
#else
    __local uint *starts = 0;
#endif
    IPT_LOCAL_ARRAY uint shared[IPT_PERMUTED ? 4 : 3];
    const uint id = get_local_id(0);
    volatile __global uint *control = workspace + g->control_base;
    if (id == 0)
        ipt_take_ticket(control, shared, false, g);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint ticket = shared[IPT_SHARED_TICKET] & ~IPT_CLOSED;
    const bool active = shared[IPT_SHARED_TICKET] < IPT_CLOSED;
    ipt_chunk chunk = {.matrix = matrix,
                       .workspace = workspace,
                       .control = control,
                       .vectors = vectors,
                       .starts = starts,
                       .shared = shared,
                       .columns = columns,
                       .deferred = deferred};
    if (g->probe_polls != 0)
        return;
    for (uint w = ticket * g->clear_words_each + id; w < min(g->clear_words, (ticket + 1) * g->clear_words_each);
         w += IPT_GROUP_SIZE)
        workspace[g->clear_base + w] = 0;
    ipt_place_chunk(&chunk, ticket, g);
#if IPT_AXES
    for (uint i = id; i < chunk.x; i += IPT_GROUP_SIZE)
        columns[i] = ipt_column_of(chunk.x_first + i, g);
    if (id == 0)
        shared[IPT_SHARED_DEFERRED] = 0;
#endif
    const bool took = ipt_take_chunk(&chunk, active, g);
    ipt_wait_to_write(&chunk, took, g);
    const bool go = shared[IPT_SHARED_GO] != 0;
#if IPT_TALL
    const bool last =
        !IPT_PERMUTED && ipt_is_awaited(&chunk, g); /* the other signals before it writes deferred columns */
    ipt_store_columns(&chunk, go && chunk.band <= g->bands, false, g);
#if IPT_AXES
    ipt_write_deferred(&chunk, go, g);
#endif
#else
    ipt_store_band(&chunk, go && chunk.band <= g->bands, g);
    const bool last = chunk.band == g->bands; /* a chunk that parks has signalled before */
#endif
    if (go && chunk.band > g->bands && g->saves_first == 0)
        ipt_copy_rest_part(&chunk, g);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (id == 0 && last && go)
        ipt_signal(&chunk.dones[chunk.position_in_matrix * g->chunks + chunk.number]);
    if (!go && shared[IPT_SHARED_TICKET] < IPT_CLOSED)
        ipt_finish_left(&chunk, g);
}
