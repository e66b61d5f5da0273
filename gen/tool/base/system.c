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
#include <time.h>
#include <unistd.h>

/* Opens a placeholder for each closed standard stream. Otherwise a file that is opened later would get the stream's
 * number, and messages would go into the file. Output still fails as on a closed stream; messages are lost. */
static bool system_occupy_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) {
            continue;
        }
        int descriptor = open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR);
        if (descriptor < 0) {
            descriptor = open("/", O_RDONLY); /* a folder: not writable either */
        }
        if (descriptor != stream) {
            return false;
        }
    }
    return true;
}

/* Blocks the signals that this process ignores at its start, as under nohup or `&` in a script, and SIGXFSZ, so that
 * writes at the file size limit return an error. Ignoring the signals does not suffice: compilers in OpenCL's drivers
 * (LLVM) replace all actions. Later threads inherit the blocked signals. */
static void system_block_ignored(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGXFSZ);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN) {
            sigaddset(&blocked, signals[i]);
        }
    }
    sigprocmask(SIG_BLOCK, &blocked, NULL);
}

bool system_begin(int *count, char ***words)
{
    (void)count;
    (void)words;
    if (!system_occupy_streams()) {
        return false;
    }
    system_block_ignored();
    return true;
}

/* Reads bytes of a file that the system provides. */
static bool system_read_special(const char *path, void *memory, size_t bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool good = file >= 0 && system_read(file, memory, bytes) == (ptrdiff_t)bytes;
    if (file >= 0) {
        close(file);
    }
    return good;
}

uint64_t system_random(void)
{
    uint64_t number;
    if (!system_read_special("/dev/urandom", &number, sizeof number)) { /* missing, as in a bare chroot */
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        number = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 40 ^
                 (uint64_t)(uintptr_t)&now << 20;
    }
    return number;
}

uint64_t system_boot(void)
{
    char text[36]; /* hexadecimal digits and hyphens */
    uint64_t number = 0;
    if (system_read_special("/proc/sys/kernel/random/boot_id", text, sizeof text)) {
        for (size_t i = 0; i < sizeof text; i++) {
            number = number * 0x100000001b3u + (unsigned char)text[i];
        }
    }
    return number;
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
        sigaction(signals[i], &action, NULL); /* no effect on blocked signals */
    }
}

void system_end_by(int number)
{
    signal(number, SIG_DFL);
    raise(number);
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

/* Opens the folder of a path with these flags. */
static int system_open_folder_of(const char *path, int flags, mode_t mode)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    return open(slash == NULL ? "." : length == 0 ? "/" : folder, flags | O_CLOEXEC, mode);
}

const char *system_why_not_replaced(const char *path)
{
    struct stat file, folder;
    int descriptor = system_open_folder_of(path, O_RDONLY | O_DIRECTORY, 0);
    bool known = descriptor >= 0 && fstat(descriptor, &folder) == 0 && lstat(path, &file) == 0;
    if (descriptor >= 0) {
        close(descriptor);
    }
#ifdef STATX_ATTR_MOUNT_ROOT
    struct statx found;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &found) == 0) {
        if ((found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) {
            return "it is a mount point of its own, which no other file can replace";
        }
        if ((found.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0) {
            return "its attributes forbid to replace it (lsattr)";
        }
    }
#endif
    if (known && (folder.st_mode & S_ISVTX) != 0 && geteuid() != 0 && file.st_uid != geteuid() &&
        folder.st_uid != geteuid()) {
        return "it belongs to another user, and its folder lets only owners replace files";
    }
    return NULL;
}

bool system_is_at(int file, const char *path)
{
    struct stat opened, named;
    return fstat(file, &opened) == 0 && lstat(path, &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

bool system_flush_folder(const char *path)
{
    int descriptor = system_open_folder_of(path, O_RDONLY | O_DIRECTORY, 0);
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
    taken->links = status->st_nlink;
    taken->changed = (uint64_t)status->st_mtim.tv_sec * 1000000000u + (uint64_t)status->st_mtim.tv_nsec;
    taken->is_own = status->st_uid == geteuid() || status->st_uid == 0;
    taken->is_shared = (status->st_mode & 0022) != 0;
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
    flags |= (how & SYSTEM_NO_LINK) != 0 ? O_NOFOLLOW : 0;
    flags |= (how & SYSTEM_NO_TERMINAL) != 0 ? O_NOCTTY : 0;
    return open(path, flags, (how & SYSTEM_PRIVATE) != 0 ? 0600 : 0666);
}

bool system_close(int file)
{
    return close(file) == 0;
}

int system_duplicate(int file)
{
    return fcntl(file, F_DUPFD_CLOEXEC, 0);
}

int system_open_draft(const char *path, bool *named)
{
#ifdef O_TMPFILE
    char own[40];
    int unnamed = system_open_folder_of(path, O_TMPFILE | O_RDWR, 0600);
    snprintf(own, sizeof own, "/proc/self/fd/%d", unnamed);
    *named = false;
    if (unnamed >= 0 && access(own, F_OK) == 0) {
        return unnamed;
    }
    if (unnamed >= 0) {
        close(unnamed);
    }
#endif
    *named = true;
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

bool system_name_draft(int file, const char *path)
{
    char own[40];
    snprintf(own, sizeof own, "/proc/self/fd/%d", file);
    return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

system_rights system_find_rights(int replaced, int copied)
{
    struct stat status;
    mode_t mask = umask(077);
    system_rights rights = {0, 0, 0666 & ~(unsigned)mask, false};
    umask(mask);
    if (replaced >= 0 && fstat(replaced, &status) == 0) {
        rights.owner = status.st_uid;
        rights.group = status.st_gid;
        rights.mode = (unsigned)status.st_mode & 0777;
        rights.has_owner = true;
    } else if (copied >= 0 && fstat(copied, &status) == 0) {
        rights.mode &= (unsigned)status.st_mode | 0200;
    }
    return rights;
}

void system_give_rights(int file, const system_rights *rights)
{
    unsigned mode = rights->mode;
    if (rights->has_owner && fchown(file, (uid_t)rights->owner, (gid_t)rights->group) != 0 &&
        fchown(file, (uid_t)-1, (gid_t)rights->group) != 0) {
        mode &= 0707 | (mode & 7) << 3; /* another group gets the rights of other users */
    }
    fchmod(file, (mode_t)mode);
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
    int error;
    do {
        error = posix_fallocate(file, 0, (off_t)bytes);
    } while (error == EINTR);
    return error;
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
