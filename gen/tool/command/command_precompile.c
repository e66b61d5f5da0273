/* ipt precompile */
#define _POSIX_C_SOURCE 200809L

#include "commands.h"
#include "gen/tool/store/draft.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/offline/offline.h"
#include "gen/tool/offline/offline_steps.h"
#include "native_expression.h"
#include "programs.h"
#include "gen/tool/base/seconds.h"
#include "gen/tool/base/setup.h"
#include "gen/tool/base/system.h"
#include "gen/tool/base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the kernel of a program and its settings, from the comment at the text's beginning. */
static void show_entry(const program_entry *entry)
{
    const char *const source = entry->source, *const settings = source == NULL ? NULL : strstr(source, ": ");
    const char *name = source == NULL ? NULL : strstr(source, ", ");
    if (name == NULL || settings == NULL) {
        printf("%s", source == NULL ? "device" : "program");
    } else {
        for (const char *next; (next = strstr(name + 1, ", ")) != NULL && next < settings;) {
            name = next;
        }
        printf("%.*s%.*s", (int)strcspn(name + 2, ". *"), name + 2,
               (int)strcspn(settings + 1, "\n") - (int)strlen(" */"), settings + 1);
    }
    printf(": %zu bytes\n", entry->size);
}

/* Copies an entry out of the context. With a target, the entry has clang's or NVRTC's code of its source. The first
 * memory suffices for most entries: NVRTC compiles at each call. */
static int take_entry(const precompile_task *task, precompiled *work, size_t index)
{
    program_entry *entry = &work->entries[index];
    const char *options = "", *target = NULL;
    char message[OFFLINE_MESSAGE_SIZE];
    unsigned char *code = NULL;
    size_t code_size = 0, size = (size_t)1 << 20;
    entry->source = ipt_context_entry_source(work->context, index, &options);
    if (entry->source != NULL && task->target != NULL) {
        if (work->target.kind != OFFLINE_CUDA &&
            !offline_compile(&work->target, entry->source, options, &code, &code_size, message)) {
            char about[BATCH_MESSAGE_SIZE];
            batch_list_about(&work->batches, entry->source, about);
            return message_fail("%s: %s%s%s", task->target, about, about[0] != '\0' ? ": " : "", message);
        }
        target = task->target;
    }
    ipt_result result = IPT_ERROR_INVALID_ARGUMENT;
    for (size_t room = 0; result != IPT_SUCCESS && size > room;) {
        room = size;
        free(entry->bytes);
        entry->bytes = malloc(room);
        if (entry->bytes == NULL) {
            free(code);
            return message_fail("out of memory for %zu bytes", room);
        }
        result = ipt_context_entry(work->context, index, target, code, code_size, entry->bytes, room, &size);
    }
    free(code);
    if (result != IPT_SUCCESS) {
        return message_fail_ipt(NULL);
    }
    entry->size = size;
    work->size += size;
    work->programs += entry->source != NULL;
    if (task->verbose) {
        show_entry(entry);
    }
    return 0;
}

static int take_entries(const precompile_task *task, precompiled *work)
{
    char commands[OFFLINE_MESSAGE_SIZE * 4];
    const char *options;
    size_t count = ipt_context_entry_count(work->context);
    if (ipt_context_entry_source(work->context, 0, &options) == NULL) {
        return message_fail("these shapes need no program: nothing to compile");
    }
    work->entries = calloc(count, sizeof *work->entries);
    if (work->entries == NULL) {
        return message_fail("out of memory for %zu programs", count);
    }
    work->count = count;
    if (task->verbose && task->target != NULL && work->target.kind != OFFLINE_CUDA) {
        offline_commands(&work->target, options, commands, sizeof commands);
        fputs(commands, stdout);
    }
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        code = take_entry(task, work, i);
    }
    return code;
}

static int store_entries(const precompiled *work, const char *folder)
{
    for (size_t i = 0; i < work->count; i++) {
        if (ipt_cache_store(folder, work->entries[i].bytes, work->entries[i].size) != IPT_SUCCESS) {
            return message_fail_ipt(NULL);
        }
    }
    return 0;
}

static int embed_entries(const precompile_task *task, const precompiled *work, const draft *header)
{
    FILE *stream = draft_stream(header);
    bool good = stream != NULL;
    if (good) {
        programs_write_header(stream, task, work);
        good = !ferror(stream);
        good = fclose(stream) == 0 && good;
    }
    return good ? 0 : message_fail("%s: %s", task->embed, strerror(errno));
}

/* Whether there is nothing to compile. */
static bool is_native_alone(const arguments *given)
{
    return given->native != NULL && given->output == NULL && given->embed == NULL;
}

