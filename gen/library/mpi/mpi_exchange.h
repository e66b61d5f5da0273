/* The exchange of blocks between ranks. */

/* A block: in host memory, or on the device, with an address for MPI if it is aware of the device. */
typedef struct ipt__mpi_place {
    char *host;
    cl_mem buffer;
    size_t offset;
    char *address;
} ipt__mpi_place;

/* A step in flight. */
typedef struct ipt__mpi_slot {
    ipt__mpi_step step;
    MPI_Request send, receive;
    cl_event read, written; /* device memory only */
    int sent;
} ipt__mpi_slot;

typedef struct ipt__mpi_run {
    ipt_mpi_plan *plan;
    ipt__mpi_place place;
    const ipt_host_options *options;
    size_t done, total; /* bytes of progress */
    size_t base, part;  /* bytes of progress before the current local step, and of this step */
    int cancelled;
    int square;        /* this execution takes the way of mpi/square.h */
    ipt_result result; /* the first failure of the exchange, which continues so that no rank waits for this one */
    char cause[IPT__CAUSE_BYTES]; /* error text of result */
    ipt__mpi_slot ring[IPT__MPI_DEPTH];
} ipt__mpi_run;

static void ipt__mpi_progress(ipt__mpi_run *run, size_t bytes)
{
    run->done += bytes;
    if (run->options->progress && run->options->progress(run->done, run->total, run->options->user))
        run->cancelled = 1;
}

/* Records a failure with its text, unless an earlier one is recorded. */
static void ipt__mpi_note(ipt__mpi_run *run, ipt_result result)
{
    if (!result || run->result)
        return;
    run->result = result;
    ipt__keep_cause(run->cause);
}

static void ipt__mpi_note_call(ipt__mpi_run *run, const char *call, int error)
{
    if (error)
        ipt__mpi_note(run, ipt__fail_mpi(call, error));
}

static void ipt__mpi_note_cl(ipt__mpi_run *run, const char *call, cl_int error)
{
    if (error)
        ipt__mpi_note(run, ipt__fail_opencl(call, error));
}

/* Transfers bytes at `at` of the block on the device to or from host memory. event: NULL waits for the end. */
static void ipt__mpi_transfer(ipt__mpi_run *run, int download, size_t at, size_t bytes, char *memory, cl_event *event)
{
    const ipt__mpi_place *const place = &run->place;
    const cl_command_queue queue = download ? run->plan->reads : run->plan->writes;
    const cl_bool waits = event ? CL_FALSE : CL_TRUE;
    if (download)
        ipt__mpi_note_cl(
            run, "clEnqueueReadBuffer",
            ipt__calls(run->plan->context)
                ->clEnqueueReadBuffer(queue, place->buffer, waits, place->offset + at, bytes, memory, 0, NULL, event));
    else
        ipt__mpi_note_cl(
            run, "clEnqueueWriteBuffer",
            ipt__calls(run->plan->context)
                ->clEnqueueWriteBuffer(queue, place->buffer, waits, place->offset + at, bytes, memory, 0, NULL, event));
    ipt__calls(run->plan->context)->clFlush(queue);
}

/* Waits for an event of a transfer, if any, and releases it. */
static void ipt__mpi_await(ipt__mpi_run *run, cl_event *event)
{
    if (!*event)
        return;
    ipt__mpi_note(run, ipt__wait_for(run->plan->context, *event));
    ipt__calls(run->plan->context)->clReleaseEvent(*event);
    *event = NULL;
}

/* Memory for the message that slot number `slot` receives (half 0) or sends (half 1). */
static char *ipt__mpi_memory(const ipt__mpi_run *run, size_t slot, size_t half)
{
    const ipt_mpi_plan *const plan = run->plan;
    char *const from = run->place.address ? plan->device_address : plan->window;
    return from + (half * (size_t)plan->depth + slot) * plan->shape.chunk;
}

/* Begins to receive the message of a step. */
static void ipt__mpi_receive(ipt__mpi_run *run, ipt__mpi_slot *slot, char *memory)
{
    slot->receive = MPI_REQUEST_NULL;
    if (slot->step.received)
        ipt__mpi_note_call(run, "MPI_Irecv",
                           MPI_Irecv(memory, (int)slot->step.received, MPI_BYTE, slot->step.peer, 0,
                                     run->plan->communicator, &slot->receive));
}

