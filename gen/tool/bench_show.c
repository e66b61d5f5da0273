#include "bench_show.h"

#include <stdlib.h>

void bench_show_heading(FILE *stream, bool blas)
{
    fprintf(stream, "%10s %10s %10s %9s %10s %6s %11s %11s %7s %6s  %s", "rows", "cols", "MB", "GB/s", "copy GB/s",
            "ratio", "latency ms", "workspace", "%", "stages", "verified");
    fprintf(stream, blas ? " %10s %11s %8s\n" : "\n", "BLAS GB/s", "memcpy GB/s", "ipt/BLAS");
    fflush(stream);
}

void bench_show_number(FILE *stream, int width, int decimals, bool measured, double number)
{
    if (measured) {
        fprintf(stream, " %*.*f", width, decimals, number);
    } else {
        fprintf(stream, " %*s", width, "-");
    }
}

void bench_show_line(FILE *stream, const bench_result *result, bool blas)
{
    bool timed = result->seconds > 0, copied = result->copy_seconds > 0, compared = result->blas_seconds > 0;
    fprintf(stream, "%10zu %10zu %10.3f", result->rows, result->cols, (double)result->bytes * 1e-6);
    bench_show_number(stream, 9, 2, timed, bench_speed(result, result->seconds));
    bench_show_number(stream, 10, 2, copied, bench_speed(result, result->copy_seconds));
    bench_show_number(stream, 6, 3, copied, bench_ratio(result->seconds, result->copy_seconds));
    bench_show_number(stream, 11, 3, timed, result->latency * 1e3);
    fprintf(stream, " %11zu %7.2f %6zu  %-*s", result->workspace, bench_workspace_percent(result), result->stages,
            blas ? 8 : 0, result->verified ? "yes" : "NO");
    if (blas) {
        bench_show_number(stream, 10, 2, compared, bench_speed(result, result->blas_seconds));
        bench_show_number(stream, 11, 2, compared, bench_speed(result, result->memcpy_seconds));
        bench_show_number(stream, 8, 2, compared, bench_ratio(result->seconds, result->blas_seconds));
    }
    fputc('\n', stream);
    fflush(stream);
}

static void bench_show_time(FILE *stream, const char *what, const bench_result *result, double seconds)
{
    fprintf(stream, "%-9s median %10.3f ms  %9.2f GB/s\n", what, seconds * 1e3, bench_speed(result, seconds));
}

void bench_show_block(FILE *stream, const bench_result *result)
{
    bench_show_time(stream, result->out_of_place ? "to another" : "in place", result, result->seconds);
    if (result->copy_seconds > 0) {
        bench_show_time(stream, "copy", result, result->copy_seconds);
        fprintf(stream, "ratio to the copy: %.3f of its speed\n", bench_ratio(result->seconds, result->copy_seconds));
    } else {
        fputs("no ratio: the device has no memory for the copy's target, a second buffer of this size\n", stream);
    }
    fprintf(stream, "latency   median %10.3f ms of a single execution\n", result->latency * 1e3);
    fprintf(stream, "%zu rounds of %zu executions over %zu buffers; %zu stages, workspace %zu bytes (%.2f %%); %s\n",
            result->rounds, result->repeat, result->buffers, result->stages, result->workspace,
            bench_workspace_percent(result), result->verified ? "verified" : "NOT verified");
    if (result->blas_seconds > 0) {
        bench_show_time(stream, "BLAS", result, result->blas_seconds);
        bench_show_time(stream, "memcpy", result, result->memcpy_seconds);
        fprintf(stream, "ipt on the device to BLAS on the host: %.3f of its speed\n",
                bench_ratio(result->seconds, result->blas_seconds));
    }
    fflush(stream);
}

/* The quantities of the summary. */
typedef enum bench_quantity { BENCH_RATIO, BENCH_SPEED, BENCH_LATENCY, BENCH_OVER_BLAS } bench_quantity;

