#include "posix.h"
pid_t waitpid(pid_t process, int *status, int options);
enum { WNOHANG = 1 };
#define WIFEXITED(status) ((status) >= 0)
#define WEXITSTATUS(status) (status)
#define WIFSIGNALED(status) ((status) < 0)
#define WTERMSIG(status) SIGKILL
