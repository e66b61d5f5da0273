/* Storages: executions. */

/* The buffer for a turn of a phase. Saved bytes that are restored unchanged need no slot. */
static char *ipt__storage_place(const ipt__storage_run *run, ipt__phase phase, size_t turn)
{
    const ipt__cut *const cut = &run->plan->cut->sizes;
    const int kept =
        phase == IPT__PHASE_SAVE || (phase == IPT__PHASE_RESTORE && !ipt__cut_saves_late(cut) && !cut->spare);
    return kept ? run->kept : run->memory + turn % IPT__CUT_SLOTS * ipt__storage_slot(cut);
}

/* A piece of a run's memory. */
typedef struct ipt__content {
    const char *begin;
    size_t bytes;
} ipt__content;

/* The piece that a turn adds to the saved bytes, if ipt__phase_reports is 2. */
static ipt__content ipt__storage_added(const ipt__storage_run *run, ipt__phase phase, size_t index)
{
    const ipt__cut *const cut = &run->plan->cut->sizes;
    ipt__content piece;
    if (phase == IPT__PHASE_GROUPS) {
        piece.bytes = cut->group * (cut->rest_bytes / cut->shorter);
        piece.begin = run->kept + index * piece.bytes;
    } else {
        piece.bytes = cut->spare * cut->piece_bytes;
        piece.begin = run->kept + cut->rest_bytes + ipt__cut_chunk_at(cut, index) * piece.bytes;
    }
    return piece;
}

/* The bytes that a turn has prepared for writing or has saved. They stay constant until the next step is ready. */
static ipt__content ipt__storage_content(const ipt__storage_run *run, ipt__phase phase, size_t index)
{
    const ipt__cut *const cut = &run->plan->cut->sizes;
    const int late = ipt__cut_saves_late(cut);
    ipt__content piece;
    piece.begin = ipt__storage_place(run, phase, run->turn + index);
    if (phase == IPT__PHASE_CHUNKS)
        piece.bytes = ipt__cut_count(run->plan, ipt__cut_chunk_at(cut, index)) *
                      (cut->matrices ? run->plan->problem.matrix_bytes : cut->piece_bytes * cut->shorter);
    else if (phase == IPT__PHASE_GROUPS)
        piece.bytes = cut->panels * cut->block_bytes;
    else if (phase == IPT__PHASE_MOVES)
        piece.bytes = cut->chunk_bytes + cut->block_bytes;
    else if (phase == IPT__PHASE_RESTORE)
        piece.bytes = cut->spare && cut->tall ? cut->spare_bytes : cut->rest_bytes;
    else {
        const size_t ends = late ? cut->groups * cut->group * (cut->rest_bytes / cut->shorter) : 0;
        piece.begin += ends; /* the remainder's part of the spare lines, written late */
        piece.bytes = cut->rest_bytes - ends + (cut->tall ? 0 : cut->spare_bytes);
    }
    return piece;
}

/* Adds the jobs of one role for turn `index` of a phase. Returns the new number of jobs. */
static int ipt__storage_add(const ipt__storage_run *run, ipt__storage_job *jobs, int count, ipt__role role,
                            ipt__phase phase, size_t index)
{
    const size_t turn = run->turn + index, slot = turn % IPT__CUT_SLOTS;
    const int shares = role == IPT__ROLE_COMPUTE ? 1 : IPT__CUT_STORED_THREADS;
    int i;
    for (i = 0; i < shares; ++i) {
        ipt__storage_job *const job = &jobs[count + i];
        memset(job, 0, sizeof *job);
        job->run = run;
        job->role = role;
        job->phase = phase;
        job->index = index;
        job->share = (size_t)i;
        job->shares = (size_t)shares;
        job->slot = ipt__storage_place(run, phase, turn);
        job->steps = run->steps[slot];
        job->count = run->counts[slot];
        if (phase == IPT__PHASE_MOVES && index) {
            job->head = run->memory +
                        (turn + IPT__CUT_SLOTS - 1) % IPT__CUT_SLOTS * ipt__storage_slot(&run->plan->cut->sizes) +
                        run->plan->cut->sizes.chunk_bytes;
        }
    }
    return count + shares;
}

static ipt_result ipt__storage_failed(const ipt__storage_job *jobs, int count)
{
    int i;
    for (i = 0; i < count; ++i)
        if (jobs[i].result == IPT_ERROR_STORAGE)
            return ipt__fail(IPT_ERROR_STORAGE, "the storage's %s failed for %zu bytes at byte %zu",
                             jobs[i].role == IPT__ROLE_WRITE ? "write" : "read", jobs[i].failed_bytes,
                             jobs[i].failed_at);
        else if (jobs[i].result) /* this thread ran the job, so it has the error text */
            return jobs[i].result == IPT_ERROR_INCOMPLETE ? IPT_ERROR_OPENCL : jobs[i].result;
    return IPT_SUCCESS;
}

