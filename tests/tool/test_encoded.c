/* The check of encoded pictures before stb_image reads them: which files it accepts, and that it refuses every cut file
 * and each kind of damage with a message. Needs neither a device nor stb. */
#include "gen/tool/picture/picture_check.h"
#include "test.h"

#include <stdint.h>
#include <string.h>

enum { MOST = 4000 };

/* A file under construction. */
typedef struct built {
    unsigned char bytes[MOST];
    size_t size;
} built;

static void add(built *file, const void *bytes, size_t count)
{
    assert_true(count <= MOST - file->size);
    memcpy(file->bytes + file->size, bytes, count);
    file->size += count;
}

#define ADD(file, text) add(file, text, sizeof(text) - 1)

static void add_number(built *file, uint32_t value, int bytes, bool big)
{
    for (int i = 0; i < bytes; ++i) {
        const unsigned char byte = (unsigned char)(value >> 8 * (big ? bytes - 1 - i : i));
        add(file, &byte, 1);
    }
}

static void add_zeros(built *file, size_t count)
{
    for (; count > 0; --count)
        ADD(file, "\0");
}

/* Expects that the file is accepted with these sides and channels, and that each shorter file is refused as cut. */
static void expect_whole(picture_format format, const built *file, size_t width, size_t height, size_t channels,
                         int line)
{
    char message[PICTURE_MESSAGE_SIZE] = "";
    picture_claim claim;
    if (!picture_check(format, file->bytes, file->size, &claim, message))
        fail_msg("line %d: %s", line, message);
    if (claim.width != width || claim.height != height || claim.channels != channels || claim.sample_bytes != 1)
        fail_msg("line %d: %zux%zu of %zu channels", line, claim.width, claim.height, claim.channels);
    assert_true(claim.memory >= (double)(width * height * channels) && claim.memory < 1e6);
    for (size_t size = 0; size < file->size; ++size) {
        unsigned char *const exact = test_malloc(size + 1); /* sanitizers detect reads beyond the end */
        memcpy(exact, file->bytes, size);
        if (picture_check(format, exact, size, &claim, message) || !strstr(message, "truncated: "))
            fail_msg("line %d: cut at %zu of %zu: %s", line, size, file->size, message);
        test_free(exact);
    }
}

static void expect_refused(picture_format format, const built *file, const char *expected, int line)
{
    char message[PICTURE_MESSAGE_SIZE] = "";
    picture_claim claim;
    if (picture_check(format, file->bytes, file->size, &claim, message))
        fail_msg("line %d: accepted, without '%s'", line, expected);
    if (!strstr(message, expected))
        fail_msg("line %d: '%s' instead of '%s'", line, message, expected);
}

#define EXPECT_WHOLE(format, file, width, height, channels)                                                            \
    expect_whole(format, file, width, height, channels, __LINE__)
#define EXPECT_REFUSED(format, file, expected) expect_refused(format, file, expected, __LINE__)

/* ------------------------------------------------------------------------------------------------------------------ */
/* JPEG */
/* ------------------------------------------------------------------------------------------------------------------ */

#define JPEG_START "\xff\xd8"
#define JPEG_END "\xff\xd9"
#define GREY_FRAME "\xff\xc0\0\x0b\x08\0\x10\0\x20\1\1\x11\0" /* 32x16 */
#define PROGRESSIVE_FRAME "\xff\xc2\0\x0b\x08\0\x10\0\x20\1\1\x11\0"
#define COLOUR_FRAME "\xff\xc0\0\x11\x08\0\x10\0\x20\3\1\x22\0\2\x11\0\3\x11\0"
#define DC_TABLE "\xff\xc4\0\x14\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define AC_TABLE "\xff\xc4\0\x14\x10\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define GREY_SCAN "\xff\xda\0\x08\1\1\0\0\x3f\0"
#define DC_SCAN "\xff\xda\0\x08\1\1\0\0\0\0"
#define AC_SCAN "\xff\xda\0\x08\1\1\0\1\x3f\0"
#define DC_REFINEMENT "\xff\xda\0\x08\1\1\0\0\0\x10"

