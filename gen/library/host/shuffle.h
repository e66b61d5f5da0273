/* Cut matrices: shuffling super-elements on the host. */

/* Moves are listed in batches, which threads share: each has a range of them. What a range needs from the others is
 * saved before any of them moves: the block that its last move takes from the next one's first slot, and the block that
 * the cycle began with that goes on at its start. */
typedef struct ipt__range {
    const ipt__cut *cut;
    char *data;
    const ipt__move_step *steps;
    size_t count;
    const char *follower; /* what its last move takes, if the cycle goes on; NULL: that is where it was */
    char *first, *begun;  /* saved: what its first slot held, and the first slot of the cycle that goes on */
    char *own;            /* for a cycle that begins here */
    size_t begun_slot;
    int saves_begun;
} ipt__range;

typedef struct ipt__batch {
    ipt__move_step *steps;
    size_t count;
    size_t starts[IPT__CUT_THREADS + 1]; /* first slot of the cycle that goes on where a range begins, and at the end */
    int goes_on[IPT__CUT_THREADS + 1];   /* 1: there is one, and it began in this batch; 2: in an earlier one */
} ipt__batch;

static size_t ipt__range_begin(const ipt__batch *batch, int ranges, int range)
{
    return batch->count / (size_t)ranges * (size_t)range + ipt__min(batch->count % (size_t)ranges, (size_t)range);
}

static void ipt__batch_fill(ipt__batch *batch, ipt__moves_list *moves, size_t count, int ranges)
{
    size_t i;
    int range = 0, began_here = 0;
    batch->count = count;
    for (i = 0; i <= count; ++i) {
        for (; range <= ranges && i == ipt__range_begin(batch, ranges, range); ++range) {
            batch->goes_on[range] = !moves->active ? 0 : began_here ? 1 : 2;
            batch->starts[range] = moves->start;
        }
        if (i < count) {
            batch->steps[i] = ipt__moves_next(moves);
            began_here |= batch->steps[i].begins;
        }
    }
}

static void ipt__range_save(void *job)
{
    const ipt__range *const range = (const ipt__range *)job;
    const size_t bytes = range->cut->block_bytes;
    if (range->count)
        memcpy(range->first, range->data + ipt__cut_slot(range->cut, range->steps->target), bytes);
    if (range->saves_begun)
        memcpy(range->begun, range->data + ipt__cut_slot(range->cut, range->begun_slot), bytes);
}

static void ipt__range_move(void *job)
{
    const ipt__range *const range = (const ipt__range *)job;
    const size_t bytes = range->cut->block_bytes;
    const char *begun = range->begun;
    size_t i;
    for (i = 0; i < range->count; ++i) {
        const ipt__move_step *const step = &range->steps[i];
        char *const target = range->data + ipt__cut_slot(range->cut, step->target);
        if (step->begins) {
            memcpy(range->own, target, bytes);
            begun = range->own;
        }
        if (step->ends)
            memcpy(target, begun, bytes);
        else if (i + 1 == range->count && range->follower)
            memcpy(target, range->follower, bytes);
        else
            memcpy(target, range->data + ipt__cut_slot(range->cut, step->source), bytes);
    }
}

/* One thread's work between two joins: a range, or the next batch's list. */
typedef struct ipt__shuffle_job {
    ipt__range range;
    ipt__batch *next;
    ipt__moves_list *moves;
    size_t count;
    int ranges;
} ipt__shuffle_job;

static void ipt__shuffle_work(void *job)
{
    ipt__shuffle_job *const its = (ipt__shuffle_job *)job;
    if (its->next)
        ipt__batch_fill(its->next, its->moves, its->count, its->ranges);
    else
        ipt__range_move(&its->range);
}

/* What ipt__cut_shuffle needs beside the matrix: kept by the plan. */
static size_t ipt__shuffle_bytes(const ipt__cut *cut)
{
    const size_t blocks = 3 * IPT__CUT_THREADS + 4;
    return ipt__moves_count(cut)
               ? 2 * IPT__CUT_BATCH * sizeof(ipt__move_step) + ipt__moves_bytes(cut) + blocks * cut->block_bytes
               : 0;
}

