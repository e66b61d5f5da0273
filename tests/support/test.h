/* For all test files: a shared context and queue, a plain reference, seeded data, and checks. A failed check prints the
 * case and the seed; IPT_TEST_SEED in the environment repeats it. */
#ifndef TEST_H_INCLUDED
#define TEST_H_INCLUDED

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ipt.h"
#ifdef IPT_NO_OPENCL
#include "native_cl.h"
#endif
#include "expect.h"
#include "skip.h"

/* Every test_NAME.c exports its tests as test_NAME and their number as test_NAME_count. tests/support/main.c runs all
 * tests in this order. */
#ifdef TEST_SINGLE_FORM /* the library in one file: a few tests suffice, because its text is the same */
#define TEST_FILE_LIST(X) X(host) X(shapes) X(seeds) X(cut) X(cache)
#elif defined(IPT_NO_OPENCL) /* the native driver: what neither replaces OpenCL's functions nor compiles its language  \
                              */
#define TEST_FILE_LIST(X)                                                                                              \
    X(heuristics)                                                                                                      \
    X(plan)                                                                                                            \
    X(bad_input)                                                                                                       \
    X(host)                                                                                                            \
    X(execution)                                                                                                       \
    X(moves)                                                                                                           \
    X(shapes)                                                                                                          \
    X(exchange)                                                                                                        \
    X(pitch)                                                                                                           \
    X(axes)                                                                                                            \
    X(views)                                                                                                           \
    X(sequences)                                                                                                       \
    X(seeds)                                                                                                           \
    X(bus)                                                                                                             \
    X(thin)                                                                                                            \
    X(places)                                                                                                          \
    X(cut)                                                                                                             \
    X(actions)
#else
#define TEST_FILE_LIST(X)                                                                                              \
    X(maths)                                                                                                           \
    X(speed)                                                                                                           \
    X(heuristics)                                                                                                      \
    X(told)                                                                                                            \
    X(faults)                                                                                                          \
    X(plan)                                                                                                            \
    X(launches)                                                                                                        \
    X(bad_input)                                                                                                       \
    X(host)                                                                                                            \
    X(execution)                                                                                                       \
    X(moves)                                                                                                           \
    X(shapes)                                                                                                          \
    X(registers)                                                                                                       \
    X(exchange)                                                                                                        \
    X(pitch)                                                                                                           \
    X(batch)                                                                                                           \
    X(actions)                                                                                                         \
    X(axes)                                                                                                            \
    X(views)                                                                                                           \
    X(sequences)                                                                                                       \
    X(seeds)                                                                                                           \
    X(device_classes)                                                                                                  \
    X(stress)                                                                                                          \
    X(host_matrices)                                                                                                   \
    X(bus)                                                                                                             \
    X(refusals)                                                                                                        \
    X(out_of_place)                                                                                                    \
    X(columns)                                                                                                         \
    X(thin)                                                                                                            \
    X(places)                                                                                                          \
    X(record)                                                                                                          \
    X(trust)                                                                                                           \
    X(misuse)                                                                                                          \
    X(threads)                                                                                                         \
    X(limits)                                                                                                          \
    X(cut)                                                                                                             \
    X(workspace)                                                                                                       \
    X(cache)                                                                                                           \
    X(wisdom)                                                                                                          \
    X(offline)                                                                                                         \
    X(formats)                                                                                                         \
    X(encoded)                                                                                                         \
    X(messages)                                                                                                        \
    X(files)                                                                                                           \
    X(pictures)                                                                                                        \
    X(batches)                                                                                                         \
    X(tool_transpose)                                                                                                  \
    X(tool_bench)                                                                                                      \
    X(tool_precompile)                                                                                                 \
    X(tool_targets)                                                                                                    \
    X(tool_tune)                                                                                                       \
    X(tool)
#endif

#define TEST_DECLARE(name)                                                                                             \
    extern const struct CMUnitTest test_##name[];                                                                      \
    extern const size_t test_##name##_count;
TEST_FILE_LIST(TEST_DECLARE)

#define TEST_COUNT(array) (sizeof(array) / sizeof *(array))

/* An entry of a table test_NAME. Restarts the generator, so that the test alone has the same data. */
#define TEST_CASE(function) cmocka_unit_test_setup(function, test_start)
int test_start(void **state);

int test_group_setup(void **state);
int test_group_teardown(void **state);

/* The context and queue of the default device, shared by all tests. The small context has the same cl_context and
 * device, but only 1024 bytes of local memory, so that panels and whole matrices do not fit. */
extern ipt_context *test_context, *test_small_context;

/* The max_local_memory of a context desc that limits work-groups to `bytes`; 0 if the device has no more anyway. */
size_t test_less_local_memory(size_t bytes);

/* A context of the tests' device whose work-groups have at most `bytes` of local memory. */
ipt_context *test_make_context(size_t local_memory);

/* A context that assumes `resident` work-groups at a time. Work-groups stop waiting after `polls` polls (0: the
 * default), as they must if fewer run at a time. */
ipt_context *test_make_waiting_context(size_t local_memory, size_t resident, size_t polls);

/* A plan that permutes an array by boxes, whether the cost model prefers them or not. NULL if the device has no boxes,
 * or work-groups have less than 26 KB of local memory; else the test fails. */
