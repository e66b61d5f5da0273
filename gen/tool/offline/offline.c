#define _POSIX_C_SOURCE 200809L

#include "offline.h"

#include "offline_ptx.h"
#include "offline_run.h"
#include "offline_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends to a message, up to OFFLINE_MESSAGE_SIZE. */
static void offline_append(char *message, const char *first, const char *second)
{
    size_t length = strlen(message);
    snprintf(message + length, OFFLINE_MESSAGE_SIZE - length, "%s%s", first, second);
}

bool offline_available(const offline_target *target, char *message)
{
    offline_step steps[OFFLINE_STEPS];
    char packages[OFFLINE_MESSAGE_SIZE] = "";
    if (!offline_supported(message)) {
        return false;
    }
    offline_steps(target, "-cl-std=CL1.2", true, steps);
    message[0] = '\0';
    for (size_t i = 0; i < OFFLINE_STEPS; i++) {
        if (steps[i].count > 0 && !offline_installed(steps[i].words[0])) {
            offline_append(message, message[0] != '\0' ? ", " : "not installed: ", steps[i].words[0]);
            if (strstr(packages, steps[i].package) == NULL) {
                offline_append(packages, " ", steps[i].package);
            }
        }
        if (steps[i].library != NULL && access(steps[i].library, R_OK) != 0) {
            offline_append(message, message[0] != '\0' ? ", " : "not installed: ", steps[i].library);
            offline_append(packages, " libclc", target->llvm[0] != '\0' ? target->llvm : "-N, N as in clang-N");
        }
    }
    if (message[0] == '\0') {
        return true;
    }
    offline_append(message, "; on Debian and Ubuntu: apt-get install", packages);
    return false;
}

/* Checks the format of code that is not PTX. spirv-val and the linker have checked the rest. */
static bool offline_check(offline_kind kind, const unsigned char *code, size_t bytes, char *message)
{
    /* A code object is a 64-bit ELF file, a shared object (3) for AMD GPUs (224). */
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1}, machine[] = {3, 0, 224, 0};
    static const unsigned char bitcode[] = {'B', 'C', 0xc0, 0xde}, spirv[] = {0x03, 0x02, 0x23, 0x07};
    if (kind == OFFLINE_AMDGCN) {
        return (bytes >= 64 && memcmp(code, elf, sizeof elf) == 0 && memcmp(code + 16, machine, sizeof machine) == 0) ||
               offline_fail(message, "the linker's output is no code object for AMD GPUs");
    }
    return (bytes >= 4 && memcmp(code, kind == OFFLINE_SPIRV ? spirv : bitcode, 4) == 0) ||
           offline_fail(message, "the compiler's output is no %s", kind == OFFLINE_SPIRV ? "SPIR-V" : "bitcode");
}

/* Compiles the k.cl of a folder. */
static bool offline_compile_in(const char *folder, const offline_target *target, const char *options,
                               unsigned char **code, size_t *bytes, char *message)
{
    char path[OFFLINE_PATH_SIZE];
    const char *result;
    return offline_run(target, options, folder, &result, message) &&
           offline_read(offline_path(folder, result, path), code, bytes, message);
}

bool offline_compile(offline_target *target, const char *source, const char *options, unsigned char **code,
                     size_t *bytes, char *message)
{
    char folder[OFFLINE_FOLDER_SIZE], path[OFFLINE_PATH_SIZE];
    *code = NULL;
    *bytes = 0;
    if (strcmp(options, "-cl-std=CL1.2") != 0 && strcmp(options, "-cl-std=CL2.0") != 0 &&
        strcmp(options, "-cl-std=CL3.0") != 0) {
        return offline_fail(message, "options '%.60s': must be -cl-std=CL1.2, -cl-std=CL2.0 or -cl-std=CL3.0", options);
    }
    if (!offline_available(target, message) || !offline_make_folder(folder, message)) {
        return false;
    }
    bool good = offline_write(offline_path(folder, "k.cl", path), source, message), again = good;
    while (again) {
        good = offline_compile_in(folder, target, options, code, bytes, message);
        again = !good && strncmp(message, OFFLINE_OTHER_LIBRARY, sizeof OFFLINE_OTHER_LIBRARY - 1) == 0 &&
                offline_other_llvm(target);
    }
    if (good) {
        good = target->kind == OFFLINE_PTX ? offline_finish_ptx(source, code, bytes, message)
                                           : offline_check(target->kind, *code, *bytes, message);
    }
    if (!good) {
        free(*code);
        *code = NULL;
        *bytes = 0;
    }
    offline_remove_folder(folder);
    return good;
}
