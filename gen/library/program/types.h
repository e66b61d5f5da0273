/* Types of OpenCL C in expressions: their sizes, and the extensions that they need. */

enum { IPT__NEEDS_HALF = 1, IPT__NEEDS_DOUBLE = 2 };

/* Bytes of a type by its name: a number, or a vector of 2, 4, 8 or 16 numbers. 0: another type. */
static size_t ipt__type_bytes(const char *type)
{
    static const struct {
        char name[8];
        unsigned char bytes;
    } numbers[] = {{"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"half", 2},  {"int", 4},
                   {"uint", 4}, {"float", 4}, {"long", 8},  {"ulong", 8},  {"double", 8}};
    static const char *const counts[] = {"", "2", "4", "8", "16"};
    const size_t length = strcspn(type, "0123456789");
    size_t i, log2;
    for (i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        for (log2 = 0; log2 < 5 && strlen(numbers[i].name) == length && !strncmp(type, numbers[i].name, length); ++log2)
            if (!strcmp(type + length, counts[log2]))
                return (size_t)numbers[i].bytes << log2;
    return 0;
}

/* The length of a prefix that a word has, or 0. */
static size_t ipt__word_begins(const char *word, size_t length, const char *prefix)
{
    const size_t bytes = strlen(prefix);
    return length >= bytes && !strncmp(word, prefix, bytes) ? bytes : 0;
}

/* What a word of OpenCL C needs, as a bit: a type, a conversion to it, a constant of it. A pointer to `half` and its
 * size need nothing, so `half` alone is left to ipt__text_needs. */
static unsigned ipt__word_needs(const char *word, size_t length)
{
    const char last = word[length - 1];
    size_t skipped = ipt__word_begins(word, length, "convert_"), bytes;
    if (*word >= '0' && *word <= '9')
        return last == 'h' || last == 'H' ? IPT__NEEDS_HALF : 0;
    if (ipt__word_begins(word, length, "HALF_"))
        return IPT__NEEDS_HALF;
    if (ipt__word_begins(word, length, "DBL_"))
        return IPT__NEEDS_DOUBLE;
    if (ipt__word_begins(word, length, "M_") && length > 2 && word[length - 2] == '_' && (last == 'F' || last == 'H'))
        return last == 'H' ? IPT__NEEDS_HALF : 0;
    if (ipt__word_begins(word, length, "M_"))
        return IPT__NEEDS_DOUBLE;
    skipped = skipped ? skipped : ipt__word_begins(word, length, "as_");
    word += skipped;
    length -= skipped;
    for (bytes = 0; bytes < length && word[bytes] >= 'a' && word[bytes] <= 'z'; ++bytes)
        ;
    /* A vector's size may follow, and after that the rounding of a conversion. */
    if (bytes < length && word[bytes] == '_' && !skipped)
        return 0;
    if (bytes == 6 && !strncmp(word, "double", 6))
        return IPT__NEEDS_DOUBLE;
    return bytes == 4 && !strncmp(word, "half", 4) && (skipped || bytes < length) ? IPT__NEEDS_HALF : 0;
}

/* Whether the word `half` at `word` stands for a pointer to it or for its size. `text` begins the expression. */
static int ipt__half_is_unused(const char *text, const char *word)
{
    const char *after = word + 4;
    after += strspn(after, " \t");
    while (word > text && (word[-1] == ' ' || word[-1] == '\t' || word[-1] == '('))
        --word;
    return *after == '*' || (word - text >= 6 && !strncmp(word - 6, "sizeof", 6));
}

/* What an expression or a type needs, as bits. *first (may be NULL): the first word among missing types; *length: its
 * length. */
static unsigned ipt__text_needs(const char *text, unsigned missing, const char **first, size_t *length)
{
    const char *at = text;
    unsigned needs = 0;
    while (*at) {
        const size_t bytes = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        const int half = bytes == 4 && !strncmp(at, "half", 4) && !ipt__half_is_unused(text, at);
        const unsigned word = half ? (unsigned)IPT__NEEDS_HALF : bytes ? ipt__word_needs(at, bytes) : 0;
        if (first && !(needs & missing) && (word & missing)) {
            *first = at;
            *length = bytes;
        }
        needs |= word;
        at += bytes ? bytes : 1;
    }
    return needs;
}
