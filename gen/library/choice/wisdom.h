/* Wisdom: measured choices as text. */

#ifndef IPT_NO_WISDOM

#define IPT__WISDOM_TITLE "ipt wisdom 2"

enum { IPT__WISDOM_MODELS = 7 }; /* of ipt_model, which builds without batches lack */

/* Copies the measured result. */
static void ipt__wisdom_take(ipt__wisdom *to, const ipt__wisdom *from)
{
    to->length = from->length;
    to->bands = from->bands;
    to->height = from->height;
    to->model = from->model;
    to->lanes = from->lanes;
    to->group_size = from->group_size;
}

/* True if both entries are for the same plan. The measured result is not compared. */
static int ipt__wisdom_same(const ipt__wisdom *a, const ipt__wisdom *b)
{
    ipt__wisdom other = *b;
    other.next = a->next;
    ipt__wisdom_take(&other, a);
    return !memcmp(a, &other, sizeof other);
}

/* Copies the wisdom for a key. Returns 0 if there is none. */
static int ipt__wisdom_find(ipt_context *context, const ipt__wisdom *key, ipt__wisdom *found)
{
    const ipt__wisdom *known;
    int is_found = 0;
    IPT_LOCK_ACQUIRE(&context->lock);
    for (known = context->wisdom; known && !is_found; known = known->next) {
        is_found = ipt__wisdom_same(known, key);
        if (is_found)
            *found = *known;
    }
    IPT_LOCK_RELEASE(&context->lock);
    return is_found;
}

/* The key of a plan's wisdom: every input that its choice depends on. */
static ipt__wisdom ipt__wisdom_of(const ipt_plan *plan, size_t budget)
{
    ipt__wisdom wisdom;
    memset(&wisdom, 0, sizeof wisdom);
    wisdom.rows = plan->problem.desc.rows;
    wisdom.cols = plan->problem.desc.cols;
    wisdom.elem_size = plan->problem.desc.elem_size;
    wisdom.batch = plan->problem.desc.batch;
    wisdom.batch_stride = plan->problem.desc.batch_stride;
    wisdom.workspace = budget;
    wisdom.sequence = (size_t)plan->problem.desc.sequence;
    wisdom.no_cooperative = (plan->problem.desc.flags & IPT_NO_COOPERATIVE) != 0;
    wisdom.expression = plan->problem.desc.expression != NULL;
    if (plan->problem.pitched) {
        wisdom.row_pitch = plan->problem.source_row * plan->problem.unit_bytes;
        wisdom.row_pitch_out = plan->problem.result_row * plan->problem.unit_bytes;
    }
    return wisdom;
}

/* Moves the entries of a list to the context. An entry replaces one for the same plan. */
static void ipt__wisdom_move(ipt_context *context, ipt__wisdom *list)
{
    IPT_LOCK_ACQUIRE(&context->lock);
    while (list) {
        ipt__wisdom *const added = list, **at = &context->wisdom;
        list = added->next;
        while (*at && !ipt__wisdom_same(*at, added))
            at = &(*at)->next;
        added->next = NULL;
        if (*at) {
            ipt__wisdom_take(*at, added);
            ipt__wisdom_free(context, added);
        } else
            *at = added;
    }
    IPT_LOCK_RELEASE(&context->lock);
}

/* Copies an entry. Returns NULL if out of memory. */
static ipt__wisdom *ipt__wisdom_copy(const ipt_context *context, const ipt__wisdom *entry)
{
    ipt__wisdom *const copy = (ipt__wisdom *)ipt__allocate(&context->allocator, sizeof *copy);
    if (copy) {
        *copy = *entry;
        copy->next = NULL;
    }
    return copy;
}

/* Adds a copy of an entry to the context. Returns 0 if out of memory. */
static int ipt__wisdom_add(ipt_context *context, const ipt__wisdom *entry)
{
    ipt__wisdom *const copy = ipt__wisdom_copy(context, entry);
    ipt__wisdom_move(context, copy);
    return copy != NULL;
}

