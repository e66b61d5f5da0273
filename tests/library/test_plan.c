/* Contract: a plan describes itself and allocates no more memory than allowed. Programs are built once for an element
 * size, not for each shape. A shape without work only completes its event. Measuring and choosing a device work. */
#include "test.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; ++text)
        lines += *text == '\n' || !text[1];
    return lines;
}

static void plan_strings(void **state)
{
    (void)state;
#define CHECK_SEQUENCE(name, text) assert_string_equal(ipt_sequence_string(name), text);
    IPT_SEQUENCE_LIST(CHECK_SEQUENCE)
    assert_string_equal(ipt_sequence_string(IPT__SEQUENCE_COUNT), "unknown");
    assert_string_equal(ipt_sequence_string((ipt_sequence)-1), "unknown");
#define CHECK_RESULT(name, value, sentence)                                                                            \
    assert_int_equal(name, value);                                                                                     \
    assert_string_equal(ipt_result_string(name), sentence);
    IPT_RESULT_LIST(CHECK_RESULT)
    static const int none[] = {IPT__RESULT_COUNT, IPT__RESULT_COUNT + 1, -1, 100000};
    for (size_t i = 0; i < TEST_COUNT(none); ++i)
        for (int known = 0; known < IPT__RESULT_COUNT; ++known)
            assert_string_not_equal(ipt_result_string((ipt_result)none[i]), ipt_result_string((ipt_result)known));
    assert_int_equal(ipt_version(), IPT_VERSION);
}

static void plan_nulls(void **state)
{
    (void)state;
    assert_int_equal(ipt_plan_workspace(NULL), 0);
    assert_string_equal(ipt_plan_describe(NULL), "");
    assert_null(ipt_plan_source(NULL, 0));
    assert_null(ipt_context_cl_context(NULL));
    assert_null(ipt_context_cl_device(NULL));
    assert_non_null(ipt_context_error(NULL));
    ipt_plan_destroy(NULL);
    ipt_context_destroy(NULL);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void plan_devices(void **state)
{
    (void)state;
    size_t count = 0, again = 0;
    cl_device_id few[2] = {NULL, NULL};
    assert_int_equal(ipt_device_list(NULL, 0, &count), IPT_SUCCESS);
    assert_true(count > 0);
    cl_device_id *devices = calloc(count, sizeof *devices);
    assert_non_null(devices);
    assert_int_equal(ipt_device_list(devices, count, &again), IPT_SUCCESS);
    assert_int_equal(again, count);
    assert_int_equal(ipt_device_list(few, 1, &again), IPT_SUCCESS);
    assert_int_equal(again, count);
    assert_ptr_equal(few[0], devices[0]);
    assert_null(few[1]);

    int known = 0;
    for (size_t i = 0; i < count; ++i) {
        char name[256] = "", text[4096], cut[8];
        known |= devices[i] == test_device;
        assert_int_equal(clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof name, name, NULL), CL_SUCCESS);
        assert_int_equal(ipt_device_describe(devices[i], text, sizeof text), IPT_SUCCESS);
        assert_non_null(strstr(text, name));
        assert_true(lines_of(text) > 1);
        memset(cut, '#', sizeof cut);
        assert_int_equal(ipt_device_describe(devices[i], cut, sizeof cut - 1), IPT_SUCCESS);
        assert_int_equal(strlen(cut), sizeof cut - 2);
        assert_int_equal(cut[sizeof cut - 1], '#');
        assert_memory_equal(cut, text, sizeof cut - 2);
    }
    assert_true(known);
    free(devices);
}

