/* File names and environment variables: UTF-8 on every system. */

#if defined(_WIN32)
enum { IPT__WIDE_PATH = 4096 };

/* Windows' names have 16-bit characters. Returns 0 if the path is not UTF-8 or is too long. */
static int ipt__path_widen(const char *path, wchar_t wide[IPT__WIDE_PATH])
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, IPT__WIDE_PATH) > 0;
}

static int ipt__path_narrow(const wchar_t *wide, char *path, size_t capacity)
{
    return WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int)capacity, NULL, NULL) > 0;
}
#endif

/* Returns an environment variable, or NULL. `value` has room for it. A value that is too long becomes "". */
static const char *ipt__environment(const char *name, char *value, size_t capacity)
{
#if defined(_WIN32)
    wchar_t wide_name[IPT__WIDE_PATH], wide[IPT__WIDE_PATH];
    const DWORD length =
        ipt__path_widen(name, wide_name) ? GetEnvironmentVariableW(wide_name, wide, IPT__WIDE_PATH) : 0;
    if (!length)
        return NULL;
    if (length >= IPT__WIDE_PATH || !ipt__path_narrow(wide, value, capacity))
        *value = 0;
    return value;
#else
    (void)value, (void)capacity;
    return getenv(name);
#endif
}

#if !defined(IPT_NO_WISDOM)
/* The mode is "rb" or "wb". */
static FILE *ipt__path_open(const char *path, const char *mode)
{
#if defined(_WIN32)
    wchar_t wide[IPT__WIDE_PATH];
    return ipt__path_widen(path, wide) ? _wfopen(wide, *mode == 'r' ? L"rb" : L"wb") : NULL;
#else
    return fopen(path, mode);
#endif
}

/* True if the path names a regular file or does not exist. Opening a pipe may block, and a device may have no end. */
static int ipt__path_is_plain(const char *path)
{
#if defined(_WIN32)
    wchar_t wide[IPT__WIDE_PATH];
    const DWORD attributes = ipt__path_widen(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    return attributes == INVALID_FILE_ATTRIBUTES || !(attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE));
#else
    struct stat status;
    return stat(path, &status) || S_ISREG(status.st_mode);
#endif
}
#endif
