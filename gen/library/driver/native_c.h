/* OpenCL C as C, for the native driver: types, what programs know, and expressions. */
#ifdef IPT_NATIVE

enum {
    IPT__NATIVE_UNITS = 5,           /* 1, 2, 4, 8 and 16 bytes */
    IPT__NATIVE_LOCAL_BYTES = 32768, /* of a work-group, on a thread's stack */
    IPT__NATIVE_REGISTERS = 32,      /* most units of a piece that kernel views holds */
    IPT__NATIVE_MEMORIES = 8,        /* most buffers of a kernel */
    IPT__NATIVE_OPERANDS = 4,        /* most operands of a ready action */
    IPT__NATIVE_PARTS = 4096         /* most parts of a batch that threads share */
};

/* Only plans of the papers' methods transpose super-elements on their way. */
#ifdef IPT_NO_PAPERS
#define IPT__NATIVE_INNER 0
#else
#define IPT__NATIVE_INNER 1
#endif

/* The plain form has no ready actions: they need complex numbers. */
#if !defined(IPT_NO_BATCH) && !defined(IPT_NATIVE_PLAIN)
#define IPT__NATIVE_ACTIONS
#endif

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
    char *memories[IPT__NATIVE_MEMORIES];
    size_t local_bytes;
    const void *arguments;
    ipt__native_call call;
    ipt__native_apply *apply;              /* the expression; NULL: there is none */
    cl_uint places;                        /* axes along which it names places */
    const void *value;                     /* of its argument */
    const struct ipt__native_batch *batch; /* of kernel elements */
} ipt__native_launch;

/* Runs one work-group. local: `local_bytes` bytes, aligned to 16. */
typedef void ipt__native_run(const ipt__native_launch *launch, cl_uint group, void *local);

/* The numbers of ready actions. The units 2 and 16 stand for complex numbers. */
#ifdef IPT__NATIVE_ACTIONS
__extension__ typedef float _Complex ipt__native_number_2;
typedef float ipt__native_number_4;
typedef double ipt__native_number_8;
__extension__ typedef double _Complex ipt__native_number_16;
#define IPT__NATIVE_JOIN_UNIT(name, unit) name##_##unit
#define IPT__NATIVE_TYPE(unit) IPT__NATIVE_JOIN_UNIT(ipt__native_number, unit)
#endif

/* An element of a ready action: its operands by their numbers in gen/kernels/native.h. */
typedef struct ipt__native_element {
    char *at[IPT__NATIVE_MEMORIES];
    ptrdiff_t first[IPT__NATIVE_MEMORIES], row[IPT__NATIVE_MEMORIES], col[IPT__NATIVE_MEMORIES]; /* components */
    cl_uint rows[IPT__NATIVE_MEMORIES], cols[IPT__NATIVE_MEMORIES];
    const void *argument; /* alpha and beta */
    int scales, reads;    /* it has an argument; the result has a former value */
    int unit;
    float sign_a, sign_b; /* -1: A, B are conjugated */
} ipt__native_element;

typedef void ipt__native_act(const ipt__native_element *element);

/* A ready action with its operands. */
typedef struct ipt__native_batch {
    ipt__native_run *run;     /* NULL: no action */
    ipt__native_act *acts[2]; /* in sequence; NULL: none */
    ipt__native_element element;
    size_t operand_count;
    struct {
        size_t number; /* in ipt__native_element */
        size_t bytes, width;
        int layout;
    } operands[IPT__NATIVE_OPERANDS];
    int is_turned[2]; /* A, B: transposed */
    int is_upper;     /* op(A) is an upper triangle */
} ipt__native_batch;

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
