/* Programs for other devices: profiles, and ipt precompile --target. */
#define _GNU_SOURCE /* POSIX 2008 with XSI, and memmem */

#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char kept[OUTPUT_SIZE], edited[OUTPUT_SIZE];

/* ------------------------------------------------------------------------------------------------------------------ */
/* Profiles */
/* ------------------------------------------------------------------------------------------------------------------ */

static void tool_profile_text(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "device ",      "vendor ",       "driver ",        "platform ",        "bits ",         "cpu ",
        "cooperative ", "nvidia ",       "memory_model ",  "sub_group ",       "lanes ",        "standard ",
        "group_size ",  "local_memory ", "compute_units ", "resident_groups ", "refused_bytes "};
    run_tool(0, "devices", "--profile");
    assert_string_equal(last.errors, "");
    memcpy(kept, last.output, sizeof kept);
    assert_int_equal(strncmp(kept, "ipt profile 2\n", 14), 0);
    assert_string_equal(kept + strlen(kept) - 5, "\nend\n");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *value = line_of(kept, lines[i]) + strlen(lines[i]);
        assert_true(i < 4 ? *value != '\0' : strspn(value, "0123456789") == strlen(value) && *value != '\0');
    }
    run_tool(0, "devices", "--profile");
    assert_string_equal(last.output, kept);
    run_tool(1, "devices", "--profile", "--device", "nosuchdevice");
    expect_word(last.errors, "nosuchdevice");
    assert_string_equal(last.output, "");
}

static void tool_profile_makes_the_same_plans(void **state)
{
    (void)state;
    static const char *const shapes[] = {"24x20:4", "37x23:4", "31x1500:4", "300x200:12", "1000x777:4"};
    static const char *const options[][2] = {
        {"plan", "--batch=1"}, {"plan", "--no-cooperative"}, {"source", "--batch=3"}};
    const char *profile = write_profile(kept);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (size_t j = 0; j < sizeof options / sizeof options[0]; j++) {
            run_tool(0, options[j][0], shapes[i], options[j][1]);
            memcpy(edited, last.output, sizeof edited);
            expect_word(edited, "ipt_k_");
            run_program(0, NO_DEVICES, process_tool(), options[j][0], shapes[i], options[j][1], "--profile", profile);
            assert_string_equal(last.output, edited);
            assert_string_equal(last.errors, "");
        }
    }
}

static void expect_bad_profile(const char *text, size_t number)
{
    const char *path = write_text("profile", text);
    const char *const words[] = {process_tool(), "plan", "24x20:4", "--profile", path, NULL};
    expect_refused_line(path, "profile", number, words);
}