/* The desc or the environment selects a device by a part of its name, in upper or lower case. The desc has priority. */
static void plan_device_by_name(void **state)
{
    (void)state;
    char name[256] = "", chosen[256], part[256];
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_NAME, sizeof name, name, NULL), CL_SUCCESS);
    assert_true(strlen(name) > 2);
    snprintf(part, sizeof part, "%s", name + 1);
    for (char *next = part; *next; ++next)
        *next = (char)(islower((unsigned char)*next) ? toupper((unsigned char)*next) : tolower((unsigned char)*next));
    char *before = test_choose_device(NULL);
    for (int by_environment = 0; by_environment < 2; ++by_environment) {
        ipt_context_desc desc = {.device_name = by_environment ? NULL : part};
        ipt_context *context = NULL;
        setenv("IPT_DEVICE", by_environment ? part : "no such device", 1);
        assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
        assert_int_equal(clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_NAME, sizeof chosen, chosen, NULL),
                         CL_SUCCESS);
        assert_string_equal(chosen, name);
        ipt_context_destroy(context);
    }
    test_choose_again(before);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void plan_describe_and_source(void **state)
{
    (void)state;
    test_need_compiler();
    static const struct {
        ipt_plan_desc desc;
        int stages;
    } cases[] = {
        {{.rows = 457, .cols = 263, .elem_size = 12}, 1},
        {{.rows = 331, .cols = 331, .elem_size = 2}, 1},
        {{.rows = 451, .cols = 263, .elem_size = 4, .sequence = IPT_SEQUENCE_1}, 1},
        {{.rows = 120, .cols = 250, .elem_size = 8, .sequence = IPT_SEQUENCE_2_1, .tile_m = 24}, 2},
        {{.rows = 120, .cols = 250, .elem_size = 8, .sequence = IPT_SEQUENCE_2_2, .tile_n = 25}, 2},
        {{.rows = 120, .cols = 250, .elem_size = 16, .sequence = IPT_SEQUENCE_3_1, .tile_m = 12, .tile_n = 25}, 3},
        {{.rows = 120, .cols = 250, .elem_size = 16, .sequence = IPT_SEQUENCE_3_2, .tile_m = 12, .tile_n = 25}, 3},
        {{.rows = 459, .cols = 263, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_m = 32}, 2},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        ipt_plan *plan = test_make_plan(test_context, &cases[i].desc);
        const char *text = ipt_plan_describe(plan);
        if (!test_mentions(text, test_number(cases[i].desc.rows)) ||
            !test_mentions(text, test_number(cases[i].desc.cols)) ||
            !test_mentions(text, test_number(cases[i].desc.elem_size)) ||
            (cases[i].desc.sequence && !test_mentions(text, ipt_sequence_string(cases[i].desc.sequence))) ||
            lines_of(text) < 1 + cases[i].stages) {
            test_print_case(&cases[i].desc, 0);
            print_error("too little in: %s\n", text);
            fail();
        }
        size_t programs = 0;
        for (const char *source; (source = ipt_plan_source(plan, programs)); ++programs)
            assert_non_null(strstr(source, "__kernel"));
        assert_in_range(programs, 1, 100);
        assert_null(ipt_plan_source(plan, programs + 1));
        assert_null(ipt_plan_source(plan, ~(size_t)0));
        ipt_plan_destroy(plan);
    }
}

static void plan_with_nothing_to_do(void **state)
{
    (void)state;
    static const size_t sides[][2] = {{1, 1}, {1, 1000}, {1000, 1}};
    for (size_t s = 0; s < TEST_COUNT(sides); ++s)
        for (size_t batch = 1; batch <= 3; batch += 2) {
            ipt_plan_desc desc = {.rows = sides[s][0], .cols = sides[s][1], .elem_size = 4, .batch = batch};
            desc.batch_stride = test_matrix_bytes(&desc) + 8;
            ipt_plan *plan = test_make_plan(test_context, &desc);
            test_job job = {0};
            test_job_prepare(&job, test_cl_context, &desc, TEST_GUARD);
            assert_null(ipt_plan_source(plan, 0));
            assert_true(test_mentions(ipt_plan_describe(plan), test_number(desc.rows)));
            assert_true(test_job_upload(&job, test_queue));
            cl_event event = NULL;
            assert_int_equal(ipt_plan_execute(plan, test_queue, job.buffer, TEST_GUARD, 0, NULL, &event), IPT_SUCCESS);
            assert_non_null(event);
            assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
            clReleaseEvent(event);
            assert_true(test_job_holds(&job, test_queue, job.input));
            ipt_plan_destroy(plan);
            test_job_end(&job);
        }
}

/* One context has cooperative work-groups, which store small matrices in their local memory. The desc sets the number
 * of resident work-groups: counts, and plans, vary on a busy machine. */
