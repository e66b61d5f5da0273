/* The axes of an array. */
#ifndef IPT_AXES
#error "IPT_AXES must be defined"
#endif

#if IPT_AXES
#define IPT_OF_AXES(name, part)                                                                                        \
    {                                                                                                                  \
        g->name##0##part, g->name##1##part, g->name##2##part, g->name##3##part, g->name##4##part, g->name##5##part,    \
            g->name##6##part, g->name##7##part                                                                         \
    }
#define IPT_DIVISORS_OF_AXES(name)                                                                                     \
    const uint name[] = IPT_OF_AXES(name, ), name##_magic[] = IPT_OF_AXES(name, _magic),                               \
               name##_shift[] = IPT_OF_AXES(name, _shift)
#define IPT_DIVISOR_AT(name, i) name[i], name##_magic[i], name##_shift[i]

/* Where the unit at `at` goes, and where that comes from which goes to `at`. */
IPT_INLINE uint ipt_place_after(uint at, const ipt_given *g)
{
    const uint lengths[] = IPT_OF_AXES(length, ), sources[] = IPT_OF_AXES(source, ), targets[] = IPT_OF_AXES(target, );
    uint to = 0;
#pragma unroll
    for (uint i = 0; i < IPT_AXES; ++i)
        to += at / sources[i] % lengths[i] * targets[i];
    return to;
}
IPT_INLINE uint ipt_place_before(uint at, const ipt_given *g)
{
    const uint lengths[] = IPT_OF_AXES(length, ), sources[] = IPT_OF_AXES(source, ), targets[] = IPT_OF_AXES(target, );
    uint from = 0;
#pragma unroll
    for (uint i = 0; i < IPT_AXES; ++i)
        from += at / targets[i] % lengths[i] * sources[i];
    return from;
}
#endif
