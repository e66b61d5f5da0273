/* Transposition 010! of small instances. A work-group fetches `pack` adjacent instances into local memory. It then
 * writes pieces, each assembled by one work-item. So memory is read and written in runs as long as the pack, however
 * small an instance is. A row of the result has `run_elements` elements, which lie `along` units apart in the original.
 * The rows of the result begin `next` units apart in the original, the first at unit `origin`. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/vectors.cl"

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_MEMORY_MODEL) || !defined(IPT_LOCAL_BYTES)
#error "IPT_ELEMENT_UNITS, IPT_MEMORY_MODEL and IPT_LOCAL_BYTES must be defined"
#endif

/* The place of vector q in local memory. Skipped vectors keep the columns of instances with power-of-two sides out of a
 * single bank. The host allows for at most a fifth more memory. */
#define IPT_PLACE(q) ((q) + ((q) >> 3) + ((q) >> 6))
#define IPT_UNIT_PLACE(unit)                                                                                           \
    ((unit) + ((unit) / (8 * IPT_VECTOR_UNITS) + (unit) / (64 * IPT_VECTOR_UNITS)) * IPT_VECTOR_UNITS)

/* The piece that a work-item assembles and stores at a time. If units are shorter than a word, a piece is a word:
 * neighbouring work-items then read neighbouring banks. Vectors take longer. */
#if IPT_UNIT_BYTES < 4
typedef uint ipt_piece;
#define IPT_PIECE_UNITS (4u / IPT_UNIT_BYTES)
#else
typedef uint4 ipt_piece;
#define IPT_PIECE_UNITS IPT_VECTOR_UNITS
#endif
typedef union ipt_parts {
    ipt_piece piece;
    ipt_unit units[IPT_PIECE_UNITS];
} ipt_parts;

/* The pack in local memory: `units` units, the first one at unit `shift`. */
typedef struct ipt_held_pack {
    __local ipt_unit *held;
    uint shift, units;
} ipt_held_pack;

/* Assembles a piece without its first `skipped` units, from unit k of the result on. (If a function returns a struct,
 * clang generates instructions that oclgrind does not know.) */
IPT_INLINE void ipt_assemble(ipt_parts *parts, const ipt_held_pack *pack_held, uint k, uint skipped, const ipt_given *g)
{
    const uint instance = ipt_divide32(k, IPT_DIVISOR(g->instance_units));
    uint row = ipt_divide32(k - instance * g->instance_units, IPT_DIVISOR(g->row_units));
    const uint within = k - instance * g->instance_units - row * g->row_units;
    IPT_ELEMENT_OF(within, g->element_units, first_element, first_part);
    uint element = first_element, part = first_part;
    uint instance_begin = pack_held->shift + instance * g->instance_units;
    uint from = instance_begin + (uint)(g->origin + (int)row * g->next + (int)element * g->along) + part;
#pragma unroll
    for (uint u = 0; u < IPT_PIECE_UNITS; ++u) {
        if (u < skipped || k + u - skipped >= pack_held->units)
            continue;
        parts->units[u] = ipt_apply(pack_held->held[IPT_UNIT_PLACE(from)], g);
#if IPT_ELEMENT_UNITS != 1
        ++from;
        if (++part < g->element_units)
            continue;
        part = 0;
        from -= g->element_units;
#endif
        from += (uint)g->along;
        if (++element == g->run_elements) {
            element = 0;
            if (++row == g->rows) {
                row = 0;
                instance_begin += g->instance_units;
            }
            from = instance_begin + (uint)(g->origin + (int)row * g->next);
        }
    }
}

#if IPT_UNIT_BYTES < 4
/* Fills the table of small instances at the end of local memory: for each unit of the result, its place in the source.
 * Reading the table takes less time than computing the place. */
IPT_INLINE void ipt_fill_table(__local ushort *table, const ipt_given *g)
{
    for (uint k = get_local_id(0); k < g->table_units; k += IPT_GROUP_SIZE) {
        const uint row = ipt_divide32(k, IPT_DIVISOR(g->row_units)), within = k - row * g->row_units;
        IPT_ELEMENT_OF(within, g->element_units, element, part);
        table[k] = (ushort)(g->origin + (int)row * g->next + (int)element * g->along + (int)part);
    }
}

