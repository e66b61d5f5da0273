/* Permutes the axes of an array whose elements have gaps between them: from the source's view of a buffer to the
 * result's. The views share any of their bytes. A view has a place for each element, at multiples of a stride for each
 * axis. Places of both views are equal or disjoint.
 *
 * Each place of the source leads to a place of the result. That may be a place of the source, too. So elements follow
 * cycles, or chains that end at a place which only the result has. Each element has a flag. Invariant: a set flag means
 * that a worker has loaded the element from the source's view. Nobody writes to its place before. So:
 * - A worker starts at a clear flag: load, wait for arrival, claim. If the claim fails, the worker drops the element.
 * - A worker that holds the element for a place loads the source's element there, if there is one, waits for arrival,
 * claims it and writes. If its claim was the first, it continues with that element.
 *
 * An earlier command clears the flags. No worker waits for another.
 *
 * A launch has flags for a window of the elements. Workers start within the window only. Elements beyond it belong to
 * the chain of one worker. Chains that touch an earlier window have moved from there on. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/sync.cl"

#if !defined(IPT_LANES) || !defined(IPT_REGISTERS) || !defined(IPT_AXES) || !defined(IPT_INDEX_BITS)
#error "IPT_LANES, IPT_REGISTERS, IPT_AXES and IPT_INDEX_BITS must be defined"
#endif

#define IPT_LANE ((uint)get_local_id(0) % IPT_LANES)
#define IPT_NO_ELEMENT (~(ipt_index)0)
#ifdef IPT_AS_C /* which has one program for all numbers of units */
#define IPT_HELD units
#else
#define IPT_HELD IPT_REGISTERS
#endif

#define IPT_EACH(name, part)                                                                                           \
    {                                                                                                                  \
        g->name##0##part, g->name##1##part, g->name##2##part, g->name##3##part, g->name##4##part, g->name##5##part,    \
            g->name##6##part, g->name##7##part                                                                         \
    }
#define IPT_DIVISORS(name)                                                                                             \
    const ulong name[] = IPT_EACH(name, ), name##_magic[] = IPT_EACH(name, _magic);                                    \
    const uint name##_shift[] = IPT_EACH(name, _shift)
#define IPT_DIVISOR_AT(name, i) name[i], name##_magic[i], name##_shift[i]

/* Returns the number of the source's element at `at`, or IPT_NO_ELEMENT. *to: where it goes. */
IPT_INLINE ipt_index ipt_source_element(ipt_index at, ipt_index *to, const ipt_given *g)
{
    const ulong lengths[] = IPT_EACH(extent, ), targets[] = IPT_EACH(target, );
    IPT_DIVISORS(source);
    ipt_index number = 0, place = 0;
    bool has = true;
#pragma unroll
    for (uint i = 0; i < IPT_AXES; ++i) {
        const ipt_index index = ipt_divide_index(at, IPT_DIVISOR_AT(source, i));
        has &= index < lengths[i];
        at -= index * (ipt_index)source[i];
        number = number * (ipt_index)lengths[i] + index;
        place += index * (ipt_index)targets[i];
    }
    *to = place;
    return has && at == 0 ? number : IPT_NO_ELEMENT;
}

/* Returns the number of the result's element at `at`, or IPT_NO_ELEMENT. *from: where it comes from. */
IPT_INLINE ipt_index ipt_result_element(ipt_index at, ipt_index *from, const ipt_given *g)
{
    const ulong lengths[] = IPT_EACH(later_extent, ), sources[] = IPT_EACH(later_source, ),
                weights[] = IPT_EACH(later_weight, );
    IPT_DIVISORS(later_target);
    ipt_index number = 0, place = 0;
    bool has = true;
#pragma unroll
    for (uint i = 0; i < IPT_AXES; ++i) {
        const ipt_index index = ipt_divide_index(at, IPT_DIVISOR_AT(later_target, i));
        has &= index < lengths[i];
        at -= index * (ipt_index)later_target[i];
        number += index * (ipt_index)weights[i];
        place += index * (ipt_index)sources[i];
    }
    *from = place;
    return has && at == 0 ? number : IPT_NO_ELEMENT;
}

/* The places of element `number` in the source and in the result. */
IPT_INLINE void ipt_places(ipt_index number, ipt_index *at, ipt_index *to, const ipt_given *g)
{
    const ulong sources[] = IPT_EACH(source, ), targets[] = IPT_EACH(target, );
    IPT_DIVISORS(extent);
    *at = *to = 0;
#pragma unroll
    for (uint i = IPT_AXES; i-- > 0;) {
        const ipt_index rest = ipt_divide_index(number, IPT_DIVISOR_AT(extent, i)),
                        index = number - rest * (ipt_index)extent[i];
        *at += index * (ipt_index)sources[i];
        *to += index * (ipt_index)targets[i];
        number = rest;
    }
}

