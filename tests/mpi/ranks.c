/* Random matrices and arrays over ranks against an index formula, byte by byte: any shape, sequence of axes, element
 * size, distribution and way of the exchange. Run it with mpirun. Usage: ranks CASES [SEED [FIRST]]. The cases 0 to
 * CASES - 1 of a seed are the same on every machine; FIRST begins with case FIRST, to repeat a failure. A case may use
 * only the first ranks. With IPT_CUDA, the device is that of the CUDA driver. */
#define _POSIX_C_SOURCE 200809L
#define IPT_MPI
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include "between.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64, GUARD = 64 };

typedef enum mode { HOST, HOST_BUFFERED, HOST_SPLIT, HOST_ASYNC, DEVICE, DEVICE_BUFFERED, DEVICE_AWARE, MODES } mode;
static const char *const mode_names[] = {"host",   "host buffered",   "host split",  "host async",
                                         "device", "device buffered", "device aware"};

/* One case: all ranks draw the same one. */
typedef struct ranks_case {
    int ranks;
    mode way;
    ipt_mpi_desc desc;
    unsigned rank, axes[IPT_MAX_RANK]; /* a matrix has two axes */
    size_t shape[IPT_MAX_RANK];
    size_t row_counts[MOST_RANKS], col_counts[MOST_RANKS];
    unsigned salt;
    int cancels; /* an execution is cancelled first, and undoes what it has done */
} ranks_case;

static unsigned long long state;
static int refusals; /* number of refused workspace limits */

static unsigned long long random_below(unsigned long long limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state * 2685821657736338717ull >> 20) % limit;
}

/* A random number; all orders of magnitude are equally likely. */
static size_t random_side(size_t most)
{
    return 1 + (size_t)random_below(1 + random_below(1 + random_below(most)));
}

/* Distributes a side by FFTW's default, a larger block, or arbitrary numbers with some empty ranks. */
static void distribute(size_t total, int ranks, size_t *block, const size_t **given, size_t *counts)
{
    const size_t least = (total + (size_t)ranks - 1) / (size_t)ranks;
    size_t left = total;
    int i;
    switch (random_below(4)) {
    case 0:
        break;
    case 1:
        *block = least + (size_t)random_below(1 + least);
        break;
    default:
        for (i = 0; i < ranks; ++i) {
            counts[i] = i + 1 == ranks ? left : random_below(4) ? (size_t)random_below(1 + left / 2 + left % 2) : 0;
            left -= counts[i];
        }
        *given = counts;
    }
}

/* Draws a matrix. */
static void make_matrix(ranks_case *made)
{
    made->desc.rows = random_side(random_below(20) ? 60 : 900);
    made->desc.cols = random_below(4) ? random_side(random_below(20) ? 60 : 900) : made->desc.rows;
    made->rank = 2;
    made->shape[0] = made->desc.rows;
    made->shape[1] = made->desc.cols;
    made->axes[0] = 1;
}

/* Draws an array of up to 20,000 elements. */
static void make_array(ranks_case *made)
{
    size_t left = 20000;
    unsigned i, j;
    made->rank = 1 + (unsigned)random_below(6);
    for (i = 0; i < made->rank; ++i) {
        made->shape[i] = random_side(left < 60 ? left : 60);
        left /= made->shape[i];
        j = (unsigned)random_below(i + 1);
        made->axes[i] = made->axes[j];
        made->axes[j] = i;
    }
    made->desc.rank = made->rank;
    memcpy(made->desc.shape, made->shape, sizeof made->shape);
    memcpy(made->desc.axes, made->axes, sizeof made->axes);
}

static void make_case(ranks_case *made, unsigned long long seed, unsigned long long number, int most_ranks)
{
    int i;
    memset(made, 0, sizeof *made);
    state = (seed + 1) * 0x9e3779b97f4a7c15ull ^ (number + 1) * 0xbf58476d1ce4e5b9ull;
    for (i = 0; i < 8; ++i)
        random_below(2);
    made->ranks = 1 + (int)random_below((unsigned long long)most_ranks);
    made->way = (mode)random_below(MODES);
    if (random_below(2))
        make_matrix(made);
    else
        make_array(made);
    made->desc.elem_size = 1 + (size_t)random_below(24);
    made->desc.max_workspace = (size_t)random_below(2);
    if (!random_below(3)) /* messages alone take 32768 bytes, or twice as many: some local plans get few bytes */
        made->desc.max_workspace =
            (made->way == DEVICE_AWARE ? 65540 : 32772) + (size_t)random_below(random_below(2) ? 60 : 1000000);
    distribute(made->shape[0], made->ranks, &made->desc.block, &made->desc.row_counts, made->row_counts);
    distribute(made->shape[made->axes[0]], made->ranks, &made->desc.block_out, &made->desc.col_counts,
               made->col_counts);
    /* The same distribution before and after: of squares, see mpi/square.h, and of arrays whose first axis stays. */
    if (made->shape[0] == made->shape[made->axes[0]] && (!made->axes[0] || random_below(2))) {
        made->desc.block_out = made->desc.block;
        memcpy(made->col_counts, made->row_counts, sizeof made->row_counts);
        made->desc.col_counts = made->desc.row_counts ? made->col_counts : NULL;
    }
    if (made->way == HOST_BUFFERED || made->way == DEVICE_BUFFERED)
        made->desc.flags = IPT_MPI_BUFFERED;
    made->salt = (unsigned)random_below(1u << 30);
    made->cancels = !random_below(4);
}

