/* The tool's readers of words: command lines with their options, shapes and axes; files of shapes for bench, tune and
 * precompile; the target of --target; clang's PTX; names that messages show. The first byte chooses the reader. A
 * refusal has a message of one line. Accepted values are in range. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#define IPT_OPENCL_DYNAMIC /* no OpenCL is loaded, so that a call would crash */
#include "ipt.h"
#include "fuzz.h"

#include <stdarg.h>

#include "gen/tool/command/command_line.h"
#include "gen/tool/bench/bench_result.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/offline/offline_ptx.h"
#include "gen/tool/offline/offline_target.h"
#include "gen/tool/command/options.h"
#include "gen/tool/base/text.h"

enum { COMMAND_LINE, AXES, SHAPES_FILE, TARGET, PTX, NAME, READERS, MOST_WORDS = 64 };

static size_t refusals; /* refusals of the last command line */

static void expect_sentence(const char *message, size_t most)
{
    FUZZ_EXPECT(*message != '\0' && strlen(message) < most);
}

/* Replaces messages.c. */
int message_usage_error(const char *format, ...)
{
    char text[1 << 13];
    va_list arguments;
    va_start(arguments, format);
    FUZZ_EXPECT(vsnprintf(text, sizeof text, format, arguments) > 0);
    va_end(arguments);
    char *const escaped = text_escape(text, "");
    FUZZ_EXPECT(escaped != NULL);
    for (const char *next = escaped; *next != '\0'; next += text_character(next))
        FUZZ_EXPECT(text_character(next) > 0);
    free(escaped);
    ++refusals;
    return EXIT_USAGE;
}

static void read_command_line(unsigned which, char *text, size_t length)
{
    static const command commands[] = {
        {"devices", OPERAND_NONE, "", FOR_ALL | FOR_DEVICES | FOR_JSON, NULL, NULL},
        {"transpose", OPERAND_FILE, "", FOR_ALL | FOR_TRANSPOSE | FOR_MOVES, NULL, NULL},
        {"plan", OPERAND_SHAPE, "", FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES | FOR_JSON, NULL, NULL},
        {"precompile", OPERAND_SHAPES, "", FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES | FOR_PRECOMPILE,
         NULL, NULL},
        {"tune", OPERAND_SHAPES, "", FOR_ALL | FOR_TUNE, NULL, NULL},
        {"bench", OPERAND_OPTIONAL_SHAPE, "", FOR_ALL | FOR_PLANS | FOR_BENCH | FOR_JSON, NULL, NULL},
    };
    const command *const chosen = &commands[which % (sizeof commands / sizeof *commands)];
    char *words[MOST_WORDS + 1];
    size_t count = 0;
    arguments given = {0};
    given.program = "ipt";
    given.batch = given.rounds = given.elem_size = given.random.seed = given.random.multiple = 1;
    for (size_t at = 0; at < length && count < MOST_WORDS; at += strlen(text + at) + 1)
        words[count++] = text + at;
    words[count] = NULL;
    refusals = 0;
    const int code = command_line_read(chosen, words, &given);
    FUZZ_EXPECT(code == 0 ? refusals == 0 : code == EXIT_USAGE && refusals == 1);
    if (code != 0 || given.help)
        return;
    FUZZ_EXPECT(given.operand_count <= count && given.action_count <= MAX_ACTIONS && given.axes.count <= AXES_MOST);
    FUZZ_EXPECT(given.order == 0 || given.order == 'C' || given.order == 'F');
    for (size_t i = 0; i < option_count; ++i)
        if (given.seen[i] && (option_list[i].kind == OPTION_NUMBER || option_list[i].kind == OPTION_BYTES)) {
            size_t value;
            memcpy(&value, (const char *)&given + option_list[i].offset, sizeof value);
            FUZZ_EXPECT(value >= option_list[i].least && value <= option_list[i].most);
        }
    size_t bytes;
    if (given.raw || (given.operand_count > 0 && chosen->operand != OPERAND_FILE)) {
        FUZZ_EXPECT(shape_bytes(&given.shape, given.batch, &bytes) && bytes > 0);
        FUZZ_EXPECT(given.shape.array.rank <= IPT_MAX_RANK);
    }
}

