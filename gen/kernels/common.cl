/* Shared by all kernels: the unit, division by the host's constants, and tiles in local memory. */
#if !defined(IPT_UNIT_BYTES) || !defined(IPT_GROUP_SIZE) || !defined(IPT_ARGUMENT_LIST)
#error "IPT_UNIT_BYTES, IPT_GROUP_SIZE and IPT_ARGUMENT_LIST must be defined"
#endif

/* The kernel's arguments as parameters, and as the values that one of its functions passes on to another. */
#define IPT_PARAMETER(type, name) , const type name
#define IPT_VALUE(type, name) , name
#define IPT_ARGUMENTS IPT_ARGUMENT_LIST(IPT_PARAMETER)
#define IPT_PASSED IPT_ARGUMENT_LIST(IPT_VALUE)

/* For a kernel's steps, which are too long for some compilers to inline by themselves. */
#define IPT_INLINE __attribute__((always_inline))

#if IPT_UNIT_BYTES == 1
typedef uchar ipt_unit;
#elif IPT_UNIT_BYTES == 2
typedef ushort ipt_unit;
#elif IPT_UNIT_BYTES == 4
typedef uint ipt_unit;
#elif IPT_UNIT_BYTES == 8
typedef ulong ipt_unit;
#elif IPT_UNIT_BYTES == 16
typedef uint4 ipt_unit;
#else
#error "IPT_UNIT_BYTES must be 1, 2, 4, 8 or 16"
#endif

/* Applies the plan's expression to x, an element of one unit. A kernel calls it where each element passes exactly
 * once. */
#if defined(IPT_APPLY) && IPT_APPLY
#define IPT_PASTE(a, b) a##b
#define IPT_AS(type) IPT_PASTE(as_, type)
#if IPT_UNIT_BYTES == 1
#define IPT_AS_UNIT as_uchar
#elif IPT_UNIT_BYTES == 2
#define IPT_AS_UNIT as_ushort
#elif IPT_UNIT_BYTES == 4
#define IPT_AS_UNIT as_uint
#elif IPT_UNIT_BYTES == 8
#define IPT_AS_UNIT as_ulong
#else
#define IPT_AS_UNIT as_uint4
#endif
ipt_unit ipt_apply(ipt_unit unit)
{
    const IPT_EXPRESSION_TYPE x = IPT_AS(IPT_EXPRESSION_TYPE)(unit);
    const IPT_EXPRESSION_TYPE result = IPT_EXPRESSION;
    return IPT_AS_UNIT(result);
}
#define IPT_APPLIED(unit) ipt_apply(unit)
#else
#define IPT_APPLIED(unit) (unit)
#endif

/* floor(n / d) by multiplication: magic = ceil(2^(31 + l) / d), shift = l - 1, l = ceil(log2 d). Exact for n < 2^31. A
 * magic of 0 stands for d = 1. */
uint ipt_divide32(uint n, uint magic, uint shift)
{
    return magic != 0 ? mul_hi(n, magic) >> shift : n;
}

/* The same on 64 bits: magic = ceil(2^(63 + l) / d), exact for n < 2^63. */
ulong ipt_divide64(ulong n, ulong magic, uint shift)
{
    return magic != 0 ? mul_hi(n, magic) >> shift : n;
}

/* A slot number has 32 bits if there are fewer than 2^31 slots, else 64. */
#if defined(IPT_INDEX_BITS) && IPT_INDEX_BITS == 32
typedef uint ipt_index;
#define IPT_DIVIDE(n, magic, shift) ipt_divide32(n, (uint)(magic), shift)
#else
typedef ulong ipt_index;
#define IPT_DIVIDE(n, magic, shift) ipt_divide64(n, magic, shift)
#endif

/* The address of slot t, in units. A row of the grid has row_slots slots of slot_units each; rows begin row_stride
 * units apart. The address may exceed 2^32 even if t has 32 bits. */
ulong ipt_slot_address(ipt_index t, ulong row_slots, ulong row_slots_magic, uint row_slots_shift, ulong row_stride,
                       ulong slot_units)
{
    const ipt_index row = IPT_DIVIDE(t, row_slots_magic, row_slots_shift);
    return row * row_stride + (t - row * row_slots) * slot_units;
}

