/* Batch plans on the tool's command line. The tool turns words and files into descs. It refuses a wrong word, or a
 * wrong file with its name and the line. The programs that the tool compiles are those that later plans need. */
#include "folders.h"
#include "process.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gen/tool/command/batch_spec.h"

enum { PATH_SIZE = 600, TEXT_SIZE = 1 << 21 /* more than any header */, DESC_SIZE = 2000 };

static char directory[PATH_SIZE - 100];

static int make_directory(void **state)
{
    return folder_make(directory, sizeof directory, "batches") ? -1 : test_start(state);
}

static int remove_directory(void **state)
{
    (void)state;
    return folder_remove(directory);
}

typedef struct place {
    char path[PATH_SIZE];
} place;

static place in_directory(const char *name)
{
    place at;
    snprintf(at.path, sizeof at.path, "%s/%s", directory, name);
    return at;
}

static place write_text(const char *name, const char *text)
{
    const place at = in_directory(name);
    FILE *stream = fopen(at.path, "wb");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
    return at;
}

/* The output of the last run of the tool. */
static char output[TEXT_SIZE], errors[TEXT_SIZE];

static void read_text(const char *path, char text[TEXT_SIZE])
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    text[fread(text, 1, TEXT_SIZE - 1, stream)] = '\0';
    fclose(stream);
}

