/* The chunks of the band exchange: see exchange.cl. */

/* In units: the distance of rows in the band layout, and the length of a row in the slot layout. Kernels for rows
 * without gaps compute both, because arguments would cost time. */
#if IPT_PITCHED
#define IPT_ROW_STRIDE(g) (g)->row_stride
#define IPT_COLUMN_UNITS(g) (g)->column_units
#else
#define IPT_ROW_STRIDE(g) ((ulong)(g)->short_side * (g)->element_units)
#define IPT_COLUMN_UNITS(g) (g)->column_stride
#endif

/* IPT_AXES: the columns are those of an array of so many axes. A chunk's columns are neighbours in the band layout,
 * whose column x is row ipt_place_after(x) of the slot layout: ranges, runs and partners follow that row's number. */
#define IPT_PERMUTED (IPT_AXES > 0)
#if IPT_AXES
#define IPT_COLUMN_ORIGIN(chunk) 0 /* columns are numbered in the matrix, otherwise in the chunk */
#define IPT_DEFERRED 0x80000000u
#define IPT_SHARED_DEFERRED 3 /* how many columns are deferred: after the other values that a work-group shares */
#else
#define IPT_COLUMN_ORIGIN(chunk) (chunk)->x_first
#endif

/* The work-group's chunk. Lengths in elements, offsets in units. A column's number is that of its row in the slot
 * layout, from IPT_COLUMN_ORIGIN. */
typedef struct ipt_chunk {
    __global ipt_unit *matrix;
    __global uint *workspace;
    volatile __global uint *control; /* the control block */
    volatile __global uint *reads;   /* of its matrix, one for each position */
    volatile __global uint *dones;   /* of its matrix, one for each chunk of each position */
    __local uint4 *vectors;          /* its elements: rows of the band (tall) or runs (wide) */
    __local uint *starts;            /* unit of `vectors` at which each row or run begins; 0: not needed */
    __local uint *shared;
    __local uint *columns;  /* IPT_AXES: the number of each, IPT_DEFERRED if its partner was not parked yet */
    __local uint *deferred; /* those columns, shared[IPT_SHARED_DEFERRED] of them */
    uint position, position_in_matrix; /* among the positions of all matrices; of its matrix */
    uint number;                       /* among the chunks of its position */
    uint band;                   /* below `bands`: a band; `bands`: the rest rows; above: the rest in the workspace */
    uint x_first, x, y;          /* first column, columns, rows */
    bool rest_columns;           /* its columns, without IPT_AXES, are rest columns */
    uint takes_first, takes_end; /* its columns of earlier ranges */
    uint parks_first, parks_end; /* its columns of later ranges */
    ulong origin;                /* of its matrix */
    ulong saved;                 /* of the saved rest, in the workspace */
    ulong rows_begin;            /* of its rows in the band layout, in ipt_rows_of() */
    ulong row_units;             /* distance of these rows */
    ulong own_begin;             /* of column 0's run in the slot layout, in ipt_columns_of() */
    ulong partner_begin;         /* of column 0's partner, for range 0 */
    uint partner_back;           /* units to subtract for each range */
} ipt_chunk;

/* The memory of the chunk's rows: the saved rest rows lie in the workspace. */
IPT_INLINE __global ipt_unit *ipt_rows_of(const ipt_chunk *chunk, const ipt_given *g)
{
    return chunk->band == g->bands && g->saves_rows != 0 ? (__global ipt_unit *)chunk->workspace : chunk->matrix;
}

/* The number of the chunk's column i, and that of column x of the band layout. */
IPT_INLINE uint ipt_column_at(const ipt_chunk *chunk, uint i)
{
#if IPT_AXES
    return chunk->columns[i] & ~IPT_DEFERRED;
#else
    return i;
#endif
}
IPT_INLINE bool ipt_is_deferred(const ipt_chunk *chunk, uint i)
{
#if IPT_AXES
    return (chunk->columns[i] & IPT_DEFERRED) != 0;
#else
    return false;
#endif
}
IPT_INLINE uint ipt_column_of(uint x, const ipt_given *g)
{
#if IPT_AXES
    return ipt_place_after(x, g);
#else
    return x;
#endif
}

