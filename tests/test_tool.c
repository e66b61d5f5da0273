/* The tool: what NumPy wrote it transposes as NumPy would, whatever the type, order and format version; what it cannot
 * transpose it refuses with one sentence that names the file, and leaves every byte as it was; a wrong command line
 * exits with 2, any other failure with 1. */

#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PATH_SIZE = 512,
    OUTPUT_SIZE = 1 << 18, /* more than any command prints */
    RUN_SECONDS = 120      /* then a run has hung */
};

/* ------------------------------------------------------------------------------------------------------------------ */
/* Running programs, and files */
/* ------------------------------------------------------------------------------------------------------------------ */

/* What a program left. */
typedef struct outcome {
    int code; /* the exit code; -1 if a signal ended it */
    char output[OUTPUT_SIZE], errors[OUTPUT_SIZE];
} outcome;

static outcome last; /* of the latest run */

/* The most bytes that the next run may have in a file that it writes; 0: no limit. */
static rlim_t next_file_limit;

static void read_stream(FILE *stream, char *text)
{
    rewind(stream);
    size_t length = fread(text, 1, OUTPUT_SIZE - 1, stream);
    text[length] = '\0';
    fclose(stream);
}

/* Runs words[0] with the words after it, up to NULL. output_path: where its output goes; NULL: to last.output. */
static void run_words(const char *output_path, const char *const *words)
{
    FILE *output = output_path == NULL ? tmpfile() : fopen(output_path, "w");
    FILE *errors = tmpfile();
    assert_non_null(output);
    assert_non_null(errors);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (next_file_limit != 0) {
            struct rlimit limit = {next_file_limit, next_file_limit};
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        dup2(fileno(output), STDOUT_FILENO);
        dup2(fileno(errors), STDERR_FILENO);
        alarm(RUN_SECONDS);
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    last.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    last.output[0] = '\0';
    if (output_path == NULL) {
        read_stream(output, last.output);
    } else {
        fclose(output);
    }
    read_stream(errors, last.errors);
}

static const char *tool_path(void)
{
    const char *path = getenv("IPT_TOOL");
    return path != NULL ? path : "build/ipt";
}

/* Runs the tool and fails unless it exits with code. */
#define run_tool(code, ...)                                                                                            \
    do {                                                                                                               \
        const char *const run_tool_words[] = {tool_path(), __VA_ARGS__, NULL};                                         \
        run_words(NULL, run_tool_words);                                                                               \
        expect_code(code, __LINE__);                                                                                   \
    } while (0)

static void expect_code(int code, int line)
{
    if (last.code != code) {
        fail_msg("line %d: exit code %d instead of %d; output: %.2000s; errors: %.2000s", line, last.code, code,
                 last.output, last.errors);
    }
}

static void expect_word(const char *text, const char *word)
{
    if (strstr(text, word) == NULL) {
        fail_msg("'%s' is not in: %.4000s", word, text);
    }
}

/* A directory for a test, removed by its teardown. */
static char directory[PATH_SIZE];

static int make_directory(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/ipt_tool_XXXXXX", parent != NULL ? parent : "/tmp");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    next_file_limit = 0;
    DIR *list = opendir(directory);
    if (list == NULL) {
        return -1;
    }
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            if (unlinkat(dirfd(list), entry->d_name, 0) != 0) {
                unlinkat(dirfd(list), entry->d_name, AT_REMOVEDIR);
            }
        }
    }
    closedir(list);
    return rmdir(directory);
}

/* The path of a file in the test's directory; valid until the next but one call. */
static const char *in_directory(const char *name)
{
    static char paths[2][PATH_SIZE * 2];
    static size_t index;
    index ^= 1;
    snprintf(paths[index], sizeof paths[index], "%s/%s", directory, name);
    return paths[index];
}

typedef struct content {
    unsigned char *bytes;
    size_t size;
} content;

static content read_content(const char *path)
{
    content read = {NULL, 0};
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    read.size = (size_t)ftell(stream);
    rewind(stream);
    read.bytes = malloc(read.size + 1);
    assert_non_null(read.bytes);
    assert_int_equal(fread(read.bytes, 1, read.size, stream), read.size);
    fclose(stream);
    return read;
}

static void write_content(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

/* Writes a .npy file by hand: magic, version, length of the header text, the text, and size bytes of data that count
 * up. Returns where the data begins. */
static size_t write_npy(const char *path, unsigned major, const char *text, size_t text_length, size_t size)
{
    static unsigned char bytes[1 << 16];
    size_t length = strlen(text), offset = major == 1 ? 10 : 12;
    assert_true(offset + length + size <= sizeof bytes);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)major;
    for (size_t i = 8; i < offset; i++) {
        bytes[i] = (unsigned char)(text_length >> 8 * (i - 8));
    }
    memcpy(bytes + offset, text, length);
    offset += length;
    for (size_t i = 0; i < size; i++) {
        bytes[offset + i] = (unsigned char)(i * 7 + i / 256);
    }
    write_content(path, bytes, offset + size);
    return offset;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* NumPy */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A Python with NumPy; NULL if there is none. */
static const char *python_with_numpy(void)
{
    static const char *const candidates[] = {"python3", "/usr/bin/python3"};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        const char *const words[] = {candidates[i], "-c", "import numpy", NULL};
        run_words(NULL, words);
        if (last.code == 0) {
            return candidates[i];
        }
    }
    return NULL;
}

