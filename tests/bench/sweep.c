/* Many plans for floats in one process, each measured as by `ipt bench`: verified before and after the timing, relative
 * to copies of the same bytes. Usage: sweep [REPEAT] [ROUNDS] < LINES > CSV; a line is
 *   LABEL ROWS COLS SEQUENCE TILE_M TILE_N KERNEL_010 KERNEL_100 FLAG_SPREAD
 * SEQUENCE is one of the tool's, a method, such as ppopp-2014, whose tiles and kernels are 0 and auto, 010 (a list of
 * TILE_M x TILE_N tiles, each transposed), or 100 (super-elements of TILE_N floats, moved from row-major to
 * column-major order). If the device has too little memory, the CSV has no line, and a message is printed. Any other
 * error ends the program with failure. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "gen/tool/bench/bench_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 8 << 20 /* bytes of a matrix */ };

typedef struct sweep_line {
    char label[64], sequence[16], kernel_010[64], kernel_100[64];
    size_t rows, cols, tile_m, tile_n, flag_spread;
} sweep_line;

/* Prints an error. Returns the exit status. */
static int complain(const char *what, const char *why)
{
    fprintf(stderr, "sweep: %s: %s\n", what, why);
    return EXIT_FAILURE;
}

/* Finds a sequence by its name. */
static bool find_sequence(const char *name, ipt_sequence *found)
{
    int i = 0;
    while (i < IPT__SEQUENCE_COUNT && strcmp(name, ipt_sequence_string((ipt_sequence)i)) != 0)
        i++;
    *found = (ipt_sequence)i;
    return i < IPT__SEQUENCE_COUNT;
}

static bool find_method(const char *name, ipt_method *found)
{
    int i = 1;
    while (i < IPT__METHOD_COUNT && strcmp(name, ipt_method_string((ipt_method)i)) != 0)
        i++;
    *found = (ipt_method)i;
    return i < IPT__METHOD_COUNT;
}

static bool find_kernel(const char *name, ipt_variant *found)
{
    int i = 0;
    while (i < IPT__VARIANT_COUNT && strcmp(name, ipt_variant_string((ipt_variant)i)) != 0)
        i++;
    *found = (ipt_variant)i;
    return i < IPT__VARIANT_COUNT;
}

/* Sets the desc of the plan, and the transposition that the result is compared with. */
static bool describe(const sweep_line *line, ipt_plan_desc *desc, bench_result *result)
{
    const bool tiles = strcmp(line->sequence, "010") == 0, elements = strcmp(line->sequence, "100") == 0;
    const bool whole = find_method(line->sequence, &desc->method);
    desc->method = whole ? desc->method : IPT_METHOD_AUTO;
    if (!find_sequence(tiles || elements || whole ? "auto" : line->sequence, &desc->sequence) ||
        !find_kernel(line->kernel_010, &desc->variant_010) || !find_kernel(line->kernel_100, &desc->variant_100) ||
        ((tiles || elements) && (line->tile_m == 0 || line->tile_n == 0)))
        return false;
    desc->rows = result->rows = line->rows;
    desc->cols = result->cols = line->cols;
    desc->elem_size = result->elem_size = sizeof(float);
    desc->tile_m = line->tile_m;
    desc->tile_n = line->tile_n;
    desc->flag_spread = line->flag_spread;
    result->batch = 1;
    result->bytes = line->rows * line->cols * sizeof(float);
    /* Forces a transposition in place: the default of 1 MiB has room for a whole small matrix. */
    desc->max_workspace = result->bytes < SMALL ? result->bytes / 8 + 1 : 0;
    if (tiles) {
        desc->from = IPT_FORMAT_RRRB;
        desc->to = IPT_FORMAT_RCRB;
        result->rows = line->tile_m;
        result->cols = line->tile_n;
        result->batch = line->rows / line->tile_m * (line->cols / line->tile_n);
    } else if (elements) {
        desc->to = IPT_FORMAT_CRRB;
        result->cols = line->cols / line->tile_n;
        result->elem_size = line->tile_n * sizeof(float);
    }
    return true;
}

