/* ipt tune */
#include "commands.h"
#include "gen/tool/store/draft.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/base/setup.h"
#include "shape_list.h"
#include "gen/tool/base/show.h"

#include <stdio.h>
#include <stdlib.h>

/* Measures all shapes. Writes the wisdom to the draft or, without --output, to standard output. */
static int tune(const arguments *given, const shape_list *shapes, const draft *file, bool *complete)
{
    ipt_context *context;
    int code = setup_context(given, NULL, &context), written = 0;
    if (code != 0) {
        return code;
    }
    /* Continue after a shape that fails: keep the measurements of the others. */
    code = shape_list_plan(given, shapes, context, true);
    FILE *stream = given->output == NULL ? stdout : draft_stream(file);
    if (stream != NULL) {
        written = show_text(stream, context, ipt_wisdom_export);
    }
    if (given->output != NULL) {
        *complete = stream != NULL && written == 0 && !ferror(stream);
        *complete = stream != NULL && fclose(stream) == 0 && *complete;
        written = *complete || written != 0 ? written : message_fail("%s: writing it failed", given->output);
    }
    ipt_context_destroy(context);
    return code != 0 ? code : written;
}

int command_tune(const arguments *command_line)
{
    shape_list shapes = {0};
    draft file = DRAFT_NONE;
    bool complete = false;
    arguments given = *command_line;
    given.measure = true;
    int code = shape_list_check(&given, "tune");
    if (code == 0 && given.output != NULL && *given.output == '\0') {
        code = message_usage_error("--output takes a file, not ''");
    }
    if (code != 0) {
        return code;
    }
    code = shape_list_take(&given, &shapes);
    if (code == 0 && given.output != NULL) {
        code = draft_begin(given.output, -1, &file);
    }
    if (code == 0) {
        code = tune(&given, &shapes, &file, &complete);
    }
    if (given.output != NULL) {
        code = draft_end(&file, complete, code);
    }
    free(shapes.items);
    return code;
}