/* ipt_assemble with places from the table. */
IPT_INLINE void ipt_look_up(ipt_parts *parts, const ipt_held_pack *pack_held, __local ushort *table, uint k,
                            uint skipped, const ipt_given *g)
{
    const uint instance = ipt_divide32(k, IPT_DIVISOR(g->instance_units));
    uint inside = k - instance * g->instance_units, instance_begin = pack_held->shift + instance * g->instance_units;
#pragma unroll
    for (uint u = 0; u < IPT_PIECE_UNITS; ++u) {
        if (u < skipped || k + u - skipped >= pack_held->units)
            continue;
        const uint from = instance_begin + table[inside];
        parts->units[u] = ipt_apply(pack_held->held[IPT_UNIT_PLACE(from)], g);
        if (++inside == g->instance_units) {
            inside = 0;
            instance_begin += g->instance_units;
        }
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_pack(__global ipt_unit *matrix IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_LOCAL_LARGE(uint4, vectors, IPT_LOCAL_BYTES / 16);
    __local ipt_unit *held = (__local ipt_unit *)vectors;
    const uint id = get_local_id(0), m = get_group_id(0) / g->packs;
    const ulong first = (ulong)(get_group_id(0) - m * g->packs) * g->pack;
    const uint units = (uint)min((ulong)g->pack, g->instances - first) * g->instance_units;
    const ulong begin = g->base + m * g->matrix_stride + first * g->instance_units;
    const uint shift = (uint)begin & (IPT_VECTOR_UNITS - 1);
    __global uint4 *target = (__global uint4 *)(matrix + (begin - shift));

    /* Fetch whole vectors. Different work-items fetch the units at both ends, so that no work-item waits twice. */
    const uint whole = shift != 0 ? 1 : 0, whole_end = (shift + units) / IPT_VECTOR_UNITS;
    for (uint q = whole + id; q < whole_end; q += IPT_GROUP_SIZE)
        ipt_fetch_inside(vectors + IPT_PLACE(q), target + q);
    for (uint i = id; i < 2 * IPT_VECTOR_UNITS; i += IPT_GROUP_SIZE) {
        const uint q = i < IPT_VECTOR_UNITS ? 0 : whole_end, unit = i % IPT_VECTOR_UNITS;
        const uint at = q * IPT_VECTOR_UNITS + unit;
        if (at >= shift && at < shift + units && (q == whole_end || whole != 0))
            held[IPT_PLACE(q) * IPT_VECTOR_UNITS + unit] = matrix[begin - shift + at];
    }
#if IPT_UNIT_BYTES < 4
    __local ushort *table = (__local ushort *)(vectors + IPT_LOCAL_BYTES / 16) - g->table_units;
    ipt_fill_table(table, g);
#endif
    ipt_fetch_wait();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    const ipt_held_pack pack_held = {held, shift, units};
    const uint end = (shift + units + IPT_PIECE_UNITS - 1) / IPT_PIECE_UNITS;
    for (uint p = shift / IPT_PIECE_UNITS + id; p < end; p += IPT_GROUP_SIZE) {
        /* The first unit of the piece that belongs to the pack. */
        const uint skipped = p * IPT_PIECE_UNITS < shift ? shift - p * IPT_PIECE_UNITS : 0;
        const uint k = p * IPT_PIECE_UNITS + skipped - shift;
        ipt_parts parts;
#if IPT_UNIT_BYTES < 4
        if (g->table_units != 0)
            ipt_look_up(&parts, &pack_held, table, k, skipped, g);
        else
#endif
            ipt_assemble(&parts, &pack_held, k, skipped, g);
        if (skipped == 0 && k + IPT_PIECE_UNITS <= units) {
            ((__global ipt_piece *)target)[p] = parts.piece;
        } else {
            __global ipt_unit *one = (__global ipt_unit *)target + p * IPT_PIECE_UNITS;
#pragma unroll
            for (uint u = 0; u < IPT_PIECE_UNITS; ++u)
                if (u >= skipped && k + u - skipped < units)
                    one[u] = parts.units[u];
        }
    }
}
