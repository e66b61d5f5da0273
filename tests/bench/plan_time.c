/* Measures the time of a plan for a new shape when its programs are built: nothing is compiled then. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include <time.h>

enum { SHAPES = 400 };

static int built;

static void count_builds(const char *message, void *user)
{
    (void)user;
    built += strncmp(message, "built", 5) == 0;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    static const size_t elem_sizes[] = {1, 4, 8, 16, 12};
    ipt_context_desc context_desc = {0};
    ipt_context *context;
    char device[1024];
    size_t s;
    context_desc.logger.log = count_builds;
    if (ipt_context_create(&context_desc, &context) ||
        ipt_device_describe(ipt_context_cl_device(context), device, sizeof device)) {
        fprintf(stderr, "%s\n", ipt_context_error(NULL));
        return 1;
    }
    printf("ipt_plan_create and ipt_plan_destroy for %d new shapes each, microseconds, on %s", SHAPES, device);
    for (s = 0; s < sizeof elem_sizes / sizeof *elem_sizes; ++s) {
        double times[SHAPES];
        int i, before = 0;
        for (i = -20; i < SHAPES; ++i) { /* the first ones build the programs of this element size */
            struct timespec begin, end;
            ipt_plan_desc desc = {0};
            ipt_plan *plan;
            desc.rows = 1000 + (size_t)(i + 20) * 7;
            desc.cols = 3000 - (size_t)(i + 20) * 5;
            desc.elem_size = elem_sizes[s];
            if (i == 0)
                before = built;
            clock_gettime(CLOCK_MONOTONIC, &begin);
            if (ipt_plan_create(context, &desc, &plan)) {
                fprintf(stderr, "%s\n", ipt_context_error(NULL));
                return 1;
            }
            ipt_plan_destroy(plan);
            clock_gettime(CLOCK_MONOTONIC, &end);
            if (i >= 0)
                times[i] = (double)(end.tv_sec - begin.tv_sec) * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-3;
        }
        qsort(times, SHAPES, sizeof *times, compare);
        printf("%3lu bytes: median %.0f, 90 %% below %.0f, slowest %.0f; programs built meanwhile: %d\n",
               (unsigned long)elem_sizes[s], times[SHAPES / 2], times[SHAPES * 9 / 10], times[SHAPES - 1],
               built - before);
    }
    ipt_context_destroy(context);
    return 0;
}
