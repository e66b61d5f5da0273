/* Transposition 100!: moves super-elements along the cycles of the permutation. Each worker follows its own chains. A
 * worker is a work-group, a SIMD unit of a work-group, or a part of one.
 *
 * Each slot has a flag. Invariant: a set flag means that a worker has loaded the slot's original content, or that the
 * slot's writer has set the flag. The writer is the worker that has the content for the slot. It writes after it has
 * seen the flag set, or has set the flag. So:
 * - A chain starts at a clear flag: load, wait for arrival, claim. If the claim fails, the worker drops the value.
 * - A chain with the content for slot q loads q, waits for arrival, claims q and writes q. If its claim was the first,
 * it continues with q's old content. Otherwise another worker holds that content, and the chain ends.
 *
 * An earlier command clears the flags. Only atomics read them. No worker waits for another. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/single.cl"
#include "parts/slots.cl"
#include "parts/sync.cl"
#include "parts/registers.cl"
#include "parts/inner.cl"
#include "parts/pieces.cl"

#if !defined(IPT_INDEX_BITS) || !defined(IPT_INNER) || !defined(IPT_MEMORY_MODEL) || !defined(IPT_LANES) ||            \
    !defined(IPT_REGISTERS) || !defined(IPT_FLAG_SPREAD)
#error "IPT_INDEX_BITS, IPT_INNER, IPT_MEMORY_MODEL, IPT_LANES, IPT_REGISTERS and IPT_FLAG_SPREAD must be defined"
#endif

#if IPT_GROUP_SIZE == IPT_LANES
#define IPT_WORKER 0u
#define IPT_LANE ((uint)get_local_id(0))
#else
#define IPT_WORKER ((uint)get_local_id(0) / IPT_LANES)
#define IPT_LANE ((uint)get_local_id(0) % IPT_LANES)
#endif
#define IPT_WORKERS (IPT_GROUP_SIZE / IPT_LANES)

/* With PTX, the workers of a work-group synchronise separately. Elsewhere they do so together: a work-group is one SIMD
 * unit then, whose barriers cost little, and all of its workers take the same turns of each loop. */
#if IPT_WORKERS > 1 && IPT_MEMORY_MODEL != 2
#define IPT_TOGETHER 1
#else
#define IPT_TOGETHER 0
#endif

/* A worker of one work-item, as on CPUs, needs no barrier. */
#if IPT_GROUP_SIZE == 1
#define IPT_BARRIER()
#elif IPT_GROUP_SIZE == IPT_LANES || IPT_TOGETHER
#define IPT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define IPT_BARRIER()                                                                                                  \
    __asm__ volatile(                                                                                                  \
        "bar.warp.sync %0;" ::"r"((~0u >> (32 - IPT_LANES)) << (get_local_id(0) % 32 / IPT_LANES * IPT_LANES))         \
        : "memory")
#endif

/* Whether local memory has gaps: see parts/inner.cl. */
#define IPT_PADDED (IPT_INNER && IPT_LANES > 1)

#define IPT_WORD_FLAGS (32u / IPT_FLAG_SPREAD) /* flags in a word, in its lowest bits */

/* Waits until this worker's loads have arrived, sets bits in a flag word, and returns the word's old value to all its
 * work-items. One work-item claims and shares the value: separate reads would return different values. */
IPT_FUNCTION uint ipt_claim(volatile __global uint *word, uint bits, __local uint *answer)
{
    IPT_BARRIER();
    if (IPT_LANE == 0) {
        IPT_FENCE_DEVICE();
        *answer = atomic_or(word, bits);
        IPT_FENCE_DEVICE();
    }
    IPT_BARRIER();
    const uint old = *answer;
    IPT_BARRIER();
    return old;
}

/* Whether the vote of one of the workers that synchronise together is true. */
#if IPT_TOGETHER
IPT_FUNCTION bool ipt_any(bool vote, __local uint *votes)
{
    if (IPT_LANE == 0)
        votes[IPT_WORKER] = vote;
    IPT_BARRIER();
    uint any = 0;
    for (uint k = 0; k < IPT_WORKERS; ++k)
        any |= votes[k];
    IPT_BARRIER();
    return any != 0;
}
#define IPT_ANY(vote) ipt_any(vote, votes)
#else
#define IPT_ANY(vote) (vote)
#endif

#if IPT_REGISTERS
/* Loads a piece into registers and waits for arrival. Without the fence, a register that is unused before the claim may
 * arrive after it. */
IPT_FUNCTION void ipt_load(ipt_unit *to, __global ipt_unit *from, uint lane, uint units)
{
#pragma unroll 8
    for (uint r = 0; r < IPT_REGISTERS; ++r)
        if (lane + r * IPT_LANES < units)
            to[r] = from[lane + r * IPT_LANES];
    IPT_FENCE_DEVICE();
}

/* Stores a piece from registers, and keeps the next one there. */
IPT_FUNCTION void ipt_store(__global ipt_unit *to, ipt_unit *held, const ipt_unit *coming, uint lane, uint units)
{
#pragma unroll 8
    for (uint r = 0; r < IPT_REGISTERS; ++r) {
        if (lane + r * IPT_LANES < units)
            to[lane + r * IPT_LANES] = held[r];
        held[r] = coming[r];
    }
}
#else
/* Loads a piece into local memory. */
IPT_FUNCTION void ipt_load(__local ipt_unit *to, __global ipt_unit *from, uint lane, uint units)
{
#ifdef IPT_AS_C /* local memory is as any other */
    ipt_copy_run(to, from, lane, units);
#else
    for (uint k = lane; k < units; k += IPT_LANES)
        to[ipt_held_at(k, IPT_PADDED)] = from[k];
#endif
}