/* Called with a directory and a word. "write": makes every array, saves it twice, as name.npy and name.old, and prints
 * the names. "check": compares name.npy, transposed by the tool, with what NumPy makes of name.old. */
static const char *const numpy_script[] = {
    "import ast, os, sys, numpy as np\n"
    "from numpy.lib import format\n"
    "nested = np.dtype([('a', '<f4', (2, 3)), ('b', [('c', 'S3'), (('title', 'd'), '>u2')]), (\"e'\", '?')])\n"
    "padded = np.dtype([('x', 'i1'), ('y', 'f8'), ('z', 'u2')], align=True)\n"
    "unicode = np.dtype([('gr\\u00f6\\u00dfe', '<i4'), ('\\u4e2d', 'i1')])\n"
    "cases = [\n",
    "  ('f4', '<f4', (31, 17), 'C', 1), ('f4_long', '>f4', (7, 1009), 'C', 1),\n"
    "  ('f4_middle', '<f4', (1000, 777), 'C', 1), ('f8_3d', '<f8', (3, 20, 14), 'C', 1),\n"
    "  ('c16_4d', '<c16', (2, 3, 5, 7), 'C', 1), ('i1', 'i1', (101, 64), 'C', 1),\n"
    "  ('u2_square', '<u2', (4, 64, 64), 'C', 1), ('s10', 'S10', (23, 29), 'C', 1),\n"
    "  ('u5', '<U5', (2, 11, 9), 'C', 1), ('dates', 'M8[ns]', (13, 6), 'C', 1),\n"
    "  ('bool', '?', (37, 53), 'C', 1), ('nested', nested, (12, 5), 'C', 1),\n"
    "  ('padded', padded, (3, 4, 6), 'C', 1), ('void', 'V12', (8, 3), 'C', 1), ('steps', '>m8[25us]', (1, 9), 'C', "
    "1),\n",
    "  ('f4_f', '<f4', (31, 17), 'F', 1), ('f8_f3', '<f8', (3, 4, 5), 'F', 1),\n"
    "  ('i2_f4', '<i2', (5, 2, 3, 7), 'F', 1), ('nested_f', nested, (4, 9), 'F', 1),\n"
    "  ('version2', '<i4', (10, 19), 'C', 2), ('version3', unicode, (16, 3), 'C', 3),\n"
    "  ('version2_f', '<f2', (100, 9), 'F', 2),\n"
    "  ('row', '<f8', (1, 1000), 'C', 1), ('col', '<f8', (1000, 1), 'F', 1),\n"
    "  ('single', '<f4', (5, 1, 1), 'C', 1), ('row_f3', '<f4', (4, 1, 12), 'F', 1),\n"
    "  ('empty', '<f4', (0, 5), 'C', 1), ('empty3', 'S7', (3, 0, 14), 'C', 1),\n"
    "  ('empty_f', '<f4', (0, 12, 7), 'F', 3),\n"
    "]\n",
    "def raw(a):\n"
    "  return a.view('V%d' % a.dtype.itemsize).tobytes()\n"
    "def head(name):\n"
    "  x = open(name, 'rb').read()\n"
    "  start = 10 if x[6] == 1 else 12\n"
    "  at = start + int.from_bytes(x[8:start], 'little')\n"
    "  d = ast.literal_eval(x[start:at].decode('utf8' if x[6] == 3 else 'latin1'))\n"
    "  return x[6], d['fortran_order'], str(d['descr']), at\n"
    "os.chdir(sys.argv[1])\n"
    "random = np.random.RandomState(1)\n"
    "for name, dtype, shape, order, version in cases:\n"
    "  if sys.argv[2] == 'write':\n"
    "    dtype = np.dtype(dtype)\n"
    "    a = np.ndarray(shape, dtype, random.bytes(int(np.prod(shape)) * dtype.itemsize), order=order)\n"
    "    for end in '.npy', '.old':\n"
    "      with open(name + end, 'wb') as f: format.write_array(f, a, version=(version, 0))\n"
    "    assert head(name + '.old')[:2] == (version, order == 'F' and not a.flags.c_contiguous), name\n"
    "    print(name)\n",
    "  else:\n"
    "    old, new = np.load(name + '.old'), np.load(name + '.npy')\n"
    "    assert new.shape == np.swapaxes(old, -1, -2).shape and new.dtype == old.dtype, name\n"
    "    assert raw(new) == raw(np.swapaxes(old, -1, -2)), name\n"
    "    assert head(name + '.old') == head(name + '.npy'), name\n"
    "    at = head(name + '.old')[3]\n"
    "    x, y = open(name + '.old', 'rb').read(at), open(name + '.npy', 'rb').read(at)\n"
    "    assert x.replace(b'%d, %d' % old.shape[-2:], b'%d, %d' % new.shape[-2:]) == y, name\n"};

/* Runs the script's part called action; it must succeed. */
static const char *write_script(const char *name, const char *const *texts, size_t count)
{
    const char *path = in_directory(name);
    FILE *script = fopen(path, "w");
    assert_non_null(script);
    for (size_t i = 0; i < count; i++) {
        fputs(texts[i], script);
    }
    assert_int_equal(fclose(script), 0);
    return path;
}

static void run_numpy(const char *python, const char *action)
{
    const char *path = write_script("script.py", numpy_script, sizeof numpy_script / sizeof numpy_script[0]);
    const char *const words[] = {python, "-B", path, directory, action, NULL};
    run_words(NULL, words);
    expect_code(0, __LINE__);
}

