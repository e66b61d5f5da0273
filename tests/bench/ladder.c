/* The copies and out-of-place transpositions of Ruetsch et al. 2013, and those of ipt, in turns on the same buffers.
 * Usage: ladder ROWSxCOLS:BYTES ... [--transfers] [--tile 32] [--lines 8] [--csv FILE]. A work-group of TILE x LINES
 * work-items moves TILE x TILE elements. The column `within` is for a loop within the kernel, which repeats the moves
 * of each work-group: its bytes are in caches then. GB/s count bytes read and bytes written; the ratio is to
 * clEnqueueCopyBuffer. --transfers also times a matrix in host memory: upload, method, download. Every result is
 * verified on fresh data, before and after the timing. The exit status is 1 if a result is wrong. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "gen/tool/bench/bench_measure.h"
#include "gen/tool/bench/bench_shapes.h"
#include "gen/tool/bench/bench_show.h"
#include "gen/tool/base/seconds.h"
#include "ladder_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 7,          /* the median counts */
    TRANSFER_ROUNDS = 5, /* rounds of upload, transposition and download */
    WITHIN = 100,        /* repetitions within a kernel, as in the paper */
    WITHIN_ROUNDS = 3,
    MIN_REPEAT = 3, /* least executions in a round ... */
    MAX_REPEAT = 500
};

static const double round_seconds = 0.02; /* ... and the approximate time of a round */

typedef enum way { BY_COPY_BUFFER, BY_KERNEL, BY_IPT_OUT_OF_PLACE, BY_IPT_IN_PLACE } way;

typedef struct method {
    const char *name;
    way by;
    const char *kernel;
    ladder_expectation expected;
} method;

static const method methods[] = {
    {"copy-buffer", BY_COPY_BUFFER, NULL, LADDER_COPY},
    {"copy", BY_KERNEL, "ladder_copy", LADDER_COPY},
    {"local-copy", BY_KERNEL, "ladder_local_copy", LADDER_COPY},
    {"naive", BY_KERNEL, "ladder_naive", LADDER_TRANSPOSED},
    {"coalesced", BY_KERNEL, "ladder_coalesced", LADDER_TRANSPOSED},
    {"conflict-free", BY_KERNEL, "ladder_conflict_free", LADDER_TRANSPOSED},
    {"fine-grained", BY_KERNEL, "ladder_fine_grained", LADDER_FINE_GRAINED},
    {"coarse-grained", BY_KERNEL, "ladder_coarse_grained", LADDER_COARSE_GRAINED},
    {"diagonal", BY_KERNEL, "ladder_diagonal", LADDER_TRANSPOSED},
    {"diagonal-unpadded", BY_KERNEL, "ladder_diagonal_unpadded", LADDER_TRANSPOSED},
    {"padded-output", BY_KERNEL, "ladder_padded_output", LADDER_PADDED},
    {"ipt-out-of-place", BY_IPT_OUT_OF_PLACE, NULL, LADDER_TRANSPOSED},
    {"ipt-in-place", BY_IPT_IN_PLACE, NULL, LADDER_TRANSPOSED},
};

enum { METHODS = sizeof methods / sizeof *methods };

/* One shape with its buffers and results. */
typedef struct ladder {
    size_t rows, cols, elem_size, bytes, tile, lines;
    cl_uint turns; /* of a kernel's loop */
    bench_device device;
    ipt_plan *plan;
    cl_program program;
    cl_kernel check, kernels[METHODS];
    cl_mem buffers[BENCH_MAX_BUFFERS]; /* at least two, and more bytes than the caches have */
    size_t buffer_count;
    size_t turn; /* number of the next timed execution, counted over all rounds */
} ladder;

/* The result of one method: seconds of one execution, and seconds with transfers (0: not measured). */
typedef struct measurement {
    double seconds, transfer_seconds, within_seconds; /* of a turn of the loop within the kernel; 0: it has none */
    bool verified;
} measurement;

static void need(bool good, const char *what)
{
    if (good) {
        return;
    }
    fprintf(stderr, "ladder: %s failed; the last error of ipt: %s\n", what, ipt_context_error(NULL));
    exit(1);
}

