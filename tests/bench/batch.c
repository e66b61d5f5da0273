/* Ready actions of batch plans, in every model: the share of a copy's speed in bytes read and written, and 10^9
 * operations a second. Usage: batch [ACTION:TYPE:SIDE[:COUNT] ...], such as gemm:double:4:100000. Without a count as
 * many elements as take 256 MB. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define IPT_IMPLEMENTATION
#include "ipt.h"
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* plans.h has more than is needed here */
#endif
#include "plans.h"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

enum { ROUNDS = 7 };
#define ALL_BYTES ((size_t)256 << 20)

/* An action's operands, bytes that an element moves, and operations. */
typedef struct work {
    ipt_batch_desc desc;
    ipt_batch_operand operands[3];
    size_t element_bytes, moved_bytes;
    double operations;
} work;

static void add_operand(work *to, const char *name, const char *type, size_t bytes, size_t rows, size_t cols,
                        ipt_access access)
{
    ipt_batch_operand *const operand = &to->operands[to->desc.operand_count++];
    memset(operand, 0, sizeof *operand);
    operand->name = name;
    operand->type = type;
    operand->rows = rows;
    operand->cols = cols;
    operand->access = access;
    to->element_bytes += bytes * rows * cols;
    to->moved_bytes += bytes * rows * cols * (access == IPT_READ_WRITE ? 2 : 1);
}

