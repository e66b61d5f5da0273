/* A program with the tests that tests/analysis/sanitize.sh runs: the tests on the OpenCL stub or, with SANITIZE_DEVICE,
 * some tests on a device. */
#include "test.h"

#undef TEST_FILE_LIST
#ifdef SANITIZE_DEVICE
#define TEST_FILE_LIST(X) X(plan) X(execution) X(host) X(cut) X(cache)
#else
#define TEST_FILE_LIST(X) X(trust) X(misuse) X(threads)
TEST_FILE_LIST(TEST_DECLARE)
#define test_group_setup NULL
#define test_group_teardown NULL
#endif

#include "main.c"
