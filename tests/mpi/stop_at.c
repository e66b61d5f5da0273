/* A library for LD_PRELOAD: kills rank STOP_RANK of an MPI job in the middle of its write number STOP_WRITE to a file
 * whose name ends in STOP_NAME. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t pwrite64(int file, const void *memory, size_t bytes, off64_t offset)
{
    static int writes;
    const char *const rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    const char *const stops = getenv("STOP_RANK"), *const number = getenv("STOP_WRITE"),
                      *const end = getenv("STOP_NAME");
    ssize_t (*real)(int, const void *, size_t, off64_t);
    char link[64], name[4096];
    ssize_t length;
    *(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, name, sizeof name - 1);
    name[length > 0 ? length : 0] = 0;
    if (rank && stops && number && end && !strcmp(rank, stops) && strlen(name) >= strlen(end) &&
        !strcmp(name + strlen(name) - strlen(end), end) && ++writes == atoi(number)) {
        real(file, memory, bytes / 2, offset);
        raise(SIGKILL);
    }
    return real(file, memory, bytes, offset);
}

ssize_t pwrite(int file, const void *memory, size_t bytes, off_t offset)
{
    return pwrite64(file, memory, bytes, offset);
}
