/* The functions of POSIX that the tests use, for Windows. Included before each test file. Functions without a
 * counterpart on Windows skip the test and name the reason. */
#ifndef POSIX_H_INCLUDED
#define POSIX_H_INCLUDED

#define _FILE_OFFSET_BITS 64
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <direct.h>
#include <dirent.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { SIGHUP = 1, SIGQUIT = 3, SIGKILL = 9, SIGALRM = 14, SIGCONT = 18, SIGSTOP = 19, SIGXFSZ = 25 };
enum { _SC_PAGESIZE = 30, _SC_NPROCESSORS_ONLN = 84, _SC_AVPHYS_PAGES = 86 };
enum { O_CLOEXEC = 0, O_NONBLOCK = 0 };

/* As on POSIX, paths are UTF-8 and files are binary. */
struct posix_stat {
    unsigned st_mode, st_nlink, st_uid, st_gid;
    unsigned long long st_dev, st_ino;
    off_t st_size;
    time_t st_mtime;
    struct timespec st_mtim;
};
int posix_stat(const char *path, struct posix_stat *status);
int posix_fstat(int file, struct posix_stat *status);
int posix_mkdir(const char *path, int mode);
int posix_chmod(const char *path, int mode); /* skips the test if the mode gives other users rights */
int posix_dup2(int from, int to);
int posix_open(const char *path, int flags, ...);
int posix_remove(const char *path);
int posix_unlink(const char *path);
int posix_access(const char *path, int mode);
FILE *posix_fopen(const char *path, const char *mode);
int posix_rename(const char *from, const char *to);
FILE *posix_tmpfile(void); /* in TMPDIR */
typedef struct posix_folder posix_folder;
struct posix_entry {
    char d_name[800];
};
posix_folder *posix_opendir(const char *path);
struct posix_entry *posix_readdir(posix_folder *folder);
int posix_closedir(posix_folder *folder);
#define DIR posix_folder
#define dirent posix_entry
#define opendir posix_opendir
#define readdir posix_readdir
#define closedir posix_closedir
#define truncate truncate64
#undef stat
#undef fstat
#define stat posix_stat
#define lstat posix_stat
#define fstat posix_fstat
#define mkdir posix_mkdir
#define chmod posix_chmod
#define dup2 posix_dup2
#define open posix_open
#define remove posix_remove
#define unlink posix_unlink
#define access posix_access
#define fopen posix_fopen
#define rename posix_rename
#define tmpfile posix_tmpfile
#define S_ISLNK(mode) 0

int setenv(const char *name, const char *value, int replace); /* an empty value removes the variable */
int unsetenv(const char *name);
unsigned alarm(unsigned seconds); /* does nothing: the script limits the time of a subject */
long sysconf(int name);
char *mkdtemp(char *path);
char *realpath(const char *path, char *resolved);
void *memmem(const void *bytes, size_t count, const void *wanted, size_t length);
ssize_t pread(int file, void *bytes, size_t count, off_t offset);
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset);
int scandir(const char *folder, struct dirent ***names, int (*wanted)(const struct dirent *),
            int (*before)(const struct dirent **, const struct dirent **));
int alphasort(const struct dirent **one, const struct dirent **other);

/* These functions skip the test. */
typedef struct siginfo_t {
    pid_t si_pid;
    int si_code, si_status;
} siginfo_t;
typedef int id_t;
enum { P_PID = 1, WEXITED = 4, WNOWAIT = 8 };
int waitid(int kind, id_t process, siginfo_t *info, int options);
pid_t fork(void);
int kill(pid_t process, int number);
int mkfifo(const char *path, int mode);
int symlink(const char *to, const char *path);
int posix_link(const char *from, const char *to);
#define link posix_link
int geteuid(void);
typedef unsigned uid_t, gid_t;
int chown(const char *path, uid_t owner, gid_t group);
int futimens(int file, const struct timespec times[2]);
struct sigaction {
    void (*sa_handler)(int);
};
int sigaction(int number, const struct sigaction *action, struct sigaction *before);
int execl(const char *path, const char *word, ...);

#endif
