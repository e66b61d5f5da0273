/* Enqueueing launches. */

/* One execution. Each command waits for the previous one, the first command for `wait`. Intel's runtime for CPUs
 * (2026.22.10) passes a failure only to direct dependents of the failed event. So with `holds` each command of an
 * in-order queue waits for all of the caller's events. Out-of-order queues of that runtime pass failures on, but crash
 * on a wait list of two with a failed event. */
typedef struct ipt__run {
    ipt_plan *plan;
    cl_command_queue queue;
    cl_uint wait_count;
    const cl_event *wait;
    cl_event previous;       /* event of the last command, owned; NULL before the first */
    int commands;            /* number of enqueued commands */
    int holds;               /* each command waits for `wait`: an in-order queue does not propagate failures */
    int unaligned;           /* a buffer's host memory is not aligned to words: kernels move units */
    int captured;            /* a graph or a command buffer takes the commands, and repeats them */
    ipt__recorder *recorder; /* the command buffer; NULL: none */
    cl_mem buffers[2];       /* the caller's: source and target, equal in place */
    cl_ulong bases[2];       /* where their batches begin, in the plan's units */
} ipt__run;

/* The data of an execution: the places of the batch in source and target, and the events to wait for. In place, only
 * the target counts. */
typedef struct ipt__call {
    cl_command_queue queue;
    cl_mem source, target;
    size_t source_offset, target_offset;
    size_t address; /* addresses of host memory under both buffers, by bitwise or; 0: none */
    cl_uint wait_count;
    const cl_event *wait;
    int captured;            /* a graph or a command buffer takes the commands, and repeats them */
    ipt__recorder *recorder; /* the command buffer; NULL: none */
} ipt__call;

static ipt__run ipt__run_begin(ipt_plan *plan, const ipt__call *call, int out_of_place)
{
    ipt__run run;
    memset(&run, 0, sizeof run);
    run.plan = plan;
    run.queue = call->queue;
    run.wait_count = call->wait_count;
    run.wait = call->wait;
    run.unaligned = call->address % IPT__WORD_BYTES != 0;
    run.captured = call->captured;
    run.recorder = call->recorder;
    run.buffers[0] = out_of_place ? call->source : call->target;
    run.buffers[1] = call->target;
    run.bases[0] = (out_of_place ? call->source_offset : call->target_offset) / plan->problem.unit_bytes;
    run.bases[1] = call->target_offset / plan->problem.unit_bytes;
    return run;
}

/* Takes ownership of the event of a command that was just enqueued. */
static ipt_result ipt__run_took(ipt__run *run, const char *call, cl_int error, cl_event event)
{
    if (error)
        return ipt__fail_opencl(call, error);
    ++run->commands;
    if (run->recorder)
        return IPT_SUCCESS;
    if (run->previous)
        ipt__calls(run->plan->context)->clReleaseEvent(run->previous);
    run->previous = event;
    if (!run->holds) {
        run->wait_count = 1;
        run->wait = &run->previous;
    }
    return IPT_SUCCESS;
}

static ipt_result ipt__run_clear(ipt__run *run, size_t offset, size_t bytes)
{
    const cl_uint zero = 0;
    cl_event event = NULL;
    const cl_mem workspace = run->plan->workspace->buffer;
    const cl_int error = run->recorder ? ipt__record_fill(run->recorder, workspace, offset, bytes)
                                       : ipt__calls(run->plan->context)
                                             ->clEnqueueFillBuffer(run->queue, workspace, &zero, sizeof zero, offset,
                                                                   bytes, run->wait_count, run->wait, &event);
    return ipt__run_took(run, "clEnqueueFillBuffer", error, event);
}

/* Enqueues a launch's kernel with `arguments`. The caller has locked the workspace. together: NULL, or asks that the
 * work-groups run at the same time, and says whether they do: if not, nothing was enqueued. */
