/* OpenCL C as C, for the kernels of the native driver: GCC's and clang's vectors, one work-item to a work-group, all
 * memory in one address space. ipt_kernels.h has this text before each program, and ends each of its macros after it.
 */

/* What programs learn at run time; see ipt__native_call. */
#define IPT_AS_C 1
#define IPT_CALL_TYPE ipt__native_call
#define IPT_GROUP_SIZE 1
#define IPT_LANES 1
#define IPT_ELEMENT_UNITS 0
#define IPT_TALL (g->call.tall != 0)
#define IPT_TILE (g->call.tile)
#define IPT_APPLY 0
#define IPT_MEMORY_MODEL 3
#define IPT_BANK_PADDING 0
#define IPT_FLAG_SPREAD 1
#if IPT__NATIVE_KERNEL == IPT__NATIVE_waves
#define IPT_AXES 8
#elif IPT__NATIVE_KERNEL == IPT__NATIVE_pairs
#define IPT_INNER 0 /* plans for CPUs transpose super-elements by shuffle */
#elif IPT__NATIVE_KERNEL == IPT__NATIVE_shuffle
#define IPT_INNER IPT__NATIVE_INNER
#define IPT_REGISTERS 0
#elif IPT__NATIVE_KERNEL == IPT__NATIVE_thin
#define IPT_CHANNELS IPT__NATIVE_KIND
#elif IPT__NATIVE_KERNEL == IPT__NATIVE_views
#define IPT_AXES 8
#define IPT_REGISTERS IPT__NATIVE_REGISTERS
#elif IPT__NATIVE_KERNEL == IPT__NATIVE_map
#define IPT_PLACES 0
#endif
#define IPT_APPLY_RUN(run, units, number)                                                                              \
    if (g->call.launch->apply)                                                                                         \
    g->call.launch->apply(g->call.launch, run, units, number)
#define IPT_INDEX_BITS 64
#define IPT_LOCAL_BYTES IPT__NATIVE_LOCAL_BYTES
#define IPT_REVERSED 0
#define get_group_id(axis) (g->call.group)
#define get_num_groups(axis) (g->call.groups)
#define get_local_id(axis) 0u

#define uchar unsigned char
#define ushort unsigned short
#define uint cl_uint
#define ulong ipt__native_ulong
#define long ipt__native_long
#define uint4 ipt__native_uint4
#define uint8 ipt__native_uint8
#define bool int
#define true 1
#define false 0
#define restrict __restrict
#define __kernel static
#define __global
#define __local
#define reqd_work_group_size(x, y, z) unused

#ifdef IPT_NATIVE_PLAIN /* any compiler: units one by one */
#if !defined(__GNUC__) && !defined(__clang__)
#define __attribute__(what)
#endif
#define IPT_UNROLL
#define IPT_FUNCTION static
#define IPT_INLINE static
#define IPT_PREFETCH(address)
#define IPT_COMPONENT(v, i) (v).s[0x##i]
#define IPT_NO_BLOCKS
#define IPT_NO_THREES
#define IPT_AT_ANY_ADDRESS(type, name)                                                                                 \
    typedef struct name {                                                                                              \
        type value;                                                                                                    \
    } name;
#define clz(n) ipt__native_clz(n)
#else
#define uint2 ipt__native_uint2
#define ulong2 ipt__native_ulong2
#define ulong4 ipt__native_ulong4
#define uchar16 ipt__native_uchar16
#define ushort8 ipt__native_ushort8
#define ushort16 ipt__native_ushort16
#if defined(__clang__)
#define IPT_UNROLL _Pragma("unroll")
#else
#define IPT_UNROLL _Pragma("GCC unroll 32")
#endif
#define IPT_FUNCTION static __attribute__((unused))
#if IPT__NATIVE_LEVELS > 1 && !IPT__NATIVE &&                                                                          \
    !defined(__clang__) /* small code; clang then unrolls less than it shall */
