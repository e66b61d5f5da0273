/* A tile of up to IPT_TILE x IPT_TILE elements, `parts` units of each. */

/* Splits unit k of a row into its element and its part; an element has `parts` units. Exact for k < 512 = IPT_TILE * 16
 * and parts <= 16. */
#if IPT_ELEMENT_UNITS == 1
#define IPT_SPLIT(k, parts, element, part) const uint element = (k), part = 0
#else
#define IPT_SPLIT(k, parts, element, part)                                                                             \
    const uint element = ((k) * (65535u / (parts) + 1u)) >> 16, part = (k)-element * (parts)
#endif

/* Reads rows x cols elements at `source` into `tile`, whose rows have `pitch` units. */
IPT_FUNCTION void ipt_load_tile(__local ipt_unit *tile, uint pitch, __global ipt_unit *source, long row_stride,
                                uint rows, uint cols, uint element_units, uint parts)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES, line = get_local_id(0) / IPT_LINE_LANES;
    for (uint row = line; row < rows; row += IPT_LINES)
        for (uint k = lane; k < cols * parts; k += IPT_LINE_LANES) {
            IPT_SPLIT(k, parts, col, part);
            tile[row * pitch + k] = source[row * row_stride + col * element_units + part];
        }
}

/* Writes the transpose of the rows x cols tile to `target`. */
IPT_INLINE void ipt_store_tile(__local ipt_unit *tile, uint pitch, __global ipt_unit *target, long row_stride,
                               uint rows, uint cols, uint element_units, uint parts, const ipt_given *g)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES, line = get_local_id(0) / IPT_LINE_LANES;
    for (uint col = line; col < cols; col += IPT_LINES)
        for (uint k = lane; k < rows * parts; k += IPT_LINE_LANES) {
            IPT_SPLIT(k, parts, row, part);
            target[col * row_stride + row * element_units + part] =
                ipt_apply(tile[row * pitch + col * parts + part], g);
        }
}
