/* The command-line tool. The promise: what it does it does through ipt.h's public interface; a file is rewritten only
 * after everything about it has been checked and its result is in memory; what goes wrong is one sentence on stderr
 * and an exit code - 2 for a wrong command line, 1 for everything else. */

#define _XOPEN_SOURCE 700 /* POSIX 2008, and SIGXFSZ */

#define IPT_IMPLEMENTATION
#include "ipt.h"

#include "bench.h"
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, DEFAULT_ROUNDS = 3, DEFAULT_ELEM_SIZE = 4, MAX_COUNT = 1000000 };

#define PROGRESS_FROM ((size_t)64 << 20) /* bytes of a file that takes long enough to watch */
#define TRANSFER_SIZE ((size_t)8 << 20)  /* bytes read or written between two looks at the progress */

/* ------------------------------------------------------------------------------------------------------------------ */
/* Messages */
/* ------------------------------------------------------------------------------------------------------------------ */

static bool progress_shown;

static void progress_clear(void)
{
    if (progress_shown) {
        fputs("\r\033[K", stderr);
        progress_shown = false;
    }
}

/* The line on a terminal while a large file is worked on. */
static void progress_show(const char *path, const char *phase, size_t done, size_t total)
{
    if (total >= PROGRESS_FROM && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K%s: %s %u %%", path, phase, (unsigned)((double)done / (double)total * 100));
        fflush(stderr);
        progress_shown = true;
    }
}

static void complain(const char *format, va_list arguments)
{
    progress_clear();
    fputs("ipt: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

/* Both print a sentence and return the exit code. */

static int fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    return EXIT_FAILURE;
}

static int usage_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    fputs("Try 'ipt --help'.\n", stderr);
    return EXIT_USAGE;
}

/* Seconds since some fixed moment. */
static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The command line */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct matrix_shape {
    size_t rows, cols, elem_size;
} matrix_shape;

/* The command line, read and checked. */
typedef struct arguments {
    const char *operand; /* NULL: none */
    matrix_shape shape;  /* of the operand, or of --raw */
    const char *device;  /* NULL: the library chooses */
    bool raw, verbose, help, measure, no_cooperative, pad, blas, out_of_place;
    ipt_sequence sequence;
    ipt_variant variant_010, variant_100, variant_pad;
    ipt_format from, to;
    ipt_move move;
    const char *expression, *expression_type; /* NULL: none */
    size_t flag_spread;
    size_t tile_m, tile_n, batch, workspace, repeat, rounds, elem_size;
    const char *shapes, *csv; /* paths */
    bench_drawing random;
    unsigned long seen; /* a bit for each option that was given */
} arguments;

typedef enum option_kind {
    OPTION_TEXT,     /* a const char * */
    OPTION_NUMBER,   /* a size_t */
    OPTION_SEQUENCE, /* an ipt_sequence */
    OPTION_VARIANT,  /* an ipt_variant */
    OPTION_FORMAT,   /* an ipt_format */
    OPTION_MOVE,     /* an ipt_move */
    OPTION_RANGE,    /* a bench_range */
    OPTION_RANGES,   /* two of them; the second is like the first unless it is given */
    OPTION_RAW,      /* sets raw and shape */
    OPTION_SWITCH    /* a bool, without a value */
} option_kind;

/* Which commands have an option. */
enum { FOR_ALL = 1, FOR_TRANSPOSE = 2, FOR_PLANS = 4, FOR_BENCH = 8, FOR_FORMATS = 16, FOR_MOVES = 32 };

typedef struct option {
    const char *name, *value, *help;
    option_kind kind;
    unsigned commands;
    size_t offset; /* of the field in struct arguments */
    size_t least, most;
} option;

