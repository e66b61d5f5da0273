/* Messages about files: control characters in names are escaped, a progress line fits its terminal, a lost report is a
 * warning, and no two arguments may name one file. Also: --raw does not move headers, and --memory has the same effect
 * in each run. */
#define _GNU_SOURCE /* POSIX 2008 with XSI */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folders.h"
#include "process.h"
#include "skip.h"

#include "gen/tool/base/text.h"

#ifdef _WIN32 /* no control characters in names, no POSIX terminals */
static void messages_names(void **state)
{
    (void)state;
    test_skip("names cannot have control characters");
}

static void messages_progress_fits(void **state)
{
    (void)state;
    test_skip("no terminals of POSIX");
}
#endif

enum { PATH_SIZE = 400, TEXT_SIZE = 1 << 18, MOST_PATHS = 16, SECONDS = 600 };

static char directory[PATH_SIZE], paths[MOST_PATHS][2 * PATH_SIZE], output[TEXT_SIZE], errors[TEXT_SIZE];
static size_t path_count;

static int make_directory(void **state)
{
    (void)state;
    path_count = 0;
    return folder_make(directory, sizeof directory, "messages");
}

static int remove_directory(void **state)
{
    (void)state;
    return folder_remove(directory);
}

static const char *in_directory(const char *name)
{
    assert_true(path_count < MOST_PATHS);
    snprintf(paths[path_count], sizeof paths[path_count], "%s/%s", directory, name);
    return paths[path_count++];
}

static void take_text(FILE *stream, char *text)
{
    rewind(stream);
    text[fread(text, 1, TEXT_SIZE - 1, stream)] = '\0';
    fclose(stream);
}

/* Runs the tool. shown: the file for its output; NULL: `output`. Fails unless it exits with code. */
static void run_words(int code, const char *shown, const char *const *words, int line)
{
    FILE *out = shown ? fopen(shown, "w") : tmpfile(), *err = tmpfile();
    int status;
    assert_true(out && err);
    const process_setup setup = {fileno(out), fileno(err), 0, 0};
    const pid_t child = process_start(words, &setup);
    assert_int_equal(waitpid(child, &status, 0), child);
    output[0] = '\0';
    if (shown)
        fclose(out);
    else
        take_text(out, output);
    take_text(err, errors);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        fail_msg("line %d: status %d instead of exit code %d: %.2000s", line, status, code, errors);
}

#define run_tool(code, shown, ...)                                                                                     \
    do {                                                                                                               \
        const char *const run_tool_words[] = {process_tool(), __VA_ARGS__, NULL};                                      \
        run_words(code, shown, run_tool_words, __LINE__);                                                              \
    } while (0)

