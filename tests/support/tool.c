#define _GNU_SOURCE /* POSIX 2008 with XSI */

#include "tool.h"

#include "folders.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { MAX_PATHS = 64, ENTRY_HEAD = 56, ENTRY_FACTS = 8 };

outcome last;
size_t next_file_limit;
unsigned next_closed;

/* The paths that in_directory has returned to the test. */
char directory[PATH_SIZE];
static char paths[MAX_PATHS][PATH_SIZE * 2];
static size_t path_count;

const char *const all_shapes[] = {SHAPES};

static void read_stream(FILE *stream, char *text)
{
    rewind(stream);
    size_t length = fread(text, 1, OUTPUT_SIZE - 1, stream);
    text[length] = '\0';
    fclose(stream);
}

void run_words(const char *output_path, const char *const *words)
{
    FILE *output = output_path == NULL ? tmpfile() : fopen(output_path, "w");
    FILE *errors = tmpfile();
    assert_non_null(output);
    assert_non_null(errors);
    const process_setup setup = {fileno(output), fileno(errors), next_closed, next_file_limit};
    const pid_t child = process_start(words, &setup);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    last.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    last.output[0] = '\0';
    if (output_path == NULL) {
        read_stream(output, last.output);
    } else {
        fclose(output);
    }
    read_stream(errors, last.errors);
}

void expect_code(int code, int line)
{
    if (last.code != code) {
        fail_msg("line %d: exit code %d instead of %d; output: %.2000s; errors: %.2000s", line, last.code, code,
                 last.output, last.errors);
    }
}

void expect_word(const char *text, const char *word)
{
    if (strstr(text, word) == NULL) {
        fail_msg("'%s' is not in: %.4000s", word, text);
    }
}

int make_directory(void **state)
{
    (void)state;
    path_count = 0;
    return folder_make(directory, sizeof directory, "tool");
}

int remove_directory(void **state)
{
    (void)state;
    next_file_limit = 0;
    next_closed = 0;
    return folder_remove(directory);
}

const char *in_directory(const char *name)
{
    char path[PATH_SIZE * 2];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    for (size_t i = 0; i < path_count; i++) {
        if (strcmp(paths[i], path) == 0) {
            return paths[i];
        }
    }
    assert_true(path_count < MAX_PATHS);
    return strcpy(paths[path_count++], path);
}

content read_content(const char *path)
{
    content read = {NULL, 0};
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    read.size = (size_t)ftell(stream);
    rewind(stream);
    read.bytes = malloc(read.size + 1);
    assert_non_null(read.bytes);
    assert_int_equal(fread(read.bytes, 1, read.size, stream), read.size);
    fclose(stream);
    return read;
}

void write_content(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

size_t write_npy(const char *path, unsigned major, const char *text, size_t text_length, size_t size)
{
    static unsigned char bytes[1 << 16];
    size_t length = strlen(text), offset = major == 1 ? 10 : 12;
    assert_true(offset + length + size <= sizeof bytes);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)major;
    for (size_t i = 8; i < offset; i++) {
        bytes[i] = (unsigned char)(text_length >> 8 * (i - 8));
    }
    memcpy(bytes + offset, text, length);
    offset += length;
    for (size_t i = 0; i < size; i++) {
        bytes[offset + i] = (unsigned char)(i * 7 + i / 256);
    }
    write_content(path, bytes, offset + size);
    return offset;
}

const char *python_with_numpy(void)
{
    static const char *const candidates[] = {"python3", "/usr/bin/python3"};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        const char *const words[] = {candidates[i], "-c", "import numpy", NULL};
        run_words(NULL, words);
        if (last.code == 0) {
            return candidates[i];
        }
    }
    return NULL;
}

const char *write_script(const char *name, const char *const *texts, size_t count)
{
    const char *path = in_directory(name);
    FILE *script = fopen(path, "w");
    assert_non_null(script);
    for (size_t i = 0; i < count; i++) {
        fputs(texts[i], script);
    }
    assert_int_equal(fclose(script), 0);
    return path;
}

void run_with_numpy(const char *name, const char *const *texts, size_t count)
{
    const char *python = python_with_numpy();
    if (python == NULL)
        test_skip("no Python with NumPy");
    const char *const words[] = {python, "-B", write_script(name, texts, count), process_tool(), directory, NULL};
    run_words(NULL, words);
    expect_code(0, __LINE__);
}

size_t count_words(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word)) {
        count++;
    }
    return count;
}

void expect_one_line(const char *text)
{
    const char *end = strchr(text, '\n');
    if (end == NULL || end[1] != '\0') {
        fail_msg("not one line: %.4000s", text);
    }
}

const char *without_signal(const char *text)
{
    const char *end = strchr(text, '\n');
    return end && strncmp(text, "PLEASE submit a bug report", 26) == 0 ? end + 1 : text;
}

bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

