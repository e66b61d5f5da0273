/* The native driver's objects behind OpenCL's handles: memory, queues, events, and commands that run once the events
 * that they wait for have ended. */
#ifdef IPT_NATIVE

enum {
    IPT__NATIVE_ALIGNMENT = 4096,    /* of memory: a page */
    IPT__NATIVE_ALONE = 1 << 17,     /* up to so many bytes of memory, a kernel's launch wakes no thread */
    IPT__NATIVE_PIECE = 1 << 20,     /* bytes that a thread copies at a time */
    IPT__NATIVE_FAILED_BEFORE = -14, /* CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST */
    IPT__NATIVE_IS_QUEUED = 3,
    IPT__NATIVE_MARK = 0x69707401
};

/* All objects of this driver begin with its mark and the number of references to them. `lock` guards all of their
 * fields that change. */
static struct ipt__native {
    ipt__pool_lock lock;
    ipt__pool_condition changed; /* an event has ended */
} ipt__native_state = {IPT__POOL_LOCK_STATIC, IPT__POOL_CONDITION_STATIC};

typedef struct ipt__native_object {
    size_t mark; /* IPT__NATIVE_MARK: OpenCL's objects begin with a pointer */
    size_t references;
} ipt__native_object;

typedef struct ipt__native_context {
    ipt__native_object object;
    unsigned threads; /* of a launch */
} ipt__native_context;

typedef struct ipt__native_memory {
    ipt__native_object object;
    cl_context context;
    cl_mem_flags flags;
    size_t bytes;
    void *host; /* the caller's memory, if it uses that */
    char *data, *owned;
} ipt__native_memory;

typedef struct ipt__native_queue {
    ipt__native_object object;
    cl_context context;
    cl_command_queue_properties properties;
    struct ipt__native_event *last; /* of the last command, unless it has ended */
    size_t commands;                /* that have not ended */
} ipt__native_queue;

typedef struct ipt__native_kernel {
    const ipt__native_program *program;
    ipt__kernel_id id;
    cl_uint unit; /* index */
    ipt__native_memory *memories[IPT__NATIVE_MEMORIES];
    size_t local_bytes;
    cl_uint tile, tall, axes, places;
    ipt__native_apply *apply;
    cl_ulong value[2]; /* of the expression's argument */
    ipt__arguments arguments;
    ipt__native_batch batch;
} ipt__native_kernel;

/* A command that waits for an event. */
typedef struct ipt__native_link {
    struct ipt__native_link *next; /* of the same event */
    struct ipt__native_command *command;
    int passes; /* the event's failure ends the command */
} ipt__native_link;

typedef struct ipt__native_event {
    ipt__native_object object;
    cl_context context;
    ipt__native_queue *queue; /* NULL: the user's event */
    cl_int status;
    ipt__native_link *waiting;
    cl_ulong begin, end; /* nanoseconds */
} ipt__native_event;

/* Bytes of three dimensions that move between two places. */
typedef struct ipt__native_copy {
    char *to;
    const char *from;
    size_t region[3], to_pitch[2], from_pitch[2]; /* distances of rows and of slices */
} ipt__native_copy;

typedef struct ipt__native_command {
    ipt__native_event *event;
    ipt__native_memory *memories[IPT__NATIVE_MEMORIES]; /* whose references it holds */
    void (*run)(struct ipt__native_command *command);
    ipt__native_kernel kernel;
    cl_uint groups;
    ipt__native_copy copy;
    cl_ulong pattern;
    size_t pattern_bytes;
    size_t missing; /* events that have not ended */
    cl_int failure;
    struct ipt__native_command *next; /* to run on the same thread */
    ipt__native_link links[1];        /* as many as events */
} ipt__native_command;

static cl_ulong ipt__native_clock(void)
{
#if defined(_WIN32)
    LARGE_INTEGER now, each;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&each);
    return (cl_ulong)((double)now.QuadPart * 1e9 / (double)each.QuadPart);
