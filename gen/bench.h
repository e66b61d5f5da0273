/* Measuring transpositions for the tool. The promise: a shape's times count only if its results were right, on data
 * that was fresh, before the timing and after it; the same seed draws the same shapes on every machine; copies are
 * timed in turns with transpositions on the same buffers, of which there are as many as no cache holds. Prints to the
 * stream it is given, and nowhere else. */
#ifndef IPT_GEN_BENCH_H_INCLUDED
#define IPT_GEN_BENCH_H_INCLUDED

#include "ipt.h"
#include "npy.h" /* npy_multiply */
#include "text.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BENCH_MESSAGE_SIZE = 1000, /* the longest sentence */
    BENCH_MAX_BUFFERS = 64,
    BENCH_MIN_REPEAT = 10, /* executions in a round, unless a number was given */
    BENCH_MAX_REPEAT = 64,
    BENCH_VERIFIED_BUFFERS = 8, /* that are transposed one right after the other and then checked */
    BENCH_SINGLE_SHOTS = 5,
    BENCH_MAX_LINES = 1000000, /* of a file of shapes */
    BENCH_MAX_DRAWS = 1 << 26  /* for one shape: about a second */
};

#define BENCH_MAX_TEXT ((size_t)64 << 20)     /* bytes of such a file */
#define BENCH_ROUND_BYTES ((size_t)256 << 20) /* of the executions in a round, within those limits */
#define BENCH_COLD_BYTES                                                                                               \
    ((cl_ulong)256 << 20)                   /* that no GPU's caches hold: some drivers report the smallest one only */
#define BENCH_HOST_BYTES ((size_t)64 << 20) /* that the host moves in a round, if one matrix is not more */

/* All functions below that return false have put a sentence into message, BENCH_MESSAGE_SIZE bytes. */

