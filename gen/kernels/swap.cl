/* Square grids in one pass: a work-group reads a tile and its mirror and writes each transposed to the other's place.
 */
#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_TILE)
#error "IPT_ELEMENT_UNITS and IPT_TILE must be defined"
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_swap(__global ipt_unit *matrix, __local ipt_unit *local_tiles IPT_ARGUMENTS)
{
    /* The tiles on and above the diagonal, folded into a rectangle `width` wide: its row y holds the tiles of matrix
     * row y and those of the matrix row that completes it. */
    const uint width = tiles | 1, pairs = (uint)((ulong)tiles * (tiles + 1) / 2);
    uint group = get_group_id(0);
    const uint pair = group % pairs;
    group /= pairs;
    const uint first_part = group % chunks * chunk_units;
    group /= chunks;
    const uint m = group / instances_per_matrix, instance = group % instances_per_matrix;

    const uint y = pair / width, x = pair % width;
    const uint even = 1 - (tiles & 1);
    const bool direct = x >= y + even;
    const ulong upper = direct ? y : tiles - even - y;
    const ulong right = direct ? x - even : tiles - 1 - x;

    const uint parts = min(chunk_units, element_units - first_part);
    const uint rows = (uint)min((ulong)IPT_TILE, side - upper * IPT_TILE);
    const uint cols = (uint)min((ulong)IPT_TILE, side - right * IPT_TILE);
    const uint pitch = IPT_TILE * chunk_units + 1;
    __local ipt_unit *mirror_tile = local_tiles + IPT_TILE * pitch;
    __global ipt_unit *origin = matrix + base + m * matrix_stride + instance * instance_stride + first_part;
    __global ipt_unit *place = origin + upper * IPT_TILE * row_stride + right * IPT_TILE * element_units;
    __global ipt_unit *mirror = origin + right * IPT_TILE * row_stride + upper * IPT_TILE * element_units;

    /* On the diagonal both are the same tile, read and written twice with the same values. */
    ipt_load_tile(local_tiles, pitch, place, row_stride, rows, cols, element_units, parts);
    ipt_load_tile(mirror_tile, pitch, mirror, row_stride, cols, rows, element_units, parts);
    barrier(CLK_LOCAL_MEM_FENCE);
    ipt_store_tile(local_tiles, pitch, mirror, row_stride, rows, cols, element_units, parts);
    ipt_store_tile(mirror_tile, pitch, place, row_stride, cols, rows, element_units, parts);
}
