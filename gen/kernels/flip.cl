/* Reverses the elements of each row, the order of the rows, or both, in place, by swapping pairs of elements. Pair j of
 * line l swaps the line's element j with the element at partner + l * partner_line + j * partner_step units. Lines
 * begin line_units apart. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/vectors.cl"

#ifndef IPT_ELEMENT_UNITS
#error "IPT_ELEMENT_UNITS must be defined"
#endif

#if IPT_GROUP_SIZE == 1
/* Swaps `count` elements from `one` on with the elements from `other` on; the two runs do not overlap. The elements of
 * `other` ascend if step > 0, and descend otherwise. */
IPT_INLINE void ipt_swap_elements(__global ipt_unit *restrict one, __global ipt_unit *restrict other, ulong count,
                                  long step, const ipt_given *g)
{
    const ulong units = count * g->element_units;
    if (step > 0)
        for (ulong k = 0; k < units; ++k) {
            const ipt_unit held = one[k];
            one[k] = other[k];
            other[k] = held;
        }
#if IPT_ELEMENT_UNITS == 1
    else
        for (ulong k = 0; k < units; ++k) {
            const ipt_unit held = one[k];
            one[k] = other[-(long)k];
            other[-(long)k] = held;
        }
#else
    else
        for (ulong k = 0; k < count; ++k)
            for (uint part = 0; part < g->element_units; ++part) {
                const ipt_unit held = one[k * g->element_units + part];
                one[k * g->element_units + part] = other[part - (long)k * g->element_units];
                other[part - (long)k * g->element_units] = held;
            }
#endif
}
#else
/* Vectors of local memory for the pieces of one side: one vector for each work-item, and three more for each piece. A
 * piece may begin within a vector. The vectors before and after a piece may be read, but their units are not used. */
#define IPT_MOST_PIECES (IPT_GROUP_SIZE <= 8 ? 1 : IPT_GROUP_SIZE / 8) /* at least 8 work-items share a piece */
#define IPT_SIDE_VECTORS (IPT_GROUP_SIZE + 3 * IPT_MOST_PIECES)

/* Units shorter than four bytes are written by words of four bytes. Unit by unit, the kernel takes several times as
 * long. */
#if IPT_UNIT_BYTES < 4
typedef uint ipt_word;
#else
typedef ipt_unit ipt_word;
#endif
#define IPT_WORD_UNITS ((uint)(sizeof(ipt_word) / IPT_UNIT_BYTES))

/* A run of elements in memory, and a copy of it in local memory. */
typedef struct ipt_piece {
    __global ipt_unit *begin;
    __local ipt_unit *held;
    uint before; /* units of the first word that precede the run, in memory and in `held` */
} ipt_piece;

/* Fetches a run. Units beside the run belong to other work-groups: they are not read, and are zero in local memory.
 * Vectors at the run's ends may contain such units: work-items fetch these vectors unit by unit. */
IPT_INLINE void ipt_fetch_piece(ipt_piece *piece, __global ipt_unit *matrix, __local uint4 *vectors, ulong begin,
                                uint units, uint lane, const ipt_given *g)
{
    const uint before = (uint)begin & (IPT_VECTOR_UNITS - 1), end = before + units;
    const uint count = units ? (end + IPT_VECTOR_UNITS - 1) / IPT_VECTOR_UNITS : 0;
    __global ipt_unit *const from = matrix + (begin - before);
    __local ipt_unit *const to = (__local ipt_unit *)vectors;
    piece->begin = matrix + begin;
    piece->held = to + before;
    piece->before = before & (IPT_WORD_UNITS - 1);
    for (uint q = lane; q < count; q += g->run_lanes)
        if (q * IPT_VECTOR_UNITS >= before && (q + 1) * IPT_VECTOR_UNITS <= end)
            ipt_fetch_inside(vectors + q, (__global uint4 *)from + q);
    for (uint i = lane; i < 2 * IPT_VECTOR_UNITS; i += g->run_lanes) {
        const bool is_last = i >= IPT_VECTOR_UNITS;
        const uint q = is_last ? count - 1 : 0, unit = q * IPT_VECTOR_UNITS + i % IPT_VECTOR_UNITS;
        if ((is_last ? count > 1 : count > 0) && (q * IPT_VECTOR_UNITS < before || (q + 1) * IPT_VECTOR_UNITS > end))
            to[unit] = unit >= before && unit < end ? from[unit] : (ipt_unit)0;
    }
    if (lane == 0)
        vectors[-1] = vectors[count] = 0;
}