#define FIELD(name) offsetof(arguments, name)
static const option options[] = {
    {"--device", "NAME", "part of the device's or platform's name", OPTION_TEXT, FOR_ALL, FIELD(device), 0, 0},
    {"--raw", "ROWSxCOLS:BYTES", "FILE has no header: one such matrix or several", OPTION_RAW, FOR_TRANSPOSE,
     FIELD(raw), 0, 0},
    {"--verbose", NULL, "say what was done", OPTION_SWITCH, FOR_TRANSPOSE, FIELD(verbose), 0, 0},
    {"--sequence", "NAME", "force a sequence of stages instead of choosing one", OPTION_SEQUENCE, FOR_PLANS,
     FIELD(sequence), 0, 0},
    {"--tile-m", "N", "length of the tiles, or super-elements, along the rows", OPTION_NUMBER, FOR_PLANS, FIELD(tile_m),
     0, SIZE_MAX},
    {"--tile-n", "N", "the same along the columns", OPTION_NUMBER, FOR_PLANS, FIELD(tile_n), 0, SIZE_MAX},
    {"--batch", "N", "that many matrices, back to back (1)", OPTION_NUMBER, FOR_PLANS, FIELD(batch), 1, SIZE_MAX},
    {"--workspace", "BYTES", "device memory the plan may hold beside the matrix", OPTION_NUMBER, FOR_PLANS,
     FIELD(workspace), 0, SIZE_MAX},
    {"--measure", NULL, "try the most promising plans on the device", OPTION_SWITCH, FOR_PLANS, FIELD(measure), 0, 0},
    {"--no-cooperative", NULL, "no kernel whose work-groups wait for one another", OPTION_SWITCH, FOR_PLANS,
     FIELD(no_cooperative), 0, 0},
    {"--variant-010", "NAME", "force a kernel where a sequence moves single elements", OPTION_VARIANT, FOR_PLANS,
     FIELD(variant_010), 0, 0},
    {"--variant-100", "NAME", "force a kernel where it moves super-elements", OPTION_VARIANT, FOR_PLANS,
     FIELD(variant_100), 0, 0},
    {"--flag-spread", "N", "words that the flags of one word are spread over", OPTION_NUMBER, FOR_PLANS,
     FIELD(flag_spread), 0, SIZE_MAX},
    {"--pad", NULL, "pad rows and columns meanwhile, so that the sides have factors", OPTION_SWITCH, FOR_PLANS,
     FIELD(pad), 0, 0},
    {"--variant-pad", "NAME", "force a kernel that does that", OPTION_VARIANT, FOR_PLANS, FIELD(variant_pad), 0, 0},
    {"--from", "NAME", "block format of the matrix before (RM)", OPTION_FORMAT, FOR_FORMATS, FIELD(from), 0, 0},
    {"--to", "NAME", "and after (CM)", OPTION_FORMAT, FOR_FORMATS, FIELD(to), 0, 0},
    {"--move", "NAME", "what becomes of each matrix, if not its transpose", OPTION_MOVE, FOR_MOVES, FIELD(move), 0, 0},
    {"--expression", "TEXT", "OpenCL C: what becomes of each element x on the way", OPTION_TEXT, FOR_MOVES,
     FIELD(expression), 0, 0},
    {"--type", "NAME", "the OpenCL C type of x (float)", OPTION_TEXT, FOR_MOVES, FIELD(expression_type), 0, 0},
    {"--shapes", "FILE", "the shapes of a file: lines of rows and cols, # comments", OPTION_TEXT, FOR_BENCH,
     FIELD(shapes), 0, 0},
    {"--random", "COUNT", "so many random shapes, the same for the same --seed", OPTION_NUMBER, FOR_BENCH,
     FIELD(random.count), 1, MAX_COUNT},
    {"--elem-size", "N", "bytes of their elements (4)", OPTION_NUMBER, FOR_BENCH, FIELD(elem_size), 1, SIZE_MAX},
    {"--sides", "A..B[,C..D]", "one side of a random shape, and the other", OPTION_RANGES, FOR_BENCH,
     FIELD(random.sides), 1, SIZE_MAX},
    {"--bytes", "A..B", "only random matrices of so many bytes", OPTION_RANGE, FOR_BENCH, FIELD(random.bytes), 0,
     SIZE_MAX},
    {"--square", NULL, "random squares", OPTION_SWITCH, FOR_BENCH, FIELD(random.square), 0, 0},
    {"--multiple", "K", "random sides rounded down to multiples of K, K at least", OPTION_NUMBER, FOR_BENCH,
     FIELD(random.multiple), 1, SIZE_MAX},
    {"--seed", "S", "of the random shapes (1)", OPTION_NUMBER, FOR_BENCH, FIELD(random.seed), 0, SIZE_MAX},
    {"--repeat", "N", "executions that are timed together (10 to 64)", OPTION_NUMBER, FOR_BENCH, FIELD(repeat), 1,
     MAX_COUNT},
    {"--rounds", "N", "so often; the median counts (3)", OPTION_NUMBER, FOR_BENCH, FIELD(rounds), 1, MAX_COUNT},
    {"--blas", NULL, "compare with OpenBLAS' imatcopy on the host as well", OPTION_SWITCH, FOR_BENCH, FIELD(blas), 0,
     0},
    {"--out-of-place", NULL, "into a second matrix instead", OPTION_SWITCH, FOR_BENCH, FIELD(out_of_place), 0, 0},
    {"--csv", "FILE", "write all results there", OPTION_TEXT, FOR_BENCH, FIELD(csv), 0, 0},
    {"--help", NULL, "show this text", OPTION_SWITCH, FOR_ALL, FIELD(help), 0, 0},
};
enum { OPTION_COUNT = sizeof options / sizeof options[0] };

/* The last one may be left out. */
typedef enum operand_kind { OPERAND_NONE, OPERAND_FILE, OPERAND_SHAPE, OPERAND_SHAPES } operand_kind;

typedef struct command {
    const char *name;
    operand_kind operand;
    const char *help;
    unsigned options;
    int (*run)(const arguments *given);
} command;

static int run_devices(const arguments *given);
static int run_transpose(const arguments *given);
static int run_plan(const arguments *given);
static int run_source(const arguments *given);
static int run_bench(const arguments *given);

