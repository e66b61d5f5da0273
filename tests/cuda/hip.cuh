/* What HIP has built in, by clang's builtins for AMD's GPUs: clang compiles the texts without HIP. */
#pragma clang force_cuda_host_device begin
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(items) __attribute__((amdgpu_flat_work_group_size(1, items)))
typedef __SIZE_TYPE__ size_t;
#define threadIdx ipt_local_place()
#define blockIdx ipt_group_place()
#define blockDim ipt_size_place()
#define gridDim ipt_count_place()
#define IPT_PLACE(name, value)                                                                                         \
    struct name {                                                                                                      \
        unsigned x = (unsigned)(value);                                                                                \
    };
IPT_PLACE(ipt_local_place, __builtin_amdgcn_workitem_id_x())
IPT_PLACE(ipt_group_place, __builtin_amdgcn_workgroup_id_x())
IPT_PLACE(ipt_size_place, __builtin_amdgcn_workgroup_size_x())
IPT_PLACE(ipt_count_place, __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x())
#define IPT_AGENT __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT
inline void __threadfence(void)
{
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
inline void __syncthreads(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
inline unsigned atomicAdd(unsigned *word, unsigned value)
{
    return __hip_atomic_fetch_add(word, value, IPT_AGENT);
}
inline unsigned atomicOr(unsigned *word, unsigned value)
{
    return __hip_atomic_fetch_or(word, value, IPT_AGENT);
}
inline unsigned atomicExch(unsigned *word, unsigned value)
{
    return __hip_atomic_exchange(word, value, IPT_AGENT);
}
inline unsigned atomicCAS(unsigned *word, unsigned expected, unsigned value)
{
    __hip_atomic_compare_exchange_strong(word, &expected, value, __ATOMIC_RELAXED, IPT_AGENT);
    return expected;
}
inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline int __clz(int value)
{
    return value ? __builtin_clz((unsigned)value) : 32;
}
inline int __popc(unsigned value)
{
    return __builtin_popcount(value);
}
inline unsigned __shfl(unsigned value, int lane)
{
    return (unsigned)__builtin_amdgcn_ds_bpermute(lane << 2, (int)value);
}
inline unsigned __shfl_xor(unsigned value, int distance)
{
    const unsigned lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
    return __shfl(value, (int)(lane ^ (unsigned)distance));
}
inline void *memcpy(void *to, const void *from, size_t bytes)
{
    return __builtin_memcpy(to, from, bytes);
}
float sqrt(float value);
double sqrt(double value);
float fabs(float value);
double fabs(double value);
