#define _POSIX_C_SOURCE 200809L /* strdup */

#include "batch_spec.h"

#include "gen/tool/base/numbers.h"
#include "gen/tool/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX_TEXT ((size_t)1 << 20) /* limit of a file in bytes */
#define BATCH_BLANKS " \t"

static bool batch_fail(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, BATCH_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Names and numbers */
/* ------------------------------------------------------------------------------------------------------------------ */

#define COMPARE_NAME(enumerator, name)                                                                                 \
    if (strcmp(text, name) == 0) {                                                                                     \
        *found = enumerator;                                                                                           \
        return true;                                                                                                   \
    }
#define COMPARE_ACTION(enumerator, name, operands) COMPARE_NAME(enumerator, name)

static bool batch_read_action(const char *text, ipt_action *found)
{
    if (strcmp(text, ipt_action_string(IPT_ACTION_NONE)) == 0) {
        return false;
    }
    IPT_ACTION_LIST(COMPARE_ACTION)
    return false;
}

static bool batch_read_model(const char *text, ipt_model *found)
{
    IPT_MODEL_LIST(COMPARE_NAME)
    return false;
}

static bool batch_read_method(const char *text, ipt_method *found)
{
    COMPARE_NAME(IPT_METHOD_UUSCI_2013, "uusci-2013")
    return false;
}

static bool batch_read_access(const char *text, ipt_access *found)
{
    COMPARE_NAME(IPT_READ, "read")
    COMPARE_NAME(IPT_WRITE, "write")
    COMPARE_NAME(IPT_READ_WRITE, "read-write")
    return false;
}

/* Reads elements, planes or blocks/WIDTH. */
static bool batch_read_layout(const char *text, ipt_batch_operand *operand)
{
    static const char blocks[] = "blocks/";
    if (strncmp(text, blocks, sizeof blocks - 1) == 0) {
        text += sizeof blocks - 1;
        operand->layout = IPT_LAYOUT_BLOCKS;
        return number_read(&text, "", &operand->width) && operand->width > 0;
    }
    operand->width = 0;
    operand->layout = strcmp(text, "planes") == 0 ? IPT_LAYOUT_PLANES : IPT_LAYOUT_ELEMENTS;
    return strcmp(text, ipt_layout_string(operand->layout)) == 0;
}

/* Adds an option of ready-made actions. */
static bool batch_read_option(const char *text, unsigned *options)
{
    static const struct {
        const char *name;
        unsigned option;
    } names[] = {{"transpose-a", IPT_TRANSPOSE_A},
                 {"transpose-b", IPT_TRANSPOSE_B},
                 {"conjugate-a", IPT_CONJUGATE_A},
                 {"conjugate-b", IPT_CONJUGATE_B},
                 {"upper", IPT_UPPER},
                 {"unit", IPT_UNIT}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i].name, text) == 0) {
            *options |= names[i].option;
            return true;
        }
    }
    return false;
}

/* Reads a whole text as a number of at least 1. */
static bool batch_read_number(const char *text, size_t *number)
{
    return number_read(&text, "", number) && *number > 0;
}

