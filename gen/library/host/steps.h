/* Storages: steps and memory. */

/* If super-elements are too short for a storage, the shuffle moves the super-elements of a group of lines as one block.
 * A further pass sorts each group. Lines outside all groups are saved panel by panel. Slots may then begin before their
 * panel does. They never end after it if the saved bytes cover the gaps; panels then run in the opposite order. */
static void ipt__cut_make_groups(ipt__cut *cut)
{
    const size_t most =
        ipt__min(ipt__min(cut->chunk_bytes / (cut->panels * cut->piece_bytes), IPT__CUT_GROUP_BYTES / cut->piece_bytes),
                 cut->shorter);
    size_t group;
    if (cut->chunk_panels > 1 || cut->panels == 1 || most < 4)
        return;
    for (group = most; group > most / 2; --group) {
        const size_t groups = cut->shorter / group, spare = cut->shorter % group;
        if (spare && ipt__real(groups) * ipt__real(group) * ipt__real(cut->rest) >
                         ipt__real(cut->panels) * ipt__real(spare) * ipt__real(cut->length))
            continue;
        if (cut->group == 1 || spare < cut->spare) {
            cut->group = group;
            cut->groups = groups;
            cut->spare = spare;
        }
    }
    cut->block_bytes = cut->group * cut->piece_bytes;
    cut->spare_bytes = cut->spare * cut->panels * cut->piece_bytes;
}

/* The areas of a group's lines before and after sorting. */
static void ipt__cut_group_places(const ipt__cut *cut, size_t index, ipt__area *before, ipt__area *after)
{
    const size_t begin = index * cut->group * cut->line_bytes;
    const ipt__area dense = ipt__area_of(begin, 1, cut->panels * cut->block_bytes, 0),
                    lines = ipt__area_of(begin, cut->group, cut->panels * cut->piece_bytes, cut->line_bytes);
    *before = cut->tall ? dense : lines;
    *after = cut->tall ? lines : dense;
}

/* The area of the lines outside all groups, without the remainder at their ends. */
static ipt__area ipt__cut_spare_place(const ipt__cut *cut)
{
    return ipt__area_of(cut->groups * cut->group * cut->line_bytes, cut->spare, cut->panels * cut->piece_bytes,
                        cut->line_bytes);
}

/* The phases of a matrix, in order for a tall one. */
typedef enum ipt__phase {
    IPT__PHASE_SAVE,    /* saves the remainder of the longer side */
    IPT__PHASE_CHUNKS,  /* one chunk per step */
    IPT__PHASE_MOVES,   /* as many blocks per step as fill a chunk */
    IPT__PHASE_GROUPS,  /* one group per step, if a block has several super-elements */
    IPT__PHASE_RESTORE, /* restores the saved remainder */
    IPT__PHASE_COUNT
} ipt__phase;

static size_t ipt__batch_moves(const ipt__cut *cut)
{
    return cut->block_bytes ? cut->chunk_bytes / cut->block_bytes : 0;
}

/* True if the remainder is read with each group's lines and transposed when it is restored. Reading the ends of all
 * lines alone would split a file's first pass into short accesses. */
static int ipt__cut_saves_late(const ipt__cut *cut)
{
    return !cut->tall && cut->group > 1 && cut->rest;
}

/* The phase at `turn`. count: its turns of read, compute and write, see ipt__phase_reports. */
static IPT__RARE ipt__phase ipt__cut_phase(const ipt__cut *cut, int turn, size_t *count)
{
    static const ipt__phase tall[] = {IPT__PHASE_SAVE, IPT__PHASE_CHUNKS, IPT__PHASE_MOVES, IPT__PHASE_GROUPS,
                                      IPT__PHASE_RESTORE},
                            wide[] = {IPT__PHASE_SAVE, IPT__PHASE_GROUPS, IPT__PHASE_MOVES, IPT__PHASE_CHUNKS,
                                      IPT__PHASE_RESTORE};
    const ipt__phase phase = cut->tall ? tall[turn] : wide[turn];
    if (phase == IPT__PHASE_CHUNKS)
        *count = cut->chunks;
    else if (phase == IPT__PHASE_MOVES)
        *count = ipt__moves_count(cut) ? ipt__ceil_divide(ipt__moves_count(cut), ipt__batch_moves(cut)) : 0;
    else if (phase == IPT__PHASE_GROUPS)
        *count = cut->group > 1 ? cut->groups : 0;
    else
        *count = (cut->rest && !(phase == IPT__PHASE_SAVE && ipt__cut_saves_late(cut))) ||
                 (cut->spare && cut->tall == (phase == IPT__PHASE_RESTORE));
    return phase;
}

