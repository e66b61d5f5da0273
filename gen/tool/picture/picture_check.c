#include "picture_check.h"

#include <stdint.h>
#include <string.h>

static bool refuse_cut(picture_format format, char *message)
{
    return picture_refuse(message, "truncated: its %s data ends too early", picture_format_name(format));
}

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t little_endian(const unsigned char *bytes, size_t count)
{
    uint32_t value = 0;
    while (count-- > 0) {
        value = value << 8 | bytes[count];
    }
    return value;
}

/* Stores the sides. */
static bool claim_sides(picture_claim *claim, uint32_t width, uint32_t height, char *message)
{
    claim->width = width;
    claim->height = height;
    return (width > 0 && height > 0 && width <= PICTURE_MOST_SIDE && height <= PICTURE_MOST_SIDE) ||
           picture_refuse(message, "its header says %lux%lu pixels: sides are from 1 to %d", (unsigned long)width,
                          (unsigned long)height, PICTURE_MOST_SIDE);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* PNG */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { PNG_SIGNATURE = 8, PNG_LENGTH = 4, PNG_TYPE = 4, PNG_SUM = 4, PNG_HEADER = 13, PNG_MOST_COLOURS = 256 };

unsigned long picture_png_sum(const unsigned char *bytes, size_t count)
{
    uint32_t table[256], sum = 0xffffffffu;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) {
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 0xff];
    }
    return ~sum & 0xffffffffu;
}

/* Checks the IHDR chunk. */
static bool check_png_header(const unsigned char *header, picture_claim *claim, char *message)
{
    enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGB_ALPHA = 6 };
    static const unsigned char stored[] = {[GREY] = 1, [RGB] = 3, [PALETTE] = 1, [GREY_ALPHA] = 2, [RGB_ALPHA] = 4};
    const unsigned depth = header[8], type = header[9], interlaced = header[12];
    const bool power = depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    const bool known = type < sizeof stored && stored[type] != 0;
    if (!claim_sides(claim, big_endian(header), big_endian(header + 4), message)) {
        return false;
    }
    if (!known || !power || (type == PALETTE ? depth > 8 : type != GREY && depth < 8)) {
        return picture_refuse(message, "its header has colour type %u with samples of %u bits: PNG has no such pixels",
                              type, depth);
    }
    if (header[10] != 0 || header[11] != 0 || interlaced > 1) {
        return picture_refuse(message, "its header has an unknown compression, filter or interlacing method");
    }
    const double pixels = (double)claim->width * (double)claim->height, rows = interlaced ? 3 : 1;
    const double row = (double)((claim->width * depth + 7) / 8) * stored[type] + 1;
    const double channels = stored[type] + (type == GREY || type == RGB ? 1 : 0); /* a transparent colour adds alpha */
    /* Memory for the inflated rows and samples, both twice if interlaced, and for the colours. */
    claim->memory = rows * row * (double)claim->height +
                    (interlaced ? 2 : 1) * pixels * channels * (depth > 8 ? 2 : 1) + (type == PALETTE ? 4 * pixels : 0);
    claim->sample_bytes = depth == 16 ? 2 : 1;
    claim->colours = type == PALETTE ? (size_t)1 << depth : 0;
    return true;
}

/* Checks one chunk. *data: the bytes of IDAT chunks so far. */
static bool check_png_chunk(const unsigned char *bytes, size_t at, picture_claim *claim, double *data, char *message)
{
    const size_t length = big_endian(bytes + at);
    const unsigned char *const type = bytes + at + PNG_LENGTH, *const content = type + PNG_TYPE;
    if (big_endian(content + length) != picture_png_sum(type, PNG_TYPE + length)) {
        return picture_refuse(message, "damaged: the checksum of its PNG chunk at byte %zu is wrong", at);
    }
    if ((at == PNG_SIGNATURE) != (memcmp(type, "IHDR", PNG_TYPE) == 0 && length == PNG_HEADER)) {
        return picture_refuse(message, "damaged: its PNG chunk at byte %zu is %s", at,
                              at == PNG_SIGNATURE ? "not its header" : "a second header");
    }
    if (at == PNG_SIGNATURE) {
        return check_png_header(content, claim, message);
    }
    if (memcmp(type, "acTL", PNG_TYPE) == 0) {
        return picture_refuse(message, "an animation of several pictures: only single pictures are supported");
    }
    if (memcmp(type, "PLTE", PNG_TYPE) == 0) {
        if (claim->palette != 0 || *data > 0 || length % 3 != 0 || length == 0 || length > 3 * PNG_MOST_COLOURS) {
            return picture_refuse(message, "damaged: its PNG chunk at byte %zu is no palette, or a second or late one",
                                  at);
        }
        claim->palette = at;
        claim->entries = length / 3;
    }
    *data += memcmp(type, "IDAT", PNG_TYPE) == 0 ? (double)length : 0;
    return true;
}

