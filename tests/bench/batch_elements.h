/* The elements of the benchmark of batch plans: an action's operands, their values, which are functions of the place,
 * and checks of the results. Include plans.h first. Matrices are square, and vectors have the length of their sides. */
#ifndef BENCH_BATCH_ELEMENTS_H_INCLUDED
#define BENCH_BATCH_ELEMENTS_H_INCLUDED

#include <complex.h>
#include <float.h>
#include <math.h>

enum { WORK_OPERANDS = 3, WORK_SAMPLE = 64 /* most elements whose components are checked */ };

typedef double complex number;

/* A batch of one action. */
typedef struct work {
    const char *text; /* ACTION:TYPE:SIDE[:COUNT] */
    ipt_batch_desc desc;
    ipt_batch_operand operands[WORK_OPERANDS];
    char names[WORK_OPERANDS][8], type[16];
    size_t side, parts, scalar_bytes; /* parts: scalars of a component of `type`, such as 2 of a double2 */
    ipt_batch_buffer buffers[WORK_OPERANDS];
    size_t element_bytes, moved_bytes; /* bytes of an element's operands; bytes that it reads and writes */
    size_t all_bytes;                  /* bytes of all operands, one after the other in `buffer` */
    int in_place;                      /* an execution changes its input */
    double operations;                 /* real additions and multiplications for an element */
} work;

/* The measured actions: operands as in IPT_ACTION_LIST, with n for the side; operations: cubic * n^3 + square * n^2 +
 * linear * n. */
static const struct measured_action {
    ipt_action action;
    const char *operands;
    double cubic, square, linear;
} measured_actions[] = {{IPT_ACTION_DOT, "x:n1r y:n1r r:11w", 0, 0, 2},
                        {IPT_ACTION_GEMV, "A:nnr x:n1r y:n1w", 0, 2, 0},
                        {IPT_ACTION_GEMM, "A:nnr B:nnr C:nnw", 2, 0, 0},
                        {IPT_ACTION_POTRF, "A:nnb info:11w", 1. / 3, 0, 0},
                        {IPT_ACTION_POSV, "A:nnb B:n1b info:11w", 1. / 3, 2, 0},
                        {IPT_ACTION_GETRF, "A:nnb pivots:n1w info:11w", 2. / 3, 0, 0}};

static const char work_fill_text[] =
    "#ifdef NEEDS_DOUBLE\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#endif\n"
    "uint hash(uint k)\n"
    "{\n"
    "    k ^= k >> 16;\n"
    "    k *= 0x7feb352du;\n"
    "    k ^= k >> 15;\n"
    "    k *= 0x846ca68bu;\n"
    "    return k ^ k >> 16;\n"
    "}\n"
    "kernel void fill(global NUMBER *values, ulong first, uint scalars, uint parts, uint components, uint cols,\n"
    "                 ulong element_stride, ulong component_stride, uint salt, uint large, uint shift)\n"
    "{\n"
    "    const uint k = (uint)get_global_id(0), part = k % parts, e = k / parts / components;\n"
    "    const uint q = k / parts % components;\n"
    "    if (k >= scalars)\n"
    "        return;\n"
    "    NUMBER value = (NUMBER)((int)(hash(k + salt) >> 20) - 2048) * (NUMBER)0x1p-12f; /* exact, unlike a division "
    "*/\n"
    "    if (large && q % cols == (q / cols + e * shift) % cols)\n"
    "        value = part ? 0 : value + large;\n"
    "    values[first + (e * element_stride + q * component_stride) * parts + part] = value;\n"
    "}\n";

static cl_uint work_hash(cl_uint k)
{
    k ^= k >> 16;
    k *= 0x7feb352du;
    k ^= k >> 15;
    k *= 0x846ca68bu;
    return k ^ k >> 16;
}

static size_t operand_components(const work *of, size_t k)
{
    return of->operands[k].rows * of->operands[k].cols;
}