static void plan_workspace_within_limits(void **state)
{
    (void)state;
    ipt_context *const waiting = test_make_waiting_context(16384, 32, 200),
                       *const whole = test_make_waiting_context(0, 16, 0),
                       *const little = test_make_waiting_context(1024, 16, 0);
    for (int i = 0; i < 64; ++i) {
        ipt_plan_desc desc = {.rows = test_random_between(1, 2000), .cols = test_random_between(1, 2000)};
        desc.elem_size = test_element_sizes[test_random_between(0, TEST_ELEMENT_SIZE_COUNT - 1)];
        desc.batch = test_random_between(1, 3);
        if (i % 8 == 7) /* above 100 MiB the default limit is 1 % */
            desc = (ipt_plan_desc){.rows = 5003, .cols = 4001, .elem_size = 8, .batch = (size_t)i % 16 / 8 + 1};
        if (i >= 48)
            desc = (ipt_plan_desc){
                .rows = test_random_between(80, 340), .cols = test_random_between(80, 340), .elem_size = 4, .batch = 1};
        if (i >= 48 && i % 2) { /* rows with gaps */
            desc.row_pitch = 4 * desc.cols + 16;
            desc.row_pitch_out = 4 * desc.rows + 16;
        }
        ipt_context *context = i >= 48 ? waiting : i % 3 ? whole : little;
        size_t held[3], limit = desc.batch * test_matrix_bytes(&desc) / 100;
        if (limit < (size_t)1 << 20)
            limit = (size_t)1 << 20;
        for (int w = 0; w < 3; ++w) {
            desc.max_workspace = w == 0 ? 0 : w == 1 ? 1 : limit / 2;
            ipt_plan *plan = NULL;
            ipt_result result = ipt_plan_create(context, &desc, &plan);
            held[w] = ipt_plan_workspace(plan);
            ipt_plan_destroy(plan);
            if (w == 2 && result == IPT_ERROR_UNSUPPORTED) /* a limit that is too small: bad_input_workspace */
                held[w] = 0;
            else if (result != IPT_SUCCESS || held[w] > (w == 2 ? limit / 2 : limit) ||
                     held[w] > (w == 1 ? held[0] : limit)) {
                test_print_case(&desc, 0);
                print_error("holds %zu bytes, may hold %zu: %s\n", held[w], limit, ipt_result_string(result));
                fail();
            }
        }
    }
    ipt_context_destroy(waiting);
    ipt_context_destroy(whole);
    ipt_context_destroy(little);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void count_builds(const char *message, void *user)
{
    *(int *)user += strncmp(message, "built", 5) == 0;
}

static ipt_context *make_listening_context(int *builds)
{
    /* On a busy machine, the count of resident work-groups varies, and with it the choice of kernels. */
    ipt_context_desc desc = {
        .context = test_cl_context, .device = test_device, .logger = {count_builds, builds}, .resident_groups = 16};
    ipt_context *context = NULL;
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    return context;
}

/* Shapes share programs. A limit of the device may separate kinds of shapes, which then need different programs. No
 * single shape has programs of its own. */
static void plan_builds_once(void **state)
{
    (void)state;
    test_need_compiler();
    static const size_t kinds[][2] = {{5, 9},       {60, 60}, {500, 500}, {499, 211}, {211, 499}, {1501, 1103},
                                      {1103, 1501}, {900, 3}, {3, 900},   {150, 160}, {154, 167}};
    enum { NEW_SHAPES = 60, MOST_NEW_PROGRAMS = 6 };
    size_t sides[NEW_SHAPES][2];
    int builds = 0, known;
    ipt_context *context = make_listening_context(&builds);
    for (size_t k = 0; k < TEST_COUNT(kinds); ++k) {
        ipt_plan_desc desc = {.rows = kinds[k][0], .cols = kinds[k][1], .elem_size = 4};
        ipt_plan_destroy(test_make_plan(context, &desc));
    }
    assert_true(builds > 0);
    known = builds;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < NEW_SHAPES; ++i) {
            if (!pass) {
                sides[i][0] = i % 6 == 1 ? test_random_between(2, 8) : test_random_between(2, 900);
                sides[i][1] = i % 6 == 0 ? sides[i][0] : test_random_between(2, 900);
            }
            ipt_plan_desc desc = {.rows = sides[i][0], .cols = sides[i][1], .elem_size = 4};
            ipt_plan_destroy(test_make_plan(context, &desc));
            if (builds > known + (pass ? 0 : MOST_NEW_PROGRAMS)) {
                test_print_case(&desc, 0);
                print_error("%d programs built for %s\n", builds - known, pass ? "known shapes" : "new shapes");
                fail();
            }
        }
        known = builds;
    }
    ipt_context_destroy(context);
}

