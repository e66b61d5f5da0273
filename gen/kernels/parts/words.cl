/* Columns of a tile whose units are shorter than a word, moved by words of four bytes. On an H200, the memory unit of a
 * compute unit takes as long for 32 bytes of a line of work-items as for 32 words.
 *
 * A column becomes a run in memory. A word of a run is units of several rows: IPT_WORD_UNITS rows if an element is one
 * unit. The units of a run before its first whole word, and behind its last one, share their words with other runs,
 * which other work-groups write. So they move as units: the edge of the run. */
#define IPT_BY_WORDS (IPT_UNIT_BYTES <= 2 && IPT_GROUP_SIZE >= 32)

#if IPT_BY_WORDS
#define IPT_WORD_UNITS (4u / IPT_UNIT_BYTES)
#define IPT_LINE_UNITS (IPT_LINE_LANES * IPT_WORD_UNITS) /* that a line of work-items moves at once */

/* Words that a work-item holds of a column, and of each column of a block. */
#define IPT_WORD_STEPS 4u
#define IPT_BLOCK_STEPS 2u

IPT_INLINE void ipt_load_word_if(uint *word, __global uint *from, bool is)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0;\n"
                     "@p ld.relaxed.gpu.global.L2::128B.u32 %0, [%1]; }"
                     : "=r"(*word)
                     : "l"(from), "r"((uint)is)
                     : "memory");
#else
    if (is)
        *word = *from;
#endif
}

IPT_INLINE void ipt_store_word_if(__global uint *to, uint word, bool is, ipt_policy policy)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0;\n"
                     "@p st.global.L2::cache_hint.u32 [%1], %0, %3; }" ::"r"(word),
                     "l"(to), "r"((uint)is), "l"(policy)
                     : "memory");
#else
    (void)policy;
    if (is)
        *to = word;
#endif
}

/* Joins and parts bytes: the selectors of PTX's prmt. Byte 4 is the first one of b. */
#if IPT_MEMORY_MODEL == 2
#define IPT_PERMUTED(a, b, selector, bytes)                                                                            \
    uint result;                                                                                                       \
    __asm__("prmt.b32 %0, %1, %2, " selector ";" : "=r"(result) : "r"(a), "r"(b));                                     \
    return result
#else
#define IPT_PERMUTED(a, b, selector, bytes)                                                                            \
    const uchar8 both = (uchar8)(as_uchar4(a), as_uchar4(b));                                                          \
    return as_uint(both.bytes)
#endif
IPT_INLINE uint ipt_low_halves(uint a, uint b)
{
    IPT_PERMUTED(a, b, "0x5410", s0145);
}
IPT_INLINE uint ipt_high_halves(uint a, uint b)
{
    IPT_PERMUTED(a, b, "0x7632", s2367);
}
#if IPT_UNIT_BYTES == 1
IPT_INLINE uint ipt_low_bytes(uint a, uint b)
{
    IPT_PERMUTED(a, b, "0x5140", s0415);
}
IPT_INLINE uint ipt_high_bytes(uint a, uint b)
{
    IPT_PERMUTED(a, b, "0x7362", s2637);
}
#endif

/* Transposes a square of units: word i has column i of the square, then row i. */
IPT_INLINE void ipt_transpose_words(uint *words)
{
#if IPT_UNIT_BYTES == 1
    const uint low = ipt_low_bytes(words[0], words[1]), high = ipt_high_bytes(words[0], words[1]);
    const uint low_next = ipt_low_bytes(words[2], words[3]), high_next = ipt_high_bytes(words[2], words[3]);
    words[0] = ipt_low_halves(low, low_next);
    words[1] = ipt_high_halves(low, low_next);
    words[2] = ipt_low_halves(high, high_next);
    words[3] = ipt_high_halves(high, high_next);
#else
    const uint low = ipt_low_halves(words[0], words[1]);
    words[1] = ipt_high_halves(words[0], words[1]);
    words[0] = low;
#endif
}

/* A word of these units. */
IPT_INLINE uint ipt_join(const ipt_unit *units)
{
#if IPT_UNIT_BYTES == 1
    return ipt_low_halves(ipt_low_bytes(units[0], units[1]), ipt_low_bytes(units[2], units[3]));
#else
    return ipt_low_halves(units[0], units[1]);
#endif
}

IPT_INLINE uint ipt_applied_word(uint word IPT_APPLY_PARAMETER)
{
#if defined(IPT_APPLY) && IPT_APPLY
    ipt_unit units[IPT_WORD_UNITS];
    for (uint j = 0; j < IPT_WORD_UNITS; ++j)
        units[j] = IPT_APPLIED((ipt_unit)(word >> j * (8 * IPT_UNIT_BYTES)));
    return ipt_join(units);
#else
    return word;
#endif
}