ipt_plan *test_make_boxes(ipt_context *context, const ipt_plan_desc *desc);

/* A plan of two passes, one by boxes and one that transposes. NULL if the array or the device has none. */
ipt_plan *test_make_two_passes(ipt_context *context, const ipt_plan_desc *desc, bool boxes_first);

/* Whether the work-groups of the desc's plan wait for one another. */
bool test_waits_together(ipt_context *context, const ipt_plan_desc *desc);
extern cl_context test_cl_context;
extern cl_device_id test_device;
extern cl_command_queue test_queue;

/* Returns NULL if the device has no queues with these properties. */
cl_command_queue test_make_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties);

/* Random data that depends on the seed only. Not thread-safe. */
uint64_t test_random(void);
size_t test_random_between(size_t low, size_t high); /* both included */
void test_fill(void *bytes, size_t count);

/* The seven element sizes of the large loops. */
#define TEST_ELEMENT_SIZE_COUNT 7
extern const size_t test_element_sizes[TEST_ELEMENT_SIZE_COUNT];

size_t test_alignment(size_t elem_size);             /* of byte_offset and batch_stride */
size_t test_elements(const ipt_plan_desc *desc);     /* of one matrix or array */
size_t test_matrix_bytes(const ipt_plan_desc *desc); /* of one matrix or array */
size_t test_stride(const ipt_plan_desc *desc);       /* bytes from one matrix to the next */
size_t test_span(const ipt_plan_desc *desc);         /* bytes from the begin of the batch to its end */
void test_reference(unsigned char *output, const unsigned char *input, const ipt_plan_desc *desc);
void test_print_case(const ipt_plan_desc *desc, size_t byte_offset);

/* Sets IPT_DEVICE in the environment, or (NULL) removes it. Returns the old value. test_choose_again restores this
 * value and frees it. */
char *test_choose_device(const char *name);
void test_choose_again(char *before);

/* Guard bytes before and after the batch: a multiple of every alignment. */
#define TEST_GUARD 256

/* The device's bytes of local memory, largest work-group, and OpenCL version (12 is 1.2). */
size_t test_local_memory(void);
size_t test_group_limit(void);

unsigned test_version(void);

/* Whether the tests' device compiles OpenCL C: expressions, actions, kernels for other devices. */
extern const bool test_compiles;

/* Skips a test of what needs a compiler, on a device without. */
#define test_need_compiler() ((void)(test_compiles || (test_skip("the device compiles no OpenCL C"), 0)))

/* Skips a test of a plan that was refused because the device compiles no OpenCL C. */
void test_skip_uncompiled(ipt_result result);

/* The alignment of sub-buffers, in bits. Skips the test if the driver has none. */
cl_uint test_sub_buffer_bits(void);

/* Skips a test with buffers of `bytes` bytes if the device's largest one is smaller, or its memory below 2 * bytes. */
void test_need_buffers(size_t bytes);

/* Returns how many queues or threads may run a kernel at the same time, up to `most`. Skips the test if two may not. */
size_t test_kernels_at_once(size_t most);

/* Skips a test of commands that wait for a user event or for another thread's command: some devices cannot. */
void test_need_waiting_commands(void);

/* Skips a test of commands whose wait event fails: some devices end the process. */
void test_need_failed_events(void);

/* Skips a test whose kernels are not ipt's, or are changed. */
void test_need_own_kernels(void);

/* Skips a test of kernels that need work-groups of 32. */
#define test_need_group_of_32()                                                                                        \
    ((void)(test_group_limit() >= 32 || (test_skip("work-groups have fewer than 32 work-items"), 0)))

/* A batch in a buffer, with guard bytes around it. The functions that return int print an error and return 0 on
 * failure. Any thread can call them. */
typedef struct test_job {
    ipt_plan_desc desc;
    size_t byte_offset; /* of the batch */
    size_t size;        /* bytes in use of the buffer and of the three arrays */
    size_t capacity;
    cl_mem buffer;
    unsigned char *input, *expected, *result;
} test_job;

/* Zero the job before its first use. Later uses keep its memory. Skips the test if the device reports less memory than
 * the buffer needs. */
void test_job_prepare(test_job *job, cl_context context, const ipt_plan_desc *desc, size_t byte_offset);
int test_job_upload(test_job *job, cl_command_queue queue);
int test_job_holds(test_job *job, cl_command_queue queue, const unsigned char *content);
int test_job_run(test_job *job, ipt_plan *plan, cl_command_queue queue);
void test_job_end(test_job *job);

/* Creates a plan. Fails the test if there is none. */
ipt_plan *test_make_plan(ipt_context *context, const ipt_plan_desc *desc);

/* Runs desc on test_queue at a random place in a buffer, half of the batches with random gaps, and compares every byte,
 * guards and gaps included, with the reference. If there is no plan, test_try returns the error. */
ipt_result test_try(ipt_context *context, const ipt_plan_desc *desc);
void test_transposes(ipt_context *context, const ipt_plan_desc *desc);

/* A size as text, for checks of messages. Valid for the next seven calls. */
const char *test_number(size_t value);

#endif /* TEST_H_INCLUDED */
