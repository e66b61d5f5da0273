/* ipt tune, and the wisdom that it writes, which is complete or absent. */
#define _GNU_SOURCE /* POSIX 2008 with XSI, and memmem */

#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char kept[OUTPUT_SIZE], edited[OUTPUT_SIZE];

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt tune, and wisdom */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A shape with a choice to measure, and the beginning of its line. */
#define TUNED "31x1500:4"
#define TUNED_LINE "transpose rows=31 cols=1500 elem_size=4 batch=1 "
#define OTHER "300x200:4"
#define OTHER_LINE "transpose rows=300 cols=200 elem_size=4 batch=1 "

/* Checks that text is wisdom of `lines` lines for this device. */
static void expect_wisdom(const char *text, size_t lines)
{
    char start[600], end[32], device[300];
    run_tool(0, "devices", "--profile");
    snprintf(device, sizeof device, "%s", line_of(last.output, "device "));
    snprintf(start, sizeof start, "ipt wisdom 2\n%s\n%s\n", device, line_of(last.output, "vendor "));
    assert_int_equal(strncmp(text, start, strlen(start)), 0);
    snprintf(end, sizeof end, "\nend %zu\n", lines);
    assert_string_equal(text + strlen(text) - strlen(end), end);
    assert_int_equal(count_words(text, "\ntranspose "), lines);
    assert_int_equal(count_words(text, "\n"), lines + 4);
}

/* Stores the output of 'tune' for the shape in `kept`. Skips the test if there is nothing to measure. */
static void tune_into_kept(void)
{
    run_tool(0, "tune", TUNED);
    memcpy(kept, last.output, sizeof kept);
    if (strstr(kept, "\n" TUNED_LINE) == NULL) {
        print_message("%s has one plan on this device\n", TUNED);
        test_skip("the shape has one plan on this device");
    }
}

/* Changes the first line of `kept` to two passes with super-elements of this length. */
static void change_length(const char *length)
{
    char line[1000];
    snprintf(line, sizeof line, "%s", line_of(kept, "transpose "));
    strcpy(strstr(line, " bands="), " bands=0 height=0 length=");
    strcat(line, length);
    replace_line(kept, 3, line, edited);
    memcpy(kept, edited, sizeof kept);
}

static void tool_tune(void **state)
{
    (void)state;
    const char *path = write_text("wisdom", "old\n");
    tune_into_kept();
    run_tool(0, "tune", TUNED, "24x20:4");
    assert_string_equal(last.errors, "");
    memcpy(kept, last.output, sizeof kept);
    expect_wisdom(kept, 1);
    expect_word(kept, "\n" TUNED_LINE);
    run_tool(0, "tune", TUNED, OTHER, "-o", path, "--verbose", "--batch=2", "--no-cooperative");
    assert_string_equal(last.output, "");
    expect_word(last.errors, "2 of 2: " OTHER " in ");
    content read = read_content(path);
    read.bytes[read.size] = '\0';
    expect_wisdom((char *)read.bytes, 2);
    expect_word((char *)read.bytes, "\ntranspose rows=31 cols=1500 elem_size=4 batch=2 ");
    assert_int_equal(count_words((char *)read.bytes, " no_cooperative=1 "), 2);
    free(read.bytes);
    write_text("shapes", "31 1500\n");
    run_tool(0, "tune", "--shapes", in_directory("shapes"), "--elem-size", "8", "--expression", "2 * x", "--type",
             "double", "--workspace", "100000", "--output", path);
    read = read_content(path);
    read.bytes[read.size] = '\0';
    expect_wisdom((char *)read.bytes, 1);
    expect_word((char *)read.bytes, "\ntranspose rows=31 cols=1500 elem_size=8 batch=1 ");
    expect_word((char *)read.bytes, " workspace=100000 no_cooperative=0 expression=1 ");
    free(read.bytes);
    expect_files("shapes", "wisdom");
}

