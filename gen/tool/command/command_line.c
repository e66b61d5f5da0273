#include "command_line.h"

#include "gen/tool/base/messages.h"
#include "gen/tool/base/numbers.h"
#include "options.h"
#include "same_files.h"

#include <stdint.h>
#include <string.h>

const char *const operand_names[] = {"", "FILE", "ROWSxCOLS:BYTES", "[ROWSxCOLS:BYTES]", "[SHAPE ...]"};

static int too_large(const matrix_shape *shape, size_t count)
{
    return message_usage_error("%zu x (%zux%zu elements of %zu bytes) is too large: at most %zu bytes", count,
                               shape->rows, shape->cols, shape->elem_size, SIZE_MAX);
}

/* Reads A..B with least <= A <= B, up to stop, as number_read does. */
static bool read_range(const char *text, const char **rest, const char *stop, size_t least, bench_range *range)
{
    *rest = text;
    return number_read(rest, "..", &range->low) && number_read(rest, stop, &range->high) && range->low >= least &&
           range->low <= range->high;
}

#define COMPARE_NAME(enumerator, name)                                                                                 \
    if (strcmp(text, name) == 0) {                                                                                     \
        *found = enumerator;                                                                                           \
        return true;                                                                                                   \
    }

static bool read_sequence(const char *text, ipt_sequence *found)
{
    IPT_SEQUENCE_LIST(COMPARE_NAME)
    return false;
}

static bool read_heuristic(const char *text, ipt_heuristic *found)
{
    IPT_HEURISTIC_LIST(COMPARE_NAME)
    return false;
}

static bool read_method(const char *text, ipt_method *found)
{
    IPT_METHOD_LIST(COMPARE_NAME)
    return false;
}

static bool read_variant(const char *text, ipt_variant *found)
{
#define COMPARE_VARIANT(enumerator, name, family, lanes, padding, registers, layout, interleaved)                      \
    COMPARE_NAME(enumerator, name)
    IPT_VARIANT_LIST(COMPARE_VARIANT)
#undef COMPARE_VARIANT
    return false;
}

static bool read_format(const char *text, ipt_format *found)
{
#define COMPARE_FORMAT(enumerator, name, factors) COMPARE_NAME(enumerator, name)
    IPT_FORMAT_LIST(COMPARE_FORMAT)
#undef COMPARE_FORMAT
    return false;
}

static bool read_move(const char *text, ipt_move *found)
{
#define COMPARE_MOVE(enumerator, name, transposed, rows, cols) COMPARE_NAME(enumerator, name)
    IPT_MOVE_LIST(COMPARE_MOVE)
#undef COMPARE_MOVE
    return false;
}

/* Stores a number of bytes with an optional unit. Returns 0 or the exit code. */
static int read_bytes(const option *chosen, const char *text, size_t *bytes)
{
    static const char units[] = "KMG";
    char digits[32] = "";
    const char *rest = digits, *unit = strpbrk(text, units);
    size_t number = 0, length = unit == NULL ? strlen(text) : (size_t)(unit - text);
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(strchr(units, *unit) - units + 1);
    if (length < sizeof digits) {
        memcpy(digits, text, length);
    }
    if ((unit != NULL && unit[1] != '\0') || !number_read(&rest, "", &number) || number < chosen->least ||
        number > chosen->most >> shift) {
        return chosen->most == SIZE_MAX
                   ? message_usage_error("%s takes a number of bytes, such as 256M, not '%s'", chosen->name, text)
                   : message_usage_error("%s takes a number of bytes up to %zu, not '%s'", chosen->name, chosen->most,
                                         text);
    }
    *bytes = number << shift;
    return 0;
}