static void test_numpy_files(void **state)
{
    (void)state;
    const char *python = python_with_numpy();
    if (python == NULL) {
        skip();
    }
    run_numpy(python, "write");
    static char names[OUTPUT_SIZE];
    memcpy(names, last.output, sizeof names);
    size_t count = 0;
    for (char *name = strtok(names, "\n"); name != NULL; name = strtok(NULL, "\n"), count++) {
        char file[PATH_SIZE];
        snprintf(file, sizeof file, "%s.npy", name);
        run_tool(0, "transpose", in_directory(file));
        assert_string_equal(last.output, "");
        assert_string_equal(last.errors, "");
    }
    assert_true(count >= 29);
    run_numpy(python, "check");
}

/* Called with the tool and a directory: moves and an expression whose result is exact, against NumPy's. */
static const char *const moves_script[] = {
    "import os, subprocess, sys, numpy as np\n"
    "tool, path = sys.argv[1], os.path.join(sys.argv[2], 'moved.npy')\n"
    "axes = (-2, -1)\n"
    "moves = {'transpose': lambda a: np.swapaxes(a, *axes), 'rotate-90': lambda a: np.rot90(a, -1, axes),\n",
    "  'rotate-180': lambda a: np.rot90(a, 2, axes), 'rotate-270': lambda a: np.rot90(a, 1, axes),\n"
    "  'flip-horizontal': lambda a: a[..., ::-1], 'flip-vertical': lambda a: a[..., ::-1, :],\n"
    "  'antitranspose': lambda a: np.rot90(np.swapaxes(a, *axes), 2, axes)}\n",
    "for name, move in moves.items():\n"
    "  for shape in [(5, 7), (1, 6), (6, 1), (1, 1), (3, 5, 4), (90, 71)]:\n"
    "    for order in 'CF':\n"
    "      a = np.asarray(np.arange(np.prod(shape)).reshape(shape) - 20, dtype='<f4', order=order)\n"
    "      applied = len(shape) == 2\n",
    "      np.save(path, a)\n"
    "      words = [tool, 'transpose', path, '--move', name] + (['--expression', '2 * x + 1'] if applied else [])\n"
    "      subprocess.run(words, check=True)\n"
    "      b, wanted = np.load(path), move(2 * a + 1 if applied else a)\n"
    "      assert b.shape == wanted.shape and np.array_equal(b, wanted), (name, shape, order)\n",
};

static void test_numpy_moves(void **state)
{
    (void)state;
    const char *python = python_with_numpy();
    if (python == NULL) {
        skip();
    }
    const char *path = write_script("moves.py", moves_script, sizeof moves_script / sizeof moves_script[0]);
    const char *const words[] = {python, "-B", path, tool_path(), directory, NULL};
    run_words(NULL, words);
    expect_code(0, __LINE__);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Files made by hand */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The element size of these tests. */
enum { ELEMENT = 4 };

/* Whether now holds, from offset on, the batch of rows x cols elements that before holds, each transposed. */
static void expect_transposed(content before, content now, size_t offset, size_t batch, size_t rows, size_t cols)
{
    assert_int_equal(before.size, now.size);
    assert_int_equal(now.size, offset + batch * rows * cols * ELEMENT);
    for (size_t matrix = 0; matrix < batch; matrix++) {
        for (size_t row = 0; row < rows; row++) {
            for (size_t col = 0; col < cols; col++) {
                size_t base = offset + matrix * rows * cols * ELEMENT;
                assert_memory_equal(now.bytes + base + (col * rows + row) * ELEMENT,
                                    before.bytes + base + (row * cols + col) * ELEMENT, ELEMENT);
            }
        }
    }
}

/* Also where there is no NumPy; with a header that NumPy can read and does not write. */
static void test_file_by_hand(void **state)
{
    (void)state;
    const char *path = in_directory("hand.npy");
    const char *text = "{ \"shape\" : (2,5L , 12),\n'descr':u'<f4', 'fortran_order':False}   ";
    size_t offset = write_npy(path, 1, text, strlen(text), 2 * 5 * 12 * ELEMENT);
    content before = read_content(path);
    run_tool(0, "transpose", "--verbose", path);
    expect_word(last.output, path);
    assert_string_equal(last.errors, "");
    content now = read_content(path);
    assert_memory_equal(now.bytes, before.bytes, 10);
    assert_memory_equal(now.bytes + 10, "{ \"shape\" : (2,12L , 5),\n'descr':u'<f4', 'fortran_order':False}   ",
                        strlen(text));
    expect_transposed(before, now, offset, 2, 5, 12);
    free(before.bytes);
    free(now.bytes);
}

static void test_raw(void **state)
{
    (void)state;
    enum { BATCH = 3, ROWS = 40, COLS = 23 };
    const char *path = in_directory("-raw");
    unsigned char bytes[BATCH * ROWS * COLS * ELEMENT];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    }
    write_content(path, bytes, sizeof bytes);
    run_tool(0, "transpose", "--raw", "40x23:4", "--", path);
    assert_string_equal(last.output, "");
    content before = {bytes, sizeof bytes};
    content now = read_content(path);
    expect_transposed(before, now, 0, BATCH, ROWS, COLS);
    free(now.bytes);
}

/* Runs "transpose path", which must exit with 1, print one line with the path and expected in it, and change nothing.
 */
