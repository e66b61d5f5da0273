/* Random matrices and arrays, and where their elements belong. Include ipt.h before. */
#ifndef DRAWS_H_INCLUDED
#define DRAWS_H_INCLUDED

#include "views.h"

#include <stdbool.h>

static void fill(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        bytes[i] = (unsigned char)views_between(0, 255);
}

static size_t draw_elem_size(void)
{
    const size_t power = (size_t)1 << views_between(0, 4);
    return views_between(0, 2) ? power : views_between(1, 40);
}

static void draw_matrix(ipt_plan_desc *desc)
{
    const size_t most = (size_t)1 << views_between(1, 10);
    memset(desc, 0, sizeof *desc);
    desc->elem_size = draw_elem_size();
    desc->rows = views_between(1, most);
    desc->cols = views_between(0, 5) ? views_between(1, 2 * most) : desc->rows;
    desc->batch = views_between(0, 3) ? 1 : views_between(2, 9);
    desc->move = (ipt_move)views_between(0, IPT__MOVE_COUNT - 1);
    desc->max_workspace = views_between(0, 2) ? 0 : 1 << 14;
}

static void draw_array(ipt_plan_desc *desc)
{
    size_t left = (size_t)1 << views_between(6, 19);
    memset(desc, 0, sizeof *desc);
    desc->elem_size = draw_elem_size();
    desc->rank = (unsigned)views_between(2, 7);
    desc->batch = 1;
    for (unsigned i = 0; i < desc->rank; ++i) {
        const unsigned j = (unsigned)views_between(0, i);
        desc->shape[i] = views_between(1, views_between(0, 2) ? 12 : 90);
        desc->shape[i] = desc->shape[i] < left ? desc->shape[i] : left;
        left = left / desc->shape[i] ? left / desc->shape[i] : 1;
        desc->axes[i] = desc->axes[j];
        desc->axes[j] = i;
    }
}

/* Where element `at` of a moved matrix comes from. */
static size_t source_of(const ipt_plan_desc *desc, size_t at)
{
    static const struct {
        bool transposed, rows, cols;
    } moves[] = {
#define MOVE(name, text, transposed, rows, cols) {transposed, rows, cols},
        IPT_MOVE_LIST(MOVE)};
    const size_t rows = moves[desc->move].transposed ? desc->cols : desc->rows, cols = desc->rows * desc->cols / rows;
    const size_t i = moves[desc->move].rows ? rows - 1 - at / cols : at / cols,
                 j = moves[desc->move].cols ? cols - 1 - at % cols : at % cols;
    return moves[desc->move].transposed ? j * desc->cols + i : i * desc->cols + j;
}

/* Where element `at` of a permuted array comes from. */
static size_t array_source_of(const ipt_plan_desc *desc, size_t at)
{
    size_t index[IPT_MAX_RANK], from = 0;
    for (unsigned i = desc->rank; i-- > 0; at /= desc->shape[desc->axes[i]])
        index[desc->axes[i]] = at % desc->shape[desc->axes[i]];
    for (unsigned i = 0; i < desc->rank; ++i)
        from = from * desc->shape[i] + index[i];
    return from;
}

/* Elements that are not where they belong. */
static size_t wrong_elements(const ipt_plan_desc *desc, const unsigned char *result, const unsigned char *source,
                             size_t elements)
{
    size_t wrong = 0;
    for (size_t m = 0; m < desc->batch; ++m)
        for (size_t at = 0; at < elements; ++at)
            wrong += memcmp(result + (m * elements + at) * desc->elem_size,
                            source + (m * elements + (desc->rank ? array_source_of(desc, at) : source_of(desc, at))) *
                                         desc->elem_size,
                            desc->elem_size) != 0;
    return wrong;
}

#endif
