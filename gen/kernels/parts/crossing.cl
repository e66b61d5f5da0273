/* Units of a box that change places in registers, by blocks of vectors or of words. */
#ifndef IPT_CROSSING
#error "IPT_CROSSING must be defined"
#endif

#define IPT_WORD (IPT_UNIT_BYTES < 4 ? 4u / IPT_UNIT_BYTES : 1u) /* units of a word */
#define IPT_SQUARE 1                                             /* of IPT_CROSSING */
#define IPT_CHANNELS_AFTER 2
#define IPT_CHANNELS_BEFORE 3
#define IPT_ROWS_STAY 4
#define IPT_ANYWHERE 5
#define IPT_WORDS_ANYWHERE(units) (((units) + 2 * IPT_WORD - 2) / IPT_WORD) /* of so many units that begin anywhere */
/* Runs of the result that a block has, from neighbouring units of the box. */
#define IPT_BLOCK_RUNS                                                                                                 \
    (IPT_CROSSING == IPT_SQUARE ? IPT_WORD : IPT_CROSSING == IPT_CHANNELS_BEFORE ? IPT_CHANNELS + 0u : 1u)

#define IPT_BLOCK_WORDS (IPT_CROSSING == IPT_SQUARE ? IPT_WORD : 4 * IPT_CHANNELS) /* at most */

#if IPT_UNIT_BYTES <= 4
/* Joins bytes of two words by PTX's selector, a hexadecimal digit for each byte: 4 is the first byte of b. */
IPT_INLINE uint ipt_join_bytes(uint a, uint b, uint selector)
{
#if IPT_MEMORY_MODEL == 2
    uint joined;
    __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(joined) : "r"(a), "r"(b), "r"(selector));
    return joined;
#else
    uint joined = 0;
#pragma unroll
    for (uint byte = 0; byte < 4; ++byte) {
        const uint from = selector >> 4 * byte & 7;
        joined |= ((from < 4 ? a : b) >> 8 * (from & 3) & 0xffu) << 8 * byte;
    }
    return joined;
#endif
}

/* A word of these units of `from`: four bytes, two halves, or one. */
IPT_INLINE uint ipt_word_of(const uint *from, uint a, uint b, uint c, uint d)
{
#if IPT_UNIT_BYTES == 4
    return from[a];
#elif IPT_UNIT_BYTES == 2
    return ipt_join_bytes(from[a / 2], from[b / 2], a % 2 * 0x22 + 0x10 + (b % 2 * 0x22 + 0x54) * 0x100);
#else
    const uint low = ipt_join_bytes(from[a / 4], from[b / 4], a % 4 + (b % 4 + 4) * 0x10),
               high = ipt_join_bytes(from[c / 4], from[d / 4], c % 4 + (d % 4 + 4) * 0x10);
    return ipt_join_bytes(low, high, 0x5410);
#endif
}

/* Transposes a matrix of units in registers. The compiler knows its sides. */
IPT_INLINE void ipt_cross(uint *to, const uint *from, uint rows, uint columns)
{
#define IPT_CROSSED(e) ((e) % rows * columns + (e) / rows)
#pragma unroll
    for (uint w = 0; w < rows * columns / IPT_WORD; ++w) {
        const uint e = w * IPT_WORD;
        to[w] = ipt_word_of(from, IPT_CROSSED(e), IPT_CROSSED(e + 1), IPT_CROSSED(e + 2), IPT_CROSSED(e + 3));
    }
#undef IPT_CROSSED
}
#endif

IPT_INLINE void ipt_read_together(uint *words, const __local ipt_unit *from, uint together)
{
    if (together * IPT_UNIT_BYTES == 16) {
        const uint4 vector = *(const __local uint4 *)from;
        words[0] = IPT_COMPONENT(vector, 0);
        words[1] = IPT_COMPONENT(vector, 1);
        words[2] = IPT_COMPONENT(vector, 2);
        words[3] = IPT_COMPONENT(vector, 3);
    } else
        words[0] = *(const __local uint *)from;
}

IPT_INLINE void ipt_load_together(uint *words, const __global ipt_unit *from, uint together)
{
    if (together * IPT_UNIT_BYTES == 16) {
        const uint4 vector = *(const __global uint4 *)from;
        words[0] = IPT_COMPONENT(vector, 0);
        words[1] = IPT_COMPONENT(vector, 1);
        words[2] = IPT_COMPONENT(vector, 2);
        words[3] = IPT_COMPONENT(vector, 3);
    } else
        words[0] = *(const __global uint *)from;
}
IPT_INLINE void ipt_write_together(__local ipt_unit *to, const uint *words, uint together)
{
    if (together * IPT_UNIT_BYTES == 16)
        *(__local uint4 *)to = IPT_VECTOR(uint4)(words[0], words[1], words[2], words[3]);
    else
        *(__local uint *)to = words[0];
}
