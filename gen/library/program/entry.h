/* Cache entries: keys, checksums, bytes. */

/* An entry has one program, or the facts measured about a device. It is a file or a block of memory. Numbers are
 * little-endian. Offset, size and content:
 * - 0, 8 bytes: IPT__ENTRY_MAGIC
 * - 8, 4 bytes: IPT__ENTRY_FORMAT
 * - 12, 4 bytes: length of the key, K
 * - 16, 8 bytes: length of the payload, P
 * - 24, 32 bytes: SHA-256 of the first 24 bytes and of all bytes from 56 on
 * - 56, K bytes: the key, which names everything on which the payload depends
 * - 56 + K, P bytes: the payload
 *
 * A program's payload has its residency (4 bytes), the size of its sub-groups (4 bytes) and its code. A number of 0
 * means that it was not measured. The code comes from the device's compiler or from another one. */
#define IPT__ENTRY_MAGIC "iptcache"
enum {
    IPT__ENTRY_FORMAT = 1,
    IPT__ENTRY_SUM = 24,
    IPT__ENTRY_HEAD = 56,
    IPT__ENTRY_FACTS = 8,     /* bytes of residency and sub-groups, before a program's code */
    IPT__NAME_DIGITS = 32,    /* hexadecimal digits of the key's hash in a file's name */
    IPT__ENTRY_NAME = 37,     /* bytes of a file's name, with the terminating zero */
    IPT__ENTRY_MOST = 1 << 26 /* bytes of the longest entry; ipt reads no longer file */
};

/* SHA-256 (FIPS 180-4). */
typedef struct ipt__hash {
    cl_uint state[8];
    cl_ulong bytes;
    unsigned char block[64];
} ipt__hash;

