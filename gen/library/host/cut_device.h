/* Cut matrices: plans of the pieces, executions. */

/* Makes the desc of pieces that hold elements one of arrays, if the plan moves arrays or permutes columns. */
static IPT__RARE void ipt__cut_permute(const ipt__problem *problem, ipt_plan_desc *desc)
{
    const ipt__array *const array = &problem->array;
    const int tall = array->columns == 1, wide = array->columns == 2;
    int i;
    if (!array->count)
        return;
    desc->rank = (unsigned)(array->count + tall + wide);
    for (i = 0; i < array->count; ++i) {
        desc->shape[i + tall] = array->lengths[i];
        desc->axes[array->goal[i] + wide] = (unsigned)(i + tall);
    }
    if (tall || wide) {
        desc->shape[tall ? 0 : array->count] = tall ? desc->rows : desc->cols;
        desc->axes[tall ? array->count : 0] = (unsigned)(tall ? 0 : array->count);
    }
    desc->rows = desc->cols = 0;
    if (desc->host == IPT_HOST_OVERLAPPED || desc->host == IPT_HOST_STAGES)
        desc->host = IPT_HOST_AUTO; /* plans of several passes have no parts */
}

/* The desc of a plan for `count` pieces of rows x cols elements, or of super-elements. Pieces have no parts by stages.
 */
static IPT__RARE ipt_plan_desc ipt__cut_piece_desc(const ipt_plan *plan, size_t rows, size_t cols, size_t count,
                                                   ipt_host host)
{
    ipt_plan_desc desc = plan->problem.desc;
    desc.rows = rows;
    desc.cols = cols;
    desc.batch = count;
    desc.batch_stride = 0;
    desc.flags &= ~(IPT_MEASURE | IPT_OUT_OF_PLACE);
    desc.measure_buffer = NULL;
    desc.host = host == IPT_HOST_STAGES || (plan->problem.desc.max_workspace > 1 && host == IPT_HOST_OVERLAPPED)
                    ? IPT_HOST_SYNCHRONOUS
                    : host;
    desc.host_queues = 0;
    desc.max_device_memory = desc.max_host_memory = 0;
    return desc;
}

/* Makes a plan for pieces. */
static ipt_result ipt__cut_piece_plan(ipt_plan *plan, const ipt_plan_desc *desc, ipt_plan **made)
{
    const ipt_result result = plan->cut->make_piece(plan->host->staging.shares[0].context, desc, plan->workspace, made);
    if (!result)
        plan->enough = ipt__max(plan->enough, (*made)->enough);
    return result;
}

/* Makes the plans for whole chunks, the last chunk, the remainder and groups. */
static IPT__RARE ipt_result ipt__cut_plans(ipt_plan *plan, ipt_host host)
{
    const ipt__cut *const cut = &plan->cut->sizes;
    ipt_plan **const plans = plan->host->staging.shares[0].plans;
    const size_t whole = ipt__cut_count(plan, 0), last = ipt__cut_count(plan, cut->chunks - 1);
    const size_t rows = cut->matrices ? plan->problem.desc.rows : cut->tall ? cut->length : cut->shorter;
    const size_t cols = cut->matrices ? plan->problem.desc.cols : cut->tall ? cut->shorter : cut->length;
    ipt_plan_desc desc = ipt__cut_piece_desc(plan, rows, cols, whole, host);
    ipt_result result;
    ipt__cut_permute(&plan->problem, &desc);
    result = ipt__cut_piece_plan(plan, &desc, &plans[0]);
    if (!result && last != whole) {
        desc.batch = last;
        result = ipt__cut_piece_plan(plan, &desc, &plans[1]);
    }
    if (!result && cut->rest) {
        desc = ipt__cut_piece_desc(plan, cut->tall ? cut->rest : cut->shorter, cut->tall ? cut->shorter : cut->rest, 1,
                                   host);
        ipt__cut_permute(&plan->problem, &desc);
        result = ipt__cut_piece_plan(plan, &desc, &plans[IPT__CUT_PLAN_REST]);
    }
    if (!result && cut->group > 1) { /* of a group's super-elements; the chunks' plans apply the expression */
        desc = ipt__cut_piece_desc(plan, cut->tall ? cut->panels : cut->group, cut->tall ? cut->group : cut->panels, 1,
                                   host);
        desc.elem_size = cut->piece_bytes;
        ipt__desc_drop_expression(&desc);
        result = ipt__cut_piece_plan(plan, &desc, &plans[IPT__CUT_PLAN_GROUP]);
    }
    return result;
}

