/* Runs small shapes through every kernel and checks each result, fast enough for slow checking devices such as
 * oclgrind. Usage: walk KIND full|quick|KERNEL [FILE OLD NEW]
 *   cpu, gpu   the kernels for that kind of device, on any device
 *   team       panels and bands that several work-groups hold, which wait for one another without a limit
 *   alone      the same where one work-group runs at a time, so that one of them moves the remaining panels and bands
 *   columns, columns_alone   bands with permuted columns, as team and alone
 *   KERNEL     only plans that launch this kernel, such as ipt_k_tile, or one of several in one argument
 *   FILE ...   replaces OLD by NEW in the text of a kernel, such as tile.cl: a planted defect; results are not compared
 * With WALK_PLAIN it leaves out what only oclgrind needs, and the parameters.
 *
 * Prints one line for each launched program: `launched KERNEL TIMES PARAMETER=VALUE ...`. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static cl_device_type told_type;
static struct {
    const char *file, *old, *new;
    int made;
} defect;

static cl_int CL_API_CALL told_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                                               size_t *needed)
{
    const cl_int error = clGetDeviceInfo(device, name, bytes, value, needed);
    if (!error && name == CL_DEVICE_TYPE && value)
        memcpy(value, &told_type, sizeof told_type);
    return error;
}

#ifndef WALK_PLAIN
/* In vector literals, replaces parts of vectors by single components. oclgrind's check of uninitialised memory crashes
 * at the masks that the compiler generates for `(uint4)(a.zw, b.xy)`. */
static char *spell_literals(const char *text)
{
    /* The row of a block of two 16-byte units has four words. */
    static const char *const halves = "#define WALK_LO_2(v) v s0, v s1\n#define WALK_HI_2(v) v s2, v s3\n"
                                      "#define WALK_LO_4(v) v s0, v s1\n#define WALK_HI_4(v) v s2, v s3\n"
                                      "#define WALK_LO_8(v) v s0, v s1, v s2, v s3\n"
                                      "#define WALK_HI_8(v) v s4, v s5, v s6, v s7\n"
                                      "#define WALK_LO_16(v) v s0, v s1, v s2, v s3, v s4, v s5, v s6, v s7\n"
                                      "#define WALK_HI_16(v) v s8, v s9, v sa, v sb, v sc, v sd, v se, v sf\n"
                                      "#define WALK_HALF_(half, n, v) WALK_##half##_##n(v)\n"
                                      "#define WALK_HALF(half, n, v) WALK_HALF_(half, n, v)\n";
    static const char *const names[] = {"a->", "b->", "low.", "high."};
    char *const made = (char *)malloc(8 * strlen(text) + strlen(halves) + 1), *to = made + sprintf(made, "%s", halves);
    while (*text) {
        size_t n, name, parts = 0;
        for (n = 0; n < 4 && strncmp(text, names[n], strlen(names[n])) != 0; ++n)
            ;
        name = n < 4 && (text[-1] == '(' || text[-1] == ' ') ? strlen(names[n]) : 0;
        if (name && (!strncmp(text + name, "lo,", 3) || !strncmp(text + name, "lo)", 3) ||
                     !strncmp(text + name, "hi,", 3) || !strncmp(text + name, "hi)", 3))) {
            to += sprintf(to, "WALK_HALF(%s, IPT_BLOCK, %.*s)", text[name] == 'l' ? "LO" : "HI", (int)name, text);
            text += name + 2;
            continue;
        }
        if (name) {
            name += text[name] == 's';
            parts = strspn(text + name, text[name - 1] == 's' ? "0123456789abcdef" : "xyzw");
        }
        if (parts < 2 || (text[name + parts] != ',' && text[name + parts] != ')')) {
            *to++ = *text++;
            continue;
        }
        for (n = 0; n < parts; ++n)
            to += sprintf(to, "%s%.*s%c", n ? ", " : "", (int)name, text, text[name + n]);
        text += name + parts;
    }
    *to = 0;
    return made;
}

/* Replaces all occurrences of a text by a text of equal length. */
static void replace_all(char *text, const char *old, const char *new)
{
    for (; (text = strstr(text, old)) != NULL; text += strlen(old))
        memcpy(text, new, strlen(new));
}
#endif

/* Plants the defect after the #line of its file. oclgrind does not support its compiler's output for `restrict`, nor
 * OpenCL C 2.0's atomics: replaces these by 1.2's. */
static cl_program CL_API_CALL planted_clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                                                const size_t *lengths, cl_int *error)
{
    char mark[64], *planted = NULL, *changed;
    const char *begin, *place;
    cl_program program;
    (void)count, (void)lengths; /* ipt passes a single zero-terminated text */
#ifdef WALK_PLAIN
    changed = (char *)malloc(strlen(texts[0]) + 1);
    strcpy(changed, texts[0]);
#else
    changed = spell_literals(texts[0]);
    replace_all(changed, "*restrict ", "*         ");
    replace_all(changed, "#define IPT_MEMORY_MODEL 3\n", "#define IPT_MEMORY_MODEL 0\n");
#endif
    snprintf(mark, sizeof mark, "#line 1 \"%s\"\n", defect.file ? defect.file : "");
    begin = defect.file ? strstr(changed, mark) : NULL;
    place = begin ? strstr(begin, defect.old) : NULL;
    if (place) {
        planted = (char *)malloc(strlen(changed) + strlen(defect.new) + 1);
        sprintf(planted, "%.*s%s%s", (int)(place - changed), changed, defect.new, place + strlen(defect.old));
        ++defect.made;
    }
    program = clCreateProgramWithSource(context, 1, (const char **)(planted ? &planted : &changed), NULL, error);
    free(changed);
    free(planted);
    return program;
}

/* Copies from the host by a kernel: oclgrind 21.10 does not notice that a fill initialises memory, and marks the wrong
 * bytes after a write with an offset. */
static cl_int copy_in(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes, const void *from,
                      cl_uint count, const cl_event *wait, cl_event *event)
{
#ifdef WALK_PLAIN
    return clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, bytes, from, count, wait, event);
#else
    static const char *text = "__kernel void walk_copy(__global uchar *from, __global uchar *to, ulong offset)\n"
                              "{ to[offset + get_global_id(0)] = from[get_global_id(0)]; }\n";
    static cl_context known;
    static cl_kernel kernel;
    const cl_ulong begin = offset;
    cl_context context;
    cl_mem source;
    cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (!error && context != known) {
        const cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
        clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
        kernel = clCreateKernel(program, "walk_copy", &error);
        clRetainContext(context); /* so that no later context has the same address */
        known = context;
    }
    source = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, (void *)from, &error);
    clSetKernelArg(kernel, 0, sizeof source, &source);
    clSetKernelArg(kernel, 1, sizeof buffer, &buffer);
    clSetKernelArg(kernel, 2, sizeof begin, &begin);
    return error ? error : clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &bytes, NULL, count, wait, event);
#endif
}

