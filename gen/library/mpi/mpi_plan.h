/* Plans over ranks: creation, description, destruction. */

enum { IPT__MPI_DEPTH = 4 }; /* messages in flight */

/* A local step: a plan, and where its matrices begin. */
typedef struct ipt__mpi_local {
    ipt_plan *plan; /* NULL: nothing moves */
    size_t at;      /* bytes into the block */
} ipt__mpi_local;

/* Indices into plan->locals: the step before the exchange; its inverse; the step that transposes the rank's own tile of
 * a square matrix, after an exchange by patches; the first of the steps after another exchange. */
enum { IPT__MPI_BEFORE, IPT__MPI_UNDO, IPT__MPI_DIAGONAL, IPT__MPI_AFTER };

/* ---- shapes ---- */

/* Completes a side whose total and block the desc gives. */
static ipt_result ipt__mpi_take_side(const char *name, const size_t *counts, int ranks, const ipt_allocator *allocator,
                                     ipt__mpi_side *side)
{
    const size_t total = side->total, block = side->block;
    size_t sum = 0;
    int i;
    if (!block)
        side->block = ipt__ceil_divide(total, (size_t)ranks);
    if (!counts) {
        if (ipt__ceil_divide(total, side->block) > (size_t)ranks)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                             "%s = %zu: %d ranks of so many rows hold less than %zu rows, so use at least %zu", name,
                             block, ranks, total, ipt__ceil_divide(total, (size_t)ranks));
        return IPT_SUCCESS;
    }
    for (i = 0; i < ranks; ++i) {
        if (counts[i] > total - sum)
            break;
        sum += counts[i];
    }
    if (i < ranks || sum != total)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "the counts instead of %s have another sum than %zu", name, total);
    side->starts = (size_t *)ipt__allocate(allocator, ((size_t)ranks + 1) * sizeof *side->starts);
    if (!side->starts)
        return IPT_ERROR_OUT_OF_MEMORY;
    for (i = 0; i < ranks; ++i)
        side->starts[i + 1] = side->starts[i] + counts[i];
    return IPT_SUCCESS;
}

/* The array of a desc, as one context would permute it. A matrix has two axes. */
static ipt_plan_desc ipt__mpi_array(const ipt_mpi_desc *desc)
{
    ipt_plan_desc array;
    memset(&array, 0, sizeof array);
    array.elem_size = desc->elem_size;
    array.rank = 2;
    array.shape[0] = desc->rows;
    array.shape[1] = desc->cols;
    array.axes[0] = 1;
    if (!desc->rank)
        return array;
    array.rank = desc->rank;
    array.rows = desc->rows; /* to be refused */
    array.cols = desc->cols;
    memcpy(array.shape, desc->shape, sizeof array.shape);
    memcpy(array.axes, desc->axes, sizeof array.axes);
    return array;
}

/* Checks the sizes of a desc. */
static ipt_result ipt__mpi_check_sizes(const ipt_mpi_desc *desc)
{
    const ipt_plan_desc array = ipt__mpi_array(desc);
    ipt__array unused;
    size_t bytes = desc->elem_size;
    if (desc->rank)
        return ipt__axes_take(&array, &unused);
    if (!desc->rows || !desc->cols || !desc->elem_size)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is 0: must be at least 1",
                         !desc->rows   ? "rows"
                         : !desc->cols ? "cols"
                                       : "elem_size");
    if (!ipt__multiply(&bytes, desc->rows) || !ipt__multiply(&bytes, desc->cols))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "rows = %zu, cols = %zu, elem_size = %zu: their product overflows",
                         desc->rows, desc->cols, desc->elem_size);
    return IPT_SUCCESS;
}

/* Sets the matrix of rows and columns that an array is to the exchange, but not how it is distributed. */
static void ipt__mpi_take_axes(const ipt_plan_desc *array, ipt__mpi_shape *shape)
{
    const unsigned first = array->axes[0]; /* the axis of columns */
    unsigned i, row = 0;
    shape->rows.total = array->shape[0];
    shape->cols.total = array->shape[first];
    shape->size = shape->row_run = shape->col_run = array->elem_size;
    shape->is_matrix = first == 1;
    while (array->axes[row])
        ++row;
    for (i = 1; i < array->rank; ++i) {
        if (i != first)
            shape->size *= array->shape[i];
        if (i > first)
            shape->col_run *= array->shape[i];
        if (i > row)
            shape->row_run *= array->shape[array->axes[i]];
        shape->is_matrix = shape->is_matrix && array->axes[i] == (i == 1 ? 0 : i);
    }
}

