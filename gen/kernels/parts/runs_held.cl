/* Runs that a line of work-items moves, IPT_STEPS units per work-item at a time. A work-item loads all these units
 * before its first store: a store takes three times as long if a load of the same memory line is in flight. Loads and
 * stores are predicated, because branches would separate the loads. */

/* A work-item has 64 registers where two work-groups of 512 run at a time. */
enum { IPT_STEPS = IPT_BY_WORDS ? 2 : IPT_UNIT_BYTES <= 4 ? 6 : 32 / IPT_UNIT_BYTES };

/* Units to which a line of work-items aligns its accesses: a memory line of 128 bytes, or one unit for each. */
#define IPT_MEMORY_UNITS (128u / IPT_UNIT_BYTES < IPT_LINE_LANES ? 128u / IPT_UNIT_BYTES : IPT_LINE_LANES)

/* Cache policies of stores: parked runs that are read soon stay in the cache, all other data leaves it first. Only
 * NVIDIA's devices have such policies. */
#if IPT_MEMORY_MODEL == 2
typedef ulong ipt_policy;
#define IPT_POLICY(name, policy)                                                                                       \
    ipt_policy name(void)                                                                                              \
    {                                                                                                                  \
        ipt_policy made;                                                                                               \
        __asm__ volatile("createpolicy.fractional.L2::" policy ".b64 %0, 1.0;" : "=l"(made));                          \
        return made;                                                                                                   \
    }
IPT_POLICY(ipt_policy_keep, "evict_last")
IPT_POLICY(ipt_policy_drop, "evict_first")

#if IPT_UNIT_BYTES == 1
#define IPT_PTX_TYPE "u8"
#define IPT_PTX_CONSTRAINT "r"
typedef uint ipt_ptx;
#elif IPT_UNIT_BYTES == 2
#define IPT_PTX_TYPE "u16"
#define IPT_PTX_CONSTRAINT "h"
typedef ushort ipt_ptx;
#elif IPT_UNIT_BYTES == 4
#define IPT_PTX_TYPE "u32"
#define IPT_PTX_CONSTRAINT "r"
typedef uint ipt_ptx;
#elif IPT_UNIT_BYTES == 8
#define IPT_PTX_TYPE "u64"
#define IPT_PTX_CONSTRAINT "l"
typedef ulong ipt_ptx;
#endif
#else
typedef uint ipt_policy;
#define ipt_policy_keep() 0
#define ipt_policy_drop() 0
#endif

/* Loads a unit, if `is`. Another work-group of the launch may have stored the unit; this one has acquired it. */
IPT_INLINE void ipt_load_if(ipt_unit *unit, __global ipt_unit *from, bool is)
{
#if IPT_MEMORY_MODEL == 2 && IPT_UNIT_BYTES == 16
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;\n"
                     "@p ld.relaxed.gpu.global.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                     : "=r"(unit->x), "=r"(unit->y), "=r"(unit->z), "=r"(unit->w)
                     : "l"(from), "r"((uint)is)
                     : "memory");
#elif IPT_MEMORY_MODEL == 2
    ipt_ptx value;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0;\n"
                     "@p ld.relaxed.gpu.global.L2::128B." IPT_PTX_TYPE " %0, [%1]; }"
                     : "=" IPT_PTX_CONSTRAINT(value)
                     : "l"(from), "r"((uint)is)
                     : "memory");
    *unit = (ipt_unit)value;
#else
    if (is)
        *unit = *from;
#endif
}

IPT_INLINE void ipt_store_if(__global ipt_unit *to, ipt_unit unit, bool is, ipt_policy policy)
{
#if IPT_MEMORY_MODEL == 2 && IPT_UNIT_BYTES == 16
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;\n"
                     "@p st.global.L2::cache_hint.v4.u32 [%4], {%0, %1, %2, %3}, %6; }" ::"r"(unit.x),
                     "r"(unit.y), "r"(unit.z), "r"(unit.w), "l"(to), "r"((uint)is), "l"(policy)
                     : "memory");
#elif IPT_MEMORY_MODEL == 2
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0;\n"
                     "@p st.global.L2::cache_hint." IPT_PTX_TYPE " [%1], %0, %3; }" ::IPT_PTX_CONSTRAINT((ipt_ptx)unit),
                     "l"(to), "r"((uint)is), "l"(policy)
                     : "memory");