static cl_int CL_API_CALL copied_clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                                                     size_t pattern_bytes, size_t offset, size_t bytes, cl_uint count,
                                                     const cl_event *wait, cl_event *event)
{
    char *const filled = (char *)malloc(bytes);
    size_t at;
    cl_int error;
    for (at = 0; at < bytes; at += pattern_bytes)
        memcpy(filled + at, pattern, pattern_bytes);
    error = copy_in(queue, buffer, offset, bytes, filled, count, wait, event);
    free(filled);
    return error;
}

#ifndef WALK_PLAIN
/* Never releases buffers: oclgrind reuses the number of a released buffer, with the state of the old bytes, which
 * causes false reports and crashes. */
static cl_int CL_API_CALL kept_clReleaseMemObject(cl_mem buffer)
{
    (void)buffer;
    return CL_SUCCESS;
}
#define clReleaseMemObject kept_clReleaseMemObject
#endif
#define clEnqueueFillBuffer copied_clEnqueueFillBuffer
#define clGetDeviceInfo told_clGetDeviceInfo
#define clCreateProgramWithSource planted_clCreateProgramWithSource
static cl_int CL_API_CALL counted_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                                         const size_t *offset, const size_t *global,
                                                         const size_t *local, cl_uint count, const cl_event *wait,
                                                         cl_event *event);
#define clEnqueueNDRangeKernel counted_clEnqueueNDRangeKernel
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#undef clEnqueueNDRangeKernel
#include "whole.h"

#ifdef WALK_PLAIN
static const int plain = 1;
#else
static const int plain = 0;
#endif
static int cases, failures, compared = 1;
enum { MOST_PLANTED = 1 }; /* most plans to execute with a planted defect: each takes long */
static const char *only;   /* the kernel that plans must launch, or NULL */

/* The launched kernels. */
enum { MAX_LAUNCHED = 512 };
static struct {
    char what[512];
    unsigned times;
} launched[MAX_LAUNCHED];
static int launched_count;

static cl_int CL_API_CALL counted_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                                         const size_t *offset, const size_t *global,
                                                         const size_t *local, cl_uint count, const cl_event *wait,
                                                         cl_event *event)
{
    static char source[1 << 17], what[sizeof launched[0].what];
    char name[64];
    cl_program program;
    int i;
    if (clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) ||
        clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) ||
        (!plain && clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof source, source, NULL))) {
        ++failures; /* without source, the kernel's name is unknown */
    } else if (!strncmp(name, "ipt_k_", 6)) {
        /* The parameters are in the first line, after the last hash. */
        const char *line_end = strstr(source, " */\n"), *at = strstr(source, ": ");
        snprintf(what, sizeof what, "%s %.*s", name, at && line_end ? (int)(line_end - at - 2) : 0, at ? at + 2 : "");
        for (i = 0; i < launched_count && strcmp(launched[i].what, what); ++i)
            ;
        if (i == launched_count && launched_count < MAX_LAUNCHED)
            strcpy(launched[launched_count++].what, what);
        if (i < MAX_LAUNCHED)
            ++launched[i].times;
    }
    return clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, wait, event);
}

/* The place of the element at row and col in the result, in elements if its rows had no gaps. */
static size_t place(const ipt_plan_desc *desc, size_t row, size_t col)
{
    if (desc->from == IPT_FORMAT_RRRB) { /* to CCRB: see walk_pairs */
        const size_t m = desc->tile_m, n = desc->tile_n, at = row * desc->cols + col;
        const size_t in_tile = at % (m * n), tile = at / (m * n), tile_cols = desc->cols / n;
        const size_t target = tile % tile_cols * (desc->rows / m) + tile / tile_cols;
        return target * m * n + in_tile % n * m + in_tile / n;
    }
    const ipt__move *const move = &ipt__moves[desc->move];
    const size_t rows = move->transposed ? desc->cols : desc->rows, cols = move->transposed ? desc->rows : desc->cols;
    const size_t to_row = move->transposed ? col : row, to_col = move->transposed ? row : col;
    return (move->reversed_rows ? rows - 1 - to_row : to_row) * cols +
           (move->reversed_cols ? cols - 1 - to_col : to_col);
}

/* The distance of rows in bytes, in the source (0) and in the result (1). */
static size_t pitch(const ipt_plan *plan, int result)
{
    return (result ? ipt__result_row(&plan->problem) : ipt__source_row(&plan->problem)) * plan->problem.unit_bytes;
}

/* The distance of matrices in bytes. room: the bytes of a matrix without gaps. */
static size_t stride_of(const ipt_plan *plan, size_t room)
{
    return plan && plan->problem.pitched ? plan->problem.desc.batch_stride : room;
}

/* The number of changed bytes that belong to neither the source nor the result. */
static size_t count_changed(const ipt_plan *plan, const unsigned char *before, const unsigned char *after)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    const int across = ipt__moves[desc->move].transposed;
    const size_t rows[2] = {desc->rows, across ? desc->cols : desc->rows};
    size_t at, changed = 0;
    for (at = 0; at < plan->problem.span_bytes; ++at) {
        const size_t within = at % desc->batch_stride;
        int i, used = 0;
        for (i = 0; i < 2; ++i)
            used |= within / pitch(plan, i) < rows[i] &&
                    within % pitch(plan, i) < desc->rows * desc->cols / rows[i] * desc->elem_size;
        changed += !used && before[at] != after[at];
    }
    return changed;
}

/* The number of misplaced elements. */
static size_t count_wrong(const ipt_plan *plan, const ipt_plan_desc *desc, unsigned char *before,
                          const unsigned char *after, size_t stride)
{
    const size_t batch = desc->batch ? desc->batch : 1, size = desc->elem_size;
    const size_t width = (ipt__moves[desc->move].transposed ? desc->rows : desc->cols);
    const int pitched = plan->problem.pitched;
    size_t m, row, col, wrong = pitched ? count_changed(plan, before, after) : 0;
    for (m = 0; m < batch; ++m)
        for (row = 0; row < desc->rows; ++row)
            for (col = 0; col < desc->cols; ++col) {
                const size_t source_row = pitched ? pitch(plan, 0) : desc->cols * size,
                             result_row = pitched ? pitch(plan, 1) : width * size, to = place(desc, row, col);
                unsigned char *const element = before + m * stride + row * source_row + col * size;
                if (desc->expression) /* see express */
                    *element ^= 1;
                wrong += memcmp(after + m * stride + to / width * result_row + to % width * size, element, size) != 0;
            }
    return wrong;
}

/* Executes the plan out of place, then copies the result back into the buffer. */
static ipt_result execute_out_of_place(ipt_plan *plan, cl_command_queue queue, cl_context cl, cl_mem buffer,
                                       size_t offset, size_t bytes)
{
    cl_int error;
    const cl_mem target = clCreateBuffer(cl, CL_MEM_READ_WRITE, bytes, NULL, &error);
    ipt_result result;
    if (!error && plan->problem.pitched) /* the bytes between the rows stay unchanged */
        error = clEnqueueCopyBuffer(queue, buffer, target, offset, 0, bytes, 0, NULL, NULL);
    result =
        error ? IPT_ERROR_OPENCL : ipt_plan_execute_out_of_place(plan, queue, buffer, offset, target, 0, 0, NULL, NULL);
    if (!result && clEnqueueCopyBuffer(queue, target, buffer, 0, offset, bytes, 0, NULL, NULL))
        return IPT_ERROR_OPENCL;
    return result;
}

