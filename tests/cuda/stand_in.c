/* A stand-in of libcuda and NVRTC, for tests without a GPU. Memory is the host's. A stream is a thread that works off a
 * list of jobs. A graph is such a list. Programs are OpenCL C, the text behind the driver's prelude, which OpenCL's
 * device compiles and runs, so no swizzles. stand_in_fail and stand_in_alive are for tests. */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 200
#define IPT_STATIC
#define IPT_CUDA
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include <pthread.h>

enum {
    CAPABILITY = 31,    /* of devices before all that have the texts' PTX */
    OTHER_DEVICE = 209, /* CUDA_ERROR_NO_BINARY_FOR_GPU */
    NOT_READY = 600,
    CAPTURES = 900,     /* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED */
    BROKEN = 901,       /* CUDA_ERROR_STREAM_CAPTURE_INVALIDATED */
    NOT_CAPTURED = 905, /* CUDA_ERROR_STREAM_CAPTURE_ISOLATION */
    CAPTURED = 907      /* CUDA_ERROR_CAPTURED_EVENT */
};

/* The list of the driver's functions declares them here, too. */
#define DECLARE(name, symbol, parameters) ipt__cu_result name parameters __asm__(symbol);
IPT__CU_LIST(DECLARE)
IPT__NVRTC_LIST(DECLARE)
ipt__cu_result cuStreamBeginCapture(ipt__cu_stream stream, int mode) __asm__("cuStreamBeginCapture_v2");
ipt__cu_result cuStreamEndCapture(ipt__cu_stream stream, void **graph);
ipt__cu_result cuGraphInstantiate(void **made, void *graph,
                                  unsigned long long flags) __asm__("cuGraphInstantiateWithFlags");
ipt__cu_result cuGraphLaunch(void *graph, ipt__cu_stream stream);
ipt__cu_result cuGraphExecDestroy(void *graph);
ipt__cu_result cuGraphDestroy(void *graph);
ipt__cu_result cuMemAllocAsync(ipt__cu_address *address, size_t bytes, ipt__cu_stream stream);
ipt__cu_result cuMemFreeAsync(ipt__cu_address address, ipt__cu_stream stream);
void stand_in_fail(long call);
long stand_in_alive(void);
long stand_in_calls(void);

/* ---- failures and leaks ---- */

static long fails_at, calls, alive;

/* Counts a call. Returns its result: a failure at the call that a test wants. */
static ipt__cu_result called(void)
{
    const long number = __sync_add_and_fetch(&calls, 1);
    return fails_at && number == fails_at ? IPT__CU_OUT_OF_MEMORY : 0;
}

/* Lets one call fail, the first after this being 1; 0: none. */
void stand_in_fail(long call)
{
    calls = 0;
    fails_at = call;
}

long stand_in_calls(void)
{
    return calls;
}

/* Captures of the modes 0 (global), 1 (of a thread) and 2 (relaxed) that have not ended; the mode of the thread and its
 * own captures. A call that they forbid breaks all captures, as CUDA's may. */
static long global_captures, broken;
static __thread int thread_mode, own_captures;

/* Counts a call that captures may forbid. */
static ipt__cu_result unsafe(void)
{
    const ipt__cu_result error = called();
    if (thread_mode == 2 || (!own_captures && (thread_mode || !__sync_add_and_fetch(&global_captures, 0))))
        return error;
    __sync_add_and_fetch(&broken, 1);
    return CAPTURES;
}

ipt__cu_result cuThreadExchangeStreamCaptureMode(int *mode)
{
    const int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return 0;
}

static void *object(size_t bytes)
{
    __sync_add_and_fetch(&alive, 1);
    return calloc(1, bytes);
}

static void object_end(void *ended)
{
    __sync_sub_and_fetch(&alive, 1);
    free(ended);
}

/* ---- jobs, streams, events ---- */

/* A record of an event: its stream has reached it or not. Who waits for it does not notice later records. */
typedef struct mark {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int done, references;
} mark;

typedef struct event {
    pthread_mutex_t lock; /* guards the following field */
    mark *last;           /* NULL: not recorded yet */
    int captured;
} event;

typedef struct job {
    struct job *next;
    void (*run)(struct job *job);
    mark *mark;
    ipt__cu_address to, from;
    size_t bytes, rows, to_pitch, from_pitch;
    cl_uint value;
    struct kernel *kernel;
    size_t groups, items, local_bytes;
    ipt__cu_address memories[8];
    ipt__arguments arguments;
    cl_ulong expression[2];
} job;

