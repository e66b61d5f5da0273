#include "bench_device.h"

#include "bench_shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_COLD_BYTES                                                                                               \
    ((cl_ulong)256 << 20) /* more than any GPU's caches: some drivers report only the smallest cache */

const char *const bench_checker =
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
    "                    __global uint *wrong, ulong stride, ulong pitch, ulong pitch_out, uint transposed,\n"
    "                    uint reversed_rows, uint reversed_cols)\n"
    "{\n"
    "    const ulong height = transposed ? cols : rows, width = transposed ? rows : cols;\n"
    "    for (ulong e = get_global_id(0); e < count; e += get_global_size(0)) {\n"
    "        const ulong line = e / width, y = line % height, x = e - line * width, first = line / height * stride;\n"
    "        const ulong row = reversed_rows ? height - 1 - y : y, col = reversed_cols ? width - 1 - x : x;\n"
    "        const ulong source = first + (transposed ? col * pitch + row * items : row * pitch + col * items);\n"
    "        const ulong result = first + y * pitch_out + x * items;\n"
    "        uint differs = 0;\n"
    "        for (ulong i = 0; i < items; ++i)\n"
    "            differs |= matrix[result + i] != (ITEM)value_of(seed, source + i);\n"
    "        if (differs)\n"
    "            atomic_inc(wrong);\n"
    "    }\n"
    "}\n";

void bench_device_close(bench_device *device)
{
    if (device->counter != NULL) {
        device->cl.clReleaseMemObject(device->counter);
    }
    if (device->check != NULL) {
        device->cl.clReleaseKernel(device->check);
    }
    if (device->fill != NULL) {
        device->cl.clReleaseKernel(device->fill);
    }
    if (device->program != NULL) {
        device->cl.clReleaseProgram(device->program);
    }
    if (device->queue != NULL) {
        device->cl.clReleaseCommandQueue(device->queue);
    }
}

