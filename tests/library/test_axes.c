/* Contract of rank, shape and axes: an array is permuted as numpy.transpose does it, in buffers, out of place and in
 * host memory. The reference is an index formula. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Permutes the batch at `before` into `after`; bytes between arrays are copied. */
static void permute(const ipt_plan_desc *desc, unsigned char *after, const unsigned char *before)
{
    const size_t batch = desc->batch ? desc->batch : 1;
    size_t b, i;
    memcpy(after, before, test_span(desc));
    test_reference(after, before, desc);
    for (b = 0; desc->expression && b < batch; ++b)
        for (i = 0; i < test_elements(desc); ++i) {
            unsigned char *const to = after + b * test_stride(desc) + i * desc->elem_size;
            uint32_t value;
            if (desc->elem_size == 1) {
                *to = (unsigned char)(*to * 3 + 1);
                continue;
            }
            memcpy(&value, to, sizeof value);
            value = value * 3 + 1;
            memcpy(to, &value, sizeof value);
        }
}

/* The context and the memory of a case. */
typedef enum place { IN_PLACE, OUT_OF_PLACE, IN_HOST_MEMORY, IN_STORAGE } place;

/* A storage in memory. */
static int read_memory(void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy(memory, (const unsigned char *)user + offset, bytes);
    return 0;
}

static int write_memory(const void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy((unsigned char *)user + offset, memory, bytes);
    return 0;
}

static ipt_result execute_storage(ipt_plan *plan, unsigned char *data)
{
    ipt_storage storage = {0};
    storage.read = read_memory;
    storage.write = write_memory;
    storage.user = data;
    return ipt_plan_execute_storage(plan, &storage);
}

static void check_bytes(const ipt_plan_desc *desc, const ipt_plan *plan, const unsigned char *got,
                        const unsigned char *expected, size_t bytes, const char *how)
{
    size_t i = 0;
    if (memcmp(got, expected, bytes) == 0)
        return;
    while (got[i] == expected[i])
        ++i;
    test_print_case(desc, 0);
    fail_msg("%s: byte %zu is %02x instead of %02x\n%s", how, i, got[i], expected[i], ipt_plan_describe(plan));
}

static cl_mem make_buffer(const unsigned char *content, size_t bytes)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    if (error != CL_SUCCESS)
        test_skip("the device has too little memory for the test's buffers");
    assert_int_equal(clEnqueueWriteBuffer(test_queue, buffer, CL_TRUE, 0, bytes, content, 0, NULL, NULL), 0);
    return buffer;
}

static void check_plan(ipt_plan *plan, const ipt_plan_desc *desc, place where)
{
    const size_t unit = where < IN_HOST_MEMORY ? test_alignment(desc->elem_size) : 1, most = 16 * 9,
                 offset = unit * test_random_between(0, most / unit),
                 other = unit * test_random_between(0, most / unit), bytes = most + test_span(desc) + TEST_GUARD;
    unsigned char *const before = malloc(bytes), *const after = malloc(bytes), *const got = malloc(bytes);
    cl_mem buffer, target;
    ipt_result result;
    assert_true(before && after && got);
    test_fill(before, bytes);
    memcpy(after, before, bytes);
    permute(desc, after + offset, before + offset);
    if (where >= IN_HOST_MEMORY) {
        memcpy(got, before, bytes);
        result = where == IN_STORAGE ? execute_storage(plan, got + offset) : ipt_plan_execute_host(plan, got + offset);
    } else if (where == IN_PLACE) {
        buffer = make_buffer(before, bytes);
        result = ipt_plan_execute(plan, test_queue, buffer, offset, 0, NULL, NULL);
        assert_int_equal(clEnqueueReadBuffer(test_queue, buffer, CL_TRUE, 0, bytes, got, 0, NULL, NULL), 0);
        clReleaseMemObject(buffer);
    } else {
        buffer = make_buffer(before, bytes);
        memcpy(after, before, bytes);
        memcpy(after + other, before + offset, test_span(desc)); /* the bytes between arrays stay unchanged */
        target = make_buffer(after, bytes);
        permute(desc, after + other, before + offset);
        result = ipt_plan_execute_out_of_place(plan, test_queue, buffer, offset, target, other, 0, NULL, NULL);
        assert_int_equal(clEnqueueReadBuffer(test_queue, target, CL_TRUE, 0, bytes, got, 0, NULL, NULL), 0);
        if (!result)
            check_bytes(desc, plan, got, after, bytes, "out of place");
        assert_int_equal(clEnqueueReadBuffer(test_queue, buffer, CL_TRUE, 0, bytes, got, 0, NULL, NULL), 0);
        memcpy(after, before, bytes);
        clReleaseMemObject(buffer);
        clReleaseMemObject(target);
    }
    if (result) {
        test_print_case(desc, 0);
        fail_msg("%s\n%s", ipt_context_error(NULL), ipt_plan_describe(plan));
    }
    check_bytes(desc, plan, got, after, bytes, where == IN_PLACE ? "in place" : where ? "host" : "source");
    free(before);
    free(after);
    free(got);
}

