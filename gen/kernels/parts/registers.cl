/* Blocks in vector registers. */

/* A work-group of one work-item, as on CPUs, transposes blocks in vector registers and needs no tile. */
#if IPT_GROUP_SIZE == 1 && IPT_ELEMENT_UNITS == 1 && (IPT_UNIT_BYTES == 4 || IPT_UNIT_BYTES == 8) && !IPT_APPLY
#define IPT_IN_REGISTERS 1
#if IPT_UNIT_BYTES == 4
#define IPT_BLOCK 8
typedef uint8 ipt_row;
#define IPT_LOAD_ROW(from) vload8(0, from)
#define IPT_STORE_ROW(row, to) vstore8(row, 0, to)
#else
#define IPT_BLOCK 4
typedef ulong4 ipt_row;
#define IPT_LOAD_ROW(from) vload4(0, from)
#define IPT_STORE_ROW(row, to) vstore4(row, 0, to)
#endif

/* Exchange the upper right and lower left quarters of 2 x 2 (ones), 4 x 4 (twos) and 8 x 8 (halves) units. */
void ipt_exchange_halves(ipt_row *a, ipt_row *b)
{
    const ipt_row both = (ipt_row)(a->lo, b->lo);
    *b = (ipt_row)(a->hi, b->hi);
    *a = both;
}
#if IPT_BLOCK == 8
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
#else
void ipt_exchange_ones(ipt_row *a, ipt_row *b)
{
    const ipt_row both = (ipt_row)(a->s0, b->s0, a->s2, b->s2);
    *b = (ipt_row)(a->s1, b->s1, a->s3, b->s3);
    *a = both;
}
#endif

void ipt_load_block(ipt_row *v, __global ipt_unit *source, ulong stride)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; ++i)
        v[i] = IPT_LOAD_ROW(source + i * stride);
}

void ipt_store_block(ipt_row *v, __global ipt_unit *target, ulong stride)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; ++i)
        IPT_STORE_ROW(v[i], target + i * stride);
}

void ipt_transpose_block(ipt_row *v)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK / 2; ++i)
        ipt_exchange_halves(&v[i], &v[i + IPT_BLOCK / 2]);
#if IPT_BLOCK == 8
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; i += i % 4 == 1 ? 3 : 1)
        ipt_exchange_twos(&v[i], &v[i + 2]);
#endif
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; i += 2)
        ipt_exchange_ones(&v[i], &v[i + 1]);
}
#else
#define IPT_IN_REGISTERS 0
#endif
