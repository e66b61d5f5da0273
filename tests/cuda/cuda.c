/* Contract: plans of the CUDA driver move every element of a caller's memory to its place, to the byte, in the order of
 * the caller's stream and of no other. A captured graph may be launched any number of times. A failed call of CUDA is
 * named, leaves nothing behind, and the next attempt succeeds. The device is the first of CUDA, or of the stand-in that
 * IPT_CUDA_LIBRARY and IPT_NVRTC_LIBRARY name. Arguments: the number of random cases, the seed, a pattern of tests'
 * names, and the number of executions of the stress. */
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

static size_t cases = 60, seed = 1, executions = 1000;
static ipt_context *context;
static ipt__cu_context current;
static void *library; /* the CUDA driver */

/* ---- the stand-in, and what ipt itself does not call ---- */

static void (*stand_in_fail)(long call); /* NULL: a real device */
static long (*stand_in_alive)(void), (*stand_in_calls)(void);
static ipt__cu_result (*begin_capture)(ipt__cu_stream stream, int mode), (*end_capture)(ipt__cu_stream, void **graph),
    (*instantiate)(void **made, void *graph, unsigned long long flags), (*launch)(void *graph, ipt__cu_stream stream),
    (*destroy_executable)(void *graph), (*destroy_graph)(void *graph),
    (*take_on)(ipt__cu_address *address, size_t bytes, ipt__cu_stream stream),
    (*free_on)(ipt__cu_address address, ipt__cu_stream stream);

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
    find("cuMemAllocAsync", &take_on);
    find("cuMemFreeAsync", &free_on);
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

static size_t largest = SIZE_MAX; /* of the drawn cases, in bytes */

