/* Contract: plans of the CUDA driver move every element of a caller's memory to its place, to the byte, in the order of
 * the caller's stream and of no other. A captured graph may be launched any number of times. A failed call of CUDA is
 * named, leaves nothing behind, and the next attempt succeeds. The device is the first of CUDA, or of the stand-in that
 * IPT_CUDA_LIBRARY and IPT_NVRTC_LIBRARY name. Arguments: the number of random cases, the seed, and a pattern of tests'
 * names. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define IPT_STATIC
#define IPT_IMPLEMENTATION
#define IPT_CUDA
#define IPT_OPENCL_DYNAMIC
#include "ipt.h"
#pragma GCC diagnostic ignored "-Wunused-function" /* this file uses a part of views.h */
#include "draws.h"

#include <pthread.h>

enum { GUARD = 64, REPLAYS = 100, STREAMS = 4, THREADS = 8 };

static size_t cases = 60, seed = 1;
static ipt_context *context;
static ipt__cu_context current;
static void *library; /* the CUDA driver */

/* ---- the stand-in, and what ipt itself does not call ---- */

static void (*stand_in_fail)(long call); /* NULL: a real device */
static long (*stand_in_alive)(void), (*stand_in_calls)(void);
static ipt__cu_result (*begin_capture)(ipt__cu_stream stream, int mode), (*end_capture)(ipt__cu_stream, void **graph),
    (*instantiate)(void **made, void *graph, unsigned long long flags), (*launch)(void *graph, ipt__cu_stream stream),
    (*destroy_executable)(void *graph), (*destroy_graph)(void *graph);

static void find(const char *symbol, void *pointer)
{
    void *const found = dlsym(library, symbol);
    memcpy(pointer, &found, sizeof found);
}

static int set_up(void **state)
{
    const ipt_context_desc desc = {.driver = IPT_DRIVER_CUDA};
    const char *const named = getenv("IPT_CUDA_LIBRARY");
    (void)state;
    library = dlopen(named ? named : "libcuda.so.1", RTLD_NOW);
    if (!library || ipt_context_create(&desc, &context)) {
        fprintf(stderr, "%s\n", library ? ipt_context_error(NULL) : "there is no CUDA driver");
        return 1;
    }
    find("stand_in_fail", &stand_in_fail);
    find("stand_in_alive", &stand_in_alive);
    find("stand_in_calls", &stand_in_calls);
    find("cuStreamBeginCapture_v2", &begin_capture);
    find("cuStreamEndCapture", &end_capture);
    find("cuGraphInstantiateWithFlags", &instantiate);
    find("cuGraphLaunch", &launch);
    find("cuGraphExecDestroy", &destroy_executable);
    find("cuGraphDestroy", &destroy_graph);
    current = ((const ipt__cuda_context *)(void *)context->context)->context;
    ipt__cu.cuCtxPushCurrent(current);
    return 0;
}

static int tear_down(void **state)
{
    ipt__cu_context left;
    (void)state;
    ipt__cu.cuCtxPopCurrent(&left);
    ipt_context_destroy(context);
    return stand_in_alive && stand_in_alive() ? (fprintf(stderr, "%ld objects of CUDA are left\n", stand_in_alive()), 1)
                                              : 0;
}

static void done(ipt__cu_result error)
{
    const char *sentence = "";
    if (error) {
        ipt__cu.cuGetErrorString(error, &sentence);
        fail_msg("CUDA: %s (%d)", sentence, error);
    }
}

static ipt__cu_stream make_stream(void)
{
    ipt__cu_stream made;
    done(ipt__cu.cuStreamCreate(&made, IPT__CU_NON_BLOCKING));
    return made;
}

static void wait_and_destroy(ipt__cu_stream stream)
{
    done(ipt__cu.cuStreamSynchronize(stream));
    done(ipt__cu.cuStreamDestroy(stream));
}

/* ---- matrices on the device ---- */

/* A matrix with guards around it, in the host's memory and in the device's. */
typedef struct moved {
    ipt_plan_desc desc;
    ipt_plan *plan; /* NULL: the workspace does not do */
    size_t elements, bytes;
    unsigned char *source, *result;
    ipt__cu_address memory, at;
} moved;