/* The slot to which slot t of a rows x cols grid moves. */
ipt_index ipt_slot_target(ipt_index t, ulong rows, ulong cols, ulong cols_magic, uint cols_shift)
{
    const ipt_index row = IPT_DIVIDE(t, cols_magic, cols_shift);
    return (t - row * (ipt_index)cols) * (ipt_index)rows + row;
}

#ifdef IPT_MEMORY_MODEL /* for kernels that fetch, signal and wait */

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
void ipt_signal(volatile __global uint *word)
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
 * panel's time on an H200. The other memory models release. */
void ipt_count_read(volatile __global uint *word)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
#else
    ipt_signal(word);
#endif
}

/* Reads, with acquire semantics, a word that other work-groups may change. A plain load may hit a non-coherent
 * cache. */
uint ipt_poll(volatile __global uint *word)
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

/* The same with relaxed semantics. */
uint ipt_glance(volatile __global uint *word)
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

/* Kernels fetch aligned vectors of 16 bytes, whatever the unit. In local memory, the first unit of a run keeps its
 * offset within its vector. */
#define IPT_QUANTUM_UNITS (16u / IPT_UNIT_BYTES)

/* Kernels write sectors of 32 bytes. */
#define IPT_SECTOR_UNITS (32u / IPT_UNIT_BYTES)

/* Copies a vector to local memory. The copy is complete after ipt_fetch_wait by the same work-item. */
void ipt_fetch_inside(__local uint4 *to, __global uint4 *from)
{
#if IPT_MEMORY_MODEL == 2
    /* An asynchronous copy needs no registers, so a work-group issues all its reads at once. The prefetch of whole
     * lines helps because another run soon needs the rest of a line. It gained 3 % (panels) to 9 % (squares) on an
     * H200. */
    __asm__ volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"((uint)(ulong)to), "l"(from) : "memory");
#else
    *to = *from;
#endif
}

/* The same without the units outside [low, high). */
void ipt_fetch(__local uint4 *to, __global ipt_unit *from, ulong quantum, ulong low, ulong high)
{
    const ulong first = quantum * IPT_QUANTUM_UNITS;
    if (first >= low && first + IPT_QUANTUM_UNITS <= high) {
        ipt_fetch_inside(to, (__global uint4 *)(from + first));
    } else {
        __local ipt_unit *units = (__local ipt_unit *)to;
        for (uint i = 0; i < IPT_QUANTUM_UNITS; ++i)
            if (first + i >= low && first + i < high)
                units[i] = from[first + i];
    }
}

