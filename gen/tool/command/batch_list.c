#include "batch_list.h"

#include "gen/tool/base/messages.h"
#include "gen/tool/base/seconds.h"
#include "gen/tool/base/text.h"

#include <stdio.h>
#include <stdlib.h>

batch_list batch_list_of(const arguments *given)
{
    batch_list list = {0};
    list.words = given->actions;
    list.word_count = given->action_count;
    return list;
}

int batch_list_read(batch_list *list)
{
    char message[BATCH_MESSAGE_SIZE];
    if (list->word_count == 0) {
        return 0;
    }
    list->items = calloc(list->word_count, sizeof *list->items);
    list->sources = calloc(list->word_count, sizeof *list->sources);
    if (list->items == NULL || list->sources == NULL) {
        return message_fail("out of memory for %zu actions", list->word_count);
    }
    for (list->count = 0; list->count < list->word_count; list->count++) {
        batch_spec *const spec = &list->items[list->count];
        if (!batch_spec_read(list->words[list->count], spec, message)) {
            const int code = spec->is_file ? message_fail("%s", message) : message_usage_error("%s", message);
            batch_spec_free(spec);
            return code;
        }
    }
    return 0;
}

void batch_list_free(batch_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        batch_spec_free(&list->items[i]);
    }
    free(list->items);
    free(list->sources);
}

/* Compilers count the lines of a text from 1: writes the lines of the file at which the texts begin. */
static void write_about(const batch_spec *spec, char text[BATCH_MESSAGE_SIZE])
{
    text_name shortened;
    const char *const name = text_shorten(spec->word, &shortened);
    if (spec->functions_line > 0) {
        snprintf(text, BATCH_MESSAGE_SIZE, "%s, whose functions begin in line %zu and whose action in line %zu", name,
                 spec->functions_line, spec->action_line);
    } else if (spec->action_line > 0) {
        snprintf(text, BATCH_MESSAGE_SIZE, "%s, whose action begins in line %zu", name, spec->action_line);
    } else {
        snprintf(text, BATCH_MESSAGE_SIZE, "%s", name);
    }
}

int batch_list_create(const batch_spec *spec, ipt_context *context, ipt_batch **batch)
{
    char about[BATCH_MESSAGE_SIZE];
    text_name shortened;
    const ipt_result result = ipt_batch_create(context, &spec->desc, batch);
    if (result == IPT_ERROR_BUILD) {
        write_about(spec, about);
        return message_fail_ipt(about);
    }
    return result == IPT_SUCCESS ? 0 : message_fail_ipt(text_shorten(spec->word, &shortened));
}

int batch_list_plan(batch_list *list, ipt_context *context, bool verbose)
{
    int code = 0;
    for (size_t i = 0; i < list->count && code == 0; i++) {
        ipt_batch *batch;
        const double start = seconds_now();
        code = batch_list_create(&list->items[i], context, &batch);
        list->sources[i] = ipt_batch_source(batch);
        if (code == 0 && verbose) {
            message_print(stderr, "%zu of %zu: %s in %.3f seconds", i + 1, list->count, list->items[i].word,
                          seconds_now() - start);
        }
        ipt_batch_destroy(batch);
    }
    return code;
}

void batch_list_about(const batch_list *list, const char *source, char text[BATCH_MESSAGE_SIZE])
{
    text[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        if (list->sources[i] == source) {
            write_about(&list->items[i], text);
            return;
        }
    }
}