/* Steps per turn of a phase. A turn that also saves a piece until the matrix's end has two. The first reports that
 * piece, the second the slot. */
static size_t ipt__phase_reports(const ipt__cut *cut, ipt__phase phase)
{
    return (phase == IPT__PHASE_CHUNKS && cut->tall && cut->spare) ||
                   (phase == IPT__PHASE_GROUPS && ipt__cut_saves_late(cut))
               ? 2
               : 1;
}

/* True if the storage must keep a step's report until the matrix is done, not only until the next step. */
static int ipt__phase_keeps(const ipt__cut *cut, ipt__phase phase, size_t step)
{
    const size_t reports = ipt__phase_reports(cut, phase);
    return phase == IPT__PHASE_SAVE || step % reports + 1 < reports;
}

/* The number of turns of all matrices; if `reports`, the number of steps. */
static IPT__RARE size_t ipt__cut_steps(const ipt_plan *plan, int reports)
{
    size_t all = 0, count;
    int turn;
    for (turn = 0; turn < IPT__PHASE_COUNT; ++turn) {
        const ipt__phase phase = ipt__cut_phase(&plan->cut->sizes, turn, &count);
        all += reports ? count * ipt__phase_reports(&plan->cut->sizes, phase) : count;
    }
    return plan->cut->sizes.matrices ? all : all * plan->problem.desc.batch;
}

/* A slot holds the bytes that a step writes. After them lies the first block of a cycle that continues in the next
 * step. */
static size_t ipt__storage_slot(const ipt__cut *cut)
{
    return ipt__round_up(cut->chunk_bytes + cut->block_bytes, IPT__CUT_PAGE_BYTES);
}

static size_t ipt__storage_slots(const ipt_plan *plan)
{
    return ipt__min(IPT__CUT_SLOTS, ipt__cut_steps(plan, 0));
}

/* Saved bytes lie after the slots. Two matrices in sequence use two places: a resumed run may restore one after the
 * next one's bytes were saved. */
static size_t ipt__storage_kept(const ipt__cut *cut)
{
    return ipt__round_up(cut->rest_bytes + cut->spare_bytes, IPT__CUT_PAGE_BYTES);
}

static size_t ipt__storage_bytes(const ipt_plan *plan)
{
    return ipt__storage_slots(plan) * ipt__storage_slot(&plan->cut->sizes) +
           ipt__min(plan->problem.desc.batch, 2) * ipt__storage_kept(&plan->cut->sizes);
}

/* Scratch bytes of an execution, beside slots and saved bytes. */
static size_t ipt__storage_scratch(const ipt__cut *cut)
{
    return ipt__moves_count(cut)
               ? IPT__CUT_SLOTS * ipt__batch_moves(cut) * sizeof(ipt__move_step) + ipt__moves_bytes(cut)
               : 0;
}