/* Refuses combinations of options. Returns 0 or the exit code. */
static int check_precompile(const arguments *given, offline_target *target)
{
    char message[OFFLINE_MESSAGE_SIZE];
    int code = given->native != NULL ? native_expression_check(given) : 0;
    if (code == 0 && !is_native_alone(given)) {
        code = shape_list_check(given, "precompile");
    }
    if (code != 0) {
        return code;
    }
    if (given->output == NULL && given->embed == NULL && given->native == NULL) {
        return message_usage_error("'precompile' needs --output DIR, --embed FILE.h or both, or --native FILE.h");
    }
    system_status status;
    if (given->output != NULL && *given->output == '\0') {
        return message_usage_error("--output takes a folder, not ''");
    }
    if (given->output != NULL && system_status_at(given->output, &status) && !status.is_folder) {
        return message_fail("%s: not a folder", given->output);
    }
    if (given->embed != NULL) {
        const char *name = text_file_name(given->embed);
        if (*name == '\0' || strcmp(name, "ipt.h") == 0 || strcmp(name, "ipt_kernels.h") == 0) {
            return message_usage_error("--embed takes the name of a new header, not '%s'", given->embed);
        }
    }
    if (given->profile != NULL && given->target == NULL) {
        return message_usage_error("--profile needs --target: the compiler of an absent device is unavailable");
    }
    if (given->target != NULL && !offline_read_target(given->target, target, message)) {
        return message_usage_error("--target: %s", message);
    }
    return 0;
}

/* Does all the work except the final rename of the header. */
static int precompile(const precompile_task *task, precompiled *work, const draft *header)
{
    char message[OFFLINE_MESSAGE_SIZE];
    if (task->target != NULL && work->target.kind != OFFLINE_CUDA && !offline_available(&work->target, message)) {
        return message_fail("%s: %s", task->target, message);
    }
    int code = shape_list_read(&work->shapes);
    if (code == 0) {
        code = batch_list_read(&work->batches);
    }
    if (code == 0) {
        code = setup_context(&task->context, NULL, &work->context);
    }
    if (code == 0) {
        code = shape_list_plan(&work->shapes, task->desc, work->context, task->verbose, false);
    }
    if (code == 0) {
        code = batch_list_plan(&work->batches, work->context, task->verbose);
    }
    if (code == 0) {
        code = take_entries(task, work);
    }
    if (code == 0 && task->output != NULL) {
        code = store_entries(work, task->output);
    }
    if (code == 0 && task->embed != NULL) {
        code = embed_entries(task, work, header);
    }
    return code;
}

static int run_precompile(const arguments *given)
{
    double start = seconds_now();
    precompile_task task = {
        arguments_setup(given), arguments_describe(given), given->target, given->output, given->embed, given->verbose};
    precompiled work = {0};
    draft header = DRAFT_NONE;
    int code = check_precompile(given, &work.target);
    if (code == 0 && given->native != NULL) {
        code = native_expression_write(given);
    }
    if (code != 0 || is_native_alone(given)) {
        return code;
    }
    task.context.compiles = true;
    if (task.context.cache == NULL) {
        task.context.cache = "";
    }
    work.shapes = shape_list_of(given);
    work.batches = batch_list_of(given);
    if (task.embed != NULL) {
        code = draft_begin(task.embed, -1, &header);
    }
    if (code == 0) {
        code = precompile(&task, &work, &header);
    }
    if (task.embed != NULL) {
        code = draft_end(&header, code == 0, code);
    }
    if (code == 0) {
        bool both = task.output != NULL && task.embed != NULL;
        message_print(stdout, "%zu program%s%s, %zu bytes, to %s%s%s in %.3f seconds", work.programs,
                      work.programs == 1 ? "" : "s",
                      work.programs < work.count ? " and the facts about the device" : "", work.size,
                      task.output != NULL ? task.output : "", both ? " and " : "", task.embed != NULL ? task.embed : "",
                      seconds_now() - start);
    }
    for (size_t i = 0; i < work.count; i++) {
        free(work.entries[i].bytes);
    }
    free(work.entries);
    free(work.shapes.items);
    batch_list_free(&work.batches);
    ipt_context_destroy(work.context);
    return code;
}

const command command_precompile = {
    "precompile",
    OPERAND_SHAPES,
    "compile the plans' programs ahead of time, into a folder or a C header",
    FOR_ALL | FOR_PLANS | FOR_FORMATS | FOR_MOVES | FOR_SOURCES | FOR_PRECOMPILE,
    run_precompile,
    "Takes SHAPEs or --shapes, --action, or both, and needs --output, --embed or both. Without --target the device's "
    "own compiler "
    "builds the programs; other devices and drivers refuse them. No cache is read unless --cache names "
    "one. --native alone needs no shape, no device and no compiler.\n" BATCH_NOTES};
