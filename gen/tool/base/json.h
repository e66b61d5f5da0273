/* JSON on a stream. */
#ifndef IPT_TOOL_JSON_H_INCLUDED
#define IPT_TOOL_JSON_H_INCLUDED

#include <stdio.h>

/* Writes a text as a string. */
void json_string(FILE *stream, const char *text);

/* Writes the lines of a text as a list of strings, without their indents. */
void json_lines(FILE *stream, const char *text);

#endif /* IPT_TOOL_JSON_H_INCLUDED */
