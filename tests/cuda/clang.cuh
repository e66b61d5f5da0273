/* What NVRTC has built in, as declarations: clang checks the texts without a CUDA toolkit. */
#pragma clang force_cuda_host_device begin
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
typedef __SIZE_TYPE__ size_t;
struct place {
    unsigned x;
};
extern const __attribute__((device)) place threadIdx, blockIdx, blockDim, gridDim;
void __threadfence(void);
unsigned atomicAdd(unsigned *word, unsigned value);
unsigned atomicOr(unsigned *word, unsigned value);
unsigned atomicExch(unsigned *word, unsigned value);
unsigned atomicCAS(unsigned *word, unsigned expected, unsigned value);
unsigned __umulhi(unsigned a, unsigned b);
unsigned long long __umul64hi(unsigned long long a, unsigned long long b);
int __clz(int value);
int __popc(unsigned value);
size_t __cvta_generic_to_shared(const void *pointer);
void *memcpy(void *to, const void *from, size_t bytes);
float sqrt(float value);
double sqrt(double value);
float fabs(float value);
double fabs(double value);
unsigned __shfl_sync(unsigned lanes, unsigned value, int lane);
unsigned __shfl_xor_sync(unsigned lanes, unsigned value, int distance);