/* Rows of a tile in local memory, as ipt_fetch_rows has fetched them from `begin`. */
typedef struct ipt_tile_rows {
    __local ipt_unit *tile;
    __local uint *starts; /* as of ipt_mark_rows, if an element has several units; else 0 */
    uint begin, row_units, pitch, skew;
    uint element_units, element_units_magic, element_units_shift;
} ipt_tile_rows;

/* The unit of the tile that is unit k of the run of this column: columns count elements. k may be negative, not below
 * -IPT_LINE_UNITS, if an element is one unit. */
IPT_INLINE uint ipt_tile_unit(const ipt_tile_rows *rows, uint column, uint k)
{
#if IPT_ELEMENT_UNITS == 1
    /* From one line of work-items' units to the next one are whole vectors. */
    return (ipt_tile_row(k + IPT_LINE_UNITS, rows->pitch, rows->skew) -
            ipt_tile_row(IPT_LINE_UNITS, rows->pitch, rows->skew)) *
               IPT_VECTOR_UNITS +
           ((rows->begin + k * rows->row_units) & (IPT_VECTOR_UNITS - 1)) + column;
#else
    const uint element_units = rows->element_units, element_units_magic = rows->element_units_magic,
               element_units_shift = rows->element_units_shift;
    IPT_ELEMENT_OF(k, element, part);
    return rows->starts[element] + column * element_units + part;
#endif
}

/* Where the units of a work-item's next word lie. */
typedef struct ipt_word_places {
    uint place[IPT_WORD_UNITS];
} ipt_word_places;

/* From a word of a work-item to its next one. */
#define IPT_WORD_PLACES(rows)                                                                                          \
    (ipt_tile_row(IPT_LINE_UNITS, (rows)->pitch, (rows)->skew) * (16u / IPT_UNIT_BYTES * IPT_PLACES_EACH))

/* Finds the units k, k + 1 ... of a column. Units outside the run get any place: conditions exclude them. */
IPT_INLINE void ipt_find_word(ipt_word_places *places, const ipt_tile_rows *rows, uint column, uint k, bool is)
{
#pragma unroll
    for (uint j = 0; j < IPT_WORD_UNITS; ++j)
        places->place[j] =
            IPT_PLACE(rows->tile, ipt_tile_unit(rows, column, (IPT_ELEMENT_UNITS == 1 || is ? k : 0) + j));
}

IPT_INLINE uint ipt_read_word_if(const ipt_tile_rows *rows, const ipt_word_places *places, uint step, bool is)
{
    ipt_unit units[IPT_WORD_UNITS];
#pragma unroll
    for (uint j = 0; j < IPT_WORD_UNITS; ++j)
        ipt_read_if(&units[j], rows->tile, places->place[j] + step, is);
    return ipt_join(units);
}

IPT_INLINE void ipt_write_word_if(const ipt_tile_rows *rows, const ipt_word_places *places, uint step, uint word,
                                  bool is)
{
#pragma unroll
    for (uint j = 0; j < IPT_WORD_UNITS; ++j)
        ipt_write_if(rows->tile, places->place[j] + step, (ipt_unit)(word >> j * (8 * IPT_UNIT_BYTES)), is);
}

/* Whether the whole word that begins at unit `first` lies in a run of `units` units. */
IPT_INLINE bool ipt_is_word(uint first, uint units)
{
    return (int)first >= 0 && (int)first + (int)IPT_WORD_UNITS <= (int)units;
}

/* A unit of a run's edge. Each of 2 * IPT_WORD_UNITS work-items may have one. */
typedef struct ipt_edge {
    uint unit;
    bool is;
} ipt_edge;

IPT_INLINE ipt_edge ipt_edge_of(ulong begin, uint units, uint number)
{
    const uint head = min(units, -(uint)begin & (IPT_WORD_UNITS - 1)),
               tail = min(units - head, ((uint)begin + units) & (IPT_WORD_UNITS - 1));
    ipt_edge edge;
    edge.unit = number < IPT_WORD_UNITS ? number : units - tail + (number - IPT_WORD_UNITS);
    edge.is = number < IPT_WORD_UNITS ? number < head : number - IPT_WORD_UNITS < tail;
    if (!edge.is)
        edge.unit = 0;
    return edge;
}

/* The run of a column. */
typedef struct ipt_column_run {
    ulong begin;  /* unit of the memory */
    bool applies; /* the expression */
    ipt_policy policy;
} ipt_column_run;

/* Writes a column as a run of `units` units, by a line of work-items. exchanges: what lay there takes its place in the
 * tile. */
