/* The command-line tool. It uses the public interface of ipt.h only. It checks a file completely before it writes the
 * first byte. An error is one sentence on stderr and an exit code: 2 for a wrong command line, 1 for everything else.
 *
 * A folder calls only folders to its right in this list, and a file calls only files to its right: command > store >
 * picture > npy, offline, bench > base > ipt.h (base/library.c) command: command_* > batch_list, shape_list, programs >
 * arguments, same_files > options > batch_spec store: ranks, output > picture_move, stored_resume, stored_start >
 * stored_steps > stored_marks, stored_sample >
 *   matrix_file, draft > stopped > journal
 * picture: stb, picture_check, jpeg_check > picture; netpbm; exif
 * offline: offline > offline_run > offline_steps, offline_ptx > offline_target
 * bench: startup, startup_step, plot, bench_show, bench_blas, bench_measure > bench_device > bench_shapes >
 *   bench_result
 * base: setup, show > messages, json, shape, axes > text, numbers, seconds > system (NAME_windows.c replaces NAME.c) */
#include "gen/tool/command/commands.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/command/options.h"
#include "gen/tool/base/show.h"
#include "gen/tool/base/system.h"
#include "gen/tool/base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_ADDRESS(name) &command_##name,
static const command *const commands[] = {COMMAND_LIST(COMMAND_ADDRESS)};
#undef COMMAND_ADDRESS
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
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
        snprintf(left, sizeof left, "%s %s", commands[i]->name, operand_names[commands[i]->operand]);
        options_show_line(left, commands[i]->help);
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

/* Runs a command. *reports: standard output only reports what the command did to files. */
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
    bool help = false;
    const int code = command_line_run(chosen, program, words + 1, &help);
    *reports = !help && (chosen->options & (FOR_TRANSPOSE | FOR_PRECOMPILE)) != 0;
    return help ? run_help(chosen->name) : code;
}

int main(int count, char **words)
{
    if (!system_begin(&count, &words)) {
        return EXIT_FAILURE; /* no safe stream for a message */
    }
    bool reports = false;
    int code = count > 0 ? run(words[0], words + 1, &reports) : run("ipt", words, &reports);
    /* Lost output (a full disk) is a failure. A lost report is not: repeating a transposition would undo it. */
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
