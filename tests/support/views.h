/* Random arrays with strides, and what their executions must leave in memory, by an index formula. Include ipt.h
 * before.
 */
#ifndef VIEWS_H_INCLUDED
#define VIEWS_H_INCLUDED

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t views_state;
static size_t views_between(size_t least, size_t most)
{
    uint64_t value = views_state += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return least + (size_t)((value ^ value >> 31) % (most - least + 1));
}

static size_t views_unit(size_t elem_size)
{
    size_t unit = 1;
    while (unit < 16 && elem_size % (2 * unit) == 0)
        unit *= 2;
    return unit;
}

/* The length and the stride of axis `i` of the source (0) or of the result (1). Axis `rank` is the batch. */
static size_t views_length(const ipt_plan_desc *desc, int side, unsigned i)
{
    return i == desc->rank ? desc->batch ? desc->batch : 1 : desc->shape[side ? desc->axes[i] : i];
}
static size_t views_own_stride(const ipt_plan_desc *desc, int side, unsigned i)
{
    const size_t *const given = side ? desc->strides_out : desc->strides;
    size_t stride = desc->elem_size;
    unsigned k;
    for (k = 0; k < desc->rank; ++k)
        if (given[k])
            return given[i];
    for (k = i + 1; k < desc->rank; ++k)
        stride *= views_length(desc, side, k);
    return stride;
}
static size_t views_stride(const ipt_plan_desc *desc, int side, unsigned i)
{
    size_t most = 0, reach;
    unsigned k;
    if (i < desc->rank)
        return views_own_stride(desc, side, i);
    if (desc->batch_stride)
        return desc->batch_stride;
    for (k = 0; k < 2 * desc->rank; ++k) { /* axes of one element have no stride */
        reach = views_length(desc, k % 2, k / 2);
        reach = reach > 1 ? reach * views_own_stride(desc, k % 2, k / 2) : 0;
        most = reach > most ? reach : most;
    }
    return most ? most : desc->elem_size;
}

/* Bytes from the first element to the last one's end. */
static size_t views_span(const ipt_plan_desc *desc, int side)
{
    size_t span = desc->elem_size;
    unsigned i;
    for (i = 0; i <= desc->rank; ++i)
        span += (views_length(desc, side, i) - 1) * (views_length(desc, side, i) > 1 ? views_stride(desc, side, i) : 0);
    return span;
}

/* Strides of one side: each axis begins where the one inside ends, or later. */
static void views_draw_side(ipt_plan_desc *desc, int side, size_t gaps, size_t inner_batch)
{
    size_t *const strides = side ? desc->strides_out : desc->strides;
    const size_t unit = views_unit(desc->elem_size), batch = desc->batch ? desc->batch : 1;
    size_t bytes = desc->elem_size, of_element = views_between(0, 2);
    unsigned order[IPT_MAX_RANK], i, k;
    if (inner_batch) /* the elements of all arrays lie together */
        bytes = (batch - 1) * inner_batch + desc->elem_size;
    for (i = 0; i < desc->rank; ++i)
        order[i] = desc->rank - 1 - i;
    for (i = views_between(0, 3) ? 0 : desc->rank; i > 1; --i) { /* sometimes in any sequence */
        const unsigned at = (unsigned)views_between(0, i - 1), axis = order[i - 1];
        order[i - 1] = order[at];
        order[at] = axis;
    }
    for (k = 0; k < desc->rank; ++k) {
        const size_t length = views_length(desc, side, i = order[k]);
        size_t stride = (bytes + unit - 1) / unit * unit;
        if (views_between(0, 99) < gaps)
            stride += unit * views_between(0, 9);
        if (of_element || gaps == 0)
            stride = (bytes + desc->elem_size - 1) / desc->elem_size * desc->elem_size +
                     (views_between(0, 99) < gaps ? desc->elem_size * views_between(0, 9) : 0);
        strides[i] = length > 1 || views_between(0, 1) ? stride : 0;
        if (length > 1)
            bytes += (length - 1) * stride;
    }
}

