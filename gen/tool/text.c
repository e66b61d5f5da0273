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