static void add_quantisers(built *file)
{
    ADD(file, "\xff\xdb\0\x43\0");
    add_zeros(file, 64);
}

/* The beginning of a file, with tables, up to the frame. */
static built jpeg_tables(void)
{
    built file = {.size = 0};
    ADD(&file, JPEG_START "\xff\xe0\0\4ab\xff\xff\xfe\0\3c"); /* an application's segment, a fill byte, a comment */
    add_quantisers(&file);
    ADD(&file, DC_TABLE AC_TABLE);
    return file;
}

static void encoded_jpeg_whole(void **state)
{
    built file = jpeg_tables();
    (void)state;
    ADD(&file, GREY_FRAME GREY_SCAN "ab\xff\0c" JPEG_END);
    EXPECT_WHOLE(PICTURE_JPEG, &file, 32, 16, 1);
    file = jpeg_tables();
    ADD(&file, COLOUR_FRAME "\xff\xda\0\x0c\3\1\0\2\0\3\0\0\x3f\0"
                            "abc" JPEG_END);
    EXPECT_WHOLE(PICTURE_JPEG, &file, 32, 16, 3);
    file = jpeg_tables(); /* a scan for each channel */
    ADD(&file, COLOUR_FRAME GREY_SCAN "a\xff\xda\0\x08\1\2\0\0\x3f\0"
                                      "b\xff\xda\0\x08\1\3\0\0\x3f\0"
                                      "c" JPEG_END);
    EXPECT_WHOLE(PICTURE_JPEG, &file, 32, 16, 3);
    file = jpeg_tables();
    ADD(&file, PROGRESSIVE_FRAME DC_SCAN "a" AC_SCAN "b" DC_REFINEMENT "c" JPEG_END);
    EXPECT_WHOLE(PICTURE_JPEG, &file, 32, 16, 1);
    file = jpeg_tables(); /* 8 blocks in intervals of 3 */
    ADD(&file, GREY_FRAME "\xff\xdd\0\4\0\3" GREY_SCAN "a\xff\xd0"
                          "b\xff\xd1"
                          "c" JPEG_END);
    EXPECT_WHOLE(PICTURE_JPEG, &file, 32, 16, 1);
}

