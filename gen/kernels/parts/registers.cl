/* Blocks in vector registers. */

#define IPT_ROWS_AHEAD 256 /* bytes from a row's load to its prefetch */

/* A work-group of one work-item, as on CPUs, transposes blocks in vector registers and needs no tile. */
#if IPT_GROUP_SIZE == 1 && IPT_ELEMENT_UNITS == 1 && !IPT_APPLY
#define IPT_IN_REGISTERS 1
#if IPT_UNIT_BYTES == 1
#define IPT_BLOCK 16
typedef uchar16 ipt_row;
#elif IPT_UNIT_BYTES == 2
#define IPT_BLOCK 16
typedef ushort16 ipt_row;
#elif IPT_UNIT_BYTES == 4
#define IPT_BLOCK 8
typedef uint8 ipt_row;
#elif IPT_UNIT_BYTES == 8
#define IPT_BLOCK 4
typedef ulong4 ipt_row;
#else
#define IPT_BLOCK 2
typedef ulong4 ipt_row;
#endif
IPT_AT_ANY_ADDRESS(ipt_row, ipt_row_in_memory)

#if IPT_UNIT_BYTES == 1
/* Transposes a block in four steps. A step interleaves the units of rows i and i + 8 into rows 2i and 2i + 1. CPUs have
 * an instruction for this, so bytes take 0.6 times as long as with exchanged quarters. Longer units do not gain. */
void ipt_transpose_block(ipt_row *v)
{
#pragma unroll
    for (uint step = 0; step < 4; ++step) {
        ipt_row next[IPT_BLOCK];
#pragma unroll
        for (uint i = 0; i < IPT_BLOCK / 2; ++i) {
            const ipt_row a = v[i], b = v[i + IPT_BLOCK / 2];
            next[2 * i] = (ipt_row)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6,
                                    a.s7, b.s7);
            next[2 * i + 1] = (ipt_row)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se,
                                        b.se, a.sf, b.sf);
        }
#pragma unroll
        for (uint i = 0; i < IPT_BLOCK; ++i)
            v[i] = next[i];
    }
}
#else
/* Exchange the upper right and lower left quarters of blocks: the whole block (halves), or squares of 8 x 8 (fours),
 * 4 x 4 (twos) and 2 x 2 units (ones). */
void ipt_exchange_halves(ipt_row *a, ipt_row *b)
{
    const ipt_row both = (ipt_row)(a->lo, b->lo);
    *b = (ipt_row)(a->hi, b->hi);
    *a = both;
}
#if IPT_BLOCK == 16
void ipt_exchange_fours(ipt_row *a, ipt_row *b)
{
    const ipt_row both = (ipt_row)(a->s0123, b->s0123, a->s89ab, b->s89ab);
    *b = (ipt_row)(a->s4567, b->s4567, a->scdef, b->scdef);
    *a = both;
}
void ipt_exchange_twos(ipt_row *a, ipt_row *b)
{
    const ipt_row both = (ipt_row)(a->s01, b->s01, a->s45, b->s45, a->s89, b->s89, a->scd, b->scd);
    *b = (ipt_row)(a->s23, b->s23, a->s67, b->s67, a->sab, b->sab, a->sef, b->sef);
    *a = both;
}
void ipt_exchange_ones(ipt_row *a, ipt_row *b)
{
    const ipt_row both = (ipt_row)(a->s0, b->s0, a->s2, b->s2, a->s4, b->s4, a->s6, b->s6, a->s8, b->s8, a->sa, b->sa,
                                   a->sc, b->sc, a->se, b->se);
    *b = (ipt_row)(a->s1, b->s1, a->s3, b->s3, a->s5, b->s5, a->s7, b->s7, a->s9, b->s9, a->sb, b->sb, a->sd, b->sd,
                   a->sf, b->sf);
    *a = both;
}
#elif IPT_BLOCK == 8
void ipt_exchange_twos(ipt_row *a, ipt_row *b)
{
    const ipt_row both = (ipt_row)(a->s01, b->s01, a->s45, b->s45);
    *b = (ipt_row)(a->s23, b->s23, a->s67, b->s67);
    *a = both;
}
void ipt_exchange_ones(ipt_row *a, ipt_row *b)
{
    const ipt_row both = (ipt_row)(a->s0, b->s0, a->s2, b->s2, a->s4, b->s4, a->s6, b->s6);
    *b = (ipt_row)(a->s1, b->s1, a->s3, b->s3, a->s5, b->s5, a->s7, b->s7);
    *a = both;
}
#elif IPT_BLOCK == 4
void ipt_exchange_ones(ipt_row *a, ipt_row *b)
{
    const ipt_row both = (ipt_row)(a->s0, b->s0, a->s2, b->s2);
    *b = (ipt_row)(a->s1, b->s1, a->s3, b->s3);
    *a = both;
}
#endif

void ipt_transpose_block(ipt_row *v)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK / 2; ++i)
        ipt_exchange_halves(&v[i], &v[i + IPT_BLOCK / 2]);
