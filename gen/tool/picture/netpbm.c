#include "netpbm.h"

#include "gen/tool/base/numbers.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct netpbm_reader {
    const char *text;
    size_t length, position;
    char *message; /* of NPY_MESSAGE_SIZE bytes */
} netpbm_reader;

/* A PAM's types of channels that other formats also have. netpbm_print writes the first for each number of channels. */
static const struct {
    const char *name;
    unsigned channels;
} netpbm_types[] = {{"GRAYSCALE", 1}, {"GRAYSCALE_ALPHA", 2}, {"RGB", 3},
                    {"RGB_ALPHA", 4}, {"BLACKANDWHITE", 1},   {"BLACKANDWHITE_ALPHA", 2}};
enum { NETPBM_TYPES = sizeof netpbm_types / sizeof netpbm_types[0], NETPBM_MOST_TYPED = 4 };

static bool netpbm_fail(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, NPY_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

static bool netpbm_is_space(char character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

static bool netpbm_is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static bool netpbm_at_end(const netpbm_reader *reader)
{
    return reader->position == reader->length;
}

/* The next character; '\0' at the end. */
static char netpbm_peek(const netpbm_reader *reader)
{
    return netpbm_at_end(reader) ? '\0' : reader->text[reader->position];
}

static bool netpbm_fail_at_end(const netpbm_reader *reader)
{
    return reader->length < NETPBM_MAX_HEADER
               ? netpbm_fail(reader->message, "truncated: it ends within the header")
               : netpbm_fail(reader->message, "its header is too long: at most %d bytes are supported",
                             NETPBM_MAX_HEADER);
}

/* Skips a comment and the end of its line. */
static void netpbm_skip_comment(netpbm_reader *reader)
{
    bool ended = false;
    while (!netpbm_at_end(reader) && !ended) {
        ended = netpbm_peek(reader) == '\n' || netpbm_peek(reader) == '\r';
        reader->position++;
    }
}

/* Reads a number of 1 or more. The caller has skipped spaces and comments. */
static bool netpbm_number(netpbm_reader *reader, const char *name, size_t *value, npy_span *digits)
{
    digits->begin = reader->position;
    *value = 0;
    for (; netpbm_is_digit(netpbm_peek(reader)); reader->position++) {
        size_t digit = (size_t)(netpbm_peek(reader) - '0');
        if (*value > (SIZE_MAX - digit) / 10 || reader->position - digits->begin == NETPBM_MAX_DIGITS) {
            return netpbm_fail(reader->message, "its header's %s is too large, at byte %zu", name, digits->begin);
        }
        *value = *value * 10 + digit;
    }
    digits->length = reader->position - digits->begin;
    if (netpbm_at_end(reader)) {
        return netpbm_fail_at_end(reader);
    }
    if (digits->length == 0) {
        return netpbm_fail(reader->message, "its header is malformed at byte %zu: the %s is missing", digits->begin,
                           name);
    }
    return *value > 0 || netpbm_fail(reader->message, "its header has %s = 0: must be at least 1", name);
}

/* Reads the next number of a PGM's or PPM's header. */
static bool netpbm_next_number(netpbm_reader *reader, const char *name, size_t *value, npy_span *digits)
{
    if (!netpbm_is_space(netpbm_peek(reader)) && netpbm_peek(reader) != '#') {
        return netpbm_at_end(reader)
                   ? netpbm_fail_at_end(reader)
                   : netpbm_fail(reader->message, "its header is malformed at byte %zu: a space is missing",
                                 reader->position);
    }
    while (netpbm_is_space(netpbm_peek(reader)) || netpbm_peek(reader) == '#') {
        if (netpbm_peek(reader) == '#') {
            netpbm_skip_comment(reader);
        } else {
            reader->position++;
        }
    }
    return netpbm_number(reader, name, value, digits);
}

/* Reads the header of a PGM or PPM from byte 2 on. One space, or a comment, separates the header from the pixels. */
static bool netpbm_parse_plain(netpbm_reader *reader, netpbm_header *header)
{
    npy_span ignored;
    if (!netpbm_next_number(reader, "width", &header->width, &header->sides[0]) ||
        !netpbm_next_number(reader, "height", &header->height, &header->sides[1]) ||
        !netpbm_next_number(reader, "maxval", &header->maxval, &ignored)) {
        return false;
    }
    if (netpbm_peek(reader) == '#') {
        netpbm_skip_comment(reader);
    } else if (netpbm_is_space(netpbm_peek(reader))) {
        reader->position++;
    } else {
        return netpbm_fail(reader->message, "its header is malformed at byte %zu: a space is missing",
                           reader->position);
    }
    header->channels = header->type == '5' ? 1 : 3;
    header->data_offset = reader->position;
    return true;
}

/* If the next word is this word, skips it and returns true. */
static bool netpbm_accept_word(netpbm_reader *reader, const char *word)
{
    size_t length = strlen(word);
    if (reader->length - reader->position <= length || memcmp(reader->text + reader->position, word, length) != 0 ||
        !netpbm_is_space(reader->text[reader->position + length])) {
        return false;
    }
    reader->position += length;
    return true;
}

/* Skips spaces, but not the end of the line. */
static void netpbm_skip_blanks(netpbm_reader *reader)
{
    while (netpbm_is_space(netpbm_peek(reader)) && netpbm_peek(reader) != '\n') {
        reader->position++;
    }
}

static void netpbm_skip_line(netpbm_reader *reader)
{
    while (!netpbm_at_end(reader) && netpbm_peek(reader) != '\n') {
        reader->position++;
    }
    reader->position += !netpbm_at_end(reader);
}

/* Notes the types of channels that a line of TUPLTYPE names: a bit for each type, and bit 0 for all others. */
static void netpbm_parse_type(netpbm_reader *reader, unsigned *types)
{
    unsigned type = 0;
    netpbm_skip_blanks(reader);
    for (size_t i = 0; i < NETPBM_TYPES; i++) {
        const size_t start = reader->position;
        if (netpbm_accept_word(reader, netpbm_types[i].name)) {
            netpbm_skip_blanks(reader);
            type = netpbm_peek(reader) == '\n' ? 1u << netpbm_types[i].channels : 0;
        }
        reader->position = start;
    }
    *types |= type == 0 ? 1 : type;
}

/* Reads one line of a PAM's header. *ended: it was the last one. */
static bool netpbm_parse_line(netpbm_reader *reader, netpbm_header *header, unsigned *types, bool *ended)
{
    const struct {
        const char *word, *name;
        size_t *value;
    } fields[] = {{"WIDTH", "width", &header->width},
                  {"HEIGHT", "height", &header->height},
                  {"DEPTH", "depth", &header->channels},
                  {"MAXVAL", "maxval", &header->maxval}};
    npy_span ignored;
    if (memchr(reader->text + reader->position, '\n', reader->length - reader->position) == NULL) {
        return netpbm_fail_at_end(reader);
    }
    netpbm_skip_blanks(reader);
    const bool typed = netpbm_accept_word(reader, "TUPLTYPE");
    if (typed) {
        netpbm_parse_type(reader, types);
    }
    if (typed || netpbm_peek(reader) == '\n' || netpbm_peek(reader) == '#') {
        netpbm_skip_line(reader);
        return true;
    }
    *ended = netpbm_accept_word(reader, "ENDHDR");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && !*ended; i++) {
        if (!netpbm_accept_word(reader, fields[i].word)) {
            continue;
        }
        if (*fields[i].value != 0) {
            return netpbm_fail(reader->message, "its header is malformed: %s occurs twice", fields[i].word);
        }
        netpbm_skip_blanks(reader);
        if (!netpbm_number(reader, fields[i].name, fields[i].value, i < 2 ? &header->sides[i] : &ignored)) {
            return false;
        }
        break;
    }
    size_t stop = reader->position;
    netpbm_skip_blanks(reader);
    if (netpbm_peek(reader) != '\n') {
        return netpbm_fail(reader->message, "its header is malformed at byte %zu: no line of a PAM continues so", stop);
    }
    netpbm_skip_line(reader);
    return true;
}

/* Reads the header of a PAM from byte 2 on. */
static bool netpbm_parse_pam(netpbm_reader *reader, netpbm_header *header)
{
    if (netpbm_peek(reader) != '\n') {
        return netpbm_fail(reader->message, "its header is malformed at byte 2: P7 must end its line");
    }
    unsigned types = 0;
    for (bool ended = false; !ended;) {
        if (!netpbm_parse_line(reader, header, &types, &ended)) {
            return false;
        }
    }
    header->has_other_type = types != 0 && (header->channels > NETPBM_MOST_TYPED || types != 1u << header->channels);
    const char *missing = header->width == 0      ? "WIDTH"
                          : header->height == 0   ? "HEIGHT"
                          : header->channels == 0 ? "DEPTH"
                          : header->maxval == 0   ? "MAXVAL"
                                                  : NULL;
    header->data_offset = reader->position;
    return missing == NULL || netpbm_fail(reader->message, "its header lacks %s", missing);
}

bool netpbm_begins(const void *start, size_t available)
{
    const char *text = start;
    return available >= 3 && text[0] == 'P' && text[1] >= '1' && text[1] <= '7' &&
           (netpbm_is_space(text[2]) || text[2] == '#');
}

bool netpbm_parse(const char *text, size_t length, netpbm_header *header, char *message)
{
    netpbm_reader reader = {text, length, 2, message};
    memset(header, 0, sizeof *header);
    if (!netpbm_begins(text, length)) {
        return netpbm_fail(message, "not a picture of Netpbm's: it does not begin with P5, P6 or P7");
    }
    header->type = text[1];
    if (header->type < '5') {
        return netpbm_fail(message, "P%c is text or has several pixels in a byte: convert it to PGM (P5) or PPM (P6)",
                           header->type);
    }
    if (!(header->type == '7' ? netpbm_parse_pam(&reader, header) : netpbm_parse_plain(&reader, header))) {
        return false;
    }
    if (header->maxval > NETPBM_MAX_MAXVAL) {
        return netpbm_fail(message, "its header has maxval = %zu: must be at most %d", header->maxval,
                           NETPBM_MAX_MAXVAL);
    }
    header->sample_bytes = header->maxval < 256 ? 1 : 2;
    return true;
}

bool netpbm_data_size(const netpbm_header *header, size_t *size, char *message)
{
    *size = header->sample_bytes;
    return (number_multiply(size, header->channels) && number_multiply(size, header->width) &&
            number_multiply(size, header->height)) ||
           netpbm_fail(message, "its %zux%zu pixels are too large: at most %zu bytes", header->width, header->height,
                       SIZE_MAX);
}

void netpbm_swap_sides(char *text, const netpbm_header *header)
{
    bool width_first = header->sides[0].begin < header->sides[1].begin;
    npy_exchange(text, header->sides[!width_first], header->sides[width_first]);
}

size_t netpbm_print(char *text, const netpbm_header *header)
{
    int length;
    if (header->type != '7') {
        length = snprintf(text, NETPBM_TEXT_SIZE, "P%c\n%zu %zu\n%zu\n", header->type, header->width, header->height,
                          header->maxval);
    } else {
        bool typed = header->channels <= NETPBM_MOST_TYPED;
        length = snprintf(text, NETPBM_TEXT_SIZE, "P7\nWIDTH %zu\nHEIGHT %zu\nDEPTH %zu\nMAXVAL %zu\n%s%s%sENDHDR\n",
                          header->width, header->height, header->channels, header->maxval, typed ? "TUPLTYPE " : "",
                          typed ? netpbm_types[header->channels - 1].name : "", typed ? "\n" : "");
    }
    return (size_t)length;
}
