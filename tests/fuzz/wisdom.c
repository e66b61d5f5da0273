/* Texts of wisdom and profiles of devices. The first byte chooses the kind and the function that reads it. An accepted
 * text can be exported and imported again with the same result. A refused text changes nothing and gives the reason.
 * Plans that use the text respect the workspace limit. */
#define _POSIX_C_SOURCE 200809L
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#define IPT_OPENCL_DYNAMIC /* no OpenCL is loaded, so that a call would crash */
#include "ipt.h"
#include "fuzz.h"

enum { PROFILE = 1, FROM_FILE = 2, TEXT_MOST = 1 << 16 };

/* A context's wisdom or profile. The caller frees it. */
static char *text_of(ipt_context *context,
                     ipt_result (*write_text)(ipt_context *context, char *text, size_t capacity, size_t *bytes))
{
    size_t bytes = 0, again = 0;
    char few[8];
    FUZZ_EXPECT(write_text(context, few, sizeof few, &bytes) == IPT_ERROR_INVALID_ARGUMENT && *few == '\0');
    FUZZ_EXPECT(bytes > sizeof few);
    char *text = malloc(bytes);
    FUZZ_EXPECT(text != NULL && write_text(context, text, bytes, &again) == IPT_SUCCESS);
    FUZZ_EXPECT(again == bytes && strlen(text) == bytes - 1);
    return text;
}