/* Sets a number that may be set only once. */
static bool batch_set_number(const char *name, const char *text, size_t *number, char *message)
{
    if (*number != 0) {
        return batch_fail(message, "%s is given twice", name);
    }
    return batch_read_number(text, number) || batch_fail(message, "%s is a number from 1 up, not '%.60s'", name, text);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Words */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The operands of a ready action, in the notation of IPT_ACTION_LIST. */
static const char *batch_notation(ipt_action action)
{
#define ACTION_OPERANDS(enumerator, name, operands) operands,
    static const char *const all[] = {IPT_ACTION_LIST(ACTION_OPERANDS)};
#undef ACTION_OPERANDS
    return all[action];
}

void batch_spec_letters(ipt_action action, char letters[BATCH_LETTERS])
{
    size_t count = 0;
    for (const char *at = batch_notation(action); (at = strchr(at, ':')) != NULL; at++) {
        for (size_t i = 1; i <= 2; i++) {
            if (at[i] != '1' && memchr(letters, at[i], count) == NULL) {
                letters[count++] = at[i];
            }
        }
    }
    letters[count] = '\0';
}

/* Cuts the next piece, up to a colon or the end, off *rest. NULL: nothing is left. */
static char *batch_next_piece(char **rest)
{
    char *piece = *rest, *colon = piece == NULL ? NULL : strchr(piece, ':');
    *rest = NULL;
    if (colon != NULL) {
        *colon = '\0';
        *rest = colon + 1;
    }
    return piece;
}

/* Reads the sizes of a ready action. */
static bool batch_read_sizes(const char *text, ipt_action action, size_t sizes[BATCH_LETTERS], char *message)
{
    char letters[BATCH_LETTERS], names[2 * BATCH_LETTERS] = "", example[2 * BATCH_LETTERS] = "";
    bool good = text != NULL;
    batch_spec_letters(action, letters);
    for (size_t i = 0; letters[i] != '\0'; i++) {
        const bool last = letters[i + 1] == '\0';
        good = good && number_read(&text, last ? "" : "x", &sizes[i]) && sizes[i] > 0;
        snprintf(names + 2 * i, 3, "%c%s", letters[i], last ? "" : "x");
        snprintf(example + 2 * i, 3, "%zu%s", 6 - i, last ? "" : "x");
    }
    return good || batch_fail(message, "%s takes the sizes %s, such as %s:double:%s", ipt_action_string(action), names,
                              ipt_action_string(action), example);
}

/* Fills the operands of a ready action of this type. */
static void batch_make_operands(batch_spec *spec, const char *type, const size_t sizes[BATCH_LETTERS])
{
    static const char *const names[] = {"A", "B", "C", "x", "y", "r", "pivots", "info"};
    char letters[BATCH_LETTERS];
    batch_spec_letters(spec->desc.ready, letters);
    for (const char *at = batch_notation(spec->desc.ready); *at != '\0'; at += strspn(at, " ")) {
        ipt_batch_operand *const operand = &spec->operands[spec->desc.operand_count++];
        const size_t length = strcspn(at, ":");
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (strlen(names[i]) == length && strncmp(names[i], at, length) == 0) {
                operand->name = names[i];
            }
        }
        at += length + 1;
        operand->type = length > 1 ? "int" : type; /* pivots, info */
        operand->rows = at[0] == '1' ? 1 : sizes[strchr(letters, at[0]) - letters];
        operand->cols = at[1] == '1' ? 1 : sizes[strchr(letters, at[1]) - letters];
        operand->access = at[2] == 'r' ? IPT_READ : at[2] == 'w' ? IPT_WRITE : IPT_READ_WRITE;
        at += 3;
    }
}

/* Sets the layout of the operand of this name, or of all. */
static bool batch_set_layout(batch_spec *spec, const char *name, size_t length, const char *layout)
{
    size_t found = 0;
    for (size_t i = 0; i < spec->desc.operand_count; i++) {
        ipt_batch_operand *const operand = &spec->operands[i];
        if (name == NULL || (strlen(operand->name) == length && strncmp(operand->name, name, length) == 0)) {
            found += batch_read_layout(layout, operand);
        }
    }
    return found > 0;
}

/* `scaled`: the argument is a vector of alpha and beta; beta scales the old content of the result. */
static void batch_make_scaled(batch_spec *spec)
{
    const char *const type = spec->operands[0].type;
    const size_t length = strcspn(type, "2");
    snprintf(spec->argument_type, sizeof spec->argument_type, "%.*s%s", (int)length, type,
             type[length] == '2' ? "4" : "2");
    spec->desc.argument_type = spec->argument_type;
    for (size_t i = 0; i < spec->desc.operand_count; i++) {
        spec->operands[i].access = spec->operands[i].access == IPT_WRITE ? IPT_READ_WRITE : spec->operands[i].access;
    }
}

