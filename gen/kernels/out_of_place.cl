/* Transposes matrices out of place: a work-group reads a tile by rows and writes its columns. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/vectors.cl"
#include "parts/rows.cl"
#include "parts/runs_held.cl"
#include "parts/words.cl"

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_MEMORY_MODEL) || !defined(IPT_LOCAL_BYTES)
#error "IPT_ELEMENT_UNITS, IPT_MEMORY_MODEL and IPT_LOCAL_BYTES must be defined"
#endif

#define IPT_ROWS 512 /* most rows of a tile */

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_out_of_place(__global ipt_unit *source, __global ipt_unit *target IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    IPT_LOCAL_LARGE(uint4, vectors, IPT_LOCAL_BYTES / 16);
    IPT_LOCAL_ARRAY uint starts[IPT_ROWS];
    /* Tiles are numbered down first: work-groups that run together write to the same lines. */
    const uint m = get_group_id(0) / g->tiles, tile = get_group_id(0) - m * g->tiles;
    const uint across = tile / g->tiles_down, down = tile - across * g->tiles_down;
    const ulong row = (ulong)down * g->tile_rows, col = (ulong)across * g->tile_cols;
    const uint tile_height = (uint)min((ulong)g->tile_rows, g->rows - row);
    const uint tile_width = (uint)min((ulong)g->tile_cols, g->cols - col);
    const ulong low = g->source_base + m * g->source_matrix_stride, high = low + g->matrix_units;
    const ulong begin = low + row * g->source_row_stride + col * g->element_units;

    ipt_fetch_rows(vectors, source, begin, g->source_row_stride, false, tile_height, tile_width * g->element_units, 1,
                   tile_height, g->run_lanes, g->pitch, g->skew, low, high);
    ipt_mark_rows(starts, begin, g->source_row_stride, tile_height, g->pitch, g->skew);
    ipt_fetch_wait();
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong to = g->target_base + m * g->target_matrix_stride + col * g->target_row_stride + row * g->element_units;
#if IPT_BY_WORDS
    const ipt_block_tile blocks_of = {(__local ipt_unit *)vectors,
                                      (uint)begin,
                                      (uint)g->source_row_stride,
                                      g->pitch,
                                      g->skew,
                                      g->element_units,
                                      tile_height};
    if (ipt_has_blocks(&blocks_of, to | g->target_row_stride)) {
        for (uint block = get_local_id(0) / IPT_LINE_LANES * IPT_WORD_UNITS; block < tile_width;
             block += IPT_LINES * IPT_WORD_UNITS)
            ipt_move_block(&blocks_of, block, target + to + block * g->target_row_stride, (long)g->target_row_stride,
                           false, true, ipt_policy_drop(), g);
        return;
    }
#endif
    ipt_store_rows((__local ipt_unit *)vectors, starts, target, to, g->target_row_stride, tile_width,
                   tile_height * g->element_units,
                   IPT_ELEMENT_UNITS == 1 && ((begin | g->source_row_stride) & (IPT_VECTOR_UNITS - 1)) == 0,
                   IPT_DIVISOR(g->element_units), g);
}
