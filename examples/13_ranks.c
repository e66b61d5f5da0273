/* A matrix that outgrows one machine: 3000 x 2000 floats in block rows over MPI ranks become 2000 x 3000, in place.
 *   mpicc -I. examples/13_ranks.c -lOpenCL -lpthread && mpirun -n 4 ./a.out */
#define IPT_MPI /* for every include of ipt.h alike */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 3000, COLS = 2000 };

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed: %s\n", what, ipt_context_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    const ipt_mpi_desc desc = {.rows = ROWS, .cols = COLS, .elem_size = sizeof(float)};
    ipt_context *context;
    ipt_mpi_plan *plan;
    ipt_mpi_share mine;
    int ranks, rank, wrong = 0, all_wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    /* This rank holds mine.rows rows from mine.first_row on. Its memory also has room for its rows of the result. */
    check(ipt_mpi_share_of(&desc, ranks, rank, &mine) == IPT_SUCCESS, "ipt_mpi_share_of");
    float *const block = malloc(mine.bytes);
    check(block || !mine.bytes, "malloc");
    for (size_t i = 0; i < mine.rows; ++i)
        for (size_t j = 0; j < COLS; ++j)
            block[i * COLS + j] = (float)((mine.first_row + i) * COLS + j);

    check(ipt_context_create(NULL, &context) == IPT_SUCCESS, "ipt_context_create");
    check(ipt_mpi_plan_create(context, MPI_COMM_WORLD, &desc, &plan) == IPT_SUCCESS, "ipt_mpi_plan_create");
    check(ipt_mpi_plan_execute_host(plan, block, NULL) == IPT_SUCCESS, "ipt_mpi_plan_execute_host");

    for (size_t j = 0; j < mine.rows_out; ++j)
        for (size_t i = 0; i < ROWS; ++i)
            wrong += block[j * ROWS + i] != (float)(i * COLS + mine.first_row_out + j);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d ranks, %d elements wrong, %zu bytes beside each block\n", ranks, all_wrong,
               ipt_mpi_plan_workspace(plan));
    ipt_mpi_plan_destroy(plan);
    ipt_context_destroy(context);
    free(block);
    MPI_Finalize();
    return all_wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
