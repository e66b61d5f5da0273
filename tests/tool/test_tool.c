/* The tool. It transposes NumPy's files as NumPy does, for every type, order and format version. It refuses other files
 * with one sentence that names the file, and leaves every byte unchanged. A wrong command line exits with 2, any other
 * failure with 1. Stored programs, headers and wisdom are complete or absent. */

#define _GNU_SOURCE /* POSIX 2008 with XSI, and memmem */

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

#include "folders.h"
#include "process.h"
#include "skip.h"

#include "gen/tool/bench/plot.h"

enum {
    PATH_SIZE = 512,
    MAX_PATHS = 64,
    OUTPUT_SIZE = 1 << 18 /* more than any command prints */
};

/* Numbers of this machine's size_t as text: all bits, all but the highest one, the first whose square overflows, and
 * the sides of a matrix of bytes for which no device has memory. */
#if SIZE_MAX > 0xffffffffu
#define ALL_BITS "18446744073709551615"
#define HALF_BITS "9223372036854775807"
#define ROOT "4294967296"
#define HUGE_SIDES "4000000000x4100000000"
#else
#define ALL_BITS "4294967295"
#define HALF_BITS "2147483647"
#define ROOT "65536"
#define HUGE_SIDES "65521x65519"
#endif

/* ------------------------------------------------------------------------------------------------------------------ */
/* Running programs, and files */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The exit code and output of a program. */
typedef struct outcome {
    int code; /* the exit code; -1 if a signal ended it */
    char output[OUTPUT_SIZE], errors[OUTPUT_SIZE];
} outcome;

static outcome last; /* of the latest run */

/* The most bytes that the next run may have in a file that it writes; 0: no limit. */
static size_t next_file_limit;

/* Which of the standard streams the next run finds closed: a bit for each. */
static unsigned next_closed;

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
    const process_setup setup = {fileno(output), fileno(errors), next_closed, next_file_limit};
    const pid_t child = process_start(words, &setup);
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

/* Runs a program and fails unless it exits with code. */
#define run_program(code, ...)                                                                                         \
    do {                                                                                                               \
        const char *const run_program_words[] = {__VA_ARGS__, NULL};                                                   \
        run_words(NULL, run_program_words);                                                                            \
        expect_code(code, __LINE__);                                                                                   \
    } while (0)

/* The same with the tool. */
#define run_tool(code, ...) run_program(code, process_tool(), __VA_ARGS__)

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

/* A directory for a test, removed by its teardown, and the paths in it that the test requested. */
static char directory[PATH_SIZE], paths[MAX_PATHS][PATH_SIZE * 2];
static size_t path_count;

static int make_directory(void **state)
{
    (void)state;
    path_count = 0;
    return folder_make(directory, sizeof directory, "tool");
}

static int remove_directory(void **state)
{
    (void)state;
    next_file_limit = 0;
    next_closed = 0;
    return folder_remove(directory);
}

/* The path of a file in the test's directory; valid until the test ends. */
static const char *in_directory(const char *name)
{
    char path[PATH_SIZE * 2];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    for (size_t i = 0; i < path_count; i++) {
        if (strcmp(paths[i], path) == 0) {
            return paths[i];
        }
    }
    assert_true(path_count < MAX_PATHS);
    return strcpy(paths[path_count++], path);
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
    if (python == NULL)
        test_skip("no Python with NumPy");
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

/* Runs a script that calls the tool in the directory and checks what it did. */
static void run_with_numpy(const char *name, const char *const *texts, size_t count)
{
    const char *python = python_with_numpy();
    if (python == NULL)
        test_skip("no Python with NumPy");
    const char *const words[] = {python, "-B", write_script(name, texts, count), process_tool(), directory, NULL};
    run_words(NULL, words);
    expect_code(0, __LINE__);
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
    run_with_numpy("moves.py", moves_script, sizeof moves_script / sizeof moves_script[0]);
}

/* Called with the tool and a directory: an expression's x has the type of the header, and what is none is refused. */
/* Called with the tool and a directory: --axes and --order, alone and together, of C and Fortran arrays of 1 to 6 axes,
 * some of one element, against numpy.transpose; within little memory, so in several steps. */
static const char *const axes_script[] = {
    "import os, subprocess, sys, random, numpy as np\n"
    "tool, path = sys.argv[1], os.path.join(sys.argv[2], 'axes.npy')\n"
    "random.seed(1)\n"
    "for turn in range(60):\n"
    "  rank = random.randint(1, 6)\n"
    "  shape = [random.randint(1, (3000, 200, 40, 15, 8, 6)[rank - 1]) for _ in range(rank)]\n"
    "  dtype = np.dtype(random.choice(['i1', '>u2', '<f4', '<f8', '<c16', 'V3', 'S5', 'V24']))\n",
    "  a = np.frombuffer(os.urandom(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)\n"
    "  a = np.asarray(a, order=random.choice('CF'))\n"
    "  np.save(path, a)\n"
    "  fortran = a.flags.f_contiguous and not a.flags.c_contiguous\n"
    "  axes, order, words = list(range(rank)), random.choice(['', 'C', 'F']), []\n"
    "  if order == '' or random.random() < 0.5:\n"
    "    random.shuffle(axes)\n"
    "    words += ['--axes', ','.join(map(str, axes))]\n",
    "  if order: words += ['--order', order]\n"
    "  if random.random() < 0.5: words += ['--matrix-memory', str(40000 + a.nbytes // 2)]\n"
    "  subprocess.run([tool, 'transpose', path] + words, check=True)\n"
    "  b, wanted = np.load(path), a.transpose(axes)\n"
    "  assert b.shape == wanted.shape and b.dtype == a.dtype, (shape, words)\n"
    "  assert b.tobytes() == wanted.tobytes(), (shape, words)\n"
    "  fortran = order == 'F' if order else fortran\n"
    "  assert b.flags.f_contiguous if fortran else b.flags.c_contiguous, (shape, words)\n",
};

static void test_numpy_axes(void **state)
{
    (void)state;
    run_with_numpy("axes.py", axes_script, sizeof axes_script / sizeof axes_script[0]);
}

/* An array of 2 x 3 x 4 bytes without NumPy, in C order, in Fortran order and back; refusals leave the file as it is.
 */
static void test_axes_by_hand(void **state)
{
    (void)state;
    static const char text[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 4), }   \n";
    static const struct {
        const char *words[2], *expected;
    } refused[] = {
        {{"--axes=0,1", NULL}, "names 2 axes, and the array has 3"},
        {{"--axes=0,1,1", NULL}, "names axis 1 twice"},
        {{"--axes=0,1,3", NULL}, "names axis 3, which the array does not have"},
    };
    const char *path = in_directory("hand.npy");
    const size_t size = write_npy(path, 1, text, sizeof text - 1, 24) + 24;
    const content before = read_content(path);
    assert_int_equal(before.size, size);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        run_tool(1, "transpose", path, refused[i].words[0]);
        expect_word(last.errors, refused[i].expected);
        const content now = read_content(path);
        assert_int_equal(now.size, size);
        assert_memory_equal(now.bytes, before.bytes, size);
        free(now.bytes);
    }
    run_tool(0, "plan", "2x3x4:float32", "--axes=2,1,0");
    expect_word(last.output, "array of 2 x 3 x 4 elements of 4 bytes, axes 2,1,0, 2 passes");
    run_tool(0, "plan", "3x4:4", "--axes=0,1");
    expect_word(last.output, "axes 0,1, 1 pass");
    run_tool(0, "transpose", path, "--axes=2,0,1");
    content now = read_content(path);
    assert_non_null(strstr((const char *)now.bytes + 10, "(4, 2, 3)"));
    for (size_t i = 0; i < 24; i++)
        assert_int_equal(now.bytes[size - 24 + i], before.bytes[size - 24 + i % 6 * 4 + i / 6]);
    free(now.bytes);
    run_tool(0, "transpose", path, "--axes=1,2,0", "--order=F");
    now = read_content(path);
    assert_non_null(strstr((const char *)now.bytes + 10, "'fortran_order': True , 'shape': (2, 3, 4)"));
    for (size_t i = 0; i < 24; i++)
        assert_int_equal(now.bytes[size - 24 + i], before.bytes[size - 24 + i % 2 * 12 + i / 2 % 3 * 4 + i / 6]);
    free(now.bytes);
    run_tool(0, "transpose", path, "--order=C");
    now = read_content(path);
    assert_memory_equal(now.bytes, before.bytes, size);
    free(now.bytes);
    free(before.bytes);
}