/* Runs a program; returns its exit code, -1 if a signal ended it. */
static int run_words(const char *const *words)
{
    const place out = in_directory(".output"), error = in_directory(".errors");
    const process_setup setup = {.output = open(out.path, O_WRONLY | O_CREAT | O_TRUNC, 0600),
                                 .errors = open(error.path, O_WRONLY | O_CREAT | O_TRUNC, 0600)};
    int status;
    assert_true(setup.output >= 0 && setup.errors >= 0);
    assert_true(waitpid(process_start(words, &setup), &status, 0) > 0);
    close(setup.output);
    close(setup.errors);
    read_text(out.path, output);
    read_text(error.path, errors);
    unlink(out.path);
    unlink(error.path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs the tool and fails unless it exits with code. */
#define run_tool(code, ...)                                                                                            \
    do {                                                                                                               \
        const char *const run_tool_words[] = {process_tool(), __VA_ARGS__, NULL};                                      \
        const int run_tool_code = run_words(run_tool_words);                                                           \
        if (run_tool_code != (code))                                                                                   \
            fail_msg("line %d: exit code %d, output %s, errors %s", __LINE__, run_tool_code, output, errors);          \
    } while (0)

static void expect_part(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in: %s", part, text);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Words and files */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Writes a desc as text: its numbers other than 0, and its operands. */
static void print_desc(const ipt_batch_desc *desc, char text[DESC_SIZE])
{
    static const char *const accesses[] = {"", "r", "w", "rw"};
    size_t length = (size_t)snprintf(text, DESC_SIZE, "%s %zu %s", ipt_action_string(desc->ready), desc->count,
                                     ipt_model_string(desc->model));
    if (desc->options || desc->lanes || desc->group_size)
        length += (size_t)snprintf(text + length, DESC_SIZE - length, " %u/%zu/%zu", desc->options, desc->lanes,
                                   desc->group_size);
    if (desc->method)
        length += (size_t)snprintf(text + length, DESC_SIZE - length, " %s", ipt_method_string(desc->method));
    if (desc->argument_type)
        length += (size_t)snprintf(text + length, DESC_SIZE - length, " a:%s", desc->argument_type);
    for (size_t i = 0; i < desc->operand_count; ++i) {
        const ipt_batch_operand *const operand = &desc->operands[i];
        length += (size_t)snprintf(text + length, DESC_SIZE - length, ", %s %s %zux%zu %s", operand->name,
                                   operand->type, operand->rows, operand->cols, accesses[operand->access]);
        if (operand->layout || operand->stride)
            length += (size_t)snprintf(text + length, DESC_SIZE - length, " %s/%zu/%zu",
                                       ipt_layout_string(operand->layout), operand->width, operand->stride);
    }
}

/* Every ready-made action, with every kind of word after the sizes. The library accepts the descs. */
static void tool_batches_words(void **state)
{
    static const struct {
        const char *word, *expected;
    } cases[] = {
        {"dot:float:7", "dot 1 auto, x float 7x1 r, y float 7x1 r, r float 1x1 w"},
        {"gemv:float:4x3:10", "gemv 10 auto, A float 4x3 r, x float 3x1 r, y float 4x1 w"},
        {"gemv:float2:4x3:transpose-a", "gemv 1 auto 1/0/0, A float2 3x4 r, x float2 3x1 r, y float2 4x1 w"},
        {"gemm:float:4x6x5:1000000", "gemm 1000000 auto, A float 4x6 r, B float 6x5 r, C float 4x5 w"},
        {"gemm:float2:4x6x5:transpose-b:conjugate-a:conjugate-b",
         "gemm 1 auto 14/0/0, A float2 4x6 r, B float2 5x6 r, C float2 4x5 w"},
        {"gemm:float:2x3x4:scaled:20:planes:C=blocks/8:B=elements:memory",
         "gemm 20 memory a:float2, A float 2x3 r planes/0/0, B float 3x4 r, C float 2x4 rw blocks/8/0"},
        {"dot:float2:3:scaled", "dot 1 auto a:float4, x float2 3x1 r, y float2 3x1 r, r float2 1x1 rw"},
        {"dot:float:90:uusci-2013:50", "dot 50 auto uusci-2013, x float 90x1 r, y float 90x1 r, r float 1x1 w"},
        {"gemv:float:4x3:work-group:group=96", "gemv 1 work-group 0/0/96, A float 4x3 r, x float 3x1 r, y float 4x1 w"},
        {"dot:double2:3:scaled", "dot 1 auto a:double4, x double2 3x1 r, y double2 3x1 r, r double2 1x1 rw"},
        {"potrf:float:5", "potrf 1 auto, A float 5x5 rw, info int 1x1 w"},
        {"potrs:float:5x2", "potrs 1 auto, A float 5x5 r, B float 5x2 rw"},
        {"posv:float:5x2:blocks/16", "posv 1 auto, A float 5x5 rw blocks/16/0, B float 5x2 rw blocks/16/0, "
                                     "info int 1x1 w blocks/16/0"},
        {"trsm:float:5x2:upper:unit:transpose-a", "trsm 1 auto 49/0/0, A float 5x5 r, B float 5x2 rw"},
        {"getrf:float:5:100:registers", "getrf 100 registers, A float 5x5 rw, pivots int 5x1 w, info int 1x1 w"},
        {"getrs:float:5x2", "getrs 1 auto, A float 5x5 r, pivots int 5x1 r, B float 5x2 rw"},
        {"gesv:float:5x2", "gesv 1 auto, A float 5x5 rw, pivots int 5x1 w, B float 5x2 rw, info int 1x1 w"},
        {"getri:float:5:group:lanes=2:group=8",
         "getri 1 group 0/2/8, A float 5x5 rw, pivots int 5x1 w, info int 1x1 w"},
    };
    unsigned seen = 0;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        char message[BATCH_MESSAGE_SIZE], text[DESC_SIZE];
        batch_spec spec;
        ipt_batch *batch;
        if (!batch_spec_read(cases[i].word, &spec, message))
            fail_msg("%s", message);
        assert_false(spec.is_file);
        print_desc(&spec.desc, text);
        assert_string_equal(text, cases[i].expected);
        if (ipt_batch_create(test_context, &spec.desc, &batch))
            fail_msg("%s: %s", cases[i].word, ipt_context_error(NULL));
        ipt_batch_destroy(batch);
        seen |= 1u << spec.desc.ready;
        batch_spec_free(&spec);
    }
    for (int action = IPT_ACTION_NONE + 1; strcmp(ipt_action_string((ipt_action)action), "unknown") != 0; ++action)
        assert_true(seen >> action & 1);
}

static void tool_batches_bad_words(void **state)
{
    static const char *const cases[][2] = {
        {"possv:float:6x1", "unknown action 'possv'"},
        {"none:float:6", "unknown action 'none'"},
        {"posv", "posv takes the sizes nxm, such as posv:double:6x5"},
        {"posv:float", "takes the sizes nxm"},
        {"posv:float:", "takes the sizes nxm"},
        {"posv:float:6", "takes the sizes nxm"},
        {"posv:float:6x", "takes the sizes nxm"},
        {"posv:float:6x1x1", "takes the sizes nxm"},
        {"posv:float:0x1", "takes the sizes nxm"},
        {"posv:float:6X1", "takes the sizes nxm"},
        {"posv:float:-6x1", "takes the sizes nxm"},
        {"posv:float:99999999999999999999x1", "takes the sizes nxm"},
        {"dot:float:3x3", "dot takes the sizes n, such as dot:double:6"},
        {"gemm:float:3x3", "gemm takes the sizes mxkxn, such as gemm:double:6x5x4"},
        {"posv:float:6x1:", "'' is no number of elements"},
        {"posv:float:6x1:0", "the number of elements is a number from 1 up, not '0'"},
        {"posv:float:6x1:1e6", "not '1e6'"},
        {"posv:float:6x1:5:6", "the number of elements is given twice"},
        {"posv:float:6x1:lanes=0", "lanes is a number from 1 up, not '0'"},
        {"posv:float:6x1:group=x", "group is a number from 1 up, not 'x'"},
        {"posv:float:6x1:group=8:group=8", "group is given twice"},
        {"posv:float:6x1:registers:item", "two models are given"},
        {"posv:float:6x1:plane", "'plane' is no number of elements"},
        {"posv:float:6x1:blocks", "'blocks' is no"},
        {"posv:float:6x1:blocks/0", "'blocks/0' is no"},
        {"posv:float:6x1:C=planes", "'C=planes' is no"},
        {"posv:float:6x1:A=plane", "'A=plane' is no"},
        {"posv:float:6x1:transpose", "'transpose' is no"},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        char message[BATCH_MESSAGE_SIZE], start[100];
        batch_spec spec;
        if (batch_spec_read(cases[i][0], &spec, message))
            fail_msg("'%s' was taken", cases[i][0]);
        assert_false(spec.is_file);
        batch_spec_free(&spec);
        snprintf(start, sizeof start, "%s: ", cases[i][0]);
        assert_int_equal(strncmp(message, start, strlen(start)), 0);
        expect_part(message, cases[i][1]);
    }
}

static void tool_batches_files(void **state)
{
    static const char whole[] = "# every line\n"
                                "\n"
                                "  # and blanks\n"
                                "operand A double 3x4 read blocks/8 stride=100\n"
                                "operand  v\tfloat4 5x1 write   planes\n"
                                "operand s int 1x1 read-write stride=2 \n"
                                "count 1000\nmodel interleaved\nlanes 4\ngroup 32\nargument float2\n"
                                "functions\n"
                                "float twice(float x)\n"
                                "{ return 2 * x; } // action\n"
                                "\n"
                                "action\n"
                                "# is no comment here\n"
                                "s(0, 0) += 1;\n";
    static const char ready[] = "ready gemm\noptions transpose-a conjugate-b\noptions transpose-b\n"
                                "operand A float 6x4 read\noperand B float 5x6 read\noperand C float 4x5 write";
    char message[BATCH_MESSAGE_SIZE], text[DESC_SIZE];
    batch_spec spec;
    place at = write_text("whole", whole);
    (void)state;
    if (!batch_spec_read(at.path, &spec, message))
        fail_msg("%s", message);
    assert_true(spec.is_file);
    print_desc(&spec.desc, text);
    assert_string_equal(text, "none 1000 interleaved 0/4/32 a:float2, A double 3x4 r blocks/8/100, "
                              "v float4 5x1 w planes/0/0, s int 1x1 rw elements/0/2");
    assert_string_equal(spec.desc.functions, "float twice(float x)\n{ return 2 * x; } // action\n\n");
    assert_string_equal(spec.desc.action, "# is no comment here\ns(0, 0) += 1;\n");
    assert_int_equal(spec.functions_line, 13);
    assert_int_equal(spec.action_line, 17);
    batch_spec_free(&spec);
    at = write_text("ready", ready);
    if (!batch_spec_read(at.path, &spec, message))
        fail_msg("%s", message);
    print_desc(&spec.desc, text);
    assert_string_equal(text, "gemm 1 auto 11/0/0, A float 6x4 r, B float 5x6 r, C float 4x5 w");
    assert_null(spec.desc.action);
    batch_spec_free(&spec);
}

static void tool_batches_bad_files(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ":1: the file has no line 'action'"},
        {"count 5\noperand A float 1x1 read\n", ":3: the file has no line 'action'"},
        {"count 5\nactions\n", ":2: unknown word 'actions'"},
        {"#\n\nCount 5\n", ":3: unknown word 'Count'"},
        {"action \nx\n", ":1: unknown word 'action'"},
        {"count\n", ":1: count takes one word"},
        {"count 5 6\n", ":1: count takes one word"},
        {"count 0\n", ":1: count is a number from 1 up, not '0'"},
        {"count -1\n", ":1: count is a number"},
        {"count 99999999999999999999\n", ":1: count is a number"},
        {"count 5\n\ncount 5\n", ":3: a second line has count"},
        {"lanes x\n", ":1: lanes is a number"},
        {"group 1x\n", ":1: group is a number"},
        {"model Auto\n", ":1: unknown model 'Auto'"},
        {"ready nothing\n", ":1: unknown action 'nothing'"},
        {"ready none\n", ":1: unknown action 'none'"},
        {"ready potrf\nready potrf\n", ":2: a second line has ready"},
        {"ready gemm\noptions transpose-a upside-down\n", ":2: unknown option 'upside-down'"},
        {"operand\n", ":1: operand takes NAME TYPE ROWSxCOLS ACCESS"},
        {"operand A float 3x3\n", ":1: operand takes NAME TYPE ROWSxCOLS ACCESS"},
        {"operand A float 3 read\n", ":1: operand A has ROWSxCOLS components, such as 3x3, not '3'"},
        {"operand A float 3x0 read\n", ":1: operand A has ROWSxCOLS"},
        {"operand A float 3x3x3 read\n", ":1: operand A has ROWSxCOLS"},
        {"operand A float 3x3 rw\n", ":1: the access of operand A is read, write or read-write, not 'rw'"},
        {"operand A float 3x3 read plane\n", ":1: the layout of operand A is elements, planes or blocks/WIDTH"},
        {"operand A float 3x3 read blocks\n", ":1: the layout of operand A"},
        {"operand A float 3x3 read blocks/0\n", ":1: the layout of operand A"},
        {"operand A float 3x3 read stride=0\n", ":1: stride is a number from 1 up, not '0'"},
        {"operand A float 3x3 read stride=9 planes\n", ":1: 'planes' is one word too many for operand A"},
        {"operand A float 3x3 read planes 9\n", ":1: '9' is one word too many for operand A"},
        {"operand a int 1x1 read\noperand b int 1x1 read\noperand c int 1x1 read\noperand d int 1x1 read\n"
         "operand e int 1x1 read\noperand f int 1x1 read\noperand g int 1x1 read\noperand h int 1x1 read\n"
         "operand i int 1x1 read\n",
         ":9: more than 8 operands"},
        {"count 5\naction\n", ":2: no text follows the line 'action'"},
        {"count 5\naction\n \n\t\n", ":2: no text follows the line 'action'"},
        {"count 5\nfunctions\nint f(void);\n", ":2: functions has no text, or no line 'action' after it"},
        {"functions\naction\nx\n", ":1: functions has no text"},
        {"functions\nint f(void);\naction\n", ":3: no text follows the line 'action'"},
        {"count 5\nmodel auto\r\n", ":2: a carriage return"},
    };
    char message[BATCH_MESSAGE_SIZE];
    batch_spec spec;
    place at;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        at = write_text("bad", cases[i].text);
        if (batch_spec_read(at.path, &spec, message))
            fail_msg("'%s' was taken", cases[i].text);
        assert_true(spec.is_file);
        batch_spec_free(&spec);
        assert_int_equal(strncmp(message, at.path, strlen(at.path)), 0);
        if (strncmp(message + strlen(at.path), cases[i].expected, strlen(cases[i].expected)) != 0)
            fail_msg("'%s' is not in: %s", cases[i].expected, message);
    }
    FILE *stream = fopen(at.path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite("action\n\0x", 1, 9, stream), 9);
    fclose(stream);
    assert_false(batch_spec_read(at.path, &spec, message));
    batch_spec_free(&spec);
    expect_part(message, "zero byte");
    assert_false(batch_spec_read(directory, &spec, message));
    batch_spec_free(&spec);
    expect_part(message, "directory");
    assert_false(batch_spec_read(in_directory("none").path, &spec, message));
    batch_spec_free(&spec);
    expect_part(message, "none: No such file");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Commands */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Adds a multiple of a third of each component of x to y. */
