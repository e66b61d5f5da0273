#include "offline_ptx.h"

#include "offline_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* N in the source's line `#define NAME N`, up to 1024; 0 without such a line. */
static unsigned offline_defined(const char *source, const char *name)
{
    char define[40];
    snprintf(define, sizeof define, "#define %s ", name);
    for (const char *found = source; (found = strstr(found, define)) != NULL; found++) {
        if (found == source || found[-1] == '\n') {
            size_t number = (size_t)strtoull(found + strlen(define), NULL, 10);
            return number <= 1024 ? (unsigned)number : 0;
        }
    }
    return 0;
}

/* Inserts directives after a kernel's parameters: the work-group size, which clang drops, and the least number of
 * work-groups per compute unit. Without these, the driver may assign too many registers to work-items. realloc may move
 * *ptx. */
static bool offline_insert_directives(unsigned char **ptx, size_t *bytes, size_t position, const char *source,
                                      char *message)
{
    unsigned size = offline_defined(source, "IPT_GROUP_SIZE"), groups = offline_defined(source, "IPT_GROUPS_AT_ONCE");
    char lines[80] = "";
    if (size > 0) {
        snprintf(lines, sizeof lines, "\n.reqntid %u, 1, 1", size);
    }
    if (groups > 0) {
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "\n.minnctapersm %u", groups);
    }
    size_t length = strlen(lines);
    unsigned char *longer = realloc(*ptx, *bytes + length + 1);
    if (longer == NULL) {
        return offline_fail(message, "out of memory for the PTX of a kernel");
    }
    memmove(longer + position + length, longer + position, *bytes - position + 1);
    memcpy(longer + position, lines, length);
    *ptx = longer;
    *bytes += length;
    return true;
}

/* Whether text of a given length contains part. */
static bool offline_contains(const char *text, size_t length, const char *part)
{
    const char *found = strstr(text, part);
    return found != NULL && found < text + length;
}

/* A function in PTX that is not a kernel. */
typedef struct offline_function {
    const char *name, *end; /* of its head */
    size_t length;          /* of the name */
    bool defined;           /* not only declared */
} offline_function;

#define OFFLINE_BLANKS " \t\n"

/* Finds the next function in text: .func (result) name (parameters), then a body or a semicolon. */
static bool offline_next_function(const char *text, offline_function *function)
{
    const char *place = strstr(text, ".func ");
    if (place == NULL) {
        return false;
    }
    place += sizeof ".func " - 1;
    place += strspn(place, OFFLINE_BLANKS);
    if (*place == '(') {
        place += strcspn(place, ")");
        place += strspn(place, ")" OFFLINE_BLANKS);
    }
    function->name = place;
    function->length = strcspn(place, "(" OFFLINE_BLANKS);
    place += strcspn(place, ")"); /* no parameter contains ) */
    place += strspn(place, ")" OFFLINE_BLANKS);
    function->end = place;
    function->defined = *place != ';';
    return true;
}

/* Whether PTX defines every function that it declares. PTX must declare all functions that it calls. */
static bool offline_all_defined(const char *ptx, char *message)
{
    offline_function declared, other;
    for (const char *place = ptx; offline_next_function(place, &declared); place = declared.end) {
        bool defined = declared.defined;
        for (const char *from = ptx; !defined && offline_next_function(from, &other); from = other.end) {
            defined = other.defined && other.length == declared.length &&
                      memcmp(other.name, declared.name, other.length) == 0;
        }
        if (!defined) {
            return offline_fail(message, "the source calls %.*s, which neither the source nor libclc defines for PTX",
                                (int)declared.length, declared.name);
        }
    }
    return true;
}

bool offline_finish_ptx(const char *source, unsigned char **ptx, size_t *bytes, char *message)
{
    static const char entry[] = "\n.entry ";
    size_t kernels = 0, position = 0;
    if (strlen((char *)*ptx) != *bytes) {
        return offline_fail(message, "clang's PTX contains a zero byte");
    }
    if (!offline_all_defined((char *)*ptx, message)) {
        return false;
    }
    for (const char *found; (found = strstr((char *)*ptx + position, entry)) != NULL; kernels++) {
        const char *name = found + sizeof entry - 1;
        size_t length = strcspn(name, ")");
        /* Every kernel has a buffer argument. Its declaration depends on clang's target. */
        if (name[length] == '\0' || !offline_contains(name, length, ".ptr .global")) {
            return offline_fail(message, "the PTX of %.*s has no .ptr .global parameter: its launches would fault",
                                (int)strcspn(name, "( \n"), name);
        }
        position = (size_t)(name + length + 1 - (char *)*ptx);
        if (!offline_insert_directives(ptx, bytes, position, source, message)) {
            return false;
        }
    }
    return kernels > 0 || offline_fail(message, "clang's PTX contains no kernel");
}
