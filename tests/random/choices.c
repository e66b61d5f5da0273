/* Prints what the planner chooses for random problems on simulated devices: a line for each case with checksums of the
 * plan's description, its kernels' texts and its launches, or of the refusal. Two trees make the same choices if they
 * print the same lines: tests/random/choices.sh compares these. Needs no device.
 *
 * Usage: choices [--cases COUNT] [--seed SEED]
 *        choices --case NUMBER [--seed SEED]     that case alone, described in words
 *        choices --texts FOLDER [--cases COUNT] [--seed SEED]
 *                                                writes the kernels' texts into a folder, and those of random batches:
 *                                                tests/random/kernels.sh compares their code */
#define _POSIX_C_SOURCE 200809L
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#define IPT_OPENCL_DYNAMIC /* planning needs no OpenCL */
#include "ipt.h"
#include "../fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) /* fuzz.h requires this function */
{
    (void)data;
    (void)size;
    return 0;
}

static uint64_t state;

/* Random, from 0 to limit - 1. The step and the shifts are those of splitmix64 (Steele, Lea, Flood 2014, section 4). */
static size_t below(size_t limit)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (size_t)((z ^ z >> 31) % limit);
}

static size_t pick(const size_t *values, size_t count)
{
    return values[below(count)];
}
#define PICK(...) pick((const size_t[]){__VA_ARGS__}, sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))

/* A random side from 1 on. All orders of magnitude are equally likely. A quarter are multiples of a power of two. */
static size_t side(void)
{
    const size_t bits = below(21), value = ((size_t)1 << bits) + below((size_t)1 << bits);
    return below(4) ? value : (value + 63) / 64 * 64;
}

static void draw_array(ipt_plan_desc *desc)
{
    desc->rank = (unsigned)(2 + below(5));
    for (unsigned i = 0; i < desc->rank; ++i) {
        const unsigned at = (unsigned)below(i + 1);
        desc->shape[i] = 1 + below(desc->rank > 4 ? 24 : 200);
        desc->axes[i] = desc->axes[at];
        desc->axes[at] = i;
    }
}

#ifndef IPT_NO_PAPERS
/* A sequence, formats or kernels of the papers, with blocks that divide the sides. */
static void draw_paper(ipt_plan_desc *desc)
{
    desc->tile_m = 1 + below(40);
    desc->tile_n = 1 + below(40);
    desc->rows = desc->tile_m * (1 + below(60));
    desc->cols = desc->tile_n * (1 + below(60));
    desc->sequence = (ipt_sequence)below(IPT__SEQUENCE_COUNT);
    if (below(3) == 0) {
        desc->from = (ipt_format)below(IPT__FORMAT_COUNT);
        desc->to = (ipt_format)below(IPT__FORMAT_COUNT);
    }
    if (below(2) == 0)
        desc->variant_010 = (ipt_variant)below(IPT__VARIANT_COUNT);
    if (below(2) == 0)
        desc->variant_100 = (ipt_variant)below(IPT__VARIANT_COUNT);
    if (below(4) == 0) {
        desc->flags |= IPT_PAD;
        desc->rows -= below(2) ? below(desc->tile_m) : 0;
    }
    desc->flag_spread = below(3) ? 0 : (size_t)1 << below(6);
}
#endif

/* The type for expressions on elements of this size; NULL: none. */
static const char *expression_type(size_t bytes)
{
    return bytes == 1    ? "uchar"
           : bytes == 2  ? "ushort"
           : bytes == 4  ? "float"
           : bytes == 8  ? "ulong"
           : bytes == 16 ? "float4"
                         : NULL;
}