bool bench_device_open(bench_device *device, ipt_context *context, size_t elem_size, char *message)
{
    static const char *const options[] = {"-DITEM=uchar", "-DITEM=ushort", "-DITEM=uint", "-DITEM=ulong"};
    const device_access *const cl = &device->cl;
    size_t kind = 0;
    while (kind < 3 && elem_size % ((size_t)2 << kind) == 0) {
        kind++;
    }
    device->context = context;
    device->cl = device_access_of(context);
    device->item_size = (size_t)1 << kind;
    device->seed = (uint64_t)time(NULL);
    strcpy(device->name, "unknown");
    cl->clGetDeviceInfo(cl->id, CL_DEVICE_NAME, sizeof device->name, device->name, NULL);
    cl_ulong cache = 0;
    cl_device_type type = CL_DEVICE_TYPE_CPU;
    cl_int status =
        cl->clGetDeviceInfo(cl->id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof device->memory, &device->memory, NULL);
    if (status == CL_SUCCESS) {
        status = cl->clGetDeviceInfo(cl->id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    }
    const bool known =
        cl->clGetDeviceInfo(cl->id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache, NULL) == CL_SUCCESS;
    device->cold = 4 * cache;
    if (((type & CL_DEVICE_TYPE_CPU) == 0 || !known) && device->cold < BENCH_COLD_BYTES) {
        device->cold = BENCH_COLD_BYTES;
    }
    if (!bench_opencl(status, "clGetDeviceInfo", message)) {
        return false;
    }
    device->queue = cl->clCreateCommandQueue(cl->context, cl->id, 0, &status);
    if (!bench_opencl(status, "clCreateCommandQueue", message)) {
        return false;
    }
    device->counter = cl->clCreateBuffer(cl->context, CL_MEM_READ_WRITE, sizeof(cl_uint), NULL, &status);
    if (!bench_opencl(status, "clCreateBuffer", message)) {
        return false;
    }
    if (!cl->compiles) {
        return true;
    }
    const char *text = bench_checker;
    device->program = cl->clCreateProgramWithSource(cl->context, 1, &text, NULL, &status);
    if (status == CL_SUCCESS) {
        status = cl->clBuildProgram(device->program, 1, &cl->id, options[kind], NULL, NULL);
    }
    if (status == CL_SUCCESS) {
        device->fill = cl->clCreateKernel(device->program, "fill", &status);
    }
    if (status == CL_SUCCESS) {
        device->check = cl->clCreateKernel(device->program, "check", &status);
    }
    return bench_opencl(status, "building the kernels that verify", message);
}

cl_int bench_launch(const bench_device *device, cl_kernel kernel, size_t count)
{
    const size_t most = (size_t)1 << 18;
    size_t global = bench_smaller(count, most - 255);
    global = (global + 255) / 256 * 256; /* a multiple of many work-group sizes: the implementation chooses one */
    return device->cl.clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
}

/* The hash of bench_checker. */
static uint64_t bench_value(uint64_t seed, uint64_t k)
{
    k = k * UINT64_C(0x9e3779b97f4a7c15) + seed;
    k = (k ^ k >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return k ^ k >> 32;
}

/* Memory for a copy of a matrix. NULL with a message: there is none. */
static unsigned char *bench_host_memory(const bench_device *device, cl_mem matrix, size_t *bytes, char *message)
{
    *bytes = 0;
    device->cl.clGetMemObjectInfo(matrix, CL_MEM_SIZE, sizeof *bytes, bytes, NULL);
    unsigned char *const memory = malloc(*bytes);
    if (memory == NULL) {
        snprintf(message, BENCH_MESSAGE_SIZE, "out of memory for %zu bytes, to verify a matrix", *bytes);
    }
    return memory;
}

/* Kernel fill of bench_checker, on the host. */
static bool bench_host_fill(const bench_device *device, cl_mem matrix, cl_ulong count, cl_ulong seed, char *message)
{
    size_t bytes;
    unsigned char *const memory = bench_host_memory(device, matrix, &bytes, message);
    if (memory == NULL) {
        return false;
    }
    for (cl_ulong k = 0; k < count; k++) {
        const uint64_t value = bench_value(seed, k);
        memcpy(memory + k * device->item_size, &value, device->item_size);
    }
    const cl_int status =
        device->cl.clEnqueueWriteBuffer(device->queue, matrix, CL_TRUE, 0,
                                        bench_smaller(bytes, (size_t)count * device->item_size), memory, 0, NULL, NULL);
    free(memory);
    return bench_opencl(status, "clEnqueueWriteBuffer", message);
}

/* Kernel check of bench_checker, on the host. distances: stride, pitch, pitch_out. move: transposed, reversed_rows,
 * reversed_cols. */
static bool bench_host_check(const bench_device *device, cl_mem matrix, const bench_result *shape,
                             const cl_ulong *distances, const cl_uint *move, cl_ulong seed, cl_uint *wrong,
                             char *message)
{
    const cl_ulong height = move[0] ? shape->cols : shape->rows, width = move[0] ? shape->rows : shape->cols,
                   items = shape->elem_size / device->item_size, count = height * width * shape->batch;
    size_t bytes;
    unsigned char *const memory = bench_host_memory(device, matrix, &bytes, message);
    const cl_int status = memory == NULL ? CL_SUCCESS
                                         : device->cl.clEnqueueReadBuffer(device->queue, matrix, CL_TRUE, 0, bytes,
                                                                          memory, 0, NULL, NULL);
    for (cl_ulong e = 0; memory != NULL && status == CL_SUCCESS && e < count; e++) {
        const cl_ulong line = e / width, y = line % height, x = e % width, first = line / height * distances[0];
        const cl_ulong row = move[1] ? height - 1 - y : y, col = move[2] ? width - 1 - x : x;
        const cl_ulong source = first + (move[0] ? col * distances[1] + row * items : row * distances[1] + col * items);
        const unsigned char *const result = memory + (first + y * distances[2] + x * items) * device->item_size;
        bool differs = false;
        for (cl_ulong i = 0; i < items; i++) {
            const uint64_t value = bench_value(seed, source + i);
            differs |= memcmp(result + i * device->item_size, &value, device->item_size) != 0;
        }
        *wrong += differs;
    }
    free(memory);
    return memory != NULL && bench_opencl(status, "clEnqueueReadBuffer", message);
}

bool bench_fill(bench_device *device, cl_mem matrix, size_t bytes, cl_ulong *seed, char *message)
{
    const device_access *const cl = &device->cl;
    cl_ulong count = bytes / device->item_size;
    *seed = bench_random(&device->seed);
    if (!cl->compiles) {
        return bench_host_fill(device, matrix, count, *seed, message);
    }
    cl_int status = cl->clSetKernelArg(device->fill, 0, sizeof matrix, &matrix);
    status |= cl->clSetKernelArg(device->fill, 1, sizeof *seed, seed);
    status |= cl->clSetKernelArg(device->fill, 2, sizeof count, &count);
    if (status == CL_SUCCESS) {
        status = bench_launch(device, device->fill, (size_t)count);
    }
    return bench_opencl(status, "filling a matrix", message);
}

bool bench_count_wrong(const bench_device *device, cl_mem matrix, const bench_result *shape, cl_ulong seed,
                       cl_uint *wrong, char *message)
{
    /* The columns of IPT_MOVE_LIST: transposed, reversed_rows, reversed_cols. */
#define BENCH_MOVE_ROW(name, text, transposed, rows, cols) {transposed, rows, cols},
    static const cl_uint moves[][3] = {IPT_MOVE_LIST(BENCH_MOVE_ROW)};
    cl_ulong rows = shape->rows, cols = shape->cols, items = shape->elem_size / device->item_size;
    cl_ulong count = rows * cols * shape->batch;
    const cl_ulong distances[] = {bench_stride(shape) / device->item_size,
                                  bench_pitch(shape, false) / device->item_size,
                                  bench_pitch(shape, true) / device->item_size};
    const device_access *const cl = &device->cl;
    *wrong = 0;
    if (!cl->compiles) {
        return bench_host_check(device, matrix, shape, distances, moves[shape->move], seed, wrong, message);
    }
    cl_int status =
        cl->clEnqueueWriteBuffer(device->queue, device->counter, CL_TRUE, 0, sizeof *wrong, wrong, 0, NULL, NULL);
    status |= cl->clSetKernelArg(device->check, 0, sizeof matrix, &matrix);
    status |= cl->clSetKernelArg(device->check, 1, sizeof seed, &seed);
    status |= cl->clSetKernelArg(device->check, 2, sizeof count, &count);
    status |= cl->clSetKernelArg(device->check, 3, sizeof rows, &rows);
    status |= cl->clSetKernelArg(device->check, 4, sizeof cols, &cols);
    status |= cl->clSetKernelArg(device->check, 5, sizeof items, &items);
    status |= cl->clSetKernelArg(device->check, 6, sizeof device->counter, &device->counter);
    for (cl_uint i = 0; i < 3; i++) {
        status |= cl->clSetKernelArg(device->check, 7 + i, sizeof distances[i], &distances[i]);
        status |= cl->clSetKernelArg(device->check, 10 + i, sizeof moves[shape->move][i], &moves[shape->move][i]);
    }
    if (status == CL_SUCCESS) {
        status = bench_launch(device, device->check, (size_t)count);
    }
    if (status == CL_SUCCESS) {
        status =
            cl->clEnqueueReadBuffer(device->queue, device->counter, CL_TRUE, 0, sizeof *wrong, wrong, 0, NULL, NULL);
    }
    return bench_opencl(status, "checking a matrix", message);
}
