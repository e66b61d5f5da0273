/* Division by multiplication with constants that the host computes. A divisor is three consecutive parameters or
 * fields; IPT_DIVISOR(name) lists all three. */
#define IPT_DIVISOR(name) name, name##_magic, name##_shift

/* floor(n / d) by multiplication: magic = ceil(2^(31 + l) / d), shift = l - 1, l = ceil(log2 d). Exact for n < 2^31. A
 * magic of 0 stands for d = 1. */
IPT_FUNCTION uint ipt_divide32(uint n, uint divisor, uint magic, uint shift)
{
    (void)divisor;
    return magic != 0 ? mul_hi(n, magic) >> shift : n;
}

/* floor(n / d) on 64 bits: magic = ceil(2^(63 + l) / d), exact for n < 2^63. */
IPT_FUNCTION ulong ipt_divide64(ulong n, ulong divisor, ulong magic, uint shift)
{
    (void)divisor;
    return magic != 0 ? mul_hi(n, magic) >> shift : n;
}

/* A slot number has 32 bits if there are fewer than 2^31 slots, else 64. */
#if defined(IPT_INDEX_BITS) && IPT_INDEX_BITS == 32
typedef uint ipt_index;
IPT_FUNCTION ipt_index ipt_divide_index(ipt_index n, ulong divisor, ulong magic, uint shift)
{
    return ipt_divide32(n, (uint)divisor, (uint)magic, shift);
}
#else
typedef ulong ipt_index;
IPT_FUNCTION ipt_index ipt_divide_index(ipt_index n, ulong divisor, ulong magic, uint shift)
{
    return ipt_divide64(n, divisor, magic, shift);
}
#endif

/* Splits unit k of a run of elements, of `units` units each, into its element and its part of that element. */
#if IPT_ELEMENT_UNITS == 1
#define IPT_ELEMENT_OF(k, units, element, part) const uint element = (k), part = 0
#else
#define IPT_ELEMENT_OF(k, units, element, part)                                                                        \
    const uint element = ipt_divide32(k, IPT_DIVISOR(units)), part = (k)-element * units
#endif