/* Chooses the pieces of a matrix in a storage and makes their plans. */
static IPT__RARE ipt_result ipt__cut_open_storage(ipt_plan *plan, const void *unused)
{
    ipt__host *const host = &plan->host->staging;
    const size_t limit = plan->problem.desc.max_host_memory, device = plan->problem.desc.max_device_memory;
    size_t capacity, used = 0;
    (void)unused;
    /* Shrink the chunk until all buffers fit. */
    for (capacity = limit; capacity >= IPT__CUT_RUN_BYTES; capacity -= ipt__max(capacity / 64, 1)) {
        size_t piece = capacity;
        if (device) {
            const size_t workspace = ipt__cut_workspace(plan, device);
            piece = device > workspace ? ipt__min(piece, (device - workspace) / IPT__CUT_SLOTS) : 0;
        }
        used = 0;
        if (!ipt__cut_make(plan, piece, IPT__CUT_STORED_WANTED, &plan->cut->sizes))
            break;
        if (!plan->cut->sizes.matrices && plan->cut->sizes.block_bytes < IPT__CUT_STORED_WANTED)
            ipt__cut_make_groups(&plan->cut->sizes);
        used = ipt__storage_bytes(plan) + ipt__storage_scratch(&plan->cut->sizes);
        if (used <= limit)
            break;
        used = 0;
    }
    if (!used) {
        ipt__fail(IPT_ERROR_UNSUPPORTED,
                  "max_host_memory = %zu%s is too little for panels of a %zu x %zu matrix of %zu bytes", limit,
                  device ? ", or max_device_memory," : "", plan->problem.desc.rows, plan->problem.desc.cols,
                  plan->problem.desc.elem_size);
        return ipt__advise(offsetof(ipt_plan_desc, max_host_memory),
                           5 * ipt__round_up(IPT__CUT_RUN_BYTES, plan->problem.desc.elem_size) *
                                   ipt__cut_shorter(&plan->problem) +
                               plan->problem.matrix_bytes / (8 * IPT__CUT_RUN_BYTES) + 8 * IPT__CUT_PAGE_BYTES);
    }
    host->share_count = 1;
    host->shares = (ipt__host_share *)ipt__allocate(&plan->context->allocator, sizeof *host->shares);
    if (!host->shares)
        return IPT_ERROR_OUT_OF_MEMORY;
    host->shares[0].context = plan->context;
    return ipt__cut_plans(plan, plan->problem.desc.host);
}

/* One execution and its current phase. */
typedef struct ipt__storage_run {
    ipt_plan *plan;
    const ipt_storage *storage;
    char *memory, *kept;
    ipt__move_step *steps[IPT__CUT_SLOTS];
    size_t counts[IPT__CUT_SLOTS];
    ipt__moves_list moves;
    size_t base;        /* start of the matrix in the storage */
    size_t before;      /* steps of the passes before */
    size_t step, total; /* step: the first step of the phase, within its pass; total: of all passes */
    size_t turn;        /* first turn of the phase; turns use the slots as a ring */
    int written;        /* the storage was modified */
} ipt__storage_run;

typedef enum ipt__role { IPT__ROLE_COMPUTE, IPT__ROLE_READ, IPT__ROLE_WRITE } ipt__role;

/* One thread's job: a share of a step's reads or writes, or the device's work. */
typedef struct ipt__storage_job {
    const ipt__storage_run *run;
    ipt__role role;
    ipt__phase phase;
    size_t index, share, shares; /* step within its phase; the thread's share of it */
    char *slot, *head;           /* head: first block of a cycle that continues from the previous step; NULL: none */
    const ipt__move_step *steps;
    size_t count;
    ipt_result result;
    size_t failed_at, failed_bytes;
} ipt__storage_job;

static int ipt__storage_move(ipt__storage_job *job, size_t offset, char *memory, size_t bytes)
{
    const ipt_storage *const storage = job->run->storage;
    const int bad = job->role == IPT__ROLE_WRITE ? (storage->write)(memory, offset, bytes, storage->user)
                                                 : (storage->read)(memory, offset, bytes, storage->user);
    if (bad) {
        job->result = IPT_ERROR_STORAGE;
        job->failed_at = offset;
        job->failed_bytes = bytes;
    }
    return !bad;
}

/* Transfers a share of an area to or from its dense form. */
static void ipt__storage_area(ipt__storage_job *job, const ipt__area *area, char *dense)
{
    const size_t all = ipt__area_bytes(area),
                 each = ipt__round_up(ipt__ceil_divide(all, job->shares), IPT__CUT_PAGE_BYTES),
                 begin = ipt__min(each * job->share, all), end = ipt__min(begin + each, all);
    size_t at, bytes, place;
    for (at = begin; at < end && !job->result; at += bytes) {
        bytes = ipt__area_run(area, at, end, &place);
        ipt__storage_move(job, job->run->base + place, dense + at, bytes);
    }
}

