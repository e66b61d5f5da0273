/* For all kernels: the arguments, the unit, and the plan's expression. */
#if !defined(IPT_UNIT_BYTES) || !defined(IPT_GROUP_SIZE) || !defined(IPT_ARGUMENT_LIST)
#error "IPT_UNIT_BYTES, IPT_GROUP_SIZE and IPT_ARGUMENT_LIST must be defined"
#endif

/* A kernel's scalar arguments form one struct: NVIDIA's driver spends 60 ns of each launch on each
 * argument. A divisor is three fields. The expression's argument follows the struct as an argument of its
 * own. */
#define IPT_DIVISOR_32 uint
#define IPT_DIVISOR_64 ulong
#define IPT_DIVISOR_index ulong
#define IPT_FIELD(type, name) type name;
#define IPT_DIVISOR_FIELD(bits, name)                                                                                  \
    IPT_DIVISOR_##bits name, name##_magic;                                                                             \
    uint name##_shift;
typedef struct ipt_arguments {
    IPT_ARGUMENT_LIST(IPT_FIELD, IPT_DIVISOR_FIELD)
} ipt_arguments;
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 4 && !defined(IPT_AS_C)
/* PoCL's compiler for 32-bit x86 misplaces a struct of 8-byte alignment that follows an odd number of pointers. */
typedef struct ipt_argument_words {
    uint words[sizeof(ipt_arguments) / 4];
} ipt_argument_words;
typedef union ipt_either_arguments {
    ipt_argument_words words;
    ipt_arguments fields;
} ipt_either_arguments;
#define IPT_ARGUMENT_TYPE ipt_argument_words
#define IPT_ARGUMENT(name) ((const ipt_either_arguments){arguments}).fields.name
#else
#define IPT_ARGUMENT_TYPE ipt_arguments
#define IPT_ARGUMENT(name) arguments.name
#endif
#ifdef IPT_AS_C /* C's text learns some parameters and the work-group's number at run time */
#define IPT_ARGUMENTS , const IPT_ARGUMENT_TYPE arguments, const IPT_CALL_TYPE call
#elif defined(IPT_APPLY) && IPT_APPLY == 2
#define IPT_ARGUMENTS , const IPT_ARGUMENT_TYPE arguments, const IPT_EXPRESSION_ARGUMENT_TYPE expression_argument
#else
#define IPT_ARGUMENTS , const IPT_ARGUMENT_TYPE arguments
#endif

/* The arguments in private memory. A kernel initialises `given` with IPT_GIVEN. Functions that take the address of
 * `given` are inlined, so its fields stay in registers. */
typedef struct ipt_given {
    IPT_ARGUMENT_LIST(IPT_FIELD, IPT_DIVISOR_FIELD)
#ifdef IPT_AS_C
    IPT_CALL_TYPE call;
#elif defined(IPT_APPLY) && IPT_APPLY == 2
    IPT_EXPRESSION_ARGUMENT_TYPE expression_argument;
#endif
} ipt_given;
#define IPT_VALUE(type, name) IPT_ARGUMENT(name),
#define IPT_DIVISOR_VALUE(bits, name) IPT_ARGUMENT(name), IPT_ARGUMENT(name##_magic), IPT_ARGUMENT(name##_shift),
#ifdef IPT_AS_C
#define IPT_GIVEN                                                                                                      \
    {                                                                                                                  \
        IPT_ARGUMENT_LIST(IPT_VALUE, IPT_DIVISOR_VALUE) call                                                           \
    }
#elif defined(IPT_APPLY) && IPT_APPLY == 2
#define IPT_GIVEN                                                                                                      \
    {                                                                                                                  \
        IPT_ARGUMENT_LIST(IPT_VALUE, IPT_DIVISOR_VALUE) expression_argument                                            \
    }
#else
#define IPT_GIVEN                                                                                                      \
    {                                                                                                                  \
        IPT_ARGUMENT_LIST(IPT_VALUE, IPT_DIVISOR_VALUE)                                                                \
    }
#endif

/* Words that OpenCL C and CUDA C++ spell differently; CUDA's are in parts/cuda.cl. A kernel that has a large
 * array, or one whose size the launch gives, names it in its body; CUDA takes both from the memory of the launch. */
#if defined(IPT_AS_CUDA) && defined(IPT_GROUPS_AT_ONCE) && IPT_GROUPS_AT_ONCE
#define IPT_CUDA_GROUPS , IPT_GROUPS_AT_ONCE
#elif defined(IPT_AS_CUDA)
#define IPT_CUDA_GROUPS
#endif
#ifndef IPT_LOCAL_ARRAY
#define IPT_LOCAL_ARRAY __local
#define IPT_LOCAL_LARGE(type, name, count) __local type name[count]
#define IPT_LOCAL_PARAMETER(type, name) , __local type *name
#define IPT_NAME_LOCAL(type, name)
#define IPT_LOCAL_ADDRESS(pointer) ((uint)(ulong)(pointer))
#define IPT_VECTOR(type) (type)
#define IPT_VOLATILE volatile
#endif

/* Before a function. IPT_INLINE: it is a kernel's step, too long for some compilers to inline by themselves. */
#ifndef IPT_FUNCTION
#define IPT_FUNCTION
#define IPT_INLINE __attribute__((always_inline))
#endif

#if IPT_UNIT_BYTES == 1
typedef uchar ipt_unit;
#elif IPT_UNIT_BYTES == 2
typedef ushort ipt_unit;
#elif IPT_UNIT_BYTES == 4
typedef uint ipt_unit;
#elif IPT_UNIT_BYTES == 8
typedef ulong ipt_unit;
#elif IPT_UNIT_BYTES == 16
typedef uint4 ipt_unit;
#else
#error "IPT_UNIT_BYTES must be 1, 2, 4, 8 or 16"
#endif

/* A component of a vector, by a hexadecimal digit. */
#ifndef IPT_COMPONENT
#define IPT_COMPONENT(v, i) (v).s##i
#endif

/* Applies the plan's expression to x, an element of one unit. A kernel that applies the expression calls this function
 * once for each element. */
#if defined(IPT_APPLY) && IPT_APPLY
#define IPT_PASTE(a, b) a##b
#define IPT_AS(type) IPT_PASTE(as_, type)
#if IPT_UNIT_BYTES == 1
#define IPT_AS_UNIT as_uchar
#elif IPT_UNIT_BYTES == 2
#define IPT_AS_UNIT as_ushort
#elif IPT_UNIT_BYTES == 4
#define IPT_AS_UNIT as_uint
#elif IPT_UNIT_BYTES == 8
#define IPT_AS_UNIT as_ulong
#else
#define IPT_AS_UNIT as_uint4
#endif
#endif
IPT_INLINE ipt_unit ipt_apply(ipt_unit unit, const ipt_given *g)
{
#if defined(IPT_APPLY) && IPT_APPLY
#if IPT_APPLY == 2
    const IPT_EXPRESSION_ARGUMENT_TYPE a = g->expression_argument;
#endif
    const IPT_EXPRESSION_TYPE x = IPT_AS(IPT_EXPRESSION_TYPE)(unit);
    const IPT_EXPRESSION_TYPE result = IPT_EXPRESSION;
    return IPT_AS_UNIT(result);
#else
    return unit;
#endif
}

/* A line is up to 32 consecutive work-items of a work-group. */
#define IPT_LINE_LANES (IPT_GROUP_SIZE < 32 ? IPT_GROUP_SIZE : 32)
#define IPT_LINES (IPT_GROUP_SIZE / IPT_LINE_LANES)
