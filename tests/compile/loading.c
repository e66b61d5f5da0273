/* Contract of IPT_OPENCL_DYNAMIC: which libraries ipt tries, their order, and IPT_OPENCL_LIBRARY in the environment.
 * This file replaces dlopen. It is compiled as for Linux, macOS and Android, but runs here only. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *present; /* the only library that exists; NULL: none */
static char tried[4000];

static void *found_open(const char *name, int flags)
{
    if (strstr(name, "libcuda")) /* the CUDA driver's library, which is not tried for OpenCL */
        return NULL;
    strcat(strcat(tried, name), "\n");
    return present && !strcmp(name, present) ? (dlopen)("libOpenCL.so.1", flags) : NULL;
}
#define dlopen(name, flags) found_open(name, flags)

#define IPT_OPENCL_DYNAMIC
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"

static int failures;

/* expected: the libraries that were tried, or a part of the message. */
static void expect(const char *what, int good)
{
    if (!good) {
        printf("loading: %s\n  tried:\n%s  message: %s\n", what, tried, ipt_context_error(NULL));
        ++failures;
    }
}

static ipt_result load(const char *exists, const char *named)
{
    size_t count = 0;
    present = exists;
    tried[0] = 0;
    ipt__loaded = 0;
    if (named)
        setenv("IPT_OPENCL_LIBRARY", named, 1);
    else
        unsetenv("IPT_OPENCL_LIBRARY");
    return ipt_device_list(NULL, 0, &count);
}

int main(void)
{
#if defined(__APPLE__)
    static const char *const all[] = {"/System/Library/Frameworks/OpenCL.framework/OpenCL"};
#elif defined(__ANDROID__)
    static const char *const all[] = {"libOpenCL.so",
                                      "libOpenCL-pixel.so",
                                      "/vendor/lib64/libOpenCL.so",
                                      "/system/vendor/lib64/libOpenCL.so",
                                      "/vendor/lib64/egl/libGLES_mali.so",
                                      "/vendor/lib64/libPVROCL.so",
                                      "/vendor/lib/libOpenCL.so"};
#else
    static const char *const all[] = {"libOpenCL.so.1", "libOpenCL.so"};
#endif
    const size_t count = sizeof all / sizeof *all;
    size_t i;
    expect("nothing is installed",
           load(NULL, NULL) == IPT_ERROR_NO_DEVICE && strstr(ipt_context_error(NULL), "IPT_OPENCL_LIBRARY"));
    for (i = 0; i < count; ++i)
        expect(all[i], strstr(tried, all[i]) != NULL);
    expect("the first comes first", !strncmp(tried, all[0], strlen(all[0])));
    for (i = 0; i < count; ++i) {
        const ipt_result result = load(all[i], NULL);
        expect(all[i], ipt__loaded && (!result || result == IPT_ERROR_NO_DEVICE) &&
                           tried[strlen(tried) - strlen(all[i]) - 1] == *all[i]);
    }
    expect("a library that is named",
           (load("/opt/mine.so", "/opt/mine.so"), ipt__loaded) && !strcmp(tried, "/opt/mine.so\n"));
    expect("a named one that is missing", load(all[0], "/opt/mine.so") == IPT_ERROR_NO_DEVICE && !ipt__loaded &&
                                              strstr(ipt_context_error(NULL), "/opt/mine.so") &&
                                              !strcmp(tried, "/opt/mine.so\n"));
    expect("an empty name is none", (load(all[0], ""), ipt__loaded) && strstr(tried, all[0]));
    return failures != 0;
}
