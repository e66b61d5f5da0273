/* Tiled transposition out of place: panels into slabs, remaining rows into the workspace, whole matrices. A work-group
 * transposes one tile. Source and target do not overlap. */
#include "parts/unit.cl"
#include "parts/single.cl"
#include "parts/registers.cl"
#include "parts/small_tiles.cl"
#include "parts/pieces.cl"

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_TILE)
#error "IPT_ELEMENT_UNITS and IPT_TILE must be defined"
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_transpose(__global ipt_unit *source, __global ipt_unit *target IPT_LOCAL_PARAMETER(ipt_unit, tile) IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_NAME_LOCAL(ipt_unit, tile)
    /* Tiles are numbered down first: tiles below one another write to the same rows of the target. */
    uint group = get_group_id(0);
    const ulong row = (ulong)(group % g->tiles_down) * IPT_TILE;
    group /= g->tiles_down;
    const ulong col = (ulong)(group % g->tiles_across) * IPT_TILE;
    group /= g->tiles_across;
    const uint first_part = group % g->chunks * g->chunk_units;
    group /= g->chunks;
    const uint m = group / g->instances_per_matrix, instance = group % g->instances_per_matrix;

    const uint tile_rows = (uint)min((ulong)IPT_TILE, g->rows - row),
               tile_cols = (uint)min((ulong)IPT_TILE, g->cols - col);

    /* The row stride of a reversed source or target is negative. */
    const long source_stride = (long)g->source_row_stride, target_stride = (long)g->target_row_stride;
    __global ipt_unit *from =
        source + (g->source_base + m * g->source_matrix_stride + instance * g->source_instance_stride +
                  row * source_stride + col * g->element_units + first_part);
    __global ipt_unit *to =
        target + (g->target_base + m * g->target_matrix_stride + instance * g->target_instance_stride +
                  col * target_stride + row * g->element_units + first_part);

#ifdef IPT_BLOCK
    if (IPT_IN_REGISTERS) {
        ipt_transpose_in_registers(from, source_stride, to, target_stride, tile_rows, tile_cols);
        return;
    }
#endif
    const uint parts = min(g->chunk_units, g->element_units - first_part);
#if IPT_THREES
    if (g->element_units == 3 && parts == 3) {
        ipt_transpose_threes(from, source_stride, to, target_stride, tile_rows, tile_cols);
        return;
    }
#endif
#if IPT_GROUP_SIZE == 1 && !IPT_APPLY
    if (parts >= IPT_PIECE_UNITS) {
        ipt_transpose_long(from, source_stride, to, target_stride, tile_rows, tile_cols, g->element_units, parts);
        return;
    }
#endif
    const uint pitch =
        IPT_TILE * g->chunk_units + 1; /* odd for one-unit elements: no two rows begin in the same bank */
    ipt_load_tile(tile, pitch, from, source_stride, tile_rows, tile_cols, g->element_units, parts);
    barrier(CLK_LOCAL_MEM_FENCE);
    ipt_store_tile(tile, pitch, to, target_stride, tile_rows, tile_cols, g->element_units, parts, g);
}
