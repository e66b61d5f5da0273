/* A program for a machine with CUDA's driver and without NVRTC. It has the programs that `ipt precompile --target
 * cuda:sm_30 --embed` wrote into cuda_programs.h: see tool.sh. */
#define IPT_STATIC
#define IPT_CUDA
#define IPT_OPENCL_DYNAMIC
#define IPT_NO_DISK_CACHE
#define IPT_IMPLEMENTATION
#include "cuda_programs.h" /* includes ipt.h */

static int transposes(ipt_context *context, size_t rows, size_t cols, ipt_result expected)
{
    ipt_plan_desc desc;
    ipt_plan *plan = NULL;
    unsigned *const matrix = (unsigned *)malloc(rows * cols * sizeof *matrix);
    ipt_result result;
    size_t i;
    int good;
    memset(&desc, 0, sizeof desc);
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = sizeof *matrix;
    desc.flags = IPT_CACHE_ONLY;
    for (i = 0; matrix && i < rows * cols; ++i)
        matrix[i] = (unsigned)i;
    result = ipt_plan_create(context, &desc, &plan);
    if (!result && matrix)
        result = ipt_plan_execute_host(plan, matrix);
    good = matrix && result == expected;
    for (i = 0; good && !result && i < rows * cols; ++i)
        good = matrix[i] == i % rows * cols + i / rows;
    if (!good)
        fprintf(stderr, "%zu x %zu: %s\n", rows, cols,
                result != expected ? ipt_context_error(context) : "wrong elements");
    ipt_plan_destroy(plan);
    free(matrix);
    return good;
}

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
    good = transposes(context, 300, 177, IPT_SUCCESS) && transposes(context, 640, 641, IPT_SUCCESS) &&
           transposes(context, 512, 512, IPT_ERROR_CACHE_MISS);
    ipt_context_destroy(context);
    return !good;
}
