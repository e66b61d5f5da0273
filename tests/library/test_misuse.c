/* Misuse, on the OpenCL stub (fake_cl.c): invalid arguments to every public function, executions after a failed create,
 * and all sequences of destruction, also during an execution. Each call returns the result in the manual, with a
 * message that names the argument. Nothing is enqueued, and no OpenCL object or memory leaks. The stub ends the program
 * if a call uses a released object. */
#include "fake_world.h"
#include "meter.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HUGE_SIZE (~(size_t)0)
#define ROOT_SIZE ((size_t)1 << 4 * sizeof(size_t)) /* the square of this size overflows */
#define SPAN ((size_t)90 * 23 * 4)

static char somewhere; /* a pointer that a failing call must set to NULL points here before */
#define POISON ((void *)&somewhere)

/* ------------------------------------------------------------------------------------------------------------------ */

static meter counted = METER;

static ipt_context *make_context(cl_context cl, fake_device device)
{
    ipt_context *context = NULL;
    ipt_context_desc desc = {0};
    desc.context = cl;
    desc.device = fake_device_id(device);
    desc.cache_dir = "";
    desc.allocator = meter_allocator(&counted);
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    return context;
}

static ipt_plan *make_plan(ipt_context *context, const ipt_plan_desc *desc)
{
    ipt_plan *plan = NULL;
    if (ipt_plan_create(context, desc, &plan))
        fail_msg("%s", ipt_context_error(NULL));
    return plan;
}

static const ipt_plan_desc shape = {.rows = 90, .cols = 23, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS};

/* The objects that most of these tests need: two OpenCL contexts, and a plan for the first. */
typedef struct world {
    long objects, memory;
    cl_context cl, other_cl;
    ipt_context *context, *other;
    ipt_plan *plan;
    cl_command_queue queue, other_queue, gpu_queue;
    cl_mem buffer, second, short_by_one, read_only, write_only, foreign;
    cl_event event, failed, unborn, foreign_event;
    unsigned char data[90 * 23 * 4];
} world;

static cl_event make_event(cl_context cl, cl_int status)
{
    cl_int error;
    const cl_event event = fake_clCreateUserEvent(cl, &error);
    if (status <= CL_COMPLETE)
        fake_clSetUserEventStatus(event, status);
    return event;
}

static void open_world(world *w)
{
    memset(w, 0, sizeof *w);
    w->objects = fake_living();
    w->memory = counted.living;
    w->cl = fake_make_cl(FAKE_CPU);
    w->other_cl = fake_make_cl(FAKE_CPU);
    w->context = make_context(w->cl, FAKE_CPU);
    w->other = make_context(w->other_cl, FAKE_CPU);
    w->plan = make_plan(w->context, &shape);
    w->queue = fake_make_queue(w->cl, FAKE_CPU, 0);
    w->other_queue = fake_make_queue(w->other_cl, FAKE_CPU, 0);
    w->gpu_queue = fake_make_queue(w->cl, FAKE_GPU, 0);
    w->buffer = fake_make_buffer(w->cl, CL_MEM_READ_WRITE, SPAN);
    w->second = fake_make_buffer(w->cl, CL_MEM_READ_WRITE, 2 * SPAN);
    w->short_by_one = fake_make_buffer(w->cl, CL_MEM_READ_WRITE, SPAN - 1);
    w->read_only = fake_make_buffer(w->cl, CL_MEM_READ_ONLY, SPAN);
    w->write_only = fake_make_buffer(w->cl, CL_MEM_WRITE_ONLY, SPAN);
    w->foreign = fake_make_buffer(w->other_cl, CL_MEM_READ_WRITE, SPAN);
    w->event = make_event(w->cl, CL_COMPLETE);
    w->failed = make_event(w->cl, -77);
    w->foreign_event = make_event(w->other_cl, CL_COMPLETE);
}

static void expect_nothing_left(long objects, long memory)
{
    assert_int_equal(fake_living(), objects);
    assert_int_equal(counted.living, memory);
}

static void close_world(world *w)
{
    const cl_mem buffers[] = {w->buffer, w->second, w->short_by_one, w->read_only, w->write_only, w->foreign};
    const cl_command_queue queues[] = {w->queue, w->other_queue, w->gpu_queue};
    const cl_event events[] = {w->event, w->failed, w->foreign_event};
    size_t i;
    for (i = 0; i < TEST_COUNT(buffers); ++i)
        fake_clReleaseMemObject(buffers[i]);
    for (i = 0; i < TEST_COUNT(queues); ++i)
        fake_clReleaseCommandQueue(queues[i]);
    for (i = 0; i < TEST_COUNT(events); ++i)
        fake_clReleaseEvent(events[i]);
    ipt_plan_destroy(w->plan);
    ipt_context_destroy(w->context);
    ipt_context_destroy(w->other);
    fake_clReleaseContext(w->cl);
    fake_clReleaseContext(w->other_cl);
    expect_nothing_left(w->objects, w->memory);
}

/* Checks the result, and that the new message contains the name and, unless it is NULL, the value. */
#define EXPECT(call, result, name, value)                                                                              \
    do {                                                                                                               \
        test_expect_error(call, result, name, value);                                                                  \
        ipt__fail(IPT_SUCCESS, "nothing");                                                                             \
    } while (0)
#define REFUSED(call, name, value) EXPECT(call, IPT_ERROR_INVALID_ARGUMENT, name, value)

/* ------------------------------------------------------------------------------------------------------------------ */
/* NULL, and invalid values */
/* ------------------------------------------------------------------------------------------------------------------ */

