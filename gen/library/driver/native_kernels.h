/* The native driver's kernels: the texts of gen/kernels, compiled as C with the program that includes ipt.h. */
#ifdef IPT_NATIVE

#if !defined(__GNUC__) && !defined(__clang__)
#error "IPT_NATIVE needs GCC or clang: their vectors and atomics"
#endif

/* The name by which this file, or the file that has both headers, includes ipt_kernels.h again. */
#ifndef IPT_KERNELS_FILE
#define IPT_KERNELS_FILE "ipt_kernels.h"
#endif

enum {
    IPT__NATIVE_UNITS = 5,           /* 1, 2, 4, 8 and 16 bytes */
    IPT__NATIVE_LOCAL_BYTES = 32768, /* of a work-group, on a thread's stack */
    IPT__NATIVE_REGISTERS = 32,      /* most units of a piece that kernel views holds */
    IPT__NATIVE_MEMORIES = 8,        /* most buffers of a kernel */
    IPT__NATIVE_OPERANDS = 4,        /* most operands of a ready action */
    IPT__NATIVE_PARTS = 4096         /* most parts of a batch that threads share */
};

typedef unsigned long long ipt__native_ulong IPT__ALIGNED(unsigned long long); /* as in arguments */
typedef long long ipt__native_long;
#define IPT__NATIVE_VECTOR(type, count) __attribute__((vector_size(sizeof(type) * (count))))
typedef cl_uint ipt__native_uint2 IPT__NATIVE_VECTOR(cl_uint, 2);
typedef cl_uint ipt__native_uint4 IPT__NATIVE_VECTOR(cl_uint, 4);
typedef cl_uint ipt__native_uint8 IPT__NATIVE_VECTOR(cl_uint, 8);
typedef ipt__native_ulong ipt__native_ulong2 IPT__NATIVE_VECTOR(ipt__native_ulong, 2);
typedef ipt__native_ulong ipt__native_ulong4 IPT__NATIVE_VECTOR(ipt__native_ulong, 4);
typedef unsigned char ipt__native_uchar16 IPT__NATIVE_VECTOR(unsigned char, 16);
typedef unsigned short ipt__native_ushort8 IPT__NATIVE_VECTOR(unsigned short, 8);
typedef unsigned short ipt__native_ushort16 IPT__NATIVE_VECTOR(unsigned short, 16);

/* What a program learns at run time, where OpenCL compiles for each value. */
typedef struct ipt__native_call {
    cl_uint group, groups; /* number of this work-group, and of all */
    cl_uint tile, tall, axes;
} ipt__native_call;

/* A launch: a kernel with its arguments. */
typedef struct ipt__native_launch {
    char *memories[IPT__NATIVE_MEMORIES];
    size_t local_bytes;
    const void *arguments;
    ipt__native_call call;
    const struct ipt__native_batch *batch; /* of kernel elements */
} ipt__native_launch;

/* Runs one work-group. local: `local_bytes` bytes, aligned to 16. */
typedef void ipt__native_run(const ipt__native_launch *launch, cl_uint group, void *local);

#ifndef IPT_NO_BATCH
/* The numbers of ready actions. The units 2 and 16 stand for complex numbers. */
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
#if defined(__clang__) || __GNUC__ >= 12
#define IPT__NATIVE_MIX(type, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define IPT__NATIVE_MIX(type, x, y, ...) __builtin_shuffle(x, y, (type){__VA_ARGS__})
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

