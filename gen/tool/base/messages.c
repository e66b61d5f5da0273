#include "messages.h"

#include "ipt.h"
#include "system.h"
#include "text.h"

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

/* Formats a text. The caller frees it. NULL: out of memory. */
static char *format_text(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *const text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, arguments);
    }
    return text;
}

/* Prints a text escaped, and a newline. */
static void print_escaped(FILE *stream, const char *text, const char *kept)
{
    char *const escaped = text == NULL ? NULL : text_escape(text, kept);
    fprintf(stream, "%s\n", escaped == NULL ? "out of memory for a message" : escaped);
    free(escaped);
}

/* The longest end of an escaped name that fits `columns`. */
static const char *name_end(const char *name, size_t columns)
{
    while (text_columns(name) > columns) {
        const size_t length = text_character(name);
        name += length == 0 ? 1 : length;
    }
    return name;
}

void message_progress(const char *name, const char *format, ...)
{
    enum { LEAST_NAME = 8 }; /* columns */
    va_list arguments;
    va_start(arguments, format);
    char *const rest = format_text(format, arguments), *const escaped = text_escape(name, "");
    va_end(arguments);
    const size_t width = system_terminal_width() - 1; /* some terminals scroll at their last column */
    if (rest != NULL && escaped != NULL) {
        const size_t taken = strlen(rest) + strlen(": "), room = width > taken ? width - taken : 0;
        const bool fits = text_columns(escaped) <= room;
        const char *const end = fits ? escaped : name_end(escaped, room < LEAST_NAME ? 0 : room - strlen("..."));
        fprintf(stderr, "\r\033[K%s%s%s%.*s", fits || *end == '\0' ? "" : "...", end, *end == '\0' ? "" : ": ",
                (int)width, rest);
        fflush(stderr);
        progress_shown = true;
    }
    free(rest);
    free(escaped);
}

void message_print(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *const text = format_text(format, arguments);
    va_end(arguments);
    print_escaped(stream, text, "");
    free(text);
}

static void complain(const char *format, va_list arguments)
{
    char *const text = format_text(format, arguments);
    message_clear_progress();
    fputs("ipt: ", stderr);
    print_escaped(stderr, text, "");
    free(text);
}

void message_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
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

/* Names of the library, and their replacements for the command line. Only whole words are replaced. */
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
    char *const name = about == NULL ? NULL : text_escape(about, "");
    message_clear_progress();
    fprintf(stderr, "ipt: %s%s", name == NULL ? "" : name, name == NULL ? "" : ": ");
    print_escaped(stderr, sentence, "\n\t"); /* a compiler's log has several lines */
    free(name);
    return EXIT_FAILURE;
}
