/* Pictures, and matrices among other bytes. An independent computation of indices verifies the moved pixels of every
 * format. The tool changes PGM, PPM and PAM files in place and writes other formats to a second file. A damaged, cut or
 * unsuitable file is an error: it stays unchanged, and there is no output. */
#define _GNU_SOURCE /* POSIX 2008 with XSI */

#include "folders.h"
#include "process.h"
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 600, PATHS = 32, TEXT_SIZE = 1 << 16, MOST_WORDS = 14 };

/* ------------------------------------------------------------------------------------------------------------------ */
/* Runs of the tool, and files */
/* ------------------------------------------------------------------------------------------------------------------ */

static char directory[PATH_SIZE - 100], paths[PATHS][PATH_SIZE];
static size_t path_count, next_file_limit;

static int make_directory(void **state)
{
    path_count = next_file_limit = 0;
    return folder_make(directory, sizeof directory, "pictures") ? -1 : test_start(state);
}

static int remove_directory(void **state)
{
    (void)state;
    return folder_remove(directory);
}

/* The path of a file in the test's directory; valid until the test ends. */
static const char *in_directory(const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%.90s", directory, name);
    for (size_t i = 0; i < path_count; ++i)
        if (strcmp(paths[i], path) == 0)
            return paths[i];
    assert_true(path_count < PATHS);
    return strcpy(paths[path_count++], path);
}

static struct {
    int status;
    char errors[TEXT_SIZE]; /* and output */
} last;

static void finish(pid_t process, FILE *log)
{
    assert_int_equal(waitpid(process, &last.status, 0), process);
    rewind(log);
    last.errors[fread(last.errors, 1, TEXT_SIZE - 1, log)] = '\0';
    fclose(log);
}

static pid_t start(const char *const *words, FILE *log)
{
    const process_setup setup = {.output = fileno(log), .errors = fileno(log), .file_bytes = next_file_limit};
    return process_start(words, &setup);
}

static void run_words(const char *const *words)
{
    FILE *log = tmpfile();
    assert_non_null(log);
    finish(start(words, log), log);
}

static void expect_code(int code, int line)
{
    if (!WIFEXITED(last.status) || WEXITSTATUS(last.status) != code)
        fail_msg("line %d: status %d instead of exit code %d: %s", line, last.status, code, last.errors);
}

/* Runs `ipt transpose` and checks the exit code. */
#define transpose(code, ...)                                                                                           \
    do {                                                                                                               \
        const char *const transpose_words[] = {process_tool(), "transpose", __VA_ARGS__, NULL};                        \
        run_words(transpose_words);                                                                                    \
        expect_code(code, __LINE__);                                                                                   \
    } while (0)

static void expect_said(const char *words)
{
    if (!strstr(last.errors, words))
        fail_msg("'%s' is not in: %s", words, last.errors);
}

static void expect_silence(void)
{
    assert_string_equal(last.errors, "");
}

typedef struct content {
    unsigned char *bytes;
    size_t size;
} content;

static content read_content(const char *path)
{
    content its = {NULL, 0};
    FILE *stream = fopen(path, "rb");
    if (!stream)
        fail_msg("%s does not exist: %s", path, last.errors);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    its.size = (size_t)ftell(stream);
    rewind(stream);
    its.bytes = malloc(its.size + 1);
    assert_non_null(its.bytes);
    assert_int_equal(fread(its.bytes, 1, its.size, stream), its.size);
    fclose(stream);
    return its;
}

