/* Ends of objects, questions about contexts and CUDA, and the operands of actions, for the extension module. */

/* Set in a child by fork of a process that has used OpenCL. A call of OpenCL would wait for ever there. */
static int ipt_py_forked;

/* cffi calls these for the last reference. They are C, so they work while Python ends. */
static void ipt_py_context_end(ipt_context *context)
{
    if (!ipt_py_forked)
        ipt_context_destroy(context);
}

static void ipt_py_plan_end(ipt_plan *plan)
{
    if (!ipt_py_forked)
        ipt_plan_destroy(plan);
}

static void ipt_py_batch_end(ipt_batch *batch)
{
    if (!ipt_py_forked)
        ipt_batch_destroy(batch);
}

static int ipt_py_is_native(const ipt_context *context)
{
    return context->driver == IPT__DRIVER_NATIVE;
}

static cl_device_id ipt_py_device(const ipt_context *context)
{
    return context->device;
}

/* The number of the CUDA device whose memory has an address, or -1. */
static int ipt_py_cuda_device(unsigned long long address)
{
    enum { ORDINAL = 9 }; /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */
    int number = -1;
    if (ipt__cuda_open() || ipt__cu.cuPointerGetAttribute(&number, ORDINAL, address))
        return -1;
    return number;
}

/* Whether a graph captures a stream. It cannot capture the default stream. */
static int ipt_py_cuda_captures(void *stream)
{
    int captures = 0;
    return stream && !ipt__cu.cuStreamIsCapturing(stream, &captures) && captures;
}

/* Lets a stream wait for what another one has. Returns CUDA's error, or 0. */
static int ipt_py_cuda_follow(const ipt_context *context, void *stream, void *former)
{
    ipt__cu_event event;
    ipt__cu_result error;
    ipt__cuda_enter(context->context);
    error = ipt__cu.cuEventCreate(&event, IPT__CU_NO_TIMING);
    if (!error) {
        error = ipt__cu.cuEventRecord(event, former);
        if (!error)
            error = ipt__cu.cuStreamWaitEvent(stream, event, 0);
        ipt__cu.cuEventDestroy(event);
    }
    ipt__cuda_leave();
    return error;
}

#define IPT_PY_OPERANDS(enumerator, name, operands) operands,
static const char *const ipt_py_operands[] = {IPT_ACTION_LIST(IPT_PY_OPERANDS)};
