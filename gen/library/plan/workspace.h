/* Allocating device memory. */

static ipt_result ipt__wait_for(const ipt_context *context, cl_event event)
{
    cl_int status = CL_COMPLETE, error = ipt__calls(context)->clWaitForEvents(1, &event);
    if (error)
        return ipt__fail_opencl("clWaitForEvents", error);
    error = ipt__calls(context)->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    if (error)
        return ipt__fail_opencl("clGetEventInfo", error);
    return status < 0 ? ipt__fail_opencl("a command that clWaitForEvents waited for", status) : IPT_SUCCESS;
}

/* Allocates a buffer, or makes one over `host`. name: content, for the message. refused: see ipt_plan. */
static ipt_result ipt__buffer_make(const ipt_context *context, size_t bytes, void *host, const char *name,
                                   size_t *refused, cl_mem *buffer)
{
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (host ? CL_MEM_USE_HOST_PTR : 0);
    cl_int error;
    const cl_mem made = ipt__calls(context)->clCreateBuffer(context->context, flags, bytes, host, &error);
    char limit[80] = "";
    if (!error) {
        *buffer = made;
        return IPT_SUCCESS;
    }
    if (ipt__is_out_of_memory(error))
        *refused = bytes;
    if (context->allocation && bytes > context->allocation)
        ipt__print(limit, sizeof limit, ": the device allocates %zu bytes at most at once", context->allocation);
    return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%zu bytes of %s: clCreateBuffer failed with %s (%d)%s", bytes, name,
                     ipt__cl_error(error), (int)error, limit);
}

/* Bytes for the next attempt after a refused allocation. The first attempt uses the device's reported limit. */
static size_t ipt__less_than(const ipt_context *context, size_t refused)
{
    return context->allocation && refused > context->allocation ? context->allocation : refused / 2;
}

static void ipt__workspace_begin(ipt__workspace *workspace, size_t limit)
{
    IPT_LOCK_INIT(&workspace->lock);
    workspace->limit = limit;
    workspace->unit_most = IPT__VECTOR_BYTES;
}

/* Releases the memory. OpenCL keeps it alive for running executions. */
static void ipt__workspace_close(const ipt_context *context, ipt__workspace *workspace)
{
    if (workspace->last)
        ipt__calls(context)->clReleaseEvent(workspace->last);
    workspace->last = NULL;
    if (workspace->buffer)
        ipt__calls(context)->clReleaseMemObject(workspace->buffer);
    workspace->buffer = NULL;
    workspace->bytes = 0;
}

/* Allocates the memory and writes to all of it: some devices allocate memory at first use. */
static ipt_result ipt__workspace_make(ipt_plan *plan, ipt__workspace *workspace, size_t bytes)
{
    const unsigned char zero = 0;
    cl_event event = NULL;
    cl_int error;
    ipt_result result = ipt__buffer_make(plan->context, bytes, NULL, "workspace", &plan->refused, &workspace->buffer);
    if (result)
        return result;
    IPT_LOCK_ACQUIRE(&plan->context->queue_lock);
    error = ipt__calls(plan->context)
                ->clEnqueueFillBuffer(plan->context->queue, workspace->buffer, &zero, sizeof zero, 0, bytes, 0, NULL,
                                      &event);
    result = error ? ipt__fail_opencl("clEnqueueFillBuffer", error)
                   : ipt__wait_for(plan->context, event); /* a late allocation failure shows here */
    IPT_LOCK_RELEASE(&plan->context->queue_lock);
    if (result == IPT_ERROR_OUT_OF_MEMORY)
        plan->refused = bytes;
    if (event)
        ipt__calls(plan->context)->clReleaseEvent(event);
    if (result) {
        ipt__calls(plan->context)->clReleaseMemObject(workspace->buffer);
        workspace->buffer = NULL;
    }
    return result;
}

/* Enlarges the workspace to the plan's need. After a failure, allocates its former size again for the other plans. */
static ipt_result ipt__plan_take_workspace(ipt_plan *plan)
{
    ipt__workspace *const workspace = plan->workspace;
    size_t bytes;
    char cause[IPT__CAUSE_BYTES];
    ipt_result result = IPT_SUCCESS;
    if (workspace->later)
        return IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&workspace->lock);
    bytes = ipt__max(plan->device->layout.workspace, workspace->bytes);
    if (plan->context->context && bytes && (bytes > workspace->bytes || !workspace->buffer)) {
        if (workspace->buffer) {
            ipt__calls(plan->context)->clReleaseMemObject(workspace->buffer);
            workspace->borrower = NULL; /* the flags of the last borrower are lost */
        }
        workspace->buffer = NULL;
        result = ipt__workspace_make(plan, workspace, bytes);
        if (result && workspace->bytes) {
            const size_t refused = plan->refused;
            ipt__keep_cause(cause);
            if (ipt__workspace_make(plan, workspace, workspace->bytes))
                workspace->bytes = 0; /* executions fail until a plan allocates it again */
            plan->refused = refused;
            ipt__fail(result, "%s", cause);
        }
    }
    if (!result)
        workspace->bytes = bytes;
    IPT_LOCK_RELEASE(&workspace->lock);
    return result;
}