static size_t elements_of(const ipt_plan_desc *desc)
{
    size_t elements = desc->rank ? 1 : desc->rows * desc->cols;
    for (unsigned i = 0; i < desc->rank; ++i)
        elements *= desc->shape[i];
    return elements;
}

/* Draws a case, makes its plan, and writes its elements on a stream. */
static void begin(moved *made, size_t number, ipt__cu_stream stream)
{
    ipt_result result;
    size_t offset;
    memset(made, 0, sizeof *made);
    views_state = seed * 1000003 + number;
    (number % 3 ? draw_matrix : draw_array)(&made->desc);
    result = ipt_plan_create(context, &made->desc, &made->plan);
    if (result == IPT_ERROR_UNSUPPORTED && made->desc.max_workspace)
        return;
    if (result)
        fail_msg("case %zu of seed %zu: %s", number, seed, ipt_context_error(context));
    made->elements = elements_of(&made->desc);
    made->bytes = made->elements * made->desc.elem_size * made->desc.batch;
    offset = GUARD + views_between(0, 20) * views_unit(made->desc.elem_size);
    made->source = (unsigned char *)malloc(made->bytes + offset + GUARD);
    made->result = (unsigned char *)malloc(made->bytes + offset + GUARD);
    assert_non_null(made->source);
    assert_non_null(made->result);
    fill(made->source, made->bytes + offset + GUARD);
    done(ipt__cu.cuMemAlloc(&made->memory, made->bytes + offset + GUARD));
    made->at = made->memory + offset;
    done(ipt__cu.cuMemcpyHtoDAsync(made->memory, made->source, made->bytes + offset + GUARD, stream));
}

/* Reads the memory, and checks every byte after `times` executions. */
static void end(moved *ended, ipt__cu_stream stream, size_t times, const char *what)
{
    const size_t offset = (size_t)(ended->at - ended->memory), bytes = ended->bytes + offset + GUARD;
    unsigned char *const again = (unsigned char *)malloc(bytes);
    assert_non_null(again);
    done(ipt__cu.cuMemcpyDtoHAsync(ended->result, ended->memory, bytes, stream));
    done(ipt__cu.cuStreamSynchronize(stream));
    for (size_t i = 1; i < times; ++i) { /* the reference, but for the last time */
        const size_t size = ended->desc.elem_size;
        memcpy(again, ended->source, bytes);
        for (size_t m = 0; m < ended->desc.batch; ++m)
            for (size_t at = 0; at < ended->elements; ++at)
                memcpy(ended->source + offset + (m * ended->elements + at) * size,
                       again + offset +
                           (m * ended->elements +
                            (ended->desc.rank ? array_source_of(&ended->desc, at) : source_of(&ended->desc, at))) *
                               size,
                       size);
    }
    if (memcmp(ended->result, ended->source, offset) ||
        memcmp(ended->result + offset + ended->bytes, ended->source + offset + ended->bytes, GUARD) ||
        wrong_elements(&ended->desc, ended->result + offset, ended->source + offset, ended->elements))
        fail_msg("%s: wrong elements, or bytes beside them\n%s", what, ipt_plan_describe(ended->plan));
    ipt_plan_destroy(ended->plan);
    done(ipt__cu.cuMemFree(ended->memory));
    free(again);
    free(ended->source);
    free(ended->result);
}

static void execute(const moved *executed, ipt__cu_stream stream)
{
    if (ipt_plan_execute_cuda(executed->plan, executed->at, stream))
        fail_msg("%s", ipt_context_error(context));
}

static void cuda_places(void **state)
{
    const ipt__cu_stream stream = make_stream();
    (void)state;
    for (size_t i = 0; i < cases; ++i) {
        char what[80];
        moved one;
        snprintf(what, sizeof what, "case %zu of seed %zu", i, seed);
        begin(&one, i, i % 4 ? stream : NULL);
        if (!one.plan)
            continue;
        execute(&one, i % 4 ? stream : NULL);
        if (i % 5 == 0)
            execute(&one, i % 4 ? stream : NULL);
        end(&one, i % 4 ? stream : NULL, i % 5 ? 1 : 2, what);
    }
    wait_and_destroy(stream);
}

