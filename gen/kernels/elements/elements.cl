/* One action on each of many small elements, which are small matrices: the framework of Ha, King, Fu and Kirby (2013).
 * IPT_LANES work-items serve an element, so IPT_GROUP_SIZE / IPT_LANES elements make a work-group. It fetches its
 * elements in long runs, calls ipt_action, which precedes this text, and stores the result. */
#include "parts/unit.cl"
#include "parts/actions.cl"

/* Components of an element: rows * cols of each operand. */
#define IPT_COMPONENTS(name) (name##_ROWS * name##_COLS)

/* The place of component q of a work-group's element e in local memory. An odd distance spreads a line of work-items
 * over different banks, whether neighbours access different elements or different components of a row or column. Rows
 * are PITCH components apart. */
#if IPT_HOLD == IPT_HOLD_LOCAL && (IPT_LANES == 1 || IPT_INTERLEAVED)
#define IPT_COMPONENT_STEP (IPT_ELEMENTS == 1 ? 1 : IPT_ELEMENTS + 1)
#define IPT_HELD_STEP(name) 1
#else
#define IPT_COMPONENT_STEP 1
#define IPT_HELD_STEP(name) (name##_ROWS * name##_PITCH | 1)
#endif
#define IPT_HELD_OF(name, q) (name##_PITCH == name##_COLS ? (q) : (q) / name##_COLS * name##_PITCH + (q) % name##_COLS)
#define IPT_HELD_PLACE(name, e, q) ((e)*IPT_HELD_STEP(name) + IPT_HELD_OF(name, q) * IPT_COMPONENT_STEP)

/* Where component q of an element lies in its buffer. Layout 0: elements one after the other, `stride` components
 * apart; 1: a plane for each component, `stride` apart; 2: blocks of WIDTH elements with a row for each component. */