/* Executes the plan in a buffer that ends with the last matrix. Its first bytes are never written: checking devices
 * report reads there. */
static ipt_result execute(ipt_context *context, ipt_plan *plan, unsigned char *data, size_t bytes, size_t offset,
                          int out_of_place)
{
    const cl_context cl = ipt_context_cl_context(context);
    cl_int error;
    const cl_command_queue queue = clCreateCommandQueue(cl, ipt_context_cl_device(context), 0, &error);
    const cl_mem buffer = clCreateBuffer(cl, CL_MEM_READ_WRITE, offset + bytes, NULL, &error);
    ipt_result result = IPT_ERROR_OPENCL;
    if (!error && !copy_in(queue, buffer, offset, bytes, data, 0, NULL, NULL))
        result = out_of_place ? execute_out_of_place(plan, queue, cl, buffer, offset, bytes)
                              : ipt_plan_execute(plan, queue, buffer, offset, 0, NULL, NULL);
    if (!result && clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset, bytes, data, 0, NULL, NULL))
        result = IPT_ERROR_OPENCL;
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    return result;
}

static int launches(const ipt_plan *plan, const char *name)
{
    int i, found = 0;
    for (i = 0; plan->passes && i < plan->passes->count; ++i)
        found |= launches(plan->passes->list[i].plan, name);
    for (i = 0; plan->device && i < plan->device->kernel_count; ++i)
        found |= strstr(name, ipt__kernels[plan->device->kernels[i].program->id].name) != NULL;
    return found;
}

/* Writes the bytes from index to index of each axis, in the source and in the result. Returns the elements. *bytes:
 * from the first byte to the last one of both. */
static size_t array_steps(const ipt_plan_desc *desc, size_t steps[2][IPT_MAX_RANK], size_t *bytes)
{
    size_t dense[2] = {desc->elem_size, desc->elem_size}, spans[2] = {desc->elem_size, desc->elem_size};
    unsigned a;
    int i;
    for (a = desc->rank; a-- > 0;)
        for (i = 0; i < 2; ++i) {
            const unsigned axis = i ? desc->axes[a] : a;
            const size_t *const strides = i ? desc->strides_out : desc->strides;
            steps[i][axis] = strides[a] ? strides[a] : dense[i];
            dense[i] *= desc->shape[axis];
            spans[i] += (desc->shape[axis] - 1) * steps[i][axis];
        }
    *bytes = ipt__max(spans[0], spans[1]);
    return dense[0] / desc->elem_size;
}

static size_t array_bytes(const ipt_plan_desc *desc)
{
    size_t steps[2][IPT_MAX_RANK], bytes;
    array_steps(desc, steps, &bytes);
    return bytes;
}

/* Counts the elements of an array that differ from the index formula. */
static size_t count_wrong_in_array(const ipt_plan_desc *desc, unsigned char *before, const unsigned char *after)
{
    const size_t size = desc->elem_size;
    size_t steps[2][IPT_MAX_RANK], bytes, count = array_steps(desc, steps, &bytes), wrong = 0;
    unsigned a;
    while (count-- > 0) {
        size_t left = count, from = 0, to = 0;
        for (a = desc->rank; a-- > 0; left /= desc->shape[a]) {
            from += left % desc->shape[a] * steps[0][a];
            to += left % desc->shape[a] * steps[1][a];
        }
        if (desc->expression) /* see express */
            before[from] ^= 1;
        wrong += memcmp(after + to, before + from, size) != 0;
    }
    return wrong;
}

/* BY_BOXES, BY_COLUMNS: in place, whatever the planner prefers */
enum way { IN_PLACE, OUT_OF_PLACE, BY_BOXES, BY_COLUMNS };

static void walk_with(ipt_context *context, const ipt_plan_desc *desc, enum way way)
{
    const int out_of_place = way == OUT_OF_PLACE;
    const size_t batch = desc->batch ? desc->batch : 1;
    unsigned char *before, *data;
    ipt_plan *plan = NULL;
    ipt_result result;
    size_t pad_rows, pad_cols, bytes, stride, i, wrong;
    if (defect.file && cases == MOST_PLANTED)
        return;
    if (way == BY_BOXES || way == BY_COLUMNS)
        result = whole_plan(context, desc, way == BY_BOXES ? IPT__WAY_BOXES : IPT__WAY_COLUMNS, &plan);
    else
        result = ipt_plan_create(context, desc, &plan);
    if (!result && !plan) {
        ++cases, ++failures;
        printf("the array does not move in one pass\n");
        return;
    }
    if (!result && only && !(out_of_place ? !strcmp(only, "ipt_k_out_of_place") : launches(plan, only))) {
        ipt_plan_destroy(plan);
        return;
    }
    ipt_plan_padding(plan, &pad_rows, &pad_cols);
    stride = desc->rank ? array_bytes(desc)
                        : stride_of(plan, (desc->rows + pad_rows) * (desc->cols + pad_cols) * desc->elem_size);
    bytes = plan && plan->problem.pitched ? plan->problem.span_bytes : batch * stride;
    before = (unsigned char *)malloc(bytes);
    data = (unsigned char *)malloc(bytes);
    for (i = 0; i < bytes; ++i)
        data[i] = before[i] = (unsigned char)((i * 2654435761u) >> 13);
    if (!result)
        result = execute(context, plan, data, bytes, cases % (desc->rank ? 2 : 4) * desc->elem_size, out_of_place);
    wrong = result || !compared ? 0
            : desc->rank        ? count_wrong_in_array(desc, before, data)
                                : count_wrong(plan, desc, before, data, stride);
    if (result || wrong) {
        ++failures;
        printf("%s, %zu wrong, %s", ipt_result_string(result), wrong,
               result ? ipt_context_error(NULL) : ipt_plan_describe(plan));
    }
    if (getenv("WALK_TIMES"))
        printf("time %.2f %s\n", (double)clock() / CLOCKS_PER_SEC, ipt_plan_describe(plan));
    ++cases;
    ipt_plan_destroy(plan);
    free(before);
    free(data);
}

static void walk(ipt_context *context, const ipt_plan_desc *desc)
{
    walk_with(context, desc, IN_PLACE);
}

/* A transposing move: the four moves in turn. */
static ipt_move turned(size_t number)
{
    static const ipt_move moves[] = {IPT_MOVE_TRANSPOSE, IPT_MOVE_ROTATE_90, IPT_MOVE_ANTITRANSPOSE,
                                     IPT_MOVE_ROTATE_270};
    return moves[number % (sizeof moves / sizeof *moves)];
}

/* An expression that flips the lowest bit of an element's first byte. */
static void express(ipt_plan_desc *desc)
{
    const size_t size = desc->elem_size;
    desc->expression = size == 16 ? "x ^ (uint4)(1, 0, 0, 0)" : "x ^ 1";
    desc->expression_type = size == 1   ? "uchar"
                            : size == 2 ? "ushort"
                            : size == 4 ? "uint"
                            : size == 8 ? "ulong"
                                        : "uint4";
}