/* Bytes of a component. */
static size_t operand_bytes(const work *of, size_t k)
{
    return of->operands[k].type == of->type ? of->parts * of->scalar_bytes : sizeof(cl_int);
}

static cl_uint operand_salt(size_t k)
{
    return (cl_uint)k * 0x9e3779b9u;
}

/* The number that is added to one component in each row of operand k, so that no matrix is singular. */
static cl_uint operand_large(const work *of, size_t k)
{
    return k == 0 && of->in_place ? (cl_uint)of->side : 0;
}

/* Whether the column of this component depends on the element; for Cholesky it is on the diagonal. LU then exchanges
 * rows, and neighbouring elements exchange different rows. */
static cl_uint operand_shift(const work *of)
{
    return of->desc.ready == IPT_ACTION_GETRF;
}

/* The initial value of component q of element e, as work_fill_text computes it. Exact as a float. */
static number original_value(const work *of, size_t k, size_t e, size_t q)
{
    const size_t cols = of->operands[k].cols;
    const cl_uint large = operand_large(of, k);
    double parts[2] = {0, 0};
    for (size_t part = 0; part < of->parts; ++part) {
        const cl_uint place = (cl_uint)((e * operand_components(of, k) + q) * of->parts + part);
        parts[part] = ((double)(work_hash(place + operand_salt(k)) >> 20) - 2048) / 4096;
        if (large && q % cols == (q / cols + e * operand_shift(of)) % cols)
            parts[part] = part ? 0 : parts[part] + large;
    }
    return parts[0] + parts[1] * I;
}

/* Appends an operand described as "A:nnr". */
static void add_operand(work *to, const char *described)
{
    const size_t k = to->desc.operand_count++;
    ipt_batch_operand *const operand = &to->operands[k];
    const char *const shape = strchr(described, ':') + 1;
    size_t bytes;
    memcpy(to->names[k], described, (size_t)(shape - 1 - described));
    operand->name = to->names[k];
    operand->type = !strcmp(operand->name, "info") || !strcmp(operand->name, "pivots") ? "int" : to->type;
    operand->rows = shape[0] == 'n' ? to->side : 1;
    operand->cols = shape[1] == 'n' ? to->side : 1;
    operand->access = shape[2] == 'r' ? IPT_READ : shape[2] == 'w' ? IPT_WRITE : IPT_READ_WRITE;
    bytes = operand_components(to, k) * operand_bytes(to, k);
    to->element_bytes += bytes;
    to->moved_bytes += bytes * (operand->access == IPT_READ_WRITE ? 2 : 1);
    to->in_place = to->in_place || operand->access == IPT_READ_WRITE;
}

/* Reads ACTION:TYPE:SIDE[:COUNT]. Without a count the operands take about `bytes` bytes. */
static int work_parse(const char *text, size_t bytes, work *to)
{
    char action[16];
    size_t count = 0;
    memset(to, 0, sizeof *to);
    to->text = text;
    if (sscanf(text, "%15[^:]:%15[^:]:%zu:%zu", action, to->type, &to->side, &count) < 3 || !to->side)
        return 0;
    if (strcmp(to->type, "float") && strcmp(to->type, "double") && strcmp(to->type, "float2") &&
        strcmp(to->type, "double2"))
        return 0;
    to->parts = strchr(to->type, '2') ? 2 : 1;
    to->scalar_bytes = to->type[0] == 'f' ? sizeof(cl_float) : sizeof(cl_double);
    for (size_t i = 0; i < sizeof measured_actions / sizeof *measured_actions; ++i) {
        const struct measured_action *const known = &measured_actions[i];
        const double n = (double)to->side;
        if (strcmp(action, ipt_action_string(known->action)))
            continue;
        to->desc.ready = known->action;
        to->operations =
            (to->parts == 2 ? 4 : 1) * (known->cubic * n * n * n + known->square * n * n + known->linear * n);
        for (const char *operand = known->operands; operand; operand = strchr(operand, ' ')) {
            operand += *operand == ' ';
            add_operand(to, operand);
        }
    }
    to->desc.count = to->element_bytes && !count ? bytes / to->element_bytes : count;
    return to->desc.ready != IPT_ACTION_NONE && to->desc.count > 0;
}