/* Checks the numbers of a desc, and copies them. */
static ipt_result ipt__mpi_take_shape(const ipt_mpi_desc *desc, int ranks, int rank, const ipt_allocator *allocator,
                                      ipt__mpi_shape *shape)
{
    const ipt_plan_desc array = ipt__mpi_array(desc);
    ipt_result result = ipt__mpi_check_sizes(desc);
    int i;
    if (result)
        return result;
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "rank %d of %d ranks: must be 0 to ranks - 1", rank, ranks);
    ipt__mpi_take_axes(&array, shape);
    shape->ranks = ranks;
    shape->rank = rank;
    shape->rows.block = desc->block;
    shape->cols.block = desc->block_out;
    result = ipt__mpi_take_side("block", desc->row_counts, ranks, allocator, &shape->rows);
    if (!result)
        result = ipt__mpi_take_side("block_out", desc->col_counts, ranks, allocator, &shape->cols);
    if (result)
        return result;
    shape->way = array.axes[0] ? ipt__mpi_choose_way(shape) : IPT__MPI_STAYS;
    for (i = 0; i < ranks && shape->way == IPT__MPI_STAYS; ++i)
        if (ipt__mpi_start(&shape->rows, i) != ipt__mpi_start(&shape->cols, i))
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                             "axes[0] is 0, so each rank keeps its rows: make block_out and col_counts the same as "
                             "block and row_counts");
    return IPT_SUCCESS;
}

static void ipt__mpi_free_shape(const ipt_allocator *allocator, ipt__mpi_shape *shape)
{
    ipt__release(allocator, shape->rows.starts);
    ipt__release(allocator, shape->cols.starts);
    ipt__release(allocator, shape->rests);
    memset(shape, 0, sizeof *shape);
}

IPT_API ipt_result ipt_mpi_share_of_sized(size_t desc_bytes, const ipt_mpi_desc *desc, int ranks, int rank,
                                          ipt_mpi_share *share)
{
    const ipt_allocator allocator = {ipt__default_alloc, ipt__default_free, NULL};
    ipt__mpi_shape shape;
    ipt_mpi_desc taken;
    ipt_result result;
    if (!desc || !share)
        return ipt__fail_null(desc ? "share" : "desc");
    memset(&shape, 0, sizeof shape);
    memset(share, 0, sizeof *share);
    result = ipt__take_desc(&taken, sizeof taken, desc, desc_bytes, "desc");
    if (!result)
        result = ipt__mpi_take_shape(&taken, ranks, rank, &allocator, &shape);
    if (!result) {
        share->first_row = ipt__mpi_start(&shape.rows, rank);
        share->rows = ipt__mpi_count(&shape.rows, rank);
        share->first_row_out = ipt__mpi_start(&shape.cols, rank);
        share->rows_out = ipt__mpi_count(&shape.cols, rank);
        share->bytes = ipt__mpi_share_bytes(&shape);
    }
    ipt__mpi_free_shape(&allocator, &shape);
    return result;
}

/* ---- local steps ---- */

/* Makes the workspaces that the local plans share: one for each device of split, and one for this rank's device if it
 * has a plan of its own. They divide `budget` bytes; 1: as little as possible. */
static ipt_result ipt__mpi_make_workspaces(ipt_mpi_plan *plan, size_t budget)
{
    const size_t split = plan->desc.split_count, count = split + (!split || ipt__mpi_is_square(&plan->shape));
    plan->workspaces = (ipt__workspace *)ipt__allocate(&plan->context->allocator, count * sizeof *plan->workspaces);
    if (!plan->workspaces)
        return IPT_ERROR_OUT_OF_MEMORY;
    for (; plan->workspace_count < count; ++plan->workspace_count)
        ipt__workspace_begin(&plan->workspaces[plan->workspace_count], budget == 1 ? 1 : ipt__max(budget / count, 2));
    return IPT_SUCCESS;
}

