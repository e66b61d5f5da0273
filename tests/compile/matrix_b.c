/* The other half of the compile matrix: a program that only includes the header. It calls every public function with
 * arguments that need no device, and so detects missing functions, wrong linkage and unchecked arguments.
 * MATRIX_DEVICES: also queries devices and accepts any number, or only 0 with MATRIX_NONE in the environment. */
#ifdef MATRIX_CL_FIRST
#include <CL/cl.h>
#endif
#include "ipt.h"
#include "ipt.h" /* a second include must change nothing */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "failed: %s\n", what);
        ++failures;
    }
}
#define CHECK(condition) check((condition) ? 1 : 0, #condition)

static void check_words(void)
{
    CHECK(ipt_context_error(NULL) != NULL);
    CHECK(ipt_version() == IPT_VERSION);
#define CHECK_RESULT(name, value, sentence)                                                                            \
    CHECK(name == value);                                                                                              \
    CHECK(strcmp(ipt_result_string(name), sentence) == 0);
    IPT_RESULT_LIST(CHECK_RESULT)
    CHECK(ipt_result_string((ipt_result)15) != NULL); /* beyond the last */
#define CHECK_SEQUENCE(name, text) CHECK(strcmp(ipt_sequence_string(name), text) == 0);
    IPT_SEQUENCE_LIST(CHECK_SEQUENCE)
    CHECK(strcmp(ipt_sequence_string((ipt_sequence)15), "unknown") == 0);
}

static void check_nothing_given(void)
{
    CHECK(ipt_context_cl_context(NULL) == NULL);
    CHECK(ipt_context_cl_device(NULL) == NULL);
    CHECK(ipt_plan_workspace(NULL) == 0);
    CHECK(strcmp(ipt_plan_describe(NULL), "") == 0);
    CHECK(ipt_plan_source(NULL, 0) == NULL);
    ipt_plan_destroy(NULL);
    ipt_context_destroy(NULL);
}

static void check_refusals(void)
{
    const ipt_result refused = IPT_ERROR_INVALID_ARGUMENT;
#ifdef __cplusplus
    ipt_plan_desc desc = {};
#else
    ipt_plan_desc desc = {0};
#endif
    ipt_plan *plan = NULL;
    cl_event event = NULL;
    char byte = 1, text[8];
    CHECK(ipt_context_create(NULL, NULL) == refused);
    CHECK(ipt_device_list(NULL, 0, NULL) == refused);
    CHECK(ipt_device_describe(NULL, text, sizeof text) == refused);
    CHECK(ipt_plan_create(NULL, &desc, &plan) == refused && plan == NULL);
    CHECK(ipt_plan_execute(NULL, NULL, NULL, 0, 0, NULL, &event) == refused && event == NULL);
    CHECK(ipt_plan_execute_out_of_place(NULL, NULL, NULL, 0, NULL, 0, 0, NULL, &event) == refused && event == NULL);
    CHECK(ipt_plan_execute_host(NULL, &byte) == refused);
    CHECK(ipt_transpose(NULL, 2, 3, 4) == refused);
    CHECK(ipt_context_error(NULL)[0] != 0);
}

int main(void)
{
    check_words();
    check_nothing_given();
    check_refusals();
#ifdef MATRIX_DEVICES
    size_t count = 1;
    ipt_result result = ipt_device_list(NULL, 0, &count);
    CHECK((result == IPT_SUCCESS && getenv("MATRIX_NONE") == NULL) || (result == IPT_ERROR_NO_DEVICE && count == 0));
#endif
    return failures == 0 ? 0 : 1;
}