/* Collects a quantity of all verified results that have it. Returns the number of values. */
static size_t bench_collect(const bench_result *results, size_t count, bench_quantity quantity, double *values)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const bench_result *result = &results[i];
        if (!result->verified || (quantity == BENCH_RATIO && result->copy_seconds <= 0) ||
            (quantity == BENCH_OVER_BLAS && result->blas_seconds <= 0)) {
            continue;
        }
        values[found++] = quantity == BENCH_RATIO     ? bench_ratio(result->seconds, result->copy_seconds)
                          : quantity == BENCH_SPEED   ? bench_speed(result, result->seconds)
                          : quantity == BENCH_LATENCY ? result->latency * 1e3
                                                      : bench_ratio(result->seconds, result->blas_seconds);
    }
    return found;
}

bool bench_show_summary(FILE *stream, const bench_result *results, size_t count, char *message)
{
    double *values = calloc(count, sizeof *values), percent = 0;
    if (values == NULL) {
        return bench_fail(message, "out of memory");
    }
    size_t verified = 0, found;
    for (size_t i = 0; i < count; i++) {
        verified += results[i].verified;
        if (results[i].verified && bench_workspace_percent(&results[i]) > percent) {
            percent = bench_workspace_percent(&results[i]);
        }
    }
    fprintf(stream, "summary: %zu of %zu verified", verified, count);
    found = bench_collect(results, count, BENCH_RATIO, values);
    if (found > 0) {
        fprintf(stream, "; ratio median %.3f, p10 %.3f, p90 %.3f", bench_quantile(values, found, 0.5),
                bench_quantile(values, found, 0.1), bench_quantile(values, found, 0.9));
    }
    found = bench_collect(results, count, BENCH_SPEED, values);
    if (found > 0) {
        fprintf(stream, "; median %.2f GB/s", bench_quantile(values, found, 0.5));
    }
    found = bench_collect(results, count, BENCH_LATENCY, values);
    if (found > 0) {
        fprintf(stream, "; median latency %.3f ms; workspace at most %.2f %%", bench_quantile(values, found, 0.5),
                percent);
    }
    found = bench_collect(results, count, BENCH_OVER_BLAS, values);
    if (found > 0) {
        fprintf(stream, "; ipt/BLAS median %.2f of %zu", bench_quantile(values, found, 0.5), found);
    }
    fputc('\n', stream);
    fflush(stream);
    free(values);
    return true;
}

void bench_csv_heading(FILE *stream)
{
    fputs("rows,cols,elem_size,batch,bytes,seconds,gb_per_s,copy_seconds,copy_gb_per_s,ratio,latency_seconds,workspace,"
          "workspace_percent,stages,buffers,repeat,rounds,verified,blas_seconds,blas_gb_per_s,memcpy_seconds,"
          "memcpy_gb_per_s,ipt_over_blas\n",
          stream);
    fflush(stream);
}

void bench_csv_number(FILE *stream, bool measured, double number)
{
    if (measured) {
        fprintf(stream, ",%.9g", number);
    } else {
        fputc(',', stream);
    }
}

void bench_csv_line(FILE *stream, const bench_result *result)
{
    bool timed = result->seconds > 0, copied = result->copy_seconds > 0, compared = result->blas_seconds > 0;
    fprintf(stream, "%zu,%zu,%zu,%zu,%zu", result->rows, result->cols, result->elem_size, result->batch, result->bytes);
    bench_csv_number(stream, timed, result->seconds);
    bench_csv_number(stream, timed, bench_speed(result, result->seconds));
    bench_csv_number(stream, copied, result->copy_seconds);
    bench_csv_number(stream, copied, bench_speed(result, result->copy_seconds));
    bench_csv_number(stream, copied, bench_ratio(result->seconds, result->copy_seconds));
    bench_csv_number(stream, timed, result->latency);
    fprintf(stream, ",%zu,%.4f,%zu,%zu,%zu,%zu,%d", result->workspace, bench_workspace_percent(result), result->stages,
            result->buffers, result->repeat, result->rounds, result->verified);
    bench_csv_number(stream, compared, result->blas_seconds);
    bench_csv_number(stream, compared, bench_speed(result, result->blas_seconds));
    bench_csv_number(stream, compared, result->memcpy_seconds);
    bench_csv_number(stream, compared, bench_speed(result, result->memcpy_seconds));
    bench_csv_number(stream, compared, bench_ratio(result->seconds, result->blas_seconds));
    fputc('\n', stream);
    fflush(stream);
}
