/* Transposition 100! by sub-groups. The algorithm is that of shuffle.cl with two changes: a sub-group follows several
 * chains, and it loads and claims a slot at the same time. Fetches are aligned vectors, whatever the alignment of the
 * slots.
 *
 * Invariant, as in shuffle.cl: a set flag means that a sub-group has loaded the slot's original content, or that the
 * slot's writer has set the flag. Only the sub-group with the content for slot q writes q. So it may load and claim q
 * at the same time. It writes q after all its work-items' loads have arrived in local memory and the claim has
 * returned. The start of a chain is different: the first slot must be loaded before it is claimed. One step loads the
 * slot and ends when the data has arrived; the next step claims it. One work-item claims for a chain and broadcasts the
 * result. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/slots.cl"
#include "parts/sync.cl"
#include "parts/vectors.cl"

#if !defined(IPT_INDEX_BITS) || !defined(IPT_LANES) || !defined(IPT_PIECE_VECTORS) || !defined(IPT_CHAINS) ||          \
    !defined(IPT_SUB_GROUP)
#error "IPT_INDEX_BITS, IPT_LANES, IPT_PIECE_VECTORS, IPT_CHAINS and IPT_SUB_GROUP must be defined"
#endif

#if IPT_SUB_GROUP == 1 /* PTX: several in a work-group */
#define IPT_LANE (get_local_id(0) % IPT_LANES)
#define IPT_SUB_GROUP_ID (get_local_id(0) / IPT_LANES)
IPT_FUNCTION uint ipt_shuffle(uint value, uint lane)
{
    uint result;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(lane));
    return result;
}
IPT_FUNCTION uint ipt_ballot(bool vote)
{
    uint result;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                     : "=r"(result)
                     : "r"((uint)vote));
    return result;
}
#define IPT_SHUFFLE(value, lane) ipt_shuffle(value, lane)
#define IPT_BALLOT(vote) ipt_ballot(vote)
#define IPT_SUB_GROUP_BARRIER() __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#elif IPT_SUB_GROUP >= 2 /* a work-group is one sub-group of the device */
#if IPT_SUB_GROUP == 2
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#else
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#endif
#define IPT_LANE get_sub_group_local_id()
#define IPT_SUB_GROUP_ID 0u
#define IPT_SHUFFLE(value, lane) sub_group_broadcast(value, lane)
#define IPT_BALLOT(vote) sub_group_reduce_add((vote) ? 1u << lane : 0u)
#define IPT_SUB_GROUP_BARRIER() sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else /* a work-group replaces a sub-group */
#define IPT_LANE get_local_id(0)
#define IPT_SUB_GROUP_ID 0u
IPT_FUNCTION uint ipt_shuffle(__local uint *exchange, uint value, uint lane)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    exchange[get_local_id(0)] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return exchange[lane];
}
IPT_FUNCTION uint ipt_ballot(__local uint *exchange, bool vote)
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
#define IPT_SUB_GROUP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

#if IPT_SUB_GROUP == 3 && defined(cl_intel_required_subgroup_size)
#define IPT_SUB_GROUP_ATTRIBUTE __attribute__((intel_reqd_sub_group_size(IPT_LANES)))
#else
#define IPT_SUB_GROUP_ATTRIBUTE
#endif

/* Claims slots for one chain; returns the flag word before the claim. */
IPT_FUNCTION uint ipt_claim(volatile __global uint *word, uint bits)
{
#if IPT_MEMORY_MODEL == 3
    return atomic_fetch_or_explicit(IPT_ATOMIC(word), bits, memory_order_acq_rel, memory_scope_device);
#else
    return atomic_or(word, bits);
#endif
}

/* Fetches, with a sub-group, the vectors that contain the `units` units at `begin`. Units outside [low, high) are not
 * read. */
IPT_FUNCTION void ipt_fetch_piece(__local uint4 *to, __global ipt_unit *matrix, ulong begin, uint units, uint lane,
                                  ulong low, ulong high)
{
    const uint shift = (uint)begin & (IPT_VECTOR_UNITS - 1);
    const uint count = (shift + units + IPT_VECTOR_UNITS - 1) / IPT_VECTOR_UNITS;
    const ulong first = begin - shift;
    if (first >= low && first + count * IPT_VECTOR_UNITS <= high) {
        __global uint4 *from = (__global uint4 *)(matrix + first) + lane;
#pragma unroll 4
        for (uint q = 0; q < IPT_PIECE_VECTORS; q += IPT_LANES)
            if (lane + q < count)
                ipt_fetch_inside(to + lane + q, from + q);
    } else {
        for (uint q = lane; q < count; q += IPT_LANES)
            ipt_fetch(to + q, matrix, first / IPT_VECTOR_UNITS + q, low, high);
    }
}

