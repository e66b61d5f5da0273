/* Blocks in vector registers. */

#define IPT_ROWS_AHEAD 256 /* bytes from a row's load to its prefetch */

/* A vector of components of two others, x and y. Their names are a and b with hexadecimal digits: a0 is x's first one.
 * The native driver compiles this text as C, which has other names for them, and defines the macros itself. */
#ifndef IPT_AS_C
#define IPT_OF_a0(x, y) (x).s0
#define IPT_OF_a1(x, y) (x).s1
#define IPT_OF_a2(x, y) (x).s2
#define IPT_OF_a3(x, y) (x).s3
#define IPT_OF_a4(x, y) (x).s4
#define IPT_OF_a5(x, y) (x).s5
#define IPT_OF_a6(x, y) (x).s6
#define IPT_OF_a7(x, y) (x).s7
#define IPT_OF_a8(x, y) (x).s8
#define IPT_OF_a9(x, y) (x).s9
#define IPT_OF_aa(x, y) (x).sa
#define IPT_OF_ab(x, y) (x).sb
#define IPT_OF_ac(x, y) (x).sc
#define IPT_OF_ad(x, y) (x).sd
#define IPT_OF_ae(x, y) (x).se
#define IPT_OF_af(x, y) (x).sf
#define IPT_OF_b0(x, y) (y).s0
#define IPT_OF_b1(x, y) (y).s1
#define IPT_OF_b2(x, y) (y).s2
#define IPT_OF_b3(x, y) (y).s3
#define IPT_OF_b4(x, y) (y).s4
#define IPT_OF_b5(x, y) (y).s5
#define IPT_OF_b6(x, y) (y).s6
#define IPT_OF_b7(x, y) (y).s7
#define IPT_OF_b8(x, y) (y).s8
#define IPT_OF_b9(x, y) (y).s9
#define IPT_OF_ba(x, y) (y).sa
#define IPT_OF_bb(x, y) (y).sb
#define IPT_OF_bc(x, y) (y).sc
#define IPT_OF_bd(x, y) (y).sd
#define IPT_OF_be(x, y) (y).se
#define IPT_OF_bf(x, y) (y).sf
#define IPT_MIX_2(type, x, y, c, d) (type)(IPT_OF_##c(x, y), IPT_OF_##d(x, y))
#define IPT_MIX_4(type, x, y, c, d, e, f) (type)(IPT_OF_##c(x, y), IPT_OF_##d(x, y), IPT_OF_##e(x, y), IPT_OF_##f(x, y))
#define IPT_MIX_8(type, x, y, c, d, e, f, g, h, i, j)                                                                  \
    (type)(IPT_OF_##c(x, y), IPT_OF_##d(x, y), IPT_OF_##e(x, y), IPT_OF_##f(x, y), IPT_OF_##g(x, y), IPT_OF_##h(x, y), \
           IPT_OF_##i(x, y), IPT_OF_##j(x, y))
#define IPT_MIX_16(type, x, y, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)                                         \
    (type)(IPT_OF_##c(x, y), IPT_OF_##d(x, y), IPT_OF_##e(x, y), IPT_OF_##f(x, y), IPT_OF_##g(x, y), IPT_OF_##h(x, y), \
           IPT_OF_##i(x, y), IPT_OF_##j(x, y), IPT_OF_##k(x, y), IPT_OF_##l(x, y), IPT_OF_##m(x, y), IPT_OF_##n(x, y), \
           IPT_OF_##o(x, y), IPT_OF_##p(x, y), IPT_OF_##q(x, y), IPT_OF_##r(x, y))
#endif

/* A work-group of one work-item, as on CPUs, transposes blocks in vector registers and needs no tile. A program of the
 * native driver learns at run time whether elements are units. */
#if IPT_GROUP_SIZE == 1 && (IPT_ELEMENT_UNITS == 1 || defined(IPT_AS_C)) && !IPT_APPLY
#ifdef IPT_AS_C
#define IPT_IN_REGISTERS (g->element_units == 1)
#else
#define IPT_IN_REGISTERS 1
#endif
#if defined(IPT_NO_BLOCKS) /* C's compiler has no vectors */
#define IPT_BLOCK 1
typedef ipt_unit ipt_row;
#elif IPT_UNIT_BYTES == 1
#define IPT_BLOCK 16
typedef uchar16 ipt_row;
#elif IPT_ROW_BYTES == 16 /* C's compilers do not split vectors that the processor lacks */
#define IPT_BLOCK (16 / IPT_UNIT_BYTES)
typedef IPT_ROW_16 ipt_row;
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

#if IPT_UNIT_BYTES == 1 && IPT_BLOCK == 16
/* Transposes a block in four steps. A step interleaves the units of rows i and i + 8 into rows 2i and 2i + 1. CPUs have
 * an instruction for this, so bytes take 0.6 times as long as with exchanged quarters. Longer units do not gain. */
IPT_INLINE void ipt_transpose_block(ipt_row *v)
{
#pragma unroll
    for (uint step = 0; step < 4; ++step) {
        ipt_row next[IPT_BLOCK];
#pragma unroll
        for (uint i = 0; i < IPT_BLOCK / 2; ++i) {
            const ipt_row a = v[i], b = v[i + IPT_BLOCK / 2];
            next[2 * i] = IPT_MIX_16(ipt_row, a, b, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7);
            next[2 * i + 1] = IPT_MIX_16(ipt_row, a, b, a8, b8, a9, b9, aa, ba, ab, bb, ac, bc, ad, bd, ae, be, af, bf);
        }
#pragma unroll
        for (uint i = 0; i < IPT_BLOCK; ++i)
            v[i] = next[i];
    }
}
#else
/* Exchange the upper right and lower left quarters of blocks: the whole block (halves), or squares of 8 x 8 (fours),
 * 4 x 4 (twos) and 2 x 2 units (ones). */
#if IPT_BLOCK == 16
IPT_INLINE void ipt_exchange_halves(ipt_row *a, ipt_row *b)
{
    const ipt_row both = IPT_MIX_16(ipt_row, *a, *b, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7);
    *b = IPT_MIX_16(ipt_row, *a, *b, a8, a9, aa, ab, ac, ad, ae, af, b8, b9, ba, bb, bc, bd, be, bf);
    *a = both;
}
IPT_INLINE void ipt_exchange_fours(ipt_row *a, ipt_row *b)
{
    const ipt_row both = IPT_MIX_16(ipt_row, *a, *b, a0, a1, a2, a3, b0, b1, b2, b3, a8, a9, aa, ab, b8, b9, ba, bb);
    *b = IPT_MIX_16(ipt_row, *a, *b, a4, a5, a6, a7, b4, b5, b6, b7, ac, ad, ae, af, bc, bd, be, bf);
    *a = both;
}
IPT_INLINE void ipt_exchange_twos(ipt_row *a, ipt_row *b)
{
    const ipt_row both = IPT_MIX_16(ipt_row, *a, *b, a0, a1, b0, b1, a4, a5, b4, b5, a8, a9, b8, b9, ac, ad, bc, bd);
    *b = IPT_MIX_16(ipt_row, *a, *b, a2, a3, b2, b3, a6, a7, b6, b7, aa, ab, ba, bb, ae, af, be, bf);
    *a = both;
}
IPT_INLINE void ipt_exchange_ones(ipt_row *a, ipt_row *b)
{
    const ipt_row both = IPT_MIX_16(ipt_row, *a, *b, a0, b0, a2, b2, a4, b4, a6, b6, a8, b8, aa, ba, ac, bc, ae, be);
    *b = IPT_MIX_16(ipt_row, *a, *b, a1, b1, a3, b3, a5, b5, a7, b7, a9, b9, ab, bb, ad, bd, af, bf);
    *a = both;
}
#elif IPT_BLOCK == 8
IPT_INLINE void ipt_exchange_halves(ipt_row *a, ipt_row *b)
{
    const ipt_row both = IPT_MIX_8(ipt_row, *a, *b, a0, a1, a2, a3, b0, b1, b2, b3);
    *b = IPT_MIX_8(ipt_row, *a, *b, a4, a5, a6, a7, b4, b5, b6, b7);
    *a = both;
}
IPT_INLINE void ipt_exchange_twos(ipt_row *a, ipt_row *b)
{
    const ipt_row both = IPT_MIX_8(ipt_row, *a, *b, a0, a1, b0, b1, a4, a5, b4, b5);
    *b = IPT_MIX_8(ipt_row, *a, *b, a2, a3, b2, b3, a6, a7, b6, b7);
    *a = both;
}
IPT_INLINE void ipt_exchange_ones(ipt_row *a, ipt_row *b)
{
    const ipt_row both = IPT_MIX_8(ipt_row, *a, *b, a0, b0, a2, b2, a4, b4, a6, b6);
    *b = IPT_MIX_8(ipt_row, *a, *b, a1, b1, a3, b3, a5, b5, a7, b7);
    *a = both;
}
#elif IPT_BLOCK == 4 ||                                                                                                \
    (IPT_BLOCK == 2 && IPT_ROW_BYTES != 16) /* a row of two units of 16 bytes has four components, too */
IPT_INLINE void ipt_exchange_halves(ipt_row *a, ipt_row *b)
{
    const ipt_row both = IPT_MIX_4(ipt_row, *a, *b, a0, a1, b0, b1);
    *b = IPT_MIX_4(ipt_row, *a, *b, a2, a3, b2, b3);
    *a = both;
}
#if IPT_BLOCK == 4
IPT_INLINE void ipt_exchange_ones(ipt_row *a, ipt_row *b)
{
    const ipt_row both = IPT_MIX_4(ipt_row, *a, *b, a0, b0, a2, b2);
    *b = IPT_MIX_4(ipt_row, *a, *b, a1, b1, a3, b3);
    *a = both;
}
#endif
#elif IPT_BLOCK == 2
IPT_INLINE void ipt_exchange_halves(ipt_row *a, ipt_row *b)
{
    const ipt_row both = IPT_MIX_2(ipt_row, *a, *b, a0, b0);
    *b = IPT_MIX_2(ipt_row, *a, *b, a1, b1);
    *a = both;
}
#endif

IPT_INLINE void ipt_transpose_block(ipt_row *v)
{
#if IPT_BLOCK > 1
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK / 2; ++i)
        ipt_exchange_halves(&v[i], &v[i + IPT_BLOCK / 2]);
#endif
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

IPT_INLINE void ipt_load_block(ipt_row *v, __global ipt_unit *source, long stride)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; ++i) {
        IPT_PREFETCH((size_t)(source + i * stride) + IPT_ROWS_AHEAD);
        v[i] = IPT_LOAD_AT_ANY(ipt_row_in_memory, source + i * stride);
    }
}