static void misuse_null_is_fine(void **state)
{
    size_t rows = 7, cols = 7;
    const char *options = "before";
    world w;
    (void)state;
    open_world(&w);
    ipt_plan_destroy(NULL);
    ipt_context_destroy(NULL);
    ipt_context_trim(NULL);
    ipt_host_free(NULL, NULL);
    ipt_host_free(w.context, NULL);
    ipt_host_free(NULL, w.data);
    ipt_host_free(w.context, w.data); /* not from ipt_host_alloc */
    assert_string_equal(ipt_plan_describe(NULL), "");
    assert_null(ipt_plan_source(NULL, 0));
    assert_int_equal(ipt_plan_workspace(NULL), 0);
    assert_int_equal(ipt_plan_storage_memory(NULL), 0);
    assert_int_equal(ipt_plan_storage_memory(w.plan), 0);
    ipt_plan_padding(NULL, &rows, &cols);
    assert_true(!rows && !cols);
    ipt_plan_padding(NULL, NULL, NULL);
    ipt_plan_padding(w.plan, NULL, NULL);
    assert_null(ipt_context_cl_context(NULL));
    assert_null(ipt_context_cl_device(NULL));
    assert_int_equal(ipt_context_entry_count(NULL), 0);
    assert_null(ipt_context_entry_source(NULL, 0, &options));
    assert_null(options);
    assert_null(ipt_context_entry_source(w.context, HUGE_SIZE, NULL));
    assert_null(ipt_plan_source(w.plan, HUGE_SIZE));
    assert_non_null(ipt_context_error(NULL));
    assert_ptr_equal(ipt_context_error(NULL), ipt_context_error(w.context));
    close_world(&w);
}

static void misuse_names(void **state)
{
    const unsigned wrong[] = {1000, 0x7fffffff, (unsigned)-1};
    size_t i;
    (void)state;
    for (i = 0; i < TEST_COUNT(wrong); ++i) {
        assert_true(strlen(ipt_result_string((ipt_result)wrong[i])) > 0);
        assert_string_equal(ipt_sequence_string((ipt_sequence)wrong[i]), "unknown");
        assert_string_equal(ipt_variant_string((ipt_variant)wrong[i]), "unknown");
        assert_string_equal(ipt_format_string((ipt_format)wrong[i]), "unknown");
        assert_string_equal(ipt_move_string((ipt_move)wrong[i]), "unknown");
        assert_string_equal(ipt_host_string((ipt_host)wrong[i]), "unknown");
        assert_string_equal(ipt_heuristic_string((ipt_heuristic)wrong[i]), "unknown");
    }
}

static void misuse_context(void **state)
{
    char text[4000];
    size_t bytes;
    void *memory = POISON;
    world w;
    (void)state;
    open_world(&w);
    REFUSED(ipt_context_create(NULL, NULL), "context", "NULL");
    REFUSED(ipt_host_alloc(NULL, 10, &memory), "context", "NULL");
    REFUSED(ipt_host_alloc(w.context, 10, NULL), "memory", "NULL");
    memory = POISON;
    REFUSED(ipt_host_alloc(w.context, 0, &memory), "bytes", "0");
    assert_null(memory);
    memory = POISON;
    EXPECT(ipt_host_alloc(w.context, HUGE_SIZE / 4 * 3, &memory), IPT_ERROR_OUT_OF_MEMORY, "bytes", NULL);
    assert_null(memory);
    REFUSED(ipt_context_profile(NULL, text, sizeof text, &bytes), "context", "NULL");
    REFUSED(ipt_context_profile(w.context, NULL, 10, &bytes), "text", "NULL");
    REFUSED(ipt_context_profile(w.context, text, 1, &bytes), "capacity", "1");
    assert_int_equal(ipt_context_profile(w.context, text, bytes, NULL), IPT_SUCCESS);
    REFUSED(ipt_context_profile(w.context, text, bytes - 1, NULL), "capacity", test_number(bytes - 1));
    REFUSED(ipt_wisdom_export(NULL, text, sizeof text, &bytes), "context", "NULL");
    REFUSED(ipt_wisdom_export(w.context, NULL, 10, &bytes), "text", "NULL");
    REFUSED(ipt_wisdom_export(w.context, NULL, 0, &bytes), "capacity", "0");
    assert_int_equal(ipt_wisdom_export(w.context, text, bytes, NULL), IPT_SUCCESS);
    REFUSED(ipt_wisdom_export(w.context, text, bytes - 1, NULL), "capacity", test_number(bytes - 1));
    REFUSED(ipt_wisdom_import(NULL, text), "context", "NULL");
    REFUSED(ipt_wisdom_import(w.context, NULL), "text", "NULL");
    REFUSED(ipt_wisdom_import(w.context, ""), "line", "1");
    REFUSED(ipt_wisdom_export_file(NULL, "/nowhere/at/all"), "context", "NULL");
    REFUSED(ipt_wisdom_export_file(w.context, NULL), "path", "NULL");
    REFUSED(ipt_wisdom_export_file(w.context, "/nowhere/at/all"), "nowhere", NULL);
    REFUSED(ipt_wisdom_import_file(NULL, "/nowhere/at/all"), "context", "NULL");
    REFUSED(ipt_wisdom_import_file(w.context, NULL), "path", "NULL");
    REFUSED(ipt_wisdom_import_file(w.context, "/nowhere/at/all"), "nowhere", NULL);
    close_world(&w);
}

