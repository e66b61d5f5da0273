/* Texts that the tool reads whole, and names in messages. The promise: no file is read beyond its bound, whatever it
 * is, and no name is so long that the reason behind it is cut off. */
#ifndef IPT_GEN_TEXT_H_INCLUDED
#define IPT_GEN_TEXT_H_INCLUDED

#include <string.h>

enum {
    TEXT_NAME_SIZE = 256, /* of a shortened name */
    TEXT_NAME_HEAD = 80   /* bytes of its beginning that stay */
};

typedef struct text_name {
    char text[TEXT_NAME_SIZE];
} text_name;

/* A name for a message: the middle of a long one becomes "...". */
static const char *text_shorten(const char *name, text_name *shortened)
{
    size_t length = strlen(name), head = TEXT_NAME_HEAD, tail = TEXT_NAME_SIZE - TEXT_NAME_HEAD - sizeof "...";
    if (length < TEXT_NAME_SIZE) {
        return name;
    }
    const char *end = name + length - tail;
    while (head > 0 && ((unsigned char)name[head] & 0xc0) == 0x80) { /* no character of UTF-8 is cut in two */
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

#endif /* IPT_GEN_TEXT_H_INCLUDED */
