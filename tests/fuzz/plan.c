/* Plans of any desc, for simulated devices. The bytes are the fields, in the sequence of the lists below, then the
 * device's numbers, unless the device is a known one, then an expression. A plan is created or refused with a message.
 * Its workspace suffices for its stages and respects the limit. The size that a refusal names suffices. */
#define _POSIX_C_SOURCE 200809L
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#define IPT_OPENCL_DYNAMIC /* no OpenCL is loaded, so that a call would crash */
#include "ipt.h"
#include "fuzz.h"

/* X(field): four bytes each, see take_size. */
#define SIZE_FIELD_LIST(X)                                                                                             \
    X(rows)                                                                                                            \
    X(cols)                                                                                                            \
    X(elem_size)                                                                                                       \
    X(batch)                                                                                                           \
    X(batch_stride)                                                                                                    \
    X(max_workspace)                                                                                                   \
    X(tile_m)                                                                                                          \
    X(tile_n)                                                                                                          \
    X(flag_spread)                                                                                                     \
    X(host_queues)                                                                                                     \
    X(max_device_memory)                                                                                               \
    X(max_host_memory)                                                                                                 \
    X(row_pitch)                                                                                                       \
    X(row_pitch_out)

/* X(field, type): a byte each, with its sign. */
#define ENUM_FIELD_LIST(X)                                                                                             \
    X(sequence, ipt_sequence)                                                                                          \
    X(variant_010, ipt_variant)                                                                                        \
    X(variant_100, ipt_variant)                                                                                        \
    X(variant_pad, ipt_variant)                                                                                        \
    X(from, ipt_format)                                                                                                \
    X(to, ipt_format)                                                                                                  \
    X(move, ipt_move)                                                                                                  \
    X(host, ipt_host)

enum {
    DEVICE_BITS = 0x07, /* above FUZZ_DEVICE_COUNT: a device of numbers in the input */
    MULTIPLES = 0x08,   /* multiplies rows and cols by their tiles, which then divide them */
    GAPS = 0x10,        /* batch_stride is the gap between the matrices, plus 1 */
    TWICE = 0x20,       /* makes the plan twice */
    EXPRESSION = 0x40,  /* an expression from the input */
    ROW_GAPS = 0x80,    /* row_pitch and row_pitch_out are the gaps between the rows, plus 1 */
    FEW_TEXTS = 8
};

/* A size. Quarters of the last byte's values select small numbers, large ones, numbers near powers of two, and numbers
 * near SIZE_MAX. */
static size_t take_size(fuzz_input *input)
{
    const size_t value = (size_t)fuzz_take(input, 3);
    const unsigned kind = (unsigned)fuzz_take(input, 1), shift = kind % 64;
    switch (kind / 64) {
    case 0:
        return value >> shift % 24;
    case 1:
        return value << shift;
    case 2:
        return ((size_t)1 << shift) + value % 257 - 128;
    default:
        return ~(size_t)0 - value;
    }
}

static size_t take_between(fuzz_input *input, size_t minimum, size_t maximum)
{
    return minimum + (size_t)fuzz_take(input, 4) % (maximum - minimum + 1);
}

static ipt_context *take_context(fuzz_input *input, unsigned mode)
{
    fuzz_device device = fuzz_devices[FUZZ_CPU];
    if ((mode & DEVICE_BITS) < FUZZ_DEVICE_COUNT)
        return fuzz_context(&fuzz_devices[mode & DEVICE_BITS]);
#define TAKE_LIMIT(type, field, minimum, maximum) device.limits.field = (type)take_between(input, minimum, maximum);
#define TAKE_FINDING(type, field, minimum, maximum) device.found.field = (type)take_between(input, minimum, maximum);
    IPT__LIMIT_LIST(TAKE_LIMIT)
    IPT__FINDING_LIST(TAKE_FINDING)
    while (device.limits.group_size & (device.limits.group_size - 1)) /* a power of two, as in profiles */
        device.limits.group_size &= device.limits.group_size - 1;
    return fuzz_context(&device);
}

