/* What an action sees: its lane, its element, a barrier, sums over lanes, and its operands by accessors. */
#if !defined(IPT_OPERAND_LIST) || !defined(IPT_LANES) || !defined(IPT_HOLD) || !defined(IPT_INTERLEAVED) ||            \
    !defined(IPT_SUB_GROUP)
#error "IPT_OPERAND_LIST, IPT_LANES, IPT_HOLD, IPT_INTERLEAVED and IPT_SUB_GROUP must be defined"
#endif

/* Some loops are too long to unroll: no warning. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* Where an action finds its element: a value of IPT_HOLD. */
#define IPT_HOLD_LOCAL 0     /* local memory */
#define IPT_HOLD_STAGED 1    /* registers, loaded and stored by way of local memory */
#define IPT_HOLD_REGISTERS 2 /* registers */
#define IPT_HOLD_MEMORY 3    /* the buffers themselves */

#if IPT_HOLD == IPT_HOLD_LOCAL
#define IPT_SPACE __local
#elif IPT_HOLD == IPT_HOLD_MEMORY
#define IPT_SPACE __global
#else
#define IPT_SPACE __private
#endif

#define IPT_ELEMENTS (IPT_GROUP_SIZE / IPT_LANES) /* elements per work-group */
#if IPT_INTERLEAVED
#define IPT_LANE_STEP IPT_ELEMENTS /* work-items from a lane to the next */
#else
#define IPT_LANE_STEP 1
#endif

/* Orders the lanes' accesses to their element. The lanes of a sub-group need no work-group barrier. */
#if IPT_LANES == 1
#define IPT_BARRIER()                                                                                                  \
    do {                                                                                                               \
    } while (0)
#elif IPT_SUB_GROUP == 1 && !IPT_INTERLEAVED && IPT_LANES <= 32
#define IPT_BARRIER() __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#elif IPT_HOLD == IPT_HOLD_MEMORY
#define IPT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define IPT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

#define IPT_LANE ipt_lane
#define IPT_ELEMENT ipt_element
#if IPT_HOLD == IPT_HOLD_STAGED || IPT_HOLD == IPT_HOLD_REGISTERS /* registers have no addresses */
#define IPT_UNROLL _Pragma("unroll")
#else
#define IPT_UNROLL
#endif

/* The lanes of an element share the statement that follows, for i of [begin, end). All lanes run the same number of
 * iterations: PoCL 3.1 computes wrong results if some lanes leave a loop before others. */
#define IPT_FOR_LANES(i, begin, end)                                                                                   \
    IPT_UNROLL for (uint i = (begin) + IPT_LANE; i - IPT_LANE < (end); i += IPT_LANES) if (i < (end))

/* The sum of a value over the lanes of an element; every lane receives the sum. `type` is the type of an operand. */
#ifdef IPT_SUM_TYPES
#if IPT_LANES == 1
#define IPT_SUM(type, value) (value)
#else
#define IPT_DEFINE_SUM(type)                                                                                           \
    IPT_INLINE type ipt_sum_##type(const type value, const uint ipt_lane, __local uint4 *ipt_slots)                    \
    {                                                                                                                  \
        __local type *const slot = (__local type *)ipt_slots + get_local_id(0);                                        \
        *slot = value;                                                                                                 \
        IPT_BARRIER();                                                                                                 \
        for (uint left = IPT_LANES; left > 1; left = (left + 1) / 2) {                                                 \
            if (ipt_lane < left / 2)                                                                                   \
                *slot += slot[(left + 1) / 2 * IPT_LANE_STEP];                                                         \
            IPT_BARRIER();                                                                                             \
        }                                                                                                              \
        const type sum = *(slot - ipt_lane * IPT_LANE_STEP);                                                           \
        IPT_BARRIER();                                                                                                 \
        return sum;                                                                                                    \
    }
IPT_SUM_TYPES(IPT_DEFINE_SUM)
#define IPT_SUM_OF(type, value) ipt_sum_##type(value, ipt_lane, ipt_slots)
#define IPT_SUM(type, value) IPT_SUM_OF(type, value)
#define IPT_SLOTS_PARAMETER , __local uint4 *ipt_slots
#define IPT_SLOTS_PASSED , ipt_slots
#endif
#endif
#ifndef IPT_SLOTS_PARAMETER
#define IPT_SLOTS_PARAMETER
#define IPT_SLOTS_PASSED
#endif

#ifdef IPT_ACTION_ARGUMENT_TYPE
#define IPT_ACTION_ARGUMENT_PARAMETER , const IPT_ACTION_ARGUMENT_TYPE a
#define IPT_ACTION_ARGUMENT_PASSED , a
#else
#define IPT_ACTION_ARGUMENT_PARAMETER
#define IPT_ACTION_ARGUMENT_PASSED
#endif

/* Bits of NAME_ACCESS, as in ipt_access. */
#define IPT_READS(name) (name##_ACCESS & 1)
#define IPT_WRITES(name) (name##_ACCESS & 2)

/* An action cannot write to an operand that it only reads. */
#define IPT_CONST_1 const
#define IPT_CONST_2
#define IPT_CONST_3
#define IPT_CONST_OF(access) IPT_CONST_##access
#define IPT_CONST(access) IPT_CONST_OF(access)
#define IPT_OPERAND_PARAMETER(name, number)                                                                            \
    , IPT_SPACE IPT_CONST(name##_ACCESS) name##_TYPE *ipt_at_##name, const size_t ipt_step_##name
#define IPT_ACTION_PARAMETERS                                                                                          \
    const uint ipt_lane, const ulong ipt_element IPT_SLOTS_PARAMETER IPT_ACTION_ARGUMENT_PARAMETER IPT_OPERAND_LIST(   \
                             IPT_OPERAND_PARAMETER)