static void write_content(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static int holds(const char *path, content wanted)
{
    content now = read_content(path);
    int same = now.size == wanted.size && memcmp(now.bytes, wanted.bytes, now.size) == 0;
    free(now.bytes);
    return same;
}

/* The number of files in the test's directory: no temporary file may remain. */
static size_t count_files(void)
{
    DIR *stream = opendir(directory);
    size_t count = 0;
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

/* Runs `ipt transpose path`, with -o output unless it is NULL. The tool must refuse with one line that contains
 * `expected`, and leave the file unchanged and no output. */
static void expect_refusal(const char *path, const char *output, const char *expected, int line)
{
    const char *const words[] = {process_tool(), "transpose", path, output ? "-o" : NULL, output, NULL};
    content before = read_content(path);
    size_t files = count_files();
    run_words(words);
    expect_code(1, line);
    if (!strstr(last.errors, expected) || strchr(last.errors, '\n') != strrchr(last.errors, '\n'))
        fail_msg("line %d: '%s' is not in, or not one line: %s", line, expected, last.errors);
    if (!holds(path, before) || count_files() != files)
        fail_msg("line %d: files changed after: %s", line, last.errors);
    free(before.bytes);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The independent computation */
/* ------------------------------------------------------------------------------------------------------------------ */

static const char *const moves[] = {"transpose",       "rotate-90",     "rotate-180",   "rotate-270",
                                    "flip-horizontal", "flip-vertical", "antitranspose"};
enum { MOVES = sizeof moves / sizeof moves[0] };

static int exchanges_sides(size_t move)
{
    return move == 0 || move == 1 || move == 3 || move == 6;
}

/* Moves a rows x cols matrix. */
static void move_matrix(size_t move, unsigned char *to, const unsigned char *from, size_t rows, size_t cols,
                        size_t size)
{
    const size_t new_rows = exchanges_sides(move) ? cols : rows, new_cols = exchanges_sides(move) ? rows : cols;
    for (size_t r = 0; r < new_rows; ++r)
        for (size_t c = 0; c < new_cols; ++c) {
            const size_t places[MOVES][2] = {{c, r},
                                             {rows - 1 - c, r},
                                             {rows - 1 - r, cols - 1 - c},
                                             {c, cols - 1 - r},
                                             {r, cols - 1 - c},
                                             {rows - 1 - r, c},
                                             {rows - 1 - c, cols - 1 - r}};
            memcpy(to + (r * new_cols + c) * size, from + (places[move][0] * cols + places[move][1]) * size, size);
        }
}

/* A picture before and after its move. Each is a whole file: header, then pixels. */
typedef struct sample {
    size_t width, height, size; /* size: bytes of a pixel */
    content before, after;
    size_t before_header, after_header; /* bytes */
} sample;

/* Makes a picture of random pixels. format: a printf format of the header, with the width, then the height. */
static sample make_sample(const char *format, size_t width, size_t height, size_t size, size_t move)
{
    sample made = {.width = width, .height = height, .size = size};
    const size_t bytes = width * height * size;
    char headers[2][400];
    const int swapped = exchanges_sides(move);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    made.before_header = (size_t)snprintf(headers[0], sizeof headers[0], format, width, height);
    made.after_header =
        (size_t)snprintf(headers[1], sizeof headers[1], format, swapped ? height : width, swapped ? width : height);
#pragma GCC diagnostic pop
    made.before.size = made.before_header + bytes;
    made.after.size = made.after_header + bytes;
    made.before.bytes = malloc(made.before.size);
    made.after.bytes = malloc(made.after.size);
    assert_true(made.before.bytes && made.after.bytes);
    memcpy(made.before.bytes, headers[0], made.before_header);
    memcpy(made.after.bytes, headers[1], made.after_header);
    test_fill(made.before.bytes + made.before_header, bytes);
    move_matrix(move, made.after.bytes + made.after_header, made.before.bytes + made.before_header, height, width,
                size);
    return made;
}

static void end_sample(sample *its)
{
    free(its->before.bytes);
    free(its->after.bytes);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* PGM, PPM and PAM in place */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Valid headers, and the bytes of a pixel. */
static const struct {
    const char *format;
    size_t size;
} headers[] = {
    {"P5\n%zu %zu\n255\n", 1},
    {"P6\n%zu %zu\n255\n", 3},
    {"P5 # of 12 34\n# and 56\r\t%zu#c\n%zu\v255 ", 1},
    {"P6#c\n%zu\r\n\r\n%zu # 255\n200#last\n", 3},
    {"P5 %zu %zu 65535\n", 2},
    {"P6 %zu %zu 256\n", 6},
    {"P6 00%zu 00%zu 0001\n", 3},
    {"P7\nWIDTH %zu\nHEIGHT %zu\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n", 3},
    {"P7\n# WIDTH 9\nTUPLTYPE a b\nTUPLTYPE c\n\nWIDTH\t0%zu  \nHEIGHT 0%zu\nMAXVAL 1000\nDEPTH 4\nENDHDR\n", 8},
    {"P7\nMAXVAL 255\n  DEPTH 7\n WIDTH %zu\r\nHEIGHT %zu\r\nENDHDR\r\n", 7},
};
enum { HEADERS = sizeof headers / sizeof headers[0] };

static void tool_pictures_netpbm_moves(void **state)
{
    static const size_t sides[][2] = {{31, 17}, {1, 1}, {1, 9}, {101, 1}, {10, 99}, {640, 479}, {64, 64}};
    const char *path = in_directory("picture");
    (void)state;
    for (size_t move = 0; move < MOVES; ++move)
        for (size_t header = 0; header < HEADERS; ++header) {
            const size_t *side = sides[(header * 3 + move) % TEST_COUNT(sides)];
            sample its = make_sample(headers[header].format, side[0], side[1], headers[header].size, move);
            write_content(path, its.before.bytes, its.before.size);
            transpose(0, path, "--move", moves[move]);
            expect_silence();
            if (!holds(path, its.after))
                fail_msg("%s of header %zu, %zux%zu", moves[move], header, side[0], side[1]);
            assert_int_equal(count_files(), 1);
            end_sample(&its);
        }
}

/* The height may precede the width. */
static void tool_pictures_pam_height_first(void **state)
{
    const char *path = in_directory("picture.pam");
    const char *const format = "P7\nHEIGHT %zu\nDEPTH 3\nWIDTH %zu\nMAXVAL 255\nENDHDR\n";
    (void)state;
    sample its = make_sample(format, 7, 123, 3, 0); /* the header has the height first: height 7, width 123 */
    move_matrix(0, its.after.bytes + its.after_header, its.before.bytes + its.before_header, 7, 123, 3);
    write_content(path, its.before.bytes, its.before.size);
    transpose(0, path);
    assert_true(holds(path, its.after));
    end_sample(&its);
}

/* Files that are refused. data: bytes after the header. */
static void tool_pictures_netpbm_refused(void **state)
{
    static const struct {
        const char *header;
        size_t data;
        const char *expected;
    } cases[] = {
        {"P6", 0, "magic"},
        {"P6\n", 0, "truncated"},
        {"P6\n4 3\n255\n", 35, "truncated: 35 bytes follow the header; its sides and maxval say 36"},
        {"P6\n4 3\n255\n", 37, "too long: 37 bytes"},
        {"P6\n4 3\n255\n", 36 + 47, "Several pictures"},
        {"P6\n4 3\n256\n", 36, "say 72"},
        {"P6\n4 3\n255", 0, "truncated"},
        {"P6\n4 3\n255x", 36, "a space is missing"},
        {"P6\n4 3\n", 0, "truncated"},
        {"P6\n4 x\n255\n", 36, "the height is missing"},
        {"P6\n-4 3\n255\n", 36, "the width is missing"},
        {"P6\n4.0 3\n255\n", 36, "malformed"},
        {"P6\n0 3\n255\n", 0, "width = 0: must be at least 1"},
        {"P6\n4 0\n255\n", 0, "height = 0"},
        {"P6\n4 3\n0\n", 36, "maxval = 0"},
        {"P6\n4 3\n65536\n", 72, "maxval = 65536: must be at most 65535"},
        {"P6\n000000000000000000004 3\n255\n", 36, "width is too large"},
        {"P6\n99999999999999999999 3\n255\n", 36, "width is too large"},
        {"P6\n4294967296 4294967296\n255\n", 36, "too large"},
        {"P6 # only a comment", 0, "truncated"},
        {"P1\n4 3\n", 24, "P1 is text"},
        {"P3\n4 3\n255\n", 36, "convert it"},
        {"P4\n8 3\n", 3, "several pixels in a byte"},
        {"P8\n4 3\n255\n", 36, "magic"},
        {"P64 3 255\n", 36, "magic"},
        {"P7 332\n4 3\n255\n", 36, "malformed at byte 2"},
        {"P7\nWIDTH 4\nHEIGHT 3\nDEPTH 3\nMAXVAL 255\n", 0, "truncated"},
        {"P7\nWIDTH 4\nHEIGHT 3\nDEPTH 3\nMAXVAL 255\nENDHDR", 0, "truncated"},
        {"P7\nWIDTH 4\nHEIGHT 3\nDEPTH 3\nENDHDR\n", 36, "lacks MAXVAL"},
        {"P7\nWIDTH 4\nHEIGHT 3\nMAXVAL 255\nENDHDR\n", 36, "lacks DEPTH"},
        {"P7\nWIDTH 4\nWIDTH 4\nHEIGHT 3\nDEPTH 3\nMAXVAL 255\nENDHDR\n", 36, "WIDTH occurs twice"},
        {"P7\nWIDTH 4 4\nHEIGHT 3\nDEPTH 3\nMAXVAL 255\nENDHDR\n", 36, "malformed"},
        {"P7\nWIDTH 4\nHEIGHT\nDEPTH 3\nMAXVAL 255\nENDHDR\n", 36, "the height is missing"},
        {"P7\nWIDTH 4\nHEIGHT 3\nDEPTH 0\nMAXVAL 255\nENDHDR\n", 0, "depth = 0"},
        {"P7\nWIDTH 4\nHEIGHT 3\nDEPTH 18446744073709551615\nMAXVAL 256\nENDHDR\n", 36, "too large"},
        {"P7\nWIDTH 4\nHEIGHT 3\nDEPTH 3\nMAXVAL 255\nCOLOUR 1\nENDHDR\n", 36, "malformed"},
        {"P7\nWIDTH 4\nHEIGHT 3\nDEPTH 3\nMAXVAL 255\nENDHDR x\n", 36, "malformed"},
        {"P7\nWIDTH 4\nHEIGHT 3\nDEPTH 3\nMAXVAL 255\nENDHDR\n", 35, "truncated"},
    };
    static unsigned char bytes[1000];
    const char *path = in_directory("picture.ppm");
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        size_t length = strlen(cases[i].header);
        memset(bytes, 'x', sizeof bytes);
        memcpy(bytes, cases[i].header, length);
        write_content(path, bytes, length + cases[i].data);
        expect_refusal(path, NULL, cases[i].expected, (int)i);
        expect_refusal(path, in_directory("other.pam"), cases[i].expected, (int)i);
    }
}

/* Every beginning of a file is refused, and so is an endless header. */
static void tool_pictures_netpbm_cut(void **state)
{
    const char *path = in_directory("picture.pam");
    (void)state;
    for (size_t header = 0; header < HEADERS; header += 4) {
        sample its = make_sample(headers[header].format, 5, 3, headers[header].size, 0);
        for (size_t size = 0; size < its.before.size; size += 1 + size / 40) {
            write_content(path, its.before.bytes, size);
            expect_refusal(path, NULL, size < 3 ? "magic" : "truncated", __LINE__);
        }
        end_sample(&its);
    }
    content comment = {malloc(70000), 70000};
    assert_non_null(comment.bytes);
    memset(comment.bytes, 'c', comment.size);
    memcpy(comment.bytes, "P6 #", 4);
    write_content(path, comment.bytes, comment.size);
    expect_refusal(path, NULL, "header is too long", __LINE__);
    free(comment.bytes);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Stopped */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Sends the tool a signal, up to `milliseconds` after its journal exists. Returns whether the signal stopped it. */
static int stop_in_the_middle(const char *const *words, const char *journal, int number, size_t milliseconds)
{
    FILE *log = tmpfile();
    assert_non_null(log);
    const pid_t child = start(words, log);
    for (siginfo_t info = {0}; access(journal, F_OK) != 0 && !info.si_pid;) {
        nanosleep(&(struct timespec){0, 500000}, NULL);
        assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    }
    nanosleep(&(struct timespec){0, (long)(test_random_between(0, milliseconds) * 1000000)}, NULL);
    kill(child, number);
    finish(child, log);
    return number == SIGKILL ? access(journal, F_OK) == 0 : WIFEXITED(last.status) && WEXITSTATUS(last.status) > 128;
}

/* A killed picture, or matrix after other bytes, is refused until --resume completes it. */
static void tool_pictures_killed(void **state)
{
    static const struct {
        const char *format, *options[4];
    } cases[] = {{"P6 # c\n%zu %zu\n255\n", {NULL}}, {"abc%zu %zu", {"--raw", "1003x2001:3", "--offset", "12"}}};
    const char *path = in_directory("picture.ppm"), *journal = in_directory("picture.ppm.ipt-journal");
    const char *output = in_directory("other.ppm");
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        sample its = make_sample(cases[i].format, 2001, 1003, 3, 0);
        int stopped = 0, begun = 0;
        if (cases[i].options[0]) {
            assert_int_equal(its.before_header, 12);
            memcpy(its.after.bytes, its.before.bytes, its.before_header); /* the other bytes stay unchanged */
        }
        for (int tries = 0; tries < 60 && (!stopped || !begun); ++tries) {
            const char *words[MOST_WORDS] = {process_tool(), "transpose", path, "--matrix-memory=300K"};
            memcpy(words + 4, cases[i].options, sizeof cases[i].options);
            unlink(journal);
            unlink(path);
            write_content(path, its.before.bytes, its.before.size);
            stopped = stop_in_the_middle(words, journal, SIGKILL, 40);
            begun = !holds(path, its.before);
        }
        if (!stopped || !begun)
            fail_msg("it could not be stopped in the middle: %d %d %s", stopped, begun, last.errors);
        if (!cases[i].options[0]) {
            transpose(1, path);
            expect_said("--resume");
            transpose(1, path, "-o", output);
            expect_said("--resume");
            assert_int_equal(access(output, F_OK), -1);
        }
        transpose(0, "--resume", path);
        assert_true(holds(path, its.after));
        assert_int_equal(access(journal, F_OK), -1);
        end_sample(&its);
    }
}

/* After Ctrl-C before the first step's write, the picture is unchanged and has no mark. */
static void tool_pictures_interrupted(void **state)
{
    const char *path = in_directory("picture.ppm"), *journal = in_directory("picture.ppm.ipt-journal");
    const char *const words[] = {process_tool(), "transpose", path, NULL};
    sample its = make_sample("P6\n%zu %zu\n255\n", 3001, 2003, 3, 0);
    int unchanged = 0;
    (void)state;
    for (int tries = 0; tries < 40 && !unchanged; ++tries) {
        write_content(path, its.before.bytes, its.before.size);
        const int stopped = stop_in_the_middle(words, journal, SIGINT, 5);
        unchanged = stopped && strstr(last.errors, "the file is unchanged");
        /* On a busy machine, the signal may end the process before it handles signals. */
        const int killed = WIFSIGNALED(last.status) && access(journal, F_OK) == 0;
        if ((stopped && !unchanged) || killed)
            transpose(0, "--resume", path);
        assert_true(holds(path, unchanged ? its.before : its.after));
        assert_int_equal(count_files(), 1);
    }
    if (!unchanged)
        fail_msg("it could not be stopped before the first step: %s", last.errors);
    end_sample(&its);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* PNG, JPEG, BMP and TGA */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Skips a test of encoded pictures if the tool cannot encode. */
static void need_stb(void)
{
    const char *path = in_directory("probe.pgm"), *output = in_directory("probe.png");
    write_content(path, "P5 1 1 255 x", 12);
    const char *const words[] = {process_tool(), "transpose", path, "-o", output, NULL};
    run_words(words);
    if (strstr(last.errors, "built without it"))
        test_skip("the tool was built without stb");
    expect_code(0, __LINE__);
    unlink(path);
    unlink(output);
}

static const char *const pam_format = "P7\nWIDTH %%zu\nHEIGHT %%zu\nDEPTH %zu\nMAXVAL %zu\n%sENDHDR\n";

/* The header that the tool writes to a new PAM, for make_sample. */
static const char *pam_header(size_t channels, size_t maxval)
{
    static const char *const types[] = {"", "TUPLTYPE GRAYSCALE\n", "TUPLTYPE GRAYSCALE_ALPHA\n", "TUPLTYPE RGB\n",
                                        "TUPLTYPE RGB_ALPHA\n"};
    static char text[200];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, pam_format, channels, maxval, types[channels]);
#pragma GCC diagnostic pop
    return text;
}

/* Converts to each lossless format, and moves the picture on the way back. */
static void tool_pictures_round_trips(void **state)
{
    static const struct {
        const char *name;
        unsigned channels; /* a bit for each number of channels */
    } formats[] = {{"p.png", 0x1e}, {"p.TGA", 0x1e}, {"p.bmp", 0x18}};
    static const size_t sides[][2] = {{31, 17}, {1, 1}, {1, 9}, {101, 1}, {10, 99}, {200, 150}, {64, 64}};
    const char *path = in_directory("a.pam"), *back = in_directory("b.pam");
    (void)state;
    need_stb();
    for (size_t format = 0; format < TEST_COUNT(formats); ++format)
        for (size_t channels = 1; channels <= 4; ++channels)
            for (size_t move = 0; move < MOVES && formats[format].channels >> channels & 1; ++move) {
                const size_t *side = sides[(format + channels * 2 + move) % TEST_COUNT(sides)];
                const char *encoded = in_directory(formats[format].name);
                sample its = make_sample(pam_header(channels, 255), side[0], side[1], channels, move);
                if (channels == 4)
                    its.before.bytes[its.before_header + 3] = 255; /* stb treats a BMP whose alpha is all 0 as opaque */
                move_matrix(move, its.after.bytes + its.after_header, its.before.bytes + its.before_header, side[1],
                            side[0], channels);
                write_content(path, its.before.bytes, its.before.size);
                transpose(0, path, "-o", encoded);
                expect_silence();
                assert_true(holds(path, its.before));
                transpose(0, encoded, "-o", back); /* transposes back */
                assert_true(holds(back, its.before));
                transpose(0, path, "-o", encoded, "--move", moves[move]);
                transpose(0, encoded, "-o", path, "--move", "rotate-180");
                transpose(0, path, "--output", back, "--move=rotate-180");
                if (!holds(back, its.after))
                    fail_msg("%s of %s with %zu channels", moves[move], formats[format].name, channels);
                end_sample(&its);
            }
    assert_int_equal(count_files(), 2 + TEST_COUNT(formats));
}

/* Writes a smooth picture, which JPEG changes little. */
static void write_smooth(const char *path, size_t width, size_t height, size_t channels)
{
    char header[60];
    int length = snprintf(header, sizeof header, "P%d %zu %zu 255\n", channels == 1 ? 5 : 6, width, height);
    const size_t size = (size_t)length + width * height * channels;
    unsigned char *bytes = malloc(size), *next = bytes + length;
    assert_non_null(bytes);
    memcpy(bytes, header, (size_t)length);
    for (size_t row = 0; row < height; ++row)
        for (size_t col = 0; col < width; ++col)
            for (size_t channel = 0; channel < channels; ++channel)
                *next++ = (unsigned char)(40 + 60 * channel + row / 2 + col);
    write_content(path, bytes, size);
    free(bytes);
}

/* The decoded pixels of a JPEG move exactly, and differ little from the original. */
static void tool_pictures_jpeg(void **state)
{
    enum { WIDTH = 70, HEIGHT = 45, CHANNELS = 3, BYTES = WIDTH * HEIGHT * CHANNELS };
    const char *path = in_directory("a.pnm"), *encoded = in_directory("a.JPEG");
    const char *decoded = in_directory("decoded.ppm"), *moved = in_directory("moved.ppm");
    unsigned char upright[BYTES], wanted[BYTES];
    (void)state;
    need_stb();
    write_smooth(path, WIDTH, HEIGHT, CHANNELS);
    transpose(0, path, "-o", encoded);
    transpose(0, encoded, "-o", decoded); /* transposed twice */
    content original = read_content(path), again = read_content(decoded);
    for (size_t i = 1; i <= BYTES; ++i)
        assert_true(abs(original.bytes[original.size - i] - again.bytes[again.size - i]) <= 4);
    move_matrix(0, upright, again.bytes + again.size - BYTES, HEIGHT, WIDTH, CHANNELS);
    for (size_t move = 0; move < MOVES; ++move) {
        transpose(0, encoded, "-o", moved, "--move", moves[move]);
        content now = read_content(moved);
        move_matrix(move, wanted, upright, WIDTH, HEIGHT, CHANNELS);
        assert_memory_equal(now.bytes + now.size - BYTES, wanted, BYTES);
        free(now.bytes);
    }
    free(original.bytes);
    free(again.bytes);
}

/* A JPEG whose pixels viewers rotate moves as stored, with a warning. */
static void tool_pictures_exif(void **state)
{
    static const unsigned char segments[][36] = {
        {0xff, 0xe1, 0, 34, 'E', 'x', 'i',  'f', 0, 0, 'M', 'M', 0, 42, 0,
         0,    0,    8, 0,  1,   1,   0x12, 0,   3, 0, 0,   0,   1, 0,  6},
        {0xff, 0xe1, 0, 34, 'E', 'x',  'i', 'f', 0, 0, 'I', 'I', 42, 0, 8,
         0,    0,    0, 1,  0,   0x12, 1,   3,   0, 1, 0,   0,   0,  8, 0},
        {0xff, 0xe1, 0, 34, 'E', 'x',  'i', 'f', 0, 0, 'I', 'I', 42, 0, 8,
         0,    0,    0, 1,  0,   0x12, 1,   3,   0, 1, 0,   0,   0,  1, 0},
        {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0x12, 1, 3, 0}};
    static const char *const expected[] = {"EXIF orientation, 6", "EXIF orientation, 8", NULL, NULL};
    const char *path = in_directory("a.ppm"), *encoded = in_directory("a.jpg"), *output = in_directory("b.ppm");
    (void)state;
    need_stb();
    write_smooth(path, 24, 16, 3);
    transpose(0, path, "-o", encoded);
    transpose(0, encoded, "-o", output);
    expect_silence();
    content plain = read_content(encoded), wanted = read_content(output);
    unsigned char *bytes = malloc(plain.size + sizeof *segments);
    assert_non_null(bytes);
    for (size_t i = 0; i < TEST_COUNT(segments); ++i) {
        memcpy(bytes, plain.bytes, 2);
        memcpy(bytes + 2, segments[i], sizeof *segments);
        memcpy(bytes + 2 + sizeof *segments, plain.bytes + 2, plain.size - 2);
        write_content(encoded, bytes, plain.size + sizeof *segments);
        transpose(0, encoded, "-o", output);
        if (expected[i])
            expect_said(expected[i]);
        else
            expect_silence();
        assert_true(holds(output, wanted));
    }
    free(bytes);
    free(plain.bytes);
    free(wanted.bytes);
}

/* Cut files of each format, and a PNG with a wrong bit anywhere. */
static void tool_pictures_encoded_damaged(void **state)
{
    static const char *const names[] = {"a.png", "a.jpg", "a.bmp", "a.tga"};
    const char *path = in_directory("a.ppm"), *output = in_directory("b.ppm");
    (void)state;
    need_stb();
    write_smooth(path, 9, 7, 3);
    for (size_t i = 0; i < TEST_COUNT(names); ++i) {
        const char *encoded = in_directory(names[i]);
        transpose(0, path, "-o", encoded);
        content whole = read_content(encoded);
        expect_refusal(encoded, NULL, "add -o FILE", __LINE__);
        for (size_t size = 0; size < whole.size; size += 1 + whole.size / 25) {
            write_content(encoded, whole.bytes, size);
            expect_refusal(encoded, output, size < 8 && i != 3 ? "" : "truncated", __LINE__);
        }
        write_content(encoded, whole.bytes, whole.size - 1);
        expect_refusal(encoded, output, "truncated", __LINE__);
        for (size_t at = 8; i == 0 && at < whole.size; at += 1 + whole.size / 25) {
            whole.bytes[at] ^= 4;
            write_content(encoded, whole.bytes, whole.size);
            expect_refusal(encoded, output, "", __LINE__);
            whole.bytes[at] ^= 4;
        }
        free(whole.bytes);
    }
}

static void put_big_endian(unsigned char **next, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        *(*next)++ = (unsigned char)(value >> shift);
}

static void put_chunk(unsigned char **next, const char *type, const unsigned char *data, size_t size)
{
    uint32_t sum = 0xffffffffu;
    put_big_endian(next, (uint32_t)size);
    unsigned char *const begin = *next;
    memcpy(begin, type, 4);
    if (size)
        memcpy(begin + 4, data, size);
    for (size_t i = 0; i < size + 4; ++i) {
        sum ^= begin[i];
        for (int bit = 0; bit < 8; ++bit)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    *next += size + 4;
    put_big_endian(next, ~sum);
}

/* Writes a PNG of samples of 16 bits, RGB, not compressed. extra: one more chunk, or NULL. */
static void write_deep_png(const char *path, const unsigned char *samples, size_t width, size_t height,
                           const char *extra)
{
    static unsigned char file[8000], data[6000];
    unsigned char header[13] = {0}, *next = header, *end = data;
    const size_t row = width * 6, size = height * (row + 1);
    uint32_t a = 1, b = 0;
    put_big_endian(&next, (uint32_t)width);
    put_big_endian(&next, (uint32_t)height);
    next[0] = 16;
    next[1] = 2;
    const unsigned char start[] = {
        0x78, 1, 1, (unsigned char)size, (unsigned char)(size >> 8), (unsigned char)~size, (unsigned char)(~size >> 8)};
    assert_true(size + 20 < sizeof data);
    memcpy(end, start, sizeof start);
    end += sizeof start;
    for (size_t i = 0; i < height; ++i) {
        *end++ = 0;
        memcpy(end, samples + i * row, row);
        end += row;
    }
    for (const unsigned char *byte = data + sizeof start; byte < end; ++byte) {
        a = (a + *byte) % 65521;
        b = (b + a) % 65521;
    }
    put_big_endian(&end, b << 16 | a);
    next = file;
    memcpy(next, "\x89PNG\r\n\x1a\n", 8);
    next += 8;
    put_chunk(&next, "IHDR", header, sizeof header);
    if (extra)
        put_chunk(&next, extra, header, 8);
    put_chunk(&next, "IDAT", data, (size_t)(end - data));
    put_chunk(&next, "IEND", NULL, 0);
    write_content(path, file, (size_t)(next - file));
}

/* Samples of 16 bits keep all their bits, or the tool refuses the file. */
static void tool_pictures_deep_png(void **state)
{
    enum { WIDTH = 23, HEIGHT = 14 };
    const char *encoded = in_directory("a.png"), *output = in_directory("b.ppm"), *other = in_directory("c.png");
    (void)state;
    need_stb();
    for (size_t move = 0; move < MOVES; ++move) {
        sample its = make_sample("P6\n%zu %zu\n65535\n", WIDTH, HEIGHT, 6, move);
        write_deep_png(encoded, its.before.bytes + its.before_header, WIDTH, HEIGHT, NULL);
        transpose(0, encoded, "-o", output, "--move", moves[move]);
        expect_silence();
        assert_true(holds(output, its.after));
        if (move == 0) {
            expect_refusal(encoded, other, "16 bits", __LINE__);
            expect_refusal(output, other, "16 bits", __LINE__);
            write_deep_png(encoded, its.before.bytes, WIDTH, HEIGHT, "acTL");
            expect_refusal(encoded, other, "animation", __LINE__);
        }
        end_sample(&its);
    }
}

/* Writes a PNG with a palette of two colours, and one row of pixels of two bits. */
static void write_palette_png(const char *path, const unsigned char *indices, size_t width, size_t inflated)
{
    static unsigned char file[1000];
    unsigned char header[13] = {0}, data[100] = {0x78, 1, 1}, *next = header;
    put_big_endian(&next, (uint32_t)width);
    put_big_endian(&next, 1);
    next[0] = 2;
    next[1] = 3;
    data[3] = (unsigned char)inflated; /* one stored block: a filter byte, then the pixels */
    data[5] = (unsigned char)~inflated;
    data[6] = 0xff;
    for (size_t i = 0; i < width; ++i)
        data[8 + i / 4] |= (unsigned char)(indices[i] << (6 - 2 * (i % 4)));
    next = file;
    memcpy(next, "\x89PNG\r\n\x1a\n", 8);
    next += 8;
    put_chunk(&next, "IHDR", header, sizeof header);
    put_chunk(&next, "PLTE", (const unsigned char *)"\0\0\0abc", 6);
    put_chunk(&next, "IDAT", data, 7 + inflated + 4);
    put_chunk(&next, "IEND", NULL, 0);
    write_content(path, file, (size_t)(next - file));
}

/* Files that stb_image would decode wrongly, or with bytes from outside the file. */
static void tool_pictures_hostile(void **state)
{
    const char *path = in_directory("a.ppm"), *output = in_directory("b.pam"), *encoded = in_directory("a.jpg");
    unsigned char table[2 + 2 + 17 + 765] = {0xff, 0xc4, (2 + 17 + 765) >> 8, (2 + 17 + 765) & 0xff, 0x10}, bytes[8000];
    (void)state;
    need_stb();
    write_smooth(path, 24, 16, 3);
    transpose(0, path, "-o", encoded);
    content whole = read_content(encoded);
    table[5 + 11] = table[5 + 12] = table[5 + 13] = 255;
    assert_true(whole.size + sizeof table < sizeof bytes);
    memcpy(bytes, whole.bytes, 2);
    memcpy(bytes + 2, table, sizeof table);
    memcpy(bytes + 2 + sizeof table, whole.bytes + 2, whole.size - 2);
    write_content(encoded, bytes, whole.size + sizeof table);
    expect_refusal(encoded, output, "has 765 codes: at most 256", __LINE__);
    free(whole.bytes);

    const char *const mapped = in_directory("a.png");
    write_palette_png(mapped, (const unsigned char *)"\0\1\1\0\1", 5, 3);
    transpose(0, mapped, "-o", output);
    static const char wanted[] =
        "P7\nWIDTH 1\nHEIGHT 5\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n\0\0\0abcabc\0\0\0abc";
    const content picture = {(unsigned char *)(uintptr_t)wanted, sizeof wanted - 1};
    assert_true(holds(output, picture));
    unlink(output);
    write_palette_png(mapped, (const unsigned char *)"\0\1\2\0\1", 5, 3);
    expect_refusal(mapped, output, "palette of 2 entries lacks", __LINE__);
    write_palette_png(mapped, (const unsigned char *)"\0\1\1\0\1", 5, 2); /* half of the pixels, right checksums */
    expect_refusal(mapped, output, "", __LINE__);

    const char *const cut = in_directory("a.tga"); /* cut within its last row */
    static const unsigned char head[18] = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 0, 40, 0, 24, 0x20};
    memcpy(bytes, head, sizeof head);
    memset(bytes + sizeof head, 'x', 50 * 40 * 3);
    write_content(cut, bytes, sizeof head + 50 * 40 * 3);
    transpose(0, cut, "-o", output);
    unlink(output);
    for (size_t less = 1; less < 160; less += 17) {
        write_content(cut, bytes, sizeof head + 50 * 40 * 3 - less);
        expect_refusal(cut, output, "truncated", __LINE__);
    }
}

/* Headers that claim more than --memory. */
static void tool_pictures_claims(void **state)
{
    const char *path = in_directory("a.tga"), *output = in_directory("b.pam");
    const size_t runs = (30000 * 20000 + 127) / 128, size = 18 + 2 * runs;
    unsigned char *const bytes = malloc(size);
    static const unsigned char head[18] = {0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x30, 0x75, 0x20, 0x4e, 8};
    (void)state;
    need_stb();
    assert_non_null(bytes);
    memcpy(bytes, head, sizeof head); /* 600 MB of pixels in 9 MB */
    for (size_t i = 0; i < runs; ++i) {
        bytes[18 + 2 * i] = 0xff;
        bytes[19 + 2 * i] = 7;
    }
    write_content(path, bytes, size);
    transpose(1, path, "-o", output, "--memory", "100M");
    expect_said("decoding 30000x20000 pixels takes up to");
    transpose(1, path, "-o", output, "--memory", "8M");
    expect_said("must be in memory");
    free(bytes);
    assert_int_equal(count_files(), 1);
}

/* Formats that cannot store a picture are refused. An existing output stays unchanged. */
static void tool_pictures_losses(void **state)
{
    static const struct {
        const char *format, *output, *expected;
        size_t size;
    } cases[] = {
        {"P5 %zu %zu 65535\n", "o.png", "16 bits", 2},
        {"P6 %zu %zu 256\n", "o.jpg", "16 bits", 6},
        {"P6 %zu %zu 100\n", "o.png", "maxval = 100: PNG needs 255", 3},
        {"P6 %zu %zu 255\n", "o.pgm", "use .ppm", 3},
        {"P5 %zu %zu 255\n", "o.ppm", "use .pgm", 1},
        {"P5 %zu %zu 255\n", "o.gif", "must name a picture's format", 1},
        {"P5 %zu %zu 255\n", "o", "must name a picture's format", 1},
        {"P5 %zu %zu 255\n", "o.npy", "must name a picture's format", 1},
        {"P7\nWIDTH %zu\nHEIGHT %zu\nDEPTH 4\nMAXVAL 255\nENDHDR\n", "o.jpg", "alpha", 4},
        {"P7\nWIDTH %zu\nHEIGHT %zu\nDEPTH 2\nMAXVAL 255\nENDHDR\n", "o.bmp", "alpha", 2},
        {"P7\nWIDTH %zu\nHEIGHT %zu\nDEPTH 2\nMAXVAL 255\nENDHDR\n", "o.ppm", "use .pam", 2},
        {"P7\nWIDTH %zu\nHEIGHT %zu\nDEPTH 5\nMAXVAL 255\nENDHDR\n", "o.png", "at most 4", 5},
        {"P7\nTUPLTYPE CMYK\nWIDTH %zu\nHEIGHT %zu\nDEPTH 4\nMAXVAL 255\nENDHDR\n", "o.png", "neither grey nor", 4},
        {"P7\nWIDTH %zu\nHEIGHT %zu\nDEPTH 3\nMAXVAL 255\nTUPLTYPE YCbCr\nENDHDR\n", "o.ppm", "neither grey nor", 3},
        {"P7\nWIDTH %zu\nHEIGHT %zu\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n", "o.tga", "neither grey nor", 4},
        {"P7\nWIDTH %zu\nHEIGHT %zu\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB X\nENDHDR\n", "o.bmp", "neither grey nor", 3},
    };
    const char *path = in_directory("a.pnm");
    const content old = {(unsigned char *)"old", 3};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        const char *output = in_directory(cases[i].output);
        sample its = make_sample(cases[i].format, 6, 4, cases[i].size, 0);
        write_content(path, its.before.bytes, its.before.size);
        write_content(output, old.bytes, old.size);
        expect_refusal(path, output, cases[i].expected, (int)i);
        assert_true(holds(output, old));
        end_sample(&its);
    }
    sample wide = make_sample("P5 %zu %zu 255\n", 65536, 1, 1, 0);
    write_content(path, wide.before.bytes, wide.before.size);
    expect_refusal(path, in_directory("o.jpg"), "at most 65535", __LINE__);
    end_sample(&wide);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* --output */
/* ------------------------------------------------------------------------------------------------------------------ */

/* An output of the same format keeps the comments. */
static void tool_pictures_output_copies(void **state)
{
    const char *path = in_directory("a"), *output = in_directory("b.ppm"), *raw = in_directory("raw");
    (void)state;
    for (size_t move = 0; move < MOVES; ++move) {
        sample its = make_sample("P6 # mine\n%zu %zu\n1023\n", 33, 21, 6, move);
        write_content(path, its.before.bytes, its.before.size);
        transpose(0, path, "--move", moves[move], "-o", output);
        expect_silence();
        assert_true(holds(path, its.before) && holds(output, its.after));
        memcpy(its.after.bytes, its.before.bytes, its.before_header);
        transpose(0, path, "--raw=21x33:6", "--offset=21", "-o", raw, "--move", moves[move]);
        assert_int_equal(its.before_header, 21);
        assert_true(holds(path, its.before) && holds(raw, its.after));
        end_sample(&its);
    }
    assert_int_equal(count_files(), 3);
}

static void tool_pictures_output_refused(void **state)
{
    const char *path = in_directory("a.ppm"), *link_path = in_directory("link.ppm"), *output = in_directory("b.ppm");
    char within[PATH_SIZE];
    sample its = make_sample("P6 %zu %zu 255\n", 2000, 1400, 3, 0);
    (void)state;
    write_content(path, its.before.bytes, its.before.size);
    assert_int_equal(link(path, link_path), 0);
    expect_refusal(path, link_path, "names the input", __LINE__);
    unlink(link_path);
    assert_int_equal(symlink(path, link_path), 0);
    expect_refusal(path, link_path, "names the input", __LINE__);
    expect_refusal(path, path, "names the input", __LINE__);
    snprintf(within, sizeof within, "%s/nosuchfolder/b.ppm", directory);
    expect_refusal(path, within, "No such file", __LINE__);
    expect_refusal(path, "/dev/null", "must name", __LINE__);
    transpose(0, path, "-o", output); /* compiles the kernels and stores them */
    transpose(0, path, "-o", in_directory("b.pam"));
    unlink(output);
    unlink(in_directory("b.pam"));
    next_file_limit = 4 << 20; /* more than PoCL writes for a compiled program */
    expect_refusal(path, output, "writing failed", __LINE__);
    expect_refusal(path, in_directory("b.pam"), "writing failed", __LINE__);
    next_file_limit = 0;
    transpose(1, path, "-o", in_directory("b.pam"), "--memory", "20000");
    expect_said("--memory allows 20000");
    transpose(1, path, "-o", output, "--device", "nosuchdevice");
    transpose(1, path, "--expression", "x");
    expect_said("not pictures");
    transpose(1, path, "--channels-last");
    expect_said("--channels-last is for NumPy files");
    assert_true(holds(path, its.before));
    assert_int_equal(count_files(), 2);
    end_sample(&its);
}

static void tool_pictures_usage(void **state)
{
    static const struct {
        const char *words[8], *expected;
    } cases[] = {
        {{"-o", ""}, "name of a file"},
        {{"-o"}, "needs a value"},
        {{"-o", "b", "--resume"}, "--output does not go with --resume"},
        {{"-o", "b", "--sync"}, "--output does not go with --sync"},
        {{"-o", "b", "--no-journal"}, "--output does not go with --no-journal"},
        {{"--offset", "3"}, "--offset needs --raw"},
        {{"--offset", "x", "--raw", "1x1:1"}, "--offset takes a number of bytes"},
        {{"--offset", "17M", "--raw", "1x1:1"}, "up to 16777216"},
        {{"--resume", "--offset", "3"}, "--resume does not go with --offset"},
        {{"--resume", "--channels-last"}, "--resume does not go with --channels-last"},
        {{"--channels-last", "--raw", "1x1:1"}, "does not go with --raw"},
        {{"--channels-last", "--expression", "x"}, "does not go with --expression"},
        {{"--raw", "3x4:float"}, "not '3x4:float'"},
        {{"--raw", "3x4:float32x"}, "not '3x4:float32x'"},
        {{"--raw", "3x4:FLOAT32"}, "not '3x4:FLOAT32'"},
        {{"--raw", "3x4:complex64", "--expression", "x"}, "--expression needs --type"},
    };
    const char *path = in_directory("a");
    const content old = {(unsigned char *)"123456789012", 12};
    (void)state;
    write_content(path, old.bytes, old.size);
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        const char *words[MOST_WORDS] = {process_tool(), "transpose", path};
        memcpy(words + 3, cases[i].words, sizeof cases[i].words);
        run_words(words);
        expect_code(2, (int)i);
        expect_said(cases[i].expected);
        assert_true(holds(path, old));
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Raw files and NumPy files */
/* ------------------------------------------------------------------------------------------------------------------ */

static void tool_pictures_raw_types(void **state)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = {{"int8", 1},    {"uint8", 1},     {"int16", 2},      {"uint16", 2},  {"int32", 4},
                 {"uint32", 4},  {"int64", 8},     {"uint64", 8},     {"float16", 2}, {"float32", 4},
                 {"float64", 8}, {"complex64", 8}, {"complex128", 16}};
    const char *path = in_directory("raw");
    char raw[40];
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(types); ++i) {
        sample its = make_sample("", 31, 17, types[i].size, i % MOVES);
        write_content(path, its.before.bytes, its.before.size);
        snprintf(raw, sizeof raw, "17x31:%s", types[i].name);
        transpose(0, path, "--raw", raw, "--move", moves[i % MOVES]);
        expect_silence();
        assert_true(holds(path, its.after));
        end_sample(&its);
    }
    /* The named type is the type of x in an expression. */
    const int32_t numbers[] = {1, 16777217, -5, 2147483646};
    const int32_t wanted[] = {2, -4, 16777218, 2147483647};
    write_content(path, numbers, sizeof numbers);
    transpose(0, path, "--raw", "2x2:int32", "--expression", "x + 1");
    assert_true(holds(path, (content){(unsigned char *)wanted, sizeof wanted}));
}

static void tool_pictures_raw_offset(void **state)
{
    static const size_t offsets[] = {0, 1, 5, 6, 4097};
    const char *path = in_directory("raw");
    char text[30];
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(offsets); ++i)
        for (size_t move = i; move < MOVES; move += 2) {
            enum { ROWS = 19, COLS = 44, SIZE = 12, BATCH = 2, BYTES = ROWS * COLS * SIZE };
            const size_t size = offsets[i] + BATCH * BYTES;
            content before = {malloc(size), size}, after = {malloc(size), size};
            assert_true(before.bytes && after.bytes);
            test_fill(before.bytes, size);
            memcpy(after.bytes, before.bytes, offsets[i]);
            for (size_t at = offsets[i]; at < size; at += BYTES)
                move_matrix(move, after.bytes + at, before.bytes + at, ROWS, COLS, SIZE);
            write_content(path, before.bytes, size);
            snprintf(text, sizeof text, "--offset=%zu", offsets[i]);
            transpose(0, path, "--raw", "19x44:12", text, "--move", moves[move], "--memory=400M");
            assert_true(holds(path, after));
            free(before.bytes);
            free(after.bytes);
        }
    content now = read_content(path);
    transpose(1, path, "--raw", "19x44:12", "--offset", "4096");
    expect_said("from --offset on are not a multiple");
    transpose(1, path, "--raw", "19x44:12", "--offset", "1M");
    expect_said("0 bytes from --offset on");
    assert_true(holds(path, now));
    free(now.bytes);
}

/* Writes an array of bytes. shape: as text. Returns the bytes before its data. */
static size_t write_npy(const char *path, const char *order, const char *shape, const unsigned char *data, size_t size)
{
    static unsigned char bytes[20000];
    enum { HEADER = 128, MAGIC = 10 };
    memcpy(bytes, "\x93NUMPY\x01\0\x76\0", MAGIC);
    memset(bytes + MAGIC, ' ', HEADER - MAGIC);
    int length = snprintf((char *)bytes + MAGIC, HEADER - MAGIC, "{'descr': '|u1', 'fortran_order': %s, 'shape': (%s)}",
                          order, shape);
    bytes[MAGIC + length] = ' ';
    bytes[HEADER - 1] = '\n';
    assert_true(HEADER + size <= sizeof bytes);
    memcpy(bytes + HEADER, data, size);
    write_content(path, bytes, HEADER + size);
    return HEADER;
}

/* Arrays of pixels in C order, also several arrays, and arrays of planes (Fortran order). */
static void tool_pictures_channels_last(void **state)
{
    enum { ROWS = 13, COLS = 21, CHANNELS = 3, BYTES = ROWS * COLS * CHANNELS, BATCH = 2 };
    const char *path = in_directory("a.npy"), *wanted_path = in_directory("wanted.npy");
    unsigned char before[BATCH * BYTES], after[BATCH * BYTES];
    (void)state;
    for (size_t move = 0; move < MOVES; ++move) {
        const char *shape = exchanges_sides(move) ? "21, 13, 3" : "13, 21, 3";
        test_fill(before, sizeof before);
        move_matrix(move, after, before, ROWS, COLS, CHANNELS);
        move_matrix(move, after + BYTES, before + BYTES, ROWS, COLS, CHANNELS);
        write_npy(path, "False", "13, 21, 3", before, BYTES);
        write_npy(wanted_path, "False", shape, after, BYTES);
        content wanted = read_content(wanted_path);
        transpose(0, path, "--channels-last", "--move", moves[move]);
        expect_silence();
        assert_true(holds(path, wanted));
        free(wanted.bytes);
        write_npy(path, "False", "2, 13, 21, 3", before, sizeof before);
        write_npy(wanted_path, "False", exchanges_sides(move) ? "2, 21, 13, 3" : "2, 13, 21, 3", after, sizeof after);
        wanted = read_content(wanted_path);
        transpose(0, path, "--move", moves[move], "--channels-last");
        assert_true(holds(path, wanted));
        free(wanted.bytes);
        /* Fortran order: planes, of which each is stored by columns. */
        static const size_t inner[MOVES] = {0, 3, 2, 1, 5, 4, 6};
        for (size_t at = 0; at < BYTES; at += ROWS * COLS)
            move_matrix(inner[move], after + at, before + at, COLS, ROWS, 1);
        write_npy(path, "True", "13, 21, 3", before, BYTES);
        write_npy(wanted_path, "True", shape, after, BYTES);
        wanted = read_content(wanted_path);
        transpose(0, path, "--channels-last", "--move", moves[move]);
        assert_true(holds(path, wanted));
        free(wanted.bytes);
    }
}

/* A last axis that looks like channels moves as columns, with a warning. */
static void tool_pictures_channels_warning(void **state)
{
    static const struct {
        const char *shape;
        size_t size;
        int warns;
    } cases[] = {{"10, 20, 3", 600, 1},  {"10, 5, 4", 200, 1},  {"2, 10, 9, 1", 180, 1},
                 {"10, 20, 5", 1000, 0}, {"10, 3, 20", 600, 0}, {"20, 3", 60, 0},
                 {"50, 3, 3", 450, 0},   {"0, 20, 3", 0, 1},    {"5, 2, 3", 30, 0}};
    static unsigned char data[1000];
    const char *path = in_directory("a.npy");
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        write_npy(path, i % 2 ? "True" : "False", cases[i].shape, data, cases[i].size);
        transpose(0, path, "--move", moves[i % MOVES]);
        if (cases[i].warns) {
            expect_said("warning: the last axis");
            expect_said("--channels-last");
        } else {
            expect_silence();
        }
    }
    write_npy(path, "False", "20, 3", data, 60);
    transpose(1, path, "--channels-last");
    expect_said("three dimensions for --channels-last");
}