static const char functions_text[] = "float third(float x)\n{\n    return x / 3;\n}\n";
static const char action_text[] = "for (uint i = 0; i < x_ROWS; ++i)\n    y(i, 0) += a * third(x(i, 0));\n";
#define ACTION_HEAD "operand x float 3x1 read planes\noperand y float 3x1 read-write\nargument float\n"
#define ACTION_FILE                                                                                                    \
    ACTION_HEAD "functions\nfloat third(float x)\n{\n    return x / 3;\n}\n"                                           \
                "action\nfor (uint i = 0; i < x_ROWS; ++i)\n    y(i, 0) += a * third(x(i, 0));\n"

static void tool_batches_plan(void **state)
{
    const place file = write_text("own.action", ACTION_FILE);
    (void)state;
    run_tool(0, "plan", "--action", "potrf:float:5:700");
    expect_part(output, "700 elements of 104 bytes, model ");
    expect_part(output, "\nA: 5 x 5 of float, read and written, layout elements, stride 25\n");
    assert_string_equal(errors, "");
    run_tool(0, "plan", "--action", file.path, "--json");
    expect_part(output, "own.action\", \"count\": 1, \"description\": [\"1 elements of 24 bytes");
    expect_part(output, "\"x: 3 x 1 of float, read, layout planes, stride 1\"");
    run_tool(0, "source", "--action", file.path);
    expect_part(output, functions_text);
    expect_part(output, action_text);
    expect_part(output, "__kernel");
    run_tool(1, "plan", "--action", in_directory("none").path);
    expect_part(errors, "none: No such file");
    run_tool(1, "plan", "--action", "potrf:int:5");
    expect_part(errors, "ipt: potrf:int:5: action potrf begins with an operand of type int: float, double");
    run_tool(1, "plan", "--action", "potrf:float:5:upper");
    expect_part(errors, "ipt: potrf:float:5:upper: ");
    run_tool(1, "plan", "--action", write_text("line", "count 5\nwhat\n").path);
    expect_part(errors, "line:2: unknown word 'what'");
}

