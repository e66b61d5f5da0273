/* Formats between machines: a machine with another byte order or word size reads a file right, or refuses it with a
 * message. IPT_TEST_EXCHANGE names a folder for exchange between machines: each run writes its files and reads the
 * files of all machines. Needs no device: uses the OpenCL stub (fake_cl.c). */
#define _XOPEN_SOURCE 700
#include "fake_cl.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int compiled; /* programs that were compiled from source */

static cl_program CL_API_CALL counted_clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                                                const size_t *lengths, cl_int *error)
{
    ++compiled;
    return fake_clCreateProgramWithSource(context, count, texts, lengths, error);
}

#include "stand_in.h"
#define STAND_IN_clCreateProgramWithSource ~, counted_clCreateProgramWithSource
#define IPT_ENTRY_POINT(name) STAND_IN_OR(STAND_IN_##name, fake_##name)
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "folders.h"
#include "gen/tool/store/journal.h"
#include "gen/tool/picture/netpbm.h"
#include "test.h"

enum { NAME_SIZE = 100, PATH_SIZE = 4000, TEXT_SIZE = 4096 };

static char own_folder[PATH_SIZE]; /* "": use IPT_TEST_EXCHANGE */

static const char *exchange(void)
{
    const char *const given = getenv("IPT_TEST_EXCHANGE");
    return given ? given : own_folder;
}

static int make_folder(void **state)
{
    test_start(state);
    return getenv("IPT_TEST_EXCHANGE") ? 0 : folder_make(own_folder, sizeof own_folder, "formats");
}

static int remove_folder(void **state)
{
    (void)state;
    return *own_folder ? folder_remove(own_folder) : 0;
}

static const char *byte_order(void)
{
    const unsigned short one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first ? "little" : "big";
}

/* The path of this machine's file of a kind. */
static void own_path(char path[PATH_SIZE], const char *kind)
{
    const int length = snprintf(path, PATH_SIZE, "%s/%s-%s-%zu", exchange(), kind, byte_order(), 8 * sizeof(size_t));
    assert_true(length > 0 && length < PATH_SIZE);
}

/* Finds the next file of a kind, of any machine. Returns its number, from 0 on. */
static int next_path(DIR *list, const char *kind, char path[PATH_SIZE], int *is_native)
{
    const size_t length = strlen(kind);
    for (const struct dirent *entry; (entry = readdir(list));)
        if (!strncmp(entry->d_name, kind, length) && entry->d_name[length] == '-') {
            snprintf(path, PATH_SIZE, "%.3000s/%.255s", exchange(), entry->d_name);
            *is_native = strstr(entry->d_name, byte_order()) != NULL;
            return 1;
        }
    return 0;
}

static DIR *open_exchange(void)
{
    DIR *const list = opendir(exchange());
    assert_non_null(list);
    return list;
}

/* ------------------------------------------------------------------------------------------------------------------ */

enum { OFFSET = 80, STEPS = 3, PIECE = 1000 };

/* A journal after two steps. */
static void write_journal(const char *path)
{
    static const unsigned char before[OFFSET] = "before", after[OFFSET] = "after";
    static const void *const headers[] = {before, after};
    const journal_job job = {.inode = 0x0102030405060708,
                             .device = 9,
                             .mark = 10,
                             .file_size = OFFSET + 4 * 1000 * 777,
                             .data_offset = OFFSET,
                             .rows = 1000,
                             .cols = 777,
                             .elem_size = 4,
                             .memory_bytes = STEPS * PIECE,
                             .steps = STEPS,
                             .file = "matrix.npy"};
    char message[JOURNAL_MESSAGE_SIZE] = "";
    journal made;
    unlink(path);
    if (!journal_create(&made, path, &job, headers, false, message))
        fail_msg("%s", message);
    for (unsigned step = 0; step < 2; ++step) {
        memset(made.memory + step * PIECE, 'a' + (int)step, PIECE);
        assert_true(journal_note(&made, made.descriptor, step, made.memory + (size_t)step * PIECE, PIECE, message));
    }
    journal_close(&made, false);
}

static void expect_journal(const char *path)
{
    char message[JOURNAL_MESSAGE_SIZE] = "";
    journal found;
    if (!journal_open(&found, path, false, message))
        fail_msg("%s", message);
    const journal_job *const job = &found.head->job;
    assert_true(job->inode == 0x0102030405060708 && job->device == 9 && job->rows == 1000 && job->cols == 777);
    assert_true(found.ready == 2 && !found.ended && found.memory[PIECE] == 'b');
    assert_string_equal((const char *)found.after, "after");
    assert_true(journal_check_piece(&found, 0, message));
    journal_close(&found, false);
}

