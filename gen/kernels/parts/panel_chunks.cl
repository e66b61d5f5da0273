/* The chunks of panels: see panel.cl. */

#define IPT_RUNS 512 /* most slots and rows of a chunk */

/* Units from row to row. See band_chunks.cl. */
#if IPT_PITCHED
#define IPT_ROW_STRIDE(g) (g)->row_distance
#else
#define IPT_ROW_STRIDE(g) ((g)->short_side * (g)->element_units)
#endif

/* The work-group's chunk: x elements along the short side from x_first, y along the long side from y_first. */
typedef struct ipt_chunk {
    __global ipt_unit *matrix;
    __global uint *workspace;
    volatile __global uint *control; /* the control block */
    __local uint4 *vectors;          /* its elements */
    __local uint *starts;            /* unit of `vectors` at which each of its rows begins; 0: not needed */
    __local uint4 *begins;           /* offset of each of its slots from slots_begin; 0: not needed */
    __local uint *shared;
    uint ticket_group, group_in_matrix;
    uint panel, count; /* the first panel of the ticket group and the number of its panels */
    uint x_first, x, y_first, y;
    uint slots_count;
    bool tail;
    ulong origin; /* of its matrix */
    ulong rows_begin, saved_begin;
    ulong row_units; /* negative with reversed runs: the last row comes first */
    ulong slots_begin;
} ipt_chunk;

/* Finds the chunk of a ticket. */
IPT_INLINE void ipt_place_chunk(ipt_chunk *chunk, uint ticket, const ipt_given *g)
{
    const uint ticket_group = ipt_divide32(ticket, IPT_DIVISOR(g->chunks)), number = ticket - ticket_group * g->chunks;
    const uint m = ipt_divide32(ticket_group, IPT_DIVISOR(g->ticket_groups)),
               group_in_matrix = ticket_group - m * g->ticket_groups;
    const uint k = IPT_TALL ? g->ticket_groups - 1 - group_in_matrix : group_in_matrix;
    const bool tail = k == g->packs;
    const uint panel = tail ? g->panels : k * g->pack, y_length = tail ? g->tail_length : g->length;
    const uint chunk_row = ipt_divide32(number, IPT_DIVISOR(g->across));
    const uint x_first = (number - chunk_row * g->across) * g->chunk_x, y_first = chunk_row * g->chunk_y;
    chunk->ticket_group = ticket_group;
    chunk->group_in_matrix = group_in_matrix;
    chunk->tail = tail;
    chunk->panel = panel;
    chunk->count = tail ? 1 : min(g->pack, g->panels - panel);
    chunk->x_first = x_first;
    chunk->x = min(g->chunk_x, g->short_side - x_first);
    chunk->y_first = y_first;
    chunk->y = y_first < y_length ? min(g->chunk_y, y_length - y_first) : 0; /* 0 is possible in a tail */
    chunk->origin = g->base + m * g->matrix_stride;
    const ulong first_row = (ulong)panel * g->length + (IPT_REVERSED_RUNS == 0 ? y_first : y_length - 1 - y_first);
    const uint first_column = IPT_REVERSED_COLUMNS == 0 ? x_first : g->short_side - x_first - chunk->x;
    chunk->rows_begin = chunk->origin + first_row * IPT_ROW_STRIDE(g) + first_column * g->element_units;
    chunk->row_units = (ulong)IPT_ROW_STRIDE(g);
#if IPT_REVERSED_RUNS
    chunk->row_units = -chunk->row_units;
#endif
    chunk->saved_begin = g->saved_base + m * g->saved_stride + (ulong)x_first * g->tail_length * g->element_units;
}

/* The memory that contains the chunk's slots. */
IPT_INLINE __global ipt_unit *ipt_slots_of(const ipt_chunk *chunk)
{
    return chunk->tail ? (__global ipt_unit *)chunk->workspace : chunk->matrix;
}

/* Where slot i of the chunk begins in the memory of ipt_slots_of. */
IPT_INLINE ulong ipt_slot_begin(const ipt_chunk *chunk, uint i, const ipt_given *g)
{
    const uint first_slot = chunk->panel * g->short_side + chunk->x_first;
    return chunk->y_first * g->element_units +
           (chunk->tail ? chunk->saved_begin + (ulong)i * (g->tail_length * g->element_units)
                        : chunk->origin + ipt_slot_address(first_slot + i, IPT_DIVISOR(g->row_slots), g->row_stride,
                                                           g->length * g->element_units));
}