static void check(const ipt_plan_desc *desc, int everywhere)
{
    ipt_plan *const plan = test_make_plan(test_context, desc);
    check_plan(plan, desc, IN_PLACE);
    if (everywhere) {
        check_plan(plan, desc, OUT_OF_PLACE);
        check_plan(plan, desc, IN_HOST_MEMORY);
        check_plan(plan, desc, IN_PLACE); /* counters are clear again */
    }
    ipt_plan_destroy(plan);
}

/* Permutation `index` of `rank` axes. */
static void give_axes(ipt_plan_desc *desc, size_t index)
{
    unsigned left[IPT_MAX_RANK], i, j;
    for (i = 0; i < desc->rank; ++i)
        left[i] = i;
    for (i = 0; i < desc->rank; ++i) {
        const size_t pick = index % (desc->rank - i);
        index /= desc->rank - i;
        desc->axes[i] = left[pick];
        for (j = (unsigned)pick; j + 1 < desc->rank - i; ++j)
            left[j] = left[j + 1];
    }
}

static void axes_all_of_few(void **state)
{
    static const size_t primes[] = {7, 13, 5, 11, 3}, sizes[] = {4, 1, 8, 3, 2, 16};
    size_t count = 1, index, drawn = 0;
    (void)state;
    unsigned rank;
    for (rank = 1; rank <= 5; ++rank) {
        count *= rank;
        for (index = 0; index < count; ++index) {
            ipt_plan_desc desc = {.rank = rank, .elem_size = sizes[drawn++ % TEST_COUNT(sizes)]};
            memcpy(desc.shape, primes, rank * sizeof *primes);
            give_axes(&desc, index);
            check(&desc, index % 8 == 0);
        }
    }
}

/* Random ranks, lengths from 1 on, elements, batches with and without gaps, expressions. */
static void axes_random(void **state)
{
    int i;
    unsigned a;
    (void)state;
    for (i = 0; i < 150; ++i) {
        ipt_plan_desc desc = {.rank = (unsigned)test_random_between(1, 8)};
        const size_t most = desc.rank < 3 ? 300 : desc.rank == 3 ? 60 : desc.rank == 4 ? 20 : desc.rank == 5 ? 10 : 5;
        for (a = 0; a < desc.rank; ++a)
            desc.shape[a] = test_random_between(1, most);
        give_axes(&desc, (size_t)test_random());
        desc.elem_size = test_random_between(1, 24);
        desc.batch = test_random_between(0, 3);
        if (test_random_between(0, 4) == 0 && test_compiles) {
            desc.elem_size = test_random_between(0, 1) ? 4 : 1;
            desc.expression = "x * 3 + 1";
            desc.expression_type = desc.elem_size == 4 ? "uint" : "uchar";
        }
        if (test_random_between(0, 2) == 0)
            desc.batch_stride =
                test_elements(&desc) * desc.elem_size + test_alignment(desc.elem_size) * test_random_between(0, 80);
        check(&desc, i % 4 == 0);
    }
}

/* Ranks from 9 on: axes of one element, axes that stay together, sequences in which every axis moves alone. */
static void axes_many(void **state)
{
    unsigned rank, a;
    (void)state;
    for (rank = 9; rank <= IPT_MAX_RANK; ++rank)
        for (int i = 0; i < 6; ++i) {
            ipt_plan_desc desc = {.rank = rank, .elem_size = test_random_between(1, 12)};
            give_axes(&desc, (size_t)test_random());
            for (a = 0; a < rank; ++a) {
                desc.shape[a] = i < 2 ? 2 : test_elements(&desc) > 20000 ? 1 : test_random_between(1, 3);
                if (i == 0) /* the fullest reversal */
                    desc.axes[a] = rank - 1 - a;
                else if (i == 2) /* three groups */
                    desc.axes[a] = (a + rank / 3 * 2) % rank;
            }
            desc.batch = test_random_between(1, 2);
            if (i == 3 && test_compiles) {
                desc.elem_size = 4;
                desc.expression = "x * 3 + 1";
                desc.expression_type = "uint";
            }
            check(&desc, i == 1 || i == 3);
            if (i == 1) {
                desc.max_host_memory = 1 << 20;
                ipt_plan *const plan = test_make_plan(test_context, &desc);
                check_plan(plan, &desc, IN_STORAGE);
                ipt_plan_destroy(plan);
            }
        }
}