/* Moves all super-elements of the matrix at data, batch by batch. */
static void ipt__cut_shuffle(ipt__host_run *run, const ipt__cut *cut, char *data)
{
    enum { RANGES = IPT__CUT_THREADS };
    ipt__shuffle_job jobs[RANGES + 1];
    ipt__batch batches[2];
    ipt__moves_list moves;
    const size_t bytes = cut->block_bytes;
    ipt__move_step *const steps = (ipt__move_step *)run->plan->host.scratch;
    char *blocks = (char *)(steps + 2 * IPT__CUT_BATCH), *kept[2];
    size_t left = ipt__moves_count(cut), count;
    int turn = 0, i;
    if (!left)
        return;
    batches[0].steps = steps;
    batches[1].steps = steps + IPT__CUT_BATCH;
    kept[0] = blocks + (3 * RANGES + 1) * bytes;
    kept[1] = kept[0] + bytes;
    ipt__moves_begin(&moves, cut, (unsigned char *)(kept[1] + bytes));
    count = ipt__min(left, IPT__CUT_BATCH);
    ipt__batch_fill(&batches[0], &moves, count, RANGES);
    while (count && !run->cancelled) {
        const ipt__batch *const batch = &batches[turn];
        memset(jobs, 0, sizeof jobs);
        for (i = 0; i <= RANGES; ++i) { /* the last one has no moves: it keeps the cycle that goes on at the end */
            ipt__range *const range = &jobs[i].range;
            const size_t begin = i < RANGES ? ipt__range_begin(batch, RANGES, i) : batch->count;
            range->cut = cut;
            range->data = data;
            range->steps = batch->steps + begin;
            range->count = i < RANGES ? ipt__range_begin(batch, RANGES, i + 1) - begin : 0;
            range->first = blocks + (size_t)i * 3 * bytes;
            range->own = range->first + bytes;
            range->begun = i < RANGES ? range->own + bytes : kept[turn ^ 1];
            range->begun_slot = batch->starts[i];
            range->saves_begun = batch->goes_on[i] == 1;
            if (batch->goes_on[i] == 2) {
                if (i < RANGES)
                    range->begun = kept[turn];
                else
                    memcpy(kept[turn ^ 1], kept[turn], bytes);
            }
        }
        for (i = 0; i + 1 < RANGES; ++i)
            if (jobs[i].range.count && jobs[i + 1].range.count && batch->goes_on[i + 1])
                jobs[i].range.follower = jobs[i + 1].range.first;
        for (i = 0; i <= RANGES; ++i)
            ipt__range_save(&jobs[i].range);
        left -= count;
        run->written = 1;
        jobs[RANGES].next = &batches[turn ^ 1];
        jobs[RANGES].moves = &moves;
        jobs[RANGES].count = ipt__min(left, IPT__CUT_BATCH);
        jobs[RANGES].ranges = RANGES;
        ipt__run_together(ipt__shuffle_work, jobs, sizeof *jobs, RANGES + 1);
        ipt__host_progress(run, count * bytes);
        count = ipt__min(left, IPT__CUT_BATCH);
        turn ^= 1;
    }
}

/* ---- matrices in memory: by blocks ---- */

/* Memory that the device reaches by itself is not shuffled, if rows of blocks are long enough for the bus. The blocks
 * of a panel are uploaded, each into a unit of the device's memory, and transposed there. What has its final place in
 * panels that have been uploaded is downloaded to it, in strips of a block's columns; the others are held until theirs
 * have been. When a share x of the panels has been uploaded, x (1 - x) of the matrix is held, a quarter at most. Blocks
 * for which there are not enough units wait in the host's matrix, in the final places of such as have not been uploaded
 * yet, and come up again. All this depends on the sizes alone, so the commands are listed when the plan is made. */