static void draw(ipt_plan_desc *desc)
{
    static const char argument[16];
    memset(desc, 0, sizeof *desc);
    desc->elem_size = PICK(1, 2, 3, 4, 4, 4, 8, 8, 12, 16, 20, 24, 32, 100);
    desc->batch = PICK(0, 0, 0, 1, 2, 3, 17, 1000);
    if (below(5) == 0)
        desc->max_workspace = below(3) ? 1 + below(2000000) : 1;
    if (below(8) == 0)
        desc->flags = (unsigned)PICK(IPT_NO_COOPERATIVE, IPT_OUT_OF_PLACE);
    if (below(6) == 0) {
        draw_array(desc);
        return;
    }
#ifndef IPT_NO_PAPERS
    if (below(8) == 0) {
        draw_paper(desc);
        return;
    }
#endif
    desc->rows = side();
    desc->cols = below(5) ? side() : desc->rows;
    if (below(5) == 0)
        desc->move = (ipt_move)below(IPT__MOVE_COUNT);
    if (below(8) == 0)
        desc->sequence = (ipt_sequence)below(IPT__SEQUENCE_COUNT);
    if (below(8) == 0)
        desc->row_pitch = desc->cols * desc->elem_size + desc->elem_size * below(40);
    if (below(8) == 0)
        desc->row_pitch_out = desc->rows * desc->elem_size + desc->elem_size * below(40);
    if (below(8) == 0 && expression_type(desc->elem_size) != NULL) {
        desc->expression_type = expression_type(desc->elem_size);
        desc->expression_argument = below(2) ? argument : NULL;
        desc->expression = desc->expression_argument ? "x * a" : "x + x";
    }
}

/* The initial value of FNV-1a (Fowler, Noll, Vo). */
static const uint64_t nothing = 0xcbf29ce484222325u;

static uint64_t sum_bytes(uint64_t of, const void *memory, size_t bytes)
{
    const unsigned char *at = memory;
    for (; bytes; ++at, --bytes)
        of = (of ^ *at) * 0x100000001b3u;
    return of;
}

static uint64_t sum(uint64_t of, const char *text)
{
    return sum_bytes(of, text, strlen(text));
}

/* A checksum of launches, each with its kernel's own arguments. Launches have no pointers, and their padding is zero.
 */
static uint64_t sum_launches(uint64_t of, const ipt_plan *plan)
{
    static const ipt__launches none;
    if (plan == NULL)
        return of;
    const ipt__launches *const launches = plan->device != NULL ? &plan->device->launches : &none;
    of = sum_bytes(of, launches->stages, sizeof launches->stages);
    for (const ipt__launch *each = launches->items; each < launches->items + launches->count; ++each) {
        of = sum_bytes(of, each, offsetof(ipt__launch, arguments));
        if (each->kernel >= 0)
            of = sum_bytes(of, &each->arguments,
                           ipt__kernels[plan->device->kernels[each->kernel].program->id].arguments_bytes);
    }
    for (int i = 0; plan->passes != NULL && i < plan->passes->count; ++i)
        of = sum_launches(of, plan->passes->list[i].plan);
    return sum_launches(of, plan->device != NULL ? plan->device->narrow : NULL);
}

static void print_words(const ipt_plan_desc *desc, const char *device, const char *text)
{
    printf("%srows %zu, cols %zu, elem_size %zu, batch %zu, pitches %zu %zu, max_workspace %zu, flags %u, move %d, "
           "sequence %d%s",
           device, desc->rows, desc->cols, desc->elem_size, desc->batch, desc->row_pitch, desc->row_pitch_out,
           desc->max_workspace, desc->flags, (int)desc->move, (int)desc->sequence,
           desc->expression ? ", expression" : "");
    for (unsigned i = 0; i < desc->rank; ++i)
        printf("%s%zu:%u", i ? " " : ", shape and axes ", desc->shape[i], desc->axes[i]);
    printf("\n%s\n", text);
}

/* Begins a case: seeds its random numbers and chooses its device. */
static size_t begin(uint64_t seed, size_t number, ipt_context **context)
{
    static ipt_context *contexts[FUZZ_DEVICE_COUNT];
    state = seed * 0x2545f4914f6cdd1du + number;
    const size_t device = below(FUZZ_DEVICE_COUNT);
    if (contexts[device] == NULL)
        contexts[device] = fuzz_context(&fuzz_devices[device]);
    *context = contexts[device];
    return device;
}

/* Writes a kernel's text to FOLDER/<kernel>-<checksum of its definitions>.cl: the same name in both trees. */
static bool write_text(const char *folder, const char *text)
{
    const char *const end = strstr(text, "#define IPT_ARGUMENT_LIST"), *const name = strstr(text, "ipt_k_");
    const char *const definitions = strchr(text, '\n');
    char path[4096];
    if (end == NULL || name == NULL || definitions == NULL)
        return false;
    snprintf(path, sizeof path, "%s/%.*s-%016llx.cl", folder, (int)strcspn(name + 6, "("), name + 6,
             (unsigned long long)sum_bytes(nothing, definitions, (size_t)(end - definitions)));
    FILE *file = fopen(path, "r");
    if (file != NULL)
        return fclose(file) == 0;
    file = fopen(path, "w");
    return file != NULL && (fputs(text, file) >= 0) + (fclose(file) == 0) == 2;
}