/* Lists the moves of a turn into its slot's list. */
static void ipt__storage_list(ipt__storage_run *run, size_t index)
{
    const size_t slot = (run->turn + index) % IPT__CUT_SLOTS, batch = ipt__batch_moves(&run->plan->cut->sizes);
    size_t i;
    run->counts[slot] = ipt__min(batch, ipt__moves_count(&run->plan->cut->sizes) - index * batch);
    for (i = 0; i < run->counts[slot]; ++i)
        run->steps[slot][i] = ipt__moves_next(&run->moves);
}

/* Reports the steps of a turn, from step `from` of the phase on. Returns nonzero if the storage cancels. */
static int ipt__storage_report(const ipt__storage_run *run, ipt__phase phase, size_t index, size_t from)
{
    const ipt_storage *const storage = run->storage;
    const size_t reports = ipt__phase_reports(&run->plan->cut->sizes, phase);
    size_t step;
    for (step = ipt__max(index * reports, from); step < (index + 1) * reports && storage->ready; ++step) {
        const ipt__content piece = step + 1 < (index + 1) * reports ? ipt__storage_added(run, phase, index)
                                                                    : ipt__storage_content(run, phase, index);
        if (storage->ready(run->before + run->step + step, run->total, piece.begin, piece.bytes, storage->user))
            return 1;
    }
    return 0;
}

/* Runs a phase as a pipeline: write one turn, compute the next one, read the one after. Each turn is complete in its
 * slot and reported before its write begins. An earlier execution has already reported `ready` steps. */
static ipt_result ipt__storage_phase(ipt__storage_run *run, ipt__phase phase, size_t count, size_t ready)
{
    ipt__storage_job jobs[2 * IPT__CUT_STORED_THREADS + 1];
    const size_t reports = ipt__phase_reports(&run->plan->cut->sizes, phase), prepared = ready / reports;
    size_t i, read = prepared, computed = prepared;
    size_t written = prepared - (ready && ready % reports == 0); /* repeat the last write if its slot was reported */
    ipt_result result = IPT_SUCCESS;
    if (phase == IPT__PHASE_MOVES) {
        ipt__moves_begin(&run->moves, &run->plan->cut->sizes,
                         (unsigned char *)(run->steps[0] + IPT__CUT_SLOTS * ipt__batch_moves(&run->plan->cut->sizes)));
        for (i = 0; i < prepared; ++i)
            ipt__storage_list(run, i);
    }
    while (written < count && !result) {
        int jobs_count = 0;
        const int computes = computed < read, reads = read < count && read - written < IPT__CUT_SLOTS,
                  writes = written < computed;
        if (writes && ipt__storage_report(run, phase, written, ready))
            return IPT_ERROR_CANCELLED;
        run->written |= writes && phase != IPT__PHASE_SAVE;
        if (computes) /* the first job is this thread's */
            jobs_count = ipt__storage_add(run, jobs, jobs_count, IPT__ROLE_COMPUTE, phase, computed);
        if (reads) {
            if (phase == IPT__PHASE_MOVES)
                ipt__storage_list(run, read);
            jobs_count = ipt__storage_add(run, jobs, jobs_count, IPT__ROLE_READ, phase, read);
        }
        if (writes)
            jobs_count = ipt__storage_add(run, jobs, jobs_count, IPT__ROLE_WRITE, phase, written);
        ipt__run_together(ipt__storage_work, jobs, sizeof *jobs, jobs_count);
        result = ipt__storage_failed(jobs, jobs_count);
        computed += (size_t)computes;
        read += (size_t)reads;
        written += (size_t)writes;
    }
    return result;
}

/* Executes one plan for matrices, perhaps a pass of an array. whole: the run of all passes, with its memory, and the
 * number of steps before this plan. base: offset of the first matrix in the storage. */