/* Runs a desc with row gaps: the pitch is the row's bytes plus `gap` units. */
static void walk_gaps(ipt_context *context, ipt_plan_desc desc, size_t gap, size_t gap_out)
{
    const size_t unit = ipt__unit_bytes(desc.elem_size);
    desc.row_pitch = desc.cols * desc.elem_size + gap * unit;
    desc.row_pitch_out = (ipt__moves[desc.move].transposed ? desc.rows : desc.cols) * desc.elem_size + gap_out * unit;
    walk(context, &desc);
}

/* Rows with gaps by each stage that supports them. */
static void walk_pitches(ipt_context *context, int quick)
{
    static const struct {
        size_t rows, cols, elem_size, tile_m, gap, gap_out;
        ipt_move move;
        int expressed;
    } shapes[] = {{17, 11, 4, 5, 3, 5, IPT_MOVE_TRANSPOSE, 0},    {11, 17, 3, 4, 7, 1, IPT_MOVE_ROTATE_90, 0},
                  {13, 13, 4, 0, 3, 3, IPT_MOVE_TRANSPOSE, 1},    {40, 40, 8, 0, 1, 1, IPT_MOVE_TRANSPOSE, 0},
                  {19, 1, 4, 0, 2, 0, IPT_MOVE_TRANSPOSE, 0},     {1, 19, 12, 0, 0, 2, IPT_MOVE_ROTATE_270, 0},
                  {12, 9, 4, 0, 1, 6, IPT_MOVE_ROTATE_180, 1},    {12, 9, 2, 0, 6, 6, IPT_MOVE_ROTATE_180, 0},
                  {9, 13, 1, 0, 3, 3, IPT_MOVE_FLIP_VERTICAL, 1}, {20, 7, 16, 6, 0, 9, IPT_MOVE_ANTITRANSPOSE, 1}};
    size_t s;
    for (s = 0; s < (quick ? 2 : sizeof shapes / sizeof *shapes); ++s) {
        ipt_plan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.rows = shapes[s].rows;
        desc.cols = shapes[s].cols;
        desc.elem_size = shapes[s].elem_size;
        desc.batch = 1 + s % 2;
        desc.move = shapes[s].move;
        desc.tile_m = shapes[s].tile_m;
        desc.sequence = desc.tile_m ? IPT_SEQUENCE_EXCHANGE : IPT_SEQUENCE_AUTO;
        desc.max_workspace = 1 << 20;
        if (shapes[s].expressed)
            express(&desc);
        walk_gaps(context, desc, shapes[s].gap, shapes[s].gap_out);
    }
}

/* Arrays with gaps that move element by element, of each unit, with windows and expressions. gap: bytes between rows of
 * the last axis, in the source; the result has as many between its planes. */
static void walk_views(ipt_context *context, int quick)
{
    static const struct {
        size_t elem_size, shape[3], gap;
        unsigned axes[3];
        int expressed;
    } views[] = {
        {4, {5, 6, 7}, 8, {2, 1, 0}, 0},   {4, {20, 18, 16}, 4, {2, 1, 0}, 1},  {7, {4, 5, 6}, 3, {1, 2, 0}, 0},
        {2, {6, 7, 5}, 6, {2, 1, 0}, 1},   {1, {9, 8, 5}, 1, {2, 1, 0}, 1},     {8, {5, 4, 6}, 16, {2, 0, 1}, 1},
        {16, {3, 4, 5}, 16, {2, 1, 0}, 1}, {112, {4, 3, 5}, 112, {2, 1, 0}, 0}, {24, {3, 5, 4}, 8, {2, 1, 0}, 0}};
    size_t s;
    for (s = 0; s < (quick ? 2 : sizeof views / sizeof *views); ++s) {
        ipt_plan_desc desc;
        unsigned a;
        memset(&desc, 0, sizeof desc);
        desc.elem_size = views[s].elem_size;
        desc.rank = 3;
        memcpy(desc.shape, views[s].shape, sizeof views[s].shape);
        memcpy(desc.axes, views[s].axes, sizeof views[s].axes);
        desc.strides[2] = desc.strides_out[2] = desc.elem_size;
        for (a = 2; a-- > 0;) {
            desc.strides[a] = desc.strides[a + 1] * desc.shape[a + 1] + (a ? views[s].gap : 0);
            desc.strides_out[a] = desc.strides_out[a + 1] * desc.shape[desc.axes[a + 1]] + (a ? 0 : views[s].gap);
        }
        desc.max_workspace = 1 << 20;
        if (views[s].expressed)
            express(&desc);
        walk(context, &desc);
        walk_with(context, &desc, OUT_OF_PLACE);
    }
}

/* Every kernel of the papers, including variants of other kernels. */
static void walk_seeds(ipt_context *context, int quick)
{
    static const size_t elem_sizes[] = {4, 3, 2, 8, 16};
    size_t e;
    int v;
    for (e = 0; e < (quick ? 1 : sizeof elem_sizes / sizeof *elem_sizes); ++e)
        for (v = IPT_VARIANT_AUTO; v < IPT__VARIANT_COUNT; ++v) {
            const ipt__family family = ipt__variants[v].family;
            ipt_plan_desc desc;
            if (quick && !only && family == IPT__FAMILY_PTTWAC_100 && !ipt__variants[v].lanes)
                continue; /* variants with whole work-groups take the longest */
            if ((e > 0 && told_type == CL_DEVICE_TYPE_CPU) ||
                (e > 1 && family != IPT__FAMILY_PAD && family != IPT__FAMILY_P_IPT && family != IPT__FAMILY_PTTWAC_010))
                continue; /* other kernels are walked with these units elsewhere */
            memset(&desc, 0, sizeof desc);
            desc.elem_size = elem_sizes[e];
            desc.batch = 2;
            desc.rows = family == IPT__FAMILY_PAD || !v ? 23 : 12;
            desc.cols = family == IPT__FAMILY_PAD || !v ? 37 : 18;
            desc.tile_m = 4;
            desc.tile_n = 6;
            desc.flags = family == IPT__FAMILY_PAD || !v ? IPT_PAD : 0;
            desc.sequence = IPT_SEQUENCE_3_1;
            if (family == IPT__FAMILY_SWAP) {
                desc.sequence = IPT_SEQUENCE_SQUARE;
                desc.cols = desc.rows = 37;
                desc.tile_m = desc.tile_n = 0;
            }
            desc.flag_spread = (size_t)1 << v % 6;
            if (family == IPT__FAMILY_PTTWAC_100 || family == IPT__FAMILY_P_IPT)
                desc.variant_100 = (ipt_variant)v;
            else if (family != IPT__FAMILY_PAD)
                desc.variant_010 = (ipt_variant)v;
            else
                desc.variant_pad = (ipt_variant)v;
            walk(context, &desc);
        }
}

