/* OpenCL C as CUDA C++, for NVRTC with -default-device -std=c++20, and for clang; as HIP for clang alone. The CUDA
 * driver has this text before each program's, both in a namespace, which hides CUDA's own vector types. */
#define IPT_AS_CUDA 1
#define __asm__ asm
#define __kernel extern "C" __global__
#define __global
#define __local
#define __constant const
#define __private
#define restrict __restrict__
#define reqd_work_group_size(x, y, z) launch_bounds((x) * (y) * (z)IPT_CUDA_GROUPS)
#define IPT_FUNCTION inline
#define IPT_INLINE inline __attribute__((always_inline))
#define IPT_LOCAL_ARRAY __shared__
#define IPT_LOCAL_LARGE(type, name, count) extern __shared__ type name[]
#define IPT_LOCAL_PARAMETER(type, name)
#define IPT_NAME_LOCAL(type, name)                                                                                     \
    extern __shared__ uint4 ipt_launched[];                                                                            \
    type *const name = (type *)ipt_launched;
#define IPT_LOCAL_ADDRESS(pointer) ((uint)__cvta_generic_to_shared(pointer))
#define IPT_VECTOR(type) type
#define IPT_VOLATILE /* a vector is a class; no load of its memory may be repeated or left out, as it may be stored to \
                      */

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long long ulong;
#define long long long

/* Work-items, barriers and atomics. */
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define get_local_id(axis) threadIdx.x
#define get_local_size(axis) blockDim.x
#define get_group_id(axis) blockIdx.x
#define get_global_id(axis) (blockIdx.x * blockDim.x + threadIdx.x)
#define get_num_groups(axis) gridDim.x
#define barrier(flags) __syncthreads()
#define mem_fence(flags) __threadfence()
#define atomic_inc(word) atomicAdd((uint *)(word), 1u)
#define atomic_or(word, bits) atomicOr((uint *)(word), bits)
#define atomic_xchg(word, value) atomicExch((uint *)(word), value)
#define atomic_cmpxchg(word, expected, value) atomicCAS((uint *)(word), expected, value)

/* For devices that are not NVIDIA's: the atomics of OpenCL C 2.0, each with a fence before and after, and sub-groups.
 */
typedef volatile uint atomic_uint;
#define memory_order_relaxed 0
#define memory_order_acquire 0
#define memory_order_release 0
#define memory_order_acq_rel 0
#define memory_scope_device 0
#define atomic_work_item_fence(flags, order, scope) __threadfence()
#define IPT_FENCED(call)                                                                                               \
    __threadfence();                                                                                                   \
    const uint before = call;                                                                                          \
    __threadfence();                                                                                                   \
    return before;
IPT_INLINE uint atomic_fetch_add_explicit(atomic_uint *word, uint value, int order,
                                          int scope){IPT_FENCED(atomicAdd((uint *)word, value))} IPT_INLINE uint
    atomic_fetch_or_explicit(atomic_uint *word, uint bits, int order,
                             int scope){IPT_FENCED(atomicOr((uint *)word, bits))} IPT_INLINE uint
    atomic_load_explicit(atomic_uint *word, int order, int scope){IPT_FENCED(*word)}
#ifdef __HIP__
#define IPT_LANES __AMDGCN_WAVEFRONT_SIZE
#define __syncwarp() __builtin_amdgcn_wave_barrier()
#define __shfl_sync(lanes, value, lane) __shfl(value, lane)
#define __shfl_xor_sync(lanes, value, distance) __shfl_xor(value, distance)
#else
#define IPT_LANES 32
#endif
#define get_sub_group_size() ((uint)IPT_LANES)
#define get_num_sub_groups() ((blockDim.x + IPT_LANES - 1) / IPT_LANES)
#define get_sub_group_id() (threadIdx.x / IPT_LANES)
#define get_sub_group_local_id() (threadIdx.x % IPT_LANES)
#define sub_group_barrier(flags) __syncwarp()
IPT_INLINE uint sub_group_broadcast(uint value, uint lane)
{
    return __shfl_sync(~0u, value, lane);
}
IPT_INLINE uint sub_group_reduce_add(uint value)
{
    for (int distance = IPT_LANES / 2; distance; distance /= 2)
        value += __shfl_xor_sync(~0u, value, distance);
    return value;
}

/* Numbers. */
#define clz(value) ((uint)__clz((int)(value)))
#define popcount(value) ((uint)__popc(value))
IPT_INLINE uint mul_hi(uint a, uint b)
{
    return __umulhi(a, b);
}
IPT_INLINE ulong mul_hi(ulong a, ulong b)
{
    return __umul64hi(a, b);
}

IPT_INLINE uint abs_diff(uint a, uint b)
{
    return a > b ? a - b : b - a;
}
template <class A, class B> IPT_INLINE auto min(A a, B b) -> decltype(a + b)
{
    return a < b ? a : b;
}
template <class A, class B> IPT_INLINE auto max(A a, B b) -> decltype(a + b)
{
    return a > b ? a : b;
}
template <class T> IPT_INLINE T clamp(T value, T least, T most)
{
    return min(max(value, least), most);
}

