/* Vectors of 16 bytes from global to local memory, and stores of units. */
#ifndef IPT_MEMORY_MODEL
#error "IPT_MEMORY_MODEL must be defined"
#endif

/* Kernels fetch aligned vectors of 16 bytes, whatever the unit. In local memory, the first unit of a run keeps its
 * offset within its vector. */
#define IPT_VECTOR_UNITS (16u / IPT_UNIT_BYTES)

/* Kernels write sectors of 32 bytes. */
#define IPT_SECTOR_UNITS (32u / IPT_UNIT_BYTES)

/* Copies a vector to local memory. The copy is complete after ipt_fetch_wait by the same work-item. */
IPT_FUNCTION void ipt_fetch_inside(__local uint4 *to, __global uint4 *from)
{
#if IPT_MEMORY_MODEL == 2
    /* An asynchronous copy needs no registers, so a work-group issues all its reads at once.
     * The prefetch of whole lines helps because another run soon needs the rest of a
     * line. */
    __asm__ volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(IPT_LOCAL_ADDRESS(to)), "l"(from)
                     : "memory");
#else
    *to = *from;
#endif
}

/* Copies a vector without the units outside [low, high). */
IPT_FUNCTION void ipt_fetch(__local uint4 *to, __global ipt_unit *from, ulong vector, ulong low, ulong high)
{
    const ulong first = vector * IPT_VECTOR_UNITS;
    if (first >= low && first + IPT_VECTOR_UNITS <= high) {
        ipt_fetch_inside(to, (__global uint4 *)(from + first));
    } else {
        __local ipt_unit *units = (__local ipt_unit *)to;
        for (uint i = 0; i < IPT_VECTOR_UNITS; ++i)
            if (first + i >= low && first + i < high)
                units[i] = from[first + i];
    }
}

IPT_FUNCTION void ipt_fetch_wait(void)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Ends a block of this work-item's fetches. ipt_fetch_wait_but counts blocks. */
IPT_FUNCTION void ipt_fetch_close_block(void)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for the ended blocks of this work-item, except the last `but` blocks. `but` is at most IPT_BLOCKS - 1. */
#define IPT_BLOCKS 4
IPT_FUNCTION void ipt_fetch_wait_but(uint but)
{
#if IPT_MEMORY_MODEL == 2
    if (but == 3)
        __asm__ volatile("cp.async.wait_group 3;" ::: "memory");
    else if (but == 2)
        __asm__ volatile("cp.async.wait_group 2;" ::: "memory");
    else if (but == 1)
        __asm__ volatile("cp.async.wait_group 1;" ::: "memory");
    else
        ipt_fetch_wait();
#endif
}

/* Stores a unit with a streaming hint: no kernel reads it again soon. Without the hint, a
 * panel's data in the cache slows concurrent rectangle copies over the bus. Panels gain
 * nothing. */
IPT_FUNCTION void ipt_store(__global ipt_unit *to, ipt_unit unit)
{
#if IPT_MEMORY_MODEL != 1 && IPT_MEMORY_MODEL != 2
    *to = unit;
#elif IPT_UNIT_BYTES == 1
    __asm__ volatile("st.global.cs.u8 [%0], %1;" ::"l"(to), "r"((uint)unit) : "memory");
#elif IPT_UNIT_BYTES == 2
    __asm__ volatile("st.global.cs.u16 [%0], %1;" ::"l"(to), "h"(unit) : "memory");
#elif IPT_UNIT_BYTES == 4
    __asm__ volatile("st.global.cs.u32 [%0], %1;" ::"l"(to), "r"(unit) : "memory");
#elif IPT_UNIT_BYTES == 8
    __asm__ volatile("st.global.cs.u64 [%0], %1;" ::"l"(to), "l"(unit) : "memory");
#else
    __asm__ volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(unit.x), "r"(unit.y), "r"(unit.z),
                     "r"(unit.w)
                     : "memory");
#endif
}
