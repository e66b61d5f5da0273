#include "picture_check.h"

#include <stdint.h>
#include <string.h>

enum {
    SOF_BASELINE = 0xc0,
    SOF_EXTENDED = 0xc1,
    SOF_PROGRESSIVE = 0xc2,
    DHT = 0xc4, /* Huffman tables */
    RST = 0xd0, /* to 0xd7: restarts within a scan */
    EOI = 0xd9,
    SOS = 0xda, /* the header of a scan */
    DQT = 0xdb, /* quantisation tables */
    DNL = 0xdc,
    DRI = 0xdd, /* restart interval */
    APP = 0xe0, /* to 0xef */
    COM = 0xfe,
    TABLES = 4,
    MOST_CODES = 256,
    MOST_COMPONENTS = 4,
    MOST_SCANS = 500 /* more than any encoder writes: each scan costs a pass over the picture */
};

typedef struct jpeg_component {
    unsigned id, h, v, quantiser;
    bool seen; /* a scan with its DC coefficients has begun */
} jpeg_component;

typedef struct jpeg_reader {
    const unsigned char *bytes;
    size_t size, at;
    char *message;
    bool dc[TABLES], ac[TABLES], quantisers[TABLES]; /* the tables that are defined so far */
    bool has_frame, progressive;
    unsigned count, scans, most_h, most_v;
    size_t interval; /* of restarts; 0: none */
    jpeg_component components[MOST_COMPONENTS];
    picture_claim *claim;
} jpeg_reader;

static size_t two_bytes(const unsigned char *bytes)
{
    return (size_t)bytes[0] << 8 | bytes[1];
}

static size_t divide_up(size_t value, size_t by)
{
    return (value + by - 1) / by;
}

static bool refuse_end(const jpeg_reader *reader)
{
    return picture_refuse(reader->message, "truncated: its JPEG data ends too early");
}

static bool refuse_segment(const jpeg_reader *reader, const char *why)
{
    return picture_refuse(reader->message, "damaged: its JPEG segment at byte %zu %s", reader->at, why);
}

/* Quantisation tables. */
static bool check_quantisers(jpeg_reader *reader, const unsigned char *content, size_t length)
{
    while (length > 0) {
        const size_t bytes = content[0] >> 4 == 0 ? 65 : 129;
        if (content[0] >> 4 > 1 || (content[0] & 15) >= TABLES || bytes > length) {
            return refuse_segment(reader, "is not a list of quantisation tables");
        }
        reader->quantisers[content[0] & 15] = true;
        content += bytes;
        length -= bytes;
    }
    return true;
}

/* Huffman tables. stb's arrays have room for 256 codes, but stb does not check the number. */
static bool check_codes(jpeg_reader *reader, const unsigned char *content, size_t length)
{
    enum { LENGTHS = 16 };
    while (length > 0) {
        size_t codes = 0;
        if (length <= LENGTHS || content[0] >> 4 > 1 || (content[0] & 15) >= TABLES) {
            return refuse_segment(reader, "is not a list of Huffman tables");
        }
        for (int i = 1; i <= LENGTHS; i++) {
            codes += content[i];
        }
        if (codes > MOST_CODES) {
            return picture_refuse(reader->message,
                                  "damaged: a Huffman table of its JPEG segment at byte %zu has %zu codes: at most %d",
                                  reader->at, codes, MOST_CODES);
        }
        if (codes > length - 1 - LENGTHS) {
            return refuse_segment(reader, "is not a list of Huffman tables");
        }
        (content[0] >> 4 == 0 ? reader->dc : reader->ac)[content[0] & 15] = true;
        content += 1 + LENGTHS + codes;
        length -= 1 + LENGTHS + codes;
    }
    return true;
}

/* The sides of a component's blocks in scans of several components. */
static size_t frame_units(const jpeg_reader *reader, bool vertical)
{
    return vertical ? divide_up(reader->claim->height, 8 * reader->most_v)
                    : divide_up(reader->claim->width, 8 * reader->most_h);
}

/* The bytes that stb allocates for the frame. */
static double frame_memory(const jpeg_reader *reader)
{
    const picture_claim *const claim = reader->claim;
    double memory = (double)claim->width * (double)claim->height * (double)claim->channels;
    for (unsigned i = 0; i < reader->count; i++) {
        const jpeg_component *const its = &reader->components[i];
        const double samples =
            64.0 * (double)(frame_units(reader, false) * its->h) * (double)(frame_units(reader, true) * its->v);
        memory += samples * (reader->progressive ? 3 : 1) + (double)claim->width; /* coefficients have two bytes */
    }
    return memory;
}