/* Numbers of 16 bits: they are computed as floats, whose results round as their own would. */
struct half {
    ushort bits;
    half() = default;
#ifdef __HIP__
    IPT_INLINE half(float value) : bits(__builtin_bit_cast(ushort, (_Float16)value)) {}
    IPT_INLINE operator float() const
    {
        return (float)__builtin_bit_cast(_Float16, bits);
    }
#else
    IPT_INLINE half(float value)
    {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    }
    IPT_INLINE operator float() const
    {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }
#endif
};

IPT_INLINE float vload_half(ulong place, const half *from)
{
    return from[place];
}

/* Vectors of 2, 4, 8 and 16: `s` has the components, which also have OpenCL's names. The driver writes x.yx as
 * x.ipt_pick<1, 0>(), and (float4)(a, b) as float4(a, b). */
template <class T, int N> struct ipt_vector;
template <class T> IPT_INLINE T *ipt_put(T *to)
{
    return to;
}
template <class T, int M, class... More> IPT_INLINE T *ipt_put(T *to, const ipt_vector<T, M> &first, More... more);
template <class T, class A, class... More> IPT_INLINE T *ipt_put(T *to, A first, More... more)
{
    *to = first;
    return ipt_put(to + 1, more...);
}
template <class T, int M, class... More> IPT_INLINE T *ipt_put(T *to, const ipt_vector<T, M> &first, More... more)
{
    for (int i = 0; i < M; ++i)
        to[i] = first.s[i];
    return ipt_put(to + M, more...);
}
#define IPT_MAKES(N)                                                                                                   \
    ipt_vector() = default;                                                                                            \
    IPT_INLINE ipt_vector(T a)                                                                                         \
    {                                                                                                                  \
        for (int i = 0; i < N; ++i)                                                                                    \
            s[i] = a;                                                                                                  \
    }                                                                                                                  \
    template <class A, class B, class... More> IPT_INLINE ipt_vector(A a, B b, More... more)                           \
    {                                                                                                                  \
        ipt_put(s, a, b, more...);                                                                                     \
    }                                                                                                                  \
    template <int... places> IPT_INLINE ipt_vector<T, sizeof...(places)> ipt_pick() const                              \
    {                                                                                                                  \
        return ipt_vector<T, sizeof...(places)>(s[places]...);                                                         \
    }
template <class T> struct alignas(2 * sizeof(T)) ipt_vector<T, 2> {
    union {
        T s[2];
        struct {
            T x, y;
        };
        struct {
            T s0, s1;
        };
        struct {
            T lo, hi;
        };
    };
    IPT_MAKES(2)
};
template <class T> struct alignas(4 * sizeof(T)) ipt_vector<T, 4> {
    union {
        T s[4];
        struct {
            T x, y, z, w;
        };
        struct {
            T s0, s1, s2, s3;
        };
        struct {
            ipt_vector<T, 2> xy, zw;
        };
        struct {
            ipt_vector<T, 2> lo, hi;
        };
    };
    IPT_MAKES(4)
};
template <class T> struct alignas(8 * sizeof(T)) ipt_vector<T, 8> {
    union {
        T s[8];
        struct {
            T s0, s1, s2, s3, s4, s5, s6, s7;
        };
        struct {
            ipt_vector<T, 4> lo, hi;
        };
    };
    IPT_MAKES(8)
};
template <class T> struct alignas(16 * sizeof(T)) ipt_vector<T, 16> {
    union {
        T s[16];
        struct {
            T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf;
        };
        struct {
            ipt_vector<T, 8> lo, hi;
        };
    };
    IPT_MAKES(16)
};
template <class T> struct ipt_same { /* no template's argument is deduced from it */
    typedef T type;
};
#define IPT_OPERATOR(op)                                                                                               \
    template <class T, int N> IPT_INLINE ipt_vector<T, N> operator op(ipt_vector<T, N> a, ipt_vector<T, N> b)          \
    {                                                                                                                  \
        ipt_vector<T, N> result;                                                                                       \
        for (int i = 0; i < N; ++i)                                                                                    \
            result.s[i] = a.s[i] op b.s[i];                                                                            \
        return result;                                                                                                 \
    }                                                                                                                  \
    template <class T, int N>                                                                                          \
    IPT_INLINE ipt_vector<T, N> operator op(ipt_vector<T, N> a, typename ipt_same<T>::type b)                          \
    {                                                                                                                  \
        return a op ipt_vector<T, N>(b);                                                                               \
    }                                                                                                                  \
    template <class T, int N>                                                                                          \
    IPT_INLINE ipt_vector<T, N> operator op(typename ipt_same<T>::type a, ipt_vector<T, N> b)                          \
    {                                                                                                                  \
        return ipt_vector<T, N>(a) op b;                                                                               \
    }                                                                                                                  \
    template <class T, int N, class B> IPT_INLINE ipt_vector<T, N> &operator op##=(ipt_vector<T, N> &a, const B &b)    \
    {                                                                                                                  \
        return a = a op b;                                                                                             \
    }
