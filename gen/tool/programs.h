/* The programs of plans, compiled, as they lie in a cache folder or in a header. */
#ifndef IPT_TOOL_PROGRAMS_H_INCLUDED
#define IPT_TOOL_PROGRAMS_H_INCLUDED

#include "arguments.h"
#include "ipt.h"
#include "offline_target.h"
#include "shape_list.h"

#include <stddef.h>
#include <stdio.h>

/* A program, or what is known of the device, as it lies in a cache folder. */
typedef struct program_entry {
    unsigned char *bytes;
    size_t size;
    const char *source; /* the context's; NULL: it is no program */
} program_entry;

typedef struct precompiled {
    ipt_context *context;
    shape_list shapes;
    offline_target target; /* if there is one */
    program_entry *entries;
    size_t count, programs, size;
} precompiled;

/* Writes the programs as a C header. */
void programs_write_header(FILE *stream, const arguments *given, const precompiled *work);

#endif /* IPT_TOOL_PROGRAMS_H_INCLUDED */
