/* Tiled transposition from one place into another: panels into slabs, rows to save, whole matrices out of place. One
 * work-group per tile; source and target do not overlap. */
#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_TILE)
#error "IPT_ELEMENT_UNITS and IPT_TILE must be defined"
#endif

/* A work-item alone, as on CPUs, transposes blocks in vector registers and needs no tile. */
#define IPT_VECTORS                                                                                                    \
    (IPT_GROUP_SIZE == 1 && IPT_ELEMENT_UNITS == 1 && (IPT_UNIT_BYTES == 4 || IPT_UNIT_BYTES == 8) && !IPT_APPLY)

#if IPT_VECTORS
#if IPT_UNIT_BYTES == 4
#define IPT_BLOCK 8
typedef uint8 ipt_vector;
#define IPT_LOAD_VECTOR(from) vload8(0, from)
#define IPT_STORE_VECTOR(vector, to) vstore8(vector, 0, to)
#else
#define IPT_BLOCK 4
typedef ulong4 ipt_vector;
#define IPT_LOAD_VECTOR(from) vload4(0, from)
#define IPT_STORE_VECTOR(vector, to) vstore4(vector, 0, to)
#endif

/* Exchanges the upper right with the lower left quarters of 2 x 2 (ones), 4 x 4 (twos) and 8 x 8 (halves) units. */
void ipt_exchange_halves(ipt_vector *a, ipt_vector *b)
{
    const ipt_vector both = (ipt_vector)(a->lo, b->lo);
    *b = (ipt_vector)(a->hi, b->hi);
    *a = both;
}
#if IPT_BLOCK == 8
void ipt_exchange_twos(ipt_vector *a, ipt_vector *b)
{
    const ipt_vector both = (ipt_vector)(a->s01, b->s01, a->s45, b->s45);
    *b = (ipt_vector)(a->s23, b->s23, a->s67, b->s67);
    *a = both;
}
void ipt_exchange_ones(ipt_vector *a, ipt_vector *b)
{
    const ipt_vector both = (ipt_vector)(a->s0, b->s0, a->s2, b->s2, a->s4, b->s4, a->s6, b->s6);
    *b = (ipt_vector)(a->s1, b->s1, a->s3, b->s3, a->s5, b->s5, a->s7, b->s7);
    *a = both;
}
#else
void ipt_exchange_ones(ipt_vector *a, ipt_vector *b)
{
    const ipt_vector both = (ipt_vector)(a->s0, b->s0, a->s2, b->s2);
    *b = (ipt_vector)(a->s1, b->s1, a->s3, b->s3);
    *a = both;
}
#endif

/* Transposes rows x cols units from one place into another, both of `*_stride` units from one row to the next. */
void ipt_transpose_by_vectors(__global ipt_unit *source, ulong source_stride, __global ipt_unit *target,
                              ulong target_stride, uint rows, uint cols)
{
    const uint block_rows = rows / IPT_BLOCK * IPT_BLOCK, block_cols = cols / IPT_BLOCK * IPT_BLOCK;
    for (uint col = 0; col < block_cols; col += IPT_BLOCK)
        for (uint row = 0; row < block_rows; row += IPT_BLOCK) {
            ipt_vector v[IPT_BLOCK];
#pragma unroll
            for (uint i = 0; i < IPT_BLOCK; ++i)
                v[i] = IPT_LOAD_VECTOR(source + (row + i) * source_stride + col);
#pragma unroll
            for (uint i = 0; i < IPT_BLOCK / 2; ++i)
                ipt_exchange_halves(&v[i], &v[i + IPT_BLOCK / 2]);
#if IPT_BLOCK == 8
#pragma unroll
            for (uint i = 0; i < IPT_BLOCK; i += i % 4 == 1 ? 3 : 1)
                ipt_exchange_twos(&v[i], &v[i + 2]);
#endif
#pragma unroll
            for (uint i = 0; i < IPT_BLOCK; i += 2)
                ipt_exchange_ones(&v[i], &v[i + 1]);
#pragma unroll
            for (uint i = 0; i < IPT_BLOCK; ++i)
                IPT_STORE_VECTOR(v[i], target + (col + i) * target_stride + row);
        }
    for (uint col = 0; col < cols; ++col)
        for (uint row = col < block_cols ? block_rows : 0; row < rows; ++row)
            target[col * target_stride + row] = source[row * source_stride + col];
}
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_transpose(__global ipt_unit *source, __global ipt_unit *target, __local ipt_unit *tile IPT_ARGUMENTS)
{
    /* Tiles of one column of tiles come one after the other: their targets share rows. */
    uint group = get_group_id(0);
    const ulong row = (ulong)(group % tiles_down) * IPT_TILE;
    group /= tiles_down;
    const ulong col = (ulong)(group % tiles_across) * IPT_TILE;
    group /= tiles_across;
    const uint first_part = group % chunks * chunk_units;
    group /= chunks;
    const uint m = group / instances_per_matrix, instance = group % instances_per_matrix;

    const uint tile_rows = (uint)min((ulong)IPT_TILE, rows - row), tile_cols = (uint)min((ulong)IPT_TILE, cols - col);

    __global ipt_unit *from = source + source_base + m * source_matrix_stride + instance * source_instance_stride +
                              row * source_row_stride + col * element_units + first_part;
    __global ipt_unit *to = target + target_base + m * target_matrix_stride + instance * target_instance_stride +
                            col * target_row_stride + row * element_units + first_part;

#if IPT_VECTORS
    ipt_transpose_by_vectors(from, source_row_stride, to, target_row_stride, tile_rows, tile_cols);
#else
    const uint parts = min(chunk_units, element_units - first_part);
    const uint pitch = IPT_TILE * chunk_units + 1; /* odd for one-unit elements: no two rows begin in the same bank */
    ipt_load_tile(tile, pitch, from, source_row_stride, tile_rows, tile_cols, element_units, parts);
    barrier(CLK_LOCAL_MEM_FENCE);
    ipt_store_tile(tile, pitch, to, target_row_stride, tile_rows, tile_cols, element_units, parts);
#endif
}
