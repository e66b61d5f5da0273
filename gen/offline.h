/* Compiling specialised OpenCL C texts with clang and libclc for devices that this machine does not have. The promise:
 * code that is handed out calls nothing that it does not bring along, and what the target's own checker refuses is not
 * handed out; otherwise there is a sentence with the compiler's words. No shell runs, and nothing stays in the file
 * system unless a signal ends the process. Prints nothing. */
#ifndef IPT_GEN_OFFLINE_H_INCLUDED
#define IPT_GEN_OFFLINE_H_INCLUDED

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OFFLINE_MESSAGE_SIZE = 1000, /* the longest sentence */
    OFFLINE_FOLDER_SIZE = 4000,
    OFFLINE_PATH_SIZE = OFFLINE_FOLDER_SIZE + 64, /* the names in a folder are short */
    OFFLINE_STEPS = 4,                            /* the most programs that a target needs */
    OFFLINE_WORDS = 32,                           /* in the longest command, NULL included */
    OFFLINE_OLDEST = 14,                          /* version of LLVM */
    OFFLINE_NEWEST = 99,                          /* that is looked for */
    OFFLINE_CRASHED = 70                          /* what is said of a program that a signal ended */
};

typedef enum offline_kind { OFFLINE_PTX, OFFLINE_SPIRV, OFFLINE_BITCODE, OFFLINE_AMDGCN } offline_kind;

typedef struct offline_target {
    offline_kind kind;
    char processor[32]; /* sm_80, gfx90a; empty: none */
    char llvm[16];      /* what LLVM's programs have behind their names: -14; empty: nothing */
} offline_target;

/* A command. Its files have no folder: it runs in theirs. */
typedef struct offline_step {
    const char *words[OFFLINE_WORDS]; /* up to NULL */
    size_t count;
    char program[32];    /* the first word */
    char package[32];    /* that has the program */
    const char *library; /* a file that it reads beside its input; NULL: none */
    char processor[48];  /* for a word that contains the processor */
} offline_step;

/* All functions below that return false have put a sentence into message, OFFLINE_MESSAGE_SIZE bytes. */