IPT_INLINE void ipt_move_column(const ipt_tile_rows *rows, uint column, __global ipt_unit *memory,
                                const ipt_column_run *run, uint units, bool exchanges IPT_APPLY_PARAMETER)
{
    const ulong begin = run->begin;
    const uint lane = get_local_id(0) % IPT_LINE_LANES, before = (uint)begin % IPT_LINE_UNITS;
    const ipt_edge edge = ipt_edge_of(begin, units, lane);
    __global uint *line = (__global uint *)(memory + (begin - before)) + lane;
    __global ipt_unit *edge_memory = memory + begin + edge.unit;
    ipt_unit edge_parked = 0, edge_own = 0;
    ipt_word_places places;
    uint first = lane * IPT_WORD_UNITS - before;
    if (exchanges)
        ipt_load_if(&edge_parked, edge_memory, edge.is);
#if IPT_ELEMENT_UNITS == 1
    const uint step = IPT_WORD_PLACES(rows);
    ipt_find_word(&places, rows, column, first, true);
#endif
    for (uint at = 0; at < units + before; at += IPT_WORD_STEPS * IPT_LINE_UNITS) {
        uint parked[IPT_WORD_STEPS], own[IPT_WORD_STEPS];
#pragma unroll
        for (uint u = 0; exchanges && u < IPT_WORD_STEPS; ++u)
            ipt_load_word_if(&parked[u], line + u * IPT_LINE_LANES, ipt_is_word(first + u * IPT_LINE_UNITS, units));
#pragma unroll
        for (uint u = 0; u < IPT_WORD_STEPS; ++u) {
            const bool is = ipt_is_word(first + u * IPT_LINE_UNITS, units);
#if IPT_ELEMENT_UNITS == 1
            const uint ahead = u * step;
#else
            const uint ahead = 0;
            ipt_find_word(&places, rows, column, first + u * IPT_LINE_UNITS, is);
#endif
            own[u] = ipt_read_word_if(rows, &places, ahead, is);
            if (exchanges)
                ipt_write_word_if(rows, &places, ahead, parked[u], is);
        }
        if (exchanges)
            ipt_line_order();
#pragma unroll
        for (uint u = 0; u < IPT_WORD_STEPS; ++u)
            ipt_store_word_if(line + u * IPT_LINE_LANES,
                              run->applies ? ipt_applied_word(own[u] IPT_APPLY_PASSED) : own[u],
                              ipt_is_word(first + u * IPT_LINE_UNITS, units), run->policy);
        line += IPT_WORD_STEPS * IPT_LINE_LANES;
        first += IPT_WORD_STEPS * IPT_LINE_UNITS;
#if IPT_ELEMENT_UNITS == 1
#pragma unroll
        for (uint j = 0; j < IPT_WORD_UNITS; ++j)
            places.place[j] += IPT_WORD_STEPS * step;
#endif
    }
    const uint place = IPT_PLACE(rows->tile, ipt_tile_unit(rows, column, edge.unit));
    ipt_read_if(&edge_own, rows->tile, place, edge.is);
    if (exchanges)
        ipt_write_if(rows->tile, place, edge_parked, edge.is);
    ipt_store_if(edge_memory, run->applies ? IPT_APPLIED(edge_own) : edge_own, edge.is, run->policy);
}

/* The blocks of columns that a line of work-items moves at once: `columns` columns each, from `first` on. The first
 * one may begin before the first column. */
typedef struct ipt_column_blocks {
    int first;
    uint columns, step;
} ipt_column_blocks;

/* Blocks of a word of each row, if rows and runs begin alike within a word, else single columns. runs_apart: a number
 * whose common factor with a word divides the distance of any two runs. */
IPT_INLINE ipt_column_blocks ipt_find_blocks(const ipt_tile_rows *rows, ulong runs_apart, uint first)
{
    const bool blocks = IPT_ELEMENT_UNITS == 1 && ((rows->row_units | (uint)runs_apart) & (IPT_WORD_UNITS - 1)) == 0;
    const uint line = get_local_id(0) / IPT_LINE_LANES;
    ipt_column_blocks found;
    found.columns = blocks ? IPT_WORD_UNITS : 1;
    found.first = (int)(first - ((first + rows->begin) & (found.columns - 1)) + line * found.columns);
    found.step = IPT_LINES * found.columns;
    return found;
}

#if IPT_ELEMENT_UNITS == 1
/* A word of a row of the tile. */
IPT_INLINE void ipt_read_row_if(uint *word, const ipt_tile_rows *rows, uint place, bool is)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0;\n"
                     "@p ld.shared.u32 %0, [%1]; }"
                     : "=r"(*word)
                     : "r"(place), "r"((uint)is)
                     : "memory");
#else
    if (is)
        *word = *(__local uint *)(rows->tile + place);
#endif
}
IPT_INLINE void ipt_write_row_if(const ipt_tile_rows *rows, uint place, uint word, bool is)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0;\n"
                     "@p st.shared.u32 [%0], %1; }" ::"r"(place),
                     "r"(word), "r"((uint)is)
                     : "memory");
