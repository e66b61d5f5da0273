/* ipt precompile. Stored programs and headers are complete or absent. */
#define _GNU_SOURCE /* POSIX 2008 with XSI, and memmem */

#include "tool.h"

#include "folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char kept[OUTPUT_SIZE], edited[OUTPUT_SIZE];

/* ------------------------------------------------------------------------------------------------------------------ */
/* Folders of programs */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The cache folder comes from the command line, else from the environment, else it is the user's. */
static void tool_cache(void **state)
{
    (void)state;
    char home[PATH_SIZE * 2 + 20], base[PATH_SIZE * 2 + 20], variable[PATH_SIZE * 2 + 20], pocl[PATH_SIZE * 2 + 20];
    const char *folder = in_directory("folder");
    size_t others;
    snprintf(home, sizeof home, "HOME=%s", in_directory("home"));
    snprintf(base, sizeof base, "XDG_CACHE_HOME=%s", in_directory("base"));
    snprintf(variable, sizeof variable, "IPT_CACHE_DIR=%s", in_directory("variable"));
    snprintf(pocl, sizeof pocl, "POCL_CACHE_DIR=%s", in_directory("driver")); /* separate from ipt's cache */
    assert_int_equal(mkdir(in_directory("home"), 0700), 0);
    assert_int_equal(mkdir(in_directory("base"), 0700), 0);
    assert_int_equal(mkdir(in_directory("driver"), 0700), 0);
#define RUN_TOOL_IN(...) run_program(0, "env", "-u", "IPT_CACHE_DIR", home, base, pocl, __VA_ARGS__)
    RUN_TOOL_IN(process_tool(), "plan", "24x20:4", "--cache", "");
    RUN_TOOL_IN(variable, process_tool(), "plan", "24x20:4", "--cache", "");
    RUN_TOOL_IN("IPT_CACHE_DIR=", process_tool(), "plan", "24x20:4");
    RUN_TOOL_IN(process_tool(), "precompile", "24x20:4", "--embed", in_directory("header.h"));
    RUN_TOOL_IN(variable, process_tool(), "precompile", "24x20:4", "--embed", in_directory("header.h"));
    assert_false(exists(in_directory("variable")) || exists(in_directory("base/ipt")) ||
                 exists(in_directory("home/.cache/ipt")));
    RUN_TOOL_IN(variable, process_tool(), "plan", "24x20:4", "--cache", folder);
    assert_true(count_programs(folder, &others) >= 1);
    assert_false(exists(in_directory("variable")) || exists(in_directory("base/ipt")) ||
                 exists(in_directory("home/.cache/ipt")));
    RUN_TOOL_IN(variable, process_tool(), "plan", "24x20:4");
    assert_true(count_programs(in_directory("variable"), &others) >= 1);
    assert_false(exists(in_directory("base/ipt")) || exists(in_directory("home/.cache/ipt")));
    RUN_TOOL_IN(process_tool(), "plan", "24x20:4");
    assert_true(count_programs(in_directory("base/ipt"), &others) >= 1);
    assert_false(exists(in_directory("home/.cache/ipt")));
#undef RUN_TOOL_IN
    /* Every command that makes plans accepts --cache. */
    static const char *const commands[][4] = {{"source", "24x20:4"},
                                              {"tune", "24x20:4"},
                                              {"bench", "24x20:4", "--repeat=1", "--rounds=1"},
                                              {"transpose", "--raw=24x20:4", "raw"}};
    static const unsigned char zeros[24 * 20 * 4];
    write_content(in_directory("raw"), zeros, sizeof zeros);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char name[16];
        snprintf(name, sizeof name, "folder%zu", i);
        const char *words[9] = {process_tool(), commands[i][0], "--cache", in_directory(name)};
        for (size_t j = 1; j < 4 && commands[i][j] != NULL; j++) {
            words[j + 3] = strcmp(commands[i][j], "raw") == 0 ? in_directory("raw") : commands[i][j];
        }
        run_words(NULL, words);
        expect_code(0, (int)i);
        assert_true(count_programs(in_directory(name), &others) >= 1);
    }
}