/* Sets the layout of all operands and where they begin. */
static void work_place(work *to, ipt_layout layout)
{
    size_t at = 0;
    to->desc.operands = to->operands;
    for (size_t k = 0; k < to->desc.operand_count; ++k) {
        to->operands[k].layout = layout;
        to->buffers[k].byte_offset = at;
        at += (to->desc.count * operand_components(to, k) * operand_bytes(to, k) + 255) / 256 * 256;
    }
    to->all_bytes = at;
}

static cl_kernel fill_kernel(const work *of)
{
    const char *text = work_fill_text;
    const cl_device_id device = ipt_context_cl_device(context);
    cl_int error;
    const cl_program program = clCreateProgramWithSource(ipt_context_cl_context(context), 1, &text, NULL, &error);
    need(!error &&
             !clBuildProgram(program, 1, &device,
                             of->scalar_bytes == sizeof(cl_float) ? "-DNUMBER=float" : "-DNUMBER=double -DNEEDS_DOUBLE",
                             NULL, NULL),
         "clBuildProgram");
    const cl_kernel kernel = clCreateKernel(program, "fill", &error);
    need(!error, "clCreateKernel");
    clReleaseProgram(program);
    return kernel;
}

/* Fills the operands that are read with their values, and all others with NaN. */
static void work_fill(const work *of)
{
    const cl_uint garbage = 0xffffffffu;
    const cl_kernel kernel = fill_kernel(of);
    need(!clEnqueueFillBuffer(queue, buffer, &garbage, sizeof garbage, 0, of->all_bytes, 0, NULL, NULL),
         "clEnqueueFillBuffer");
    for (size_t k = 0; k < of->desc.operand_count; ++k) {
        const size_t components = operand_components(of, k), scalars = of->desc.count * components * of->parts,
                     group = 64, items = (scalars + group - 1) / group * group;
        const int planes = of->operands[k].layout == IPT_LAYOUT_PLANES;
        const cl_ulong longs[] = {of->buffers[k].byte_offset / of->scalar_bytes, planes ? 1 : components,
                                  planes ? of->desc.count : 1};
        const cl_uint words[] = {(cl_uint)scalars, (cl_uint)of->parts, (cl_uint)components,
                                 (cl_uint)of->operands[k].cols};
        const cl_uint salt = operand_salt(k), large = operand_large(of, k), shift = operand_shift(of);
        cl_int error;
        if (of->operands[k].access == IPT_WRITE)
            continue;
        need(scalars <= 0xffffffffu, "a batch of fewer scalars than 2^32");
        error = clSetKernelArg(kernel, 0, sizeof buffer, &buffer) | clSetKernelArg(kernel, 1, sizeof *longs, &longs[0]);
        for (cl_uint i = 0; i < 4; ++i)
            error |= clSetKernelArg(kernel, 2 + i, sizeof *words, &words[i]);
        error |=
            clSetKernelArg(kernel, 6, sizeof *longs, &longs[1]) | clSetKernelArg(kernel, 7, sizeof *longs, &longs[2]);
        error |= clSetKernelArg(kernel, 8, sizeof salt, &salt) | clSetKernelArg(kernel, 9, sizeof large, &large);
        error |= clSetKernelArg(kernel, 10, sizeof shift, &shift);
        need(!error, "clSetKernelArg");
        need(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    }
    need(!clFinish(queue), "clFinish");
    clReleaseKernel(kernel);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Checks */
/* ------------------------------------------------------------------------------------------------------------------ */

/* An element's operands, before and after an execution. */
typedef struct element {
    number *before[WORK_OPERANDS], *after[WORK_OPERANDS];
} element;

/* Whether two sums agree up to rounding. size: the sum of the terms' absolute values. */
static int agree(const work *of, number got, number right, double size)
{
    const double unit = of->scalar_bytes == sizeof(cl_float) ? FLT_EPSILON : DBL_EPSILON;
    return cabs(got - right) <= 4 * (double)(of->side + 2) * unit * size;
}

/* Whether `got`, of rows x cols, is the product of two matrices. */
static int is_product(const work *of, size_t rows, size_t depth, size_t cols, const number *left, const number *right,
                      const number *got)
{
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < cols; ++j) {
            number sum = 0;
            double size = 0;
            for (size_t k = 0; k < depth; ++k) {
                const number term = left[i * depth + k] * right[k * cols + j];
                sum += term;
                size += cabs(term);
            }
            if (!agree(of, got[i * cols + j], sum, size))
                return 0;
        }
    return 1;
}

/* Whether the lower triangle L of `got` has L L^H = A, in the lower triangle of A. */
static int is_cholesky(const work *of, const number *a, const number *got)
{
    const size_t n = of->side;
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j <= i; ++j) {
            number sum = 0;
            double size = 0;
            for (size_t k = 0; k <= j; ++k) {
                const number term = got[i * n + k] * conj(got[j * n + k]);
                sum += term;
                size += cabs(term);
            }
            if (!agree(of, a[i * n + j], sum, size))
                return 0;
        }
    return 1;
}