void ipt_fetch_wait(void)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Closes a block of this work-item's fetches. */
void ipt_fetch_close_block(void)
{
#if IPT_MEMORY_MODEL == 2
    __asm__ volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for all blocks that this work-item has closed except the last `but`, at most IPT_BLOCKS - 1. */
#define IPT_BLOCKS 4
void ipt_fetch_wait_but(uint but)
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

/* Stores a unit with a streaming hint: no kernel reads it again soon. Without the hint, a panel's data in the cache of
 * an H200 slowed concurrent rectangle copies over the bus from 93 to 69 GB/s in both directions. The panels take as
 * long either way. */
void ipt_store(__global ipt_unit *to, ipt_unit unit)
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

#endif

/* A line is up to 32 consecutive work-items of a work-group. */
#define IPT_LINE_LANES (IPT_GROUP_SIZE < 32 ? IPT_GROUP_SIZE : 32)
#define IPT_LINES (IPT_GROUP_SIZE / IPT_LINE_LANES)

#if defined(IPT_ELEMENT_UNITS) && defined(IPT_MEMORY_MODEL)

/* Splits unit k of a run of elements into its element and its part of that element. */
#if IPT_ELEMENT_UNITS == 1
#define IPT_ELEMENT_OF(k, element, part) const uint element = (k), part = 0
#else
#define IPT_ELEMENT_OF(k, element, part)                                                                               \
    const uint element = ipt_divide32(k, element_units_magic, element_units_shift), part = (k)-element * element_units
#endif

/* The vector at which row i of a tile begins in local memory. Rows lie `pitch` vectors apart; one more vector follows
 * every 2^skew rows. */
uint ipt_tile_row(uint i, uint pitch, uint skew)
{
    return i * pitch + (i >> skew);
}

/* Fetches a tile into local memory in `blocks` blocks of block_rows rows. The tile has `rows` rows of `units` units;
 * the first begins at `begin`, and rows lie row_units apart. run_lanes work-items share a row. The host chooses
 * run_lanes so that all rows of one work-item begin at the same offset in a vector. It chooses block_rows so that all
 * work-items have the same number of rows in a block. Units outside [low, high) are not read. */
void ipt_fetch_rows(__local uint4 *quanta, __global ipt_unit *matrix, ulong begin, ulong row_units, uint rows,
                    uint units, uint blocks, uint block_rows, uint run_lanes, uint pitch, uint skew, ulong low,
                    ulong high)
{
    const uint lane = get_local_id(0) & (run_lanes - 1), step = IPT_GROUP_SIZE / run_lanes;
    const uint first = get_local_id(0) / run_lanes;
    const ulong own = begin + first * row_units;
    const uint shift = (uint)own & (IPT_QUANTUM_UNITS - 1);
    const uint end = (shift + units + IPT_QUANTUM_UNITS - 1) / IPT_QUANTUM_UNITS;
    const uint to_step = ipt_tile_row(step, pitch, skew);
    const ulong from_step = step * row_units / IPT_QUANTUM_UNITS;
    const bool inside = begin - (begin & (IPT_QUANTUM_UNITS - 1)) >= low &&
                        begin + rows * row_units - row_units + units + IPT_QUANTUM_UNITS - 1 <= high;
    ulong quantum = own / IPT_QUANTUM_UNITS + lane;
    __local uint4 *to = quanta + ipt_tile_row(first, pitch, skew) + lane;
    uint i = first;
    for (uint block = 1; block <= blocks; ++block) {
        for (const uint block_end = min(rows, block * block_rows); i < block_end; i += step) {
            __global uint4 *from = (__global uint4 *)matrix + quantum;
            for (uint q = 0; lane + q < end; q += run_lanes)
                if (inside)
                    ipt_fetch_inside(to + q, from + q);
                else
                    ipt_fetch(to + q, matrix, quantum + q, low, high);
            quantum += from_step;
            to += to_step;
        }
        ipt_fetch_close_block();
    }
}

/* Computes starts[i] for such a tile: the unit of local memory at which row i begins. */
void ipt_mark_rows(__local uint *starts, ulong begin, ulong row_units, uint rows, uint pitch, uint skew)
{
    for (uint i = get_local_id(0); i < rows; i += IPT_GROUP_SIZE)
        starts[i] = ipt_tile_row(i, pitch, skew) * IPT_QUANTUM_UNITS +
                    (((uint)begin + i * (uint)row_units) & (IPT_QUANTUM_UNITS - 1));
}

/* The functions below write transposed runs. A line of work-items writes four runs at a time, so that their accesses
 * overlap. Stores begin at sector boundaries wherever the run begins: an H200 wrote whole sectors at 3650 GB/s, split
 * ones at 1790. Instruction issue limits these loops, so they compute invariants once. */

/* Reads four units of one aligned vector. With units of 4 bytes this is one access. Where all rows begin alike, it has
 * a fourth of the bank conflicts that four accesses have. */
void ipt_read_four(ipt_unit *values, __local ipt_unit *from)
{
#if IPT_UNIT_BYTES == 4
    const uint4 four = *(__local uint4 *)from;
    values[0] = four.x;
    values[1] = four.y;
    values[2] = four.z;
    values[3] = four.w;
#else
#pragma unroll 4
    for (uint u = 0; u < 4; ++u)
        values[u] = from[u];
#endif
}

/* Writes the first `count` of four runs of `units` units to `target`. The first run begins at `begin`; runs lie
 * run_stride units apart. run_stride is a multiple of a sector, so all four runs begin at the same offset in a sector.
 * Unit k of run u is at tile[starts[element of k] + from + u * from_step + part of k]. `together`: the four units
 * always form an aligned vector. */
void ipt_store_four(__local ipt_unit *tile, __local uint *starts, __global ipt_unit *target, ulong begin,
                    ulong run_stride, uint count, uint units, uint from, uint from_step, bool together,
                    uint element_units, uint element_units_magic, uint element_units_shift)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES, before = (uint)begin % IPT_SECTOR_UNITS;
    __global ipt_unit *sectors[4];
#pragma unroll 4
    for (uint u = 0; u < 4; ++u)
        sectors[u] = target + (begin - before) + u * run_stride;
    for (uint at = lane; at - lane < units + before; at += IPT_LINE_LANES) {
        /* No branch, so that reads do not wait for each other: units beyond the run are read and dropped. */
        const uint i = at - before, inside = min(i, units - 1);
        IPT_ELEMENT_OF(inside, element, part);
        __local ipt_unit *units_of = tile + (starts[element] + part + from);
        ipt_unit values[4];
        if (together) {
            ipt_read_four(values, units_of);
        } else {
#pragma unroll 4
            for (uint u = 0; u < 4; ++u)
                values[u] = units_of[u < count ? u * from_step : 0];
        }
        if (i < units) {
#pragma unroll 4
            for (uint u = 0; u < 4; ++u)
                if (u < count)
                    ipt_store(&sectors[u][at], IPT_APPLIED(values[u]));
        }
    }
}

