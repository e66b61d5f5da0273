/* Arrays permuted in place: the share of a copy's speed, with the number of passes. Copies and permutations use several
 * buffers in turn, and a copy's target is the farthest one, so that no cache contains the data. One array is verified
 * against an index formula first; a wrong element ends the program. Usage: axes [-v] ARRAY ... ARRAY:
 * SHAPE:BYTES:AXES or SHAPE:BYTES:AXES:PLACE, such as 64x3x224x224:4:0,2,3,1. PLACE: an expression adds the place along
 * this axis of the result to each element, of up to 8 bytes. -v: print the plans, too. */
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

enum { ROUNDS = 5, MOST_BUFFERS = 128 };
#define BUFFERS_BYTES ((size_t)512 << 20) /* bytes of all buffers, if one array is smaller */
static int place;                         /* the axis whose places are added; -1: none */

/* The expression is valid until the next call. */
static int parse(const char *text, ipt_plan_desc *desc)
{
    static const char *const types[] = {"uchar", "ushort", "uint", "ulong"};
    static char expression[40];
    char *end = (char *)text;
    unsigned count = 0;
    memset(desc, 0, sizeof *desc);
    do {
        if (desc->rank == IPT_MAX_RANK)
            return 0;
        desc->shape[desc->rank++] = (size_t)strtoull(end + (*end == 'x'), &end, 10);
    } while (*end == 'x');
    if (*end != ':')
        return 0;
    desc->elem_size = (size_t)strtoull(end + 1, &end, 10);
    while (count < desc->rank && (*end == ':' || *end == ','))
        desc->axes[count++] = (unsigned)strtoul(end + 1, &end, 10);
    place = *end == ':' ? (int)strtol(end + 1, &end, 10) : -1;
    if (place >= 0) {
        desc->expression_type = types[desc->elem_size < 3 ? desc->elem_size / 2 : desc->elem_size < 8 ? 2 : 3];
        desc->expression = expression;
        snprintf(expression, sizeof expression, "x + (%s)i%d", desc->expression_type, place);
    }
    return count == desc->rank && !*end && place < (int)desc->rank && (place < 0 || desc->elem_size <= 8);
}

/* Checks the permuted array `result` against the array `source`. */
static void verify(const ipt_plan_desc *desc, const unsigned char *result, const unsigned char *source)
{
    size_t steps[IPT_MAX_RANK], step = desc->elem_size, at[IPT_MAX_RANK] = {0}, from = 0;
    unsigned i;
    for (i = desc->rank; i-- > 0;) {
        steps[i] = step;
        step *= desc->shape[i];
    }
    for (;;) {
        uint64_t added = 0; /* devices of this benchmark are little-endian */
        memcpy(&added, source + from, place < 0 ? 0 : desc->elem_size);
        added += place < 0 ? 0 : at[place];
        if (memcmp(result, place < 0 ? source + from : (const unsigned char *)&added, desc->elem_size)) {
            fprintf(stderr, "wrong element\n");
            exit(1);
        }
        result += desc->elem_size;
        for (i = desc->rank; i-- > 0;) {
            const unsigned axis = desc->axes[i];
            from += steps[axis];
            if (++at[i] < desc->shape[axis])
                break;
            from -= at[i] * steps[axis];
            at[i] = 0;
        }
        if (i > desc->rank)
            return;
    }
}

static void check(ipt_plan *plan, const ipt_plan_desc *desc, cl_mem array, size_t bytes)
{
    unsigned char *const source = malloc(bytes), *const result = malloc(bytes);
    size_t i;
    unsigned random = 1;
    need(source && result, "malloc");
    for (i = 0; i < bytes; ++i)
        source[i] = (unsigned char)((random = random * 1664525u + 1013904223u) >> 24);
    need(!clEnqueueWriteBuffer(queue, array, CL_TRUE, 0, bytes, source, 0, NULL, NULL), "writing");
    need(!ipt_plan_execute(plan, queue, array, 0, 0, NULL, NULL), "ipt_plan_execute");
    need(!clEnqueueReadBuffer(queue, array, CL_TRUE, 0, bytes, result, 0, NULL, NULL), "reading");
    verify(desc, result, source);
    free(source);
    free(result);
}

