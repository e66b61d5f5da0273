/* Batches in host memory. */

#ifndef IPT_NO_HOST_STREAMING
/* Chunks of elements stream through the device. Each slot has memory for a chunk and a queue of its own: while one
 * chunk is computed, another one is uploaded and a third one downloaded. */
enum { IPT__BATCH_SLOTS = 3 };

typedef struct ipt__batch_slot {
    cl_command_queue queue;
    ipt_batch_buffer buffers[IPT_MAX_OPERANDS];
    cl_event done; /* event of the chunk in flight; NULL: none */
    size_t bytes;  /* bytes that the chunk transfers */
} ipt__batch_slot;

typedef struct ipt__batch_run {
    ipt_batch *batch;
    char *const *memory;
    const void *argument;
    const ipt_host_options *options;
    size_t chunk, slot_count; /* chunk: elements */
    ipt__batch_slot ring[IPT__BATCH_SLOTS];
    size_t done, total; /* bytes over the bus */
    int cancelled, written;
} ipt__batch_run;

/* Every chunk but the last has a multiple of this number of elements, so that no block is cut. */
static size_t ipt__batch_step(const ipt__batch_problem *problem)
{
    size_t i, step = 1;
    for (i = 0; i < problem->operand_count; ++i) {
        const size_t width = ipt__max(1, problem->operands[i].given.width);
        size_t common = step;
        while (common % width)
            common += step;
        step = common;
    }
    return step;
}

/* Bytes of `count` elements of an operand on the device, where elements have no gaps. */
static size_t ipt__batch_chunk_bytes(const ipt__batch_operand *operand, size_t count)
{
    return operand->components * operand->type_bytes * ipt__round_up(count, ipt__max(1, operand->given.width));
}

/* Bytes of `count` elements of all operands. Each operand begins on a boundary for vectors. */
static size_t ipt__batch_slot_bytes(const ipt__batch_problem *problem, size_t count)
{
    size_t i, bytes = 0;
    for (i = 0; i < problem->operand_count; ++i)
        bytes += ipt__round_up(ipt__batch_chunk_bytes(&problem->operands[i], count), 256);
    return bytes;
}

/* The rows of an operand in host memory that elements [first, first + count) occupy, and their stride on the device. A
 * last block that is short is the area's second part. */
static ipt__area ipt__batch_area(const ipt__batch_operand *operand, size_t first, size_t count, size_t *stride)
{
    const ipt_batch_operand *const given = &operand->given;
    const size_t type = operand->type_bytes, components = operand->components;
    ipt__area area;
    memset(&area, 0, sizeof area);
    if (given->layout == IPT_LAYOUT_ELEMENTS) {
        *stride = components;
        ipt__area_add(&area, first * given->stride * type, count, components * type, given->stride * type);
    } else if (given->layout == IPT_LAYOUT_PLANES) {
        *stride = count;
        ipt__area_add(&area, first * type, components, count * type, given->stride * type);
    } else {
        const size_t width = given->width, blocks = count / width, rest = count % width;
        *stride = components * width;
        ipt__area_add(&area, first / width * given->stride * type, blocks, *stride * type, given->stride * type);
        if (rest) /* up to the last element's last component */
            ipt__area_add(&area, (first / width + blocks) * given->stride * type, 1, (*stride - width + rest) * type,
                          0);
    }
    return area;
}

/* Whether a chunk's operand is uploaded. A download may include bytes between the elements: then an operand that is
 * only written is uploaded, too. */
static int ipt__batch_goes_up(const ipt__batch_operand *operand, size_t count)
{
    return (operand->given.access & IPT_READ) ||
           (operand->given.layout == IPT_LAYOUT_BLOCKS && count % operand->given.width);
}

/* Enqueues the transfers of one operand of a chunk, and adds their bytes to slot->bytes. */
static ipt_result ipt__batch_transfer(ipt__batch_run *run, ipt__batch_slot *slot, size_t i, const ipt__area *area,
                                      int download)
{
    ipt__way way;
    int r;
    way.context = run->batch->context;
    way.queue = slot->queue;
    way.buffer = slot->buffers[i].buffer;
    way.device = 0;
    way.host = run->memory[i];
    way.download = download;
    way.mirrors = 0;
    for (r = 0; r < area->count; ++r) {
        cl_event event = NULL;
        const ipt_result result = ipt__rect_transfer(&way, &area->rects[r], 0, NULL, &event);
        if (result)
            return result;
        if (slot->done)
            ipt__calls(run->batch->context)->clReleaseEvent(slot->done);
        slot->done = event; /* the queue is in order */
        way.device += area->rects[r].rows * area->rects[r].row_bytes;
    }
    slot->bytes += ipt__area_bytes(area);
    run->written |= download;
    return IPT_SUCCESS;
}

