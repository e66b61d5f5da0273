/* Features of all commands: command lines, help, messages, output. A wrong command line exits with 2, any other failure
 * with 1. Also ipt devices, plan and source. */
#define _GNU_SOURCE /* POSIX 2008 with XSI, and memmem */

#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------------ */
/* The other commands */
/* ------------------------------------------------------------------------------------------------------------------ */

static void test_usage_errors(void **state)
{
    (void)state;
    static const char *const cases[][8] = {
        {NULL},
        {"nosuchcommand"},
        {"--nosuchoption"},
        {"help", "nosuchcommand"},
        {"transpose"},
        {"transpose", "a", "b"},
        {"transpose", "a", "--raw"},
        {"transpose", "a", "--raw", "3x4"},
        {"transpose", "a", "--raw", "3x4:0"},
        {"transpose", "a", "--raw", ROOT "x" ROOT ":1"},
        {"transpose", "a", "--repeat", "3"},
        {"transpose", "a", "--axes", "0,x"},
        {"transpose", "a", "--axes", "0,,1"},
        {"transpose", "a", "--order", "A"},
        {"transpose", "a", "--axes", "1,0", "--move", "rotate-90"},
        {"transpose", "a", "--order", "F", "--channels-last"},
        {"transpose", "a", "--order", "F", "--raw", "3x4:4"},
        {"transpose", "a", "--raw", "3x4x5:4"},
        {"transpose", "a", "--raw", "3x0x5:4", "--axes", "2,1,0"},
        {"transpose", "a", "--raw", "1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1:4", "--axes", "0,1"},
        {"plan", "3x4x5:4"},
        {"plan", "3x4x5:4", "--axes", "0,1"},
        {"source", "3x4x5:4", "--axes", "0,1,1"},
        {"precompile", "3x4x5:4", "4x5:4", "--axes", "2,1,0", "-o", "a"},
        {"bench", "3x4x5:4", "--axes", "2,1,0"},
        {"bench", "3x4:4", "--json", "--csv", "-"},
        {"bench", "3x4:4", "--json", "--plot", "-"},
        {"bench", "3x4:4", "--csv=-", "--plot=-"},
        {"bench", "3x4:4", "--startup", "--plot", "a"},
        {"transpose", "a", "--json"},
        {"tune", "3x4x5:4"},
        {"devices", "a"},
        {"plan"},
        {"plan", "3x4:4:"},
        {"plan", "3X4:4"},
        {"plan", "0x4:4"},
        {"plan", "-3x4:4"},
        {"plan", " 3x4:4"},
        {"plan", "3x4: 4"},
        {"plan", "99999999999999999999x4:4"},
        {"plan", "3x4:4", "--batch", "9223372036854775807"},
        {"plan", "3x4:4", "--batch", "0"},
        {"plan", "3x4:4", "--tile-m", "x"},
        {"plan", "3x4:4", "--tile-n", ""},
        {"plan", "3x4:4", "--sequence", "5.1"},
        {"plan", "3x4:4", "--raw", "3x4:4"},
        {"plan", "3x4:4", "--help=1"},
        {"source", "3x4:4", "--workspace", "99999999999999999999"},
        {"bench", "3x4:4", "--repeat", "0"},
        {"bench", "3x4:4", "--repeat=1000001"},
        {"bench"},
        {"bench", "3x4"},
        {"bench", "3x4:4", "--shapes", "a"},
        {"bench", "3x4:4", "--random", "1", "--sides", "1..2"},
        {"bench", "--shapes", "a", "--random", "1", "--sides", "1..2"},
        {"bench", "3x4:4", "--elem-size", "4"},
        {"bench", "3x4:4", "--seed", "1"},
        {"bench", "--shapes", "a", "--square"},
        {"bench", "--shapes", "a", "--bytes", "1..2"},
        {"bench", "--shapes", "a", "--elem-size", "0"},
        {"bench", "--shapes"},
        {"bench", "--random", "1"},
        {"bench", "--random", "0", "--sides", "1..2"},
        {"bench", "--random", "1000001", "--sides", "1..2"},
        {"bench", "--random", "1", "--sides", ""},
        {"bench", "--random", "1", "--sides", "5"},
        {"bench", "--random", "1", "--sides", "2..1"},
        {"bench", "--random", "1", "--sides", "0..1"},
        {"bench", "--random", "1", "--sides", "1...2"},
        {"bench", "--random", "1", "--sides", "1..2,"},
        {"bench", "--random", "1", "--sides", "1..2,4..3"},
        {"bench", "--random", "1", "--sides", "1..2,0..3"},
        {"bench", "--random", "1", "--sides", "1..2,3..4,5..6"},
        {"bench", "--random", "1", "--sides", "1..99999999999999999999"},
        {"bench", "--random", "1", "--sides", "1..2,3..4", "--square"},
        {"bench", "--random", "1", "--sides", "1..2", "--bytes", "2..1"},
        {"bench", "--random", "1", "--sides", "1..2", "--bytes", "1..2,3..4"},
        {"bench", "--random", "1", "--sides", "1..2", "--multiple", "0"},
        {"bench", "3x4:4", "--rounds", "0"},
        {"bench", "3x4:2", "--blas"},
        {"bench", "--shapes", "a", "--elem-size", "12", "--blas"},
        {"bench", "3x4:4", "--blas=1"},
        {"bench", "3x4:4", "--pitch", "0"},
        {"bench", "3x4:4", "--pitch", "64", "--pad"},
        {"plan", "3x4:4", "--pitch", "64"},
        {"plan", "3x4:4", "--blas"},
        {"plan", "3x4:8", "--expression", "x"},
        {"plan", "3x4:4", "--type", "float"},
        {"plan", "3x4:4", "--argument-type", "float"},
        {"transpose", "a", "--expression", "x", "--argument-type", "float"},
        {"transpose", "a", "--raw", "3x4:2", "--expression", "x"},
        {"transpose", "a", "--type", "float"},
        {"plan", "3x4:4", "--csv", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *words[10] = {process_tool()};
        for (size_t j = 0; j < 8; j++) {
            words[j + 1] = cases[i][j];
        }
        run_words(NULL, words);
        expect_code(2, (int)i);
        assert_string_equal(last.output, "");
        expect_word(last.errors, "ipt: ");
        expect_word(last.errors, "--help");
    }
}

/* No line exceeds a terminal's 80 columns. */
static void expect_narrow_lines(const char *text)
{
    enum { COLUMNS = 80 };
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        if (strcspn(line, "\n") > COLUMNS || (line[0] != '\n' && line[strcspn(line, "\n") - 1] == ' ')) {
            fail_msg("this line is longer than %d columns, or ends with a space: %.200s", COLUMNS, line);
        }
    }
}

