/* Executions of host matrices: of plans of all kinds, and in threads of their own. */

/* Executes a plan of any kind. */
static ipt_result ipt__host_execute_any(ipt_plan *plan, void *data, const ipt_host_options *options)
{
    const ipt_result result = plan && data ? ipt__check_plan(plan) : ipt__fail_null(plan ? "data" : "plan");
    if (result)
        return result;
    if (plan->problem.desc.max_host_memory)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "max_host_memory is %zu: the plan takes storages only",
                         plan->problem.desc.max_host_memory);
    return ipt__host_execute_as(plan, data, options);
}

IPT_API ipt_result ipt_plan_execute_host(ipt_plan *plan, void *data)
{
    return ipt__host_execute_any(plan, data, NULL);
}

/* Takes a caller's options, which may be NULL, of any version. */
static ipt_result ipt__host_take_options(ipt_host_options *taken, const ipt_host_options *given, size_t given_bytes)
{
    memset(taken, 0, sizeof *taken);
    return given ? ipt__take_desc(taken, sizeof *taken, given, given_bytes, "options") : IPT_SUCCESS;
}

IPT_API ipt_result ipt_plan_execute_host_with_sized(size_t options_bytes, ipt_plan *plan, void *data,
                                                    const ipt_host_options *options)
{
    ipt_host_options taken;
    const ipt_result result = ipt__host_take_options(&taken, options, options_bytes);
    return result ? result : ipt__host_execute_any(plan, data, &taken);
}

#ifndef IPT_NO_THREADS

/* An execution of a plan of any kind in a separate thread. */
typedef struct ipt__host_job {
    ipt_result (*execute)(void *plan, void *data, const ipt_host_options *options);
    void *plan, *data;
    ipt_host_options options;
    ipt__driver_id driver; /* of the event, which may outlive the plan and its context */
    cl_event event;        /* NULL: not requested */
    ipt_allocator allocator;
} ipt__host_job;

/* Completes and releases a user event. Some drivers hang in clReleaseContext when a user event is released before it
 * has a status. So a failed clSetUserEventStatus is repeated once. */
static void ipt__host_event_end(ipt__driver_id driver, cl_event event, ipt_result result)
{
    const cl_int status = result ? -(cl_int)result : CL_COMPLETE;
    if (ipt__driver_of(driver)->clSetUserEventStatus(event, status))
        ipt__driver_of(driver)->clSetUserEventStatus(event, status);
    ipt__driver_of(driver)->clReleaseEvent(event);
}

/* Makes the user event of an execution, with one reference for its thread and one for the caller. */
static ipt_result ipt__host_event_begin(ipt_context *context, cl_event *event)
{
    cl_int error;
    *event = ipt__calls(context)->clCreateUserEvent(context->context, &error);
    if (error) {
        *event = NULL;
        return ipt__fail_opencl("clCreateUserEvent", error);
    }
    error = ipt__calls(context)->clRetainEvent(*event);
    if (!error)
        return IPT_SUCCESS;
    ipt__host_event_end(context->driver, *event, IPT_ERROR_OPENCL);
    *event = NULL;
    return ipt__fail_opencl("clRetainEvent", error);
}

/* Ends the event of an execution that has not begun. event and *event may be NULL. */
static void ipt__host_event_cancel(const ipt_context *context, cl_event *event, ipt_result result)
{
    if (!event || !*event)
        return;
    ipt__host_event_end(context->driver, *event, result);
    ipt__calls(context)->clReleaseEvent(*event);
    *event = NULL;
}

static IPT__THREAD_RESULT ipt__host_job_main(void *argument)
{
    ipt__host_job job = *(ipt__host_job *)argument;
    ipt_result result;
    ipt__release(&job.allocator, argument);
    result = job.execute(job.plan, job.data, &job.options);
    if (job.options.finished)
        job.options.finished(result, job.options.user);
    if (job.event)
        ipt__host_event_end(job.driver, job.event, result);
    return IPT__THREAD_RETURN;
}

/* Starts the thread of a job. event (may be NULL): the caller's. */
static ipt_result ipt__host_job_start(ipt_context *context, const ipt__host_job *given, cl_event *event)
{
    ipt__host_job *const job = (ipt__host_job *)ipt__allocate(&context->allocator, sizeof *job);
    ipt__thread thread;
    ipt_result result = IPT_SUCCESS;
    if (!job)
        return IPT_ERROR_OUT_OF_MEMORY;
    *job = *given;
    job->allocator = context->allocator;
    job->driver = context->driver;
    if (event)
        result = ipt__host_event_begin(context, event);
    job->event = event ? *event : NULL;
    if (!result && !IPT__THREAD_START(&thread, ipt__host_job_main, job))
        result = ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "a thread cannot be started");
    if (!result) {
        IPT__THREAD_DETACH(thread);
        return IPT_SUCCESS;
    }
    ipt__host_event_cancel(context, event, result);
    ipt__release(&context->allocator, job);
    return result;
}

static ipt_result ipt__host_job_plan(void *plan, void *data, const ipt_host_options *options)
{
    return ipt__host_execute_any((ipt_plan *)plan, (char *)data, options);
}

IPT_API ipt_result ipt_plan_execute_host_async_sized(size_t options_bytes, ipt_plan *plan, void *data,
                                                     const ipt_host_options *options, cl_event *event)
{
    ipt__host_job job;
    ipt_result result = ipt__check_plan(plan);
    memset(&job, 0, sizeof job);
    job.execute = ipt__host_job_plan;
    job.plan = plan;
    job.data = data;
    if (event)
        *event = NULL;
    if (!result && !data)
        result = ipt__fail_null("data");
    if (!result)
        result = ipt__host_take_options(&job.options, options, options_bytes);
    return result ? result : ipt__host_job_start(plan->context, &job, event);
}

#else

IPT_API ipt_result ipt_plan_execute_host_async_sized(size_t options_bytes, ipt_plan *plan, void *data,
                                                     const ipt_host_options *options, cl_event *event)
{
    (void)options_bytes, (void)plan, (void)data, (void)options;
    if (event)
        *event = NULL;
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "ipt was compiled with IPT_NO_THREADS");
}

#endif