static ipt_result ipt__run_kernel(ipt__run *run, const ipt__launch *launch, const ipt__arguments *arguments,
                                  int *together)
{
    const cl_mem workspace = run->plan->workspace->buffer;
    ipt__plan_kernel *const kernel = &run->plan->device->kernels[launch->kernel];
    const size_t local_size = kernel->program->params.group_size, global_size = (size_t)launch->groups * local_size;
    const ipt__kernel_info *const info = &ipt__kernels[kernel->program->id];
    const ipt__driver *const calls = ipt__calls(run->plan->context);
    ipt__kernel_call call;
    cl_event event = NULL;
    cl_int error;
    if (launch->groups > 0x7fffffff) /* NVIDIA's limit for a launch; kernels count work-groups in 32 bits */
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s would take %.0f work-groups: 2147483647 are possible", info->name,
                         (double)launch->groups);
    call.kernel = kernel->kernel;
    call.program = kernel->program;
    call.memories[0] = launch->given & 1 ? run->buffers[0] : workspace;
    call.memories[1] = launch->given & 2 ? run->buffers[1] : workspace;
    call.local_bytes = launch->bytes;
    call.arguments = arguments;
    call.set = kernel->is_set ? &kernel->set : NULL;
    call.value = run->plan->argument;
    error = ipt__set_arguments(run->plan->context, &call);
    kernel->is_set = !error;
    kernel->set = *arguments;
    if (error)
        return ipt__fail_opencl("clSetKernelArg", error);
    error = run->recorder ? ipt__record_kernel(run->recorder, kernel->kernel, global_size, local_size)
                          : (together ? calls->launch_together : calls->clEnqueueNDRangeKernel)(
                                run->queue, kernel->kernel, 1, NULL, &global_size, &local_size, run->wait_count,
                                run->wait, &event);
    if (together) {
        *together = error != CL_INVALID_GLOBAL_WORK_SIZE;
        if (!*together)
            return IPT_SUCCESS;
    }
    return ipt__run_took(run, "clEnqueueNDRangeKernel", error, event);
}

/* True if the queue itself orders later commands after `event`. */
static int ipt__queue_follows(const ipt_context *context, cl_command_queue queue, cl_event event)
{
    cl_command_queue of_event = NULL;
    cl_command_queue_properties properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    return !ipt__calls(context)->clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof of_event, &of_event, NULL) &&
           of_event == queue &&
           !ipt__calls(context)->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                                                       NULL) &&
           !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/* Enqueues a cooperative kernel after the context's previous one. Two such kernels on one device could deadlock: each
 * might hold compute units that the other needs. */
static ipt_result ipt__run_cooperative(ipt__run *run, const ipt__launch *launch, const ipt__arguments *arguments)
{
    ipt_context *const context = run->plan->context;
    cl_event both[2] = {NULL, NULL};
    const cl_event *wait;
    cl_int status = CL_COMPLETE;
    ipt_result result = IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&context->cooperative_lock);
    if (context->cooperative_last &&
        (ipt__calls(context)->clGetEventInfo(context->cooperative_last, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                             sizeof status, &status, NULL) ||
         status <= CL_COMPLETE)) {
        ipt__calls(context)->clReleaseEvent(context->cooperative_last);
        context->cooperative_last = NULL;
    }
    if (context->cooperative_last && !ipt__queue_follows(context, run->queue, context->cooperative_last)) {
        if (run->wait_count > 1) {
            cl_event marker = NULL;
            const cl_int error =
                ipt__calls(context)->clEnqueueMarkerWithWaitList(run->queue, run->wait_count, run->wait, &marker);
            result = ipt__run_took(run, "clEnqueueMarkerWithWaitList", error, marker);
        }
        both[0] = context->cooperative_last;
        if (run->wait_count)
            both[1] = run->wait[0];
        wait = run->wait;
        run->wait = both;
        ++run->wait_count;
        if (!result)
            result = ipt__run_kernel(run, launch, arguments, NULL);
        if (run->wait == both) { /* a failure, or the run holds */
            run->wait = wait;
            --run->wait_count;
        }
    } else {
        result = ipt__run_kernel(run, launch, arguments, NULL);
    }
    if (!result) {
        if (context->cooperative_last)
            ipt__calls(context)->clReleaseEvent(context->cooperative_last);
        context->cooperative_last = run->previous;
        if (ipt__calls(context)->clRetainEvent(
                run->previous)) { /* later launches cannot wait for the event: wait here */
            ipt__calls(context)->clWaitForEvents(1, &run->previous);
            context->cooperative_last = NULL;
        }
    }
    IPT_LOCK_RELEASE(&context->cooperative_lock);
    return result;
}

/* The start of a turn: the matrices of the batch before the turn, their units, and the instances of a matrix before the
 * turn's first instance. */
typedef struct ipt__turn {
    size_t matrix;
    cl_ulong units;
    size_t instance;
} ipt__turn;

