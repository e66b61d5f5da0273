#include "npy.h"

#include "gen/tool/base/numbers.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    NPY_MAX_NESTING = 64,     /* of structured types: bounds the recursion */
    NPY_QUOTED_TYPE_SIZE = 40 /* characters that a message quotes of a refused type */
};

typedef struct npy_parser {
    const char *text;
    size_t length, position;
    char *message;    /* of NPY_MESSAGE_SIZE bytes; keeps the first error */
    char kind, order; /* of the last type read */
} npy_parser;

static bool npy_fail(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, NPY_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

static bool npy_at_end(const npy_parser *parser)
{
    return parser->position == parser->length;
}

static char npy_peek(const npy_parser *parser)
{
    return npy_at_end(parser) ? '\0' : parser->text[parser->position];
}

static void npy_skip_spaces(npy_parser *parser)
{
    while (!npy_at_end(parser) && memchr(" \t\r\n\f", npy_peek(parser), 5) != NULL) {
        parser->position++;
    }
}

/* Skips spaces and then the given character, if it is next. */
static bool npy_accept(npy_parser *parser, char wanted)
{
    npy_skip_spaces(parser);
    if (npy_at_end(parser) || npy_peek(parser) != wanted) {
        return false;
    }
    parser->position++;
    return true;
}

static bool npy_expect(npy_parser *parser, char wanted)
{
    if (npy_accept(parser, wanted)) {
        return true;
    }
    return npy_fail(parser->message, "its header is malformed at byte %zu: '%c' is missing", parser->position, wanted);
}

/* Reads a comma or the end of a list, tuple or dict after an item. *ended: it was the end. */
static bool npy_separator(npy_parser *parser, char closing, bool *ended)
{
    bool comma = npy_accept(parser, ',');
    *ended = npy_accept(parser, closing);
    if (comma || *ended) {
        return true;
    }
    return npy_expect(parser, closing);
}

static bool npy_is_digit(char character)
{
    return character >= '0' && character <= '9';
}

/* Reads digits as a number. The caller has checked the first one. */
static bool npy_digits(npy_parser *parser, size_t *value)
{
    *value = 0;
    while (npy_is_digit(npy_peek(parser))) {
        size_t digit = (size_t)(npy_peek(parser) - '0');
        if (*value > (SIZE_MAX - digit) / 10) {
            return npy_fail(parser->message, "its header has a number that is too large, at byte %zu",
                            parser->position);
        }
        *value = *value * 10 + digit;
        parser->position++;
    }
    return true;
}

/* Reads a Python number of zero or more. */
static bool npy_number(npy_parser *parser, size_t *value, npy_span *digits)
{
    npy_skip_spaces(parser);
    digits->begin = parser->position;
    if (!npy_is_digit(npy_peek(parser))) {
        return npy_fail(parser->message, "its header is malformed at byte %zu: a number is missing", parser->position);
    }
    if (!npy_digits(parser, value)) {
        return false;
    }
    digits->length = parser->position - digits->begin;
    if (digits->length > 1 && parser->text[digits->begin] == '0') {
        return npy_fail(parser->message, "its header is malformed at byte %zu: a number begins with 0", digits->begin);
    }
    if (npy_peek(parser) == 'L') { /* Python 2's long integers */
        parser->position++;
    }
    return true;
}

/* Reads a Python string. The span is the text between the quotes, with its escapes. */
static bool npy_string(npy_parser *parser, npy_span *content)
{
    npy_skip_spaces(parser);
    if (npy_peek(parser) == 'u') { /* Python 2's text */
        parser->position++;
    }
    char quote = npy_peek(parser);
    if (quote != '\'' && quote != '"') {
        return npy_fail(parser->message, "its header is malformed at byte %zu: a string is missing", parser->position);
    }
    parser->position++;
    content->begin = parser->position;
    while (!npy_at_end(parser) && npy_peek(parser) != quote && npy_peek(parser) != '\n') {
        parser->position += npy_peek(parser) == '\\' && parser->position + 1 < parser->length ? 2 : 1;
    }
    content->length = parser->position - content->begin;
    if (npy_peek(parser) != quote) {
        return npy_fail(parser->message, "its header is malformed: the string at byte %zu has no end", content->begin);
    }
    parser->position++;
    return true;
}

static bool npy_equals(const npy_parser *parser, npy_span span, const char *word)
{
    return span.length == strlen(word) && memcmp(parser->text + span.begin, word, span.length) == 0;
}

/* Refuses a type and quotes it in printable characters, so that the message is one line. */
static bool npy_refuse_type(npy_parser *parser, npy_span type, const char *reason)
{
    char quoted[NPY_QUOTED_TYPE_SIZE + 1];
    size_t length = type.length < NPY_QUOTED_TYPE_SIZE ? type.length : NPY_QUOTED_TYPE_SIZE;
    for (size_t i = 0; i < length; i++) {
        char character = parser->text[type.begin + i];
        quoted[i] = character >= ' ' && character <= '~' ? character : '?';
    }
    quoted[length] = '\0';
    return npy_fail(parser->message, "its type '%s' %s", quoted, reason);
}

/* The size of a type from its kind and number. Some kinds count units of several bytes. */
static bool npy_kind_size(char kind, bool has_number, size_t number, size_t *size)
{
    static const struct {
        char kind;
        size_t sizes[6];
    } numbers[] = {
        {'b', {1}}, {'i', {1, 2, 4, 8}}, {'u', {1, 2, 4, 8}}, {'f', {2, 4, 8, 12, 16}}, {'c', {8, 16, 24, 32}},
        {'m', {8}}, {'M', {8}}};
    *size = number;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        for (size_t j = 0; numbers[i].kind == kind && numbers[i].sizes[j] != 0; j++) {
            if (has_number && numbers[i].sizes[j] == number) {
                return true;
            }
        }
    }
    if (kind == 'U') {
        return number_multiply(size, 4);
    }
    return kind == 'S' || kind == 'a' || kind == 'V' || (kind == '?' && !has_number && (*size = 1) != 0);
}