static ipt_result ipt__storage_execute(ipt_plan *plan, const ipt__storage_run *whole, size_t base)
{
    const ipt__cut *const cut = &plan->cut->sizes;
    const ipt_allocator *const allocator = &plan->context->allocator;
    const size_t scratch_bytes = ipt__storage_scratch(cut), matrices = cut->matrices ? 1 : plan->problem.desc.batch;
    const size_t resume = whole->storage->resume > whole->before ? whole->storage->resume - whole->before : 0;
    ipt__storage_run run = *whole;
    char *scratch = NULL;
    size_t i;
    int turn;
    ipt_result result = IPT_SUCCESS;
    run.plan = plan;
    run.written = resume || whole->before > 1; /* 1: the first pass' mark */
    if (scratch_bytes && !(scratch = (char *)ipt__allocate(allocator, scratch_bytes)))
        return run.written ? ipt__fail_incomplete("it happened after some steps had been written")
                           : IPT_ERROR_OUT_OF_MEMORY;
    for (i = 0; i < IPT__CUT_SLOTS && scratch; ++i)
        run.steps[i] = (ipt__move_step *)scratch + i * ipt__batch_moves(cut);
    for (i = 0; i < matrices && !result; ++i) {
        run.base = base + i * plan->problem.desc.batch_stride;
        run.kept = run.memory + ipt__storage_slots(plan) * ipt__storage_slot(cut) + i % 2 * ipt__storage_kept(cut);
        for (turn = 0; turn < IPT__PHASE_COUNT && !result; ++turn) {
            size_t count, steps;
            const ipt__phase phase = ipt__cut_phase(cut, turn, &count);
            steps = count * ipt__phase_reports(cut, phase);
            if (count && resume <= run.step + steps)
                result = ipt__storage_phase(&run, phase, count, resume > run.step ? resume - run.step : 0);
            run.step += steps;
            run.turn += count;
        }
    }
    ipt__release(allocator, scratch);
    if (result == IPT_ERROR_CANCELLED)
        return run.written
                   ? ipt__fail(IPT_ERROR_INCOMPLETE, "storage.ready ended the execution: some steps have been written")
                   : ipt__fail(IPT_ERROR_CANCELLED, "storage.ready ended the execution before anything was written");
    return result && run.written ? ipt__fail_incomplete("it happened after some steps had been written") : result;
}

/* The steps of one plan for matrices. */
static size_t ipt__storage_steps(const ipt_plan *plan)
{
    return ipt__nothing_moves(plan) ? 0 : ipt__cut_steps(plan, 1);
}

IPT_API size_t ipt_plan_storage_memory(const ipt_plan *plan)
{
    size_t bytes = 0;
    int i;
    if (!plan || !plan->problem.desc.max_host_memory)
        return 0;
    if (!plan->passes)
        return ipt__storage_bytes(plan);
    for (i = 0; i < plan->passes->count; ++i)
        bytes = ipt__max(bytes, ipt__storage_bytes(plan->passes->list[i].plan));
    return bytes + IPT__CUT_MARK_BYTES;
}

IPT_API size_t ipt_plan_storage_steps(const ipt_plan *plan)
{
    size_t steps = 0, each;
    int i;
    if (!plan || !plan->problem.desc.max_host_memory)
        return 0;
    if (!plan->passes)
        return ipt__storage_steps(plan);
    for (i = 0; i < plan->passes->count; ++i) {
        each = ipt__storage_steps(plan->passes->list[i].plan);
        steps += plan->passes->list[i].repeats * (each ? each + 1 : 0); /* and one for the mark */
    }
    return steps;
}

/* ipt_plan_storage_needs for one plan for matrices: step < resume <= its steps. */
static int ipt__storage_needs(const ipt_plan *plan, size_t step, size_t resume)
{
    const size_t steps = ipt__storage_steps(plan);
    const size_t each = plan->cut->sizes.matrices ? steps : steps / plan->problem.desc.batch;
    size_t within = step % each;
    int turn;
    if (step + 1 == resume || step / each != (resume - 1) / each)
        return step + 1 == resume;
    for (turn = 0; turn < IPT__PHASE_COUNT; ++turn) {
        size_t count;
        const ipt__phase phase = ipt__cut_phase(&plan->cut->sizes, turn, &count);
        count *= ipt__phase_reports(&plan->cut->sizes, phase);
        if (within < count)
            return ipt__phase_keeps(&plan->cut->sizes, phase, within);
        within -= count;
    }
    return 0;
}

IPT_API int ipt_plan_storage_needs(const ipt_plan *plan, size_t step, size_t resume)
{
    size_t before = 0, r;
    int i;
    if (step >= resume || resume > ipt_plan_storage_steps(plan))
        return 0;
    if (!plan->passes)
        return ipt__storage_needs(plan, step, resume);
    for (i = 0; i < plan->passes->count; ++i) {
        const size_t steps = ipt__storage_steps(plan->passes->list[i].plan);
        for (r = 0; steps && r < plan->passes->list[i].repeats; ++r, before += steps + 1)
            if (resume == before + 1)
                return step == before;
            else if (resume <= before + 1 + steps) /* the pieces of earlier passes are written */
                return step > before &&
                       ipt__storage_needs(plan->passes->list[i].plan, step - before - 1, resume - before - 1);
    }
    return 0;
}