/* Bytes of a row of the source. */
static size_t row_bytes(const ranks_case *its)
{
    size_t bytes = its->desc.elem_size;
    unsigned i;
    for (i = 1; i < its->rank; ++i)
        bytes *= its->shape[i];
    return bytes;
}

/* The number in the source of an element of the result. */
static size_t source_of(const ranks_case *its, size_t number)
{
    size_t index[IPT_MAX_RANK], at = 0;
    unsigned i;
    for (i = its->rank; i-- > 0;) {
        index[its->axes[i]] = number % its->shape[its->axes[i]];
        number /= its->shape[its->axes[i]];
    }
    for (i = 0; i < its->rank; ++i)
        at = at * its->shape[i] + index[i];
    return at;
}

/* Writes a rank's rows of the source, or (after) compares its rows of the result. Returns the number of wrong bytes. */
static size_t visit(const ranks_case *its, const ipt_mpi_share *share, unsigned char *data, int after)
{
    const size_t size = its->desc.elem_size, rows = after ? share->rows_out : share->rows,
                 first = after ? share->first_row_out : share->first_row;
    size_t cols = 1, i, b, wrong = 0;
    for (i = 0; i < its->rank; ++i)
        cols *= its->shape[i];
    cols /= its->shape[after ? its->axes[0] : 0];
    for (i = 0; i < rows * cols; ++i) {
        const size_t element = after ? source_of(its, first * cols + i) : first * cols + i;
        for (b = 0; b < size; ++b) {
            unsigned char *const at = data + i * size + b,
                                 byte = (unsigned char)(((element * size + b) * 2654435761u + its->salt) >> 11);
            if (after)
                wrong += *at != byte;
            else
                *at = byte;
        }
    }
    return wrong;
}

#ifndef IPT_CUDA
/* On a CPU, mapping returns the address of the buffer itself, which MPI can use. */
static void *address_of(cl_mem buffer, void *user)
{
    const cl_command_queue queue = *(cl_command_queue *)user;
    size_t bytes = 0;
    void *address;
    cl_int error;
    clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    address = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error);
    if (!error)
        clEnqueueUnmapMemObject(queue, buffer, address, 0, NULL, NULL);
    return error || clFinish(queue) ? NULL : address;
}
#endif

static int calls;
static int count_progress(size_t done, size_t total, void *user)
{
    size_t *const last = (size_t *)user;
    if (done < *last || done > total)
        ++calls; /* counts violations: progress never decreases, and ends at the total */
    *last = done;
    return 0;
}

static int cancel(size_t done, size_t total, void *user)
{
    (void)done, (void)total, (void)user;
    return 1;
}

static ipt_result execute_async(ipt_context *context, ipt_mpi_plan *plan, unsigned char *data,
                                const ipt_host_options *options)
{
    cl_event event = NULL;
    cl_int status = CL_COMPLETE;
    const ipt_result result = ipt_mpi_plan_execute_host_async(plan, data, options, &event);
    if (result)
        return result;
    ipt__calls(context)->clWaitForEvents(1, &event);
    ipt__calls(context)->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    ipt__calls(context)->clReleaseEvent(event);
    return (ipt_result)-status;
}

#ifdef IPT_CUDA
/* The stream copies to the device, executes, and copies back: ipt waits for what the stream has. A rank without
 * elements passes no address. */