static void expect_said(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("'%s' is not in: %.4000s", words, text);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static bool file_holds(const char *path, const void *bytes, size_t size)
{
    char *const found = malloc(size + 1);
    FILE *file = fopen(path, "rb");
    assert_true(file && found);
    const bool same = fread(found, 1, size + 1, file) == size && memcmp(found, bytes, size) == 0;
    fclose(file);
    free(found);
    return same;
}

#ifndef _WIN32
/* Checks that the only control characters in a text are newlines. */
static void expect_printable(const char *text)
{
    for (; *text; text += *text == '\n' ? 1 : text_character(text))
        if (*text != '\n' && text_character(text) == 0)
            fail_msg("byte %02x is printed: %.200s", (unsigned char)*text, text);
}
#endif

/* ------------------------------------------------------------------------------------------------------------------ */
/* Text */
/* ------------------------------------------------------------------------------------------------------------------ */

static void messages_escape(void **state)
{
    static const struct {
        const char *text, *kept, *escaped;
        size_t columns;
    } cases[] = {
        {"plain name", "", "plain name", 10},
        {"a\nb\tc\r", "", "a\\nb\\tc\\r", 9},
        {"a\nb\tc", "\n", "a\nb\\tc", 6},
        {"\033[2J\a\x7f", "", "\\x1b[2J\\x07\\x7f", 15},
        {"\xc3\xa4\xe6\xb1\x89\xf0\x9f\x98\x80", "", "\xc3\xa4\xe6\xb1\x89\xf0\x9f\x98\x80", 5},
        {"\xc2\x9b"
         "31m",
         "", "\\xc2\\x9b31m", 11}, /* U+009B also begins an escape sequence */
        {"\x9b"
         "31m\xff",
         "", "\\x9b31m\\xff", 11},
        {"\xc0\x9b\xe0\x80\x9b", "", "\\xc0\\x9b\\xe0\\x80\\x9b", 20}, /* overlong UTF-8 */
        {"\xed\xa0\x80\xf4\x90\x80\x80", "", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80", 28},
        {"\xe6\xb1", "", "\\xe6\\xb1", 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char *const escaped = text_escape(cases[i].text, cases[i].kept);
        assert_non_null(escaped);
        assert_string_equal(escaped, cases[i].escaped);
        if (!strchr(escaped, '\n'))
            assert_int_equal(text_columns(escaped), cases[i].columns);
        free(escaped);
    }
}

#ifndef _WIN32
static void messages_names(void **state)
{
    static const char header[] =
        "\x93NUMPY\1\0\x46\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n";
    char bytes[sizeof header - 1 + 24] = {0};
    const char *const path = in_directory("a\n\033[31m\xff.npy"), *const shown = "a\\n\\x1b[31m\\xff.npy";
    (void)state;
    memcpy(bytes, header, sizeof header - 1);
    write_file(path, bytes, sizeof bytes - 4); /* a cut file */
    run_tool(1, NULL, "transpose", path);
    expect_said(errors, shown);
    expect_printable(errors);
    write_file(path, bytes, sizeof bytes);
    run_tool(0, NULL, "transpose", path, "--verbose", "--no-journal");
    expect_said(output, shown);
    expect_said(errors, shown);
    expect_printable(output);
    expect_printable(errors);
    run_tool(1, NULL, "bench", "--shapes", path);
    expect_printable(errors);
    run_tool(2, NULL, "bench", "3x\033[31m4:4");
    expect_said(errors, "\\x1b");
    expect_printable(errors);
    run_tool(2, NULL, "\033[31m");
    expect_printable(errors);
    run_tool(2, NULL, "plan", "--\033[31m");
    expect_printable(errors);
    run_tool(1, NULL, "plan", "3x4:4", "--device", "\033[31m");
    expect_printable(errors);
    run_tool(1, NULL, "plan", "3x4:4", "--profile", in_directory("\033[31m"));
    expect_printable(errors);
    run_tool(1, NULL, "plan", "--action", in_directory("\033[32m"));
    expect_printable(errors);
}

/* Checks the progress of a file with this name on a terminal with this many columns: each line must be shorter. */
static void expect_progress(const char *path, unsigned short columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    const char *const tool = process_tool();
    static char text[TEXT_SIZE];
    size_t length = 0;
    int terminal, status;
    const pid_t child = forkpty(&terminal, NULL, NULL, &size);
    if (child < 0)
        test_skip("this system has no pseudo-terminals");
    if (child == 0) {
        alarm(SECONDS);
        execl(tool, "ipt", "transpose", path, "--raw", "6001x3001:4", "--matrix-memory=4M", NULL);
        _exit(127);
    }
    for (;;) {
        const ssize_t got = read(terminal, text + length, TEXT_SIZE - 1 - length);
        if (got <= 0 && errno != EINTR)
            break;
        length += got > 0 ? (size_t)got : 0;
        assert_true(length < TEXT_SIZE - 1);
    }
    text[length] = '\0';
    assert_int_equal(waitpid(child, &status, 0), child);
    close(terminal);
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "\r\033[K"));
    size_t lines = 0;
    for (char *line = strtok(text, "\r"); line; line = strtok(NULL, "\r")) {
        line += strncmp(line, "\033[K", 3) == 0 ? 3 : 0;
        expect_printable(line);
        if (text_columns(line) >= columns)
            fail_msg("%zu columns on a terminal of %u: %s", text_columns(line), columns, line);
        lines += strstr(line, " %") != NULL || columns < 40;
    }
    assert_true(lines > 0);
}

static void messages_progress_fits(void **state)
{
    static const char *const names[] = {
        "n", "\xc3\xa4\xe6\xb1\x89\xe6\xb1\x89\xe6\xb1\x89\xe6\xb1\x89.raw",
        "a long name of a file with \033[2J and\nmore, longer than a terminal is wide, so that "
        "it would scroll"};
    static const unsigned short columns[] = {80, 60, 20};
    const size_t size = (size_t)6001 * 3001 * 4;
    char *const bytes = calloc(size, 1);
    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < 3; ++i) {
        const char *const path = in_directory(names[i]);
        write_file(path, bytes, size);
        expect_progress(path, columns[i]);
        unlink(path);
    }
    free(bytes);
}

