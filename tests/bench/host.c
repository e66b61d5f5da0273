/* Matrices in host memory (Sung et al. 2014, table 3 and figure 9): the time that a CPU program waits for a
 * transposition in place, for each method. Every element is verified.
 *
 *   host [ROWSxCOLS:BYTES ...]
 *
 *   HOST_ROUNDS   repetitions (3); the median counts
 *   HOST_CSV      a file for the results
 *   HOST_NO_CPU   skip the methods that run on the CPU alone
 *   HOST_PINNED   skip pageable memory
 *   HOST_DEVICES  also use this many devices of the same name together
 *   HOST_LIMITS   "4 16", say: with a quarter and a sixteenth of the matrix as device memory, without the queue sweep
 *
 * Speeds are bytes read and written, 2 * rows * cols * BYTES, in a second. "transfers" is an upload and then a download
 * of the same bytes, from the same kind of memory; "at once" overlaps both directions. OpenBLAS and MKL (HOST_MKL, the
 * path of libmkl_rt.so) are loaded at run time. */
#define _XOPEN_SOURCE 700
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include "gen/tool/bench/bench_blas.h"
#include "gen/tool/base/seconds.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 20 };

static ipt_context *context;
static cl_command_queue queue;
static size_t rows, cols, size, bytes;
static unsigned char *matrix, *before;
static size_t rounds = 3;
static int failures;
static FILE *csv;
static const char *kind = "";

/* Whether any element is wrong. Compares by blocks that fit the caches. */
static bool wrong_somewhere(void)
{
    enum { BLOCK = 64 };
    bool wrong = false;
    for (size_t first_row = 0; first_row < rows; first_row += BLOCK) {
        for (size_t first_col = 0; first_col < cols; first_col += BLOCK) {
            size_t end_row = bench_smaller(rows, first_row + BLOCK), end_col = bench_smaller(cols, first_col + BLOCK);
            for (size_t col = first_col; col < end_col; col++) {
                for (size_t row = first_row; row < end_row; row++) {
                    wrong |=
                        size == 4
                            ? ((uint32_t *)matrix)[col * rows + row] != ((uint32_t *)before)[row * cols + col]
                            : memcmp(matrix + (col * rows + row) * size, before + (row * cols + col) * size, size) != 0;
                }
            }
        }
    }
    return wrong;
}

/* Measures and shows one way. host, device: additional memory in percent of the matrix (below 0: not applicable). Ways
 * that do not transpose in place are not verified. */
static double show(const char *name, bool (*way)(void *), void *argument, bool transposes, double reference,
                   double host, double device)
{
    double seconds[MAX_ROUNDS];
    for (size_t i = 0; i < rounds; i++) {
        memcpy(matrix, before, bytes);
        double start = seconds_now();
        if (!way(argument)) {
            printf("  %-44s %s\n", name, ipt_context_error(NULL));
            failures++;
            return 0;
        }
        seconds[i] = seconds_now() - start;
        if (transposes && i == 0 && wrong_somewhere()) {
            printf("  %-44s wrong\n", name);
            failures++;
            return 0;
        }
    }
    double median = bench_quantile(seconds, rounds, 0.5);
    printf("  %-44s %9.2f ms %8.2f GB/s", name, 1e3 * median, 2e-9 * (double)bytes / median);
    printf(host < 0 ? "        -" : " %6.1f %%", host);
    printf(device < 0 ? "        -" : " %6.2f %%", device);
    if (reference > 0) {
        printf("  %.3f of transfers", reference / median);
    }
    printf("\n");
    if (csv != NULL) {
        fprintf(csv, "%zux%zu:%zu,%s,\"%s\",%.6f,%.3f,%.4f,%.3f,%.3f\n", rows, cols, size, kind, name, median,
                2e-9 * (double)bytes / median, reference > 0 ? reference / median : 0, host, device);
    }
    return median;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Ways on the device */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct device_way {
    ipt_plan *plan;
    cl_mem first, second;
} device_way;

static bool transfers(void *argument)
{
    device_way *way = argument;
    return clEnqueueWriteBuffer(queue, way->first, CL_TRUE, 0, bytes, matrix, 0, NULL, NULL) == CL_SUCCESS &&
           clEnqueueReadBuffer(queue, way->first, CL_TRUE, 0, bytes, matrix, 0, NULL, NULL) == CL_SUCCESS;
}

/* Transfers pieces: one queue uploads, the other one downloads. */
static bool transfers_at_once(void *argument)
{
    enum { PIECE = 1 << 26 };
    device_way *way = argument;
    cl_int status;
    cl_command_queue back =
        clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context), 0, &status);
    for (size_t at = 0; at < bytes && status == CL_SUCCESS; at += PIECE) {
        cl_event up;
        size_t piece = bench_smaller(PIECE, bytes - at);
        status = clEnqueueWriteBuffer(queue, way->first, CL_FALSE, at, piece, matrix + at, 0, NULL, &up);
        if (status == CL_SUCCESS) {
            clFlush(queue);
            status = clEnqueueReadBuffer(back, way->first, CL_FALSE, at, piece, matrix + at, 1, &up, NULL);
            clFlush(back);
            clReleaseEvent(up);
        }
    }
    clFinish(queue);
    clFinish(back);
    clReleaseCommandQueue(back);
    return status == CL_SUCCESS;
}