listing list_folder(const char *folder)
{
    listing list = {0};
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
            assert_true(list.count < MAX_FILES);
            snprintf(list.names[list.count++], sizeof list.names[0], "%s", entries[i]->d_name);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return list;
}

const char *path_within(const char *folder, const char *name)
{
    static char path[PATH_SIZE * 4];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void describe_folder(const char *folder, char text[OUTPUT_SIZE])
{
    listing list = list_folder(folder);
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list.count; i++) {
        struct stat status;
        assert_int_equal(stat(path_within(folder, list.names[i]), &status), 0);
        length += (size_t)snprintf(text + length, OUTPUT_SIZE - length, "%s %llu %ld %ld.%09ld\n", list.names[i],
                                   (unsigned long long)status.st_ino, (long)status.st_size, (long)status.st_mtim.tv_sec,
                                   status.st_mtim.tv_nsec);
    }
}

void expect_files_of(const char *const *names, int line)
{
    listing list = list_folder(directory);
    size_t i = 0;
    for (; i < list.count && names[i] != NULL && strcmp(list.names[i], names[i]) == 0; i++) {
    }
    if (i < list.count || names[i] != NULL) {
        fail_msg("line %d: %zu files, and file %zu is '%s' instead of '%s'", line, list.count, i,
                 i < list.count ? list.names[i] : "", names[i] == NULL ? "" : names[i]);
    }
}

void expect_content(const char *path, const char *text)
{
    content read = read_content(path);
    read.bytes[read.size] = '\0';
    assert_string_equal((char *)read.bytes, text);
    free(read.bytes);
}

const char *write_text(const char *name, const char *text)
{
    const char *path = in_directory(name);
    write_content(path, text, strlen(text));
    return path;
}

const char *line_of(const char *text, const char *start)
{
    static char line[2048];
    while (strncmp(text, start, strlen(start)) != 0) {
        text = strchr(text, '\n');
        if (text == NULL) {
            fail_msg("no line begins with '%s'", start);
            return "";
        }
        text++;
    }
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    return line;
}

void replace_line(const char *text, size_t index, const char *with, char edited[OUTPUT_SIZE])
{
    const char *line = text;
    for (size_t i = 0; i < index; i++) {
        line = strchr(line, '\n') + 1;
    }
    snprintf(edited, OUTPUT_SIZE, "%.*s%s%s", (int)(line - text), text, with == NULL ? "" : with,
             with == NULL ? "" : line + strcspn(line, "\n"));
}

static size_t read_little_endian(const unsigned char *bytes, size_t count)
{
    size_t value = 0;
    for (size_t i = count; i-- > 0;) {
        value = value << 8 | bytes[i];
    }
    return value;
}

entry_parts take_apart(const unsigned char *bytes, size_t size)
{
    entry_parts parts;
    assert_true(size > ENTRY_HEAD);
    assert_memory_equal(bytes, "iptcache", 8);
    size_t key_size = read_little_endian(bytes + 12, 4), payload = read_little_endian(bytes + 16, 8);
    assert_true(size == ENTRY_HEAD + key_size + payload);
    assert_true(key_size < sizeof parts.key && memchr(bytes + ENTRY_HEAD, '\0', key_size) == NULL);
    snprintf(parts.key, sizeof parts.key, "%.*s", (int)key_size, (const char *)bytes + ENTRY_HEAD);
    parts.is_program = strncmp(parts.key, "ipt program\n", 12) == 0;
    if (parts.is_program) {
        assert_true(payload > ENTRY_FACTS);
        parts.code = bytes + ENTRY_HEAD + key_size + ENTRY_FACTS;
        parts.code_size = payload - ENTRY_FACTS;
    } else {
        assert_int_equal(strncmp(parts.key, "ipt device\n", 11), 0);
        parts.code = NULL;
        parts.code_size = 0;
    }
    return parts;
}

size_t count_programs(const char *folder, size_t *others)
{
    listing list = list_folder(folder);
    size_t programs = 0;
    for (size_t i = 0; i < list.count; i++) {
        content read = read_content(path_within(folder, list.names[i]));
        programs += take_apart(read.bytes, read.size).is_program;
        free(read.bytes);
        assert_string_equal(list.names[i] + strlen(list.names[i]) - 4, ".ipt");
    }
    *others = list.count - programs;
    return programs;
}

const char *write_profile(char text[OUTPUT_SIZE])
{
    run_tool(0, "devices", "--profile");
    memcpy(text, last.output, OUTPUT_SIZE);
    return write_text("profile", text);
}

void expect_complete(const char *folder, const char *wisdom)
{
    static char before[OUTPUT_SIZE], after[OUTPUT_SIZE];
    describe_folder(folder, before);
    for (size_t i = 0; i < SHAPE_COUNT; i++) {
        const char *const words[] = {
            process_tool(), "plan", all_shapes[i], "--cache", folder, wisdom == NULL ? NULL : "--wisdom", wisdom, NULL};
        run_words(NULL, words);
        expect_code(0, (int)i);
        describe_folder(folder, after);
        assert_string_equal(after, before);
    }
}

