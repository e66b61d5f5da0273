/* How well ipt chooses the model of a batch plan: random ready-made actions, types, sides and counts, each with every
 * model and number of lanes that ipt considers. Prints a CSV line for each, with the terms of its cost for
 * batch_fit.py, and at the end the losses of ipt's choice against the fastest. Usage: batch_choice [CASES] [SEED]
 * [MEGABYTES] [PART PARTS]. With PART and PARTS, only compiles every PARTS-th program into the cache, so that several
 * processes share the work. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define IPT_IMPLEMENTATION
#include "ipt.h"
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* this file uses a part of plans.h */
#endif
#include "plans.h"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

enum { ROUNDS = 3, OPERANDS = 4 };

static cl_mem original;
static size_t all_bytes;

/* A case: a desc, and the offsets of its operands in the buffer. */
typedef struct work {
    ipt_batch_desc desc;
    ipt_batch_operand operands[OPERANDS];
    ipt_batch_buffer buffers[OPERANDS];
    size_t lengths[26]; /* the length that each letter in IPT_ACTION_LIST stands for */
    size_t element_bytes, moved_bytes, bytes;
} work;

static uint64_t state;
static size_t between(size_t least, size_t most)
{
    uint64_t value = state += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return least + (size_t)((value ^ value >> 31) % (most - least + 1));
}