static const command commands[] = {
    {"devices", OPERAND_NONE, "list the OpenCL devices and mark the one that is used", FOR_ALL, run_devices},
    {"transpose", OPERAND_FILE, "transpose the matrix, or each matrix, of a NumPy file (.npy) in place",
     FOR_ALL | FOR_TRANSPOSE | FOR_MOVES, run_transpose},
    {"plan", OPERAND_SHAPE, "show how such a matrix is transposed", FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES,
     run_plan},
    {"source", OPERAND_SHAPE, "show the OpenCL C text of the plan's programs",
     FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES, run_source},
    {"bench", OPERAND_SHAPES, "measure transpositions in place against copies on the device",
     FOR_ALL | FOR_PLANS | FOR_BENCH, run_bench},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const char *const operand_names[] = {"", "FILE", "ROWSxCOLS:BYTES", "[ROWSxCOLS:BYTES]"};

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static void show_version(void)
{
    int version = ipt_version();
    printf("ipt %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
}

static void show_options(unsigned shown)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if ((options[i].commands & shown) != 0) {
            char left[40];
            snprintf(left, sizeof left, "%s%s%s", options[i].name, options[i].value == NULL ? "" : " ",
                     options[i].value == NULL ? "" : options[i].value);
            printf("  %-24s %s\n", left, options[i].help);
        }
    }
    if ((shown & FOR_PLANS) != 0) {
#define SHOW_SEQUENCE(enumerator, name) " " name
        puts("sequences:" IPT_SEQUENCE_LIST(SHOW_SEQUENCE));
#undef SHOW_SEQUENCE
#define SHOW_VARIANT(enumerator, name, family, lanes, padding, registers, layout, interleaved) " " name
        puts("kernels:" IPT_VARIANT_LIST(SHOW_VARIANT));
#undef SHOW_VARIANT
    }
    if ((shown & FOR_MOVES) != 0) {
#define SHOW_MOVE(enumerator, name, transposed, rows, cols) " " name
        puts("moves:" IPT_MOVE_LIST(SHOW_MOVE));
#undef SHOW_MOVE
    }
    if ((shown & FOR_FORMATS) != 0) {
#define SHOW_FORMAT(enumerator, name, factors) " " name
        puts("formats:" IPT_FORMAT_LIST(SHOW_FORMAT));
#undef SHOW_FORMAT
    }
}

static void show_command_help(const command *chosen)
{
    const char *operand = operand_names[chosen->operand];
    printf("usage: ipt %s%s%s [OPTION ...]\n%s\n\noptions:\n", chosen->name, *operand == '\0' ? "" : " ", operand,
           chosen->help);
    show_options(chosen->options);
    if (chosen->operand == OPERAND_SHAPES) {
        puts("\nThe matrices are ROWSxCOLS:BYTES, or those of --shapes, or those of --random. Every result is verified "
             "on\n"
             "the device. Speeds count bytes read and bytes written; ratio is the speed over that of the copy, "
             "ipt/BLAS\n"
             "the speed on the device over that of BLAS on the host, latency the time of an execution alone.");
    }
}

static void show_help(void)
{
    puts("usage: ipt COMMAND [OPTION ...]\n"
         "Transposes matrices in place on an OpenCL device.\n\n"
         "commands:");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", commands[i].name, operand_names[commands[i].operand]);
        printf("  %-24s %s\n", left, commands[i].help);
    }
    printf("  %-24s %s\n\n", "help [COMMAND]", "show this text, or that of one command");
    puts("ROWSxCOLS:BYTES is a row-major matrix and the size of its elements: 1000x777:4\n\n"
         "options of every command:");
    show_options(FOR_ALL);
    printf("  %-24s %s\n", "--version", "show the version");
}

/* A decimal number at the start of text that ends in one of the characters of stops, or with the text if stops is
 * empty. Moves text behind it. */