static bool out_of_place(void *argument)
{
    device_way *way = argument;
    return clEnqueueWriteBuffer(queue, way->first, CL_TRUE, 0, bytes, matrix, 0, NULL, NULL) == CL_SUCCESS &&
           ipt_plan_execute_out_of_place(way->plan, queue, way->first, 0, way->second, 0, 0, NULL, NULL) ==
               IPT_SUCCESS &&
           clEnqueueReadBuffer(queue, way->second, CL_TRUE, 0, bytes, matrix, 0, NULL, NULL) == CL_SUCCESS;
}

static bool host_plan(void *argument)
{
    return ipt_plan_execute_host(argument, matrix) == IPT_SUCCESS;
}

/* The staging memory of pageable matrices, in percent of the matrix. */
static double staged(void)
{
    cl_device_type type = 0;
    clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return strcmp(kind, "pageable") != 0 || bytes < IPT__HOST_STAGED_BYTES || (type & CL_DEVICE_TYPE_CPU) != 0
               ? 0
               : 100.0 * IPT__HOST_THREADS * IPT__HOST_SLOTS * IPT__HOST_SLOT_BYTES / (double)bytes;
}

/* Shows a plan by one scheme. A first execution allocates its memory. */
static void show_plan(const char *name, ipt_host scheme, size_t queues, ipt_sequence sequence, ipt_method method,
                      double reference)
{
    ipt_plan_desc desc = {0};
    ipt_plan *plan = NULL;
    char label[80];
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = size;
    desc.host = scheme;
    desc.host_queues = queues;
    desc.sequence = sequence;
    desc.method = method;
    desc.flags = scheme == IPT_HOST_STAGES ? IPT_NO_COOPERATIVE : 0;
    snprintf(label, sizeof label, queues > 0 ? "%s, Q = %zu" : "%s", name, queues);
    ipt_result made = ipt_plan_create(context, &desc, &plan);
    if (made == IPT_SUCCESS) {
        made = ipt_plan_execute_host(plan, matrix);
    }
    if (made != IPT_SUCCESS) {
        printf("  %-44s %s\n", label, ipt_context_error(NULL));
        failures += made != IPT_ERROR_UNSUPPORTED;
        ipt_plan_destroy(plan);
        return;
    }
    show(label, host_plan, plan, true, reference, staged(), 100.0 * (double)ipt_plan_workspace(plan) / (double)bytes);
    ipt_plan_destroy(plan);
}

/* Shows plans with device memory for only a part of the matrix. */
static void show_limits(const char *limits, double reference, double at_once)
{
    char *next;
    for (size_t part = (size_t)strtoull(limits, &next, 10); part > 0; part = (size_t)strtoull(next, &next, 10)) {
        ipt_plan_desc desc = {0};
        ipt_plan *plan;
        char label[80];
        desc.rows = rows;
        desc.cols = cols;
        desc.elem_size = size;
        desc.host = IPT_HOST_OVERLAPPED;
        desc.max_device_memory = bytes / part;
        snprintf(label, sizeof label, "in place, device memory of 1/%zu", part);
        if (ipt_plan_create(context, &desc, &plan) != IPT_SUCCESS ||
            ipt_plan_execute_host(plan, matrix) != IPT_SUCCESS) {
            printf("  %-44s %s\n", label, ipt_context_error(NULL));
            failures++;
            continue;
        }
        double beside = 100.0 * (double)plan->host->staging.scratch_bytes / (double)bytes;
        double seconds = show(label, host_plan, plan, true, reference, staged() + beside, 100.0 / (double)part);
        if (seconds > 0) {
            printf("  %-44s %.3f of transfers at once; %s", "", at_once / seconds,
                   strchr(ipt_plan_describe(plan), '\n') + 1);
        }
        ipt_plan_destroy(plan);
    }
}