/* A random side from 1 to 128: half of the sides are common ones, the others are even over the orders of magnitude. */
static size_t random_side(void)
{
    static const size_t most[] = {4, 8, 16, 32, 64, 128};
    static const size_t usual[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
    const size_t limit = most[between(0, 5)];
    return between(0, 1) ? usual[between(0, sizeof usual / sizeof *usual - 1)] : between(limit / 2, limit);
}

/* Adds the operands of an action, in the notation of IPT_ACTION_LIST. */
static void add_operands(work *to, const char *spec, const char *type, char (*names)[8])
{
    size_t k = 0;
    while (*spec) {
        ipt_batch_operand *const operand = &to->operands[k];
        const size_t length = strcspn(spec, ":");
        const char *const shape = spec + length + 1;
        memcpy(names[k], spec, length);
        names[k][length] = 0;
        operand->name = names[k];
        operand->type = length > 3 ? "int" : type; /* pivots, info */
        operand->rows = shape[0] == '1' ? 1 : to->lengths[shape[0] - 'a'];
        operand->cols = shape[1] == '1' ? 1 : to->lengths[shape[1] - 'a'];
        operand->access = shape[2] == 'r' ? IPT_READ : shape[2] == 'w' ? IPT_WRITE : IPT_READ_WRITE;
        const size_t bytes = operand->rows * operand->cols * ipt__type_bytes(operand->type);
        to->element_bytes += bytes;
        to->moved_bytes += bytes * (operand->access == IPT_READ_WRITE ? 2 : 1);
        spec = shape + 3 + (shape[3] == ' ');
        ++k;
    }
    to->desc.operand_count = k;
    to->desc.operands = to->operands;
}

static void make_case(work *to, char (*names)[8])
{
    static const char *const types[] = {"float", "double", "float2", "double2"};
    memset(to, 0, sizeof *to);
    to->desc.ready = (ipt_action)between(1, IPT__ACTION_COUNT - 1);
    const char *const type = types[between(0, 7) ? between(0, 1) : between(2, 3)];
    const size_t n = random_side();
    for (int letter = 0; letter < 26; ++letter)
        to->lengths[letter] = between(0, 3) ? n : random_side();
    if (to->desc.ready == IPT_ACTION_GETRI) /* GETRI is for short sides */
        to->lengths['n' - 'a'] = (n - 1) % 32 + 1;
    if (to->desc.ready != IPT_ACTION_GEMM && to->desc.ready != IPT_ACTION_GEMV && to->desc.ready != IPT_ACTION_DOT)
        to->lengths['m' - 'a'] = between(1, 4);
    add_operands(to, ipt__action_operands(to->desc.ready), type, names);
    to->desc.count = all_bytes / (to->element_bytes + 64);
    if (between(0, 4) == 0) /* few elements */
        to->desc.count = ipt__min(to->desc.count, (size_t)1 << between(0, 14));
    for (size_t k = 0; k < to->desc.operand_count; ++k) {
        to->operands[k].layout = between(0, 5) ? IPT_LAYOUT_ELEMENTS : IPT_LAYOUT_PLANES;
        to->buffers[k].buffer = buffer;
        to->buffers[k].byte_offset = to->bytes;
        to->bytes +=
            (to->desc.count * to->operands[k].rows * to->operands[k].cols * ipt__type_bytes(to->operands[k].type) +
             255) /
            256 * 256;
    }
}

/* Fills the operands with definite matrices, right-hand sides, and pivots without exchanges. */
static void fill(const work *of)
{
    unsigned char *const data = calloc(1, of->bytes);
    need(data != NULL, "calloc");
    for (size_t k = 0; k < of->desc.operand_count; ++k) {
        const ipt_batch_operand *const operand = &of->operands[k];
        const size_t components = operand->rows * operand->cols, bytes = ipt__type_bytes(operand->type);
        for (size_t e = 0; e < of->desc.count; ++e)
            for (size_t q = 0; q < components; ++q) {
                const size_t i = q / operand->cols, j = q % operand->cols;
                const double value = i == j ? (double)operand->rows + 1 : 0.25 + 0.001 * (double)((i * j + e) % 97);
                const float single = (float)value;
                const int number = (int)q + 1;
                const int whole = !strcmp(operand->type, "int");
                memcpy(data + of->buffers[k].byte_offset +
                           (operand->layout == IPT_LAYOUT_PLANES ? q * of->desc.count + e : e * components + q) * bytes,
                       whole                                  ? (const void *)&number
                       : !strncmp(operand->type, "double", 6) ? (const void *)&value
                                                              : (const void *)&single,
                       !strncmp(operand->type, "double", 6) ? 8 : 4);
            }
    }
    need(!clEnqueueWriteBuffer(queue, original, CL_TRUE, 0, of->bytes, data, 0, NULL, NULL), "clEnqueueWriteBuffer");
    free(data);
}

static double seconds_of(ipt_batch *batch, const work *of)
{
    double seconds[ROUNDS];
    for (int i = -1; i < ROUNDS; ++i) {
        cl_ulong begin = 0, end = 0;
        cl_event event;
        need(!clEnqueueCopyBuffer(queue, original, buffer, 0, 0, of->bytes, 0, NULL, NULL), "clEnqueueCopyBuffer");
        need(!ipt_batch_execute(batch, queue, of->buffers, NULL, 0, NULL, &event), "ipt_batch_execute");
        need(!clWaitForEvents(1, &event) &&
                 !clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL) &&
                 !clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
             "clGetEventProfilingInfo");
        clReleaseEvent(event);
        seconds[i < 0 ? 0 : i] = (double)(end - begin) * 1e-9;
        if (i < 0 && end - begin > 200000000) { /* very slow: one execution suffices */
            for (int k = 0; k < ROUNDS; ++k)
                seconds[k] = seconds[0];
            break;
        }
    }
    return median(seconds, ROUNDS);
}

/* Compiles a candidate and, if wanted, measures it. */
static double try_candidate(work *tried, const ipt__batch_choice *candidate, int measures)
{
    const ipt_batch_desc open = tried->desc;
    double seconds = 0;
    ipt_batch *batch;
    tried->desc.model = candidate->model;
    if (candidate->model == IPT_MODEL_GROUP || candidate->model == IPT_MODEL_INTERLEAVED)
        tried->desc.lanes = candidate->lanes;
    need(!ipt_batch_create(context, &tried->desc, &batch), "ipt_batch_create");
    need(batch->choice.group_size == candidate->group_size && batch->choice.lanes == candidate->lanes, "the candidate");
    if (measures)
        seconds = seconds_of(batch, tried);
    ipt_batch_destroy(batch);
    tried->desc = open;
    return seconds;
}