/* Executes a plan, or its passes one after the other. All passes use one memory. So each pass begins with a step that
 * reports a mark after their memory. Without the mark, a resumption would repeat the last write of the previous pass,
 * from memory that this pass has already changed. */
static ipt_result ipt__storage_execute_passes(ipt_plan *plan, ipt__storage_run *run)
{
    const ipt_storage *const storage = run->storage;
    const char *const mark = run->memory + ipt_plan_storage_memory(plan) - IPT__CUT_MARK_BYTES;
    ipt_result result = IPT_SUCCESS;
    size_t r;
    int i;
    if (!plan->passes)
        return ipt__storage_execute(plan, run, 0);
    for (i = 0; i < plan->passes->count; ++i) {
        ipt_plan *const pass = plan->passes->list[i].plan;
        const size_t steps = ipt__storage_steps(pass);
        for (r = 0; steps && r < plan->passes->list[i].repeats && !result; ++r, run->before += steps) {
            const size_t at = run->before++;
            if (storage->resume <= at && storage->ready &&
                storage->ready(at, run->total, mark, IPT__CUT_MARK_BYTES, storage->user))
                result = at ? ipt__fail(IPT_ERROR_INCOMPLETE, "storage.ready ended the execution between two passes")
                            : ipt__fail(IPT_ERROR_CANCELLED,
                                        "storage.ready ended the execution before anything was written");
            else if (storage->resume <= run->before + steps)
                result = ipt__storage_execute(pass, run, r * plan->problem.desc.batch_stride);
        }
    }
    return result;
}

static ipt_result ipt__storage_execute_all(ipt_plan *plan, const ipt_storage *storage)
{
    const ipt_allocator *const allocator = &plan->context->allocator;
    ipt__storage_run run;
    char *own = NULL;
    ipt_result result;
    memset(&run, 0, sizeof run);
    run.storage = storage;
    run.total = ipt_plan_storage_steps(plan);
    run.memory = (char *)storage->memory;
    if (storage->resume > run.total)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "resume is %zu: the plan has %zu steps", storage->resume,
                         run.total);
    if (storage->resume && !run.memory)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "resume is %zu, but memory is NULL", storage->resume);
    if (!run.memory) {
        own = (char *)ipt__allocate(allocator, ipt_plan_storage_memory(plan) + IPT__CUT_PAGE_BYTES);
        if (!own)
            return IPT_ERROR_OUT_OF_MEMORY;
        run.memory = own + (IPT__CUT_PAGE_BYTES - (size_t)own % IPT__CUT_PAGE_BYTES);
    }
    if (plan->passes)
        memset(run.memory + ipt_plan_storage_memory(plan) - IPT__CUT_MARK_BYTES, 0, IPT__CUT_MARK_BYTES);
    result = ipt__storage_execute_passes(plan, &run);
    ipt__release(allocator, own);
    return result;
}

IPT_API ipt_result ipt_plan_execute_storage_sized(size_t storage_bytes, ipt_plan *plan, const ipt_storage *storage)
{
    ipt_storage taken;
    ipt_result result = plan && storage ? ipt__check_plan(plan) : ipt__fail_null(plan ? "storage" : "plan");
    if (!result)
        result = ipt__take_desc(&taken, sizeof taken, storage, storage_bytes, "storage");
    if (!result && (!taken.read || !taken.write))
        result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "storage->%s is NULL", taken.read ? "write" : "read");
    if (!result && !plan->problem.desc.max_host_memory)
        result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "max_host_memory is 0: the plan is not for storages");
    if (result || ipt__nothing_moves(plan))
        return result;
    IPT_LOCK_ACQUIRE(&plan->host->lock);
    result = ipt__storage_execute_all(plan, &taken);
    IPT_LOCK_RELEASE(&plan->host->lock);
    return result;
}

/* Makes a plan for pieces, which go through host memory. A piece may be larger than the device. */
static ipt_result ipt__storage_piece_make(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent,
                                          ipt_plan **plan)
{
    const ipt_result result = ipt__host_plan_make(context, desc, lent, plan);
    return result ? result : ipt__plan_keep(plan, ipt__host_prepare(*plan));
}

static ipt_result ipt__storage_plan_make(ipt_context *context, const ipt_plan_desc *desc, ipt__workspace *lent,
                                         ipt_plan **plan)
{
    const ipt_result result = ipt__host_plan_new(context, desc, lent, plan);
    return result ? result : ipt__plan_keep(plan, ipt__plan_cut(*plan, ipt__cut_open_storage, ipt__storage_piece_make));
}