static void misuse_entries(void **state)
{
    unsigned char entry[64];
    size_t bytes = 7;
    world w;
    (void)state;
    open_world(&w);
    const size_t count = ipt_context_entry_count(w.context);
    REFUSED(ipt_context_entry(NULL, 0, NULL, NULL, 0, entry, sizeof entry, &bytes), "context", "NULL");
    REFUSED(ipt_context_entry(w.context, 0, NULL, NULL, 0, entry, sizeof entry, NULL), "bytes", "NULL");
    REFUSED(ipt_context_entry(w.context, count, NULL, NULL, 0, entry, sizeof entry, &bytes), "index",
            test_number(count));
    assert_int_equal(bytes, 0);
    REFUSED(ipt_context_entry(w.context, HUGE_SIZE, NULL, NULL, 0, NULL, 0, &bytes), "index", test_number(HUGE_SIZE));
    REFUSED(ipt_context_entry(w.context, 0, NULL, entry, 4, NULL, 0, &bytes), "target", "NULL");
    REFUSED(ipt_context_entry(w.context, 0, "spirv", NULL, 4, NULL, 0, &bytes), "code", "NULL");
    REFUSED(ipt_context_entry(w.context, 0, "spirv", entry, 0, NULL, 0, &bytes), "code_bytes", "0");
    REFUSED(ipt_context_entry(w.context, 0, "nothing", entry, 4, NULL, 0, &bytes), "target", "nothing");
    REFUSED(ipt_context_entry(w.context, 0, NULL, NULL, 0, entry, 3, &bytes), "capacity", "3");
    assert_true(bytes > 3);
    REFUSED(ipt_cache_store(NULL, entry, sizeof entry), "folder", "NULL");
    REFUSED(ipt_cache_store("/tmp", NULL, 10), "entry", "NULL");
    memset(entry, 0, sizeof entry);
    REFUSED(ipt_cache_store("/tmp", entry, 0), "entry", NULL);
    REFUSED(ipt_cache_store("/tmp", entry, sizeof entry), "entry", NULL);
    close_world(&w);
}

static void misuse_devices(void **state)
{
    cl_device_id device;
    size_t count = 7;
    char text[600];
    (void)state;
    REFUSED(ipt_device_list(&device, 1, NULL), "count", "NULL");
    REFUSED(ipt_device_list(NULL, 1, &count), "devices", "NULL");
    assert_int_equal(ipt_device_list(NULL, 0, &count), IPT_SUCCESS);
    assert_int_equal(count, FAKE_DEVICE_COUNT);
    REFUSED(ipt_device_describe(NULL, text, sizeof text), "device", "NULL");
    REFUSED(ipt_device_describe(fake_device_id(FAKE_CPU), NULL, 1), "text", "NULL");
    REFUSED(ipt_device_describe(fake_device_id(FAKE_CPU), text, 0), "capacity", "0");
    assert_int_equal(ipt_device_describe(fake_device_id(FAKE_CPU), text, 5), IPT_SUCCESS); /* it is cut */
    assert_int_equal(strlen(text), 4);
}

