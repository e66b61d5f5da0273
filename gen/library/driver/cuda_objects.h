/* The CUDA driver: memory, streams as in-order queues, and events. */
#ifdef IPT_CUDA

typedef struct ipt__cuda_memory {
    ipt__cuda_object object;
    cl_context context;
    cl_mem_flags flags;
    size_t bytes;
    ipt__cu_address address;
    void *host;     /* pinned memory; NULL: the device's */
    int registered; /* the caller's host memory, pinned for this object's life */
} ipt__cuda_memory;

/* A stream. That of a caller lives for one execution. */
typedef struct ipt__cuda_queue {
    ipt__cuda_object object;
    cl_context context;
    cl_command_queue_properties properties;
    ipt__cu_stream stream;
    unsigned long long id;           /* of the stream: no other one ever has it */
    int captured;                    /* a graph takes the commands: events say nothing */
    ipt__cu_event base;              /* of profiling times; NULL: none are wanted */
    struct ipt__cuda_event *pending; /* events that are still to be recorded. The lock guards the list */
} ipt__cuda_queue;

/* An event. Those of commands are recorded when the queue is flushed, when somebody needs them, and before a later
 * command waits for another stream: one record may serve several commands. */
typedef struct ipt__cuda_event {
    ipt__cuda_object object;
    cl_context context;
    ipt__cuda_queue *queue;   /* of an event with times, retained; else NULL */
    ipt__cuda_queue *pending; /* the queue that is to record it; NULL: done */
    struct ipt__cuda_event *next;
    unsigned long long stream; /* the stream's id; 0: a user's event */
    ipt__cu_event begin, end;  /* begin is NULL without times */
    int recorded;
    volatile cl_uint *word; /* of the user's event: 1 once it has ended */
    cl_int status;          /* of the user's event */
} ipt__cuda_event;

static void ipt__cuda_event_free(ipt__cuda_event *event)
{
    if (event->begin)
        ipt__cu.cuEventDestroy(event->begin);
    if (event->end)
        ipt__cu.cuEventDestroy(event->end);
    if (event->word)
        ipt__cu.cuMemFreeHost((void *)(size_t)event->word);
    free(event);
}

/* Frees the events that wait in a context for later commands. */
static void ipt__cuda_free_events(ipt__cuda_context *context)
{
    ipt__cuda_enter((cl_context)(void *)context);
    while (context->idle) {
        ipt__cuda_event *const event = context->idle;
        context->idle = event->next;
        ipt__cuda_event_free(event);
    }
    ipt__cuda_leave();
}

static cl_int CL_API_CALL ipt__cuda_clReleaseContext(cl_context context)
{
    ipt__cuda_context *const released = (ipt__cuda_context *)(void *)context;
    if (ipt__cuda_drop(released)) {
        ipt__cuda_free_events(released);
        if (released->primary)
            ipt__cu.cuDevicePrimaryCtxRelease(released->device);
        free(released);
    }
    return CL_SUCCESS;
}

static void ipt__cuda_memory_end(ipt__cuda_object *own)
{
    ipt__cuda_memory *const released = (ipt__cuda_memory *)(void *)own;
    ipt__cuda_enter(released->context);
    if (released->registered)
        ipt__cu.cuMemHostUnregister(released->host);
    else if (released->host && !(released->flags & CL_MEM_USE_HOST_PTR))
        ipt__cu.cuMemFreeHost(released->host);
    else if (released->address)
        ipt__cu.cuMemFree(released->address);
    ipt__cuda_leave();
    ipt__cuda_clReleaseContext(released->context);
    free(released);
}

static cl_int CL_API_CALL ipt__cuda_clReleaseMemObject(cl_mem memory)
{
    if (ipt__cuda_drop(memory))
        ipt__cuda_end((ipt__cuda_object *)(void *)memory, ipt__cuda_memory_end);
    return CL_SUCCESS;
}