/* Writes, with a sub-group, `units` units to target[begin]. They begin at unit `held` of `vectors`. */
IPT_FUNCTION void ipt_store_piece(__local uint4 *vectors, uint held, __global ipt_unit *target, ulong begin, uint units,
                                  uint lane)
{
#if IPT_UNIT_BYTES >= 4
    /* Writes vectors that are aligned in the target. Each is assembled from two neighbouring source vectors, rotated by
     * the difference of their offsets in words. Writing vectors takes a fourth of the instructions that words take:
     * notebook.md. */
    const uint words = units * (IPT_UNIT_BYTES / 4);
    const uint from = held * (IPT_UNIT_BYTES / 4) % 4, to = (uint)begin * (IPT_UNIT_BYTES / 4) % 4;
    const uint turn = (from - to) % 4, count = (to + words + 3) / 4;
    const int first = (int)(held / IPT_VECTOR_UNITS) - (from < to ? 1 : 0);
    __global uint4 *out = (__global uint4 *)(target + (begin - begin % IPT_VECTOR_UNITS)) + lane;
#pragma unroll 4
    for (uint q = 0; q < IPT_PIECE_VECTORS; q += IPT_LANES) {
        const int word = (int)(4 * (lane + q)) - (int)to; /* index in the piece */
        if (lane + q < count) {
            uint4 low = vectors[max(first + (int)(lane + q), 0)];
            if (turn != 0) {
                uint4 high = vectors[min(first + (int)(lane + q) + 1, 2 * IPT_CHAINS * IPT_PIECE_VECTORS - 1)];
                if (turn & 2) {
                    low = IPT_VECTOR(uint4)(low.z, low.w, high.x, high.y);
                    high.x = high.z;
                }
                if (turn & 1)
                    low = IPT_VECTOR(uint4)(low.y, low.z, low.w, high.x);
            }
            if (word >= 0 && word + 4 <= (int)words) {
                out[q] = low;
            } else {
                __global uint *one = (__global uint *)(out + q);
                if (word >= 0)
                    one[0] = low.x;
                if (word + 1 >= 0 && word + 1 < (int)words)
                    one[1] = low.y;
                if (word + 2 >= 0 && word + 2 < (int)words)
                    one[2] = low.z;
                if (word + 3 < (int)words)
                    one[3] = low.w;
            }
        }
    }
#else
    __local ipt_unit *from = (__local ipt_unit *)vectors + held;
    const uint before = (uint)begin % IPT_SECTOR_UNITS;
    __global ipt_unit *sectors = target + begin - before;
    for (uint at = lane; at < units + before; at += IPT_LANES)
        if (at - before < units)
            sectors[at] = from[at - before];
#endif
}

/* The half of a chain's vectors that does not hold unit `held`. */
#define IPT_OTHER_HALF(held) (1u - (held) / (IPT_PIECE_VECTORS * IPT_VECTOR_UNITS) % 2)

enum { IPT_IDLE, IPT_LOADED, IPT_GOING }; /* state of a chain: idle; its first slot loaded but not claimed; moving on */

#if IPT_SUB_GROUP >= 2
/* Writes the sub-group size to the workspace, and counts the work-items whose sub-group meets this kernel's needs. */
IPT_FUNCTION void ipt_report_sub_group(__global uint *workspace, uint lane, __local uint *exchange)
{
    const uint size = get_sub_group_size(), all = sub_group_reduce_add(lane < 32 ? 1u << lane : 0u),
               last = IPT_SHUFFLE(lane, size - 1);
    if (get_global_id(0) == 0)
        workspace[0] = size;
    if (size == IPT_LANES && get_num_sub_groups() == 1 && all == ~0u >> (32 - IPT_LANES) && last == size - 1)
        atomic_inc(&workspace[1]);
}
#endif

/* Saves or restores the gaps between the rows of slots. No slot overlaps a gap. number: the sub-group's number. */
IPT_INLINE void ipt_move_gaps(__global ipt_unit *matrix, __global uint *workspace, ulong number, uint lane,
                              const ipt_given *g)
{
    const ulong everyone = (ulong)get_num_groups(0) * (IPT_GROUP_SIZE / IPT_LANES);
    for (ulong row = number; row < g->gap_rows; row += everyone) {
        const ulong m = ipt_divide64(row, IPT_DIVISOR(g->gap_rows_each)), in_matrix = row - m * g->gap_rows_each;
        __global ipt_unit *gap = matrix + g->base + m * g->matrix_stride + in_matrix * g->row_stride + g->gap_begin;
        __global ipt_unit *saved =
            (__global ipt_unit *)workspace + g->saved_base + m * g->saved_stride + in_matrix * g->gap_units;
        for (uint i = lane; i < g->gap_units; i += IPT_LANES)
            if (g->gap_restore)
                gap[i] = saved[i];
            else
                saved[i] = gap[i];
    }
}

