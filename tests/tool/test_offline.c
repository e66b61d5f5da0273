/* Compilation for absent devices. Real kernels compile into the format of every target. For an undefined function or a
 * syntax error, the message contains the compiler's text. For missing programs, it names their packages. No temporary
 * file remains. */
#define _POSIX_C_SOURCE 200809L
#define IPT_STATIC /* the private functions, in a copy of this file's own */
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "folders.h"
#include "test.h"

#include "gen/tool/offline/offline.h"
#include "gen/tool/offline/offline_run.h"
#include "gen/tool/offline/offline_steps.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const target_names[] = {"ptx:sm_80", "spirv", "bitcode", "amdgcn:gfx90a"};

static const char hand_written[] = "#define IPT_GROUP_SIZE 64\n"
                                   "__kernel void first(__global uint *words)\n"
                                   "{\n"
                                   "    words[get_global_id(0)] += mul_hi(words[0], words[1]);\n"
                                   "}\n"
                                   "__kernel void second(__global uint *words, __local uint *tile)\n"
                                   "{\n"
                                   "    tile[get_local_id(0)] = words[get_global_id(0)];\n"
                                   "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                   "    words[get_global_id(0)] = tile[63 - get_local_id(0)];\n"
                                   "}\n";

static const char with_instructions[] =
    "__kernel void fetch(__global uint4 *from, __global uint4 *to, __global uint *word)\n"
    "{\n"
    "    __local uint4 quanta[32];\n"
    "    __asm__ volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\"\n"
    "                     ::\"r\"((uint)(ulong)(quanta + get_local_id(0))), \"l\"(from + get_local_id(0)) : "
    "\"memory\");\n"
    "    __asm__ volatile(\"cp.async.wait_all;\" ::: \"memory\");\n"
    "    to[get_local_id(0)] = quanta[get_local_id(0)];\n"
    "    __asm__ volatile(\"red.release.gpu.global.add.u32 [%0], 1;\" ::\"l\"(word) : \"memory\");\n"
    "}\n";

/* A load after a barrier must read the value that another work-item has stored before: PTX must not move the load. */
static const char with_barrier[] = "#define IPT_GROUP_SIZE 64\n"
                                   "__kernel void follows(__global uint *words)\n"
                                   "{\n"
                                   "    __local uint shared[2];\n"
                                   "    uint own = 0;\n"
                                   "    if (get_local_id(0) == 0) {\n"
                                   "        own = words[0] != 0 ? atomic_inc(words) : get_group_id(0);\n"
                                   "        shared[0] = own;\n"
                                   "        shared[1] = own < 7;\n"
                                   "    }\n"
                                   "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                   "    const uint ticket = shared[0] & 255;\n"
                                   "    if (shared[1])\n"
                                   "        words[1 + get_global_id(0)] = ticket + own;\n"
                                   "}\n";

static const char with_undefined[] = "uint elsewhere(uint x);\n"
                                     "__kernel void calls(__global uint *words)\n"
                                     "{\n"
                                     "    words[0] = elsewhere(words[1]);\n"
                                     "}\n";

/* ------------------------------------------------------------------------------------------------------------------ */
/* Parts of the tests                                                                                                 */
/* ------------------------------------------------------------------------------------------------------------------ */

/* TMPDIR during a test. Files in it after the test are an error. */
static char folder[512];

static int make_folder(void **state)
{
    return folder_make(folder, sizeof folder, "offline") != 0 || setenv("TMPDIR", folder, 1) != 0 ||
                   test_start(state) != 0
               ? -1
               : 0;
}

/* Fails if the folder is not empty. */
static int remove_folder(void **state)
{
    char *end = strrchr(folder, '/');
    int result = rmdir(folder);
    (void)state;
    *end = '\0';
    return setenv("TMPDIR", folder, 1) != 0 || result != 0 ? -1 : 0;
}

static offline_target target_of(const char *name)
{
    char message[OFFLINE_MESSAGE_SIZE];
    offline_target target;
    if (!offline_read_target(name, &target, message)) {
        fail_msg("%s", message);
    }
    return target;
}