/* Reads one of the words after the sizes. */
static bool batch_read_piece(batch_spec *spec, const char *piece, char *message)
{
    const char *const equals = strchr(piece, '=');
    ipt_model model;
    if (piece[0] >= '0' && piece[0] <= '9') {
        return batch_set_number("the number of elements", piece, &spec->desc.count, message);
    }
    if (strncmp(piece, "lanes=", 6) == 0) {
        return batch_set_number("lanes", piece + 6, &spec->desc.lanes, message);
    }
    if (strncmp(piece, "group=", 6) == 0) {
        return batch_set_number("group", piece + 6, &spec->desc.group_size, message);
    }
    if (strcmp(piece, "scaled") == 0) {
        batch_make_scaled(spec);
        return true;
    }
    if (batch_read_method(piece, &spec->desc.method)) {
        return true;
    }
    if (batch_read_model(piece, &model)) {
        const bool first = spec->desc.model == IPT_MODEL_AUTO;
        spec->desc.model = model;
        return first || batch_fail(message, "two models are given");
    }
    return batch_read_option(piece, &spec->desc.options) ||
           batch_set_layout(spec, equals == NULL ? NULL : piece, equals == NULL ? 0 : (size_t)(equals - piece),
                            equals == NULL ? piece : equals + 1) ||
           batch_fail(message, "'%.60s' is no number of elements, model, option or layout: 'ipt help plan' lists them",
                      piece);
}

/* Exchanges the sides of transposed operands: the desc has their shape in memory. */
static void batch_turn_operands(batch_spec *spec)
{
    for (size_t i = 0; i < spec->desc.operand_count; i++) {
        ipt_batch_operand *const operand = &spec->operands[i];
        const unsigned turns = operand->name[0] == 'A'   ? IPT_TRANSPOSE_A
                               : operand->name[0] == 'B' ? IPT_TRANSPOSE_B
                                                         : 0;
        const size_t rows = operand->rows;
        if ((spec->desc.options & turns) != 0) {
            operand->rows = operand->cols;
            operand->cols = rows;
        }
    }
}