static void cuda_host(void **state)
{
    (void)state;
    for (size_t i = 0; i < cases / 2; ++i) {
        ipt_plan_desc desc;
        ipt_plan *plan;
        size_t bytes;
        unsigned char *source, *memory;
        ipt_result result;
        views_state = seed * 999983 + i;
        (i % 3 ? draw_matrix : draw_array)(&desc);
        result = ipt_plan_create(context, &desc, &plan);
        if (result == IPT_ERROR_UNSUPPORTED && desc.max_workspace)
            continue;
        assert_int_equal(result, IPT_SUCCESS);
        bytes = elements_of(&desc) * desc.elem_size * desc.batch;
        source = (unsigned char *)malloc(bytes);
        memory = (unsigned char *)malloc(bytes);
        fill(source, bytes);
        memcpy(memory, source, bytes);
        if (ipt_plan_execute_host(plan, memory))
            fail_msg("case %zu of seed %zu: %s", i, seed, ipt_context_error(context));
        assert_int_equal(wrong_elements(&desc, memory, source, elements_of(&desc)), 0);
        ipt_plan_destroy(plan);
        free(source);
        free(memory);
    }
}

static void cuda_out_of_place(void **state)
{
    const ipt__cu_stream stream = make_stream();
    (void)state;
    for (size_t i = 0; i < cases / 2; ++i) {
        char what[80];
        moved one;
        ipt__cu_address target;
        snprintf(what, sizeof what, "case %zu of seed %zu", i, seed);
        begin(&one, i, stream);
        if (!one.plan)
            continue;
        if (one.desc.move != IPT_MOVE_TRANSPOSE) {
            assert_int_equal(ipt_plan_execute_cuda_out_of_place(one.plan, one.at, one.at + (1 << 24), stream),
                             IPT_ERROR_UNSUPPORTED);
            execute(&one, stream);
        } else {
            const size_t offset = (size_t)(one.at - one.memory), bytes = one.bytes + offset + GUARD;
            assert_int_equal(
                ipt_plan_execute_cuda_out_of_place(one.plan, one.at, one.at + one.bytes - one.desc.elem_size, stream),
                IPT_ERROR_INVALID_ARGUMENT);
            done(ipt__cu.cuMemAlloc(&target, bytes));
            done(ipt__cu.cuMemcpyDtoDAsync(target, one.memory, bytes, stream));
            if (ipt_plan_execute_cuda_out_of_place(one.plan, one.at, target + offset, stream))
                fail_msg("%s: %s", what, ipt_context_error(context));
            done(ipt__cu.cuStreamSynchronize(stream));
            done(ipt__cu.cuMemFree(one.memory));
            one.memory = target;
            one.at = target + offset;
        }
        end(&one, stream, 1, what);
    }
    wait_and_destroy(stream);
}

/* One plan on many streams: executions wait for each other where they share the workspace. */
static void cuda_streams(void **state)
{
    ipt__cu_stream streams[STREAMS];
    (void)state;
    for (int s = 0; s < STREAMS; ++s)
        streams[s] = make_stream();
    for (size_t i = 0; i < cases / 8; ++i) {
        moved each[STREAMS];
        for (int s = 0; s < STREAMS; ++s)
            begin(&each[s], i, streams[s]);
        if (!each[0].plan)
            continue;
        for (size_t time = 0; time < 6; ++time)
            for (int s = 0; s < STREAMS; ++s)
                if (ipt_plan_execute_cuda(each[0].plan, each[s].at, streams[s]))
                    fail_msg("%s", ipt_context_error(context));
        for (int s = 0; s < STREAMS; ++s)
            end(&each[s], streams[s], 6, "streams");
    }
    for (int s = 0; s < STREAMS; ++s)
        wait_and_destroy(streams[s]);
}

