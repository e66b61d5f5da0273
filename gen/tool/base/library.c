/* The library's implementation, for the tool and for programs that link its objects. */
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "device_access.h"