static const char *const types_script[] = {
    "import os, subprocess, sys, numpy as np\n"
    "tool, path = sys.argv[1], os.path.join(sys.argv[2], 'typed.npy')\n"
    "def run(a, *words):\n"
    "  np.save(path, a)\n"
    "  old = open(path, 'rb').read()\n"
    "  done = subprocess.run([tool, 'transpose', path, *words], capture_output=True, text=True)\n"
    "  assert done.returncode == 0 or open(path, 'rb').read() == old, words\n"
    "  return done.returncode, done.stderr\n"
    "native, foreign = '<>' if sys.byteorder == 'little' else '><'\n",
    "for name in 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f4', 'f8', 'f2':\n"
    "  for order in 'CF':\n"
    "    for shape in (5, 7), (2, 3, 4):\n"
    "      for move in ['transpose' if order == 'C' else 'flip-vertical']:\n"
    "        a = np.asarray(np.arange(np.prod(shape)).reshape(shape), native + name, order=order)\n"
    "        if name[0] in 'if': a = np.asarray(a - a.dtype.type(9), a.dtype, order=order)\n"
    "        if name[0] == 'u': a[..., 0] = -3 % 2 ** (8 * a.itemsize)\n"
    "        code, errors = run(a, '--expression', 'x / 2', '--move', move)\n"
    "        merged = order == 'F' and len(shape) > 2 and shape[0] > 1\n"
    "        if merged: assert code == 1 and 'Fortran' in errors, errors\n"
    "        elif code != 0: assert name in ('f2', 'f8'), errors\n" /* some devices lack these */
    "        else:\n"
    "          wanted = a / a.dtype.type(2) if name[0] == 'f' else np.sign(a) * (abs(a) // 2) if name[0] == 'i' else a "
    "// 2\n"
    "          wanted = wanted.astype(a.dtype)\n"
    "          wanted = np.swapaxes(wanted, -1, -2) if move == 'transpose' else wanted[..., ::-1, :]\n"
    "          b = np.load(path)\n"
    "          assert b.dtype == a.dtype and np.array_equal(b, wanted), (name, order, shape, move)\n",
    "a = np.arange(35).reshape(5, 7) % 3 == 0\n"
    "code, errors = run(a, '--expression', 'x ? 0 : 5')\n"
    "assert code == 0 and np.array_equal(np.load(path), ~a.T) and open(path, 'rb').read()[-35:] == (~a.T).tobytes()\n"
    "a = np.arange(35).reshape(5, 7) * (1 + 2j)\n"
    "assert 'float2' in run(a.astype('c8'), '--expression', 'x * 2')[1]\n"
    "assert run(a.astype('c8'), '--expression', 'x * 2', '--type', 'float2')[0] == 0\n"
    "assert np.array_equal(np.load(path), a.T * 2)\n",
    "a = np.arange(12).reshape(3, 4)\n"
    "for d, word, *more in (foreign + 'i4', 'byte order'), (foreign + 'f8', 'byte order'), (native + 'i4', 'int', "
    "'--type', 'float'),\\\n"
    "    (native + 'f4', 'contradicts', '--type', 'int'), (native + 'f4', 'contradicts', '--type', 'float4'), ('S4', "
    "\"'S'\"),\\\n"
    "    ('U1', \"'U'\"), ('M8[s]', \"'M'\"), ('m8[s]', \"'m'\"), ('V4', \"'V'\"), ([('x', 'f4')], 'structures'),\\\n"
    "    (foreign + 'c8', 'byte order', '--type', 'float2'), ('c16', 'double2', '--type', 'double'):\n"
    "  code, errors = run(np.zeros((3, 4), d), '--expression', 'x', *more)\n"
    "  assert code == 1 and word in errors, (d, more, errors)\n"
    "if np.dtype(np.longdouble).itemsize > 8:\n"
    "  code, errors = run(a.astype(np.longdouble), '--expression', 'x')\n"
    "  assert code == 1 and \"'f'\" in errors, errors\n"
    "assert run(a.astype(native + 'i4'), '--expression', 'x', '--type', 'int')[0] == 0\n"
    "assert run(np.zeros((3, 4), 'V4'), '--expression', 'x + 1', '--type', 'uint')[0] == 0\n"
    "assert run(np.zeros((0, 4), foreign + 'i4'), '--expression', 'x')[0] == 1\n",
};

static void tool_expression_types(void **state)
{
    (void)state;
    const char *python = python_with_numpy();
    if (python == NULL) {
        test_skip("no Python with NumPy");
    }
    const char *path = write_script("expression_types.py", types_script, sizeof types_script / sizeof types_script[0]);
    const char *const words[] = {python, "-B", path, process_tool(), directory, NULL};
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

/* Needs no NumPy. NumPy can read such a header, but does not write it. */
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
    const char *const words[] = {process_tool(), "transpose", path, raw == NULL ? NULL : "--raw", raw, NULL};
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
        {1, "{'descr': '<U" HALF_BITS "', " GOOD_REST, "'<U" HALF_BITS "'"},
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

/* A good file cut off at every length up to its data, and one byte before its end and one byte after it. */
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
    static char text[6000]; /* spaces move the shape beyond the limit */
    snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': %*s(1, 4), }", 5000, "");
    write_npy(path, 1, text, strlen(text), 16);
    const content before = read_content(path);
    next_file_limit = 4096;
    const char *const words[] = {process_tool(), "transpose", path, NULL};
    run_words(NULL, words);
    next_file_limit = 0;
    expect_code(1, __LINE__);
    expect_word(last.errors, path);
    expect_word(last.errors, "writing its header failed");
    const content now = read_content(path);
    assert_true(now.size == before.size && memcmp(now.bytes, before.bytes, now.size) == 0);
    free(now.bytes);
    free(before.bytes);
    if (access("/dev/full", W_OK) == 0) {
        const char *const version[] = {process_tool(), "--version", NULL};
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
        {"transpose", "a", "--raw", "1x1x1x1x1x1x1x1x1:4", "--axes", "0,1"},
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

static size_t count_words(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word)) {
        count++;
    }
    return count;
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

/* --json of devices, plan and bench, and CSV on standard output: nothing else is written there. */
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

/* Checks the number after a word of the summary line, to its printed decimals. */
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
    expect_word(last.errors, "--tile-m");
    run_tool(1, "bench", "300x200:4", "--device", "nosuchdevice");
    expect_word(last.errors, "nosuchdevice");
    run_tool(1, "bench", "300x200:4", "--csv", in_directory("none/results.csv"));
    expect_word(last.errors, "none/results.csv: No such file");
}

/* Charts are XML with a mark for each shape: bars of few, points of many. A device's name may have any characters. */
static const char *const plot_script[] = {
    "import subprocess, sys, os, xml.etree.ElementTree as tree\n"
    "tool, path = sys.argv[1], os.path.join(sys.argv[2], 'chart.svg')\n"
    "svg, few = '{http://www.w3.org/2000/svg}', ['30x20:4']\n"
    "many = ['--random=25', '--sides=1..40', '--seed=3']\n",
    "for shapes, kind, count in (few, 'rect', 1), (many, 'circle', 25):\n"
    "  words = [tool, 'bench'] + shapes + ['--repeat=1', '--rounds=1', '--plot']\n"
    "  shown = subprocess.run(words + ['-'], check=True, capture_output=True)\n"
    "  assert b'summary' in shown.stderr, shown\n"
    "  subprocess.run(words + [path], check=True, capture_output=True)\n",
    "  for root in tree.fromstring(shown.stdout), tree.parse(path).getroot():\n"
    "    assert root.tag == svg + 'svg'\n"
    "    marks = [e for e in root.iter(svg + kind) if e.get('class') == 'value']\n"
    "    assert len(marks) == count, len(marks)\n"
    "    texts = ' '.join(e.text for e in root.iter(svg + 'text'))\n",
    "    assert '%d of %d shapes' % (count, count) in texts, texts\n"
    "    assert count > 1 or '30x20:4' in texts, texts\n"
    "    for e in root.iter():\n"
    "      for key in 'x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy':\n"
    "        limit = float(root.get('height' if 'y' in key else 'width'))\n"
    "        assert 0 <= float(e.get(key, 0)) <= limit, (e.tag, key, e.attrib)\n",
};

static void tool_bench_plot(void **state)
{
    (void)state;
    run_tool(0, "bench", "30x20:4", "--repeat=1", "--rounds=1", "--plot", in_directory("chart.svg"));
    content read = read_content(in_directory("chart.svg"));
    read.bytes[read.size] = '\0';
    assert_memory_equal(read.bytes, "<svg xmlns=", 11);
    expect_word((const char *)read.bytes, "30x20:4");
    assert_string_equal((const char *)read.bytes + read.size - 7, "</svg>\n");
    free(read.bytes);
    run_tool(1, "bench", "30x20:4", "--plot", in_directory("none/chart.svg"));
    expect_word(last.errors, "none/chart.svg: No such file");
    run_with_numpy("plot.py", plot_script, sizeof plot_script / sizeof plot_script[0]);
}