typedef struct stream {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    job *first, **last;
    int busy, ends;
    unsigned long long id;
    pthread_t thread;
    job *graph, **graph_last; /* jobs that a capture takes */
    int captures, mode;
    long broken; /* at the capture's begin */
} stream;

typedef struct graph {
    job *first;
    int shared; /* of a graph and its executable form */
} graph;

static stream null_stream;
static long jobs; /* that have not ended */
static pthread_once_t null_once = PTHREAD_ONCE_INIT;

static void *work(void *given)
{
    stream *const own = (stream *)given;
    pthread_mutex_lock(&own->lock);
    for (;;) {
        job *const taken = own->first;
        if (!taken) {
            own->busy = 0;
            pthread_cond_broadcast(&own->changed);
            if (own->ends)
                break;
            pthread_cond_wait(&own->changed, &own->lock);
            continue;
        }
        own->first = taken->next;
        if (!own->first)
            own->last = &own->first;
        pthread_mutex_unlock(&own->lock);
        taken->run(taken);
        free(taken);
        __sync_sub_and_fetch(&jobs, 1);
        pthread_mutex_lock(&own->lock);
    }
    pthread_mutex_unlock(&own->lock);
    free(own);
    return NULL;
}

static void stream_begin(stream *made)
{
    static unsigned long long ids;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    made->last = &made->first;
    made->id = __sync_add_and_fetch(&ids, 1);
    pthread_create(&made->thread, NULL, work, made);
    pthread_detach(made->thread);
}

static void null_begin(void)
{
    stream_begin(&null_stream);
}

static stream *stream_of(ipt__cu_stream given)
{
    pthread_once(&null_once, null_begin);
    return given ? (stream *)given : &null_stream;
}

/* Hands a copy of a job to a stream, or to the graph that captures it. */
static ipt__cu_result push(ipt__cu_stream given, const job *wanted)
{
    stream *const to = stream_of(given);
    job *const pushed = (job *)malloc(sizeof *pushed);
    *pushed = *wanted;
    pushed->next = NULL;
    pthread_mutex_lock(&to->lock);
    if (to->captures) {
        *to->graph_last = pushed;
        to->graph_last = &pushed->next;
    } else {
        __sync_add_and_fetch(&jobs, 1);
        *to->last = pushed;
        to->last = &pushed->next;
        to->busy = 1;
        pthread_cond_broadcast(&to->changed);
    }
    pthread_mutex_unlock(&to->lock);
    return 0;
}

ipt__cu_result cuStreamCreate(ipt__cu_stream *made, unsigned flags)
{
    const ipt__cu_result error = called();
    (void)flags;
    if (!error)
        stream_begin((stream *)(*made = object(sizeof(stream))));
    return error;
}

ipt__cu_result cuStreamDestroy(ipt__cu_stream given)
{
    stream *const ended = (stream *)given;
    __sync_sub_and_fetch(&alive, 1); /* its thread frees it after the last job */
    pthread_mutex_lock(&ended->lock);
    ended->ends = 1;
    pthread_cond_broadcast(&ended->changed);
    pthread_mutex_unlock(&ended->lock);
    return 0;
}

ipt__cu_result cuStreamSynchronize(ipt__cu_stream given)
{
    stream *const waited = stream_of(given);
    const ipt__cu_result error = unsafe();
    if (waited->captures) {
        __sync_add_and_fetch(&broken, 1);
        return CAPTURES;
    }
    pthread_mutex_lock(&waited->lock);
    while (waited->first || waited->busy)
        pthread_cond_wait(&waited->changed, &waited->lock);
    pthread_mutex_unlock(&waited->lock);
    return error;
}

ipt__cu_result cuCtxSynchronize(void)
{
    const ipt__cu_result error = unsafe();
    while (!error && __sync_add_and_fetch(&jobs, 0))
        usleep(100);
    return error;
}

ipt__cu_result cuStreamGetId(ipt__cu_stream given, unsigned long long *id)
{
    *id = stream_of(given)->id;
    return stream_of(given)->captures ? CAPTURES : called();
}

ipt__cu_result cuStreamIsCapturing(ipt__cu_stream given, int *captures)
{
    *captures = stream_of(given)->captures;
    return called();
}

static void mark_drop(mark *dropped)
{
    if (dropped && !__sync_sub_and_fetch(&dropped->references, 1))
        free(dropped);
}

/* The event's last record, retained; NULL: there is none. */
static mark *mark_of(event *asked)
{
    mark *found;
    pthread_mutex_lock(&asked->lock);
    found = asked->last;
    if (found)
        __sync_add_and_fetch(&found->references, 1);
    pthread_mutex_unlock(&asked->lock);
    return found;
}