/* The header of the frame. */
static bool check_frame(jpeg_reader *reader, unsigned marker, const unsigned char *content, size_t length)
{
    enum { HEADER = 6, COMPONENT = 3 };
    picture_claim *const claim = reader->claim;
    const bool good = !reader->has_frame && length >= HEADER && content[0] == 8 &&
                      (content[5] == 1 || content[5] == 3 || content[5] == 4) &&
                      length == HEADER + (size_t)content[5] * COMPONENT;
    if (!good) {
        return refuse_segment(reader, "is not the only frame, of 8 bits and 1, 3 or 4 channels");
    }
    claim->height = two_bytes(content + 1);
    claim->width = two_bytes(content + 3);
    if (claim->height == 0 || claim->width == 0) {
        return refuse_segment(reader, "has a side of 0");
    }
    reader->has_frame = true;
    reader->progressive = marker == SOF_PROGRESSIVE;
    reader->count = content[5];
    reader->most_h = reader->most_v = 1;
    for (unsigned i = 0; i < reader->count; i++) {
        const unsigned char *const text = content + HEADER + i * COMPONENT;
        jpeg_component *const its = &reader->components[i];
        *its = (jpeg_component){text[0], text[1] >> 4, text[1] & 15, text[2], false};
        for (unsigned k = 0; k < i; k++) {
            if (reader->components[k].id == its->id) {
                return refuse_segment(reader, "names a component twice");
            }
        }
        if (its->h < 1 || its->h > 4 || its->v < 1 || its->v > 4 || its->quantiser >= TABLES) {
            return refuse_segment(reader, "has a sampling factor or a quantisation table out of range");
        }
        reader->most_h = its->h > reader->most_h ? its->h : reader->most_h;
        reader->most_v = its->v > reader->most_v ? its->v : reader->most_v;
    }
    for (unsigned i = 0; i < reader->count; i++) {
        if (reader->most_h % reader->components[i].h != 0 || reader->most_v % reader->components[i].v != 0) {
            return refuse_segment(reader, "has sampling factors that do not divide the largest one");
        }
    }
    claim->channels = reader->count == 1 ? 1 : 3;
    claim->sample_bytes = 1;
    claim->memory = frame_memory(reader);
    return true;
}

/* The component that a scan names; NULL: none. */
static jpeg_component *find_component(jpeg_reader *reader, unsigned id)
{
    for (unsigned i = 0; i < reader->count; i++) {
        if (reader->components[i].id == id) {
            return &reader->components[i];
        }
    }
    return NULL;
}

/* Checks a scan's header: its tables exist, its component's DC coefficients come first. *units: restarts' blocks. */
static bool check_scan(jpeg_reader *reader, const unsigned char *content, size_t length, size_t *units)
{
    const unsigned count = length > 0 ? content[0] : 0;
    if (!reader->has_frame || count < 1 || count > reader->count || length != 4 + 2 * (size_t)count) {
        return refuse_segment(reader, "is not the header of a scan");
    }
    const unsigned first = content[length - 3], high = content[length - 1] >> 4;
    if (++reader->scans > MOST_SCANS) {
        return picture_refuse(reader->message, "its JPEG data has more than %d scans", MOST_SCANS);
    }
    *units = frame_units(reader, false) * frame_units(reader, true);
    bool named[MOST_COMPONENTS] = {false};
    for (unsigned i = 0; i < count; i++) {
        jpeg_component *const its = find_component(reader, content[1 + 2 * i]);
        const unsigned dc = content[2 + 2 * i] >> 4, ac = content[2 + 2 * i] & 15;
        if (its == NULL || named[its - reader->components]) {
            return refuse_segment(reader, "names a component that the frame lacks, or one twice");
        }
        named[its - reader->components] = true;
        const bool needs_dc = !reader->progressive || (first == 0 && high == 0);
        const bool needs_ac = !reader->progressive || first > 0;
        if (dc >= TABLES || ac >= TABLES || (needs_dc && !reader->dc[dc]) || (needs_ac && !reader->ac[ac]) ||
            !reader->quantisers[its->quantiser]) {
            return refuse_segment(reader, "begins a scan whose tables are missing");
        }
        if (reader->progressive ? !needs_dc && !its->seen : its->seen) {
            return refuse_segment(reader, "begins a scan out of turn");
        }
        its->seen = true;
        if (count == 1) {
            *units = divide_up(divide_up(reader->claim->width * its->h, reader->most_h), 8) *
                     divide_up(divide_up(reader->claim->height * its->v, reader->most_v), 8);
        }
    }
    return true;
}

