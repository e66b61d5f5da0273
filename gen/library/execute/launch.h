/* Enqueueing commands. */

/* One execution. Each command waits for the previous one, the first command for `wait`. Intel's runtime for CPUs (seen:
 * 2026.22.10) passes a failure only to direct dependents of the failed event. So on that runtime each command of an
 * in-order queue `holds`: it waits for all of the caller's events. Its out-of-order queues pass failures on, but crash
 * on a wait list of two with a failed event. */
typedef struct ipt__run {
    ipt_plan *plan;
    cl_command_queue queue;
    cl_uint wait_count;
    const cl_event *wait;
    cl_event previous; /* event of the last command, owned; NULL before the first */
    int commands;      /* number of enqueued commands */
    int holds;         /* each command waits for `wait`: an in-order queue does not propagate failures */
    size_t skipped;    /* units of a matrix before the first instance; set by ipt__host_stages alone */
    int unaligned;     /* the buffer's host memory is not aligned to words: kernels move units */
} ipt__run;

static ipt__run ipt__run_begin(ipt_plan *plan, cl_command_queue queue, cl_uint wait_count, const cl_event *wait)
{
    ipt__run run;
    memset(&run, 0, sizeof run);
    run.plan = plan;
    run.queue = queue;
    run.wait_count = wait_count;
    run.wait = wait;
    return run;
}

/* Takes ownership of the event of a command that was just enqueued. */
static ipt_result ipt__run_took(ipt__run *run, const char *call, cl_int error, cl_event event)
{
    if (error)
        return ipt__fail_opencl(call, error);
    if (run->previous)
        ipt__cl.clReleaseEvent(run->previous);
    run->previous = event;
    if (!run->holds) {
        run->wait_count = 1;
        run->wait = &run->previous;
    }
    ++run->commands;
    return IPT_SUCCESS;
}

/* Enqueues a kernel with all its arguments. The plan is locked. Only some kernels use `second` and local_bytes. */
static ipt_result ipt__run_kernel(ipt__run *run, int index, cl_mem first, cl_mem second, size_t local_bytes,
                                  void *arguments, cl_ulong groups)
{
    const ipt__plan_kernel *const kernel = &run->plan->kernels[index];
    const ipt__kernel_info *const info = &ipt__kernels[kernel->program->id];
    const size_t local_size = kernel->program->params.group_size, global_size = (size_t)groups * local_size;
    cl_event event = NULL;
    cl_int error;
    if (groups > 0x7fffffff) /* NVIDIA's limit for a launch; kernels count work-groups in 32 bits */
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s would take %.0f work-groups: 2147483647 are possible", info->name,
                         (double)groups);
    ipt__complete_divisors(info, &kernel->program->params, arguments);
    error = ipt__set_arguments(kernel->kernel, info, first, second, local_bytes, arguments);
    if (error)
        return ipt__fail_opencl("clSetKernelArg", error);
    error = ipt__cl.clEnqueueNDRangeKernel(run->queue, kernel->kernel, 1, NULL, &global_size, &local_size,
                                           run->wait_count, run->wait, &event);
    return ipt__run_took(run, "clEnqueueNDRangeKernel", error, event);
}

/* Completes the arguments and enqueues a tiled transposition of `matrices` matrices. */
static ipt_result ipt__run_transpose(ipt__run *run, int kernel, cl_mem source, cl_mem target,
                                     ipt__transpose_arguments *a, size_t matrices)
{
    size_t side, chunk;
    cl_ulong groups;
    ipt__transpose_tile(&run->plan->problem, a->element_units, 1, &side, &chunk);
    groups = (cl_ulong)ipt__ceil_divide((size_t)a->rows, side) * ipt__ceil_divide((size_t)a->cols, side) *
             ipt__ceil_divide(a->element_units, chunk) * a->instances_per_matrix * matrices;
    a->tiles_down = (cl_uint)ipt__ceil_divide((size_t)a->rows, side); /* fits if the number of groups does */
    a->tiles_across = (cl_uint)ipt__ceil_divide((size_t)a->cols, side);
    a->chunk_units = (cl_uint)chunk;
    a->chunks = (cl_uint)ipt__ceil_divide(a->element_units, chunk);
    return ipt__run_kernel(run, kernel, source, target, side * (side * chunk + 1) * run->plan->problem.unit_bytes, a,
                           groups);
}

/* Enqueues a copy of rows. The caller sets row counts, slots and strides; 1 slot a row is a plain copy. `kernel` moves
 * units; the word kernel replaces it if both buffers are aligned to words. */
static ipt_result ipt__run_copy(ipt__run *run, const ipt__stage *stage, int kernel, cl_mem source, cl_mem target,
                                ipt__copy_arguments *a, size_t matrices)
{
    const cl_ulong units = IPT__WORD_BYTES / run->plan->problem.unit_bytes;
    const ipt__params *params;
    if (stage->by_words && !run->unaligned && a->source_base % units == 0 && a->target_base % units == 0) {
        kernel = stage->word_kernel;
        a->source_base /= units;
        a->target_base /= units;
        a->source_matrix_stride /= units;
        a->target_matrix_stride /= units;
        a->source_row_stride /= units;
        a->target_row_stride /= units;
        a->row_units /= units;
    }
    params = &run->plan->kernels[kernel].program->params;
    a->chunk_units = (cl_uint)ipt__min((size_t)a->row_units, params->lanes == 1 ? 4096 : 512);
    a->chunks = ipt__ceil_divide((size_t)a->row_units, a->chunk_units);
    a->lines = a->chunks * a->rows * matrices;
    return ipt__run_kernel(run, kernel, source, target, 0, a,
                           ipt__ceil_divide((size_t)a->lines, params->group_size / params->lanes));
}