/* Whether all programs of a target are installed and can read libclc. If not, reason names the missing ones. */
static bool has(const char *name, char reason[OFFLINE_MESSAGE_SIZE])
{
    static const char nothing[] = "__kernel void nothing(__global uint *words)\n{\n    words[0] = 0;\n}\n";
    offline_target target = target_of(name);
    unsigned char *code;
    size_t bytes;
    if (!offline_available(&target, reason)) {
        *strchr(reason, ';') = '\0';
        return false;
    }
    if (offline_compile(&target, nothing, "-cl-std=CL1.2", &code, &bytes, reason)) {
        free(code);
        return true;
    }
    return strncmp(reason, OFFLINE_OTHER_LIBRARY, sizeof OFFLINE_OTHER_LIBRARY - 1) !=
           0; /* the test itself reports other failures */
}

/* Skips the test if the target's programs are missing. */
static void need(const char *name)
{
    char reason[OFFLINE_MESSAGE_SIZE];
    if (!has(name, reason)) {
        test_skip(reason);
    }
}

/* Lists the usable targets and names the others. Skips the test if no target is usable. */
static void need_any(bool usable[TEST_COUNT(target_names)])
{
    char reason[OFFLINE_MESSAGE_SIZE];
    bool any = false;
    for (size_t i = 0; i < TEST_COUNT(target_names); i++) {
        usable[i] = has(target_names[i], reason);
        any = any || usable[i];
        if (!usable[i]) {
            print_message("%s is not tried: %s\n", target_names[i], reason);
        }
    }
    if (!any) {
        test_skip(reason);
    }
}

/* Compiles a text, which must succeed. The caller frees the code. */
static unsigned char *compile(const char *name, const char *source, const char *options, size_t *bytes)
{
    offline_target target = target_of(name);
    char message[OFFLINE_MESSAGE_SIZE] = "";
    unsigned char *code;
    if (!offline_compile(&target, source, options, &code, bytes, message)) {
        fail_msg("%s: %s", name, message);
    }
    assert_non_null(code);
    assert_int_equal(code[*bytes], 0);
    return code;
}

/* Expects that a text is refused with a message of one line that contains `part`. */
static void expect_refusal(const char *name, const char *source, const char *options, const char *part)
{
    offline_target target = target_of(name);
    char message[OFFLINE_MESSAGE_SIZE] = "";
    unsigned char *code;
    size_t bytes;
    if (offline_compile(&target, source, options, &code, &bytes, message)) {
        fail_msg("%s took the text", name);
    }
    assert_null(code);
    assert_int_equal(bytes, 0);
    if (strstr(message, part) == NULL || strchr(message, '\n') != NULL) {
        fail_msg("%s: '%s' is not in: %s", name, part, message);
    }
}

static size_t count_of(const unsigned char *text, const char *part)
{
    size_t count = 0;
    for (const char *found = (const char *)text; (found = strstr(found, part)) != NULL; found++) {
        count++;
    }
    return count;
}

/* A kernel's specialised text; valid until the next call. model: IPT_MEMORY_MODEL. */
static const char *kernel_text(ipt__kernel_id id, cl_uint model)
{
    static char text[1 << 17];
    ipt__text out = {text, sizeof text, 0};
    ipt__params params;
    memset(&params, 0, sizeof params);
#define OFFLINE_LEAST(name, macro, minimum, maximum, meaning) params.name = minimum;
    IPT_PARAM_LIST(OFFLINE_LEAST)
    params.expression = params.expression_type = "";
    params.unit_bytes = 4;
    params.element_units = 1;
    params.group_size = 32;
    params.lanes = 32;
    params.tile = 32;
    params.memory_model = model;
    params.sub_group = model == 2;
    params.local_bytes = 8192;
    assert_true(ipt__params_reduce(&params, ipt__kernels[id].uses));
    ipt__source_print(&out, id, &params);
    assert_true(out.length < sizeof text);
    return text;
}

