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

/* A column of the results. */
typedef struct bench_column {
    const char *name;
    enum { BENCH_COUNT, BENCH_NUMBER, BENCH_PERCENT, BENCH_MISSING } kind;
    size_t count;
    double number;
} bench_column;

enum { BENCH_COLUMNS = 23 };

static bench_column bench_count(const char *name, size_t count)
{
    return (bench_column){.name = name, .kind = BENCH_COUNT, .count = count};
}

static bench_column bench_number(const char *name, bool measured, double number)
{
    return (bench_column){.name = name, .kind = measured ? BENCH_NUMBER : BENCH_MISSING, .number = number};
}

/* Sets all columns, in their sequence. The names do not depend on the result. */
static void bench_columns(const bench_result *result, bench_column columns[BENCH_COLUMNS])
{
    bool timed = result->seconds > 0, copied = result->copy_seconds > 0, compared = result->blas_seconds > 0;
    bench_column *to = columns;
    *to++ = bench_count("rows", result->rows);
    *to++ = bench_count("cols", result->cols);
    *to++ = bench_count("elem_size", result->elem_size);
    *to++ = bench_count("batch", result->batch);
    *to++ = bench_count("bytes", result->bytes);
    *to++ = bench_number("seconds", timed, result->seconds);
    *to++ = bench_number("gb_per_s", timed, bench_speed(result, result->seconds));
    *to++ = bench_number("copy_seconds", copied, result->copy_seconds);
    *to++ = bench_number("copy_gb_per_s", copied, bench_speed(result, result->copy_seconds));
    *to++ = bench_number("ratio", copied, bench_ratio(result->seconds, result->copy_seconds));
    *to++ = bench_number("latency_seconds", timed, result->latency);
    *to++ = bench_count("workspace", result->workspace);
    *to = bench_number("workspace_percent", true, bench_workspace_percent(result));
    to++->kind = BENCH_PERCENT;
    *to++ = bench_count("stages", result->stages);
    *to++ = bench_count("buffers", result->buffers);
    *to++ = bench_count("repeat", result->repeat);
    *to++ = bench_count("rounds", result->rounds);
    *to++ = bench_count("verified", result->verified);
    *to++ = bench_number("blas_seconds", compared, result->blas_seconds);
    *to++ = bench_number("blas_gb_per_s", compared, bench_speed(result, result->blas_seconds));
    *to++ = bench_number("memcpy_seconds", compared, result->memcpy_seconds);
    *to++ = bench_number("memcpy_gb_per_s", compared, bench_speed(result, result->memcpy_seconds));
    *to = bench_number("ipt_over_blas", compared, bench_ratio(result->seconds, result->blas_seconds));
}

/* Writes a value. missing: the text for a value that was not measured. */
static void bench_write_value(FILE *stream, const bench_column *column, const char *missing)
{
    switch (column->kind) {
    case BENCH_COUNT:
        fprintf(stream, "%zu", column->count);
        break;
    case BENCH_NUMBER:
        fprintf(stream, "%.9g", column->number);
        break;
    case BENCH_PERCENT:
        fprintf(stream, "%.4f", column->number);
        break;
    case BENCH_MISSING:
        fputs(missing, stream);
        break;
    }
}

void bench_csv_number(FILE *stream, bool measured, double number)
{
    const bench_column column = bench_number("", measured, number);
    fputc(',', stream);
    bench_write_value(stream, &column, "");
}

void bench_csv_heading(FILE *stream)
{
    static const bench_result none = {0};
    bench_column columns[BENCH_COLUMNS];
    bench_columns(&none, columns);
    for (size_t i = 0; i < BENCH_COLUMNS; i++) {
        fprintf(stream, "%s%s", i == 0 ? "" : ",", columns[i].name);
    }
    fputc('\n', stream);
    fflush(stream);
}

void bench_csv_line(FILE *stream, const bench_result *result)
{
    bench_column columns[BENCH_COLUMNS];
    bench_columns(result, columns);
    for (size_t i = 0; i < BENCH_COLUMNS; i++) {
        fputs(i == 0 ? "" : ",", stream);
        bench_write_value(stream, &columns[i], "");
    }
    fputc('\n', stream);
    fflush(stream);
}

void bench_json(FILE *stream, const bench_result *results, size_t count)
{
    fputc('[', stream);
    for (size_t r = 0; r < count; r++) {
        bench_column columns[BENCH_COLUMNS];
        bench_columns(&results[r], columns);
        fputs(r == 0 ? "\n  {" : ",\n  {", stream);
        for (size_t i = 0; i < BENCH_COLUMNS; i++) {
            fprintf(stream, "%s\"%s\": ", i == 0 ? "" : ", ", columns[i].name);
            bench_write_value(stream, &columns[i], "null");
        }
        fputc('}', stream);
    }
    fputs("\n]\n", stream);
    fflush(stream);
}
