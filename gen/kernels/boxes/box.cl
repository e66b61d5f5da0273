/* Permutation of an array's axes, cooperative. Work-groups hold a box of the array each: a range of indices on each
 * axis. They read all boxes of an array, wait for one another, and write them where they belong.
 *
 * A box is read by runs, contiguous in the source: its last axes as far as it has them whole, and a range of the axis
 * before them. It is written by runs of the result likewise, or by pieces of them. Tables in local memory have the
 * place of each run, in memory and in the box, and the place in the box of each unit of a run of the result, which all
 * of those share.
 *
 * All boxes have one size, and so have all pieces: where a length is no multiple, the last two overlap. Both move their
 * common units, with equal results.
 *
 * Invariant: a work-group writes memory of an array only when every box of it is in local memory. Arrays follow one
 * another by tickets, as ticket groups do in panel.cl: a work-group therefore only waits for running work-groups. If
 * fewer work-groups run at a time than an array has boxes, one of those that waited in vain permutes that array and
 * those after it alone. It need not wait for the others: they have only read these arrays.
 *
 * Atomic operations on one line of memory follow one another, and there are many work-groups: a line has one counter.
 *
 * Executions alternate between two control blocks: each clears the other one. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/places.cl"
#include "parts/sync.cl"
#include "parts/vectors.cl"
#include "parts/crossing.cl"
#include "parts/tickets.cl"
#include "parts/axes.cl"
#include "parts/array_alone.cl"

#ifndef IPT_LOCAL_BYTES
#error "IPT_LOCAL_BYTES must be defined"
#endif

#define IPT_LINE_WORDS 32 /* of memory */
/* The box of a ticket. */
typedef struct ipt_box {
    __global ipt_unit *source, *target; /* its first unit, before and after */
    uint before;                        /* units of the array before `source` */
    uint number;                        /* units of all results before `target` */
} ipt_box;

/* The tables, in local memory. */
typedef struct ipt_tables {
    __local uint *run_places;                    /* of each unit of a run of the result, from its place */
    __local uint *source_begins, *source_places; /* of each run of the source: from the box' first unit, in the box */
    __local uint *target_begins, *target_places; /* of each run of the result */
} ipt_tables;

/* Copies 16 bytes, a word or a unit to local memory. The copy is complete after ipt_fetch_wait by the same work-item.
 */
IPT_INLINE void ipt_fetch_units(__local ipt_unit *to, __global ipt_unit *from, uint units)
{
#if IPT_MEMORY_MODEL == 2
    if (units * IPT_UNIT_BYTES == 16)
        __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(IPT_LOCAL_ADDRESS(to)), "l"(from)
                         : "memory");
    else if (units * IPT_UNIT_BYTES == 8)
        __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(IPT_LOCAL_ADDRESS(to)), "l"(from) : "memory");
    else if (units * IPT_UNIT_BYTES == 4)
        __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(IPT_LOCAL_ADDRESS(to)), "l"(from) : "memory");
    else
        *to = *from;
#else
    if (units == 1)
        *to = *from;
    else if (units * IPT_UNIT_BYTES == 16)
        *(__local uint4 *)to = *(__global uint4 *)from;
    else
        *(__local uint *)to = *(__global uint *)from;
#endif
}

/* Units that move together. */
typedef union ipt_together {
    ipt_unit units[IPT_VECTOR_UNITS];
    uint words[4];
} ipt_together;

IPT_INLINE void ipt_store_units(__global ipt_unit *to, const ipt_together *together, uint units)
{
#if IPT_MEMORY_MODEL == 2
    if (units * IPT_UNIT_BYTES == 16)
        __asm__ volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(together->words[0]),
                         "r"(together->words[1]), "r"(together->words[2]), "r"(together->words[3])
                         : "memory");
    else if (units > 1)
        __asm__ volatile("st.global.cs.u32 [%0], %1;" ::"l"(to), "r"(together->words[0]) : "memory");
    else
        ipt_store(to, together->units[0]);
