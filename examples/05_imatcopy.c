/* The in-place transposition that BLAS libraries call imatcopy, on top of ipt: AB := alpha * op(AB). It keeps the
 * context and the last plan for later calls of the same shape. So it serves one thread at a time. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>

static ipt_context *context;
static ipt_plan *plan;
static ipt_plan_desc desc; /* the plan's shape */

/* ordering: 'R' or 'C' (row- or column-major); trans: 'N' or 'T'. Returns NULL or an error message. */
static const char *my_simatcopy(char ordering, char trans, size_t rows, size_t cols, float alpha, float *AB, size_t lda,
                                size_t ldb)
{
    if ((ordering != 'R' && ordering != 'C') || (trans != 'N' && trans != 'T') || AB == NULL)
        return "ordering must be 'R' or 'C', trans 'N' or 'T', AB not NULL";
    /* A column-major matrix has the same bytes as the row-major one with swapped sizes. */
    size_t lines = ordering == 'R' ? rows : cols, length = ordering == 'R' ? cols : rows;
    if (lda != length || ldb != (trans == 'T' ? lines : length))
        return "lda or ldb leaves gaps between rows: ipt needs packed matrices";
    if (trans == 'T') {
        if (context == NULL && ipt_context_create(NULL, &context) != IPT_SUCCESS)
            return ipt_context_error(NULL);
        if (plan == NULL || desc.rows != lines || desc.cols != length) {
            ipt_plan_destroy(plan);
            desc.rows = lines;
            desc.cols = length;
            desc.elem_size = sizeof *AB;
            if (ipt_plan_create(context, &desc, &plan) != IPT_SUCCESS)
                return ipt_context_error(context);
        }
        if (ipt_plan_execute_host(plan, AB) != IPT_SUCCESS)
            return ipt_context_error(context);
    }
    for (size_t i = 0; alpha != 1 && i < lines * length; ++i) /* the host multiplies by alpha */
        AB[i] *= alpha;
    return NULL;
}

int main(void)
{
    enum { ROWS = 300, COLS = 211 };
    static float matrix[ROWS * COLS];
    static const char orderings[] = {'R', 'R', 'C', 'C'};
    int wrong = 0, reused = 0;
    for (int call = 0; call < 4; ++call) {
        const float alpha = call % 2 == 0 ? 1.0f : -2.0f;
        const int length = orderings[call] == 'R' ? COLS : ROWS, lines = ROWS * COLS / length;
        for (int i = 0; i < ROWS * COLS; ++i)
            matrix[i] = (float)i;
        const ipt_plan *last = plan;
        const char *error =
            my_simatcopy(orderings[call], 'T', ROWS, COLS, alpha, matrix, (size_t)length, (size_t)lines);
        if (error != NULL) {
            fprintf(stderr, "my_simatcopy: %s\n", error);
            return EXIT_FAILURE;
        }
        reused += call % 2 == 1 && plan == last;
        for (int i = 0; i < ROWS * COLS; ++i)
            wrong += matrix[i % length * lines + i / length] != alpha * (float)i;
    }
    wrong += my_simatcopy('R', 'T', ROWS, COLS, 1, matrix, COLS + 1, ROWS) == NULL; /* rows with a gap */
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    printf("imatcopy, row- and column-major, twice each: %d elements wrong, %d plans reused\n", wrong, reused);
    return wrong == 0 && reused == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