#endif

/* ------------------------------------------------------------------------------------------------------------------ */
/* Files */
/* ------------------------------------------------------------------------------------------------------------------ */

/* If only the report cannot be written, a finished transposition is no failure: repeating it would undo it. */
static void messages_lost_report(void **state)
{
    static const char before[] = "abcdef", after[] = "adbecf";
    const char *const path = in_directory("m");
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        test_skip("there is no /dev/full");
    write_file(path, before, 6);
    run_tool(0, "/dev/full", "transpose", path, "--raw", "2x3:1", "--verbose");
    expect_said(errors, "the work is done, only its report is lost");
    assert_true(file_holds(path, after, 6));
    run_tool(1, "/dev/full", "transpose", "--help");
    run_tool(0, "/dev/full", "precompile", "2x3:1", "--embed", in_directory("h"));
    expect_said(errors, "the work is done");
    static const char *const results[][5] = {
        {"devices"},         {"devices", "--json"},          {"plan", "2x3:1"}, {"plan", "2x3:1", "--json"},
        {"source", "2x3:1"}, {"bench", "20x30:4", "--json"}, {"help"},          {"bench", "20x30:4", "--csv", "-"}};
    for (size_t i = 0; i < sizeof results / sizeof *results; ++i) {
        const char *words[7] = {process_tool()};
        memcpy(words + 1, results[i], sizeof results[i]);
        run_words(1, "/dev/full", words, (int)i);
        expect_said(errors, "standard output: ");
    }
}

/* An output must not be an input or another output, also under another name. */
static void messages_same_files(void **state)
{
    static const char shapes[] = "20 30\n";
    const char *const path = in_directory("f"), *const link_path = in_directory("g"),
                      *const none = in_directory("none");
    const char *const other_none = in_directory("./none"), *const other = in_directory("other");
    (void)state;
    write_file(path, shapes, sizeof shapes - 1);
    assert_int_equal(link(path, link_path), 0);
    run_tool(2, NULL, "bench", "20x30:4", "--csv", path, "--plot", link_path);
    expect_said(errors, "--csv and --plot name the same file");
    run_tool(2, NULL, "bench", "20x30:4", "--csv", none, "--plot", other_none);
    expect_said(errors, "--csv and --plot name the same file");
    run_tool(2, NULL, "bench", "--shapes", path, "--csv", link_path);
    expect_said(errors, "--csv and --shapes");
    run_tool(2, NULL, "bench", "--shapes", path, "--plot", path);
    run_tool(2, NULL, "precompile", "--shapes", path, "--embed", link_path);
    run_tool(2, NULL, "precompile", "2x3:4", "--wisdom", path, "--embed", link_path);
    run_tool(2, NULL, "precompile", "--action", path, "--embed", path);
    run_tool(2, NULL, "tune", "--shapes", path, "-o", link_path);
    run_tool(2, NULL, "transpose", "x.npy", "--wisdom", path, "-o", link_path);
    assert_true(file_holds(path, shapes, sizeof shapes - 1));
    assert_int_not_equal(access(none, F_OK), 0);
    run_tool(0, NULL, "bench", "20x30:4", "--csv", path, "--plot", other);
    run_tool(0, NULL, "bench", "20x30:4", "--csv", "/dev/null", "--plot", "/dev/null");
}

