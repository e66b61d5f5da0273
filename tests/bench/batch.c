/* Ready-made actions of batch plans: the share of a copy's speed in bytes read and written, and 10^9 operations a
 * second. Each line is a way: ipt's choice, a model, or a way without a batch. The results of every line are checked.
 * The device's clock measures batches, the host's clock the ways with an execution for each element. Usage: batch
 * [OPTION ...] ACTION:TYPE:SIDE[:COUNT] ..., such as gemm:double:4:100000.
 *   --csv             writes a table to standard output
 *   --megabytes N     the size of the operands where no COUNT is given (256)
 *   --lines A,B,...   these lines only. auto; a model's name; uusci-2013: Ha et al. 2013 as published; planes: model
 * memory on planes instead of elements; launches: an execution for each element, on one queue; queues: on several
 * queues in turn; host: operands in pinned host memory, compared with both directions of the bus at once
 *   --launches N      the elements of the last two lines, at most (1000)
 *   --queues N        the queues of the last line (8)
 *   --plans           only creates the plans, so that the cache has their programs */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define IPT_IMPLEMENTATION
#include "ipt.h"
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* this file uses a part of plans.h */
#endif
#include "plans.h"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#include "batch_elements.h"

enum { ROUNDS = 7, MOST_QUEUES = 64, LAUNCH_ROUNDS = 3, FIRST_LAUNCHES = 16 };
#define LONG_SECONDS 0.1      /* an execution that takes longer is measured once */
#define MEDIUM_SECONDS 0.02   /* an execution that takes longer is measured three times only */
#define LAUNCHES_SECONDS 0.03 /* longest round of launches in seconds */

static struct options {
    int csv, plans_only;
    size_t bytes, launches, queues;
    const char *lines; /* NULL: all lines */
} options = {0, 0, (size_t)256 << 20, 1000, 8, NULL};

static cl_mem original; /* the initial content of `buffer` */

static int is_wanted(const char *line)
{
    const size_t length = strlen(line);
    const char *at = options.lines;
    if (!at)
        return 1;
    for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, line, length) && (at[length] == ',' || !at[length]))
            return 1;
    return 0;
}

static double event_seconds(cl_event event)
{
    cl_ulong begin = 0, end = 0;
    need(!clWaitForEvents(1, &event), "clWaitForEvents");
    need(!clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL) &&
             !clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
         "clGetEventProfilingInfo");
    clReleaseEvent(event);
    return (double)(end - begin) * 1e-9;
}

/* Bytes per second that a copy of the batch's size reads and writes. */
static double copy_rate(const work *of)
{
    const size_t bytes = of->moved_bytes * of->desc.count / 2;
    double seconds[ROUNDS];
    for (int i = -1; i < ROUNDS; ++i) {
        cl_event event;
        need(!clEnqueueCopyBuffer(queue, buffer, original, 0, 0, bytes, 0, NULL, &event), "clEnqueueCopyBuffer");
        seconds[i < 0 ? 0 : i] = event_seconds(event);
    }
    return 2 * (double)bytes / median(seconds, ROUNDS);
}

/* Restores all operands from a copy on the device: decompositions overwrite their input, and results of an earlier line
 * must not count. A transfer from the host would slow the next execution. */
static void restore(const work *of)
{
    need(!clEnqueueCopyBuffer(queue, original, buffer, 0, 0, of->all_bytes, 0, NULL, NULL), "clEnqueueCopyBuffer");
}

static double execute(ipt_batch *batch, const work *of)
{
    cl_event event;
    need(!ipt_batch_execute(batch, queue, of->buffers, NULL, 0, NULL, &event), "ipt_batch_execute");
    return event_seconds(event);
}

/* Seconds of an execution: the median of the rounds. The first round, which may compile, does not count. */
static double batch_seconds(ipt_batch *batch, const work *of)
{
    double seconds[ROUNDS];
    int rounds = ROUNDS;
    restore(of);
    execute(batch, of);
    for (int i = 0; i < rounds; ++i) {
        if (of->in_place)
            restore(of);
        seconds[i] = execute(batch, of);
        rounds = seconds[0] > LONG_SECONDS ? 1 : seconds[0] > MEDIUM_SECONDS ? 3 : ROUNDS;
    }
    return median(seconds, (size_t)rounds);
}