/* Rotations and reflections, with and without an expression. */
static void walk_moves(ipt_context *context, int quick)
{
    static const size_t sides[][2] = {{13, 7}, {37, 37}, {40, 23}};
    size_t s;
    int move;
    for (s = 0; s < (quick ? 2 : sizeof sides / sizeof *sides); ++s)
        for (move = IPT_MOVE_TRANSPOSE; move < IPT__MOVE_COUNT; move += quick ? 3 : 1) {
            ipt_plan_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.rows = sides[s][0];
            desc.cols = sides[s][1];
            desc.batch = 2;
            desc.move = (ipt_move)move;
            desc.elem_size = s == 1 ? 8 : 12;
            walk(context, &desc);
            desc.elem_size = 1;
            express(&desc);
            walk(context, &desc);
        }
}

/* Reversed rows and sequences of rows, with every way in which elements fill words: several pieces per line, several
 * lines per work-group, elements longer than a piece. */
static void walk_flips(ipt_context *context, int quick)
{
    static const ipt_move moves[] = {IPT_MOVE_ROTATE_180, IPT_MOVE_FLIP_HORIZONTAL, IPT_MOVE_FLIP_VERTICAL};
    static const size_t shapes[][3] = {{31, 75, 3},  {40, 61, 1}, {20, 31, 2},  {30, 21, 6}, {21, 9, 5},
                                       {3, 2, 5003}, {21, 33, 4}, {20, 17, 12}, {20, 9, 16}, {9, 1, 1}};
    size_t s, m;
    for (s = 0; s < (quick ? 1 : sizeof shapes / sizeof *shapes); ++s)
        for (m = 0; m < (quick ? 1 : sizeof moves / sizeof *moves); ++m) {
            ipt_plan_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.rows = shapes[s][0];
            desc.cols = shapes[s][1];
            desc.elem_size = shapes[s][2];
            desc.batch = 1 + s % 2;
            desc.move = moves[m];
            walk(context, &desc);
            if (s == 0) { /* the middle row ends in the middle, before its last piece; rows begin within words */
                desc.rows = 3;
                desc.cols = 1100;
                walk_gaps(context, desc, 1, 1);
            }
        }
}

/* Squares of long elements, which change places in pairs. Also with elements that are transposed, in squares and other
 * matrices. */
static void walk_pairs(ipt_context *context, int quick)
{
    static const size_t squares[][2] = {{23, 400}, {12, 1028}, {9, 1555}, {3, 140000}},
                        doubles[][4] = {{9, 9, 7, 5}, {8, 8, 32, 4}, {7, 9, 16, 2}, {5, 11, 3, 7}};
    size_t s;
    for (s = 0; s < (quick ? 1 : sizeof squares / sizeof *squares); ++s) {
        ipt_plan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.rows = desc.cols = squares[s][0];
        desc.elem_size = squares[s][1];
        desc.batch = 1 + s % 2;
        walk(context, &desc);
    }
    for (s = 0; s < (quick ? 1 : 2 * sizeof doubles / sizeof *doubles); ++s) {
        const size_t *const its = doubles[s / 2];
        ipt_plan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.tile_m = its[2];
        desc.tile_n = its[3];
        desc.rows = its[0] * its[2];
        desc.cols = its[1] * its[3];
        desc.elem_size = s % 2 ? 12 : 1;
        desc.from = IPT_FORMAT_RRRB;
        desc.to = IPT_FORMAT_CCRB;
        walk(context, &desc);
    }
}

/* Squares that GPUs rotate by large tiles, with several tiles along a side. */
static void walk_squares(ipt_context *context, int quick)
{
    static const size_t squares[][2] = {{124, 4}, {71, 8}};
    size_t s;
    for (s = 0; s < (quick ? 1 : 4 * sizeof squares / sizeof *squares); ++s) {
        ipt_plan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.rows = desc.cols = squares[s / 4][0];
        desc.elem_size = squares[s / 4][1];
        desc.move = turned(s + 1);
        if (s % 4 == 0)
            express(&desc);
        walk(context, &desc);
    }
}

static void walk_shapes(ipt_context *context, int quick)
{
    static const struct {
        size_t rows, cols, tile_m, tile_n, batch;
        ipt_sequence sequence;
    } shapes[] = {
        {13, 7, 0, 0, 5, IPT_SEQUENCE_AUTO},      {40, 33, 0, 0, 1, IPT_SEQUENCE_AUTO},
        {37, 37, 0, 0, 2, IPT_SEQUENCE_SQUARE},   {12, 18, 4, 6, 1, IPT_SEQUENCE_3_1},
        {17, 11, 5, 0, 2, IPT_SEQUENCE_EXCHANGE}, {11, 17, 3, 0, 1, IPT_SEQUENCE_EXCHANGE},
        {12, 18, 4, 6, 2, IPT_SEQUENCE_4_3},      {16, 11, 4, 0, 1, IPT_SEQUENCE_TWO_PASS},
        {11, 16, 0, 4, 1, IPT_SEQUENCE_TWO_PASS}, {19, 11, 4, 0, 2, IPT_SEQUENCE_TWO_PASS},
        {11, 19, 0, 4, 2, IPT_SEQUENCE_TWO_PASS}, {5, 7, 0, 0, 2, IPT_SEQUENCE_1},
    };
    /* The last shapes take the longest, so they run with two element sizes only. */
    enum { QUICK = 10, FOR_ALL_SIZES = 8, COUNT = sizeof shapes / sizeof *shapes };
    static const size_t elem_sizes[] = {4, 3, 1, 16, 2, 8};
    size_t e, s;
    for (e = 0; e < (quick ? 1 : sizeof elem_sizes / sizeof *elem_sizes); ++e)
        for (s = 0; s < (quick ? QUICK : e < 2 ? COUNT : FOR_ALL_SIZES); ++s) {
            ipt_plan_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.rows = shapes[s].rows;
            desc.cols = shapes[s].cols;
            desc.elem_size = elem_sizes[e];
            desc.batch = shapes[s].batch;
            desc.sequence = shapes[s].sequence;
            desc.tile_m = shapes[s].tile_m;
            desc.tile_n = shapes[s].tile_n;
            if (desc.sequence == IPT_SEQUENCE_EXCHANGE)
                desc.move = turned(e + s);
            walk(context, &desc);
        }
}

/* Plans with other kernels: an expression that no stage can apply, one that each other stage applies, a transposition
 * out of place, reflections that do not fit into local memory. */
static void walk_others(ipt_context *context, int quick)
{
    static const size_t elem_sizes[] = {4, 3, 1, 16, 2, 8};
    size_t e;
    for (e = 0; e < (quick ? 1 : sizeof elem_sizes / sizeof *elem_sizes); ++e) {
        ipt_plan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.elem_size = elem_sizes[e];
        desc.rows = quick ? 90 : 35;
        desc.cols = quick ? 80 : 18;
        desc.move = IPT_MOVE_ROTATE_180;
        walk(context, &desc);
        desc.rows = 35;
        desc.cols = 18;
        desc.move = IPT_MOVE_TRANSPOSE;
        walk_with(context, &desc, OUT_OF_PLACE);
        desc.row_pitch = 36 * desc.elem_size;
        walk_with(context, &desc, OUT_OF_PLACE);
        desc.row_pitch = 0;
        if (desc.elem_size == 3)
            continue;
        express(&desc);
        walk_with(context, &desc, OUT_OF_PLACE);
        desc.rows = 16;
        desc.cols = 11;
        desc.sequence = IPT_SEQUENCE_TWO_PASS;
        desc.tile_m = 4;
        if (e == 0 && !quick)
            walk(context, &desc);
        desc.sequence = IPT_SEQUENCE_EXCHANGE;
        walk(context, &desc);
        desc.rows = 5;
        desc.cols = 4;
        desc.tile_m = 0;
        desc.sequence = IPT_SEQUENCE_1;
        walk(context, &desc);
    }
}