/* Applies the wisdom for this plan, if there is any and its layout fits the workspace. */
static int ipt__wisdom_apply(ipt_plan *plan, size_t budget)
{
    ipt_context *const context = plan->context;
    const ipt__wisdom wanted = ipt__wisdom_of(plan, budget);
    ipt__layout layout;
    ipt__wisdom found;
    if (!ipt__wisdom_find(context, &wanted, &found))
        return 0;
    if (found.length)
        ipt__layout_of_length(&plan->problem, &layout, found.length, budget);
    else
        ipt__layout_of_bands(&plan->problem, &layout, found.bands, found.height, budget);
    if (layout.workspace > (budget ? budget : plan->device->layout.workspace))
        return 0;
    plan->device->layout = layout;
    return 1;
}

/* Returns the length of the two lines that bind wisdom to a device. They name no driver: after an update, old wisdom is
 * still as good as the cost model. */
static size_t ipt__wisdom_device(const ipt_context *context)
{
    const char *at = strchr(context->device_text, '\n');
    at = at ? strchr(at + 1, '\n') : NULL;
    return at ? (size_t)(at + 1 - context->device_text) : strlen(context->device_text);
}

IPT_API IPT__RARE ipt_result ipt_wisdom_export(ipt_context *context, char *text, size_t capacity, size_t *bytes)
{
    ipt__text out = {text, capacity, 0};
    const ipt__wisdom *next;
    int lines = 0;
    if (!context || (!text && capacity))
        return ipt__fail_null(context ? "text" : "context");
    ipt__text_add(&out, "%s\n%.*s", IPT__WISDOM_TITLE, (int)ipt__wisdom_device(context), context->device_text);
    IPT_LOCK_ACQUIRE(&context->lock);
    for (next = context->wisdom; next; next = next->next, ++lines) {
        if (*next->action) {
            ipt__text_add(&out, "batch action=%s elements=%zu model=%zu lanes=%zu group_size=%zu\n", next->action,
                          next->batch, next->model, next->lanes, next->group_size);
            continue;
        }
        ipt__text_add(&out, "transpose");
#define IPT__WISDOM_PRINT(field) ipt__text_add(&out, " " #field "=%zu", (size_t)next->field);
        IPT__WISDOM_LIST(IPT__WISDOM_PRINT)
        if (next->row_pitch) {
            IPT__WISDOM_PRINT(row_pitch)
            IPT__WISDOM_PRINT(row_pitch_out)
        }
        ipt__text_add(&out, "\n");
    }
    IPT_LOCK_RELEASE(&context->lock);
    ipt__text_add(&out, "end %d\n", lines);
    return ipt__text_export(&out, bytes);
}

/* Whether the entry's super-elements or bands fit its shape and sequence. */
static int ipt__wisdom_is_possible(const ipt__wisdom *wisdom)
{
    const size_t longer = ipt__max(wisdom->rows, wisdom->cols), shorter = ipt__min(wisdom->rows, wisdom->cols);
    if (wisdom->length)
        return wisdom->length <= longer && !wisdom->row_pitch && !wisdom->bands && !wisdom->height &&
               (wisdom->sequence == IPT_SEQUENCE_AUTO || wisdom->sequence == IPT_SEQUENCE_TWO_PASS);
    return (wisdom->sequence == IPT_SEQUENCE_AUTO || wisdom->sequence == IPT_SEQUENCE_EXCHANGE) && wisdom->bands &&
           wisdom->bands <= shorter && wisdom->height && wisdom->height <= longer / wisdom->bands;
}

static int ipt__is_power_of_two(size_t value)
{
    return value && !(value & (value - 1));
}