/* Makes a plan of a shape, and checks its workspace against the limit. */
static void make_plan(ipt_context *context, const ipt_plan_desc *desc)
{
    ipt_plan *plan;
    fuzz_forget_error();
    const ipt_result result = ipt_plan_create(context, desc, &plan);
    FUZZ_EXPECT_RESULT(result);
    if (result == IPT_SUCCESS && desc->max_workspace > 1)
        FUZZ_EXPECT(ipt_plan_workspace(plan) <= desc->max_workspace);
    if (result == IPT_SUCCESS)
        FUZZ_EXPECT(*ipt_plan_describe(plan) != '\0');
    ipt_plan_destroy(plan);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Wisdom */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Gives the context a line of wisdom before the test. */
static void know_something(ipt_context *context)
{
    ipt__wisdom line;
    memset(&line, 0, sizeof line);
    line.rows = 611;
    line.cols = 370;
    line.elem_size = 4;
    line.batch = 1;
    line.batch_stride = line.rows * line.cols * line.elem_size;
    line.workspace = 1 << 20;
    line.length = 170;
    FUZZ_EXPECT(ipt__wisdom_add(context, &line));
}

/* Checks the numbers of accepted lines. */
static void expect_lines(const ipt_context *context)
{
    for (const ipt__wisdom *line = context->wisdom; line != NULL; line = line->next) {
        FUZZ_EXPECT(line->rows > 0 && line->cols > 0 && line->elem_size > 0 && line->batch > 0);
        FUZZ_EXPECT(line->length > 0 && (line->length <= line->rows || line->length <= line->cols));
        FUZZ_EXPECT(line->no_cooperative <= 1 && line->expression <= 1);
    }
}

/* Makes plans of the shapes in the last few lines, which then use the wisdom. */
static void use_wisdom(ipt_context *context)
{
    int plans = 0;
    for (const ipt__wisdom *line = context->wisdom; line != NULL && plans < 4; line = line->next, ++plans) {
        ipt_plan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.rows = line->rows;
        desc.cols = line->cols;
        desc.elem_size = line->elem_size;
        desc.batch = line->batch;
        desc.batch_stride = line->batch_stride;
        desc.max_workspace = line->workspace > 0 ? line->workspace : 1;
        desc.flags = line->no_cooperative ? IPT_NO_COOPERATIVE : 0;
        if (line->expression) {
            desc.expression = "x + 1";
            desc.expression_type = "uint";
        }
        make_plan(context, &desc);
    }
}

static void check_wisdom(const char *text, size_t size, bool from_file)
{
    ipt_context *context = fuzz_context(&fuzz_devices[FUZZ_NVIDIA]), *other;
    know_something(context);
    char *before = text_of(context, ipt_wisdom_export);
    char path[2 * FUZZ_PATH_SIZE];
    ipt_result result;
    fuzz_forget_error();
    if (from_file) {
        fuzz_path(path, "wisdom");
        fuzz_write_file(path, text, size);
        result = ipt_wisdom_import_file(context, path);
        if (strlen(text) != size)
            FUZZ_EXPECT(result == IPT_ERROR_INVALID_ARGUMENT);
    } else
        result = ipt_wisdom_import(context, text);
    FUZZ_EXPECT_RESULT(result);
    FUZZ_EXPECT(result == IPT_SUCCESS || result == IPT_ERROR_INVALID_ARGUMENT || result == IPT_ERROR_UNSUPPORTED);
    char *after = text_of(context, ipt_wisdom_export);
    if (result != IPT_SUCCESS)
        FUZZ_EXPECT(strcmp(before, after) == 0);
    other = fuzz_context(&fuzz_devices[FUZZ_NVIDIA]);
    FUZZ_EXPECT_WITH(ipt_wisdom_import(other, after) == IPT_SUCCESS, ipt_context_error(NULL));
    char *again = text_of(other, ipt_wisdom_export);
    FUZZ_EXPECT(strcmp(after, again) == 0);
    expect_lines(other);
    if (result == IPT_SUCCESS)
        use_wisdom(other);
    ipt_context_destroy(other);
    ipt_context_destroy(context);
    free(before);
    free(after);
    free(again);
    if (from_file)
        fuzz_empty_folder();
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Profiles */
/* ------------------------------------------------------------------------------------------------------------------ */

static ipt_result open_profile(const char *text, ipt_context **context)
{
    ipt_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.profile = text;
    fuzz_forget_error();
    const ipt_result result = ipt_context_create(&desc, context);
    FUZZ_EXPECT_RESULT(result);
    FUZZ_EXPECT((result == IPT_SUCCESS) == (*context != NULL));
    return result;
}

static void expect_ranges(const ipt_context *context)
{
#define EXPECT_RANGE(field, minimum, maximum)                                                                          \
    FUZZ_EXPECT((cl_ulong)(field) + 1 >= (cl_ulong)(minimum) + 1 && (cl_ulong)(field) <= (cl_ulong)(maximum));
#define EXPECT_LIMIT(type, field, minimum, maximum) EXPECT_RANGE(context->limits.field, minimum, maximum)
#define EXPECT_FINDING(type, field, minimum, maximum) EXPECT_RANGE(context->found.field, minimum, maximum)
    IPT__LIMIT_LIST(EXPECT_LIMIT)
    IPT__FINDING_LIST(EXPECT_FINDING)
}

/* Plans that depend on the device: whole matrices in local memory, two passes, squares, the papers' kernels. */
static void use_profile(ipt_context *context)
{
    static const ipt_plan_desc descs[] = {
        {.rows = 24, .cols = 20, .elem_size = 4, .batch = 100},
        {.rows = 1021, .cols = 37, .elem_size = 8},
        {.rows = 300, .cols = 300, .elem_size = 4, .max_workspace = 4096},
        {.rows = 480, .cols = 640, .elem_size = 4, .sequence = IPT_SEQUENCE_4_3, .tile_m = 16, .tile_n = 32},
        {.rows = 48, .cols = 64, .elem_size = 1, .flags = IPT_PAD},
        {.rows = 50, .cols = 70, .elem_size = 12, .variant_010 = IPT_VARIANT_BS_GROUP, .flags = IPT_OUT_OF_PLACE},
        {.rows = 512,
         .cols = 128,
         .elem_size = 4,
         .sequence = IPT_SEQUENCE_3_1,
         .variant_010 = IPT_VARIANT_PTTWAC_010,
         .variant_100 = IPT_VARIANT_PTTWAC_100_SIMD}};
    for (size_t i = 0; i < sizeof descs / sizeof descs[0]; ++i)
        make_plan(context, &descs[i]);
}

static void check_profile(const char *text)
{
    ipt_context *context, *other;
    if (open_profile(text, &context) != IPT_SUCCESS)
        return;
    char *written = text_of(context, ipt_context_profile);
    FUZZ_EXPECT_WITH(open_profile(written, &other) == IPT_SUCCESS, ipt_context_error(NULL));
    char *again = text_of(other, ipt_context_profile);
    FUZZ_EXPECT(strcmp(written, again) == 0);
    expect_ranges(context);
    use_profile(context);
    ipt_context_destroy(other);
    ipt_context_destroy(context);
    free(written);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, size};
    const unsigned mode = (unsigned)fuzz_take(&input, 1);
    char *text = fuzz_copy(input.bytes, input.left, true);
    if (mode & PROFILE)
        check_profile(text);
    else
        check_wisdom(text, input.left, (mode & FROM_FILE) != 0);
    free(text);
    return 0;
}

#ifdef FUZZ_MAKE_CORPUS

static void seed_text(const char *name, unsigned mode, const char *text)
{
    const size_t length = strlen(text);
    char *seed = fuzz_copy(text, length + 1, false);
    memmove(seed + 1, seed, length);
    seed[0] = (char)mode;
    fuzz_seed(name, seed, length + 1);
    free(seed);
}

static void make_corpus(void)
{
    static const size_t shapes[][9] = {/* the shapes in the lines */
                                       {1000, 777, 4, 1, 3108000, 1 << 20, 0, 0, 64},
                                       {777, 1000, 8, 3, 6216000, 1 << 20, 1, 0, 33},
                                       {50021, 19, 1, 1, 950399, 0, 0, 1, 2048},
                                       {65536, 4096, 16, 1, (size_t)1 << 32, 42949672, 0, 0, 128}};
    ipt_context *context = fuzz_context(&fuzz_devices[FUZZ_NVIDIA]);
    char *text = text_of(context, ipt_wisdom_export);
    seed_text("wisdom_empty", 0, text);
    free(text);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
        char name[32];
        ipt__wisdom line = {NULL,         shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3],
                            shapes[i][4], shapes[i][5], shapes[i][6], shapes[i][7], shapes[i][8]};
        FUZZ_EXPECT(ipt__wisdom_add(context, &line));
        text = text_of(context, ipt_wisdom_export);
        snprintf(name, sizeof name, "wisdom_%d", (int)i + 1);
        seed_text(name, i % 2 != 0 ? FROM_FILE : 0, text);
        free(text);
    }
    ipt_context_destroy(context);
    for (int i = 0; i < FUZZ_DEVICE_COUNT; ++i) {
        char name[32];
        context = fuzz_context(&fuzz_devices[i]);
        text = text_of(context, ipt_context_profile);
        snprintf(name, sizeof name, "profile_%d", i);
        seed_text(name, PROFILE, text);
        free(text);
        ipt_context_destroy(context);
    }
}

#endif