/* Skips a scan's pixels, up to the next marker, and counts its restarts. */
static bool check_scan_pixels(jpeg_reader *reader, size_t units)
{
    size_t restarts = 0;
    for (;; reader->at++) {
        const unsigned char *const next = memchr(reader->bytes + reader->at, 0xff, reader->size - reader->at);
        if (next == NULL || next + 1 == reader->bytes + reader->size) {
            return refuse_end(reader);
        }
        reader->at = (size_t)(next - reader->bytes);
        const bool restart = next[1] >= RST && next[1] < RST + 8;
        restarts += restart;
        if (!restart && next[1] != 0 && next[1] != 0xff) {
            break;
        }
    }
    /* stb leaves the rest of a scan undecoded where a restart is missing. */
    const size_t interval = reader->interval == 0 ? SIZE_MAX : reader->interval;
    return restarts == (units - 1) / interval || restarts == units / interval ||
           picture_refuse(reader->message, "damaged: a scan before byte %zu has %zu restarts, not %zu", reader->at,
                          restarts, (units - 1) / interval);
}

/* Checks a segment's content. */
static bool check_segment(jpeg_reader *reader, unsigned marker, const unsigned char *content, size_t length)
{
    if (marker == DQT) {
        return check_quantisers(reader, content, length);
    }
    if (marker == DHT) {
        return check_codes(reader, content, length);
    }
    if (marker == SOF_BASELINE || marker == SOF_EXTENDED || marker == SOF_PROGRESSIVE) {
        return check_frame(reader, marker, content, length);
    }
    if (marker == DRI && length == 2) {
        reader->interval = two_bytes(content);
        return true;
    }
    if ((marker >= APP && marker < APP + 16) || marker == COM || (marker == DNL && length == 2)) {
        return true;
    }
    return picture_refuse(reader->message, "its JPEG segment at byte %zu has marker %02X: %s", reader->at, marker,
                          marker > SOF_PROGRESSIVE && marker < RST
                              ? "only baseline and progressive Huffman coding are supported"
                              : "not supported");
}

/* Checks, at the end, that all components have scans. */
static bool check_end(const jpeg_reader *reader)
{
    for (unsigned i = 0; i < reader->count; i++) {
        if (!reader->components[i].seen) {
            return picture_refuse(reader->message, "damaged: its JPEG data has no scan of channel %u", i);
        }
    }
    return reader->has_frame || picture_refuse(reader->message, "damaged: its JPEG data has no frame");
}

bool jpeg_check(const unsigned char *bytes, size_t size, picture_claim *claim, char *message)
{
    jpeg_reader reader = {.bytes = bytes, .size = size, .at = 2, .message = message, .claim = claim};
    /* A segment: FF, its marker, its length in two bytes that count themselves, its content. */
    for (;;) {
        while (reader.at + 1 < size && bytes[reader.at] == 0xff && bytes[reader.at + 1] == 0xff) {
            reader.at++; /* fill bytes */
        }
        if (size < 2 || reader.at > size - 2) {
            return refuse_end(&reader);
        }
        const unsigned marker = bytes[reader.at + 1];
        if (bytes[reader.at] != 0xff) {
            return refuse_segment(&reader, "does not begin with FF");
        }
        if (marker == EOI) {
            return check_end(&reader);
        }
        if (size - reader.at < 4) {
            return refuse_end(&reader);
        }
        const size_t length = two_bytes(bytes + reader.at + 2);
        if (length < 2) {
            return refuse_segment(&reader, "has a length below 2");
        }
        if (length > size - reader.at - 2) {
            return refuse_end(&reader);
        }
        const unsigned char *const content = bytes + reader.at + 4;
        size_t units = 0;
        if (!(marker == SOS ? check_scan(&reader, content, length - 2, &units)
                            : check_segment(&reader, marker, content, length - 2))) {
            return false;
        }
        reader.at += 2 + length;
        if (marker == SOS && !check_scan_pixels(&reader, units)) {
            return false;
        }
    }
}