static void test_help(void **state)
{
    (void)state;
    static const char *const commands[] = {"devices", "transpose", "plan", "source", "precompile", "tune", "bench"};
    run_tool(0, "--help");
    static char help[OUTPUT_SIZE];
    memcpy(help, last.output, sizeof help);
    run_tool(0, "help");
    assert_string_equal(last.output, help);
    expect_narrow_lines(help);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char line_start[32];
        snprintf(line_start, sizeof line_start, "\n  %s ", commands[i]);
        expect_word(help, line_start);
        run_tool(0, commands[i], "--help");
        expect_word(last.output, "usage: ipt ");
        expect_word(last.output, commands[i]);
        expect_word(last.output, "--device");
        expect_narrow_lines(last.output);
    }
    static const char *const of_bench[] = {"--repeat",  "--rounds", "--shapes",   "--random",  "--elem-size",
                                           "--sides",   "--bytes",  "--square",   "--seed",    "--multiple",
                                           "--measure", "--blas",   "--csv FILE", "--startup", "--pitch ALIGN"};
    for (size_t i = 0; i < sizeof of_bench / sizeof of_bench[0]; i++) {
        expect_word(last.output, of_bench[i]);
    }
    expect_word(last.output, "two-pass");
    run_tool(0, "--version");
    assert_int_equal(strncmp(last.output, "ipt ", 4), 0);
}

