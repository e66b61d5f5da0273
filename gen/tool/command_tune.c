/* ipt tune */
#include "commands.h"
#include "draft.h"
#include "messages.h"
#include "setup.h"
#include "shape_list.h"
#include "show.h"

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
    if (given->output == NULL) {
        written = show_text(context, ipt_wisdom_export);
    } else if (ipt_wisdom_export_file(context, file->path) != IPT_SUCCESS) {
        written = message_fail("%s: writing it failed", given->output);
    } else {
        *complete = true;
    }
    ipt_context_destroy(context);
    return code != 0 ? code : written;
}

int command_tune(const arguments *command_line)
{
    shape_list shapes = {0};
    draft file = {0};
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
        code = draft_begin(given.output, &file);
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