/* Adds an execution's own values to a launch's arguments: bases, offsets, turn. */
static void ipt__launch_place(const ipt__run *run, const ipt__launch *launch, ipt__turn turn, ipt__arguments *arguments)
{
    cl_ulong *const bases = (cl_ulong *)(void *)arguments;
    const cl_ulong skipped = turn.instance * launch->instance_units,
                   skipped_slots = turn.instance * launch->instance_slots;
    const ipt__kernel_id id = run->plan->device->kernels[launch->kernel].program->id;
    int i;
    for (i = 0; i < 2; ++i)
        if (launch->given >> i & 1)
            bases[i] += (run->bases[i] + turn.units) / launch->plan_units + skipped;
    if (id == IPT__KERNEL_chains)
        arguments->chains.matrix_units -= skipped;
    if (id == IPT__KERNEL_runs) {
        arguments->runs.instance = (cl_uint)turn.instance;
        arguments->runs.saved_base += turn.matrix * arguments->runs.saved_stride;
    }
    if (id == IPT__KERNEL_copy)
        *(launch->given & 1 ? &arguments->copy.source_first : &arguments->copy.target_first) += skipped_slots;
    if (launch->cooperative && run->plan->device->turn) {
        cl_ulong *const control = (cl_ulong *)(void *)((char *)arguments + launch->control);
        cl_ulong *const clear = (cl_ulong *)(void *)((char *)arguments + launch->clear);
        const cl_ulong other = *clear;
        *clear = *control;
        *control = other;
    }
}

static ipt_result ipt__run_launch(ipt__run *run, const ipt__launch *launch, ipt__turn turn)
{
    ipt__arguments arguments;
    ipt_result result = IPT_SUCCESS;
    int together = 0;
    if (launch->kernel < 0)
        return ipt__run_clear(run, launch->offset, launch->bytes);
    arguments = launch->arguments;
    ipt__launch_place(run, launch, turn, &arguments);
    if (!launch->cooperative)
        return ipt__run_kernel(run, launch, &arguments, NULL);
    if (ipt__calls(run->plan->context)->launch_together)
        result = ipt__run_kernel(run, launch, &arguments, &together);
    if (!result && !together) /* a graph's launches cannot wait for others: they rely on the kernels' patience */
        result = run->captured ? ipt__run_kernel(run, launch, &arguments, NULL)
                               : ipt__run_cooperative(run, launch, &arguments);
    if (!result)
        run->plan->device->turn = !run->plan->device->turn;
    return result;
}

/* Enqueues the launches of a stage, turn by turn. */
static ipt_result ipt__run_stage(ipt__run *run, const ipt__launches *launches, const ipt__turns *turns)
{
    const size_t number = ipt__ceil_divide(turns->instances, turns->instances_at_once);
    const int words =
        !run->unaligned && run->bases[0] % ipt__max(1, IPT__WORD_BYTES / run->plan->problem.unit_bytes) == 0;
    size_t matrix, i;
    int at;
    ipt_result result = IPT_SUCCESS;
    for (matrix = 0; matrix < turns->matrices; matrix += turns->matrices_at_once)
        for (i = 0; i < number; ++i) {
            const size_t matrices = ipt__min(turns->matrices_at_once, turns->matrices - matrix);
            const size_t first = (turns->backwards ? number - 1 - i : i) * turns->instances_at_once;
            const size_t instances = ipt__min(turns->instances_at_once, turns->instances - first);
            ipt__turn turn;
            turn.matrix = matrix;
            turn.units = matrix * turns->matrix_stride;
            turn.instance = first;
            for (at = turns->first; at < turns->end && !result; ++at) {
                const ipt__launch *const launch = &launches->items[at];
                if (launch->matrices == matrices && launch->instances == instances &&
                    (words ? launch->by_words : launch->by_units))
                    result = ipt__run_launch(run, launch, turn);
            }
            if (result)
                return result;
        }
    return result;
}

/* Enqueues a list of launches in place. */
static ipt_result ipt__run_launches(ipt__run *run, const ipt__launches *launches)
{
    ipt_plan *const plan = run->plan;
    ipt_result result = IPT_SUCCESS;
    int i;
    if (plan->device->dirty && plan->device->layout.cooperative)
        result = ipt__run_clear(run, plan->device->layout.saved_bytes,
                                plan->device->layout.scratch_offset - plan->device->layout.saved_bytes);
    if (!result)
        plan->device->dirty = 0;
    for (i = 0; i < launches->stage_count && !result; ++i)
        result = ipt__run_stage(run, launches, &launches->stages[i]);
    return result;
}