/* Whether A x = b, with the lower triangle of A. Its diagonal dominates, so |L| |L^H| is about |A|. */
static int is_solution(const work *of, const number *a, const number *b, const number *x)
{
    const size_t n = of->side;
    for (size_t i = 0; i < n; ++i) {
        number sum = 0;
        double size = cabs(b[i]);
        for (size_t j = 0; j < n; ++j) {
            const number term = (j <= i ? a[i * n + j] : conj(a[j * n + i])) * x[j];
            sum += term;
            size += cabs(term);
        }
        if (!agree(of, b[i], sum, size))
            return 0;
    }
    return 1;
}

/* Whether `got` contains L and U with P A = L U. Components of L are at most about 1. Changes a. */
static int is_lu(const work *of, number *a, const number *got, const number *pivots)
{
    const size_t n = of->side;
    for (size_t k = 0; k < n; ++k) {
        const double pivot = creal(pivots[k]) - 1;
        if (!(pivot >= (double)k && pivot < (double)n))
            return 0;
        for (size_t j = 0; j < n; ++j) {
            const number other = a[(size_t)pivot * n + j];
            a[(size_t)pivot * n + j] = a[k * n + j];
            a[k * n + j] = other;
        }
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) {
            number sum = i <= j ? got[i * n + j] : 0;
            double size = cabs(sum);
            for (size_t k = 0; k < n && k < i && k <= j; ++k) {
                const number term = got[i * n + k] * got[k * n + j];
                sum += term;
                size += cabs(term);
            }
            if (!agree(of, a[i * n + j], sum, size) || (j < i && !(cabs(got[i * n + j]) < 1.5)))
                return 0;
        }
    return 1;
}

static int is_right(const work *of, element *got)
{
    const size_t n = of->side;
    switch (of->desc.ready) {
    case IPT_ACTION_DOT:
        return is_product(of, 1, n, 1, got->before[0], got->before[1], got->after[2]);
    case IPT_ACTION_GEMV:
        return is_product(of, n, n, 1, got->before[0], got->before[1], got->after[2]);
    case IPT_ACTION_GEMM:
        return is_product(of, n, n, n, got->before[0], got->before[1], got->after[2]);
    case IPT_ACTION_POTRF:
        return is_cholesky(of, got->before[0], got->after[0]);
    case IPT_ACTION_POSV:
        return is_cholesky(of, got->before[0], got->after[0]) &&
               is_solution(of, got->before[0], got->before[1], got->after[1]);
    case IPT_ACTION_GETRF:
        return is_lu(of, got->before[0], got->after[0], got->after[1]);
    default:
        return 0;
    }
}