/* Shows a plan for HOST_DEVICES devices of one name, with memory that is pinned for all of them. */
static void show_split(double reference)
{
    enum { MOST = 8 };
    cl_device_id all[64], chosen[MOST];
    ipt_context *contexts[MOST];
    ipt_plan_desc desc = {0};
    ipt_plan *plan = NULL;
    char name[256] = "", other[256], label[80];
    size_t count = 0, found = 0, wanted = (size_t)strtoull(getenv("HOST_DEVICES"), NULL, 10);
    void *pinned = NULL;
    unsigned char *kept = matrix;
    cl_int status;
    clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_NAME, sizeof name, name, NULL);
    if (ipt_device_list(all, 64, &count) != IPT_SUCCESS) {
        return;
    }
    for (size_t i = 0; i < count && i < 64 && found < wanted && found < MOST; i++) {
        clGetDeviceInfo(all[i], CL_DEVICE_NAME, sizeof other, other, NULL);
        if (strcmp(name, other) == 0) {
            chosen[found++] = all[i];
        }
    }
    cl_context cl = clCreateContext(NULL, (cl_uint)found, chosen, NULL, NULL, &status);
    if (status != CL_SUCCESS) {
        printf("  no context of %zu devices: OpenCL error %d\n", found, (int)status);
        return;
    }
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = size;
    bool good = true;
    size_t made = 0;
    while (good && made < found) {
        ipt_context_desc of = {0};
        of.context = cl;
        of.device = chosen[made];
        good = ipt_context_create(&of, &contexts[made]) == IPT_SUCCESS;
        made += good;
    }
    good = good && ipt_host_alloc(contexts[0], bytes, &pinned) == IPT_SUCCESS &&
           ipt_plan_create_split(contexts, found, &desc, &plan) == IPT_SUCCESS;
    if (good) {
        matrix = pinned;
        memcpy(matrix, before, bytes);
        good = host_plan(plan);
        snprintf(label, sizeof label, "in place, over %zu devices", found);
        show(label, host_plan, plan, true, reference, 0, 100.0 * (double)ipt_plan_workspace(plan) / (double)bytes);
        matrix = kept;
    }
    if (!good) {
        printf("  over %zu devices: %s\n", found, ipt_context_error(NULL));
        failures++;
    }
    ipt_plan_destroy(plan);
    if (pinned != NULL) {
        ipt_host_free(contexts[0], pinned);
    }
    while (made > 0) {
        ipt_context_destroy(contexts[--made]);
    }
    clReleaseContext(cl);
}