/* tune keeps the wisdom of --wisdom's file, also if --output names the same file. */
static void tool_tune_adds(void **state)
{
    (void)state;
    tune_into_kept();
    change_length("100");
    const char *path = write_text("wisdom", kept);
    char line[1000];
    snprintf(line, sizeof line, "\n%s\n", line_of(kept, TUNED_LINE));
    run_tool(0, "tune", OTHER, "--wisdom", path, "-o", path);
    content read = read_content(path);
    read.bytes[read.size] = '\0';
    expect_wisdom((char *)read.bytes, 2);
    expect_word((char *)read.bytes, line);
    expect_word((char *)read.bytes, "\n" OTHER_LINE);
    free(read.bytes);
    write_text("wisdom", kept);
    run_tool(0, "tune", OTHER, TUNED, "--wisdom", path);
    expect_content(path, kept);
    memcpy(edited, last.output, sizeof edited);
    expect_wisdom(edited, 2);
    expect_word(edited, line);
}

static void tool_tune_failures(void **state)
{
    (void)state;
    const char *path = write_text("wisdom", "old\n");
    run_tool(0, "tune", OTHER);
    size_t lines = count_words(last.output, "\n" OTHER_LINE);
    /* A shape that is too large for any device does not lose the wisdom of other shapes. */
    run_tool(1, "tune", HUGE_SIDES ":1", OTHER, "-o", path);
    expect_one_line(last.errors);
    expect_word(last.errors, "ipt: " HUGE_SIDES ":1: ");
    content read = read_content(path);
    read.bytes[read.size] = '\0';
    expect_wisdom((char *)read.bytes, lines);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    free(read.bytes);
    const char *more = in_directory("more");
    assert_int_equal(rename(path, more), 0);
    write_text("wisdom", "old\n");
    next_file_limit = (size_t)status.st_size - 10; /* a plan without a program: the driver could not write one */
    run_program(1, FULL_DISK, process_tool(), "tune", "5x1:4", "--wisdom", more, "-o", path);
    next_file_limit = 0;
    /* The limit also holds for the message, which fits if a plan was measured and no line about the signal precedes. */
    if (lines > 0 && without_signal(last.errors) == last.errors) {
        expect_one_line(last.errors);
        expect_word(last.errors, path);
    }
    expect_content(path, "old\n");
#define REFUSED(word, ...)                                                                                             \
    do {                                                                                                               \
        run_tool(1, "tune", OTHER, __VA_ARGS__);                                                                       \
        expect_one_line(last.errors);                                                                                  \
        expect_word(last.errors, word);                                                                                \
        assert_string_equal(last.output, "");                                                                          \
    } while (0)
    REFUSED("wisdom, line 1: ", "--wisdom", path, "-o", path);
    REFUSED("/none/w: No such file", "-o", in_directory("none/w"));
    REFUSED("not a regular file", "-o", directory);
    REFUSED("not a regular file", "-o", "/dev/full");
    REFUSED("nosuchdevice", "--device=nosuchdevice", "-o", path);
    REFUSED("/none", "--wisdom", in_directory("none"), "-o", path);
#undef REFUSED
    expect_content(path, "old\n");
    write_text("shapes", "31 1500\n1 x\n");
    run_tool(1, "tune", "--shapes", in_directory("shapes"), "-o", path);
    expect_word(last.errors, "shapes:2: ");
    expect_content(path, "old\n");
    expect_files("more", "shapes", "wisdom");
    if (access("/dev/full", W_OK) == 0) {
        const char *const words[] = {process_tool(), "tune", OTHER, NULL};
        run_words("/dev/full", words);
        expect_code(1, __LINE__);
        expect_word(last.errors, "standard output");
    }
}