/* Reads an array's lengths, then its axes. The move must map elements one to one. */
static void read_axes(fuzz_input *input)
{
    const unsigned orders = (unsigned)fuzz_take(input, 1);
    size_t shape[AXES_MOST], count = 0;
    char message[AXES_MESSAGE_SIZE] = "";
    axes_list list = {0};
    axes_move move = {0};
    double elements = 1;
    const size_t rank = (size_t)(orders >> 2) % (AXES_MOST + 1);
    for (; count < rank; ++count)
        shape[count] = (size_t)fuzz_take(input, 1) % 5 + 1;
    char *const text = fuzz_copy(input->bytes, input->left, true);
    const bool empty = *text == '\0';
    const bool good = empty || axes_read(text, &list);
    FUZZ_EXPECT(list.count <= AXES_MOST);
    free(text);
    if (!good)
        return;
    if (!axes_check(&list, rank, message)) {
        expect_sentence(message, sizeof message);
        return;
    }
    for (size_t i = 0; i < rank; ++i)
        elements *= (double)shape[i];
    /* Headers with more elements than memory can address are refused elsewhere. */
    if (rank == 0 || elements > 1e15 || !axes_find_move(&list, shape, orders & 1, orders & 2, &move))
        return;
    double moved = 1;
    unsigned seen = 0;
    FUZZ_EXPECT(move.rank <= IPT_MAX_RANK);
    for (unsigned i = 0; i < move.rank; ++i) {
        moved *= (double)move.lengths[i];
        seen |= 1u << move.axes[i];
    }
    FUZZ_EXPECT(seen == (1u << move.rank) - 1 && (move.rank == 0 || moved == elements));
}

static void read_shapes(const char *text, size_t length, size_t elem_size)
{
    char path[2 * FUZZ_PATH_SIZE], message[BENCH_MESSAGE_SIZE] = "";
    bench_shapes shapes = {0};
    fuzz_path(path, "shapes");
    fuzz_write_file(path, text, length);
    if (!bench_read_shapes(path, elem_size, &shapes, message))
        expect_sentence(message, sizeof message);
    else
        FUZZ_EXPECT(shapes.count > 0);
    for (size_t i = 0; i < shapes.count; ++i) {
        size_t bytes;
        FUZZ_EXPECT(bench_shape_bytes(shapes.items[i].rows, shapes.items[i].cols, elem_size, 1, &bytes) && bytes > 0);
    }
    free(shapes.items);
}

/* The source of a program, a zero, and clang's output. */
static void read_ptx(const char *text, size_t length)
{
    char message[OFFLINE_MESSAGE_SIZE] = "";
    const size_t source = strlen(text), begin = source < length ? source + 1 : length;
    size_t bytes = length - begin;
    unsigned char *ptx = (unsigned char *)fuzz_copy(text + begin, bytes, true);
    if (offline_finish_ptx(text, &ptx, &bytes, message))
        FUZZ_EXPECT(ptx != NULL && bytes >= length - begin && strlen((char *)ptx) == bytes);
    else
        expect_sentence(message, sizeof message);
    free(ptx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, size};
    const unsigned mode = (unsigned)fuzz_take(&input, 1);
    char *const text = fuzz_copy(input.bytes, input.left, true), message[OFFLINE_MESSAGE_SIZE] = "";
    offline_target target;
    switch (mode % READERS) {
    case COMMAND_LINE:
        read_command_line(mode / READERS, text, input.left);
        break;
    case AXES:
        read_axes(&input);
        break;
    case SHAPES_FILE:
        read_shapes(text, input.left, mode / READERS + 1);
        break;
    case TARGET:
        if (offline_read_target(text, &target, message))
            FUZZ_EXPECT(strlen(target.processor) < sizeof target.processor);
        else
            expect_sentence(message, sizeof message);
        break;
    case PTX:
        read_ptx(text, input.left);
        break;
    default: {
        char *const escaped = text_escape(text, "");
        text_name shortened;
        FUZZ_EXPECT(escaped != NULL && strlen(escaped) >= strlen(text));
        for (const char *next = escaped; *next != '\0'; next += text_character(next))
            FUZZ_EXPECT(text_character(next) > 0);
        FUZZ_EXPECT(text_columns(escaped) <= 2 * strlen(escaped));
        FUZZ_EXPECT(strlen(text_shorten(text, &shortened)) < TEXT_NAME_SIZE);
        free(escaped);
    }
    }
    free(text);
    return 0;
}

