/* ipt devices */
#include "commands.h"
#include "messages.h"
#include "setup.h"
#include "show.h"

#include <stdio.h>
#include <stdlib.h>

static int show_profile(const arguments *given)
{
    ipt_context *context;
    int code = setup_context(given, NULL, &context);
    if (code == 0) {
        code = show_text(context, ipt_context_profile);
    }
    ipt_context_destroy(context);
    return code;
}

int command_devices(const arguments *given)
{
    size_t count;
    if (given->write_profile) {
        return show_profile(given);
    }
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
    /* The list helps most where no device can be selected: print it in any case. */
    ipt_context *context = NULL;
    int code = setup_context(given, NULL, &context);
    for (size_t i = 0; i < count; i++) {
        char text[2048];
        bool marked = context != NULL && ipt_context_cl_device(context) == devices[i];
        printf("device %zu%s\n", i, !marked ? "" : given->device == NULL ? " (default)" : " (chosen)");
        if (ipt_device_describe(devices[i], text, sizeof text) != IPT_SUCCESS) {
            char name[40];
            snprintf(name, sizeof name, "device %zu", i);
            code = message_fail_ipt(name);
        } else {
            show_lines(text, "  ");
        }
    }
    ipt_context_destroy(context);
    free(devices);
    return code;
}