ipt__cu_result cuEventCreate(ipt__cu_event *made, unsigned flags)
{
    const ipt__cu_result error = called();
    event *created;
    (void)flags;
    if (error)
        return error;
    created = (event *)object(sizeof *created);
    pthread_mutex_init(&created->lock, NULL);
    *made = created;
    return 0;
}

ipt__cu_result cuEventDestroy(ipt__cu_event given)
{
    mark_drop(((event *)given)->last);
    object_end(given);
    return 0;
}

static void run_record(job *own)
{
    pthread_mutex_lock(&own->mark->lock);
    own->mark->done = 1;
    pthread_cond_broadcast(&own->mark->changed);
    pthread_mutex_unlock(&own->mark->lock);
    mark_drop(own->mark);
}

/* Waits for a record, if any, and drops it. */
static void wait_for(mark *waited)
{
    if (!waited)
        return;
    pthread_mutex_lock(&waited->lock);
    while (!waited->done)
        pthread_cond_wait(&waited->changed, &waited->lock);
    pthread_mutex_unlock(&waited->lock);
    mark_drop(waited);
}

static void run_wait(job *own)
{
    wait_for(own->mark);
}

ipt__cu_result cuEventRecord(ipt__cu_event given, ipt__cu_stream to)
{
    event *const recorded = (event *)given;
    const ipt__cu_result error = called();
    job record;
    if (error)
        return error;
    recorded->captured = stream_of(to)->captures;
    if (recorded->captured)
        return 0;
    memset(&record, 0, sizeof record);
    record.run = run_record;
    record.mark = (mark *)calloc(1, sizeof *record.mark);
    pthread_mutex_init(&record.mark->lock, NULL);
    pthread_cond_init(&record.mark->changed, NULL);
    record.mark->references = 2; /* the event's, and the stream's */
    pthread_mutex_lock(&recorded->lock);
    mark_drop(recorded->last);
    recorded->last = record.mark;
    pthread_mutex_unlock(&recorded->lock);
    return push(to, &record);
}

ipt__cu_result cuStreamWaitEvent(ipt__cu_stream given, ipt__cu_event other, unsigned flags)
{
    event *const waited = (event *)other;
    const ipt__cu_result error = called();
    job wait;
    (void)flags;
    if (error)
        return error;
    if (stream_of(given)->captures != waited->captured)
        return NOT_CAPTURED;
    memset(&wait, 0, sizeof wait);
    wait.run = run_wait;
    wait.mark = mark_of(waited);
    return push(given, &wait);
}

ipt__cu_result cuEventQuery(ipt__cu_event given)
{
    event *const asked = (event *)given;
    const ipt__cu_result error = unsafe();
    mark *last;
    int done;
    if (asked->captured)
        return CAPTURED;
    if (error)
        return error;
    last = mark_of(asked);
    done = !last || __sync_add_and_fetch(&last->done, 0);
    mark_drop(last);
    return done ? 0 : NOT_READY;
}

ipt__cu_result cuEventSynchronize(ipt__cu_event given)
{
    const ipt__cu_result error = unsafe();
    wait_for(mark_of((event *)given));
    return error;
}

ipt__cu_result cuEventElapsedTime(float *milliseconds, ipt__cu_event begin, ipt__cu_event end)
{
    static float times = 1;
    (void)begin;
    (void)end;
    *milliseconds = times *= 1.0001f; /* later is later */
    return called();
}

static void run_word(job *own)
{
    while (*(volatile cl_uint *)(size_t)own->to < own->value)
        sched_yield();
}

ipt__cu_result cuStreamWaitValue32(ipt__cu_stream given, ipt__cu_address word, cl_uint value, unsigned flags)
{
    const ipt__cu_result error = called();
    job wait;
    (void)flags;
    memset(&wait, 0, sizeof wait);
    wait.run = run_word;
    wait.to = word;
    wait.value = value;
    return error ? error : push(given, &wait);
}

/* The objects that are not destroyed, once all jobs have ended. */
long stand_in_alive(void)
{
    while (__sync_add_and_fetch(&jobs, 0))
        usleep(100);
    return __sync_add_and_fetch(&alive, 0);
}

/* ---- graphs ---- */

