/* Moves units shorter than a word by words of four bytes: a line of work-items accesses 32 words as fast as 32
 * bytes.
 *
 * A block has IPT_WORD_UNITS rows and IPT_WORD_UNITS columns of elements. An element has one unit or three. A work-item
 * transposes a block's words in registers. */
#if IPT_BY_WORDS
#define IPT_WORD_UNITS (4u / IPT_UNIT_BYTES)
#if IPT_ELEMENT_UNITS == 1
#define IPT_ROW_WORDS 1u /* words in a row of a block, and of its transpose */
#else
#define IPT_ROW_WORDS 3u
#endif
#define IPT_BLOCK_WORDS (IPT_WORD_UNITS * IPT_ROW_WORDS)

/* The blocks that a work-item loads before its first store. Chunks are short, so loads must overlap. */
#define IPT_BLOCK_STEPS (IPT_ROW_WORDS == 1 ? 8 / IPT_WORD_UNITS : 1)

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

/* Joins bytes of the words a and b. A selector, as of PTX's prmt, has a hexadecimal digit for each byte of the result:
 * 0 to 3 select a byte of a, 4 to 7 a byte of b. */
#if IPT_MEMORY_MODEL == 2
#define IPT_JOIN(name, selector)                                                                                       \
    IPT_INLINE uint name(uint a, uint b)                                                                               \
    {                                                                                                                  \
        uint joined;                                                                                                   \
        __asm__("prmt.b32 %0, %1, %2, 0x" #selector ";" : "=r"(joined) : "r"(a), "r"(b));                              \
        return joined;                                                                                                 \
    }
#else
#define IPT_JOINED(a, b, selector, byte)                                                                               \
    ((((selector) >> 4 * (byte)&4) == 0 ? (a) : (b)) >> 8 * ((selector) >> 4 * (byte)&3) & 0xffu) << 8 * (byte)
#define IPT_JOIN(name, selector)                                                                                       \
    IPT_INLINE uint name(uint a, uint b)                                                                               \
    {                                                                                                                  \
        return IPT_JOINED(a, b, 0x##selector, 0) | IPT_JOINED(a, b, 0x##selector, 1) |                                 \
               IPT_JOINED(a, b, 0x##selector, 2) | IPT_JOINED(a, b, 0x##selector, 3);                                  \
    }
#endif
IPT_JOIN(ipt_low_halves, 5410)
IPT_JOIN(ipt_high_halves, 7632)
#if IPT_ELEMENT_UNITS != 1
IPT_JOIN(ipt_high_low, 5432) /* the high half of a, the low half of b */
#endif
#if IPT_UNIT_BYTES == 1 && IPT_ELEMENT_UNITS == 1
IPT_JOIN(ipt_low_bytes, 5140)
IPT_JOIN(ipt_high_bytes, 7362)
#elif IPT_UNIT_BYTES == 1
IPT_JOIN(ipt_from_last, 6543)
IPT_JOIN(ipt_three_and_one, 4210) /* elements of three bytes: a's last bytes, b's first */
IPT_JOIN(ipt_two_and_two, 5421)
IPT_JOIN(ipt_one_and_three, 6542)
#endif

/* Computes line i of the transpose of block w: column i of rows, or row i of columns. Each line has IPT_ROW_WORDS
 * words; the lines of w follow one another. */
IPT_INLINE void ipt_cross_line(uint *line, const uint *w, uint i)
{
#if IPT_UNIT_BYTES == 1 && IPT_ELEMENT_UNITS == 1
    const uint a = i < 2 ? ipt_low_bytes(w[0], w[1]) : ipt_high_bytes(w[0], w[1]),
               b = i < 2 ? ipt_low_bytes(w[2], w[3]) : ipt_high_bytes(w[2], w[3]);
    line[0] = i % 2 == 0 ? ipt_low_halves(a, b) : ipt_high_halves(a, b);
#elif IPT_ELEMENT_UNITS == 1
    line[0] = i == 0 ? ipt_low_halves(w[0], w[1]) : ipt_high_halves(w[0], w[1]);
#elif IPT_UNIT_BYTES == 2
    line[0] = i == 0 ? w[0] : ipt_high_low(w[1], w[2]);
    line[1] = i == 0 ? ipt_low_halves(w[1], w[3]) : ipt_high_halves(w[2], w[4]);
    line[2] = i == 0 ? ipt_high_low(w[3], w[4]) : w[5];
#else
    /* The three low bytes of e[j] are element i of line j. */
    uint e[4];
#pragma unroll
    for (uint j = 0; j < 4; ++j)
        e[j] = i == 0   ? w[3 * j]
               : i == 1 ? ipt_from_last(w[3 * j], w[3 * j + 1])
               : i == 2 ? ipt_high_low(w[3 * j + 1], w[3 * j + 2])
                        : w[3 * j + 2] >> 8;
    line[0] = ipt_three_and_one(e[0], e[1]);
    line[1] = ipt_two_and_two(e[1], e[2]);
    line[2] = ipt_one_and_three(e[2], e[3]);
#endif
}

/* A work-item has three words of a run: adjacent words, or words that lie 32 words apart. ipt_spread turns the first
 * layout into the second, in which a line of work-items stores whole sectors; ipt_collect turns it back. In each
 * shuffle, all work-items exchange the same one of their adjacent words: 0, then 2, then 1. */
#if IPT_ROW_WORDS == 3 && IPT_MEMORY_MODEL == 2
#define IPT_SPREAD 1

/* The work-item's number in its line. The volatile read makes each use recompute the values that depend on this number.
 * Otherwise they occupy registers between blocks, which slows the exchange of reversed 6-byte elements. Recomputing
 * slows all other exchanges. */
IPT_INLINE uint ipt_line_lane(void)
{
#if IPT_REVERSED_RUNS != 0 && IPT_UNIT_BYTES == 2
    uint lane;
    __asm__ volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
#else
    return get_local_id(0) % 32;
#endif
}
IPT_INLINE uint ipt_from_lane(uint word, uint lane)
{
    uint value;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(value) : "r"(word), "r"(lane));
    return value;
}
IPT_INLINE void ipt_spread(uint *w)
{
    const uint lane = ipt_line_lane(), turn = lane % 3;
    const uint to_first = turn, to_second = turn == 2 ? 0 : turn + 1, to_third = turn == 0 ? 2 : turn - 1;
    const uint first = ipt_from_lane(w[0], (32 * to_first + lane) / 3),
               second = ipt_from_lane(w[2], (32 * to_second + lane) / 3),
               third = ipt_from_lane(w[1], (32 * to_third + lane) / 3);
    w[0] = turn == 0 ? first : turn == 1 ? third : second;
    w[1] = turn == 0 ? second : turn == 1 ? first : third;
    w[2] = turn == 0 ? third : turn == 1 ? second : first;
}
IPT_INLINE void ipt_collect(uint *w)
{
    const uint lane = ipt_line_lane(), turn = lane % 3;
    const uint first = turn == 0   ? w[0]
                       : turn == 1 ? w[1]
                                   : w[2],
               second = turn == 0   ? w[1]
                        : turn == 1 ? w[2]
                                    : w[0],
               third = turn == 0   ? w[2]
                       : turn == 1 ? w[0]
                                   : w[1];
    w[0] = ipt_from_lane(first, 3 * lane % 32);
    w[1] = ipt_from_lane(third, (3 * lane + 1) % 32);
    w[2] = ipt_from_lane(second, (3 * lane + 2) % 32);
}
#else
#define IPT_SPREAD 0
#endif

/* Read or write the word at `place` of the tile, if `is`. */
IPT_INLINE void ipt_read_word_if(uint *word, __local ipt_unit *tile, uint place, bool is)
{
#if IPT_MEMORY_MODEL == 2
    (void)tile;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0;\n"
                     "@p ld.shared.u32 %0, [%1]; }"
                     : "=r"(*word)
                     : "r"(place), "r"((uint)is)
                     : "memory");
#else
    if (is)
        *word = *(__local uint *)(tile + place);
#endif
}
IPT_INLINE void ipt_write_word_if(__local ipt_unit *tile, uint place, uint word, bool is)
{
#if IPT_MEMORY_MODEL == 2
    (void)tile;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0;\n"
                     "@p st.shared.u32 [%0], %1; }" ::"r"(place),
                     "r"(word), "r"((uint)is)
                     : "memory");
#else
    if (is)
        *(__local uint *)(tile + place) = word;
#endif
}

