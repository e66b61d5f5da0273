/* Writes compiled programs as a C header. A program that includes it compiles no kernels at run time. */
#define _POSIX_C_SOURCE 200809L

#include "programs.h"
#include "gen/tool/base/setup.h"
#include "gen/tool/base/show.h"
#include "gen/tool/base/text.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define IDENTIFIER_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* The identifier of a header's array: the file's name, made valid for C and C++. */
static void name_array(const char *path, char *name, size_t capacity)
{
    static const char keywords[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast "
        "constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false "
        "float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
        "private protected public register reinterpret_cast requires restrict return short signed sizeof static "
        "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename "
        "union unsigned using virtual void volatile wchar_t while xor xor_eq NULL free main malloc stdin stdout "
        "stderr ";
    const char *file = text_file_name(path), *point = strrchr(file, '.');
    size_t count = point == NULL ? strlen(file) : (size_t)(point - file), length = 0;
    /* Names that begin with ipt are reserved for the library. */
    if (count == 0 || strspn(file, IDENTIFIER_LETTERS) == 0 || strncasecmp(file, "ipt", 3) == 0) {
        length = (size_t)snprintf(name, capacity, "programs_");
    }
    for (size_t i = 0; i < count && length + sizeof "_programs" < capacity; i++) {
        bool good = strchr(IDENTIFIER_LETTERS "0123456789", file[i]) != NULL;
        if (good || length == 0 || name[length - 1] != '_') {
            name[length++] = good ? file[i] : '_';
        }
    }
    while (name[length - 1] == '_') {
        length--;
    }
    name[length] = '\0';
    for (const char *found = keywords; (found = strstr(found, name)) != NULL; found++) {
        if (found[-1] == ' ' && found[length] == ' ') { /* a whole word: between two blanks */
            strcpy(name + length, "_programs");
            break;
        }
    }
}

/* Writes text into a comment without ending the comment. */
static void write_comment(FILE *stream, const char *text)
{
    for (char before = '\0'; *text != '\0'; before = *text++) {
        bool harmful = (before == '*' && *text == '/') || (before == '/' && *text == '*') || *text == '\n' ||
                       *text == '\r' || *text == '\\';
        fputc(harmful ? ' ' : *text, stream);
    }
}

static void write_bytes(FILE *stream, const unsigned char *bytes, size_t size)
{
    size_t column = 0;
    for (size_t i = 0; i < size; i++) {
        char text[8];
        size_t length = (size_t)snprintf(text, sizeof text, "%u,", bytes[i]);
        if (column + length > 120) {
            fputc('\n', stream);
            column = 0;
        }
        fputs(text, stream);
        column += length;
    }
}

/* Writes a text as an array, because string literals have a limit of length. */
static void write_text(FILE *stream, const char *name, const char *what, size_t index, const char *text)
{
    if (text != NULL) {
        fprintf(stream, "static const unsigned char %s_%s_%zu[] = {\n", name, what, index);
        write_bytes(stream, (const unsigned char *)text, strlen(text) + 1);
        fputs("\n};\n\n", stream);
    }
}

/* Writes a field: the name of a text's array, or NULL. */
static void write_text_field(FILE *stream, const char *name, const char *what, size_t index, const char *text)
{
    if (text == NULL) {
        fputs("NULL, ", stream);
    } else {
        fprintf(stream, "(const char *)%s_%s_%zu, ", name, what, index);
    }
}

/* Writes the desc of a batch plan, whose texts must equal those of the compiled program. */
static void write_batch(FILE *stream, const char *name, size_t index, const batch_spec *spec)
{
#define ENUMERATOR(enumerator, name) #enumerator,
#define ACTION_ENUMERATOR(enumerator, name, operands) #enumerator,
    static const char *const layouts[] = {IPT_LAYOUT_LIST(ENUMERATOR)}, *const models[] = {IPT_MODEL_LIST(ENUMERATOR)},
                             *const methods[] = {IPT_METHOD_LIST(ENUMERATOR)};
    static const char *const actions[] = {IPT_ACTION_LIST(ACTION_ENUMERATOR)};
    static const char *const accesses[] = {"0", "IPT_READ", "IPT_WRITE", "IPT_READ_WRITE"};
    const ipt_batch_desc *const desc = &spec->desc;
    write_text(stream, name, "functions", index, desc->functions);
    write_text(stream, name, "action", index, desc->action);
    write_text(stream, name, "argument_type", index, desc->argument_type);
    fprintf(stream, "static const ipt_batch_operand %s_operands_%zu[] = {\n", name, index);
    for (size_t i = 0; i < desc->operand_count; i++) {
        const ipt_batch_operand *const operand = &desc->operands[i];
        fprintf(stream, "    {\"%s\", \"%s\", %zu, %zu, %s, %s, %zu, %zu},\n", operand->name, operand->type,
                operand->rows, operand->cols, accesses[operand->access], layouts[operand->layout], operand->stride,
                operand->width);
    }
    fputs("};\n\n/* The desc of --action ", stream);
    write_comment(stream, spec->word);
    fprintf(stream,
            ". Its program does not depend on count. */\n"
            "static const ipt_batch_desc %s_batch_%zu = {\n    %zu, %s_operands_%zu, %zu, %s, %uu, ",
            name, index, desc->count, name, index, desc->operand_count, actions[desc->ready], desc->options);
    write_text_field(stream, name, "action", index, desc->action);
    write_text_field(stream, name, "functions", index, desc->functions);
    write_text_field(stream, name, "argument_type", index, desc->argument_type);
    fprintf(stream, "%s, %s, %zu, %zu, 0, NULL, 0,\n};\n\n", models[desc->model], methods[desc->method], desc->lanes,
            desc->group_size);
}

/* Writes the comment at the header's top: version, shapes and device. */
static void write_heading(FILE *stream, const precompile_task *task, const precompiled *work)
{
    const shape_list *const shapes = &work->shapes;
    char device[256] = "a device";
    size_t column = 0;
    fputs("/* Written by ", stream);
    show_version(stream);
    fputs(" precompile", stream);
    if (shapes->file != NULL) {
        fputs(" --shapes ", stream);
        write_comment(stream, shapes->file);
        fprintf(stream, " --elem-size %zu", shapes->elem_size);
    }
    for (size_t i = 0; i < shapes->operand_count; i++) {
        column += strlen(shapes->operands[i]) + 1;
        fputs(column > 80 ? "\n * " : " ", stream);
        fputs(shapes->operands[i], stream);
        column = column > 80 ? 0 : column;
    }
    for (size_t i = 0; i < work->batches.word_count; i++) {
        fputs("\n * --action ", stream);
        write_comment(stream, work->batches.words[i]);
    }
    if (task->target == NULL) {
        setup_device_name(work->context, device, sizeof device);
    }
    fputs(", for ", stream);
    write_comment(stream, task->target != NULL ? task->target : device);
    fputs(" */\n", stream);
}

void programs_write_header(FILE *stream, const precompile_task *task, const precompiled *work)
{
    char name[300] = "", guard[300];
    name_array(task->embed, name, sizeof name);
    for (size_t i = 0; i <= strlen(name); i++) {
        guard[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);
    }
    write_heading(stream, task, work);
    fprintf(stream,
            "#ifndef %s_H_INCLUDED\n#define %s_H_INCLUDED\n\n#include \"ipt.h\"\n\n"
            "/* Programs, compiled: set binaries = %s and binary_count = %s_count in ipt_context_desc,\n"
            " * and these plans compile nothing. With IPT_CACHE_ONLY among the flags in ipt_plan_desc or "
            "ipt_batch_desc, a\n"
            " * plan that needs another program fails with IPT_ERROR_CACHE_MISS. */\n\n",
            guard, guard, name, name);
    for (size_t i = 0; i < work->count; i++) {
        fprintf(stream, "static const unsigned char %s_%zu[] = {\n", name, i);
        write_bytes(stream, work->entries[i].bytes, work->entries[i].size);
        fputs("\n};\n\n", stream);
    }
    for (size_t i = 0; i < work->batches.count; i++) {
        write_batch(stream, name, i, &work->batches.items[i]);
    }
    fprintf(stream, "static const ipt_binary %s[] = {\n", name);
    for (size_t i = 0; i < work->count; i++) {
        fprintf(stream, "    {%s_%zu, sizeof %s_%zu},\n", name, i, name, i);
    }
    fprintf(stream, "};\n\nenum { %s_count = sizeof %s / sizeof %s[0] };\n\n#endif /* %s_H_INCLUDED */\n", name, name,
            name, guard);
}
