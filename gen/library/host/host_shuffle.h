/* Cut matrices: shuffling super-elements on the host. */

/* Threads share each batch of moves: a thread moves a range. Before any range moves, two blocks of each range are
 * saved. One is the range's first target slot, which the last move of the previous range reads. The other is the first
 * block of a cycle that continues into the range. */
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
    ipt__moves_list *moves; /* generates the steps */
    ipt__move_step *steps;
    size_t count;
    size_t starts[IPT__CUT_THREADS + 1]; /* first slot of the cycle that continues into each range, and past the end */
    int goes_on[IPT__CUT_THREADS + 1];   /* 1: the cycle began in this batch; 2: in an earlier one; 0: none continues */
} ipt__batch;

/* The first move of a range, in the batch. Range IPT__CUT_THREADS begins at the end, and is empty. */
static size_t ipt__range_begin(const ipt__batch *batch, size_t range)
{
    const size_t ranges = IPT__CUT_THREADS;
    return ipt__min(batch->count, batch->count / ranges * range + ipt__min(batch->count % ranges, range));
}

/* Lists the next batch->count moves. */
static void ipt__batch_fill(ipt__batch *batch)
{
    size_t i, range = 0;
    int began_here = 0;
    for (i = 0; i <= batch->count; ++i) {
        for (; range <= IPT__CUT_THREADS && i == ipt__range_begin(batch, range); ++range) {
            batch->goes_on[range] = !batch->moves->active ? 0 : began_here ? 1 : 2;
            batch->starts[range] = batch->moves->start;
        }
        if (i < batch->count) {
            batch->steps[i] = ipt__moves_next(batch->moves);
            began_here |= batch->steps[i].begins;
        }
    }
}

static void ipt__range_save(const ipt__range *range)
{
    const size_t bytes = range->cut->block_bytes;
    if (range->count)
        memcpy(range->first, range->data + ipt__cut_slot(range->cut, range->steps->target), bytes);
    if (range->saves_begun)
        memcpy(range->begun, range->data + ipt__cut_slot(range->cut, range->begun_slot), bytes);
}

static void ipt__range_move(const ipt__range *range)
{
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

/* The job of a thread: to move a range, or to list the next batch. */
typedef struct ipt__shuffle_job {
    ipt__range range;
    ipt__batch *next; /* NULL: the job moves the range */
} ipt__shuffle_job;

static void ipt__shuffle_work(void *job)
{
    ipt__shuffle_job *const its = (ipt__shuffle_job *)job;
    if (its->next)
        ipt__batch_fill(its->next);
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
    size_t left = ipt__moves_count(cut);
    int turn = 0, i;
    if (!left) /* the plan has no scratch then */
        return;
    blocks = (char *)(steps + 2 * IPT__CUT_BATCH);
    batches[0].moves = batches[1].moves = &moves;
    batches[0].steps = steps;
    batches[1].steps = steps + IPT__CUT_BATCH;
    kept[0] = blocks + (3 * RANGES + 1) * bytes;
    kept[1] = kept[0] + bytes;
    ipt__moves_begin(&moves, cut, (unsigned char *)(kept[1] + bytes));
    batches[0].count = ipt__min(left, IPT__CUT_BATCH);
    ipt__batch_fill(&batches[0]);
    for (; left && !run->cancelled; turn ^= 1) {
        const ipt__batch *const batch = &batches[turn];
        ipt__batch *const next = &batches[turn ^ 1];
        memset(jobs, 0, sizeof jobs);
        for (i = 0; i <= RANGES; ++i) { /* the last range is empty: it saves the cycle that continues past the end */
            ipt__range *const range = &jobs[i].range;
            const size_t begin = ipt__range_begin(batch, (size_t)i);
            range->cut = cut;
            range->data = data;
            range->steps = batch->steps + begin;
            range->count = ipt__range_begin(batch, (size_t)i + 1) - begin;
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
        left -= batch->count;
        run->written = 1;
        next->count = ipt__min(left, IPT__CUT_BATCH);
        jobs[RANGES].next = next;
        ipt__run_together(ipt__shuffle_work, jobs, sizeof *jobs, RANGES + 1);
        ipt__host_progress(run, batch->count * bytes);
    }
}

/* ---- matrices in memory: by blocks ---- */

/* If the device accesses the host's memory and blocks have long rows for the bus, the host shuffles nothing. Each block
 * of a panel is uploaded to a unit of device memory and transposed there. A block is downloaded in strips of columns. A
 * strip waits in the unit until all panels that cover its final place are uploaded. After a share x of the panels,
 * units have x (1 - x) of the matrix: a quarter at most. If units run out, a block is spilled: it waits in the final
 * place of a block that is uploaded later, until a unit is free for another upload. The commands depend on sizes alone,
 * so the plan lists them once. */
