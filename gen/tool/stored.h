/* A file's transposition in place, step by step, with marks on the file and a journal beside it. */
#ifndef IPT_TOOL_STORED_H_INCLUDED
#define IPT_TOOL_STORED_H_INCLUDED

#include "arguments.h"
#include "ipt.h"
#include "journal.h"
#include "matrix_file.h"
#include "stopped.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A transposition under way. */
typedef struct stored_work {
    matrix_file *file;
    journal journal;
    stopped_file stopped; /* what was found before the work */
    uint64_t mark, marks; /* that the file gets */
    bool has_journal, warned, sync;
    ipt_plan *plan;
    ipt_plan_desc desc;
    size_t steps, first_step;
    double start;
    char sentence[JOURNAL_MESSAGE_SIZE + 40]; /* what went wrong, if it was not ipt */
} stored_work;

/* Marks the file as one that is being transposed. */
int stored_mark(stored_work *work);

/* Takes the marks from a file none of whose data has changed, and removes the journal. */
void stored_leave_as_it_was(stored_work *work);

/* Makes the file the transposed matrix, takes its marks away, and ends the journal: in this order, so that a kill in
 * between leaves what --resume can end. */
int stored_finish(stored_work *work);

/* What stands before a name on a command line: "-- " if it looks like an option. */
const char *stored_before_name(const char *path);

/* Does the steps that are left, and tells what to do if they could not be done. */
int stored_do_steps(stored_work *work);

/* Reads and checks what there is to transpose, and transposes it. *data_moves: the data, not only the header. */
int stored_start(const arguments *given, stored_work *work, bool *data_moves);

/* Finds out whether the file's transposition was stopped, and refuses it then unless that goes on. */
int stored_look_at_marks(const arguments *given, stored_work *work);

/* Goes on with what a journal tells of. */
int stored_resume(const arguments *given, stored_work *work);

#endif /* IPT_TOOL_STORED_H_INCLUDED */
