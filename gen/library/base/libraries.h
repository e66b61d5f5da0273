/* Libraries that are loaded at run time. */
#if defined(IPT_OPENCL_DYNAMIC) || defined(IPT_CUDA)

static void *ipt__library_open_named(const char *name)
{
#if defined(_WIN32)
    wchar_t wide[IPT__WIDE_PATH];
    return ipt__path_widen(name, wide) ? (void *)LoadLibraryW(wide) : NULL;
#else
    return dlopen(name, RTLD_NOW);
#endif
}

/* Writes the address of a function to `pointer`. Returns 0 if the library lacks the function. */
static int ipt__library_find(void *library, const char *name, void *pointer, size_t pointer_bytes)
{
#if defined(_WIN32)
    const FARPROC found = GetProcAddress((HMODULE)library, name);
#else
    void *const found = dlsym(library, name);
#endif
    memcpy(pointer, &found, pointer_bytes); /* C cannot cast an object's pointer to a function's pointer */
    return found != NULL;
}

#endif
