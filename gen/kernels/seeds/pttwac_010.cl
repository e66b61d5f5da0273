/* PTTWAC 010! (Sung et al. 2014, section 5.1; Gomez-Luna et al. 2016, section 5.1). A work-group
 * transposes an instance, a rows x cols grid of elements, in global memory. Its work-items follow the cycles of units;
 * each unit has a flag in local memory. This serves instances that exceed local memory but whose flags fit.
 *
 * The invariant is that of shuffle.cl with a work-item as the worker. Flags of neighbouring units share a word, for
 * which work-items contend. IPT_FLAG_SPREAD reduces the flags in a word. IPT_FLAG_LAYOUT places the words: contiguous;
 * with a word skipped after every 32, to use other banks; or with neighbours in different words (unit k in word k mod
 * words). */
#include "../parts/unit.cl"
#include "../parts/divide.cl"

#if !defined(IPT_FLAG_SPREAD) || !defined(IPT_FLAG_LAYOUT) || !defined(IPT_ELEMENT_UNITS)
#error "IPT_FLAG_SPREAD, IPT_FLAG_LAYOUT and IPT_ELEMENT_UNITS must be defined"
#endif

#define IPT_WORD_FLAGS (32u / IPT_FLAG_SPREAD)

#if IPT_FLAG_LAYOUT == 2
#define IPT_FLAG_WORD(k) ((k) % flag_words)
#define IPT_FLAG_BIT(k) ((k) / flag_words)
#elif IPT_FLAG_LAYOUT == 1
#define IPT_FLAG_WORD(k) ((k) / IPT_WORD_FLAGS + (k) / IPT_WORD_FLAGS / 32)
#define IPT_FLAG_BIT(k) ((k) % IPT_WORD_FLAGS)
#else
#define IPT_FLAG_WORD(k) ((k) / IPT_WORD_FLAGS)
#define IPT_FLAG_BIT(k) ((k) % IPT_WORD_FLAGS)
#endif

/* Only work-items of one work-group synchronise: no device scope is needed. */
#define IPT_FENCE() mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

/* Claims unit k after this work-item's loads have arrived; returns true if the claim is the first. */
IPT_FUNCTION bool ipt_claim(volatile __local uint *flags, uint k, uint flag_words)
{
    const uint bit = IPT_FLAG_BIT(k);
    IPT_FENCE();
    const bool first = (atomic_or(&flags[IPT_FLAG_WORD(k)], 1u << bit) >> bit & 1u) == 0;
    IPT_FENCE();
    return first;
}

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_pttwac_010(__global ipt_unit *matrix IPT_LOCAL_PARAMETER(volatile uint, flags) IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_NAME_LOCAL(volatile uint, flags)
    const uint all_words = g->flag_words + (IPT_FLAG_LAYOUT == 1 ? g->flag_words / 32 : 0);
    for (ulong instance = get_group_id(0); instance < g->instances; instance += get_num_groups(0)) {
        const ulong m = instance / g->instances_per_matrix;
        IPT_VOLATILE __global ipt_unit *grid =
            matrix + g->base + m * g->matrix_stride + (instance - m * g->instances_per_matrix) * g->instance_units;
        for (uint w = get_local_id(0); w < all_words; w += IPT_GROUP_SIZE)
            flags[w] = 0;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint start = get_local_id(0); start < g->instance_units; start += IPT_GROUP_SIZE) {
            uint at = start;
            ipt_unit held = grid[at];
            bool going = ipt_claim(flags, at, g->flag_words);
            while (going) {
#if IPT_ELEMENT_UNITS == 1
                const uint row = ipt_divide32(at, IPT_DIVISOR(g->cols));
                at = (at - row * g->cols) * g->rows + row;
#else
                const uint element = ipt_divide32(at, IPT_DIVISOR(g->element_units));
                const uint part = at - element * g->element_units;
                const uint row = ipt_divide32(element, IPT_DIVISOR(g->cols));
                at = ((element - row * g->cols) * g->rows + row) * g->element_units + part;
#endif
                const ipt_unit next = grid[at];
                going = ipt_claim(flags, at, g->flag_words);
                grid[at] = held;
                held = next;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* before the flags are cleared for the next instance */
    }
}