static int parse(const char *text, work *to)
{
    static char types[100][16];
    static int used;
    char action[16], *const type = types[used++ % 100];
    size_t n, count = 0, bytes;
    memset(to, 0, sizeof *to);
    if (sscanf(text, "%15[^:]:%15[^:]:%zu:%zu", action, type, &n, &count) < 3)
        return 0;
    for (int i = 1; i < IPT__ACTION_COUNT; ++i)
        if (!strcmp(action, ipt_action_string((ipt_action)i)))
            to->desc.ready = (ipt_action)i;
    bytes = !strcmp(type, "float") ? 4 : !strcmp(type, "double2") ? 16 : 8;
    switch (to->desc.ready) {
    case IPT_ACTION_DOT:
        add_operand(to, "x", type, bytes, n, 1, IPT_READ);
        add_operand(to, "y", type, bytes, n, 1, IPT_READ);
        add_operand(to, "r", type, bytes, 1, 1, IPT_WRITE);
        to->operations = 2. * (double)n;
        break;
    case IPT_ACTION_GEMV:
        add_operand(to, "A", type, bytes, n, n, IPT_READ);
        add_operand(to, "x", type, bytes, n, 1, IPT_READ);
        add_operand(to, "y", type, bytes, n, 1, IPT_WRITE);
        to->operations = 2. * (double)(n * n);
        break;
    case IPT_ACTION_GEMM:
        add_operand(to, "A", type, bytes, n, n, IPT_READ);
        add_operand(to, "B", type, bytes, n, n, IPT_READ);
        add_operand(to, "C", type, bytes, n, n, IPT_WRITE);
        to->operations = 2. * (double)(n * n * n);
        break;
    case IPT_ACTION_POTRF:
        add_operand(to, "A", type, bytes, n, n, IPT_READ_WRITE);
        add_operand(to, "info", "int", 4, 1, 1, IPT_WRITE);
        to->operations = (double)(n * n * n) / 3;
        break;
    case IPT_ACTION_GETRF:
        add_operand(to, "A", type, bytes, n, n, IPT_READ_WRITE);
        add_operand(to, "pivots", "int", 4, n, 1, IPT_WRITE);
        add_operand(to, "info", "int", 4, 1, 1, IPT_WRITE);
        to->operations = 2. * (double)(n * n * n) / 3;
        break;
    default:
        return 0;
    }
    to->desc.count = count ? count : ALL_BYTES / to->element_bytes;
    return 1;
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

/* Bytes a second that a copy reads and writes. */
static double copy_rate(void)
{
    double seconds[ROUNDS];
    for (int i = 0; i < ROUNDS; ++i) {
        cl_event event;
        need(!clEnqueueCopyBuffer(queue, buffer, buffer, 0, ALL_BYTES / 2, ALL_BYTES / 2, 0, NULL, &event),
             "clEnqueueCopyBuffer");
        seconds[i] = event_seconds(event);
    }
    return (double)ALL_BYTES / median(seconds, ROUNDS);
}

/* Positive definite matrices, and other operands alike: diagonals are large. */
static void fill(const work *of, const ipt_batch_buffer *buffers)
{
    const ipt_batch_operand *const first = &of->operands[0];
    const size_t values = of->desc.count * first->rows * first->cols, parts = strstr(first->type, "2") ? 2 : 1;
    const int doubles = !strncmp(first->type, "double", 6);
    void *const data = malloc(values * parts * (doubles ? 8 : 4));
    need(data != NULL, "malloc");
    for (size_t i = 0; i < values * parts; ++i) {
        const size_t q = i / parts % (first->rows * first->cols);
        const double value = i % parts               ? 0
                             : q % (first->cols + 1) ? 0.25 + 0.001 * (double)(i % 97)
                                                     : (double)first->rows;
        if (doubles)
            ((double *)data)[i] = value;
        else
            ((float *)data)[i] = (float)value;
    }
    need(!clEnqueueWriteBuffer(queue, buffers[0].buffer, CL_TRUE, buffers[0].byte_offset,
                               values * parts * (doubles ? 8 : 4), data, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
    free(data);
}

/* The elements whose info is not 0: they take less work. */
static size_t count_failed(const work *of, const ipt_batch_buffer *buffers)
{
    const size_t last = of->desc.operand_count - 1, bytes = of->desc.count * sizeof(cl_int);
    size_t failed = 0;
    if (strcmp(of->operands[last].name, "info"))
        return 0;
    cl_int *const info = malloc(bytes);
    need(info != NULL, "malloc");
    need(!clEnqueueReadBuffer(queue, buffers[last].buffer, CL_TRUE, buffers[last].byte_offset, bytes, info, 0, NULL,
                              NULL),
         "clEnqueueReadBuffer");
    for (size_t i = 0; i < of->desc.count; ++i)
        failed += info[i] != 0;
    free(info);
    return failed;
}

/* Restores the first operand from the device's copy of it: what a decomposition left is another matrix, and may not be
 * definite. (From the host this made the next execution 13 us slower on an H100.) */
static void refill(cl_mem original, const ipt_batch_buffer *buffers, size_t bytes)
{
    need(!clEnqueueCopyBuffer(queue, original, buffers[0].buffer, 0, buffers[0].byte_offset, bytes, 0, NULL, NULL),
         "clEnqueueCopyBuffer");
}

static void bench(const char *text, double copy)
{
    work tried;
    ipt_batch_buffer buffers[3];
    size_t at = 0;
    need(parse(text, &tried), text);
    tried.desc.operands = tried.operands;
    for (size_t k = 0; k < tried.desc.operand_count; ++k) {
        const ipt_batch_operand *const operand = &tried.operands[k];
        const size_t size = !strcmp(operand->type, "float") || !strcmp(operand->type, "int") ? 4
                            : !strcmp(operand->type, "double2")                              ? 16
                                                                                             : 8;
        buffers[k].buffer = buffer;
        buffers[k].byte_offset = at;
        at += (tried.desc.count * operand->rows * operand->cols * size + 255) / 256 * 256;
    }
    fill(&tried, buffers);
    const size_t first_bytes = tried.desc.operand_count > 1 ? buffers[1].byte_offset : 0;
    cl_int error;
    const cl_mem original =
        clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, first_bytes, NULL, &error);
    need(!error && !clEnqueueCopyBuffer(queue, buffer, original, 0, 0, first_bytes, 0, NULL, NULL),
         "clEnqueueCopyBuffer");
    for (int model = 0; model < IPT__MODEL_COUNT; ++model) {
        double seconds[ROUNDS], middle;
        ipt_batch *batch;
        ipt_result result;
        tried.desc.model = (ipt_model)model;
        result = ipt_batch_create(context, &tried.desc, &batch);
        if (result == IPT_ERROR_UNSUPPORTED)
            continue;
        need(!result, "ipt_batch_create");
        for (int i = -1; i < ROUNDS; ++i) {
            cl_event event;
            refill(original, buffers, first_bytes);
            need(!ipt_batch_execute(batch, queue, buffers, NULL, 0, NULL, &event), "ipt_batch_execute");
            seconds[i < 0 ? 0 : i] = event_seconds(event);
        }
        need(!count_failed(&tried, buffers), "an element: its info is not 0, so its work was cut short");
        middle = median(seconds, ROUNDS);
        printf("%-22s %9zu %-12s %10.1f us  %6.3f of the copy %9.1f GFLOP/s  %.*s\n", text, tried.desc.count,
               ipt_model_string((ipt_model)model), middle * 1e6,
               (double)(tried.moved_bytes * tried.desc.count) / middle / copy,
               tried.operations * (double)tried.desc.count / middle * 1e-9,
               model ? 0 : (int)strcspn(strstr(ipt_batch_describe(batch), "model"), "\n"),
               strstr(ipt_batch_describe(batch), "model"));
        fflush(stdout);
        ipt_batch_destroy(batch);
    }
    clReleaseMemObject(original);
}

int main(int count, char **arguments)
{
    double copy;
    cl_int error;
    need(!ipt_context_create(NULL, &context), "ipt_context_create");
    queue = clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context),
                                 CL_QUEUE_PROFILING_ENABLE, &error);
    need(!error, "clCreateCommandQueue");
    buffer =
        clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, ALL_BYTES + ALL_BYTES / 8, NULL, &error);
    need(!error, "clCreateBuffer");
    copy = copy_rate();
    printf("copy: %.1f GB/s read and written\n", copy * 1e-9);
    for (int i = 1; i < count; ++i)
        bench(arguments[i], copy);
    return 0;
}