#else
    if (units == 1)
        *to = together->units[0];
    else if (units * IPT_UNIT_BYTES == 16)
        *(__global uint4 *)to =
            IPT_VECTOR(uint4)(together->words[0], together->words[1], together->words[2], together->words[3]);
    else
        *(__global uint *)to = together->words[0];
#endif
}

IPT_INLINE void ipt_place_box(ipt_box *its, __global ipt_unit *array, uint m, uint number, const ipt_given *g)
{
    const uint lengths[] = IPT_OF_AXES(length, ), box[] = IPT_OF_AXES(box, );
    const uint sources[] = IPT_OF_AXES(source, ), targets[] = IPT_OF_AXES(target, );
    IPT_DIVISORS_OF_AXES(boxes);
    uint source = 0, target = 0;
#pragma unroll
    for (uint a = 0; a < IPT_AXES; ++a) {
        const uint i = IPT_AXES - 1 - a;
        const uint before = ipt_divide32(number, IPT_DIVISOR_AT(boxes, i)),
                   at = min((number - before * boxes[i]) * box[i], lengths[i] - box[i]);
        number = before;
        source += at * sources[i];
        target += at * targets[i];
    }
    its->source = array + source;
    its->before = source;
    its->target = array + target;
    its->number = m * g->array_units + target;
}

/* Lists the runs of the source: where they begin, and their places in the box. */
IPT_INLINE void ipt_list_source(const ipt_tables *tables, const ipt_given *g)
{
    const uint places[] = IPT_OF_AXES(place, ), sources[] = IPT_OF_AXES(source, );
    IPT_DIVISORS_OF_AXES(box);
    IPT_DIVISORS_OF_AXES(source_step);
    for (uint run = get_local_id(0); run < g->source_runs; run += IPT_GROUP_SIZE) {
        uint begin = 0, place = 0;
#pragma unroll
        for (uint i = 0; i < IPT_AXES; ++i)
            if ((g->source_outer >> i & 1) != 0) {
                const uint step = ipt_divide32(run, IPT_DIVISOR_AT(source_step, i)),
                           k = step - ipt_divide32(step, IPT_DIVISOR_AT(box, i)) * box[i];
                begin += k * sources[i];
                place += k * places[i];
            }
        tables->source_begins[run] = begin;
        tables->source_places[run] = place;
    }
}

/* Lists the runs of the result, which have target_piece indices of target_axis: where they begin, and their places in
 * the box; and the places of a run's units in the box. */
IPT_INLINE void ipt_list_target(const ipt_tables *tables, const ipt_given *g)
{
    const uint places[] = IPT_OF_AXES(place, );
    IPT_DIVISORS_OF_AXES(box);
    IPT_DIVISORS_OF_AXES(target);
    IPT_DIVISORS_OF_AXES(target_step);
    for (uint run = get_local_id(0); run < g->target_runs; run += IPT_GROUP_SIZE) {
        uint begin = 0, place = 0;
#pragma unroll
        for (uint i = 0; i < IPT_AXES; ++i)
            if ((g->target_outer >> i & 1) != 0) {
                const uint step = ipt_divide32(run, IPT_DIVISOR_AT(target_step, i));
                uint k;
                if (i == g->target_axis)
                    k = min((step - ipt_divide32(step, IPT_DIVISOR(g->target_pieces)) * g->target_pieces) *
                                g->target_piece,
                            box[i] - g->target_piece);
                else if (i == IPT_AXES - 1)
                    k = (step - ipt_divide32(step, IPT_DIVISOR(g->last_steps)) * g->last_steps) * IPT_BLOCK_RUNS;
                else
                    k = step - ipt_divide32(step, IPT_DIVISOR_AT(box, i)) * box[i];
                begin += k * target[i];
                place += k * places[i];
            }
        tables->target_begins[run] = begin;
        tables->target_places[run] = place;
    }
    for (uint u = get_local_id(0); u < g->target_run; u += IPT_GROUP_SIZE) {
        uint place = 0;
#pragma unroll
        for (uint i = 0; i < IPT_AXES; ++i) {
            const bool part = i == g->target_axis;
            if (part || (g->target_outer >> i & 1) == 0) {
                const uint step = ipt_divide32(u, IPT_DIVISOR_AT(target, i));
                place += (part ? step : step - ipt_divide32(step, IPT_DIVISOR_AT(box, i)) * box[i]) * places[i];
            }
        }
        tables->run_places[u] = place;
    }
}