/* A batch of matrices with gaps, of elements of several values; or rows of several matrices in turn. */
static void views_draw_matrices(ipt_plan_desc *desc, size_t most)
{
    static const unsigned plain[] = {0, 2, 1, 3}, in_turn[] = {2, 1, 0, 3};
    const size_t unit = views_unit(desc->elem_size), side = views_between(1, most < 120 ? most : 120),
                 other = views_between(1, most / side ? most / side : 1), values = views_between(1, 4),
                 number = views_between(1, 4), size = values * desc->elem_size;
    const int turns = (int)views_between(0, 1);
    size_t apart;
    desc->rank = 4;
    memcpy(desc->axes, turns ? in_turn : plain, sizeof plain);
    desc->shape[0] = turns ? side : number;
    desc->shape[1] = turns ? number : side;
    desc->shape[2] = other;
    desc->shape[3] = values;
    desc->strides[3] = desc->strides_out[3] = desc->elem_size;
    desc->strides[2] = desc->strides_out[2] = size;
    if (turns) {
        desc->strides[1] = desc->strides_out[1] = (side > other ? side : other) * size + unit * views_between(0, 9);
        desc->strides[0] = desc->strides_out[0] = number * desc->strides[1] + unit * views_between(0, 9);
        desc->strides_out[0] +=
            unit * views_between(0, 1) * views_between(0, 9); /* sometimes the matrices interleave */
        return;
    }
    desc->strides[1] = other * size + unit * views_between(0, 9);
    desc->strides_out[1] = side * size + unit * views_between(0, 9);
    apart =
        side * desc->strides[1] > other * desc->strides_out[1] ? side * desc->strides[1] : other * desc->strides_out[1];
    desc->strides[0] = desc->strides_out[0] = apart + unit * views_between(0, 9);
}

/* Pixels that become planes, or the reverse. Rows have gaps. */
static void views_draw_picture(ipt_plan_desc *desc, size_t most)
{
    static const unsigned to_planes[] = {2, 0, 1}, to_pixels[] = {1, 2, 0};
    const size_t size = desc->elem_size, values = views_between(2, 5), rows = views_between(1, 20),
                 cols = views_between(1, 1 + most / rows / values), unit = views_unit(size),
                 gaps = unit << views_between(0, 4), inner = size * values * (views_between(0, 3) ? 1 : 2),
                 row = (cols * inner + gaps - 1) / gaps * gaps + gaps * views_between(0, 2),
                 plane_row = (cols * size + gaps - 1) / gaps * gaps + gaps * views_between(0, 2);
    const size_t pixels[] = {rows, cols, values}, planes[] = {values, rows, cols}, of_pixels[] = {row, inner, size},
                 of_planes[] = {rows * plane_row, plane_row, size};
    const int back = (int)views_between(0, 1);
    desc->rank = 3;
    memcpy(desc->axes, back ? to_pixels : to_planes, sizeof to_planes);
    memcpy(desc->shape, back ? planes : pixels, sizeof planes);
    memcpy(back ? desc->strides_out : desc->strides, of_pixels, sizeof of_pixels);
    memcpy(back ? desc->strides : desc->strides_out, of_planes, sizeof of_planes);
}

/* Draws an array of 2 to 6 axes. most: its elements. */
static ipt_plan_desc views_draw(size_t most)
{
    static const size_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
    ipt_plan_desc desc;
    size_t left, inner_batch = 0;
    unsigned i;
    const size_t kind = views_between(0, 9);
    memset(&desc, 0, sizeof desc);
    desc.elem_size = views_between(0, 1) ? sizes[views_between(0, 8)] : views_between(1, 24);
    desc.rank = (unsigned)views_between(2, views_between(0, 1) ? 3 : 6);
    desc.batch = views_between(0, 2) ? 0 : views_between(1, 4);
    left = views_between(1, most);
    if (kind > 7) {
        views_draw_matrices(&desc, left);
        return desc;
    }
    if (kind == 7) {
        views_draw_picture(&desc, left);
        return desc;
    }
    for (i = 0; i < desc.rank; ++i) {
        const size_t longest = desc.rank < 4 ? 60 : 9;
        desc.axes[i] = i;
        desc.shape[i] = views_between(1, left < longest ? left : longest);
        left /= desc.shape[i];
    }
    for (i = kind == 0 ? 0 : desc.rank; i > 1; --i) {
        const unsigned at = (unsigned)views_between(0, i - 1), axis = desc.axes[i - 1];
        desc.axes[i - 1] = desc.axes[at];
        desc.axes[at] = axis;
    }
    if (desc.batch > 1 && views_between(0, 5) == 0)
        inner_batch = desc.batch_stride = desc.elem_size * views_between(1, 2);
    if (kind != 1 || inner_batch)
        views_draw_side(&desc, 0, kind == 2 ? 0 : kind < 6 ? 30 : 80, inner_batch);
    if (kind != 3 || inner_batch)
        views_draw_side(&desc, 1, kind == 2 ? 0 : kind < 6 ? 30 : 80, inner_batch);
    if (kind == 4 && !inner_batch) /* axes that stay have equal strides, and the last one no gaps */
        for (i = 0; i < desc.rank; ++i)
            if (desc.axes[i] == i)
                desc.strides_out[i] = desc.strides[i];
    if (desc.batch > 1 && !inner_batch && views_between(0, 1)) {
        const size_t unit = views_unit(desc.elem_size), batch = desc.batch;
        desc.batch = 1;
        left = views_span(&desc, 0) > views_span(&desc, 1) ? views_span(&desc, 0) : views_span(&desc, 1);
        desc.batch = batch;
        desc.batch_stride = (left + unit - 1) / unit * unit + unit * views_between(0, 5);
    }
    return desc;
}

