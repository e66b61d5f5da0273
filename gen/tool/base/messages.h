/* Messages on stderr: sentences after "ipt: ", and a progress line on a terminal. */
#ifndef IPT_TOOL_MESSAGES_H_INCLUDED
#define IPT_TOOL_MESSAGES_H_INCLUDED

#include <stddef.h>
#include <stdio.h>

enum { EXIT_USAGE = 2 };

/* All functions escape control characters, which file names may contain. */

/* Replaces the progress line: a name, shortened so that the line fits the terminal, then the formatted text. The next
 * message removes the line. */
void message_progress(const char *name, const char *format, ...);

/* Removes the progress line, if any. */
void message_clear_progress(void);

/* Prints a line to a stream. */
void message_print(FILE *stream, const char *format, ...);

/* Prints a warning. */
void message_warn(const char *format, ...);

/* Prints an error and returns the exit code. */
int message_fail(const char *format, ...);

/* Prints an error about the command line and returns the exit code. */
int message_usage_error(const char *format, ...);

/* Replaces names of the library in a sentence by names of the command line. */
void message_translate(const char *sentence, char *text, size_t capacity);

/* Prints ipt's message about the last failure, after "about: " unless about is NULL. Returns the exit code. */
int message_fail_ipt(const char *about);

#endif /* IPT_TOOL_MESSAGES_H_INCLUDED */