#define IPT_BUFFER_PLACE(name, element, q, stride)                                                                     \
    (name##_LAYOUT == 0   ? (element) * (stride) + (q)                                                                 \
     : name##_LAYOUT == 1 ? (q) * (stride) + (element)                                                                 \
                          : (element) / name##_WIDTH * (stride) + (q)*name##_WIDTH + (element) % name##_WIDTH)

/* Neighbouring work-items access neighbouring components in the buffer. */
#define IPT_ITS_ELEMENT(name, t) (name##_LAYOUT == 0 ? (t) / IPT_COMPONENTS(name) : (t) % IPT_ELEMENTS)
#define IPT_ITS_COMPONENT(name, t) (name##_LAYOUT == 0 ? (t) % IPT_COMPONENTS(name) : (t) / IPT_ELEMENTS)

#define IPT_VECTOR_PARTS(name) (16 / sizeof(name##_TYPE) ? 16 / sizeof(name##_TYPE) : 1)

/* A work-item beyond the last element does nothing, if no lane waits for it. Otherwise it works on a copy of the last
 * element: so all lanes reach the same barriers, and the action terminates. */
#if IPT_LANES == 1
#define IPT_IS_LOADED(e) (first + (e) <= last)
#else
#define IPT_IS_LOADED(e) true
#endif

/* Loads and stores the elements of a work-group. */
#define IPT_DEFINE_MOVES(name, number)                                                                                 \
    typedef union ipt_vector_##name {                                                                                  \
        uint4 vector;                                                                                                  \
        name##_TYPE parts[IPT_VECTOR_PARTS(name)];                                                                     \
    } ipt_vector_##name;                                                                                               \
    IPT_INLINE void ipt_load_##name(__local name##_TYPE *held, __global const name##_TYPE *from, const ulong stride,   \
                                    const ulong first, const ulong last)                                               \
    {                                                                                                                  \
        if (name##_VECTOR > 1) {                                                                                       \
            for (uint t = get_local_id(0); t < IPT_ELEMENTS * IPT_COMPONENTS(name) / name##_VECTOR;                    \
                 t += IPT_GROUP_SIZE) {                                                                                \
                const uint e = t / (IPT_COMPONENTS(name) / name##_VECTOR),                                             \
                           q = t % (IPT_COMPONENTS(name) / name##_VECTOR) * name##_VECTOR;                             \
                ipt_vector_##name x;                                                                                   \
                if (!IPT_IS_LOADED(e))                                                                                 \
                    continue;                                                                                          \
                x.vector = *(__global const uint4 *)(from + min(first + e, last) * stride + q);                        \
                IPT_UNROLL for (uint v = 0; v < name##_VECTOR; ++v) held[IPT_HELD_PLACE(name, e, q + v)] = x.parts[v]; \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (uint t = get_local_id(0); t < IPT_ELEMENTS * IPT_COMPONENTS(name); t += IPT_GROUP_SIZE) {                 \
            const uint e = IPT_ITS_ELEMENT(name, t), q = IPT_ITS_COMPONENT(name, t);                                   \
            if (!IPT_IS_LOADED(e))                                                                                     \
                continue;                                                                                              \
            const ulong element = min(first + e, last);                                                                \
            held[IPT_HELD_PLACE(name, e, q)] = from[IPT_BUFFER_PLACE(name, element, q, stride)];                       \
        }                                                                                                              \
    }                                                                                                                  \
    IPT_INLINE void ipt_store_##name(__local const name##_TYPE *held, __global name##_TYPE *to, const ulong stride,    \
                                     const ulong first, const ulong last)                                              \
    {                                                                                                                  \
        if (name##_VECTOR > 1) {                                                                                       \
            for (uint t = get_local_id(0); t < IPT_ELEMENTS * IPT_COMPONENTS(name) / name##_VECTOR;                    \
                 t += IPT_GROUP_SIZE) {                                                                                \
                const uint e = t / (IPT_COMPONENTS(name) / name##_VECTOR),                                             \
                           q = t % (IPT_COMPONENTS(name) / name##_VECTOR) * name##_VECTOR;                             \
                ipt_vector_##name x;                                                                                   \
                IPT_UNROLL for (uint v = 0; v < name##_VECTOR; ++v) x.parts[v] = held[IPT_HELD_PLACE(name, e, q + v)]; \
                if (first + e <= last)                                                                                 \
                    *(__global uint4 *)(to + (first + e) * stride + q) = x.vector;                                     \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (uint t = get_local_id(0); t < IPT_ELEMENTS * IPT_COMPONENTS(name); t += IPT_GROUP_SIZE) {                 \
            const uint e = IPT_ITS_ELEMENT(name, t), q = IPT_ITS_COMPONENT(name, t);                                   \
            if (first + e <= last)                                                                                     \
                to[IPT_BUFFER_PLACE(name, first + e, q, stride)] = held[IPT_HELD_PLACE(name, e, q)];                   \
        }                                                                                                              \
    }
#if IPT_HOLD <= IPT_HOLD_STAGED
IPT_OPERAND_LIST(IPT_DEFINE_MOVES)
#endif

#define IPT_MEMORY(name, number)                                                                                       \
    __global name##_TYPE *const ipt_memory_##name = (__global name##_TYPE *)memory##number + g->base##number;

#if IPT_HOLD == IPT_HOLD_LOCAL
#define IPT_HELD(name) ((__local name##_TYPE *)((__local uchar *)vectors + name##_LOCAL))
#define IPT_LOAD(name, number)                                                                                         \
    if (IPT_READS(name))                                                                                               \
        ipt_load_##name(IPT_HELD(name), ipt_memory_##name, g->stride##number, first, last);
#define IPT_STORE(name, number)                                                                                        \
    if (IPT_WRITES(name))                                                                                              \
        ipt_store_##name(IPT_HELD(name), ipt_memory_##name, g->stride##number, first, last);
#define IPT_OPERAND_PASSED(name, number) , IPT_HELD(name) + IPT_HELD_PLACE(name, e, 0), IPT_COMPONENT_STEP
#elif IPT_HOLD == IPT_HOLD_MEMORY
#define IPT_OPERAND_PASSED(name, number)                                                                               \
    , ipt_memory_##name + IPT_BUFFER_PLACE(name, element, 0, g->stride##number),                                       \
        name##_LAYOUT == 0   ? 1                                                                                       \
        : name##_LAYOUT == 1 ? g->stride##number                                                                       \
                             : name##_WIDTH
#else
/* No staging for planes, blocks and single components: there, neighbouring work-items access long runs. */
#define IPT_IS_STAGED(name) (IPT_HOLD == IPT_HOLD_STAGED && name##_LAYOUT == 0 && IPT_COMPONENTS(name) > 1)
#if IPT_HOLD == IPT_HOLD_STAGED
#define IPT_FETCH_STAGED(name, number)                                                                                 \
    ipt_load_##name((__local name##_TYPE *)vectors, ipt_memory_##name, g->stride##number, first, last);                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    if (IPT_IS_LOADED(e)) {                                                                                            \
        IPT_UNROLL for (uint q = 0; q < IPT_COMPONENTS(name); ++q) ipt_own_##name[q] =                                 \
            ((__local name##_TYPE *)vectors)[IPT_HELD_PLACE(name, e, q)];                                              \
    }                                                                                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);
#define IPT_PUT_STAGED(name, number)                                                                                   \
    if (IPT_IS_LOADED(e)) {                                                                                            \
        IPT_UNROLL for (uint q = 0; q < IPT_COMPONENTS(name);                                                          \
                        ++q)((__local name##_TYPE *)vectors)[IPT_HELD_PLACE(name, e, q)] = ipt_own_##name[q];          \
    }                                                                                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    ipt_store_##name((__local name##_TYPE *)vectors, ipt_memory_##name, g->stride##number, first, last);               \
    barrier(CLK_LOCAL_MEM_FENCE);
#else
#define IPT_FETCH_STAGED(name, number)
#define IPT_PUT_STAGED(name, number)
#endif
#define IPT_LOAD(name, number)                                                                                         \
    name##_TYPE ipt_own_##name[IPT_COMPONENTS(name)];                                                                  \
    if (IPT_READS(name) && IPT_IS_STAGED(name)) {                                                                      \
        IPT_FETCH_STAGED(name, number)                                                                                 \
    } else if (IPT_READS(name) && IPT_IS_LOADED(e)) {                                                                  \
        IPT_UNROLL for (uint q = 0; q < IPT_COMPONENTS(name); ++q) ipt_own_##name[q] =                                 \
            ipt_memory_##name[IPT_BUFFER_PLACE(name, element, q, g->stride##number)];                                  \
    }
#define IPT_STORE(name, number)                                                                                        \
    if (IPT_WRITES(name) && IPT_IS_STAGED(name)) {                                                                     \
        IPT_PUT_STAGED(name, number)                                                                                   \
    } else if (IPT_WRITES(name) && first + e <= last) {                                                                \
        IPT_UNROLL for (uint q = 0; q < IPT_COMPONENTS(name); ++q)                                                     \
            ipt_memory_##name[IPT_BUFFER_PLACE(name, element, q, g->stride##number)] = ipt_own_##name[q];              \
    }
#define IPT_OPERAND_PASSED(name, number) , ipt_own_##name, 1
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_elements(__global uchar *memory0, __global uchar *memory1, __global uchar *memory2, __global uchar *memory3,
               __global uchar *memory4, __global uchar *memory5, __global uchar *memory6,
               __global uchar *memory7 IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
#if IPT_HOLD <= IPT_HOLD_STAGED
    IPT_LOCAL_LARGE(uint4, vectors, IPT_LOCAL_BYTES / 16) __attribute__((aligned(IPT_HELD_ALIGNMENT)));
#endif
#if defined(IPT_SUM_TYPES) && IPT_LANES > 1
    IPT_LOCAL_ARRAY uint4 ipt_slots[IPT_GROUP_SIZE];
#endif
#if IPT_INTERLEAVED
    const uint e = get_local_id(0) % IPT_ELEMENTS, lane = get_local_id(0) / IPT_ELEMENTS;
#else
    const uint e = get_local_id(0) / IPT_LANES, lane = get_local_id(0) % IPT_LANES;
#endif
    const ulong first = get_group_id(0) * (ulong)IPT_ELEMENTS, last = g->count - 1;
    const ulong element = min(first + e, last);
#ifdef IPT_ACTION_ARGUMENT_TYPE
    union {
        ulong words[4];
        IPT_ACTION_ARGUMENT_TYPE value;
    } ipt_argument;
    ipt_argument.words[0] = g->argument0;
    ipt_argument.words[1] = g->argument1;
    ipt_argument.words[2] = g->argument2;
    ipt_argument.words[3] = g->argument3;
    const IPT_ACTION_ARGUMENT_TYPE a = ipt_argument.value;
#endif
    IPT_OPERAND_LIST(IPT_MEMORY)
#if IPT_HOLD != IPT_HOLD_MEMORY
    IPT_OPERAND_LIST(IPT_LOAD)
#endif
#if IPT_HOLD == IPT_HOLD_LOCAL
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* the last element has been read before it is stored */
#endif
    /* If lanes wait, no condition encloses a barrier and no return precedes a barrier, although all work-items agree.
     * Otherwise PoCL 3.1 computes wrong results, and oclgrind reports nothing. */
#if IPT_LANES == 1
    if (IPT_IS_LOADED(e))
#endif
        ipt_action(lane, g->before +
                             element IPT_SLOTS_PASSED IPT_ACTION_ARGUMENT_PASSED IPT_OPERAND_LIST(IPT_OPERAND_PASSED));
#if IPT_HOLD == IPT_HOLD_LOCAL
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if IPT_HOLD != IPT_HOLD_MEMORY
    IPT_OPERAND_LIST(IPT_STORE)
#endif
}
