/* Blocks of a tile's columns, where units are shorter than a word: they move by words of four bytes. A
 * compute unit takes as long for 32 bytes of a line of work-items as for 32 words.
 *
 * A block is IPT_WORD_UNITS columns of as many rows for each work-item, of elements of one unit or of three units. Its
 * words are transposed in registers. */
#if IPT_BY_WORDS
#define IPT_WORD_UNITS (4u / IPT_UNIT_BYTES)
#if IPT_ELEMENT_UNITS == 1
#define IPT_ROW_WORDS 1u /* of a block's row, and of its run */
#else
#define IPT_ROW_WORDS 3u
#endif
#define IPT_BLOCK_WORDS (IPT_WORD_UNITS * IPT_ROW_WORDS)

/* Blocks below one another that a work-item loads before it stores one: chunks are short, so latency counts. */
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

/* Joins bytes of two words. The numbers are selectors of PTX's prmt, a hexadecimal digit for each byte: 4 is the first
 * byte of b. */
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
IPT_JOIN(ipt_three_and_one, 4210) /* of the first three bytes of a and of b */
IPT_JOIN(ipt_two_and_two, 5421)
IPT_JOIN(ipt_one_and_three, 6542)
#endif

/* Line i of a transposed block: column i of IPT_WORD_UNITS rows of elements, or the reverse. Lines have IPT_ROW_WORDS
 * words, one line after the other. */
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
    /* Element i of each line: its first three bytes. */
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

/* A run of three words for each work-item: the three that lie together are its own, or they lie 32 words apart, so that
 * a line of work-items stores whole sectors. Work-item l exchanges word m with the one that has word 32 * t + l. For
 * all work-items of a turn, m is the same: 0, 2, 1. */
#if IPT_ROW_WORDS == 3 && IPT_MEMORY_MODEL == 2
#define IPT_SPREAD 1

/* The work-item's number in its line. What depends on it stays in registers between blocks, unless each use computes it
 * anew. Registers are scarce where runs are stored backwards: the exchange of 6 bytes takes longer
 * without that, other exchanges with it. */
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

/* A row's word in the tile. */
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
    return as_uint(
        (uchar4)(ipt_apply(units.s0, g), ipt_apply(units.s1, g), ipt_apply(units.s2, g), ipt_apply(units.s3, g)));
#elif defined(IPT_APPLY) && IPT_APPLY
    const ushort2 units = as_ushort2(word);
    return as_uint((ushort2)(ipt_apply(units.s0, g), ipt_apply(units.s1, g)));
#else
    return word;
#endif
}

/* A tile in local memory, as ipt_fetch_rows has fetched it from `begin`, and the runs of its columns. */
typedef struct ipt_block_tile {
    __local ipt_unit *units;
    uint begin, row_units, pitch, skew, element_units;
    uint rows;
    bool backwards; /* runs begin with the last row */
} ipt_block_tile;

/* Whether the tile moves by blocks: rows are whole words, and so are runs whose begins and lengths are multiples of the
 * lowest bit of `begins`. The planner cuts matrices into multiples of IPT_WORD_UNITS columns if their sides allow that,
 * but a matrix may begin between two words. */
IPT_INLINE bool ipt_has_blocks(const ipt_block_tile *tile, ulong begins)
{
    return ((tile->begin | tile->row_units | tile->rows | (uint)begins) & (IPT_WORD_UNITS - 1)) == 0;
}

/* Writes a block of columns from `column` on as runs: the first one begins at `run`, the others `apart` units from one
 * another. exchanges: the tile receives what lay there. */
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
    /* The work-item's words of a run: IPT_ROW_WORDS together, or a line of work-items apart. */
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
