/* A matrix in a file that is larger than the program's memory limit. ipt reads and writes it in place through two
 * functions, with a limit of 1 MiB. To survive a kill, a program also keeps ipt_storage.memory in a file, with the step
 * number from `ready`. `ipt transpose` does so. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* several threads call, and a FILE has one position */

static int read_part(void *memory, size_t offset, size_t bytes, void *user)
{
    FILE *file = user;
    pthread_mutex_lock(&lock);
    int good = fseek(file, (long)offset, SEEK_SET) == 0 && fread(memory, 1, bytes, file) == bytes;
    pthread_mutex_unlock(&lock);
    return !good;
}

static int write_part(const void *memory, size_t offset, size_t bytes, void *user)
{
    FILE *file = user;
    pthread_mutex_lock(&lock);
    int good = fseek(file, (long)offset, SEEK_SET) == 0 && fwrite(memory, 1, bytes, file) == bytes;
    pthread_mutex_unlock(&lock);
    return !good;
}

static int show(size_t step, size_t steps, const void *content, size_t bytes, void *user)
{
    (void)content, (void)bytes, (void)user;
    if (step % 20 == 0)
        printf("step %zu of %zu\n", step + 1, steps);
    return 0;
}

int main(void)
{
    enum { ROWS = 3000, COLS = 1700 };
    static unsigned row[ROWS];
    ipt_context *context;
    ipt_plan *plan;
    ipt_plan_desc desc = {0};
    FILE *file = tmpfile();
    for (unsigned r = 0; file && r < ROWS; ++r) {
        for (unsigned c = 0; c < COLS; ++c)
            row[c] = r * COLS + c;
        fwrite(row, sizeof *row, COLS, file);
    }
    desc.rows = ROWS;
    desc.cols = COLS;
    desc.elem_size = sizeof *row;
    desc.max_host_memory = 1 << 20;
    const ipt_storage storage = {read_part, write_part, show, file, NULL, 0};
    if (!file || ipt_context_create(NULL, &context) || ipt_plan_create(context, &desc, &plan) ||
        ipt_plan_execute_storage(plan, &storage)) {
        fprintf(stderr, "failed: %s\n", ipt_context_error(NULL));
        return EXIT_FAILURE;
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    size_t wrong = 0;
    rewind(file);
    for (unsigned c = 0; c < COLS; ++c) {
        wrong += ROWS - fread(row, sizeof *row, ROWS, file);
        for (unsigned r = 0; r < ROWS; ++r)
            wrong += row[r] != r * COLS + c;
    }
    printf("%d x %d in a file, with 1 MiB of memory: %zu elements wrong\n", ROWS, COLS, wrong);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