/* Begins to send the message of a step. */
static void ipt__mpi_transmit(ipt__mpi_run *run, ipt__mpi_slot *slot, const char *memory)
{
    slot->send = MPI_REQUEST_NULL;
    if (slot->step.sent)
        ipt__mpi_note_call(run, "MPI_Isend",
                           MPI_Isend(memory, (int)slot->step.sent, MPI_BYTE, slot->step.peer, 0,
                                     run->plan->communicator, &slot->send));
}

/* Waits for both messages of a step, and checks the received message's size. */
static void ipt__mpi_complete(ipt__mpi_run *run, ipt__mpi_slot *slot)
{
    MPI_Status status;
    int error, count = 0;
    ipt__mpi_note_call(run, "MPI_Wait", MPI_Wait(&slot->send, MPI_STATUS_IGNORE));
    error = MPI_Wait(&slot->receive, &status);
    ipt__mpi_note_call(run, "MPI_Wait", error);
    if (error || !slot->step.received || run->result)
        return;
    ipt__mpi_note_call(run, "MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &count));
    if (count != (int)slot->step.received)
        ipt__mpi_note(run, ipt__fail(IPT_ERROR_MPI, "a message from rank %d has %d bytes instead of %zu",
                                     slot->step.peer, count, slot->step.received));
}

/* Begins a step: starts to receive its message, and downloads the message to send. Messages of phase IN are received at
 * their final places. */
static void ipt__mpi_begin(ipt__mpi_run *run, size_t number, ipt__mpi_phase phase)
{
    ipt__mpi_slot *const slot = &run->ring[number];
    const ipt__mpi_step *const step = &slot->step;
    char *memory = ipt__mpi_memory(run, number, 0);
    ipt__mpi_await(run, &slot->written);
    slot->sent = 0;
    if (phase == IPT__MPI_IN && !run->place.buffer)
        memory = run->place.host + step->at;
    else if (phase == IPT__MPI_IN && run->place.address)
        memory = run->place.address + step->at;
    ipt__mpi_receive(run, slot, memory);
    if (step->sent && run->place.buffer && !run->place.address)
        ipt__mpi_transfer(run, 1, step->at, step->sent, ipt__mpi_memory(run, number, 1), &slot->read);
}

/* Sends a step's message. After a failure the content is undefined, but the partner must not wait for ever. */
static void ipt__mpi_send(ipt__mpi_run *run, size_t number)
{
    ipt__mpi_slot *const slot = &run->ring[number];
    const char *const memory = !run->place.buffer   ? run->place.host + slot->step.at
                               : run->place.address ? run->place.address + slot->step.at
                                                    : ipt__mpi_memory(run, number, 1);
    slot->sent = 1;
    ipt__mpi_await(run, &slot->read);
    ipt__mpi_transmit(run, slot, memory);
}

/* Waits for a step's messages, and copies the received one over the sent one. */
static void ipt__mpi_end(ipt__mpi_run *run, size_t number, ipt__mpi_phase phase)
{
    ipt_mpi_plan *const plan = run->plan;
    ipt__mpi_slot *const slot = &run->ring[number];
    const ipt__mpi_step *const step = &slot->step;
    char *const memory = ipt__mpi_memory(run, number, 0);
    cl_int error;
    ipt__mpi_complete(run, slot);
    if (step->received && !run->place.buffer && phase != IPT__MPI_IN)
        memcpy(run->place.host + step->at, memory, step->received);
    else if (step->received && run->place.buffer && !run->place.address)
        ipt__mpi_transfer(run, 0, step->at, step->received, memory, &slot->written);
    else if (step->received && run->place.address && phase != IPT__MPI_IN) {
        error =
            ipt__calls(run->plan->context)
                ->clEnqueueCopyBuffer(plan->writes, plan->device_window, run->place.buffer, number * plan->shape.chunk,
                                      run->place.offset + step->at, step->received, 0, NULL, &slot->written);
        ipt__mpi_note_cl(run, "clEnqueueCopyBuffer", error);
        ipt__calls(run->plan->context)->clFlush(plan->writes);
    }
    ipt__mpi_progress(run, step->sent + step->received);
}

/* Runs the steps of SWAP and OUT, or of IN. Up to plan->depth steps are in flight. Each rank waits for its oldest step
 * only. All ranks follow one sequence of pairs, so the oldest pair of all is always under way on both of its ranks. */
static void ipt__mpi_run_steps(ipt__mpi_run *run, ipt__mpi_phase first, ipt__mpi_phase last)
{
    ipt_mpi_plan *const plan = run->plan;
    const size_t depth = (size_t)plan->depth;
    ipt__mpi_phase phases[IPT__MPI_DEPTH];
    ipt__mpi_cursor cursor = {first, 0, 0};
    size_t begun = 0, ended = 0, i;
    int more = 1;
    while (more || ended < begun) {
        while (more && begun - ended < depth) {
            const size_t number = begun % depth;
            if (ipt__mpi_next(&plan->shape, &cursor, &run->ring[number].step)) {
                phases[number] = cursor.phase;
                ipt__mpi_begin(run, number, cursor.phase);
                ++begun;
            } else if (cursor.phase == last) {
                more = 0;
            } else {
                cursor.phase = IPT__MPI_OUT;
                cursor.turn = 0;
                cursor.done = 0;
            }
        }
        for (i = ended; i < begun; ++i)
            if (!run->ring[i % depth].sent)
                ipt__mpi_send(run, i % depth);
        if (ended < begun) {
            ipt__mpi_end(run, ended % depth, phases[ended % depth]);
            ++ended;
        }
    }
    for (i = 0; i < depth; ++i)
        ipt__mpi_await(run, &run->ring[i].written);
}

/* Moves bytes within a block on the device, through memory for messages. Ranges may overlap. */
static void ipt__mpi_shift_device(ipt__mpi_run *run, const ipt__mpi_shift *shift)
{
    ipt_mpi_plan *const plan = run->plan;
    size_t done, bytes;
    for (done = 0; done < shift->bytes; done += bytes) {
        const size_t left = shift->bytes - done;
        size_t at;
        bytes = ipt__min(plan->shape.chunk, left);
        at = shift->to < shift->from ? done : left - bytes; /* upward from the end */
        ipt__mpi_transfer(run, 1, shift->from + at, bytes, plan->window, NULL);
        ipt__mpi_transfer(run, 0, shift->to + at, bytes, plan->window, NULL);
    }
}

/* Moves all pieces to their final places, see ipt__mpi_shift_at. */
static void ipt__mpi_shift_all(ipt__mpi_run *run)
{
    int turn;
    for (turn = 0; turn < 2 * run->plan->shape.ranks; ++turn) {
        const ipt__mpi_shift shift = ipt__mpi_shift_at(&run->plan->shape, turn);
        if (shift.bytes && run->place.buffer)
            ipt__mpi_shift_device(run, &shift);
        else if (shift.bytes)
            memmove(run->place.host + shift.to, run->place.host + shift.from, shift.bytes);
    }
}

/* Exchanges in place. */
static void ipt__mpi_exchange(ipt__mpi_run *run)
{
    ipt__mpi_run_steps(run, IPT__MPI_SWAP, IPT__MPI_OUT);
    ipt__mpi_shift_all(run);
    ipt__mpi_run_steps(run, IPT__MPI_IN, IPT__MPI_IN);
}

/* ---- IPT_MPI_BUFFERED ---- */

/* Whether an int, the type of MPI's counts, suffices for a block's elements. */
static int ipt__mpi_counts_fit(const ipt__mpi_shape *shape)
{
    const size_t most = ~0u >> 1;
    int i;
    for (i = 0; i < shape->ranks; ++i)
        if (ipt__mpi_block_bytes(shape, i, 0) / shape->size > most ||
            ipt__mpi_block_bytes(shape, i, 1) / shape->size > most)
            return 0;
    return shape->size <= most;
}

/* Exchanges through the second block, from host memory `data`. */
static void ipt__mpi_exchange_buffered(ipt__mpi_run *run, char *data)
{
    const ipt_mpi_plan *const plan = run->plan;
    const ipt__mpi_shape *const shape = &plan->shape;
    const int ranks = shape->ranks;
    int *const numbers = plan->numbers, i;
    for (i = 0; i < ranks; ++i) {
        numbers[i] = (int)(ipt__mpi_piece(shape, shape->rank, i) / shape->size);
        numbers[ranks + i] = (int)(ipt__mpi_piece_at(shape, i) / shape->size);
        numbers[2 * ranks + i] = (int)(ipt__mpi_piece(shape, i, shape->rank) / shape->size);
        numbers[3 * ranks + i] = (int)(ipt__mpi_piece_out_at(shape, i) / shape->size);
    }
    ipt__mpi_note_call(run, "MPI_Alltoallv",
                       MPI_Alltoallv(data, numbers, numbers + ranks, plan->element, plan->second, numbers + 2 * ranks,
                                     numbers + 3 * ranks, plan->element, plan->communicator));
    if (plan->second)
        memcpy(data, plan->second, ipt__mpi_block_bytes(shape, shape->rank, 1));
    ipt__mpi_progress(run, ipt__mpi_message_bytes(shape));
}
