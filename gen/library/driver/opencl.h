/* OpenCL as a driver. */
#ifndef IPT_NO_OPENCL

#ifdef IPT_OPENCL_DYNAMIC

/* Written once, under ipt__load_lock. Besides the threads' error texts, this is the only state outside contexts. */
static ipt__driver ipt__opencl;
static IPT_LOCK_TYPE ipt__load_lock = IPT_LOCK_STATIC;
static int ipt__loaded;

/* The names of OpenCL's library, the most usual first. Android's vendors have folders and names of their own. */
static const char *const ipt__libraries[] = {
#if defined(_WIN32)
    "OpenCL.dll"
#elif defined(__APPLE__)
    "/System/Library/Frameworks/OpenCL.framework/OpenCL"
#elif defined(__ANDROID__)
#define IPT__ANDROID_LIBRARIES(folder)                                                                                 \
    "/vendor/" folder "/libOpenCL.so", "/system/vendor/" folder "/libOpenCL.so", "/system/" folder "/libOpenCL.so",    \
        "/vendor/" folder "/egl/libGLES_mali.so", "/system/vendor/" folder "/egl/libGLES_mali.so",                     \
        "/vendor/" folder "/libPVROCL.so"
    "libOpenCL.so", "libOpenCL-pixel.so", IPT__ANDROID_LIBRARIES("lib64"), IPT__ANDROID_LIBRARIES("lib")
#else
    "libOpenCL.so.1", "libOpenCL.so"
#endif
};

/* Opens the library that the environment's IPT_OPENCL_LIBRARY names, else the first that the system has. On failure
 * *library is NULL. */
static ipt_result ipt__library_open(void **library)
{
    char room[1024];
    const char *const named =
        IPT__ENVIRONMENT_IS_OWN ? ipt__environment("IPT_OPENCL_LIBRARY", room, sizeof room) : NULL;
    size_t i;
    *library = named && *named ? ipt__library_open_named(named) : NULL;
    if (named && *named)
        return *library ? IPT_SUCCESS
                        : ipt__fail(IPT_ERROR_NO_DEVICE,
                                    "the environment's IPT_OPENCL_LIBRARY is %.400s, which cannot be loaded", named);
    for (i = 0; !*library && i < sizeof ipt__libraries / sizeof *ipt__libraries; ++i)
        *library = ipt__library_open_named(ipt__libraries[i]);
    return *library ? IPT_SUCCESS
                    : ipt__fail(IPT_ERROR_NO_DEVICE,
                                "no OpenCL library is installed: install an OpenCL loader and a driver, or name the "
                                "library in the environment's IPT_OPENCL_LIBRARY");
}

static void ipt__library_close(void *library)
{
#if defined(_WIN32)
    FreeLibrary((HMODULE)library);
#else
    dlclose(library);
#endif
}

/* Loads the library on the first call. */
static ipt_result ipt__opencl_open(void)
{
    ipt_result result = IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&ipt__load_lock);
    if (!ipt__loaded) {
        void *library;
        result = ipt__library_open(&library);
#define IPT__ENTRY_POINT_FIND(unused_result, name, parameters)                                                         \
    if (!result && !ipt__library_find(library, #name, &ipt__opencl.name, sizeof ipt__opencl.name))                     \
        result = ipt__fail(IPT_ERROR_NO_DEVICE, "the OpenCL library has no %s: it is older than 1.2", #name);
        IPT_ENTRY_POINT_LIST(IPT__ENTRY_POINT_FIND)
        ipt__loaded = !result;
        if (library && result)
            ipt__library_close(library);
    }
    IPT_LOCK_RELEASE(&ipt__load_lock);
    return result;
}

#else

/* Tests may define IPT_ENTRY_POINT(name) as a replacement for an OpenCL function. */
#ifndef IPT_ENTRY_POINT
#define IPT_ENTRY_POINT(name) name
#endif
#define IPT__ENTRY_POINT_ADDRESS(result, name, parameters) IPT_ENTRY_POINT(name),
static const ipt__driver ipt__opencl = {NULL, NULL, IPT_ENTRY_POINT_LIST(IPT__ENTRY_POINT_ADDRESS)};

static ipt_result ipt__opencl_open(void)
{
    return IPT_SUCCESS;
}

#endif

#else

static ipt_result ipt__opencl_open(void)
{
    return ipt__fail(IPT_ERROR_NO_DEVICE, "ipt was compiled with IPT_NO_OPENCL: this CPU is the device");
}

#endif
