/* Host matrices: areas and transfers. */

/* A host matrix is moved in parts. One matrix is cut along its longer side. Each part is transposed as soon as it is
 * on the device, while other parts are transferred. Strided transfers replace the shuffle of the two-pass method. A
 * tall matrix's part has a stride in the result, a wide one's in the source. Downloads begin after the last upload,
 * so the host's matrix is unchanged until then. Batches are cut between matrices: downloads overlap with the uploads
 * of later parts. */

typedef struct ipt__host_run {
    ipt_plan *plan;
    char *data;
    const ipt_host_options *options;
    size_t done, total;     /* bytes over the bus */
    int cancelled, written; /* data may already contain parts of the result */
    int pinned;
} ipt__host_run;

/* Reports progress. The callback may cancel. */
static void ipt__host_progress(ipt__host_run *run, size_t bytes)
{
    run->done += bytes;
    if (run->options->progress && run->options->progress(run->done, run->total, run->options->user))
        run->cancelled = 1;
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

/* Runs `count` jobs, 32 at most, on threads, the first one on this thread. Returns when all are done. If a thread
 * cannot start, this thread runs its job. */
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
    ipt__rect *const rect = &area->rects[area->count];
    if (!rows || !row_bytes)
        return;
    rect->offset = offset;
    rect->rows = rows;
    rect->row_bytes = row_bytes;
    rect->pitch = pitch;
    ++area->count;
}

static IPT__RARE ipt__area ipt__area_of(size_t offset, size_t rows, size_t row_bytes, size_t pitch)
{
    ipt__area area;
    memset(&area, 0, sizeof area);
    ipt__area_add(&area, offset, rows, row_bytes, pitch);
    return area;
}

/* The two ends of a transfer of rows: the device, and memory that the device accesses directly. */
typedef struct ipt__way {
    cl_command_queue queue;
    cl_mem buffer;
    size_t device; /* bytes into the buffer */
    char *host;
    int download;
} ipt__way;

/* Enqueues a transfer of rows. */
static ipt_result ipt__rect_transfer(const ipt__way *way, const ipt__rect *rect, cl_uint wait_count,
                                     const cl_event *wait, cl_event *event)
{
    const cl_command_queue queue = way->queue;
    const cl_mem buffer = way->buffer;
    const size_t device = way->device;
    const int download = way->download;
    char *const host = way->host + rect->offset;
    const int dense = rect->rows == 1 || rect->row_bytes == rect->pitch;
    /* Drivers limit the pitch of a rectangle, some to 2 GiB. Longer pitches go row by row; the queue is in order. */
    const size_t pieces = dense || rect->pitch < (size_t)1 << 30 ? 1 : rect->rows;
    const size_t bytes = rect->rows * rect->row_bytes / pieces;
    cl_event last = NULL;
    cl_int error = CL_SUCCESS;
    size_t i;
    if (!dense && pieces == 1) {
        const size_t device_origin[3] = {device, 0, 0}, host_origin[3] = {0, 0, 0},
                     region[3] = {rect->row_bytes, rect->rows, 1};
        error =
            download
                ? ipt__cl.clEnqueueReadBufferRect(queue, buffer, CL_FALSE, device_origin, host_origin, region,
                                                  rect->row_bytes, 0, rect->pitch, 0, host, wait_count, wait, event)
                : ipt__cl.clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, device_origin, host_origin, region,
                                                   rect->row_bytes, 0, rect->pitch, 0, host, wait_count, wait, event);
        return error ? ipt__fail_opencl(download ? "clEnqueueReadBufferRect" : "clEnqueueWriteBufferRect", error)
                     : IPT_SUCCESS;
    }
    for (i = 0; i < pieces && !error; ++i) { /* each waits for the previous one, so the last event covers all */
        const cl_uint waits = last ? 1 : wait_count;
        const cl_event *const list = last ? &last : wait;
        cl_event next = NULL;
        error = download ? ipt__cl.clEnqueueReadBuffer(queue, buffer, CL_FALSE, device + i * bytes, bytes,
                                                       host + i * rect->pitch, waits, list, &next)
                         : ipt__cl.clEnqueueWriteBuffer(queue, buffer, CL_FALSE, device + i * bytes, bytes,
                                                        host + i * rect->pitch, waits, list, &next);
        if (last)
            ipt__cl.clReleaseEvent(last);
        last = next;
    }
    *event = last;
    return error ? ipt__fail_opencl(download ? "clEnqueueReadBuffer" : "clEnqueueWriteBuffer", error) : IPT_SUCCESS;
}