/* --raw refuses files whose header would move with the data. */
static void messages_raw_headers(void **state)
{
    static const struct {
        const char *name, *start, *expected;
    } cases[] = {
        {"a", "\x93NUMPY\1", "a NumPy file"},        {"a", "P5 4 4 255 ", "a PGM, PPM or PAM picture"},
        {"a", "\x89PNG\r\n\x1a\n", "a PNG picture"}, {"a", "\xff\xd8\xff\xe0", "a JPEG picture"},
        {"a.tga", "abcdef", "a TGA picture"},        {"a", "PK\3\4", ".npz"},
        {"a", "\x89HDF\r\n\x1a\n", "HDF5"},          {"a", "GIF89a", "a GIF picture"},
    };
    static const char bmp[] = "BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0";
    char bytes[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *const path = in_directory(cases[i].name);
        memset(bytes, 'x', sizeof bytes);
        memcpy(bytes, cases[i].start, strlen(cases[i].start));
        write_file(path, bytes, sizeof bytes);
        run_tool(1, NULL, "transpose", path, "--raw", "4x8:1");
        expect_said(errors, cases[i].expected);
        expect_said(errors, "--offset");
        assert_true(file_holds(path, bytes, sizeof bytes));
        run_tool(0, NULL, "transpose", path, "--raw", "4x8:1", "--force");
        assert_false(file_holds(path, bytes, sizeof bytes));
        run_tool(0, NULL, "transpose", path, "--raw", "8x4:1", "--offset", "0");
        assert_true(file_holds(path, bytes, sizeof bytes));
        unlink(path);
        path_count--;
    }
    const char *const path = in_directory("b");
    memset(bytes, 'x', sizeof bytes);
    memcpy(bytes, bmp, sizeof bmp - 1);
    write_file(path, bytes, sizeof bytes);
    run_tool(1, NULL, "transpose", path, "--raw", "4x8:1");
    expect_said(errors, "a BMP picture");
    bytes[15] = 'x'; /* any data may begin with BM */
    write_file(path, bytes, sizeof bytes);
    run_tool(0, NULL, "transpose", path, "--raw", "4x8:1");
    run_tool(2, NULL, "transpose", path, "--force");
    expect_said(errors, "--force needs --raw");
}

/* In the first run, with empty caches, OpenCL needs memory to compile: both runs' results must be equal. */
static void messages_memory_is_the_same(void **state)
{
    static const char *const limits[] = {"90M", "120M", "160M", "200M"};
    const size_t size = (size_t)30 * 31 * 600 * 4;
    char *const bytes = calloc(size, 1);
    const char *const path = in_directory("m");
    (void)state;
    assert_non_null(bytes);
    write_file(path, bytes, size);
    free(bytes);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
        char pocl[40], cache[40];
        snprintf(pocl, sizeof pocl, "pocl%zu", i);
        snprintf(cache, sizeof cache, "cache%zu", i);
        assert_int_equal(setenv("POCL_CACHE_DIR", in_directory(pocl), 1), 0);
        const char *const folder = in_directory(cache);
        int codes[2];
        for (int run = 0; run < 2; ++run) {
            const char *const words[] = {process_tool(),    "transpose", path,      "--raw",   "30x31x600:4", "--axes",
                                         "2,1,0",           "--memory",  limits[i], "--cache", folder,        "-o",
                                         in_directory("n"), NULL};
            FILE *nothing = tmpfile();
            assert_non_null(nothing);
            const process_setup setup = {fileno(nothing), fileno(nothing), 0, 0};
            const pid_t child = process_start(words, &setup);
            assert_int_equal(waitpid(child, &codes[run], 0), child);
            fclose(nothing);
            path_count--;
        }
        if (codes[0] != codes[1])
            fail_msg("--memory %s: status %d in the first run, %d in the second", limits[i], codes[0], codes[1]);
    }
    unsetenv("POCL_CACHE_DIR");
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

const struct CMUnitTest test_messages[] = {
    cmocka_unit_test(messages_escape),         IN_DIRECTORY(messages_names),      IN_DIRECTORY(messages_progress_fits),
    IN_DIRECTORY(messages_lost_report),        IN_DIRECTORY(messages_same_files), IN_DIRECTORY(messages_raw_headers),
    IN_DIRECTORY(messages_memory_is_the_same),
};
const size_t test_messages_count = sizeof test_messages / sizeof test_messages[0];
