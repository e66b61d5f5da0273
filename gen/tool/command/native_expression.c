/* An expression of OpenCL C becomes C for the native driver: names get a prefix, and what C lacks becomes the calls of
 * gen/kernels/expressions.h. Other words fail to compile with the program that includes ipt.h. */
#define _POSIX_C_SOURCE 200809L

#include "native_expression.h"

#include "gen/tool/base/messages.h"
#include "gen/tool/base/show.h"
#include "gen/tool/base/text.h"
#include "gen/tool/store/draft.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
#define DIGITS "0123456789"

/* A word as C. calls: a function, of which `text` replaces the name and the parenthesis. */
typedef struct translation {
    const char *word, *text;
    bool calls;
} translation;

static const translation translations[] = {
#define NUMBER(name) {#name, "ipt__native_" #name, false},
#define CONSTANT(name, value) {#name, value, false},
#define MATH(count, name) {#name, "ipt__cl_math_" #count "(" #name ", ", true},
    /* clang-format off */
    NUMBER(char) NUMBER(uchar) NUMBER(short) NUMBER(ushort) NUMBER(int) NUMBER(uint) NUMBER(long) NUMBER(ulong)
    NUMBER(float) NUMBER(double)
    CONSTANT(true, "1") CONSTANT(false, "0") CONSTANT(M_PI_F, "3.14159274f") CONSTANT(M_PI, "3.14159265358979324")
    MATH(1, acos) MATH(1, asin) MATH(1, atan) MATH(1, cbrt) MATH(1, ceil) MATH(1, cos) MATH(1, cosh) MATH(1, exp)
    MATH(1, exp2) MATH(1, fabs) MATH(1, floor) MATH(1, log) MATH(1, log10) MATH(1, log2) MATH(1, rint) MATH(1, round)
    MATH(1, sin) MATH(1, sinh) MATH(1, sqrt) MATH(1, tan) MATH(1, tanh) MATH(1, trunc)
    MATH(2, atan2) MATH(2, copysign) MATH(2, fmax) MATH(2, fmin) MATH(2, fmod) MATH(2, hypot) MATH(2, pow)
    MATH(3, fma)
    /* clang-format on */
};
enum { TRANSLATIONS = sizeof translations / sizeof translations[0], NUMBERS = 10 };

/* The name of a number, and the count of a vector's components, with its digits; 1 and no digits: a number. */
typedef struct type_name {
    const char *number;
    size_t count, length; /* length: characters of the whole name */
} type_name;

static bool is_count(const char *digits, size_t length)
{
    return length == 0 || (length == 1 && strchr("248", *digits) != NULL) ||
           (length == 2 && strncmp(digits, "16", length) == 0);
}

/* Reads a type's name. The caller checks what follows. */
static bool read_type(const char *word, type_name *type)
{
    const size_t letters = strcspn(word, DIGITS "_() \t");
    const size_t digits = letters > strlen(word) ? 0 : strspn(word + letters, DIGITS);
    for (size_t i = 0; i < NUMBERS; i++) {
        const char *number = translations[i].word;
        if (strlen(number) == letters && strncmp(number, word, letters) == 0 && is_count(word + letters, digits)) {
            type->number = number;
            type->length = letters + digits;
            type->count = 1;
            if (digits > 0) {
                type->count = word[letters] == '1' ? 16 : (size_t)(word[letters] - '0');
            }
            return true;
        }
    }
    return false;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Writes the call that converts to a type: convert_TYPE, with _sat and _rte for integers whose limits a double has.
 * Returns the end of its opening parenthesis; NULL: not such a call. */
static const char *write_conversion(FILE *stream, const char *word)
{
    static const char *const ways[][2] = {{"", "cast"}, {"_sat", "sat"}, {"_rte", "rte"}, {"_sat_rte", "sat_rte"}};
    type_name type;
    if (strncmp(word, "convert_", strlen("convert_")) != 0 || !read_type(word + strlen("convert_"), &type)) {
        return NULL;
    }
    const char *suffix = word + strlen("convert_") + type.length;
    const size_t length = strspn(suffix, WORD_CHARACTERS);
    const bool small = strstr("char uchar short ushort int uint", type.number) != NULL;
    for (size_t i = 0; i < (small ? 4 : 1) && *skip_blanks(suffix + length) == '('; i++) {
        if (strlen(ways[i][0]) != length || strncmp(ways[i][0], suffix, length) != 0) {
            continue;
        }
        if (type.count > 1) {
            fprintf(stream, "ipt__cl_each(%s, ipt__native_%s, %zu, ", ways[i][1], type.number, type.count);
        } else {
            fprintf(stream, "ipt__cl_%s(ipt__native_%s, ", ways[i][1], type.number);
        }
        return skip_blanks(suffix + length) + 1;
    }
    return NULL;
}

/* Writes the call that reinterprets bits, as_TYPE. Returns as write_conversion. */
static const char *write_reinterpretation(FILE *stream, const char *word)
{
    type_name type;
    if (strncmp(word, "as_", strlen("as_")) != 0 || !read_type(word + strlen("as_"), &type) ||
        *skip_blanks(word + strlen("as_") + type.length) != '(') {
        return NULL;
    }
    fprintf(stream, "ipt__cl_as(ipt__native_%.*s, ", (int)type.length, word + strlen("as_"));
    return skip_blanks(word + strlen("as_") + type.length) + 1;
}

/* Writes a vector of components, (TYPE)(...), of which at is the start. Returns as write_conversion. */
static const char *write_vector(FILE *stream, const char *at)
{
    const char *word = skip_blanks(at + 1), *end;
    type_name type;
    if (!read_type(word, &type) || type.count == 1 || *(end = skip_blanks(word + type.length)) != ')' ||
        *(end = skip_blanks(end + 1)) != '(') {
        return NULL;
    }
    fprintf(stream, "ipt__cl_vector(ipt__native_%s, %zu, ", type.number, type.count);
    return end + 1;
}

/* The components that a member names, xyzw or s and digits. Returns their number; 0: another member. */
static size_t read_components(const char *member, size_t length, int indices[16])
{
    static const char names[] = "xyzw", digits[] = "0123456789abcdef0123456789ABCDEF";
    const bool numbered = length > 1 && (member[0] == 's' || member[0] == 'S');
    const size_t count = length - (numbered ? 1 : 0);
    if (count == 0 || !(count == 1 || (count <= 16 && (count & (count - 1)) == 0))) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        const char *found = numbered ? strchr(digits, member[1 + i]) : strchr(names, member[i]);
        if (found == NULL) {
            return 0;
        }
        indices[i] = (int)(numbered ? (found - digits) % 16 : found - names);
    }
    return count;
}

