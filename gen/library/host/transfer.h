/* Host matrices: areas and transfers. */

/* A host matrix is moved in parts. One matrix is cut along its longer side. Each part is transposed as soon as it is on
 * the device, while other parts are transferred. Strided transfers replace the shuffle of the two-pass method. A part
 * of a tall matrix has a stride in the result, a part of a wide matrix in the source. Downloads begin after the last
 * upload, so the host's matrix is unchanged until then. Batches are cut between matrices. Their downloads overlap with
 * the uploads of later parts. */

typedef struct ipt__host_run {
    ipt_plan *plan;
    char *data;
    const ipt_host_options *options;
    size_t done, total;     /* bytes over the bus */
    int cancelled, written; /* written: data may contain parts of the result */
    int pinned;
} ipt__host_run;

/* Reports progress. The callback may cancel. */
static void ipt__host_progress(ipt__host_run *run, size_t bytes)
{
    run->done += bytes;
    if (run->options->progress && run->options->progress(run->done, run->total, run->options->user))
        run->cancelled = 1;
}

static ipt__rect ipt__rect_of(size_t offset, size_t rows, size_t row_bytes, size_t pitch)
{
    ipt__rect rect;
    rect.offset = offset;
    rect.rows = rows;
    rect.row_bytes = row_bytes;
    rect.pitch = pitch;
    return rect;
}

/* The two ends of a transfer of rows: the device, and memory that the device accesses directly. */
typedef struct ipt__way {
    const ipt_context *context;
    cl_command_queue queue;
    cl_mem buffer;
    size_t device; /* bytes into the buffer */
    char *host;
    int download;
    int mirrors; /* rows have the host's pitch on the device, too; 0: they are contiguous there */
} ipt__way;

/* Enqueues a transfer of rows. event NULL: waits for it, without a wait list. */
static ipt_result ipt__rect_transfer(const ipt__way *way, const ipt__rect *rect, cl_uint wait_count,
                                     const cl_event *wait, cl_event *event)
{
    const cl_command_queue queue = way->queue;
    const cl_mem buffer = way->buffer;
    const cl_bool blocks = event ? CL_FALSE : CL_TRUE;
    const int download = way->download;
    char *const host = way->host + rect->offset;
    const size_t pitch = way->mirrors ? rect->pitch : rect->row_bytes;
    const int dense = rect->rows == 1 || rect->row_bytes == rect->pitch;
    /* Drivers limit the pitch of a rectangle, some to 2 GiB. Longer pitches go row by row; the queue is in order. */
    const size_t pieces = dense || rect->pitch < (size_t)1 << 30 ? 1 : rect->rows;
    const size_t bytes = rect->rows * rect->row_bytes / pieces;
    cl_event last = NULL;
    cl_int error = CL_SUCCESS;
    size_t i;
    if (!dense && pieces == 1) {
        const size_t device_origin[3] = {way->device, 0, 0}, host_origin[3] = {0, 0, 0},
                     region[3] = {rect->row_bytes, rect->rows, 1};
        error = download ? ipt__calls(way->context)
                               ->clEnqueueReadBufferRect(queue, buffer, blocks, device_origin, host_origin, region,
                                                         pitch, 0, rect->pitch, 0, host, wait_count, wait, event)
                         : ipt__calls(way->context)
                               ->clEnqueueWriteBufferRect(queue, buffer, blocks, device_origin, host_origin, region,
                                                          pitch, 0, rect->pitch, 0, host, wait_count, wait, event);
        return error ? ipt__fail_opencl(download ? "clEnqueueReadBufferRect" : "clEnqueueWriteBufferRect", error)
                     : IPT_SUCCESS;
    }
    for (i = 0; i < pieces && !error; ++i) { /* each piece waits for the previous one, so the last event covers all */
        const size_t device = way->device + i * pitch;
        const cl_uint waits = last ? 1 : wait_count;
        const cl_event *const list = last ? &last : wait;
        cl_event next = NULL, *const its = event ? &next : NULL;
        error = download ? ipt__calls(way->context)
                               ->clEnqueueReadBuffer(queue, buffer, blocks, device, bytes, host + i * rect->pitch,
                                                     waits, list, its)
                         : ipt__calls(way->context)
                               ->clEnqueueWriteBuffer(queue, buffer, blocks, device, bytes, host + i * rect->pitch,
                                                      waits, list, its);
        if (last)
            ipt__calls(way->context)->clReleaseEvent(last);
        last = next;
    }
    if (event)
        *event = last;
    return error ? ipt__fail_opencl(download ? "clEnqueueReadBuffer" : "clEnqueueWriteBuffer", error) : IPT_SUCCESS;
}

