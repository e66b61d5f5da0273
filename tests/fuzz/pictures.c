/* The tool's parsers of PGM, PPM and PAM headers and of EXIF data. An accepted header is consistent. Exchanging the
 * sides in its text changes nothing else. */
#define _POSIX_C_SOURCE 200809L
#include "gen/tool/picture/exif.h"
#include "gen/tool/picture/netpbm.h"
#include "fuzz.h"

/* Checks that the digits of a side are where the header says. */
static void expect_digits(const char *text, const netpbm_header *header, size_t side)
{
    npy_span digits = header->sides[side];
    char number[NETPBM_MAX_DIGITS + 1];
    FUZZ_EXPECT(digits.length > 0 && digits.length <= NETPBM_MAX_DIGITS);
    FUZZ_EXPECT(digits.begin < header->data_offset && digits.length < header->data_offset - digits.begin);
    memcpy(number, text + digits.begin, digits.length);
    number[digits.length] = '\0';
    FUZZ_EXPECT(strtoull(number, NULL, 10) == (side == 0 ? header->width : header->height));
}

static void expect_sentence(const char *message)
{
    FUZZ_EXPECT(strlen(message) > 0 && strlen(message) < NPY_MESSAGE_SIZE);
    for (; *message != '\0'; ++message)
        FUZZ_EXPECT(*message >= ' ');
}

static void check_text(char *text, size_t length)
{
    char message[NPY_MESSAGE_SIZE] = "", printed[NETPBM_TEXT_SIZE];
    netpbm_header header, after;
    size_t size = 0, again = 0;
    if (!netpbm_parse(text, length, &header, message)) {
        expect_sentence(message);
        return;
    }
    FUZZ_EXPECT(header.data_offset <= length && header.data_offset >= NPY_MAGIC_SIZE);
    FUZZ_EXPECT(header.width > 0 && header.height > 0 && header.channels > 0);
    FUZZ_EXPECT(header.maxval > 0 && header.maxval <= NETPBM_MAX_MAXVAL);
    FUZZ_EXPECT(header.sample_bytes == (header.maxval > 255 ? 2 : 1));
    expect_digits(text, &header, 0);
    expect_digits(text, &header, 1);
    bool fits = netpbm_data_size(&header, &size, message);
    char *before = fuzz_copy(text, length, false);
    netpbm_swap_sides(text, &header);
    FUZZ_EXPECT_WITH(netpbm_parse(text, length, &after, message), message);
    FUZZ_EXPECT(after.width == header.height && after.height == header.width && after.type == header.type);
    FUZZ_EXPECT(after.channels == header.channels && after.maxval == header.maxval);
    FUZZ_EXPECT(after.data_offset == header.data_offset);
    FUZZ_EXPECT(netpbm_data_size(&after, &again, message) == fits && (!fits || again == size));
    netpbm_swap_sides(text, &after);
    FUZZ_EXPECT(memcmp(text, before, length) == 0);
    free(before);
    size_t count = netpbm_print(printed, &header);
    FUZZ_EXPECT(count < sizeof printed);
    FUZZ_EXPECT_WITH(netpbm_parse(printed, count, &after, message), message);
    FUZZ_EXPECT(after.data_offset == count && after.width == header.width && after.height == header.height);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_copy(data, size, false);
    unsigned orientation = exif_orientation((const unsigned char *)text, size);
    FUZZ_EXPECT(orientation >= 1 && orientation <= 8);
    check_text(text, size);
    free(text);
    return 0;
}

#ifdef FUZZ_MAKE_CORPUS
static void make_corpus(void)
{
    static const char *const texts[] = {"P5 4 3 255\n",
                                        "P6 # a comment\n4#\n3 65535 ",
                                        "P6\n0012\r\n007\n256\n",
                                        "P7\nHEIGHT 3\nWIDTH 4\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n",
                                        "P7\n# c\n\n DEPTH 2\nMAXVAL 1\nWIDTH 40\r\nHEIGHT 3 \nENDHDR\n",
                                        "P4 8 8\n"};
    static const char exif[] = "\xff\xd8\xff\xe0\0\4JF\xff\xe1\0\34Exif\0\0II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\6\0";
    static const char motorola[] = "\xff\xd8\xff\xe1\0\34Exif\0\0MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6";
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        char name[20];
        snprintf(name, sizeof name, "text_%zu", i);
        fuzz_seed(name, texts[i], strlen(texts[i]));
    }
    fuzz_seed("exif", exif, sizeof exif - 1);
    fuzz_seed("exif_motorola", motorola, sizeof motorola - 1);
}
#endif
