/* Fills a buffer on its device and verifies there, element by element, that its matrices are transposed and that every
 * byte around them is unchanged. For tests/library/large.c and tests/support/stress.h; include ipt.h first. */
#ifndef CHECKER_H_INCLUDED
#define CHECKER_H_INCLUDED

#include <limits.h>

/* Called if OpenCL itself fails. The test suite redefines this macro to end only the test. */
#ifndef CHECKER_STOP
#define CHECKER_STOP() exit(1)
#endif

/* Where the matrices lie in a buffer. The checker also checks the bytes around them. */
typedef struct checker_place {
    size_t rows, cols, elem_size;
    size_t batch, stride; /* number of matrices, and their distance in bytes */
    size_t offset, bytes; /* of the first matrix, and of the whole buffer */
} checker_place;

/* The checker works on items of 1, 2, 4 or 8 bytes, the largest size that divides the element. Kernels exist with
 * indices of 32 and of 64 bits, because those with 32 bits are much faster. */
typedef struct checker {
    cl_context context;
    cl_kernel fill[4][2], check[4][2]; /* created at their first use */
} checker;

/* Item k of the buffer is a hash of k and the seed: all items and all rounds differ. */
static const char *const checker_text =
    "ulong value_of(ulong k) { k *= 0x9e3779b97f4a7c15UL; k ^= k >> 29; k *= 0xbf58476d1ce4e5b9UL; return k ^ k >> 32; "
    "}\n"
    "__kernel void fill(__global TYPE *buffer, ulong count, ulong seed)\n"
    "{\n"
    "    for (INDEX k = get_global_id(0); k < count; k += get_global_size(0))\n"
    "        buffer[k] = (TYPE)value_of(k + seed);\n"
    "}\n"
    "__kernel void check(__global const TYPE *buffer, ulong count, ulong seed, ulong offset_, ulong stride_,\n"
    "                    ulong batch, ulong rows_, ulong cols_, ulong items_, __global uint *all,\n"
    "                    uint number)\n"
    "{\n"
    "    __global uint *const found = all + 2 * number;\n"
    "    const INDEX offset = offset_, stride = stride_, rows = rows_, cols = cols_, items = items_;\n"
    "    for (INDEX k = get_global_id(0); k < count; k += get_global_size(0)) {\n"
    "        INDEX from = k;\n"
    "        if (k >= offset && (k - offset) / stride < batch && (k - offset) % stride < rows * cols * items) {\n"
    "            const INDEX i = (k - offset) % stride, e = i / items;\n"
    "            from = k - i + (e % rows * cols + e / rows) * items + i % items;\n"
    "        }\n"
    "        if (buffer[k] != (TYPE)value_of(from + seed)) {\n"
    "            atomic_inc(found);\n"
    "            atomic_min(found + 1, (uint)min((ulong)k, 0xffffffffUL));\n"
    "        }\n"
    "    }\n"
    "}\n";

/* The result of `check`: the number of wrong items, and the index of the first, if below 2^32. */
typedef struct checker_found {
    cl_uint wrong, first;
} checker_found;

static const checker_found checker_found_nothing = {0, UINT_MAX};

static void checker_need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed; the last error of ipt: %s\n", what, ipt_context_error(NULL));
    CHECKER_STOP();
}

static int checker_item_log(const checker_place *place)
{
    int log = 0;
    while (log < 3 && place->elem_size % ((size_t)2 << log) == 0)
        ++log;
    return log;
}

static void checker_make(checker *checker, int log, int wide)
{
    static const char *const types[4] = {"uchar", "ushort", "uint", "ulong"};
    char options[64];
    cl_int error;
    const cl_program program =
        clCreateProgramWithSource(checker->context, 1, (const char **)&checker_text, NULL, &error);
    snprintf(options, sizeof options, "-DTYPE=%s -DINDEX=%s", types[log], wide ? "ulong" : "uint");
    checker_need(!error && !clBuildProgram(program, 0, NULL, options, NULL, NULL), "the checker's build");
    checker->fill[log][wide] = clCreateKernel(program, "fill", &error);
    checker_need(!error, "clCreateKernel");
    checker->check[log][wide] = clCreateKernel(program, "check", &error);
    checker_need(!error, "clCreateKernel");
    clReleaseProgram(program);
}

/* Enqueues the kernel that fills or (check) the kernel that checks and adds to entry `number` of `found`. */
static void checker_launch(checker *checker, int check, cl_command_queue queue, cl_mem buffer,
                           const checker_place *place, cl_ulong seed, cl_mem found, cl_uint number)
{
    const int log = checker_item_log(place), wide = place->bytes >> log >= (size_t)1 << 31;
    const size_t count = place->bytes >> log, most = (size_t)1 << 18;
    const size_t global = count < most ? (count + 255) / 256 * 256 : most;
    cl_ulong values[8];
    cl_kernel kernel;
    cl_uint i;
    if (!checker->fill[log][wide])
        checker_make(checker, log, wide);
    kernel = check ? checker->check[log][wide] : checker->fill[log][wide];
    values[0] = count;
    values[1] = seed;
    values[2] = place->offset >> log;
    values[3] = place->stride >> log;
    values[4] = place->batch;
    values[5] = place->rows;
    values[6] = place->cols;
    values[7] = place->elem_size >> log;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    for (i = 0; i < (check ? 8u : 2u); ++i)
        clSetKernelArg(kernel, 1 + i, sizeof values[i], &values[i]);
    if (check) {
        clSetKernelArg(kernel, 9, sizeof found, &found);
        clSetKernelArg(kernel, 10, sizeof number, &number);
    }
    checker_need(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "the checker's launch");
}

static void checker_end(checker *checker)
{
    int i;
    for (i = 0; i < 8; ++i)
        if (checker->fill[i / 2][i % 2]) {
            clReleaseKernel(checker->fill[i / 2][i % 2]);
            clReleaseKernel(checker->check[i / 2][i % 2]);
        }
    memset(checker, 0, sizeof *checker);
}

#endif /* CHECKER_H_INCLUDED */
