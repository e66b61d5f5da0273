/* Arguments of kernels. */

/* Completes the divisors among a kernel's arguments. */
static void ipt__complete_divisors(const ipt__kernel_info *info, const ipt__params *params, void *arguments)
{
    const unsigned char *const each = ipt__argument_bytes_of(info);
    size_t offset = 0;
    cl_uint i;
    for (i = 0; each[i]; ++i) {
        const size_t bytes = each[i] & IPT__BYTES;
        offset = ipt__round_up(offset, bytes);
        if (each[i] & IPT__DIVISOR) {
            void *const value = (char *)arguments + offset;
            if (bytes == sizeof(cl_uint)) {
                cl_uint *const divisor = (cl_uint *)value;
                ipt__divider32(divisor[0], &divisor[1], &divisor[2]);
            } else {
                cl_ulong *const divisor = (cl_ulong *)value;
                const int index = each[i] & IPT__BY_INDEX;
                ipt__divider(divisor[0], index ? params->index_bits : 64, &divisor[1], (cl_uint *)(void *)&divisor[2]);
            }
        }
        offset += bytes;
    }
}

/* What a kernel's arguments are set from. */
typedef struct ipt__kernel_call {
    cl_kernel kernel;
    const ipt__program *program;
    cl_mem memories[2]; /* the second one if the kernel takes it */
    size_t local_bytes; /* if it takes local memory */
    const void *arguments;
    const void *set;   /* those of the last call, which are not set again if they are equal; NULL: there was no call */
    const void *value; /* of the expression's argument. NULL: a number other than 0, because it may be a divisor */
} ipt__kernel_call;

/* Sets the arguments of a kernel. */
static cl_int ipt__set_arguments(const ipt_context *context, const ipt__kernel_call *call)
{
    static const cl_uint some[4] = {0x01010101, 0x01010101, 0x01010101, 0x01010101};
    const ipt__params *const params = &call->program->params;
    const ipt__kernel_info *const info = &ipt__kernels[call->program->id];
    const cl_kernel kernel = call->kernel;
    const ipt__driver *const driver = ipt__calls(context);
    cl_uint position = 0;
    cl_int error = driver->clSetKernelArg(kernel, position++, sizeof call->memories[0], &call->memories[0]);
    while (!error && position < info->memories)
        error = driver->clSetKernelArg(kernel, position++, sizeof call->memories[1], &call->memories[1]);
    if (!error && info->local)
        error = driver->clSetKernelArg(kernel, position++, call->local_bytes, NULL);
    if (!error && (!call->set || memcmp(call->set, call->arguments, info->arguments_bytes)))
        error = driver->clSetKernelArg(kernel, position, info->arguments_bytes, call->arguments);
    if (!error && params->apply >= 2)
        error = driver->clSetKernelArg(kernel, position + 1, ipt__type_bytes(params->argument_type),
                                       call->value ? call->value : some);
    return error;
}
