/* The command-line tool. It uses the public interface of ipt.h only. It checks a file completely before it writes the
 * first byte. An error is one sentence on stderr and an exit code: 2 for a wrong command line, 1 for everything else.
 *
 * A room, which is a folder, calls only rooms to its right, and a file of a room only files to its right:
 * command > store > picture > npy, offline, bench > base > ipt.h (base/library.c)
 * command: command_* > batch_list, shape_list, programs > arguments, same_files > options > batch_spec
 * store: ranks, output > picture_move, stored_resume, stored_start > stored_steps > stored_marks, stored_sample >
 *   matrix_file, draft > stopped > journal
 * picture: stb, picture_check, jpeg_check > picture; netpbm; exif
 * offline: offline > offline_run > offline_steps, offline_ptx > offline_target
 * bench: startup, startup_step, plot, bench_show, bench_blas, bench_measure > bench_device > bench_shapes >
 *   bench_result
 * base: setup, show > messages, json, shape, axes > text, numbers, seconds > system (NAME_windows.c replaces NAME.c) */
#include "gen/tool/command/arguments.h"
#include "gen/tool/command/commands.h"
#include "gen/tool/store/journal.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/command/options.h"
#include "gen/tool/command/same_files.h"
#include "gen/tool/base/show.h"
#include "gen/tool/base/system.h"
#include "gen/tool/base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ROUNDS = 3, DEFAULT_ELEM_SIZE = 4, DEFAULT_MEMORY = 1 << 30 };

#define ACTION_NOTES                                                                                                   \
    "--action ACTION:TYPE:SIZES[:WORD ...] is a batch of a ready action, such as posv:double:6x1:100000 or "           \
    "gemm:float:4x6x4:transpose-a:planes. A WORD is the number of elements, a model, lanes=N, group=N, an option, "    \
    "or the layout of all operands or of one (A=planes). With scaled, a has alpha and beta.\n"                         \
    "--action FILE is an action of your own. Its lines: operand NAME TYPE ROWSxCOLS read|write|read-write [LAYOUT] "   \
    "[stride=N]; count N; model NAME; lanes N; group N; argument TYPE; functions, and the lines of OpenCL C; last "    \
    "action, and its lines."

