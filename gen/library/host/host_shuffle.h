/* Cut matrices: shuffling super-elements on the host. */

/* Threads share each batch of moves: each thread has a range. Two blocks are saved before any range moves. The first is
 * the first slot of the next range, which the last move of a range reads. The second is the first block of a cycle that
 * continues into the range. */
typedef struct ipt__range {
    const ipt__cut *cut;
    char *data;
    const ipt__move_step *steps;
    size_t count;
    const char *follower; /* source of the last move if the cycle continues; NULL: the source slot itself */
    char *first, *begun;  /* saved: first target slot; first block of the continuing cycle */
    char *own;            /* first block of a cycle that begins in this range */
    size_t begun_slot;
    int saves_begun;
} ipt__range;

typedef struct ipt__batch {
    ipt__move_step *steps;
    size_t count;
    size_t starts[IPT__CUT_THREADS + 1]; /* first slot of the cycle that continues into each range, and past the end */
    int goes_on[IPT__CUT_THREADS + 1];   /* 1: the cycle began in this batch; 2: in an earlier one; 0: none continues */
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

/* One thread's work between two joins: a range, or the listing of the next batch. */
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

/* Scratch bytes of ipt__cut_shuffle, which the plan owns. */
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
    ipt__move_step *const steps = (ipt__move_step *)run->plan->host->staging.scratch;
    char *blocks, *kept[2];
    size_t left = ipt__moves_count(cut), count;
    int turn = 0, i;
    if (!left) /* the plan has no scratch then */
        return;
    blocks = (char *)(steps + 2 * IPT__CUT_BATCH);
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
        for (i = 0; i <= RANGES; ++i) { /* the last range is empty: it saves the cycle that continues past the end */
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

/* If the device accesses the host's memory and blocks have long rows for the bus, the host shuffles nothing. Each block
 * of a panel is uploaded to a unit of device memory and transposed there. A block is downloaded in strips of columns. A
 * strip may go once all panels that cover its final place are uploaded; until then it waits in the unit. After a share
 * x of the panels, units have x (1 - x) of the matrix: a quarter at most. If units run out, a block is spilled. It
 * waits in the final place of a block that is uploaded later, and is uploaded again itself. All this depends on sizes
 * alone, so the plan lists the commands once. */
