/* Square matrices in host memory, distributed alike before and after: one pass. */

/* Rank p's tile for rank q has r_p x r_q elements, q's tile for p has r_q x r_p. The two tiles change places patch by
 * patch, and are transposed on their way. A patch fits a message. Nothing moves before the exchange. After it a local
 * step transposes the rank's own tile in place. */

/* A patch: a range of this rank's rows and a range of its peer's rows. Numbers count from each rank's first row. */
typedef struct ipt__mpi_patch {
    int peer;
    size_t row, rows, col, cols;
} ipt__mpi_patch;

/* The side of a patch in elements; 0: an element exceeds a message. */
static size_t ipt__mpi_patch_side(const ipt__mpi_shape *shape)
{
    const size_t most = ipt__min(shape->chunk, IPT__MPI_CHUNK_BYTES); /* both windows of a patch stay in the cache */
    size_t side = 1;
    if (shape->size > most)
        return 0;
    while ((side + 1) * (side + 1) * shape->size <= most)
        ++side;
    if (side > 8)
        side = side / 8 * 8;
    if (side > 8 && side * shape->size % 512 == 0) /* columns of a patch would map to few sets of a cache */
        side -= 8;
    return side;
}

/* The next patch of a cursor. Returns 0 at the end. On both ranks the outer loop is over the lower rank's rows. */
static int ipt__mpi_next_patch(const ipt__mpi_shape *shape, size_t side, ipt__mpi_cursor *cursor, ipt__mpi_patch *patch)
{
    const int me = shape->rank, rounds = ipt__mpi_rounds(shape->ranks);
    for (; cursor->turn < rounds; ++cursor->turn, cursor->done = 0) {
        const int peer = ipt__mpi_partner(shape->ranks, me, cursor->turn);
        const size_t rows = ipt__mpi_count(&shape->rows, me), cols = ipt__mpi_count(&shape->rows, peer),
                     row_patches = ipt__ceil_divide(rows, side), col_patches = ipt__ceil_divide(cols, side);
        size_t row, col;
        if (peer == me || cursor->done >= row_patches * col_patches)
            continue;
        row = me < peer ? cursor->done / col_patches : cursor->done % row_patches;
        col = me < peer ? cursor->done % col_patches : cursor->done / row_patches;
        patch->peer = peer;
        patch->row = row * side;
        patch->rows = ipt__min(side, rows - patch->row);
        patch->col = col * side;
        patch->cols = ipt__min(side, cols - patch->col);
        ++cursor->done;
        return 1;
    }
    return 0;
}

/* The place of a patch's first element in this rank's block. */
static char *ipt__mpi_patch_place(const ipt__mpi_run *run, const ipt__mpi_patch *patch)
{
    const ipt__mpi_shape *const shape = &run->plan->shape;
    return run->place.host +
           (patch->row * shape->cols.total + ipt__mpi_start(&shape->rows, patch->peer) + patch->col) * shape->size;
}

/* Transposes cols x rows elements at `from` to rows x cols ones, `pitch` bytes from row to row. With a constant size
 * the compiler replaces memcpy by moves. */
static void ipt__mpi_turn(char *to, size_t pitch, const char *from, size_t rows, size_t cols, size_t size)
{
#define IPT__MPI_TURN(bytes)                                                                                           \
    for (i = 0; i < rows; ++i)                                                                                         \
        for (j = 0; j < cols; ++j)                                                                                     \
    memcpy(to + i * pitch + j * (bytes), from + (j * rows + i) * (bytes), bytes)
    size_t i, j;
    switch (size) {
    case 1:
        IPT__MPI_TURN(1);
        break;
    case 2:
        IPT__MPI_TURN(2);
        break;
    case 4:
        IPT__MPI_TURN(4);
        break;
    case 8:
        IPT__MPI_TURN(8);
        break;
    case 16:
        IPT__MPI_TURN(16);
        break;
    default:
        IPT__MPI_TURN(size);
    }
#undef IPT__MPI_TURN
}

static void ipt__mpi_begin_patch(ipt__mpi_run *run, size_t number, const ipt__mpi_patch *patch)
{
    const ipt_mpi_plan *const plan = run->plan;
    const size_t size = plan->shape.size, bytes = patch->cols * size, pitch = plan->shape.cols.total * size;
    const char *const from = ipt__mpi_patch_place(run, patch);
    ipt__mpi_slot *const slot = &run->ring[number];
    char *const memory = ipt__mpi_memory(run, number, 1);
    size_t i;
    slot->step.peer = patch->peer;
    slot->step.sent = slot->step.received = patch->rows * bytes;
    ipt__mpi_receive(run, slot, ipt__mpi_memory(run, number, 0));
    for (i = 0; i < patch->rows; ++i)
        memcpy(memory + i * bytes, from + i * pitch, bytes);
    ipt__mpi_transmit(run, slot, memory);
}

/* Exchanges all tiles but the rank's own. See ipt__mpi_run_steps. */
static void ipt__mpi_exchange_square(ipt__mpi_run *run)
{
    const ipt_mpi_plan *const plan = run->plan;
    const size_t depth = (size_t)plan->depth, pitch = plan->shape.cols.total * plan->shape.size;
    ipt__mpi_patch patches[IPT__MPI_DEPTH];
    ipt__mpi_cursor cursor = {IPT__MPI_SWAP, 0, 0};
    size_t begun = 0, ended = 0;
    int more = 1;
    while (more || ended < begun) {
        while (more && begun - ended < depth) {
            ipt__mpi_patch *const patch = &patches[begun % depth];
            more = ipt__mpi_next_patch(&plan->shape, plan->patch_side, &cursor, patch);
            if (more)
                ipt__mpi_begin_patch(run, begun++ % depth, patch);
        }
        if (ended < begun) {
            const ipt__mpi_patch *const patch = &patches[ended % depth];
            ipt__mpi_slot *const slot = &run->ring[ended % depth];
            ipt__mpi_complete(run, slot);
            ipt__mpi_turn(ipt__mpi_patch_place(run, patch), pitch, ipt__mpi_memory(run, ended % depth, 0), patch->rows,
                          patch->cols, plan->shape.size);
            ipt__mpi_progress(run, slot->step.sent + slot->step.received);
            ++ended;
        }
    }
}