/* The desc of a local step: `batch` matrices, one after the other. */
static ipt_plan_desc ipt__mpi_grid(size_t rows, size_t cols, size_t elem_size, size_t batch)
{
    ipt_plan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = elem_size;
    desc.batch = batch;
    return desc;
}

/* The desc of a local step: the whole array, with `length` of the indices of one axis. */
static ipt_plan_desc ipt__mpi_part(const ipt_mpi_plan *plan, unsigned axis, size_t length)
{
    const ipt__mpi_shape *const shape = &plan->shape;
    ipt_plan_desc desc = ipt__mpi_array(&plan->desc);
    desc.shape[axis] = length;
    return shape->is_matrix ? ipt__mpi_grid(desc.shape[0], desc.shape[1], shape->size, 1) : desc;
}

/* The desc of the inverse step. */
static ipt_plan_desc ipt__mpi_inverse(const ipt_plan_desc *desc)
{
    ipt_plan_desc inverse = *desc;
    unsigned i;
    inverse.rows = desc->cols;
    inverse.cols = desc->rows;
    for (i = 0; i < desc->rank; ++i) {
        inverse.shape[i] = desc->shape[desc->axes[i]];
        inverse.axes[desc->axes[i]] = i;
    }
    return inverse;
}

/* Whether a local step moves nothing. */
static int ipt__mpi_rests(const ipt_plan_desc *desc)
{
    unsigned i, moved = 0;
    for (i = 0; i < desc->rank; ++i) {
        if (!desc->shape[i])
            return 1;
        moved += desc->axes[i] != i;
    }
    return desc->rank ? !moved : desc->rows <= 1 || desc->cols <= 1;
}

/* Makes the plan of a local step. */
static ipt_result ipt__mpi_make_local(ipt_mpi_plan *plan, const ipt_plan_desc *desc, ipt__mpi_local *local)
{
    ipt_context *const *const contexts = plan->desc.split_count ? plan->desc.split : &plan->context;
    const size_t split = plan->desc.split_count;
    ipt__workspace *const lent = plan->workspaces + (split ? plan->workspace_count - split : 0);
    ipt_result result;
    if (ipt__mpi_rests(desc))
        return IPT_SUCCESS;
    if (desc->rank)
        result = ipt__axes_plan_make(contexts, split, desc, lent, ipt__array_piece_make, &local->plan);
#ifndef IPT_NO_HOST_STREAMING
    else if (split)
        result = ipt__split_plan_make(contexts, split, desc, lent, &local->plan);
#endif
    else
        result = ipt__any_plan_make(plan->context, desc, lent, &local->plan);
#ifndef IPT_NO_HOST_STREAMING
    if (!result && !split)
        result = ipt__plan_keep(&local->plan, ipt__host_prepare(local->plan));
#endif
    return result;
}

/* Makes the plan for this rank's own tile of a square matrix. */
static ipt_result ipt__mpi_make_diagonal(ipt_mpi_plan *plan)
{
    const ipt__mpi_shape *const shape = &plan->shape;
    const size_t side = ipt__mpi_count(&shape->rows, shape->rank);
    ipt__mpi_local *const local = &plan->locals[IPT__MPI_DIAGONAL];
    ipt_plan_desc desc;
    if (side <= 1)
        return IPT_SUCCESS;
    memset(&desc, 0, sizeof desc);
    desc.rows = desc.cols = side;
    desc.elem_size = shape->size;
    desc.row_pitch = desc.row_pitch_out = shape->cols.total * shape->size;
    local->at = ipt__mpi_start(&shape->rows, shape->rank) * shape->size;
    return ipt__any_plan_make(plan->context, &desc, plan->workspaces, &local->plan);
}

/* Makes the steps that transpose the received pieces: one step for each run of ranks with equal numbers of rows. cols:
 * runs of row_run bytes behind each row of a piece. */
