#define _GNU_SOURCE /* flock, sync_file_range, SIGXFSZ */

#include "system.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a placeholder for each closed standard stream. Otherwise a file opened later would get the stream's number, and
 * messages would be written into the file. Output still fails as on a closed stream; messages are lost. */
static bool system_occupy_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) {
            continue;
        }
        int descriptor = open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR);
        if (descriptor < 0) {
            descriptor = open("/", O_RDONLY); /* not writable either */
        }
        if (descriptor != stream) {
            return false;
        }
    }
    return true;
}

bool system_begin(int *count, char ***words)
{
    (void)count;
    (void)words;
    if (!system_occupy_streams()) {
        return false;
    }
    signal(SIGXFSZ, SIG_IGN); /* at the file size limit, writes return an error */
    return true;
}

long system_process(void)
{
    return (long)getpid();
}

size_t system_terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

size_t system_resident_bytes(void)
{
    size_t all, resident = 0;
    FILE *stream = fopen("/proc/self/statm", "r");
    if (stream != NULL) {
        if (fscanf(stream, "%zu %zu", &all, &resident) != 2) {
            resident = 0;
        }
        fclose(stream);
    }
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

void *system_library_open(const char *name)
{
    char file[80];
    snprintf(file, sizeof file, "lib%s.so.0", name);
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

void *system_library_find(void *library, const char *function)
{
    return dlsym(library, function);
}

void system_library_close(void *library)
{
    dlclose(library);
}

const char *system_library_error(void)
{
    return dlerror();
}

void system_catch_stops(void (*stop)(int))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action = {0};
        action.sa_handler = stop;
        sigaction(signals[i], &action, NULL);
    }
}

void system_release_stop(int number)
{
    signal(number, SIG_DFL);
}

const char *system_last_separator(const char *path)
{
    return strrchr(path, '/');
}

char *system_real_path(const char *path)
{
    return realpath(path, NULL);
}

bool system_exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

bool system_remove(const char *path)
{
    return unlink(path) == 0;
}

bool system_rename(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

bool system_flush_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    int descriptor = open(slash == NULL ? "." : length == 0 ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = descriptor >= 0 && fsync(descriptor) == 0;
    if (descriptor >= 0) {
        close(descriptor);
    }
    return good;
}

system_folder *system_folder_open(const char *path)
{
    return (system_folder *)opendir(path);
}

const char *system_folder_next(system_folder *folder)
{
    const struct dirent *entry = readdir((DIR *)folder);
    return entry == NULL ? NULL : entry->d_name;
}

void system_folder_close(system_folder *folder)
{
    closedir((DIR *)folder);
}

static bool system_take_status(const struct stat *status, system_status *taken)
{
    taken->size = (uint64_t)status->st_size;
    taken->number = status->st_ino;
    taken->device = status->st_dev;
    taken->is_file = S_ISREG(status->st_mode);
    taken->is_folder = S_ISDIR(status->st_mode);
    taken->is_writable = (status->st_mode & 0222) != 0;
    return true;
}

bool system_status_of(int file, system_status *status)
{
    struct stat found;
    return fstat(file, &found) == 0 && system_take_status(&found, status);
}

bool system_status_at(const char *path, system_status *status)
{
    struct stat found;
    return stat(path, &found) == 0 && system_take_status(&found, status);
}

int system_open(const char *path, unsigned how)
{
    int flags = O_CLOEXEC;
    flags |= (how & SYSTEM_WRITE) == 0 ? O_RDONLY : (how & SYSTEM_READ) == 0 ? O_WRONLY : O_RDWR;
    flags |= (how & SYSTEM_CREATE) != 0 ? O_CREAT : O_NONBLOCK;
    flags |= (how & SYSTEM_NEW) != 0 ? O_EXCL : 0;
    flags |= (how & SYSTEM_EMPTY) != 0 ? O_TRUNC : 0;
    flags |= (how & SYSTEM_NO_LINK) != 0 ? O_NOFOLLOW : 0;
    flags |= (how & SYSTEM_NO_TERMINAL) != 0 ? O_NOCTTY : 0;
    return open(path, flags, (how & SYSTEM_PRIVATE) != 0 ? 0600 : 0666);
}

bool system_close(int file)
{
    return close(file) == 0;
}

FILE *system_stream(int file, const char *mode)
{
    return fdopen(file, mode);
}

FILE *system_open_stream(const char *path, const char *mode)
{
    return fopen(path, mode);
}

void system_wait_for_data(int file)
{
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
}

ptrdiff_t system_read(int file, void *memory, size_t bytes)
{
    ssize_t got;
    do {
        got = read(file, memory, bytes);
    } while (got < 0 && errno == EINTR);
    return got;
}

ptrdiff_t system_read_at(int file, void *memory, size_t bytes, uint64_t offset)
{
    ssize_t got;
    do {
        got = pread(file, memory, bytes, (off_t)offset);
    } while (got < 0 && errno == EINTR);
    return got;
}

ptrdiff_t system_write_at(int file, const void *memory, size_t bytes, uint64_t offset)
{
    ssize_t put;
    do {
        put = pwrite(file, memory, bytes, (off_t)offset);
    } while (put < 0 && errno == EINTR);
    return put;
}

bool system_lock(int file, bool exclusive)
{
    return flock(file, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool system_flush(int file)
{
    return fsync(file) == 0;
}

bool system_flush_data(int file)
{
    return fdatasync(file) == 0;
}

void system_write_out(int file, uint64_t offset, size_t bytes, bool wait)
{
#ifdef SYNC_FILE_RANGE_WRITE
    sync_file_range(file, (off_t)offset, (off_t)bytes,
                    SYNC_FILE_RANGE_WRITE | (wait ? SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WAIT_AFTER : 0));
#else
    (void)file, (void)offset, (void)bytes, (void)wait;
#endif
}

int system_reserve(int file, size_t bytes)
{
    return posix_fallocate(file, 0, (off_t)bytes);
}

void *system_map(int file, size_t bytes)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

void system_unmap(void *mapped, size_t bytes)
{
    munmap(mapped, bytes);
}

bool system_flush_mapped(void *begin, size_t bytes)
{
    size_t within = (uintptr_t)begin % (size_t)sysconf(_SC_PAGESIZE);
    return msync((unsigned char *)begin - within, within + bytes, MS_SYNC) == 0;
}