/* Checks the chunks, whose checksums stb ignores. Refuses animations, of which stb reads one picture. */
static bool check_png(const unsigned char *bytes, size_t size, picture_claim *claim, char *message)
{
    double data = 0;
    for (size_t at = PNG_SIGNATURE; size >= at && size - at >= PNG_LENGTH + PNG_TYPE + PNG_SUM;) {
        const size_t length = big_endian(bytes + at);
        if (length > size - at - (PNG_LENGTH + PNG_TYPE + PNG_SUM)) {
            break;
        }
        if (!check_png_chunk(bytes, at, claim, &data, message)) {
            return false;
        }
        if (memcmp(bytes + at + PNG_LENGTH, "IEND", PNG_TYPE) == 0) {
            claim->memory += 4 * data; /* stb collects the data in a growing array */
            return (data > 0 && (claim->colours == 0 || claim->entries > 0)) ||
                   picture_refuse(message, "damaged: it has no PNG chunk with %s", data > 0 ? "its palette" : "pixels");
        }
        at += PNG_LENGTH + PNG_TYPE + length + PNG_SUM;
    }
    return picture_refuse(message, "truncated: it ends before its last PNG chunk");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* BMP */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { BMP_START = 14, BMP_OS2 = 12, BMP_OLD = 40, BMP_THIRD = 56, BMP_MASKS = 54, BMP_NONE = 0, BMP_BITFIELDS = 3 };

/* Whether a mask is 0 or a run of at most 8 bits within a pixel of `bits` bits. */
static bool is_mask(uint32_t mask, unsigned bits)
{
    uint32_t run = mask;
    while (run != 0 && (run & 1) == 0) {
        run >>= 1;
    }
    return run <= 0xff && (run & (run + 1)) == 0 && (bits == 32 || mask >> bits == 0);
}

/* Checks the masks of a pixel's channels. has_alpha: the header has a fourth one. */
static bool check_bmp_masks(const unsigned char *masks, bool has_alpha, unsigned bits, picture_claim *claim,
                            char *message)
{
    uint32_t taken = 0;
    bool good = true;
    for (int i = 0; i < (has_alpha ? 4 : 3); i++) {
        const uint32_t mask = little_endian(masks + 4 * i, 4);
        good = good && is_mask(mask, bits) && (taken & mask) == 0 && (i == 3 || mask != 0);
        taken |= mask;
        claim->channels += i < 3 || mask != 0;
    }
    return good || picture_refuse(message, "the masks of its channels are not runs of 1 to 8 bits each");
}

/* Whether all indices of a row are below the number of the palette's entries. */
static bool bmp_row_has_colours(const unsigned char *row, size_t width, unsigned bits, size_t entries)
{
    for (size_t i = 0; i < width; i++) {
        const size_t bit = i * bits;
        if ((row[bit / 8] >> (8 - bits - bit % 8) & ((1u << bits) - 1)) >= entries) {
            return false;
        }
    }
    return true;
}

/* Checks the sizes that follow from the header. */
static bool check_bmp_pixels(const unsigned char *bytes, size_t size, const picture_claim *claim, char *message)
{
    const size_t begin = little_endian(bytes + 10, 4), header = little_endian(bytes + BMP_START, 4);
    const unsigned bits = little_endian(bytes + 28, 2), used = little_endian(bytes + 46, 4);
    const bool extra = header == BMP_OLD && little_endian(bytes + 30, 4) == BMP_BITFIELDS;
    const uint64_t stride = ((uint64_t)claim->width * bits + 31) / 32 * 4;
    const size_t least = BMP_START + header + (extra ? 12 : 0);
    if (begin < least) {
        return picture_refuse(message, "damaged: its pixels begin at byte %zu, within its header of %zu bytes", begin,
                              least);
    }
    if (begin > size || stride * claim->height > size - begin) {
        return refuse_cut(PICTURE_BMP, message);
    }
    size_t entries = (begin - least) / 4; /* of the palette */
    if (bits < 16 && (entries == 0 || entries > 256)) {
        return picture_refuse(message, "damaged: between its header and its pixels are %zu bytes, which is no palette",
                              begin - least);
    }
    entries = used != 0 && used < entries ? used : entries;
    for (size_t y = 0; bits < 16 && entries < (size_t)1 << bits && y < claim->height; y++) {
        if (!bmp_row_has_colours(bytes + begin + y * (size_t)stride, claim->width, bits, entries)) {
            return picture_refuse(message, "damaged: a pixel has a colour that its palette of %zu entries lacks",
                                  entries);
        }
    }
    return true;
}

static bool check_bmp(const unsigned char *bytes, size_t size, picture_claim *claim, char *message)
{
    if (size < BMP_START + BMP_OS2) {
        return refuse_cut(PICTURE_BMP, message);
    }
    const size_t header = little_endian(bytes + BMP_START, 4);
    if (header != BMP_OLD && header != BMP_THIRD && header != 108 && header != 124) {
        return picture_refuse(
            message,
            "its BMP header has %zu bytes%s: those of 40, 56, 108 and 124 bytes are supported: save it "
            "as a Windows BMP",
            header, header == BMP_OS2 ? " (OS/2)" : "");
    }
    if (size < BMP_START + header) {
        return refuse_cut(PICTURE_BMP, message);
    }
    const uint32_t width = little_endian(bytes + 18, 4), height = little_endian(bytes + 22, 4);
    const unsigned planes = little_endian(bytes + 26, 2), bits = little_endian(bytes + 28, 2);
    const unsigned long compression = little_endian(bytes + 30, 4);
    if (!claim_sides(claim, width, height > INT32_MAX ? 0 - height : height,
                     message)) { /* negative: the top row comes first */
        return false;
    }
    if (planes != 1 || (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32)) {
        return picture_refuse(message, "its header says %u planes of %u bits for a pixel: BMP has no such pixels",
                              planes, bits);
    }
    const bool has_masks = compression == BMP_BITFIELDS;
    if ((compression != BMP_NONE && !has_masks) || (has_masks && ((bits != 16 && bits != 32) || header == BMP_THIRD))) {
        return picture_refuse(message, "its pixels are compressed (%lu) or have masks that are not supported",
                              compression);
    }
    if (has_masks && size < BMP_MASKS + 16) {
        return refuse_cut(PICTURE_BMP, message);
    }
    if (has_masks && !check_bmp_masks(bytes + BMP_MASKS, header > BMP_THIRD, bits, claim, message)) {
        return false;
    }
    claim->channels = has_masks ? claim->channels : bits == 32 ? 4 : 3;
    claim->sample_bytes = 1;
    claim->memory = (double)claim->width * (double)claim->height * 4;
    return check_bmp_pixels(bytes, size, claim, message);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* TGA */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { TGA_HEADER = 18, TGA_MAPPED = 1, TGA_COLOURS = 2, TGA_GREY = 3, TGA_PACKED = 8, TGA_RIGHT_TO_LEFT = 0x10 };

/* The bytes of a pixel or of an entry of the colour map, and its channels. false: no such pixels. */
static bool tga_pixel(unsigned bits, bool grey, size_t *bytes, size_t *channels)
{
    *bytes = (bits + 7) / 8;
    *channels = grey ? *bytes : bits < 24 ? 3 : *bytes;
    return grey ? bits == 8 || bits == 16 : bits == 15 || bits == 16 || bits == 24 || bits == 32;
}

/* Whether count pixels follow, packed in runs or not, all with colours that the map has. entries = 0: no map. */
static bool check_tga_pixels(const unsigned char *bytes, size_t size, bool packed, size_t pixel, size_t entries,
                             uint64_t count, char *message)
{
    size_t at = 0;
    while (count > 0) {
        uint64_t run = count, stored = count;
        if (packed) {
            if (at == size) {
                return refuse_cut(PICTURE_TGA, message);
            }
            run = (bytes[at] & 127) + 1u;
            run = run < count ? run : count;
            stored = bytes[at++] > 127 ? 1 : run;
        }
        if (stored > (size - at) / pixel) {
            return refuse_cut(PICTURE_TGA, message);
        }
        for (uint64_t i = 0; entries > 0 && i < stored; i++) {
            if (little_endian(bytes + at + (size_t)i * pixel, pixel) >= entries) {
                return picture_refuse(message, "damaged: a pixel has a colour that its map of %zu entries lacks",
                                      entries);
            }
        }
        at += (size_t)stored * pixel;
        count -= run;
    }
    return true;
}

static bool check_tga(const unsigned char *bytes, size_t size, picture_claim *claim, char *message)
{
    if (size < TGA_HEADER) {
        return refuse_cut(PICTURE_TGA, message);
    }
    const bool mapped = bytes[1] == 1, packed = bytes[2] >= TGA_PACKED;
    const unsigned type = bytes[2] - (packed ? TGA_PACKED : 0), bits = bytes[16], flags = bytes[17];
    const size_t first = little_endian(bytes + 3, 2), entries = mapped ? little_endian(bytes + 5, 2) : 0;
    size_t entry = 0, pixel;
    if (bytes[1] > 1 || (mapped ? type != TGA_MAPPED : type != TGA_COLOURS && type != TGA_GREY)) {
        return picture_refuse(message,
                              "its header has image type %u with colour map type %u: not a TGA that is supported",
                              bytes[2], bytes[1]);
    }
    bool good = tga_pixel(bits, type == TGA_GREY, &pixel, &claim->channels);
    if (mapped) {
        good = (bits == 8 || bits == 16) && tga_pixel(bytes[7], bytes[7] == 8, &entry, &claim->channels);
    }
    if (!good) {
        return picture_refuse(message,
                              "its header has pixels of %u bits with a colour map of %u: TGA has no such pixels", bits,
                              mapped ? bytes[7] : 0);
    }
    if (mapped && (first != 0 || entries == 0)) {
        return picture_refuse(message,
                              "its colour map has %zu entries from entry %zu on: only maps from 0 on are supported",
                              entries, first);
    }
    if ((flags & ~0x2fu) != 0) {
        return picture_refuse(message, "its rows are stored %s: not supported",
                              (flags & TGA_RIGHT_TO_LEFT) != 0 ? "from right to left" : "interleaved");
    }
    if (!claim_sides(claim, little_endian(bytes + 12, 2), little_endian(bytes + 14, 2), message)) {
        return false;
    }
    claim->sample_bytes = 1;
    claim->memory = (double)claim->width * (double)claim->height * (double)claim->channels + 4.0 * (double)entries;
    const size_t begin = TGA_HEADER + (size_t)bytes[0] + entries * entry;
    return begin <= size ? check_tga_pixels(bytes + begin, size - begin, packed, pixel, entries,
                                            (uint64_t)claim->width * claim->height, message)
                         : refuse_cut(PICTURE_TGA, message);
}

bool picture_check(picture_format format, const unsigned char *bytes, size_t size, picture_claim *claim, char *message)
{
    enum { DECODER_MEMORY = 1 << 17 }; /* tables of the decoder */
    memset(claim, 0, sizeof *claim);
    const bool good = format == PICTURE_PNG    ? check_png(bytes, size, claim, message)
                      : format == PICTURE_JPEG ? jpeg_check(bytes, size, claim, message)
                      : format == PICTURE_BMP  ? check_bmp(bytes, size, claim, message)
                                               : check_tga(bytes, size, claim, message);
    claim->memory += DECODER_MEMORY;
    return good;
}
