/* What the tool needs of the operating system. system.c has it for POSIX, system_windows.c for Windows. Functions that
 * fail set errno. Names are UTF-8. */
#ifndef IPT_TOOL_SYSTEM_H_INCLUDED
#define IPT_TOOL_SYSTEM_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prepares the standard streams, and *words, which it may replace. Returns false if no stream is left for messages. */
bool system_begin(int *count, char ***words);

/* A number that no one can guess, and that processes in different containers do not share. */
uint64_t system_random(void);

/* A number that stays until the machine starts again. 0: unknown. */
uint64_t system_boot(void);

/* The columns of the terminal that is standard error; 80 if it is unknown. */
size_t system_terminal_width(void);

/* Bytes of memory that this process occupies; 0: unknown. */
size_t system_resident_bytes(void);

/* Loads the shared library of this name, such as "openblas", and finds a function in it. NULL: failed. */
void *system_library_open(const char *name);
void *system_library_find(void *library, const char *function);
void system_library_close(void *library);
const char *system_library_error(void); /* of the last system_library_open */

/* Calls `stop` with a signal's number when the user or the system requests an end. Requests that this process was
 * started to ignore, as by nohup, stay ignored. */
void system_catch_stops(void (*stop)(int));

/* Ends the process as the request with this number does by default. For `stop` itself. */
void system_end_by(int number);

/* The next request with this number ends the process at once. */
void system_release_stop(int number);

/* ------------------------------------------------------------------------------------------------------------------ */
/* Names */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The last separator of folders in a path, or NULL. */
const char *system_last_separator(const char *path);

/* The whole path, links resolved, with the separator '/'. NULL if there is no such file. The caller frees it. */
char *system_real_path(const char *path);

bool system_exists(const char *path); /* a link counts as itself */
bool system_remove(const char *path);
bool system_rename(const char *from, const char *to); /* replaces a file there */

/* The reason why system_rename cannot replace the file there, which exists. NULL: none is known. */
const char *system_why_not_replaced(const char *path);

/* Whether the path, which is not a link, names this open file. */
bool system_is_at(int file, const char *path);

/* Flushes a folder's list of names. `path` is of a file in it. */
bool system_flush_folder(const char *path);

/* Lists a folder's names. NULL: it cannot be read, or the end. */
typedef struct system_folder system_folder;
system_folder *system_folder_open(const char *path);
const char *system_folder_next(system_folder *folder);
void system_folder_close(system_folder *folder);

/* ------------------------------------------------------------------------------------------------------------------ */
/* Files */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct system_status {
    uint64_t size, number, device; /* number: the file's own on its device */
    uint64_t links;                /* names of the file */
    uint64_t changed;              /* time of its last change, in nanoseconds since 1970; 0: unknown */
    bool is_file, is_folder, is_writable;
    bool is_own;    /* belongs to this process' user or to the administrator */
    bool is_shared; /* its mode lets other users write to it */
} system_status;

bool system_status_of(int file, system_status *status);
bool system_status_at(const char *path, system_status *status);

/* How to open a file. Programs that the tool starts do not inherit it. Without SYSTEM_CREATE, opening a pipe does not
 * wait. */
enum {
    SYSTEM_READ = 1,
    SYSTEM_WRITE = 2,
    SYSTEM_CREATE = 4,
    SYSTEM_NEW = 8,      /* fails if the file exists */
    SYSTEM_NO_LINK = 32, /* fails for a link */
    SYSTEM_PRIVATE = 64, /* a new file is this user's alone */
    SYSTEM_NO_TERMINAL = 128
};
int system_open(const char *path, unsigned how); /* -1: failed */
bool system_close(int file);
int system_duplicate(int file); /* -1: failed */

/* Opens a new file, this user's alone, for reading and writing. *named: it has the path now. Otherwise it has no name
 * yet, and vanishes with the process. Paths of one folder only. */
int system_open_draft(const char *path, bool *named);

/* Gives such a file its name. Fails if a file is there. */
bool system_name_draft(int file, const char *path);

enum {
#ifdef _WIN32
    SYSTEM_REPLACES_OPEN = 0
#else
    SYSTEM_REPLACES_OPEN = 1 /* system_rename replaces files that are open */
#endif
};

/* Who may use a file. */
typedef struct system_rights {
    uint64_t owner, group;
    unsigned mode;
    bool has_owner;
} system_rights;

/* The rights of the open file `replaced`, or -1: of a new copy of the open file `copied`, or -1: of a new file. */
system_rights system_find_rights(int replaced, int copied);

/* Gives a private file these rights. An owner that cannot be given stays; nobody gets more than the rights allow. */
void system_give_rights(int file, const system_rights *rights);

/* A stream of an open file, and of a file by name. */
FILE *system_stream(int file, const char *mode);
FILE *system_open_stream(const char *path, const char *mode);

void system_wait_for_data(int file); /* reads from a pipe wait again */

/* Return the number of bytes, 0 at the end, or -1. */
ptrdiff_t system_read(int file, void *memory, size_t bytes);
ptrdiff_t system_read_at(int file, void *memory, size_t bytes, uint64_t offset);
ptrdiff_t system_write_at(int file, const void *memory, size_t bytes, uint64_t offset);

/* Returns false if another process has locked it. Systems without locks lock nothing. */
bool system_lock(int file, bool exclusive);

bool system_flush(int file);
bool system_flush_data(int file); /* without its time of change */

/* Begins to write these bytes to the disk, and waits until they are there if `wait`. Does nothing where a system has no
 * such call. */
void system_write_out(int file, uint64_t offset, size_t bytes, bool wait);

/* Gives the file its size, on the disk as well. Returns an error number, or 0. */
int system_reserve(int file, size_t bytes);

/* Maps a whole file into memory, for reading and writing. NULL: failed. */
void *system_map(int file, size_t bytes);
void system_unmap(void *mapped, size_t bytes);
bool system_flush_mapped(void *begin, size_t bytes); /* any part of the mapped memory */

#endif /* IPT_TOOL_SYSTEM_H_INCLUDED */