/* Whether element `number`, at `at`, has moved with the windows before. */
IPT_INLINE bool ipt_has_moved(ipt_index number, ipt_index at, const ipt_given *g)
{
    const ipt_index first = (ipt_index)g->first;
    ipt_index before = first == 0 ? number : IPT_NO_ELEMENT;
    while (before != number) {
        before = ipt_result_element(at, &at, g);
        if (before == IPT_NO_ELEMENT)
            return false;
        if (before < first)
            return true;
    }
    return false;
}

/* Waits until this worker's loads have arrived and sets a flag. Whether it was clear. */
IPT_INLINE bool ipt_claim(volatile __global uint *flags, ipt_index flag, __local uint *answer)
{
    volatile __global uint *word = &flags[flag / 32];
    const uint bit = 1u << flag % 32;
#if IPT_LANES == 1
    (void)answer;
    IPT_FENCE_DEVICE();
    const uint old = atomic_or(word, bit);
    IPT_FENCE_DEVICE();
#else
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (IPT_LANE == 0) {
        IPT_FENCE_DEVICE();
        *answer = atomic_or(word, bit);
        IPT_FENCE_DEVICE();
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint old = *answer;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    return (old & bit) == 0;
}

/* Loads a piece of an element into registers. */
IPT_INLINE void ipt_load_piece(ipt_unit *to, const __global ipt_unit *from, uint units)
{
#pragma unroll
    for (uint r = 0; r < IPT_HELD; ++r)
        if (IPT_LANE + r * IPT_LANES < units)
            to[r] = from[IPT_LANE + r * IPT_LANES];
}

/* The expression is applied on the way, but for C's text, where it is a function. */
#ifndef IPT_APPLY_RUN
#define IPT_APPLY_RUN(run, units, number)
#endif
IPT_INLINE void ipt_store_piece(__global ipt_unit *to, const ipt_unit *from, uint units, const ipt_given *g)
{
#pragma unroll
    for (uint r = 0; r < IPT_HELD; ++r)
        if (IPT_LANE + r * IPT_LANES < units)
            to[IPT_LANE + r * IPT_LANES] = ipt_apply(from[r], g);
}

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_views(__global ipt_unit *source, __global ipt_unit *other IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_LOCAL_ARRAY uint answer;
    const ulong begin = (ulong)get_group_id(0) * g->group_pieces, end = min(begin + g->group_pieces, g->total);
    for (ulong i = begin + (uint)get_local_id(0) / IPT_LANES; i < end; i += IPT_GROUP_SIZE / IPT_LANES) {
        const ipt_index piece = ipt_divide_index((ipt_index)i, IPT_DIVISOR(g->count)), flag = (ipt_index)i,
                        flags_before = piece * (ipt_index)g->count, first = (ipt_index)g->first,
                        number = first + flag - flags_before;
        const ulong in_element = (ulong)piece * g->piece_units;
        const uint units = (uint)min((ulong)g->piece_units, g->element_units - in_element);
        __global ipt_unit *from = source + g->base + in_element;
        ipt_unit held[IPT_REGISTERS];
        ipt_index at, to;
        ipt_places(number, &at, &to, g);
        if (g->apart != 0) {
            ipt_load_piece(held, from + at, units);
            ipt_store_piece(other + g->target_base + in_element + to, held, units, g);
            IPT_APPLY_RUN(other + g->target_base + in_element + to, units, 0);
            continue;
        }
        if (ipt_has_moved(number, at, g))
            continue;
        volatile __global uint *flags = (volatile __global uint *)other + g->flags_base;
        ipt_load_piece(held, from + at, units);
        bool going = ipt_claim(flags, flag, &answer);
        while (going) {
            ipt_unit coming[IPT_REGISTERS];
            ipt_index next_to;
            const ipt_index next = ipt_source_element(to, &next_to, g), in_window = next - first;
            going = next != IPT_NO_ELEMENT && next >= first;
            if (going) {
                ipt_load_piece(coming, from + to, units);
                if (in_window < g->count)
                    going = ipt_claim(flags, flags_before + in_window, &answer);
            }
            ipt_store_piece(from + to, held, units, g);
            IPT_APPLY_RUN(from + to, units, 0);
#pragma unroll
            for (uint r = 0; r < IPT_HELD; ++r)
                held[r] = coming[r];
            to = next_to;
        }
    }
}
