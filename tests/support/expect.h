/* Checks of a result and of the thread's error message. A test file that compiles its own copy of ipt passes the
 * message of that copy. */
#ifndef EXPECT_H_INCLUDED
#define EXPECT_H_INCLUDED

#include "ipt.h"

/* Whether text contains part as a whole word: without a letter or digit next to it. */
int test_mentions(const char *text, const char *part);

/* Whether result is the expected one and message contains both texts (NULL: any), as whole words or anywhere. If not,
 * prints result and message. */
int expect_words(ipt_result result, ipt_result expected, const char *message, const char *name, const char *value);
int expect_parts(ipt_result result, ipt_result expected, const char *message, const char *part, const char *other);

#define test_expect_error(call, expected, name, value)                                                                 \
    do {                                                                                                               \
        const ipt_result test_result = (call);                                                                         \
        if (!expect_words(test_result, expected, ipt_context_error(NULL), name, value))                                \
            _fail(__FILE__, __LINE__);                                                                                 \
    } while (0)

#define test_expect_parts(call, expected, part, other)                                                                 \
    do {                                                                                                               \
        const ipt_result test_result = (call);                                                                         \
        if (!expect_parts(test_result, expected, ipt_context_error(NULL), part, other))                                \
            _fail(__FILE__, __LINE__);                                                                                 \
    } while (0)

#endif