/* The plot itself, with results that no device gives: none measured, huge ratios, a name that XML does not take. */
static void tool_plot_of_any_results(void **state)
{
    static const size_t counts[] = {1, PLOT_BARS, PLOT_BARS + 1};
    static bench_result results[PLOT_BARS + 1];
    static char text[1 << 16];
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (int measured = 0; measured < 3; measured++) {
            for (size_t k = 0; k < counts[i]; k++) {
                results[k] = (bench_result){.rows = measured < 2 ? 1 : SIZE_MAX, .cols = k + 1, .elem_size = 1};
                results[k].bytes = measured < 2 ? k + 1 : SIZE_MAX;
                results[k].verified = measured > 0;
                results[k].seconds = 1e-9;
                results[k].copy_seconds = measured < 2 ? 1e-12 : 1e3;
            }
            FILE *file = fopen(in_directory("chart.svg"), "w");
            assert_non_null(file);
            plot_write(file, "a<b>&\x01\xff\"'", results, counts[i]);
            assert_int_equal(fclose(file), 0);
            content read = read_content(in_directory("chart.svg"));
            assert_true(read.size < sizeof text);
            memcpy(text, read.bytes, read.size);
            text[read.size] = '\0';
            free(read.bytes);
            expect_word(text, "a&#60;b&#62;&#38;??\"'");
            assert_null(strstr(text, "nan"));
            assert_null(strstr(text, "inf"));
            assert_int_equal(count_words(text, "<circle"), counts[i] > PLOT_BARS && measured > 0 ? counts[i] : 0);
            assert_int_equal(count_words(text, "not measured"), counts[i] > PLOT_BARS || measured > 0 ? 0 : counts[i]);
            assert_string_equal(text + strlen(text) - 7, "</svg>\n");
        }
    }
}

/* Rows with gaps: both forms, other moves, out of place, many shapes. */
static void test_bench_pitch(void **state)
{
    static const char *const moves[] = {"transpose", "rotate-90", "rotate-180", "flip-vertical", "antitranspose"};
    (void)state;
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        run_tool(0, "bench", "90x70:3", "--repeat", "2", "--pitch", "64", "--batch", "2", "--move", moves[i]);
        expect_word(last.output, "verified");
    }
    run_tool(0, "bench", "90x70:12", "--repeat", "2", "--pitch", "256", "--out-of-place");
    run_tool(1, "bench", "90x70:12", "--repeat", "2", "--pitch", "9");
    expect_word(last.errors, "row_pitch = 846 is not a multiple of 4");
    run_tool(1, "bench", "90x70:4", "--sequence", "two-pass", "--pitch", "256");
    expect_word(last.errors, "row_pitch");
    run_tool(0, "bench", "--random", "3", "--sides", "1..200", "--repeat", "2", "--pitch", "128");
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

/* A seed gives the same random shapes on every machine, within the requested limits. */
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
        const char *const words[] = {process_tool(), "bench",  "--shapes", in_directory("shapes"),      "--elem-size",
                                     sizes[i],       "--blas", "--csv",    in_directory("results.csv"), NULL};
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

/* ------------------------------------------------------------------------------------------------------------------ */
/* Shared by the tests of programs, profiles and wisdom */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { MAX_FILES = 32, ENTRY_HEAD = 56, ENTRY_FACTS = 8 };

/* The first words of a command on a disk that is full: next_file_limit's signal, which a full disk does not send, does
 * not end it. */
#define FULL_DISK "sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"

/* Before a command that is to find no OpenCL device. */
#define NO_DEVICES "env", "OCL_ICD_VENDORS=/nonexistent"

static void expect_one_line(const char *text)
{
    const char *end = strchr(text, '\n');
    if (end == NULL || end[1] != '\0') {
        fail_msg("not one line: %.4000s", text);
    }
}

/* Intel's runtime catches the signal that FULL_DISK ignores, prints a line about it, and continues. */
static const char *without_signal(const char *text)
{
    const char *end = strchr(text, '\n');
    return end && strncmp(text, "PLEASE submit a bug report", 26) == 0 ? end + 1 : text;
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* The names in a folder, sorted; none if there is no folder. */
typedef struct listing {
    size_t count;
    char names[MAX_FILES][256];
} listing;

static listing list_folder(const char *folder)
{
    listing list = {0};
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
            assert_true(list.count < MAX_FILES);
            snprintf(list.names[list.count++], sizeof list.names[0], "%s", entries[i]->d_name);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return list;
}

static const char *path_within(const char *folder, const char *name)
{
    static char path[PATH_SIZE * 4];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* A folder's files with all that changes when one is written, touched or replaced. */
static void describe_folder(const char *folder, char text[OUTPUT_SIZE])
{
    listing list = list_folder(folder);
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list.count; i++) {
        struct stat status;
        assert_int_equal(stat(path_within(folder, list.names[i]), &status), 0);
        length += (size_t)snprintf(text + length, OUTPUT_SIZE - length, "%s %llu %ld %ld.%09ld\n", list.names[i],
                                   (unsigned long long)status.st_ino, (long)status.st_size, (long)status.st_mtim.tv_sec,
                                   status.st_mtim.tv_nsec);
    }
}

/* Whether the test's directory holds these files, in alphabetical order, and no others. */
#define expect_files(...)                                                                                              \
    do {                                                                                                               \
        const char *const expected_files[] = {__VA_ARGS__, NULL};                                                      \
        expect_files_of(expected_files, __LINE__);                                                                     \
    } while (0)

static void expect_files_of(const char *const *names, int line)
{
    listing list = list_folder(directory);
    size_t i = 0;
    for (; i < list.count && names[i] != NULL && strcmp(list.names[i], names[i]) == 0; i++) {
    }
    if (i < list.count || names[i] != NULL) {
        fail_msg("line %d: %zu files, and file %zu is '%s' instead of '%s'", line, list.count, i,
                 i < list.count ? list.names[i] : "", names[i] == NULL ? "" : names[i]);
    }
}

static void expect_content(const char *path, const char *text)
{
    content read = read_content(path);
    read.bytes[read.size] = '\0';
    assert_string_equal((char *)read.bytes, text);
    free(read.bytes);
}

static const char *write_text(const char *name, const char *text)
{
    const char *path = in_directory(name);
    write_content(path, text, strlen(text));
    return path;
}

/* The line of a text that begins with start; fails if there is none. Valid until the next call. */
static const char *line_of(const char *text, const char *start)
{
    static char line[2048];
    while (strncmp(text, start, strlen(start)) != 0) {
        text = strchr(text, '\n');
        if (text == NULL) {
            fail_msg("no line begins with '%s'", start);
            return "";
        }
        text++;
    }
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    return line;
}

/* Copies text with its line of that index, from 0 on, replaced: NULL stands for the text's end before that line. */
static void replace_line(const char *text, size_t index, const char *with, char edited[OUTPUT_SIZE])
{
    const char *line = text;
    for (size_t i = 0; i < index; i++) {
        line = strchr(line, '\n') + 1;
    }
    snprintf(edited, OUTPUT_SIZE, "%.*s%s%s", (int)(line - text), text, with == NULL ? "" : with,
             with == NULL ? "" : line + strcspn(line, "\n"));
}

static size_t read_little_endian(const unsigned char *bytes, size_t count)
{
    size_t value = 0;
    for (size_t i = count; i-- > 0;) {
        value = value << 8 | bytes[i];
    }
    return value;
}

/* The parts of an entry of ipt's cache. */
typedef struct entry_parts {
    bool is_program;
    char key[8192];
    const unsigned char *code;
    size_t code_size;
} entry_parts;

/* Takes an entry apart; fails if its head does not describe it. */
static entry_parts take_apart(const unsigned char *bytes, size_t size)
{
    entry_parts parts;
    assert_true(size > ENTRY_HEAD);
    assert_memory_equal(bytes, "iptcache", 8);
    size_t key_size = read_little_endian(bytes + 12, 4), payload = read_little_endian(bytes + 16, 8);
    assert_true(size == ENTRY_HEAD + key_size + payload);
    assert_true(key_size < sizeof parts.key && memchr(bytes + ENTRY_HEAD, '\0', key_size) == NULL);
    snprintf(parts.key, sizeof parts.key, "%.*s", (int)key_size, (const char *)bytes + ENTRY_HEAD);
    parts.is_program = strncmp(parts.key, "ipt program\n", 12) == 0;
    if (parts.is_program) {
        assert_true(payload > ENTRY_FACTS);
        parts.code = bytes + ENTRY_HEAD + key_size + ENTRY_FACTS;
        parts.code_size = payload - ENTRY_FACTS;
    } else {
        assert_int_equal(strncmp(parts.key, "ipt device\n", 11), 0);
        parts.code = NULL;
        parts.code_size = 0;
    }
    return parts;
}

/* The number of programs in a folder of entries, and of what else there is. */
static size_t count_programs(const char *folder, size_t *others)
{
    listing list = list_folder(folder);
    size_t programs = 0;
    for (size_t i = 0; i < list.count; i++) {
        content read = read_content(path_within(folder, list.names[i]));
        programs += take_apart(read.bytes, read.size).is_program;
        free(read.bytes);
        assert_string_equal(list.names[i] + strlen(list.names[i]) - 4, ".ipt");
    }
    *others = list.count - programs;
    return programs;
}

/* The profile of the device here, in a file. */
static const char *write_profile(char text[OUTPUT_SIZE])
{
    run_tool(0, "devices", "--profile");
    memcpy(text, last.output, OUTPUT_SIZE);
    return write_text("profile", text);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Profiles */
/* ------------------------------------------------------------------------------------------------------------------ */

static char kept[OUTPUT_SIZE], edited[OUTPUT_SIZE];

static void tool_profile_text(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "device ",      "vendor ",       "driver ",        "platform ",        "bits ",         "cpu ",
        "cooperative ", "nvidia ",       "memory_model ",  "sub_group ",       "lanes ",        "standard ",
        "group_size ",  "local_memory ", "compute_units ", "resident_groups ", "refused_bytes "};
    run_tool(0, "devices", "--profile");
    assert_string_equal(last.errors, "");
    memcpy(kept, last.output, sizeof kept);
    assert_int_equal(strncmp(kept, "ipt profile 2\n", 14), 0);
    assert_string_equal(kept + strlen(kept) - 5, "\nend\n");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *value = line_of(kept, lines[i]) + strlen(lines[i]);
        assert_true(i < 4 ? *value != '\0' : strspn(value, "0123456789") == strlen(value) && *value != '\0');
    }
    run_tool(0, "devices", "--profile");
    assert_string_equal(last.output, kept);
    run_tool(1, "devices", "--profile", "--device", "nosuchdevice");
    expect_word(last.errors, "nosuchdevice");
    assert_string_equal(last.output, "");
}

