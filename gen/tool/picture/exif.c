#include "exif.h"

#include <stdbool.h>
#include <string.h>

enum {
    MARKER_APP1 = 0xe1, /* of the segment with EXIF data */
    MARKER_SOS = 0xda,  /* pixels follow */
    ENTRY_BYTES = 12,
    TAG_ORIENTATION = 0x112,
    MOST_ORIENTATION = 8
};

/* Reads a number of count bytes. */
static size_t exif_number(const unsigned char *bytes, size_t count, bool is_little_endian)
{
    size_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value = value << 8 | bytes[is_little_endian ? count - 1 - i : i];
    }
    return value;
}

/* Searches the first directory of EXIF data, which is a TIFF file without pixels. */
static unsigned exif_search(const unsigned char *tiff, size_t size)
{
    if (size < 8 || (memcmp(tiff, "II", 2) != 0 && memcmp(tiff, "MM", 2) != 0)) {
        return EXIF_UPRIGHT;
    }
    bool little = tiff[0] == 'I';
    size_t at = exif_number(tiff + 4, 4, little);
    if (at > size || size - at < 2) {
        return EXIF_UPRIGHT;
    }
    size_t count = exif_number(tiff + at, 2, little);
    at += 2;
    for (; count > 0 && size - at >= ENTRY_BYTES; count--, at += ENTRY_BYTES) {
        size_t value = exif_number(tiff + at + 8, 2, little);
        if (exif_number(tiff + at, 2, little) == TAG_ORIENTATION) {
            return value >= EXIF_UPRIGHT && value <= MOST_ORIENTATION ? (unsigned)value : EXIF_UPRIGHT;
        }
    }
    return EXIF_UPRIGHT;
}

unsigned exif_orientation(const unsigned char *jpeg, size_t size)
{
    static const char name[6] = "Exif\0"; /* plus the final zero */
    /* A segment: FF, its marker, its length in two bytes that count themselves, its content. */
    for (size_t at = 2; size >= 4 && at <= size - 4 && jpeg[at] == 0xff && jpeg[at + 1] != MARKER_SOS;) {
        size_t length = exif_number(jpeg + at + 2, 2, false);
        if (length < 2 || length > size - at - 2) {
            break;
        }
        const unsigned char *content = jpeg + at + 4;
        if (jpeg[at + 1] == MARKER_APP1 && length - 2 >= sizeof name && memcmp(content, name, sizeof name) == 0) {
            return exif_search(content + sizeof name, length - 2 - sizeof name);
        }
        at += 2 + length;
    }
    return EXIF_UPRIGHT;
}