static void expect_refusal(const char *path, const char *raw, const char *expected, int line)
{
    const char *const words[] = {tool_path(), "transpose", path, raw == NULL ? NULL : "--raw", raw, NULL};
    run_words(NULL, words);
    expect_code(1, line);
    assert_string_equal(last.output, "");
    expect_word(last.errors, path);
    expect_word(last.errors, expected);
    const char *end = strchr(last.errors, '\n');
    if (end == NULL || end[1] != '\0') {
        fail_msg("line %d: not one line: %s", line, last.errors);
    }
}

static void expect_refusal_unchanged(const char *path, const char *raw, const char *expected, int line)
{
    content before = read_content(path);
    expect_refusal(path, raw, expected, line);
    content now = read_content(path);
    assert_int_equal(before.size, now.size);
    assert_memory_equal(before.bytes, now.bytes, now.size);
    free(before.bytes);
    free(now.bytes);
}

/* Headers that are refused, each with data of the size that its good neighbour would have. */
static void test_bad_headers(void **state)
{
    (void)state;
#define GOOD_REST "'fortran_order': False, 'shape': (3, 4)}\n"
    static const struct {
        unsigned major;
        const char *text, *expected;
    } cases[] = {
        {4, "{'descr': '<f4', " GOOD_REST, "version 4.0"},
        {0, "{'descr': '<f4', " GOOD_REST, "version 0.0"},
        {1, "garbage", "dict"},
        {2, "", "dict"},
        {1, "['descr']", "dict"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)", "malformed"},
        {1, "{'descr': '<f4', " GOOD_REST "x", "follows the dict"},
        {1, "{'descr': '<f4', 'fortran_order': False}", "lacks 'shape'"},
        {1, "{'descr': '<f4', 'shape': (3, 4)}", "lacks 'fortran_order'"},
        {1, "{" GOOD_REST, "lacks 'descr'"},
        {1, "{}", "lacks"},
        {1, "{'descr': '<f4', 'shape': (3, 4), " GOOD_REST, "twice"},
        {1, "{'descr': '<f4', 'extra': 1, " GOOD_REST, "unknown"},
        {1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 4)}", "fortran_order"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4)}", "malformed"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3.0, 4)}", "malformed"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (03, 4)}", "malformed"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': [3, 4]}", "malformed"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,, 4)}", "malformed"},
        {1, "{'descr': '<f4, 'fortran_order': False, 'shape': (3, 4)}", "'<f4, '"},
        {1, "{'descr': '<f4", "malformed"},
        {1, "{'descr': '\\", "malformed"},
        {1, "{'descr': '|O', " GOOD_REST, "Python objects"},
        {1, "{'descr': [('a', '<f4'), ('b', [('c', '|O')])], " GOOD_REST, "Python objects"},
        {1, "{'descr': '<f3', " GOOD_REST, "'<f3'"},
        {1, "{'descr': '<f', " GOOD_REST, "'<f'"},
        {1, "{'descr': '<q4\x01\n', " GOOD_REST, "malformed"},
        {1, "{'descr': '<q4\x01', " GOOD_REST, "'<q4?'"},
        {1, "{'descr': '<f4x', " GOOD_REST, "'<f4x'"},
        {1, "{'descr': '<M8[ns', " GOOD_REST, "'<M8[ns'"},
        {1, "{'descr': '<M8[5ls]', " GOOD_REST, "'<M8[5ls]'"},
        {1, "{'descr': '', " GOOD_REST, "''"},
        {1, "{'descr': ('<f4', (2,)), " GOOD_REST, "malformed"},
        {1, "{'descr': [('a', '<f4', 1), ('b')], " GOOD_REST, "malformed"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (12)}", "malformed"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (12,)}", "needs at least two dimensions"},
        {1, "{'descr': '|V48', 'fortran_order': False, 'shape': ()}", "needs at least two dimensions"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "too large"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999, 1)}", "too large"},
        {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (4611686018427387904, 1)}", "too large"},
        {1, "{'descr': '|V99999999999999999999999', " GOOD_REST, "too large"},
        {1, "{'descr': '<U9223372036854775807', " GOOD_REST, "'<U9223372036854775807'"},
        {1, "{'descr': [('a', '|V9223372036854775807', (4,))], " GOOD_REST, "too large"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5)}", "truncated"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3)}", "too long"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0)}", "too long"},
        {1, "{'descr': [('a', '<f4', (2, 3)), ('b', '|S4', 2), (('t', 'n'), '<f8')], " GOOD_REST, "say 480"},
    };
    const char *path = in_directory("bad.npy");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_npy(path, cases[i].major, cases[i].text, strlen(cases[i].text), 48);
        expect_refusal_unchanged(path, NULL, cases[i].expected, (int)i);
    }
    char deep[2048] = "{'descr': ";
    for (size_t i = 0; i < 200; i++) {
        strcat(deep, "[('a', ");
    }
    write_npy(path, 1, deep, strlen(deep), 48);
    expect_refusal_unchanged(path, NULL, "nested too deeply", __LINE__);
    char many[2048] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    for (size_t i = 0; i < 200; i++) {
        strcat(many, "1, ");
    }
    strcat(many, ")}");
    write_npy(path, 1, many, strlen(many), 4);
    expect_refusal_unchanged(path, NULL, "dimensions", __LINE__);
}

