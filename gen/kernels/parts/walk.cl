/* Walks along the columns of a band layout, and tells their numbers in the slot layout. */
#ifndef IPT_AXES
#error "IPT_AXES must be defined"
#endif

#if IPT_AXES
#define IPT_OF_WALK(name) g->name##0, g->name##1, g->name##2, g->name##3, g->name##4, g->name##5, g->name##6, g->name##7

typedef struct ipt_walk {
    uint column;          /* in the slot layout */
    uint index[IPT_AXES]; /* on each axis of permuted columns; the band layout's last axis comes first */
} ipt_walk;

/* Begins at place x of the band layout. */
IPT_INLINE void ipt_walk_from(ipt_walk *walk, uint x, const ipt_given *g)
{
    const uint lengths[] = {IPT_OF_WALK(length)}, steps[] = {IPT_OF_WALK(step)};
    walk->column = 0;
#pragma unroll
    for (uint i = 0; i < IPT_AXES; ++i) {
        walk->index[i] = x % lengths[i];
        walk->column += walk->index[i] * steps[i];
        x /= lengths[i];
    }
}

/* Moves to the next place; from the last one to the first. */
IPT_INLINE void ipt_walk_on(ipt_walk *walk, const ipt_given *g)
{
    const uint lengths[] = {IPT_OF_WALK(length)}, steps[] = {IPT_OF_WALK(step)};
    bool carries = true;
#pragma unroll
    for (uint i = 0; i < IPT_AXES; ++i) {
        const bool ends = carries && walk->index[i] + 1 == lengths[i];
        if (carries) {
            walk->index[i] = ends ? 0 : walk->index[i] + 1;
            walk->column += ends ? steps[i] - lengths[i] * steps[i] : steps[i];
        }
        carries = ends;
    }
}
#endif