static void tool_batches_bad_command_lines(void **state)
{
    static const struct {
        const char *words[8], *expected;
    } cases[] = {
        {{"plan", "--action"}, "--action needs a value: ACTION"},
        {{"plan", "--action", "possv:float:6x1"}, "ipt: possv:float:6x1: unknown action 'possv'"},
        {{"plan", "24x20:4", "--action", "potrf:float:5"}, "'plan' takes one shape or one --action"},
        {{"source", "--action", "potrf:float:5", "--action", "potrf:float:5"}, "one shape or one --action"},
        {{"plan", "--action", "potrf:float:5", "--batch", "3"}, "--batch is for matrices: --action has none"},
        {{"plan", "--action", "potrf:float:5", "--measure"}, "--measure is for matrices"},
        {{"plan", "--action", "potrf:float:5", "--axes", "1,0"}, "--axes is for matrices"},
        {{"source", "--action", "potrf:float:5", "--move", "rotate-90"}, "--move is for matrices"},
        {{"precompile", "--action", "potrf:float:5"}, "needs --output DIR, --embed FILE.h or both"},
        {{"precompile", "--action", "potrf:float:5", "--out-of-place", "-o", "d"}, "--out-of-place is for matrices"},
        {{"precompile", "--action", "potrf:float:5", "--shapes", "s", "24x20:4", "-o"}, "-o needs a value"},
        {{"precompile", "--action", "potrf:float:0", "--embed", "@h.h"}, "potrf takes the sizes n"},
        {{"bench", "24x20:4", "--action", "potrf:float:5"}, "no option '--action'"},
        {{"tune", "--action", "potrf:float:5"}, "no option '--action'"},
    };
    const char *words[10] = {process_tool()};
    const place header = in_directory("h.h");
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        for (size_t k = 0; k < 8; ++k)
            words[k + 1] = cases[i].words[k] && cases[i].words[k][0] == '@' ? header.path : cases[i].words[k];
        if (run_words(words) != 2)
            fail_msg("case %zu: output %s, errors %s", i, output, errors);
        assert_string_equal(output, "");
        expect_part(errors, cases[i].expected);
        expect_part(errors, "\nTry 'ipt --help'.\n");
        assert_int_equal(access(header.path, F_OK), -1);
    }
}

