/* Tiled transposition out of place: panels into slabs, remaining rows into the workspace, whole matrices. A work-group
 * transposes one tile. Source and target do not overlap. */
#include "parts/unit.cl"
#include "parts/single.cl"
#include "parts/registers.cl"
#include "parts/small_tiles.cl"

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_TILE)
#error "IPT_ELEMENT_UNITS and IPT_TILE must be defined"
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_transpose(__global ipt_unit *source, __global ipt_unit *target, __local ipt_unit *tile IPT_GIVEN_ARGUMENTS)
{
    IPT_NAME_ARGUMENTS;
    /* Tiles are numbered down first: their targets share rows. */
    uint group = get_group_id(0);
    const ulong row = (ulong)(group % tiles_down) * IPT_TILE;
    group /= tiles_down;
    const ulong col = (ulong)(group % tiles_across) * IPT_TILE;
    group /= tiles_across;
    const uint first_part = group % chunks * chunk_units;
    group /= chunks;
    const uint m = group / instances_per_matrix, instance = group % instances_per_matrix;

    const uint tile_rows = (uint)min((ulong)IPT_TILE, rows - row), tile_cols = (uint)min((ulong)IPT_TILE, cols - col);

    /* Rows of a source or target that is reversed lie in descending sequence. */
    const long source_stride = (long)source_row_stride, target_stride = (long)target_row_stride;
    __global ipt_unit *from = source + (source_base + m * source_matrix_stride + instance * source_instance_stride +
                                        row * source_stride + col * element_units + first_part);
    __global ipt_unit *to = target + (target_base + m * target_matrix_stride + instance * target_instance_stride +
                                      col * target_stride + row * element_units + first_part);

#if IPT_IN_REGISTERS
    ipt_transpose_in_registers(from, source_stride, to, target_stride, tile_rows, tile_cols);
#else
    const uint parts = min(chunk_units, element_units - first_part);
#if IPT_THREES
    if (element_units == 3 && parts == 3) {
        ipt_transpose_threes(from, source_stride, to, target_stride, tile_rows, tile_cols);
        return;
    }
#endif
    const uint pitch = IPT_TILE * chunk_units + 1; /* odd for one-unit elements: no two rows begin in the same bank */
    ipt_load_tile(tile, pitch, from, source_stride, tile_rows, tile_cols, element_units, parts);
    barrier(CLK_LOCAL_MEM_FENCE);
    ipt_store_tile(tile, pitch, to, target_stride, tile_rows, tile_cols, element_units, parts IPT_APPLY_PASSED);
#endif
}
