#include "json.h"

#include "text.h"

#include <string.h>

static void write_string(FILE *stream, const char *text, size_t length)
{
    fputc('"', stream);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\') {
            fprintf(stream, "\\%c", byte);
        } else if (byte < ' ') {
            fprintf(stream, "\\u%04x", byte);
        } else if (byte < 0x80) {
            fputc(byte, stream);
        } else if (text_character(text + i) > 0) {
            const size_t bytes = text_character(text + i);
            fwrite(text + i, 1, bytes, stream);
            i += bytes - 1;
        } else {
            fputs("\\ufffd", stream); /* JSON is UTF-8 */
        }
    }
    fputc('"', stream);
}

void json_string(FILE *stream, const char *text)
{
    write_string(stream, text, strlen(text));
}

void json_lines(FILE *stream, const char *text)
{
    const char *between = "";
    fputc('[', stream);
    while (*text != '\0') {
        text += strspn(text, " ");
        size_t length = strcspn(text, "\n");
        fputs(between, stream);
        write_string(stream, text, length);
        between = ", ";
        text += length;
        text += *text == '\n';
    }
    fputc(']', stream);
}
