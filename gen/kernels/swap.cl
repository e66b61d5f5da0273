/* Transposes square grids in one pass; with large tiles it also rotates them. A work-group reads a tile and its mirror
 * tile, and writes each transposed to the other's place. A rotation by 90 degrees moves each of four tiles to the next
 * one's place. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/vectors.cl"
#include "parts/rows.cl"
#include "parts/single.cl"
#include "parts/registers.cl"
#include "parts/small_tiles.cl"

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_TILE) || !defined(IPT_LOCAL_BYTES)
#error "IPT_ELEMENT_UNITS, IPT_TILE and IPT_LOCAL_BYTES must be defined"
#endif

/* Whether tiles are fetched by vectors. A program of the native driver learns at run time which of the others it has.
 */
#ifdef IPT_AS_C
#define IPT_LARGE 0
#else
#define IPT_LARGE (IPT_TILE > 32)
#endif

#ifdef IPT_BLOCK
/* Swaps the rows x cols units at `place` with the cols x rows units at `mirror`, transposed, in vector registers. Both
 * may be the same square on the diagonal. */
IPT_FUNCTION void ipt_swap_in_registers(__global ipt_unit *place, __global ipt_unit *mirror, ulong stride, uint rows,
                                        uint cols)
{
    for (uint row = 0; row < rows; row += IPT_BLOCK)
        for (uint col = place == mirror ? row : 0; col < cols; col += IPT_BLOCK) {
            __global ipt_unit *one = place + row * stride + col, *other = mirror + col * stride + row;
            if (row + IPT_BLOCK <= rows && col + IPT_BLOCK <= cols) {
                ipt_row v[IPT_BLOCK], w[IPT_BLOCK];
                ipt_load_block(v, one, stride);
                ipt_load_block(w, other, stride);
                ipt_transpose_block(v);
                ipt_transpose_block(w);
                ipt_store_block(v, other, stride);
                ipt_store_block(w, one, stride);
            } else {
                for (uint i = 0; i < min(rows - row, (uint)IPT_BLOCK); ++i)
                    for (uint j = one == other ? i + 1 : 0; j < min(cols - col, (uint)IPT_BLOCK); ++j) {
                        const ipt_unit held = one[i * stride + j];
                        one[i * stride + j] = other[j * stride + i];
                        other[j * stride + i] = held;
                    }
            }
        }
}
#endif

/* A tile and its mirror tile: tile row `upper` and tile column `right` of an instance. */
typedef struct ipt_pair {
    uint m, instance, first_part;
    ulong upper, right;
    uint rows, cols; /* of the tile: elements */
} ipt_pair;

/* The tiles on and above the diagonal are folded into a rectangle of width `width`. Its row y contains tile row y and
 * the tile row that fills the rectangle's row. */
IPT_INLINE void ipt_find_pair(ipt_pair *pair, uint work, const ipt_given *g)
{
    const uint width = g->tiles | 1, pairs = (uint)((ulong)g->tiles * (g->tiles + 1) / 2);
    const uint number = work % pairs;
    work /= pairs;
    pair->first_part = work % g->chunks * g->chunk_units;
    work /= g->chunks;
    pair->m = work / g->instances_per_matrix;
    pair->instance = work % g->instances_per_matrix;

    const uint y = number / width, x = number % width;
    const uint even = 1 - (g->tiles & 1);
    const bool direct = x >= y + even;
    pair->upper = direct ? y : g->tiles - even - y;
    pair->right = direct ? x - even : g->tiles - 1 - x;
    pair->rows = (uint)min((ulong)IPT_TILE, g->side - pair->upper * IPT_TILE);
    pair->cols = (uint)min((ulong)IPT_TILE, g->side - pair->right * IPT_TILE);
}

#if IPT_LARGE
/* Tiles that change places. Tiles of even numbers have rows x cols elements, the others cols x rows. */
#if IPT_REVERSED == 1 || IPT_REVERSED == 2
#define IPT_PLACES 4u
#else
#define IPT_PLACES 2u
#endif
typedef struct ipt_places {
    ulong low, high; /* of the matrix */
    ulong begins[IPT_PLACES];
    uint rows, cols;
} ipt_places;