IPT_INLINE void ipt_store_block(ipt_row *v, __global ipt_unit *target, long stride)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; ++i)
        IPT_STORE_AT_ANY(ipt_row_in_memory, target + i * stride, v[i]);
}

/* Transposes rows x cols units from `source` to `target`; the strides are the distances of rows in units. */
IPT_FUNCTION void ipt_transpose_in_registers(__global ipt_unit *source, long source_stride, __global ipt_unit *target,
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
#if IPT_GROUP_SIZE == 1 && defined(IPT_ELEMENT_UNITS) && IPT_ELEMENT_UNITS == 0 && IPT_UNIT_BYTES <= 2 &&              \
    !IPT_APPLY && !defined(IPT_NO_THREES)
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
IPT_AT_ANY_ADDRESS(uint, ipt_word_in_memory)

/* Loads IPT_THREES_EACH elements and the spare units that follow; with `last`, the spare units that precede. */
IPT_INLINE ipt_fours ipt_load_threes(__global ipt_unit *from, bool last)
{
    ipt_threes v;
    IPT_PREFETCH((size_t)from + IPT_ROWS_AHEAD);
    v = IPT_LOAD_AT_ANY(ipt_threes_in_memory, last ? from - IPT_THREES_SPARE : from);
#if IPT_UNIT_BYTES == 1
    if (last)
        v = IPT_MIX_16(ipt_threes, v, v, a4, a5, a6, a7, a8, a9, aa, ab, ac, ad, ae, af, a0, a1, a2, a3);
    return IPT_AS_FOURS(IPT_MIX_16(ipt_threes, v, v, a0, a1, a2, a3, a3, a4, a5, a6, a6, a7, a8, a9, a9, aa, ab, ac));
#else
    if (last)
        v = IPT_MIX_8(ipt_threes, v, v, a2, a3, a4, a5, a6, a7, a0, a1);
    return IPT_AS_FOURS(IPT_MIX_8(ipt_threes, v, v, a0, a1, a2, a3, a3, a4, a5, a6));
#endif
}

/* Stores IPT_THREES_EACH elements and, without `last`, overwrites the spare units that follow. */
IPT_INLINE void ipt_store_threes(__global ipt_unit *to, ipt_fours elements, bool last)
{
    const ipt_threes v = IPT_AS_THREES(elements);
#if IPT_UNIT_BYTES == 1
    const ipt_threes packed =
        IPT_MIX_16(ipt_threes, v, v, a0, a1, a2, a4, a5, a6, a8, a9, aa, ac, ad, ae, ac, ad, ae, af);
#else
    const ipt_threes packed = IPT_MIX_8(ipt_threes, v, v, a0, a1, a2, a4, a5, a6, a6, a7);
#endif
    if (!last) {
        IPT_STORE_AT_ANY(ipt_threes_in_memory, to, packed);
        return;
    }
    const uint4 words = as_uint4(packed);
    IPT_STORE_AT_ANY(ipt_word_in_memory, to, IPT_COMPONENT(words, 0));
    IPT_STORE_AT_ANY(ipt_word_in_memory, to + 4 / IPT_UNIT_BYTES, IPT_COMPONENT(words, 1));
    IPT_STORE_AT_ANY(ipt_word_in_memory, to + 8 / IPT_UNIT_BYTES, IPT_COMPONENT(words, 2));
}

IPT_INLINE void ipt_transpose_fours(ipt_fours *v)
{
#if IPT_UNIT_BYTES == 1
    const ipt_fours a = IPT_MIX_4(ipt_fours, v[0], v[2], a0, b0, a1, b1),
                    b = IPT_MIX_4(ipt_fours, v[0], v[2], a2, b2, a3, b3);
    const ipt_fours c = IPT_MIX_4(ipt_fours, v[1], v[3], a0, b0, a1, b1),
                    d = IPT_MIX_4(ipt_fours, v[1], v[3], a2, b2, a3, b3);
    v[0] = IPT_MIX_4(ipt_fours, a, c, a0, b0, a1, b1);
    v[1] = IPT_MIX_4(ipt_fours, a, c, a2, b2, a3, b3);
    v[2] = IPT_MIX_4(ipt_fours, b, d, a0, b0, a1, b1);
    v[3] = IPT_MIX_4(ipt_fours, b, d, a2, b2, a3, b3);
#else
    const ipt_fours a = v[0];
    IPT_COMPONENT(v[0], 1) = IPT_COMPONENT(v[1], 0);
    IPT_COMPONENT(v[1], 0) = IPT_COMPONENT(a, 1);
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
IPT_FUNCTION void ipt_transpose_threes(__global ipt_unit *source, long source_stride, __global ipt_unit *target,
                                       long target_stride, uint rows, uint cols)
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