/* `together` units move at a time, and runs have `each` times as many: a compile-time constant, and the plan's divisor.
 * planned: false for other numbers. */
IPT_INLINE void ipt_fetch_runs(const ipt_box *its, __local ipt_unit *tile, const ipt_tables *tables, uint together,
                               bool planned, const ipt_given *g)
{
    const uint each = planned ? g->source_each : g->source_run, all = g->source_runs * each;
#pragma unroll 4
    for (uint at = get_local_id(0); at < all; at += IPT_GROUP_SIZE) {
        const uint run = planned ? ipt_divide32(at, IPT_DIVISOR(g->source_each)) : at / each,
                   k = (at - run * each) * together;
#if IPT_CROSSING == IPT_CHANNELS_AFTER
#pragma unroll
        for (uint i = 0; i < IPT_CHANNELS; ++i)
            tile[tables->source_places[run] + k * IPT_CHANNELS + i] =
                its->source[tables->source_begins[run] + i * g->apart + k];
#else
        ipt_fetch_units(tile + tables->source_places[run] + k, its->source + tables->source_begins[run] + k, together);
#endif
    }
}

#if IPT_CROSSING == IPT_ANYWHERE
/* The units from the begin of a word of memory to an address. */
IPT_INLINE uint ipt_units_cut(const __global ipt_unit *at)
{
    return (uint)(ulong)at % 4 / IPT_UNIT_BYTES;
}

/* Fetches runs that begin anywhere by words. The box has each run as far from a word's begin as memory has it, and gaps
 * between runs, into which go the units of a word that do not belong to the run. Words that the array has a part of are
 * fetched unit by unit: other work-groups may write the rest. planned: as above. */
IPT_INLINE void ipt_fetch_anywhere(const ipt_box *its, __local ipt_unit *tile, const ipt_tables *tables, bool planned,
                                   const ipt_given *g)
{
    const int units = (int)g->source_run, word = IPT_WORD;
    const uint each = planned ? g->source_each : IPT_WORDS_ANYWHERE(g->source_run), all = g->source_runs * each;
#pragma unroll 4
    for (uint at = get_local_id(0); at < all; at += IPT_GROUP_SIZE) {
        const uint run = planned ? ipt_divide32(at, IPT_DIVISOR(g->source_each)) : at / each;
        __global ipt_unit *from = its->source + tables->source_begins[run];
        __local ipt_unit *to = tile + tables->source_places[run];
        const int k = (int)((at - run * each) * IPT_WORD) - (int)ipt_units_cut(from),
                  in_array = (int)(its->before + tables->source_begins[run]) + k;
        if (k < units && in_array >= 0 && in_array + word <= (int)g->array_units)
            ipt_fetch_units(to + k, from + k, IPT_WORD);
        else
            for (int u = max(k, 0); u < min(k + word, units); ++u)
                to[u] = from[u];
    }
}
#endif

#if IPT_CROSSING == IPT_CHANNELS_AFTER
/* Fetches runs of all channels, `together` units of each at a time, and mixes them in registers: the box has the
 * result's sequence. */