static ipt_plan *ipt__cut_plan_of(const ipt_plan *plan, size_t index)
{
    ipt_plan *const *const plans = plan->host->staging.shares[0].plans;
    return plans[ipt__cut_count(plan, index) != ipt__cut_count(plan, 0)];
}

/* Returns the limit of the workspace if device memory is limited to `limit` bytes. If max_workspace is 0, first lowers
 * it to a 64th of `limit`, but not below the smaller of 1 MiB and an eighth of `limit`. */
static size_t ipt__cut_workspace(const ipt_plan *plan, size_t limit)
{
    size_t *const allowed = &plan->workspace->limit;
    if (!plan->problem.desc.max_workspace)
        *allowed = ipt__max(ipt__min(*allowed, ipt__max(limit / 64, ipt__min((size_t)1 << 20, limit / 8))), 2);
    return *allowed;
}

/* `bytes`, limited to the largest buffer of the device. */
static size_t ipt__cut_most(const ipt_plan *plan, size_t bytes)
{
    return plan->cut->most ? ipt__min(plan->cut->most, bytes) : bytes;
}

/* The time of a matrix by blocks, in bytes that the bus moves as whole chunks. While the first quarter is uploaded
 * there is little to download, and the reverse. */
static double ipt__blocks_time(const ipt__problem *problem, const ipt__blocks *sizes)
{
    const ipt__tuning *const model = ipt__tuning_of(&problem->limits);
    return model->bus_blocks * ipt__real(sizes->bus_bytes) + model->bus_blocks_ends * ipt__real(problem->matrix_bytes);
}

/* The time of a matrix by bands: half of the runs cross the bus again. While the first band is uploaded there is
 * nothing to download, and the reverse. */
static double ipt__bus_bands_time(const ipt__problem *problem, const ipt__bus_bands *sizes)
{
    const ipt__tuning *const model = ipt__tuning_of(&problem->limits);
    const double bytes = ipt__real(problem->matrix_bytes), band = bytes / ipt__real(sizes->bands.number);
    return model->bus_bands * bytes +
           (bytes - band) * (1 + model->bus_run / (ipt__real(sizes->run_bytes) + (double)model->bus_run_more)) +
           model->bus_bands_ends * band;
}

/* Leaves a cut plan its panels only. */
static void ipt__bus_close(ipt_plan *plan)
{
    ipt__host *const host = &plan->host->staging;
    int i;
    for (i = 0; i < IPT__BLOCK_PLANS; ++i) {
        ipt_plan_destroy(host->shares[0].block_plans[i]);
        host->shares[0].block_plans[i] = NULL;
    }
    ipt__release(&plan->context->allocator, host->commands);
    host->commands = NULL;
    host->command_count = 0;
    memset(&plan->cut->blocks, 0, sizeof plan->cut->blocks);
    memset(&plan->cut->bus_bands, 0, sizeof plan->cut->bus_bands);
}

/* Chooses between blocks, bands and panels, and lists the commands of blocks or bands. */
static ipt_result ipt__bus_choose(ipt_plan *plan, size_t capacity)
{
    const ipt__problem *const problem = &plan->problem;
    ipt__blocks *const blocks = &plan->cut->blocks;
    ipt__bus_bands bands;
    if (!problem->array.count && ipt__blocks_choose(problem, capacity, blocks)) {
        const ipt_result result = ipt__blocks_list(plan, blocks);
        if (result)
            return result;
    }
    if (!ipt__bus_bands_choose(problem, capacity, &bands) ||
        (blocks->bus_bytes && ipt__blocks_time(problem, blocks) <= ipt__bus_bands_time(problem, &bands)))
        return IPT_SUCCESS;
    ipt__bus_close(plan);
    plan->cut->bus_bands = bands;
    return ipt__bus_list_make(plan, &plan->cut->bus_bands);
}

/* Bytes of device memory for blocks or bands. */
static size_t ipt__bus_device_bytes(const ipt__cut_plan *plan)
{
    return plan->bus_bands.bus_bytes ? plan->bus_bands.device_bytes : plan->blocks.units * plan->blocks.unit_bytes;
}