static void tool_profile_makes_the_same_plans(void **state)
{
    (void)state;
    static const char *const shapes[] = {"24x20:4", "37x23:4", "31x1500:4", "300x200:12", "1000x777:4"};
    static const char *const options[][2] = {
        {"plan", "--batch=1"}, {"plan", "--no-cooperative"}, {"source", "--batch=3"}};
    const char *profile = write_profile(kept);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (size_t j = 0; j < sizeof options / sizeof options[0]; j++) {
            run_tool(0, options[j][0], shapes[i], options[j][1]);
            memcpy(edited, last.output, sizeof edited);
            expect_word(edited, "ipt_k_");
            run_program(0, NO_DEVICES, process_tool(), options[j][0], shapes[i], options[j][1], "--profile", profile);
            assert_string_equal(last.output, edited);
            assert_string_equal(last.errors, "");
        }
    }
}

/* Runs a command that must refuse a file in one line, which names it and a line of it. */
static void expect_refused_line(const char *path, const char *what, size_t number, const char *const *words)
{
    char place[PATH_SIZE * 3];
    run_words(NULL, words);
    expect_code(1, (int)number);
    assert_string_equal(last.output, "");
    expect_one_line(last.errors);
    snprintf(place, sizeof place, "ipt: %s: %s, line %zu: ", path, what, number);
    expect_word(last.errors, place);
}

static void expect_bad_profile(const char *text, size_t number)
{
    const char *path = write_text("profile", text);
    const char *const words[] = {process_tool(), "plan", "24x20:4", "--profile", path, NULL};
    expect_refused_line(path, "profile", number, words);
}

static void tool_profile_refused(void **state)
{
    (void)state;
    static const char *const numbers[] = {"", " ", "-1", "+1", "1 ", "1x", "0x1", "99999999999999999999"};
    const char *path = write_profile(kept);
    size_t lines = count_words(kept, "\n"), before = 0;
    for (size_t i = 0; i < lines; i++) {
        replace_line(kept, i, "nonsense", edited);
        expect_bad_profile(edited, i + 1);
        replace_line(kept, i, NULL, edited);
        expect_bad_profile(edited, i + 1);
    }
    const char *bits = strstr(kept, "\nbits ");
    for (const char *at = kept; at <= bits; at++) {
        before += *at == '\n';
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "bits %s", numbers[i]);
        replace_line(kept, before, line, edited);
        expect_bad_profile(edited, before + 1);
    }
    strcpy(edited, kept);
    strcat(edited, "end\n");
    expect_bad_profile(edited, lines + 1);
    write_content(path, "ipt profile 2\n\0x\n", 17); /* with a zero */
    const char *const others[][2] = {
        {path, "not a text"}, {directory, "directory"}, {"/nonexistent/p", "No such file"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        run_tool(1, "source", "24x20:4", "--profile", others[i][0]);
        expect_one_line(last.errors);
        expect_word(last.errors, others[i][0]);
        expect_word(last.errors, others[i][1]);
    }
    write_text("profile", "nonsense\n");
    run_tool(1, "precompile", "24x20:4", "--target", "bitcode", "--profile", path, "-o", in_directory("folder"),
             "--embed", in_directory("header.h"));
    expect_word(last.errors, "ipt: ");
    expect_files("profile");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Folders of programs */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Two shapes and, where panels or other kernels are made for it, a third with programs of its own. */
#define SHAPES "24x20:4", "37x23:4", "31x1500:4"
static const char *const all_shapes[] = {SHAPES};
enum { SHAPE_COUNT = sizeof all_shapes / sizeof all_shapes[0] };

/* The cache folder is the command line's, else the environment's, else the user's. */
static void tool_cache(void **state)
{
    (void)state;
    char home[PATH_SIZE * 2 + 20], base[PATH_SIZE * 2 + 20], variable[PATH_SIZE * 2 + 20], pocl[PATH_SIZE * 2 + 20];
    const char *folder = in_directory("folder");
    size_t others;
    snprintf(home, sizeof home, "HOME=%s", in_directory("home"));
    snprintf(base, sizeof base, "XDG_CACHE_HOME=%s", in_directory("base"));
    snprintf(variable, sizeof variable, "IPT_CACHE_DIR=%s", in_directory("variable"));
    snprintf(pocl, sizeof pocl, "POCL_CACHE_DIR=%s", in_directory("driver")); /* not among ours */
    assert_int_equal(mkdir(in_directory("home"), 0700), 0);
    assert_int_equal(mkdir(in_directory("base"), 0700), 0);
    assert_int_equal(mkdir(in_directory("driver"), 0700), 0);
#define RUN_TOOL_IN(...) run_program(0, "env", "-u", "IPT_CACHE_DIR", home, base, pocl, __VA_ARGS__)
    RUN_TOOL_IN(process_tool(), "plan", "24x20:4", "--cache", "");
    RUN_TOOL_IN(variable, process_tool(), "plan", "24x20:4", "--cache", "");
    RUN_TOOL_IN("IPT_CACHE_DIR=", process_tool(), "plan", "24x20:4");
    RUN_TOOL_IN(process_tool(), "precompile", "24x20:4", "--embed", in_directory("header.h"));
    RUN_TOOL_IN(variable, process_tool(), "precompile", "24x20:4", "--embed", in_directory("header.h"));
    assert_false(exists(in_directory("variable")) || exists(in_directory("base/ipt")) ||
                 exists(in_directory("home/.cache/ipt")));
    RUN_TOOL_IN(variable, process_tool(), "plan", "24x20:4", "--cache", folder);
    assert_true(count_programs(folder, &others) >= 1);
    assert_false(exists(in_directory("variable")) || exists(in_directory("base/ipt")) ||
                 exists(in_directory("home/.cache/ipt")));
    RUN_TOOL_IN(variable, process_tool(), "plan", "24x20:4");
    assert_true(count_programs(in_directory("variable"), &others) >= 1);
    assert_false(exists(in_directory("base/ipt")) || exists(in_directory("home/.cache/ipt")));
    RUN_TOOL_IN(process_tool(), "plan", "24x20:4");
    assert_true(count_programs(in_directory("base/ipt"), &others) >= 1);
    assert_false(exists(in_directory("home/.cache/ipt")));
#undef RUN_TOOL_IN
    /* Every command that makes plans takes it. */
    static const char *const commands[][4] = {{"source", "24x20:4"},
                                              {"tune", "24x20:4"},
                                              {"bench", "24x20:4", "--repeat=1", "--rounds=1"},
                                              {"transpose", "--raw=24x20:4", "raw"}};
    static const unsigned char zeros[24 * 20 * 4];
    write_content(in_directory("raw"), zeros, sizeof zeros);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char name[16];
        snprintf(name, sizeof name, "folder%zu", i);
        const char *words[9] = {process_tool(), commands[i][0], "--cache", in_directory(name)};
        for (size_t j = 1; j < 4 && commands[i][j] != NULL; j++) {
            words[j + 3] = strcmp(commands[i][j], "raw") == 0 ? in_directory("raw") : commands[i][j];
        }
        run_words(NULL, words);
        expect_code(0, (int)i);
        assert_true(count_programs(in_directory(name), &others) >= 1);
    }
}