/* Whether all of some host memory is pinned, by whomever. The context is current. */
static int ipt__cuda_pinned(const void *host, size_t bytes)
{
    char *const begin = (char *)(size_t)host;
    ipt__cu_address first, last;
    return bytes && !ipt__cu.cuMemHostGetDevicePointer(&first, begin, 0) &&
           !ipt__cu.cuMemHostGetDevicePointer(&last, begin + bytes - 1, 0) && last - first == bytes - 1;
}

static cl_mem CL_API_CALL ipt__cuda_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                                   cl_int *error)
{
    ipt__cuda_memory *const made = (ipt__cuda_memory *)calloc(1, sizeof *made);
    ipt__cu_result failure;
    if (!made || ((flags & CL_MEM_USE_HOST_PTR) && (size_t)host % 16)) { /* kernels move vectors of 16 bytes */
        free(made);
        return (cl_mem)ipt__cuda_made(NULL, made ? CL_INVALID_HOST_PTR : CL_OUT_OF_HOST_MEMORY, error);
    }
    ipt__cuda_begin(&made->object);
    made->context = context;
    made->flags = flags;
    made->bytes = bytes;
    ipt__cuda_enter(context);
    if (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_USE_HOST_PTR)) {
        if (flags & CL_MEM_USE_HOST_PTR) {
            made->host = host;
            failure = 0;
            if (!ipt__cuda_pinned(host, bytes)) {
                failure = IPT__CU(cuMemHostRegister, (host, bytes, IPT__CU_MAPPED));
                made->registered = !failure;
            }
        } else
            failure = IPT__CU(cuMemHostAlloc, (&made->host, bytes, IPT__CU_MAPPED));
        if (!failure)
            failure = IPT__CU(cuMemHostGetDevicePointer, (&made->address, made->host, 0));
    } else
        failure = IPT__CU(cuMemAlloc, (&made->address, bytes));
    if (!failure && (flags & CL_MEM_COPY_HOST_PTR))
        failure = IPT__CU(cuMemcpyHtoDAsync, (made->address, host, bytes, NULL));
    if (!failure && (flags & CL_MEM_COPY_HOST_PTR))
        failure = IPT__CU(cuStreamSynchronize, (NULL));
    ipt__cuda_leave();
    ipt__cuda_retain(context);
    if (failure) {
        ipt__cuda_clReleaseMemObject((cl_mem)(void *)made);
        return (cl_mem)ipt__cuda_made(NULL, CL_MEM_OBJECT_ALLOCATION_FAILURE, error);
    }
    return (cl_mem)ipt__cuda_made(made, CL_SUCCESS, error);
}

static cl_int CL_API_CALL ipt__cuda_clGetMemObjectInfo(cl_mem memory, cl_mem_info name, size_t capacity, void *value,
                                                       size_t *size)
{
    const ipt__cuda_memory *const asked = (const ipt__cuda_memory *)(void *)memory;
    const cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
    const void *const none = NULL;
    const size_t offset = 0;
    if (!ipt__cuda_owns(memory))
        return CL_INVALID_MEM_OBJECT;
    switch (name) {
    case CL_MEM_TYPE:
        return ipt__cuda_answer(&type, sizeof type, capacity, value, size);
    case CL_MEM_FLAGS:
        return ipt__cuda_answer(&asked->flags, sizeof asked->flags, capacity, value, size);
    case CL_MEM_SIZE:
        return ipt__cuda_answer(&asked->bytes, sizeof asked->bytes, capacity, value, size);
    case CL_MEM_CONTEXT:
        return ipt__cuda_answer(&asked->context, sizeof asked->context, capacity, value, size);
    case CL_MEM_HOST_PTR:
        return ipt__cuda_answer(asked->flags & CL_MEM_USE_HOST_PTR ? (const void *)&asked->host : (const void *)&none,
                                sizeof none, capacity, value, size);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return ipt__cuda_answer(&none, sizeof none, capacity, value, size);
    case CL_MEM_OFFSET:
        return ipt__cuda_answer(&offset, sizeof offset, capacity, value, size);
    default:
        return CL_INVALID_VALUE;
    }
}