/* Checks the format of a target's code. */
static void check_code(const char *name, const char *kernel, const unsigned char *code, size_t bytes)
{
    const offline_target target = target_of(name);
    char entry[80];
    snprintf(entry, sizeof entry, ".entry %s(", kernel);
    if (target.kind == OFFLINE_PTX) {
        assert_int_equal(strlen((const char *)code), bytes);
        assert_int_equal(count_of(code, entry), 1);
        assert_int_equal(count_of(code, ")\n.reqntid "), count_of(code, ".entry "));
        assert_int_equal(count_of(code, ".target sm_80"), 1);
    } else if (target.kind == OFFLINE_SPIRV) {
        assert_memory_equal(code, "\x03\x02\x23\x07", 4);
        assert_int_equal(bytes % 4, 0);
    } else if (target.kind == OFFLINE_BITCODE) {
        assert_memory_equal(code, "BC\xc0\xde", 4);
    } else {
        assert_memory_equal(code,
                            "\x7f"
                            "ELF",
                            4);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Tests                                                                                                              */
/* ------------------------------------------------------------------------------------------------------------------ */

static void offline_reads_targets(void **state)
{
    static const struct {
        const char *text;
        offline_kind kind;
        const char *processor;
    } good[] = {{"ptx:sm_80", OFFLINE_PTX, "sm_80"},
                {"ptx:sm_120", OFFLINE_PTX, "sm_120"},
                {"spirv", OFFLINE_SPIRV, ""},
                {"bitcode", OFFLINE_BITCODE, ""},
                {"amdgcn:gfx90a", OFFLINE_AMDGCN, "gfx90a"}};
    static const char *const bad[] = {"",
                                      "ptx",
                                      "ptx:",
                                      "ptx:sm_",
                                      "ptx:sm_8x",
                                      "ptx:80",
                                      "ptx:sm_80 ",
                                      "ptx:sm_80;ls",
                                      "ptxx:sm_80",
                                      "PTX:sm_80",
                                      "spirv:",
                                      "spirv:1.0",
                                      "spirv1",
                                      "bitcode:x",
                                      "amdgcn",
                                      "amdgcn:",
                                      "amdgcn:gfx",
                                      "amdgcn:gfx90A",
                                      "amdgcn:gfx90a:xnack+",
                                      "amdgcn:-gfx90a",
                                      "amdgcn:gfx90a/..",
                                      "ptx:sm_800000000000000000000000000000000000",
                                      "x86"};
    char message[OFFLINE_MESSAGE_SIZE];
    offline_target target;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(good); i++) {
        target = target_of(good[i].text);
        assert_int_equal(target.kind, good[i].kind);
        assert_string_equal(target.processor, good[i].processor);
    }
    for (size_t i = 0; i < TEST_COUNT(bad); i++) {
        message[0] = '\0';
        if (offline_read_target(bad[i], &target, message)) {
            fail_msg("'%s' was taken for a target", bad[i]);
        }
        assert_non_null(strstr(message, "target"));
    }
}

static void offline_compiles_kernels(void **state)
{
    static const struct {
        ipt__kernel_id id;
        const char *name;
    } kernels[] = {
        {IPT__KERNEL_tile, "ipt_k_tile"}, {IPT__KERNEL_swap, "ipt_k_swap"}, {IPT__KERNEL_chains, "ipt_k_chains"}};
    (void)state;
    bool usable[TEST_COUNT(target_names)];
    need_any(usable);
    for (size_t i = 0; i < TEST_COUNT(target_names); i++) {
        for (size_t k = 0; usable[i] && k < TEST_COUNT(kernels); k++) {
            size_t bytes;
            const char *text = kernel_text(kernels[k].id, i == 0 ? 2 : 0);
            unsigned char *code = compile(target_names[i], text, "-cl-std=CL1.2", &bytes);
            check_code(target_names[i], kernels[k].name, code, bytes);
            free(code);
        }
    }
}

/* Compiles features that OpenCL C 1.2 does not have. */
static void offline_compiles_later_kernels(void **state)
{
    static const char *const options[] = {"-cl-std=CL2.0", "-cl-std=CL3.0"};
    (void)state;
    bool usable[TEST_COUNT(target_names)];
    need_any(usable);
    for (size_t i = 1; i < TEST_COUNT(target_names); i++) {
        for (size_t k = 0; usable[i] && k < TEST_COUNT(options); k++) {
            size_t bytes;
            const char *text = kernel_text(k == 0 ? IPT__KERNEL_panel : IPT__KERNEL_chains, 3);
            unsigned char *code = compile(target_names[i], text, options[k], &bytes);
            check_code(target_names[i], NULL, code, bytes);
            free(code);
        }
    }
}

static void offline_puts_the_group_size_into_ptx(void **state)
{
    size_t bytes;
    unsigned char *code;
    (void)state;
    need("ptx:sm_80");
    code = compile("ptx:sm_80", hand_written, "-cl-std=CL1.2", &bytes);
    assert_int_equal(count_of(code, ".entry "), 2);
    assert_int_equal(count_of(code, ")\n.reqntid 64, 1, 1\n{"), 2);
    assert_int_equal(strlen((const char *)code), bytes);
    free(code);
    code = compile("ptx:sm_80", strchr(hand_written, '\n') + 1, "-cl-std=CL1.2", &bytes); /* no group size */
    assert_int_equal(count_of(code, ".entry "), 2);
    assert_int_equal(count_of(code, ".reqntid"), 0);
    free(code);
}

static void offline_compiles_instructions_of_ptx(void **state)
{
    size_t bytes;
    unsigned char *code;
    (void)state;
    need("ptx:sm_80");
    code = compile("ptx:sm_80", with_instructions, "-cl-std=CL1.2", &bytes);
    assert_int_equal(count_of(code, "cp.async.cg.shared.global.L2::128B"), 1);
    assert_int_equal(count_of(code, ".version 7.4\n"), 1); /* the first version that supports the processor */
    assert_int_equal(count_of(code, ".ptr .global"), 3);
    free(code);
}

/* The version of PTX supports the processor: later versions of clang require this. */
static void offline_chooses_the_version_of_ptx(void **state)
{
    static const struct {
        const char *target, *version;
    } cases[] = {{"ptx:sm_75", ".version 7.4\n"}, {"ptx:sm_86", ".version 7.4\n"},  {"ptx:sm_89", ".version 7.8\n"},
                 {"ptx:sm_90", ".version 7.8\n"}, {"ptx:sm_100", ".version 8.6\n"}, {"ptx:sm_103", ".version 8.8\n"},
                 {"ptx:sm_120", ".version 8.7\n"}};
    size_t tried = 0;
    (void)state;
    need("ptx:sm_80");
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        offline_target target = target_of(cases[i].target);
        char message[OFFLINE_MESSAGE_SIZE] = "";
        unsigned char *code;
        size_t bytes;
        if (offline_compile(&target, hand_written, "-cl-std=CL1.2", &code, &bytes, message)) {
            assert_int_equal(count_of(code, cases[i].version), 1);
            free(code);
            tried++;
        } else if (strstr(message, "does not know the processor") == NULL) {
            fail_msg("%s: %s", cases[i].target, message);
        }
    }
    assert_true(tried >= 2);
}

