/* Repeats large transpositions with fresh data on a busy device, two at once. The contexts assume more or fewer
 * concurrent work-groups than there are. Only many runs detect a missing memory fence, or a wait for a work-group that
 * does not run. Usage: stress [RUNS] [SECONDS_LIMIT] [MEGABYTES] [SEED]; 0: the default. Exit code: 0 success, 1
 * failure, 4 hang. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "stress.h"

static size_t argument(int count, char **arguments, int index, size_t otherwise)
{
    const size_t value = count > index ? (size_t)strtoull(arguments[index], NULL, 0) : 0;
    return value ? value : otherwise;
}

int main(int count, char **arguments)
{
    /* With few polls, work-groups stop after arbitrary numbers of tickets. If the context assumes too many work-groups,
     * the first ones stop, and the last one moves everything. A single work-group does not wait. */
    static const stress_limits all = {"default limits", 0, 0, 0},
                               forced[] = {
                                   {"one look", 0, 1, 0},
                                   {"200 looks", 0, 200, 0},
                                   {"too many groups, one look", 1000000, 1, 0},
                                   {"too many groups, 200 looks", 1000000, 200, 0},
                                   {"too many groups, little local memory", 1000000, 50, 16384},
                                   {"one group", 1, 0, 0},
                                   {"one group, one look", 1, 1, 0},
                                   {"three groups", 3, 0, 0},
                               };
    const size_t contexts = sizeof forced / sizeof *forced, runs = argument(count, arguments, 1, 500),
                 seconds = argument(count, arguments, 2, 1000000), seed = argument(count, arguments, 4, 1);
    stress run;
    char device[1024];
    size_t bytes;
    double begin;
    size_t c;
    stress_start(&run, seed * 0x9e3779b97f4a7c15u);
    checker_need(!ipt_device_describe(ipt_context_cl_device(run.owner), device, sizeof device), "ipt_device_describe");
    bytes = argument(count, arguments, 3, run.modest ? 8 : 400) * 1000000;
    printf("%s%zu runs of up to %.0f MB\n", device, runs, (double)bytes * 1e-6);
    begin = stress_now();
    stress_use(&run, &all);
    stress_runs(&run, runs, bytes, begin + 0.5 * (double)seconds);
    stress_pairs(&run, runs / 10 + 1, bytes, begin + 0.7 * (double)seconds);
    for (c = 0; c < contexts; ++c) {
        /* Smaller matrices: the last work-group alone does the remaining work. */
        const double share = 0.7 + 0.3 * ((double)c + 0.8) / (double)contexts;
        stress_use(&run, &forced[c]);
        stress_runs(&run, runs / 10 + STRESS_CLASS_COUNT, bytes / 8, begin + share * (double)seconds);
        stress_pairs(&run, runs / 50 + 1, bytes / 8, begin + (share + 0.06 / (double)contexts) * (double)seconds);
    }
    stress_end(&run);

    for (c = 0; c < STRESS_CLASS_COUNT; ++c)
        printf("%-18s %6zu runs\n", stress_class_names[c], run.runs[c]);
    printf("%-18s %6zu runs\n", "two queues at once", run.pairs);
    printf("%zu executions, in %zu of them work-groups wait for one another, in %zu of those for bands, in %zu with "
           "registers; %zu commands of other work meanwhile, %zu forced plans refused, %.1f s\n",
           run.executions, run.cooperative, run.exchanges, run.registers, run.load.commands, run.refused,
           stress_now() - run.start);
    printf("%llu wrong items, %zu failures\n", run.wrong_items, run.failures);
    if (run.failures)
        printf("the first one: %s\n", run.first_failure);
    return run.failures != 0;
}