static void tool_precompile_folder(void **state)
{
    (void)state;
    const char *folder = in_directory("folder/below");
    run_tool(0, "precompile", SHAPES, "-o", folder);
    expect_one_line(last.output);
    assert_string_equal(last.errors, "");
    expect_precompiled(folder, folder);
    expect_complete(folder, NULL);
    /* If any program is removed, one of the plans stores it again. */
    listing list = list_folder(folder);
    size_t returned = 0;
    for (size_t i = 0; i < list.count; i++) {
        char path[PATH_SIZE * 4];
        snprintf(path, sizeof path, "%s", path_within(folder, list.names[i]));
        content read = read_content(path);
        bool is_program = take_apart(read.bytes, read.size).is_program;
        free(read.bytes);
        assert_int_equal(remove(path), 0);
        for (size_t j = 0; j < SHAPE_COUNT && is_program; j++) {
            run_tool(0, "plan", all_shapes[j], "--cache", folder);
        }
        assert_true(!is_program || exists(path));
        returned += is_program;
    }
    assert_true(returned >= 2);
    /* A second time, over the existing files, with --verbose. */
    run_tool(0, "precompile", SHAPES, "--verbose", "--output", folder);
    expect_precompiled(folder, folder);
    list = list_folder(folder);
    assert_int_equal(count_words(last.output, "\n"), list.count + 1);
    expect_word(last.errors, "1 of 3: 24x20:4 in ");
    expect_word(last.errors, "\n3 of 3: 31x1500:4 in ");
    expect_complete(folder, NULL);
}

/* precompile has a cache, from which it loads programs, only with --cache. */
static void tool_precompile_cache(void **state)
{
    (void)state;
    char variable[PATH_SIZE * 2 + 20];
    const char *cache = in_directory("cache"), *folder = in_directory("folder");
    size_t others;
    snprintf(variable, sizeof variable, "IPT_CACHE_DIR=%s", cache);
    run_program(0, "env", variable, process_tool(), "precompile", SHAPES, "-o", folder);
    assert_false(exists(cache));
    run_tool(0, "precompile", SHAPES, "-o", folder, "--cache", cache);
    listing list = list_folder(cache);
    assert_int_equal(count_programs(cache, &others), count_programs(folder, &others));
    describe_folder(cache, kept);
    assert_int_equal(folder_remove(folder), 0);
    run_tool(0, "precompile", SHAPES, "-o", folder, "--cache", cache);
    describe_folder(cache, edited);
    assert_string_equal(edited, kept);
    for (size_t i = 0; i < list.count; i++) {
        content cached = read_content(path_within(cache, list.names[i]));
        content stored = read_content(path_within(folder, list.names[i]));
        assert_int_equal(cached.size, stored.size);
        assert_memory_equal(cached.bytes, stored.bytes, stored.size);
        free(cached.bytes);
        free(stored.bytes);
    }
    expect_complete(folder, NULL);
}