/* Whether the chunk may have rest columns. */
IPT_INLINE bool ipt_may_have_rest(const ipt_chunk *chunk)
{
#if IPT_AXES
    return true;
#else
    return chunk->rest_columns;
#endif
}

/* Whether a column is a rest column. */
IPT_INLINE bool ipt_is_rest(const ipt_chunk *chunk, uint column, const ipt_given *g)
{
#if IPT_AXES
    return column >= g->bands * g->width;
#else
    return chunk->rest_columns;
#endif
}

/* The memory of a column: the saved rest columns lie in the workspace. */
IPT_INLINE __global ipt_unit *ipt_columns_of(const ipt_chunk *chunk, uint column, const ipt_given *g)
{
    return ipt_is_rest(chunk, column, g) && g->saves_rows == 0 ? (__global ipt_unit *)chunk->workspace : chunk->matrix;
}

/* Whether band or range d comes later (earlier) in the sequence than the chunk's band. Neither is true for the rest. */
IPT_INLINE bool ipt_is_later(const ipt_chunk *chunk, uint d, const ipt_given *g)
{
    return chunk->band < g->bands && (IPT_PERMUTED ? d < g->bands : !chunk->rest_columns) &&
           (g->from_last != 0 ? d < chunk->band : d > chunk->band);
}
IPT_INLINE bool ipt_is_earlier(const ipt_chunk *chunk, uint d, const ipt_given *g)
{
    return chunk->band < g->bands && (IPT_PERMUTED ? d < g->bands : !chunk->rest_columns) &&
           (g->from_last != 0 ? d > chunk->band : d < chunk->band);
}

/* Whether the chunk's column i, of range d, parks its run. */
IPT_INLINE bool ipt_parks(const ipt_chunk *chunk, uint i, uint d, const ipt_given *g)
{
    return IPT_PERMUTED ? ipt_is_later(chunk, d, g) : i >= chunk->parks_first && i < chunk->parks_end;
}

/* The range of a column. */
IPT_INLINE uint ipt_range_of(const ipt_chunk *chunk, uint column, const ipt_given *g)
{
    return ipt_divide32(IPT_COLUMN_ORIGIN(chunk) + column, IPT_DIVISOR(g->width));
}

/* Unit of a column at which the part of band d begins. Reversed, the rest rows' part comes first.
 * Counting from the column's begin needs fewer registers, and less time, than counting from its
 * end. */
IPT_INLINE ulong ipt_part_begin(uint d, const ipt_given *g)
{
    if (IPT_REVERSED_RUNS == 0)
        return (ulong)d * g->run_units;
    return d == g->bands ? 0 : (ulong)(g->bands - 1 - d) * g->run_units + g->rest_rows * g->element_units;
}

/* Where the run of a column lies in the slot layout. */
IPT_INLINE ulong ipt_own_place(const ipt_chunk *chunk, uint column, const ipt_given *g)
{
#if IPT_AXES
    if (ipt_is_rest(chunk, column, g) && g->saves_rows == 0)
        return chunk->saved + (ulong)(column - g->bands * g->width) * (uint)g->column_stride +
               ipt_part_begin(chunk->band, g);
#endif
    return chunk->own_begin + (ulong)column * (uint)g->column_stride;
}

/* The run of a column's partner, in the range of the chunk's band. d: the column's range. The rest has no partner. */
IPT_INLINE ulong ipt_partner_place(const ipt_chunk *chunk, uint column, uint d, const ipt_given *g)
{
#if IPT_AXES
    if (chunk->band >= g->bands || d >= g->bands)
        return ipt_own_place(chunk, column, g);
#endif
    return chunk->partner_begin + (ulong)column * (uint)g->column_stride - (ulong)d * chunk->partner_back;
}

/* The row, of the chunk's `rows` rows, that contains element k of a run. */
IPT_INLINE uint ipt_row_of_run(uint k, uint rows)
{
    return IPT_REVERSED_RUNS == 0 ? k : rows - 1 - k;
}

/* The position of the chunk's column i in local memory: in a row (tall), or among the runs (wide). */
IPT_INLINE uint ipt_in_chunk(const ipt_chunk *chunk, uint i)
{
    return IPT_REVERSED_COLUMNS == 0 ? i : chunk->x - 1 - i;
}