/* Stores an option's value. Returns 0 or the exit code. */
static int read_option(const option *chosen, const char *text, arguments *given)
{
    void *field = (char *)given + chosen->offset;
    switch (chosen->kind) {
    case OPTION_TEXT:
        *(const char **)field = text;
        return 0;
    case OPTION_NUMBER: {
        const char *rest = text;
        size_t number;
        if (!number_read(&rest, "", &number) || number < chosen->least || number > chosen->most) {
            return chosen->most == SIZE_MAX ? message_usage_error("%s takes a number from %zu up, not '%s'",
                                                                  chosen->name, chosen->least, text)
                                            : message_usage_error("%s takes a number from %zu to %zu, not '%s'",
                                                                  chosen->name, chosen->least, chosen->most, text);
        }
        *(size_t *)field = number;
        return 0;
    }
    case OPTION_BYTES:
        return read_bytes(chosen, text, field);
    case OPTION_SEQUENCE:
        return read_sequence(text, field)
                   ? 0
                   : message_usage_error("%s: unknown sequence '%s': 'ipt help plan' lists them", chosen->name, text);
    case OPTION_HEURISTIC:
        return read_heuristic(text, field)
                   ? 0
                   : message_usage_error("%s: unknown heuristic '%s': 'ipt help plan' lists them", chosen->name, text);
    case OPTION_METHOD:
        return read_method(text, field)
                   ? 0
                   : message_usage_error("%s: unknown method '%s': 'ipt help plan' lists them", chosen->name, text);
    case OPTION_VARIANT:
        return read_variant(text, field)
                   ? 0
                   : message_usage_error("%s: unknown kernel '%s': 'ipt help plan' lists them", chosen->name, text);
    case OPTION_FORMAT:
        return read_format(text, field)
                   ? 0
                   : message_usage_error("%s: unknown format '%s': 'ipt help plan' lists them", chosen->name, text);
    case OPTION_MOVE:
        return read_move(text, field)
                   ? 0
                   : message_usage_error("%s: unknown move '%s': 'ipt help plan' lists them", chosen->name, text);
    case OPTION_AXES:
        return axes_read(text, field)
                   ? 0
                   : message_usage_error("--axes takes the array's axes in their new sequence, such as 2,0,1, not '%s'",
                                         text);
    case OPTION_ORDER:
        *(char *)field = text[0];
        return (text[0] == 'C' || text[0] == 'F') && text[1] == '\0'
                   ? 0
                   : message_usage_error("--order takes C (the last axis is contiguous) or F (the first), not '%s'",
                                         text);
    case OPTION_RANGE:
    case OPTION_RANGES: {
        const char *rest;
        bench_range *ranges = field;
        bool good = read_range(text, &rest, "", chosen->least, ranges);
        if (chosen->kind == OPTION_RANGES) {
            if (good) {
                ranges[1] = ranges[0];
            } else {
                good = read_range(text, &rest, ",", chosen->least, ranges) &&
                       read_range(rest, &rest, "", chosen->least, ranges + 1);
            }
        }
        return good ? 0
                    : message_usage_error("%s takes %s with A from %zu up and A <= B, such as 1000..20000, not '%s'",
                                          chosen->name, chosen->value, chosen->least, text);
    }
    case OPTION_ACTION:
        if (given->action_count == MAX_ACTIONS) {
            return message_usage_error("more than %d times --action", MAX_ACTIONS);
        }
        given->actions[given->action_count++] = text;
        return 0;
    case OPTION_RAW:
        given->raw = true;
        return shape_read_array(text, &given->shape)
                   ? 0
                   : message_usage_error("--raw takes ROWSxCOLS:BYTES or a type, such as 1000x777:4, 1000x777:float32 "
                                         "or 9x8x7:4, not '%s'",
                                         text);
    case OPTION_SWITCH:
        *(bool *)field = true;
        return 0;
    }
    return message_usage_error("%s is unknown", chosen->name);
}

/* Checks the operands. Returns 0 or the exit code. */
static int read_operands(const command *chosen, arguments *given)
{
    bool optional = chosen->operand == OPERAND_OPTIONAL_SHAPE || chosen->operand == OPERAND_SHAPES;
    bool has_shape = chosen->operand == OPERAND_SHAPE || optional;
    size_t bytes;
    if (chosen->operand == OPERAND_NONE) {
        return 0;
    }
    if (given->operand == NULL && !optional && given->action_count == 0) {
        return message_usage_error("'%s' needs %s%s", chosen->name, operand_names[chosen->operand],
                                   (chosen->options & FOR_SOURCES) != 0 ? " or --action" : "");
    }
    if (chosen->operand == OPERAND_SHAPE && given->operand_count + given->action_count > 1) {
        return message_usage_error("'%s' takes one shape or one --action", chosen->name);
    }
    for (size_t i = given->operand_count; has_shape && i-- > 0;) { /* backwards: given->shape becomes the first shape */
        char message[AXES_MESSAGE_SIZE];
        const bool permutes = given->axes.count > 0;
        if (permutes ? !shape_read_array(given->operands[i], &given->shape)
                     : !shape_read(given->operands[i], &given->shape)) {
            return message_usage_error("'%s' takes ROWSxCOLS:BYTES, such as 1000x777:4%s, not '%s'", chosen->name,
                                       permutes                               ? ", or up to 16 lengths"
                                       : (chosen->options & FOR_FORMATS) != 0 ? ", or up to 16 lengths with --axes"
                                                                              : "",
                                       given->operands[i]);
        }
        if (permutes && !shape_permute(&given->shape, &given->axes, message)) {
            return message_usage_error("%s: %s", given->operands[i], message);
        }
        if (!shape_bytes(&given->shape, given->batch, &bytes)) {
            return too_large(&given->shape, given->batch);
        }
    }
    if (given->raw && !shape_bytes(&given->shape, given->batch, &bytes)) {
        return too_large(&given->shape, given->batch);
    }
    return 0;
}

