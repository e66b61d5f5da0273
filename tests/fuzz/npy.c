/* The tool's parser of .npy headers. An accepted header is consistent. Exchanging the last two sizes in its text
 * changes nothing else. */
#define _POSIX_C_SOURCE 200809L
#include "gen/tool/npy/npy.h"
#include "fuzz.h"

/* Whether `size` is the product of item size and shape. The check is approximate, because the product may overflow. */
static bool is_product(const npy_header *header, size_t size)
{
    long double product = (long double)header->item_size;
    for (size_t i = 0; i < header->dimension_count; ++i)
        product *= (long double)header->shape[i];
    return product == 0 ? size == 0
                        : (long double)size > product * 0.999999L && (long double)size < product * 1.000001L;
}

static void expect_sentence(const char *message)
{
    size_t length = strlen(message);
    FUZZ_EXPECT(length > 0 && length < NPY_MESSAGE_SIZE);
    for (size_t i = 0; i < length; ++i)
        FUZZ_EXPECT(message[i] >= ' ' || message[i] < 0);
}

/* Checks that the digits of a number of the shape are where the header says. */
static void expect_digits(const char *text, size_t length, const npy_header *header, size_t dimension)
{
    npy_span digits = header->digits[dimension];
    char number[24];
    FUZZ_EXPECT(digits.length > 0 && digits.length < sizeof number);
    FUZZ_EXPECT(digits.begin <= length && digits.length <= length - digits.begin);
    memcpy(number, text + digits.begin, digits.length);
    number[digits.length] = '\0';
    FUZZ_EXPECT(strtoull(number, NULL, 10) == header->shape[dimension]);
}

static void check_header(char *text, size_t length)
{
    char message[NPY_MESSAGE_SIZE] = "";
    npy_header header = {0}, after = {0};
    size_t size, again;
    if (!npy_parse(text, length, &header, message)) {
        expect_sentence(message);
        return;
    }
    FUZZ_EXPECT(header.dimension_count <= NPY_MAX_DIMENSIONS);
    for (size_t i = 0; i < header.dimension_count; ++i)
        expect_digits(text, length, &header, i);
    if (!npy_data_size(&header, &size, message)) {
        expect_sentence(message);
        return;
    }
    FUZZ_EXPECT(is_product(&header, size));
    const char *type = NULL;
    if (npy_expression_type(&header, NULL, &type, message))
        FUZZ_EXPECT(type != NULL && header.item_size > 0 && header.item_size <= 8);
    else
        expect_sentence(message);
    if (header.dimension_count < 2)
        return;
    char *before = fuzz_copy(text, length, false);
    npy_swap_dimensions(text, &header, header.dimension_count - 2);
    FUZZ_EXPECT_WITH(npy_parse(text, length, &after, message), message);
    FUZZ_EXPECT(npy_data_size(&after, &again, message) && again == size);
    FUZZ_EXPECT(after.item_size == header.item_size && after.fortran_order == header.fortran_order);
    FUZZ_EXPECT(after.dimension_count == header.dimension_count);
    size_t count = header.dimension_count;
    for (size_t i = 0; i + 2 < count; ++i)
        FUZZ_EXPECT(after.shape[i] == header.shape[i]);
    FUZZ_EXPECT(after.shape[count - 2] == header.shape[count - 1] && after.shape[count - 1] == header.shape[count - 2]);
    npy_swap_dimensions(text, &after, after.dimension_count - 2);
    FUZZ_EXPECT(memcmp(text, before, length) == 0);
    unsigned backwards[NPY_MAX_DIMENSIONS];
    for (size_t i = 0; i < count; ++i)
        backwards[i] = (unsigned)(count - 1 - i);
    npy_permute_dimensions(text, &header, backwards);
    FUZZ_EXPECT_WITH(npy_parse(text, length, &after, message), message);
    for (size_t i = 0; i < count; ++i)
        FUZZ_EXPECT(after.shape[i] == header.shape[count - 1 - i]);
    npy_permute_dimensions(text, &after, backwards);
    FUZZ_EXPECT(memcmp(text, before, length) == 0);
    if (npy_change_order(text, length, &header)) {
        FUZZ_EXPECT_WITH(npy_parse(text, length, &after, message), message);
        FUZZ_EXPECT(after.fortran_order != header.fortran_order && after.dimension_count == count);
        for (size_t i = 0; i < count; ++i)
            FUZZ_EXPECT(after.shape[i] == header.shape[i]);
    } else {
        FUZZ_EXPECT(header.fortran_order && memcmp(text, before, length) == 0);
    }
    free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t available = size < NPY_START_SIZE ? size : NPY_START_SIZE;
    char message[NPY_MESSAGE_SIZE] = "";
    npy_span span = {0, 0};
    char *start = fuzz_copy(data, available, false);
    bool found = npy_find_text((const unsigned char *)start, available, &span, message);
    free(start);
    if (!found) {
        expect_sentence(message);
        return 0;
    }
    FUZZ_EXPECT(span.begin <= size);
    /* The length ends with the input, because other lengths are refused before the text is read. */
    if (span.length > size - span.begin) {
        if (size % 2 != 0)
            return 0;
        span.length = size - span.begin;
    }
    char *text = fuzz_copy(data + span.begin, span.length, false);
    check_header(text, span.length);
    free(text);
    return 0;
}

#ifdef FUZZ_MAKE_CORPUS
static void make_corpus(void) {} /* make_corpus.sh writes the inputs, by NumPy */
#endif
