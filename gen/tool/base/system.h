/* Functions of the operating system for the tool: system.c for POSIX, system_windows.c for Windows. Functions that fail
 * set errno. Names are UTF-8. */
#ifndef IPT_TOOL_SYSTEM_H_INCLUDED
#define IPT_TOOL_SYSTEM_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prepares the standard streams, and *words, which may be replaced. False: there is no stream for messages. */
bool system_begin(int *count, char ***words);

/* An unpredictable number, different for processes in different containers. */
uint64_t system_random(void);

/* A number that changes only when the machine starts again. 0: unknown. */
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

/* Calls `stop` with a signal's number when the user or the system requests an end. Requests that this process ignored
 * at its start, as under nohup, stay ignored. */
void system_catch_stops(void (*stop)(int));

/* Ends the process with the signal's default action. Callable in `stop`. */
void system_end_by(int number);

/* Restores the signal's default action: the next request ends the process. */
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
bool system_rename(const char *from, const char *to); /* replaces an existing file */

/* Why system_rename cannot replace the existing file at path. NULL: no known reason. */
const char *system_why_not_replaced(const char *path);

/* Whether the path, which is not a link, names this open file. */
bool system_is_at(int file, const char *path);

/* Flushes the list of names of the folder that contains the file `path`. */
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
    uint64_t size, number, device; /* number: identifies the file on its device */
    uint64_t links;                /* number of the file's names */
    uint64_t changed;              /* time of its last change, in nanoseconds since 1970; 0: unknown */
    bool is_file, is_folder, is_writable;
    bool is_own;    /* belongs to this process' user or to the administrator */
    bool is_shared; /* its mode lets other users write to it */
} system_status;

bool system_status_of(int file, system_status *status);
bool system_status_at(const char *path, system_status *status);

/* How to open a file. Programs that the tool starts do not inherit the file. Without SYSTEM_CREATE, opening a pipe does
 * not wait. */
enum {
    SYSTEM_READ = 1,
    SYSTEM_WRITE = 2,
    SYSTEM_CREATE = 4,
    SYSTEM_NEW = 8,      /* fails if the file exists */
    SYSTEM_NO_LINK = 32, /* fails for a link */
    SYSTEM_PRIVATE = 64, /* only this user can access a new file */
    SYSTEM_NO_TERMINAL = 128
};
int system_open(const char *path, unsigned how); /* -1: failed */
bool system_close(int file);
int system_duplicate(int file); /* -1: failed */

/* Opens a new file that only this user can access, for reading and writing. *named: the file has this path. Otherwise
 * it has no name yet, and vanishes with the process. All paths of a process must be in one folder. */
int system_open_draft(const char *path, bool *named);

/* Gives an unnamed draft its path. Fails if the path exists. */
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

/* The rights of the open file `replaced`; if -1, of a new copy of the file `copied`; if both are -1, of a new file. */
system_rights system_find_rights(int replaced, int copied);

/* Sets a private file's rights. An owner that cannot be set stays; no user gets more access than the rights allow. */
void system_give_rights(int file, const system_rights *rights);

/* Return a stream of an open file, or of a file by name. */
FILE *system_stream(int file, const char *mode);
FILE *system_open_stream(const char *path, const char *mode);

void system_wait_for_data(int file); /* makes reads from a pipe wait again */

/* Return the number of bytes, 0 at the end, or -1. */
ptrdiff_t system_read(int file, void *memory, size_t bytes);
ptrdiff_t system_read_at(int file, void *memory, size_t bytes, uint64_t offset);
ptrdiff_t system_write_at(int file, const void *memory, size_t bytes, uint64_t offset);

/* Returns false if another process has locked the file. Systems without locks lock nothing. */
bool system_lock(int file, bool exclusive);

bool system_flush(int file);
bool system_flush_data(int file); /* without the file's time of change */

/* Begins to write these bytes to the disk, and if `wait` waits for the end. Does nothing if the system has no such
 * call. */
void system_write_out(int file, uint64_t offset, size_t bytes, bool wait);

/* Sets the file's size and reserves the disk space. Returns an error number, or 0. */
int system_reserve(int file, size_t bytes);

/* Maps a whole file into memory, for reading and writing. NULL: failed. */
void *system_map(int file, size_t bytes);
void system_unmap(void *mapped, size_t bytes);
bool system_flush_mapped(void *begin, size_t bytes); /* any part of the mapped memory */

#endif /* IPT_TOOL_SYSTEM_H_INCLUDED */
