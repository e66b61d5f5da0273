#include "same_files.h"

#include "gen/tool/base/messages.h"
#include "options.h"
#include "gen/tool/base/system.h"
#include "gen/tool/base/text.h"

#include <stdlib.h>
#include <string.h>

/* The folder of a path that does not exist yet. false: there is none. */
static bool folder_status(const char *path, system_status *status)
{
    const size_t length = (size_t)(text_file_name(path) - path);
    char *const folder = malloc(length + 2);
    if (folder == NULL) {
        return false;
    }
    memcpy(folder, path, length);
    strcpy(folder + length, ".");
    const bool found = system_status_at(folder, status);
    free(folder);
    return found;
}

/* Whether both paths name one regular file, which may not exist yet. */
static bool is_same(const char *one, const char *other)
{
    system_status first, second;
    if (strcmp(one, "-") == 0) { /* standard output */
        return false;
    }
    const bool exists = system_status_at(one, &first);
    if (exists != system_status_at(other, &second) || (exists && !(first.is_file && second.is_file))) {
        return false;
    }
    if (!exists && (strcmp(text_file_name(one), text_file_name(other)) != 0 || !folder_status(one, &first) ||
                    !folder_status(other, &second))) {
        return false;
    }
    return first.device == second.device && first.number == second.number;
}

/* The name of the present option for a field; without an option, the operand. */
static const char *option_of(const arguments *given, const char *const *field)
{
    for (size_t i = 0; i < option_count; i++) {
        if (given->seen[i] && option_list[i].offset == (size_t)((const char *)field - (const char *)given)) {
            return option_list[i].name;
        }
    }
    return "--action";
}

int same_files_check(const arguments *given, bool adds)
{
    const char *const *const outputs[] = {&given->output, &given->embed, &given->native, &given->csv, &given->plot};
    const char *const *const inputs[] = {&given->shapes, &given->wisdom, &given->profile};
    enum { OUTPUTS = sizeof outputs / sizeof outputs[0], INPUTS = sizeof inputs / sizeof inputs[0] };
    for (size_t i = 0; i < OUTPUTS; i++) {
        for (size_t k = i + 1; *outputs[i] != NULL && k < OUTPUTS + INPUTS + given->action_count; k++) {
            const char *const *const other = k < OUTPUTS            ? outputs[k]
                                             : k < OUTPUTS + INPUTS ? inputs[k - OUTPUTS]
                                                                    : &given->actions[k - OUTPUTS - INPUTS];
            const bool may = adds && outputs[i] == &given->output && other == &given->wisdom;
            if (*other != NULL && !may && is_same(*outputs[i], *other)) {
                return message_usage_error("%s and %s name the same file, '%s': it would be overwritten",
                                           option_of(given, outputs[i]), option_of(given, other), *other);
            }
        }
    }
    return 0;
}
