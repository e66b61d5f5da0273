/* Super-elements in local memory that are transposed on their way. */

/* The place of unit u in local memory. Lanes read columns, whose stride may be a power of two. The gaps move the units
 * of such a column to different banks. */
IPT_INLINE uint ipt_held_at(uint u, bool gaps)
{
    return gaps ? u + u / 32 + u / 1024 : u;
}

/* Whether super-elements are transposed. The native driver's programs, which can do so, learn it at run time. */
#ifdef IPT_AS_C
#define IPT_TURNS (g->inner_rows != 0)
#else
#define IPT_TURNS IPT_INNER
#endif

#if defined(IPT_INNER) && IPT_INNER
/* The units that one of IPT_LANES work-items reads to transpose a super-element of inner_rows x inner_cols elements.
 * The first is unit `unit` of the super-element: part `part` of an element in row `row`. The steps lead to the
 * work-item's next unit. All super-elements share these values. */
typedef struct ipt_inner {
    uint unit, row, part;
    uint unit_step, row_step, part_step;
    uint rows, row_units, element_units, units;
} ipt_inner;

IPT_INLINE void ipt_find_inner(ipt_inner *inner, uint lane, uint inner_rows, uint inner_cols, uint element_units)
{
    const uint column = inner_rows * element_units, row_units = inner_cols * element_units;
    inner->part = lane % element_units;
    inner->row = lane % column / element_units;
    inner->unit = inner->row * row_units + lane / column * element_units + inner->part;
    inner->part_step = IPT_LANES % element_units;
    inner->row_step = IPT_LANES % column / element_units;
    inner->unit_step = inner->row_step * row_units + IPT_LANES / column * element_units + inner->part_step;
    inner->rows = inner_rows;
    inner->row_units = row_units;
    inner->element_units = element_units;
    inner->units = inner_rows * row_units;
}

/* Writes a super-element transposed. */
IPT_INLINE void ipt_store_inner(__global ipt_unit *to, __local const ipt_unit *held, uint lane, const ipt_inner *inner,
                                bool gaps)
{
#ifdef IPT_BLOCK /* in C local memory is as any other */
    if (inner->element_units == 1) {
        ipt_transpose_in_registers((ipt_unit *)held, inner->row_units, to, inner->rows, inner->rows, inner->row_units);
        return;
    }
#endif
#if IPT_LANES == 1
    for (uint first = 0; first < inner->row_units; first += inner->element_units)
        for (uint row = first; row < inner->units; row += inner->row_units)
            for (uint part = 0; part < inner->element_units; ++part)
                *to++ = held[row + part];
#else
    uint unit = inner->unit, row = inner->row, part = inner->part;
    for (uint k = lane; k < inner->units; k += IPT_LANES) {
        to[k] = held[ipt_held_at(unit, gaps)];
        unit += inner->unit_step;
        row += inner->row_step;
        part += inner->part_step;
        if (part >= inner->element_units) {
            part -= inner->element_units;
            ++row;
            unit += inner->row_units - inner->element_units;
        }
        if (row >= inner->rows) {
            row -= inner->rows;
            unit += inner->element_units - inner->units;
        }
    }
#endif
}
#endif
