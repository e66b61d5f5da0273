/* The command-line tool. The promise: what it does it does through ipt.h's public interface; a file is rewritten only
 * after everything about it has been checked and its result is in memory; what goes wrong is one sentence on stderr
 * and an exit code - 2 for a wrong command line, 1 for everything else. */

#define _GNU_SOURCE /* POSIX 2008, SIGXFSZ, and sync_file_range where there is one */

#define IPT_IMPLEMENTATION
#include "ipt.h"

#include "bench.h"
#include "journal.h"
#include "npy.h"
#include "offline.h"
#include "startup.h"
#include "stopped.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    EXIT_SIGNAL = 128,
    MAX_TRIES = 4,
    DEFAULT_ROUNDS = 3,
    DEFAULT_ELEM_SIZE = 4,
    MAX_COUNT = 1000000
};

#define PROGRESS_FROM ((size_t)64 << 20) /* bytes of a file that takes long enough to watch */
#define DEFAULT_MEMORY ((size_t)1 << 30) /* bytes of --memory */
#define LEAST_MEMORY ((size_t)1 << 16)   /* of that, for the matrix */
#define ENOUGH_MEMORY ((size_t)64 << 20)
#define SPARE_MEMORY ((size_t)4 << 20)    /* what threads and the like will take */
#define PINNED_MEMORY ((size_t)200 << 20) /* and what matrices pass through on their way to a GPU, for three plans */
#define MAX_TEXT_SIZE ((size_t)16 << 20)  /* bytes of a profile, which has some hundred, or of wisdom */

static const char *program_name; /* as it was called */

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

/* An OpenCL implementation that gives up ends the process: PoCL does without a linker. */
static void explain_abort(int number)
{
    static const char text[] = "ipt: the OpenCL implementation has ended this process: its own message stands above. "
                               "PoCL needs the linker ld on PATH\n";
    signal(number, SIG_DFL);
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written; /* there is nobody left to tell */
    raise(number);
}

/* ipt's logger. ipt tells of a program that it has built before that runs; LLVM within PoCL has set a handler of its
 * own while it built. */
static void watch_for_aborts(const char *message, void *user)
{
    (void)message;
    (void)user;
    signal(SIGABRT, explain_abort);
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
    const char *operand;   /* the first one; NULL: none */
    char *const *operands; /* all of them */
    size_t operand_count;
    matrix_shape shape;                            /* of the operand, or of --raw */
    const char *device;                            /* NULL: the library chooses */
    const char *cache;                             /* a folder; "": none, NULL: the library chooses */
    const char *wisdom, *profile, *output, *embed; /* paths, NULL: none */
    const char *target;                            /* NULL: the device */
    bool raw, verbose, help, measure, no_cooperative, pad, blas, out_of_place, write_profile, startup, startup_step;
    bool resume, sync, no_journal;
    ipt_sequence sequence;
    ipt_variant variant_010, variant_100, variant_pad;
    ipt_format from, to;
    ipt_move move;
    const char *expression, *expression_type; /* NULL: none */
    size_t flag_spread;
    size_t tile_m, tile_n, batch, workspace, repeat, rounds, elem_size, memory, matrix_memory;
    const char *shapes, *csv; /* paths */
    bench_drawing random;
    uint64_t seen; /* a bit for each option that was given */
} arguments;

