/* The cache folder: names, files, size limit. */

#ifndef IPT_NO_DISK_CACHE

enum {
    IPT__PATH_BYTES = 1024,
    IPT__PATH_REST = 80,      /* bytes of a path for the names in a folder */
    IPT__STALE_SECONDS = 3600 /* age at which a temporary file counts as abandoned */
};

/* Skips at most `most` lower-case hexadecimal digits. Returns their number. */
static int ipt__skip_digits(const char **text, int most)
{
    int count = 0;
    while (count < most && **text && strchr("0123456789abcdef", **text)) {
        ++*text;
        ++count;
    }
    return count;
}

typedef enum ipt__name_kind { IPT__NAME_FOREIGN, IPT__NAME_ENTRY, IPT__NAME_TEMPORARY } ipt__name_kind;

/* Classifies a file by its name: see ipt__entry_name and ipt__folder_store. */
static ipt__name_kind ipt__name_is(const char *name)
{
    const char *at = name;
    int digits = ipt__skip_digits(&at, IPT__NAME_DIGITS);
    if (digits == IPT__NAME_DIGITS && !strcmp(at, ".ipt"))
        return IPT__NAME_ENTRY;
    for (at = name, digits = 0; digits < 2; ++digits)
        if (!ipt__skip_digits(&at, 16) || *at++ != '-')
            return IPT__NAME_FOREIGN;
    return ipt__skip_digits(&at, IPT__NAME_DIGITS) == IPT__NAME_DIGITS && !strcmp(at, ".ipt.tmp") ? IPT__NAME_TEMPORARY
                                                                                                  : IPT__NAME_FOREIGN;
}

/* A file with one of ipt's names. */
typedef struct ipt__listed {
    double seconds, age, bytes; /* time of the last write, time since then, size */
    char name[IPT__PATH_REST];
} ipt__listed;

/* Calls of the operating system. Functions that can fail return the reason as text, or NULL. */

#if defined(_WIN32)
#define IPT__SEPARATORS "/\\"
#define IPT__PATH_IS_BAD "its name is not UTF-8 or too long"

static const char *ipt__file_make_folder(const char *path)
{
    wchar_t wide[IPT__WIDE_PATH];
    if (!ipt__path_widen(path, wide))
        return IPT__PATH_IS_BAD;
    return CreateDirectoryW(wide, NULL) || GetLastError() == ERROR_ALREADY_EXISTS ? NULL : "it could not be created";
}