static void print_line(const work *of, const ipt__batch_problem *problem, const ipt__batch_choice *choice, int chosen,
                       double seconds)
{
    static const char *const kinds[] = {"plain", "pivoted", "inverse"};
    const ipt__batch_terms terms = ipt__batch_terms_of(problem, choice);
    printf("%s,%s,%zu,%zu,%zu,%zu,%zu,%zu,", ipt_action_string(of->desc.ready), of->operands[0].type,
           of->lengths['m' - 'a'], of->lengths['n' - 'a'], of->lengths['k' - 'a'], of->desc.count, of->element_bytes,
           of->moved_bytes);
    printf("%d,%s,%zu,%zu,%zu,%s,%d,", (int)of->operands[0].layout, ipt_model_string(choice->model), choice->lanes,
           choice->group_size, choice->local_bytes, kinds[ipt__readies[of->desc.ready].turns], chosen);
    printf("%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.1f\n", terms.barriers, terms.turns, terms.far_bytes, terms.near_bytes,
           terms.waves, terms.items, seconds * 1e6);
    fflush(stdout);
}

/* Prints the times of all candidates. Returns the choice's time over the fastest time, minus 1; 0: only compiled. */
static double try_case(work *tried, int measures)
{
    double fastest = 0, chosen = 0;
    ipt__batch_problem problem;
    ipt__batch_choice choice;
    ipt_batch *batch;
    char why[160];
    need(!ipt_batch_create(context, &tried->desc, &batch), "ipt_batch_create");
    problem = batch->problem;
    choice = batch->choice;
    ipt_batch_destroy(batch);
    if (measures)
        fill(tried);
    for (size_t i = 0; i < IPT__BATCH_CANDIDATES; ++i) {
        ipt__batch_choice candidate;
        double seconds;
        if (!ipt__batch_considers(&problem, ipt__batch_candidates[i].model) ||
            !ipt__batch_candidate(&problem, &tried->desc, i, &candidate, why))
            continue;
        seconds = try_candidate(tried, &candidate, measures);
        if (!measures)
            continue;
        const int is_choice = candidate.model == choice.model && candidate.lanes == choice.lanes;
        if (is_choice)
            chosen = seconds;
        if (!fastest || seconds < fastest)
            fastest = seconds;
        print_line(tried, &problem, &candidate, is_choice, seconds);
    }
    need(!measures || chosen > 0, "the choice");
    return measures ? chosen / fastest - 1 : 0;
}

int main(int count, char **arguments)
{
    const size_t cases = argument(count, arguments, 1, 40), seed = argument(count, arguments, 2, 1);
    const size_t part = argument(count, arguments, 4, 0), parts = argument(count, arguments, 5, 0);
    double *const losses = malloc(cases * sizeof *losses), sum = 0;
    need(losses != NULL, "malloc");
    all_bytes = argument(count, arguments, 3, 128) << 20;
    need(!ipt_context_create(NULL, &context), "ipt_context_create");
    cl_int error;
    queue = clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context),
                                 CL_QUEUE_PROFILING_ENABLE, &error);
    need(!error, "clCreateCommandQueue");
    if (!parts) {
        buffer = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, all_bytes + 65536, NULL, &error);
        need(!error, "clCreateBuffer");
        original = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, all_bytes + 65536, NULL, &error);
        need(!error, "clCreateBuffer");
        printf("action,type,m,n,k,count,element_bytes,moved_bytes,layout,model,lanes,group,local,kind,chosen,"
               "barriers,turns,far_bytes,near_bytes,waves,items,us\n");
    }
    state = seed;
    for (size_t i = 0; i < cases; ++i) {
        char names[OPERANDS][8];
        work tried;
        make_case(&tried, names);
        if (!parts || i % parts == part % parts)
            losses[i] = try_case(&tried, !parts);
        ipt_context_trim(context);
    }
    if (!parts) {
        for (size_t i = 0; i < cases; ++i)
            sum += losses[i];
        qsort(losses, cases, sizeof *losses, compare_doubles);
        printf("# the choice's loss over %zu cases: median %.1f %%, mean %.1f %%, 90th percentile %.1f %%, worst "
               "%.1f %%\n",
               cases, 100 * losses[cases / 2], 100 * sum / (double)cases, 100 * losses[cases * 9 / 10],
               100 * losses[cases - 1]);
    }
    return 0;
}
