/* For all kernels: the arguments, the unit, and the plan's expression. */
#if !defined(IPT_UNIT_BYTES) || !defined(IPT_GROUP_SIZE) || !defined(IPT_ARGUMENT_LIST)
#error "IPT_UNIT_BYTES, IPT_GROUP_SIZE and IPT_ARGUMENT_LIST must be defined"
#endif

/* The arguments that follow a kernel's memory are one struct: an argument costs NVIDIA's driver 60 ns of each launch,
 * which was a third of the time of a kernel with fifty. The kernel names its fields. Its functions take them as
 * parameters, and pass them on as values. A divisor is three of them. */
#define IPT_DIVISOR_32 uint
#define IPT_DIVISOR_64 ulong
#define IPT_DIVISOR_index ulong
#define IPT_FIELD(type, name) type name;
#define IPT_DIVISOR_FIELD(bits, name)                                                                                  \
    IPT_DIVISOR_##bits name, name##_magic;                                                                             \
    uint name##_shift;
typedef struct ipt_given {
    IPT_ARGUMENT_LIST(IPT_FIELD, IPT_DIVISOR_FIELD)
} ipt_given;
#define IPT_UNUSED __attribute__((unused)) /* not every program needs every field */
#define IPT_NAME(type, name) const type name IPT_UNUSED = given.name;
#define IPT_DIVISOR_NAME(bits, name)                                                                                   \
    const IPT_DIVISOR_##bits name IPT_UNUSED = given.name, name##_magic IPT_UNUSED = given.name##_magic;               \
    const uint name##_shift IPT_UNUSED = given.name##_shift;
#define IPT_PARAMETER(type, name) , const type name
#define IPT_DIVISOR_PARAMETER(bits, name)                                                                              \
    , const IPT_DIVISOR_##bits name, const IPT_DIVISOR_##bits name##_magic, const uint name##_shift
#define IPT_VALUE(type, name) , name
#define IPT_DIVISOR_VALUE(bits, name) , name, name##_magic, name##_shift
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 4
/* PoCL's compiler for 32-bit x86 misplaces a struct that is aligned to 8 bytes behind an odd number of pointers. */
typedef struct ipt_given_words {
    uint words[sizeof(ipt_given) / 4];
} ipt_given_words;
typedef union ipt_given_both {
    ipt_given_words words;
    ipt_given fields;
} ipt_given_both;
#define IPT_GIVEN_ARGUMENTS , const ipt_given_words given_words IPT_APPLY_PARAMETER
#define IPT_NAME_ARGUMENTS                                                                                             \
    const ipt_given_both given_both = {given_words};                                                                   \
    const ipt_given given = given_both.fields;                                                                         \
    IPT_ARGUMENT_LIST(IPT_NAME, IPT_DIVISOR_NAME)
#else
#define IPT_GIVEN_ARGUMENTS , const ipt_given given IPT_APPLY_PARAMETER
#define IPT_NAME_ARGUMENTS IPT_ARGUMENT_LIST(IPT_NAME, IPT_DIVISOR_NAME)
#endif
#define IPT_ARGUMENTS IPT_ARGUMENT_LIST(IPT_PARAMETER, IPT_DIVISOR_PARAMETER) IPT_APPLY_PARAMETER
#define IPT_PASSED IPT_ARGUMENT_LIST(IPT_VALUE, IPT_DIVISOR_VALUE) IPT_APPLY_PASSED

/* The expression's argument, the kernel's last one. Functions without IPT_ARGUMENTS that apply the expression take it
 * alone. */
#if defined(IPT_APPLY) && IPT_APPLY == 2
#define IPT_APPLY_PARAMETER , const IPT_EXPRESSION_ARGUMENT_TYPE expression_argument
#define IPT_APPLY_PASSED , expression_argument
#else
#define IPT_APPLY_PARAMETER
#define IPT_APPLY_PASSED
#endif

/* For a kernel's steps, which are too long for some compilers to inline by themselves. */
#define IPT_INLINE __attribute__((always_inline))

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

/* Applies the plan's expression to x, an element of one unit. A kernel calls it where each element passes exactly
 * once. */
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
#if IPT_APPLY == 2
ipt_unit ipt_apply(ipt_unit unit, const IPT_EXPRESSION_ARGUMENT_TYPE a)
#else
ipt_unit ipt_apply(ipt_unit unit)
#endif
{
    const IPT_EXPRESSION_TYPE x = IPT_AS(IPT_EXPRESSION_TYPE)(unit);
    const IPT_EXPRESSION_TYPE result = IPT_EXPRESSION;
    return IPT_AS_UNIT(result);
}
#define IPT_APPLIED(unit) ipt_apply(unit IPT_APPLY_PASSED)
#else
#define IPT_APPLIED(unit) (unit)
#endif

/* A line is up to 32 consecutive work-items of a work-group. */
#define IPT_LINE_LANES (IPT_GROUP_SIZE < 32 ? IPT_GROUP_SIZE : 32)
#define IPT_LINES (IPT_GROUP_SIZE / IPT_LINE_LANES)
