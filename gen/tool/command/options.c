#include "options.h"

#include "batch_spec.h"
#include "ipt.h"
#include "gen/tool/base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_COUNT = 1000000,
    MAX_PITCH = 1 << 30,
    MAX_OFFSET = 1 << 24 /* the journal contains the bytes before the data */
};

#define FIELD(name) offsetof(arguments, name)
const option option_list[] = {
    {"--device", "NAME", "part of the device's or platform's name; opencl, native, cuda or cuda:1", OPTION_TEXT,
     FOR_ALL, FIELD(device), 0, 0},
    {"--cache", "DIR", "folder of the program cache, \"\" for none", OPTION_TEXT, FOR_ALL, FIELD(cache), 0, 0},
    {"--profile", NULL, "print only the device profile, for --profile FILE", OPTION_SWITCH, FOR_DEVICES,
     FIELD(write_profile), 0, 0},
    {"--profile", "FILE", "plan for another device: a file from 'ipt devices --profile'", OPTION_TEXT, FOR_SOURCES,
     FIELD(profile), 0, 0},
    {"--target", "TARGET", "compile for cuda:sm_NN with NVRTC, for ptx:sm_NN, spirv, bitcode or amdgcn:NAME with clang",
     OPTION_TEXT, FOR_PRECOMPILE, FIELD(target), 0, 0},
    {"--output", "DIR", "write the programs to this folder, for --cache (also -o)", OPTION_TEXT, FOR_PRECOMPILE,
     FIELD(output), 0, 0},
    {"--output", "FILE", "write the wisdom to FILE, not to standard output (also -o)", OPTION_TEXT, FOR_TUNE,
     FIELD(output), 0, 0},
    {"--output", "FILE", "write the result to FILE, leave the input unchanged (also -o)", OPTION_TEXT, FOR_TRANSPOSE,
     FIELD(output), 0, 0},
    {"-o", "PATH", NULL, OPTION_TEXT, FOR_PRECOMPILE | FOR_TUNE | FOR_TRANSPOSE, FIELD(output), 0, 0},
    {"--embed", "FILE.h", "write the programs to a C header", OPTION_TEXT, FOR_PRECOMPILE, FIELD(embed), 0, 0},
    {"--native", "FILE.h", "write --expression as C for the native driver, for all shapes", OPTION_TEXT, FOR_PRECOMPILE,
     FIELD(native), 0, 0},
    {"--wisdom", "FILE", "use the plans that 'ipt tune' wrote to FILE", OPTION_TEXT,
     FOR_PLANS | FOR_TRANSPOSE | FOR_TUNE, FIELD(wisdom), 0, 0},
    {"--axes", "2,0,1", "axis i of the result is the array's axis of this list's place i", OPTION_AXES,
     FOR_TRANSPOSE | FOR_FORMATS, FIELD(axes), 0, 0},
    {"--order", "C|F", "store the same array in C or Fortran order", OPTION_ORDER, FOR_TRANSPOSE, FIELD(order), 0, 0},
    {"--raw", "ROWSxCOLS:BYTES", "FILE has no header and holds one such matrix or several", OPTION_RAW, FOR_TRANSPOSE,
     FIELD(raw), 0, 0},
    {"--offset", "BYTES", "bytes before the first matrix, for --raw; they stay", OPTION_BYTES, FOR_TRANSPOSE,
     FIELD(offset), 0, MAX_OFFSET},
    {"--force", NULL, "let --raw take a NumPy file or a picture, whose header moves", OPTION_SWITCH, FOR_TRANSPOSE,
     FIELD(force), 0, 0},
    {"--channels-last", NULL, "the .npy file's last axis is a part of the element, such as RGB", OPTION_SWITCH,
     FOR_TRANSPOSE, FIELD(channels_last), 0, 0},
    {"--memory", "BYTES",
     "limit of the process' memory, such as 256M, with K M G (1G), without what OpenCL takes to compile", OPTION_BYTES,
     FOR_TRANSPOSE, FIELD(memory), 1, SIZE_MAX},
    {"--matrix-memory", "BYTES", NULL, OPTION_BYTES, FOR_TRANSPOSE, FIELD(matrix_memory), 1, SIZE_MAX},
    {"--resume", NULL, "continue a transposition of FILE that was stopped", OPTION_SWITCH, FOR_TRANSPOSE, FIELD(resume),
     0, 0},
    {"--sync", NULL, "flush each step to the disk, to survive power failures", OPTION_SWITCH, FOR_TRANSPOSE,
     FIELD(sync), 0, 0},
    {"--no-journal", NULL, "keep no journal: a stop loses the file", OPTION_SWITCH, FOR_TRANSPOSE, FIELD(no_journal), 0,
     0},
    {"--action", "ACTION", "a batch of small elements, not a matrix: ACTION:TYPE:SIZES or a file", OPTION_ACTION,
     FOR_SOURCES, FIELD(actions), 0, 0},
    {"--mpi", NULL, "all ranks of an MPI job move one FILE, within --memory each; needs a build with MPI",
     OPTION_SWITCH, FOR_TRANSPOSE, FIELD(mpi), 0, 0},
    {"--verbose", NULL, "report what was done", OPTION_SWITCH, FOR_TRANSPOSE | FOR_PRECOMPILE | FOR_TUNE,
     FIELD(verbose), 0, 0},
    {"--method", "NAME", "use a paper's complete method", OPTION_METHOD, FOR_PLANS, FIELD(method), 0, 0},
    {"--heuristic", "NAME", "choose tiles as a paper does", OPTION_HEURISTIC, FOR_PLANS, FIELD(heuristic), 0, 0},
    {"--sequence", "NAME", "force a sequence of stages", OPTION_SEQUENCE, FOR_PLANS, FIELD(sequence), 0, 0},
    {"--tile-m", "N", "length of tiles or super-elements along the rows", OPTION_NUMBER, FOR_PLANS, FIELD(tile_m), 0,
     SIZE_MAX},
    {"--tile-n", "N", "the same along the columns", OPTION_NUMBER, FOR_PLANS, FIELD(tile_n), 0, SIZE_MAX},
    {"--batch", "N", "number of matrices, stored back to back (1)", OPTION_NUMBER, FOR_PLANS | FOR_TUNE, FIELD(batch),
     1, SIZE_MAX},
    {"--workspace", "BYTES", "limit of device memory beside the matrix", OPTION_NUMBER, FOR_PLANS | FOR_TUNE,
     FIELD(workspace), 0, SIZE_MAX},
    {"--measure", NULL, "measure the best candidates on the device", OPTION_SWITCH, FOR_PLANS, FIELD(measure), 0, 0},
    {"--no-cooperative", NULL, "use no kernel whose work-groups wait for one another", OPTION_SWITCH,
     FOR_PLANS | FOR_TUNE, FIELD(no_cooperative), 0, 0},
    {"--variant-010", "NAME", "force the kernel for stages of single elements", OPTION_VARIANT, FOR_PLANS,
     FIELD(variant_010), 0, 0},
    {"--variant-100", "NAME", "force the kernel for stages of super-elements", OPTION_VARIANT, FOR_PLANS,
     FIELD(variant_100), 0, 0},
    {"--flag-spread", "N", "spread the flags of one word over N words", OPTION_NUMBER, FOR_PLANS, FIELD(flag_spread), 0,
     SIZE_MAX},
    {"--pad", NULL, "pad rows and columns to sides with more factors", OPTION_SWITCH, FOR_PLANS, FIELD(pad), 0, 0},
    {"--variant-pad", "NAME", "force the padding kernel", OPTION_VARIANT, FOR_PLANS, FIELD(variant_pad), 0, 0},
    {"--from", "NAME", "block format before (RM)", OPTION_FORMAT, FOR_FORMATS, FIELD(from), 0, 0},
    {"--to", "NAME", "block format after (CM)", OPTION_FORMAT, FOR_FORMATS, FIELD(to), 0, 0},
    {"--move", "NAME", "rotate clockwise or reflect (transpose)", OPTION_MOVE, FOR_MOVES | FOR_BENCH, FIELD(move), 0,
     0},
    {"--expression", "TEXT", "the new value of each element x, in OpenCL C", OPTION_TEXT, FOR_MOVES | FOR_TUNE,
     FIELD(expression), 0, 0},
    {"--type", "NAME", "OpenCL C type of x (the type of the file or SHAPE, else float)", OPTION_TEXT,
     FOR_MOVES | FOR_TUNE, FIELD(expression_type), 0, 0},
    {"--argument-type", "NAME", "OpenCL C type of a in the expression; programs do not depend on a's value",
     OPTION_TEXT, FOR_SOURCES, FIELD(argument_type), 0, 0},
    {"--shapes", "FILE", "read shapes from FILE: lines of rows and cols, # comments", OPTION_TEXT,
     FOR_BENCH | FOR_PRECOMPILE | FOR_TUNE, FIELD(shapes), 0, 0},
    {"--random", "COUNT", "draw COUNT random shapes, determined by --seed", OPTION_NUMBER, FOR_BENCH,
     FIELD(random.count), 1, MAX_COUNT},
    {"--elem-size", "N", "element size of those shapes in bytes (4)", OPTION_NUMBER,
     FOR_BENCH | FOR_PRECOMPILE | FOR_TUNE, FIELD(elem_size), 1, SIZE_MAX},
    {"--sides", "A..B[,C..D]", "range of random sides, or one range for each side", OPTION_RANGES, FOR_BENCH,
     FIELD(random.sides), 1, SIZE_MAX},
    {"--bytes", "A..B", "draw only matrices of A to B bytes", OPTION_RANGE, FOR_BENCH, FIELD(random.bytes), 0,
     SIZE_MAX},
    {"--square", NULL, "draw squares", OPTION_SWITCH, FOR_BENCH, FIELD(random.square), 0, 0},
    {"--multiple", "K", "round random sides down to multiples of K, at least K", OPTION_NUMBER, FOR_BENCH,
     FIELD(random.multiple), 1, SIZE_MAX},
    {"--seed", "S", "seed of the random shapes (1)", OPTION_NUMBER, FOR_BENCH, FIELD(random.seed), 0, SIZE_MAX},
    {"--repeat", "N", "executions timed together (10 to 64)", OPTION_NUMBER, FOR_BENCH, FIELD(repeat), 1, MAX_COUNT},
    {"--rounds", "N", "repeat N times and report the median (3)", OPTION_NUMBER, FOR_BENCH, FIELD(rounds), 1,
     MAX_COUNT},
    {"--pitch", "ALIGN", "rows lie a multiple of ALIGN bytes apart, before and after", OPTION_NUMBER, FOR_BENCH,
     FIELD(pitch), 1, MAX_PITCH},
    {"--blas", NULL, "compare with OpenBLAS' imatcopy on the host, too", OPTION_SWITCH, FOR_BENCH, FIELD(blas), 0, 0},
    {"--out-of-place", NULL, "transpose into a second matrix", OPTION_SWITCH, FOR_BENCH, FIELD(out_of_place), 0, 0},
    {"--out-of-place", NULL, "add the programs for transpositions into a second matrix", OPTION_SWITCH, FOR_PRECOMPILE,
     FIELD(out_of_place), 0, 0},
    {"--startup", NULL, "measure the start of processes instead", OPTION_SWITCH, FOR_BENCH, FIELD(startup), 0, 0},
    {"--startup-step", NULL, NULL, OPTION_SWITCH, FOR_BENCH, FIELD(startup_step), 0, 0},
    {"--csv", "FILE", "write all results to FILE; - is standard output", OPTION_TEXT, FOR_BENCH, FIELD(csv), 0, 0},
    {"--plot", "FILE", "draw the ratios to FILE as an SVG chart; - is standard output", OPTION_TEXT, FOR_BENCH,
     FIELD(plot), 0, 0},
    {"--json", NULL, "write the results as JSON to standard output, messages to standard error", OPTION_SWITCH,
     FOR_JSON, FIELD(json), 0, 0},
    {"--help", NULL, "show this text", OPTION_SWITCH, FOR_ALL, FIELD(help), 0, 0},
};
const size_t option_count = sizeof option_list / sizeof option_list[0];

