/* Output on stdout that several commands share. */
#ifndef IPT_TOOL_SHOW_H_INCLUDED
#define IPT_TOOL_SHOW_H_INCLUDED

#include "ipt.h"

#include <stdio.h>

/* Prints "ipt" and the library's version. */
void show_version(FILE *stream);

/* Prints each line of a text after an indent. */
void show_lines(const char *text, const char *indent);

/* Prints a text that one of ipt's functions returns for a context. */
int show_text(FILE *stream, ipt_context *context, ipt_result (*read)(ipt_context *, char *, size_t, size_t *));

#endif /* IPT_TOOL_SHOW_H_INCLUDED */