/* Reads a line about a batch. Returns 0 if it is malformed. */
static int ipt__wisdom_read_batch(const char *line, ipt__wisdom *wisdom)
{
    const size_t digits = sizeof wisdom->action - 1;
    const char *at = line + strlen("batch action=");
    memset(wisdom, 0, sizeof *wisdom);
    if (strncmp(line, "batch action=", strlen("batch action=")) || strspn(at, "0123456789abcdef") != digits)
        return 0;
    memcpy(wisdom->action, at, digits);
    at += digits;
#define IPT__WISDOM_READ_PART(name, field, stop)                                                                       \
    if (strncmp(at, name, strlen(name)))                                                                               \
        return 0;                                                                                                      \
    at += strlen(name);                                                                                                \
    if (!ipt__number_next(&at, stop, &wisdom->field))                                                                  \
        return 0;
    IPT__WISDOM_READ_PART(" elements=", batch, ' ')
    IPT__WISDOM_READ_PART("model=", model, ' ')
    IPT__WISDOM_READ_PART("lanes=", lanes, ' ')
    IPT__WISDOM_READ_PART("group_size=", group_size, 0)
    return wisdom->batch && wisdom->model && wisdom->model <= IPT__WISDOM_MODELS &&
           ipt__is_power_of_two(wisdom->lanes) && ipt__is_power_of_two(wisdom->group_size) &&
           wisdom->lanes <= wisdom->group_size && wisdom->group_size <= 1024;
}

/* Reads one line of wisdom. Returns 0 if the line is malformed. */
static int ipt__wisdom_read(const char *line, ipt__wisdom *wisdom)
{
    const int pitched = strstr(line, " row_pitch=") != NULL;
    int left = 2 * pitched, good = !strncmp(line, "transpose ", 10);
    const char *at = line + 10;
    if (!strncmp(line, "batch ", 6))
        return ipt__wisdom_read_batch(line, wisdom);
    memset(wisdom, 0, sizeof *wisdom);
#define IPT__WISDOM_COUNT(field) ++left;
    IPT__WISDOM_LIST(IPT__WISDOM_COUNT)
#define IPT__WISDOM_READ(field)                                                                                        \
    --left;                                                                                                            \
    good = good && !strncmp(at, #field "=", sizeof #field);                                                            \
    at += good ? sizeof #field : 0;                                                                                    \
    good = good && ipt__number_next(&at, left ? ' ' : 0, &wisdom->field);
    IPT__WISDOM_LIST(IPT__WISDOM_READ)
    if (pitched) {
        IPT__WISDOM_READ(row_pitch)
        IPT__WISDOM_READ(row_pitch_out)
    }
    return good && !wisdom->row_pitch == !wisdom->row_pitch_out && !wisdom->row_pitch == !pitched && wisdom->rows &&
           wisdom->cols && wisdom->elem_size && wisdom->batch && wisdom->no_cooperative <= 1 &&
           wisdom->expression <= 1 && ipt__wisdom_is_possible(wisdom);
}

IPT_API IPT__RARE ipt_result ipt_wisdom_import(ipt_context *context, const char *text)
{
    ipt__wisdom *list = NULL, **end = &list;
    const char *device;
    ipt__lines lines = {"wisdom", text, 0, ""};
    int count = 0, closed = 0;
    ipt_result result = IPT_SUCCESS;
    if (!context || !text)
        return ipt__fail_null(context ? "text" : "context");
    if (!ipt__line_next(&lines) || strcmp(lines.line, IPT__WISDOM_TITLE))
        return ipt__fail_line(&lines, "'" IPT__WISDOM_TITLE "'");
    for (device = context->device_text; device < context->device_text + ipt__wisdom_device(context);
         device = strchr(device, '\n') + 1) {
        const size_t length = strcspn(device, "\n");
        if (!ipt__line_next(&lines) || strlen(lines.line) != length || strncmp(lines.line, device, length))
            return ipt__fail(strncmp(lines.line, "device ", 7) && strncmp(lines.line, "vendor ", 7)
                                 ? IPT_ERROR_INVALID_ARGUMENT
                                 : IPT_ERROR_UNSUPPORTED,
                             "wisdom, line %d: '%.80s' is about another device than '%.*s'", lines.number, lines.line,
                             (int)length, device);
    }
    while (!result && !closed) {
        ipt__wisdom read;
        size_t counted;
        if (!ipt__line_next(&lines))
            result = ipt__fail_line(&lines, "'transpose ...', 'batch ...', or 'end' and the number of lines");
        else if (ipt__line_number(lines.line, "end", &counted)) {
            closed = 1;
            if (counted != (size_t)count || *lines.next)
                result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                                   "wisdom, line %d: '%.80s' after %d lines of wisdom, or text after it", lines.number,
                                   lines.line, count);
        } else if (!ipt__wisdom_read(lines.line, &read))
            result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "wisdom, line %d: '%.80s' is not understood", lines.number,
                               lines.line);
        else if ((*end = ipt__wisdom_copy(context, &read)) == NULL)
            result = IPT_ERROR_OUT_OF_MEMORY;
        else {
            end = &(*end)->next;
            ++count;
        }
    }
    if (result)
        ipt__wisdom_free(context, list);
    else
        ipt__wisdom_move(context, list);
    return result;
}

