/* Compiling specialised OpenCL C texts with clang and libclc for devices that this machine does not have. The promise:
 * code that is handed out calls nothing that it does not bring along, and what the target's own checker refuses is not
 * handed out; otherwise there is a sentence with the compiler's words. No shell runs, and nothing stays in the file
 * system unless a signal ends the process. Prints nothing. */
#ifndef IPT_TOOL_OFFLINE_H_INCLUDED
#define IPT_TOOL_OFFLINE_H_INCLUDED

#include "offline_target.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the programs and libraries that a target needs are installed. If not, the sentence names their packages. */
bool offline_available(const offline_target *target, char *message);

/* Compiles a text. options: "-cl-std=CL1.2", "-cl-std=CL2.0" or "-cl-std=CL3.0". The caller frees *code; a zero that
 * *bytes does not count stands behind it. On failure *code is NULL. Where libclc asks for another LLVM, *target has
 * that one from then on. */
bool offline_compile(offline_target *target, const char *source, const char *options, unsigned char **code,
                     size_t *bytes, char *message);

#endif /* IPT_TOOL_OFFLINE_H_INCLUDED */
