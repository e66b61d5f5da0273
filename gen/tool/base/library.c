/* The library's implementation, for the tool and for programs that link its objects. */
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "device_access.h"

#ifdef IPT_NO_OPENCL
#define NATIVE_CL_DEFINE(result, name, parameters) result(*const name) parameters = ipt__native_##name;
IPT_ENTRY_POINT_LIST(NATIVE_CL_DEFINE)
#endif