/* Whether a text is one value of JSON, as far as brackets, strings and separators go. */
static bool is_json(const char *text)
{
    char open[40];
    size_t depth = 0;
    bool in_string = false, done = false;
    for (; *text != '\0'; text++) {
        if (in_string) {
            assert_true((unsigned char)*text >= ' ');
            text += *text == '\\';
            in_string = *text != '"';
        } else if (*text == '"') {
            in_string = true;
        } else if (*text == '[' || *text == '{') {
            assert_true(depth < sizeof open && !done);
            open[depth++] = *text == '[' ? ']' : '}';
        } else if (*text == ']' || *text == '}') {
            if (depth == 0 || open[--depth] != *text) {
                return false;
            }
            done = depth == 0;
        } else if (strchr(" \n,:.+-0123456789eaflnrstu", *text) == NULL) { /* numbers, null, true, false */
            return false;
        }
    }
    return done && !in_string;
}

/* --json of devices, plan and bench, and CSV: standard output contains nothing else. */
static void test_json(void **state)
{
    (void)state;
    run_tool(0, "devices", "--json");
    assert_true(is_json(last.output));
    expect_word(last.output, "\"selected\": true");
    run_tool(0, "plan", "20x30:4", "--json");
    assert_true(is_json(last.output));
    expect_word(last.output, "{\"shape\": [20, 30], \"elem_size\": 4, \"batch\": 1, \"workspace\": ");
    expect_word(last.output, "\"20 x 30 elements of 4 bytes");
    run_tool(0, "plan", "2x3x4:4", "--axes=2,0,1", "--json");
    assert_true(is_json(last.output));
    expect_word(last.output, "\"shape\": [2, 3, 4], \"axes\": [2, 0, 1]");
    run_tool(0, "bench", "20x30:4", "--json", "--repeat=1", "--rounds=1");
    assert_true(is_json(last.output));
    expect_word(last.output, "\"rows\": 20, \"cols\": 30");
    expect_word(last.output, "\"verified\": 1, \"blas_seconds\": null");
    expect_word(last.errors, "summary: 1 of 1 verified");
    run_tool(0, "bench", "20x30:4", "--csv=-", "--repeat=1", "--rounds=1");
    assert_memory_equal(last.output, "rows,cols,elem_size,", 20);
    assert_null(strstr(last.output, "summary"));
    expect_word(last.output, "\n20,30,4,1,2400,");
}

static void test_devices(void **state)
{
    (void)state;
    run_tool(0, "devices");
    expect_word(last.output, "device 0");
    assert_int_equal(count_words(last.output, " (default)\n"), 1);
    assert_string_equal(last.errors, "");
}

/* The output shows forced parameters: the options reach the plan. */
static void test_plan(void **state)
{
    (void)state;
    run_tool(0, "plan", "1000x777:4");
    expect_word(last.output, "1000 x 777 elements of 4 bytes, 1 matrix, sequence auto");
    assert_string_equal(last.errors, "");
    run_tool(0, "plan", "1000x777:4", "--sequence", "two-pass", "--batch=3");
    expect_word(last.output, "3 matrices, sequence two-pass");
    run_tool(1, "plan", "1000x777:4", "--sequence", "1", "--workspace", "1000");
    expect_word(last.errors, "--workspace");
    run_tool(0, "plan", "600x700:4", "--sequence", "3.2", "--tile-m", "20", "--tile-n", "35");
    expect_word(last.output, "3.2");
    expect_word(last.output, "20");
    expect_word(last.output, "35");
    run_tool(1, "plan", "600x700:4", "--sequence", "3.2", "--tile-m", "7", "--tile-n", "35");
    expect_word(last.errors, "--tile-m");
    run_tool(0, "plan", "1000x777:4", "--measure", "--no-cooperative");
    expect_word(last.output, "1000 x 777 elements of 4 bytes");
}

