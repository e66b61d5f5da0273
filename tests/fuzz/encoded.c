/* The tool's reader of PNG, JPEG, BMP and TGA: its check, then stb_image. The first byte chooses the format. The target
 * corrects the checksums of a PNG's chunks, so that mutations reach the decoder. A refusal has a message. An accepted
 * picture has the sides and channels that the check reports, and respects the memory limit. */
#define _POSIX_C_SOURCE 200809L
#include "gen/tool/picture/picture_check.h"
#include "gen/tool/picture/stb.h"
#include "fuzz.h"

enum { LIMIT = 1 << 21, FORMATS = 4, SIGNATURE = 8, CHUNK = 12 };

static void expect_sentence(const char *message)
{
    FUZZ_EXPECT(strlen(message) > 0 && strlen(message) < PICTURE_MESSAGE_SIZE);
    for (; *message != '\0'; ++message)
        FUZZ_EXPECT(*message >= ' ');
}

static void mend_sums(unsigned char *bytes, size_t size)
{
    for (size_t at = SIGNATURE; size >= CHUNK && at <= size - CHUNK;) {
        const size_t length = (size_t)bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
        if (length > size - CHUNK - at)
            return;
        const unsigned long sum = picture_png_sum(bytes + at + 4, length + 4);
        for (int i = 0; i < 4; ++i)
            bytes[at + 8 + length + i] = (unsigned char)(sum >> (24 - 8 * i));
        at += CHUNK + length;
    }
}

/* A file that is cut at `cut` is refused, or has the same picture, if the missing bytes followed the picture's end. */
static void expect_no_invention(picture_format format, const unsigned char *bytes, size_t cut, const picture *whole)
{
    char message[PICTURE_MESSAGE_SIZE] = "";
    unsigned char *const exact = (unsigned char *)fuzz_copy(bytes, cut, false);
    picture decoded = {0};
    if (stb_decode(format, exact, cut, LIMIT, &decoded, message)) {
        const size_t samples = decoded.width * decoded.height * decoded.channels * decoded.sample_bytes;
        FUZZ_EXPECT(decoded.width == whole->width && decoded.height == whole->height);
        FUZZ_EXPECT(decoded.channels == whole->channels && decoded.sample_bytes == whole->sample_bytes);
        FUZZ_EXPECT(memcmp(decoded.samples, whole->samples, samples) == 0);
    } else {
        expect_sentence(message);
    }
    free(decoded.samples);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const picture_format formats[FORMATS] = {PICTURE_PNG, PICTURE_JPEG, PICTURE_BMP, PICTURE_TGA};
    static const char starts[FORMATS][SIGNATURE + 1] = {"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "BM", ""};
    fuzz_input input = {data, size};
    const unsigned which = (unsigned)fuzz_take(&input, 1) % FORMATS;
    const size_t start = strlen(starts[which]);
    unsigned char *const bytes = (unsigned char *)fuzz_copy(input.bytes, input.left, false);
    char message[PICTURE_MESSAGE_SIZE] = "";
    picture decoded = {0};
    picture_claim claim;
    size = input.left < start ? 0 : input.left;
    if (size > 0)
        memcpy(bytes, starts[which], start); /* the first bytes identify the format */
    if (which == 0)
        mend_sums(bytes, size);
    const bool good = size > 0 && picture_check(formats[which], bytes, size, &claim, message);
    if (size > 0 && !good)
        expect_sentence(message);
    if (size > 0 && !stb_decode(formats[which], bytes, size, LIMIT, &decoded, message)) {
        expect_sentence(message);
    } else if (size > 0) {
        const size_t samples = decoded.width * decoded.height * decoded.channels * decoded.sample_bytes;
        FUZZ_EXPECT(good && decoded.width == claim.width && decoded.height == claim.height);
        FUZZ_EXPECT(decoded.channels >= 1 && decoded.channels <= 4 && decoded.sample_bytes == claim.sample_bytes);
        FUZZ_EXPECT(claim.channels == 0 || decoded.channels == claim.channels);
        FUZZ_EXPECT((double)samples <= claim.memory && claim.memory <= LIMIT);
        unsigned sum = 0;
        for (size_t i = 0; i < samples; ++i)
            sum += decoded.samples[i];
        FUZZ_EXPECT(sum <= samples * 255);
#ifdef FUZZ_REPLAY
        for (size_t cut = start; cut < size; ++cut)
            expect_no_invention(formats[which], bytes, cut, &decoded);
#else
        expect_no_invention(formats[which], bytes, start + (size - start) * (sum % 64) / 64, &decoded);
#endif
    }
    free(decoded.samples);
    free(bytes);
    return 0;
}

#ifdef FUZZ_MAKE_CORPUS
static void make_corpus(void)
{
    /* make_corpus.sh writes the other formats with Pillow. */
    static const unsigned char grey_map[] = "\3\0\1\1\0\0\2\0\10\0\0\0\0\2\0\2\0\10\0"
                                            "ab"
                                            "\0\1\1";
    static const unsigned char masks[] =
        "\2BM\0\0\0\0\0\0\0\0\x42\0\0\0\x28\0\0\0\2\0\0\0\1\0\0\0\1\0\x10\0\3\0\0\0\0\0\0\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\xf8\0\0\xe0\7\0\0\x1f\0\0\0"
        "abcd";
    fuzz_seed("tga_short", grey_map, sizeof grey_map - 1);
    fuzz_seed("bmp_masks", masks, sizeof masks - 1);
}
#endif