static void offline_quotes_the_compiler(void **state)
{
    (void)state;
    bool usable[TEST_COUNT(target_names)];
    need_any(usable);
    for (size_t i = 0; i < TEST_COUNT(target_names); i++) {
        if (!usable[i]) {
            continue;
        }
        expect_refusal(target_names[i],
                       "#line 7 \"odd.cl\"\n__kernel void wrong(__global uint *words) { words[0] = ; }\n",
                       "-cl-std=CL1.2", "odd.cl:7:56: error: expected expression");
        expect_refusal(target_names[i], hand_written, "-O3", "-O3");
    }
}

static void offline_refuses_undefined_functions(void **state)
{
    (void)state;
    char reason[OFFLINE_MESSAGE_SIZE];
    if (has("amdgcn:gfx90a", reason)) {
        expect_refusal("amdgcn:gfx90a", with_undefined, "-cl-std=CL1.2", "elsewhere");
    }
    need("ptx:sm_80");
    expect_refusal("ptx:sm_80", with_undefined, "-cl-std=CL1.2", "the source calls elsewhere");
    /* Built-ins that are missing in libclc, one of them from a later standard. */
    expect_refusal("ptx:sm_80", "__kernel void tells(__global uint *words)\n{\n    printf(\"%u\", words[0]);\n}\n",
                   "-cl-std=CL1.2", "the source calls printf");
    expect_refusal("ptx:sm_80", kernel_text(IPT__KERNEL_panel, 3), "-cl-std=CL3.0", "the source calls _Z2");
}

