/* Makes the headers that users copy.
 *
 *   embed library FOLDER > ipt.h                FOLDER/ipt.h with the parts that it includes
 *   embed kernels DEF NATIVE_H EXPRESSIONS_H CL... > ipt_kernels.h
 *                                               the kernel texts, packed and named by their .cl files without folder
 *                                               and ending. A kernel's file includes the parts that its programs
 *                                               consist of. Each file has a row in a list of DEF, and each row a file.
 *                                               Texts of the native driver's kernels are there as C, too: after
 *                                               NATIVE_H, in a section that includes itself for each program.
 *                                               EXPRESSIONS_H is there for programs with IPT_NATIVE_EXPRESSIONS.
 *   embed single IPT_H KERNELS_H > single.h     IPT_H with KERNELS_H in place of its #include
 *
 * The output depends on the content of its inputs and on nothing else. Parts that break the rules of the house are
 * refused: a part calls only the parts above it and declares no function ahead, each #if ends in the part that it
 * begins in, and a part has at most PART_LINES lines. Its functions have at most FUNCTION_LINES lines and PARAMETERS
 * parameters. Each row of the numbers in NUMBERS is read. Kernel files are refused as well: a function has at most
 * FUNCTION_LINES lines, and braces are balanced in each branch of an #if. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 2000,
    LINE_COLUMNS = 118,
    TEXT_BYTES = 1 << 19, /* of all kernels */
    FIRST_PAIR = 128,
    PAIRS = 3000,
    PATH_BYTES = 1000,
    PART_LINES = 600,
    FUNCTION_LINES = 80,
    PARAMETERS = 6,
    NESTED = 20, /* #if */
    PARTS = 140,
    WORDS = 1500
};

/* Ends the line at which the native driver's section of ipt_kernels.h begins. */
#define NATIVE_MARK "/* the native driver's programs */"

/* The part with the rows of numbers: X(IPT__NAME, ...) is a constant, X(unit, name, ...) a number of a device class. */
#define NUMBERS "device/speed.h"