/* Enqueues a chunk: uploads, the kernel, downloads. */
static ipt_result ipt__batch_enqueue_chunk(ipt__batch_run *run, ipt__batch_slot *slot, size_t first, size_t count)
{
    ipt_batch *const batch = run->batch;
    const ipt__batch_problem *const problem = &batch->problem;
    ipt__area areas[IPT_MAX_OPERANDS];
    ipt__batch_launch launch;
    cl_event event = NULL;
    ipt_result result = IPT_SUCCESS;
    size_t i;
    launch = ipt__batch_launch_of(batch, slot->buffers, run->argument);
    launch.first = first;
    launch.count = count;
    slot->bytes = 0;
    for (i = 0; i < problem->operand_count && !result; ++i) {
        areas[i] = ipt__batch_area(&problem->operands[i], first, count, &launch.strides[i]);
        if (ipt__batch_goes_up(&problem->operands[i], count))
            result = ipt__batch_transfer(run, slot, i, &areas[i], 0);
    }
    if (!result)
        result = ipt__batch_enqueue(batch, slot->queue, &launch, 0, NULL, &event);
    if (result)
        return result;
    if (slot->done)
        ipt__calls(run->batch->context)->clReleaseEvent(slot->done);
    slot->done = event;
    for (i = 0; i < problem->operand_count && !result; ++i)
        if (problem->operands[i].given.access & IPT_WRITE)
            result = ipt__batch_transfer(run, slot, i, &areas[i], 1);
    ipt__calls(run->batch->context)->clFlush(slot->queue);
    return result;
}

/* Waits for a slot's chunk, and reports the progress. */
static ipt_result ipt__batch_wait(ipt__batch_run *run, ipt__batch_slot *slot)
{
    ipt_result result;
    if (!slot->done)
        return IPT_SUCCESS;
    result = ipt__wait_for(run->batch->context, slot->done);
    ipt__calls(run->batch->context)->clReleaseEvent(slot->done);
    slot->done = NULL;
    run->done += slot->bytes;
    if (!result && !run->cancelled && run->options->progress &&
        run->options->progress(run->done, run->total, run->options->user))
        run->cancelled = 1;
    return result;
}

static void ipt__batch_close(ipt__batch_run *run)
{
    size_t s, i;
    for (s = 0; s < IPT__BATCH_SLOTS; ++s) {
        ipt__batch_slot *const slot = &run->ring[s];
        for (i = 0; i < IPT_MAX_OPERANDS; ++i)
            if (slot->buffers[i].buffer)
                ipt__calls(run->batch->context)->clReleaseMemObject(slot->buffers[i].buffer);
        if (slot->queue && slot->queue != run->batch->context->queue)
            ipt__calls(run->batch->context)->clReleaseCommandQueue(slot->queue);
    }
    memset(run->ring, 0, sizeof run->ring);
}

/* Makes the slots for run->chunk elements. *refused: bytes that could not be allocated; 0: none. */
static IPT__RARE ipt_result ipt__batch_open(ipt__batch_run *run, size_t *refused)
{
    const ipt_context *const context = run->batch->context;
    const ipt__batch_problem *const problem = &run->batch->problem;
    const size_t chunks = ipt__ceil_divide(problem->count, run->chunk);
    size_t s, i;
    run->slot_count = context->mixes_grids ? 1 : ipt__min(chunks, (size_t)IPT__BATCH_SLOTS);
    for (s = 0; s < run->slot_count; ++s) {
        ipt__batch_slot *const slot = &run->ring[s];
        cl_int error = CL_SUCCESS;
        slot->queue = context->mixes_grids
                          ? context->queue
                          : ipt__calls(context)->clCreateCommandQueue(context->context, context->device, 0, &error);
        if (error) {
            slot->queue = NULL;
            return ipt__fail_opencl("clCreateCommandQueue", error);
        }
        for (i = 0; i < problem->operand_count; ++i) {
            const ipt_result result =
                ipt__buffer_make(context, ipt__batch_chunk_bytes(&problem->operands[i], run->chunk), NULL,
                                 "device memory", refused, &slot->buffers[i].buffer);
            if (result)
                return result;
        }
    }
    return IPT_SUCCESS;
}

/* The limit of the slots' device memory in bytes. */
static size_t ipt__batch_limit(const ipt_batch *batch)
{
    cl_ulong bytes = 0;
    if (batch->max_device_memory)
        return batch->max_device_memory;
    if (ipt__calls(batch->context)
            ->clGetDeviceInfo(batch->context->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL))
        return (size_t)IPT__BATCH_SLOTS * IPT__CUT_CHUNK_BYTES;
    return ipt__min((size_t)IPT__BATCH_SLOTS * IPT__CUT_CHUNK_BYTES, ipt__size_of(bytes) / 4 * 3);
}

