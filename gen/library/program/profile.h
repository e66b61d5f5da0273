/* Device profiles: reading. */

#if !defined(IPT_NO_OFFLINE) || !defined(IPT_NO_WISDOM)

/* A text whose lines are read in sequence. */
typedef struct ipt__lines {
    const char *name; /* of the text, for messages */
    const char *next; /* the text after `line` */
    int number;       /* of `line`; the first is 1 */
    char line[512];
} ipt__lines;

/* Copies the next line without its end. If there is no line or it does not fit, makes the line "" and returns 0. */
static int ipt__line_next(ipt__lines *lines)
{
    const size_t length = strcspn(lines->next, "\n");
    ++lines->number;
    *lines->line = 0;
    if (!*lines->next || length >= sizeof lines->line)
        return 0;
    memcpy(lines->line, lines->next, length);
    lines->line[length && lines->line[length - 1] == '\r' ? length - 1 : length] = 0;
    lines->next += length;
    lines->next += *lines->next == '\n';
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

static IPT__RARE ipt_result ipt__fail_line(const ipt__lines *lines, const char *expected)
{
    return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s, line %d: found '%.80s', expected %s", lines->name, lines->number,
                     lines->line, expected);
}

/* Reports the size of an exported text. Fails, and makes the text "", if it does not fit. */
static IPT__RARE ipt_result ipt__text_export(ipt__text *out, size_t *bytes)
{
    if (bytes)
        *bytes = out->length + 1;
    if (out->length < out->capacity)
        return IPT_SUCCESS;
    if (out->capacity)
        *out->text = 0;
    return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "capacity is %zu: %zu bytes are needed", out->capacity,
                     out->length + 1);
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

/* Fills in a context from a profile. */
static IPT__RARE ipt_result ipt__context_from_profile(ipt_context *context, const char *profile)
{
    static const char titles[][12] = {"device ", "vendor ", "driver ", "platform ", "bits "};
    ipt__text out = {context->device_text, sizeof context->device_text, 0};
    ipt__lines lines = {"profile", profile, 0, ""};
    char expected[80];
    int i;
    size_t value, values[IPT__FACT_COUNT];
    if (!ipt__line_next(&lines) || strcmp(lines.line, IPT__PROFILE_TITLE))
        return ipt__fail_line(&lines, "'" IPT__PROFILE_TITLE "'");
    for (i = 0; i < 5; ++i) {
        if (!ipt__line_next(&lines) || strncmp(lines.line, titles[i], strlen(titles[i])))
            return ipt__fail_line(&lines, titles[i]);
        ipt__text_add(&out, "%s\n", lines.line);
        if (out.length >= out.capacity)
            return ipt__fail_line(&lines, "a shorter line");
    }
    if (!ipt__line_number(lines.line, "bits", &value))
        return ipt__fail_line(&lines, "bits and a number");
    context->has_half = context->has_double = 1; /* the profile does not record them */
    for (i = 0; i < IPT__FACT_COUNT; ++i) {
        const ipt__fact *const fact = &ipt__facts[i];
        const int power = !strcmp(fact->name, "group_size"); /* kernels halve it repeatedly */
        ipt__print(expected, sizeof expected, "%.19s and a %s from %u to %u", fact->name,
                   power ? "power of two" : "number", (unsigned)fact->minimum, (unsigned)fact->maximum);
        if (!ipt__line_next(&lines) || !ipt__line_number(lines.line, fact->name, &values[i]) ||
            values[i] < fact->minimum || values[i] > fact->maximum || (power && values[i] & (values[i] - 1)))
            return ipt__fail_line(&lines, expected);
    }
    i = 0;
#define IPT__TAKE_LIMIT(type, field, minimum, maximum) context->limits.field = (type)values[i++];
#define IPT__TAKE_FINDING(type, field, minimum, maximum) context->found.field = (type)values[i++];
    IPT__LIMIT_LIST(IPT__TAKE_LIMIT)
    IPT__FINDING_LIST(IPT__TAKE_FINDING)
    context->limits.held_vectors = ipt__held_vectors(&context->limits);
    if (!ipt__line_next(&lines) || strcmp(lines.line, "end"))
        return ipt__fail_line(&lines, "'end'");
    if (ipt__line_next(&lines) || *lines.next)
        return ipt__fail_line(&lines, "the text's end");
    return IPT_SUCCESS;
}

#endif