static bool bench_fail(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, BENCH_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

/* Whether an OpenCL call succeeded. */
static bool bench_opencl(cl_int status, const char *call, char *message)
{
    return status == CL_SUCCESS || bench_fail(message, "%s failed with OpenCL error %d", call, status);
}

static double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static size_t bench_smaller(size_t first, size_t second)
{
    return first < second ? first : second;
}

static size_t bench_larger(size_t first, size_t second)
{
    return first > second ? first : second;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Shapes */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct bench_shape {
    size_t rows, cols;
} bench_shape;

/* Grows as shapes are added; the caller frees items. */
typedef struct bench_shapes {
    bench_shape *items;
    size_t count, capacity;
} bench_shapes;

/* Both ends belong to it. */
typedef struct bench_range {
    size_t low, high;
} bench_range;

/* What random shapes are drawn from. */
typedef struct bench_drawing {
    size_t count, seed, multiple;
    bench_range sides[2], bytes;
    bool square;
} bench_drawing;

static bool bench_add_shape(bench_shapes *shapes, size_t rows, size_t cols, char *message)
{
    if (shapes->count == shapes->capacity) {
        size_t capacity = shapes->capacity * 2 + 16;
        bench_shape *items = realloc(shapes->items, capacity * sizeof *items);
        if (items == NULL) {
            return bench_fail(message, "out of memory for %zu shapes", capacity);
        }
        shapes->items = items;
        shapes->capacity = capacity;
    }
    shapes->items[shapes->count].rows = rows;
    shapes->items[shapes->count].cols = cols;
    shapes->count++;
    return true;
}

static bool bench_shape_bytes(size_t rows, size_t cols, size_t elem_size, size_t batch, size_t *bytes)
{
    *bytes = rows;
    return npy_multiply(bytes, cols) && npy_multiply(bytes, elem_size) && npy_multiply(bytes, batch);
}

#define BENCH_BLANKS " \t\r\n\f\v"

/* A decimal number behind blanks; moves text behind it. */
static bool bench_read_side(const char **text, size_t *value)
{
    *text += strspn(*text, BENCH_BLANKS);
    size_t length = strspn(*text, "0123456789");
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        size_t digit = (size_t)((*text)[i] - '0');
        if (!npy_multiply(value, 10) || *value > SIZE_MAX - digit) {
            return false;
        }
        *value += digit;
    }
    *text += length;
    return *value > 0;
}

/* A line of a file of shapes. *empty: it holds none. */
static bool bench_read_line(const char *text, bench_shape *shape, bool *empty)
{
    text += strspn(text, BENCH_BLANKS);
    *empty = *text == '#' || *text == '\0';
    if (*empty) {
        return true;
    }
    if (!bench_read_side(&text, &shape->rows) || strspn(text, BENCH_BLANKS) == 0 ||
        !bench_read_side(&text, &shape->cols)) {
        return false;
    }
    size_t blanks = strspn(text, BENCH_BLANKS);
    return text[blanks] == '\0' || (text[blanks] == '#' && blanks > 0);
}

/* Adds the shapes of a text, and counts its lines. The line's ends become zeros. */
static bool bench_read_text(char *text, size_t length, const char *path, size_t elem_size, bench_shapes *shapes,
                            char *message)
{
    size_t number = 0;
    for (char *line = text, *end; line < text + length; line = end + 1) {
        bench_shape shape = {0, 0};
        bool empty;
        size_t bytes;
        end = memchr(line, '\n', length - (size_t)(line - text));
        end = end == NULL ? text + length : end;
        *end = '\0';
        if (++number > BENCH_MAX_LINES) {
            return bench_fail(message, "%s: it has more than %d lines, the most for a list of shapes", path,
                              BENCH_MAX_LINES);
        }
        if (strlen(line) != (size_t)(end - line) || !bench_read_line(line, &shape, &empty)) {
            line[strcspn(line, "\r")] = '\0';
            return bench_fail(message, "%s:%zu: '%.40s' is not a shape, two numbers from 1 on: rows cols", path, number,
                              line);
        }
        if (!empty && !bench_shape_bytes(shape.rows, shape.cols, elem_size, 1, &bytes)) {
            return bench_fail(message, "%s:%zu: %zux%zu elements of %zu bytes are too large for this machine", path,
                              number, shape.rows, shape.cols, elem_size);
        }
        if (!empty && !bench_add_shape(shapes, shape.rows, shape.cols, message)) {
            return false;
        }
    }
    return shapes->count > 0 || bench_fail(message, "%s: it holds no shape", path);
}

/* The shapes of a file: lines of rows and cols, with comments after #. */
static bool bench_read_shapes(const char *path, size_t elem_size, bench_shapes *shapes, char *message)
{
    char *text, reason[TEXT_REASON_SIZE];
    size_t length;
    text_name shortened;
    const char *name = text_shorten(path, &shortened);
    if (!text_read(path, BENCH_MAX_TEXT, "a list of shapes", &text, &length, reason)) {
        return bench_fail(message, "%s: %s", name, reason);
    }
    bool good = bench_read_text(text, length, name, elem_size, shapes, message);
    free(text);
    return good;
}

/* Splitmix64: integers only, so that every machine draws the same. */
static uint64_t bench_random(uint64_t *state)
{
    uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* A number of the range, each as likely as the others. */
static size_t bench_random_within(uint64_t *state, bench_range range)
{
    uint64_t count = (uint64_t)range.high - range.low + 1, value, excess;
    if (count == 0) { /* the range is everything */
        return (size_t)bench_random(state);
    }
    excess = (UINT64_MAX % count + 1) % count; /* values at the top that would make some numbers likelier */
    do {
        value = bench_random(state);
    } while (value > UINT64_MAX - excess);
    return range.low + (size_t)(value % count);
}

/* Down to a multiple, but to one at least. */
static size_t bench_round(size_t side, size_t multiple)
{
    return bench_larger(side - side % multiple, multiple);
}

/* The part of a range of sides outside of which no matrix has the wanted bytes, whatever its other side is. Draws from
 * it have the same distribution, and far fewer are in vain. false: there is no such part. */
static bool bench_narrow(const bench_drawing *drawing, size_t elem_size, bench_range other, bench_range *side)
{
    size_t least = bench_round(other.low, drawing->multiple), most = bench_round(other.high, drawing->multiple);
    size_t high, all;
    if (!npy_multiply(&least, elem_size)) {
        return false;
    }
    high = drawing->bytes.high / least;
    if (high < SIZE_MAX - drawing->multiple) {
        side->high = bench_smaller(side->high, high + drawing->multiple - 1); /* what is rounded down to it */
    }
    all = most;
    if (npy_multiply(&all, elem_size)) {
        size_t low = drawing->bytes.low / all + (drawing->bytes.low % all != 0);
        side->low = low > drawing->multiple ? bench_larger(side->low, low) : side->low;
    }
    return side->low <= side->high;
}

/* Adds random shapes. */
static bool bench_draw_shapes(const bench_drawing *drawing, size_t elem_size, bench_shapes *shapes, char *message)
{
    uint64_t state = drawing->seed;
    bench_range sides[2] = {drawing->sides[0], drawing->sides[1]};
    bool possible = bench_narrow(drawing, elem_size, drawing->sides[1], &sides[0]) &&
                    bench_narrow(drawing, elem_size, drawing->sides[0], &sides[1]);
    for (size_t i = 0; i < drawing->count; i++) {
        size_t first = 0, second = 0, bytes = 0, draws = 0;
        bool found = false;
        for (; possible && !found && draws < BENCH_MAX_DRAWS; draws++) {
            first = bench_round(bench_random_within(&state, sides[0]), drawing->multiple);
            second = drawing->square ? first : bench_round(bench_random_within(&state, sides[1]), drawing->multiple);
            found = bench_shape_bytes(first, second, elem_size, 1, &bytes) && bytes >= drawing->bytes.low &&
                    bytes <= drawing->bytes.high;
        }
        if (!found) {
            char most[40] = " or more";
            if (drawing->bytes.high != SIZE_MAX) {
                snprintf(most, sizeof most, " to %zu", drawing->bytes.high);
            }
            return bench_fail(message,
                              "no matrix with such sides and elements of %zu bytes has %zu%s bytes (%zu draws were "
                              "made)",
                              elem_size, drawing->bytes.low, most, draws);
        }
        bool exchanged = bench_random(&state) >> 63 != 0;
        if (!bench_add_shape(shapes, exchanged ? second : first, exchanged ? first : second, message)) {
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Results */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Of one shape. Times are those of one call; 0: not measured. */
typedef struct bench_result {
    size_t rows, cols, elem_size, batch;
    size_t bytes; /* of the batch */
    double seconds, latency, copy_seconds, blas_seconds, memcpy_seconds;
    size_t workspace, stages, buffers, repeat, rounds;
    bool out_of_place, verified;
    char note[BENCH_MESSAGE_SIZE]; /* why something was not measured; "" */
} bench_result;

static int bench_compare(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* The value below which part of them lie, between two of them in proportion; sorts them. There is at least one. */
static double bench_quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof *values, bench_compare);
    double place = part * (double)(count - 1);
    size_t below = (size_t)place;
    return below + 1 == count ? values[below]
                              : values[below] + (place - (double)below) * (values[below + 1] - values[below]);
}

/* Read and written bytes in a second, in units of 10^9. */
static double bench_speed(const bench_result *result, double seconds)
{
    return 2e-9 * (double)result->bytes / (seconds > 1e-12 ? seconds : 1e-12);
}

static double bench_ratio(double seconds, double other_seconds)
{
    return other_seconds / (seconds > 1e-12 ? seconds : 1e-12);
}

static double bench_workspace_percent(const bench_result *result)
{
    return 100.0 * (double)result->workspace / (double)result->bytes;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The device */
/* ------------------------------------------------------------------------------------------------------------------ */

/* An element is as many items of the checker's type as divide it; items of one element stay together. Item k of the
 * batch holds bytes of a hash of k and the seed, so that no two places look alike. */
static const char *const bench_checker =
    "ulong value_of(ulong seed, ulong k)\n"
    "{\n"
    "    k = k * 0x9e3779b97f4a7c15UL + seed;\n"
    "    k = (k ^ k >> 29) * 0xbf58476d1ce4e5b9UL;\n"
    "    return k ^ k >> 32;\n"
    "}\n"
    "__kernel void fill(__global ITEM *matrix, ulong seed, ulong count)\n"
    "{\n"
    "    for (ulong k = get_global_id(0); k < count; k += get_global_size(0))\n"
    "        matrix[k] = (ITEM)value_of(seed, k);\n"
    "}\n"
    "__kernel void check(__global const ITEM *matrix, ulong seed, ulong count, ulong rows, ulong cols, ulong items,\n"
    "                    __global uint *wrong)\n"
    "{\n"
    "    for (ulong e = get_global_id(0); e < count; e += get_global_size(0)) {\n"
    "        const ulong line = e / rows, col = line % cols, first = (line - col) * rows;\n"
    "        const ulong source = (first + (e - line * rows) * cols + col) * items;\n"
    "        uint differs = 0;\n"
    "        for (ulong i = 0; i < items; ++i)\n"
    "            differs |= matrix[e * items + i] != (ITEM)value_of(seed, source + i);\n"
    "        if (differs)\n"
    "            atomic_inc(wrong);\n"
    "    }\n"
    "}\n";

typedef struct bench_device {
    ipt_context *context; /* the caller's */
    cl_command_queue queue;
    cl_program program;
    cl_kernel fill, check;
    cl_mem counter;
    size_t item_size;
    uint64_t seed;         /* of the data, new for every matrix */
    cl_ulong memory, cold; /* bytes; cold: that no cache keeps */
    char name[256];
} bench_device;

static void bench_device_close(bench_device *device)
{
    if (device->counter != NULL) {
        clReleaseMemObject(device->counter);
    }
    if (device->check != NULL) {
        clReleaseKernel(device->check);
    }
    if (device->fill != NULL) {
        clReleaseKernel(device->fill);
    }
    if (device->program != NULL) {
        clReleaseProgram(device->program);
    }
    if (device->queue != NULL) {
        clReleaseCommandQueue(device->queue);
    }
}

/* Zero the device before; close it also after a failure. */
static bool bench_device_open(bench_device *device, ipt_context *context, size_t elem_size, char *message)
{
    static const char *const options[] = {"-DITEM=uchar", "-DITEM=ushort", "-DITEM=uint", "-DITEM=ulong"};
    cl_context cl = ipt_context_cl_context(context);
    cl_device_id id = ipt_context_cl_device(context);
    size_t kind = 0;
    while (kind < 3 && elem_size % ((size_t)2 << kind) == 0) {
        kind++;
    }
    device->context = context;
    device->item_size = (size_t)1 << kind;
    device->seed = (uint64_t)time(NULL);
    strcpy(device->name, "unknown");
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof device->name, device->name, NULL);
    cl_ulong cache = 0;
    cl_device_type type = CL_DEVICE_TYPE_CPU;
    cl_int status = clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof device->memory, &device->memory, NULL);
    if (status == CL_SUCCESS) {
        status = clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache, NULL);
    }
    if (status == CL_SUCCESS) {
        status = clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    }
    device->cold = 4 * cache;
    if ((type & CL_DEVICE_TYPE_CPU) == 0 && device->cold < BENCH_COLD_BYTES) {
        device->cold = BENCH_COLD_BYTES;
    }
    if (!bench_opencl(status, "clGetDeviceInfo", message)) {
        return false;
    }
    device->queue = clCreateCommandQueue(cl, id, 0, &status);
    if (!bench_opencl(status, "clCreateCommandQueue", message)) {
        return false;
    }
    device->counter = clCreateBuffer(cl, CL_MEM_READ_WRITE, sizeof(cl_uint), NULL, &status);
    if (!bench_opencl(status, "clCreateBuffer", message)) {
        return false;
    }
    const char *text = bench_checker;
    device->program = clCreateProgramWithSource(cl, 1, &text, NULL, &status);
    if (status == CL_SUCCESS) {
        status = clBuildProgram(device->program, 1, &id, options[kind], NULL, NULL);
    }
    if (status == CL_SUCCESS) {
        device->fill = clCreateKernel(device->program, "fill", &status);
    }
    if (status == CL_SUCCESS) {
        device->check = clCreateKernel(device->program, "check", &status);
    }
    return bench_opencl(status, "building the kernels that verify", message);
}

/* Launches one of the two kernels, whose arguments are set, for count items or elements. */
static cl_int bench_launch(const bench_device *device, cl_kernel kernel, size_t count)
{
    const size_t most = (size_t)1 << 18;
    size_t global = bench_smaller(count, most - 255);
    global = (global + 255) / 256 * 256; /* has divisors for the implementation to choose a group's size from */
    return clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
}

/* Enqueues fresh data for a matrix; *seed tells which. */
static bool bench_fill(bench_device *device, cl_mem matrix, size_t bytes, cl_ulong *seed, char *message)
{
    cl_ulong count = bytes / device->item_size;
    *seed = bench_random(&device->seed);
    cl_int status = clSetKernelArg(device->fill, 0, sizeof matrix, &matrix);
    status |= clSetKernelArg(device->fill, 1, sizeof *seed, seed);
    status |= clSetKernelArg(device->fill, 2, sizeof count, &count);
    if (status == CL_SUCCESS) {
        status = bench_launch(device, device->fill, (size_t)count);
    }
    return bench_opencl(status, "filling a matrix", message);
}

/* Counts the elements that are not where the transposition of the data of that seed has them. */
static bool bench_count_wrong(const bench_device *device, cl_mem matrix, const bench_result *shape, cl_ulong seed,
                              cl_uint *wrong, char *message)
{
    cl_ulong rows = shape->rows, cols = shape->cols, items = shape->elem_size / device->item_size;
    cl_ulong count = rows * cols * shape->batch;
    *wrong = 0;
    cl_int status =
        clEnqueueWriteBuffer(device->queue, device->counter, CL_TRUE, 0, sizeof *wrong, wrong, 0, NULL, NULL);
    status |= clSetKernelArg(device->check, 0, sizeof matrix, &matrix);
    status |= clSetKernelArg(device->check, 1, sizeof seed, &seed);
    status |= clSetKernelArg(device->check, 2, sizeof count, &count);
    status |= clSetKernelArg(device->check, 3, sizeof rows, &rows);
    status |= clSetKernelArg(device->check, 4, sizeof cols, &cols);
    status |= clSetKernelArg(device->check, 5, sizeof items, &items);
    status |= clSetKernelArg(device->check, 6, sizeof device->counter, &device->counter);
    if (status == CL_SUCCESS) {
        status = bench_launch(device, device->check, (size_t)count);
    }
    if (status == CL_SUCCESS) {
        status = clEnqueueReadBuffer(device->queue, device->counter, CL_TRUE, 0, sizeof *wrong, wrong, 0, NULL, NULL);
    }
    return bench_opencl(status, "checking a matrix", message);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* One shape on the device */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct bench_work {
    bench_device *device;
    ipt_plan *plan;
    cl_mem buffers[BENCH_MAX_BUFFERS];
    cl_ulong seeds[BENCH_MAX_BUFFERS]; /* of what was filled in last */
    size_t buffer_count;
    size_t rotation; /* how many of them are transposed in turn: all, or the first one */
    size_t next;     /* whose turn it is */
    size_t bytes;
    size_t room; /* of a buffer, bytes: what IPT_PAD adds, too */
    bool out_of_place;
} bench_work;

/* How many matrices hold more than any cache would keep from one turn to the next. */
static size_t bench_wanted_buffers(const bench_device *device, size_t bytes)
{
    cl_ulong wanted = device->cold / bytes + 1, room = device->memory / 2 / bytes;
    wanted = wanted < room ? wanted : room;
    return wanted > BENCH_MAX_BUFFERS ? BENCH_MAX_BUFFERS : wanted > 1 ? (size_t)wanted : 1;
}

/* Makes the buffers and writes to them, because some devices take their memory then. Only the first one must be. */
static bool bench_take_buffers(bench_work *work, char *message)
{
    cl_context context = ipt_context_cl_context(work->device->context);
    size_t rotation = bench_wanted_buffers(work->device, work->bytes);
    size_t wanted = rotation > 1 ? rotation : work->bytes <= work->device->memory / 2 ? 2 : 1; /* 2: to copy to */
    while (work->buffer_count < wanted) {
        cl_int status;
        cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, work->room, NULL, &status);
        bool good = bench_opencl(status, "clCreateBuffer for a matrix", message);
        if (good) {
            good = bench_fill(work->device, buffer, work->bytes, &work->seeds[work->buffer_count], message) &&
                   bench_opencl(clFinish(work->device->queue), "filling a matrix", message);
            if (!good) {
                clReleaseMemObject(buffer);
            }
        }
        if (!good && work->buffer_count == 0) {
            return false;
        }
        if (!good) {
            break;
        }
        work->buffers[work->buffer_count++] = buffer;
    }
    work->rotation = bench_smaller(rotation, work->buffer_count);
    return true;
}

/* Out of place the buffer that is farthest in the rotation is the target. */
static size_t bench_target(const bench_work *work, size_t index)
{
    return (index + work->buffer_count / 2) % work->buffer_count;
}

/* Enqueues a transposition, or a copy. */
static bool bench_enqueue(bench_work *work, bool copying, char *message)
{
    size_t index = work->next++ % work->rotation, target = bench_target(work, index);
    if (copying) {
        return bench_opencl(clEnqueueCopyBuffer(work->device->queue, work->buffers[index], work->buffers[target], 0, 0,
                                                work->bytes, 0, NULL, NULL),
                            "clEnqueueCopyBuffer", message);
    }
    ipt_result result = work->out_of_place
                            ? ipt_plan_execute_out_of_place(work->plan, work->device->queue, work->buffers[index], 0,
                                                            work->buffers[target], 0, 0, NULL, NULL)
                            : ipt_plan_execute(work->plan, work->device->queue, work->buffers[index], 0, 0, NULL, NULL);
    return result == IPT_SUCCESS || bench_fail(message, "%s", ipt_context_error(NULL));
}

/* The time of one of so many, between two moments at which the device is idle. */
static bool bench_time(bench_work *work, bool copying, size_t repeat, double *seconds, char *message)
{
    if (!bench_opencl(clFinish(work->device->queue), "clFinish", message)) {
        return false;
    }
    double start = bench_now();
    for (size_t i = 0; i < repeat; i++) {
        if (!bench_enqueue(work, copying, message)) {
            return false;
        }
    }
    if (!bench_opencl(clFinish(work->device->queue), "clFinish", message)) {
        return false;
    }
    *seconds = (bench_now() - start) / (double)repeat;
    return true;
}

/* Checks what became of the data of one of the buffers. */
static bool bench_check(bench_work *work, size_t index, const bench_result *shape, char *message)
{
    cl_uint wrong;
    cl_mem matrix = work->buffers[work->out_of_place ? bench_target(work, index) : index];
    if (!bench_count_wrong(work->device, matrix, shape, work->seeds[index], &wrong, message)) {
        return false;
    }
    return wrong == 0 || bench_fail(message, "the result is WRONG: %lu of %zu elements", (unsigned long)wrong,
                                    shape->bytes / shape->elem_size);
}

/* Transposes fresh data in the first count buffers of the rotation, one right after the other, and checks it. Out of
 * place, where one's target is another's source, each on its own. */
static bool bench_verify(bench_work *work, size_t count, const bench_result *shape, char *message)
{
    size_t together = work->out_of_place ? 1 : count;
    work->next = 0;
    for (size_t first = 0; first < count; first += together) {
        for (size_t i = first; i < first + together; i++) {
            if (!bench_fill(work->device, work->buffers[i], work->bytes, &work->seeds[i], message)) {
                return false;
            }
        }
        for (size_t i = 0; i < together; i++) {
            if (!bench_enqueue(work, false, message)) {
                return false;
            }
        }
        for (size_t i = first; i < first + together; i++) {
            if (!bench_check(work, i, shape, message)) {
                return false;
            }
        }
    }
    return true;
}

/* The rounds of transpositions and of copies in turn, so that both see the device in the same state, and the single
 * executions. */
static bool bench_time_all(bench_work *work, bench_result *result, char *message)
{
    bool copies = work->buffer_count > 1, good = true;
    double singles[BENCH_SINGLE_SHOTS];
    double *seconds = calloc(result->rounds * 2, sizeof *seconds);
    if (seconds == NULL) {
        return bench_fail(message, "out of memory");
    }
    for (size_t i = 0; good && i < result->rounds; i++) {
        good = bench_time(work, false, result->repeat, &seconds[i], message) &&
               (!copies || bench_time(work, true, result->repeat, &seconds[result->rounds + i], message));
    }
    for (size_t i = 0; good && i < BENCH_SINGLE_SHOTS; i++) {
        good = bench_time(work, false, 1, &singles[i], message);
    }
    if (good) {
        result->seconds = bench_quantile(seconds, result->rounds, 0.5);
        result->copy_seconds = copies ? bench_quantile(seconds + result->rounds, result->rounds, 0.5) : 0;
        result->latency = bench_quantile(singles, BENCH_SINGLE_SHOTS, 0.5);
    }
    free(seconds);
    return good;
}

/* The number before "stages" in the first line of a plan's description. */
static size_t bench_stage_count(const ipt_plan *plan)
{
    const char *text = ipt_plan_describe(plan);
    const char *end = text + strcspn(text, "\n"), *number = NULL;
    for (const char *found = text; (found = strstr(found, ": ")) != NULL && found < end; found += 2) {
        number = found + 2;
    }
    return number == NULL ? 0 : (size_t)strtoul(number, NULL, 10);
}

/* Measures a plan's shape. The result's shape, bytes, repeat (0: chosen) and rounds are set. */
static bool bench_measure(bench_device *device, ipt_plan *plan, bench_result *result, char *message)
{
    size_t pad_rows, pad_cols;
    bench_work work = {0};
    work.device = device;
    work.plan = plan;
    work.bytes = result->bytes;
    ipt_plan_padding(plan, &pad_rows, &pad_cols);
    work.room = (result->rows + pad_rows) * (result->cols + pad_cols) * result->elem_size * result->batch;
    result->workspace = ipt_plan_workspace(plan);
    result->stages = bench_stage_count(plan);
    if (result->out_of_place) {
        result->workspace = 0;
        result->stages = 1;
    }
    work.out_of_place = result->out_of_place;
    bool good = bench_take_buffers(&work, message);
    if (good && work.out_of_place && work.buffer_count < 2) {
        good = bench_fail(message, "the device has no room for a second matrix");
    }
    good = good && bench_verify(&work, 1, result, message); /* warms up as well */
    if (good) {
        result->buffers = work.rotation;
        if (result->repeat == 0) {
            result->repeat = bench_smaller(BENCH_ROUND_BYTES / work.bytes, BENCH_MAX_REPEAT);
            result->repeat = bench_larger(result->repeat, BENCH_MIN_REPEAT);
        }
        good = bench_time_all(&work, result, message) &&
               bench_verify(&work, bench_smaller(work.rotation, BENCH_VERIFIED_BUFFERS), result, message);
    }
    result->verified = good;
    for (size_t i = 0; i < work.buffer_count; i++) {
        clReleaseMemObject(work.buffers[i]);
    }
    return good;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* OpenBLAS on the host */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { BENCH_BLAS_ROW_MAJOR = 101, BENCH_BLAS_TRANSPOSED = 112 };

typedef struct bench_blas {
    void *library;
    void (*simatcopy)(int order, int transposition, int rows, int cols, float factor, float *matrix, int stride,
                      int new_stride);
    void (*dimatcopy)(int order, int transposition, int rows, int cols, double factor, double *matrix, int stride,
                      int new_stride);
} bench_blas;

static bool bench_blas_open(bench_blas *blas, char *message)
{
    blas->library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (blas->library == NULL) {
        return bench_fail(message, "--blas needs OpenBLAS, Debian's package libopenblas0: %s", dlerror());
    }
    /* C has no cast from an object's address to a function's. */
    void *found = dlsym(blas->library, "cblas_simatcopy");
    memcpy(&blas->simatcopy, &found, sizeof found);
    found = dlsym(blas->library, "cblas_dimatcopy");
    memcpy(&blas->dimatcopy, &found, sizeof found);
    if (blas->simatcopy == NULL || blas->dimatcopy == NULL) {
        return bench_fail(message, "this libopenblas.so.0 has no cblas_simatcopy or no cblas_dimatcopy");
    }
    return true;
}

static void bench_blas_close(bench_blas *blas)
{
    if (blas->library != NULL) {
        dlclose(blas->library);
    }
}

static void bench_blas_transpose(const bench_blas *blas, const bench_result *shape, unsigned char *bytes)
{
    int rows = (int)shape->rows, cols = (int)shape->cols;
    for (size_t i = 0; i < shape->batch; i++, bytes += shape->bytes / shape->batch) {
        if (shape->elem_size == sizeof(float)) {
            blas->simatcopy(BENCH_BLAS_ROW_MAJOR, BENCH_BLAS_TRANSPOSED, rows, cols, 1, (float *)(void *)bytes, cols,
                            rows);
        } else {
            blas->dimatcopy(BENCH_BLAS_ROW_MAJOR, BENCH_BLAS_TRANSPOSED, rows, cols, 1, (double *)(void *)bytes, cols,
                            rows);
        }
    }
}

/* What stands at a place: a whole number, because BLAS may multiply it by one. */
static double bench_host_value(size_t place, size_t elem_size)
{
    uint64_t state = place;
    return (double)(bench_random(&state) >> (elem_size == sizeof(float) ? 64 - 24 : 64 - 53));
}

static void bench_host_fill(const bench_result *shape, unsigned char *bytes)
{
    for (size_t i = 0; i < shape->bytes / shape->elem_size; i++) {
        double value = bench_host_value(i, shape->elem_size);
        if (shape->elem_size == sizeof(float)) {
            ((float *)(void *)bytes)[i] = (float)value;
        } else {
            ((double *)(void *)bytes)[i] = value;
        }
    }
}

static size_t bench_host_count_wrong(const bench_result *shape, const unsigned char *bytes)
{
    size_t wrong = 0, place = 0, elements = shape->rows * shape->cols;
    for (size_t first = 0; first < elements * shape->batch; first += elements) {
        for (size_t col = 0; col < shape->cols; col++) {
            for (size_t row = 0; row < shape->rows; row++, place++) {
                double value = shape->elem_size == sizeof(float) ? ((const float *)(const void *)bytes)[place]
                                                                 : ((const double *)(const void *)bytes)[place];
                wrong += value != bench_host_value(first + row * shape->cols + col, shape->elem_size);
            }
        }
    }
    return wrong;
}

/* The time of one of so many calls of BLAS, or of memcpy, over count matrices in rotation. */
static double bench_host_time(const bench_blas *blas, const bench_result *shape, unsigned char *matrices, size_t count,
                              size_t repeat, size_t *next)
{
    double start = bench_now();
    for (size_t i = 0; i < repeat; i++, ++*next) {
        unsigned char *matrix = matrices + *next % count * shape->bytes;
        if (blas != NULL) {
            bench_blas_transpose(blas, shape, matrix);
        } else {
            memcpy(matrices + (*next + count / 2) % count * shape->bytes, matrix, shape->bytes);
        }
    }
    return (bench_now() - start) / (double)repeat;
}

/* Whether BLAS can be called; if not, the result's note says why. OpenBLAS takes memory for a second matrix, of rows x
 * rows elements for a tall one in versions like 0.3.21, and ends the process if there is none. */
static bool bench_blas_possible(bench_result *result)
{
    size_t side = bench_larger(result->rows, result->cols), bytes = 0;
    if (side > INT_MAX) {
        return bench_fail(result->note, "no time for BLAS: its sides are numbers of 32 bits");
    }
    void *memory = bench_shape_bytes(result->rows, side, result->elem_size, 1, &bytes) ? malloc(bytes) : NULL;
    free(memory);
    return memory != NULL ||
           bench_fail(result->note, "no time for BLAS: it may ask for %zu bytes here, which this machine has not got",
                      bytes);
}

/* Measures BLAS and memcpy on as many host matrices as there were buffers. */
static bool bench_measure_blas(const bench_blas *blas, bench_result *result, char *message)
{
    size_t count = bench_larger(result->buffers, 2), repeat = BENCH_HOST_BYTES / result->bytes, bytes = result->bytes;
    size_t blas_next = 1, memcpy_next = 0;
    repeat = bench_larger(bench_smaller(repeat, result->repeat), 1);
    if (!bench_blas_possible(result)) {
        return true;
    }
    unsigned char *matrices = npy_multiply(&bytes, count) ? malloc(bytes) : NULL;
    double *seconds = calloc(result->rounds * 2, sizeof *seconds);
    size_t wrong = 0;
    if (matrices == NULL || seconds == NULL) {
        bench_fail(result->note, "no time for BLAS: no memory for %zu times %zu bytes", count, result->bytes);
    } else {
        for (size_t i = 0; i < count; i++) {
            bench_host_fill(result, matrices + i * result->bytes);
        }
        bench_blas_transpose(blas, result, matrices);
        wrong = bench_host_count_wrong(result, matrices);
        for (size_t i = 0; i < result->rounds; i++) {
            seconds[i] = bench_host_time(blas, result, matrices, count, repeat, &blas_next);
            seconds[result->rounds + i] = bench_host_time(NULL, result, matrices, count, repeat, &memcpy_next);
        }
        result->blas_seconds = bench_quantile(seconds, result->rounds, 0.5);
        result->memcpy_seconds = bench_quantile(seconds + result->rounds, result->rounds, 0.5);
    }
    free(seconds);
    free(matrices);
    return wrong == 0 || bench_fail(message, "the result of BLAS is WRONG: %zu elements", wrong);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Output */
/* ------------------------------------------------------------------------------------------------------------------ */

static void bench_show_heading(FILE *stream, bool blas)
{
    fprintf(stream, "%10s %10s %10s %9s %10s %6s %11s %11s %7s %6s  %s", "rows", "cols", "MB", "GB/s", "copy GB/s",
            "ratio", "latency ms", "workspace", "%", "stages", "verified");
    fprintf(stream, blas ? " %10s %11s %8s\n" : "\n", "BLAS GB/s", "memcpy GB/s", "ipt/BLAS");
    fflush(stream);
}

/* A number in width columns and with so many decimals; "-" in its place if it was not measured. */
static void bench_show_number(FILE *stream, int width, int decimals, bool measured, double number)
{
    if (measured) {
        fprintf(stream, " %*.*f", width, decimals, number);
    } else {
        fprintf(stream, " %*s", width, "-");
    }
}

static void bench_show_line(FILE *stream, const bench_result *result, bool blas)
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

/* One shape's result in words. */
static void bench_show_block(FILE *stream, const bench_result *result)
{
    bench_show_time(stream, result->out_of_place ? "to another" : "in place", result, result->seconds);
    if (result->copy_seconds > 0) {
        bench_show_time(stream, "copy", result, result->copy_seconds);
        fprintf(stream, "ratio to the copy: %.3f of its speed\n", bench_ratio(result->seconds, result->copy_seconds));
    } else {
        fputs("no ratio: the device has no memory for a second buffer of this size to copy to\n", stream);
    }
    fprintf(stream, "latency   median %10.3f ms of an execution alone\n", result->latency * 1e3);
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

/* What the summary looks at. */
typedef enum bench_quantity { BENCH_RATIO, BENCH_SPEED, BENCH_LATENCY, BENCH_OVER_BLAS } bench_quantity;

/* The quantity of all verified results that have it, into values; returns how many they are. */
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

/* The line that sums up. */
static bool bench_show_summary(FILE *stream, const bench_result *results, size_t count, char *message)
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

static void bench_csv_heading(FILE *stream)
{
    fputs("rows,cols,elem_size,batch,bytes,seconds,gb_per_s,copy_seconds,copy_gb_per_s,ratio,latency_seconds,workspace,"
          "workspace_percent,stages,buffers,repeat,rounds,verified,blas_seconds,blas_gb_per_s,memcpy_seconds,"
          "memcpy_gb_per_s,ipt_over_blas\n",
          stream);
    fflush(stream);
}

/* A field and the comma before it; empty if it was not measured. */
static void bench_csv_number(FILE *stream, bool measured, double number)
{
    if (measured) {
        fprintf(stream, ",%.9g", number);
    } else {
        fputc(',', stream);
    }
}

static void bench_csv_line(FILE *stream, const bench_result *result)
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

#endif /* IPT_GEN_BENCH_H_INCLUDED */