/* Panels that are too large for one work-group's local memory, with and without remaining rows or columns, and narrow
 * panels. Matrices on the chip, which are one panel (without tile_m and tile_n), and rotate. */
static void walk_panels(ipt_context *context, int quick, int alone)
{
    static const struct {
        size_t rows, cols, tile_m, tile_n, elem_size;
        int expressed;
    } panels[] = {{83, 70, 40, 0, 4, 0},  {70, 83, 0, 40, 4, 0},  {96, 70, 48, 0, 4, 1}, {70, 96, 0, 48, 4, 1},
                  {70, 33, 32, 0, 12, 0}, {33, 70, 0, 32, 12, 0}, {70, 61, 0, 0, 4, 0},  {61, 70, 0, 0, 3, 0},
                  {64, 64, 0, 0, 4, 0},   {40, 29, 0, 0, 12, 0},  {83, 9, 10, 0, 3, 0},  {9, 83, 0, 10, 3, 0},
                  {83, 9, 10, 0, 2, 0},   {9, 83, 0, 10, 16, 0},  {9, 83, 0, 10, 8, 1},  {64, 60, 0, 0, 1, 0},
                  {60, 64, 0, 0, 3, 0},   {64, 60, 0, 0, 6, 0},   {60, 64, 0, 0, 2, 1}};
    size_t s;
    for (s = 0; s < (quick ? 2 : alone ? 10 : sizeof panels / sizeof *panels); ++s) {
        ipt_plan_desc desc;
        if (alone && panels[s].expressed)
            continue;
        memset(&desc, 0, sizeof desc);
        desc.rows = panels[s].rows;
        desc.cols = panels[s].cols;
        desc.elem_size = panels[s].elem_size;
        if (panels[s].tile_m || panels[s].tile_n)
            desc.sequence = IPT_SEQUENCE_TWO_PASS;
        else
            desc.move = turned(s + 1);
        if (panels[s].expressed)
            express(&desc);
        desc.tile_m = panels[s].tile_m;
        desc.tile_n = panels[s].tile_n;
        walk(context, &desc);
    }
}

/* Arrays by boxes: of several work-groups and of one, overlapping boxes, all units, and each way of crossing. Each
 * array begins at a multiple of a vector, and one element later. The first arrays have programs in common: counting the
 * work-groups of one takes longest. */
static void walk_boxes(ipt_context *context, int quick)
{
    static const struct {
        size_t elem_size, shape[5];
        unsigned rank, axes[5];
        int expressed;
    } arrays[] = {
        {1, {40, 33, 8}, 3, {2, 1, 0}, 0},           {1, {13, 19, 11}, 3, {2, 1, 0}, 0},
        {1, {2, 3, 640}, 3, {0, 2, 1}, 0},           {1, {2, 640, 3}, 3, {0, 2, 1}, 0},
        {4, {10, 17, 12}, 3, {2, 1, 0}, 0},          {1, {2, 12, 5, 32}, 4, {0, 3, 2, 1}, 0},
        {2, {2, 640, 3}, 3, {0, 2, 1}, 0},           {4, {2, 4, 300}, 3, {0, 2, 1}, 1},
        {1, {2, 300, 2}, 3, {0, 2, 1}, 1},           {2, {6, 50, 8}, 3, {1, 0, 2}, 1},
        {12, {9, 5, 7, 3}, 4, {3, 2, 1, 0}, 0},      {2, {24, 10, 24}, 3, {2, 1, 0}, 0},
        {16, {5, 6, 13}, 3, {2, 1, 0}, 0},           {8, {3, 16, 4, 8}, 4, {0, 3, 2, 1}, 1},
        {4, {3, 4, 2, 5, 8}, 5, {4, 3, 2, 1, 0}, 0}, {1, {16, 3, 16, 12}, 4, {3, 1, 0, 2}, 1},
        {2, {3, 17, 5, 9}, 4, {0, 3, 2, 1}, 1},      {2, {32, 8, 13}, 3, {2, 1, 0}, 0},
        {1, {15, 9, 32}, 3, {2, 1, 0}, 0},
    };
    size_t s;
    for (s = 0; s < (quick ? 4 : sizeof arrays / sizeof *arrays); ++s) {
        ipt_plan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.elem_size = arrays[s].elem_size;
        desc.rank = arrays[s].rank;
        memcpy(desc.shape, arrays[s].shape, sizeof arrays[s].shape);
        memcpy(desc.axes, arrays[s].axes, sizeof arrays[s].axes);
        if (arrays[s].expressed)
            express(&desc);
        walk_with(context, &desc, BY_BOXES);
        walk_with(context, &desc, BY_BOXES);
    }
}

/* Matrices on the chip whose chunks have columns in registers. */
static void walk_registers(ipt_context *context, int quick, int alone)
{
    static const size_t shapes[][3] = {{77, 78, 4}, {60, 136, 3}, {156, 152, 1}, {71, 57, 6}, {45, 35, 16}};
    size_t s;
    context->limits.held_vectors = 8;
    for (s = 0; s < (quick || alone ? 1 : sizeof shapes / sizeof *shapes); ++s) {
        ipt_plan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.rows = shapes[s][0];
        desc.cols = shapes[s][1];
        desc.elem_size = shapes[s][2];
        desc.move = turned(s);
        walk(context, &desc);
    }
}

/* A desc of forced bands. */
static ipt_plan_desc bands_desc(size_t rows, size_t cols, size_t tile_m, size_t elem_size, ipt_move move)
{
    ipt_plan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = elem_size;
    desc.sequence = IPT_SEQUENCE_EXCHANGE;
    desc.tile_m = tile_m;
    desc.max_workspace = 1 << 20;
    desc.move = move;
    return desc;
}

/* All waves of a CPU in one launch. One work-group runs at a time, so the first one moves all pieces. The context
 * assumes a memory model and a number of cores that allow this. */
static void walk_waves(ipt_context *context, int quick)
{
    static const struct {
        size_t rows, cols, tile_m, elem_size;
        int expressed;
    } shapes[] = {{75, 66, 11, 4, 0},  {66, 83, 9, 4, 0},   {90, 64, 7, 1, 0},  {70, 71, 9, 2, 1},
                  {64, 80, 16, 3, 0},  {80, 70, 12, 6, 0},  {65, 99, 20, 8, 1}, {77, 65, 8, 12, 0},
                  {69, 70, 13, 16, 0}, {70, 69, 5, 16, 1},  {90, 66, 9, 8, 0},  {66, 70, 10, 1, 1},
                  {70, 66, 10, 2, 0},  {66, 80, 11, 12, 0}, {80, 66, 7, 4, 1},  {88, 73, 8, 3, 0}};
    size_t s;
    context->limits.memory_model = 3;
    context->limits.compute_units = 2;
    for (s = 0; s < (quick ? 2 : sizeof shapes / sizeof *shapes); ++s) {
        ipt_plan_desc desc =
            bands_desc(shapes[s].rows, shapes[s].cols, shapes[s].tile_m, shapes[s].elem_size, turned(s));
        desc.batch = 1 + s % 2;
        if (shapes[s].expressed)
            express(&desc);
        walk(context, &desc);
        if (s % 4 == 0)
            walk_gaps(context, desc, 4, 37);
    }
}

