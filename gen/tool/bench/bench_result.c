#include "bench_result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool bench_fail(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, BENCH_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

/* Whether the result's rows are the matrix' columns. */
static bool bench_turns(const bench_result *result)
{
#define BENCH_TRANSPOSED(name, text, transposed, rows, cols) transposed,
    static const bool transposed[] = {IPT_MOVE_LIST(BENCH_TRANSPOSED)};
    return transposed[result->move];
}

size_t bench_pitch(const bench_result *result, bool after)
{
    size_t pitch = after ? result->pitch_out : result->pitch;
    return pitch != 0 ? pitch : (after && bench_turns(result) ? result->rows : result->cols) * result->elem_size;
}

size_t bench_stride(const bench_result *result)
{
    return bench_larger(result->rows * bench_pitch(result, false),
                        (bench_turns(result) ? result->cols : result->rows) * bench_pitch(result, true));
}

bool bench_opencl(cl_int status, const char *call, char *message)
{
    return status == CL_SUCCESS || bench_fail(message, "%s failed with OpenCL error %d", call, status);
}

size_t bench_smaller(size_t first, size_t second)
{
    return first < second ? first : second;
}

size_t bench_larger(size_t first, size_t second)
{
    return first > second ? first : second;
}

static int bench_compare(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

double bench_quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof *values, bench_compare);
    double place = part * (double)(count - 1);
    size_t below = (size_t)place;
    return below + 1 == count ? values[below]
                              : values[below] + (place - (double)below) * (values[below + 1] - values[below]);
}

double bench_speed(const bench_result *result, double seconds)
{
    return 2e-9 * (double)result->bytes / (seconds > 1e-12 ? seconds : 1e-12);
}

double bench_ratio(double seconds, double other_seconds)
{
    return other_seconds / (seconds > 1e-12 ? seconds : 1e-12);
}

double bench_workspace_percent(const bench_result *result)
{
    return 100.0 * (double)result->workspace / (double)result->bytes;
}
