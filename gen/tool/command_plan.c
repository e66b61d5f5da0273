/* ipt plan, ipt source */
#include "commands.h"
#include "json.h"
#include "setup.h"
#include "show.h"

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

int command_plan(const arguments *given)
{
    ipt_context *context;
    ipt_plan *plan;
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