/* Enqueues a part's transfer. Each piece waits for the previous one, so the last event reports a failure of any. */
static ipt_result ipt__host_transfer(const ipt__host_part *part, char *data, int download, cl_uint wait_count,
                                     const cl_event *wait, cl_event *event)
{
    const ipt__area *const area = download ? &part->down : &part->up;
    ipt__way way;
    cl_event last = NULL;
    int i;
    way.queue = part->queue;
    way.buffer = part->share->buffer;
    way.device = part->device;
    way.host = data;
    way.download = download;
    for (i = 0; i < area->count; ++i) {
        const ipt__rect *const rect = &area->rects[i];
        cl_event next = NULL;
        const ipt_result result = ipt__rect_transfer(&way, rect, last ? 1 : wait_count, last ? &last : wait, &next);
        if (last)
            ipt__cl.clReleaseEvent(last);
        if (result)
            return result;
        last = next;
        way.device += rect->rows * rect->row_bytes;
    }
    *event = last;
    ipt__cl.clFlush(part->queue);
    return IPT_SUCCESS;
}

/* Copies bytes [begin, end) of an area's dense form to or from the host's matrix. */
static void ipt__area_copy(const ipt__area *area, char *data, char *dense, size_t begin, size_t end, int download)
{
    int i;
    for (i = 0; i < area->count && begin < end; ++i) {
        const ipt__rect *const rect = &area->rects[i];
        const size_t all = rect->rows * rect->row_bytes;
        for (; begin < ipt__min(all, end);) {
            const size_t row = begin / rect->row_bytes, within = begin - row * rect->row_bytes,
                         bytes = ipt__min(ipt__min(all, end) - begin, rect->row_bytes - within);
            char *const host = data + rect->offset + row * rect->pitch + within;
            if (download)
                memcpy(host, dense, bytes);
            else
                memcpy(dense, host, bytes);
            dense += bytes;
            begin += bytes;
        }
        begin -= ipt__min(all, begin);
        end -= ipt__min(all, end);
    }
}

#ifndef IPT_NO_THREADS

/* One of several threads that each transfer every count-th piece. */
typedef struct ipt__host_lane {
    const ipt__host_part *part;
    char *data;
    cl_event busy[IPT__HOST_SLOTS];
    int index, count, download;
    ipt_result result;
    char error[256];
} ipt__host_lane;