/* Takes an event off the list of those that still are to be recorded. The caller holds the lock. */
static void ipt__cuda_forget(ipt__cuda_event *event)
{
    ipt__cuda_event **at = &event->pending->pending;
    while (*at != event)
        at = &(*at)->next;
    *at = event->next;
    event->pending = NULL;
}

/* Records the end of an event's command. If that fails, nobody can wait for the event later: waits for the stream. The
 * event's context is current. */
static ipt__cu_result ipt__cuda_record_end(ipt__cuda_event *event, ipt__cu_stream stream)
{
    event->recorded = !ipt__cu.cuEventRecord(event->end, stream);
    return event->recorded ? 0 : IPT__CU(cuStreamSynchronize, (stream));
}

/* Records an event that still is to be. The caller holds the lock. The event's context is current. */
static ipt__cu_result ipt__cuda_record_locked(ipt__cuda_event *event)
{
    ipt__cu_result error = 0;
    if (!event->pending->captured)
        error = ipt__cuda_record_end(event, event->pending->stream);
    ipt__cuda_forget(event);
    return error;
}

/* Records an event now, if it still is to be. The event's context is current. */
static ipt__cu_result ipt__cuda_record(ipt__cuda_event *event)
{
    ipt__cu_result error = 0;
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    if (event->pending)
        error = ipt__cuda_record_locked(event);
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
    return error;
}

/* Records all events of a queue that still are to be. The queue's context is current. */
static ipt__cu_result ipt__cuda_record_all(ipt__cuda_queue *queue)
{
    ipt__cu_result error = 0, one;
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    while (queue->pending) {
        one = ipt__cuda_record_locked(queue->pending);
        error = error ? error : one;
    }
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
    return error;
}

static cl_int CL_API_CALL ipt__cuda_clReleaseCommandQueue(cl_command_queue queue)
{
    ipt__cuda_queue *const released = (ipt__cuda_queue *)(void *)queue;
    if (!ipt__cuda_drop(released))
        return CL_SUCCESS;
    ipt__cuda_enter(released->context);
    ipt__cuda_record_all(released);
    if (released->stream)
        ipt__cu.cuStreamDestroy(released->stream); /* its commands continue */
    if (released->base)
        ipt__cu.cuEventDestroy(released->base);
    ipt__cuda_leave();
    ipt__cuda_clReleaseContext(released->context);
    free(released);
    return CL_SUCCESS;
}

