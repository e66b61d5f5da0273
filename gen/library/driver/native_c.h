/* OpenCL C as C, for the native driver: types, what programs know, and expressions. */
#ifdef IPT_NATIVE

/* OpenCL C's numbers, and vectors of them. Numbers are aligned as in arguments. */
#ifdef IPT_NATIVE_PLAIN
#ifdef IPT_NATIVE_EXPRESSIONS
#error "IPT_NATIVE_EXPRESSIONS needs GCC or clang, and no IPT_NATIVE_PLAIN"
#endif
typedef unsigned long long ipt__native_ulong;
typedef long long ipt__native_long;
typedef struct ipt__native_uint4 {
    cl_uint s[4];
} ipt__native_uint4;
typedef struct ipt__native_uint8 {
    unsigned char s[32]; /* at any address */
} ipt__native_uint8;
#else
#define IPT__NATIVE_VECTOR(type, count) __attribute__((vector_size(sizeof(type) * (count))))
#define IPT__NATIVE_TYPES(type, name)                                                                                  \
    typedef type ipt__native_##name IPT__ALIGNED(type);                                                                \
    typedef type ipt__native_##name##2 IPT__NATIVE_VECTOR(type, 2);                                                    \
    typedef type ipt__native_##name##4 IPT__NATIVE_VECTOR(type, 4);                                                    \
    typedef type ipt__native_##name##8 IPT__NATIVE_VECTOR(type, 8);                                                    \
    typedef type ipt__native_##name##16 IPT__NATIVE_VECTOR(type, 16);
IPT__NATIVE_TYPES(signed char, char)
IPT__NATIVE_TYPES(unsigned char, uchar)
IPT__NATIVE_TYPES(short, short)
IPT__NATIVE_TYPES(unsigned short, ushort)
IPT__NATIVE_TYPES(cl_int, int)
IPT__NATIVE_TYPES(cl_uint, uint)
IPT__NATIVE_TYPES(long long, long)
IPT__NATIVE_TYPES(unsigned long long, ulong)
IPT__NATIVE_TYPES(float, float)
IPT__NATIVE_TYPES(double, double)
#endif

/* What a program learns at run time, where OpenCL compiles for each value. */
typedef struct ipt__native_call {
    cl_uint group, groups; /* number of this work-group, and of all */
    cl_uint tile, tall, axes;
    const struct ipt__native_launch *launch;
} ipt__native_call;

/* Applies an expression to `count` elements, of which the first one has a number: see gen/kernels/parts/places.cl. */
typedef void ipt__native_apply(const struct ipt__native_launch *launch, void *elements, cl_uint count, cl_ulong number);

/* A launch: a kernel with its arguments. */
typedef struct ipt__native_launch {
    char *memories[2];
    size_t local_bytes;
    const void *arguments;
    ipt__native_call call;
    ipt__native_apply *apply; /* the expression; NULL: there is none */
    cl_uint places;           /* axes along which it names places */
    const void *value;        /* of its argument */
} ipt__native_launch;

/* Runs one work-group. local: `local_bytes` bytes, aligned to 16. */
typedef void ipt__native_run(const ipt__native_launch *launch, cl_uint group, void *local);

/* A vector of components of x and y, by their indices in both. */
#if defined(IPT_NATIVE_PLAIN)
/* none is needed */
#elif defined(__clang__) || __GNUC__ >= 12
#define IPT__NATIVE_MIX(type, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define IPT__NATIVE_MIX(type, x, y, ...) __builtin_shuffle(x, y, (type){__VA_ARGS__})
#endif

#ifdef IPT_NATIVE_PLAIN
/* The number of zeros before the first one bit of n, which is not 0. */
static cl_uint ipt__native_clz(cl_uint n)
{
    cl_uint zeros = 0;
    for (; !(n >> 31); n <<= 1)
        ++zeros;
    return zeros;
}
#endif

/* floor(a * b / 2^64) */
static inline ipt__native_ulong ipt__native_mul_hi(ipt__native_ulong a, ipt__native_ulong b)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    return (ipt__native_ulong)((wide)a * b >> 64);
#else
    const ipt__native_ulong low = a & 0xffffffffu, high = a >> 32, other_low = b & 0xffffffffu, other_high = b >> 32;
    const ipt__native_ulong first = low * other_low, second = high * other_low + (first >> 32);
    const ipt__native_ulong third = low * other_high + (second & 0xffffffffu);
    return high * other_high + (second >> 32) + (third >> 32);
#endif
}

/* The place along an axis of the result of the element with a number. *number becomes that of its line. */
static inline ipt__native_long ipt__native_index(const ipt__native_launch *launch, cl_uint axis, cl_ulong *number)
{
    const cl_ulong *const divisor = &((const ipt__map_arguments *)launch->arguments)->result0 + 3 * axis;
    const cl_ulong before = *number;
    if (axis >= launch->places)
        return 0;
    if (divisor[1]) /* as ipt_divide64 */
        *number = ipt__native_mul_hi(before, divisor[1]) >> *(const cl_uint *)(const void *)&divisor[2];
    return (ipt__native_long)(before - *number * divisor[0]);
}

typedef struct ipt__native_none { /* the type of `a` without an argument */
    char none;
} ipt__native_none;

#define IPT__NATIVE_PLACE(axis) const ipt__native_long ipt__cl_i##axis = ipt__native_index(launch, axis, &ipt__number)
#define IPT_NATIVE_EXPRESSION(name, type, text, argument, ...)                                                         \
    static void ipt__native_apply_##name(const ipt__native_launch *launch, void *elements, cl_uint count,              \
                                         cl_ulong first)                                                               \
    {                                                                                                                  \
        char *ipt__at = (char *)elements, *const ipt__end = ipt__at + count * sizeof(ipt__native_##type);              \
        ipt__native_##argument ipt__cl_a;                                                                              \
        memcpy(&ipt__cl_a, launch->value, sizeof ipt__cl_a);                                                           \
        for (; ipt__at < ipt__end; ipt__at += sizeof(ipt__native_##type)) {                                            \
            ipt__native_##type ipt__cl_x, ipt__result;                                                                 \
            cl_ulong ipt__number = first++;                                                                            \
            IPT__NATIVE_PLACE(7);                                                                                      \
            IPT__NATIVE_PLACE(6);                                                                                      \
            IPT__NATIVE_PLACE(5);                                                                                      \
            IPT__NATIVE_PLACE(4);                                                                                      \
            IPT__NATIVE_PLACE(3);                                                                                      \
            IPT__NATIVE_PLACE(2);                                                                                      \
            IPT__NATIVE_PLACE(1);                                                                                      \
            IPT__NATIVE_PLACE(0);                                                                                      \
            const ipt__native_long ipt__cl_i = ipt__cl_i0, ipt__cl_j = ipt__cl_i1;                                     \
            const ipt__native_long ipt__cl_b = (ipt__native_long)ipt__number;                                          \
            memcpy(&ipt__cl_x, ipt__at, sizeof ipt__cl_x);                                                             \
            ipt__result = (__VA_ARGS__);                                                                               \
            memcpy(ipt__at, &ipt__result, sizeof ipt__result);                                                         \
        }                                                                                                              \
    }

#endif