/* The desc of a plan for blocks or bands; rows and rank 0: that plan is not needed. */
static IPT__RARE ipt_plan_desc ipt__bus_piece_desc(const ipt_plan *plan, int index)
{
    const ipt__blocks *const blocks = &plan->cut->blocks;
    const size_t rows = plan->problem.desc.rows, cols = plan->problem.desc.cols;
    ipt_plan_desc desc;
    if (plan->cut->bus_bands.bus_bytes) {
        const ipt__bus_piece piece = ipt__bus_piece_of(&plan->cut->bus_bands, index);
        desc = ipt__cut_piece_desc(plan, piece.rows, piece.cols, 1, IPT_HOST_SYNCHRONOUS);
        desc.elem_size = piece.size;
        if (index == IPT__BUS_PLAN_RANGE || index == IPT__BUS_PLAN_REST_COLS)
            ipt__desc_drop_expression(&desc); /* that of a band applies it */
        else if (piece.rows && piece.cols)
            ipt__cut_permute(&plan->problem, &desc);
    } else
        desc = ipt__cut_piece_desc(plan, index & 1 ? rows % blocks->length : blocks->length,
                                   index & 2 ? cols % blocks->columns : blocks->columns, 1, IPT_HOST_SYNCHRONOUS);
    desc.rows = desc.cols ? desc.rows : 0;
    return desc;
}

/* Prepares a cut plan for transfers by blocks or bands, beside the panels. Does nothing if neither can serve. */
static ipt_result ipt__cut_open_bus(ipt_plan *plan, size_t limit)
{
    ipt__host *const host = &plan->host->staging;
    ipt__host_share *const share = &host->shares[0];
    const size_t workspace = ipt__max(plan->workspace->bytes, ipt__cut_workspace(plan, limit));
    ipt_result result;
    int i;
    ipt__bus_close(plan);
    if (plan->cut->sizes.matrices || plan->enough)
        return IPT_SUCCESS;
    result = ipt__bus_choose(plan, ipt__cut_most(plan, limit - workspace));
    for (i = 0; i < IPT__BLOCK_PLANS && !result && host->commands; ++i) {
        ipt_plan_desc desc = ipt__bus_piece_desc(plan, i);
        desc.max_workspace = ipt__max(workspace, 2); /* 1 would not be a limit in bytes */
        if (desc.rows || desc.rank)
            result = ipt__cut_piece_plan(plan, &desc, &share->block_plans[i]);
    }
    if (result || !host->commands || !plan->enough)
        return result;
    plan->enough = 0;
    ipt__bus_close(plan);
    return IPT_SUCCESS;
}

/* Makes the plans, buffer and queues of a plan that streams matrices through `limit` bytes of device memory. */
static IPT__RARE ipt_result ipt__cut_open_device(ipt_plan *plan, size_t limit)
{
    ipt__host *const host = &plan->host->staging;
    ipt__host_share *share;
    const size_t workspace = ipt__cut_workspace(plan, limit), line = ipt__cut_shorter(&plan->problem);
    size_t i, used;
    ipt_result result;
    if (workspace >= limit || !ipt__cut_make(plan, ipt__cut_most(plan, limit - workspace) / IPT__CUT_SLOTS,
                                             IPT__CUT_BLOCK_WANTED, &plan->cut->sizes)) {
        const size_t panel = ipt__round_up(IPT__CUT_RUN_BYTES, plan->problem.desc.elem_size) * line;
        const size_t enough = IPT__CUT_SLOTS * panel + panel / 2 + workspace;
        if (!plan->problem.desc.max_device_memory)
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "the device memory for pieces is %zu, too little for a panel of a %zu x %zu matrix of %zu "
                             "bytes, which takes %zu",
                             ipt__cut_most(plan, limit), plan->problem.desc.rows, plan->problem.desc.cols,
                             plan->problem.desc.elem_size, enough);
        ipt__fail(IPT_ERROR_UNSUPPORTED,
                  "max_device_memory = %zu is too little for a panel of a %zu x %zu matrix of %zu bytes",
                  ipt__cut_most(plan, limit), plan->problem.desc.rows, plan->problem.desc.cols,
                  plan->problem.desc.elem_size);
        return ipt__advise(offsetof(ipt_plan_desc, max_device_memory), enough);
    }
    host->share_count = 1;
    host->part_count = plan->cut->sizes.chunks;
    host->shares = (ipt__host_share *)ipt__allocate(&plan->context->allocator, sizeof *host->shares);
    host->parts = (ipt__host_part *)ipt__allocate(&plan->context->allocator, host->part_count * sizeof *host->parts);
    host->scratch_bytes = ipt__shuffle_bytes(&plan->cut->sizes) + plan->cut->sizes.rest_bytes;
    if (host->shares && host->parts && host->scratch_bytes)
        host->scratch = (char *)ipt__allocate(&plan->context->allocator, host->scratch_bytes);
    if (!host->shares || !host->parts || (host->scratch_bytes && !host->scratch))
        return IPT_ERROR_OUT_OF_MEMORY;
    share = &host->shares[0];
    share->context = plan->context;
    result = ipt__cut_plans(plan, IPT_HOST_SYNCHRONOUS);
    if (result || plan->enough)
        return result;
    used = plan->workspace->bytes + IPT__CUT_SLOTS * plan->cut->sizes.chunk_bytes;
    if (used > limit)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s = %zu: %zu bytes of it would be needed, workspace included",
                         plan->problem.desc.max_device_memory ? "max_device_memory" : "the device memory for pieces",
                         limit, used);
    result = ipt__cut_open_bus(plan, limit);
    if (result)
        return result;
    for (i = 0; i < IPT__CUT_SLOTS && !result; ++i)
        result = ipt__share_add_queue(share, &share->queues[i]);
    if (result)
        return result;
    used = ipt__min(plan->cut->sizes.chunks, IPT__CUT_SLOTS) * plan->cut->sizes.chunk_bytes;
    if (host->commands)
        used = ipt__max(used, ipt__bus_device_bytes(plan->cut));
    result = ipt__buffer_make(share->context, used, NULL, "device memory", &plan->refused, &share->buffer);
    if (result)
        return result;
    for (i = 0; i < host->part_count; ++i) {
        ipt__host_part *const part = &host->parts[i];
        const size_t index = ipt__cut_chunk_at(&plan->cut->sizes, i);
        part->share = share;
        part->plan = ipt__cut_plan_of(plan, index);
        part->queue = share->queues[i % IPT__CUT_SLOTS];
        part->device = i % IPT__CUT_SLOTS * plan->cut->sizes.chunk_bytes;
        ipt__cut_places(plan, index, &part->up, &part->down);
    }
    return IPT_SUCCESS;
}