ipt__cu_result cuStreamBeginCapture(ipt__cu_stream given, int mode)
{
    stream *const captured = stream_of(given);
    captured->graph = NULL;
    captured->graph_last = &captured->graph;
    captured->captures = 1;
    captured->mode = mode;
    captured->broken = __sync_add_and_fetch(&broken, 0);
    own_captures += mode != 2;
    __sync_add_and_fetch(&global_captures, mode == 0);
    return 0;
}

ipt__cu_result cuStreamEndCapture(ipt__cu_stream given, void **made)
{
    stream *const captured = stream_of(given);
    graph *const ended = (graph *)object(sizeof *ended);
    captured->captures = 0;
    own_captures -= captured->mode != 2;
    __sync_sub_and_fetch(&global_captures, captured->mode == 0);
    ended->first = captured->graph;
    ended->shared = 1;
    *made = ended;
    return captured->broken == __sync_add_and_fetch(&broken, 0) ? 0 : BROKEN;
}

ipt__cu_result cuGraphInstantiate(void **made, void *given, unsigned long long flags)
{
    (void)flags;
    ++((graph *)given)->shared;
    *made = given;
    return 0;
}

ipt__cu_result cuGraphLaunch(void *given, ipt__cu_stream to)
{
    const job *each;
    for (each = ((graph *)given)->first; each; each = each->next)
        push(to, each);
    return 0;
}

ipt__cu_result cuGraphExecDestroy(void *given)
{
    graph *const ended = (graph *)given;
    if (--ended->shared)
        return 0;
    while (ended->first) {
        job *const next = ended->first->next;
        free(ended->first);
        ended->first = next;
    }
    object_end(ended);
    return 0;
}

ipt__cu_result cuGraphDestroy(void *given)
{
    return cuGraphExecDestroy(given);
}

/* ---- memory and transfers ---- */

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static pthread_mutex_t opencl_lock = PTHREAD_MUTEX_INITIALIZER;

static ipt__cu_result take(void **memory, size_t bytes)
{
    const ipt__cu_result error = unsafe();
    *memory = error || bytes > (size_t)1 << 32 ? NULL : clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
    if (*memory)
        __sync_add_and_fetch(&alive, 1);
    return *memory ? 0 : IPT__CU_OUT_OF_MEMORY;
}

ipt__cu_result cuMemAlloc(ipt__cu_address *address, size_t bytes)
{
    void *memory;
    const ipt__cu_result error = take(&memory, bytes);
    *address = (ipt__cu_address)(size_t)memory;
    return error;
}

/* Waits for all streams, as CUDA does. */
ipt__cu_result cuMemFree(ipt__cu_address address)
{
    if (unsafe() == CAPTURES)
        return CAPTURES;
    while (__sync_add_and_fetch(&jobs, 0))
        usleep(100);
    __sync_sub_and_fetch(&alive, 1);
    clSVMFree(context, (void *)(size_t)address);
    return 0;
}

/* Each stream has a list of what was freed on it, and gives it out again at once, as CUDA's pools do. */
typedef struct freed {
    struct freed *next;
    stream *of;
    size_t bytes;
} freed;
static freed *pool;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

static void run_fill(job *own);

ipt__cu_result cuMemAllocAsync(ipt__cu_address *address, size_t bytes, ipt__cu_stream on)
{
    freed **at = &pool, *found;
    ipt__cu_result error = 0;
    void *memory = NULL;
    pthread_mutex_lock(&pool_lock);
    while (*at && ((*at)->of != stream_of(on) || (*at)->bytes != bytes))
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&pool_lock);
    if (!found) {
        error = called();
        memory = error ? NULL : clSVMAlloc(context, CL_MEM_READ_WRITE, bytes + 128, 0);
        if (!memory)
            return IPT__CU_OUT_OF_MEMORY;
        found = (freed *)memory;
        found->bytes = bytes;
        found->of = stream_of(on);
    }
    *address = (ipt__cu_address)(size_t)found + 128;
    __sync_add_and_fetch(&alive, 1);
    return error;
}

/* Overwrites the memory once the stream is there, and gives it out again. */
ipt__cu_result cuMemFreeAsync(ipt__cu_address address, ipt__cu_stream on)
{
    freed *const ended = (freed *)(size_t)(address - 128);
    job fill;
    memset(&fill, 0, sizeof fill);
    fill.run = run_fill;
    fill.to = address;
    fill.value = 0xEE;
    fill.bytes = ended->bytes;
    fill.rows = 1;
    push(on, &fill);
    __sync_sub_and_fetch(&alive, 1);
    pthread_mutex_lock(&pool_lock);
    ended->of = stream_of(on);
    ended->next = pool;
    pool = ended;
    pthread_mutex_unlock(&pool_lock);
    return 0;
}

