#include "test.h"

#include <ctype.h>
#include <string.h>

int test_mentions(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (const char *found = text; (found = strstr(found, part)); ++found)
        if ((found == text || !isalnum((unsigned char)found[-1])) && !isalnum((unsigned char)found[length]))
            return 1;
    return 0;
}

static int has_part(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static int expect_texts(ipt_result result, ipt_result expected, const char *message, const char *const texts[2],
                        int (*has)(const char *, const char *))
{
    if (result == expected && (!expected || *message) && (!texts[0] || has(message, texts[0])) &&
        (!texts[1] || has(message, texts[1])))
        return 1;
    print_error("expected: %s, naming %s and %s\ngot: %s: %s\n", ipt_result_string(expected),
                texts[0] ? texts[0] : "anything", texts[1] ? texts[1] : "anything", ipt_result_string(result), message);
    return 0;
}

int expect_words(ipt_result result, ipt_result expected, const char *message, const char *name, const char *value)
{
    const char *const texts[2] = {name, value};
    return expect_texts(result, expected, message, texts, test_mentions);
}

int expect_parts(ipt_result result, ipt_result expected, const char *message, const char *part, const char *other)
{
    const char *const texts[2] = {part, other};
    return expect_texts(result, expected, message, texts, has_part);
}