static void test_source(void **state)
{
    (void)state;
    run_tool(0, "source", "1000x777:4");
    assert_int_equal(strncmp(last.output, "/* ---- program 0", 17), 0);
    expect_word(last.output, "__kernel");
    run_tool(0, "source", "1x777:4");
    assert_string_equal(last.output, "");
    expect_word(last.errors, "no program");
}

/* Messages name the command line's options, no limit if none is set, and the reason after a long name. */
static void tool_messages(void **state)
{
    (void)state;
    static char name[6000];
    memset(name, 'n', sizeof name - 1);
#ifdef _WIN32
#define TOO_LONG "No such file or directory"
#else
#define TOO_LONG "File name too long"
#endif
    static const struct {
        int code;
        const char *words[6], *said, *unsaid;
    } cases[] = {
        {1, {"plan", "5000x7003:4", "--workspace", "10"}, "--workspace allows 10 bytes", "max_workspace"},
        {1, {"plan", "3000x2000:4", "--flag-spread", "3"}, "--flag-spread is 3", "flag_spread"},
        {1, {"plan", "30x20:4", "--type=int;", "--expression=x"}, "--type is 'int;'", "expression_type"},
        {1, {"plan", "30x20:5", "--type=int", "--expression=x"}, "the elements' size is 5", "elem_size"},
        {1, {"plan", "30x20:4", "--pad", "--no-cooperative"}, "--pad is given", "IPT_"},
        {1, {"plan", "30x20:4", "--device=nosuch"}, "--device = \"nosuch\"", "device_name"},
        {1, {"plan", "101x70:4", "--sequence=3.1", "--tile-m=7"}, "--tile-m = 7", "tile_m"},
        {2, {"plan", "30x20:4", "--tile-m", "x"}, "takes a number from 0 up", ALL_BITS},
        {1, {"bench", "--random=1", "--sides=1..2", "--bytes=100.." ALL_BITS}, "100 or more bytes", ALL_BITS},
        {1, {"bench", "--shapes", name}, TOO_LONG, "nosuch"},
        {1, {"plan", "30x20:4", "--wisdom", name}, TOO_LONG, "nosuch"},
        {1, {"transpose", name}, TOO_LONG, "nosuch"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *words[8] = {process_tool()};
        memcpy(words + 1, cases[i].words, sizeof cases[i].words);
        run_words(NULL, words);
        expect_code(cases[i].code, (int)i);
        expect_word(last.errors, cases[i].said);
        if (strstr(last.errors, cases[i].unsaid) != NULL) {
            fail_msg("'%s' is in: %s", cases[i].unsaid, last.errors);
        }
    }
}

/* Endless texts, folders and pipes cause a message, and no wait. */
static void tool_texts_bounded(void **state)
{
    (void)state;
    static const char *const readers[][3] = {{"bench", "--shapes"},
                                             {"tune", "--shapes"},
                                             {"plan", "--wisdom", "30x20:4"},
                                             {"tune", "--wisdom", "30x20:4"},
                                             {"plan", "--profile", "30x20:4"}};
    const char *pipe_path = in_directory("pipe"), *sparse = in_directory("sparse"), *lines = in_directory("lines");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    write_content(sparse, "", 0);
    assert_int_equal(truncate(sparse, (off_t)1 << 38), 0);
    FILE *stream = fopen(lines, "w");
    assert_non_null(stream);
    for (int i = 0; i < 1000001; i++) {
        fputs("#\n", stream);
    }
    assert_int_equal(fclose(stream), 0);
    const struct {
        const char *path, *word;
    } cases[] = {{"/dev/zero", "it has more than"},
                 {sparse, "it has more than"},
                 {directory, "it is a directory"},
                 {pipe_path, ""},
                 {lines, ""}};
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++) {
            if (access(cases[j].path, R_OK) == 0) {
                run_tool(1, readers[i][0], readers[i][1], cases[j].path, readers[i][2]);
                expect_one_line(last.errors);
                expect_word(last.errors, cases[j].path);
                expect_word(last.errors, cases[j].word);
            }
        }
    }
    run_tool(1, "bench", "--shapes", lines);
    expect_word(last.errors, "more than 1000000 lines");

    static unsigned char start[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0, 0, 0, 0x40}; /* a header of 1 GiB */
    const char *path = in_directory("header.npy");
    write_content(path, start, sizeof start);
    assert_int_equal(truncate(path, (off_t)1 << 31), 0);
    run_tool(1, "transpose", path);
    expect_word(last.errors, "its header has 1073741824 bytes");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Closed standard streams */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { CLOSED_OUTPUT = 1 << STDOUT_FILENO, ALL_CLOSED = 7 };