/* A good file cut off at every length up to its data, and one byte before its end and one byte behind it. */
static void test_wrong_lengths(void **state)
{
    (void)state;
    const char *path = in_directory("length.npy");
    const char *text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n";
    for (unsigned major = 1; major <= 2; major++) {
        size_t offset = write_npy(path, major, text, strlen(text), 49);
        content whole = read_content(path);
        expect_refusal_unchanged(path, NULL, "too long", __LINE__);
        for (size_t length = 0; length < offset; length += length < 14 ? 1 : 9) {
            write_content(path, whole.bytes, length);
            expect_refusal_unchanged(path, NULL, length < 6 ? "magic" : "truncated", (int)length);
        }
        for (size_t length = offset; length < whole.size - 1; length += 47) {
            write_content(path, whole.bytes, length);
            expect_refusal_unchanged(path, NULL, "truncated", (int)length);
        }
        free(whole.bytes);
    }
    write_npy(path, 3, text, 0xffffffffu, 48);
    expect_refusal_unchanged(path, NULL, "header is longer than the file", __LINE__);
    write_content(path, "\x93NUMPX\x01\x00 and so on", 18);
    expect_refusal_unchanged(path, NULL, "magic", __LINE__);
}

static void test_unsuitable_files(void **state)
{
    (void)state;
    const char *text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n";
    const char *path = in_directory("file.npy");
    expect_refusal(path, NULL, "No such file", __LINE__);
    expect_refusal(directory, NULL, "directory", __LINE__);
    write_npy(path, 1, text, strlen(text), 48);
    assert_int_equal(chmod(path, 0444), 0);
    expect_refusal_unchanged(path, NULL, "", __LINE__); /* root hears "read-only", others "Permission denied" */
    assert_int_equal(chmod(path, 0644), 0);
    const char *pipe_path = in_directory("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    expect_refusal(pipe_path, NULL, "not a regular file", __LINE__);
}

static void test_raw_wrong_size(void **state)
{
    (void)state;
    const char *path = in_directory("raw");
    static const unsigned char bytes[100] = {1, 2, 3};
    write_content(path, bytes, sizeof bytes);
    expect_refusal_unchanged(path, "3x4:4", "not a multiple", __LINE__);
    write_content(path, bytes, 0);
    expect_refusal_unchanged(path, "3x4:4", "not a multiple", __LINE__);
}

/* A device that does not exist is found out before the file is touched. */
static void test_no_device(void **state)
{
    (void)state;
    const char *path = in_directory("raw");
    static const unsigned char bytes[48] = {1, 2, 3};
    write_content(path, bytes, sizeof bytes);
    run_tool(1, "transpose", path, "--raw", "3x4:4", "--device", "nosuchdevice");
    expect_word(last.errors, "nosuchdevice");
    content now = read_content(path);
    assert_int_equal(now.size, sizeof bytes);
    assert_memory_equal(now.bytes, bytes, sizeof bytes);
    free(now.bytes);
    run_tool(1, "plan", "3x4:4", "--device=nosuchdevice");
    expect_word(last.errors, "nosuchdevice");
    run_tool(1, "devices", "--device", "nosuchdevice");
    expect_word(last.errors, "nosuchdevice");
}

/* A write that fails is reported, and so is output that does not arrive. */
static void test_failing_writes(void **state)
{
    (void)state;
    const char *path = in_directory("row.npy");
    static char text[10001]; /* spaces make a header that is longer than the limit */
    memset(text, ' ', sizeof text - 1);
    const char *start = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }";
    memcpy(text, start, strlen(start));
    write_npy(path, 1, text, strlen(text), 16);
    next_file_limit = 4096;
    const char *const words[] = {tool_path(), "transpose", path, NULL};
    run_words(NULL, words);
    next_file_limit = 0;
    expect_code(1, __LINE__);
    expect_word(last.errors, path);
    expect_word(last.errors, "writing failed after 4096 of 10010 bytes");
    if (access("/dev/full", W_OK) == 0) {
        const char *const version[] = {tool_path(), "--version", NULL};
        run_words("/dev/full", version);
        expect_code(1, __LINE__);
        expect_word(last.errors, "standard output");
    }
}

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
        {"transpose", "a", "--raw", "4294967296x4294967296:1"},
        {"transpose", "a", "--repeat", "3"},
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
        {"plan", "3x4:4", "--blas"},
        {"plan", "3x4:4", "--csv", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *words[10] = {tool_path()};
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

static void test_help(void **state)
{
    (void)state;
    static const char *const commands[] = {"devices", "transpose", "plan", "source", "bench"};
    run_tool(0, "--help");
    static char help[OUTPUT_SIZE];
    memcpy(help, last.output, sizeof help);
    run_tool(0, "help");
    assert_string_equal(last.output, help);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char line_start[32];
        snprintf(line_start, sizeof line_start, "\n  %s ", commands[i]);
        expect_word(help, line_start);
        run_tool(0, commands[i], "--help");
        expect_word(last.output, "usage: ipt ");
        expect_word(last.output, commands[i]);
        expect_word(last.output, "--device");
    }
    static const char *const of_bench[] = {"--repeat",  "--rounds", "--shapes",  "--random", "--elem-size",
                                           "--sides",   "--bytes",  "--square",  "--seed",   "--multiple",
                                           "--measure", "--blas",   "--csv FILE"};
    for (size_t i = 0; i < sizeof of_bench / sizeof of_bench[0]; i++) {
        expect_word(last.output, of_bench[i]);
    }
    expect_word(last.output, "two-pass");
    run_tool(0, "--version");
    assert_int_equal(strncmp(last.output, "ipt ", 4), 0);
}