/* Prints a line. seconds: the time for `elements` elements; sample: the number of checked elements. */
static void print_line(const char *line, const ipt_batch *batch, const work *of, size_t elements, double seconds,
                       double copy, size_t sample)
{
    const double rate = (double)(of->moved_bytes * elements) / seconds,
                 operations = of->operations * (double)elements / seconds;
    const char *const described = strstr(ipt_batch_describe(batch), "model");
    if (options.csv)
        printf("%s,%.*s,%s,%s,%zu,%zu,%zu,%.9f,%.4f,%.3f,%.6f,%.4f,%zu\n", line, (int)strcspn(described + 6, ":"),
               described + 6, ipt_action_string(of->desc.ready), of->type, of->side, of->desc.count, elements, seconds,
               rate * 1e-9, copy * 1e-9, rate / copy, operations * 1e-9, sample);
    else
        printf("%-22s %9zu %-12s %10.1f us  %8.5f of the copy %9.2f GFLOP/s  %.*s\n", of->text, elements, line,
               seconds * 1e6, rate / copy, operations * 1e-9, (int)strcspn(described, "\n"), described);
    fflush(stdout);
}

static void measure_batch(const char *line, ipt_model model, ipt_method method, work *of, double copy)
{
    ipt_batch *batch;
    ipt_result result;
    double seconds;
    of->desc.model = model;
    of->desc.method = method;
    result = ipt_batch_create(context, &of->desc, &batch);
    of->desc.method = IPT_METHOD_AUTO;
    if (result == IPT_ERROR_UNSUPPORTED)
        return;
    need(!result, "ipt_batch_create");
    if (!options.plans_only) {
        seconds = batch_seconds(batch, of);
        print_line(line, batch, of, of->desc.count, seconds, copy, work_verify(of, line, of->desc.count));
    }
    ipt_batch_destroy(batch);
}

/* Seconds of an execution for each of the first `elements` elements, on queues in turn, by the host's clock. */
static double launch_seconds(ipt_batch *batch, const work *of, size_t elements, const cl_command_queue *queues,
                             size_t queue_count)
{
    double begin;
    restore(of);
    need(!clFinish(queue), "clFinish");
    begin = now();
    for (size_t e = 0; e < elements; ++e) {
        ipt_batch_buffer buffers[WORK_OPERANDS];
        for (size_t k = 0; k < of->desc.operand_count; ++k) {
            buffers[k] = of->buffers[k];
            buffers[k].byte_offset += e * operand_components(of, k) * operand_bytes(of, k);
        }
        need(!ipt_batch_execute(batch, queues[e % queue_count], buffers, NULL, 0, NULL, NULL), "ipt_batch_execute");
    }
    for (size_t i = 0; i < queue_count; ++i)
        need(!clFinish(queues[i]), "clFinish");
    return now() - begin;
}

/* Measures executions of a plan for one element, one execution for each element. */
static void measure_launches(const char *line, const work *of, double copy, size_t queue_count)
{
    const size_t most = of->desc.count < options.launches ? of->desc.count : options.launches;
    work single = *of;
    cl_command_queue queues[MOST_QUEUES];
    double seconds[LAUNCH_ROUNDS];
    size_t elements = most < FIRST_LAUNCHES ? most : FIRST_LAUNCHES;
    ipt_batch *batch;
    single.desc.count = 1;
    single.desc.model = IPT_MODEL_AUTO;
    single.desc.operands = single.operands;
    need(!ipt_batch_create(context, &single.desc, &batch), "ipt_batch_create");
    for (size_t i = 0; i < queue_count; ++i) {
        cl_int error;
        queues[i] = clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context), 0, &error);
        need(!error, "clCreateCommandQueue");
    }
    launch_seconds(batch, of, elements, queues, queue_count); /* may compile */
    seconds[0] = launch_seconds(batch, of, elements, queues, queue_count);
    if (seconds[0] / (double)elements * (double)most < LAUNCHES_SECONDS)
        elements = most;
    else if (seconds[0] < LAUNCHES_SECONDS)
        elements = (size_t)(LAUNCHES_SECONDS / seconds[0] * (double)elements);
    for (int i = 0; i < LAUNCH_ROUNDS; ++i)
        seconds[i] = launch_seconds(batch, of, elements, queues, queue_count);
    print_line(line, batch, of, elements, median(seconds, LAUNCH_ROUNDS), copy, work_verify(of, line, elements));
    for (size_t i = 0; i < queue_count; ++i)
        clReleaseCommandQueue(queues[i]);
    ipt_batch_destroy(batch);
}