static ipt_result ipt__mpi_make_pieces(ipt_mpi_plan *plan, size_t cols)
{
    const ipt__mpi_shape *const shape = &plan->shape;
    ipt_result result = IPT_SUCCESS;
    int s, end;
    for (s = 0; s < shape->ranks && !result; s = end) {
        const size_t rows = ipt__mpi_count(&shape->rows, s);
        ipt__mpi_local *const local = &plan->locals[plan->local_count];
        ipt_plan_desc desc;
        for (end = s + 1; end < shape->ranks && ipt__mpi_count(&shape->rows, end) == rows; ++end)
            ;
        if (!rows)
            continue;
        local->at = ipt__mpi_piece_out_at(shape, s);
        desc = ipt__mpi_grid(cols, rows, shape->row_run, (size_t)(end - s));
        result = ipt__mpi_make_local(plan, &desc, local);
        ++plan->local_count;
    }
    return result;
}

/* Makes the steps after the exchange. */
static ipt_result ipt__mpi_make_after(ipt_mpi_plan *plan)
{
    const ipt__mpi_shape *const shape = &plan->shape;
    const size_t cols = ipt__mpi_count(&shape->cols, shape->rank), runs = cols * (shape->size / shape->row_run);
    size_t ranks;
    const size_t equal = ipt__mpi_equal(&shape->rows, shape->ranks, &ranks);
    ipt_plan_desc desc = ipt__mpi_grid(shape->rows.total, runs, shape->row_run, 1);
    ipt_result result = IPT_SUCCESS;
    if (shape->way == IPT__MPI_BY_ROWS)
        desc = ipt__mpi_grid(ranks, runs, equal * shape->row_run, 1);
    else if (shape->way == IPT__MPI_BY_COLS)
        desc = ipt__mpi_part(plan, ipt__mpi_array(&plan->desc).axes[0], cols);
    else
        result = ipt__mpi_make_pieces(plan, runs);
    return result ? result : ipt__mpi_make_local(plan, &desc, &plan->locals[plan->local_count++]);
}

/* Makes all local steps of this rank. */
static ipt_result ipt__mpi_make_locals(ipt_mpi_plan *plan)
{
    const ipt__mpi_shape *const shape = &plan->shape;
    const size_t rows = ipt__mpi_count(&shape->rows, shape->rank),
                 most = IPT__MPI_AFTER + 1 + (shape->way == IPT__MPI_BY_PIECES ? (size_t)shape->ranks : 0);
    ipt_plan_desc before = ipt__mpi_part(plan, 0, rows), undo;
    ipt_result result;
    plan->locals = (ipt__mpi_local *)ipt__allocate(&plan->context->allocator, most * sizeof *plan->locals);
    if (!plan->locals)
        return IPT_ERROR_OUT_OF_MEMORY;
    plan->local_count = IPT__MPI_AFTER;
    if (shape->way == IPT__MPI_BY_COLS) {
        size_t ranks;
        const size_t equal = ipt__mpi_equal(&shape->cols, shape->ranks, &ranks);
        before = ipt__mpi_grid(rows * (shape->size / shape->col_run), ranks, equal * shape->col_run, 1);
    }
    undo = ipt__mpi_inverse(&before);
    result = ipt__mpi_make_local(plan, &before, &plan->locals[IPT__MPI_BEFORE]);
    if (!result)
        result = ipt__mpi_make_local(plan, &undo, &plan->locals[IPT__MPI_UNDO]);
    return result || shape->way == IPT__MPI_STAYS ? result : ipt__mpi_make_after(plan);
}

/* Bytes of the local plans' workspaces. */
static size_t ipt__mpi_locals_workspace(const ipt_mpi_plan *plan)
{
    size_t bytes = 0, i;
    for (i = 0; i < plan->workspace_count; ++i)
        bytes += plan->workspaces[i].bytes;
    return bytes;
}

/* The limit that suffices for the local plans, if one of their workspaces is too small; else 0. */
static size_t ipt__mpi_enough(const ipt_mpi_plan *plan)
{
    size_t enough = 0;
    int i;
    for (i = 0; i < plan->local_count; ++i)
        if (plan->locals[i].plan)
            enough = ipt__max(enough, plan->locals[i].plan->enough);
    return enough;
}

/* ---- memory for messages ---- */

