/* The one-liner: one call transposes a matrix in host memory in place, on the best OpenCL device of the machine.
 * The call creates and destroys a context and a plan. 02, 03 and 05 show the calls that keep them. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const size_t rows = 1000, cols = 777;
    float *matrix = (float *)malloc(rows * cols * sizeof *matrix);
    if (matrix == NULL) {
        fprintf(stderr, "no memory for the matrix\n");
        return EXIT_FAILURE;
    }
    /* Each element holds its old index, which the end checks. Floats represent integers up to 2^24 exactly. */
    for (size_t i = 0; i < rows * cols; ++i)
        matrix[i] = (float)i;

    ipt_result result = ipt_transpose(matrix, rows, cols, sizeof *matrix);

    if (result != IPT_SUCCESS) {
        /* The result is the kind of failure. The context's error names the value or the call that caused it. */
        fprintf(stderr, "%s: %s\n", ipt_result_string(result), ipt_context_error(NULL));
        free(matrix);
        return EXIT_FAILURE;
    }
    size_t wrong = 0;
    for (size_t row = 0; row < rows; ++row)
        for (size_t col = 0; col < cols; ++col)
            wrong += matrix[col * rows + row] != (float)(row * cols + col);
    free(matrix);

    printf("%zu x %zu floats became %zu x %zu in place: %zu elements wrong\n", rows, cols, cols, rows, wrong);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