/* Plans of the shapes find everything in the folder: nothing is added to it and nothing changes there. */
static void expect_complete(const char *folder, const char *wisdom)
{
    static char before[OUTPUT_SIZE], after[OUTPUT_SIZE];
    describe_folder(folder, before);
    for (size_t i = 0; i < SHAPE_COUNT; i++) {
        const char *const words[] = {
            process_tool(), "plan", all_shapes[i], "--cache", folder, wisdom == NULL ? NULL : "--wisdom", wisdom, NULL};
        run_words(NULL, words);
        expect_code(0, (int)i);
        describe_folder(folder, after);
        assert_string_equal(after, before);
    }
}

/* Checks the last line of precompile's output against the folder's content. */
static void expect_precompiled(const char *folder, const char *place)
{
    listing list = list_folder(folder);
    size_t others, programs = count_programs(folder, &others), bytes = 0;
    char text[PATH_SIZE * 4];
    for (size_t i = 0; i < list.count; i++) {
        content read = read_content(path_within(folder, list.names[i]));
        bytes += read.size;
        free(read.bytes);
    }
    snprintf(text, sizeof text, "%zu program%s%s, %zu bytes, to %s in ", programs, programs == 1 ? "" : "s",
             others > 0 ? " and the facts about the device" : "", bytes, place);
    expect_word(last.output, text);
}

static void tool_precompile_folder(void **state)
{
    (void)state;
    const char *folder = in_directory("folder/below");
    run_tool(0, "precompile", SHAPES, "-o", folder);
    expect_one_line(last.output);
    assert_string_equal(last.errors, "");
    expect_precompiled(folder, folder);
    expect_complete(folder, NULL);
    /* Whatever of it is missing, one of the plans would have stored. */
    listing list = list_folder(folder);
    size_t returned = 0;
    for (size_t i = 0; i < list.count; i++) {
        char path[PATH_SIZE * 4];
        snprintf(path, sizeof path, "%s", path_within(folder, list.names[i]));
        content read = read_content(path);
        bool is_program = take_apart(read.bytes, read.size).is_program;
        free(read.bytes);
        assert_int_equal(remove(path), 0);
        for (size_t j = 0; j < SHAPE_COUNT && is_program; j++) {
            run_tool(0, "plan", all_shapes[j], "--cache", folder);
        }
        assert_true(!is_program || exists(path));
        returned += is_program;
    }
    assert_true(returned >= 2);
    /* A second time, over it, and with words on the way. */
    run_tool(0, "precompile", SHAPES, "--verbose", "--output", folder);
    expect_precompiled(folder, folder);
    list = list_folder(folder);
    assert_int_equal(count_words(last.output, "\n"), list.count + 1);
    expect_word(last.errors, "1 of 3: 24x20:4 in ");
    expect_word(last.errors, "\n3 of 3: 31x1500:4 in ");
    expect_complete(folder, NULL);
}

/* Only with --cache it has a cache, and loads the programs from it. */
static void tool_precompile_cache(void **state)
{
    (void)state;
    char variable[PATH_SIZE * 2 + 20];
    const char *cache = in_directory("cache"), *folder = in_directory("folder");
    size_t others;
    snprintf(variable, sizeof variable, "IPT_CACHE_DIR=%s", cache);
    run_program(0, "env", variable, process_tool(), "precompile", SHAPES, "-o", folder);
    assert_false(exists(cache));
    run_tool(0, "precompile", SHAPES, "-o", folder, "--cache", cache);
    listing list = list_folder(cache);
    assert_int_equal(count_programs(cache, &others), count_programs(folder, &others));
    describe_folder(cache, kept);
    assert_int_equal(folder_remove(folder), 0);
    run_tool(0, "precompile", SHAPES, "-o", folder, "--cache", cache);
    describe_folder(cache, edited);
    assert_string_equal(edited, kept);
    for (size_t i = 0; i < list.count; i++) {
        content cached = read_content(path_within(cache, list.names[i]));
        content stored = read_content(path_within(folder, list.names[i]));
        assert_int_equal(cached.size, stored.size);
        assert_memory_equal(cached.bytes, stored.bytes, stored.size);
        free(cached.bytes);
        free(stored.bytes);
    }
    expect_complete(folder, NULL);
}

static void expect_same_names(const char *first, const char *second)
{
    listing a = list_folder(first), b = list_folder(second);
    assert_int_equal(a.count, b.count);
    assert_true(a.count > 0);
    for (size_t i = 0; i < a.count; i++) {
        assert_string_equal(a.names[i], b.names[i]);
    }
}