/* Skips a date's unit in brackets, such as [ns] or [25us], if NumPy knows it. */
static void npy_skip_unit(npy_parser *parser)
{
    static const char *const units[] = {"Y]",  "M]",  "W]",  "D]",  "h]",  "m]",  "s]",
                                        "ms]", "us]", "ns]", "ps]", "fs]", "as]", "generic]"};
    npy_parser inner = *parser;
    size_t multiple;
    inner.position++;
    if (!npy_digits(&inner, &multiple)) {
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i]);
        if (inner.length - inner.position >= length && memcmp(inner.text + inner.position, units[i], length) == 0) {
            parser->position = inner.position + length;
            return;
        }
    }
}

/* Reads a type string: an optional byte order, a kind, a number, and for dates a unit in brackets. */
static bool npy_simple_type(npy_parser *parser, size_t *size)
{
    npy_span type;
    if (!npy_string(parser, &type)) {
        return false;
    }
    npy_parser inner = {parser->text, type.begin + type.length, type.begin, parser->message, 0, 0};
    parser->order = '|';
    if (npy_peek(&inner) != '\0' && strchr("<>|=", npy_peek(&inner)) != NULL) {
        parser->order = npy_peek(&inner);
        inner.position++;
    }
    char kind = npy_peek(&inner);
    parser->kind = kind;
    inner.position += kind != '\0';
    if (kind == 'O') {
        return npy_refuse_type(parser, type, "holds Python objects, which cannot be moved as bytes");
    }
    bool has_number = npy_is_digit(npy_peek(&inner));
    size_t number = 0;
    if (!npy_digits(&inner, &number)) {
        return false;
    }
    if ((kind == 'm' || kind == 'M') && npy_peek(&inner) == '[') {
        npy_skip_unit(&inner);
    }
    if (!npy_at_end(&inner) || !npy_kind_size(kind, has_number, number, size)) {
        return npy_refuse_type(parser, type, "has no known size");
    }
    return true;
}

