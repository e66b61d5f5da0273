/* Applies the plan's expression to an element whose place in the result it may name. The result, a matrix or an array,
 * then has IPT_PLACES axes, of lengths result0 to result7. Elements are numbered along them, from one result of the
 * batch to the next. If the kernel has no IPT_INDEX_BITS, there are fewer than 2^31. */
#ifndef IPT_PLACES
#error "IPT_PLACES must be defined"
#endif

#if defined(IPT_INDEX_BITS) && IPT_INDEX_BITS == 64
typedef ulong ipt_number;
#define IPT_DIVIDE_NUMBER ipt_divide64
#else
typedef uint ipt_number;
#define IPT_DIVIDE_NUMBER ipt_divide32
#endif

#if IPT_PLACES
/* ipt_apply with the names of places: b of the matrix or array, i0 to i7 along the axes of the result, i and j. */
IPT_INLINE ipt_unit ipt_apply_at(ipt_unit unit, const ipt_given *g, long b, long i0, long i1, long i2, long i3, long i4,
                                 long i5, long i6, long i7)
{
#if IPT_APPLY == 2
    const IPT_EXPRESSION_ARGUMENT_TYPE a = g->expression_argument;
#endif
    const IPT_EXPRESSION_TYPE x = IPT_AS(IPT_EXPRESSION_TYPE)(unit);
#define i i0
#define j i1
    const IPT_EXPRESSION_TYPE result = IPT_EXPRESSION_AT;
#undef i
#undef j
    return IPT_AS_UNIT(result);
}

/* Splits `rest` into the place along axis k and the number of lines before it. Axes from IPT_PLACES on have no places.
 */
#define IPT_SPLIT(k, rest, lines)                                                                                      \
    const ipt_number lines = IPT_PLACES > k ? IPT_DIVIDE_NUMBER(rest, IPT_DIVISOR(g->result##k)) : rest;               \
    const long i##k = IPT_PLACES > k ? (long)(rest - lines * (ipt_number)g->result##k) : 0

IPT_INLINE ipt_unit ipt_apply_to(ipt_unit unit, ipt_number number, const ipt_given *g)
{
    IPT_SPLIT(7, number, lines7);
    IPT_SPLIT(6, lines7, lines6);
    IPT_SPLIT(5, lines6, lines5);
    IPT_SPLIT(4, lines5, lines4);
    IPT_SPLIT(3, lines4, lines3);
    IPT_SPLIT(2, lines3, lines2);
    IPT_SPLIT(1, lines2, lines1);
    IPT_SPLIT(0, lines1, b);
    return ipt_apply_at(unit, g, (long)b, i0, i1, i2, i3, i4, i5, i6, i7);
}
#else
IPT_INLINE ipt_unit ipt_apply_to(ipt_unit unit, ipt_number number, const ipt_given *g)
{
    (void)number;
    return ipt_apply(unit, g);
}
#endif