static cl_command_queue CL_API_CALL ipt__cuda_clCreateCommandQueue(cl_context context, cl_device_id device,
                                                                   cl_command_queue_properties properties,
                                                                   cl_int *error)
{
    ipt__cuda_queue *const made = (ipt__cuda_queue *)calloc(1, sizeof *made);
    ipt__cu_result failure;
    (void)device;
    if (!made)
        return (cl_command_queue)ipt__cuda_made(NULL, CL_OUT_OF_HOST_MEMORY, error);
    ipt__cuda_begin(&made->object);
    made->context = context;
    made->properties = properties & (cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE; /* streams are in order */
    ipt__cuda_enter(context);
    failure = IPT__CU(cuStreamCreate, (&made->stream, IPT__CU_NON_BLOCKING));
    if (!failure)
        failure = IPT__CU(cuStreamGetId, (made->stream, &made->id));
    if (!failure && made->properties)
        failure = IPT__CU(cuEventCreate, (&made->base, 0));
    if (!failure && made->base)
        failure = IPT__CU(cuEventRecord, (made->base, made->stream));
    ipt__cuda_leave();
    ipt__cuda_retain(context);
    if (failure) {
        ipt__cuda_clReleaseCommandQueue((cl_command_queue)(void *)made);
        return (cl_command_queue)ipt__cuda_made(NULL, ipt__cuda_error(failure), error);
    }
    return (cl_command_queue)ipt__cuda_made(made, CL_SUCCESS, error);
}

static cl_int CL_API_CALL ipt__cuda_clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name,
                                                          size_t capacity, void *value, size_t *size)
{
    const ipt__cuda_queue *const asked = (const ipt__cuda_queue *)(void *)queue;
    cl_device_id device;
    if (!ipt__cuda_owns(queue))
        return CL_INVALID_COMMAND_QUEUE;
    device = ipt__cuda_handle(((const ipt__cuda_context *)(void *)asked->context)->device);
    return name == CL_QUEUE_CONTEXT  ? ipt__cuda_answer(&asked->context, sizeof asked->context, capacity, value, size)
           : name == CL_QUEUE_DEVICE ? ipt__cuda_answer(&device, sizeof device, capacity, value, size)
           : name == CL_QUEUE_PROPERTIES
               ? ipt__cuda_answer(&asked->properties, sizeof asked->properties, capacity, value, size)
               : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL ipt__cuda_clReleaseEvent(cl_event event)
{
    ipt__cuda_event *const released = (ipt__cuda_event *)(void *)event;
    ipt__cuda_context *const context = (ipt__cuda_context *)(void *)released->context;
    ipt__cuda_queue *const queue = released->queue;
    int last, kept;
    const int user = !released->stream;
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    last = !--released->object.references;
    kept = last && released->stream && !released->begin && released->end;
    if (last && released->pending) /* nobody needs it */
        ipt__cuda_forget(released);
    if (kept) {
        released->next = context->idle;
        context->idle = released;
    }
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
    if (!last)
        return CL_SUCCESS;
    if (user && released->word && !*released->word) /* nobody can set it any more */
        ipt__cuda_event_closes();
    if (!kept) {
        ipt__cuda_enter((cl_context)(void *)context);
        ipt__cuda_event_free(released);
        ipt__cuda_leave();
    }
    if (queue)
        ipt__cuda_clReleaseCommandQueue((cl_command_queue)(void *)queue);
    return ipt__cuda_clReleaseContext((cl_context)(void *)context);
}

/* Makes an event; for a command, with its end. queue: NULL for a user's event. The context is current. */
static ipt__cuda_event *ipt__cuda_event_make(cl_context context, ipt__cuda_queue *queue)
{
    ipt__cuda_context *const of = (ipt__cuda_context *)(void *)context;
    ipt__cuda_event *made = NULL;
    const int timed = queue && queue->base;
    ipt__cu_event end = NULL;
    if (queue && !timed) {
        IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
        made = of->idle;
        of->idle = made ? made->next : NULL;
        IPT_LOCK_RELEASE(&ipt__cuda_lock);
    }
    if (made)
        end = made->end;
    else
        made = (ipt__cuda_event *)malloc(sizeof *made);
    if (!made)
        return NULL;
    memset(made, 0, sizeof *made);
    made->end = end;
    if (queue && !end && IPT__CU(cuEventCreate, (&made->end, timed ? 0 : IPT__CU_NO_TIMING))) {
        free(made);
        return NULL;
    }
    ipt__cuda_begin(&made->object);
    made->context = context;
    made->stream = queue ? queue->id : 0;
    ipt__cuda_retain(of);
    if (timed) {
        made->queue = queue;
        ipt__cuda_retain(queue);
    }
    return made;
}

/* Lets a queue's later commands wait for an event. The queue's context is current. */
static ipt__cu_result ipt__cuda_wait(ipt__cuda_queue *queue, ipt__cuda_event *event)
{
    ipt__cu_address word;
    ipt__cu_result error;
    if (event->stream ? event->stream == queue->id : *event->word) /* a stream is in order */
        return 0;
    error = ipt__cuda_record_all(queue); /* what is before needs not wait */
    if (!error && event->stream)
        error = ipt__cuda_record(event);
    if (!error && event->stream && event->recorded)
        error = IPT__CU(cuStreamWaitEvent, (queue->stream, event->end, 0));
    if (!error && !event->stream)
        error = IPT__CU(cuMemHostGetDevicePointer, (&word, (void *)(size_t)event->word, 0));
    if (!error && !event->stream)
        error = IPT__CU(cuStreamWaitValue32, (queue->stream, word, 1, IPT__CU_WAIT_GEQ));
    return error;
}

#endif
