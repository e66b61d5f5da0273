/* A batch: one plan transposes a thousand small matrices at once. They lie batch_stride bytes apart. The bytes between
 * them stay unchanged. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>

/* 12 x 20 doubles take 240 places; rounding up to 256 lets each matrix begin on a 2 KiB boundary. */
enum { BATCH = 1000, ROWS = 12, COLS = 20, PLACES = ROWS * COLS, STRIDE = 256 };

static double matrices[BATCH][STRIDE];

static ipt_result transpose_all(void)
{
    ipt_context *context;
    ipt_result result = ipt_context_create(NULL, &context);
    if (result != IPT_SUCCESS)
        return result;
    ipt_plan_desc desc = {0};
    desc.rows = ROWS;
    desc.cols = COLS;
    desc.elem_size = sizeof(double);
    desc.batch = BATCH;
    desc.batch_stride = sizeof matrices[0]; /* in bytes */
    ipt_plan *plan;
    result = ipt_plan_create(context, &desc, &plan);
    if (result == IPT_SUCCESS)
        result = ipt_plan_execute_host(plan, matrices);
    ipt_plan_destroy(plan); /* releasing NULL is fine */
    ipt_context_destroy(context);
    return result;
}

/* The initial value at place i of a matrix: unique, and negative in the padding. */
static double original(int matrix, int i)
{
    double value = (double)matrix * STRIDE + i;
    return i < PLACES ? value : -1.0 - value;
}

int main(void)
{
    for (int matrix = 0; matrix < BATCH; ++matrix)
        for (int i = 0; i < STRIDE; ++i)
            matrices[matrix][i] = original(matrix, i);

    ipt_result result = transpose_all();
    if (result != IPT_SUCCESS) {
        fprintf(stderr, "%s: %s\n", ipt_result_string(result), ipt_context_error(NULL));
        return EXIT_FAILURE;
    }
    int wrong = 0, touched = 0;
    for (int matrix = 0; matrix < BATCH; ++matrix) {
        for (int i = 0; i < PLACES; ++i)
            wrong += matrices[matrix][i % COLS * ROWS + i / COLS] != original(matrix, i);
        for (int i = PLACES; i < STRIDE; ++i)
            touched += matrices[matrix][i] != original(matrix, i);
    }
    printf("%d matrices of %d x %d: %d elements wrong, %d padding elements touched\n", BATCH, ROWS, COLS, wrong,
           touched);
    return wrong == 0 && touched == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
