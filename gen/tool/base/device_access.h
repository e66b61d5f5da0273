/* A context's device, whichever driver it has: its handles, and its driver's operations under OpenCL's names. */
#ifndef IPT_TOOL_DEVICE_ACCESS_H_INCLUDED
#define IPT_TOOL_DEVICE_ACCESS_H_INCLUDED

#include "ipt.h"

#include <stdbool.h>

#ifndef IPT_ENTRY_POINT_LIST
#include "gen/library/driver/operations.h"
#endif
#ifndef CL_DEVICE_GLOBAL_MEM_CACHE_SIZE /* ipt.h without OpenCL has not this number of the OpenCL 1.2 specification */
#define CL_DEVICE_GLOBAL_MEM_CACHE_SIZE 0x101E
#endif

typedef struct device_access {
    cl_context context;
    cl_device_id id;
    bool compiles; /* whether the driver compiles kernels that are not ipt's */
#define DEVICE_ACCESS_FIELD(result, name, parameters) result(CL_API_CALL *name) parameters;
    IPT_ENTRY_POINT_LIST(DEVICE_ACCESS_FIELD)
} device_access;

device_access device_access_of(const ipt_context *context);

#ifdef IPT_IMPLEMENTATION
device_access device_access_of(const ipt_context *context)
{
    const ipt__driver *const calls = ipt__calls(context);
    device_access access;
    access.context = context->context;
    access.id = context->device;
    access.compiles = context->driver == IPT__DRIVER_OPENCL;
#define DEVICE_ACCESS_TAKE(result, name, parameters) access.name = calls->name;
    IPT_ENTRY_POINT_LIST(DEVICE_ACCESS_TAKE)
    return access;
}
#endif

#endif /* IPT_TOOL_DEVICE_ACCESS_H_INCLUDED */