/* Ranges of pinned host memory. */
static struct {
    const char *begin;
    size_t bytes;
} pinned[4096];
static pthread_mutex_t pinned_lock = PTHREAD_MUTEX_INITIALIZER;

/* Adds the range at `begin` if `bytes` is not 0, else removes it. Whether there was room, or it was there. */
static int pin(const void *begin, size_t bytes)
{
    size_t i = 0;
    pthread_mutex_lock(&pinned_lock);
    while (i < 4096 && pinned[i].begin != (bytes ? NULL : (const char *)begin))
        ++i;
    if (i < 4096) {
        pinned[i].begin = bytes ? (const char *)begin : NULL;
        pinned[i].bytes = bytes;
    }
    pthread_mutex_unlock(&pinned_lock);
    return i < 4096;
}

/* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: all memory is of device 0. */
ipt__cu_result cuPointerGetAttribute(void *value, int attribute, ipt__cu_address address)
{
    if (!address || attribute != 9)
        return IPT__CU_INVALID_VALUE;
    *(int *)value = 0;
    return called();
}

ipt__cu_result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    const ipt__cu_result error = take(memory, bytes);
    (void)flags;
    if (!error && !pin(*memory, bytes))
        abort();
    return error;
}

ipt__cu_result cuMemHostRegister(void *memory, size_t bytes, unsigned flags)
{
    const ipt__cu_result error = unsafe();
    (void)flags;
    if (!error && !pin(memory, bytes))
        abort();
    if (!error)
        __sync_add_and_fetch(&alive, 1);
    return error;
}

ipt__cu_result cuMemHostUnregister(void *memory)
{
    if (!pin(memory, 0))
        return IPT__CU_INVALID_VALUE;
    __sync_sub_and_fetch(&alive, 1);
    return 0;
}

ipt__cu_result cuMemHostGetDevicePointer(ipt__cu_address *address, void *memory, unsigned flags)
{
    const ipt__cu_result error = called();
    int found = 0;
    size_t i;
    (void)flags;
    pthread_mutex_lock(&pinned_lock);
    for (i = 0; i < 4096 && !found; ++i)
        found = pinned[i].begin && (size_t)memory - (size_t)pinned[i].begin < pinned[i].bytes;
    pthread_mutex_unlock(&pinned_lock);
    *address = (ipt__cu_address)(size_t)memory;
    return error ? error : found ? 0 : IPT__CU_INVALID_VALUE;
}

ipt__cu_result cuMemFreeHost(void *memory)
{
    return pin(memory, 0) ? cuMemFree((ipt__cu_address)(size_t)memory) : IPT__CU_INVALID_VALUE;
}

static void run_copy(job *own)
{
    size_t row;
    for (row = 0; row < own->rows; ++row)
        memcpy((char *)(size_t)own->to + row * own->to_pitch, (const char *)(size_t)own->from + row * own->from_pitch,
               own->bytes);
}

static ipt__cu_result copies(ipt__cu_address to, ipt__cu_address from, size_t bytes, ipt__cu_stream given)
{
    const ipt__cu_result error = called();
    job copy;
    memset(&copy, 0, sizeof copy);
    copy.run = run_copy;
    copy.to = to;
    copy.from = from;
    copy.bytes = bytes;
    copy.rows = 1;
    return error ? error : push(given, &copy);
}

ipt__cu_result cuMemcpyHtoDAsync(ipt__cu_address to, const void *from, size_t bytes, ipt__cu_stream given)
{
    return copies(to, (ipt__cu_address)(size_t)from, bytes, given);
}

ipt__cu_result cuMemcpyDtoHAsync(void *to, ipt__cu_address from, size_t bytes, ipt__cu_stream given)
{
    return copies((ipt__cu_address)(size_t)to, from, bytes, given);
}

ipt__cu_result cuMemcpyDtoDAsync(ipt__cu_address to, ipt__cu_address from, size_t bytes, ipt__cu_stream given)
{
    return copies(to, from, bytes, given);
}

ipt__cu_result cuMemcpy2DAsync(const ipt__cu_copy *wanted, ipt__cu_stream given)
{
    const ipt__cu_result error = called();
    job copy;
    memset(&copy, 0, sizeof copy);
    copy.run = run_copy;
    copy.to = wanted->to_type == IPT__CU_HOST ? (ipt__cu_address)(size_t)wanted->to_host : wanted->to;
    copy.from = wanted->from_type == IPT__CU_HOST ? (ipt__cu_address)(size_t)wanted->from_host : wanted->from;
    copy.bytes = wanted->bytes;
    copy.rows = wanted->rows;
    copy.to_pitch = wanted->to_pitch;
    copy.from_pitch = wanted->from_pitch;
    return error ? error : push(given, &copy);
}