static ipt_result execute_device(ipt_context *context, cl_command_queue queue, ipt_mpi_plan *plan, unsigned char *data,
                                 size_t bytes, const ipt_host_options *options)
{
    const size_t held = ipt__mpi_share_bytes(&plan->shape);
    ipt__cu_address memory = 0;
    ipt__cu_stream stream = NULL;
    ipt_result result;
    int failed;
    (void)queue;
    ipt__cuda_enter(context->context);
    failed = ipt__cu.cuStreamCreate(&stream, IPT__CU_NON_BLOCKING) ||
             (held && ipt__cu.cuMemAlloc(&memory, held + 32)) ||
             (bytes && ipt__cu.cuMemcpyHtoDAsync(memory + 32, data, bytes, stream));
    result = ipt_mpi_plan_execute_cuda(plan, held ? memory + 32 : 0, stream, options);
    if (bytes && ipt__cu.cuMemcpyDtoHAsync(data, memory + 32, bytes, stream))
        failed = 1;
    if (ipt__cu.cuStreamSynchronize(stream) || (held && ipt__cu.cuMemFree(memory)) || ipt__cu.cuStreamDestroy(stream))
        failed = 1;
    ipt__cuda_leave();
    return failed ? IPT_ERROR_OPENCL : result;
}
#else
static ipt_result execute_device(ipt_context *context, cl_command_queue queue, ipt_mpi_plan *plan, unsigned char *data,
                                 size_t bytes, const ipt_host_options *options)
{
    const size_t offset = 32;
    ipt_mpi_buffer block;
    cl_int error;
    ipt_result result;
    memset(&block, 0, sizeof block);
    block.queue = queue;
    block.byte_offset = offset;
    block.buffer = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, bytes + offset + 1, NULL, &error);
    if (error)
        return IPT_ERROR_OPENCL;
    if (bytes && clEnqueueWriteBuffer(queue, block.buffer, CL_FALSE, offset, bytes, data, 0, NULL, NULL))
        return IPT_ERROR_OPENCL;
    result = ipt_mpi_plan_execute(plan, &block, options);
    if (bytes && clEnqueueReadBuffer(queue, block.buffer, CL_TRUE, offset, bytes, data, 0, NULL, NULL))
        result = IPT_ERROR_OPENCL;
    clReleaseMemObject(block.buffer);
    return result;
}
#endif

static ipt_result execute(const ranks_case *its, ipt_context *context, cl_command_queue queue, ipt_mpi_plan *plan,
                          unsigned char *data, size_t bytes, const ipt_host_options *options)
{
    return its->way >= DEVICE       ? execute_device(context, queue, plan, data, bytes, options)
           : its->way == HOST_ASYNC ? execute_async(context, plan, data, options)
                                    : ipt_mpi_plan_execute_host(plan, data, options);
}

/* Cancels an execution before the exchange. Returns the number of changed bytes, or 1 if it was not cancelled. */
static size_t run_cancelled(const ranks_case *its, ipt_context *context, cl_command_queue queue, ipt_mpi_plan *plan,
                            unsigned char *data, size_t bytes)
{
    const ipt_host_options options = {cancel, NULL, NULL};
    unsigned char *const before = (unsigned char *)malloc(bytes + 1);
    size_t i, changed = 0;
    if (!before)
        return 1;
    memcpy(before, data, bytes);
    if (execute(its, context, queue, plan, data, bytes, &options) != IPT_ERROR_CANCELLED)
        changed = 1;
    for (i = 0; i < bytes; ++i)
        changed += before[i] != data[i];
    free(before);
    return changed;
}

/* The largest workspace of a plan of this case on each rank. */
static size_t allowed(const ranks_case *its)
{
    size_t most = 0;
    for (int i = 0; i < its->ranks; ++i) {
        ipt_mpi_share share;
        if (!ipt_mpi_share_of(&its->desc, its->ranks, i, &share) && share.bytes > most)
            most = share.bytes;
    }
    return (its->desc.flags & IPT_MPI_BUFFERED ? most : 0) + (its->desc.max_workspace        ? its->desc.max_workspace
                                                              : most / 100 > (size_t)1 << 20 ? most / 100
                                                                                             : (size_t)1 << 20);
}