/* Whether the elements of a side lie apart, whatever views_draw changed. */
static int views_are_apart(const ipt_plan_desc *desc, int side)
{
    size_t bytes = desc->elem_size, last = 0;
    unsigned k, i;
    for (k = 0; k <= desc->rank; ++k) {
        unsigned next = desc->rank + 1;
        for (i = 0; i <= desc->rank; ++i)
            if (views_length(desc, side, i) > 1 && views_stride(desc, side, i) > last &&
                (next > desc->rank || views_stride(desc, side, i) < views_stride(desc, side, next)))
                next = i;
        if (next > desc->rank)
            break;
        last = views_stride(desc, side, next);
        if (last < bytes)
            return 0;
        bytes += (views_length(desc, side, next) - 1) * last;
    }
    for (i = 0; i <= desc->rank; ++i) /* equal strides overlap */
        for (k = 0; k < i; ++k)
            if (views_length(desc, side, i) > 1 && views_length(desc, side, k) > 1 &&
                views_stride(desc, side, i) == views_stride(desc, side, k))
                return 0;
    return 1;
}

static void views_print(const ipt_plan_desc *desc, char *text, size_t capacity)
{
    size_t used = (size_t)snprintf(text, capacity, "elem_size %zu, batch %zu, batch_stride %zu, max_workspace %zu%s",
                                   desc->elem_size, desc->batch, desc->batch_stride, desc->max_workspace,
                                   desc->expression ? ", expression" : "");
    unsigned i, part;
    for (part = 0; part < 4; ++part) {
        used += (size_t)snprintf(text + used, capacity - used, "%s",
                                 part == 0   ? ", shape"
                                 : part == 1 ? ", axes"
                                 : part == 2 ? ", strides"
                                             : ", strides_out");
        for (i = 0; i < desc->rank; ++i)
            used += (size_t)snprintf(text + used, capacity - used, " %zu",
                                     part == 0   ? desc->shape[i]
                                     : part == 1 ? desc->axes[i]
                                     : part == 2 ? desc->strides[i]
                                                 : desc->strides_out[i]);
    }
}

/* What memory holds after an execution at `offset`: `after`, but any value where `any` is 1. from: the memory of the
 * source. In place, source elements may have any value afterwards, unless the result has an element there. An
 * expression adds 1 to each byte. */
static void views_expect(const ipt_plan_desc *desc, size_t offset, const unsigned char *from, int in_place,
                         unsigned char *after, unsigned char *any)
{
    int writes;
    for (writes = 0; writes < 2; ++writes) {
        size_t index[IPT_MAX_RANK + 1] = {0};
        unsigned i = 0;
        while (i <= desc->rank) {
            size_t source = offset, target = offset, b;
            for (i = 0; i <= desc->rank; ++i) {
                source += index[i] * views_stride(desc, 0, i);
                target += index[i == desc->rank ? i : desc->axes[i]] * views_stride(desc, 1, i);
            }
            if (writes) {
                for (b = 0; b < desc->elem_size; ++b)
                    after[target + b] = (unsigned char)(from[source + b] + (desc->expression != NULL));
                memset(any + target, 0, desc->elem_size);
            } else if (in_place)
                memset(any + source, 1, desc->elem_size);
            for (i = 0; i <= desc->rank && ++index[i] == views_length(desc, 0, i); ++i)
                index[i] = 0;
        }
    }
}

/* The first byte that differs, or `bytes`. */
static size_t views_differ(const unsigned char *got, const unsigned char *after, const unsigned char *any, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes && (any[i] || got[i] == after[i]); ++i)
        ;
    return i;
}

#endif