IPT_INLINE void ipt_fetch_channels(const ipt_box *its, __local ipt_unit *tile, const ipt_tables *tables, uint together,
                                   const ipt_given *g)
{
    enum { STEPS = 2 };
    const uint each = g->source_each, all = g->source_runs * each, count = together / IPT_WORD;
    for (uint first = get_local_id(0); first < all; first += STEPS * IPT_GROUP_SIZE) {
        uint from[STEPS][IPT_BLOCK_WORDS];
        __local ipt_unit *to[STEPS];
#pragma unroll
        for (uint s = 0; s < STEPS; ++s) {
            const uint at = first + s * IPT_GROUP_SIZE;
            if (at < all) {
                const uint run = ipt_divide32(at, IPT_DIVISOR(g->source_each)), k = (at - run * each) * together;
                const __global ipt_unit *units = its->source + tables->source_begins[run] + k;
                to[s] = tile + tables->source_places[run] + k * IPT_CHANNELS;
#pragma unroll
                for (uint i = 0; i < IPT_CHANNELS; ++i)
                    ipt_load_together(from[s] + i * count, units + i * g->apart, together);
            }
        }
#pragma unroll
        for (uint s = 0; s < STEPS; ++s)
            if (first + s * IPT_GROUP_SIZE < all) {
                uint mixed[IPT_BLOCK_WORDS];
                ipt_cross(mixed, from[s], IPT_CHANNELS, together);
#pragma unroll
                for (uint i = 0; i < IPT_CHANNELS; ++i)
                    ipt_write_together(to[s] + i * together, mixed + i * count, together);
            }
    }
}
#endif

#define IPT_BOX_STEPS 4 /* stores of a work-item whose units it picks before the first one */

/* Picks the units of a run from k on. Four places are read at a time. number: of the first one, in all results. */
IPT_INLINE void ipt_pick_units(ipt_together *picked, const __local ipt_unit *from, const __local uint *places,
                               uint together, uint number, const ipt_given *g)
{
    if (together % 4 != 0) {
#pragma unroll
        for (uint i = 0; i < together; ++i)
            picked->units[i] = ipt_apply_to(from[places[i]], number + i, g);
    } else {
#pragma unroll
        for (uint i = 0; i < together; i += 4) {
            const uint4 four = *(const __local uint4 *)(places + i);
            picked->units[i] = ipt_apply_to(from[four.x], number + i, g);
            picked->units[i + 1] = ipt_apply_to(from[four.y], number + i + 1, g);
            picked->units[i + 2] = ipt_apply_to(from[four.z], number + i + 2, g);
            picked->units[i + 3] = ipt_apply_to(from[four.w], number + i + 3, g);
        }
    }
}

#define IPT_IN_RUNS                                                                                                    \
    ((IPT_CROSSING == IPT_CHANNELS_AFTER) | (IPT_CROSSING == IPT_ROWS_STAY)) /* lie together in the box */

/* Picks contiguous units of the box. */
IPT_INLINE void ipt_pick_run(ipt_together *picked, const __local ipt_unit *from, uint together, uint number,
                             const ipt_given *g)
{
    if (together == 1)
        picked->units[0] = *from;
    else
        ipt_read_together(picked->words, from, together);
#if IPT_APPLY
#pragma unroll
    for (uint u = 0; u < together; ++u)
        picked->units[u] = ipt_apply_to(picked->units[u], number + u, g);
#endif
}