/* --shapes, and the options that change which programs a plan needs. */
static void tool_precompile_shapes(void **state)
{
    (void)state;
    static const char shapes[] = "# some\n24 20\n\n37 23 # more\n";
    const char *file = write_text("shapes", shapes), *first = in_directory("first"), *second = in_directory("second");
    size_t others;
    run_tool(0, "precompile", "24x20:8", "37x23:8", "-o", first);
    run_tool(0, "precompile", "--shapes", file, "--elem-size", "8", "-o", second);
    expect_same_names(first, second);
    run_tool(0, "precompile", "24x20:4", "-o", in_directory("less"));
    run_tool(0, "precompile", "24x20:4", "--out-of-place", "-o", in_directory("more"));
    assert_int_equal(count_programs(in_directory("more"), &others), count_programs(in_directory("less"), &others) + 1);
    run_tool(0, "precompile", "24x20:4", "--expression", "2 * x", "-o", in_directory("other"));
    assert_true(count_programs(in_directory("other"), &others) >= 1);
    describe_folder(in_directory("other"), kept);
    run_tool(0, "plan", "24x20:4", "--expression", "2 * x", "--cache", in_directory("other"));
    describe_folder(in_directory("other"), edited);
    assert_string_equal(edited, kept);
    run_tool(0, "plan", "24x20:4", "--expression", "3 * x", "--cache", in_directory("other"));
    describe_folder(in_directory("other"), edited);
    assert_string_not_equal(edited, kept);
    run_tool(0, "precompile", "24x20:4", "--expression", "a.y * x", "--argument-type", "float2", "-o",
             in_directory("given"));
    describe_folder(in_directory("given"), kept);
    run_tool(0, "plan", "24x20:4", "--expression", "a.y * x", "--argument-type", "float2", "--cache",
             in_directory("given"));
    describe_folder(in_directory("given"), edited);
    assert_string_equal(edited, kept);
    run_tool(1, "plan", "24x20:4", "--expression", "a * x", "--argument-type", "float8");
    expect_word(last.errors, "--argument-type is 'float8'");
    write_text("shapes", "24 20\n37\n");
    run_tool(1, "precompile", "--shapes", file, "-o", in_directory("bad"));
    expect_word(last.errors, "shapes:2: ");
    assert_false(exists(in_directory("bad")));
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Headers of programs */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The bytes of an array in a header's text, which the caller frees. */
static content read_array(const char *text, const char *name, size_t index)
{
    char heading[600];
    snprintf(heading, sizeof heading, "\nstatic const unsigned char %s_%zu[] = {\n", name, index);
    const char *at = strstr(text, heading);
    content read = {NULL, 0};
    if (at == NULL) {
        fail_msg("the header has no array %s_%zu", name, index);
        return read;
    }
    at += strlen(heading);
    read.bytes = malloc(strlen(at));
    assert_non_null(read.bytes);
    while (*at != '}') {
        char *end;
        size_t value = (size_t)strtoull(at, &end, 10);
        assert_true(end > at && *end == ',' && value <= 255);
        read.bytes[read.size++] = (unsigned char)value;
        at = end + 1 + (end[1] == '\n');
    }
    return read;
}

/* Checks a header whose programs lie in folder, too. */
static void expect_header(const char *path, const char *name, const char *guard, const char *folder)
{
    char text[1200];
    content header = read_content(path);
    header.bytes[header.size] = '\0';
    const char *all = (const char *)header.bytes;
    assert_int_equal(strlen(all), header.size);
    assert_int_equal(strncmp(all, "/* Written by ipt ", 18), 0);
    snprintf(text, sizeof text, "*/\n#ifndef %s\n#define %s\n\n#include \"ipt.h\"\n", guard, guard);
    expect_word(all, text);
    snprintf(text, sizeof text, "\n#endif /* %s */\n", guard);
    assert_string_equal(all + header.size - strlen(text), text);
    snprintf(text, sizeof text, "\nenum { %s_count = sizeof %s / sizeof %s[0] };\n", name, name, name);
    expect_word(all, text);
    snprintf(text, sizeof text, "\nstatic const ipt_binary %s[] = {\n    {%s_0, sizeof %s_0},\n", name, name, name);
    expect_word(all, text);
    listing list = list_folder(folder);
    bool found[MAX_FILES] = {0};
    assert_int_equal(count_words(all, "static const unsigned char "), list.count);
    for (size_t i = 0; i < list.count; i++) {
        content array = read_array(all, name, i);
        snprintf(text, sizeof text, "\n    {%s_%zu, sizeof %s_%zu},\n", name, i, name, i);
        expect_word(all, text);
        (void)take_apart(array.bytes, array.size);
        size_t same = list.count;
        for (size_t j = 0; j < list.count; j++) {
            content file = read_content(path_within(folder, list.names[j]));
            same = file.size == array.size && memcmp(file.bytes, array.bytes, file.size) == 0 ? j : same;
            free(file.bytes);
        }
        assert_true(same < list.count && !found[same]);
        found[same] = true;
        free(array.bytes);
    }
    free(header.bytes);
}

static void tool_precompile_header(void **state)
{
    (void)state;
    const char *folder = in_directory("folder");
    char both[PATH_SIZE * 4];
    run_tool(0, "precompile", SHAPES, "-o", folder, "--embed", in_directory("kernels.h"));
    snprintf(both, sizeof both, "%s and %s", folder, in_directory("kernels.h"));
    expect_precompiled(folder, both);
    expect_files("folder", "kernels.h");
    expect_header(in_directory("kernels.h"), "kernels", "KERNELS_H_INCLUDED", folder);
    content header = read_content(in_directory("kernels.h"));
    header.bytes[header.size] = '\0';
    expect_word((char *)header.bytes, " precompile 24x20:4 37x23:4 31x1500:4, for ");
    free(header.bytes);
    /* Through a link, over what is there; the words of the comment at the top cannot end it. */
    assert_int_equal(mkdir(in_directory("*"), 0700), 0);
    const char *shapes = write_text("*/shapes", "24 20\n");
    write_text("old.h", "old\n");
    assert_int_equal(symlink("old.h", in_directory("link.h")), 0);
    run_tool(0, "precompile", "--shapes", shapes, "-o", in_directory("one"), "--embed", in_directory("link.h"));
    struct stat status;
    assert_int_equal(lstat(in_directory("link.h"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    expect_header(in_directory("old.h"), "link", "LINK_H_INCLUDED", in_directory("one"));
    header = read_content(in_directory("old.h"));
    header.bytes[header.size] = '\0';
    const char *end = strstr((char *)header.bytes, "*/"), *line = strchr((char *)header.bytes, '\n');
    assert_non_null(line);
    assert_true(end == line - 2);
    expect_word(line_of((char *)header.bytes, "/*"), "--elem-size 4");
    free(header.bytes);
    expect_files("*", "folder", "kernels.h", "link.h", "old.h", "one");
}

/* Whatever a header is called, C and C++ take the names in it. */
static void tool_precompile_header_names(void **state)
{
    (void)state;
#define TEN_LETTERS "abcdefghij"
#define LONG_NAME                                                                                                      \
    TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS        \
        TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS
    static const char *const cases[][2] = {{"my-kernels v2.h", "my_kernels_v2"},
                                           {"9lives.h", "programs_9lives"},
                                           {"\xc3\xbc-ber.h", "programs_ber"},
                                           {".h", "programs"},
                                           {"a.b.h", "a_b"},
                                           {"no_extension", "no_extension"},
                                           {"y__z__.h", "y_z"},
                                           {"int.h", "int_programs"},
                                           {"class.hpp", "class_programs"},
                                           {"xor eq.h", "xor_eq_programs"},
                                           {"eq.h", "eq"},
                                           {"ipt.hpp", "programs_ipt"},
                                           {"IPT.h", "programs_IPT"},
                                           {"ipt_binary.h", "programs_ipt_binary"},
                                           {"NULL.h", "NULL_programs"},
                                           {"main.h", "main_programs"},
                                           {LONG_NAME ".h", LONG_NAME}};
    enum { COUNT = sizeof cases / sizeof cases[0] };
    const char *folder = in_directory("folder");
    char source[COUNT * 300] = "";
    run_tool(0, "precompile", "24x20:4", "-o", folder);
    for (size_t i = 0; i < COUNT; i++) {
        char guard[300], path[PATH_SIZE * 2];
        snprintf(guard, sizeof guard, "%s_H_INCLUDED", cases[i][1]);
        for (char *letter = guard; *letter != '\0'; letter++) {
            *letter = (char)(*letter >= 'a' && *letter <= 'z' ? *letter - 'a' + 'A' : *letter);
        }
        snprintf(path, sizeof path, "%s", in_directory(cases[i][0]));
        run_tool(0, "precompile", "24x20:4", "-o", folder, "--embed", path, "--cache", folder);
        expect_header(path, cases[i][1], guard, folder);
        snprintf(source + strlen(source), sizeof source - strlen(source), "#include \"%s\"\n", cases[i][0]);
    }
    static const char *const compilers[][5] = {{"gcc", "-std=c99", "-x", "c"}, {"g++", "-std=c++11", "-x", "c++"}};
    const char *path = write_text("all.c", source);
    for (size_t i = 0; i < 2; i++) {
        const char *const *words = compilers[i];
        const char *const version[] = {words[0], "--version", NULL};
        run_words(NULL, version);
        if (last.code != 0) {
            print_message("no %s: compiling the headers with it was not tested\n", words[0]);
            continue;
        }
        run_program(0, words[0], words[1], words[2], words[3], "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                    "-fsyntax-only", "-I.", path);
    }
}

/* A file that cannot be written completely does not appear. An earlier file stays unchanged. */
static void tool_precompile_full_disk(void **state)
{
    (void)state;
    const char *cache = in_directory("cache"), *folder = in_directory("folder"), *header = in_directory("kernels.h");
    struct stat status;
    size_t largest = 0;
    run_tool(0, "precompile", SHAPES, "--cache", cache, "-o", folder, "--embed", header);
    listing list = list_folder(folder);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(stat(path_within(folder, list.names[i]), &status), 0);
        largest = (size_t)status.st_size > largest ? (size_t)status.st_size : largest;
    }
    assert_int_equal(stat(header, &status), 0);
    assert_true((size_t)status.st_size > 2 * largest);
    assert_int_equal(folder_remove(folder), 0);
    for (int old = 1; old >= 0; old--) { /* with an existing header, and without one */
        if (old) {
            write_text("kernels.h", "old\n");
        } else {
            assert_int_equal(remove(in_directory("kernels.h")), 0);
        }
        header = in_directory("kernels.h");
        next_file_limit = (size_t)status.st_size - 1; /* nothing that is written before is half as large */
        run_program(1, FULL_DISK, process_tool(), "precompile", SHAPES, "--cache", in_directory("cache"), "--embed",
                    header);
        next_file_limit = 0;
        expect_one_line(without_signal(last.errors));
        expect_word(last.errors, header);
        assert_string_equal(last.output, "");
        if (old) {
            expect_content(header, "old\n");
            expect_files("cache", "kernels.h");
        } else {
            expect_files("cache");
        }
    }
    next_file_limit = largest - 1; /* the driver writes less when it takes the programs from the cache */
    run_program(1, FULL_DISK, process_tool(), "precompile", SHAPES, "--cache", in_directory("cache"), "-o",
                in_directory("folder"), "--embed", in_directory("kernels.h"));
    next_file_limit = 0;
    expect_one_line(without_signal(last.errors));
    expect_word(last.errors, in_directory("folder"));
    assert_string_equal(last.output, "");
    list = list_folder(in_directory("folder"));
    for (size_t i = 0; i < list.count; i++) { /* whole ones only */
        content read = read_content(path_within(in_directory("folder"), list.names[i]));
        (void)take_apart(read.bytes, read.size);
        assert_true(read.size < largest);
        free(read.bytes);
    }
    assert_false(exists(in_directory("kernels.h")));
}

static void tool_precompile_failures(void **state)
{
    (void)state;
    const char *folder = in_directory("folder"), *header = write_text("kernels.h", "old\n");
#define REFUSED(word, ...)                                                                                             \
    do {                                                                                                               \
        run_tool(1, "precompile", __VA_ARGS__);                                                                        \
        expect_one_line(last.errors);                                                                                  \
        expect_word(last.errors, word);                                                                                \
        assert_string_equal(last.output, "");                                                                          \
        expect_content(header, "old\n");                                                                               \
        expect_files("kernels.h");                                                                                     \
    } while (0)
    REFUSED("need no program", "1x5:4", "5x1:4", "-o", folder, "--embed", header);
    REFUSED("24x20:4: ", "24x24:4", "24x20:4", "--sequence=square", "-o", folder, "--embed", header);
    REFUSED("nosuchdevice", "24x20:4", "--device=nosuchdevice", "-o", folder, "--embed", header);
    REFUSED("/none/x.h: No such file", "24x20:4", "-o", folder, "--embed", in_directory("none/x.h"));
    REFUSED("not a regular file", "24x20:4", "-o", folder, "--embed", directory);
    REFUSED("not a regular file", "24x20:4", "-o", folder, "--embed", "/dev/full");
    REFUSED("not a folder", "24x20:4", "-o", header);
    REFUSED("/none: No such file", "--shapes", in_directory("none"), "-o", folder, "--embed", header);
    REFUSED("/none", "24x20:4", "--wisdom", in_directory("none"), "-o", folder, "--embed", header);
#undef REFUSED
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Programs for other devices */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The output of 'ipt devices --profile' on a machine with such a GPU. */
static const char h200_profile[] = "ipt profile 2\n"
                                   "device NVIDIA H200\n"
                                   "vendor NVIDIA Corporation\n"
                                   "driver 580.159.04\n"
                                   "platform OpenCL 3.0 CUDA 13.0.98\n"
                                   "bits 64\n"
                                   "cpu 0\n"
                                   "cooperative 1\n"
                                   "nvidia 2\n"
                                   "memory_model 2\n"
                                   "sub_group 1\n"
                                   "lanes 32\n"
                                   "standard 30\n"
                                   "group_size 256\n"
                                   "largest_group 1024\n"
                                   "local_memory 48128\n"
                                   "compute_units 132\n"
                                   "resident_groups 264\n"
                                   "resident_bands 660\n"
                                   "resident_others 528\n"
                                   "wait_polls 1048576\n"
                                   "local_is_limited 0\n"
                                   "chunk_bytes 110592\n"
                                   "refused_bytes 0\n"
                                   "sub_groups_refused 0\n"
                                   "end\n";

/* Whether code begins as a target's does. */
static bool begins_as(const char *target, const unsigned char *code, size_t size)
{
    if (strncmp(target, "ptx:", 4) == 0) {
        return memcmp(code, "//", 2) == 0 || memcmp(code, ".version", 8) == 0;
    }
    return size > 4 && memcmp(code,
                              strcmp(target, "bitcode") == 0 ? "BC\xc0\xde"
                              : strcmp(target, "spirv") == 0 ? "\x03\x02\x23\x07"
                                                             : "\x7f"
                                                               "ELF",
                              4) == 0;
}

/* Every program in the folder is one for the target; what is known of the device is there as well. */
static void expect_target(const char *folder, const char *target, const char *device)
{
    char line[64];
    size_t others, programs = count_programs(folder, &others);
    assert_true(programs >= 1 && others == 1);
    snprintf(line, sizeof line, "\ntarget %s\n", target);
    listing list = list_folder(folder);
    for (size_t i = 0; i < list.count; i++) {
        content read = read_content(path_within(folder, list.names[i]));
        entry_parts parts = take_apart(read.bytes, read.size);
        if (parts.is_program) {
            expect_word(parts.key, line);
            assert_true(begins_as(target, parts.code, parts.code_size));
        } else {
            expect_word(parts.key, device);
        }
        free(read.bytes);
    }
}

/* Whether the last run reported a target's compiler as missing. Prints its message then. */
static bool lacks_compiler(const char *target)
{
    const char *sentence = strstr(last.errors, "not installed: ");
    if (last.code != 1 || sentence == NULL) {
        return false;
    }
    print_message("%s was not tested; %s", target, sentence);
    return true;
}

/* Without any device: the profile says all there is to know. */
static void tool_precompile_targets(void **state)
{
    (void)state;
    static const char *const targets[] = {"ptx:sm_80", "bitcode", "spirv", "amdgcn:gfx90a"};
    enum { COUNT = sizeof targets / sizeof targets[0] };
    bool tested[COUNT] = {0};
    char own_device[300], own[PATH_SIZE * 2], h200[PATH_SIZE * 2];
    snprintf(own, sizeof own, "%s", write_profile(kept));
    snprintf(own_device, sizeof own_device, "\n%s\n", line_of(kept, "device "));
    snprintf(h200, sizeof h200, "%s", write_text("h200", h200_profile));
    for (size_t i = 0; i < COUNT; i++) {
        const char *profile = i == 0 ? h200 : own, *device = i == 0 ? "\ndevice NVIDIA H200\n" : own_device;
        const char *folder = in_directory(targets[i]), *header = in_directory("kernels.h");
        char text[PATH_SIZE * 4];
        const char *const words[] = {NO_DEVICES,  process_tool(), "precompile", "24x20:4",  "37x23:4",
                                     "--profile", profile,        "--target",   targets[i], "-o",
                                     folder,      "--embed",      header,       NULL};
        run_words(NULL, words);
        if (lacks_compiler(targets[i])) {
            assert_false(exists(folder) || exists(header));
            continue;
        }
        expect_code(0, __LINE__);
        assert_string_equal(last.errors, "");
        expect_one_line(last.output);
        snprintf(text, sizeof text, "%s and %s", folder, header);
        expect_precompiled(folder, text);
        expect_target(folder, targets[i], device);
        expect_header(header, "kernels", "KERNELS_H_INCLUDED", folder);
        content read = read_content(header);
        read.bytes[read.size] = '\0';
        snprintf(text, sizeof text, " precompile 24x20:4 37x23:4, for %s */\n", targets[i]);
        expect_word((char *)read.bytes, text);
        free(read.bytes);
        assert_int_equal(remove(header), 0);
        tested[i] = true;
    }
    if (tested[1]) { /* the device that is here does as well as its profile, and the commands are shown */
        run_tool(0, "precompile", "24x20:4", "37x23:4", "--target", "bitcode", "--verbose", "-o", in_directory("here"));
        assert_int_equal(strncmp(last.output, "clang", 5), 0);
        expect_word(last.output, " -x cl -cl-std=");
        expect_same_names(in_directory("here"), in_directory("bitcode"));
    } else {
        test_skip("no compiler for bitcode is installed");
    }
    if (tested[0]) {
        run_tool(1, "precompile", "24x20:4", "--profile", h200, "--target", "ptx:sm_9999", "-o", in_directory("none"),
                 "--embed", in_directory("none.h"));
        expect_word(last.errors, "ipt: ptx:sm_9999: ");
        expect_word(last.errors, "does not know the processor sm_9999");
        assert_string_equal(last.output, "");
        assert_false(exists(in_directory("none")) || exists(in_directory("none.h")));
    }
}

/* PoCL ends the process if it finds no linker. The tool explains this, and the file stays unchanged. */
static void tool_without_linker(void **state)
{
    (void)state;
    enum { ROWS = 60, COLS = 70 };
    static unsigned char before[ROWS * COLS * 4];
    char path[4096] /* what realpath writes, at most */, file[PATH_SIZE], programs[PATH_SIZE + 32], own[PATH_SIZE + 32];
    assert_non_null(realpath(process_tool(), path));
    for (size_t i = 0; i < sizeof before; i++)
        before[i] = (unsigned char)(i * 167 >> 4);
    snprintf(file, sizeof file, "%s", in_directory("m.raw"));
    write_content(file, before, sizeof before);
    snprintf(programs, sizeof programs, "POCL_CACHE_DIR=%s", in_directory("pocl"));
    snprintf(own, sizeof own, "IPT_CACHE_DIR=%s", in_directory("ipt"));
    const char *const words[] = {"env",   "PATH=/nonexistent", programs, own, path, "transpose",
                                 "--raw", "60x70:4",           file,     NULL};
    run_words(NULL, words);
    if (last.code == 0)
        test_skip("this OpenCL needs no linker");
    content after = read_content(file);
    assert_int_equal(after.size, sizeof before);
    assert_memory_equal(after.bytes, before, sizeof before);
    free(after.bytes);
    expect_word(last.errors, "ipt: the OpenCL implementation has ended this process");
    expect_word(last.errors, "needs the linker ld on PATH");
}

static void tool_precompile_without_clang(void **state)
{
    (void)state;
    const char *header = write_text("kernels.h", "old\n");
    char path[4096];
    assert_non_null(realpath(process_tool(), path));
    run_program(1, "env", "PATH=/nonexistent", "IPT_LLVM=17", path, "precompile", "24x20:4", "--target", "bitcode",
                "-o", in_directory("folder"), "--embed", header);
    expect_one_line(last.errors);
    expect_word(last.errors, "ipt: bitcode: not installed: clang-17");
    expect_word(last.errors, "apt-get install clang-17");
    expect_content(header, "old\n");
    expect_files("kernels.h");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt tune, and wisdom */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A shape for which there is something to measure, and how its line begins. */
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

/* Puts what 'tune' finds out about the shape into kept; where there is nothing to measure the test is over. */
static void tune_into_kept(void)
{
    run_tool(0, "tune", TUNED);
    memcpy(kept, last.output, sizeof kept);
    if (strstr(kept, "\n" TUNED_LINE) == NULL) {
        print_message("%s has one plan on this device\n", TUNED);
        test_skip("the shape has one plan on this device");
    }
}

/* Puts two passes with super-elements of this length into the first line of kept's, whatever was the fastest. */
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

/* Keeps the wisdom of a file, also if --output names the same file. */
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
    /* A shape of which not even a panel fits into any device does not lose what there is about the others. */
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
    next_file_limit = (size_t)status.st_size - 10; /* without a program, since the driver could not make one */
    run_program(1, FULL_DISK, process_tool(), "tune", "5x1:4", "--wisdom", more, "-o", path);
    next_file_limit = 0;
    /* The limit is the message's, too, which fits if a plan was measured; a line about the signal takes the room. */
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

/* The plan is the one that the text says, whatever has been measured. */
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
        run_tool(0, "plan", TUNED, "--wisdom", path, "--measure"); /* instead of measuring */
        assert_string_equal(last.output, edited);
        run_tool(0, "plan", TUNED, "--wisdom", path, "--batch", "2"); /* about which it says nothing */
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
    strcat(edited, "end 0\n"); /* after its end */
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
        change_length("301"); /* more than either side */
        write_content(path, kept, strlen(kept));
        expect_refused_line(path, "wisdom", 4, words);
    }
    /* Every command that takes it. */
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

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt bench --startup */
/* ------------------------------------------------------------------------------------------------------------------ */

static void tool_startup(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"off", "off"}, {"off", "filling"}, {"off", "warm"},
                                          {"on", "off"},  {"on", "filling"},  {"on", "warm"}};
    char folder[PATH_SIZE * 2 + 20];
    assert_int_equal(mkdir(in_directory("temporary"), 0700), 0);
    snprintf(folder, sizeof folder, "TMPDIR=%s", in_directory("temporary"));
    run_program(0, "env", folder, process_tool(), "bench", "24x20:4", "--startup", "--rounds", "1", "--csv",
                in_directory("results.csv"));
    assert_string_equal(last.errors, "");
    assert_int_equal(list_folder(in_directory("temporary")).count, 0);
    assert_int_equal(strncmp(last.output, "24x20:4 in fresh processes, 1 rounds, on ", 41), 0);
    content read = read_content(in_directory("results.csv"));
    read.bytes[read.size] = '\0';
    const char *line = (const char *)read.bytes;
    assert_int_equal(count_words(line, "\n"), 7);
    assert_int_equal(strncmp(line, "rows,cols,elem_size,driver_cache,ipt_cache,context_seconds,", 59), 0);
    for (size_t i = 0; i < 6; i++) {
        char text[64];
        double context, plan, execution, fresh, worst;
        unsigned compiled, compiled_new, none, rounds;
        line = strchr(line, '\n') + 1;
        snprintf(text, sizeof text, "24,20,4,%s,%s,", rows[i][0], rows[i][1]);
        assert_int_equal(strncmp(line, text, strlen(text)), 0);
        assert_int_equal(sscanf(line + strlen(text), "%lf,%lf,%lf,%lf,%lf,%u,%u,%u,%u\n", &context, &plan, &execution,
                                &fresh, &worst, &compiled, &compiled_new, &none, &rounds),
                         9);
        assert_true(context > 0 && plan > 0 && execution > 0 && fresh > 0 && worst >= fresh);
        assert_true(strcmp(rows[i][1], "warm") == 0 ? compiled == 0 && compiled_new == 0 : compiled >= 1);
        assert_true(none <= 50 && (compiled_new > 0 || none == 50) && rounds == 1);
        snprintf(text, sizeof text, "\n%-8s %-11s ", rows[i][0], rows[i][1]);
        assert_int_equal(count_words(last.output, text), 1);
    }
    free(read.bytes);
}

static void tool_startup_failures(void **state)
{
    (void)state;
    char folder[PATH_SIZE * 2 + 20];
    snprintf(folder, sizeof folder, "TMPDIR=%s", directory);
    run_program(1, "env", folder, process_tool(), "bench", "24x20:4", "--startup", "--device", "nosuchdevice");
    expect_one_line(last.errors); /* what a step has said */
    expect_word(last.errors, "nosuchdevice");
    run_program(1, "env", "TMPDIR=/nonexistent", process_tool(), "bench", "24x20:4", "--startup");
    expect_one_line(last.errors);
    expect_word(last.errors, "/nonexistent/");
    run_program(1, "env", folder, process_tool(), "bench", "24x20:4", "--startup", "--csv", in_directory("none/x.csv"));
    expect_word(last.errors, "none/x.csv: No such file");
    /* Stopped on the way. */
    static const char *const signals[] = {"INT", "TERM"};
    for (size_t i = 0; i < 2; i++) {
        const char *const words[] = {"env", folder,         "timeout", "--foreground", "-s",        signals[i],
                                     "0.4", process_tool(), "bench",   "24x20:4",      "--startup", NULL};
        run_words(NULL, words);
        expect_code(124, __LINE__);
        assert_int_equal(list_folder(directory).count, 0);
    }
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

/* Texts without an end, folders and pipes: a sentence, and no waiting. */
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

/* Fails if a file of the test's directory holds a message or output of the tool. */
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

/* Every command, with every combination of streams: files hold what belongs there, and only output that is lost is a
 * failure. */
static void tool_closed_streams(void **state)
{
    (void)state;
    static const struct {
        const char *words[8];
        int code;    /* with all streams open */
        bool prints; /* results; a report of what was done to files may be lost */
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

/* A word that begins with @ is a file in the test's directory. Nothing may be written there. */
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

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

const struct CMUnitTest test_tool[] = {
    IN_DIRECTORY(test_numpy_moves),
    IN_DIRECTORY(test_numpy_axes),
    IN_DIRECTORY(test_axes_by_hand),
    IN_DIRECTORY(test_numpy_files),
    IN_DIRECTORY(tool_expression_types),
    IN_DIRECTORY(test_file_by_hand),
    IN_DIRECTORY(test_raw),
    IN_DIRECTORY(test_bad_headers),
    IN_DIRECTORY(test_wrong_lengths),
    IN_DIRECTORY(test_unsuitable_files),
    IN_DIRECTORY(test_raw_wrong_size),
    IN_DIRECTORY(test_no_device),
    IN_DIRECTORY(test_failing_writes),
    cmocka_unit_test(test_usage_errors),
    cmocka_unit_test(test_help),
    cmocka_unit_test(test_json),
    cmocka_unit_test(test_devices),
    cmocka_unit_test(test_plan),
    cmocka_unit_test(test_source),
    IN_DIRECTORY(test_bench),
    cmocka_unit_test(test_bench_elements),
    cmocka_unit_test(test_bench_pitch),
    IN_DIRECTORY(tool_bench_plot),
    IN_DIRECTORY(tool_plot_of_any_results),
    IN_DIRECTORY(test_bench_shapes),
    IN_DIRECTORY(test_bench_bad_shapes),
    IN_DIRECTORY(test_bench_random),
    IN_DIRECTORY(test_bench_blas),
    IN_DIRECTORY(tool_profile_text),
    IN_DIRECTORY(tool_profile_makes_the_same_plans),
    IN_DIRECTORY(tool_profile_refused),
    IN_DIRECTORY(tool_cache),
    IN_DIRECTORY(tool_precompile_folder),
    IN_DIRECTORY(tool_precompile_cache),
    IN_DIRECTORY(tool_precompile_shapes),
    IN_DIRECTORY(tool_precompile_header),
    IN_DIRECTORY(tool_precompile_header_names),
    IN_DIRECTORY(tool_precompile_full_disk),
    IN_DIRECTORY(tool_precompile_failures),
    IN_DIRECTORY(tool_precompile_targets),
    IN_DIRECTORY(tool_precompile_without_clang),
    IN_DIRECTORY(tool_without_linker),
    IN_DIRECTORY(tool_tune),
    IN_DIRECTORY(tool_tune_adds),
    IN_DIRECTORY(tool_tune_failures),
    IN_DIRECTORY(tool_wisdom),
    IN_DIRECTORY(tool_wisdom_refused),
    IN_DIRECTORY(tool_startup),
    IN_DIRECTORY(tool_startup_failures),
    IN_DIRECTORY(tool_texts_bounded),
    IN_DIRECTORY(tool_messages),
    IN_DIRECTORY(tool_closed_streams),
    IN_DIRECTORY(tool_usage_errors),
};
const size_t test_tool_count = sizeof test_tool / sizeof test_tool[0];