#ifdef FUZZ_MAKE_CORPUS

static void seed_words(const char *name, unsigned mode, const char *text, size_t length)
{
    char *const seed = fuzz_copy(text, length + 1, false);
    memmove(seed + 1, seed, length);
    seed[0] = (char)mode;
    fuzz_seed(name, seed, length + 1);
    free(seed);
}

static void make_corpus(void)
{
#define SEED(name, reader, which, text) seed_words(name, (reader) + READERS * (which), text, sizeof(text) - 1)
    SEED("devices", COMMAND_LINE, 0, "--json\0--device=pocl");
    SEED("transpose", COMMAND_LINE, 1,
         "a.npy\0--axes\0"
         "2,0,1\0--memory=256M\0--order\0F");
    SEED("raw", COMMAND_LINE, 1,
         "--raw\0"
         "300x200:float32\0--offset\0"
         "512\0--move=rotate-90\0a");
    SEED("expression", COMMAND_LINE, 1, "a\0--expression\0x * x\0--type=float\0--no-journal\0-o\0b");
    SEED("plan", COMMAND_LINE, 2,
         "64x3x224x224:float32\0--axes\0"
         "0,2,3,1\0--from=RM\0--to=CM\0--batch=3");
    SEED("action", COMMAND_LINE, 2, "--action\0posv:double:6x1:100000");
    SEED("precompile", COMMAND_LINE, 3,
         "1000x777:4\0"
         "20x30:8\0--embed=h.h\0--target\0ptx:sm_80\0--out-of-place");
    SEED("tune", COMMAND_LINE, 4,
         "1000x777:4\0--workspace\0"
         "1048576\0--wisdom\0w\0-o\0w");
    SEED("bench", COMMAND_LINE, 5,
         "--random=10\0--sides\0"
         "10..20,3..4\0--bytes=1..1000\0--csv\0-\0--plot=p.svg");
    SEED("variants", COMMAND_LINE, 5,
         "30x40:4\0--sequence\0"
         "2.1\0--variant-010=p-ipt-item\0--tile-m=3\0--pad\0--");
    SEED("axes", AXES, 0,
         "\x0c\2\3\4"
         "2,0,1");
    SEED("axes_fortran", AXES, 0,
         "\x13\2\1\4\3"
         "3,2,1,0");
    SEED("axes_empty", AXES, 0, "\x0a\2\3");
    SEED("shapes", SHAPES_FILE, 3, "# rows cols\n1000 777\n20 30 # small\n\n1 1");
    SEED("ptx", TARGET, 0, "ptx:sm_80");
    SEED("amdgcn", TARGET, 0, "amdgcn:gfx90a");
    SEED("spirv", TARGET, 0, "spirv");
    SEED("ptx_text", PTX, 0,
         "#define IPT_GROUP_SIZE 256\n#define IPT_GROUPS_AT_ONCE 2\n\0"
         ".version 7.4\n.target sm_80\n.func f\n(\n)\n;\n.func f\n(\n)\n{\n}\n"
         ".entry k(\n.param .u64 .ptr .global .align 4 k_0\n)\n{\nret;\n}\n");
    SEED("name", NAME, 0, "a\n\x1b[31m\xc3\xa4\xe6\xb1\x89\xf0\x9f\x98\x80\xc2\x9b\xff.npy");
#undef SEED
}

#endif