/* Reads the numbers of a tuple after its '(', into the header unless NULL. *product: their product. */
static bool npy_tuple(npy_parser *parser, npy_header *header, size_t *product)
{
    size_t count = 0;
    bool ended = npy_accept(parser, ')');
    bool overflow = false, zero = false;
    *product = 1;
    while (!ended) {
        size_t number;
        npy_span digits;
        if (!npy_number(parser, &number, &digits) || !npy_separator(parser, ')', &ended)) {
            return false;
        }
        if (count == NPY_MAX_DIMENSIONS) {
            return npy_fail(parser->message, "its header has a shape of more than %d dimensions, the limit",
                            NPY_MAX_DIMENSIONS);
        }
        if (header != NULL) {
            header->shape[count] = number;
            header->digits[count] = digits;
        }
        count++;
        zero = zero || number == 0;
        overflow = overflow || !number_multiply(product, number);
        if (ended && count == 1 && memchr(parser->text + digits.begin, ',', parser->position - digits.begin) == NULL) {
            return npy_fail(parser->message, "its header is malformed: (%zu) is a number, not a shape", number);
        }
    }
    if (overflow && !zero) {
        return npy_fail(parser->message, "its header has a shape that is too large");
    }
    *product = zero ? 0 : *product;
    if (header != NULL) {
        header->dimension_count = count;
    }
    return true;
}

/* Reads the shape of an array field, a tuple or one number. Multiplies *size by it. */
static bool npy_field_shape(npy_parser *parser, size_t *size)
{
    size_t product = 1;
    npy_span unused;
    bool read = npy_accept(parser, '(') ? npy_tuple(parser, NULL, &product) : npy_number(parser, &product, &unused);
    if (read && !number_multiply(size, product)) {
        return npy_fail(parser->message, "its header has a type that is too large");
    }
    return read;
}

static bool npy_type(npy_parser *parser, unsigned nesting, size_t *size);

/* Reads a field after its '(': the name or (title, name), the type, and perhaps a shape. */
static bool npy_field(npy_parser *parser, unsigned nesting, size_t *size)
{
    npy_span unused;
    if (npy_accept(parser, '(')) {
        if (!npy_string(parser, &unused) || !npy_expect(parser, ',') || !npy_string(parser, &unused) ||
            !npy_expect(parser, ')')) {
            return false;
        }
    } else if (!npy_string(parser, &unused)) {
        return false;
    }
    bool ended;
    if (!npy_expect(parser, ',') || !npy_type(parser, nesting, size) || !npy_separator(parser, ')', &ended)) {
        return false;
    }
    return ended || (npy_field_shape(parser, size) && npy_expect(parser, ')'));
}

/* Reads a type and its size: a string, a list of fields, or within such a list a (type, shape) pair. */
static bool npy_type(npy_parser *parser, unsigned nesting, size_t *size)
{
    if (nesting > NPY_MAX_NESTING) {
        return npy_fail(parser->message, "its header has a type that is nested too deeply");
    }
    if (nesting > 0 && npy_accept(parser, '(')) {
        return npy_type(parser, nesting + 1, size) && npy_expect(parser, ',') && npy_field_shape(parser, size) &&
               npy_expect(parser, ')');
    }
    if (!npy_accept(parser, '[')) {
        return npy_simple_type(parser, size);
    }
    *size = 0;
    bool ended = npy_accept(parser, ']');
    while (!ended) {
        size_t field_size = 0;
        if (!npy_expect(parser, '(') || !npy_field(parser, nesting + 1, &field_size) ||
            !npy_separator(parser, ']', &ended)) {
            return false;
        }
        if (field_size > SIZE_MAX - *size) {
            return npy_fail(parser->message, "its header has a type that is too large");
        }
        *size += field_size;
    }
    parser->kind = '[';
    return true;
}

static bool npy_boolean(npy_parser *parser, bool *value, npy_span *place)
{
    npy_skip_spaces(parser);
    const char *text = parser->text + parser->position;
    size_t rest = parser->length - parser->position;
    *value = rest >= 4 && memcmp(text, "True", 4) == 0;
    if (!*value && !(rest >= 5 && memcmp(text, "False", 5) == 0)) {
        return npy_fail(parser->message, "its header is malformed: 'fortran_order' is neither True nor False");
    }
    place->begin = parser->position;
    place->length = *value ? 4 : 5;
    parser->position += place->length;
    return true;
}