IPT_API IPT__RARE ipt_result ipt_wisdom_export_file(ipt_context *context, const char *path)
{
    size_t bytes = 0;
    char *text;
    FILE *file;
    int good;
    if (!context || !path)
        return ipt__fail_null(context ? "path" : "context");
    ipt_wisdom_export(context, NULL, 0, &bytes);
    bytes += 4096; /* another thread may add entries before the next attempt */
    text = (char *)ipt__allocate(&context->allocator, bytes);
    if (!text)
        return IPT_ERROR_OUT_OF_MEMORY;
    good = !ipt_wisdom_export(context, text, bytes, NULL);
    file = good ? ipt__path_open(path, "wb") : NULL; /* never write a truncated file */
    good = file && fputs(text, file) >= 0;
    if (file && fclose(file))
        good = 0;
    ipt__release(&context->allocator, text);
    return good ? IPT_SUCCESS : ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "path: %s cannot be written", path);
}

enum { IPT__WISDOM_MOST = 1 << 24 /* bytes of a file: about 100,000 shapes */ };

IPT_API IPT__RARE ipt_result ipt_wisdom_import_file(ipt_context *context, const char *path)
{
    size_t capacity = 1 << 12, length = 0, got = 1;
    char *text = NULL;
    FILE *file;
    ipt_result result = IPT_SUCCESS;
    if (!context || !path)
        return ipt__fail_null(context ? "path" : "context");
    if (!ipt__path_is_plain(path))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "path: %s cannot be read: it is not a regular file", path);
    file = ipt__path_open(path, "rb");
    if (!file)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "path: %s cannot be read", path);
    while (got && !result && !ferror(file)) {
        char *const more = length < IPT__WISDOM_MOST ? (char *)ipt__allocate(&context->allocator, capacity *= 2) : NULL;
        if (!more) {
            result = length < IPT__WISDOM_MOST
                         ? IPT_ERROR_OUT_OF_MEMORY
                         : ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                                     "path: %s is too long for a text of wisdom: %zu bytes at most are read", path,
                                     (size_t)IPT__WISDOM_MOST);
            break;
        }
        if (text)
            memcpy(more, text, length);
        ipt__release(&context->allocator, text);
        text = more;
        got = fread(text + length, 1, capacity - length - 1, file);
        length += got;
    }
    if (!result && (!text || ferror(file) || strlen(text) != length))
        result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "path: %s cannot be read, or is not a text", path);
    fclose(file);
    if (!result)
        result = ipt_wisdom_import(context, text);
    ipt__release(&context->allocator, text);
    return result;
}

#endif