/* The plan follows the text of the wisdom, whatever the measurements. */
static void tool_wisdom(void **state)
{
    (void)state;
    static const char *const lengths[][2] = {{"100", "31 x 15 super-elements of 100 elements"},
                                             {"300", "31 x 5 super-elements of 300 elements"},
                                             {"1", "31 x 1500 super-elements of 1 elements"}};
    tune_into_kept();
    for (size_t i = 0; i < 3; i++) {
        change_length(lengths[i][0]);
        const char *path = write_text("wisdom", kept), *folder = in_directory(lengths[i][0]);
        run_tool(0, "plan", TUNED, "--wisdom", path);
        expect_word(last.output, lengths[i][1]);
        assert_string_equal(last.errors, "");
        memcpy(edited, last.output, sizeof edited);
        run_tool(0, "plan", TUNED, "--wisdom", path, "--measure"); /* wisdom replaces measuring */
        assert_string_equal(last.output, edited);
        run_tool(0, "plan", TUNED, "--wisdom", path, "--batch", "2"); /* the wisdom has no line for this batch */
        memcpy(edited, last.output, sizeof edited);
        run_tool(0, "plan", TUNED, "--batch", "2");
        assert_string_equal(last.output, edited);
        run_tool(0, "precompile", SHAPES, "--wisdom", path, "-o", folder);
        expect_complete(folder, path);
        expect_content(path, kept);
    }
}

static void tool_wisdom_refused(void **state)
{
    (void)state;
    static const unsigned char zeros[24 * 20 * 4];
    run_tool(0, "tune", OTHER);
    memcpy(kept, last.output, sizeof kept);
    size_t lines = count_words(kept, "\n");
    const char *path = in_directory("wisdom");
    const char *const words[] = {process_tool(), "plan", "24x20:4", "--wisdom", path, NULL};
    for (size_t i = 0; i < lines; i++) {
        replace_line(kept, i, "nonsense", edited);
        write_content(path, edited, strlen(edited));
        expect_refused_line(path, "wisdom", i + 1, words);
        replace_line(kept, i, NULL, edited);
        write_content(path, edited, strlen(edited));
        expect_refused_line(path, "wisdom", i + 1, words);
    }
    strcpy(edited, kept);
    strcat(edited, "end 0\n"); /* a line after the end */
    write_content(path, edited, strlen(edited));
    expect_refused_line(path, "wisdom", lines, words);
    replace_line(kept, lines - 1, "end 7", edited);
    write_content(path, edited, strlen(edited));
    expect_refused_line(path, "wisdom", lines, words);
    replace_line(kept, 1, "device nosuchdevice", edited);
    write_content(path, edited, strlen(edited));
    expect_refused_line(path, "wisdom", 2, words);
    expect_word(last.errors, "another device");
    if (lines > 4) {
        change_length("301"); /* longer than either side */
        write_content(path, kept, strlen(kept));
        expect_refused_line(path, "wisdom", 4, words);
    }
    /* Every command that accepts --wisdom. */
    write_content(in_directory("raw"), zeros, sizeof zeros);
    const char *const others[][9] = {
        {process_tool(), "source", "24x20:4", "--wisdom", path},
        {process_tool(), "bench", "24x20:4", "--wisdom", path},
        {process_tool(), "transpose", "--raw=24x20:4", in_directory("raw"), "--wisdom", path},
        {process_tool(), "precompile", "24x20:4", "--wisdom", path, "-o", in_directory("folder")},
        {process_tool(), "tune", "24x20:4", "--wisdom", path},
    };
    write_text("wisdom", "nonsense\n");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        expect_refused_line(path, "wisdom", 1, others[i]);
    }
    expect_files("raw", "wisdom");
}

const struct CMUnitTest test_tool_tune[] = {
    IN_DIRECTORY(tool_tune),   IN_DIRECTORY(tool_tune_adds),      IN_DIRECTORY(tool_tune_failures),
    IN_DIRECTORY(tool_wisdom), IN_DIRECTORY(tool_wisdom_refused),
};
const size_t test_tool_tune_count = sizeof test_tool_tune / sizeof test_tool_tune[0];
