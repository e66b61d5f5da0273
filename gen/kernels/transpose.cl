/* Tiled transposition from one place into another: panels into slabs, rows to save, whole matrices out of place. One
 * work-group per tile; source and target do not overlap. */
#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_TILE)
#error "IPT_ELEMENT_UNITS and IPT_TILE must be defined"
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

    const uint parts = min(chunk_units, element_units - first_part);
    const uint tile_rows = (uint)min((ulong)IPT_TILE, rows - row), tile_cols = (uint)min((ulong)IPT_TILE, cols - col);
    const uint pitch = IPT_TILE * chunk_units + 1; /* odd for one-unit elements: no two rows begin in the same bank */

    ipt_load_tile(tile, pitch,
                  source + source_base + m * source_matrix_stride + instance * source_instance_stride +
                      row * source_row_stride + col * element_units + first_part,
                  source_row_stride, tile_rows, tile_cols, element_units, parts);
    barrier(CLK_LOCAL_MEM_FENCE);
    ipt_store_tile(tile, pitch,
                   target + target_base + m * target_matrix_stride + instance * target_instance_stride +
                       col * target_row_stride + row * element_units + first_part,
                   target_row_stride, tile_rows, tile_cols, element_units, parts);
}
