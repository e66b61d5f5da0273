#include "bench_measure.h"

#include "gen/tool/base/seconds.h"

#include <stdlib.h>
#include <string.h>

enum {
    BENCH_MIN_REPEAT = 10, /* default executions in a round */
    BENCH_MAX_REPEAT = 64,
    BENCH_SINGLE_SHOTS = 5
};

#define BENCH_ROUND_BYTES ((size_t)256 << 20) /* wanted in a round, within the limits above */

size_t bench_wanted_buffers(const bench_device *device, size_t bytes)
{
    cl_ulong wanted = device->cold / bytes + 1, room = device->memory / 2 / bytes;
    wanted = wanted < room ? wanted : room;
    return wanted > BENCH_MAX_BUFFERS ? BENCH_MAX_BUFFERS : wanted > 1 ? (size_t)wanted : 1;
}

bool bench_take_buffers(bench_work *work, char *message)
{
    const device_access *const cl = &work->device->cl;
    size_t rotation = bench_wanted_buffers(work->device, work->bytes);
    size_t wanted = rotation > 1                              ? rotation
                    : work->bytes <= work->device->memory / 2 ? 2
                                                              : 1; /* the second one is the target of copies */
    while (work->buffer_count < wanted) {
        cl_int status;
        cl_mem buffer = cl->clCreateBuffer(cl->context, CL_MEM_READ_WRITE, work->room, NULL, &status);
        bool good = bench_opencl(status, "clCreateBuffer for a matrix", message);
        if (good) {
            good = bench_fill(work->device, buffer, work->filled, &work->seeds[work->buffer_count], message) &&
                   bench_opencl(work->device->cl.clFinish(work->device->queue), "filling a matrix", message);
            if (!good) {
                cl->clReleaseMemObject(buffer);
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

/* Out of place, the target is the farthest buffer in the rotation. */
static size_t bench_target(const bench_work *work, size_t index)
{
    return (index + work->buffer_count / 2) % work->buffer_count;
}

bool bench_enqueue(bench_work *work, bool copying, char *message)
{
    size_t index = work->next++ % work->rotation, target = bench_target(work, index);
    if (copying) {
        return bench_opencl(work->device->cl.clEnqueueCopyBuffer(work->device->queue, work->buffers[index],
                                                                 work->buffers[target], 0, 0, work->bytes, 0, NULL,
                                                                 NULL),
                            "clEnqueueCopyBuffer", message);
    }
    ipt_result result = work->out_of_place
                            ? ipt_plan_execute_out_of_place(work->plan, work->device->queue, work->buffers[index], 0,
                                                            work->buffers[target], 0, 0, NULL, NULL)
                            : ipt_plan_execute(work->plan, work->device->queue, work->buffers[index], 0, 0, NULL, NULL);
    return result == IPT_SUCCESS || bench_fail(message, "%s", ipt_context_error(NULL));
}

/* The mean time of an execution, from an idle device to an idle device. */
static bool bench_time(bench_work *work, bool copying, size_t repeat, double *seconds, char *message)
{
    if (!bench_opencl(work->device->cl.clFinish(work->device->queue), "clFinish", message)) {
        return false;
    }
    double start = seconds_now();
    for (size_t i = 0; i < repeat; i++) {
        if (!bench_enqueue(work, copying, message)) {
            return false;
        }
    }
    if (!bench_opencl(work->device->cl.clFinish(work->device->queue), "clFinish", message)) {
        return false;
    }
    *seconds = (seconds_now() - start) / (double)repeat;
    return true;
}

/* Verifies the result of one buffer. */
static bool bench_check(bench_work *work, size_t index, const bench_result *shape, char *message)
{
    cl_uint wrong;
    cl_mem matrix = work->buffers[work->out_of_place ? bench_target(work, index) : index];
    if (!bench_count_wrong(work->device, matrix, shape, work->seeds[index], &wrong, message)) {
        return false;
    }
    return wrong == 0 || bench_fail(message, "the result is WRONG: %zu of %zu elements differ", wrong,
                                    shape->bytes / shape->elem_size);
}

/* Transposes new data in the first count buffers in succession, and verifies the results. Out of place, one buffer's
 * target is another buffer's source: verify each alone. */
static bool bench_verify(bench_work *work, size_t count, const bench_result *shape, char *message)
{
    size_t together = work->out_of_place ? 1 : count;
    work->next = 0;
    for (size_t first = 0; first < count; first += together) {
        for (size_t i = first; i < first + together; i++) {
            if (!bench_fill(work->device, work->buffers[i], work->filled, &work->seeds[i], message)) {
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

bool bench_time_all(bench_work *work, bench_result *result, char *message)
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
    return number == NULL ? 0 : (size_t)strtoull(number, NULL, 10);
}

bool bench_measure(bench_device *device, ipt_plan *plan, bench_result *result, char *message)
{
    size_t pad_rows, pad_cols;
    bench_work work = {0};
    work.device = device;
    work.plan = plan;
    work.bytes = result->bytes;
    ipt_plan_padding(plan, &pad_rows, &pad_cols);
    work.room = (result->rows + pad_rows) * (result->cols + pad_cols) * result->elem_size * result->batch;
    if (result->pitch != 0 || result->pitch_out != 0) {
        work.room = bench_stride(result) * result->batch;
    }
    work.filled = result->pitch != 0 || result->pitch_out != 0 ? work.room : work.bytes;
    result->workspace = ipt_plan_workspace(plan);
    result->stages = bench_stage_count(plan);
    if (result->out_of_place) {
        result->workspace = 0;
        result->stages = 1;
    }
    work.out_of_place = result->out_of_place;
    bool good = bench_take_buffers(&work, message);
    if (good && work.out_of_place && work.buffer_count < 2) {
        good = bench_fail(message, "the device has no memory for a second matrix");
    }
    good = good && bench_verify(&work, 1, result, message); /* also warms up */
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
        device->cl.clReleaseMemObject(work.buffers[i]);
    }
    return good;
}
