/* 100! by sub-groups: what shuffle.cl does, with several chains to a sub-group, their super-elements in registers, and
 * the load of a slot under way together with its claim. The unit is a word; memory is moved by quanta of four, aligned
 * as such, whatever the alignment of the slots.
 *
 * The invariant is shuffle.cl's: a bit set by anyone but the one who is to write the slot means that the slot's
 * original content has arrived with its holder. Whoever holds what belongs into slot q is the only one who may write q,
 * so q may be loaded and claimed at the same time, because each work-item stores only words of q that the same
 * work-item loaded. But whoever starts a chain must have loaded its first slot before the claim: the load is issued in
 * one step, and the claim, which depends on a vote on all that was loaded, in the next. */
#if !defined(IPT_INDEX_BITS) || !defined(IPT_LANES) || !defined(IPT_REGISTERS) || !defined(IPT_CHAINS) ||              \
    !defined(IPT_SUB_GROUP)
#error "IPT_INDEX_BITS, IPT_LANES, IPT_REGISTERS, IPT_CHAINS and IPT_SUB_GROUP must be defined"
#endif

#if IPT_SUB_GROUP == 1 /* PTX */
#define IPT_LANE (get_local_id(0) % IPT_LANES)
#define IPT_SUB_GROUP_ID (get_local_id(0) / IPT_LANES)
uint ipt_shuffle(uint value, uint lane)
{
    uint result;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(lane));
    return result;
}
uint ipt_ballot(bool vote)
{
    uint result;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                     : "=r"(result)
                     : "r"((uint)vote));
    return result;
}
#define IPT_SHUFFLE(value, lane) ipt_shuffle(value, lane)
#define IPT_BALLOT(vote) ipt_ballot(vote)
#elif IPT_SUB_GROUP == 2 || IPT_SUB_GROUP == 3 /* cl_khr_subgroups with shuffles, cl_intel_subgroups */
#define IPT_LANE get_sub_group_local_id()
#define IPT_SUB_GROUP_ID get_sub_group_id()
#if IPT_SUB_GROUP == 2
#define IPT_SHUFFLE(value, lane) sub_group_shuffle(value, lane)
#else
#define IPT_SHUFFLE(value, lane) intel_sub_group_shuffle(value, lane)
#endif
#define IPT_BALLOT(vote) sub_group_reduce_add((vote) ? 1u << IPT_LANE : 0u)
#else /* a work-group is what a sub-group would be */
#define IPT_LANE get_local_id(0)
#define IPT_SUB_GROUP_ID 0u
uint ipt_shuffle(__local uint *exchange, uint value, uint lane)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    exchange[get_local_id(0)] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return exchange[lane];
}
uint ipt_ballot(__local uint *exchange, bool vote)
{
    uint result = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    exchange[get_local_id(0)] = vote;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < IPT_LANES; ++i)
        result |= exchange[i] << i;
    return result;
}
#define IPT_SHUFFLE(value, lane) ipt_shuffle(exchange, value, lane)
#define IPT_BALLOT(vote) ipt_ballot(exchange, vote)
#endif

