/* Transposes host memory, and checks it. Include ipt.h before. It is C++, too. */
#ifndef TRANSPOSES_H_INCLUDED
#define TRANSPOSES_H_INCLUDED

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a matrix's plan and execution end as expected, and every element is in its place. If not, prints why. */
static int transposes(ipt_context *context, size_t rows, size_t cols, unsigned flags, ipt_result expected)
{
    ipt_plan_desc desc;
    ipt_plan *plan = NULL;
    unsigned *matrix = (unsigned *)malloc(rows * cols * sizeof *matrix);
    size_t i;
    int good;
    ipt_result result;
    memset(&desc, 0, sizeof desc);
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = sizeof *matrix;
    desc.flags = flags;
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

#endif
