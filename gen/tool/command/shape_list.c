#include "shape_list.h"

#include "gen/tool/bench/bench_result.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/base/seconds.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

int shape_list_check_elem_size(const arguments *given, const char *places)
{
    if (given->operand != NULL && options_have(given, "--elem-size")) {
        return message_usage_error("--elem-size is for %s: %s already names its element size", places, given->operand);
    }
    return 0;
}

int shape_list_check(const arguments *given, const char *name)
{
    if ((given->operand != NULL) == (given->shapes != NULL) && (given->operand != NULL || given->action_count == 0)) {
        return message_usage_error("'%s' takes shapes, ROWSxCOLS:BYTES, or --shapes", name);
    }
    return shape_list_check_elem_size(given, "--shapes");
}

shape_list shape_list_of(const arguments *given)
{
    shape_list list = {0};
    list.operands = given->operands;
    list.operand_count = given->operand_count;
    list.file = given->shapes;
    list.elem_size = given->elem_size;
    list.axes = given->axes;
    return list;
}

int shape_list_read(shape_list *list)
{
    char message[BENCH_MESSAGE_SIZE];
    bench_shapes read = {0};
    if (list->file == NULL && list->operand_count == 0) {
        return 0;
    }
    if (list->file != NULL && !bench_read_shapes(list->file, list->elem_size, &read, message)) {
        free(read.items);
        return message_fail("%s", message);
    }
    list->count = list->file != NULL ? read.count : list->operand_count;
    list->items = calloc(list->count, sizeof *list->items);
    for (size_t i = 0; i < list->count && list->items != NULL; i++) {
        matrix_shape *shape = &list->items[i];
        if (list->file != NULL) {
            shape->rows = read.items[i].rows;
            shape->cols = read.items[i].cols;
            shape->elem_size = list->elem_size;
        } else {
            (void)shape_read_array(list->operands[i], shape); /* checked with the command line */
        }
        if (list->axes.count > 0 && !shape_permute(shape, &list->axes, message)) {
            free(read.items);
            return message_fail("%s: %s", list->file != NULL ? list->file : list->operands[i], message);
        }
    }
    free(read.items);
    return list->items != NULL ? 0 : message_fail("out of memory for %zu shapes", list->count);
}

int shape_list_plan(const shape_list *list, ipt_plan_desc desc, ipt_context *context, bool verbose, bool all_of_them)
{
    int code = 0;
    for (size_t i = 0; i < list->count && (code == 0 || all_of_them); i++) {
        ipt_plan *plan;
        char written[80];
        const char *const name = list->file != NULL ? written : list->operands[i];
        setup_shape(&desc, &list->items[i]);
        snprintf(written, sizeof written, "%zux%zu:%zu", list->items[i].rows, list->items[i].cols, desc.elem_size);
        double start = seconds_now();
        if (ipt_plan_create(context, &desc, &plan) != IPT_SUCCESS) {
            code = message_fail_ipt(name);
        } else if (verbose) {
            message_print(stderr, "%zu of %zu: %s in %.3f seconds", i + 1, list->count, name, seconds_now() - start);
        }
        ipt_plan_destroy(plan);
    }
    return code;
}
