/* Arithmetic of ready actions, for numbers and, as vectors of two, complex numbers. IPT_NUMBER is the type. */
#if IPT_IS_COMPLEX
IPT_INLINE IPT_NUMBER ipt_times(const IPT_NUMBER p, const IPT_NUMBER q)
{
    return (IPT_NUMBER)(p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x);
}
IPT_INLINE IPT_NUMBER ipt_conjugate(const IPT_NUMBER p)
{
    return (IPT_NUMBER)(p.x, -p.y);
}
IPT_INLINE IPT_NUMBER ipt_inverse(const IPT_NUMBER p)
{
    return ipt_conjugate(p) / (p.x * p.x + p.y * p.y);
}
#define IPT_SIZE_OF(p) (fabs((p).x) + fabs((p).y)) /* what LAPACK compares to find a pivot */
#define IPT_REAL(p) ((p).x)
#define IPT_ONE ((IPT_NUMBER)(1, 0))
#define IPT_FROM_REAL(p) ((IPT_NUMBER)((p), 0))
#else
#define ipt_times(p, q) ((p) * (q))
#define ipt_conjugate(p) (p)
#define ipt_inverse(p) (1 / (p))
#define IPT_SIZE_OF(p) fabs(p)
#define IPT_REAL(p) (p)
#define IPT_ONE ((IPT_NUMBER)1)
#define IPT_FROM_REAL(p) (p)
#endif

/* The operands as the options have them: transposed, conjugated. */
#if IPT_OPTIONS & 1
#define IPT_OF_A(i, j) A(j, i)
#define IPT_A_INNER A_ROWS
#else
#define IPT_OF_A(i, j) A(i, j)
#define IPT_A_INNER A_COLS
#endif
#if IPT_OPTIONS & 2
#define IPT_OF_B(i, j) B(j, i)
#else
#define IPT_OF_B(i, j) B(i, j)
#endif
#if IPT_OPTIONS & 4
#define IPT_A(i, j) ipt_conjugate(IPT_OF_A(i, j))
#else
#define IPT_A(i, j) IPT_OF_A(i, j)
#endif
#if IPT_OPTIONS & 8
#define IPT_B(i, j) ipt_conjugate(IPT_OF_B(i, j))
#else
#define IPT_B(i, j) IPT_OF_B(i, j)
#endif

/* Scales a result by the argument: alpha * result + beta * old. An operand that is only written has no old value. */
#if !defined(IPT_ACTION_ARGUMENT_TYPE)
#define IPT_SCALED(name, result, old) (result)
#elif IPT_IS_COMPLEX
#define IPT_SCALED(name, result, old)                                                                                  \
    (ipt_times(a.xy, result) + (IPT_READS(name) ? ipt_times(a.zw, old) : (IPT_NUMBER)0))
#else
#define IPT_SCALED(name, result, old) (a.x * (result) + (IPT_READS(name) ? a.y * (old) : (IPT_NUMBER)0))
#endif

#define IPT_UNROLL_SHORT _Pragma("unroll")

/* A statement for i = at, which is in [begin, end). Registers have no addresses, so they are compared one after the
 * other: with addresses they would be memory, and NVIDIA's compiler (driver 580) made wrong code of 1 KB and more. */
#if IPT_HOLD == IPT_HOLD_STAGED || IPT_HOLD == IPT_HOLD_REGISTERS
#define IPT_WHERE(i, at, begin, end) IPT_UNROLL for (uint i = (begin); i < (end); ++i) if (i == (at))
#else
#define IPT_WHERE(i, at, begin, end) for (uint i = (at), ipt_turns = 1; ipt_turns; --ipt_turns)
#endif
