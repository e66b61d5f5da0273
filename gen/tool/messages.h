/* What the tool says on stderr: sentences behind "ipt: ", and one line that shows progress on a terminal. */
#ifndef IPT_TOOL_MESSAGES_H_INCLUDED
#define IPT_TOOL_MESSAGES_H_INCLUDED

#include <stddef.h>

enum { EXIT_USAGE = 2 };

/* Shows a line in the place of the one before. The next message removes it. */
void message_progress(const char *format, ...);

/* Removes the line that message_progress has shown, if there is one. */
void message_clear_progress(void);

/* Prints a sentence and returns the exit code. */
int message_fail(const char *format, ...);

/* The same for a wrong command line. */
int message_usage_error(const char *format, ...);

/* Puts the library's sentence into the command line's words. */
void message_translate(const char *sentence, char *text, size_t capacity);

/* Prints what ipt says about the last failure, behind what it is about, which may be NULL. Returns the exit code. */
int message_fail_ipt(const char *about);

#endif /* IPT_TOOL_MESSAGES_H_INCLUDED */