void expect_precompiled(const char *folder, const char *place)
{
    listing list = list_folder(folder);
    size_t others, programs = count_programs(folder, &others), bytes = 0;
    char text[PATH_SIZE * 4];
    for (size_t i = 0; i < list.count; i++) {
        content read = read_content(path_within(folder, list.names[i]));
        bytes += read.size;
        free(read.bytes);
    }
    snprintf(text, sizeof text, "%zu program%s%s, %zu bytes, to %s in ", programs, programs == 1 ? "" : "s",
             others > 0 ? " and the facts about the device" : "", bytes, place);
    expect_word(last.output, text);
}

void expect_same_names(const char *first, const char *second)
{
    listing a = list_folder(first), b = list_folder(second);
    assert_int_equal(a.count, b.count);
    assert_true(a.count > 0);
    for (size_t i = 0; i < a.count; i++) {
        assert_string_equal(a.names[i], b.names[i]);
    }
}

void expect_transposed(content before, content now, size_t offset, size_t batch, size_t rows, size_t cols)
{
    assert_int_equal(before.size, now.size);
    assert_int_equal(now.size, offset + batch * rows * cols * ELEMENT);
    for (size_t matrix = 0; matrix < batch; matrix++) {
        for (size_t row = 0; row < rows; row++) {
            for (size_t col = 0; col < cols; col++) {
                size_t base = offset + matrix * rows * cols * ELEMENT;
                assert_memory_equal(now.bytes + base + (col * rows + row) * ELEMENT,
                                    before.bytes + base + (row * cols + col) * ELEMENT, ELEMENT);
            }
        }
    }
}

/* The bytes of an array in a header's text, which the caller frees. */
static content read_array(const char *text, const char *name, size_t index)
{
    char heading[600];
    snprintf(heading, sizeof heading, "\nstatic const unsigned char %s_%zu[] = {\n", name, index);
    const char *at = strstr(text, heading);
    content read = {NULL, 0};
    if (at == NULL) {
        fail_msg("the header has no array %s_%zu", name, index);
        return read;
    }
    at += strlen(heading);
    read.bytes = malloc(strlen(at));
    assert_non_null(read.bytes);
    while (*at != '}') {
        char *end;
        size_t value = (size_t)strtoull(at, &end, 10);
        assert_true(end > at && *end == ',' && value <= 255);
        read.bytes[read.size++] = (unsigned char)value;
        at = end + 1 + (end[1] == '\n');
    }
    return read;
}

void expect_header(const char *path, const char *name, const char *guard, const char *folder)
{
    char text[1200];
    content header = read_content(path);
    header.bytes[header.size] = '\0';
    const char *all = (const char *)header.bytes;
    assert_int_equal(strlen(all), header.size);
    assert_int_equal(strncmp(all, "/* Written by ipt ", 18), 0);
    snprintf(text, sizeof text, "*/\n#ifndef %s\n#define %s\n\n#include \"ipt.h\"\n", guard, guard);
    expect_word(all, text);
    snprintf(text, sizeof text, "\n#endif /* %s */\n", guard);
    assert_string_equal(all + header.size - strlen(text), text);
    snprintf(text, sizeof text, "\nenum { %s_count = sizeof %s / sizeof %s[0] };\n", name, name, name);
    expect_word(all, text);
    snprintf(text, sizeof text, "\nstatic const ipt_binary %s[] = {\n    {%s_0, sizeof %s_0},\n", name, name, name);
    expect_word(all, text);
    listing list = list_folder(folder);
    bool found[MAX_FILES] = {0};
    assert_int_equal(count_words(all, "static const unsigned char "), list.count);
    for (size_t i = 0; i < list.count; i++) {
        content array = read_array(all, name, i);
        snprintf(text, sizeof text, "\n    {%s_%zu, sizeof %s_%zu},\n", name, i, name, i);
        expect_word(all, text);
        (void)take_apart(array.bytes, array.size);
        size_t same = list.count;
        for (size_t j = 0; j < list.count; j++) {
            content file = read_content(path_within(folder, list.names[j]));
            same = file.size == array.size && memcmp(file.bytes, array.bytes, file.size) == 0 ? j : same;
            free(file.bytes);
        }
        assert_true(same < list.count && !found[same]);
        found[same] = true;
        free(array.bytes);
    }
    free(header.bytes);
}

void expect_refused_line(const char *path, const char *what, size_t number, const char *const *words)
{
    char place[PATH_SIZE * 3];
    run_words(NULL, words);
    expect_code(1, (int)number);
    assert_string_equal(last.output, "");
    expect_one_line(last.errors);
    snprintf(place, sizeof place, "ipt: %s: %s, line %zu: ", path, what, number);
    expect_word(last.errors, place);
}
