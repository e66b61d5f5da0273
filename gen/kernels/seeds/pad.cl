/* Padding and unpadding in place (Gomez-Luna et al. 2016, section 6.2.1): changes the distance of rows of
 * row_units units from source_stride to target_stride.
 *
 * The content is cut into chunks, numbered in the sequence in which they may be written. Padding moves everything to
 * higher addresses, so it goes from the last chunk to the first; unpadding goes from the first to the last. A
 * work-group takes the next number when it starts (a dynamic work-group ID), loads the chunk into registers, and raises
 * the chunk's flag.
 *
 * Invariant: a work-group writes only after all chunks with content there have been read. Those chunks have lower
 * numbers, so their work-groups have started. No work-group waits before it has read. So no work-groups need to run at
 * the same time, and the kernel is correct on every device.
 *
 * IPT_CHAINED: as published, a work-group waits for the flag of the previous chunk (adjacent synchronisation), raises
 * its own flag and writes. All chunks then form one dependency chain. Otherwise it raises its flag at once and polls
 * only the flags of the chunks that it overwrites. */
#include "../parts/unit.cl"
#include "../parts/divide.cl"
#include "../parts/sync.cl"

#if !defined(IPT_MEMORY_MODEL) || !defined(IPT_CHAINED)
#error "IPT_MEMORY_MODEL and IPT_CHAINED must be defined"
#endif

#define IPT_HELD 16 /* units of a work-item */
#define IPT_CHUNK ((ulong)IPT_HELD * IPT_GROUP_SIZE)

/* The unit of the content at `address` in the source rows, or the next one. */
IPT_FUNCTION ulong ipt_content_at(ulong address, ulong source_stride, ulong row_units)
{
    const ulong row = address / source_stride;
    return row * row_units + min(address - row * source_stride, row_units);
}

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_pad(__global ipt_unit *matrix, __global uint *workspace IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_LOCAL_ARRAY uint shared[1];
    const uint lane = get_local_id(0);
    volatile __global uint *control = workspace + g->control_base, *flags = control + 1;
    if (lane == 0)
        shared[0] = atomic_inc(control);
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong ticket = shared[0], m = ticket / g->chunks, number = ticket - m * g->chunks;
    const bool up = g->target_stride > g->source_stride;
    const ulong chunk = up ? g->chunks - 1 - number : number;
    const ulong begin = chunk * IPT_CHUNK, end = min(begin + IPT_CHUNK, g->rows * g->row_units);
    __global ipt_unit *grid = matrix + g->base + m * g->matrix_stride;
    flags += m * g->chunks;

    ipt_unit held[IPT_HELD];
    ulong targets[IPT_HELD];
#pragma unroll 16
    for (uint i = 0; i < IPT_HELD; ++i) {
        const ulong k = begin + i * IPT_GROUP_SIZE + lane;
        if (k < end) {
            const ulong row = ipt_divide64(k, IPT_DIVISOR(g->row_units));
            held[i] = grid[k + row * (g->source_stride - g->row_units)];
            targets[i] = k + row * (g->target_stride - g->row_units);
        }
    }
    /* Without the fence nothing waits for registers that are unused before the flag is raised. */
    IPT_FENCE_DEVICE();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    if (lane == 0) {
#if IPT_CHAINED
        if (number != 0)
            while (ipt_poll(&flags[number - 1]) == 0)
                ;
        ipt_signal(&flags[number]);
#else
        ipt_signal(&flags[number]);
        /* The chunks that this one overwrites. */
        const ulong first_row = begin / g->row_units, last_row = (end - 1) / g->row_units;
        const ulong low = begin + first_row * (g->target_stride - g->row_units),
                    high = end - 1 + last_row * (g->target_stride - g->row_units);
        const ulong low_chunk = ipt_content_at(low, g->source_stride, g->row_units) / IPT_CHUNK,
                    high_chunk = min(ipt_content_at(high, g->source_stride, g->row_units) / IPT_CHUNK, g->chunks - 1);
        for (ulong c = up ? max(low_chunk, chunk) : low_chunk; c <= (up ? high_chunk : min(high_chunk, chunk)); ++c)
            while (ipt_poll(&flags[up ? g->chunks - 1 - c : c]) == 0)
                ;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#pragma unroll 16
    for (uint i = 0; i < IPT_HELD; ++i)
        if (begin + i * IPT_GROUP_SIZE + lane < end)
            grid[targets[i]] = held[i];
}
