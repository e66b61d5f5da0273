#include "messages.h"

#include "ipt.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool progress_shown;

void message_clear_progress(void)
{
    if (progress_shown) {
        fputs("\r\033[K", stderr);
        progress_shown = false;
    }
}

void message_progress(const char *format, ...)
{
    va_list arguments;
    fputs("\r\033[K", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
    progress_shown = true;
}

static void complain(const char *format, va_list arguments)
{
    message_clear_progress();
    fputs("ipt: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int message_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    return EXIT_FAILURE;
}

int message_usage_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    fputs("Try 'ipt --help'.\n", stderr);
    return EXIT_USAGE;
}

/* Names of the library's fields and values on the command line. Only whole words are replaced. */
static const char *const option_names[][2] = {
    {"flags has IPT_PAD", "--pad is given"},
    {"flags has no IPT_PAD", "--pad is not given"},
    {"flags has IPT_MEASURE", "--measure is given"},
    {"IPT_PAD", "--pad"},
    {"IPT_MEASURE", "--measure"},
    {"IPT_NO_COOPERATIVE", "--no-cooperative"},
    {"IPT_OUT_OF_PLACE", "--out-of-place"},
    {"or use IPT_SEQUENCE_TWO_PASS", "or use --sequence two-pass"},
    {"IPT_SEQUENCE_TWO_PASS", "--sequence two-pass"},
    {"max_workspace", "--workspace"},
    {"max_host_memory", "--memory"},
    {"tile_m", "--tile-m"},
    {"tile_n", "--tile-n"},
    {"variant_010", "--variant-010"},
    {"variant_100", "--variant-100"},
    {"variant_pad", "--variant-pad"},
    {"flag_spread", "--flag-spread"},
    {"device_name", "--device"},
    {"cache_dir", "--cache"},
    {"expression_argument_type", "--argument-type"},
    {"expression_type", "--type"},
    {"expression is", "--expression is"},
    {"expression:", "--expression:"},
    {"elem_size =", "the elements' size ="},
    {"elem_size", "the elements' size"},
    {"for 18446744073709551615 bytes", "without a limit"},
    {"18446744073709551615", "no limit"},
};

void message_translate(const char *sentence, char *text, size_t capacity)
{
    size_t length = 0;
    bool inside = false; /* a word */
    while (*sentence != '\0' && length + 40 < capacity) {
        size_t found = SIZE_MAX, size = 1;
        for (size_t i = 0; i < sizeof option_names / sizeof option_names[0] && !inside && found == SIZE_MAX; i++) {
            size_t wanted = strlen(option_names[i][0]);
            const char after = strncmp(sentence, option_names[i][0], wanted) == 0 ? sentence[wanted] : '_';
            if (after != '_' && !isalnum((unsigned char)after)) {
                found = i;
                size = wanted;
            }
        }
        inside = found == SIZE_MAX && (isalnum((unsigned char)*sentence) || *sentence == '_' || *sentence == '\'');
        length += (size_t)snprintf(text + length, capacity - length, "%.*s",
                                   found == SIZE_MAX ? 1 : (int)strlen(option_names[found][1]),
                                   found == SIZE_MAX ? sentence : option_names[found][1]);
        sentence += size;
    }
    text[length] = '\0';
}

int message_fail_ipt(const char *about)
{
    char sentence[8192];
    message_translate(ipt_context_error(NULL), sentence, sizeof sentence);
    return about == NULL ? message_fail("%s", sentence) : message_fail("%s: %s", about, sentence);
}
