#define _CRT_RAND_S /* rand_s */

#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>
#include <psapi.h>
#include <shellapi.h>

enum { SYSTEM_PATH = 4096 };

/* Sets errno for the last error. Returns false. */
static bool system_failed(void)
{
    static const struct {
        DWORD error;
        int number;
    } known[] = {{ERROR_FILE_NOT_FOUND, ENOENT},    {ERROR_PATH_NOT_FOUND, ENOENT},
                 {ERROR_INVALID_NAME, ENOENT},      {ERROR_ACCESS_DENIED, EACCES},
                 {ERROR_SHARING_VIOLATION, EACCES}, {ERROR_LOCK_VIOLATION, EAGAIN},
                 {ERROR_FILE_EXISTS, EEXIST},       {ERROR_ALREADY_EXISTS, EEXIST},
                 {ERROR_DISK_FULL, ENOSPC},         {ERROR_HANDLE_DISK_FULL, ENOSPC},
                 {ERROR_WRITE_PROTECT, EROFS},      {ERROR_INVALID_HANDLE, EBADF},
                 {ERROR_NOT_ENOUGH_MEMORY, ENOMEM}, {ERROR_OUTOFMEMORY, ENOMEM},
                 {ERROR_DIRECTORY, ENOTDIR},        {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG}};
    const DWORD error = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].error == error) {
            errno = known[i].number;
        }
    }
    return false;
}

static bool system_widen(const char *path, wchar_t wide[SYSTEM_PATH])
{
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, SYSTEM_PATH) > 0) {
        return true;
    }
    errno = ENOENT;
    return false;
}

/* The caller frees the text. NULL: out of memory. */
static char *system_narrow(const wchar_t *wide)
{
    int bytes = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (text != NULL) {
        text[0] = '\0';
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, bytes, NULL, NULL);
    }
    return text;
}

static HANDLE system_handle(int file)
{
    return (HANDLE)_get_osfhandle(file);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The process */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The words of the command line as UTF-8, for the life of the process. */
bool system_begin(int *count, char ***words)
{
    int number = 0;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &number);
    char **texts = wide != NULL ? calloc((size_t)number + 1, sizeof *texts) : NULL;
    _setmode(_fileno(stdout), _O_BINARY); /* lines end as on other systems */
    _setmode(_fileno(stderr), _O_BINARY);
    for (int i = 0; texts != NULL && i < number; i++) {
        texts[i] = system_narrow(wide[i]);
        if (texts[i] == NULL) {
            return false;
        }
    }
    LocalFree(wide);
    if (texts != NULL) {
        *count = number;
        *words = texts;
    }
    return texts != NULL;
}

uint64_t system_random(void)
{
    unsigned high = 0, low = 0;
    rand_s(&high);
    rand_s(&low);
    return (uint64_t)high << 32 | low;
}

uint64_t system_boot(void)
{
    return 0;
}

size_t system_terminal_width(void)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    const bool found = GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &info) != 0;
    return found && info.srWindow.Right > info.srWindow.Left ? (size_t)(info.srWindow.Right - info.srWindow.Left) + 1
                                                             : 80;
}

size_t system_resident_bytes(void)
{
    PROCESS_MEMORY_COUNTERS counters;
    return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.WorkingSetSize : 0;
}

void *system_library_open(const char *name)
{
    char file[80];
    snprintf(file, sizeof file, "lib%s.dll", name);
    return (void *)LoadLibraryA(file);
}

void *system_library_find(void *library, const char *function)
{
    const FARPROC found = GetProcAddress((HMODULE)library, function);
    void *pointer = NULL;
    memcpy(&pointer, &found, sizeof found); /* C has no cast from object to function pointers */
    return pointer;
}

void system_library_close(void *library)
{
    FreeLibrary((HMODULE)library);
}

const char *system_library_error(void)
{
    return "there is no such DLL on PATH";
}

static void (*system_stop)(int);

/* Runs in a thread of its own. */
static BOOL WINAPI system_take_event(DWORD event)
{
    system_stop(event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT ? SIGINT : SIGTERM);
    return TRUE;
}

void system_catch_stops(void (*stop)(int))
{
    system_stop = stop;
    SetConsoleCtrlHandler(system_take_event, TRUE);
}

void system_release_stop(int number)
{
    (void)number;
    SetConsoleCtrlHandler(system_take_event, FALSE);
}

void system_end_by(int number)
{
    ExitProcess(128 + (UINT)number);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Names */
/* ------------------------------------------------------------------------------------------------------------------ */

const char *system_last_separator(const char *path)
{
    const char *last = NULL;
    for (; *path != '\0'; path++) {
        last = *path == '/' || *path == '\\' ? path : last;
    }
    return last;
}

static HANDLE system_open_wide(const wchar_t *wide, DWORD access, DWORD disposition, DWORD flags)
{
    /* Shared: other processes may rename and remove the file, as on POSIX. BACKUP_SEMANTICS also opens folders. */
    return CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, disposition,
                       flags | FILE_FLAG_BACKUP_SEMANTICS, NULL);
}