/* Saves the transpose of the remainder of the longer side in `kept`. */
static ipt_result ipt__cut_save_rest(ipt__host_run *run, char *kept)
{
    ipt__host *const host = &run->plan->host->staging;
    ipt__host_run below = *run;
    ipt__host_part part = host->parts[0];
    ipt__area after;
    ipt_result result;
    part.plan = host->shares[0].plans[IPT__CUT_PLAN_REST];
    part.uploaded = part.transposed = part.downloaded = NULL;
    ipt__cut_rest_places(&run->plan->cut->sizes, &part.up, &after);
    result = ipt__host_begin(run, &part);
    if (!result)
        result = ipt__wait_for(part.share->context, part.transposed);
    if (!result) {
        part.down = ipt__area_of(0, 1, run->plan->cut->sizes.rest_bytes, 0);
        below.data = kept;
        below.pinned = 0;
        result = ipt__host_move(&below, &part, 1, 0, NULL, &part.downloaded);
    }
    if (!result)
        result = ipt__wait_for(part.share->context, part.downloaded);
    ipt__calls(run->plan->context)->clFinish(part.queue);
    ipt__host_forget(part.share, &part.uploaded);
    ipt__host_forget(part.share, &part.transposed);
    ipt__host_forget(part.share, &part.downloaded);
    if (!result)
        ipt__host_progress(run, 2 * run->plan->cut->sizes.rest_bytes);
    return result;
}

/* The queue of a command. */
static int ipt__command_queue(const ipt__command *command)
{
    return command->kind == IPT__COMMAND_COPY ? IPT__COMMAND_TRANSPOSE : (int)command->kind;
}

