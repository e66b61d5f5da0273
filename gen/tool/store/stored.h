/* Transposes a file in place, step by step, with marks on the file and a journal beside it. */
#ifndef IPT_TOOL_STORED_H_INCLUDED
#define IPT_TOOL_STORED_H_INCLUDED

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
    stopped_file stopped; /* state of the file before the work */
    uint64_t mark, marks; /* number in the marks; bits of the marks */
    bool has_journal, warned, sync;
    bool is_copy; /* the file is a copy for --output: without marks and journal, removed after an error */
    ipt_plan *plan;
    ipt_plan_desc desc;
    size_t steps, first_step;
    double start;
    char sentence[JOURNAL_MESSAGE_SIZE + 40]; /* the first error outside ipt; "": none */
} stored_work;

/* journal_job.host_memory of a journal with the whole result: see ranks.c. Other journals have a plan's limit. */
#define STORED_RESULT ((uint64_t)0)

/* The task as the journal stores it, without a plan's numbers. */
journal_job stored_describe(const stored_work *work);

/* The sample: the file's bytes at some places, in the journal. Before ipt writes a byte, the sample marks it as
 * unknown, and afterwards as known again. So after a kill at any moment the sample fits the file, unless another
 * program has written to it. These functions return 0, or an exit code after a message. */

/* Reads the whole sample. Call before the first write, also of a resumption. */
int stored_sample_take(stored_work *work);

/* Call before and after a write of `bytes` bytes at `offset` in the data. */
void stored_sample_forget(const stored_work *work, size_t offset, size_t bytes);
void stored_sample_note(const stored_work *work, size_t offset, size_t bytes, const void *memory);

/* Records the file's time of change. Call after the last write before a stop. */
void stored_sample_end(stored_work *work);

/* Refuses a file that has changed since its transposition stopped. */
int stored_sample_check(const stored_work *work, const char *place);

/* Marks the file as one that is being transposed. */
int stored_mark(stored_work *work);

/* Removes the marks and the journal of a file whose data is unchanged. */
void stored_leave_as_it_was(stored_work *work);

/* Writes the new header, removes the marks, then the journal. In this sequence, --resume can finish after a kill at any
 * point. */
int stored_finish(stored_work *work);

/* "-- " if path would look like an option on a command line, else "". */
const char *stored_before_name(const char *path);

/* Makes a request to stop end the work only after the current step. Call before the journal is created. */
void stored_catch_stops(void);

/* The number of the signal that has requested a stop. 0: none. */
int stored_stop_signal(void);

/* Executes the remaining steps. On failure prints how to continue. */
int stored_do_steps(stored_work *work);

/* Checks a file and transposes it. *data_moves: data changes place, not only the header. */
int stored_start(const file_task *task, stored_work *work, bool *data_moves);

/* Looks for a stopped transposition of the file. Refuses such a file without --resume. */
int stored_look_at_marks(const file_task *task, stored_work *work);

/* Resumes the transposition in a journal. */
int stored_resume(const file_task *task, stored_work *work);

#endif /* IPT_TOOL_STORED_H_INCLUDED */