/* Tables with more codes than stb has room for: in the first table, a later one, and the second table of a segment. */
static void encoded_jpeg_tables(void **state)
{
    (void)state;
    for (int place = 0; place < 3; ++place) {
        built file = jpeg_tables();
        if (place > 0)
            ADD(&file, GREY_FRAME);
        ADD(&file, "\xff\xc4");
        add_number(&file, 2 + 17 + 257 + (place == 2 ? 18 : 0), 2, true);
        if (place == 2)
            ADD(&file, "\x01\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        ADD(&file, "\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x80\1");
        add_zeros(&file, 257);
        ADD(&file, GREY_SCAN "a" JPEG_END);
        EXPECT_REFUSED(PICTURE_JPEG, &file, "has 257 codes: at most 256");
    }
    static const struct {
        const char *segment;
        size_t size;
        const char *expected;
    } cases[] = {
        {"\xff\xc4\0\x14\x20\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22, "not a list of Huffman tables"},
        {"\xff\xc4\0\x14\x14\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22, "not a list of Huffman tables"},
        {"\xff\xc4\0\x14\x10\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22, "not a list of Huffman tables"},
        {"\xff\xc4\0\x03\x10", 5, "not a list of Huffman tables"},
        {"\xff\xdb\0\x03\0", 5, "not a list of quantisation tables"},
        {"\xff\xdb\0\x03\4", 5, "not a list of quantisation tables"},
        {"\xff\xdb\0\x03\x20", 5, "not a list of quantisation tables"},
        {"\xff\xdd\0\3\1", 5, "marker DD"},
        {"\xff\xe0\0\1", 4, "length below 2"},
        {"\xff\xc9\0\2", 4, "only baseline and progressive"},
        {"\xff\xd0\0\2", 4, "not supported"},
        {"padding", 7, "does not begin with FF"},
        {"\xff\xc0\0\x0b\x0c\0\x10\0\x20\1\1\x11\0", 13, "frame"}, /* 12 bits */
        {"\xff\xc0\0\x0b\x08\0\0\0\x20\1\1\x11\0", 13, "side of 0"},
        {"\xff\xc0\0\x0b\x08\0\x10\0\x20\1\1\x01\0", 13, "out of range"}, /* sampling of 0 */
        {"\xff\xc0\0\x0b\x08\0\x10\0\x20\1\1\x15\0", 13, "out of range"},
        {"\xff\xc0\0\x0b\x08\0\x10\0\x20\1\1\x11\4", 13, "out of range"},  /* quantisation table 4 */
        {"\xff\xc0\0\x0e\x08\0\x10\0\x20\2\1\x11\0\2\x11\0", 16, "frame"}, /* two channels */
        {"\xff\xc0\0\x11\x08\0\x10\0\x20\3\1\x31\0\2\x21\0\3\x11\0", 19, "divide"},
        {"\xff\xc0\0\x11\x08\0\x10\0\x20\3\1\x11\0\1\x11\0\3\x11\0", 19, "twice"},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        built file = jpeg_tables();
        add(&file, cases[i].segment, cases[i].size);
        ADD(&file, GREY_FRAME GREY_SCAN "a" JPEG_END);
        expect_refused(PICTURE_JPEG, &file, cases[i].expected, (int)i);
    }
}

/* Scans that leave pixels undecoded, or use missing tables. */
static void encoded_jpeg_scans(void **state)
{
    static const struct {
        const char *rest;
        size_t size;
        const char *expected;
    } cases[] = {
#define CASE(text, expected) {text, sizeof(text) - 1, expected}
        CASE(GREY_FRAME JPEG_END, "no scan of channel 0"),
        CASE(COLOUR_FRAME GREY_SCAN "a" JPEG_END, "no scan of channel 1"),
        CASE(JPEG_END, "no frame"),
        CASE(GREY_SCAN "a" JPEG_END, "not the header of a scan"),
        CASE(GREY_FRAME GREY_FRAME GREY_SCAN "a" JPEG_END, "not the only frame"),
        CASE(GREY_FRAME GREY_SCAN "a" GREY_SCAN "a" JPEG_END, "out of turn"),
        CASE(PROGRESSIVE_FRAME AC_SCAN "a" DC_SCAN "a" JPEG_END, "out of turn"),
        CASE(PROGRESSIVE_FRAME DC_REFINEMENT "a" JPEG_END, "out of turn"),
        CASE(GREY_FRAME "\xff\xda\0\x08\1\2\0\0\x3f\0"
                        "a" JPEG_END,
             "the frame lacks"),
        CASE(COLOUR_FRAME "\xff\xda\0\x0a\2\1\0\1\0\0\x3f\0"
                          "a" JPEG_END,
             "or one twice"),
        CASE(GREY_FRAME "\xff\xda\0\x08\1\1\x10\0\x3f\0"
                        "a" JPEG_END,
             "tables are missing"),
        CASE(GREY_FRAME "\xff\xda\0\x08\1\1\1\0\x3f\0"
                        "a" JPEG_END,
             "tables are missing"),
        CASE(GREY_FRAME "\xff\xda\0\x08\1\1\x40\0\x3f\0"
                        "a" JPEG_END,
             "tables are missing"),
        CASE("\xff\xc0\0\x0b\x08\0\x10\0\x20\1\1\x11\1" GREY_SCAN "a" JPEG_END, "tables are missing"),
        CASE(GREY_FRAME "\xff\xdd\0\4\0\3" GREY_SCAN "a\xff\xd0"
                        "b" JPEG_END,
             "1 restarts, not 2"),
        CASE(GREY_FRAME GREY_SCAN "a\xff\xd0"
                                  "b" JPEG_END,
             "1 restarts, not 0"),
#undef CASE
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        built file = jpeg_tables();
        add(&file, cases[i].rest, cases[i].size);
        expect_refused(PICTURE_JPEG, &file, cases[i].expected, (int)i);
    }
    built many = jpeg_tables();
    ADD(&many, PROGRESSIVE_FRAME DC_SCAN);
    many.size -= sizeof DC_SCAN - 1;
    unsigned char *const bytes = test_malloc(MOST + 501 * (sizeof DC_SCAN - 1));
    size_t size = many.size;
    memcpy(bytes, many.bytes, size);
    for (int i = 0; i < 501; ++i, size += sizeof DC_SCAN - 1)
        memcpy(bytes + size, DC_SCAN, sizeof DC_SCAN - 1);
    memcpy(bytes + size, JPEG_END, 2);
    char message[PICTURE_MESSAGE_SIZE] = "";
    picture_claim claim;
    assert_false(picture_check(PICTURE_JPEG, bytes, size + 2, &claim, message));
    assert_non_null(strstr(message, "more than 500 scans"));
    test_free(bytes);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* PNG */
/* ------------------------------------------------------------------------------------------------------------------ */

#define PNG_START "\x89PNG\r\n\x1a\n"

static void add_chunk(built *file, const char *type, const void *data, size_t size)
{
    add_number(file, (uint32_t)size, 4, true);
    const size_t begin = file->size;
    add(file, type, 4);
    add(file, data, size);
    add_number(file, (uint32_t)picture_png_sum(file->bytes + begin, size + 4), 4, true);
}

static built png(uint32_t width, uint32_t height, unsigned depth, unsigned type, unsigned interlacing)
{
    built file = {.size = 0}, header = {.size = 0};
    add_number(&header, width, 4, true);
    add_number(&header, height, 4, true);
    add_number(&header, depth << 24 | type << 16, 4, true);
    add_number(&header, interlacing, 1, true);
    ADD(&file, PNG_START);
    add_chunk(&file, "IHDR", header.bytes, header.size);
    return file;
}

static void end_png(built *file)
{
    add_chunk(file, "IDAT", "data", 4);
    add_chunk(file, "IEND", "", 0);
}

static void encoded_png(void **state)
{
    built file = png(9, 7, 8, 2, 0);
    (void)state;
    end_png(&file);
    EXPECT_WHOLE(PICTURE_PNG, &file, 9, 7, 0);
    file = png(9, 7, 4, 3, 1);
    add_chunk(&file, "PLTE", "abcdef", 6);
    end_png(&file);
    EXPECT_WHOLE(PICTURE_PNG, &file, 9, 7, 0);
    static const struct {
        uint32_t width, height;
        unsigned depth, type, interlacing;
        const char *expected;
    } headers[] = {
        {0, 7, 8, 2, 0, "0x7 pixels"},       {9, 0, 8, 2, 0, "9x0 pixels"},
        {1 << 25, 7, 8, 2, 0, "33554432x7"}, {9, 0xffffffffu, 8, 2, 0, "4294967295 pixels"},
        {9, 7, 4, 2, 0, "no such pixels"},   {9, 7, 16, 3, 0, "no such pixels"},
        {9, 7, 8, 1, 0, "no such pixels"},   {9, 7, 8, 7, 0, "no such pixels"},
        {9, 7, 3, 0, 0, "no such pixels"},   {9, 7, 8, 2, 2, "interlacing"},
        {9, 7, 8, 3, 0, "its palette"},
    };
    for (size_t i = 0; i < TEST_COUNT(headers); ++i) {
        file = png(headers[i].width, headers[i].height, headers[i].depth, headers[i].type, headers[i].interlacing);
        end_png(&file);
        expect_refused(PICTURE_PNG, &file, headers[i].expected, (int)i);
    }
    file = png(9, 7, 8, 2, 0);
    add_chunk(&file, "IEND", "", 0);
    EXPECT_REFUSED(PICTURE_PNG, &file, "no PNG chunk with pixels");
    file = png(9, 7, 8, 3, 0);
    add_chunk(&file, "PLTE", "abcd", 4);
    EXPECT_REFUSED(PICTURE_PNG, &file, "no palette");
    file = png(9, 7, 8, 2, 0);
    add_chunk(&file, "IHDR", file.bytes + 16, 13);
    EXPECT_REFUSED(PICTURE_PNG, &file, "a second header");
    file.size = 0;
    ADD(&file, PNG_START);
    add_chunk(&file, "CgBI", "abcd", 4);
    EXPECT_REFUSED(PICTURE_PNG, &file, "not its header");
}

/* A size that exceeds any machine's memory causes no overflow. */
static void encoded_claims(void **state)
{
    built file = png(1 << 24, 1 << 24, 16, 6, 1);
    char message[PICTURE_MESSAGE_SIZE] = "";
    picture_claim claim;
    (void)state;
    end_png(&file);
    assert_true(picture_check(PICTURE_PNG, file.bytes, file.size, &claim, message));
    assert_true(claim.memory > 2e15);
    file = jpeg_tables();
    ADD(&file, "\xff\xc2\0\x14\x08\xff\xff\xff\xff\4\1\x44\0\2\x44\0\3\x44\0\4\x44\0"
               "\xff\xda\0\x0e\4\1\0\2\0\3\0\4\0\0\0\0"
               "a" JPEG_END);
    assert_true(picture_check(PICTURE_JPEG, file.bytes, file.size, &claim, message));
    assert_true(claim.memory > 12 * 65535.0 * 65535.0);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* BMP and TGA */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct bmp_fields {
    uint32_t header, width, height, bits, compression, used, gap, masks[4];
} bmp_fields;

/* A BMP with a header and, after it, gap bytes; without pixels. */
static built bmp(const bmp_fields *its)
{
    built file = {.size = 0};
    const uint32_t extra = its->header == 40 && its->compression == 3 ? 12 : 0;
    ADD(&file, "BM\0\0\0\0\0\0\0\0");
    add_number(&file, 14 + its->header + extra + its->gap, 4, false);
    add_number(&file, its->header, 4, false);
    add_number(&file, its->width, 4, false);
    add_number(&file, its->height, 4, false);
    add_number(&file, 1 | its->bits << 16, 4, false);
    add_number(&file, its->compression, 4, false);
    add_zeros(&file, 12);
    add_number(&file, its->used, 4, false);
    add_zeros(&file, 4);
    for (uint32_t i = 0; i < (its->header > 40 ? 4 : extra / 4); ++i)
        add_number(&file, its->masks[i], 4, false);
    while (file.size < 14 + its->header + extra + its->gap)
        ADD(&file, "\0");
    return file;
}

static void encoded_bmp(void **state)
{
    static const struct {
        bmp_fields its;
        size_t pixels, channels;
        const char *expected; /* NULL: accepted */
    } cases[] = {
        {{40, 3, 2, 24, 0, 0, 0, {0}}, 24, 3, NULL},
        {{40, 3, 0xfffffffeu, 24, 0, 0, 0, {0}}, 24, 3, NULL}, /* the top row comes first */
        {{124, 3, 2, 32, 0, 0, 0, {0}}, 24, 4, NULL},
        {{40, 3, 2, 8, 0, 0, 1024, {0}}, 8, 3, NULL},
        {{40, 3, 2, 1, 0, 0, 8, {0}}, 8, 3, NULL},
        {{40, 3, 2, 16, 3, 0, 0, {0xf800, 0x7e0, 0x1f}}, 16, 3, NULL},
        {{108, 3, 2, 32, 3, 0, 0, {0xff, 0xff00, 0xff0000, 0xff000000u}}, 24, 4, NULL},
        {{108, 3, 2, 32, 3, 0, 0, {0xff, 0xff00, 0xff0000, 0}}, 24, 3, NULL},
        {{12, 3, 2, 24, 0, 0, 0, {0}}, 24, 3, "12 bytes (OS/2)"},
        {{64, 3, 2, 24, 0, 0, 0, {0}}, 24, 3, "64 bytes:"},
        {{40, 0, 2, 24, 0, 0, 0, {0}}, 24, 3, "0x2 pixels"},
        {{40, 3, 0, 24, 0, 0, 0, {0}}, 24, 3, "3x0 pixels"},
        {{40, 3, 0x80000000u, 24, 0, 0, 0, {0}}, 24, 3, "3x2147483648 pixels"},
        {{40, 3, 2, 2, 0, 0, 16, {0}}, 24, 3, "no such pixels"},
        {{40, 3, 2, 8, 1, 0, 1024, {0}}, 24, 3, "compressed (1)"},
        {{40, 3, 2, 24, 3, 0, 0, {0xff, 0xff00, 0xff0000}}, 24, 3, "not supported"},
        {{56, 3, 2, 32, 3, 0, 0, {0xff, 0xff00, 0xff0000}}, 24, 3, "not supported"}, /* stb reads masks after this */
        {{40, 3, 2, 16, 3, 0, 0, {0xf800, 0xfe0, 0x1f}}, 16, 3, "masks"},            /* overlapping masks */
        {{40, 3, 2, 16, 3, 0, 0, {0xf800, 0x7e0, 0x15}}, 16, 3, "masks"},            /* a mask with a hole */
        {{40, 3, 2, 32, 3, 0, 0, {0x3ff00000, 0xffc00, 0x3ff}}, 24, 3, "masks"},     /* masks of 10 bits */
        {{40, 3, 2, 16, 3, 0, 0, {0xf800, 0x7e0, 0}}, 16, 3, "masks"},
        {{40, 3, 2, 16, 3, 0, 0, {0x1f0000, 0x7e0, 0x1f}}, 16, 3, "masks"}, /* a mask beyond the pixel */
        {{40, 3, 2, 8, 0, 0, 0, {0}}, 8, 3, "no palette"},
        {{40, 3, 2, 8, 0, 0, 1028, {0}}, 8, 3, "no palette"},
        {{40, 3, 2, 8, 0, 5, 1024, {0}}, 8, 3, "palette of 5 entries lacks"}, /* pixels have values up to 7 */
        {{40, 3, 2, 4, 0, 0, 4, {0}}, 8, 3, "palette of 1 entries lacks"},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        built file = bmp(&cases[i].its);
        for (size_t k = 0; k < cases[i].pixels; ++k)
            ADD(&file, "\7");
        if (cases[i].expected)
            expect_refused(PICTURE_BMP, &file, cases[i].expected, (int)i);
        else
            expect_whole(PICTURE_BMP, &file, 3, 2, cases[i].channels, (int)i);
    }
    built file = bmp(&cases[0].its);
    add_zeros(&file, 24);
    file.bytes[10] = 53; /* pixels within the header */
    EXPECT_REFUSED(PICTURE_BMP, &file, "within its header");
    file.bytes[10] = 54;
    file.bytes[13] = 0x80; /* far after the end */
    EXPECT_REFUSED(PICTURE_BMP, &file, "truncated");
}

/* A TGA of 3x2 pixels. */
static built tga(unsigned mapped, unsigned type, unsigned first, unsigned entries, unsigned entry_bits, unsigned bits,
                 unsigned flags)
{
    built file = {.size = 0};
    add_number(&file, 1 | mapped << 8 | type << 16, 3, false); /* the header and a name of one byte */
    add_number(&file, first, 2, false);
    add_number(&file, entries, 2, false);
    add_number(&file, entry_bits, 1, false);
    ADD(&file, "\0\0\0\0\3\0\2\0");
    add_number(&file, bits | flags << 8, 2, false);
    ADD(&file, "n");
    return file;
}

static void encoded_tga(void **state)
{
    static const struct {
        unsigned mapped, type, first, entries, entry_bits, bits, flags;
        const char *rest; /* after the header */
        size_t size, channels;
        const char *expected; /* NULL: accepted */
    } cases[] = {
        {0, 2, 0, 0, 0, 24, 0, "abcdefghijklmnopqr", 18, 3, NULL},
        {0, 2, 0, 0, 0, 32, 0x28, "abcdefghijklmnopqrstuvwx", 24, 4, NULL},
        {0, 2, 0, 0, 0, 16, 1, "abcdefghijkl", 12, 3, NULL},
        {0, 3, 0, 0, 0, 8, 0, "abcdef", 6, 1, NULL},
        {0, 3, 0, 0, 0, 16, 8, "abcdefghijkl", 12, 2, NULL},
        {0, 10, 0, 0, 0, 24, 0,
         "\x82"
         "abc"
         "\2"
         "abcdefghi",
         14, 3, NULL},
        {0, 11, 0, 0, 0, 8, 0,
         "\x84"
         "a"
         "\0"
         "b",
         4, 1, NULL},
        {1, 1, 0, 2, 24, 8, 0,
         "abcdef"
         "\0\1\0\1\0\1",
         12, 3, NULL},
        {1, 9, 0, 2, 15, 16, 0,
         "abcd"
         "\x85"
         "\1\0",
         7, 3, NULL},
        {1, 1, 0, 1, 8, 8, 0,
         "a"
         "\0\0\0\0\0\0",
         7, 1, NULL},
        {0, 2, 0, 0, 0, 8, 0, "abcdef", 6, 1, "no such pixels"},
        {0, 3, 0, 0, 0, 24, 0, "abcdefghijklmnopqr", 18, 3, "no such pixels"},
        {0, 1, 0, 0, 0, 8, 0, "abcdef", 6, 1, "image type 1 with colour map type 0"},
        {1, 2, 0, 1, 24, 24, 0, "abcabcdefghijklmnopqr", 21, 3, "image type 2 with colour map type 1"},
        {2, 2, 0, 0, 0, 24, 0, "abcdefghijklmnopqr", 18, 3, "colour map type 2"},
        {0, 0, 0, 0, 0, 24, 0, "", 0, 3, "image type 0"},
        {0, 32, 0, 0, 0, 24, 0, "", 0, 3, "image type 32"},
        {1, 1, 0, 0, 24, 8, 0, "\0\0\0\0\0\0", 6, 3, "0 entries"},
        {1, 1, 1, 2, 24, 8, 0,
         "abcdef"
         "\0\1\0\1\0\1",
         12, 3, "from entry 1 on"},
        {1, 1, 0, 2, 24, 8, 0,
         "abcdef"
         "\0\1\0\2\0\1",
         12, 3, "map of 2 entries lacks"},
        {1, 9, 0, 2, 24, 8, 0,
         "abcdef"
         "\x85\2",
         8, 3, "map of 2 entries lacks"},
        {1, 1, 0, 2, 24, 24, 0, "abcdef", 6, 3, "no such pixels"},
        {0, 2, 0, 0, 0, 24, 0x10, "abcdefghijklmnopqr", 18, 3, "from right to left"},
        {0, 2, 0, 0, 0, 24, 0x80, "abcdefghijklmnopqr", 18, 3, "interleaved"},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        built file = tga(cases[i].mapped, cases[i].type, cases[i].first, cases[i].entries, cases[i].entry_bits,
                         cases[i].bits, cases[i].flags);
        add(&file, cases[i].rest, cases[i].size);
        if (cases[i].expected)
            expect_refused(PICTURE_TGA, &file, cases[i].expected, (int)i);
        else
            expect_whole(PICTURE_TGA, &file, 3, 2, cases[i].channels, (int)i);
    }
    built file = tga(0, 2, 0, 0, 0, 24, 0);
    add_zeros(&file, 18);
    file.bytes[12] = 0;
    EXPECT_REFUSED(PICTURE_TGA, &file, "0x2 pixels");
}

const struct CMUnitTest test_encoded[] = {
    TEST_CASE(encoded_jpeg_whole), TEST_CASE(encoded_jpeg_tables), TEST_CASE(encoded_jpeg_scans),
    TEST_CASE(encoded_png),        TEST_CASE(encoded_claims),      TEST_CASE(encoded_bmp),
    TEST_CASE(encoded_tga),
};
const size_t test_encoded_count = TEST_COUNT(test_encoded);
