/* ipt compiled for the OpenCL stub (fake_cl.c), and helpers for tests with the stub. Each file that includes this
 * header has its own implementation of ipt. */
#ifndef FAKE_WORLD_H_INCLUDED
#define FAKE_WORLD_H_INCLUDED

#define _POSIX_C_SOURCE 200809L
#include "fake_cl.h"

#define IPT_ENTRY_POINT(name) fake_##name
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "test.h"

#define FAKE_UNUSED __attribute__((unused))

FAKE_UNUSED static cl_context fake_make_cl(fake_device device)
{
    cl_device_id id = fake_device_id(device);
    cl_int error;
    return fake_clCreateContext(NULL, 1, &id, NULL, NULL, &error);
}

FAKE_UNUSED static cl_command_queue fake_make_queue(cl_context cl, fake_device device, int out_of_order)
{
    cl_int error;
    return fake_clCreateCommandQueue(cl, fake_device_id(device),
                                     out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, &error);
}

FAKE_UNUSED static cl_mem fake_make_buffer(cl_context cl, cl_mem_flags flags, size_t bytes)
{
    cl_int error;
    return fake_clCreateBuffer(cl, flags, bytes, NULL, &error);
}

/* cl: NULL: creates a new cl_context. cache_dir: "": no cache. */
FAKE_UNUSED static ipt_result fake_make_context(cl_context cl, fake_device device, const char *cache_dir,
                                                ipt_context **context)
{
    ipt_context_desc desc = {0};
    desc.context = cl;
    desc.device = fake_device_id(device);
    desc.cache_dir = cache_dir;
    return ipt_context_create(&desc, context);
}

/* Functions of a storage in memory; `user` points to the memory. */
FAKE_UNUSED static int fake_store_read(void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy(memory, (unsigned char *)user + offset, bytes);
    return 0;
}

FAKE_UNUSED static int fake_store_write(const void *memory, size_t offset, size_t bytes, void *user)
{
    memcpy((unsigned char *)user + offset, memory, bytes);
    return 0;
}

#endif
