/* Messages on stderr: sentences after "ipt: ", and a progress line on a terminal. */
#ifndef IPT_TOOL_MESSAGES_H_INCLUDED
#define IPT_TOOL_MESSAGES_H_INCLUDED

#include <stddef.h>

enum { EXIT_USAGE = 2 };

/* Replaces the progress line. The next message removes it. */
void message_progress(const char *format, ...);

/* Removes the progress line, if any. */
void message_clear_progress(void);

/* Prints a sentence and returns the exit code. */
int message_fail(const char *format, ...);

/* The same for a wrong command line. */
int message_usage_error(const char *format, ...);

/* Replaces the library's names in a sentence by the command line's. */
void message_translate(const char *sentence, char *text, size_t capacity);

/* Prints ipt's message about the last failure, after "about: " unless about is NULL. Returns the exit code. */
int message_fail_ipt(const char *about);

#endif /* IPT_TOOL_MESSAGES_H_INCLUDED */