static bool batch_read_word(batch_spec *spec, char *message)
{
    char *rest = spec->text, *piece = batch_next_piece(&rest), *type = batch_next_piece(&rest);
    size_t sizes[BATCH_LETTERS];
    if (!batch_read_action(piece, &spec->desc.ready)) {
        return batch_fail(message, "unknown action '%.60s': 'ipt help plan' lists them", piece);
    }
    if (!batch_read_sizes(batch_next_piece(&rest), spec->desc.ready, sizes, message)) {
        return false;
    }
    batch_make_operands(spec, type, sizes);
    while ((piece = batch_next_piece(&rest)) != NULL) {
        if (!batch_read_piece(spec, piece, message)) {
            return false;
        }
    }
    batch_turn_operands(spec);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Files */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Cuts the next word off *rest. NULL: only blanks are left. */
static char *batch_next_word(char **rest)
{
    char *word = *rest + strspn(*rest, BATCH_BLANKS);
    *rest = word + strcspn(word, BATCH_BLANKS);
    if (**rest != '\0') {
        *(*rest)++ = '\0';
    }
    return *word == '\0' ? NULL : word;
}

/* Reads an operand's ROWSxCOLS. */
static bool batch_read_shape(const char *text, ipt_batch_operand *operand)
{
    return number_read(&text, "x", &operand->rows) && number_read(&text, "", &operand->cols) && operand->rows > 0 &&
           operand->cols > 0;
}

/* Reads the words after `operand`. */
static bool batch_read_operand(char *rest, batch_spec *spec, char *message)
{
    if (spec->desc.operand_count == IPT_MAX_OPERANDS) {
        return batch_fail(message, "more than %d operands", IPT_MAX_OPERANDS);
    }
    ipt_batch_operand *const operand = &spec->operands[spec->desc.operand_count++];
    const char *name = batch_next_word(&rest), *type = batch_next_word(&rest), *shape = batch_next_word(&rest);
    const char *access = batch_next_word(&rest), *word = batch_next_word(&rest);
    if (access == NULL) {
        return batch_fail(message, "operand takes NAME TYPE ROWSxCOLS ACCESS, such as 'operand A double 3x3 read'");
    }
    operand->name = name;
    operand->type = type;
    if (!batch_read_shape(shape, operand)) {
        return batch_fail(message, "operand %.60s has ROWSxCOLS components, such as 3x3, not '%.60s'", name, shape);
    }
    if (!batch_read_access(access, &operand->access)) {
        return batch_fail(message, "the access of operand %.60s is read, write or read-write, not '%.60s'", name,
                          access);
    }
    if (word != NULL && strncmp(word, "stride=", 7) != 0) {
        if (!batch_read_layout(word, operand)) {
            return batch_fail(message, "the layout of operand %.60s is elements, planes or blocks/WIDTH, not '%.60s'",
                              name, word);
        }
        word = batch_next_word(&rest);
    }
    if (word != NULL && strncmp(word, "stride=", 7) == 0) {
        if (!batch_set_number("stride", word + 7, &operand->stride, message)) {
            return false;
        }
        word = batch_next_word(&rest);
    }
    return word == NULL || batch_fail(message, "'%.60s' is one word too many for operand %.60s", word, name);
}

/* Reads a line that begins with a keyword and has one value. */
static bool batch_read_value(const char *keyword, const char *value, batch_spec *spec, char *message)
{
    ipt_batch_desc *const desc = &spec->desc;
    if (strcmp(keyword, "count") == 0) {
        return batch_set_number("count", value, &desc->count, message);
    }
    if (strcmp(keyword, "lanes") == 0) {
        return batch_set_number("lanes", value, &desc->lanes, message);
    }
    if (strcmp(keyword, "group") == 0) {
        return batch_set_number("group", value, &desc->group_size, message);
    }
    if (strcmp(keyword, "model") == 0) {
        return batch_read_model(value, &desc->model) ||
               batch_fail(message, "unknown model '%.60s': 'ipt help plan' lists them", value);
    }
    if (strcmp(keyword, "method") == 0) {
        return batch_read_method(value, &desc->method) ||
               batch_fail(message, "unknown method '%.60s': batches have uusci-2013", value);
    }
    if (strcmp(keyword, "ready") == 0) {
        return batch_read_action(value, &desc->ready) ||
               batch_fail(message, "unknown action '%.60s': 'ipt help plan' lists them", value);
    }
    desc->argument_type = value;
    return true;
}

/* Reads the words after `options`. */
static bool batch_read_options(char *rest, batch_spec *spec, char *message)
{
    for (const char *word; (word = batch_next_word(&rest)) != NULL;) {
        if (!batch_read_option(word, &spec->desc.options)) {
            return batch_fail(message, "unknown option '%.60s': 'ipt help plan' lists them", word);
        }
    }
    return true;
}

/* Reads a line before the texts. */
static bool batch_read_line(char *line, batch_spec *spec, char *message)
{
    static const char *const keywords[] = {"count", "model", "method", "lanes", "group", "argument", "ready"};
    char *rest = line;
    const char *const keyword = batch_next_word(&rest);
    if (keyword == NULL || keyword[0] == '#') {
        return true;
    }
    if (strcmp(keyword, "operand") == 0) {
        return batch_read_operand(rest, spec, message);
    }
    if (strcmp(keyword, "options") == 0) {
        return batch_read_options(rest, spec, message);
    }
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (strcmp(keywords[i], keyword) == 0) {
            const char *const value = batch_next_word(&rest);
            const bool first = (spec->keywords & 1u << i) == 0;
            spec->keywords |= 1u << i;
            return !first ? batch_fail(message, "a second line has %s", keyword)
                   : value == NULL || batch_next_word(&rest) != NULL ? batch_fail(message, "%s takes one word", keyword)
                                                                     : batch_read_value(keyword, value, spec, message);
        }
    }
    return batch_fail(message,
                      "unknown word '%.60s': operand, count, model, lanes, group, argument, ready, options, functions "
                      "or action is needed",
                      keyword);
}

