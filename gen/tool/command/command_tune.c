/* ipt tune */
#include "commands.h"
#include "gen/tool/store/draft.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/base/setup.h"
#include "shape_list.h"
#include "gen/tool/base/show.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct tune_task {
    setup context;
    shape_list shapes;
    ipt_plan_desc desc; /* for every shape, without its sides */
    const char *output; /* NULL: standard output */
    bool verbose;
} tune_task;

/* Measures all shapes. Writes the wisdom to the draft or, without --output, to standard output. */
static int tune(const tune_task *task, const draft *file, bool *complete)
{
    ipt_context *context;
    int code = setup_context(&task->context, NULL, &context), written = 0;
    if (code != 0) {
        return code;
    }
    /* Continue after a shape that fails: measurements of the other shapes stay valid. */
    code = shape_list_plan(&task->shapes, task->desc, context, task->verbose, true);
    FILE *stream = task->output == NULL ? stdout : draft_stream(file);
    if (stream != NULL) {
        written = show_text(stream, context, ipt_wisdom_export);
    }
    if (task->output != NULL) {
        *complete = stream != NULL && written == 0 && !ferror(stream);
        *complete = stream != NULL && fclose(stream) == 0 && *complete;
        written = *complete || written != 0 ? written : message_fail("%s: writing it failed", task->output);
    }
    ipt_context_destroy(context);
    return code != 0 ? code : written;
}

/* Measures, into a draft that replaces the output when complete. */
static int tune_into_output(tune_task *task)
{
    draft file = DRAFT_NONE;
    bool complete = false;
    int code = shape_list_read(&task->shapes);
    if (code == 0 && task->output != NULL) {
        code = draft_begin(task->output, -1, &file);
    }
    if (code == 0) {
        code = tune(task, &file, &complete);
    }
    if (task->output != NULL) {
        code = draft_end(&file, complete, code);
    }
    free(task->shapes.items);
    return code;
}

static int run_tune(const arguments *given)
{
    tune_task task = {0};
    int code = shape_list_check(given, "tune");
    if (code == 0 && given->output != NULL && *given->output == '\0') {
        code = message_usage_error("--output takes a file, not ''");
    }
    if (code != 0) {
        return code;
    }
    task.context = arguments_setup(given);
    task.shapes = shape_list_of(given);
    task.desc = arguments_describe(given);
    task.desc.flags |= IPT_MEASURE;
    task.output = given->output;
    task.verbose = given->verbose;
    return tune_into_output(&task);
}

const command command_tune = {"tune",
                              OPERAND_SHAPES,
                              "measure plans and write the fastest as wisdom, for --wisdom",
                              FOR_ALL | FOR_TUNE,
                              run_tune,
                              "Takes SHAPEs or --shapes. --wisdom FILE --output FILE adds to the wisdom of a file."};