#else
    (void)policy;
    if (is)
        *to = unit;
#endif
}

/* The place of a unit of a tile in local memory. In PTX a place is an address: otherwise NVIDIA's compiler computes the
 * address of a local array for each predicated access. */
#if IPT_MEMORY_MODEL == 2
#define IPT_PLACE(tile, unit) IPT_LOCAL_ADDRESS((tile) + (unit))
#define IPT_PLACES_EACH IPT_UNIT_BYTES /* from one unit's place to the next */
#else
#define IPT_PLACE(tile, unit) (unit)
#define IPT_PLACES_EACH 1
#endif

/* Reads a unit of the tile, if `is`. */
IPT_INLINE void ipt_read_if(ipt_unit *unit, __local ipt_unit *tile, uint place, bool is)
{
#if IPT_MEMORY_MODEL == 2 && IPT_UNIT_BYTES == 16
    (void)tile;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;\n"
                     "@p ld.shared.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                     : "=r"(unit->x), "=r"(unit->y), "=r"(unit->z), "=r"(unit->w)
                     : "r"(place), "r"((uint)is)
                     : "memory");
#elif IPT_MEMORY_MODEL == 2
    ipt_ptx value;
    (void)tile;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0;\n"
                     "@p ld.shared." IPT_PTX_TYPE " %0, [%1]; }"
                     : "=" IPT_PTX_CONSTRAINT(value)
                     : "r"(place), "r"((uint)is)
                     : "memory");
    *unit = (ipt_unit)value;
#else
    if (is)
        *unit = tile[place];
#endif
}

/* Writes a unit of the tile, if `is`. */
IPT_INLINE void ipt_write_if(__local ipt_unit *tile, uint place, ipt_unit unit, bool is)
{
#if IPT_MEMORY_MODEL == 2 && IPT_UNIT_BYTES == 16
    (void)tile;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;\n"
                     "@p st.shared.v4.u32 [%4], {%0, %1, %2, %3}; }" ::"r"(unit.x),
                     "r"(unit.y), "r"(unit.z), "r"(unit.w), "r"(place), "r"((uint)is)
                     : "memory");
#elif IPT_MEMORY_MODEL == 2
    (void)tile;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0;\n"
                     "@p st.shared." IPT_PTX_TYPE " [%0], %1; }" ::"r"(place),
                     IPT_PTX_CONSTRAINT((ipt_ptx)unit), "r"((uint)is)
                     : "memory");
#else
    if (is)
        tile[place] = unit;
#endif
}

/* Orders the line's accesses to local memory before its later stores. */
IPT_INLINE void ipt_line_order(void)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#endif
}

/* A run in memory that a line of work-items moves in turns. In a turn, a work-item moves IPT_STEPS units of the run:
 * first, first + IPT_LINE_LANES, and so on. */
typedef struct ipt_run {
    __global ipt_unit *line; /* where the work-item's first unit lies */
    uint first;              /* number of this unit in the run; in the first turn it may be negative, modulo 2^32 */
    uint units;              /* of the run */
    uint turns_units;        /* from the aligned begin of the first turn to the run's end */
} ipt_run;

#define IPT_TURN_UNITS (IPT_STEPS * IPT_LINE_LANES)

IPT_INLINE void ipt_find_run(ipt_run *run, __global ipt_unit *memory, ulong begin, uint units)
{
    const uint before = (uint)begin % IPT_MEMORY_UNITS, lane = get_local_id(0) % IPT_LINE_LANES;
    run->line = memory + (begin - before) + lane;
    run->first = lane - before;
    run->units = units;
    run->turns_units = units + before;
}

/* Whether unit first + step * IPT_LINE_LANES is in the run. Only the first unit may lie before it. */
IPT_INLINE bool ipt_in_run(const ipt_run *run, uint step)
{
    return step == 0 ? run->first < run->units : (int)(step * IPT_LINE_LANES) < (int)(run->units - run->first);
}

IPT_INLINE void ipt_next_turn(ipt_run *run)
{
    run->line += IPT_TURN_UNITS;
    run->first += IPT_TURN_UNITS;
}
