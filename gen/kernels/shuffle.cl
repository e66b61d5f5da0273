/* 100!: moves super-elements along the cycles of the permutation, each work-group following chains of its own.
 *
 * One bit per slot. Invariant: a bit set by anyone but the one who is to write the slot means that the slot's original
 * content has arrived with its holder. Only the holder of the content that belongs into a slot writes it, and only
 * after the bit was seen set, or set by the holder. So
 * - a chain starts at a clear bit: load, wait for arrival, then claim; a lost claim drops the value;
 * - a chain that holds what belongs into slot q loads q, waits for arrival, claims q, writes q; it goes on with q's old
 * content if its claim was the first, and ends if it was not, because then somebody else holds that content. Flags are
 * cleared by an earlier command and are never read but by atomics. No work-group ever waits for another. */
#if !defined(IPT_INDEX_BITS) || !defined(IPT_INNER) || !defined(IPT_MEMORY_MODEL)
#error "IPT_INDEX_BITS, IPT_INNER and IPT_MEMORY_MODEL must be defined"
#endif

/* One work-item is a work-group on CPUs: nothing to wait for, and no barrier in a loop. */
#if IPT_GROUP_SIZE == 1
#define IPT_BARRIER()
#else
#define IPT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

/* Sets bits in a flag word, once all that this work-group loaded before has arrived in local memory, and tells every
 * work-item what the word was. One work-item asks and hands the answer round: work-items that read it each for
 * themselves would see different values. */
uint ipt_claim(volatile __global uint *word, uint bits, __local uint *answer)
{
    IPT_BARRIER();
    if (get_local_id(0) == 0) {
        IPT_FENCE_DEVICE();
        *answer = atomic_or(word, bits);
        IPT_FENCE_DEVICE();
    }
    IPT_BARRIER();
    const uint old = *answer;
    IPT_BARRIER();
    return old;
}

/* Where unit k of a super-element that is written comes from in the one that was read. */
#if IPT_INNER
#define IPT_FROM(k) ipt_inner_from(k, inner_rows, inner_cols, element_units)
uint ipt_inner_from(uint k, uint inner_rows, uint inner_cols, uint element_units)
{
    const uint element = k / element_units, part = k % element_units;
    return (element % inner_rows * inner_cols + element / inner_rows) * element_units + part;
}
#else
#define IPT_FROM(k) (k)
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_shuffle(__global ipt_unit *matrix, __global uint *all_flags, __local ipt_unit *held IPT_ARGUMENTS)
{
    __local uint answer;
    const uint lane = get_local_id(0);

    for (ulong w = get_group_id(0); w < total_words; w += get_num_groups(0)) {
        const ulong domain = w / words;
        const ulong piece = domain % pieces, instance = domain / pieces;
        const ulong m = instance / instances_per_matrix;
        __global ipt_unit *grid = matrix + base + m * matrix_stride +
                                  (instance - m * instances_per_matrix) * instance_stride + piece * piece_units;
        const uint units = (uint)min((ulong)piece_units, super_units - piece * piece_units);
        volatile __global uint *flags = all_flags + flags_base + domain * words;
        const ulong first = (w - domain * words) * 32, left = slots - first;

        uint open = (left < 32 ? (1u << left) - 1u : ~0u);
        open &= ~ipt_claim(&flags[first / 32], 0, &answer);
        while (open != 0) {
            const uint bit = 31 - clz(open & (0u - open));
            ipt_index slot = (ipt_index)first + bit;
            ulong address =
                ipt_slot_address(slot, row_slots, row_slots_magic, row_slots_shift, row_stride, super_units);
            uint side = 0;
            for (uint k = lane; k < units; k += IPT_GROUP_SIZE)
                held[k] = grid[address + k];
            const uint before = ipt_claim(&flags[first / 32], 1u << bit, &answer);
            open &= ~(before | 1u << bit);
            bool going = (before >> bit & 1u) == 0;
            while (going) {
                slot = ipt_slot_target(slot, rows, cols, cols_magic, cols_shift);
                address = ipt_slot_address(slot, row_slots, row_slots_magic, row_slots_shift, row_stride, super_units);
                for (uint k = lane; k < units; k += IPT_GROUP_SIZE)
                    held[(1 - side) * piece_units + k] = grid[address + k];
                going = (ipt_claim(&flags[slot / 32], 1u << (slot % 32), &answer) >> (slot % 32) & 1u) == 0;
                for (uint k = lane; k < units; k += IPT_GROUP_SIZE)
                    grid[address + k] = held[side * piece_units + IPT_FROM(k)];
#if IPT_INNER
                IPT_BARRIER(); /* other work-items' units were read: they may be replaced only now */
#endif
                side = 1 - side;
            }
        }
    }
}
