/* Transposes a file into another file: --output. */
#ifndef IPT_TOOL_OUTPUT_H_INCLUDED
#define IPT_TOOL_OUTPUT_H_INCLUDED

#include "stored.h"

/* Transposes the open and recognised file into the file of --output, under a temporary name until it is complete. The
 * input stays unchanged. Prints errors. Returns 0 or the exit code. */
int output_transpose(const file_task *task, stored_work *work, bool *data_moves);

#endif /* IPT_TOOL_OUTPUT_H_INCLUDED */