IPT_INLINE uint ipt_applied_word(uint word, const ipt_given *g)
{
#if defined(IPT_APPLY) && IPT_APPLY && IPT_UNIT_BYTES == 1
    const uchar4 units = as_uchar4(word);
    return as_uint(IPT_VECTOR(uchar4)(ipt_apply(units.s0, g), ipt_apply(units.s1, g), ipt_apply(units.s2, g),
                                      ipt_apply(units.s3, g)));
#elif defined(IPT_APPLY) && IPT_APPLY
    const ushort2 units = as_ushort2(word);
    return as_uint(IPT_VECTOR(ushort2)(ipt_apply(units.s0, g), ipt_apply(units.s1, g)));
#else
    return word;
#endif
}

/* A tile that ipt_fetch_rows has fetched from `begin` into local memory. Its columns become runs. */
typedef struct ipt_block_tile {
    __local ipt_unit *units;
    uint begin, row_units, pitch, skew, element_units;
    uint rows;
    bool backwards; /* runs begin with the last row */
} ipt_block_tile;

/* Whether the tile can move by blocks: its rows and runs must consist of whole words. `begins` is the bitwise or of the
 * runs' begins and distances in units. The planner prefers multiples of IPT_WORD_UNITS columns, but a matrix may begin
 * within a word. */
IPT_INLINE bool ipt_has_blocks(const ipt_block_tile *tile, ulong begins)
{
    return ((tile->begin | tile->row_units | tile->rows | (uint)begins) & (IPT_WORD_UNITS - 1)) == 0;
}