/* A sub-group's search for slots at which chains start. */
typedef struct ipt_search {
    ulong next, end; /* flag words that no lane has read yet */
    uint own;        /* the sub-group's bits in each word */
    uint open;       /* clear bits in this lane's flag word */
    ulong word;      /* index of this lane's flag word */
    uint candidates; /* lanes with open bits */
} ipt_search;

/* Reads flag words until one has clear bits. */
IPT_INLINE void ipt_find_candidates(ipt_search *search, volatile __global uint *flags, uint lane,
                                    __local uint *exchange, const ipt_given *g)
{
    while (search->candidates == 0 && search->next < search->end) {
        search->word = search->next + lane;
        const ulong left = search->word < search->end ? g->grid_slots - search->word * 32 : 0;
        search->open =
            left == 0 ? 0 : (left < 32 ? (1u << left) - 1 : ~0u) & search->own & ~ipt_glance(&flags[search->word]);
        search->next += IPT_LANES;
        search->candidates = IPT_BALLOT(search->open != 0);
    }
}

/* Assigns slots whose flags look clear to idle chains. Returns true in the lane of a chain that starts at *slot. */
IPT_INLINE bool ipt_start_chains(ipt_search *search, bool idle_chain, ipt_index *slot, uint lane,
                                 __local uint *exchange)
{
    bool started = false;
    uint idle = IPT_BALLOT(idle_chain);
    while (idle != 0 && search->candidates != 0) {
        const uint from = 31 - clz(search->candidates & (0u - search->candidates)), to = 31 - clz(idle & (0u - idle));
        const uint bits = IPT_SHUFFLE(search->open, from);
        const uint first = IPT_SHUFFLE((uint)search->word, from);
        if (lane == to) {
            *slot = (ipt_index)first * 32 + (31 - clz(bits & (0u - bits)));
            started = true;
        }
        if (lane == from)
            search->open &= search->open - 1;
        if ((bits & (bits - 1)) == 0)
            search->candidates &= search->candidates - 1;
        idle &= idle - 1;
    }
    return started;
}

/* A domain: one piece of each slot of an instance, with its own flags. */
typedef struct ipt_domain {
    ulong low, high; /* the matrix */
    ulong grid;
    uint units; /* of a piece */
    volatile __global uint *flags;
} ipt_domain;

IPT_INLINE void ipt_find_domain(ipt_domain *domain, __global uint *workspace, ulong number, const ipt_given *g)
{
    const ulong piece = number % g->pieces, instance = number / g->pieces;
    const ulong m = instance / g->instances_per_matrix;
    domain->low = g->base + m * g->matrix_stride;
    domain->high = domain->low + g->matrix_units;
    domain->grid = domain->low + (instance - m * g->instances_per_matrix) * g->instance_stride + piece * g->piece_units;
    domain->units = (uint)min((ulong)g->piece_units, g->super_units - piece * g->piece_units);
    domain->flags = workspace + g->flags_base + number * g->words;
}

