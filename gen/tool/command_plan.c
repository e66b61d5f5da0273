/* ipt plan, ipt source */
#include "commands.h"
#include "setup.h"
#include "show.h"

#include <stdio.h>

int command_plan(const arguments *given)
{
    ipt_context *context;
    ipt_plan *plan;
    int code = setup_plan(given, &context, &plan);
    if (code == 0) {
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