#if IPT_TALL && IPT_NARROW
/* Fetches the chunk. Whole rows are contiguous: one run. */
IPT_INLINE void ipt_fetch_chunk(ipt_chunk *chunk, bool active, const ipt_given *g)
{
    const ulong begin = chunk->rows_begin;
    const uint units = chunk->y * chunk->count * (uint)chunk->row_units;
    const uint end = active ? ((begin & (IPT_VECTOR_UNITS - 1)) + units + IPT_VECTOR_UNITS - 1) / IPT_VECTOR_UNITS : 0;
    for (uint q = get_local_id(0); q < end; q += IPT_GROUP_SIZE)
        ipt_fetch(chunk->vectors + q + q / 8, chunk->matrix, begin / IPT_VECTOR_UNITS + q, chunk->origin,
                  chunk->origin + g->matrix_units);
}
#else
/* Computes `begins`. */
IPT_INLINE void ipt_find_slots(ipt_chunk *chunk, bool active, const ipt_given *g)
{
    __local uint *begins = (__local uint *)chunk->begins;
    chunk->slots_count = active ? chunk->x * chunk->count : 0;
    chunk->slots_begin = ipt_slot_begin(chunk, 0, g) / IPT_SECTOR_UNITS * IPT_SECTOR_UNITS;
    for (uint i = get_local_id(0); i < chunk->slots_count; i += IPT_GROUP_SIZE)
        begins[i] = (uint)(ipt_slot_begin(chunk, i, g) - chunk->slots_begin);
    barrier(CLK_LOCAL_MEM_FENCE);
}

#if IPT_REGISTERS
/* ipt_take_first restricts the chunk to its columns in local memory; then ipt_take_last to those in registers. */
IPT_INLINE void ipt_take_first(ipt_chunk *chunk, const ipt_given *g)
{
    const uint x = min(chunk->x, g->local_x);
    chunk->rows_begin += IPT_REVERSED_COLUMNS == 0 ? 0 : (chunk->x - x) * g->element_units;
    chunk->x = x;
}
IPT_INLINE void ipt_take_last(ipt_chunk *chunk, const ipt_given *g)
{
    const uint x = min(g->chunk_x, g->short_side - chunk->x_first) - chunk->x;
    chunk->rows_begin += IPT_REVERSED_COLUMNS == 0 ? chunk->x * g->element_units : -(ulong)(x * g->element_units);
    chunk->x_first += chunk->x;
    chunk->x = x;
}

/* A vector of the chunk in a work-item's registers. A row may touch held_row vectors. A work-item stores every
 * IPT_GROUP_SIZE-th vector of the chunk. */
typedef struct ipt_held {
    uint row, q, rows_on, q_on; /* vector q of the row; steps to the work-item's next vector */
    uint units;                 /* of a row */
    ulong low, high;            /* vectors in [low, high) lie within the matrix */
} ipt_held;

IPT_INLINE void ipt_find_held(ipt_held *held, const ipt_chunk *chunk, const ipt_given *g)
{
    uint id = get_local_id(0);
#if IPT_MEMORY_MODEL == 2
    /* Recomputes the numbers when vectors leave the registers: the compiler would store those of all vectors. */
    __asm__ volatile("mov.u32 %0, %1;" : "=r"(id) : "r"((uint)get_local_id(0)));
#endif
    held->row = ipt_divide32(id, IPT_DIVISOR(g->held_row));
    held->q = id - held->row * g->held_row;
    held->rows_on = ipt_divide32(IPT_GROUP_SIZE, IPT_DIVISOR(g->held_row));
    held->q_on = IPT_GROUP_SIZE - held->rows_on * g->held_row;
    held->units = chunk->x * g->element_units;
    held->low = (chunk->origin + IPT_VECTOR_UNITS - 1) / IPT_VECTOR_UNITS;
    held->high = (chunk->origin + g->matrix_units) / IPT_VECTOR_UNITS;
}

IPT_INLINE void ipt_next_held(ipt_held *held, const ipt_given *g)
{
    held->row += held->rows_on;
    held->q += held->q_on;
    if (held->q >= g->held_row) {
        held->q -= g->held_row;
        ++held->row;
    }
}

/* Whether the vector contains elements of the chunk. `begin`: where the vector's row begins. */
IPT_INLINE bool ipt_is_held(const ipt_chunk *chunk, const ipt_held *held, ulong begin)
{
    return held->units != 0 && held->row < chunk->y &&
           held->q * IPT_VECTOR_UNITS < ((uint)begin & (IPT_VECTOR_UNITS - 1)) + held->units;
}

IPT_INLINE void ipt_load_vector_if(uint4 *vector, __global uint4 *from, bool is)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;\n"
                     "@p ld.global.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                     : "=r"(vector->x), "=r"(vector->y), "=r"(vector->z), "=r"(vector->w)
                     : "l"(from), "r"((uint)is)
                     : "memory");
#else
    if (is)
        *vector = *from;
#endif
}