static void *executes_many(void *given)
{
    const ipt_plan_desc desc = {.rows = 123, .cols = 77, .elem_size = 4};
    enum { COUNT = 123 * 77 };
    ipt__cu_stream stream = NULL;
    cl_uint *const data = (cl_uint *)malloc(COUNT * 4);
    ipt__cu_address memory = 0;
    ipt_plan *plan = NULL;
    size_t wrong = 0;
    wrong += ipt__cu.cuCtxPushCurrent(current) != 0;
    wrong += ipt__cu.cuStreamCreate(&stream, IPT__CU_NON_BLOCKING) != 0;
    wrong += ipt_plan_create(context, &desc, &plan) != IPT_SUCCESS;
    wrong += ipt__cu.cuMemAlloc(&memory, COUNT * 4) != 0;
    for (size_t turn = 0; !wrong && turn < 20; ++turn) {
        for (size_t i = 0; i < COUNT; ++i)
            data[i] = (cl_uint)(i + turn);
        wrong += ipt__cu.cuMemcpyHtoDAsync(memory, data, COUNT * 4, stream) != 0;
        wrong += ipt_plan_execute_cuda(plan, memory, stream) != IPT_SUCCESS;
        wrong += ipt__cu.cuMemcpyDtoHAsync(data, memory, COUNT * 4, stream) != 0;
        wrong += ipt__cu.cuStreamSynchronize(stream) != 0;
        for (size_t i = 0; i < COUNT; ++i)
            wrong += data[i] != i % 123 * 77 + i / 123 + turn;
    }
    ipt_plan_destroy(plan);
    ipt__cu.cuMemFree(memory);
    ipt__cu.cuStreamDestroy(stream);
    free(data);
    *(size_t *)given = wrong;
    return NULL;
}

static void cuda_threads(void **state)
{
    pthread_t threads[THREADS];
    size_t wrong[THREADS];
    (void)state;
    for (int t = 0; t < THREADS; ++t)
        assert_int_equal(pthread_create(&threads[t], NULL, executes_many, &wrong[t]), 0);
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(threads[t], NULL);
        assert_int_equal(wrong[t], 0);
    }
}

/* Captures one execution of a plan as a graph. */
static void *capture(const moved *captured, ipt__cu_stream stream)
{
    void *graph, *executable;
    done(begin_capture(stream, 2)); /* relaxed */
    execute(captured, stream);
    done(end_capture(stream, &graph));
    done(instantiate(&executable, graph, 0));
    done(destroy_graph(graph));
    return executable;
}

/* Graphs of plans, two at once, are launched many times, with other executions between. */
static void cuda_graphs(void **state)
{
    const ipt__cu_stream streams[2] = {make_stream(), make_stream()};
    (void)state;
    for (size_t i = 0; i + 1 < cases; i += 2) {
        void *graphs[2];
        moved two[2];
        size_t times[2] = {0, 0};
        for (int s = 0; s < 2; ++s)
            begin(&two[s], i + (size_t)s, streams[s]);
        for (int s = 0; s < 2; ++s)
            graphs[s] = two[s].plan ? capture(&two[s], streams[s]) : NULL;
        for (size_t replay = 0; replay < REPLAYS / 4; ++replay)
            for (int s = 0; s < 2; ++s)
                if (two[s].plan) {
                    for (int four = 0; four < 4; ++four)
                        done(launch(graphs[s], streams[s]));
                    if (replay % 5 == 0)
                        execute(&two[s], streams[s]);
                    times[s] += 4 + (replay % 5 == 0);
                }
        for (int s = 0; s < 2; ++s)
            if (two[s].plan) {
                done(ipt__cu.cuStreamSynchronize(streams[s]));
                done(destroy_executable(graphs[s]));
                end(&two[s], streams[s], times[s], "graphs");
            }
    }
    wait_and_destroy(streams[0]);
    wait_and_destroy(streams[1]);
}