/* Refuses options that need a device if a profile replaces it. Returns 0 or the exit code. */
static int check_profile(const arguments *given)
{
    const char *senseless = given->measure          ? "--measure"
                            : given->device != NULL ? "--device"
                            : given->cache != NULL  ? "--cache"
                                                    : NULL;
    if (given->profile != NULL && senseless != NULL) {
        return message_usage_error(
            "%s does not go with --profile: it needs a device, and the profile replaces the device", senseless);
    }
    return 0;
}

/* Refuses options for matrices if there are only batches. Returns 0 or the exit code. */
static int check_actions(const arguments *given)
{
    for (size_t i = 0; i < option_count && given->action_count > 0; i++) {
        const bool of_matrices = (option_list[i].commands & (FOR_PLANS | FOR_FORMATS | FOR_MOVES)) != 0 ||
                                 option_list[i].offset == offsetof(arguments, out_of_place);
        if (given->seen[i] && of_matrices && given->operand == NULL && given->shapes == NULL) {
            return message_usage_error("%s is for matrices: --action has none", option_list[i].name);
        }
    }
    return 0;
}

/* Returns 0 or the exit code. */
static int check_expression(arguments *given)
{
    if (given->expression_type != NULL && given->expression == NULL) {
        return message_usage_error("--type needs --expression, whose x it describes");
    }
    if (given->argument_type != NULL && given->expression == NULL) {
        return message_usage_error("--argument-type needs --expression, whose a it describes");
    }
    bool sized = given->raw || given->operand_count > 0;
    if (given->expression != NULL && given->expression_type == NULL) {
        given->expression_type = given->shape.opencl_type; /* NULL unless the shape names a type */
    }
    if (given->expression == NULL || given->expression_type != NULL || !sized || given->shape.elem_size == 0) {
        return 0;
    }
    return given->shape.elem_size == sizeof(float)
               ? 0
               : message_usage_error(
                     "--expression needs --type: elements have %zu bytes, and the default is float with 4",
                     given->shape.elem_size);
}

int command_line_read(const command *chosen, char **words, arguments *given)
{
    bool options_ended = false;
    size_t most = chosen->operand == OPERAND_NONE ? 0 : chosen->operand == OPERAND_SHAPES ? SIZE_MAX : 1;
    char **operands = words;
    given->operands = operands;
    for (; *words != NULL; words++) {
        char *word = *words;
        if (options_ended || word[0] != '-' || word[1] == '\0') {
            if (given->operand_count == most) {
                return message_usage_error("'%s' is one word too many for '%s'", word, chosen->name);
            }
            operands[given->operand_count++] = word;
            given->operand = operands[0];
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options_ended = true;
            continue;
        }
        size_t length = strcspn(word, "=");
        const option *found = NULL;
        for (size_t i = 0; i < option_count; i++) {
            if ((option_list[i].commands & chosen->options) != 0 && strlen(option_list[i].name) == length &&
                strncmp(option_list[i].name, word, length) == 0) {
                found = &option_list[i];
            }
        }
        if (found == NULL) {
            return message_usage_error("'%s' has no option '%s'", chosen->name, word);
        }
        const char *value = word[length] == '=' ? word + length + 1 : NULL;
        if (found->kind == OPTION_SWITCH && value != NULL) {
            return message_usage_error("%s takes no value", found->name);
        }
        if (found->kind != OPTION_SWITCH && value == NULL) {
            value = *++words;
            if (value == NULL) {
                return message_usage_error("%s needs a value: %s", found->name, found->value);
            }
        }
        given->seen[found - option_list] = true;
        int code = read_option(found, value, given);
        if (code != 0) {
            return code;
        }
    }
    if (given->help) {
        return 0;
    }
    int code = read_operands(chosen, given);
    if (code == 0) {
        code = check_actions(given);
    }
    if (code == 0) {
        code = check_expression(given);
    }
    return code != 0 ? code : check_profile(given);
}

int command_line_run(const command *chosen, const char *program, char **words, bool *help)
{
    enum { DEFAULT_ROUNDS = 3, DEFAULT_ELEM_SIZE = 4, DEFAULT_MEMORY = 1 << 30 };
    arguments given = {0};
    given.program = program;
    given.batch = 1;
    given.rounds = DEFAULT_ROUNDS;
    given.elem_size = DEFAULT_ELEM_SIZE;
    given.random.seed = given.random.multiple = 1;
    given.random.bytes.high = SIZE_MAX;
    given.memory = DEFAULT_MEMORY;
    int code = command_line_read(chosen, words, &given);
    *help = code == 0 && given.help;
    if (code == 0 && !*help) {
        code = same_files_check(&given, (chosen->options & FOR_TUNE) != 0);
    }
    return code == 0 && !*help ? chosen->run(&given) : code;
}