static bool offline_fail(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, OFFLINE_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Which LLVM */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Whether execvp would find a program. */
static bool offline_installed(const char *program)
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

/* Whether all programs of LLVM that a kind of target needs are there, with that behind their names. */
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

/* Code that a processor runs. Drivers read SPIR-V and bitcode, if these are as old as the drivers are, or older. */
static bool offline_is_machine_code(const offline_target *target)
{
    return target->kind == OFFLINE_PTX || target->kind == OFFLINE_AMDGCN;
}

/* Chooses the next LLVM with all the programs, from a version on: the newest for machine code, because it knows most
 * processors, the oldest for what drivers read. false: there is none. */
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

/* Chooses the LLVM for a target: the environment's IPT_LLVM (19, say), else the first that is installed, else programs
 * without a version. */
static void offline_find_llvm(offline_target *target)
{
    const char *wanted = getenv("IPT_LLVM");
    if (wanted != NULL && wanted[0] != '\0') {
        snprintf(target->llvm, sizeof target->llvm, "-%.8s", wanted);
    } else if (!offline_next_llvm(target, offline_is_machine_code(target) ? OFFLINE_NEWEST : OFFLINE_OLDEST)) {
        target->llvm[0] = '\0';
    }
}

/* Chooses the one behind it, for a libclc that this one cannot use. */
static bool offline_other_llvm(offline_target *target)
{
    const char *wanted = getenv("IPT_LLVM");
    return (wanted == NULL || wanted[0] == '\0') && target->llvm[0] == '-' &&
           offline_next_llvm(target, atoi(target->llvm + 1) - 1);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Targets and their commands */
/* ------------------------------------------------------------------------------------------------------------------ */

/* "ptx:sm_80", "spirv", "bitcode" or "amdgcn:gfx90a". */
static bool offline_read_target(const char *text, offline_target *target, char *message)
{
    static const struct {
        const char *name;
        offline_kind kind;
        const char *prefix; /* of its processors; NULL: it has none */
        const char *rest;   /* the characters behind it */
    } kinds[] = {{"ptx", OFFLINE_PTX, "sm_", "0123456789"},
                 {"spirv", OFFLINE_SPIRV, NULL, NULL},
                 {"bitcode", OFFLINE_BITCODE, NULL, NULL},
                 {"amdgcn", OFFLINE_AMDGCN, "gfx", "abcdefghijklmnopqrstuvwxyz0123456789_"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].name), prefix;
        if (strncmp(text, kinds[i].name, length) != 0 || (text[length] != ':' && text[length] != '\0')) {
            continue;
        }
        memset(target, 0, sizeof *target);
        target->kind = kinds[i].kind;
        offline_find_llvm(target);
        const char *processor = text[length] == ':' ? text + length + 1 : "";
        if (kinds[i].prefix == NULL) {
            return text[length] == '\0' ||
                   offline_fail(message, "target '%.60s': %s has no processors", text, kinds[i].name);
        }
        prefix = strlen(kinds[i].prefix);
        if (strncmp(processor, kinds[i].prefix, prefix) != 0 || processor[prefix] == '\0' ||
            strspn(processor + prefix, kinds[i].rest) != strlen(processor + prefix) ||
            strlen(processor) >= sizeof target->processor) {
            return offline_fail(message, "target '%.60s' does not name a processor, such as %s", text,
                                kinds[i].kind == OFFLINE_PTX ? "ptx:sm_80" : "amdgcn:gfx90a");
        }
        strcpy(target->processor, processor);
        return true;
    }
    return offline_fail(message, "'%.60s' is not a target: ptx:sm_80, spirv, bitcode and amdgcn:gfx90a are", text);
}

/* Appends words, up to NULL. */
static void offline_add(offline_step *step, const char *const *words)
{
    while (*words != NULL) {
        step->words[step->count++] = *words++;
    }
    step->words[step->count] = NULL;
}

#define OFFLINE_ADD(step, ...) offline_add(step, (const char *const[]){__VA_ARGS__, NULL})

/* Begins a command with a program of LLVM's. */
static void offline_begin(offline_step *step, const offline_target *target, const char *program, const char *package)
{
    snprintf(step->program, sizeof step->program, "%s%s", program, target->llvm);
    snprintf(step->package, sizeof step->package, "%s%s", package, target->llvm);
    OFFLINE_ADD(step, step->program);
}

#define OFFLINE_PTX_LIBRARY "/usr/lib/clc/nvptx64--nvidiacl.bc"
#define OFFLINE_AMD_LIBRARY "/usr/lib/clc/amdgcn--amdhsa.bc"

/* Whether these options are for the texts that need more than OpenCL C 1.2. */
static bool offline_later(const char *options)
{
    return strcmp(options, "-cl-std=CL1.2") != 0;
}

/* The version of PTX, as LLVM names the feature: the first that knows the processor, and 7.4 at least, the first that
 * has all the instructions in the kernels. LLVM from some version on takes no older one for a processor. */
static const char *offline_ptx_version(const offline_target *target)
{
    static const struct {
        long processor;
        const char *feature;
    } versions[] = {{120, "+ptx87"}, {103, "+ptx88"}, {100, "+ptx86"}, {89, "+ptx78"}};
    long processor = strtol(target->processor + strlen("sm_"), NULL, 10);
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        if (processor >= versions[i].processor) {
            return versions[i].feature;
        }
    }
    return "+ptx74";
}