/* Reads operand k of element e. */
static void read_operand(const work *of, size_t k, size_t e, void *raw, number *to)
{
    const size_t components = operand_components(of, k), bytes = operand_bytes(of, k);
    const size_t first = of->buffers[k].byte_offset, zeros[3] = {0, 0, 0};
    if (of->operands[k].layout == IPT_LAYOUT_PLANES) {
        const size_t origin[3] = {first + e * bytes, 0, 0}, region[3] = {bytes, components, 1};
        need(!clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, zeros, region, of->desc.count * bytes, 0, bytes,
                                      0, raw, 0, NULL, NULL),
             "clEnqueueReadBufferRect");
    } else
        need(!clEnqueueReadBuffer(queue, buffer, CL_TRUE, first + e * components * bytes, components * bytes, raw, 0,
                                  NULL, NULL),
             "clEnqueueReadBuffer");
    for (size_t q = 0; q < components; ++q) {
        const size_t at = q * of->parts;
        if (of->operands[k].type != of->type)
            to[q] = ((const cl_int *)raw)[q];
        else if (of->scalar_bytes == sizeof(cl_float))
            to[q] = ((const cl_float *)raw)[at] + (of->parts == 2 ? ((const cl_float *)raw)[at + 1] * I : 0);
        else
            to[q] = ((const cl_double *)raw)[at] + (of->parts == 2 ? ((const cl_double *)raw)[at + 1] * I : 0);
    }
}

/* The first of `count` elements whose info is not 0, or count. */
static size_t first_failed(const work *of, size_t count)
{
    const size_t k = of->desc.operand_count - 1;
    size_t e = 0;
    if (strcmp(of->operands[k].name, "info"))
        return count;
    cl_int *const info = malloc(count * sizeof *info);
    need(info != NULL, "malloc");
    need(!clEnqueueReadBuffer(queue, buffer, CL_TRUE, of->buffers[k].byte_offset, count * sizeof *info, info, 0, NULL,
                              NULL),
         "clEnqueueReadBuffer");
    while (e < count && !info[e])
        ++e;
    free(info);
    return e;
}

static void refuse(const work *of, const char *line, size_t e, const char *why)
{
    fprintf(stderr, "%s, %s: element %zu is wrong: %s\n", of->text, line, e, why);
    exit(1);
}

/* Ends the program unless the first `count` elements have an info of 0 and a sample of them, the first and the last one
 * among them, has the right components. Returns the size of the sample. */
static size_t work_verify(const work *of, const char *line, size_t count)
{
    const size_t affordable = (size_t)(4e6 / (of->operations + 1));
    const size_t most = affordable < 4 ? 4 : affordable < WORK_SAMPLE ? affordable : WORK_SAMPLE;
    const size_t sample = count < most ? count : most, failed = first_failed(of, count);
    element got;
    void *raw;
    if (failed < count)
        refuse(of, line, failed, "its info is not 0");
    raw = malloc(of->element_bytes);
    for (size_t k = 0; k < of->desc.operand_count; ++k) {
        got.before[k] = malloc(operand_components(of, k) * sizeof(number));
        got.after[k] = malloc(operand_components(of, k) * sizeof(number));
        need(raw && got.before[k] && got.after[k], "malloc");
    }
    for (size_t i = 0; i < sample; ++i) {
        const size_t e = i == 0 ? 0 : i == 1 ? count - 1 : work_hash((cl_uint)i) % count;
        for (size_t k = 0; k < of->desc.operand_count; ++k) {
            for (size_t q = 0; q < operand_components(of, k); ++q)
                got.before[k][q] = original_value(of, k, e, q);
            read_operand(of, k, e, raw, got.after[k]);
        }
        if (!is_right(of, &got))
            refuse(of, line, e, "its components differ from the expected ones");
    }
    for (size_t k = 0; k < of->desc.operand_count; ++k) {
        free(got.before[k]);
        free(got.after[k]);
    }
    free(raw);
    return sample;
}

#endif /* BENCH_BATCH_ELEMENTS_H_INCLUDED */
