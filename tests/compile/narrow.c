/* ipt on a host of 32 bits: a device may have more memory than a pointer can address, and ipt must not truncate the
 * size. Runs on the OpenCL stub (fake_cl.c). tests/compile/narrow.sh compiles it for such a host. */
#define _POSIX_C_SOURCE 200809L
#include "fake_cl.h"

#define IPT_ENTRY_POINT(name) fake_##name
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"

static int wrong;

/* Checks a device with `global` bytes of memory that allocates up to half of them at a time. */
static void check(cl_ulong global, int cut)
{
    ipt_context_desc context_desc;
    ipt_plan_desc desc;
    ipt_context *context = NULL;
    ipt_plan *plan = NULL;
    ipt_result result;
    memset(&context_desc, 0, sizeof context_desc);
    memset(&desc, 0, sizeof desc);
    context_desc.device = fake_device_id(FAKE_GPU);
    context_desc.cache_dir = "";
    desc.rows = 3000;
    desc.cols = 700;
    desc.elem_size = 4;
    fake_tell_memory(global, global / 2);
    result = ipt_context_create(&context_desc, &context);
    if (!result)
        result = ipt_plan_create(context, &desc, &plan);
    if (result || !plan->cut != !cut || context->allocation != ipt__size_of(global / 2)) {
        printf("a device of %.0f bytes: %s, %s, %zu bytes at a time\n", (double)global,
               result ? ipt_context_error(NULL) : "a plan", plan && plan->cut ? "cut" : "not cut",
               context ? context->allocation : (size_t)0);
        wrong = 1;
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
}

int main(void)
{
    const cl_ulong gib4 = (cl_ulong)1 << 32;
    if (ipt__size_of(0) != 0 || ipt__size_of(12345) != 12345 || ipt__size_of(gib4 - 1) != gib4 - 1 ||
        ipt__size_of(~(cl_ulong)0) != (size_t)-1 || (sizeof(size_t) == 4 && ipt__size_of(gib4) != (size_t)-1)) {
        printf("ipt__size_of is wrong\n");
        wrong = 1;
    }
    check(gib4 / 4, 0);
    check(gib4 - 1, 0);
    check(gib4, 0);
    check(gib4 + 4096, 0);
    check(2 * gib4 - 1, 0);
    check(4 * gib4, 0);
    check((cl_ulong)1 << 62, 0);
    check((cl_ulong)6 << 20, 1); /* less than the matrix's 8.4 MB */
    printf("size_t has %u bits: %s\n", (unsigned)(8 * sizeof(size_t)),
           wrong ? "WRONG" : "devices of 6 MiB to 2^62 bytes");
    return wrong;
}