#if IPT_UNIT_BYTES < 4
/* Picks four of the eight bytes of two words. `bytes`: a hexadecimal digit for each, the lowest for the first. */
IPT_INLINE uint ipt_pick(uint low, uint high, uint bytes)
{
#if IPT_MEMORY_MODEL == 2
    uint picked;
    __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(picked) : "r"(low), "r"(high), "r"(bytes));
    return picked;
#else
    const ulong both = low | (ulong)high << 32;
    return (uint)(both >> 8 * (bytes & 7) & 0xff) | (uint)(both >> 8 * (bytes >> 4 & 7) & 0xff) << 8 |
           (uint)(both >> 8 * (bytes >> 8 & 7) & 0xff) << 16 | (uint)(both >> 8 * (bytes >> 12 & 7) & 0xff) << 24;
#endif
}

/* The word of local memory that has unit `from`, counted from the first unit of held's own word. */
IPT_INLINE __local const uint *ipt_word_of(const ipt_piece *piece, uint from)
{
    return (__local const uint *)(piece->held - piece->before) + (int)(from & -IPT_WORD_UNITS) / (int)IPT_WORD_UNITS;
}

/* Adds the offset of unit `from` in its word to each number in `bytes`. */
#define IPT_BYTES_FROM(bytes, from) ((bytes) + 0x1111u * IPT_UNIT_BYTES * ((from) & (IPT_WORD_UNITS - 1)))
#endif

/* The word at `unit` of a run whose `count` elements are those of `held` in descending sequence. The word may begin
 * before the run or end after it. */
IPT_INLINE ipt_word ipt_descending_word(const ipt_piece *piece, uint unit, uint count, const ipt_given *g)
{
#if IPT_UNIT_BYTES >= 4
    IPT_ELEMENT_OF(unit, g->element_units, element, part);
    return piece->held[(count - 1 - element) * (IPT_ELEMENT_UNITS == 1 ? 1 : g->element_units) + part];
#elif IPT_ELEMENT_UNITS == 1
    const uint from = piece->before + count - IPT_WORD_UNITS - unit;
    __local const uint *words = ipt_word_of(piece, from);
    return ipt_pick(words[0], words[1], IPT_BYTES_FROM(IPT_UNIT_BYTES == 1 ? 0x0123u : 0x1032u, from));
#else
#if IPT_UNIT_BYTES == 1
    if (g->element_units == 3) { /* a word has bytes of two adjacent elements */
        const uint after = (unit + 3) / 3, part = unit + 3 - after * 3, from = piece->before + (count - 1 - after) * 3;
        __local const uint *words = ipt_word_of(piece, from);
        const uint ascending = IPT_BYTES_FROM(0x3210u, from);
        return ipt_pick(ipt_pick(words[0], words[1], ascending), ipt_pick(words[1], words[2], ascending),
                        part == 0   ? 0x0543u
                        : part == 1 ? 0x1054u
                                    : 0x2105u);
    }
#endif
    /* After an element's last unit comes the first unit of the element before. */
    IPT_ELEMENT_OF(unit + g->element_units, g->element_units, after, part); /* the next element's number */
    int from = (int)((count - after) * g->element_units + part);
    uint word = 0, left = g->element_units - part;
#pragma unroll
    for (uint i = 0; i < IPT_WORD_UNITS; ++i) {
        if (unit + i < count * g->element_units)
            word |= (uint)piece->held[from] << 8 * IPT_UNIT_BYTES * i;
        from += --left ? 1 : 1 - 2 * (int)g->element_units;
        left += left ? 0 : g->element_units;
    }
    return word;
#endif
}

