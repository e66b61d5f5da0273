#include "text.h"

#include "system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *text_shorten(const char *name, text_name *shortened)
{
    size_t length = strlen(name), head = TEXT_NAME_HEAD, tail = TEXT_NAME_SIZE - TEXT_NAME_HEAD - sizeof "...";
    if (length < TEXT_NAME_SIZE) {
        return name;
    }
    const char *end = name + length - tail;
    while (head > 0 && ((unsigned char)name[head] & 0xc0) == 0x80) { /* do not cut a UTF-8 character in two */
        head--;
    }
    while (((unsigned char)*end & 0xc0) == 0x80) {
        end++;
    }
    memcpy(shortened->text, name, head);
    memcpy(shortened->text + head, "...", 3);
    memcpy(shortened->text + head + 3, end, strlen(end) + 1);
    return shortened->text;
}

size_t text_character(const char *text)
{
    const unsigned char *const bytes = (const unsigned char *)text;
    const unsigned lead = bytes[0];
    const size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0x80) {
        return lead >= ' ' && lead != 0x7f;
    }
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    /* A continuation byte, overlong, a surrogate, beyond Unicode, or a control character: U+0080 to U+009F. */
    const bool bad = lead < 0xc2 || lead > 0xf4 || (lead == 0xc2 && bytes[1] < 0xa0) ||
                     (lead == 0xe0 && bytes[1] < 0xa0) || (lead == 0xed && bytes[1] > 0x9f) ||
                     (lead == 0xf0 && bytes[1] < 0x90) || (lead == 0xf4 && bytes[1] > 0x8f);
    return bad ? 0 : length;
}

char *text_escape(const char *text, const char *kept)
{
    enum { LONGEST = 4 }; /* bytes for an escaped byte */
    char *const escaped = malloc(LONGEST * strlen(text) + 1), *next = escaped;
    while (escaped != NULL && *text != '\0') {
        const size_t length = strchr(kept, *text) != NULL ? 1 : text_character(text);
        const char *const letter = memchr("\nn\tt\rr", *text, 6);
        if (length > 0) {
            memcpy(next, text, length);
            next += length;
        } else if (letter != NULL) {
            next += sprintf(next, "\\%c", letter[1]);
        } else {
            next += sprintf(next, "\\x%02x", (unsigned char)*text);
        }
        text += length > 0 ? length : 1;
    }
    if (escaped != NULL) {
        *next = '\0';
    }
    return escaped;
}

size_t text_columns(const char *text)
{
    size_t columns = 0;
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;
        columns += byte < 0x80 || byte >= 0xc0; /* one column for each character */
        columns += byte >= 0xe1;                /* one more if it may be wide */
    }
    return columns;
}

const char *text_file_name(const char *path)
{
    const char *slash = system_last_separator(path);
    return slash == NULL ? path : slash + 1;
}

void text_show(const char *text, size_t column, size_t indent)
{
    while (*text != '\0') {
        size_t spaces = strspn(text, " "), word = strcspn(text + spaces, " \n");
        if (column > indent && word > 0 && column + spaces + word > TEXT_WIDTH) {
            printf("\n%*s", (int)indent, "");
            column = indent;
            spaces = 0;
            text += strspn(text, " ");
        }
        fwrite(text, 1, spaces + word, stdout);
        column += spaces + word;
        text += spaces + word;
        if (*text == '\n') {
            printf("\n%*s", text[1] == '\n' ? 0 : (int)indent, "");
            column = indent;
            text++;
        }
    }
    putchar('\n');
}

/* Reads an open file to its end, and appends a zero. The caller frees *text. */
static bool text_read_open(int descriptor, size_t most, const char *what, char **text, size_t *length, char *reason)
{
    size_t capacity = 0;
    for (*length = 0;;) {
        if (*length == capacity) {
            size_t larger = capacity == 0 ? (size_t)1 << 14 : capacity * 2;
            char *longer = realloc(*text, larger + 1);
            if (longer == NULL) {
                snprintf(reason, TEXT_REASON_SIZE, "out of memory for %zu bytes", larger);
                return false;
            }
            *text = longer;
            capacity = larger;
        }
        ptrdiff_t got = system_read(descriptor, *text + *length, capacity - *length);
        if (got < 0) {
            snprintf(reason, TEXT_REASON_SIZE, "%s", strerror(errno));
            return false;
        }
        if (got == 0) {
            (*text)[*length] = '\0';
            return true;
        }
        *length += (size_t)got;
        if (*length > most) {
            snprintf(reason, TEXT_REASON_SIZE, "it has more than %zu bytes, the limit of %s", most, what);
            return false;
        }
    }
}

bool text_read(const char *path, size_t most, const char *what, char **text, size_t *length, char *reason)
{
    system_status status;
    *text = NULL;
    int descriptor = system_open(path, SYSTEM_READ | SYSTEM_NO_TERMINAL);
    if (descriptor < 0 || !system_status_of(descriptor, &status)) {
        snprintf(reason, TEXT_REASON_SIZE, "%s", strerror(errno));
        if (descriptor >= 0) {
            system_close(descriptor);
        }
        return false;
    }
    bool good = !status.is_folder;
    if (!good) {
        snprintf(reason, TEXT_REASON_SIZE, "it is a directory");
    } else {
        /* Reads wait for the writer of a pipe; only opening did not. */
        system_wait_for_data(descriptor);
        good = text_read_open(descriptor, most, what, text, length, reason);
    }
    system_close(descriptor);
    if (!good) {
        free(*text);
        *text = NULL;
    }
    return good;
}