bool npy_is_marked(const void *start, size_t available)
{
    return available >= NPY_MAGIC_SIZE && memcmp(start, NPY_MARK, NPY_MAGIC_SIZE) == 0;
}

bool npy_find_text(const unsigned char *start, size_t available, npy_span *text, char *message)
{
    if (available < NPY_MAGIC_SIZE || memcmp(start, NPY_MAGIC, NPY_MAGIC_SIZE) != 0) {
        return npy_fail(message, "not a NumPy file: it does not begin with NumPy's magic bytes");
    }
    if (available < 8) {
        return npy_fail(message, "truncated: it ends within the header");
    }
    unsigned major = start[6], minor = start[7];
    if (major < 1 || major > 3 || minor != 0) {
        return npy_fail(message, "NumPy format version %u.%u is unknown: 1.0, 2.0 and 3.0 are supported", major, minor);
    }
    text->begin = major == 1 ? 10 : 12;
    if (available < text->begin) {
        return npy_fail(message, "truncated: it ends within the header");
    }
    text->length = 0;
    for (size_t i = text->begin; i > 8; i--) {
        text->length = text->length << 8 | start[i - 1];
    }
    return true;
}

bool npy_parse(const char *text, size_t length, npy_header *header, char *message)
{
    npy_parser parser = {text, length, 0, message, 0, 0};
    bool has_type = false, has_order = false, has_shape = false;
    if (!npy_accept(&parser, '{')) {
        return npy_fail(message, "its header is not a Python dict");
    }
    for (bool ended = npy_accept(&parser, '}'); !ended;) {
        npy_span key;
        bool *seen;
        if (!npy_string(&parser, &key) || !npy_expect(&parser, ':')) {
            return false;
        }
        if (npy_equals(&parser, key, "descr")) {
            seen = &has_type;
        } else if (npy_equals(&parser, key, "fortran_order")) {
            seen = &has_order;
        } else if (npy_equals(&parser, key, "shape")) {
            seen = &has_shape;
        } else {
            return npy_fail(message, "its header is malformed: the key at byte %zu is unknown", key.begin);
        }
        if (*seen) {
            return npy_fail(message, "its header is malformed: the key at byte %zu occurs twice", key.begin);
        }
        *seen = true;
        size_t elements;
        bool read = seen == &has_type    ? npy_type(&parser, 0, &header->item_size)
                    : seen == &has_order ? npy_boolean(&parser, &header->fortran_order, &header->order_text)
                                         : npy_expect(&parser, '(') && npy_tuple(&parser, header, &elements);
        if (!read || !npy_separator(&parser, '}', &ended)) {
            return false;
        }
    }
    header->kind = parser.kind;
    header->order = parser.order;
    npy_skip_spaces(&parser);
    if (!npy_at_end(&parser)) {
        return npy_fail(message, "its header is malformed: text follows the dict at byte %zu", parser.position);
    }
    if (!has_type || !has_order || !has_shape) {
        return npy_fail(message, "its header lacks '%s'", !has_type ? "descr" : !has_order ? "fortran_order" : "shape");
    }
    return true;
}

/* Whether the byte order is this machine's. */
static bool npy_is_native(const npy_header *header)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return header->item_size == 1 || strchr("<>", header->order) == NULL || (header->order == '<') == (first == 1);
}

/* The OpenCL C type of the elements; NULL: none. */
static const char *npy_opencl_type(const npy_header *header)
{
    static const struct {
        char kind;
        size_t size;
        const char *name;
    } types[] = {{'b', 1, "uchar"},  {'?', 1, "uchar"}, {'i', 1, "char"},  {'u', 1, "uchar"}, {'i', 2, "short"},
                 {'u', 2, "ushort"}, {'i', 4, "int"},   {'u', 4, "uint"},  {'i', 8, "long"},  {'u', 8, "ulong"},
                 {'f', 2, "half"},   {'f', 4, "float"}, {'f', 8, "double"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].kind == header->kind && types[i].size == header->item_size) {
            return types[i].name;
        }
    }
    return NULL;
}