/* Plans that differ only in the value of the expression's argument share programs. An argument of another type needs
 * other programs. */
static void plan_argument_builds_once(void **state)
{
    static const size_t shapes[][2] = {{5, 9}, {60, 60}, {500, 500}, {499, 211}, {211, 499}, {900, 3}};
    enum { MOST = 500 * 500 };
    uint32_t *const data = malloc(MOST * sizeof *data);
    int builds = 0, known = 0;
    ipt_context *context = make_listening_context(&builds);
    (void)state;
    test_need_compiler();
    assert_non_null(data);
    for (size_t s = 0; s < TEST_COUNT(shapes); ++s)
        for (uint32_t value = 1; value < 4; ++value) {
            const size_t rows = shapes[s][0], cols = shapes[s][1];
            ipt_plan_desc desc = {.rows = rows, .cols = cols, .elem_size = 4, .expression = "x * a"};
            desc.expression_type = "uint";
            desc.expression_argument = &value;
            desc.flags = IPT_OUT_OF_PLACE | (value > 1 ? IPT_CACHE_ONLY : 0u);
            ipt_plan *plan = test_make_plan(context, &desc);
            for (uint32_t i = 0; i < rows * cols; ++i)
                data[i] = i + 1;
            assert_int_equal(ipt_plan_execute_host(plan, data), IPT_SUCCESS);
            for (size_t i = 0; i < rows * cols; ++i)
                assert_int_equal(data[i % cols * rows + i / cols], (i + 1) * value);
            if (value > 1)
                assert_int_equal(builds, known);
            known = builds;
            ipt_plan_destroy(plan);
        }
    assert_true(builds > 0);
    const uint64_t wide = 5;
    ipt_plan_desc desc = {.rows = 5, .cols = 9, .elem_size = 4, .expression = "x * a", .expression_type = "uint"};
    desc.expression_argument = &wide;
    desc.expression_argument_type = "ulong";
    ipt_plan_destroy(test_make_plan(context, &desc));
    assert_true(builds > known);
    ipt_context_destroy(context);
    free(data);
}

static void plan_cache_only(void **state)
{
    (void)state;
    test_need_compiler();
    /* Similar shapes: two shapes on different sides of a device's limit take different programs. */
    static const size_t pairs[][2][2] = {
        {{457, 263}, {459, 263}}, {{50, 50}, {53, 53}}, {{300, 300}, {311, 311}}, {{9, 7}, {11, 8}}};
    for (size_t p = 0; p < TEST_COUNT(pairs); ++p) {
        int builds = 0;
        ipt_context *context = make_listening_context(&builds);
        ipt_plan_desc first = {.rows = pairs[p][0][0], .cols = pairs[p][0][1], .elem_size = 4};
        ipt_plan_desc second = {.rows = pairs[p][1][0], .cols = pairs[p][1][1], .elem_size = 4};
        second.flags = IPT_CACHE_ONLY;
        ipt_plan *plan = (ipt_plan *)&second;
        ipt_result result = ipt_plan_create(context, &second, &plan);
        test_expect_error(result, IPT_ERROR_CACHE_MISS, NULL, NULL);
        assert_null(plan);
        assert_int_equal(builds, 0);
        ipt_plan_destroy(test_make_plan(context, &first));
        int warm = builds;
        assert_true(warm > 0);
        test_transposes(context, &second);
        assert_int_equal(builds, warm);

        /* Executions out of place may need another program, which a plan with IPT_CACHE_ONLY must not build. */
        test_job one = {0}, two = {0};
        test_job_prepare(&one, test_cl_context, &second, TEST_GUARD);
        test_job_prepare(&two, test_cl_context, &second, TEST_GUARD);
        plan = test_make_plan(context, &second);
        cl_event event = (cl_event)(void *)&second;
        result = ipt_plan_execute_out_of_place(plan, test_queue, one.buffer, TEST_GUARD, two.buffer, TEST_GUARD, 0,
                                               NULL, &event);
        if (result == IPT_SUCCESS) {
            assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
            clReleaseEvent(event);
        } else {
            test_expect_error(result, IPT_ERROR_CACHE_MISS, NULL, NULL);
            assert_null(event);
        }
        assert_int_equal(builds, warm);
        ipt_plan_destroy(plan);
        test_job_end(&one);
        test_job_end(&two);
        ipt_context_destroy(context);
    }
}