/* --shapes, and the options that change which programs a plan needs. */
static void tool_precompile_shapes(void **state)
{
    (void)state;
    static const char shapes[] = "# some\n24 20\n\n37 23 # more\n";
    const char *file = write_text("shapes", shapes), *first = in_directory("first"), *second = in_directory("second");
    size_t others;
    run_tool(0, "precompile", "24x20:8", "37x23:8", "-o", first);
    run_tool(0, "precompile", "--shapes", file, "--elem-size", "8", "-o", second);
    expect_same_names(first, second);
    run_tool(0, "precompile", "24x20:4", "-o", in_directory("less"));
    run_tool(0, "precompile", "24x20:4", "--out-of-place", "-o", in_directory("more"));
    assert_int_equal(count_programs(in_directory("more"), &others), count_programs(in_directory("less"), &others) + 1);
    run_tool(0, "precompile", "24x20:4", "--expression", "2 * x", "-o", in_directory("other"));
    assert_true(count_programs(in_directory("other"), &others) >= 1);
    describe_folder(in_directory("other"), kept);
    run_tool(0, "plan", "24x20:4", "--expression", "2 * x", "--cache", in_directory("other"));
    describe_folder(in_directory("other"), edited);
    assert_string_equal(edited, kept);
    run_tool(0, "plan", "24x20:4", "--expression", "3 * x", "--cache", in_directory("other"));
    describe_folder(in_directory("other"), edited);
    assert_string_not_equal(edited, kept);
    run_tool(0, "precompile", "24x20:4", "--expression", "a.y * x", "--argument-type", "float2", "-o",
             in_directory("given"));
    describe_folder(in_directory("given"), kept);
    run_tool(0, "plan", "24x20:4", "--expression", "a.y * x", "--argument-type", "float2", "--cache",
             in_directory("given"));
    describe_folder(in_directory("given"), edited);
    assert_string_equal(edited, kept);
    run_tool(1, "plan", "24x20:4", "--expression", "a * x", "--argument-type", "float8");
    expect_word(last.errors, "--argument-type is 'float8'");
    write_text("shapes", "24 20\n37\n");
    run_tool(1, "precompile", "--shapes", file, "-o", in_directory("bad"));
    expect_word(last.errors, "shapes:2: ");
    assert_false(exists(in_directory("bad")));
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Headers of programs */
/* ------------------------------------------------------------------------------------------------------------------ */

static void tool_precompile_header(void **state)
{
    (void)state;
    const char *folder = in_directory("folder");
    char both[PATH_SIZE * 4];
    run_tool(0, "precompile", SHAPES, "-o", folder, "--embed", in_directory("kernels.h"));
    snprintf(both, sizeof both, "%s and %s", folder, in_directory("kernels.h"));
    expect_precompiled(folder, both);
    expect_files("folder", "kernels.h");
    expect_header(in_directory("kernels.h"), "kernels", "KERNELS_H_INCLUDED", folder);
    content header = read_content(in_directory("kernels.h"));
    header.bytes[header.size] = '\0';
    expect_word((char *)header.bytes, " precompile 24x20:4 37x23:4 31x1500:4, for ");
    free(header.bytes);
    /* Writes a header through a link, over an old file. Arguments cannot end the comment at its top. */
    assert_int_equal(mkdir(in_directory("*"), 0700), 0);
    const char *shapes = write_text("*/shapes", "24 20\n");
    write_text("old.h", "old\n");
    assert_int_equal(symlink("old.h", in_directory("link.h")), 0);
    run_tool(0, "precompile", "--shapes", shapes, "-o", in_directory("one"), "--embed", in_directory("link.h"));
    struct stat status;
    assert_int_equal(lstat(in_directory("link.h"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    expect_header(in_directory("old.h"), "link", "LINK_H_INCLUDED", in_directory("one"));
    header = read_content(in_directory("old.h"));
    header.bytes[header.size] = '\0';
    const char *end = strstr((char *)header.bytes, "*/"), *line = strchr((char *)header.bytes, '\n');
    assert_non_null(line);
    assert_true(end == line - 2);
    expect_word(line_of((char *)header.bytes, "/*"), "--elem-size 4");
    free(header.bytes);
    expect_files("*", "folder", "kernels.h", "link.h", "old.h", "one");
}

/* C and C++ accept the names in a header, whatever the header's file name. */
static void tool_precompile_header_names(void **state)
{
    (void)state;
#define TEN_LETTERS "abcdefghij"
#define LONG_NAME                                                                                                      \
    TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS        \
        TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS
    static const char *const cases[][2] = {{"my-kernels v2.h", "my_kernels_v2"},
                                           {"9lives.h", "programs_9lives"},
                                           {"\xc3\xbc-ber.h", "programs_ber"},
                                           {".h", "programs"},
                                           {"a.b.h", "a_b"},
                                           {"no_extension", "no_extension"},
                                           {"y__z__.h", "y_z"},
                                           {"int.h", "int_programs"},
                                           {"class.hpp", "class_programs"},
                                           {"xor eq.h", "xor_eq_programs"},
                                           {"eq.h", "eq"},
                                           {"ipt.hpp", "programs_ipt"},
                                           {"IPT.h", "programs_IPT"},
                                           {"ipt_binary.h", "programs_ipt_binary"},
                                           {"NULL.h", "NULL_programs"},
                                           {"main.h", "main_programs"},
                                           {LONG_NAME ".h", LONG_NAME}};
    enum { COUNT = sizeof cases / sizeof cases[0] };
    const char *folder = in_directory("folder");
    char source[COUNT * 300] = "";
    run_tool(0, "precompile", "24x20:4", "-o", folder);
    for (size_t i = 0; i < COUNT; i++) {
        char guard[300], path[PATH_SIZE * 2];
        snprintf(guard, sizeof guard, "%s_H_INCLUDED", cases[i][1]);
        for (char *letter = guard; *letter != '\0'; letter++) {
            *letter = (char)(*letter >= 'a' && *letter <= 'z' ? *letter - 'a' + 'A' : *letter);
        }
        snprintf(path, sizeof path, "%s", in_directory(cases[i][0]));
        run_tool(0, "precompile", "24x20:4", "-o", folder, "--embed", path, "--cache", folder);
        expect_header(path, cases[i][1], guard, folder);
        snprintf(source + strlen(source), sizeof source - strlen(source), "#include \"%s\"\n", cases[i][0]);
    }
    static const char *const compilers[][5] = {{"gcc", "-std=c99", "-x", "c"}, {"g++", "-std=c++11", "-x", "c++"}};
    const char *path = write_text("all.c", source);
    for (size_t i = 0; i < 2; i++) {
        const char *const *words = compilers[i];
        const char *const version[] = {words[0], "--version", NULL};
        run_words(NULL, version);
        if (last.code != 0) {
            print_message("no %s: compiling the headers with it was not tested\n", words[0]);
            continue;
        }
        run_program(0, words[0], words[1], words[2], words[3], "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                    "-fsyntax-only", "-I.", path);
    }
}

/* A file that cannot be written completely does not appear. An earlier file stays unchanged. */
static void tool_precompile_full_disk(void **state)
{
    (void)state;
    const char *cache = in_directory("cache"), *folder = in_directory("folder"), *header = in_directory("kernels.h");
    struct stat status;
    size_t largest = 0;
    run_tool(0, "precompile", SHAPES, "--cache", cache, "-o", folder, "--embed", header);
    listing list = list_folder(folder);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(stat(path_within(folder, list.names[i]), &status), 0);
        largest = (size_t)status.st_size > largest ? (size_t)status.st_size : largest;
    }
    assert_int_equal(stat(header, &status), 0);
    assert_true((size_t)status.st_size > 2 * largest);
    assert_int_equal(folder_remove(folder), 0);
    for (int old = 1; old >= 0; old--) { /* with an existing header, and without one */
        if (old) {
            write_text("kernels.h", "old\n");
        } else {
            assert_int_equal(remove(in_directory("kernels.h")), 0);
        }
        header = in_directory("kernels.h");
        next_file_limit = (size_t)status.st_size - 1; /* all files before are less than half as large */
        run_program(1, FULL_DISK, process_tool(), "precompile", SHAPES, "--cache", in_directory("cache"), "--embed",
                    header);
        next_file_limit = 0;
        expect_one_line(without_signal(last.errors));
        expect_word(last.errors, header);
        assert_string_equal(last.output, "");
        if (old) {
            expect_content(header, "old\n");
            expect_files("cache", "kernels.h");
        } else {
            expect_files("cache");
        }
    }
    next_file_limit = largest - 1; /* with cached programs, the driver writes less */
    run_program(1, FULL_DISK, process_tool(), "precompile", SHAPES, "--cache", in_directory("cache"), "-o",
                in_directory("folder"), "--embed", in_directory("kernels.h"));
    next_file_limit = 0;
    expect_one_line(without_signal(last.errors));
    expect_word(last.errors, in_directory("folder"));
    assert_string_equal(last.output, "");
    list = list_folder(in_directory("folder"));
    for (size_t i = 0; i < list.count; i++) { /* only complete files */
        content read = read_content(path_within(in_directory("folder"), list.names[i]));
        (void)take_apart(read.bytes, read.size);
        assert_true(read.size < largest);
        free(read.bytes);
    }
    assert_false(exists(in_directory("kernels.h")));
}

/* Expressions for the native driver, for which the tool needs no device. tests/native compiles some. */
static void tool_precompile_native(void **state)
{
    static const struct {
        const char *type, *text, *literal, *tokens;
    } cases[] = {
        {"float", "x * a", "\"x * a\"", "ipt__cl_x * ipt__cl_a"},
        {"uchar4", "(uchar4)( x.z,x . s3 )", "\"(uchar4)( x.z,x . s3 )\"",
         "ipt__cl_vector(ipt__native_uchar, 4,  ipt__cl_x[2],ipt__cl_x [3] )"},
        {"uchar2", "x.yx /* \\ */", "\"x.yx /* \\\\ */\"",
         "ipt__cl_vector(ipt__native_uchar, 2, ipt__cl_x[1], ipt__cl_x[0])"},
        {"int", "as_int (convert_float(x)) + 'a' - 0x1Fu + (int)1.5e-1f", "'a'",
         "ipt__cl_as(ipt__native_int, ipt__cl_cast(ipt__native_float, ipt__cl_x)) + 'a' - 0x1Fu + "
         "(ipt__native_int)1.5e-1f"},
        {"uchar4", "convert_uchar4_sat_rte(x)", "sat", "ipt__cl_each(sat_rte, ipt__native_uchar, 4, ipt__cl_x)"},
        {"long", "pow(x, M_PI) + convert_long_sat(x) + foo ? x.xyz : i12", "foo \\? x",
         "ipt__cl_math_2(pow, ipt__cl_x, 3.14159265358979324) + ipt__cl_convert_long_sat(ipt__cl_x) + ipt__cl_foo ? "
         "ipt__cl_x.xyz : ipt__cl_i12"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_tool(0, "precompile", "--native", in_directory("native.h"), "--expression", cases[i].text, "--type",
                 cases[i].type, "--device=nosuchdevice");
        assert_string_equal(last.output, "");
        assert_string_equal(last.errors, "");
        expect_files("native.h");
        content read = read_content(in_directory("native.h"));
        char *text = calloc(1, read.size + 1);
        memcpy(text, read.bytes, read.size);
        expect_word(text, cases[i].literal);
        expect_word(text, cases[i].tokens);
        free(text);
        free(read.bytes);
    }
}

static void tool_precompile_failures(void **state)
{
    (void)state;
    const char *folder = in_directory("folder"), *header = write_text("kernels.h", "old\n");
#define REFUSED(word, ...)                                                                                             \
    do {                                                                                                               \
        run_tool(1, "precompile", __VA_ARGS__);                                                                        \
        expect_one_line(last.errors);                                                                                  \
        expect_word(last.errors, word);                                                                                \
        assert_string_equal(last.output, "");                                                                          \
        expect_content(header, "old\n");                                                                               \
        expect_files("kernels.h");                                                                                     \
    } while (0)
    REFUSED("need no program", "1x5:4", "5x1:4", "-o", folder, "--embed", header);
    REFUSED("24x20:4: ", "24x24:4", "24x20:4", "--sequence=square", "-o", folder, "--embed", header);
    REFUSED("nosuchdevice", "24x20:4", "--device=nosuchdevice", "-o", folder, "--embed", header);
    REFUSED("/none/x.h: No such file", "24x20:4", "-o", folder, "--embed", in_directory("none/x.h"));
    REFUSED("not a regular file", "24x20:4", "-o", folder, "--embed", directory);
    REFUSED("not a regular file", "24x20:4", "-o", folder, "--embed", "/dev/full");
    REFUSED("not a folder", "24x20:4", "-o", header);
    REFUSED("/none: No such file", "--shapes", in_directory("none"), "-o", folder, "--embed", header);
    REFUSED("/none", "24x20:4", "--wisdom", in_directory("none"), "-o", folder, "--embed", header);
#undef REFUSED
}

const struct CMUnitTest test_tool_precompile[] = {
    IN_DIRECTORY(tool_cache),
    IN_DIRECTORY(tool_precompile_folder),
    IN_DIRECTORY(tool_precompile_cache),
    IN_DIRECTORY(tool_precompile_shapes),
    IN_DIRECTORY(tool_precompile_header),
    IN_DIRECTORY(tool_precompile_header_names),
    IN_DIRECTORY(tool_precompile_full_disk),
    IN_DIRECTORY(tool_precompile_native),
    IN_DIRECTORY(tool_precompile_failures),
};
const size_t test_tool_precompile_count = sizeof test_tool_precompile / sizeof test_tool_precompile[0];