IPT_OPERATOR(+)
IPT_OPERATOR(-)
IPT_OPERATOR(*)
IPT_OPERATOR(/)
IPT_OPERATOR(&)
IPT_OPERATOR(|)
IPT_OPERATOR(^)
IPT_OPERATOR(%)
IPT_OPERATOR(<<)
IPT_OPERATOR(>>)
template <class T, int N> IPT_INLINE ipt_vector<T, N> operator~(ipt_vector<T, N> a)
{
    return a ^ ipt_vector<T, N>(T(~T(0)));
}
template <class T, int N> IPT_INLINE ipt_vector<T, N> operator-(ipt_vector<T, N> a)
{
    return ipt_vector<T, N>(T(0)) - a;
}

/* Conversions. _sat: to the nearest value of an integer type; not a number becomes 0. */
template <class T, class A> IPT_INLINE T ipt_saturated(A a)
{
    const bool is_signed = T(-1) < T(0);
    const T least = is_signed ? T(1ull << (8 * sizeof(T) - 1)) : T(0), most = T(~least);
    if (A(0.5f) != A(0))
        return a != a ? T(0) : a <= A(least) ? least : a >= A(most) ? most : T(a);
    if (a < A(0))
        return is_signed ? (long)(a) < (long)(least) ? least : T(a) : T(0);
    return (ulong)a > (ulong)most ? most : T(a);
}
#define IPT_CONVERT(convert, type)                                                                                     \
    template <class A> IPT_INLINE type convert(A a)                                                                    \
    {                                                                                                                  \
        return (type)a;                                                                                                \
    }                                                                                                                  \
    template <class A> IPT_INLINE type convert##_sat(A a)                                                              \
    {                                                                                                                  \
        return ipt_saturated<type>(a);                                                                                 \
    }                                                                                                                  \
    IPT_CONVERT_VECTOR(convert##2, type, 2)                                                                            \
    IPT_CONVERT_VECTOR(convert##4, type, 4)                                                                            \
    IPT_CONVERT_VECTOR(convert##8, type, 8)                                                                            \
    IPT_CONVERT_VECTOR(convert##16, type, 16)
#define IPT_CONVERT_VECTOR(convert, type, N)                                                                           \
    template <class A> IPT_INLINE ipt_vector<type, N> convert(const ipt_vector<A, N> &a)                               \
    {                                                                                                                  \
        ipt_vector<type, N> result;                                                                                    \
        for (int i = 0; i < N; ++i)                                                                                    \
            result.s[i] = (type)a.s[i];                                                                                \
        return result;                                                                                                 \
    }                                                                                                                  \
    template <class A> IPT_INLINE ipt_vector<type, N> convert##_sat(const ipt_vector<A, N> &a)                         \
    {                                                                                                                  \
        ipt_vector<type, N> result;                                                                                    \
        for (int i = 0; i < N; ++i)                                                                                    \
            result.s[i] = ipt_saturated<type>(a.s[i]);                                                                 \
        return result;                                                                                                 \
    }

/* A value's bits as another type. */
template <class To, class From> IPT_INLINE To ipt_bits(const From &from)
{
    static_assert(sizeof(To) == sizeof(From), "as_TYPE needs a value of the type's size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
#define IPT_TYPE(name, type)                                                                                           \
    IPT_CONVERT(convert_##name, type)                                                                                  \
    typedef ipt_vector<type, 2> name##2;                                                                               \
    typedef ipt_vector<type, 4> name##4;                                                                               \
    typedef ipt_vector<type, 8> name##8;                                                                               \
    typedef ipt_vector<type, 16> name##16;                                                                             \
    template <class From> IPT_INLINE type as_##name(const From &from)                                                  \
    {                                                                                                                  \
        return ipt_bits<type>(from);                                                                                   \
    }                                                                                                                  \
    template <class From> IPT_INLINE name##2 as_##name##2(const From &from)                                            \
    {                                                                                                                  \
        return ipt_bits<name##2>(from);                                                                                \
    }                                                                                                                  \
    template <class From> IPT_INLINE name##4 as_##name##4(const From &from)                                            \
    {                                                                                                                  \
        return ipt_bits<name##4>(from);                                                                                \
    }                                                                                                                  \
    template <class From> IPT_INLINE name##8 as_##name##8(const From &from)                                            \
    {                                                                                                                  \
        return ipt_bits<name##8>(from);                                                                                \
    }                                                                                                                  \
    template <class From> IPT_INLINE name##16 as_##name##16(const From &from)                                          \
    {                                                                                                                  \
        return ipt_bits<name##16>(from);                                                                               \
    }
IPT_TYPE(char, signed char)
IPT_TYPE(uchar, uchar)
IPT_TYPE(short, short)
IPT_TYPE(ushort, ushort)
IPT_TYPE(int, int)
IPT_TYPE(uint, uint)
IPT_TYPE(long, long)
IPT_TYPE(ulong, ulong)
IPT_TYPE(half, half)
IPT_TYPE(float, float)
IPT_TYPE(double, double)