typedef char option_list_fits[sizeof option_list / sizeof option_list[0] <= MAX_OPTIONS ? 1 : -1];

bool options_have(const arguments *given, const char *name)
{
    for (size_t i = 0; i < option_count; i++) {
        if (strcmp(option_list[i].name, name) == 0 && given->seen[i]) {
            return true;
        }
    }
    return false;
}

void options_show_line(const char *left, const char *help)
{
    enum { HELP_COLUMN = 27 };
    printf("  %-24s ", left);
    text_show(help, HELP_COLUMN, HELP_COLUMN);
}

/* Prints a line that begins with a name and a colon. Further lines are indented to the text after the colon. */
static void show_names(const char *names)
{
    text_show(names, 0, strcspn(names, ":") + 2);
}

/* Prints the names of actions for --action. */
static void show_actions(void)
{
#define COUNT_ACTION(enumerator, name, operands) +1
    enum { ACTION_COUNT = 0 IPT_ACTION_LIST(COUNT_ACTION) };
#undef COUNT_ACTION
    char text[400] = "actions:", letters[BATCH_LETTERS];
    size_t length = strlen(text);
    for (int i = IPT_ACTION_NONE + 1; i < ACTION_COUNT; i++) {
        batch_spec_letters((ipt_action)i, letters);
        length += (size_t)snprintf(text + length, sizeof text - length, " %s:", ipt_action_string((ipt_action)i));
        for (size_t k = 0; letters[k] != '\0'; k++) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%c", k > 0 ? "x" : "", letters[k]);
        }
    }
    show_names(text);