static void take_desc(fuzz_input *input, unsigned mode, ipt_plan_desc *desc)
{
    memset(desc, 0, sizeof *desc);
#define TAKE_SIZE(field) desc->field = take_size(input);
#define TAKE_ENUM(field, type) desc->field = (type)(int8_t)fuzz_take(input, 1);
    SIZE_FIELD_LIST(TAKE_SIZE)
    ENUM_FIELD_LIST(TAKE_ENUM)
    desc->flags = (unsigned)fuzz_take(input, 1);
    if (mode & MULTIPLES) {
        desc->rows *= desc->tile_m ? desc->tile_m : 1;
        desc->cols *= desc->tile_n ? desc->tile_n : 1;
    }
    if ((mode & GAPS) && desc->batch_stride)
        desc->batch_stride += desc->rows * desc->cols * desc->elem_size - 1;
    if ((mode & ROW_GAPS) && desc->row_pitch)
        desc->row_pitch += desc->cols * desc->elem_size - 1;
    if ((mode & ROW_GAPS) && desc->row_pitch_out)
        desc->row_pitch_out += desc->rows * desc->elem_size - 1;
}

/* Takes a known expression, perhaps with an argument of a known type. */
static void take_known_expression(fuzz_input *input, ipt_plan_desc *desc)
{
    static const char *const texts[FEW_TEXTS][2] = {{NULL, NULL},      {"x * x", "float"}, {"x + 1", "uchar"},
                                                    {"x.yx", "uint2"}, {"~x", "ulong"},    {"x", "float3"},
                                                    {"x\n", "uint"},   {"", "uint"}};
    static const char *const types[3] = {NULL, "uchar16", "float8"};
    const unsigned which = (unsigned)fuzz_take(input, 1);
    desc->expression = texts[which % FEW_TEXTS][0];
    desc->expression_type = texts[which % FEW_TEXTS][1];
    if (which / FEW_TEXTS % 4) {
        desc->expression_argument = "1234567890123456";
        desc->expression_argument_type = types[which / FEW_TEXTS % 4 - 1];
    }
}