#define IPT_INLINE static __attribute__((unused))
#else
#define IPT_INLINE static inline __attribute__((always_inline))
#endif
#define IPT_PREFETCH(address) __builtin_prefetch((const void *)(size_t)(address))
#define IPT_COMPONENT(v, i) (v)[0x##i]
#if IPT__NATIVE || defined(__AVX2__)
#define IPT_ROW_BYTES 32
#else
#define IPT_ROW_BYTES 16
#endif
#if IPT_UNIT_BYTES == 1 && (defined(__x86_64__) || defined(__i386__)) && !IPT__NATIVE && !defined(__SSSE3__)
#define IPT_NO_THREES /* without shuffles of bytes these vectors are slower than single units */
#endif
#if IPT_UNIT_BYTES == 2
#define IPT_ROW_16 ipt__native_ushort8
#elif IPT_UNIT_BYTES == 8
#define IPT_ROW_16 ipt__native_ulong2
#else
#define IPT_ROW_16 ipt__native_uint4
#endif
#define IPT_OF_a0(count) 0
#define IPT_OF_a1(count) 1
#define IPT_OF_a2(count) 2
#define IPT_OF_a3(count) 3
#define IPT_OF_a4(count) 4
#define IPT_OF_a5(count) 5
#define IPT_OF_a6(count) 6
#define IPT_OF_a7(count) 7
#define IPT_OF_a8(count) 8
#define IPT_OF_a9(count) 9
#define IPT_OF_aa(count) 10
#define IPT_OF_ab(count) 11
#define IPT_OF_ac(count) 12
#define IPT_OF_ad(count) 13
#define IPT_OF_ae(count) 14
#define IPT_OF_af(count) 15
#define IPT_OF_b0(count) count + 0
#define IPT_OF_b1(count) count + 1
#define IPT_OF_b2(count) count + 2
#define IPT_OF_b3(count) count + 3
#define IPT_OF_b4(count) count + 4
#define IPT_OF_b5(count) count + 5
#define IPT_OF_b6(count) count + 6
#define IPT_OF_b7(count) count + 7
#define IPT_OF_b8(count) count + 8
#define IPT_OF_b9(count) count + 9
#define IPT_OF_ba(count) count + 10
#define IPT_OF_bb(count) count + 11
#define IPT_OF_bc(count) count + 12
#define IPT_OF_bd(count) count + 13
#define IPT_OF_be(count) count + 14
#define IPT_OF_bf(count) count + 15
#define IPT_MIX_2(type, x, y, c, d) IPT__NATIVE_MIX(type, x, y, IPT_OF_##c(2), IPT_OF_##d(2))
#define IPT_MIX_4(type, x, y, c, d, e, f)                                                                              \
    IPT__NATIVE_MIX(type, x, y, IPT_OF_##c(4), IPT_OF_##d(4), IPT_OF_##e(4), IPT_OF_##f(4))
#define IPT_MIX_8(type, x, y, c, d, e, f, g, h, i, j)                                                                  \
    IPT__NATIVE_MIX(type, x, y, IPT_OF_##c(8), IPT_OF_##d(8), IPT_OF_##e(8), IPT_OF_##f(8), IPT_OF_##g(8),             \
                    IPT_OF_##h(8), IPT_OF_##i(8), IPT_OF_##j(8))
#define IPT_MIX_16(type, x, y, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)                                         \
    IPT__NATIVE_MIX(type, x, y, IPT_OF_##c(16), IPT_OF_##d(16), IPT_OF_##e(16), IPT_OF_##f(16), IPT_OF_##g(16),        \
                    IPT_OF_##h(16), IPT_OF_##i(16), IPT_OF_##j(16), IPT_OF_##k(16), IPT_OF_##l(16), IPT_OF_##m(16),    \
                    IPT_OF_##n(16), IPT_OF_##o(16), IPT_OF_##p(16), IPT_OF_##q(16), IPT_OF_##r(16))
#define as_uint4(v) ((uint4)(v))
#define as_uchar16(v) ((uchar16)(v))
#define as_ushort8(v) ((ushort8)(v))
#define as_ulong2(v) ((ulong2)(v))
#define clz(n) ((uint)__builtin_clz(n))
#endif

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define mul_hi(a, b) (sizeof(a) == 4 ? ((ulong)(a) * (ulong)(b)) >> 32 : ipt__native_mul_hi(a, b))
#define barrier(flags)
#define atomic_uint uint
#define atomic_or(word, bits) IPT__ATOMIC_OR(word, bits)
#define atomic_cmpxchg(word, expected, stored) ipt__atomic_exchange(word, expected, stored)
#define atomic_fetch_add_explicit(word, added, order, scope) IPT__ATOMIC_ADD(word, added, order)
#define atomic_load_explicit(word, order, scope) IPT__ATOMIC_LOAD(word, order)
#define atomic_work_item_fence(flags, order, scope) IPT__ATOMIC_FENCE(order)
#define memory_order_relaxed __ATOMIC_RELAXED
#define memory_order_acquire __ATOMIC_ACQUIRE
#define memory_order_release __ATOMIC_RELEASE
#define memory_order_acq_rel __ATOMIC_ACQ_REL

/* Ready actions: one work-item to an element, in the buffers. ipt__native_element has lengths, distances and options;
 * transposed operands and upper triangles only have other distances. Complex numbers are C's. */
#if IPT__NATIVE_NUMBER
#define IPT_HOLD 3
#define IPT_INTERLEAVED 0
#define IPT_SUB_GROUP 0
#define IPT_SUM_TYPES(X)
#define IPT_NUMBER IPT__NATIVE_TYPE(IPT_UNIT_BYTES)
#define IPT_IS_COMPLEX (IPT__NATIVE_NUMBER == 2)
#define IPT_IS_DOUBLE (IPT_UNIT_BYTES >= 8)
#define IPT_TRANSPOSE_A 0
#define IPT_TRANSPOSE_B 0
#define IPT_UPPER 0
#define IPT_UNIT (g->unit)
#define IPT_CONJUGATE_A (g->sign_a)
#define IPT_CONJUGATE_B (g->sign_b)
#define IPT_FACTOR(i) (((const IPT_NUMBER *)g->argument)[i])
#define IPT_SCALED(name, result, old)                                                                                  \
    (!g->scales ? (result)                                                                                             \
                : ipt_times(IPT_FACTOR(0), result) + (g->reads ? ipt_times(IPT_FACTOR(1), old) : (IPT_NUMBER)0))
#define IPT_OPERAND_LIST(X)                                                                                            \
    X(A, 0, IPT_NUMBER)                                                                                                \
    X(B, 1, IPT_NUMBER)                                                                                                \
    X(C, 2, IPT_NUMBER)                                                                                                \
    X(x, 3, IPT_NUMBER)                                                                                                \
    X(y, 4, IPT_NUMBER)                                                                                                \
    X(r, 5, IPT_NUMBER)                                                                                                \
    X(pivots, 6, int)                                                                                                  \
    X(info, 7, int)
#define IPT_OPERAND(name, number, type)                                                                                \
    type *const ipt_at_##name = (type *)(void *)g->at[number];                                                         \
    const ptrdiff_t ipt_row_##name = g->row[number], ipt_col_##name = g->col[number];                                  \
    const uint name##_ROWS = g->rows[number], name##_COLS = g->cols[number];
#define IPT_AT(name, i, j) ipt_at_##name[(ptrdiff_t)(i)*ipt_row_##name + (ptrdiff_t)(j)*ipt_col_##name]
#define A(i, j) IPT_AT(A, i, j)
#define B(i, j) IPT_AT(B, i, j)
#define C(i, j) IPT_AT(C, i, j)
#define x(i, j) IPT_AT(x, i, j)
#define y(i, j) IPT_AT(y, i, j)
#define r(i, j) IPT_AT(r, i, j)
#define pivots(i, j) IPT_AT(pivots, i, j)
#define info(i, j) IPT_AT(info, i, j)
#define IPT_ACTION(name)                                                                                               \
    IPT__NATIVE_FAST static void IPT__NATIVE_OWN(ipt__native_##name)(const ipt__native_element *g)                     \
    {                                                                                                                  \
        const uint ipt_lane = 0;                                                                                       \
        IPT_OPERAND_LIST(IPT_OPERAND)
#define IPT_BITS(to_type, from_type, v)                                                                                \
    __extension__({                                                                                                    \
        union {                                                                                                        \
            from_type from;                                                                                            \
            to_type to;                                                                                                \
        } bits;                                                                                                        \
        bits.from = (v);                                                                                               \
        bits.to;                                                                                                       \
    })
#define as_int(v) IPT_BITS(int, float, v)
#define as_float(v) IPT_BITS(float, int, v)
#define as_long(v) IPT_BITS(long, double, v)
#define as_double(v) IPT_BITS(double, long, v)
#define fabs(v) __builtin_fabs(v)
#define sqrt(v) ipt_root(v)
#endif
#if IPT__NATIVE_NUMBER == 2
#define ipt_times IPT__NATIVE_OWN(ipt_times)
#define ipt_conjugate IPT__NATIVE_OWN(ipt_conjugate)
#define ipt_inverse IPT__NATIVE_OWN(ipt_inverse)
#define IPT_REAL(p) __real__(p)
#define IPT_IMAGINARY(p) __imag__(p)
#define IPT_CONJUGATED(sign, p) IPT_PAIR(IPT_REAL(p), IPT_IMAGINARY(p) * (sign))
#define IPT_PAIR(p, q) ipt_pair(p, q)
IPT_INLINE IPT_NUMBER ipt_pair(const double real, const double imaginary)
{
    IPT_NUMBER pair;
    __real__ pair = real;
    __imag__ pair = imaginary;
    return pair;
}
#endif
/* The square root, without a call: programs need not link a library for it. Elsewhere by Newton's method, whose steps
 * fall from the second one on. */
#if IPT__NATIVE_NUMBER && defined(__SSE2__)
IPT_INLINE double ipt_root(double value)
{
    __asm__("sqrtsd %1, %0" : "=x"(value) : "x"(value));
    return value;
}
#elif IPT__NATIVE_NUMBER && defined(__aarch64__)
IPT_INLINE double ipt_root(double value)
{
    __asm__("fsqrt %d0, %d1" : "=w"(value) : "w"(value));
    return value;
}
#elif IPT__NATIVE_NUMBER
IPT_INLINE double ipt_root(const double value)
{
    const double guess = as_double((as_long(value) >> 1) + ((long)0x1ff8 << 48));
    double last, root = (guess + value / guess) / 2;
    if (!(value > 0) || value > 1.7976931348623157e308)
        return value < 0 ? (value - value) / (value - value) : value;
    for (last = 2 * root; root < last; root = (last + value / last) / 2)
        last = root;
    return root;
}
#endif
