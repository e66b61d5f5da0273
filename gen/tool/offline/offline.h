/* Compiles specialised OpenCL C source with clang and libclc, for devices that this machine does not have. The code is
 * complete: it calls no undefined function, and has passed the target's checker. An error contains the compiler's
 * message. No shell runs, and no file remains unless a signal ends the process. The functions print nothing. */
#ifndef IPT_TOOL_OFFLINE_H_INCLUDED
#define IPT_TOOL_OFFLINE_H_INCLUDED

#include "offline_target.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the programs and libraries for a target are installed. If not, message names their packages. */
bool offline_available(const offline_target *target, char *message);

/* Compiles OpenCL C source. options: "-cl-std=CL1.2", "-cl-std=CL2.0" or "-cl-std=CL3.0". The caller frees *code, which
 * is NULL on failure. A zero follows the code; *bytes does not count it. If libclc needs another LLVM, *target changes
 * to it. */
bool offline_compile(offline_target *target, const char *source, const char *options, unsigned char **code,
                     size_t *bytes, char *message);

#endif /* IPT_TOOL_OFFLINE_H_INCLUDED */