static bool read_number(const char **text, const char *stop, size_t *value)
{
    size_t length = strspn(*text, "0123456789");
    if (length == 0 || strncmp(*text + length, stop, strlen(stop)) != 0 || (*stop == '\0' && (*text)[length] != '\0')) {
        return false;
    }
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        size_t digit = (size_t)((*text)[i] - '0');
        if (*value > (SIZE_MAX - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    *text += length + strlen(stop);
    return true;
}

/* ROWSxCOLS:BYTES, none of them 0. */
static bool read_shape(const char *text, matrix_shape *shape)
{
    return read_number(&text, "x", &shape->rows) && read_number(&text, ":", &shape->cols) &&
           read_number(&text, "", &shape->elem_size) && shape->rows > 0 && shape->cols > 0 && shape->elem_size > 0;
}

/* The bytes of count such matrices, unless that overflows. */
static bool shape_bytes(const matrix_shape *shape, size_t count, size_t *bytes)
{
    return bench_shape_bytes(shape->rows, shape->cols, shape->elem_size, count, bytes);
}

/* A..B with least <= A <= B, which ends as read_number's do. */
static bool read_range(const char *text, const char **rest, const char *stop, size_t least, bench_range *range)
{
    *rest = text;
    return read_number(rest, "..", &range->low) && read_number(rest, stop, &range->high) && range->low >= least &&
           range->low <= range->high;
}

#define COMPARE_NAME(enumerator, name)                                                                                 \
    if (strcmp(text, name) == 0) {                                                                                     \
        *found = enumerator;                                                                                           \
        return true;                                                                                                   \
    }

static bool read_sequence(const char *text, ipt_sequence *found)
{
    IPT_SEQUENCE_LIST(COMPARE_NAME)
    return false;
}

static bool read_variant(const char *text, ipt_variant *found)
{
#define COMPARE_VARIANT(enumerator, name, family, lanes, padding, registers, layout, interleaved)                      \
    COMPARE_NAME(enumerator, name)
    IPT_VARIANT_LIST(COMPARE_VARIANT)
#undef COMPARE_VARIANT
    return false;
}

static bool read_format(const char *text, ipt_format *found)
{
#define COMPARE_FORMAT(enumerator, name, factors) COMPARE_NAME(enumerator, name)
    IPT_FORMAT_LIST(COMPARE_FORMAT)
#undef COMPARE_FORMAT
    return false;
}

static bool read_move(const char *text, ipt_move *found)
{
#define COMPARE_MOVE(enumerator, name, transposed, rows, cols) COMPARE_NAME(enumerator, name)
    IPT_MOVE_LIST(COMPARE_MOVE)
#undef COMPARE_MOVE
    return false;
}

/* Stores an option's value. Returns 0 or the exit code. */
static int read_option(const option *chosen, const char *text, arguments *given)
{
    void *field = (char *)given + chosen->offset;
    switch (chosen->kind) {
    case OPTION_TEXT:
        *(const char **)field = text;
        return 0;
    case OPTION_NUMBER: {
        const char *rest = text;
        size_t number;
        if (!read_number(&rest, "", &number) || number < chosen->least || number > chosen->most) {
            return usage_error("%s takes a number from %zu to %zu, not '%s'", chosen->name, chosen->least, chosen->most,
                               text);
        }
        *(size_t *)field = number;
        return 0;
    }
    case OPTION_SEQUENCE:
        return read_sequence(text, field) ? 0 : usage_error("%s: no sequence is called '%s'", chosen->name, text);
    case OPTION_VARIANT:
        return read_variant(text, field) ? 0 : usage_error("%s: no kernel is called '%s'", chosen->name, text);
    case OPTION_FORMAT:
        return read_format(text, field) ? 0 : usage_error("%s: no format is called '%s'", chosen->name, text);
    case OPTION_MOVE:
        return read_move(text, field) ? 0 : usage_error("%s: no move is called '%s'", chosen->name, text);
    case OPTION_RANGE:
    case OPTION_RANGES: {
        const char *rest;
        bench_range *ranges = field;
        bool good = read_range(text, &rest, "", chosen->least, ranges);
        if (chosen->kind == OPTION_RANGES) {
            if (good) {
                ranges[1] = ranges[0];
            } else {
                good = read_range(text, &rest, ",", chosen->least, ranges) &&
                       read_range(rest, &rest, "", chosen->least, ranges + 1);
            }
        }
        return good ? 0
                    : usage_error("%s takes %s with numbers from %zu on and A <= B, such as 1000..20000, not '%s'",
                                  chosen->name, chosen->value, chosen->least, text);
    }
    case OPTION_RAW:
        given->raw = true;
        return read_shape(text, &given->shape)
                   ? 0
                   : usage_error("--raw takes ROWSxCOLS:BYTES, such as 1000x777:4, not '%s'", text);
    case OPTION_SWITCH:
        *(bool *)field = true;
        return 0;
    }
    return usage_error("%s is unknown", chosen->name);
}

/* Reads the words after the command's name. Returns 0 or the exit code. */
static int read_arguments(const command *chosen, char **words, arguments *given)
{
    bool options_ended = false;
    for (; *words != NULL; words++) {
        const char *word = *words;
        if (options_ended || word[0] != '-' || word[1] == '\0') {
            if (given->operand != NULL || chosen->operand == OPERAND_NONE) {
                return usage_error("'%s' is one word too many for '%s'", word, chosen->name);
            }
            given->operand = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options_ended = true;
            continue;
        }
        size_t length = strcspn(word, "=");
        const option *found = NULL;
        for (size_t i = 0; i < OPTION_COUNT; i++) {
            if ((options[i].commands & chosen->options) != 0 && strlen(options[i].name) == length &&
                strncmp(options[i].name, word, length) == 0) {
                found = &options[i];
            }
        }
        if (found == NULL) {
            return usage_error("'%s' has no option '%s'", chosen->name, word);
        }
        const char *value = word[length] == '=' ? word + length + 1 : NULL;
        if (found->kind == OPTION_SWITCH && value != NULL) {
            return usage_error("%s takes no value", found->name);
        }
        if (found->kind != OPTION_SWITCH && value == NULL) {
            value = *++words;
            if (value == NULL) {
                return usage_error("%s needs a value: %s", found->name, found->value);
            }
        }
        given->seen |= 1ul << (found - options);
        int code = read_option(found, value, given);
        if (code != 0) {
            return code;
        }
    }
    if (given->help || chosen->operand == OPERAND_NONE) {
        return 0;
    }
    if (given->operand == NULL && chosen->operand == OPERAND_SHAPES) {
        return 0;
    }
    if (given->operand == NULL) {
        return usage_error("'%s' needs %s", chosen->name, operand_names[chosen->operand]);
    }
    bool has_shape = chosen->operand == OPERAND_SHAPE || chosen->operand == OPERAND_SHAPES;
    if (has_shape && !read_shape(given->operand, &given->shape)) {
        return usage_error("'%s' takes ROWSxCOLS:BYTES, such as 1000x777:4, not '%s'", chosen->name, given->operand);
    }
    size_t bytes;
    if ((given->raw || has_shape) && !shape_bytes(&given->shape, given->batch, &bytes)) {
        return usage_error("%zux%zu elements of %zu bytes, %zu times, are too large for this machine",
                           given->shape.rows, given->shape.cols, given->shape.elem_size, given->batch);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* What the commands share */
/* ------------------------------------------------------------------------------------------------------------------ */

static ipt_result make_context(const arguments *given, ipt_context **context)
{
    ipt_context_desc desc = {0};
    desc.device_name = given->device;
    return ipt_context_create(&desc, context);
}

/* What the command line says about plans. */
static ipt_plan_desc describe_plan(const arguments *given)
{
    ipt_plan_desc desc = {0};
    desc.rows = given->shape.rows;
    desc.cols = given->shape.cols;
    desc.elem_size = given->shape.elem_size;
    desc.batch = given->batch;
    desc.flags = (given->measure ? IPT_MEASURE : IPT_ESTIMATE) | (given->no_cooperative ? IPT_NO_COOPERATIVE : 0) |
                 (given->pad ? IPT_PAD : 0);
    desc.max_workspace = given->workspace;
    desc.sequence = given->sequence;
    desc.tile_m = given->tile_m;
    desc.tile_n = given->tile_n;
    desc.variant_010 = given->variant_010;
    desc.variant_100 = given->variant_100;
    desc.variant_pad = given->variant_pad;
    desc.flag_spread = given->flag_spread;
    desc.from = given->from;
    desc.to = given->to;
    desc.move = given->move;
    desc.expression = given->expression;
    desc.expression_type =
        given->expression_type == NULL && given->expression != NULL ? "float" : given->expression_type;
    return desc;
}

/* A context and, on it, the plan that the command line describes. On failure both are NULL. */
static int make_plan(const arguments *given, ipt_context **context, ipt_plan **plan)
{
    *plan = NULL;
    if (make_context(given, context) != IPT_SUCCESS) {
        return fail("%s: %s", given->operand, ipt_context_error(NULL));
    }
    ipt_plan_desc desc = describe_plan(given);
    if (ipt_plan_create(*context, &desc, plan) != IPT_SUCCESS) {
        int code = fail("%s: %s", given->operand, ipt_context_error(*context));
        ipt_context_destroy(*context);
        *context = NULL;
        return code;
    }
    return 0;
}

/* Text of several lines, each after an indent. */
static void show_lines(const char *text, const char *indent)
{
    while (*text != '\0') {
        int length = (int)strcspn(text, "\n");
        printf("%s%.*s\n", indent, length, text);
        text += length;
        text += *text == '\n';
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt devices */
/* ------------------------------------------------------------------------------------------------------------------ */

static int run_devices(const arguments *given)
{
    size_t count;
    if (ipt_device_list(NULL, 0, &count) != IPT_SUCCESS) {
        return fail("%s", ipt_context_error(NULL));
    }
    cl_device_id *devices = calloc(count, sizeof *devices);
    if (devices == NULL) {
        return fail("out of memory");
    }
    size_t capacity = count;
    if (ipt_device_list(devices, capacity, &count) != IPT_SUCCESS) {
        free(devices);
        return fail("%s", ipt_context_error(NULL));
    }
    count = count < capacity ? count : capacity;
    /* The list is of use also where no device can be chosen. */
    ipt_context *context = NULL;
    bool chosen = make_context(given, &context) == IPT_SUCCESS;
    int code = chosen ? 0 : fail("%s", ipt_context_error(NULL));
    for (size_t i = 0; i < count; i++) {
        char text[2048];
        bool marked = chosen && ipt_context_cl_device(context) == devices[i];
        printf("device %zu%s\n", i, !marked ? "" : given->device == NULL ? " (default)" : " (chosen)");
        if (ipt_device_describe(devices[i], text, sizeof text) != IPT_SUCCESS) {
            code = fail("device %zu: %s", i, ipt_context_error(NULL));
        } else {
            show_lines(text, "  ");
        }
    }
    ipt_context_destroy(context);
    free(devices);
    return code;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt plan, ipt source */
/* ------------------------------------------------------------------------------------------------------------------ */

static int run_plan(const arguments *given)
{
    ipt_context *context;
    ipt_plan *plan;
    int code = make_plan(given, &context, &plan);
    if (code == 0) {
        show_lines(ipt_plan_describe(plan), "");
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return code;
}

static int run_source(const arguments *given)
{
    ipt_context *context;
    ipt_plan *plan;
    int code = make_plan(given, &context, &plan);
    if (code == 0) {
        size_t index = 0;
        for (const char *text; (text = ipt_plan_source(plan, index)) != NULL; index++) {
            printf("/* ---- program %zu ---- */\n", index);
            show_lines(text, "");
        }
        if (index == 0) {
            fputs("ipt: this plan has nothing to do and no program\n", stderr);
        }
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return code;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt transpose */
/* ------------------------------------------------------------------------------------------------------------------ */

/* An open file and what is to be done to it. */
typedef struct matrix_file {
    const char *path;
    int descriptor;
    size_t size;
    size_t data_offset;  /* where the data begins; 0 without a header */
    npy_span text;       /* the header's text, if there is one */
    npy_header header;   /* the same, understood */
    matrix_shape shape;  /* of each matrix as it lies in memory, row-major */
    size_t batch;        /* 0: no data */
    char *content;       /* the file, as far as it changes */
    size_t content_size; /* either size or data_offset */
} matrix_file;

/* Opens for reading and writing, and checks that the file is one that may be rewritten. */
static int open_file(matrix_file *file)
{
    file->descriptor = open(file->path, O_RDWR | O_CLOEXEC | O_NONBLOCK); /* a pipe must not make it wait */
    struct stat status;
    if (file->descriptor < 0 || fstat(file->descriptor, &status) != 0) {
        return fail("%s: %s", file->path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return fail("%s: it is not a regular file", file->path);
    }
    if ((status.st_mode & 0222) == 0) { /* root could write it all the same */
        return fail("%s: it is read-only", file->path);
    }
    if ((uintmax_t)status.st_size > SIZE_MAX) {
        return fail("%s: it is too large for this machine", file->path);
    }
    file->size = (size_t)status.st_size;
    return 0;
}

/* Reads size bytes that stand offset bytes into the file. */
static int read_bytes(const matrix_file *file, char *target, size_t offset, size_t size)
{
    for (size_t done = 0; done < size;) {
        progress_show(file->path, "read", done, size);
        size_t wanted = size - done < TRANSFER_SIZE ? size - done : TRANSFER_SIZE;
        ssize_t got = pread(file->descriptor, target + done, wanted, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return fail("%s: reading failed: %s", file->path, got < 0 ? strerror(errno) : "the file became shorter");
        }
        done += (size_t)got;
    }
    return 0;
}

/* Writes the content back to the file's start. */
static int write_content(const matrix_file *file)
{
    for (size_t done = 0; done < file->content_size;) {
        progress_show(file->path, "write", done, file->content_size);
        size_t rest = file->content_size - done;
        ssize_t put =
            pwrite(file->descriptor, file->content + done, rest < TRANSFER_SIZE ? rest : TRANSFER_SIZE, (off_t)done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return fail("%s: writing failed after %zu of %zu bytes%s: %s", file->path, done, file->content_size,
                        done == 0 ? ", the file is as it was" : ", the file is damaged",
                        put < 0 ? strerror(errno) : "nothing was written");
        }
        done += (size_t)put;
    }
    return 0;
}

/* From a header's shape to the matrices that lie in memory. */
static void shape_from_header(matrix_file *file)
{
    const npy_header *header = &file->header;
    size_t count = header->dimension_count;
    size_t others = 1; /* the product of all dimensions but the last two: with data it is known not to overflow */
    for (size_t i = 0; i + 2 < count; i++) {
        others *= header->shape[i];
    }
    file->shape.rows = header->shape[count - 2];
    file->shape.cols = header->shape[count - 1];
    file->shape.elem_size = header->item_size;
    file->batch = others;
    if (header->fortran_order) {
        /* The memory is the C order of the reversed shape, where the two dimensions to exchange come first. */
        file->shape.rows = header->shape[count - 1];
        file->shape.cols = header->shape[count - 2];
        file->shape.elem_size = header->item_size * others;
        file->batch = 1;
    }
}

/* Reads and checks the header, into content. */
static int read_npy_header(matrix_file *file)
{
    char start[NPY_START_SIZE];
    size_t available = file->size < sizeof start ? file->size : sizeof start;
    int code = read_bytes(file, start, 0, available);
    if (code != 0) {
        return code;
    }
    char message[NPY_MESSAGE_SIZE];
    if (!npy_find_text((const unsigned char *)start, available, &file->text, message)) {
        return fail("%s: %s", file->path, message);
    }
    if (file->text.length > file->size - file->text.begin) {
        return fail("%s: truncated: its header is longer than the file", file->path);
    }
    file->data_offset = file->text.begin + file->text.length;
    file->content = malloc(file->data_offset);
    if (file->content == NULL) {
        return fail("%s: out of memory for a header of %zu bytes", file->path, file->data_offset);
    }
    code = read_bytes(file, file->content, 0, file->data_offset);
    if (code != 0) {
        return code;
    }
    size_t data_size;
    if (!npy_parse(file->content + file->text.begin, file->text.length, &file->header, message) ||
        !npy_data_size(&file->header, &data_size, message)) {
        return fail("%s: %s", file->path, message);
    }
    if (file->header.dimension_count < 2) {
        return fail("%s: it needs at least two dimensions, and has %zu", file->path, file->header.dimension_count);
    }
    size_t found = file->size - file->data_offset;
    if (found != data_size) {
        return fail("%s: %s: %zu bytes follow the header, and its shape and type say %zu", file->path,
                    found < data_size ? "truncated" : "too long", found, data_size);
    }
    if (data_size > 0) {
        shape_from_header(file);
    }
    return 0;
}

static int measure_raw(const arguments *given, matrix_file *file)
{
    size_t bytes = 0;
    file->shape = given->shape;
    (void)shape_bytes(&file->shape, 1, &bytes); /* checked with the command line */
    if (file->size == 0 || file->size % bytes != 0) {
        return fail("%s: its %zu bytes are not a multiple of %zux%zu elements of %zu bytes", file->path, file->size,
                    file->shape.rows, file->shape.cols, file->shape.elem_size);
    }
    file->batch = file->size / bytes;
    return 0;
}

static bool transposes(ipt_move move)
{
    return move == IPT_MOVE_TRANSPOSE || move == IPT_MOVE_ROTATE_90 || move == IPT_MOVE_ROTATE_270 ||
           move == IPT_MOVE_ANTITRANSPOSE;
}

/* The move of the matrix as it lies in memory: in Fortran order that is the transpose of what is meant, whose rows are
 * columns. */
static ipt_move move_in_memory(const arguments *given, const matrix_file *file)
{
    if (!given->raw && file->header.fortran_order) {
        switch (given->move) {
        case IPT_MOVE_ROTATE_90:
            return IPT_MOVE_ROTATE_270;
        case IPT_MOVE_ROTATE_270:
            return IPT_MOVE_ROTATE_90;
        case IPT_MOVE_FLIP_HORIZONTAL:
            return IPT_MOVE_FLIP_VERTICAL;
        case IPT_MOVE_FLIP_VERTICAL:
            return IPT_MOVE_FLIP_HORIZONTAL;
        default:
            break;
        }
    }
    return given->move;
}

/* Reads the data behind the header and transposes it there. seconds: the device's part of it. */
static int transpose_data(const arguments *given, matrix_file *file, double *seconds)
{
    char *whole = realloc(file->content, file->size);
    if (whole == NULL) {
        return fail("%s: out of memory for %zu bytes", file->path, file->size);
    }
    file->content = whole;
    file->content_size = file->size;
    arguments wanted = *given;
    wanted.shape = file->shape;
    wanted.batch = file->batch;
    wanted.move = move_in_memory(given, file);
    ipt_context *context;
    ipt_plan *plan;
    int code = make_plan(&wanted, &context, &plan);
    if (code == 0) {
        code = read_bytes(file, whole + file->data_offset, file->data_offset, file->size - file->data_offset);
    }
    if (code == 0) {
        progress_show(file->path, "transpose", 0, file->size);
        double start = seconds_now();
        if (ipt_plan_execute_host(plan, whole + file->data_offset) != IPT_SUCCESS) {
            code = fail("%s: %s", file->path, ipt_context_error(context));
        }
        *seconds = seconds_now() - start;
        progress_show(file->path, "transpose", file->size, file->size);
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return code;
}

/* The work on an open file, up to the last byte written. */
static int transpose_file(const arguments *given, matrix_file *file)
{
    double start = seconds_now(), device_seconds = 0;
    int code = open_file(file);
    if (code == 0) {
        code = given->raw ? measure_raw(given, file) : read_npy_header(file);
    }
    if (code != 0) {
        return code;
    }
    file->content_size = file->data_offset;
    bool data_moves = file->batch > 0 && ((file->shape.rows > 1 && file->shape.cols > 1) ||
                                          given->move != IPT_MOVE_TRANSPOSE || given->expression != NULL);
    if (data_moves) {
        code = transpose_data(given, file, &device_seconds);
        if (code != 0) {
            return code;
        }
    }
    if (!given->raw && transposes(given->move)) {
        npy_swap_last_two(file->content + file->text.begin, &file->header);
    }
    /* From here on stopping would leave half a file. */
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        signal(signals[i], SIG_IGN);
    }
    code = write_content(file);
    int closed = close(file->descriptor);
    file->descriptor = -1;
    if (code == 0 && closed != 0) {
        code = fail("%s: closing it failed, so it may be damaged: %s", file->path, strerror(errno));
    }
    progress_clear();
    if (code == 0 && given->verbose) {
        if (data_moves) {
            printf(
                "%s: %zu x (%zux%zu elements of %zu bytes) transposed in %.3f seconds, %.3f of them for the device\n",
                file->path, file->batch, file->shape.rows, file->shape.cols, file->shape.elem_size,
                seconds_now() - start, device_seconds);
        } else {
            printf("%s: transposed in %.3f seconds; no data had to move\n", file->path, seconds_now() - start);
        }
    }
    return code;
}

static int run_transpose(const arguments *given)
{
    matrix_file file = {0};
    file.path = given->operand;
    file.descriptor = -1;
    int code = transpose_file(given, &file);
    free(file.content);
    if (file.descriptor >= 0) {
        close(file.descriptor); /* after a failure: nothing that this could report is worse */
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt bench */
/* ------------------------------------------------------------------------------------------------------------------ */

static bool was_given(const arguments *given, const char *name)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(options[i].name, name) == 0) {
            return (given->seen >> i & 1) != 0;
        }
    }
    return false;
}

/* Which options go with which. Returns 0 or the exit code. */
static int check_bench(const arguments *given)
{
    static const char *const of_random[] = {"--seed", "--sides", "--bytes", "--square", "--multiple"};
    bool random = was_given(given, "--random");
    if ((given->operand != NULL) + (given->shapes != NULL) + random != 1) {
        return usage_error("'bench' takes one of ROWSxCOLS:BYTES, --shapes and --random");
    }
    for (size_t i = 0; i < sizeof of_random / sizeof of_random[0]; i++) {
        if (!random && was_given(given, of_random[i])) {
            return usage_error("%s is for shapes that --random draws", of_random[i]);
        }
    }
    if (random && !was_given(given, "--sides")) {
        return usage_error("--random needs --sides, such as --sides 1000..20000");
    }
    const bench_range *sides = given->random.sides;
    if (given->random.square && (sides[0].low != sides[1].low || sides[0].high != sides[1].high)) {
        return usage_error("--square takes one range of --sides, not two");
    }
    if (given->operand != NULL && was_given(given, "--elem-size")) {
        return usage_error("--elem-size is for --shapes and --random: %s has its own", given->operand);
    }
    if (given->pad && given->batch > 1) {
        return usage_error("--pad takes one matrix at a time, not --batch %zu", given->batch);
    }
    size_t elem_size = given->operand != NULL ? given->shape.elem_size : given->elem_size;
    if (given->blas && elem_size != sizeof(float) && elem_size != sizeof(double)) {
        return usage_error("--blas takes elements of 4 or 8 bytes, not %zu", elem_size);
    }
    return 0;
}

/* What bench holds while it runs. */
typedef struct bench {
    bench_shapes shapes;
    bench_result *results;
    bench_device device;
    bench_blas blas;
    ipt_context *context;
    FILE *csv;
} bench;

/* The shapes, and what their measurement takes. */
static int prepare_bench(const arguments *given, bench *work)
{
    char message[BENCH_MESSAGE_SIZE];
    size_t elem_size = given->shape.elem_size;
    bool good = given->operand != NULL  ? bench_add_shape(&work->shapes, given->shape.rows, given->shape.cols, message)
                : given->shapes != NULL ? bench_read_shapes(given->shapes, elem_size, &work->shapes, message)
                                        : bench_draw_shapes(&given->random, elem_size, &work->shapes, message);
    good = good && (!given->blas || bench_blas_open(&work->blas, message));
    if (!good) {
        return fail("%s", message);
    }
    work->results = calloc(work->shapes.count, sizeof *work->results);
    if (work->results == NULL) {
        return fail("out of memory for %zu results", work->shapes.count);
    }
    if (make_context(given, &work->context) != IPT_SUCCESS) {
        return fail("%s", ipt_context_error(NULL));
    }
    if (!bench_device_open(&work->device, work->context, elem_size, message)) {
        return fail("%s", message);
    }
    if (given->csv != NULL) {
        work->csv = fopen(given->csv, "w");
        if (work->csv == NULL) {
            return fail("%s: %s", given->csv, strerror(errno));
        }
        bench_csv_heading(work->csv);
    }
    return 0;
}

/* Measures one shape and shows what came out. */
static int bench_one(const arguments *given, bench *work, bench_shape shape, bench_result *result)
{
    char message[BENCH_MESSAGE_SIZE], name[80];
    ipt_plan_desc desc = describe_plan(given);
    result->rows = desc.rows = shape.rows;
    result->cols = desc.cols = shape.cols;
    result->elem_size = desc.elem_size;
    result->batch = desc.batch;
    result->repeat = given->repeat;
    result->rounds = given->rounds;
    result->out_of_place = given->out_of_place;
    snprintf(name, sizeof name, "%zux%zu:%zu", desc.rows, desc.cols, desc.elem_size);
    if (!bench_shape_bytes(desc.rows, desc.cols, desc.elem_size, desc.batch, &result->bytes)) {
        return fail("%s: %zu times, it is too large for this machine", name, desc.batch);
    }
    ipt_plan *plan;
    bool good = ipt_plan_create(work->context, &desc, &plan) == IPT_SUCCESS ||
                bench_fail(message, "%s", ipt_context_error(work->context));
    good = good && bench_measure(&work->device, plan, result, message) &&
           (!given->blas || bench_measure_blas(&work->blas, result, message));
    ipt_plan_destroy(plan);
    if (work->csv != NULL) {
        bench_csv_line(work->csv, result);
    }
    if (given->operand == NULL) {
        bench_show_line(stdout, result, given->blas);
    } else if (good) {
        bench_show_block(stdout, result);
    }
    if (result->note[0] != '\0') {
        fail("%s: %s", name, result->note);
    }
    return good ? 0 : fail("%s: %s", name, message);
}

/* All shapes: one that fails does not keep the others from being measured. */
static int bench_all(const arguments *given, bench *work)
{
    char message[BENCH_MESSAGE_SIZE];
    int code = 0;
    if (given->operand == NULL) {
        printf("%zu shapes, elements of %zu bytes, batch %zu, on %s\n", work->shapes.count, given->shape.elem_size,
               given->batch, work->device.name);
        bench_show_heading(stdout, given->blas);
    } else {
        size_t bytes = 0;
        (void)shape_bytes(&given->shape, given->batch, &bytes); /* checked with the command line */
        printf("%s, batch %zu, %zu bytes, on %s\n", given->operand, given->batch, bytes, work->device.name);
    }
    for (size_t i = 0; i < work->shapes.count; i++) {
        if (bench_one(given, work, work->shapes.items[i], &work->results[i]) != 0) {
            code = EXIT_FAILURE;
        }
    }
    if (!bench_show_summary(stdout, work->results, work->shapes.count, message)) {
        code = fail("%s", message);
    }
    return code;
}

static int run_bench(const arguments *command_line)
{
    int code = check_bench(command_line);
    if (code != 0) {
        return code;
    }
    arguments given = *command_line;
    if (given.operand == NULL) {
        given.shape.elem_size = given.elem_size;
    }
    bench work = {0};
    code = prepare_bench(&given, &work);
    if (code == 0) {
        code = bench_all(&given, &work);
    }
    if (work.csv != NULL) {
        bool failed = ferror(work.csv) != 0;
        if (fclose(work.csv) != 0 || failed) {
            code = fail("%s: %s", given.csv, strerror(errno));
        }
    }
    bench_blas_close(&work.blas);
    bench_device_close(&work.device);
    ipt_context_destroy(work.context);
    free(work.results);
    free(work.shapes.items);
    return code;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static int run_help(const char *name)
{
    if (name == NULL) {
        show_help();
        return 0;
    }
    const command *chosen = find_command(name);
    if (chosen == NULL) {
        return usage_error("there is no command '%s'", name);
    }
    show_command_help(chosen);
    return 0;
}

static int run(char **words)
{
    if (words[0] == NULL) {
        return usage_error("a command is missing");
    }
    if (strcmp(words[0], "help") == 0 || strcmp(words[0], "--help") == 0) {
        return run_help(words[1]);
    }
    if (strcmp(words[0], "--version") == 0) {
        show_version();
        return 0;
    }
    const command *chosen = find_command(words[0]);
    if (chosen == NULL) {
        return usage_error("there is no command '%s'", words[0]);
    }
    arguments given = {0};
    given.batch = 1;
    given.rounds = DEFAULT_ROUNDS;
    given.elem_size = DEFAULT_ELEM_SIZE;
    given.random.seed = given.random.multiple = 1;
    given.random.bytes.high = SIZE_MAX;
    int code = read_arguments(chosen, words + 1, &given);
    if (code == 0) {
        code = given.help ? run_help(chosen->name) : chosen->run(&given);
    }
    return code;
}

int main(int count, char **words)
{
    int code = run(count > 0 ? words + 1 : words);
    /* Output that did not arrive, on a full disk say, is a failure. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        code = fail("standard output: %s", strerror(errno));
    }
    return code;
}
