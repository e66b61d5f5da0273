/* A library for LD_PRELOAD that simulates a file system without unnamed files (O_TMPFILE), such as NFS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

static int named_open(const char *function, const char *path, int flags, int mode)
{
    int (*real)(const char *, int, ...);
    void *const found = dlsym(RTLD_NEXT, function);
    memcpy(&real, &found, sizeof real);
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return real(path, flags, mode);
}

#define NAMED_OPEN(function)                                                                                           \
    int function(const char *path, int flags, ...)                                                                     \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        const int mode = (flags & O_CREAT) ? va_arg(rest, int) : 0;                                                    \
        va_end(rest);                                                                                                  \
        return named_open(#function, path, flags, mode);                                                               \
    }
NAMED_OPEN(open)
NAMED_OPEN(open64)