/* Writes the text of a batch whose action uses an operand of a few components. */
static bool write_batch(const char *folder, ipt_context *context)
{
    static const char *const types[] = {"uchar", "ushort", "float", "ulong", "float4"};
    const bool argument = below(2);
    const ipt_batch_operand operand = {.name = "x",
                                       .type = types[below(sizeof types / sizeof *types)],
                                       .rows = 1 + below(9),
                                       .cols = 1 + below(9),
                                       .access = IPT_READ_WRITE,
                                       .layout = (ipt_layout)below(IPT__LAYOUT_COUNT)};
    const ipt_batch_desc desc = {.count = 1 + below(1000000),
                                 .operands = &operand,
                                 .operand_count = 1,
                                 .action = argument ? "x(0, 0) *= a;" : "x(0, 0) += x(x_ROWS - 1, x_COLS - 1);",
                                 .argument_type = argument ? operand.type : NULL,
                                 .model = (ipt_model)below(IPT__MODEL_COUNT)};
    ipt_batch *batch;
    ipt_batch_create(context, &desc, &batch);
    const bool written = batch == NULL || write_text(folder, ipt_batch_source(batch));
    ipt_batch_destroy(batch);
    return written;
}

static bool write_texts(const char *folder, uint64_t seed, size_t number)
{
    ipt_context *context;
    ipt_plan_desc desc;
    ipt_plan *plan;
    const char *source;
    begin(seed, number, &context);
    if (below(16) == 0)
        return write_batch(folder, context);
    draw(&desc);
    ipt_plan_create(context, &desc, &plan);
    bool written = true;
    for (size_t i = 0; plan != NULL && written && (source = ipt_plan_source(plan, i)) != NULL; ++i)
        written = write_text(folder, source);
    ipt_plan_destroy(plan);
    return written;
}

static void run_case(uint64_t seed, size_t number, bool in_words)
{
    ipt_context *context;
    ipt_plan_desc desc;
    ipt_plan *plan;
    uint64_t texts = nothing;
    const char *source, *text;
    const size_t device = begin(seed, number, &context);
    draw(&desc);
    const ipt_result result = ipt_plan_create(context, &desc, &plan);
    text = plan != NULL ? ipt_plan_describe(plan) : ipt_context_error(NULL);
    for (size_t i = 0; plan != NULL && (source = ipt_plan_source(plan, i)) != NULL; ++i)
        texts = sum(texts, source);
    printf("%zu %d %016llx %016llx %016llx\n", number, (int)result, (unsigned long long)sum(nothing, text),
           (unsigned long long)texts, (unsigned long long)sum_launches(nothing, plan));
    if (in_words)
        print_words(&desc, fuzz_devices[device].lines, text);
    ipt_plan_destroy(plan);
}

int main(int argument_count, char **arguments)
{
    size_t cases = 10000, only = 0;
    uint64_t seed = 1;
    const char *folder = NULL;
    for (int i = 1; i < argument_count; i += 2) {
        const char *value = i + 1 < argument_count ? arguments[i + 1] : "";
        char *end;
        if (strcmp(arguments[i], "--texts") == 0 && *value) {
            folder = value;
            continue;
        }
        const unsigned long long count = strtoull(value, &end, 10);
        if (end == value || *end)
            return fprintf(stderr, "usage: choices [--cases COUNT] [--case NUMBER] [--seed SEED] [--texts FOLDER]\n"),
                   2;
        if (strcmp(arguments[i], "--cases") == 0)
            cases = (size_t)count;
        else if (strcmp(arguments[i], "--case") == 0)
            only = (size_t)count;
        else if (strcmp(arguments[i], "--seed") == 0)
            seed = count;
        else
            return fprintf(stderr, "%s is no option\n", arguments[i]), 2;
    }
    for (size_t i = 1; folder && i <= cases; ++i)
        if (!write_texts(folder, seed, i))
            return perror(folder), 1;
    if (only)
        run_case(seed, only, true);
    for (size_t i = 1; !only && !folder && i <= cases; ++i)
        run_case(seed, i, false);
    return 0;
}
