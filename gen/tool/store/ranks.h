/* ipt transpose --mpi: one file, moved by the ranks of an MPI job. */
#ifndef IPT_TOOL_RANKS_H_INCLUDED
#define IPT_TOOL_RANKS_H_INCLUDED

#include "matrix_file.h"

/* Moves the file's matrix or array. All ranks must call this; rank 0 reports. Returns the same exit code on all ranks.
 * A build without MPI refuses. */
int ranks_transpose(const file_task *task);

#endif /* IPT_TOOL_RANKS_H_INCLUDED */
