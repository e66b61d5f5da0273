/* Failures on one rank: of memory, OpenCL, MPI or arguments, cancellations, a cut message. All ranks then return the
 * same result and none hangs, wrong data is reported, and the plan works afterwards. Run it with mpirun. Usage:
 *   faults all              all of these failures
 *   faults die NUMBER HOW   rank 1 ends in its message NUMBER by exit, abort or signal; mpirun must end the whole job
 *   faults pause            rank 1 stops for two seconds within an execution, which then succeeds */
#define _GNU_SOURCE
#define IPT_MPI
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include "between.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

enum { MOST_ATTEMPTS = 400 };

/* ---- failures of OpenCL and of memory ---- */

static const char *failing_cl;                   /* NULL: none */
static long cl_countdown, allocations_left = -1; /* -1: all succeed */

static int cl_fails(const char *name)
{
    return failing_cl && !strcmp(failing_cl, name) && --cl_countdown == 0;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint count, const cl_event *events,
                              cl_event *event)
{
    cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
                   const cl_event *, cl_event *);
    if (cl_fails("clEnqueueNDRangeKernel"))
        return CL_OUT_OF_RESOURCES;
    *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    return real(queue, kernel, dimensions, offset, global, local, count, events, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                           void *memory, cl_uint count, const cl_event *events, cl_event *event)
{
    cl_int (*real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *);
    if (cl_fails("clEnqueueReadBuffer"))
        return CL_OUT_OF_RESOURCES;
    *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueReadBuffer");
    return real(queue, buffer, blocking, offset, bytes, memory, count, events, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                            const void *memory, cl_uint count, const cl_event *events, cl_event *event)
{
    cl_int (*real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *,
                   cl_event *);
    if (cl_fails("clEnqueueWriteBuffer"))
        return CL_OUT_OF_RESOURCES;
    *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueWriteBuffer");
    return real(queue, buffer, blocking, offset, bytes, memory, count, events, event);
}

static void *allocate(size_t bytes, void *user)
{
    (void)user;
    if (!allocations_left)
        return NULL;
    allocations_left -= allocations_left > 0;
    return malloc(bytes);
}

static void release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

/* ---- one execution ---- */

typedef struct world {
    int ranks, rank, faults;
    ipt_context *context;
    cl_command_queue queue;
    ipt_mpi_desc desc;
    ipt_mpi_share share;
    unsigned char *data;
    cl_mem buffer;              /* a device buffer for these bytes; NULL: the plan transposes `data` */
    long cancel_at, progressed; /* the call of progress that cancels, 0: none; calls so far */
    int faulted;                /* the planted failure has occurred on some rank */
} world;

static void check(world *its, int good, const char *what, const char *scenario, long number)
{
    if (good)
        return;
    fprintf(stderr, "faults: rank %d of %d, %s %ld: %s; last error: %s\n", its->rank, its->ranks, scenario, number,
            what, ipt_context_error(NULL));
    ++its->faults;
}

static unsigned char byte_of(const world *its, size_t row, size_t col, size_t byte)
{
    return (unsigned char)((((row * its->desc.cols + col) * its->desc.elem_size + byte) * 2654435761u) >> 13);
}

/* Fills the block with its initial content (0), or counts the bytes that differ from it (1) or from the result (2). */
static size_t visit(const world *its, int what)
{
    const size_t size = its->desc.elem_size, rows = what == 2 ? its->share.rows_out : its->share.rows,
                 cols = what == 2 ? its->desc.rows : its->desc.cols;
    size_t i, j, b, wrong = 0;
    for (i = 0; i < rows; ++i)
        for (j = 0; j < cols; ++j)
            for (b = 0; b < size; ++b) {
                unsigned char *const at = its->data + (i * cols + j) * size + b;
                const unsigned char value = what == 2 ? byte_of(its, j, its->share.first_row_out + i, b)
                                                      : byte_of(its, its->share.first_row + i, j, b);
                if (what)
                    wrong += *at != value;
                else
                    *at = value;
            }
    return wrong;
}

static int progressed(size_t done, size_t total, void *user)
{
    world *const its = (world *)user;
    (void)done, (void)total;
    return ++its->progressed == its->cancel_at;
}

static ipt_result execute(world *its, ipt_mpi_plan *plan)
{
    ipt_host_options options = {progressed, NULL, NULL};
    ipt_mpi_buffer block;
    ipt_result result;
    options.user = its;
    its->progressed = 0;
    if (!its->buffer)
        return ipt_mpi_plan_execute_host(plan, its->data, &options);
    memset(&block, 0, sizeof block);
    block.queue = its->queue;
    block.buffer = its->buffer;
    result = ipt_mpi_plan_execute(plan, &block, &options);
    return result;
}

/* Copies `data` to the buffer or (back) the buffer to `data`, without planted failures. */
static void copy(world *its, int back)
{
    const char *const planted = failing_cl;
    failing_cl = NULL;
    if (its->buffer && back)
        clEnqueueReadBuffer(its->queue, its->buffer, CL_TRUE, 0, its->share.bytes, its->data, 0, NULL, NULL);
    else if (its->buffer)
        clEnqueueWriteBuffer(its->queue, its->buffer, CL_TRUE, 0, its->share.bytes, its->data, 0, NULL, NULL);
    failing_cl = planted;
}

static void no_failures(world *its)
{
    between.failing = failing_cl = NULL;
    between.cut = 0;
    its->cancel_at = 0;
    allocations_left = -1;
}

/* Executes with the planted failures, and checks the result and the data. Returns the result. */
static ipt_result run(world *its, ipt_mpi_plan *plan, const char *scenario, long number)
{
    ipt_result result;
    int own, least, most;
    visit(its, 0);
    copy(its, 0);
    result = execute(its, plan);
    own = (int)result;
    no_failures(its);
    copy(its, 1);
    MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(its, least == most, "ranks return different results", scenario, number);
    if (!result)
        check(its, !visit(its, 2), "wrong data passes for right", scenario, number);
    else if (result != IPT_ERROR_INCOMPLETE)
        check(its, !visit(its, 1), "data changed although the result promises otherwise", scenario, number);
    if (result)
        check(its, strstr(ipt_context_error(NULL), "rank ") != NULL, "the error names no rank", scenario, number);
    visit(its, 0);
    copy(its, 0);
    own = execute(its, plan) != IPT_SUCCESS;
    copy(its, 1);
    check(its, !own && !visit(its, 2), "the plan does not work afterwards", scenario, number);
    return result;
}

/* Makes the first call on one rank fail, then the second, and so on, until an execution has no more calls. */
static void fail_calls(world *its, ipt_mpi_plan *plan, const char *name, int of_mpi, int victim)
{
    ipt_result result = IPT_ERROR_MPI;
    long number;
    for (number = 1; number < MOST_ATTEMPTS && result; ++number) {
        if (its->rank == victim && of_mpi) {
            between.failing = name;
            between.countdown = number;
        } else if (its->rank == victim) {
            failing_cl = name;
            cl_countdown = number;
        }
        result = run(its, plan, name, number);
        check(its, !result || result == IPT_ERROR_INCOMPLETE || !of_mpi,
              "an MPI failure within the exchange is another "
              "result than INCOMPLETE",
              name, number);
    }
    check(its, number > 2 && number < MOST_ATTEMPTS, "no execution met the failure, or all did", name, number);
}

static void cut_messages(world *its, ipt_mpi_plan *plan, int victim)
{
    ipt_result result = IPT_ERROR_INCOMPLETE;
    long number;
    for (number = 1; number < MOST_ATTEMPTS && result; ++number) {
        between.cut = its->rank == victim ? number : 0;
        result = run(its, plan, "a cut message", number);
        check(its, !result || result == IPT_ERROR_INCOMPLETE, "a cut message is another result than INCOMPLETE",
              "a cut message", number);
    }
    check(its, number > 2, "a cut message passes for a whole one", "a cut message", number);
}

static void cancel(world *its, ipt_mpi_plan *plan, int victim)
{
    int seen[IPT__RESULT_COUNT] = {0};
    ipt_result result = IPT_ERROR_CANCELLED;
    long number;
    for (number = 1; number < MOST_ATTEMPTS && result; ++number) {
        its->cancel_at = its->rank == victim ? number : 0;
        result = run(its, plan, "cancellation", number);
        ++seen[result];
    }
    check(its, seen[IPT_ERROR_CANCELLED] && seen[IPT_ERROR_INCOMPLETE], "a cancellation has no effect", "cancellation",
          number);
}

/* Tests a failed wait event, and a block that is NULL. */
static void fail_arguments(world *its, ipt_mpi_plan *plan, int victim)
{
    unsigned char *const data = its->data;
    ipt_mpi_buffer block;
    cl_event event;
    ipt_result result;
    if (its->buffer) {
        memset(&block, 0, sizeof block);
        block.queue = its->queue;
        block.buffer = its->buffer;
        event = clCreateUserEvent(ipt_context_cl_context(its->context), NULL);
        clSetUserEventStatus(event, its->rank == victim ? -1 : CL_COMPLETE);
        block.num_wait_events = 1;
        block.wait_events = &event;
        visit(its, 0);
        copy(its, 0);
        result = ipt_mpi_plan_execute(plan, &block, NULL);
        copy(its, 1);
        check(its, result == IPT_ERROR_OPENCL && !visit(its, 1), "a failed wait event", "arguments", 1);
        clReleaseEvent(event);
        block.num_wait_events = 0;
        result = ipt_mpi_plan_execute(plan, its->rank == victim ? NULL : &block, NULL);
        check(its, result == IPT_ERROR_INVALID_ARGUMENT, "buffer is NULL on one rank", "arguments", 2);
        result = its->rank == victim ? ipt_mpi_plan_execute_host(plan, data, NULL)
                                     : ipt_mpi_plan_execute(plan, &block, NULL);
        copy(its, 1);
        check(its, result == IPT_ERROR_INVALID_ARGUMENT && !visit(its, 1), "one rank executes on host memory",
              "arguments", 3);
        return;
    }
    visit(its, 0);
    result = ipt_mpi_plan_execute_host(plan, its->rank == victim ? NULL : data, NULL);
    check(its, result == IPT_ERROR_INVALID_ARGUMENT && !visit(its, 1), "data is NULL on one rank", "arguments", 4);
}

/* ---- plans ---- */

/* Creates a plan while one rank's allocations fail: all from the first on, from the second on, and so on. */
static void fail_memory(world *its, int victim)
{
    ipt_result result = IPT_ERROR_OUT_OF_MEMORY;
    long number;
    for (number = 0; number < MOST_ATTEMPTS && result; ++number) {
        ipt_mpi_plan *plan = NULL;
        int own, least, most;
        allocations_left = its->rank == victim ? number : -1;
        result = ipt_mpi_plan_create(its->context, MPI_COMM_WORLD, &its->desc, &plan);
        allocations_left = -1;
        own = (int)result;
        MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        check(its, least == most && (!result || result == IPT_ERROR_OUT_OF_MEMORY) && !plan == (result != IPT_SUCCESS),
              "ranks return different results without memory", "allocation", number);
        ipt_mpi_plan_destroy(plan);
    }
    check(its, number > 4 && !result, "no creation met the failure, or all did", "allocation", number);
}

static void refuse(world *its, const char *what, const ipt_mpi_desc *desc, ipt_context *context, ipt_result expected)
{
    ipt_mpi_plan *plan = NULL;
    const ipt_result result = ipt_mpi_plan_create(context, MPI_COMM_WORLD, desc, &plan);
    check(its, result == expected && !plan, what, "refusals", (long)result);
    ipt_mpi_plan_destroy(plan);
}

static void fail_descs(world *its, int victim)
{
    const int is_victim = its->rank == victim;
    ipt_mpi_desc desc = its->desc;
    size_t counts[64] = {0};
    refuse(its, "desc is NULL on one rank", is_victim ? NULL : &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    refuse(its, "context is NULL on one rank", &desc, is_victim ? NULL : its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc.rows += (size_t)is_victim;
    refuse(its, "rows differ", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc = its->desc;
    desc.rows = 0;
    refuse(its, "rows is 0", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc = its->desc;
    desc.cols = ~(size_t)0;
    refuse(its, "the product overflows", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc.cols = its->desc.cols;
    desc.rank = 2;
    refuse(its, "rank beside rows", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc.rows = desc.cols = 0;
    refuse(its, "shape is 0", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc.shape[0] = its->desc.rows;
    desc.shape[1] = its->desc.cols;
    refuse(its, "an axis named twice", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc.axes[1] = 1;
    desc.block_out = desc.shape[0];
    refuse(its, "the first axis stays, and its distribution does not", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc.rank = IPT_MAX_RANK + 1;
    refuse(its, "rank is too large", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc = its->desc;
    desc.rows = desc.cols = 0;
    desc.rank = 2;
    desc.shape[0] = its->desc.rows;
    desc.shape[1] = its->desc.cols;
    desc.axes[is_victim] = 1; /* block_out is 0: the same distribution */
    refuse(its, "axes differ", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc = its->desc;
    desc.block = 1;
    refuse(its, "block is too small", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc = its->desc;
    desc.flags = 1u << 20;
    refuse(its, "unknown flags", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc.flags = IPT_MPI_DEVICE_AWARE;
    refuse(its, "no address", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc = its->desc;
    desc.row_counts = counts;
    refuse(its, "counts of another sum", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    desc = its->desc;
    desc.max_workspace = 5000;
    refuse(its, "too little memory for messages", &desc, its->context, IPT_ERROR_UNSUPPORTED);
    desc = its->desc;
    desc.split_count = 1;
    refuse(its, "split_count without split", &desc, its->context, IPT_ERROR_INVALID_ARGUMENT);
    check(its, ipt_mpi_plan_create(its->context, MPI_COMM_NULL, &its->desc, NULL) == IPT_ERROR_INVALID_ARGUMENT,
          "MPI_COMM_NULL", "refusals", 0);
}

/* A plan for several devices of a rank refuses a block in a buffer. The block stays unchanged. */
static void fail_split_buffer(world *its)
{
    ipt_context *const split[] = {its->context, its->context};
    ipt_mpi_desc desc = its->desc;
    ipt_mpi_buffer block;
    ipt_mpi_plan *plan = NULL;
    desc.split = split;
    desc.split_count = 2;
    memset(&block, 0, sizeof block);
    block.buffer = its->buffer;
    block.queue = its->queue;
    check(its, !ipt_mpi_plan_create(its->context, MPI_COMM_WORLD, &desc, &plan), "no plan", "split", 0);
    check(its, ipt_mpi_plan_execute(plan, &block, NULL) == IPT_ERROR_UNSUPPORTED, "a buffer for split", "split", 0);
    check(its, strstr(ipt_context_error(NULL), "split is set") != NULL, ipt_context_error(NULL), "split", 0);
    ipt_mpi_plan_destroy(plan);
}

/* All failures of executions of one kind of plan. */
static void run_plan(world *its, unsigned flags, int device, size_t rows, size_t cols)
{
    ipt_mpi_plan *plan = NULL;
    const int victim = (int)(rows + cols + flags) % its->ranks;
    memset(&its->desc, 0, sizeof its->desc);
    its->desc.rows = rows;
    its->desc.cols = cols;
    its->desc.elem_size = 8;
    its->desc.flags = flags;
    its->desc.max_workspace = 1; /* short messages */
    ipt_mpi_share_of(&its->desc, its->ranks, its->rank, &its->share);
    its->data = (unsigned char *)malloc(its->share.bytes);
    its->buffer =
        device ? clCreateBuffer(ipt_context_cl_context(its->context), CL_MEM_READ_WRITE, its->share.bytes, NULL, NULL)
               : NULL;
    if (ipt_mpi_plan_create(its->context, MPI_COMM_WORLD, &its->desc, &plan)) {
        check(its, 0, "no plan", "run_plan", 0);
        return;
    }
    run(its, plan, "no failure", 0);
    fail_arguments(its, plan, victim);
    fail_calls(its, plan, "clEnqueueNDRangeKernel", 0, victim);
    if (device) {
        fail_calls(its, plan, "clEnqueueReadBuffer", 0, victim);
        fail_calls(its, plan, "clEnqueueWriteBuffer", 0, victim);
    }
    if (flags & IPT_MPI_BUFFERED) {
        fail_calls(its, plan, "MPI_Alltoallv", 1, victim);
    } else {
        fail_calls(its, plan, "MPI_Isend", 1, victim);
        fail_calls(its, plan, "MPI_Irecv", 1, victim);
        fail_calls(its, plan, "MPI_Wait", 1, victim);
        cut_messages(its, plan, victim);
    }
    cancel(its, plan, victim);
    ipt_mpi_plan_destroy(plan);
    fail_memory(its, victim);
    fail_descs(its, victim);
    if (its->buffer)
        fail_split_buffer(its);
    if (its->buffer)
        clReleaseMemObject(its->buffer);
    free(its->data);
}

/* ---- processes that end or stop ---- */

static long ends_at;
static const char *how;

/* Called by progress: in the exchange, once for each message. */
static int end_process(size_t done, size_t total, void *user)
{
    world *const its = (world *)user;
    (void)done, (void)total;
    if (++its->progressed != ends_at || its->rank != 1)
        return 0;
    if (!strcmp(how, "exit"))
        _exit(7);
    if (!strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (!strcmp(how, "signal"))
        raise(SIGTERM);
    if (!fork()) { /* pause: the child wakes its parent */
        sleep(2);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    return 0;
}

static void run_process(world *its)
{
    ipt_host_options options = {end_process, NULL, NULL};
    ipt_mpi_plan *plan = NULL;
    ipt_result result;
    memset(&its->desc, 0, sizeof its->desc);
    its->desc.rows = 600;
    its->desc.cols = 500;
    its->desc.elem_size = 8;
    its->desc.max_workspace = 1;
    options.user = its;
    ipt_mpi_share_of(&its->desc, its->ranks, its->rank, &its->share);
    its->data = (unsigned char *)malloc(its->share.bytes);
    visit(its, 0);
    result = ipt_mpi_plan_create(its->context, MPI_COMM_WORLD, &its->desc, &plan);
    if (!result)
        result = ipt_mpi_plan_execute_host(plan, its->data, &options);
    if (strcmp(how, "pause")) /* reached if MPI returns an error for an ended rank */
        check(its, result != IPT_SUCCESS, "an execution with an ended rank succeeds", how, ends_at);
    else
        check(its, !result && !visit(its, 2), "an execution with a stopped rank fails", how, ends_at);
    ipt_mpi_plan_destroy(plan);
    free(its->data);
}

int main(int argc, char **argv)
{
    world its;
    ipt_context_desc desc;
    int faults = 0;
    memset(&its, 0, sizeof its);
    memset(&desc, 0, sizeof desc);
    desc.allocator.alloc = allocate;
    desc.allocator.free = release;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &its.ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &its.rank);
    if (its.ranks < 2 || ipt_context_create(&desc, &its.context)) {
        fprintf(stderr, "faults: needs two ranks and a device: %s\n", ipt_context_error(NULL));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    its.queue = clCreateCommandQueue(ipt_context_cl_context(its.context), ipt_context_cl_device(its.context), 0, NULL);
    if (argc > 3 && !strcmp(argv[1], "die")) {
        ends_at = strtol(argv[2], NULL, 10);
        how = argv[3];
        run_process(&its);
    } else if (argc > 1 && !strcmp(argv[1], "pause")) {
        ends_at = 3;
        how = "pause";
        run_process(&its);
    } else {
        run_plan(&its, 0, 0, 60, 48); /* equal blocks */
        run_plan(&its, 0, 0, 61, 47); /* pieces, rests */
        run_plan(&its, 0, 0, 53, 53); /* a square: patches */
        run_plan(&its, 0, 1, 61, 49); /* on the device */
        run_plan(&its, IPT_MPI_BUFFERED, 0, 61, 47);
        run_plan(&its, IPT_MPI_BUFFERED, 1, 60, 48);
    }
    MPI_Allreduce(&its.faults, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!its.rank && !faults)
        printf("faults: passed on %d ranks\n", its.ranks);
    clReleaseCommandQueue(its.queue);
    ipt_context_destroy(its.context);
    MPI_Finalize();
    return faults != 0;
}