/* clang's command, from k.cl to k.bc. Nothing is optimised there. */
static void offline_clang_step(const offline_target *target, const char *options, offline_step *step)
{
    /* OpenCL C 3.0 for 2.0 too, since it can do without the generic address space: libclc has no built-ins for that
     * one, not all devices do, and no kernel uses it. */
    const char *standard = offline_later(options) && target->kind != OFFLINE_PTX ? "-cl-std=CL3.0" : options;
    offline_begin(step, target, "clang", "clang");
    OFFLINE_ADD(step, "-x", "cl", standard, "-O2", "-w", "-fno-caret-diagnostics", "-fno-crash-diagnostics", "-Xclang",
                "-disable-llvm-passes", "-emit-llvm");
    if (target->kind == OFFLINE_PTX) {
        /* With nvidiacl as the target, buffers would be no .ptr .global, and launches fault. */
        step->library = OFFLINE_PTX_LIBRARY;
        snprintf(step->processor, sizeof step->processor, "%s", target->processor);
        OFFLINE_ADD(step, "--target=nvptx64-nvidia-nvcl", "-Xclang", "-target-cpu", "-Xclang", step->processor,
                    "-Xclang", "-target-feature", "-Xclang", offline_ptx_version(target), "-Xclang",
                    "-mlink-builtin-bitcode", "-Xclang", OFFLINE_PTX_LIBRARY);
    } else if (target->kind == OFFLINE_AMDGCN) {
        step->library = OFFLINE_AMD_LIBRARY;
        snprintf(step->processor, sizeof step->processor, "-mcpu=%s", target->processor);
        OFFLINE_ADD(step, "--target=amdgcn-amd-amdhsa", step->processor, "-nogpulib", "-Xclang",
                    "-mlink-builtin-bitcode", "-Xclang", OFFLINE_AMD_LIBRARY);
        if (offline_later(options)) { /* what libclc lacks and clang has under other names */
            OFFLINE_ADD(step, "-Datomic_load_explicit=__opencl_atomic_load",
                        "-Datomic_fetch_add_explicit=__opencl_atomic_fetch_add",
                        "-Datomic_fetch_or_explicit=__opencl_atomic_fetch_or",
                        "-Datomic_work_item_fence(flags,order,scope)=__builtin_amdgcn_fence(order,\"agent\")");
        }
    } else {
        OFFLINE_ADD(step, "--target=spir64");
        if (offline_later(options)) {
            OFFLINE_ADD(step, "-Xclang",
                        "-cl-ext=-__opencl_c_generic_address_space,-__opencl_c_pipes,-__opencl_c_device_enqueue",
                        "-Dcl_intel_required_subgroup_size");
        }
    }
    OFFLINE_ADD(step, "-c", "k.cl", "-o", "k.bc");
}

/* The commands from k.bc to k.ptx or k.o. The optimiser does without its analysis of globals, which clang has no switch
 * for: LLVM's (seen: 14) takes no notice of barriers, so that a load from a __local array comes to stand before the
 * barrier that it is behind. reduce: as usual, with the pass that reduces the strength of loops. */
static void offline_generate_steps(const offline_target *target, bool reduce, offline_step *optimise,
                                   offline_step *generate)
{
    const bool ptx = target->kind == OFFLINE_PTX;
    offline_begin(optimise, target, "opt", "llvm");
    OFFLINE_ADD(optimise, "-passes=default<O2>", "-aa-pipeline=basic-aa,scoped-noalias-aa,tbaa", "k.bc", "-o", "o.bc");
    snprintf(generate->processor, sizeof generate->processor, "-mcpu=%s", target->processor);
    offline_begin(generate, target, "llc", "llvm");
    OFFLINE_ADD(generate, "-O2", "--asm-verbose=0", generate->processor);
    if (!reduce) {
        OFFLINE_ADD(generate, "-disable-lsr");
    }
    if (ptx) {
        OFFLINE_ADD(generate, "-mattr", offline_ptx_version(target), "o.bc", "-o", "k.ptx");
    } else {
        OFFLINE_ADD(generate, "-filetype=obj", "o.bc", "-o", "k.o");
    }
}

/* The commands from k.cl to the result, whose file's name is returned.
 *
 * SPIR-V and bitcode stay unoptimised, as they are where a driver compiles source: llvm-spirv cannot translate the
 * freeze instructions that the optimiser makes, nor keep its order of blocks valid, and drivers optimise anyway. */