static void count_measurements(const char *message, void *user)
{
    int *const counts = user;
    counts[0] += strncmp(message, "measured two passes of ", 23) == 0;
    counts[1] += strncmp(message, "measured exchange of ", 21) == 0;
}

/* Each candidate of both methods is measured, and the log names it. */
static void plan_measures_both_methods(void **state)
{
    (void)state;
    int counts[2] = {0, 0};
    ipt_context_desc its = {.context = test_cl_context, .device = test_device, .logger = {count_measurements, counts}};
    ipt_plan_desc desc = {.rows = 2003, .cols = 701, .elem_size = 4, .flags = IPT_MEASURE};
    ipt_context *context = NULL;
    assert_int_equal(ipt_context_create(&its, &context), IPT_SUCCESS);
    ipt_plan_destroy(test_make_plan(context, &desc));
    assert_in_range(counts[0] + counts[1], 0, 10);
    if (counts[0] + counts[1] > 0) { /* the matrix may fit the chip, or the device may lack a clock */
        assert_in_range(counts[0], 1, 5);
        assert_in_range(counts[1], 1, 5);
    }
    const int before = counts[0] + counts[1];
    desc.sequence = IPT_SEQUENCE_TWO_PASS;
    ipt_plan_destroy(test_make_plan(context, &desc));
    assert_true(before == 0 || counts[0] + counts[1] > before);
    ipt_context_destroy(context);
}

static void plan_measure(void **state)
{
    (void)state;
    static const ipt_plan_desc shapes[] = {
        {.rows = 457, .cols = 263, .elem_size = 4},
        {.rows = 60, .cols = 800, .elem_size = 1, .batch = 2},
        {.rows = 200, .cols = 200, .elem_size = 16},
        {.rows = 1, .cols = 20, .elem_size = 2},
        {.rows = 120, .cols = 250, .elem_size = 4, .sequence = IPT_SEQUENCE_3_1, .tile_m = 12, .tile_n = 25},
    };
    for (size_t i = 0; i < TEST_COUNT(shapes); ++i) {
        ipt_plan_desc desc = shapes[i];
        desc.flags = IPT_MEASURE;
        test_transposes(test_context, &desc);
        cl_mem buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, test_span(&desc), NULL, NULL);
        assert_non_null(buffer);
        desc.measure_buffer = buffer;
        ipt_plan *plan = test_make_plan(test_context, &desc);
        clReleaseMemObject(buffer);
        test_job job = {0};
        test_job_prepare(&job, test_cl_context, &desc, TEST_GUARD);
        assert_true(test_job_run(&job, plan, test_queue));
        ipt_plan_destroy(plan);
        test_job_end(&job);
    }
}

const struct CMUnitTest test_plan[] = {
    TEST_CASE(plan_strings),
    TEST_CASE(plan_nulls),
    TEST_CASE(plan_devices),
    TEST_CASE(plan_device_by_name),
    TEST_CASE(plan_describe_and_source),
    TEST_CASE(plan_with_nothing_to_do),
    TEST_CASE(plan_workspace_within_limits),
    TEST_CASE(plan_builds_once),
    TEST_CASE(plan_argument_builds_once),
    TEST_CASE(plan_cache_only),
    TEST_CASE(plan_measures_both_methods),
    TEST_CASE(plan_measure),
};
const size_t test_plan_count = TEST_COUNT(test_plan);
