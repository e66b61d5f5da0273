/* Arithmetic. */

/* A device counts bytes in 64 bits, even on a host with 32 bits. */
static size_t ipt__size_of(cl_ulong bytes)
{
    return bytes < (size_t)-1 ? (size_t)bytes : (size_t)-1;
}

/* A count below 2^63 as a number. A conversion of size_t takes six times as much code. */
static double ipt__real(size_t count)
{
    return (double)(cl_long)count;
}

static size_t ipt__min(size_t a, size_t b)
{
    return a < b ? a : b;
}
static size_t ipt__max(size_t a, size_t b)
{
    return a > b ? a : b;
}
static size_t ipt__ceil_divide(size_t a, size_t b)
{
    return a ? (a - 1) / b + 1 : 0;
}
static size_t ipt__round_up(size_t a, size_t multiple)
{
    return ipt__ceil_divide(a, multiple) * multiple;
}

/* Multiplies *product by factor. Returns 0 and leaves it unchanged if the product overflows. */
static int ipt__multiply(size_t *product, size_t factor)
{
    if (factor != 0 && *product > (size_t)-1 / factor)
        return 0;
    *product *= factor;
    return 1;
}

/* Returns the unit in which elements of so many bytes move: the largest power of two that divides them, 16 at most. */
static size_t ipt__unit_bytes(size_t bytes)
{
    size_t unit = 1;
    while (unit < 16 && bytes % (2 * unit) == 0)
        unit *= 2;
    return unit;
}

/* Multiply-and-shift constants for floor(n / d), exact for n < 2^(bits - 1), with bits 32 or 64. With l = ceil(log2 d),
 * they are ceil(2^(bits - 1 + l) / d) and l - 1. Magic 0 stands for d = 1, and for an unused divisor 0. */
static void ipt__divider(cl_ulong d, unsigned bits, cl_ulong *magic, cl_uint *shift)
{
    cl_ulong remainder = 0, quotient = 0;
    unsigned l = 0, i;
    *magic = 0;
    *shift = 0;
    if (d <= 1)
        return;
    while (l < 63 && ((cl_ulong)1 << l) < d)
        ++l;
    /* Long division of 2^(bits - 1 + l): a one and bits - 1 + l zeros. The quotient is below 2^bits. */
    for (i = 0; i <= bits - 1 + l; ++i) {
        const cl_ulong top = remainder >> 63;
        remainder = (remainder << 1) | (i == 0);
        quotient <<= 1;
        if (top || remainder >= d) {
            remainder -= d;
            quotient |= 1;
        }
    }
    *magic = quotient + (remainder != 0);
    *shift = l - 1;
}

static void ipt__divider32(cl_uint d, cl_uint *magic, cl_uint *shift)
{
    cl_ulong wide;
    ipt__divider(d, 32, &wide, shift);
    *magic = (cl_uint)wide;
}

#ifndef IPT_NO_PAPERS
/* Returns the divisor of n in [2, n / 2] that is nearest to `wanted` by ratio. 0 if n is prime or less than 4. Factors
 * above 2^20 would take seconds to find: 0 if n has no smaller one. */
static size_t ipt__divisor_near(size_t n, size_t wanted)
{
    size_t best = 0, d;
    for (d = 2; d <= n / d && d <= (size_t)1 << 20; ++d)
        if (n % d == 0) {
            const size_t pair[2] = {d, n / d};
            int i;
            for (i = 0; i < 2; ++i)
                if (!best || (double)ipt__max(pair[i], wanted) / (double)ipt__min(pair[i], wanted) <
                                 (double)ipt__max(best, wanted) / (double)ipt__min(best, wanted))
                    best = pair[i];
        }
    return best;
}
#endif
