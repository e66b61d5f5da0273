/* ipt plan, ipt source */
#include "batch_list.h"
#include "commands.h"
#include "gen/tool/base/json.h"
#include "gen/tool/base/setup.h"
#include "gen/tool/base/show.h"

#include <stdio.h>

/* Writes lengths as a list. */
static void show_lengths(const char *name, const size_t *lengths, size_t count)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < count; i++) {
        printf("%s%zu", i == 0 ? "" : ", ", lengths[i]);
    }
    fputs("], ", stdout);
}

static void show_plan_json(const arguments *given, const ipt_plan *plan)
{
    const axes_move *array = &given->shape.array;
    const size_t sides[2] = {given->shape.rows, given->shape.cols};
    size_t axes[IPT_MAX_RANK];
    putchar('{');
    show_lengths("shape", array->rank > 0 ? array->lengths : sides, array->rank > 0 ? array->rank : 2);
    for (unsigned i = 0; i < array->rank; i++) {
        axes[i] = array->axes[i];
    }
    if (array->rank > 0) {
        show_lengths("axes", axes, array->rank);
    }
    printf("\"elem_size\": %zu, \"batch\": %zu, \"workspace\": %zu, \"description\": ", given->shape.elem_size,
           given->batch, ipt_plan_workspace(plan));
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
static int show_batch(const arguments *given, bool source)
{
    batch_list list = {0};
    ipt_context *context = NULL;
    ipt_batch *batch = NULL;
    int code = batch_list_take(given, &list);
    if (code == 0) {
        code = setup_context(given, given->actions[0], &context);
    }
    if (code == 0) {
        code = batch_list_create(&list.items[0], context, &batch);
    }
    if (code == 0 && source) {
        show_lines(ipt_batch_source(batch), "");
    } else if (code == 0 && given->json) {
        show_batch_json(&list.items[0], batch);
    } else if (code == 0) {
        show_lines(ipt_batch_describe(batch), "");
    }
    ipt_batch_destroy(batch);
    ipt_context_destroy(context);
    batch_list_free(&list);
    return code;
}

int command_plan(const arguments *given)
{
    ipt_context *context;
    ipt_plan *plan;
    if (given->action_count > 0) {
        return show_batch(given, false);
    }
    int code = setup_plan(given, &context, &plan);
    if (code == 0 && given->json) {
        show_plan_json(given, plan);
    } else if (code == 0) {
        show_lines(ipt_plan_describe(plan), "");
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return code;
}

int command_source(const arguments *given)
{
    ipt_context *context;
    ipt_plan *plan;
    if (given->action_count > 0) {
        return show_batch(given, true);
    }
    int code = setup_plan(given, &context, &plan);
    if (code == 0) {
        size_t index = 0;
        for (const char *text; (text = ipt_plan_source(plan, index)) != NULL; index++) {
            printf("/* ---- program %zu ---- */\n", index);
            show_lines(text, "");
        }
        if (index == 0) {
            fputs("ipt: this plan moves no data and has no program\n", stderr);
        }
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return code;
}