/* Matrices of 2 to 4 rows or columns on a CPU: whole, in tiles, and in tiles that work-groups share. */
static void walk_thin(ipt_context *context)
{
    static const struct {
        size_t rows, cols, elem_size, batch;
        int expressed;
    } shapes[] = {{3, 50, 4, 5, 0},  {50, 4, 1, 3, 1},   {2, 1024, 4, 2, 0}, {1024, 3, 1, 3, 0}, {3, 1024, 2, 1, 1},
                  {512, 2, 8, 1, 0}, {2, 128, 16, 2, 1}, {33, 4, 2, 40, 0},  {3, 70, 8, 2, 1},   {40, 3, 16, 1, 0}};
    size_t s;
    context->limits.compute_units = 2;
    context->limits.local_memory = 2048;
    for (s = 0; s < sizeof shapes / sizeof *shapes; ++s) {
        ipt_plan_desc desc = {0};
        desc.rows = shapes[s].rows;
        desc.cols = shapes[s].cols;
        desc.elem_size = shapes[s].elem_size;
        desc.batch = shapes[s].batch;
        if (shapes[s].expressed)
            express(&desc);
        walk(context, &desc);
    }
}

/* Bands that several work-groups store in local memory, with and without remaining rows and columns. Also bands of one
 * work-group each, which need not run at the same time. The context assumes a memory model that allows bands. */
static void walk_bands(ipt_context *context, int quick, int single)
{
    static const struct {
        size_t rows, cols, tile_m, elem_size;
        int single, expressed;
    } bands[] = {{20, 10, 2, 4, 1, 0},  {10, 20, 2, 4, 1, 0},  {20, 10, 2, 12, 1, 0}, {10, 20, 2, 2, 1, 1},
                 {43, 30, 7, 4, 0, 0},  {30, 43, 7, 4, 0, 0},  {48, 20, 6, 8, 0, 1},  {20, 48, 7, 12, 0, 0},
                 {31, 25, 10, 1, 0, 1}, {25, 31, 10, 2, 0, 0}, {25, 12, 6, 16, 0, 0}, {12, 25, 6, 16, 0, 1},
                 {31, 25, 10, 2, 0, 0}, {25, 31, 9, 1, 0, 0},  {20, 48, 7, 8, 0, 0},  {40, 24, 8, 1, 0, 1},
                 {44, 24, 8, 3, 0, 0},  {38, 20, 6, 2, 0, 0},  {40, 28, 12, 6, 0, 0}, {44, 40, 12, 1, 0, 0}};
    size_t s;
    context->limits.memory_model = 3;
    for (s = 0; s < (quick ? 2 : sizeof bands / sizeof *bands); ++s) {
        ipt_plan_desc desc = bands_desc(bands[s].rows, bands[s].cols, bands[s].tile_m, bands[s].elem_size, turned(s));
        if (single && !bands[s].single)
            continue;
        if (bands[s].expressed)
            express(&desc);
        walk(context, &desc);
        if (s % 2 == 0 || !quick) /* ranges that are longer or shorter than bands */
            walk_gaps(context, desc, s % 4 < 2 ? 4 : 37, s % 4 < 2 ? 37 : 4);
    }
}

/* Arrays by permuted columns, most of them in several bands with rests. Short and long runs, and several units. Longer
 * elements have more bands for the same time. */
static void walk_columns(ipt_context *context, int quick, int alone)
{
    static const struct {
        size_t elem_size, shape[4];
        unsigned rank, axes[4];
        int expressed;
    } arrays[] = {
        {16, {41, 3, 7}, 3, {2, 1, 0}, 0}, {16, {7, 3, 41}, 3, {2, 1, 0}, 0},      {12, {47, 3, 5}, 3, {2, 1, 0}, 0},
        {12, {5, 3, 47}, 3, {2, 1, 0}, 0}, {8, {37, 4, 2, 3}, 4, {2, 3, 1, 0}, 1}, {2, {3, 5, 47}, 3, {2, 1, 0}, 1},
        {1, {45, 5, 3}, 3, {2, 1, 0}, 0},
    };
    size_t s;
    context->limits.memory_model = 3;
    for (s = 0; s < (quick || alone ? 4 : sizeof arrays / sizeof *arrays); ++s) {
        ipt_plan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.elem_size = arrays[s].elem_size;
        desc.rank = arrays[s].rank;
        memcpy(desc.shape, arrays[s].shape, sizeof arrays[s].shape);
        memcpy(desc.axes, arrays[s].axes, sizeof arrays[s].axes);
        if (arrays[s].expressed)
            express(&desc);
        walk_with(context, &desc, BY_COLUMNS);
    }
}

/* Walks the contexts of one kind of device in turn. 0 if a context cannot be created. */
/* Runs a ready action on a few elements with its operands. The tests compare results, not this program. */
static void walk_batch(ipt_context *context, ipt_batch_desc *desc, ipt_model model, int layout)
{
    const cl_context cl = ipt_context_cl_context(context);
    ipt_batch_operand operands[IPT_MAX_OPERANDS];
    ipt_batch_buffer buffers[IPT_MAX_OPERANDS];
    ipt_batch *batch = NULL;
    cl_int error;
    const cl_command_queue queue = clCreateCommandQueue(cl, ipt_context_cl_device(context), 0, &error);
    ipt_batch_desc tried = *desc;
    ipt_result result;
    size_t k, count = 0;
    for (k = 0; k < desc->operand_count; ++k)
        if (ipt__spec_has(ipt__action_operands(desc->ready), desc->operands[k].name)) {
            operands[count] = desc->operands[k];
            operands[count].layout = (ipt_layout)((layout + (int)k) % IPT__LAYOUT_COUNT);
            operands[count].width = operands[count].layout == IPT_LAYOUT_BLOCKS ? 3 : 0;
            ++count;
        }
    tried.operands = operands;
    tried.operand_count = count;
    tried.model = model;
    result = ipt_batch_create(context, &tried, &batch);
    for (k = 0; k < count; ++k) {
        float data[1024];
        size_t i;
        for (i = 0; i < 1024; ++i) /* makes some diagonal elements large; matrices may be singular */
            data[i] = 1 + (float)(i * 7 % 13);
        buffers[k].buffer = clCreateBuffer(cl, CL_MEM_COPY_HOST_PTR, sizeof data, data, &error);
        buffers[k].byte_offset = 0;
    }
    if (!result)
        result = ipt_batch_execute(batch, queue, buffers, NULL, 0, NULL, NULL);
    if (result || clFinish(queue)) {
        ++failures;
        printf("%s, %s\n", ipt_result_string(result), ipt_context_error(NULL));
    }
    ++cases;
    for (k = 0; k < count; ++k)
        clReleaseMemObject(buffers[k].buffer);
    clReleaseCommandQueue(queue);
    ipt_batch_destroy(batch);
}

