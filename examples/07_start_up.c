/* The start of a program that must not stall. The program comes with a folder of kernels from `ipt precompile`, and
 * compiles nothing. If the folder lacks kernels for the device, ipt reports this. The program then compiles once into
 * the folder, so that its second start is fast.
 *
 *     build/ipt precompile 2000x1500:4 -o kernels && build/examples/07_start_up kernels */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(ipt_result result, const char *what)
{
    if (!result)
        return;
    fprintf(stderr, "%s failed: %s\n", what, ipt_context_error(NULL));
    exit(EXIT_FAILURE);
}

/* ipt reports here the programs that it loads and compiles, and problems of the folder. */
static void hear(const char *message, void *user)
{
    (void)user;
    printf("  ipt: %s\n", message);
}

int main(int count, char **arguments)
{
    enum { ROWS = 2000, COLS = 1500 };
    static unsigned matrix[ROWS * COLS];
    ipt_context_desc context_desc = {0};
    context_desc.cache_dir = count > 1 ? arguments[1] : "kernels";
    context_desc.logger.log = hear;
    context_desc.driver = IPT_DRIVER_OPENCL; /* the native driver compiles nothing */
    ipt_context *context;
    check(ipt_context_create(&context_desc, &context), "ipt_context_create");

    ipt_plan_desc desc = {0};
    desc.rows = ROWS;
    desc.cols = COLS;
    desc.elem_size = sizeof matrix[0];
    desc.flags = IPT_CACHE_ONLY;
    ipt_plan *plan;
    const clock_t start = clock();
    ipt_result result = ipt_plan_create(context, &desc, &plan);
    if (result == IPT_ERROR_CACHE_MISS) {
        printf("the folder %s has no kernels for this device: compiling them now\n", context_desc.cache_dir);
        desc.flags = 0;
        result = ipt_plan_create(context, &desc, &plan);
    }
    check(result, "ipt_plan_create");
    printf("the plan was ready after %.1f ms of processor time\n", 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);

    for (unsigned i = 0; i < ROWS * COLS; ++i)
        matrix[i] = i;
    check(ipt_plan_execute_host(plan, matrix), "ipt_plan_execute_host");
    size_t wrong = 0;
    for (unsigned i = 0; i < ROWS * COLS; ++i)
        wrong += matrix[i % COLS * ROWS + i / COLS] != i;
    printf("%d x %d transposed: %zu elements wrong\n", ROWS, COLS, wrong);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