char *system_real_path(const char *path)
{
    wchar_t wide[SYSTEM_PATH], full[SYSTEM_PATH];
    if (!system_widen(path, wide)) {
        return NULL;
    }
    HANDLE file = system_open_wide(wide, 0, OPEN_EXISTING, 0);
    if (file == INVALID_HANDLE_VALUE) {
        system_failed();
        return NULL;
    }
    DWORD length = GetFinalPathNameByHandleW(file, full, SYSTEM_PATH, 0);
    CloseHandle(file);
    if (length == 0 || length >= SYSTEM_PATH) {
        length = GetFullPathNameW(wide, SYSTEM_PATH, full, NULL);
    }
    if (length == 0 || length >= SYSTEM_PATH) {
        system_failed();
        return NULL;
    }
    bool prefixed = wcsncmp(full, L"\\\\?\\", 4) == 0 && wcsncmp(full, L"\\\\?\\UNC", 7) != 0;
    char *text = system_narrow(full + (prefixed ? 4 : 0));
    for (char *letter = text; letter != NULL && *letter != '\0'; letter++) {
        *letter = *letter == '\\' ? '/' : *letter;
    }
    return text;
}

bool system_exists(const char *path)
{
    wchar_t wide[SYSTEM_PATH];
    return system_widen(path, wide) && (GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES || system_failed());
}

bool system_remove(const char *path)
{
    wchar_t wide[SYSTEM_PATH];
    return system_widen(path, wide) && (DeleteFileW(wide) || system_failed());
}

bool system_rename(const char *from, const char *to)
{
    wchar_t wide_from[SYSTEM_PATH], wide_to[SYSTEM_PATH];
    return system_widen(from, wide_from) && system_widen(to, wide_to) &&
           (MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) || system_failed());
}

const char *system_why_not_replaced(const char *path)
{
    (void)path;
    return NULL;
}

bool system_is_at(int file, const char *path)
{
    system_status opened, named;
    return system_status_of(file, &opened) && system_status_at(path, &named) && opened.number == named.number &&
           opened.device == named.device;
}

bool system_flush_folder(const char *path)
{
    (void)path; /* system_rename writes through */
    return true;
}

struct system_folder {
    HANDLE find;
    WIN32_FIND_DATAW data;
    bool first;
    char name[3 * MAX_PATH];
};

system_folder *system_folder_open(const char *path)
{
    wchar_t wide[SYSTEM_PATH];
    system_folder *folder = malloc(sizeof *folder);
    if (folder == NULL || !system_widen(path, wide) || wcslen(wide) + 3 > SYSTEM_PATH) {
        free(folder);
        return NULL;
    }
    wcscat(wide, L"/*");
    folder->find = FindFirstFileW(wide, &folder->data);
    folder->first = true;
    if (folder->find == INVALID_HANDLE_VALUE) {
        system_failed();
        free(folder);
        return NULL;
    }
    return folder;
}

const char *system_folder_next(system_folder *folder)
{
    if (!folder->first && !FindNextFileW(folder->find, &folder->data)) {
        return NULL;
    }
    folder->first = false;
    WideCharToMultiByte(CP_UTF8, 0, folder->data.cFileName, -1, folder->name, sizeof folder->name, NULL, NULL);
    return folder->name;
}

