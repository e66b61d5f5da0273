/* What tells that a file's transposition was stopped, whatever name the file goes by: marks on the file itself, and
 * journals that name its inode. The promise: a file is marked from before its first byte changes until after its last
 * one has, so that neither ipt nor, with a NumPy header, any other reader takes a half transposed file for a whole one.
 *
 * The marks are the header's first bytes, which NumPy's readers refuse, and an extended attribute where the file system
 * has them, which goes wherever the inode goes and leads to the journal. A copy keeps the first, a name or a folder of
 * its own changes neither. */
#ifndef IPT_TOOL_STOPPED_H_INCLUDED
#define IPT_TOOL_STOPPED_H_INCLUDED

#include "journal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STOPPED_PATH_SIZE = 4096 };

/* The marks, as bits. */
enum { MARK_HEADER = 1, MARK_ATTRIBUTE = 2 };

typedef enum attribute_state { ATTRIBUTE_NONE, ATTRIBUTE_SET, ATTRIBUTE_UNKNOWN } attribute_state;

/* What is found out about an open file. */
typedef struct stopped_file {
    uint64_t inode, device;
    bool has_header, header_marked; /* it begins as a NumPy file, or with the mark of one */
    attribute_state attribute;
    uint64_t mark;                         /* the attribute's number */
    char real_path[STOPPED_PATH_SIZE];     /* of the file */
    char noted_journal[STOPPED_PATH_SIZE]; /* where the attribute says it is; "": nowhere */
    bool without_journal;                  /* the attribute says that there is none */
    char own_journal[STOPPED_PATH_SIZE];   /* where a new one lies */
    char journal[STOPPED_PATH_SIZE];       /* the one that is this file's; "": none is found */
    bool other;                            /* something else lies in the new one's place */
} stopped_file;

typedef enum left_state {
    LEFT_STOPPED,   /* in the middle: it has to go on */
    LEFT_NOT_BEGUN, /* before a byte of the data changed */
    LEFT_ENDED,     /* with all of the data written; perhaps not the header */
    LEFT_STALE      /* the file has lost the marks that it had got: the journal is from before */
} left_state;

/* A number that no two transpositions share; not 0. */
uint64_t stopped_new_mark(uint64_t inode, uint64_t device);

/* Whether the file system keeps such an attribute, tried with another one. */
bool stopped_keeps_attribute(int descriptor, const char *journal_path);

/* Sets the attribute; removes it. false: errno says why. */
bool stopped_set_attribute(int descriptor, uint64_t mark, const char *journal_path);
bool stopped_clear_attribute(int descriptor);

/* Finds out all about an open file. `start`: its first bytes, as many as there are up to NPY_START_SIZE. false, with a
 * sentence in message (JOURNAL_MESSAGE_SIZE bytes): its name is too long. */
bool stopped_look(const char *path, int descriptor, const void *start, size_t available, stopped_file *found,
                  char *message);

/* What a file's journal, opened, and its marks say together. Where there is a header, its mark decides. */
left_state stopped_judge(const stopped_file *file, const journal *opened);

#endif /* IPT_TOOL_STOPPED_H_INCLUDED */