static void run_fill(job *own)
{
    size_t i;
    if (own->rows == 1)
        memset((void *)(size_t)own->to, (int)own->value, own->bytes);
    else
        for (i = 0; i < own->bytes; ++i)
            ((cl_uint *)(size_t)own->to)[i] = own->value;
}

static ipt__cu_result fills(ipt__cu_address to, cl_uint value, size_t count, size_t word_bytes, ipt__cu_stream given)
{
    const ipt__cu_result error = called();
    job fill;
    memset(&fill, 0, sizeof fill);
    fill.run = run_fill;
    fill.to = to;
    fill.value = value;
    fill.bytes = count;
    fill.rows = word_bytes;
    return error ? error : push(given, &fill);
}

ipt__cu_result cuMemsetD8Async(ipt__cu_address to, unsigned char value, size_t count, ipt__cu_stream given)
{
    return fills(to, value, count, 1, given);
}

ipt__cu_result cuMemsetD32Async(ipt__cu_address to, unsigned value, size_t count, ipt__cu_stream given)
{
    return fills(to, value, count, 4, given);
}

/* ---- the device ---- */

ipt__cu_result cuInit(unsigned flags)
{
    static int begun;
    cl_platform_id platform;
    cl_int error = CL_SUCCESS;
    (void)flags;
    pthread_mutex_lock(&opencl_lock);
    if (!begun &&
        (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)))
        error = CL_DEVICE_NOT_FOUND;
    if (!begun && !error)
        context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (!begun && !error)
        queue = clCreateCommandQueue(context, device, 0, &error);
    begun = !error;
    pthread_mutex_unlock(&opencl_lock);
    return error ? 100 /* CUDA_ERROR_NO_DEVICE */ : 0;
}

ipt__cu_result cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

ipt__cu_result cuGetErrorString(ipt__cu_result error, const char **sentence)
{
    *sentence = error == IPT__CU_OUT_OF_MEMORY ? "out of memory" : "an error of the stand-in";
    return 0;
}

ipt__cu_result cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

ipt__cu_result cuDeviceGet(ipt__cu_device *got, int number)
{
    *got = number;
    return 0;
}

ipt__cu_result cuDeviceGetName(char *name, int capacity, ipt__cu_device number)
{
    (void)number;
    ipt__print(name, (size_t)capacity, "stand-in");
    return 0;
}

ipt__cu_result cuDeviceGetAttribute(int *value, int attribute, ipt__cu_device number)
{
    (void)number;
    *value = attribute == IPT__CU_UNITS         ? 2
             : attribute == IPT__CU_MAJOR       ? CAPABILITY / 10
             : attribute == IPT__CU_MINOR       ? CAPABILITY % 10
             : attribute == IPT__CU_COOPERATES  ? 1
             : attribute == IPT__CU_LOCAL_BYTES ? 65536
                                                : 0;
    return 0;
}

ipt__cu_result cuDeviceTotalMem(size_t *bytes, ipt__cu_device number)
{
    (void)number;
    *bytes = (size_t)1 << 32;
    return 0;
}

static __thread ipt__cu_context stack[64];
static __thread int depth;

ipt__cu_result cuDevicePrimaryCtxRetain(ipt__cu_context *made, ipt__cu_device number)
{
    const ipt__cu_result error = called();
    (void)number;
    *made = (ipt__cu_context)&device;
    if (!error)
        __sync_add_and_fetch(&alive, 1);
    return error;
}

ipt__cu_result cuDevicePrimaryCtxRelease(ipt__cu_device number)
{
    (void)number;
    __sync_sub_and_fetch(&alive, 1);
    return 0;
}

ipt__cu_result cuCtxPushCurrent(ipt__cu_context pushed)
{
    stack[depth++] = pushed;
    return 0;
}

ipt__cu_result cuCtxPopCurrent(ipt__cu_context *left)
{
    *left = stack[--depth];
    return 0;
}

ipt__cu_result cuCtxGetCurrent(ipt__cu_context *current)
{
    *current = depth ? stack[depth - 1] : NULL;
    return 0;
}

ipt__cu_result cuCtxGetDevice(ipt__cu_device *number)
{
    *number = 0;
    return 0;
}

/* ---- programs ---- */

typedef struct kernel {
    cl_kernel kernel;
    const ipt__kernel_info *info;
    int expects; /* number of arguments */
} kernel;

