/* Types of OpenCL C in expressions: their sizes, and the extensions that they need. */

enum {
    IPT__NEEDS_HALF = 1,
    IPT__NEEDS_DOUBLE = 2,
    IPT__NEEDS_BATCH = 4, /* names the matrix or array of an element */
    IPT__NEEDS_AXIS = 8   /* names the place along axis 0 of the result; the next bits: along the next axes */
};

/* Bytes of a type by its name: a number, or a vector of 2, 4, 8 or 16 numbers. 0: another type. */
static size_t ipt__type_bytes(const char *type)
{
    static const struct {
        char name[8];
        unsigned char bytes;
    } numbers[] = {{"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"half", 2},  {"int", 4},
                   {"uint", 4}, {"float", 4}, {"long", 8},  {"ulong", 8},  {"double", 8}};
    static const char counts[][4] = {"", "2", "4", "8", "16"};
    const size_t length = strcspn(type, "0123456789");
    size_t i, log2;
    for (i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        for (log2 = 0; log2 < 5 && strlen(numbers[i].name) == length && !strncmp(type, numbers[i].name, length); ++log2)
            if (!strcmp(type + length, counts[log2]))
                return (size_t)numbers[i].bytes << log2;
    return 0;
}

/* The next character of a text, across lines that a backslash joins. */
static const char *ipt__text_next(const char *at)
{
    for (++at; *at == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n')); at += at[1] == '\n' ? 2 : 3)
        ;
    return at;
}

/* Returns the end of the comment or literal that begins at `at`: the character after it. Returns `at` if none begins
 * there. Returns NULL if the text, or a literal's line, ends first. */
static const char *ipt__text_skip(const char *at)
{
    const char quote = *at == '"' || *at == '\'' ? *at : 0, *next = ipt__text_next(at);
    if (quote) {
        for (at = next; *at != quote; at = ipt__text_next(at)) {
            at = *at == '\\' ? ipt__text_next(at) : at;
            if (!*at || *at == '\n')
                return NULL;
        }
        return ipt__text_next(at);
    }
    if (*at != '/' || (*next != '*' && *next != '/'))
        return at;
    if (*next == '/') {
        while (*next && *next != '\n')
            next = ipt__text_next(next);
        return next;
    }
    for (at = next = ipt__text_next(next); *next; at = next) {
        next = ipt__text_next(at);
        if (*at == '*' && *next == '/')
            return ipt__text_next(next);
    }
    return NULL;
}

/* Describes the part of a text that would change the program around the text; NULL: there is none. An expression is one
 * line within parentheses. Another text has statements within braces. The compiler reports other mistakes. */
static IPT__RARE const char *ipt__text_escapes(const char *text, int expression)
{
    const char open = expression ? '(' : '{', close = expression ? ')' : '}';
    const char *at = text, *next;
    int depth = 0, early = 0, directives = 0;
    if (strstr(text, "?\?/"))
        return "'?\?/', which some compilers take for a backslash";
    if (*text && text[strlen(text) - 1] == '\\')
        return "a backslash at its end";
    for (; *at; at = next) {
        next = ipt__text_skip(at);
        if (!next && *at == '/')
            return "a comment without its end";
        if (next && next != at) {
            if (expression && *at == '/' && *ipt__text_next(at) == '/')
                return "'//', which would hide the text after it: /* and */ enclose comments";
            continue;
        }
        if (expression && (*at == '#' || *at == '\\'))
            return *at == '#' ? "'#'" : "a backslash outside a literal";
        next = ipt__text_next(at);
        directives |= *at == '#';
        depth += *at == open ? 1 : *at == close ? -1 : 0;
        early |= depth < 0;
    }
    if (!early || directives) /* only a compiler can count braces across directives */
        return NULL;
    return expression ? "')' before its '('" : "'}' before its '{'";
}

/* The length of a word's prefix, or 0 if the word does not have it. */
static size_t ipt__word_begins(const char *word, size_t length, const char *prefix)
{
    const size_t bytes = strlen(prefix);
    return length >= bytes && !strncmp(word, prefix, bytes) ? bytes : 0;
}

/* The axis that i and a number name, as a bit. 0: another word. Axes that no array has are one. */
static unsigned ipt__word_axis(const char *word, size_t length)
{
    size_t axis = 0, at;
    for (at = 1; at < length && word[at] >= '0' && word[at] <= '9'; ++at)
        axis = ipt__min(10 * axis + (size_t)(word[at] - '0'), IPT_MAX_RANK);
    return *word == 'i' && at == length && (length == 2 || word[1] != '0') ? IPT__NEEDS_AXIS << axis : 0;
}

/* The place in the result that a word names, as a bit: b, i, j, i0, i1 and so on. 0: none, or the word is a member. */
static unsigned ipt__word_place(const char *text, const char *word, size_t length)
{
    const char *before = word;
    while (before > text && (before[-1] == ' ' || before[-1] == '\t'))
        --before;
    if (before > text && before[-1] == '.')
        return 0;
    if (length == 1)
        return *word == 'b'   ? IPT__NEEDS_BATCH
               : *word == 'i' ? IPT__NEEDS_AXIS
               : *word == 'j' ? IPT__NEEDS_AXIS << 1
                              : 0;
    return ipt__word_axis(word, length);
}

/* The extension that a word of OpenCL C needs, as a bit: the word is a type, a conversion to it or a constant of it. A
 * pointer to `half` and its size need nothing, so ipt__text_needs handles `half`. */
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

/* Whether the word `half` at `word` belongs to a pointer's type or to sizeof. `text` is the start of the expression. */
static int ipt__half_is_unused(const char *text, const char *word)
{
    const char *after = word + 4;
    after += strspn(after, " \t");
    while (word > text && (word[-1] == ' ' || word[-1] == '\t' || word[-1] == '('))
        --word;
    return *after == '*' || (word - text >= 6 && !strncmp(word - 6, "sizeof", 6));
}

/* The extensions that an expression or a type needs, and the places that it names, as bits. *first (may be NULL): the
 * first word among missing types; *length: its length. */
static unsigned ipt__text_needs(const char *text, unsigned missing, const char **first, size_t *length)
{
    const char *at = text;
    unsigned needs = 0;
    while (*at) {
        const char *const skipped = ipt__text_skip(at);
        const size_t bytes = skipped && skipped != at
                                 ? 0
                                 : strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        const int half = bytes == 4 && !strncmp(at, "half", 4) && !ipt__half_is_unused(text, at);
        const unsigned word = half ? (unsigned)IPT__NEEDS_HALF : bytes ? ipt__word_needs(at, bytes) : 0;
        if (first && !(needs & missing) && (word & missing)) {
            *first = at;
            *length = bytes;
        }
        needs |= word | (bytes ? ipt__word_place(text, at, bytes) : 0);
        at = skipped && skipped != at ? skipped : at + (bytes ? bytes : 1);
    }
    return needs;
}