static void offline_refuses_ptx_without_kernels(void **state)
{
    (void)state;
    need("ptx:sm_80");
    expect_refusal("ptx:sm_80", "uint twice(uint x)\n{\n    return 2 * x;\n}\n", "-cl-std=CL1.2", "no kernel");
    expect_refusal("ptx:sm_80", "__kernel void empty(uint x)\n{\n}\n", "-cl-std=CL1.2", "the PTX of empty has no");
}

static void offline_names_unknown_processors(void **state)
{
    static const char *const unknown[] = {"ptx:sm_999", NULL, NULL, "amdgcn:gfx9999"};
    bool usable[TEST_COUNT(target_names)];
    (void)state;
    need_any(usable);
    for (size_t i = 0; i < TEST_COUNT(target_names); i++) {
        if (usable[i] && unknown[i] != NULL) {
            char part[80];
            snprintf(part, sizeof part, " does not know the processor %s", strchr(unknown[i], ':') + 1);
            expect_refusal(unknown[i], hand_written, "-cl-std=CL1.2", part);
        }
    }
}

/* Sets IPT_LLVM in the environment or (NULL) removes it. Returns the old value, which the caller frees. */
static char *choose_llvm(const char *version)
{
    const char *before = getenv("IPT_LLVM");
    char *copy = before != NULL ? strdup(before) : NULL;
    assert_int_equal(version != NULL ? setenv("IPT_LLVM", version, 1) : unsetenv("IPT_LLVM"), 0);
    return copy;
}

static void choose_llvm_again(char *before)
{
    free(choose_llvm(before));
    free(before);
}

/* The version in IPT_LLVM is used. If it is not installed, the message names its packages. */
static void offline_names_missing_programs(void **state)
{
    static const char *const packages[][4] = {{" clang-97", " llvm-97"},
                                              {" clang-97", " llvm-spirv-97"},
                                              {" clang-97"},
                                              {" clang-97", " llvm-97", " lld-97"}};
    char message[OFFLINE_MESSAGE_SIZE], *before = choose_llvm("97");
    offline_target targets[TEST_COUNT(target_names)];
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(target_names); i++) {
        targets[i] = target_of(target_names[i]);
    }
    choose_llvm_again(before);
    for (size_t i = 0; i < TEST_COUNT(target_names); i++) {
        unsigned char *code;
        size_t bytes;
        assert_false(offline_available(&targets[i], message));
        assert_int_equal(strncmp(message, "not installed: clang-97", 23), 0);
        for (size_t k = 0; packages[i][k] != NULL; k++) {
            if (strstr(strchr(message, ';'), packages[i][k]) == NULL) {
                fail_msg("%s: %s", target_names[i], message);
            }
        }
        assert_false(offline_compile(&targets[i], hand_written, "-cl-std=CL1.2", &code, &bytes, message));
        assert_non_null(strstr(message, "apt-get install clang-97"));
    }
}