/* Copies the elements of one view between host memory and a buffer, and waits: rectangles of the two axes with the
 * smallest strides. */
static IPT__RARE ipt_result ipt__transfer_view(ipt__way *way, const ipt__array *array)
{
    const size_t *const strides = array->strides[way->download];
    ipt__rect rect = ipt__rect_of(0, 1, array->elem_size, array->elem_size);
    ipt_result result = IPT_SUCCESS;
    int order[IPT_MAX_RANK], outer = array->count, i;
    size_t n, number = 1, rest;
    for (i = 0; i < array->count; ++i)
        order[i] = way->download ? ipt__axis_at(array->goal, i) : i;
    if (strides[order[outer - 1]] == array->elem_size)
        rect.row_bytes = rect.pitch = array->elem_size * array->lengths[order[--outer]];
    if (outer) {
        rect.rows = array->lengths[order[--outer]];
        rect.pitch = strides[order[outer]];
    }
    for (i = 0; i < outer; ++i)
        number *= array->lengths[order[i]];
    for (n = 0; n < number && !result; ++n) {
        for (i = outer, rest = n, rect.offset = 0; i-- > 0; rest /= array->lengths[order[i]])
            rect.offset += rest % array->lengths[order[i]] * strides[order[i]];
        way->device = rect.offset;
        result = ipt__rect_transfer(way, &rect, 0, NULL, NULL);
    }
    return result;
}

/* Copies a plan's batch between host memory and a buffer with the same pitches, and waits. Bytes between the matrices,
 * and between their rows, stay untouched. */
static IPT__RARE ipt_result ipt__transfer(const ipt_plan *plan, cl_mem buffer, char *data, int download)
{
    const ipt__problem *const problem = &plan->problem;
    const ipt_plan_desc *const desc = &problem->desc;
    const int across = download && ipt__moves[desc->move].transposed;
    ipt__rect rect = ipt__rect_of(0, desc->batch, problem->matrix_bytes, desc->batch_stride);
    size_t repeats = 1;
    ipt__way way;
    ipt_result result = IPT_SUCCESS;
    way.context = plan->context;
    way.queue = plan->context->queue;
    way.buffer = buffer;
    way.device = 0;
    way.host = data;
    way.download = download;
    way.mirrors = 1;
    if (ipt__is_view(problem))
        return ipt__transfer_view(&way, &problem->array);
    if (problem->pitched) {
        rect = ipt__rect_of(0, across ? desc->cols : desc->rows, (across ? desc->rows : desc->cols) * desc->elem_size,
                            (download ? problem->result_row : problem->source_row) * problem->unit_bytes);
        repeats = desc->batch;
    }
    for (; repeats && !result; --repeats) {
        result = ipt__rect_transfer(&way, &rect, 0, NULL, NULL);
        way.device = rect.offset += desc->batch_stride;
    }
    return result;
}

#ifndef IPT_NO_HOST_STREAMING
/* ---- threads ---- */

/* One job of a thread. */
typedef struct ipt__task {
    void (*work)(void *job);
    void *job;
} ipt__task;

#ifndef IPT_NO_THREADS
static IPT__THREAD_RESULT ipt__task_main(void *argument)
{
    const ipt__task *const task = (const ipt__task *)argument;
    task->work(task->job);
    return IPT__THREAD_RETURN;
}
#endif

/* Runs `count` jobs, 32 at most, and returns when all have ended. The calling thread runs the first job, and the job of
 * each thread that cannot start. Other threads run the other jobs. */
static void ipt__run_together(void (*work)(void *job), void *jobs, size_t job_bytes, int count)
{
    enum { MOST = 32 };
    ipt__task tasks[MOST];
    int i;
#ifndef IPT_NO_THREADS
    ipt__thread threads[MOST];
    int started[MOST] = {0};
#endif
    for (i = 0; i < count; ++i) {
        tasks[i].work = work;
        tasks[i].job = (char *)jobs + (size_t)i * job_bytes;
#ifndef IPT_NO_THREADS
        started[i] = i && IPT__THREAD_START(&threads[i], ipt__task_main, &tasks[i]);
#endif
    }
    for (i = 0; i < count; ++i)
#ifndef IPT_NO_THREADS
        if (!started[i])
#endif
            work(tasks[i].job);
#ifndef IPT_NO_THREADS
    for (i = 1; i < count; ++i)
        if (started[i])
            IPT__THREAD_JOIN(threads[i]);
#endif
}

/* ---- areas of parts and their transfers ---- */

static void ipt__host_forget(const ipt__host_share *share, cl_event *event)
{
    if (*event)
        ipt__calls(share->context)->clReleaseEvent(*event);
    *event = NULL;
}