static const char *offline_steps(const offline_target *target, const char *options, bool reduce,
                                 offline_step steps[OFFLINE_STEPS])
{
    memset(steps, 0, OFFLINE_STEPS * sizeof *steps);
    offline_clang_step(target, options, &steps[0]);
    if (target->kind == OFFLINE_SPIRV) {
        offline_begin(&steps[1], target, "llvm-spirv", "llvm-spirv");
        strcpy(steps[2].package, "spirv-tools");
        /* A wanted size of sub-groups needs SPIR-V 1.1, which no OpenCL before 2.2 promises; texts without one come out
         * as 1.0 nevertheless. */
        OFFLINE_ADD(&steps[1], offline_later(options) ? "--spirv-max-version=1.1" : "--spirv-max-version=1.0", "k.bc",
                    "-o", "k.spv");
        OFFLINE_ADD(&steps[2], "spirv-val", "--target-env", offline_later(options) ? "opencl2.2" : "opencl1.2",
                    "k.spv");
        return "k.spv";
    }
    if (target->kind == OFFLINE_BITCODE) {
        return "k.bc";
    }
    offline_generate_steps(target, reduce, &steps[1], &steps[2]);
    if (target->kind == OFFLINE_PTX) {
        return "k.ptx";
    }
    offline_begin(&steps[3], target, "ld.lld", "lld");
    OFFLINE_ADD(&steps[3], "-shared", "--no-undefined", "k.o", "-o", "k.co");
    return "k.co";
}

/* Whether a shell takes a word as it is. */
static bool offline_plain(const char *word)
{
    for (; *word != '\0'; word++) {
        if (!isalnum((unsigned char)*word) && strchr("-+_=:,./", *word) == NULL) {
            return false;
        }
    }
    return true;
}

