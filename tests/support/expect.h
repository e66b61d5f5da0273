/* Checks of a result and of the thread's error message. A file with a copy of ipt of its own checks that copy's
 * message. */
#ifndef EXPECT_H_INCLUDED
#define EXPECT_H_INCLUDED

#include "ipt.h"

/* Whether part is in text, without a letter or digit next to it. */
int test_mentions(const char *text, const char *part);

/* Whether result is the expected one and message has both texts (NULL: any): as whole words, or anywhere. Otherwise
 * prints both. */
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