bool npy_expression_type(const npy_header *header, const char *wanted, const char **type, char *message)
{
    size_t size = header->item_size;
    const char *pair = header->kind != 'c' ? NULL : size == 8 ? "float2" : size == 16 ? "double2" : NULL;
    const char *own = npy_opencl_type(header);
    *type = wanted;
    if (header->kind == '[') {
        return npy_fail(message, "--expression takes numbers: the elements are structures");
    }
    if (!npy_is_native(header)) {
        return npy_fail(message,
                        "--expression takes numbers in this machine's byte order: the type '%c%c%zu' has the other "
                        "order",
                        header->order, header->kind, size);
    }
    if (header->kind == 'V' && wanted != NULL) { /* untyped bytes */
        return true;
    }
    if (pair != NULL) {
        return (wanted != NULL && strcmp(wanted, pair) == 0) ||
               npy_fail(message, "OpenCL C has no complex numbers: use --type %s, which makes x the pair of parts",
                        pair);
    }
    if (own == NULL) {
        return npy_fail(message, "--expression takes types of OpenCL C: it has none for the type '%c' of %zu bytes",
                        header->kind, size);
    }
    *type = own;
    return wanted == NULL || strcmp(wanted, own) == 0 ||
           npy_fail(message, "--type '%.40s' contradicts the header's type '%c%zu': use --type %s or none", wanted,
                    header->kind, size, own);
}

bool npy_data_size(const npy_header *header, size_t *size, char *message)
{
    *size = header->item_size;
    for (size_t i = 0; i < header->dimension_count; i++) {
        if (header->shape[i] == 0) {
            *size = 0;
            return true;
        }
    }
    for (size_t i = 0; i < header->dimension_count; i++) {
        if (!number_multiply(size, header->shape[i])) {
            return npy_fail(message, "its shape and type are too large: at most %zu bytes", SIZE_MAX);
        }
    }
    return true;
}

void npy_exchange(char *text, npy_span first, npy_span second)
{
    char digits[2][NPY_MAX_DIGITS];
    memcpy(digits[0], text + first.begin, first.length);
    memcpy(digits[1], text + second.begin, second.length);
    size_t between = second.begin - (first.begin + first.length);
    memmove(text + first.begin + second.length, text + first.begin + first.length, between);
    memcpy(text + first.begin, digits[1], second.length);
    memcpy(text + first.begin + second.length + between, digits[0], first.length);
}

void npy_swap_dimensions(char *text, const npy_header *header, size_t first)
{
    npy_exchange(text, header->digits[first], header->digits[first + 1]);
}

void npy_permute_dimensions(char *text, const npy_header *header, const unsigned *axes)
{
    npy_span places[NPY_MAX_DIMENSIONS];
    unsigned there[NPY_MAX_DIMENSIONS]; /* the dimension whose number is at each place */
    for (size_t i = 0; i < header->dimension_count; i++) {
        places[i] = header->digits[i];
        there[i] = (unsigned)i;
    }
    for (size_t i = 0; i < header->dimension_count; i++) {
        size_t from = i;
        while (there[from] != axes[i]) {
            from++;
        }
        if (from == i) {
            continue;
        }
        npy_exchange(text, places[i], places[from]);
        const size_t length = places[from].length, before = places[i].length;
        for (size_t k = i + 1; k <= from; k++) {
            places[k].begin = places[k].begin + length - before;
        }
        places[from].length = before;
        places[i].length = length;
        there[from] = there[i];
    }
}

bool npy_change_order(char *text, size_t length, const npy_header *header)
{
    char *const word = text + header->order_text.begin, *const end = text + length;
    if (!header->fortran_order) {
        memcpy(word, "True ", 5);
        return true;
    }
    char *space = word + 4; /* a space to drop: after the word, after its comma, or at the header's end */
    if (*space != ' ') {
        space = space + 1 < end && space[0] == ',' && space[1] == ' ' ? space + 1 : end - 2;
    }
    if (space <= word + 3 || *space != ' ') {
        return false;
    }
    memmove(word + 5, word + 4, (size_t)(space - (word + 4)));
    memcpy(word, "False", 5);
    return true;
}