/* Writes all `runs` runs of a work-group's tile to `target`. The first run begins at `begin`; runs lie row_units apart.
 * aligned: every row of the tile begins at a vector. */
void ipt_store_rows(__local ipt_unit *tile, __local uint *starts, __global ipt_unit *target, ulong begin,
                    ulong row_units, uint runs, uint units, bool aligned, uint element_units, uint element_units_magic,
                    uint element_units_shift)
{
    /* The distance of rows that begin at the same offset in a sector. */
    const uint apart = row_units % IPT_SECTOR_UNITS == 0 ? 1 : IPT_SECTOR_UNITS;
    for (uint line = get_local_id(0) / IPT_LINE_LANES;; line += IPT_LINES) {
        const uint run =
            apart == 1 ? 4 * line : line / IPT_SECTOR_UNITS * (4 * IPT_SECTOR_UNITS) + line % IPT_SECTOR_UNITS;
        if (run >= runs)
            break;
        const ulong first = begin + run * row_units;
        const uint from = run * element_units;
        if (aligned && apart == 1 && run + 4 <= runs)
            ipt_store_four(tile, starts, target, first, row_units, 4, units, from, 1, true, 1, 0, 0);
        else if (run + 3 * apart < runs)
            ipt_store_four(tile, starts, target, first, apart * row_units, 4, units, from, apart * element_units, false,
                           element_units, element_units_magic, element_units_shift);
        else
            ipt_store_four(tile, starts, target, first, apart * row_units, (runs - run + apart - 1) / apart, units,
                           from, apart * element_units, false, element_units, element_units_magic, element_units_shift);
    }
}

#endif

#ifdef IPT_TILE

/* A work-group of one work-item, as on CPUs, transposes blocks in vector registers and needs no tile. */
#if IPT_GROUP_SIZE == 1 && IPT_ELEMENT_UNITS == 1 && (IPT_UNIT_BYTES == 4 || IPT_UNIT_BYTES == 8) && !IPT_APPLY
#define IPT_VECTORS 1
#if IPT_UNIT_BYTES == 4
#define IPT_BLOCK 8
typedef uint8 ipt_vector;
#define IPT_LOAD_VECTOR(from) vload8(0, from)
#define IPT_STORE_VECTOR(vector, to) vstore8(vector, 0, to)
#else
#define IPT_BLOCK 4
typedef ulong4 ipt_vector;
#define IPT_LOAD_VECTOR(from) vload4(0, from)
#define IPT_STORE_VECTOR(vector, to) vstore4(vector, 0, to)
#endif

