/* Transposition 010! of small instances. A work-group fetches `pack` adjacent instances into local memory. It then
 * writes vectors, each assembled by one work-item. So memory is read and written in runs as long as the pack, however
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

/* A vector and its units. */
typedef union ipt_parts {
    uint4 vector;
    ipt_unit units[IPT_VECTOR_UNITS];
} ipt_parts;

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_pack(__global ipt_unit *matrix IPT_GIVEN_ARGUMENTS)
{
    IPT_NAME_ARGUMENTS;
    __local uint4 vectors[IPT_LOCAL_BYTES / 16];
    __local ipt_unit *held = (__local ipt_unit *)vectors;
    const uint id = get_local_id(0), m = get_group_id(0) / packs;
    const ulong first = (ulong)(get_group_id(0) - m * packs) * pack;
    const uint units = (uint)min((ulong)pack, instances - first) * instance_units;
    const ulong begin = base + m * matrix_stride + first * instance_units;
    const uint shift = (uint)begin & (IPT_VECTOR_UNITS - 1);
    const uint end = (shift + units + IPT_VECTOR_UNITS - 1) / IPT_VECTOR_UNITS;
    __global uint4 *target = (__global uint4 *)(matrix + (begin - shift));

    /* Whole vectors, and the units at both ends, each by its own work-item, so that no work-item waits twice. */
    const uint whole = shift != 0 ? 1 : 0, whole_end = (shift + units) / IPT_VECTOR_UNITS;
    for (uint q = whole + id; q < whole_end; q += IPT_GROUP_SIZE)
        ipt_fetch_inside(vectors + IPT_PLACE(q), target + q);
    for (uint i = id; i < 2 * IPT_VECTOR_UNITS; i += IPT_GROUP_SIZE) {
        const uint q = i < IPT_VECTOR_UNITS ? 0 : whole_end, unit = i % IPT_VECTOR_UNITS;
        const uint at = q * IPT_VECTOR_UNITS + unit;
        if (at >= shift && at < shift + units && (q == whole_end || whole != 0))
            held[IPT_PLACE(q) * IPT_VECTOR_UNITS + unit] = matrix[begin - shift + at];
    }
    ipt_fetch_wait();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    for (uint q = id; q < end; q += IPT_GROUP_SIZE) {
        /* The first unit of the vector that belongs to the pack: its instance, row, element and part. */
        const uint skipped = q == 0 ? shift : 0, k = q * IPT_VECTOR_UNITS + skipped - shift;
        const uint instance = ipt_divide32(k, instance_units_magic, instance_units_shift);
        uint row = ipt_divide32(k - instance * instance_units, row_units_magic, row_units_shift);
        const uint within = k - instance * instance_units - row * row_units;
        IPT_ELEMENT_OF(within, first_element, first_part);
        uint element = first_element, part = first_part, instance_begin = shift + instance * instance_units;
        uint from = instance_begin + (uint)(origin + (int)row * next + (int)element * along) + part;
        ipt_parts parts;
#pragma unroll
        for (uint u = 0; u < IPT_VECTOR_UNITS; ++u) {
            if (u < skipped || k + u - skipped >= units)
                continue;
            parts.units[u] =
                IPT_APPLIED(held[IPT_PLACE(from / IPT_VECTOR_UNITS) * IPT_VECTOR_UNITS + from % IPT_VECTOR_UNITS]);
#if IPT_ELEMENT_UNITS != 1
            ++from;
            if (++part < element_units)
                continue;
            part = 0;
            from -= element_units;
#endif
            from += (uint)along;
            if (++element == run_elements) {
                element = 0;
                if (++row == rows) {
                    row = 0;
                    instance_begin += instance_units;
                }
                from = instance_begin + (uint)(origin + (int)row * next);
            }
        }
        if (skipped == 0 && k + IPT_VECTOR_UNITS <= units) {
            target[q] = parts.vector;
        } else {
            __global ipt_unit *one = (__global ipt_unit *)(target + q);
#pragma unroll
            for (uint u = 0; u < IPT_VECTOR_UNITS; ++u)
                if (u >= skipped && k + u - skipped < units)
                    one[u] = parts.units[u];
        }
    }
}