/* OpenCL's atomic_cmpxchg: returns the word's old value. */
static inline cl_uint ipt__native_exchange(volatile cl_uint *word, cl_uint expected, cl_uint stored)
{
    __atomic_compare_exchange_n(word, &expected, stored, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

/* A name of a program's own, and functions that call kernels with one or two memories, without or with local memory. */
#define IPT__NATIVE_JOIN_NAME(name, kernel, unit, kind, level) name##_##kernel##_##unit##_##kind##_##level
#define IPT__NATIVE_NAME(name, kernel, unit, kind, level) IPT__NATIVE_JOIN_NAME(name, kernel, unit, kind, level)
#define IPT__NATIVE_OWN(name) IPT__NATIVE_NAME(name, IPT__NATIVE_KERNEL, IPT_UNIT_BYTES, IPT__NATIVE_KIND, IPT__NATIVE)
#define IPT__NATIVE_RUN(kernel, memories)                                                                              \
    typedef char IPT__NATIVE_OWN(                                                                                      \
        ipt__native_same)[sizeof(ipt_arguments) == sizeof(ipt__##kernel##_arguments) ? 1 : -1];                        \
    static void IPT__NATIVE_OWN(ipt__native_run)(const ipt__native_launch *launch, cl_uint group, void *local)         \
    {                                                                                                                  \
        ipt_arguments arguments;                                                                                       \
        ipt__native_call call = launch->call;                                                                          \
        call.group = group;                                                                                            \
        (void)local;                                                                                                   \
        memcpy(&arguments, launch->arguments, sizeof arguments);                                                       \
        ipt_k_##kernel(memories, arguments, call);                                                                     \
    }
#define IPT__NATIVE_FIRST(unit) (unit *)(void *)launch->memories[0]
#define IPT__NATIVE_COMMA ,
#define IPT__NATIVE_RUN_1_0(kernel, unit, second) IPT__NATIVE_RUN(kernel, IPT__NATIVE_FIRST(unit))
#define IPT__NATIVE_RUN_1_1(kernel, unit, second)                                                                      \
    IPT__NATIVE_RUN(kernel, IPT__NATIVE_FIRST(unit) IPT__NATIVE_COMMA(unit *) local)
#define IPT__NATIVE_RUN_2_0(kernel, unit, second)                                                                      \
    IPT__NATIVE_RUN(kernel, IPT__NATIVE_FIRST(unit) IPT__NATIVE_COMMA(second *)(void *) launch->memories[1])
#define IPT__NATIVE_RUN_2_1(kernel, unit, second)                                                                      \
    IPT__NATIVE_RUN(kernel, IPT__NATIVE_FIRST(unit) IPT__NATIVE_COMMA(second *)(void *)                                \
                                launch->memories[1] IPT__NATIVE_COMMA(unit *) local)

/* Levels of instruction sets: 0 is what the compiler assumes, 1 is AVX2, for processors that have it. */
#if (defined(__x86_64__) || defined(__i386__)) && !defined(__AVX2__)
#define IPT__NATIVE_LEVELS 2
#else
#define IPT__NATIVE_LEVELS 1
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wcast-align"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-local-typedefs"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-variable"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#if defined(__i386__) && !defined(__SSE2__)
#define IPT__NATIVE_NEEDS_SSE2
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("sse2")
#endif
#endif

/* Few processors need level 0 where there is another: its code is small rather than fast. Ready actions have no other
 * level, and GCC's small code of complex numbers takes three times as long. */
#if IPT__NATIVE_LEVELS > 1 && !defined(__clang__)
#define IPT__NATIVE_FAST __attribute__((optimize("O2")))
#else
#define IPT__NATIVE_FAST
#endif
#if IPT__NATIVE_LEVELS > 1 && defined(__clang__)
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#elif IPT__NATIVE_LEVELS > 1
#pragma GCC push_options
#pragma GCC optimize("Os")
#endif
#define IPT__NATIVE 0
#define IPT_UNIT_BYTES 1
#include IPT_KERNELS_FILE
#undef IPT_UNIT_BYTES
#define IPT_UNIT_BYTES 2
#include IPT_KERNELS_FILE
#undef IPT_UNIT_BYTES
#define IPT_UNIT_BYTES 4
#include IPT_KERNELS_FILE
#undef IPT_UNIT_BYTES
#define IPT_UNIT_BYTES 8
#include IPT_KERNELS_FILE
#undef IPT_UNIT_BYTES
#define IPT_UNIT_BYTES 16
#include IPT_KERNELS_FILE
#undef IPT_UNIT_BYTES
#undef IPT__NATIVE
#if IPT__NATIVE_LEVELS > 1 && defined(__clang__)
#pragma clang attribute pop
#elif IPT__NATIVE_LEVELS > 1
#pragma GCC pop_options
#endif

#if defined(IPT__NATIVE_NEEDS_SSE2) && defined(__clang__)
#pragma clang attribute pop
#elif defined(IPT__NATIVE_NEEDS_SSE2)
#pragma GCC pop_options
#endif

#if IPT__NATIVE_LEVELS > 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#pragma GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic")
#endif
#define IPT__NATIVE 1
#define IPT_UNIT_BYTES 1
#include IPT_KERNELS_FILE
#undef IPT_UNIT_BYTES
#define IPT_UNIT_BYTES 2
#include IPT_KERNELS_FILE
#undef IPT_UNIT_BYTES
#define IPT_UNIT_BYTES 4
#include IPT_KERNELS_FILE
#undef IPT_UNIT_BYTES
#define IPT_UNIT_BYTES 8
#include IPT_KERNELS_FILE
#undef IPT_UNIT_BYTES
#define IPT_UNIT_BYTES 16
#include IPT_KERNELS_FILE
#undef IPT_UNIT_BYTES
#undef IPT__NATIVE
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#pragma GCC diagnostic pop

/* A kernel of one kind: a function for each level and unit. */
typedef struct ipt__native_program {
    ipt__kernel_id id;
    cl_uint kind;
    ipt__native_run *runs[IPT__NATIVE_LEVELS][IPT__NATIVE_UNITS];
} ipt__native_program;

#define IPT__NATIVE_UNITS_OF(kernel, kind, level)                                                                      \
    {                                                                                                                  \
        IPT__NATIVE_NAME(ipt__native_run, kernel, 1, kind, level),                                                     \
            IPT__NATIVE_NAME(ipt__native_run, kernel, 2, kind, level),                                                 \
            IPT__NATIVE_NAME(ipt__native_run, kernel, 4, kind, level),                                                 \
            IPT__NATIVE_NAME(ipt__native_run, kernel, 8, kind, level),                                                 \
            IPT__NATIVE_NAME(ipt__native_run, kernel, 16, kind, level)                                                 \
    }
#if IPT__NATIVE_LEVELS > 1
#define IPT__NATIVE_LEVELS_0(kernel, kind)                                                                             \
    {                                                                                                                  \
        IPT__NATIVE_UNITS_OF(kernel, kind, 0), IPT__NATIVE_UNITS_OF(kernel, kind, 0)                                   \
    }
#define IPT__NATIVE_LEVELS_1(kernel, kind)                                                                             \
    {                                                                                                                  \
        IPT__NATIVE_UNITS_OF(kernel, kind, 0), IPT__NATIVE_UNITS_OF(kernel, kind, 1)                                   \
    }
#else
#define IPT__NATIVE_LEVELS_0(kernel, kind)                                                                             \
    {                                                                                                                  \
        IPT__NATIVE_UNITS_OF(kernel, kind, 0)                                                                          \
    }
#define IPT__NATIVE_LEVELS_1 IPT__NATIVE_LEVELS_0
#endif
#define IPT__NATIVE_ROW(kernel, kind, vectors)                                                                         \
    {IPT__KERNEL_##kernel, kind, IPT__NATIVE_LEVELS_##vectors(IPT__NATIVE_##kernel, kind)},
static const ipt__native_program ipt__native_programs[] = {IPT_NATIVE_PROGRAM_LIST(IPT__NATIVE_ROW)};

/* The kind of the native program for a kernel and params. */
static cl_uint ipt__native_kind(ipt__kernel_id id, const ipt__params *params)
{
    switch (id) {
    case IPT__KERNEL_pairs:
    case IPT__KERNEL_shuffle:
        return params->inner;
#ifndef IPT_NO_BOXES
    case IPT__KERNEL_thin:
        return params->channels;
#endif
    default:
        return 0;
    }
}

/* The native program for a kernel and params; NULL: there is none. Programs learn other parameters at run time, or know
 * the values that plans choose for this device. */
static const ipt__native_program *ipt__native_find(ipt__kernel_id id, const ipt__params *params)
{
    const cl_uint kind = ipt__native_kind(id, params);
    size_t i;
    if (params->apply || params->operands || params->group_size > 1 || params->lanes > 1 || params->bank_padding ||
        params->flag_spread > 1 || params->reversed || params->index_bits == 32 ||
        params->local_bytes > IPT__NATIVE_LOCAL_BYTES || params->registers > IPT__NATIVE_REGISTERS ||
        (params->registers && id == IPT__KERNEL_shuffle))
        return NULL;
    for (i = 0; i < sizeof ipt__native_programs / sizeof *ipt__native_programs; ++i)
        if (ipt__native_programs[i].id == id && ipt__native_programs[i].kind == kind)
            return &ipt__native_programs[i];
    return NULL;
}

#endif
