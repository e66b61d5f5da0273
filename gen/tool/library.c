/* The library's implementation, for the tool and whatever is linked with its objects. */
#define IPT_IMPLEMENTATION
#include "ipt.h"