/* Takes the texts after a line `functions` or `action`, which is line *number. The last text ends with a newline only
 * if the file does.
 */
static bool batch_take_texts(bool functions, char *at, batch_spec *spec, size_t *number, char *message)
{
    static const char action[] = "\naction\n";
    if (functions) {
        char *const end = strstr(at, action);
        if (end == NULL) {
            return batch_fail(message, "functions has no text, or no line 'action' after it");
        }
        spec->desc.functions = at;
        spec->functions_line = *number + 1;
        for (; at <= end; at++) {
            *number += *at == '\n';
        }
        ++*number; /* the line `action` */
        *at = '\0';
        at += sizeof action - 2;
    }
    spec->desc.action = at;
    spec->action_line = *number + 1;
    return at[strspn(at, BATCH_BLANKS "\n")] != '\0' || batch_fail(message, "no text follows the line 'action'");
}

/* Reads the lines of a file. *number: the line of an error. */
static bool batch_read_lines(batch_spec *spec, size_t *number, char *message)
{
    char *at = spec->text;
    for (*number = 1; *at != '\0'; ++*number) {
        char *const line = at;
        at += strcspn(at, "\n");
        if (*at != '\0') {
            *at++ = '\0';
        }
        const bool functions = strcmp(line, "functions") == 0;
        if (functions || strcmp(line, "action") == 0) {
            return batch_take_texts(functions, at, spec, number, message);
        }
        if (!batch_read_line(line, spec, message)) {
            return false;
        }
    }
    return spec->desc.ready != IPT_ACTION_NONE ||
           batch_fail(message, "the file has no line 'action' with a text after it, and no line 'ready ACTION'");
}

static bool batch_read_file(batch_spec *spec, char *message)
{
    char reason[TEXT_REASON_SIZE], fault[BATCH_MESSAGE_SIZE / 2];
    size_t length, number = 1;
    text_name shortened;
    const char *const name = text_shorten(spec->word, &shortened);
    if (!text_read(spec->word, BATCH_MAX_TEXT, "an action's file", &spec->text, &length, reason)) {
        return batch_fail(message, "%s: %s", name, reason);
    }
    const char *const carriage = strchr(spec->text, '\r');
    for (const char *at = spec->text; carriage != NULL && at < carriage; at++) {
        number += *at == '\n';
    }
    if (strlen(spec->text) != length) {
        return batch_fail(message, "%s: not a text file: it contains a zero byte", name);
    }
    if (carriage != NULL) {
        return batch_fail(message, "%s:%zu: a carriage return: lines end in a newline alone", name, number);
    }
    return batch_read_lines(spec, &number, fault) || batch_fail(message, "%s:%zu: %s", name, number, fault);
}

/* Whether a word stands for a ready-made action, perhaps misspelt, and not for a file: it is a known action, or begins
 * with at least two lowercase letters and a colon. */
static bool batch_is_action(const char *word)
{
    const size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyz");
    ipt_action action;
    return batch_read_action(word, &action) || (letters > 1 && word[letters] == ':');
}

bool batch_spec_read(const char *word, batch_spec *spec, char *message)
{
    char fault[BATCH_MESSAGE_SIZE / 2];
    text_name shortened;
    bool good;
    memset(spec, 0, sizeof *spec);
    spec->word = word;
    spec->is_file = !batch_is_action(word);
    spec->desc.operands = spec->operands;
    if (spec->is_file) {
        good = batch_read_file(spec, message);
    } else {
        spec->text = strdup(word);
        good = spec->text != NULL ? batch_read_word(spec, fault) : batch_fail(fault, "out of memory");
        if (!good) {
            batch_fail(message, "%s: %s", text_shorten(word, &shortened), fault);
        }
    }
    spec->desc.count += spec->desc.count == 0;
    return good;
}

void batch_spec_free(batch_spec *spec)
{
    free(spec->text);
    spec->text = NULL;
}