typedef enum option_kind {
    OPTION_TEXT,     /* a const char * */
    OPTION_NUMBER,   /* a size_t */
    OPTION_BYTES,    /* the same, with K, M or G behind it */
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
enum {
    FOR_ALL = 1,
    FOR_TRANSPOSE = 2,
    FOR_PLANS = 4,
    FOR_BENCH = 8,
    FOR_FORMATS = 16,
    FOR_MOVES = 32,
    FOR_DEVICES = 64,
    FOR_SOURCES = 128, /* what a device is needed for only by its description */
    FOR_PRECOMPILE = 256,
    FOR_TUNE = 512
};

/* Commands may have options of the same name that differ in everything else. */
typedef struct option {
    const char *name, *value, *help; /* a help of NULL: it is not shown */
    option_kind kind;
    unsigned commands;
    size_t offset; /* of the field in struct arguments */
    size_t least, most;
} option;

#define FIELD(name) offsetof(arguments, name)
static const option options[] = {
    {"--device", "NAME", "part of the device's or platform's name", OPTION_TEXT, FOR_ALL, FIELD(device), 0, 0},
    {"--cache", "DIR", "folder of compiled programs, \"\" for none", OPTION_TEXT, FOR_ALL, FIELD(cache), 0, 0},
    {"--profile", NULL, "print what plans depend on, for --profile FILE, and nothing else", OPTION_SWITCH, FOR_DEVICES,
     FIELD(write_profile), 0, 0},
    {"--profile", "FILE", "for the device of 'ipt devices --profile', which need not be here", OPTION_TEXT, FOR_SOURCES,
     FIELD(profile), 0, 0},
    {"--target", "TARGET", "compile for ptx:sm_NN, spirv, bitcode or amdgcn:NAME, with clang", OPTION_TEXT,
     FOR_PRECOMPILE, FIELD(target), 0, 0},
    {"--output", "DIR", "store the programs there, for --cache (also -o)", OPTION_TEXT, FOR_PRECOMPILE, FIELD(output),
     0, 0},
    {"--output", "FILE", "write the wisdom there, not to standard output (also -o)", OPTION_TEXT, FOR_TUNE,
     FIELD(output), 0, 0},
    {"-o", "PATH", NULL, OPTION_TEXT, FOR_PRECOMPILE | FOR_TUNE, FIELD(output), 0, 0},
    {"--embed", "FILE.h", "write the programs there, as a C header", OPTION_TEXT, FOR_PRECOMPILE, FIELD(embed), 0, 0},
    {"--wisdom", "FILE", "make plans as measured before, by 'ipt tune'", OPTION_TEXT,
     FOR_PLANS | FOR_TRANSPOSE | FOR_TUNE, FIELD(wisdom), 0, 0},
    {"--raw", "ROWSxCOLS:BYTES", "FILE has no header: one such matrix or several", OPTION_RAW, FOR_TRANSPOSE,
     FIELD(raw), 0, 0},
    {"--memory", "BYTES", "host memory to take at most, with K, M or G behind it (1G)", OPTION_BYTES, FOR_TRANSPOSE,
     FIELD(memory), 1, SIZE_MAX},
    {"--matrix-memory", "BYTES", NULL, OPTION_BYTES, FOR_TRANSPOSE, FIELD(matrix_memory), 1, SIZE_MAX},
    {"--resume", NULL, "go on where FILE's transposition was stopped", OPTION_SWITCH, FOR_TRANSPOSE, FIELD(resume), 0,
     0},
    {"--sync", NULL, "flush each step to the disk, against power failures, too", OPTION_SWITCH, FOR_TRANSPOSE,
     FIELD(sync), 0, 0},
    {"--no-journal", NULL, "keep no journal: what is stopped is lost", OPTION_SWITCH, FOR_TRANSPOSE, FIELD(no_journal),
     0, 0},
    {"--verbose", NULL, "say what was done", OPTION_SWITCH, FOR_TRANSPOSE | FOR_PRECOMPILE | FOR_TUNE, FIELD(verbose),
     0, 0},
    {"--sequence", "NAME", "force a sequence of stages instead of choosing one", OPTION_SEQUENCE, FOR_PLANS,
     FIELD(sequence), 0, 0},
    {"--tile-m", "N", "length of the tiles, or super-elements, along the rows", OPTION_NUMBER, FOR_PLANS, FIELD(tile_m),
     0, SIZE_MAX},
    {"--tile-n", "N", "the same along the columns", OPTION_NUMBER, FOR_PLANS, FIELD(tile_n), 0, SIZE_MAX},
    {"--batch", "N", "that many matrices, back to back (1)", OPTION_NUMBER, FOR_PLANS | FOR_TUNE, FIELD(batch), 1,
     SIZE_MAX},
    {"--workspace", "BYTES", "device memory the plan may hold beside the matrix", OPTION_NUMBER, FOR_PLANS | FOR_TUNE,
     FIELD(workspace), 0, SIZE_MAX},
    {"--measure", NULL, "try the most promising plans on the device", OPTION_SWITCH, FOR_PLANS, FIELD(measure), 0, 0},
    {"--no-cooperative", NULL, "no kernel whose work-groups wait for one another", OPTION_SWITCH, FOR_PLANS | FOR_TUNE,
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
    {"--expression", "TEXT", "OpenCL C: what becomes of each element x on the way", OPTION_TEXT, FOR_MOVES | FOR_TUNE,
     FIELD(expression), 0, 0},
    {"--type", "NAME", "the OpenCL C type of x (a .npy file's own, else float)", OPTION_TEXT, FOR_MOVES | FOR_TUNE,
     FIELD(expression_type), 0, 0},
    {"--shapes", "FILE", "the shapes of a file: lines of rows and cols, # comments", OPTION_TEXT,
     FOR_BENCH | FOR_PRECOMPILE | FOR_TUNE, FIELD(shapes), 0, 0},
    {"--random", "COUNT", "so many random shapes, the same for the same --seed", OPTION_NUMBER, FOR_BENCH,
     FIELD(random.count), 1, MAX_COUNT},
    {"--elem-size", "N", "bytes of their elements (4)", OPTION_NUMBER, FOR_BENCH | FOR_PRECOMPILE | FOR_TUNE,
     FIELD(elem_size), 1, SIZE_MAX},
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
    {"--out-of-place", NULL, "what transpositions into a second matrix need, too", OPTION_SWITCH, FOR_PRECOMPILE,
     FIELD(out_of_place), 0, 0},
    {"--startup", NULL, "measure what a program waits for at its start instead", OPTION_SWITCH, FOR_BENCH,
     FIELD(startup), 0, 0},
    {"--startup-step", NULL, NULL, OPTION_SWITCH, FOR_BENCH, FIELD(startup_step), 0, 0},
    {"--csv", "FILE", "write all results there", OPTION_TEXT, FOR_BENCH, FIELD(csv), 0, 0},
    {"--help", NULL, "show this text", OPTION_SWITCH, FOR_ALL, FIELD(help), 0, 0},
};
enum { OPTION_COUNT = sizeof options / sizeof options[0] }; /* at most 64: see arguments.seen */

/* The last two may be left out. */
typedef enum operand_kind {
    OPERAND_NONE,
    OPERAND_FILE,
    OPERAND_SHAPE,
    OPERAND_OPTIONAL_SHAPE,
    OPERAND_SHAPES
} operand_kind;

typedef struct command {
    const char *name;
    operand_kind operand;
    const char *help;
    unsigned options;
    int (*run)(const arguments *given);
    const char *notes; /* what its help says behind the options; NULL: nothing */
} command;

static int run_devices(const arguments *given);
static int run_transpose(const arguments *given);
static int run_plan(const arguments *given);
static int run_source(const arguments *given);
static int run_precompile(const arguments *given);
static int run_tune(const arguments *given);
static int run_bench(const arguments *given);

static const command commands[] = {
    {"devices", OPERAND_NONE, "list the OpenCL devices and mark the one that is used", FOR_ALL | FOR_DEVICES,
     run_devices, NULL},
    {"transpose", OPERAND_FILE, "transpose the matrix, or each matrix, of a NumPy file (.npy) in place",
     FOR_ALL | FOR_TRANSPOSE | FOR_MOVES, run_transpose,
     "The file may be larger than memory. Meanwhile a journal lies beside it, FILE" JOURNAL_SUFFIX
     ", of at most --memory\n"
     "bytes: whatever ends the work, Ctrl-C, a kill, with --sync a power failure, 'ipt transpose --resume FILE' goes\n"
     "on where it stopped. More --memory means larger steps."},
    {"plan", OPERAND_SHAPE, "show how such a matrix is transposed",
     FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES, run_plan, NULL},
    {"source", OPERAND_SHAPE, "show the OpenCL C text of the plan's programs",
     FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES, run_source, NULL},
    {"precompile", OPERAND_SHAPES, "store the plans' programs compiled, for programs that must not compile",
     FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES | FOR_PRECOMPILE, run_precompile,
     "Takes shapes, or those of --shapes, and needs --output, --embed or both. Without --target the device's own\n"
     "compiler makes the programs, which other devices and drivers do not take. Nothing of it comes from a cache,\n"
     "unless --cache names one."},
    {"tune", OPERAND_SHAPES, "measure which plans are the fastest, for --wisdom", FOR_ALL | FOR_TUNE, run_tune,
     "Takes shapes, or those of --shapes. --wisdom FILE --output FILE keeps what a file says and adds to it."},
    {"bench", OPERAND_OPTIONAL_SHAPE, "measure transpositions in place against copies on the device",
     FOR_ALL | FOR_PLANS | FOR_BENCH, run_bench,
     "The matrices are ROWSxCOLS:BYTES, or those of --shapes, or those of --random. Every result is verified on\n"
     "the device. Speeds count bytes read and bytes written; ratio is the speed over that of the copy, ipt/BLAS\n"
     "the speed on the device over that of BLAS on the host, latency the time of an execution alone.\n\n"
     "--startup starts new processes, with ipt's cache switched off, empty (filling) and filled (warm), each with\n"
     "the driver's own cache (PoCL's, NVIDIA's) switched off and on. Each makes a context and a plan of\n"
     "ROWSxCOLS:BYTES, executes it, and makes plans of 50 other shapes that --seed draws."},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const char *const operand_names[] = {"", "FILE", "ROWSxCOLS:BYTES", "[ROWSxCOLS:BYTES]", "[SHAPE ...]"};

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static void show_version(FILE *stream)
{
    int version = ipt_version();
    fprintf(stream, "ipt %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

static void show_options(unsigned shown)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if ((options[i].commands & shown) != 0 && options[i].help != NULL) {
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
        puts("\nEach SHAPE is ROWSxCOLS:BYTES.");
    }
    if (chosen->notes != NULL) {
        printf("\n%s\n", chosen->notes);
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
    puts("ROWSxCOLS:BYTES, or SHAPE, is a row-major matrix and the size of its elements: 1000x777:4\n\n"
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

static int too_large(const matrix_shape *shape, size_t count)
{
    return usage_error("%zux%zu elements of %zu bytes, %zu times, are too large for this machine", shape->rows,
                       shape->cols, shape->elem_size, count);
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
            return chosen->most == SIZE_MAX
                       ? usage_error("%s takes a number from %zu up, not '%s'", chosen->name, chosen->least, text)
                       : usage_error("%s takes a number from %zu to %zu, not '%s'", chosen->name, chosen->least,
                                     chosen->most, text);
        }
        *(size_t *)field = number;
        return 0;
    }
    case OPTION_BYTES: {
        static const char units[] = "KMG";
        char digits[32] = "";
        const char *rest = digits, *unit = strpbrk(text, units);
        size_t number = 0, length = unit == NULL ? strlen(text) : (size_t)(unit - text);
        unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(strchr(units, *unit) - units + 1);
        if (length < sizeof digits) {
            memcpy(digits, text, length);
        }
        if ((unit != NULL && unit[1] != '\0') || !read_number(&rest, "", &number) || number == 0 ||
            number > SIZE_MAX >> shift) {
            return usage_error("%s takes a number of bytes, such as 256M, not '%s'", chosen->name, text);
        }
        *(size_t *)field = number << shift;
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

/* Checks the operands. Returns 0 or the exit code. */
static int read_operands(const command *chosen, arguments *given)
{
    bool optional = chosen->operand == OPERAND_OPTIONAL_SHAPE || chosen->operand == OPERAND_SHAPES;
    bool has_shape = chosen->operand == OPERAND_SHAPE || optional;
    size_t bytes;
    if (chosen->operand == OPERAND_NONE) {
        return 0;
    }
    if (given->operand == NULL && !optional) {
        return usage_error("'%s' needs %s", chosen->name, operand_names[chosen->operand]);
    }
    for (size_t i = given->operand_count; has_shape && i-- > 0;) { /* the last one read is the first */
        if (!read_shape(given->operands[i], &given->shape)) {
            return usage_error("'%s' takes ROWSxCOLS:BYTES, such as 1000x777:4, not '%s'", chosen->name,
                               given->operands[i]);
        }
        if (!shape_bytes(&given->shape, given->batch, &bytes)) {
            return too_large(&given->shape, given->batch);
        }
    }
    if (given->raw && !shape_bytes(&given->shape, given->batch, &bytes)) {
        return too_large(&given->shape, given->batch);
    }
    return 0;
}

/* What a context without a device cannot have. Returns 0 or the exit code. */
static int check_profile(const arguments *given)
{
    const char *senseless = given->measure          ? "--measure"
                            : given->device != NULL ? "--device"
                            : given->cache != NULL  ? "--cache"
                                                    : NULL;
    if (given->profile != NULL && senseless != NULL) {
        return usage_error("%s does not go with --profile, which takes the place of a device", senseless);
    }
    return 0;
}

/* Returns 0 or the exit code. */
static int check_expression(const arguments *given)
{
    if (given->expression_type != NULL && given->expression == NULL) {
        return usage_error("--type is for --expression, which is missing");
    }
    bool sized = given->raw || given->operand_count > 0;
    if (given->expression == NULL || given->expression_type != NULL || !sized || given->shape.elem_size == 0) {
        return 0;
    }
    return given->shape.elem_size == sizeof(float)
               ? 0
               : usage_error("--expression needs --type: x is a float of 4 bytes without, and the elements have %zu",
                             given->shape.elem_size);
}

/* Reads the words after the command's name. Operands come to stand at the front of them. Returns 0 or the exit code. */
static int read_arguments(const command *chosen, char **words, arguments *given)
{
    bool options_ended = false;
    size_t most = chosen->operand == OPERAND_NONE ? 0 : chosen->operand == OPERAND_SHAPES ? SIZE_MAX : 1;
    char **operands = words;
    given->operands = operands;
    for (; *words != NULL; words++) {
        char *word = *words;
        if (options_ended || word[0] != '-' || word[1] == '\0') {
            if (given->operand_count == most) {
                return usage_error("'%s' is one word too many for '%s'", word, chosen->name);
            }
            operands[given->operand_count++] = word;
            given->operand = operands[0];
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
        given->seen |= (uint64_t)1 << (found - options);
        int code = read_option(found, value, given);
        if (code != 0) {
            return code;
        }
    }
    if (given->help) {
        return 0;
    }
    int code = read_operands(chosen, given);
    if (code == 0) {
        code = check_expression(given);
    }
    return code != 0 ? code : check_profile(given);
}

/* Whether any of the options of that name was given. */
static bool was_given(const arguments *given, const char *name)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(options[i].name, name) == 0 && (given->seen >> i & 1) != 0) {
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* What the commands share */
/* ------------------------------------------------------------------------------------------------------------------ */

/* What the library's fields and values are called on the command line; in text none is a part of a longer word. */
static const char *const option_names[][2] = {
    {"flags has IPT_PAD", "--pad is given"},
    {"flags has no IPT_PAD", "--pad is not given"},
    {"flags has IPT_MEASURE", "--measure is given"},
    {"IPT_PAD", "--pad"},
    {"IPT_MEASURE", "--measure"},
    {"IPT_NO_COOPERATIVE", "--no-cooperative"},
    {"IPT_OUT_OF_PLACE", "--out-of-place"},
    {"or use IPT_SEQUENCE_TWO_PASS", "or use --sequence two-pass"},
    {"IPT_SEQUENCE_TWO_PASS", "--sequence two-pass"},
    {"max_workspace", "--workspace"},
    {"max_host_memory", "--memory"},
    {"tile_m", "--tile-m"},
    {"tile_n", "--tile-n"},
    {"variant_010", "--variant-010"},
    {"variant_100", "--variant-100"},
    {"variant_pad", "--variant-pad"},
    {"flag_spread", "--flag-spread"},
    {"device_name", "--device"},
    {"cache_dir", "--cache"},
    {"expression_type", "--type"},
    {"expression is", "--expression is"},
    {"expression:", "--expression:"},
    {"elem_size =", "the elements' size ="},
    {"elem_size", "the elements' size"},
    {"for 18446744073709551615 bytes", "without a limit"},
    {"18446744073709551615", "no limit"},
};

/* The library's sentence in the command line's words. */
static void translate(const char *sentence, char *text, size_t capacity)
{
    size_t length = 0;
    bool inside = false; /* of a word */
    while (*sentence != '\0' && length + 40 < capacity) {
        size_t found = SIZE_MAX, size = 1;
        for (size_t i = 0; i < sizeof option_names / sizeof option_names[0] && !inside && found == SIZE_MAX; i++) {
            size_t wanted = strlen(option_names[i][0]);
            const char after = strncmp(sentence, option_names[i][0], wanted) == 0 ? sentence[wanted] : '_';
            if (after != '_' && !isalnum((unsigned char)after)) {
                found = i;
                size = wanted;
            }
        }
        inside = found == SIZE_MAX && (isalnum((unsigned char)*sentence) || *sentence == '_' || *sentence == '\'');
        length += (size_t)snprintf(text + length, capacity - length, "%.*s",
                                   found == SIZE_MAX ? 1 : (int)strlen(option_names[found][1]),
                                   found == SIZE_MAX ? sentence : option_names[found][1]);
        sentence += size;
    }
    text[length] = '\0';
}

/* Prints what ipt says about the last failure, behind what it is about, which may be NULL. Returns the exit code. */
static int fail_ipt(const char *about)
{
    char sentence[8192];
    translate(ipt_context_error(NULL), sentence, sizeof sentence);
    return about == NULL ? fail("%s", sentence) : fail("%s: %s", about, sentence);
}

/* A text for the library, which the caller frees. */
static int read_text(const char *path, const char *what, char **text)
{
    char reason[TEXT_REASON_SIZE];
    size_t length;
    if (!text_read(path, MAX_TEXT_SIZE, what, text, &length, reason)) {
        return fail("%s: %s", path, reason);
    }
    return strlen(*text) == length ? 0 : fail("%s: it is not a text", path);
}

/* Adds a file's wisdom to a context. */
static int read_wisdom(const char *path, ipt_context *context)
{
    char *text = NULL;
    int code = read_text(path, "wisdom", &text);
    if (code == 0 && ipt_wisdom_import(context, text) != IPT_SUCCESS) {
        code = fail_ipt(path);
    }
    free(text);
    return code;
}

/* A context as the command line wants it. about: what a failure is about, NULL for nothing. On failure it is NULL. */
static int make_context(const arguments *given, const char *about, ipt_context **context)
{
    ipt_context_desc desc = {0};
    char *profile = NULL;
    int code = given->profile != NULL ? read_text(given->profile, "a profile", &profile) : 0;
    *context = NULL;
    desc.device_name = given->device;
    desc.cache_dir = given->cache;
    desc.profile = profile;
    desc.logger.log = watch_for_aborts;
    if (code == 0 && ipt_context_create(&desc, context) != IPT_SUCCESS) {
        code = fail_ipt(profile != NULL ? given->profile : about);
    }
    if (code == 0 && given->wisdom != NULL) {
        code = read_wisdom(given->wisdom, *context);
    }
    if (code != 0) {
        ipt_context_destroy(*context);
        *context = NULL;
    }
    free(profile);
    return code;
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
                 (given->pad ? IPT_PAD : 0) | (given->out_of_place ? IPT_OUT_OF_PLACE : 0);
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
    int code = make_context(given, given->operand, context);
    if (code != 0) {
        return code;
    }
    ipt_plan_desc desc = describe_plan(given);
    if (ipt_plan_create(*context, &desc, plan) != IPT_SUCCESS) {
        code = fail_ipt(given->operand);
        ipt_context_destroy(*context);
        *context = NULL;
    }
    return code;
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

/* Prints a text that ipt knows of a context. */
static int show_text(ipt_context *context, ipt_result (*read)(ipt_context *, char *, size_t, size_t *))
{
    size_t capacity = (size_t)1 << 16, wanted = 0;
    char *text = malloc(capacity);
    ipt_result result = text == NULL ? IPT_ERROR_OUT_OF_MEMORY : read(context, text, capacity, &wanted);
    if (text != NULL && result == IPT_ERROR_INVALID_ARGUMENT && wanted > capacity) {
        capacity = wanted;
        free(text);
        text = malloc(capacity);
        result = text == NULL ? IPT_ERROR_OUT_OF_MEMORY : read(context, text, capacity, &wanted);
    }
    int code = 0;
    if (text == NULL) {
        code = fail("out of memory for a text of %zu bytes", capacity);
    } else if (result != IPT_SUCCESS) {
        code = fail_ipt(NULL);
    } else {
        fputs(text, stdout);
    }
    free(text);
    return code;
}

/* A file that is written beside its place, and moved there once it is complete. */
typedef struct draft {
    const char *name;   /* as it was given */
    char *place, *path; /* where it belongs, and where it is written */
} draft;

/* Names it, and proves that a file can be made there before the work for its content begins. */
static int begin_draft(const char *name, draft *made)
{
    struct stat status;
    made->name = name;
    made->place = realpath(name, NULL); /* behind links */
    if (made->place == NULL) {
        made->place = strdup(name);
    }
    size_t capacity = strlen(name) + (made->place != NULL ? strlen(made->place) : 0) + 40;
    made->path = malloc(capacity);
    if (made->place == NULL || made->path == NULL) {
        return fail("%s: out of memory for its name", name);
    }
    snprintf(made->path, capacity, "%s.%ld.tmp", made->place, (long)getpid());
    if (stat(made->place, &status) == 0 && !S_ISREG(status.st_mode)) {
        return fail("%s: it is not a regular file", name);
    }
    int descriptor = open(made->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        return fail("%s: %s", name, strerror(errno));
    }
    close(descriptor);
    unlink(made->path);
    return 0;
}

/* Moves it to its place, or removes it if it is not complete. Returns the exit code: that one, unless this failed. */
static int end_draft(draft *made, bool complete, int code)
{
    if (complete && rename(made->path, made->place) != 0) {
        code = fail("%s: %s", made->name, strerror(errno));
        complete = false;
    }
    if (!complete && made->path != NULL) {
        unlink(made->path);
    }
    free(made->path);
    free(made->place);
    return code;
}

/* The shapes of commands that take several. */
typedef struct shape_list {
    matrix_shape *items;
    size_t count;
} shape_list;

/* --elem-size goes with shapes that have none. Returns 0 or the exit code. */
static int check_elem_size(const arguments *given, const char *places)
{
    if (given->operand != NULL && was_given(given, "--elem-size")) {
        return usage_error("--elem-size is for %s: %s has its own", places, given->operand);
    }
    return 0;
}

/* Either operands or --shapes. Returns 0 or the exit code. */
static int check_shapes(const arguments *given, const char *name)
{
    if ((given->operand != NULL) == (given->shapes != NULL)) {
        return usage_error("'%s' takes shapes, ROWSxCOLS:BYTES, or --shapes", name);
    }
    return check_elem_size(given, "--shapes");
}

/* Reads them; the caller frees items. */
static int take_shapes(const arguments *given, shape_list *list)
{
    char message[BENCH_MESSAGE_SIZE];
    bench_shapes read = {0};
    if (given->shapes != NULL && !bench_read_shapes(given->shapes, given->elem_size, &read, message)) {
        free(read.items);
        return fail("%s", message);
    }
    list->count = given->shapes != NULL ? read.count : given->operand_count;
    list->items = calloc(list->count, sizeof *list->items);
    for (size_t i = 0; i < list->count && list->items != NULL; i++) {
        matrix_shape *shape = &list->items[i];
        if (given->shapes != NULL) {
            shape->rows = read.items[i].rows;
            shape->cols = read.items[i].cols;
            shape->elem_size = given->elem_size;
        } else {
            (void)read_shape(given->operands[i], shape); /* checked with the command line */
        }
    }
    free(read.items);
    return list->items != NULL ? 0 : fail("out of memory for %zu shapes", list->count);
}

/* Makes a plan of each and destroys it again; what stays is in the context. A failure ends it unless all_of_them. */
static int plan_shapes(const arguments *given, const shape_list *list, ipt_context *context, bool all_of_them)
{
    int code = 0;
    for (size_t i = 0; i < list->count && (code == 0 || all_of_them); i++) {
        ipt_plan *plan;
        arguments wanted = *given;
        char name[80];
        wanted.shape = list->items[i];
        ipt_plan_desc desc = describe_plan(&wanted);
        snprintf(name, sizeof name, "%zux%zu:%zu", desc.rows, desc.cols, desc.elem_size);
        double start = seconds_now();
        if (ipt_plan_create(context, &desc, &plan) != IPT_SUCCESS) {
            code = fail_ipt(name);
        } else if (given->verbose) {
            fprintf(stderr, "%zu of %zu: %s in %.3f seconds\n", i + 1, list->count, name, seconds_now() - start);
        }
        ipt_plan_destroy(plan);
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt devices */
/* ------------------------------------------------------------------------------------------------------------------ */

static int show_profile(const arguments *given)
{
    ipt_context *context;
    int code = make_context(given, NULL, &context);
    if (code == 0) {
        code = show_text(context, ipt_context_profile);
    }
    ipt_context_destroy(context);
    return code;
}

static int run_devices(const arguments *given)
{
    size_t count;
    if (given->write_profile) {
        return show_profile(given);
    }
    if (ipt_device_list(NULL, 0, &count) != IPT_SUCCESS) {
        return fail_ipt(NULL);
    }
    cl_device_id *devices = calloc(count, sizeof *devices);
    if (devices == NULL) {
        return fail("out of memory");
    }
    size_t capacity = count;
    if (ipt_device_list(devices, capacity, &count) != IPT_SUCCESS) {
        free(devices);
        return fail_ipt(NULL);
    }
    count = count < capacity ? count : capacity;
    /* The list is of use also where no device can be chosen. */
    ipt_context *context = NULL;
    int code = make_context(given, NULL, &context);
    for (size_t i = 0; i < count; i++) {
        char text[2048];
        bool marked = context != NULL && ipt_context_cl_device(context) == devices[i];
        printf("device %zu%s\n", i, !marked ? "" : given->device == NULL ? " (default)" : " (chosen)");
        if (ipt_device_describe(devices[i], text, sizeof text) != IPT_SUCCESS) {
            char name[40];
            snprintf(name, sizeof name, "device %zu", i);
            code = fail_ipt(name);
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
/* ipt precompile */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A program, or what is known of the device, as it lies in a cache folder. */
typedef struct program_entry {
    unsigned char *bytes;
    size_t size;
    const char *source; /* the context's; NULL: it is no program */
} program_entry;

typedef struct precompiled {
    ipt_context *context;
    shape_list shapes;
    offline_target target; /* if there is one */
    program_entry *entries;
    size_t count, programs, size;
} precompiled;

/* Prints which program it is, as the comment at its beginning says. */
static void show_entry(const program_entry *entry)
{
    const char *text = entry->source == NULL ? NULL : strstr(entry->source, ", ");
    if (text == NULL) {
        printf("%s", entry->source == NULL ? "device" : "program");
    } else {
        const char *settings = strstr(text, ": ");
        printf("%.*s", (int)strcspn(text + 2, ". *"), text + 2);
        if (settings != NULL) {
            printf("%.*s", (int)strcspn(settings + 1, "\n") - (int)strlen(" */"), settings + 1);
        }
    }
    printf(": %zu bytes\n", entry->size);
}

/* Takes an entry out of the context, with the code that clang has made of its source where there is a target. */
static int take_entry(const arguments *given, precompiled *work, size_t index)
{
    program_entry *entry = &work->entries[index];
    const char *options = "", *target = NULL;
    char message[OFFLINE_MESSAGE_SIZE];
    unsigned char *code = NULL;
    size_t code_size = 0, size = 0;
    entry->source = ipt_context_entry_source(work->context, index, &options);
    if (entry->source != NULL && given->target != NULL) {
        if (!offline_compile(&work->target, entry->source, options, &code, &code_size, message)) {
            return fail("%s: %s", given->target, message);
        }
        target = given->target;
    }
    ipt_result result = ipt_context_entry(work->context, index, target, code, code_size, NULL, 0, &size);
    if (result == IPT_SUCCESS) {
        entry->bytes = malloc(size);
        result = entry->bytes == NULL
                     ? IPT_ERROR_OUT_OF_MEMORY
                     : ipt_context_entry(work->context, index, target, code, code_size, entry->bytes, size, &size);
    }
    free(code);
    if (result != IPT_SUCCESS) {
        return entry->bytes == NULL && size > 0 ? fail("out of memory for %zu bytes", size) : fail_ipt(NULL);
    }
    entry->size = size;
    work->size += size;
    work->programs += entry->source != NULL;
    if (given->verbose) {
        show_entry(entry);
    }
    return 0;
}

static int take_entries(const arguments *given, precompiled *work)
{
    char commands[OFFLINE_MESSAGE_SIZE * 4];
    const char *options;
    size_t count = ipt_context_entry_count(work->context);
    if (ipt_context_entry_source(work->context, 0, &options) == NULL) {
        return fail("these shapes need no program");
    }
    work->entries = calloc(count, sizeof *work->entries);
    if (work->entries == NULL) {
        return fail("out of memory for %zu programs", count);
    }
    work->count = count;
    if (given->verbose && given->target != NULL) {
        offline_commands(&work->target, options, commands, sizeof commands);
        fputs(commands, stdout);
    }
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        code = take_entry(given, work, i);
    }
    return code;
}

static int store_entries(const precompiled *work, const char *folder)
{
    for (size_t i = 0; i < work->count; i++) {
        if (ipt_cache_store(folder, work->entries[i].bytes, work->entries[i].size) != IPT_SUCCESS) {
            return fail_ipt(NULL);
        }
    }
    return 0;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

#define IDENTIFIER_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* The identifier for a header's array: the file's name, as far as C and C++ take it. */
static void name_array(const char *path, char *name, size_t capacity)
{
    static const char keywords[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast "
        "constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false "
        "float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
        "private protected public register reinterpret_cast requires restrict return short signed sizeof static "
        "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename "
        "union unsigned using virtual void volatile wchar_t while xor xor_eq NULL free main malloc stdin stdout "
        "stderr ";
    const char *file = file_name(path), *point = strrchr(file, '.');
    size_t count = point == NULL ? strlen(file) : (size_t)(point - file), length = 0;
    /* Names that begin with ipt are the library's. */
    if (count == 0 || strspn(file, IDENTIFIER_LETTERS) == 0 || strncasecmp(file, "ipt", 3) == 0) {
        length = (size_t)snprintf(name, capacity, "programs_");
    }
    for (size_t i = 0; i < count && length + sizeof "_programs" < capacity; i++) {
        bool good = strchr(IDENTIFIER_LETTERS "0123456789", file[i]) != NULL;
        if (good || length == 0 || name[length - 1] != '_') {
            name[length++] = good ? file[i] : '_';
        }
    }
    while (name[length - 1] == '_') {
        length--;
    }
    name[length] = '\0';
    for (const char *found = keywords; (found = strstr(found, name)) != NULL; found++) {
        if (found[-1] == ' ' && found[length] == ' ') { /* a blank is on either side */
            strcpy(name + length, "_programs");
            break;
        }
    }
}

/* Text within a comment, which it must not end. */
static void write_comment(FILE *stream, const char *text)
{
    for (char before = '\0'; *text != '\0'; before = *text++) {
        bool harmful = (before == '*' && *text == '/') || (before == '/' && *text == '*') || *text == '\n' ||
                       *text == '\r' || *text == '\\';
        fputc(harmful ? ' ' : *text, stream);
    }
}

static void write_bytes(FILE *stream, const unsigned char *bytes, size_t size)
{
    size_t column = 0;
    for (size_t i = 0; i < size; i++) {
        char text[8];
        size_t length = (size_t)snprintf(text, sizeof text, "%u,", bytes[i]);
        if (column + length > 120) {
            fputc('\n', stream);
            column = 0;
        }
        fputs(text, stream);
        column += length;
    }
}

/* The comment at the header's top: what it was made of, and for. */
static void write_heading(FILE *stream, const arguments *given, const precompiled *work)
{
    char device[256] = "a device";
    size_t column = 0;
    fputs("/* Written by ", stream);
    show_version(stream);
    fputs(" precompile", stream);
    if (given->shapes != NULL) {
        fputs(" --shapes ", stream);
        write_comment(stream, given->shapes);
        fprintf(stream, " --elem-size %zu", given->elem_size);
    }
    for (size_t i = 0; i < given->operand_count; i++) {
        column += strlen(given->operands[i]) + 1;
        fputs(column > 80 ? "\n * " : " ", stream);
        fputs(given->operands[i], stream);
        column = column > 80 ? 0 : column;
    }
    if (given->target == NULL) {
        clGetDeviceInfo(ipt_context_cl_device(work->context), CL_DEVICE_NAME, sizeof device, device, NULL);
    }
    fputs(", for ", stream);
    write_comment(stream, given->target != NULL ? given->target : device);
    fputs(" */\n", stream);
}

static void write_header(FILE *stream, const arguments *given, const precompiled *work)
{
    char name[300], guard[300];
    name_array(given->embed, name, sizeof name);
    for (size_t i = 0; i <= strlen(name); i++) {
        guard[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);
    }
    write_heading(stream, given, work);
    fprintf(stream,
            "#ifndef %s_H_INCLUDED\n#define %s_H_INCLUDED\n\n#include \"ipt.h\"\n\n"
            "/* Programs, compiled: set binaries = %s and binary_count = %s_count in ipt_context_desc,\n"
            " * and plans of these shapes compile nothing. With IPT_CACHE_ONLY among the flags in ipt_plan_desc plans\n"
            " * never compile: what is not here is IPT_ERROR_CACHE_MISS. */\n\n",
            guard, guard, name, name);
    for (size_t i = 0; i < work->count; i++) {
        fprintf(stream, "static const unsigned char %s_%zu[] = {\n", name, i);
        write_bytes(stream, work->entries[i].bytes, work->entries[i].size);
        fputs("\n};\n\n", stream);
    }
    fprintf(stream, "static const ipt_binary %s[] = {\n", name);
    for (size_t i = 0; i < work->count; i++) {
        fprintf(stream, "    {%s_%zu, sizeof %s_%zu},\n", name, i, name, i);
    }
    fprintf(stream, "};\n\nenum { %s_count = sizeof %s / sizeof %s[0] };\n\n#endif /* %s_H_INCLUDED */\n", name, name,
            name, guard);
}

static int embed_entries(const arguments *given, const precompiled *work, const draft *header)
{
    FILE *stream = fopen(header->path, "w");
    bool good = stream != NULL;
    if (good) {
        write_header(stream, given, work);
        good = !ferror(stream);
        good = fclose(stream) == 0 && good;
    }
    return good ? 0 : fail("%s: %s", given->embed, strerror(errno));
}

/* Which options go with which. Returns 0 or the exit code. */
static int check_precompile(const arguments *given, offline_target *target)
{
    char message[OFFLINE_MESSAGE_SIZE];
    int code = check_shapes(given, "precompile");
    if (code != 0) {
        return code;
    }
    if (given->output == NULL && given->embed == NULL) {
        return usage_error("'precompile' needs --output DIR, --embed FILE.h or both");
    }
    struct stat status;
    if (given->output != NULL && *given->output == '\0') {
        return usage_error("--output takes a folder, not ''");
    }
    if (given->output != NULL && stat(given->output, &status) == 0 && !S_ISDIR(status.st_mode)) {
        return fail("%s: it is not a folder", given->output);
    }
    if (given->embed != NULL) {
        const char *name = file_name(given->embed);
        if (*name == '\0' || strcmp(name, "ipt.h") == 0 || strcmp(name, "ipt_kernels.h") == 0) {
            return usage_error("--embed takes the name of a new header, not '%s'", given->embed);
        }
    }
    if (given->profile != NULL && given->target == NULL) {
        return usage_error("--profile needs --target: without the device there is no compiler of its own");
    }
    if (given->target != NULL && !offline_read_target(given->target, target, message)) {
        return usage_error("--target: %s", message);
    }
    return 0;
}

/* The work, but for moving the header to its place. */
static int precompile(const arguments *given, precompiled *work, const draft *header)
{
    char message[OFFLINE_MESSAGE_SIZE];
    if (given->target != NULL && !offline_available(&work->target, message)) {
        return fail("%s: %s", given->target, message);
    }
    int code = take_shapes(given, &work->shapes);
    if (code == 0) {
        code = make_context(given, NULL, &work->context);
    }
    if (code == 0) {
        code = plan_shapes(given, &work->shapes, work->context, false);
    }
    if (code == 0) {
        code = take_entries(given, work);
    }
    if (code == 0 && given->output != NULL) {
        code = store_entries(work, given->output);
    }
    if (code == 0 && given->embed != NULL) {
        code = embed_entries(given, work, header);
    }
    return code;
}

static int run_precompile(const arguments *command_line)
{
    double start = seconds_now();
    precompiled work = {0};
    draft header = {0};
    int code = check_precompile(command_line, &work.target);
    if (code != 0) {
        return code;
    }
    arguments given = *command_line;
    if (given.cache == NULL) {
        given.cache = "";
    }
    if (given.embed != NULL) {
        code = begin_draft(given.embed, &header);
    }
    if (code == 0) {
        code = precompile(&given, &work, &header);
    }
    if (given.embed != NULL) {
        code = end_draft(&header, code == 0, code);
    }
    if (code == 0) {
        bool both = given.output != NULL && given.embed != NULL;
        printf("%zu program%s%s, %zu bytes, to %s%s%s in %.3f seconds\n", work.programs, work.programs == 1 ? "" : "s",
               work.programs < work.count ? " and what is known of the device" : "", work.size,
               given.output != NULL ? given.output : "", both ? " and " : "", given.embed != NULL ? given.embed : "",
               seconds_now() - start);
    }
    for (size_t i = 0; i < work.count; i++) {
        free(work.entries[i].bytes);
    }
    free(work.entries);
    free(work.shapes.items);
    ipt_context_destroy(work.context);
    return code;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt tune */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Measures all shapes, and writes what was found to the draft or, if there is none, to standard output. */
static int tune(const arguments *given, const shape_list *shapes, const draft *file, bool *complete)
{
    ipt_context *context;
    int code = make_context(given, NULL, &context), written = 0;
    if (code != 0) {
        return code;
    }
    /* A shape that fails does not lose what has been measured for the others. */
    code = plan_shapes(given, shapes, context, true);
    if (given->output == NULL) {
        written = show_text(context, ipt_wisdom_export);
    } else if (ipt_wisdom_export_file(context, file->path) != IPT_SUCCESS) {
        written = fail("%s: it cannot be written", given->output);
    } else {
        *complete = true;
    }
    ipt_context_destroy(context);
    return code != 0 ? code : written;
}

static int run_tune(const arguments *command_line)
{
    shape_list shapes = {0};
    draft file = {0};
    bool complete = false;
    arguments given = *command_line;
    given.measure = true;
    int code = check_shapes(&given, "tune");
    if (code == 0 && given.output != NULL && *given.output == '\0') {
        code = usage_error("--output takes a file, not ''");
    }
    if (code != 0) {
        return code;
    }
    code = take_shapes(&given, &shapes);
    if (code == 0 && given.output != NULL) {
        code = begin_draft(given.output, &file);
    }
    if (code == 0) {
        code = tune(&given, &shapes, &file, &complete);
    }
    if (given.output != NULL) {
        code = end_draft(&file, complete, code);
    }
    free(shapes.items);
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
    size_t data_offset;                       /* where the data begins; 0 without a header */
    npy_span text;                            /* the header's text, if there is one */
    npy_header header;                        /* the same, understood */
    matrix_shape shape;                       /* of each matrix as it lies in the file, row-major */
    size_t batch;                             /* 0: no data */
    char *before;                             /* the file up to the data, as it is */
    char *after;                              /* and as it will be */
    const char *expression, *expression_type; /* for the elements as they are; NULL: none */
    char *wrapped;                            /* what expression points to, if it is not the command line's */
} matrix_file;

/* Opens for reading and writing, and checks that the file is one that may be rewritten, by nobody else meanwhile. */
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
    if (flock(file->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return fail("%s: another process is transposing it", file->path);
    }
    file->size = (size_t)status.st_size;
    return 0;
}

/* Reads or writes size bytes that stand offset bytes into the file. Returns 0, or an error number; -1: the file has
 * ended. For any thread. */
static int move_bytes(const matrix_file *file, void *memory, size_t offset, size_t size, bool writes)
{
    for (size_t done = 0; done < size;) {
        char *next = (char *)memory + done;
        ssize_t moved = writes ? pwrite(file->descriptor, next, size - done, (off_t)(offset + done))
                               : pread(file->descriptor, next, size - done, (off_t)(offset + done));
        if (moved < 0 && errno == EINTR) {
            continue;
        }
        if (moved <= 0) {
            return moved < 0 ? errno : -1;
        }
        done += (size_t)moved;
    }
    return 0;
}

static const char *move_error(int error)
{
    return error == -1 ? "the file became shorter" : strerror(error);
}

/* The beginning of the file, up to the data, which the caller frees. */
static int read_beginning(const matrix_file *file, char **beginning)
{
    *beginning = malloc(file->data_offset + 1);
    if (*beginning == NULL) {
        return fail("%s: out of memory for a header of %zu bytes", file->path, file->data_offset);
    }
    int error = move_bytes(file, *beginning, 0, file->data_offset, false);
    return error == 0 ? 0 : fail("%s: reading failed: %s", file->path, move_error(error));
}

/* From a header's shape to the matrices that lie in the file. */
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
        /* The data is the C order of the reversed shape, where the two dimensions to exchange come first. */
        file->shape.rows = header->shape[count - 1];
        file->shape.cols = header->shape[count - 2];
        file->shape.elem_size = header->item_size * others;
        file->batch = 1;
    }
}

/* Reads and checks the header. */
static int read_npy_header(matrix_file *file)
{
    char start[NPY_START_SIZE];
    size_t available = file->size < sizeof start ? file->size : sizeof start;
    int error = move_bytes(file, start, 0, available, false);
    if (error != 0) {
        return fail("%s: reading failed: %s", file->path, move_error(error));
    }
    char message[NPY_MESSAGE_SIZE];
    if (!npy_find_text((const unsigned char *)start, available, &file->text, message)) {
        return fail("%s: %s", file->path, message);
    }
    if (file->text.length > file->size - file->text.begin) {
        return fail("%s: truncated: its header is longer than the file", file->path);
    }
    if (file->text.length > NPY_MAX_TEXT) {
        return fail("%s: its header has %zu bytes; at most %d are read", file->path, file->text.length, NPY_MAX_TEXT);
    }
    file->data_offset = file->text.begin + file->text.length;
    int code = read_beginning(file, &file->before);
    if (code != 0) {
        return code;
    }
    size_t data_size;
    if (!npy_parse(file->before + file->text.begin, file->text.length, &file->header, message) ||
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

/* The move of the matrix as it lies in the file: in Fortran order that is the transpose of what is meant, whose rows
 * are columns. */
static ipt_move move_in_file(const arguments *given, const matrix_file *file)
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

/* ---- the work, step by step ---- */

static volatile sig_atomic_t stop_asked; /* the signal that did */

static void ask_to_stop(int signal_number)
{
    stop_asked = signal_number;
}

/* A transposition under way. */
typedef struct stored_work {
    matrix_file *file;
    journal journal;
    stopped_file stopped; /* what was found before the work */
    uint64_t mark, marks; /* that the file gets */
    bool has_journal, warned, sync;
    ipt_plan *plan;
    ipt_plan_desc desc;
    size_t steps, first_step;
    double start;
    char sentence[JOURNAL_MESSAGE_SIZE + 40]; /* what went wrong, if it was not ipt */
} stored_work;

static pthread_mutex_t sentence_lock = PTHREAD_MUTEX_INITIALIZER;

/* Keeps the first sentence. Returns what a callback returns then. */
static int stored_failed(stored_work *work, const char *what, const char *why)
{
    pthread_mutex_lock(&sentence_lock);
    if (work->sentence[0] == '\0') {
        snprintf(work->sentence, sizeof work->sentence, "%s: %s", what, why);
    }
    pthread_mutex_unlock(&sentence_lock);
    return 1;
}

static int stored_read(void *memory, size_t offset, size_t bytes, void *user)
{
    stored_work *work = user;
    int error = move_bytes(work->file, memory, work->file->data_offset + offset, bytes, false);
    return error == 0 ? 0 : stored_failed(work, "reading failed", move_error(error));
}

static int stored_write(const void *memory, size_t offset, size_t bytes, void *user)
{
    stored_work *work = user;
    int error = move_bytes(work->file, (void *)(uintptr_t)memory, work->file->data_offset + offset, bytes, true);
#ifdef SYNC_FILE_RANGE_WRITE
    /* On its way to the disk at once: else the system writes all that is waiting, again and again the journal with it.
     * A file of 4 GB with 256 MB of memory took 10 s so, and 27 s without. */
    if (error == 0) {
        sync_file_range(work->file->descriptor, (off_t)(work->file->data_offset + offset), (off_t)bytes,
                        SYNC_FILE_RANGE_WRITE);
    }
#endif
    return error == 0 ? 0 : stored_failed(work, "writing failed", move_error(error));
}

/* The line on a terminal: how much is done, how fast it goes, how long it will take. */
static void show_work(const stored_work *work, size_t done)
{
    enum { WIDTH = 30 };
    char bar[WIDTH + 1], left[80] = "";
    double part = (double)done / (double)work->steps, seconds = seconds_now() - work->start;
    double bytes = (double)(done - work->first_step) / (double)work->steps * (double)work->file->size;
    if (work->file->size < PROGRESS_FROM || !isatty(STDERR_FILENO)) {
        return;
    }
    for (int i = 0; i < WIDTH; i++) {
        bar[i] = i < (int)(part * WIDTH) ? '#' : '.';
    }
    bar[WIDTH] = '\0';
    if (done > work->first_step && seconds > 1) {
        unsigned long rest =
            (unsigned long)(seconds / (double)(done - work->first_step) * (double)(work->steps - done));
        snprintf(left, sizeof left, "  %.0f MB/s  %lu:%02lu left", 1e-6 * bytes / seconds, rest / 60, rest % 60);
    }
    fprintf(stderr, "\r\033[K%s: [%s] %3.0f %%%s", work->file->path, bar, 100 * part, left);
    fflush(stderr);
    progress_shown = true;
}

static int stored_ready(size_t step, size_t steps, const void *content, size_t bytes, void *user)
{
    stored_work *work = user;
    struct stat status;
    char message[JOURNAL_MESSAGE_SIZE];
    work->steps = steps;
    if (stop_asked != 0 && (work->has_journal || step == 0)) {
        return 1;
    }
    if (stop_asked != 0 && !work->warned) {
        progress_clear();
        fprintf(stderr, "ipt: %s: without a journal, stopping now would lose it: ask again to do so\n",
                work->file->path);
        work->warned = true;
        signal((int)stop_asked, SIG_DFL);
    }
    if (fstat(work->file->descriptor, &status) != 0 || (uintmax_t)status.st_size != work->file->size) {
        return stored_failed(work, "its size has changed", "somebody else writes to it");
    }
    if (work->has_journal && !journal_note(&work->journal, work->file->descriptor, step, content, bytes, message)) {
        return stored_failed(work, "its journal", message);
    }
    show_work(work, step);
    return 0;
}

/* Bytes of memory that this process has; 0: it cannot be told. */
static size_t resident_bytes(void)
{
    unsigned long all, resident = 0;
    FILE *stream = fopen("/proc/self/statm", "r");
    if (stream != NULL) {
        if (fscanf(stream, "%lu %lu", &all, &resident) != 2) {
            resident = 0;
        }
        fclose(stream);
    }
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Makes the plan, for what --memory leaves beside the program and OpenCL, whose size shows when it is made; for tests,
 * --matrix-memory says so itself. */
static int make_stored_plan(const arguments *given, ipt_context *context, stored_work *work)
{
    cl_device_type type = CL_DEVICE_TYPE_CPU;
    clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    const size_t spare = SPARE_MEMORY + ((type & CL_DEVICE_TYPE_CPU) != 0 ? 0 : PINNED_MEMORY);
    size_t limit = given->memory != 0 ? given->memory : DEFAULT_MEMORY, taken = resident_bytes() + spare;
    if (given->matrix_memory != 0) {
        work->desc.max_host_memory = given->matrix_memory;
        return ipt_plan_create(context, &work->desc, &work->plan) == IPT_SUCCESS ? 0 : fail_ipt(work->file->path);
    }
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        if (limit <= taken + LEAST_MEMORY) {
            return fail("%s: --memory allows %zu bytes, of which OpenCL and the program take %zu: %zu would do",
                        work->file->path, limit, taken, taken + ENOUGH_MEMORY);
        }
        work->desc.max_host_memory = limit - taken;
        if (ipt_plan_create(context, &work->desc, &work->plan) != IPT_SUCCESS) {
            return fail_ipt(work->file->path);
        }
        size_t now = resident_bytes() + spare;
        if (now <= taken) {
            break;
        }
        taken = now;
        if (tries + 1 < MAX_TRIES) {
            ipt_plan_destroy(work->plan);
            work->plan = NULL;
        }
    }
    return 0;
}

/* What the journal has to know. */
static journal_job describe_job(const stored_work *work)
{
    journal_job job = {0};
    const ipt_plan_desc *desc = &work->desc;
    job.inode = work->stopped.inode;
    job.device = work->stopped.device;
    job.mark = work->mark;
    job.marks = work->marks;
    if (strlen(work->stopped.real_path) < sizeof job.file) {
        snprintf(job.file, sizeof job.file, "%s", work->stopped.real_path);
    }
    job.file_size = work->file->size;
    job.data_offset = work->file->data_offset;
    job.rows = desc->rows;
    job.cols = desc->cols;
    job.elem_size = desc->elem_size;
    job.batch = desc->batch;
    job.move = (uint64_t)desc->move;
    job.host_memory = desc->max_host_memory;
    job.memory_bytes = ipt_plan_storage_memory(work->plan);
    job.steps = ipt_plan_storage_steps(work->plan);
    job.ipt_version = IPT_VERSION;
    if (desc->expression != NULL) {
        snprintf(job.expression, sizeof job.expression, "%s", desc->expression);
        snprintf(job.expression_type, sizeof job.expression_type, "%s", desc->expression_type);
    }
    return job;
}

/* Marks the file as one that is being transposed. */
static int mark_file(stored_work *work)
{
    matrix_file *file = work->file;
    const char *journal_path = work->has_journal ? work->journal.path : "";
    int error = 0;
    if ((work->marks & MARK_ATTRIBUTE) != 0 && !stopped_set_attribute(file->descriptor, work->mark, journal_path)) {
        error = errno;
    }
    if (error == 0 && (work->marks & MARK_HEADER) != 0) {
        error = move_bytes(file, NPY_MARK, 0, NPY_MAGIC_SIZE, true);
        memcpy(file->before, NPY_MARK, NPY_MAGIC_SIZE);
#ifdef SYNC_FILE_RANGE_WRITE
        /* On the disk before the data changes, so that the file is refused after a power failure, too. */
        sync_file_range(file->descriptor, 0, NPY_MAGIC_SIZE,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
#endif
    }
    if (error == 0 && work->sync && fsync(file->descriptor) != 0) {
        error = errno;
    }
    return error == 0 ? 0 : fail("%s: it could not be marked: %s", file->path, move_error(error));
}

/* Takes the marks from a file none of whose data has changed, and removes the journal. */
static void leave_as_it_was(stored_work *work)
{
    matrix_file *file = work->file;
    int error = 0;
    if ((work->marks & MARK_HEADER) != 0) {
        error = move_bytes(file, NPY_MAGIC, 0, NPY_MAGIC_SIZE, true);
    }
    if (error == 0 && !stopped_clear_attribute(file->descriptor)) {
        error = errno;
    }
    if (error != 0) {
        fail("%s: its data is as it was, but its mark could not be removed: %s", file->path, move_error(error));
        return;
    }
    fprintf(stderr, "ipt: %s: the file is as it was\n", file->path);
    if (work->has_journal) {
        journal_close(&work->journal, true);
        work->has_journal = false;
    }
}

/* What stands before a name on a command line: "-- " if it looks like an option. */
static const char *before_name(const char *path)
{
    return path[0] == '-' ? "-- " : "";
}

/* Tells how far the work came and what to do. */
static void tell_stop(const stored_work *work)
{
    const char *path = work->file->path;
    char of[40] = "";
    if (!work->has_journal) {
        fprintf(stderr, "ipt: %s: the file is damaged: part of it is transposed\n", path);
        return;
    }
    if (work->steps > 0) {
        snprintf(of, sizeof of, " of %zu", work->steps);
    }
    fprintf(stderr, "ipt: %s: stopped after step %llu%s: 'ipt transpose --resume %s%s' goes on\n", path,
            (unsigned long long)work->journal.ready, of, before_name(path), path);
}

/* Does the steps that are left, and tells what to do if they could not be done. */
static int do_steps(stored_work *work)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const char *path = work->file->path;
    ipt_storage storage = {stored_read, stored_write, stored_ready, work, NULL, 0};
    if (work->has_journal) {
        storage.memory = work->journal.memory;
        storage.resume = (size_t)work->journal.ready;
        work->first_step = storage.resume;
    } else {
        fprintf(stderr, "ipt: %s: there is no journal: if this is stopped before its end, the file is lost\n", path);
    }
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action = {0};
        action.sa_handler = ask_to_stop;
        sigaction(signals[i], &action, NULL);
    }
    work->start = seconds_now();
    ipt_result result = ipt_plan_execute_storage(work->plan, &storage);
    progress_clear();
    if (result == IPT_SUCCESS) {
        return 0;
    }
    if (work->sentence[0] != '\0') {
        fail("%s: %s", path, work->sentence);
    } else if (stop_asked == 0) {
        fail_ipt(path);
    }
    /* What goes on had changed the file before. */
    if (result != IPT_ERROR_INCOMPLETE && work->first_step == 0) {
        leave_as_it_was(work);
    } else {
        tell_stop(work);
    }
    return stop_asked != 0 ? EXIT_SIGNAL + (int)stop_asked : EXIT_FAILURE;
}

/* Puts the new header, without a mark, in its place. Returns 0 or an error number, as move_bytes. */
static int write_header_after(const matrix_file *file)
{
    size_t begin = 0, end = file->data_offset; /* of what differs: a few digits, and the mark */
    while (begin < end && file->before[begin] == file->after[begin]) {
        begin++;
    }
    while (begin < end && file->before[end - 1] == file->after[end - 1]) {
        end--;
    }
    return move_bytes(file, file->after + begin, begin, end - begin, true);
}

/* Makes the file the transposed matrix, takes its marks away, and ends the journal: in this order, so that a kill in
 * between leaves what --resume can end. */
static int finish_file(stored_work *work)
{
    matrix_file *file = work->file;
    char message[JOURNAL_MESSAGE_SIZE];
    if (work->has_journal && !work->journal.ended && !journal_end(&work->journal, file->descriptor, message)) {
        return fail("%s: its journal: %s", file->path, message);
    }
    int error = write_header_after(file);
    if (error == 0 && !stopped_clear_attribute(file->descriptor)) {
        error = errno;
    }
    if (error == 0 && work->sync && fsync(file->descriptor) != 0) {
        error = errno;
    }
    if (error != 0) {
        return fail("%s: writing its header failed: %s%s", file->path, move_error(error),
                    work->has_journal ? ": 'ipt transpose --resume' tries again" : "");
    }
    if (work->has_journal) {
        journal_close(&work->journal, true);
        work->has_journal = false;
    }
    int closed = close(file->descriptor);
    file->descriptor = -1;
    return closed == 0 ? 0 : fail("%s: closing it failed, so it may be damaged: %s", file->path, strerror(errno));
}

/* Makes the journal, which has to be there before the file gets its marks. */
static int begin_journal(stored_work *work)
{
    const matrix_file *file = work->file;
    char message[JOURNAL_MESSAGE_SIZE];
    journal_job job = describe_job(work);
    if (work->desc.expression != NULL && (strcmp(job.expression, work->desc.expression) != 0 ||
                                          strcmp(job.expression_type, work->desc.expression_type) != 0)) {
        return fail("%s: the expression is too long for the journal: --no-journal goes without", file->path);
    }
    if (!journal_create(&work->journal, work->stopped.own_journal, &job, file->before, file->after, work->sync,
                        message)) {
        return fail("%s: %s", file->path, message);
    }
    work->has_journal = true;
    return 0;
}

/* Transposes the data of a file whose header has been read. */
static int begin_work(const arguments *given, stored_work *work)
{
    matrix_file *file = work->file;
    ipt_context *context;
    arguments wanted = *given;
    wanted.shape = file->shape;
    wanted.batch = file->batch;
    wanted.move = move_in_file(given, file);
    wanted.expression = file->expression;
    wanted.expression_type = file->expression_type;
    work->desc = describe_plan(&wanted);
    work->mark = stopped_new_mark(work->stopped.inode, work->stopped.device);
    int code = make_context(given, file->path, &context);
    if (code == 0) {
        code = make_stored_plan(given, context, work);
    }
    if (code == 0) {
        work->marks = (given->raw ? 0 : MARK_HEADER) |
                      (stopped_keeps_attribute(file->descriptor, work->stopped.own_journal) ? MARK_ATTRIBUTE : 0);
    }
    if (code == 0 && !given->no_journal) {
        code = begin_journal(work);
    }
    if (code == 0) {
        code = mark_file(work);
        if (code != 0) {
            leave_as_it_was(work);
        }
    }
    if (code == 0) {
        code = do_steps(work);
    }
    ipt_plan_destroy(work->plan);
    ipt_context_destroy(context);
    return code;
}

/* Tells that no journal is found for --resume, or for a file that has a mark. */
static int fail_without_journal(const stored_work *work, bool marked)
{
    const stopped_file *found = &work->stopped;
    const char *path = work->file->path;
    const char *attributed =
        marked && !found->header_marked ? ". If its content has been replaced since, copy it: a copy has no mark" : "";
    if (marked && found->without_journal) {
        return fail("%s: it is half transposed, and lost: it was stopped without a journal%s", path, attributed);
    }
    if (marked) {
        return fail("%s: it is half transposed, and no journal of it is found, neither %s nor another one beside it. "
                    "Move the journal there, or go on with the original if this is a copy%s",
                    path, found->noted_journal[0] != '\0' ? found->noted_journal : found->own_journal, attributed);
    }
    if (found->attribute == ATTRIBUTE_NONE || found->has_header) {
        return fail("%s: there is no journal of it, and it has no mark of a transposition that was stopped", path);
    }
    return fail("%s: there is no journal of it, neither %s nor another one beside it. This file system keeps no marks, "
                "so that it is unknown whether the file is half transposed",
                path, found->own_journal);
}

/* Tells that something else lies where the journal would. */
static int fail_with_other(const stored_work *work)
{
    const stopped_file *found = &work->stopped;
    const char *path = work->file->path;
    char message[JOURNAL_MESSAGE_SIZE];
    journal other;
    if (!journal_open(&other, found->own_journal, false, message)) {
        return fail("%s: the place of its journal is taken: %s: remove it", path, message);
    }
    const char *name = other.head->job.file;
    int code = fail("%s: %s is the journal of another file%s%s, which was moved away or replaced. Go on with that one "
                    "by 'ipt transpose --resume', or remove the journal if that one is gone",
                    path, found->own_journal, *name != '\0' ? ", once " : "", name);
    journal_close(&other, false);
    return code;
}

/* Tells that a journal is older than its file. */
static int fail_stale(const stored_work *work, const char *place)
{
    return fail("%s: it has no mark of the transposition that %s tells of: that one has ended, or the file has been "
                "replaced. Remove the journal if you know that the file is whole",
                work->file->path, place);
}

/* Tells what a file's journal says, to those who did not ask for --resume. */
static int fail_with_journal(const stored_work *work)
{
    const char *path = work->file->path, *place = work->stopped.journal, *dashes = before_name(path);
    char message[JOURNAL_MESSAGE_SIZE];
    journal left;
    if (!journal_open(&left, place, false, message)) {
        return fail("%s: its transposition was stopped in the middle, but %s", path, message);
    }
    left_state state = stopped_judge(&work->stopped, &left);
    journal_close(&left, false);
    switch (state) {
    case LEFT_NOT_BEGUN:
        return fail("%s: its transposition was stopped before it changed anything, as %s tells: 'ipt transpose "
                    "--resume %s%s' goes on with it, or remove the journal",
                    path, place, dashes, path);
    case LEFT_ENDED:
        return fail("%s: its transposition has ended, but %s is left: 'ipt transpose --resume %s%s' removes it", path,
                    place, dashes, path);
    case LEFT_STALE:
        return fail_stale(work, place);
    default:
        return fail("%s: its transposition was stopped in the middle, as %s tells: 'ipt transpose --resume %s%s' goes "
                    "on with it",
                    path, place, dashes, path);
    }
}

/* Whether each byte of the header is one of before, after and, at its beginning, the mark. */
static bool header_fits(const matrix_file *file, const journal *opened)
{
    for (size_t i = 0; i < file->data_offset; i++) {
        unsigned char byte = (unsigned char)file->before[i];
        bool mark = i < NPY_MAGIC_SIZE && byte == (unsigned char)NPY_MARK[i];
        if (!mark && byte != opened->before[i] && byte != opened->after[i]) {
            return false;
        }
    }
    return true;
}

/* Checks that an open journal is this file's, and reads the file's header. */
static int check_journal(stored_work *work, const char *place)
{
    matrix_file *file = work->file;
    const journal_job *job = &work->journal.head->job;
    file->data_offset = (size_t)job->data_offset;
    if (job->ipt_version != IPT_VERSION) {
        return fail("%s: %s is of ipt %d.%d.%d, which has to go on itself", file->path, place,
                    (int)(job->ipt_version / 10000), (int)(job->ipt_version / 100 % 100),
                    (int)(job->ipt_version % 100));
    }
    if (work->stopped.journal[0] == '\0' || job->file_size != file->size || file->data_offset > file->size) {
        return fail("%s: %s is the journal of another file%s%s: a copy cannot go on in its place", file->path, place,
                    job->file[0] != '\0' ? ", once " : "", job->file);
    }
    int code = read_beginning(file, &file->before);
    if (code == 0 && !header_fits(file, &work->journal)) {
        code = fail("%s: %s is the journal of another file, with another header", file->path, place);
    }
    if (code == 0 && stopped_judge(&work->stopped, &work->journal) == LEFT_STALE) {
        code = fail_stale(work, place);
    }
    return code;
}

/* Checks everything in an open journal that is needed to go on. */
static int check_pieces(const stored_work *work)
{
    const journal *its = &work->journal;
    char message[JOURNAL_MESSAGE_SIZE];
    for (size_t step = 0; step < its->ready; step++) {
        if (ipt_plan_storage_needs(work->plan, step, (size_t)its->ready) && !journal_check_piece(its, step, message)) {
            return fail("%s: %s", work->file->path, message);
        }
    }
    return 0;
}

/* Does the rest of the steps that an open journal tells of. */
static int resume_steps(const arguments *given, stored_work *work, const char *place)
{
    const matrix_file *file = work->file;
    const journal_job *job = &work->journal.head->job;
    ipt_context *context = NULL;
    work->desc.max_host_memory = (size_t)job->host_memory;
    work->desc.move = (ipt_move)job->move;
    if (job->expression[0] != '\0') {
        work->desc.expression = job->expression;
        work->desc.expression_type = job->expression_type;
    }
    int code = make_context(given, file->path, &context);
    if (code == 0 && ipt_plan_create(context, &work->desc, &work->plan) != IPT_SUCCESS) {
        code = fail_ipt(file->path);
    }
    if (code == 0 && (ipt_plan_storage_memory(work->plan) != job->memory_bytes ||
                      ipt_plan_storage_steps(work->plan) != job->steps)) {
        code = fail("%s: %s is of another version of ipt, which has to go on itself", file->path, place);
    }
    if (code == 0) {
        code = check_pieces(work);
    }
    if (code == 0 && stopped_judge(&work->stopped, &work->journal) == LEFT_NOT_BEGUN) {
        code = mark_file(work);
    }
    if (code == 0) {
        code = do_steps(work);
    }
    ipt_plan_destroy(work->plan);
    ipt_context_destroy(context);
    return code;
}

/* Goes on with what a journal tells of. */
static int resume_work(const arguments *given, stored_work *work)
{
    matrix_file *file = work->file;
    const stopped_file *found = &work->stopped;
    char message[JOURNAL_MESSAGE_SIZE];
    const char *place = found->journal[0] != '\0' ? found->journal : found->own_journal;
    if (found->journal[0] == '\0' && !found->other) {
        return fail_without_journal(work, found->header_marked || found->attribute == ATTRIBUTE_SET);
    }
    if (!journal_open(&work->journal, place, given->sync, message)) {
        return fail("%s: %s", file->path, message);
    }
    const journal_job *job = &work->journal.head->job;
    work->has_journal = true;
    work->mark = job->mark;
    work->marks = job->marks;
    int code = check_journal(work, place);
    if (code != 0) {
        return code;
    }
    file->after = malloc(file->data_offset + 1);
    if (file->after == NULL) {
        return fail("%s: out of memory", file->path);
    }
    memcpy(file->after, work->journal.after, file->data_offset);
    file->shape.rows = work->desc.rows = (size_t)job->rows;
    file->shape.cols = work->desc.cols = (size_t)job->cols;
    file->shape.elem_size = work->desc.elem_size = (size_t)job->elem_size;
    file->batch = work->desc.batch = (size_t)job->batch;
    return work->journal.ended ? 0 : resume_steps(given, work, place);
}

/* Finds out whether the file's transposition was stopped, and refuses it then unless that goes on. */
static int look_at_marks(const arguments *given, stored_work *work)
{
    matrix_file *file = work->file;
    stopped_file *found = &work->stopped;
    char start[NPY_START_SIZE], message[JOURNAL_MESSAGE_SIZE];
    size_t available = file->size < sizeof start ? file->size : sizeof start;
    int error = move_bytes(file, start, 0, available, false);
    if (error != 0) {
        return fail("%s: reading failed: %s", file->path, move_error(error));
    }
    if (!stopped_look(file->path, file->descriptor, start, available, found, message)) {
        return fail("%s: %s", file->path, message);
    }
    if (given->resume) {
        return 0;
    }
    bool marked = given->raw ? found->attribute == ATTRIBUTE_SET : found->header_marked;
    return found->journal[0] != '\0' ? fail_with_journal(work)
           : marked                  ? fail_without_journal(work, true)
           : found->other            ? fail_with_other(work)
                                     : 0;
}

/* Finds out what an expression gets for its x. */
static int choose_expression(const arguments *given, matrix_file *file)
{
    char message[NPY_MESSAGE_SIZE];
    const npy_header *header = &file->header;
    file->expression = given->expression;
    file->expression_type = given->expression_type;
    if (given->raw || given->expression == NULL) {
        return 0;
    }
    if (!npy_expression_type(header, given->expression_type, &file->expression_type, message)) {
        return fail("%s: %s", file->path, message);
    }
    if (file->batch > 0 && file->shape.elem_size != header->item_size) { /* what is moved together */
        return fail("%s: --expression takes Fortran order with two dimensions only, and it has %zu: store it in C "
                    "order (numpy.ascontiguousarray)",
                    file->path, header->dimension_count);
    }
    if (header->kind == 'b' || header->kind == '?') { /* a truth value has to become one */
        size_t capacity = strlen(given->expression) + sizeof "(() != 0)";
        file->wrapped = malloc(capacity);
        if (file->wrapped == NULL) {
            return fail("%s: out of memory", file->path);
        }
        snprintf(file->wrapped, capacity, "((%s) != 0)", given->expression);
        file->expression = file->wrapped;
    }
    return 0;
}

/* Reads and checks what there is to transpose, and transposes it. *data_moves: the data, not only the header. */
static int start_work(const arguments *given, stored_work *work, bool *data_moves)
{
    matrix_file *file = work->file;
    int code = given->raw ? measure_raw(given, file) : read_npy_header(file);
    if (code == 0) {
        code = choose_expression(given, file);
    }
    if (code != 0) {
        return code;
    }
    file->after = malloc(file->data_offset + 1);
    if (file->after == NULL) {
        return fail("%s: out of memory", file->path);
    }
    if (file->data_offset > 0) {
        memcpy(file->after, file->before, file->data_offset);
        if (transposes(given->move)) {
            npy_swap_last_two(file->after + file->text.begin, &file->header);
        }
    }
    *data_moves = file->batch > 0 && ((file->shape.rows > 1 && file->shape.cols > 1) ||
                                      given->move != IPT_MOVE_TRANSPOSE || given->expression != NULL);
    return *data_moves ? begin_work(given, work) : 0;
}

/* The work on an open file, up to the last byte written. */
static int transpose_file(const arguments *given, stored_work *work)
{
    matrix_file *file = work->file;
    double start = seconds_now();
    bool data_moves = true;
    int code = open_file(file);
    if (code == 0) {
        code = look_at_marks(given, work);
    }
    if (code == 0) {
        code = given->resume ? resume_work(given, work) : start_work(given, work, &data_moves);
    }
    if (code == 0) {
        code = finish_file(work);
    }
    if (code == 0 && given->verbose) {
        if (data_moves) {
            printf("%s: %zu x (%zux%zu elements of %zu bytes) transposed in %.3f seconds, %zu %s\n", file->path,
                   file->batch, file->shape.rows, file->shape.cols, file->shape.elem_size, seconds_now() - start,
                   work->steps - work->first_step, work->steps - work->first_step == 1 ? "step" : "steps");
        } else {
            printf("%s: transposed in %.3f seconds; no data had to move\n", file->path, seconds_now() - start);
        }
    }
    return code;
}

/* What --resume knows already. Returns 0 or the exit code. */
static int check_resume(const arguments *given)
{
    static const char *const known[] = {"--raw",  "--memory",     "--matrix-memory", "--no-journal",
                                        "--move", "--expression", "--type"};
    for (size_t i = 0; given->resume && i < sizeof known / sizeof known[0]; i++) {
        if (was_given(given, known[i])) {
            return usage_error("--resume takes everything else from the journal, not %s", known[i]);
        }
    }
    return given->no_journal && given->sync
               ? usage_error("--sync makes the journal outlive power failures, and --no-journal leaves it out")
               : 0;
}

static int run_transpose(const arguments *given)
{
    matrix_file file = {0};
    stored_work work = {0};
    file.path = given->operand;
    file.descriptor = -1;
    work.file = &file;
    work.sync = given->sync;
    work.journal.descriptor = -1;
    int code = check_resume(given);
    if (code == 0) {
        code = transpose_file(given, &work);
    }
    if (work.has_journal) {
        journal_close(&work.journal, false);
    }
    free(file.before);
    free(file.after);
    free(file.wrapped);
    if (file.descriptor >= 0) {
        close(file.descriptor); /* after a failure: nothing that this could report is worse */
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt bench */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The same for --startup, which has a few options only. */
static int check_startup(const arguments *given)
{
    static const char *const known[] = {"--startup", "--startup-step", "--device", "--seed", "--rounds", "--csv"};
    if (given->operand == NULL) {
        return usage_error("--startup needs ROWSxCOLS:BYTES");
    }
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        bool good = given->startup_step && strcmp(options[i].name, "--cache") == 0;
        for (size_t j = 0; j < sizeof known / sizeof known[0]; j++) {
            good = good || strcmp(options[i].name, known[j]) == 0;
        }
        if (!good && (given->seen >> i & 1) != 0) {
            return usage_error("--startup does not go with %s", options[i].name);
        }
    }
    return 0;
}

/* Which options go with which. Returns 0 or the exit code. */
static int check_bench(const arguments *given)
{
    if (given->startup || given->startup_step) {
        return check_startup(given);
    }
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
    int code = check_elem_size(given, "--shapes and --random");
    if (code != 0) {
        return code;
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

static int open_csv(const arguments *given, FILE **csv)
{
    *csv = given->csv == NULL ? NULL : fopen(given->csv, "w");
    return given->csv == NULL || *csv != NULL ? 0 : fail("%s: %s", given->csv, strerror(errno));
}

/* Closes it and returns the exit code: that one, unless this failed. */
static int close_csv(const arguments *given, FILE *csv, int code)
{
    bool failed = csv != NULL && ferror(csv) != 0;
    if (csv != NULL && (fclose(csv) != 0 || failed)) {
        return fail("%s: %s", given->csv, strerror(errno));
    }
    return code;
}

/* Measures the start of processes, or in one that was started for it. */
static int run_startup(const arguments *given)
{
    char message[BENCH_MESSAGE_SIZE];
    bench_shape others[STARTUP_NEW_SHAPES];
    startup_desc desc = {0};
    desc.program = program_name;
    desc.device = given->device;
    desc.rows = given->shape.rows;
    desc.cols = given->shape.cols;
    desc.elem_size = given->shape.elem_size;
    desc.seed = given->random.seed;
    desc.rounds = given->rounds;
    if (given->startup_step) {
        return startup_step(&desc, given->cache, stdout, message) ? 0 : fail("%s", message);
    }
    if (!startup_draw(&desc, others, message)) {
        return usage_error("%s", message);
    }
    FILE *csv;
    int code = open_csv(given, &csv);
    if (code == 0 && !startup_measure(&desc, stdout, csv, message)) {
        code = fail("%s", message);
    }
    return close_csv(given, csv, code);
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
    int code = make_context(given, NULL, &work->context);
    if (code != 0) {
        return code;
    }
    if (!bench_device_open(&work->device, work->context, elem_size, message)) {
        return fail("%s", message);
    }
    code = open_csv(given, &work->csv);
    if (work->csv != NULL) {
        bench_csv_heading(work->csv);
    }
    return code;
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
    bool good = ipt_plan_create(work->context, &desc, &plan) == IPT_SUCCESS;
    if (!good) {
        translate(ipt_context_error(NULL), message, sizeof message);
    }
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
    if (command_line->startup || command_line->startup_step) {
        return run_startup(command_line);
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
    code = close_csv(&given, work.csv, code);
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
        show_version(stdout);
        putchar('\n');
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

/* Occupies the standard streams that are closed: a file opened later would get their numbers, and messages would be
 * written into it. Output still fails as on a closed stream; messages vanish. */
static bool occupy_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) {
            continue;
        }
        int descriptor = open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR);
        if (descriptor < 0) {
            descriptor = open("/", O_RDONLY); /* cannot be written to either */
        }
        if (descriptor != stream) {
            return false;
        }
    }
    return true;
}

int main(int count, char **words)
{
    if (!occupy_standard_streams()) {
        return EXIT_FAILURE; /* without a safe place for a message */
    }
    program_name = count > 0 ? words[0] : "ipt";
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow further is an error like a full disk */
    int code = run(count > 0 ? words + 1 : words);
    /* Output that did not arrive, on a full disk say, is a failure. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        code = fail("standard output: %s", strerror(errno));
    }
    return code;
}