static void cuda_batches(void **state)
{
    enum { COUNT = 1000, SIDE = 7, ELEMENTS = COUNT * SIDE * SIDE };
    static float host[3 * ELEMENTS];
    const ipt_batch_operand operands[] = {
        {.name = "A", .type = "float", .rows = SIDE, .cols = SIDE, .access = IPT_READ},
        {.name = "B", .type = "float", .rows = SIDE, .cols = SIDE, .access = IPT_READ},
        {.name = "C", .type = "float", .rows = SIDE, .cols = SIDE, .access = IPT_READ_WRITE}};
    ipt_batch_desc desc = {.count = COUNT, .operands = operands, .operand_count = 3, .ready = IPT_ACTION_GEMM};
    const ipt__cu_stream stream = make_stream();
    unsigned long long addresses[3];
    ipt__cu_address memory;
    (void)state;
    done(ipt__cu.cuMemAlloc(&memory, sizeof host));
    for (size_t i = 0; i < 3; ++i)
        addresses[i] = memory + i * sizeof host / 3;
    for (int with = 0; with < 2; ++with) {
        const float factors[2] = {2, 3};
        ipt_batch *batch;
        desc.argument_type = with ? "float2" : NULL;
        for (size_t i = 0; i < 3 * ELEMENTS; ++i)
            host[i] = (float)(i * 2654435761u >> 8 & 15);
        if (ipt_batch_create(context, &desc, &batch))
            fail_msg("%s", ipt_context_error(context));
        done(ipt__cu.cuMemcpyHtoDAsync(memory, host, sizeof host, stream));
        assert_int_equal(ipt_batch_execute_cuda_with(batch, addresses, with ? NULL : factors, stream),
                         IPT_ERROR_INVALID_ARGUMENT);
        if (with ? ipt_batch_execute_cuda_with(batch, addresses, factors, stream)
                 : ipt_batch_execute_cuda(batch, addresses, stream))
            fail_msg("%s", ipt_context_error(context));
        done(ipt__cu.cuMemcpyDtoHAsync(host + 2 * ELEMENTS, addresses[2], sizeof host / 3, stream));
        done(ipt__cu.cuStreamSynchronize(stream));
        for (size_t i = 0; i < ELEMENTS; ++i) {
            const size_t element = i / (SIDE * SIDE) * SIDE * SIDE, row = i % (SIDE * SIDE) / SIDE, col = i % SIDE;
            float product = 0;
            for (size_t k = 0; k < SIDE; ++k)
                product += host[element + row * SIDE + k] * host[ELEMENTS + element + k * SIDE + col];
            if (with)
                product = 2 * product + 3 * (float)((2 * ELEMENTS + i) * 2654435761u >> 8 & 15);
            if (host[2 * ELEMENTS + i] != product)
                fail_msg("element %zu is %f, not %f", i, host[2 * ELEMENTS + i], product);
        }
        ipt_batch_destroy(batch);
    }
    done(ipt__cu.cuMemFree(memory));
    wait_and_destroy(stream);
}

/* What an execution behind an open event needs may be released: nothing waits, and the execution completes. */
static void cuda_released_behind_an_event(void **state)
{
    enum { ROWS = 300, COLS = 200 };
    static cl_uint data[ROWS * COLS];
    const ipt_plan_desc desc = {.rows = ROWS, .cols = COLS, .elem_size = 4};
    const ipt__driver *const calls = &ipt__cuda;
    cl_int error;
    cl_event gate, event;
    ipt_plan *plan;
    const cl_command_queue queue = calls->clCreateCommandQueue(context->context, context->device, 0, &error);
    const cl_mem buffer = calls->clCreateBuffer(context->context, CL_MEM_READ_WRITE, sizeof data, NULL, &error);
    (void)state;
    alarm(60);
    for (size_t i = 0; i < ROWS * COLS; ++i)
        data[i] = (cl_uint)i;
    assert_int_equal(calls->clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL), 0);
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    gate = calls->clCreateUserEvent(context->context, &error);
    assert_int_equal(ipt_plan_execute(plan, queue, buffer, 0, 1, &gate, &event), IPT_SUCCESS);
    ipt_plan_destroy(plan);
    assert_int_equal(calls->clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    calls->clReleaseEvent(gate);
    assert_int_equal(calls->clWaitForEvents(1, &event), CL_SUCCESS);
    calls->clReleaseEvent(event);
    assert_int_equal(calls->clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL), 0);
    calls->clReleaseMemObject(buffer);
    calls->clReleaseCommandQueue(queue);
    for (size_t i = 0; i < ROWS * COLS; ++i)
        assert_int_equal(data[i], i % ROWS * COLS + i / ROWS);
    alarm(0);
}

static void refused(ipt_result result, ipt_result expected, const char *words)
{
    assert_int_equal(result, expected);
    if (!strstr(ipt_context_error(context), words))
        fail_msg("\"%s\" is not in: %s", words, ipt_context_error(context));
}

