/* Runs the tests of all files as one group, with one summary. Arguments are patterns (* and ?) of the names of tests to
 * run or, with a leading '-', of tests to leave out. `--list` prints each subject with its tests instead. */
#include "test.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *subject;
    const struct CMUnitTest *tests;
    const size_t *count;
} files[] = {
#define TEST_ENTER_FILE(name) {#name, test_##name, &test_##name##_count},
    TEST_FILE_LIST(TEST_ENTER_FILE)};

static void list_tests(void)
{
    for (size_t i = 0; i < TEST_COUNT(files); ++i)
        for (size_t j = 0; j < *files[i].count; ++j)
            printf("%s %s\n", files[i].subject, files[i].tests[j].name);
}

/* A test runs if it matches a pattern, or if there are only patterns of tests to leave out. */
static int is_wanted(const char *name, char **patterns)
{
    int wanted = 1, left_out = 0;
    for (char **pattern = patterns; *pattern; ++pattern)
        wanted &= **pattern == '-';
    for (char **pattern = patterns; *pattern; ++pattern)
        if (**pattern == '-')
            left_out |= fnmatch(*pattern + 1, name, 0) == 0;
        else
            wanted |= fnmatch(*pattern, name, 0) == 0;
    return wanted && !left_out;
}

/* A pattern that matches no test is an error. */
static int matches_a_test(const char *pattern)
{
    for (size_t i = 0; i < TEST_COUNT(files); ++i)
        for (size_t j = 0; j < *files[i].count; ++j)
            if (fnmatch(pattern + (*pattern == '-'), files[i].tests[j].name, 0) == 0)
                return 1;
    fprintf(stderr, "no test is called %s\n", pattern);
    return 0;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list_tests();
        return 0;
    }
    for (int i = 1; i < argc; ++i)
        if (!matches_a_test(argv[i]))
            return 1;
    for (size_t i = 0; i < TEST_COUNT(files); ++i)
        count += *files[i].count;
    struct CMUnitTest *const tests = calloc(count, sizeof *tests);
    if (!tests)
        return 1;
    count = 0;
    for (size_t i = 0; i < TEST_COUNT(files); ++i)
        for (size_t j = 0; j < *files[i].count; ++j)
            if (is_wanted(files[i].tests[j].name, argv + 1))
                tests[count++] = files[i].tests[j];
    const int failed = _cmocka_run_group_tests("ipt", tests, count, test_group_setup, test_group_teardown);
    test_skips_print();
    free(tests);
    return failed != 0;
}
