#include "test.h"

#include "process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SECONDS = 120 };

const char *process_tool(void)
{
    const char *const path = getenv("IPT_TOOL");
    return path ? path : "build/ipt";
}

pid_t process_start(const char *const *words, const process_setup *setup)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        const int nowhere = open("/dev/null", O_RDWR);
        const struct rlimit limit = {setup->file_bytes, setup->file_bytes};
        if (setup->file_bytes)
            setrlimit(RLIMIT_FSIZE, &limit);
        dup2(setup->output < 0 ? nowhere : setup->output, STDOUT_FILENO);
        dup2(setup->errors < 0 ? nowhere : setup->errors, STDERR_FILENO);
        for (int stream = 0; stream < 3; ++stream)
            if (setup->closed >> stream & 1)
                close(stream);
        alarm(SECONDS);
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    return child;
}