/* Transfers a share of a step's super-elements. A read also stores the first block of a continuing cycle after them,
 * for the next step. */
static void ipt__storage_blocks(ipt__storage_job *job)
{
    const ipt__cut *const cut = &job->run->plan->cut->sizes;
    const size_t bytes = cut->block_bytes, base = job->run->base;
    const size_t begin = job->count * job->share / job->shares, end = job->count * (job->share + 1) / job->shares;
    size_t i, started = 0;
    int here = 0; /* the current cycle began in this step */
    for (i = 0; i < end && !job->result; ++i) {
        const ipt__move_step *const step = &job->steps[i];
        char *const block = job->slot + i * bytes;
        if (step->begins) {
            started = step->target;
            here = 1;
        }
        if (i < begin)
            continue;
        if (job->role == IPT__ROLE_WRITE)
            ipt__storage_move(job, base + ipt__cut_slot(cut, step->target), block, bytes);
        else if (step->ends && !here)
            memcpy(block, job->head, bytes);
        else /* a cycle that began here has not overwritten its first slot yet */
            ipt__storage_move(job, base + ipt__cut_slot(cut, step->source), block, bytes);
    }
    if (job->role == IPT__ROLE_WRITE || end < job->count || job->result || job->steps[job->count - 1].ends)
        return;
    if (here)
        ipt__storage_move(job, base + ipt__cut_slot(cut, started), job->slot + cut->chunk_bytes, bytes);
    else
        memcpy(job->slot + cut->chunk_bytes, job->head, bytes);
}

/* Copies a panel's part of the spare lines between the end of its slot and the saved bytes. A tall matrix's part stays
 * in one piece, a wide matrix's is copied line by line. */
static void ipt__cut_spare(const ipt__cut *cut, size_t panel, char *kept, char *slot)
{
    char *const last = slot + cut->groups * cut->block_bytes;
    const size_t bytes = cut->piece_bytes;
    size_t i;
    if (cut->tall)
        memcpy(kept + panel * cut->spare * bytes, last, cut->spare * bytes);
    for (i = 0; i < cut->spare && !cut->tall; ++i)
        memcpy(last + i * bytes, kept + (i * cut->panels + panel) * bytes, bytes);
}

/* Assembles a tall matrix's spare lines. */
static void ipt__cut_join_spare(const ipt__cut *cut, const char *kept, char *lines)
{
    const size_t bytes = cut->piece_bytes;
    size_t panel, i;
    for (i = 0; i < cut->spare; ++i)
        for (panel = 0; panel < cut->panels; ++panel)
            memcpy(lines + (i * cut->panels + panel) * bytes, kept + (panel * cut->spare + i) * bytes, bytes);
}

/* Transfers a share of the spare lines between the storage and memory. */
static void ipt__storage_spare(ipt__storage_job *job, char *lines)
{
    const ipt__area place = ipt__cut_spare_place(&job->run->plan->cut->sizes);
    if (!job->result && place.count)
        ipt__storage_area(job, &place, lines);
}

/* Reads for a step when the remainder is saved late. */
static void ipt__storage_read_late(ipt__storage_job *job)
{
    const ipt__storage_run *const run = job->run;
    const ipt__cut *const cut = &run->plan->cut->sizes;
    const size_t dense = cut->panels * cut->piece_bytes, rest = cut->rest_bytes / cut->shorter;
    const size_t first = job->phase == IPT__PHASE_SAVE ? cut->groups * cut->group : job->index * cut->group;
    const size_t lines = job->phase == IPT__PHASE_SAVE ? cut->spare : cut->group;
    char *const kept = run->kept + first * rest;
    char *const target = job->phase == IPT__PHASE_SAVE ? run->kept + cut->rest_bytes : job->slot;
    size_t i;
    if (job->phase == IPT__PHASE_RESTORE) {
        if (!job->share)
            memcpy(job->slot, run->kept, cut->rest_bytes);
        return;
    }
    for (i = lines * job->share / job->shares; i < lines * (job->share + 1) / job->shares; ++i)
        if (!ipt__storage_move(job, run->base + (first + i) * cut->line_bytes, target + i * dense, dense) ||
            !ipt__storage_move(job, run->base + (first + i) * cut->line_bytes + dense, kept + i * rest, rest))
            return;
}