/* Reads the chunk into registers. One vector may lie partly outside the matrix: `cut` receives its units inside. */
IPT_INLINE void ipt_hold_chunk(const ipt_chunk *chunk, uint4 *vectors, __local uint4 *cut, bool active,
                               const ipt_given *g)
{
    ipt_held held;
    ipt_find_held(&held, chunk, g);
#pragma unroll
    for (uint h = 0; h < IPT_REGISTERS; ++h) {
        const ulong begin = chunk->rows_begin + held.row * chunk->row_units, from = begin / IPT_VECTOR_UNITS + held.q;
        ipt_load_vector_if(&vectors[h], (__global uint4 *)chunk->matrix + from,
                           active && from >= held.low && from < held.high && ipt_is_held(chunk, &held, begin));
        ipt_next_held(&held, g);
    }
    if (get_local_id(0) == 0 && active)
        ipt_fetch(cut, chunk->matrix,
                  IPT_REVERSED_COLUMNS == 0 ? (chunk->origin + g->matrix_units - 1) / IPT_VECTOR_UNITS
                                            : chunk->origin / IPT_VECTOR_UNITS,
                  chunk->origin, chunk->origin + g->matrix_units);
}

/* Moves the chunk from registers to local memory. */
IPT_INLINE void ipt_release_chunk(ipt_chunk *chunk, const uint4 *vectors, __local uint4 *cut, bool active,
                                  const ipt_given *g)
{
    ipt_held held;
    ipt_find_held(&held, chunk, g);
#pragma unroll
    for (uint h = 0; h < IPT_REGISTERS; ++h) {
        const ulong begin = chunk->rows_begin + held.row * chunk->row_units, from = begin / IPT_VECTOR_UNITS + held.q;
        if (active && ipt_is_held(chunk, &held, begin))
            chunk->vectors[ipt_tile_row(held.row, g->pitch, g->skew) + held.q] =
                from >= held.low && from < held.high ? vectors[h] : *cut;
        ipt_next_held(&held, g);
    }
    ipt_find_slots(chunk, active, g);
#if IPT_ELEMENT_UNITS == 0
    ipt_mark_rows(chunk->starts, chunk->rows_begin, chunk->row_units, chunk->y, g->pitch, g->skew);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}
#endif

#if IPT_TALL
/* Fetches the chunk by rows. */
IPT_INLINE void ipt_fetch_chunk(ipt_chunk *chunk, bool active, const ipt_given *g)
{
    ipt_find_slots(chunk, active, g);
    ipt_fetch_rows(chunk->vectors, chunk->matrix, chunk->rows_begin, chunk->row_units, IPT_REVERSED_RUNS != 0,
                   active ? chunk->y : 0, chunk->x * g->element_units, g->blocks,
                   g->blocks == 1 ? chunk->y : g->block_rows, g->run_lanes, g->pitch, g->skew, chunk->origin,
                   chunk->origin + g->matrix_units);
#if IPT_ELEMENT_UNITS == 0
    ipt_mark_rows(chunk->starts, chunk->rows_begin, chunk->row_units, chunk->y, g->pitch, g->skew);
#endif
}
#else
/* Fetches the chunk by slots. */
IPT_INLINE void ipt_fetch_chunk(ipt_chunk *chunk, bool active, const ipt_given *g)
{
    __local uint *begins = (__local uint *)chunk->begins;
    const uint id = get_local_id(0);
    ipt_find_slots(chunk, active, g);
    __global ipt_unit *slots = ipt_slots_of(chunk);
    const uint slot_units = chunk->y * g->element_units, step = IPT_GROUP_SIZE / g->run_lanes;
    const ulong low = chunk->tail ? 0 : chunk->origin, high = chunk->tail ? ~0ul : chunk->origin + g->matrix_units;
    const ulong last = chunk->slots_begin + (chunk->slots_count != 0 ? begins[chunk->slots_count - 1] : 0);
    const bool inside = chunk->slots_begin >= low && last + slot_units + IPT_VECTOR_UNITS - 1 <= high;
    for (uint i = id / g->run_lanes; i < chunk->slots_count; i += step) {
        const uint begin = begins[i], shift = begin & (IPT_VECTOR_UNITS - 1);
        const uint to = ipt_tile_row(i, g->pitch, g->skew);
        const uint end = (shift + slot_units + IPT_VECTOR_UNITS - 1) / IPT_VECTOR_UNITS;
        __global uint4 *from = (__global uint4 *)(slots + chunk->slots_begin + (begin - shift));
        if ((id & (g->run_lanes - 1)) == 0)
            chunk->starts[i] = to * IPT_VECTOR_UNITS + shift;
        for (uint q = id & (g->run_lanes - 1); q < end; q += g->run_lanes)
            if (inside)
                ipt_fetch_inside(chunk->vectors + to + q, from + q);
            else
                ipt_fetch(chunk->vectors + to + q, slots, (chunk->slots_begin + begin) / IPT_VECTOR_UNITS + q, low,
                          high);
    }
}
#endif
#endif
