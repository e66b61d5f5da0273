/* Blocks in vector registers. */

#define IPT_ROWS_AHEAD 256 /* bytes from what is loaded of a row to what is prefetched */

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
#else
#define IPT_IN_REGISTERS 0
#endif

/* Elements of three units below a word: four of them are three words. */
#if IPT_GROUP_SIZE == 1 && IPT_ELEMENT_UNITS == 0 && IPT_UNIT_BYTES <= 2 && !IPT_APPLY
#define IPT_THREES 1
#if IPT_UNIT_BYTES == 1
typedef uint ipt_word;
#else
typedef ulong ipt_word;
#endif
IPT_AT_ANY_ADDRESS(ipt_word, ipt_word_in_memory)
#define IPT_PART_BITS (8 * IPT_UNIT_BYTES)

/* The next element's first unit, or with `last` a zero, follows in the highest bits. */
IPT_INLINE ipt_word ipt_load_three(__global ipt_unit *from, bool last)
{
    IPT_PREFETCH((size_t)from + IPT_ROWS_AHEAD);
    if (last)
        return (ipt_word)from[0] | (ipt_word)from[1] << IPT_PART_BITS | (ipt_word)from[2] << 2 * IPT_PART_BITS;
    return IPT_LOAD_AT_ANY(ipt_word_in_memory, from);
}

/* Transposes rows x cols elements; the strides are the distances of rows in units. */
void ipt_transpose_threes(__global ipt_unit *source, long source_stride, __global ipt_unit *target, long target_stride,
                          uint rows, uint cols)
{
    const ipt_word low = ~(ipt_word)0 >> IPT_PART_BITS;
    for (uint col = 0; col < cols; ++col) {
        const bool last = col + 1 == cols;
        __global ipt_unit *from = source + 3 * col, *to = target + col * target_stride;
        uint row = 0;
        for (; row + 4 <= rows; row += 4, from += 4 * source_stride, to += 12) {
            const ipt_word a = ipt_load_three(from, last) & low, b = ipt_load_three(from + source_stride, last) & low,
                           c = ipt_load_three(from + 2 * source_stride, last) & low,
                           d = ipt_load_three(from + 3 * source_stride, last);
            IPT_STORE_AT_ANY(ipt_word_in_memory, to, a | b << 3 * IPT_PART_BITS);
            IPT_STORE_AT_ANY(ipt_word_in_memory, to + 4, b >> IPT_PART_BITS | c << 2 * IPT_PART_BITS);
            IPT_STORE_AT_ANY(ipt_word_in_memory, to + 8, c >> 2 * IPT_PART_BITS | d << IPT_PART_BITS);
        }
        for (; row < rows; ++row, from += source_stride, to += 3)
            for (uint part = 0; part < 3; ++part)
                to[part] = from[part];
    }
}
#else
#define IPT_THREES 0
#endif
