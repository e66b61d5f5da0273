/* A matrix in block rows over MPI ranks: time and memory of one way to transpose it. Each rank uses its own device, if
 * its node has several. Verifies every element.
 *   mpirun -n 4 mpi METHOD ROWSxCOLS[xDEPTH][:BYTES] [ROUNDS [WORKSPACE]]
 * With DEPTH an array's three axes are reversed: from C to Fortran order, which FFTW does not do.
 * METHOD: ipt (blocks in host memory), ipt-buffered (with MPI_Alltoallv), ipt-device and ipt-device-buffered (blocks in
 * device memory); compiled with BENCH_FFTW also fftw-estimate and fftw-measure, and both with -out for out of place.
 * Prints a line: seconds of the slowest rank (median and least of the rounds), mean processor time of all ranks, which
 * other load disturbs less, GB/s of the matrix read and written, and the most additional bytes of a rank at its peak.
 */
#define IPT_MPI
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#ifdef BENCH_FFTW
#include <fftw3-mpi.h>
#endif

enum { MOST_ROUNDS = 100, MOST_DEVICES = 64 };

typedef struct bench {
    const char *method;
    size_t rows, cols, depth, size; /* depth: 1 for a matrix */
    int ranks, rank, device, rounds;
    ipt_context *context;
    ipt_mpi_desc desc;
    ipt_mpi_share share;
} bench;

static void stop(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, ipt_context_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A line of /proc/self/status in bytes. */
static double status_bytes(const char *name)
{
    char line[256];
    double kilobytes = 0;
    FILE *const file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)))
            kilobytes = strtod(line + strlen(name) + 1, NULL);
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

/* Resets VmHWM. */
static void forget_peak(void)
{
    FILE *const file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
}

static unsigned value_of(const bench *its, size_t row, size_t col)
{
    return (unsigned)((row * its->cols * its->depth + col) * 2654435761u);
}

static void fill(const bench *its, char *data)
{
    const size_t cols = its->cols * its->depth;
    size_t i, j;
    for (i = 0; i < its->share.rows; ++i)
        for (j = 0; j < cols; ++j) {
            const unsigned value = value_of(its, its->share.first_row + i, j);
            memcpy(data + (i * cols + j) * its->size, &value, its->size < 4 ? its->size : 4);
        }
}

