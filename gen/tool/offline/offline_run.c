#define _POSIX_C_SOURCE 200809L

#include "offline_run.h"

#include "offline_steps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OFFLINE_CRASHED = 70 /* exit code for an end by a signal */ };

bool offline_supported(char *message)
{
    (void)message;
    return true;
}

const char *offline_path(const char *folder, const char *name, char path[OFFLINE_PATH_SIZE])
{
    snprintf(path, OFFLINE_PATH_SIZE, "%s/%s", folder, name);
    return path;
}

bool offline_make_folder(char folder[OFFLINE_FOLDER_SIZE], char *message)
{
    const char *parent = getenv("TMPDIR");
    parent = parent != NULL && parent[0] != '\0' ? parent : "/tmp";
    if (snprintf(folder, OFFLINE_FOLDER_SIZE, "%s/ipt_offline_XXXXXX", parent) >= OFFLINE_FOLDER_SIZE) {
        return offline_fail(message, "the name of the folder for temporary files in TMPDIR is too long");
    }
    return mkdtemp(folder) != NULL ||
           offline_fail(message, "could not create a folder for temporary files in %.400s: %s", parent,
                        strerror(errno));
}

void offline_remove_folder(const char *folder)
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

bool offline_write(const char *path, const char *text, char *message)
{
    FILE *stream = fopen(path, "w");
    bool good = stream != NULL && fputs(text, stream) >= 0;
    if (stream != NULL) {
        good = fclose(stream) == 0 && good;
    }
    return good || offline_fail(message, "%.400s: %s", path, strerror(errno));
}

bool offline_read(const char *path, unsigned char **content, size_t *bytes, char *message)
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
        return offline_fail(message, "could not read %.400s", path);
    }
    memory[size] = '\0';
    *content = memory;
    *bytes = (size_t)size;
    return true;
}

/* The child's side of offline_spawn. Calls only functions that are safe between fork and exec. */
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

/* Runs a command in a folder. Its output goes to the file "errors" there. *code: its exit code. */
static bool offline_spawn(const offline_step *step, const char *folder, int *code, char *message)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        offline_become(step, folder);
    }
    if (child < 0) {
        return offline_fail(message, "could not start %s: %s", step->words[0], strerror(errno));
    }
    while (waitpid(child, &status, 0) != child) {
        if (errno != EINTR) {
            return offline_fail(message, "could not wait for %s: %s", step->words[0], strerror(errno));
        }
    }
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : OFFLINE_CRASHED;
    return true;
}

/* Builds the message for a failed command from its output. */
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
                     target->kind == OFFLINE_PTX ? ": use sm_80 or sm_86, whose PTX runs on all newer processors" : "");
    } else if (step->library != NULL && (strstr(words, "Producer: 'LLVM") || strstr(words, "cannot link module"))) {
        /* clang 22 prints bytes that are not text before the reason. */
        const char *reason = strrchr(words, '(') != NULL ? strrchr(words, '(') : strstr(words, "linking module");
        offline_fail(message, OFFLINE_OTHER_LIBRARY "%s: %s", step->words[0], reason != NULL ? reason : words);
    } else if (strncmp(step->words[0], "ld.lld", 6) == 0 && strstr(words, "undefined") != NULL) {
        offline_fail(message, "the source calls functions that libclc lacks for this target: %s", words);
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

bool offline_run(const offline_target *target, const char *options, const char *folder, const char **result,
                 char *message)
{
    offline_step steps[OFFLINE_STEPS];
    *result = offline_steps(target, options, true, steps);
    for (size_t i = 0; i < OFFLINE_STEPS && steps[i].count > 0; i++) {
        int code = 0;
        if (!offline_spawn(&steps[i], folder, &code, message)) {
            return false;
        }
        /* llc of LLVM 14 crashes on products of single bits, which the pass for loop strength reduction generates in
         * some loops. Try again without this pass. */
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
