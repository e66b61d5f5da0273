/* Programs that tests start, on Windows. */
#include "test.h"

#include "process.h"

#include <ctype.h>
#include <sys/wait.h>
#include <windows.h>

enum { LINE = 16384, SECONDS = 120 };

const char *process_tool(void)
{
    const char *const path = getenv("IPT_TOOL");
    return path ? path : "build/windows/ipt.exe";
}

/* Adds a word, quoted for the parser of command lines in Windows programs. */
static void add_word(wchar_t *line, const char *word)
{
    wchar_t wide[LINE];
    size_t length = wcslen(line), slashes = 0;
    assert_true(MultiByteToWideChar(CP_UTF8, 0, word, -1, wide, LINE) > 0);
    assert_true(length + 2 * wcslen(wide) + 4 < LINE);
    if (length)
        line[length++] = L' ';
    line[length++] = L'"';
    for (const wchar_t *letter = wide;; ++letter) {
        if (*letter == L'\\') {
            ++slashes;
            continue;
        }
        for (size_t i = 0; i < (*letter && *letter != L'"' ? slashes : 2 * slashes) + (*letter == L'"'); ++i)
            line[length++] = L'\\';
        slashes = 0;
        if (!*letter)
            break;
        line[length++] = *letter;
    }
    line[length++] = L'"';
    line[length] = 0;
}

/* Returns a handle of `file` that the started program inherits. */
static HANDLE inherited(int file)
{
    HANDLE made = NULL;
    SECURITY_ATTRIBUTES shared = {sizeof shared, NULL, TRUE};
    if (file < 0)
        return CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, 7, &shared, OPEN_EXISTING, 0, NULL);
    DuplicateHandle(GetCurrentProcess(), (HANDLE)_get_osfhandle(file), GetCurrentProcess(), &made, 0, TRUE,
                    DUPLICATE_SAME_ACCESS);
    return made;
}

pid_t process_start(const char *const *words, const process_setup *setup)
{
    wchar_t line[LINE] = L"";
    STARTUPINFOW start = {0};
    PROCESS_INFORMATION process;
    const size_t length = strlen(words[0]);
    if (length < 4 || strcmp(words[0] + length - 4, ".exe"))
        test_skip("Windows: starts a program of POSIX systems");
    if (setup->file_bytes)
        test_skip("Windows: no limits of POSIX for a process");
    if (setup->closed)
        test_skip("Windows: streams do not close as on POSIX");
    for (; *words; ++words)
        add_word(line, *words);
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = inherited(-1);
    start.hStdOutput = inherited(setup->output);
    start.hStdError = inherited(setup->errors);
    const BOOL started = CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process);
    const unsigned long why = GetLastError();
    CloseHandle(start.hStdInput);
    CloseHandle(start.hStdOutput);
    CloseHandle(start.hStdError);
    if (!started)
        fail_msg("Windows does not start %ls: error %lu", line, why);
    CloseHandle(process.hThread);
    return (pid_t)(intptr_t)process.hProcess;
}

/* Windows can only end a process, as SIGKILL does. Other signals skip the test, after the process has ended. */
int kill(pid_t child, int number)
{
    TerminateProcess((HANDLE)(intptr_t)child, 1000);
    if (number != SIGKILL) {
        WaitForSingleObject((HANDLE)(intptr_t)child, INFINITE);
        test_skip("Windows: no signals to other processes");
    }
    return 0;
}

/* Reports whether the process has ended. Without WNOHANG, waits for its end. */
int waitid(int kind, id_t child, siginfo_t *info, int options)
{
    (void)kind;
    info->si_pid =
        WaitForSingleObject((HANDLE)(intptr_t)child, options & WNOHANG ? 0 : INFINITE) == WAIT_OBJECT_0 ? child : 0;
    return 0;
}

pid_t waitpid(pid_t child, int *status, int options)
{
    DWORD code = 0;
    const HANDLE process = (HANDLE)(intptr_t)child;
    (void)options;
    if (WaitForSingleObject(process, SECONDS * 1000) == WAIT_TIMEOUT)
        TerminateProcess(process, 127);
    WaitForSingleObject(process, INFINITE);
    GetExitCodeProcess(process, &code);
    CloseHandle(process);
    *status = code < 256 ? (int)code : -1; /* -1: an exception ended it */
    return child;
}
