/* Runs the tests of all files as one group, with one summary. An optional argument is a pattern of test names (* and ?)
 * to run; with a leading '-', to leave out. */
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fnmatch.h>

int main(int argc, char **argv)
{
    size_t count = 0, matching = 0;
#define TEST_COUNT_FILE(name) count += test_##name##_count;
    TEST_FILE_LIST(TEST_COUNT_FILE)
    struct CMUnitTest *tests = calloc(count, sizeof *tests), *next = tests;
    if (!tests)
        return 1;
#define TEST_APPEND_FILE(name)                                                                                         \
    memcpy(next, test_##name, test_##name##_count * sizeof *tests);                                                    \
    next += test_##name##_count;
    TEST_FILE_LIST(TEST_APPEND_FILE)
    if (argc > 1) {
        const bool leave_out = argv[1][0] == '-';
        const char *const pattern = argv[1] + leave_out;
        if (leave_out)
            cmocka_set_skip_filter(pattern);
        else
            cmocka_set_test_filter(pattern);
        for (size_t i = 0; i < count; ++i)
            matching += fnmatch(pattern, tests[i].name, 0) == 0;
        /* What runs no test, or cmocka reads in another way, must not look like success. */
        if (!matching || strpbrk(pattern, "[\\") || argc > 2) {
            fprintf(stderr, argc > 2 ? "one pattern at a time, not '%s' too\n" : "no test is called %s\n",
                    argv[argc > 2 ? 2 : 1]);
            return 1;
        }
    }
    int failed = _cmocka_run_group_tests("ipt", tests, count, test_group_setup, test_group_teardown);
    test_skips_print();
    free(tests);
    return failed != 0;
}
