#include "bench_device.h"

#include "bench_shapes.h"

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

bool bench_device_open(bench_device *device, ipt_context *context, size_t elem_size, char *message)
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

cl_int bench_launch(const bench_device *device, cl_kernel kernel, size_t count)
{
    const size_t most = (size_t)1 << 18;
    size_t global = bench_smaller(count, most - 255);
    global = (global + 255) / 256 * 256; /* a multiple of many work-group sizes: the implementation chooses one */
    return clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
}

bool bench_fill(bench_device *device, cl_mem matrix, size_t bytes, cl_ulong *seed, char *message)
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
    for (cl_uint i = 0; i < 3; i++) {
        status |= clSetKernelArg(device->check, 7 + i, sizeof distances[i], &distances[i]);
        status |= clSetKernelArg(device->check, 10 + i, sizeof moves[shape->move][i], &moves[shape->move][i]);
    }
    if (status == CL_SUCCESS) {
        status = bench_launch(device, device->check, (size_t)count);
    }
    if (status == CL_SUCCESS) {
        status = clEnqueueReadBuffer(device->queue, device->counter, CL_TRUE, 0, sizeof *wrong, wrong, 0, NULL, NULL);
    }
    return bench_opencl(status, "checking a matrix", message);
}
