/* A program for a machine with CUDA's driver and without NVRTC. It has the programs that `ipt precompile --target
 * cuda:sm_30 --embed` wrote into cuda_programs.h: see tool.sh. */
#define IPT_STATIC
#define IPT_CUDA
#define IPT_OPENCL_DYNAMIC
#define IPT_NO_DISK_CACHE
#define IPT_IMPLEMENTATION
#include "cuda_programs.h" /* includes ipt.h */
#include "transposes.h"

int main(void)
{
    ipt_context_desc desc;
    ipt_context *context;
    int good;
    memset(&desc, 0, sizeof desc);
    desc.driver = IPT_DRIVER_CUDA;
    desc.binaries = cuda_programs;
    desc.binary_count = cuda_programs_count;
    if (ipt_context_create(&desc, &context)) {
        fprintf(stderr, "%s\n", ipt_context_error(NULL));
        return 1;
    }
    good = transposes(context, 300, 177, IPT_CACHE_ONLY, IPT_SUCCESS) &&
           transposes(context, 640, 641, IPT_CACHE_ONLY, IPT_SUCCESS) &&
           transposes(context, 512, 512, IPT_CACHE_ONLY, IPT_ERROR_CACHE_MISS);
    ipt_context_destroy(context);
    return !good;
}