/* Arrays that exceed local memory, with axes that need two or three passes. */
static void axes_large(void **state)
{
    static const ipt_plan_desc descs[] = {
        {.elem_size = 4, .rank = 3, .shape = {97, 120, 131}, .axes = {2, 1, 0}},
        {.elem_size = 2, .rank = 4, .shape = {4, 3, 224, 221}, .axes = {0, 2, 3, 1}},
        {.elem_size = 2, .rank = 4, .shape = {4, 224, 221, 3}, .axes = {0, 3, 1, 2}},
        {.elem_size = 4, .rank = 4, .shape = {16, 12, 100, 64}, .axes = {0, 2, 1, 3}},
        {.elem_size = 1, .rank = 4, .shape = {33, 40, 50, 60}, .axes = {3, 2, 1, 0}},
        {.elem_size = 8, .rank = 5, .shape = {17, 13, 11, 19, 7}, .axes = {4, 3, 2, 1, 0}},
        {.elem_size = 4, .rank = 4, .shape = {100, 99, 20, 3}, .axes = {3, 2, 1, 0}},
        {.elem_size = 4, .rank = 4, .shape = {90, 100, 16, 12}, .axes = {1, 0, 3, 2}},
        {.elem_size = 3, .rank = 4, .shape = {64, 64, 9, 5}, .axes = {1, 0, 3, 2}},
        {.elem_size = 2, .rank = 5, .shape = {3, 60, 70, 5, 6}, .axes = {0, 2, 1, 4, 3}},
        {.elem_size = 4,
         .rank = 4,
         .shape = {64, 64, 30, 7},
         .axes = {1, 0, 3, 2},
         .batch = 3,
         .batch_stride = 4 << 20},
        {.elem_size = 4,
         .rank = 5,
         .shape = {2, 64, 64, 30, 7},
         .axes = {0, 2, 1, 4, 3},
         .batch = 2,
         .batch_stride = 8 << 20},
        {.elem_size = 4,
         .rank = 4,
         .shape = {64, 64, 30, 7},
         .axes = {1, 0, 3, 2},
         .batch = 2,
         .expression = "x * 3 + 1",
         .expression_type = "uint"},
    };
    size_t i;
    (void)state;
    for (i = 0; i < TEST_COUNT(descs); ++i)
        check(&descs[i], 1);
}

/* Double passes, which also transpose each element: over squares and over other matrices, with every unit. */
static void axes_doubles(void **state)
{
    size_t i, doubles = 0;
    (void)state;
    for (i = 0; i < 80; ++i) {
        ipt_plan_desc desc = {.rank = 4, .axes = {1, 0, 3, 2}, .elem_size = test_random_between(1, 17)};
        ipt_plan *plan;
        desc.shape[0] = test_random_between(2, 70);
        desc.shape[1] = i % 2 ? desc.shape[0] : test_random_between(2, 70);
        desc.shape[2] = i % 3 ? test_random_between(2, 33) : (size_t)1 << test_random_between(1, 6);
        desc.shape[3] = i % 3 ? test_random_between(2, 12) : (size_t)1 << test_random_between(1, 4);
        desc.batch = i % 5 ? 1 : 3;
        plan = test_make_plan(test_context, &desc);
        doubles += test_mentions(ipt_plan_describe(plan), "each transposed as");
        ipt_plan_destroy(plan);
        check(&desc, 0);
    }
    assert_true(doubles > 0);
}

/* The progress that a callback has seen, and the number of its calls. */
typedef struct seen {
    size_t done, total;
    size_t calls, cancel_at; /* 0: never */
    int backwards;
} seen;

static int look(size_t done, size_t total, void *user)
{
    seen *const its = user;
    its->backwards |= done < its->done || (its->total && total != its->total) || done > total;
    its->done = done;
    its->total = total;
    return ++its->calls == its->cancel_at;
}

/* Arrays that exceed max_device_memory are cut into parts, which move from and to host memory. Progress never
 * decreases, and a cancellation in the middle returns INCOMPLETE. */
static void axes_cut(void **state)
{
    static const ipt_plan_desc descs[] = {
        {.elem_size = 4, .rank = 3, .shape = {97, 120, 131}, .axes = {2, 1, 0}},
        {.elem_size = 4, .rank = 3, .shape = {97, 120, 131}, .axes = {1, 2, 0}},
        {.elem_size = 2, .rank = 4, .shape = {24, 50, 40, 30}, .axes = {3, 2, 1, 0}},
    };
    size_t i, calls;
    (void)state;
#ifdef IPT_NO_HOST_STREAMING
    test_skip("ipt was compiled without host streaming");
#endif
    for (i = 0; i < TEST_COUNT(descs); ++i) {
        ipt_plan_desc desc = descs[i];
        seen its = {0};
        ipt_host_options options = {.progress = look, .user = &its};
        ipt_plan *plan;
        unsigned char *const data = malloc(test_span(&desc)), *const kept = malloc(test_span(&desc));
        ipt_result result;
        assert_true(data && kept);
        test_fill(data, test_span(&desc));
        desc.host = IPT_HOST_OVERLAPPED;
        desc.max_device_memory = test_span(&desc) / 3 * 2;
        plan = test_make_plan(test_context, &desc);
        assert_true(ipt_plan_workspace(plan) <= desc.max_device_memory);
        check_plan(plan, &desc, IN_HOST_MEMORY);
        test_expect_parts(ipt_plan_execute(plan, test_queue, NULL, 0, 0, NULL, NULL), IPT_ERROR_UNSUPPORTED,
                          "max_device_memory", "host matrices");
        assert_int_equal(ipt_plan_execute_host_with(plan, data, &options), IPT_SUCCESS);
        assert_false(its.backwards);
        assert_int_equal(its.done, its.total);
        calls = its.calls;
        its = (seen){.cancel_at = 1};
        memcpy(kept, data, test_span(&desc));
        result = ipt_plan_execute_host_with(plan, data, &options);
        assert_true(result == IPT_ERROR_INCOMPLETE ||
                    (result == IPT_ERROR_CANCELLED && memcmp(kept, data, test_span(&desc)) == 0));
        its = (seen){.cancel_at = calls / 2 + 1}; /* by then, one of several passes has changed data */
        if (!test_mentions(ipt_plan_describe(plan), "1 pass")) {
            result = ipt_plan_execute_host_with(plan, data, &options);
            if (result != IPT_ERROR_INCOMPLETE)
                fail_msg("%zu of %zu calls: %d\n%s", its.calls, calls, (int)result, ipt_plan_describe(plan));
        }
        ipt_plan_destroy(plan);
        free(data);
        free(kept);
    }
}