/* A NumPy file to another. */
static void tool_pictures_output_npy(void **state)
{
    const char *path = in_directory("a.npy"), *output = in_directory("b.npy"), *wanted_path = in_directory("w.npy");
    unsigned char before[600], after[600];
    (void)state;
    test_fill(before, sizeof before);
    move_matrix(1, after, before, 20, 30, 1);
    write_npy(path, "False", "20, 30", before, sizeof before);
    write_npy(wanted_path, "False", "30, 20", after, sizeof after);
    content old = read_content(path), wanted = read_content(wanted_path);
    transpose(0, path, "-o", output, "--move=rotate-90");
    expect_silence();
    assert_true(holds(path, old) && holds(output, wanted));
    expect_refusal(path, in_directory("b.png"), "must be .npy", __LINE__);
    write_content(path, old.bytes, old.size - 1);
    expect_refusal(path, output, "truncated", __LINE__);
    assert_true(holds(output, wanted));
    free(old.bytes);
    free(wanted.bytes);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Pillow */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Called with the tool and a directory: compares rotations of pictures with Pillow's rotations. */
static const char pillow_script[] =
    "import os, subprocess, sys\n"
    "from PIL import Image, ImageChops\n"
    "tool = sys.argv[1]\n"
    "os.chdir(sys.argv[2])\n"
    "picture = Image.merge('RGB', [Image.linear_gradient('L').resize((97, 61)).rotate(a) for a in (0, 20, 70)])\n"
    "def moved(name, output, move):\n"
    "  subprocess.run([tool, 'transpose', name, '-o', output, '--move', move], check=True)\n"
    "  return Image.open(output)\n"
    "turns = {'rotate-90': 'ROTATE_270', 'rotate-180': 'ROTATE_180', 'rotate-270': 'ROTATE_90',\n"
    "  'transpose': 'TRANSPOSE', 'antitranspose': 'TRANSVERSE', 'flip-horizontal': 'FLIP_LEFT_RIGHT',\n"
    "  'flip-vertical': 'FLIP_TOP_BOTTOM'}\n"
    "for move, turn in turns.items():\n"
    "  for mode in 'L', 'LA', 'RGB', 'RGBA', 'P', '1':\n"
    "    p = picture.convert(mode)\n"
    "    p.save('p.png')\n"
    "    b = moved('p.png', 'b.png', move)\n"
    "    p = p.convert(b.mode).transpose(getattr(Image, turn))\n"
    "    assert b.size == p.size and b.tobytes() == p.tobytes(), (mode, move)\n"
    "  for name, least in ('p.bmp', 0), ('p.tga', 0), ('p.ppm', 0), ('p.jpg', 4):\n"
    "    picture.save(name, **({'quality': 95, 'subsampling': 0} if name == 'p.jpg' else {}))\n"
    "    b, p = moved(name, 'b.bmp', move), Image.open(name).transpose(getattr(Image, turn))\n"
    "    most = max(high for low, high in ImageChops.difference(b, p).getextrema())\n"
    "    assert b.size == p.size and most <= least, (name, move, most)\n";

static void tool_pictures_pillow(void **state)
{
    static const char *const candidates[] = {"python3", "/usr/bin/python3"};
    const char *script = in_directory("script.py"), *python = NULL;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(candidates) && !python; ++i) {
        const char *const words[] = {candidates[i], "-c", "import PIL.Image", NULL};
        run_words(words);
        if (WIFEXITED(last.status) && WEXITSTATUS(last.status) == 0)
            python = candidates[i];
    }
    if (!python)
        test_skip("no Python with Pillow");
    need_stb();
    write_content(script, pillow_script, sizeof pillow_script - 1);
    char *const tool = realpath(process_tool(), NULL);
    assert_non_null(tool);
    const char *const words[] = {python, "-B", script, tool, directory, NULL};
    run_words(words);
    free(tool);
    expect_code(0, __LINE__);
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

const struct CMUnitTest test_pictures[] = {
    IN_DIRECTORY(tool_pictures_netpbm_moves),   IN_DIRECTORY(tool_pictures_pam_height_first),
    IN_DIRECTORY(tool_pictures_netpbm_refused), IN_DIRECTORY(tool_pictures_netpbm_cut),
    IN_DIRECTORY(tool_pictures_killed),         IN_DIRECTORY(tool_pictures_interrupted),
    IN_DIRECTORY(tool_pictures_round_trips),    IN_DIRECTORY(tool_pictures_jpeg),
    IN_DIRECTORY(tool_pictures_exif),           IN_DIRECTORY(tool_pictures_encoded_damaged),
    IN_DIRECTORY(tool_pictures_deep_png),       IN_DIRECTORY(tool_pictures_hostile),
    IN_DIRECTORY(tool_pictures_claims),         IN_DIRECTORY(tool_pictures_losses),
    IN_DIRECTORY(tool_pictures_output_copies),  IN_DIRECTORY(tool_pictures_output_refused),
    IN_DIRECTORY(tool_pictures_output_npy),     IN_DIRECTORY(tool_pictures_usage),
    IN_DIRECTORY(tool_pictures_raw_types),      IN_DIRECTORY(tool_pictures_raw_offset),
    IN_DIRECTORY(tool_pictures_channels_last),  IN_DIRECTORY(tool_pictures_channels_warning),
    IN_DIRECTORY(tool_pictures_pillow),
};
const size_t test_pictures_count = TEST_COUNT(test_pictures);
