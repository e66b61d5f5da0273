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
#else /* PTX: workers of a work-group synchronise separately */
#define IPT_WORKER ((uint)get_local_id(0) / IPT_LANES)
#define IPT_LANE ((uint)get_local_id(0) % IPT_LANES)
#endif
#define IPT_WORKERS (IPT_GROUP_SIZE / IPT_LANES)

/* A worker of one work-item, as on CPUs, needs no barrier. */
#if IPT_LANES == 1
#define IPT_BARRIER()
#elif IPT_GROUP_SIZE == IPT_LANES
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

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_shuffle(__global ipt_unit *matrix, __global uint *all_flags IPT_LOCAL_PARAMETER(ipt_unit, all_held) IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_NAME_LOCAL(ipt_unit, all_held)
    IPT_LOCAL_ARRAY uint answers[IPT_WORKERS];
    __local uint *answer = &answers[IPT_WORKER];
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

    for (ulong w = (ulong)get_group_id(0) * IPT_WORKERS + IPT_WORKER; w < g->total_words;
         w += (ulong)get_num_groups(0) * IPT_WORKERS) {
        const ulong domain = w / g->words;
        const ulong piece = domain % g->pieces, instance = domain / g->pieces;
        const ulong m = instance / g->instances_per_matrix;
        __global ipt_unit *grid = matrix + g->base + m * g->matrix_stride +
                                  (instance - m * g->instances_per_matrix) * g->instance_stride +
                                  piece * g->piece_units;
        const uint units = (uint)min((ulong)g->piece_units, g->super_units - piece * g->piece_units);
        volatile __global uint *flags = all_flags + g->flags_base + domain * g->words;
        const ulong word = w - domain * g->words, first = word * IPT_WORD_FLAGS, left = g->grid_slots - first;

        uint open = ~0u >> (32 - (uint)min((ulong)IPT_WORD_FLAGS, left));
        open &= ~ipt_claim(&flags[word], 0, answer);
        while (open != 0) {
            const uint bit = 31 - clz(open & (0u - open));
            ipt_index slot = (ipt_index)first + bit;
            ulong address = ipt_slot_address(slot, IPT_DIVISOR(g->row_slots), g->row_stride, g->super_units);
#if !IPT_REGISTERS
            __local ipt_unit *held = own, *coming = own + ipt_held_at(g->piece_units, IPT_PADDED);
#endif
            ipt_load(held, grid + address, lane, units);
            const uint before = ipt_claim(&flags[word], 1u << bit, answer);
            open &= ~(before | 1u << bit);
            bool going = (before >> bit & 1u) == 0;
            while (going) {
                slot = ipt_slot_target(slot, g->rows, IPT_DIVISOR(g->cols));
                address = ipt_slot_address(slot, IPT_DIVISOR(g->row_slots), g->row_stride, g->super_units);
#if IPT_GROUP_SIZE == 1 /* CPUs do not foresee where a chain goes */
                const ipt_index after = ipt_slot_target(slot, g->rows, IPT_DIVISOR(g->cols));
                ipt_prefetch_run(
                    grid + ipt_slot_address(after, IPT_DIVISOR(g->row_slots), g->row_stride, g->super_units), units);
#endif
                ipt_load(coming, grid + address, lane, units);
                const uint flag = (uint)(slot % IPT_WORD_FLAGS);
                going = (ipt_claim(&flags[slot / IPT_WORD_FLAGS], 1u << flag, answer) >> flag & 1u) == 0;
#if IPT_REGISTERS
#pragma unroll 8
                for (uint r = 0; r < IPT_REGISTERS; ++r) {
                    if (lane + r * IPT_LANES < units)
                        grid[address + lane + r * IPT_LANES] = held[r];
                    held[r] = coming[r];
                }
#else
                if (!IPT_TURNS)
                    ipt_store(grid + address, held, lane, units);
#if IPT_INNER
                if (IPT_TURNS)
                    ipt_store_inner(grid + address, held, lane, &inner, IPT_PADDED);
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
