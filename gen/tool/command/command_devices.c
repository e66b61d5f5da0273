/* ipt devices */
#include "commands.h"
#include "gen/tool/base/json.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/base/setup.h"
#include "gen/tool/base/show.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct devices_task {
    setup context;
    bool json;
} devices_task;

static int show_profile(const setup *from)
{
    ipt_context *context;
    int code = setup_context(from, NULL, &context);
    if (code == 0) {
        code = show_text(stdout, context, ipt_context_profile);
    }
    ipt_context_destroy(context);
    return code;
}

/* Prints a device as text or JSON. Returns 0 or the exit code. */
static int show_device(const devices_task *task, cl_device_id device, size_t number, bool selected)
{
    char text[2048], name[40];
    if (ipt_device_describe(device, text, sizeof text) != IPT_SUCCESS) {
        snprintf(name, sizeof name, "device %zu", number);
        return message_fail_ipt(name);
    }
    if (!task->json) {
        printf("device %zu%s\n", number, !selected ? "" : task->context.device == NULL ? " (default)" : " (chosen)");
        show_lines(text, "  ");
        return 0;
    }
    char *rest = strchr(text, '\n');
    if (rest != NULL) {
        *rest++ = '\0';
    }
    printf("%s\n  {\"number\": %zu, \"selected\": %s, \"name\": ", number == 0 ? "" : ",", number,
           selected ? "true" : "false");
    json_string(stdout, text);
    fputs(", \"description\": ", stdout);
    json_lines(stdout, rest == NULL ? "" : rest);
    putchar('}');
    return 0;
}

static int show_devices(const devices_task *task)
{
    size_t count;
    if (ipt_device_list(NULL, 0, &count) != IPT_SUCCESS) {
        return message_fail_ipt(NULL);
    }
    cl_device_id *devices = calloc(count, sizeof *devices);
    if (devices == NULL) {
        return message_fail("out of memory");
    }
    size_t capacity = count;
    if (ipt_device_list(devices, capacity, &count) != IPT_SUCCESS) {
        free(devices);
        return message_fail_ipt(NULL);
    }
    count = count < capacity ? count : capacity;
    /* Print the list even if no device can be selected: then it helps most. */
    ipt_context *context = NULL;
    int code = setup_context(&task->context, NULL, &context);
    if (task->json) {
        putchar('[');
    }
    for (size_t i = 0; i < count; i++) {
        bool selected = context != NULL && setup_device(context) == devices[i];
        int shown = show_device(task, devices[i], i, selected);
        code = shown != 0 ? shown : code;
    }
    if (task->json) {
        puts("\n]");
    }
    ipt_context_destroy(context);
    free(devices);
    return code;
}

static int run_devices(const arguments *given)
{
    const devices_task task = {arguments_setup(given), given->json};
    return given->write_profile ? show_profile(&task.context) : show_devices(&task);
}

const command command_devices = {
    "devices",   OPERAND_NONE, "list the devices and mark the selected one", FOR_ALL | FOR_DEVICES | FOR_JSON,
    run_devices, NULL};