/* Permutes an array in host memory on several contexts, in several passes. */
static void axes_split(void **state)
{
    static const ipt_plan_desc descs[] = {
        {.elem_size = 4, .rank = 3, .shape = {97, 120, 131}, .axes = {2, 1, 0}},
        {.elem_size = 2, .rank = 4, .shape = {24, 50, 40, 30}, .axes = {3, 2, 1, 0}},
        {.elem_size = 4,
         .rank = 4,
         .shape = {64, 48, 10, 7},
         .axes = {1, 0, 3, 2},
         .batch = 3,
         .batch_stride = 4 << 20},
        {.elem_size = 4, .rank = 3, .shape = {9, 8, 200}, .axes = {1, 0, 2}, .batch = 2},
        {.elem_size = 4,
         .rank = 3,
         .shape = {20, 30, 40},
         .axes = {1, 0, 2},
         .expression = "x * 3 + 1",
         .expression_type = "uint"},
        {.elem_size = 1, .rank = 2, .shape = {20, 30}, .axes = {0, 1}},
        {.elem_size = 4, .rank = 1, .shape = {5000}, .axes = {0}, .expression = "x * 3 + 1", .expression_type = "uint"},
    };
    ipt_context_desc same = {.context = test_cl_context, .device = test_device};
    ipt_context *contexts[2] = {NULL, NULL};
    size_t i, count;
    (void)state;
#ifdef IPT_NO_HOST_STREAMING
    test_skip("ipt was compiled without host streaming");
#endif
    for (i = 0; i < 2; ++i)
        assert_int_equal(ipt_context_create(&same, &contexts[i]), IPT_SUCCESS);
    for (i = 0; i < TEST_COUNT(descs); ++i)
        for (count = 1; count <= test_kernels_at_once(2); ++count) {
            ipt_plan *plan = NULL;
            if (descs[i].expression && !test_compiles)
                continue;
            if (ipt_plan_create_split(contexts, count, &descs[i], &plan)) {
                test_print_case(&descs[i], 0);
                fail_msg("%s", ipt_context_error(NULL));
            }
            check_plan(plan, &descs[i], IN_HOST_MEMORY);
            check_plan(plan, &descs[i], IN_HOST_MEMORY);
            ipt_plan_destroy(plan);
        }
    for (i = 0; i < 2; ++i)
        ipt_context_destroy(contexts[i]);
}

/* The ways of an execution: different contexts and limits. */
typedef enum way { BUFFERS, LITTLE_LOCAL_MEMORY, LITTLE_WORKSPACE, CUT, SPLIT, STORAGE, WAYS } way;

/* Checks an array's plans in one way: batch_stride and byte_offset may be multiples of test_alignment(elem_size), and
 * nothing else. */
static void check_alignment(const ipt_plan_desc *array, ipt_context *little, way way)
{
    ipt_context *context = way == LITTLE_LOCAL_MEMORY ? little : test_context;
    const size_t unit = test_alignment(array->elem_size);
    size_t shift, offset;
    for (shift = 0; shift <= 16; shift = shift ? 2 * shift : 1) {
        ipt_plan_desc desc = *array;
        ipt_plan *plan = NULL;
        ipt_result result;
        desc.batch = 3;
        desc.batch_stride = (test_elements(array) * array->elem_size + 31) / 16 * 16 + shift;
        desc.max_workspace = way == LITTLE_WORKSPACE ? 500 : 0;
        desc.max_host_memory = way == STORAGE ? 4 << 20 : 0;
        if (way == CUT) {
            desc.host = IPT_HOST_OVERLAPPED;
            desc.max_device_memory = test_span(&desc) / 3 * 2 + 60000;
        }
        result =
            way == SPLIT ? ipt_plan_create_split(&context, 1, &desc, &plan) : ipt_plan_create(context, &desc, &plan);
        if (shift % unit) {
            test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, "batch_stride", test_number(unit));
            continue;
        }
        if (result == IPT_ERROR_UNSUPPORTED && (way == LITTLE_WORKSPACE || way == CUT)) /* by the limit */
            continue;
        if (result) {
            test_print_case(&desc, 0);
            fail_msg("way %d: %s", (int)way, ipt_context_error(NULL));
        }
        check_plan(plan, &desc, way == STORAGE ? IN_STORAGE : IN_HOST_MEMORY);
        for (offset = 1; offset <= 16 && way < CUT; offset *= 2) {
            const size_t bytes = offset + test_span(&desc);
            unsigned char *const content = malloc(bytes);
            cl_mem buffer = make_buffer(content, bytes);
            result = ipt_plan_execute(plan, test_queue, buffer, offset, 0, NULL, NULL);
            if (offset % unit)
                test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, "byte_offset", test_number(unit));
            else
                assert_int_equal(result, IPT_SUCCESS);
            clFinish(test_queue);
            clReleaseMemObject(buffer);
            free(content);
        }
        if (way < CUT) {
            check_plan(plan, &desc, IN_PLACE);
            check_plan(plan, &desc, OUT_OF_PLACE);
            check_plan(plan, &desc, IN_PLACE);
        }
        ipt_plan_destroy(plan);
    }
}