#if IPT_BLOCK == 16
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK / 2; ++i)
        ipt_exchange_fours(&v[i + i / 4 * 4], &v[i + i / 4 * 4 + 4]);
#endif
#if IPT_BLOCK >= 8
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK / 2; ++i)
        ipt_exchange_twos(&v[i + i / 2 * 2], &v[i + i / 2 * 2 + 2]);
#endif
#if IPT_BLOCK >= 4
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; i += 2)
        ipt_exchange_ones(&v[i], &v[i + 1]);
#endif
}
#endif

void ipt_load_block(ipt_row *v, __global ipt_unit *source, long stride)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; ++i) {
        IPT_PREFETCH((size_t)(source + i * stride) + IPT_ROWS_AHEAD);
        v[i] = IPT_LOAD_AT_ANY(ipt_row_in_memory, source + i * stride);
    }
}

void ipt_store_block(ipt_row *v, __global ipt_unit *target, long stride)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; ++i)
        IPT_STORE_AT_ANY(ipt_row_in_memory, target + i * stride, v[i]);
}

/* Transposes rows x cols units from `source` to `target`; the strides are the distances of rows in units. */
void ipt_transpose_in_registers(__global ipt_unit *source, long source_stride, __global ipt_unit *target,
                                long target_stride, uint rows, uint cols)
{
    /* The last block of a row or column begins earlier where it would not be whole: source and target do not
     * overlap. */
    const bool blocks = rows >= IPT_BLOCK && cols >= IPT_BLOCK;
    for (uint next_col = 0; blocks && next_col < cols; next_col += IPT_BLOCK)
        for (uint next_row = 0; next_row < rows; next_row += IPT_BLOCK) {
            const uint row = min(next_row, rows - IPT_BLOCK), col = min(next_col, cols - IPT_BLOCK);
            ipt_row v[IPT_BLOCK];
            ipt_load_block(v, source + row * source_stride + col, source_stride);
            ipt_transpose_block(v);
            ipt_store_block(v, target + col * target_stride + row, target_stride);
        }
    for (uint col = 0; !blocks && col < cols; ++col)
        for (uint row = 0; row < rows; ++row)
            target[col * target_stride + row] = source[row * source_stride + col];
}
#else
#define IPT_IN_REGISTERS 0
#endif

/* Elements of three units of 1 or 2 bytes. A vector has IPT_THREES_EACH elements, and room for a fourth unit of each.
 * Vectors are built from single units: oclgrind 21.10 aborts at some that are built from parts of vectors. */
#if IPT_GROUP_SIZE == 1 && IPT_ELEMENT_UNITS == 0 && IPT_UNIT_BYTES <= 2 && !IPT_APPLY
#define IPT_THREES 1
#if IPT_UNIT_BYTES == 1
#define IPT_THREES_EACH 4
typedef uchar16 ipt_threes;
typedef uint4 ipt_fours; /* one element in each component */
#define IPT_AS_THREES as_uchar16
#define IPT_AS_FOURS as_uint4
#else
#define IPT_THREES_EACH 2
typedef ushort8 ipt_threes;
typedef ulong2 ipt_fours;
#define IPT_AS_THREES as_ushort8
#define IPT_AS_FOURS as_ulong2
#endif
#define IPT_THREES_SPARE (4 / IPT_UNIT_BYTES) /* units of a vector that are no elements */
IPT_AT_ANY_ADDRESS(ipt_threes, ipt_threes_in_memory)
IPT_AT_ANY_ADDRESS(uint2, ipt_two_words_in_memory)
IPT_AT_ANY_ADDRESS(uint, ipt_word_in_memory)

/* Loads IPT_THREES_EACH elements and the spare units that follow; with `last`, the spare units that precede. */
IPT_INLINE ipt_fours ipt_load_threes(__global ipt_unit *from, bool last)
{
    ipt_threes v;
    IPT_PREFETCH((size_t)from + IPT_ROWS_AHEAD);
    v = IPT_LOAD_AT_ANY(ipt_threes_in_memory, last ? from - IPT_THREES_SPARE : from);
#if IPT_UNIT_BYTES == 1
    if (last)
        v = (ipt_threes)(v.s4, v.s5, v.s6, v.s7, v.s8, v.s9, v.sa, v.sb, v.sc, v.sd, v.se, v.sf, v.s0, v.s1, v.s2,
                         v.s3);
    return IPT_AS_FOURS(
        (ipt_threes)(v.s0, v.s1, v.s2, v.s3, v.s3, v.s4, v.s5, v.s6, v.s6, v.s7, v.s8, v.s9, v.s9, v.sa, v.sb, v.sc));
#else
    if (last)
        v = (ipt_threes)(v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, v.s0, v.s1);
    return IPT_AS_FOURS((ipt_threes)(v.s0, v.s1, v.s2, v.s3, v.s3, v.s4, v.s5, v.s6));
#endif
}