typedef struct module {
    cl_program program;
    kernel kernel;
} module;

/* The stand-in's machine code is the processor's name, such as sm_31, and in the next line the program's text. */
typedef struct compiled {
    char *text, processor[16];
} compiled;

ipt__cu_result nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return 0;
}

ipt__cu_result nvrtcCreateProgram(void **made, const char *text, const char *name, int count,
                                  const char *const *headers, const char *const *names)
{
    compiled *program;
    const ipt__cu_result error = called() || cuInit(0); /* OpenCL's device compiles */
    (void)name;
    (void)count;
    (void)headers;
    (void)names;
    if (error)
        return error;
    program = (compiled *)object(sizeof *program);
    program->text = strdup(text);
    *made = program;
    return 0;
}

/* Compiles OpenCL C: the text behind the prelude, in a namespace. */
static cl_program build(const char *text)
{
    const char *const begin = strstr(text, "#line 1 \"program\"\n");
    const char *const end = strrchr(text, '}');
    char *own = NULL;
    cl_program program = NULL;
    cl_int error = CL_SUCCESS;
    if (begin && end > begin) {
        own = strdup(strchr(begin, '\n') + 1);
        *strrchr(own, '}') = 0;
        program = clCreateProgramWithSource(context, 1, (const char **)&own, NULL, &error);
        if (!error && clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL)) {
            if (getenv("STAND_IN_LOG")) {
                static char log[65536];
                clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
                fprintf(stderr, "%s\n", log);
            }
            clReleaseProgram(program);
            program = NULL;
        }
    }
    free(own);
    return program;
}

ipt__cu_result nvrtcCompileProgram(void *given, int count, const char *const *options)
{
    static const char architecture[] = "--gpu-architecture=";
    compiled *const program = (compiled *)given;
    cl_program built;
    int i;
    if (called())
        return 6; /* NVRTC_ERROR_COMPILATION */
    for (i = 0; i < count; ++i)
        if (!strncmp(options[i], architecture, sizeof architecture - 1))
            ipt__print(program->processor, sizeof program->processor, "%s", options[i] + sizeof architecture - 1);
    if (strncmp(program->processor, "sm_", 3))
        return 5; /* NVRTC_ERROR_INVALID_OPTION */
    built = build(((compiled *)given)->text);
    if (built)
        clReleaseProgram(built);
    return built ? 0 : 6;
}

ipt__cu_result nvrtcDestroyProgram(void **given)
{
    free(((compiled *)*given)->text);
    object_end(*given);
    return 0;
}

ipt__cu_result nvrtcGetProgramLogSize(void *given, size_t *bytes)
{
    (void)given;
    *bytes = 1;
    return 0;
}

ipt__cu_result nvrtcGetProgramLog(void *given, char *log)
{
    (void)given;
    *log = 0;
    return 0;
}

ipt__cu_result nvrtcGetCUBINSize(void *given, size_t *bytes)
{
    const compiled *const program = (const compiled *)given;
    *bytes = strlen(program->processor) + 1 + strlen(program->text) + 1;
    return called();
}

ipt__cu_result nvrtcGetCUBIN(void *given, char *code)
{
    const compiled *const program = (const compiled *)given;
    strcpy(code, program->processor);
    strcat(code, "\n");
    strcat(code, program->text);
    return 0;
}

ipt__cu_result cuModuleLoadData(ipt__cu_module *made, const void *code)
{
    const ipt__cu_result error = unsafe();
    module *loaded;
    cl_program program;
    char *text;
    const long processor = !strncmp((const char *)code, "sm_", 3) ? strtol((const char *)code + 3, &text, 10) : 0;
    if (error)
        return error;
    if (!processor)
        return 200; /* CUDA_ERROR_INVALID_IMAGE */
    if (processor / 10 != CAPABILITY / 10 || processor > CAPABILITY)
        return OTHER_DEVICE;
    program = build(text);
    if (!program)
        return 200; /* CUDA_ERROR_INVALID_IMAGE */
    loaded = (module *)object(sizeof *loaded);
    loaded->program = program;
    *made = loaded;
    return 0;
}

ipt__cu_result cuModuleUnload(ipt__cu_module given)
{
    module *const unloaded = (module *)given;
    if (unsafe() == CAPTURES)
        return CAPTURES;
    while (__sync_add_and_fetch(&jobs, 0)) /* as CUDA does */
        usleep(100);
    if (unloaded->kernel.kernel)
        clReleaseKernel(unloaded->kernel.kernel);
    clReleaseProgram(unloaded->program);
    object_end(unloaded);
    return 0;
}

