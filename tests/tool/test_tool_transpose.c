/* ipt transpose. The command transposes NumPy files as NumPy does, for every type, order and format version. It refuses
 * other files with one message that names the file, and leaves every byte unchanged. */
#define _GNU_SOURCE /* POSIX 2008 with XSI, and memmem */

#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------------ */
/* NumPy */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Called with a directory and a word. "write": makes all arrays, saves each as name.npy and as name.old, and prints the
 * names. "check": compares name.npy, which the tool has transposed, with NumPy's transpose of name.old. */
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

/* Called with the tool and a directory: compares moves, and an expression with exact results, with NumPy. */
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

/* Called with the tool and a directory: compares --axes and --order, alone and together, with numpy.transpose. C and
 * Fortran arrays have 1 to 6 axes, some of length 1. --memory is small, so there are several steps. */
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

/* An array of 2 x 3 x 4 bytes without NumPy: C order, Fortran order and back; refusals change nothing. */
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

/* Called with the tool and a directory: x in an expression has the header's type, and other types are refused. */
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
    "        elif code != 0: assert name in ('f2', 'f8'), errors\n" /* some devices have no f2 or f8 */
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
    run_tool(0, "transpose", "--device", "native", "--raw", "23x40:4", "--", path); /* and back */
    now = read_content(path);
    assert_int_equal(now.size, sizeof bytes);
    assert_memory_equal(now.bytes, bytes, sizeof bytes);
    free(now.bytes);
}

/* Runs "transpose path", which must exit with 1, print one line with path and expected, and change nothing. */
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

/* Headers that are refused, each with as much data as the corresponding valid header needs. */
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

/* A valid file, cut at every length up to its data and one byte before its end, and one byte too long. */
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
    expect_refusal_unchanged(path, NULL, "", __LINE__); /* "read-only" for root, "Permission denied" for other users */
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

/* A missing device is reported before the file is changed. */
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

/* Failed writes and lost output are reported. */
static void test_failing_writes(void **state)
{
    (void)state;
    const char *path = in_directory("row.npy");
    static char text[6000]; /* spaces before the shape exceed the limit */
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

const struct CMUnitTest test_tool_transpose[] = {
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
};
const size_t test_tool_transpose_count = sizeof test_tool_transpose / sizeof test_tool_transpose[0];