static double median(double *values, size_t count)
{
    return bench_quantile(values, count, 0.5);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Setting up */
/* ------------------------------------------------------------------------------------------------------------------ */

static void build(ladder *work)
{
    static const char *const options[] = {"-DITEM=uchar -DELEMENT=uchar", "-DITEM=ushort -DELEMENT=ushort",
                                          "-DITEM=uint -DELEMENT=uint", "-DITEM=ulong -DELEMENT=ulong",
                                          "-DITEM=ulong -DELEMENT=uint4"};
    const char *texts[] = {bench_checker, ladder_checker, ladder_tiles, ladder_steps};
    const cl_device_id id = ipt_context_cl_device(work->device.context);
    const cl_uint rows = (cl_uint)work->rows, cols = (cl_uint)work->cols;
    char all[128];
    size_t kind = 0;
    cl_int status;
    while ((size_t)1 << kind < work->elem_size) {
        kind++;
    }
    snprintf(all, sizeof all, "-DTILE=%zu -DLINES=%zu %s", work->tile, work->lines, options[kind]);
    work->program = clCreateProgramWithSource(ipt_context_cl_context(work->device.context), 4, texts, NULL, &status);
    need(status == CL_SUCCESS && clBuildProgram(work->program, 1, &id, all, NULL, NULL) == CL_SUCCESS,
         "building the kernels");
    work->check = clCreateKernel(work->program, "ladder_check", &status);
    need(status == CL_SUCCESS, "clCreateKernel");
    for (size_t i = 0; i < METHODS; i++) {
        if (methods[i].by == BY_KERNEL) {
            work->kernels[i] = clCreateKernel(work->program, methods[i].kernel, &status);
            need(status == CL_SUCCESS, methods[i].kernel);
            status = clSetKernelArg(work->kernels[i], 2, sizeof rows, &rows);
            status |= clSetKernelArg(work->kernels[i], 3, sizeof cols, &cols);
            need(status == CL_SUCCESS, "clSetKernelArg");
        }
    }
}

/* The bytes of a method's result. */
static size_t result_bytes(const ladder *work, size_t which)
{
    return work->bytes + (methods[which].expected == LADDER_PADDED ? 256 * work->cols : 0);
}

/* Fills a buffer with new data. Returns the seed of the data. */
static cl_ulong fill(ladder *work, cl_mem buffer)
{
    char message[BENCH_MESSAGE_SIZE];
    cl_ulong seed;
    need(bench_fill(&work->device, buffer, work->bytes, &seed, message), message);
    return seed;
}

static void take_buffers(ladder *work)
{
    const size_t wanted = bench_larger(2, bench_wanted_buffers(&work->device, work->bytes));
    for (size_t i = 0; i < wanted; i++) {
        cl_int status;
        work->buffers[i] = clCreateBuffer(ipt_context_cl_context(work->device.context), CL_MEM_READ_WRITE,
                                          work->bytes + 256 * work->cols, NULL, &status);
        need(status == CL_SUCCESS, "clCreateBuffer for a matrix");
        fill(work, work->buffers[i]); /* some devices allocate the memory only now */
    }
    work->buffer_count = wanted;
}

/* Opens a ladder whose shape is set; its other fields must be zero. */
static void open_ladder(ladder *work, ipt_context *context)
{
    char message[BENCH_MESSAGE_SIZE];
    ipt_plan_desc desc = {0};
    desc.rows = work->rows;
    desc.cols = work->cols;
    desc.elem_size = work->elem_size;
    need(bench_device_open(&work->device, context, work->elem_size, message), message);
    need(ipt_plan_create(context, &desc, &work->plan) == IPT_SUCCESS, "ipt_plan_create");
    build(work);
    take_buffers(work);
}

static void close_ladder(ladder *work)
{
    for (size_t i = 0; i < work->buffer_count; i++) {
        clReleaseMemObject(work->buffers[i]);
    }
    for (size_t i = 0; i < METHODS; i++) {
        if (work->kernels[i] != NULL) {
            clReleaseKernel(work->kernels[i]);
        }
    }
    clReleaseKernel(work->check);
    clReleaseProgram(work->program);
    ipt_plan_destroy(work->plan);
    bench_device_close(&work->device);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Executing and verifying */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The buffer that a turn reads. The turn writes the buffer that is farthest from it in the rotation. */
static cl_mem source_of(const ladder *work, size_t turn)
{
    return work->buffers[turn % work->buffer_count];
}

static cl_mem destination_of(const ladder *work, size_t which, size_t turn)
{
    return source_of(work, methods[which].by == BY_IPT_IN_PLACE ? turn : turn + work->buffer_count / 2);
}

static bool enqueue_kernel(ladder *work, cl_kernel kernel, cl_mem source, cl_mem destination)
{
    const size_t tile = work->tile, local[2] = {tile, work->lines};
    const size_t global[2] = {(work->cols + tile - 1) / tile * tile, (work->rows + tile - 1) / tile * work->lines};
    return clSetKernelArg(kernel, 0, sizeof destination, &destination) == CL_SUCCESS &&
           clSetKernelArg(kernel, 1, sizeof source, &source) == CL_SUCCESS &&
           clSetKernelArg(kernel, 4, sizeof work->turns, &work->turns) == CL_SUCCESS &&
           clEnqueueNDRangeKernel(work->device.queue, kernel, 2, NULL, global, local, 0, NULL, NULL) == CL_SUCCESS;
}

static void enqueue(ladder *work, size_t which, size_t turn)
{
    const cl_mem source = source_of(work, turn), destination = destination_of(work, which, turn);
    const cl_command_queue queue = work->device.queue;
    bool good = false;
    switch (methods[which].by) {
    case BY_COPY_BUFFER:
        good = clEnqueueCopyBuffer(queue, source, destination, 0, 0, work->bytes, 0, NULL, NULL) == CL_SUCCESS;
        break;
    case BY_KERNEL:
        good = enqueue_kernel(work, work->kernels[which], source, destination);
        break;
    case BY_IPT_OUT_OF_PLACE:
        good =
            ipt_plan_execute_out_of_place(work->plan, queue, source, 0, destination, 0, 0, NULL, NULL) == IPT_SUCCESS;
        break;
    case BY_IPT_IN_PLACE:
        good = ipt_plan_execute(work->plan, queue, source, 0, 0, NULL, NULL) == IPT_SUCCESS;
        break;
    }
    need(good, methods[which].name);
}

static void finish(const ladder *work)
{
    need(clFinish(work->device.queue) == CL_SUCCESS, "clFinish");
}

/* The number of wrong elements in a buffer, for the data of this seed. */
static cl_uint count_wrong(const ladder *work, cl_mem buffer, cl_ulong seed, ladder_expectation expectation)
{
    const bench_device *device = &work->device;
    const cl_ulong rows = work->rows, cols = work->cols, items = work->elem_size / device->item_size;
    const cl_uint expected = (cl_uint)expectation;
    cl_uint wrong = 0;
    cl_int status =
        clEnqueueWriteBuffer(device->queue, device->counter, CL_TRUE, 0, sizeof wrong, &wrong, 0, NULL, NULL);
    status |= clSetKernelArg(work->check, 0, sizeof buffer, &buffer);
    status |= clSetKernelArg(work->check, 1, sizeof seed, &seed);
    status |= clSetKernelArg(work->check, 2, sizeof rows, &rows);
    status |= clSetKernelArg(work->check, 3, sizeof cols, &cols);
    status |= clSetKernelArg(work->check, 4, sizeof items, &items);
    status |= clSetKernelArg(work->check, 5, sizeof expected, &expected);
    status |= clSetKernelArg(work->check, 6, sizeof device->counter, &device->counter);
    need(status == CL_SUCCESS && bench_launch(device, work->check, work->rows * work->cols) == CL_SUCCESS,
         "checking a matrix");
    status = clEnqueueReadBuffer(device->queue, device->counter, CL_TRUE, 0, sizeof wrong, &wrong, 0, NULL, NULL);
    need(status == CL_SUCCESS, "reading what the check found");
    return wrong;
}

static bool is_right(const ladder *work, size_t which, cl_mem buffer, cl_ulong seed, ladder_expectation expectation)
{
    const cl_uint wrong = count_wrong(work, buffer, seed, expectation);
    if (wrong != 0) {
        fprintf(stderr, "ladder: %s of %zux%zu:%zu: %u of %zu elements are WRONG\n", methods[which].name, work->rows,
                work->cols, work->elem_size, wrong, work->rows * work->cols);
    }
    return wrong == 0;
}

/* Executes a method on fresh data in several turns, back to back. Checks the results, and that the sources are
 * unchanged. */
static bool verify(ladder *work, size_t which, size_t turns)
{
    cl_ulong seeds[BENCH_VERIFIED_BUFFERS];
    bool good = true;
    for (size_t i = 0; i < turns; i++) {
        fill(work, destination_of(work, which, i));
        seeds[i] = fill(work, source_of(work, i));
    }
    for (size_t i = 0; i < turns; i++) {
        enqueue(work, which, i);
    }
    for (size_t i = 0; i < turns; i++) {
        good &= is_right(work, which, destination_of(work, which, i), seeds[i], methods[which].expected);
        if (destination_of(work, which, i) != source_of(work, i)) {
            good &= is_right(work, which, source_of(work, i), seeds[i], LADDER_COPY);
        }
    }
    return good;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Measuring */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Seconds of one execution: the mean of several, back to back on an idle device. */
static double time_round(ladder *work, size_t which, size_t repeat)
{
    finish(work);
    const double begin = seconds_now();
    for (size_t i = 0; i < repeat; i++) {
        enqueue(work, which, work->turn++);
    }
    finish(work);
    return (seconds_now() - begin) / (double)repeat;
}

static size_t repeat_for(ladder *work, size_t which)
{
    const double wanted = round_seconds / time_round(work, which, MIN_REPEAT);
    return wanted > MAX_REPEAT ? MAX_REPEAT : bench_larger(MIN_REPEAT, (size_t)wanted);
}

/* Measures a loop within each kernel. */
static void measure_within(ladder *work, measurement *results)
{
    work->turns = WITHIN;
    for (size_t m = 0; m < METHODS; m++) {
        double seconds[WITHIN_ROUNDS];
        if (methods[m].by != BY_KERNEL) {
            continue;
        }
        results[m].verified &= verify(work, m, 1);
        for (size_t i = 0; i < WITHIN_ROUNDS; i++) {
            seconds[i] = time_round(work, m, 1) / WITHIN;
        }
        results[m].within_seconds = median(seconds, WITHIN_ROUNDS);
    }
    work->turns = 1;
}

/* Measures rounds of all methods in turn, so that all of them find the device in the same state. */
static void measure(ladder *work, measurement *results)
{
    double seconds[METHODS][ROUNDS];
    size_t repeat[METHODS];
    for (size_t m = 0; m < METHODS; m++) {
        results[m].verified = verify(work, m, 1);
        repeat[m] = repeat_for(work, m);
    }
    for (size_t i = 0; i < ROUNDS; i++) {
        for (size_t m = 0; m < METHODS; m++) {
            seconds[m][i] = time_round(work, m, repeat[m]);
        }
    }
    for (size_t m = 0; m < METHODS; m++) {
        results[m].seconds = median(seconds[m], ROUNDS);
        results[m].verified &= verify(work, m, bench_smaller(work->buffer_count / 2, BENCH_VERIFIED_BUFFERS));
    }
}

/* Seconds from a matrix in host memory to the result in host memory. */
static double time_transfer(ladder *work, size_t which, const void *input, void *output)
{
    const cl_mem source = source_of(work, 0), destination = destination_of(work, which, 0);
    const cl_command_queue queue = work->device.queue;
    finish(work);
    const double begin = seconds_now();
    cl_int status = clEnqueueWriteBuffer(queue, source, CL_FALSE, 0, work->bytes, input, 0, NULL, NULL);
    need(status == CL_SUCCESS, "clEnqueueWriteBuffer");
    enqueue(work, which, 0);
    status = clEnqueueReadBuffer(queue, destination, CL_TRUE, 0, result_bytes(work, which), output, 0, NULL, NULL);
    need(status == CL_SUCCESS, "clEnqueueReadBuffer");
    return seconds_now() - begin;
}

static void measure_transfers(ladder *work, measurement *results)
{
    const cl_command_queue queue = work->device.queue;
    const cl_mem source = source_of(work, 0);
    void *input = malloc(work->bytes), *output = malloc(work->bytes + 256 * work->cols);
    double seconds[METHODS][TRANSFER_ROUNDS];
    need(input != NULL && output != NULL, "malloc");
    for (size_t i = 0; i < TRANSFER_ROUNDS; i++) {
        for (size_t m = 0; m < METHODS; m++) {
            const cl_ulong seed = fill(work, source);
            cl_int status = clEnqueueReadBuffer(queue, source, CL_TRUE, 0, work->bytes, input, 0, NULL, NULL);
            need(status == CL_SUCCESS, "clEnqueueReadBuffer");
            fill(work, source); /* erases the result of the last execution */
            fill(work, destination_of(work, m, 0));
            memset(output, 0, result_bytes(work, m));
            seconds[m][i] = time_transfer(work, m, input, output);
            status = clEnqueueWriteBuffer(queue, source, CL_TRUE, 0, result_bytes(work, m), output, 0, NULL, NULL);
            need(status == CL_SUCCESS, "clEnqueueWriteBuffer");
            results[m].verified &= is_right(work, m, source, seed, methods[m].expected);
        }
    }
    for (size_t m = 0; m < METHODS; m++) {
        results[m].transfer_seconds = median(seconds[m], TRANSFER_ROUNDS);
    }
    free(input);
    free(output);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Output */
/* ------------------------------------------------------------------------------------------------------------------ */

/* GB/s of the loop within the kernel; 0: it has none. */
static double within_speed(const ladder *work, const measurement *result)
{
    return result->within_seconds > 0 ? 2e-9 * (double)work->bytes / result->within_seconds : 0;
}

static void show(const ladder *work, const measurement *results)
{
    printf("%zux%zu:%zu, %zu buffers\n%-17s %10s %9s %9s %7s %12s %15s  %s\n", work->rows, work->cols, work->elem_size,
           work->buffer_count, "kernel", "ms", "GB/s", "GiB/s", "ratio", "within: GB/s", "transfers: ms", "verified");
    for (size_t m = 0; m < METHODS; m++) {
        const double speed = 2 * (double)work->bytes / results[m].seconds;
        printf("%-17s %10.4f %9.2f %9.2f %7.3f", methods[m].name, results[m].seconds * 1e3, speed * 1e-9,
               speed / (1 << 30), results[0].seconds / results[m].seconds);
        bench_show_number(stdout, 12, 2, results[m].within_seconds > 0, within_speed(work, &results[m]));
        bench_show_number(stdout, 15, 3, results[m].transfer_seconds > 0, results[m].transfer_seconds * 1e3);
        printf("  %s\n", results[m].verified ? "yes" : "NO");
    }
    fflush(stdout);
}

static void write_csv(FILE *stream, const ladder *work, const measurement *results)
{
    for (size_t m = 0; m < METHODS; m++) {
        const double speed = 2 * (double)work->bytes / results[m].seconds;
        fprintf(stream, "%s,%zu,%zu,%zu,%.6g,%.6g,%.6g,%d,%.6g", methods[m].name, work->rows, work->cols,
                work->elem_size, speed * 1e-9, speed / (1 << 30), results[0].seconds / results[m].seconds,
                results[m].verified, results[m].seconds * 1e3);
        bench_csv_number(stream, results[m].transfer_seconds > 0, results[m].transfer_seconds * 1e3);
        bench_csv_number(stream, results[m].within_seconds > 0, within_speed(work, &results[m]));
        fputc('\n', stream);
    }
    need(fflush(stream) == 0, "writing the CSV");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The command line */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Reads ROWSxCOLS:BYTES. The kernels count elements with 32 bits; BYTES must be a power of two. */
static bool read_shape(const char *text, ladder *work)
{
    char behind;
    return sscanf(text, "%zux%zu:%zu%c", &work->rows, &work->cols, &work->elem_size, &behind) == 3 && work->rows > 0 &&
           work->cols > 0 && work->rows <= UINT32_MAX / work->cols && work->elem_size > 0 && work->elem_size <= 16 &&
           (work->elem_size & (work->elem_size - 1)) == 0 &&
           bench_shape_bytes(work->rows, work->cols, work->elem_size, 1, &work->bytes);
}

typedef struct settings {
    size_t tile, lines;
    bool transfers;
    FILE *csv; /* NULL: none */
} settings;

/* Measures one shape and prints its lines. Returns whether all results are right. */
static bool climb(ipt_context *context, const char *shape, const settings *set)
{
    measurement results[METHODS] = {{0}};
    ladder work = {.tile = set->tile, .lines = set->lines, .turns = 1};
    bool good = true;
    if (!read_shape(shape, &work)) {
        fprintf(stderr, "ladder: '%s' is not ROWSxCOLS:BYTES with BYTES 1, 2, 4, 8 or 16 and under 2^32 elements\n",
                shape);
        return false;
    }
    open_ladder(&work, context);
    measure(&work, results);
    measure_within(&work, results);
    if (set->transfers) {
        measure_transfers(&work, results);
    }
    show(&work, results);
    if (set->csv != NULL) {
        write_csv(set->csv, &work, results);
    }
    for (size_t m = 0; m < METHODS; m++) {
        good &= results[m].verified;
    }
    close_ladder(&work);
    return good;
}

/* Reads an option's number from 1 to most. */
static bool read_number(const char *text, size_t most, size_t *found)
{
    char behind;
    return sscanf(text, "%zu%c", found, &behind) == 1 && *found > 0 && *found <= most;
}

int main(int count, char **arguments)
{
    settings set = {.tile = 32, .lines = 8};
    const char *csv_name = NULL;
    size_t shapes = 0;
    bool good = true;
    for (int i = 1; i < count; i++) { /* shapes move before the options */
        if (strcmp(arguments[i], "--transfers") == 0) {
            set.transfers = true;
        } else if (strcmp(arguments[i], "--csv") == 0 && i + 1 < count) {
            csv_name = arguments[++i];
        } else if (strcmp(arguments[i], "--tile") == 0 && i + 1 < count) {
            good &= read_number(arguments[++i], 64, &set.tile);
        } else if (strcmp(arguments[i], "--lines") == 0 && i + 1 < count) {
            good &= read_number(arguments[++i], 64, &set.lines);
        } else {
            arguments[shapes++] = arguments[i];
        }
    }
    if (shapes == 0 || !good || set.lines > set.tile) {
        fputs("usage: ladder ROWSxCOLS:BYTES ... [--transfers] [--tile 32] [--lines 8] [--csv FILE], with at most 64 "
              "lines, and no more than the tile has rows\n",
              stderr);
        return 2;
    }
    ipt_context *context;
    char device[1024];
    need(ipt_context_create(NULL, &context) == IPT_SUCCESS, "ipt_context_create");
    need(ipt_device_describe(ipt_context_cl_device(context), device, sizeof device) == IPT_SUCCESS,
         "ipt_device_describe");
    fputs(device, stdout);
    size_t most = 0;
    need(clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL) ==
                 CL_SUCCESS &&
             most >= set.tile,
         "work-groups with a line of a tile");
    set.lines = bench_smaller(set.lines, most / set.tile);
    printf("tiles of %zu x %zu by %zu x %zu work-items\n", set.tile, set.tile, set.tile, set.lines);
    set.csv = csv_name == NULL ? NULL : fopen(csv_name, "w");
    need(csv_name == NULL || set.csv != NULL, "opening the CSV");
    if (set.csv != NULL) {
        fputs("kernel,rows,cols,elem_bytes,gb_per_s,gib_per_s,ratio,verified,ms,ms_with_transfers,within_gb_per_s\n",
              set.csv);
    }
    for (size_t i = 0; i < shapes; i++) {
        good &= climb(context, arguments[i], &set);
    }
    good &= set.csv == NULL || fclose(set.csv) == 0;
    ipt_context_destroy(context);
    return good ? 0 : 1;
}