static void expect_other_order(const char *path)
{
    char message[JOURNAL_MESSAGE_SIZE] = "";
    journal found;
    assert_false(journal_open(&found, path, false, message));
    if (!strstr(message, "other byte order: resume there"))
        fail_msg("%s", message);
}

static void formats_journals(void **state)
{
    char path[PATH_SIZE];
    int is_native, native = 0;
    (void)state;
    own_path(path, "journal");
    write_journal(path);
    DIR *const list = open_exchange();
    while (next_path(list, "journal", path, &is_native)) {
        native += is_native;
        (is_native ? expect_journal : expect_other_order)(path);
    }
    closedir(list);
    assert_true(native >= 1);
}

/* The head as a machine of the other byte order writes it. */
static void formats_reversed_journal(void **state)
{
    char path[PATH_SIZE];
    journal_head head;
    (void)state;
    own_path(path, "reversed");
    write_journal(path);
    FILE *const file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(&head, sizeof head, 1, file), 1);
    head.head_bytes = journal_reverse(head.head_bytes);
    rewind(file);
    assert_int_equal(fwrite(&head, sizeof head, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    expect_other_order(path);
    assert_true(journal_reverse(0x0102030405060708) == 0x0807060504030201);
    unlink(path);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static ipt_context *open_context(const char *cache)
{
    ipt_context_desc desc = {.device = fake_device_id(FAKE_GPU), .cache_dir = cache};
    ipt_context *context = NULL;
    if (ipt_context_create(&desc, &context) != IPT_SUCCESS)
        fail_msg("%s", ipt_context_error(NULL));
    return context;
}

/* Makes a plan with this cache. Returns how many programs were compiled. */
static int compile_with(const char *cache)
{
    const ipt_plan_desc desc = {.rows = 1000, .cols = 777, .elem_size = 4};
    ipt_context *const context = open_context(cache);
    ipt_plan *plan = NULL;
    compiled = 0;
    if (ipt_plan_create(context, &desc, &plan) != IPT_SUCCESS)
        fail_msg("%s", ipt_context_error(NULL));
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return compiled;
}

/* Numbers of an entry are little-endian on every machine. */
static void formats_cache(void **state)
{
    char path[PATH_SIZE];
    int is_native;
    (void)state;
    own_path(path, "cache");
    folder_remove(path);
    assert_true(compile_with(path) > 0);
    DIR *const list = open_exchange();
    while (next_path(list, "cache", path, &is_native))
        if (compile_with(path) != 0)
            fail_msg("%s is not used", path);
    closedir(list);
}

static void formats_entry(void **state)
{
    static const unsigned char expected[] = {'i', 'p', 't', 'c', 'a', 'c', 'h', 'e', 1, 0, 0, 0,
                                             3,   0,   0,   0,   7,   0,   0,   0,   0, 0, 0, 0};
    unsigned char entry[IPT__ENTRY_HEAD + 10] = {0};
    char digits[33];
    (void)state;
    memcpy(entry + IPT__ENTRY_HEAD + 3, "payload", 7);
    ipt__entry_seal(entry, "key", 7);
    assert_memory_equal(entry, expected, sizeof expected);
    assert_int_equal(ipt__entry_open(entry, sizeof entry, "key"), IPT__ENTRY_HEAD + 3);
    /* FIPS 180-4's example */
    ipt__hash_text("abc", 3, digits, 32);
    assert_string_equal(digits, "ba7816bf8f01cfea414140de5dae2223");
    /* as written by a machine that stores its own byte order */
    for (int i = 0; i < 2; ++i) {
        const unsigned char held = entry[12 + i];
        entry[12 + i] = entry[15 - i];
        entry[15 - i] = held;
    }
    assert_int_equal(ipt__entry_open(entry, sizeof entry, "key"), 0);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Wisdom is text. */
static void formats_wisdom(void **state)
{
    ipt__wisdom known = {.rows = 700, .cols = 500, .elem_size = 4, .batch = 1, .workspace = 14000, .length = 28};
    char path[PATH_SIZE], text[TEXT_SIZE], again[TEXT_SIZE];
    int is_native;
    (void)state;
    ipt_context *context = open_context("");
    assert_true(ipt__wisdom_add(context, &known));
    own_path(path, "wisdom");
    assert_int_equal(ipt_wisdom_export(context, text, sizeof text, NULL), IPT_SUCCESS);
    assert_int_equal(ipt_wisdom_export_file(context, path), IPT_SUCCESS);
    ipt_context_destroy(context);
    DIR *const list = open_exchange();
    while (next_path(list, "wisdom", path, &is_native)) {
        context = open_context("");
        if (ipt_wisdom_import_file(context, path) != IPT_SUCCESS)
            fail_msg("%s", ipt_context_error(NULL));
        assert_int_equal(ipt_wisdom_export(context, again, sizeof again, NULL), IPT_SUCCESS);
        assert_string_equal(again, text);
        ipt_context_destroy(context);
    }
    closedir(list);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Parses a NumPy header with this type. */
static void parse(const char *type, npy_header *header, char text[TEXT_SIZE])
{
    char message[NPY_MESSAGE_SIZE] = "", file[TEXT_SIZE];
    npy_span span;
    snprintf(text, TEXT_SIZE, "{'descr': '%s', 'fortran_order': False, 'shape': (30, 4), }\n", type);
    const size_t length = strlen(text);
    /* the length is little-endian on every machine */
    const int start = snprintf(file, sizeof file, "\x93NUMPY\x01%c%c%c%s", 0, (char)length, 0, "");
    memcpy(file + start, text, length);
    assert_int_equal(start, 10);
    assert_true(npy_find_text((const unsigned char *)file, start + length, &span, message));
    assert_true(span.begin == 10 && span.length == length);
    if (!npy_parse(text, length, header, message))
        fail_msg("%s", message);
}

/* Elements of both byte orders move as bytes. Expressions support only this machine's order. */
static void formats_npy(void **state)
{
    static const char *const types[] = {"<f4", ">f4", "<u2", ">u2"};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(types); ++i) {
        char message[NPY_MESSAGE_SIZE] = "", text[TEXT_SIZE], expected[TEXT_SIZE];
        const bool is_native = (types[i][0] == '<') == (byte_order()[0] == 'l');
        const char *type = NULL;
        npy_header header;
        size_t size = 0;
        parse(types[i], &header, text);
        assert_true(header.order == types[i][0] && header.kind == types[i][1]);
        assert_true(npy_data_size(&header, &size, message) && size == 120 * (size_t)(types[i][2] - '0'));
        assert_int_equal(npy_expression_type(&header, NULL, &type, message), is_native);
        if (!is_native)
            assert_non_null(strstr(message, "has the other order"));
        npy_swap_dimensions(text, &header, 0);
        snprintf(expected, sizeof expected, "{'descr': '%s', 'fortran_order': False, 'shape': (4, 30), }\n", types[i]);
        assert_string_equal(text, expected);
    }
}

/* Samples of 16 bits are big-endian on every machine, and move as two bytes. */
static void formats_netpbm(void **state)
{
    static const char picture[] = "P6\n# deep\n3 2\n65535\n";
    char message[NPY_MESSAGE_SIZE] = "", text[sizeof picture];
    netpbm_header header;
    size_t size = 0;
    (void)state;
    memcpy(text, picture, sizeof picture);
    if (!netpbm_parse(text, sizeof picture - 1, &header, message))
        fail_msg("%s", message);
    assert_true(header.width == 3 && header.height == 2 && header.channels == 3 && header.sample_bytes == 2);
    assert_true(netpbm_data_size(&header, &size, message) && size == 36);
    netpbm_swap_sides(text, &header);
    assert_string_equal(text, "P6\n# deep\n2 3\n65535\n");
}

/* A shape whose bytes overflow size_t is refused with a message. */
static void formats_too_large(void **state)
{
    char message[NPY_MESSAGE_SIZE] = "", text[TEXT_SIZE];
    const char *const half = sizeof(size_t) == 4 ? "65536" : "4294967296";
    netpbm_header picture;
    npy_header header;
    size_t size;
    (void)state;
    snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (%s, %s), }\n", half, half);
    if (npy_parse(text, strlen(text), &header, message))
        assert_false(npy_data_size(&header, &size, message));
    assert_non_null(strstr(message, "too large"));
    snprintf(text, sizeof text, "P6\n%s %s\n255\n", half, half);
    if (netpbm_parse(text, strlen(text), &picture, message))
        assert_false(netpbm_data_size(&picture, &size, message));
    assert_non_null(strstr(message, "too large"));
    const ipt_plan_desc desc = {
        .rows = (size_t)strtoull(half, NULL, 10), .cols = (size_t)strtoull(half, NULL, 10), .elem_size = 4};
    ipt_context *const context = open_context("");
    ipt_plan *plan = NULL;
    test_expect_error(ipt_plan_create(context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, NULL, NULL);
    assert_non_null(strstr(ipt_context_error(NULL), half));
    ipt_context_destroy(context);
}

#define FORMATS_CASE(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)
const struct CMUnitTest test_formats[] = {
    FORMATS_CASE(formats_journals), FORMATS_CASE(formats_reversed_journal), FORMATS_CASE(formats_cache),
    TEST_CASE(formats_entry),       FORMATS_CASE(formats_wisdom),           TEST_CASE(formats_npy),
    TEST_CASE(formats_netpbm),      TEST_CASE(formats_too_large),
};
const size_t test_formats_count = TEST_COUNT(test_formats);