static size_t ipt__area_bytes(const ipt__area *area)
{
    size_t bytes = 0;
    int i;
    for (i = 0; i < area->count; ++i)
        bytes += area->rects[i].rows * area->rects[i].row_bytes;
    return bytes;
}

static void ipt__area_add(ipt__area *area, size_t offset, size_t rows, size_t row_bytes, size_t pitch)
{
    if (rows && row_bytes)
        area->rects[area->count++] = ipt__rect_of(offset, rows, row_bytes, pitch);
}

static IPT__RARE ipt__area ipt__area_of(size_t offset, size_t rows, size_t row_bytes, size_t pitch)
{
    ipt__area area;
    memset(&area, 0, sizeof area);
    ipt__area_add(&area, offset, rows, row_bytes, pitch);
    return area;
}

/* Enqueues a part's transfer. Each rectangle waits for the previous one, so the last event reports all failures. */
static ipt_result ipt__host_transfer(const ipt__host_part *part, char *data, int download, cl_uint wait_count,
                                     const cl_event *wait, cl_event *event)
{
    const ipt__area *const area = download ? &part->down : &part->up;
    ipt__way way;
    cl_event last = NULL;
    int i;
    way.context = part->share->context;
    way.queue = part->queue;
    way.buffer = part->share->buffer;
    way.device = part->device;
    way.host = data;
    way.download = download;
    way.mirrors = 0;
    for (i = 0; i < area->count; ++i) {
        const ipt__rect *const rect = &area->rects[i];
        cl_event next = NULL;
        const ipt_result result = ipt__rect_transfer(&way, rect, last ? 1 : wait_count, last ? &last : wait, &next);
        if (last)
            ipt__calls(part->share->context)->clReleaseEvent(last);
        if (result)
            return result;
        last = next;
        way.device += rect->rows * rect->row_bytes;
    }
    *event = last;
    ipt__calls(part->share->context)->clFlush(part->queue);
    return IPT_SUCCESS;
}

/* Returns the bytes from byte `at` of an area's dense form on that are contiguous in its matrix, up to byte `end`.
 * *place: their offset in the matrix. */
static size_t ipt__area_run(const ipt__area *area, size_t at, size_t end, size_t *place)
{
    const ipt__rect *rect = area->rects;
    size_t row, within;
    for (; at >= rect->rows * rect->row_bytes; ++rect) {
        at -= rect->rows * rect->row_bytes;
        end -= rect->rows * rect->row_bytes;
    }
    row = at / rect->row_bytes;
    within = at - row * rect->row_bytes;
    *place = rect->offset + row * rect->pitch + within;
    return ipt__min(end - at, rect->row_bytes - within);
}

/* Copies bytes [begin, end) of an area's dense form to or from the host's matrix. */
static void ipt__area_copy(const ipt__area *area, char *data, char *dense, size_t begin, size_t end, int download)
{
    size_t place, bytes;
    for (; begin < end; begin += bytes, dense += bytes) {
        bytes = ipt__area_run(area, begin, end, &place);
        if (download)
            memcpy(data + place, dense, bytes);
        else
            memcpy(dense, data + place, bytes);
    }
}

#ifndef IPT_NO_THREADS

/* A thread that transfers every count-th piece of a part. */
typedef struct ipt__host_lane {
    const ipt__host_part *part;
    char *data;
    size_t bytes; /* of the part */
    cl_event busy[IPT__HOST_SLOTS];
    int index, count, download;
    ipt_result result;
    char error[256];
} ipt__host_lane;

static char *ipt__host_lane_slot(const ipt__host_lane *lane, int slot)
{
    return lane->part->share->ring.memory + (size_t)(lane->index * IPT__HOST_SLOTS + slot) * IPT__HOST_SLOT_BYTES;
}

/* Waits until no command uses a slot of a lane. */
static void ipt__host_lane_wait(ipt__host_lane *lane, int slot)
{
    ipt_result result;
    if (!lane->busy[slot])
        return;
    result = ipt__wait_for(lane->part->share->context, lane->busy[slot]);
    lane->result = lane->result ? lane->result : result;
    ipt__host_forget(lane->part->share, &lane->busy[slot]);
}

