/* Arithmetic of ready-made actions on IPT_NUMBER: real numbers, or complex numbers as vectors of two. */
#if IPT_IS_DOUBLE
#define IPT_SCALAR double
#define IPT_FAR 1.0715086071862673e301 /* 2^1000: squares from 1 / IPT_FAR to IPT_FAR need no scale */
#define IPT_EXPONENT(x) (as_long(x) & 0x7ff0000000000000L) /* the exponent's bits, in place */
#define IPT_POWER(bits) as_double(max(bits, 0x0010000000000000L))
#define IPT_QUARTER 0x7fc0000000000000L /* minus x's exponent: that of a scale which makes x 1/4 to 1/2 */
#else
#define IPT_SCALAR float
#define IPT_FAR 1.2676506002282294e30f /* 2^100 */
#define IPT_EXPONENT(x) (as_int(x) & 0x7f800000)
#define IPT_POWER(bits) as_float(max(bits, 0x00800000))
#define IPT_QUARTER 0x7e000000
#endif

#if IPT_IS_COMPLEX
#ifndef IPT_AS_C /* C has complex numbers of its own: see native.h */
#define IPT_PAIR(p, q) (IPT_VECTOR(IPT_NUMBER)(p, q))
#define IPT_REAL(p) ((p).x)
#define IPT_IMAGINARY(p) ((p).y)
#endif
IPT_INLINE IPT_NUMBER ipt_times(const IPT_NUMBER p, const IPT_NUMBER q)
{
    return IPT_PAIR(IPT_REAL(p) * IPT_REAL(q) - IPT_IMAGINARY(p) * IPT_IMAGINARY(q),
                    IPT_REAL(p) * IPT_IMAGINARY(q) + IPT_IMAGINARY(p) * IPT_REAL(q));
}
IPT_INLINE IPT_NUMBER ipt_conjugate(const IPT_NUMBER p)
{
    return IPT_PAIR(IPT_REAL(p), -IPT_IMAGINARY(p));
}
#define IPT_SQUARE(p) (IPT_REAL(p) * IPT_REAL(p) + IPT_IMAGINARY(p) * IPT_IMAGINARY(p))
/* 1 / p, for a p that is not IPT_IS_FAR. */
IPT_INLINE IPT_NUMBER ipt_inverse(const IPT_NUMBER p)
{
    return ipt_conjugate(p) * (1 / IPT_SQUARE(p));
}
/* The size by which LAPACK selects a pivot. Sizes that overflow are equal: they differ by a factor of 2 at most. */
#define IPT_SIZE_OF(p) (fabs(IPT_REAL(p)) + fabs(IPT_IMAGINARY(p)))
#define IPT_LARGEST_EXPONENT(p) max(IPT_EXPONENT(IPT_REAL(p)), IPT_EXPONENT(IPT_IMAGINARY(p)))
#define IPT_ONE IPT_PAIR(1, 0)
#define IPT_FROM_REAL(p) IPT_PAIR((p), 0)
#else
#define ipt_times(p, q) ((p) * (q))
#define ipt_conjugate(p) (p)
#define IPT_SQUARE(p) ((p) * (p))
#define ipt_inverse(p) (1 / (p))
#define IPT_SIZE_OF(p) fabs(p)
#define IPT_LARGEST_EXPONENT(p) IPT_EXPONENT(p)
#define IPT_REAL(p) (p)
#define IPT_ONE ((IPT_NUMBER)1)
#define IPT_FROM_REAL(p) (p)
#endif

/* Division by p over the whole range: q / p = (q * s) * (1 / (p * s)), where the scale s is a power of two (Priest
 * 2004, "Efficient scaling for complex division", doi 10.1145/1039813.1039814). The scale is needed if the square of p
 * is near the ends of the range. p * s is 1/4 to 1/2, for the largest p up to 4 and for a denormal p less. The square
 * and the inverse of p * s neither overflow nor underflow, and q * s overflows only if the quotient does. Where a
 * device flushes denormals, a denormal p * s is 0. Comparisons may not flush, so actions look for zeros after scaling.
 */
#define IPT_IS_FAR(p) !(IPT_SQUARE(p) > 1 / IPT_FAR && IPT_SQUARE(p) < IPT_FAR)
IPT_INLINE IPT_SCALAR ipt_scale(const IPT_NUMBER p)
{
    return IPT_POWER(IPT_QUARTER - IPT_LARGEST_EXPONENT(p));
}
IPT_INLINE IPT_NUMBER ipt_quotient(IPT_NUMBER q, IPT_NUMBER p)
{
    if (IPT_IS_FAR(p)) { /* seldom, and a branch costs less than the scale */
        const IPT_SCALAR scale = ipt_scale(p);
        q *= scale;
        p *= scale;
    }
    return ipt_times(q, ipt_inverse(p));
}

/* The operands, transposed or conjugated by the options. */
#if IPT_TRANSPOSE_A
#define IPT_OF_A(i, j) A(j, i)
#define IPT_A_INNER A_ROWS
#else
#define IPT_OF_A(i, j) A(i, j)
#define IPT_A_INNER A_COLS
#endif
#if IPT_TRANSPOSE_B
#define IPT_OF_B(i, j) B(j, i)
#else
#define IPT_OF_B(i, j) B(i, j)
#endif
#ifndef IPT_CONJUGATED
#define IPT_CONJUGATED(option, p) ((option) ? ipt_conjugate(p) : (p))
#endif
#define IPT_A(i, j) IPT_CONJUGATED(IPT_CONJUGATE_A, IPT_OF_A(i, j))
#define IPT_B(i, j) IPT_CONJUGATED(IPT_CONJUGATE_B, IPT_OF_B(i, j))

/* Scales a result by the argument: alpha * result + beta * old. An operand that is only written has no old value. */
#if defined(IPT_SCALED) /* C learns the argument at run time */
#elif !defined(IPT_ACTION_ARGUMENT_TYPE)
#define IPT_SCALED(name, result, old) (result)
#elif IPT_IS_COMPLEX
#define IPT_SCALED(name, result, old)                                                                                  \
    (ipt_times(a.xy, result) + (IPT_READS(name) ? ipt_times(a.zw, old) : (IPT_NUMBER)0))
#else
#define IPT_SCALED(name, result, old) (a.x * (result) + (IPT_READS(name) ? a.y * (old) : (IPT_NUMBER)0))
#endif

#define IPT_UNROLL_SHORT _Pragma("unroll")

/* Runs a statement for i = at, in [begin, end). For registers, which have no addresses, a loop compares each i with
 * `at`. An index would put them into memory, and NVIDIA's compiler (driver 580) compiles 1 KB and more wrongly. */
#if IPT_HOLD == IPT_HOLD_STAGED || IPT_HOLD == IPT_HOLD_REGISTERS
#define IPT_WHERE(i, at, begin, end) IPT_UNROLL for (uint i = (begin); i < (end); ++i) if (i == (at))
#else
#define IPT_WHERE(i, at, begin, end) for (uint i = (at), ipt_turns = 1; ipt_turns; --ipt_turns)
#endif