/* The position of a band in its matrix. */
IPT_INLINE uint ipt_position_of(uint band, const ipt_given *g)
{
    return g->first_band + (g->from_last != 0 ? g->bands - 1 - band : band);
}

/* Finds the rows of the chunk's columns. */
IPT_INLINE void ipt_place_rows(ipt_chunk *chunk, const ipt_given *g)
{
    const uint first = IPT_REVERSED_COLUMNS == 0 ? chunk->x_first : g->short_side - chunk->x_first - chunk->x;
    chunk->row_units = IPT_ROW_STRIDE(g);
    chunk->rows_begin = (chunk->band == g->bands && g->saves_rows != 0
                             ? chunk->saved
                             : chunk->origin + (ulong)chunk->band * g->height * chunk->row_units) +
                        first * g->element_units;
}

/* Finds the chunk of a ticket. */
IPT_INLINE void ipt_place_chunk(ipt_chunk *chunk, uint ticket, const ipt_given *g)
{
    const uint position = ipt_divide32(ticket, IPT_DIVISOR(g->chunks)), number = ticket - position * g->chunks;
    const uint m = ipt_divide32(position, IPT_DIVISOR(g->positions)), in_matrix = position - m * g->positions;
    const uint step = in_matrix - g->first_band, rest = IPT_TALL ? g->first_band + g->bands : g->first_band - 1;
    const uint covered = g->bands * g->width;
    chunk->position = position;
    chunk->position_in_matrix = in_matrix;
    chunk->number = number;
    chunk->band = step < g->bands                          ? (g->from_last != 0 ? g->bands - 1 - step : step)
                  : g->rest_rows != 0 && in_matrix == rest ? g->bands
                                                           : g->bands + 1;
    chunk->rest_columns = !IPT_PERMUTED && number >= g->rest_chunks;
    if (IPT_PERMUTED) {
        chunk->x_first = number * g->chunk_width;
        chunk->x = min(g->chunk_width, g->short_side - chunk->x_first);
    } else if (chunk->rest_columns) {
        chunk->x_first = covered + (number - g->rest_chunks) * g->rest_width;
        chunk->x = min(g->rest_width, g->short_side - chunk->x_first);
    } else {
        chunk->x_first = number * g->chunk_width;
        chunk->x = min(g->chunk_width, covered - chunk->x_first);
    }
    chunk->y = chunk->band == g->bands ? g->rest_rows : g->height;
    chunk->origin = g->base + m * g->matrix_stride;
    chunk->saved = g->saved_base + m * g->saved_stride;
    ipt_place_rows(chunk, g);
    chunk->own_begin = (chunk->rest_columns && g->saves_rows == 0
                            ? chunk->saved + (ulong)(chunk->x_first - covered) * (uint)g->column_stride
                            : chunk->origin + (ulong)IPT_COLUMN_ORIGIN(chunk) * (uint)g->column_stride) +
                       ipt_part_begin(chunk->band, g);
    chunk->partner_begin = chunk->own_begin;
    chunk->partner_back = 0;
    chunk->takes_first = chunk->takes_end = chunk->parks_first = chunk->parks_end = 0;
    if (chunk->band < g->bands && !chunk->rest_columns) {
        const uint own_first = chunk->band * g->width, own_end = own_first + g->width;
        const uint before = clamp(own_first, chunk->x_first, chunk->x_first + chunk->x) - chunk->x_first,
                   behind = clamp(own_end, chunk->x_first, chunk->x_first + chunk->x) - chunk->x_first;
        chunk->partner_begin = chunk->origin + (ulong)(own_first + IPT_COLUMN_ORIGIN(chunk)) * (uint)g->column_stride +
                               ipt_part_begin(0, g);
        chunk->partner_back = IPT_REVERSED_RUNS == 0 ? g->width * (uint)g->column_stride - g->run_units
                                                     : g->width * (uint)g->column_stride + g->run_units;
        chunk->takes_first = g->from_last != 0 ? behind : 0;
        chunk->takes_end = g->from_last != 0 ? chunk->x : before;
        chunk->parks_first = g->from_last != 0 ? 0 : behind;
        chunk->parks_end = g->from_last != 0 ? before : chunk->x;
    }
    chunk->reads = &chunk->control[IPT_COUNTERS + m * g->positions];
    chunk->dones = &chunk->control[g->done_begin + m * g->positions * g->chunks];
}