ipt__cu_result cuModuleGetFunction(ipt__cu_function *made, ipt__cu_module given, const char *name)
{
    module *const from = (module *)given;
    const ipt__cu_result error = called();
    cl_int failure = CL_SUCCESS;
    int i;
    cl_uint count = 0;
    if (error)
        return error;
    for (i = 0; i < IPT__KERNEL_COUNT && strcmp(ipt__kernels[i].name, name); ++i)
        ;
    if (i == IPT__KERNEL_COUNT)
        return 500; /* CUDA_ERROR_NOT_FOUND */
    if (!from->kernel.kernel) {
        from->kernel.kernel = clCreateKernel(from->program, name, &failure);
        from->kernel.info = &ipt__kernels[i];
        if (!failure)
            clGetKernelInfo(from->kernel.kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
        from->kernel.expects = (int)count;
    }
    *made = &from->kernel;
    return failure ? 500 : 0;
}

ipt__cu_result cuFuncGetAttribute(int *value, int attribute, ipt__cu_function function)
{
    (void)function;
    *value = attribute ? 0 : 1024;
    return called();
}

ipt__cu_result cuFuncSetAttribute(ipt__cu_function function, int attribute, int value)
{
    (void)function;
    (void)attribute;
    (void)value;
    return called();
}

static void run_kernel(job *own)
{
    const ipt__kernel_info *const info = own->kernel->info;
    const size_t size = own->groups * own->items;
    const cl_kernel launched = own->kernel->kernel;
    cl_event event;
    cl_uint at = 0;
    cl_int error = CL_SUCCESS;
    pthread_mutex_lock(&opencl_lock);
    for (; at < info->memories; ++at)
        error |= clSetKernelArgSVMPointer(launched, at, (void *)(size_t)own->memories[at]);
    if (info->local)
        error |= clSetKernelArg(launched, at++, own->local_bytes, NULL);
    error |= clSetKernelArg(launched, at++, info->arguments_bytes, &own->arguments);
    if ((int)at < own->kernel->expects) { /* an expression's argument: its size is not known here */
        size_t bytes = 16;
        while (bytes && clSetKernelArg(launched, at, bytes, own->expression))
            bytes /= 2;
    }
    error |= clEnqueueNDRangeKernel(queue, launched, 1, NULL, &size, &own->items, 0, NULL, &event);
    pthread_mutex_unlock(&opencl_lock);
    if (error || clWaitForEvents(1, &event)) {
        fprintf(stderr, "stand-in: OpenCL refuses kernel %s\n", info->name);
        abort();
    }
    clReleaseEvent(event);
}

ipt__cu_result cuLaunchKernel(ipt__cu_function function, unsigned groups, unsigned y, unsigned z, unsigned items,
                              unsigned items_y, unsigned items_z, unsigned local_bytes, ipt__cu_stream given,
                              void **parameters, void **extra)
{
    kernel *const launched = (kernel *)function;
    const ipt__cu_result error = called();
    job launch;
    cl_uint i;
    (void)extra;
    if (error)
        return error;
    if (y * z * items_y * items_z != 1 || !groups || items > 1024)
        return IPT__CU_INVALID_VALUE;
    memset(&launch, 0, sizeof launch);
    launch.run = run_kernel;
    launch.kernel = launched;
    launch.groups = groups;
    launch.items = items;
    launch.local_bytes = local_bytes;
    for (i = 0; i < launched->info->memories; ++i)
        memcpy(&launch.memories[i], parameters[i], sizeof launch.memories[i]);
    memcpy(&launch.arguments, parameters[i], launched->info->arguments_bytes);
    if ((int)i + launched->info->local + 1 < launched->expects)
        memcpy(launch.expression, parameters[i + 1], sizeof launch.expression);
    return push(given, &launch);
}

ipt__cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *groups, ipt__cu_function function, int items,
                                                           size_t local_bytes)
{
    (void)function;
    (void)items;
    (void)local_bytes;
    *groups = 1;
    return called();
}

/* The device has no launch of work-groups together: the kernels' own patience must do. */
ipt__cu_result cuLaunchCooperativeKernel(ipt__cu_function function, unsigned groups, unsigned y, unsigned z,
                                         unsigned items, unsigned items_y, unsigned items_z, unsigned local_bytes,
                                         ipt__cu_stream given, void **parameters)
{
    return cuLaunchKernel(function, groups, y, z, items, items_y, items_z, local_bytes, given, parameters, NULL);
}