static void verify(const bench *its, const char *data)
{
    const size_t lines = its->depth > 1 ? its->cols : 1; /* of a row of the result */
    size_t i, k, j, wrong = 0;
    for (i = 0; i < its->share.rows_out; ++i)
        for (k = 0; k < lines; ++k)
            for (j = 0; j < its->rows; ++j) {
                const unsigned value = value_of(its, j, k * its->depth + its->share.first_row_out + i);
                const char *const at = data + ((i * lines + k) * its->rows + j) * its->size;
                wrong += memcmp(at, &value, its->size < 4 ? its->size : 4) != 0;
            }
    if (wrong) {
        fprintf(stderr, "rank %d: %zu wrong elements\n", its->rank, wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* The number of this process' blocks in host memory. On a CPU device, the device's block is in host memory, too. */
static int host_blocks(const bench *its)
{
    cl_bool unified = CL_FALSE;
    if (its->device)
        clGetDeviceInfo(ipt_context_cl_device(its->context), CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified,
                        NULL);
    return unified ? 2 : 1;
}

/* A way to transpose: its functions to prepare, to run once and to end. */
typedef struct way {
    char *data, *result; /* the block of the source, and of the result */
    ipt_mpi_plan *plan;
    cl_command_queue queue;
    ipt_mpi_buffer buffer;
#ifdef BENCH_FFTW
    fftwf_plan fftw;
#endif
} way;

static int is_fftw(const bench *its)
{
    return !strncmp(its->method, "fftw", 4);
}

static void begin(const bench *its, way *made)
{
    const int out = strstr(its->method, "-out") != NULL;
    cl_int error = CL_SUCCESS;
    memset(made, 0, sizeof *made);
#ifdef BENCH_FFTW
    if (is_fftw(its)) {
        made->data = (char *)fftwf_malloc(its->share.bytes + 64);
        made->result = out ? (char *)fftwf_malloc(its->share.bytes + 64) : made->data;
        made->fftw = fftwf_mpi_plan_many_transpose(
            (ptrdiff_t)its->rows, (ptrdiff_t)its->cols, (ptrdiff_t)(its->size / sizeof(float)), FFTW_MPI_DEFAULT_BLOCK,
            FFTW_MPI_DEFAULT_BLOCK, (float *)made->data, (float *)made->result, MPI_COMM_WORLD,
            strstr(its->method, "measure") ? FFTW_MEASURE : FFTW_ESTIMATE);
        if (!made->fftw)
            stop("fftwf_mpi_plan_many_transpose");
        return;
    }
#endif
    (void)out;
    if (ipt_host_alloc(its->context, its->share.bytes + 64, (void **)&made->data))
        stop("ipt_host_alloc");
    made->result = made->data;
    if (ipt_mpi_plan_create(its->context, MPI_COMM_WORLD, &its->desc, &made->plan))
        stop("ipt_mpi_plan_create");
    if (!its->device)
        return;
    made->queue =
        clCreateCommandQueue(ipt_context_cl_context(its->context), ipt_context_cl_device(its->context), 0, &error);
    made->buffer.queue = made->queue;
    if (!error)
        made->buffer.buffer = clCreateBuffer(ipt_context_cl_context(its->context), CL_MEM_READ_WRITE,
                                             its->share.bytes + 64, NULL, &error);
    if (error)
        stop("clCreateBuffer");
}

/* Copies between the block in host memory and the block on the device, on all ranks at the same time. Returns the
 * slowest rank's seconds: the limit of the buses. */
static double copy(const bench *its, const way *made, int back)
{
    cl_int error = CL_SUCCESS;
    double seconds;
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime();
    if (its->device && its->share.bytes)
        error = back ? clEnqueueReadBuffer(made->queue, made->buffer.buffer, CL_TRUE, 0, its->share.bytes, made->data,
                                           0, NULL, NULL)
                     : clEnqueueWriteBuffer(made->queue, made->buffer.buffer, CL_TRUE, 0, its->share.bytes, made->data,
                                            0, NULL, NULL);
    if (error)
        stop("a transfer");
    seconds = MPI_Wtime() - seconds;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

/* Processor time of this process. */
static double processor_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Returns the slowest rank's seconds, and adds the processors' total seconds to *busy. */
static double run(const bench *its, way *made, double *busy)
{
    ipt_result result = IPT_SUCCESS;
    double seconds, processor;
    MPI_Barrier(MPI_COMM_WORLD);
    processor = processor_seconds();
    seconds = MPI_Wtime();
#ifdef BENCH_FFTW
    if (is_fftw(its))
        fftwf_execute(made->fftw);
    else
#endif
        result = its->device ? ipt_mpi_plan_execute(made->plan, &made->buffer, NULL)
                             : ipt_mpi_plan_execute_host(made->plan, made->data, NULL);
    if (result)
        stop("ipt_mpi_plan_execute");
    seconds = MPI_Wtime() - seconds;
    processor = processor_seconds() - processor;
    MPI_Allreduce(MPI_IN_PLACE, &processor, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    *busy += processor;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static void end(const bench *its, way *made)
{
#ifdef BENCH_FFTW
    if (is_fftw(its)) {
        fftwf_destroy_plan(made->fftw);
        if (made->result != made->data)
            fftwf_free(made->result);
        fftwf_free(made->data);
        return;
    }
#endif
    ipt_mpi_plan_destroy(made->plan);
    ipt_host_free(its->context, made->data);
    if (made->buffer.buffer)
        clReleaseMemObject(made->buffer.buffer);
    if (made->queue)
        clReleaseCommandQueue(made->queue);
}

/* Opens this rank's device among the devices of its node. */
static ipt_context *take_context(int rank)
{
    cl_device_id devices[MOST_DEVICES];
    ipt_context_desc desc;
    ipt_context *context = NULL;
    MPI_Comm node;
    char text[2048];
    const char *const name = getenv("IPT_DEVICE");
    size_t count = 0, matching = 0, i;
    int on_node = 0;
    memset(&desc, 0, sizeof desc);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_free(&node);
    if (ipt_device_list(devices, MOST_DEVICES, &count))
        stop("ipt_device_list");
    for (i = 0; i < count && i < MOST_DEVICES; ++i) /* devices of the type of ipt's first device */
        if (!name || (!ipt_device_describe(devices[i], text, sizeof text) && strstr(text, name)))
            devices[matching++] = devices[i];
    if (matching)
        desc.device = devices[(size_t)on_node % matching];
    if (ipt_context_create(&desc, &context))
        stop("ipt_context_create");
    return context;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* Sets a shape, and this rank's share of it. */
static void set_shape(bench *its, size_t rows, size_t cols, size_t depth)
{
    its->rows = its->desc.rows = rows;
    its->cols = its->desc.cols = cols;
    its->depth = depth;
    if (depth > 1) {
        const size_t lengths[] = {rows, cols, depth};
        const unsigned axes[] = {2, 1, 0};
        its->desc.rows = its->desc.cols = 0;
        its->desc.rank = 3;
        memcpy(its->desc.shape, lengths, sizeof lengths);
        memcpy(its->desc.axes, axes, sizeof axes);
    }
    its->desc.elem_size = its->size;
    its->desc.flags = strstr(its->method, "buffered") ? IPT_MPI_BUFFERED : 0;
    if (ipt_mpi_share_of(&its->desc, its->ranks, its->rank, &its->share))
        stop("ipt_mpi_share_of");
}

int main(int argc, char **argv)
{
    bench its;
    way made;
    size_t rows, cols, depth = 1;
    double seconds[MOST_ROUNDS], before, beside, plan_seconds, busy = 0, bus, buses = 0;
    int i;
    memset(&its, 0, sizeof its);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &its.ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &its.rank);
    its.size = 4;
    if (argc < 3 || (sscanf(argv[2], "%zux%zux%zu:%zu", &rows, &cols, &depth, &its.size) < 3 &&
                     sscanf(argv[2], "%zux%zu:%zu", &rows, &cols, &its.size) < 2)) {
        fprintf(stderr, "usage: mpi METHOD ROWSxCOLS[xDEPTH][:BYTES] [ROUNDS [WORKSPACE]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    its.method = argv[1];
    if (depth > 1 && is_fftw(&its))
        stop("FFTW does not reverse three axes");
    its.rounds = argc > 3 ? atoi(argv[3]) : 5;
    its.desc.max_workspace = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    its.device = strstr(its.method, "device") != NULL;
#ifdef BENCH_FFTW
    fftwf_mpi_init();
#endif
    if (!is_fftw(&its))
        its.context = take_context(its.rank);
    set_shape(&its, 300, 200, 1); /* warms up: loads libraries */
    begin(&its, &made);
    fill(&its, made.data);
    copy(&its, &made, 0);
    run(&its, &made, &busy);
    busy = 0;
    end(&its, &made);

    set_shape(&its, rows, cols, depth);
    before = status_bytes("VmRSS:");
    forget_peak();
    plan_seconds = MPI_Wtime();
    begin(&its, &made);
    plan_seconds = MPI_Wtime() - plan_seconds;
    for (i = 0; i < its.rounds && i < MOST_ROUNDS; ++i) {
        fill(&its, made.data);
        bus = copy(&its, &made, 0);
        seconds[i] = run(&its, &made, &busy);
        bus += copy(&its, &made, 1);
        buses = i && buses < bus ? buses : bus;
        verify(&its, made.result);
    }
    beside = status_bytes("VmHWM:") - before - host_blocks(&its) * (double)its.share.bytes;
    MPI_Allreduce(MPI_IN_PLACE, &beside, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(seconds, (size_t)i, sizeof *seconds, compare);
    if (!its.rank && i)
        printf("%-22s %s, %d ranks: %.3f s (least %.3f, processors %.3f), %.2f GB/s, %.2f MB beside (%.2f %% "
               "of a block), plan "
               "%.2f s\n",
               its.method, argv[2], its.ranks, seconds[i / 2], seconds[0], busy / i,
               2e-9 * (double)(rows * cols * depth * its.size) / seconds[i / 2], beside * 1e-6,
               100 * beside / (double)its.share.bytes, plan_seconds);
    if (!its.rank && its.device)
        printf("upload and download of all blocks, one after the other: %.3f s\n", buses);
    if (!its.rank && !is_fftw(&its))
        fputs(ipt_mpi_plan_describe(made.plan), stdout);
    end(&its, &made);
    ipt_context_destroy(its.context);
    MPI_Finalize();
    return 0;
}
