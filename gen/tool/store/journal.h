/* The journal of a file that is transposed in place, step by step. The journal contains all that a resumption needs
 * after a kill of the process, or a stop of the machine, at any moment. Opening a journal returns the complete state of
 * the work, or an error. No byte of the file is overwritten before the journal contains the new byte.
 *
 * The journal is a file beside the matrix file, mapped into memory. It consists of a constant head, a page with the
 * state, a sample of the file, a table of the pieces that each step has prepared, with checksums, and the memory in
 * which steps prepare them. The pieces therefore survive the process. With `sync` each step is flushed to the disk and
 * survives the machine.
 *
 * A journal contains pieces of the matrix file, and is written into this file. So only the user can access the journal,
 * it never replaces another file, and it is opened only if no other user can have written to it. */
#ifndef IPT_TOOL_JOURNAL_H_INCLUDED
#define IPT_TOOL_JOURNAL_H_INCLUDED

#include "ipt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JOURNAL_PAGE = 4096,
    JOURNAL_TEXT_SIZE = 1024,
    JOURNAL_MESSAGE_SIZE = 1000,
    JOURNAL_ENTRY_STEP = 512,                       /* bytes, a sector: a torn write spares the other entry */
    JOURNAL_MARKED_PLACE = 2 * JOURNAL_ENTRY_STEP,  /* offset of journal_note_marks' number */
    JOURNAL_CHANGED_PLACE = 3 * JOURNAL_ENTRY_STEP, /* offset of the file's time of change after a stop; 0: unknown */
    JOURNAL_BOOT_PLACE = 4 * JOURNAL_ENTRY_STEP,    /* offset of a valid sample's system_boot; 0: any */
    JOURNAL_PROBES = 256,                           /* places of the sample */
    JOURNAL_PROBE_BYTES = JOURNAL_PAGE / JOURNAL_PROBES
};
#define JOURNAL_MAGIC "ipt journal 6\n\0"      /* contains the version */
#define JOURNAL_MAGIC_ANY 12                   /* bytes that all versions have in common */
#define JOURNAL_MAGIC_BEGUN "ipt unfinished\n" /* of an incomplete journal */
#define JOURNAL_SUFFIX ".ipt-journal"

/* The numbers of the head. X(name) */
#define JOURNAL_NUMBER_LIST(X)                                                                                         \
    X(inode) /* the first number in every version */                                                                   \
    X(device)                                                                                                          \
    X(mark)  /* the number in the file's marks: see stopped.h */                                                       \
    X(marks) /* which marks the file has */                                                                            \
    X(file_size)                                                                                                       \
    X(data_offset) /* bytes of each of the two headers that follow */                                                  \
    X(rows)                                                                                                            \
    X(cols)                                                                                                            \
    X(elem_size)                                                                                                       \
    X(rank) /* 0: rows and cols */                                                                                     \
    X(batch)                                                                                                           \
    X(move)                                                                                                            \
    X(host_memory)  /* of the plan */                                                                                  \
    X(memory_bytes) /* of the memory after the table */                                                                \
    X(steps)        /* of the plan: also the table's entries */                                                        \
    X(ipt_version)

/* The task: a part of the journal's head. */
typedef struct journal_job {
#define JOURNAL_NUMBER(name) uint64_t name;
    JOURNAL_NUMBER_LIST(JOURNAL_NUMBER)
#undef JOURNAL_NUMBER
    uint64_t lengths[IPT_MAX_RANK], axes[IPT_MAX_RANK];                     /* of an array */
    char expression[JOURNAL_TEXT_SIZE], expression_type[JOURNAL_TEXT_SIZE]; /* "": none */
    char file[JOURNAL_TEXT_SIZE]; /* its real path at the start, for messages; "": too long */
} journal_job;

typedef struct journal_head {
    char magic[16];
    uint64_t head_bytes; /* of the head, both headers and the checksum of all of these */
    journal_job job;
} journal_head;

/* The state. There are two entries: the current one and the one before. */
typedef struct journal_entry {
    uint64_t ready; /* completed steps */
    uint64_t ended; /* 1: all steps are written */
    uint64_t piece; /* checksum of the last step's entry in the table */
    uint64_t check; /* checksum of the fields above */
} journal_entry;

/* The piece of memory that a step has prepared. */
typedef struct journal_piece {
    uint64_t offset, bytes;
    uint64_t sum; /* checksum of its content */
} journal_piece;

typedef struct journal {
    char path[4096];
    int descriptor;
    unsigned char *mapped;
    size_t mapped_bytes;
    journal_head *head;
    unsigned char *before,
        *after; /* the file's header before and after the transposition: head->job.data_offset bytes each */
    unsigned char *state;
    unsigned char *sample, *known; /* a page each: the bytes of all probes; 1: this byte of the sample is valid */
    journal_piece *pieces;         /* head->job.steps */
    unsigned char *memory;
    uint64_t ready;
    bool marked; /* the file has its marks */
    bool ended, sync;
} journal;

/* Fletcher's checksum over words of 64 bits, in four lanes, at the speed of memory. It detects damage, not forgery. */
uint64_t journal_sum(const void *bytes, size_t count);

/* Reverses the bytes of a number. Journals have numbers in the byte order of their machine. */
uint64_t journal_reverse(uint64_t number);

/* Writes an entry of the state, with its checksum. */
void journal_write_entry(journal *its, const journal_entry *wanted);

/* Unmaps and closes the journal. `done`: also removes the journal, if it still exists. */
void journal_close(journal *its, bool done);

/* All functions below that return false put a sentence into message, JOURNAL_MESSAGE_SIZE bytes. */

bool journal_fail(char *message, const char *format, ...);

/* The path of a file's journal, in the file's folder. A long name is shortened, and a checksum makes it unique. */
bool journal_name(char *path, size_t capacity, const char *file, char *message);

/* Creates a journal at path and reserves its disk space. Fails if the path exists. headers: the file's header before
 * and after the transposition. The magic is written last: if the process is killed before, an unfinished journal
 * remains. */
bool journal_create(journal *made, const char *path, const journal_job *job, const void *const headers[2], bool sync,
                    char *message);

/* Removes an unfinished journal, which contains no work. Returns whether there was one. */
bool journal_clear_unfinished(const char *path);

/* Whether a step's piece is unchanged since journal_note. */
bool journal_check_piece(const journal *its, uint64_t step, char *message);

/* Read or write a number of the state. `place`: its offset in the state. */
uint64_t journal_number(const journal *its, size_t place);
bool journal_note_number(journal *its, size_t place, uint64_t number, char *message);

/* Opens and checks a journal. Refuses a journal that another user can have written. */
bool journal_open(journal *found, const char *path, bool sync, char *message);

/* Records whether the file has its marks. Without this record, a journal without steps could not distinguish a file
 * that is not marked yet from a file that has lost its marks. */
bool journal_note_marks(journal *its, bool marked, char *message);

/* Records a step, which has prepared `bytes` bytes at content in the journal's memory. */
bool journal_note(journal *its, int file, uint64_t step, const void *content, size_t bytes, char *message);

/* Records that all steps are written. If the journal remains by accident, it shows that its work has ended. */
bool journal_end(journal *its, int file, char *message);

#endif /* IPT_TOOL_JOURNAL_H_INCLUDED */