/* Enqueues a command that waits for its dependencies. The first `ended` commands have ended. */
static ipt_result ipt__command_enqueue(ipt__host_run *run, ipt__command *command, size_t ended)
{
    ipt__host *const host = &run->plan->host->staging;
    ipt__host_share *const share = &host->shares[0];
    ipt__host_part part;
    cl_event wait[IPT__BLOCK_QUEUES];
    cl_uint count = 0;
    ipt_result result;
    int i;
    for (i = 0; i < IPT__BLOCK_QUEUES; ++i) {
        const size_t after = command->after[i];
        if (i == ipt__command_queue(command) || after <= ended) /* in-order queues order their own commands */
            continue;
        result = ipt__host_unfailed(share->context, host->commands[after - 1].event);
        if (result)
            return result;
        wait[count++] = host->commands[after - 1].event;
    }
    memset(&part, 0, sizeof part);
    part.share = share;
    part.queue = share->queues[ipt__command_queue(command)];
    part.device = command->device;
    if (command->kind == IPT__COMMAND_COPY) {
        const cl_int error =
            ipt__calls(run->plan->context)
                ->clEnqueueCopyBuffer(part.queue, share->buffer, share->buffer, command->rect.offset, command->device,
                                      command->rect.row_bytes, count, count ? wait : NULL, &command->event);
        if (!error)
            ipt__calls(run->plan->context)->clFlush(part.queue);
        return error ? ipt__fail_opencl("clEnqueueCopyBuffer", error) : IPT_SUCCESS;
    }
    part.up = part.down =
        ipt__area_of(command->rect.offset, command->rect.rows, command->rect.row_bytes, command->rect.pitch);
    if (command->kind != IPT__COMMAND_TRANSPOSE) {
        run->written |= command->kind == IPT__COMMAND_DOWNLOAD;
        return ipt__host_transfer(&part, run->data, command->kind == IPT__COMMAND_DOWNLOAD, count, count ? wait : NULL,
                                  &command->event);
    }
    result = ipt_plan_execute(share->block_plans[command->plan], part.queue, share->buffer, command->device, count,
                              count ? wait : NULL, &command->event);
    /* The host's matrix is intact. INVALID_ARGUMENT is about ipt's own call: report a failed event. */
    return result == IPT_ERROR_INCOMPLETE || result == IPT_ERROR_INVALID_ARGUMENT ? IPT_ERROR_OPENCL : result;
}

/* Enqueues the commands for one matrix, some ahead of the last completed one. Before the first download the limit is
 * low, so that an early cancellation leaves the matrix unchanged. */
static ipt_result ipt__host_run_commands(ipt__host_run *run)
{
    ipt__host *const host = &run->plan->host->staging;
    size_t i, ended = 0, ahead;
    ipt_result result = IPT_SUCCESS;
    for (i = 0; ended < host->command_count && !result && !run->cancelled; ++i) {
        if (i < host->command_count)
            result = ipt__command_enqueue(run, &host->commands[i], ended);
        ahead = run->written ? (size_t)IPT__BLOCK_AHEAD : (size_t)IPT__HOST_AHEAD;
        for (; ended + ahead <= i && ended < host->command_count && !result && !run->cancelled; ++ended) {
            const ipt__command *const command = &host->commands[ended];
            result = ipt__wait_for(run->plan->context, command->event);
            if (!result && ipt__command_bytes(command))
                ipt__host_progress(run, ipt__command_bytes(command));
        }
    }
    ipt__host_finish(host);
    return result;
}

/* Runs all matrices in sequence, or whole matrices in chunks. */
static ipt_result ipt__cut_run(ipt__host_run *run)
{
    ipt_plan *const plan = run->plan;
    const ipt__cut *const cut = &plan->cut->sizes;
    char *const data = run->data, *const scratch = plan->host->staging.scratch;
    char *const kept = scratch ? scratch + ipt__shuffle_bytes(cut) : NULL;
    const int by_commands = run->pinned && plan->host->staging.commands;
    size_t i;
    ipt_result result = IPT_SUCCESS;
    if (cut->matrices)
        return ipt__host_run_batch(run, &plan->host->staging);
    if (by_commands)
        run->total = plan->problem.desc.batch *
                     (plan->cut->blocks.bus_bytes + plan->cut->bus_bands.bus_bytes); /* one of them is 0 */
    else
        run->total += plan->problem.desc.batch * ipt__moves_count(cut) * cut->block_bytes;
    for (i = 0; i < plan->problem.desc.batch && !result && !run->cancelled; ++i) {
        run->data = data + i * plan->problem.desc.batch_stride;
        if (by_commands) {
            result = ipt__host_run_commands(run);
            if (!result && run->done == run->total)
                run->cancelled = 0; /* too late to cancel */
            continue;
        }
        if (cut->rest)
            result = ipt__cut_save_rest(run, kept);
        if (!result && !cut->tall)
            ipt__cut_shuffle(run, cut, run->data);
        if (!result && !run->cancelled)
            result = ipt__host_run_batch(run, &plan->host->staging);
        ipt__host_finish(&plan->host->staging);
        if (!result && !run->cancelled && cut->tall)
            ipt__cut_shuffle(run, cut, run->data);
        if (!result && run->done == run->total / plan->problem.desc.batch * (i + 1)) {
            if (cut->rest) {
                ipt__area before, after;
                ipt__cut_rest_places(cut, &before, &after);
                ipt__area_copy(&after, run->data, kept, 0, cut->rest_bytes, 1);
            }
            if (i + 1 == plan->problem.desc.batch)
                run->cancelled = 0; /* too late to cancel */
        }
    }
    return result;
}