/* Draws a case, makes its plan, and writes its elements on a stream. */
static void begin(moved *made, size_t number, ipt__cu_stream stream)
{
    ipt_result result;
    size_t offset;
    memset(made, 0, sizeof *made);
    views_state = seed * 1000003 + number;
    do {
        (number % 3 ? draw_matrix : draw_array)(&made->desc);
        made->elements = elements_of(&made->desc);
        made->bytes = made->elements * made->desc.elem_size * made->desc.batch;
    } while (made->bytes > largest);
    result = ipt_plan_create(context, &made->desc, &made->plan);
    if (result == IPT_ERROR_UNSUPPORTED && made->desc.max_workspace)
        return;
    if (result)
        fail_msg("case %zu of seed %zu: %s", number, seed, ipt_context_error(context));
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

/* Captures one execution of a plan as a graph. mode: 0 forbids calls of all threads that might wait, 1 of this thread,
 * 2 none. */
static void *capture(const moved *captured, ipt__cu_stream stream, int mode)
{
    void *graph, *executable;
    done(begin_capture(stream, mode));
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
    largest = 1 << 18; /* each is moved more than a hundred times, on the host, too */
    for (size_t i = 0; i + 1 < cases; i += 2) {
        void *graphs[2];
        moved two[2];
        size_t times[2] = {0, 0};
        for (int s = 0; s < 2; ++s)
            begin(&two[s], i + (size_t)s, streams[s]);
        for (int s = 0; s < 2; ++s)
            graphs[s] = two[s].plan ? capture(&two[s], streams[s], (int)(i / 2 % 3)) : NULL;
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
    largest = SIZE_MAX;
    wait_and_destroy(streams[0]);
    wait_and_destroy(streams[1]);
}

/* Another thread, which makes, executes and destroys plans in both of its matrices until `ends`. */
typedef struct neighbour {
    ipt__cu_stream stream;
    moved two[2];
    volatile size_t rounds;
    volatile int ends;
    ipt_result result;
    char cause[4096];
} neighbour;

static void *works_beside(void *given)
{
    neighbour *const own = (neighbour *)given;
    for (own->result = IPT_SUCCESS; !own->result && (!own->ends || own->rounds % 2); ++own->rounds) {
        ipt_plan *plan;
        own->result = ipt_plan_create(context, &own->two[0].desc, &plan);
        if (!own->result)
            own->result = ipt_plan_execute_cuda(plan, own->two[0].at, own->stream);
        ipt_plan_destroy(plan);
        if (!own->result)
            own->result = ipt_plan_execute_cuda(own->two[1].plan, own->two[1].at, own->stream);
    }
    snprintf(own->cause, sizeof own->cause, "%s", ipt_context_error(NULL));
    return NULL;
}

/* Draws the first case from `*number` on that the workspace allows. */
static void begin_next(moved *made, size_t *number, ipt__cu_stream stream)
{
    do
        begin(made, ++*number, stream);
    while (!made->plan);
}

/* While a stream is captured, in each mode, other threads make and execute plans, and the captured plan's previous
 * execution may not have ended: the capture is not broken, and its launches are right. */
static void cuda_captures_beside_others(void **state)
{
    const ipt__cu_stream stream = make_stream(), other = make_stream();
    size_t number = 0;
    (void)state;
    for (int mode = 0; mode < 3; ++mode) {
        neighbour beside = {.stream = make_stream()};
        pthread_t thread;
        void *graph, *executable;
        moved one;
        begin_next(&one, &number, other);
        for (int i = 0; i < 2; ++i)
            begin_next(&beside.two[i], &number, beside.stream);
        execute(&one, other);
        done(begin_capture(stream, mode));
        assert_int_equal(pthread_create(&thread, NULL, works_beside, &beside), 0);
        execute(&one, stream);
        while (beside.rounds < 4 && !beside.result)
            usleep(100);
        execute(&one, stream);
        done(end_capture(stream, &graph));
        beside.ends = 1;
        pthread_join(thread, NULL);
        if (beside.result)
            fail_msg("beside a capture of mode %d: %s", mode, beside.cause);
        for (int i = 0; i < 2; ++i)
            end(&beside.two[i], beside.stream, beside.rounds, "beside a capture");
        wait_and_destroy(beside.stream);
        done(instantiate(&executable, graph, 0));
        done(destroy_graph(graph));
        done(ipt__cu.cuStreamSynchronize(other));
        for (int time = 0; time < 3; ++time)
            done(launch(executable, stream));
        done(ipt__cu.cuStreamSynchronize(stream));
        done(destroy_executable(executable));
        end(&one, stream, 7, "captured beside others");
    }
    wait_and_destroy(stream);
    wait_and_destroy(other);
}

/* ---- stress ---- */

enum { PLANS = 4, AT_ONCE = 8 };

/* A plan of the stress: its memory before, on the device, and after, on the host. The last plan is each thread's own.
 */
typedef struct stressed {
    ipt_plan_desc desc;
    size_t bytes;
    ipt_plan *plan;
    ipt__cu_address before;
    unsigned char *source, *after;
} stressed;

static void stress_begin(stressed *made, size_t number)
{
    static const ipt_plan_desc small[PLANS] = {{.rows = 123, .cols = 77, .elem_size = 4},
                                               {.rank = 3, .shape = {20, 30, 40}, .axes = {2, 1, 0}, .elem_size = 4},
                                               {.rows = 150, .cols = 150, .elem_size = 8},
                                               {.rows = 301, .cols = 99, .elem_size = 2, .batch = 3}},
                               large[PLANS] = {
                                   {.rows = 1501, .cols = 1103, .elem_size = 4},
                                   {.rank = 4, .shape = {64, 100, 16, 40}, .axes = {3, 1, 2, 0}, .elem_size = 4},
                                   {.rows = 1000, .cols = 1000, .elem_size = 8},
                                   {.rows = 30000, .cols = 70, .elem_size = 2, .batch = 3}};
    memset(made, 0, sizeof *made);
    made->desc = (stand_in_fail ? small : large)[number];
    if (ipt_plan_create(context, &made->desc, &made->plan))
        fail_msg("%s", ipt_context_error(context));
    made->desc.batch = made->desc.batch ? made->desc.batch : 1;
    made->bytes = elements_of(&made->desc) * made->desc.elem_size * made->desc.batch;
    made->source = (unsigned char *)malloc(made->bytes);
    made->after = (unsigned char *)malloc(made->bytes);
    views_state = number;
    fill(made->source, made->bytes);
    done(ipt__cu.cuMemAlloc(&made->before, made->bytes));
    done(ipt__cu.cuMemcpyHtoDAsync(made->before, made->source, made->bytes, NULL));
    done(ipt__cu.cuStreamSynchronize(NULL));
    for (size_t m = 0; m < made->desc.batch; ++m)
        for (size_t at = 0, size = made->desc.elem_size, all = elements_of(&made->desc); at < all; ++at)
            memcpy(made->after + (m * all + at) * size,
                   made->source +
                       (m * all + (made->desc.rank ? array_source_of(&made->desc, at) : source_of(&made->desc, at))) *
                           size,
                   size);
}

static void stress_end(stressed *ended)
{
    ipt_plan_destroy(ended->plan);
    done(ipt__cu.cuMemFree(ended->before));
    free(ended->source);
    free(ended->after);
}

typedef struct stress {
    stressed plans[PLANS]; /* the last one is the thread's own, and its graph's */
    ipt__cu_stream stream, graph_stream;
    size_t number, count, done, launched, wrong;
} stress;

/* Executes plans in memory that is freed at once after the call, in the order of the stream. */
static void *stress_thread(void *given)
{
    stress *const own = (stress *)given;
    stressed *const last = &own->plans[PLANS - 1];
    moved captured = {.plan = last->plan};
    unsigned char *results[AT_ONCE] = {NULL};
    const stressed *of[AT_ONCE];
    void *graph;
    size_t most = 0, i;
    done(ipt__cu.cuCtxPushCurrent(current));
    for (i = 0; i < PLANS; ++i)
        most = most > own->plans[i].bytes ? most : own->plans[i].bytes;
    for (i = 0; i < AT_ONCE; ++i)
        done(ipt__cu.cuMemHostAlloc((void **)&results[i], most, 0));
    done(ipt__cu.cuMemAlloc(&captured.at, last->bytes));
    graph = capture(&captured, own->graph_stream, 1);
    while (own->done < own->count) {
        for (i = 0; i < AT_ONCE; ++i) {
            const stressed *const used = of[i] = &own->plans[(own->number + own->done + i) % PLANS];
            const int launches = used == last && own->done % (2 * AT_ONCE) == 0;
            const ipt__cu_stream stream = used == last ? own->graph_stream : own->stream;
            ipt__cu_address memory = captured.at;
            own->wrong += !launches && take_on(&memory, used->bytes, stream);
            own->wrong += ipt__cu.cuMemcpyDtoDAsync(memory, used->before, used->bytes, stream) != 0;
            own->wrong +=
                launches ? launch(graph, stream) != 0 : ipt_plan_execute_cuda(used->plan, memory, stream) != 0;
            own->wrong += ipt__cu.cuMemcpyDtoHAsync(results[i], memory, used->bytes, stream) != 0;
            own->wrong += !launches && free_on(memory, stream);
            own->launched += (size_t)launches;
        }
        own->wrong += ipt__cu.cuStreamSynchronize(own->stream) != 0;
        own->wrong += ipt__cu.cuStreamSynchronize(own->graph_stream) != 0;
        for (i = 0; i < AT_ONCE; ++i)
            own->wrong += memcmp(results[i], of[i]->after, of[i]->bytes) != 0;
        own->done += AT_ONCE;
    }
    destroy_executable(graph);
    ipt__cu.cuMemFree(captured.at);
    for (i = 0; i < AT_ONCE; ++i)
        ipt__cu.cuMemFreeHost(results[i]);
    return NULL;
}

static void cuda_stress(void **state)
{
    static stress all[THREADS];
    ipt__cu_stream streams[STREAMS];
    pthread_t threads[THREADS];
    stressed shared[PLANS - 1];
    size_t sum = 0, launched = 0, wrong = 0;
    (void)state;
    memset(all, 0, sizeof all);
    for (size_t i = 0; i < PLANS - 1; ++i)
        stress_begin(&shared[i], i);
    for (int s = 0; s < STREAMS; ++s)
        streams[s] = make_stream();
    for (size_t t = 0; t < THREADS; ++t) {
        memcpy(all[t].plans, shared, sizeof shared);
        stress_begin(&all[t].plans[PLANS - 1], PLANS - 1);
        all[t].number = t;
        all[t].count = (executions + THREADS - 1) / THREADS;
        all[t].stream = streams[t % STREAMS];
        all[t].graph_stream = make_stream();
    }
    for (int t = 0; t < THREADS; ++t)
        assert_int_equal(pthread_create(&threads[t], NULL, stress_thread, &all[t]), 0);
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(threads[t], NULL);
        sum += all[t].done;
        launched += all[t].launched;
        wrong += all[t].wrong;
        wait_and_destroy(all[t].graph_stream);
        stress_end(&all[t].plans[PLANS - 1]);
    }
    for (int s = 0; s < STREAMS; ++s)
        wait_and_destroy(streams[s]);
    for (size_t i = 0; i < PLANS - 1; ++i)
        stress_end(&shared[i]);
    printf(
        "%d threads, %d shared streams, memory freed at once after the call: %zu executions, %zu of them launches of "
        "graphs, %zu wrong\n",
        THREADS, STREAMS, sum, launched, wrong);
    assert_int_equal(wrong, 0);
    assert_true(sum >= executions && launched);
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

/* The desc's driver decides, whatever driver the environment's device names. */
static void cuda_named_otherwise(void **state)
{
    static const char *const names[] = {"opencl", "native", "cuda", "cuda:0"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        for (int driver = IPT_DRIVER_NATIVE; driver <= IPT_DRIVER_CUDA; ++driver) {
            const ipt_context_desc desc = {.driver = (ipt_driver)driver};
            ipt_context *own;
            setenv("IPT_DEVICE", names[i], 1);
            if (ipt_context_create(&desc, &own))
                fail_msg("%s, IPT_DEVICE=%s: %s", driver == IPT_DRIVER_CUDA ? "CUDA" : "native", names[i],
                         ipt_context_error(NULL));
            assert_int_equal(own->driver, driver == IPT_DRIVER_CUDA ? IPT__DRIVER_CUDA : IPT__DRIVER_NATIVE);
            ipt_context_destroy(own);
        }
    unsetenv("IPT_DEVICE");
}

/* ---- host memory and storages ---- */

/* What a plan must leave in memory at `result`. */
static size_t wrong_at(const ipt_plan_desc *desc, const unsigned char *result, const unsigned char *source)
{
    ipt_plan_desc whole = *desc;
    whole.batch = whole.batch ? whole.batch : 1;
    return wrong_elements(&whole, result, source, elements_of(&whole));
}

static int read_file(void *memory, size_t offset, size_t bytes, void *user)
{
    return pread(*(int *)user, memory, bytes, (off_t)offset) != (ssize_t)bytes;
}

static int write_file(const void *memory, size_t offset, size_t bytes, void *user)
{
    return pwrite(*(int *)user, memory, bytes, (off_t)offset) != (ssize_t)bytes;
}

static const ipt_plan_desc stored[] = {
    {.rows = 700, .cols = 450, .elem_size = 4, .max_host_memory = 900000},
    {.rows = 100, .cols = 70, .elem_size = 8, .batch = 20, .max_host_memory = 700000},
    {.rank = 3, .shape = {90, 64, 50}, .axes = {2, 1, 0}, .elem_size = 3, .max_host_memory = 600000}};

/* Files larger than the memory limit are transposed by the device, in pieces. */
static void cuda_storage(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stored / sizeof *stored; ++i) {
        const size_t bytes = elements_of(&stored[i]) * stored[i].elem_size * (stored[i].batch ? stored[i].batch : 1);
        unsigned char *const source = (unsigned char *)malloc(bytes), *const result = (unsigned char *)malloc(bytes);
        FILE *const file = tmpfile();
        int number = fileno(file);
        const ipt_storage storage = {read_file, write_file, NULL, &number, NULL, 0};
        ipt_plan *plan;
        fill(source, bytes);
        assert_int_equal(write_file(source, 0, bytes, &number), 0);
        if (ipt_plan_create(context, &stored[i], &plan) || ipt_plan_execute_storage(plan, &storage))
            fail_msg("storage %zu: %s", i, ipt_context_error(context));
        assert_true(ipt_plan_storage_memory(plan) <= stored[i].max_host_memory);
        assert_true(ipt_plan_storage_steps(plan) > 1);
        assert_int_equal(read_file(result, 0, bytes, &number), 0);
        assert_int_equal(wrong_at(&stored[i], result, source), 0);
        ipt_plan_destroy(plan);
        fclose(file);
        free(source);
        free(result);
    }
}

static const ipt_plan_desc cut[] = {{.rows = 700, .cols = 450, .elem_size = 4, .max_device_memory = 400000},
                                    {.rows = 450, .cols = 701, .elem_size = 4, .max_device_memory = 200000},
                                    {.rows = 100, .cols = 70, .elem_size = 8, .batch = 20, .max_device_memory = 300000},
                                    {.rows = 640, .cols = 450, .elem_size = 4, .host = IPT_HOST_OVERLAPPED},
                                    {.rows = 640, .cols = 450, .elem_size = 4}};

typedef enum memory_kind { PAGEABLE, OF_IPT, PINNED, REGISTERED, MEMORY_KINDS } memory_kind;

static unsigned char *host_take(ipt_context *of, memory_kind kind, size_t bytes)
{
    void *memory = NULL;
    if (kind == OF_IPT)
        assert_int_equal(ipt_host_alloc(of, bytes, &memory), IPT_SUCCESS);
    else if (kind == PINNED)
        done(ipt__cu.cuMemHostAlloc(&memory, bytes, IPT__CU_MAPPED));
    else
        assert_int_equal(posix_memalign(&memory, 4096, bytes), 0);
    if (kind == REGISTERED)
        done(ipt__cu.cuMemHostRegister(memory, bytes, IPT__CU_MAPPED));
    return (unsigned char *)memory;
}

static void host_return(ipt_context *of, memory_kind kind, void *memory)
{
    if (kind == REGISTERED)
        done(ipt__cu.cuMemHostUnregister(memory));
    if (kind == OF_IPT)
        ipt_host_free(of, memory);
    else if (kind == PINNED)
        done(ipt__cu.cuMemFreeHost(memory));
    else
        free(memory);
}

/* Host matrices larger than the device's limit, in memory of each kind. ipt sees which memory is pinned, by whomever.
 */
static void cuda_larger(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cut / sizeof *cut; ++i)
        for (int kind = 0; kind < MEMORY_KINDS; ++kind) {
            const size_t bytes = elements_of(&cut[i]) * cut[i].elem_size * (cut[i].batch ? cut[i].batch : 1);
            unsigned char *const source = (unsigned char *)malloc(bytes), *const data = host_take(
                                                                              context, (memory_kind)kind, bytes);
            ipt_plan *plan;
            fill(source, bytes);
            assert_int_equal(ipt__host_is_pinned(context, (char *)data, bytes), kind != PAGEABLE);
            assert_int_equal(ipt__host_is_pinned(context, (char *)data, bytes + 8192), 0);
            if (ipt_plan_create(context, &cut[i], &plan))
                fail_msg("matrix %zu: %s", i, ipt_context_error(context));
            for (int time = 0; time < 2; ++time) {
                memcpy(data, source, bytes);
                if (ipt_plan_execute_host(plan, data))
                    fail_msg("matrix %zu: %s", i, ipt_context_error(context));
                assert_int_equal(wrong_at(&cut[i], data, source), 0);
            }
            ipt_plan_destroy(plan);
            host_return(context, (memory_kind)kind, data);
            free(source);
        }
}

/* The objects of CUDA without those that the context keeps: events for later commands and of the last cooperative
 * launch, and programs. */
static long objects_alive(void)
{
    const ipt__program *program;
    long programs = 0;
    stand_in_alive(); /* waits for all commands */
    if (context->cooperative_last)
        ipt__calls(context)->clReleaseEvent(context->cooperative_last);
    context->cooperative_last = NULL;
    ipt__cuda_free_events((ipt__cuda_context *)(void *)context->context);
    for (program = context->programs; program; program = program->next)
        programs += program->program != NULL;
    return stand_in_alive() - programs;
}

/* Every call of a first execution on host memory fails once. The memory is unchanged, transposed, or undefined as the
 * result says; the next execution succeeds; nothing is left. */
static void cuda_host_failures(void **state)
{
    size_t failures = 0;
    (void)state;
    if (!stand_in_fail)
        skip();
    for (size_t i = 0; i < sizeof cut / sizeof *cut; ++i)
        for (int kind = 0; kind < PINNED; ++kind) {
            const size_t bytes = elements_of(&cut[i]) * cut[i].elem_size * (cut[i].batch ? cut[i].batch : 1);
            unsigned char *const source = (unsigned char *)malloc(bytes), *const data = host_take(
                                                                              context, (memory_kind)kind, bytes);
            ipt_plan *keeps; /* the programs */
            bool reached = true;
            fill(source, bytes);
            assert_int_equal(ipt_plan_create(context, &cut[i], &keeps), IPT_SUCCESS);
            for (long call = 1; reached; call += 1 + call / 10) {
                const long before = objects_alive();
                long left;
                ipt_result result;
                ipt_plan *plan;
                assert_int_equal(ipt_plan_create(context, &cut[i], &plan), IPT_SUCCESS);
                memcpy(data, source, bytes);
                stand_in_fail(call);
                result = ipt_plan_execute_host(plan, data);
                reached = stand_in_calls() >= call;
                stand_in_fail(0);
                failures += result != IPT_SUCCESS;
                if (result && !ipt_context_error(context)[0])
                    fail_msg("failed call %ld: no word", call);
                if (!result && wrong_at(&cut[i], data, source))
                    fail_msg("matrix %zu, failed call %ld: success, and wrong elements", i, call);
                if (result && result != IPT_ERROR_INCOMPLETE && memcmp(data, source, bytes))
                    fail_msg("matrix %zu, failed call %ld: %s, and changed data", i, call, ipt_context_error(context));
                memcpy(data, source, bytes);
                if (ipt_plan_execute_host(plan, data) || wrong_at(&cut[i], data, source))
                    fail_msg("matrix %zu, after failed call %ld: %s", i, call, ipt_context_error(context));
                ipt_plan_destroy(plan);
                left = objects_alive() - before;
                if (left > 0)
                    fail_msg("matrix %zu, failed call %ld leaves %ld objects", i, call, left);
            }
            ipt_plan_destroy(keeps);
            host_return(context, (memory_kind)kind, data);
            free(source);
        }
    printf("%zu failures of executions on host memory\n", failures);
    assert_true(failures > 20);
}

/* A call fails while the stream is busy: if the execution succeeds nevertheless, later executions wait for it. */
static void cuda_unrecorded(void **state)
{
    enum { ROWS = 123, COLS = 77, BYTES = ROWS * COLS * 4, BUSY = 1 << 24 };
    const ipt_plan_desc desc = {.rows = ROWS, .cols = COLS, .elem_size = 4};
    const ipt__cu_stream stream = make_stream();
    ipt__cu_address memory, busy;
    unsigned char *const source = (unsigned char *)malloc(BYTES);
    ipt_plan *plan;
    size_t survived = 0;
    (void)state;
    if (!stand_in_fail)
        skip();
    fill(source, BYTES);
    done(ipt__cu.cuMemAlloc(&memory, BYTES));
    done(ipt__cu.cuMemAlloc(&busy, 2 * BUSY));
    assert_int_equal(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS);
    for (long turn = 0; turn < 30; ++turn) { /* the next turn finds the event that this one leaves */
        const long call = 1 + turn / 3;
        ipt_result result;
        bool reached;
        done(ipt__cu.cuMemcpyHtoDAsync(memory, source, BYTES, stream));
        for (int i = 0; i < 10; ++i)
            done(ipt__cu.cuMemcpyDtoDAsync(busy + BUSY, busy, BUSY, stream));
        stand_in_fail(call);
        result = ipt_plan_execute_cuda(plan, memory, stream);
        reached = stand_in_calls() >= call;
        stand_in_fail(0);
        if (reached && !result && !plan->workspace->last)
            fail_msg("failed call %ld: the workspace has no last execution", call);
        if (reached && !result && !((ipt__cuda_event *)(void *)plan->workspace->last)->recorded) {
            ++survived; /* the stand-in's memory is the host's */
            if (wrong_at(&desc, (unsigned char *)(size_t)memory, source))
                fail_msg("failed call %ld: nobody can wait for the execution", call);
        }
        done(ipt__cu.cuStreamSynchronize(stream));
    }
    assert_true(survived);
    ipt_plan_destroy(plan);
    done(ipt__cu.cuMemFree(memory));
    done(ipt__cu.cuMemFree(busy));
    free(source);
    wait_and_destroy(stream);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(cuda_places),
                                       cmocka_unit_test(cuda_out_of_place),
                                       cmocka_unit_test(cuda_host),
                                       cmocka_unit_test(cuda_streams),
                                       cmocka_unit_test(cuda_threads),
                                       cmocka_unit_test(cuda_graphs),
                                       cmocka_unit_test(cuda_captures_beside_others),
                                       cmocka_unit_test(cuda_stress),
                                       cmocka_unit_test(cuda_batches),
                                       cmocka_unit_test(cuda_released_behind_an_event),
                                       cmocka_unit_test(cuda_storage),
                                       cmocka_unit_test(cuda_larger),
                                       cmocka_unit_test(cuda_host_failures),
                                       cmocka_unit_test(cuda_unrecorded),
                                       cmocka_unit_test(cuda_refusals),
                                       cmocka_unit_test(cuda_named_otherwise),
                                       cmocka_unit_test(cuda_failures)};
    cases = count > 1 ? (size_t)strtoull(arguments[1], NULL, 10) : cases;
    seed = count > 2 ? (size_t)strtoull(arguments[2], NULL, 10) : seed;
    if (count > 3)
        cmocka_set_test_filter(arguments[3]);
    executions = count > 4 ? (size_t)strtoull(arguments[4], NULL, 10) : executions;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
