/* Drivers: how ipt reaches devices. */

/* The drivers. */
enum { IPT__MOST_THREADS = 256 }; /* of the native driver's launches */

typedef enum ipt__driver_id { IPT__DRIVER_OPENCL, IPT__DRIVER_NATIVE, IPT__DRIVER_CUDA } ipt__driver_id;

/* A driver: its operations, and what it cannot do. */
typedef struct ipt__driver {
    /* Returns the driver's own program for a kernel and params; NULL with *error: it has none. The field is NULL if the
     * driver compiles text. */
    cl_program (*program_of)(ipt__kernel_id kernel, const ipt__params *params, cl_int *error);
    /* As clEnqueueNDRangeKernel, for a kernel whose work-groups wait for each other: they run at the same time,
     * whatever else runs. CL_INVALID_GLOBAL_WORK_SIZE: they are too many, and nothing was enqueued. NULL: the driver
     * has no such launch. */
    cl_int(CL_API_CALL *launch_together)(cl_command_queue queue, cl_kernel kernel, cl_uint rank, const size_t *offset,
                                         const size_t *size, const size_t *group_size, cl_uint wait_count,
                                         const cl_event *wait, cl_event *event);
#define IPT__DRIVER_FIELD(result, name, parameters) result(CL_API_CALL *name) parameters;
    IPT_ENTRY_POINT_LIST(IPT__DRIVER_FIELD)
} ipt__driver;
