/* Transposes, rotates or reflects a picture in memory: for inputs or outputs that must be decoded or encoded. */
#ifndef IPT_TOOL_PICTURE_MOVE_H_INCLUDED
#define IPT_TOOL_PICTURE_MOVE_H_INCLUDED

#include "draft.h"
#include "matrix_file.h"

/* Reads a picture from an open and recognised file, moves it and writes it in the given format to the draft. Prints
 * an error. Returns 0 or the exit code. */
int picture_move(const file_task *task, matrix_file *file, picture_format format, const draft *made);

#endif /* IPT_TOOL_PICTURE_MOVE_H_INCLUDED */
