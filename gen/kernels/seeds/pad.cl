/* Padding and unpadding in place: rows of row_units units that lie row_units apart come to lie padded_units apart, or
 * the other way round (seed 002, section 6.2.1).
 *
 * The content is cut into chunks, numbered in the order in which they may be written: padding, where everything moves
 * to higher addresses, from the last to the first, unpadding from the first to the last. A work-group takes the next
 * number when it starts (a dynamic work-group ID), holds the chunk in registers, and raises the chunk's flag.
 *
 * Invariant: memory is written only after all chunks that have content there have been read. Their numbers are lower,
 * so the groups that hold them have started, and none waits before it has read: this needs no groups to run at the same
 * time, and is right on every device.
 *
 * IPT_CHAINED: as published, a group raises its flag after it has seen that of the chunk before it (adjacent
 * synchronisation), and writes then: a chain of as many links as there are chunks. Otherwise it raises its flag at
 * once, and looks at the flags of the few chunks whose place it takes. */
#if !defined(IPT_MEMORY_MODEL) || !defined(IPT_CHAINED)
#error "IPT_MEMORY_MODEL and IPT_CHAINED must be defined"
#endif

#define IPT_HELD 16 /* units of a work-item */
#define IPT_CHUNK ((ulong)IPT_HELD * IPT_GROUP_SIZE)

/* The unit of the content, or the next one, that lies at `address` units of the rows as they are before. */
ulong ipt_content_at(ulong address, ulong source_stride, ulong row_units)
{
    const ulong row = address / source_stride;
    return row * row_units + min(address - row * source_stride, row_units);
}

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_pad(__global ipt_unit *matrix, __global uint *workspace IPT_ARGUMENTS)
{
    __local uint shared[1];
    const uint lane = get_local_id(0);
    volatile __global uint *control = workspace + control_base, *flags = control + 1;
    if (lane == 0)
        shared[0] = atomic_inc(control);
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong ticket = shared[0], m = ticket / chunks, number = ticket - m * chunks;
    const bool up = target_stride > source_stride;
    const ulong chunk = up ? chunks - 1 - number : number;
    const ulong begin = chunk * IPT_CHUNK, end = min(begin + IPT_CHUNK, rows * row_units);
    __global ipt_unit *grid = matrix + base + m * matrix_stride;
    flags += m * chunks;

    ipt_unit held[IPT_HELD];
    ulong targets[IPT_HELD];
#pragma unroll 16
    for (uint i = 0; i < IPT_HELD; ++i) {
        const ulong k = begin + i * IPT_GROUP_SIZE + lane;
        if (k < end) {
            const ulong row = ipt_divide64(k, row_units_magic, row_units_shift);
            held[i] = grid[k + row * (source_stride - row_units)];
            targets[i] = k + row * (target_stride - row_units);
        }
    }
    /* Nothing else would wait for registers that are not used before the flag is raised. */
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
        /* The chunks whose content lies where this one's goes. */
        const ulong first_row = begin / row_units, last_row = (end - 1) / row_units;
        const ulong low = begin + first_row * (target_stride - row_units),
                    high = end - 1 + last_row * (target_stride - row_units);
        const ulong low_chunk = ipt_content_at(low, source_stride, row_units) / IPT_CHUNK,
                    high_chunk = min(ipt_content_at(high, source_stride, row_units) / IPT_CHUNK, chunks - 1);
        for (ulong c = up ? max(low_chunk, chunk) : low_chunk; c <= (up ? high_chunk : min(high_chunk, chunk)); ++c)
            while (ipt_poll(&flags[up ? chunks - 1 - c : c]) == 0)
                ;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#pragma unroll 16
    for (uint i = 0; i < IPT_HELD; ++i)
        if (begin + i * IPT_GROUP_SIZE + lane < end)
            grid[targets[i]] = held[i];
}
