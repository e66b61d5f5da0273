/* Runs that a work-group of one work-item moves, as on CPUs, piece by piece. Runs do not overlap. */
#if IPT_GROUP_SIZE == 1
IPT_AT_ANY_ADDRESS(uint8, ipt_piece) /* of a run */
#define IPT_PIECE_UNITS (sizeof(ipt_piece) / IPT_UNIT_BYTES)

IPT_INLINE void ipt_copy_piece(__global ipt_unit *to, __global const ipt_unit *from)
{
    IPT_STORE_AT_ANY(ipt_piece, to, IPT_LOAD_AT_ANY(ipt_piece, from));
}

/* The last piece overlaps the one before it. */
IPT_INLINE void ipt_copy_run(__global ipt_unit *restrict to, __global const ipt_unit *restrict from, uint lane,
                             ulong units)
{
    ulong k = 0;
    for (; k + IPT_PIECE_UNITS < units; k += IPT_PIECE_UNITS)
        ipt_copy_piece(to + k, from + k);
    if (units >= IPT_PIECE_UNITS)
        ipt_copy_piece(to + (units - IPT_PIECE_UNITS), from + (units - IPT_PIECE_UNITS));
    for (; units < IPT_PIECE_UNITS && k < units; ++k)
        to[k] = from[k];
}

#define IPT_PREFETCHED_BYTES 2048 /* CPUs foresee longer runs */

IPT_INLINE void ipt_prefetch_run(__global const ipt_unit *run, ulong units)
{
    const ulong bytes = units * IPT_UNIT_BYTES;
    for (ulong at = 0; at < bytes + 63 && bytes <= IPT_PREFETCHED_BYTES; at += 64)
        IPT_PREFETCH((size_t)run + at);
}

/* Swaps two runs. */
IPT_INLINE void ipt_swap_run(__global ipt_unit *restrict one, __global ipt_unit *restrict other, ulong units)
{
    ulong k = 0;
    for (; k + IPT_PIECE_UNITS <= units; k += IPT_PIECE_UNITS) {
        const uint8 passed = IPT_LOAD_AT_ANY(ipt_piece, one + k);
        ipt_copy_piece(one + k, other + k);
        IPT_STORE_AT_ANY(ipt_piece, other + k, passed);
    }
    for (; k < units; ++k) {
        const ipt_unit passed = one[k];
        one[k] = other[k];
        other[k] = passed;
    }
}

/* Transposes `units` units of each of rows x cols elements of element_units; the strides are the distances of rows in
 * units. From a piece on, this is faster than unit by unit. */
IPT_FUNCTION void ipt_transpose_long(__global ipt_unit *source, long source_stride, __global ipt_unit *target,
                                     long target_stride, uint rows, uint cols, uint element_units, uint units)
{
    for (uint col = 0; col < cols; ++col)
        for (uint row = 0; row < rows; ++row)
            ipt_copy_run(target + (col * target_stride + row * element_units),
                         source + (row * source_stride + col * element_units), 0, units);
}
#endif