/* Writes a member of which at is the point: a component by its index. Returns its end. */
static const char *write_member(FILE *stream, const char *at)
{
    const char *word = skip_blanks(at + 1);
    const size_t length = strspn(word, WORD_CHARACTERS);
    int indices[16];
    if (read_components(word, length, indices) == 1) {
        fprintf(stream, "[%d]", indices[0]);
    } else {
        fprintf(stream, ".%.*s", (int)length, word);
    }
    return word + length;
}

/* Writes several components of x or a, x.wzyx, as a vector. Returns their end; NULL: not such a word. */
static const char *write_components(FILE *stream, const char *word, const char *type_of_it)
{
    const char *member = skip_blanks(word + 1);
    type_name type;
    int indices[16];
    if (*member != '.' || type_of_it == NULL || !read_type(type_of_it, &type)) {
        return NULL;
    }
    member = skip_blanks(member + 1);
    const size_t length = strspn(member, WORD_CHARACTERS), count = read_components(member, length, indices);
    if (count < 2) {
        return NULL;
    }
    fprintf(stream, "ipt__cl_vector(ipt__native_%s, %zu", type.number, count);
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, ", ipt__cl_%c[%d]", *word, indices[i]);
    }
    fputc(')', stream);
    return member + length;
}

/* Writes a word. Returns its end. */
static const char *write_word(FILE *stream, const char *word, const arguments *given)
{
    const size_t length = strspn(word, WORD_CHARACTERS);
    const char *const next = skip_blanks(word + length);
    for (size_t i = 0; i < TRANSLATIONS; i++) {
        if (strlen(translations[i].word) == length && strncmp(translations[i].word, word, length) == 0 &&
            (!translations[i].calls || *next == '(')) {
            fputs(translations[i].text, stream);
            return translations[i].calls ? next + 1 : word + length;
        }
    }
    const char *end = length != 1    ? write_conversion(stream, word)
                      : *word == 'x' ? write_components(stream, word, given->expression_type)
                      : *word == 'a' ? write_components(stream, word, given->argument_type)
                                     : NULL;
    if (end == NULL) {
        end = write_reinterpretation(stream, word);
    }
    if (end == NULL) {
        fprintf(stream, "ipt__cl_%.*s", (int)length, word);
        end = word + length;
    }
    return end;
}

/* The end of a number in C. */
static const char *skip_number(const char *at)
{
    while (strchr(WORD_CHARACTERS ".", *at) != NULL || (strchr("+-", *at) != NULL && strchr("eEpP", at[-1]) != NULL)) {
        if (*at++ == '\0') {
            return at - 1;
        }
    }
    return at;
}

/* The end of a comment or of a literal. NULL: the text ends first. */
static const char *skip_quoted(const char *at)
{
    const char quote = *at;
    if (quote == '/') {
        at = strstr(at + 2, "*/");
        return at == NULL ? NULL : at + 2;
    }
    for (at++; *at != '\0' && *at != quote; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
        }
    }
    return *at == '\0' ? NULL : at + 1;
}