/* Seconds to upload the operands that are read, or to download the operands that are written. */
static double bus_seconds(const work *of, unsigned char *memory, ipt_access direction)
{
    double seconds[LAUNCH_ROUNDS];
    for (int i = 0; i < LAUNCH_ROUNDS; ++i) {
        const double begin = now();
        for (size_t k = 0; k < of->desc.operand_count; ++k) {
            const size_t at = of->buffers[k].byte_offset,
                         bytes = of->desc.count * operand_components(of, k) * operand_bytes(of, k);
            if (of->operands[k].access & direction)
                need(!(direction == IPT_READ
                           ? clEnqueueWriteBuffer(queue, buffer, CL_FALSE, at, bytes, memory + at, 0, NULL, NULL)
                           : clEnqueueReadBuffer(queue, buffer, CL_FALSE, at, bytes, memory + at, 0, NULL, NULL)),
                     "a transfer");
        }
        need(!clFinish(queue), "clFinish");
        seconds[i] = now() - begin;
    }
    return median(seconds, LAUNCH_ROUNDS);
}

/* Measures operands in pinned host memory, relative to the bus: both directions at once, each at its own full speed. */
static void measure_host(const char *line, work *of)
{
    void *allocated, *operands[WORK_OPERANDS];
    double seconds[LAUNCH_ROUNDS], up, down;
    ipt_batch *batch;
    of->desc.model = IPT_MODEL_AUTO;
    need(!ipt_host_alloc(context, of->all_bytes, &allocated), "ipt_host_alloc");
    need(!ipt_batch_create(context, &of->desc, &batch), "ipt_batch_create");
    for (size_t k = 0; k < of->desc.operand_count; ++k)
        operands[k] = (unsigned char *)allocated + of->buffers[k].byte_offset;
    up = bus_seconds(of, allocated, IPT_READ);
    down = bus_seconds(of, allocated, IPT_WRITE);
    for (int i = -1; i < LAUNCH_ROUNDS; ++i) {
        double begin;
        need(!clEnqueueReadBuffer(queue, original, CL_TRUE, 0, of->all_bytes, allocated, 0, NULL, NULL),
             "clEnqueueReadBuffer");
        begin = now();
        need(!ipt_batch_execute_host(batch, operands, NULL, NULL), "ipt_batch_execute_host");
        seconds[i < 0 ? 0 : i] = now() - begin;
    }
    need(!clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, of->all_bytes, allocated, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
    print_line(line, batch, of, of->desc.count, median(seconds, LAUNCH_ROUNDS),
               (double)(of->moved_bytes * of->desc.count) / (up > down ? up : down),
               work_verify(of, line, of->desc.count));
    ipt_batch_destroy(batch);
    ipt_host_free(context, allocated);
}

/* Sets the layout of all operands, and fills them. */
static void prepare(work *of, ipt_layout layout)
{
    cl_int error;
    work_place(of, layout);
    if (options.plans_only)
        return;
    buffer = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, of->all_bytes, NULL, &error);
    need(!error, "clCreateBuffer");
    original = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, of->all_bytes, NULL, &error);
    need(!error, "clCreateBuffer");
    for (size_t k = 0; k < of->desc.operand_count; ++k)
        of->buffers[k].buffer = buffer;
    work_fill(of);
    need(!clEnqueueCopyBuffer(queue, buffer, original, 0, 0, of->all_bytes, 0, NULL, NULL), "clEnqueueCopyBuffer");
}