/* The limit of the bytes beside a block, equal on all ranks. */
static size_t ipt__mpi_allowed(const ipt_mpi_desc *desc, const ipt__mpi_shape *shape)
{
    size_t most = 0;
    int i;
    for (i = 0; i < shape->ranks; ++i)
        most = ipt__max(most, ipt__max(ipt__mpi_block_bytes(shape, i, 0), ipt__mpi_block_bytes(shape, i, 1)));
    return desc->max_workspace ? desc->max_workspace : ipt__max(most / 100, (size_t)1 << 20);
}

/* Number of message windows: for each direction, on the host and perhaps on the device. */
static size_t ipt__mpi_windows(const ipt_mpi_plan *plan)
{
    return (plan->desc.flags & IPT_MPI_DEVICE_AWARE ? 4 : 2) * (size_t)plan->depth;
}

/* Divides the allowed bytes: messages get the least, the local plans the remainder. */
static ipt_result ipt__mpi_divide_memory(ipt_mpi_plan *plan)
{
    const size_t allowed = ipt__mpi_allowed(&plan->desc, &plan->shape), least = plan->desc.max_workspace;
    size_t window;
    plan->depth = least == 1 ? 1 : IPT__MPI_DEPTH;
    plan->shape.chunk = IPT__MPI_LEAST_CHUNK;
    window = ipt__max(plan->shape.chunk * ipt__mpi_windows(plan), allowed / 16);
    if (least > 1 && allowed <= window)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "max_workspace = %zu: messages alone need %zu bytes", allowed, window);
    return ipt__mpi_make_workspaces(plan, least == 1 ? 1 : allowed - window);
}

/* Sizes messages by the bytes that the local plans of all ranks leave. If the limit is too small for any rank's local
 * plans, fails with one that suffices for all. All ranks call it. */
static ipt_result ipt__mpi_size_messages(ipt_mpi_plan *plan)
{
    const size_t allowed = ipt__mpi_allowed(&plan->desc, &plan->shape), taken = ipt__mpi_locals_workspace(plan),
                 left = (allowed - ipt__min(taken, allowed)) / ipt__mpi_windows(plan);
    const size_t least = IPT__MPI_LEAST_CHUNK, enough = ipt__mpi_enough(plan),
                 most = plan->context->shares_memory ? (size_t)IPT__MPI_CHUNK_BYTES : (size_t)IPT__MPI_BUS_BYTES;
    cl_ulong numbers[2]; /* the complement of a message's bytes; the need of the local plans */
    size_t i;
    int error;
    numbers[0] = ~(cl_ulong)(plan->depth == 1 ? least : ipt__min(ipt__max(left / 64 * 64, least), most));
    numbers[1] = enough ? (enough + 1) * plan->workspace_count : 0;
    error = MPI_Allreduce(MPI_IN_PLACE, numbers, 2, MPI_UINT64_T, MPI_MAX, plan->communicator);
    if (error)
        return ipt__fail_mpi("MPI_Allreduce", error);
    if (numbers[1]) { /* messages take a sixteenth, or the least */
        const size_t needed = ipt__size_of(numbers[1]);
        return ipt__fail(
            IPT_ERROR_UNSUPPORTED,
            "max_workspace allows %zu bytes, too few for messages and the ranks' local steps: %zu would do", allowed,
            ipt__max(needed + least * ipt__mpi_windows(plan), needed + needed / 15 + 2));
    }
    for (i = 0; plan->desc.max_workspace != 1 && i < plan->workspace_count;
         ++i) /* plans of parts, made during an execution, must fit too */
        plan->workspaces[i].limit = ipt__max(plan->workspaces[i].bytes, 2);
    plan->shape.chunk = (size_t)~numbers[0];
    return IPT_SUCCESS;
}

/* The address of a buffer that MPI takes, or NULL. */
static char *ipt__mpi_address(const ipt_mpi_plan *plan, cl_mem buffer)
{
#ifdef IPT_CUDA
    if (plan->context->driver == IPT__DRIVER_CUDA)
        return (char *)(size_t)ipt__cuda_address(buffer, 0);
#endif
    return (char *)plan->desc.address(buffer, plan->desc.user);
}