/* Assembles a word of units in ascending sequence. */
IPT_INLINE ipt_word ipt_ascending_word(const ipt_piece *piece, uint unit)
{
#if IPT_UNIT_BYTES >= 4
    return piece->held[unit];
#else
    const uint from = piece->before + unit;
    __local const uint *words = ipt_word_of(piece, from);
    return ipt_pick(words[0], words[1], IPT_BYTES_FROM(0x3210u, from));
#endif
}

/* Overwrites a run with the elements of `other`. */
IPT_INLINE void ipt_write_piece(const ipt_piece *run, const ipt_piece *other, uint units, uint count, bool descends,
                                uint lane, const ipt_given *g)
{
#pragma unroll 4
    for (uint at = lane * IPT_WORD_UNITS; at < units + run->before; at += g->run_lanes * IPT_WORD_UNITS) {
        const uint unit = at - run->before;
        const ipt_word word = descends ? ipt_descending_word(other, unit, count, g) : ipt_ascending_word(other, unit);
        if (unit < units && units - unit >= IPT_WORD_UNITS)
            *(__global ipt_word *)(run->begin + unit) = word;
#if IPT_UNIT_BYTES < 4
        else
#pragma unroll
            for (uint i = 0; i < IPT_WORD_UNITS; ++i)
                if (unit + i < units)
                    run->begin[unit + i] = (ipt_unit)(word >> 8 * IPT_UNIT_BYTES * i);
#endif
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_flip(__global ipt_unit *matrix IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
#if IPT_GROUP_SIZE > 1
    IPT_LOCAL_ARRAY uint4 vectors[2 * IPT_SIDE_VECTORS];
#endif
    const uint m = get_group_id(0) / g->groups;
    const uint group = get_group_id(0) - m * g->groups;
    const ulong origin = g->base + m * g->matrix_stride;
#if IPT_GROUP_SIZE == 1
    const ulong first = group * g->group_pairs, end = min(g->pairs, first + g->group_pairs);
    for (ulong pair = first; pair < end;) {
        const ulong line = pair / g->line_pairs, j = pair - line * g->line_pairs,
                    count = min(end - pair, g->line_pairs - j);
        ipt_swap_elements(matrix + origin + (line * g->line_units + j * g->element_units),
                          matrix + origin + (g->partner + (long)line * g->partner_line + (long)j * g->partner_step),
                          count, g->partner_step, g);
        pair += count;
    }
#else
    /* run_lanes work-items share a piece: group_pairs pairs of a line, or a part of a long pair. A work-group reads
     * everything before it writes, and no other work-group accesses its units. */
    const uint lane = get_local_id(0) & (g->run_lanes - 1), row = get_local_id(0) / g->run_lanes;
    const uint pieces = (uint)((g->line_pairs + g->group_pairs - 1) / g->group_pairs) * g->parts;
    const uint lines = group / pieces, piece = group - lines * pieces, part = piece % g->parts;
    const ulong line = (ulong)lines * (IPT_GROUP_SIZE / g->run_lanes) + row, of_line = line * g->line_pairs;
    /* The last line may end before a piece. */
    const ulong first = (ulong)(piece / g->parts) * g->group_pairs,
                end = of_line < g->pairs
                          ? max(first, min(min(g->pairs - of_line, g->line_pairs), first + g->group_pairs))
                          : first;
    const uint begin = part * g->part_units,
               units = first < end ? (uint)min((ulong)g->part_units, (end - first) * g->element_units - begin) : 0;
    const bool descends = g->partner_step < 0 && end - first > 1;
    const long other = g->partner + (long)line * g->partner_line + (long)(descends ? end - 1 : first) * g->partner_step;
    __local uint4 *held = vectors + row * (g->run_lanes + 3) + 1;
    ipt_piece near, far;
    ipt_fetch_piece(&near, matrix, held, origin + line * g->line_units + first * g->element_units + begin, units, lane,
                    g);
    ipt_fetch_piece(&far, matrix, held + IPT_SIDE_VECTORS, (ulong)((long)origin + other) + begin, units, lane, g);
    ipt_fetch_wait();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    ipt_write_piece(&near, &far, units, (uint)(end - first), descends, lane, g);
    ipt_write_piece(&far, &near, units, (uint)(end - first), descends, lane, g);
#endif
}