/* The folder for temporary files does not exist. */
static void offline_names_a_bad_folder(void **state)
{
    need("bitcode");
    offline_target target = target_of("bitcode");
    char message[OFFLINE_MESSAGE_SIZE] = "";
    unsigned char *code;
    size_t bytes;
    bool good;
    (void)state;
    assert_int_equal(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
    good = offline_compile(&target, hand_written, "-cl-std=CL1.2", &code, &bytes, message);
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    assert_false(good);
    assert_non_null(strstr(message, "/nowhere/at/all"));
}

/* Puts a script of the test first in PATH; the next function restores PATH. */
static char *path_before;

static void put_before_path(const char *program, const char *script)
{
    char path[4096];
    const char *before = getenv("PATH");
    FILE *stream = fopen(offline_path(folder, program, path), "w");
    assert_non_null(stream);
    assert_true(fputs(script, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(chmod(path, 0700), 0);
    path_before = strdup(before != NULL ? before : "/usr/bin:/bin");
    assert_non_null(path_before);
    snprintf(path, sizeof path, "%s:%s", folder, path_before);
    assert_int_equal(setenv("PATH", path, 1), 0);
}

static void restore_path(const char *program)
{
    char path[OFFLINE_PATH_SIZE];
    assert_int_equal(setenv("PATH", path_before, 1), 0);
    free(path_before);
    assert_int_equal(unlink(offline_path(folder, program, path)), 0);
}

/* The choice of LLVM: the newest version for code of a processor, the oldest for code that a driver reads, and only
 * versions with all programs; if there is none, programs without a number. */
static void offline_finds_llvm(void **state)
{
    static const char *const steps[] = {"clang-15", "clang-16 llc-16", "clang-18 opt-18 llc-18 llvm-spirv-18",
                                        "opt-16",   "ld.lld-18",       "llvm-spirv-15"};
    static const char *const expected[][4] = {{"", "", "-15", ""},          {"", "", "-15", ""},
                                              {"-18", "-18", "-15", ""},    {"-18", "-18", "-15", ""},
                                              {"-18", "-18", "-15", "-18"}, {"-18", "-15", "-15", "-18"}};
    char *before = choose_llvm(NULL), *path_was = strdup(getenv("PATH") != NULL ? getenv("PATH") : "/usr/bin:/bin");
    char found[TEST_COUNT(steps)][4][16], path[OFFLINE_PATH_SIZE];
    (void)state;
    assert_non_null(path_was);
    assert_int_equal(setenv("PATH", folder, 1), 0);
    for (size_t i = 0; i < TEST_COUNT(steps); i++) {
        char programs[100];
        snprintf(programs, sizeof programs, "%s", steps[i]);
        for (char *program = strtok(programs, " "); program != NULL; program = strtok(NULL, " ")) {
            FILE *stream = fopen(offline_path(folder, program, path), "w");
            assert_non_null(stream);
            fclose(stream);
            chmod(path, 0700);
        }
        for (size_t k = 0; k < TEST_COUNT(target_names); k++) {
            strcpy(found[i][k], target_of(target_names[k]).llvm);
        }
    }
    assert_int_equal(setenv("PATH", path_was, 1), 0); /* before any failure: other tests need PATH */
    free(path_was);
    choose_llvm_again(before);
    offline_remove_folder(folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (size_t i = 0; i < TEST_COUNT(steps); i++) {
        for (size_t k = 0; k < TEST_COUNT(target_names); k++) {
            assert_string_equal(found[i][k], expected[i][k]);
        }
    }
}

/* If LLVM crashes, as on some texts, the tool tries again without one of LLVM's passes. */
static void offline_tries_again_after_a_crash(void **state)
{
    need("ptx:sm_80");
    offline_target target = target_of("ptx:sm_80");
    char message[OFFLINE_MESSAGE_SIZE] = "", llc[64], script[5000];
    unsigned char *code = NULL;
    size_t bytes;
    bool good;
    (void)state;
    snprintf(llc, sizeof llc, "llc%s", target.llvm);
    snprintf(script, sizeof script,
             "#!/bin/sh\n"
             "PATH=%s\n"
             "case \"$*\" in *-disable-lsr*) exec %s \"$@\";; esac\n"
             "kill -SEGV $$\n",
             getenv("PATH"), llc);
    put_before_path(llc, script);
    good = offline_compile(&target, hand_written, "-cl-std=CL1.2", &code, &bytes, message);
    restore_path(llc);
    if (!good) {
        fail_msg("%s", message);
    }
    check_code("ptx:sm_80", "first", code, bytes);
    free(code);
}

static void offline_keeps_loads_behind_barriers(void **state)
{
    need("ptx:sm_80");
    offline_target target = target_of("ptx:sm_80");
    char message[OFFLINE_MESSAGE_SIZE] = "";
    unsigned char *code = NULL;
    size_t bytes;
    (void)state;
    if (!offline_compile(&target, with_barrier, "-cl-std=CL1.2", &code, &bytes, message)) {
        fail_msg("%s", message);
    }
    const char *barrier = strstr((const char *)code, "bar.sync"), *load = strstr((const char *)code, "ld.shared");
    assert_non_null(barrier);
    assert_non_null(load);
    assert_true(barrier < load);
    free(code);
}

/* If a later program refuses the code, compilation fails. Long messages are cut. */
static void offline_minds_the_checkers(void **state)
{
    (void)state;
    need("spirv");
    put_before_path("spirv-val", "#!/bin/sh\n"
                                 "test \"$3\" = k.spv && test -s k.spv && yes 'an odd word' | head -n 10000\n"
                                 "exit 1\n");
    offline_target target = target_of("spirv");
    char message[OFFLINE_MESSAGE_SIZE] = "";
    unsigned char *code;
    size_t bytes;
    bool good = offline_compile(&target, hand_written, "-cl-std=CL1.2", &code, &bytes, message);
    restore_path("spirv-val");
    assert_false(good);
    assert_null(code);
    assert_int_equal(strncmp(message, "spirv-val failed with exit code 1: an odd word an odd", 53), 0);
    assert_in_range(strlen(message), 900, OFFLINE_MESSAGE_SIZE - 1);
}

static void offline_prints_commands(void **state)
{
    static const char *const last_lines[] = {" o.bc -o k.ptx\n", "\nspirv-val --target-env opencl1.2 k.spv\n",
                                             " -c k.cl -o k.bc\n", "\nld.lld-15 -shared --no-undefined k.o -o k.co\n"};
    char text[4096], start[64], *before = choose_llvm("15");
    offline_target targets[TEST_COUNT(target_names)];
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(target_names); i++) {
        targets[i] = target_of(target_names[i]);
    }
    choose_llvm_again(before);
    for (size_t i = 0; i < TEST_COUNT(target_names); i++) {
        offline_commands(&targets[i], "-cl-std=CL1.2", text, sizeof text);
        assert_int_equal(strncmp(text, "clang-15 -x cl -cl-std=CL1.2 ", 29), 0);
        assert_true(strlen(text) > strlen(last_lines[i]));
        assert_string_equal(text + strlen(text) - strlen(last_lines[i]), last_lines[i]);
        memset(start, '#', sizeof start);
        offline_commands(&targets[i], "-cl-std=CL1.2", start, 30);
        assert_int_equal(strlen(start), 29);
        assert_memory_equal(start, text, 29);
        assert_int_equal(start[30], '#');
    }
    offline_commands(&targets[3], "-cl-std=CL2.0", text, sizeof text);
    assert_non_null(strstr(text, " '-Datomic_work_item_fence(flags,order,scope)=")); /* quoted for a shell */
}

#define OFFLINE_CASE(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

const struct CMUnitTest test_offline[] = {
    OFFLINE_CASE(offline_reads_targets),
    OFFLINE_CASE(offline_compiles_kernels),
    OFFLINE_CASE(offline_compiles_later_kernels),
    OFFLINE_CASE(offline_puts_the_group_size_into_ptx),
    OFFLINE_CASE(offline_compiles_instructions_of_ptx),
    OFFLINE_CASE(offline_chooses_the_version_of_ptx),
    OFFLINE_CASE(offline_quotes_the_compiler),
    OFFLINE_CASE(offline_refuses_undefined_functions),
    OFFLINE_CASE(offline_refuses_ptx_without_kernels),
    OFFLINE_CASE(offline_names_unknown_processors),
    OFFLINE_CASE(offline_names_missing_programs),
    OFFLINE_CASE(offline_names_a_bad_folder),
    OFFLINE_CASE(offline_finds_llvm),
    OFFLINE_CASE(offline_tries_again_after_a_crash),
    OFFLINE_CASE(offline_keeps_loads_behind_barriers),
    OFFLINE_CASE(offline_minds_the_checkers),
    OFFLINE_CASE(offline_prints_commands),
};
const size_t test_offline_count = TEST_COUNT(test_offline);