/* Seconds of one permutation, or of one copy. */
static double time_once(ipt_plan *plan, const cl_mem *arrays, size_t count, size_t bytes, int repeats)
{
    double begin;
    int i;
    need(!clFinish(queue), "clFinish");
    begin = now();
    for (i = 0; i < repeats; ++i) {
        const cl_mem array = arrays[(size_t)i % count];
        if (plan)
            need(!ipt_plan_execute(plan, queue, array, 0, 0, NULL, NULL), "ipt_plan_execute");
        else
            need(
                !clEnqueueCopyBuffer(queue, array, arrays[((size_t)i + count / 2) % count], 0, 0, bytes, 0, NULL, NULL),
                "clEnqueueCopyBuffer");
    }
    need(!clFinish(queue), "clFinish");
    return (now() - begin) / repeats;
}

/* The number of passes, from the end of the description's first line. */
static int passes_of(const ipt_plan *plan)
{
    const char *at = ipt_plan_describe(plan);
    int passes = 0, read;
    for (; *at && *at != '\n'; ++at)
        if (sscanf(at, ", %d pass", &read) == 1)
            passes = read;
    return passes;
}

static void measure(const char *text, int verbose)
{
    ipt_plan_desc desc;
    ipt_plan *plan;
    cl_mem arrays[MOST_BUFFERS];
    double times[ROUNDS], copies[ROUNDS], ratios[ROUNDS];
    size_t bytes, count, i;
    int passes = 0, repeats;
    cl_int error;
    if (!parse(text, &desc)) {
        fprintf(stderr, "%s: an array is SHAPE:BYTES:AXES, such as 64x3x224x224:4:0,2,3,1\n", text);
        exit(2);
    }
    for (i = 0, bytes = desc.elem_size; i < desc.rank; ++i)
        bytes *= desc.shape[i];
    need(!ipt_plan_create(context, &desc, &plan), "ipt_plan_create");
    count = BUFFERS_BYTES / bytes < 2 ? 2 : BUFFERS_BYTES / bytes > MOST_BUFFERS ? MOST_BUFFERS : BUFFERS_BYTES / bytes;
    for (i = 0; i < count; ++i) {
        arrays[i] = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE, bytes, NULL, &error);
        need(!error, "clCreateBuffer");
    }
    check(plan, &desc, arrays[0], bytes);
    time_once(NULL, arrays, count, bytes, (int)count); /* fills the other buffers */
    repeats = (int)(0.03 / time_once(plan, arrays, count, bytes, (int)count));
    repeats = repeats < (int)count ? (int)count : repeats > 400 ? 400 : repeats;
    for (i = 0; i < ROUNDS; ++i) {
        copies[i] = time_once(NULL, arrays, count, bytes, repeats);
        times[i] = time_once(plan, arrays, count, bytes, repeats);
        ratios[i] = copies[i] / times[i];
    }
    passes = passes_of(plan);
    printf("%-34s %d %s %9.1f us, copy %9.1f us, ratio %.3f\n", text, passes, passes == 1 ? "pass  " : "passes",
           1e6 * median(times, ROUNDS), 1e6 * median(copies, ROUNDS), median(ratios, ROUNDS));
    if (verbose)
        printf("%s", ipt_plan_describe(plan));
    fflush(stdout);
    for (i = 0; i < count; ++i)
        clReleaseMemObject(arrays[i]);
    ipt_plan_destroy(plan);
}

int main(int count, char **arguments)
{
    const int verbose = count > 1 && !strcmp(arguments[1], "-v");
    int i;
    need(!ipt_context_create(NULL, &context), "ipt_context_create");
    plans_open(4);
    for (i = 1 + verbose; i < count; ++i)
        measure(arguments[i], verbose);
    plans_close();
    return 0;
}