#else
#if defined(CLOCK_MONOTONIC)
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (cl_ulong)now.tv_sec * 1000000000u + (cl_ulong)now.tv_nsec;
#else /* hidden by strict C */
    struct timeval now;
    gettimeofday(&now, NULL);
    return (cl_ulong)now.tv_sec * 1000000000u + (cl_ulong)now.tv_usec * 1000u;
#endif
#endif
}

/* Threads that work on a launch: as many as processors that this process may use, unless IPT_THREADS says another
 * number. */
static unsigned ipt__native_threads(void)
{
    char room[16];
    const char *const wanted = ipt__environment("IPT_THREADS", room, sizeof room);
    long count = wanted ? strtol(wanted, NULL, 10) : 0;
    if (count < 1) {
#if defined(_WIN32)
        SYSTEM_INFO system;
        GetSystemInfo(&system);
        count = (long)system.dwNumberOfProcessors;
#elif defined(_SC_NPROCESSORS_ONLN)
        count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    }
    return count < 1 ? 1 : count > IPT__MOST_THREADS ? (unsigned)IPT__MOST_THREADS : (unsigned)count;
}

static void ipt__native_lock(void)
{
    IPT__POOL_ACQUIRE(&ipt__native_state.lock);
}

static void ipt__native_unlock(void)
{
    IPT__POOL_RELEASE(&ipt__native_state.lock);
}

/* Begins an object with one reference. */
static void ipt__native_begin(ipt__native_object *object)
{
    object->mark = IPT__NATIVE_MARK;
    object->references = 1;
}

/* Whether a handle is this driver's. A plan's caller may have mixed up two drivers. */
static int ipt__native_owns(const void *object)
{
    return object && ((const ipt__native_object *)object)->mark == IPT__NATIVE_MARK;
}

static void ipt__native_retain(void *object)
{
    ipt__native_lock();
    ++((ipt__native_object *)object)->references;
    ipt__native_unlock();
}

/* Drops a reference, and frees the object without any. The lock is held. */
static void ipt__native_drop(void *object)
{
    if (object && !--((ipt__native_object *)object)->references)
        free(object);
}

/* Drops a reference to memory. The lock is held. */
static void ipt__native_drop_memory(ipt__native_memory *memory)
{
    if (memory && memory->object.references == 1)
        free(memory->owned);
    ipt__native_drop(memory);
}

static unsigned ipt__native_threads_of(const ipt__native_command *command)
{
    return ((const ipt__native_context *)(void *)command->event->context)->threads;
}

/* The level of instruction sets that this processor has. Tests may define another one. */
#ifndef IPT__NATIVE_LEVEL
#if IPT__NATIVE_LEVELS > 1
#define IPT__NATIVE_LEVEL() (__builtin_cpu_supports("avx2") != 0)
#else
#define IPT__NATIVE_LEVEL() 0
#endif
#endif

/* What the threads of a launch share. */
typedef struct ipt__native_work {
    ipt__native_launch launch;
    ipt__native_run *run;
} ipt__native_work;

static void ipt__native_group(const void *job, cl_uint part)
{
    const ipt__native_work *const work = (const ipt__native_work *)job;
    ipt__native_uint4 local[IPT__NATIVE_LOCAL_BYTES / sizeof(ipt__native_uint4)];
    work->run(&work->launch, part, local);
}

