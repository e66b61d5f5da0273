/* The command-line tool. The promise: what it does it does through ipt.h's public interface; a file is rewritten only
 * after everything about it has been checked and its result is in memory; what goes wrong is one sentence on stderr
 * and an exit code - 2 for a wrong command line, 1 for everything else.
 *
 * A file calls files to the right of it or on later lines, never back:
 * main > command_* > shape_list > setup, arguments > options, shape, draft, show
 * transpose: stored_resume, stored_start > stored_steps > stored_marks > matrix_file, stopped > journal, npy
 * precompile: programs, offline > offline_run > offline_steps, offline_ptx > offline_target
 * bench: startup, startup_step, bench_show, bench_blas, bench_measure > bench_device > bench_shapes > bench_result
 * all: messages, text, numbers, seconds > ipt.h (library.c) */
#define _GNU_SOURCE /* SIGXFSZ */

#include "arguments.h"
#include "commands.h"
#include "journal.h"
#include "messages.h"
#include "options.h"
#include "show.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_ROUNDS = 3, DEFAULT_ELEM_SIZE = 4 };

static const command commands[] = {
    {"devices", OPERAND_NONE, "list the OpenCL devices and mark the one that is used", FOR_ALL | FOR_DEVICES,
     command_devices, NULL},
    {"transpose", OPERAND_FILE, "transpose the matrix, or each matrix, of a NumPy file (.npy) in place",
     FOR_ALL | FOR_TRANSPOSE | FOR_MOVES, command_transpose,
     "The file may be larger than memory. Meanwhile a journal lies beside it, FILE" JOURNAL_SUFFIX
     ", of at most --memory\n"
     "bytes: whatever ends the work, Ctrl-C, a kill, with --sync a power failure, 'ipt transpose --resume FILE' goes\n"
     "on where it stopped. More --memory means larger steps."},
    {"plan", OPERAND_SHAPE, "show how such a matrix is transposed",
     FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES, command_plan, NULL},
    {"source", OPERAND_SHAPE, "show the OpenCL C text of the plan's programs",
     FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES, command_source, NULL},
    {"precompile", OPERAND_SHAPES, "store the plans' programs compiled, for programs that must not compile",
     FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES | FOR_PRECOMPILE, command_precompile,
     "Takes shapes, or those of --shapes, and needs --output, --embed or both. Without --target the device's own\n"
     "compiler makes the programs, which other devices and drivers do not take. Nothing of it comes from a cache,\n"
     "unless --cache names one."},
    {"tune", OPERAND_SHAPES, "measure which plans are the fastest, for --wisdom", FOR_ALL | FOR_TUNE, command_tune,
     "Takes shapes, or those of --shapes. --wisdom FILE --output FILE keeps what a file says and adds to it."},
    {"bench", OPERAND_OPTIONAL_SHAPE, "measure transpositions in place against copies on the device",
     FOR_ALL | FOR_PLANS | FOR_BENCH, command_bench,
     "The matrices are ROWSxCOLS:BYTES, or those of --shapes, or those of --random. Every result is verified on\n"
     "the device. Speeds count bytes read and bytes written; ratio is the speed over that of the copy, ipt/BLAS\n"
     "the speed on the device over that of BLAS on the host, latency the time of an execution alone.\n\n"
     "--startup starts new processes, with ipt's cache switched off, empty (filling) and filled (warm), each with\n"
     "the driver's own cache (PoCL's, NVIDIA's) switched off and on. Each makes a context and a plan of\n"
     "ROWSxCOLS:BYTES, executes it, and makes plans of 50 other shapes that --seed draws."},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static void show_command_help(const command *chosen)
{
    const char *operand = operand_names[chosen->operand];
    printf("usage: ipt %s%s%s [OPTION ...]\n%s\n\noptions:\n", chosen->name, *operand == '\0' ? "" : " ", operand,
           chosen->help);
    options_show(chosen->options);
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
    options_show(FOR_ALL);
    printf("  %-24s %s\n", "--version", "show the version");
}

static int run_help(const char *name)
{
    if (name == NULL) {
        show_help();
        return 0;
    }
    const command *chosen = find_command(name);
    if (chosen == NULL) {
        return message_usage_error("there is no command '%s'", name);
    }
    show_command_help(chosen);
    return 0;
}

static int run(const char *program, char **words)
{
    if (words[0] == NULL) {
        return message_usage_error("a command is missing");
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
        return message_usage_error("there is no command '%s'", words[0]);
    }
    arguments given = {0};
    given.program = program;
    given.batch = 1;
    given.rounds = DEFAULT_ROUNDS;
    given.elem_size = DEFAULT_ELEM_SIZE;
    given.random.seed = given.random.multiple = 1;
    given.random.bytes.high = SIZE_MAX;
    int code = arguments_read(chosen, words + 1, &given);
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
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow further is an error like a full disk */
    int code = count > 0 ? run(words[0], words + 1) : run("ipt", words);
    /* Output that did not arrive, on a full disk say, is a failure. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        code = message_fail("standard output: %s", strerror(errno));
    }
    return code;
}