#define SHOW_MODEL(enumerator, name) " " name
    show_names("models:" IPT_MODEL_LIST(SHOW_MODEL));
#undef SHOW_MODEL
    show_names("options of actions: transpose-a transpose-b conjugate-a conjugate-b upper unit scaled");
    show_names("layouts: elements planes blocks/WIDTH");
}

void options_show(unsigned shown)
{
    for (size_t i = 0; i < option_count; i++) {
        if ((option_list[i].commands & shown) != 0 && option_list[i].help != NULL) {
            char left[40];
            snprintf(left, sizeof left, "%s%s%s", option_list[i].name, option_list[i].value == NULL ? "" : " ",
                     option_list[i].value == NULL ? "" : option_list[i].value);
            options_show_line(left, option_list[i].help);
        }
    }
    if ((shown & FOR_PLANS) != 0) {
#define SHOW_SEQUENCE(enumerator, name) " " name
        show_names("sequences:" IPT_SEQUENCE_LIST(SHOW_SEQUENCE));
#undef SHOW_SEQUENCE
#define SHOW_HEURISTIC(enumerator, name) " " name
        show_names("heuristics:" IPT_HEURISTIC_LIST(SHOW_HEURISTIC));
#undef SHOW_HEURISTIC
#define SHOW_METHOD(enumerator, name) " " name
        show_names("methods:" IPT_METHOD_LIST(SHOW_METHOD));
#undef SHOW_METHOD
#define SHOW_VARIANT(enumerator, name, family, lanes, padding, registers, layout, interleaved) " " name
        show_names("kernels:" IPT_VARIANT_LIST(SHOW_VARIANT));
#undef SHOW_VARIANT
    }
    if ((shown & FOR_MOVES) != 0) {
#define SHOW_MOVE(enumerator, name, transposed, rows, cols) " " name
        show_names("moves:" IPT_MOVE_LIST(SHOW_MOVE));
#undef SHOW_MOVE
    }
    if ((shown & FOR_FORMATS) != 0) {
#define SHOW_FORMAT(enumerator, name, factors) " " name
        show_names("formats:" IPT_FORMAT_LIST(SHOW_FORMAT));
#undef SHOW_FORMAT
    }
    if ((shown & FOR_SOURCES) != 0) {
        show_actions();
    }
}