/* An action that does not compile: the message contains the compiler's text and line, and lines of the file. */
static void tool_batches_build_log(void **state)
{
    static const char *const texts[][2] = {
        {"functions\nfloat third(float x)\n{\n    return x / 3;\n}\naction\n\ny(0, 0) = third(no_such_name);\n",
         "own.action, whose functions begin in line 5 and whose action in line 10: "},
        {"action\n\ny(0, 0) = no_such_name;\n", "own.action, whose action begins in line 5: "}};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(texts); ++i) {
        char text[1000];
        snprintf(text, sizeof text, ACTION_HEAD "%s", texts[i][0]);
        const place file = write_text("own.action", text);
        run_tool(1, "plan", "--action", file.path);
        expect_part(errors, texts[i][1]);
        expect_part(errors, "no_such_name");
        if (strstr(errors, "action:2:") == NULL && strstr(errors, "of the whole text") == NULL)
            fail_msg("no line is named: %s", errors);
        run_tool(1, "precompile", "--action", file.path, "-o", in_directory("folder").path);
        expect_part(errors, texts[i][1]);
        assert_int_equal(access(in_directory("folder").path, F_OK), -1);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Compiled programs */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { COUNT = 1000, ROWS = 3 };

/* Executes the plan of the action above. */
static void expect_results(ipt_batch *batch)
{
    static float x[ROWS][COUNT], y[COUNT][ROWS];
    void *const memory[] = {x, y};
    const float a = 6;
    for (size_t e = 0; e < COUNT; ++e)
        for (size_t i = 0; i < ROWS; ++i) {
            x[i][e] = (float)(3 * (e + i));
            y[e][i] = (float)i;
        }
    if (ipt_batch_execute_host(batch, memory, &a, NULL))
        fail_msg("%s", ipt_context_error(NULL));
    for (size_t e = 0; e < COUNT; ++e)
        for (size_t i = 0; i < ROWS; ++i)
            assert_true(y[e][i] == (float)(i + 6 * (e + i)));
}

/* With this folder of programs, a context builds the descs that the tool has compiled, for any count, and no others. */
static void expect_programs(const char *folder)
{
    const ipt_batch_operand own[] = {
        {.name = "x", .type = "float", .rows = ROWS, .access = IPT_READ, .layout = IPT_LAYOUT_PLANES},
        {.name = "y", .type = "float", .rows = ROWS, .access = IPT_READ_WRITE}};
    const ipt_batch_operand systems[] = {{.name = "A", .type = "float", .rows = 4, .cols = 4, .access = IPT_READ_WRITE},
                                         {.name = "B", .type = "float", .rows = 4, .cols = 2, .access = IPT_READ_WRITE},
                                         {.name = "info", .type = "int", .access = IPT_WRITE}};
    ipt_batch_desc desc = {.count = COUNT,
                           .operands = own,
                           .operand_count = 2,
                           .functions = functions_text,
                           .action = action_text,
                           .argument_type = "float",
                           .flags = IPT_CACHE_ONLY};
    ipt_batch_desc other = {
        .count = 77, .operands = systems, .operand_count = 3, .ready = IPT_ACTION_POSV, .flags = IPT_CACHE_ONLY};
    ipt_context_desc about = {.cache_dir = folder};
    ipt_context *context;
    ipt_batch *batch;
    assert_int_equal(ipt_context_create(&about, &context), IPT_SUCCESS);
    if (ipt_batch_create(context, &desc, &batch))
        fail_msg("%s", ipt_context_error(NULL));
    expect_results(batch);
    ipt_batch_destroy(batch);
    if (ipt_batch_create(context, &other, &batch))
        fail_msg("%s", ipt_context_error(NULL));
    ipt_batch_destroy(batch);
    other.ready = IPT_ACTION_POTRS;
    other.operand_count = 2;
    assert_int_equal(ipt_batch_create(context, &other, &batch), IPT_ERROR_CACHE_MISS);
    desc.action = "y(0, 0) = 1;";
    assert_int_equal(ipt_batch_create(context, &desc, &batch), IPT_ERROR_CACHE_MISS);
    ipt_context_destroy(context);
}

static void tool_batches_precompiled(void **state)
{
    const place file = write_text("own.action", ACTION_FILE), folder = in_directory("folder"),
                header = in_directory("own.h");
    (void)state;
    run_tool(0, "precompile", "--action", file.path, "--action=posv:float:4x2:5", "24x20:4", "--verbose", "-o",
             folder.path, "--embed", header.path);
    expect_part(output, "3 programs and the facts about the device, ");
    expect_part(errors, "\n2 of 2: posv:float:4x2:5 in ");
    expect_part(output, "\nelements unit_bytes=4 ");
    expect_programs(folder.path);
    read_text(header.path, output);
    expect_part(output, " precompile 24x20:4\n * --action ");
    expect_part(output, "\n * --action posv:float:4x2:5, for ");
    expect_part(output, "\nstatic const ipt_batch_desc own_batch_1 = {\n    5, own_operands_1, 3, IPT_ACTION_POSV, 0u, "
                        "NULL, NULL, NULL, IPT_MODEL_AUTO, IPT_METHOD_AUTO, 0, 0, 0, NULL, 0,\n};\n");
    expect_part(output, "\n    {\"x\", \"float\", 3, 1, IPT_READ, IPT_LAYOUT_PLANES, 0, 0},\n");
}

/* With IPT_CACHE_ONLY, IPT_MEASURE measures only models whose programs are in the cache, and compiles nothing. */
static void tool_batches_precompiled_for_measurements(void **state)
{
    const ipt_batch_operand operands[] = {
        {.name = "A", .type = "float", .rows = 3, .cols = 3, .access = IPT_READ_WRITE},
        {.name = "info", .type = "int", .access = IPT_WRITE}};
    ipt_batch_buffer buffers[2];
    ipt_batch_desc desc = {.count = COUNT,
                           .operands = operands,
                           .operand_count = 2,
                           .ready = IPT_ACTION_POTRF,
                           .flags = IPT_MEASURE | IPT_CACHE_ONLY,
                           .measure_buffers = buffers};
    const place folder = in_directory("folder"), empty = in_directory("empty");
    ipt_context_desc about = {.cache_dir = folder.path, .context = test_cl_context, .device = test_device};
    ipt_context *context;
    ipt_batch *batch;
    (void)state;
    run_tool(0, "precompile", "--action=potrf:float:3:registers", "--action=potrf:float:3:item",
             "--action=potrf:float:3:memory", "--action=potrf:float:3:interleaved", "--action=potrf:float:3:group",
             "--action=potrf:float:3:work-group", "--action=potrf:float:3:large", "-o", folder.path);
    for (int i = 0; i < 2; ++i) {
        buffers[i].buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, COUNT * (i ? 4 : 36), NULL, NULL);
        buffers[i].byte_offset = 0;
        assert_non_null(buffers[i].buffer);
    }
    const float one = 1;
    assert_int_equal(clEnqueueFillBuffer(test_queue, buffers[0].buffer, &one, sizeof one, 0, COUNT * 36, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clFinish(test_queue), CL_SUCCESS);
    assert_int_equal(ipt_context_create(&about, &context), IPT_SUCCESS);
    if (ipt_batch_create(context, &desc, &batch))
        fail_msg("%s", ipt_context_error(NULL));
    ipt_batch_destroy(batch);
    ipt_context_destroy(context);
    about.cache_dir = empty.path;
    assert_int_equal(ipt_context_create(&about, &context), IPT_SUCCESS);
    assert_int_equal(ipt_batch_create(context, &desc, &batch), IPT_ERROR_CACHE_MISS);
    ipt_context_destroy(context);
    clReleaseMemObject(buffers[0].buffer);
    clReleaseMemObject(buffers[1].buffer);
}

/* Compiles for a profile of the device, without the device, to clang's bitcode. */
static void tool_batches_precompiled_for_a_target(void **state)
{
    static const char wrong[] = ACTION_HEAD "action\n\ny(0, 0) = no_such_name;\n";
    const place file = write_text("own.action", ACTION_FILE), folder = in_directory("folder"),
                bad = write_text("bad.action", wrong);
    (void)state;
    run_tool(0, "devices", "--profile");
    const place profile = write_text("profile", output);
    const char *const words[] = {"env",
                                 "OCL_ICD_VENDORS=/nonexistent",
                                 process_tool(),
                                 "precompile",
                                 "--profile",
                                 profile.path,
                                 "--target",
                                 "bitcode",
                                 "--action",
                                 file.path,
                                 "--action",
                                 "posv:float:4x2",
                                 "-o",
                                 folder.path,
                                 NULL};
    if (run_words(words) != 0) {
        if (strstr(errors, "not installed: ") == NULL)
            fail_msg("%s", errors);
        test_skip("no compiler for bitcode is installed");
    }
    expect_part(output, "2 programs and the facts about the device, ");
    expect_programs(folder.path);
    run_tool(1, "precompile", "--profile", profile.path, "--target", "bitcode", "--action", bad.path, "-o",
             in_directory("none").path);
    expect_part(errors, "ipt: bitcode: ");
    expect_part(errors, "bad.action, whose action begins in line 5: ");
    expect_part(errors, "action:2:");
    assert_int_equal(access(in_directory("none").path, F_OK), -1);
    run_tool(0, "plan", "--profile", profile.path, "--action", file.path);
    expect_part(output, "x: 3 x 1 of float, read, layout planes");
}

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

const struct CMUnitTest test_batches[] = {
    TEST_CASE(tool_batches_words),
    TEST_CASE(tool_batches_bad_words),
    IN_DIRECTORY(tool_batches_files),
    IN_DIRECTORY(tool_batches_bad_files),
    IN_DIRECTORY(tool_batches_plan),
    IN_DIRECTORY(tool_batches_bad_command_lines),
    IN_DIRECTORY(tool_batches_build_log),
    IN_DIRECTORY(tool_batches_precompiled),
    IN_DIRECTORY(tool_batches_precompiled_for_measurements),
    IN_DIRECTORY(tool_batches_precompiled_for_a_target),
};
const size_t test_batches_count = TEST_COUNT(test_batches);