static void ipt__native_do_kernel(ipt__native_command *command)
{
    const ipt__native_kernel *const kernel = &command->kernel;
    ipt__native_work work;
    ipt__job job;
    int i;
    size_t bytes = 0;
    for (i = 0; i < IPT__NATIVE_MEMORIES; ++i) {
        work.launch.memories[i] = kernel->memories[i] ? kernel->memories[i]->data : NULL;
        bytes = kernel->memories[i] ? ipt__max(bytes, kernel->memories[i]->bytes) : bytes;
    }
    work.launch.local_bytes = kernel->local_bytes;
    work.launch.arguments = &kernel->arguments;
    work.launch.call.group = 0;
    work.launch.call.groups = command->groups;
    work.launch.call.tile = kernel->tile;
    work.launch.call.tall = kernel->tall;
    work.launch.call.axes = kernel->axes;
    work.launch.call.launch = NULL; /* see IPT__NATIVE_RUN */
    work.launch.apply = kernel->apply;
    work.launch.places = kernel->places;
    work.launch.value = kernel->value;
    work.launch.batch = &kernel->batch;
    work.run = kernel->batch.run ? kernel->batch.run : kernel->program->runs[IPT__NATIVE_LEVEL()][kernel->unit];
    job.run = ipt__native_group;
    job.job = &work;
    job.count = command->groups;
    ipt__pool_run(&job, bytes <= IPT__NATIVE_ALONE ? 1 : ipt__native_threads_of(command));
}

/* Copies a part of a copy's rows. */
static void ipt__native_copy_rows(const void *job, cl_uint part)
{
    const ipt__native_copy *const copy = (const ipt__native_copy *)job;
    const size_t rows = copy->region[1] * copy->region[2], bytes = copy->region[0];
    const size_t each = ipt__max(1, IPT__NATIVE_PIECE / bytes), pieces = ipt__ceil_divide(bytes, IPT__NATIVE_PIECE);
    const size_t first = part / pieces * each, end = ipt__min(rows, first + each);
    const size_t at = part % pieces * IPT__NATIVE_PIECE, units = ipt__min((size_t)IPT__NATIVE_PIECE, bytes - at);
    size_t row;
    for (row = first; row < end; ++row)
        memmove(copy->to + row % copy->region[1] * copy->to_pitch[0] + row / copy->region[1] * copy->to_pitch[1] + at,
                copy->from + row % copy->region[1] * copy->from_pitch[0] + row / copy->region[1] * copy->from_pitch[1] +
                    at,
                units);
}

static void ipt__native_do_copy(ipt__native_command *command)
{
    const ipt__native_copy *const copy = &command->copy;
    const size_t rows = copy->region[1] * copy->region[2], bytes = copy->region[0];
    const size_t pieces = ipt__ceil_divide(bytes, IPT__NATIVE_PIECE), each = ipt__max(1, IPT__NATIVE_PIECE / bytes);
    ipt__job job;
    job.run = ipt__native_copy_rows;
    job.job = copy;
    job.count = (cl_uint)(ipt__ceil_divide(rows, each) * pieces);
    ipt__pool_run(&job, ipt__native_threads_of(command));
}

static void ipt__native_do_fill(ipt__native_command *command)
{
    char *const to = command->copy.to;
    const size_t bytes = command->copy.region[0];
    size_t i;
    if (!command->pattern) {
        memset(to, 0, bytes);
        return;
    }
    for (i = 0; i < bytes; i += command->pattern_bytes)
        memcpy(to + i, &command->pattern, command->pattern_bytes);
}

static void ipt__native_do_nothing(ipt__native_command *command)
{
    (void)command;
}

/* Ends an event, and returns its commands that wait for nothing more, before those of `ready`. The lock is held. */
static ipt__native_command *ipt__native_end(ipt__native_event *event, cl_int status, ipt__native_command *ready)
{
    ipt__native_link *link;
    event->status = status;
    for (link = event->waiting; link; link = link->next) {
        ipt__native_command *const command = link->command;
        if (status < 0 && link->passes)
            command->failure = IPT__NATIVE_FAILED_BEFORE;
        if (!--command->missing) {
            command->next = ready;
            ready = command;
        }
    }
    event->waiting = NULL;
    if (event->queue) {
        --event->queue->commands;
        if (event->queue->last == event)
            event->queue->last = NULL;
    }
    IPT__POOL_WAKE(&ipt__native_state.changed);
    return ready;
}