/* The commands as a person would type them, one on a line, into text of capacity bytes. */
static void offline_commands(const offline_target *target, const char *options, char *text, size_t capacity)
{
    offline_step steps[OFFLINE_STEPS];
    size_t length = 0;
    offline_steps(target, options, true, steps);
    if (capacity > 0) {
        text[0] = '\0';
    }
    for (size_t i = 0; i < OFFLINE_STEPS; i++) {
        for (size_t k = 0; k < steps[i].count && length < capacity; k++) {
            const char *quote = offline_plain(steps[i].words[k]) ? "" : "'";
            length += (size_t)snprintf(text + length, capacity - length, "%s%s%s%s", quote, steps[i].words[k], quote,
                                       k + 1 < steps[i].count ? " " : "\n");
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Running programs */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Appends to a message, which ends where it is full. */
static void offline_append(char *message, const char *first, const char *second)
{
    size_t length = strlen(message);
    snprintf(message + length, OFFLINE_MESSAGE_SIZE - length, "%s%s", first, second);
}

/* Whether the programs and libraries that a target needs are installed. If not, the sentence names their packages. */
static bool offline_available(const offline_target *target, char *message)
{
    offline_step steps[OFFLINE_STEPS];
    char packages[OFFLINE_MESSAGE_SIZE] = "";
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

/* The path of a file in a folder. */
static const char *offline_path(const char *folder, const char *name, char path[OFFLINE_PATH_SIZE])
{
    snprintf(path, OFFLINE_PATH_SIZE, "%s/%s", folder, name);
    return path;
}

/* A new folder for temporary files. */
static bool offline_make_folder(char folder[OFFLINE_FOLDER_SIZE], char *message)
{
    const char *parent = getenv("TMPDIR");
    parent = parent != NULL && parent[0] != '\0' ? parent : "/tmp";
    if (snprintf(folder, OFFLINE_FOLDER_SIZE, "%s/ipt_offline_XXXXXX", parent) >= OFFLINE_FOLDER_SIZE) {
        return offline_fail(message, "the name of the folder for temporary files in TMPDIR is too long");
    }
    return mkdtemp(folder) != NULL ||
           offline_fail(message, "no folder for temporary files can be made in %.400s: %s", parent, strerror(errno));
}

/* Removes a folder and its files, whatever the compiler has left in it. */
static void offline_remove_folder(const char *folder)
{
    DIR *list = opendir(folder);
    if (list != NULL) {
        for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
            unlinkat(dirfd(list), entry->d_name, 0); /* fails for . and .. */
        }
        closedir(list);
    }
    rmdir(folder);
}

static bool offline_write(const char *path, const char *text, char *message)
{
    FILE *stream = fopen(path, "w");
    bool good = stream != NULL && fputs(text, stream) >= 0;
    if (stream != NULL) {
        good = fclose(stream) == 0 && good;
    }
    return good || offline_fail(message, "%.400s: %s", path, strerror(errno));
}

/* A file's content in memory that the caller frees, with a zero behind it. */
static bool offline_read(const char *path, unsigned char **content, size_t *bytes, char *message)
{
    FILE *stream = fopen(path, "rb");
    unsigned char *memory = NULL;
    long size = -1;
    if (stream != NULL && fseek(stream, 0, SEEK_END) == 0 && (size = ftell(stream)) >= 0) {
        memory = malloc((size_t)size + 1);
        rewind(stream);
    }
    bool good = memory != NULL && fread(memory, 1, (size_t)size, stream) == (size_t)size;
    if (stream != NULL) {
        fclose(stream);
    }
    if (!good) {
        free(memory);
        return offline_fail(message, "%.400s: it cannot be read", path);
    }
    memory[size] = '\0';
    *content = memory;
    *bytes = (size_t)size;
    return true;
}

/* The child's side of offline_spawn. Calls only what is safe between fork and exec. */
static void offline_become(const offline_step *step, const char *folder)
{
    int input = open("/dev/null", O_RDONLY), errors = -1;
    if (chdir(folder) == 0) {
        errors = open("errors", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    if (input >= 0 && errors >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(errors, STDOUT_FILENO) >= 0 &&
        dup2(errors, STDERR_FILENO) >= 0) {
        execvp(step->words[0], (char *const *)step->words);
    }
    _exit(127);
}

/* Runs a command in a folder, where its output comes to stand in the file errors. *code: its exit code. */
static bool offline_spawn(const offline_step *step, const char *folder, int *code, char *message)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        offline_become(step, folder);
    }
    if (child < 0) {
        return offline_fail(message, "%s cannot be started: %s", step->words[0], strerror(errno));
    }
    while (waitpid(child, &status, 0) != child) {
        if (errno != EINTR) {
            return offline_fail(message, "%s cannot be waited for: %s", step->words[0], strerror(errno));
        }
    }
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : OFFLINE_CRASHED;
    return true;
}

/* What the sentence begins with where the file of libclc is of another version than clang can use. */
#define OFFLINE_OTHER_LIBRARY "libclc does not go with "

/* The sentence for a command that failed, from what it said. */
static void offline_explain(const offline_target *target, const offline_step *step, const char *folder, int code,
                            char *message)
{
    char path[OFFLINE_PATH_SIZE], unread[OFFLINE_MESSAGE_SIZE];
    unsigned char *errors = NULL;
    size_t bytes = 0;
    if (!offline_read(offline_path(folder, "errors", path), &errors, &bytes, unread)) {
        errors = NULL;
    }
    const char *words = errors != NULL ? (const char *)errors : "";
    if (strstr(words, "unknown target CPU") != NULL || strstr(words, "invalid target ID") != NULL) {
        offline_fail(message, "%s does not know the processor %s%s", step->words[0], target->processor,
                     target->kind == OFFLINE_PTX ? ": take sm_80 or sm_86, whose PTX runs on all newer ones" : "");
    } else if (step->library != NULL && (strstr(words, "Producer: 'LLVM") || strstr(words, "cannot link module"))) {
        /* clang 22 names the module by bytes that are no text. */
        const char *reason = strrchr(words, '(') != NULL ? strrchr(words, '(') : strstr(words, "linking module");
        offline_fail(message, OFFLINE_OTHER_LIBRARY "%s: %s", step->words[0], reason != NULL ? reason : words);
    } else if (strncmp(step->words[0], "ld.lld", 6) == 0 && strstr(words, "undefined") != NULL) {
        offline_fail(message, "the text calls what libclc does not have for this target: %s", words);
    } else {
        offline_fail(message, "%s failed with exit code %d: %s", step->words[0], code, words);
    }
    for (char *letter = message; *letter != '\0'; letter++) { /* one line */
        *letter = *letter == '\n' || *letter == '\t' ? ' ' : *letter;
    }
    for (size_t length = strlen(message); length > 0 && message[length - 1] == ' ';) {
        message[--length] = '\0';
    }
    free(errors);
}

/* Runs the commands in a folder that holds k.cl. *result: the name of the last one's file. */
static bool offline_run(const offline_target *target, const char *options, const char *folder, const char **result,
                        char *message)
{
    offline_step steps[OFFLINE_STEPS];
    *result = offline_steps(target, options, true, steps);
    for (size_t i = 0; i < OFFLINE_STEPS && steps[i].count > 0; i++) {
        int code;
        if (!offline_spawn(&steps[i], folder, &code, message)) {
            return false;
        }
        /* In some loops that pass makes products of single bits, which LLVM's code generators for GPUs (seen: 14)
         * cannot select.
         */
        if (strncmp(steps[i].words[0], "llc", 3) == 0 && code == OFFLINE_CRASHED) {
            offline_steps(target, options, false, steps);
            if (!offline_spawn(&steps[i], folder, &code, message)) {
                return false;
            }
        }
        if (code != 0) {
            offline_explain(target, &steps[i], folder, code, message);
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Checking what came out */
/* ------------------------------------------------------------------------------------------------------------------ */

/* N of the source's line `#define IPT_GROUP_SIZE N`, 0 without one. */
static unsigned offline_group_size(const char *source)
{
    static const char define[] = "#define IPT_GROUP_SIZE ";
    for (const char *found = source; (found = strstr(found, define)) != NULL; found++) {
        if (found == source || found[-1] == '\n') {
            unsigned long size = strtoul(found + sizeof define - 1, NULL, 10);
            return size <= 1024 ? (unsigned)size : 0;
        }
    }
    return 0;
}

/* Puts the work-group's size, which clang drops, behind a kernel's parameters: the driver may give work-items more
 * registers than a work-group of that size can have. *ptx was malloc'ed. */
static bool offline_insert_group_size(unsigned char **ptx, size_t *bytes, size_t position, unsigned size, char *message)
{
    char line[40];
    size_t length = (size_t)snprintf(line, sizeof line, "\n.reqntid %u, 1, 1", size);
    unsigned char *longer = realloc(*ptx, *bytes + length + 1);
    if (longer == NULL) {
        return offline_fail(message, "out of memory for the PTX of a kernel");
    }
    memmove(longer + position + length, longer + position, *bytes - position + 1);
    memcpy(longer + position, line, length);
    *ptx = longer;
    *bytes += length;
    return true;
}

/* Whether text of a given length contains part. */
static bool offline_contains(const char *text, size_t length, const char *part)
{
    const char *found = strstr(text, part);
    return found != NULL && found < text + length;
}

/* A function in PTX that is not a kernel. */
typedef struct offline_function {
    const char *name, *end; /* of its head */
    size_t length;          /* of the name */
    bool defined;           /* not only declared */
} offline_function;

#define OFFLINE_BLANKS " \t\n"

/* The next function from text on. Its head is .func (result) name (parameters), behind which stands its body, or a
 * semicolon. */
static bool offline_next_function(const char *text, offline_function *function)
{
    const char *place = strstr(text, ".func ");
    if (place == NULL) {
        return false;
    }
    place += sizeof ".func " - 1;
    place += strspn(place, OFFLINE_BLANKS);
    if (*place == '(') {
        place += strcspn(place, ")");
        place += strspn(place, ")" OFFLINE_BLANKS);
    }
    function->name = place;
    function->length = strcspn(place, "(" OFFLINE_BLANKS);
    place += strcspn(place, ")"); /* a parameter has none */
    place += strspn(place, ")" OFFLINE_BLANKS);
    function->end = place;
    function->defined = *place != ';';
    return true;
}

/* Whether every function that PTX declares is defined in it. It has to declare what it calls. */
static bool offline_all_defined(const char *ptx, char *message)
{
    offline_function declared, other;
    for (const char *place = ptx; offline_next_function(place, &declared); place = declared.end) {
        bool defined = declared.defined;
        for (const char *from = ptx; !defined && offline_next_function(from, &other); from = other.end) {
            defined = other.defined && other.length == declared.length &&
                      memcmp(other.name, declared.name, other.length) == 0;
        }
        if (!defined) {
            return offline_fail(message, "the text calls %.*s, which neither it nor libclc defines for PTX",
                                (int)declared.length, declared.name);
        }
    }
    return true;
}

/* Checks PTX and puts the work-groups' size into it. */
static bool offline_finish_ptx(const char *source, unsigned char **ptx, size_t *bytes, char *message)
{
    static const char entry[] = "\n.entry ";
    unsigned size = offline_group_size(source);
    size_t kernels = 0, position = 0;
    if (strlen((char *)*ptx) != *bytes) {
        return offline_fail(message, "clang's PTX contains a zero byte");
    }
    if (!offline_all_defined((char *)*ptx, message)) {
        return false;
    }
    for (const char *found; (found = strstr((char *)*ptx + position, entry)) != NULL; kernels++) {
        const char *name = found + sizeof entry - 1;
        size_t length = strcspn(name, ")");
        /* Each kernel has a buffer, and the target, not the parameter, decides how clang declares it. */
        if (name[length] == '\0' || !offline_contains(name, length, ".ptr .global")) {
            return offline_fail(message,
                                "the PTX of %.*s has no parameter that is .ptr .global: its launches would fault",
                                (int)strcspn(name, "( \n"), name);
        }
        position = (size_t)(name + length + 1 - (char *)*ptx);
        if (size > 0 && !offline_insert_group_size(ptx, bytes, position, size, message)) {
            return false;
        }
    }
    return kernels > 0 || offline_fail(message, "clang's PTX contains no kernel");
}

/* Checks the code of the other targets, as far as spirv-val and the linker have not done so. */
static bool offline_check(offline_kind kind, const unsigned char *code, size_t bytes, char *message)
{
    /* An ELF file of 64 bits that is a shared object (3) for AMD GPUs (224): a code object. */
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1}, machine[] = {3, 0, 224, 0};
    static const unsigned char bitcode[] = {'B', 'C', 0xc0, 0xde}, spirv[] = {0x03, 0x02, 0x23, 0x07};
    if (kind == OFFLINE_AMDGCN) {
        return (bytes >= 64 && memcmp(code, elf, sizeof elf) == 0 && memcmp(code + 16, machine, sizeof machine) == 0) ||
               offline_fail(message, "the linker has made no code object for AMD GPUs");
    }
    return (bytes >= 4 && memcmp(code, kind == OFFLINE_SPIRV ? spirv : bitcode, 4) == 0) ||
           offline_fail(message, "what came out is no %s", kind == OFFLINE_SPIRV ? "SPIR-V" : "bitcode");
}

/* Compiles in a folder of its own. */
static bool offline_compile_in(const char *folder, const offline_target *target, const char *source,
                               const char *options, unsigned char **code, size_t *bytes, char *message)
{
    char path[OFFLINE_PATH_SIZE];
    const char *result;
    if (!offline_write(offline_path(folder, "k.cl", path), source, message) ||
        !offline_run(target, options, folder, &result, message) ||
        !offline_read(offline_path(folder, result, path), code, bytes, message)) {
        return false;
    }
    if (target->kind == OFFLINE_PTX ? offline_finish_ptx(source, code, bytes, message)
                                    : offline_check(target->kind, *code, *bytes, message)) {
        return true;
    }
    free(*code);
    return false;
}

/* Compiles a text. options: "-cl-std=CL1.2", "-cl-std=CL2.0" or "-cl-std=CL3.0". The caller frees *code; a zero that
 * *bytes does not count stands behind it. On failure *code is NULL. Where libclc asks for another LLVM, *target has
 * that one from then on. */
static bool offline_compile(offline_target *target, const char *source, const char *options, unsigned char **code,
                            size_t *bytes, char *message)
{
    char folder[OFFLINE_FOLDER_SIZE];
    *code = NULL;
    *bytes = 0;
    if (strcmp(options, "-cl-std=CL1.2") != 0 && strcmp(options, "-cl-std=CL2.0") != 0 &&
        strcmp(options, "-cl-std=CL3.0") != 0) {
        return offline_fail(message, "'%.60s' is not -cl-std=CL1.2, CL2.0 or CL3.0", options);
    }
    if (!offline_available(target, message) || !offline_make_folder(folder, message)) {
        return false;
    }
    bool good;
    do {
        good = offline_compile_in(folder, target, source, options, code, bytes, message);
    } while (!good && strncmp(message, OFFLINE_OTHER_LIBRARY, sizeof OFFLINE_OTHER_LIBRARY - 1) == 0 &&
             offline_other_llvm(target));
    if (!good) {
        *code = NULL;
        *bytes = 0;
    }
    offline_remove_folder(folder);
    return good;
}

#endif /* IPT_GEN_OFFLINE_H_INCLUDED */