static void cuda_refusals(void **state)
{
    const ipt_plan_desc desc = {.rows = 100, .cols = 70, .elem_size = 8};
    const ipt_context_desc other = {.driver = IPT_DRIVER_NATIVE};
    ipt_context *native;
    ipt_plan *plan;
    (void)state;
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    refused(ipt_plan_execute_cuda(NULL, 256, NULL), IPT_ERROR_INVALID_ARGUMENT, "plan is NULL");
    refused(ipt_plan_execute_cuda(plan, 0, NULL), IPT_ERROR_INVALID_ARGUMENT, "address");
    refused(ipt_plan_execute_cuda(plan, 260, NULL), IPT_ERROR_INVALID_ARGUMENT, "a multiple of 8");
    refused(ipt_plan_execute_cuda_out_of_place(plan, 256, 264, NULL), IPT_ERROR_INVALID_ARGUMENT, "overlaps");
    ipt_plan_destroy(plan);
    if (!ipt_context_create(&other, &native)) {
        assert_int_equal(ipt_plan_create(native, &desc, &plan), IPT_SUCCESS);
        refused(ipt_plan_execute_cuda(plan, 256, NULL), IPT_ERROR_UNSUPPORTED, "not of IPT_DRIVER_CUDA");
        ipt_plan_destroy(plan);
        ipt_context_destroy(native);
    }
}

/* Every call of CUDA fails once: the error names it, nothing is left, and the next attempt succeeds. */
static void cuda_failures(void **state)
{
    static const ipt_plan_desc descs[] = {{.rows = 100, .cols = 77, .elem_size = 4},
                                          {.rows = 30, .cols = 30, .elem_size = 3, .batch = 5},
                                          {.rank = 3, .shape = {20, 30, 40}, .axes = {2, 1, 0}, .elem_size = 2}};
    ipt__cu_address memory;
    (void)state;
    if (!stand_in_fail)
        skip();
    done(ipt__cu.cuMemAlloc(&memory, 1 << 20));
    for (size_t d = 0; d < sizeof descs / sizeof *descs; ++d) {
        long call;
        bool reached = true;
        for (call = 1; reached && call < 1000; ++call) {
            const ipt_context_desc own = {.driver = IPT_DRIVER_CUDA, .cache_dir = ""};
            const long before = stand_in_alive();
            ipt_context *fresh = NULL;
            ipt_plan *plan = NULL;
            ipt_result result;
            stand_in_fail(call);
            result = ipt_context_create(&own, &fresh);
            result = result ? result : ipt_plan_create(fresh, &descs[d], &plan);
            result = result ? result : ipt_plan_execute_cuda(plan, memory, NULL);
            reached = stand_in_calls() >= call;
            stand_in_fail(0);
            if (result && !ipt_context_error(NULL)[0])
                fail_msg("call %ld fails without a word", call);
            if (plan && ipt_plan_execute_cuda(plan, memory, NULL))
                fail_msg("after failed call %ld: %s", call, ipt_context_error(NULL));
            done(ipt__cu.cuStreamSynchronize(NULL));
            ipt_plan_destroy(plan);
            ipt_context_destroy(fresh);
            if (stand_in_alive() != before)
                fail_msg("failed call %ld leaves %ld objects: %s", call, stand_in_alive() - before,
                         ipt_context_error(NULL));
        }
        assert_in_range(call, 15, 999);
    }
    done(ipt__cu.cuMemFree(memory));
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cuda_places),   cmocka_unit_test(cuda_out_of_place),
                                       cmocka_unit_test(cuda_host),     cmocka_unit_test(cuda_streams),
                                       cmocka_unit_test(cuda_threads),  cmocka_unit_test(cuda_graphs),
                                       cmocka_unit_test(cuda_batches),  cmocka_unit_test(cuda_released_behind_an_event),
                                       cmocka_unit_test(cuda_refusals), cmocka_unit_test(cuda_failures)};
    cases = count > 1 ? (size_t)strtoull(arguments[1], NULL, 10) : cases;
    seed = count > 2 ? (size_t)strtoull(arguments[2], NULL, 10) : seed;
    if (count > 3)
        cmocka_set_test_filter(arguments[3]);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