static void show_device(const char *memory)
{
    device_way way = {0};
    ipt_plan_desc desc = {0};
    cl_int status;
    cl_context cl = ipt_context_cl_context(context);
    kind = memory;
    printf(" %s memory\n", kind);
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = size;
    if (ipt_plan_create(context, &desc, &way.plan) != IPT_SUCCESS) {
        printf("  %s\n", ipt_context_error(NULL));
        failures++;
        return;
    }
    way.first = clCreateBuffer(cl, CL_MEM_READ_WRITE, bytes, NULL, &status);
    way.second = clCreateBuffer(cl, CL_MEM_READ_WRITE, bytes, NULL, &status);
    (void)out_of_place(&way);
    double reference = show("transfers", transfers, &way, false, 0, 0, 0);
    double at_once = show("transfers at once", transfers_at_once, &way, false, reference, 0, 0);
    show("out of place, with transfers", out_of_place, &way, true, reference, 0, 100);
    clReleaseMemObject(way.second);
    clReleaseMemObject(way.first);
    ipt_plan_destroy(way.plan);
    if (getenv("HOST_LIMITS") != NULL) {
        show_limits(getenv("HOST_LIMITS"), reference, at_once);
        return;
    }
    show_plan("in place, synchronous", IPT_HOST_SYNCHRONOUS, 0, IPT_SEQUENCE_AUTO, IPT_METHOD_AUTO, reference);
    for (size_t queues = 1; queues <= 32; queues *= 2) {
        show_plan("in place, overlapped", IPT_HOST_OVERLAPPED, queues, IPT_SEQUENCE_AUTO, IPT_METHOD_AUTO, reference);
    }
    for (size_t queues = 1; queues <= 16; queues *= 4) {
        show_plan("Sung et al. 2014: sequence 3.1 by parts", IPT_HOST_STAGES, queues, IPT_SEQUENCE_3_1, IPT_METHOD_AUTO,
                  reference);
        show_plan("Sung et al. 2014: whole method by parts", IPT_HOST_STAGES, queues, IPT_SEQUENCE_AUTO,
                  IPT_METHOD_PPOPP_2014, reference);
    }
    show_plan("in place, own choice", IPT_HOST_AUTO, 0, IPT_SEQUENCE_AUTO, IPT_METHOD_AUTO, reference);
    if (getenv("HOST_DEVICES") != NULL && strcmp(kind, "pinned") == 0) {
        show_split(reference);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Ways on the CPU */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Follows every cycle, with a bit for each element that has been moved. */
static bool follow_cycles(void *argument)
{
    size_t count = rows * cols;
    unsigned char *moved = calloc(count / 8 + 1, 1), held[64], next[64];
    (void)argument;
    if (moved == NULL || size > sizeof held) {
        free(moved);
        return false;
    }
    for (size_t start = 1; start + 1 < count; start++) {
        size_t at = start;
        if ((moved[at / 8] >> at % 8 & 1) != 0) {
            continue;
        }
        memcpy(held, matrix + at * size, size);
        do {
            at = at % cols * rows + at / cols;
            memcpy(next, matrix + at * size, size);
            memcpy(matrix + at * size, held, size);
            memcpy(held, next, size);
            moved[at / 8] |= (unsigned char)(1 << at % 8);
        } while (at != start);
    }
    free(moved);
    return true;
}

static bool openblas_in_place(void *argument)
{
    bench_result shape = {0};
    shape.rows = rows;
    shape.cols = cols;
    shape.elem_size = size;
    shape.batch = 1;
    shape.bytes = bytes;
    bench_blas_transpose(argument, &shape, matrix);
    return true;
}

typedef struct mkl_library {
    void (*simatcopy)(char, char, size_t, size_t, float, float *, size_t, size_t);
    void (*dimatcopy)(char, char, size_t, size_t, double, double *, size_t, size_t);
    void (*somatcopy)(char, char, size_t, size_t, float, const float *, size_t, float *, size_t);
    void (*domatcopy)(char, char, size_t, size_t, double, const double *, size_t, double *, size_t);
    unsigned char *target; /* target of ways out of place */
} mkl_library;

static bool mkl_in_place(void *argument)
{
    const mkl_library *mkl = argument;
    if (size == sizeof(float)) {
        mkl->simatcopy('R', 'T', rows, cols, 1, (float *)(void *)matrix, cols, rows);
    } else {
        mkl->dimatcopy('R', 'T', rows, cols, 1, (double *)(void *)matrix, cols, rows);
    }
    return true;
}

static bool mkl_out_of_place(void *argument)
{
    const mkl_library *mkl = argument;
    if (size == sizeof(float)) {
        mkl->somatcopy('R', 'T', rows, cols, 1, (float *)(void *)matrix, cols, (float *)(void *)mkl->target, rows);
    } else {
        mkl->domatcopy('R', 'T', rows, cols, 1, (double *)(void *)matrix, cols, (double *)(void *)mkl->target, rows);
    }
    return true;
}

static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void show_cpu(void)
{
    char message[BENCH_MESSAGE_SIZE];
    bench_blas blas = {0};
    mkl_library mkl = {0};
    kind = "CPU";
    printf(" on the CPU\n");
    if (bytes <= (size_t)1 << 29) {
        show("cycle following in C, one thread", follow_cycles, NULL, true, 0, 12.5 / (double)size, -1);
    }
    if (size != sizeof(float) && size != sizeof(double)) {
        return;
    }
    if (bench_blas_open(&blas, message)) {
        show("OpenBLAS cblas_?imatcopy", openblas_in_place, &blas, true, 0, rows == cols ? 0 : 100, -1);
        bench_blas_close(&blas);
    } else {
        printf("  OpenBLAS: %s\n", message);
    }
    const char *path = getenv("HOST_MKL");
    void *library = dlopen(path != NULL && *path != '\0' ? path : "libmkl_rt.so.2", RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL || !find(library, "MKL_Simatcopy", &mkl.simatcopy) ||
        !find(library, "MKL_Dimatcopy", &mkl.dimatcopy) || !find(library, "MKL_Somatcopy", &mkl.somatcopy) ||
        !find(library, "MKL_Domatcopy", &mkl.domatcopy)) {
        printf("  MKL: not installed\n");
        return;
    }
    show("MKL mkl_?imatcopy", mkl_in_place, &mkl, true, 0, 0, -1);
    mkl.target = malloc(bytes);
    if (mkl.target != NULL) {
        memset(mkl.target, 0, bytes);
        show("MKL mkl_?omatcopy, out of place", mkl_out_of_place, &mkl, false, 0, 100, -1);
        free(mkl.target);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

static int measure(const char *shape)
{
    void *pinned = NULL;
    if (sscanf(shape, "%zux%zu:%zu", &rows, &cols, &size) != 3) {
        fprintf(stderr, "'%s' is not ROWSxCOLS:BYTES\n", shape);
        return 2;
    }
    bytes = rows * cols * size;
    before = malloc(bytes);
    matrix = malloc(bytes);
    if (before == NULL || matrix == NULL) {
        fprintf(stderr, "out of memory for %s\n", shape);
        return 1;
    }
    for (size_t i = 0; i < bytes; i++) {
        before[i] =
            (unsigned char)((i * 0x9e3779b97f4a7c15u) >> 40 & 0x3f); /* no NaN, because BLAS may change its bits */
    }
    printf("%s, %.1f MB\n", shape, 1e-6 * (double)bytes);
    memcpy(matrix, before, bytes);
    if (getenv("HOST_NO_CPU") == NULL) {
        show_cpu();
    }
    if (getenv("HOST_PINNED") == NULL) {
        show_device("pageable");
    }
    free(matrix);
    if (ipt_host_alloc(context, bytes, &pinned) == IPT_SUCCESS) {
        matrix = pinned;
        memcpy(matrix, before, bytes);
        show_device("pinned");
        ipt_host_free(context, pinned);
    } else {
        printf(" pinned memory: %s\n", ipt_context_error(NULL));
        failures++;
    }
    free(before);
    return 0;
}

int main(int count, char **words)
{
    static const char *const shapes[] = {"7200x1800:4", "5100x2500:4", "4000x3200:4",
                                         "3300x3900:4", "2500x5100:4", "1800x7200:4"};
    cl_int status;
    char text[1024];
    int code = 0;
    if (getenv("HOST_ROUNDS") != NULL) {
        rounds = (size_t)strtoull(getenv("HOST_ROUNDS"), NULL, 10);
        rounds = rounds < 1 ? 1 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
    }
    if (ipt_context_create(NULL, &context) != IPT_SUCCESS) {
        fprintf(stderr, "%s\n", ipt_context_error(NULL));
        return 1;
    }
    if (getenv("HOST_CSV") != NULL) {
        csv = fopen(getenv("HOST_CSV"), "w");
        if (csv == NULL) {
            perror(getenv("HOST_CSV"));
            return 1;
        }
        fprintf(csv, "shape,memory,way,seconds,GB/s,of transfers,host memory %%,device memory %%\n");
    }
    queue = clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context), 0, &status);
    ipt_device_describe(ipt_context_cl_device(context), text, sizeof text);
    printf("%.*s, %zu rounds; memory beside the matrix on the host and on the device\n", (int)strcspn(text, "\n"), text,
           rounds);
    for (int i = 1; i < count && code == 0; i++) {
        code = measure(words[i]);
    }
    for (size_t i = 0; count == 1 && i < sizeof shapes / sizeof *shapes && code == 0; i++) {
        code = measure(shapes[i]);
    }
    if (csv != NULL && fclose(csv) != 0) {
        perror(getenv("HOST_CSV"));
        code = 1;
    }
    clReleaseCommandQueue(queue);
    ipt_context_destroy(context);
    return code != 0 ? code : failures > 0;
}