#if IPT_PLACES == 4
/* Finds a tile of the matrix's first quarter, and the three tiles that it reaches by turns of 90 degrees. If the side
 * is odd, the quarter includes the middle row, and the middle element stays. */
IPT_INLINE void ipt_find_places(ipt_places *places, uint work, const ipt_given *g)
{
    const uint across = (uint)((g->side / 2 + IPT_TILE - 1) / IPT_TILE);
    const ulong row = (ulong)(work / across % g->tiles) * IPT_TILE, col = (ulong)(work % across) * IPT_TILE;
    const uint m = work / (across * g->tiles);
    const uint rows = (uint)min((ulong)IPT_TILE, g->side - g->side / 2 - row),
               cols = (uint)min((ulong)IPT_TILE, g->side / 2 - col);
    const ulong low = g->base + m * g->matrix_stride;
    places->low = low;
    places->high = low + g->instance_stride;
    places->rows = rows;
    places->cols = cols;
    places->begins[0] = low + row * g->row_stride + col;
    places->begins[1] = low + col * g->row_stride + g->side - row - rows;
    places->begins[2] = low + (g->side - row - rows) * g->row_stride + g->side - col - cols;
    places->begins[3] = low + (g->side - col - cols) * g->row_stride + row;
}
#else
/* A tile and its mirror tile. An antitransposition transposes mirrored columns: the tiles' columns count from the last
 * column. */
IPT_INLINE void ipt_find_places(ipt_places *places, uint work, const ipt_given *g)
{
    ipt_pair pair;
    ipt_find_pair(&pair, work, g);
    const ulong low = g->base + pair.m * g->matrix_stride, origin = low + pair.instance * g->instance_stride;
    const ulong upper = pair.upper * IPT_TILE, right = pair.right * IPT_TILE;
    places->low = low;
    places->high = low + g->instances_per_matrix * g->instance_stride;
    places->rows = pair.rows;
    places->cols = pair.cols;
    places->begins[0] = origin + upper * g->row_stride + (IPT_REVERSED ? g->side - right - pair.cols : right);
    places->begins[1] = origin + right * g->row_stride + (IPT_REVERSED ? g->side - upper - pair.rows : upper);
}
#endif

/* Large tiles have elements of one unit and are fetched by vectors: see parts/rows.cl. Where runs are stored backwards,
 * the last row is fetched first; where columns lie in the opposite sequence, the last run is stored first. */
