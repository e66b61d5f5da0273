#define _GNU_SOURCE /* signal with BSD's semantics */

#include "setup.h"

#include "device_access.h"
#include "messages.h"
#include "text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TEXT_SIZE ((size_t)16 << 20) /* limit of a profile (some hundred bytes) or of wisdom */

/* Explains an abort by the OpenCL implementation: PoCL aborts the process if it finds no linker. */
static void explain_abort(int number)
{
    static const char text[] = "ipt: the OpenCL implementation has ended this process: see its own message above. "
                               "PoCL needs the linker ld on PATH\n";
    signal(number, SIG_DFL);
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written; /* a failure cannot be reported */
    raise(number);
}

/* ipt's logger. ipt reports a built program before its first launch. Setting the handler here replaces the handler that
 * LLVM in PoCL sets during a build. */
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

int setup_context(const setup *from, const char *about, ipt_context **context)
{
    ipt_context_desc desc = {0};
    char *profile = NULL;
    int code = from->profile != NULL ? read_text(from->profile, "a profile", &profile) : 0;
    *context = NULL;
    desc.device_name = from->device;
    desc.cache_dir = from->cache;
    desc.profile = profile;
    desc.driver = from->compiles ? IPT_DRIVER_OPENCL : IPT_DRIVER_AUTO;
    desc.logger.log = watch_for_aborts;
    if (code == 0 && ipt_context_create(&desc, context) != IPT_SUCCESS) {
        code = message_fail_ipt(profile != NULL ? from->profile : about);
    }
    if (code == 0 && from->wisdom != NULL) {
        code = read_wisdom(from->wisdom, *context);
    }
    if (code != 0) {
        ipt_context_destroy(*context);
        *context = NULL;
    }
    free(profile);
    return code;
}

cl_device_id setup_device(const ipt_context *context)
{
    return device_access_of(context).id;
}

/* Describes a context's device, in lines: first its name, then what it is. */
static void describe_device(const ipt_context *context, char *text, size_t capacity)
{
    if (ipt_device_describe(setup_device(context), text, capacity) != IPT_SUCCESS) {
        snprintf(text, capacity, "unknown");
    }
}

void setup_device_name(const ipt_context *context, char *name, size_t capacity)
{
    describe_device(context, name, capacity);
    name[strcspn(name, "\n")] = '\0';
}

bool setup_is_cpu(const ipt_context *context)
{
    char text[1024];
    describe_device(context, text, sizeof text);
    return strstr(text, "\n  CPU of ") != NULL;
}

void setup_shape(ipt_plan_desc *desc, const matrix_shape *shape)
{
    const axes_move *const array = &shape->array;
    desc->rank = array->rank;
    desc->rows = array->rank > 0 ? 0 : shape->rows;
    desc->cols = array->rank > 0 ? 0 : shape->cols;
    memcpy(desc->shape, array->lengths, sizeof desc->shape);
    memcpy(desc->axes, array->axes, sizeof desc->axes);
    desc->elem_size = shape->elem_size;
}

void setup_expression(ipt_plan_desc *desc, const char *expression, const char *type)
{
    desc->expression = expression;
    desc->expression_type = type == NULL && expression != NULL ? "float" : type;
}