/* Moves the super-elements of a domain's chains. */
IPT_INLINE void ipt_follow_chains(__global ipt_unit *matrix, __local uint4 *vectors, const ipt_domain *domain,
                                  ipt_search *search, uint lane, __local uint *exchange, const ipt_given *g)
{
    /* Lane c holds the state of chain c. */
    uint held[IPT_CHAINS]; /* where each chain's piece begins: units in `vectors` */
#pragma unroll 8
    for (uint c = 0; c < IPT_CHAINS; ++c)
        held[c] = 2 * c * IPT_PIECE_VECTORS * IPT_VECTOR_UNITS;
    uint state = IPT_IDLE;
    ipt_index slot = 0;
    ulong address = 0; /* of the slot to load */

    for (;;) {
        ipt_find_candidates(search, domain->flags, lane, exchange, g);

        /* A chain moves on to its next slot, or starts at a slot whose flag looks clear. */
        const bool due = state != IPT_IDLE, going = state == IPT_GOING;
        const bool started = ipt_start_chains(search, !due && lane < IPT_CHAINS, &slot, lane, exchange);
        if (going)
            slot = ipt_slot_target(slot, g->rows, IPT_DIVISOR(g->cols));
        if (going || started)
            address = domain->grid + ipt_slot_address(slot, IPT_DIVISOR(g->row_slots), g->row_stride, g->super_units);
        const uint loading = IPT_BALLOT(going || started), storing = IPT_BALLOT(going);
        if (IPT_BALLOT(due || started) == 0)
            break;

        /* Load and claim at the same time. A chain that starts claims the slot that the previous step loaded. */
        ulong places[IPT_CHAINS];
#if IPT_SUB_GROUP == 1 /* elsewhere shuffles contain barriers: PoCL 5.0 fails to unroll them */
#pragma unroll 8
#endif
        for (uint c = 0; c < IPT_CHAINS; ++c) {
            places[c] = (ulong)IPT_SHUFFLE((uint)(address >> 32), c) << 32 | IPT_SHUFFLE((uint)address, c);
            if ((loading >> c & 1u) != 0)
                ipt_fetch_piece(vectors + (2 * c + IPT_OTHER_HALF(held[c])) * IPT_PIECE_VECTORS, matrix, places[c],
                                domain->units, lane, domain->low, domain->high);
        }
        const uint fresh = search->open != 0 ? ipt_glance(&domain->flags[search->word]) : 0;
        uint lost = 0;
        if (due)
            lost = ipt_claim(&domain->flags[slot / 32], 1u << slot % 32) >> slot % 32 & 1u;
        ipt_fetch_wait();
        lost = IPT_BALLOT(lost != 0) >> lane & 1u;
        IPT_SUB_GROUP_BARRIER();
        search->open &= ~fresh;

        /* All loads have arrived and all claims have returned: the chains may write. */
#pragma unroll 8
        for (uint c = 0; c < IPT_CHAINS; ++c) {
            if ((storing >> c & 1u) != 0)
                ipt_store_piece(vectors, held[c], matrix, places[c], domain->units, lane);
            if ((loading >> c & 1u) != 0)
                held[c] = (2 * c + IPT_OTHER_HALF(held[c])) * IPT_PIECE_VECTORS * IPT_VECTOR_UNITS +
                          ((uint)places[c] & (IPT_VECTOR_UNITS - 1));
        }
        state = started ? IPT_LOADED : due && lost == 0 ? IPT_GOING : IPT_IDLE;
        search->candidates = IPT_BALLOT(search->open != 0);
        IPT_SUB_GROUP_BARRIER();
    }
}

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) IPT_SUB_GROUP_ATTRIBUTE void
ipt_k_chains(__global ipt_unit *matrix, __global uint *workspace IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
#if IPT_SUB_GROUP == 0
    IPT_LOCAL_ARRAY uint exchange[IPT_LANES];
#else
    __local uint *exchange = 0;
#endif
    /* For each chain, vectors for the piece that it stores next and for the piece that it loads. */
    IPT_LOCAL_ARRAY uint4 all_vectors[IPT_GROUP_SIZE / IPT_LANES][2 * IPT_CHAINS * IPT_PIECE_VECTORS];
    __local uint4 *vectors = all_vectors[IPT_SUB_GROUP_ID];
    const uint lane = IPT_LANE;
#if IPT_SUB_GROUP >= 2
    if (g->probe) {
        ipt_report_sub_group(workspace, lane, exchange);
        return;
    }
#endif
    const ulong number = (ulong)get_group_id(0) * (IPT_GROUP_SIZE / IPT_LANES) + IPT_SUB_GROUP_ID;
    ipt_move_gaps(matrix, workspace, number, lane, g);

    /* A sub-group starts chains in its own run of flag words. If there are fewer words than sub-groups, each sub-group
     * owns a part of a word. */
    const ulong run = number / g->parts;
    const uint part_bits = 32 / g->parts;
    const uint own = (part_bits < 32 ? (1u << part_bits) - 1 : ~0u) << (uint)(number % g->parts) * part_bits;
    const ulong all_end = min(g->total_words, (run + 1) * g->words_each);
    for (ulong w = min(g->total_words, run * g->words_each); w < all_end;) {
        const ulong first = w / g->words * g->words, end = min(all_end, first + g->words);
        ipt_domain domain;
        ipt_find_domain(&domain, workspace, w / g->words, g);
        ipt_search search = {w - first, end - first, own, 0, 0, 0};
        ipt_follow_chains(matrix, vectors, &domain, &search, lane, exchange, g);
        w = end;
    }
}