/* The functions of the heuristics return IPT_ERROR_INVALID_ARGUMENT or 0. */
static void misuse_heuristics(void **state)
{
    const ipt_heuristic_device good = {48 << 10, 1024, 32, 0, 0}, none = {0, 0, 0, 0, 0};
    const ipt_heuristic first = IPT_HEURISTIC_ALGORITHM_1;
    const double speeds[] = {3, 0, 5};
    size_t m = 7, n = 7, r = 7, c = 7;
    (void)state;
    REFUSED(ipt_heuristic_tiles(first, NULL, 9, 9, 4, &m, &n, &r, &c), "device", "NULL");
    assert_true(!m && !n && !r && !c);
    REFUSED(ipt_heuristic_tiles(first, &good, 0, 9, 4, &m, &n, &r, &c), "rows", "0");
    REFUSED(ipt_heuristic_tiles(first, &good, 9, 0, 4, &m, &n, &r, &c), "cols", "0");
    REFUSED(ipt_heuristic_tiles(first, &good, 9, 9, 0, &m, &n, &r, &c), "elem_size", "0");
    REFUSED(ipt_heuristic_tiles(first, &good, 9, 9, 4, NULL, &n, &r, &c), "tile_m", "NULL");
    REFUSED(ipt_heuristic_tiles(first, &good, 9, 9, 4, &m, NULL, &r, &c), "tile_n", "NULL");
    REFUSED(ipt_heuristic_tiles(first, &good, 9, 9, 4, &m, &n, NULL, &c), "pad_rows", "NULL");
    REFUSED(ipt_heuristic_tiles(first, &good, 9, 9, 4, &m, &n, &r, NULL), "pad_cols", "NULL");
    REFUSED(ipt_heuristic_tiles((ipt_heuristic)99, &good, 9, 9, 4, &m, &n, &r, &c), "heuristic", "99");
    assert_int_equal(ipt_heuristic_sequence(NULL, 9, 9, 4, 3, 3), IPT_SEQUENCE_AUTO);
    assert_int_equal(ipt_heuristic_sequence(&good, 0, 9, 4, 3, 3), IPT_SEQUENCE_AUTO);
    assert_int_equal(ipt_heuristic_sequence(&good, 9, 9, 4, 0, 3), IPT_SEQUENCE_AUTO);
    assert_true(ipt_heuristic_throughput(NULL, 0) == 0 && ipt_heuristic_throughput(NULL, 3) == 0);
    assert_true(ipt_heuristic_throughput(speeds, 3) == 0);
    assert_int_equal(ipt_heuristic_group_size(NULL, 4), 0);
    assert_int_equal(ipt_heuristic_group_size(&good, 0), 0);
    assert_int_equal(ipt_heuristic_group_size(&none, 4), 0);
    assert_true(ipt_heuristic_occupancy(NULL, 1, 1) == 0 && ipt_heuristic_occupancy(&good, 0, 1) == 0);
    assert_true(ipt_heuristic_occupancy(&none, 1, 1) == 0 && ipt_heuristic_occupancy(&good, 1, HUGE_SIZE) == 0);
    assert_int_equal(ipt_heuristic_smallest_group(NULL, 1, 1, 0.5), 0);
    assert_int_equal(ipt_heuristic_smallest_group(&none, 1, 1, 0.5), 0);
    assert_int_equal(ipt_heuristic_smallest_group(&good, HUGE_SIZE, HUGE_SIZE, 0.5), 0);
    ipt_heuristic_group_shape(0, 4, &m, &n);
    assert_true(!m && !n);
    ipt_heuristic_group_shape(64, 0, &m, &n);
    assert_true(!m && !n);
    assert_int_equal(ipt_heuristic_divisors(0, NULL, 0), 0);
    assert_int_equal(ipt_heuristic_divisors(12, NULL, 0), 6);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Plans                                                                                                              */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Creating the plan fails, no workspace remains, and executing the NULL plan is refused. */
static void expect_no_plan(world *w, const ipt_plan_desc *desc, const char *name, const char *value)
{
    const long objects = fake_living(), memory = counted.living;
    ipt_context *const contexts[] = {w->context};
    ipt_plan *plan = POISON;
    cl_event event = POISON;
    REFUSED(ipt_plan_create(w->context, desc, &plan), name, value);
    assert_null(plan);
    plan = POISON;
    REFUSED(ipt_plan_create_split(contexts, 1, desc, &plan), name, value);
    assert_null(plan);
    REFUSED(ipt_plan_execute(plan, w->queue, w->buffer, 0, 0, NULL, &event), "plan", "NULL");
    assert_null(event);
    REFUSED(ipt_plan_execute_host(plan, w->data), "plan", "NULL");
    assert_string_equal(ipt_plan_describe(plan), "");
    ipt_plan_destroy(plan);
    expect_nothing_left(objects, memory);
}

static void misuse_plan_sizes(void **state)
{
    static const struct {
        const char *name, *value;
        ipt_plan_desc desc;
    } wrong[] = {
        {"rows", "0", {.rows = 0, .cols = 20, .elem_size = 4}},
        {"cols", "0", {.rows = 30, .cols = 0, .elem_size = 4}},
        {"elem_size", "0", {.rows = 30, .cols = 20, .elem_size = 0}},
        {"cols", NULL, {.rows = HUGE_SIZE, .cols = 2, .elem_size = 1}},
        {"cols", NULL, {.rows = ROOT_SIZE, .cols = ROOT_SIZE, .elem_size = 1}},
        {"elem_size", NULL, {.rows = ROOT_SIZE / 2, .cols = ROOT_SIZE / 2, .elem_size = 4}},
        {"elem_size", NULL, {.rows = 2, .cols = 2, .elem_size = HUGE_SIZE}},
        {"batch", NULL, {.rows = 2, .cols = 2, .elem_size = 1, .batch = HUGE_SIZE}},
        {"batch_stride", "3", {.rows = 2, .cols = 2, .elem_size = 1, .batch = 2, .batch_stride = 3}},
        {"batch_stride", "6", {.rows = 1, .cols = 1, .elem_size = 4, .batch = 2, .batch_stride = 6}},
        {"batch_stride", NULL, {.rows = 2, .cols = 2, .elem_size = 1, .batch = 3, .batch_stride = HUGE_SIZE - 3}},
    };
    size_t i;
    world w;
    (void)state;
    open_world(&w);
    for (i = 0; i < TEST_COUNT(wrong); ++i)
        expect_no_plan(&w, &wrong[i].desc, wrong[i].name, wrong[i].value);
    close_world(&w);
}

/* Invalid flags, one by one, and invalid enumerators. */
static void misuse_plan_choices(void **state)
{
    const unsigned known = IPT_MEASURE | IPT_CACHE_ONLY | IPT_NO_COOPERATIVE | IPT_PAD | IPT_OUT_OF_PLACE;
    const ipt_plan_desc good = {.rows = 60, .cols = 20, .elem_size = 4};
    const unsigned bad = 99;
    ipt_plan_desc desc;
    unsigned bit;
    world w;
    (void)state;
    open_world(&w);
    for (bit = 1; bit; bit <<= 1) {
        desc = good;
        desc.flags = bit;
        if (!(bit & known))
            expect_no_plan(&w, &desc, "flags", NULL);
        desc.flags = bit | IPT_NO_COOPERATIVE;
        if (!(bit & known))
            expect_no_plan(&w, &desc, "flags", NULL);
    }
    desc = good;
    desc.sequence = (ipt_sequence)bad;
    expect_no_plan(&w, &desc, "sequence", "99");
    desc = good;
    desc.variant_010 = (ipt_variant)bad;
    expect_no_plan(&w, &desc, "variant_010", "99");
    desc = good;
    desc.variant_100 = (ipt_variant)bad;
    expect_no_plan(&w, &desc, "variant_100", "99");
    desc = good;
    desc.variant_pad = (ipt_variant)bad;
    expect_no_plan(&w, &desc, "variant_pad", "99");
    desc = good;
    desc.from = (ipt_format)bad;
    expect_no_plan(&w, &desc, "from", "99");
    desc = good;
    desc.to = (ipt_format)bad;
    expect_no_plan(&w, &desc, "to", "99");
    desc = good;
    desc.move = (ipt_move)bad;
    expect_no_plan(&w, &desc, "move", "99");
    desc = good;
    desc.host = (ipt_host)bad;
    expect_no_plan(&w, &desc, "host", "99");
    desc = good;
    desc.host_queues = 65;
    expect_no_plan(&w, &desc, "host_queues", "65");
    desc = good;
    desc.flag_spread = 3;
    expect_no_plan(&w, &desc, "flag_spread", "3");
    desc = good;
    desc.expression = "x";
    expect_no_plan(&w, &desc, "expression_type", "NULL");
    close_world(&w);
}

static void misuse_plan_arguments(void **state)
{
    ipt_plan *plan = POISON;
    world w;
    (void)state;
    open_world(&w);
    ipt_context *const contexts[] = {w.context, NULL}, *const apart[] = {w.context, w.other};
    REFUSED(ipt_plan_create(w.context, &shape, NULL), "plan", "NULL");
    REFUSED(ipt_plan_create(NULL, &shape, &plan), "context", "NULL");
    assert_null(plan);
    plan = POISON;
    REFUSED(ipt_plan_create(w.context, NULL, &plan), "desc", "NULL");
    assert_null(plan);
    REFUSED(ipt_plan_create_split(contexts, 1, &shape, NULL), "plan", "NULL");
    plan = POISON;
    REFUSED(ipt_plan_create_split(NULL, 1, &shape, &plan), "contexts", "NULL");
    assert_null(plan);
    REFUSED(ipt_plan_create_split(contexts, 1, NULL, &plan), "desc", "NULL");
    REFUSED(ipt_plan_create_split(contexts, 0, &shape, &plan), "count", "0");
    REFUSED(ipt_plan_create_split(contexts, 2, &shape, &plan), "contexts", "NULL");
    REFUSED(ipt_plan_create_split(apart, 2, &shape, &plan), "contexts", NULL);
    assert_null(plan);
    close_world(&w);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Executions                                                                                                         */
/* ------------------------------------------------------------------------------------------------------------------ */

static void misuse_execute(void **state)
{
    world w;
    size_t i;
    (void)state;
    open_world(&w);
    const cl_event mixed[] = {w.event, NULL}, foreign[] = {w.event, w.foreign_event};
    char description[2048];
    const struct {
        ipt_plan *plan;
        cl_command_queue queue;
        cl_mem buffer;
        size_t offset;
        cl_uint count;
        const cl_event *events;
        const char *name, *value;
    } wrong[] = {
        {NULL, w.queue, w.buffer, 0, 0, NULL, "plan", "NULL"},
        {w.plan, NULL, w.buffer, 0, 0, NULL, "queue", "NULL"},
        {w.plan, w.other_queue, w.buffer, 0, 0, NULL, "queue", NULL},
        {w.plan, w.gpu_queue, w.buffer, 0, 0, NULL, "queue", NULL},
        {w.plan, w.queue, NULL, 0, 0, NULL, "buffer", "NULL"},
        {w.plan, w.queue, w.foreign, 0, 0, NULL, "buffer", NULL},
        {w.plan, w.queue, w.read_only, 0, 0, NULL, "buffer", "CL_MEM_READ_ONLY"},
        {w.plan, w.queue, w.write_only, 0, 0, NULL, "buffer", "CL_MEM_WRITE_ONLY"},
        {w.plan, w.queue, w.short_by_one, 0, 0, NULL, "buffer", test_number(SPAN - 1)},
        {w.plan, w.queue, w.second, 2, 0, NULL, "byte_offset", "2"},
        {w.plan, w.queue, w.second, SPAN + 4, 0, NULL, "byte_offset", test_number(SPAN + 4)},
        {w.plan, w.queue, w.second, 2 * SPAN, 0, NULL, "byte_offset", test_number(2 * SPAN)},
        {w.plan, w.queue, w.second, HUGE_SIZE - 3, 0, NULL, "byte_offset", test_number(HUGE_SIZE - 3)},
        {w.plan, w.queue, w.buffer, 0, 1, NULL, "wait_events", "NULL"},
        {w.plan, w.queue, w.buffer, 0, HUGE_SIZE & 0xffffffff, NULL, "wait_events", "NULL"},
        {w.plan, w.queue, w.buffer, 0, 0, mixed, "num_wait_events", "0"},
        {w.plan, w.queue, w.buffer, 0, 2, mixed, "wait_events", "NULL"},
        {w.plan, w.queue, w.buffer, 0, 2, foreign, "wait_events", NULL},
        {w.plan, w.queue, w.buffer, 0, 1, &w.failed, "wait_events", "77"},
    };
    snprintf(description, sizeof description, "%s", ipt_plan_describe(w.plan));
    for (i = 0; i < TEST_COUNT(wrong); ++i) {
        cl_event event = POISON;
        ipt_result result = ipt_plan_execute(wrong[i].plan, wrong[i].queue, wrong[i].buffer, wrong[i].offset,
                                             wrong[i].count, wrong[i].events, &event);
        REFUSED(result, wrong[i].name, wrong[i].value);
        assert_null(event);
        result = ipt_plan_execute(wrong[i].plan, wrong[i].queue, wrong[i].buffer, wrong[i].offset, wrong[i].count,
                                  wrong[i].events, NULL);
        REFUSED(result, wrong[i].name, wrong[i].value);
        assert_string_equal(ipt_plan_describe(w.plan), description);
    }
    assert_true(!fake_writes(w.buffer) && !fake_writes(w.second) && !fake_writes(w.short_by_one));
    assert_true(!fake_writes(w.foreign) && !fake_writes(w.read_only) && !fake_writes(w.write_only));
    assert_int_equal(ipt_plan_execute(w.plan, w.queue, w.second, SPAN, 1, &w.event, NULL), IPT_SUCCESS);
    assert_true(fake_writes(w.second) > 0);
    close_world(&w);
}

static void misuse_out_of_place(void **state)
{
    world w;
    size_t i;
    (void)state;
    open_world(&w);
    const struct {
        ipt_plan *plan;
        cl_command_queue queue;
        cl_mem source;
        size_t source_offset;
        cl_mem destination;
        size_t destination_offset;
        const char *name, *value;
    } wrong[] = {
        {NULL, w.queue, w.buffer, 0, w.second, 0, "plan", "NULL"},
        {w.plan, NULL, w.buffer, 0, w.second, 0, "queue", "NULL"},
        {w.plan, w.other_queue, w.buffer, 0, w.second, 0, "queue", NULL},
        {w.plan, w.queue, NULL, 0, w.second, 0, "source", "NULL"},
        {w.plan, w.queue, w.buffer, 0, NULL, 0, "destination", "NULL"},
        {w.plan, w.queue, w.foreign, 0, w.second, 0, "source", NULL},
        {w.plan, w.queue, w.buffer, 0, w.foreign, 0, "destination", NULL},
        {w.plan, w.queue, w.write_only, 0, w.second, 0, "source", "CL_MEM_WRITE_ONLY"},
        {w.plan, w.queue, w.buffer, 0, w.read_only, 0, "destination", "CL_MEM_READ_ONLY"},
        {w.plan, w.queue, w.short_by_one, 0, w.second, 0, "source", test_number(SPAN - 1)},
        {w.plan, w.queue, w.buffer, 0, w.short_by_one, 0, "destination", test_number(SPAN - 1)},
        {w.plan, w.queue, w.buffer, 3, w.second, 0, "source_offset", "3"},
        {w.plan, w.queue, w.buffer, 0, w.second, SPAN + 4, "destination_offset", test_number(SPAN + 4)},
        {w.plan, w.queue, w.buffer, 0, w.second, HUGE_SIZE - 3, "destination_offset", test_number(HUGE_SIZE - 3)},
        {w.plan, w.queue, w.buffer, 0, w.buffer, 0, "destination", NULL},
        {w.plan, w.queue, w.second, 0, w.second, SPAN - 4, "destination", NULL},
    };
    for (i = 0; i < TEST_COUNT(wrong); ++i) {
        cl_event event = POISON;
        const ipt_result result =
            ipt_plan_execute_out_of_place(wrong[i].plan, wrong[i].queue, wrong[i].source, wrong[i].source_offset,
                                          wrong[i].destination, wrong[i].destination_offset, 0, NULL, &event);
        REFUSED(result, wrong[i].name, wrong[i].value);
        assert_null(event);
    }
    assert_true(!fake_writes(w.buffer) && !fake_writes(w.second) && !fake_writes(w.read_only));
    assert_int_equal(ipt_plan_execute_out_of_place(w.plan, w.queue, w.second, 0, w.second, SPAN, 0, NULL, NULL),
                     IPT_SUCCESS);
    close_world(&w);
}

static void never_called(ipt_result result, void *user)
{
    (void)result;
    *(int *)user = 1;
}

static void misuse_host(void **state)
{
    int called = 0;
    const ipt_host_options options = {NULL, never_called, &called};
    cl_event event = POISON;
    world w;
    (void)state;
    open_world(&w);
    char *before = test_choose_device(NULL); /* the OpenCL stub need not have the chosen device */
    memset(w.data, 9, sizeof w.data);
    REFUSED(ipt_plan_execute_host(NULL, w.data), "plan", "NULL");
    REFUSED(ipt_plan_execute_host(w.plan, NULL), "data", "NULL");
    REFUSED(ipt_plan_execute_host_with(NULL, w.data, &options), "plan", "NULL");
    REFUSED(ipt_plan_execute_host_with(w.plan, NULL, &options), "data", "NULL");
    REFUSED(ipt_plan_execute_host_async(NULL, w.data, &options, &event), "plan", "NULL");
    assert_null(event);
    event = POISON;
    REFUSED(ipt_plan_execute_host_async(w.plan, NULL, &options, &event), "data", "NULL");
    assert_null(event);
    REFUSED(ipt_plan_execute_host_async(w.plan, NULL, NULL, NULL), "data", "NULL");
    REFUSED(ipt_transpose(NULL, 3, 4, 1), "data", "NULL");
    REFUSED(ipt_transpose(w.data, 0, 4, 1), "rows", "0");
    REFUSED(ipt_transpose(w.data, 3, 0, 1), "cols", "0");
    REFUSED(ipt_transpose(w.data, 3, 4, 0), "elem_size", "0");
    REFUSED(ipt_transpose(w.data, HUGE_SIZE, 4, 1), "cols", NULL);
    assert_false(called);
    for (size_t i = 0; i < sizeof w.data; ++i)
        assert_int_equal(w.data[i], 9);
    assert_int_equal(ipt_plan_execute_host_with(w.plan, w.data, NULL), IPT_SUCCESS);
    test_choose_again(before);
    close_world(&w);
}

/* Plans for matrices of one kind (buffer, host memory, storage), executed on the other kinds. */
static void misuse_kinds(void **state)
{
    const ipt_plan_desc stored = {.rows = 530, .cols = 37, .elem_size = 4, .max_host_memory = 50000};
    const ipt_plan_desc cut = {.rows = 530, .cols = 37, .elem_size = 4, .max_device_memory = 40000};
    const ipt_plan_desc plain = {.rows = 90, .cols = 23, .elem_size = 4};
    world w;
    (void)state;
    open_world(&w);
    ipt_context *const contexts[] = {w.context, w.context};
    unsigned char *const data = calloc(530 * 37, 4);
    ipt_storage storage = {fake_store_read, fake_store_write, NULL, data, NULL, 0};
    ipt_plan *const storing = make_plan(w.context, &stored), *split = NULL;
    ipt_plan *const cutting = make_plan(w.context, &(ipt_plan_desc){.rows = cut.rows,
                                                                    .cols = cut.cols,
                                                                    .elem_size = 4,
                                                                    .max_device_memory = cut.max_device_memory,
                                                                    .host = IPT_HOST_OVERLAPPED});
    cl_event event = POISON;
    assert_non_null(data);
    assert_int_equal(ipt_plan_create_split(contexts, 2, &plain, &split), IPT_SUCCESS);
    REFUSED(ipt_plan_execute_storage(NULL, &storage), "plan", "NULL");
    REFUSED(ipt_plan_execute_storage(storing, NULL), "storage", "NULL");
    REFUSED(ipt_plan_execute_storage(w.plan, &storage), "max_host_memory", "0");
    storage.read = NULL;
    REFUSED(ipt_plan_execute_storage(storing, &storage), "read", "NULL");
    storage.read = fake_store_read;
    storage.write = NULL;
    REFUSED(ipt_plan_execute_storage(storing, &storage), "write", "NULL");
    storage.write = fake_store_write;
    storage.resume = 1;
    REFUSED(ipt_plan_execute_storage(storing, &storage), "memory", "NULL");
    storage.resume = 1000000;
    REFUSED(ipt_plan_execute_storage(storing, &storage), "resume", "1000000");
    storage.resume = 0;
    EXPECT(ipt_plan_execute(storing, w.queue, w.buffer, 0, 0, NULL, &event), IPT_ERROR_UNSUPPORTED, "storages", NULL);
    assert_null(event);
    EXPECT(ipt_plan_execute_host(storing, data), IPT_ERROR_UNSUPPORTED, "max_host_memory", "50000");
    EXPECT(ipt_plan_execute(cutting, w.queue, w.buffer, 0, 0, NULL, &event), IPT_ERROR_UNSUPPORTED, "host", NULL);
    EXPECT(ipt_plan_execute_out_of_place(cutting, w.queue, w.buffer, 0, w.second, 0, 0, NULL, &event),
           IPT_ERROR_UNSUPPORTED, "host", NULL);
    EXPECT(ipt_plan_execute(split, w.queue, w.buffer, 0, 0, NULL, &event), IPT_ERROR_UNSUPPORTED, "host", NULL);
    assert_null(event);
    assert_int_equal(ipt_plan_execute_storage(storing, &storage), IPT_SUCCESS);
    assert_int_equal(ipt_plan_execute_host(cutting, data), IPT_SUCCESS);
    assert_int_equal(ipt_plan_execute_host(split, w.data), IPT_SUCCESS);
    ipt_plan_destroy(storing);
    ipt_plan_destroy(cutting);
    ipt_plan_destroy(split);
    free(data);
    close_world(&w);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Destruction                                                                                                        */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { THE_CONTEXT, THE_FIRST, THE_SECOND, THE_QUEUE, THE_BUFFER, THE_EVENT, PIECE_COUNT };

typedef struct pieces {
    ipt_context *context;
    ipt_plan *plans[2];
    cl_command_queue queue;
    cl_mem buffer;
    cl_event event;
} pieces;

static void let_go(const pieces *p, int which)
{
    switch (which) {
    case THE_CONTEXT:
        ipt_context_destroy(p->context);
        break;
    case THE_FIRST:
    case THE_SECOND:
        ipt_plan_destroy(p->plans[which - THE_FIRST]);
        break;
    case THE_QUEUE:
        fake_clReleaseCommandQueue(p->queue);
        break;
    case THE_BUFFER:
        fake_clReleaseMemObject(p->buffer);
        break;
    case THE_EVENT:
        fake_clReleaseEvent(p->event);
        break;
    }
}

/* Executes two plans, after a user event if there is a gate. Then releases all objects in this sequence. The commands
 * end before step `opens`, or after all steps. */
static void destroy_in(const int *sequence, fake_device device, int opens)
{
    const long objects = fake_living(), memory = counted.living;
    const ipt_plan_desc desc = {
        .rows = 371, .cols = 23, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_m = 50};
    const cl_context cl = fake_make_cl(device);
    const cl_event gate = make_event(cl, CL_SUBMITTED);
    pieces p;
    int step;
    p.context = make_context(cl, device);
    p.plans[0] = make_plan(p.context, &desc);
    p.plans[1] = make_plan(p.context, &desc);
    p.queue = fake_make_queue(cl, device, 1);
    p.buffer = fake_make_buffer(cl, CL_MEM_READ_WRITE, desc.rows * desc.cols * desc.elem_size);
    fake_clReleaseContext(cl); /* ipt has retained it */
    cl_event first;
    assert_int_equal(ipt_plan_execute(p.plans[0], p.queue, p.buffer, 0, 1, &gate, &first), IPT_SUCCESS);
    assert_int_equal(ipt_plan_execute(p.plans[1], p.queue, p.buffer, 0, 1, &first, &p.event), IPT_SUCCESS);
    fake_clReleaseEvent(first);
    for (step = 0; step < PIECE_COUNT; ++step) {
        if (step == opens)
            fake_clSetUserEventStatus(gate, CL_COMPLETE);
        let_go(&p, sequence[step]);
    }
    if (opens >= PIECE_COUNT)
        fake_clSetUserEventStatus(gate, CL_COMPLETE);
    fake_clReleaseEvent(gate);
    expect_nothing_left(objects, memory);
}

/* Runs all sequences, by Heap's method, with the commands' end at each step in turn. done: the sequences so far. */
static void each_sequence(int *sequence, int count, fake_device device, int *done)
{
    int i;
    if (count == 1) {
        destroy_in(sequence, device, (*done)++ % (PIECE_COUNT + 1));
        return;
    }
    for (i = 0; i < count; ++i) {
        const int other = count % 2 ? 0 : i, kept = sequence[count - 1];
        each_sequence(sequence, count - 1, device, done);
        sequence[count - 1] = sequence[other];
        sequence[other] = kept;
    }
}

static void misuse_destruction(void **state)
{
    static const fake_device devices[] = {FAKE_CPU, FAKE_TOGETHER};
    size_t i;
    (void)state;
    alarm(120);
    for (i = 0; i < TEST_COUNT(devices); ++i) {
        int sequence[PIECE_COUNT] = {THE_CONTEXT, THE_FIRST, THE_SECOND, THE_QUEUE, THE_BUFFER, THE_EVENT};
        int done = 0;
        each_sequence(sequence, PIECE_COUNT, devices[i], &done);
        assert_int_equal(done, 720);
    }
    alarm(0);
}

/* The end of a context frees pinned memory, also if a plan has the last reference to the context. */
static void misuse_pinned_memory_left(void **state)
{
    void *memory[2];
    world w;
    (void)state;
    open_world(&w);
    const cl_context cl = fake_make_cl(FAKE_GPU);
    ipt_context *const context = make_context(cl, FAKE_GPU);
    fake_clReleaseContext(cl);
    ipt_plan *const plan = make_plan(context, &shape);
    assert_int_equal(ipt_host_alloc(context, SPAN, &memory[0]), IPT_SUCCESS);
    assert_int_equal(ipt_host_alloc(context, SPAN, &memory[1]), IPT_SUCCESS);
    ipt_host_free(context, memory[1]);
    ipt_context_destroy(context);
    memset(memory[0], 1, SPAN);
    assert_int_equal(ipt_plan_execute_host(plan, memory[0]), IPT_SUCCESS);
    ipt_plan_destroy(plan);
    close_world(&w);
}

/* After a failed execution, a plan may be described, executed and destroyed. */
static void misuse_after_failures(void **state)
{
    static const fake_device devices[] = {FAKE_CPU, FAKE_GPU, FAKE_TOGETHER};
    size_t i;
    int lazy;
    (void)state;
    for (i = 0; i < 2 * TEST_COUNT(devices); ++i) {
        const fake_device device = devices[i / 2];
        const long objects = fake_living(), memory = counted.living;
        const cl_context cl = fake_make_cl(device);
        ipt_context *const context = make_context(cl, device);
        ipt_plan *const plan = make_plan(context, &shape);
        const cl_command_queue queues[2] = {fake_make_queue(cl, device, 0), fake_make_queue(cl, device, 1)};
        const cl_mem buffer = fake_make_buffer(cl, CL_MEM_READ_WRITE, SPAN);
        cl_event events[3] = {NULL, NULL, NULL};
        lazy = i % 2;
        fake_be_lazy(lazy);
        /* If the first execution is still running, the second one waits for it and also fails. The third execution
         * waits for neither. */
        fake_fail_command(0, -5);
        assert_int_equal(ipt_plan_execute(plan, queues[0], buffer, 0, 0, NULL, &events[0]), IPT_SUCCESS);
        fake_fail_command(-1, 0);
        assert_int_equal(ipt_plan_execute(plan, queues[1], buffer, 0, 0, NULL, &events[1]), IPT_SUCCESS);
        assert_true(fake_status(events[0]) < 0);
        assert_true(lazy ? fake_status(events[1]) < 0 : fake_status(events[1]) == CL_COMPLETE);
        assert_int_equal(ipt_plan_execute(plan, queues[0], buffer, 0, 0, NULL, &events[2]), IPT_SUCCESS);
        assert_int_equal(fake_status(events[2]), CL_COMPLETE);
        assert_true(strlen(ipt_plan_describe(plan)) > 0);
        assert_non_null(ipt_plan_source(plan, 0));
        fake_be_lazy(0);
        for (int e = 0; e < 3; ++e)
            fake_clReleaseEvent(events[e]);
        ipt_plan_destroy(plan);
        ipt_context_destroy(context);
        fake_clReleaseCommandQueue(queues[0]);
        fake_clReleaseCommandQueue(queues[1]);
        fake_clReleaseMemObject(buffer);
        fake_clReleaseContext(cl);
        expect_nothing_left(objects, memory);
    }
}

/* A thread's error text is empty before its first failure. It survives successes, and outlives contexts and plans. */
static void *text_of_a_thread(void *unused)
{
    const cl_context cl = fake_make_cl(FAKE_CPU);
    ipt_context *context = NULL;
    int good = !*ipt_context_error(NULL);
    (void)unused;
    good &= ipt_plan_execute_host(NULL, NULL) == IPT_ERROR_INVALID_ARGUMENT;
    good &= fake_make_context(cl, FAKE_CPU, "", &context) == IPT_SUCCESS;
    good &= test_mentions(ipt_context_error(context), "plan");
    ipt_context_destroy(context);
    good &= test_mentions(ipt_context_error(NULL), "plan");
    fake_clReleaseContext(cl);
    return good ? &somewhere : NULL;
}

static void misuse_error_text(void **state)
{
    const long objects = fake_living();
    pthread_t thread;
    void *good = NULL;
    (void)state;
    REFUSED(ipt_plan_execute_host_with(NULL, NULL, NULL), "plan", "NULL");
    ipt__fail(IPT_SUCCESS, "mine");
    assert_int_equal(pthread_create(&thread, NULL, text_of_a_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &good), 0);
    assert_non_null(good);
    assert_string_equal(ipt_context_error(NULL), "mine");
    assert_int_equal(fake_living(), objects);
}

const struct CMUnitTest test_misuse[] = {
    TEST_CASE(misuse_null_is_fine),   TEST_CASE(misuse_names),        TEST_CASE(misuse_context),
    TEST_CASE(misuse_entries),        TEST_CASE(misuse_devices),      TEST_CASE(misuse_heuristics),
    TEST_CASE(misuse_plan_sizes),     TEST_CASE(misuse_plan_choices), TEST_CASE(misuse_plan_arguments),
    TEST_CASE(misuse_execute),        TEST_CASE(misuse_out_of_place), TEST_CASE(misuse_host),
    TEST_CASE(misuse_kinds),          TEST_CASE(misuse_destruction),  TEST_CASE(misuse_pinned_memory_left),
    TEST_CASE(misuse_after_failures), TEST_CASE(misuse_error_text),
};
const size_t test_misuse_count = TEST_COUNT(test_misuse);
