/* Contexts and plan descriptions for commands. */
#ifndef IPT_TOOL_SETUP_H_INCLUDED
#define IPT_TOOL_SETUP_H_INCLUDED

#include "ipt.h"
#include "shape.h"

#include <stdbool.h>

/* How to create a context. NULL: the library chooses, or the option is absent. */
typedef struct setup {
    const char *device;           /* a part of its name or its platform's */
    const char *cache;            /* a folder; "": none */
    const char *wisdom, *profile; /* paths */
    bool compiles;                /* the command needs a device that compiles: OpenCL's */
} setup;

/* Creates a context. about: subject of an error message, or NULL. *context is NULL on failure. Returns 0 or the exit
 * code. */
int setup_context(const setup *from, const char *about, ipt_context **context);

/* The device of a context. */
cl_device_id setup_device(const ipt_context *context);

/* Copies the name of a context's device. */
void setup_device_name(const ipt_context *context, char *name, size_t capacity);

/* Whether the device of a context is a CPU. */
bool setup_is_cpu(const ipt_context *context);

/* Sets the desc's sides, or lengths and axes, and its element size. */
void setup_shape(ipt_plan_desc *desc, const matrix_shape *shape);

/* Sets the desc's expression, or NULL. type = NULL: float. */
void setup_expression(ipt_plan_desc *desc, const char *expression, const char *type);

#endif /* IPT_TOOL_SETUP_H_INCLUDED */
