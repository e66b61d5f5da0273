#include "show.h"

#include "messages.h"

#include <stdlib.h>
#include <string.h>

void show_version(FILE *stream)
{
    int version = ipt_version();
    fprintf(stream, "ipt %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

void show_lines(const char *text, const char *indent)
{
    while (*text != '\0') {
        int length = (int)strcspn(text, "\n");
        printf("%s%.*s\n", indent, length, text);
        text += length;
        text += *text == '\n';
    }
}

int show_text(FILE *stream, ipt_context *context, ipt_result (*read)(ipt_context *, char *, size_t, size_t *))
{
    size_t capacity = (size_t)1 << 16, wanted = 0;
    char *text = malloc(capacity);
    ipt_result result = text == NULL ? IPT_ERROR_OUT_OF_MEMORY : read(context, text, capacity, &wanted);
    if (text != NULL && result == IPT_ERROR_INVALID_ARGUMENT && wanted > capacity) {
        capacity = wanted;
        free(text);
        text = malloc(capacity);
        result = text == NULL ? IPT_ERROR_OUT_OF_MEMORY : read(context, text, capacity, &wanted);
    }
    int code = 0;
    if (text == NULL) {
        code = message_fail("out of memory for a text of %zu bytes", capacity);
    } else if (result != IPT_SUCCESS) {
        code = message_fail_ipt(NULL);
    } else {
        fputs(text, stream);
    }
    free(text);
    return code;
}