/* The legal byte_offset and batch_stride follow from elem_size alone, whatever passes the planner chooses. Cases: last
 * axes that stay in place, axes that only one of the passes leaves adjacent, and every way of execution. */
static void axes_alignment(void **state)
{
    static const ipt_plan_desc descs[] = {
        {.elem_size = 3, .rank = 3, .shape = {9, 14, 16}, .axes = {1, 0, 2}},
        {.elem_size = 2, .rank = 3, .shape = {64, 40, 24}, .axes = {1, 0, 2}},
        {.elem_size = 1, .rank = 4, .shape = {15, 26, 20, 16}, .axes = {3, 2, 0, 1}},
        {.elem_size = 9, .rank = 3, .shape = {8, 22, 152}, .axes = {2, 1, 0}},
        {.elem_size = 4, .rank = 4, .shape = {12, 8, 30, 6}, .axes = {1, 0, 3, 2}},
        {.elem_size = 5, .rank = 5, .shape = {9, 6, 8, 7, 6}, .axes = {2, 4, 1, 0, 3}},
        {.elem_size = 16, .rank = 3, .shape = {8, 9, 10}, .axes = {1, 0, 2}},
    };
    ipt_context *const little = test_make_context(2048);
    size_t i;
    int way;
    (void)state;
    for (i = 0; i < TEST_COUNT(descs); ++i)
        for (way = 0; way < WAYS; ++way) {
#ifdef IPT_NO_HOST_STREAMING
            if (way == CUT || way == SPLIT || way == STORAGE)
                continue;
#endif
            check_alignment(&descs[i], little, (enum way)way);
        }
    ipt_context_destroy(little);
}

/* The narrow plan, in an array's own units, obeys max_workspace; the plan lists its kernels. */
static void axes_narrow(void **state)
{
    const ipt_plan_desc desc = {.elem_size = 1, .rank = 3, .shape = {50, 70, 16}, .axes = {1, 0, 2}};
    ipt_plan *const plan = test_make_plan(test_context, &desc);
    size_t kernels = 0;
    int wide = 0, narrow = 0;
    (void)state;
    assert_true(test_mentions(ipt_plan_describe(plan), "no multiples of 16: in units of 1 bytes"));
    for (; ipt_plan_source(plan, kernels); ++kernels) {
        wide |= test_mentions(ipt_plan_source(plan, kernels), "IPT_UNIT_BYTES 16");
        narrow |= test_mentions(ipt_plan_source(plan, kernels), "IPT_UNIT_BYTES 1\n");
    }
    assert_true(!test_compiles || (kernels >= 2 && wide && narrow));
    ipt_plan_destroy(plan);
}

/* The limit that a refusal's message proposes suffices for all passes: in buffers, host memory, storages and with
 * several contexts. */
static void axes_advice(void **state)
{
    static const ipt_plan_desc descs[] = {
        {.elem_size = 16, .rank = 3, .shape = {133, 105, 78}, .axes = {2, 1, 0}},
        {.elem_size = 8, .rank = 3, .shape = {82, 64, 51}, .axes = {2, 1, 0}},
        {.elem_size = 4, .rank = 4, .shape = {20, 31, 15, 22}, .axes = {2, 3, 1, 0}},
        {.elem_size = 1, .rank = 4, .shape = {20, 31, 15, 16}, .axes = {2, 1, 0, 3}},
    };
    size_t i, followed = 0;
    int way, turn;
    (void)state;
    for (i = 0; i < TEST_COUNT(descs) * 4; ++i)
        for (way = 0; way < 4; ++way) {
            ipt_plan_desc desc = descs[i / 4];
            const size_t few[] = {2, 40, 300, 2500};
#ifdef IPT_NO_HOST_STREAMING
            if (way)
                continue;
#endif
            if (way == 1) {
                desc.host = IPT_HOST_OVERLAPPED;
                desc.max_device_memory = 50 * few[i % 4];
            } else if (way == 3)
                desc.max_host_memory = 50 * few[i % 4];
            if (way != 3)
                desc.max_workspace = few[i % 4];
            for (turn = 0; turn < 2; ++turn) {
                ipt_plan *plan = NULL;
                const ipt_result result = way == 2 ? ipt_plan_create_split(&test_context, 1, &desc, &plan)
                                                   : ipt_plan_create(test_context, &desc, &plan);
                const char *at = strstr(ipt_context_error(NULL), " would do"), *name;
                ipt_plan_destroy(plan);
                if (!result)
                    break;
                assert_int_equal(result, IPT_ERROR_UNSUPPORTED);
                if (turn || !at) {
                    test_print_case(&desc, 0);
                    fail_msg("way %d, turn %d: %s", way, turn, ipt_context_error(NULL));
                }
                for (name = strrchr(ipt_context_error(NULL), ':'); name && (name = strstr(name, "max_")) != NULL;
                     name += 4) {
                    size_t *const limit = !strncmp(name, "max_workspace", 13)     ? &desc.max_workspace
                                          : !strncmp(name, "max_host_memory", 15) ? &desc.max_host_memory
                                                                                  : &desc.max_device_memory;
                    *limit = (size_t)strtoull(strchr(name, '=') + 1, NULL, 10);
                }
                ++followed;
            }
        }
    assert_true(followed > 10);
}