/* Runs a case on this rank. Returns a description of the error, or NULL. */
static const char *run_case(ranks_case *its, MPI_Comm communicator, ipt_context *context, cl_command_queue queue,
                            int rank)
{
    static char text[4200];
    ipt_context *split[2];
    ipt_host_options options = {count_progress, NULL, NULL};
    ipt_mpi_plan *plan = NULL;
    ipt_mpi_share share;
    unsigned char *memory, *data;
    size_t last = 0, wrong = 0, over = 0, i, guards = 0, undone = 0;
    ipt_result result = ipt_mpi_share_of(&its->desc, its->ranks, rank, &share);
    options.user = &last;
    split[0] = split[1] = context;
    if (its->way == HOST_SPLIT) {
        its->desc.split = split;
        its->desc.split_count = 2;
    }
    if (its->way == DEVICE_AWARE) {
        its->desc.flags = IPT_MPI_DEVICE_AWARE;
#ifndef IPT_CUDA
        its->desc.address = address_of;
        its->desc.user = &queue;
#endif
    }
    memory = (unsigned char *)malloc(share.bytes + 2 * GUARD);
    if (result || !memory)
        return "share";
    memset(memory, 0xA5, share.bytes + 2 * GUARD);
    data = memory + GUARD;
    visit(its, &share, data, 0);
    calls = 0;
    result = ipt_mpi_plan_create(context, communicator, &its->desc, &plan);
    if (result == IPT_ERROR_UNSUPPORTED && its->desc.max_workspace > 1) { /* the limit in the error suffices */
        const char *number = strstr(ipt_context_error(NULL), " would do");
        while (number && number[-1] >= '0' && number[-1] <= '9')
            --number;
        its->desc.max_workspace = number ? (size_t)strtoull(number, NULL, 10) : its->desc.max_workspace;
        ++refusals;
        result = ipt_mpi_plan_create(context, communicator, &its->desc, &plan);
    }
    if (!result && its->cancels)
        undone = run_cancelled(its, context, queue, plan, data, share.rows * row_bytes(its));
    if (!result)
        result = execute(its, context, queue, plan, data, share.bytes, &options);
    if (!result)
        wrong = visit(its, &share, data, 1);
    if (!result && its->desc.max_workspace != 1 && ipt_mpi_plan_workspace(plan) > allowed(its))
        over = ipt_mpi_plan_workspace(plan);
    for (i = 0; i < GUARD; ++i)
        guards += (memory[i] != 0xA5) + (memory[GUARD + share.bytes + i] != 0xA5);
    ipt_mpi_plan_destroy(plan);
    free(memory);
    if (!result && !wrong && !guards && !calls && !over && !undone)
        return NULL;
    snprintf(text, sizeof text,
             "%s: %s; %zu wrong bytes, %zu not undone, %zu guards, %d wrong calls of progress, %zu bytes of workspace "
             "of %zu",
             ipt_result_string(result), result ? ipt_context_error(NULL) : "", wrong, undone, guards, calls, over,
             allowed(its));
    return text;
}

int main(int argc, char **argv)
{
    const unsigned long long cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 100,
                             seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                             first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    MPI_Comm parts[MOST_RANKS + 1];
    ipt_context *context = NULL;
    cl_command_queue queue;
    int level, all, rank, i, failed = 0, sum = 0;
    unsigned long long number;
    cl_int error;
    ipt_context_desc where;
    memset(&where, 0, sizeof where);
#ifdef IPT_CUDA
    where.driver = IPT_DRIVER_CUDA;
#endif
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (all > MOST_RANKS || ipt_context_create(&where, &context)) {
        fprintf(stderr, "rank %d: %s\n", rank, ipt_context_error(NULL));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    queue = ipt__calls(context)->clCreateCommandQueue(context->context, context->device, 0, &error);
    for (i = 1; i <= all; ++i)
        MPI_Comm_split(MPI_COMM_WORLD, rank < i ? 0 : MPI_UNDEFINED, rank, &parts[i]);
    for (number = first; number < cases && failed < 5; ++number) {
        ranks_case its;
        const char *why;
        make_case(&its, seed, number, all);
        if (rank >= its.ranks)
            continue;
        why = run_case(&its, parts[its.ranks], context, queue, rank);
        if (!why)
            continue;
        ++failed;
        fprintf(stderr, "seed %llu, case %llu, rank %d of %d, %s:", seed, number, rank, its.ranks, mode_names[its.way]);
        for (i = 0; i < (int)its.rank; ++i)
            fprintf(stderr, " %zu (%u)", its.shape[i], its.axes[i]);
        fprintf(stderr, " of %zu bytes, block %zu%s, block_out %zu%s: %s\n", its.desc.elem_size, its.desc.block,
                its.desc.row_counts ? " (uneven)" : "", its.desc.block_out, its.desc.col_counts ? " (uneven)" : "",
                why);
    }
    MPI_Allreduce(&failed, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank && !sum)
        printf("ranks: %llu cases passed on 1 to %d ranks, seed %llu, %s; %d limits refused on rank 0\n", cases - first,
               all, seed, where.driver ? "CUDA" : "OpenCL", refusals);
    for (i = 1; i <= all; ++i)
        if (rank < i)
            MPI_Comm_free(&parts[i]);
    ipt__calls(context)->clReleaseCommandQueue(queue);
    ipt_context_destroy(context);
    MPI_Finalize();
    return sum != 0;
}
