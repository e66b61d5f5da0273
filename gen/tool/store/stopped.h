/* Recognises a stopped transposition under every name of the file, by marks on the file itself and by journals that
 * name its inode. A file is marked before its first byte changes, until its last byte has changed. So ipt never accepts
 * a half transposed file as complete and, if there is a NumPy or Netpbm header, neither do other readers.
 *
 * There are two marks: the header's first bytes, which readers of NumPy's files and of pictures refuse, and an extended
 * attribute with the journal's path, where the file system has attributes. Both survive a new name or folder. A copy
 * has only the first mark.
 */
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

/* The state of an open file. */
typedef struct stopped_file {
    uint64_t inode, device;
    bool has_header, header_marked; /* begins with NumPy's or Netpbm's magic, or with the mark; begins with the mark */
    attribute_state attribute;
    uint64_t mark;                         /* number in the attribute */
    char real_path[STOPPED_PATH_SIZE];     /* of the file */
    char noted_journal[STOPPED_PATH_SIZE]; /* path in the attribute; "": none */
    bool without_journal;                  /* the attribute names no journal */
    char own_journal[STOPPED_PATH_SIZE];   /* path of a new journal */
    char journal[STOPPED_PATH_SIZE];       /* path of the journal that names this file; "": none */
    bool other;                            /* another file occupies own_journal */
} stopped_file;

typedef enum left_state {
    LEFT_STOPPED,   /* stopped in the middle: must be resumed */
    LEFT_NOT_BEGUN, /* stopped before any data changed */
    LEFT_ENDED,     /* all data is written, perhaps not the header */
    LEFT_STALE      /* the file had its marks and lost them: the journal is older than the file */
} left_state;

/* Returns a number, not 0, that no two transpositions share. */
uint64_t stopped_new_mark(void);

/* Whether the file system can store the attribute. Tests with a trial attribute. */
bool stopped_keeps_attribute(int descriptor, const char *journal_path);

/* Sets or removes the attribute. false: errno has the reason. */
bool stopped_set_attribute(int descriptor, uint64_t mark, const char *journal_path);
bool stopped_clear_attribute(int descriptor);

/* Fills in *found for an open file. `start`: its first bytes, at most NPY_START_SIZE. false, with a
 * sentence in message (JOURNAL_MESSAGE_SIZE bytes): its name is too long. */
bool stopped_look(const char *path, int descriptor, const void *start, size_t available, stopped_file *found,
                  char *message);

/* Derives the state of the work from an open journal and the file's marks. A header's mark takes precedence. */
left_state stopped_judge(const stopped_file *file, const journal *opened);

#endif /* IPT_TOOL_STOPPED_H_INCLUDED */
