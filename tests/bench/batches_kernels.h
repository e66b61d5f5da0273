/* OpenCL text of the benchmark of many small matrices. Sizes that a compiler should know are macros of the build. */
#ifndef BENCH_BATCHES_KERNELS_H_INCLUDED
#define BENCH_BATCHES_KERNELS_H_INCLUDED

/* All words of a filled buffer differ, so that misplaced words are detected. There may be more work-items than words,
 * because work-groups are whole. */
static const char batches_text_check[] =
    "uint hash(uint k)\n"
    "{\n"
    "    k ^= k >> 16;\n"
    "    k *= 0x7feb352du;\n"
    "    k ^= k >> 15;\n"
    "    k *= 0x846ca68bu;\n"
    "    return k ^ k >> 16;\n"
    "}\n"
    "kernel void fill(global uint *words, uint first, uint count)\n"
    "{\n"
    "    const uint k = (uint)get_global_id(0);\n"
    "    if (k < count)\n"
    "        words[k] = hash(first + k);\n"
    "}\n"
    "/* Whole numbers from -8 to 8: their sums of products are exact in floats, whatever the order. */\n"
    "kernel void fill_small(global float *numbers, uint first, uint count)\n"
    "{\n"
    "    const uint k = (uint)get_global_id(0);\n"
    "    if (k < count)\n"
    "        numbers[k] = (float)(hash(first + k) % 17u) - 8.0f;\n"
    "}\n"
    "/* Counts the words that are not where they belong: the first `moved` matrices are transposed, the others not. "
    "*/\n"
    "kernel void check(global const uint *words, uint first, uint count, uint rows, uint cols, uint moved,\n"
    "                  global uint *errors)\n"
    "{\n"
    "    const uint k = (uint)get_global_id(0);\n"
    "    const uint matrix = k / (rows * cols), place = k % (rows * cols);\n"
    "    const uint source = matrix < moved ? place % rows * cols + place / rows : place;\n"
    "    if (k < count && words[k] != hash(first + k - place + source))\n"
    "        atomic_inc(errors);\n"
    "}\n";

/* NUMBER: float or double. A work-item copies one element. The launch sets the work-group's shape. */
static const char batches_text_copy[] =
    "#ifdef NEEDS_DOUBLE\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#endif\n"
    "kernel void copy_2d(global const NUMBER *from, global NUMBER *to)\n"
    "{\n"
    "    const uint width = (uint)get_global_size(0), height = (uint)get_global_size(1);\n"
    "    const uint row = (uint)get_global_id(2) * height + (uint)get_global_id(1);\n"
    "    const uint k = row * width + (uint)get_global_id(0);\n"
    "    to[k] = from[k];\n"
    "}\n";

/* SIDE, GROUP: a work-group loads one matrix into local memory, and writes it back transposed. Rows lie an odd number
 * of words apart, so that columns are read without bank conflicts. */
static const char batches_text_transpose[] =
    "#define PITCH (SIDE | 1)\n"
    "kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void transpose_group(global uint *words)\n"
    "{\n"
    "    local uint tile[SIDE * PITCH];\n"
    "    global uint *const matrix = words + (size_t)get_group_id(0) * (SIDE * SIDE);\n"
    "    const uint item = (uint)get_local_id(0);\n"
    "    for (uint k = item; k < SIDE * SIDE; k += GROUP)\n"
    "        tile[k / SIDE * PITCH + k % SIDE] = matrix[k];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint k = item; k < SIDE * SIDE; k += GROUP)\n"
    "        matrix[k] = tile[k % SIDE * PITCH + k / SIDE];\n"
    "}\n";

/* y = A x for every matrix of a batch. SIDE, GROUP: a work-group multiplies a matrix. All work-items fetch a block of
 * rows, then each computes a row. BLOCK: most floats of a block. */
enum { BATCHES_BLOCK = 8192 };
static const char batches_text_product[] =
    "#define PITCH (SIDE | 1)\n"
    "#define MOST_ROWS (BLOCK / PITCH ? BLOCK / PITCH : 1)\n"
    "#define ROWS (GROUP < SIDE ? GROUP : SIDE)\n"
    "#define BLOCK_ROWS (ROWS < MOST_ROWS ? ROWS : MOST_ROWS)\n"
    "kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void product_group(\n"
    "    global const float *a, global const float *x, global float *y)\n"
    "{\n"
    "    local float block[BLOCK_ROWS * PITCH], vector[SIDE];\n"
    "    const uint item = (uint)get_local_id(0);\n"
    "    const size_t matrix = get_group_id(0);\n"
    "    for (uint k = item; k < SIDE; k += GROUP)\n"
    "        vector[k] = x[matrix * SIDE + k];\n"
    "    for (uint first = 0; first < SIDE; first += BLOCK_ROWS) {\n"
    "        const uint rows = min((uint)BLOCK_ROWS, SIDE - first);\n"
    "        for (uint k = item; k < rows * SIDE; k += GROUP)\n"
    "            block[k / SIDE * PITCH + k % SIDE] = a[(matrix * SIDE + first) * SIDE + k];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        for (uint row = item; row < rows; row += GROUP) {\n"
    "            float sum = 0.0f;\n"
    "            for (uint k = 0; k < SIDE; ++k)\n"
    "                sum += block[row * PITCH + k] * vector[k];\n"
    "            y[matrix * SIDE + first + row] = sum;\n"
    "        }\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "}\n";

#endif /* BENCH_BATCHES_KERNELS_H_INCLUDED */
