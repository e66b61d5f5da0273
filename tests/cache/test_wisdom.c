/* Wisdom: after a measurement in one context, another context makes the same plan without measuring. Incomplete or
 * unknown texts, and texts for another device, are refused with the line's number and change nothing. */
#define _XOPEN_SOURCE 700
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 700, COLS = 500, ELEM = 4, BYTES = ROWS * COLS * ELEM };

static int large_buffers;     /* buffers of at least the matrix's size: only measurements have them */
static const char *told_name; /* reported name; NULL: the true one */

static cl_mem CL_API_CALL counted_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                                 cl_int *error)
{
    large_buffers += bytes >= BYTES;
    return clCreateBuffer(context, flags, bytes, host, error);
}

static cl_int CL_API_CALL told_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                                               size_t *needed)
{
    if (!told_name || name != CL_DEVICE_NAME)
        return clGetDeviceInfo(device, name, bytes, value, needed);
    if (needed)
        *needed = strlen(told_name) + 1;
    if (value && bytes <= strlen(told_name))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, told_name, strlen(told_name) + 1);
    return CL_SUCCESS;
}

#include "stand_in.h"
#define STAND_IN_clCreateBuffer ~, counted_clCreateBuffer
#define STAND_IN_clGetDeviceInfo ~, told_clGetDeviceInfo
#define IPT_ENTRY_POINT(name) STAND_IN_OR(STAND_IN_##name, name)

#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "folders.h"
#include "test.h"

#define EXPECT_ERROR(result, expected, part) test_expect_parts(result, expected, part, NULL)

static ipt_context *open_context(void)
{
    ipt_context_desc desc;
    ipt_context *context = NULL;
    memset(&desc, 0, sizeof desc);
    desc.context = test_cl_context;
    desc.device = test_device;
    desc.cache_dir = "";
    EXPECT_ERROR(ipt_context_create(&desc, &context), IPT_SUCCESS, NULL);
    return context;
}

/* A desc with two passes: measuring chooses the length of the super-elements. */
static ipt_plan_desc two_passes(unsigned flags)
{
    ipt_plan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.rows = ROWS;
    desc.cols = COLS;
    desc.elem_size = ELEM;
    desc.sequence = IPT_SEQUENCE_TWO_PASS;
    desc.flags = flags | IPT_NO_COOPERATIVE;
    return desc;
}

static ipt_plan *open_plan(ipt_context *context, ipt_plan_desc desc)
{
    ipt_plan *plan = NULL;
    EXPECT_ERROR(ipt_plan_create(context, &desc, &plan), IPT_SUCCESS, NULL);
    assert_non_null(plan);
    return plan;
}

/* The description of a context's plan, which the caller frees. */
static char *description(ipt_context *context, ipt_plan_desc desc)
{
    ipt_plan *plan = open_plan(context, desc);
    char *text = strdup(ipt_plan_describe(plan));
    assert_non_null(text);
    ipt_plan_destroy(plan);
    return text;
}

static void expect_right(ipt_plan *plan)
{
    const ipt_plan_desc desc = two_passes(0);
    unsigned char *data = malloc(BYTES), *expected = malloc(BYTES);
    assert_true(data && expected);
    test_fill(data, BYTES);
    test_reference(expected, data, &desc);
    EXPECT_ERROR(ipt_plan_execute_host(plan, data), IPT_SUCCESS, NULL);
    assert_memory_equal(data, expected, BYTES);
    free(data);
    free(expected);
}

/* The context's wisdom, which the caller frees. */
static char *exported(ipt_context *context)
{
    size_t bytes = 0, again = 0;
    char *text;
    EXPECT_ERROR(ipt_wisdom_export(context, NULL, 0, &bytes), IPT_ERROR_INVALID_ARGUMENT, "capacity");
    assert_true(bytes > 1);
    text = malloc(bytes + 1);
    assert_non_null(text);
    text[bytes] = '#';
    EXPECT_ERROR(ipt_wisdom_export(context, text, bytes, &again), IPT_SUCCESS, NULL);
    assert_int_equal(again, bytes);
    assert_int_equal(strlen(text) + 1, bytes);
    assert_int_equal(text[bytes], '#');
    return text;
}

static void expect_wisdom(ipt_context *context, const char *expected)
{
    char *text = exported(context);
    assert_string_equal(text, expected);
    free(text);
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; ++text)
        lines += *text == '\n';
    return lines;
}