/* Moves every count-th piece of a part through pinned memory. One slot is copied while the other is on the bus. */
static void ipt__host_lane_run(ipt__host_lane *lane)
{
    const ipt__host_part *const part = lane->part;
    const ipt__area *const area = lane->download ? &part->down : &part->up;
    const size_t all = ipt__area_bytes(area), slot = IPT__HOST_SLOT_BYTES;
    const cl_command_queue queue = part->share->queues[lane->index % part->share->queue_count];
    size_t piece = (size_t)lane->index, ahead;
    int turn = 0;
    lane->result = IPT_SUCCESS;
    for (ahead = piece; piece * slot < all && !lane->result; piece += (size_t)lane->count, turn ^= 1) {
        const size_t begin = piece * slot, bytes = ipt__min(slot, all - begin);
        char *const memory =
            part->share->ring + ((size_t)lane->index * IPT__HOST_SLOTS + (size_t)turn) * IPT__HOST_SLOT_BYTES;
        cl_int error = CL_SUCCESS;
        if (!lane->download) {
            if (lane->busy[turn]) {
                lane->result = ipt__wait_for(lane->busy[turn]);
                ipt__cl.clReleaseEvent(lane->busy[turn]);
                lane->busy[turn] = NULL;
            }
            if (lane->result)
                break;
            ipt__area_copy(area, lane->data, memory, begin, begin + bytes, 0);
            error = ipt__cl.clEnqueueWriteBuffer(queue, part->share->buffer, CL_FALSE, part->device + begin, bytes,
                                                 memory, 0, NULL, &lane->busy[turn]);
            if (error)
                lane->result = ipt__fail_opencl("clEnqueueWriteBuffer", error);
            else
                ipt__cl.clFlush(queue);
            continue;
        }
        /* The next piece is on the bus during the copy. */
        for (; ahead * slot < all && ahead <= piece + (size_t)lane->count && !lane->result;
             ahead += (size_t)lane->count) {
            const int its = (int)((ahead - (size_t)lane->index) / (size_t)lane->count % 2);
            const size_t its_bytes = ipt__min(slot, all - ahead * slot);
            error = ipt__cl.clEnqueueReadBuffer(
                queue, part->share->buffer, CL_FALSE, part->device + ahead * slot, its_bytes,
                part->share->ring + ((size_t)lane->index * IPT__HOST_SLOTS + (size_t)its) * IPT__HOST_SLOT_BYTES, 0,
                NULL, &lane->busy[its]);
            if (error)
                lane->result = ipt__fail_opencl("clEnqueueReadBuffer", error);
            else
                ipt__cl.clFlush(queue);
        }
        if (lane->busy[turn]) {
            const ipt_result waited = ipt__wait_for(lane->busy[turn]);
            lane->result = lane->result ? lane->result : waited;
            ipt__cl.clReleaseEvent(lane->busy[turn]);
            lane->busy[turn] = NULL;
        }
        if (!lane->result)
            ipt__area_copy(area, lane->data, memory, begin, begin + bytes, 1);
    }
    /* Wait, so that no command uses the slots after this. */
    for (turn = 0; turn < IPT__HOST_SLOTS; ++turn)
        if (lane->busy[turn]) {
            const ipt_result waited = ipt__wait_for(lane->busy[turn]);
            lane->result = lane->result ? lane->result : waited;
            ipt__cl.clReleaseEvent(lane->busy[turn]);
            lane->busy[turn] = NULL;
        }
    if (lane->result) { /* the error text is local to its thread */
        memcpy(lane->error, ipt__error_text, sizeof lane->error - 1);
        lane->error[sizeof lane->error - 1] = 0;
    }
}

static void ipt__host_lane_work(void *lane)
{
    ipt__host_lane_run((ipt__host_lane *)lane);
}

/* Moves a part through pinned memory with several threads. */
static ipt_result ipt__host_staged(const ipt__host_part *part, char *data, int download)
{
    ipt__host_lane lanes[IPT__HOST_THREADS];
    const size_t pieces = ipt__ceil_divide(ipt__area_bytes(download ? &part->down : &part->up), IPT__HOST_SLOT_BYTES);
    const int count = (int)ipt__min(pieces, (size_t)IPT__HOST_THREADS);
    int i;
    memset(lanes, 0, sizeof lanes);
    for (i = 0; i < count; ++i) {
        lanes[i].part = part;
        lanes[i].data = data;
        lanes[i].index = i;
        lanes[i].count = count;
        lanes[i].download = download;
    }
    ipt__run_together(ipt__host_lane_work, lanes, sizeof *lanes, count);
    for (i = 0; i < count; ++i)
        if (lanes[i].result)
            return ipt__fail(lanes[i].result, "%s", lanes[i].error);
    return IPT_SUCCESS;
}

#endif

/* Moves a part; the event follows its last transfer. The device transfers directly if it can, else this function
 * copies. */
static IPT__RARE ipt_result ipt__host_move(ipt__host_run *run, ipt__host_part *part, int download, cl_uint wait_count,
                                           const cl_event *wait, cl_event *event)
{
#ifndef IPT_NO_THREADS
    if (!run->pinned && part->share->pinned) {
        ipt_result result = IPT_SUCCESS;
        cl_int error;
        cl_uint i;
        for (i = 0; i < wait_count && !result; ++i)
            result = ipt__wait_for(wait[i]);
        if (!result)
            result = ipt__host_staged(part, run->data, download);
        if (result)
            return result;
        error = ipt__cl.clEnqueueMarkerWithWaitList(part->queue, 0, NULL, event);
        return error ? ipt__fail_opencl("clEnqueueMarkerWithWaitList", error) : IPT_SUCCESS;
    }
#endif
    return ipt__host_transfer(part, run->data, download, wait_count, wait, event);
}
#endif