/* Fails if a file in the test's directory contains a message or output of the tool. */
static void expect_no_message_in_files(int line)
{
    static const char *const messages[] = {"ipt: ", "Try 'ipt", "elements of"};
    const listing files = list_folder(directory);
    for (size_t i = 0; i < files.count; i++) {
        const char *path = path_within(directory, files.names[i]);
        struct stat status;
        assert_int_equal(stat(path, &status), 0);
        if (!S_ISREG(status.st_mode)) {
            continue;
        }
        content read = read_content(path);
        for (size_t j = 0; j < sizeof messages / sizeof messages[0]; j++) {
            if (memmem(read.bytes, read.size, messages[j], strlen(messages[j])) != NULL) {
                fail_msg("line %d: '%s' was written into %s", line, messages[j], path);
            }
        }
        free(read.bytes);
    }
}

/* Transposes a file in every way that prints something. */
static void expect_file_safe(unsigned closed)
{
    enum { ROWS = 5, COLS = 12, SIZE = ROWS * COLS * ELEMENT };
    const char *text = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 12), }        \n";
    static const char *const printing[][2] = {
        {"--verbose", NULL}, {"--no-journal", NULL}, {"--verbose", "--no-journal"}, {NULL}};
    static const char *const refused[][2] = {{"--raw", "7x11:4"},
                                             {"--nosuchoption"},
                                             {"--device", "nosuchdevice"},
                                             {"--expression", "nonsense("},
                                             {"--resume"}};
    for (size_t i = 0; i < sizeof printing / sizeof printing[0]; i++) {
        const char *path = in_directory("matrix.npy");
        const size_t offset = write_npy(path, 1, text, strlen(text), SIZE);
        const content before = read_content(path);
        const char *const words[] = {process_tool(), "transpose", path, printing[i][0], printing[i][1], NULL};
        run_words(NULL, words);
        expect_code(0, (int)(i * 10 + closed)); /* a lost report of finished work is no failure */
        const content now = read_content(path);
        assert_memory_equal(now.bytes + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 5), }", 59);
        expect_transposed(before, now, offset, 1, ROWS, COLS);
        free(before.bytes);
        free(now.bytes);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const char *path = in_directory("matrix.npy");
        write_npy(path, 1, text, strlen(text), SIZE);
        const content before = read_content(path);
        const char *const words[] = {process_tool(), "transpose", path, refused[i][0], refused[i][1], NULL};
        run_words(NULL, words);
        assert_true(last.code == 1 || last.code == 2);
        const content now = read_content(path);
        assert_true(now.size == before.size && memcmp(now.bytes, before.bytes, now.size) == 0);
        free(before.bytes);
        free(now.bytes);
    }
}

/* Every command, with every combination of closed streams: files contain only their data, and only lost output is a
 * failure. */
