/* Device profiles: reading. */

/* Copies the next line of a text, without its end, and advances to the line after it. Returns 0 if there is no line or
 * it does not fit. */
static int ipt__line_next(const char **text, char *line, size_t capacity)
{
    const size_t length = strcspn(*text, "\n");
    if (!**text || length >= capacity)
        return 0;
    memcpy(line, *text, length);
    line[length && line[length - 1] == '\r' ? length - 1 : length] = 0;
    *text += length;
    *text += **text == '\n';
    return 1;
}

/* Reads a decimal number before `stop` or the text's end, and skips `stop`. Returns 0 if there is none. */
static int ipt__number_next(const char **text, char stop, size_t *value)
{
    const char *at = *text;
    *value = 0;
    if (*at < '0' || *at > '9')
        return 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
        const size_t digit = (size_t)(*at - '0');
        if (*value > ((size_t)-1 - digit) / 10)
            return 0;
        *value = *value * 10 + digit;
    }
    if (*at != stop)
        return 0;
    *text = at + (*at != 0);
    return 1;
}

#define IPT__PROFILE_TITLE "ipt profile 1"

/* Returns whether line is `name` and a number. */
static int ipt__line_number(const char *line, const char *name, size_t *value)
{
    const size_t length = strlen(name);
    const char *at = line + length + 1;
    return !strncmp(line, name, length) && line[length] == ' ' && ipt__number_next(&at, 0, value);
}

static ipt_result ipt__fail_line(const char *what, int number, const char *line, const char *expected)
{
    return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s, line %d: found '%.80s', expected %s", what, number, line,
                     expected);
}

/* Fills in a context from a profile. */
static ipt_result ipt__context_from_profile(ipt_context *context, const char *profile)
{
    static const char *const titles[] = {"device ", "vendor ", "driver ", "platform ", "bits "};
    ipt__text out = {context->device_text, sizeof context->device_text, 0};
    char line[512] = "";
    int number = 1, i;
    size_t value;
    if (!ipt__line_next(&profile, line, sizeof line) || strcmp(line, IPT__PROFILE_TITLE))
        return ipt__fail_line("profile", number, line, "'" IPT__PROFILE_TITLE "'");
    for (i = 0; i < 5; ++i) {
        *line = 0;
        ++number;
        if (!ipt__line_next(&profile, line, sizeof line) || strncmp(line, titles[i], strlen(titles[i])))
            return ipt__fail_line("profile", number, line, titles[i]);
        ipt__text_add(&out, "%s\n", line);
        if (out.length >= out.capacity)
            return ipt__fail_line("profile", number, line, "a shorter line");
    }
    if (!ipt__line_number(line, "bits", &value))
        return ipt__fail_line("profile", number, line, "bits and a number");
    context->has_half = context->has_double = 1; /* the profile does not record them */
#define IPT__PROFILE_READ(type, field, minimum, maximum, target)                                                       \
    *line = 0;                                                                                                         \
    ++number;                                                                                                          \
    if (!ipt__line_next(&profile, line, sizeof line) || !ipt__line_number(line, #field, &value) ||                     \
        value + 1 < (minimum) + 1u || value > (maximum))                                                               \
        return ipt__fail_line("profile", number, line, #field " and a number");                                        \
    target.field = (type)value;
#define IPT__PROFILE_READ_LIMIT(type, field, minimum, maximum)                                                         \
    IPT__PROFILE_READ(type, field, minimum, maximum, context->limits)
#define IPT__PROFILE_READ_FINDING(type, field, minimum, maximum)                                                       \
    IPT__PROFILE_READ(type, field, minimum, maximum, context->found)
    IPT__LIMIT_LIST(IPT__PROFILE_READ_LIMIT)
    IPT__FINDING_LIST(IPT__PROFILE_READ_FINDING)
    *line = 0;
    ++number;
    if (!ipt__line_next(&profile, line, sizeof line) || strcmp(line, "end"))
        return ipt__fail_line("profile", number, line, "'end'");
    if (ipt__line_next(&profile, line, sizeof line) || *profile)
        return ipt__fail_line("profile", number + 1, line, "the text's end");
    return IPT_SUCCESS;
}
