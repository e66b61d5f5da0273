/* All bands of the band exchange on a CPU, in one launch: see runs.cl for a band's steps and ipt__bands for the plan.
 * With a launch for each step, PoCL would wake its threads hundreds of times, and a core would find half of the slab in
 * another core's cache.
 *
 * A stripe is a range of columns; a piece is a part of a stripe. A work-group, of one work-item, first takes pieces of
 * its own stripe, whose slab is in its core's cache. Then it takes the remaining pieces of other stripes.
 *
 * For each piece, step q moves the runs of the previous band and reads band q (tall), or writes the previous band and
 * gathers the runs of band q (wide). Tall: moved runs overwrite only bands that have been read. Wide: gathered runs
 * come only from bands that are not written yet. So work-groups wait only between steps.
 *
 * A work-group waits only for pieces that running work-groups have taken, and a taken piece waits for nothing. A
 * work-group that has polled `polls` times leaves: then another one still moves a piece. So the last work-group never
 * leaves before the last piece. tests/models/waves.pml checks this.
 *
 * Invariant: all pieces of a step are done before a piece of the next step is taken. */
#include "parts/unit.cl"
#include "parts/divide.cl"
#include "parts/single.cl"
#include "parts/sync.cl"
#include "parts/registers.cl"
#include "parts/walk.cl"
#include "parts/pieces.cl"
#include "parts/run_moves.cl"

#if !defined(IPT_ELEMENT_UNITS) || !defined(IPT_TILE) || IPT_GROUP_SIZE != 1
#error "IPT_ELEMENT_UNITS and IPT_TILE must be defined, and IPT_GROUP_SIZE must be 1"
#endif

#define IPT_COUNTER_WORDS 16 /* between counters: a cache line */

/* Transposes rows x cols elements from `source` to `target`; the strides are the distances of rows in units. */
IPT_INLINE void ipt_transpose_tile(__global ipt_unit *source, long source_stride, __global ipt_unit *target,
                                   long target_stride, uint rows, uint cols, const ipt_given *g)
{
#ifdef IPT_BLOCK
    if (IPT_IN_REGISTERS) {
        ipt_transpose_in_registers(source, source_stride, target, target_stride, rows, cols);
        return;
    }
#endif
#if IPT_THREES
    if (g->element_units == 3) {
        ipt_transpose_threes(source, source_stride, target, target_stride, rows, cols);
        return;
    }
#endif
#if !IPT_APPLY
    if (g->element_units >= IPT_PIECE_UNITS) {
        ipt_transpose_long(source, source_stride, target, target_stride, rows, cols, g->element_units,
                           g->element_units);
        return;
    }
#endif
    const uint element_units = g->element_units; /* PoCL would load the field in each turn */
    for (uint col = 0; col < cols; ++col)
        for (uint row = 0; row < rows; ++row)
            for (uint part = 0; part < element_units; ++part)
                target[col * target_stride + (row * element_units + part)] =
                    ipt_apply(source[row * source_stride + (col * element_units + part)], g);
}

/* Transposes tile by tile, down first: the targets of such tiles share rows. */
IPT_INLINE void ipt_transpose_piece(__global ipt_unit *source, long source_stride, __global ipt_unit *target,
                                    long target_stride, uint rows, uint cols, const ipt_given *g)
{
    for (uint col = 0; col < cols; col += IPT_TILE)
        for (uint row = 0; row < rows; row += IPT_TILE)
            ipt_transpose_tile(source + row * source_stride + col * g->element_units, source_stride,
                               target + col * target_stride + row * g->element_units, target_stride,
                               min((uint)IPT_TILE, rows - row), min((uint)IPT_TILE, cols - col), g);
}

/* Moves columns `first` to `end` of a band between its rows and the slab. */
IPT_INLINE void ipt_move_rows(__global ipt_unit *matrix, __global ipt_unit *slab, uint band, uint first, uint end,
                              const ipt_given *g)
{
    const uint in_row = g->reversed_columns == 0 ? first : g->short_side - end, rows = g->height;
    __global ipt_unit *const runs = slab + in_row * g->run_units;
    __global ipt_unit *const at = matrix + band * (g->height * g->row_units) + in_row * g->element_units +
                                  (g->reversed_runs == 0 ? 0 : (rows - 1) * g->row_units);
    const long stride = g->reversed_runs == 0 ? (long)g->row_units : -(long)g->row_units;
    if (IPT_TALL)
        ipt_transpose_piece(at, stride, runs, (long)g->run_units, rows, end - first, g);
    else
        ipt_transpose_piece(runs, (long)g->run_units, at, stride, end - first, rows, g);
}

/* Takes a piece of a stripe, or returns `pieces` if there is none. In step q, the counter begins at q * pieces. */
IPT_INLINE uint ipt_take_piece(volatile __global uint *counter, uint begin, uint pieces)
{
    uint taken = ipt_glance(counter);
    while (taken - begin < pieces) {
        const uint seen = atomic_cmpxchg(counter, taken, taken + 1);
        if (seen == taken)
            return taken - begin;
        taken = seen;
    }
    return pieces;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void ipt_k_waves(__global ipt_unit *matrices,
                                                                         __global ipt_unit *workspace IPT_ARGUMENTS)
{
    const ipt_given given = IPT_GIVEN, *const g = &given;
    volatile __global uint *const done = (volatile __global uint *)workspace + g->control_base;
    volatile __global uint *const taken = done + IPT_COUNTER_WORDS;
    __global uint *const clear = (__global uint *)workspace + g->clear_base;
    const uint each = g->bands + 1, steps = g->batch * each, all = g->stripes * g->pieces;
    for (uint i = get_group_id(0); i < g->clear_words; i += get_num_groups(0))
        clear[i] = 0;
    for (uint step = ipt_poll(done) / all; step < steps; ++step) {
        const uint m = step / each, q = step - m * each;
        __global ipt_unit *const matrix = matrices + g->base + m * g->matrix_stride;
        __global ipt_unit *const saved = workspace + g->saved_base + m * g->saved_stride;
        __global ipt_unit *const slab = workspace + g->slab_base;
        const uint next = g->from_last != 0 ? g->bands - 1 - q : q, last = g->from_last != 0 ? next + 1 : next - 1;
        for (uint polled = 0; ipt_poll(done) < step * all; ++polled)
            if (polled >= g->polls)
                return;
        for (uint s = 0; s < g->stripes; ++s) {
            const uint stripe = (get_group_id(0) + s) % g->stripes, begin = stripe * g->stripe_columns;
            const uint stripe_end = min(g->short_side, begin + g->stripe_columns);
            for (;;) {
                const uint piece = ipt_take_piece(taken + stripe * IPT_COUNTER_WORDS, step * g->pieces, g->pieces);
                const uint first = min(stripe_end, begin + piece * g->piece_columns);
                const uint end = min(stripe_end, first + g->piece_columns);
                if (piece == g->pieces)
                    break;
                if (!IPT_TALL && q > 0)
                    ipt_move_rows(matrix, slab, last, first, end, g);
                if (IPT_TALL ? q > 0 : q < g->bands)
                    ipt_move_runs(matrix, saved, slab, IPT_TALL ? last : next, first, end, 0, 0, g->run_units, g);
                if (IPT_TALL != 0 && q < g->bands)
                    ipt_move_rows(matrix, slab, next, first, end, g);
                ipt_signal(done);
            }
        }
    }
}