static void tool_profile_refused(void **state)
{
    (void)state;
    static const char *const numbers[] = {"", " ", "-1", "+1", "1 ", "1x", "0x1", "99999999999999999999"};
    const char *path = write_profile(kept);
    size_t lines = count_words(kept, "\n"), before = 0;
    for (size_t i = 0; i < lines; i++) {
        replace_line(kept, i, "nonsense", edited);
        expect_bad_profile(edited, i + 1);
        replace_line(kept, i, NULL, edited);
        expect_bad_profile(edited, i + 1);
    }
    const char *bits = strstr(kept, "\nbits ");
    for (const char *at = kept; at <= bits; at++) {
        before += *at == '\n';
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "bits %s", numbers[i]);
        replace_line(kept, before, line, edited);
        expect_bad_profile(edited, before + 1);
    }
    strcpy(edited, kept);
    strcat(edited, "end\n");
    expect_bad_profile(edited, lines + 1);
    write_content(path, "ipt profile 2\n\0x\n", 17); /* a text with a zero byte */
    const char *const others[][2] = {
        {path, "not a text"}, {directory, "directory"}, {"/nonexistent/p", "No such file"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        run_tool(1, "source", "24x20:4", "--profile", others[i][0]);
        expect_one_line(last.errors);
        expect_word(last.errors, others[i][0]);
        expect_word(last.errors, others[i][1]);
    }
    write_text("profile", "nonsense\n");
    run_tool(1, "precompile", "24x20:4", "--target", "bitcode", "--profile", path, "-o", in_directory("folder"),
             "--embed", in_directory("header.h"));
    expect_word(last.errors, "ipt: ");
    expect_files("profile");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Programs for other devices */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The output of 'ipt devices --profile' on a machine with this GPU. */
static const char h200_profile[] = "ipt profile 2\n"
                                   "device NVIDIA H200\n"
                                   "vendor NVIDIA Corporation\n"
                                   "driver 580.159.04\n"
                                   "platform OpenCL 3.0 CUDA 13.0.98\n"
                                   "bits 64\n"
                                   "cpu 0\n"
                                   "cooperative 1\n"
                                   "nvidia 2\n"
                                   "memory_model 2\n"
                                   "sub_group 1\n"
                                   "lanes 32\n"
                                   "standard 30\n"
                                   "group_size 256\n"
                                   "largest_group 1024\n"
                                   "local_memory 48128\n"
                                   "compute_units 132\n"
                                   "resident_groups 264\n"
                                   "resident_bands 660\n"
                                   "resident_others 528\n"
                                   "wait_polls 1048576\n"
                                   "local_is_limited 0\n"
                                   "chunk_bytes 110592\n"
                                   "refused_bytes 0\n"
                                   "sub_groups_refused 0\n"
                                   "end\n";

/* Whether code begins like code of the target. */
static bool begins_as(const char *target, const unsigned char *code, size_t size)
{
    if (strncmp(target, "ptx:", 4) == 0) {
        return memcmp(code, "//", 2) == 0 || memcmp(code, ".version", 8) == 0;
    }
    return size > 4 && memcmp(code,
                              strcmp(target, "bitcode") == 0 ? "BC\xc0\xde"
                              : strcmp(target, "spirv") == 0 ? "\x03\x02\x23\x07"
                                                             : "\x7f"
                                                               "ELF",
                              4) == 0;
}

/* Checks that every program in the folder is for the target, and that the folder describes the device. */
static void expect_target(const char *folder, const char *target, const char *device)
{
    char line[64];
    size_t others, programs = count_programs(folder, &others);
    assert_true(programs >= 1 && others == 1);
    snprintf(line, sizeof line, "\ntarget %s\n", target);
    listing list = list_folder(folder);
    for (size_t i = 0; i < list.count; i++) {
        content read = read_content(path_within(folder, list.names[i]));
        entry_parts parts = take_apart(read.bytes, read.size);
        if (parts.is_program) {
            expect_word(parts.key, line);
            assert_true(begins_as(target, parts.code, parts.code_size));
        } else {
            expect_word(parts.key, device);
        }
        free(read.bytes);
    }
}

/* Whether the last run reported a target's compiler as missing. Prints its message then. */
static bool lacks_compiler(const char *target)
{
    const char *sentence = strstr(last.errors, "not installed: ");
    if (last.code != 1 || sentence == NULL) {
        return false;
    }
    print_message("%s was not tested; %s", target, sentence);
    return true;
}

/* Compiles without any device, from a profile alone. */
static void tool_precompile_targets(void **state)
{
    (void)state;
    static const char *const targets[] = {"ptx:sm_80", "bitcode", "spirv", "amdgcn:gfx90a"};
    enum { COUNT = sizeof targets / sizeof targets[0] };
    bool tested[COUNT] = {0};
    char own_device[300], own[PATH_SIZE * 2], h200[PATH_SIZE * 2];
    snprintf(own, sizeof own, "%s", write_profile(kept));
    snprintf(own_device, sizeof own_device, "\n%s\n", line_of(kept, "device "));
    snprintf(h200, sizeof h200, "%s", write_text("h200", h200_profile));
    for (size_t i = 0; i < COUNT; i++) {
        const char *profile = i == 0 ? h200 : own, *device = i == 0 ? "\ndevice NVIDIA H200\n" : own_device;
        const char *folder = in_directory(targets[i]), *header = in_directory("kernels.h");
        char text[PATH_SIZE * 4];
        const char *const words[] = {NO_DEVICES,  process_tool(), "precompile", "24x20:4",  "37x23:4",
                                     "--profile", profile,        "--target",   targets[i], "-o",
                                     folder,      "--embed",      header,       NULL};
        run_words(NULL, words);
        if (lacks_compiler(targets[i])) {
            assert_false(exists(folder) || exists(header));
            continue;
        }
        expect_code(0, __LINE__);
        assert_string_equal(last.errors, "");
        expect_one_line(last.output);
        snprintf(text, sizeof text, "%s and %s", folder, header);
        expect_precompiled(folder, text);
        expect_target(folder, targets[i], device);
        expect_header(header, "kernels", "KERNELS_H_INCLUDED", folder);
        content read = read_content(header);
        read.bytes[read.size] = '\0';
        snprintf(text, sizeof text, " precompile 24x20:4 37x23:4, for %s */\n", targets[i]);
        expect_word((char *)read.bytes, text);
        free(read.bytes);
        assert_int_equal(remove(header), 0);
        tested[i] = true;
    }
    if (tested[1]) { /* the device itself instead of its profile; --verbose shows the commands */
        run_tool(0, "precompile", "24x20:4", "37x23:4", "--target", "bitcode", "--verbose", "-o", in_directory("here"));
        assert_int_equal(strncmp(last.output, "clang", 5), 0);
        expect_word(last.output, " -x cl -cl-std=");
        expect_same_names(in_directory("here"), in_directory("bitcode"));
    } else {
        test_skip("no compiler for bitcode is installed");
    }
    if (tested[0]) {
        run_tool(1, "precompile", "24x20:4", "--profile", h200, "--target", "ptx:sm_9999", "-o", in_directory("none"),
                 "--embed", in_directory("none.h"));
        expect_word(last.errors, "ipt: ptx:sm_9999: ");
        expect_word(last.errors, "does not know the processor sm_9999");
        assert_string_equal(last.output, "");
        assert_false(exists(in_directory("none")) || exists(in_directory("none.h")));
    }
}

/* PoCL ends the process if it finds no linker. The tool explains this, and the file stays unchanged. */
static void tool_without_linker(void **state)
{
    (void)state;
    enum { ROWS = 60, COLS = 70 };
    static unsigned char before[ROWS * COLS * 4];
    char path[4096] /* the limit of realpath */, file[PATH_SIZE], programs[PATH_SIZE + 32], own[PATH_SIZE + 32];
    assert_non_null(realpath(process_tool(), path));
    for (size_t i = 0; i < sizeof before; i++)
        before[i] = (unsigned char)(i * 167 >> 4);
    snprintf(file, sizeof file, "%s", in_directory("m.raw"));
    write_content(file, before, sizeof before);
    snprintf(programs, sizeof programs, "POCL_CACHE_DIR=%s", in_directory("pocl"));
    snprintf(own, sizeof own, "IPT_CACHE_DIR=%s", in_directory("ipt"));
    const char *const words[] = {"env",   "PATH=/nonexistent", programs, own, path, "transpose",
                                 "--raw", "60x70:4",           file,     NULL};
    run_words(NULL, words);
    if (last.code == 0)
        test_skip("this OpenCL needs no linker");
    content after = read_content(file);
    assert_int_equal(after.size, sizeof before);
    assert_memory_equal(after.bytes, before, sizeof before);
    free(after.bytes);
    expect_word(last.errors, "ipt: the OpenCL implementation has ended this process");
    expect_word(last.errors, "needs the linker ld on PATH");
}

static void tool_precompile_without_clang(void **state)
{
    (void)state;
    const char *header = write_text("kernels.h", "old\n");
    char path[4096];
    assert_non_null(realpath(process_tool(), path));
    run_program(1, "env", "PATH=/nonexistent", "IPT_LLVM=17", path, "precompile", "24x20:4", "--target", "bitcode",
                "-o", in_directory("folder"), "--embed", header);
    expect_one_line(last.errors);
    expect_word(last.errors, "ipt: bitcode: not installed: clang-17");
    expect_word(last.errors, "apt-get install clang-17");
    expect_content(header, "old\n");
    expect_files("kernels.h");
}

const struct CMUnitTest test_tool_targets[] = {
    IN_DIRECTORY(tool_profile_text),
    IN_DIRECTORY(tool_profile_makes_the_same_plans),
    IN_DIRECTORY(tool_profile_refused),
    IN_DIRECTORY(tool_precompile_targets),
    IN_DIRECTORY(tool_precompile_without_clang),
    IN_DIRECTORY(tool_without_linker),
};
const size_t test_tool_targets_count = sizeof test_tool_targets / sizeof test_tool_targets[0];