/* Runs commands, and those that wait for them alone. */
static void ipt__native_work_off(ipt__native_command *ready)
{
    while (ready) {
        ipt__native_command *const command = ready;
        ipt__native_event *const event = command->event;
        int i;
        event->begin = ipt__native_clock();
        if (!command->failure)
            command->run(command);
        event->end = ipt__native_clock();
        ipt__native_lock();
        ready = ipt__native_end(event, command->failure, command->next);
        for (i = 0; i < IPT__NATIVE_MEMORIES; ++i)
            ipt__native_drop_memory(command->memories[i]);
        if (event->queue)
            ipt__native_drop(event->queue);
        ipt__native_drop(event);
        ipt__native_unlock();
        free(command);
    }
}

/* Waits until an event has ended. */
static cl_int ipt__native_wait(ipt__native_event *event)
{
    cl_int status;
    ipt__native_lock();
    while (event->status > CL_COMPLETE)
        IPT__POOL_WAIT(&ipt__native_state.changed, &ipt__native_state.lock);
    status = event->status;
    ipt__native_unlock();
    return status;
}

static ipt__native_event *ipt__native_event_make(cl_context context, ipt__native_queue *queue)
{
    ipt__native_event *const event = (ipt__native_event *)calloc(1, sizeof *event);
    if (event) {
        ipt__native_begin(&event->object);
        event->context = context;
        event->queue = queue;
        event->status = IPT__NATIVE_IS_QUEUED;
    }
    return event;
}

/* Makes the command wait for an event that has not ended. A failure passes from events of wait lists. The lock is held.
 */
static void ipt__native_await(ipt__native_command *command, ipt__native_link *link, ipt__native_event *event,
                              int passes)
{
    if (event->status < 0 && passes)
        command->failure = IPT__NATIVE_FAILED_BEFORE;
    if (event->status <= CL_COMPLETE)
        return;
    link->command = command;
    link->passes = passes;
    link->next = event->waiting;
    event->waiting = link;
    ++command->missing;
}

/* Makes a command with room for links to `count` events and to the queue's last command. */
static ipt__native_command *ipt__native_command_make(cl_uint count)
{
    return (ipt__native_command *)calloc(1, sizeof(ipt__native_command) + count * sizeof(ipt__native_link));
}

/* Where a call enqueues a command, and what it waits for. */
typedef struct ipt__native_place {
    cl_command_queue queue;
    cl_uint count;
    const cl_event *wait;
    cl_event *event;
    int blocks;
} ipt__native_place;

/* Enqueues a command, NULL if there was no memory for it. It runs at once, on this thread, unless it has to wait. */
static cl_int ipt__native_enqueue(const ipt__native_place *place, ipt__native_command *command)
{
    ipt__native_queue *const queue = (ipt__native_queue *)(void *)place->queue;
    ipt__native_event *const made = command ? ipt__native_event_make(queue->context, queue) : NULL;
    cl_int status = CL_SUCCESS;
    size_t missing;
    cl_uint i;
    if (!made) {
        free(command);
        return CL_OUT_OF_HOST_MEMORY;
    }
    command->event = made;
    ipt__native_lock();
    for (i = 0; i < IPT__NATIVE_MEMORIES; ++i)
        if (command->memories[i])
            ++command->memories[i]->object.references;
    ++queue->object.references;
    ++queue->commands;
    made->object.references += 1 + (place->event != NULL);
    for (i = 0; i < place->count; ++i)
        ipt__native_await(command, &command->links[i], (ipt__native_event *)(void *)place->wait[i], 1);
    if (queue->last && !(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        ipt__native_await(command, &command->links[place->count], queue->last, 0);
    queue->last = made;
    missing = command->missing;
    command->next = NULL;
    ipt__native_unlock();
    if (!missing)
        ipt__native_work_off(command);
    if (place->event)
        *place->event = (cl_event)(void *)made;
    if (place->blocks && ipt__native_wait(made) < 0)
        status = IPT__NATIVE_FAILED_BEFORE;
    ipt__native_lock();
    ipt__native_drop(made);
    ipt__native_unlock();
    return status;
}

#endif
