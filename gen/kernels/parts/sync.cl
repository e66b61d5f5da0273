/* Order and communication between work-groups. */
#ifndef IPT_MEMORY_MODEL
#error "IPT_MEMORY_MODEL must be defined"
#endif

#if IPT_MEMORY_MODEL == 3
#define IPT_ATOMIC(word) ((volatile __global atomic_uint *)(word))
#endif

/* Orders this work-item's earlier memory accesses before its later ones, for the whole device. PTX needs assembly: its
 * mem_fence is only membar.cta. OpenCL C 1.2 has nothing stronger than mem_fence. */
#if IPT_MEMORY_MODEL == 1 || IPT_MEMORY_MODEL == 2
#define IPT_FENCE_DEVICE() __asm__ volatile("membar.gl;" ::: "memory")
#elif IPT_MEMORY_MODEL == 3
#define IPT_FENCE_DEVICE() atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)
#else
#define IPT_FENCE_DEVICE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

/* Adds 1 to a word with release semantics: a work-group that sees the sum also sees all earlier accesses. */
IPT_FUNCTION void ipt_signal(volatile __global uint *word)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
#elif IPT_MEMORY_MODEL == 3
    atomic_fetch_add_explicit(IPT_ATOMIC(word), 1u, memory_order_release, memory_scope_device);
#else
    IPT_FENCE_DEVICE();
    atomic_inc(word);
#endif
}

/* Counts a finished read into local memory; work-groups wait for this count before they overwrite the source. A later
 * write cannot change data that has arrived in local memory. So PTX needs no release, which would cost a tenth of a
 * panel's time. The other memory models release. */
IPT_FUNCTION void ipt_count_read(volatile __global uint *word)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
#else
    ipt_signal(word);
#endif
}

/* Reads, with acquire semantics, a word that other work-groups may change. A plain load may hit a non-coherent
 * cache. */
IPT_FUNCTION uint ipt_poll(volatile __global uint *word)
{
#if IPT_MEMORY_MODEL == 2
    uint value;
    __asm__ volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
#elif IPT_MEMORY_MODEL == 3
    return atomic_load_explicit(IPT_ATOMIC(word), memory_order_acquire, memory_scope_device);
#else
    const uint value = atomic_or(word, 0u);
    IPT_FENCE_DEVICE();
    return value;
#endif
}

/* Reads a word with relaxed semantics. */
IPT_FUNCTION uint ipt_glance(volatile __global uint *word)
{
#if IPT_MEMORY_MODEL == 2
    uint value;
    __asm__ volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
#elif IPT_MEMORY_MODEL == 3
    return atomic_load_explicit(IPT_ATOMIC(word), memory_order_relaxed, memory_scope_device);
#else
    return atomic_or(word, 0u);
#endif
}