IPT_INLINE void ipt_store_runs(const ipt_box *its, __local ipt_unit *tile, const ipt_tables *tables, uint together,
                               bool planned, const ipt_given *g)
{
    const uint each = planned ? g->target_each : g->target_run, all = g->target_runs * IPT_BLOCK_RUNS * each;
    for (uint first = get_local_id(0); first < all; first += IPT_BOX_STEPS * IPT_GROUP_SIZE) {
        ipt_together picked[IPT_BOX_STEPS];
        uint to[IPT_BOX_STEPS];
#pragma unroll
        for (uint s = 0; s < IPT_BOX_STEPS; ++s) {
            const uint at = first + s * IPT_GROUP_SIZE,
                       number = planned ? ipt_divide32(at, IPT_DIVISOR(g->target_each)) : at / each,
                       run = number / IPT_BLOCK_RUNS, of_block = number % IPT_BLOCK_RUNS,
                       k = (at - number * each) * together;
            if (at < all) {
                to[s] = tables->target_begins[run] + of_block * g->apart + k;
                const __local ipt_unit *from = tile + tables->target_places[run] + of_block;
                if (planned && IPT_IN_RUNS)
                    ipt_pick_run(&picked[s], from + k, together, its->number + to[s], g);
                else
                    ipt_pick_units(&picked[s], from, tables->run_places + k, together, its->number + to[s], g);
            }
        }
#pragma unroll
        for (uint s = 0; s < IPT_BOX_STEPS; ++s)
            if (first + s * IPT_GROUP_SIZE < all)
                ipt_store_units(its->target + to[s], &picked[s], together);
    }
}

#if IPT_CROSSING == IPT_ANYWHERE
/* Stores runs that begin anywhere by words, and the parts of words at their ends unit by unit. */
IPT_INLINE void ipt_store_anywhere(const ipt_box *its, __local ipt_unit *tile, const ipt_tables *tables, bool planned,
                                   const ipt_given *g)
{
    const int units = (int)g->target_run, word = IPT_WORD;
    const uint each = planned ? g->target_each : IPT_WORDS_ANYWHERE(g->target_run), all = g->target_runs * each;
    for (uint first = get_local_id(0); first < all; first += IPT_BOX_STEPS * IPT_GROUP_SIZE) {
        ipt_together picked[IPT_BOX_STEPS];
        __global ipt_unit *to[IPT_BOX_STEPS];
        int from[IPT_BOX_STEPS]; /* unit of the run */
#pragma unroll
        for (uint s = 0; s < IPT_BOX_STEPS; ++s) {
            const uint at = first + s * IPT_GROUP_SIZE,
                       run = planned ? ipt_divide32(at, IPT_DIVISOR(g->target_each)) : at / each;
            from[s] = units;
            if (at < all) {
                const __local ipt_unit *place = tile + tables->target_places[run];
                to[s] = its->target + tables->target_begins[run];
                from[s] = (int)((at - run * each) * IPT_WORD) - (int)ipt_units_cut(to[s]);
#pragma unroll
                for (int i = 0; i < word; ++i) {
                    const int unit = clamp(from[s] + i, 0, units - 1); /* those of other runs are not stored */
                    picked[s].units[i] = ipt_apply_to(place[tables->run_places[unit]],
                                                      its->number + tables->target_begins[run] + (uint)unit, g);
                }
            }
        }
#pragma unroll
        for (uint s = 0; s < IPT_BOX_STEPS; ++s) {
            if (from[s] >= 0 && from[s] + word <= units)
                ipt_store_units(to[s] + from[s], &picked[s], IPT_WORD);
            else {
#pragma unroll
                for (int i = 0; i < word; ++i)
                    if (from[s] + i >= 0 && from[s] + i < units)
                        ipt_store(to[s] + from[s] + i, picked[s].units[i]);
            }
        }
    }
}
#endif

#if IPT_CROSSING == IPT_SQUARE || IPT_CROSSING == IPT_CHANNELS_BEFORE
IPT_INLINE void ipt_store_words(__global ipt_unit *to, const uint *words, uint together, uint number,
                                const ipt_given *g)
{
    ipt_together its;
    const uint count = together / IPT_WORD;
#pragma unroll
    for (uint w = 0; w < count; ++w)
        its.words[w] = words[w];
#if IPT_APPLY
#pragma unroll
    for (uint u = 0; u < together; ++u)
        its.units[u] = ipt_apply_to(its.units[u], number + u, g);
#endif
    ipt_store_units(to, &its, together);
}

