/* The journal of a file that is being transposed in place, step by step: what has to be known to go on after the
 * process was killed, or the machine stopped, at any moment. The promise: whoever opens a journal gets the whole truth
 * about the work, or a sentence why not; nothing of the file is overwritten before the journal holds what replaces it.
 *
 * The journal is a file beside the other one, mapped into memory: a head, which never changes, a page with the state,
 * a table of what each step has prepared, with its sum, and the memory in which steps are prepared. What is prepared
 * there is in the journal thereby, and outlives the process; with `sync` it is flushed to the disk at each step, and
 * outlives the machine. */
#ifndef IPT_TOOL_JOURNAL_H_INCLUDED
#define IPT_TOOL_JOURNAL_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JOURNAL_PAGE = 4096,
    JOURNAL_TEXT_SIZE = 1024,
    JOURNAL_MESSAGE_SIZE = 1000,
    JOURNAL_ENTRY_STEP = 512,                     /* a sector each, so that one that was cut short leaves the other */
    JOURNAL_MARKED_PLACE = 2 * JOURNAL_ENTRY_STEP /* of the number of journal_note_marks */
};
#define JOURNAL_MAGIC "ipt journal 3\n\0" /* the version with it */
#define JOURNAL_MAGIC_ANY 12              /* bytes of it that all versions share */
#define JOURNAL_SUFFIX ".ipt-journal"

#define JOURNAL_MAGIC "ipt journal 3\n\0" /* the version with it */
#define JOURNAL_MAGIC_ANY 12              /* bytes of it that all versions share */
#define JOURNAL_SUFFIX ".ipt-journal"

/* The numbers of the head. X(name) */
#define JOURNAL_NUMBER_LIST(X)                                                                                         \
    X(inode) /* the first number in every version */                                                                   \
    X(device)                                                                                                          \
    X(mark)  /* the number that the file's marks hold: see stopped.h */                                                \
    X(marks) /* which the file has got */                                                                              \
    X(file_size)                                                                                                       \
    X(data_offset) /* bytes of each of the two headers that follow */                                                  \
    X(rows)                                                                                                            \
    X(cols)                                                                                                            \
    X(elem_size)                                                                                                       \
    X(batch)                                                                                                           \
    X(move)                                                                                                            \
    X(host_memory)  /* of the plan */                                                                                  \
    X(memory_bytes) /* that follow the table */                                                                        \
    X(steps)        /* of the plan: entries of the table */                                                            \
    X(ipt_version)

/* What is done to the file. The journal's head begins with it, behind the magic. */
typedef struct journal_job {
#define JOURNAL_NUMBER(name) uint64_t name;
    JOURNAL_NUMBER_LIST(JOURNAL_NUMBER)
#undef JOURNAL_NUMBER
    char expression[JOURNAL_TEXT_SIZE], expression_type[JOURNAL_TEXT_SIZE]; /* "": none */
    char file[JOURNAL_TEXT_SIZE]; /* its real path when the work began, for messages; "": it was too long */
} journal_job;

typedef struct journal_head {
    char magic[16];
    uint64_t head_bytes; /* with the headers and the sum of all before it */
    journal_job job;
} journal_head;

/* How far it is: one of two, the other one is the state before. */
typedef struct journal_entry {
    uint64_t ready; /* steps */
    uint64_t ended; /* 1: all steps are written */
    uint64_t piece; /* sum of the last one's piece */
    uint64_t check; /* sum of all before */
} journal_entry;

/* What a step has prepared in memory. */
typedef struct journal_piece {
    uint64_t offset, bytes;
    uint64_t sum; /* of its content */
} journal_piece;

typedef struct journal {
    char path[4096];
    int descriptor;
    unsigned char *mapped;
    size_t mapped_bytes;
    journal_head *head;
    unsigned char *before,
        *after; /* the file's header, as it was and as it will be: head->job.data_offset bytes each */
    unsigned char *state;
    journal_piece *pieces; /* head->job.steps */
    unsigned char *memory;
    uint64_t ready;
    bool marked; /* the file had got its marks */
    bool ended, sync;
} journal;

/* Fletcher's sums, by words of 64 bits in four lanes, which is as fast as memory. Against damage, not against an enemy,
 * who could write a right one. */
uint64_t journal_sum(const void *bytes, size_t count);

/* Writes an entry of the state, with its sum. */
void journal_write_entry(journal *its, const journal_entry *wanted);

/* Unmaps and closes; `done`: nobody needs it any more. */
void journal_close(journal *its, bool done);

/* All functions below that return false put a sentence into message, JOURNAL_MESSAGE_SIZE bytes. */

bool journal_fail(char *message, const char *format, ...);

/* The journal's place for a file. */
bool journal_name(char *path, size_t capacity, const char *file, char *message);

/* Makes the journal at path, whole and with all its room on the disk, or not at all. headers: the file's header as it
 * was and as it will be. */
bool journal_create(journal *made, const char *path, const journal_job *job, const void *const headers[2], bool sync,
                    char *message);

/* Whether a step's piece is as it was when the step was ready. */
bool journal_check_piece(const journal *its, uint64_t step, char *message);

/* Opens what journal_create has made. */
bool journal_open(journal *found, const char *path, bool sync, char *message);

/* Notes that the file has its marks, or no longer has them. Without this note a journal of no step cannot tell a file
 * that is not yet marked from one that is not marked any more. */
bool journal_note_marks(journal *its, bool marked, char *message);

/* Notes that a step is ready, which has prepared `bytes` bytes at content in the journal's memory. */
bool journal_note(journal *its, int file, uint64_t step, const void *content, size_t bytes, char *message);

/* Notes that all steps are written, so that a journal that stays by accident tells that its work has ended. */
bool journal_end(journal *its, int file, char *message);

#endif /* IPT_TOOL_JOURNAL_H_INCLUDED */