static void print_result(const sweep_line *line, const bench_result *result, const char *device)
{
    printf("%s,%zu,%zu,%s,%zu,%zu,%s,%s,%zu,%zu,%.9g,%.9g,%.9g,%.9g,%zu,%d,%s\n", line->label, line->rows, line->cols,
           line->sequence, line->tile_m, line->tile_n, line->kernel_010, line->kernel_100, line->flag_spread,
           result->bytes, result->seconds, bench_speed(result, result->seconds),
           bench_speed(result, result->copy_seconds), bench_ratio(result->seconds, result->copy_seconds),
           result->workspace, result->verified, device);
    fflush(stdout);
}

/* Measures a line. Returns false if a result is wrong or cannot be measured. */
static bool measure_line(const sweep_line *line, bench_device *device, size_t repeat, size_t rounds, char *message)
{
    ipt_plan_desc desc = {0};
    bench_result result = {0};
    ipt_plan *plan;
    if (!describe(line, &desc, &result))
        return bench_fail(message, "no such sequence or kernel, or a tile without sides");
    result.repeat = repeat;
    result.rounds = rounds;
    const ipt_result made = ipt_plan_create(device->context, &desc, &plan);
    if (made == IPT_ERROR_UNSUPPORTED &&
        (desc.sequence != IPT_SEQUENCE_AUTO || desc.method)) { /* a paper's kernel is unsupported */
        complain(line->label, ipt_context_error(device->context));
        return true;
    }
    if (made != IPT_SUCCESS)
        return bench_fail(message, "%s", ipt_context_error(device->context));
    const bool good = bench_measure(device, plan, &result, message) &&
                      (result.copy_seconds > 0 || bench_fail(message, "no memory for a copy to compare with"));
    ipt_plan_destroy(plan);
    if (good)
        print_result(line, &result, device->name);
    return good;
}

/* Measures all lines of standard input. Returns the exit status. */
static int measure_lines(bench_device *device, size_t repeat, size_t rounds)
{
    char text[512], message[BENCH_MESSAGE_SIZE];
    printf("label,rows,cols,sequence,tile_m,tile_n,kernel_010,kernel_100,flag_spread,bytes,seconds,gb_per_s,"
           "copy_gb_per_s,ratio,workspace,verified,device\n");
    while (fgets(text, sizeof text, stdin) != NULL) {
        sweep_line line;
        text[strcspn(text, "\n")] = '\0';
        if (sscanf(text, "%63s %zu %zu %15s %zu %zu %63s %63s %zu", line.label, &line.rows, &line.cols, line.sequence,
                   &line.tile_m, &line.tile_n, line.kernel_010, line.kernel_100, &line.flag_spread) != 9)
            return complain(text, "nine words are needed");
        if (!measure_line(&line, device, repeat, rounds, message))
            return complain(text, message);
    }
    return EXIT_SUCCESS;
}

int main(int count, char **arguments)
{
    const size_t repeat = count > 1 ? (size_t)strtoull(arguments[1], NULL, 10) : 0;
    const size_t rounds = count > 2 ? (size_t)strtoull(arguments[2], NULL, 10) : 3;
    char message[BENCH_MESSAGE_SIZE];
    bench_device device = {0};
    ipt_context *context;
    int code;
    if (ipt_context_create(NULL, &context) != IPT_SUCCESS)
        return complain("no device", ipt_context_error(NULL));
    if (bench_device_open(&device, context, sizeof(float), message)) {
        for (char *comma = device.name; (comma = strchr(comma, ',')) != NULL;) /* the CSV's separator */
            *comma = ' ';
        code = measure_lines(&device, repeat, rounds > 0 ? rounds : 1);
    } else {
        code = complain("the device", message);
    }
    bench_device_close(&device);
    ipt_context_destroy(context);
    return code;
}
