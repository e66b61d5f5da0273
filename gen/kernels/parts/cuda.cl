/* OpenCL C as CUDA C++, for NVRTC with -default-device -std=c++20, and for clang. The CUDA driver has this text before
 * each program's, both in a namespace, which hides CUDA's own vector types. */
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
#define get_num_groups(axis) gridDim.x
#define barrier(flags) __syncthreads()
#define mem_fence(flags) __threadfence()
#define atomic_inc(word) atomicAdd((uint *)(word), 1u)
#define atomic_or(word, bits) atomicOr((uint *)(word), bits)
#define atomic_xchg(word, value) atomicExch((uint *)(word), value)
#define atomic_cmpxchg(word, expected, value) atomicCAS((uint *)(word), expected, value)

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
    IPT_INLINE half(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
    IPT_INLINE operator float() const
    {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }
};

/* Vectors: `s` has the components. Vectors of two and four also have OpenCL's names for them. */
template <class T, int N> struct alignas(N * sizeof(T)) ipt_vector {
    T s[N];
    ipt_vector() = default;
    IPT_INLINE ipt_vector(T a)
    {
        for (int i = 0; i < N; ++i)
            s[i] = a;
    }
};
template <class T> struct alignas(2 * sizeof(T)) ipt_vector<T, 2> {
    union {
        T s[2];
        struct {
            T x, y;
        };
        struct {
            T s0, s1;
        };
    };
    ipt_vector() = default;
    IPT_INLINE ipt_vector(T a) : s{a, a} {}
    IPT_INLINE ipt_vector(T a, T b) : s{a, b} {}
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
    };
    ipt_vector() = default;
    IPT_INLINE ipt_vector(T a) : s{a, a, a, a} {}
    IPT_INLINE ipt_vector(T a, T b, T c, T d) : s{a, b, c, d} {}
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
    ipt_vector() = default;
    IPT_INLINE ipt_vector(T a) : s{a, a, a, a, a, a, a, a} {}
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
    ipt_vector() = default;
    IPT_INLINE ipt_vector(T a) : s{a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a} {}
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
template <class T, int N> IPT_INLINE ipt_vector<T, N> operator-(ipt_vector<T, N> a)
{
    return ipt_vector<T, N>(T(0)) - a;
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