/* Every model, with actions that have barriers, sums, or neither. */
static void walk_batches(ipt_context *context, int quick)
{
    static const ipt_batch_operand solve[] = {{"A", "float", 5, 5, IPT_READ_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0},
                                              {"B", "float", 5, 2, IPT_READ_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0},
                                              {"pivots", "int", 5, 1, IPT_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0},
                                              {"info", "int", 1, 1, IPT_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0}},
                                   multiply[] = {{"A", "float", 4, 6, IPT_READ, IPT_LAYOUT_ELEMENTS, 0, 0},
                                                 {"B", "float", 6, 4, IPT_READ, IPT_LAYOUT_ELEMENTS, 0, 0},
                                                 {"C", "float", 4, 4, IPT_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0}},
                                   sum[] = {{"x", "float", 9, 1, IPT_READ, IPT_LAYOUT_ELEMENTS, 0, 0},
                                            {"y", "float", 9, 1, IPT_READ, IPT_LAYOUT_ELEMENTS, 0, 0},
                                            {"r", "float", 1, 1, IPT_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0}};
    static const struct {
        ipt_action action;
        const ipt_batch_operand *operands;
        size_t count;
    } actions[] = {{IPT_ACTION_GESV, solve, 4}, {IPT_ACTION_GEMM, multiply, 3}, {IPT_ACTION_DOT, sum, 3},
                   {IPT_ACTION_POSV, solve, 4}, {IPT_ACTION_GETRI, solve, 4},   {IPT_ACTION_TRSM, solve, 4}};
    const int few = quick && !only;
    int model, a = 0;
    if ((only && strcmp(only, "ipt_k_elements")) || defect.file)
        return;
    for (model = IPT_MODEL_REGISTERS; model < IPT__MODEL_COUNT; ++model)
        for (a = 0; a < (few ? 3 : 6); ++a) {
            ipt_batch_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.count = 9;
            desc.ready = actions[a].action;
            desc.operands = actions[a].operands;
            desc.operand_count = actions[a].count;
            walk_batch(context, &desc, (ipt_model)model, few ? model + a : 0);
            if (!few)
                walk_batch(context, &desc, (ipt_model)model, 1);
        }
}

static int walk_kind(const char *kind, int quick)
{
    const int columns = !strncmp(kind, "columns", 7);
    const int alone = strstr(kind, "alone") != NULL, panels = alone || !strcmp(kind, "team");
    /* Whether the kernel belongs to the papers' plans. */
    const int seeds = only && strstr("ipt_k_tile ipt_k_shuffle ipt_k_pttwac_010 ipt_k_p_ipt ipt_k_pad", only);
    ipt_context_desc descs[4];
    int c;
    told_type = strcmp(kind, "cpu") ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU;
    memset(descs, 0, sizeof descs);
    descs[0].cache_dir = descs[1].cache_dir = ""; /* binaries have no source, and may be optimised */
    descs[1].max_local_memory = 1024;             /* so that instances and panels do not fit local memory */
    if (panels) {
        descs[0].max_local_memory = 10240;
        descs[0].resident_groups = 16;
        descs[0].wait_polls = alone ? 3 : 0x7fffffff;
    }
    if (columns) { /* few work-groups, so that small arrays have several bands */
        descs[0].max_local_memory = 10240;
        descs[0].resident_groups = 3;
        descs[0].wait_polls = alone ? 3 : 0x7fffffff;
    }
    descs[2] = descs[3] = descs[0];
    descs[3].resident_groups = 4; /* without `panels`, each array is one box */
    if (!panels) {
        descs[2].max_local_memory = 10240;
        descs[2].resident_groups = 2;
    }
    for (c = 0; c < 4; ++c) {
        ipt_context *context;
        if ((columns && c) || (c == 1 && (panels || quick)) || (c > 1 && told_type == CL_DEVICE_TYPE_CPU))
            continue;
        if (ipt_context_create(&descs[c], &context)) {
            printf("%s\n", ipt_context_error(NULL));
            return 0;
        }
        if (columns) {
            walk_columns(context, quick, alone);
            ipt_context_destroy(context);
            continue;
        }
        if (c == 2)
            walk_bands(context, quick, !panels);
        if (c == (panels ? 2 : 3) && context->limits.cooperative)
            walk_boxes(context, quick);
        if (c == 3 && panels)
            walk_registers(context, quick, alone);
        if (c < 2 && panels) {
            walk_panels(context, quick, alone);
        } else if (c < 2 && seeds) {
            walk_seeds(context, quick);
        } else if (c < 2) {
            walk_others(context, quick);
            walk_shapes(context, quick);
            walk_moves(context, quick);
            walk_flips(context, quick);
            if (c == 0)
                walk_batches(context, quick);
            if (c == 0)
                walk_squares(context, quick);
            walk_pairs(context, quick);
            walk_pitches(context, quick);
            walk_views(context, quick);
            if (c == 0)
                walk_seeds(context, quick);
            if (c == 0 && told_type == CL_DEVICE_TYPE_CPU)
                walk_waves(context, quick);
            if (c == 0 && told_type == CL_DEVICE_TYPE_CPU)
                walk_thin(context);
        }
        ipt_context_destroy(context);
    }
    return 1;
}

/* Prints a kernel's parameters: run.sh checks that the walk covers all classes. */
static void print_kernel(int id)
{
    printf("kernel %s", ipt__kernels[id].name);
#define WALK_PRINT(field, macro, minimum, maximum, meaning)                                                            \
    if (ipt__kernels[id].uses & IPT__USES_##field)                                                                     \
        printf(" " #field);
    IPT_PARAM_LIST(WALK_PRINT)
    printf("\n");
}

int main(int count, char **arguments)
{
    static const char *const kinds[] = {"cpu", "gpu", "team", "alone", "columns", "columns_alone"};
    int i, quick, known = 0;
    for (i = 0; i < (int)(sizeof kinds / sizeof *kinds); ++i)
        known |= count >= 3 && !strcmp(arguments[1], kinds[i]);
    if ((count != 3 && count != 6) || !known) {
        fprintf(stderr, "usage: walk cpu|gpu|team|alone|columns|columns_alone full|quick|KERNEL [FILE OLD NEW]\n");
        return 2;
    }
    quick = strcmp(arguments[2], "full") != 0;
    only = quick && strcmp(arguments[2], "quick") ? arguments[2] : NULL;
    if (count == 6) {
        defect.file = arguments[3];
        defect.old = arguments[4];
        defect.new = arguments[5];
        compared = 0;
    }
    if (!walk_kind(arguments[1], quick))
        return 1;
    for (i = 0; i < launched_count; ++i)
        printf("launched %u %s\n", launched[i].times, launched[i].what);
    for (i = 0; i < IPT__KERNEL_COUNT; ++i)
        print_kernel(i);
    printf("%d passed, %d failed\n", cases - failures, failures);
    if (defect.file && !defect.made)
        printf("%s has no such text\n", defect.file);
    return failures != 0 || (defect.file && !defect.made);
}
