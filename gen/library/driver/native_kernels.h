/* The native driver's kernels: the texts of gen/kernels, compiled as C with the program that includes ipt.h. */
#ifdef IPT_NATIVE

/* The name by which this file, or the file that has both headers, includes ipt_kernels.h again. */
#ifndef IPT_KERNELS_FILE
#define IPT_KERNELS_FILE "ipt_kernels.h"
#endif

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
        call.launch = launch;                                                                                          \
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
#if (defined(__x86_64__) || defined(__i386__)) && !defined(__AVX2__) && !defined(IPT_NATIVE_PLAIN)
#define IPT__NATIVE_LEVELS 2
#else
#define IPT__NATIVE_LEVELS 1
#endif

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wcast-align"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
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
#if defined(__cplusplus)
#pragma GCC diagnostic ignored "-Wnarrowing"
#else
#pragma GCC diagnostic error "-Wimplicit-function-declaration" /* of an expression */
#endif
#endif

#if defined(__i386__) && !defined(__SSE2__) && !defined(IPT_NATIVE_PLAIN)
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
#pragma GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic", "no-tree-loop-distribute-patterns")
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

#ifdef IPT_NATIVE_EXPRESSIONS
#include IPT_NATIVE_EXPRESSIONS
#undef IPT_NATIVE_EXPRESSION
#endif

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* A kernel of one kind: a function for each level and unit. */
typedef struct ipt__native_program {
    ipt__kernel_id id;
    cl_uint kind; /* channels of kernel thin, else 0 */
    int applies;  /* expressions */
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
#define IPT__NATIVE_ROW(kernel, kind, vectors, applies)                                                                \
    {IPT__KERNEL_##kernel, kind, applies, IPT__NATIVE_LEVELS_##vectors(IPT__NATIVE_##kernel, kind)},
static const ipt__native_program ipt__native_programs[] = {IPT_NATIVE_PROGRAM_LIST(IPT__NATIVE_ROW)};

/* The native program for a kernel and params; NULL: there is none. Programs learn other parameters at run time, or know
 * the values that plans choose for this device. */
static const ipt__native_program *ipt__native_find(ipt__kernel_id id, const ipt__params *params)
{
    const ipt__native_program *its = ipt__native_programs;
    const ipt__native_program *const end = its + sizeof ipt__native_programs / sizeof *its;
    const int is_shuffle = id == IPT__KERNEL_shuffle;
    if (params->operands || params->group_size > 1 || params->lanes > 1 || params->bank_padding ||
        params->flag_spread > 1 || params->reversed || params->index_bits == 32 ||
        params->local_bytes > IPT__NATIVE_LOCAL_BYTES || params->registers > IPT__NATIVE_REGISTERS ||
        (is_shuffle ? params->registers : params->inner))
        return NULL;
    while (its < end && (its->id != id || its->kind != params->channels || its->applies < !!params->apply))
        ++its;
    return its < end ? its : NULL;
}

/* The expressions that were compiled with ipt. argument: the type of `a`, or "none". */
typedef struct ipt__native_expression {
    const char *type, *text, *argument;
    ipt__native_apply *apply;
} ipt__native_expression;
static const ipt__native_expression ipt__native_expressions[] = {
#ifdef IPT_NATIVE_EXPRESSIONS
#define IPT_NATIVE_EXPRESSION(name, type, text, argument, ...) {#type, text, #argument, ipt__native_apply_##name},
#include IPT_NATIVE_EXPRESSIONS
#undef IPT_NATIVE_EXPRESSION
#endif
    {NULL, NULL, NULL, NULL}};

/* The program's function for the expression of params; NULL: there is none. */
static ipt__native_apply *ipt__native_expression_of(const ipt__params *params)
{
    const ipt__native_expression *its = ipt__native_expressions;
    while (its->type && (strcmp(its->type, params->expression_type) || strcmp(its->text, params->expression) ||
                         strcmp(its->argument, params->argument_type ? params->argument_type : "none")))
        ++its;
    return its->apply;
}

#endif
