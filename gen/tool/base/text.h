/* Text files that the tool reads whole, names in messages, and lines of help. Names that reach a terminal are escaped.
 * Every read has a limit, for any kind of file. Long names are shortened, so that no message loses the reason after the
 * name. */
#ifndef IPT_TOOL_TEXT_H_INCLUDED
#define IPT_TOOL_TEXT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum {
    TEXT_REASON_SIZE = 160,
    TEXT_NAME_SIZE = 256, /* bytes of a shortened name */
    TEXT_NAME_HEAD = 80,  /* bytes of its beginning that remain */
    TEXT_WIDTH = 80       /* columns of a line of help */
};

typedef struct text_name {
    char text[TEXT_NAME_SIZE];
} text_name;

/* Returns a name for a message. The middle of a long name becomes "...". */
const char *text_shorten(const char *name, text_name *shortened);

/* The bytes of the printable UTF-8 character at text, 1 to 4. 0: a control character, or invalid UTF-8. */
size_t text_character(const char *text);

/* Returns a copy in which control characters and invalid UTF-8 are escaped, such as \n, \t or \x1b, except the
 * characters in `kept`. The caller frees it. NULL: out of memory. */
char *text_escape(const char *text, const char *kept);

/* An upper limit of the columns of an escaped text on a terminal. */
size_t text_columns(const char *text);

/* The part of a path after its last slash. */
const char *text_file_name(const char *path);

/* Prints text to standard output, and a newline. The first line begins in `column`; the function breaks lines at spaces
 * to fit TEXT_WIDTH and begins each further line with `indent` spaces. Newlines of the text stay. */
void text_show(const char *text, size_t column, size_t indent);

/* Reads a text file; the caller frees *text. Does not wait: a pipe without a writer is empty. false: reason
 * (TEXT_REASON_SIZE bytes) is set, and *text is NULL. */
bool text_read(const char *path, size_t most, const char *what, char **text, size_t *length, char *reason);

#endif /* IPT_TOOL_TEXT_H_INCLUDED */