/* Chooses the size of chunks, and makes the slots. Halves the chunks while memory cannot be allocated. */
static IPT__RARE ipt_result ipt__batch_open_smaller(ipt__batch_run *run)
{
    const ipt__batch_problem *const problem = &run->batch->problem;
    const size_t step = ipt__batch_step(problem), limit = ipt__batch_limit(run->batch),
                 least = IPT__BATCH_SLOTS * ipt__batch_slot_bytes(problem, ipt__min(step, problem->count));
    size_t refused = 0;
    if (least > limit)
        return ipt__fail(
            IPT_ERROR_UNSUPPORTED,
            "max_device_memory = %zu is too little for elements of %zu bytes, of which %zu go at once: %zu "
            "would do",
            limit, problem->element_bytes, step, least);
    run->chunk = step * ipt__max(1, limit / IPT__BATCH_SLOTS / ipt__batch_slot_bytes(problem, step));
    run->chunk = ipt__min(run->chunk, ipt__round_up(problem->count, step));
    while (IPT__BATCH_SLOTS * ipt__batch_slot_bytes(problem, ipt__min(run->chunk, problem->count)) > limit &&
           run->chunk > step)
        run->chunk -= step;                            /* the boundaries of operands take some bytes */
    run->chunk = ipt__min(run->chunk, problem->count); /* a single chunk need not be a multiple of step */
    for (;;) {
        const ipt_result result = ipt__batch_open(run, &refused);
        if (result != IPT_ERROR_OUT_OF_MEMORY || !refused || run->chunk <= step)
            return result;
        ipt__batch_close(run);
        run->chunk = ipt__max(step, run->chunk / 2 / step * step);
        refused = 0;
    }
}

/* Bytes of the whole batch that cross the bus. */
static size_t ipt__batch_total(const ipt__batch_run *run)
{
    const ipt__batch_problem *const problem = &run->batch->problem;
    size_t first, i, stride, total = 0;
    for (first = 0; first < problem->count; first += run->chunk)
        for (i = 0; i < problem->operand_count; ++i) {
            const ipt__batch_operand *const operand = &problem->operands[i];
            const size_t count = ipt__min(run->chunk, problem->count - first);
            const ipt__area area = ipt__batch_area(operand, first, count, &stride);
            total += ((size_t)ipt__batch_goes_up(operand, count) + ((operand->given.access & IPT_WRITE) != 0)) *
                     ipt__area_bytes(&area);
        }
    return total;
}

/* Runs all chunks. After a failure, waits for the chunks in flight. */
static ipt_result ipt__batch_stream(ipt__batch_run *run)
{
    const ipt__batch_problem *const problem = &run->batch->problem;
    ipt_result result = IPT_SUCCESS, its;
    size_t first, turn = 0, s;
    for (first = 0; first < problem->count && !result && !run->cancelled; first += run->chunk, ++turn) {
        ipt__batch_slot *const slot = &run->ring[turn % run->slot_count];
        result = ipt__batch_wait(run, slot);
        if (!result && !run->cancelled)
            result = ipt__batch_enqueue_chunk(run, slot, first, ipt__min(run->chunk, problem->count - first));
    }
    for (s = 0; s < run->slot_count; ++s, ++turn) {
        ipt__batch_slot *const slot = &run->ring[turn % run->slot_count];
        if (result)
            ipt__calls(run->batch->context)
                ->clFinish(slot->queue); /* commands in flight must not use the caller's memory after the return */
        its = ipt__batch_wait(run, slot);
        result = result ? result : its;
    }
    return result;
}

#endif

IPT_API ipt_result ipt_batch_execute_host_sized(size_t options_bytes, ipt_batch *batch, void *const *memory,
                                                const void *argument, const ipt_host_options *options)
{
#ifdef IPT_NO_HOST_STREAMING
    (void)options_bytes, (void)batch, (void)memory, (void)argument, (void)options;
    return ipt__fail(IPT_ERROR_UNSUPPORTED,
                     "ipt was compiled with IPT_NO_HOST_STREAMING: batches are in device buffers");
#else
    ipt_host_options taken;
    ipt__batch_run run;
    ipt_result result;
    size_t i;
    memset(&taken, 0, sizeof taken);
    if (!batch || !memory)
        return ipt__fail_null(batch ? "memory" : "batch");
    result = options ? ipt__take_desc(&taken, sizeof taken, options, options_bytes, "options") : IPT_SUCCESS;
    result = result ? result : ipt__batch_check_run(batch, argument);
    for (i = 0; i < batch->problem.operand_count && !result; ++i)
        if (!memory[i])
            result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "memory[%zu], of operand %s, is NULL", i,
                               batch->problem.operands[i].given.name);
    if (result)
        return result;
    memset(&run, 0, sizeof run);
    run.batch = batch;
    run.memory = (char *const *)memory;
    run.argument = argument;
    run.options = &taken;
    result = ipt__batch_open_smaller(&run);
    if (!result) {
        run.total = ipt__batch_total(&run);
        result = ipt__batch_stream(&run);
    }
    ipt__batch_close(&run);
    if (result && run.written)
        return ipt__fail_incomplete("it happened after the first chunk was written, so some elements are results");
    if (!result && run.cancelled && run.done < run.total)
        return run.written
                   ? ipt__fail(IPT_ERROR_INCOMPLETE, "cancelled after a chunk was written: some elements are results")
                   : ipt__fail(IPT_ERROR_CANCELLED, "cancelled before a chunk was written: all is unchanged");
    return result;
#endif
}
