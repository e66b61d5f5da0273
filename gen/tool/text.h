/* Texts that the tool reads whole, and names in messages. The promise: no file is read beyond its bound, whatever it
 * is, and no name is so long that the reason behind it is cut off. */
#ifndef IPT_TOOL_TEXT_H_INCLUDED
#define IPT_TOOL_TEXT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum {
    TEXT_REASON_SIZE = 160,
    TEXT_NAME_SIZE = 256, /* of a shortened name */
    TEXT_NAME_HEAD = 80   /* bytes of its beginning that stay */
};

typedef struct text_name {
    char text[TEXT_NAME_SIZE];
} text_name;

/* A name for a message: the middle of a long one becomes "...". */
const char *text_shorten(const char *name, text_name *shortened);

/* What stands behind the last slash of a path. */
const char *text_file_name(const char *path);

/* A file's text. A pipe that nobody writes to is empty, and nothing waits for one. false: reason has why
 * (TEXT_REASON_SIZE bytes), and *text is NULL. */
bool text_read(const char *path, size_t most, const char *what, char **text, size_t *length, char *reason);

#endif /* IPT_TOOL_TEXT_H_INCLUDED */
