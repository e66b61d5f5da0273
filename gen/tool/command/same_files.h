/* Files that a command line names twice. */
#ifndef IPT_TOOL_SAME_FILES_H_INCLUDED
#define IPT_TOOL_SAME_FILES_H_INCLUDED

#include "arguments.h"

/* Refuses an output that is also an input or another output, under any name. adds: the output may be the file of
 * --wisdom. Returns 0 or the exit code. */
int same_files_check(const arguments *given, bool adds);

#endif /* IPT_TOOL_SAME_FILES_H_INCLUDED */
