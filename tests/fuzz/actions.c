/* The tool's words and files for --action, and the batch plans that they describe. The first byte chooses a simulated
 * device, and whether the rest is a file or the words after an action's name. A refusal names the word, or the file and
 * usually the line. A plan is created or refused with a message, and its program has the action's text. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#define IPT_OPENCL_DYNAMIC /* no OpenCL is loaded, so that a call would crash */
#include "ipt.h"
#include "fuzz.h"

#include "gen/tool/command/batch_spec.h"

enum { DEVICE_BITS = 7, FROM_FILE = 8, ACTION_SHIFT = 4, ACTIONS = IPT__ACTION_COUNT - 1 };

static void check_refusal(const char *name, const char *message)
{
    const size_t length = strlen(name), all = strlen(message);
    FUZZ_EXPECT(all > 0 && all < BATCH_MESSAGE_SIZE);
    if (length < 200) {
        FUZZ_EXPECT_WITH(all > length + 3 && strncmp(message, name, length) == 0 && message[length] == ':', message);
    }
}

static void check_desc(const batch_spec *spec, const fuzz_device *device)
{
    const ipt_batch_desc *const desc = &spec->desc;
    ipt_context *const context = fuzz_context(device);
    ipt_batch *batch;
    FUZZ_EXPECT(desc->count > 0 && desc->operands == spec->operands && desc->operand_count <= IPT_MAX_OPERANDS);
    for (size_t i = 0; i < desc->operand_count; ++i) {
        const ipt_batch_operand *const operand = &desc->operands[i];
        FUZZ_EXPECT(*operand->name != '\0' && operand->type != NULL && operand->rows > 0 && operand->cols > 0);
        FUZZ_EXPECT((operand->width > 0) == (operand->layout == IPT_LAYOUT_BLOCKS));
    }
    FUZZ_EXPECT(spec->is_file || (desc->ready != IPT_ACTION_NONE && desc->action == NULL));
    FUZZ_EXPECT((desc->action != NULL) == (spec->action_line > 0));
    FUZZ_EXPECT((desc->functions != NULL) == (spec->functions_line > 0));
    fuzz_forget_error();
    const ipt_result result = ipt_batch_create(context, desc, &batch);
    FUZZ_EXPECT_RESULT(result);
    FUZZ_EXPECT((result == IPT_SUCCESS) == (batch != NULL));
    if (batch != NULL) {
        const char *const source = ipt_batch_source(batch);
        FUZZ_EXPECT(*ipt_batch_describe(batch) != '\0' && source != NULL);
        FUZZ_EXPECT(desc->action == NULL || strstr(source, desc->action) != NULL);
        FUZZ_EXPECT(desc->functions == NULL || strstr(source, desc->functions) != NULL);
    }
    ipt_batch_destroy(batch);
    ipt_context_destroy(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, size};
    const unsigned mode = (unsigned)fuzz_take(&input, 1);
    char *const text = fuzz_copy(input.bytes, input.left, true), path[2 * FUZZ_PATH_SIZE], message[BATCH_MESSAGE_SIZE];
    const size_t length = strlen(text) + 20;
    char *const word = malloc(length);
    batch_spec spec;
    FUZZ_EXPECT(word != NULL);
    snprintf(word, length, "%s:%s", ipt_action_string((ipt_action)(1 + (mode >> ACTION_SHIFT) % ACTIONS)), text);
    if (mode & FROM_FILE) {
        fuzz_path(path, "own.action");
        fuzz_write_file(path, text, input.left);
    }
    const char *const name = mode & FROM_FILE ? path : word;
    memset(message, 0, sizeof message);
    if (batch_spec_read(name, &spec, message))
        check_desc(&spec, &fuzz_devices[(mode & DEVICE_BITS) % FUZZ_DEVICE_COUNT]);
    else
        check_refusal(name, message);
    FUZZ_EXPECT(spec.is_file == ((mode & FROM_FILE) != 0));
    batch_spec_free(&spec);
    free(word);
    free(text);
    return 0;
}

#ifdef FUZZ_MAKE_CORPUS

static void seed_text(const char *name, unsigned mode, const char *text)
{
    const size_t length = strlen(text);
    char *const seed = fuzz_copy(text, length + 1, false);
    memmove(seed + 1, seed, length);
    seed[0] = (char)mode;
    fuzz_seed(name, seed, length + 1);
    free(seed);
}

static void make_corpus(void)
{
    static const struct {
        const char *name, *text;
        ipt_action action; /* NONE: a file */
    } seeds[] = {
        {"dot", "float2:7:scaled", IPT_ACTION_DOT},
        {"gemv", "float:4x3:100:transpose-a:conjugate-a:planes", IPT_ACTION_GEMV},
        {"gemm", "double:4x6x5:1000000:transpose-b:A=blocks/32:C=planes", IPT_ACTION_GEMM},
        {"posv", "double:6x1:group:lanes=4:group=32", IPT_ACTION_POSV},
        {"trsm", "double2:32x8:upper:unit:work-group", IPT_ACTION_TRSM},
        {"getri", "float:5:interleaved:elements", IPT_ACTION_GETRI},
        {"own",
         "# a comment\n\noperand A float 3x3 read planes\noperand v float4 3x1 write stride=8\n"
         "operand s int 2x2 read-write blocks/8 stride=32\ncount 1000\nmodel registers\nargument float2\n"
         "functions\nfloat third(float x) { return x / 3; }\naction\ns(0, 0) = a.x + third(A(0, 0));\n",
         IPT_ACTION_NONE},
        {"short",
         "operand x uint 1x1 read-write\nmodel group\nlanes 8\ngroup 64\naction\nx(0, 0) = IPT_SUM(uint, 1);\n",
         IPT_ACTION_NONE},
        {"ready",
         "ready gemm\noptions transpose-a conjugate-b\noperand A float2 6x4 read\noperand B float2 6x5 read\n"
         "operand C float2 4x5 write",
         IPT_ACTION_NONE},
    };
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; ++i) {
        const unsigned device = (unsigned)(i % FUZZ_DEVICE_COUNT), action = (unsigned)seeds[i].action;
        seed_text(seeds[i].name, device | (action ? (action - 1) << ACTION_SHIFT : FROM_FILE), seeds[i].text);
    }
}

#endif