/* The two texts at the end of the input, which the caller frees. */
static char *take_expression(fuzz_input *input, ipt_plan_desc *desc)
{
    char *texts = fuzz_copy(input->bytes, input->left, true);
    const size_t length = strlen(texts);
    desc->expression_type = texts;
    desc->expression = length < input->left ? texts + length + 1 : NULL;
    return texts;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Properties of every plan */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Sizes are compared as long double, which does not overflow, but rounds. */
static bool at_most(long double a, long double b)
{
    return a <= b * 1.0000000001L;
}

/* Bands and ranges lie in the matrix, the saved rest and slabs in the workspace. Waves of one launch share a slab. */
static void expect_bands(const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__bands *const bands = &stage->as.bands;
    const long double size = (long double)plan->problem.desc.elem_size;
    FUZZ_EXPECT(bands->number > 0 && bands->number == stage->instances && bands->height > 0 && bands->width > 0);
    FUZZ_EXPECT(bands->rows == bands->number * bands->height + bands->rest_rows);
    const size_t block = bands->together ? ipt__bands_block(&plan->problem, bands->tall, bands->height) : 1;
    FUZZ_EXPECT(bands->cols == bands->number * bands->width + bands->rest_cols);
    FUZZ_EXPECT(bands->rest_cols < bands->number * block && bands->width % block == 0);
    FUZZ_EXPECT(at_most(bands->rows, bands->tall ? stage->rows : stage->cols));
    const long double rest_rows = (long double)bands->rest_rows * (long double)bands->cols,
                      rest_cols = (long double)bands->rest_cols * (long double)bands->rows,
                      saved = (long double)plan->device->layout.saved_elements;
    FUZZ_EXPECT(at_most(bands->saves_rows ? rest_rows : rest_cols, saved));
    if (!plan->problem.pitched) /* the larger rest is saved */
        FUZZ_EXPECT(at_most(rest_rows, saved) && at_most(rest_cols, saved));
    if (bands->together)
        FUZZ_EXPECT(plan->device->layout.cooperative && bands->chunks > 0 && bands->positions >= bands->number);
    else
        FUZZ_EXPECT(stage->kernels[1] >= 0 && stage->kernels[1] < plan->device->kernel_count &&
                    stage->matrices_at_once > 0 &&
                    at_most((long double)bands->height * (long double)bands->cols * size *
                                (long double)(bands->workers ? 1 : stage->matrices_at_once),
                            (long double)(plan->device->layout.workspace - plan->device->layout.scratch_offset)));
}

static void expect_stage(const ipt_plan *plan, const ipt__stage *stage)
{
    const long double elements = (long double)plan->problem.desc.rows * (long double)plan->problem.desc.cols;
    const bool by_bands = stage->kind == IPT__STAGE_EXCHANGE; /* instances are the bands of one grid */
    const long double grid = (long double)(by_bands ? 1 : stage->instances) * (long double)stage->rows *
                             (long double)stage->cols * (long double)stage->length;
    const long double slab = (long double)stage->rows * (long double)stage->cols * (long double)stage->length *
                             (long double)plan->problem.desc.elem_size;
    FUZZ_EXPECT(stage->instances > 0 && stage->rows > 0 && stage->cols > 0 && stage->length > 0);
    FUZZ_EXPECT(at_most(grid, elements));
    FUZZ_EXPECT(stage->kernels[0] >= 0 && stage->kernels[0] < plan->device->kernel_count);
    switch (stage->kind) {
    case IPT__STAGE_WAVE:
        FUZZ_EXPECT(stage->kernels[1] >= 0 && stage->kernels[1] < plan->device->kernel_count);
        FUZZ_EXPECT(stage->matrices_at_once > 0 && stage->instances_at_once > 0);
        FUZZ_EXPECT(at_most(slab * (long double)stage->matrices_at_once * (long double)stage->instances_at_once,
                            (long double)(plan->device->layout.workspace - plan->device->layout.scratch_offset)));
        break;
    case IPT__STAGE_SHUFFLE:
        FUZZ_EXPECT(stage->as.shuffle.piece_units > 0 && stage->as.shuffle.pieces > 0);
        FUZZ_EXPECT(at_most((long double)stage->length * (long double)plan->problem.element_units,
                            (long double)stage->as.shuffle.piece_units * (long double)stage->as.shuffle.pieces));
        FUZZ_EXPECT(stage->matrices_at_once > 0 && stage->instances_at_once > 0);
        if (!stage->as.shuffle.pairs &&
            !(stage->as.shuffle.chains && plan->device->layout.cooperative)) /* a bit for each slot */
            FUZZ_EXPECT(at_most((long double)stage->rows * (long double)stage->cols / 8 *
                                    (long double)stage->as.shuffle.pieces * (long double)stage->matrices_at_once *
                                    (long double)stage->instances_at_once,
                                (long double)(plan->device->layout.workspace - plan->device->layout.scratch_offset)));
        break;
    case IPT__STAGE_TILE:
        if (!stage->as.tile.pack_bytes)
            FUZZ_EXPECT(at_most(slab, (long double)plan->context->limits.local_memory));
        break;
    case IPT__STAGE_SWAP:
        FUZZ_EXPECT(stage->rows == stage->cols);
        break;
    case IPT__STAGE_EXCHANGE:
        expect_bands(plan, stage);
        break;
    case IPT__STAGE_PANEL:
        FUZZ_EXPECT(plan->device->panel != NULL && stage->as.panel.x > 0 && stage->as.panel.y > 0 &&
                    stage->as.panel.blocks <= 4);
        FUZZ_EXPECT(stage->as.panel.x * stage->as.panel.across >= (stage->as.panel.tall ? stage->cols : stage->rows));
        break;
    default:
        break;
    }
}

static void expect_workspace(const ipt_plan *plan, const ipt_plan_desc *desc)
{
    const ipt__layout *layout = &plan->device->layout;
    const size_t workspace = ipt_plan_workspace(plan);
    const long double matrices = (long double)plan->problem.desc.rows * (long double)plan->problem.desc.cols *
                                 (long double)plan->problem.desc.elem_size * (long double)plan->problem.desc.batch;
    const long double saved = (long double)layout->saved_elements * (long double)plan->problem.desc.elem_size *
                              (long double)plan->problem.desc.batch;
    FUZZ_EXPECT(workspace == layout->workspace && workspace >= layout->scratch_offset);
    FUZZ_EXPECT(at_most(saved, (long double)layout->saved_bytes) && layout->saved_bytes <= layout->scratch_offset);
    if (desc->max_workspace > 1)
        FUZZ_EXPECT(workspace <= desc->max_workspace);
    if (desc->max_workspace == 0)
        FUZZ_EXPECT(workspace <= 1 << 20 || at_most((long double)workspace, matrices / 100));
}

/* A plan without a device has texts, and cannot execute. */
static void expect_texts(ipt_plan *plan)
{
    const char *description = ipt_plan_describe(plan), *source;
    const size_t length = strlen(description);
    char matrix = 0;
    size_t i;
    FUZZ_EXPECT(length > 0 && length < IPT__DESCRIPTION_BYTES);
    FUZZ_EXPECT(description[length - 1] == '\n' || length + 1 == IPT__DESCRIPTION_BYTES);
    for (i = 0; (source = ipt_plan_source(plan, i)) != NULL; ++i)
        FUZZ_EXPECT(strstr(source, "__kernel") != NULL);
    FUZZ_EXPECT(i == (size_t)plan->device->kernel_count);
    FUZZ_EXPECT(ipt_plan_storage_memory(plan) == 0);
    fuzz_forget_error();
    FUZZ_EXPECT(ipt_plan_execute_host(plan, &matrix) == IPT_ERROR_UNSUPPORTED && *ipt_context_error(NULL) != '\0');
    FUZZ_EXPECT(ipt_plan_execute(plan, NULL, NULL, 0, 0, NULL, NULL) != IPT_SUCCESS);
}

static void expect_plan(ipt_plan *plan, const ipt_plan_desc *desc)
{
    size_t rows, cols;
    ipt_plan_padding(plan, &rows, &cols);
    if (!(desc->flags & IPT_PAD))
        FUZZ_EXPECT(rows == 0 && cols == 0);
    FUZZ_EXPECT(plan->device->layout.stage_count >= 0 && plan->device->layout.stage_count <= IPT__MAX_STAGES);
    for (int i = 0; i < plan->device->layout.stage_count; ++i)
        expect_stage(plan, &plan->device->layout.stages[i]);
    expect_workspace(plan, desc);
    expect_texts(plan);
}

/* Checks that the workspace that a refusal recommends suffices or, without a recommendation, that no workspace does. */
static void follow_advice(ipt_context *context, const ipt_plan_desc *desc)
{
    const char *sentence = ipt_context_error(NULL), *advice = strrchr(sentence, ':');
    ipt_plan_desc other = *desc;
    ipt_plan *plan;
    if (strncmp(sentence, "max_workspace allows ", 21) != 0)
        return;
    if (strstr(sentence, "; more does not help: ") != NULL) {
        other.max_workspace = SIZE_MAX;
        FUZZ_EXPECT_WITH(ipt_plan_create(context, &other, &plan) != IPT_SUCCESS, ipt_plan_describe(plan));
        return;
    }
    FUZZ_EXPECT_WITH(advice != NULL, sentence);
    FUZZ_EXPECT_WITH(sscanf(advice, ": max_workspace = %zu would do", &other.max_workspace) == 1, sentence);
    FUZZ_EXPECT_WITH(other.max_workspace > desc->max_workspace, sentence);
    if (ipt_plan_create(context, &other, &plan) == IPT_SUCCESS)
        expect_plan(plan, &other);
    else /* a later check refuses for another reason */
        FUZZ_EXPECT_WITH(strncmp(ipt_context_error(NULL), "max_workspace", 13) != 0, ipt_context_error(NULL));
    ipt_plan_destroy(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, size};
    const unsigned mode = (unsigned)fuzz_take(&input, 1);
    ipt_plan_desc desc;
    take_desc(&input, mode, &desc);
    take_known_expression(&input, &desc);
    ipt_context *context = take_context(&input, mode);
    char *own = mode & EXPRESSION ? take_expression(&input, &desc) : NULL;
    for (int i = 0; i < ((mode & TWICE) ? 2 : 1); ++i) {
        static char first[sizeof ipt__error_text];
        ipt_plan *plan = (ipt_plan *)(void *)&desc;
        fuzz_forget_error();
        const ipt_result result = ipt_plan_create(context, &desc, &plan);
        FUZZ_EXPECT_RESULT(result);
        FUZZ_EXPECT(result == IPT_SUCCESS || result == IPT_ERROR_INVALID_ARGUMENT || result == IPT_ERROR_UNSUPPORTED);
        FUZZ_EXPECT((result == IPT_SUCCESS) == (plan != NULL));
        const char *text = plan != NULL ? ipt_plan_describe(plan) : ipt_context_error(NULL);
        if (i > 0)
            FUZZ_EXPECT_WITH(strcmp(text, first) == 0, text);
        snprintf(first, sizeof first, "%s", text);
        if (plan != NULL)
            expect_plan(plan, &desc);
        else
            follow_advice(context, &desc);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
    free(own);
    return 0;
}

#ifdef FUZZ_MAKE_CORPUS

/* The inverse of take_size, for the sizes that it can return. */
static size_t put_size(uint8_t *at, size_t value)
{
    unsigned kind = 0;
    if (value >= (size_t)1 << 24)
        for (kind = 64; value >= (size_t)1 << 24; ++kind) {
            FUZZ_EXPECT(value % 2 == 0);
            value /= 2;
        }
    ipt__put(at, value, 3);
    at[3] = (uint8_t)kind;
    return 4;
}

static void seed_desc(const char *name, unsigned mode, const ipt_plan_desc *desc, unsigned expression)
{
    uint8_t seed[256] = {(uint8_t)mode};
    size_t length = 1;
#define PUT_SIZE(field) length += put_size(seed + length, desc->field);
#define PUT_ENUM(field, type) seed[length++] = (uint8_t)desc->field;
    SIZE_FIELD_LIST(PUT_SIZE)
    ENUM_FIELD_LIST(PUT_ENUM)
    seed[length++] = (uint8_t)desc->flags;
    seed[length++] = (uint8_t)expression;
    if ((mode & DEVICE_BITS) >= FUZZ_DEVICE_COUNT) {
        const fuzz_device *device = &fuzz_devices[FUZZ_NVIDIA];
#define PUT_LIMIT(type, field, minimum, maximum)                                                                       \
    ipt__put(seed + length, (cl_ulong)device->limits.field - (minimum), 4);                                            \
    length += 4;
#define PUT_FINDING(type, field, minimum, maximum)                                                                     \
    ipt__put(seed + length, (cl_ulong)device->found.field - (minimum), 4);                                             \
    length += 4;
        IPT__LIMIT_LIST(PUT_LIMIT)
        IPT__FINDING_LIST(PUT_FINDING)
    }
    fuzz_seed(name, seed, length);
}

static void make_corpus(void)
{
    static const struct {
        unsigned mode, expression;
        ipt_plan_desc desc;
    } seeds[] = {
        {FUZZ_CPU, 0, {.rows = 24, .cols = 20, .elem_size = 4}},
        {FUZZ_CPU, 0, {.rows = 1021, .cols = 37, .elem_size = 12, .batch = 3}},
        {FUZZ_CPU | GAPS, 0, {.rows = 37, .cols = 3001, .elem_size = 1, .batch = 5, .batch_stride = 9}},
        {FUZZ_CPU, 0, {.rows = 4096, .cols = 4096, .elem_size = 8, .max_workspace = 1}},
        {FUZZ_NVIDIA, 0, {.rows = 600, .cols = 700, .elem_size = 4}},
        {FUZZ_NVIDIA, 1, {.rows = 20000, .cols = 999, .elem_size = 4, .max_workspace = 400000}},
        {FUZZ_NVIDIA | TWICE, 0, {.rows = 50, .cols = 1000000, .elem_size = 2, .flags = IPT_NO_COOPERATIVE}},
        {FUZZ_NVIDIA, 0, {.rows = 1048576, .cols = 12, .elem_size = 16, .flags = IPT_OUT_OF_PLACE}},
        {FUZZ_NVIDIA_UNKNOWN, 0, {.rows = 3001, .cols = 97, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS}},
        {FUZZ_SUB_GROUPS, 0, {.rows = 97, .cols = 3001, .elem_size = 2, .max_workspace = 5000}},
        {FUZZ_PLAIN_GPU, 0, {.rows = 300, .cols = 300, .elem_size = 4, .sequence = IPT_SEQUENCE_SQUARE}},
        {FUZZ_PLAIN_GPU, 0, {.rows = 301, .cols = 900, .elem_size = 4, .sequence = IPT_SEQUENCE_EXCHANGE}},
        {FUZZ_CPU, 0, {.rows = 900, .cols = 301, .elem_size = 3, .sequence = IPT_SEQUENCE_EXCHANGE, .tile_m = 7}},
        {FUZZ_NVIDIA, 0, {.rows = 9000, .cols = 7001, .elem_size = 4, .sequence = IPT_SEQUENCE_EXCHANGE}},
        {FUZZ_CPU, 0, {.rows = 33554432, .cols = 33554430, .elem_size = 6553, .max_workspace = 15}},
        {FUZZ_PLAIN_GPU, 4, {.rows = 64, .cols = 64, .elem_size = 8, .move = IPT_MOVE_ROTATE_180}},
        {FUZZ_TINY, 0, {.rows = 77, .cols = 53, .elem_size = 16, .move = IPT_MOVE_ROTATE_90}},
        {FUZZ_DEVICE_COUNT, 0, {.rows = 9000, .cols = 400, .elem_size = 4}},
        {FUZZ_DEVICE_COUNT, 0, {.rows = 400, .cols = 90000, .elem_size = 4, .batch = 7}},
        {FUZZ_CPU, 0, {.rows = 480, .cols = 640, .elem_size = 4, .sequence = IPT_SEQUENCE_1}},
        {FUZZ_CPU | ROW_GAPS, 0, {.rows = 480, .cols = 640, .elem_size = 3, .row_pitch = 129, .row_pitch_out = 97}},
        {FUZZ_NVIDIA | ROW_GAPS, 0, {.rows = 4000, .cols = 6001, .elem_size = 1, .row_pitch = 145, .row_pitch_out = 1}},
        {FUZZ_NVIDIA | ROW_GAPS, 0, {.rows = 1080, .cols = 1920, .elem_size = 8, .row_pitch = 9, .row_pitch_out = 9}},
        {FUZZ_PLAIN_GPU | ROW_GAPS,
         0,
         {.rows = 97, .cols = 4001, .elem_size = 4, .batch = 3, .row_pitch = 13, .move = IPT_MOVE_ROTATE_90}},
        {FUZZ_CPU | MULTIPLES,
         0,
         {.rows = 30, .cols = 20, .elem_size = 4, .sequence = IPT_SEQUENCE_2_1, .tile_m = 16, .tile_n = 32}},
        {FUZZ_CPU | MULTIPLES,
         0,
         {.rows = 30, .cols = 20, .elem_size = 4, .sequence = IPT_SEQUENCE_4_3, .tile_m = 16, .tile_n = 32}},
        {FUZZ_NVIDIA | MULTIPLES,
         0,
         {.rows = 30,
          .cols = 20,
          .elem_size = 4,
          .sequence = IPT_SEQUENCE_3_1,
          .tile_m = 16,
          .tile_n = 32,
          .variant_010 = IPT_VARIANT_PTTWAC_010_PADDED,
          .variant_100 = IPT_VARIANT_PTTWAC_100_SIMD_REGISTERS,
          .flag_spread = 8}},
        {FUZZ_NVIDIA,
         0,
         {.rows = 480,
          .cols = 640,
          .elem_size = 8,
          .sequence = IPT_SEQUENCE_4_1,
          .variant_010 = IPT_VARIANT_P_IPT_GROUP,
          .variant_100 = IPT_VARIANT_P_IPT_ITEM}},
        {FUZZ_NVIDIA, 0, {.rows = 50, .cols = 30, .elem_size = 4, .batch = 99, .variant_010 = IPT_VARIANT_BS_ITEM}},
        {FUZZ_NVIDIA, 0, {.rows = 997, .cols = 613, .elem_size = 4, .flags = IPT_PAD}},
        {FUZZ_CPU,
         0,
         {.rows = 997, .cols = 61, .elem_size = 4, .flags = IPT_PAD, .variant_pad = IPT_VARIANT_PAD_CHAINED}},
        {FUZZ_CPU | MULTIPLES,
         0,
         {.rows = 30,
          .cols = 20,
          .elem_size = 4,
          .tile_m = 8,
          .tile_n = 4,
          .from = IPT_FORMAT_RRRB,
          .to = IPT_FORMAT_CCRB}},
        {FUZZ_NVIDIA | MULTIPLES,
         0,
         {.rows = 1000, .cols = 7, .elem_size = 4, .tile_m = 32, .from = IPT_FORMAT_AOS, .to = IPT_FORMAT_ASTA}},
        {FUZZ_CPU, 0, {.rows = 1000, .cols = 700, .elem_size = 4, .max_device_memory = 100000}},
        {FUZZ_CPU, 0, {.rows = 1000, .cols = 700, .elem_size = 4, .max_host_memory = 100000}},
        {FUZZ_CPU, 0, {.rows = (size_t)1 << 40, .cols = (size_t)1 << 22, .elem_size = 2}},
        {FUZZ_NVIDIA, 0, {.rows = 1, .cols = 1000, .elem_size = 3, .flags = IPT_MEASURE}},
        {FUZZ_CPU, 0, {.rows = 10, .cols = 10, .elem_size = 4, .host = IPT_HOST_STAGES, .host_queues = 64}}};
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; ++i) {
        char name[32];
        snprintf(name, sizeof name, "desc_%02u", (unsigned)i);
        seed_desc(name, seeds[i].mode, &seeds[i].desc, seeds[i].expression);
    }
}

#endif
