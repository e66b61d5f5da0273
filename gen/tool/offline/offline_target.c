#define _POSIX_C_SOURCE 200809L

#include "offline_target.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OFFLINE_PATH_SIZE = 4096,
    OFFLINE_OLDEST = 14, /* supported version of LLVM */
    OFFLINE_NEWEST = 99  /* version searched for */
};

bool offline_fail(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, OFFLINE_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

bool offline_installed(const char *program)
{
    const char *path = getenv("PATH");
    char file[OFFLINE_PATH_SIZE];
    for (path = path != NULL ? path : "/usr/bin:/bin"; *path != '\0';) {
        size_t length = strcspn(path, ":");
        int written = snprintf(file, sizeof file, "%.*s/%s", (int)length, path, program);
        if (length > 0 && written < (int)sizeof file && access(file, X_OK) == 0) {
            return true;
        }
        path += length + (path[length] == ':');
    }
    return false;
}

/* Whether all programs for a kind of target are installed under names with this suffix. */
static bool offline_has_llvm(offline_kind kind, const char *suffix)
{
    static const char *const programs[][5] = {[OFFLINE_PTX] = {"clang", "opt", "llc"},
                                              [OFFLINE_SPIRV] = {"clang", "llvm-spirv"},
                                              [OFFLINE_BITCODE] = {"clang"},
                                              [OFFLINE_AMDGCN] = {"clang", "opt", "llc", "ld.lld"}};
    for (size_t i = 0; programs[kind][i] != NULL; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", programs[kind][i], suffix);
        if (!offline_installed(name)) {
            return false;
        }
    }
    return true;
}

/* Whether the target is machine code. SPIR-V and bitcode are read by drivers, which refuse newer versions. */
static bool offline_is_machine_code(const offline_target *target)
{
    return target->kind == OFFLINE_PTX || target->kind == OFFLINE_AMDGCN;
}

/* Selects the next LLVM with all programs, beginning with `version`: downwards for machine code, because the newest
 * LLVM supports most processors; upwards for code that drivers read. false: none. */
static bool offline_next_llvm(offline_target *target, int version)
{
    while (version >= OFFLINE_OLDEST && version <= OFFLINE_NEWEST) {
        char suffix[sizeof target->llvm];
        snprintf(suffix, sizeof suffix, "-%d", version);
        if (offline_has_llvm(target->kind, suffix)) {
            strcpy(target->llvm, suffix);
            return true;
        }
        version += offline_is_machine_code(target) ? -1 : 1;
    }
    return false;
}

/* Selects the LLVM for a target: IPT_LLVM in the environment (such as 19), else the first installed version, else
 * programs without a version in their names. */
static void offline_find_llvm(offline_target *target)
{
    const char *wanted = getenv("IPT_LLVM");
    if (wanted != NULL && wanted[0] != '\0') {
        snprintf(target->llvm, sizeof target->llvm, "-%.8s", wanted);
    } else if (!offline_next_llvm(target, offline_is_machine_code(target) ? OFFLINE_NEWEST : OFFLINE_OLDEST)) {
        target->llvm[0] = '\0';
    }
}

bool offline_other_llvm(offline_target *target)
{
    const char *wanted = getenv("IPT_LLVM");
    return (wanted == NULL || wanted[0] == '\0') && target->llvm[0] == '-' &&
           offline_next_llvm(target, (int)strtol(target->llvm + 1, NULL, 10) - 1);
}

bool offline_read_target(const char *text, offline_target *target, char *message)
{
    static const struct {
        const char *name;
        offline_kind kind;
        const char *prefix; /* of its processors' names; NULL: no processors */
        const char *rest;   /* characters allowed after it */
    } kinds[] = {{"ptx", OFFLINE_PTX, "sm_", "0123456789"},
                 {"spirv", OFFLINE_SPIRV, NULL, NULL},
                 {"bitcode", OFFLINE_BITCODE, NULL, NULL},
                 {"cuda", OFFLINE_CUDA, "sm_", "0123456789"},
                 {"amdgcn", OFFLINE_AMDGCN, "gfx", "abcdefghijklmnopqrstuvwxyz0123456789_"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].name), prefix;
        if (strncmp(text, kinds[i].name, length) != 0 || (text[length] != ':' && text[length] != '\0')) {
            continue;
        }
        memset(target, 0, sizeof *target);
        target->kind = kinds[i].kind;
        if (target->kind != OFFLINE_CUDA) {
            offline_find_llvm(target);
        }
        const char *processor = text[length] == ':' ? text + length + 1 : "";
        if (kinds[i].prefix == NULL) {
            return text[length] == '\0' || offline_fail(message, "target '%.60s': %s has no processors: use %s alone",
                                                        text, kinds[i].name, kinds[i].name);
        }
        prefix = strlen(kinds[i].prefix);
        if (strncmp(processor, kinds[i].prefix, prefix) != 0 || processor[prefix] == '\0' ||
            strspn(processor + prefix, kinds[i].rest) != strlen(processor + prefix) ||
            strlen(processor) >= sizeof target->processor) {
            return offline_fail(message, "target '%.60s' does not name a processor, such as %s", text,
                                kinds[i].kind == OFFLINE_PTX    ? "ptx:sm_80"
                                : kinds[i].kind == OFFLINE_CUDA ? "cuda:sm_90"
                                                                : "amdgcn:gfx90a");
        }
        strcpy(target->processor, processor);
        return true;
    }
    return offline_fail(message, "'%.60s' is not a target: cuda:sm_90, ptx:sm_80, spirv, bitcode and amdgcn:gfx90a are",
                        text);
}
