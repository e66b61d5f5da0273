/* Windows: --startup fails with a sentence, because it starts other processes. */
#include "startup.h"

#include "bench_result.h"

bool startup_measure(const startup_desc *desc, FILE *stream, FILE *csv, char *message)
{
    (void)desc;
    (void)stream;
    (void)csv;
    return bench_fail(message, "--startup starts other programs, which this tool does on POSIX systems alone");
}