static void axes_bad_values(void **state)
{
    const ipt_plan_desc good = {.elem_size = 4, .rank = 3, .shape = {2, 3, 4}, .axes = {2, 0, 1}};
    ipt_plan_desc desc = good;
    ipt_plan *plan = NULL;
    (void)state;
    desc.rank = IPT_MAX_RANK + 1;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "rank is 17", "16");
    desc = good;
    desc.axes[1] = 2;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "axes[1]", "both");
    desc = good;
    desc.axes[2] = 3;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "axes[2]", "3");
    desc = good;
    desc.shape[1] = 0;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "shape[1]", "0");
    desc = good;
    desc.shape[0] = (size_t)-1 / 8;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "shape[1]", "overflows");
    desc = good;
    desc.batch = (size_t)-1 / 8;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "batch", "overflows");
    desc = good;
    desc.elem_size = 0;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "elem_size", "0");
    desc = good;
    desc.rows = 2;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "rows", "set");
    desc = good;
    desc.move = IPT_MOVE_ROTATE_90;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "move", "set");
    desc = good;
    desc.axes[1] = 1, desc.axes[2] = 0; /* two passes, or one pass with a batch */
    desc.batch = (size_t)-1 / 8;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "batch", "overflows");
    desc.batch = 2;
    desc.batch_stride = 92; /* an array has 96 bytes */
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "batch_stride", "92");
    desc = good;
    desc.shape[2] = 8;
    desc.axes[0] = 1, desc.axes[1] = 0, desc.axes[2] = 2;
    for (desc.batch = 1; desc.batch < 3; ++desc.batch) {
        desc.batch_stride = 2 * 3 * 8 * 4 + 2;
        test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "batch_stride",
                          "not a multiple of 4");
    }
    desc = good;
    desc.max_device_memory = 1 << 20;
    test_expect_error(ipt_plan_create_split(&test_context, 1, &desc, &plan), IPT_ERROR_UNSUPPORTED, "max_device_memory",
                      "1048576");
    test_expect_error(ipt_plan_create(NULL, &good, &plan), IPT_ERROR_INVALID_ARGUMENT, "context", "NULL");
    test_expect_error(ipt_plan_create(test_context, &good, NULL), IPT_ERROR_INVALID_ARGUMENT, "plan", "NULL");
    assert_null(plan);
}

/* A buffer that is too small by one byte is refused and unchanged. The description names the axes and every pass. */
static void axes_refused_buffer(void **state)
{
    const ipt_plan_desc desc = {.elem_size = 4,
                                .rank = 3,
                                .shape = {20, 30, 40},
                                .axes = {2, 1, 0},
                                .flags = IPT_NO_COOPERATIVE}; /* else one pass suffices */
    const size_t bytes = test_span(&desc) - 1;
    unsigned char *const before = malloc(bytes), *const got = malloc(bytes);
    ipt_plan *const plan = test_make_plan(test_context, &desc);
    cl_mem buffer;
    (void)state;
    assert_true(before && got);
    test_fill(before, bytes);
    buffer = make_buffer(before, bytes);
    test_expect_error(ipt_plan_execute(plan, test_queue, buffer, 0, 0, NULL, NULL), IPT_ERROR_INVALID_ARGUMENT,
                      "buffer", test_number(bytes));
    assert_int_equal(clEnqueueReadBuffer(test_queue, buffer, CL_TRUE, 0, bytes, got, 0, NULL, NULL), 0);
    assert_memory_equal(got, before, bytes);
    assert_true(test_mentions(ipt_plan_describe(plan), "20 x 30 x 40"));
    assert_true(test_mentions(ipt_plan_describe(plan), "axes 2,1,0"));
    assert_true(test_mentions(ipt_plan_describe(plan), "2 passes"));
    assert_int_equal(ipt_plan_source(plan, 0) != NULL, test_compiles);
    clReleaseMemObject(buffer);
    ipt_plan_destroy(plan);
    free(before);
    free(got);
}

