#include "posix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "skip.h"
#include <fnmatch.h>
#include <poll.h>
#include <pty.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <windows.h>

#undef stat
#undef fstat
#undef chmod
#undef dup2
#undef remove
#undef unlink
#undef fopen
#undef rename
#undef open

enum { WIDE = 4096 };

static const wchar_t *wide(const char *path, wchar_t room[WIDE])
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, room, WIDE) > 0 ? room : L"";
}

int fnmatch(const char *pattern, const char *text, int flags)
{
    if (*pattern == '*')
        return fnmatch(pattern + 1, text, flags) && (!*text || fnmatch(pattern, text + 1, flags));
    if (!*pattern || !*text)
        return *pattern != *text;
    return (*pattern != '?' && *pattern != *text) || fnmatch(pattern + 1, text + 1, flags);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Files */
/* ------------------------------------------------------------------------------------------------------------------ */

static int take_status(HANDLE file, struct posix_stat *status)
{
    BY_HANDLE_FILE_INFORMATION found;
    memset(status, 0, sizeof *status);
    if (!GetFileInformationByHandle(file, &found))
        return -1;
    const unsigned long long time =
        (unsigned long long)found.ftLastWriteTime.dwHighDateTime << 32 | found.ftLastWriteTime.dwLowDateTime;
    status->st_mode = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY  ? S_IFDIR | 0700
                      : found.dwFileAttributes & FILE_ATTRIBUTE_READONLY ? S_IFREG | 0400
                                                                         : S_IFREG | 0600;
    status->st_nlink = found.nNumberOfLinks;
    status->st_dev = found.dwVolumeSerialNumber;
    status->st_ino = (unsigned long long)found.nFileIndexHigh << 32 | found.nFileIndexLow;
    status->st_size = (off_t)((unsigned long long)found.nFileSizeHigh << 32 | found.nFileSizeLow);
    status->st_mtim.tv_sec = status->st_mtime = (time_t)(time / 10000000);
    status->st_mtim.tv_nsec = (long)(time % 10000000 * 100);
    return 0;
}

int posix_stat(const char *path, struct posix_stat *status)
{
    wchar_t room[WIDE];
    const HANDLE file = CreateFileW(wide(path, room), 0, 7, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return -1;
    const int result = take_status(file, status);
    CloseHandle(file);
    return result;
}

int posix_fstat(int file, struct posix_stat *status)
{
    return take_status((HANDLE)_get_osfhandle(file), status);
}

int posix_mkdir(const char *path, int mode)
{
    wchar_t room[WIDE];
    (void)mode;
    return _wmkdir(wide(path, room));
}

int posix_chmod(const char *path, int mode)
{
    wchar_t room[WIDE];
    if (mode != 0700 && mode != 0600 && mode != 0644)
        test_skip("Windows: no permissions of POSIX");
    return _wchmod(wide(path, room), _S_IREAD | _S_IWRITE);
}

int posix_dup2(int from, int to)
{
    return _dup2(from, to) ? -1 : to;
}

int posix_open(const char *path, int flags, ...)
{
    wchar_t room[WIDE];
    return _wopen(strcmp(path, "/dev/null") ? wide(path, room) : L"NUL", flags | _O_BINARY, _S_IREAD | _S_IWRITE);
}

int posix_unlink(const char *path)
{
    wchar_t room[WIDE];
    return _wunlink(wide(path, room));
}

int posix_remove(const char *path)
{
    wchar_t room[WIDE];
    return GetFileAttributesW(wide(path, room)) & FILE_ATTRIBUTE_DIRECTORY ? _wrmdir(room) : _wremove(room);
}

int posix_access(const char *path, int mode)
{
    wchar_t room[WIDE];
    return _waccess(wide(path, room), mode & ~1);
}

FILE *posix_fopen(const char *path, const char *mode)
{
    wchar_t room[WIDE], binary[8] = {0};
    for (size_t i = 0; mode[i] && i < 5; ++i)
        binary[i] = (wchar_t)mode[i];
    if (!wcschr(binary, L'b'))
        wcscat(binary, L"b");
    return _wfopen(wide(path, room), binary);
}

int posix_rename(const char *from, const char *to)
{
    wchar_t room[2][WIDE];
    return MoveFileExW(wide(from, room[0]), wide(to, room[1]), MOVEFILE_REPLACE_EXISTING) ? 0 : -1;
}

FILE *posix_tmpfile(void)
{
    char path[512];
    static LONG number;
    const char *const parent = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/%d.%ld.tmp", parent ? parent : ".", (int)getpid(), InterlockedIncrement(&number));
    const int file = posix_open(path, _O_RDWR | _O_CREAT | _O_EXCL | _O_TEMPORARY);
    return file < 0 ? NULL : fdopen(file, "w+b");
}

struct posix_folder {
    HANDLE find;
    WIN32_FIND_DATAW data;
    int first;
    struct posix_entry entry;
};

posix_folder *posix_opendir(const char *path)
{
    wchar_t room[WIDE], pattern[WIDE];
    posix_folder *const folder = malloc(sizeof *folder);
    swprintf(pattern, WIDE, L"%ls/*", wide(path, room));
    folder->find = FindFirstFileW(pattern, &folder->data);
    folder->first = 1;
    if (folder->find != INVALID_HANDLE_VALUE)
        return folder;
    free(folder);
    return NULL;
}

struct posix_entry *posix_readdir(posix_folder *folder)
{
    if (!folder->first && !FindNextFileW(folder->find, &folder->data))
        return NULL;
    folder->first = 0;
    WideCharToMultiByte(CP_UTF8, 0, folder->data.cFileName, -1, folder->entry.d_name, sizeof folder->entry.d_name, NULL,
                        NULL);
    return &folder->entry;
}

int posix_closedir(posix_folder *folder)
{
    FindClose(folder->find);
    free(folder);
    return 0;
}

char *mkdtemp(char *path)
{
    char *const end = path + strlen(path) - 6;
    for (unsigned i = 0; i < 10000; ++i) {
        snprintf(end, 7, "%02x%04x", (unsigned)getpid() & 0xff, i);
        if (!posix_mkdir(path, 0700))
            return path;
    }
    return NULL;
}

char *realpath(const char *path, char *resolved)
{
    char *const full = _fullpath(resolved, path, resolved ? WIDE : 0);
    for (char *letter = full; letter && *letter; ++letter)
        *letter = *letter == '\\' ? '/' : *letter;
    return full;
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset)
{
    const off_t before = lseek(file, 0, SEEK_CUR);
    const ssize_t got = lseek(file, offset, SEEK_SET) < 0 ? -1 : read(file, bytes, (unsigned)count);
    lseek(file, before, SEEK_SET);
    return got;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset)
{
    const off_t before = lseek(file, 0, SEEK_CUR);
    const ssize_t put = lseek(file, offset, SEEK_SET) < 0 ? -1 : write(file, bytes, (unsigned)count);
    lseek(file, before, SEEK_SET);
    return put;
}

int alphasort(const struct dirent **one, const struct dirent **other)
{
    return strcmp((*one)->d_name, (*other)->d_name);
}

int scandir(const char *path, struct dirent ***names, int (*wanted)(const struct dirent *),
            int (*before)(const struct dirent **, const struct dirent **))
{
    DIR *const folder = opendir(path);
    const struct dirent *entry;
    int count = 0;
    *names = NULL;
    while (folder && (entry = readdir(folder))) {
        if (wanted && !wanted(entry))
            continue;
        *names = realloc(*names, (size_t)(count + 1) * sizeof **names);
        (*names)[count] = malloc(sizeof ***names);
        memcpy((*names)[count++], entry, sizeof *entry);
    }
    if (folder)
        closedir(folder);
    qsort(*names, (size_t)count, sizeof **names, (int (*)(const void *, const void *))(void (*)(void))before);
    return folder ? count : -1;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The rest */
/* ------------------------------------------------------------------------------------------------------------------ */

int setenv(const char *name, const char *value, int replace)
{
    wchar_t room[2][WIDE];
    return !replace && getenv(name) ? 0 : _wputenv_s(wide(name, room[0]), wide(value, room[1]));
}

int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}

unsigned alarm(unsigned seconds)
{
    (void)seconds;
    return 0;
}

long sysconf(int name)
{
    MEMORYSTATUSEX status = {0};
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    status.dwLength = sizeof status;
    GlobalMemoryStatusEx(&status);
    return name == _SC_PAGESIZE           ? (long)info.dwPageSize
           : name == _SC_NPROCESSORS_ONLN ? (long)info.dwNumberOfProcessors
                                          : (long)(status.ullAvailPhys / info.dwPageSize);
}

void *memmem(const void *bytes, size_t count, const void *wanted, size_t length)
{
    for (size_t i = 0; i + length <= count; ++i)
        if (!memcmp((const char *)bytes + i, wanted, length))
            return (char *)(uintptr_t)bytes + i;
    return NULL;
}

#define SKIPS(name, parameters, reason)                                                                                \
    name parameters                                                                                                    \
    {                                                                                                                  \
        test_skip("Windows: " reason);                                                                                 \
        return -1;                                                                                                     \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"
SKIPS(pid_t fork, (void), "no fork")
SKIPS(int forkpty, (int *terminal, char *name, const void *attributes, const void *size), "no terminals of POSIX")
SKIPS(int poll, (struct pollfd * files, unsigned count, int milliseconds), "no terminals of POSIX")
SKIPS(int execl, (const char *path, const char *word, ...), "no fork")
SKIPS(int mkfifo, (const char *path, int mode), "no pipes in folders")
SKIPS(int symlink, (const char *to, const char *path), "links need rights that users lack")
SKIPS(int posix_link, (const char *from, const char *to), "links need rights that users lack")
SKIPS(int geteuid, (void), "no users of POSIX")
SKIPS(int chown, (const char *path, uid_t owner, gid_t group), "no users of POSIX")
SKIPS(int futimens, (int file, const struct timespec times[2]), "no function that sets an open file's time")
SKIPS(int sigaction, (int number, const struct sigaction *action, struct sigaction *before), "no signals of POSIX")
SKIPS(int flock, (int file, int how), "no locks of POSIX")
SKIPS(int mount, (const char *a, const char *b, const char *c, unsigned long d, const void *e), "no mounts of POSIX")
SKIPS(int umount, (const char *where), "no mounts of POSIX")

int getrlimit(int what, struct rlimit *limit)
{
    limit->rlim_cur = limit->rlim_max = RLIM_INFINITY;
    return 0;
}

int setrlimit(int what, const struct rlimit *limit)
{
    if (limit->rlim_cur != RLIM_INFINITY)
        test_skip("Windows: no limits of POSIX for a process");
    return 0;
}
