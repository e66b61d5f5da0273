/* OpenCL C's functions as C, for expressions on the native driver: gen/library/driver/native_c.h. `ipt precompile
 * --native` writes the calls. All names in its files begin with ipt__cl_ or ipt__native_, so that the program's own
 * macros replace none, and a name that is not here fails to compile. */
#define IPT__CL_TRUE(claim) (0 * sizeof(char[(claim) ? 1 : -1])) /* fails to compile if the claim is false */
#define IPT__CL_FLOAT(v) __typeof__((v) + 0.0f)
#define IPT__CL_PICK(v, single, twice)                                                                                 \
    ((IPT__CL_FLOAT(v))(sizeof(IPT__CL_FLOAT(v)) == sizeof(float) ? (single) : (twice)))
#define ipt__cl_math_1(name, v) IPT__CL_PICK(v, __builtin_##name##f((float)(v)), __builtin_##name(v))
#define ipt__cl_math_2(name, v, w) IPT__CL_PICK(v, __builtin_##name##f((float)(v), (float)(w)), __builtin_##name(v, w))
#define ipt__cl_math_3(name, v, w, u)                                                                                  \
    IPT__CL_PICK(v, __builtin_##name##f((float)(v), (float)(w), (float)(u)), __builtin_##name(v, w, u))
#define ipt__cl_mad(v, w, u) ((v) * (w) + (u))
#define ipt__cl_min(v, w) ((w) < (v) ? (w) : (v))
#define ipt__cl_max(v, w) ((v) < (w) ? (w) : (v))
#define ipt__cl_clamp(v, least, most) ipt__cl_min(ipt__cl_max(v, least), most)
#define ipt__cl_select(v, w, c) ((c) ? (w) : (v))

/* as_TYPE(v); convert_TYPE(v), with _sat and _rte for integers of up to 32 bits; (TYPE)(components). */
#define ipt__cl_as(type, v)                                                                                            \
    __extension__({                                                                                                    \
        const __typeof__(v) ipt__from = (v);                                                                           \
        type ipt__to;                                                                                                  \
        memcpy(&ipt__to, &ipt__from, sizeof ipt__to + IPT__CL_TRUE(sizeof ipt__to == sizeof ipt__from));               \
        ipt__to;                                                                                                       \
    })
#define ipt__cl_cast(type, v) ((type)(v))
#define ipt__cl_rte(type, v) ((type)__builtin_rint((double)(v)))
#define ipt__cl_sat(type, v)                                                                                           \
    __extension__({                                                                                                    \
        const double ipt__from = (double)(v);                                                                          \
        const int ipt__signed = (type)-1 < (type)1;                                                                    \
        const double ipt__most = (double)((1ull << (8 * sizeof(type) - (size_t)ipt__signed)) - 1);                     \
        const double ipt__least = ipt__signed ? -ipt__most - 1 : 0;                                                    \
        (type)(ipt__from >= ipt__most   ? ipt__most                                                                    \
               : ipt__from > ipt__least ? ipt__from                                                                    \
               : ipt__from == ipt__from ? ipt__least                                                                   \
                                        : 0);                                                                          \
    })
#define ipt__cl_sat_rte(type, v) ipt__cl_sat(type, __builtin_rint((double)(v)))
#define ipt__cl_each(way, type, count, v)                                                                              \
    __extension__({                                                                                                    \
        const __typeof__(v) ipt__vector = (v);                                                                         \
        type##count ipt__to;                                                                                           \
        size_t ipt__k = IPT__CL_TRUE(sizeof ipt__vector == sizeof ipt__vector[0] * count);                             \
        for (; ipt__k < count; ++ipt__k)                                                                               \
            ipt__to[ipt__k] = ipt__cl_##way(type, ipt__vector[ipt__k]);                                                \
        ipt__to;                                                                                                       \
    })
#define ipt__cl_vector(type, count, ...)                                                                               \
    __extension__({                                                                                                    \
        const type ipt__list[] = {__VA_ARGS__};                                                                        \
        type##count ipt__to;                                                                                           \
        const size_t ipt__last = sizeof ipt__list / sizeof ipt__list[0] - 1;                                           \
        size_t ipt__k = IPT__CL_TRUE(sizeof ipt__list == sizeof ipt__list[0] || sizeof ipt__list == sizeof ipt__to);   \
        for (; ipt__k < count; ++ipt__k)                                                                               \
            ipt__to[ipt__k] = ipt__list[ipt__last ? ipt__k : 0];                                                       \
        ipt__to;                                                                                                       \
    })
