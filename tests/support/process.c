#include "process.h"

#include <stdlib.h>

const char *process_tool(void)
{
    const char *const path = getenv("IPT_TOOL");
    return path ? path : "build/ipt";
}