/* On Windows a user's folders exclude other users by default. */
static const char *ipt__file_check_folder(const char *path)
{
    wchar_t wide[IPT__WIDE_PATH];
    const DWORD attributes = ipt__path_widen(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    return attributes == INVALID_FILE_ATTRIBUTES     ? "it does not exist"
           : (attributes & FILE_ATTRIBUTE_DIRECTORY) ? NULL
                                                     : "it is not a folder";
}

typedef HANDLE ipt__file;

static const char *ipt__file_open(const char *path, ipt__file *file, size_t *bytes)
{
    LARGE_INTEGER size;
    wchar_t wide[IPT__WIDE_PATH];
    if (!ipt__path_widen(path, wide))
        return IPT__PATH_IS_BAD;
    *file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
    if (*file == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND ? ""
                                                                                                : "it cannot be opened";
    if (GetFileType(*file) != FILE_TYPE_DISK || !GetFileSizeEx(*file, &size) || size.QuadPart > IPT__ENTRY_MOST) {
        CloseHandle(*file);
        return "it is not a file of ours";
    }
    *bytes = (size_t)size.QuadPart;
    return NULL;
}

static int ipt__file_read(ipt__file file, unsigned char *data, size_t bytes)
{
    DWORD got = 0;
    return ReadFile(file, data, (DWORD)bytes, &got, NULL) && got == bytes;
}

static void ipt__file_close(ipt__file file)
{
    CloseHandle(file);
}

static const char *ipt__file_write(const char *path, const unsigned char *data, size_t bytes, int *exists)
{
    DWORD put = 0;
    wchar_t wide[IPT__WIDE_PATH];
    HANDLE file;
    *exists = 0;
    if (!ipt__path_widen(path, wide))
        return IPT__PATH_IS_BAD;
    file = CreateFileW(wide, GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
    *exists = file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_EXISTS;
    if (file == INVALID_HANDLE_VALUE)
        return "a file could not be created there";
    if (!WriteFile(file, data, (DWORD)bytes, &put, NULL) || put != bytes || !FlushFileBuffers(file)) {
        CloseHandle(file);
        return "it cannot be written";
    }
    return CloseHandle(file) ? NULL : "it cannot be written";
}

static int ipt__file_remove(const char *path)
{
    wchar_t wide[IPT__WIDE_PATH];
    return ipt__path_widen(path, wide) && DeleteFileW(wide);
}

/* Fails if another process has the older file open, which has the same entry. */
static const char *ipt__file_rename(const char *from, const char *to)
{
    wchar_t wide_from[IPT__WIDE_PATH], wide_to[IPT__WIDE_PATH];
    return ipt__path_widen(from, wide_from) && ipt__path_widen(to, wide_to) &&
                   MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING)
               ? NULL
               : "it cannot be renamed";
}

static unsigned long ipt__process_number(void)
{
    return GetCurrentProcessId();
}

static void ipt__folder_visit(const char *folder, void (*visit)(const ipt__listed *file, void *user), void *user)
{
    char pattern[IPT__PATH_BYTES];
    wchar_t wide[IPT__WIDE_PATH];
    WIN32_FIND_DATAW data;
    FILETIME now;
    HANDLE find;
    ipt__print(pattern, sizeof pattern, "%s/*", folder);
    find = ipt__path_widen(pattern, wide) ? FindFirstFileW(wide, &data) : INVALID_HANDLE_VALUE;
    if (find == INVALID_HANDLE_VALUE)
        return;
    do {
        ipt__listed file;
        if (!ipt__path_narrow(data.cFileName, file.name, sizeof file.name) ||
            ipt__name_is(file.name) == IPT__NAME_FOREIGN || data.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
            continue;
        GetSystemTimeAsFileTime(&now);
        file.bytes = data.nFileSizeHigh * 4294967296.0 + data.nFileSizeLow;
        file.seconds = (data.ftLastWriteTime.dwHighDateTime * 4294967296.0 + data.ftLastWriteTime.dwLowDateTime) * 1e-7;
        file.age = (now.dwHighDateTime * 4294967296.0 + now.dwLowDateTime) * 1e-7 - file.seconds;
        visit(&file, user);
    } while (FindNextFileW(find, &data));
    FindClose(find);
}

#else
#define IPT__SEPARATORS "/"

/* Returns whether only the user and root can have changed the file. */
static int ipt__file_is_trusted(const struct stat *status)
{
    return (status->st_uid == 0 || status->st_uid == geteuid()) && !(status->st_mode & 022);
}

static const char *ipt__file_make_folder(const char *path)
{
    return !mkdir(path, 0700) || errno == EEXIST ? NULL : strerror(errno);
}

static const char *ipt__file_check_folder(const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return strerror(errno);
    if (!S_ISDIR(status.st_mode))
        return "it is not a folder";
    return ipt__file_is_trusted(&status) ? NULL : "others can write to it";
}

typedef int ipt__file;

/* Returns "" if there is no such file. The name may belong to a pipe: opening must not block. */
static const char *ipt__file_open(const char *path, ipt__file *file, size_t *bytes)
{
    struct stat status;
    const char *why = NULL;
    *file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (*file < 0)
        return errno == ENOENT || errno == ENOTDIR ? "" : strerror(errno);
    fcntl(*file, F_SETFD, FD_CLOEXEC);
    if (fstat(*file, &status))
        why = strerror(errno);
    else if (!S_ISREG(status.st_mode) || status.st_size > IPT__ENTRY_MOST)
        why = "it is not a file of ours";
    else if (!ipt__file_is_trusted(&status))
        why = "others can write to it";
    if (why)
        close(*file);
    else
        *bytes = (size_t)status.st_size;
    return why;
}

static int ipt__file_read(ipt__file file, unsigned char *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t got = read(file, data + done, bytes - done);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return 0;
        done += got > 0 ? (size_t)got : 0;
    }
    return 1;
}

static void ipt__file_close(ipt__file file)
{
    close(file);
}

/* Creates a file and flushes it to the disk. *exists: a file of that name exists. */
static const char *ipt__file_write(const char *path, const unsigned char *data, size_t bytes, int *exists)
{
    const char *why = NULL;
    size_t done = 0;
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY, 0600);
    *exists = file < 0 && errno == EEXIST;
    if (file < 0)
        return strerror(errno);
    fcntl(file, F_SETFD, FD_CLOEXEC);
    while (done < bytes && !why) {
        const ssize_t put = write(file, data + done, bytes - done);
        if (put == 0 || (put < 0 && errno != EINTR))
            why = put ? strerror(errno) : "nothing is written";
        done += put > 0 ? (size_t)put : 0;
    }
    if (!why && fsync(file))
        why = strerror(errno);
    if (close(file) && !why)
        why = strerror(errno);
    return why;
}

static int ipt__file_remove(const char *path)
{
    return !unlink(path);
}

static const char *ipt__file_rename(const char *from, const char *to)
{
    return rename(from, to) ? strerror(errno) : NULL;
}

static unsigned long ipt__process_number(void)
{
    return (unsigned long)getpid();
}

/* Calls `visit` for every file of a folder that has one of ipt's names. */
static void ipt__folder_visit(const char *folder, void (*visit)(const ipt__listed *file, void *user), void *user)
{
    DIR *const opened = opendir(folder);
    const struct dirent *found;
    while (opened && (found = readdir(opened)) != NULL) {
        char path[2 * IPT__PATH_BYTES];
        struct stat status;
        ipt__listed file;
        ipt__print(path, sizeof path, "%s/%s", folder, found->d_name);
        if (ipt__name_is(found->d_name) == IPT__NAME_FOREIGN || stat(path, &status) || !S_ISREG(status.st_mode))
            continue;
        strcpy(file.name, found->d_name);
        file.bytes = (double)status.st_size;
        file.seconds = (double)status.st_mtime;
        file.age = (double)time(NULL) - file.seconds;
        visit(&file, user);
    }
    if (opened)
        closedir(opened);
}

#endif

/* Writes the name of an entry's file: the start of its key's hash. */
static void ipt__entry_name(const char *key, size_t key_bytes, char name[IPT__ENTRY_NAME])
{
    ipt__hash_text(key, key_bytes, name, IPT__NAME_DIGITS);
    strcpy(name + IPT__NAME_DIGITS, ".ipt");
}

/* Creates a folder and the missing folders above it. */
static const char *ipt__folder_make(const char *folder)
{
    char path[IPT__PATH_BYTES];
    size_t i;
    if (strlen(folder) >= sizeof path - IPT__PATH_REST)
        return "its name is too long";
    for (i = 1; folder[i]; ++i)
        if (strchr(IPT__SEPARATORS, folder[i])) {
            memcpy(path, folder, i);
            path[i] = 0;
            ipt__file_make_folder(path); /* if it fails, so does the last call */
        }
    return ipt__file_make_folder(folder);
}

/* Removes a file with one of ipt's names, if it begins as entries do. Another program may have chosen the same name. An
 * unfinished file may be shorter than the beginning. */
static int ipt__folder_remove(const char *folder, const char *name, int unfinished)
{
    char path[2 * IPT__PATH_BYTES];
    unsigned char head[8];
    ipt__file file;
    size_t bytes = 0;
    int ours;
    ipt__print(path, sizeof path, "%s/%s", folder, name);
    if (ipt__file_open(path, &file, &bytes))
        return 0;
    bytes = ipt__min(bytes, sizeof head);
    ours = (unfinished || bytes == sizeof head) && ipt__file_read(file, head, bytes) &&
           !memcmp(head, IPT__ENTRY_MAGIC, bytes);
    ipt__file_close(file);
    return ours && ipt__file_remove(path);
}

static int ipt__listed_before(const void *one, const void *other)
{
    const ipt__listed *const a = (const ipt__listed *)one, *const b = (const ipt__listed *)other;
    return a->seconds < b->seconds ? -1 : a->seconds > b->seconds ? 1 : strcmp(a->name, b->name);
}

/* The entries of the cache folder. */
typedef struct ipt__list {
    const ipt_context *context;
    ipt__listed *files;
    size_t count, room;
} ipt__list;

/* Adds an entry to a list, unless memory is missing. Removes an abandoned temporary file. */
static void ipt__list_add(const ipt__listed *file, void *user)
{
    ipt__list *const list = (ipt__list *)user;
    const ipt_allocator *const allocator = &list->context->allocator;
    const ipt__name_kind kind = ipt__name_is(file->name);
    if (kind == IPT__NAME_TEMPORARY && file->age > (double)IPT__STALE_SECONDS)
        ipt__folder_remove(list->context->cache_dir, file->name, 1);
    if (kind != IPT__NAME_ENTRY)
        return;
    if (list->count == list->room) {
        const size_t more = ipt__max(2 * list->room, 64);
        ipt__listed *const files = (ipt__listed *)allocator->alloc(more * sizeof *files, allocator->user);
        if (!files)
            return;
        if (list->count)
            memcpy(files, list->files, list->count * sizeof *files);
        ipt__release(allocator, list->files);
        list->files = files;
        list->room = more;
    }
    list->files[list->count++] = *file;
}

/* Removes the oldest entries until the others fit the size limit. */
static void ipt__folder_clean(const ipt_context *context)
{
    ipt__list list = {context, NULL, 0, 0};
    double all = 0;
    size_t i;
    ipt__folder_visit(context->cache_dir, ipt__list_add, &list);
    for (i = 0; i < list.count; ++i)
        all += list.files[i].bytes;
    if (list.count && all > (double)context->cache_limit)
        qsort(list.files, list.count, sizeof *list.files, ipt__listed_before);
    for (i = 0; i < list.count && all > (double)context->cache_limit; ++i) {
        ipt__folder_remove(context->cache_dir, list.files[i].name, 0);
        all -= list.files[i].bytes; /* even if the removal fails: then the file is no entry, or is gone */
    }
    ipt__release(&context->allocator, list.files);
}

/* Writes a temporary file and renames it, so that other processes see a whole entry or none. */
static const char *ipt__folder_store(const char *folder, const char *name, const unsigned char *entry, size_t bytes)
{
    char path[IPT__PATH_BYTES], temporary[IPT__PATH_BYTES];
    int attempt, exists = 1;
    const char *why = bytes > IPT__ENTRY_MOST ? "it would not be read: 64 MiB at most are" : ipt__folder_make(folder);
    if (!why)
        why = ipt__file_check_folder(folder);
    if (why)
        return why;
    ipt__print(path, sizeof path, "%s/%s", folder, name);
    for (attempt = 0; attempt < 1000 && exists; ++attempt) {
        ipt__print(temporary, sizeof temporary, "%s/%lx-%x-%.32s.ipt.tmp", folder, ipt__process_number(),
                   (unsigned)attempt, name);
        why = ipt__file_write(temporary, entry, bytes, &exists);
    }
    if (exists)
        return why;
    if (!why)
        why = ipt__file_rename(temporary, path);
    if (why)
        ipt__file_remove(temporary);
    return why;
}

/* Writes the user's cache folder, or "" if there is none. */
static void ipt__folder_default(char *folder, size_t capacity)
{
#if defined(_WIN32)
    char room[IPT__PATH_BYTES];
    const char *const home = ipt__environment("LOCALAPPDATA", room, sizeof room), *const base = NULL;
    const char *const below = "ipt";
#elif defined(__APPLE__)
    const char *const home = getenv("HOME"), *const base = NULL;
    const char *const below = "Library/Caches/ipt";
#else
    const char *const home = getenv("HOME"), *const base = getenv("XDG_CACHE_HOME");
    const char *const below = ".cache/ipt";
#endif
    int length = 0;
    if (base && *base == '/')
        length = ipt__print(folder, capacity, "%s/ipt", base);
    else if (home && *home && (*home == '/' || strcmp(IPT__SEPARATORS, "/")))
        length = ipt__print(folder, capacity, "%s/%s", home, below);
    if (length <= 0 || (size_t)length >= capacity)
        *folder = 0;
}

#endif /* IPT_NO_DISK_CACHE */