/* Whether other chunks may wait until this chunk is done. They do if it parks runs, or moves rest columns (tall) or
 * rest rows (wide). */
IPT_INLINE bool ipt_is_awaited(const ipt_chunk *chunk, const ipt_given *g)
{
    if (IPT_PERMUTED)
        return chunk->band <= g->bands;
    return chunk->parks_first < chunk->parks_end || (IPT_TALL ? chunk->rest_columns : chunk->band == g->bands);
}

#define IPT_REST_WORDS 8 /* that a work-item loads before its first store */

/* Copies units of the rest that have no gaps to the workspace, or back. */
IPT_INLINE void ipt_copy_rest_units(const ipt_chunk *chunk, ulong first, ulong end, const ipt_given *g)
{
    __global ipt_unit *in_matrix = chunk->matrix + chunk->origin + g->saved_origin;
    __global ipt_unit *in_workspace = (__global ipt_unit *)chunk->workspace + chunk->saved;
    __global ipt_unit *from = g->saves_first != 0 ? in_matrix : in_workspace;
    __global ipt_unit *to = g->saves_first != 0 ? in_workspace : in_matrix;
#if IPT_BY_WORDS
    if (((chunk->origin + g->saved_origin) | chunk->saved | first | end) % IPT_WORD_UNITS == 0) {
        __global uint *from_words = (__global uint *)(from + first), *to_words = (__global uint *)(to + first);
        const uint words = end > first ? (uint)((end - first) / IPT_WORD_UNITS) : 0;
        for (uint n = get_local_id(0); n < words; n += IPT_REST_WORDS * IPT_GROUP_SIZE) {
            uint held[IPT_REST_WORDS];
#pragma unroll
            for (uint u = 0; u < IPT_REST_WORDS; ++u)
                ipt_load_word_if(&held[u], from_words + (n + u * IPT_GROUP_SIZE), n + u * IPT_GROUP_SIZE < words);
#pragma unroll
            for (uint u = 0; u < IPT_REST_WORDS; ++u)
                if (n + u * IPT_GROUP_SIZE < words)
                    to_words[n + u * IPT_GROUP_SIZE] = held[u];
        }
        return;
    }
#endif
    for (ulong n = first + get_local_id(0); n < end; n += IPT_STEPS * IPT_GROUP_SIZE) {
        ipt_unit held[IPT_STEPS];
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u) {
            held[u] = (ipt_unit)0;
            ipt_load_if(&held[u], from + (n + u * IPT_GROUP_SIZE), n + u * IPT_GROUP_SIZE < end);
        }
#pragma unroll
        for (uint u = 0; u < IPT_STEPS; ++u)
            if (n + u * IPT_GROUP_SIZE < end)
                to[n + u * IPT_GROUP_SIZE] = held[u];
    }
}

/* Copies units [first, end) of the rest, without the gaps between rows, to the workspace, or back. */
IPT_INLINE void ipt_copy_rest(const ipt_chunk *chunk, ulong first, ulong end, const ipt_given *g)
{
#if !IPT_PITCHED
    ipt_copy_rest_units(chunk, first, end, g);
    return;
#endif
    for (ulong row = first / g->saved_distance * g->saved_distance; row < end; row += g->saved_distance)
        ipt_copy_rest_units(chunk, max(first, row), min(end, row + g->saved_row), g);
}

/* Copies the chunk's part of the rest. */
IPT_INLINE void ipt_copy_rest_part(const ipt_chunk *chunk, const ipt_given *g)
{
#if IPT_BY_WORDS
    const ulong each =
        ((g->saved_units + g->chunks - 1) / g->chunks + IPT_VECTOR_UNITS - 1) / IPT_VECTOR_UNITS * IPT_VECTOR_UNITS;
#else
    const ulong each = (g->saved_units + g->chunks - 1) / g->chunks;
#endif
    const ulong first = chunk->number * each;
    ipt_copy_rest(chunk, first, min(first + each, g->saved_units), g);
}