/* Plans of several passes cannot run by stages on host memory: IPT_HOST_STAGES is refused, and the array unchanged. */
static void axes_by_stages(void **state)
{
    const ipt_plan_desc desc = {
        .elem_size = 4, .rank = 3, .shape = {20, 30, 40}, .axes = {2, 1, 0}, .host = IPT_HOST_STAGES};
    const size_t bytes = test_span(&desc);
    unsigned char *const data = malloc(bytes), *const before = malloc(bytes);
    ipt_plan *const plan = test_make_plan(test_context, &desc);
    (void)state;
    assert_true(data && before);
    test_fill(data, bytes);
    memcpy(before, data, bytes);
    test_expect_error(ipt_plan_execute_host(plan, data), IPT_ERROR_UNSUPPORTED, "host is stages",
                      "cannot be cut into parts");
    assert_memory_equal(data, before, bytes);
    ipt_plan_destroy(plan);
    free(data);
    free(before);
}

/* Draws an array of 3 to 5 axes and about so many bytes. The last length is a multiple of `multiple`. */
static ipt_plan_desc draw_array(size_t bytes, size_t multiple)
{
    static const size_t sizes[] = {4, 8, 12, 16, 1, 2, 3, 20};
    ipt_plan_desc desc = {0};
    size_t most;
    unsigned a;
    desc.elem_size = sizes[test_random_between(0, TEST_COUNT(sizes) - 1)];
    desc.rank = (unsigned)test_random_between(3, 5);
    most = bytes / desc.elem_size;
    for (a = 0; a + 1 < desc.rank; ++a) {
        desc.shape[a] = test_random_between(2, desc.rank == 3 ? 40 : 9);
        most /= desc.shape[a];
    }
    desc.shape[a] = most < 2 ? 2 : (most + multiple - 1) / multiple * multiple;
    give_axes(&desc, test_random_between(0, 119));
    return desc;
}

/* Arrays that fit the local memory of all resident work-groups move once, by boxes. resident, polls: of the context. If
 * fewer than `resident` work-groups run, and `polls` is small, one work-group moves the whole array. */
