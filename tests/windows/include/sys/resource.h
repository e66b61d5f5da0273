#include "posix.h"
struct rlimit {
    unsigned long long rlim_cur, rlim_max;
};
typedef unsigned long long rlim_t;
enum { RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK };
#define RLIM_INFINITY (~0ull)
int setrlimit(int what, const struct rlimit *limit); /* skips the test if there is a limit */
int getrlimit(int what, struct rlimit *limit);
