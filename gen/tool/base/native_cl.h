/* OpenCL in a tool without OpenCL (IPT_NO_OPENCL): the native driver's operations under OpenCL's names. */
#ifndef IPT_TOOL_NATIVE_CL_H_INCLUDED
#define IPT_TOOL_NATIVE_CL_H_INCLUDED

#ifdef IPT_NO_OPENCL
#ifndef IPT_ENTRY_POINT_LIST
#include "gen/library/driver/operations.h"
#endif
#define NATIVE_CL_DECLARE(result, name, parameters) extern result(*const name) parameters;
IPT_ENTRY_POINT_LIST(NATIVE_CL_DECLARE)

/* Numbers of the OpenCL 1.2 specification that ipt.h has not. */
#define CL_DEVICE_GLOBAL_MEM_CACHE_SIZE 0x101E
#endif

#endif /* IPT_TOOL_NATIVE_CL_H_INCLUDED */