enum { IPT_IDLE, IPT_LOADED, IPT_GOING }; /* what a chain does: nothing, hold a first slot that is not claimed, go on */

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_chains(__global uint *matrix, __global uint *workspace IPT_ARGUMENTS)
{
#if IPT_SUB_GROUP == 0
    __local uint exchange[IPT_LANES];
#endif
    const uint lane = IPT_LANE;
    const uint before = (lane + IPT_LANES - 1) % IPT_LANES, behind = (lane + 1) % IPT_LANES;
    const uint sub_groups = IPT_GROUP_SIZE / IPT_LANES;
    const ulong number = (ulong)get_group_id(0) * sub_groups + IPT_SUB_GROUP_ID;
    const ulong everyone = (ulong)get_num_groups(0) * sub_groups;

    /* The gaps between the rows of slots: to the workspace, or from it. No slot touches them. */
    for (ulong row = number; row < gap_rows; row += everyone) {
        const ulong m = ipt_divide64(row, gap_rows_each_magic, gap_rows_each_shift),
                    in_matrix = row - m * gap_rows_each;
        __global uint *gap = matrix + base + m * matrix_stride + in_matrix * row_stride + gap_begin;
        __global uint *saved = workspace + saved_base + m * saved_stride + in_matrix * gap_units;
        for (uint i = lane; i < gap_units; i += IPT_LANES)
            if (gap_restore)
                gap[i] = saved[i];
            else
                saved[i] = gap[i];
    }

    /* Each sub-group starts chains in a run of flag words of its own. */
    const ulong all_end = min(total_words, (number + 1) * words_each);
    for (ulong w = min(total_words, number * words_each); w < all_end;) {
        const ulong domain = w / words;
        const ulong piece = domain % pieces, instance = domain / pieces;
        const ulong m = instance / instances_per_matrix;
        const ulong low = base + m * matrix_stride, high = low + matrix_units;
        const ulong grid = low + (instance - m * instances_per_matrix) * instance_stride + piece * piece_units;
        const uint units = (uint)min((ulong)piece_units, super_units - piece * piece_units);
        volatile __global uint *flags = workspace + flags_base + domain * words;
        const ulong end = min(all_end, (domain + 1) * words) - domain * words;
        ulong next = w - domain * words;
        w = domain * words + end;

        uint4 held[IPT_CHAINS][IPT_REGISTERS], incoming[IPT_CHAINS][IPT_REGISTERS];
        ipt_index slot[IPT_CHAINS];
        ulong address[IPT_CHAINS];
        uint shift[IPT_CHAINS]; /* words of the held quanta before the super-element */
        uint state[IPT_CHAINS];
        uint open = 0;       /* clear bits in this lane's flag word */
        ulong word = 0;      /* which one that is */
        uint candidates = 0; /* lanes with open bits */
#pragma unroll IPT_CHAINS
        for (uint c = 0; c < IPT_CHAINS; ++c) {
            state[c] = IPT_IDLE;
            slot[c] = 0;
            address[c] = 0;
            shift[c] = 0;
        }

        for (;;) {
            if (candidates == 0 && next < end) {
                word = next + lane;
                const ulong left = word < end ? slots - word * 32 : 0;
                open = left == 0 ? 0 : (left < 32 ? (1u << left) - 1 : ~0u) & ~ipt_poll(&flags[word]);
                next += IPT_LANES;
                candidates = IPT_BALLOT(open != 0);
            }

            /* Where each chain goes, and the load of that slot. */
            uint due = 0, started = 0, going = 0;
            ipt_index due_slot = 0;
            uint mixed = 0;
#pragma unroll IPT_CHAINS
            for (uint c = 0; c < IPT_CHAINS; ++c) {
                bool load = false;
                if (state[c] == IPT_GOING) {
                    slot[c] = ipt_slot_target(slot[c], rows, cols, cols_magic, cols_shift);
                    going |= 1u << c;
                    load = true;
                } else if (state[c] == IPT_LOADED) {
#pragma unroll IPT_REGISTERS
                    for (uint r = 0; r < IPT_REGISTERS; ++r)
                        mixed |= held[c][r].x ^ held[c][r].y ^ held[c][r].z ^ held[c][r].w;
                } else if (candidates != 0) {
                    const uint from = 31 - clz(candidates & (0u - candidates));
                    const uint bits = IPT_SHUFFLE(open, from);
                    slot[c] = (ipt_index)(IPT_SHUFFLE((uint)word, from)) * 32 + (31 - clz(bits & (0u - bits)));
                    if (lane == from)
                        open &= open - 1;
                    if ((bits & (bits - 1)) == 0)
                        candidates &= candidates - 1;
                    started |= 1u << c;
                    load = true;
                }
                if (state[c] != IPT_IDLE) {
                    due |= 1u << c;
                    due_slot = lane == c ? slot[c] : due_slot;
                }
                if (load) {
                    address[c] = grid + ipt_slot_address(slot[c], row_slots, row_slots_magic, row_slots_shift,
                                                         row_stride, super_units);
                    const uint in_quantum = (uint)address[c] & 3;
                    const ulong first = address[c] - in_quantum;
                    const uint count = (in_quantum + units + 3) / 4;
                    const bool inside = first >= low && first + count * 4 <= high;
#pragma unroll IPT_REGISTERS
                    for (uint r = 0; r < IPT_REGISTERS; ++r) {
                        const uint q = r * IPT_LANES + lane;
                        const ulong at = first + q * 4;
                        if (q >= count)
                            continue;
                        if (inside) {
                            incoming[c][r] = *(__global uint4 *)(matrix + at);
                        } else {
                            if (at >= low && at < high)
                                incoming[c][r].x = matrix[at];
                            if (at + 1 >= low && at + 1 < high)
                                incoming[c][r].y = matrix[at + 1];
                            if (at + 2 >= low && at + 2 < high)
                                incoming[c][r].z = matrix[at + 2];
                            if (at + 3 >= low && at + 3 < high)
                                incoming[c][r].w = matrix[at + 3];
                        }
                    }
                }
            }
            if ((due | started) == 0)
                break;

            /* One lane claims for one chain. `zero` is 0, which the compiler cannot know: the claims wait for the vote.
             */
            const uint arrived = IPT_BALLOT(mixed == 0x9e3779b9u) & zero;
            uint set = 0;
            if (due >> lane & 1u)
                set = atomic_or(&flags[due_slot / 32], 1u << due_slot % 32 | arrived) >> due_slot % 32 & 1u;
            const uint fresh = open != 0 ? ipt_poll(&flags[word]) : 0;
            const uint lost = IPT_BALLOT(set != 0);
            const ulong claimed = lost & zero; /* and the stores for the claims */

#pragma unroll IPT_CHAINS
            for (uint c = 0; c < IPT_CHAINS; ++c) {
                if (going >> c & 1u) {
                    const uint in_quantum = (uint)address[c] & 3;
                    const int moved = (int)in_quantum - (int)shift[c];
                    uint4 out[IPT_REGISTERS];
                    if (moved == 0) {
#pragma unroll IPT_REGISTERS
                        for (uint r = 0; r < IPT_REGISTERS; ++r)
                            out[r] = held[c][r];
                    } else if (moved > 0) {
                        uint4 under = 0;
#pragma unroll IPT_REGISTERS
                        for (uint r = 0; r < IPT_REGISTERS; ++r) {
                            const uint4 own = held[c][r];
                            uint4 turned = 0;
                            turned.w = IPT_SHUFFLE(own.w, before);
                            if (moved > 1)
                                turned.z = IPT_SHUFFLE(own.z, before);
                            if (moved > 2)
                                turned.y = IPT_SHUFFLE(own.y, before);
                            const uint4 near = lane == 0 ? under : turned;
                            under = turned;
                            out[r] = moved == 1   ? (uint4)(near.w, own.x, own.y, own.z)
                                     : moved == 2 ? (uint4)(near.z, near.w, own.x, own.y)
                                                  : (uint4)(near.y, near.z, near.w, own.x);
                        }
                    } else {
                        uint4 above = 0;
#pragma unroll IPT_REGISTERS
                        for (uint n = 0; n < IPT_REGISTERS; ++n) {
                            const uint r = IPT_REGISTERS - 1 - n;
                            const uint4 own = held[c][r];
                            uint4 turned = 0;
                            turned.x = IPT_SHUFFLE(own.x, behind);
                            if (moved < -1)
                                turned.y = IPT_SHUFFLE(own.y, behind);
                            if (moved < -2)
                                turned.z = IPT_SHUFFLE(own.z, behind);
                            const uint4 near = lane == IPT_LANES - 1 ? above : turned;
                            above = turned;
                            out[r] = moved == -1   ? (uint4)(own.y, own.z, own.w, near.x)
                                     : moved == -2 ? (uint4)(own.z, own.w, near.x, near.y)
                                                   : (uint4)(own.w, near.x, near.y, near.z);
                        }
                    }
                    __global uint *target = matrix + (address[c] - in_quantum + claimed);
                    const uint content_end = in_quantum + units;
#pragma unroll IPT_REGISTERS
                    for (uint r = 0; r < IPT_REGISTERS; ++r) {
                        const uint at = (r * IPT_LANES + lane) * 4;
                        if (at >= in_quantum && at + 4 <= content_end) {
                            *(__global uint4 *)(target + at) = out[r];
                        } else {
                            if (at >= in_quantum && at < content_end)
                                target[at] = out[r].x;
                            if (at + 1 >= in_quantum && at + 1 < content_end)
                                target[at + 1] = out[r].y;
                            if (at + 2 >= in_quantum && at + 2 < content_end)
                                target[at + 2] = out[r].z;
                            if (at + 3 >= in_quantum && at + 3 < content_end)
                                target[at + 3] = out[r].w;
                        }
                    }
                }
                if ((going | started) >> c & 1u) {
                    shift[c] = (uint)address[c] & 3;
#pragma unroll IPT_REGISTERS
                    for (uint r = 0; r < IPT_REGISTERS; ++r)
                        held[c][r] = incoming[c][r];
                }
                if (started >> c & 1u)
                    state[c] = IPT_LOADED;
                else if (due >> c & 1u)
                    state[c] = lost >> c & 1u ? IPT_IDLE : IPT_GOING;
            }
            open &= ~fresh;
            candidates = IPT_BALLOT(open != 0);
        }
    }
}