/* Exchange the upper right and lower left quarters of 2 x 2 (ones), 4 x 4 (twos) and 8 x 8 (halves) units. */
void ipt_exchange_halves(ipt_vector *a, ipt_vector *b)
{
    const ipt_vector both = (ipt_vector)(a->lo, b->lo);
    *b = (ipt_vector)(a->hi, b->hi);
    *a = both;
}
#if IPT_BLOCK == 8
void ipt_exchange_twos(ipt_vector *a, ipt_vector *b)
{
    const ipt_vector both = (ipt_vector)(a->s01, b->s01, a->s45, b->s45);
    *b = (ipt_vector)(a->s23, b->s23, a->s67, b->s67);
    *a = both;
}
void ipt_exchange_ones(ipt_vector *a, ipt_vector *b)
{
    const ipt_vector both = (ipt_vector)(a->s0, b->s0, a->s2, b->s2, a->s4, b->s4, a->s6, b->s6);
    *b = (ipt_vector)(a->s1, b->s1, a->s3, b->s3, a->s5, b->s5, a->s7, b->s7);
    *a = both;
}
#else
void ipt_exchange_ones(ipt_vector *a, ipt_vector *b)
{
    const ipt_vector both = (ipt_vector)(a->s0, b->s0, a->s2, b->s2);
    *b = (ipt_vector)(a->s1, b->s1, a->s3, b->s3);
    *a = both;
}
#endif

void ipt_load_block(ipt_vector *v, __global ipt_unit *source, ulong stride)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; ++i)
        v[i] = IPT_LOAD_VECTOR(source + i * stride);
}

void ipt_store_block(ipt_vector *v, __global ipt_unit *target, ulong stride)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; ++i)
        IPT_STORE_VECTOR(v[i], target + i * stride);
}

void ipt_transpose_block(ipt_vector *v)
{
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK / 2; ++i)
        ipt_exchange_halves(&v[i], &v[i + IPT_BLOCK / 2]);
#if IPT_BLOCK == 8
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; i += i % 4 == 1 ? 3 : 1)
        ipt_exchange_twos(&v[i], &v[i + 2]);
#endif
#pragma unroll
    for (uint i = 0; i < IPT_BLOCK; i += 2)
        ipt_exchange_ones(&v[i], &v[i + 1]);
}
#else
#define IPT_VECTORS 0
#endif

/* A tile of up to IPT_TILE x IPT_TILE elements, `parts` units of each. */

/* Splits unit k of a row into its element and its part; an element has `parts` units. Exact for k < 512 = IPT_TILE * 16
 * and parts <= 16. */
#if IPT_ELEMENT_UNITS == 1
#define IPT_SPLIT(k, parts, element, part) const uint element = (k), part = 0
#else
#define IPT_SPLIT(k, parts, element, part)                                                                             \
    const uint element = ((k) * (65535u / (parts) + 1u)) >> 16, part = (k)-element * (parts)
#endif

/* Reads rows x cols elements at `source` into `tile`, whose rows have `pitch` units. */
void ipt_load_tile(__local ipt_unit *tile, uint pitch, __global ipt_unit *source, ulong row_stride, uint rows,
                   uint cols, uint element_units, uint parts)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES, line = get_local_id(0) / IPT_LINE_LANES;
    for (uint row = line; row < rows; row += IPT_LINES)
        for (uint k = lane; k < cols * parts; k += IPT_LINE_LANES) {
            IPT_SPLIT(k, parts, col, part);
            tile[row * pitch + k] = source[row * row_stride + col * element_units + part];
        }
}

/* Writes the transpose of the rows x cols tile to `target`. */
void ipt_store_tile(__local ipt_unit *tile, uint pitch, __global ipt_unit *target, ulong row_stride, uint rows,
                    uint cols, uint element_units, uint parts)
{
    const uint lane = get_local_id(0) % IPT_LINE_LANES, line = get_local_id(0) / IPT_LINE_LANES;
    for (uint col = line; col < cols; col += IPT_LINES)
        for (uint k = lane; k < rows * parts; k += IPT_LINE_LANES) {
            IPT_SPLIT(k, parts, row, part);
            target[col * row_stride + row * element_units + part] = IPT_APPLIED(tile[row * pitch + col * parts + part]);
        }
}

#endif