/* Stores the runs by blocks, whose units change places in registers: `together` units of each run. */
IPT_INLINE void ipt_store_blocks(const ipt_box *its, __local ipt_unit *tile, const ipt_tables *tables, uint together,
                                 const ipt_given *g)
{
    const uint each = g->target_each, all = g->target_runs * each, count = together / IPT_WORD;
#if IPT_CROSSING == IPT_SQUARE
    const uint runs = min(together, g->last_steps & (0 - g->last_steps)), shift = popcount(runs - 1);
#endif
#pragma unroll 2
    for (uint at = get_local_id(0); at < all; at += IPT_GROUP_SIZE) {
        uint from[IPT_BLOCK_WORDS], to[IPT_BLOCK_WORDS];
#if IPT_CROSSING == IPT_SQUARE
        /* Neighbouring work-items take neighbouring words of the box, which lie in other banks. */
        const uint step = at >> shift, turn = ipt_divide32(step, IPT_DIVISOR(g->target_each)),
                   run = (turn << shift) + (at & (runs - 1)), k = (step - turn * each) * together;
        const __local ipt_unit *place = tile + tables->target_places[run];
        __global ipt_unit *target = its->target + tables->target_begins[run] + k;
        const uint number = its->number + tables->target_begins[run];
#pragma unroll
        for (uint i = 0; i < together; ++i)
            from[i] = *(const __local uint *)(place + tables->run_places[k + i]);
        ipt_cross(to, from, together, IPT_WORD);
#pragma unroll
        for (uint i = 0; i < IPT_WORD; ++i)
            ipt_store_words(target + i * g->apart, to + i * count, together, number + k + i * g->apart, g);
#else
        const uint run = ipt_divide32(at, IPT_DIVISOR(g->target_each)), k = at - run * each;
        const __local ipt_unit *place = tile + tables->target_places[run];
        __global ipt_unit *target = its->target + tables->target_begins[run];
        const uint number = its->number + tables->target_begins[run];
#pragma unroll
        for (uint i = 0; i < IPT_CHANNELS; ++i)
            ipt_read_together(from + i * count, place + (k * IPT_CHANNELS + i) * together, together);
        ipt_cross(to, from, together, IPT_CHANNELS);
#pragma unroll
        for (uint i = 0; i < IPT_CHANNELS; ++i)
            ipt_store_words(target + i * g->apart + k * together, to + i * count, together,
                            number + i * g->apart + k * together, g);
#endif
    }
}
#endif

/* The units that move together: those of the plan, or one if the array's address is no multiple of a vector. */
IPT_INLINE uint ipt_box_together(const __global ipt_unit *array, uint together)
{
    return (uint)(ulong)array % 16 == 0 ? together : 0;
}

IPT_INLINE void ipt_fetch_box(const ipt_box *its, __local ipt_unit *tile, const ipt_tables *tables, uint together,
                              const ipt_given *g)
{
#if IPT_CROSSING == IPT_CHANNELS_AFTER
#define IPT_FETCH(together) ipt_fetch_channels(its, tile, tables, together, g)
#else
#define IPT_FETCH(together) ipt_fetch_runs(its, tile, tables, together, true, g)
#endif
    if (together == IPT_VECTOR_UNITS)
        IPT_FETCH(IPT_VECTOR_UNITS);
    else if (together == IPT_WORD)
        IPT_FETCH(IPT_WORD);
    else
#if IPT_CROSSING == IPT_ANYWHERE
        ipt_fetch_anywhere(its, tile, tables, g->source_together == 1, g);
#else
        ipt_fetch_runs(its, tile, tables, 1, false, g);
#endif
}