/* Stores IPT_THREES_EACH elements and, without `last`, overwrites the spare units that follow. */
IPT_INLINE void ipt_store_threes(__global ipt_unit *to, ipt_fours elements, bool last)
{
    const ipt_threes v = IPT_AS_THREES(elements);
#if IPT_UNIT_BYTES == 1
    const ipt_threes packed =
        (ipt_threes)(v.s0, v.s1, v.s2, v.s4, v.s5, v.s6, v.s8, v.s9, v.sa, v.sc, v.sd, v.se, v.sc, v.sd, v.se, v.sf);
#else
    const ipt_threes packed = (ipt_threes)(v.s0, v.s1, v.s2, v.s4, v.s5, v.s6, v.s6, v.s7);
#endif
    if (!last) {
        IPT_STORE_AT_ANY(ipt_threes_in_memory, to, packed);
        return;
    }
    const uint4 words = as_uint4(packed);
    IPT_STORE_AT_ANY(ipt_two_words_in_memory, to, (uint2)(words.s0, words.s1));
    IPT_STORE_AT_ANY(ipt_word_in_memory, to + 8 / IPT_UNIT_BYTES, words.s2);
}

IPT_INLINE void ipt_transpose_fours(ipt_fours *v)
{
#if IPT_UNIT_BYTES == 1
    const ipt_fours a = (ipt_fours)(v[0].s0, v[2].s0, v[0].s1, v[2].s1),
                    b = (ipt_fours)(v[0].s2, v[2].s2, v[0].s3, v[2].s3);
    const ipt_fours c = (ipt_fours)(v[1].s0, v[3].s0, v[1].s1, v[3].s1),
                    d = (ipt_fours)(v[1].s2, v[3].s2, v[1].s3, v[3].s3);
    v[0] = (ipt_fours)(a.s0, c.s0, a.s1, c.s1);
    v[1] = (ipt_fours)(a.s2, c.s2, a.s3, c.s3);
    v[2] = (ipt_fours)(b.s0, d.s0, b.s1, d.s1);
    v[3] = (ipt_fours)(b.s2, d.s2, b.s3, d.s3);
#else
    const ipt_fours a = v[0];
    v[0].s1 = v[1].s0;
    v[1].s0 = a.s1;
#endif
}

/* Transposes the block at `source`. */
IPT_INLINE void ipt_transpose_block_of_threes(__global ipt_unit *source, long source_stride, __global ipt_unit *target,
                                              long target_stride, bool last_row, bool last_col)
{
    ipt_fours v[IPT_THREES_EACH];
#pragma unroll
    for (uint i = 0; i < IPT_THREES_EACH; ++i)
        v[i] = ipt_load_threes(source + i * source_stride, last_col);
    ipt_transpose_fours(v);
#pragma unroll
    for (uint i = 0; i < IPT_THREES_EACH; ++i)
        ipt_store_threes(target + i * target_stride, v[i], last_row);
}

/* Transposes IPT_THREES_EACH columns. The last block begins earlier where it would not be whole. */
IPT_INLINE void ipt_transpose_columns_of_threes(__global ipt_unit *source, long source_stride,
                                                __global ipt_unit *target, long target_stride, uint rows, bool last_col)
{
    uint row = 0;
    for (; 3 * (rows - row) >= 3 * IPT_THREES_EACH + IPT_THREES_SPARE; row += IPT_THREES_EACH)
        ipt_transpose_block_of_threes(source + row * source_stride, source_stride, target + 3 * row, target_stride,
                                      false, last_col);
    for (; row < rows; row += IPT_THREES_EACH) {
        const uint first = min(row, rows - IPT_THREES_EACH);
        ipt_transpose_block_of_threes(source + first * source_stride, source_stride, target + 3 * first, target_stride,
                                      true, last_col);
    }
}

/* Transposes rows x cols elements; the strides are the distances of rows in units. */
void ipt_transpose_threes(__global ipt_unit *source, long source_stride, __global ipt_unit *target, long target_stride,
                          uint rows, uint cols)
{
    const bool blocks = rows >= IPT_THREES_EACH && 3 * cols >= 3 * IPT_THREES_EACH + IPT_THREES_SPARE;
    uint col = 0;
    for (; blocks && 3 * (cols - col) >= 3 * IPT_THREES_EACH + IPT_THREES_SPARE; col += IPT_THREES_EACH)
        ipt_transpose_columns_of_threes(source + 3 * col, source_stride, target + col * target_stride, target_stride,
                                        rows, false);
    for (; blocks && col < cols; col += IPT_THREES_EACH) {
        const uint first = min(col, cols - IPT_THREES_EACH);
        ipt_transpose_columns_of_threes(source + 3 * first, source_stride, target + first * target_stride,
                                        target_stride, rows, true);
    }
    if (blocks)
        return;
    for (; col < cols; ++col)
        for (uint k = 0; k < 3 * rows; ++k)
            target[col * target_stride + k] = source[k / 3 * source_stride + 3 * col + k % 3];
}
#else
#define IPT_THREES 0
#endif
