/* Device profiles: reading. */

#if !defined(IPT_NO_OFFLINE) || !defined(IPT_NO_WISDOM)

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

/* Returns whether line is `name` and a number. */
static int ipt__line_number(const char *line, const char *name, size_t *value)
{
    const size_t length = strlen(name);
    const char *at = line + length + 1;
    return !strncmp(line, name, length) && line[length] == ' ' && ipt__number_next(&at, 0, value);
}

static IPT__RARE ipt_result ipt__fail_line(const char *what, int number, const char *line, const char *expected)
{
    return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s, line %d: found '%.80s', expected %s", what, number, line,
                     expected);
}

#endif

#ifdef IPT_NO_OFFLINE

static IPT__RARE ipt_result ipt__context_from_profile(ipt_context *context, const char *profile)
{
    (void)context, (void)profile;
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "profile: ipt was compiled with IPT_NO_OFFLINE, and plans need a device");
}

#else

#define IPT__PROFILE_TITLE "ipt profile 2"

/* The numbers of a profile: limits, then findings. */
typedef struct ipt__fact {
    char name[20];
    cl_uint minimum, maximum;
} ipt__fact;
static const ipt__fact ipt__facts[] = {
#define IPT__FACT(type, field, minimum, maximum) {#field, minimum, maximum},
    IPT__LIMIT_LIST(IPT__FACT) IPT__FINDING_LIST(IPT__FACT)};
enum { IPT__FACT_COUNT = sizeof ipt__facts / sizeof *ipt__facts };

/* Reads the next line of a profile, which begins with `name`. */
static ipt_result ipt__profile_line(const char **profile, int *number, const char *name, char line[512])
{
    *line = 0;
    ++*number;
    return ipt__line_next(profile, line, 512) && !strncmp(line, name, strlen(name))
               ? IPT_SUCCESS
               : ipt__fail_line("profile", *number, line, name);
}

/* Fills in a context from a profile. */
static IPT__RARE ipt_result ipt__context_from_profile(ipt_context *context, const char *profile)
{
    static const char titles[][12] = {"device ", "vendor ", "driver ", "platform ", "bits "};
    ipt__text out = {context->device_text, sizeof context->device_text, 0};
    char line[512] = "", expected[80];
    int number = 1, i;
    size_t value, values[IPT__FACT_COUNT];
    ipt_result result = IPT_SUCCESS;
    if (!ipt__line_next(&profile, line, sizeof line) || strcmp(line, IPT__PROFILE_TITLE))
        return ipt__fail_line("profile", number, line, "'" IPT__PROFILE_TITLE "'");
    for (i = 0; i < 5; ++i) {
        result = ipt__profile_line(&profile, &number, titles[i], line);
        if (result)
            return result;
        ipt__text_add(&out, "%s\n", line);
        if (out.length >= out.capacity)
            return ipt__fail_line("profile", number, line, "a shorter line");
    }
    if (!ipt__line_number(line, "bits", &value))
        return ipt__fail_line("profile", number, line, "bits and a number");
    context->has_half = context->has_double = 1; /* the profile does not record them */
    for (i = 0; i < IPT__FACT_COUNT; ++i) {
        const ipt__fact *const fact = &ipt__facts[i];
        const int power = !strcmp(fact->name, "group_size"); /* kernels halve it repeatedly */
        ipt__print(expected, sizeof expected, "%.19s and a %s from %u to %u", fact->name,
                   power ? "power of two" : "number", (unsigned)fact->minimum, (unsigned)fact->maximum);
        *line = 0;
        ++number;
        if (!ipt__line_next(&profile, line, sizeof line) || !ipt__line_number(line, fact->name, &values[i]) ||
            values[i] < fact->minimum || values[i] > fact->maximum || (power && values[i] & (values[i] - 1)))
            return ipt__fail_line("profile", number, line, expected);
    }
    i = 0;
#define IPT__TAKE_LIMIT(type, field, minimum, maximum) context->limits.field = (type)values[i++];
#define IPT__TAKE_FINDING(type, field, minimum, maximum) context->found.field = (type)values[i++];
    IPT__LIMIT_LIST(IPT__TAKE_LIMIT)
    IPT__FINDING_LIST(IPT__TAKE_FINDING)
    context->limits.held_vectors = ipt__held_vectors(&context->limits);
    *line = 0;
    ++number;
    if (!ipt__line_next(&profile, line, sizeof line) || strcmp(line, "end"))
        return ipt__fail_line("profile", number, line, "'end'");
    if (ipt__line_next(&profile, line, sizeof line) || *profile)
        return ipt__fail_line("profile", number + 1, line, "the text's end");
    return IPT_SUCCESS;
}

#endif
