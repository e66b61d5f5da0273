/* Messages on stderr: sentences after "ipt: ", and a progress line on a terminal. */
#ifndef IPT_TOOL_MESSAGES_H_INCLUDED
#define IPT_TOOL_MESSAGES_H_INCLUDED

#include <stddef.h>
#include <stdio.h>

enum { EXIT_USAGE = 2 };

/* All functions show control characters escaped, as file names may have them. */

/* Replaces the progress line: a name, shortened so that the line fits the terminal, and what follows it. The next
 * message removes the line. */
void message_progress(const char *name, const char *format, ...);

/* Removes the progress line, if any. */
void message_clear_progress(void);

/* Prints a line to a stream. */
void message_print(FILE *stream, const char *format, ...);

/* Prints a sentence that is no failure. */
void message_warn(const char *format, ...);

/* Prints a sentence and returns the exit code. */
int message_fail(const char *format, ...);

/* Prints a sentence about a wrong command line and returns the exit code. */
int message_usage_error(const char *format, ...);

/* Replaces the library's names in a sentence by the command line's. */
void message_translate(const char *sentence, char *text, size_t capacity);

/* Prints ipt's message about the last failure, after "about: " unless about is NULL. Returns the exit code. */
int message_fail_ipt(const char *about);

#endif /* IPT_TOOL_MESSAGES_H_INCLUDED */