/* Allocates the memory for messages, and the queues that move it. */
static ipt_result ipt__mpi_take_window(ipt_mpi_plan *plan)
{
    const ipt_context *const context = plan->context;
    const size_t bytes = plan->shape.chunk * 2 * (size_t)plan->depth,
                 block = ipt__mpi_block_bytes(&plan->shape, plan->shape.rank, 1);
    void *memory = NULL;
    size_t refused;
    cl_int error = CL_SUCCESS;
    ipt_result result = ipt_host_alloc(plan->context, bytes, &memory);
    plan->window = (char *)memory;
    if (!result && plan->desc.flags & IPT_MPI_BUFFERED && block) {
        plan->second = (char *)ipt__allocate(&context->allocator, block);
        result = plan->second ? IPT_SUCCESS : IPT_ERROR_OUT_OF_MEMORY;
    }
    if (!result && plan->desc.flags & IPT_MPI_DEVICE_AWARE) {
        result = ipt__buffer_make(context, bytes, NULL, "memory for messages", &refused, &plan->device_window);
        if (!result)
            plan->device_address = ipt__mpi_address(plan, plan->device_window);
        if (!result && !plan->device_address)
            result = ipt__fail(IPT_ERROR_UNSUPPORTED, "desc.address returned NULL for the plan's own buffer");
    }
    if (!result)
        plan->reads = ipt__calls(context)->clCreateCommandQueue(context->context, context->device, 0, &error);
    if (!result && !error)
        plan->writes = ipt__calls(context)->clCreateCommandQueue(context->context, context->device, 0, &error);
    return error ? ipt__fail_opencl("clCreateCommandQueue", error) : result;
}

/* ---- description ---- */

static ipt_result ipt__mpi_write_description(ipt_mpi_plan *plan)
{
    static const char *const ways[] = {"equal blocks of rows", "equal blocks of columns", "pieces one by one",
                                       "the first axis stays"};
    const ipt__mpi_shape *const shape = &plan->shape;
    const ipt_plan *const diagonal = plan->locals[IPT__MPI_DIAGONAL].plan;
    const ipt_plan_desc array = ipt__mpi_array(&plan->desc);
    size_t capacity = IPT__DESCRIPTION_BYTES;
    ipt__text out;
    int i;
    for (i = 0; i < plan->local_count; ++i)
        capacity += plan->locals[i].plan ? strlen(plan->locals[i].plan->description) + 30 : 0;
    plan->description = (char *)ipt__allocate(&plan->context->allocator, capacity);
    if (!plan->description)
        return IPT_ERROR_OUT_OF_MEMORY;
    out = ipt__text_in(plan->description, capacity);
    ipt__axes_describe(&out, &array);
    ipt__text_add(&out, " over %d ranks; rank %d: %zu rows, then %zu\n", shape->ranks, shape->rank,
                  ipt__mpi_count(&shape->rows, shape->rank), ipt__mpi_count(&shape->cols, shape->rank));
    ipt__text_add(&out, "%s; %d rounds, messages of %zu bytes at most, %zu bytes of them, %zu bytes of workspace\n",
                  ways[shape->way], plan->second ? 1 : ipt__mpi_rounds(shape->ranks), shape->chunk,
                  ipt__mpi_message_bytes(shape), ipt_mpi_plan_workspace(plan));
    if (plan->patch_side)
        ipt__text_add(&out, "host memory: tiles change places in patches of %zu x %zu; after the exchange: %s",
                      plan->patch_side, plan->patch_side, diagonal ? diagonal->description : "nothing\n");
    for (i = 0; i < plan->local_count; ++i)
        if (plan->locals[i].plan && i != IPT__MPI_UNDO && i != IPT__MPI_DIAGONAL)
            ipt__text_add(&out, "%s the exchange: %s", i == IPT__MPI_BEFORE ? "before" : "after",
                          plan->locals[i].plan->description);
    return IPT_SUCCESS;
}

IPT_API const char *ipt_mpi_plan_describe(const ipt_mpi_plan *plan)
{
    return plan ? plan->description : "";
}

IPT_API size_t ipt_mpi_plan_workspace(const ipt_mpi_plan *plan)
{
    size_t bytes;
    if (!plan)
        return 0;
    bytes = plan->shape.chunk * ipt__mpi_windows(plan);
    if (plan->second)
        bytes += ipt__mpi_block_bytes(&plan->shape, plan->shape.rank, 1);
    return bytes + ipt__mpi_locals_workspace(plan);
}