static void try_boxes(size_t resident, size_t polls, int count)
{
    ipt_context *const context = test_make_waiting_context(32768, resident, polls);
    int boxes = 0, i;
    for (i = 0; i < count; ++i) {
        ipt_plan_desc desc = draw_array(resident * test_random_between(8000, 24000), i % 2 ? 1 : 4);
        ipt_plan *plan;
        if (desc.elem_size <= 8 && i % 4 == 0)
            desc.batch = test_random_between(1, 5);
        plan = test_make_plan(context, &desc);
        boxes += strstr(ipt_plan_describe(plan), "boxes together") != NULL;
        check_plan(plan, &desc, IN_PLACE);
        check_plan(plan, &desc, IN_PLACE); /* counters are clear again */
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
    if (!boxes)
        test_skip("the device has no boxes");
}

static void axes_boxes(void **state)
{
    (void)state;
    try_boxes(2, 0, 12);
    try_boxes(4, 100, 8);
}

/* Two passes: boxes permute all axes but one, before or after a transposition. */
static void axes_boxes_and_matrix(void **state)
{
    ipt_context *const context = test_make_waiting_context(32768, 4, 0);
    int found[2] = {0}, i;
    (void)state;
    for (i = 0; i < 24; ++i) {
        ipt_plan_desc desc = draw_array(test_random_between(20000, 200000), 1);
        ipt_plan *plan;
        desc.batch = i % 4 == 0 ? test_random_between(1, 3) : 0;
        if (desc.elem_size == 4 && i % 3 == 0 && test_compiles) {
            desc.expression = "x * 3 + 1";
            desc.expression_type = "uint";
        }
        plan = test_make_two_passes(context, &desc, i % 2);
        if (plan == NULL)
            continue;
        ++found[i % 2];
        assert_true(test_mentions(ipt_plan_describe(plan), "2 passes"));
        assert_true(test_mentions(ipt_plan_describe(plan), "boxes together"));
        check_plan(plan, &desc, IN_PLACE);
        check_plan(plan, &desc, i % 5 ? IN_PLACE : OUT_OF_PLACE);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
    if (!found[0] || !found[1])
        test_skip("the device has no boxes");
}

/* The ways in which units of a box move: by blocks in registers, by rows, and one by one. With aligned and unaligned
 * addresses, rests, several boxes and an expression. */
static void axes_crossing(void **state)
{
    static const struct {
        size_t elem_size, shape[4];
        unsigned rank, axes[4];
        const char *way;
    } arrays[] = {
        {1, {3, 3, 9008}, 3, {0, 2, 1}, "all channels"},   {1, {3, 9008, 3}, 3, {0, 2, 1}, "all channels"},
        {2, {5, 4, 5000}, 3, {0, 2, 1}, "all channels"},   {2, {5, 5000, 2}, 3, {0, 2, 1}, "all channels"},
        {4, {2, 3, 4004}, 3, {0, 2, 1}, "all channels"},   {4, {2, 4004, 3}, 3, {0, 2, 1}, "all channels"},
        {1, {2, 36, 20, 32}, 4, {0, 3, 2, 1}, "square"},   {2, {12, 9, 24, 8}, 4, {3, 1, 0, 2}, "square"},
        {2, {6, 50, 64}, 3, {1, 0, 2}, "boxes together"},  {8, {6, 40, 50}, 3, {1, 0, 2}, "boxes together"},
        {1, {31, 77, 13}, 3, {2, 1, 0}, "words cut"},      {2, {21, 33, 35}, 3, {2, 1, 0}, "words cut"},
        {1, {3, 75, 61}, 3, {0, 2, 1}, "words cut"},       {1, {9, 33, 7, 9}, 4, {3, 1, 2, 0}, "words cut"},
        {2, {40, 32, 15}, 3, {2, 1, 0}, "boxes together"}, {2, {15, 20, 48}, 3, {2, 1, 0}, "boxes together"},
    };
    ipt_context *const context = test_make_waiting_context(32768, 4, 0);
    int boxes = 0;
    size_t i;
    (void)state;
    for (i = 0; i < TEST_COUNT(arrays); ++i) {
        ipt_plan_desc desc = {.elem_size = arrays[i].elem_size, .rank = arrays[i].rank};
        ipt_plan *plan;
        memcpy(desc.shape, arrays[i].shape, sizeof arrays[i].shape);
        memcpy(desc.axes, arrays[i].axes, sizeof arrays[i].axes);
        plan = test_make_boxes(context, &desc);
        if (plan == NULL)
            continue;
        ++boxes;
        if (strstr(ipt_plan_describe(plan), arrays[i].way) == NULL)
            fail_msg("not %s: %s", arrays[i].way, ipt_plan_describe(plan));
        check_plan(plan, &desc, IN_PLACE);
        check_plan(plan, &desc, IN_PLACE);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
    if (!boxes)
        test_skip("the device has no boxes");
}

#ifndef IPT_NO_HOST_STREAMING
/* Small arrays that together exceed the device's memory, or its largest buffer: host memory passes through it matrix by
 * matrix. Without that limit, boxes would move them. */
static void axes_beyond_memory(void **state)
{
    ipt_context *const context = test_make_waiting_context(32768, 4, 0);
    ipt_plan_desc desc = {.rank = 3, .elem_size = 1, .shape = {5, 3, 10000}, .axes = {0, 2, 1}};
    cl_ulong memory = 0, buffer = 0;
    ipt_plan *plan = test_make_plan(context, &desc);
    const int boxes = strstr(ipt_plan_describe(plan), "boxes") != NULL;
    (void)state;
    ipt_plan_destroy(plan);
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL), 0);
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof buffer, &buffer, NULL), 0);
    if (memory > (cl_ulong)100 << 20 || !boxes) {
        ipt_context_destroy(context);
        test_skip(boxes ? "the device has more memory than the test fills" : "the device has no boxes");
    }
    for (int whole = 0; whole < 2; ++whole) {
        desc.shape[0] = (size_t)(whole ? (memory + buffer) / 2 : memory * 5 / 4) / 30000;
        desc.max_device_memory = 0;
        desc.host = IPT_HOST_AUTO;
        plan = test_make_plan(context, &desc);
        if (whole && strstr(ipt_plan_describe(plan), "boxes")) { /* the device may refuse the buffer */
            unsigned char *const data = malloc(test_span(&desc));
            const ipt_result result = ipt_plan_execute_host(plan, data);
            const char *const advice = strstr(ipt_context_error(context), "max_device_memory = ");
            free(data);
            ipt_plan_destroy(plan);
            if (!result)
                continue;
            assert_int_equal(result, IPT_ERROR_OUT_OF_MEMORY);
            assert_non_null(advice);
            desc.max_device_memory = (size_t)strtoull(advice + strlen("max_device_memory = "), NULL, 10);
            desc.host = IPT_HOST_OVERLAPPED;
            plan = test_make_plan(context, &desc);
        }
        check_plan(plan, &desc, IN_HOST_MEMORY);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
}
#endif

const struct CMUnitTest test_axes[] = {
    TEST_CASE(axes_all_of_few),
    TEST_CASE(axes_random),
    TEST_CASE(axes_many),
    TEST_CASE(axes_large),
    TEST_CASE(axes_cut),
    TEST_CASE(axes_doubles),
    TEST_CASE(axes_split),
    TEST_CASE(axes_bad_values),
    TEST_CASE(axes_refused_buffer),
    TEST_CASE(axes_alignment),
    TEST_CASE(axes_narrow),
    TEST_CASE(axes_advice),
    TEST_CASE(axes_by_stages),
    TEST_CASE(axes_boxes),
    TEST_CASE(axes_crossing),
    TEST_CASE(axes_boxes_and_matrix),
#ifndef IPT_NO_HOST_STREAMING
    TEST_CASE(axes_beyond_memory),
#endif
};
const size_t test_axes_count = TEST_COUNT(test_axes);