/* Enqueues the transfer of piece `index` between a slot and the device. */
static void ipt__host_lane_enqueue(ipt__host_lane *lane, size_t index, int slot)
{
    const ipt__host_share *const share = lane->part->share;
    const cl_command_queue queue = share->queues[lane->index % share->queue_count];
    char *const memory = ipt__host_lane_slot(lane, slot);
    const size_t begin = index * IPT__HOST_SLOT_BYTES, device = lane->part->device + begin,
                 bytes = ipt__min(IPT__HOST_SLOT_BYTES, lane->bytes - begin);
    const cl_int error = lane->download ? ipt__calls(share->context)
                                              ->clEnqueueReadBuffer(queue, share->buffer, CL_FALSE, device, bytes,
                                                                    memory, 0, NULL, &lane->busy[slot])
                                        : ipt__calls(share->context)
                                              ->clEnqueueWriteBuffer(queue, share->buffer, CL_FALSE, device, bytes,
                                                                     memory, 0, NULL, &lane->busy[slot]);
    if (error)
        lane->result = ipt__fail_opencl(lane->download ? "clEnqueueReadBuffer" : "clEnqueueWriteBuffer", error);
    else
        ipt__calls(share->context)->clFlush(queue);
}

/* Moves every count-th piece of a part through pinned memory. One slot is copied while the other is on the bus. */
static void ipt__host_lane_run(void *job)
{
    ipt__host_lane *const lane = (ipt__host_lane *)job;
    const ipt__area *const area = lane->download ? &lane->part->down : &lane->part->up;
    const size_t step = (size_t)lane->count, pieces = ipt__ceil_divide(lane->bytes, IPT__HOST_SLOT_BYTES);
    size_t piece = (size_t)lane->index;
    int slot;
    if (lane->download)
        ipt__host_lane_enqueue(lane, piece, 0);
    for (slot = 0; piece < pieces && !lane->result; piece += step, slot ^= 1) {
        const size_t begin = piece * IPT__HOST_SLOT_BYTES, end = ipt__min(begin + IPT__HOST_SLOT_BYTES, lane->bytes);
        if (lane->download && piece + step < pieces)
            ipt__host_lane_enqueue(lane, piece + step, slot ^ 1);
        ipt__host_lane_wait(lane, slot);
        if (!lane->result)
            ipt__area_copy(area, lane->data, ipt__host_lane_slot(lane, slot), begin, end, lane->download);
        if (!lane->result && !lane->download)
            ipt__host_lane_enqueue(lane, piece, slot);
    }
    for (slot = 0; slot < IPT__HOST_SLOTS; ++slot)
        ipt__host_lane_wait(lane, slot);
    if (lane->result) { /* the error text is local to its thread */
        memcpy(lane->error, ipt__error_text, sizeof lane->error - 1);
        lane->error[sizeof lane->error - 1] = 0;
    }
}

/* Moves a part through pinned memory with several threads. */
static ipt_result ipt__host_staged(const ipt__host_part *part, char *data, int download)
{
    ipt__host_lane lanes[IPT__HOST_THREADS];
    const size_t bytes = ipt__area_bytes(download ? &part->down : &part->up);
    const int count = (int)ipt__min(ipt__ceil_divide(bytes, IPT__HOST_SLOT_BYTES), (size_t)IPT__HOST_THREADS);
    int i;
    memset(lanes, 0, sizeof lanes);
    for (i = 0; i < count; ++i) {
        lanes[i].part = part;
        lanes[i].data = data;
        lanes[i].bytes = bytes;
        lanes[i].index = i;
        lanes[i].count = count;
        lanes[i].download = download;
    }
    ipt__run_together(ipt__host_lane_run, lanes, sizeof *lanes, count);
    for (i = 0; i < count; ++i)
        if (lanes[i].result)
            return ipt__fail(lanes[i].result, "%s", lanes[i].error);
    return IPT_SUCCESS;
}

#endif

/* Moves a part. *event completes after its last transfer. The device transfers pinned matrices directly. Other matrices
 * go through the share's pinned memory, if it has any. */
static IPT__RARE ipt_result ipt__host_move(ipt__host_run *run, ipt__host_part *part, int download, cl_uint wait_count,
                                           const cl_event *wait, cl_event *event)
{
#ifndef IPT_NO_THREADS
    if (!run->pinned && part->share->ring.buffer) {
        ipt_result result = IPT_SUCCESS;
        cl_int error;
        cl_uint i;
        for (i = 0; i < wait_count && !result; ++i)
            result = ipt__wait_for(part->share->context, wait[i]);
        if (!result)
            result = ipt__host_staged(part, run->data, download);
        if (result)
            return result;
        error = ipt__calls(part->share->context)->clEnqueueMarkerWithWaitList(part->queue, 0, NULL, event);
        return error ? ipt__fail_opencl("clEnqueueMarkerWithWaitList", error) : IPT_SUCCESS;
    }
#endif
    return ipt__host_transfer(part, run->data, download, wait_count, wait, event);
}
#endif
