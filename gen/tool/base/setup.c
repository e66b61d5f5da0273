#define _GNU_SOURCE /* signal, as BSD has it */

#include "setup.h"

#include "messages.h"
#include "text.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TEXT_SIZE ((size_t)16 << 20) /* limit of a profile, which has some hundred bytes, and of wisdom */

/* Some OpenCL implementations abort the process on an error: PoCL does if no linker is found. */
static void explain_abort(int number)
{
    static const char text[] = "ipt: the OpenCL implementation has ended this process: see its own message above. "
                               "PoCL needs the linker ld on PATH\n";
    signal(number, SIG_DFL);
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written; /* no place is left to report a failure */
    raise(number);
}

/* ipt's logger. ipt reports a built program before its first launch. Setting the handler then replaces the one that
 * LLVM within PoCL has set during the build. */
static void watch_for_aborts(const char *message, void *user)
{
    (void)message;
    (void)user;
    signal(SIGABRT, explain_abort);
}

/* Reads a text file for the library. The caller frees *text. */
static int read_text(const char *path, const char *what, char **text)
{
    char reason[TEXT_REASON_SIZE];
    size_t length;
    if (!text_read(path, MAX_TEXT_SIZE, what, text, &length, reason)) {
        return message_fail("%s: %s", path, reason);
    }
    return strlen(*text) == length ? 0 : message_fail("%s: not a text file: it contains a zero byte", path);
}

/* Adds a file's wisdom to a context. */
static int read_wisdom(const char *path, ipt_context *context)
{
    char *text = NULL;
    int code = read_text(path, "wisdom", &text);
    if (code == 0 && ipt_wisdom_import(context, text) != IPT_SUCCESS) {
        code = message_fail_ipt(path);
    }
    free(text);
    return code;
}

int setup_context(const arguments *given, const char *about, ipt_context **context)
{
    ipt_context_desc desc = {0};
    char *profile = NULL;
    int code = given->profile != NULL ? read_text(given->profile, "a profile", &profile) : 0;
    *context = NULL;
    desc.device_name = given->device;
    desc.cache_dir = given->cache;
    desc.profile = profile;
    desc.logger.log = watch_for_aborts;
    if (code == 0 && ipt_context_create(&desc, context) != IPT_SUCCESS) {
        code = message_fail_ipt(profile != NULL ? given->profile : about);
    }
    if (code == 0 && given->wisdom != NULL) {
        code = read_wisdom(given->wisdom, *context);
    }
    if (code != 0) {
        ipt_context_destroy(*context);
        *context = NULL;
    }
    free(profile);
    return code;
}

ipt_plan_desc setup_describe(const arguments *given)
{
    static const char some_argument[] = "1111111111111111"; /* no command that takes its type shows a result */
    ipt_plan_desc desc = {0};
    const axes_move *const array = &given->shape.array;
    desc.rank = array->rank;
    desc.rows = array->rank > 0 ? 0 : given->shape.rows;
    desc.cols = array->rank > 0 ? 0 : given->shape.cols;
    memcpy(desc.shape, array->lengths, sizeof desc.shape);
    memcpy(desc.axes, array->axes, sizeof desc.axes);
    desc.elem_size = given->shape.elem_size;
    desc.batch = given->batch;
    desc.flags = (given->measure ? IPT_MEASURE : IPT_ESTIMATE) | (given->no_cooperative ? IPT_NO_COOPERATIVE : 0) |
                 (given->pad ? IPT_PAD : 0) | (given->out_of_place ? IPT_OUT_OF_PLACE : 0);
    desc.max_workspace = given->workspace;
    desc.sequence = given->sequence;
    desc.tile_m = given->tile_m;
    desc.tile_n = given->tile_n;
    desc.variant_010 = given->variant_010;
    desc.variant_100 = given->variant_100;
    desc.variant_pad = given->variant_pad;
    desc.flag_spread = given->flag_spread;
    desc.from = given->from;
    desc.to = given->to;
    desc.move = given->move;
    desc.expression = given->expression;
    desc.expression_type =
        given->expression_type == NULL && given->expression != NULL ? "float" : given->expression_type;
    if (given->argument_type != NULL) {
        desc.expression_argument = some_argument;
        desc.expression_argument_type = given->argument_type;
    }
    return desc;
}

int setup_plan(const arguments *given, ipt_context **context, ipt_plan **plan)
{
    *plan = NULL;
    int code = setup_context(given, given->operand, context);
    if (code != 0) {
        return code;
    }
    ipt_plan_desc desc = setup_describe(given);
    if (ipt_plan_create(*context, &desc, plan) != IPT_SUCCESS) {
        code = message_fail_ipt(given->operand);
        ipt_context_destroy(*context);
        *context = NULL;
    }
    return code;
}