#else
    if (is)
        *(__local uint *)(rows->tile + place) = word;
#endif
}

/* ipt_move_column for IPT_WORD_UNITS columns from `column` on, a whole word of each row. A work-item transposes squares
 * of units in registers: fewer accesses to local memory, and fewer conflicts there. */
IPT_INLINE void ipt_move_block(const ipt_tile_rows *rows, uint column, __global ipt_unit *memory,
                               const ipt_column_run *runs, uint units, bool exchanges IPT_APPLY_PARAMETER)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES, before = (uint)runs[0].begin & (IPT_WORD_UNITS - 1);
    const uint own_run = lane / (2 * IPT_WORD_UNITS);
    __global uint *lines[IPT_WORD_UNITS];
    ulong edge_begin = runs[0].begin;
    bool edge_applies = runs[0].applies;
    ipt_policy edge_policy = runs[0].policy;
#pragma unroll
    for (uint j = 0; j < IPT_WORD_UNITS; ++j) {
        lines[j] = (__global uint *)(memory + (runs[j].begin - before)) + lane;
        edge_begin = own_run == j ? runs[j].begin : edge_begin;
        edge_applies = own_run == j ? runs[j].applies : edge_applies;
        edge_policy = own_run == j ? runs[j].policy : edge_policy;
    }
    ipt_edge edge = ipt_edge_of(runs[0].begin, units, lane % (2 * IPT_WORD_UNITS));
    edge.is = edge.is && own_run < IPT_WORD_UNITS;
    __global ipt_unit *edge_memory = memory + edge_begin + edge.unit;
    ipt_unit edge_parked = 0, edge_own = 0;
    ipt_word_places places;
    uint first = lane * IPT_WORD_UNITS - before;
    const uint step = IPT_WORD_PLACES(rows);
    if (exchanges)
        ipt_load_if(&edge_parked, edge_memory, edge.is);
    ipt_find_word(&places, rows, column, first, true);
    for (uint at = 0; at < units + before; at += IPT_BLOCK_STEPS * IPT_LINE_UNITS) {
        uint parked[IPT_BLOCK_STEPS][IPT_WORD_UNITS], own[IPT_BLOCK_STEPS][IPT_WORD_UNITS];
#pragma unroll
        for (uint u = 0; exchanges && u < IPT_BLOCK_STEPS; ++u)
#pragma unroll
            for (uint j = 0; j < IPT_WORD_UNITS; ++j)
                ipt_load_word_if(&parked[u][j], lines[j] + u * IPT_LINE_LANES,
                                 ipt_is_word(first + u * IPT_LINE_UNITS, units));
#pragma unroll
        for (uint u = 0; u < IPT_BLOCK_STEPS; ++u) {
            const bool is = ipt_is_word(first + u * IPT_LINE_UNITS, units);
#pragma unroll
            for (uint j = 0; j < IPT_WORD_UNITS; ++j)
                ipt_read_row_if(&own[u][j], rows, places.place[j] + u * step, is);
            ipt_transpose_words(own[u]);
            if (exchanges) {
                ipt_transpose_words(parked[u]);
#pragma unroll
                for (uint j = 0; j < IPT_WORD_UNITS; ++j)
                    ipt_write_row_if(rows, places.place[j] + u * step, parked[u][j], is);
            }
        }
        if (exchanges)
            ipt_line_order();
#pragma unroll
        for (uint u = 0; u < IPT_BLOCK_STEPS; ++u)
#pragma unroll
            for (uint j = 0; j < IPT_WORD_UNITS; ++j)
                ipt_store_word_if(lines[j] + u * IPT_LINE_LANES,
                                  runs[j].applies ? ipt_applied_word(own[u][j] IPT_APPLY_PASSED) : own[u][j],
                                  ipt_is_word(first + u * IPT_LINE_UNITS, units), runs[j].policy);
        first += IPT_BLOCK_STEPS * IPT_LINE_UNITS;
#pragma unroll
        for (uint j = 0; j < IPT_WORD_UNITS; ++j) {
            lines[j] += IPT_BLOCK_STEPS * IPT_LINE_LANES;
            places.place[j] += IPT_BLOCK_STEPS * step;
        }
    }
    const uint place = IPT_PLACE(rows->tile, ipt_tile_unit(rows, column + own_run % IPT_WORD_UNITS, edge.unit));
    ipt_read_if(&edge_own, rows->tile, place, edge.is);
    if (exchanges)
        ipt_write_if(rows->tile, place, edge_parked, edge.is);
    ipt_store_if(edge_memory, edge_applies ? IPT_APPLIED(edge_own) : edge_own, edge.is, edge_policy);
}
#endif
#endif