void system_folder_close(system_folder *folder)
{
    FindClose(folder->find);
    free(folder);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Files */
/* ------------------------------------------------------------------------------------------------------------------ */

static bool system_status_by(HANDLE file, system_status *status)
{
    BY_HANDLE_FILE_INFORMATION found;
    memset(status, 0, sizeof *status);
    if (GetFileType(file) != FILE_TYPE_DISK) {
        return true;
    }
    if (!GetFileInformationByHandle(file, &found)) {
        return system_failed();
    }
    status->size = (uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow;
    status->number = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
    status->device = found.dwVolumeSerialNumber;
    status->is_folder = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    status->is_file = !status->is_folder && (found.dwFileAttributes & FILE_ATTRIBUTE_DEVICE) == 0;
    status->is_writable = (found.dwFileAttributes & FILE_ATTRIBUTE_READONLY) == 0;
    status->links = found.nNumberOfLinks;
    status->is_own = true; /* `changed` stays unknown: not updated while a file is open */
    return true;
}

bool system_status_of(int file, system_status *status)
{
    return system_status_by(system_handle(file), status);
}

bool system_status_at(const char *path, system_status *status)
{
    wchar_t wide[SYSTEM_PATH];
    if (!system_widen(path, wide)) {
        return false;
    }
    HANDLE file = system_open_wide(wide, 0, OPEN_EXISTING, 0);
    if (file == INVALID_HANDLE_VALUE) {
        return system_failed();
    }
    bool good = system_status_by(file, status);
    CloseHandle(file);
    return good;
}

int system_open(const char *path, unsigned how)
{
    wchar_t wide[SYSTEM_PATH];
    DWORD disposition = (how & SYSTEM_NEW) != 0 ? CREATE_NEW : (how & SYSTEM_CREATE) == 0 ? OPEN_EXISTING : OPEN_ALWAYS;
    DWORD access = ((how & SYSTEM_READ) != 0 ? GENERIC_READ : 0) | ((how & SYSTEM_WRITE) != 0 ? GENERIC_WRITE : 0);
    if (!system_widen(path, wide)) {
        return -1;
    }
    HANDLE file =
        system_open_wide(wide, access, disposition, (how & SYSTEM_NO_LINK) != 0 ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
    if (file == INVALID_HANDLE_VALUE) {
        system_failed();
        return -1;
    }
    system_status status;
    if ((how & SYSTEM_WRITE) != 0 && system_status_by(file, &status) && status.is_folder) {
        CloseHandle(file);
        errno = EISDIR; /* as on POSIX */
        return -1;
    }
    int descriptor = _open_osfhandle((intptr_t)file, _O_BINARY | _O_NOINHERIT);
    if (descriptor < 0) {
        CloseHandle(file);
    }
    return descriptor;
}

bool system_close(int file)
{
    return _close(file) == 0;
}

int system_duplicate(int file)
{
    return _dup(file);
}

int system_open_draft(const char *path, bool *named)
{
    *named = true;
    return system_open(path, SYSTEM_READ | SYSTEM_WRITE | SYSTEM_CREATE | SYSTEM_NEW | SYSTEM_PRIVATE);
}

bool system_name_draft(int file, const char *path)
{
    (void)file, (void)path;
    return true;
}

system_rights system_find_rights(int replaced, int copied)
{
    system_rights rights = {0};
    (void)replaced, (void)copied; /* files inherit the rights of their folder */
    return rights;
}

void system_give_rights(int file, const system_rights *rights)
{
    (void)file, (void)rights;
}

FILE *system_stream(int file, const char *mode)
{
    return _fdopen(file, mode);
}

FILE *system_open_stream(const char *path, const char *mode)
{
    wchar_t wide[SYSTEM_PATH];
    return system_widen(path, wide) ? _wfopen(wide, *mode == 'r' ? L"rb" : L"wb") : NULL;
}

void system_wait_for_data(int file)
{
    (void)file;
}

ptrdiff_t system_read(int file, void *memory, size_t bytes)
{
    return _read(file, memory, bytes < INT_MAX ? (unsigned)bytes : INT_MAX);
}

static OVERLAPPED system_place(uint64_t offset)
{
    OVERLAPPED place = {0};
    place.Offset = (DWORD)offset;
    place.OffsetHigh = (DWORD)(offset >> 32);
    return place;
}

ptrdiff_t system_read_at(int file, void *memory, size_t bytes, uint64_t offset)
{
    OVERLAPPED place = system_place(offset);
    DWORD got = 0;
    if (ReadFile(system_handle(file), memory, bytes < INT_MAX ? (DWORD)bytes : INT_MAX, &got, &place)) {
        return (ptrdiff_t)got;
    }
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : (system_failed(), -1);
}

ptrdiff_t system_write_at(int file, const void *memory, size_t bytes, uint64_t offset)
{
    OVERLAPPED place = system_place(offset);
    DWORD put = 0;
    if (WriteFile(system_handle(file), memory, bytes < INT_MAX ? (DWORD)bytes : INT_MAX, &put, &place)) {
        return (ptrdiff_t)put;
    }
    return system_failed(), -1;
}

/* A lock prevents access to the locked bytes. The tool locks a byte after the end of every file. */
bool system_lock(int file, bool exclusive)
{
    OVERLAPPED place = system_place((uint64_t)1 << 62);
    return LockFileEx(system_handle(file), LOCKFILE_FAIL_IMMEDIATELY | (exclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0), 0, 1,
                      0, &place) ||
           (GetLastError() != ERROR_LOCK_VIOLATION && GetLastError() != ERROR_IO_PENDING);
}

bool system_flush(int file)
{
    return FlushFileBuffers(system_handle(file)) || system_failed();
}

bool system_flush_data(int file)
{
    return system_flush(file);
}

void system_write_out(int file, uint64_t offset, size_t bytes, bool wait)
{
    (void)file, (void)offset, (void)bytes, (void)wait;
}

int system_reserve(int file, size_t bytes)
{
    LARGE_INTEGER size;
    size.QuadPart = (LONGLONG)bytes;
    if (SetFilePointerEx(system_handle(file), size, NULL, FILE_BEGIN) && SetEndOfFile(system_handle(file))) {
        return 0;
    }
    system_failed();
    return errno;
}

void *system_map(int file, size_t bytes)
{
    HANDLE mapping = CreateFileMappingW(system_handle(file), NULL, PAGE_READWRITE, 0, 0, NULL);
    void *mapped = mapping != NULL ? MapViewOfFile(mapping, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, bytes) : NULL;
    if (mapped == NULL) {
        system_failed();
    }
    if (mapping != NULL) {
        CloseHandle(mapping); /* the mapped memory retains the mapping */
    }
    return mapped;
}

void system_unmap(void *mapped, size_t bytes)
{
    (void)bytes;
    UnmapViewOfFile(mapped);
}

bool system_flush_mapped(void *begin, size_t bytes)
{
    return FlushViewOfFile(begin, bytes) || system_failed();
}
