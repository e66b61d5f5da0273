/* ipt plan, ipt source */
#include "batch_list.h"
#include "commands.h"
#include "gen/tool/base/json.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/base/setup.h"
#include "gen/tool/base/show.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct plan_task {
    setup context;
    const char *name; /* the operand, for messages */
    matrix_shape shape;
    ipt_plan_desc desc;
    batch_list batches; /* of --action, at most one, instead of a matrix */
    bool json;
} plan_task;

/* Writes lengths as a list. */
static void show_lengths(const char *name, const size_t *lengths, size_t count)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < count; i++) {
        printf("%s%zu", i == 0 ? "" : ", ", lengths[i]);
    }
    fputs("], ", stdout);
}

static void show_plan_json(const plan_task *task, const ipt_plan *plan)
{
    const axes_move *array = &task->shape.array;
    const size_t sides[2] = {task->shape.rows, task->shape.cols};
    size_t axes[IPT_MAX_RANK];
    putchar('{');
    show_lengths("shape", array->rank > 0 ? array->lengths : sides, array->rank > 0 ? array->rank : 2);
    for (unsigned i = 0; i < array->rank; i++) {
        axes[i] = array->axes[i];
    }
    if (array->rank > 0) {
        show_lengths("axes", axes, array->rank);
    }
    printf("\"elem_size\": %zu, \"batch\": %zu, \"workspace\": %zu, \"description\": ", task->shape.elem_size,
           task->desc.batch, ipt_plan_workspace(plan));
    json_lines(stdout, ipt_plan_describe(plan));
    puts("}");
}

static void show_batch_json(const batch_spec *spec, const ipt_batch *batch)
{
    fputs("{\"action\": ", stdout);
    json_string(stdout, spec->word);
    printf(", \"count\": %zu, \"description\": ", spec->desc.count);
    json_lines(stdout, ipt_batch_describe(batch));
    puts("}");
}

/* Describes the batch plan of --action, or prints its program. */
static int show_batch(plan_task *task, bool source)
{
    ipt_context *context = NULL;
    ipt_batch *batch = NULL;
    const batch_spec *spec = NULL;
    int code = batch_list_read(&task->batches);
    if (code == 0) {
        spec = &task->batches.items[0];
        code = setup_context(&task->context, task->batches.words[0], &context);
    }
    if (code == 0) {
        code = batch_list_create(spec, context, &batch);
    }
    if (code == 0 && source) {
        show_lines(ipt_batch_source(batch), "");
    } else if (code == 0 && task->json) {
        show_batch_json(spec, batch);
    } else if (code == 0) {
        show_lines(ipt_batch_describe(batch), "");
    }
    ipt_batch_destroy(batch);
    ipt_context_destroy(context);
    batch_list_free(&task->batches);
    return code;
}

static void show_programs(const ipt_plan *plan)
{
    size_t index = 0;
    for (const char *text; (text = ipt_plan_source(plan, index)) != NULL; index++) {
        printf("/* ---- program %zu ---- */\n", index);
        show_lines(text, "");
    }
    if (index == 0) {
        fputs("ipt: this plan moves no data and has no program\n", stderr);
    }
}

/* Describes the plan, or prints its programs. */
static int show_plan(const plan_task *task, bool source)
{
    ipt_context *context;
    ipt_plan *plan = NULL;
    int code = setup_context(&task->context, task->name, &context);
    if (code == 0 && ipt_plan_create(context, &task->desc, &plan) != IPT_SUCCESS) {
        code = message_fail_ipt(task->name);
    }
    if (code == 0 && source) {
        show_programs(plan);
    } else if (code == 0 && task->json) {
        show_plan_json(task, plan);
    } else if (code == 0) {
        show_lines(ipt_plan_describe(plan), "");
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return code;
}

static int show(const arguments *given, bool source)
{
    plan_task task = {0};
    task.context = arguments_setup(given);
    task.context.compiles |= source;
    task.name = given->operand;
    task.shape = given->shape;
    task.desc = arguments_describe(given);
    task.batches = batch_list_of(given);
    task.json = given->json;
    return task.batches.word_count > 0 ? show_batch(&task, source) : show_plan(&task, source);
}

static int run_plan(const arguments *given)
{
    return show(given, false);
}

static int run_source(const arguments *given)
{
    return show(given, true);
}

const command command_plan = {"plan",
                              OPERAND_SHAPE,
                              "show the plan for such a matrix: stages, sizes, workspace",
                              FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES | FOR_JSON,
                              run_plan,
                              BATCH_NOTES};

const command command_source = {"source",
                                OPERAND_SHAPE,
                                "show the OpenCL C text of the plan's programs",
                                FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES,
                                run_source,
                                BATCH_NOTES};