/* Runs the device's work of a step. */
static void ipt__storage_compute(ipt__storage_job *job)
{
    const ipt__storage_run *const run = job->run;
    ipt_plan *const plan = run->plan, *const *const plans = plan->host->staging.shares[0].plans;
    const size_t index = ipt__cut_chunk_at(&plan->cut->sizes, job->index);
    if (job->phase == IPT__PHASE_CHUNKS) {
        if (!plan->cut->sizes.tall)
            ipt__cut_spare(&plan->cut->sizes, index, run->kept + plan->cut->sizes.rest_bytes, job->slot);
        job->result = ipt__host_execute_as(ipt__cut_plan_of(plan, index), job->slot, NULL);
        if (plan->cut->sizes.tall)
            ipt__cut_spare(&plan->cut->sizes, index, run->kept + plan->cut->sizes.rest_bytes, job->slot);
    } else if (job->phase == IPT__PHASE_GROUPS)
        job->result = ipt__host_execute_as(plans[IPT__CUT_PLAN_GROUP], job->slot, NULL);
    else if (plan->cut->sizes.rest &&
             job->phase == (ipt__cut_saves_late(&plan->cut->sizes) ? IPT__PHASE_RESTORE : IPT__PHASE_SAVE))
        job->result = ipt__host_execute_as(plans[IPT__CUT_PLAN_REST], job->slot, NULL);
    else if (job->phase == IPT__PHASE_RESTORE && plan->cut->sizes.tall)
        ipt__cut_join_spare(&plan->cut->sizes, run->kept + plan->cut->sizes.rest_bytes, job->slot);
}

static void ipt__storage_work(void *argument)
{
    ipt__storage_job *const job = (ipt__storage_job *)argument;
    const ipt__storage_run *const run = job->run;
    ipt_plan *const plan = run->plan;
    const ipt__cut *const cut = &plan->cut->sizes;
    ipt__area before, after;
    if (job->phase == IPT__PHASE_MOVES) {
        if (job->role != IPT__ROLE_COMPUTE)
            ipt__storage_blocks(job);
        return;
    }
    if (job->phase == IPT__PHASE_CHUNKS)
        ipt__cut_places(plan, ipt__cut_chunk_at(cut, job->index), &before, &after);
    else if (job->phase == IPT__PHASE_GROUPS)
        ipt__cut_group_places(cut, job->index, &before, &after);
    else
        ipt__cut_rest_places(cut, &before, &after);
    if (job->role == IPT__ROLE_COMPUTE)
        ipt__storage_compute(job);
    else if (job->role == IPT__ROLE_READ && ipt__cut_saves_late(cut) && job->phase != IPT__PHASE_CHUNKS)
        ipt__storage_read_late(job);
    else if (job->role == IPT__ROLE_READ && job->phase != IPT__PHASE_RESTORE) {
        ipt__storage_area(job, &before, job->slot);
        if (job->phase == IPT__PHASE_SAVE && !cut->tall)
            ipt__storage_spare(job, run->kept + cut->rest_bytes);
    } else if (job->role == IPT__ROLE_WRITE && job->phase != IPT__PHASE_SAVE) {
        const int kept = job->phase == IPT__PHASE_RESTORE && !ipt__cut_saves_late(cut);
        ipt__storage_area(job, &after, kept ? run->kept : job->slot);
        if (job->phase == IPT__PHASE_RESTORE && cut->tall)
            ipt__storage_spare(job, job->slot);
    }
}