static void release(void)
{
    if (options.plans_only)
        return;
    clReleaseMemObject(buffer);
    clReleaseMemObject(original);
}

static void bench(const char *text)
{
    cl_device_fp_config doubles = 0;
    work tried;
    double copy;
    if (!work_parse(text, options.bytes, &tried)) {
        fprintf(
            stderr,
            "%s: ACTION:TYPE:SIDE[:COUNT] is needed: ACTION dot, gemv, gemm, potrf, posv or getrf, TYPE float, double, "
            "float2 or double2\n",
            text);
        exit(2);
    }
    clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
    if (!doubles && tried.scalar_bytes == sizeof(cl_double)) {
        fprintf(stderr, "%s: left out: the device has no doubles\n", text);
        return;
    }
    prepare(&tried, IPT_LAYOUT_ELEMENTS);
    copy = options.plans_only ? 0 : copy_rate(&tried);
    for (int model = 0; model < IPT__MODEL_COUNT; ++model)
        if (is_wanted(ipt_model_string((ipt_model)model)))
            measure_batch(ipt_model_string((ipt_model)model), (ipt_model)model, IPT_METHOD_AUTO, &tried, copy);
    if (is_wanted("uusci-2013"))
        measure_batch("uusci-2013", IPT_MODEL_AUTO, IPT_METHOD_UUSCI_2013, &tried, copy);
    if (is_wanted("launches") && !options.plans_only) /* another line compiles their program */
        measure_launches("launches", &tried, copy, 1);
    if (is_wanted("queues") && !options.plans_only)
        measure_launches("queues", &tried, copy, options.queues);
    if (is_wanted("host") && !options.plans_only)
        measure_host("host", &tried);
    release();
    if (!is_wanted("planes"))
        return;
    prepare(&tried, IPT_LAYOUT_PLANES);
    measure_batch("planes", IPT_MODEL_MEMORY, IPT_METHOD_AUTO, &tried, copy);
    release();
}

static size_t number_of(const char *text, size_t most)
{
    const size_t value = text ? (size_t)strtoull(text, NULL, 0) : 0;
    if (value == 0 || value > most) {
        fprintf(stderr, "%s: a number from 1 to %zu is needed\n", text ? text : "nothing", most);
        exit(2);
    }
    return value;
}

/* Reads the options and returns the index of the first argument after them. */
static int read_options(int count, char **arguments)
{
    int i = 1;
    for (; i < count && !strncmp(arguments[i], "--", 2); ++i) {
        const char *const option = arguments[i], *const value = i + 1 < count ? arguments[i + 1] : NULL;
        if (!strcmp(option, "--csv") || !strcmp(option, "--plans")) {
            *(option[2] == 'c' ? &options.csv : &options.plans_only) = 1;
            continue;
        }
        if (!strcmp(option, "--megabytes"))
            options.bytes = number_of(value, 4096) << 20;
        else if (!strcmp(option, "--launches"))
            options.launches = number_of(value, 1000000);
        else if (!strcmp(option, "--queues"))
            options.queues = number_of(value, MOST_QUEUES);
        else if (!strcmp(option, "--lines") && value)
            options.lines = value;
        else {
            fprintf(stderr, "%s: not an option with its value; the options are at the top of tests/bench/batch.c\n",
                    option);
            exit(2);
        }
        ++i;
    }
    return i;
}

int main(int count, char **arguments)
{
    const int first = read_options(count, arguments);
    cl_int error;
    need(!ipt_context_create(NULL, &context), "ipt_context_create");
    queue = clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context),
                                 CL_QUEUE_PROFILING_ENABLE, &error);
    need(!error, "clCreateCommandQueue");
    if (options.csv)
        printf("line,model,action,type,side,count,elements,seconds,gbps,copy_gbps,ratio,gflops,checked\n");
    for (int i = first; i < count; ++i)
        bench(arguments[i]);
    clReleaseCommandQueue(queue);
    ipt_context_destroy(context);
    return 0;
}