IPT_INLINE void ipt_store_box(const ipt_box *its, __local ipt_unit *tile, const ipt_tables *tables, uint together,
                              const ipt_given *g)
{
#if IPT_CROSSING == IPT_SQUARE || IPT_CROSSING == IPT_CHANNELS_BEFORE
#define IPT_STORE(together) ipt_store_blocks(its, tile, tables, together, g)
#else
#define IPT_STORE(together) ipt_store_runs(its, tile, tables, together, true, g)
#endif
#if IPT_CROSSING != IPT_SQUARE
    if (together == IPT_VECTOR_UNITS)
        IPT_STORE(IPT_VECTOR_UNITS);
    else
#endif
        if (together == IPT_WORD)
        IPT_STORE(IPT_WORD);
    else
#if IPT_CROSSING == IPT_ANYWHERE
        ipt_store_anywhere(its, tile, tables, g->target_together == 1, g);
#else
        ipt_store_runs(its, tile, tables, 1, false, g);
#endif
}

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_box(__global ipt_unit *matrix, __global uint *workspace IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_LOCAL_LARGE(uint4, vectors, IPT_LOCAL_BYTES / 16);
    IPT_LOCAL_ARRAY uint shared[3];
    __local ipt_unit *tile = (__local ipt_unit *)vectors;
    __local uint *words = (__local uint *)vectors + g->tables;
    const ipt_tables tables = {words, words + g->target_run, words + g->target_run + g->source_runs,
                               words + g->target_run + 2 * g->source_runs,
                               words + g->target_run + 2 * g->source_runs + g->target_runs};
    const uint id = (uint)get_local_id(0);
    const bool leads = id == IPT_GROUP_SIZE - 1; /* has the least to list */
    volatile __global uint *control = workspace + g->control_base;
    /* With a single array, the assignment of boxes does not matter: see panel.cl. */
    const bool single = g->waits && g->probe_polls == 0 && g->tickets == g->chunks;
    const uint arrays = g->tickets / g->chunks;
    uint own_ticket = 0;
    if (leads)
        own_ticket = ipt_take_ticket(control, shared, single, g);
    ipt_list_source(&tables, g);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint ticket = shared[IPT_SHARED_TICKET] & ~IPT_CLOSED;
    const bool active = shared[IPT_SHARED_TICKET] < IPT_CLOSED;
    const uint m = ipt_divide32(ticket, IPT_DIVISOR(g->chunks));
    __global ipt_unit *array = matrix + g->base + m * g->matrix_stride;

    ipt_box its;
    ipt_place_box(&its, array, m, ticket - m * g->chunks, g);
#if IPT_CROSSING == IPT_ANYWHERE
    tile += ipt_units_cut(its.source);
#endif
    if (active)
        ipt_fetch_box(&its, tile, &tables, ipt_box_together(array, g->source_together), g);
    ipt_list_target(&tables, g);
    ipt_fetch_wait();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (leads && g->waits) {
        const ipt_waiter waiter = {control, m, g->chunks, g->polls};
        volatile __global uint *counter = &control[IPT_LINE_WORDS * (m + 1)];
        const bool counts = active && own_ticket < IPT_CLOSED;
        if (counts)
            ipt_count_read(counter);
        const bool go = counts && ipt_wait(&waiter, counter, g->chunks);
        shared[IPT_SHARED_GO] = go;
        uint left = arrays;
        if (counts && !go && atomic_inc(&control[IPT_DEPARTED]) == 0)
            left = (ipt_poll(&control[IPT_CLOSED_AT]) - 1) / g->chunks;
        shared[IPT_SHARED_LEFT] = left;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint number = ticket * IPT_GROUP_SIZE + id;
    if (g->waits && g->probe_polls == 0 && number < g->clear_words)
        workspace[g->clear_base + number] = 0;
    if (active && shared[IPT_SHARED_GO] != 0)
        ipt_store_box(&its, tile, &tables, ipt_box_together(array, g->target_together), g);
    for (uint left = g->waits ? shared[IPT_SHARED_LEFT] : arrays; left < arrays; ++left)
        ipt_permute_alone(matrix + g->base + left * g->matrix_stride, left * g->array_units, workspace + g->alone_base,
                          g);
}