static const command commands[] = {
    {"devices", OPERAND_NONE, "list the OpenCL devices and mark the selected one", FOR_ALL | FOR_DEVICES | FOR_JSON,
     command_devices, NULL},
    {"transpose", OPERAND_FILE, "transpose the matrices of a NumPy file (.npy), or a picture, in place",
     FOR_ALL | FOR_TRANSPOSE | FOR_MOVES, command_transpose,
     "FILE is a NumPy file or a picture. An array of more than two axes exchanges its last two; Python's "
     "ipt.transpose(x) reverses all axes, as --axes can. PGM, PPM and PAM pictures change in place. PNG, JPEG, BMP and "
     "TGA pictures "
     "need -o FILE, whose extension names the format: .png .jpg .bmp .tga .pgm .ppm .pam.\n"
     "--raw takes NumPy's names of types, too, such as 300x200:float32.\n\n"
     "The file may be larger than memory. During the work its journal, FILE" JOURNAL_SUFFIX ", lies beside it and "
     "has at most --memory bytes. After Ctrl-C or a kill, and with --sync after a power failure, "
     "'ipt transpose --resume FILE' continues from the last step. More --memory means larger steps."},
    {"plan", OPERAND_SHAPE, "show the plan for such a matrix: stages, sizes, workspace",
     FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES | FOR_JSON, command_plan, ACTION_NOTES},
    {"source", OPERAND_SHAPE, "show the OpenCL C text of the plan's programs",
     FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES, command_source, ACTION_NOTES},
    {"precompile", OPERAND_SHAPES, "compile the plans' programs ahead of time, into a folder or a C header",
     FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES | FOR_PRECOMPILE, command_precompile,
     "Takes SHAPEs or --shapes, --action, or both, and needs --output, --embed or both. Without --target the device's "
     "own compiler "
     "builds the programs; other devices and drivers refuse them. No cache is read unless --cache names "
     "one.\n" ACTION_NOTES},
    {"tune", OPERAND_SHAPES, "measure plans and write the fastest as wisdom, for --wisdom", FOR_ALL | FOR_TUNE,
     command_tune, "Takes SHAPEs or --shapes. --wisdom FILE --output FILE adds to the wisdom of a file."},
    {"bench", OPERAND_OPTIONAL_SHAPE, "measure in-place transpositions against copies on the device",
     FOR_ALL | FOR_PLANS | FOR_BENCH | FOR_JSON, command_bench,
     "The shapes come from ROWSxCOLS:BYTES, --shapes or --random. Every result is verified on the device.\n"
     "  GB/s      bytes read and bytes written per second\n"
     "  ratio     speed divided by the copy's speed\n"
     "  ipt/BLAS  speed on the device divided by the speed of BLAS on the host\n"
     "  latency   time of a single execution\n\n"
     "--startup measures new processes, with ipt's cache off, empty (filling) and filled (warm), each with the "
     "driver's own cache (PoCL's, NVIDIA's) off and on. A process creates a context and a plan of ROWSxCOLS:BYTES, "
     "executes it, and creates plans of 50 other shapes drawn by --seed."},
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
        puts("\nA SHAPE is ROWSxCOLS:BYTES, such as 1000x777:4.");
    }
    if (chosen->notes != NULL) {
        putchar('\n');
        text_show(chosen->notes, 0, 0);
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
        options_show_line(left, commands[i].help);
    }
    options_show_line("help [COMMAND]", "show all commands, or the options of one");
    putchar('\n');
    text_show("ROWSxCOLS:BYTES, or SHAPE, is a row-major matrix and its element size, such as 1000x777:4 or "
              "1000x777:float32.\n\noptions of every command:",
              0, 0);
    options_show(FOR_ALL);
    options_show_line("--version", "show the version");
}

static int run_help(const char *name)
{
    if (name == NULL) {
        show_help();
        return 0;
    }
    const command *chosen = find_command(name);
    if (chosen == NULL) {
        return message_usage_error("unknown command '%s'", name);
    }
    show_command_help(chosen);
    return 0;
}

/* *reports: standard output only reports what the command did to files. */
static int run(const char *program, char **words, bool *reports)
{
    if (words[0] == NULL) {
        return message_usage_error("no command given");
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
        return message_usage_error("unknown command '%s'", words[0]);
    }
    arguments given = {0};
    given.program = program;
    given.batch = 1;
    given.rounds = DEFAULT_ROUNDS;
    given.elem_size = DEFAULT_ELEM_SIZE;
    given.random.seed = given.random.multiple = 1;
    given.random.bytes.high = SIZE_MAX;
    given.memory = DEFAULT_MEMORY;
    int code = arguments_read(chosen, words + 1, &given);
    if (code == 0 && given.help) {
        return run_help(chosen->name);
    }
    if (code == 0) {
        code = same_files_check(&given, (chosen->options & FOR_TUNE) != 0);
    }
    *reports = (chosen->options & (FOR_TRANSPOSE | FOR_PRECOMPILE)) != 0;
    return code == 0 ? chosen->run(&given) : code;
}

int main(int count, char **words)
{
    if (!system_begin(&count, &words)) {
        return EXIT_FAILURE; /* no safe stream for a message */
    }
    bool reports = false;
    int code = count > 0 ? run(words[0], words + 1, &reports) : run("ipt", words, &reports);
    /* Lost output, on a full disk say, is a failure. But who repeats a transposition for its report undoes it. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        const char *const why = strerror(errno);
        if (reports && code == 0) {
            message_warn("warning: standard output: %s: the work is done, only its report is lost", why);
        } else {
            code = message_fail("standard output: %s", why);
        }
    }
    return code;
}