/* Writes IPT_WORD_UNITS columns from `column` on as runs, by blocks. The first run begins at `run`; runs lie `apart`
 * units apart. exchanges: the tile receives the overwritten units. */
IPT_INLINE void ipt_move_block(const ipt_block_tile *tile, uint column, __global ipt_unit *run, long apart,
                               bool exchanges, bool applies, ipt_policy policy, const ipt_given *g)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES;
    const uint step = (tile->backwards ? -1u : 1u) * (16u / IPT_UNIT_BYTES * IPT_PLACES_EACH) *
                      ipt_tile_row(IPT_LINE_LANES * IPT_WORD_UNITS, tile->pitch, tile->skew);
    const uint words = tile->rows / IPT_WORD_UNITS * IPT_ROW_WORDS;
    uint places[IPT_WORD_UNITS];
#pragma unroll
    for (uint i = 0; i < IPT_WORD_UNITS; ++i) {
        const uint in_run = lane * IPT_WORD_UNITS + i, row = tile->backwards ? tile->rows - 1 - in_run : in_run;
        places[i] = IPT_PLACE(tile->units, ipt_tile_row(row, tile->pitch, tile->skew) * IPT_VECTOR_UNITS +
                                               ((tile->begin + row * tile->row_units) & (IPT_VECTOR_UNITS - 1)) +
                                               column * tile->element_units);
    }
    /* The work-item's IPT_ROW_WORDS words of a run are adjacent, or IPT_LINE_LANES words apart. */
    const uint first = IPT_SPREAD ? lane : lane * IPT_ROW_WORDS, next = IPT_SPREAD ? IPT_LINE_LANES : 1;
    for (uint at = 0; at < words; at += IPT_BLOCK_STEPS * IPT_LINE_LANES * IPT_ROW_WORDS) {
        uint parked[IPT_BLOCK_STEPS][IPT_BLOCK_WORDS], own[IPT_BLOCK_STEPS][IPT_BLOCK_WORDS];
#pragma unroll
        for (uint u = 0; exchanges && u < IPT_BLOCK_STEPS; ++u)
#pragma unroll
            for (uint j = 0; j < IPT_WORD_UNITS; ++j)
#pragma unroll
                for (uint p = 0; p < IPT_ROW_WORDS; ++p) {
                    const uint word = at + u * (IPT_LINE_LANES * IPT_ROW_WORDS) + first + p * next;
                    ipt_load_word_if(&parked[u][j * IPT_ROW_WORDS + p], (__global uint *)(run + j * apart) + word,
                                     word < words);
                }
#pragma unroll
        for (uint u = 0; u < IPT_BLOCK_STEPS; ++u) {
            const bool is = at + (u * IPT_LINE_LANES + lane) * IPT_ROW_WORDS < words;
#pragma unroll
            for (uint i = 0; i < IPT_WORD_UNITS; ++i)
#pragma unroll
                for (uint p = 0; p < IPT_ROW_WORDS; ++p)
                    ipt_read_word_if(&own[u][i * IPT_ROW_WORDS + p], tile->units,
                                     places[i] + u * step + p * (4u / IPT_UNIT_BYTES * IPT_PLACES_EACH), is);
            if (exchanges) {
#if IPT_SPREAD
#pragma unroll
                for (uint j = 0; j < IPT_WORD_UNITS; ++j)
                    ipt_collect(parked[u] + j * IPT_ROW_WORDS);
#endif
#pragma unroll
                for (uint i = 0; i < IPT_WORD_UNITS; ++i) {
                    uint row[IPT_ROW_WORDS];
                    ipt_cross_line(row, parked[u], i);
#pragma unroll
                    for (uint p = 0; p < IPT_ROW_WORDS; ++p)
                        ipt_write_word_if(tile->units,
                                          places[i] + u * step + p * (4u / IPT_UNIT_BYTES * IPT_PLACES_EACH), row[p],
                                          is);
                }
            }
        }
        if (exchanges)
            ipt_line_order();
#pragma unroll
        for (uint u = 0; u < IPT_BLOCK_STEPS; ++u)
#pragma unroll
            for (uint j = 0; j < IPT_WORD_UNITS; ++j) {
                uint line[IPT_ROW_WORDS];
                ipt_cross_line(line, own[u], j);
#if IPT_SPREAD
                ipt_spread(line);
#endif
#pragma unroll
                for (uint p = 0; p < IPT_ROW_WORDS; ++p) {
                    const uint word = at + u * (IPT_LINE_LANES * IPT_ROW_WORDS) + first + p * next;
                    ipt_store_word_if((__global uint *)(run + j * apart) + word,
                                      applies ? ipt_applied_word(line[p], g) : line[p], word < words, policy);
                }
            }
#pragma unroll
        for (uint i = 0; i < IPT_WORD_UNITS; ++i)
            places[i] += IPT_BLOCK_STEPS * step;
    }
}
#endif