static void tool_closed_streams(void **state)
{
    (void)state;
    static const struct {
        const char *words[8];
        int code;    /* with all streams open */
        bool prints; /* prints results; a mere report may be lost */
    } cases[] = {
        {{"devices"}, 0, true},
        {{"devices", "--profile"}, 0, true},
        {{"plan", "37x23:4"}, 0, true},
        {{"source", "37x23:4"}, 0, true},
        {{"source", "1x23:4"}, 0, false},
        {{"help"}, 0, true},
        {{"--version"}, 0, true},
        {{"nosuchcommand"}, 2, false},
        {{"plan", "37x23:4", "--wisdom", "@nofile"}, 1, false},
        {{"precompile", "37x23:4", "--verbose", "-o", "@programs", "--embed", "@programs.h"}, 0, false},
        {{"tune", "37x23:4", "--verbose", "-o", "@wisdom"}, 0, false},
        {{"bench", "37x23:4", "--repeat=1", "--rounds=1", "--csv", "@csv"}, 0, true},
    };
    for (unsigned closed = 1; closed <= ALL_CLOSED; closed++) {
        next_closed = closed;
        expect_file_safe(closed);
        expect_no_message_in_files(__LINE__);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            const char *words[10] = {process_tool()};
            for (size_t j = 0; j < 8 && cases[i].words[j] != NULL; j++) {
                const char *word = cases[i].words[j];
                words[j + 1] = word[0] == '@' ? in_directory(word + 1) : word;
            }
            run_words(NULL, words);
            const bool lost = cases[i].prints && (closed & CLOSED_OUTPUT) != 0;
            expect_code(lost ? 1 : cases[i].code, (int)(closed * 100 + i));
            expect_no_message_in_files((int)(closed * 100 + i));
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Wrong command lines of these commands */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A word that begins with @ is a file in the test's directory, which must stay unchanged. */
static void tool_usage_errors(void **state)
{
    (void)state;
    enum { WORDS = 9 };
    static const struct {
        const char *words[WORDS], *expected;
    } cases[] = {
        {{"precompile"}, "takes shapes"},
        {{"precompile", "-o", "@d"}, "takes shapes"},
        {{"precompile", "24x20:4"}, "needs --output DIR, --embed FILE.h or both"},
        {{"precompile", "--shapes", "@s"}, "needs --output DIR, --embed FILE.h or both"},
        {{"precompile", "24x20:4", "--shapes", "@s", "-o", "@d"}, "takes shapes"},
        {{"precompile", "24x20:4", "--elem-size", "4", "-o", "@d"}, "--elem-size is for --shapes"},
        {{"precompile", "24x20:4", "37x23", "-o", "@d"}, "not '37x23'"},
        {{"precompile", "37x23:0", "24x20:4", "-o", "@d", "--embed", "@h.h"}, "not '37x23:0'"},
        {{"precompile", "24x20:4", "0x4:4", "37x23:4", "-o", "@d"}, "not '0x4:4'"},
        {{"precompile", "24x20:4", ROOT "x" ROOT ":1", "-o", "@d"}, "too large"},
        {{"precompile", "24x20:4", "-o"}, "-o needs a value"},
        {{"precompile", "24x20:4", "-o", ""}, "--output takes a folder"},
        {{"precompile", "24x20:4", "--output=", "--embed", "@h.h"}, "--output takes a folder"},
        {{"precompile", "24x20:4", "--embed"}, "--embed needs a value"},
        {{"precompile", "24x20:4", "--embed", "", "-o", "@d"}, "name of a new header"},
        {{"precompile", "24x20:4", "--embed", "@d/"}, "name of a new header"},
        {{"precompile", "24x20:4", "--embed", "@ipt.h"}, "not '"},
        {{"precompile", "24x20:4", "--embed", "@ipt_kernels.h"}, "not '"},
        {{"precompile", "--native", "@h.h"}, "--native needs --expression"},
        {{"precompile", "--native", "@ipt.h", "--expression", "x"}, "--native takes the name of a new header"},
        {{"precompile", "--native", "@h.h", "--expression", "x", "--type", "half"}, "--type 'half' is no number"},
        {{"precompile", "--native", "@h.h", "--expression", "x", "--argument-type", "float3"}, "'float3' is no number"},
        {{"precompile", "--native", "@h.h", "--expression", ""}, "has no text"},
        {{"precompile", "--native", "@h.h", "--expression", "x)*(x"}, "')' before its '('"},
        {{"precompile", "--native", "@h.h", "--expression", "x // 2"}, "has '//'"},
        {{"precompile", "--native", "@h.h", "--expression", "x /* 2"}, "without its end"},
        {{"precompile", "--native", "@h.h", "--expression", "x", "-o", "@d"}, "takes shapes"},
        {{"precompile", "24x20:4", "-x", "@d"}, "no option '-x'"},
        {{"precompile", "24x20:4", "--csv", "@c", "-o", "@d"}, "no option '--csv'"},
        {{"precompile", "24x20:4", "-o", "@d", "--target"}, "--target needs a value"},
        {{"precompile", "24x20:4", "-o", "@d", "--target", ""}, "not a target"},
        {{"precompile", "24x20:4", "-o", "@d", "--target", "nonsense"}, "'nonsense' is not a target"},
        {{"precompile", "24x20:4", "-o", "@d", "--target", "PTX:sm_80"}, "not a target"},
        {{"precompile", "24x20:4", "-o", "@d", "--target", "ptx"}, "does not name a processor"},
        {{"precompile", "24x20:4", "-o", "@d", "--target", "ptx:gfx90a"}, "does not name a processor"},
        {{"precompile", "24x20:4", "-o", "@d", "--target", "ptx:sm_80 -o x"}, "does not name a processor"},
        {{"precompile", "24x20:4", "-o", "@d", "--target", "amdgcn:sm_80"}, "does not name a processor"},
        {{"precompile", "24x20:4", "-o", "@d", "--target", "spirv:1.2"}, "no processors"},
        {{"precompile", "24x20:4", "-o", "@d", "--target", "bitcode:"}, "no processors"},
        {{"precompile", "24x20:4", "-o", "@d", "--profile", "@p"}, "--profile needs --target"},
        {{"precompile", "24x20:4", "-o", "@d", "--profile=@p", "--target=spirv", "--device=a"}, "--device does not go"},
        {{"precompile", "24x20:4", "-o", "@d", "--profile=@p", "--target=spirv", "--cache", "@c"}, "--cache does not"},
        {{"precompile", "24x20:4", "-o", "@d", "--profile=@p", "--target=spirv", "--cache="}, "--cache does not go"},
        {{"precompile", "24x20:4", "-o", "@d", "--profile=@p", "--target=spirv", "--measure"}, "--measure does not go"},
        {{"plan", "24x20:4", "--profile"}, "--profile needs a value"},
        {{"plan", "24x20:4", "37x23:4"}, "one word too many"},
        {{"plan", "24x20:4", "--profile", "@p", "--device", "a"}, "--device does not go"},
        {{"plan", "24x20:4", "--profile", "@p", "--measure"}, "--measure does not go"},
        {{"source", "24x20:4", "--profile", "@p", "--cache", "@c"}, "--cache does not go"},
        {{"plan", "24x20:4", "--target", "spirv"}, "no option '--target'"},
        {{"plan", "24x20:4", "--wisdom"}, "--wisdom needs a value"},
        {{"plan", "24x20:4", "--cache"}, "--cache needs a value"},
        {{"plan", "24x20:4", "-o", "@d"}, "no option '-o'"},
        {{"bench", "24x20:4", "--profile", "@p"}, "no option '--profile'"},
        {{"transpose", "@p", "--profile", "@p"}, "no option '--profile'"},
        {{"devices", "--profile", "@p"}, "one word too many"},
        {{"devices", "--profile=@p"}, "--profile takes no value"},
        {{"devices", "--wisdom", "@w"}, "no option '--wisdom'"},
        {{"tune"}, "takes shapes"},
        {{"tune", "-o", "@w"}, "takes shapes"},
        {{"tune", "24x20:4", "--shapes", "@s", "-o", "@w"}, "takes shapes"},
        {{"tune", "24x20:4", "--elem-size", "4", "-o", "@w"}, "--elem-size is for --shapes"},
        {{"tune", "24x20:4", "37x23:", "-o", "@w"}, "not '37x23:'"},
        {{"tune", "24x20:4", "-o"}, "-o needs a value"},
        {{"tune", "24x20:4", "--sequence", "1", "-o", "@w"}, "no option '--sequence'"},
        {{"tune", "24x20:4", "--embed", "@h.h", "-o", "@w"}, "no option '--embed'"},
        {{"tune", "24x20:4", "--profile", "@p", "-o", "@w"}, "no option '--profile'"},
        {{"tune", "24x20:4", "--batch", "0", "-o", "@w"}, "--batch takes a number"},
        {{"bench", "--startup", "--csv", "@c"}, "--startup needs ROWSxCOLS:BYTES"},
        {{"bench", "--startup", "--shapes", "@s", "--csv", "@c"}, "--startup needs ROWSxCOLS:BYTES"},
        {{"bench", "--startup", "--random=1", "--sides=9..99", "--csv", "@c"}, "--startup needs ROWSxCOLS:BYTES"},
        {{"bench", "24x20:4", "--startup", "--shapes", "@s", "--csv", "@c"}, "does not go with --shapes"},
        {{"bench", "24x20:4", "--startup", "--random=1", "--csv", "@c"}, "does not go with --random"},
        {{"bench", "24x20:4", "--startup", "--cache", "@d", "--csv", "@c"}, "does not go with --cache"},
        {{"bench", "24x20:4", "--startup", "--wisdom", "@w", "--csv", "@c"}, "does not go with --wisdom"},
        {{"bench", "24x20:4", "--startup", "--measure", "--csv", "@c"}, "does not go with --measure"},
        {{"bench", "24x20:4", "--startup", "--sequence=1", "--csv", "@c"}, "does not go with --sequence"},
        {{"bench", "24x20:4", "--startup", "--batch=2", "--csv", "@c"}, "does not go with --batch"},
        {{"bench", "24x20:4", "--startup", "--blas", "--csv", "@c"}, "does not go with --blas"},
        {{"bench", "24x20:4", "--startup", "--out-of-place", "--csv", "@c"}, "does not go with --out-of-place"},
        {{"bench", "24x20:4", "--startup", "--repeat=1", "--csv", "@c"}, "does not go with --repeat"},
        {{"bench", "24x20:4", "--startup", "--no-cooperative", "--csv", "@c"}, "does not go with --no-cooperative"},
        {{"bench", "24x20:4", "--startup", "--workspace=0", "--csv", "@c"}, "does not go with --workspace"},
        {{"bench", "24x20:4", "--startup", "--pad", "--csv", "@c"}, "does not go with --pad"},
        {{"bench", "24x20:4", "--startup", "--rounds", "0", "--csv", "@c"}, "--rounds takes a number"},
        {{"bench", "24x20:4", "--startup=1", "--csv", "@c"}, "--startup takes no value"},
        {{"bench", "2x2:4", "--startup", "--csv", "@c"}, "has no 50 other shapes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *words[WORDS + 2] = {process_tool()};
        for (size_t j = 0; j < WORDS && cases[i].words[j] != NULL; j++) {
            const char *word = cases[i].words[j];
            words[j + 1] = word[0] == '@' ? in_directory(word + 1) : word;
        }
        run_words(NULL, words);
        expect_code(2, (int)i);
        assert_string_equal(last.output, "");
        assert_int_equal(strncmp(last.errors, "ipt: ", 5), 0);
        expect_word(last.errors, cases[i].expected);
        expect_word(last.errors, "\nTry 'ipt --help'.\n");
        assert_int_equal(list_folder(directory).count, 0);
    }
}

const struct CMUnitTest test_tool[] = {
    cmocka_unit_test(test_usage_errors), cmocka_unit_test(test_help), cmocka_unit_test(test_json),
    cmocka_unit_test(test_devices),      cmocka_unit_test(test_plan), cmocka_unit_test(test_source),
    IN_DIRECTORY(tool_texts_bounded),    IN_DIRECTORY(tool_messages), IN_DIRECTORY(tool_closed_streams),
    IN_DIRECTORY(tool_usage_errors),
};
const size_t test_tool_count = sizeof test_tool / sizeof test_tool[0];