static void ipt__hash_block(cl_uint *state, const unsigned char *block)
{
    static const cl_uint constants[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
#define IPT__ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))
    cl_uint words[64], v[8];
    int i;
    for (i = 0; i < 16; ++i)
        words[i] = (cl_uint)block[4 * i] << 24 | (cl_uint)block[4 * i + 1] << 16 | (cl_uint)block[4 * i + 2] << 8 |
                   block[4 * i + 3];
    for (; i < 64; ++i) {
        const cl_uint a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (IPT__ROTATE(a, 7) ^ IPT__ROTATE(a, 18) ^ a >> 3) + words[i - 7] +
                   (IPT__ROTATE(b, 17) ^ IPT__ROTATE(b, 19) ^ b >> 10);
    }
/* The names of the eight words change places from round to round, so that none moves. */
#define IPT__ROUND(a, b, c, d, e, f, g, h, round)                                                                      \
    v[h] += (IPT__ROTATE(v[e], 6) ^ IPT__ROTATE(v[e], 11) ^ IPT__ROTATE(v[e], 25)) +                                   \
            ((v[e] & v[f]) ^ (~v[e] & v[g])) + constants[round] + words[round];                                        \
    v[d] += v[h];                                                                                                      \
    v[h] += (IPT__ROTATE(v[a], 2) ^ IPT__ROTATE(v[a], 13) ^ IPT__ROTATE(v[a], 22)) +                                   \
            ((v[a] & v[b]) ^ (v[a] & v[c]) ^ (v[b] & v[c]));
    memcpy(v, state, sizeof v);
    for (i = 0; i < 64; i += 8) {
        IPT__ROUND(0, 1, 2, 3, 4, 5, 6, 7, i)
        IPT__ROUND(7, 0, 1, 2, 3, 4, 5, 6, i + 1)
        IPT__ROUND(6, 7, 0, 1, 2, 3, 4, 5, i + 2)
        IPT__ROUND(5, 6, 7, 0, 1, 2, 3, 4, i + 3)
        IPT__ROUND(4, 5, 6, 7, 0, 1, 2, 3, i + 4)
        IPT__ROUND(3, 4, 5, 6, 7, 0, 1, 2, i + 5)
        IPT__ROUND(2, 3, 4, 5, 6, 7, 0, 1, i + 6)
        IPT__ROUND(1, 2, 3, 4, 5, 6, 7, 0, i + 7)
    }
    for (i = 0; i < 8; ++i)
        state[i] += v[i];
#undef IPT__ROTATE
#undef IPT__ROUND
}

static void ipt__hash_begin(ipt__hash *hash)
{
    static const cl_uint start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(hash, 0, sizeof *hash);
    memcpy(hash->state, start, sizeof start);
}

static void ipt__hash_add(ipt__hash *hash, const void *data, size_t bytes)
{
    const unsigned char *next = (const unsigned char *)data;
    while (bytes) {
        const size_t filled = (size_t)(hash->bytes % 64), taken = ipt__min(bytes, 64 - filled);
        if (taken == 64)
            ipt__hash_block(hash->state, next);
        else
            memcpy(hash->block + filled, next, taken);
        if (taken != 64 && filled + taken == 64)
            ipt__hash_block(hash->state, hash->block);
        hash->bytes += taken;
        next += taken;
        bytes -= taken;
    }
}

static void ipt__hash_end(ipt__hash *hash, unsigned char digest[32])
{
    static const unsigned char padding[64] = {0x80};
    unsigned char bits[8];
    const cl_ulong length = hash->bytes * 8;
    int i;
    for (i = 0; i < 8; ++i)
        bits[i] = (unsigned char)(length >> (56 - 8 * i));
    ipt__hash_add(hash, padding, 1 + (size_t)((119 - hash->bytes % 64) % 64));
    ipt__hash_add(hash, bits, 8);
    for (i = 0; i < 32; ++i)
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

/* Writes the hash of a text as `digits` hexadecimal digits and a zero. */
static void ipt__hash_text(const char *text, size_t length, char *hex, int digits)
{
    ipt__hash hash;
    unsigned char digest[32];
    int i;
    ipt__hash_begin(&hash);
    ipt__hash_add(&hash, text, length);
    ipt__hash_end(&hash, digest);
    for (i = 0; i < digits; ++i)
        hex[i] = "0123456789abcdef"[digest[i / 2] >> (i % 2 ? 0 : 4) & 15];
    hex[digits] = 0;
}

static void ipt__put(unsigned char *at, cl_ulong value, int bytes)
{
    int i;
    for (i = 0; i < bytes; ++i)
        at[i] = (unsigned char)(value >> 8 * i);
}

static cl_ulong ipt__get(const unsigned char *at, int bytes)
{
    cl_ulong value = 0;
    while (bytes--)
        value = value << 8 | at[bytes];
    return value;
}

static void ipt__entry_sum(const unsigned char *entry, size_t bytes, unsigned char sum[32])
{
    ipt__hash hash;
    ipt__hash_begin(&hash);
    ipt__hash_add(&hash, entry, IPT__ENTRY_SUM);
    ipt__hash_add(&hash, entry + IPT__ENTRY_HEAD, bytes - IPT__ENTRY_HEAD);
    ipt__hash_end(&hash, sum);
}

/* Writes the head and the key before an entry's payload. */
static void ipt__entry_seal(unsigned char *entry, const char *key, size_t payload_bytes)
{
    const size_t key_bytes = strlen(key);
    memcpy(entry, IPT__ENTRY_MAGIC, 8);
    ipt__put(entry + 8, IPT__ENTRY_FORMAT, 4);
    ipt__put(entry + 12, key_bytes, 4);
    ipt__put(entry + 16, payload_bytes, 8);
    memcpy(entry + IPT__ENTRY_HEAD, key, key_bytes);
    ipt__entry_sum(entry, IPT__ENTRY_HEAD + key_bytes + payload_bytes, entry + IPT__ENTRY_SUM);
}

/* Verifies a whole entry before a driver sees a byte of it: drivers crash on damaged programs. Returns the payload's
 * offset. Returns 0 if the entry is damaged, or if key is not NULL and differs from the entry's. */
static size_t ipt__entry_open(const unsigned char *entry, size_t bytes, const char *key)
{
    size_t key_bytes;
    unsigned char sum[32];
    if (bytes < IPT__ENTRY_HEAD || memcmp(entry, IPT__ENTRY_MAGIC, 8) || ipt__get(entry + 8, 4) != IPT__ENTRY_FORMAT)
        return 0;
    key_bytes = (size_t)ipt__get(entry + 12, 4);
    if (key_bytes > bytes - IPT__ENTRY_HEAD || ipt__get(entry + 16, 8) != bytes - IPT__ENTRY_HEAD - key_bytes ||
        (key && (strlen(key) != key_bytes || memcmp(key, entry + IPT__ENTRY_HEAD, key_bytes))))
        return 0;
    ipt__entry_sum(entry, bytes, sum);
    return memcmp(sum, entry + IPT__ENTRY_SUM, 32) ? 0 : IPT__ENTRY_HEAD + key_bytes;
}
