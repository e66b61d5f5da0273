/* Checks the PTX from clang. */
#ifndef IPT_TOOL_OFFLINE_PTX_H_INCLUDED
#define IPT_TOOL_OFFLINE_PTX_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* Checks PTX and adds the work-group size to its kernels. */
bool offline_finish_ptx(const char *source, unsigned char **ptx, size_t *bytes, char *message);

#endif /* IPT_TOOL_OFFLINE_PTX_H_INCLUDED */