/* Stores a piece from local memory. */
IPT_FUNCTION void ipt_store(__global ipt_unit *to, __local const ipt_unit *from, uint lane, uint units)
{
#ifdef IPT_AS_C
    ipt_copy_run(to, from, lane, units);
#else
    for (uint k = lane; k < units; k += IPT_LANES)
        to[k] = from[k];
#endif
}
#endif

/* A word of flags: those of the grid that it belongs to, and the slots that it has flags for. */
typedef struct ipt_word {
    __global ipt_unit *grid;
    volatile __global uint *flags;
    ulong word;       /* among these flags */
    uint units, open; /* of a piece; bits */
} ipt_word;

IPT_FUNCTION void ipt_find_word(ipt_word *of, __global ipt_unit *matrix, __global uint *all_flags, ulong w,
                                const ipt_given *g)
{
    const ulong domain = w / g->words;
    const ulong piece = domain % g->pieces, instance = domain / g->pieces;
    const ulong m = instance / g->instances_per_matrix;
    of->grid = matrix + g->base + m * g->matrix_stride + (instance - m * g->instances_per_matrix) * g->instance_stride +
               piece * g->piece_units;
    of->flags = all_flags + g->flags_base + domain * g->words;
    of->word = w - domain * g->words;
    of->units = (uint)min((ulong)g->piece_units, g->super_units - piece * g->piece_units);
    of->open = ~0u >> (32 - (uint)min((ulong)IPT_WORD_FLAGS, g->grid_slots - of->word * IPT_WORD_FLAGS));
}

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_shuffle(__global ipt_unit *matrix, __global uint *all_flags IPT_LOCAL_PARAMETER(ipt_unit, all_held) IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_NAME_LOCAL(ipt_unit, all_held)
    IPT_LOCAL_ARRAY uint answers[IPT_WORKERS];
    __local uint *answer = &answers[IPT_WORKER];
#if IPT_TOGETHER
    IPT_LOCAL_ARRAY uint votes[IPT_WORKERS];
#endif
    const uint lane = IPT_LANE;
#if IPT_INNER
    ipt_inner inner;
    if (IPT_TURNS)
        ipt_find_inner(&inner, lane, g->inner_rows, g->inner_cols, g->element_units);
#endif
#if IPT_REGISTERS
    ipt_unit held[IPT_REGISTERS], coming[IPT_REGISTERS];
#else
    __local ipt_unit *own = all_held + IPT_WORKER * 2 * ipt_held_at(g->piece_units, IPT_PADDED);
#endif

    /* A worker without a word, a start or a chain still takes part in its work-group's turns, without an effect. */
    for (ulong next = (ulong)get_group_id(0) * IPT_WORKERS + IPT_WORKER; IPT_ANY(next < g->total_words);
         next += (ulong)get_num_groups(0) * IPT_WORKERS) {
        const ulong w = IPT_TOGETHER ? min(next, g->total_words - 1) : next;
        ipt_word of;
        ipt_find_word(&of, matrix, all_flags, w, g);
        const uint units = of.units;
        uint open = of.open & ~ipt_claim(&of.flags[of.word], 0, answer);
        if (IPT_TOGETHER && w != next)
            open = 0;
        while (IPT_ANY(open != 0)) {
            const bool starts = !IPT_TOGETHER || open != 0;
            const uint bit = starts ? 31 - clz(open & (0u - open)) : 0;
            ipt_index slot = (ipt_index)(of.word * IPT_WORD_FLAGS) + bit;
            ulong address = ipt_slot_address(slot, IPT_DIVISOR(g->row_slots), g->row_stride, g->super_units);
#if !IPT_REGISTERS
            __local ipt_unit *held = own, *coming = own + ipt_held_at(g->piece_units, IPT_PADDED);
#endif
            ipt_load(held, of.grid + address, lane, starts ? units : 0);
            const uint before = ipt_claim(&of.flags[of.word], (uint)starts << bit, answer);
            open &= ~(before | 1u << bit);
            bool going = starts && (before >> bit & 1u) == 0;
            while (IPT_ANY(going)) {
                const bool moves = !IPT_TOGETHER || going;
                slot = ipt_slot_target(slot, g->rows, IPT_DIVISOR(g->cols));
                address = ipt_slot_address(slot, IPT_DIVISOR(g->row_slots), g->row_stride, g->super_units);
#if IPT_GROUP_SIZE == 1 /* CPUs do not foresee where a chain goes */
                const ipt_index after = ipt_slot_target(slot, g->rows, IPT_DIVISOR(g->cols));
                ipt_prefetch_run(
                    of.grid + ipt_slot_address(after, IPT_DIVISOR(g->row_slots), g->row_stride, g->super_units), units);
#endif
                ipt_load(coming, of.grid + address, lane, moves ? units : 0);
                const uint flag = (uint)(slot % IPT_WORD_FLAGS);
                const uint old = ipt_claim(&of.flags[slot / IPT_WORD_FLAGS], (uint)moves << flag, answer);
                going = moves && (old >> flag & 1u) == 0;
#if IPT_REGISTERS
                ipt_store(of.grid + address, held, coming, lane, moves ? units : 0);
#else
                if (!IPT_TURNS)
                    ipt_store(of.grid + address, held, lane, moves ? units : 0);
#if IPT_INNER
                if (IPT_TURNS && moves)
                    ipt_store_inner(of.grid + address, held, lane, &inner, IPT_PADDED);
                IPT_BARRIER(); /* work-items have read each other's units: the next load may overwrite them */
#endif
                __local ipt_unit *done = held;
                held = coming;
                coming = done;
#endif
            }
        }
    }
}