/* The wisdom of one measurement, which the caller frees. */
static char *measured_wisdom(void)
{
    ipt_context *context = open_context();
    char *text;
    ipt_plan_destroy(open_plan(context, two_passes(IPT_MEASURE)));
    text = exported(context);
    ipt_context_destroy(context);
    return text;
}

/* Wisdom with another length of the super-elements, which the caller frees. */
static char *with_length(const char *text, size_t length)
{
    const char *at = strstr(text, "length=");
    char *out = malloc(strlen(text) + 32);
    assert_true(out && at);
    at += strlen("length=");
    sprintf(out, "%.*s%zu%s", (int)(at - text), text, length, at + strspn(at, "0123456789"));
    return out;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void wisdom_makes_the_measured_plan(void **state)
{
    ipt_context *first = open_context(), *second = open_context();
    const ipt_plan_desc measure = two_passes(IPT_MEASURE), estimate = two_passes(0);
    ipt_plan *plan;
    char *before = exported(first), *text, *known, *again;
    (void)state;
    large_buffers = 0;
    plan = open_plan(first, measure);
    assert_true(large_buffers > 0); /* the context has measured */
    expect_right(plan);
    text = exported(first);
    assert_int_equal(count_lines(text), count_lines(before) + 1);

    EXPECT_ERROR(ipt_wisdom_import(second, text), IPT_SUCCESS, NULL);
    expect_wisdom(second, text);
    large_buffers = 0;
    known = description(second, measure);
    assert_int_equal(large_buffers, 0);
    assert_string_equal(known, ipt_plan_describe(plan));
    free(known);
    known = description(second, estimate);
    assert_string_equal(known, ipt_plan_describe(plan));
    free(known);
    large_buffers = 0;
    known = description(first, measure); /* the context that measured has the wisdom, too */
    assert_int_equal(large_buffers, 0);
    assert_string_equal(known, ipt_plan_describe(plan));
    again = exported(first);
    assert_string_equal(again, text);
    free(known);
    free(again);
    free(text);
    free(before);
    ipt_plan_destroy(plan);
    ipt_context_destroy(first);
    ipt_context_destroy(second);
}

/* Wisdom has priority over the model: each length is used, with a right result, or is impossible. */
static void wisdom_decides(void **state)
{
    static const size_t lengths[] = {20, 35, 70, 140, 350, 1, 2, 3, 349, 351, 699, 700};
    char *text = measured_wisdom();
    size_t i, taken = 0;
    ipt_context *plain = open_context();
    ipt_plan_desc least = two_passes(0);
    size_t least_workspace;
    ipt_plan *plan;
    (void)state;
    least.max_workspace = 1;
    plan = open_plan(plain, least);
    least_workspace = ipt_plan_workspace(plan);
    ipt_plan_destroy(plan);
    for (i = 0; i < TEST_COUNT(lengths); ++i) {
        char *other = with_length(text, lengths[i]), words[64];
        ipt_context *context = open_context();
        EXPECT_ERROR(ipt_wisdom_import(context, other), IPT_SUCCESS, NULL);
        plan = open_plan(context, two_passes(0));
        snprintf(words, sizeof words, "super-elements of %zu elements", lengths[i]);
        if (strstr(ipt_plan_describe(plan), words))
            ++taken;
        else if (i < 5)
            fail_msg("length %zu is not taken: %s", lengths[i], ipt_plan_describe(plan));
        assert_true(ipt_plan_workspace(plan) <= (size_t)1 << 20);
        expect_right(plan);
        ipt_plan_destroy(plan);
        plan = open_plan(context, least); /* max_workspace still holds */
        assert_true(ipt_plan_workspace(plan) <= least_workspace);
        ipt_plan_destroy(plan);
        ipt_context_destroy(context);
        free(other);
    }
    assert_true(taken >= 5);
    for (i = 0; i < 3; ++i) { /* impossible lengths for this matrix */
        char *other = with_length(text, i == 0 ? 0 : i == 1 ? ROWS + 1 : (size_t)-1);
        EXPECT_ERROR(ipt_wisdom_import(plain, other), IPT_ERROR_INVALID_ARGUMENT, "line ");
        free(other);
    }
    ipt_context_destroy(plain);
    free(text);
}

/* Wisdom stores sizes above 4 GiB. */
static void wisdom_of_large_shapes(void **state)
{
    char *text = measured_wisdom();
    char *const end = strstr(text, "transpose"), *const cols = end ? strstr(end, "cols=") : NULL;
    char *large = malloc(strlen(text) + 32);
    ipt_context *context = open_context();
    (void)state;
    if (sizeof(size_t) < 8)
        test_skip("sizes have 32 bits");
    assert_true(large && cols);
    sprintf(large, "%.*stranspose rows=25769803777 %s", (int)(end - text), text, cols);
    EXPECT_ERROR(ipt_wisdom_import(context, large), IPT_SUCCESS, NULL);
    expect_wisdom(context, large);
    ipt_context_destroy(context);
    free(large);
    free(text);
}

/* A measurement of one shape does not affect others. */
static void wisdom_of_other_shapes(void **state)
{
    char *text = measured_wisdom(), *known, *expected;
    ipt_context *context = open_context(), *plain = open_context();
    ipt_plan_desc other;
    int i;
    (void)state;
    EXPECT_ERROR(ipt_wisdom_import(context, text), IPT_SUCCESS, NULL);
    for (i = 0; i < 4; ++i) {
        other = two_passes(0);
        if (i == 0)
            other.rows += 8;
        else if (i == 1)
            other.cols += 8;
        else if (i == 2)
            other.elem_size = 8;
        else
            other.batch = 2;
        known = description(context, other);
        expected = description(plain, other);
        assert_string_equal(known, expected);
        free(known);
        free(expected);
        other.flags |= IPT_MEASURE;
        large_buffers = 0;
        free(description(context, other));
        assert_true(large_buffers > 0);
    }
    free(text);
    ipt_context_destroy(context);
    ipt_context_destroy(plain);
}

/* Imports accumulate, with one line for each plan: a later line replaces an earlier one for the same plan. */
static void wisdom_adds_up(void **state)
{
    ipt_context *first = open_context(), *second = open_context(), *both = open_context();
    ipt_plan_desc other = two_passes(IPT_MEASURE);
    char *one = measured_wisdom(), *two, *sum, *newer = with_length(one, 35);
    size_t nothing;
    (void)state;
    other.rows = COLS;
    other.cols = ROWS;
    sum = exported(both);
    nothing = count_lines(sum);
    EXPECT_ERROR(ipt_wisdom_import(both, sum), IPT_SUCCESS, NULL); /* a text without measurements is valid */
    expect_wisdom(both, sum);
    free(sum);
    ipt_plan_destroy(open_plan(second, other));
    two = exported(second);
    EXPECT_ERROR(ipt_wisdom_import(both, one), IPT_SUCCESS, NULL);
    EXPECT_ERROR(ipt_wisdom_import(both, two), IPT_SUCCESS, NULL);
    sum = exported(both);
    assert_int_equal(count_lines(sum), nothing + 2);
    EXPECT_ERROR(ipt_wisdom_import(both, one), IPT_SUCCESS, NULL);
    EXPECT_ERROR(ipt_wisdom_import(both, sum), IPT_SUCCESS, NULL);
    expect_wisdom(both, sum);
    large_buffers = 0;
    free(description(both, other));
    free(description(both, two_passes(IPT_MEASURE)));
    assert_int_equal(large_buffers, 0);
    EXPECT_ERROR(ipt_wisdom_import(first, one), IPT_SUCCESS, NULL);
    EXPECT_ERROR(ipt_wisdom_import(first, newer), IPT_SUCCESS, NULL);
    expect_wisdom(first, newer);
    free(one);
    free(two);
    free(sum);
    free(newer);
    ipt_context_destroy(first);
    ipt_context_destroy(second);
    ipt_context_destroy(both);
}

/* A context for planning only, from a profile of the device, also uses the wisdom. */
static void wisdom_without_device(void **state)
{
    ipt_context *real = open_context(), *planning = NULL;
    ipt_context_desc desc;
    char *text = measured_wisdom(), *other = with_length(text, 35), *known, *expected, profile[8192];
    (void)state;
    EXPECT_ERROR(ipt_context_profile(real, profile, sizeof profile, NULL), IPT_SUCCESS, NULL);
    memset(&desc, 0, sizeof desc);
    desc.cache_dir = "";
    desc.profile = profile;
    EXPECT_ERROR(ipt_context_create(&desc, &planning), IPT_SUCCESS, NULL);
    EXPECT_ERROR(ipt_wisdom_import(planning, other), IPT_SUCCESS, NULL);
    EXPECT_ERROR(ipt_wisdom_import(real, other), IPT_SUCCESS, NULL);
    known = description(planning, two_passes(0));
    expected = description(real, two_passes(0));
    assert_string_equal(known, expected);
    assert_non_null(strstr(known, "super-elements of 35 elements"));
    expect_wisdom(planning, other);
    free(known);
    free(expected);
    free(text);
    free(other);
    ipt_context_destroy(planning);
    ipt_context_destroy(real);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* A context with wisdom of another shape, which damaged wisdom must not change. */
static ipt_context *open_knowing(char **knows)
{
    ipt_context *context = open_context();
    ipt_plan_desc other = two_passes(IPT_MEASURE);
    other.rows = COLS;
    other.cols = ROWS;
    ipt_plan_destroy(open_plan(context, other));
    *knows = exported(context);
    return context;
}

static char *two_measurements(void)
{
    char *one = measured_wisdom(), *knows, *both;
    ipt_context *context = open_knowing(&knows);
    EXPECT_ERROR(ipt_wisdom_import(context, one), IPT_SUCCESS, NULL);
    both = exported(context);
    ipt_context_destroy(context);
    free(one);
    free(knows);
    return both;
}

static void wisdom_cut(void **state)
{
    char *text = two_measurements(), *knows, *cut = strdup(text);
    ipt_context *context = open_knowing(&knows);
    size_t length;
    (void)state;
    assert_non_null(cut);
    for (length = strlen(text) - 1; length-- > 0;) { /* a text without the last newline is valid */
        ipt_result result;
        cut[length] = 0;
        result = ipt_wisdom_import(context, cut); /* a cut device name is the name of another device */
        if ((result != IPT_ERROR_INVALID_ARGUMENT && result != IPT_ERROR_UNSUPPORTED) ||
            !strstr(ipt_context_error(NULL), "line "))
            fail_msg("cut at %zu: %s: %s", length, ipt_result_string(result), ipt_context_error(NULL));
        expect_wisdom(context, knows);
    }
    EXPECT_ERROR(ipt_wisdom_import(context, ""), IPT_ERROR_INVALID_ARGUMENT, "line 1");
    free(cut);
    free(knows);
    free(text);
    ipt_context_destroy(context);
}

enum { REMOVED, DOUBLED, UNKNOWN, EMPTY, LONGER, WORD_FOR_NUMBER, NEGATIVE_NUMBER, HUGE_NUMBER, OTHER_NAME, EDITS };

/* Returns a copy of text with its index-th line changed. NULL if the line is missing or the change does not apply. */
static char *edited(const char *text, size_t index, int edit)
{
    static const char *const for_number[] = {"word", "-1", "99999999999999999999999"};
    const char *line = text, *end, *digits;
    char *out = malloc(2 * strlen(text) + 1200), padding[1000];
    assert_non_null(out);
    memset(padding, 'x', sizeof padding - 1);
    padding[sizeof padding - 1] = 0;
    while (index-- && line)
        line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    if (!line || !*line) {
        free(out);
        return NULL;
    }
    end = line + strcspn(line, "\n") + 1;
    digits = line + strcspn(line, "0123456789");
    if (edit == REMOVED)
        sprintf(out, "%.*s%s", (int)(line - text), text, end);
    else if (edit == DOUBLED)
        sprintf(out, "%.*s%s", (int)(end - text), text, line);
    else if (edit == UNKNOWN)
        sprintf(out, "%.*sunknown rows=1\n%s", (int)(line - text), text, line);
    else if (edit == EMPTY)
        sprintf(out, "%.*s\n%s", (int)(line - text), text, line);
    else if (edit == LONGER)
        sprintf(out, "%.*s %s\n%s", (int)(end - 1 - text), text, padding, end);
    else if (edit == OTHER_NAME)
        sprintf(out, "%.*sX%s", (int)(line - text), text, line + 1);
    else if (digits < end)
        sprintf(out, "%.*s%s%s", (int)(digits - text), text, for_number[edit - WORD_FOR_NUMBER],
                digits + strspn(digits, "0123456789"));
    else {
        free(out);
        return NULL;
    }
    return out;
}

static void wisdom_damaged(void **state)
{
    char *text = two_measurements(), *knows, *bad;
    ipt_context *context = open_knowing(&knows);
    const size_t lines = count_lines(text);
    size_t index;
    int edit, edits = 0;
    (void)state;
    assert_true(lines >= 4); /* the title, lines about the device and two measurements */
    for (index = 0; index < lines; ++index)
        for (edit = 0; edit < EDITS; ++edit) {
            char where[32];
            const char *message;
            ipt_result result;
            size_t said;
            if (!(bad = edited(text, index, edit)))
                continue;
            result = ipt_wisdom_import(context, bad);
            message = ipt_context_error(NULL);
            if (result != IPT_ERROR_INVALID_ARGUMENT && result != IPT_ERROR_UNSUPPORTED)
                fail_msg("line %zu, edit %d: %s\n%s", index + 1, edit, ipt_result_string(result), bad);
            snprintf(where, sizeof where, "line %zu", index + 1 + (edit == DOUBLED));
            said = strstr(message, "line ") ? (size_t)strtoull(strstr(message, "line ") + 5, NULL, 10) : 0;
            /* For a missing or doubled line, the error may name a later line. */
            if (edit == REMOVED || edit == DOUBLED ? said <= index || said > lines + 1 : !test_mentions(message, where))
                fail_msg("line %zu, edit %d: %s\n%s", index + 1, edit, message, bad);
            expect_wisdom(context, knows);
            free(bad);
            ++edits;
        }
    assert_true((size_t)edits > 7 * lines);

    /* Text after the end; then each missing field of a measurement. */
    bad = malloc(strlen(text) + 100);
    assert_non_null(bad);
    sprintf(bad, "%smore\n", text);
    EXPECT_ERROR(ipt_wisdom_import(context, bad), IPT_ERROR_INVALID_ARGUMENT, "line ");
    sprintf(bad, "%s\n", text);
    EXPECT_ERROR(ipt_wisdom_import(context, bad), IPT_ERROR_INVALID_ARGUMENT, "line ");
    expect_wisdom(context, knows);
    for (index = 0; text[index]; ++index)
        if (text[index] == '=') {
            size_t start = index;
            while (text[start - 1] != ' ')
                --start;
            sprintf(bad, "%.*s%s", (int)(start - 1), text, text + index + strcspn(text + index, " \n"));
            EXPECT_ERROR(ipt_wisdom_import(context, bad), IPT_ERROR_INVALID_ARGUMENT, "line ");
            sprintf(bad, "%.*s=%s", (int)index, text, text + index);
            EXPECT_ERROR(ipt_wisdom_import(context, bad), IPT_ERROR_INVALID_ARGUMENT, "line ");
        }
    expect_wisdom(context, knows);
    free(bad);
    free(knows);
    free(text);
    ipt_context_destroy(context);
}

static void wisdom_of_another_version(void **state)
{
    char *text = measured_wisdom(), *knows, *bad = malloc(strlen(text) + 100);
    ipt_context *context = open_knowing(&knows);
    char *digit;
    (void)state;
    assert_non_null(bad);
    strcpy(bad, text);
    digit = bad + strcspn(bad, "0123456789");
    assert_true(digit < strchr(bad, '\n'));
    ++*digit;
    EXPECT_ERROR(ipt_wisdom_import(context, bad), IPT_ERROR_INVALID_ARGUMENT, "line 1");
    --*digit;
    sprintf(digit + 1, "0%s", text + (digit - bad) + 1);
    EXPECT_ERROR(ipt_wisdom_import(context, bad), IPT_ERROR_INVALID_ARGUMENT, "line 1");
    expect_wisdom(context, knows);
    free(bad);
    free(knows);
    free(text);
    ipt_context_destroy(context);
}

static void wisdom_of_another_device(void **state)
{
    char name[256], *text = measured_wisdom(), *empty, *theirs;
    ipt_context *here = open_context(), *there;
    (void)state;
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_NAME, sizeof name - 2, name, NULL), CL_SUCCESS);
    strcat(name, "X");
    told_name = name;
    there = open_context();
    told_name = NULL;
    empty = exported(there);
    EXPECT_ERROR(ipt_wisdom_import(there, text), IPT_ERROR_UNSUPPORTED, name);
    EXPECT_ERROR(ipt_wisdom_import(there, text), IPT_ERROR_UNSUPPORTED, "line ");
    expect_wisdom(there, empty);
    free(description(there, two_passes(IPT_MEASURE)));
    theirs = exported(there);
    EXPECT_ERROR(ipt_wisdom_import(here, theirs), IPT_ERROR_UNSUPPORTED, name);
    EXPECT_ERROR(ipt_wisdom_import(there, theirs), IPT_SUCCESS, NULL);
    free(theirs);
    free(empty);
    free(text);
    ipt_context_destroy(here);
    ipt_context_destroy(there);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void wisdom_capacity(void **state)
{
    char *text, *place;
    ipt_context *context = open_knowing(&text);
    const size_t bytes = strlen(text) + 1;
    size_t capacity, told;
    (void)state;
    place = malloc(bytes + 1);
    assert_non_null(place);
    for (capacity = 0; capacity < bytes; ++capacity) {
        memset(place, '#', bytes + 1);
        told = 0;
        EXPECT_ERROR(ipt_wisdom_export(context, place, capacity, &told), IPT_ERROR_INVALID_ARGUMENT, "capacity");
        assert_int_equal(told, bytes);
        assert_int_equal(place[capacity], '#');
        EXPECT_ERROR(ipt_wisdom_export(context, place, capacity, NULL), IPT_ERROR_INVALID_ARGUMENT,
                     test_number(capacity));
    }
    EXPECT_ERROR(ipt_wisdom_export(context, place, bytes, NULL), IPT_SUCCESS, NULL);
    assert_string_equal(place, text);
    EXPECT_ERROR(ipt_wisdom_export(NULL, place, bytes, &told), IPT_ERROR_INVALID_ARGUMENT, "context");
    EXPECT_ERROR(ipt_wisdom_export(context, NULL, 1, &told), IPT_ERROR_INVALID_ARGUMENT, "text");
    EXPECT_ERROR(ipt_wisdom_import(NULL, text), IPT_ERROR_INVALID_ARGUMENT, "context");
    EXPECT_ERROR(ipt_wisdom_import(context, NULL), IPT_ERROR_INVALID_ARGUMENT, "text");
    free(place);
    free(text);
    ipt_context_destroy(context);
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static char folder[256], path[300], missing[300]; /* used by the next test, too */

static int make_folder(void **state)
{
    if (folder_make(folder, sizeof folder, "wisdom"))
        return -1;
    snprintf(path, sizeof path, "%s/w\303\255sdom \342\230\203", folder); /* names may have any characters */
    snprintf(missing, sizeof missing, "%s/missing", folder);
    return test_start(state);
}

static int remove_folder(void **state)
{
    (void)state;
    return folder_remove(folder);
}

static void wisdom_files(void **state)
{
    char below[400];
    char *text = two_measurements(), *knows, *large;
    ipt_context *context = open_knowing(&knows), *other = open_context();
    const size_t length = strlen(text);
    FILE *file;
    (void)state;
    snprintf(below, sizeof below, "%s/below", missing);

    EXPECT_ERROR(ipt_wisdom_import(other, text), IPT_SUCCESS, NULL);
    EXPECT_ERROR(ipt_wisdom_export_file(other, path), IPT_SUCCESS, NULL);
    large = calloc(1, length + 2);
    assert_non_null(large);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(large, 1, length + 2, file), length); /* the file contains only the text */
    fclose(file);
    assert_string_equal(large, text);
    free(large);

    EXPECT_ERROR(ipt_wisdom_import_file(context, missing), IPT_ERROR_INVALID_ARGUMENT, missing);
    EXPECT_ERROR(ipt_wisdom_import_file(context, folder), IPT_ERROR_INVALID_ARGUMENT, folder);
    EXPECT_ERROR(ipt_wisdom_export_file(context, folder), IPT_ERROR_INVALID_ARGUMENT, folder);
    EXPECT_ERROR(ipt_wisdom_export_file(context, below), IPT_ERROR_INVALID_ARGUMENT, below);
    EXPECT_ERROR(ipt_wisdom_import_file(NULL, path), IPT_ERROR_INVALID_ARGUMENT, "context");
    EXPECT_ERROR(ipt_wisdom_import_file(context, NULL), IPT_ERROR_INVALID_ARGUMENT, "path");
    EXPECT_ERROR(ipt_wisdom_export_file(NULL, path), IPT_ERROR_INVALID_ARGUMENT, "context");
    EXPECT_ERROR(ipt_wisdom_export_file(context, NULL), IPT_ERROR_INVALID_ARGUMENT, "path");
    assert_int_equal(access(missing, F_OK), -1);
    if (!access("/dev/full", W_OK)) /* a full disk */
        EXPECT_ERROR(ipt_wisdom_export_file(context, "/dev/full"), IPT_ERROR_INVALID_ARGUMENT, "/dev/full");

    /* Files that are empty, cut, with a zero inside, or far too long. */
    write_file(missing, "", 0);
    EXPECT_ERROR(ipt_wisdom_import_file(context, missing), IPT_ERROR_INVALID_ARGUMENT, NULL);
    write_file(missing, text, length / 2);
    EXPECT_ERROR(ipt_wisdom_import_file(context, missing), IPT_ERROR_INVALID_ARGUMENT, "line ");
    large = calloc(1, 300000);
    assert_non_null(large);
    memcpy(large, text, length + 1);
    write_file(missing, large, length + 1);
    EXPECT_ERROR(ipt_wisdom_import_file(context, missing), IPT_ERROR_INVALID_ARGUMENT, NULL);
    memset(large + length, 'x', 300000 - length);
    write_file(missing, large, 300000);
    EXPECT_ERROR(ipt_wisdom_import_file(context, missing), IPT_ERROR_INVALID_ARGUMENT, NULL);
    free(large);
    expect_wisdom(context, knows);

    EXPECT_ERROR(ipt_wisdom_import_file(context, path), IPT_SUCCESS, NULL);
    large_buffers = 0;
    free(description(context, two_passes(IPT_MEASURE)));
    assert_int_equal(large_buffers, 0);
    EXPECT_ERROR(ipt_wisdom_export_file(context, path), IPT_SUCCESS, NULL); /* replaces the content */
    ipt_context_destroy(other);
    other = open_context();
    EXPECT_ERROR(ipt_wisdom_import_file(other, path), IPT_SUCCESS, NULL);
    expect_wisdom(other, text);

    free(knows);
    free(text);
    ipt_context_destroy(context);
    ipt_context_destroy(other);
}

/* Endless files, files that block their reader, and a file that is far too long. */
static void wisdom_endless_files(void **state)
{
    static const char *const devices[] = {"/dev/zero", "/dev/full", "/dev/null"};
    ipt_context *context = open_context();
    (void)state;
    alarm(60); /* a pipe must not block the reader */
    for (size_t i = 0; i < sizeof devices / sizeof *devices; ++i)
        if (!access(devices[i], R_OK))
            EXPECT_ERROR(ipt_wisdom_import_file(context, devices[i]), IPT_ERROR_INVALID_ARGUMENT, "regular");
    EXPECT_ERROR(ipt_wisdom_import_file(context, folder), IPT_ERROR_INVALID_ARGUMENT, "regular");
    assert_int_equal(mkfifo(missing, 0600), 0);
    EXPECT_ERROR(ipt_wisdom_import_file(context, missing), IPT_ERROR_INVALID_ARGUMENT, "regular");
    assert_int_equal(unlink(missing), 0);
    write_file(missing, "ipt", 3);
    if (!truncate(missing, (off_t)10 << 30)) /* not all file systems support such large files */
        EXPECT_ERROR(ipt_wisdom_import_file(context, missing), IPT_ERROR_INVALID_ARGUMENT, "at most");
    alarm(0);
    assert_int_equal(unlink(missing), 0);
    ipt_context_destroy(context);
}

const struct CMUnitTest test_wisdom[] = {
    TEST_CASE(wisdom_makes_the_measured_plan),
    TEST_CASE(wisdom_decides),
    TEST_CASE(wisdom_of_large_shapes),
    TEST_CASE(wisdom_of_other_shapes),
    TEST_CASE(wisdom_adds_up),
    TEST_CASE(wisdom_without_device),
    TEST_CASE(wisdom_cut),
    TEST_CASE(wisdom_damaged),
    TEST_CASE(wisdom_of_another_version),
    TEST_CASE(wisdom_of_another_device),
    TEST_CASE(wisdom_capacity),
    cmocka_unit_test_setup_teardown(wisdom_files, make_folder, remove_folder),
    cmocka_unit_test_setup_teardown(wisdom_endless_files, make_folder, remove_folder),
};
const size_t test_wisdom_count = TEST_COUNT(test_wisdom);