static FILE *open_input(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void refuse(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    exit(1);
}

/* Reads one line with its newline; 0 at the end. */
static int read_line(FILE *file, const char *path, char *line)
{
    if (!fgets(line, LINE_BYTES, file))
        return 0;
    if (!strchr(line, '\n'))
        refuse(path, "a line is too long or the last one has no newline");
    return 1;
}

/* The library's parts, in their order. */
typedef struct part {
    char name[PATH_BYTES], path[PATH_BYTES];
    char *text; /* comments are blank */
} part;
static part parts[PARTS];
static int part_count;

/* The number of #if that a line opens, less those that it closes. */
static int opened_by(const char *line)
{
    return !strncmp(line, "#if", 3) - !strncmp(line, "#endif", 6);
}

/* Blanks the comments of a text. */
static void blank_comments(char *text)
{
    char *begin, *end;
    for (begin = strstr(text, "/*"); begin; begin = strstr(end, "/*")) {
        end = strstr(begin, "*/");
        end = end ? end + 2 : begin + strlen(begin);
        memset(begin, ' ', (size_t)(end - begin));
    }
}

/* Stores a part's text for the rules, and writes it under a banner with its name. */
static void copy_part(part *copied)
{
    static const char rule[] = "/* ------------------------------------------------------------------------------------"
                               "------------------------------ */";
    char line[LINE_BYTES];
    size_t bytes = 0;
    int lines = 0, open = 0;
    FILE *file = open_input(copied->path);
    copied->text = (char *)malloc(PART_LINES * LINE_BYTES + 1);
    if (!copied->text)
        refuse(copied->path, "takes more memory than there is");
    printf("%s\n/* >>%-112.*s */\n%s\n\n", rule, (int)strcspn(copied->name, "."), copied->name, rule);
    while (read_line(file, copied->path, line)) {
        open += opened_by(line);
        if (open < 0)
            refuse(copied->path, "has an #endif without an #if");
        if (++lines > PART_LINES)
            refuse(copied->path, "has more lines than a part may have: cut it by subject");
        fputs(line, stdout);
        strcpy(copied->text + bytes, line);
        bytes += strlen(line);
    }
    fclose(file);
    if (open)
        refuse(copied->path, "has an #if without an #endif");
    blank_comments(copied->text);
}

/* Whether a declaration that begins at text is a function's without its body. */
static int is_prototype(const char *text)
{
    const char *end = text + strcspn(text, "{;=");
    while (end > text && end[-1] == ' ')
        --end;
    return *end == ';' && end > text && end[-1] == ')';
}

/* Refuses a part that calls the public function whose definition begins at text, in a later part. */
static void check_calls(const char *text, const part *definer)
{
    const char *end = strchr(text, '('), *begin = end, *found;
    const part *caller;
    char call[200];
    if (!end)
        return;
    while (begin[-1] == '_' || (begin[-1] >= 'a' && begin[-1] <= 'z'))
        --begin;
    snprintf(call, sizeof call, "%.*s(", (int)(end - begin), begin);
    for (caller = parts; caller < definer; ++caller)
        for (found = strstr(caller->text, call); found; found = strstr(found + 1, call))
            if (found[-1] != '_' && !(found[-1] >= 'a' && found[-1] <= 'z') &&
                strncmp(caller->name, "interface/", 10)) {
                fprintf(stderr, "%s: calls %s), which a later part defines: %s\n", caller->path, call, definer->path);
                exit(1);
            }
}

/* A part calls only the parts above it, and C demands a declaration of everything else. */
static void check_order(void)
{
    const part *checked;
    const char *line;
    for (checked = parts; checked < parts + part_count; ++checked)
        for (line = checked->text; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (!strncmp(line, "static ", 7) && is_prototype(line))
                refuse(checked->path, "declares a function ahead: move its callers below its definition");
            if (!strncmp(line, "IPT_API ", 8) && line[strcspn(line, "{;=")] == '{')
                check_calls(line, checked);
        }
}

/* Refuses a function whose body begins at `body`, the line of its brace, if it is longer than FUNCTION_LINES lines. A
 * static one has at most PARAMETERS parameters. */
static void check_function(const part *checked, const char *body)
{
    const char *at, *begin = body - 1;
    int lines = 1, commas = 0;
    for (at = body; *at && strncmp(at, "\n}", 2); ++at)
        lines += *at == '\n';
    if (lines > FUNCTION_LINES) {
        fprintf(stderr, "%s: a function of %d lines\n", checked->path, lines);
        refuse(checked->path, "has a function with more lines than one may have: cut it");
    }
    while (begin > checked->text && (begin[-1] != '\n' || *begin == ' '))
        --begin;
    for (at = begin; at < body; ++at)
        commas += *at == ',';
    at = strstr(begin, "CL_API_CALL"); /* operations of a driver have OpenCL's parameters */
    if (!strncmp(begin, "static ", 7) && commas >= PARAMETERS && (!at || at > body))
        refuse(checked->path, "has a function with more parameters than one may have: give it a struct");
}

/* Refuses long functions, and comparisons of a stage's kind outside the list of kinds. */
static void check_functions(void)
{
    const part *checked;
    const char *line;
    for (checked = parts; checked < parts + part_count; ++checked) {
        if (strstr(checked->text, "kind == IPT__STAGE_") || strstr(checked->text, "kind != IPT__STAGE_"))
            refuse(checked->path, "compares a stage's kind: give IPT__STAGE_LIST a trait or a function");
        for (line = strstr(checked->text, "\n{\n"); line; line = strstr(line + 1, "\n{\n"))
            check_function(checked, line + 1);
    }
}

static int is_word(char character)
{
    return character == '_' || (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9');
}

/* Whether a text reads a number: a constant by its name, others as model->NAME, ipt__tuning_of(...)->NAME or
 * ipt__tunings[...].NAME. */
static int reads_number(const char *text, const char *name)
{
    static const char *const ways[][2] = {{"model->", ""}, {"ipt__tuning_of(", ")"}, {"ipt__tunings[", "]"}};
    const int constant = !strncmp(name, "IPT__", 5);
    const size_t length = strlen(name);
    const char *found;
    int i;
    for (i = 0; i < (constant ? 1 : 3); ++i)
        for (found = strstr(text, constant ? name : ways[i][0]); found;
             found = strstr(found + 1, constant ? name : ways[i][0])) {
            const char *at = constant ? found : found + strlen(ways[i][0]);
            if (!constant && *ways[i][1])
                at += strcspn(at, ways[i][1]) + 1;
            at += constant ? 0 : strspn(at, "->.");
            if (!strncmp(at, name, length) && !is_word(at[length]) && !is_word(found[-1]))
                return 1;
        }
    return 0;
}

static const char *base_name(const char *path)
{
    return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* Refuses a part whose file is named as another part's: debuggers show only that. */
static void check_names(void)
{
    int i, j;
    for (i = 0; i < part_count; ++i)
        for (j = 0; j < i; ++j)
            if (!strcmp(base_name(parts[i].path), base_name(parts[j].path)))
                refuse(parts[i].path, "has the file name of another part: name it by its subject");
}

/* Refuses a row of numbers that no part reads. */
static void check_numbers(void)
{
    const part *numbers, *reader;
    const char *row;
    char name[200], second[200];
    for (numbers = parts; numbers < parts + part_count && strcmp(numbers->name, NUMBERS); ++numbers)
        ;
    for (row = numbers < parts + part_count ? strstr(numbers->text, "\n    X(") : NULL; row;
         row = strstr(row + 1, "\n    X(")) {
        if (sscanf(row, " X(%199[^,], %199[^,]", name, second) != 2)
            refuse(numbers->path, "has a row without a name");
        if (strncmp(name, "IPT__", 5))
            strcpy(name, second);
        for (reader = parts; reader < parts + part_count; ++reader)
            if ((reader != numbers || strncmp(name, "IPT__", 5)) && reads_number(reader->text, name))
                break;
        if (reader == parts + part_count) {
            fprintf(stderr, "%s: %s\n", numbers->path, name);
            refuse(numbers->path, "has a number that no part reads: delete it, or read it as gen/embed.c says");
        }
    }
}

/* Writes FOLDER/ipt.h with its parts in place of their #include lines. */
static void copy_library(const char *folder)
{
    char line[LINE_BYTES], path[PATH_BYTES], name[PATH_BYTES];
    FILE *file;
    snprintf(path, sizeof path, "%s/ipt.h", folder);
    file = open_input(path);
    while (read_line(file, path, line)) {
        part *const next = &parts[part_count];
        FILE *there = NULL;
        if (part_count == PARTS)
            refuse(path, "has too many parts for gen/embed.c");
        if (sscanf(line, "#include \"%500[^\"]\"\n", name) == 1 &&
            snprintf(next->path, sizeof next->path, "%s/%s", folder, name) < (int)sizeof next->path)
            there = fopen(next->path, "r");
        if (there) {
            fclose(there);
            strcpy(next->name, name);
            copy_part(next);
            ++part_count;
        } else {
            fputs(line, stdout);
        }
    }
    fclose(file);
    check_names();
    check_order();
    check_functions();
    check_numbers();
}

/* Writes ipt_kernels.h without the native driver's section, or that section alone. */
static void copy_kernels(const char *path, int native)
{
    char line[LINE_BYTES];
    int in_section = 0, marks = 0;
    FILE *file = open_input(path);
    while (read_line(file, path, line)) {
        const int begins = !strcmp(line, "#ifndef IPT__NATIVE\n"), mark = strstr(line, NATIVE_MARK) != NULL;
        marks += begins + mark;
        in_section |= mark;
        if (!begins && !mark && in_section == native)
            fputs(line, stdout);
    }
    fclose(file);
    if (marks != 2)
        refuse(path, "is not what embed kernels writes");
}

/* Writes both headers as one, which includes itself for the native driver's programs. */
static void copy_single(const char *path, const char *kernels_path)
{
    char line[LINE_BYTES];
    int inserted = 0;
    FILE *file = open_input(path);
    puts("#ifndef IPT__NATIVE");
    while (read_line(file, path, line))
        if (!strcmp(line, "#include \"ipt_kernels.h\"\n")) {
            copy_kernels(kernels_path, 0);
            inserted = 1;
        } else if (!strcmp(line, "#define IPT_KERNELS_FILE \"ipt_kernels.h\"\n"))
            puts("#define IPT_KERNELS_FILE \"ipt.h\"");
        else
            fputs(line, stdout);
    fclose(file);
    if (!inserted)
        refuse(path, "does not include ipt_kernels.h on a line of its own");
    puts("#else");
    copy_kernels(kernels_path, 1); /* with the last #endif */
}

/* Strips a line of OpenCL C: comments, indentation, spaces at the end. Its newline stays, so that line numbers do, too.
 * in_comment: whether a comment is open, before and after. */
static void strip_line(char *line, int *in_comment)
{
    const char *from = line + strspn(line, " ");
    char *to = line, quote = 0;
    for (; *from && *from != '\n'; ++from) {
        if (*in_comment) {
            if (from[0] == '*' && from[1] == '/') {
                *in_comment = 0;
                ++from;
            }
            continue;
        }
        if (!quote && from[0] == '/' && from[1] == '/')
            break;
        if (!quote && from[0] == '/' && from[1] == '*') {
            *in_comment = 1;
            ++from;
            continue;
        }
        if (*from == '"')
            quote = !quote;
        else if (quote && *from == '\\')
            *to++ = *from++;
        *to++ = *from;
    }
    while (to > line && to[-1] == ' ')
        --to;
    strcpy(to, "\n");
}

/* The rules for a kernel's file, line by line. */
typedef struct kernel_check {
    const char *path;
    int lines, begin;          /* first line of this function or declaration */
    int blank;                 /* the previous line has no code, or is for the preprocessor */
    int depth;                 /* open braces */
    int depths[NESTED], count; /* depth at each open #if */
} kernel_check;

static void refuse_line(const kernel_check *check, const char *why)
{
    char place[PATH_BYTES + 20];
    snprintf(place, sizeof place, "%s:%d", check->path, check->lines);
    refuse(place, why);
}

/* Checks a stripped line. */
static void check_line(kernel_check *check, const char *line)
{
    const int before = check->depth;
    if (++check->lines > PART_LINES)
        refuse_line(check, "the file has more lines than a part may have: cut it by subject");
    if (!strncmp(line, "#el", 3) || !strncmp(line, "#endif", 6)) {
        if (!check->count)
            refuse_line(check, "no #if is open");
        if (check->depths[check->count - 1] != check->depth)
            refuse_line(check, "a brace is opened or closed in one branch of an #if only");
    }
    check->count -= !strncmp(line, "#endif", 6);
    if (!strncmp(line, "#if", 3)) {
        if (check->count == NESTED)
            refuse_line(check, "too many #if for gen/embed.c");
        check->depths[check->count++] = check->depth;
    }
    if (!before && check->blank)
        check->begin = check->lines;
    check->blank = *line == '\n' || *line == '#';
    if (*line != '#')
        for (; *line; ++line)
            check->depth += (*line == '{') - (*line == '}');
    if (before && !check->depth && check->lines - check->begin >= FUNCTION_LINES)
        refuse_line(check, "a function ends that has more lines than it may have");
}

/* The rows of the lists of files in gen/kernels.def: X(name) or X(name, ...). */
static const char *const file_lists[] = {"PART",       "OWN_KERNEL",  "SEED_KERNEL",
                                         "BOX_KERNEL", "VIEW_KERNEL", "BATCH_KERNEL"};
typedef struct row {
    char name[64];
    int list;            /* in file_lists: 0 has the parts */
    int memories, local; /* of a kernel */
    int found;           /* its file */
} row;
static row rows[PARTS];
static int row_count;

/* Takes the rows of a line of a list, and returns which list the next line belongs to; -1: none. */
static int take_rows(const char *path, const char *line, int list)
{
    const char *at;
    size_t i;
    for (i = 0; i < sizeof file_lists / sizeof *file_lists; ++i) {
        char begin[64];
        sprintf(begin, "#define IPT_%s_LIST(X) ", file_lists[i]);
        if (!strncmp(line, begin, strlen(begin)))
            list = (int)i;
    }
    for (at = list < 0 ? NULL : strstr(line, " X("); at; at = strstr(at + 1, " X(")) {
        if (row_count == PARTS)
            refuse(path, "has too many files for gen/embed.c");
        rows[row_count].list = list;
        sscanf(at, " X(%63[a-z0-9_], %d, %d", rows[row_count].name, &rows[row_count].memories, &rows[row_count].local);
        ++row_count;
    }
    return strlen(line) > 1 && line[strlen(line) - 2] == '\\' ? list : -1;
}

/* The lists of arguments in gen/kernels.def, IPT_<name>_ARGUMENTS, without spaces and comments. */
typedef struct arguments_list {
    char name[64], text[4 * LINE_BYTES];
} arguments_list;
static arguments_list arguments_lists[PARTS];
static int arguments_count;

static const char *arguments_of(const char *name)
{
    int i;
    for (i = 0; i < arguments_count && strcmp(arguments_lists[i].name, name); ++i)
        ;
    return i < arguments_count ? arguments_lists[i].text : "";
}

/* Takes a line of a list of arguments. `open`: whether it is within one. Returns whether the next line is. */
static int take_arguments(const char *path, const char *from, int open)
{
    char line[LINE_BYTES], name[64];
    int in_comment = 0, continued;
    arguments_list *list;
    size_t length;
    const char *at;
    strcpy(line, from);
    strip_line(line, &in_comment);
    continued = strlen(line) > 1 && line[strlen(line) - 2] == '\\';
    at = strstr(line, "_ARGUMENTS(X, D)");
    if (at && !strncmp(line, "#define IPT_", 12)) {
        if (arguments_count == PARTS)
            refuse(path, "has too many lists for gen/embed.c");
        snprintf(arguments_lists[arguments_count++].name, sizeof name, "%.*s", (int)(at - line - 12), line + 12);
        return continued;
    }
    if (!open)
        return 0;
    list = &arguments_lists[arguments_count - 1];
    at = sscanf(line, "IPT_%63[A-Z]_ARGUMENTS", name) == 1 ? arguments_of(name) : line; /* a list within a list */
    for (length = strlen(list->text); *at && length + 1 < sizeof list->text; ++at)
        if (!strchr(" \\\n", *at))
            list->text[length++] = *at;
    if (*at)
        refuse(path, "has a list of arguments that is too long for gen/embed.c");
    return continued;
}

/* The rows of IPT_NATIVE_LIST in gen/kernels.def. */
typedef struct native_row {
    char name[64], second[64];
    int first, last, vectors, applies;
} native_row;
static native_row natives[PARTS];
static int native_count;

/* Takes the row of a line of IPT_NATIVE_LIST. `open`: whether the line is in the list. Returns whether the next line
 * is. */
static int take_native(const char *line, int open)
{
    native_row *const row = &natives[native_count];
    if (!strncmp(line, "#define IPT_NATIVE_LIST(X)", 26))
        return 1;
    if (open && sscanf(line, " X(%63[a-z0-9_], %63[a-z_], %d, %d, %d, %d)", row->name, row->second, &row->first,
                       &row->last, &row->vectors, &row->applies) == 6)
        ++native_count;
    return open && strlen(line) > 1 && line[strlen(line) - 2] == '\\';
}

/* Copies gen/kernels.def. */
static void copy_lists(const char *path)
{
    char line[LINE_BYTES];
    int list = -1, arguments = 0, native = 0;
    FILE *file = open_input(path);
    while (read_line(file, path, line)) {
        list = take_rows(path, line, list);
        native = take_native(line, native);
        arguments = take_arguments(path, line, arguments);
        fputs(line, stdout);
    }
    fclose(file);
}

/* Whether a file has the text of a ready action: a file beside the kernel of batch plans. */
static int is_action(const char *path)
{
    return strstr(path, "/elements/") && !strstr(path, "/elements/elements.cl");
}

/* The name of a kernel's file, which has a row unless it is an action's. */
static void find_row(const char *path, char *name, size_t capacity)
{
    const char *const base = base_name(path), *const end = strstr(base, ".cl");
    int i;
    if (!end || end[3] || (size_t)(end - base) >= capacity)
        refuse(path, "is not named <kernel>.cl");
    sprintf(name, "%.*s", (int)(end - base), base);
    for (i = 0; i < row_count && strcmp(rows[i].name, name); ++i)
        ;
    if (is_action(path) && i == row_count)
        return;
    if (i == row_count)
        refuse(path, "has no row in a list of gen/kernels.def");
    if (rows[i].found++)
        refuse(path, "has the name of another file");
    if ((strstr(path, "/parts/") != NULL) != (rows[i].list == 0))
        refuse(path, "has its row in the wrong list of gen/kernels.def");
}

static void check_rows(void)
{
    int i;
    for (i = 0; i < row_count; ++i)
        if (!rows[i].found)
            refuse(rows[i].name, "has a row in gen/kernels.def and no file in gen/kernels");
}

/* Adds the part that a line includes to a list, and blanks the line. */
static void take_include(const char *path, char *line, char *list, size_t capacity)
{
    char name[64];
    const char *part = strncmp(line, "#include \"", 10) ? NULL : strstr(line, "parts/");
    int i;
    if (!part)
        return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(part + 6, "."), part + 6);
    for (i = 0; i < row_count && (rows[i].list || strcmp(rows[i].name, name)); ++i)
        ;
    if (i == row_count)
        refuse(path, "includes a part that IPT_PART_LIST lacks");
    if (strlen(list) + strlen(name) + 5 > capacity)
        refuse(path, "includes too many parts for gen/embed.c");
    sprintf(list + strlen(list), " X(%s)", name);
    strcpy(line, "\n");
}

/* Kernel texts as symbols: a number below FIRST_PAIR is a character, another one stands for a pair of symbols. 0 ends a
 * text. */
static unsigned short symbols[TEXT_BYTES], pairs[PAIRS][2];
static int symbol_count, pair_count;

static void put_symbols(const char *path, const char *line)
{
    for (; *line; ++line) {
        if (*line != '\n' && (*line < ' ' || *line > '~'))
            refuse(path, "has a character that is not printable ASCII");
        if (symbol_count + 1 >= TEXT_BYTES)
            refuse(path, "makes the texts longer than gen/embed.c takes");
        symbols[symbol_count++] = (unsigned short)*line;
    }
}

/* Finds the most frequent pair of symbols, the first one of several. Returns how often it occurs. */
static int find_pair(unsigned short pair[2])
{
    static unsigned short counts[FIRST_PAIR + PAIRS][FIRST_PAIR + PAIRS];
    int i, most = 0;
    for (i = 0; i + 1 < symbol_count; ++i)
        if (symbols[i] && symbols[i + 1] && ++counts[symbols[i]][symbols[i + 1]] > most) {
            most = counts[symbols[i]][symbols[i + 1]];
            memcpy(pair, symbols + i, sizeof pairs[0]);
        }
    for (i = 0; i + 1 < symbol_count; ++i)
        counts[symbols[i]][symbols[i + 1]] = 0;
    return most;
}

/* Packs the texts: a symbol of its own replaces the most frequent pair, as long as that saves more than it takes. */
static void pack_symbols(void)
{
    while (pair_count < PAIRS && find_pair(pairs[pair_count]) > 2) {
        const unsigned short *const pair = pairs[pair_count];
        int from = 0, to = 0;
        while (from < symbol_count) {
            const int found = from + 1 < symbol_count && symbols[from] == pair[0] && symbols[from + 1] == pair[1];
            symbols[to++] = found ? (unsigned short)(FIRST_PAIR + pair_count) : symbols[from];
            from += 1 + found;
        }
        symbol_count = to;
        ++pair_count;
    }
}

/* Writes numbers up to a 0, or `count` of them, in lines of at most LINE_COLUMNS columns. */
static const unsigned short *put_numbers(const unsigned short *numbers, int count)
{
    int column = LINE_COLUMNS, i;
    char number[8];
    for (i = 0; i < count; ++i) {
        const int length = sprintf(number, "%d,", numbers[i]);
        if (column + length > LINE_COLUMNS) {
            printf("\n    ");
            column = 4;
        }
        column += printf("%s", number);
        if (!numbers[i])
            break;
    }
    puts("};");
    return numbers + i + 1;
}

/* The files of kernels. */
typedef struct kernel_file {
    const char *path;
    char name[64], includes[1000];
    unsigned long long hash; /* FNV-1a of 64 bits: of a kernel's list of arguments, and of the text */
} kernel_file;

static unsigned long long add_hash(unsigned long long hash, const char *text)
{
    for (; *text; ++text)
        hash = (hash ^ (unsigned char)*text) * 1099511628211ull;
    return hash;
}

/* Reads the text of a kernel's file into the symbols; for a kernel, its parts. */
static void read_text(kernel_file *kernel)
{
    char line[LINE_BYTES];
    kernel_check check = {kernel->path, 0, 0, 1, 0, {0}, 0};
    int in_comment = 0;
    FILE *file = open_input(kernel->path);
    kernel->hash = add_hash(14695981039346656037ull, arguments_of(kernel->name));
    while (read_line(file, kernel->path, line)) {
        take_include(kernel->path, line, kernel->includes, sizeof kernel->includes);
        strip_line(line, &in_comment);
        check_line(&check, line);
        kernel->hash = add_hash(kernel->hash, line);
        put_symbols(kernel->path, line);
    }
    fclose(file);
    symbols[symbol_count++] = 0;
    if (check.count || check.depth)
        refuse_line(&check, "an #if or a brace is open at the end");
}

/* The option by which embedders leave out a kernel's file; NULL: none. */
static const char *option_of_path(const char *path)
{
    return strstr(path, "/seeds/")      ? "IPT_NO_PAPERS"
           : strstr(path, "/boxes/")    ? "IPT_NO_BOXES"
           : strstr(path, "/views/")    ? "IPT_NO_VIEWS"
           : strstr(path, "/elements/") ? "IPT_NO_BATCH"
                                        : NULL;
}

/* Writes a kernel's file. Returns the symbols of the next one. */
static const unsigned short *embed_text(const kernel_file *kernel, const unsigned short *text)
{
    const char *const option = option_of_path(kernel->path);
    putchar('\n');
    if (option)
        printf("#ifndef %s\n", option);
    printf("#ifndef IPT_NO_KERNEL_SOURCE\nstatic const unsigned short ipt__text_%s[] = {", kernel->name);
    text = put_numbers(text, symbol_count);
    printf("#endif\n#define IPT__HASH_%s \"%016llx\"\n", kernel->name, kernel->hash);
    if (!strstr(kernel->path, "/parts/"))
        printf("#define IPT_%s_PARTS(X)%s\n", kernel->name, kernel->includes);
    if (option)
        puts("#endif");
    return text;
}

/* The native driver's section: the kernels of IPT_NATIVE_LIST as C, for one unit. ipt.h includes ipt_kernels.h again
 * for each unit and instruction set. */

/* Words that the section defines, without repetition. */
typedef struct word_list {
    char words[WORDS][64];
    int count;
} word_list;

static void add_word(word_list *list, const char *word, size_t length)
{
    int i;
    for (i = 0; i < list->count; ++i)
        if (strlen(list->words[i]) == length && !strncmp(list->words[i], word, length))
            return;
    if (list->count == WORDS || length >= sizeof list->words[0])
        refuse("the native driver's section", "has too many or too long words for gen/embed.c");
    sprintf(list->words[list->count++], "%.*s", (int)length, word);
}

/* Whether a word of a kernel's text is C's or the compiler's, and never a macro of the program. */
static int is_reserved(const char *word, size_t length)
{
    static const char *const reserved[] = {"break",   "case",     "char",   "const",    "continue", "default", "define",
                                           "defined", "do",       "elif",   "else",     "endif",    "error",   "for",
                                           "if",      "ifdef",    "ifndef", "include",  "inline",   "int",     "return",
                                           "short",   "sizeof",   "static", "struct",   "switch",   "typedef", "undef",
                                           "union",   "unsigned", "void",   "volatile", "while"};
    size_t i;
    for (i = 0; i < sizeof reserved / sizeof *reserved; ++i)
        if (strlen(reserved[i]) == length && !strncmp(reserved[i], word, length))
            return 1;
    return *word == '_' || (*word >= '0' && *word <= '9') || !strncmp(word, "ipt_", 4) || !strncmp(word, "IPT_", 4);
}

/* Adds the names of functions and types in a line of C, the macro that it defines, and other words. */
static void take_words(const char *line, word_list *names, word_list *macros, word_list *others)
{
    const char *at = line;
    size_t length;
    if (!strncmp(line, "#error ", 7))
        return;
    if (!strncmp(line, "#define ", 8)) {
        for (length = 0; is_word(line[8 + length]); ++length)
            ;
        add_word(macros, line + 8, length);
        if (strncmp(line + 8, "IPT_", 4))
            add_word(others, line + 8, length); /* which the program may have defined, too */
    }
    for (; *at; at += length ? length : 1) {
        for (length = 0; is_word(at[length]); ++length)
            ;
        if (length > 4 && !strncmp(at, "ipt_", 4) && at[4] != '_')
            add_word(names, at, length);
        else if (length && !is_reserved(at, length))
            add_word(others, at, length);
    }
}

/* Reads a file's lines without comments, empty lines and lines that include, and shows them to take_words, or writes
 * them if `names` is NULL. own: 1 for the lines of the prelude that depend on the kernel, 2 for those of ready actions,
 * 0 for all others. */
static void native_lines(const char *path, int own, word_list *names, word_list *macros, word_list *others)
{
    char line[LINE_BYTES];
    int in_comment = 0, in_own = 0, ends = 0;
    FILE *file = open_input(path);
    while (read_line(file, path, line)) {
        strip_line(line, &in_comment);
        in_own = !strncmp(line, "#if IPT__NATIVE_KERNEL", 22)   ? 1
                 : !strncmp(line, "#if IPT__NATIVE_NUMBER", 22) ? 2
                 : ends                                         ? 0
                                                                : in_own;
        ends = !strncmp(line, "#endif", 6);
        if (*line == '\n' || !strncmp(line, "#include", 8) || in_own != own)
            continue;
        if (names)
            take_words(line, names, macros, others);
        else if (!strncmp(line, "#pragma unroll", 14)) /* compilers of C have other names for it */
            puts("IPT_UNROLL");
        else
            fputs(line, stdout);
    }
    fclose(file);
}

/* Whether a native kernel's programs have a file's text. */
static int native_has(const native_row *row, const kernel_file *file, const kernel_file *files, int count)
{
    char included[80];
    int i;
    if (!strcmp(row->name, file->name))
        return 1;
    sprintf(included, " X(%s)", file->name);
    for (i = 0; i < count && strcmp(files[i].name, row->name); ++i)
        ;
    if (i == count)
        refuse(row->name, "has a row in IPT_NATIVE_LIST and no file");
    return strstr(files[i].includes, included) != NULL;
}

static const row *row_of(const char *name)
{
    int i;
    for (i = 0; i < row_count && strcmp(rows[i].name, name); ++i)
        ;
    return i < row_count ? &rows[i] : NULL;
}

/* The option by which embedders leave out a kernel's programs; NULL: none. */
static const char *option_of(const native_row *its, const kernel_file *files, int count)
{
    int i;
    for (i = 0; i < count && strcmp(files[i].name, its->name); ++i)
        ;
    return i < count ? option_of_path(files[i].path) : NULL;
}

/* The words of the section: names of functions and types, macros of the prelude and of programs, others. */
static word_list native_names, native_common, native_own, native_others;

/* Writes the text of a program, its own macros, parts in their sequence, then the kernel; or takes its words. */
static void native_text(const native_row *its, int write, const char *prelude, const kernel_file *files, int count)
{
    int i, list;
    native_lines(prelude, 1, write ? NULL : &native_names, &native_own, &native_others);
    for (list = 0; list < 2 * row_count; ++list)
        for (i = 0; i < count; ++i)
            if ((list >= row_count) == (rows[list % row_count].list != 0) &&
                !strcmp(files[i].name, rows[list % row_count].name) && native_has(its, &files[i], files, count))
                native_lines(files[i].path, 0, write ? NULL : &native_names, &native_own, &native_others);
}

/* Ends the macros that the prelude has not. */
static void native_undefine(const word_list *macros)
{
    int i, j;
    for (i = 0; i < macros->count; ++i) {
        for (j = 0; j < native_common.count && strcmp(native_common.words[j], macros->words[i]); ++j)
            ;
        if (j == native_common.count)
            printf("#undef %s\n", macros->words[i]);
    }
}

/* Writes a program: its text, and a function that calls the kernel. */
static void native_program(const native_row *its, int kind, const char *prelude, const kernel_file *files, int count)
{
    const char *const option = option_of(its, files, count);
    const row *const kernel = row_of(its->name);
    native_own.count = 0;
    native_text(its, 0, prelude, files, count);
    printf(its->vectors ? "" : "#if !IPT__NATIVE\n");
    if (option)
        printf("#ifndef %s\n", option);
    printf("#define IPT__NATIVE_KERNEL IPT__NATIVE_%s\n#define IPT__NATIVE_KIND %d\n"
           "#define IPT_ARGUMENT_LIST(X, D) IPT_%s_ARGUMENTS(X, D)\n",
           its->name, kind, its->name);
    native_text(its, 1, prelude, files, count);
    printf("IPT__NATIVE_RUN_%d_%d(%s, ipt_unit, %s)\n", kernel->memories, kernel->local, its->name, its->second);
    native_undefine(&native_own);
    printf("#undef IPT_ARGUMENT_LIST\n#undef IPT__NATIVE_KIND\n#undef IPT__NATIVE_KERNEL\n%s%s",
           option ? "#endif\n" : "", its->vectors ? "" : "#endif\n");
}

/* Writes a macro for each word of a list. */
static void native_macros(const word_list *words, const char *format)
{
    int i;
    for (i = 0; i < words->count; ++i)
        printf(format, words->words[i], words->words[i]);
}

/* Writes the functions of ready actions, or takes their words. */
static void native_action_text(int write, const char *prelude, const kernel_file *files, int count)
{
    int i, bodies;
    native_lines(prelude, 2, write ? NULL : &native_names, &native_own, &native_others);
    for (bodies = 0; bodies < 2; ++bodies)
        for (i = 0; i < count; ++i) {
            const int is_body = is_action(files[i].path) && strcmp(files[i].name, "algebra");
            if (bodies != is_body || (!is_body && strcmp(files[i].name, "algebra") && strcmp(files[i].name, "actions")))
                continue;
            if (write && is_body)
                printf("IPT_ACTION(%s)\n", files[i].name);
            native_lines(files[i].path, 0, write ? NULL : &native_names, &native_own, &native_others);
            if (write && is_body)
                puts("}");
        }
}

/* Writes the ready actions: the units 2, 4, 8 and 16 stand for float2, float, double and double2. */
static void native_actions(const char *prelude, const kernel_file *files, int count)
{
    native_own.count = 0;
    native_action_text(0, prelude, files, count);
    puts("#if defined(IPT__NATIVE_ACTIONS) && !IPT__NATIVE && IPT_UNIT_BYTES > 1");
    native_macros(&native_own, "#pragma push_macro(\"%s\")\n#undef %s\n");
    puts("#define IPT__NATIVE_KERNEL IPT__NATIVE_elements\n#define IPT__NATIVE_KIND 0\n"
         "#define IPT__NATIVE_NUMBER (1 + (IPT_UNIT_BYTES == 2 || IPT_UNIT_BYTES == 16))");
    native_action_text(1, prelude, files, count);
    native_macros(&native_own, "#undef %s\n#pragma pop_macro(\"%s\")\n");
    puts("#undef IPT__NATIVE_NUMBER\n#undef IPT__NATIVE_KIND\n#undef IPT__NATIVE_KERNEL\n#endif");
}

/* Writes all programs for one unit: their names are their own, and macros of the program that includes ipt.h replace
 * nothing in them. */
static void native_programs(const char *prelude, const kernel_file *files, int count)
{
    int i, kind;
    native_lines(prelude, 0, &native_names, &native_common, &native_others);
    for (i = 0; i < native_count; ++i)
        native_text(&natives[i], 0, prelude, files, count);
    native_action_text(0, prelude, files, count);
    native_macros(&native_others, "#pragma push_macro(\"%s\")\n#undef %s\n");
    native_macros(&native_names, "#define %s IPT__NATIVE_OWN(%s)\n");
    native_lines(prelude, 0, NULL, NULL, NULL);
    for (i = 0; i < native_count; ++i)
        for (kind = natives[i].first; kind <= natives[i].last; ++kind)
            native_program(&natives[i], kind, prelude, files, count);
    native_actions(prelude, files, count);
    for (i = 0; i < native_common.count; ++i)
        printf("#undef %s\n", native_common.words[i]);
    for (i = 0; i < native_names.count; ++i)
        printf("#undef %s\n", native_names.words[i]);
    for (i = 0; i < native_others.count; ++i)
        printf("#pragma pop_macro(\"%s\")\n", native_others.words[i]);
}

/* Writes the section, and before it the functions of expressions. */
static void embed_native(char **preludes, const kernel_file *files, int count)
{
    int i, kind;
    puts("\n/* The native driver's programs: X(kernel, kind, 1 if also for newer instruction sets, 1 if it can "
         "apply an expression), each for all units. */");
    for (i = 0; i < native_count; ++i)
        for (kind = natives[i].first; kind <= natives[i].last; ++kind) {
            const char *const option = option_of(&natives[i], files, count);
            if (option)
                printf("#ifdef %s\n#define IPT_NATIVE_%s_%d(X)\n#else\n", option, natives[i].name, kind);
            printf("#define IPT_NATIVE_%s_%d(X) X(%s, %d, %d, %d)\n%s", natives[i].name, kind, natives[i].name, kind,
                   natives[i].vectors, natives[i].applies, option ? "#endif\n" : "");
        }
    printf("#define IPT_NATIVE_PROGRAM_LIST(X)");
    for (i = 0; i < native_count; ++i)
        for (kind = natives[i].first; kind <= natives[i].last; ++kind)
            printf(" IPT_NATIVE_%s_%d(X)", natives[i].name, kind);
    putchar('\n');
    for (i = 0; i < native_count; ++i)
        printf("#define IPT__NATIVE_%s %d\n", natives[i].name, i + 1);
    printf("#define IPT__NATIVE_elements %d\n", native_count + 1);
    puts("\n/* OpenCL C's functions in expressions. */\n#ifdef IPT_NATIVE_EXPRESSIONS");
    native_lines(preludes[1], 0, NULL, NULL, NULL);
    puts("#endif\n#else " NATIVE_MARK);
    native_programs(preludes[0], files, count);
    puts("#endif");
}

/* Writes the texts of kernels' files, packed. preludes: those of the native driver's kernels and of expressions. */
static void embed_texts(char **preludes, char **paths, int count)
{
    static kernel_file kernels[PARTS];
    const unsigned short *text = symbols;
    int i;
    if (count > PARTS)
        refuse(paths[PARTS], "is one file too many for gen/embed.c");
    for (i = 0; i < count; ++i) {
        kernels[i].path = paths[i];
        find_row(paths[i], kernels[i].name, sizeof kernels[i].name);
        read_text(&kernels[i]);
    }
    check_rows();
    puts("\n/* The texts of ready actions, in gen/kernels/elements. */\n"
         "#define IPT_ACTION_TEXT_LIST(X) X(algebra) IPT_ACTION_BODY_LIST(X)");
    fputs("#define IPT_ACTION_BODY_LIST(X)", stdout);
    for (i = 0; i < count; ++i)
        if (is_action(paths[i]) && strcmp(kernels[i].name, "algebra"))
            printf(" X(%s)", kernels[i].name);
    putchar('\n');
    pack_symbols();
    printf(
        "\n/* Kernels' texts without comments and indentation, packed: a number below %d is a character. Another one\n"
        " * is a pair of numbers in the first table. ipt_plan_source returns a program's text. */\n"
        "#ifndef IPT_NO_KERNEL_SOURCE\n"
        "enum { IPT__FIRST_PAIR = %d };\n"
        "static const unsigned short ipt__pairs[] = {",
        FIRST_PAIR, FIRST_PAIR);
    put_numbers(pairs[0], 2 * pair_count);
    puts("#endif");
    for (i = 0; i < count; ++i)
        text = embed_text(&kernels[i], text);
    embed_native(preludes, kernels, count);
}

int main(int count, char **arguments)
{
    if (count == 3 && !strcmp(arguments[1], "library")) {
        puts("/* GENERATED by gen/embed.c from gen/library: edit the parts there, then `make gen`. */");
        copy_library(arguments[2]);
    } else if (count >= 6 && !strcmp(arguments[1], "kernels")) {
        puts("/* GENERATED by gen/embed.c from gen/kernels.def and gen/kernels: edit those, then `make gen`.\n"
             " * The texts of the kernels are packed here: gen/kernels has them to read.\n"
             " * SPDX-License-Identifier: MIT\n"
             " * Copyright (c) 2026 The ipt authors. The text of the licence is at the end of ipt.h. */");
        puts("/* clang-format off */\n#ifndef IPT__NATIVE");
        copy_lists(arguments[2]);
        embed_texts(arguments + 3, arguments + 5, count - 5);
        puts("/* clang-format on */");
    } else if (count == 4 && !strcmp(arguments[1], "single")) {
        copy_single(arguments[2], arguments[3]);
    } else {
        fputs("usage: embed library FOLDER | embed kernels DEF NATIVE_H EXPRESSIONS_H CL... |\n"
              "       embed single IPT_H KERNELS_H\n",
              stderr);
        return 2;
    }
    if (fflush(stdout) || ferror(stdout)) {
        perror("standard output");
        return 1;
    }
    return 0;
}