static size_t count_words(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word)) {
        count++;
    }
    return count;
}

static void test_devices(void **state)
{
    (void)state;
    run_tool(0, "devices");
    expect_word(last.output, "device 0");
    assert_int_equal(count_words(last.output, " (default)\n"), 1);
    assert_string_equal(last.errors, "");
}

/* A forced plan shows what was forced, so that the options are known to arrive. */
static void test_plan(void **state)
{
    (void)state;
    run_tool(0, "plan", "1000x777:4");
    expect_word(last.output, "1000 x 777 elements of 4 bytes, 1 matrix, sequence auto");
    assert_string_equal(last.errors, "");
    run_tool(0, "plan", "1000x777:4", "--sequence", "two-pass", "--batch=3");
    expect_word(last.output, "3 matrices, sequence two-pass");
    run_tool(1, "plan", "1000x777:4", "--sequence", "1", "--workspace", "1000");
    expect_word(last.errors, "max_workspace");
    run_tool(0, "plan", "600x700:4", "--sequence", "3.2", "--tile-m", "20", "--tile-n", "35");
    expect_word(last.output, "3.2");
    expect_word(last.output, "20");
    expect_word(last.output, "35");
    run_tool(1, "plan", "600x700:4", "--sequence", "3.2", "--tile-m", "7", "--tile-n", "35");
    expect_word(last.errors, "tile_m");
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

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt bench */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { MAX_SHAPES = 32, CSV_FIELD_COUNT = 23 };

/* The fields of a line of the CSV file, in their order; those that are empty are negative. */
typedef struct csv_line {
    double rows, cols, elem_size, batch, bytes, seconds, speed, copy_seconds, copy_speed, ratio, latency, workspace,
        workspace_percent, stages, buffers, repeat, rounds, verified, blas_seconds, blas_speed, memcpy_seconds,
        memcpy_speed, over_blas;
} csv_line;

static csv_line csv[MAX_SHAPES];

/* Reads the test's CSV file into csv; returns the number of its lines but for the heading. */
static size_t read_csv(void)
{
    content read = read_content(in_directory("results.csv"));
    read.bytes[read.size] = '\0';
    size_t count = 0;
    char *line = strtok((char *)read.bytes, "\n");
    assert_non_null(line);
    assert_int_equal(strncmp(line, "rows,cols,elem_size,", 20), 0);
    while ((line = strtok(NULL, "\n")) != NULL) {
        assert_true(count < MAX_SHAPES);
        double fields[CSV_FIELD_COUNT];
        for (size_t i = 0; i < CSV_FIELD_COUNT; i++) {
            char *end;
            fields[i] = strtod(line, &end);
            fields[i] = end == line ? -1 : fields[i];
            assert_int_equal(*end, i + 1 < CSV_FIELD_COUNT ? ',' : '\0');
            line = end + 1;
        }
        assert_int_equal(sizeof fields, sizeof csv[count]);
        memcpy(&csv[count++], fields, sizeof fields);
    }
    free(read.bytes);
    return count;
}

static int compare_numbers(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* A quantile of a field of all lines, as NumPy has it. */
static double csv_quantile(size_t count, size_t offset, double part)
{
    double values[MAX_SHAPES];
    for (size_t i = 0; i < count; i++) {
        memcpy(&values[i], (const char *)&csv[i] + offset, sizeof values[i]);
    }
    qsort(values, count, sizeof values[0], compare_numbers);
    double place = part * (double)(count - 1);
    size_t below = (size_t)place, above = below + 1 < count ? below + 1 : below;
    return values[below] + (place - (double)below) * (values[above] - values[below]);
}
#define CSV_QUANTILE(count, field, part) csv_quantile(count, offsetof(csv_line, field), part)

/* The number behind a word of the output's line that sums up is wanted, as far as its decimals go. */
static void expect_number(const char *word, double wanted, double precision)
{
    const char *summary = strstr(last.output, "\nsummary: ");
    const char *found = summary == NULL ? NULL : strstr(summary, word);
    double number = found == NULL ? 0 : strtod(found + strlen(word), NULL);
    if (found == NULL || number - wanted > precision || wanted - number > precision) {
        fail_msg("'%s' is not followed by %g in: %.4000s", word, wanted, last.output);
    }
}

/* Reads the CSV file; what each line says and what the summary says must go together. */
static void expect_summary(size_t count)
{
    char text[64];
    assert_int_equal(read_csv(), count);
    for (size_t i = 0; i < count; i++) {
        const csv_line *line = &csv[i];
        double speed = line->bytes * 2e-9 / line->seconds, ratio = line->copy_seconds / line->seconds;
        assert_true(line->verified == 1);
        assert_true(line->bytes == line->rows * line->cols * line->elem_size * line->batch);
        assert_true(line->seconds > 0 && line->latency > 0 && line->copy_seconds > 0);
        assert_true(line->speed > speed * 0.999 && line->speed < speed * 1.001);
        assert_true(line->ratio > ratio * 0.999 && line->ratio < ratio * 1.001);
        assert_true(line->buffers >= 1 && line->buffers <= 64);
    }
    snprintf(text, sizeof text, "\nsummary: %zu of %zu verified", count, count);
    expect_word(last.output, text);
    expect_number("ratio median ", CSV_QUANTILE(count, ratio, 0.5), 0.0006);
    expect_number("p10 ", CSV_QUANTILE(count, ratio, 0.1), 0.0006);
    expect_number("p90 ", CSV_QUANTILE(count, ratio, 0.9), 0.0006);
    expect_number("; median ", CSV_QUANTILE(count, speed, 0.5), 0.006);
    expect_number("median latency ", CSV_QUANTILE(count, latency, 0.5) * 1e3, 0.0006);
    expect_number("workspace at most ", CSV_QUANTILE(count, workspace_percent, 1), 0.006);
}

static void test_bench(void **state)
{
    (void)state;
    run_tool(0, "bench", "300x200:4", "--repeat", "2", "--batch", "2", "--csv", in_directory("results.csv"));
    expect_word(last.output, "300x200:4");
    expect_word(last.output, "in place");
    expect_word(last.output, "copy");
    expect_word(last.output, "GB/s");
    expect_word(last.output, "ratio to the copy: ");
    expect_word(last.output, "latency");
    assert_string_equal(last.errors, "");
    expect_summary(1);
    assert_true(csv[0].batch == 2 && csv[0].repeat == 2 && csv[0].rounds == 3 && csv[0].blas_seconds < 0);
    run_tool(0, "bench", "300x200:4", "--sequence=2.1", "--tile-m", "20", "--measure", "--no-cooperative");
    run_tool(1, "bench", "300x200:4", "--sequence=2.1", "--tile-m", "7");
    expect_word(last.errors, "300x200:4: ");
    expect_word(last.errors, "tile_m");
    run_tool(1, "bench", "300x200:4", "--device", "nosuchdevice");
    expect_word(last.errors, "nosuchdevice");
    run_tool(1, "bench", "300x200:4", "--csv", in_directory("none/results.csv"));
    expect_word(last.errors, "none/results.csv: No such file");
}

/* Elements of every size that the checker has a type for, and of some that it has not. */
static void test_bench_elements(void **state)
{
    (void)state;
    static const char *const operands[] = {"31x17:1", "31x17:2", "17x31:3", "100x3:8", "9x40:12", "24x24:20", "1x5:4"};
    for (size_t i = 0; i < sizeof operands / sizeof operands[0]; i++) {
        run_tool(0, "bench", operands[i], "--repeat=3", "--rounds=1", "--batch=3");
        expect_word(last.output, "summary: 1 of 1 verified");
    }
}

static void write_shapes(const char *text)
{
    write_content(in_directory("shapes"), text, strlen(text));
}

/* A shape that cannot be planned does not keep the others from being measured. */
static void test_bench_shapes(void **state)
{
    (void)state;
    static const double wanted[][2] = {{30, 20}, {7, 1009}, {64, 64}, {2, 3}};
    write_shapes("# rows cols\n\n30 20\n \t7\t1009 # prime\r\n\r\n  # none\n64 64# not one\n2 3");
    run_tool(1, "bench", "--shapes", in_directory("shapes"));
    expect_word(last.errors, "shapes:7: ");
    write_shapes("# rows cols\n\n30 20\n \t7\t1009 # prime\r\n\r\n  # none\n64 64 # one\n2 3");
    run_tool(0, "bench", "--shapes", in_directory("shapes"), "--elem-size", "12", "--rounds=2", "--csv",
             in_directory("results.csv"));
    assert_string_equal(last.errors, "");
    expect_summary(4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(csv[i].rows == wanted[i][0] && csv[i].cols == wanted[i][1] && csv[i].elem_size == 12);
    }
    run_tool(1, "bench", "--shapes", in_directory("shapes"), "--sequence=square", "--csv", in_directory("results.csv"));
    expect_word(last.errors, "ipt: 30x20:4: ");
    expect_word(last.output, "summary: 1 of 4 verified");
    assert_int_equal(read_csv(), 4);
    assert_true(csv[0].verified == 0 && csv[0].seconds < 0 && csv[2].verified == 1);
}

static void test_bench_bad_shapes(void **state)
{
    (void)state;
    static const char *const lines[] = {"30",       "30 20 10",
                                        "30x20",    "0 20",
                                        "30 0",     "-1 20",
                                        "30 20 x",  "a b",
                                        "30 20#20", "99999999999999999999 1",
                                        "30, 20",   "30.5 20.0",
                                        "30 #",     "3000000000 3000000000"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[100], place[PATH_SIZE * 2];
        snprintf(text, sizeof text, "1 2\n# fine\n%s\n3 4\n", lines[i]);
        write_shapes(text);
        snprintf(place, sizeof place, "ipt: %s:3: ", in_directory("shapes"));
        run_tool(1, "bench", "--shapes", in_directory("shapes"));
        expect_word(last.errors, place);
        assert_string_equal(last.output, "");
    }
    write_content(in_directory("shapes"), "1 2\n3 4\0\n", 9);
    run_tool(1, "bench", "--shapes", in_directory("shapes"));
    expect_word(last.errors, "shapes:2: ");
    write_shapes("# none\n\n");
    run_tool(1, "bench", "--shapes", in_directory("shapes"));
    expect_word(last.errors, "holds no shape");
    run_tool(1, "bench", "--shapes", in_directory("nosuchfile"));
    expect_word(last.errors, "nosuchfile: No such file");
    run_tool(1, "bench", "--shapes", directory);
    expect_word(last.errors, "directory");
}

/* The random shapes are those of the seed, on every machine, and within what was asked for. */
static void test_bench_random(void **state)
{
    (void)state;
    enum { COUNT = 8 };
#define RANDOM_RUN(count, ...)                                                                                         \
    do {                                                                                                               \
        run_tool(0, "bench", "--repeat=1", "--rounds=1", "--csv", in_directory("results.csv"), "--random", #count,     \
                 __VA_ARGS__);                                                                                         \
        expect_summary(count);                                                                                         \
    } while (0)
    csv_line first[COUNT];
    size_t same = 0, tall = 0;
    RANDOM_RUN(8, "--sides", "5..9,100..200", "--seed", "7");
    memcpy(first, csv, sizeof first);
    for (size_t i = 0; i < COUNT; i++) {
        bool is_tall = csv[i].rows > csv[i].cols;
        double shorter = is_tall ? csv[i].cols : csv[i].rows, longer = is_tall ? csv[i].rows : csv[i].cols;
        assert_true(shorter >= 5 && shorter <= 9 && longer >= 100 && longer <= 200);
        tall += is_tall;
    }
    assert_true(tall > 0 && tall < COUNT);
    assert_true(first[0].rows == 159 && first[0].cols == 7 && first[1].rows == 8 && first[1].cols == 125);
    RANDOM_RUN(8, "--sides", "5..9,100..200", "--seed", "7");
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(csv[i].rows == first[i].rows && csv[i].cols == first[i].cols);
    }
    RANDOM_RUN(8, "--sides", "5..9,100..200", "--seed", "8");
    for (size_t i = 0; i < COUNT; i++) {
        same += csv[i].rows == first[i].rows && csv[i].cols == first[i].cols;
    }
    assert_true(same < COUNT);
    RANDOM_RUN(4, "--sides", "1..200", "--square", "--multiple", "16", "--elem-size", "8");
    for (size_t i = 0; i < 4; i++) {
        assert_true(csv[i].rows == csv[i].cols && (size_t)csv[i].rows % 16 == 0 && csv[i].rows <= 200);
    }
    RANDOM_RUN(2, "--sides", "100..10000000", "--bytes", "100000..110000", "--elem-size", "2");
    for (size_t i = 0; i < 2; i++) {
        assert_true(csv[i].bytes >= 100000 && csv[i].bytes <= 110000 && csv[i].rows >= 100 && csv[i].cols >= 100);
    }
    RANDOM_RUN(3, "--sides", "1..300", "--elem-size", "4", "--out-of-place");
    for (size_t i = 0; i < 3; i++) {
        assert_true(csv[i].workspace == 0);
    }
#undef RANDOM_RUN
    run_tool(1, "bench", "--random", "1", "--sides", "10..20", "--bytes", "1..2");
    expect_word(last.errors, "no matrix");
}

/* With OpenBLAS its ratio is shown; without it the sentence says what to install. */
static void test_bench_blas(void **state)
{
    (void)state;
    write_shapes("30 20\n7 109\n64 64\n");
    static const char *const sizes[] = {"4", "8"};
    for (size_t i = 0; i < 2; i++) {
        const char *const words[] = {tool_path(), "bench",  "--shapes", in_directory("shapes"),      "--elem-size",
                                     sizes[i],    "--blas", "--csv",    in_directory("results.csv"), NULL};
        run_words(NULL, words);
        if (last.code == 1 && strstr(last.errors, "libopenblas0") != NULL) {
            assert_string_equal(last.output, "");
            return;
        }
        expect_code(0, __LINE__);
        assert_string_equal(last.errors, "");
        expect_summary(3);
        for (size_t j = 0; j < 3; j++) {
            double ratio = csv[j].blas_seconds / csv[j].seconds;
            assert_true(csv[j].blas_seconds > 0 && csv[j].memcpy_seconds > 0);
            assert_true(csv[j].over_blas > ratio * 0.999 && csv[j].over_blas < ratio * 1.001);
        }
        expect_number("ipt/BLAS median ", CSV_QUANTILE(3, over_blas, 0.5), 0.006);
        expect_word(last.output, "memcpy GB/s");
    }
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

const struct CMUnitTest test_tool[] = {
    IN_DIRECTORY(test_numpy_moves),        IN_DIRECTORY(test_numpy_files),
    IN_DIRECTORY(test_file_by_hand),       IN_DIRECTORY(test_raw),
    IN_DIRECTORY(test_bad_headers),        IN_DIRECTORY(test_wrong_lengths),
    IN_DIRECTORY(test_unsuitable_files),   IN_DIRECTORY(test_raw_wrong_size),
    IN_DIRECTORY(test_no_device),          IN_DIRECTORY(test_failing_writes),
    cmocka_unit_test(test_usage_errors),   cmocka_unit_test(test_help),
    cmocka_unit_test(test_devices),        cmocka_unit_test(test_plan),
    cmocka_unit_test(test_source),         IN_DIRECTORY(test_bench),
    cmocka_unit_test(test_bench_elements), IN_DIRECTORY(test_bench_shapes),
    IN_DIRECTORY(test_bench_bad_shapes),   IN_DIRECTORY(test_bench_random),
    IN_DIRECTORY(test_bench_blas),
};
const size_t test_tool_count = sizeof test_tool / sizeof test_tool[0];