/* Writes the expression as C. It has been checked. */
static void write_tokens(FILE *stream, const arguments *given)
{
    const char *at = given->expression;
    while (*at != '\0') {
        const char *end = *at == '(' ? write_vector(stream, at) : NULL;
        if (end != NULL) {
            at = end;
        } else if (strchr(DIGITS, *at) != NULL || (*at == '.' && strchr(DIGITS, at[1]) != NULL && at[1] != '\0')) {
            end = skip_number(at + 1);
            fprintf(stream, "%.*s", (int)(end - at), at);
            at = end;
        } else if (strchr(WORD_CHARACTERS, *at) != NULL) {
            at = write_word(stream, at, given);
        } else if (*at == '.') {
            at = write_member(stream, at);
        } else if (*at == '\'' || *at == '"' || (*at == '/' && at[1] == '*')) {
            end = skip_quoted(at);
            fprintf(stream, "%.*s", *at == '/' ? 1 : (int)(end - at), *at == '/' ? " " : at);
            at = end;
        } else {
            fputc(*at++, stream);
        }
    }
}

/* What would make an expression more than that in the file; NULL: nothing. */
static const char *find_fault(const char *at)
{
    int depth = 0;
    for (const char *next; *at != '\0'; at = next) {
        const bool quoted = *at == '\'' || *at == '"' || (*at == '/' && at[1] == '*');
        next = quoted ? skip_quoted(at) : at + 1;
        if (next == NULL || (unsigned char)*at < ' ' || strchr("#\\;{}", *at) != NULL || (*at == '/' && at[1] == '/')) {
            return next == NULL ? "a comment or a literal without its end"
                                : "'//', ';', '#', a brace, a backslash outside a literal or a control character";
        }
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (depth < 0) {
            return "')' before its '('";
        }
    }
    return depth > 0 ? "'(' without its ')'" : NULL;
}

/* Refuses a type that the native driver lacks. Returns 0 or the exit code. */
static int check_type(const char *option, const char *name)
{
    type_name type;
    return name == NULL || (read_type(name, &type) && name[type.length] == '\0')
               ? 0
               : message_usage_error("--native: %s '%s' is no number of C and no vector of 2, 4, 8 or 16 numbers",
                                     option, name);
}

int native_expression_check(const arguments *given)
{
    const char *const name = text_file_name(given->native);
    if (*name == '\0' || strcmp(name, "ipt.h") == 0 || strcmp(name, "ipt_kernels.h") == 0) {
        return message_usage_error("--native takes the name of a new header, not '%s'", given->native);
    }
    if (given->expression == NULL) {
        return message_usage_error("--native needs --expression");
    }
    const char *const fault = find_fault(given->expression);
    if (fault != NULL || *given->expression == '\0') {
        return message_usage_error("--expression '%s' has %s", given->expression, fault != NULL ? fault : "no text");
    }
    const int code = check_type("--type", given->expression_type);
    return code != 0 ? code : check_type("--argument-type", given->argument_type);
}

/* Writes a string literal. */
static void write_literal(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        fprintf(stream, strchr("\"\\?", *text) != NULL ? "\\%c" : "%c", *text);
    }
    fputc('"', stream);
}

/* FNV-1a of 64 bits. */
static unsigned long long add_hash(unsigned long long hash, const char *text)
{
    do {
        hash = (hash ^ (unsigned char)*text) * 1099511628211ull;
    } while (*text++ != '\0');
    return hash;
}

int native_expression_write(const arguments *given)
{
    const char *const type = given->expression_type != NULL ? given->expression_type : "float";
    const char *const argument = given->argument_type != NULL ? given->argument_type : "none";
    const unsigned long long hash =
        add_hash(add_hash(add_hash(14695981039346656037ull, type), argument), given->expression);
    draft header = DRAFT_NONE;
    int code = draft_begin(given->native, -1, &header);
    if (code == 0) {
        FILE *const stream = draft_stream(&header);
        bool good = stream != NULL;
        if (good) {
            fputs("/* Written by ", stream);
            show_version(stream);
            fputs(" precompile --native, for programs that define IPT_NATIVE_EXPRESSIONS as the name of this file, or "
                  "of one\n * that includes several. */\n",
                  stream);
            fprintf(stream, "IPT_NATIVE_EXPRESSION(_%016llx, %s, ", hash, type);
            write_literal(stream, given->expression);
            fprintf(stream, ", %s,\n    ", argument);
            write_tokens(stream, given);
            fputs(")\n", stream);
            good = !ferror(stream);
            good = fclose(stream) == 0 && good;
        }
        code = good ? 0 : message_fail("%s: %s", given->native, strerror(errno));
    }
    return draft_end(&header, code == 0, code);
}