IPT_INLINE void ipt_swap_places(__global ipt_unit *matrix, __local uint4 *vectors, __local uint *starts,
                                const ipt_places *places, const ipt_given *g)
{
    const ulong from_step = IPT_REVERSED_RUNS ? -g->row_stride : g->row_stride,
                to_step = IPT_REVERSED_COLUMNS ? -g->row_stride : g->row_stride;
    ulong from[IPT_PLACES];
#pragma unroll
    for (uint k = 0; k < IPT_PLACES; ++k) {
        const uint rows = k % 2 == 0 ? places->rows : places->cols, cols = k % 2 == 0 ? places->cols : places->rows;
        from[k] = places->begins[k] + (IPT_REVERSED_RUNS ? (rows - 1) * g->row_stride : 0);
        ipt_fetch_rows(vectors + k * g->tile_vectors, matrix, from[k], from_step, IPT_REVERSED_RUNS, rows, cols, 1,
                       rows, g->run_lanes, g->pitch, g->skew, places->low, places->high);
        ipt_mark_rows(starts + k * IPT_TILE, from[k], from_step, rows, g->pitch, g->skew);
    }
    ipt_fetch_wait();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#pragma unroll
    for (uint k = 0; k < IPT_PLACES; ++k) {
        const uint rows = k % 2 == 0 ? places->rows : places->cols, cols = k % 2 == 0 ? places->cols : places->rows;
        const ulong to = places->begins[(IPT_REVERSED == 2 ? k + IPT_PLACES - 1 : k + 1) % IPT_PLACES];
        ipt_store_rows((__local ipt_unit *)(vectors + k * g->tile_vectors), starts + k * IPT_TILE, matrix,
                       to + (IPT_REVERSED_COLUMNS ? (cols - 1) * g->row_stride : 0), to_step, cols, rows,
                       ((from[k] | g->row_stride) & (IPT_VECTOR_UNITS - 1)) == 0, 1, 0, 0, g);
    }
}
#else
IPT_INLINE void ipt_swap_pair(__global ipt_unit *matrix, __local uint4 *vectors, __local uint *starts,
                              const ipt_pair *pair, const ipt_given *g)
{
    __global ipt_unit *origin =
        matrix + g->base + pair->m * g->matrix_stride + pair->instance * g->instance_stride + pair->first_part;
    __global ipt_unit *place =
        origin + pair->upper * IPT_TILE * g->row_stride + pair->right * IPT_TILE * g->element_units;
    __global ipt_unit *mirror =
        origin + pair->right * IPT_TILE * g->row_stride + pair->upper * IPT_TILE * g->element_units;
    const uint rows = pair->rows, cols = pair->cols;
#ifdef IPT_BLOCK
    if (IPT_IN_REGISTERS) {
        ipt_swap_in_registers(place, mirror, g->row_stride, rows, cols);
        return;
    }
#endif
    const uint parts = min(g->chunk_units, g->element_units - pair->first_part);
    const uint tile_pitch = IPT_TILE * g->chunk_units + 1;
    __local ipt_unit *place_tile = (__local ipt_unit *)vectors, *mirror_tile = place_tile + IPT_TILE * tile_pitch;

    /* On the diagonal both tiles are one tile, which is read and written twice with equal values. */
    ipt_load_tile(place_tile, tile_pitch, place, g->row_stride, rows, cols, g->element_units, parts);
    ipt_load_tile(mirror_tile, tile_pitch, mirror, g->row_stride, cols, rows, g->element_units, parts);
    barrier(CLK_LOCAL_MEM_FENCE);
    ipt_store_tile(place_tile, tile_pitch, mirror, g->row_stride, rows, cols, g->element_units, parts, g);
    ipt_store_tile(mirror_tile, tile_pitch, place, g->row_stride, cols, rows, g->element_units, parts, g);
}
#endif

__kernel __attribute__((reqd_work_group_size(IPT_GROUP_SIZE, 1, 1))) void
ipt_k_swap(__global ipt_unit *matrix IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
#if defined(IPT_BLOCK) && !defined(IPT_AS_C) && !IPT_LARGE
    __local uint4 *vectors = 0;
#else
    IPT_LOCAL_LARGE(uint4, vectors, IPT_LOCAL_BYTES / 16); /* all tiles */
#endif
#if IPT_LARGE
    IPT_LOCAL_ARRAY uint starts[IPT_PLACES * IPT_TILE];
    ipt_places places;
    ipt_find_places(&places, get_group_id(0), g);
    ipt_swap_places(matrix, vectors, starts, &places, g);
#if IPT_PLACES == 4 && defined(IPT_APPLY) && IPT_APPLY
    if (g->side % 2 == 1 && get_local_id(0) == 0 && places.begins[0] == places.low) {
        __global ipt_unit *middle = matrix + places.low + g->side / 2 * (g->row_stride + 1);
        *middle = ipt_apply(*middle, g);
    }
#endif
#else
    for (uint turn = 0; turn < g->turns; ++turn) {
        ipt_pair pair;
        ipt_find_pair(&pair, get_group_id(0) * g->group_step + turn * g->turn_step, g);
        ipt_swap_pair(matrix, vectors, 0, &pair, g);
#ifndef IPT_BLOCK
        if (turn + 1 < g->turns)
            barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
#endif
}
